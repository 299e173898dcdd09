"""Tables of what people did: a strict reader of CSV and Parquet files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from otherminds.errors import InputError, install_hint, meant
from otherminds.evaluation.choices import UNPLAYED, Choices
from otherminds.files.text import read_text
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.rules import Game

NO_MOVE = "none"  # the action of a row in which no move was made in time
NOT_RECORDED = ("<NA>", "NA")  # actions of rows that are skipped
LARGEST = 50_000_000  # bytes of a table; bounds memory
COLUMNS = {"person": "person", "group": "group", "match": "match", "round": "round", "own": "own", "other": "other"}
"""The columns of a table by what they hold; group and match may be missing."""
OPTIONAL = ("group", "match")


@dataclass
class _Match:
    """A match while it is read."""

    person: str
    group: str
    game: Game
    last: int = 0
    own: list[int] = field(default_factory=list)
    theirs: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)


def read_choices(
    path: Path,
    game: Callable[[str], Game],
    columns: Mapping[str, str] | None = None,
    *,
    text: str | None = None,
) -> Choices:
    """Read a table of choices, a CSV or Parquet file with named columns.

    One row is one round: `person`, `round` (increasing within a match), `own` and `other` (actions by name, case
    ignored, or by a first letter that only one of them has), and perhaps `group` and `match`. A person who begins a
    new match meets a new partner. `columns` maps these to other names of columns. An own action `none` is a move that
    was missed, rows with `<NA>` are skipped. `game(group)` is the game of a group. `text`, if given, is the table
    itself as CSV; then `path` only names it in errors.
    Raises InputError with file and line.
    """
    column_names = {**COLUMNS, **(columns or {})}
    table = _parquet(path) if path.suffix == ".parquet" else _csv(path, text)
    header = next(table)[1]
    index_of = {name: header.index(column) for name, column in column_names.items() if column in header}
    for name, column in column_names.items():
        if name not in index_of and (name not in OPTIONAL or name in (columns or {})):
            hint = f"it has {', '.join(header)}; --column {name}=NAME says which holds it"
            raise InputError(f"there is no column `{column[:60]}`", path=path, line=1, hint=hint)
    matches: dict[tuple[str, str], _Match] = {}
    group_of: dict[str, tuple[str, int]] = {}
    for line, cells in table:
        if len(cells) != len(header):
            raise InputError(f"{len(cells)} cells instead of {len(header)}", path=path, line=line)
        cell = {name: cells[i].strip() for name, i in index_of.items()}
        _add(matches, group_of, cell, game, path, line)
    played_matches = [match for match in matches.values() if match.own]
    if not played_matches:
        raise InputError("there are no choices in it", path=path)
    if len({match.game.shape for match in played_matches}) > 1:
        raise InputError("its games have different numbers of actions", path=path, hint="fit them one by one")
    return _arrays(played_matches)


def _add(
    matches: dict[tuple[str, str], _Match],
    group_of: dict[str, tuple[str, int]],
    cell: Mapping[str, str],
    game: Callable[[str], Game],
    path: Path,
    line: int,
) -> None:
    """Append the round in one row of the table to its person's match, beginning the match if the row is its first.

    `matches` has a match for each (person, name of match); `group_of` the group of each person, and the line where it
    was first given. `cell` is the row by column: {"person": "p1", "round": "3", "own": "c", "other": "d"}.
    """
    person, group = cell["person"], cell.get("group", "all")
    if not person:
        raise InputError("there is no person", path=path, line=line)
    known_group, first_line = group_of.setdefault(person, (group, line))
    if known_group != group:
        message = f"person {person[:60]} is in group `{group[:60]}`, and in `{known_group[:60]}` in line {first_line}"
        raise InputError(message, path=path, line=line, hint="a person has one group")
    key = (person, cell.get("match", ""))
    match = matches.get(key) or matches.setdefault(key, _Match(person, group, game(group)))
    try:
        round_number = int(cell["round"])
    except ValueError:
        raise InputError(f"round `{cell['round'][:60]}` is no whole number", path=path, line=line) from None
    if round_number <= match.last:
        message = f"round {round_number} of person {person[:60]} comes after round {match.last}"
        raise InputError(message, path=path, line=line, hint="rounds increase within a match")
    match.last = round_number
    if cell["own"] in NOT_RECORDED or cell["other"] in NOT_RECORDED:
        return
    theirs = _action(cell["other"], match.game.actions[1], path, line)
    missed = cell["own"].lower() == NO_MOVE
    match.own.append(MISSED if missed else _action(cell["own"], match.game.actions[0], path, line))
    match.theirs.append(theirs)
    match.number.append(round_number)


def _action(text: str, names: Sequence[str], path: Path, line: int) -> int:
    """The index of an action given by its name or by a first letter that only one has, case ignored.

    Both `c` and `COOPERATE` are 0 among ("Cooperate", "Defect"). Raises InputError if no action is meant.
    """
    plain = text.casefold()
    lower = [name.casefold() for name in names]
    if plain in lower:
        return lower.index(plain)
    initials = [name[0] for name in lower]
    if initials.count(plain) == 1:
        return initials.index(plain)
    hint = meant(text, names, f"`{NO_MOVE}` if no move was made")
    raise InputError(f"there is no action `{text[:60]}`", path=path, line=line, hint=hint)


def _csv(path: Path, text: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with its line number; the first is the header. Empty lines are left out."""
    if text is None:
        text = read_text(path, limit=LARGEST)
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = next(reader, None)
        if not header:
            raise InputError("it is empty", path=path)
        yield 1, [name.strip() for name in header]
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}", path=path, line=reader.line_num) from None


def _parquet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a Parquet file, numbered as the lines of a CSV file would be."""
    if not find_spec("pyarrow"):
        raise InputError("Parquet needs pyarrow", path=path, hint=install_hint("parquet"))
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"this is no Parquet file: {error}", path=path) from None
    yield 1, list(table.column_names)
    columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in table.columns]
    for line, cells in enumerate(zip(*columns, strict=True), 2):
        yield line, list(cells)


def _arrays(matches: Sequence[_Match]) -> Choices:
    """The matches of people as padded arrays: rounds after the end of a match are MISSED, with number 0."""
    group = {match.person: match.group for match in matches}
    index = {name: n for n, name in enumerate(group)}
    most_rounds = max(len(match.own) for match in matches)
    own_moves = np.full((len(matches), most_rounds), MISSED)
    their_moves, numbers = np.zeros_like(own_moves), np.full_like(own_moves, UNPLAYED)
    for s, match in enumerate(matches):
        rounds = len(match.own)
        own_moves[s, :rounds], their_moves[s, :rounds], numbers[s, :rounds] = match.own, match.theirs, match.number
    person = np.array([index[match.person] for match in matches])
    games = tuple(match.game for match in matches)
    return Choices(tuple(index), tuple(group.values()), person, games, own_moves, their_moves, numbers)
