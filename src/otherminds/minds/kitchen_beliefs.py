"""What somebody who sees one room at a time takes a whole kitchen to be: one full hypothetical kitchen at a time.

What is seen is believed; what has been seen is remembered; what must be somewhere out of sight is imagined there, every
place being as likely as any other. How many there are of each kind is common knowledge. (ProToM §3.1, eq. 7.)
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import TypeVar

import numpy as np

from otherminds.worlds.kitchen import NOTHING, PARTS, Layout, parts
from otherminds.worlds.overcooked import UNSEEN, State, View

T = TypeVar("T")
Dishes = tuple[tuple[int, ...], ...]


class Imagination:
    """How a kitchen that is partly seen is completed; the same sight and seed always give the same kitchen."""

    def __init__(self, layout: Layout, items: Iterable[int]) -> None:
        """`items` are the things that are in the kitchen at the start, without where."""
        self.layout = layout
        self.items = tuple(sorted(items))
        self._usable = [bool(beside) for beside in layout.beside[: len(layout.counters)]]
        self._hidden = cache(self._find_hidden)
        self._known: dict[tuple[State | None, View, int, int], State] = {}

    def look(self, before: State | None, view: View, agent: int, seed: int) -> State:
        """The kitchen that an agent believes in after a view of it; `before` is what it believed, None at the start.

        Whatever the view contradicts is imagined anew, and nothing else: a draw from P(kitchen | all that was seen).
        """
        key = (before, view, agent, seed)
        if key not in self._known:
            self._known[key] = self._look(before, view, agent, seed)
        return self._known[key]

    def _look(self, before: State | None, view: View, agent: int, seed: int) -> State:
        rng = _Stream(seed, before, view)
        cells = self._cells(before, view, agent, rng)
        if before is not None and _as_believed(before, view):
            return before._replace(cells=cells)
        seen, on = view.on + view.hands, len(view.on)
        delivered = view.delivered if before is None else _remembered(before.delivered, view.delivered)
        if before is None:
            spots = [NOTHING if thing == UNSEEN else thing for thing in seen]
            moved, _ = _balance(self.items, [*_things(spots), *_dishes(delivered)])
            free = [k for k in range(on) if k not in self.layout.boards]
        else:
            old = before.on + before.hands
            spots = [was if thing == UNSEEN else thing for was, thing in zip(old, seen, strict=True)]
            then = Counter(_things(old)) + Counter(_dishes(before.delivered))
            now = Counter(_things(spots)) + Counter(_dishes(delivered))
            moved, taken = _balance(sorted((then - now).elements()), sorted((now - then).elements()))
            free = list(range(len(spots)))
            _take(spots, taken, [k for k in free if seen[k] == UNSEEN], rng)
        free = [k for k in free if seen[k] == UNSEEN and not spots[k] and (k >= on or self._usable[k])]
        for thing, k in zip(moved, rng.shuffled(free) if moved else (), strict=False):
            spots[k] = thing
        return State(cells, tuple(spots[on:]), tuple(spots[:on]), tuple(dishes or () for dishes in delivered))

    def _cells(self, before: State | None, view: View, agent: int, rng: _Stream) -> tuple[int, ...]:
        """Whoever is not seen is where they were, if that is out of sight, or else anywhere out of sight."""
        if UNSEEN not in view.cells:
            return view.cells
        hidden = self._hidden(self.layout.sight[view.cells[agent]])
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


def _as_believed(before: State, view: View) -> bool:
    """Whether nothing that is seen is a surprise."""
    return (
        all(new in (old, UNSEEN) for old, new in zip(before.on, view.on, strict=True))
        and all(new in (old, UNSEEN) for old, new in zip(before.hands, view.hands, strict=True))
        and all(new is None or new == old for old, new in zip(before.delivered, view.delivered, strict=True))
    )


def _remembered(before: Sequence[tuple[int, ...]], view: Sequence[tuple[int, ...] | None]) -> Dishes:
    return tuple(old if new is None else new for old, new in zip(before, view, strict=True))


def _things(spots: Iterable[int]) -> list[int]:
    return [thing for thing in spots if thing]


def _dishes(delivered: Iterable[tuple[int, ...] | None]) -> list[int]:
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
