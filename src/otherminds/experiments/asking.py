"""Language models in experiments: which one, how it is asked, what that may cost, and where its answers are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from otherminds.experiments.functional_models import Estimate
from otherminds.language.find import find_model
from otherminds.language.ledger import Recorded, Totals
from otherminds.language.model import LanguageModel, ask_all
from otherminds.language.prices import Price

CALLS = "calls-{}.lm.jsonl"
LONGEST = 100

E = TypeVar("E")
R = TypeVar("R")


@dataclass(frozen=True)
class Asking:
    """A model by name, the strategies to ask it by, whether it sees pictures, and a budget in dollars.

    With `replay`, a record of calls or a folder with one for each model, nothing is asked: all answers come from there.
    """

    model: str
    strategies: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shuffle: str = "none"
    episodes: int = 1
    price: Price | None = None
    budget: float | None = None
    replay: Path | None = None
    at_once: int = 1
    pictures: bool = False

    @property
    def ways(self) -> tuple[str, ...]:
        """The strategies, or else the usual one: probabilities of names where the model runs here, else answers."""
        return self.strategies or (("lm",) if self.model.startswith("embedded") else ("qa",))

    def open(self, folder: Path) -> Recorded:
        """The model with its record, in the folder of the run or the given one.

        Raises InputError or ModelError for what cannot be used.
        """
        return self.recorded(find_model(self.model), folder)

    def recorded(self, model: LanguageModel, folder: Path) -> Recorded:
        """A model with its record."""
        path = self.replay or folder
        if path == folder or path.is_dir():
            path = path / CALLS.format(re.sub(r"[^\w.-]+", "-", model.name, flags=re.ASCII)[:LONGEST])
        return Recorded(model, path, replay=self.replay is not None, price=self.price, budget=self.budget)

    def answers(self, task: Callable[[E], R], plan: Sequence[E], model: Recorded | None = None) -> Iterator[R]:
        """The results of a plan in its order, several at once unless the model runs here, where that gains nothing.

        If one fails, or the run is broken off, no more calls are made to the model.
        """
        at_once = 1 if self.model.startswith("embedded") else self.at_once
        return ask_all(task, plan, at_once=at_once, stop=model.stop if model else lambda: None)


@contextmanager
def told_cost(model: Recorded, ahead: Estimate, price: Price | None, console: Console | None = None) -> Iterator[None]:
    """Say before what a run will take, and after it, or when it breaks off, what it took."""
    console = console or Console(stderr=True)
    likely = f"about {ahead.usage.prompt:,} tokens of prompts and at most {ahead.usage.written:,} of replies"
    cost = f", about ${price.cost(ahead.usage):,.2f}" if price else ""
    more = "more if replies have to be asked for again"
    console.print(f"{model.name}: {ahead.calls:,} calls, {likely}{cost}; {more}", markup=False, highlight=False)
    try:
        yield
    finally:
        console.print(f"{model.name}: {spent(model.totals)}", markup=False, highlight=False)


def spent(totals: Totals) -> str:
    """What was asked, in words."""
    used = totals.recorded_usage
    told = [
        f"{totals.calls:,} calls made",
        f"{totals.recalled:,} answered from the record",
        *([f"{totals.uncertain:,} of an earlier run without an answer on record"] if totals.uncertain else []),
        f"{used.prompt:,} tokens of prompts, of which {used.prompt - used.cached:,} had to be evaluated",
        f"{used.written:,} tokens written",
        *([f"${totals.cost:,.4f} spent"] if totals.cost is not None else []),
    ]
    return ", ".join(told)
