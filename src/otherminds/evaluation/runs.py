"""Runs on disk: their progress, faults and exports, and merging shards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from sqlite3 import IntegrityError
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.evaluation.how_begun import resume_command
from otherminds.evaluation.store import DONE, FILE, LOCK, Key, Row, Store, failures_of, line_of_row, rows_of
from otherminds.files.database import Database, InUseError, alone
from otherminds.files.recovery import recovered
from otherminds.language.call_records import SCHEMA, AnsweredCalls, CallTable, UncertainCall

REPORT = "report.html"
ABOUT = "select name, value from about"
PROGRESS = "select count(*), count(finished) from plan left join episodes using (condition, subject, episode)"
CALLS = "select key, model, state, cost, line from calls where state != 'refused' order by key, model, state, cost, n"


class Run(NamedTuple):
    """The progress of a run. `running` says that a program has it open now; `dollars` is what its model calls cost."""

    folder: Path
    name: str
    about: str
    version: str
    begun: str
    planned: int
    finished: int
    failures: dict[Key, str]
    answered: AnsweredCalls
    uncertain: tuple[UncertainCall, ...]
    dollars: float
    running: bool

    @property
    def state(self) -> str:
        """running, unfinished, finished, or without report."""
        if self.running:
            return "running"
        if self.finished < self.planned or not self.planned:
            return "unfinished"
        return "finished" if (self.folder / REPORT).exists() else "without report"


def look(folder: Path) -> Run:
    """The progress of the run in a folder. Raises InputError if there is none, or it is damaged."""
    with closing(_open(folder)) as base:
        about = dict(base.read(ABOUT))
        calls = CallTable(base)
        ((planned, finished),) = base.read(PROGRESS)
        return Run(
            folder=folder,
            name=about.get("run", ""),
            about=about.get("about", ""),
            version=about.get("version", ""),
            begun=about.get("begun", ""),
            planned=planned,
            finished=finished,
            failures=failures_of(base),
            answered=calls.answered(),
            uncertain=calls.uncertain(),
            dollars=calls.spent,
            running=_in_use(folder),
        )


def finished(folder: Path) -> set[Key]:
    """The keys of the finished episodes of the run in a folder; empty if there is no run. Raises InputError."""
    if not (folder / FILE).exists():
        return set()
    with closing(_open(folder)) as base:
        return set(base.read(DONE))


def _open(folder: Path) -> Database:
    """The database of the run in a folder, to read. Raises InputError if the folder holds no run."""
    path = folder / FILE
    if not path.exists():
        raise InputError(f"holds no run: there is no {FILE}", path=folder, hint="see `otherminds runs`")
    return Database(path, SCHEMA, readonly=True)


def _in_use(folder: Path) -> bool:
    """Whether a program holds the lock of the run in a folder."""
    try:
        with alone(folder / LOCK):
            return False
    except InUseError:
        return True
    except InputError:  # a folder that cannot be written is not in use
        return False


def digest(folder: Path) -> str:
    """The SHA-256 of a run: its rows as in rows.jsonl, then its calls with cost and answer, ordered by question.

    No time is part of it: the same run has the same digest, however often it was interrupted. Raises InputError.
    """
    hasher = sha256()
    with closing(_open(folder)) as base:
        run = dict(base.read(ABOUT)).get("run", "")
        for row in rows_of(base):
            hasher.update(line_of_row({**row, "run": run}))
        for *call, line in base.read(CALLS):
            try:
                answer = json.loads(line)["response"] if line else None
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InputError(f"the record of call {call[0]} cannot be read", path=base.path) from None
            hasher.update(json.dumps([*call, answer], sort_keys=True).encode() + b"\n")
    return hasher.hexdigest()


def salvage(folder: Path, out: Path) -> list[str]:
    """Write all rows of a run that are whole into a new run; a line for everything that is not.

    `folder` may also be a record of calls (a file). Raises InputError if nothing is left, or `out` holds a run.
    """
    path = folder / FILE if folder.is_dir() else folder
    if not path.is_file():
        raise InputError(f"holds no run: there is no {FILE}", path=folder, hint="see `otherminds runs`")
    if (out / FILE).exists():
        raise InputError("holds a run already", path=out, hint="choose another folder")
    rows_by_table, faults = recovered(path, SCHEMA)
    if not any(rows_by_table.values()):
        with closing(Database(path, SCHEMA, readonly=True)):  # raises InputError: it says what the file is
            raise InputError("holds no rows", path=path)
    unfinished = out.with_name(f"{out.name}.part")  # so that `out` is whole, or, after a kill, not there
    with alone(unfinished / LOCK):
        for left in unfinished.glob(f"{FILE}*"):
            left.unlink()
        with Database(unfinished / FILE, SCHEMA) as base, base.transaction() as change:
            for table, rows in rows_by_table.items():
                for row in rows:
                    try:
                        change.put(table, *row)
                    except IntegrityError as error:
                        faults.append(f"{table}: a row contradicts another: {error}")
        out.mkdir(parents=True, exist_ok=True)
        (unfinished / FILE).replace(out / FILE)
    rmtree(unfinished)
    return faults


def runs_in(folder: Path) -> list[Path]:
    """The folders of all runs below a folder, the latest last."""
    databases = [path for path in folder.glob(f"**/{FILE}") if path.is_file()]
    return [path.parent for path in sorted(databases, key=lambda path: (path.stat().st_mtime, path))]


def exported_rows(folder: Path) -> list[Row]:
    """All rows of a run in the order of its plan. Raises InputError, also for an unfinished run."""
    with closing(_open(folder)) as base:
        _check_finished(base, folder)
        return list(rows_of(base))


def exported_calls(folder: Path) -> Iterator[bytes]:
    """The calls of a run as lines of a file that can be replayed. Raises InputError, also for an unfinished run."""
    with closing(_open(folder)) as base:
        _check_finished(base, folder)
        return CallTable(base).lines()


def _check_finished(base: Database, folder: Path) -> None:
    """Raise InputError, with the command that resumes it, if a run is unfinished or has no plan."""
    ((planned, finished),) = base.read(PROGRESS)
    if finished < planned or not planned:
        way_on = resume_command(folder, dict(base.read(ABOUT)).get("about", ""))
        hint = f"`{way_on}` goes on with it; shards are merged first"
        raise InputError(f"is unfinished: {finished:,} of {planned:,} episodes", path=folder, hint=hint)


def merge(shards: Sequence[Path], out: Path) -> None:
    """Merge shards of one run into a new folder, with all their calls to models.

    Raises InputError for shards of different runs, shards with different results, or a folder with another run.
    """
    with ExitStack() as stack:
        bases = [stack.enter_context(_open(shard)) for shard in shards]
        abouts = [dict(base.read(ABOUT)) for base in bases]
        first = abouts[0]
        for shard, about in zip(shards, abouts, strict=True):
            if (about.get("run"), about.get("version")) != (first.get("run"), first.get("version")):
                raise InputError(f"is of another run than {shards[0]}", path=shard)
        store = stack.enter_context(Store(out, first.get("run", ""), first.get("about", "")))
        for shard, base in zip(shards, bases, strict=True):
            store.take_in(base, shard)
        CallTable(store.database).take_in(map(CallTable, bases))
