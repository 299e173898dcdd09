"""What a kitchen looks like, to everybody or to one agent: one description of the drawing, shown as SVG or as PNG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from otherminds.worlds.canvas import painted, runs, save_png, svg_part, svg_shape, svg_text
from otherminds.worlds.overcooked.kitchen import (
    BOARD,
    COUNTER,
    DELIVERY,
    DOOR,
    FLOOR,
    FRESH,
    NOTHING,
    PLATE,
    RECIPES,
    WALL,
    parts,
)
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked, State
from otherminds.worlds.sprites import (
    CELL,
    FOG,
    FRONT,
    GREY,
    HALF,
    HELD,
    INK,
    LINES,
    PAPER,
    RIM,
    STEEL,
    WOOD,
    Box,
    Disc,
    Letters,
    Part,
    Place,
    Polygon,
    Shape,
    Shapes,
    _square,
    badge,
    block,
    dimmed,
    ink_on,
    labels,
    mix,
    moved,
    person_shapes,
)
from otherminds.worlds.sprites import FLOOR as GROUND
from otherminds.worlds.sprites import WALL as STONE

MARGIN = 18
FOG_PATH = f'<path class="fog" data-fog="" fill="{FOG}" fill-opacity="0.7" d=""/>'
HUES = {"tomato": "#d8412f", "lettuce": "#5aa02c", "onion": "#b48ac4"}
LETTERS = {food: food[0].upper() for food in HUES}
SALADS = {"Salad": "#e0a526", "OnionSalad": "#2f8492"}


# Squares, drawn around (0, 0)


_GROUND: Shapes = (_square(LINES), Box(1 - HALF, 1 - HALF, CELL - 2, CELL - 2, GROUND))
SQUARES: dict[str, Shapes] = {
    FLOOR: _GROUND,
    WALL: block(STONE, FRONT),
    COUNTER: block(WOOD, RIM),
    BOARD: (
        *block(WOOD, RIM),
        Box(-18, -17, 36, 30, "#f4e4c1", 5, mix(RIM, INK, 0.25)),
        Polygon(((-13, -10), (9, -10), (12, -6), (-13, -6)), "#c6ccd2", GREY),
        Box(-16, -11, 7, 6, INK, 2),
    ),
    DELIVERY: (
        *block(STEEL, mix(STEEL, INK, 0.35)),
        Disc(0, -14, 3, INK),
        Disc(0, 3, 15, "#e8c547", INK),
        Box(-20, 3, 40, 18, STEEL),
        Box(-18, 3, 36, 5, INK, 2),
    ),
    DOOR: (*_GROUND, Box(-13, -13, 26, 26, "#c9d3c0", 3)),
}
_ACROSS: Shapes = (Box(-24, -24, 48, 6, RIM), Box(-24, 18, 48, 6, RIM))
_UPRIGHT: Shapes = (Box(-24, -24, 6, 48, RIM), Box(18, -24, 6, 48, RIM))


def background(world: Overcooked, *, seen_from: int | None = None) -> Shapes:
    """What never changes, every square in its place; what is not seen from the square `seen_from`, if any, is dim."""
    layout = world.layout
    dim = set() if seen_from is None else out_of_sight(world, seen_from)
    drawn: list[Shape] = []
    for y, row in enumerate(layout.rows):
        for x, tile in enumerate(row):
            cell = layout.grid.cell(x, y)
            shapes = door(leads_across(world, cell)) if tile == DOOR else SQUARES[tile]
            drawn += moved(tuple(map(dimmed, shapes)) if cell in dim else shapes, *_centre(world, cell))
    return tuple(drawn)


def out_of_sight(world: Overcooked, here: int) -> set[int]:
    """The squares that are not seen from a square; walls count as seen from everywhere."""
    layout = world.layout
    cells = layout.cells(FLOOR, COUNTER, BOARD, DELIVERY, DOOR)
    return {cell for cell in cells if not layout.sight[cell] & layout.sight[here]}


def leads_across(world: Overcooked, cell: int) -> bool:
    """Whether people walk through this door from left to right, rather than up or down."""
    grid = world.layout.grid
    return grid.is_floor(cell - 1) or grid.is_floor(cell + 1)


def door(across: bool) -> Shapes:
    """A door, with posts on the sides that people do not walk through."""
    return SQUARES[DOOR] + (_ACROSS if across else _UPRIGHT)


def _centre(world: Overcooked, cell: int) -> Place:
    x, y = world.layout.grid.xy(cell)
    return x * CELL + HALF, y * CELL + HALF


# Things, drawn around (0, 0)


def thing_shapes(thing: int) -> Shapes:
    """A food, a plate, or what has been put together: foods side by side, on a plate if there is one."""
    foods = [name.split()[1] for name in parts(thing) if name != "plate"]
    plate = (Disc(0, 0, 18, PAPER, GREY), Disc(0, 0, 12.5, "#eef1f4")) if thing & PLATE else ()
    if thing in FRESH.values():
        return _fresh(foods[0])
    return (*plate, *(shape for food, at, size in _spread(foods) for shape in moved(_chopped(food, size), *at)))


def _spread(foods: list[str]) -> Iterator[tuple[str, Place, float]]:
    """Where each food lies, and how large it is drawn: one in the middle, more of them in a ring."""
    radius, size = (0.0, 12.0) if len(foods) == 1 else (8.0, 7.5)
    for n, food in enumerate(foods):
        angle = math.tau * n / len(foods) - math.pi / 2 * (len(foods) != 2)
        yield food, (radius * math.cos(angle), radius * math.sin(angle)), size


def _fresh(food: str) -> Shapes:
    colour = HUES[food]
    edge = mix(colour, INK, 0.45)
    leaf = mix(HUES["lettuce"], INK, 0.25)
    looks = {
        "tomato": (Disc(0, 1, 15, colour, edge), Polygon(((-8, -13), (0, -10), (8, -13), (3, -7), (-3, -7)), leaf)),
        "lettuce": (
            *(Disc(10 * math.cos(a), 10 * math.sin(a), 7, colour, edge) for a in (math.tau * n / 7 for n in range(7))),
            Disc(0, 0, 11, mix(colour, PAPER, 0.25)),
        ),
        "onion": (Polygon(((-5, -11), (0, -20), (5, -11)), edge), Disc(0, 2, 14, colour, edge)),
    }
    fill = mix(colour, PAPER, 0.25) if food == "lettuce" else colour
    return (*looks[food], Letters(0, 2, 17, LETTERS[food], ink_on(fill)))


def _chopped(food: str, size: float) -> Shapes:
    """Pieces of a food with its letter: slices of tomato, strips of lettuce, rings of onion."""
    colour = HUES[food]
    edge, leaf, flesh = mix(colour, INK, 0.4), mix(colour, PAPER, 0.3), mix(colour, PAPER, 0.55)
    drawn: list[Shape] = []
    for n in range(3):
        angle = math.tau * n / 3 + math.pi / 6
        x, y, r = 0.55 * size * math.cos(angle), 0.55 * size * math.sin(angle), 0.6 * size
        if food == "lettuce":
            drawn.append(Polygon(((x - r, y), (x, y - 0.6 * r), (x + r, y), (x, y + 0.6 * r)), leaf, edge))
        else:
            drawn += (Disc(x, y, r, colour, edge), Disc(x, y, 0.6 * r, flesh))
    return (*drawn, Letters(0, 0, 1.15 * size, LETTERS[food], INK))


def recipe_mark(recipe: str) -> tuple[str, str]:
    """The letters of the foods that belong into a dish, and its colour: that of the food if there is only one."""
    foods = [name.split()[1] for name in parts(RECIPES[recipe]) if name != "plate"]
    return "".join(LETTERS[food] for food in foods), SALADS.get(recipe, HUES[foods[0]])


_TRAY: Shapes = (Box(-24, -24, 48, 40, STEEL), Box(-22, 12, 44, 6, INK, 3))


# What is where


def drawing(world: Overcooked, state: State | KitchenView) -> Iterator[Part]:
    """Everything that may change, in the order in which it is drawn; what is not there or not seen has no place.

    Parts: `counter-k` what lies there, `delivery-d` what has been delivered, `agent-i`, `held-i` what it holds.
    """
    for k, (cell, thing) in enumerate(zip(world.layout.counters, state.on, strict=True)):
        yield Part(f"counter-{k}", *_shown(thing), _centre(world, cell) if thing > NOTHING else None)
    for d, (cell, dishes) in enumerate(zip(world.layout.deliveries, state.delivered, strict=True)):
        yield Part(f"delivery-{d}", *_heap(dishes or ()), _centre(world, cell) if dishes else None, 0.8)
    people, places = labels(world.agents), [_standing(world, state, i) for i in range(len(world.agents))]
    for i, name in enumerate(world.agents):
        yield Part(f"agent-{i}", name, person_shapes(i, people[name]), places[i])
    for i, (thing, place) in enumerate(zip(state.hands, places, strict=True)):
        title, shapes = _shown(thing)
        at = (place[0] + 15, place[1] + 12) if place and thing > NOTHING else None
        yield Part(f"held-{i}", title, badge(shapes), at, HELD)


def _shown(thing: int) -> tuple[str, Shapes]:
    """A thing in words and as shapes; NOTHING and UNSEEN are neither."""
    return (", ".join(parts(thing)), thing_shapes(thing)) if thing > NOTHING else ("", ())


def _heap(dishes: Sequence[int]) -> tuple[str, Shapes]:
    """Dishes on a tray side by side, each partly over the one before."""
    left = -6.0 * (len(dishes) - 1)
    shapes = (shape for n, dish in enumerate(dishes) for shape in moved(thing_shapes(dish), left + 12.0 * n, -2.0))
    return "; ".join(_shown(dish)[0] for dish in dishes), (*_TRAY, *shapes)


def _standing(world: Overcooked, state: State | KitchenView, i: int) -> Place | None:
    """Where an agent is drawn: in the middle of its square, or beside whoever else stands there."""
    if state.cells[i] == UNSEEN:
        return None
    x, y = _centre(world, state.cells[i])
    here = [j for j, cell in enumerate(state.cells) if cell == state.cells[i]]
    return x + 9.0 * here.index(i) - 4.5 * (len(here) - 1), y


class Fog(NamedTuple):
    """What somebody does not see: squares, as the path of an SVG outline, and the names of the parts hidden there."""

    outline: str
    parts: tuple[str, ...]


def fog(world: Overcooked, state: State, agent: str) -> Fog:
    """What lies in the fog for an agent, so that the rest of the drawing is what it observes."""
    view, grid = world.observe(state, agent), world.layout.grid
    dim = out_of_sight(world, state.cells[world.agents.index(agent)])
    outline = (
        f"M{first * CELL} {y * CELL}h{(last - first) * CELL}v{CELL}H{first * CELL}z"
        for y in range(grid.height)
        for first, last in runs([grid.cell(x, y) in dim for x in range(grid.width)])
    )
    people = [i for i, cell in enumerate(view.cells) if cell == UNSEEN]
    hidden = (
        *(f"counter-{k}" for k, thing in enumerate(view.on) if thing == UNSEEN),
        *(f"delivery-{d}" for d, dishes in enumerate(view.delivered) if dishes is None),
        *(f"{kind}-{i}" for kind in ("agent", "held") for i in people),
    )
    return Fog("".join(outline), hidden)


def _scene(world: Overcooked, state: State, seen_by: str | None) -> tuple[Shapes, Iterable[Part]]:
    if seen_by is None:
        return background(world), drawing(world, state)
    here = state.cells[world.agents.index(seen_by)]
    return background(world, seen_from=here), drawing(world, world.observe(state, seen_by))


def svg(world: Overcooked, state: State, *, seen_by: str | None = None, numbered: bool = False) -> str:
    """The state as an SVG element, all of it or what one agent sees; `numbered`: with the numbers of the squares.

    A script can move, hide or change every part, a `<g data-part="agent-0">`, and outline a `<path data-fog>`.
    """
    scene, changing = _scene(world, state, seen_by)
    grid, margin = world.layout.grid, MARGIN if numbered else 0
    width, height = grid.width * CELL + margin, grid.height * CELL + margin
    if numbered:
        scene = (*scene, *_numbers(grid.width, grid.height))
    title = svg_text("A kitchen with " + ", ".join(world.agents))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{title}" '
        f'viewBox="{-margin} {-margin} {width} {height}" preserveAspectRatio="xMinYMid" '
        f'font-family="system-ui, sans-serif" font-weight="700" text-anchor="middle">'
        f"<g>{''.join(map(svg_shape, scene))}</g>{FOG_PATH}{''.join(map(svg_part, changing))}</svg>"
    )


def _numbers(columns: int, rows: int) -> Iterator[Shape]:
    """The numbers of columns and rows, above and to the left."""
    for x in range(columns):
        yield Letters(x * CELL + HALF, -MARGIN / 2, 12, str(x), GREY)
    for y in range(rows):
        yield Letters(-MARGIN / 2, y * CELL + HALF, 12, str(y), GREY)


def png(
    world: Overcooked, state: State, file: Path | str | IO[bytes], *, cell: int = CELL, seen_by: str | None = None
) -> None:
    """Write the state, all of it or what one agent sees, as a PNG image of `cell` pixels a square.

    Raises InputError if it cannot be written.
    """
    scene, changing = _scene(world, state, seen_by)
    grid = world.layout.grid
    save_png(painted(scene, changing, (0, 0, grid.width * CELL, grid.height * CELL), cell), file)
