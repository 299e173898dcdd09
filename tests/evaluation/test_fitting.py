"""Likelihoods against minds asked one by one, and fits against closed forms, SciPy, and brute force."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from otherminds.evaluation.choices import Choices, outcome, simulated
from otherminds.evaluation.fitting import fit, profile, weakly
from otherminds.evaluation.likelihoods import Likelihood, one_by_one
from otherminds.evaluation.populations import hierarchical
from otherminds.evaluation.predictions import last_rounds, later_rounds, leave_one_person_out
from otherminds.papers.people.datasets import RPS, bots, dataset, strategies
from otherminds.worlds.repeated_games.players.parametric import MINDS

Floats = NDArray[np.float64]


@cache
def few(data: str, people: int, rounds: int) -> Choices:
    """The first rounds of some people, a missed move among them."""
    every = dataset(data)
    some = every.subset(range(0, len(every.people), len(every.people) // people)[:people])
    own, theirs, number = (part[:, :rounds].copy() for part in (some.own, some.theirs, some.number))
    own[0, 1] = -1
    return Choices(some.people, some.groups, some.person, some.games, own, theirs, number)


def values_of(name: str, people: int, points: int) -> dict[str, Floats]:
    rng = np.random.default_rng(1)
    return {p.name: rng.uniform(*p.typical, size=(people, points)) for p in MINDS[name].parameters}


@pytest.mark.slow
@pytest.mark.parametrize("name", MINDS)
def test_vectors_are_equal_to_minds_one_by_one(name: str) -> None:
    mind = MINDS[name]
    for data, rounds in (("human-rps", 25), ("human-ipd", 23)):
        choices = few(data, 4, rounds)
        if not mind.fits(choices.games[0]):
            continue
        values = values_of(name, len(choices.people), 2)
        likelihood = Likelihood.of(mind, choices)
        plain = one_by_one(mind, choices, values)
        ours = np.broadcast_to(likelihood.probabilities(values), plain.shape)
        played = np.broadcast_to(choices.played[:, None, :, None], plain.shape)
        assert np.abs(ours - plain)[played].max() < 1e-8


@pytest.mark.slow
def test_the_likelihood_is_that_of_a_plain_loop_on_a_grid() -> None:
    choices, mind = few("human-rps", 3, 40), MINDS["q_learning"]
    grid = np.array([(rate, beta) for rate in (0.1, 0.5, 0.9) for beta in (0.5, 5.0)])
    values = {"rate": np.tile(grid[:, 0], (3, 1)), "beta": np.tile(grid[:, 1], (3, 1))}
    likelihood = Likelihood.of(mind, choices)
    ours = likelihood(likelihood.free(values))
    for n in range(3):
        for k, (rate, beta) in enumerate(grid):
            one, total = mind.mind(choices.games[n], rate=rate, beta=beta), 0.0
            for own, theirs in zip(choices.own[n].tolist(), choices.theirs[n].tolist(), strict=True):
                total += one.act().log_prob(own) if own >= 0 else 0.0
                one = one.observe(outcome(choices.games[n], own, theirs))
            assert ours[n, k] == pytest.approx(total, abs=1e-8)


def test_a_tremble_has_its_closed_form() -> None:
    choices = dataset("human-ipd").of_group("D5R32")
    likelihood = Likelihood.of(strategies()[0], choices)  # always defect
    found = fit(likelihood, "all")
    n, wrong = int(choices.scored.sum()), int((choices.own == 0).sum())
    assert found.values["tremble"][0] == pytest.approx(2.0 * wrong / n, abs=1e-4)
    share = wrong / n
    assert found.errors["tremble"][0] == pytest.approx(2.0 * np.sqrt(share * (1 - share) / n), rel=1e-2)
    best = found.log_likelihood[0]

    def drop(tremble: float) -> float:
        return float(wrong * np.log(tremble / 2) + (n - wrong) * np.log(1 - tremble / 2) - best + 3.8414588 / 2)

    ends = brentq(drop, 1e-3, 2 * share), brentq(drop, 2 * share, 0.9)
    assert profile(likelihood, found, "all")["tremble"][0] == pytest.approx(ends, abs=2e-3)


@pytest.mark.slow
def test_maximum_likelihood_is_that_of_scipy() -> None:
    likelihood = Likelihood.of(MINDS["q_learning"], few("human-rps", 3, 60))
    found = fit(likelihood)
    for n in range(2):
        one = likelihood.of_people(np.array([n]))

        def cost(x: Floats, one: Likelihood = one) -> float:
            return float(-one(np.clip(x, -8, 8)[None, None])[0, 0])

        best = -minimize(cost, (0.5, -1.0), method="Nelder-Mead", options={"maxfev": 120}).fun
        assert found.log_likelihood[n] >= best - 1e-3
    assert found.bic == pytest.approx(2 * np.log(found.choices) - 2 * found.log_likelihood)


@pytest.mark.slow
def test_partial_pooling_draws_people_towards_their_group() -> None:
    like = few("human-rps", 12, 40)
    truth = {"win_stay": np.full(12, 0.7), "lose_shift": np.full(12, 0.6)}
    likelihood = Likelihood.of(MINDS["wsls"], simulated(MINDS["wsls"], like, truth, np.random.default_rng(0)))
    alone, pooled = fit(likelihood), hierarchical(likelihood)
    errors = [np.abs(found.values[name] - truth[name]).mean() for found in (pooled, alone) for name in truth]
    assert errors[0] < errors[2]
    assert errors[1] < errors[3]
    assert pooled.values["win_stay"].std() < alone.values["win_stay"].std()
    assert np.isfinite(pooled.evidence).all()


@pytest.mark.slow
def test_held_out_choices_are_not_fitted() -> None:
    choices, mind = few("human-rps", 4, 60), MINDS["wsls"]
    late = last_rounds(choices)
    assert late.sum(axis=1).tolist() == [20] * 4
    changed = choices.own.copy()
    changed[late] = (changed[late] + 1) % 3
    other = replace(choices, own=changed)
    fits = [weakly(Likelihood.of(mind, data, ~late)).x for data in (choices, other)]
    assert (fits[0] == fits[1]).all()
    assert not np.allclose(later_rounds(mind, choices), later_rounds(mind, other))


@pytest.mark.slow
def test_a_person_is_predicted_from_the_others_of_the_group() -> None:
    choices, mind = dataset("human-rps").of_group("prev_move_positive").subset(range(3)), MINDS["fictitious_play"]
    likelihood = Likelihood.of(mind, choices)
    x = weakly(likelihood).x
    table = likelihood(np.broadcast_to(x, (3, 3, 1)))
    expected = np.log(np.exp(table[0, 1:] - table[0, 1:].max()).mean()) + table[0, 1:].max()
    assert leave_one_person_out(mind, choices)[0] == pytest.approx(expected)


@pytest.mark.slow
def test_parameters_are_recovered_from_people_who_play_bots() -> None:
    like, mind = dataset("human-rps").subset(range(0, 217, 5)), MINDS["wsls"]
    rng = np.random.default_rng(3)
    true = {p.name: rng.uniform(*p.typical, size=len(like.people)) for p in mind.parameters}
    found = fit(Likelihood.of(mind, simulated(mind, like, true, rng, bots()))).values
    assert all(np.corrcoef(true[name], found[name])[0, 1] > 0.9 for name in mind.names)
    assert RPS in like.games
