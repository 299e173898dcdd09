"""What the readers of level files share: lines, `key: value` headers, names, numbers, maps of worlds with avatars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from otherminds.errors import InputError
from otherminds.files.html import safe
from otherminds.worlds.avatars import Reach
from otherminds.worlds.grid import Grid

# Limits of what a reader accepts, chosen far above any bundled file.
MAX_PLAYERS = 9
MAX_SIDE = 64  # width and height of a map, in cells
MAX_LINES = 10_000

W = TypeVar("W")


@dataclass(frozen=True)
class WorldLevel(Generic[W]):
    """A world, the number of steps to play (`horizon`), and the claims about it (`certificate`)."""

    name: str
    world: W
    horizon: int
    certificate: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([self.name, *filter(None, [self.kind])])}: {self.world!r})"

    def _repr_html_(self) -> str:
        shown = getattr(self.world, "_repr_html_", lambda: safe(repr(self.world)))()
        return f"<div><b>{safe(self.name)}</b> {safe(self.kind)}</div>{shown}"

    @property
    def kind(self) -> str:
        """Whether help is not_needed, useful or necessary; empty if the level has not been classified."""
        return self.certificate.get("class", "")


class FileLine(NamedTuple):
    """A line of a file, its number, from 1, and the file."""

    number: int
    text: str
    path: Path

    def wrong(self, message: str, hint: str | None = None, column: int | None = None) -> InputError:
        """The error that this line is wrong, at a column if one is given."""
        return InputError(message, path=self.path, line=self.number, column=column, hint=hint)


class MapFile(NamedTuple):
    """The rows of a map, and the values of its `key: value` lines by key."""

    rows: tuple[FileLine, ...]
    settings: Mapping[str, FileLine]


def read_map(text: str, path: Path, examples: Mapping[str, str], required: Sequence[str]) -> MapFile:
    """The parts of a map file: a map, an empty line, then `key: value` lines.

    `examples` has a valid line for every known key, `required` lists the keys that must be given. Raises InputError
    for a missing or too large map, for a line that is not `key: value`, and for an unknown, repeated or missing key.
    """
    rows = enumerate(rows_of(text, path), 1)
    lines = [FileLine(n, row.removesuffix("\r"), path) for n, row in rows if not row.startswith(";")]
    gap = next((i for i, line in enumerate(lines) if not line.text.strip()), len(lines))
    squares = tuple(lines[:gap])
    if not squares:
        hint = "the map comes first, then an empty line, then lines such as `players: 2`"
        raise FileLine(1, "", path).wrong("has no map", hint)
    check_size(max(len(row.text) for row in squares), squares)
    hint = f"such as `{next(iter(examples.values()))}`"
    settings = key_values((line for line in lines[gap:] if line.text.strip()), list(examples), hint)
    require(settings, {key: examples[key] for key in required}, lines[-1])
    return MapFile(squares, settings)


def key_values(lines: Iterable[FileLine], keys: Sequence[str], hint: str | None = None) -> dict[str, FileLine]:
    """The values of `key: value` lines by key. Raises InputError for any other line or an unknown or repeated key."""
    lines_by_key: dict[str, FileLine] = {}
    for line in lines:
        key, colon, value = (part.strip() for part in line.text.partition(":"))
        if not colon or not value:
            raise line.wrong(f"`{line.text}` is not `key: value`", hint)
        if key not in keys:
            raise line.wrong(f"unknown key `{key}`", f"one of {', '.join(keys)}", column=1)
        if key in lines_by_key:
            raise line.wrong(f"`{key}` is given twice", column=1)
        lines_by_key[key] = line._replace(text=value)
    return lines_by_key


def require(settings: Mapping[str, FileLine], examples: Mapping[str, str], line: FileLine) -> None:
    """Raises InputError at `line` for the first key of `examples` that is missing, with its example."""
    for key, example in examples.items():
        if key not in settings:
            raise line.wrong(f"`{key}` is missing", f"such as `{example}`")


def rows_of(text: str, path: Path) -> list[str]:
    """The lines of a level file. Raises InputError for more than MAX_LINES."""
    if text.count("\n") > MAX_LINES:
        raise InputError(f"has more than {MAX_LINES:,} lines", path=path, line=MAX_LINES + 1)
    return text.removesuffix("\n").split("\n")  # not splitlines(): editors count newlines only


def agent_names(line: FileLine) -> tuple[str, ...]:
    """The comma-separated agent names of a line. Raises InputError for an invalid or repeated name, or too many."""
    names = tuple(name.strip() for name in line.text.split(","))
    for name in names:
        if not re.fullmatch(r"[^\W\d_]\w{0,23}", name):
            raise line.wrong(f"`{name}` cannot be an agent's name", "a letter, then up to 23 letters or digits")
    if len(set(names)) < len(names) or len(names) > MAX_PLAYERS:
        raise line.wrong("agents need different names, nine at most")
    return names


def read_horizon(line: FileLine) -> int:
    """The number of steps in a line, from 1 to 99999. Raises InputError for anything else."""
    if not re.fullmatch(r"[1-9]\d{0,4}", line.text):
        raise line.wrong("`horizon` is not a number of steps from 1 to 99999")
    return int(line.text)


def check_size(width: int, rows: Sequence[FileLine]) -> None:
    """Raises InputError for a map with more than MAX_SIDE cells in a row or column."""
    if max(width, len(rows)) > MAX_SIDE:
        raise rows[0].wrong(f"the map is larger than {MAX_SIDE} × {MAX_SIDE}")


def check_characters(rows: Sequence[FileLine], allowed: Iterable[str]) -> None:
    """Raises InputError for the first unknown character, and for rows of different lengths."""
    letters = list(dict.fromkeys(allowed))
    width = len(rows[0].text)
    for line in rows:
        for column, letter in enumerate(line.text, 1):
            if letter not in letters:
                hint = f"one of {' '.join(x for x in letters if x != ' ')} and space"
                raise line.wrong(f"unknown character `{letter}`", hint, column)
        length = len(line.text)
        if length != width:
            message = f"this row has {length} characters, the first one has {width}"
            hint = "fill rows up with spaces, or end them all with a wall"
            raise line.wrong(message, hint, min(length, width) + 1)


def players_of(map_file: MapFile, starts: str) -> tuple[str, ...]:
    """The names of the players, from a `players` or an `agents` line. Raises InputError if the map has fewer starts."""
    settings = map_file.settings
    player_lines = [settings[key] for key in ("players", "agents") if key in settings]
    if len(player_lines) != 1:
        last = player_lines[-1] if player_lines else map_file.rows[-1]
        raise last.wrong("needs either `players` or `agents`", "`players: 2` or `agents: Ana, Ben`")
    line = player_lines[0]
    if "agents" in settings:
        names = agent_names(line)
    else:
        names = tuple(f"player_{i}" for i in range(whole(line, "players", least=1, most=MAX_PLAYERS)))
    start_count = sum(row.text.count(letter) for row in map_file.rows for letter in starts)
    if start_count < len(names):
        places = " or ".join(f"`{letter}`" for letter in starts)
        message = f"{start_count or 'no'} start{'s' * (start_count != 1)} for {len(names)} players"
        raise line.wrong(message, f"mark floor of the map with {places}")
    return names


def reached(grid: Grid, starts: Iterable[int]) -> set[int]:
    """The cells that can be reached on foot from a start."""
    visited = frontier = set(starts)
    while frontier:
        frontier = {near for cell in frontier for near in grid.neighbours[cell]} - visited
        visited = visited | frontier
    return visited


def reach_of(line: FileLine) -> Reach:
    """The window of view that a line gives. Raises InputError for anything but four numbers from 0 to 99."""
    if not re.fullmatch(r"\d{1,2}(\s+\d{1,2}){3}", line.text, re.ASCII):
        hint = "left right forward backward, such as `window: 2 2 3 1`"
        raise line.wrong("`window` is not four numbers from 0 to 99", hint)
    return Reach(*map(int, line.text.split()))


def whole(line: FileLine, key: str, *, least: int = 0, most: int = 99999) -> int:
    """The whole number in a line. Raises InputError for anything else, or outside [least, most]."""
    if not re.fullmatch(r"\d{1,5}", line.text, re.ASCII) or not least <= int(line.text) <= most:
        raise line.wrong(f"`{key}` is not a whole number from {least} to {most}")
    return int(line.text)


def number(text: str, key: str, line: FileLine, *, least: float = -1e6, most: float = 1e6) -> float:
    """The decimal number in a part of a line. Raises InputError for anything else, or outside [least, most]."""
    if not re.fullmatch(r"-?\d{0,7}(\.\d{1,9})?", text, re.ASCII) or not re.search(r"\d", text):
        raise line.wrong(f"`{key}`: `{text}` is not a number")
    if not least <= float(text) <= most:
        raise line.wrong(f"`{key}` is not from {least:g} to {most:g}")
    return float(text)


def level_texts(folder: Traversable, suffix: str = ".txt") -> list[tuple[str, Path]]:
    """The text and the name of every file in a folder with this suffix, sorted by name."""
    files = sorted((file for file in folder.iterdir() if file.name.endswith(suffix)), key=lambda file: file.name)
    return [(file.read_text("utf-8"), Path(file.name)) for file in files]


def bundled_text(world: str, *path: str) -> tuple[str, Path]:
    """The text and the name of a file that is bundled with a world."""
    file = resources.files("otherminds.worlds").joinpath(world, *path)
    return file.read_text("utf-8"), Path(file.name)
