"""Programs as hypotheses: judged by Bayes' rule or by value, believed, and played upon."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from otherminds.papers.hypothetical_minds.programs import Programs, RescorlaWagner
from otherminds.planning.best_response import best_response
from otherminds.worlds.in_the_matrix.hypotheses import HORIZON, library, machine_of, meeting_game, typical_inventory
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, Strategy, TitForTat, specialist
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead, closed_hypotheses
from otherminds.worlds.repeated_games.rules import Outcome

RULES = in_the_matrix("rws_repeated").rules
GAME = meeting_game(RULES)
AIMS = [Aim(kind, 5) for kind in range(3)]
BEATS = machine_of("beats", CounterPrevious((AIMS[1], AIMS[2], AIMS[0])), GAME)
ALWAYS = [machine_of(f"always {k}", specialist(AIMS[k]), GAME) for k in range(3)]
FEW = closed_hypotheses(GAME, [*ALWAYS, BEATS])
ROCK, PAPER, SCISSORS = range(3)


def told(mind: RescorlaWagner | Programs, *plays: tuple[int, int | None]) -> RescorlaWagner | Programs:
    for own, theirs in plays:
        mind = mind.update(typical_inventory(own, 3), theirs, 0.0)
    return mind


def rewards(found: Machine, plays: list[tuple[int, int]]) -> list[int]:
    """Which plays a machine foretells, +1 or −1, by stepping through it by hand."""
    state, right = 0, []
    for own, theirs in plays:
        law = found.outputs[state]
        right.append(1 if max(range(3), key=law.__getitem__) == theirs else -1)
        state = found.moves[state][theirs][own]
    return right


def value(found: list[int], alpha: float) -> float:
    v = 0.0
    for reward in found:
        v += alpha * (reward - v)
    return v


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.3, 0.1, 1.0])
def test_values_are_those_of_the_rule(seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    plays = [(int(a), int(b)) for a, b in rng.integers(3, size=(9, 2))]
    mind = told(RescorlaWagner.of(FEW, alpha), *plays)
    assert isinstance(mind, RescorlaWagner)
    expected = [value(rewards(one, plays), alpha) for one in FEW.machines]
    assert mind.values == pytest.approx(expected)
    best = max(range(4), key=lambda i: (round(expected[i], 12), -i))
    name, best_value = mind.ranked[0]
    assert name == FEW.machines[best].name
    assert best_value == pytest.approx(expected[best])
    assert [v for _, v in mind.ranked] == sorted((v for _, v in mind.ranked), reverse=True)


def test_the_best_is_believed_and_answered() -> None:
    mind = told(RescorlaWagner.of(FEW), (ROCK, SCISSORS), (ROCK, SCISSORS))
    assert mind.predict().mode == SCISSORS
    assert mind.act().mode == ROCK
    beaten = told(RescorlaWagner.of(FEW), (ROCK, ROCK), (PAPER, PAPER), (SCISSORS, SCISSORS), (ROCK, ROCK))
    assert beaten.predict().mode == PAPER
    assert beaten.act().mode == SCISSORS


def test_its_play_is_the_first_of_the_best_response_to_the_best() -> None:
    for own, theirs in product(range(3), repeat=2):
        mind = told(RescorlaWagner.of(FEW), (own, theirs))
        assert isinstance(mind, RescorlaWagner)
        best = max(range(4), key=lambda i: (mind.values[i], -i))
        one = FEW.machines[best]
        state = one.moves[0][theirs][own]
        plan = best_response(GAME.payoff(), one.chances, FEW.horizon)
        assert mind.act().mode == plan.actions[0, state]


def test_before_any_meeting_the_likeliest_is_believed() -> None:
    mind = RescorlaWagner.of(library(RULES))
    prior = mind.library.prior
    assert mind.ranked[0][0].startswith(mind.library.machines[int(np.argmax(prior))].name)
    assert mind.values == (0.0,) * len(prior)


@pytest.mark.parametrize("kind", [RescorlaWagner, Programs])
def test_a_meeting_of_which_a_play_is_not_known_teaches_nothing(kind: type[RescorlaWagner] | type[Programs]) -> None:
    mind = kind.of(FEW)
    assert mind.update((3, 3, 1), ROCK, 1.0) is mind
    assert mind.update(typical_inventory(ROCK, 3), None, 1.0) is mind
    assert mind.for_partner("Ana") is mind


@pytest.mark.slow
def test_programs_are_a_librarian_of_meetings() -> None:
    mind, librarian = Programs.of(library(RULES)), BayesianLookahead.of(library(RULES))
    for own, theirs in ((ROCK, ROCK), (ROCK, PAPER), (PAPER, PAPER), (SCISSORS, SCISSORS), (PAPER, ROCK)):
        mind, librarian = (
            mind.update(typical_inventory(own, 3), theirs, 0.5),
            librarian.observe(Outcome(own, theirs, 0.5)),
        )
        assert mind.predict() == librarian.predict()
        assert mind.act() == librarian.act()
    assert mind.ranked[0][0] == "answers the last play: rock→paper paper→scissors scissors→rock"
    assert [p for _, p in mind.ranked] == sorted((p for _, p in mind.ranked), reverse=True)
    assert sum(p for _, p in mind.ranked) <= 1.0 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RescorlaWagner, Programs])
def test_who_always_plays_the_same_is_found_out(kind: type[RescorlaWagner] | type[Programs]) -> None:
    for often in range(3):
        mind = kind.of(library(RULES))
        for _ in range(6):
            mind = mind.update(typical_inventory(mind.act().mode, 3), often, 0.0)
        assert mind.predict().mode == often
        assert mind.act().mode == (often + 1) % 3


COOPERATE, DEFECT = range(2)


def dilemma(strategy: Strategy, meetings: int) -> list[tuple[int, int]]:
    """What programs and a strategy play in the prisoner's dilemma, if all is as meant."""
    rules = in_the_matrix("pd_repeated").rules
    partner = machine_of("partner", strategy, meeting_game(rules)).start
    mind, plays = Programs.of(library(rules)), list[tuple[int, int]]()
    for _ in range(meetings):
        own, theirs = mind.act().mode, partner.act().mode
        plays.append((own, theirs))
        mind = mind.update(typical_inventory(own, 2), theirs, 0.0)
        partner = partner.observe(Outcome(theirs, own, 0.0))
    return plays


C, D = Aim(COOPERATE, 5), Aim(DEFECT, 5)


@pytest.mark.slow
def test_those_who_cooperate_anyway_are_found_out_and_those_who_answer_are_cooperated_with() -> None:
    assert dilemma(specialist(C), 12)[3:] == [(DEFECT, COOPERATE)] * 9
    assert dilemma(TitForTat(C, D), 14)[-4:] == [(COOPERATE, COOPERATE)] * 4


@pytest.mark.slow
def test_long_episodes_have_no_last_meeting() -> None:
    """More meetings than the plan has, and the next is as if some were ahead."""
    assert dilemma(TitForTat(C, D), HORIZON + 8)[-8:] == [(COOPERATE, COOPERATE)] * 8
