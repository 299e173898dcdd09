"""How to look for a thing: exact expected costs of searching the places of a home in the best order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OPENING = 2.0
CLOSING = 1.0
REACHING = 1.0
MOST_PLACES = 16

Floats = NDArray[np.float64]


class Look(NamedTuple):
    """Something to do while looking: enter `room` to see what lies openly there, or look into `place`; `cost` is the
    expected number of steps until the thing is found if this is done first."""

    room: int
    place: int | None
    cost: float


@dataclass(frozen=True)
class Search:
    """Where to look: place i is in `rooms[i]` and must be opened if `closes[i]`; `odds[i]` is proportional to the
    probability that the thing is there; `steps` leads from room to room. Entering a room shows all its open places.

    Raises ValueError for more than 16 places.
    """

    rooms: tuple[int, ...]
    closes: tuple[bool, ...]
    steps: tuple[tuple[int, ...], ...]
    odds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Sets of places are bit masks, and all of them are planned for."""
        if len(self.rooms) > MOST_PLACES:
            raise ValueError(f"a search is planned for {MOST_PLACES} places at the most, not {len(self.rooms)}")

    @cached_property
    def openly(self) -> tuple[int, ...]:
        """For every room, the set of its open places."""
        pairs = [(1 << i, room) for i, room in enumerate(self.rooms) if not self.closes[i]]
        return tuple(sum(bit for bit, room in pairs if room == r) for r in range(len(self.steps)))

    @cached_property
    def everywhere(self) -> int:
        """The set of all places."""
        return (1 << len(self.rooms)) - 1

    @cached_property
    def costs(self) -> Floats:
        """V[S, r]: the expected steps until the thing is found, from room r, with the places S not yet looked into.

        With W(S) the odds of the places S and U the open places of room r′ in S,

            V(S, r) = min over closed i ∈ S in r′ with U = ∅:  d(r, r′) + 2 + (1 − odds_i / W(S)) (1 + V(S ∖ i, r′))
                      and over rooms r′ with U ≠ ∅:  d(r, r′) + odds_U / W(S) + (1 − odds_U / W(S)) V(S ∖ U, r′).

        Every choice makes S smaller, so one sweep over its sizes is exact. Shape (2ⁿ, rooms).
        """
        n, masks = len(self.rooms), np.arange(1 << len(self.rooms))
        held = ((masks[:, None] >> np.arange(n)) & 1).astype(float)
        odds, sizes = held @ np.asarray(self.odds), held.sum(axis=1)
        values = np.full((1 << n, len(self.steps)), np.inf)
        values[0] = 0.0
        for size in range(1, n + 1):
            level = masks[sizes == size]
            for room, openly in enumerate(self.openly):
                self._enter(values, odds, level[(level & openly) > 0], room)
            for place, room in enumerate(self.rooms):
                if self.closes[place]:
                    ready = ((level >> place) & 1 == 1) & ((level & self.openly[room]) == 0)
                    self._open(values, odds, level[ready], place)
        return values

    def _enter(self, values: Floats, odds: Floats, level: NDArray[np.int_], room: int) -> None:
        seen = odds[level & self.openly[room]] / odds[level]
        cost = seen * REACHING + (1.0 - seen) * values[level & ~self.openly[room], room]
        values[level] = np.minimum(values[level], cost[:, None] + np.asarray(self.steps)[:, room])

    def _open(self, values: Floats, odds: Floats, level: NDArray[np.int_], place: int) -> None:
        room, miss = self.rooms[place], 1.0 - self.odds[place] / odds[level]
        cost = OPENING + miss * (CLOSING + values[level ^ (1 << place), room])
        values[level] = np.minimum(values[level], cost[:, None] + np.asarray(self.steps)[:, room])

    def looks(self, unseen: int, room: int) -> Iterator[Look]:
        """What can be done first, with the places `unseen` not yet looked into, each with its expected cost."""
        total = sum(odds for i, odds in enumerate(self.odds) if unseen >> i & 1)
        for r, openly in enumerate(self.openly):
            shown = unseen & openly
            if shown:
                seen = sum(odds for i, odds in enumerate(self.odds) if shown >> i & 1) / total
                rest = seen * REACHING + (1.0 - seen) * self.costs[unseen & ~shown, r]
                yield Look(r, None, float(self.steps[room][r] + rest))
        for place, r in enumerate(self.rooms):
            if self.closes[place] and unseen >> place & 1 and not unseen & self.openly[r]:
                miss = 1.0 - self.odds[place] / total
                rest = OPENING + miss * (CLOSING + self.costs[unseen ^ (1 << place), r])
                yield Look(r, place, float(self.steps[room][r] + rest))

    def length(self, truth: int, unseen: int, room: int) -> float:
        """The steps it really takes if the thing is at place `truth` and the cheapest look is always done first."""
        steps = 0.0
        while unseen >> truth & 1:
            look = min(self.looks(unseen, room), key=lambda look: look.cost)
            steps += self.steps[room][look.room]
            room = look.room
            if look.place is None:
                unseen &= ~self.openly[room]
                steps += REACHING if not unseen >> truth & 1 else 0.0
            else:
                unseen ^= 1 << look.place
                steps += OPENING if look.place == truth else OPENING + CLOSING
        return steps
