"""Tiny Hanabi: one player signals, the other answers, neither sees the other's card, and both get the same.

(Foerster et al. 2019, Bayesian Action Decoder for deep multi-agent reinforcement learning; payoffs as there.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Payoffs = tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]

PASS = -1
PAYOFFS: Payoffs = (
    (((10, 0, 0), (4, 8, 4), (10, 0, 0)), ((0, 0, 10), (4, 8, 4), (0, 0, 10))),
    (((0, 0, 10), (4, 8, 4), (0, 0, 0)), ((10, 0, 0), (4, 8, 4), (10, 0, 0))),
)


class Deal(NamedTuple):
    """A deal that is over, as everybody then sees it."""

    cards: tuple[int, int]
    signal: int
    action: int


class Table(NamedTuple):
    """The state: how many deals are over, the cards, the signal once it is given, and the deal before."""

    rounds: int
    cards: tuple[int, int]
    signal: int | None
    last: Deal | None


class View(NamedTuple):
    """What a player sees: its own card, the signal once it is given, and all of the deal before."""

    card: int
    signal: int | None
    last: Deal | None


@dataclass(frozen=True)
class TinyHanabi:
    """Tiny Hanabi played `rounds` times; a deal is two steps, and whoever is not to act passes.

    `payoffs[c₁][c₂][signal][action]` is what both get; cards are dealt independently and uniformly.
    Raises ValueError if it has another shape, or if there is no deal to play.
    """

    rounds: int = 100
    payoffs: Payoffs = PAYOFFS

    def __post_init__(self) -> None:
        if self.table.ndim != 4 or not self.table.size:
            raise ValueError("payoffs are four lists deep: a card, the other card, a signal, an action")
        if self.rounds < 1:
            raise ValueError(f"there must be at least 1 deal, not {self.rounds}")

    @cached_property
    def table(self) -> Floats:
        """R[c₁, c₂, signal, action], read-only."""
        table = np.array(self.payoffs, dtype=float)
        table.setflags(write=False)
        return table

    @property
    def agents(self) -> tuple[str, str]:
        """Who acts, in the order in which they act."""
        return ("signaller", "listener")

    def start(self, rng: np.random.Generator, /) -> Table:
        """The first deal."""
        return Table(0, self._deal(rng), None, None)

    def _deal(self, rng: np.random.Generator) -> tuple[int, int]:
        first, second = self.table.shape[:2]
        return int(rng.integers(first)), int(rng.integers(second))

    def actions(self, state: Table, agent: str) -> tuple[int, ...]:
        """The signals, then the actions; only passing for whoever is not to act."""
        moving = self.agents.index(agent) == (state.signal is not None)
        return tuple(range(self.table.shape[2 + self.agents.index(agent)])) if moving else (PASS,)

    def step(self, state: Table, joint: Mapping[str, int], rng: np.random.Generator, /) -> Table:
        """The signal, or the action and a new deal. Raises ValueError for anything else."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if state.signal is None:
            return state._replace(signal=joint["signaller"])
        deal = Deal(state.cards, state.signal, joint["listener"])
        return Table(state.rounds + 1, self._deal(rng), None, deal)

    def observe(self, state: Table, agent: str) -> View:
        """Everything but the other's card."""
        return View(state.cards[self.agents.index(agent)], state.signal, state.last)

    def reward(self, state: Table, joint: Mapping[str, int], _after: Table) -> dict[str, float]:
        """What the deal is worth, to both, when it ends."""
        ends = state.signal is not None
        worth = float(self.table[(*state.cards, state.signal, joint["listener"])]) if ends else 0.0
        return dict.fromkeys(self.agents, worth)

    def done(self, state: Table) -> bool:
        """Whether all deals are over."""
        return state.rounds >= self.rounds
