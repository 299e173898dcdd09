"""Minds that learn which arm of a bandit pays, with free parameters: one by one, or many at once.

Rewards are scaled to u = (reward − low) / (high − low). A trial without a choice in time has the arm MISSED, and no
reward is seen. Each mind is a `Learner`, whose arithmetic is elementwise, on arrays with the arms on the last axis:
(|A|,) for one mind, (S, K, |A|) for a crowd of S matches and K points of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import log
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from otherminds.distribution import Categorical
from otherminds.mind import Parameter, ParametricMind
from otherminds.worlds.bandits.rules import Bandit, Pulled

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Memory: TypeAlias = tuple[Floats, ...]
"""What a mind remembers of the arms: one or more arrays with the arms on the last axis."""
Values: TypeAlias = Mapping[str, Floats]
"""Parameters by name, with a last axis of length 1, for the arms."""

MISSED = -1
MIDDLE = 0.5  # what is expected of an arm that nothing is known about; a reward of less is a loss
TIE = 1e-9  # rewards that are closer to the middle are at it: rounding
PRIOR = 1.0 / 12.0  # variance of an unknown arm's value: that of the uniform distribution of u, whose mean is MIDDLE
NOISE = 0.2**2
"""Variance of u around an arm's value that the Kalman filter takes for granted. Chosen, between that of rewards of 0
or 1 (.25 at most) and that of a bandit with little noise as in Daw et al. (2006), .04². Past
the first trials it only sets a scale: means depend on drift² / NOISE, and `bonus` and `temperature` scale √v."""
IMPROBABLE = 1e-5  # about the error of quadrature: less than it cannot be told from 0
NEVER = 1e-300  # smallest probability of an arm, so that its logarithm is finite
NODES = np.linspace(-5.0, 5.0, 33)
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()


@dataclass(frozen=True)
class Learner:
    """What a mind remembers of each arm at first, how that changes with a trial, and π.

    `learn(memory, chosen, u, values)`: `chosen` is true at the arm that was pulled, and nowhere after a missed trial.
    """

    start: tuple[float, ...]
    learn: Callable[[Memory, Bools, Any, Values], Memory]
    policy: Callable[[Memory, Values], Floats]


# Values of arms


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - _over_arms(np.maximum, scores))
    return weights / _over_arms(np.add, weights)


def _over_arms(function: np.ufunc, values: Floats) -> Floats:
    """`function.reduce` over the last axis, several times as fast where that is as short as here."""
    return cast("Floats", reduce(function, np.moveaxis(values, -1, 0))[..., None])


def _rescorla_wagner(memory: Memory, chosen: Bools, u: Any, values: Values) -> Memory:
    """Q(a) += rate · (u − Q(a))."""
    (q,) = memory
    return (np.where(chosen, q + values["rate"] * (u - q), q),)


def _with_decay(memory: Memory, chosen: Bools, u: Any, values: Values) -> Memory:
    """Q(a) += rate · (u − Q(a)); other arms' Q += decay · (MIDDLE − Q)."""
    (q,) = memory
    return (q + np.where(chosen, values["rate"] * (u - q), values["decay"] * (MIDDLE - q)),)


def _with_two_rates(memory: Memory, chosen: Bools, u: Any, values: Values) -> Memory:
    """Q(a) += (rate_gain if u > Q(a), else rate_loss) · (u − Q(a))."""
    (q,) = memory
    rate = np.where(u > q, values["rate_gain"], values["rate_loss"])
    return (np.where(chosen, q + rate * (u - q), q),)


def _with_last(memory: Memory, chosen: Bools, u: Any, values: Values) -> Memory:
    """Q as in `_rescorla_wagner`, and which arm was the last."""
    (learnt,) = _rescorla_wagner(memory[:1], chosen, u, values)
    return learnt, chosen.astype(float)


def _soft(memory: Memory, values: Values) -> Floats:
    """π(a) ∝ exp(beta · Q(a)); Q is a mean of the Kalman filter, too."""
    return _softmax(values["beta"] * memory[0])


def _sticky(memory: Memory, values: Values) -> Floats:
    """π(a) ∝ exp(beta · Q(a) + stickiness · [a was the last arm])."""
    q, last = memory
    return _softmax(values["beta"] * q + values["stickiness"] * last)


# Habits


def _last_and_won(_memory: Memory, chosen: Bools, u: Any, _values: Values) -> Memory:
    """Which arm was the last, and whether it won."""
    last = chosen.astype(float)
    return last, last * (u >= MIDDLE - TIE)


def _win_stay(memory: Memory, values: Values) -> Floats:
    """π(last arm) = win_stay after a win and 1 − lose_shift after a loss; the other arms share the rest."""
    last, won = memory
    arms = last.shape[-1]
    stay = np.where(_over_arms(np.maximum, won) > 0.0, values["win_stay"], 1.0 - values["lose_shift"])
    probs = np.where(last > 0.0, stay, (1.0 - stay) / max(arms - 1, 1))
    return np.where(_over_arms(np.maximum, last) > 0.0, probs, 1.0 / arms)


def _as_before(memory: Memory, _chosen: Bools, _u: Any, _values: Values) -> Memory:
    return memory


def _uniform(memory: Memory, _values: Values) -> Floats:
    return np.full_like(memory[0], 1.0 / memory[0].shape[-1])


# Beliefs about arms


def _kalman(memory: Memory, chosen: Bools, u: Any, values: Values) -> Memory:
    """The means and variances of the arms' values in the next trial: m += k (u − m), v −= k v, k = v / (v + NOISE).

    Then the values of all arms drift: v += drift².
    """
    mean, variance = memory
    gain = np.where(chosen, variance / (variance + NOISE), 0.0)
    return mean + gain * (u - mean), (1.0 - gain) * variance + values["drift"] ** 2


def _upper_bound(memory: Memory, values: Values) -> Floats:
    """π(a) ∝ exp(beta · (m + bonus · √v))."""
    mean, variance = memory
    return _softmax(values["beta"] * (mean + values["bonus"] * np.sqrt(variance)))


def _thompson(memory: Memory, values: Values) -> Floats:
    """π(a) = P(x_a is the largest), x_b ~ N(m_b, temperature² v_b) independently."""
    mean, variance = memory
    return chance_of_largest(mean, values["temperature"] * np.sqrt(variance))


def chance_of_largest(mean: Floats, sd: Floats) -> Floats:
    """P(x_a is the largest) for each a, x_b ~ N(mean_b, sd_b²) independently, the variables being on the last axis.

    Φ((m₁ − m₂) / √(s₁² + s₂²)) for two of them, and for more ∫ N(x; m_a, s_a²) Π_{b ≠ a} Φ((x − m_b) / s_b) dx by
    the trapezoidal rule, whose even nodes see narrow steps of Φ that Gauss–Hermite nodes miss.
    """
    mean, sd = np.broadcast_arrays(mean, sd)
    arms = mean.shape[-1]
    if arms == 2:
        z = (mean[..., 0] - mean[..., 1]) / np.hypot(sd[..., 0], sd[..., 1])
        return np.stack([ndtr(z), ndtr(-z)], axis=-1)
    chances = []
    for a in range(arms):
        below = np.ones(len(NODES))
        for b in range(arms):
            if b != a:
                shift, ratio = (mean[..., a] - mean[..., b]) / sd[..., b], sd[..., a] / sd[..., b]
                below = below * ndtr(shift[..., None] + ratio[..., None] * NODES)
        chances.append(below @ WEIGHTS)
    probs = np.maximum(np.stack(chances, axis=-1), IMPROBABLE)
    return cast("Floats", probs / probs.sum(axis=-1, keepdims=True))


# One mind, and a crowd


@dataclass(frozen=True)
class BanditMind:
    """A learner with these parameters and what it remembers of each arm."""

    learner: Learner
    bandit: Bandit
    values: tuple[tuple[str, float], ...]
    memory: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, learner: Learner, names: tuple[str, ...], bandit: Bandit, **values: float) -> Self:
        """The mind before the first trial. Raises TypeError if a parameter is missing or unknown."""
        if set(values) != set(names):
            raise TypeError(f"parameters are {', '.join(names) or 'none'}, not {', '.join(values) or 'none'}")
        memory = tuple((at_first,) * len(bandit.arms) for at_first in learner.start)
        return cls(learner, bandit, tuple((name, float(values[name])) for name in names), memory)

    @property
    def _arrays(self) -> tuple[Memory, Values]:
        return tuple(map(np.array, self.memory)), {name: np.array([value]) for name, value in self.values}

    def observe(self, seen: Pulled | None) -> Self:
        """The mind after a trial."""
        if seen is None:
            return self
        memory, values = self._arrays
        chosen = np.arange(len(self.bandit.arms)) == seen.own
        u = 0.0 if seen.own == MISSED else self.bandit.scaled(seen.reward)
        learnt = self.learner.learn(memory, chosen, u, values)
        return replace(self, memory=tuple(tuple(part.tolist()) for part in learnt))

    def act(self) -> Categorical[int]:
        """π(a)."""
        probs = self.learner.policy(*self._arrays).tolist()
        return Categorical(tuple(range(len(probs))), tuple(log(max(p, NEVER)) for p in probs))


@dataclass(frozen=True, eq=False)
class ManyBanditMinds:
    """Many minds at once, equal to `BanditMind` one by one. `low` and `width`, shape (S,), are the rewards' ranges."""

    learner: Learner
    values: Values
    low: Floats
    width: Floats
    memory: Memory

    @classmethod
    def of(cls, learner: Learner, bandits: Sequence[Bandit], values: Values) -> Self:
        """The minds before the first trial; parameters of shape (S, K) or (1, K), bandits of as many arms each."""
        low, high = (np.array([getattr(bandit, end) for bandit in bandits], dtype=float) for end in ("low", "high"))
        memory = tuple(np.full((len(bandits), 1, len(bandits[0].arms)), at_first) for at_first in learner.start)
        with_arms = {name: np.asarray(value)[..., None] for name, value in values.items()}
        return cls(learner, with_arms, low, np.where(high == low, 1.0, high - low), memory)

    def observe(self, own: Ints, rewards: Floats) -> Self:
        """The minds after a trial; shapes (S,)."""
        chosen = own[:, None, None] == np.arange(self.memory[0].shape[-1])
        u = np.where(own == MISSED, 0.0, (rewards - self.low) / self.width)
        return replace(self, memory=self.learner.learn(self.memory, chosen, u[:, None, None], self.values))

    def act(self) -> Floats:
        """π, shape (S, K, |A|), or (S, 1, |A|) where it does not depend on the parameters."""
        return self.learner.policy(self.memory, self.values)


# By name

RATE = Parameter("rate", 0.0, 1.0, (0.1, 0.7))
BETA = Parameter("beta", 0.0, 20.0, (3.0, 12.0))
DRIFT = Parameter("drift", 0.0, 0.5, (0.02, 0.2))  # standard deviation of the change of u in a trial


def _is_bandit(task: Any) -> bool:
    return isinstance(task, Bandit)


def _parametric(name: str, about: str, parameters: tuple[Parameter, ...], learner: Learner) -> ParametricMind:
    one = partial(BanditMind.of, learner, tuple(parameter.name for parameter in parameters))
    return ParametricMind(name, about, parameters, one, partial(ManyBanditMinds.of, learner), fits=_is_bandit)


BELIEF = (MIDDLE, PRIOR)
LEARNERS: dict[str, ParametricMind] = {
    mind.name: mind
    for mind in (
        _parametric("bandit_chance", "each arm alike", (), Learner((0.0,), _as_before, _uniform)),
        _parametric(
            "rescorla_wagner",
            "values of arms from prediction errors (Rescorla & Wagner 1972; Sutton & Barto 2018)",
            (RATE, BETA),
            Learner((MIDDLE,), _rescorla_wagner, _soft),
        ),
        _parametric(
            "q_decay",
            "the same, and arms that are not chosen are forgotten (Ito & Doya 2009)",
            (RATE, Parameter("decay", 0.0, 1.0, (0.05, 0.5)), BETA),
            Learner((MIDDLE,), _with_decay, _soft),
        ),
        _parametric(
            "dual_rates",
            "a rate for rewards above, one for those below what is expected (Niv et al. 2012; Gershman 2015)",
            (Parameter("rate_gain", 0.0, 1.0, (0.1, 0.7)), Parameter("rate_loss", 0.0, 1.0, (0.1, 0.7)), BETA),
            Learner((MIDDLE,), _with_two_rates, _soft),
        ),
        _parametric(
            "q_stickiness",
            "values of arms, and perseveration (Lau & Glimcher 2005)",
            (RATE, BETA, Parameter("stickiness", -5.0, 5.0, (-2.0, 2.0))),
            Learner((MIDDLE, 0.0), _with_last, _sticky),
        ),
        _parametric(
            "win_stay_lose_shift",
            "stays after a reward of at least the middle, or shifts (Nowak & Sigmund 1993; Worthy & Maddox 2014)",
            (Parameter("win_stay", 0.0, 1.0, (0.1, 0.9)), Parameter("lose_shift", 0.0, 1.0, (0.1, 0.9))),
            Learner((0.0, 0.0), _last_and_won, _win_stay),
        ),
        _parametric(
            "kalman_softmax",
            "Kalman filter of drifting arms (Daw et al. 2006; Speekenbrink & Konstantinidis 2015)",
            (DRIFT, BETA),
            Learner(BELIEF, _kalman, _soft),
        ),
        _parametric(
            "ucb",
            "the same with a bonus for uncertain arms (Srinivas et al. 2010; Gershman 2018)",
            (DRIFT, Parameter("bonus", -5.0, 5.0, (-1.0, 2.0)), BETA),
            Learner(BELIEF, _kalman, _upper_bound),
        ),
        _parametric(
            "thompson",
            "samples a value of each arm from the Kalman filter's belief (Thompson 1933; Gershman 2018)",
            (DRIFT, Parameter("temperature", 0.0, 5.0, (0.3, 2.0))),
            Learner(BELIEF, _kalman, _thompson),
        ),
    )
}
"""The minds by name."""
