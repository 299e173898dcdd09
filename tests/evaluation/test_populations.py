"""Populations of people whose parameters are known, and posteriors against quadrature and simulated people."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices, simulated
from otherminds.evaluation.fitting import WEAK_PRIOR, fit, fit_with_prior, weakly
from otherminds.evaluation.likelihoods import FARTHEST, Likelihood
from otherminds.evaluation.populations import (
    EFFECT_PRIOR,
    bayes_factor,
    design_of,
    effects,
    fitted_mind,
    hierarchical,
    population,
    posterior,
)
from otherminds.papers.people.datasets import bots, dataset, strategies
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.players.parametric import MINDS

Floats = NDArray[np.float64]
WSLS = MINDS["wsls"]


@cache
def places(people: int, rounds: int) -> Choices:
    """Matches with a bot, for people to be simulated in, half of them in each of two groups."""
    like = dataset("human-rps").of_group("prev_move_positive")
    like = like.subset([n % len(like.people) for n in range(people)])
    own, theirs, number = (part[:, :rounds] for part in (like.own, like.theirs, like.number))
    return replace(like, people=tuple(map(str, range(people))), own=own, theirs=theirs, number=number)


def people_of(x: Floats, rounds: int, seed: int) -> Likelihood:
    """The likelihood of what people with these parameters, shape (N, 2), do by win-stay-lose-shift."""
    values = {p.name: p.value(x[:, i]) for i, p in enumerate(WSLS.parameters)}
    rng = np.random.default_rng([seed, 1])
    return Likelihood.of(WSLS, simulated(WSLS, places(len(x), rounds), values, rng, bots()))


def in_two_groups(people: int) -> tuple[Floats, Ints]:
    group = np.arange(people) % 2
    return np.column_stack([np.ones(people), group]), group


# Populations


@pytest.mark.slow
def test_an_effect_and_the_spread_of_a_population_are_recovered() -> None:
    design, group = in_two_groups(60)
    rng = np.random.default_rng(2)
    x = rng.normal(np.stack([0.5 + 1.0 * group, -0.3 - 0.8 * group], axis=1), 0.6)
    found = population(people_of(x, 80, 2), design)
    errors = np.sqrt(np.diagonal(found.covariance)).reshape(2, 2)
    assert (errors < 0.35).all()
    assert (np.abs(found.coefficients - [[0.5, -0.3], [1.0, -0.8]]) < 3.0 * errors).all()
    assert found.sd == pytest.approx(np.full((60, 2), 0.6), abs=0.2)
    stay, shift = effects(found, ["1 against 0"])
    assert (stay.parameter, shift.parameter, stay.of) == ("win_stay", "lose_shift", "1 against 0")
    assert 0.0 < stay.low < stay.value < stay.high
    assert shift.high < 0.0
    assert min(stay.bayes_factor, shift.bayes_factor) > 3.0
    start = found.coefficients[0, 0]
    assert stay.before == pytest.approx(1.0 / (1.0 + np.exp(-start)))
    assert stay.after == pytest.approx(1.0 / (1.0 + np.exp(-start - stay.value)))


@pytest.mark.slow
def test_groups_may_have_different_spreads() -> None:
    design, group = in_two_groups(60)
    x = np.random.default_rng(4).normal(0.0, np.where(group, 1.5, 0.3)[:, None], (60, 2))
    found = population(people_of(x, 80, 4), design, group)
    assert found.sd[1::2] == pytest.approx(np.full((30, 2), 1.5), abs=0.6)
    assert (found.sd[::2] < 0.6).all()
    together = population(people_of(x, 80, 4), design)
    assert (found.sd[0] < together.sd[0]).all()
    assert (together.sd[0] < found.sd[1]).all()


@pytest.mark.slow
def test_partial_pooling_draws_people_towards_their_group() -> None:
    x = np.tile([[0.85, 0.4]], (12, 1))
    likelihood = people_of(x, 40, 0)
    alone, pooled = fit(likelihood), hierarchical(likelihood)
    truth = likelihood.values(x)
    errors = [np.abs(found.values[name] - truth[name]).mean() for found in (pooled, alone) for name in truth]
    assert errors[0] < errors[2]
    assert errors[1] < errors[3]
    assert pooled.values["win_stay"].std() < alone.values["win_stay"].std()
    assert np.isfinite(pooled.evidence).all()


@pytest.mark.slow
def test_an_effect_is_asked_for_by_the_name_of_a_column() -> None:
    choices = replace(places(12, 30), covariates={"age": tuple(str(20 + n) for n in range(12))})
    found = fitted_mind(WSLS, choices, effect="age", holdout="rounds")
    assert [effect.parameter for effect in found.effects] == ["win_stay", "lose_shift"]
    assert found.effects[0].of.startswith("age, one standard deviation (3.61) more")
    assert found.held_out is not None
    assert set(found.intervals) == {"win_stay", "lose_shift"}
    assert not fitted_mind(WSLS, choices, pool=True).effects


@pytest.mark.parametrize(("value", "error"), [(0.0, 0.3), (0.7, 0.25), (-2.0, 0.5), (0.4, 2.0)])
def test_bayes_factors_are_those_of_numerical_integration(value: float, error: float) -> None:
    def joint(effect: float) -> float:
        return float(stats.norm.pdf(value, effect, error) * stats.norm.pdf(effect, scale=EFFECT_PRIOR))

    expected = quad(joint, -12.0, 12.0, points=[0.0, value])[0] / stats.norm.pdf(value, scale=error)
    assert bayes_factor(value, error) == pytest.approx(expected, rel=1e-6)


# Designs


def of_columns(group: str, **covariates: str) -> Choices:
    """Choices of people with one letter of each column; `_` between values of more letters."""
    parts = {name: tuple(text.split("_") if "_" in text else text) for name, text in covariates.items()}
    people = len(group)
    like = places(people, 2)
    return replace(like, groups=tuple(group), covariates=parts)


def test_a_column_of_numbers_has_one_effect() -> None:
    names, design = design_of(of_columns("aaaa", age="20_30_40_50"), "age")
    assert names == ("age, one standard deviation (12.9) more",)
    assert design[:, 0].tolist() == [1.0] * 4
    assert design[:, 1].mean() == pytest.approx(0.0)
    assert design[:, 1].std(ddof=1) == pytest.approx(1.0)
    assert (np.diff(design[:, 1]) > 0.0).all()


def test_two_values_are_compared_even_if_they_are_numbers() -> None:
    names, design = design_of(of_columns("abba", dose="1001"), "dose")
    assert names == ("0 against 1",)
    assert design.tolist() == [[1, 0], [1, 1], [1, 1], [1, 0]]
    assert design_of(of_columns("abba"), "group")[0] == ("b against a",)


def test_each_further_value_is_compared_with_the_first() -> None:
    names, design = design_of(of_columns("bacab"), "group")
    assert names == ("a against b", "c against b")
    assert design.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert design_of(of_columns("aaaa", age="1_2_old_2"), "age")[0] == ("2 against 1", "old against 1")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("sex", "there is no column `sex` of people"),
        ("dose", "`dose` is the same for all people"),
        ("name", "`name` has 4 values for 4 people"),
        ("age", "`age` of person .* is `NaN`"),
        ("size", "`size` of person .* is `inf`"),
    ],
)
def test_a_column_that_has_no_effects_is_refused(column: str, message: str) -> None:
    choices = of_columns("aaaa", dose="1111", name="wxyz", age="20_30_NaN_30", size="1_2_2_inf")
    with pytest.raises(InputError, match=message):
        design_of(choices, column)


# Posteriors


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ALLD", "TFT"])
def test_a_posterior_is_that_of_quadrature(name: str) -> None:
    choices = dataset("human-ipd").of_group("D75R40").subset(range(6))
    (mind,) = (mind for mind in strategies() if mind.name == name)
    likelihood = Likelihood.of(mind, choices)
    found = posterior(likelihood, draws=8192)
    line = np.linspace(-5.0 * WEAK_PRIOR, 5.0 * WEAK_PRIOR, 20_001)
    inside = np.clip(line, -FARTHEST, FARTHEST)
    logs = likelihood(np.tile(inside[None, :, None], (6, 1, 1))) - 0.5 * (line / WEAK_PRIOR) ** 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    values = mind.parameters[0].value(inside)
    mean = weights @ values
    sd = np.sqrt(weights @ values**2 - mean**2)
    assert found.mean()["tremble"] == pytest.approx(mean, rel=0.01)
    assert found.sd()["tremble"] == pytest.approx(sd, rel=0.01)
    assert found.weights.sum(axis=1) == pytest.approx(1.0)
    assert (found.effective > 800.0).all()
    below = (weights * (line < found.fit.x)).sum(axis=1)
    assert found.below(found.fit.x)[:, 0] == pytest.approx(below, abs=0.01)


@pytest.mark.slow
def test_true_parameters_are_anywhere_in_their_posteriors() -> None:
    """Simulation-based calibration: of people drawn from the prior, the posterior quantiles are uniform."""
    people, spread = 150, 1.5
    x = np.random.default_rng(0).normal(0.0, spread, (people, 2))
    likelihood = people_of(x, 60, 0)
    fitted = fit_with_prior(likelihood, np.zeros((people, 2)), np.full((people, 2), spread))
    ranks = posterior(likelihood, fitted, draws=512).below(x)
    assert ranks.shape == (people, 2)
    for rank in ranks.T:
        assert stats.kstest(rank, "uniform").pvalue > 0.01
    wrong = posterior(likelihood, fit_with_prior(likelihood, np.ones((people, 2)), np.full((people, 2), 0.3)))
    assert stats.kstest(wrong.below(x)[:, 0], "uniform").pvalue < 1e-4, "the test sees a wrong prior"


def test_draws_are_repeatable() -> None:
    likelihood = people_of(np.zeros((3, 2)), 10, 0)
    fitted = weakly(likelihood)
    one, again, other = (posterior(likelihood, fitted, 64, seed) for seed in (0, 0, 1))
    assert (one.x == again.x).all()
    assert (one.x != other.x).any()
