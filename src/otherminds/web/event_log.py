"""The event log: every event of the web app in order, on disk before it is acknowledged.

The server's whole state follows from these events. Each belongs to a stream (a study, a room or an episode) and has a
sequence number in it. An event that a participant caused also has the participant's own number, so that no action is
logged twice.
"""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.files import database

BATCH = 512  # events written in one transaction; chosen
SCHEMA = """
create table events (
  stream text not null, seq integer not null, at real not null, kind text not null, body text not null,
  who text, n integer,
  primary key (stream, seq), unique (who, n)
) without rowid
"""
INSERT = "insert into events values (?, ?, ?, ?, ?, ?, ?)"
ORDER = "select stream, seq, at, kind, body, who, n from events where stream = ? order by seq"
BEGUN = "select stream, seq, at, kind, body, who, n from events where seq = 1 and kind = ? order by at, stream"
HAVING = "select distinct stream from events where kind = ?"
REDACT = """
update events set body = json_set(
  body, '$.label', '', '$.labels', json('{}'), '$.ratings', json('{}'), '$.comment', '', '$.answers', json('{}')
)
where stream = ? and json_extract(body, '$.name') = ? and kind in ('joined', 'rated', 'answered')
"""
LAST = "select who, max(n) from events where who is not null group by who"

Body = Mapping[str, Any]


class LogEvent(NamedTuple):
    """Stream, sequence number (from 1), Unix time, kind and body of an event, and the actor with its event number."""

    stream: str
    seq: int
    at: float
    kind: str
    body: Body
    actor: str | None = None
    n: int | None = None


Written = Future[None]
Statement = tuple[str, Sequence[Any]]  # with its parameters
_Work = tuple[Sequence[Statement], Written] | None  # statements that are carried out together, or the end


class StorageError(InputError):
    """The event log cannot be written any more."""


class EventLog:
    """Events in an SQLite database (write-ahead log, full synchronisation), written in batches by one thread.

    After a failed write nothing more is written; `failed` is called once, with the reason. A log that is `readonly` is
    of a server that only looks. Raises InputError if the file is not an event log or cannot be written.
    """

    def __init__(self, path: Path, failed: Callable[[str], None] = lambda _: None, *, readonly: bool = False) -> None:
        """Open or create the log, go on with its sequence numbers, and start the thread that writes."""
        self.path, self.failed, self.readonly = path, failed, readonly
        self._last_numbers: Counter[str] = Counter()
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._group: list[Statement] | None = None  # what is appended within `together`
        self._problem: StorageError | None = None  # why nothing can be written any more
        with database.Database(path, SCHEMA, readonly=readonly) as base:
            self._last_numbers.update(dict(base.read("select stream, max(seq) from events group by stream")))
        self._thread = threading.Thread(target=self._write, name="event log", daemon=True)
        if not readonly:
            self._thread.start()

    def beginnings(self, kind: str) -> list[LogEvent]:
        """The first events of all streams that begin with this kind, in order of time."""
        return self._events(BEGUN, kind)

    def having(self, kind: str) -> set[str]:
        """The streams that contain an event of this kind."""
        return {name for (name,) in self._rows(HAVING, kind)}

    def events(self, stream: str) -> list[LogEvent]:
        """All events of a stream, in order."""
        return self._events(ORDER, stream)

    def last_actions(self) -> dict[str, int]:
        """The number of each participant's last action, by participant id."""
        return dict(self._rows(LAST))

    def _events(self, question: str, about: str) -> list[LogEvent]:
        return [LogEvent._make([*row[:4], json.loads(row[4]), *row[5:]]) for row in self._rows(question, about)]

    def _rows(self, question: str, *about: str) -> list[tuple[Any, ...]]:
        with closing(database.reader(self.path)) as base:
            return base.execute(question, about).fetchall()

    def append(
        self, stream: str, kind: str, body: Body, actor: str | None = None, n: int | None = None
    ) -> tuple[LogEvent, Written]:
        """Append an event; returns it, and a future that is done once it is on disk, or fails with StorageError.

        Raises InputError if the log is read-only.
        """
        self.check_writable()
        self._last_numbers[stream] += 1
        event = LogEvent(stream, self._last_numbers[stream], time.time(), kind, body, actor, n)
        return event, self._queued(INSERT, (*event[:4], json.dumps(body, ensure_ascii=False), actor, n))

    def check_writable(self) -> None:
        """Raise InputError if the log is read-only."""
        if self.readonly:
            raise InputError("this server only looks", hint="change things on the one that serves the study")

    def redact(self, stream: str, name: str) -> Written:
        """Erase a participant's answers and label; their actions in games stay, under their pseudonym."""
        return self._queued(REDACT, (stream, name))

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is appended in the block is one transaction: a server that is killed has written all or nothing.

        The futures of these events are done at once; `written` says when they are on disk.
        """
        assert self._group is None
        self._group = []
        try:
            yield
        finally:
            group, self._group = self._group, None
            self._put(group)

    def written(self) -> Written:
        """A future that is done once all that was appended so far is on disk, or fails with StorageError."""
        return self._put(())

    def _queued(self, statement: str, parameters: Sequence[Any]) -> Written:
        if self._group is None:
            return self._put(((statement, parameters),))
        self._group.append((statement, parameters))
        done = Written()
        done.set_result(None)
        return done

    def _put(self, statements: Sequence[Statement]) -> Written:
        """Queue statements for the thread that writes; they fail at once if nothing can be written any more."""
        pending_write = Written()
        self._work.put((statements, pending_write))
        self._fail_queued()
        return pending_write

    def _fail_queued(self) -> None:
        """Tell everything that is queued why it cannot be written, if nothing can."""
        while self._problem is not None and not self._work.empty():
            with suppress(queue.Empty):
                if (job := self._work.get_nowait()) is not None:
                    job[1].set_exception(self._problem)

    def close(self) -> None:
        """Write what is queued, and stop."""
        if not self.readonly:
            self._work.put(None)
            self._thread.join()

    def _write(self) -> None:
        """Write what is queued, a transaction at a time, until the log is closed or has failed."""
        with closing(database.connect(self.path)) as base:
            batch: list[_Work] = []
            while None not in batch:
                batch = [self._work.get()]
                while len(batch) < BATCH and not self._work.empty():
                    batch.append(self._work.get())
                work = [job for job in batch if job is not None]
                try:
                    with base:
                        for statement, parameters in chain.from_iterable(statements for statements, _ in work):
                            base.execute(statement, parameters)
                except (sqlite3.Error, ValueError) as error:  # ValueError: text that is not Unicode
                    self._problem = StorageError(f"cannot be written: {error}", path=self.path)
                    for _, pending_write in work:
                        pending_write.set_exception(self._problem)
                    self._fail_queued()
                    self.failed(str(self._problem))
                    return
                for _, pending_write in work:
                    pending_write.set_result(None)
