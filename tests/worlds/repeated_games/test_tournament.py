"""Matches: three ways to the same scores, those of a plain rollout, of all histories, and of what is known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.world import rollout
from otherminds.worlds.repeated_games.machines import Machine, bundled_machines, constant, reactive
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game, Outcome, RepeatedGame
from otherminds.worlds.repeated_games.tournament import expected_score, match_score, match_scores, tournament

IPD = find_game("ipd")
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x", "y", "z")), ((0, 0),) * 6)
THREE = Game("three", ("a", "b", "c"), (("u", "v"),) * 3, ((0, 0, 0),) * 8)
Pair = tuple[Machine, Machine]


@st.composite
def games(draw: st.DrawFn) -> Game:
    actions = tuple(tuple("abc"[: draw(st.integers(1, 3))]) for _ in range(2))
    number = st.integers(-50, 50).map(lambda n: n / 4)
    size = math.prod(map(len, actions))
    payoffs = draw(st.lists(st.tuples(number, number), min_size=size, max_size=size))
    return Game("random", ("you", "partner"), actions, tuple(payoffs))


@st.composite
def machines(draw: st.DrawFn, game: Game, *, agent: int, chance: bool) -> Machine:
    """Any machine; all have one name, so that nothing can depend on it."""
    options, others = game.payoff(agent).shape
    states = draw(st.integers(1, 4))
    weights = st.lists(st.integers(0, 3), min_size=options, max_size=options).filter(any)
    certain = st.integers(0, options - 1).map(lambda action: [int(a == action) for a in range(options)])
    outputs = [draw(weights if chance else certain) for _ in range(states)]
    to = st.tuples(*[st.integers(0, states - 1)] * others)
    moves = draw(st.lists(st.tuples(*[to] * options), min_size=states, max_size=states))
    return Machine("random", tuple(tuple(w / sum(law) for w in law) for law in outputs), tuple(moves))


def pairs(game: Game, *, chance: bool = False) -> st.SearchStrategy[Pair]:
    return st.tuples(machines(game, agent=0, chance=chance), machines(game, agent=1, chance=chance))


def rolled(game: Game, pair: Pair, rounds: int, rng: np.random.Generator | None = None) -> list[float]:
    """What both get in a rollout of their minds."""
    world, rng = RepeatedGame(game, rounds), rng or np.random.default_rng(0)
    minds = dict(zip(game.agents, (machine.start for machine in pair), strict=True))
    rewards = [world.reward(s.state, s.joint, s.after) for s in rollout(world, minds, steps=rounds, rng=rng)]
    return [sum(reward[agent] for reward in rewards) for agent in game.agents]


def enumerated(game: Game, pair: Pair, rounds: int) -> list[float]:
    """The expected payoffs of both, by trying every history."""
    total = np.zeros(2)
    for history in product(np.ndindex(game.shape), repeat=rounds):
        chance, minds = 1.0, [machine.start for machine in pair]
        for a, b in history:
            chance *= minds[0].act().prob(a) * minds[1].act().prob(b)
            minds = [minds[0].observe(Outcome(a, b, 0.0)), minds[1].observe(Outcome(b, a, 0.0))]
        gains = [(game.payoff(0)[a, b], game.payoff(1)[b, a]) for a, b in history]
        total += chance * np.sum(gains, axis=0)
    return total.tolist()


# Known matches


ALWAYS_C, ALWAYS_D = constant(IPD, 0), constant(IPD, 1)
TFT, WSLS, ALTERNATE = (partner(name, IPD) for name in ("tft", "wsls", "alternate"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (TFT, TFT, (800, 800)),
        (TFT, ALWAYS_D, (495, 505)),
        (ALWAYS_D, TFT, (505, 495)),
        (ALWAYS_C, ALWAYS_D, (0, 1000)),
        (TFT, ALTERNATE, (8 + 50 * 0 + 49 * 10, 8 + 50 * 10 + 49 * 0)),
        (WSLS, ALWAYS_D, (50 * 0 + 50 * 5, 50 * 10 + 50 * 5)),
    ],
)
def test_known_matches_of_the_prisoners_dilemma(first: Machine, second: Machine, expected: tuple[int, int]) -> None:
    assert match_score(IPD, first, second, 100) == expected
    assert match_scores(IPD, [(first, second)], 100).tolist() == [list(expected)]
    assert expected_score(IPD, first, second, 100) == pytest.approx(expected)


def test_known_expectations_in_the_prisoners_dilemma() -> None:
    random, tft = partner("random", IPD), partner("tft", IPD)
    assert expected_score(IPD, random, random, 100) == pytest.approx((575, 575))
    assert expected_score(IPD, ALWAYS_D, random, 100) == pytest.approx((750, 250))
    assert expected_score(IPD, tft, random, 100) == pytest.approx((4 + 99 * 5.75, 9 + 99 * 5.75))


@pytest.mark.slow
def test_the_bundled_machines_get_the_same_one_by_one_and_all_at_once() -> None:
    bundled = bundled_machines(IPD)
    every = [(first, second) for first in bundled for second in bundled]
    found = match_scores(IPD, every, 30)
    assert found.shape == (len(every), 2)
    assert found.tolist() == [list(match_score(IPD, *pair, 30)) for pair in every]


# Any machines


@pytest.mark.slow
@given(st.data(), games(), st.integers(1, 30))
def test_one_by_one_and_all_at_once_are_the_rollout_of_minds(data: st.DataObject, game: Game, rounds: int) -> None:
    some = data.draw(st.lists(pairs(game), min_size=1, max_size=5))
    expected = [rolled(game, pair, rounds) for pair in some]
    assert [list(match_score(game, *pair, rounds)) for pair in some] == expected
    assert match_scores(game, some, rounds).tolist() == expected


@pytest.mark.slow
@given(st.data(), games(), st.integers(1, 30))
def test_without_chance_the_expectation_is_the_score(data: st.DataObject, game: Game, rounds: int) -> None:
    pair = data.draw(pairs(game))
    assert expected_score(game, *pair, rounds) == pytest.approx(match_score(game, *pair, rounds), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data(), games(), st.integers(1, 3))
def test_the_expectation_is_that_of_all_histories(data: st.DataObject, game: Game, rounds: int) -> None:
    pair = data.draw(pairs(game, chance=True))
    assert expected_score(game, *pair, rounds) == pytest.approx(enumerated(game, pair, rounds), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data(), games(), st.integers(1, 12))
def test_the_game_seen_from_the_other_place_swaps_the_scores(data: st.DataObject, game: Game, rounds: int) -> None:
    first, second = data.draw(pairs(game, chance=True))
    swapped = expected_score(game.seen_by(1), second, first, rounds)
    assert swapped[::-1] == pytest.approx(expected_score(game, first, second, rounds), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_expectation_is_the_mean_of_many_rollouts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = Game("wide", WIDE.agents, WIDE.actions, tuple(map(tuple, rng.normal(size=(6, 2)).tolist())))
    first, second = (_random(game, agent, rng) for agent in range(2))
    sampled = [rolled(game, (first, second), 8, rng) for _ in range(500)]
    error = np.std(sampled, axis=0) / math.sqrt(len(sampled))
    difference = np.mean(sampled, axis=0) - expected_score(game, first, second, 8)
    assert (np.abs(difference) <= 5 * error).all()


def _random(game: Game, agent: int, rng: np.random.Generator) -> Machine:
    own, others = game.payoff(agent).shape
    moves = rng.integers(4, size=(4, own, others)).tolist()
    outputs = rng.dirichlet(np.ones(own), size=4).tolist()
    return Machine("random", tuple(map(tuple, outputs)), tuple(tuple(map(tuple, row)) for row in moves))


# Tournaments


def test_a_tournament_has_everybody_with_everybody() -> None:
    noisy = TFT.trembling(0.1)
    entrants = [TFT, noisy, ALWAYS_D]
    found = tournament(IPD, entrants, 100)
    assert found.shape == (3, 3, 2)
    for (i, first), (j, second) in product(enumerate(entrants), repeat=2):
        assert 100 * found[i, j] == pytest.approx(expected_score(IPD, first, second, 100))


@pytest.mark.slow
@settings(max_examples=12)
@given(st.data(), st.integers(1, 10))
def test_a_tournament_of_a_symmetric_game_is_symmetric(data: st.DataObject, rounds: int) -> None:
    entrants = data.draw(st.lists(machines(IPD, agent=1, chance=data.draw(st.booleans())), max_size=4))
    found = tournament(IPD, entrants, rounds)
    assert found[..., 0] == pytest.approx(found[..., 1].T)


def test_nobody_plays_nothing() -> None:
    assert match_scores(IPD, [], 10).shape == (0, 2)
    assert tournament(IPD, [], 10).shape == (0, 0, 2)


# What is refused


def test_chance_is_left_to_the_expectation() -> None:
    noisy = partner("gtft", IPD)
    for pair in ((TFT, noisy), (noisy, TFT)):
        with pytest.raises(ValueError, match="gtft is stochastic: expected_score"):
            match_score(IPD, *pair, 10)
        with pytest.raises(ValueError, match="expected_score"):
            match_scores(IPD, [(TFT, TFT), pair], 10)


def test_machines_must_fit_their_places() -> None:
    first, second = constant(WIDE, 1, agent=0), constant(WIDE, 2)
    assert match_score(WIDE, first, second, 3) == (0, 0)
    for pair in ((second, first), (first, TFT), (TFT, second)):
        with pytest.raises(ValueError, match="does not fit"):
            match_score(WIDE, *pair, 3)
        with pytest.raises(ValueError, match="does not fit"):
            match_scores(WIDE, [(first, second), pair], 3)
        with pytest.raises(ValueError, match="does not fit"):
            expected_score(WIDE, *pair, 3)
    with pytest.raises(ValueError, match="does not fit"):
        tournament(WIDE, [first, second], 3)


def test_matches_are_between_two() -> None:
    machine = reactive("one of three", THREE, 0, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="three has 3 agents"):
        match_score(THREE, machine, machine, 3)
    with pytest.raises(ValueError, match="three has 3 agents"):
        expected_score(THREE, machine, machine, 3)


@pytest.mark.parametrize("rounds", [0, -1])
def test_there_must_be_a_round(rounds: int) -> None:
    with pytest.raises(ValueError, match="at least 1 round"):
        match_score(IPD, TFT, TFT, rounds)
    with pytest.raises(ValueError, match="at least 1 round"):
        match_scores(IPD, [], rounds)
    with pytest.raises(ValueError, match="at least 1 round"):
        expected_score(IPD, TFT, TFT, rounds)
    with pytest.raises(ValueError, match="at least 1 round"):
        tournament(IPD, [TFT], rounds)
