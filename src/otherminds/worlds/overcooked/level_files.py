"""Kitchens as text files: a map, the recipes, where people start, and `key: value` lines; blank lines between them.

    -----t-      one character a square: a space is floor, `-` counter, `/` cutting board, `*` delivery,
    /  -  l      `#` wall, `D` door; `t l o p` are counters with a fresh tomato, lettuce or onion, or a plate
    /  D  -
    *  -  -
    -----p-

    SimpleTomato     one recipe a line, for the first agent, the second …; agents beyond the last have none
    SimpleLettuce

    2 1              column and row of each agent, from 0
    4 1

    agents: Ana, Ben

The last block may be missing; it may also give `name`, `horizon` (steps, default 100), and the certificate of a level
that has been classified. Files of gym-cooking (Wu et al. 2021) have the first three blocks and are read as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path

from otherminds.files.text import read_text
from otherminds.worlds import map_file
from otherminds.worlds.map_file import MAX_PLAYERS, FileLine, WorldLevel
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.kitchen import MANY, KitchenLayout
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked, State

HORIZON = 100  # steps, if a file gives none; chosen
LEVELS = resources.files("otherminds.worlds.overcooked") / "levels"
# Keys of a classified level; see docs/use/files.md.
CERTIFICATE = ("class", "seed", "L0", "Lf", "L*", "message")
KEYS = ("name", "agents", "horizon", *CERTIFICATE)
THINGS = {"t": kitchen.FRESH["tomato"], "l": kitchen.FRESH["lettuce"], "o": kitchen.FRESH["onion"], "p": kitchen.PLATE}
# How `draw_text` shows each part.
SIGNS = dict(zip(kitchen.PARTS, "tloTLOp", strict=True))


@dataclass(frozen=True, repr=False)
class KitchenLevel(WorldLevel[Overcooked]):
    """A kitchen to play."""

    horizon: int = HORIZON


def read_kitchen(path: Path) -> KitchenLevel:
    """Read a kitchen file. Raises InputError with the line and column of the first error."""
    return parse_kitchen(read_text(path), path)


def parse_kitchen(text: str, path: Path) -> KitchenLevel:
    """Read a kitchen from text; errors name `path`. Raises InputError like `read_kitchen`."""
    squares, recipes, positions, notes = _blocks_of_lines(text, path)
    map_file.check_size(len(squares[0].text), squares)
    map_file.check_characters(squares, (*kitchen.TILES, *THINGS))
    for letter in THINGS:
        spots = [(line, x) for line in squares for x, tile in enumerate(line.text, 1) if tile == letter]
        if len(spots) > MANY:
            line, column = spots[MANY]
            raise line.wrong(f"more than {MANY} `{letter}`", column=column)
    layout = KitchenLayout(tuple(re.sub("[tlop]", kitchen.COUNTER, line.text) for line in squares))
    settings = map_file.key_values(notes, KEYS)
    cells = tuple(_start_cells(positions, layout))
    names = tuple(f"agent{i + 1}" for i in range(len(cells)))
    if "agents" in settings:
        names = map_file.agent_names(settings["agents"])
    if len(names) != len(cells):
        raise settings["agents"].wrong(f"{len(names)} names for {len(cells)} agents", "one for each position")
    tiles = "".join(line.text for line in squares)
    world = Overcooked(
        layout=layout,
        agents=names,
        cells=cells,
        recipes=_recipes(recipes, len(cells)),
        on=tuple(THINGS.get(tile, kitchen.NOTHING) for tile in tiles if tile in "-/tlop"),
    )
    name = settings["name"].text if "name" in settings else path.stem
    horizon = map_file.read_horizon(settings["horizon"]) if "horizon" in settings else HORIZON
    return KitchenLevel(name, world, horizon, {key: settings[key].text for key in CERTIFICATE if key in settings})


def is_kitchen(text: str) -> bool:
    """Whether the text of a level file is a kitchen: its first line is a row of a map."""
    first_line = text.partition("\n")[0].removesuffix("\r")
    return bool(first_line) and set(first_line) <= {*kitchen.TILES, *THINGS}


def _blocks_of_lines(text: str, path: Path) -> Iterator[list[FileLine]]:
    """The lines of the map, the recipes, the positions and the notes; only rows of the map keep outer spaces."""
    lines = [FileLine(n, raw.removesuffix("\r"), path) for n, raw in enumerate(map_file.rows_of(text, path), 1)]
    gap = next((i for i, line in enumerate(lines) if not line.text), len(lines))
    trimmed = [line._replace(text=line.text.strip()) for line in lines[gap:]]
    blocks = [lines[:gap], *(list(group) for filled, group in groupby(trimmed, lambda line: bool(line.text)) if filled)]
    padded = [*blocks, [], []]
    for i, missing in enumerate(("map", "recipes", "positions of agents")):
        if not padded[i]:
            last_line = blocks[-1][-1] if i else FileLine(1, "", path)
            raise last_line.wrong(f"has no {missing}", "a map, recipes and positions, with an empty line between them")
    if len(blocks) > 4:
        raise blocks[4][0].wrong("a fifth block", "a map, recipes, positions, and lines of `key: value`")
    yield from blocks
    yield from [[]] * (4 - len(blocks))


def _recipes(lines: Sequence[FileLine], agents: int) -> tuple[str | None, ...]:
    """The recipe of each agent, None beyond the last line. Raises InputError for an unknown or surplus recipe."""
    for line in lines:
        if line.text not in kitchen.RECIPES:
            raise line.wrong(f"unknown recipe `{line.text}`", f"one of {', '.join(kitchen.RECIPES)}", column=1)
    if len(lines) > agents:
        message = f"a recipe too many for {agents} agent{'s' * (agents > 1)}"
        raise lines[agents].wrong(message, "one each; positions say how many agents")
    return (*(line.text for line in lines), *(None,) * (agents - len(lines)))


def _start_cells(lines: Sequence[FileLine], layout: KitchenLayout) -> Iterator[int]:
    """The square of each agent, from lines such as `2 1`. Raises InputError for one that is not free floor."""
    taken: set[tuple[int, int]] = set()
    for line in lines:
        if not (match := re.fullmatch(r"(?P<column>[0-9]{1,4})\s+(?P<row>[0-9]{1,4})", line.text)):
            raise line.wrong(f"`{line.text}` is not a position", "column and row, from 0, such as 2 1", column=1)
        x, y = int(match["column"]), int(match["row"])
        inside = x < layout.grid.width and y < layout.grid.height
        if not inside or layout.rows[y][x] not in (kitchen.FLOOR, kitchen.DOOR):
            hint = f"the map has columns 0 to {layout.grid.width - 1} and rows 0 to {layout.grid.height - 1}"
            raise line.wrong(f"`{line.text}` is not {'floor' if inside else 'on the map'}", hint, column=1)
        if (x, y) in taken:
            raise line.wrong(f"a second agent at `{line.text}`", column=1)
        if len(taken) == MAX_PLAYERS:
            raise line.wrong(f"more than {MAX_PLAYERS} agents")
        taken.add((x, y))
        yield layout.grid.cell(x, y)


def write_kitchen(level: KitchenLevel) -> str:
    """The text of a kitchen file: the inverse of `read_kitchen`. Raises ValueError for a world it cannot express."""
    world, layout = level.world, level.world.layout
    letters = {thing: letter for letter, thing in THINGS.items()}
    lying = {cell: thing for cell, thing in zip(layout.counters, world.on, strict=True) if thing}
    recipes = [recipe for recipe in world.recipes if recipe]
    if not set(lying.values()) <= set(letters) or any(world.on[board] for board in layout.boards):
        raise ValueError("kitchen files can say of fresh foods and plates that they lie on counters, and nothing else")
    if tuple(recipes) != world.recipes[: len(recipes)]:
        raise ValueError("in kitchen files, agents without a recipe come last")
    rows = [
        "".join(letters.get(lying.get(layout.grid.cell(x, y), kitchen.NOTHING), tile) for x, tile in enumerate(row))
        for y, row in enumerate(layout.rows)
    ]
    positions = ["{} {}".format(*layout.grid.xy(cell)) for cell in world.cells]
    settings = {"name": level.name, "agents": ", ".join(world.agents), "horizon": level.horizon, **level.certificate}
    notes = [f"{key}: {settings[key]}" for key in KEYS if key in settings]
    return "\n".join([*rows, "", *recipes, "", *positions, "", *notes, ""])


def draw_text(world: Overcooked, state: State | KitchenView) -> str:
    """The map as text: 1, 2 … are the agents, `.` is floor, other squares are as in kitchen files.

    The sign of a square or agent is followed by those of the parts there: `t l o` fresh, `T L O` chopped, `p` a plate,
    `?` not seen. So `1Tp` is the first agent with a chopped tomato on a plate.
    """
    layout, grid = world.layout, world.layout.grid
    tiles = {grid.cell(x, y): tile for y, row in enumerate(layout.rows) for x, tile in enumerate(row)}
    tiles |= dict.fromkeys(layout.cells(kitchen.FLOOR), ".")
    for cell, thing in zip(layout.counters, state.on, strict=True):
        tiles[cell] += _signs(thing)
    for cell, dishes in zip(layout.deliveries, state.delivered, strict=True):
        tiles[cell] += "?" if dishes is None else ",".join(map(_signs, dishes))
    for i, (cell, thing) in enumerate(zip(state.cells, state.hands, strict=True), 1):
        if cell != UNSEEN:
            tiles[cell] = f"{i}{_signs(thing)}"
    width = max(map(len, tiles.values()))
    rows = (" ".join(tiles[grid.cell(x, y)].ljust(width) for x in range(grid.width)) for y in range(grid.height))
    return "\n".join(row.rstrip() for row in rows)


def _signs(thing: int) -> str:
    """The signs of an item's parts: `Tp` for a chopped tomato on a plate, `?` for UNSEEN."""
    if thing == UNSEEN:
        return "?"
    return "".join(sign for name, sign in SIGNS.items() for _ in range(thing // kitchen.PARTS[name] & MANY))
