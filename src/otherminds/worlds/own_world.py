"""What a world of the user's may say about itself besides its rules, and how it is drawn.

    goals            the possible goals of every agent, or a mapping from each agent to its own
    spell(action)    an action in words; else `str(action)`
    text(state)      a map with one character a cell, `#` for walls, `.` or a space for floor
    draw(state)      an SVG drawing of a fixed size, such as `Drawing.svg()` of `worlds.canvas`; trusted like all code

Every drawn state is one part, the frame. A world without `text` and `draw` is shown by the `str` of its states.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any
from xml.etree import ElementTree

from otherminds.errors import InputError, shortened
from otherminds.files.text import printable
from otherminds.worlds.canvas import DIM, Area, Drawing, Tile, centre, ground
from otherminds.worlds.grid import Grid
from otherminds.worlds.map_file import MAX_SIDE
from otherminds.worlds.sprites import CELL, HUES, INK, Letters, MovingPart, Shapes, TextLine

LEGEND = ""
WALL, FLOOR = "#", " ."
GOAL_COLOURS = tuple(HUES[name] for name in ("red", "blue", "green", "orange", "purple", "cyan", "magenta", "brown"))
LONGEST = 60  # characters of the `str` of a state that a picture shows; chosen
SIDE = 8.0 * CELL  # the longer side of the user's SVG; chosen
SIZE = 0.55 * CELL  # of the characters on a map; chosen
LETTER = 10.0  # width of a character of it, in units of which a cell has 48; chosen
TAG = re.compile(r"<svg\b[^>]*>")
PLACING = re.compile(r"""\s(?:xmlns|x|y|width|height|viewBox)\s*=\s*(?:"[^"]*"|'[^']*')""")


def spell(world: Any, action: Any) -> str:
    """An action in the words of its world."""
    return str(world.spell(action) if hasattr(world, "spell") else action)


def possible_goals(world: Any) -> dict[str, tuple[Hashable, ...]]:
    """The possible goals of each agent; none if the world does not say."""
    goals = getattr(world, "goals", ())
    if isinstance(goals, Mapping):
        return {agent: tuple(goals.get(agent, ())) for agent in world.agents}
    return dict.fromkeys(world.agents, tuple(goals))


def goal_colours(world: Any) -> dict[Hashable, str]:
    """A colour for each possible goal, different ones for the first eight."""
    goals = dict.fromkeys(goal for agent_goals in possible_goals(world).values() for goal in agent_goals)
    return dict(zip(goals, cycle(GOAL_COLOURS), strict=False))


# Drawing


def draw(world: Any, state: Any, *, seen_by: str | None = None) -> Drawing:
    """The picture of a state, or of what one agent observes of it. Raises InputError for what is no SVG, or too large.

    Every state of a world has to be as large as the first one that is shown.
    """
    shown, name = state if seen_by is None else world.observe(state, seen_by), type(world).__name__
    if hasattr(world, "draw"):
        svg, area = _own_svg(str(world.draw(shown)), f"{name}.draw")
        return Drawing(name, (), [MovingPart("frame", "", (), (0.0, 0.0), svg=svg)], area)
    shapes, area = _map_shapes(_rows(world, shown)) if hasattr(world, "text") else _line_shapes(str(shown))
    return Drawing(name, (), [MovingPart("frame", "", shapes, (0.0, 0.0))], area)


def moving_parts(world: Any, state: Any) -> Sequence[MovingPart]:
    """The frame, which shows all of a state."""
    return draw(world, state).parts


def text_map(world: Any, state: Any, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal, two columns a cell."""
    shown = state if seen_by is None else world.observe(state, seen_by)
    if not hasattr(world, "text"):
        return [[(printable(str(shown)), "")]]
    looks = {WALL: ("██", DIM)} | dict.fromkeys(FLOOR, (" ·", DIM))
    return [[looks.get(c, (f" {printable(c)}", "bold")) for c in row] for row in _rows(world, shown)]


def _rows(world: Any, state: Any) -> list[str]:
    """The rows of the map that the world gives for a state, all of the same length."""
    rows = str(world.text(state)).rstrip("\n").split("\n")
    width = max(map(len, rows))
    if max(width, len(rows)) > MAX_SIDE or not width:
        message = f"{type(world).__name__}.text gives a map of {width} × {len(rows)} characters"
        raise InputError(message, hint=f"sides are 1 to {MAX_SIDE} long")
    return [row.ljust(width) for row in rows]


def _line_shapes(text: str) -> tuple[Shapes, Area]:
    """A line of text, and its area."""
    line = TextLine(LETTER, CELL * 0.62, 18, shortened(printable(text), LONGEST), INK, "start")
    return (line,), (0.0, 0.0, LETTER * (LONGEST + 2), float(CELL))


def _map_shapes(rows: Sequence[str]) -> tuple[Shapes, Area]:
    """Walls, floor and characters on it, and their area."""
    tiles = [(x, y, c) for y, row in enumerate(rows) for x, c in enumerate(row)]
    grid = Grid.of(len(rows[0]), len(rows), ((x, y) for x, y, c in tiles if c == WALL))
    letters = (Letters(*centre(grid, grid.cell(x, y)), SIZE, c, INK) for x, y, c in tiles if c not in WALL + FLOOR)
    return (*ground(grid), *letters), (0.0, 0.0, float(grid.width * CELL), float(grid.height * CELL))


def _own_svg(svg: str, name: str) -> tuple[str, Area]:
    """A drawing scaled to SIDE, and its area. Raises InputError if it is no SVG, or does not say how large it is."""
    try:
        root = ElementTree.fromstring(svg)  # noqa: S314  # it comes from the user's own code
    except ElementTree.ParseError as error:
        raise InputError(f"{name} gives no SVG: {error}", hint="return `<svg viewBox='0 0 100 100'>…</svg>`") from None
    size = root.get("viewBox") or f"0 0 {root.get('width', '')} {root.get('height', '')}"
    numbers = re.findall(r"-?\d+(?:\.\d+)?", size)
    tag = TAG.search(svg)
    if len(numbers) != 4 or tag is None or min(float(numbers[2]), float(numbers[3])) <= 0.0:
        raise InputError(f"{name} gives SVG of no size", hint="begin with `<svg viewBox='0 0 100 100'>`")
    width, height = float(numbers[2]), float(numbers[3])
    scale = SIDE / max(width, height)
    place = f'width="{width * scale:g}" height="{height * scale:g}" viewBox="{" ".join(numbers)}"'
    opening = PLACING.sub("", tag.group()).replace("<svg", f"<svg {place}", 1)
    return opening + svg[tag.end() :], (0.0, 0.0, width * scale, height * scale)
