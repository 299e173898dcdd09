"""Threads that ask the same ask it once, and whoever asks, a budget is a limit."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numpy as np
import pytest

from fake_models import ANSWER, Fake, dead, fails, silent
from otherminds.errors import InputError
from otherminds.evaluation.asking import spent
from otherminds.language.budget import ratio_on_record
from otherminds.language.call_records import CallTable
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, Message, ModelError, Reply, Request, Scores, Usage, ask_all
from otherminds.language.prices import BudgetError, Price, at_most
from run_files import read

DOLLAR = Price(1e6, 1e6)
"""A dollar a token."""
THREE = Scores((-0.1, -0.2, -0.3), (1, 1, 1))
STATES = "select state, count(*) from calls group by state order by state"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


# Threads


class Watched:
    """A model that answers nobody before so many threads have come to ask."""

    name = identity = "watched"

    def __init__(self, answer: Callable[[Request], Reply], askers: int) -> None:
        self.answer, self.askers, self.asked, self.came = answer, askers, 0, 0
        self.lock, self.all_came = Lock(), Event()

    def complete(self, request: Request, /) -> Reply:
        self.asked += 1
        assert self.all_came.wait(30), "not all threads came"
        return self.answer(request)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError

    def asked_through(self, recorded: Recorded) -> Reply:
        """The reply to the one question, recorded or not, for a thread that has come."""
        with self.lock:
            self.came += 1
            if self.came == self.askers:
                self.all_came.set()
        return recorded.complete(Request("a"))


@pytest.mark.parametrize("threads", [2, 8, 32])
def test_threads_with_the_same_question_ask_it_once(path: Path, threads: int) -> None:
    model = Watched(lambda _: ANSWER, threads)
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    with ThreadPoolExecutor(threads) as pool:
        found = [future.result() for future in [pool.submit(model.asked_through, recorded) for _ in range(threads)]]
    assert found == [ANSWER] * threads
    assert model.asked == 1
    assert recorded.totals[:2] == (1, threads - 1)
    assert recorded.spent == pytest.approx(16 / 1e6)


def test_threads_that_wait_for_an_error_get_it_too(path: Path) -> None:
    model = Watched(dead, 8)
    recorded = Recorded(model, path)
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(model.asked_through, recorded) for _ in range(8)]:
            with fails(["the endpoint is dead"], ModelError):
                future.result()
    model.answer = lambda _: ANSWER
    assert recorded.complete(Request("a")) == ANSWER


@pytest.mark.slow
def test_many_threads_are_recorded_as_what_they_were(path: Path) -> None:
    rng = np.random.default_rng(0)
    asked = [Request("é" * int(size), draw=str(int(n))) for size, n in rng.integers(1, (5_000, 20), (200, 2))]
    model = Fake(lambda request: Reply(str(request.prompt) + request.draw))
    recorded = Recorded(model, path)
    for reply, request in zip(ask_all(recorded.complete, asked, at_once=16), asked, strict=True):
        assert reply.text == str(request.prompt) + request.draw
    assert len(model.asked) == len(set(asked))
    assert recorded.totals[:2] == (len(set(asked)), len(asked) - len(set(asked)))
    replay = Recorded(Fake(), path, replay=True)
    assert [replay.complete(request).text for request in asked] == [str(r.prompt) + r.draw for r in asked]


# Budgets


def test_a_budget_needs_a_price(path: Path) -> None:
    with fails(["price is unknown", r"\(give it"]):
        Recorded(Fake(), path, budget=5.0)
    for wrong in (-1.0, math.nan, math.inf):
        with fails(["budget"]):
            Recorded(Fake(), path, price=Price(1.0, 1.0), budget=wrong)
    assert not path.exists()


def test_a_call_that_may_cost_too_much_is_not_made(path: Path) -> None:
    """Each call may cost 100 and costs 16 dollars."""
    model, price = Fake(), Price(1e6, 1e6)
    recorded = Recorded(model, path, price=price, budget=140.0)
    asked = [Request("abc", max_tokens=99, draw=str(n)) for n in range(5)]
    for request in asked[:3]:
        recorded.complete(request)
    said = [r"the budget of \$140 ", r"up to \$100", r"\$48 spent so far", r"what is done is kept"]
    for request in asked[3:]:
        with fails(said, BudgetError):
            recorded.complete(request)
    assert model.asked == asked[:3]
    assert recorded.complete(asked[0]) == ANSWER
    assert read(path, STATES) == [("done", 3)]
    again = Recorded(model, path, price=price, budget=140.0)
    assert again.spent == 48.0
    assert again.complete(asked[0]) == ANSWER
    with fails(said, BudgetError):
        again.complete(asked[3])
    assert Recorded(model, path, price=price, budget=148.0).complete(asked[3]) == ANSWER
    assert isinstance(BudgetError(""), ModelError)


def test_only_so_many_calls_are_made_and_what_is_recorded_costs_none(path: Path) -> None:
    model, asked = Fake(), [Request("abc", draw=str(n)) for n in range(3)]
    recorded = Recorded(model, path, most_calls=2)
    for request in (asked[0], asked[0], asked[1]):
        recorded.complete(request)
    with fails(["the limit on calls is reached"], BudgetError):
        recorded.complete(asked[2])
    assert recorded.complete(asked[1]) == ANSWER
    assert model.asked == asked[:2]
    assert "2 calls made, 2 answered from the record, the calls made: " in spent(recorded)
    assert Recorded(model, path, most_calls=1).complete(asked[2]) == ANSWER


def test_tokens_and_dollars_are_of_the_calls_made_now(path: Path) -> None:
    model = Fake(lambda _: Reply("yes", usage=Usage(100, 0, 10)))
    asked = [Request("abc", draw=str(n)) for n in range(3)]
    first = Recorded(model, path, price=Price(1e6, 1e6))
    assert [first.complete(request).text for request in asked[:2]] == ["yes", "yes"]
    later = Recorded(model, path, price=Price(1e6, 1e6))
    assert [later.complete(request).text for request in asked] == ["yes"] * 3
    told = spent(later)
    assert "1 calls made, 2 answered from the record" in told
    assert "100 tokens of prompts" in told
    assert "10 tokens written, $110.0000 spent" in told


def test_what_was_put_aside_for_a_call_that_failed_is_free_again(path: Path) -> None:
    model = Fake(dead)
    recorded = Recorded(model, path, price=Price(1e6, 1e6), budget=100.0)
    for _ in range(3):
        with fails(["the endpoint is dead"]):
            recorded.complete(Request("abc", max_tokens=99))
    assert recorded.spent == 0.0


def test_a_model_that_does_not_tell_what_it_used_used_the_most_it_could(path: Path) -> None:
    recorded = Recorded(Fake(lambda _: Reply("yes")), path, price=Price(1e6, 1e6), budget=150.0)
    recorded.complete(Request("abc", max_tokens=99))
    ((line,),) = read(path, "select line from calls")
    assert recorded.spent == recorded.totals.cost == json.loads(line)["meta"]["cost"] == 100.0
    with fails(kind=BudgetError):
        recorded.complete(Request("another", max_tokens=99))


class Gate:
    """A model that answers nobody but the first before it is opened; `highest` of its calls were there at once."""

    name = identity = "gate"

    def __init__(self) -> None:
        self.served, self.here, self.highest = 0, 0, 0
        self.lock, self.open = Lock(), Event()

    def complete(self, request: Request, /) -> Reply:
        with self.lock:
            self.served, self.here = self.served + 1, self.here + 1
            self.highest = max(self.highest, self.here)
            first = self.served == 1
        assert first or self.open.wait(10.0)
        with self.lock:
            self.here -= 1
        return Reply("yes", usage=Usage(50))

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError


def hundreds(count: int, begin: int = 0) -> list[Request]:
    """Calls of up to 100 tokens."""
    return [Request("abc", max_tokens=99, draw=str(begin + n)) for n in range(count)]


@pytest.mark.parametrize(
    ("budget", "together"),
    [
        (10_000.0 + 50.0, 2),  # all but one with the largest bill assumed
        (39_999.0, 4),
        (1e9, 16),
        (300.0, 1),
    ],
)
def test_calls_go_out_together_if_all_but_one_fit_at_their_worst(path: Path, budget: float, together: int) -> None:
    gate = Gate()
    recorded = Recorded(gate, path, price=DOLLAR, budget=budget)
    with ThreadPoolExecutor(17) as pool:
        asked = [pool.submit(recorded.complete, request) for request in hundreds(17)]
        late = time.monotonic() + 10.0
        while gate.here < together and time.monotonic() < late:
            time.sleep(1e-3)
        time.sleep(0.02)
        assert gate.highest == together
        gate.open.set()
        errors = [error for call in asked if (error := call.exception())]
    assert all(isinstance(error, BudgetError) and "has no room" in str(error) for error in errors)
    assert len(errors) == (17 - 5 if budget == 300.0 else 0)  # the fifth is bounded by what four have left
    assert recorded.spent == 50.0 * (17 - len(errors))


def test_a_call_waits_for_those_under_way_before_it_is_refused(path: Path) -> None:
    gate = Gate()
    recorded = Recorded(gate, path, price=DOLLAR, budget=210.0)
    recorded.complete(hundreds(1)[0])
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(recorded.complete, request) for request in hundreds(2, begin=1))
        time.sleep(0.02)
        assert not first.done()
        assert not second.done()  # 50 are spent and 100 put aside: 60 are left
        gate.open.set()
        assert first.result() == second.result()
    assert recorded.spent == 150.0
    with fails([r"the budget of \$210 has no room for a call of up to \$100: \$150 spent"], BudgetError):
        recorded.complete(hundreds(1, begin=3)[0])


def test_the_first_call_goes_alone_whatever_the_budget(path: Path) -> None:
    """As long as no bill is known: a call that failed tells none, nor does an answer without a usage."""
    first_bill = Reply("yes", usage=Usage(1, 0, 1))
    fates: list[Callable[[Request], Reply]] = [dead, silent, lambda _: Reply("yes"), lambda _: first_bill]
    here, most = 0, list[int]()
    lock = Lock()

    def answer(request: Request) -> Reply:
        nonlocal here
        with lock:
            here += 1
            most.append(here)
        time.sleep(0.01)
        with lock:
            here -= 1
        return fates.pop(0)(request) if fates else ANSWER

    recorded = Recorded(Fake(answer), path, price=DOLLAR, budget=1e9)

    def ask(request: Request) -> None:
        with suppress(ModelError):
            recorded.complete(request)

    list(ask_all(ask, hundreds(20), at_once=8))
    assert most[:5] == [1, 1, 1, 1, 1]
    assert max(most) == 8


def test_those_who_wait_for_room_are_told_that_the_run_was_broken_off(path: Path) -> None:
    gate = Gate()
    recorded = Recorded(gate, path, price=DOLLAR, budget=300.0)
    recorded.complete(hundreds(1)[0])
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(recorded.complete, request) for request in hundreds(4, begin=1)]
        while not gate.here:
            time.sleep(1e-3)
        recorded.stop()
        gate.open.set()
        errors = [error for call in asked if (error := call.exception())]
    assert len(errors) == 3
    assert all("broken off" in str(error) for error in errors)


def test_a_call_that_cannot_be_recorded_keeps_nobody_waiting(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    recorded = Recorded(gate, path, price=DOLLAR, budget=300.0)
    gate.open.set()

    def full(*_: object) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr(CallTable, "settle", full)
    with ThreadPoolExecutor(4) as pool:
        for call in [pool.submit(recorded.complete, request) for request in hundreds(4)]:
            assert isinstance(call.exception(10.0), InputError)


# Bills above estimates


def bills(*parts: float) -> Fake:
    """A model whose calls bill these multiples of their estimate, which is of 100 dollars; then the last of them."""
    left = list(parts)

    def answer(_: Request) -> Reply:
        return Reply("yes", usage=Usage(round(100 * (left.pop(0) if len(left) > 1 else left[0]))))

    return Fake(answer)


def test_bounds_are_learned_from_the_first_bill(path: Path) -> None:
    recorded = Recorded(bills(10.0), path, price=DOLLAR, budget=5_500.0)
    for request in hundreds(5):
        recorded.complete(request)
    with fails([r"the budget of \$5,500 has no room for a call of up to \$1,000: \$5,000 spent"], BudgetError):
        recorded.complete(hundreds(1, begin=5)[0])


def test_a_call_waits_for_others_even_if_bounds_are_at_their_worst(path: Path) -> None:
    """Each may bill 100 times its estimate, as the first did: one after the other they fit."""
    model, waits = bills(100.0, 1.0), Event()
    answer = model.answer

    def slow(request: Request) -> Reply:
        waits.wait(0.05)
        return answer(request)

    model.answer = slow
    recorded = Recorded(model, path, price=DOLLAR, budget=25_000.0)
    recorded.complete(hundreds(1)[0])
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(recorded.complete, request) for request in hundreds(2, begin=1)]
        assert [call.result().text for call in asked] == ["yes"] * 2


def test_a_resumed_run_knows_what_other_models_have_spent(path: Path) -> None:
    one, other = (Recorded(Fake(identity=name), path, price=DOLLAR, budget=1_000.0) for name in ("one", "other"))
    first, second = (record.complete(request) for record, request in zip((one, other), hundreds(2), strict=True))
    assert first == second
    huge = Recorded(replace(bills(9.9), identity="huge"), path, price=DOLLAR, budget=1_000.0)
    with fails([r"billed \$990 for a call bounded by \$100: \$1,022 of the budget of \$1,000 are spent"], BudgetError):
        huge.complete(hundreds(1)[0])


def test_no_bound_is_below_the_estimate(path: Path) -> None:
    recorded = Recorded(bills(0.1, 1.0), path, price=DOLLAR, budget=110.0)
    assert [recorded.complete(request).text for request in hundreds(2)] == ["yes", "yes"]
    assert recorded.spent == 110.0


def test_a_bill_above_the_largest_assumed_ends_the_run_and_is_told(path: Path) -> None:
    model = bills(2.0, 1.5, 2.5, 101.0, 1.0)
    recorded = Recorded(model, path, price=DOLLAR, budget=50_000.0)
    asked = hundreds(6)
    for request in asked[:3]:
        recorded.complete(request)
    said = [
        r"billed \$10,100 for a call bounded by \$250: \$10,700 of the budget of \$50,000 are spent, and no more calls",
        r"\(what is done is kept; a resumed run allows for such bills\)$",
    ]
    for request in asked[3:]:
        with fails(said, BudgetError):
            recorded.complete(request)
    assert model.asked == asked[:4]
    assert [recorded.complete(request).text for request in asked[:4]] == ["yes"] * 4  # nothing paid for is lost
    again = Recorded(model, path, price=DOLLAR, budget=20_799.0)
    with fails([r"no room for a call of up to \$10,100: \$10,700 spent"], BudgetError):  # that has been learned
        again.complete(asked[4])
    richer = Recorded(model, path, price=DOLLAR, budget=20_800.0)
    assert richer.complete(asked[4]).text == "yes"


def test_hidden_reasoning_may_grow_tenfold(path: Path) -> None:
    recorded = Recorded(bills(150.0, 1_500.0, 200.0, 15_001.0), path, price=DOLLAR, budget=1e9)
    asked = hundreds(4)
    for request in asked[:3]:
        recorded.complete(request)
    with fails([r"billed \$1,500,100 for a call bounded by \$150,000: "], BudgetError):
        recorded.complete(asked[3])


def test_bills_that_grow_are_no_reason_to_stop_while_the_budget_lasts(path: Path) -> None:
    recorded = Recorded(bills(10.0, 10.1, 10.2, 10.3, 10.31), path, price=DOLLAR, budget=1e6)
    for request in hundreds(5):
        recorded.complete(request)
    exceeded = Recorded(bills(10.35), path, price=DOLLAR, budget=recorded.spent + 1_033.0)
    with fails([r"billed \$1,035 for a call bounded by \$1,031: \$6,126 of the budget of \$6,124 "], BudgetError):
        exceeded.complete(hundreds(1, begin=5)[0])


def test_a_first_bill_above_the_budget_ends_the_run_and_is_told(path: Path) -> None:
    recorded = Recorded(bills(12.6), path, price=DOLLAR, budget=100.0)
    said = [r"billed \$1,260 for a call bounded by \$100: \$1,260 of the budget of \$100 ", "is kept"]
    for request in hundreds(2):
        with fails(said, BudgetError) as caught:
            recorded.complete(request)
        assert caught.value.enough == "2500"
    assert recorded.spent == recorded.totals.cost == 1_260.0


def test_a_resumed_run_learns_from_bills_on_record_or_from_another_first_call(path: Path) -> None:
    told = Recorded(bills(3.0), path, price=DOLLAR, budget=1e6)
    told.complete(hundreds(1)[0])
    Recorded(Fake(lambda _: Reply("yes"), identity="silent"), path, price=DOLLAR).complete(hundreds(1)[0])
    for identity, together in (("fake:1", 8), ("silent", 1)):
        gate = Gate()
        gate.identity, gate.served = identity, 1
        recorded = Recorded(gate, path, price=DOLLAR, budget=1e9)
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(recorded.complete, request) for request in hundreds(8, begin=1)]
            time.sleep(0.05)
            assert gate.highest == together
            gate.open.set()
            assert {call.result().text for call in asked} == {"yes"}


@pytest.mark.parametrize("kind", [Request, Continuations])
def test_estimates_of_recorded_calls_are_those_of_the_requests(path: Path, kind: type) -> None:
    pictured = (Message("system", "Où ?"), Message("user", "a", (b"1", b"\xff")))
    asked: Any = Request(pictured, max_tokens=7) if kind is Request else Continuations("a prompt", ("yes", "no", "é"))
    model = Fake(lambda _: Reply("yes", usage=Usage(30_000, 0, 2)), lambda _: replace(THREE, usage=Usage(70_000)))
    recorded = Recorded(model, path, price=Price(1.0, 2.0))
    recorded.complete(asked) if kind is Request else recorded.score(asked)
    lines = CallTable.open(path).answers("fake:1")
    usage = Usage(30_000, 0, 2) if kind is Request else Usage(70_000)
    for price in (Price(1.0, 2.0), Price(0.0, 3.0)):
        expected = price.cost(usage) / price.cost(at_most(asked))
        assert ratio_on_record(list(lines) or [], price) == (
            pytest.approx(max(expected, 1.0)) if price.prompt else None
        )
        lines = iter(())
    assert ratio_on_record(["{", "[]", '{"request": {}, "response": 3}', "[" * 10_000], DOLLAR) is None


@pytest.mark.parametrize("count", [-1, -(10**400), 10**400, math.nan, math.inf, -math.inf])
def test_an_impossible_usage_counts_as_the_bound(path: Path, count: Any) -> None:
    recorded = Recorded(Fake(lambda _: Reply("yes", usage=Usage(count, 0, 500))), path, price=DOLLAR, budget=250.0)
    for request in hundreds(2):
        assert recorded.complete(request).text == "yes"
    assert recorded.spent == 200.0
    with fails(["has no room"], BudgetError):
        recorded.complete(hundreds(1, begin=2)[0])


class Till:
    """A model that uses up a part of the most it may use, and knows what it is owed."""

    name = identity = "till"

    def __init__(self, price: Price, parts: Sequence[float]) -> None:
        self.price, self.parts = price, parts
        self.owed, self.under_way, self.highest, self.lock = 0.0, 0.0, 0.0, Lock()
        self.served: list[int] = []

    def usage(self, request: Request) -> Usage:
        most, part = at_most(request), self.parts[int(request.draw)]
        return Usage(math.ceil(most.prompt * part), 0, math.ceil(most.written * part))

    def complete(self, request: Request, /) -> Reply:
        most, usage = self.price.cost(at_most(request)), self.usage(request)
        with self.lock:
            self.served.append(int(request.draw))
            self.under_way += most
            self.highest = max(self.highest, self.owed + self.under_way)
        time.sleep(1e-4)
        with self.lock:
            self.under_way -= most
            self.owed += self.price.cost(usage)
        return Reply("yes", usage=usage)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError


def affordable(costs: Sequence[float], most: Sequence[float], budget: float) -> list[int]:
    """Which of some calls are made, one after the other."""
    made, spent = list[int](), 0.0
    for n, cost in enumerate(costs):
        if spent + most[n] <= budget:
            made.append(n)
            spent += cost
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(32))
def test_what_is_spent_stays_within_the_budget(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    threads = 1 if seed % 4 == 0 else int(rng.integers(2, 33))
    price = Price(*map(float, rng.uniform(0.1, 20.0, 2)))
    sizes = map(int, rng.integers(1, 99, 40))
    asked = [Request("word " * size, max_tokens=size, draw=str(n)) for n, size in enumerate(sizes)]
    model = Till(price, [float(part) for part in rng.uniform(0.1, 1.0, 40)])
    costs = [price.cost(model.usage(request)) for request in asked]
    most = [price.cost(at_most(request)) for request in asked]
    budget = float(rng.uniform(0.0, 1.0)) * math.fsum(costs)
    recorded = Recorded(model, path, price=price, budget=budget)

    def ask(request: Request) -> bool:
        try:
            return recorded.complete(request).text == "yes"
        except BudgetError:
            return False

    made = [n for n, answered in enumerate(ask_all(ask, asked, at_once=threads)) if answered]
    assert made == sorted(model.served)
    spent = pytest.approx(math.fsum(costs[n] for n in made))
    assert recorded.spent == spent
    assert recorded.totals.cost == spent
    assert model.highest <= budget + 1e-12
    if threads == 1:
        assert made == affordable(costs, most, budget)
    assert Recorded(model, path, price=price, budget=budget).spent == spent


@pytest.mark.slow
def test_no_money_is_lost_or_made_by_many_threads(path: Path) -> None:
    """Each of a hundred calls costs another amount; every fourth fails, and every tenth is lost."""

    def answer(request: Request) -> Reply:
        n = int(request.draw)
        return dead(n) if n % 4 == 0 else silent(n) if n % 10 == 1 else Reply("yes", usage=Usage(n, 0, 0))

    recorded = Recorded(Fake(answer), path, price=Price(1e6, 1e6), budget=1e9)

    def ask(n: int) -> None:
        with suppress(ModelError):
            recorded.complete(Request("abc", max_tokens=999, draw=str(n)))

    list(ask_all(ask, range(1, 101), at_once=16))
    lost = [n for n in range(1, 101) if n % 4 and n % 10 == 1]
    paid = sum(n for n in range(1, 101) if n % 4 and n % 10 != 1)
    assert recorded.spent == paid + 1000 * len(lost)
    assert recorded.totals.cost == paid
    assert recorded.totals.failed == 25 + len(lost)
    again = Recorded(Fake(), path, price=Price(1e6, 1e6), budget=recorded.spent + 1000)
    assert sorted(int(call.place) for call in again.uncertain) == lost
    assert again.complete(Request("abc", max_tokens=999, draw="last")) == ANSWER
