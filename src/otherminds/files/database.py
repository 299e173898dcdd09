"""SQLite databases that survive crashes: write-ahead log, full synchronisation, and checks on opening."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Self

from otherminds.errors import InputError
from otherminds.files.text import opened

MARK = 0x6F6D696E  # application_id of these databases: "omin" in ASCII
VERSION = 1
MAGIC = b"SQLite format 3\0"
WAIT = 10.0  # seconds to wait for another writer; chosen


def connect(path: Path | str) -> sqlite3.Connection:
    """A SQLite connection with synchronous = FULL: a committed transaction survives a crash."""
    base = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    base.execute("pragma journal_mode = wal")
    base.execute("pragma synchronous = full")
    return base


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. It creates and removes the files beside the database that readers share.

    If these cannot be created, the database can still be read while it has no log, so that no other program writes it.
    """
    log = path.with_name(f"{path.name}-wal")
    apart = not all(os.access(place, os.W_OK) for place in (path, path.parent))
    how = "rw" if not apart else "ro" if log.exists() and log.stat().st_size else "ro&immutable=1"
    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode={how}", uri=True, timeout=WAIT, check_same_thread=False)
    base.execute("pragma query_only = on")
    return base


def is_database(path: Path) -> bool:
    """Whether a file begins like a SQLite database."""
    try:
        with opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


class InUseError(InputError):
    """Another program holds the lock."""


class Database:
    """A SQLite database shared by the threads of a program. A transaction is written as a whole or not at all.

    The file is checked when it is opened. Without a path the database is in memory.
    """

    def __init__(self, path: Path | None, schema: str, *, readonly: bool = False) -> None:
        """Open or create a database. Raises InputError for a damaged, foreign or unusable file."""
        self.path = path
        self._lock = RLock()
        with self._told():
            self._base = self._open(path, readonly)
            try:
                self._check(readonly)
                if not readonly:
                    self.add(schema)
            except BaseException:
                self._base.close()
                raise

    def _open(self, path: Path | None, readonly: bool) -> sqlite3.Connection:
        if path is None:
            return connect(":memory:")
        if path.exists():
            opened(path).close()  # raises OSError for a pipe or a device
        if readonly:
            return _reader(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return connect(path)
        except ValueError as error:
            raise InputError(f"cannot be used: {error}", path=path) from None

    def _check(self, readonly: bool) -> None:
        """Raise InputError unless the database has our mark and is intact, or is empty."""
        self._base.execute("pragma trusted_schema = off")
        marks = (self._base.execute(f"pragma {name}").fetchone()[0] for name in ("application_id", "user_version"))
        mark, version = marks
        if mark != MARK and self._base.execute("select count(*) from sqlite_master").fetchone()[0]:
            raise InputError("is a database of another program", path=self.path)
        if mark != MARK and not readonly:
            self._base.executescript(f"pragma application_id = {MARK}; pragma user_version = {VERSION}")
        if version > VERSION:
            raise InputError(f"is of version {version}, and this reads version {VERSION}", path=self.path)
        if faults := self.faults("quick_check"):
            raise InputError(f"is damaged: {faults[0]}", path=self.path)

    def add(self, schema: str) -> None:
        """Add the tables of a schema, all or none. Existing tables stay (the schema says `if not exists`)."""
        with self._lock, self._told(), self._base:
            self._base.executescript(f"begin immediate; {schema}; commit")

    def faults(self, check: str = "integrity_check") -> list[str]:
        """The faults that SQLite finds in the file; empty if it is intact."""
        return [said for (said,) in self.read(f"pragma {check}") if said != "ok"]

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is on disk as a whole when the block ends, and rolled back if the block raises.

        Raises InputError if it cannot be written.
        """
        with self._lock, self._told():
            self._base.execute("begin immediate")
            with self._base:
                yield self._base

    def read(self, question: str, about: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query returns. Raises InputError if the database cannot be read."""
        with self._lock, self._told():
            return self._base.execute(question, about).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of SQLite and of the system into InputErrors that name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = "what was recorded before is kept"
            raise InputError(f"cannot be used: {error}", path=self.path, hint=hint) from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"cannot be used: {error}", path=self.path) from None
        except OSError as error:
            raise InputError(f"cannot be used: {error.strerror or error}", path=self.path) from None

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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        lock.execute("begin exclusive")
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise InUseError("another program is at work on this run", path=path.parent) from None
        raise InputError(f"cannot be written: {error}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path.parent) from None
    with closing(lock):
        yield
