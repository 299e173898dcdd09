"""What calls may cost: prices are read, and the most that a call may use is foreseen."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fake_models import fails
from otherminds.errors import InputError
from otherminds.language.model import Continuations, Message, Request, Usage
from otherminds.language.prices import Price, at_most, price_of, read_prices


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


LISTED = """
[models]
"big-2.5" = "2.50/10"
"big-*" = "1/2"
"big-2*" = " 3 / .5 "
small = "0/0"
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "prices.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def complaint(folder: Path, text: str | bytes) -> str:
    """The one line that a file is refused with, without its folder."""
    with pytest.raises(InputError) as caught:
        read_prices(written(folder, text))
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 500
    return line.removeprefix(f"{folder}/")


class TestFiles:
    def test_prices_are_read_as_written(self, tmp_path: Path) -> None:
        assert read_prices(written(tmp_path, LISTED)) == {
            "big-2.5": Price(2.5, 10.0),
            "big-*": Price(1.0, 2.0),
            "big-2*": Price(3.0, 0.5),
            "small": Price(0.0, 0.0),
        }

    def test_there_may_be_none(self, tmp_path: Path) -> None:
        assert read_prices(written(tmp_path, "[models]")) == {}

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "prices.toml: `models`: Field required ([models], and lines such as"),
            ('[models]\n"a" = 1/2\n', "prices.toml:2:8: is not TOML: "),
            ('[models]\n"a" = "1/2"\n"a" = "2/2"\n', "prices.toml:3:12: is not TOML: Cannot overwrite"),
            ('[models]\n"a', "prices.toml: is not TOML: "),
            ("x = " + "[" * 50_000, "prices.toml: is nested too deeply"),
            ('[models]\na = "1/2"\n[more]\n', "prices.toml: `more`: Extra inputs are not permitted"),
            ("[models]\na = 1.5", "prices.toml: `models.a`: Input should be a valid string"),
            (
                '[models]\nbig-2.5 = "1/2"',
                "prices.toml: `models.big-2`: Input should be a valid string (put names",
            ),
            ('[models]\n"" = "1/2"', "at least 1 character"),
            (f'[models]\n{"x" * 201} = "1/2"', "at most 200 characters"),
            ('models = ["1/2"]', "prices.toml: `models`: Input should be a valid dictionary"),
            ('[models]\na = "1"', "prices.toml: `a`: `1` is no price (give dollars"),
            ('[models]\na = "-1/2"', "is no price"),
            ('[models]\na = "nan/2"', "is no price"),
            (f'[models]\na = "{"9" * 400}/2"', "a price of inf is none"),
            ('[models]\n"a*b" = "1/2"', "prices.toml: `a*b`: a * stands for the end of a name, and nowhere else"),
            ('[models]\n"a**" = "1/2"', "and nowhere else"),
            ('[models]\n"\\u001b[31m" = ""', "prices.toml: `\\x1b[31m`: `` is no price"),
            (b"[models]\n\xff", "prices.toml:2: is not UTF-8 text"),
            (b" " * 100_001, "prices.toml: is larger than 100,000 bytes"),
        ],
    )
    def test_anything_else_is_refused_in_one_line(self, tmp_path: Path, text: str | bytes, words: str) -> None:
        assert words in complaint(tmp_path, text)

    def test_a_file_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file"):
            read_prices(tmp_path / "none.toml")

    @pytest.mark.slow
    def test_whatever_a_file_is_turned_into_it_is_read_or_refused(self, tmp_path: Path) -> None:
        rng, refused = np.random.default_rng(3), 0
        for _ in range(300):
            raw = bytearray(LISTED.encode())
            for place in rng.integers(len(raw), size=2):
                raw[place : place + int(rng.integers(2))] = rng.bytes(int(rng.integers(3)))
            try:
                read_prices(written(tmp_path, bytes(raw)))
            except InputError:
                refused += 1
        assert 150 < refused < 300


class TestNames:
    @pytest.mark.parametrize(
        ("name", "price"),
        [
            ("big-2.5", Price(2.5, 10.0)),
            ("big-2.5-mini", Price(3.0, 0.5)),
            ("big-2", Price(3.0, 0.5)),
            ("big-1", Price(1.0, 2.0)),
            ("big-", Price(1.0, 2.0)),
            ("big", None),
            ("BIG-2.5", None),
            ("org/big-2.5", None),
            ("small", Price(0.0, 0.0)),
            ("smaller", None),
            ("big-*", Price(1.0, 2.0)),
        ],
    )
    def test_the_whole_name_or_else_the_longest_beginning(self, tmp_path: Path, name: str, price: Price | None) -> None:
        listed = read_prices(written(tmp_path, LISTED))
        assert price_of(name, listed) == price
        assert price_of(name, dict(reversed(list(listed.items())))) == price

    def test_a_star_alone_is_any_name(self) -> None:
        assert price_of("x", {"*": Price(1.0, 1.0)}) == Price(1.0, 1.0)
