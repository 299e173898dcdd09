"""Threads that ask the same ask it once, and whoever asks, a budget is a limit."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Condition, Event, Lock, get_ident

import numpy as np
import pytest

from fake_models import ANSWER, Fake, dead, fails, silent
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, Usage, ask_all
from otherminds.language.prices import BudgetError, Price, at_most
from run_files import read, unsynced

STATES = "select state, count(*) from calls group by state order by state"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    """Nothing is waited for to reach the disk."""
    with unsynced():
        yield


# Threads


class Watched:
    """A model that answers nobody before so many threads have come to ask, as each wants to know its identity first."""

    name = "watched"

    def __init__(self, answer: Callable[[Request], Reply], askers: int) -> None:
        self.answer, self.askers, self.asked = answer, askers, 0
        self.came, self.lock, self.all_came = set[int](), Lock(), Event()

    @property
    def identity(self) -> str:
        with self.lock:
            self.came.add(get_ident())
            if len(self.came) == self.askers:
                self.all_came.set()
        return "watched:1"

    def complete(self, request: Request, /) -> Reply:
        self.asked += 1
        self.all_came.wait()
        return self.answer(request)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError


@pytest.mark.parametrize("threads", [2, 8, 32])
def test_threads_with_the_same_question_ask_it_once(path: Path, threads: int) -> None:
    model = Watched(lambda _: ANSWER, threads)
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    with ThreadPoolExecutor(threads) as pool:
        found = [future.result() for future in [pool.submit(recorded.complete, Request("a")) for _ in range(threads)]]
    assert found == [ANSWER] * threads
    assert model.asked == 1
    assert recorded.totals[:2] == (1, threads - 1)
    assert recorded.spent == pytest.approx(16 / 1e6)


def test_threads_that_wait_for_an_error_get_it_too(path: Path) -> None:
    model = Watched(dead, 8)
    recorded = Recorded(model, path)
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(recorded.complete, Request("a")) for _ in range(8)]:
            with fails(["the endpoint is dead"], ModelError):
                future.result()
    model.answer = lambda _: ANSWER
    assert recorded.complete(Request("a")) == ANSWER


def test_many_threads_are_recorded_as_what_they_were(path: Path) -> None:
    rng = np.random.default_rng(0)
    asked = [Request("é" * int(size), draw=str(int(n))) for size, n in rng.integers(1, (20_000, 40), (400, 2))]
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


def test_money_for_calls_under_way_is_put_aside(path: Path) -> None:
    """Of 16 that ask at once there is room for 4, and none is answered before all have asked or were refused."""
    came, here = list[bool](), Condition()

    def come(made: bool) -> bool:
        with here:
            came.append(made)
            here.notify_all()
        return made

    def answer(_: Request) -> Reply:
        come(True)
        with here:
            here.wait_for(lambda: len(came) >= 16)
        return Reply("yes", usage=Usage(1, 0, 1))

    recorded = Recorded(Fake(answer), path, price=Price(1e6, 1e6), budget=400.0)

    def ask(request: Request) -> None:
        try:
            recorded.complete(request)
        except BudgetError as error:
            assert "put aside for calls under way" in str(error)  # noqa: PT017
            come(False)

    list(ask_all(ask, [Request("abc", max_tokens=99, draw=str(n)) for n in range(16)], at_once=16))
    assert sum(came) == 4
    assert recorded.spent == 8.0
    assert recorded.complete(Request("abc", max_tokens=99, draw="later")).text == "yes"


class Till:
    """A model that uses up a part of the most it may use, or more than that, and knows what it is owed."""

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


@pytest.mark.parametrize("seed", range(100))
def test_what_is_spent_stays_within_the_budget(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    threads = 1 if seed % 4 == 0 else int(rng.integers(2, 33))
    price = Price(*map(float, rng.uniform(0.1, 20.0, 2)))
    sizes = map(int, rng.integers(1, 99, 40))
    asked = [Request("word " * size, max_tokens=size, draw=str(n)) for n, size in enumerate(sizes)]
    highest_part = 1.0 if seed % 2 == 0 else 1.5
    model = Till(price, [float(part) for part in rng.uniform(0.1, highest_part, 40)])
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
    if highest_part == 1.0:
        assert model.highest <= budget + 1e-12
    surplus = max(max(cost - bound for cost, bound in zip(costs, most, strict=True)), 0.0)
    assert recorded.spent <= budget + threads * surplus + 1e-12
    if threads == 1:
        assert made == affordable(costs, most, budget)
    assert Recorded(model, path, price=price, budget=budget).spent == spent


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
