"""k-ToM: recursive players that model the other as a k-ToM of a lower level, and infer its level and parameters.

A 0-ToM tracks the frequency of the other's actions. A k-ToM simulates every lower level in the other's place, with
roles and payoffs swapped, and updates level and parameters by a variational Laplace scheme. For two agents with two
actions each. (Devaine, Hollard and Daunizeau 2014, PLoS ONE 9: e87619 and PLoS Computational Biology 10:
e1003992; Daunizeau 2017, on moments of sigmoid mappings; Waade et al. 2022, tomsup.)

All numbers may also be arrays of one shape, for many players at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log, log1p, sqrt
from typing import Any, NamedTuple, Self, TypeAlias, cast

import numpy as np

from otherminds.distribution import Categorical
from otherminds.worlds.repeated_games.rules import Game, Outcome

Gains = tuple[tuple[float, float], tuple[float, float]]
"""R(1, b) − R(0, b) for both actions b of the other: of the player itself, and of the other in its own place."""
LEVELS = (0, 1, 2)
SURE = log(0.999 / 0.001)  # largest log-odds of an own action, so that none is certain; tested against tomsup 1.4.1
LIMIT = 20.0  # largest absolute value of a parameter, against overflow; chosen
STEP = 1e-4  # relative step of numerical derivatives; tested against tomsup 1.4.1
TINY = 1e-12  # smallest probability of a prediction, so that its logarithm is finite
NEVER = 1e-300  # smallest probability of a level, so that its logarithm is finite


class KToMParameters(NamedTuple):
    """The parameters θ of a player: log volatility, log temperature, bias to action 1; or a number for each."""

    volatility: float = 0.0
    temperature: float = 0.0
    bias: float = 0.0


class FrequencyBelief(NamedTuple):
    """A 0-ToM's belief: the log-odds of the other's action 1 are N(mean, variance)."""

    mean: float = 0.0
    variance: float = 1.0


class LevelHypothesis(NamedTuple):
    """A k-ToM's belief given that the other is a κ-ToM, which has probability `share`.

    The other's parameters are independently N(mean, variance). With the mean it would now hold `belief`, and x(θ) is
    the log-odds of its next action 1; `slope` is dx/dθ.
    """

    share: float
    belief: Belief
    mean: KToMParameters = KToMParameters()
    variance: KToMParameters = KToMParameters(1.0, 1.0, 1.0)
    log_odds: float = 0.0
    slope: KToMParameters = KToMParameters(bias=1.0)

    @property
    def spread(self) -> float:
        """V[x] = Σ V[θ] (dx/dθ)²."""
        return sum(v * s * s for v, s in zip(self.variance, self.slope, strict=True))


Belief: TypeAlias = "FrequencyBelief | tuple[LevelHypothesis, ...]"


@dataclass(frozen=True)
class KToM:
    """A k-ToM in the first place of a game, with its belief about the other."""

    gains: Gains
    parameters: KToMParameters
    belief: Belief
    dilution: float | None = None
    symmetric: bool = False

    @classmethod
    def of(
        cls,
        game: Game,
        level: int,
        *,
        volatility: float = -2.0,
        temperature: float = -1.0,
        bias: float = 0.0,
        dilution: float | None = None,
        symmetric: bool = False,
    ) -> Self:
        """A k-ToM before the first round. Volatility and temperature are logarithms, dilution is a log-odds.

        With dilution a 2-ToM forgets part of its belief about the other's level each round. The evidence of action 0 is
        one minus that of action 1, as in tomsup; if `symmetric`, both are approximated alike, as in the VBA toolbox, so
        that nothing depends on which action is called 0. Raises ValueError if the game is not 2 × 2, the level is not
        0, 1 or 2, or a parameter lies beyond ±20.
        """
        if game.shape != (2, 2):
            raise ValueError(f"{game.name}: a k-ToM plays games of two agents with two actions each")
        if level not in LEVELS:
            raise ValueError(f"a k-ToM has level 0, 1 or 2, not {level}")
        parameters = KToMParameters(volatility, temperature, bias)
        if not all(abs(parameter) <= LIMIT for parameter in parameters):
            raise ValueError(f"parameters lie between -{LIMIT:g} and {LIMIT:g}, on their log scale: {parameters}")
        return cls((_gains(game, 0), _gains(game, 1)), parameters, ignorance(level), dilution, symmetric)

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round; it takes a missed move for what it most probably wanted to do."""
        if outcome is None:
            return self
        believed, own = self.belief, outcome.own
        if np.any(np.asarray(own) < 0):
            own = _where(own < 0, _own_log_odds(believed, self.parameters, self.gains) > 0.0, own)
        if not isinstance(believed, FrequencyBelief):
            believed = _with_updated_levels(believed, outcome.theirs, self.dilution, self.symmetric)
        return replace(self, belief=_updated_belief(believed, self.parameters, own, outcome.theirs, self.gains))

    def predict(self) -> Categorical[int]:
        """P(other's next action), averaged over its levels."""
        p = min(max(_p_other_plays_1(self.belief), TINY), 1.0 - TINY)
        return Categorical((0, 1), (log1p(-p), log(p)))

    def act(self) -> Categorical[int]:
        """P(1) = s((E[R(1, b)] − E[R(0, b)]) / temperature + bias), within 0.001 and 0.999, s being the logistic."""
        return Categorical((0, 1), self.log_policy())

    def log_policy(self) -> tuple[float, float]:
        """log P(0) and log P(1); arrays if the player's numbers are."""
        x = _own_log_odds(self.belief, self.parameters, self.gains)
        return _log_sigmoid(-x), _log_sigmoid(x)

    @property
    def levels(self) -> Categorical[int]:
        """P(κ), the posterior over the other's level. Raises ValueError for a 0-ToM, which has none."""
        if isinstance(self.belief, FrequencyBelief):
            raise ValueError("a 0-ToM has no belief about the other's level")
        return Categorical.from_scores((k, log(max(h.share, NEVER))) for k, h in enumerate(self.belief))


def _gains(game: Game, agent: int) -> tuple[float, float]:
    """R(1, b) − R(0, b) of an agent, for both actions b of the other.

    As in the VBA toolbox; tomsup varies the first agent's action in the payoffs of both.
    """
    payoff_of_0, payoff_of_1 = game.payoff(agent).tolist()
    return payoff_of_1[0] - payoff_of_0[0], payoff_of_1[1] - payoff_of_0[1]


def ignorance(level: int) -> Belief:
    """The initial belief: uniform over levels, and over actions at every level, as in tomsup."""
    if level == 0:
        return FrequencyBelief()
    return tuple(LevelHypothesis(1.0 / level, ignorance(lower)) for lower in range(level))


# Deciding


def _p_other_plays_1(belief: Belief) -> float:
    """P(other plays 1) = Σ P(κ) E[s(x)], with E[s(x)] ≈ s(E[x] / √(1 + 0.36 V[x]))."""
    if isinstance(belief, FrequencyBelief):
        return _sigmoid(belief.mean / _sqrt(1.0 + 0.36 * belief.variance))
    return sum(h.share * _sigmoid(h.log_odds / _sqrt(1.0 + 0.36 * h.spread)) for h in belief)


def _own_log_odds(belief: Belief, parameters: KToMParameters, gains: Gains) -> float:
    """The log-odds of the own action 1."""
    p = _p_other_plays_1(belief)
    gain = (1.0 - p) * gains[0][0] + p * gains[0][1]
    return _within(gain / _exp(parameters.temperature) + parameters.bias, SURE)


# Learning


def _updated_belief(belief: Belief, parameters: KToMParameters, own: int, theirs: int, gains: Gains) -> Belief:
    """The belief after a round, except for the weights of levels, which only a 2-ToM itself updates."""
    if isinstance(belief, FrequencyBelief):
        # 0-ToM's Laplace–Kalman filter: V′ = 1 / (1 / (V + σ) + p (1 − p)),  μ′ = μ + V′ (b − p),  p = s(μ)
        p = _sigmoid(belief.mean)
        variance = 1.0 / (1.0 / (belief.variance + _exp(parameters.volatility)) + p * (1.0 - p))
        return FrequencyBelief(belief.mean + variance * (theirs - p), variance)
    revised = (_with_revised_parameters(h, parameters.volatility, theirs) for h in belief)
    return tuple(_after_round(h, own, theirs, gains) for h in revised)


def _with_updated_levels(
    hypotheses: tuple[LevelHypothesis, ...], theirs: int, dilution: float | None, symmetric: bool
) -> tuple[LevelHypothesis, ...]:
    """P(κ | b) ∝ P(κ) exp E[log P(b | κ)], where P(κ) is first mixed with the uniform by the dilution."""
    forgotten = 0.0 if dilution is None else _sigmoid(dilution)
    prior = ((1.0 - forgotten) * h.share + forgotten / len(hypotheses) for h in hypotheses)
    scores = [
        _log(_at_least(share, NEVER)) + _evidence(h, theirs, symmetric)
        for h, share in zip(hypotheses, prior, strict=True)
    ]
    shares = _normalised(scores)
    return tuple(h._replace(share=share) for h, share in zip(hypotheses, shares, strict=True))


def _evidence(h: LevelHypothesis, theirs: int, symmetric: bool) -> float:
    """E[log P(b | κ)], by E[log s(x)] ≈ log s((E[x] − 0.319 V^0.781) / √(1 + 0.205 V^0.870)) with V = V[x].

    (Daunizeau 2017.) For b = 0 it is E[log s(−x)] if `symmetric`, and log(1 − exp E[log s(x)]) if not.
    """
    sign = 2.0 * theirs - 1.0
    inner, outer = (sign, 1.0) if symmetric else (1.0, sign)
    tilted = inner * h.log_odds - 0.319 * h.spread**0.781
    return _log_sigmoid(outer * tilted / _sqrt(1.0 + 0.205 * h.spread**0.870))


def _with_revised_parameters(h: LevelHypothesis, volatility: float, theirs: int) -> LevelHypothesis:
    """V′ = 1 / (1 / (V + σ) + P(κ) p (1 − p) (dx/dθ)²),  μ′ = μ + P(κ) V′ (b − p) dx/dθ,  p = s(x).

    Of the other's parameters only the volatility is assumed to drift, with σ the own volatility; it is 0 for the rest.
    """
    p = _sigmoid(h.log_odds)
    drift = (_exp(volatility), 0.0, 0.0)
    information = h.share * p * (1.0 - p)
    variance = KToMParameters(
        *(1.0 / (1.0 / (v + d) + information * s * s) for v, d, s in zip(h.variance, drift, h.slope, strict=True))
    )
    error = h.share * (theirs - p)
    mean = KToMParameters(
        *(_within(m + v * error * s, LIMIT) for m, v, s in zip(h.mean, variance, h.slope, strict=True))
    )
    return h._replace(mean=mean, variance=variance)


def _after_round(h: LevelHypothesis, own: int, theirs: int, gains: Gains) -> LevelHypothesis:
    """The other's belief after the round and its next action, with their derivatives by its parameters."""
    mirrored = gains[1], gains[0]

    def imagined(parameters: KToMParameters) -> tuple[Belief, float]:
        belief = _updated_belief(h.belief, parameters, theirs, own, mirrored)
        return belief, _own_log_odds(belief, parameters, mirrored)

    belief, x = imagined(h.mean)
    slope = []
    for name, value in h.mean._asdict().items():
        step = _at_least(STEP * abs(value), STEP)
        slope.append((imagined(h.mean._replace(**{name: value + step}))[1] - x) / step)
    return h._replace(belief=belief, log_odds=x, slope=KToMParameters(*slope))


# Numbers, or arrays of them


def _where(condition: bool, value: int, otherwise: int) -> int:
    return np.where(condition, value, otherwise) if isinstance(otherwise, np.ndarray) else int(value)


def _exp(x: float) -> float:
    return cast("float", np.exp(x)) if isinstance(x, np.ndarray) else exp(x)


def _log(x: float) -> float:
    return cast("float", np.log(x)) if isinstance(x, np.ndarray) else log(x)


def _sqrt(x: float) -> float:
    return cast("float", np.sqrt(x)) if isinstance(x, np.ndarray) else sqrt(x)


def _at_least(x: float, least: float) -> float:
    return cast("float", np.maximum(x, least)) if isinstance(x, np.ndarray) else max(x, least)


def _normalised(scores: list[float]) -> tuple[float, ...]:
    """exp(score) / Σ exp(score)."""
    if not any(isinstance(score, np.ndarray) for score in scores):
        return Categorical.softmax(enumerate(scores)).probs
    rows: Any = np.stack(np.broadcast_arrays(*scores))
    weights = np.exp(rows - rows.max(axis=0))
    return tuple(cast("Any", weights / weights.sum(axis=0)))


def _sigmoid(x: float) -> float:
    """1 / (1 + exp(−x)), by exp(−|x|), so that it cannot overflow."""
    if isinstance(x, np.ndarray):
        small_array: Any = np.exp(-np.abs(x))
        return cast("float", np.where(x >= 0.0, 1.0, small_array) / (1.0 + small_array))
    small = exp(-abs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)


def _log_sigmoid(x: float) -> float:
    """log(1 / (1 + exp(−x))), without overflow."""
    if isinstance(x, np.ndarray):
        return cast("float", np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x))))
    return min(x, 0.0) - log1p(exp(-abs(x)))


def _within(x: float, limit: float) -> float:
    """x, clipped to [−limit, limit]."""
    return cast("float", np.clip(x, -limit, limit)) if isinstance(x, np.ndarray) else max(-limit, min(limit, x))
