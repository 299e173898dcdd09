"""Exact joint planning: breadth-first search over sets of joint positions, each set one big integer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

C = TypeVar("C", bound=Hashable)


class ContextAction(NamedTuple, Generic[C]):
    """Something an agent can do where it stands (in a set of cells, as bits), and the context that results.

    With `beside` set, it must stand exactly one step from that agent instead.
    """

    cells: int
    after: C
    beside: int | None = None


class JointPositions:
    """Sets of joint positions of n agents on a grid; the position (p₁ … pₙ) is one bit of a big integer."""

    def __init__(self, stride: int, height: int, n: int) -> None:
        """`stride` is the distance between a cell and the one below it; a spare row keeps moves from wrapping."""
        self.span = stride * (height + 1)
        self.n = n
        self.steps = (1, -1, stride, -stride)
        self.within = cache(self._within)
        self.beside = cache(self._beside)

    def of(self, cells: Sequence[int]) -> int:
        """The set of one joint position."""
        return 1 << sum(cell * self._inner(i) for i, cell in enumerate(cells))

    def _inner(self, i: int) -> int:
        """What one step of agent i along its cells adds to the number of a joint position."""
        return int(self.span ** (self.n - 1 - i))

    def _within(self, i: int, cells: int) -> int:
        """All joint positions in which agent i stands on one of these cells."""
        inner = self._inner(i)
        block = (1 << inner) - 1
        row = sum(block << inner * cell for cell in _bits(cells))
        return sum(row << inner * self.span * outer for outer in range(int(self.span**i)))

    def _beside(self, i: int, j: int, floor: int) -> int:
        """All joint positions in which agents i and j stand exactly one step apart."""
        together = 0
        for cell in _bits(floor):
            around = sum(1 << cell + d for d in self.steps if cell + d >= 0) & floor
            together |= self.within(i, 1 << cell) & self.within(j, around)
        return together

    def moved(self, positions: int, i: int, floor: int) -> int:
        """Where the agents can be after agent i has walked one step on the floor, or stayed."""
        inner = self._inner(i)
        stride = self.steps[2] * inner
        walked = positions << inner | positions >> inner | positions << stride | positions >> stride
        return positions | walked & self.within(i, floor)


def joint_makespan(
    space: JointPositions,
    cells: Sequence[int],
    context: C,
    *,
    floor: Callable[[C], int],
    deeds: Callable[[C, int], Iterable[ContextAction[C]]],
    done: Callable[[C], bool],
    limit: int,
) -> int | None:
    """L*: the fewest joint steps until `done`, if all agents cooperated perfectly; None if more than `limit`.

    In each step the agents act in order, each walking to a neighbouring cell, staying, or doing one action that
    changes the context (which doors are open, who holds what) for good.
    """
    front: dict[C, int] = {context: space.of(cells)}
    reached: dict[C, int] = dict(front)
    for t in range(limit + 1):
        if any(done(c) for c in front):
            return t
        for i in range(space.n):
            front = _act(space, front, i, floor, deeds)
        front = {c: new for c, p in front.items() if (new := p & ~reached.get(c, 0))}
        for c, new in front.items():
            reached[c] = reached.get(c, 0) | new
    return None


def _act(
    space: JointPositions,
    front: dict[C, int],
    i: int,
    floor: Callable[[C], int],
    deeds: Callable[[C, int], Iterable[ContextAction[C]]],
) -> dict[C, int]:
    after: dict[C, int] = defaultdict(int)
    for context, positions in front.items():
        here = floor(context)
        after[context] |= space.moved(positions, i, here)
        for action in deeds(context, i):
            where = space.within(i, action.cells) if action.beside is None else space.beside(i, action.beside, here)
            if able := positions & where:
                after[action.after] |= able
    return after


def _bits(cells: int) -> Iterator[int]:
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low
