"""What calls to a language model cost, at most and in the end."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
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
    if isinstance(request, Continuations):  # servers may have to be asked again for every token of every text
        told = sum(map(_tokens, request.texts))
        return Usage((1 + told) * (_tokens(request.prompt) + told), 0, 1 + told)
    turns = request.prompt if isinstance(request.prompt, tuple) else (Message("user", request.prompt),)
    images = sum(len(turn.images) for turn in turns)
    tokens = _tokens("".join(turn.text for turn in turns)) + TOKENS_PER_IMAGE * images
    return Usage(tokens, 0, request.max_tokens)


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def checked_budget(budget: float | None, price: Price | None) -> None:
    """Raise InputError for a budget without a price, or one that is no amount."""
    if budget is not None and price is None:
        hint = "give it in dollars for a million tokens of prompts and of replies, such as 2.50/10"
        raise InputError("a budget cannot be kept, as the price is unknown", hint=hint)
    if budget is not None and not 0.0 <= budget < math.inf:
        raise InputError(f"a budget of {budget} is none", hint="give dollars, such as 5")


def over_budget(budget: float, spent: float, most: float) -> BudgetError:
    """Why a call is not made that may cost so much: so much is spent already, or put aside for calls under way."""
    room = f"the budget of {_dollars(budget)} has no room for a call of up to {_dollars(most)}"
    told = f"{room}: {_dollars(spent)} spent so far, or put aside for calls under way"
    return BudgetError(told, hint="what is done is kept; give a larger budget to go on")


def _dollars(amount: float) -> str:
    return "$" + f"{amount:,.6f}".rstrip("0").rstrip(".")
