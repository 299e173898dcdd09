"""Runs on disk as tests see them: what was written, and what becomes of them behind the back of the library."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from otherminds.files import database as durable
from otherminds.files.checksums import SUMS, checksum, tables_of
from otherminds.language.call_records import SCHEMA

Row = dict[str, Any]
Key = tuple[str, str, str]

RESULTS = ("rows.jsonl", "summary.json", "report.html")
FORGET = "delete from episodes where condition = ? and subject = ? and episode = ?"


def rows_in(folder: Path) -> list[Row]:
    """The rows that were written when all was played."""
    return [json.loads(line, parse_constant=_refuse) for line in _lines(folder / "rows.jsonl")]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def summary_in(folder: Path) -> list[Row]:
    found: list[Row] = json.loads((folder / "summary.json").read_text("utf-8"), parse_constant=_refuse)
    return found


def timeless(summary: Iterable[Row]) -> list[Row]:
    """A summary without what a clock has said."""
    return [row for row in summary if row["metric"] != "decision_ms"]


def results(folder: Path) -> dict[str, bytes]:
    """All that a run has to show in the end."""
    return {name: (folder / name).read_bytes() for name in RESULTS}


def same_results(one: Path, other: Path) -> bool:
    """Whether two runs have the same to show, byte by byte, but for what a clock has said in their summaries."""
    rows, _, report = RESULTS
    alike = all((one / name).read_bytes() == (other / name).read_bytes() for name in (rows, report))
    return alike and timeless(summary_in(one)) == timeless(summary_in(other))


def read(path: Path, question: str, *about: Any) -> list[Any]:
    """What is in a database."""
    with closing(sqlite3.connect(path)) as base:
        return base.execute(question, about).fetchall()


def alter(path: Path, change: str, about: Sequence[Sequence[Any]] = ((),)) -> int:
    """Change a database, once for each of these, with all its checksums; how many rows of it that changed."""
    count = damage(path, change, about)
    with closing(sqlite3.connect(path)) as base, base:
        for table, columns in tables_of(SCHEMA).items():
            names, sums = ", ".join(column.name for column in columns), list[int]()
            for number, *row in base.execute(f"select rowid, {names} from {table}").fetchall():
                sums.append(checksum(table, row))
                base.execute(f"update {table} set checksum = ? where rowid = ?", (sums[-1], number))
            base.execute("update totals set rows = ?, sum = ? where name = ?", (len(sums), sum(sums) & SUMS, table))
    return count


def damage(path: Path, change: str, about: Sequence[Sequence[Any]] = ((),)) -> int:
    """Change a database behind the back of its checksums, once for each of these; how many rows of it that changed."""
    with closing(sqlite3.connect(path)) as base, base:
        return base.executemany(change, about).rowcount


def episodes_in(folder: Path) -> list[Key]:
    """The episodes that are finished, in the order in which they were."""
    return read(folder / "run.db", "select condition, subject, episode from episodes order by finished")


def interrupted(finished: Path, folder: Path, left_out: Iterable[Key]) -> Path:
    """A copy of a run, as if it had been interrupted before these episodes were finished."""
    again = copied(finished, folder)
    missing = list(left_out)
    assert alter(again / "run.db", FORGET, missing) == len(missing) > 0
    assert episodes_in(again)
    return again


def copied(finished: Path, folder: Path) -> Path:
    """A copy of a run without what was written at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(finished / "run.db", folder / "run.db")
    return folder


@contextmanager
def unsynced() -> Iterator[None]:
    """Within, nothing is waited for to reach the disk."""
    connect = durable.connect

    def connected(path: Path | str) -> sqlite3.Connection:
        base = connect(path)
        base.execute("pragma synchronous = off")
        return base

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable, "connect", connected)
        yield
