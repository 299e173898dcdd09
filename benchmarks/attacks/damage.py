"""A run with calls to a model whose files are damaged: single bytes, and edits of its tables, log and length.

    python -m benchmarks.attacks.damage --flips 10000
    python -m benchmarks.attacks.damage --flips 2500 --first 2500    # a part of it; edits belong to the first part

What runs, export, merge, report and resume read must be what was written, or refused in one line; what is salvaged
must be whole, and only rows on the page of a flipped byte may be missing. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import own_agents
from benchmarks.keeping import keep, option
from otherminds.errors import InputError
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.how_begun import begun
from otherminds.evaluation.runs import digest, exported_calls, exported_rows, look, merge, salvage
from otherminds.evaluation.store import Store
from otherminds.files import database as durable
from otherminds.files.checksums import PAGE
from otherminds.files.recovery import recovered
from otherminds.language.call_records import SCHEMA
from otherminds.language.prices import Price
from otherminds.papers.functional.check import CheckOptions, check_as_asked
from run_files import unsynced

RUN, LOG = "run.db", "run.db-wal"
AGENT, LAST = "own_agents:counted", 40  # the call at which the killed run is killed
SALVAGED = 10  # every tenth flip is also salvaged
TABLES = ("about", "plan", "episodes", "failures", "calls")
EDITS = (
    "delete from {t} where rowid = (select max(rowid) from {t})",
    "delete from {t}",
    "update {t} set checksum = checksum + 1 where rowid = 1",
    "update {t} set checksum = -checksum where rowid = 1",
    "update {t} set checksum = 'mine' where rowid = 1",
    "update {t} set checksum = cast(checksum as blob)",
    "update {t} set {c} = {c} || 'x' where rowid = 1",
    "update {t} set {c} = cast({c} as blob) where rowid = 1",
    "update {t} set {c} = 7 where rowid = 1",
    "update {t} set {c} = upper({c}) where rowid = 2",
    "update {t} set rowid = rowid + 1000",
    "update totals set rows = rows + 1 where name = '{t}'",
    "update totals set sum = 0 where name = '{t}'",
    "update totals set sum = 'x' where name = '{t}'",
    "delete from totals where name = '{t}'",
    "create trigger mine after insert on {t} begin delete from episodes; end",
    "create trigger mine before delete on {t} begin select raise(ignore); end",
    "create trigger mine after update on {t} begin update totals set sum = 0; end",
    "create view mine as select * from {t}",
    "create index mine on {t} ({c})",
    "alter table {t} add column mine",
    "alter table {t} rename to mine",
    "alter table {t} rename column {c} to mine",
    "drop table {t}",
    "create table mine as select * from {t}",
)
NONE = {"wrong": 0, "intact rows lost": 0}  # what must not be, told also if it is not
COLUMNS = {"about": "value", "plan": "subject", "episodes": "rows", "failures": "why", "calls": "line"}
MORE = (
    *(f"pragma user_version = {n}" for n in (0, 1, 3, 255, -1)),
    *(f"pragma application_id = {n}" for n in (0, 1, -1)),
    *(f"update calls set cost = {cost} where n = 3" for cost in ("-cost - 1", "'lots'", "cost + 1", "9e299", "x'00'")),
    *(f"update calls set state = '{state}' where n = 3" for state in ("lost", "refused", "sent", "twice")),
    "update calls set line = (select line from calls as other where other.n = 5 - calls.n) where n in (2, 3)",
    "update calls set n = -n",
    "insert into calls select 999, key || 'x', model, place, sent, 'sent', cost, line, checksum from calls where n = 1",
    "insert into episodes select condition, subject, episode || 'x', finished, rows, checksum from episodes limit 1",
    "insert into about values ('trusted', 'yes', 0)",
    "drop index answers",
    "drop index unsettled",
    "drop index costs",
    "vacuum",
)


class Models(own_agents.Counted):
    """A scripted model; at one call, the run's files are copied as they are then."""

    def __init__(self, folder: Path, copy: Path) -> None:
        super().__init__()
        self.folder, self.copy = folder, copy

    def _count(self) -> None:
        super()._count()
        if self.asked == LAST:
            shutil.copytree(self.folder, self.copy)


def begin(folder: Path) -> tuple[Path, Path]:
    """A finished run, and a copy of it from before it was finished, with its log."""
    done, killed = folder / "done", folder / "killed"
    own_agents.counted = Models(done, killed)
    asking = Asking(AGENT, price=Price(1.0, 2.0))
    check_as_asked(CheckOptions(done, asking, (AGENT,), ("ipd",), ("tft", "always-defect"), rounds=10, max_regret=9.0))
    return done, killed


def readings(folder: Path, out: Path) -> list[Any]:
    """What the functions behind the commands read from a run, one after the other, or how they refuse it."""
    shutil.rmtree(out, ignore_errors=True)

    def merged() -> str:
        merge([folder], out)
        return digest(out)

    def opened() -> list[Any]:
        with Store(folder, look(folder).name, frozen=True) as store:
            return [store.order(), store.done(), store.found()]

    ways: tuple[Callable[[], Any], ...] = (
        lambda: look(folder)._replace(folder=Path()),
        lambda: begun(look(folder).about, folder),
        lambda: digest(folder),
        lambda: exported_rows(folder),
        lambda: list(exported_calls(folder)),
        merged,
        opened,
    )
    durable.LOG_CHECKS, durable.CHECK_INTERVAL = 1, 0.0  # nobody is writing
    with unsynced():
        return [tried(way) for way in ways]


def tried(way: Callable[[], Any]) -> Any:
    """What a function returns, or None if it refuses in one line. Anything else raised goes through."""
    try:
        return way()
    except InputError as error:
        if "\n" in str(error) or not str(error):
            raise AssertionError("is not told in one line") from error
        return None


def copied(whole: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    return folder


def judged(whole: list[Any], found: list[Any]) -> str:
    """Whether a damaged run reads as the whole one, is refused, or (which must not be) neither."""
    if found == whole:
        return "the same"
    return "refused" if all(one in (None, right) for one, right in zip(found, whole, strict=True)) else "wrong"


def missing(folder: Path, out: Path, whole: dict[str, Any]) -> set[tuple[str, str]]:
    """The rows that were not salvaged. Raises AssertionError for a salvaged row that was never written."""
    shutil.rmtree(out, ignore_errors=True)
    if tried(lambda: salvage(folder, out)) is None:
        return rows_in(whole)
    found = rows_in(recovered(out / RUN, SCHEMA).rows)
    assert found <= rows_in(whole)
    return rows_in(whole) - found


def rows_in(tables: dict[str, Any]) -> set[tuple[str, str]]:
    return {(table, repr(tuple(row))) for table, rows in tables.items() for row in rows}


def flips(run: Path, place: Path, numbers: Iterable[int], seed: int) -> Counter[str]:
    """Flip single bytes of the database and its log, one for each number, and read and salvage the run."""
    parts = {name: (run / name).read_bytes() for name in (RUN, LOG) if (run / name).exists()}
    out, folder = place / "out", copied(run, place / "one")
    whole, rows, found = readings(folder, out), recovered(run / RUN, SCHEMA).rows, Counter(NONE)
    for n in numbers:
        rng = np.random.default_rng([seed, n])
        at = int(rng.integers(sum(map(len, parts.values()))))
        name, at = (RUN, at) if at < len(parts[RUN]) else (LOG, at - len(parts[RUN]))
        folder = copied(run, place / "one")
        changed = bytearray(parts[name])
        changed[at] ^= int(rng.integers(1, 256))
        (folder / name).write_bytes(changed)
        spare = copied(folder, place / "spare")
        result = judged(whole, readings(folder, out))
        found[result] += 1
        if result == "wrong":
            print(f"wrong: byte {at} of {name}")
        if n // 2 % SALVAGED == 0:
            lost = missing(spare, out, rows)
            found["salvaged"] += 1
            found["rows lost"] += len(lost)
            if name == RUN and not lost <= beside(run, place / "spare", at // PAGE, rows):
                found["intact rows lost"] += 1
                print(f"intact rows lost: byte {at}")
    return found


def beside(run: Path, place: Path, page: int, rows: dict[str, Any]) -> set[tuple[str, str]]:
    """The rows that have bytes on a page: those that are gone without it."""
    copied(run, place)
    data = bytearray((place / RUN).read_bytes())
    data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    (place / RUN).write_bytes(data)
    return rows_in(rows) - rows_in(recovered(place / RUN, SCHEMA).rows)


def edited(run: Path, other: Path, place: Path) -> Iterator[tuple[str, Path]]:
    """Copies of a run, each with one edit."""
    statements = [edit.format(t=t, c=COLUMNS[t]) for t in TABLES for edit in EDITS] + list(MORE)
    for statement in statements:
        folder = copied(run, place / "one")
        with closing(sqlite3.connect(folder / RUN, isolation_level=None)) as base:
            base.execute("pragma ignore_check_constraints = on")
            rows = base.execute(statement).rowcount
        if rows:  # there was something to edit, or it is another kind of statement
            yield statement, folder
    for name in (RUN, LOG):
        size = (run / name).stat().st_size if (run / name).exists() else 0
        for cut in (0, 1, 31, 32, 100, 4095, 4096, 4120, size // 3, size // 2, size - 4096, size - 1) if size else ():
            folder = copied(run, place / "one")
            (folder / name).write_bytes((run / name).read_bytes()[:cut])
            yield f"{name} cut to {cut}", folder
    folder = copied(run, place / "one")
    shutil.copyfile(other / LOG, folder / LOG)
    yield "the log of an earlier moment", folder


def edits(run: Path, other: Path, place: Path) -> Counter[str]:
    """Edit a run in many ways, and read it."""
    whole, found = readings(copied(run, place / "one"), place / "out"), Counter(NONE)
    for edit, folder in edited(run, other, place):
        spare = copied(folder, place / "spare")
        result = judged(whole, readings(folder, place / "out"))
        if result == "wrong" and edit.startswith((f"{LOG} cut", "the log of")):
            result = "an earlier moment"  # as if it had been killed then, which nothing in the folder tells apart
        found[result] += 1
        if result == "wrong":
            print(f"wrong: {edit}")
        tried(lambda spare=spare: salvage(spare, place / "saved"))  # type: ignore[misc]
        shutil.rmtree(place / "saved", ignore_errors=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first flip")
    parser.add_argument("--seed", type=int, default=24)
    option(parser)
    chosen = parser.parse_args()
    bad, began, end = 0, time.monotonic(), chosen.first + chosen.flips
    with tempfile.TemporaryDirectory() as name:
        done, killed = begin(Path(name))
        for number, (what, run) in enumerate((("finished", done), ("killed", killed))):
            flipped = flips(run, Path(name), range(chosen.first + number, end, 2), chosen.seed)
            changed = edits(run, killed, Path(name)) if chosen.first == 0 else Counter(NONE)
            print(f"{what}: flips {dict(flipped)}, edits {dict(changed)}, {time.monotonic() - began:.0f} s", flush=True)
            for kind, counts in (("flips", flipped), ("edits", changed)):
                keep(chosen.json, "damage", {(f"{what}, {kind}", key): count for key, count in counts.items()})
            bad += flipped["wrong"] + flipped["intact rows lost"] + changed["wrong"]
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
