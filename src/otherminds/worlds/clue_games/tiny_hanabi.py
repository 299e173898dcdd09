"""Tiny Hanabi: one player signals, the other acts, neither sees the other's card, and both get the same reward.

(Foerster et al. 2019, Bayesian Action Decoder for deep multi-agent reinforcement learning.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Payoffs = tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]

PASS = -1  # the action of the player whose turn it is not; convention
# R[card 1][card 2][signal][action] of Foerster et al. 2019
PAYOFFS: Payoffs = (
    (((10, 0, 0), (4, 8, 4), (10, 0, 0)), ((0, 0, 10), (4, 8, 4), (0, 0, 10))),
    (((0, 0, 10), (4, 8, 4), (0, 0, 0)), ((10, 0, 0), (4, 8, 4), (10, 0, 0))),
)


class Deal(NamedTuple):
    """A finished deal, which both players see."""

    cards: tuple[int, int]
    signal: int
    action: int


class HanabiState(NamedTuple):
    """The state: deals finished so far, the cards, the signal once it is given, and the last deal."""

    rounds: int
    cards: tuple[int, int]
    signal: int | None
    last: Deal | None


class HanabiView(NamedTuple):
    """What a player observes: its own card, the signal once it is given, and the last deal."""

    card: int
    signal: int | None
    last: Deal | None


@dataclass(frozen=True)
class TinyHanabi:
    """Tiny Hanabi played `rounds` times. A deal has two steps; the player whose turn it is not passes.

    `payoffs[c₁][c₂][signal][action]` is the reward of both players. Cards are dealt independently and uniformly.
    Raises ValueError if the payoffs have another shape, or if `rounds` is below 1.
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
        """The players in the order in which they act."""
        return ("signaller", "listener")

    def start(self, rng: np.random.Generator, /) -> HanabiState:
        """The first deal."""
        return HanabiState(0, self._deal(rng), None, None)

    def _deal(self, rng: np.random.Generator) -> tuple[int, int]:
        first, second = self.table.shape[:2]
        return int(rng.integers(first)), int(rng.integers(second))

    def actions(self, state: HanabiState, agent: str) -> tuple[int, ...]:
        """The signals for the first player, then the actions for the second; only PASS out of turn."""
        moving = self.agents.index(agent) == (state.signal is not None)
        return tuple(range(self.table.shape[2 + self.agents.index(agent)])) if moving else (PASS,)

    def step(self, state: HanabiState, joint: Mapping[str, int], rng: np.random.Generator, /) -> HanabiState:
        """The state after the signal, or after the action and a new deal. Raises ValueError for an illegal action."""
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot do {action} now")
        if state.signal is None:
            return state._replace(signal=joint["signaller"])
        deal = Deal(state.cards, state.signal, joint["listener"])
        return HanabiState(state.rounds + 1, self._deal(rng), None, deal)

    def observe(self, state: HanabiState, agent: str) -> HanabiView:
        """All but the other player's card."""
        return HanabiView(state.cards[self.agents.index(agent)], state.signal, state.last)

    def reward(self, state: HanabiState, joint: Mapping[str, int], _after: HanabiState) -> dict[str, float]:
        """The payoff of the deal for both players when it ends, else 0."""
        ends = state.signal is not None
        worth = float(self.table[(*state.cards, state.signal, joint["listener"])]) if ends else 0.0
        return dict.fromkeys(self.agents, worth)

    def done(self, state: HanabiState) -> bool:
        """Whether all deals are finished."""
        return state.rounds >= self.rounds

    def all_actions(self, agent: str) -> tuple[int, ...]:
        """Every action of an agent in any state, PASS last."""
        return (*range(self.table.shape[2 + self.agents.index(agent)]), PASS)

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """The possible values of each field of what an agent observes, for adapters."""
        *cards, signals, actions = self.table.shape
        deal = {
            "cards": [range(count) for count in cards],
            "signal": (None, *range(signals)),
            "action": (None, *range(actions)),
        }
        return {"card": range(cards[self.agents.index(agent)]), "signal": (None, *range(signals)), "last": deal}
