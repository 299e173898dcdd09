"""The way through a matrix world to the nearest of several cells, by what it costs to walk there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from otherminds.worlds.grid import Grid


class Way(NamedTuple):
    """What the way costs, the first cell of it (None if one is there already), and where it ends."""

    cost: float
    first: int | None
    target: int


def cheapest(
    grid: Grid, start: int, targets: Mapping[int, float], tolls: Mapping[int, float], known: int = -1
) -> Way | None:
    """The cheapest way from a start to one of the targets, None if there is none (Dijkstra).

    A step costs 1 and the toll of the cell that one enters; arriving costs what the target says. Ways lead over
    `known` cells only, which are bits: by default all.
    """
    best, way = math.inf, None
    least = min(targets.values(), default=0.0)
    queue = [(0.0, start, -1)]
    reached = {start: 0.0}
    while queue:
        cost, cell, first = heappop(queue)
        if cost + least >= best:
            break
        if cost > reached[cell]:
            continue
        if cell in targets and cost + targets[cell] < best:
            best = cost + targets[cell]
            way = Way(best, first if first >= 0 else None, cell)
        for near in grid.neighbours[cell]:
            if not known >> near & 1:
                continue
            there = cost + 1.0 + tolls.get(near, 0.0)
            if there < reached.get(near, math.inf):
                reached[near] = there
                heappush(queue, (there, near, first if first >= 0 else near))
    return way
