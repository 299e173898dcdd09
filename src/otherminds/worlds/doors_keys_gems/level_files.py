"""Doors-Keys-Gems levels as text files: a header of `key: value` lines, a blank line, and a map.

The map has one tile of two characters per cell, tiles separated by spaces:

    ##  wall          ..  floor
    kr  a red key     dr  a red door     gr  a red gem (a letter for the colour; one gem of each colour)
    a1  the start of the first agent (a2 the second, and so on)

Header: `agents` (names, comma-separated) and `goals` (a gem colour for each agent) are required; `name`,
`horizon` (steps, default 80) and `turns` (simultaneous or alternating) may be given; a level that has been
classified also carries its certificate. Lines that begin with `;` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex, cast, overload

from otherminds.errors import InputError, unknown
from otherminds.files.text import read_text
from otherminds.worlds import map_file
from otherminds.worlds.doors_keys_gems.rules import GROUND, DoorsKeysGems, State, Thing, Turns
from otherminds.worlds.grid import Grid
from otherminds.worlds.map_file import FileLine, WorldLevel
from otherminds.worlds.sprites import HUES

COLOURS = dict(zip("rbygpocmnw", HUES, strict=True))  # red, blue, yellow, green … by letter
HORIZON = 80  # steps, if a file gives none; chosen
LEVELS = resources.files("otherminds.worlds.doors_keys_gems") / "levels"
MAX_THINGS = 26  # of a kind in a level; a limit of the readers
# Keys of a classified level; see docs/use/files.md.
CERTIFICATE = ("class", "alone", "told", "together", "message", "seed")
HEADER = ("name", "agents", "goals", "horizon", "turns", *CERTIFICATE)
LETTERS = {name: letter for letter, name in COLOURS.items()}


@dataclass(frozen=True, repr=False)
class Level(WorldLevel[DoorsKeysGems]):
    """A Doors-Keys-Gems level."""

    horizon: int = HORIZON


class _Tile(NamedTuple):
    """A tile of the map, such as `kr`: its kind `k`, its mark `r`, its cell, and its place in the file."""

    kind: str
    mark: str
    x: int
    y: int
    line: FileLine
    column: int

    def wrong(self, message: str, hint: str | None = None) -> InputError:
        return self.line.wrong(message, hint, self.column)


def read_level(path: Path | str) -> Level:
    """Read a level file. Raises InputError with the line and column of the first error."""
    return parse_level(read_text(Path(path)), Path(path))


def parse_level(text: str, path: Path) -> Level:
    """Read a level from text; errors name `path`. Raises InputError like `read_level`."""
    lines = [FileLine(n, raw.rstrip(), path) for n, raw in enumerate(map_file.rows_of(text, path), 1)] if text else []
    lines = [line for line in lines if not line.text.startswith(";")]
    gap = next((i for i, line in enumerate(lines) if not line.text), None)
    if gap is None:
        raise InputError("has no map", path=path, hint="write a blank line after the header, then the map")
    header = map_file.key_values(lines[:gap], HEADER)
    map_file.require(header, {"agents": "agents: Ana, Ben", "goals": "goals: red, blue"}, FileLine(1, "", path))
    body = [line for line in lines[gap:] if line.text]
    if not body:
        raise lines[-1].wrong("has no map", "the map follows the blank line")
    tiles = list(_tiles(body))
    grid = Grid.of(tiles[-1].x + 1, tiles[-1].y + 1, ((tile.x, tile.y) for tile in tiles if tile.kind == "#"))
    things = {kind: _things_of_kind(kind, tiles, grid) for kind in "kdg"}
    names = map_file.agent_names(header["agents"])
    turns = header["turns"].text if "turns" in header else "simultaneous"
    if turns not in ("simultaneous", "alternating"):
        raise header["turns"].wrong("`turns` is neither simultaneous nor alternating")
    world = DoorsKeysGems(
        grid=grid,
        agents=names,
        cells=_starts(tiles, names, grid),
        keys=things["k"],
        doors=things["d"],
        gems=things["g"],
        goals=_goals(header["goals"], names, things["g"]),
        turns=cast("Turns", turns),
    )
    certificate = {key: header[key].text for key in CERTIFICATE if key in header}
    horizon = map_file.read_horizon(header["horizon"]) if "horizon" in header else HORIZON
    name = header["name"].text if "name" in header else path.stem
    return Level(name, world, horizon, certificate)


def _tiles(body: list[FileLine]) -> Iterator[_Tile]:
    """The tiles of a map, row by row. Raises InputError for an unknown tile or a row of another length."""
    width = len(body[0].text.split())
    map_file.check_size(width, body)
    for y, line in enumerate(body):
        row = list(re.finditer(r"\S+", line.text))
        if len(row) != width:
            message = f"this row has {len(row)} tiles, the first one has {width}"
            raise line.wrong(message, column=len(line.text) + 1)
        for x, match in enumerate(row):
            tile, column = match.group(), match.start() + 1
            if not re.fullmatch(r"##|\.\.|[kdg][a-z]|a[1-9]", tile):
                hint = "## .. k d g followed by a colour letter, or a and a digit"
                raise line.wrong(f"unknown tile `{tile}`", hint, column)
            if tile[0] in "kdg" and tile[1] not in COLOURS:
                hint = " ".join(f"{letter}={name}" for letter, name in COLOURS.items())
                raise line.wrong(f"unknown colour `{tile[1]}`", hint, column)
            yield _Tile(tile[0], tile[1], x, y, line, column)


def _things_of_kind(kind: str, tiles: list[_Tile], grid: Grid) -> tuple[Thing, ...]:
    """The keys, doors or gems of a map (`kind` is k, d or g) as key1, key2 … in reading order."""
    word = {"k": "key", "d": "door", "g": "gem"}[kind]
    things: list[Thing] = []
    for tile in (t for t in tiles if t.kind == kind):
        colour = COLOURS[tile.mark]
        if kind == "g" and any(colour == gem.colour for gem in things):
            raise tile.wrong(f"a second {colour} gem")
        if len(things) == MAX_THINGS:
            raise tile.wrong(f"more than {MAX_THINGS} {word}s")
        things.append(Thing(f"{word}{len(things) + 1}", colour, grid.cell(tile.x, tile.y)))
    return tuple(things)


def _starts(tiles: list[_Tile], names: tuple[str, ...], grid: Grid) -> tuple[int, ...]:
    """The cell of each agent, from the tiles a1, a2 … Raises InputError unless there is one for each name."""
    starts: dict[int, int] = {}
    for tile in (t for t in tiles if t.kind == "a"):
        number = int(tile.mark)
        if number in starts:
            raise tile.wrong(f"a second `a{number}`")
        if number > len(names):
            raise tile.wrong(f"`a{number}` has no name", f"the header names {len(names)}")
        starts[number] = grid.cell(tile.x, tile.y)
    missing = [f"a{n}" for n in range(1, len(names) + 1) if n not in starts]
    if missing:
        raise tiles[-1].line.wrong(f"the map lacks {', '.join(missing)}")
    return tuple(starts[n] for n in range(1, len(names) + 1))


def _goals(line: FileLine, names: tuple[str, ...], gems: tuple[Thing, ...]) -> tuple[int, ...]:
    """For each agent the index of the gem it wants, from a line such as `red, blue`. Raises InputError for others."""
    colours = [colour.strip() for colour in line.text.split(",")]
    present = [gem.colour for gem in gems]
    if len(colours) != len(names):
        message = f"{len(colours)} goals for {len(names)} agents"
        raise line.wrong(message, "one gem colour each, comma-separated")
    for colour in colours:
        if colour not in present:
            hint = f"there is {', '.join(present)}" if present else "the map has no gem"
            raise line.wrong(f"there is no {colour} gem", hint)
    if len(set(colours)) < len(colours):
        raise line.wrong("two agents want the same gem")
    return tuple(present.index(colour) for colour in colours)


def write_level(level: Level) -> str:
    """The text of a level file: the inverse of `read_level`. Raises ValueError for a world it cannot express."""
    world = level.world
    things = (*world.items, *world.doors)
    taken = [*world.cells, *(thing.cell for thing in things)]
    if min(world.goals) < 0 or world.forbidden or len(set(taken)) < len(taken):
        raise ValueError("level files need a goal for every agent, nothing forbidden, and one thing in a cell")
    if not {thing.colour for thing in things} <= set(LETTERS):
        raise ValueError(f"level files know the colours {', '.join(LETTERS)}")
    header = {
        "name": level.name,
        "agents": ", ".join(world.agents),
        "goals": ", ".join(world.gems[goal].colour for goal in world.goals),
        "horizon": str(level.horizon),
        "turns": world.turns,
        **level.certificate,
    }
    lines = [f"{key}: {header[key]}" for key in HEADER if key in header]
    return "\n".join([*lines, "", draw_text(world, world.initial), ""])


def draw_text(world: DoorsKeysGems, state: State) -> str:
    """The map as text, in the tiles of level files; a cell that several things share shows the last agent."""
    grid = world.grid
    tiles = dict.fromkeys(grid.cells(), "..")
    keys = len(world.keys)
    for i, item in enumerate(world.items):
        if state.items[i] == GROUND:
            tiles[item.cell] = ("k" if i < keys else "g") + LETTERS.get(item.colour, item.colour[0])
    for d, door in enumerate(world.doors):
        if state.locked >> d & 1:
            tiles[door.cell] = "d" + LETTERS.get(door.colour, door.colour[0])
    for i, cell in enumerate(state.cells):
        tiles[cell] = f"a{i + 1}"
    rows = (" ".join(tiles.get(grid.cell(x, y), "##") for x in range(grid.width)) for y in range(grid.height))
    return "\n".join(rows)


class Levels(list[Level]):
    """Levels by place or by name."""

    @overload
    def __getitem__(self, index: SupportsIndex | str) -> Level: ...

    @overload
    def __getitem__(self, index: slice) -> list[Level]: ...

    def __getitem__(self, index: Any) -> Any:
        """A level by its place or its name. Raises InputError for another name."""
        if not isinstance(index, str):
            return super().__getitem__(index)
        by_name = {level.name: level for level in self}
        if index not in by_name:
            raise unknown("level", index, by_name)
        return by_name[index]


def bundled_levels() -> Levels:
    """The twenty bundled Doors-Keys-Gems levels, in the order of their file names, or by name."""
    return Levels(parse_level(text, path) for text, path in map_file.level_texts(LEVELS / "twenty"))


def find_level(name: str | Path) -> Level:
    """A bundled level by its name, as `garden-gate`, or the level in a file. Raises InputError for another name."""
    levels = bundled_levels()
    if Path(name).suffix or (Path(name).is_file() and all(level.name != str(name) for level in levels)):
        return read_level(Path(name))
    return levels[str(name)]
