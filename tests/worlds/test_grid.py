"""Cells as integers: nothing leaks over the edge."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otherminds.worlds.grid import DIRECTIONS, Grid

Xy = tuple[int, int]


@st.composite
def walled(draw: st.DrawFn) -> tuple[int, int, set[Xy]]:
    """A width, a height and some walls."""
    width, height = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    wall = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return width, height, draw(st.sets(wall, max_size=12))


@given(walled())
def test_floor_is_every_cell_that_is_no_wall(case: tuple[int, int, set[Xy]]) -> None:
    width, height, walls = case
    grid = Grid.of(width, height, walls)
    inside = [(x, y) for y in range(height) for x in range(width) if (x, y) not in walls]
    assert [grid.xy(cell) for cell in grid.cells()] == inside


@given(walled())
def test_cells_and_columns_and_rows_are_inverse(case: tuple[int, int, set[Xy]]) -> None:
    grid = Grid.of(*case)
    places = [(x, y) for y in range(grid.height) for x in range(grid.width)]
    assert [grid.xy(grid.cell(x, y)) for x, y in places] == places
    assert len({grid.cell(x, y) for x, y in places}) == len(places)
    assert max(grid.cell(x, y) for x, y in places) < grid.size


@given(walled())
def test_neighbours_are_the_floor_one_step_up_down_left_and_right(case: tuple[int, int, set[Xy]]) -> None:
    grid, (width, height, walls) = Grid.of(*case), case
    for cell in grid.cells():
        x, y = grid.xy(cell)
        around = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)]
        inside = [(a, b) for a, b in around if 0 <= a < width and 0 <= b < height and (a, b) not in walls]
        assert [grid.xy(near) for near in grid.neighbours[cell]] == inside


@given(walled())
def test_adjacent_is_manhattan_distance_one(case: tuple[int, int, set[Xy]]) -> None:
    grid = Grid.of(*case)
    for a in grid.cells():
        for b in grid.cells():
            (ax, ay), (bx, by) = grid.xy(a), grid.xy(b)
            assert grid.adjacent(a, b) == (abs(ax - bx) + abs(ay - by) == 1)


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
