"""A durable record of all calls to a language model: at once cache, ledger and replay (sqlite).

A call is written down before it goes out, with what it may cost at most, and again when it is answered. Its key is a
hash of the model's identity and of all that the request says: no question is paid for twice, and what was asked once
can be replayed offline.
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
    """What was asked of a recorded model, and what that took.

    `calls` were answered by the model now, `recalled` from the record; `uncertain` ones were on record at the start as
    sent, but without an answer; `failed` ones were made now, and gave none. `usage` and `cost` are of the calls
    answered now, `recorded_usage` is of all answers given. Without a price there is no cost.
    """

    calls: int = 0
    recalled: int = 0
    uncertain: int = 0
    failed: int = 0
    usage: Usage = NOTHING
    recorded_usage: Usage = NOTHING
    cost: float | None = None


class Recorded:
    """A model whose answers are kept in a database (see `ledger_table`); what is on record there is not asked again.

    Threads that ask the same at the same time ask it once, and share the answer or the error; errors are not kept.
    `uncertain` are the calls that were on record at the start as sent, but without an answer, since the program was
    stopped or the answer was lost: they may have been paid for, and are sent again when asked again.
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
        """Open or begin a record; a replay asks and writes nothing, and may be of a file of lines (.jsonl) too.

        The budget is in dollars, needs a price, and is for all models on record together. Raises InputError for a
        budget without a price, for what is no such record, or for one that cannot be written.
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
        """Dollars for all calls on record, of this run and earlier ones: what the budget is a limit of.

        An answer counts as what it cost when it was recorded, so as nothing if that was without a price; a call under
        way, or one whose answer was lost, as the most that it may cost.
        """
        return self._calls.spent

    @property
    def answered(self) -> AnsweredCalls:
        """All that is on record as answered by this model."""
        return self._calls.answered(self.identity)

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
        """Make a call, and hand what comes of it to the threads that wait for that."""
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
            cost = self._cost(answer.usage, most)
        except BaseException as error:
            free = isinstance(error, InputError) and not isinstance(error, UncertainError)
            self._calls.settle(number, *(("refused", 0.0) if free else ("lost", most)))
            self._count_failure()
            raise
        return self._keep(number, question, answer, perf_counter() - began, cost)

    def _keep(self, number: int, question: Mapping[str, object], answer: Answer, seconds: float, cost: float) -> Answer:
        meta: dict[str, object] = {"name": self.name, "seconds": round(seconds, 3), "t": now()}
        try:
            line, recorded = answered_line(question, answer, meta | ({"cost": cost} if self._price else {}))
        except ModelError:
            self._calls.settle(number, "lost", cost)
            raise
        self._calls.settle(number, "done", cost, line)
        self._count(recorded.usage, cost)
        return recorded

    def _cost(self, usage: Usage, most: float) -> float:
        """What a call cost: the most it could, if the model does not tell how many tokens it used."""
        return most if self._price is None or usage == NOTHING else self._price.cost(usage)

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

    def _count_failure(self) -> None:
        with self._lock:
            self._totals = self._totals._replace(failed=self._totals.failed + 1)


def _extract(prompt: Prompt) -> str:
    """How a prompt begins and ends, on one line."""
    text = prompt if isinstance(prompt, str) else " ".join(message.text for message in prompt)
    text = " ".join(text.split())
    return f"`{text}`" if len(text) <= 2 * SHOWN else f"`{text[:SHOWN]} … {text[-SHOWN:]}`"
