"""Fits of minds to what people did: maximum likelihood, posterior modes under a prior, and intervals.

Parameters are searched on the real line (see `Parameter`), for all people at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter
from scipy.stats import chi2, norm

from otherminds.evaluation.likelihoods import FARTHEST, GRID, Likelihood, first_points
from otherminds.files.html import facts
from otherminds.files.text import brief
from otherminds.mind import ParametricMind
from otherminds.worlds.repeated_games.players.in_vectors import Ints

Floats = NDArray[np.float64]
STARTS = 12  # most starts of a search: the best points looked at that are apart
APART = 1.0  # distance on the real line between starts
SAME_MAXIMUM = 1e-2  # nats: searches that end so close to the best have found it
ITERATIONS = 60  # most Newton steps of a search
CLOSE = 1e-5  # gain in nats at which a search ends
STEP = 1e-3  # of numerical derivatives, on the real line
LENGTHS = np.array([1.0, 0.5, 0.2, 0.04])  # of Newton steps that are tried at once
LONGEST = 2.5  # longest Newton step in one parameter, on the real line
TAKES_PART = 1e-4  # squared share of a parameter in a direction from which it belongs to it
WEAK_PRIOR = 5.0
"""Standard deviation, on the real line, of the weak prior N(0, 5²) of fits that have to predict: little more than a
guard against parameters at their bounds. Of 1.5, 2.5, 5 and 10 it predicts the last third of rounds of every second
person of both data sets best (`reproduce people`, docs/results/people.md)."""

Objective = Callable[[Floats, Ints], Floats]
"""f(x, units): the log likelihoods, shape (n, K), of these units, shape (n,), at the points x, shape (n, K, d)."""


# Searching


@dataclass(frozen=True, eq=False)
class Optimum:
    """Maxima of an objective: points x, shape (n, d), values, shape (n,), and Hessians, shape (n, d, d).

    `agreement`, shape (n,), is the share of the starts from which the search found that maximum.
    """

    x: Floats
    value: Floats
    hessian: Floats
    agreement: Floats


def maximise(objective: Objective, starts: Floats) -> Optimum:
    """The best maxima that Newton's method finds from several starts, shape (n, starts, d), for n units at once.

    A start that is NaN is left out; the first is not. Derivatives are numerical; directions of positive curvature are
    turned, and four lengths of each step are tried.
    """
    units, attempts, size = starts.shape
    if size == 0:
        value = objective(starts[:, :1], np.arange(units))[:, 0]
        return Optimum(starts[:, 0], value, np.zeros((units, 0, 0)), np.ones(units))
    x, hessian = starts[:, 0].copy(), np.zeros((units, size, size))
    values = np.full((units, attempts), np.nan)
    best = np.full(units, -np.inf)
    for k in range(attempts):
        tried = np.flatnonzero(~np.isnan(starts[:, k, 0]))
        found, values[tried, k], curvature = _newton_ascent(objective, starts[tried, k], tried)
        better = values[tried, k] > best[tried]
        improved = tried[better]
        x[improved], hessian[improved] = found[better], curvature[better]
        best[improved] = values[improved, k]
    agreement = np.nanmean(np.where(np.isnan(values), np.nan, values > best[:, None] - SAME_MAXIMUM), axis=1)
    return Optimum(x, best, hessian, agreement)


def _newton_ascent(objective: Objective, x: Floats, which: Ints) -> tuple[Floats, Floats, Floats]:
    """A local maximum for each of some units by Newton's method from the points x, shape (n, d): x, value, Hessian.

    In each iteration the units that still improve try LENGTHS of their step, and keep the best point if it is better.
    Units stop when an iteration gains less than CLOSE.
    """
    x = x.copy()
    units = len(x)
    value, hessian = np.full(units, -np.inf), np.zeros((units, *x.shape[1:] * 2))
    active: Ints = np.arange(units)
    for _ in range(ITERATIONS):
        if not len(active):
            break
        current, gradient, curvature = derivatives(objective, x[active], which[active])
        hessian[active], value[active] = curvature, current
        eigenvalues, eigenvectors = np.linalg.eigh(curvature)
        # |eigenvalues|, so that directions of positive curvature are climbed, too; floored, for flat directions
        scaled = np.einsum("nij,ni->nj", eigenvectors, gradient) / np.maximum(np.abs(eigenvalues), 1e-3)
        step = np.einsum("nij,nj->ni", eigenvectors, scaled)
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
        points = np.clip(x[active, None] + LENGTHS[:, None] * step[:, None], -FARTHEST, FARTHEST)
        values = objective(points, which[active])
        best = values.argmax(axis=1)
        gains = values.max(axis=1) - current
        improves = gains > 0.0
        x[active[improves]] = points[np.flatnonzero(improves), best[improves]]
        value[active[improves]] = values[np.flatnonzero(improves), best[improves]]
        active = active[gains > CLOSE]
    return x, value, hessian


def derivatives(objective: Objective, x: Floats, units: Ints) -> tuple[Floats, Floats, Floats]:
    """The values, gradients and Hessians at x, shape (n, d), by finite differences."""
    size = x.shape[1]
    steps = STEP * np.eye(size)
    pairs = [(i, j) for i in range(size) for j in range(i)]
    # the point itself, one step up and down in each parameter, one step up in each pair of parameters
    shifts = np.concatenate([np.zeros((1, size)), steps, -steps, *(steps[[i]] + steps[[j]] for i, j in pairs)])
    values = objective(x[:, None] + shifts, units)
    centre, up, down = values[:, 0], values[:, 1 : 1 + size], values[:, 1 + size : 1 + 2 * size]
    hessian = np.zeros((len(x), size, size))
    hessian[:, range(size), range(size)] = (up + down - 2.0 * centre[:, None]) / STEP**2
    for k, (i, j) in enumerate(pairs, 1 + 2 * size):
        hessian[:, i, j] = hessian[:, j, i] = (values[:, k] - up[:, i] - up[:, j] + centre) / STEP**2
    return centre, (up - down) / (2.0 * STEP), hessian


def starts_of(points: Floats, values: Floats) -> Floats:
    """For each unit the best of the points looked at, shape (units, STARTS, d), given the values there, (units, K).

    On a line only peaks, on a grid those of the profiles of both parameters, elsewhere points that are apart; then NaN.
    """
    units, size = len(values), points.shape[1]
    if not size:
        return np.zeros((units, 1, 0))
    if size == 2:
        grid, line = values.reshape(units, *GRID[1:] * 2), points[: GRID[1], 1]
        first, second = _peaks_of_profile(grid, line), _peaks_of_profile(grid.swapaxes(1, 2), line)
        return np.concatenate([first, second[..., ::-1]], axis=1)
    if size == 1:
        values = np.where(values >= maximum_filter(values, size=(1, 3)), values, -np.inf)
    starts = np.full((units, STARTS, size), np.nan)
    for k in range(STARTS):
        best = values.argmax(axis=1)
        found = np.flatnonzero(values[np.arange(units), best] > -np.inf)
        starts[found, k] = points[best[found]]
        distances = np.abs(points[None] - points[best][:, None]).max(axis=2)
        values = np.where(distances < APART, -np.inf, values)
    return starts


def _peaks_of_profile(grid: Floats, line: Floats) -> Floats:
    """The highest peaks of the profile of the first of two parameters, shape (units, STARTS // 2, 2); then NaN.

    Ridges are narrower than the grid is wide: the second parameter is put where a parabola through the highest values
    has its vertex, so that a peak does not depend on how near the ridge passes to points.
    """
    top = grid.argmax(axis=2)
    even = np.clip(top, 3, len(line) - 4)  # the points at the ends are farther from one another
    below, middle, above = (np.take_along_axis(grid, even[..., None] + k, axis=2)[..., 0] for k in (-1, 0, 1))
    curvature = np.minimum(below - 2.0 * middle + above, -1e-12)
    shift = np.where(top == even, (below - above) / (2.0 * curvature), 0.0)
    profile = np.maximum(middle - (below - above) * shift / 4.0, grid.max(axis=2))
    second = np.interp(top + shift, np.arange(len(line)), line)
    profile = np.where(profile >= maximum_filter(profile, size=(1, 3)), profile, -np.inf)
    starts = np.full((len(grid), STARTS // 2, 2), np.nan)
    units = np.arange(len(grid))
    for k in range(STARTS // 2):
        best = profile.argmax(axis=1)
        found = np.flatnonzero(profile[units, best] > -np.inf)
        starts[found, k, 0], starts[found, k, 1] = line[best[found]], second[found, best[found]]
        profile = np.where(np.abs(line - line[best][:, None]) < APART, -np.inf, profile)
    return starts


# Fits


@dataclass(frozen=True, eq=False)
class Fit:
    """A mind fitted to n units (people or groups): points x on the real line, shape (n, d), and what they explain.

    `covariance`, shape (n, d, d), is the inverse observed information; `log_likelihood` and `choices`, the number of
    scored choices, have shape (n,). `evidence` is Laplace's approximation to log p(choices) under the prior of x that
    was used, NaN without one. `mean` and `sd`, shape (n, d), are that prior. `agreement`, shape (n,), is the share of
    the starts of the search that ended at the best value.
    """

    __repr__ = brief

    mind: ParametricMind
    units: tuple[str, ...]
    x: Floats
    covariance: Floats
    log_likelihood: Floats
    choices: Floats
    evidence: Floats
    mean: Floats
    sd: Floats
    agreement: Floats

    def of_units(self, which: Ints) -> Fit:
        """The fit of some of the units, by index."""
        names = tuple(self.units[n] for n in which)
        arrays = (field.name for field in fields(self) if field.name not in ("mind", "units"))
        return replace(self, units=names, **{name: getattr(self, name)[which] for name in arrays})

    def _repr_html_(self) -> str:
        means = [
            (name, f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})")
            for name, values in self.values.items()
        ]
        title = f"{self.mind.name}: mean (least to largest) of {len(self.units)}"
        return facts(
            title, [*means, ("log-likelihood a choice", f"{self.log_likelihood.sum() / self.choices.sum():.3f}")]
        )

    @property
    def values(self) -> dict[str, Floats]:
        """The parameters by name, shape (n,)."""
        return {p.name: p.value(self.x[:, i]) for i, p in enumerate(self.mind.parameters)}

    @property
    def errors(self) -> dict[str, Floats]:
        """Standard errors by name, shape (n,), by the delta method; NaN at a bound, where there is no curvature."""
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        with np.errstate(invalid="ignore"):
            return {
                p.name: np.where(
                    np.abs(self.x[:, i]) < FARTHEST, p.slope(self.x[:, i]) * np.sqrt(variance[:, i]), np.nan
                )
                for i, p in enumerate(self.mind.parameters)
            }

    @property
    def aic(self) -> Floats:
        """Akaike's criterion 2 d − 2 log L, shape (n,)."""
        return 2.0 * len(self.mind.parameters) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> Floats:
        """Schwarz's criterion d log n − 2 log L, shape (n,), n being the number of choices."""
        return len(self.mind.parameters) * np.log(np.maximum(self.choices, 1.0)) - 2.0 * self.log_likelihood


def _units(likelihood: Likelihood, by: str) -> tuple[tuple[str, ...], Ints]:
    """The names of the units of a fit, and the index of each person's unit, shape (N,).

    `by` is "person", "group" or "all".
    """
    choices = likelihood.choices
    if by == "person":
        return choices.people, np.arange(len(choices.people))
    names = tuple(dict.fromkeys(choices.groups)) if by == "group" else ("all",)
    return names, np.array([names.index(group) if by == "group" else 0 for group in choices.groups])


def _pooled(likelihood: Likelihood, unit: Ints) -> Objective:
    """The objective of units whose people share their parameters; `unit` is the index of each person's unit."""

    def objective(x: Floats, units: Ints) -> Floats:
        people = np.flatnonzero(np.isin(unit, units))
        place = np.searchsorted(units, unit[people])
        totals = np.zeros(x.shape[:2])
        np.add.at(totals, place, likelihood(x[place], people))
        return totals

    return objective


def fit(likelihood: Likelihood, by: str = "person") -> Fit:
    """Maximum likelihood for each person, for each group (`by` = "group"), or for all together ("all")."""
    names, unit = _units(likelihood, by)
    objective = likelihood if by == "person" else _pooled(likelihood, unit)
    points = first_points(len(likelihood.mind.parameters))
    values = np.zeros((len(names), len(points)))
    np.add.at(values, unit, likelihood.at_first_points)
    optimum = maximise(objective, starts_of(points, values))
    nothing = np.full(optimum.x.shape, np.nan)
    return _fitted(likelihood, names, unit, optimum, optimum.value, np.full(len(names), np.nan), nothing, nothing)


def _fitted(
    likelihood: Likelihood,
    names: tuple[str, ...],
    unit: Ints,
    optimum: Optimum,
    value: Floats,
    evidence: Floats,
    mean: Floats,
    sd: Floats,
) -> Fit:
    """The fit with an optimum: the inverse of its observed information, and the number of scored choices.

    `unit`, the index of each person's unit, is that of `_units`.
    """
    counted = np.zeros(len(names))
    np.add.at(counted, unit, likelihood.choices.total(likelihood.scored.sum(axis=1).astype(float)))
    covariance = _inverse(-optimum.hessian)
    return Fit(likelihood.mind, names, optimum.x, covariance, value, counted, evidence, mean, sd, optimum.agreement)


def _inverse(information: Floats) -> Floats:
    """Inverses of symmetric matrices; NaN for parameters that take part in a direction without information."""
    if not information.shape[1]:
        return information
    eigenvalues, eigenvectors = np.linalg.eigh(information)
    known = eigenvalues > 0.0
    inverses = np.einsum("nij,nj,nkj->nik", eigenvectors, known / np.where(known, eigenvalues, 1.0), eigenvectors)
    loose: NDArray[np.bool_] = np.asarray(((eigenvectors**2 > TAKES_PART) & ~known[:, None]).any(axis=2))
    return np.where(loose[:, :, None] | loose[:, None], np.nan, inverses)


def profile(likelihood: Likelihood, fitted: Fit, by: str = "group", level: float = 0.95) -> dict[str, Floats]:
    """Profile-likelihood intervals by parameter, shape (n, 2): where 2 (log L̂ − log L_profile) reaches χ²₁'s quantile.

    The likelihood is maximised over the other parameters on each of 41 values of one; between two values the profile is
    taken to be linear. A bound of the parameter stands where the profile does not fall far enough.
    """
    names, unit = _units(likelihood, by)
    objective: Objective = likelihood if by == "person" else _pooled(likelihood, unit)
    drop = chi2.ppf(level, 1) / 2.0
    size = len(likelihood.mind.parameters)
    intervals = {}
    for i, parameter in enumerate(likelihood.mind.parameters):
        nuisance = [j for j in range(size) if j != i]
        ends = np.zeros((len(names), 2))
        for end, sign in enumerate((-1.0, 1.0)):
            inside = fitted.x[:, i].copy()
            outside = np.full(len(names), sign * FARTHEST)
            for _ in range(12):  # bisection on the real line: to 1/4000 of the distance
                middle = (inside + outside) / 2.0

                def restricted(x: Floats, units: Ints, fixed: Floats = middle, i: int = i) -> Floats:
                    return objective(np.insert(x, i, fixed[units, None], axis=2), units)

                best = maximise(restricted, fitted.x[:, None, nuisance])
                within = best.value >= fitted.log_likelihood - drop
                inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
            ends[:, end] = parameter.value(inside)
        intervals[parameter.name] = ends
    return intervals


def wald(fitted: Fit, level: float = 0.95) -> dict[str, Floats]:
    """Intervals by parameter, shape (n, 2), of the estimate ± z standard errors on the real line; NaN at a bound.

    Within the parameter's bounds whatever the errors; for fits whose profiles would take long, or that have a prior.
    """
    z = float(norm.ppf(0.5 + level / 2.0))
    with np.errstate(invalid="ignore"):
        reach = z * np.sqrt(np.diagonal(fitted.covariance, axis1=1, axis2=2))
    reach = np.where(np.abs(fitted.x) < FARTHEST, reach, np.nan)
    ends = np.clip(np.stack([fitted.x - reach, fitted.x + reach], axis=-1), -FARTHEST, FARTHEST)
    return {p.name: p.value(ends[:, i]) for i, p in enumerate(fitted.mind.parameters)}


# Priors


def with_prior(likelihood: Objective, mean: Floats, sd: Floats) -> Objective:
    """log p(choices | x) + log N(x; mean, sd²), the last two by person, shape (N, d)."""

    def objective(x: Floats, people: Ints) -> Floats:
        return likelihood(x, people) + log_prior(x, mean[people], sd[people])

    return objective


def log_prior(x: Floats, mean: Floats, sd: Floats) -> Floats:
    """log N(x; mean, sd²) at K points for each of n people: x of shape (n, K, d), mean and sd of (n, d)."""
    z = (x - mean[:, None]) / sd[:, None]
    return cast("Floats", -0.5 * (z**2 + np.log(2.0 * np.pi) + 2.0 * np.log(sd[:, None])).sum(axis=2))


def fit_with_prior(likelihood: Likelihood, mean: Floats, sd: Floats, start: Floats | None = None) -> Fit:
    """The posterior mode of each person under N(mean, sd²) on the real line, both of shape (N, d)."""
    objective = with_prior(likelihood, mean, sd)
    people = len(likelihood.choices.people)
    points = first_points(len(likelihood.mind.parameters))
    everywhere = np.broadcast_to(points, (people, *points.shape))
    starts = (
        starts_of(points, likelihood.at_first_points + log_prior(everywhere, mean, sd))
        if start is None
        else start[:, None]
    )
    optimum = maximise(objective, starts)
    names, unit = _units(likelihood, "person")
    size = len(likelihood.mind.parameters)
    information = np.linalg.slogdet(-optimum.hessian)[1] if size else np.zeros(people)
    evidence = optimum.value + 0.5 * size * np.log(2.0 * np.pi) - 0.5 * information
    value = likelihood(optimum.x[:, None], np.arange(people))[:, 0]
    return _fitted(likelihood, names, unit, optimum, value, evidence, mean, sd)


def weakly(likelihood: Likelihood, sd: float = WEAK_PRIOR) -> Fit:
    """The posterior mode of each person under the weak prior."""
    shape = (len(likelihood.choices.people), len(likelihood.mind.parameters))
    return fit_with_prior(likelihood, np.zeros(shape), np.full(shape, sd))
