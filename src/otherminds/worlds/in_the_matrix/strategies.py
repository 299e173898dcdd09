"""Strategies for matrix games played by gathering: which kind of resource to play next, and with how much of a lead.

They are the rules of the scripted opponents in Melting Pot's in-the-matrix worlds (Agapiou et al. 2022). A strategy
hears of interactions alone; where to walk and when to zap is the business of a body. Being a distribution over what
comes next, it runs both ways: forward it plays, and scored against somebody's play it is a hypothesis about them.

    state = strategy.start().sample(rng)                      # at the start of an episode
    state = strategy.update(state, own, partner).sample(rng)     # after every interaction, with what both held
    intent(state.aim, inventory)                              # at every step: Collect(kind) or Interact(kind)
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from otherminds.distribution import Categorical

Inventory = tuple[int, ...]


@dataclass(frozen=True)
class Aim:
    """To play a kind of resource as soon as it leads all others in one's inventory by a margin.

    Raises ValueError if the margin is not positive: a kind that leads no other is not what would be played.
    """

    kind: int
    margin: int

    def __post_init__(self) -> None:
        if self.kind < 0 or self.margin < 1:
            raise ValueError(f"an aim needs a kind from 0 and a margin from 1, not {self.kind} and {self.margin}")


@dataclass(frozen=True)
class Collect:
    """The intent to gather more of a kind."""

    kind: int


@dataclass(frozen=True)
class Interact:
    """The intent to meet somebody and play a kind."""

    kind: int


def intent(aim: Aim, inventory: Inventory) -> Collect | Interact:
    """What an aim asks for while holding an inventory."""
    most_of_others = max(held for kind, held in enumerate(inventory) if kind != aim.kind)
    return Interact(aim.kind) if inventory[aim.kind] - most_of_others >= aim.margin else Collect(aim.kind)


def play_of(inventory: Inventory) -> int | None:
    """The kind somebody plays who holds this: the one they have most of, or None if several tie for that."""
    most = max(inventory)
    return inventory.index(most) if inventory.count(most) == 1 else None


class State(NamedTuple):
    """What a strategy remembers: its present aim, and how often that has happened which it counts."""

    aim: Aim
    counted: int = 0


class Strategy(Hashable, Protocol):
    """An immutable rule that chooses aims by what happened in the interactions so far, whoever they were with."""

    def start(self) -> Categorical[State]:
        """P(the state before the first interaction)."""
        ...

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """P(the state after an interaction), given what both held in it."""
        ...


@dataclass(frozen=True)
class Specialist:
    """Always the same aim."""

    only: Aim

    def start(self) -> Categorical[State]:
        """Certain of its aim."""
        return _surely(State(self.only))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """Nothing changes."""
        return _surely(state)


@dataclass(frozen=True)
class Flip:
    """One aim for the first so many interactions, ties among them, then another for ever.

    Raises ValueError if there is not at least one interaction before.
    """

    before: Aim
    after: Aim
    interactions: int

    def __post_init__(self) -> None:
        _at_least_one("interactions", self.interactions)

    def start(self) -> Categorical[State]:
        """Certain of the aim before."""
        return _surely(State(self.before))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """One interaction more; none are counted once it has flipped."""
        counted = min(state.counted + 1, self.interactions)
        return _surely(State(self.after if counted == self.interactions else self.before, counted))


@dataclass(frozen=True)
class Grim:
    """Cooperates until others have defected so often, then defects for ever.

    Raises ValueError if there is not at least one strike.
    """

    cooperate: Aim
    defect: Aim
    strikes: int

    def __post_init__(self) -> None:
        _at_least_one("strikes", self.strikes)

    def start(self) -> Categorical[State]:
        """Certain to cooperate."""
        return _surely(State(self.cooperate))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """One strike more if the partner defected; none are counted once it has had enough."""
        counted = min(state.counted + (play_of(partner) == self.defect.kind), self.strikes)
        return _surely(State(self.defect if counted == self.strikes else self.cooperate, counted))


@dataclass(frozen=True)
class TitForTat:
    """Cooperates, then does what its partner did last; whenever it chooses, it slips with the chance of a tremble.

    Raises ValueError if the tremble is no probability.
    """

    cooperate: Aim
    defect: Aim
    tremble: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.tremble <= 1.0:
            raise ValueError(f"a tremble of {self.tremble} is no probability")

    def start(self) -> Categorical[State]:
        """It cooperates unless it trembles."""
        return self._choose(self.cooperate, self.defect)

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """It copies the partner unless it trembles, and does not choose anew if the partner did neither."""
        play = play_of(partner)
        if play == self.cooperate.kind:
            return self._choose(self.cooperate, self.defect)
        return self._choose(self.defect, self.cooperate) if play == self.defect.kind else _surely(state)

    def _choose(self, meant: Aim, slip: Aim) -> Categorical[State]:
        chances = ((meant, 1.0 - self.tremble), (slip, self.tremble))
        return Categorical.from_scores((State(aim), math.log(chance)) for aim, chance in chances if chance > 0.0)


@dataclass(frozen=True)
class Corrigible:
    """Defects until its partner has defected so often in return, then begins to play tit-for-tat.

    Raises ValueError if there is not at least one strike.
    """

    strikes: int
    reformed: TitForTat

    def __post_init__(self) -> None:
        _at_least_one("strikes", self.strikes)

    def start(self) -> Categorical[State]:
        """Certain to defect."""
        return _surely(State(self.reformed.defect))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """One strike more if the partner defected; the last one begins tit-for-tat, which goes on from then."""
        if state.counted == self.strikes:
            return self._in_reform(self.reformed.update(state, own, partner))
        counted = state.counted + (play_of(partner) == self.reformed.defect.kind)
        if counted == self.strikes:
            return self._in_reform(self.reformed.start())
        return _surely(State(self.reformed.defect, counted))

    def _in_reform(self, states: Categorical[State]) -> Categorical[State]:
        return states.map(lambda state: State(state.aim, self.strikes))


@dataclass(frozen=True)
class CounterPrevious:
    """Aims at the reply to what its partner played last; at any of the replies before that.

    `replies` has the aim that answers each kind.
    """

    replies: tuple[Aim, ...]

    def start(self) -> Categorical[State]:
        """Any reply is as likely as any other."""
        return Categorical.uniform(State(aim) for aim in self.replies)

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """The reply to what the partner played; nothing changes after a tie."""
        play = play_of(partner)
        return _surely(state if play is None else State(self.replies[play]))


@dataclass(frozen=True)
class Whim:
    """Any of its aims, anew after every interaction."""

    aims: tuple[Aim, ...]

    def start(self) -> Categorical[State]:
        """Any aim is as likely as any other."""
        return Categorical.uniform(State(aim) for aim in self.aims)

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """As at the start, whatever happened."""
        return self.start()


@dataclass(frozen=True)
class FollowUp:
    """Aims by what it played last itself: the answer to whoever answers that.

    `aims` has the next aim for each kind; nothing changes after a tie.
    """

    first: Aim
    aims: tuple[Aim, ...]

    def start(self) -> Categorical[State]:
        """Certain of its first aim."""
        return _surely(State(self.first))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """The aim that follows what it played."""
        play = play_of(own)
        return _surely(state if play is None else State(self.aims[play]))


@dataclass(frozen=True)
class Script:
    """One aim after another, whatever happens, and the last one for ever. Raises ValueError if there is none."""

    aims: tuple[Aim, ...]

    def __post_init__(self) -> None:
        _at_least_one("aims", len(self.aims))

    def start(self) -> Categorical[State]:
        """Certain of its first aim."""
        return _surely(State(self.aims[0]))

    def update(self, state: State, own: Inventory, partner: Inventory) -> Categorical[State]:
        """The next aim."""
        counted = min(state.counted + 1, len(self.aims) - 1)
        return _surely(State(self.aims[counted], counted))


def _surely(state: State) -> Categorical[State]:
    return Categorical((state,), (0.0,))


def _at_least_one(name: str, number: int) -> None:
    if number < 1:
        raise ValueError(f"{number} {name}, where at least one is needed")
