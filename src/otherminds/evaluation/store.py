"""A run on disk: its plan, the finished episodes with their rows, and the calls to language models.

All of it is in run.db, an SQLite database in the run's folder. An episode is stored whole or not at all, and a stored
episode is not played again, so a run that was killed at any moment continues where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from otherminds.errors import InputError
from otherminds.evaluation.how_begun import resume_command
from otherminds.files.database import Change, Database, alone
from otherminds.files.text import write_whole
from otherminds.language.call_records import SCHEMA, now
from otherminds.language.prices import BudgetError

Row = dict[str, Any]
Key = tuple[str, str, str]

FILE = "run.db"
LOCK = "run.lock"
ROWS = "rows.jsonl"
MEASURED = "ms"
ROWS_OF = "select rows from episodes where condition = ? and subject = ? and episode = ?"
ORDER = "select condition, subject, episode from plan order by place"
FAILURES = "select condition, subject, episode, why from failures order by at"
EPISODES = "select condition, subject, episode, finished, rows from episodes"
DONE = "select condition, subject, episode from episodes"
USED = "select 1 where exists (select 1 from plan) or exists (select 1 from episodes) or exists (select 1 from calls)"


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


E = TypeVar("E", bound=Entry)


def first_columns(experiment: str, key: Key, seed: int) -> Row:
    """The first columns of every row of an episode."""
    condition, subject, episode = key
    row = {"schema": 1, "experiment": experiment, "condition": condition, "subject": subject, "seed": seed}
    return {**row, "episode": episode}


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
            self.database = self._open.enter_context(Database(self.path, SCHEMA))
            if self.about().get("run", run) != run:
                hint = "choose another folder with --out"
                raise InputError(f"belongs to another run than {run}", path=self.path, hint=hint)
            metadata = {"run": run, "about": about, "version": version("otherminds"), "begun": now()}
            stored = self.about()
            with self.database.transaction() as change:
                for name, value in metadata.items():
                    if name not in stored or (name == "about" and about not in ("", stored[name])):
                        change.drop("about", name=name)
                        change.put("about", name, value)
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        """Close the run; one that failed before anything was planned or asked is removed.

        An interrupt, and the end of a budget, get a note with the command that resumes the run.
        """
        is_unused = False
        with suppress(InputError):
            is_unused = error is not None and not self.database.read(USED)
            if isinstance(error, KeyboardInterrupt | BudgetError) and not is_unused:
                more = ("--budget", error.enough) if isinstance(error, BudgetError) and error.enough else ()
                error.add_note(f"`{self.way_on(*more)}` goes on")
        self.database.close()
        with self._open, suppress(OSError):
            for path in (*self.folder.glob(f"{FILE}*"), self.folder / LOCK) if is_unused else ():
                path.unlink()
        if is_unused:
            with suppress(OSError):  # other files stay
                self.folder.rmdir()

    def about(self) -> dict[str, str]:
        """The run's metadata: `run`, `about`, `version` of the library, and the time it was `begun`."""
        return dict(self.database.read("select name, value from about"))

    def way_on(self, *options: str) -> str:
        """The command that resumes this run."""
        return resume_command(self.folder, self.about().get("about", ""), *options)

    def plan(self, entries: Sequence[Entry]) -> None:
        """Append entries to the plan. The first call drops what earlier programs planned."""
        with self.database.transaction() as change:
            if not self._planned:
                change.drop("plan")
                self._planned = True
            _append_to_plan(change, [entry.key for entry in entries])

    def todo(self, entries: Sequence[E], shard: tuple[int, int] = (1, 1)) -> list[E]:
        """Plan the entries, and return those of this shard that have not been played.

        `shard` is (i, n), the i-th of n from 1: every n-th episode of the plan. Raises UnfinishedError if any is to be
        played and the run is frozen.
        """
        self.plan(entries)
        i, n = shard
        done = self.done()
        places = {key: place for place, key in enumerate(self.order())}
        unplayed = [entry for entry in entries if places[entry.key] % n == i - 1 and entry.key not in done]
        if unplayed and self.frozen:
            raise self._unfinished(len(unplayed))
        return unplayed

    def order(self) -> list[Key]:
        """The keys of all planned episodes, in order."""
        return self.database.read(ORDER)

    def done(self) -> set[Key]:
        """The keys of all finished episodes."""
        return set(self.database.read(DONE))

    def add(self, *episodes: Sequence[Row]) -> None:
        """Store episodes, each given by its rows, in one transaction."""
        with self.database.transaction() as change:
            for rows in episodes:
                episode_key = key(rows[0])
                change.put("episodes", *episode_key, now(), _packed(rows))
                _drop_failure(change, episode_key)

    def fail(self, entry: Entry, why: str) -> None:
        """Store why an episode failed; it remains to be played."""
        with self.database.transaction() as change:
            _drop_failure(change, entry.key)
            change.put("failures", *entry.key, now(), why.encode("utf-8", "backslashreplace").decode())

    def replace(self, rows: Iterable[Row]) -> None:
        """Store the episodes of these rows, and delete all others."""
        episodes = [(episode_key, list(episode_rows)) for episode_key, episode_rows in groupby(rows, key)]
        with self.database.transaction() as change:
            change.drop("episodes")
            change.drop("plan")
            _append_to_plan(change, [episode_key for episode_key, _ in episodes])
            for episode_key, episode_rows in episodes:
                change.put("episodes", *episode_key, now(), _packed(episode_rows))

    def all(self, order: Sequence[Key] | None = None) -> list[Row]:
        """The rows of all planned episodes, in the given order or that of the plan.

        Raises UnfinishedError if planned episodes have not been played.
        """
        if missing := {*self.order()} - self.done():
            raise self._unfinished(len(missing))
        return self.found(order)

    def _unfinished(self, missing: int) -> UnfinishedError:
        """The error for a run without `missing` of its episodes, with the latest failure and the way to go on."""
        failures = failures_of(self.database)
        message = f"{missing:,} of {len(self.order()):,} episodes are missing"
        last = f"; {len(failures):,} failed, such as: {next(reversed(failures.values()))}" if failures else ""
        hint = f"`{self.way_on()}` plays them"
        return UnfinishedError(message + last, failed=len(failures), path=self.folder, hint=hint)

    def found(self, order: Sequence[Key] | None = None) -> list[Row]:
        """The rows of all finished episodes, in the given order or that of the plan."""
        return [{**row, "run": self.run} for row in rows_of(self.database, order)]

    def write_rows(self) -> None:
        """Write all rows to rows.jsonl, one a line, without measured times, which differ from run to run.

        Raises InputError if the file cannot be written.
        """
        write_whole(self.folder / ROWS, map(line_of_row, self.found()))

    def take_in(self, source: Database, folder: Path) -> None:
        """Add the planned and finished episodes of another folder. Raises InputError if their results differ."""
        with self.database.transaction() as change:
            _append_to_plan(change, source.read(ORDER))
            for *episode_key, finished, text in source.read(EPISODES):
                if not (stored := change.read(ROWS_OF, episode_key)):
                    change.put("episodes", *episode_key, finished, text)
                    continue
                ours, theirs = ([*map(lasting, json.loads(rows))] for rows in (stored[0][0], text))
                if ours != theirs:
                    raise InputError(f"the episode {' '.join(episode_key)} came out differently", path=folder)


def _append_to_plan(change: Change, keys: Iterable[Key]) -> None:
    """Append to the plan the keys that are not in it yet."""
    planned = {*change.read("select condition, subject, episode from plan")}
    for episode_key in keys:
        if episode_key not in planned:
            planned.add(episode_key)
            change.put("plan", None, *episode_key)


def _drop_failure(change: Change, episode_key: Key) -> None:
    change.drop("failures", condition=episode_key[0], subject=episode_key[1], episode=episode_key[2])


def rows_of(database: Database, order: Sequence[Key] | None = None) -> Iterator[Row]:
    """The rows of a run, by episodes in the given order or that of its plan. Raises InputError for damaged rows."""
    for episode_key in database.read(ORDER) if order is None else order:
        for (text,) in database.read(ROWS_OF, episode_key):
            try:
                rows: list[Row] = json.loads(text)
                if {key(row) for row in rows} != {episode_key}:
                    raise ValueError
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                fault = f"the rows of the episode {' '.join(episode_key)} are damaged"
                raise InputError(fault, path=database.path) from None
            yield from rows


def failures_of(database: Database) -> dict[Key, str]:
    """The failed episodes of a run, each with the reason."""
    return {(c, s, e): why for c, s, e, why in database.read(FAILURES)}


def key(row: Row) -> Key:
    """Condition, subject and episode of a row."""
    return (row["condition"], row["subject"], row["episode"])


def lasting(row: Row) -> Row:
    """A row without the measured time of its decision; everything else follows from the plan and the seed."""
    return {name: value for name, value in row.items() if name != MEASURED}


def line_of_row(row: Row) -> bytes:
    """A row as a line of rows.jsonl, without its measured time."""
    return json.dumps(lasting(row), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _packed(rows: Sequence[Row]) -> str:
    """Rows as compact JSON text; characters that UTF-8 does not have are escaped."""
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode()
