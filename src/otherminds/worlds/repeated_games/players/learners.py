"""Players that learn a partner from nothing: tabular RMax, frequency counts, fictitious play."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any, NamedTuple, Self, cast

import numpy as np

from otherminds.distribution import Categorical
from otherminds.worlds.repeated_games.rules import Game, Outcome

Context = tuple[int, int] | None
TIE = 1e-8
CLOSE = 1e-4


class Known(NamedTuple):
    """What one visit of a context with one action has shown: the payoff, and what the partner did."""

    payoff: float
    theirs: int


Model = tuple[tuple[Known | None, ...], ...]


@dataclass(frozen=True)
class RMax:
    """Tabular RMax (Brafman and Tennenholtz 2002) on the last joint action, with one state before the first round.

    An action that was never tried in a state is worth Vmax = R_max / (1 − γ); what was tried once is known, and
    values come from value iteration over what is known. Equal values are broken uniformly at random. The payoffs
    are not given, but the largest of them is. In the paper's setting (`exact_ties=False`) value iteration starts at
    0 and stops at changes below 1e-4, so what still leads to something untried beats a loop of equal reward; with
    `exact_ties` it starts at Vmax, and both tie. (Riemer et al., §2.2.)
    """

    options: int
    others: int
    largest: float
    exact_ties: bool = False
    discount: float = 0.9
    model: Model = ()
    context: int = 0

    @classmethod
    def of(cls, game: Game, *, exact_ties: bool = False, discount: float = 0.9) -> Self:
        """A player in the first place of a game who knows its actions and its largest payoff.

        Raises ValueError if the discount is not between 0 and 1.
        """
        if not 0.0 <= discount < 1.0:
            raise ValueError(f"a discount of {discount} is not in [0, 1)")
        options, others = game.payoff().shape
        empty: Model = ((None,) * options,) * (1 + options * others)
        return cls(options, others, float(game.payoff().max()), exact_ties, discount, empty)

    def observe(self, outcome: Outcome | None) -> Self:
        """Remember the first visit of a state with an action."""
        if outcome is None:
            return self
        here, model = self.model[self.context], self.model
        if here[outcome.own] is None:
            fresh = Known(outcome.payoff, outcome.theirs)
            row = (*here[: outcome.own], fresh, *here[outcome.own + 1 :])
            model = (*model[: self.context], row, *model[self.context + 1 :])
        context = 1 + outcome.own * self.others + outcome.theirs
        return replace(self, model=model, context=context)

    def act(self) -> Categorical[int]:
        """Uniform over the actions of the highest optimistic value."""
        worth = _values(self.model, self.others, self.largest, self.exact_ties, self.discount)[self.context]
        close = max(worth) - TIE * (min(1.0, abs(self.largest)) or 1.0)
        return Categorical.uniform(a for a, value in enumerate(worth) if value >= close)


@lru_cache(maxsize=100_000)
def _values(model: Model, others: int, largest: float, exact_ties: bool, discount: float) -> list[list[float]]:
    """Q(s, a) = r + γ max Q(s′, ·) for what is known, Vmax for what is not, by value iteration."""
    top = largest / (1.0 - discount)
    unit = min(1.0, abs(largest)) or 1.0
    low = 0.0 if largest > 0.0 else top - unit
    worth = [top if exact_ties or None in row else low for row in model]
    table: list[list[float]] = []
    change = CLOSE * unit
    while change >= CLOSE * unit:
        table = [
            [top if k is None else k.payoff + discount * worth[1 + a * others + k.theirs] for a, k in enumerate(row)]
            for row in model
        ]
        fresh = [max(row) for row in table]
        change = max(abs(new - old) for new, old in zip(fresh, worth, strict=True))
        worth = fresh
    return table


@dataclass(frozen=True)
class Counts:
    """Predicts by how often the partner did what in the same context: the last joint action, or nothing at all.

    P(b | c) = (n(c, b) + prior) / Σ. Its mode is the lowest action if nothing, or nothing but ties, was seen.
    (Riemer et al., §2.2; `context=False` is the belief of fictitious play, Brown 1951.)
    """

    options: int
    others: int
    context: bool = True
    prior: float = 1.0
    counts: tuple[tuple[int, ...], ...] = ()
    here: int = 0

    @classmethod
    def of(cls, game: Game, *, context: bool = True, prior: float = 1.0) -> Self:
        """Nothing seen yet. Raises ValueError unless the prior is above 0."""
        if prior <= 0.0:
            raise ValueError(f"a prior of {prior} expects nothing")
        options, others = game.payoff().shape
        return cls(options, others, context, prior, ((0,) * others,) * (1 + options * others * context))

    def observe(self, outcome: Outcome | None) -> Self:
        """Count what the partner did in the context it was in."""
        if outcome is None:
            return self
        row = tuple(n + (b == outcome.theirs) for b, n in enumerate(self.counts[self.here]))
        counts = (*self.counts[: self.here], row, *self.counts[self.here + 1 :])
        return replace(self, counts=counts, here=1 + outcome.own * self.others + outcome.theirs if self.context else 0)

    def predict(self) -> Categorical[int]:
        """P(b | context)."""
        row = self.counts[self.here]
        total = sum(row) + self.prior * len(row)
        return Categorical(tuple(range(len(row))), tuple(log((n + self.prior) / total) for n in row))


@dataclass(frozen=True)
class Split:
    """One mind that acts and another that predicts, both seeing the same: literal and functional apart."""

    actor: Any
    reader: Any

    def observe(self, outcome: Outcome | None) -> Self:
        """Let both see it."""
        return replace(self, actor=self.actor.observe(outcome), reader=self.reader.observe(outcome))

    def act(self) -> Categorical[int]:
        """What the actor does."""
        return cast("Categorical[int]", self.actor.act())

    def predict(self) -> Categorical[int]:
        """What the reader expects."""
        return cast("Categorical[int]", self.reader.predict())


def tabular(game: Game, *, exact_ties: bool = False) -> Split:
    """The paper's tabular baseline: RMax acts, frequency counts predict. It does not know the payoffs.

    (Riemer et al., §2.2; `exact_ties` as in `RMax`.)
    """
    return Split(RMax.of(game, exact_ties=exact_ties), Counts.of(game))


@dataclass(frozen=True)
class FictitiousPlay:
    """Best response to how often the partner has done what so far: argmax_a Σ_b P(b) R(a, b) (Brown 1951)."""

    game: Game
    belief: Counts

    @classmethod
    def of(cls, game: Game) -> Self:
        """Before anything is seen all actions are expected alike."""
        return cls(game, Counts.of(game, context=False))

    def observe(self, outcome: Outcome | None) -> Self:
        """Count what the partner did."""
        return replace(self, belief=self.belief.observe(outcome))

    def predict(self) -> Categorical[int]:
        """The frequencies."""
        return self.belief.predict()

    def act(self) -> Categorical[int]:
        """Uniform over the best responses."""
        worth = self.game.payoff() @ self.predict().probs
        return Categorical.uniform(np.flatnonzero(worth >= worth.max() - TIE).tolist())
