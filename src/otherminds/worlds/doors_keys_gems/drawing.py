"""Drawing states of Doors-Keys-Gems, as pictures and as maps for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from otherminds.worlds import sprites
from otherminds.worlds.canvas import DIM, PERSON, Drawing, Tile, centre, ground
from otherminds.worlds.doors_keys_gems.level_files import draw_text
from otherminds.worlds.doors_keys_gems.rules import GROUND, DoorsKeysGems, State, Thing
from otherminds.worlds.grid import Grid
from otherminds.worlds.sprites import CELL, Box, MovingPart, Place, Shape, moved

_CORNERS = ((17.0, 14.0), (17.0, -14.0), (-17.0, 14.0), (-17.0, -14.0))


LEGEND = ""


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
    posts = (post for door in world.doors for post in _posts(grid, door))
    return Drawing(label, (*ground(grid), *posts), moving_parts(world, state, goals=goals), area, crisp=True)


def _posts(grid: Grid, door: Thing) -> Iterator[Shape]:
    """The posts that are left of an open door, on the sides that agents do not walk through."""
    colour, sideways = sprites.hue(door.colour), grid.is_floor(door.cell - 1) or grid.is_floor(door.cell + 1)
    across = (Box(-24, -24, 48, 5, colour), Box(-24, 19, 48, 5, colour))
    upright = (Box(-24, -24, 5, 48, colour), Box(19, -24, 5, 48, colour))
    return moved(across if sideways else upright, *centre(grid, door.cell))


def _beside_others(world: DoorsKeysGems, state: State, i: int) -> Place:
    """The middle of an agent's cell, or a place around it if several agents share the cell."""
    x, y = centre(world.grid, state.cells[i])
    here = [j for j, cell in enumerate(state.cells) if cell == state.cells[i]]
    if len(here) == 1:
        return x, y
    angle = math.tau * here.index(i) / len(here)
    return round(x - 10 * math.cos(angle), 1), round(y - 7 * math.sin(angle), 1)


def _at_hand(world: DoorsKeysGems, state: State, holder: int, place: Place, item: int) -> Place:
    """The place of an item in the hands of an agent: around the agent, on the side away from others."""
    n = state.items[:item].count(holder)
    dx, dy = _CORNERS[n % len(_CORNERS)]
    outward = -1 if place[0] < centre(world.grid, state.cells[holder])[0] else 1
    return round(place[0] + outward * dx, 1), round(place[1] + dy - 4.0 * (n // len(_CORNERS)), 1)


def moving_parts(world: DoorsKeysGems, state: State, *, goals: bool = False) -> list[MovingPart]:
    """Everything that may change, in the order of drawing; a part that is not visible has no place.

    Parts: `door-d` while locked, `item-k` while it lies on the ground, `agent-i`, `held-k` beside its holder.
    `goals` marks each gem with the agents that want it.
    """
    grid, colours, people = world.grid, colour_labels(world), sprites.labels(world.agents)
    places = [_beside_others(world, state, i) for i in range(len(world.agents))]
    found = []
    for d, door in enumerate(world.doors):
        shapes = sprites.door_shapes(sprites.hue(door.colour), colours[door.colour])
        found.append(
            MovingPart(f"door-{d}", door.name, shapes, centre(grid, door.cell) if state.locked >> d & 1 else None)
        )
    looks = [
        *(sprites.key_shapes(sprites.hue(key.colour), colours[key.colour]) for key in world.keys),
        *(sprites.gem_shapes(sprites.hue(gem.colour), colours[gem.colour]) for gem in world.gems),
    ]
    for k, (item, sprite) in enumerate(zip(world.items, looks, strict=True)):
        gem = k - len(world.keys)
        wanting = [i for i, goal in enumerate(world.goals) if goals and goal == gem >= 0]
        tokens = [sprites.person_shapes(i, people[world.agents[i]], 7.5) for i in wanting]
        marks = (shape for n, token in enumerate(tokens) for shape in moved(token, 16 - 12 * n, -15))
        lying = centre(grid, item.cell) if state.items[k] == GROUND else None
        found.append(MovingPart(f"item-{k}", item.name, (*sprite, *marks), lying))
    for i, name in enumerate(world.agents):
        found.append(MovingPart(f"agent-{i}", name, sprites.person_shapes(i, people[name]), places[i]))
    for k, (item, sprite) in enumerate(zip(world.items, looks, strict=True)):
        holder = state.items[k]
        place = _at_hand(world, state, holder, places[holder], k) if holder >= 0 else None
        found.append(MovingPart(f"held-{k}", item.name, sprites.badge(sprite), place, sprites.HELD))
    return found


def colour_labels(world: DoorsKeysGems) -> dict[str, str]:
    """The label of every colour of an item or a door."""
    return sprites.labels(thing.colour for thing in (*world.gems, *world.keys, *world.doors))


def text_map(world: DoorsKeysGems, state: State, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal: walls as blocks, items in their colours, agents as a1, a2 …"""
    colours = {world.grid.xy(thing.cell): thing.colour for thing in (*world.keys, *world.doors, *world.gems)}
    rows = (row.split(" ") for row in draw_text(world, state).split("\n"))
    return [[_tile(tile, colours.get((x, y), "")) for x, tile in enumerate(row)] for y, row in enumerate(rows)]


def _tile(tile: str, colour: str) -> Tile:
    if tile == "##":
        return "███", DIM
    if tile == "..":
        return " · ", DIM
    if tile[0] == "a":
        return f" {tile}"[-3:], PERSON
    sign = {"k": "⚷", "d": "▒", "g": "◆"}[tile[0]]
    return f"{sign}{tile[1]}{'▒' if tile[0] == 'd' else ' '}", f"bold {sprites.hue(colour)}"
