"""Grids: cells as integers without leaks over the edge, and cheapest routes."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.worlds.grid import DIRECTIONS, Grid, Route, cheapest_route

Xy = tuple[int, int]


@st.composite
def walled(draw: st.DrawFn) -> tuple[int, int, set[Xy]]:
    """A width, a height and some walls."""
    width, height = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    wall = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return width, height, draw(st.sets(wall, max_size=12))


@pytest.mark.slow
@given(walled())
def test_floor_is_every_cell_that_is_no_wall(case: tuple[int, int, set[Xy]]) -> None:
    width, height, walls = case
    grid = Grid.of(width, height, walls)
    inside = [(x, y) for y in range(height) for x in range(width) if (x, y) not in walls]
    assert [grid.xy(cell) for cell in grid.cells()] == inside


@pytest.mark.slow
@given(walled())
def test_cells_and_columns_and_rows_are_inverse(case: tuple[int, int, set[Xy]]) -> None:
    grid = Grid.of(*case)
    places = [(x, y) for y in range(grid.height) for x in range(grid.width)]
    assert [grid.xy(grid.cell(x, y)) for x, y in places] == places
    assert len({grid.cell(x, y) for x, y in places}) == len(places)
    assert max(grid.cell(x, y) for x, y in places) < grid.size


@pytest.mark.slow
@given(walled())
def test_neighbours_are_the_floor_one_step_up_down_left_and_right(case: tuple[int, int, set[Xy]]) -> None:
    grid, (width, height, walls) = Grid.of(*case), case
    for cell in grid.cells():
        x, y = grid.xy(cell)
        around = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)]
        inside = [(a, b) for a, b in around if 0 <= a < width and 0 <= b < height and (a, b) not in walls]
        assert [grid.xy(near) for near in grid.neighbours[cell]] == inside


@pytest.mark.slow
@given(walled())
def test_adjacent_is_manhattan_distance_one(case: tuple[int, int, set[Xy]]) -> None:
    grid = Grid.of(*case)
    for a in grid.cells():
        for b in grid.cells():
            (ax, ay), (bx, by) = grid.xy(a), grid.xy(b)
            assert grid.adjacent(a, b) == (abs(ax - bx) + abs(ay - by) == 1)


@pytest.mark.slow
@given(walled(), st.integers(-20, 100))
def test_nothing_outside_is_floor(case: tuple[int, int, set[Xy]], cell: int) -> None:
    grid = Grid.of(*case)
    assert grid.is_floor(cell) == (cell in set(grid.cells()))


def test_up_is_towards_smaller_rows_and_left_towards_smaller_columns() -> None:
    grid = Grid.of(3, 3, [])
    centre = grid.cell(1, 1)
    assert [grid.xy(centre + grid.offsets[name]) for name in DIRECTIONS] == [(1, 0), (1, 2), (0, 1), (2, 1)]


def test_all_wall_is_no_floor() -> None:
    grid = Grid.of(2, 1, [(0, 0), (1, 0)])
    assert list(grid.cells()) == []
    assert grid.neighbours == ((), (), ())


# Ways through small random maps, against Bellman–Ford: what they cost, where they begin, and where they end.


class Quest(NamedTuple):
    """What is asked of a search."""

    grid: Grid
    start: int
    targets: dict[int, float]
    tolls: dict[int, float]


def map_of(*rows: str) -> Grid:
    walls = [(x, y) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter == "#"]
    return Grid.of(len(rows[0]), len(rows), walls)


@st.composite
def quests(draw: st.DrawFn) -> Quest:
    """Some floor, some walls; costs are quarters, which add up exactly in any order."""
    width, height = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    row = st.text(alphabet="...#", min_size=width, max_size=width)
    grid = map_of(*draw(st.lists(row, min_size=height, max_size=height)))
    places = st.integers(0, height - 1).flatmap(lambda y: st.integers(0, width - 1).map(lambda x: grid.cell(x, y)))
    costs = st.integers(0, 40).map(lambda quarters: quarters / 4)
    targets = draw(st.dictionaries(places, costs, max_size=4))
    return Quest(grid, draw(places), targets, draw(st.dictionaries(places, costs, max_size=12)))


def distances(quest: Quest, start: int) -> dict[int, float]:
    """What it costs to walk from a start to every floor cell: relax all edges until nothing gets cheaper."""
    found = dict.fromkeys(quest.grid.cells(), math.inf) | {start: 0.0}
    edges = [(a, b) for a in found for b in found if quest.grid.adjacent(a, b)]
    for _ in found:
        for a, b in edges:
            found[b] = min(found[b], found[a] + 1 + quest.tolls.get(b, 0.0))
    return found


@pytest.mark.slow
@given(quests())
def test_cost_first_step_and_target_are_those_of_a_cheapest_way(quest: Quest) -> None:
    grid, start, targets, tolls = quest
    walked = distances(quest, start)
    least = min((walked.get(cell, math.inf) + cost for cell, cost in targets.items()), default=math.inf)
    way = cheapest_route(grid, start, targets, tolls)
    if way is None:
        assert least == math.inf
        return
    assert way.cost == least == walked[way.target] + targets[way.target]
    if way.first is None:
        assert way.target == start
    else:
        assert way.target != start
        assert grid.adjacent(start, way.first)
        entered = 1 + tolls.get(way.first, 0.0)
        assert entered + distances(quest, way.first)[way.target] + targets[way.target] == least


def test_who_is_there_already_need_not_walk_and_pays_no_toll() -> None:
    grid = map_of("....")
    assert cheapest_route(grid, 1, {1: 2.0, 3: 9.0}, {1: 50.0}) == Route(2.0, None, 1)


def test_a_target_on_which_one_stands_may_be_dearer_than_one_some_steps_away() -> None:
    assert cheapest_route(map_of("...."), 0, {0: 5.0, 3: 0.0}, {}) == Route(3.0, 1, 3)


def test_a_toll_is_worth_a_way_around_that_costs_less() -> None:
    grid = map_of(".....", ".###.", ".....")
    start, goal, gate = grid.cell(2, 0), grid.cell(2, 2), grid.cell(1, 0)
    assert cheapest_route(grid, start, {goal: 0.0}, {gate: 0.25}) == Route(6.0, grid.cell(3, 0), goal)
    other = {gate: 0.25, grid.cell(4, 1): 0.5}
    assert cheapest_route(grid, start, {goal: 0.0}, other) == Route(6.25, gate, goal)


def test_a_dear_target_on_the_way_does_not_hide_a_cheap_one_behind_it() -> None:
    assert cheapest_route(map_of("..#."), 0, {0: 3.0, 1: 9.0, 3: 0.0}, {}) == Route(3.0, None, 0)
    assert cheapest_route(map_of("...."), 0, {1: 9.0, 3: 0.0}, {}) == Route(3.0, 1, 3)


def test_a_way_may_begin_in_the_first_cell_of_the_map() -> None:
    grid = map_of("..", ".#", "..")
    found = cheapest_route(grid, grid.cell(1, 0), {grid.cell(1, 2): 0.0}, {})
    assert found == Route(4.0, grid.cell(0, 0), grid.cell(1, 2))


def test_there_is_no_way_to_nowhere_through_walls_or_into_them() -> None:
    grid = map_of("..#.")
    assert cheapest_route(grid, 0, {}, {}) is None
    assert cheapest_route(grid, 0, {3: 0.0}, {}) is None
    assert cheapest_route(grid, 0, {2: 0.0}, {}) is None
    assert cheapest_route(grid, 0, {3: 0.0, 1: 90.0}, {}) == Route(91.0, 1, 1)
