"""k-ToM: players who take the other for a k-ToM of a lower level, and learn of which level and with what habits.

A 0-ToM tracks how often the other does what. A k-ToM puts every lower level in the other's place, with roles and
payoffs swapped, and corrects level and habits by what the other does, in a variational Laplace scheme. For two agents
with two actions each. (Devaine, Hollard and Daunizeau 2014, PLoS ONE 9: e87619 and PLoS Computational Biology 10:
e1003992; Daunizeau 2017, on moments of sigmoid mappings; Waade et al. 2022, tomsup.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log, log1p, sqrt
from typing import NamedTuple, Self, TypeAlias

from otherminds.distribution import Categorical
from otherminds.worlds.repeated_games.rules import Game, Outcome

Gains = tuple[tuple[float, float], tuple[float, float]]
LEVELS = (0, 1, 2)
SURE = log(0.999 / 0.001)
LIMIT = 20.0
STEP = 1e-4
TINY = 1e-12
NEVER = 1e-300


class Habits(NamedTuple):
    """The parameters θ of a player: log volatility, log temperature, bias to action 1; or a number for each of them."""

    volatility: float = 0.0
    temperature: float = 0.0
    bias: float = 0.0


class Frequency(NamedTuple):
    """What a 0-ToM believes: the log-odds of the other's action 1 are N(mean, variance)."""

    mean: float = 0.0
    variance: float = 1.0


class Hypothesis(NamedTuple):
    """What a k-ToM believes if the other is a κ-ToM, which has probability `share`.

    The other's habits are N(mean, variance), independently; with these it has come to hold `belief`, and x(θ) is the
    log-odds of its next action 1. The slope is dx/dθ.
    """

    share: float
    belief: Belief
    mean: Habits = Habits()
    variance: Habits = Habits(1.0, 1.0, 1.0)
    log_odds: float = 0.0
    slope: Habits = Habits(bias=1.0)

    @property
    def spread(self) -> float:
        """V[x] = Σ V[θ] (dx/dθ)²."""
        return sum(v * s * s for v, s in zip(self.variance, self.slope, strict=True))


Belief: TypeAlias = "Frequency | tuple[Hypothesis, ...]"


@dataclass(frozen=True)
class KToM:
    """A k-ToM in the first place of a game, with what it believes of the other."""

    gains: Gains
    habits: Habits
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
        """A k-ToM before the first round: volatility and temperature are logarithms, dilution is a log-odds.

        With dilution a 2-ToM forgets part of what it knows of the other's level. It takes action 0 to be as likely as
        action 1 is unlikely, as tomsup does; if `symmetric`, it looks at both alike, as the VBA toolbox does, and
        nothing depends on which of them is called 0. Raises ValueError if the game is not 2 × 2, the level is none
        of 0, 1, 2, or a habit lies beyond ±20.
        """
        if game.shape != (2, 2):
            raise ValueError(f"{game.name}: a k-ToM plays games of two agents with two actions each")
        if level not in LEVELS:
            raise ValueError(f"a k-ToM has level 0, 1 or 2, not {level}")
        habits = Habits(volatility, temperature, bias)
        if not all(abs(habit) <= LIMIT for habit in habits):
            raise ValueError(f"habits lie between -{LIMIT:g} and {LIMIT:g}, on their log scale: {habits}")
        return cls((_gains(game, 0), _gains(game, 1)), habits, _ignorance(level), dilution, symmetric)

    def observe(self, outcome: Outcome | None) -> Self:
        """Learn from what both did."""
        if outcome is None:
            return self
        believed = self.belief
        if not isinstance(believed, Frequency):
            believed = _weighed(believed, outcome.theirs, self.dilution, self.symmetric)
        return replace(self, belief=_learned(believed, self.habits, outcome.own, outcome.theirs, self.gains))

    def predict(self) -> Categorical[int]:
        """P(the other's next action): a mean over its levels."""
        p = min(max(_expected(self.belief), TINY), 1.0 - TINY)
        return Categorical((0, 1), (log1p(-p), log(p)))

    def act(self) -> Categorical[int]:
        """P(1) = s((E[R(1, b)] − E[R(0, b)]) / temperature + bias), within 0.001 and 0.999, s being the logistic."""
        x = _decided(self.belief, self.habits, self.gains)
        return Categorical((0, 1), (_log_sigmoid(-x), _log_sigmoid(x)))

    @property
    def levels(self) -> Categorical[int]:
        """P(κ): the other's level. Raises ValueError for a 0-ToM, to which the other has none."""
        if isinstance(self.belief, Frequency):
            raise ValueError("a 0-ToM does not take the other for a k-ToM")
        return Categorical.from_scores((k, log(max(h.share, NEVER))) for k, h in enumerate(self.belief))


def _gains(game: Game, agent: int) -> tuple[float, float]:
    """R(1, b) − R(0, b) of an agent, for both actions b of the other.

    As in the VBA toolbox; tomsup lets the first agent's action vary in the payoffs of both.
    """
    lost, won = game.payoff(agent).tolist()
    return won[0] - lost[0], won[1] - lost[1]


def _ignorance(level: int) -> Belief:
    """All levels alike, and all actions alike at every level, whatever the payoffs, as in tomsup."""
    if level == 0:
        return Frequency()
    return tuple(Hypothesis(1.0 / level, _ignorance(lower)) for lower in range(level))


# Deciding


def _expected(belief: Belief) -> float:
    """P(the other does 1) = Σ P(κ) E[s(x)], with E[s(x)] ≈ s(E[x] / √(1 + 0.36 V[x]))."""
    if isinstance(belief, Frequency):
        return _sigmoid(belief.mean / sqrt(1.0 + 0.36 * belief.variance))
    return sum(h.share * _sigmoid(h.log_odds / sqrt(1.0 + 0.36 * h.spread)) for h in belief)


def _decided(belief: Belief, habits: Habits, gains: Gains) -> float:
    """The log-odds of the own action 1."""
    p = _expected(belief)
    gain = (1.0 - p) * gains[0][0] + p * gains[0][1]
    return _within(gain / exp(habits.temperature) + habits.bias, SURE)


# Learning


def _learned(belief: Belief, habits: Habits, own: int, theirs: int, gains: Gains) -> Belief:
    """What is believed after a round; a 1-ToM has one level to weigh, so that only a 2-ToM itself ever does."""
    if isinstance(belief, Frequency):
        return _tracked(belief, habits.volatility, theirs)
    revised = (_revised(h, habits.volatility, theirs) for h in belief)
    return tuple(_simulated(h, own, theirs, gains) for h in revised)


def _tracked(belief: Frequency, volatility: float, theirs: int) -> Frequency:
    """V′ = 1 / (1 / (V + σ) + p (1 − p)),  μ′ = μ + V′ (b − p),  p = s(μ): 0-ToM's Laplace–Kalman filter."""
    p = _sigmoid(belief.mean)
    variance = 1.0 / (1.0 / (belief.variance + exp(volatility)) + p * (1.0 - p))
    return Frequency(belief.mean + variance * (theirs - p), variance)


def _weighed(
    hypotheses: tuple[Hypothesis, ...], theirs: int, dilution: float | None, symmetric: bool
) -> tuple[Hypothesis, ...]:
    """P(κ | b) ∝ P(κ) exp E[log P(b | κ)], after P(κ) has moved to the uniform by the dilution."""
    forgotten = 0.0 if dilution is None else _sigmoid(dilution)
    prior = ((1.0 - forgotten) * h.share + forgotten / len(hypotheses) for h in hypotheses)
    scored = (
        (k, log(max(share, NEVER)) + _evidence(h, theirs, symmetric))
        for k, (h, share) in enumerate(zip(hypotheses, prior, strict=True))
    )
    shares = Categorical.softmax(scored).probs
    return tuple(h._replace(share=share) for h, share in zip(hypotheses, shares, strict=True))


def _evidence(h: Hypothesis, theirs: int, symmetric: bool) -> float:
    """E[log P(b | κ)], by E[log s(x)] ≈ log s((E[x] − 0.319 V^0.781) / √(1 + 0.205 V^0.870)) with V = V[x].

    (Daunizeau 2017.) For b = 0 it is E[log s(−x)] if `symmetric`, and log(1 − exp E[log s(x)]) if not.
    """
    sign = 1.0 if theirs else -1.0
    inner, outer = (sign, 1.0) if symmetric else (1.0, sign)
    tilted = inner * h.log_odds - 0.319 * h.spread**0.781
    return _log_sigmoid(outer * tilted / sqrt(1.0 + 0.205 * h.spread**0.870))


def _revised(h: Hypothesis, volatility: float, theirs: int) -> Hypothesis:
    """V′ = 1 / (1 / (V + σ) + P(κ) p (1 − p) (dx/dθ)²),  μ′ = μ + P(κ) V′ (b − p) dx/dθ,  p = s(x).

    Of the other's habits only the volatility is taken to drift, σ being the own volatility; 0 for the rest.
    """
    p = _sigmoid(h.log_odds)
    drift = (exp(volatility), 0.0, 0.0)
    known = h.share * p * (1.0 - p)
    variance = Habits(
        *(1.0 / (1.0 / (v + d) + known * s * s) for v, d, s in zip(h.variance, drift, h.slope, strict=True))
    )
    error = h.share * (theirs - p)
    mean = Habits(*(_within(m + v * error * s, LIMIT) for m, v, s in zip(h.mean, variance, h.slope, strict=True)))
    return h._replace(mean=mean, variance=variance)


def _simulated(h: Hypothesis, own: int, theirs: int, gains: Gains) -> Hypothesis:
    """What the other has learnt from the round and will do next, and how that depends on its habits."""
    mirrored = gains[1], gains[0]

    def imagined(habits: Habits) -> tuple[Belief, float]:
        belief = _learned(h.belief, habits, theirs, own, mirrored)
        return belief, _decided(belief, habits, mirrored)

    belief, x = imagined(h.mean)
    slope = []
    for name, value in h.mean._asdict().items():
        step = max(STEP, STEP * abs(value))
        slope.append((imagined(h.mean._replace(**{name: value + step}))[1] - x) / step)
    return h._replace(belief=belief, log_odds=x, slope=Habits(*slope))


# Numbers


def _sigmoid(x: float) -> float:
    e = exp(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


def _log_sigmoid(x: float) -> float:
    return min(x, 0.0) - log1p(exp(-abs(x)))


def _within(x: float, limit: float) -> float:
    return max(-limit, min(limit, x))
