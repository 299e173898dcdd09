"""Calls in a database: each is there from before it goes out, and what they cost adds up whatever becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fake_models import ANSWER, fails
from otherminds.files.database import Database
from otherminds.language.ledger_lines import answered_line, key_of, question_of
from otherminds.language.ledger_table import Calls, now
from otherminds.language.model import Reply, Request
from otherminds.language.prices import BudgetError
from run_files import alter, read, unsynced

META = {"name": "fake", "seconds": 0.5, "t": "2026-01-01T00:00:00+00:00"}


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    with unsynced():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def line_for(prompt: str, text: str = ANSWER.text) -> tuple[str, bytes]:
    """The key of a question, and the line of its answer."""
    question = question_of("fake:1", Request(prompt))
    return key_of(question), answered_line(question, Reply(text, usage=ANSWER.usage), META)[0]


def sent(calls: Calls, prompt: str, most: float = 2.0, budget: float | None = None, model: str = "fake:1") -> int:
    return calls.send(line_for(prompt)[0], model, prompt, most, budget)


def test_a_call_goes_from_sent_to_what_became_of_it(path: Path) -> None:
    calls = Calls.open(path)
    numbers = {state: sent(calls, state) for state in ("done", "refused", "lost", "sent")}
    assert calls.spent == 8.0
    assert {call.place for call in calls.uncertain()} == set(numbers)
    key, line = line_for("done")
    assert calls.answer(key) is None
    calls.settle(numbers["done"], "done", 0.5, line)
    calls.settle(numbers["refused"], "refused", 0.0)
    calls.settle(numbers["lost"], "lost", 2.0)
    assert calls.answer(key) == ANSWER
    assert calls.spent == 4.5
    assert [(call.place, call.most) for call in calls.uncertain("fake:1")] == [("lost", 2.0), ("sent", 2.0)]
    assert calls.uncertain("fake:2") == ()
    assert calls.answered() == calls.answered("fake:1") == (1, 12, 4, 0.5)
    assert calls.answered("fake:2") == (0, 0, 0, 0.0)
    again = Calls.open(path, readonly=True)
    assert (again.spent, again.uncertain(), again.answered()) == (calls.spent, calls.uncertain(), calls.answered())


def test_spending_is_what_the_calls_say_whatever_happens_to_them(path: Path) -> None:
    rng, calls, open_calls = np.random.default_rng(4), Calls.open(path), list[int]()
    for prompt in map(str, range(60)):
        open_calls.append(sent(calls, prompt, float(rng.uniform(0, 9))))
        if rng.random() < 0.7:
            number = open_calls.pop(int(rng.integers(len(open_calls))))
            state = str(rng.choice(["refused", "lost"]))
            calls.settle(number, state, 0.0 if state == "refused" else float(rng.uniform(0, 9)))
    assert read(path, "select total(cost) from calls") == [(pytest.approx(calls.spent),)]


def test_a_budget_is_for_all_calls_of_all_models_and_programs(path: Path) -> None:
    one, other = Calls.open(path), Calls.open(path)
    sent(one, "a", budget=5.0)
    number = sent(other, "b", budget=5.0, model="fake:2")
    with fails([r"the budget of \$5 has no room for a call of up to \$2: \$4 spent so far, or put aside"], BudgetError):
        sent(one, "c", budget=5.0)
    other.settle(number, "refused", 0.0)
    sent(one, "c", budget=5.0)
    assert read(path, "select place, state from calls order by n") == [("a", "sent"), ("b", "refused"), ("c", "sent")]
    sent(one, "without a budget", most=1e6)


def test_of_two_answers_to_a_question_the_first_stays_and_both_are_paid_for(path: Path) -> None:
    """Two programs that asked the same at the same time."""
    calls = Calls.open(path)
    numbers = [sent(calls, "a"), sent(calls, "a")]
    for number, text in zip(numbers, ("first", "second"), strict=True):
        calls.settle(number, "done", 0.5, line_for("a", text)[1])
    assert calls.answer(line_for("a")[0]) == Reply("first", usage=ANSWER.usage)
    assert calls.answered().calls == 1
    assert calls.spent == 0.5 + 2.0
    assert len(calls.uncertain()) == 1


def test_calls_of_other_records_are_taken_in_once(tmp_path: Path) -> None:
    parts = [Calls.open(tmp_path / name) for name in ("one", "other")]
    for part, text in zip(parts, ("first", "second"), strict=True):
        for prompt in ("both", text):
            part.settle(sent(part, prompt), "done", 0.5, line_for(prompt, text)[1])
        part.settle(sent(part, f"refused {text}"), "refused", 0.0)
        sent(part, f"lost {text}")
    whole = Calls.open(tmp_path / "whole")
    whole.take_in(parts)
    assert [whole.answer(line_for(prompt)[0]) for prompt in ("both", "first", "second")] == [
        Reply(text, usage=ANSWER.usage) for text in ("first", "first", "second")
    ]
    assert {call.place for call in whole.uncertain()} == {"lost first", "lost second"}
    assert read(tmp_path / "whole", "select state, count(*) from calls group by state") == [
        ("done", 3),
        ("refused", 2),
        ("sent", 2),
    ]
    assert whole.answered().dollars == 1.5
    assert whole.spent == pytest.approx(sum(part.spent for part in parts))  # what is there twice was paid twice


def test_half_a_character_is_recorded_as_it_can_be(path: Path) -> None:
    calls = Calls.open(path)
    sent(calls, "\ud83e half")
    assert calls.uncertain()[0].place == "\\ud83e half"


def test_an_answer_under_another_key_is_not_given(path: Path) -> None:
    """A line that is sound in itself, moved to another call."""
    calls = Calls.open(path)
    for prompt in ("a", "b"):
        calls.settle(sent(calls, prompt), "done", 0.5, line_for(prompt, prompt)[1])
    calls.database.close()
    first = "(select {} from calls where n = 1)"
    alter(path, f"update calls set line = {first.format('line')}, checksum = {first.format('checksum')}")
    again = Calls.open(path)
    assert again.answer(line_for("a")[0]) == Reply("a", usage=ANSWER.usage)
    with fails([f"{path}: the record of call"]):
        again.answer(line_for("b")[0])


def test_a_record_lives_beside_other_tables(path: Path) -> None:
    with Database(path, "create table if not exists other (x)") as base:
        sent(Calls.of(base), "a")
        assert len(Calls.of(base).uncertain()) == 1
    assert {name for (name,) in read(path, "select name from sqlite_master where type = 'table'")} == {
        "other",
        "calls",
        "spending",
    }


def test_the_time_is_that_of_everywhere() -> None:
    assert now().endswith("+00:00")
