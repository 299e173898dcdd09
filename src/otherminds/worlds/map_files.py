"""What the map files of worlds with avatars have in common: a map, an empty line, and lines of `key: value`.

Lines that begin with `;` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.worlds.avatars import Reach
from otherminds.worlds.grid import Grid
from otherminds.worlds.level_files import MAX_SIDE, Line, agent_names, rows_of

MAX_PLAYERS = 9


class MapFile(NamedTuple):
    """The rows of a map and what is said about it, every line with its number in the file."""

    rows: tuple[Line, ...]
    said: Mapping[str, Line]
    path: Path


def read_map(text: str, path: Path, examples: Mapping[str, str], required: Sequence[str]) -> MapFile:
    """The parts of a map file; `examples` has a good line for every key that is known.

    Raises InputError if there is no map or it is too large, for what is not `key: value`, and for a key that is
    unknown, given twice, or missing.
    """
    rows = enumerate(rows_of(text, path), 1)
    lines = [Line(n, row.removesuffix("\r")) for n, row in rows if not row.startswith(";")]
    gap = next((i for i, line in enumerate(lines) if not line.text.strip()), len(lines))
    squares = tuple(lines[:gap])
    if not squares:
        hint = "the map comes first, then an empty line, then lines such as `players: 2`"
        raise InputError("has no map", path=path, line=1, hint=hint)
    if max(len(squares), *(len(row.text) for row in squares)) > MAX_SIDE:
        raise InputError(f"the map is larger than {MAX_SIDE} × {MAX_SIDE}", path=path, line=squares[0].number)
    said = _said([line for line in lines[gap:] if line.text.strip()], path, examples)
    for key in required:
        if key not in said:
            hint = f"such as `{examples[key]}`"
            raise InputError(f"`{key}` is missing", path=path, line=lines[-1].number, hint=hint)
    return MapFile(squares, said, path)


def _said(lines: Sequence[Line], path: Path, examples: Mapping[str, str]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    for number, text in lines:
        key, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or not value:
            hint = f"such as `{next(iter(examples.values()))}`"
            raise InputError(f"`{text}` is not `key: value`", path=path, line=number, hint=hint)
        if key not in examples:
            hint = f"one of {', '.join(examples)}"
            raise InputError(f"unknown key `{key}`", path=path, line=number, column=1, hint=hint)
        if key in found:
            raise InputError(f"`{key}` is given twice", path=path, line=number, column=1)
        found[key] = Line(number, value)
    return found


def check_characters(map_file: MapFile, known: Iterable[str]) -> None:
    """Raises InputError for the first character that is not known, and for rows that are not equally long."""
    letters = list(dict.fromkeys(known))
    width = len(map_file.rows[0].text)
    for number, row in map_file.rows:
        for column, letter in enumerate(row, 1):
            if letter not in letters:
                hint = f"one of {' '.join(x for x in letters if x != ' ')} and space"
                message = f"unknown character `{letter}`"
                raise InputError(message, path=map_file.path, line=number, column=column, hint=hint)
        if len(row) != width:
            message = f"this row has {len(row)} characters, the first one has {width}"
            hint = "fill rows up with spaces, or end them all with a wall"
            column = min(len(row), width) + 1
            raise InputError(message, path=map_file.path, line=number, column=column, hint=hint)


def players_of(map_file: MapFile, starts: str) -> tuple[str, ...]:
    """Who plays: so many `players`, or the `agents` by name. Raises InputError if there are fewer starts."""
    said, path = map_file.said, map_file.path
    given = [said[key] for key in ("players", "agents") if key in said]
    if len(given) != 1:
        last = given[-1] if given else map_file.rows[-1]
        hint = "`players: 2` or `agents: Ana, Ben`"
        raise InputError("needs either `players` or `agents`", path=path, line=last.number, hint=hint)
    line = given[0]
    if "agents" in said:
        names = agent_names(line, path)
    else:
        names = tuple(f"player_{i}" for i in range(whole(line, "players", path, least=1, most=MAX_PLAYERS)))
    found = sum(row.text.count(letter) for row in map_file.rows for letter in starts)
    if found < len(names):
        places = " or ".join(f"`{letter}`" for letter in starts)
        message = f"{found or 'no'} start{'s' * (found != 1)} for {len(names)} players"
        raise InputError(message, path=path, line=line.number, hint=f"mark floor of the map with {places}")
    return names


def reached(grid: Grid, starts: Iterable[int]) -> set[int]:
    """The cells to which one can walk from a start."""
    found = edge = set(starts)
    while edge:
        edge = {near for cell in edge for near in grid.neighbours[cell]} - found
        found = found | edge
    return found


def reach_of(line: Line, path: Path) -> Reach:
    """How far a line lets avatars see. Raises InputError if it does not say."""
    if not re.fullmatch(r"\d{1,2}(\s+\d{1,2}){3}", line.text, re.ASCII):
        hint = "left right forward backward, such as `window: 2 2 3 1`"
        raise InputError("`window` is not four numbers from 0 to 99", path=path, line=line.number, hint=hint)
    return Reach(*map(int, line.text.split()))


def whole(line: Line, key: str, path: Path, *, least: int = 0, most: int = 99999) -> int:
    """The whole number that a line gives. Raises InputError if it does not."""
    if not re.fullmatch(r"\d{1,5}", line.text, re.ASCII) or not least <= int(line.text) <= most:
        raise InputError(f"`{key}` is not a whole number from {least} to {most}", path=path, line=line.number)
    return int(line.text)


def number(text: str, key: str, line: Line, path: Path, *, least: float = -1e6, most: float = 1e6) -> float:
    """The decimal number in a text of a line. Raises InputError if there is none."""
    if not re.fullmatch(r"-?\d{0,7}(\.\d{1,9})?", text, re.ASCII) or not re.search(r"\d", text):
        raise InputError(f"`{key}`: `{text}` is not a number", path=path, line=line.number)
    if not least <= float(text) <= most:
        raise InputError(f"`{key}` is not from {least:g} to {most:g}", path=path, line=line.number)
    return float(text)
