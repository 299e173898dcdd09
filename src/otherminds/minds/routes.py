"""The way through a matrix world to the nearest of several cells, by what it costs to walk there."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from otherminds.worlds.grid import Grid


class Way(NamedTuple):
    """What the way costs from here on, the next cell of it (None at its end), and where it ends."""

    cost: float
    first: int | None
    target: int


def cheapest(grid: Grid, start: int, targets: Mapping[int, float], tolls: Mapping[int, float]) -> Way | None:
    """The cheapest way from a start to one of the targets, None if there is none (Dijkstra, from the targets).

    A step costs 1 and the toll of the cell one enters; arriving costs what the target says.
    """
    queue = [(cost + tolls.get(cell, 0.0), cell, -1, cell) for cell, cost in targets.items() if cell != start]
    here = targets.get(start)
    queue.sort()
    done: set[int] = set()
    while queue:
        cost, cell, first, target = heappop(queue)
        if cell == start:
            break
        if cell in done:
            continue
        done.add(cell)
        for near in grid.neighbours[cell]:
            if near not in done:
                toll = 0.0 if near == start else tolls.get(near, 0.0)
                heappush(queue, (cost + 1.0 + toll, near, cell, target))
    else:
        return None if here is None else Way(here, None, start)
    return Way(cost, first, target) if here is None or cost < here else Way(here, None, start)
