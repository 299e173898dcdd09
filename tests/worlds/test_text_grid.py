"""Grids drawn as text: what the characters mean, the rules, what is wrong with a file, and the drawing."""

from __future__ import annotations

import io
from collections import deque
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.planning.rational import RationalAgent
from otherminds.reports.terminal.screens import drawing_of, picture
from otherminds.testing import check_world
from otherminds.worlds.text_grid import MOVES, Cell, TextGrid, is_text_grid, parse_text_grid

HERE = Path("maze.txt")
MAZE = """\
########
#A.....#
#..##..#
#@.##.B#
########
"""


def grid(text: str) -> TextGrid:
    return parse_text_grid(text, HERE).world


def test_characters_are_walls_floor_goals_and_the_start() -> None:
    world = grid(MAZE)
    assert (world.grid.width, world.grid.height) == (8, 5)
    assert world.initial == world.start() == Cell(1, 3)
    assert dict(world.places) == {"A": {Cell(1, 1)}, "B": {Cell(6, 3)}}
    assert world.goals == ("A", "B")
    assert world.actions(Cell(1, 3), "walker") == ("stay", "up", "right")
    check_world(world, steps=40)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MAZE.replace(".", " "), id="spaces for floor"),
        pytest.param(MAZE.replace("@", "s"), id="a small s"),
        pytest.param(MAZE.replace("@", "S"), id="a capital S"),
        pytest.param(MAZE.replace("\n", "\r\n"), id="line ends of Windows"),
        pytest.param("; a maze\n" + MAZE, id="a remark"),
        pytest.param(MAZE.replace("#\n", "\n").rstrip("\n"), id="short rows end in wall"),
    ],
)
def test_the_same_map_may_be_drawn_in_several_ways(text: str) -> None:
    world = grid(text)
    assert [world.is_floor(Cell(x, y)) for y in range(5) for x in range(7)] == [
        grid(MAZE).is_floor(Cell(x, y)) for y in range(5) for x in range(7)
    ]
    assert (world.places, world.initial) == (grid(MAZE).places, Cell(1, 3))


def test_a_capital_s_is_a_goal_where_another_mark_is_the_start() -> None:
    world = grid("S..@")
    assert (world.goals, world.initial) == (("S",), Cell(3, 0))


def test_a_letter_in_several_cells_is_one_goal_and_goals_may_have_names() -> None:
    world = grid("A.A.B\n\nA: the café\n")
    assert dict(world.places) == {"the café": {Cell(0, 0), Cell(2, 0)}, "B": {Cell(4, 0)}}
    assert world.reached(Cell(2, 0), "walker", "the café")
    assert not world.reached(Cell(4, 0), "walker", "the café")
    assert world.reached(Cell(3, 0), "walker", Cell(3, 0))


def test_a_map_without_a_start_can_be_walked_on_but_not_played() -> None:
    with pytest.raises(InputError, match="the map has no start"):
        grid("A..").start()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MAZE.replace("B", "b"), "4:7: unknown tile `b`"),
        (MAZE.replace("B", "1"), "4:7: unknown tile `1`"),
        (MAZE.replace("A", "@"), "4:2: a second start `@`"),
        (MAZE.replace("A", ".").replace("B", "."), "1: the map has no goal"),
        (MAZE.replace("A", "s"), "2:2: unknown tile `s`"),
        (MAZE + "\nC: the café\n", "7: the map has no goal `C` (there is A, B)"),
        (MAZE + "\nA: café\nB: café\n", "8: a second goal is called `café`"),
        (MAZE + "\nA: \x1b[31m\n", "7: a goal's name is printable"),
        (MAZE + "\nname: café\n", "7:1: unknown key `name`"),
        ("", "1: has no map"),
        ("#" * 65, "1: the map is larger than 64 × 64"),
    ],
)
def test_what_is_wrong_with_a_grid(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        grid(text)
    assert str(caught.value).startswith(f"{HERE}:{message}")


def test_grids_are_told_from_levels_and_kitchens() -> None:
    assert is_text_grid(MAZE)
    assert is_text_grid("A......x\n")
    src = Path(parse_text_grid.__code__.co_filename).parent
    others = [*src.glob("doors_keys_gems/levels/*/*.txt"), *src.glob("overcooked/levels/*/*.txt")]
    assert len(others) > 20
    assert not any(is_text_grid(path.read_text("utf-8")) for path in others)


TILES = st.lists(st.text(alphabet="##...A B", min_size=6, max_size=6), min_size=2, max_size=6)


@given(rows=TILES, seed=st.integers(0, 1000))
def test_a_rational_walker_takes_a_shortest_way(rows: list[str], seed: int) -> None:
    text = "@A...." + "\n" + "\n".join(rows)
    if any(not row.strip() for row in rows):
        return
    world = grid(text)
    start = list(_distances(world, Cell(0, 0)))[seed % len(_distances(world, Cell(0, 0)))]
    for goal, cells in world.places:
        distances = [_distances(world, cell).get(start) for cell in cells]
        nearest = min((d for d in distances if d is not None), default=None)
        if nearest is None:
            continue
        mind, state = RationalAgent(world, "walker", goal, float("inf")).observe(start), start
        for _ in range(nearest):
            state = world.step(state, {"walker": mind.act().mode})
            mind = mind.observe(state)
        assert world.reached(state, "walker", goal)


def _distances(world: TextGrid, target: Cell) -> dict[Cell, int]:
    """Steps to a cell from all that can reach it, by breadth-first search."""
    distances, queue = {target: 0}, deque([target])
    while queue:
        cell = queue.popleft()
        for dx, dy in MOVES.values():
            neighbour = Cell(cell.x + dx, cell.y + dy)
            if world.is_floor(neighbour) and neighbour not in distances:
                distances[neighbour] = distances[cell] + 1
                queue.append(neighbour)
    return distances


def test_an_impossible_step_is_refused() -> None:
    world = grid(MAZE)
    for action in ("left", "fly"):
        with pytest.raises(ValueError, match=f"{action} is impossible at"):
            world.step(Cell(1, 3), {"walker": action})


def test_the_drawing_has_walls_goals_and_the_agent_and_escapes_names() -> None:
    world = grid("A..@\n\nA: <b>\n")
    svg = drawing_of(world).draw(world, world.start(np.random.default_rng(0))).svg()
    root = ElementTree.fromstring(svg)
    assert root.attrib["viewBox"] == "0 0 192 48"
    assert "<b>" not in svg
    assert svg.count("data-part") == 1
    assert picture(world, Cell(3, 0)).plain == " < · · W"
    drawing_of(world).draw(world, Cell(1, 0)).png(io.BytesIO(), cell=12)
