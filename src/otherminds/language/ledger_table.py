"""Calls in a database: every one is there before it goes out, with what it may cost, and again when it is settled."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.files.database import Database, is_database
from otherminds.files.text import opened
from otherminds.language.ledger_lines import VERSION, Answer, line_of, read_line
from otherminds.language.prices import over_budget

SCHEMA = """
create table if not exists calls (
  n integer primary key, key text not null, model text not null, place text not null, sent text not null,
  state text not null check (state in ('sent', 'done', 'refused', 'lost')),
  cost real not null, line text, checksum integer
);
create unique index if not exists answers on calls (key) where state = 'done';
create index if not exists unsettled on calls (model) where state in ('sent', 'lost');
create table if not exists spending (one integer primary key check (one = 1), dollars real not null);
insert or ignore into spending values (1, 0.0);
create trigger if not exists sent after insert on calls
  begin update spending set dollars = dollars + new.cost; end;
create trigger if not exists settled after update of cost on calls
  begin update spending set dollars = dollars + new.cost - old.cost; end;
"""
SEND = "insert into calls (key, model, place, sent, state, cost) values (?, ?, ?, ?, 'sent', ?)"
SETTLE = "update or ignore calls set state = ?, cost = ?, line = ?, checksum = ? where n = ?"
TAKE_IN = (
    "insert or ignore into calls (key, model, place, sent, state, cost, line, checksum) values (?, ?, ?, ?, ?, ?, ?, ?)"
)
COST = 5
PAID = "update spending set dollars = dollars + ?"
ANSWERED = "select line, checksum from calls where key = ? and state = 'done'"
UNSETTLED = "select key, model, place, sent, cost from calls where state in ('sent', 'lost')"
USED = """
select count(*), coalesce(sum(json_extract(line, '$.response.usage.prompt')), 0),
  coalesce(sum(json_extract(line, '$.response.usage.written')), 0), total(cost)
from calls where state = 'done' and (? is null or model = ?)
"""
ALL = "select key, sent, line from calls where state != 'refused' order by n"
COPIED = "select key, model, place, sent, state, cost, line, checksum from calls order by n"


LONGEST = 50_000_000


class Uncertain(NamedTuple):
    """A call that was sent and has no answer on record: it may have been paid for, with up to so many dollars.

    `place` is the episode, the step, the purpose and the attempt, or how the prompt begins.
    """

    key: str
    model: str
    place: str
    sent: str
    most: float


class Answered(NamedTuple):
    """How many calls were answered, with how many tokens of prompts and of replies, for how many dollars."""

    calls: int
    prompt: int
    written: int
    dollars: float


class Calls:
    """The calls to models in a database; a budget is for all of them together."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def of(cls, database: Database) -> Calls:
        """Those of a database that is open, whatever else is in there."""
        database.add(SCHEMA)
        return cls(database)

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False) -> Calls:
        """Those of a database, or those that a file of lines tells of. Raises InputError for what is neither."""
        if readonly and not is_database(path):
            calls = cls(Database(None, SCHEMA))
            calls._take_in_lines(path)
            return calls
        return cls(Database(path, SCHEMA, readonly=readonly))

    @property
    def spent(self) -> float:
        """Dollars for all answers, and the most that calls without one may have cost."""
        return float(self.database.read("select dollars from spending")[0][0])

    def uncertain(self, model: str | None = None) -> tuple[Uncertain, ...]:
        """The calls without an answer, of one model or all."""
        return tuple(one for one in map(Uncertain._make, self.database.read(UNSETTLED)) if model in (None, one.model))

    def answered(self, model: str | None = None) -> Answered:
        """What was answered, by one model or all."""
        return Answered(*self.database.read(USED, (model, model))[0])

    def answer(self, key: str) -> Answer | None:
        """The answer to a call, if there is one. Raises InputError if it is damaged."""
        for line, checksum in self.database.read(ANSWERED, (key,)):
            try:
                if checksum != _checksum(line):
                    raise ValueError("is damaged")
                found = read_line(line.encode())
                if found.key != key:
                    raise ValueError("is of another call")
                return found.answer
            except (ValueError, AttributeError) as error:
                raise InputError(f"the record of call {key} cannot be read: {error}", path=self.database.path) from None
        return None

    def send(self, key: str, model: str, place: str, most: float, budget: float | None) -> int:
        """Write down that a call goes out, which may cost so much; its number. Raises BudgetError if it is too much."""
        with self.database.transaction() as base:
            if budget is not None:
                (spent,) = base.execute("select dollars from spending").fetchone()
                if spent + most > budget:
                    raise over_budget(budget, spent, most)
            number = base.execute(SEND, (key, model, _text(place), now(), most)).lastrowid
        assert number is not None
        return number

    def settle(self, number: int, state: str, cost: float, line: bytes | None = None) -> None:
        """Write down what came of a call: `done` with its line, `refused`, or `lost`."""
        text = None if line is None else line.decode()
        with self.database.transaction() as base:
            base.execute(SETTLE, (state, cost, text, None if text is None else _checksum(text), number))

    def lines(self) -> Iterator[bytes]:
        """All calls that were answered or may have been paid for, as lines of a file."""
        for key, sent, line in self.database.read(ALL):
            yield line_of({"v": VERSION, "sent": key, "t": sent}) if line is None else line.encode()

    def take_in(self, others: Iterable[Calls]) -> None:
        """Add the calls of other databases; of two answers to the same question the first stays, and both were paid."""
        with self.database.transaction() as base:
            for call in (call for other in others for call in other.database.read(COPIED)):
                if not base.execute(TAKE_IN, call).rowcount:
                    base.execute(PAID, (call[COST],))

    def _take_in_lines(self, path: Path) -> None:
        open_calls = dict[str, str]()
        with self.database.transaction() as base:
            for number, line in enumerate(_whole_lines(path), 1):
                try:
                    key, answer, cost, about = read_line(line)
                except ValueError as error:
                    raise InputError(str(error), path=path, line=number) from None
                if answer is None:
                    open_calls[key] = about
                    continue
                open_calls.pop(key, None)
                text = line.decode()
                base.execute(TAKE_IN, (key, about, "", "", "done", cost, text, _checksum(text)))
            for key, sent in open_calls.items():
                base.execute(TAKE_IN, (key, "", "", sent, "sent", 0.0, None, None))


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _checksum(line: str) -> int:
    return zlib.crc32(line.encode())


def _text(place: str) -> str:
    """A text as a database can hold it: half a character, for which there is no UTF-8, is escaped."""
    return place.encode("utf-8", "backslashreplace").decode()


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file; a last one without an end was torn, and is left out."""
    try:
        with opened(path) as file:
            while line := file.readline(LONGEST):
                if len(line) == LONGEST:
                    raise ValueError(f"a line is longer than {LONGEST:,} bytes")
                if line.endswith(b"\n"):
                    yield line
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None
