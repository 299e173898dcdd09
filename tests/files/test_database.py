"""Databases are there whole or not at all, say in one line what is wrong, and are for one program at a time."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_models import fails
from otherminds.errors import InputError
from otherminds.files import database as durable
from otherminds.files.checksums import PAGE, log_fault
from otherminds.files.database import MARK, VERSION, Database, alone, connect, is_database
from run_files import damage, read

SCHEMA = """
create table things (n integer primary key, text text not null, checksum integer not null);
create table totals (name text primary key, rows integer not null, sum integer not null);
"""
ALL = "select text from things order by n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "down" / "things.db"


def begun(path: Path, count: int = 3) -> Path:
    with Database(path, SCHEMA) as database, database.transaction() as base:
        for n in range(count):
            base.put("things", None, f"thing {n}")
    return path


def test_what_was_written_is_there_and_marked_as_ours(path: Path) -> None:
    begun(path)
    assert is_database(path)
    assert not is_database(path.parent)
    assert read(path, "pragma application_id") == [(MARK,)]
    assert read(path, "pragma user_version") == [(VERSION,)]
    assert [file.name for file in path.parent.iterdir()] == ["things.db"]
    with Database(path, SCHEMA, readonly=True) as database:
        assert database.read(ALL) == [("thing 0",), ("thing 1",), ("thing 2",)]
        with fails([f"{path}: cannot be used: attempt to write a readonly database"]), database.transaction() as base:
            base.put("things", None, "more")
    assert [file.name for file in path.parent.iterdir()] == ["things.db"]


def test_what_is_written_survives_the_end_of_the_machine(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "connect", connect)  # which other tests do without
    with Database(path, SCHEMA) as database:
        assert database.read("pragma journal_mode") == [("wal",)]
        assert database.read("pragma synchronous") == [(2,)]  # full


def test_a_transaction_is_whole_or_nothing(path: Path) -> None:
    with Database(begun(path), SCHEMA) as database:
        with pytest.raises(ZeroDivisionError), database.transaction() as base:
            base.put("things", None, "more" * (1 // (base.put("things", None, "more") - 4)))
        assert len(database.read(ALL)) == 3
        with fails([f"{path}: cannot be used: NOT NULL constraint failed"]), database.transaction() as base:
            base.put("things", None, "more")
            base.put("things", None, None)
        assert len(database.read(ALL)) == 3
        with database.transaction() as base:
            base.put("things", None, "more")
        assert database.read(ALL)[-1] == ("more",)


def test_tables_are_there_all_or_none(path: Path) -> None:
    """Whoever looks at it meanwhile finds nothing, or everything."""
    connect = durable.connect

    def breaking(path: Path | str) -> sqlite3.Connection:
        base = connect(path)
        base.set_authorizer(lambda _, name, *__: sqlite3.SQLITE_DENY if name == "totals" else sqlite3.SQLITE_OK)
        return base

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable, "connect", breaking)
        with fails([f"{path}: cannot be used: "]):
            Database(path, SCHEMA)
    with fails([f"{path}: holds no run yet"]):
        Database(path, SCHEMA, readonly=True)
    Database(path, SCHEMA).close()
    assert read(path, "select count(*) from sqlite_master") == [(3,)]


def test_a_copy_at_any_moment_is_in_order(path: Path) -> None:
    """As if the machine had ended then: what was written to the log counts, in as far as it is whole."""
    count, rng = 4, np.random.default_rng(1)
    with Database(path, SCHEMA) as database:
        for n in range(count):
            with database.transaction() as base:
                base.put("things", None, f"thing {n}")
        shutil.copytree(path.parent, path.parents[1] / "copy")
    copy = path.parents[1] / "copy" / path.name
    log = copy.with_name(f"{path.name}-wal")
    whole, found = log.read_bytes(), set[int]()
    base_file = copy.read_bytes()
    for cut in (0, len(whole), *map(int, rng.integers(0, len(whole), 30))):
        copy.write_bytes(base_file)
        log.write_bytes(whole[:cut])
        with Database(copy, SCHEMA) as database:
            assert database.read(ALL) == [(f"thing {n}",) for n in range(len(database.read(ALL)))]
            found.add(len(database.read(ALL)))
    assert {0, count} < found


# What is wrong with files


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("create table mine (x)")
    before = path.read_bytes()
    for readonly in (False, True):
        with fails([f"{path}: was written by another program or version of otherminds \\(read it with"]):
            Database(path, SCHEMA, readonly=readonly)
    assert read(path, "select name from sqlite_master") == [("mine",)]
    assert read(path, "pragma application_id") == [(0,)]
    assert len(path.read_bytes()) == len(before)


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_another_version_is_refused(path: Path, version: int) -> None:
    damage(begun(path), f"pragma user_version = {version}")
    for readonly in (False, True):
        with fails([f"{path}: was written by another program or version of otherminds"]):
            Database(path, SCHEMA, readonly=readonly)
    assert read(path, "pragma user_version") == [(version,)]


def opened_in_any_way(path: Path) -> list[str]:
    """What is read from a file that may be damaged, or what is said about that."""
    said = []
    for readonly in (True, False):
        try:
            with Database(path, SCHEMA, readonly=readonly) as database:
                database.read(ALL)
        except InputError as error:
            said.append(str(error))
    assert all(line.startswith(f"{path}: ") and "\n" not in line for line in said)
    return said


def test_a_file_that_was_cut_off_anywhere_is_told_in_one_line(path: Path) -> None:
    whole = begun(path, 500).read_bytes()
    for cut in (1, 15, 16, 50, 99, 100, 512, 4095, 4096, 4097, 8192, len(whole) // 2, len(whole) - 500):
        path.write_bytes(whole[:cut])
        assert opened_in_any_way(path), cut
        path.unlink()


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda old: bytes(len(old)),
    "flipped": lambda old: bytes(byte ^ 0xFF for byte in old),
    "backwards": lambda old: old[::-1],
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_was_changed_anywhere_says_so_or_is_read(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Never anything else than an error in one line; what is in the rows has checksums of its own."""
    whole, rng = begun(path, 500).read_bytes(), np.random.default_rng(2)
    told = 0
    for at in map(int, rng.integers(0, len(whole) - 64, 20)):
        path.write_bytes(whole[:at] + change(whole[at : at + 64]) + whole[at + 64 :])
        told += bool(opened_in_any_way(path))
        path.unlink()
    assert told


@pytest.mark.parametrize("content", [b"once\n", b"SQLite format 3\0", b"\xff" * 5000, b"PK\x03\x04" * 200])
def test_a_file_of_another_kind_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    for readonly in (False, True):
        with fails([f"{path}: cannot be used: "]):
            Database(path, SCHEMA, readonly=readonly)
        assert path.read_bytes() == content


def test_nothing_is_made_for_who_only_reads(path: Path) -> None:
    with fails([f"{path}: cannot be used: unable to open"]):
        Database(path, SCHEMA, readonly=True)
    assert not path.parent.exists()


def test_a_full_disk_undoes_what_does_not_fit(path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Database(begun(path), SCHEMA) as database:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
        try:
            with fails([f"{path}: cannot be used: .*what was recorded before is kept"]), database.transaction() as base:
                for _ in range(5000):
                    base.put("things", None, "x" * 1000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert len(database.read(ALL)) == 3
        with database.transaction() as base:
            base.put("things", None, "more")
    assert len(read(path, ALL)) == 4


AS_NOBODY = """
import os, sys
import urllib.parse  # pathlib imports it late, and nobody may be kept from reading the standard library
from pathlib import Path
from otherminds.files.database import Database, alone
from otherminds.errors import InputError
os.setuid(65534)
path, SCHEMA = Path(sys.argv[1]), sys.argv[2]
with Database(path, SCHEMA, readonly=True) as database:
    print(len(database.read("select * from things")))
make = lambda: Database(path, "create table x (y text)")
lock = lambda: alone(path.parent / "x").__enter__()
for attempt in (make, lock):
    try:
        attempt()
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_place_that_is_read_only_can_be_read(path: Path) -> None:
    begun(path).chmod(0o444)
    path.parent.chmod(0o555)
    for folder in path.parents:
        if folder.stat().st_mode & 0o005 != 0o005 and folder.owner() == "root" and folder.is_relative_to("/tmp/"):
            folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path), SCHEMA], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    count, written, locked = done.stdout.splitlines()
    assert count == "3"
    assert written.startswith(f"{path}: cannot be used: ")
    assert locked.startswith(f"{path.parent / 'x'}: cannot be written: ")


# One at a time


ENTER = """
import sys
from pathlib import Path
from otherminds.files.database import alone
alone(Path(sys.argv[1])).__enter__()
"""


def test_somebody_is_alone_until_it_ends(path: Path) -> None:
    lock = path.with_name("lock")
    with alone(lock):
        with fails([f"{lock.parent}: another program is at work on this run"]), alone(lock):
            raise AssertionError
        command = [sys.executable, "-c", ENTER, str(lock)]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "another program is at work" in other.stderr
    with alone(lock):
        pass
    assert lock.stat().st_size == 0


def test_a_place_for_a_lock_that_cannot_be_written_is_told(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("")
    with fails([f"{path}/x: cannot be written: "]), alone(path / "x" / "lock"):
        raise AssertionError


def test_a_lock_that_is_something_else_is_not_opened(path: Path) -> None:
    begun(path)
    path.with_name("link").symlink_to(path.with_name("nothing"))
    os.mkfifo(path.with_name("pipe"))
    for lock in (path, path.with_name("link"), path.with_name("pipe")):
        with fails([f"^{lock}: is no lock"]), alone(lock):
            raise AssertionError
    assert not path.with_name("nothing").exists()


# What somebody else did to it


FOREIGN = {
    "a trigger": "create trigger mine after insert on things begin delete from things; end",
    "a view": "create view mine as select * from things",
    "an index": "create index mine on things (text)",
    "a table": "create table mine (x)",
    "another column": "alter table things add column mine",
    "a table less": "drop table things",
    "totals less": "delete from totals",
    "totals twice": "insert into totals values ('mine', 0, 0)",
    "totals of text": "update totals set rows = 'three'",
    "bytes": "update things set text = cast(text as blob) where n = 2",
    "text in place of a sum": "update things set checksum = 'mine' where n = 2",
    "a row less": "delete from things where n = 2",
    "a row twice": "insert into things select 9, text, checksum from things where n = 2",
    "rows swapped": "update things set text = (select text from things as other where other.n = 3 - things.n % 2)",
}


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("name", FOREIGN)
def test_what_somebody_else_put_in_is_refused_before_anything_runs(path: Path, name: str, readonly: bool) -> None:
    damage(begun(path), FOREIGN[name])
    before = read(path, "select name from sqlite_master")
    with fails([f"^{path}: (is damaged|cannot be used): "]):
        Database(path, SCHEMA, readonly=readonly)
    assert read(path, "select name from sqlite_master") == before


@pytest.mark.parametrize("end", ["journal", "wal", "shm"])
def test_nobody_waits_for_a_pipe_beside_a_database(path: Path, end: str) -> None:
    os.mkfifo(f"{begun(path)}-{end}")
    for readonly in (False, True):
        with fails([f"^{path}: cannot be used: is no file"]):
            Database(path, SCHEMA, readonly=readonly)


def test_a_journal_deletes_no_other_file(path: Path) -> None:
    """SQLite deletes the file that a rollback journal names, and believes the journal."""
    begun(path)
    mine = path.with_name("mine")
    mine.write_text("precious")
    name = bytes(mine)
    mark = bytes.fromhex("d9d505f920a163d7")
    head = (mark + struct.pack(">5I", 0, 0, path.stat().st_size // PAGE, 512, PAGE)).ljust(512, b"\0")
    tail = struct.pack(">I", 2**30 // PAGE + 1) + name + struct.pack(">II", len(name), sum(name)) + mark
    journal = Path(f"{path}-journal")
    for readonly in (False, True):
        journal.write_bytes(head + tail)
        with fails([f"^{path}: is damaged: its journal names another file"]):
            Database(path, SCHEMA, readonly=readonly)
        assert mine.exists()
    read(path, "select 1 from things")
    assert not mine.exists()  # otherwise this tests nothing


def test_a_connection_that_cannot_be_set_up_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir(parents=True)
    made = list[sqlite3.Connection]()
    real = sqlite3.connect

    def connected(*about: Any, **more: Any) -> sqlite3.Connection:
        made.append(real(*about, **more))
        made[-1].set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    for attempt in (lambda: Database(path, SCHEMA), lambda: alone(path).__enter__()):
        with fails(["not authorized"]):
            attempt()
    for base in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            base.execute("select 1")


def killed(path: Path) -> tuple[Path, bytes, bytes]:
    """A database whose program was killed after six transactions: its file, and its content and log."""
    copy = path.parents[1] / "copy" / path.name
    copy.parent.mkdir(parents=True)
    with Database(path, SCHEMA) as database:
        for n in range(6):
            with database.transaction() as base:
                base.put("things", None, f"thing {n}")
        return copy, path.read_bytes(), path.with_name(f"{path.name}-wal").read_bytes()


@pytest.mark.slow
def test_a_log_that_was_changed_anywhere_is_never_read_in_part(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "CHECK_INTERVAL", 0.0)  # nobody is writing
    copy, content, log = killed(path)
    rng, log_path = np.random.default_rng(3), copy.with_name(f"{path.name}-wal")
    for at in (*range(32), *range(len(log) - 4120, len(log) - 4096), *map(int, rng.integers(0, len(log), 60))):
        copy.write_bytes(content)
        log_path.write_bytes(log[:at] + bytes([log[at] ^ int(rng.integers(1, 256))]) + log[at + 1 :])
        with fails([f"{copy}: is damaged: its log "]):
            Database(copy, SCHEMA, readonly=True)
    copy.write_bytes(content)
    log_path.write_bytes(log)
    with Database(copy, SCHEMA, readonly=True) as database:
        assert len(database.read(ALL)) == 6


@pytest.mark.parametrize("order", "<>")
def test_a_log_of_either_order_of_bytes_is_in_order(path: Path, order: str) -> None:
    """Its checksums as SQLite's file format defines them (4.2)."""
    page, frame = b"pages hold words" * (PAGE // 16), struct.pack(">II", 1, 1)
    head = struct.pack(">IIIIII", 0x377F0682 | (order == ">"), 3007000, PAGE, 0, 7, 8)
    sums, log = [0, 0], b""
    for words, rest in ((head, b""), (frame, page), (frame, page[::-1])):
        for first, second in struct.iter_unpack(f"{order}II", words + rest):
            sums[0] = (sums[0] + first + sums[1]) % 2**32
            sums[1] = (sums[1] + second + sums[0]) % 2**32
        log += words + (head[16:] if rest else b"") + struct.pack(">II", *sums) + rest
    path.parent.mkdir(parents=True)
    for changed in (log, log[:-1] + b"x", log[:60] + b"x" + log[61:]):
        path.with_name(f"{path.name}-wal").write_bytes(changed)
        assert (log_fault(path) is None) == (changed == log)


def test_a_database_that_nobody_uses_any_more_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[sqlite3.Connection]()
    real = sqlite3.connect

    def connected(*about: Any, **more: Any) -> sqlite3.Connection:
        made.append(real(*about, **more))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    database = Database(path, SCHEMA)
    made[-1].execute("select 1")
    del database
    for base in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            base.execute("select 1")


def test_names_in_a_damaged_list_of_tables_that_are_no_text_are_told_in_one_line(path: Path) -> None:
    whole = begun(path).read_bytes()
    path.write_bytes(whole.replace(b"CREATE TABLE things", b"CREATE TABLE thi\xdbgs"))
    assert path.read_bytes() != whole
    assert opened_in_any_way(path)
