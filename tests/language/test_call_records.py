"""Calls as lines of a file: what they say, and that only what is a record is replayed."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_models import ANSWER, HALF, SCORES, Fake, dead, fails, silent
from otherminds.errors import InputError
from otherminds.files.database import Change, Database
from otherminds.language.call_records import CallTable, answered_line, key_of, now, question_of
from otherminds.language.ledger import Recorded, Totals
from otherminds.language.model import Continuations, Message, ModelError, Reply, Request
from otherminds.language.prices import BudgetError, Price
from run_files import alter, read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def lines_of(path: Path) -> list[bytes]:
    """The calls of a record as lines."""
    return list(CallTable.open(path, readonly=True).lines())


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(path)]


def exported(path: Path) -> Path:
    """The lines of a record in a file."""
    file = path.with_suffix(".jsonl")
    file.write_bytes(b"".join(lines_of(path)))
    return file


def ask_three(path: Path) -> None:
    recorded = Recorded(Fake(), path)
    for n in range(3):
        recorded.complete(Request(f"où ? {n}"))


# What they say


def test_a_line_is_what_it_is_said_to_be(path: Path) -> None:
    request = Request((Message("user", "Où ?", (b"png",)),), 9, 0.5, 3, (".",), "{}", "2")
    recorded = Recorded(Fake(), path, price=Price(1.0, 2.0))
    recorded.complete(request)
    (done,) = records(path)
    question = {
        "draw": "2",
        "kind": "complete",
        "max_tokens": 9,
        "model": "fake:1",
        "prompt": [{"images": [hashlib.sha256(b"png").hexdigest()], "role": "user", "text": "Où ?"}],
        "schema": "{}",
        "seed": 3,
        "stop": ["."],
        "temperature": 0.5,
    }
    key = hashlib.sha256(json.dumps(question, ensure_ascii=False).encode()).hexdigest()[:32]
    meta = {"name": "fake", "seconds": done["meta"]["seconds"], "t": done["meta"]["t"], "cost": 20 / 1e6}
    usage = {"prompt": 12, "cached": 3, "written": 4}
    response = {"text": ANSWER.text, "cut": False, "usage": usage}
    assert done == {"v": 1, "key": key, "request": question, "response": response, "meta": meta}
    assert lines_of(path) == [json.dumps(done, sort_keys=True, ensure_ascii=False).encode() + b"\n"]


@pytest.mark.parametrize(
    ("reply", "newer"),
    [
        (Reply("", withheld="filtered"), {"withheld": "filtered"}),
        (Reply("no", withheld="refused"), {"withheld": "refused"}),
        (Reply("", withheld="tool call"), {"withheld": "tool call"}),
        (Reply("", cut=True, thought=True), {"thought": True}),
        (Reply("{}", constrained=True), {"constrained": True}),
        (
            Reply("", True, ANSWER.usage, "refused", True, True),
            {"withheld": "refused", "thought": True, "constrained": True},
        ),
        (Reply("yes"), {}),
    ],
)
def test_how_a_reply_came_about_is_recorded_where_there_is_something_to_say(
    path: Path, reply: Reply, newer: dict[str, object]
) -> None:
    assert Recorded(Fake(lambda _: reply), path).complete(Request("a")) == reply
    (done,) = records(path)
    assert {name: value for name, value in done["response"].items() if name not in ("text", "cut", "usage")} == newer
    assert Recorded(Fake(dead), path, replay=True).complete(Request("a")) == reply
    assert Recorded(Fake(dead), exported(path), replay=True).complete(Request("a")) == reply


def test_what_is_not_known_in_json_has_a_sound_place_there(path: Path) -> None:
    recorded = Recorded(Fake(), path)
    recorded.score(Continuations(HALF, ("a", "b")))
    ((line,), (done,)) = lines_of(path), records(path)
    assert b"Infinity" not in line
    assert done["response"]["log_probs"] == [-0.1, "-inf"]
    assert "cost" not in done["meta"]
    assert Recorded(Fake(), exported(path), replay=True).score(Continuations(HALF, ("a", "b"))) == SCORES


def test_calls_without_an_answer_have_a_line_unless_they_were_free(path: Path) -> None:
    model = Fake()
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    for model.answer in (dead, silent, lambda _: ANSWER):
        try:
            recorded.complete(Request("a"))
        except ModelError:
            continue
    sent, done = records(path)
    assert sent == {"v": 1, "sent": done["key"], "t": sent["t"]}
    assert [call.key for call in Recorded(model, path).uncertain] == [done["key"]]
    # a line says neither of which model nor for how much; and what was answered in the end is as good as any
    assert CallTable.open(exported(path), readonly=True).uncertain() == ()
    exported(path).write_bytes(lines_of(path)[0])
    (call,) = CallTable.open(path.with_suffix(".jsonl"), readonly=True).uncertain()
    assert (call.key, call.sent, call.model, call.most) == (done["key"], sent["t"], "", 0.0)


def test_lines_are_those_of_the_record_they_were_read_from(path: Path) -> None:
    ask_three(path)
    Recorded(Fake(), path).score(Continuations("a", ("b", "c")))
    again = CallTable.open(exported(path), readonly=True)
    assert list(again.lines()) == lines_of(path)
    assert again.answered() == CallTable.open(path).answered()
    assert again.answered("fake:1").calls == 4


# Lines that are torn, and lines that are wrong


@pytest.mark.slow
def test_a_torn_last_line_is_left_out_wherever_it_is_torn(path: Path) -> None:
    ask_three(path)
    file = exported(path)
    *before, last = lines_of(path)
    for cut in range(0, len(last), 7):
        file.write_bytes(torn := b"".join(before) + last[:cut])
        replay = Recorded(Fake(dead), file, replay=True)
        assert replay.complete(Request("où ? 1")) == ANSWER
        with fails(kind=ModelError):
            replay.complete(Request("où ? 2"))
        assert file.read_bytes() == torn


def altered_by(**changes: Any) -> Callable[[dict[str, Any]], bytes]:
    def altered(record: dict[str, Any]) -> bytes:
        found = json.loads(json.dumps(record))
        for place, value in changes.items():
            *outer, last = place.split("__")
            inner = found
            for name in outer:
                inner = inner[name]
            inner[last] = value
        return json.dumps(found).encode()

    return altered


MALFORMED: dict[str, tuple[Callable[[dict[str, Any]], bytes], str]] = {
    "blank": (lambda _: b"", "is not JSON"),
    "cut, with an end": (lambda done: json.dumps(done).encode()[:-5], "is not JSON"),
    "two on a line": (lambda done: json.dumps(done).encode() * 2, "is not JSON"),
    "not UTF-8": (lambda _: b'{"v": 1, "sent": "\xff"}', "is not UTF-8"),
    "deep": (lambda _: b'{"v":' + b"[" * 100_000, "nested too deeply"),
    "zeros": (lambda _: b"\0" * 100, "is not JSON"),
    "a list": (lambda _: b"[]", "is no record"),
    "nothing known": (lambda _: b"{}", "is no record"),
    "no version": (lambda done: json.dumps({k: x for k, x in done.items() if k != "v"}).encode(), "is no record"),
    "version 2": (altered_by(v=2), "is of version 2, and this reads version 1"),
    "version true": (altered_by(v=True), "`v`"),
    "version 1.0": (altered_by(v=1.0), "`v`"),
    "surplus": (altered_by(more=1), "`more`"),
    "both": (altered_by(sent="0" * 32), "`key`|`t`"),
    "short key": (altered_by(key="0" * 31), "`key`"),
    "another key": (altered_by(key="0" * 32), "the key is not that of the request"),
    "another request": (altered_by(request__seed=1), "the key is not that of the request"),
    "no response": (altered_by(response=None), "`response`"),
    "no text": (altered_by(response={}), "`text`"),
    "wrong text": (altered_by(response__text=1), "`text`"),
    "text as digits": (altered_by(response__usage__prompt="12"), "the response"),
    "surplus in the response": (altered_by(response__more=1), "the response"),
    "a reason that is none": (altered_by(response__withheld="lost"), "`withheld`"),
    "an empty reason": (altered_by(response__withheld=""), "the response"),
    "thoughts as text": (altered_by(response__thought="so"), "`thought`"),
    "scores": (altered_by(response={"log_probs": [], "tokens": []}), "`text`"),
    "nan": (altered_by(meta__cost=math.nan), "is no number"),
    "negative": (altered_by(meta__cost=-1.0), "`meta.cost`"),
    "infinite": (altered_by(meta__cost=math.inf), "is no number"),
    "surplus in the meta": (altered_by(meta__key="sk"), "`meta.key`"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_line_that_is_no_record_is_refused_with_its_place(path: Path, case: str) -> None:
    ask_three(path)
    make, said = MALFORMED[case]
    *before, done = lines_of(path)
    file = exported(path)
    wrong = make(json.loads(done)) + b"\n"
    for lines in ([*before, wrong], [*before, wrong, before[0]], [wrong, *before]):
        file.write_bytes(b"".join(lines))
        with fails([f"{file}:{lines.index(wrong) + 1}: ", f"({said})"]):
            Recorded(Fake(), file, replay=True)
        assert file.read_bytes() == b"".join(lines)


def test_a_request_of_an_unknown_kind_is_refused(path: Path) -> None:
    ask_three(path)
    done, file = records(path)[1], path.with_suffix(".jsonl")
    done["request"]["kind"] = "draw"
    text = json.dumps(done["request"], sort_keys=True, ensure_ascii=False)
    done["key"] = hashlib.sha256(text.encode()).hexdigest()[:32]
    file.write_text(json.dumps(done) + "\n")
    with fails([f"{file}:1: ", "kind"]):
        Recorded(Fake(), file, replay=True)


def test_files_can_be_put_together_and_the_first_answer_stays(path: Path) -> None:
    parts = [path.with_name(f"{name}.db") for name in "ab"]
    for part in parts:
        recorded = Recorded(Fake(lambda _, text=part.stem: Reply(text, usage=ANSWER.usage)), part)  # type: ignore[misc]
        recorded.complete(Request("same"))
        recorded.complete(Request(part.stem))
    file = path.with_suffix(".jsonl")
    file.write_bytes(b"".join(exported(part).read_bytes() for part in parts))
    replay = Recorded(Fake(dead), file, replay=True)
    assert [replay.complete(Request(prompt)).text for prompt in ("same", "a", "b")] == ["a", "a", "b"]


def test_a_file_of_lines_is_replayed_and_never_written(path: Path) -> None:
    ask_three(path)
    file = exported(path)
    before = file.read_bytes()
    replay = Recorded(Fake(dead), file, replay=True)
    assert [replay.complete(Request(f"où ? {n}")) for n in range(3)] == [ANSWER] * 3
    with fails([f"{file}: there is no record of the call `où \\? 3`"], ModelError):
        replay.complete(Request("où ? 3"))
    assert replay.totals == Totals(recalled=3, recorded_usage=ANSWER.usage + ANSWER.usage + ANSWER.usage)
    with fails([f"{file}: cannot be used: file is not a database"]):
        Recorded(Fake(), file)
    assert file.read_bytes() == before
    file.write_bytes(b"")
    with fails([f"{file}: there is no record of the call"], ModelError):
        Recorded(Fake(), file, replay=True).complete(Request("où ? 0"))


META = {"name": "fake", "seconds": 0.5, "t": "2026-01-01T00:00:00+00:00"}


def line_for(prompt: str, text: str = ANSWER.text) -> tuple[str, bytes]:
    """The key of a question, and the line of its answer."""
    question = question_of("fake:1", Request(prompt))
    return key_of(question), answered_line(question, Reply(text, usage=ANSWER.usage), META)[0]


def sent(calls: CallTable, prompt: str, most: float = 2.0, budget: float | None = None, model: str = "fake:1") -> int:
    return calls.send(line_for(prompt)[0], model, prompt, most, budget)[0]


def test_a_call_goes_from_sent_to_what_became_of_it(path: Path) -> None:
    calls = CallTable.open(path)
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
    again = CallTable.open(path, readonly=True)
    assert (again.spent, again.uncertain(), again.answered()) == (calls.spent, calls.uncertain(), calls.answered())


def test_spending_is_what_the_calls_say_whatever_happens_to_them(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after transactions that fail, and beside others, in this program or another one."""
    rng, first, open_calls = np.random.default_rng(4), CallTable.open(path), list[int]()
    tables, transaction = (first, CallTable(first.database), CallTable.open(path)), Database.transaction

    @contextmanager
    def may_fail(database: Database) -> Iterator[Change]:
        with transaction(database) as change:
            yield change
            if rng.random() < 0.2:
                raise sqlite3.OperationalError("full")

    monkeypatch.setattr(Database, "transaction", may_fail)
    for prompt in map(str, range(80)):
        calls = tables[int(rng.integers(3)) if rng.random() < 0.3 else 0]
        with suppress(InputError):
            before = calls.spent
            number, spent = calls.send(line_for(prompt)[0], "fake:1", prompt, float(rng.uniform(0, 9)), None)
            assert spent == pytest.approx(before)
            open_calls.append(number)
        if open_calls and rng.random() < 0.7:
            state = str(rng.choice(["refused", "lost"]))
            with suppress(InputError):
                calls.settle(open_calls[0], state, 0.0 if state == "refused" else float(rng.uniform(0, 9)))
                open_calls.pop(0)


def test_the_calls_so_far_are_not_added_up_for_every_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent(CallTable.open(path), "earlier")
    calls, asked, found = CallTable.open(path), list[str](), Change.read

    def counted(change: Change, question: str, about: Sequence[Any] = ()) -> list[Any]:
        asked.append(question)
        return found(change, question, about)

    monkeypatch.setattr(Change, "read", counted)
    for prompt in "abc":
        calls.settle(sent(calls, prompt, budget=50.0), "done", 0.5, line_for(prompt)[1])
    assert sum("total(cost)" in question for question in asked) == 1


def test_a_budget_is_for_all_calls_of_all_models_and_programs(path: Path) -> None:
    one, other = CallTable.open(path), CallTable.open(path)
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
    calls = CallTable.open(path)
    numbers = [sent(calls, "a"), sent(calls, "a")]
    for number, text in zip(numbers, ("first", "second"), strict=True):
        calls.settle(number, "done", 0.5, line_for("a", text)[1])
    assert calls.answer(line_for("a")[0]) == Reply("first", usage=ANSWER.usage)
    assert calls.answered().calls == 1
    assert calls.spent == 0.5 + 0.5
    assert calls.uncertain() == ()
    assert read(path, "select state from calls order by n") == [("done",), ("twice",)]


def test_calls_of_other_records_are_taken_in_once(tmp_path: Path) -> None:
    parts = [CallTable.open(tmp_path / name) for name in ("one", "other")]
    for part, text in zip(parts, ("first", "second"), strict=True):
        for prompt in ("both", text):
            part.settle(sent(part, prompt), "done", 0.5, line_for(prompt, text)[1])
        part.settle(sent(part, f"refused {text}"), "refused", 0.0)
        sent(part, f"lost {text}")
    whole = CallTable.open(tmp_path / "whole")
    whole.take_in(parts)
    assert [whole.answer(line_for(prompt)[0]) for prompt in ("both", "first", "second")] == [
        Reply(text, usage=ANSWER.usage) for text in ("first", "first", "second")
    ]
    assert {call.place for call in whole.uncertain()} == {"lost first", "lost second"}
    assert read(tmp_path / "whole", "select state, count(*) from calls group by state") == [
        ("done", 3),
        ("refused", 2),
        ("sent", 2),
        ("twice", 1),
    ]
    assert whole.answered().dollars == 1.5
    assert whole.spent == pytest.approx(sum(part.spent for part in parts))  # what is there twice was paid twice


def test_half_a_character_is_recorded_as_it_can_be(path: Path) -> None:
    calls = CallTable.open(path)
    sent(calls, "\ud83e half")
    assert calls.uncertain()[0].place == "\\ud83e half"


def test_an_answer_under_another_key_is_not_given(path: Path) -> None:
    """A line that is sound in itself, moved to another call."""
    calls = CallTable.open(path)
    for prompt in ("a", "b"):
        calls.settle(sent(calls, prompt), "done", 0.5, line_for(prompt, prompt)[1])
    calls.database.close()
    first = "(select {} from calls where n = 1)"
    alter(path, f"update calls set line = {first.format('line')}")
    again = CallTable.open(path)
    assert again.answer(line_for("a")[0]) == Reply("a", usage=ANSWER.usage)
    with fails([f"{path}: the record of call"]):
        again.answer(line_for("b")[0])


def test_the_time_is_that_of_everywhere() -> None:
    assert now().endswith("+00:00")
