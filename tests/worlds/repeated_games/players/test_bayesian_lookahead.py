"""The librarian: as good as the exact optimum in its library, and at ease with strangers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.evaluation.literal_functional import expected_regret
from otherminds.evaluation.tasks import Task
from otherminds.worlds.repeated_games.machines import Machine, constant
from otherminds.worlds.repeated_games.partners import machines, memory_one, partner, single_action, tit_for_tat
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.bayesian_lookahead import (
    SLIP,
    BayesianLookahead,
    HypothesisSet,
    closed_hypotheses,
)
from otherminds.worlds.repeated_games.players.best_response_to_mixture import bayes_floor
from otherminds.worlds.repeated_games.rules import Game, Outcome
from random_machines import random_machines
from strategies import generator

RPS, IBS, IPD = find_game("rps"), find_game("ibs"), find_game("ipd")
BUNDLED = machines(IPD)
RANDOM = list(random_machines(IPD, 40, 6, generator(1)))


def regret(game: Game, held: Sequence[Machine], player: BayesianLookahead, horizon: int = 100) -> float:
    """The mean regret per round over partners."""
    return float(np.mean([expected_regret(Task(game, machine, horizon), player) for machine in held]))


def random_player(library: HypothesisSet, rounds: int, seed: int) -> list[int]:
    """What the librarian does with a partner who draws lots."""
    player, rng, done = BayesianLookahead.of(library), generator(seed), []
    for _ in range(rounds):
        done.append(player.act().mode)
        player = player.observe(Outcome(done[-1], int(rng.integers(2)), 0.0))
    return done


# In its library


@pytest.mark.parametrize("machine", [*BUNDLED[::7], partner("gtft", IPD), partner("joss", IPD)], ids=lambda m: m.name)
def test_with_one_machine_it_plays_the_best_response(machine: Machine) -> None:
    assert regret(IPD, [machine], BayesianLookahead.of(closed_hypotheses(IPD, [machine]))) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", [IPD, IBS], ids=lambda game: game.name)
def test_with_two_memory_one_machines_nothing_better_can_be_done(game: Game) -> None:
    for pair in list(combinations(memory_one(game), 2))[::5]:
        library = closed_hypotheses(game, pair, 8)
        assert regret(game, pair, BayesianLookahead.of(library), 8) == pytest.approx(
            bayes_floor(game, pair, 8), abs=1e-9
        )


@pytest.mark.slow
def test_with_two_reactive_partners_of_rock_paper_scissors_nothing_better_can_be_done() -> None:
    for pair in list(combinations(memory_one(RPS), 2))[::97]:
        library = closed_hypotheses(RPS, pair, 6)
        assert regret(RPS, pair, BayesianLookahead.of(library), 6) == pytest.approx(bayes_floor(RPS, pair, 6), abs=1e-9)


@pytest.mark.parametrize(("game", "floor"), [(RPS, 0.01), (IBS, 0.035), (IPD, 0.0)], ids=["rps", "ibs", "ipd"])
def test_with_single_action_partners_nothing_better_can_be_done(game: Game, floor: float) -> None:
    library = closed_hypotheses(game, single_action(game))
    assert regret(game, single_action(game), BayesianLookahead.of(library)) == pytest.approx(floor, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", [IPD, IBS, RPS], ids=lambda game: game.name)
def test_with_all_machines_of_memory_one_nothing_better_can_be_done(game: Game) -> None:
    held = [*single_action(game), *tit_for_tat(game), *memory_one(game)][:35]
    found = regret(game, held, BayesianLookahead.of(closed_hypotheses(game, held, 12)), 12)
    assert found == pytest.approx(bayes_floor(game, held, 12), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 1])
def test_with_every_third_of_the_bundled_machines_nothing_better_can_be_done(start: int) -> None:
    held = BUNDLED[start::3]
    found = regret(IPD, held, BayesianLookahead.of(closed_hypotheses(IPD, held)))
    assert found == pytest.approx(bayes_floor(IPD, held), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.sampled_from(RANDOM), min_size=1, max_size=6, unique=True), st.integers(1, 10), st.integers(1, 2))
def test_in_no_library_it_does_better_than_can_be_done(held: list[Machine], horizon: int, depth: int) -> None:
    player = BayesianLookahead.of(closed_hypotheses(IPD, held, horizon, depth=depth))
    assert regret(IPD, held, player, horizon) >= bayes_floor(IPD, held, horizon) - 1e-9


@pytest.mark.slow
@settings(max_examples=12)
@given(st.lists(st.sampled_from(RANDOM), min_size=1, max_size=4, unique=True), st.integers(1, 5))
def test_looking_ahead_to_the_last_round_is_exact(held: list[Machine], horizon: int) -> None:
    player = BayesianLookahead.of(closed_hypotheses(IPD, held, horizon, depth=horizon))
    assert regret(IPD, held, player, horizon) == pytest.approx(bayes_floor(IPD, held, horizon), abs=1e-9)


# What it expects


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=12))
def test_it_expects_what_bayes_rule_does_with_slips(rounds: list[tuple[int, int]]) -> None:
    held = BUNDLED[:12]
    player, weights, states = BayesianLookahead.of(closed_hypotheses(IPD, held)), np.full(12, 1 / 12), [0] * 12
    for a, b in rounds:
        outputs = np.array([machine.outputs[q] for machine, q in zip(held, states, strict=True)])
        laws = (1 - SLIP) * outputs + SLIP / 2
        assert [player.predict().prob(c) for c in (0, 1)] == pytest.approx(weights @ laws, abs=1e-6)
        weights = weights * laws[:, b] / (weights @ laws[:, b])
        weights = np.where(weights < 1e-12 * weights.max(), 0.0, weights)
        states = [machine.moves[q][b][a] for machine, q in zip(held, states, strict=True)]
        player = player.observe(Outcome(a, b, 0.0))
    assert len(player.observer.minds) == np.count_nonzero(weights)


def test_machines_that_are_out_of_the_question_are_dropped() -> None:
    player = BayesianLookahead.of(closed_hypotheses(IPD, BUNDLED))
    assert len(player.observer.minds) == 45
    sizes = []
    for _ in range(6):
        player = player.observe(Outcome(1, 1, 5.0))
        sizes.append(len(player.observer.minds))
    assert sizes == sorted(sizes, reverse=True)
    assert 0 < sizes[-1] < 45


def test_before_the_first_round_there_is_nothing_to_see() -> None:
    player = BayesianLookahead.of(closed_hypotheses(IPD, BUNDLED[:3]))
    assert player.observe(None) == player


def test_the_prior_counts() -> None:
    """Whether tit for tat or who always cooperates is more likely decides the last two rounds."""
    held = (*tit_for_tat(IPD), constant(IPD, 0))
    library = closed_hypotheses(IPD, held, 2)
    assert BayesianLookahead.of(replace(library, prior=(0.9, 0.1))).act().mode == 0
    assert BayesianLookahead.of(replace(library, prior=(0.1, 0.9))).act().mode == 1


def test_a_machine_of_weight_nothing_is_none() -> None:
    held = (*tit_for_tat(IPD), constant(IPD, 0))
    player = BayesianLookahead.of(replace(closed_hypotheses(IPD, held, 2), prior=(0.0, 1.0)))
    assert player.act().mode == 1
    assert player.predict().prob(0) == pytest.approx(1.0, abs=1e-5)


def test_after_the_last_round_it_plays_as_in_the_last() -> None:
    player = BayesianLookahead.of(closed_hypotheses(IPD, [*tit_for_tat(IPD), constant(IPD, 0)], 2))
    for _ in range(4):
        player = player.observe(Outcome(0, 0, 8.0))
        assert player.act().mode == 1


@pytest.mark.slow
def test_a_library_may_have_thousands_of_machines() -> None:
    always = constant(RPS, 0)
    many = [replace(always, name=f"always Rock {i}") for i in range(1200)]
    assert BayesianLookahead.of(closed_hypotheses(RPS, many, 3)).act().mode == 1


# Strangers


@pytest.mark.slow
def test_who_is_not_in_the_library_is_played_with_all_the_same() -> None:
    for i in range(0, 45, 9):
        others = [*BUNDLED[:i], *BUNDLED[i + 1 :]]
        task = Task(IPD, BUNDLED[i], 40)
        found = expected_regret(task, BayesianLookahead.of(closed_hypotheses(IPD, others, 40)))
        assert -1e-9 <= found <= (task.optimum - task.least) / 40 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_partner_does_it_goes_on(seed: int) -> None:
    assert set(random_player(closed_hypotheses(IPD, BUNDLED, 30), 35, seed)) <= {0, 1}
