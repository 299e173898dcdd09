"""The ledger: a durable record of all calls to a language model, which is also a cache and can be replayed (SQLite).

A call is recorded before it goes out, with the most it may cost, and again when it is answered. Its key is a hash of
the model's identity and the whole request: no question is paid for twice, and recorded calls can be replayed offline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import NamedTuple, TypeVar

from otherminds.errors import InputError
from otherminds.files.database import Database
from otherminds.language.call_records import (
    SHOWN,
    Answer,
    AnsweredCalls,
    CallTable,
    UncertainCall,
    answered_line,
    key_of,
    now,
    question_of,
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
    UncertainError,
    Usage,
)
from otherminds.language.prices import Price, at_most, check_budget

A = TypeVar("A", Reply, Scores)


class Totals(NamedTuple):
    """Totals of the calls to a recorded model in this run.

    `calls` counts those answered by the model, `recalled` those answered from the record, `failed` those without an
    answer, and `uncertain` the calls that were on record at the start as sent but not answered. `usage` (tokens) and
    `cost` (dollars; None without a price) are of `calls`; `recorded_usage` is of all answers given.
    """

    calls: int = 0
    recalled: int = 0
    uncertain: int = 0
    failed: int = 0
    usage: Usage = NOTHING
    recorded_usage: Usage = NOTHING
    cost: float | None = None


class Recorded:
    """A language model with its answers recorded in a database; a question with a recorded answer is not asked again.

    Threads that ask the same question at the same time share one call and its answer or error; errors are not recorded.
    `uncertain` holds the calls that were on record at the start as sent but not answered, because the program was
    stopped or the answer was lost. They may have been paid for, and are sent again when asked again.
    """

    def __init__(
        self,
        model: LanguageModel,
        record: Path | Database,
        *,
        replay: bool = False,
        price: Price | None = None,
        budget: float | None = None,
    ) -> None:
        """Open or create a record. A replay calls nothing, writes nothing, and may also read a file of lines (.jsonl).

        The budget is in dollars, needs a price, and covers all models on record together. Raises InputError for a
        budget without a price, for a file that is no record, or for one that cannot be written.
        """
        check_budget(budget, price)
        self.replay = replay
        self._model, self._price, self._budget = model, price, budget
        self._lock = Lock()
        self._stopped = False
        self._under_way: dict[str, Future[Answer]] = {}
        self._calls = CallTable.of(record) if isinstance(record, Database) else CallTable.open(record, readonly=replay)
        self.path = record.path if isinstance(record, Database) else record
        self.uncertain: tuple[UncertainCall, ...] = self._calls.uncertain(model.identity)
        self._totals = Totals(uncertain=len(self.uncertain), cost=None if price is None else 0.0)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def identity(self) -> str:
        """The model's identity."""
        return self._model.identity

    @property
    def totals(self) -> Totals:
        """The totals so far."""
        return self._totals

    @property
    def spent(self) -> float:
        """Dollars for all calls on record, of this run and earlier ones: the amount that the budget limits.

        An answer counts with its cost when it was recorded (0 without a price); a call under way, or one whose answer
        was lost, with the most that it may cost.
        """
        return self._calls.spent

    @property
    def answered(self) -> AnsweredCalls:
        """The totals of all recorded answers of this model, of this run and earlier ones."""
        return self._calls.answered(self.identity)

    def stop(self) -> None:
        """Make no more calls: from now on a question without a recorded answer raises ModelError."""
        self._stopped = True

    def complete(self, request: Request, /) -> Reply:
        """The recorded reply, or else the model's.

        Raises ModelError if there is none, BudgetError if it might exceed the budget, InputError if it cannot be
        recorded.
        """
        return self._answer(request, Reply, lambda: self._model.complete(request))

    def score(self, request: Continuations, /) -> Scores:
        """The recorded scores, or else the model's. Raises the errors of `complete`."""
        return self._answer(request, Scores, lambda: self._model.score(request))

    def _answer(self, request: Request | Continuations, kind: type[A], ask: Callable[[], A]) -> A:
        question = question_of(self.identity, request)
        key = key_of(question)
        mine = Future[Answer]()
        with self._lock:
            known = self._under_way.get(key) or self._calls.answer(key)
            if known is None and not self.replay:
                self._under_way[key] = mine
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
        """Make a call, and pass its answer or error to the threads that wait for it."""
        try:
            answer = call()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._under_way[key]

    def _call(self, question: Mapping[str, object], request: Request | Continuations, ask: Callable[[], A]) -> Answer:
        """Make a call if the budget allows it, and record it before and after."""
        if self._stopped:
            raise ModelError("no more calls are made, as the run was broken off")
        most = 0.0 if self._price is None else self._price.cost(at_most(request))
        place = getattr(request, "draw", "") or _extract(request.prompt)
        number = self._calls.send(key_of(question), self.identity, place, most, self._budget)
        began = perf_counter()
        try:
            answer = ask()
            # a model that does not tell how many tokens it used is assumed to have used the most
            cost = most if self._price is None or answer.usage == NOTHING else self._price.cost(answer.usage)
        except BaseException as error:
            free = isinstance(error, InputError) and not isinstance(error, UncertainError)
            self._calls.settle(number, *(("refused", 0.0) if free else ("lost", most)))
            with self._lock:
                self._totals = self._totals._replace(failed=self._totals.failed + 1)
            raise
        meta: dict[str, object] = {"name": self.name, "seconds": round(perf_counter() - began, 3), "t": now()}
        try:
            line, recorded = answered_line(question, answer, meta | ({"cost": cost} if self._price else {}))
        except ModelError:
            self._calls.settle(number, "lost", cost)
            raise
        self._calls.settle(number, "done", cost, line)
        self._count(recorded.usage, cost)
        return recorded

    def _count(self, usage: Usage, cost: float | None = None) -> None:
        """Add an answer to the totals: a recalled one if `cost` is None, else one that the model gave now."""
        with self._lock:
            old = self._totals
            new = old._replace(recorded_usage=old.recorded_usage + usage)
            if cost is None:
                self._totals = new._replace(recalled=old.recalled + 1)
            else:
                total = None if old.cost is None else old.cost + cost
                self._totals = new._replace(calls=old.calls + 1, usage=old.usage + usage, cost=total)


def _extract(prompt: Prompt) -> str:
    """The beginning and the end of a prompt, on one line."""
    text = prompt if isinstance(prompt, str) else " ".join(message.text for message in prompt)
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= 2 * SHOWN else f"`{text[:SHOWN]} … {text[-SHOWN:]}`"
