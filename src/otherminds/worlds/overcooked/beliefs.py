"""What somebody who sees one room at a time takes a whole kitchen to be: one full hypothetical kitchen at a time.

What is seen is believed; what has been seen is remembered; what must be somewhere out of sight is imagined there, every
place being as likely as any other. How many there are of each kind is common knowledge. (ProToM §3.1, eq. 7.)
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from otherminds.worlds.overcooked.kitchen import NOTHING, PARTS, Layout, parts
from otherminds.worlds.overcooked.rules import UNSEEN, State, View

T = TypeVar("T")
Dishes = tuple[tuple[int, ...], ...]
Seen = tuple[tuple[int, ...] | None, ...]


class Contents(NamedTuple):
    """Where things are taken to be: on counters and boards, in hands, delivered."""

    on: tuple[int, ...]
    hands: tuple[int, ...]
    delivered: Dishes


class Imagination:
    """How a kitchen that is partly seen is completed; the same sight and seed always give the same kitchen."""

    def __init__(self, layout: Layout, items: Iterable[int]) -> None:
        """`items` are the things that are in the kitchen at the start, without where."""
        self.layout = layout
        self.items = tuple(sorted(items))
        self._usable = [bool(beside) for beside in layout.beside[: len(layout.counters)]]
        self._hidden = cache(self._find_hidden)
        self._known: dict[tuple[Contents | None, tuple[Any, ...], int], Contents] = {}

    def look(self, before: State | None, view: View, agent: int, seed: int) -> State:
        """The kitchen that an agent believes in after a view of it; `before` is what it believed, None at the start.

        Whatever the view contradicts is imagined anew, and nothing else: a draw from P(kitchen | all that was seen).
        """
        believed = None if before is None else Contents(before.on, before.hands, before.delivered)
        contents = self.complete(believed, view, seed)
        return State(self._cells(before, view, agent, seed), contents.hands, contents.on, contents.delivered)

    def think_again(self, kitchen: State, rooms: int, seed: int) -> State:
        """The kitchen with everything imagined anew that is in none of the rooms (bits) that the agent has seen."""
        layout, on = self.layout, list(kitchen.on)
        never = [k for k, cell in enumerate(layout.counters) if self._usable[k] and not layout.sight[cell] & rooms]
        things = [on[k] for k in never if on[k]]
        free = [k for k in never if k not in layout.boards]
        for k in never:
            on[k] = NOTHING
        for thing, k in zip(things, _Stream(seed, kitchen, rooms).shuffled(free), strict=False):
            on[k] = thing
        return kitchen._replace(on=tuple(on))

    def complete(self, before: Contents | None, view: View, seed: int) -> Contents:
        """Where everything is taken to be, as `look` has it."""
        key = (before, view[1:], seed)
        if key not in self._known:
            self._known[key] = self._first(view, seed) if before is None else self._next(before, view, seed)
        return self._known[key]

    def _first(self, view: View, seed: int) -> Contents:
        """What is not seen lies somewhere out of sight, but on no cutting board and in no hands."""
        spots = [NOTHING if thing == UNSEEN else thing for thing in view.on + view.hands]
        moved, _ = _balance(self.items, [*filter(None, spots), *_dishes(view.delivered)])
        free = [k for k, thing in enumerate(view.on) if thing == UNSEEN and k not in self.layout.boards]
        return self._scattered(spots, moved, free, _Stream(seed, view[1:]), view.delivered)

    def _next(self, before: Contents, view: View, seed: int) -> Contents:
        seen, old = view.on + view.hands, before.on + before.hands
        gone = [was for was, thing in zip(old, seen, strict=True) if thing not in (UNSEEN, was)]
        come = [thing for was, thing in zip(old, seen, strict=True) if thing not in (UNSEEN, was)]
        delivered = tuple([was if d is None else d for was, d in zip(before.delivered, view.delivered, strict=True)])
        if not gone and delivered == before.delivered:
            return before
        then, now = Counter([*gone, *_dishes(before.delivered)]), Counter([*come, *_dishes(delivered)])
        moved, taken = _balance(sorted((then - now).elements()), sorted((now - then).elements()))
        spots = [was if thing == UNSEEN else thing for was, thing in zip(old, seen, strict=True)]
        hidden = [k for k, thing in enumerate(seen) if thing == UNSEEN]
        rng = _Stream(seed, before, view[1:])
        _take(spots, taken, hidden, rng)
        return self._scattered(spots, moved, hidden, rng, delivered)

    def _scattered(
        self, spots: list[int], moved: Sequence[int], hidden: Iterable[int], rng: _Stream, delivered: Seen
    ) -> Contents:
        """Things put where nothing is, out of sight but within somebody's reach, or in free hands."""
        on = len(self._usable)
        free = [k for k in hidden if not spots[k] and (k >= on or self._usable[k])]
        for thing, k in zip(moved, rng.shuffled(free) if moved else (), strict=False):
            spots[k] = thing
        return Contents(tuple(spots[:on]), tuple(spots[on:]), tuple([dishes or () for dishes in delivered]))

    def _cells(self, before: State | None, view: View, agent: int, seed: int) -> tuple[int, ...]:
        """Whoever is not seen is where they were, if that is out of sight, or else anywhere out of sight."""
        if UNSEEN not in view.cells:
            return view.cells
        hidden = self._hidden(self.layout.sight[view.cells[agent]])
        rng = _Stream(seed, before and before.cells, view.cells)
        found = list(view.cells)
        for i, cell in enumerate(view.cells):
            if cell == UNSEEN:
                last = before.cells[i] if before else UNSEEN
                found[i] = last if last in hidden else rng.choice(hidden)
        return tuple(found)

    def _find_hidden(self, mine: int) -> tuple[int, ...]:
        """The squares that are out of sight for somebody who is in these rooms."""
        return tuple(c for c in self.layout.grid.cells() if not self.layout.sight[c] & mine)


class _Stream:
    """Random numbers that depend on a seed and on what is seen and believed, begun when the first one is needed."""

    def __init__(self, *origin: object) -> None:
        self._origin = origin

    @cached_property
    def _rng(self) -> np.random.Generator:
        seed, *rest = self._origin
        return np.random.default_rng([int(str(seed)), zlib.crc32(repr(rest).encode())])

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, each as likely."""
        return options[int(self._rng.integers(len(options)))]

    def shuffled(self, numbers: Sequence[int]) -> list[int]:
        """The numbers in random order."""
        found: list[int] = self._rng.permutation(numbers).tolist()
        return found


def _dishes(delivered: Seen) -> list[int]:
    return [dish for dishes in delivered for dish in dishes or ()]


def _kind(part: str) -> str:
    return part.split()[-1]


def _balance(gone: Iterable[int], come: Iterable[int]) -> tuple[list[int], list[str]]:
    """What is left of the things that are gone when those that have come were made of them, and what else these need.

    A fresh food can have been chopped, and things can have been put together; kinds of parts are conserved.
    """
    needed = Counter(_kind(part) for thing in come for part in parts(thing))
    moved = []
    for thing in gone:
        left = NOTHING
        for part in parts(thing):
            if needed[_kind(part)]:
                needed[_kind(part)] -= 1
            else:
                left += PARTS[part]
        if left:
            moved.append(left)
    return moved, sorted(needed.elements())


def _take(spots: list[int], kinds: Iterable[str], hidden: Sequence[int], rng: _Stream) -> None:
    """Remove parts of these kinds from things out of sight: they have turned out to be elsewhere."""
    for kind in kinds:
        holding = [(k, part) for k in hidden for part in parts(spots[k]) if _kind(part) == kind]
        if holding:
            k, part = rng.choice(holding)
            spots[k] -= PARTS[part]
