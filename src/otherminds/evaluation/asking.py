"""Language models in experiments: which model, how it is asked, its budget, and where its answers are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field
from rich.console import Console

from otherminds.evaluation.store import FILE
from otherminds.files.database import Database
from otherminds.language.find import find_model
from otherminds.language.ledger import Recorded
from otherminds.language.model import LanguageModel
from otherminds.language.prices import CallEstimate, Price


@dataclass(frozen=True)
class Asking:
    """A model by name, its prompting strategies, whether it sees pictures, and a budget in dollars and in calls.

    `max_tokens` limits every reply; without it the limit depends on the question.

    With `replay`, a record of calls or the folder of a run, no model is asked: all answers come from there.
    """

    model: str
    strategies: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shuffle: str = "none"
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    episodes: Annotated[int, Field(ge=1)] = 1
    price: Price | None = None
    budget: float | None = None
    most_calls: Annotated[int, Field(ge=0)] | None = None
    replay: Path | None = None
    at_once: Annotated[int, Field(ge=1, le=64)] = 1
    pictures: bool = False

    @property
    def ways(self) -> tuple[str, ...]:
        """The given strategies, or the default: `lm` (probabilities of names) for an embedded model, else `qa`."""
        return self.strategies or (("lm",) if self.model.startswith("embedded") else ("qa",))

    @property
    def length(self) -> str:
        """The limit on replies in words, as part of the name of a run; empty if there is none."""
        return "" if self.max_tokens is None else f"{self.max_tokens} tokens"

    @property
    def threads(self) -> int:
        """Episodes played at once: one for an embedded model, which does not gain from more."""
        return 1 if self.model.startswith("embedded") else self.at_once

    def limited(self, calls: int) -> Asking:
        """The same with `calls` as the limit, if neither dollars nor calls are limited and a server may want money.

        That is so without a price, a limit or a replay, for a model that is not in the process.
        """
        is_free = self.model.startswith("embedded") or self.replay is not None
        is_limited = self.price is not None or self.most_calls is not None
        return self if is_free or is_limited else replace(self, most_calls=calls)

    def find(self) -> LanguageModel:
        """The model. Raises InputError or ModelError if it cannot be used."""
        return find_model(self.model)

    def recorded(self, model: LanguageModel, record: Path | Database) -> Recorded:
        """The model with a record of its calls: `record` (a file, folder or open database), or the one to replay."""
        where = record if self.replay is None else self.replay
        if isinstance(where, Path) and where.is_dir():
            where = where / FILE
        return Recorded(
            model,
            where,
            replay=self.replay is not None,
            price=self.price,
            budget=self.budget,
            most_calls=self.most_calls,
        )


def tell_ahead(model: Recorded, ahead: CallEstimate, price: Price | None) -> None:
    """Print the estimated calls, tokens and cost of a run."""
    likely = f"about {ahead.usage.prompt:,} tokens of prompts and at most {ahead.usage.written:,} of replies"
    cost = f", about ${price.cost(ahead.usage):,.2f}" if price else ""
    more = "more if replies have to be asked for again"
    message = f"{model.name}: {ahead.calls:,} calls, {likely}{cost}; {more}"
    Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


def spent(model: Recorded) -> str:
    """Calls, the tokens and cost of those made now, and the parameters that the server refused, as a sentence."""
    totals = model.totals
    used, unanswered = totals.usage, totals.uncertain
    parts = [
        f"{totals.calls:,} calls made",
        f"{totals.recalled:,} answered from the record",
        *([f"{unanswered:,} of an earlier run without an answer, which may have to be paid for"] if unanswered else []),
        f"the calls made: {used.prompt:,} tokens of prompts",
        f"of which {used.prompt - used.cached:,} had to be evaluated",
        f"{used.written:,} tokens written",
        *([f"${totals.cost:,.4f} spent"] if totals.cost is not None else []),
        *(f"the server refuses `{name}`, which is left out" for name in model.left_out),
    ]
    return ", ".join(parts)


def answered(model: Recorded) -> str:
    """Recorded calls, tokens and cost, as a sentence that does not depend on interruptions."""
    totals = model.answered
    dollars = f", ${totals.dollars:,.4f}" if totals.dollars else ""
    tokens = f"{totals.prompt_tokens:,} tokens of prompts, {totals.reply_tokens:,} tokens written"
    return f"{totals.calls:,} calls, {tokens}{dollars}"
