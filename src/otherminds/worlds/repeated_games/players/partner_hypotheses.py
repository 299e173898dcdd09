"""Hypotheses about a partner that remembers at most one round: its table of replies is learnt reply by reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.rules import Game, Outcome

FIRST = -1  # the context before the first round; convention
# Prior over families: uniform, so that the constant partners of the small family are the most probable a priori.
SIMPLICITY_PRIOR: Mapping[str, float] = {"constant": 1 / 3, "reactive": 1 / 3, "memory_one": 1 / 3}
MINIMAL_NOISE = 1e-9  # noise attributed to partners without slips, so that no reply is impossible; chosen small


def context_groups(options: int, replies: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """For each family of partners, the groups of contexts that share a reply.

    A constant partner has one reply for all; a reactive one replies to the other's last action, a memory-one partner
    to the last joint action. FIRST is the context before the first round.
    """
    contexts = range(options * replies)
    rows = [tuple(contexts[a * replies : (a + 1) * replies]) for a in range(options)]
    return {
        "constant": ((FIRST, *contexts),),
        "reactive": ((FIRST,), *rows),
        "memory_one": ((FIRST,), *((c,) for c in contexts)),
    }


def context_of(own: int, theirs: int, replies: int) -> int:
    """The index of a joint action."""
    return own * replies + theirs


@dataclass(frozen=True)
class ReactivePartner:
    """A hypothesis: a partner of one family (constant, reactive, memory-one) with a uniformly drawn table of replies.

    Contexts in one part share a reply r, which it plays with probability 1 − noise, else a uniform action. After n_b
    replies b of k in a part, P(r | n) ∝ exp(n_r · log((1 − noise + noise/k) / (noise/k))), independently by part.
    """

    name: str
    parts: tuple[int, ...]
    counts: tuple[tuple[int, ...], ...]
    noise: float
    context: int = FIRST

    @classmethod
    def of(cls, name: str, game: Game, noise: float = MINIMAL_NOISE) -> Self:
        """The hypothesis before the first round. Raises ValueError unless 0 < noise ≤ 1."""
        if not 0.0 < noise <= 1.0:
            raise ValueError(f"a noise of {noise} is not above 0 and at most 1")
        options, replies = game.payoff().shape
        groups = context_groups(options, replies)[name]
        part_of_context = {context: i for i, group in enumerate(groups) for context in group}
        parts = tuple(part_of_context[c] for c in (*range(options * replies), FIRST))
        return cls(name, parts, ((0,) * replies,) * len(groups), noise)

    def observe(self, outcome: Outcome | None) -> Self:
        """The hypothesis after a round: the partner's reply in the last context is counted."""
        if outcome is None:
            return self
        part = self.parts[self.context]
        row = tuple(n + (b == outcome.own) for b, n in enumerate(self.counts[part]))
        counts = (*self.counts[:part], row, *self.counts[part + 1 :])
        return replace(self, counts=counts, context=context_of(outcome.theirs, outcome.own, len(row)))

    def act(self) -> Categorical[int]:
        """The predictive distribution of its next action, Σ_r P(r | n) π(· | r)."""
        return Categorical.softmax(self._evidence(self.counts[self.parts[self.context]]), lapse=self.noise)

    def _evidence(self, counts: tuple[int, ...]) -> list[tuple[int, float]]:
        """For each reply r, the logarithm of its unnormalised posterior, given how often each reply was seen."""
        slip = self.noise / len(counts)
        gain = log((1.0 - self.noise + slip) / slip)
        return [(r, n * gain) for r, n in enumerate(counts)]

    def sample_machine(self, rng: np.random.Generator) -> Partner:
        """A machine with a table drawn from the posterior, in its current state."""
        replies = [Categorical.softmax(self._evidence(row)).sample(rng) for row in self.counts]
        table = [replies[self.parts[c]] for c in (FIRST, *range(len(self.parts) - 1))]
        options = len(self.counts[0])
        slip = self.noise / options
        laws = tuple(tuple(slip + (1.0 - self.noise) * (b == reply) for b in range(options)) for reply in table)
        contexts = np.arange(len(table) - 1).reshape(-1, options) + 1
        onward = tuple(map(tuple, contexts.T.tolist()))
        name = f"memory-one {''.join(map(str, table))}, noise {self.noise:g}"
        return Machine(name, laws, (onward,) * len(table)).minds[self.context + 1]


def reactive_observer(
    game: Game,
    prior: Mapping[str, float] = SIMPLICITY_PRIOR,
    noise: float = MINIMAL_NOISE,
    switch_rate: float = 0.0,
) -> Observer[ReactivePartner]:
    """An observer of a partner whose family is unknown, and may change with probability `switch_rate` after a round."""
    families = (ReactivePartner.of(name, game, noise) for name in prior)
    return Observer.over(families, prior.values(), switch_rate=switch_rate)
