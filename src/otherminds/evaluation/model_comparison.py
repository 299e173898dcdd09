"""Which mind describes people best: comparison over people, shares of strategies, and checks by simulated people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import digamma, gammaln, logsumexp, softmax

from otherminds.evaluation.choices import Choices, simulated
from otherminds.evaluation.fitting import Fit, weakly
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.populations import design_of, effects, population
from otherminds.evaluation.predictions import held_out_by_person
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, pearson, ratio
from otherminds.mind import ParametricMind
from otherminds.worlds.repeated_games.machines import Machine

Floats = NDArray[np.float64]
Partners = Mapping[str, Machine]
DRAWS = 20_000  # of shares of models, from each of three proposals
WIDER = 4.0  # by this much fewer pseudo-observations the second proposal has
TINY = 1e-300  # smallest share, so that its logarithm is finite
RESAMPLES = 500  # of people, for standard errors of shares
SIMULATIONS = 40  # with an effect, and as many without, to see how often it is found; bounds time
LEAST_EFFECT = 0.5  # smallest effect that is simulated, on the real line; chosen
SIMULATED = 200  # people at least in a posterior predictive check


# Over people


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """Random-effects comparison of M models over people: each person has one of them, with unknown shares.

    `shares` are the expected shares, `responsibilities`, shape (N, M), the probability of each model for each person,
    `exceedance` the probability that a model's share is the largest, `risk` the Bayesian omnibus risk that all shares
    are equal, and `protected` the exceedance probabilities averaged over that.
    """

    shares: Floats
    responsibilities: Floats
    exceedance: Floats
    risk: float
    protected: Floats


def random_effects(log_evidence: Floats) -> RandomEffects:
    """Compare models by their log evidence for each person, shape (N, M), with a uniform Dirichlet prior of shares.

    Shares, exceedance and responsibilities are those of the exact posterior of shares, by importance sampling around
    its variational approximation; the risk is from variational free energies. (Stephan et al. 2009, NeuroImage 46:
    1004; Rigoux et al. 2014, NeuroImage 84: 971.)
    """
    models = log_evidence.shape[1]
    alpha = np.ones(models)
    for _ in range(500):
        responsibilities = softmax(log_evidence + digamma(alpha), axis=1)
        updated_alpha = 1.0 + responsibilities.sum(axis=0)
        has_converged = np.abs(updated_alpha - alpha).max() < 1e-6
        alpha = updated_alpha
        if has_converged:
            break
    free_energy = _free_energy(log_evidence, responsibilities, alpha)
    null_log_evidence = float(logsumexp(log_evidence - np.log(models), axis=1).sum())
    risk = float(1.0 / (1.0 + np.exp(np.clip(free_energy - null_log_evidence, -500.0, 500.0))))
    draws, weights, memberships = _shares_by_importance(log_evidence, alpha)
    exceedance: Floats = np.bincount(draws.argmax(axis=1), weights, models).astype(float)
    protected = exceedance * (1.0 - risk) + risk / models
    return RandomEffects(weights @ draws, memberships, exceedance, risk, protected)


def _shares_by_importance(log_evidence: Floats, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    """Draws of the shares, (K, M), with weights by their posterior, and the models' probabilities by person, (N, M).

    They come from the variational posterior Dir(alpha), which is too narrow where evidence is weak, from a wider one,
    and from the prior: p(shares | data) ∝ Π_n Σ_m share_m p(data of n | m).
    """
    rng = np.random.default_rng(0)
    proposals = [alpha, 1.0 + (alpha - 1.0) / WIDER, np.ones(len(alpha))]
    draws = np.concatenate([rng.dirichlet(proposal, DRAWS) for proposal in proposals])
    logs = np.log(np.maximum(draws, TINY))
    densities = [logs @ (one - 1.0) + gammaln(one.sum()) - gammaln(one).sum() for one in proposals]
    likelihood = np.exp(log_evidence - log_evidence.max(axis=1, keepdims=True))
    parts = np.array_split(draws, len(proposals))
    log_posterior = np.concatenate([np.log(part @ likelihood.T).sum(axis=1) for part in parts])
    weights = softmax(log_posterior - logsumexp(densities, axis=0))
    memberships = np.zeros_like(log_evidence)
    for part, weight in zip(parts, np.array_split(weights, len(proposals)), strict=True):
        memberships += likelihood * ((weight[:, None] / (part @ likelihood.T)).T @ part)
    return draws, weights, memberships


def _free_energy(log_evidence: Floats, responsibilities: Floats, alpha: Floats) -> float:
    """E[log p(data, models, shares)] plus the entropies of the posteriors of models and shares."""
    models = len(alpha)
    log_shares = digamma(alpha) - digamma(alpha.sum())
    likelihood = (responsibilities * (log_evidence + log_shares)).sum() - (
        responsibilities * np.log(np.maximum(responsibilities, 1e-300))
    ).sum()
    prior = gammaln(models)  # of the uniform Dirichlet
    entropy = gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1.0) * log_shares).sum()
    return float(likelihood + prior + entropy)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Minds compared on the same people, in the order of `minds`.

    `fits` are by person with the weak prior, `held_out`, shape (N, M), is the log likelihood of what was held out.
    """

    choices: Choices
    minds: tuple[ParametricMind, ...]
    fits: tuple[Fit, ...]
    held_out: Floats
    held_out_choices: Floats

    def over(self, group: str | None = None) -> RandomEffects:
        """Random effects on the held-out log likelihoods, for all people or those of one group."""
        members = [n for n, name in enumerate(self.choices.groups) if group in (None, name)]
        return random_effects(self.held_out[members])

    def per_choice(self, group: str | None = None) -> list[Estimate]:
        """Held-out log likelihood per choice of each mind, with an interval clustered by person."""
        members = [n for n, name in enumerate(self.choices.groups) if group in (None, name)]
        counted = self.held_out_choices[members].tolist()
        return [ratio(column[members].tolist(), counted) for column in self.held_out.T]


def compare(minds: Sequence[ParametricMind], choices: Choices, holdout: str = "rounds") -> Comparison:
    """Fit all minds to each person, and predict what was held out.

    `holdout` is "rounds", for the last third of each person's rounds, or "person", for each person from the others.
    """
    fits, parts = [], []
    for mind in shown(minds, len(minds), "Fitting minds"):
        fits.append(weakly(Likelihood.of(mind, choices)))
        parts.append(held_out_by_person(mind, choices, holdout, fits[-1]))
    held_out = np.stack([values for values, _ in parts], axis=1)
    return Comparison(choices, tuple(minds), tuple(fits), held_out, parts[0][1])


# Shares of strategies


class Mixture(NamedTuple):
    """A finite mixture of strategies: each person has one, all with the same tremble.

    `shares` and `errors` have shape (M,), `responsibilities` (N, M). `tremble` is the probability of a uniformly random
    action.
    """

    shares: Floats
    errors: Floats
    tremble: float
    tremble_error: float
    responsibilities: Floats
    log_likelihood: float


def strategy_shares(machines: Sequence[ParametricMind], choices: Choices) -> Mixture:
    """Shares of strategies by maximum likelihood, with standard errors from a bootstrap over people.

    L = Π_n Σ_m share_m p(choices of n | m, tremble), maximised by EM over the shares for each tremble, and over the
    tremble by Brent's method from its best point on a grid. (Dal Bó and Fréchette 2011, §III; Dvorak 2023, stratEst.)
    """
    likelihoods = [Likelihood.of(mind, choices) for mind in machines]
    choice_probabilities = np.unique(np.concatenate([likelihood.certainties[0] for likelihood in likelihoods]))
    counts = np.zeros((len(choices.people), len(machines), len(choice_probabilities)))
    for m, likelihood in enumerate(likelihoods):
        probabilities, often = likelihood.certainties
        counts[:, m, np.searchsorted(choice_probabilities, probabilities)] = often
    options = choices.games[0].shape[0]

    def log_probabilities(tremble: Floats) -> Floats:
        """Log probabilities of choices with these probabilities before trembles of shape (K,): shape (K, V)."""
        mixed: Floats = (1.0 - tremble[:, None]) * choice_probabilities + tremble[:, None] / options
        return np.log(np.maximum(mixed, 1e-300))

    grid = np.linspace(0.002, 0.998, 499)
    # log p(choices of n | m, tremble g), shape (G, N, M)
    grid_likelihoods = np.einsum("nmv,gv->gnm", counts, log_probabilities(grid))
    people = np.ones((1, len(choices.people)))
    grid_values = np.array([_em(grid_likelihoods[g : g + 1], people)[1][0] for g in range(0, len(grid), 10)])
    centre = grid[10 * int(grid_values.argmax())]
    exact = minimize_scalar(
        lambda x: -float(_em(np.einsum("nmv,v->nm", counts, log_probabilities(np.array([x]))[0])[None], people)[1][0]),
        bounds=(max(centre - 0.04, 1e-4), min(centre + 0.04, 1.0 - 1e-4)),
        method="bounded",
        options={"xatol": 1e-7},
    )
    tremble = float(exact.x)
    table = np.einsum("nmv,v->nm", counts, log_probabilities(np.array([tremble]))[0])
    shares, value = _em(table[None], people, 20_000)
    responsibilities = softmax(table + np.log(np.maximum(shares[0], 1e-300)), axis=1)
    errors = _bootstrapped(
        shares[0], int(np.abs(grid - tremble).argmin()), counts, grid_likelihoods, log_probabilities(grid)
    )
    tremble_error = grid[errors[1]].std(ddof=1)
    return Mixture(
        shares[0], errors[0].std(axis=0, ddof=1), tremble, float(tremble_error), responsibilities, float(value[0])
    )


def _bootstrapped(
    shares: Floats, start_tremble: int, counts: Floats, grid_likelihoods: Floats, log_probabilities: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """Shares, shape (B, M), and indices of trembles, shape (B,), of B resamples of people, by EM over both.

    `shares` and `start_tremble`, an index in the grid of G trembles, are the estimates from which EM starts. `counts`,
    shape (N, M, V), counts each person's choices by their probability under each strategy; `grid_likelihoods`, shape
    (G, N, M), and `log_probabilities`, shape (G, V), are log likelihoods of people and of choices for each tremble.
    """
    people = len(counts)
    weights = np.random.default_rng(0).multinomial(people, np.full(people, 1.0 / people), RESAMPLES).astype(float)
    estimates = np.tile(0.98 * shares + 0.02 / len(shares), (RESAMPLES, 1))
    trembles = np.full(RESAMPLES, start_tremble)
    scaled = np.exp(grid_likelihoods - grid_likelihoods.max(axis=2, keepdims=True))
    for _ in range(300):  # steps of EM; chosen, not tuned
        joint = scaled[trembles] * estimates[:, None]
        memberships = weights[..., None] * joint / joint.sum(axis=2, keepdims=True)
        estimates = memberships.sum(axis=1) / people
        trembles = (np.einsum("bnm,nmv->bv", memberships, counts) @ log_probabilities.T).argmax(axis=1)
    return estimates, trembles


def _em(log_likelihood: Floats, weights: Floats, steps: int = 1000) -> tuple[Floats, Floats]:
    """Shares, shape (B, M), and log likelihoods, shape (B,), from tables (B, N, M) and weights of people (B, N)."""
    top = log_likelihood.max(axis=2)
    scaled = np.exp(log_likelihood - top[..., None])
    shares = np.full((len(scaled), scaled.shape[2]), 1.0 / scaled.shape[2])
    for _ in range(steps):
        joint = np.einsum("bnm,bm->bn", scaled, shares)
        updated_shares = shares * np.einsum("bn,bnm->bm", weights / joint, scaled) / weights.sum(axis=1, keepdims=True)
        has_converged = np.abs(updated_shares - shares).max() < 1e-10
        shares = updated_shares
        if has_converged:
            break
    joint = np.einsum("bnm,bm->bn", scaled, shares)
    return shares, (weights * (np.log(joint) + top)).sum(axis=1)


# Checks by simulated people


class Recovery(NamedTuple):
    """True and fitted values of a parameter of simulated people, and why they may differ.

    `error` is the median posterior standard error in standard deviations of the true values. `rival` is the parameter
    with the largest posterior correlation, `rho`, with this one (median over people); empty if there is no other.
    """

    mind: str
    parameter: str
    true: Floats
    fitted: Floats
    error: float
    rival: str
    rho: float

    @property
    def r(self) -> float:
        """The correlation of true and fitted values."""
        return pearson(self.true.tolist(), self.fitted.tolist())


class Recognition(NamedTuple):
    """Which minds are found in people simulated by one of them, in the order of the minds that are compared.

    `by_person`, shape (M,), are shares of people for whom a mind has the highest evidence, `by_group` shares of groups
    in which its expected share of people is the largest. `nearest` is the other mind with the highest evidence in all,
    and `ahead` the evidence of the true mind minus that of the nearest, in nats, median over people.
    """

    by_person: Floats
    by_group: Floats
    nearest: str
    ahead: float


def drawn(mind: ParametricMind, people: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Parameters of simulated people, uniform over the typical ranges."""
    return {p.name: rng.uniform(*p.typical, size=people) for p in mind.parameters}


def recovery(true: Mapping[str, Floats], fitted: Fit) -> list[Recovery]:
    """How well each parameter of simulated people is recovered from their fits."""
    variance = np.diagonal(fitted.covariance, axis1=1, axis2=2)
    with np.errstate(invalid="ignore"):
        correlations = fitted.covariance / np.sqrt(variance[:, :, None] * variance[:, None])
    parameters = len(fitted.mind.names)
    rho = np.nan_to_num(np.nanmedian(correlations, axis=0)) if parameters else np.zeros((0, 0))
    recovered = []
    for i, name in enumerate(fitted.mind.names):
        rivals = [j for j in range(parameters) if j != i]
        closest = max(rivals, key=lambda j: abs(rho[i, j]), default=i)
        spread = float(np.std(true[name]))
        error = float(np.nanmedian(fitted.errors[name])) / spread if spread else float("nan")
        rival, correlation = (fitted.mind.names[closest], float(rho[i, closest])) if rivals else ("", 0.0)
        recovered.append(Recovery(fitted.mind.name, name, true[name], fitted.values[name], error, rival, correlation))
    return recovered


def recover(
    mind: ParametricMind,
    minds: Sequence[ParametricMind],
    like: Choices,
    rng: np.random.Generator,
    partners: Partners | None = None,
    every: int = 1,
) -> tuple[list[Recovery], Recognition]:
    """Simulate people like these by a mind with known parameters, and fit it to them, and all `minds` to `every` nth.

    The mind is one of these.

    Fits are by person with the weak prior, and minds are compared by Laplace's approximation to their evidence: BIC
    counts a parameter as log n / 2 nats even if n choices hardly depend on it.
    """
    true = drawn(mind, len(like.people), rng)
    people = simulated(mind, like, true, rng, partners)
    fitted = weakly(Likelihood.of(mind, people))
    indices = np.arange(0, len(people.people), every)
    some = people.subset(indices)
    fits = [fitted.of_units(indices) if tried is mind else weakly(Likelihood.of(tried, some)) for tried in minds]
    evidence = np.stack([fit.evidence for fit in fits], axis=1)
    names = [candidate.name for candidate in minds]
    true_mind = names.index(mind.name)
    groups = np.array(some.groups)
    most = [int(random_effects(evidence[groups == g]).shares.argmax()) for g in dict.fromkeys(some.groups)]
    by_person, by_group = (
        np.bincount(best, minlength=len(minds)) / len(best) for best in (evidence.argmax(axis=1), np.array(most))
    )
    rivals = [m for m in range(len(minds)) if m != true_mind]
    nearest = max(rivals, key=lambda m: evidence[:, m].sum(), default=true_mind)
    ahead = float(np.median(evidence[:, true_mind] - evidence[:, nearest]))
    return recovery(true, fitted), Recognition(by_person, by_group, names[nearest], ahead)


class Power(NamedTuple):
    """How often an effect would be found in people like these: in `simulations` each with that effect, and with none.

    `found` and `found_without` are shares of simulations whose 95 % interval excludes zero, `covered` those whose
    interval has the true effect.
    """

    mind: str
    parameter: str
    of: str
    size: float
    found: float
    covered: float
    found_without: float
    simulations: int


def power(
    mind: ParametricMind, choices: Choices, column: str, rng: np.random.Generator, partners: Partners | None = None
) -> list[Power]:
    """Simulate people of the fitted population, with effects of a column and without, and estimate these again.

    An effect is the estimated one, or LEAST_EFFECT if that is smaller.
    """
    names, design = design_of(choices, column)
    found = population(Likelihood.of(mind, choices), design)
    size = found.coefficients.copy()
    size[1:] = np.where(size[1:] < 0.0, -1.0, 1.0) * np.maximum(np.abs(size[1:]), LEAST_EFFECT)
    shares = {}
    for is_there in (True, False):
        true = np.where(np.arange(len(size))[:, None] == 0, size, size * is_there)
        aims, judged = true[1:].ravel(), []
        for _ in range(SIMULATIONS):
            x = rng.normal(design @ true, found.sd)
            values = {p.name: p.value(x[:, i]) for i, p in enumerate(mind.parameters)}
            again = population(Likelihood.of(mind, simulated(mind, choices, values, rng, partners)), design)
            intervals = np.array([(estimate.low, estimate.high) for estimate in effects(again, names)])
            excludes_zero = (intervals > 0.0).all(axis=1) | (intervals < 0.0).all(axis=1)
            judged.append((excludes_zero, (intervals[:, 0] <= aims) & (aims <= intervals[:, 1])))
        shares[is_there] = np.mean(judged, axis=0)
    return [
        Power(mind.name, parameter.name, name, float(size[1:].ravel()[i]), *chances, SIMULATIONS)
        for i, (name, parameter) in enumerate(product(names, mind.parameters))
        for chances in [(float(shares[True][0][i]), float(shares[True][1][i]), float(shares[False][0][i]))]
    ]


class Predictive(NamedTuple):
    """How often people change their action from one round to the next, and what they earn a round; by block."""

    switches: Floats
    earned: Floats


def behaviour(choices: Choices, blocks: int) -> Predictive:
    """Mean switch rates and earnings of a group of people in equal blocks of rounds, shape (blocks,) each."""
    edges = np.linspace(0, choices.own.shape[1], blocks + 1).astype(int)
    is_pair = choices.scored[:, 1:] & choices.scored[:, :-1]
    is_switch = np.where(is_pair, choices.own[:, 1:] != choices.own[:, :-1], False)
    switches, earned = [], []
    for first, after_last in pairwise(edges.tolist()):
        within = slice(max(first - 1, 0), after_last - 1)
        switches.append(is_switch[:, within].sum() / max(is_pair[:, within].sum(), 1))
        earned.append(choices.earned[:, first:after_last].sum() / max(choices.played[:, first:after_last].sum(), 1))
    return Predictive(np.array(switches), np.array(earned))


def predicted_behaviour(
    fitted: Fit, choices: Choices, blocks: int, rng: np.random.Generator, partners: Partners | None = None
) -> Predictive:
    """The behaviour of people simulated with the fitted parameters: a posterior predictive check at the modes.

    Few people are simulated several times, so that the check does not rest on the luck of some draws.
    """
    times = -(-SIMULATED // len(choices.people))
    people = np.tile(np.arange(len(choices.people)), times)
    values = {name: value[people] for name, value in fitted.values.items()}
    return behaviour(simulated(fitted.mind, choices.subset(people), values, rng, partners), blocks)
