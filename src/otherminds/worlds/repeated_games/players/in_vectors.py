"""The minds of `habits` and k-ToM for many people and parameters at once.

A crowd is many minds: `observe(own, theirs)` takes the actions of S matches, `act()` returns π with shape (S, K, |A|)
for K points of parameters each. `utility` are the scaled payoffs u of each match, (S, own actions, other's). Equal
to the minds one by one, and much faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.repeated_games.players import k_tom
from otherminds.worlds.repeated_games.players.habits import (
    MISSED,
    PATTERNS,
    TIE,
    rule_forecasts,
    rule_values,
    shift_rules,
)
from otherminds.worlds.repeated_games.rules import Outcome

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Values = Mapping[str, Floats]
"""Parameters by name, each of shape (S, K) or (1, K)."""


class Crowd(Protocol):
    """Many minds at once."""

    def observe(self, own: Ints, theirs: Ints, /) -> Self:
        """The minds after a round; `own` may be MISSED. Shapes (S,)."""

    def act(self) -> Floats:
        """π, shape (S, K, |A|)."""


def softmax(scores: Floats) -> Floats:
    """exp(score) / Σ exp(score) over the last axis, which is short: summed part by part, which is faster."""
    columns = [scores[..., a] for a in range(scores.shape[-1])]
    top = reduce(np.maximum, columns)
    weights = [np.exp(column - top) for column in columns]
    total = reduce(np.add, weights)
    return np.stack([weight / total for weight in weights], axis=-1)


@dataclass(frozen=True, eq=False)
class ManyChance:
    """Uniform play."""

    utility: Floats
    values: Values

    def observe(self, _own: Ints, _theirs: Ints) -> Self:
        """The same minds."""
        return self

    def act(self) -> Floats:
        """1 / |A|."""
        matches, options, _ = self.utility.shape
        return np.full((matches, 1, options), 1.0 / options)


@dataclass(frozen=True, eq=False)
class ManyWinStay:
    """`WinStayLoseShift`."""

    utility: Floats
    values: Values
    last: Ints | None = None
    won: NDArray[np.bool_] | None = None

    def observe(self, own: Ints, theirs: Ints) -> Self:
        """The minds after a round."""
        won = self.utility[np.arange(len(own)), own, theirs] >= -TIE
        return replace(self, last=own, won=won)

    def act(self) -> Floats:
        """π(a | last action, whether it succeeded)."""
        matches, options, _ = self.utility.shape
        if self.last is None or self.won is None:
            return np.full((matches, 1, options), 1.0 / options)
        stay = np.where(self.won[:, None], self.values["win_stay"], 1.0 - self.values["lose_shift"])
        same = self.last[:, None, None] == np.arange(options)
        probs = np.where(same, stay[..., None], (1.0 - stay[..., None]) / (options - 1))
        return np.where(self.last[:, None, None] == MISSED, 1.0 / options, probs)


@dataclass(frozen=True, eq=False)
class ManyQLearners:
    """`QLearner`."""

    utility: Floats
    values: Values
    learnt: Floats | None = None
    last: Ints | None = None

    def observe(self, own: Ints, theirs: Ints) -> Self:
        """The minds after a round."""
        matches, options, _ = self.utility.shape
        rate = self.values["rate"][..., None]
        decay = self.values.get("decay", np.zeros((1, 1)))[..., None]
        before = self.learnt if self.learnt is not None else np.zeros((matches, 1, options))
        is_chosen = own[:, None, None] == np.arange(options)
        gained = self.utility[np.arange(matches), own, theirs][:, None, None]
        learnt = np.where(is_chosen, before + rate * (gained - before), (1.0 - decay) * before)
        return replace(self, learnt=learnt, last=own)

    def act(self) -> Floats:
        """π(a) ∝ exp(beta · Q(a) + perseveration · [a was the last action])."""
        matches, options, _ = self.utility.shape
        if self.learnt is None or self.last is None:
            return np.full((matches, 1, options), 1.0 / options)
        scores = self.values["beta"][..., None] * self.learnt
        if "perseveration" in self.values:
            same = self.last[:, None, None] == np.arange(options)
            scores = scores + self.values["perseveration"][..., None] * same
        return softmax(scores)


@dataclass(frozen=True, eq=False)
class ManyCountLearners:
    """`CountLearner`."""

    utility: Floats
    values: Values
    pattern: str
    counts: Floats | None = None
    last: tuple[Ints, Ints, Ints] | None = None

    @cached_property
    def _context_and_reference(self) -> tuple[Ints, Ints]:
        """The context in which the next move is counted, and the move that it is relative to; shapes (S,)."""
        nobody = np.full(len(self.utility), MISSED)
        own, theirs, before = self.last or (nobody, nobody, nobody)
        kind = PATTERNS[self.pattern]
        return kind.context(own, theirs, before, self.utility.shape[2]), kind.reference(own, theirs)

    def observe(self, own: Ints, theirs: Ints) -> Self:
        """The minds after a round."""
        matches, _, moves = self.utility.shape
        context, reference = self._context_and_reference
        memory = self.values["memory"]
        counts = self.counts
        if counts is None:
            points = np.broadcast_shapes(memory.shape, (matches, 1))
            counts = np.zeros((*points, PATTERNS[self.pattern].contexts(moves), moves))
        counts = memory[..., None, None] * counts
        counted = np.flatnonzero(context >= 0)
        counts[counted, :, context[counted], (theirs[counted] - reference[counted]) % moves] += 1.0
        before = self.last[1] if self.last else np.full(matches, MISSED)
        return replace(self, counts=counts, last=(own, theirs, before))

    def predict(self) -> Floats:
        """P(b), shape (S, K, moves)."""
        matches, _, moves = self.utility.shape
        if self.counts is None:
            return np.full((matches, 1, moves), 1.0 / moves)
        context, reference = self._context_and_reference
        every = np.arange(matches)
        shifts = (np.arange(moves) - reference[:, None]) % moves
        row = self.counts[every[:, None], :, np.maximum(context, 0)[:, None], shifts].transpose(0, 2, 1)
        row = np.where(context[:, None, None] >= 0, row, 0.0) + 1.0
        return row / reduce(np.add, (row[..., [b]] for b in range(moves)))

    def act(self) -> Floats:
        """π(a) ∝ exp(beta · Σ_b P(b) u(a, b))."""
        worth = np.matmul(self.predict(), self.utility.transpose(0, 2, 1))
        return softmax(self.values["beta"][..., None] * worth)


@dataclass(frozen=True, eq=False)
class ManyRuleLookaheads:
    """`RuleLookahead`; `tables` are Q for each different payoff matrix, `which` is that of each match."""

    utility: Floats
    values: Values
    tables: Floats
    which: Ints
    weights: Floats | None = None
    context: Ints | None = None

    @classmethod
    def of(cls, utility: Floats, values: Values) -> Self:
        """The minds before the first round."""
        different, which = np.unique(utility, axis=0, return_inverse=True)
        return cls(utility, values, np.array([rule_values(u) for u in different]), which.reshape(-1))

    @cached_property
    def _forecasts(self) -> Floats:
        return rule_forecasts(self.utility.shape[2])

    @cached_property
    def _prior(self) -> Floats:
        return np.array(shift_rules(self.utility.shape[2])[1])

    def observe(self, own: Ints, theirs: Ints) -> Self:
        """The minds after a round."""
        matches, _, moves = self.utility.shape
        context = self.context if self.context is not None else np.zeros(matches, dtype=np.intp)
        weights = self.weights if self.weights is not None else self._prior
        joint = weights * self._forecasts[:, context, theirs].T[:, None]
        joint = joint / joint.sum(axis=-1, keepdims=True)
        switch = self.values["switch"][..., None]
        weights = (1.0 - switch) * joint + switch * self._prior
        return replace(self, weights=weights, context=np.where(own == MISSED, 0, 1 + own * moves + theirs))

    def predict(self) -> Floats:
        """P(b), shape (S, K, moves)."""
        context = self.context if self.context is not None else np.zeros(len(self.utility), dtype=np.intp)
        weights = self.weights if self.weights is not None else self._prior[None, None]
        return cast("Floats", np.matmul(weights, self._forecasts[:, context].transpose(1, 0, 2)))

    def act(self) -> Floats:
        """π(a) ∝ exp(beta · Σ_rule P(rule) Q_rule(a))."""
        context = self.context if self.context is not None else np.zeros(len(self.utility), dtype=np.intp)
        weights = self.weights if self.weights is not None else self._prior[None, None]
        worth = np.matmul(weights, self.tables[self.which, :, context])
        return softmax(self.values["beta"][..., None] * worth)


@dataclass(frozen=True, eq=False)
class ManyKToMs:
    """`KToM`, whose own code runs on arrays of shape (S, K)."""

    mind: k_tom.KToM

    @classmethod
    def of(cls, payoffs: tuple[Floats, Floats], values: Values, level: int) -> Self:
        """The minds before the first round. The payoffs are those of both agents."""
        gains: Any = tuple(tuple(own[:, 1, b, None] - own[:, 0, b, None] for b in range(2)) for own in payoffs)
        parameters = k_tom.KToMParameters(*(cast("Any", values[name]) for name in k_tom.KToMParameters._fields))
        return cls(k_tom.KToM(gains, parameters, k_tom.ignorance(level)))

    def observe(self, own: Ints, theirs: Ints) -> Self:
        """The minds after a round."""
        outcome: Any = Outcome(cast("Any", own[:, None]), cast("Any", theirs[:, None]), 0.0)
        return replace(self, mind=self.mind.observe(outcome))

    def act(self) -> Floats:
        """π."""
        return np.stack([np.exp(log_p) for log_p in self.mind.log_policy()], axis=-1)
