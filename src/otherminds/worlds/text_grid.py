"""A grid drawn as text, on which one agent walks to goals.

    ########
    #A.....#
    #..##..#
    #@.##.B#
    ########

    A: the café

Walls are `#`, floor `.` or a space, goals capital letters, the start `@`, `s` or, without these, `S`. The same letter
in several cells is one goal. After an empty line goals may have names. Coordinates are x to the right and y downwards,
from 0. A walk may begin anywhere, so that the start may be missing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np

from otherminds.errors import InputError, shortened
from otherminds.files.html import pictured
from otherminds.files.text import printable, read_text
from otherminds.worlds import canvas, sprites
from otherminds.worlds.canvas import DIM, PERSON, Drawing, Tile, centre
from otherminds.worlds.grid import Grid
from otherminds.worlds.map_file import FileLine, WorldLevel, read_map
from otherminds.worlds.own_world import FLOOR, WALL, goal_colours
from otherminds.worlds.sprites import CELL, MovingPart, ink_on, sign

LEGEND = ""
WALKER = "walker"  # the agent, if nothing names it
STARTS = "@sS"  # marks of the start; the first of them that is on the map is one
MOVES = {"stay": (0, 0), "up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
LONGEST_NAME = 40  # characters of the name of a goal or an agent; chosen
HORIZON = 200  # steps of a walk that is simulated; chosen


class Cell(NamedTuple):
    """A cell: x to the right and y downwards, from 0."""

    x: int
    y: int


@dataclass(frozen=True)
class TextGrid:
    """A world of one agent and deterministic steps; its state is the agent's cell.

    places: the cells of each goal, by its name. initial: the start, None if the map has none. origin: the number from
    which coordinates count in tables of walks; cells count from 0.
    """

    grid: Grid
    places: tuple[tuple[str, frozenset[Cell]], ...]
    initial: Cell | None = None
    agents: tuple[str, ...] = (WALKER,)
    origin: int = 0

    def __repr__(self) -> str:
        return shortened(f"TextGrid({self.grid.width} × {self.grid.height}; goals {', '.join(self.goals)})", 160)

    def _repr_html_(self) -> str:
        return pictured(draw(self, self.start(np.random.default_rng(0))).svg())

    @property
    def goals(self) -> tuple[str, ...]:
        """The names of the goals, in reading order."""
        return tuple(name for name, _ in self.places)

    @cached_property
    def vocabulary(self) -> dict[str, str]:
        """The actions by their words, which they are."""
        return {action: action for action in MOVES}

    def start(self, rng: np.random.Generator | None = None) -> Cell:
        """The start. Raises InputError if the map has none."""
        if self.initial is None:
            raise InputError("the map has no start", hint="mark a cell with `@`")
        return self.initial

    def is_floor(self, cell: Cell) -> bool:
        """Whether the cell is on the map and no wall."""
        inside = 0 <= cell.x < self.grid.width and 0 <= cell.y < self.grid.height
        return inside and self.grid.is_floor(self.grid.cell(*cell))

    def actions(self, state: Cell, agent: str) -> tuple[str, ...]:
        """To stay, and to step onto floor."""
        return tuple(action for action in MOVES if self.is_floor(_moved(state, action)))

    def step(self, state: Cell, joint: Mapping[str, str], rng: np.random.Generator | None = None) -> Cell:
        """The cell after a step. Raises ValueError for a step that the agent cannot take."""
        (action,) = joint.values()
        if action not in MOVES or not self.is_floor(after := _moved(state, action)):
            raise ValueError(f"{action} is impossible at {tuple(state)}")
        return after

    def observe(self, state: Cell, agent: str) -> Cell:
        """The agent sees where it is."""
        return state

    def reward(self, state: Cell, joint: Mapping[str, str], after: Cell) -> dict[str, float]:
        """0: what is good depends on the goal."""
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: Cell) -> bool:
        """False: an agent may walk on from a goal."""
        return False

    def reached(self, state: Cell, agent: str, goal: Hashable) -> bool:
        """Whether the agent is at the goal, given by its name or as a cell."""
        return state == goal or state in dict(self.places).get(str(goal), ())


def _moved(cell: Cell, action: str) -> Cell:
    dx, dy = MOVES[action]
    return Cell(cell.x + dx, cell.y + dy)


# Files


def is_text_grid(text: str) -> bool:
    """Whether the text of a file is such a grid: its map is mostly walls, floor and capital letters, and no kitchen."""
    lines = [line.rstrip("\r") for line in text.split("\n") if not line.startswith(";")]
    tiles = "".join(takewhile(str.strip, lines))
    known = sum(c in (*WALL, *FLOOR, *STARTS, *ascii_uppercase) for c in tiles)
    return bool(tiles) and not set(tiles) & set(":*/") and 2 * known >= len(tiles)


def read_text_grid(path: Path) -> WorldLevel[TextGrid]:
    """Read a grid. Raises InputError with file, line and column for anything but a map and names of its goals."""
    return parse_text_grid(read_text(path), path)


def parse_text_grid(text: str, path: Path) -> WorldLevel[TextGrid]:
    """Read a grid from text; errors name `path`. Raises InputError like `read_text_grid`."""
    rows, settings = read_map(text, path, {letter: f"{letter}: the café" for letter in ascii_uppercase}, ())
    tiles = {Cell(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row.text)}
    start = next((mark for mark in STARTS if mark in tiles.values()), None)
    for (x, y), tile in tiles.items():
        if tile not in (*WALL, *FLOOR, *ascii_uppercase, start):
            hint = "`#` is a wall, `.` or a space floor, a capital letter a goal, `@` the start"
            raise rows[y].wrong(f"unknown tile `{tile}`", hint, column=x + 1)
    starts = [cell for cell, tile in tiles.items() if tile == start]
    if len(starts) > 1:
        raise rows[starts[1].y].wrong(f"a second start `{start}`", column=starts[1].x + 1)
    letters = list(dict.fromkeys(tile for tile in tiles.values() if tile in ascii_uppercase and tile != start))
    if not letters:
        raise rows[0].wrong("the map has no goal", "write a capital letter into a cell")
    names = _names(letters, settings)
    places = tuple((names[tile], frozenset(cell for cell, t in tiles.items() if t == tile)) for tile in letters)
    width = max(len(row.text) for row in rows)
    floor = {cell for cell, tile in tiles.items() if tile != WALL}
    walls = ((x, y) for y in range(len(rows)) for x in range(width) if (x, y) not in floor)
    initial = starts[0] if starts else None
    return WorldLevel(path.stem, TextGrid(Grid.of(width, len(rows), walls), places, initial), HORIZON)


def _names(letters: Iterable[str], settings: Mapping[str, FileLine]) -> dict[str, str]:
    """The name of each goal by its letter. Raises InputError for a name of a missing goal or one given twice."""
    names = {letter: letter for letter in letters}
    for letter, line in settings.items():
        if not line.text.isprintable() or len(line.text) > LONGEST_NAME:
            raise line.wrong("a goal's name is printable and not long", f"at most {LONGEST_NAME} characters")
        if letter not in names:
            raise line.wrong(f"the map has no goal `{letter}`", f"there is {', '.join(names)}")
        if line.text in names.values() and names[letter] != line.text:
            raise line.wrong(f"a second goal is called `{line.text}`")
        names[letter] = line.text
    return names


# Drawing


def draw(world: TextGrid, state: Cell | None, *, seen_by: str | None = None) -> Drawing:
    """The picture of a state: the map, its goals and, unless the state is None, the agent."""
    area = (0.0, 0.0, float(world.grid.width * CELL), float(world.grid.height * CELL))
    return Drawing(f"A map with {world.agents[0]}", _background(world), moving_parts(world, state), area, crisp=True)


def _background(world: TextGrid) -> sprites.Shapes:
    colours, labels = goal_colours(world), sprites.labels(world.goals)
    marks = [(Cell(*cell), colours[name], labels[name]) for name, cells in world.places for cell in sorted(cells)]
    shapes = [*canvas.ground(world.grid)]
    for cell, colour, label in marks:
        x, y = centre(world.grid, world.grid.cell(*cell))
        shapes += sprites.moved((sprites.Box(-19, -19, 38, 38, colour, 7), sign(0, 0, 24, label, ink_on(colour))), x, y)
    return tuple(shapes)


def moving_parts(world: TextGrid, state: Cell | None) -> list[MovingPart]:
    """The agent, which is all that moves."""
    (name,) = world.agents
    shapes = sprites.person_shapes(0, sprites.labels(world.agents)[name], 15.0)
    place = None if state is None else centre(world.grid, world.grid.cell(*state))
    return [MovingPart("agent-0", name, shapes, place)]


def text_map(world: TextGrid, state: Cell | None, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal, two columns a cell: goals in their colours, the agent by its label."""
    colours, labels = goal_colours(world), sprites.labels(world.goals)
    marks = {cell: (f" {labels[name][0]}", f"bold {colours[name]}") for name, cells in world.places for cell in cells}
    if state is not None:
        marks[state] = (f" {printable(world.agents[0])[:1].upper()}", PERSON)
    walk = [[Cell(x, y) for x in range(world.grid.width)] for y in range(world.grid.height)]
    return [[marks.get(cell, (" ·", DIM) if world.is_floor(cell) else ("██", DIM)) for cell in row] for row in walk]
