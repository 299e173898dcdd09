"""Reading JSON that language models write: it is what was asked for, or a value that says why not."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator

from otherminds.language.asking import LONGEST_REPLY, SHOWN, Unreadable, read_json, unreadable


class Choice(BaseModel):
    """A kind of reply with all that a schema may ask for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    goals: dict[str, str]
    reason: str
    choice: int
    sure: float = 0.5
    next: list[int] = Field(default_factory=list)


class Anything(BaseModel):
    """A kind of reply that takes all there is."""

    model_config = ConfigDict(extra="allow")


class Echoing(BaseModel):
    """A kind of reply whose errors repeat what was written."""

    word: str

    @field_validator("word")
    @classmethod
    def refuse(cls, word: str) -> str:
        raise ValueError(word)


GOOD = {"goals": {"Ana": "gem 1"}, "reason": "she goes there", "choice": 2}
TEXT = json.dumps(GOOD)
VALUE = Choice(goals={"Ana": "gem 1"}, reason="she goes there", choice=2)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  {TEXT}\n",
        json.dumps(GOOD, indent=4),
        f"```\n{TEXT}\n```",
        f"```json\n{TEXT}\n```",
        f" \n```json  \r\n\n{TEXT}\r\n\n```\n\n",
        f"```\n{TEXT}```",
        TEXT.replace("e", "\\u0065"),
    ],
)
def test_the_json_alone_or_in_one_fence_is_read(text: str) -> None:
    assert read_json(text, Choice) == VALUE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON: Expecting value"),
        ("null", "the reply: Input should be a valid dictionary"),
        ("None", "is not JSON"),
        ("[]", "the reply: Input should be"),
        ('"text"', "the reply: Input should be"),
        (f"[{TEXT}]", "the reply: Input should be"),
        (f"Here it is:\n{TEXT}", "is not JSON"),
        (f"{TEXT}\nThis is my answer.", "is not JSON: Extra data"),
        (f"{TEXT}{TEXT}", "is not JSON: Extra data"),
        (f"Here it is:\n```json\n{TEXT}\n```", "is not JSON"),
        (f"```json\n{TEXT}\n```\nDone.", "is not JSON"),
        (f"```python\n{TEXT}\n```", "is not JSON"),
        (f"```json {TEXT}```", "is not JSON"),
        (f"```json\n{TEXT}", "is not JSON"),
        (f"{TEXT}\n```", "is not JSON"),
        (f"```\n```json\n{TEXT}\n```\n```", "is not JSON"),
        ("```", "is not JSON"),
        ("``````", "is not JSON"),
        ("```\n```", "is not JSON"),
        (f"\ufeff{TEXT}", "is not JSON"),
        (TEXT[:-1], "is not JSON"),
        (TEXT.replace('"', "'"), "is not JSON"),
        (TEXT.replace(": 2", ": 2,"), "is not JSON"),
        (TEXT.replace(": 2", ": NaN"), "is not JSON: NaN is no number"),
        (TEXT.replace(": 2", ": -Infinity"), "is not JSON: -Infinity is no number"),
        (TEXT.replace(": 2", ': 2, "sure": 1e999'), "is not JSON: 1e999 is no number"),
        (TEXT.replace(": 2", ': 2, "choice": 3'), "is not JSON: a key is there twice"),
        (TEXT.replace(": 2", ": " + "9" * 5000), "is not JSON: Exceeds the limit"),
        (TEXT.replace("she", "\\ud800"), "is not JSON"),
        (TEXT.replace("Ana", "\\udfff"), "is not JSON"),
        ('{"\\ud800": 1}', "is not JSON"),
        (TEXT.replace("she", "\x00"), "is not JSON: Invalid control character"),
        (TEXT.replace(": 2", ': "2"'), "choice: Input should be a valid integer"),
        (TEXT.replace(": 2", ": 2.0"), "choice: Input should be a valid integer"),
        (TEXT.replace(": 2", ": true"), "choice: Input should be a valid integer"),
        (TEXT.replace('"gem 1"', "1"), "goals.Ana: Input should be a valid string"),
        (TEXT.replace(": 2", ': 2, "next": [1, null]'), "next.1: Input should be a valid integer"),
        (TEXT.replace(": 2", ': 2, "note": "x"'), "note: Extra inputs are not permitted"),
        ('{"goals": {}, "reason": ""}', "choice: Field required"),
        ("[" * LONGEST_REPLY, "is nested too deeply"),
        ('{"goals":' * 11_000, "is nested too deeply"),
        (" " * LONGEST_REPLY + TEXT, "is longer than 100,000 characters"),
    ],
    ids=lambda text: text[:24],
)
def test_everything_else_says_why_it_is_not(text: str, why: str) -> None:
    found = read_json(text, Choice)
    assert isinstance(found, Unreadable)
    assert found.why.startswith(why)
    assert found.text == text[:SHOWN]


def test_what_is_said_about_a_reply_is_short_and_can_be_written() -> None:
    for text in ('{"' + "k" * 90_000 + '": 1}', TEXT.replace("Ana", "A" * 9000).replace('"gem 1"', "1"), "9" * 90_000):
        found = read_json(text, Choice)
        assert isinstance(found, Unreadable)
        assert len(found.why) < 3 * SHOWN
    refused = read_json(json.dumps({"word": "w" * 9000}), Echoing)
    assert isinstance(refused, Unreadable)
    assert len(refused.why) < 2 * SHOWN
    assert unreadable("x", "y" * 1000) == Unreadable("x", "y" * SHOWN)


whole = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
characters = st.characters(exclude_categories=["Cs"])


@pytest.mark.slow
@given(st.dictionaries(st.text(characters).filter(lambda key: key.isidentifier()), whole, max_size=4), st.booleans())
def test_every_object_is_read_as_it_was_written(value: dict[str, object], fenced: bool) -> None:
    text = json.dumps(value)
    found = read_json(f"```json\n{text}\n```" if fenced else text, Anything)
    assert isinstance(found, Anything)
    assert found.model_dump() == value


@pytest.mark.slow
@given(st.text() | st.text('`{}[]":,\\n jso0129.e+-u', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_json(text, Anything)
    if not isinstance(found, Unreadable):
        inner = text.strip()
        if inner.startswith("```"):
            inner = inner.partition("\n")[2].removesuffix("```")
        assert found.model_dump() == json.loads(inner)


# Fuzz

PIECES = (
    *'{}[]":,\\`',
    "\n",
    "```",
    "```json\n",
    "null",
    "NaN",
    "1e999",
    "9" * 5000,
    "[" * 2000,
    '{"a":' * 500,
    "\\ud83d",
    "\\ude00",
    "\u202e",
    "\u200b",
    "\u0301",
    "\x1b[31m",
    "\x00",
    "\ud800",
    "Sorry, I cannot do that.",
    "好的",
    TEXT,
)


def broken(rng: random.Random) -> str:
    """A reply that is right, with a few pieces of it lost, doubled, or replaced by others."""
    text = rng.choice([TEXT, TEXT, f"```json\n{TEXT}\n```", json.dumps({**GOOD, "next": [1, 2]}), "".join(PIECES[:9])])
    for _ in range(rng.randrange(4)):
        at, length = rng.randrange(len(text) + 1), rng.choice([0, 0, 1, 1, 3, 10])
        text = text[:at] + rng.choice(["", rng.choice(PIECES), text[at : at + length] * 2]) + text[at + length :]
    return text


@pytest.mark.slow
def test_broken_replies_are_values_of_the_kind_or_not_read() -> None:
    rng, read = random.Random(0), Counter[bool]()
    for _ in range(10_000):
        text = broken(rng)
        found = read_json(text, Choice)
        if isinstance(found, Choice):
            assert Choice.model_validate(found.model_dump()) == found
            assert found.model_dump_json().encode()
        else:
            assert found.why
            assert found.text == text[:SHOWN]
        read[isinstance(found, Choice)] += 1
    assert min(read.values()) > 1000


UNITS = ("\n", " ", "`", "```\n", "```", "[", '{"a":', "1", "0.", '"', "\\u0041", "\t\n ", "},{", "1,")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_long_replies_are_read_or_refused_at_once(unit: str) -> None:
    for length in (LONGEST_REPLY, 1_000_000):
        room = length - 30
        text = (unit * room)[:room]
        for whole_text in (
            text,
            f"```\n{text}x",
            f"```{text}x",
            f"```\n{text}\n```",
            f'{{"reason": "{text}"}}',
            f"[{text}]",
        ):
            started = time.process_time()
            read_json(whole_text, Choice)
            assert time.process_time() - started < 1.0  # it takes milliseconds, unless it is quadratic


@pytest.mark.slow
def test_many_errors_at_once_take_little_time_and_memory() -> None:
    wrong = {f"k{i}": 1 for i in range(8000)}
    texts = [json.dumps(wrong), json.dumps({**GOOD, "goals": wrong}), json.dumps({**GOOD, "next": ["x"] * 15_000})]
    assert max(map(len, texts)) <= LONGEST_REPLY
    for text in texts:
        tracemalloc.start()
        try:
            assert isinstance(read_json(text, Choice), Unreadable)
            assert tracemalloc.get_traced_memory()[1] < 50_000_000
        finally:
            tracemalloc.stop()
