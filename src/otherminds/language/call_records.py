"""Records of calls to models: as lines of a file, and in a database with what each call cost.

A call is in the database before it goes out, with the most it may cost, and again when it is settled.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import resources
from numbers import Integral
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError, fault_place, faults
from otherminds.files import strict_json
from otherminds.files.database import Change, Database, is_database
from otherminds.files.text import naming, opened
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores
from otherminds.language.prices import over_budget

VERSION = 1
DIGITS = 32  # hexadecimal digits of a key: 128 bits of SHA-256
SHOWN = 40  # characters of a wrong value that are shown
LONGEST_LINE = 50_000_000  # bytes of a line of a record; chosen
ALWAYS = ("text", "cut", "usage")  # what is recorded of every reply; all else, which is newer, only where it holds

Key = Annotated[str, Field(pattern=f"^[0-9a-f]{{{DIGITS}}}$")]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Answer = Reply | Scores


class _Strict(BaseModel, extra="forbid", strict=True):
    """A line of a file, which has these keys only."""


class _Sent(_Strict):
    v: int
    sent: Key
    t: str


class _Meta(_Strict):
    name: str
    seconds: Amount
    t: str
    cost: Amount = 0.0


class _Done(_Strict):
    v: int
    key: Key
    request: dict[str, object]
    response: dict[str, object]
    meta: _Meta


class CallRecord(NamedTuple):
    """A call as a line records it. `about` is its model; for a call without an answer, the time it was sent."""

    key: str
    answer: Answer | None = None
    cost: float = 0.0
    about: str = ""


KINDS: Mapping[str, TypeAdapter[Answer]] = {"complete": TypeAdapter(Reply), "score": TypeAdapter(Scores)}


def read_line(line: bytes) -> CallRecord:
    """A call that was sent, or one with its answer. Raises ValueError for any other line."""
    try:
        record = strict_json.loads(line.decode())
        if not isinstance(record, dict) or "v" not in record:
            raise ValueError("is no record of a call")
        if record["v"] != VERSION:
            raise ValueError(f"is of version {str(record['v'])[:SHOWN]}, and this reads version {VERSION}")
        if "sent" in record:
            sent = _Sent.model_validate(record)
            return CallRecord(sent.sent, about=sent.t)
        return _answered(_Done.model_validate(record))
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValidationError as error:
        first = faults(error)[0]
        raise ValueError(f"`{fault_place(first, SHOWN)}`: {first['msg']}") from None


def _answered(done: _Done) -> CallRecord:
    if done.key != key_of(done.request):
        raise ValueError("the key is not that of the request")
    kind = KINDS.get(str(done.request.get("kind")))
    if kind is None:
        raise ValueError("the kind of the request is unknown")
    answer = kind.validate_python(done.response)
    if _response(answer) != done.response:
        raise ValueError("the response says more than an answer")
    return CallRecord(done.key, answer, done.meta.cost, str(done.request.get("model", "")))


def answered_line(question: Mapping[str, object], answer: Answer, meta: Mapping[str, object]) -> tuple[bytes, Answer]:
    """The line of an answered call, and the answer as it will be read back.

    `question` is what `question_of` returns; `meta` has name, seconds, t (the time) and possibly cost.
    Raises ModelError if the answer cannot be recorded.
    """
    done = {"v": VERSION, "key": key_of(question), "request": question, "meta": meta}
    try:
        line = line_of({**done, "response": _response(answer)})
        recorded = read_line(line).answer
    except (TypeError, ValueError) as error:
        raise ModelError(f"{meta['name']} gave an answer that cannot be recorded: {error}") from None
    assert recorded is not None
    return line, recorded


def _response(answer: Answer) -> dict[str, object]:
    """An answer as JSON has it. There the log of 0 is the text "-inf"."""
    fields = {**asdict(answer), "usage": answer.usage._asdict()}
    if isinstance(answer, Reply):
        fields = {name: value for name, value in fields.items() if value or name in ALWAYS}
    if isinstance(answer, Scores):
        fields["log_probs"] = ["-inf" if value == -math.inf else value for value in answer.log_probs]
        fields["tokens"] = list(answer.tokens)
    return fields


def question_of(identity: str, request: Request | Continuations) -> Mapping[str, object]:
    """All that decides the answer to a request, as JSON values. Raises InputError if the temperature is not finite."""
    fields = asdict(request)
    if isinstance(request, Request):
        if not math.isfinite(request.temperature):
            raise InputError(f"a temperature of {request.temperature} is none")
        fields["temperature"] = float(request.temperature) + 0.0  # 0 and -0.0 are equal to 0.0
    kind = "complete" if isinstance(request, Request) else "score"
    question: dict[str, object] = json.loads(_json({**fields, "kind": kind, "model": identity}))
    return question


def key_of(question: Mapping[str, object]) -> str:
    """The key of a call: 32 hexadecimal digits of the SHA-256 of all that decides its answer."""
    return hashlib.sha256(_json(question)).hexdigest()[:DIGITS]


def line_of(record: Mapping[str, object]) -> bytes:
    """A record as a line of a file."""
    return _json(record) + b"\n"


def _json(value: object) -> bytes:
    """A value in the one form that keys are made of. A lone surrogate, which UTF-8 does not have, is escaped."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, default=_stand_in)
    return text.encode("utf-8", "backslashreplace")


def _stand_in(value: object) -> str | int:
    """The JSON value for an image, which is its SHA-256, or for a NumPy integer."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Integral):
        return int(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


# In a database

SCHEMA = (resources.files("otherminds.files") / "run.sql").read_text("utf-8")
"""The tables of a run. A record of calls alone is a run without episodes."""
CALL = "select key, model, place, sent, state, cost, line from calls"
SPENT = "select total(cost) from calls"
ANSWERED = "select line from calls where key = ? and state = 'done'"
ANSWERS = "select line from calls where model = ? and state = 'done'"
UNSETTLED = "select key, model, place, sent, cost from calls where state in ('sent', 'lost')"
USED = """
select count(*), coalesce(sum(json_extract(line, '$.response.usage.prompt')), 0),
  coalesce(sum(json_extract(line, '$.response.usage.written')), 0), total(cost)
from calls where state = 'done' and (? is null or model = ?)
"""
ALL = "select key, sent, line from calls where state not in ('refused', 'twice') order by n"


class UncertainCall(NamedTuple):
    """A call that was sent and has no answer on record. It may have been paid for, with up to `most` dollars.

    `place` names the episode, step, purpose and attempt; if the request did not say, it is an extract of the prompt.
    """

    key: str
    model: str
    place: str
    sent: str
    most: float


class AnsweredCalls(NamedTuple):
    """The number of answered calls, their tokens (of prompts and of replies) and their cost in dollars."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    dollars: float


class CallTable:
    """The calls to models in a database. A budget covers all of them together."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._known = ((0, 0), 0.0)  # a total of the table, and the dollars for all calls then

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False) -> CallTable:
        """The calls in a database file; read-only, also those in a file of lines. Raises InputError for other files."""
        if readonly and not is_database(path):
            calls = cls(Database(None, SCHEMA))
            calls._take_in_lines(path)
            return calls
        return cls(Database(path, SCHEMA, readonly=readonly))

    @property
    def spent(self) -> float:
        """Dollars for all answers, plus the most that calls without an answer may have cost."""
        return float(self.database.read(SPENT)[0][0])

    def uncertain(self, model: str | None = None) -> tuple[UncertainCall, ...]:
        """The calls without an answer: of one model (by its identity), or of all."""
        calls = map(UncertainCall._make, self.database.read(UNSETTLED))
        return tuple(call for call in calls if model in (None, call.model))

    def answered(self, model: str | None = None) -> AnsweredCalls:
        """The totals of answered calls: of one model (by its identity), or of all."""
        return AnsweredCalls(*self.database.read(USED, (model, model))[0])

    def answer(self, key: str) -> Answer | None:
        """The answer to a call, None if there is none on record. Raises InputError if the record is damaged."""
        for (line,) in self.database.read(ANSWERED, (key,)):
            try:
                call = read_line(line.encode())
                if call.key != key:
                    raise ValueError("is of another call")
                return call.answer
            except (ValueError, AttributeError) as error:
                raise InputError(f"the record of call {key} cannot be read: {error}", path=self.database.path) from None
        return None

    def answers(self, model: str) -> Iterator[str]:
        """The lines of all answers of one model (by its identity)."""
        return (line for (line,) in self.database.read(ANSWERS, (model,)))

    def send(self, key: str, model: str, place: str, most: float, budget: float | None) -> tuple[int, float]:
        """Record that a call goes out that may cost up to `most` dollars.

        Returns its number in the database, and the dollars for all calls before. Raises BudgetError if it may cost more
        than is left of the budget.
        """
        with self.database.transaction() as change:
            spent = self._spent(change)
            if budget is not None and spent + most > budget:
                raise over_budget(budget, spent, most)
            text = place.encode("utf-8", "backslashreplace").decode()  # a lone surrogate is escaped
            number = change.put("calls", None, key, model, text, now(), "sent", most, None)
            self._known = change.total("calls"), spent + most
            return number, spent

    def _spent(self, change: Change) -> float:
        """The dollars for all calls, added up anew only if the table is not as this object left it."""
        if self._known[0] != (total := change.total("calls")):
            self._known = total, float(change.read(SPENT)[0][0])
        return self._known[1]

    def settle(self, number: int, state: str, cost: float, line: bytes | None = None) -> None:
        """Record the outcome of a call, `done` with its line, `refused` or `lost`, and its cost in dollars.

        A second answer to a question is not kept, but was paid for (`twice`).
        """
        with self.database.transaction() as change:
            spent = self._spent(change)
            ((key, model, place, sent, _, most, _),) = change.read(f"{CALL} where n = ?", (number,))
            change.drop("calls", n=number)
            _put(change, number, key, model, place, sent, state, cost, None if line is None else line.decode())
            self._known = change.total("calls"), spent - most + cost

    def lines(self) -> Iterator[bytes]:
        """Lines for all calls that were answered or may have been paid for, in the order in which they were sent."""
        return (
            line_of({"v": VERSION, "sent": key, "t": sent}) if line is None else line.encode()
            for key, sent, line in self.database.read(ALL)
        )

    def take_in(self, sources: Iterable[CallTable]) -> None:
        """Add the calls of other databases. Of two answers with one key the first is kept, and both count as paid."""
        with self.database.transaction() as change:
            for source in sources:
                for call in source.database.read(f"{CALL} order by n"):
                    _put(change, None, *call)

    def _take_in_lines(self, path: Path) -> None:
        open_calls = dict[str, str]()
        with self.database.transaction() as change:
            for number, line in enumerate(_whole_lines(path), 1):
                try:
                    key, answer, cost, about = read_line(line)
                except ValueError as error:
                    raise InputError(str(error), path=path, line=number) from None
                if answer is None:
                    open_calls[key] = about
                    continue
                open_calls.pop(key, None)
                _put(change, None, key, about, "", "", "done", cost, line.decode())
            for key, sent in open_calls.items():
                _put(change, None, key, "", "", sent, "sent", 0.0, None)


def now() -> str:
    """The current time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _put(
    change: Change,
    n: int | None,
    key: str,
    model: str,
    place: str,
    sent: str,
    state: str,
    cost: float,
    line: str | None,
) -> None:
    """Put a call. Of two answers with one key only the first is kept."""
    if state == "done" and change.read(ANSWERED, (key,)):
        state, line = "twice", None
    change.put("calls", n, key, model, place, sent, state, cost, line)


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file. A last line without a line break was torn by a crash, and is left out."""
    with naming(path), opened(path) as file:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise ValueError(f"a line is longer than {LONGEST_LINE:,} bytes")
            if line.endswith(b"\n"):
                yield line
