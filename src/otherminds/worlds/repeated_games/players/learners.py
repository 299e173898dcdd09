"""Players that learn a partner without a prior: tabular RMax, frequency counts, fictitious play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any, NamedTuple, Self, cast

import numpy as np

from otherminds.distribution import Categorical
from otherminds.files.text import brief
from otherminds.worlds.repeated_games.players.best_responders import Responder
from otherminds.worlds.repeated_games.rules import Game, Outcome

Context = tuple[int, int] | None
TIE = 1e-8  # values that differ by less are equal: rounding
CLOSE = 1e-4  # change at which value iteration stops, in units of min(1, R_max), as in the paper's code


class Visit(NamedTuple):
    """What one action in one context led to: the payoff, and the partner's action."""

    payoff: float
    theirs: int


Model = tuple[tuple[Visit | None, ...], ...]


@dataclass(frozen=True)
class RMax:
    """Tabular RMax (Brafman and Tennenholtz 2002) on the last joint action, with one state before the first round.

    An untried action in a state is worth Vmax = R_max / (1 − γ); one trial makes it known, and value iteration over
    what is known gives the values. Ties are broken uniformly at random. The player does not know the payoffs, only the
    largest. In the paper's setting (`exact_ties=False`) value iteration starts at 0 and stops at changes below 1e-4, so
    a path to something untried beats a loop of equal reward; with `exact_ties` it starts at Vmax, and both tie.
    (Riemer et al., §2.2.)
    """

    options: int
    their_options: int
    largest: float
    exact_ties: bool = False
    discount: float = 0.9
    model: Model = ()
    context: int = 0

    @classmethod
    def of(cls, game: Game, *, exact_ties: bool = False, discount: float = 0.9) -> Self:
        """A player in the first place of a game that knows its actions and its largest payoff.

        Raises ValueError if the discount is not in [0, 1).
        """
        if not 0.0 <= discount < 1.0:
            raise ValueError(f"a discount of {discount} is not in [0, 1)")
        options, their_options = game.payoff().shape
        empty: Model = ((None,) * options,) * (1 + options * their_options)
        return cls(options, their_options, float(game.payoff().max()), exact_ties, discount, empty)

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the first trial of an action in a state is remembered."""
        if outcome is None:
            return self
        visits, model = self.model[self.context], self.model
        if visits[outcome.own] is None:
            fresh = Visit(outcome.payoff, outcome.theirs)
            row = (*visits[: outcome.own], fresh, *visits[outcome.own + 1 :])
            model = (*model[: self.context], row, *model[self.context + 1 :])
        context = 1 + outcome.own * self.their_options + outcome.theirs
        return replace(self, model=model, context=context)

    def act(self) -> Categorical[int]:
        """Uniform over the actions with the highest optimistic value."""
        values = _values(self.model, self.their_options, self.largest, self.exact_ties, self.discount)[self.context]
        least = max(values) - TIE * (min(1.0, abs(self.largest)) or 1.0)
        return Categorical.uniform(a for a, value in enumerate(values) if value >= least)


@lru_cache(maxsize=100_000)
def _values(model: Model, their_options: int, largest: float, exact_ties: bool, discount: float) -> list[list[float]]:
    """Value iteration: Q(s, a) = r + γ max Q(s′, ·) for known actions, Vmax for untried ones, by state and action."""
    v_max = largest / (1.0 - discount)
    unit = min(1.0, abs(largest)) or 1.0
    start = 0.0 if largest > 0.0 else v_max - unit
    worth = [v_max if exact_ties or None in row else start for row in model]
    table: list[list[float]] = []
    change = CLOSE * unit
    while change >= CLOSE * unit:
        table = [
            [
                v_max if visit is None else visit.payoff + discount * worth[1 + a * their_options + visit.theirs]
                for a, visit in enumerate(row)
            ]
            for row in model
        ]
        fresh = [max(row) for row in table]
        change = max(abs(new - old) for new, old in zip(fresh, worth, strict=True))
        worth = fresh
    return table


@dataclass(frozen=True)
class Counts:
    """Predicts from frequencies of the partner's actions in the same context: the last joint action, or none.

    P(b | c) = (n(c, b) + prior) / Σ. The mode is the lowest action where counts tie.
    (Riemer et al., §2.2; `context=False` is the belief of fictitious play, Brown 1951.)
    """

    options: int
    their_options: int
    context: bool = True
    prior: float = 1.0
    counts: tuple[tuple[int, ...], ...] = ()
    context_index: int = 0

    @classmethod
    def of(cls, game: Game, *, context: bool = True, prior: float = 1.0) -> Self:
        """Counts before the first round. Raises ValueError unless the prior is above 0."""
        if prior <= 0.0:
            raise ValueError(f"a prior of {prior} expects nothing")
        options, replies = game.payoff().shape
        return cls(options, replies, context, prior, ((0,) * replies,) * (1 + options * replies * context))

    def observe(self, outcome: Outcome | None) -> Self:
        """The counts after a round."""
        if outcome is None:
            return self
        row = tuple(n + (b == outcome.theirs) for b, n in enumerate(self.counts[self.context_index]))
        counts = (*self.counts[: self.context_index], row, *self.counts[self.context_index + 1 :])
        after = 1 + outcome.own * self.their_options + outcome.theirs if self.context else 0
        return replace(self, counts=counts, context_index=after)

    def predict(self) -> Categorical[int]:
        """P(b | context)."""
        row = self.counts[self.context_index]
        total = sum(row) + self.prior * len(row)
        return Categorical(tuple(range(len(row))), tuple(log((n + self.prior) / total) for n in row))


@dataclass(frozen=True)
class SplitPlayer:
    """One mind that acts and another that predicts, both observing the same rounds."""

    __repr__ = brief

    actor: Any
    reader: Any

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after both minds have observed a round."""
        return replace(self, actor=self.actor.observe(outcome), reader=self.reader.observe(outcome))

    def act(self) -> Categorical[int]:
        """The actor's action."""
        return cast("Categorical[int]", self.actor.act())

    def predict(self) -> Categorical[int]:
        """The reader's prediction."""
        return cast("Categorical[int]", self.reader.predict())


def tabular(game: Game, *, exact_ties: bool = False) -> SplitPlayer:
    """The paper's tabular baseline: RMax acts and frequency counts predict, without knowledge of the payoffs.

    (Riemer et al., §2.2; `exact_ties` as in `RMax`.)
    """
    return SplitPlayer(RMax.of(game, exact_ties=exact_ties), Counts.of(game))


@dataclass(frozen=True)
class FictitiousPlay(Responder):
    """Best response to the frequencies of the partner's actions so far: argmax_a Σ_b P(b) R(a, b) (Brown 1951)."""

    @classmethod
    def of(cls, game: Game) -> Self:
        """The player before the first round, with a uniform prediction."""
        return cls(Counts.of(game, context=False), game)

    def act(self) -> Categorical[int]:
        """Uniform over the best responses."""
        worth = self.game.payoff() @ self.predict().probs
        return Categorical.uniform(np.flatnonzero(worth >= worth.max() - TIE).tolist())
