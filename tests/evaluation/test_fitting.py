"""Likelihoods against minds asked one by one, and fits against closed forms, SciPy, and brute force."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from otherminds.evaluation.choices import Choices, outcome, simulated
from otherminds.evaluation.fitting import (
    APART,
    STARTS,
    fit,
    log_prior,
    maximise,
    profile,
    starts_of,
    wald,
    weakly,
    with_prior,
)
from otherminds.evaluation.likelihoods import FARTHEST, Likelihood, first_points, one_by_one
from otherminds.evaluation.minds import minds_for
from otherminds.evaluation.tables import read_choices
from otherminds.papers.people.datasets import RPS, bots, dataset, strategies
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.players.parametric import MINDS, parametric
from otherminds.worlds.repeated_games.rules import Game

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


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_minds_fit_games_in_which_the_players_have_different_numbers_of_actions(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    actions = tuple(tuple("xyz"[:size]) for size in shape)
    game = Game("unequal", ("I", "you"), actions, tuple(map(tuple, rng.uniform(0.0, 9.0, (6, 2)).tolist())))
    own, theirs = (rng.integers(size, size=(3, 12)) for size in shape)
    own[0, 1] = -1
    number = np.tile(np.arange(1, 13), (3, 1))
    choices = Choices(("a", "b", "c"), ("g",) * 3, np.arange(3), (game,) * 3, own, theirs, number)
    minds = [mind for mind in minds_for(game) if mind.parameters]
    assert {"wsls", "q_learning", "rmax"} <= {mind.name for mind in minds}
    for mind in minds:
        values = values_of(mind.name, 3, 2)
        plain = one_by_one(mind, choices, values)
        likelihood = Likelihood.of(mind, choices)
        assert np.abs(likelihood.probabilities(values) - plain).max() < 1e-8, mind.name
        scored = np.take_along_axis(plain, np.maximum(own, 0)[:, None, :, None], axis=3)[..., 0]
        expected = np.where(own[:, None] >= 0, np.log(scored), 0.0).sum(axis=2)
        assert likelihood(likelihood.free(values)) == pytest.approx(expected), mind.name


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
def test_parameters_are_recovered_from_people_who_play_bots() -> None:
    like, mind = dataset("human-rps").subset(range(0, 217, 5)), MINDS["wsls"]
    rng = np.random.default_rng(3)
    true = {p.name: rng.uniform(*p.typical, size=len(like.people)) for p in mind.parameters}
    found = fit(Likelihood.of(mind, simulated(mind, like, true, rng, bots()))).values
    assert all(np.corrcoef(true[name], found[name])[0, 1] > 0.9 for name in mind.names)
    assert RPS in like.games


# Global maxima

OF_TWO = [name for name, mind in MINDS.items() if len(mind.parameters) == 2]


@pytest.mark.slow
def test_a_maximum_at_a_bound_far_from_the_others_is_found() -> None:
    """Person 128 hardly learns, and is sure of what she has learnt; there is a lower maximum of -317.8."""
    every = dataset("human-rps")
    alone = every.subset([every.people.index("128")])
    found = fit(Likelihood.of(MINDS["q_learning"], alone))
    assert found.log_likelihood[0] == pytest.approx(-299.674, abs=2e-3)
    assert found.values["rate"][0] == pytest.approx(0.0062, abs=2e-4)
    assert found.values["beta"][0] == pytest.approx(20.0, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TWO)
def test_no_point_of_a_grid_is_better_than_the_maximum(name: str) -> None:
    choices = few("human-rps", 4, 20 if name == "rule_lookahead" else 60)
    likelihood = Likelihood.of(MINDS[name], choices)
    line = np.linspace(-FARTHEST, FARTHEST, 61) + 0.01
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    alone, weak = fit(likelihood), weakly(likelihood)
    best = with_prior(likelihood, weak.mean, weak.sd)(weak.x[:, None], np.arange(4))[:, 0]
    for part in np.array_split(points, 60):
        x = np.broadcast_to(part, (4, *part.shape))
        values = likelihood(x)
        assert (values.max(axis=1) < alone.log_likelihood + 1e-3).all()
        assert ((values + log_prior(x, weak.mean, weak.sd)).max(axis=1) < best + 1e-3).all()


def hills(x: Floats, _units: Ints) -> Floats:
    """Two maxima along the first axis: 0 near 2, and log .2 near -2."""
    across: Floats = -0.5 * (x[..., 1:] ** 2).sum(axis=-1)
    along: Floats = np.logaddexp(-2.0 * (x[..., 0] - 2.0) ** 2, np.log(0.2) - 2.0 * (x[..., 0] + 2.0) ** 2)
    return across + along


def test_agreement_is_the_share_of_starts_that_end_at_the_best_maximum() -> None:
    starts = np.array([[[-2.5, 1.0], [1.5, 0.5], [2.5, -1.0]], [[1.0, 0.0], [3.0, 0.0], [np.nan, np.nan]]])
    found = maximise(hills, starts)
    assert found.agreement == pytest.approx([2 / 3, 1.0])
    assert found.x == pytest.approx(np.array([[2.0, 0.0]] * 2), abs=1e-3)
    assert found.value == pytest.approx([0.0, 0.0], abs=1e-5)
    assert found.hessian == pytest.approx(np.tile(np.diag([-4.0, -1.0]), (2, 1, 1)), rel=1e-3, abs=1e-3)


def test_searches_start_at_the_peaks_of_both_profiles() -> None:
    points = first_points(2)
    values = hills(points[None] + 0.01, np.zeros(1, dtype=np.intp))
    starts = starts_of(points, values)
    assert starts.shape == (1, STARTS, 2)
    assert np.abs(starts[0, :2, 0] - [2.0, -2.0]).max() < 0.5
    assert np.abs(starts[0, STARTS // 2, 1]) < 0.5
    assert np.isfinite(starts[0, :, 0]).sum() == 3, "there are two peaks along the one parameter, one along the other"
    assert (maximise(hills, starts).agreement == [2 / 3]).all()


def test_a_low_peak_on_a_narrow_ridge_is_found_beside_a_plateau() -> None:
    def ridge(x: Floats, _units: Ints) -> Floats:
        along: Floats = np.exp(-((x[..., 0] - 1.0) ** 2) / 8.0) + 0.9 / (1.0 + np.exp(6.0 - x[..., 0]))
        off: Floats = x[..., 1] - 0.02 * x[..., 0]
        return 0.1 * along - 50.0 * off**2

    points, unit = first_points(2), np.zeros(1, dtype=np.intp)
    found = maximise(ridge, starts_of(points, ridge(points[None], unit)))
    assert found.value[0] > ridge(np.array([[[1.0, 0.02]]]), unit)[0, 0]


def test_searches_of_many_parameters_start_apart() -> None:
    points = first_points(3)
    starts = starts_of(points, hills(points[None], np.zeros(1, dtype=np.intp)))[0]
    assert not np.isnan(starts).any()
    distances = np.abs(starts[:, None] - starts).max(axis=2)
    assert distances[~np.eye(STARTS, dtype=bool)].min() >= APART
    assert (starts[0] == points[hills(points[None], np.zeros(1, dtype=np.intp))[0].argmax()]).all()


def test_intervals_from_the_curvature_lie_within_the_bounds() -> None:
    likelihood = Likelihood.of(MINDS["wsls"], few("human-rps", 12, 25))
    found = fit(likelihood)
    for i, parameter in enumerate(found.mind.parameters):
        low, high = wald(found)[parameter.name].T
        inside = np.abs(found.x[:, i]) < FARTHEST
        assert inside.any()
        value = found.values[parameter.name][inside]
        assert ((parameter.low <= low[inside]) & (low[inside] < value)).all()
        assert ((value < high[inside]) & (high[inside] <= parameter.high)).all()
        assert (wald(found, 0.5)[parameter.name][inside, 0] > low[inside]).all()


def test_a_value_at_a_bound_has_no_standard_error() -> None:
    found = fit(Likelihood.of(MINDS["wsls"], few("human-rps", 12, 25)))
    x = np.tile([[0.0, FARTHEST], [-FARTHEST, 0.0]], (6, 1))
    errors = replace(found, x=x, covariance=np.tile(np.eye(2), (12, 1, 1))).errors
    assert np.isnan(errors["win_stay"]).tolist() == [False, True] * 6
    assert np.isnan(errors["lose_shift"]).tolist() == [True, False] * 6
    assert errors["win_stay"][0] == pytest.approx(0.25), "the slope of the logistic function at 0"


# Missed moves, and slips


@pytest.mark.parametrize("name", ["TFT", "WSLS"])
def test_a_missed_move_is_no_slip(name: str) -> None:
    """Whoever wants to copy, or to win and stay, and misses a third of the rounds, does so all the same."""
    rng, wanted, lines = np.random.default_rng(0), 0, ["person,round,own,other"]
    for t in range(1, 91):
        theirs = int(rng.integers(2))
        lines.append(f"a,{t},{'' if t % 3 == 0 else 'CD'[wanted]},{'CD'[theirs]}")
        wanted = theirs if name == "TFT" else int(wanted != theirs)
    choices = read_choices(Path("data.csv"), find_game("ipd"), text="\n".join(lines))
    assert (choices.own == MISSED).sum() == 30
    (mind,) = (mind for mind in strategies() if mind.name == name)
    found = fit(Likelihood.of(mind, choices))
    assert found.choices[0] == 60
    assert found.values["tremble"][0] < 0.02


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("wsls", {"win_stay": 0.8, "lose_shift": 0.6}),
        ("q_learning", {"rate": 0.4, "beta": 6.0}),
        ("outcome_transitions", {"memory": 0.9, "beta": 6.0}),
        ("grudger", {"tremble": 0.2}),
    ],
)
def test_what_was_chosen_is_scored_and_what_was_done_is_seen(name: str, values: dict[str, float]) -> None:
    game, rng = find_game("ipd"), np.random.default_rng(0)
    own, theirs, executed = rng.integers(2, size=(3, 2, 30))
    own[:, 4] = executed[:, 4] = executed[0, 6] = MISSED
    number = np.tile(np.arange(1, 31), (2, 1))
    choices = Choices(("a", "b"), ("g", "g"), np.arange(2), (game, game), own, theirs, number, executed)
    mind = parametric(name, game)
    ours = Likelihood.of(mind, choices).of_values({key: np.full((2, 1), value) for key, value in values.items()}, 1)
    for n in range(2):
        one, total = mind.mind(game, **values), 0.0
        one = one.observe(None)
        for chosen, done, seen in zip(own[n].tolist(), executed[n].tolist(), theirs[n].tolist(), strict=True):
            total += one.act().log_prob(chosen) if chosen != MISSED else 0.0
            one = one.observe(outcome(game, done, seen))
        assert ours[n, 0] == pytest.approx(total, abs=1e-9)
    swapped = Likelihood.of(mind, replace(choices, own=executed, executed=own))
    again = swapped.of_values({key: np.full((2, 1), value) for key, value in values.items()}, 1)
    assert not np.allclose(ours, again)
