"""Fits of minds to what people did: maximum likelihood, partial pooling, and predictions of what was not fitted.

The likelihood of a person's choices is Π p(a_t | what that person had seen by then, θ), over all rounds in which a
move was made. Parameters are searched on the real line (see `Parameter`), for all people at once: a point of θ for
every person costs one pass through the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, qmc

from otherminds.evaluation.choices import Choices, OneByOne, crowd_of, outcome
from otherminds.mind import ParametricMind
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.in_vectors import Ints

Floats = NDArray[np.float64]
FARTHEST = 8.0  # largest |x| of a parameter on the real line: within .04 % of the range from a bound
STARTS = 2  # starts of a search, the best of LOOKED_AT
LOOKED_AT = 32  # points at which the likelihood is looked at first: a Sobol sequence over the parameters' ranges
ITERATIONS = 60  # most Newton steps of a search
CLOSE = 1e-4  # gain in nats at which a search ends
STEP = 1e-3  # of numerical derivatives, on the real line
LENGTHS = np.array([1.0, 0.5, 0.2, 0.04])  # of Newton steps that are tried at once
LONGEST = 2.5  # longest Newton step in one parameter, on the real line
TINY = 1e-300  # smallest probability of a choice, so that its logarithm is finite
WEAK_PRIOR = 5.0
"""Standard deviation, on the real line, of the weak prior N(0, 5²) of fits that have to predict: little more than a
guard against parameters at their bounds. The widest of those tried, it predicts the last third of rounds of every
second person best (`reproduce people`, docs/results/people.md)."""
POOLING = 12  # steps of EM for the population's distribution

Objective = Callable[[Floats, Ints], Floats]
"""f(x, units): the log likelihoods, shape (n, K), of these units, shape (n,), at the points x, shape (n, K, d)."""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of some people's choices under a mind, at any points of its parameters.

    `scored`, shape (S, T), are the rounds that count; all are observed. Shapes: N people, S matches, T rounds, d
    parameters, K points of them for each person, n units (people or groups).
    """

    mind: ParametricMind
    choices: Choices
    scored: NDArray[np.bool_]

    @classmethod
    def of(cls, mind: ParametricMind, choices: Choices, scored: NDArray[np.bool_] | None = None) -> Likelihood:
        """The likelihood of all choices, or those that are `scored`."""
        counted = choices.scored if scored is None else scored & choices.scored
        return cls(mind, choices, counted)

    def values(self, free: Floats) -> dict[str, Floats]:
        """Parameters by name, from points of the real line of shape (…, d)."""
        clipped = np.clip(free, -FARTHEST, FARTHEST)
        return {p.name: p.value(clipped[..., i]) for i, p in enumerate(self.mind.parameters)}

    def free(self, values: Mapping[str, Floats]) -> Floats:
        """Points of the real line, shape (…, d), from parameters by name."""
        return cast("Floats", np.stack([p.free(values[p.name]) for p in self.mind.parameters], axis=-1))

    @cached_property
    def _inner(self) -> Floats:
        """Policies of a mind without its tremble, which then has no parameters, shape (S, T, |A|).

        Histories form a tree for each game, so that people with the same history share the work.
        """
        roots: dict[Any, Any] = {}  # by game, a node: (mind, next nodes by both actions)
        choices = self.choices
        policies = np.zeros((*choices.own.shape, choices.games[0].shape[0]))
        for s, game in enumerate(choices.games):
            assert self.mind.inner is not None
            if game not in roots:
                roots[game] = (self.mind.inner(game).observe(cast("Any", None)), {})
            node = roots[game]
            for t in np.flatnonzero(choices.played[s]):
                mind, onward = node
                policies[s, t] = [float(np.exp(mind.act().log_prob(a))) for a in range(policies.shape[2])]
                own_action, their_action = int(choices.own[s, t]), int(choices.theirs[s, t])
                if (own_action, their_action) not in onward:
                    next_mind = mind if own_action == MISSED else mind.observe(outcome(game, own_action, their_action))
                    onward[own_action, their_action] = (next_mind, {})
                node = onward[own_action, their_action]
        return policies

    def probabilities(self, values: Mapping[str, Floats]) -> Floats:
        """π, shape (S, K, T, |A|), for parameters of shape (N, K), by person."""
        if self.mind.inner is not None:
            tremble = values["tremble"][self.choices.person][:, :, None, None]
            mixed: Floats = (1.0 - tremble) * self._inner[:, None] + tremble / self._inner.shape[2]
            return mixed
        crowd = crowd_of(self.mind, self.choices, {n: v[self.choices.person] for n, v in values.items()})
        rounds = []
        for own, theirs in zip(self.choices.own.T, self.choices.theirs.T, strict=True):
            rounds.append(crowd.act())
            crowd = crowd.observe(own, theirs)
        shape = np.broadcast_shapes(*(policy.shape for policy in rounds))
        return np.stack([np.broadcast_to(policy, shape) for policy in rounds], axis=2)

    def __call__(self, free: Floats, people: Ints | None = None) -> Floats:
        """Log likelihoods, shape (n, K), of `people` (default: all) at points of shape (n, K, d)."""
        if people is not None and not np.array_equal(people, np.arange(len(self.choices.people))):
            return self.of_people(people)(free)
        if self.mind.inner is not None:
            return self._of_tremble(self.values(free)["tremble"])
        values = self.values(free)
        total = np.zeros((len(self.choices.own), free.shape[1]))
        for matches, match_choices, scored in self._of_similar_length:
            crowd = crowd_of(self.mind, match_choices, {n: v[match_choices.person] for n, v in values.items()})
            match_indices = np.arange(len(matches))
            for own, theirs, counts in zip(match_choices.own.T, match_choices.theirs.T, scored.T, strict=False):
                probability = crowd.act()[match_indices, :, np.maximum(own, 0)]
                total[matches] += np.where(counts[:, None], np.log(np.maximum(probability, TINY)), 0.0)
                crowd = crowd.observe(own, theirs)
        return self.choices.total(total)

    @cached_property
    def _of_similar_length(self) -> list[tuple[Ints, Choices, NDArray[np.bool_]]]:
        """Matches of up to 2, 8, 32, … rounds, with their choices and what is scored of them.

        So short ones are not played on; nor is any after the last round that is scored.
        """
        lengths = np.where(self.scored, np.arange(1, self.scored.shape[1] + 1), 0).max(axis=1)
        which = np.where(lengths > 0, np.ceil(np.log2(np.maximum(lengths, 2)) / 2.0 - 0.5), -1).astype(int)
        groups = [np.flatnonzero(which == k) for k in np.unique(which[which >= 0])]
        return [(g, self.choices.of_matches(g), self.scored[g, : lengths[g].max()]) for g in groups]

    def of_people(self, people: Ints) -> Likelihood:
        """The likelihood of the choices of some people, by index, in this order."""
        choices = self.choices.subset(people)
        matches = np.concatenate([np.flatnonzero(self.choices.person == n) for n in people])
        likelihood = Likelihood(self.mind, choices, self.scored[matches, : choices.own.shape[1]])
        if self.mind.inner is not None:
            vars(likelihood)["_inner"] = self._inner[matches, : choices.own.shape[1]]
        return likelihood

    @cached_property
    def certainties(self) -> tuple[Floats, Floats]:
        """The V different probabilities of choices before the tremble, shape (V,), and each person's counts, (N, V)."""
        every, rounds = np.ogrid[: self._inner.shape[0], : self._inner.shape[1]]
        probability = self._inner[every, rounds, np.maximum(self.choices.own, 0)]
        different, which = np.unique(probability.round(12), return_inverse=True)
        counted = self.scored[..., None] & (which.reshape(probability.shape)[..., None] == np.arange(len(different)))
        return different, self.choices.total(counted.sum(axis=1).astype(float))

    def _of_tremble(self, tremble: Floats) -> Floats:
        """Log likelihoods for trembles of shape (n, K), in that shape: `certainties` mixed with uniform play."""
        different, counts = self.certainties
        mixed = (1.0 - tremble[..., None]) * different + tremble[..., None] / self._inner.shape[2]
        return cast("Floats", (counts[:, None] * np.log(np.maximum(mixed, TINY))).sum(axis=-1))


def one_by_one(mind: ParametricMind, choices: Choices, values: Mapping[str, Floats]) -> Floats:
    """π by asking every mind's `act()`, as `Likelihood.probabilities` and much slower; to test and time that."""
    plain = replace(mind, many=None, inner=None)
    crowd: OneByOne = crowd_of(plain, choices, {n: v[choices.person] for n, v in values.items()})
    rounds = []
    for own, theirs in zip(choices.own.T, choices.theirs.T, strict=True):
        rounds.append(crowd.act())
        crowd = crowd.observe(own, theirs)
    return np.stack(rounds, axis=2)


# Searching


@dataclass(frozen=True, eq=False)
class Optimum:
    """Maxima of an objective: points x, shape (n, d), values, shape (n,), and Hessians, shape (n, d, d)."""

    x: Floats
    value: Floats
    hessian: Floats


def maximise(objective: Objective, starts: Floats) -> Optimum:
    """The best maxima that Newton's method finds from several starts, shape (n, starts, d), for n units at once.

    Derivatives are numerical; directions of positive curvature are turned, and four lengths of each step are tried.
    """
    units, attempts, size = starts.shape
    if size == 0:
        return Optimum(starts[:, 0], objective(starts[:, :1], np.arange(units))[:, 0], np.zeros((units, 0, 0)))
    best = _newton_ascent(objective, starts[:, 0])
    for k in range(1, attempts):
        optimum = _newton_ascent(objective, starts[:, k])
        better = optimum.value > best.value
        best = Optimum(
            np.where(better[:, None], optimum.x, best.x),
            np.where(better, optimum.value, best.value),
            np.where(better[:, None, None], optimum.hessian, best.hessian),
        )
    return best


def _newton_ascent(objective: Objective, x: Floats) -> Optimum:
    """A local maximum for each unit by Newton's method from the points x, shape (n, d).

    In each iteration the units that still improve try LENGTHS of their step, and keep the best point if it is better.
    Units stop when an iteration gains less than CLOSE.
    """
    x = x.copy()
    units = len(x)
    value, hessian = np.full(units, -np.inf), np.zeros((units, *x.shape[1:] * 2))
    active: Ints = np.arange(units)
    for _ in range(ITERATIONS):
        current, gradient, curvature = derivatives(objective, x[active], active)
        hessian[active], value[active] = curvature, current
        eigenvalues, eigenvectors = np.linalg.eigh(curvature)
        # |eigenvalues|, so that directions of positive curvature are climbed, too; floored, for flat directions
        scaled = np.einsum("nij,ni->nj", eigenvectors, gradient) / np.maximum(np.abs(eigenvalues), 1e-3)
        step = np.einsum("nij,nj->ni", eigenvectors, scaled)
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
        points = np.clip(x[active, None] + LENGTHS[:, None] * step[:, None], -FARTHEST, FARTHEST)
        values = objective(points, active)
        best = values.argmax(axis=1)
        gains = values.max(axis=1) - current
        improves = gains > 0.0
        x[active[improves]] = points[np.flatnonzero(improves), best[improves]]
        value[active[improves]] = values[np.flatnonzero(improves), best[improves]]
        active = active[gains > CLOSE]
        if not len(active):
            break
    return Optimum(x, value, hessian)


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


def starts_of(objective: Objective, mind: ParametricMind, units: int) -> Floats:
    """The best STARTS of LOOKED_AT points that cover the parameters' ranges, shape (units, STARTS, d)."""
    size = len(mind.parameters)
    if not size:
        return np.zeros((units, 1, 0))
    share = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(0)).random(LOOKED_AT)
    points = np.log((0.02 + 0.96 * share) / (0.98 - 0.96 * share))  # logits of 2 % to 98 % of each range
    values = objective(np.broadcast_to(points, (units, *points.shape)), np.arange(units))
    best = np.argsort(-values, axis=1, kind="stable")[:, :STARTS]
    return points[best]


# Fits


@dataclass(frozen=True, eq=False)
class Fit:
    """A mind fitted to n units (people or groups): points x on the real line, shape (n, d), and what they explain.

    `covariance`, shape (n, d, d), is the inverse observed information; `log_likelihood` and `choices`, the number of
    scored choices, have shape (n,). `evidence` is Laplace's approximation to log p(choices) under the prior of x that
    was used, NaN without one. `mean` and `sd`, shape (n, d), are that prior.
    """

    mind: ParametricMind
    units: tuple[str, ...]
    x: Floats
    covariance: Floats
    log_likelihood: Floats
    choices: Floats
    evidence: Floats
    mean: Floats
    sd: Floats

    def of_units(self, which: Ints) -> Fit:
        """The fit of some of the units, by index."""
        names = tuple(self.units[n] for n in which)
        parts = (self.x, self.covariance, self.log_likelihood, self.choices, self.evidence, self.mean, self.sd)
        return Fit(self.mind, names, *(part[which] for part in parts))

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
    optimum = maximise(objective, starts_of(objective, likelihood.mind, len(names)))
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
    return Fit(likelihood.mind, names, optimum.x, _inverse(-optimum.hessian), value, counted, evidence, mean, sd)


def _inverse(information: Floats) -> Floats:
    """Inverses of symmetric matrices; NaN where one is not positive definite."""
    if not information.shape[1]:
        return information
    eigenvalues, eigenvectors = np.linalg.eigh(information)
    with np.errstate(divide="ignore"):
        inverses = np.einsum("nij,nj,nkj->nik", eigenvectors, 1.0 / eigenvalues, eigenvectors)
    return np.where((eigenvalues.min(axis=1) > 0.0)[:, None, None], inverses, np.nan)


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


class Fitted(NamedTuple):
    """A fit, and its profile intervals by parameter, shape (units, 2), if they were computed."""

    fit: Fit
    profile: Mapping[str, Floats] | None = None


def fitted_minds(
    minds: Iterable[ParametricMind], choices: Choices, by: str = "person", *, pool: bool = False
) -> list[Fitted]:
    """Each mind fitted to the choices: by person, with partial pooling if `pool`, or by group or to all together.

    Profile intervals come with fits of several people at once.
    """
    fits = []
    for mind in minds:
        likelihood = Likelihood.of(mind, choices)
        fitted = hierarchical(likelihood) if pool else fit(likelihood, by)
        fits.append(Fitted(fitted, None if by == "person" else profile(likelihood, fitted, by)))
    return fits


# Priors and partial pooling


def with_prior(likelihood: Objective, mean: Floats, sd: Floats) -> Objective:
    """log p(choices | x) + log N(x; mean, sd²), the last two by person, shape (N, d)."""

    def objective(x: Floats, people: Ints) -> Floats:
        z = (x - mean[people, None]) / sd[people, None]
        penalty = 0.5 * (z**2 + np.log(2.0 * np.pi) + 2.0 * np.log(sd[people, None])).sum(axis=2)
        return cast("Floats", likelihood(x, people) - penalty)

    return objective


def fit_with_prior(likelihood: Likelihood, mean: Floats, sd: Floats, start: Floats | None = None) -> Fit:
    """The posterior mode of each person under N(mean, sd²) on the real line, both of shape (N, d)."""
    objective = with_prior(likelihood, mean, sd)
    people = len(likelihood.choices.people)
    starts = starts_of(objective, likelihood.mind, people)[:, :1] if start is None else start[:, None]
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


def hierarchical(likelihood: Likelihood) -> Fit:
    """Partial pooling: the parameters of a group's people are N(μ, σ²) on the real line, with μ and σ fitted.

    Empirical Bayes by EM with Laplace's approximation: modes and curvatures by person, then μ = mean of the modes and
    σ² = mean of (mode − μ)² + posterior variance. (Huys et al. 2011; Piray et al. 2019.)
    """
    fitted = weakly(likelihood)
    people = len(likelihood.choices.people)
    size = len(likelihood.mind.parameters)
    if not size:
        return fitted
    _, unit = _units(likelihood, "group")
    for _ in range(POOLING):
        mean, sd = np.zeros((people, size)), np.ones((people, size))
        for group in range(unit.max() + 1):
            is_member = unit == group
            variance = np.nan_to_num(np.diagonal(fitted.covariance[is_member], axis1=1, axis2=2), nan=WEAK_PRIOR**2)
            mean[is_member] = fitted.x[is_member].mean(axis=0)
            spread = ((fitted.x[is_member] - mean[is_member]) ** 2 + variance).mean(axis=0)
            sd[is_member] = np.sqrt(np.clip(spread, 0.1**2, 2.0 * WEAK_PRIOR**2))
        fitted = fit_with_prior(likelihood, mean, sd, fitted.x)
    return fitted


# Cross-validation


def later_rounds(mind: ParametricMind, choices: Choices, share: float = 1 / 3, sd: float = WEAK_PRIOR) -> Floats:
    """The log likelihood of each person's last rounds, this share of them, by parameters fitted to the rounds before.

    Shape (N,). Of people with several matches the last matches are held out, of others the last rounds.
    """
    held_out = last_rounds(choices, share)
    early = Likelihood.of(mind, choices, ~held_out)
    fitted = weakly(early, sd)
    late = Likelihood.of(mind, choices, held_out)
    return late(fitted.x[:, None], np.arange(len(choices.people)))[:, 0]


def last_rounds(choices: Choices, share: float = 1 / 3) -> NDArray[np.bool_]:
    """The last rounds of each person, shape (S, T), counted over all of her matches."""
    is_last = np.zeros_like(choices.played)
    for n in range(len(choices.people)):
        matches = np.flatnonzero(choices.person == n)
        order = [(s, t) for s in matches for t in np.flatnonzero(choices.played[s])]
        for s, t in order[len(order) - round(share * len(order)) :]:
            is_last[s, t] = True
    return is_last


def leave_one_person_out(mind: ParametricMind, choices: Choices, fitted: Fit | None = None) -> Floats:
    """The log likelihood of each person's choices, predicted from the other people of her group; shape (N,).

    log (1 / (n − 1)) Σ_{j ≠ i} p(choices of i | parameters of j): a person is one of the others, nobody knows which.
    The parameters are those of `fitted`, by person with the weak prior, so nothing of a person enters her prediction.
    """
    log_likelihood = np.zeros(len(choices.people))
    x = (fitted or weakly(Likelihood.of(mind, choices))).x
    for group in dict.fromkeys(choices.groups):
        members = np.array([n for n, name in enumerate(choices.groups) if name == group])
        likelihood = Likelihood.of(mind, choices.subset(members))
        points = x[members]
        # log p(choices of member i | parameters of member j)
        table = likelihood(np.broadcast_to(points, (len(members), *points.shape)), np.arange(len(members)))
        if len(members) > 1 and points.shape[1]:
            np.fill_diagonal(table, -np.inf)
            top = table.max(axis=1, keepdims=True)
            log_likelihood[members] = (
                top + np.log(np.exp(table - top).sum(axis=1, keepdims=True) / (len(members) - 1))
            )[:, 0]
        else:
            log_likelihood[members] = np.diagonal(table) if points.shape[1] else table[:, 0]
    return log_likelihood
