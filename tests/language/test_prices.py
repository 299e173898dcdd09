"""What calls may cost: prices are read, and the most that a call may use is foreseen."""

from __future__ import annotations

import math

import pytest

from fake_models import fails
from otherminds.language.model import Continuations, Message, Request, Usage
from otherminds.language.prices import Price, at_most


@pytest.mark.parametrize(
    ("text", "prompt", "written"),
    [("2.50/10", 2.5, 10.0), ("0/0", 0.0, 0.0), (" 1. / .5 ", 1.0, 0.5), ("0.075/0.30", 0.075, 0.3)],
)
def test_prices_are_read(text: str, prompt: float, written: float) -> None:
    assert Price.parse(text) == Price(prompt, written)


@pytest.mark.parametrize(
    "text",
    ["", "/", "1", "1/", "/1", "1/2/3", "-1/2", "1/-2", "nan/1", "1/inf", "a/b", "1e3/1", "1_0/1", "$1/2", "²/1"],
)
def test_what_is_no_price_is_refused(text: str) -> None:
    with fails([f"`{text.replace('$', chr(92) + '$')}`", "such as 2.50/10"]):
        Price.parse(text)


def test_prices_are_amounts() -> None:
    for wrong in (-1.0, math.nan, math.inf):
        with fails(["price"]):
            Price(wrong, 1.0)
        with fails(["price"]):
            Price(1.0, wrong)
    with fails(["price"]):
        Price.parse(f"1/{'9' * 400}")


def test_tokens_of_prompts_cost_the_same_whether_known_or_not() -> None:
    price = Price(2.5, 10.0)
    assert price.cost(Usage(1_000_000, 0, 100_000)) == price.cost(Usage(1_000_000, 900_000, 100_000)) == 3.5


def test_the_most_that_a_call_may_use_is_foreseen() -> None:
    assert at_most(Request("abcd", max_tokens=7)) == Usage(2, 0, 7)
    assert at_most(Request("éé", max_tokens=7)) == Usage(2, 0, 7)
    assert at_most(Request("", max_tokens=1)) == Usage(0, 0, 1)
    turns = (Message("system", "abcd"), Message("user", "ab", (b"1", b"2")))
    assert at_most(Request(turns, max_tokens=7)) == Usage(2 + 3000, 0, 7)
    # asked for once to count the tokens of the prompt, and once more for every token of the texts
    assert at_most(Continuations("abcdefg", ("a", "b"))) == Usage(3 * (3 + 2), 0, 3)
    assert at_most(Continuations("", ())) == Usage(0, 0, 1)
