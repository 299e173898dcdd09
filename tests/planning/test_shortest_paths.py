"""Distances and staged costs-to-go against queue-based search."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.planning.expansion import Expansion
from otherminds.planning.shortest_paths import UNREACHABLE, Exit, StagedCosts, distances
from otherminds.worlds.grid import Grid


def walk(grid: Grid, source: int) -> dict[int, int]:
    """Steps to every cell that can be reached, with a queue."""
    found, queue = {source: 0}, deque([source])
    while queue:
        cell = queue.popleft()
        x, y = grid.xy(cell)
        for to in ((x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)):
            near = grid.cell(*to)
            inside = 0 <= to[0] < grid.width and 0 <= to[1] < grid.height
            if inside and grid.floor >> near & 1 and near not in found:
                found[near] = found[cell] + 1
                queue.append(near)
    return found


@st.composite
def grids(draw: st.DrawFn, longest: int = 8) -> Grid:
    width, height = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    return Grid(width, height, sum(draw(st.integers(0, 2**width - 1)) << y * (width + 1) for y in range(height)))


def check(grid: Grid, sources: list[int]) -> None:
    rows = distances(grid.floor, grid.stride, sources)
    assert rows.shape[0] == len(sources)
    for row, source in zip(rows.tolist(), sources, strict=True):
        expected = walk(grid, source)
        assert row == [expected.get(cell, UNREACHABLE) for cell in range(len(row))]
        assert len(row) > max(grid.cells())


@pytest.mark.slow
@given(grids().filter(lambda grid: grid.floor), st.data())
def test_distances_are_those_of_a_queue(grid: Grid, data: st.DataObject) -> None:
    check(grid, data.draw(st.lists(st.sampled_from(list(grid.cells())), max_size=5)))


@pytest.mark.slow
@given(grids(5).filter(lambda grid: grid.floor))
def test_distances_from_everywhere_at_once(grid: Grid) -> None:
    check(grid, list(grid.cells()))


@pytest.mark.parametrize("shape", [(1, 300), (300, 1)], ids=["column", "row"])
def test_distances_along_a_corridor_of_more_steps_than_fit_a_byte(shape: tuple[int, int]) -> None:
    grid = Grid.of(*shape, [])
    row = distances(grid.floor, grid.stride, [0])[0]
    assert [int(row[cell]) for cell in grid.cells()] == list(range(300))


def test_distances_in_a_spiral_that_fills_the_largest_map() -> None:
    walls = [(x, y) for y in range(1, 64, 2) for x in range(64) if x != (63 if y % 4 == 1 else 0)]
    check(Grid.of(64, 64, walls), [0, 63, 0])


def test_an_isolated_cell_reaches_itself_alone() -> None:
    grid = Grid.of(3, 3, [(1, 0), (0, 1), (2, 1), (1, 2)])
    centre = grid.cell(1, 1)
    row = distances(grid.floor, grid.stride, [centre])[0].tolist()
    assert {cell for cell, steps in enumerate(row) if steps < UNREACHABLE} == {centre}
    assert row[centre] == 0


def test_the_same_source_twice_has_the_same_distances() -> None:
    grid = Grid.of(4, 3, [(1, 1)])
    first, second, third = distances(grid.floor, grid.stride, [0, 7, 0]).tolist()
    assert first == third != second


def test_no_sources_no_rows() -> None:
    assert distances(Grid.of(2, 2, []).floor, 3, []).shape[0] == 0


def test_a_source_off_the_floor_is_floor_for_itself_alone() -> None:
    floor = Grid.of(5, 1, [(2, 0), (4, 0)]).floor
    assert distances(floor, 6, [2, 0, 4])[:, :5].tolist() == [
        [2, 1, 0, 1, UNREACHABLE],
        [0, 1, UNREACHABLE, UNREACHABLE, UNREACHABLE],
        [UNREACHABLE, UNREACHABLE, UNREACHABLE, 1, 0],
    ]


# Staged costs-to-go against Dijkstra on all pairs of a stage and a cell.


LENGTH = 6


class ContextAction(NamedTuple):
    """Something done in a stage, and the stage it leads to."""

    name: str
    after: int


@dataclass
class Corridor:
    """A corridor of which other cells are blocked in every stage; `share` is how much of a bound is revealed."""

    blocked: list[int]
    ways_out: list[list[Exit[ContextAction]]]
    share: float = 0.0
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)

    def exits(self, goal: str, stage: int) -> Iterable[Exit[ContextAction]]:
        self.asked[goal, stage] += 1
        return self.ways_out[stage]

    def follow(self, stage: int, action: ContextAction) -> int:
        return action.after

    def distances(self, stage: int, place: int) -> Sequence[int]:
        open_to = [not self._between(stage, cell, place) for cell in range(LENGTH)]
        return [abs(cell - place) if free else UNREACHABLE for cell, free in enumerate(open_to)]

    def _between(self, stage: int, a: int, b: int) -> bool:
        return any(self.blocked[stage] >> cell & 1 for cell in range(min(a, b), max(a, b) + 1))

    def regions(self, stage: int) -> Sequence[int]:
        """How many blocked cells lie to the left; those that are blocked have numbers of their own."""
        closed = [self.blocked[stage] >> cell & 1 for cell in range(LENGTH)]
        return [-1 - cell if closed[cell] else sum(closed[:cell]) for cell in range(LENGTH)]

    def bound(self, goal: str, stage: int, place: int) -> int:
        return self.bounds(goal)[place]

    def bounds(self, goal: str) -> Sequence[int]:
        stages = range(len(self.blocked))
        least = [min(dijkstra(self, stage, cell) for stage in stages) for cell in range(LENGTH)]
        return [int(self.share * min(abs(x - y) + steps for y, steps in enumerate(least))) for x in range(LENGTH)]


@st.composite
def corridors(draw: st.DrawFn) -> Corridor:
    stages = draw(st.integers(1, 5))
    blocked = draw(st.lists(st.integers(0, 2**LENGTH - 1), min_size=stages, max_size=stages))
    return Corridor(
        blocked, [_exits(draw, stage, stages) for stage in range(stages)], draw(st.sampled_from([0, 0.5, 1]))
    )


def _exits(draw: st.DrawFn, stage: int, stages: int) -> list[Exit[ContextAction]]:
    deeds = st.builds(ContextAction, st.text("ab", max_size=2), st.integers(stage + 1, stages))
    return [
        Exit(draw(st.integers(0, LENGTH - 1)), draw(st.integers(0, 9)), action, final=action.after == stages)
        for action in draw(st.lists(deeds, max_size=4))
    ]


def dijkstra(world: Corridor, stage: int, cell: int) -> int:
    """Cost of the cheapest way from a stage and a cell to the goal, by walking and taking exits one by one."""
    end = len(world.blocked)
    queue, done = [(0, (stage, cell))], set()
    while queue:
        cost, (stage, cell) = heapq.heappop(queue)
        if stage == end:
            return cost
        if (stage, cell) in done or not 0 <= cell < LENGTH or world.blocked[stage] >> cell & 1:
            continue
        done.add((stage, cell))
        for near in (cell - 1, cell + 1):
            heapq.heappush(queue, (cost + 1, (stage, near)))
        for leave in world.ways_out[stage]:
            if leave.place == cell:
                heapq.heappush(queue, (cost + leave.cost, (end if leave.final else leave.action.after, cell)))
    return UNREACHABLE


@pytest.mark.slow
@given(corridors())
def test_values_are_those_of_dijkstra(world: Corridor) -> None:
    costs = StagedCosts(world, Expansion(1000, 1000))
    for stage in range(len(world.blocked)):
        for cell in range(LENGTH):
            assert min(costs.value("goal", stage, cell), UNREACHABLE) == dijkstra(world, stage, cell)


@pytest.mark.slow
@given(corridors(), st.integers(0, LENGTH - 1))
def test_ways_are_exits_in_reach_with_their_costs(world: Corridor, cell: int) -> None:
    for distance, rest, leave in StagedCosts(world, Expansion(1000, 1000)).paths("goal", 0, cell):
        assert leave in world.ways_out[0]
        assert list(distance) == world.distances(0, leave.place)
        assert distance[cell] < UNREACHABLE or world.blocked[0] >> cell & 1
        after = 0 if leave.final else dijkstra(world, leave.action.after, leave.place)
        assert rest == leave.cost + after < UNREACHABLE


def test_a_dear_exit_nearby_and_a_cheap_one_far_away() -> None:
    near, far = Exit(0, 1, ContextAction("near", 1)), Exit(5, 1, ContextAction("far", 2))
    ends = [Exit(0, 4, ContextAction("end", 3), final=True)], [Exit(5, 1, ContextAction("end", 3), final=True)]
    costs = StagedCosts(Corridor([0, 0, 0], [[near, far], *ends]), Expansion(1000, 1000))
    assert [costs.value("goal", 0, cell) for cell in range(LENGTH)] == [5, 6, 5, 4, 3, 2]


def test_every_stage_is_worked_out_once_for_each_goal() -> None:
    chain = [[Exit(3, 1, ContextAction("on", stage + 1), final=stage == 4)] * 2 for stage in range(5)]
    world = Corridor([0] * 5, chain)
    costs = StagedCosts(world, Expansion(1000, 1000))
    values = [costs.value(goal, stage, 3) for goal in ("gem", "key") for stage in (0, 2, 0)]
    assert values == [5, 3, 5] * 2
    assert world.asked == {(goal, stage): 1 for goal in ("gem", "key") for stage in range(5)}
