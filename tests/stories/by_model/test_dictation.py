"""Data from a model in one form: attempts, their reasons, and bounds on calls and time."""

from __future__ import annotations

import json
import threading
import time

import pytest

from otherminds.language.asking import Unreadable
from otherminds.language.model import ModelError, Request
from otherminds.language.scripted import Scripted, scripted, text_of
from otherminds.stories.by_model.dictation import BoundedModel, Form, NonsenseError, SpentError, dictated

GOOD = '{"n": 3}'


class Number(Form):
    n: int


def positive(form: Number) -> int:
    if form.n < 0:
        raise NonsenseError("is negative")
    return form.n


def number(model: BoundedModel) -> int | Unreadable:
    return dictated(model, "Which number?", Number, positive, draw="number", max_tokens=9)


def test_a_reply_has_the_form_that_is_sent_with_the_question() -> None:
    requests: list[Request] = []

    def write(request: Request) -> str:
        requests.append(request)
        return GOOD if len(requests) > 1 else '{"n": -1}'

    assert number(BoundedModel(Scripted("m", write), 9.0, 2)) == 3
    schema = json.loads(requests[0].schema)
    assert schema["required"] == ["n"]
    assert schema["additionalProperties"] is False
    assert "title" not in requests[0].schema
    assert "could not be read: it is negative" in text_of(requests[1])
    first, second = requests
    assert (first.temperature, first.seed, first.draw) != (second.temperature, second.seed, second.draw)


@pytest.mark.parametrize("reply", ["?", "{}", '{"n": 1, "m": 1}', '{"n": "1"}', '{"n": -1}', "[" * 9_000, ""])
def test_what_cannot_be_read_is_asked_for_twice(reply: str) -> None:
    outcome = number(BoundedModel(scripted("m", [reply] * 2), 9.0, 9))
    assert isinstance(outcome, Unreadable)
    assert outcome.why.startswith("none of 2 replies could be read: ")
    assert "\n" not in outcome.why
    assert number(BoundedModel(scripted("m", [reply, GOOD]), 9.0, 9)) == 3


def test_no_more_calls_are_made_than_allowed() -> None:
    model = BoundedModel(scripted("m", [GOOD] * 9), 9.0, 2)
    assert [number(model), number(model)] == [3, 3]
    assert number(model) == Unreadable("m has no calls left")
    assert number(BoundedModel(scripted("m", ["?", GOOD]), 9.0, 1)) == Unreadable(
        "is not JSON: Expecting value: line 1 column 1 (char 0); m has no calls left"
    )


def test_a_call_that_hangs_is_left_when_time_is_over() -> None:
    over = threading.Event()

    def hang(_: Request) -> str:
        over.wait()
        return GOOD

    began = time.monotonic()
    model = BoundedModel(Scripted("m", hang), 0.05, 9)
    assert number(model) == Unreadable("m gave no reply within 0.05 s")
    with pytest.raises(SpentError, match="m has no time left"):
        model.complete(Request("x"))
    assert time.monotonic() - began < 5.0
    over.set()


def test_errors_of_the_model_are_those_of_the_call() -> None:
    def fail(_: Request) -> str:
        raise ModelError("is down")

    with pytest.raises(ModelError, match="is down"):
        number(BoundedModel(Scripted("m", fail), 9.0, 2))
