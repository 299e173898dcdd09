"""What can be seen past walls, by hand and against many lines of sight."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.worlds.food_trucks.visibility import Rectangle, visible_share

SQUARE = (8.0, 4.0, 9.0, 5.0)


def test_a_wall_that_ends_one_cell_before_the_edge() -> None:
    wall = (2.0, 2.0, 8.0, 3.0)
    assert visible_share((8.5, 1.5), SQUARE, [wall]) == pytest.approx(1.0)
    assert visible_share((7.5, 0.5), SQUARE, [wall]) == pytest.approx(1 / 6)  # a triangle with sides 1/3 and 1
    assert visible_share((7.5, 1.5), SQUARE, [wall]) == pytest.approx(0.0, abs=1e-12)
    assert visible_share((0.5, 3.5), SQUARE, [wall]) == 1.0
    assert visible_share((3.5, 0.5), SQUARE, []) == 1.0


def test_a_wall_in_pieces_hides_what_it_hides_in_one() -> None:
    pieces = [(x, 2.0, x + 1.0, 3.0) for x in range(2, 8)]
    for eye in ((7.5, 0.5), (6.5, 0.5), (0.5, 2.5), (8.5, 0.5)):
        assert visible_share(eye, SQUARE, pieces) == pytest.approx(visible_share(eye, SQUARE, [(2, 2, 8, 3)]))


def cut(eye: tuple[float, float], point: tuple[float, float], wall: Rectangle) -> bool:
    """Whether the wall is on the line from the eye to the point, by clipping the line."""
    first, last = 0.0, 1.0
    for k in range(2):
        low, high, step = wall[k], wall[k + 2], point[k] - eye[k]
        if step == 0.0:
            if not low < eye[k] < high:
                return False
            continue
        ends = sorted(((low - eye[k]) / step, (high - eye[k]) / step))
        first, last = max(first, ends[0]), min(last, ends[1])
    return first < last


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8),
)
def test_the_share_is_that_of_lines_of_sight(eye: tuple[int, int], walls: set[tuple[int, int]]) -> None:
    target, middle = (5, 5), (eye[0] + 0.5, eye[1] + 0.5)
    solid = [(float(x), float(y), x + 1.0, y + 1.0) for x, y in walls - {target, eye}]
    points = [(5 + (i + 0.5) / 25, 5 + (j + 0.5) / 25) for i, j in product(range(25), repeat=2)]
    clear = sum(not any(cut(middle, point, wall) for wall in solid) for point in points) / len(points)
    assert visible_share(middle, (5.0, 5.0, 6.0, 6.0), solid) == pytest.approx(clear, abs=0.05)
