"""The event log: every event of the web app in order, on disk before it is acknowledged.

The server's whole state follows from these events. Each belongs to a stream (a study, a room or an episode) and has a
sequence number in it. An event that a participant caused also has the participant's own number, so that no action is
logged twice.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from otherminds.errors import InputError
from otherminds.files.database import connect

BATCH = 512  # events written in one transaction; chosen
SCHEMA = """
create table if not exists events (
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
update events set body = json_set(body, '$.label', '', '$.ratings', json('{}'), '$.comment', '')
where stream = ? and json_extract(body, '$.name') = ? and kind in ('joined', 'rated')
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
    who: str | None = None
    n: int | None = None


Written = Future[None]
_Work = tuple[LogEvent, Written] | tuple[str, Sequence[Any], Written] | None


class EventLog:
    """Events in an SQLite database (write-ahead log, full synchronisation), written in batches by one thread.

    After a failed write nothing more is written; `failed` is called once, with the reason. Raises InputError if the
    file is not an event log or cannot be written.
    """

    def __init__(self, path: Path, failed: Callable[[str], None] = lambda _: None) -> None:
        self.path, self.failed = path, failed
        self._numbers: Counter[str] = Counter()
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(connect(self.path)) as base, base:
                base.execute(SCHEMA)
                for stream, last in base.execute("select stream, max(seq) from events group by stream"):
                    self._numbers[stream] = last
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot be used as an event log: {error}", path=path) from None
        self._thread = threading.Thread(target=self._write, name="event log", daemon=True)
        self._thread.start()

    def beginnings(self, kind: str) -> list[LogEvent]:
        """The first events of all streams that begin with this kind, in order of time."""
        return [LogEvent._make([*row[:4], json.loads(row[4]), *row[5:]]) for row in self._rows(BEGUN, kind)]

    def having(self, kind: str) -> set[str]:
        """The streams that contain an event of this kind."""
        return {name for (name,) in self._rows(HAVING, kind)}

    def events(self, stream: str) -> list[LogEvent]:
        """All events of a stream, in order."""
        return [LogEvent._make([*row[:4], json.loads(row[4]), *row[5:]]) for row in self._rows(ORDER, stream)]

    def last_actions(self) -> dict[str, int]:
        """The number of each participant's last action, by participant id."""
        return dict(self._rows(LAST))

    def _rows(self, question: str, *about: str) -> list[tuple[Any, ...]]:
        with closing(connect(self.path)) as base:
            return base.execute(question, about).fetchall()

    def append(
        self, stream: str, kind: str, body: Body, who: str | None = None, n: int | None = None
    ) -> tuple[LogEvent, Written]:
        """Append an event; returns it, and a future that is done once it is on disk, or fails with InputError."""
        self._numbers[stream] += 1
        event = LogEvent(stream, self._numbers[stream], time.time(), kind, body, who, n)
        written = Written()
        self._work.put((event, written))
        return event, written

    def redact(self, stream: str, name: str) -> Written:
        """Erase a participant's answers and label; their actions in games stay, under their pseudonym."""
        written = Written()
        self._work.put((REDACT, [stream, name], written))
        return written

    def close(self) -> None:
        """Write what is queued, and stop."""
        self._work.put(None)
        self._thread.join()

    def _write(self) -> None:
        """Write what is queued, a transaction at a time, until the log is closed or has failed."""
        with closing(connect(self.path)) as base:
            found: list[_Work] = [self._work.get()]
            while found[-1] is not None:
                while found[-1] is not None and len(found) < BATCH and not self._work.empty():
                    found.append(self._work.get())
                work = [one for one in found if one is not None]
                try:
                    with base:
                        for one in work:
                            if len(one) == 3:
                                base.execute(one[0], one[1])
                                continue
                            body = json.dumps(one[0].body, ensure_ascii=False)
                            base.execute(INSERT, (*one[0][:4], body, *one[0][5:]))
                except (sqlite3.Error, ValueError) as error:  # ValueError: text that is not Unicode
                    problem = InputError(f"cannot be written: {error}", path=self.path)
                    for one in work:
                        one[-1].set_exception(problem)
                    self.failed(str(problem))
                    return
                for one in work:
                    one[-1].set_result(None)
                if found[-1] is not None:
                    found = [self._work.get()]


async def on_disk(*written: Written) -> None:
    """Wait until these writes are on disk. Raises InputError if one fails."""
    for one in written:
        await asyncio.wrap_future(one)
