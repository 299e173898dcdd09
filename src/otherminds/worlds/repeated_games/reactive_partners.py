"""Kinds of partners who remember one round at most: minds whose table is unknown and shows reply by reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.bayes_adaptive_values import FIRST, context_of, kinds
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.rules import Game, Outcome

SIMPLICITY: Mapping[str, float] = {"constant": 1 / 3, "reactive": 1 / 3, "memory_one": 1 / 3}
SURPRISE = 1e-9


@dataclass(frozen=True)
class Kind:
    """A partner of a kind (constant, reactive, memory-one) with a uniformly drawn table, as seen from outside.

    It replies r(part of the last joint action) with probability 1 − noise, else uniformly; contexts in one part share
    a reply. So P(r | n) ∝ exp(n_r · log((1 − noise + noise/k) / (noise/k))) after n_b replies b of k, part by part.
    """

    name: str
    parts: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    noise: float
    here: int = FIRST

    @classmethod
    def of(cls, name: str, game: Game, noise: float = SURPRISE) -> Self:
        """Nothing shown yet. Raises ValueError unless 0 < noise ≤ 1; it may be hardly any."""
        if not 0.0 < noise <= 1.0:
            raise ValueError(f"a noise of {noise} is not above 0 and at most 1")
        options, replies = game.payoff().shape
        groups = kinds(options, replies)[name]
        part = {context: i for i, group in enumerate(groups) for context in group}
        parts = tuple(part[c] for c in (*range(options * replies), FIRST))
        return cls(name, parts, ((0,) * replies,) * len(groups), noise)

    def observe(self, outcome: Outcome | None) -> Self:
        """Count the reply it has given to where it was; then it is where that has led."""
        if outcome is None:
            return self
        part = self.parts[self.here]
        row = tuple(n + (b == outcome.own) for b, n in enumerate(self.counts[part]))
        counts = (*self.counts[:part], row, *self.counts[part + 1 :])
        return replace(self, counts=counts, here=context_of(outcome.theirs, outcome.own, len(row)))

    def act(self) -> Categorical[int]:
        """The predictive distribution Σ_r P(r | n) π(· | r) of its next action."""
        return Categorical.softmax(self._evidence(self.counts[self.parts[self.here]]), lapse=self.noise)

    def _evidence(self, counts: tuple[int, ...]) -> list[tuple[int, float]]:
        slip = self.noise / len(counts)
        gain = log((1.0 - self.noise + slip) / slip)
        return [(r, n * gain) for r, n in enumerate(counts)]

    def drawn(self, rng: np.random.Generator) -> Partner:
        """A partner of this kind with a table drawn from the posterior, in the state it is in now."""
        replies = [Categorical.softmax(self._evidence(row)).sample(rng) for row in self.counts]
        table = [replies[self.parts[c]] for c in (FIRST, *range(len(self.parts) - 1))]
        options = len(self.counts[0])
        slip = self.noise / options
        laws = tuple(tuple(slip + (1.0 - self.noise) * (b == reply) for b in range(options)) for reply in table)
        contexts = np.arange(len(table) - 1).reshape(-1, options) + 1
        onward = tuple(map(tuple, contexts.T.tolist()))
        name = f"memory-one {''.join(map(str, table))}, noise {self.noise:g}"
        return Machine(name, laws, (onward,) * len(table)).minds[self.here + 1]


def over_kinds(game: Game, prior: Mapping[str, float] = SIMPLICITY, noise: float = SURPRISE) -> Observer[Kind]:
    """An observer who does not know of which kind a partner is."""
    return Observer.over((Kind.of(name, game, noise) for name in prior), prior.values())
