"""The ledger: a durable record of all calls to a language model, which is also a cache and can be replayed (SQLite).

A call is recorded before it goes out, with the most it may cost, and again when it is answered. Its key is a hash of
the model's identity and the whole request: no question is paid for twice, and recorded calls can be replayed offline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import NamedTuple, TypeVar

from otherminds.errors import InputError
from otherminds.files.database import Database
from otherminds.language import call_records as records
from otherminds.language import model as models
from otherminds.language.budget import Budget, Sent, ratio_on_record
from otherminds.language.prices import BudgetError, Price, at_most, bill_of, check_budget, possible

A = TypeVar("A", models.Reply, models.Scores)
Asked = models.Request | models.Continuations

STOPPED = "no more calls are made, as the run was broken off"


class Totals(NamedTuple):
    """Totals of the calls to a recorded model in this run.

    `calls` counts those answered by the model, `recalled` those answered from the record, `failed` those without an
    answer, and `uncertain` the calls to a server that were on record at the start as sent but not answered. `usage`
    (tokens) and `cost` (dollars; None without a price) are of `calls`; `recorded_usage` is of all answers given.
    """

    calls: int = 0
    recalled: int = 0
    uncertain: int = 0
    failed: int = 0
    usage: models.Usage = models.NOTHING
    recorded_usage: models.Usage = models.NOTHING
    cost: float | None = None


class Recorded:
    """A language model with its answers recorded in a database; a question with a recorded answer is not asked again.

    It has the name and the identity of the model.

    Threads that ask the same question at the same time share one call and its answer or error; errors are not recorded.
    `totals` are the totals so far. `uncertain` holds the calls that were on record at the start as sent but not
    answered, because the program was stopped or the answer was lost. They may have been paid for, and are sent again
    when asked again.
    """

    def __init__(
        self,
        model: models.LanguageModel,
        record: Path | Database,
        *,
        replay: bool = False,
        price: Price | None = None,
        budget: float | None = None,
        most_calls: int | None = None,
    ) -> None:
        """Open or create a record. A replay calls nothing, writes nothing, and may also read a file of lines (.jsonl).

        The budget is in dollars, needs a price, and covers all models on record together. If this model bills more than
        estimated, it is exceeded by one bill at the most (see `Budget`). `most_calls` limits the calls that this object
        makes. Raises InputError for a budget without a price, for a file that is no record, or for one that cannot be
        written.
        """
        check_budget(budget, price)
        self.replay = replay
        self.name, self.identity = model.name, model.identity
        self._model, self._price = model, price
        self._left = most_calls
        self._lock = Lock()
        self._under_way: dict[str, Future[records.Answer]] = {}
        if isinstance(record, Database):
            self.path, self._calls = record.path, records.CallTable(record)
        else:
            self.path, self._calls = record, records.CallTable.open(record, readonly=replay)
        self.uncertain: tuple[records.UncertainCall, ...] = self._calls.uncertain(model.identity)
        in_process = self.identity.startswith(models.EMBEDDED)  # which costs nothing, whether it answers or not
        uncertain = 0 if in_process else len(self.uncertain)
        self.totals = Totals(uncertain=uncertain, cost=None if price is None else 0.0)
        ratio = None
        if budget is not None and price is not None and not replay:
            ratio = ratio_on_record(self._calls.answers(model.identity), price)
        self._budget = Budget(budget, ratio)

    @property
    def spent(self) -> float:
        """Dollars for all calls on record, of this run and earlier ones: the amount that the budget limits.

        An answer counts with its cost when it was recorded (0 without a price); a call under way, or one whose answer
        was lost, with the most that it may cost.
        """
        return self._calls.spent

    @property
    def answered(self) -> records.AnsweredCalls:
        """The totals of all recorded answers of this model, of this run and earlier ones."""
        return self._calls.answered(self.identity)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parameters that the model's server refused, so that its calls do without."""
        return tuple(getattr(self._model, "left_out", ()))

    def stop(self) -> None:
        """Make no more calls: from now on a question without a recorded answer raises ModelError."""
        self._budget.stop(models.ModelError(STOPPED))

    def complete(self, request: models.Request, /) -> models.Reply:
        """The recorded reply, or else the model's.

        Raises ModelError if there is none, BudgetError if it might exceed the budget or was billed above its bound,
        InputError if it cannot be recorded.
        """
        return self._answer(request, models.Reply, lambda: self._model.complete(request))

    def score(self, request: models.Continuations, /) -> models.Scores:
        """The recorded scores, or else the model's. Raises the errors of `complete`."""
        return self._answer(request, models.Scores, lambda: self._model.score(request))

    def _answer(self, request: Asked, kind: type[A], ask: Callable[[], A]) -> A:
        question = records.question_of(self.identity, request)
        key = records.key_of(question)
        mine = Future[records.Answer]()
        with self._lock:
            earlier = self._under_way.get(key) or self._calls.answer(key)
            if earlier is None and not self.replay:
                self._under_way[key] = mine
        if earlier is not None:
            answer = earlier.result() if isinstance(earlier, Future) else earlier
            self._count(answer.usage)
        elif self.replay:
            hint = "it is another call if anything differs in the model, the prompt or the settings"
            message = f"there is no record of the call {_extract(request.prompt)}"
            raise models.ModelError(message, path=self.path, hint=hint)
        else:
            try:
                answer = self._call(question, request, ask)
                mine.set_result(answer)
            except BaseException as error:  # the threads that wait for the answer get the error
                mine.set_exception(error)
                raise
            finally:
                with self._lock:
                    del self._under_way[key]
        assert isinstance(answer, kind)
        return answer

    def _call(self, question: Mapping[str, object], request: Asked, ask: Callable[[], A]) -> records.Answer:
        """Make a call if the budget allows it, and record it before and after."""
        sent = self._send(records.key_of(question), request)
        began = perf_counter()
        try:
            answer = ask()
            if not possible(answer.usage):
                answer = replace(answer, usage=models.NOTHING)
            bill = None if self._price is None else bill_of(answer.usage, self._price)
        except BaseException as error:
            free = isinstance(error, InputError) and not isinstance(error, models.UncertainError)
            self._settle(sent, *(("refused", 0.0) if free else ("lost", sent.bound)))
            with self._lock:
                self.totals = self.totals._replace(failed=self.totals.failed + 1)
            raise
        # a model that does not tell how many tokens it used is assumed to have used the most
        cost = sent.bound if bill is None else bill
        meta: dict[str, object] = {"name": self.name, "seconds": round(perf_counter() - began, 3), "t": records.now()}
        try:
            line, recorded = records.answered_line(question, answer, meta | ({"cost": cost} if self._price else {}))
        except models.ModelError:
            self._settle(sent, "lost", cost, bill)
            raise
        exceeded = self._settle(sent, "done", cost, bill, line)
        self._count(recorded.usage, cost)
        if exceeded:
            raise exceeded
        return recorded

    def _send(self, key: str, request: Asked) -> Sent:
        """Record that a call goes out, as soon as the budget has room for it. Raises BudgetError if no call is left."""
        with self._lock:
            if self._left == 0:
                raise BudgetError("the limit on calls is reached", hint="--most-calls; what is done is kept")
            self._left = None if self._left is None else self._left - 1
        estimate = 0.0 if self._price is None else self._price.cost(at_most(request))
        place = getattr(request, "draw", "") or _extract(request.prompt)
        dollars = self._budget.dollars
        return self._budget.send(estimate, lambda bound: self._calls.send(key, self.identity, place, bound, dollars))

    def _settle(
        self, sent: Sent, state: str, cost: float, bill: float | None = None, line: bytes | None = None
    ) -> BudgetError | None:
        """Record the outcome of a call; the error if its bill exceeds its bound."""
        return self._budget.settle(sent, cost, bill, lambda: self._calls.settle(sent.number, state, cost, line))

    def _count(self, usage: models.Usage, cost: float | None = None) -> None:
        """Add an answer to the totals: a recalled one if `cost` is None, else one that the model gave now."""
        with self._lock:
            old = self.totals
            new = old._replace(recorded_usage=old.recorded_usage + usage)
            if cost is None:
                self.totals = new._replace(recalled=old.recalled + 1)
            else:
                total = None if old.cost is None else old.cost + cost
                self.totals = new._replace(calls=old.calls + 1, usage=old.usage + usage, cost=total)


def _extract(prompt: models.Prompt) -> str:
    """The beginning and the end of a prompt, on one line."""
    text = prompt if isinstance(prompt, str) else " ".join(message.text for message in prompt)
    text = " ".join(text.split())
    shown = records.SHOWN
    return f"`{text}`" if len(text) <= 2 * shown else f"`{text[:shown]} … {text[-shown:]}`"
