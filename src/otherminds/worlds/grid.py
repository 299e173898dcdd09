"""Geometry of the grid worlds: cells as integers, sets of cells as big integers, and cheapest routes.

Cell (x, y), x to the right and y downwards, is the integer y · (width + 1) + x. The extra column is never
floor, so that shifting a whole set of cells by one never leaks from one row into the next.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

DIRECTIONS = ("up", "down", "left", "right")


@dataclass(frozen=True)
class Grid:
    """A rectangle of cells; `floor` is the set of those that are not wall, as bits."""

    width: int
    height: int
    floor: int

    @classmethod
    def of(cls, width: int, height: int, walls: Iterable[tuple[int, int]]) -> Grid:
        """A grid of floor cells except for the walls, given as (x, y)."""
        solid = set(walls)
        stride = width + 1
        floor = sum(1 << y * stride + x for y in range(height) for x in range(width) if (x, y) not in solid)
        return cls(width, height, floor)

    @classmethod
    def of_map(cls, rows: Sequence[str], floor: Container[str]) -> Grid:
        """The grid of a map with one character a cell, of which those in `floor` are floor."""
        squares = ((x, y, letter) for y, row in enumerate(rows) for x, letter in enumerate(row))
        return cls.of(len(rows[0]), len(rows), ((x, y) for x, y, letter in squares if letter not in floor))

    def marked(self, rows: Sequence[str], letters: Container[str]) -> tuple[int, ...]:
        """The cells of a map with one of these characters, in reading order."""
        return tuple(self.cell(x, y) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter in letters)

    @cached_property
    def everywhere(self) -> int:
        """All cells, floor and walls, as bits."""
        return sum(1 << cell for row in self.rows for cell in row)

    @cached_property
    def rows(self) -> tuple[range, ...]:
        """The cells of each row, floor and walls."""
        return tuple(range(start, start + self.width) for start in range(0, self.size, self.stride))

    @property
    def stride(self) -> int:
        """The difference between a cell and the one below it."""
        return self.width + 1

    @property
    def size(self) -> int:
        """The number of integers that the cells range over."""
        return self.stride * self.height

    def cell(self, x: int, y: int) -> int:
        """The cell at column x and row y, both from 0."""
        return y * self.stride + x

    def xy(self, cell: int) -> tuple[int, int]:
        """The column and row of a cell, both from 0."""
        y, x = divmod(cell, self.stride)
        return x, y

    def is_floor(self, cell: int) -> bool:
        """Whether the cell is floor."""
        return cell >= 0 and bool(self.floor >> cell & 1)

    @cached_property
    def offsets(self) -> dict[str, int]:
        """The number that a step in each direction adds to a cell."""
        return dict(zip(DIRECTIONS, (-self.stride, self.stride, -1, 1), strict=True))

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The floor cells next to each cell, in the order up, down, left, right."""
        return tuple(
            tuple(cell + d for d in self.offsets.values() if self.is_floor(cell + d)) for cell in range(self.size)
        )

    def cells(self, among: int = -1) -> Iterator[int]:
        """Every floor cell among those given as bits (-1: all), in reading order."""
        remaining = self.floor & among
        while remaining:
            lowest = remaining & -remaining
            remaining ^= lowest
            yield lowest.bit_length() - 1

    def adjacent(self, a: int, b: int) -> bool:
        """Whether two cells lie exactly one step apart (Manhattan distance 1)."""
        return abs(a - b) in (1, self.stride)


class Route(NamedTuple):
    """A route's cost, its first cell (None if it starts at the target), and its target."""

    cost: float
    first: int | None
    target: int


def cheapest_route(
    grid: Grid, start: int, targets: Mapping[int, float], tolls: Mapping[int, float], allowed: int = -1
) -> Route | None:
    """The cheapest route from `start` to one of the targets by Dijkstra's algorithm; None if there is none.

    A step costs 1 plus the toll of the cell it enters, and arriving at a target adds the target's cost. Routes use only
    the `allowed` cells, given as bits (-1: all).
    """
    best, route = math.inf, None
    least = min(targets.values(), default=0.0)
    queue = [(0.0, start, -1)]
    reached, toll, neighbours = [math.inf] * grid.size, [0.0] * grid.size, grid.neighbours
    reached[start] = 0.0
    for cell, extra in tolls.items():
        toll[cell] = extra
    while queue:
        cost, cell, first = heappop(queue)
        if cost + least >= best:
            break
        if cost > reached[cell]:
            continue
        if cell in targets and cost + targets[cell] < best:
            best = cost + targets[cell]
            route = Route(best, first if first >= 0 else None, cell)
        for neighbour in neighbours[cell]:
            cost_there = cost + 1.0 + toll[neighbour]
            if cost_there < reached[neighbour] and allowed >> neighbour & 1:
                reached[neighbour] = cost_there
                heappush(queue, (cost_there, neighbour, first if first >= 0 else neighbour))
    return route
