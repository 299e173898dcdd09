"""Runs of many calls, with a budget, at a provider that fails, loses answers, and sees programs being killed."""

from __future__ import annotations

import math
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np
import pytest

from otherminds.files import database as durable
from otherminds.files.database import Database, connect
from otherminds.language.call_records import SCHEMA
from otherminds.language.ledger import Recorded
from otherminds.language.model import (
    NOTHING,
    Continuations,
    Message,
    ModelError,
    Reply,
    Request,
    Scores,
    UncertainError,
    Usage,
)
from otherminds.language.prices import BudgetError, Price, at_most

RUNS = 36
CROWDS = (1, 2, 4, 8, 16, 32)
STAGES = 200
EXACT = 1e-9

Question = Request | Continuations
Fate = Literal["answered", "untold", "refused", "lost", "broken off", "killed"]
FATES: dict[Fate, float] = {
    "answered": 0.64,
    "untold": 0.1,
    "refused": 0.1,
    "lost": 0.08,
    "broken off": 0.04,
    "killed": 0.04,
}


class Killed(BaseException):
    """What stands for the end of a program, at once."""


class Attempt(NamedTuple):
    """What a provider charged for a call, what the record has to count if it is answered, and if it is not."""

    fate: Fate
    charged: float
    told: float
    most: float


@dataclass
class Provider:
    """A model that costs something, in the eyes of whoever is to be paid."""

    seed: int
    price: Price
    path: Path
    cap: float = 0.0
    charged: float = 0.0
    over: float = 0.0
    deaths: int = 0
    alive: bool = True
    log: dict[Question, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    delivered: dict[Question, str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    name: str = "shop"
    identity: str = "shop"

    def complete(self, request: Request) -> Reply:
        """A text, and how many tokens that took."""
        text, usage = self._serve(request)
        return Reply(text, usage=usage)

    def score(self, request: Continuations) -> Scores:
        """Some log-probabilities, and how many tokens they took."""
        text, usage = self._serve(request)
        return Scores((-float(text),) * len(request.texts), (1,) * len(request.texts), usage=usage)

    def deliver(self, question: Question, text: str) -> None:
        """Somebody has an answer in hand, unless the program has ended before."""
        with self.lock:
            if self.alive:
                assert self.delivered.setdefault(question, text) == text

    def _serve(self, question: Question) -> tuple[str, Usage]:
        with self.lock:
            if not self.alive:
                raise Killed
            assert question not in self.delivered, "nobody pays twice for what is in hand"
            number = len(self.log[question])
            rng = np.random.default_rng([self.seed, number_of(question), number])
            fate, usage = self._fate(rng, number), self._usage(rng, question)
            self._charge(question, fate, usage)
            if fate == "killed":
                self._kill()
        time.sleep(float(rng.random()) * 5e-4)
        if fate == "refused":
            raise ModelError("no")
        if fate == "lost":
            raise UncertainError("it broke off")
        if fate == "broken off":
            raise KeyboardInterrupt
        return str(number), NOTHING if fate == "untold" else usage

    def _fate(self, rng: np.random.Generator, number: int) -> Fate:
        return rng.choice(np.array(list(FATES)), p=list(FATES.values())).item() if number < 4 else "answered"

    def _usage(self, rng: np.random.Generator, question: Question) -> Usage:
        most = at_most(question)
        if rng.random() < 0.5:
            return most
        return Usage(int(rng.integers(most.prompt, endpoint=True)), 0, int(rng.integers(most.written, endpoint=True)))

    def _charge(self, question: Question, fate: Fate, usage: Usage) -> None:
        most = self.price.cost(at_most(question))
        cost = 0.0 if fate == "refused" else self.price.cost(usage)
        told = most if fate == "untold" or usage == NOTHING else cost
        self.log[question].append(Attempt(fate, cost, told, most))
        self.charged += cost
        self.over = max(self.over, self.charged - self.cap)

    def _kill(self) -> None:
        """What is on disk now is all that there is from now on; what is under way goes on, for nobody."""
        self.alive, self.deaths = False, self.deaths + 1
        left = self.path.with_name(f"calls-{self.deaths}.db")
        with closing(sqlite3.connect(self.path)) as old, closing(sqlite3.connect(left)) as new:
            old.backup(new)
        self.path = left
        raise Killed

    def answers(self) -> float:
        """What the answers in hand cost."""
        return math.fsum(self.log[question][-1].told for question in self.delivered)

    def lost(self) -> list[Attempt]:
        """All that is in nobody's hand, and was not refused."""
        ends = [(question in self.delivered, met) for question, met in self.log.items()]
        rest = [attempt for in_hand, met in ends for attempt in (met[:-1] if in_hand else met)]
        return [attempt for attempt in rest if attempt.fate != "refused"]


def number_of(question: Question) -> int:
    """Which question it is: they are numbered at their beginning."""
    prompt = question.prompt if isinstance(question.prompt, str) else question.prompt[0].text
    return int(prompt.split()[0])


def questions(rng: np.random.Generator) -> list[Question]:
    """Short and long ones, of all kinds; some are asked twice."""
    found = list[Question]()
    for number in range(int(rng.integers(4, 16))):
        text = f"{number} " + "wörd" * int(rng.integers(1, 300))
        if rng.random() < 0.2:
            found.append(Continuations(text, ("a",) * int(rng.integers(1, 5))))
        else:
            prompt = text if rng.random() < 0.5 else (Message("user", text), Message("assistant", "so"))
            found.append(Request(prompt, max_tokens=int(rng.integers(1, 500))))
    return found + found[:2]


def stage(provider: Provider, asked: Sequence[Question], at_once: int) -> list[Question]:
    """Ask all that, until the budget says no or the program ends; what the budget did not allow."""
    provider.alive, refused = True, list[Question]()
    with Database(provider.path, SCHEMA) as base:
        record = Recorded(provider, base, price=provider.price, budget=provider.cap)

        def ask(question: Question) -> None:
            before = record.spent
            try:
                provider.deliver(question, text_of(record, question))
            except BudgetError:
                refused.append(question)
                record.stop()
                # alone, it is sure what was spent
                assert at_once > 1 or before + provider.price.cost(at_most(question)) > provider.cap
            except (ModelError, KeyboardInterrupt, Killed):
                return

        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(ask, asked))
        if provider.alive:
            audit(provider, base, at_once)
    return refused


def audit(provider: Provider, base: Database, at_once: int) -> None:
    """What is on record is what the provider says; and calls on their way to it when a program ended count, too."""
    record = Recorded(provider, base)
    kept = Counter(call.most for call in record.uncertain)
    lost = Counter(attempt.most for attempt in provider.lost())
    assert lost <= kept
    assert (kept - lost).total() <= provider.deaths * (at_once - 1)
    assert record.spent == pytest.approx(provider.answers() + math.fsum(kept.elements()), rel=0, abs=EXACT)
    assert provider.charged <= record.spent + EXACT
    assert record.spent <= provider.cap + EXACT


def text_of(record: Recorded, question: Question) -> str:
    if isinstance(question, Request):
        return record.complete(question).text
    return f"{-record.score(question).log_probs[0]:.0f}"


def run(seed: int, folder: Path) -> Provider:
    """A run until all is answered: with the same budget after what failed, with a larger one when it is used up."""
    rng = np.random.default_rng([99, seed])
    folder.mkdir()
    price = Price(*(float(rng.choice([0.0, 0.25, 3.0, 60.0])) for _ in range(2)))
    provider = Provider(seed, price, folder / "calls.db")
    asked, at_once = questions(rng), CROWDS[seed % len(CROWDS)]
    whole = math.fsum(price.cost(at_most(question)) for question in asked)
    provider.cap = float(rng.choice([0.0, 0.1, 0.5, 1.5])) * whole
    for _ in range(STAGES):
        refused = stage(provider, asked, at_once)
        assert provider.over <= EXACT
        if set(provider.delivered) == set(asked):
            break
        if refused and rng.random() < 0.8:
            provider.cap += float(rng.random()) * whole
            provider.over = 0.0
    assert set(provider.delivered) == set(asked)
    _replay(provider)
    return provider


def _replay(provider: Provider) -> None:
    """All answers are there, without asking."""
    calls = sum(map(len, provider.log.values()))
    record = Recorded(provider, provider.path, replay=True)
    assert {question: text_of(record, question) for question in provider.delivered} == provider.delivered
    assert sum(map(len, provider.log.values())) == calls


def hastily(path: Path | str) -> sqlite3.Connection:
    """A connection that does not wait for the disk, as no power fails here."""
    base = connect(path)
    base.execute("pragma synchronous = off")
    return base


@pytest.mark.slow
def test_no_budget_is_exceeded_and_no_answer_is_lost_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "connect", hastily)
    runs = [run(seed, tmp_path / str(seed)) for seed in range(RUNS)]
    fates = [attempt.fate for provider in runs for met in provider.log.values() for attempt in met]
    assert set(fates) == set(FATES)
    assert sum(provider.deaths for provider in runs) > RUNS / 4
