"""Drawing kitchens, all of a state or the view of one agent: pictures, and maps for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from otherminds.worlds import sprites
from otherminds.worlds.canvas import DIM, PERSON, Drawing, Tile, centre, runs
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.kitchen import BOARD, COUNTER, DELIVERY, DOOR, FLOOR, NOTHING, PLATE, WALL, parts
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked, State
from otherminds.worlds.sprites import CELL, INK, PAPER, Box, Disc, Letters, MovingPart, Polygon, Shapes, mix, moved

MARGIN = 18  # width of the margin for the numbers of rows and columns
FOG_PATH = f'<path class="fog" data-fog="" fill="{sprites.FOG}" fill-opacity="0.7" d=""/>'
SALADS = {"Salad": "#e0a526", "OnionSalad": "#2f8492"}


# Squares, drawn around (0, 0)


SQUARES: dict[str, Shapes] = {
    FLOOR: sprites.FLOOR_SQUARE,
    WALL: sprites.block(sprites.WALL, sprites.FRONT),
    COUNTER: sprites.COUNTER_SQUARE,
    BOARD: (
        *sprites.block(sprites.WOOD, sprites.RIM),
        Box(-18, -17, 36, 30, "#f4e4c1", 5, mix(sprites.RIM, INK, 0.25)),
        Polygon(((-13, -10), (9, -10), (12, -6), (-13, -6)), "#c6ccd2", sprites.GREY),
        Box(-16, -11, 7, 6, INK, 2),
    ),
    DELIVERY: sprites.DELIVERY_SQUARE,
    DOOR: (*sprites.FLOOR_SQUARE, Box(-13, -13, 26, 26, "#c9d3c0", 3)),
}
_ACROSS: Shapes = (Box(-24, -24, 48, 6, sprites.RIM), Box(-24, 18, 48, 6, sprites.RIM))
_UPRIGHT: Shapes = (Box(-24, -24, 6, 48, sprites.RIM), Box(18, -24, 6, 48, sprites.RIM))


def background(world: Overcooked, *, seen_from: int | None = None) -> Shapes:
    """Every square in its place; squares that are not seen from the square `seen_from`, if any, are dim."""
    layout = world.layout
    dim = set() if seen_from is None else out_of_sight(world, seen_from)
    drawn: list[sprites.Shape] = []
    for y, row in enumerate(layout.rows):
        for x, tile in enumerate(row):
            cell = layout.grid.cell(x, y)
            shapes = door(leads_across(world, cell)) if tile == DOOR else SQUARES[tile]
            if cell in dim:
                shapes = tuple(map(sprites.dimmed, shapes))
            drawn += moved(shapes, *centre(layout.grid, cell))
    return tuple(drawn)


def out_of_sight(world: Overcooked, viewpoint: int) -> set[int]:
    """The squares that are not seen from a square; walls count as seen from everywhere."""
    layout = world.layout
    cells = layout.cells(FLOOR, COUNTER, BOARD, DELIVERY, DOOR)
    return {cell for cell in cells if not layout.sight[cell] & layout.sight[viewpoint]}


def leads_across(world: Overcooked, cell: int) -> bool:
    """Whether agents pass this door from left to right, rather than up or down."""
    grid = world.layout.grid
    return grid.is_floor(cell - 1) or grid.is_floor(cell + 1)


def door(across: bool) -> Shapes:
    """A door, with posts on the sides that agents do not walk through."""
    return SQUARES[DOOR] + (_ACROSS if across else _UPRIGHT)


# Things, drawn around (0, 0)


def thing_shapes(thing: int) -> Shapes:
    """A food, a plate, or a dish: chopped foods side by side, on a plate if it has one."""
    foods = [name.split()[1] for name in parts(thing) if name != "plate"]
    if thing in kitchen.FRESH.values():
        return sprites.fresh_food(foods[0])
    drawn: list[sprites.Shape] = [*sprites.PLATE_SHAPES] if thing & PLATE else []
    radius, size = (0.0, 12.0) if len(foods) == 1 else (8.0, 7.5)
    for n, food in enumerate(foods):  # one in the middle, several in a ring
        angle = math.tau * n / len(foods) - math.pi / 2 * (len(foods) != 2)
        drawn += moved(_chopped(food, size), radius * math.cos(angle), radius * math.sin(angle))
    return tuple(drawn)


def _chopped(food: str, size: float) -> Shapes:
    """Pieces of a food with its letter: slices of tomato, strips of lettuce, rings of onion."""
    colour = sprites.FOOD_HUES[food]
    edge, leaf, flesh = mix(colour, INK, 0.4), mix(colour, PAPER, 0.3), mix(colour, PAPER, 0.55)
    drawn: list[sprites.Shape] = []
    for n in range(3):
        angle = math.tau * n / 3 + math.pi / 6
        x, y, r = 0.55 * size * math.cos(angle), 0.55 * size * math.sin(angle), 0.6 * size
        if food == "lettuce":
            drawn.append(Polygon(((x - r, y), (x, y - 0.6 * r), (x + r, y), (x, y + 0.6 * r)), leaf, edge))
        else:
            drawn += (Disc(x, y, r, colour, edge), Disc(x, y, 0.6 * r, flesh))
    return (*drawn, Letters(0, 0, 1.15 * size, food[0].upper(), INK))


def recipe_mark(recipe: str) -> tuple[str, str]:
    """The letters of the foods of a recipe, and its colour: that of the food if it has only one."""
    foods = [name.split()[1] for name in parts(kitchen.RECIPES[recipe]) if name != "plate"]
    return "".join(food[0].upper() for food in foods), SALADS.get(recipe, sprites.FOOD_HUES[foods[0]])


_TRAY: Shapes = (Box(-24, -24, 48, 40, sprites.STEEL), Box(-22, 12, 44, 6, INK, 3))


# What is where


def moving_parts(world: Overcooked, state: State | KitchenView) -> Iterator[MovingPart]:
    """Everything that may change, in the order of drawing; a part that is missing or not seen has no place.

    Parts: `counter-k` the thing on it, `delivery-d` the dishes delivered, `agent-i`, `held-i` the thing in hand.
    """
    grid = world.layout.grid
    for k, (cell, thing) in enumerate(zip(world.layout.counters, state.on, strict=True)):
        yield MovingPart(f"counter-{k}", *_title_and_shapes(thing), centre(grid, cell) if thing > NOTHING else None)
    for d, (cell, delivered) in enumerate(zip(world.layout.deliveries, state.delivered, strict=True)):
        dishes = delivered or ()
        drawn = [*_TRAY]  # dishes side by side, each partly over the one before
        for n, dish in enumerate(dishes):
            drawn += moved(thing_shapes(dish), 12.0 * n - 6.0 * (len(dishes) - 1), -2.0)
        title = "; ".join(_title_and_shapes(dish)[0] for dish in dishes)
        yield MovingPart(f"delivery-{d}", title, tuple(drawn), centre(grid, cell) if dishes else None, 0.8)
    people, places = sprites.labels(world.agents), [_standing(world, state, i) for i in range(len(world.agents))]
    for i, name in enumerate(world.agents):
        yield MovingPart(f"agent-{i}", name, sprites.person_shapes(i, people[name]), places[i])
    for i, (thing, place) in enumerate(zip(state.hands, places, strict=True)):
        title, shapes = _title_and_shapes(thing)
        hand_place = (place[0] + 15, place[1] + 12) if place and thing > NOTHING else None
        yield MovingPart(f"held-{i}", title, sprites.badge(shapes), hand_place, sprites.HELD)


def _title_and_shapes(thing: int) -> tuple[str, Shapes]:
    """A thing in words and as shapes; both are empty for NOTHING and UNSEEN."""
    return (", ".join(parts(thing)), thing_shapes(thing)) if thing > NOTHING else ("", ())


def _standing(world: Overcooked, state: State | KitchenView, i: int) -> sprites.Place | None:
    """The place of an agent: the middle of its square, or beside other agents on the same square."""
    if state.cells[i] == UNSEEN:
        return None
    x, y = centre(world.layout.grid, state.cells[i])
    occupants = [j for j, cell in enumerate(state.cells) if cell == state.cells[i]]
    return x + 9.0 * occupants.index(i) - 4.5 * (len(occupants) - 1), y


class Fog(NamedTuple):
    """What an agent does not see: the outline of these squares as an SVG path, and the parts hidden there."""

    outline: str
    parts: tuple[str, ...]


def fog(world: Overcooked, state: State, agent: str) -> Fog:
    """The fog for an agent: the rest of the drawing is what it observes."""
    view, grid = world.observe(state, agent), world.layout.grid
    dim = out_of_sight(world, state.cells[world.agents.index(agent)])
    outline = (
        f"M{start * CELL} {y * CELL}h{(end - start) * CELL}v{CELL}H{start * CELL}z"
        for y in range(grid.height)
        for start, end in runs([grid.cell(x, y) in dim for x in range(grid.width)])
    )
    people = [i for i, cell in enumerate(view.cells) if cell == UNSEEN]
    hidden = (
        *(f"counter-{k}" for k, thing in enumerate(view.on) if thing == UNSEEN),
        *(f"delivery-{d}" for d, dishes in enumerate(view.delivered) if dishes is None),
        *(f"{kind}-{i}" for kind in ("agent", "held") for i in people),
    )
    return Fog("".join(outline), hidden)


def draw(world: Overcooked, state: State, *, seen_by: str | None = None, numbered: bool = False) -> Drawing:
    """The picture of a state, all of it or what one agent sees; `numbered` shows the numbers of rows and columns.

    The SVG has a `<path data-fog>` in which a script can outline what lies in the fog.
    """
    viewpoint = None if seen_by is None else state.cells[world.agents.index(seen_by)]
    visible = state if seen_by is None else world.observe(state, seen_by)
    grid, margin, squares = world.layout.grid, MARGIN if numbered else 0, background(world, seen_from=viewpoint)
    if numbered:
        columns = (Letters(x * CELL + sprites.HALF, -MARGIN / 2, 12, str(x), sprites.GREY) for x in range(grid.width))
        rows = (Letters(-MARGIN / 2, y * CELL + sprites.HALF, 12, str(y), sprites.GREY) for y in range(grid.height))
        squares = (*squares, *columns, *rows)
    area = (-margin, -margin, grid.width * CELL + margin, grid.height * CELL + margin)
    label = "A kitchen with " + ", ".join(world.agents)
    return Drawing(label, squares, tuple(moving_parts(world, visible)), area, overlay=FOG_PATH)


# In a terminal

WIDTH = 4  # characters of a square
FILLS: Mapping[str, str] = {FLOOR: " ", WALL: "█", COUNTER: "░", BOARD: "/", DELIVERY: "*", DOOR: " "}
BARE: Mapping[str, str] = {FLOOR: " ·  ", DOOR: " ∩  "}
STYLES: Mapping[str, str] = {
    FLOOR: DIM,
    WALL: DIM,
    COUNTER: "#a0805a",
    BOARD: "#e69f00",
    DELIVERY: "#56b4e9",
    DOOR: "#009e73",
}
LEGEND = """
░ counter  / board  * delivery  ∩ door  █ wall  ? not seen
t l o fresh tomato, lettuce, onion  T L O chopped  ( ) plate"""


def text_map(world: Overcooked, state: State, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal, with the numbers of columns and rows; floor that is not seen is blank."""
    view: State | KitchenView = state if seen_by is None else world.observe(state, seen_by)
    fog = set() if seen_by is None else out_of_sight(world, state.cells[world.agents.index(seen_by)])
    layout, grid = world.layout, world.layout.grid
    content = {cell: _letters(thing) for cell, thing in zip(layout.counters, view.on, strict=True)}
    for cell, dishes in zip(layout.deliveries, view.delivered, strict=True):
        if dishes is not None and len(dishes) > 1:
            content[cell] = [(f"×{len(dishes)}", "bold")]
        else:
            content[cell] = _letters(UNSEEN if dishes is None else sum(dishes))
    people = sprites.labels(world.agents).values()
    for label, cell, thing in zip(people, view.cells, view.hands, strict=True):
        content[cell] = [(label, PERSON), *_letters(thing)]
    margin = len(str(grid.height - 1))
    rows: list[list[Tile]] = [[(" " * margin, DIM), *((f"  {x}".ljust(WIDTH), DIM) for x in range(grid.width))]]
    for y, tiles in enumerate(layout.rows):
        rows.append([(f"{y:>{margin}} ", DIM)])
        for x, tile in enumerate(tiles):
            cell = grid.cell(x, y)
            rows[-1] += _text_square(tile, content.get(cell, []), cell in fog)
    return rows


def _letters(thing: int) -> list[Tile]:
    """The letters of foods, capitals if they are chopped, between brackets if they are on a plate."""
    if thing == UNSEEN:
        return [("?", DIM)]
    foods = [name.split()[1] for name in parts(thing) if name != "plate"]
    letters = [
        (f[0] if thing in kitchen.FRESH.values() else f[0].upper(), f"bold {sprites.FOOD_HUES[f]}") for f in foods
    ]
    return [("(", "bold"), *letters, (")", "bold")] if thing & PLATE else letters


def _text_square(tile: str, content: Sequence[Tile], hidden: bool) -> list[Tile]:
    """One square of WIDTH characters; a dish too large for it is cut off."""
    style, fill = DIM if hidden else STYLES[tile], FILLS[tile]
    if not content:
        return [(fill * WIDTH if hidden else BARE.get(tile, fill * WIDTH), style)]
    length = sum(len(text) for text, _ in content)
    if length > WIDTH:
        return [*content[: WIDTH - 1], ("…", style)]
    indent = int(length < WIDTH)
    return [(fill * indent, style), *content, (fill * (WIDTH - indent - length), style)]
