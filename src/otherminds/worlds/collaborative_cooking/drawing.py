"""Drawing kitchens of collaborative cooking, all of a state or the view of one player: pictures and terminal maps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from otherminds.worlds import sprites
from otherminds.worlds.avatar_drawing import GOLD, Avatar, Note, avatar_parts, with_notes
from otherminds.worlds.avatar_drawing import text_map as avatar_map
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.canvas import DIM, Drawing, Tile, centre
from otherminds.worlds.collaborative_cooking import rules
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingState
from otherminds.worlds.sprites import INK, PAPER, Box, Disc, Letters, MovingPart, Shape, Shapes, mix, moved

EMBER, IRON = "#f08a24", "#4a5058"
RED = sprites.FOOD_HUES["tomato"]
ITEMS: Mapping[str, Shapes] = {
    "nothing": (),
    "tomato": sprites.fresh_food("tomato"),
    "dish": sprites.PLATE_SHAPES,
    "soup": (
        Disc(0, 0, 18, PAPER, sprites.GREY),
        Disc(0, 0, 13.5, RED, mix(RED, INK, 0.45)),
        Disc(-4, -5, 2.5, mix(RED, PAPER, 0.45)),
        Letters(0, 0, 16, "S", PAPER),
    ),
}
CRATE: Shapes = (
    *sprites.block(sprites.WOOD, sprites.RIM),
    Box(-19, -18, 38, 32, mix(sprites.RIM, INK, 0.3), 3, mix(sprites.RIM, INK, 0.55)),
)
LEGEND = """
▲ ▶ ▼ ◀ a player, the way it faces, and what it holds
t tomato  d dish  s soup  [ ] dispenser  ( ) pot  *** delivery  ░ counter"""
TILES: Mapping[str, Tile] = {
    rules.FLOOR: (" · ", DIM),
    rules.START: (" · ", DIM),
    rules.VOID: ("███", DIM),
    rules.COUNTER: ("░░░", "#a0805a"),
    rules.TOMATOES: ("[t]", f"bold {RED}"),
    rules.DISHES: ("[d]", "bold"),
    rules.DELIVERY: ("***", "#56b4e9"),
    rules.POT: ("(0)", "bold"),
}


def _small_tomato(x: float, y: float, radius: float) -> Shapes:
    return Disc(x, y, radius, RED, mix(RED, INK, 0.45)), Disc(x - 1.5, y - 2, radius / 4, mix(RED, PAPER, 0.5))


HEAP = tuple(s for x, y in ((-9, -9), (9, -9), (-9, 5), (9, 5), (0, -2)) for s in _small_tomato(x, y, 8))
SQUARES: Mapping[str, Shapes] = {
    rules.FLOOR: sprites.FLOOR_SQUARE,
    rules.START: sprites.FLOOR_SQUARE,
    rules.VOID: (sprites.square(IRON),),
    rules.COUNTER: sprites.COUNTER_SQUARE,
    rules.DELIVERY: sprites.DELIVERY_SQUARE,
    rules.TOMATOES: (*CRATE, *HEAP),
    rules.DISHES: (*CRATE, *(Disc(0, y, 13, PAPER, sprites.GREY) for y in (6, 1, -4))),
    rules.POT: (
        *sprites.block("#6d747d", IRON),
        *(Box(x, -6, 8, 8, INK, 3) for x in (-23, 15)),
        Disc(0, -2, 19, sprites.STEEL, INK),
        Disc(0, -2, 15.5, "#2f3338"),
    ),
}


# What is visible


class CookingScene(NamedTuple):
    """What is visible of a state: cells, players, their items, and the contents of counters and pots by cell."""

    visible: frozenset[int]
    avatars: Sequence[Avatar]
    notes: Sequence[Note]
    counters: Mapping[int, str]
    pots: Mapping[int, rules.PotState]


def cooking_scene(world: CollaborativeCooking, state: CookingState, seen_by: str | None = None) -> CookingScene:
    """All of a state, or what one player sees of it."""
    visible, noted_players, pots = frozenset(chain(*world.grid.rows)), list(range(len(world.agents))), state.pots
    if seen_by is not None:
        noted_players = [me := world.agents.index(seen_by)]
        visible = frozenset(world.field.window(state.bodies[me].cell, state.bodies[me].facing)) - {OUTSIDE}
        pots = tuple(pot._replace(timer=0) for pot in pots)  # players do not see how long a pot has cooked
    bodies = [(i, cell, facing, hand) for i, (cell, facing, hand, _) in enumerate(state.bodies) if cell in visible]
    lying = zip(world.counters, state.counters, strict=True)
    held_items = [rules.THINGS[body.hand] for body in state.bodies]
    return CookingScene(
        visible=visible,
        avatars=[Avatar(i, cell, facing, item=held_items[i] if hand else "") for i, cell, facing, hand in bodies],
        notes=[Note(i, "", ((held_items[i], ITEMS[held_items[i]]),)) for i in noted_players],
        counters={cell: rules.THINGS[thing] for cell, thing in lying if thing and cell in visible},
        pots={cell: pot for cell, pot in zip(world.pots, pots, strict=True) if cell in visible},
    )


# Pictures


def draw(world: CollaborativeCooking, state: CookingState, *, seen_by: str | None = None) -> Drawing:
    """The picture of a state, all of it or what one player sees, with what players hold below the map."""
    scene = cooking_scene(world, state, seen_by)
    squares, parts = background(world, scene.visible), moving_parts(world, scene)
    return with_notes("A kitchen", seen_by, world.grid, world.agents, squares, parts, scene.notes, crisp=False)


def background(world: CollaborativeCooking, visible: frozenset[int]) -> Shapes:
    """Every square in its place, in the fog where it is not seen."""
    drawn: list[Shape] = []
    for tile, shapes in SQUARES.items():
        for cell in world.cells(tile):
            drawn += moved(shapes if cell in visible else tuple(map(sprites.dimmed, shapes)), *centre(world.grid, cell))
    return tuple(drawn)


def moving_parts(world: CollaborativeCooking, scene: CookingScene) -> Iterator[MovingPart]:
    """The parts `counter-k`, `pot-k`, `agent-i` and `held-i`, in the order of drawing."""
    for k, cell in enumerate(world.counters):
        if item := scene.counters.get(cell):
            yield MovingPart(f"counter-{k}", item, ITEMS[item], centre(world.grid, cell), 0.85)
    for k, cell in enumerate(world.pots):
        if pot := scene.pots.get(cell):
            title = "soup" if pot.cooked else f"{pot.tomatoes or 'no'} tomato{'es' * (pot.tomatoes != 1)}"
            if pot.timer and not pot.cooked:
                title = f"{title}, a soup in {world.cook + 1 - pot.timer} steps"
            yield MovingPart(f"pot-{k}", f"pot: {title}", pot_shapes(pot, world.cook), centre(world.grid, cell))
    yield from avatar_parts(world.grid, world.agents, scene.avatars, ITEMS)


def pot_shapes(pot: rules.PotState, cook: int) -> Shapes:
    """The contents of a pot: a soup, or tomatoes over a bar that grows while they cook for `cook` steps."""
    if pot.cooked:
        return Disc(0, -2, 15.5, RED, GOLD), Disc(-5, -8, 3, mix(RED, PAPER, 0.4)), Letters(0, -2, 18, "S", PAPER)
    places = ((0, -9), (-7, 3), (7, 3))[: pot.tomatoes]
    drawn: list[Shape] = [shape for x, y in places for shape in _small_tomato(x, y, 7)]
    if pot.timer:
        share = min(1.0, pot.timer / (cook + 1))
        drawn += (Box(-20, 17, 40, 5, INK, 2), Box(-19, 18, round(38 * share, 1), 3, EMBER, 1))
    return tuple(drawn)


def text_map(world: CollaborativeCooking, state: CookingState, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal, floor that is not seen left blank, and what players hold below it."""
    scene = cooking_scene(world, state, seen_by)
    tiles = {cell: tile for kind, tile in TILES.items() for cell in world.cells(kind)}
    for cell in tiles.keys() - scene.visible:
        tiles[cell] = tiles[cell][0].replace("·", " "), DIM
    tiles |= {cell: (f"░{item[0]}░", "bold") for cell, item in scene.counters.items()}
    tiles |= {cell: (f"({'s' if pot.cooked else pot.tomatoes})", "bold") for cell, pot in scene.pots.items()}
    return avatar_map(world.grid, world.agents, tiles, scene.avatars, scene.notes)
