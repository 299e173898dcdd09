"""Randomised runs of calls at servers that bill more or less than was estimated, some of them killed and resumed.

    python -m benchmarks.attacks.overspending --runs 200

Servers tell what they bill in the ways of providers, with hidden reasoning inside the reply or beside it, or they tell
nothing, nonsense, or answer too late. Exits with an error unless what every server truly billed exceeds the budget by
one bill at the most, and the run says why it stopped.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from otherminds.files.database import Database
from otherminds.language import wire
from otherminds.language.budget import GROWTH, WORST
from otherminds.language.call_records import SCHEMA
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, UncertainError
from otherminds.language.prices import BudgetError, Price, at_most
from run_files import unsynced

STAGES = 60
PRICE = Price(1e6, 4e6)
"""A dollar a token of prompts, four dollars a token of replies."""
EXACT = 1e-6

Ratio = Callable[[int], float]


class Killed(BaseException):
    """The end of a program, at once."""


class Bill(NamedTuple):
    """The tokens that a call is billed for: of the prompt, of the text of the reply, and of hidden reasoning."""

    prompt: int
    text: int
    hidden: int

    @property
    def dollars(self) -> float:
        return self.prompt * PRICE.prompt / 1e6 + (self.text + self.hidden) * PRICE.reply / 1e6


def beside(bill: Bill) -> Mapping[str, Any]:
    """Reasoning in its own count, where it is not part of the reply's; within that if it could be a part of it."""
    details = {"completion_tokens_details": {"reasoning_tokens": bill.hidden}}
    reply = bill.text if bill.hidden > bill.text else bill.text + bill.hidden
    return {"prompt_tokens": bill.prompt, "completion_tokens": reply, **details}


TOLD: Mapping[str, Callable[[Bill], Mapping[str, Any]]] = {
    "within": lambda b: {"prompt_tokens": b.prompt, "completion_tokens": b.text + b.hidden},
    "total": lambda b: {"prompt_tokens": b.prompt, "completion_tokens": b.text, "total_tokens": sum(b)},
    "total alone": lambda b: {"prompt_tokens": b.prompt, "total_tokens": sum(b)},
    "beside": beside,
    "thoughts": lambda b: dict(
        zip(("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"), b, strict=True), totalTokenCount=sum(b)
    ),
    "caches": lambda b: {
        "input_tokens": b.prompt - b.prompt // 2,
        "cache_read_input_tokens": b.prompt // 2,
        "output_tokens": b.text + b.hidden,
    },
}
"""How a bill is told, by the name of the way."""
UNTOLD: Mapping[str, Any] = {
    "missing": None,
    "empty": {},
    "no reply": {"prompt_tokens": 3},
    "negative": {"prompt_tokens": 3, "completion_tokens": -1, "total_tokens": 2},
    "huge": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 10**30},
    "infinite": {"prompt_tokens": math.inf, "completion_tokens": 1},
    "words": {"prompt_tokens": "3", "completion_tokens": "one"},
}
"""Usages that tell no bill."""


def ratios(rng: np.random.Generator) -> Ratio:
    """What the nth call bills, as a multiple of its estimate: constant, random, rising or sudden.

    It is 0.1 to WORST, or GROWTH times any other bill of a server that reasons far more than that.
    """
    low, high = sorted(float(10 ** rng.uniform(-1, math.log10(WORST))) for _ in range(2))
    change, seed, thinking = int(rng.integers(1, 60)), int(rng.integers(2**32)), float(10 ** rng.uniform(0, 3))

    def drawn(n: int, least: float, most: float) -> float:
        return float(10 ** np.random.default_rng([seed, n]).uniform(math.log10(least), math.log10(most)))

    kinds: list[Ratio] = [
        lambda _: high,
        lambda n: drawn(n, 0.1, WORST),
        lambda n: min(WORST, low * 1.1**n),
        lambda n: low if n < change else WORST,
        lambda n: min(1.0, low) if n < change else high,
        lambda n: drawn(n, thinking, 0.9 * GROWTH * thinking),  # less for rounding to whole tokens
    ]
    return kinds[rng.integers(len(kinds))]


@dataclass
class Server:
    """A model that bills what it likes. Some calls fail or come too late; at call `kill_at` the program ends.

    If `kill_at` is 0, it never does. The share `untold` of answers tells no bill. Bills that nobody is told, for such
    answers and for those that are lost, are at most the estimate: no client could know of more.
    """

    ratio: Ratio
    path: Path
    rng: np.random.Generator
    budget: float
    kill_at: int
    slowest: float
    untold: float = 0.0
    bills: list[tuple[Request, float]] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)
    deaths: int = 0
    most_at_once: int = 0
    here: int = 0
    alive: bool = True
    lock: Lock = field(default_factory=Lock)
    name: str = "server"
    identity: str = "server"

    @property
    def charged(self) -> float:
        return math.fsum(dollars for _, dollars in self.bills)

    @property
    def over(self) -> float:
        """By how many of the largest bills the budget is exceeded."""
        return max(0.0, self.charged - self.budget - EXACT) / max((dollars for _, dollars in self.bills), default=1.0)

    def complete(self, request: Request, /) -> Reply:
        with self.lock:
            if not self.alive:
                raise Killed
            self.here += 1
            self.most_at_once = max(self.most_at_once, self.here)
            ratio = self.ratio(len(self.bills) + self.here - 1)
            fate, pause = self.rng.random(), float(self.rng.random()) * self.slowest
            way = str(self.rng.choice([*(UNTOLD if self.rng.random() < self.untold else TOLD)]))
        time.sleep(pause)
        with self.lock:
            self.here -= 1
            if fate < 0.02:
                raise ModelError("refused")
            late, killed = fate < 0.04, len(self.bills) + 1 == self.kill_at
            is_told = way in TOLD and self.alive and not late and not killed
            bill = self._bill(request, ratio if is_told else min(ratio, 1.0))
            self.bills.append((request, bill.dollars))
            self.ways["late" if late else way] += 1
            if killed:
                self._kill()
            if late:
                raise UncertainError("too late")
        usage = TOLD[way](bill) if way in TOLD else UNTOLD[way]
        payload = {"choices": [{"text": "yes", "finish_reason": "stop"}], "usage": usage}
        return wire.complete(lambda _path, _body: payload, request)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError

    def _bill(self, request: Request, ratio: float) -> Bill:
        """Whole tokens that cost at most this multiple of the estimate, except that one token is always billed."""
        most = at_most(request)
        dollars = PRICE.cost(most) * ratio
        prompt = max(1, min(most.prompt, int(dollars)))
        reply = max(0, int((dollars - prompt) / 4))
        text = min(reply, int(self.rng.integers(request.max_tokens + 1)))
        return Bill(prompt, text, reply - text)

    def _kill(self) -> None:
        """What is on disk now is all there is from now on. Bills that are not there were told to nobody."""
        self.alive, self.deaths = False, self.deaths + 1
        left = self.path.with_name(f"calls-{self.deaths}.db")
        with closing(sqlite3.connect(self.path)) as old, closing(sqlite3.connect(left)) as new:
            old.backup(new)
            lost = {draw for (draw,) in new.execute("select place from calls where state = 'sent'")}
        self.bills = [
            (request, min(dollars, PRICE.cost(at_most(request))) if request.draw in lost else dollars)
            for request, dollars in self.bills
        ]
        self.path = left
        raise Killed


class Stage(NamedTuple):
    """The number of answers, the errors that ended a run, and the dollars on record."""

    answers: int
    errors: Sequence[str]
    spent: float


def stage(server: Server, requests: Sequence[Request], at_once: int, budget: float) -> Stage:
    """A run, until all is answered, it is killed or stops."""
    server.alive = True
    errors, answers = list[str](), count()
    with Database(server.path, SCHEMA) as base:
        record = Recorded(server, base, price=PRICE, budget=budget)

        def ask(request: Request) -> None:
            if errors:
                return
            try:
                record.complete(request)
                next(answers)
            except BudgetError as error:
                errors.append(str(error))
            except (ModelError, Killed):
                return

        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(ask, requests))
    with Database(server.path, SCHEMA) as base:
        return Stage(next(answers), errors, Recorded(server, base, price=PRICE, budget=budget).spent)


def run(seed: int, folder: Path) -> Server:
    rng = np.random.default_rng([24, seed])
    folder.mkdir()
    sizes = rng.integers(1, int(rng.choice([2, 20, 400])), int(rng.integers(10, 120)))
    requests = [Request("word", max_tokens=int(size), draw=str(n)) for n, size in enumerate(sizes)]
    whole = math.fsum(PRICE.cost(at_most(request)) for request in requests)
    budget = whole * float(10 ** rng.uniform(-1.5, 3.0))
    at_once = round(float(2 ** rng.uniform(0, 6))) if seed % 8 > 1 else 64
    slowest = float(rng.choice([2e-4, 5e-3, 3e-2]))  # seconds
    kill_at = int(rng.integers(1, 80)) if seed % 2 else 0
    untold = float(rng.choice([0.0, 0.0, 0.2, 1.0]))
    server = Server(ratios(rng), folder / "calls.db", rng, budget, kill_at, slowest, untold)
    before = 0.0
    for _ in range(STAGES):
        deaths = server.deaths
        answers, errors, spent = stage(server, requests, at_once, server.budget)
        # nothing that was billed is missing on record, and the budget is exceeded by one bill at the most
        assert server.charged <= spent + EXACT
        assert server.over <= 1.0
        if not (server.deaths or server.ways["late"] or server.ways.keys() & UNTOLD):
            assert math.isclose(server.charged, spent, rel_tol=EXACT)
        assert all(" billed $" in line or "has no room" in line for line in errors)
        assert "\n" not in "".join(errors)
        assert errors or spent <= max(server.budget, before) or server.deaths > deaths
        if answers == len(requests) or any("has no room" in line or "larger budget" in line for line in errors):
            return server
        before = spent
    raise AssertionError("the run never ends")


def runs(number: int, folder: Path) -> list[Server]:
    """The servers of so many runs. Raises AssertionError if one of these exceeds its budget by more than one bill."""
    with unsynced():
        return [run(seed, folder / str(seed)) for seed in range(number)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    number = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        servers = runs(number, Path(name))
    calls, deaths = sum(len(server.bills) for server in servers), sum(server.deaths for server in servers)
    most = max(server.most_at_once for server in servers)
    ways = sum((server.ways for server in servers), Counter[str]())
    told, over = sum(ways[way] for way in TOLD), [server.over for server in servers if server.over]
    print(f"{number} runs: {calls:,} bills, {deaths} ends of a program, at most {most} calls at once")
    print(
        f"{told:,} bills told in {len(TOLD)} ways, {calls - told - ways['late']:,} not told, {ways['late']:,} too late"
    )
    print(f"{len(over)} budgets exceeded, by {max(over, default=0.0):.2f} of the largest bill at the most")


if __name__ == "__main__":
    main()
