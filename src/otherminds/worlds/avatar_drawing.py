"""Drawing avatars: players that face a direction, what they hold, and a line for each of them below the map.

Shared by the worlds in the manner of Melting Pot. A world draws its own squares and items; here are the players.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otherminds.errors import shortened
from otherminds.files.text import printable
from otherminds.worlds import sprites
from otherminds.worlds.canvas import PERSON, Drawing, Tile, centre
from otherminds.worlds.grid import Grid
from otherminds.worlds.sprites import CELL, INK, PAPER, Box, Disc, Letters, MovingPart, Shape, Shapes, moved

READY, FROZEN, DEAD = "ready", "frozen", "dead"
BODIES = (*sprites.PEOPLE, "#5b3a8e", "#0b4f6c", "#8a3b12", "#3c5a14")
GOLD, ICE = "#f2c230", "#c9e8fb"
DIRECTIONS = ("north", "east", "south", "west")
ARROWS = "▲▶▼◀"
MARKS = {READY: "*", FROZEN: "#"}
# Lengths in the lines below the map, in units of which a cell has 48; chosen to fit names such as player_0
NOTE, NAME, HOLDING = 52, 156, 132  # height of a line, width of a name, width of an item
LONGEST = 12  # characters of a name or an item that are shown
ICE_BLOCK: Shapes = (
    Box(-22.5, -22.5, 45, 45, ICE, 7, sprites.HUES["blue"]),
    sprites.Polygon(((-18, -9), (-9, -18), (-4, -18), (-18, -4)), PAPER),
)


class Avatar(NamedTuple):
    """A player on the map: its number, cell and facing (0 north, clockwise), its status, and the item in its hand."""

    number: int
    cell: int
    facing: int
    status: str = ""
    item: str = ""


class Note(NamedTuple):
    """The line below the map on one player: its number, its status, and its items in words, each with a sprite."""

    number: int
    status: str
    items: tuple[tuple[str, Shapes], ...]

    def sentence(self, agents: Sequence[str]) -> str:
        """The line in words: `player_0, ready: rock 1 paper 6 scissors 1`."""
        name = ", ".join(filter(None, (printable(agents[self.number]), self.status)))
        return f"{name}: {' '.join(words for words, _ in self.items)}"


def avatar_labels(agents: Sequence[str]) -> dict[str, str]:
    """The label on each avatar: the number at the end of its name if all names have different ones, or its initials."""
    numbers = [re.search(r"\d{1,2}$", name, re.ASCII) for name in agents]
    labels = {name: number.group() for name, number in zip(agents, numbers, strict=True) if number}
    return labels if len(set(labels.values())) == len(agents) else sprites.labels(agents)


def avatar_shapes(number: int, label: str, facing: int, status: str = "") -> Shapes:
    """An avatar that points ahead and carries a label: in a golden ring if it is READY, in a block of ice if FROZEN."""
    rims = ((19.5, 25.5, sprites.mix(GOLD, INK, 0.6)), (18, 24, GOLD)) if status == READY else ((16, 24.5, PAPER),)
    drawn: list[Shape] = [*ICE_BLOCK] if status == FROZEN else []
    for radius, tip, fill in (*rims, (14, 21.5, BODIES[number % len(BODIES)])):
        # a disc with a point at the distance `tip` from its middle
        angle = math.acos(radius / tip)
        x, y = round(radius * math.sin(angle), 1), round(radius * math.cos(angle), 1)
        drawn += (sprites.Polygon(_turned(((-x, -y), (0, -tip), (x, -y)), facing), fill), Disc(0, 0, radius, fill))
    return (*drawn, Letters(0, 0, 18 if len(label) == 1 else 13, label, PAPER))


def _turned(points: tuple[sprites.Place, ...], facing: int) -> tuple[sprites.Place, ...]:
    """Points drawn for an avatar that faces north, turned clockwise by `facing` quarters."""
    for _ in range(facing):
        points = tuple((-y, x) for x, y in points)
    return points


def avatar_parts(
    grid: Grid, agents: Sequence[str], avatars: Iterable[Avatar], items: Mapping[str, Shapes]
) -> Iterator[MovingPart]:
    """The parts `agent-i`, each followed by `held-i` if it holds an item of these sprites."""
    signs = avatar_labels(agents)
    for number, cell, facing, status, item in sorted(avatars):
        name, (x, y) = agents[number], centre(grid, cell)
        title = ", ".join(filter(None, (name, f"facing {DIRECTIONS[facing]}", status)))
        yield MovingPart(f"agent-{number}", title, avatar_shapes(number, signs[name], facing, status), (x, y))
        if item:
            ((dx, dy),) = _turned(((14, 12),), facing)  # the right hand, behind the point that shows ahead
            yield MovingPart(f"held-{number}", item, sprites.badge(items[item]), (x + dx, y + dy), sprites.HELD)


def with_notes(
    what: str,
    seen_by: str | None,
    grid: Grid,
    agents: Sequence[str],
    background: Shapes,
    parts: Iterable[MovingPart],
    notes: Sequence[Note],
    crisp: bool,
) -> Drawing:
    """A drawing of a map, or of what one agent sees of it, and a part `note-i` below it for each note.

    Notes are in as many columns as fit. Each shows the avatar, its name and status, and its items as sprites and in
    words. `what` is on the map, for screen readers.
    """
    note_width = NAME + HOLDING * len(notes[0].items)
    columns, signs, middle = max(1, grid.width * CELL // note_width), avatar_labels(agents), NOTE / 2
    drawn, label = [*parts], f"{what} with {', '.join(agents)}{f', as {seen_by} sees it' if seen_by else ''}"
    for n, note in enumerate(notes):
        name = agents[note.number]
        shown = shortened(name, LONGEST)
        shapes = [
            *moved(avatar_shapes(note.number, signs[name], 0, note.status), 28, middle),
            Letters(102, middle - 7 * bool(note.status), min(15, 130 / len(shown)), shown, INK),
            Letters(102, middle + 11, 13, note.status, sprites.GREY),
        ]
        for k, (words, sprite) in enumerate(note.items):
            shapes += moved(sprite, NAME + HOLDING * k + 18, middle)
            shapes.append(Letters(NAME + HOLDING * k + 82, middle, 13, shortened(words, LONGEST), INK))
        place = note_width * (n % columns), grid.height * CELL + NOTE * (n // columns)
        drawn.append(MovingPart(f"note-{note.number}", note.sentence(agents), tuple(shapes), place))
    width = max(grid.width * CELL, columns * note_width)
    height = grid.height * CELL + NOTE * -(-len(notes) // columns)
    return Drawing(label, (Box(0, 0, width, height, PAPER), *background), drawn, (0, 0, width, height), crisp)


def text_map(
    grid: Grid, agents: Sequence[str], squares: Mapping[int, Tile], avatars: Iterable[Avatar], notes: Iterable[Note]
) -> list[list[Tile]]:
    """The rows of a map for a terminal, three characters a cell, with the avatars on it and the notes below it."""
    tiles = dict(squares)
    for number, cell, facing, status, item in avatars:
        tiles[cell] = f"{ARROWS[facing]}{number}{item[:1] or MARKS.get(status, ' ')}", PERSON
    rows = [[tiles[cell] for cell in row] for row in grid.rows]
    return [*rows, *([(f"{note.number} {note.sentence(agents)}", "")] for note in notes)]
