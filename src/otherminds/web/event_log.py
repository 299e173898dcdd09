"""The journal: everything that happens, in the order in which it happened, on disk before anybody is told that it is.

All that the server knows follows from these events. They belong to streams, a study or a room each, and are numbered
within their stream; whatever somebody did also bears their own number for it, so that nothing is taken twice.
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

BATCH = 512
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
    """Something that happened: in which stream, as its how manyeth, when, what, and the how manyeth deed of whom."""

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
    """Events in an SQLite database (write-ahead log, full synchronisation), written by one thread, many at a time.

    What cannot be written ends the journal: `failed` is called with the reason, once. Raises InputError if the file is
    not a journal or cannot be written.
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
        """The first events of all streams that begin with this kind, in the order in which they happened."""
        return self._read(BEGUN, (kind,))

    def having(self, kind: str) -> set[str]:
        """The streams in which there is an event of this kind."""
        with closing(connect(self.path)) as base:
            return {name for (name,) in base.execute(HAVING, (kind,))}

    def events(self, stream: str) -> list[LogEvent]:
        """All events of a stream."""
        return self._read(ORDER, (stream,))

    def _read(self, question: str, about: tuple[str]) -> list[LogEvent]:
        with closing(connect(self.path)) as base:
            rows = base.execute(question, about).fetchall()
        return [LogEvent(name, seq, at, kind, json.loads(body), who, n) for name, seq, at, kind, body, who, n in rows]

    def last_actions(self) -> dict[str, int]:
        """The number of the last deed of everybody."""
        with closing(connect(self.path)) as base:
            return dict(base.execute(LAST))

    def append(
        self, stream: str, kind: str, body: Body, who: str | None = None, n: int | None = None
    ) -> tuple[LogEvent, Written]:
        """Let something have happened; it is on disk when the future is done, which fails if it cannot be written."""
        self._numbers[stream] += 1
        event = LogEvent(stream, self._numbers[stream], time.time(), kind, body, who, n)
        written = Written()
        self._work.put((event, written))
        return event, written

    def redact(self, stream: str, name: str) -> Written:
        """Forget what somebody in a study answered and was called; what they did in the world stays, as nobody's."""
        written = Written()
        self._work.put((REDACT, [stream, name], written))
        return written

    def close(self) -> None:
        """Write what is left and end."""
        self._work.put(None)
        self._thread.join()

    def _write(self) -> None:
        base = connect(self.path)
        while self._batch(base):
            pass
        base.close()

    def _batch(self, base: sqlite3.Connection) -> bool:
        """Write everything that is waiting in one transaction; False at the end."""
        found = [self._work.get()]
        while found[-1] is not None and len(found) < BATCH and not self._work.empty():
            found.append(self._work.get())
        work = [one for one in found if one is not None]
        try:
            with base:
                for one in work:
                    self._execute(base, one)
        except (sqlite3.Error, ValueError) as error:  # ValueError: text that is not Unicode
            problem = InputError(f"cannot be written: {error}", path=self.path)
            for one in work:
                one[-1].set_exception(problem)
            self.failed(str(problem))
            return False
        for one in work:
            one[-1].set_result(None)
        return found[-1] is not None

    def _execute(self, base: sqlite3.Connection, one: Any) -> None:
        if len(one) == 3:
            base.execute(one[0], one[1])
            return
        event: LogEvent = one[0]
        body = json.dumps(event.body, ensure_ascii=False)
        base.execute(INSERT, (*event[:4], body, event.who, event.n))


async def on_disk(*written: Written) -> None:
    """Wait until these are on disk. Raises InputError if they cannot be written."""
    for one in written:
        await asyncio.wrap_future(one)
