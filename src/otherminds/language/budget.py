"""A budget for calls to a model whose server may bill more than the estimate.

A bill is known only after the call. So the first call goes alone, bounds are learned from bills, and calls go out
together only while there is room for all but one of them at their worst.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from threading import Condition
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from otherminds.language.model import Continuations, ModelError, Request, Usage
from otherminds.language.prices import BudgetError, Price, at_most, bill_of, over_bound

WORST = 100.0
"""The largest bill assumed for a call, as a multiple of its estimate; chosen."""
GROWTH = 10.0
"""… or as a multiple of its bound, for models whose hidden reasoning makes every bill larger than WORST; chosen."""
EXACT = 1.0 + 1e-9  # sums of dollars are rounded


class Sent(NamedTuple):
    """A call under way: its number on record, its estimate, its bound and the largest bill assumed, in dollars."""

    number: int
    estimate: float
    bound: float
    worst: float


class Budget:
    """Dollars that may be spent, and the calls under way. Threads share it. Without a limit no call waits.

    The bound of a call is its estimate, scaled by the largest ratio of bill to estimate so far if that is above 1. The
    largest bill assumed is WORST times the estimate, GROWTH times the bound, or the largest bill so far. A call goes
    out if its bound fits into what is left, with those of the calls under way, and if all of these calls but one would
    fit even with the largest bills assumed. Otherwise it waits for the calls under way. While no ratio is known, one
    call goes at a time.

    After a bill above the largest assumed (except the first, from which the ratio is learned), or one that exceeds the
    budget, no more calls go out. So at most one bill is spent above the budget, as long as the assumption holds.
    """

    def __init__(self, dollars: float | None, ratio: float | None = None) -> None:
        """`dollars` None is no limit; `ratio` is the largest so far."""
        self.dollars, self.ratio = dollars, ratio
        self._spent = self._largest = 0.0
        self._under_way: list[Sent] = []
        self._end: ModelError | None = None
        self._changed = Condition()

    def stop(self, error: ModelError) -> None:
        """Stop all further calls: waiting and later ones raise this error, or that of an earlier stop."""
        with self._changed:
            self._end = self._end or error
            self._changed.notify_all()

    def send(self, estimate: float, record: Callable[[float], tuple[int, float]]) -> Sent:
        """Wait for room for a call, and record it.

        `record` is given its bound, and returns its number and the dollars on record before. Raises the error of
        `stop`, and what `record` raises.
        """
        with self._changed:
            while self._under_way and not self._end and not self._fits(estimate):
                self._changed.wait()
            if self._end:
                raise self._end
            bound = self._bound(estimate)
            number, spent = record(bound)
            if not self._under_way:  # another model may have been asked, too
                self._spent = spent
            sent = Sent(number, estimate, bound, self._worst(estimate))
            self._under_way.append(sent)
            return sent

    def settle(self, sent: Sent, cost: float, bill: float | None, record: Callable[[], None]) -> BudgetError | None:
        """Record the outcome of a call, with its cost and, if there is one, its bill; the error for too high a bill."""
        with self._changed:
            try:
                record()
                self._spent += cost
                return None if bill is None else self._learn(sent, bill)
            finally:
                self._under_way.remove(sent)
                self._changed.notify_all()

    def _learn(self, sent: Sent, bill: float) -> BudgetError | None:
        if self.dollars is None:
            return None
        first = self.ratio is None
        self.ratio = max(self.ratio or 1.0, bill / sent.estimate if sent.estimate else 1.0)
        self._largest = max(self._largest, bill)
        if (first or bill <= sent.worst * EXACT) and self._spent <= self.dollars * EXACT:
            return None
        error = over_bound(bill, sent.bound, self._spent, self.dollars)
        self.stop(error)
        return error

    def _bound(self, estimate: float) -> float:
        return estimate * (self.ratio or 1.0)

    def _worst(self, estimate: float) -> float:
        return max(WORST * estimate, GROWTH * self._bound(estimate), self._largest)

    def _fits(self, estimate: float) -> bool:
        """Whether there is room for another call beside those under way."""
        if self.dollars is None:
            return True
        estimates = [*(call.estimate for call in self._under_way), estimate]
        bounds = math.fsum(map(self._bound, estimates))
        worst = math.fsum(sorted(map(self._worst, estimates))[:-1])
        return self.ratio is not None and max(bounds, worst) <= self.dollars - self._spent


class _Response(BaseModel):
    usage: Usage


class _Billed(BaseModel):
    request: Annotated[Continuations | Request, Field(union_mode="left_to_right")]
    response: _Response


def ratio_on_record(lines: Iterable[str], price: Price) -> float | None:
    """The largest ratio of bill to estimate among recorded answers, and at least 1; None if none tells its tokens."""
    largest_ratio = None
    for line in lines:
        try:
            call = _Billed.model_validate_json(line)
        except ValidationError:  # reported when this answer is asked for
            continue
        bill, estimate = bill_of(call.response.usage, price), price.cost(at_most(call.request))
        if bill is not None and estimate:
            largest_ratio = max(largest_ratio or 1.0, bill / estimate)
    return largest_ratio
