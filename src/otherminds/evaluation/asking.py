"""Language models in experiments: which one, how it is asked, what that may cost, and where its answers are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field
from rich.console import Console

from otherminds.evaluation.store import FILE
from otherminds.files.database import Database
from otherminds.language.find import find_model
from otherminds.language.ledger import Recorded, Totals
from otherminds.language.model import LanguageModel
from otherminds.language.prices import CallEstimate, Price


@dataclass(frozen=True)
class Asking:
    """A model by name, the strategies to ask it by, whether it sees pictures, and a budget in dollars.

    With `replay`, a record of calls or the folder of a run, nothing is asked: all answers come from there.
    """

    model: str
    strategies: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shuffle: str = "none"
    episodes: Annotated[int, Field(ge=1)] = 1
    price: Price | None = None
    budget: float | None = None
    replay: Path | None = None
    at_once: Annotated[int, Field(ge=1, le=64)] = 1
    pictures: bool = False

    @property
    def ways(self) -> tuple[str, ...]:
        """The strategies, or else the usual one: probabilities of names where the model runs here, else answers."""
        return self.strategies or (("lm",) if self.model.startswith("embedded") else ("qa",))

    @property
    def threads(self) -> int:
        """How many episodes are played at once: one if the model runs here, where more gain nothing."""
        return 1 if self.model.startswith("embedded") else self.at_once

    def find(self) -> LanguageModel:
        """The model. Raises InputError or ModelError for what cannot be used."""
        return find_model(self.model)

    def recorded(self, model: LanguageModel, record: Path | Database) -> Recorded:
        """A model with its record: that of a run, given by its folder or open, unless another one is replayed."""
        where = record if self.replay is None else self.replay
        if isinstance(where, Path) and where.is_dir():
            where = where / FILE
        return Recorded(model, where, replay=self.replay is not None, price=self.price, budget=self.budget)


@contextmanager
def told_cost(
    model: Recorded, ahead: CallEstimate, price: Price | None, console: Console | None = None
) -> Iterator[None]:
    """Say before what a run will take, and after it, or when it breaks off, what it took."""
    console = console or Console(stderr=True)
    tell_ahead(model, ahead, price, console)
    try:
        yield
    finally:
        console.print(f"{model.name}: {spent(model.totals)}", markup=False, highlight=False)


def tell_ahead(model: Recorded, ahead: CallEstimate, price: Price | None, console: Console) -> None:
    """Say what a run will take."""
    likely = f"about {ahead.usage.prompt:,} tokens of prompts and at most {ahead.usage.written:,} of replies"
    cost = f", about ${price.cost(ahead.usage):,.2f}" if price else ""
    more = "more if replies have to be asked for again"
    told = f"{model.name}: {ahead.calls:,} calls, {likely}{cost}; {more}"
    console.print(told, markup=False, highlight=False, soft_wrap=True)


def spent(totals: Totals) -> str:
    """What was asked, in words."""
    used, unanswered = totals.recorded_usage, totals.uncertain
    told = [
        f"{totals.calls:,} calls made",
        f"{totals.recalled:,} answered from the record",
        *([f"{unanswered:,} of an earlier run without an answer, which may have to be paid for"] if unanswered else []),
        f"{used.prompt:,} tokens of prompts, of which {used.prompt - used.cached:,} had to be evaluated",
        f"{used.written:,} tokens written",
        *([f"${totals.cost:,.4f} spent"] if totals.cost is not None else []),
    ]
    return ", ".join(told)


def answered(model: Recorded) -> str:
    """What is on record, in words: the same, however often the run was interrupted."""
    found = model.answered
    dollars = f", ${found.dollars:,.4f}" if found.dollars else ""
    return f"{found.calls:,} calls, {found.prompt:,} tokens of prompts, {found.written:,} tokens written{dollars}"
