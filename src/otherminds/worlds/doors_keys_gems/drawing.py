"""What a state of Doors-Keys-Gems looks like: one description of the drawing, shown as SVG or as PNG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from otherminds.worlds.canvas import frame, ground, painted, save_png, svg_part, svg_shape, svg_text
from otherminds.worlds.doors_keys_gems.rules import GROUND, DoorsKeysGems, State, Thing
from otherminds.worlds.grid import Grid
from otherminds.worlds.sprites import (
    CELL,
    HELD,
    Box,
    Part,
    Place,
    Shape,
    Shapes,
    badge,
    door_shapes,
    gem_shapes,
    hue,
    key_shapes,
    labels,
    moved,
    person_shapes,
)

_CORNERS = ((17.0, 14.0), (17.0, -14.0), (-17.0, 14.0), (-17.0, -14.0))


def background(world: DoorsKeysGems) -> Shapes:
    """What never changes: the floor, the walls and the posts of the doors."""
    return (*ground(world.grid), *(post for door in world.doors for post in _posts(world.grid, door)))


def _posts(grid: Grid, door: Thing) -> Iterator[Shape]:
    """What is left of a door once it is open, on the sides that people do not walk through."""
    colour, sideways = hue(door.colour), grid.is_floor(door.cell - 1) or grid.is_floor(door.cell + 1)
    across = (Box(-24, -24, 48, 5, colour), Box(-24, 19, 48, 5, colour))
    upright = (Box(-24, -24, 5, 48, colour), Box(19, -24, 5, 48, colour))
    return moved(across if sideways else upright, *_centre(grid, door.cell))


def _centre(grid: Grid, cell: int) -> Place:
    x, y = grid.xy(cell)
    return x * CELL + CELL / 2, y * CELL + CELL / 2


def placements(world: DoorsKeysGems, state: State) -> dict[str, Place | None]:
    """Where every movable part is drawn, or None where it is not to be seen.

    Parts: `door-d` while locked, `item-k` while it lies on the ground, `agent-i`, `held-k` beside its holder.
    """
    people = [_beside_others(world, state, i) for i in range(len(world.agents))]
    where: dict[str, Place | None] = {
        f"door-{d}": _centre(world.grid, door.cell) if state.locked >> d & 1 else None
        for d, door in enumerate(world.doors)
    }
    for k, item in enumerate(world.items):
        where[f"item-{k}"] = _centre(world.grid, item.cell) if state.items[k] == GROUND else None
    where |= {f"agent-{i}": place for i, place in enumerate(people)}
    for k, holder in enumerate(state.items):
        where[f"held-{k}"] = _at_hand(world, state, holder, people[holder], k) if holder >= 0 else None
    return where


def _beside_others(world: DoorsKeysGems, state: State, i: int) -> Place:
    """The middle of the cell, or a place around it where several people share it."""
    x, y = _centre(world.grid, state.cells[i])
    here = [j for j, cell in enumerate(state.cells) if cell == state.cells[i]]
    if len(here) == 1:
        return x, y
    angle = math.tau * here.index(i) / len(here)
    return round(x - 10 * math.cos(angle), 1), round(y - 7 * math.sin(angle), 1)


def _at_hand(world: DoorsKeysGems, state: State, holder: int, place: Place, item: int) -> Place:
    """Where a thing is shown that somebody holds: around the holder, on the side away from others."""
    n = state.items[:item].count(holder)
    dx, dy = _CORNERS[n % len(_CORNERS)]
    outward = -1 if place[0] < _centre(world.grid, state.cells[holder])[0] else 1
    return round(place[0] + outward * dx, 1), round(place[1] + dy - 4.0 * (n // len(_CORNERS)), 1)


def parts(world: DoorsKeysGems, state: State, *, goals: bool = False) -> list[Part]:
    """Everything that may change, in the order in which it is drawn. `goals`: mark who wants which gem."""
    where, colours, people = placements(world, state), colour_labels(world), labels(world.agents)
    found = [
        Part(f"door-{d}", door.name, door_shapes(hue(door.colour), colours[door.colour]), where[f"door-{d}"])
        for d, door in enumerate(world.doors)
    ]
    sprites = [
        *(key_shapes(hue(key.colour), colours[key.colour]) for key in world.keys),
        *(gem_shapes(hue(gem.colour), colours[gem.colour]) for gem in world.gems),
    ]
    for k, (item, sprite) in enumerate(zip(world.items, sprites, strict=True)):
        marks = _wanted_by(world, k - len(world.keys)) if goals and k >= len(world.keys) else ()
        found.append(Part(f"item-{k}", item.name, (*sprite, *marks), where[f"item-{k}"]))
    for i, name in enumerate(world.agents):
        found.append(Part(f"agent-{i}", name, person_shapes(i, people[name]), where[f"agent-{i}"]))
    for k, (item, sprite) in enumerate(zip(world.items, sprites, strict=True)):
        found.append(Part(f"held-{k}", item.name, badge(sprite), where[f"held-{k}"], HELD))
    return found


def _wanted_by(world: DoorsKeysGems, gem: int) -> Shapes:
    people = labels(world.agents)
    wanting = [i for i, goal in enumerate(world.goals) if goal == gem]
    tokens = [person_shapes(i, people[world.agents[i]], 7.5) for i in wanting]
    return tuple(shape for n, token in enumerate(tokens) for shape in moved(token, 16 - 12 * n, -15))


# As SVG


def svg(world: DoorsKeysGems, state: State, *, goals: bool = False) -> str:
    """The state as an SVG element; a script can move or hide every part, a `<g data-part="agent-0">`."""
    box = " ".join(f"{value:g}" for value in frame(world.grid))
    drawn = "".join(svg_part(part) for part in parts(world, state, goals=goals))
    scene = "".join(svg_shape(shape) for shape in background(world))
    title = svg_text("A map with " + ", ".join(world.agents))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{title}" '
        f'viewBox="{box}" preserveAspectRatio="xMinYMid" '
        f'font-family="system-ui, sans-serif" font-weight="700" text-anchor="middle">'
        f'<g shape-rendering="crispEdges">{scene}</g>{drawn}</svg>'
    )


# As PNG


def png(
    world: DoorsKeysGems, state: State, file: Path | str | IO[bytes], *, cell: int = CELL, goals: bool = False
) -> None:
    """Write the state as a PNG image of `cell` pixels a cell, to a path or a binary file.

    Raises InputError if it cannot be written.
    """
    save_png(painted(background(world), parts(world, state, goals=goals), frame(world.grid), cell), file)


def colour_labels(world: DoorsKeysGems) -> dict[str, str]:
    """The label of every colour that something in this world has."""
    return labels(thing.colour for thing in (*world.gems, *world.keys, *world.doors))
