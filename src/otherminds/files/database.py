"""SQLite databases that survive crashes: write-ahead log, full synchronisation, and checks on opening."""

from __future__ import annotations

import os
import sqlite3
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from time import sleep
from typing import Any, Self

from otherminds.errors import InputError
from otherminds.files import checksums
from otherminds.files.text import opened

MARK = 0x6F6D696E  # application_id of these databases: "omin" in ASCII
VERSION = 2  # user_version
COUNT = "update totals set rows = rows + ?, sum = (sum + ?) & ? where name = ?"
WRITING = (f"page_size = {checksums.PAGE}", "synchronous = full", "fullfsync = on", "checkpoint_fullfsync = on")
"""Settings for writing; macOS needs `fullfsync` to empty the cache of the drive, others ignore it."""
LOG_CHECKS = 3  # of a log that another program may be writing, before it counts as damaged; chosen
CHECK_INTERVAL = 0.05  # seconds between these checks; chosen
MAGIC = b"SQLite format 3\0"
SUPER = bytes.fromhex("d9d505f920a163d7")
"""The end of a rollback journal that names a further file (SQLite's file format, 3); those of this library do not."""
WAIT = 10.0  # seconds to wait for another writer; chosen


def connect(path: Path | str) -> sqlite3.Connection:
    """A SQLite connection with synchronous = FULL: a committed transaction survives a crash.

    What is in the file is not verified (`Database` does that), but its functions cannot do harm.
    """
    return _set(sqlite3.connect(path, timeout=WAIT, check_same_thread=False), *WRITING)


def _set(base: sqlite3.Connection, *pragmas: str) -> sqlite3.Connection:
    """Set up a connection so that the file runs nothing, and deleted rows are erased. It is closed if that fails."""
    try:
        if sys.version_info >= (3, 12):
            base.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
        for pragma in ("trusted_schema = off", "cell_size_check = on", "secure_delete = on", *pragmas):
            base.execute(f"pragma {pragma}").fetchall()
    except BaseException:
        base.close()
        raise
    return base


def reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. It creates and removes the files beside the database that readers share.

    If these cannot be created, the database can still be read while it has no log, so that no other program writes it.
    """
    log = path.with_name(f"{path.name}-wal")
    is_writable = all(os.access(place, os.W_OK) for place in (path, path.parent))
    mode = "rw" if is_writable else "ro" if log.exists() and log.stat().st_size else "ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return _set(sqlite3.connect(uri, uri=True, timeout=WAIT, check_same_thread=False), "query_only = on")


def is_database(path: Path) -> bool:
    """Whether a file begins like a SQLite database."""
    try:
        with opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


class InUseError(InputError):
    """Another program holds the lock."""


class Change:
    """A transaction. Rows of protected tables are put and dropped here only, which keeps checksums and totals."""

    def __init__(self, base: sqlite3.Connection, tables: checksums.Tables) -> None:
        self._base, self._tables = base, tables

    def put(self, table: str, *row: Any) -> int:
        """Insert a row, and return its number. If the first column is a number and None, it is the next one."""
        columns = self._tables[table]
        if row[0] is None:
            row = (*self.read(f"select coalesce(max({columns[0].name}), 0) + 1 from {table}")[0], *row[1:])  # noqa: S608
        values = [float(v) + 0.0 if column.kind is float else v for v, column in zip(row, columns, strict=True)]
        checksum = checksums.checksum(table, values)
        marks = ", ".join("?" * (len(values) + 1))
        number = self._base.execute(f"insert into {table} values ({marks})", (*values, checksum)).lastrowid  # noqa: S608
        self._count(table, 1, checksum)
        assert number is not None
        return number

    def drop(self, table: str, **where: Any) -> int:
        """Delete all rows with these values, and return their number."""
        condition = " and ".join([f"{name} = ?" for name in where] or ["true"])
        rows = self.read(f"select checksum from {table} where {condition}", (*where.values(),))  # noqa: S608
        self._base.execute(f"delete from {table} where {condition}", (*where.values(),))  # noqa: S608
        self._count(table, -len(rows), -sum(checksum for (checksum,) in rows))
        return len(rows)

    def read(self, question: str, about: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query returns within the transaction."""
        return self._base.execute(question, about).fetchall()

    def total(self, table: str) -> tuple[int, int]:
        """The number of rows of a table, and the sum of their checksums: equal only if the rows are."""
        ((rows, total),) = self.read("select rows, sum from totals where name = ?", (table,))
        return rows, total

    def _count(self, table: str, rows: int, total: int) -> None:
        self._base.execute(COUNT, (rows, total & checksums.SUMS, checksums.SUMS, table))


class Database:
    """A SQLite database shared by the threads of a program. A transaction is written as a whole or not at all.

    It is verified when it is opened: the tables are exactly those of the schema, nothing in the file can run, and
    every row of a protected table (one whose last column is its `checksum`) has the types and the checksum with which
    it was written, none is missing and none was added (table `totals`). Without a path the database is in memory.
    """

    def __init__(self, path: Path | None, schema: str, *, readonly: bool = False) -> None:
        """Open or create a database. Raises InputError for a damaged, foreign or unusable file."""
        self.path, self._schema, self._tables = path, schema, checksums.tables_of(schema)
        self._lock = RLock()
        with self._errors_named():
            self._base = self._open(path, readonly)
            weakref.finalize(self, self._base.close)  # closes it when it is no longer used
            try:
                self._begin(readonly)
                if not readonly:
                    self._base.execute("pragma journal_mode = wal")
            except BaseException:
                self._base.close()
                raise

    def _open(self, path: Path | None, readonly: bool) -> sqlite3.Connection:
        """A connection to the file, which is checked first and created if need be, or to a new database in memory."""
        if path is None:
            return connect(":memory:")
        if path.exists():
            self._check_file(path)
        if readonly:
            return reader(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return connect(path)
        except ValueError as error:
            raise InputError(f"cannot be used: {error}", path=path) from None

    def _check_file(self, path: Path) -> None:
        """Raise InputError for files that SQLite must not open, and for a log that it would ignore.

        Another program may be writing: what is only wrong for a moment is not.
        """
        with opened(path) as file:  # raises OSError for a pipe or a device
            if (head := file.read(len(MAGIC))) and head != MAGIC:
                raise sqlite3.DatabaseError("file is not a database")
        for beside in (path.with_name(f"{path.name}-{end}") for end in ("journal", "wal", "shm")):
            with suppress(FileNotFoundError), opened(beside) as file:
                if beside.name.endswith("-journal") and file.read().endswith(SUPER):
                    raise self._damaged("its journal names another file")  # which SQLite would delete
        for _ in range(LOG_CHECKS):
            if (fault := checksums.log_fault(path)) is None:
                return
            sleep(CHECK_INTERVAL)
        raise self._damaged(str(fault))

    def _damaged(self, fault: str) -> InputError:
        """The error for a damaged file, with the command that saves what is intact if it is a run."""
        hint = None
        if self._tables and self.path is not None:
            folder = self.path.parent if self.path.name == "run.db" else self.path
            hint = f"`otherminds runs {folder} --salvage OUT` writes what is intact to a new folder"
        return InputError(f"is damaged: {fault}", path=self.path, hint=hint)

    def _begin(self, readonly: bool) -> None:
        """Verify the database in one transaction, creating the tables of a new one. Raises InputError if it fails."""
        self._base.execute("begin" if readonly else "begin immediate")
        with self._base:
            if not readonly and not checksums.objects_in(self._base):
                self._create()
            self._check()
            for fault in self._faults():
                raise self._damaged(fault)

    def _create(self) -> None:
        """Create the tables of the schema and their totals, and mark the file with this library's id and version."""
        for statement in filter(str.strip, self._schema.split(";")):
            self._base.execute(statement)
        for table in self._tables:
            self._base.execute("insert into totals values (?, 0, 0)", (table,))
        self._base.execute(f"pragma application_id = {MARK}")
        self._base.execute(f"pragma user_version = {VERSION}")

    def _check(self) -> None:
        """Raise InputError for a database of another program or version. Runs nothing that is in the file."""
        marks = [self._base.execute(f"pragma {name}").fetchone()[0] for name in ("application_id", "user_version")]
        objects = checksums.objects_in(self._base)
        if not objects:
            raise InputError("holds no run yet", path=self.path, hint="it has only just been created")
        if marks != [MARK, VERSION]:
            hint = "read it with the one that wrote it, or choose another place"
            raise InputError("was written by another program or version of otherminds", path=self.path, hint=hint)
        if objects != (expected := checksums.objects_of(self._schema)):
            odd = sorted({str(row[1]) for row in {*objects} ^ {*expected}})
            raise self._damaged(f"its tables are not those of this version: {', '.join(odd)}")

    def _faults(self) -> Iterator[str]:
        """What is wrong with the pages, rows and totals, in one reading pass."""
        yield from (message for (message,) in self._base.execute("pragma integrity_check(1)") if message != "ok")
        recorded = self._base.execute("select * from totals") if self._tables else ()
        totals = {name: tuple(total) for name, *total in recorded}
        if {*totals} != {*self._tables}:
            yield "its totals are not those of its tables"
        for table, columns in self._tables.items():
            rows = total = 0
            for *row, sum_of_row in self._base.execute(f"select * from {table}"):  # noqa: S608
                if not checksums.intact(table, columns, row, sum_of_row):
                    yield f"a row of {table} does not verify: {checksums.named(columns, row)}"
                rows, total = rows + 1, (total + sum_of_row) & checksums.SUMS
            if totals[table] != (rows, total):
                yield f"there are {rows:,} rows in {table}, and not those that were written"

    @contextmanager
    def transaction(self) -> Iterator[Change]:
        """A transaction that is on disk as a whole when the block ends, and rolled back if the block raises.

        Raises InputError if it cannot be written.
        """
        with self._lock, self._errors_named():
            self._base.execute("begin immediate")
            with self._base:
                yield Change(self._base, self._tables)

    def read(self, question: str, about: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query returns. Raises InputError if the database cannot be read."""
        with self._lock, self._errors_named():
            return self._base.execute(question, about).fetchall()

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into InputErrors that name the file."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # SQLite names what it found, in any bytes
            hint = "what was recorded before is kept" if isinstance(error, sqlite3.OperationalError) else None
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot be used: {reason}", path=self.path, hint=hint) from None

    def close(self) -> None:
        """Close the database and tidy its log away. Without this, no committed transaction is lost either."""
        with self._lock:
            self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """A lock among the programs of this machine, freed at the end of the block or of the program, even by a crash.

    Raises InUseError if another program holds it, InputError if the lock file cannot be used.
    """
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(path) and (path.is_symlink() or not path.is_file() or path.stat().st_size):
                raise InputError("is no lock: that is an empty file", path=path)  # SQLite would read it
            lock = stack.enter_context(closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)))
            lock.execute("begin exclusive")
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise InUseError("another program is at work on this run", path=path.parent) from None
            raise InputError(f"cannot be written: {error}", path=path) from None
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=path.parent) from None
        yield
