"""Shapes, colours, and the sprites made of them that several worlds share: people, food, and squares of kitchens.

Colours follow the palette of Okabe and Ito. Every item also has a shape of its own and carries a letter, so that
nothing depends on seeing colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

from otherminds.files.text import printable

# Lengths are in units of which a cell has 48; they and the colours are chosen for legibility.
CELL = 48  # side of a cell
HALF = CELL / 2
HELD = 0.56  # scale of an item that an agent carries
EDGE = 1.5  # width of an outline
GREY = "#8a8f98"
INK = "#1b1e23"
PAPER = "#ffffff"
FLOOR = "#f5f3ee"
LINES = "#e5e1d8"
WALL = "#a3a9b1"
FRONT = "#8a9099"
THEMED = {FLOOR: "floor", LINES: "lines", WALL: "wall", FRONT: "front"}
HUES = {
    "red": "#cf4500",
    "blue": "#0072b2",
    "yellow": "#f0e442",
    "green": "#009e73",
    "purple": "#7e57a8",
    "orange": "#e69f00",
    "cyan": "#56b4e9",
    "magenta": "#cc79a7",
    "brown": "#86592d",
    "white": "#fafafa",
}
FOG = "#b9bcc2"
WOOD = "#d8b98c"
RIM = "#b8935f"
STEEL = "#9fb4bd"
PEOPLE = ("#2b2d5b", "#7a1f45", "#1f4d46", "#5c4313", "#43474d")

Place = tuple[float, float]


class Box(NamedTuple):
    """A rectangle with its upper left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0
    outline: str = "none"


class Disc(NamedTuple):
    """A filled circle around (x, y)."""

    x: float
    y: float
    radius: float
    fill: str
    outline: str = "none"


class Polygon(NamedTuple):
    """A filled outline through points."""

    points: tuple[Place, ...]
    fill: str
    outline: str = "none"


class Letters(NamedTuple):
    """A short text centred on (x, y)."""

    x: float
    y: float
    size: float
    text: str
    fill: str


class TextLine(NamedTuple):
    """A line of text with its baseline at y, which starts, is centred or ends at x."""

    x: float
    y: float
    size: float
    text: str
    fill: str
    anchor: Literal["start", "middle", "end"] = "middle"
    bold: bool = False


Shape = Box | Disc | Polygon | Letters | TextLine
Shapes = tuple[Shape, ...]


class MovingPart(NamedTuple):
    """A part of a picture that may move or vanish: shapes around (0, 0), and their place (None: hidden).

    `svg` is what a world of the user's draws itself, shown as it is in SVG and not at all in pixels.
    """

    name: str
    title: str
    shapes: Shapes
    place: Place | None
    scale: float = 1.0
    svg: str = ""


# Words


def labels(names: Iterable[str]) -> dict[str, str]:
    """A label of one to three characters for each name, no two alike: R, G, or Bl and Br."""
    distinct = list(dict.fromkeys(names))
    for length in (1, 2, 3):
        short = [printable(name).strip()[:length].capitalize() or "?" for name in distinct]
        if len(set(short)) == len(short):
            return dict(zip(distinct, short, strict=True))
    return {name: f"{printable(name)[:1].upper()}{i}" for i, name in enumerate(distinct, 1)}


def hue(colour: str) -> str:
    """The colour of a name; grey if the name is unknown."""
    return HUES.get(colour, GREY)


def ink_on(colour: str) -> str:
    """Black or white, the one that can be read on the colour."""
    red, green, blue = _rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else PAPER


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def mix(first: str, second: str, share: float) -> str:
    """A colour between two others, at a share in [0, 1] from the first to the second."""
    channels = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in channels)


# Sprites


def sign(x: float, y: float, size: float, text: str, fill: str) -> Letters:
    """Letters centred on (x, y), smaller if there are two or three."""
    return Letters(x, y, size * (1.0, 0.78, 0.6)[min(len(text), 3) - 1], text, fill)


def person_shapes(i: int, label: str, radius: float = 16.0) -> Shapes:
    """A person as a token with an initial."""
    return Disc(0, 0, radius, PEOPLE[i % len(PEOPLE)], PAPER), sign(0, 0, radius * 1.15, label, PAPER)


def badge(sprite: Shapes) -> Shapes:
    """An item as it is drawn beside the agent that carries it."""
    return (Disc(0, 0, 22, PAPER, FRONT), *sprite)


def moved(shapes: Shapes, dx: float, dy: float) -> Iterator[Shape]:
    """Shapes moved by (dx, dy)."""
    for shape in shapes:
        if isinstance(shape, Polygon):
            yield shape._replace(points=tuple((x + dx, y + dy) for x, y in shape.points))
        else:
            yield shape._replace(x=shape.x + dx, y=shape.y + dy)


def dimmed(shape: Shape) -> Shape:
    """A shape in the fog."""
    faded = shape._replace(fill=mix(shape.fill, FOG, 0.7))
    if isinstance(faded, Letters | TextLine) or faded.outline == "none":
        return faded
    return faded._replace(outline=mix(faded.outline, FOG, 0.7))


# Kitchens


def square(fill: str) -> Box:
    """A whole cell."""
    return Box(-HALF, -HALF, CELL, CELL, fill)


def block(top: str, edge: str) -> Shapes:
    """A square that blocks the way, seen from above and a little from the front."""
    return (square(edge), Box(1 - HALF, 1 - HALF, CELL - 2, CELL - 6, top, 2))


FLOOR_SQUARE: Shapes = (square(LINES), Box(1 - HALF, 1 - HALF, CELL - 2, CELL - 2, FLOOR))
COUNTER_SQUARE = block(WOOD, RIM)
DELIVERY_SQUARE: Shapes = (
    *block(STEEL, mix(STEEL, INK, 0.35)),
    Disc(0, -14, 3, INK),
    Disc(0, 3, 15, "#e8c547", INK),
    Box(-20, 3, 40, 18, STEEL),
    Box(-18, 3, 36, 5, INK, 2),
)
PLATE_SHAPES: Shapes = (Disc(0, 0, 18, PAPER, GREY), Disc(0, 0, 12.5, "#eef1f4"))
FOOD_HUES = {"tomato": "#d8412f", "lettuce": "#5aa02c", "onion": "#b48ac4"}


def fresh_food(food: str) -> Shapes:
    """A whole tomato, lettuce or onion with its letter."""
    colour = FOOD_HUES[food]
    edge = mix(colour, INK, 0.45)
    leaf = mix(FOOD_HUES["lettuce"], INK, 0.25)
    looks = {
        "tomato": (Disc(0, 1, 15, colour, edge), Polygon(((-8, -13), (0, -10), (8, -13), (3, -7), (-3, -7)), leaf)),
        "lettuce": (
            *(Disc(10 * math.cos(a), 10 * math.sin(a), 7, colour, edge) for a in (math.tau * n / 7 for n in range(7))),
            Disc(0, 0, 11, mix(colour, PAPER, 0.25)),
        ),
        "onion": (Polygon(((-5, -11), (0, -20), (5, -11)), edge), Disc(0, 2, 14, colour, edge)),
    }
    fill = mix(colour, PAPER, 0.25) if food == "lettuce" else colour
    return (*looks[food], Letters(0, 2, 17, food[0].upper(), ink_on(fill)))
