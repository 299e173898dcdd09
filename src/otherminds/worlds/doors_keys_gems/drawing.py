"""Drawing states of Doors-Keys-Gems, as pictures and as maps for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from otherminds.worlds import sprites
from otherminds.worlds.canvas import DIM, PERSON, Drawing, Tile, centre, ground
from otherminds.worlds.doors_keys_gems.level_files import draw_text
from otherminds.worlds.doors_keys_gems.rules import GROUND, DoorsKeysGems, State
from otherminds.worlds.sprites import CELL, INK, PAPER, Box, Disc, MovingPart, Polygon, Shapes, hue, mix, moved, sign

LEGEND = ""
CORNERS = ((17.0, 14.0), (17.0, -14.0), (-17.0, 14.0), (-17.0, -14.0))  # where agents hold items
SIGNS = {"k": "⚷", "d": "▒", "g": "◆"}


# Items and doors, drawn around (0, 0)


def key_shapes(colour: str, label: str) -> Shapes:
    """A key in its colour, with its letter."""
    edge = mix(colour, INK, 0.45)
    return (
        Box(0, -3, 19, 6, colour, 1, edge),
        Box(9, 2, 4, 7, colour, 0, edge),
        Box(15, 2, 4, 5, colour, 0, edge),
        Disc(-8, 0, 11.5, colour, edge),
        sign(-8, 0, 14, label, sprites.ink_on(colour)),
    )


def door_shapes(colour: str, label: str) -> Shapes:
    """A locked door in its colour, with its letter."""
    edge, hole = mix(colour, INK, 0.5), mix(colour, INK, 0.85)
    return (
        Box(-21, -22, 42, 44, colour, 4, edge),
        Box(-8, -21, 1.5, 42, mix(colour, INK, 0.2)),
        Box(7, -21, 1.5, 42, mix(colour, INK, 0.2)),
        Disc(0, 6, 5, hole),
        Polygon(((-2.5, 8), (2.5, 8), (4.5, 17), (-4.5, 17)), hole),
        sign(0, -10, 15, label, sprites.ink_on(colour)),
    )


def gem_shapes(colour: str, label: str) -> Shapes:
    """A cut gem in its colour, with its letter."""
    edge, light, dark = mix(colour, INK, 0.45), mix(colour, PAPER, 0.3), mix(colour, INK, 0.14)
    top, girdle = -13, -4
    return (
        Polygon(((-10, top), (10, top), (18, girdle), (0, 17), (-18, girdle)), colour, edge),
        Polygon(((-10, top), (10, top), (18, girdle), (-18, girdle)), light),
        Polygon(((-10, top), (-7, girdle), (-18, girdle)), mix(colour, PAPER, 0.5)),
        Polygon(((10, top), (7, girdle), (18, girdle)), colour),
        Polygon(((7, girdle), (18, girdle), (0, 17)), dark),
        Polygon(((-10, top), (10, top), (18, girdle), (0, 17), (-18, girdle)), "none", edge),
        sign(0, 0.5, 15, label, sprites.ink_on(colour)),
    )


# Pictures


def draw(world: DoorsKeysGems, state: State, *, seen_by: str | None = None, goals: bool = False) -> Drawing:
    """The picture of a state; `goals` marks each gem with the agents that want it.

    `seen_by` changes nothing, as every agent sees everything.
    """
    label = "A map with " + ", ".join(world.agents)
    grid = world.grid
    rim = [grid.cell(x, y) for x in range(grid.width) for y in (0, grid.height - 1)]
    rim += [grid.cell(x, y) for y in range(grid.height) for x in (0, grid.width - 1)]
    # without the outer half of the wall if there is one all around
    cut = 0.0 if any(grid.is_floor(cell) for cell in rim) else CELL / 2
    area = (cut, cut, grid.width * CELL - 2 * cut, grid.height * CELL - 2 * cut)
    background = [*ground(grid)]
    for door in world.doors:  # the posts of an open door stand on the sides that agents do not walk through
        colour = hue(door.colour)
        if grid.is_floor(door.cell - 1) or grid.is_floor(door.cell + 1):
            posts = Box(-24, -24, 48, 5, colour), Box(-24, 19, 48, 5, colour)
        else:
            posts = Box(-24, -24, 5, 48, colour), Box(19, -24, 5, 48, colour)
        background += moved(posts, *centre(grid, door.cell))
    return Drawing(label, tuple(background), moving_parts(world, state, goals=goals), area, crisp=True)


def _standing(world: DoorsKeysGems, state: State, i: int) -> sprites.Place:
    """The middle of an agent's cell, or a place around it if several agents share the cell."""
    x, y = centre(world.grid, state.cells[i])
    occupants = [j for j, cell in enumerate(state.cells) if cell == state.cells[i]]
    if len(occupants) == 1:
        return x, y
    angle = math.tau * occupants.index(i) / len(occupants)
    return round(x - 10 * math.cos(angle), 1), round(y - 7 * math.sin(angle), 1)


def moving_parts(world: DoorsKeysGems, state: State, *, goals: bool = False) -> list[MovingPart]:
    """Everything that may change, in the order of drawing; a part that is not visible has no place.

    Parts: `door-d` while locked, `item-k` while it lies on the ground, `agent-i`, `held-k` beside its holder.
    `goals` marks each gem with the agents that want it.
    """
    grid, colours, people = world.grid, colour_labels(world), sprites.labels(world.agents)
    places = [_standing(world, state, i) for i in range(len(world.agents))]
    parts = []
    for d, door in enumerate(world.doors):
        shapes, place = door_shapes(hue(door.colour), colours[door.colour]), centre(grid, door.cell)
        parts.append(MovingPart(f"door-{d}", door.name, shapes, place if state.locked >> d & 1 else None))
    looks = [
        *(key_shapes(hue(key.colour), colours[key.colour]) for key in world.keys),
        *(gem_shapes(hue(gem.colour), colours[gem.colour]) for gem in world.gems),
    ]
    for k, (item, sprite) in enumerate(zip(world.items, looks, strict=True)):
        gem = k - len(world.keys)
        wanting = [i for i, goal in enumerate(world.goals) if goals and goal == gem >= 0]
        tokens = [sprites.person_shapes(i, people[world.agents[i]], 7.5) for i in wanting]
        marks = (shape for n, token in enumerate(tokens) for shape in moved(token, 16 - 12 * n, -15))
        lying = centre(grid, item.cell) if state.items[k] == GROUND else None
        parts.append(MovingPart(f"item-{k}", item.name, (*sprite, *marks), lying))
    for i, name in enumerate(world.agents):
        parts.append(MovingPart(f"agent-{i}", name, sprites.person_shapes(i, people[name]), places[i]))
    for k, (item, sprite) in enumerate(zip(world.items, looks, strict=True)):
        holder, badge_place = state.items[k], None
        if holder >= 0:  # around the agent that holds it, on the side away from others
            n, (x, y) = state.items[:k].count(holder), places[holder]
            dx, dy = CORNERS[n % len(CORNERS)]
            outward = -1 if x < centre(grid, state.cells[holder])[0] else 1
            badge_place = round(x + outward * dx, 1), round(y + dy - 4.0 * (n // len(CORNERS)), 1)
        parts.append(MovingPart(f"held-{k}", item.name, sprites.badge(sprite), badge_place, sprites.HELD))
    return parts


def colour_labels(world: DoorsKeysGems) -> dict[str, str]:
    """The label of every colour of an item or a door."""
    return sprites.labels(thing.colour for thing in (*world.gems, *world.keys, *world.doors))


def text_map(world: DoorsKeysGems, state: State, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal: walls as blocks, items in their colours, agents by their label."""
    colours = {world.grid.xy(thing.cell): thing.colour for thing in (*world.keys, *world.doors, *world.gems)}
    rows = (row.split(" ") for row in draw_text(world, state).split("\n"))
    people = [*sprites.labels(world.agents).values()]
    return [[_tile(tile, colours.get((x, y), ""), people) for x, tile in enumerate(row)] for y, row in enumerate(rows)]


def _tile(tile: str, colour: str, people: Sequence[str]) -> Tile:
    """A tile of a level file, such as `kr`, as three characters and a style for a terminal."""
    if tile == "##":
        return "███", DIM
    if tile == "..":
        return " · ", DIM
    if tile[0] == "a":
        return people[int(tile[1:]) - 1].center(3), PERSON
    return f"{SIGNS[tile[0]]}{tile[1]}{'▒' if tile[0] == 'd' else ' '}", f"bold {hue(colour)}"
