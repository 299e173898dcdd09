"""A durable record of all calls to a language model: at once cache, ledger and replay.

It is a file of JSON lines (`*.lm.jsonl`) that only ever grows. `{"sent": KEY, …}` is written before a call goes out,
and its key, request and response when it is answered. The key is a hash of the model's identity and of all that the
request says: no question is paid for twice, and what was asked once can be replayed offline.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import NamedTuple, TypeVar

from otherminds.errors import InputError
from otherminds.language.ledger_lines import (
    SHOWN,
    VERSION,
    Answer,
    Entry,
    answered_line,
    key_of,
    line_of,
    question_of,
    read_line,
)
from otherminds.language.model import (
    NOTHING,
    Continuations,
    LanguageModel,
    ModelError,
    Prompt,
    Reply,
    Request,
    Scores,
    Usage,
)
from otherminds.language.prices import Price, Spending

A = TypeVar("A", Reply, Scores)


class Totals(NamedTuple):
    """What was asked of a recorded model, and what that took.

    `calls` were answered by the model now, `recalled` from the record; `uncertain` ones were on record at the start as
    sent, but without an answer. `usage` and `cost` are of the calls answered now, `recorded_usage` is of all answers
    given. Without a price there is no cost.
    """

    calls: int = 0
    recalled: int = 0
    uncertain: int = 0
    usage: Usage = NOTHING
    recorded_usage: Usage = NOTHING
    cost: float | None = None


class Recorded:
    """A model whose answers are kept in a file; what is on record there is not asked again.

    Threads that ask the same at the same time ask it once, and share the answer or the error; errors are not kept. A
    file is for one of these at a time, as it does not see what another one adds. `uncertain` are the keys of calls that
    were on record at the start as sent, but without an answer, since the program was stopped or the model failed: they
    may have been paid for, and are sent again when asked again.
    """

    def __init__(
        self,
        model: LanguageModel,
        path: Path,
        *,
        replay: bool = False,
        price: Price | None = None,
        budget: float | None = None,
    ) -> None:
        """Open or begin a record; a replay asks and writes nothing. The budget is in dollars, and needs a price.

        Raises InputError for a budget without a price, a file that is no such record, or one that cannot be written.
        """
        self.path = path
        self.replay = replay
        self._model = model
        self._lock = Lock()
        self._stopped = False
        self._answers: dict[str, Answer | Future[Answer]] = {}
        self._file = _File(path)
        self.uncertain, spent = self._load()
        self._spending = Spending(price, budget, spent)
        self._totals = Totals(uncertain=len(self.uncertain), cost=None if price is None else 0.0)
        if not replay:
            self._file.prepare()

    @property
    def name(self) -> str:
        """That of the model."""
        return self._model.name

    @property
    def identity(self) -> str:
        """That of the model."""
        return self._model.identity

    @property
    def totals(self) -> Totals:
        """What was asked so far."""
        return self._totals

    @property
    def spent(self) -> float:
        """Dollars for all answers on record, from this run and earlier ones: what the budget is a limit of.

        An answer counts as what it cost when it was recorded, so as nothing if that was without a price. Calls without
        an answer count as nothing too, as nobody knows whether they were paid for.
        """
        return self._spending.spent

    def stop(self) -> None:
        """Make no more calls: who asks for one that is not on record gets a ModelError, and threads come to an end."""
        self._stopped = True

    def complete(self, request: Request, /) -> Reply:
        """The reply on record, or else the model's.

        Raises ModelError if there is none, BudgetError if it might cost too much, InputError if it cannot be recorded.
        """
        return self._answer(request, Reply, lambda: self._model.complete(request))

    def score(self, request: Continuations, /) -> Scores:
        """The scores on record, or else the model's. Raises what `complete` does."""
        return self._answer(request, Scores, lambda: self._model.score(request))

    def _load(self) -> tuple[tuple[str, ...], float]:
        """Take in the answers on record; the keys that were sent but not answered, and what the answers cost."""
        sent, spent = dict[str, None](), 0.0
        for key, answer, cost in self._file.read(optional=not self.replay):
            sent[key] = None
            spent += cost
            if answer is not None:
                self._answers.setdefault(key, answer)
        return tuple(key for key in sent if key not in self._answers), spent

    def _answer(self, request: Request | Continuations, kind: type[A], ask: Callable[[], A]) -> A:
        question = question_of(self.identity, request)
        key = key_of(question)
        mine = Future[Answer]()
        with self._lock:
            known = self._answers.get(key)
            if known is None and not self.replay:
                self._answers[key] = mine
        if known is None and self.replay:
            hint = "it is another call if anything differs in the model, the prompt or the settings"
            raise ModelError(f"there is no record of the call {_extract(request.prompt)}", path=self.path, hint=hint)
        if known is None:
            found = self._first(mine, key, lambda: self._call(question, request, ask))
        else:
            found = known.result() if isinstance(known, Future) else known
            self._count(found.usage)
        assert isinstance(found, kind)
        return found

    def _first(self, mine: Future[Answer], key: str, call: Callable[[], Answer]) -> Answer:
        """Make a call, and hand what comes of it to the threads that wait for that."""
        try:
            answer = call()
        except BaseException as error:
            with self._lock:
                del self._answers[key]
            mine.set_exception(error)
            raise
        with self._lock:
            self._answers[key] = answer
        mine.set_result(answer)
        return answer

    def _call(self, question: Mapping[str, object], request: Request | Continuations, ask: Callable[[], A]) -> Answer:
        """Make a call if the budget allows it, and record it before and after."""
        if self._stopped:
            raise ModelError("no more calls are made, as the run was broken off")
        reserved, usage = self._spending.reserve(request), None
        try:
            self._file.append(line_of({"v": VERSION, "sent": key_of(question), "t": _now()}))
            began = perf_counter()
            answer = ask()
            seconds, usage = perf_counter() - began, answer.usage
        finally:
            cost = self._spending.settle(reserved, usage)
        meta: dict[str, object] = {"name": self.name, "seconds": round(seconds, 3), "t": _now()}
        if self._totals.cost is not None:
            meta["cost"] = cost
        line, recorded = answered_line(question, answer, meta)
        self._file.append(line, durable=True)
        self._count(recorded.usage, cost)
        return recorded

    def _count(self, usage: Usage, cost: float | None = None) -> None:
        """Add an answer to the totals: one that was recalled, or one that cost something now."""
        with self._lock:
            old = self._totals
            new = old._replace(recorded_usage=old.recorded_usage + usage)
            if cost is None:
                self._totals = new._replace(recalled=old.recalled + 1)
            else:
                total = None if old.cost is None else old.cost + cost
                self._totals = new._replace(calls=old.calls + 1, usage=old.usage + usage, cost=total)


class _File:
    """The lines of a record. Whatever happens while one is written, the next one begins after a whole one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._torn_from: int | None = None
        self._lock = Lock()

    def read(self, *, optional: bool) -> Iterator[Entry]:
        """All that is on record. Raises InputError for a line that is no record, or a file that cannot be read."""
        for number, line in enumerate(self._lines(optional), 1):
            try:
                yield read_line(line)
            except ValueError as error:
                raise InputError(str(error), path=self._path, line=number) from None

    def _lines(self, optional: bool) -> Iterator[bytes]:
        end = 0
        try:
            with self._path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):
                        self._torn_from = end
                        return
                    end += len(line)
                    yield line
        except (OSError, ValueError) as error:
            if not (optional and isinstance(error, FileNotFoundError)):
                raise InputError(f"cannot be read: {_reason(error)}", path=self._path) from None

    def prepare(self) -> None:
        """Make sure that lines can be added. Raises InputError if they cannot."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {_reason(error)}", path=self._path) from None
        self.append(b"")

    def append(self, line: bytes, *, durable: bool = False) -> None:
        """Add a line; a durable one outlasts a failure of power. Raises InputError if that cannot be done."""
        try:
            with self._path.open("ab", buffering=0) as file:
                with self._lock:
                    self._write(file, line)
                if durable:
                    os.fsync(file.fileno())
        except OSError as error:
            hint = "what was recorded before is kept"
            raise InputError(f"cannot be written: {_reason(error)}", path=self._path, hint=hint) from None

    def _write(self, file: FileIO, line: bytes) -> None:
        if self._torn_from is not None:
            file.truncate(self._torn_from)
        self._torn_from = file.seek(0, os.SEEK_END)
        if file.write(line) < len(line):
            raise OSError("only a part of a line, as if the disk were full")
        self._torn_from = None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _extract(prompt: Prompt) -> str:
    """How a prompt begins and ends, on one line."""
    text = prompt if isinstance(prompt, str) else " ".join(message.text for message in prompt)
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= 2 * SHOWN else f"`{text[:SHOWN]} … {text[-SHOWN:]}`"
