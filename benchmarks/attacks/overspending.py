"""Randomised runs of calls at servers that bill more or less than was estimated, some of them killed and resumed.

    python -m benchmarks.attacks.overspending --runs 200

Exits with an error unless every budget is exceeded by one bill at the most, and the run says why it stopped.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from otherminds.files.database import Database
from otherminds.language.budget import WORST
from otherminds.language.call_records import SCHEMA
from otherminds.language.ledger import Recorded
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores, UncertainError, Usage
from otherminds.language.prices import BudgetError, Price, at_most
from run_files import unsynced

STAGES = 60
DOLLAR = Price(1e6, 1e6)
"""A dollar a token."""
EXACT = 1e-6

Ratio = Callable[[int], float]


class Killed(BaseException):
    """The end of a program, at once."""


def ratios(rng: np.random.Generator) -> Ratio:
    """What the nth call bills, as a multiple of its estimate: 0.1 to WORST, constant, random, rising or sudden."""
    low, high = sorted(float(10 ** rng.uniform(-1, math.log10(WORST))) for _ in range(2))
    change, seed = int(rng.integers(1, 60)), int(rng.integers(2**32))

    def drawn(n: int) -> float:
        return float(10 ** np.random.default_rng([seed, n]).uniform(-1, math.log10(WORST)))

    kinds: list[Ratio] = [
        lambda _: high,
        drawn,
        lambda n: min(WORST, low * 1.1**n),
        lambda n: low if n < change else WORST,
        lambda n: min(1.0, low) if n < change else high,
    ]
    return kinds[rng.integers(len(kinds))]


@dataclass
class Server:
    """A model that bills what it likes. Some calls fail; at call `kill_at` the program ends, and some answers are lost.

    If `kill_at` is 0, none is.
    """

    ratio: Ratio
    path: Path
    rng: np.random.Generator
    kill_at: int
    slowest: float
    bills: list[float] = field(default_factory=list)
    charged: float = 0.0
    deaths: int = 0
    most_at_once: int = 0
    here: int = 0
    alive: bool = True
    lock: Lock = field(default_factory=Lock)
    name: str = "server"
    identity: str = "server"

    def complete(self, request: Request, /) -> Reply:
        with self.lock:
            if not self.alive:
                raise Killed
            self.here += 1
            self.most_at_once = max(self.most_at_once, self.here)
            tokens = self._tokens(request)
            fate, pause = self.rng.random(), float(self.rng.random()) * self.slowest
        time.sleep(pause)
        with self.lock:
            self.here -= 1
            if fate < 0.02:
                raise ModelError("refused")
            self.bills.append(float(tokens))
            self.charged += tokens
            if fate < 0.04 and self.kill_at:
                raise UncertainError("lost")
            if len(self.bills) == self.kill_at:
                self._kill()
        return Reply("yes", usage=Usage(tokens))

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError

    def _tokens(self, request: Request) -> int:
        most = at_most(request)
        return max(1, int((most.prompt + most.written) * self.ratio(len(self.bills) + self.here - 1)))

    def _kill(self) -> None:
        """What is on disk now is all there is from now on."""
        self.alive, self.deaths = False, self.deaths + 1
        left = self.path.with_name(f"calls-{self.deaths}.db")
        with closing(sqlite3.connect(self.path)) as old, closing(sqlite3.connect(left)) as new:
            old.backup(new)
        self.path = left
        raise Killed


def stage(server: Server, asked: Sequence[Request], at_once: int, budget: float) -> tuple[int, list[str], float]:
    """A run, until all is answered, it is killed or stops: the number of answers, what it says, and what it spent."""
    server.alive = True
    said, answers = list[str](), count()
    path = server.path
    with Database(path, SCHEMA) as base:
        record = Recorded(server, base, price=DOLLAR, budget=budget)

        def ask(request: Request) -> None:
            if said:
                return
            try:
                record.complete(request)
                next(answers)
            except BudgetError as error:
                said.append(str(error))
            except (ModelError, Killed):
                return

        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(ask, asked))
    with Database(server.path, SCHEMA) as base:
        return next(answers), said, Recorded(server, base, price=DOLLAR, budget=budget).spent


def run(seed: int, folder: Path) -> Server:
    rng = np.random.default_rng([24, seed])
    folder.mkdir()
    sizes = rng.integers(1, int(rng.choice([2, 20, 400])), int(rng.integers(10, 120)))
    asked = [Request("word", max_tokens=int(size), draw=str(n)) for n, size in enumerate(sizes)]
    whole = math.fsum(DOLLAR.cost(at_most(request)) for request in asked)
    budget = whole * float(10 ** rng.uniform(-1.5, 3.0))
    at_once = round(float(2 ** rng.uniform(0, 6))) if seed % 8 > 1 else 64
    slowest = float(rng.choice([2e-4, 5e-3, 3e-2]))  # seconds
    kill_at = int(rng.integers(1, 80)) if seed % 2 else 0
    server = Server(ratios(rng), folder / "calls.db", rng, kill_at, slowest)
    before = 0.0
    for _ in range(STAGES):
        dead = server.deaths
        answers, said, spent = stage(server, asked, at_once, budget)
        largest = max(server.bills, default=0.0)
        assert spent <= budget + largest + EXACT
        # if some are lost, there are bills that nobody was told of
        assert kill_at or math.isclose(server.charged, spent, rel_tol=EXACT)
        told = [line for line in said if " billed $" in line or "has no room" in line]
        assert told == said
        assert "\n" not in "".join(said)
        if spent > max(budget, before) and server.deaths == dead:
            assert said
        before = spent
        if answers == len(asked) or any("has no room" in line or "larger budget" in line for line in said):
            return server
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
    print(f"{number} runs: {calls:,} bills, {deaths} ends of a program, at most {most} calls at once")


if __name__ == "__main__":
    main()
