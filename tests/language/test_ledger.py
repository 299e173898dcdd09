"""What was asked once is never asked again, what is recorded is what was said, and a budget is a limit."""

from __future__ import annotations

import math
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import run_files
from fake_models import ANSWER, HALF, Fake, dead, fails, silent
from otherminds.evaluation.asking import spent
from otherminds.files import database as durable
from otherminds.language.call_records import SCHEMA
from otherminds.language.ledger import Recorded, Totals
from otherminds.language.model import (
    Continuations,
    LanguageModel,
    Message,
    ModelError,
    Reply,
    Request,
    Scores,
    Usage,
    ask_all,
)
from otherminds.language.prices import BudgetError, Price
from run_files import read

STATES = "select state, count(*) from calls group by state order by state"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


# Round trips

texts = st.text(max_size=20) | st.just(f"{HALF}, and a half")
messages = st.builds(
    Message, st.sampled_from(["system", "user", "assistant"]), texts, st.lists(st.binary(max_size=4)).map(tuple)
)
prompts = texts | st.lists(messages, max_size=3).map(tuple)
requests = st.builds(
    Request,
    prompts,
    st.integers(1, 3),
    st.sampled_from([0.0, -0.0, 0, 0.1, 1, 1.0, 1 / 3, 2.0]),
    st.integers(0, 2**64),
    st.lists(texts, max_size=2).map(tuple),
    texts,
    texts,
)
questions = st.builds(Continuations, texts, st.lists(texts, max_size=3).map(tuple))
usages = st.builds(Usage, st.integers(0, 2**40), st.integers(0, 9), st.integers(0, 9))
replies = st.builds(Reply, st.text(), st.booleans(), usages)
log_probs = st.floats(max_value=0.0, allow_nan=False)
scores = st.lists(st.tuples(log_probs, st.integers(1, 99)), max_size=4).flatmap(
    lambda pairs: st.builds(
        Scores,
        st.just(tuple(value for value, _ in pairs)),
        st.just(tuple(tokens for _, tokens in pairs)),
        st.sampled_from(["tokeniser", "echo", "longest"]),
        usages,
    )
)


@pytest.mark.slow
@settings(max_examples=30)
@given(requests, replies)
@example(Request("a\u2028b\x00\x85\r\nc"), Reply("\u2028\x00\x85\r\n\\ud83e"))
@example(Request("numpy", seed=np.int64(3), max_tokens=np.int32(4)), Reply(HALF))  # type: ignore[arg-type]
@example(Request("two halves", draw=f"{HALF}\udd14"), Reply("…"))
def test_replies_are_recalled_exactly(request: Request, reply: Reply) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "calls"
        assert Recorded(Fake(lambda _: reply), path).complete(request) == reply
        for replay in (False, True):
            model = Fake(dead)
            assert Recorded(model, path, replay=replay).complete(request) == reply
            assert model.asked == []


@pytest.mark.slow
@settings(max_examples=30)
@given(questions, scores)
def test_scores_are_recalled_exactly(question: Continuations, found: Scores) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "calls"
        assert Recorded(Fake(scores=lambda _: found), path).score(question) == found
        recalled = Recorded(Fake(scores=dead), path).score(question)
        assert repr(recalled) == repr(found)  # 0.0 and -0.0 are equal, but not the same


def test_an_answer_is_the_same_when_it_is_new_and_when_it_is_recalled(path: Path) -> None:
    model = Fake(lambda _: Reply(f"{HALF}\udd14"))
    assert Recorded(model, path).complete(Request("")) == Recorded(model, path).complete(Request(""))


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in fields(Request)])
@settings(max_examples=10)
@given(one=requests, other=requests)
def test_requests_are_the_same_call_if_nothing_differs(name: str, one: Request, other: Request) -> None:
    changed = replace(one, **{name: getattr(other, name)})
    with TemporaryDirectory() as folder:
        model = Fake()
        recorded = Recorded(model, Path(folder) / "calls")
        for request in (one, changed, replace(one)):
            recorded.complete(request)
        assert len(model.asked) == (1 if changed == one else 2)


@pytest.mark.slow
@settings(max_examples=30)
@given(questions, questions)
def test_continuations_are_the_same_call_if_nothing_differs(one: Continuations, other: Continuations) -> None:
    with TemporaryDirectory() as folder:
        model = Fake()
        recorded = Recorded(model, Path(folder) / "calls")
        changed = [one, replace(one, texts=other.texts), replace(one, prompt=other.prompt)]
        for question in (*changed, replace(one)):
            recorded.score(question)
        assert len(model.asked) == len(set(changed))


def test_calls_differ_by_model_kind_and_every_part_of_a_message(path: Path) -> None:
    turn = Message("user", "hello", (b"png",))
    turns = [turn, replace(turn, role="system"), replace(turn, text="hello!"), replace(turn, images=(b"gif",))]
    several: list[tuple[Message, ...]] = [(), (turn, turn), (replace(turn, images=(b"png", b"png")),)]
    asked = [Request("hello"), *(Request((each,)) for each in turns), *map(Request, several)]
    models = [Fake(), Fake(identity="fake:2")]
    for model in models:
        recorded = Recorded(model, path)
        for request in asked:
            recorded.complete(request)
        recorded.score(Continuations("hello", ()))
        assert len(model.asked) == len(asked) + 1
    assert read(path, "select count(distinct key) from calls") == [(2 * len(asked) + 2,)]
    assert Recorded(Fake(dead, name="another name"), path).complete(asked[1]) == ANSWER


def test_a_model_of_another_identity_is_asked_again(path: Path) -> None:
    Recorded(Fake(), path).complete(Request("hello"))
    model = Fake(identity="fake:2")
    Recorded(model, path).complete(Request("hello"))
    assert len(model.asked) == 1


def test_a_recorded_model_is_a_model(path: Path) -> None:
    model: LanguageModel = Recorded(Fake(), path)
    assert (model.name, model.identity) == ("fake", "fake:1")
    again = Recorded(model, path.with_name("copy.db"))
    assert list(ask_all(again.complete, [Request("a"), Request("b"), Request("a")], at_once=2)) == [ANSWER] * 3


# The record


def test_a_call_is_on_record_as_sent_before_it_goes_out(path: Path) -> None:
    seen: list[Any] = []

    def answer(_: Request) -> Reply:
        seen.extend(read(path, "select key, model, place, state, cost, line from calls"))
        return ANSWER

    Recorded(Fake(answer), path, price=Price(1e6, 1e6)).complete(Request("abc", max_tokens=99, draw="here"))
    ((key,),) = read(path, "select key from calls where state = 'done'")
    assert seen == [(key, "fake:1", "here", "sent", 100.0, None)]


def test_the_record_of_a_run_holds_the_calls_of_all_its_models(path: Path) -> None:
    """One database, open already."""
    with durable.Database(path, SCHEMA) as base:
        one, other = Recorded(Fake(), base, price=Price(1e6, 1e6)), Recorded(Fake(identity="fake:2"), base)
        assert one.path == other.path == path
        one.complete(Request("a"))
        other.complete(Request("a"))
        other.score(Continuations("a", ("b", "c")))
        assert (one.answered.calls, other.answered.calls) == (1, 2)
        assert one.answered == (1, 12, 4, 16.0)
        assert other.answered == (2, 17, 6, 0.0)
        assert one.spent == other.spent == 16.0
    assert Recorded(Fake(dead), path, replay=True).complete(Request("a")) == ANSWER


def test_no_secret_of_a_model_is_recorded(path: Path) -> None:
    model = Fake()
    recorded = Recorded(model, path, price=Price(1.0, 2.0))
    recorded.complete(Request("hello"))
    recorded.score(Continuations("hello", ("a",)))
    model.answer = dead
    with fails(kind=ModelError):
        recorded.complete(Request("again"))
    files = [file.read_bytes() for file in path.parent.iterdir()]
    assert any(b"hello" in file for file in files)
    assert not any(model.key.encode() in file for file in files)


def ask_three(path: Path) -> Recorded:
    recorded = Recorded(Fake(), path)
    for n in range(3):
        recorded.complete(Request(f"où ? {n}"))
    return recorded


DAMAGED = {
    "a letter": "update calls set line = replace(line, 'Là', 'La') where n = 2",
    "a digit": "update calls set line = replace(line, '\"written\": 4', '\"written\": 5') where n = 2",
    "the sum": "update calls set checksum = checksum + 1 where n = 2",
    "no line": "update calls set line = null where n = 2",
    "bytes": "update calls set line = cast(line as blob) where n = 2",
    "nothing": "update calls set line = '' where n = 2",
    "a number": "update calls set line = 7 where n = 2",
}


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("damage", DAMAGED)
def test_an_answer_that_was_damaged_is_refused_and_not_asked_for_again(path: Path, damage: str, replay: bool) -> None:
    ask_three(path)
    assert run_files.damage(path, DAMAGED[damage]) == 1
    with fails([f"^{path}: is damaged: a row of calls does not verify: 2 .*--salvage OUT"]):
        Recorded(Fake(dead), path, replay=replay)


# Totals


def test_totals_tell_what_was_asked_and_what_was_recalled(path: Path) -> None:
    price = Price(1.0, 10.0)
    recorded = Recorded(Fake(), path, price=price)
    recorded.complete(Request("a"))
    recorded.complete(Request("a"))
    recorded.score(Continuations("a", ("b", "c")))
    costs = 52 / 1e6 + 25 / 1e6
    assert recorded.totals[:6] == (2, 1, 0, 0, Usage(17, 3, 6), Usage(29, 6, 10))
    assert recorded.spent == pytest.approx(costs)
    assert recorded.totals.cost == pytest.approx(costs)
    again = Recorded(Fake(), path, price=price)
    assert again.totals == Totals(cost=0.0)
    again.complete(Request("a"))
    assert again.totals == Totals(recalled=1, recorded_usage=ANSWER.usage, cost=0.0)
    assert again.spent == pytest.approx(costs)
    assert Recorded(Fake(), path).totals.cost is None
    assert Recorded(Fake(), path, replay=True).spent == pytest.approx(costs)


def test_calls_that_failed_are_free_and_made_again(path: Path) -> None:
    model, price = Fake(dead), Price(1.0, 1.0)
    recorded = Recorded(model, path, price=price)
    for _ in range(2):
        with fails(["the endpoint is dead"], ModelError):
            recorded.complete(Request("a"))
    assert len(model.asked) == 2
    assert recorded.totals == Totals(failed=2, cost=0.0)
    assert read(path, STATES) == [("refused", 2)]
    again = Recorded(Fake(), path, price=price)
    assert (again.uncertain, again.totals.uncertain, again.spent) == ((), 0, 0.0)
    assert again.complete(Request("a")) == ANSWER


def interrupted(_: object) -> Any:
    raise KeyboardInterrupt


def broken(_: object) -> Any:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("end", "kind"), [(silent, ModelError), (interrupted, KeyboardInterrupt), (broken, ZeroDivisionError)]
)
def test_calls_that_may_have_been_answered_are_listed_and_counted_at_the_most(
    path: Path, end: Any, kind: type[BaseException]
) -> None:
    price, request = Price(1e6, 1e6), Request("abc", max_tokens=99, draw="here")
    recorded = Recorded(Fake(end), path, price=price)
    with pytest.raises(kind):
        recorded.complete(request)
    assert recorded.totals == Totals(failed=1, cost=0.0)
    assert recorded.uncertain == ()  # there was none at the start
    assert recorded.spent == 100.0
    again = Recorded(Fake(), path, price=price, budget=150.0)
    ((key, sent),) = read(path, "select key, sent from calls")
    assert again.uncertain == ((key, "fake:1", "here", sent, 100.0),)
    assert again.totals.uncertain == 1
    with fails(kind=BudgetError):
        again.complete(request)
    richer = Recorded(Fake(), path, price=price, budget=200.0)
    assert richer.complete(request) == ANSWER
    assert richer.spent == 116.0
    assert Recorded(Fake(), path).uncertain == again.uncertain  # it may have been paid for all the same
    assert Recorded(Fake(identity="fake:2"), path).uncertain == ()


def test_nobody_pays_for_a_call_within_the_process(path: Path) -> None:
    for identity, uncertain in (("embedded:tiny@0123", 0), ("openai:tiny", 1)):
        record = path.with_name(f"{uncertain}.db")
        with pytest.raises(KeyboardInterrupt):
            Recorded(Fake(interrupted, identity=identity), record).complete(Request("abc"))
        again = Recorded(Fake(identity=identity), record)
        assert again.totals.uncertain == uncertain
        assert ("may have to be paid for" in spent(again)) == (uncertain > 0)


def test_a_call_under_way_when_everything_ends_is_uncertain(path: Path) -> None:
    copy = path.with_name("copy.db")

    def answer(_: Request) -> Reply:
        with closing(sqlite3.connect(path)) as base, closing(sqlite3.connect(copy)) as other:
            base.backup(other)
        return ANSWER

    Recorded(Fake(answer), path, price=Price(1e6, 1e6)).complete(Request("abc", max_tokens=99))
    again = Recorded(Fake(), copy)
    assert [(call.place, call.most) for call in again.uncertain] == [("`abc`", 100.0)]
    assert again.spent == 100.0
    assert again.complete(Request("abc", max_tokens=99)) == ANSWER
    assert read(copy, STATES) == [("done", 1), ("sent", 1)]


def test_an_answer_that_could_not_be_read_again_is_an_error(path: Path) -> None:
    model = Fake(scores=lambda _: Scores((math.nan,), (1,), usage=Usage(50, 0, 1)))
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    with fails(["fake gave an answer that cannot be recorded"], ModelError):
        recorded.score(Continuations("a", ("b",)))
    assert recorded.spent == pytest.approx(51 / 1e6)
    model.answer = lambda _: Reply(None)  # type: ignore[arg-type]
    with fails(["fake gave an answer that cannot be recorded"], ModelError):
        recorded.complete(Request("a"))
    assert len(Recorded(model, path).uncertain) == 2


@pytest.mark.parametrize("temperature", [math.nan, math.inf])
def test_a_temperature_that_is_none_is_refused(path: Path, temperature: float) -> None:
    model = Fake()
    with fails(["temperature"]):
        Recorded(model, path).complete(Request("a", temperature=temperature))
    assert model.asked == []


# Replay


def test_a_replay_asks_nothing_and_writes_nothing(path: Path) -> None:
    ask_three(path)
    before = path.read_bytes()
    model = Fake()
    replay = Recorded(model, path, replay=True)
    assert replay.complete(Request("où ? 0")) == ANSWER
    long = "Where will Sally look?\n" + "She has been away. " * 50 + "The marble is in the box."
    for prompt in (long, (Message("system", long[:100]), Message("user", long[100:]))):
        with fails(
            [f"{path}: ", "Where will Sally look", "…", "is in the box.`", r"\(it is another"], ModelError
        ) as said:
            replay.complete(Request(prompt))
        assert len(str(said.value)) < len(str(path)) + 300
    with fails([f"{path}: ", "`où \\? 0`"], ModelError):
        replay.score(Continuations("où ? 0", ()))
    assert model.asked == []
    assert path.read_bytes() == before
    assert replay.totals == Totals(recalled=1, recorded_usage=ANSWER.usage)


def test_a_replay_can_be_of_a_record_that_is_being_written(path: Path) -> None:
    recorded = ask_three(path)
    replay = Recorded(Fake(dead), path, replay=True)
    assert replay.complete(Request("où ? 2")) == ANSWER
    recorded.complete(Request("où ? 3"))
    assert replay.complete(Request("où ? 3")) == ANSWER


def test_a_replay_of_nothing_is_refused(path: Path) -> None:
    with fails([f"{path}: cannot be read: No such file"]):
        Recorded(Fake(), path, replay=True)
    assert not path.exists()


# Disks


def test_folders_are_made(path: Path) -> None:
    deep = path / "a" / "b.db"
    assert Recorded(Fake(), deep).complete(Request("a")) == ANSWER
    assert Recorded(Fake(dead), deep).complete(Request("a")) == ANSWER


def test_a_path_that_cannot_be_a_file_is_refused(path: Path) -> None:
    path.write_text("")
    for wrong, why in (
        (path.parent, "Is a directory|unable to open"),
        (path / "below a file", "Not a directory|File exists"),
        (path / "below" / "a file", "Not a directory"),
        (Path("a\0b"), "null"),
        (path.with_name("x" * 300), "name too long|unable to open"),
    ):
        for replay in (False, True):
            with fails(["cannot be (read|used|written): [^\n]*", f"({why})"]):
                Recorded(Fake(), wrong, replay=replay)


@contextmanager
def room(folder: Path, size: int) -> Iterator[None]:
    """No file in the folder can grow beyond this size more than the largest one has."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(file.stat().st_size for file in folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("size", [0, 100, 5_000])
def test_a_full_disk_is_told_in_one_line_and_loses_nothing(path: Path, size: int) -> None:
    recorded, new = ask_three(path), [Request(f"new {n}") for n in range(9)]
    answered = 0
    with room(path.parent, size), fails([f"^{path}: cannot be used: ", r"\(what was recorded before is kept\)"]):
        for request in new:
            assert recorded.complete(request) == ANSWER
            answered += 1
    assert answered < len(new)
    replay = Recorded(Fake(dead), path, replay=True)
    for request in (*map(Request, ("où ? 0", "où ? 1", "où ? 2")), *new[:answered]):
        assert replay.complete(request) == ANSWER
    assert [recorded.complete(request) for request in new] == [ANSWER] * len(new)
    assert durable.Database(path, SCHEMA).read("pragma integrity_check") == [("ok",)]
