"""A run on disk: its plan, the finished episodes with their rows, and the calls to language models.

All of it is in run.db, an SQLite database in the run's folder. An episode is stored whole or not at all, and a stored
episode is not played again, so a run that was killed at any moment continues where it stopped.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from otherminds.errors import InputError
from otherminds.files.database import Database, alone
from otherminds.language.call_records import SCHEMA as CALLS
from otherminds.language.call_records import now

Row = dict[str, Any]
Key = tuple[str, str, str]

FILE = "run.db"
LOCK = "run.lock"
ROWS = "rows.jsonl"
MEASURED = "ms"
SCHEMA = """
create table if not exists about (name text primary key, value text not null) without rowid;
create table if not exists plan (
  place integer primary key, condition text not null, subject text not null, episode text not null,
  unique (condition, subject, episode)
);
create table if not exists episodes (
  condition text not null, subject text not null, episode text not null,
  finished text not null, rows text not null, checksum integer not null,
  primary key (condition, subject, episode)
);
create table if not exists failures (
  condition text not null, subject text not null, episode text not null, at text not null, why text not null,
  primary key (condition, subject, episode)
);
create view if not exists rows as
  select condition, subject, episode, each.value as row from episodes, json_each(episodes.rows) as each;
"""
PLANNED = "insert or ignore into plan (condition, subject, episode) values (?, ?, ?)"
LATEST = "update about set value = ? where name = 'about'"
FINISHED = "insert into episodes values (?, ?, ?, ?, ?, ?)"
FORGIVEN = "delete from failures where condition = ? and subject = ? and episode = ?"
FAILED = "insert or replace into failures values (?, ?, ?, ?, ?)"
ROWS_OF = "select rows, checksum from episodes where condition = ? and subject = ? and episode = ?"
ORDER = "select condition, subject, episode from plan order by place"
FAILURES = "select condition, subject, episode, why from failures order by at"
DONE = "select condition, subject, episode from episodes"


class UnfinishedError(InputError):
    """Episodes of the run are missing, so it has no report yet. `failed` is the number of episodes that failed."""

    def __init__(self, message: str, *, failed: int, path: Path, hint: str) -> None:
        super().__init__(message, path=path, hint=hint)
        self.failed = failed


class Entry(Protocol):
    """One episode of a plan."""

    @property
    def key(self) -> Key:
        """Condition, subject and episode: unique in a run."""
        ...


E = TypeVar("E", bound=Entry)


class Store:
    """One run in a folder, opened by one program at a time.

    `run` is its name: a folder with another run is refused. `about` records how the run was begun or last resumed.
    """

    def __init__(self, folder: Path, run: str, about: str = "", *, frozen: bool = False) -> None:
        """Open or begin a run; nothing is played in a frozen one.

        Raises InputError if the folder holds another run, is in use, or cannot be written.
        """
        self.folder, self.run, self.frozen = folder, run, frozen
        self.path = folder / FILE
        self._planned = False
        self._open = ExitStack()
        self._open.enter_context(alone(folder / LOCK))
        try:
            self.database = self._open.enter_context(Database(self.path, SCHEMA + CALLS))
            if self.about().get("run", run) != run:
                hint = "choose another folder with --out"
                raise InputError(f"belongs to another run than {run}", path=self.path, hint=hint)
            known = {"run": run, "about": about, "version": version("otherminds"), "begun": now()}
            with self.database.transaction() as base:
                base.executemany("insert or ignore into about values (?, ?)", known.items())
                base.executemany(LATEST, [(about,)] if about else [])
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def about(self) -> dict[str, str]:
        """The run's metadata: `run`, `about`, `version` of the library, and the time it was `begun`."""
        return dict(self.database.read("select name, value from about"))

    def plan(self, entries: Sequence[Entry]) -> None:
        """Append entries to the plan. The first call drops what earlier programs planned."""
        with self.database.transaction() as base:
            if not self._planned:
                base.execute("delete from plan")
                self._planned = True
            base.executemany(PLANNED, (entry.key for entry in entries))

    def todo(self, entries: Sequence[E], shard: tuple[int, int] = (1, 1)) -> list[E]:
        """Plan the entries, and return those of this shard that have not been played.

        Raises UnfinishedError if entries are left and the run is frozen.
        """
        self.plan(entries)
        number, of = shard
        done = self.done()
        places = {key: place for place, key in enumerate(self.order())}
        left = [entry for entry in entries if places[entry.key] % of == number - 1 and entry.key not in done]
        if left and self.frozen:
            raise self._unfinished(len(left))
        return left

    def order(self) -> list[Key]:
        """The keys of all planned episodes, in order."""
        return self.database.read(ORDER)

    def done(self) -> set[Key]:
        """The keys of all finished episodes."""
        return set(self.database.read(DONE))

    @property
    def missing(self) -> int:
        """The number of planned episodes that have not been played."""
        return len(set(self.order()) - self.done())

    def add(self, *episodes: Sequence[Row]) -> None:
        """Store episodes, each given by its rows, in one transaction."""
        told = [(*key(rows[0]), now(), *_packed(rows)) for rows in episodes]
        with self.database.transaction() as base:
            base.executemany(FINISHED, told)
            base.executemany(FORGIVEN, (one[:3] for one in told))

    def fail(self, entry: Entry, why: str) -> None:
        """Store why an episode failed; it remains to be played."""
        with self.database.transaction() as base:
            base.execute(FAILED, (*entry.key, now(), why.encode("utf-8", "backslashreplace").decode()))

    def replace(self, rows: Iterable[Row]) -> None:
        """Store the episodes of these rows, and delete all others."""
        episodes = [(about, list(mine)) for about, mine in groupby(rows, key)]
        with self.database.transaction() as base:
            base.execute("delete from episodes")
            base.execute("delete from plan")
            base.executemany(PLANNED, (about for about, _ in episodes))
            base.executemany(FINISHED, ((*about, now(), *_packed(mine)) for about, mine in episodes))

    def all(self, order: Sequence[Key] | None = None) -> list[Row]:
        """The rows of all planned episodes, in the given order or that of the plan.

        Raises UnfinishedError if planned episodes have not been played.
        """
        if missing := self.missing:
            raise self._unfinished(missing)
        return self.found(order)

    def _unfinished(self, missing: int) -> UnfinishedError:
        failures = failures_of(self.database)
        told = f"{missing:,} of {len(self.order()):,} episodes are missing"
        last = f"; {len(failures):,} failed, such as: {next(reversed(failures.values()))}" if failures else ""
        hint = f"`otherminds resume {self.folder}` plays them"
        return UnfinishedError(told + last, failed=len(failures), path=self.folder, hint=hint)

    def found(self, order: Sequence[Key] | None = None) -> list[Row]:
        """The rows of all finished episodes, in the given order or that of the plan."""
        return list(self._rows(order))

    def _rows(self, order: Sequence[Key] | None) -> Iterator[Row]:
        return ({**row, "run": self.run} for row in rows_of(self.database, order))

    def write_rows(self) -> None:
        """Write all rows to rows.jsonl, one a line, without measured times, which differ from run to run.

        Raises InputError if the file cannot be written.
        """
        lines = (json.dumps(lasting(row), ensure_ascii=False) for row in self._rows(None))
        write_whole(self.folder / ROWS, (line.encode("utf-8", "backslashreplace") + b"\n" for line in lines))

    def take_in(self, other: Database, folder: Path) -> None:
        """Add the planned and finished episodes of another folder. Raises InputError if their results differ."""
        with self.database.transaction() as base:
            base.executemany(PLANNED, other.read(ORDER))
            for *about, finished, text, checksum in other.read("select * from episodes"):
                known = base.execute(ROWS_OF, about).fetchone()
                if known is None:
                    base.execute(FINISHED, (*about, finished, text, checksum))
                elif known[0] != text and [*map(lasting, json.loads(known[0]))] != [*map(lasting, json.loads(text))]:
                    raise InputError(f"the episode {' '.join(about)} came out differently", path=folder)


def rows_of(database: Database, order: Sequence[Key] | None = None) -> Iterator[Row]:
    """The rows of a run, by episodes in the given order or that of its plan. Raises InputError for damaged rows."""
    for about in database.read(ORDER) if order is None else order:
        for text, checksum in database.read(ROWS_OF, about):
            try:
                found: list[Row] = json.loads(text)
                if zlib.crc32(text.encode()) != checksum or {key(row) for row in found} != {about}:
                    raise ValueError
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                fault = f"the rows of the episode {' '.join(about)} are damaged"
                raise InputError(fault, path=database.path) from None
            yield from found


def failures_of(database: Database) -> dict[Key, str]:
    """The failed episodes of a run, each with the reason."""
    return {(c, s, e): why for c, s, e, why in database.read(FAILURES)}


def key(row: Row) -> Key:
    """Condition, subject and episode of a row."""
    return (row["condition"], row["subject"], row["episode"])


def lasting(row: Row) -> Row:
    """A row without the measured time of its decision; everything else follows from the plan and the seed."""
    return {name: value for name, value in row.items() if name != MEASURED}


def _packed(rows: Sequence[Row]) -> tuple[str, int]:
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    text = text.encode("utf-8", "backslashreplace").decode()
    return text, zlib.crc32(text.encode())


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file so that it exists whole or not at all. Raises InputError if it cannot be written."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path) from None
