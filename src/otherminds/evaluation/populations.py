"""Populations of people: partial pooling, what a group or a covariate changes, and posteriors by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices
from otherminds.evaluation.fitting import (
    WEAK_PRIOR,
    Fit,
    fit,
    fit_with_prior,
    log_prior,
    profile,
    wald,
    weakly,
    with_prior,
)
from otherminds.evaluation.likelihoods import FARTHEST, Likelihood
from otherminds.evaluation.predictions import held_out
from otherminds.evaluation.statistics import Estimate
from otherminds.evaluation.tables import NOT_RECORDED
from otherminds.mind import Parameter, ParametricMind
from otherminds.worlds.repeated_games.players.in_vectors import Ints

Floats = NDArray[np.float64]
POOLING = 40  # most steps of EM for the population's distribution
SETTLED = 1e-3  # change of the population's means and standard deviations at which EM ends
NARROWEST = 0.1  # smallest standard deviation of a population, on the real line
EFFECT_PRIOR = 1.0
"""Standard deviation of the prior N(0, 1) of an effect, on the real line, for its Bayes factor: a difference of 1 moves
a probability from .5 to .73. Chosen."""
DRAWS = 1024  # of each person's posterior
PROFILED = 2  # most parameters of a mind whose profiles are computed for every person
UNKNOWN = ("", *NOT_RECORDED, "inf", "-inf")  # values of a column, case ignored, that no effect can be of
TAIL = 4  # degrees of freedom of the proposals around a mode, and
WIDTH = 1.5  # their scale, in posterior standard deviations: so that they cover the posterior


class Population(NamedTuple):
    """People's parameters on the real line as draws from N(Z γ, σ²).

    `fit` has the modes by person under that distribution, `design` is Z, shape (N, k), `coefficients` are γ, shape
    (k, d), with the covariance `covariance` of their rows one after the other, (k d, k d), and `sd` is σ, shape (N, d).
    """

    fit: Fit
    design: Floats
    coefficients: Floats
    covariance: Floats
    sd: Floats


def hierarchical(likelihood: Likelihood) -> Fit:
    """Partial pooling: the parameters of a group's people are N(μ, σ²) on the real line, with μ and σ fitted."""
    names = tuple(dict.fromkeys(likelihood.choices.groups))
    group = np.array([names.index(name) for name in likelihood.choices.groups])
    return population(likelihood, np.eye(len(names))[group], group).fit


def population(likelihood: Likelihood, design: Floats, spread: Ints | None = None) -> Population:
    """Fit the population of which these people are, with design matrix Z; people with the same `spread` share σ.

    Empirical Bayes by EM with Laplace's approximation: modes and curvatures by person, then γ by least squares on the
    modes, and σ² = mean of (mode − Z γ)² + posterior variance. (Huys et al. 2011; Piray et al. 2019.)
    """
    people, size = len(likelihood.choices.people), len(likelihood.mind.parameters)
    spread = np.zeros(people, dtype=np.intp) if spread is None else spread
    fitted = weakly(likelihood)
    mean: Floats = np.zeros((people, size))
    sd: Floats = np.full((people, size), WEAK_PRIOR)
    coefficients: Floats = np.zeros((design.shape[1], size))
    for _ in range(POOLING if size else 0):
        before = mean, sd
        variance = np.nan_to_num(np.diagonal(fitted.covariance, axis1=1, axis2=2), nan=WEAK_PRIOR**2)
        coefficients = np.linalg.pinv(design) @ fitted.x
        mean = design @ coefficients
        sd = np.empty_like(mean)
        for part in range(spread.max() + 1):
            is_member = spread == part
            residual = ((fitted.x[is_member] - mean[is_member]) ** 2 + variance[is_member]).mean(axis=0)
            sd[is_member] = np.sqrt(np.clip(residual, NARROWEST**2, 2.0 * WEAK_PRIOR**2))
        fitted = fit_with_prior(likelihood, mean, sd, fitted.x)
        if max(np.abs(mean - before[0]).max(), np.abs(sd - before[1]).max()) < SETTLED:
            break
    if size:
        fitted = fit_with_prior(likelihood, mean, sd)
    exact, covariance = _least_squares(fitted, design, mean, sd)
    return Population(fitted, design, exact if size else coefficients, covariance, sd)


def _least_squares(fitted: Fit, design: Floats, mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """γ and its covariance by generalised least squares, each person's likelihood taken as Gaussian at the mode.

    With H the curvature of a person's likelihood, the data of that person are N(Z γ, H⁻¹ + σ²), so that
    W = (H⁻¹ + σ²)⁻¹ = H − H (H + σ⁻²)⁻¹ H is what they add to the information about Z γ.
    """
    (people, size), terms = mean.shape, design.shape[1]
    if not size:
        return np.zeros((terms, 0)), np.zeros((0, 0))
    degrees = max(people - terms, 1)
    narrow = np.einsum("nd,de->nde", sd**-2 * degrees / people, np.eye(size))  # σ² of a sample, for its population's
    posterior = np.linalg.pinv(np.where(np.isfinite(fitted.covariance), fitted.covariance, 0.0), hermitian=True)
    eigenvalues, axes = np.linalg.eigh(posterior - np.einsum("nd,de->nde", sd**-2, np.eye(size)))
    curvature = np.einsum("nij,nj,nkj->nik", axes, np.maximum(eigenvalues, 1e-9), axes)
    pull = np.einsum("nij,nj->ni", curvature, fitted.x) + (fitted.x - mean) * sd**-2  # H times the person's own maximum
    inner = np.linalg.inv(curvature + narrow)
    information = curvature - curvature @ inner @ curvature
    weighted = pull - np.einsum("nij,njk,nk->ni", curvature, inner, pull)
    total = np.einsum("nk,nl,nij->kilj", design, design, information).reshape(terms * size, terms * size)
    covariance = np.linalg.pinv(total, hermitian=True)
    estimate = covariance @ np.einsum("nk,ni->ki", design, weighted).ravel()
    return estimate.reshape(terms, size), covariance


# Effects


class Effect(NamedTuple):
    """What a group or a covariate changes in a parameter, on the real line, with its 95 % interval.

    `before` and `after` are the parameter's value for the typical person without and with the change. `bayes_factor` is
    p(data | an effect) / p(data | none), under the prior N(0, EFFECT_PRIOR²) of effects.
    """

    parameter: str
    of: str
    value: float
    low: float
    high: float
    before: float
    after: float
    bayes_factor: float


def design_of(choices: Choices, column: str) -> tuple[tuple[str, ...], Floats]:
    """Names of the effects of a column, `group` or a covariate, and the design matrix with a first column of ones.

    A column of numbers has one effect, that of a standard deviation more; another has one for each further value,
    against the value that comes first. Raises InputError if there is no such column, or it does not vary, or is unknown
    for somebody.
    """
    columns = {"group": choices.groups, **choices.covariates}
    if column not in columns:
        raise InputError(f"there is no column `{column[:60]}` of people", hint=f"there is {', '.join(columns)}")
    values = columns[column]
    for person, value in zip(choices.people, values, strict=True):
        if value.casefold() in UNKNOWN:
            message = f"`{column[:60]}` of person {person[:60]} is `{value[:60]}`"
            raise InputError(message, hint="an effect needs a value for everybody; leave out the others")
    levels = tuple(dict.fromkeys(values))
    if len(levels) < 2:
        raise InputError(f"`{column[:60]}` is the same for all people", hint="an effect needs two values of it")
    numbers = _numbers(values)
    if numbers is not None and len(levels) > 2:
        names: tuple[str, ...] = (f"{column}, one standard deviation ({numbers.std(ddof=1):.3g}) more",)
        further = ((numbers - numbers.mean()) / numbers.std(ddof=1))[:, None]
    else:
        names = tuple(f"{level} against {levels[0]}" for level in levels[1:])
        further = np.array([[value == level for level in levels[1:]] for value in values], dtype=float)
    if further.shape[1] + 1 >= len(values):
        message = f"`{column[:60]}` has {len(levels)} values for {len(values)} people"
        raise InputError(message, hint="an effect needs more people than values")
    return names, np.column_stack([np.ones(len(values)), further])


def _numbers(values: Sequence[str]) -> Floats | None:
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def effects(found: Population, names: Sequence[str]) -> list[Effect]:
    """The effects of all columns of the design but the first, on every parameter, by Student's t with N − k degrees."""
    size = len(found.fit.mind.parameters)
    if not size:
        return []
    quantile = float(stats.t.ppf(0.975, max(len(found.design) - found.design.shape[1], 1)))
    errors = np.sqrt(np.diagonal(found.covariance)).reshape(-1, size)
    listed = []
    for k, name in enumerate(names, 1):
        for i, parameter in enumerate(found.fit.mind.parameters):
            value, error = float(found.coefficients[k, i]), float(errors[k, i])
            start = float(found.coefficients[0, i])
            before, after = (float(parameter.value(np.array(x))) for x in (start, start + value))
            bounds = value - quantile * error, value + quantile * error
            listed.append(Effect(parameter.name, name, value, *bounds, before, after, bayes_factor(value, error)))
    return listed


def bayes_factor(value: float, error: float) -> float:
    """p(estimate | an effect of N(0, EFFECT_PRIOR²)) / p(estimate | none), the estimate being N(effect, error²)."""
    wide = np.hypot(error, EFFECT_PRIOR)
    return float(np.exp(stats.norm.logpdf(value, scale=wide) - stats.norm.logpdf(value, scale=error)))


# Posteriors


class Posterior(NamedTuple):
    """Weighted draws of each person's parameters on the real line: x of shape (N, K, d), weights of (N, K)."""

    fit: Fit
    x: Floats
    weights: Floats

    @property
    def effective(self) -> Floats:
        """The number of independent draws that are worth as much, 1 / Σ w², shape (N,)."""
        return cast("Floats", 1.0 / (self.weights**2).sum(axis=1))

    def mean(self) -> dict[str, Floats]:
        """Posterior means of the parameters by name, shape (N,)."""
        return {p.name: (self.weights * p.value(self.x[..., i])).sum(axis=1) for i, p in self._parameters}

    def sd(self) -> dict[str, Floats]:
        """Posterior standard deviations of the parameters by name, shape (N,)."""
        means = self.mean()
        squares = {p.name: (self.weights * p.value(self.x[..., i]) ** 2).sum(axis=1) for i, p in self._parameters}
        return {name: np.sqrt(np.maximum(square - means[name] ** 2, 0.0)) for name, square in squares.items()}

    def below(self, x: Floats) -> Floats:
        """P(parameter < x) for a point of each person, shape (N, d)."""
        return cast("Floats", (self.weights[..., None] * (self.x < x[:, None])).sum(axis=1))

    @property
    def _parameters(self) -> list[tuple[int, Parameter]]:
        return list(enumerate(self.fit.mind.parameters))


def posterior(likelihood: Likelihood, fitted: Fit | None = None, draws: int = DRAWS, seed: int = 0) -> Posterior:
    """Each person's posterior by importance sampling, under the prior of the fit, by default the weak one.

    Half of the draws come from Student's t around the mode, half from the prior, so that posteriors that are skewed,
    flat or at a bound are covered; draws are quasi-random.
    """
    fitted = weakly(likelihood) if fitted is None else fitted
    people, size = fitted.x.shape
    share = stats.qmc.Sobol(size + 1, scramble=True, rng=np.random.default_rng(seed)).random(draws)
    normal, half = stats.norm.ppf(np.clip(share[:, 1:], 1e-9, 1.0 - 1e-9)), draws // 2
    stretch = np.sqrt(TAIL / stats.chi2.ppf(np.clip(share[:half, :1], 1e-9, 1.0 - 1e-9), TAIL))
    prior_covariance = np.einsum("nd,de->nde", fitted.sd**2, np.eye(size))
    is_known = np.array(np.isfinite(fitted.covariance).all(axis=(1, 2)))
    covariance = np.where(is_known[:, None, None], fitted.covariance, prior_covariance)
    root = WIDTH * np.linalg.cholesky(covariance)
    near = fitted.x[:, None] + np.einsum("nij,kj->nki", root, normal[:half] * stretch)
    wide = fitted.mean[:, None] + fitted.sd[:, None] * normal[half:]
    x = np.clip(np.concatenate([near, wide], axis=1), -FARTHEST, FARTHEST)
    z = np.linalg.solve(root[:, None], (x - fitted.x[:, None])[..., None])[..., 0]
    log_near = stats.multivariate_t.logpdf(z, np.zeros(size), np.eye(size), TAIL).reshape(people, draws)
    log_near = log_near - np.linalg.slogdet(root)[1][:, None]
    proposed = np.logaddexp(log_near, log_prior(x, fitted.mean, fitted.sd)) - np.log(2.0)
    target = with_prior(likelihood, fitted.mean, fitted.sd)
    parts = [target(part, np.arange(people)) for part in np.array_split(x, max(1, draws // 64), axis=1)]
    log_weights = np.concatenate(parts, axis=1) - proposed
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return Posterior(fitted, x, weights / weights.sum(axis=1, keepdims=True))


# What `otherminds fit` shows


class Fitted(NamedTuple):
    """A mind fitted `by` person, group or to all, 95 % intervals by parameter, (units, 2), and effects of a column.

    `held_out` is the log likelihood per choice of what was held out, if anything was.
    """

    fit: Fit
    by: str
    intervals: Mapping[str, Floats]
    effects: tuple[Effect, ...] = ()
    held_out: Estimate | None = None


def fitted_mind(
    mind: ParametricMind,
    choices: Choices,
    by: str = "person",
    *,
    pool: bool = False,
    effect: str | None = None,
    holdout: str | None = None,
) -> Fitted:
    """A mind fitted to the choices: by person, with partial pooling if `pool`, or by group or to all together.

    `effect` is a column of people whose effect on the parameters is estimated, with pooling; `holdout` says what is
    predicted from the rest (see `predictions`). Intervals are from the profile of the likelihood, but of fits with a
    prior, or by person with more than two parameters, from its curvature. Raises InputError for a column that has no
    effects.
    """
    likelihood = Likelihood.of(mind, choices)
    found: tuple[Effect, ...] = ()
    if effect is not None:
        names, design = design_of(choices, effect)
        people = population(likelihood, design)
        fitted, found = people.fit, tuple(effects(people, names))
    else:
        fitted = hierarchical(likelihood) if pool else fit(likelihood, by)
    is_quick = effect is None and not pool and (by != "person" or len(mind.parameters) <= PROFILED)
    intervals = profile(likelihood, fitted, by) if is_quick else wald(fitted)
    predicted = held_out(mind, choices, holdout) if holdout else None
    return Fitted(fitted, by, intervals, found, predicted)
