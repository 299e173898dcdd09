"""Strategies of the scripted bots in Melting Pot's in-the-matrix substrates (Agapiou et al. 2022).

A strategy chooses which kind of resource to play next, and with what lead in the inventory. It depends on interactions
alone; a bot decides where to walk and when to zap. Because a strategy is a distribution over its next aim, it can be
played, or scored against a player's choices as a hypothesis about them.

    state = strategy.start().sample(rng)                         # at the start of an episode
    state = strategy.update(state, own, partner).sample(rng)     # after each interaction, with both inventories
    state.aim.is_met(inventory)                                  # at each step: whether to interact or to collect
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from otherminds.distribution import Categorical, point_mass

Inventory = tuple[int, ...]


@dataclass(frozen=True)
class Aim:
    """To play a kind of resource as soon as it leads all others in the inventory by a margin.

    Raises ValueError if the margin is not positive, because a kind without a lead is not what would be played.
    """

    kind: int
    margin: int

    def __post_init__(self) -> None:
        if self.kind < 0 or self.margin < 1:
            raise ValueError(f"an aim needs a kind from 0 and a margin from 1, not {self.kind} and {self.margin}")

    def is_met(self, inventory: Inventory) -> bool:
        """Whether the kind leads by the margin: the time to interact, rather than to collect more of it."""
        most_of_others = max(count for kind, count in enumerate(inventory) if kind != self.kind)
        return inventory[self.kind] - most_of_others >= self.margin


def play_of(inventory: Inventory) -> int | None:
    """The kind a player with this inventory plays: the one it holds most of, None for a tie."""
    most = max(inventory)
    return inventory.index(most) if inventory.count(most) == 1 else None


class StrategyState(NamedTuple):
    """What a strategy remembers: its current aim, and a count of the events that it waits for."""

    aim: Aim
    counted: int = 0


class Strategy(Hashable, Protocol):
    """An immutable rule that chooses aims by the interactions so far, with whichever partners."""

    def start(self) -> Categorical[StrategyState]:
        """P(state before the first interaction)."""

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """P(state after an interaction), given both inventories in it."""


@dataclass(frozen=True)
class Script:
    """Has fixed aims one after another, and the last one for good. Raises ValueError if there are none."""

    aims: tuple[Aim, ...]

    def __post_init__(self) -> None:
        _at_least_one("aims", len(self.aims))

    def start(self) -> Categorical[StrategyState]:
        """Its first aim, with certainty."""
        return point_mass(StrategyState(self.aims[0]))

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """The next aim."""
        counted = min(state.counted + 1, len(self.aims) - 1)
        return point_mass(StrategyState(self.aims[counted], counted))


def specialist(aim: Aim) -> Script:
    """The strategy that always has the same aim."""
    return Script((aim,))


def flip(before: Aim, after: Aim, interactions: int) -> Script:
    """The strategy with one aim for the first `interactions` interactions, including ties, then another for good.

    Raises ValueError if `interactions` is below 1.
    """
    _at_least_one("interactions", interactions)
    return Script((*(before,) * interactions, after))


@dataclass(frozen=True)
class Grim:
    """Cooperates until partners have defected `strikes` times, then defects for good.

    Raises ValueError if `strikes` is below 1.
    """

    cooperate: Aim
    defect: Aim
    strikes: int

    def __post_init__(self) -> None:
        _at_least_one("strikes", self.strikes)

    def start(self) -> Categorical[StrategyState]:
        """To cooperate, with certainty."""
        return point_mass(StrategyState(self.cooperate))

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """Count the partner's defection, up to the limit."""
        counted = min(state.counted + (play_of(partner) == self.defect.kind), self.strikes)
        return point_mass(StrategyState(self.defect if counted == self.strikes else self.cooperate, counted))


@dataclass(frozen=True)
class TitForTat:
    """Cooperates first, then copies the partner's last play; each choice is flipped with probability `tremble`.

    Raises ValueError if `tremble` is not a probability.
    """

    cooperate: Aim
    defect: Aim
    tremble: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.tremble <= 1.0:
            raise ValueError(f"a tremble of {self.tremble} is not a probability")

    def start(self) -> Categorical[StrategyState]:
        """To cooperate, unless it trembles."""
        return self._choose(self.cooperate, self.defect)

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """Copy the partner unless it trembles; after a tie or a third kind, keep the aim."""
        play = play_of(partner)
        if play == self.cooperate.kind:
            return self._choose(self.cooperate, self.defect)
        return self._choose(self.defect, self.cooperate) if play == self.defect.kind else point_mass(state)

    def _choose(self, meant: Aim, slip: Aim) -> Categorical[StrategyState]:
        """The `meant` aim, or with probability `tremble` the `slip`."""
        chances = ((meant, 1.0 - self.tremble), (slip, self.tremble))
        return Categorical.from_scores(
            (StrategyState(aim), math.log(chance)) for aim, chance in chances if chance > 0.0
        )


@dataclass(frozen=True)
class Corrigible:
    """Defects until its partner has defected `strikes` times, then starts to play tit-for-tat.

    Raises ValueError if `strikes` is below 1.
    """

    strikes: int
    reformed: TitForTat

    def __post_init__(self) -> None:
        _at_least_one("strikes", self.strikes)

    def start(self) -> Categorical[StrategyState]:
        """To defect, with certainty."""
        return point_mass(StrategyState(self.reformed.defect))

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """Count the partner's defections; the last one starts tit-for-tat."""
        if state.counted == self.strikes:
            return self._in_reform(self.reformed.update(state, own, partner))
        counted = state.counted + (play_of(partner) == self.reformed.defect.kind)
        if counted == self.strikes:
            return self._in_reform(self.reformed.start())
        return point_mass(StrategyState(self.reformed.defect, counted))

    def _in_reform(self, states: Categorical[StrategyState]) -> Categorical[StrategyState]:
        """The states of tit-for-tat, marked as reformed: `counted` is `strikes`."""
        return states.map(lambda state: StrategyState(state.aim, self.strikes))


@dataclass(frozen=True)
class CounterPrevious:
    """Aims at the reply to the partner's last play. `replies` has the aim that answers each kind."""

    replies: tuple[Aim, ...]

    def start(self) -> Categorical[StrategyState]:
        """Uniform over the replies."""
        return Categorical.uniform(StrategyState(aim) for aim in self.replies)

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """The reply to the partner's play; unchanged after a tie."""
        play = play_of(partner)
        return point_mass(state if play is None else StrategyState(self.replies[play]))


@dataclass(frozen=True)
class Whim:
    """Draws one of its aims uniformly after each interaction."""

    aims: tuple[Aim, ...]

    def start(self) -> Categorical[StrategyState]:
        """Uniform over the aims."""
        return Categorical.uniform(StrategyState(aim) for aim in self.aims)

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """Uniform over the aims again."""
        return self.start()


@dataclass(frozen=True)
class FollowUp:
    """Aims by its own last play, so that it beats a partner that answers it.

    `aims` has the next aim for each kind it played.
    """

    first: Aim
    aims: tuple[Aim, ...]

    def start(self) -> Categorical[StrategyState]:
        """Its first aim, with certainty."""
        return point_mass(StrategyState(self.first))

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """The aim that follows its own play; unchanged after a tie."""
        play = play_of(own)
        return point_mass(state if play is None else StrategyState(self.aims[play]))


def _at_least_one(name: str, number: int) -> None:
    """Raise ValueError unless the number is at least 1."""
    if number < 1:
        raise ValueError(f"{number} {name}, where at least 1 is needed")
