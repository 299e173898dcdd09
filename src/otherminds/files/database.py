"""Databases that outlast whatever ends a program: a write-ahead log, full synchronisation, checks on opening."""

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

MARK = 0x6F6D696E
"""What tells these databases from those of other programs."""
VERSION = 1
MAGIC = b"SQLite format 3\0"
WAIT = 10.0


def connect(path: Path | str) -> sqlite3.Connection:
    """A connection whose transactions are on disk when they end, whatever happens then."""
    base = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    base.execute("pragma journal_mode = wal")
    base.execute("pragma synchronous = full")
    return base


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. Beside the file, it makes and takes away those that readers share.

    Where these cannot be made, the file can be read if nobody writes it, so if it has no log.
    """
    log = path.with_name(f"{path.name}-wal")
    apart = not all(os.access(place, os.W_OK) for place in (path, path.parent))
    how = "rw" if not apart else "ro" if log.exists() and log.stat().st_size else "ro&immutable=1"
    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode={how}", uri=True, timeout=WAIT, check_same_thread=False)
    base.execute("pragma query_only = on")
    return base


def is_database(path: Path) -> bool:
    """Whether a file begins as a database does."""
    try:
        with opened(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


class InUseError(InputError):
    """Another program is at work on this."""


class Database:
    """An SQLite database that the threads of a program share. What is written in a transaction is there whole, or not.

    It is checked when it is opened. Without a path it is in memory.
    """

    def __init__(self, path: Path | None, schema: str, *, readonly: bool = False) -> None:
        """Open or begin one. Raises InputError for a damaged file, one of another kind, or one that cannot be used."""
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
            opened(path).close()  # no pipe, and no device
        if readonly:
            return _reader(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return connect(path)
        except ValueError as error:
            raise InputError(f"cannot be used: {error}", path=path) from None

    def _check(self, readonly: bool) -> None:
        """Raise InputError unless this is a database of ours and in order, or an empty one."""
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
        """Add tables, all or none, unless they are there."""
        with self._lock, self._told(), self._base:
            self._base.executescript(f"begin immediate; {schema}; commit")

    def faults(self, check: str = "integrity_check") -> list[str]:
        """What is wrong with the file, if anything."""
        return [said for (said,) in self.read(f"pragma {check}") if said != "ok"]

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """What is done within is on disk at the end, or none of it. Raises InputError if it cannot be written."""
        with self._lock, self._told():
            self._base.execute("begin immediate")
            with self._base:
                yield self._base

    def read(self, question: str, about: Sequence[Any] = ()) -> list[Any]:
        """All rows of an answer. Raises InputError if it cannot be read."""
        with self._lock, self._told():
            return self._base.execute(question, about).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors say which file they are about."""
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
        """End; nothing is lost without this, but the log is put away."""
        with self._lock:
            self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else is within, on this machine; it ends with the program, however that ends.

    Raises InUseError if somebody is, InputError if that cannot be known.
    """
    with closing(_locked(path)):
        yield


def _locked(path: Path) -> sqlite3.Connection:
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
    return lock
