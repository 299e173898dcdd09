"""Prices of models, price files, budgets, and estimates of how many tokens calls will take.

A price file is TOML: names of models, with dollars for a million tokens of prompts and of replies.

    [models]
    "my-model-2.5" = "2.50/10"
    "my-model-*" = "0.25/2"

The library has no prices of its own: they change, and an old one would mislead.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from pydantic import BaseModel, Field, StrictStr, ValidationError

from otherminds.errors import InputError, fault_place, faults
from otherminds.files.text import read_text
from otherminds.files.toml import read_toml
from otherminds.language import model as models
from otherminds.language.endpoint import LONGEST_NAME
from otherminds.language.scripted import text_of

MILLION = 1_000_000
# Upper estimates for budgets: English has about four bytes a token, and providers count at most some 1,500 tokens for
# an image of the size drawn here. Chosen to err on the expensive side.
BYTES_PER_TOKEN = 3
TOKENS_PER_IMAGE = 1_500
CHARACTERS_PER_TOKEN = 4.0  # mean of English text, for the estimates of plans; convention
LARGEST_FILE = 100_000  # bytes of a price file; chosen
SHOWN = 60  # characters of a wrong price or name that are shown
AMOUNT = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")
ANY = "*"
WRITTEN = '[models], and lines such as "my-model" = "2.50/10"'
QUOTED = "put names with dots in quotes"
EXAMPLE = "dollars for a million tokens of prompts and of replies, such as 2.50/10"
TOML_PLACE = re.compile(r" ?\(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)\Z")


class BudgetError(models.ModelError):
    """A call was not made because it may cost more than is left of the budget, or one was billed above its bound.

    `enough` is a larger budget in dollars, as an option takes it, with which there is room for more; empty if the
    present budget is not used up.
    """

    enough: str = ""


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens of prompts, cached or not, and for a million tokens of replies.

    Raises InputError if an amount is negative or not finite.
    """

    prompt: float
    reply: float

    def __post_init__(self) -> None:
        for amount in (self.prompt, self.reply):
            if not 0.0 <= amount < math.inf:
                raise InputError(f"a price of {amount} is none", hint="give dollars for a million tokens")

    @classmethod
    def parse(cls, text: str) -> Self:
        """A price such as 2.50/10: of prompts, and of replies. Raises InputError for any other text."""
        halves = [half.strip() for half in text.split("/")]
        if len(halves) != 2 or not all(map(AMOUNT.fullmatch, halves)):
            raise InputError(f"`{text[:SHOWN]}` is no price", hint=f"give {EXAMPLE}")
        prompt, reply = map(float, halves)
        return cls(prompt, reply)

    def cost(self, usage: models.Usage) -> float:
        """Dollars for these tokens."""
        return (usage.prompt * self.prompt + usage.written * self.reply) / MILLION


class _File(BaseModel, extra="forbid", strict=True):
    models: dict[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)], StrictStr]


def read_prices(path: Path) -> Mapping[str, Price]:
    """The prices in a file by model name; a name that ends in `*` stands for all names that begin so.

    Raises InputError for a file that cannot be read or says anything else.
    """
    text = read_text(path, limit=LARGEST_FILE)
    try:
        price_file = _File.model_validate(read_toml(text))
    except ValidationError as error:
        first = faults(error)[0]
        hint = QUOTED if first["type"] == "string_type" else WRITTEN
        raise InputError(f"`{fault_place(first)}`: {first['msg']}", path=path, hint=hint) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path, hint=WRITTEN) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = TOML_PLACE.search(message)
        line, column = (int(part) if part else None for part in place.groups()) if place else (None, None)
        fault = f"is not TOML: {TOML_PLACE.sub('', message)[:SHOWN]}"
        raise InputError(fault, path=path, line=line, column=column) from None
    except ValueError:
        raise InputError("a number in it has thousands of digits", path=path, hint=WRITTEN) from None
    prices = {}
    for name, price in price_file.models.items():
        if ANY in name[:-1]:
            raise InputError(f"`{name[:SHOWN]}`: a * stands for the end of a name, and nowhere else", path=path)
        try:
            prices[name] = Price.parse(price)
        except InputError as error:
            raise InputError(f"`{name[:SHOWN]}`: {error}", path=path) from None
    return prices


def price_of(model_name: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model: under its own name, else under the longest matching `NAME*`; None if there is neither."""
    if model_name in prices:
        return prices[model_name]
    begins = [name for name in prices if name.endswith(ANY) and model_name.startswith(name.removesuffix(ANY))]
    return prices[max(begins, key=len)] if begins else None


# Budgets


def at_most(request: models.Request | models.Continuations) -> models.Usage:
    """Upper estimate of the tokens of a call: of its prompt by its length, of its reply by `max_tokens`."""
    if isinstance(request, models.Continuations):  # a server may have to be asked again for every token of every text
        text_tokens = sum(map(_tokens, request.texts))
        return models.Usage((1 + text_tokens) * (_tokens(request.prompt) + text_tokens), 0, 1 + text_tokens)
    turns = request.prompt if isinstance(request.prompt, tuple) else (models.Message("user", request.prompt),)
    images = sum(len(turn.images) for turn in turns)
    tokens = _tokens("".join(turn.text for turn in turns)) + TOKENS_PER_IMAGE * images
    return models.Usage(tokens, 0, request.max_tokens)


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def bill_of(usage: models.Usage, price: Price) -> float | None:
    """Dollars billed for the tokens of an answer; None if their number is not told, or impossible."""
    if usage == models.NOTHING or not possible(usage):
        return None
    try:
        bill = price.cost(usage)
    except OverflowError:
        return None
    return bill if math.isfinite(bill) else None


def possible(usage: models.Usage) -> bool:
    """Whether these are numbers of tokens: neither negative nor infinite."""
    return all(0 <= count < math.inf for count in usage)


def check_budget(budget: float | None, price: Price | None) -> None:
    """Raise InputError for a budget without a price, or one that is negative or not finite."""
    if budget is not None and price is None:
        raise InputError("a budget cannot be kept, as the price is unknown", hint=f"give it with --price, in {EXAMPLE}")
    if budget is not None and not 0.0 <= budget < math.inf:
        raise InputError(f"a budget of {budget} is none", hint="give dollars, such as 5")


def over_budget(budget: float, spent: float, most: float) -> BudgetError:
    """The error for a call of up to `most` dollars if `spent` of the budget are spent or reserved for open calls."""
    room = f"the budget of {_dollars(budget)} has no room for a call of up to {_dollars(most)}"
    message = f"{room}: {_dollars(spent)} spent so far, or put aside for calls under way"
    return _with_larger(BudgetError(message, hint="what is done is kept"), max(budget, spent + most))


def over_bound(bill: float, bound: float, spent: float, budget: float) -> BudgetError:
    """The error after a bill above the bound of its call, if `spent` of the budget are spent now."""
    billed = f"the server billed {_dollars(bill)} for a call bounded by {_dollars(bound)}"
    now = f"{_dollars(spent)} of the budget of {_dollars(budget)} are spent, and no more calls are made"
    error = BudgetError(f"{billed}: {now}", hint="what is done is kept; a resumed run allows for such bills")
    return _with_larger(error, spent) if spent > budget else error


def _with_larger(error: BudgetError, needed: float) -> BudgetError:
    """The error, with twice the dollars needed, to two digits, as the budget that is enough."""
    error.enough = str(float(f"{2 * needed:.2g}")).removesuffix(".0")
    return error


def _dollars(amount: float) -> str:
    return "$" + f"{amount:,.6f}".rstrip("0").rstrip(".")


# Estimates of plans


class CallEstimate(NamedTuple):
    """Estimate of the calls that a plan will make, and of their tokens."""

    calls: int
    usage: models.Usage


@dataclass
class CountingModel:
    """A scripted model that counts what it is asked, to estimate a plan. Every reply counts with its full length."""

    inner: models.LanguageModel
    calls: int = 0
    usage: models.Usage = models.NOTHING
    name: str = "counting"
    identity: str = "counting"

    def complete(self, request: models.Request) -> models.Reply:
        """The reply of the scripted model."""
        self._count(text_of(request), request.max_tokens)
        return self.inner.complete(request)

    def score(self, request: models.Continuations) -> models.Scores:
        """The scores of the scripted model."""
        self._count(request.prompt, len(request.texts))
        return self.inner.score(request)

    def _count(self, text: str, reply_tokens: int) -> None:
        self.calls += 1
        self.usage += models.Usage(math.ceil(len(text) / CHARACTERS_PER_TOKEN), 0, reply_tokens)
