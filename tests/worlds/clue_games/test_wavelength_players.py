"""Guessers and clue givers: laws, scores and Bayes' rule by brute force, and dials that are found out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.world import rollout
from otherminds.worlds.clue_games.wavelength import PASS, Wavelength, WavelengthRound, WavelengthView, score
from otherminds.worlds.clue_games.wavelength_players import (
    OFFSETS,
    SLOPES,
    Dial,
    Giver,
    Guesser,
    bayesian,
    best,
    earned,
    egocentric,
    guessers,
    informed,
    random,
)

WORLD = Wavelength()
PARTNERS = tuple(guessers(WORLD))
COLD = WORLD.spectra[0]

dials = st.sampled_from(PARTNERS)
targets = st.integers(0, 20)
clues = st.integers(0, 11)


@cache
def chance(guess: int, clue: int, partner: Guesser) -> float:
    """P(guess | clue) on the first spectrum, from its definition."""
    dial = partner.dial
    middle = 20 * min(1, max(0, 0.5 + dial.slope * (COLD.places[clue] - 0.5) + dial.offset))
    weights = [math.exp(-((g - middle) ** 2) / (2 * dial.noise**2)) for g in range(21)]
    return weights[guess] / sum(weights)


def after(giver: Giver, history: Sequence[tuple[int, int]], *, target: int = 9) -> Giver:
    """The giver after rounds on the first spectrum with these clues and guesses, seeing a target on it."""
    last = None
    for clue, guess in history:
        giver = giver.observe(WavelengthView(0, target, None, last)).observe(WavelengthView(0, target, clue, last))
        last = WavelengthRound(0, target, clue, guess)
    return giver.observe(WavelengthView(0, target, None, last))


def test_there_are_25_dials() -> None:
    assert [(k.dial.slope, k.dial.offset) for k in PARTNERS] == list(product(SLOPES, OFFSETS))
    assert len({k.name for k in PARTNERS}) == 25


@pytest.mark.slow
@given(dials, clues)
def test_guesses_are_a_discretised_gaussian_around_the_dial(partner: Guesser, clue: int) -> None:
    law = partner.observe(WavelengthView(0, None, clue, None)).act()
    assert [law.prob(g) for g in range(21)] == pytest.approx([chance(g, clue, partner) for g in range(21)])
    assert sum(law.probs) == pytest.approx(1.0)


def test_dials_end_at_their_ends() -> None:
    dial = Dial(WORLD, slope=1.4, offset=0.2)
    assert [dial.position(x) for x in (0.0, 0.1, 0.5, 0.8, 1.0)] == pytest.approx([0.0, 2.8, 14.0, 20.0, 20.0])


def test_guessers_pass_until_there_is_a_clue() -> None:
    assert PARTNERS[0].act().mode == PASS
    assert PARTNERS[0].observe(WavelengthView(0, None, None, None)).act().mode == PASS


@pytest.mark.parametrize("noise", [0.0, -1.0, math.nan])
def test_there_must_be_noise(noise: float) -> None:
    with pytest.raises(ValueError, match="noise must be above 0"):
        Dial(WORLD, noise=noise)


# Exact values


@pytest.mark.slow
@given(dials, targets)
def test_expected_scores_by_brute_force(partner: Guesser, target: int) -> None:
    by_clue = [sum(chance(g, clue, partner) * score(g - target) for g in range(21)) for clue in range(12)]
    assert partner.dial.scores[0][target] == pytest.approx(by_clue)
    assert best(partner, 0, target) == pytest.approx(max(by_clue))


@pytest.mark.slow
def test_nobody_beats_whoever_knows_the_dial() -> None:
    lost = [earned(true, true) - earned(held, true) for held in PARTNERS for true in PARTNERS]
    assert min(lost) >= -1e-9
    assert np.mean(lost) == pytest.approx(1.417, abs=0.001)
    for partner in PARTNERS:
        optimum = np.mean([best(partner, s, target) for s in range(8) for target in range(21)])
        assert earned(partner, partner) == pytest.approx(optimum)


# Literal


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.tuples(clues, targets), max_size=4), clues)
def test_the_posterior_is_bayes_rule_by_hand(history: list[tuple[int, int]], clue: int) -> None:
    weights = np.array([math.prod(chance(g, c, partner) for c, g in history) for partner in PARTNERS])
    weights = weights / weights.sum()
    giver = after(bayesian(WORLD), history)
    assert giver.partners.posterior.probs == pytest.approx(list(weights), abs=1e-9)
    expected = [sum(w * chance(g, clue, k) for w, k in zip(weights, PARTNERS, strict=True)) for g in range(21)]
    last = giver.view.last if giver.view else None
    predicted = giver.observe(WavelengthView(0, 9, clue, last)).predict()
    assert [predicted.prob(g) for g in range(21)] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("partner", PARTNERS[::4], ids=lambda partner: partner.name)
def test_dials_are_found_out(partner: Guesser) -> None:
    world = Wavelength(rounds=60)
    giver: Giver = bayesian(WORLD)
    steps = list(rollout(world, {"giver": giver, "guesser": partner}, steps=120, rng=np.random.default_rng(5)))
    giver = giver.observe(world.observe(steps[0].state, "giver"))
    for step in steps:
        giver = giver.observe(world.observe(step.after, "giver"))
    found = giver.partners.ask(lambda mind: mind.name)
    assert found.mode == partner.name
    assert found.prob(partner.name) > 0.9


def test_partners_are_never_taken_to_see_the_target() -> None:
    giver = after(bayesian(WORLD), [(3, 6), (7, 15)])
    assert {mind.view.target for mind in giver.partners.minds if mind.view} == {None}


# Functional


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.tuples(clues, targets), max_size=3), targets)
def test_clues_are_best_under_the_prediction(history: list[tuple[int, int]], target: int) -> None:
    giver = after(bayesian(WORLD), history, target=target)
    last = giver.view.last if giver.view else None
    worth = [
        giver.observe(WavelengthView(0, target, clue, last)).predict().expect(lambda g: score(g - target))
        for clue in range(12)
    ]
    for clue in giver.act().support:
        assert worth[clue] == pytest.approx(max(worth))


def test_only_who_considers_several_dials_learns() -> None:
    history = [(5, 3), (6, 4), (7, 6)]
    for giver in (egocentric(WORLD), informed(PARTNERS[0]), random(WORLD)):
        before, later = (g.partners.posterior.probs for g in (giver, after(giver, history)))
        assert before == later == (1.0,)
    low = after(bayesian(WORLD), history).partners.ask(lambda mind: mind.dial.offset)
    assert low.expect(lambda offset: offset) < -0.05


def test_informed_givers_give_the_best_clue() -> None:
    for partner, target in product(PARTNERS, range(21)):
        giver = after(informed(partner), [], target=target)
        scores = partner.dial.scores[0][target]
        assert giver.act().expect(lambda clue, scores=scores: scores[clue]) == pytest.approx(scores.max())  # type: ignore[misc]


def test_for_random_givers_one_clue_is_as_good_as_another() -> None:
    giver = after(random(WORLD), [])
    assert giver.act().support == tuple(range(12))
    assert giver.observe(WavelengthView(0, 9, 0, None)).predict().mode == 10


def test_givers_pass_once_the_clue_is_given() -> None:
    giver = bayesian(WORLD)
    assert giver.act().mode == PASS
    assert after(giver, []).observe(WavelengthView(0, 9, 4, None)).act().mode == PASS


@pytest.mark.slow
def test_minds_are_values() -> None:
    one, other = (after(bayesian(WORLD), [(2, 4)]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
