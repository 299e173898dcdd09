"""What calls to a language model cost, and a budget that holds for many of them at once."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from threading import Lock
from typing import Self

from otherminds.errors import InputError
from otherminds.language.model import Continuations, Message, ModelError, Request, Usage

MILLION = 1_000_000
BYTES_PER_TOKEN = 3
TOKENS_PER_IMAGE = 1_500
SHOWN = 60
AMOUNT = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class BudgetError(ModelError):
    """A call that may cost more than what is left of the budget was not made."""


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens of prompts, known from the last prompt or not, and for a million tokens written."""

    prompt: float
    written: float

    def __post_init__(self) -> None:
        """Raises InputError if an amount is negative or not finite."""
        for amount in (self.prompt, self.written):
            if not 0.0 <= amount < math.inf:
                raise InputError(f"a price of {amount} is none", hint="give dollars for a million tokens")

    @classmethod
    def parse(cls, text: str) -> Self:
        """A price such as 2.50/10: of prompts, and of what is written. Raises InputError for any other text."""
        halves = [half.strip() for half in text.split("/")]
        if len(halves) != 2 or not all(map(AMOUNT.fullmatch, halves)):
            hint = "give dollars for a million tokens of prompts and of replies, such as 2.50/10"
            raise InputError(f"`{text[:SHOWN]}` is no price", hint=hint)
        prompt, written = map(float, halves)
        return cls(prompt, written)

    def cost(self, usage: Usage) -> float:
        """Dollars for so many tokens."""
        return (usage.prompt * self.prompt + usage.written * self.written) / MILLION


def at_most(request: Request | Continuations) -> Usage:
    """The most tokens that a call is expected to use: an estimate for the prompt, a limit for what is written."""
    if isinstance(request, Continuations):
        return Usage(_tokens(request.prompt), 0, len(request.texts))
    turns = request.prompt if isinstance(request.prompt, tuple) else (Message("user", request.prompt),)
    images = sum(len(turn.images) for turn in turns)
    tokens = _tokens("".join(turn.text for turn in turns)) + TOKENS_PER_IMAGE * images
    return Usage(tokens, 0, request.max_tokens)


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


class Spending:
    """What was spent so far, and what calls under way may cost. Safe to be used from several threads."""

    def __init__(self, price: Price | None, budget: float | None, spent: float = 0.0) -> None:
        """Without a price, all costs nothing. Raises InputError for a budget without one, or one that is no amount."""
        if budget is not None and price is None:
            hint = "give it in dollars for a million tokens of prompts and of replies, such as 2.50/10"
            raise InputError("a budget cannot be kept, as the price is unknown", hint=hint)
        if budget is not None and not 0.0 <= budget < math.inf:
            raise InputError(f"a budget of {budget} is none", hint="give dollars, such as 5")
        self.spent = spent
        self._price = price or Price(0.0, 0.0)
        self._budget = math.inf if budget is None else budget
        self._reserved = 0.0
        self._lock = Lock()

    def reserve(self, request: Request | Continuations) -> float:
        """Put aside the most that a call may cost. Raises BudgetError if that is more than what is left."""
        most = self._price.cost(at_most(request))
        with self._lock:
            if self.spent + self._reserved + most > self._budget:
                raise BudgetError(self._refusal(most), hint="what is done is kept; give a larger budget to go on")
            self._reserved += most
        return most

    def settle(self, reserved: float, usage: Usage | None) -> float:
        """What a call cost, in place of what was put aside for it; None: it gave no answer, and counts as free.

        A model that answers without telling how many tokens it used is taken to have used the most it could.
        """
        cost = 0.0
        if usage is not None:
            cost = reserved if usage == Usage() else self._price.cost(usage)
        with self._lock:
            self._reserved -= reserved
            self.spent += cost
        return cost

    def _refusal(self, most: float) -> str:
        under_way = f", {_dollars(self._reserved)} put aside for calls under way" if self._reserved > 0.0 else ""
        spent = f"{_dollars(self.spent)} spent so far{under_way}"
        return f"the budget of {_dollars(self._budget)} has no room for a call of up to {_dollars(most)}: {spent}"


def _dollars(amount: float) -> str:
    return "$" + f"{amount:,.6f}".rstrip("0").rstrip(".")
