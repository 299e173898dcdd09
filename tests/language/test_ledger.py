"""What was asked once is never asked again, what is recorded is what was said, and a budget is a limit."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from io import FileIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Event, Lock, get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
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
from otherminds.language.prices import BudgetError, Price, Spending, at_most

HALF = "\ud83e"
ANSWER = Reply("Où ? « Là » 🤔", usage=Usage(12, 3, 4))
SCORES = Scores((-0.1, -math.inf), (1, 2), "echo", Usage(5, 0, 2))


@dataclass
class Fake:
    """A model that says what it is told to, and counts how often."""

    answer: Callable[[Request], Reply] = lambda _: ANSWER
    scores: Callable[[Continuations], Scores] = lambda _: SCORES
    name: str = "fake"
    identity: str = "fake:1"
    key: str = "sk-secret"
    asked: list[Request | Continuations] = field(default_factory=list)

    def complete(self, request: Request, /) -> Reply:
        self.asked.append(request)
        return self.answer(request)

    def score(self, request: Continuations, /) -> Scores:
        self.asked.append(request)
        return self.scores(request)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.lm.jsonl"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for to reach the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def fails(exactly: Sequence[str] = (), kind: type[InputError] = InputError) -> Any:
    return pytest.raises(kind, match="^[^\n]*" + "[^\n]*".join(exactly) + "[^\n]*$")


def dead(_: object) -> Any:
    raise ModelError("the endpoint is dead")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


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


@pytest.mark.parametrize("name", [each.name for each in fields(Request)])
@settings(max_examples=25)
@given(one=requests, other=requests)
def test_requests_are_the_same_call_if_nothing_differs(name: str, one: Request, other: Request) -> None:
    changed = replace(one, **{name: getattr(other, name)})
    with TemporaryDirectory() as folder:
        model = Fake()
        recorded = Recorded(model, Path(folder) / "calls")
        for request in (one, changed, replace(one)):
            recorded.complete(request)
        assert len(model.asked) == (1 if changed == one else 2)


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
    assert len({record["key"] for record in records(path) if "key" in record}) == 2 * len(asked) + 2
    assert Recorded(Fake(dead, name="another name"), path).complete(asked[1]) == ANSWER


def test_a_model_of_another_identity_is_asked_again(path: Path) -> None:
    Recorded(Fake(), path).complete(Request("hello"))
    model = Fake(identity="fake:2")
    Recorded(model, path).complete(Request("hello"))
    assert len(model.asked) == 1


def test_a_recorded_model_is_a_model(path: Path) -> None:
    model: LanguageModel = Recorded(Fake(), path)
    assert (model.name, model.identity) == ("fake", "fake:1")
    again = Recorded(model, path.with_name("copy.lm.jsonl"))
    assert list(ask_all(again.complete, [Request("a"), Request("b"), Request("a")], at_once=2)) == [ANSWER] * 3


# The file


def test_the_file_is_what_it_is_said_to_be(path: Path) -> None:
    request = Request((Message("user", "Où ?", (b"png",)),), 9, 0.5, 3, (".",), "{}", "2")
    recorded = Recorded(Fake(), path, price=Price(1.0, 2.0))
    recorded.complete(request)
    sent, done = records(path)
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
    assert sent == {"v": 1, "sent": key, "t": sent["t"]}
    meta = {"name": "fake", "seconds": done["meta"]["seconds"], "t": done["meta"]["t"], "cost": 20 / 1e6}
    usage = {"prompt": 12, "cached": 3, "written": 4}
    response = {"text": ANSWER.text, "cut": False, "usage": usage}
    assert done == {"v": 1, "key": key, "request": question, "response": response, "meta": meta}
    lines = path.read_text("utf-8").splitlines()
    assert lines == [json.dumps(record, sort_keys=True, ensure_ascii=False) for record in (sent, done)]


def test_what_is_not_known_in_json_has_a_sound_place_there(path: Path) -> None:
    recorded = Recorded(Fake(), path)
    recorded.score(Continuations(HALF, ("a", "b")))
    assert "Infinity" not in path.read_text("utf-8")
    assert records(path)[1]["response"]["log_probs"] == [-0.1, "-inf"]
    assert "cost" not in records(path)[1]["meta"]


def test_a_record_only_ever_grows(path: Path) -> None:
    recorded, sizes = Recorded(Fake(), path), list[bytes]()
    for n in range(5):
        recorded.complete(Request(f"question {n}"))
        recorded = Recorded(Fake(), path)
        sizes.append(path.read_bytes())
    assert all(later.startswith(earlier) and later != earlier for earlier, later in pairwise(sizes))


def test_a_call_is_on_record_as_sent_before_it_goes_out(path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def answer(_: Request) -> Reply:
        seen.extend(records(path))
        return ANSWER

    Recorded(Fake(answer), path).complete(Request("hello"))
    assert [sorted(record) for record in seen] == [["sent", "t", "v"]]
    assert seen[0]["sent"] == records(path)[1]["key"]


def test_only_answers_are_waited_for_to_reach_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    recorded = Recorded(Fake(), path)
    recorded.complete(Request("hello"))
    assert synced == [path.stat().st_size]


def test_no_secret_of_a_model_is_recorded(path: Path) -> None:
    model = Fake()
    recorded = Recorded(model, path, price=Price(1.0, 2.0))
    recorded.complete(Request("hello"))
    recorded.score(Continuations("hello", ("a",)))
    model.answer = dead
    with fails(kind=ModelError):
        recorded.complete(Request("again"))
    assert model.key not in path.read_text("utf-8")


# Lines that are torn, and lines that are wrong


def ask_three(path: Path) -> Recorded:
    recorded = Recorded(Fake(), path)
    for n in range(3):
        recorded.complete(Request(f"où ? {n}"))
    return recorded


def test_a_torn_last_line_is_dropped_wherever_it_is_torn(path: Path, hasty: None) -> None:
    ask_three(path)
    whole = path.read_bytes()
    *before, sent, done = whole.splitlines(keepends=True)
    for line, rest in ((done, b"".join([*before, sent])), (sent, b"".join(before))):
        for cut in range(len(line)):
            torn = rest + line[:cut]
            path.write_bytes(torn)
            replay = Recorded(Fake(dead), path, replay=True)
            assert replay.complete(Request("où ? 1")) == ANSWER
            with fails(kind=ModelError):
                replay.complete(Request("où ? 2"))
            assert path.read_bytes() == torn
            model = Fake()
            recorded = Recorded(model, path)
            assert recorded.uncertain == ((json.loads(sent)["sent"],) if line is done else ())
            assert [recorded.complete(Request(f"où ? {n}")) for n in range(3)] == [ANSWER] * 3
            assert model.asked == [Request("où ? 2")]
            assert path.read_bytes().startswith(rest)
            assert len(records(path)) == rest.count(b"\n") + 2


def alter(**changes: Any) -> Callable[[dict[str, Any]], bytes]:
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
    "version 2": (alter(v=2), "is of version 2, and this reads version 1"),
    "version true": (alter(v=True), "`v`"),
    "version 1.0": (alter(v=1.0), "`v`"),
    "surplus": (alter(more=1), "`more`"),
    "both": (alter(sent="0" * 32), "`key`|`t`"),
    "short key": (alter(key="0" * 31), "`key`"),
    "another key": (alter(key="0" * 32), "the key is not that of the request"),
    "another request": (alter(request__seed=1), "the key is not that of the request"),
    "no response": (alter(response=None), "`response`"),
    "no text": (alter(response={}), "`text`"),
    "wrong text": (alter(response__text=1), "`text`"),
    "text as digits": (alter(response__usage__prompt="12"), "the response"),
    "surplus in the response": (alter(response__more=1), "the response"),
    "scores": (alter(response={"log_probs": [], "tokens": []}), "`text`"),
    "nan": (alter(meta__cost=math.nan), "`meta.cost`"),
    "negative": (alter(meta__cost=-1.0), "`meta.cost`"),
    "infinite": (alter(meta__cost=math.inf), "`meta.cost`"),
    "surplus in the meta": (alter(meta__key="sk"), "`meta.key`"),
}


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("case", MALFORMED)
def test_a_line_that_is_no_record_is_refused_with_its_place(path: Path, case: str, replay: bool) -> None:
    ask_three(path)
    make, said = MALFORMED[case]
    *before, done = path.read_bytes().splitlines(keepends=True)
    wrong = make(json.loads(done)) + b"\n"
    for lines in ([*before, wrong], [*before, wrong, before[0]], [wrong, *before]):
        path.write_bytes(b"".join(lines))
        with fails([f"{path}:{lines.index(wrong) + 1}: ", f"({said})"]):
            Recorded(Fake(), path, replay=replay)
        assert path.read_bytes() == b"".join(lines)


def test_a_request_of_an_unknown_kind_is_refused(path: Path) -> None:
    ask_three(path)
    done = records(path)[1]
    done["request"]["kind"] = "draw"
    text = json.dumps(done["request"], sort_keys=True, ensure_ascii=False)
    done["key"] = hashlib.sha256(text.encode()).hexdigest()[:32]
    path.write_text(json.dumps(done) + "\n")
    with fails([f"{path}:1: ", "kind"]):
        Recorded(Fake(), path)


def test_records_can_be_put_together_and_the_first_answer_stays(path: Path) -> None:
    price, parts = Price(1.0, 1.0), [path.with_name(name) for name in "ab"]
    for part in parts:
        recorded = Recorded(Fake(lambda _, text=part.name: Reply(text, usage=ANSWER.usage)), part, price=price)  # type: ignore[misc]
        recorded.complete(Request("same"))
        recorded.complete(Request(part.name))
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    recorded = Recorded(Fake(dead), path)
    assert [recorded.complete(Request(prompt)).text for prompt in ("same", "a", "b")] == ["a", "a", "b"]
    assert recorded.spent == pytest.approx(4 * 16 / 1e6)


# Totals


def test_totals_tell_what_was_asked_and_what_was_recalled(path: Path) -> None:
    price = Price(1.0, 10.0)
    recorded = Recorded(Fake(), path, price=price)
    recorded.complete(Request("a"))
    recorded.complete(Request("a"))
    recorded.score(Continuations("a", ("b", "c")))
    costs = 52 / 1e6 + 25 / 1e6
    assert recorded.totals[:5] == (2, 1, 0, Usage(17, 3, 6), Usage(29, 6, 10))
    assert recorded.spent == recorded.totals.cost == pytest.approx(costs)
    again = Recorded(Fake(), path, price=price)
    assert again.totals == Totals(cost=0.0)
    again.complete(Request("a"))
    assert again.totals == Totals(0, 1, 0, Usage(), ANSWER.usage, 0.0)
    assert again.spent == pytest.approx(costs)
    assert Recorded(Fake(), path).totals.cost is None
    assert Recorded(Fake(), path, replay=True).spent == pytest.approx(costs)


def test_errors_are_not_recorded_and_leave_the_call_uncertain(path: Path) -> None:
    model = Fake(dead)
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    for _ in range(2):
        with fails(["the endpoint is dead"], ModelError):
            recorded.complete(Request("a"))
    assert len(model.asked) == 2
    assert recorded.totals == Totals(cost=0.0)
    again = Recorded(Fake(), path, price=Price(1.0, 1.0))
    assert again.uncertain == (records(path)[0]["sent"],)
    assert again.totals.uncertain == 1
    assert again.spent == 0.0
    assert again.complete(Request("a")) == ANSWER
    assert again.totals.uncertain == 1
    assert Recorded(Fake(), path).uncertain == ()


def test_an_answer_that_could_not_be_read_again_is_an_error(path: Path) -> None:
    model = Fake(scores=lambda _: Scores((math.nan,), (1,), usage=Usage(5, 0, 1)))
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    with fails(["fake gave an answer that cannot be recorded"], ModelError):
        recorded.score(Continuations("a", ("b",)))
    assert recorded.spent == pytest.approx(6 / 1e6)
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
    path.write_bytes(path.read_bytes() + b'{"torn')
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


def test_a_replay_of_nothing_is_refused(path: Path) -> None:
    with fails([f"{path}: cannot be read: No such file"]):
        Recorded(Fake(), path, replay=True)
    assert not path.exists()


# Disks


def test_folders_are_made(path: Path) -> None:
    deep = path / "a" / "b.lm.jsonl"
    assert Recorded(Fake(), deep).complete(Request("a")) == ANSWER
    assert Recorded(Fake(dead), deep).complete(Request("a")) == ANSWER


def test_a_path_that_cannot_be_a_file_is_refused(path: Path) -> None:
    path.write_text("")
    for wrong, why in (
        (path.parent, "Is a directory"),
        (path / "below a file", "Not a directory"),
        (path / "below" / "a file", "Not a directory"),
        (Path("a\0b"), "null"),
        (path.with_name("x" * 300), "name too long"),
    ):
        for replay in (False, True):
            with fails(["cannot be (read|written): [^\n]*", why]):
                Recorded(Fake(), wrong, replay=replay)


@pytest.mark.parametrize("replay", [False, True])
def test_a_place_that_is_read_only_is_refused_before_anything_is_asked(
    path: Path, replay: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_three(path)
    opened = Path.open

    def open_(self: Path, mode: str = "r", *arguments: Any, **names: Any) -> Any:
        if mode == "ab":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        return opened(self, mode, *arguments, **names)

    monkeypatch.setattr(Path, "open", open_)
    if replay:
        assert Recorded(Fake(), path, replay=True).complete(Request("où ? 0")) == ANSWER
        return
    with fails([f"^{path}: cannot be written: Read-only file system"]):
        Recorded(Fake(), path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_is_read_only_is_refused(path: Path) -> None:
    path.parent.chmod(0o500)
    with fails([f"^{path}: cannot be written: Permission denied"]):
        Recorded(Fake(), path)
    path.parent.chmod(0o700)


@pytest.mark.parametrize("part", [0.0, 0.5])
@pytest.mark.parametrize("which", [1, 2])
def test_a_full_disk_is_told_in_one_line_and_loses_nothing(
    path: Path, which: int, part: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_three(path)
    model = Fake()
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    writes: list[int] = []

    class Full(FileIO):
        def write(self, line: Any, /) -> int:
            writes.append(len(line))
            if len(writes) < which:
                return super().write(line)
            super().write(line[: int(len(line) * part)])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(Path, "open", lambda self, mode, buffering: Full(self, mode))
        with fails([f"^{path}: cannot be written: No space left on device", r"\("]):
            recorded.complete(Request("new"))
    assert len(model.asked) == which - 1
    assert recorded.spent == pytest.approx((which - 1) * 16 / 1e6)
    assert Recorded(Fake(dead), path, replay=True).complete(Request("où ? 2")) == ANSWER
    assert recorded.complete(Request("new")) == ANSWER
    assert Recorded(Fake(dead), path, replay=True).complete(Request("new")) == ANSWER


@contextmanager
def room(path: Path, size: int) -> Iterator[None]:
    """No file can grow beyond this size."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("size", [0, 7, 150, 350])
def test_a_file_that_may_not_grow_keeps_whole_lines_alone(path: Path, size: int) -> None:
    recorded = ask_three(path)
    with room(path, size), fails([f"^{path}: cannot be written: "]):
        recorded.complete(Request("new"))
    assert recorded.complete(Request("new")) == ANSWER
    assert Recorded(Fake(dead), path, replay=True).complete(Request("new")) == ANSWER


# Threads


class Watched:
    """A model that answers nobody before so many threads have come to ask, as each wants to know its identity first."""

    name = "watched"

    def __init__(self, answer: Callable[[Request], Reply], askers: int) -> None:
        self.answer, self.askers, self.asked = answer, askers, 0
        self.came, self.lock, self.all_came = set[int](), Lock(), Event()

    @property
    def identity(self) -> str:
        with self.lock:
            self.came.add(get_ident())
            if len(self.came) == self.askers:
                self.all_came.set()
        return "watched:1"

    def complete(self, request: Request, /) -> Reply:
        self.asked += 1
        self.all_came.wait()
        return self.answer(request)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError


@pytest.mark.parametrize("threads", [2, 8, 32])
def test_threads_with_the_same_question_ask_it_once(path: Path, threads: int) -> None:
    model = Watched(lambda _: ANSWER, threads)
    recorded = Recorded(model, path, price=Price(1.0, 1.0))
    with ThreadPoolExecutor(threads) as pool:
        found = [future.result() for future in [pool.submit(recorded.complete, Request("a")) for _ in range(threads)]]
    assert found == [ANSWER] * threads
    assert model.asked == 1
    assert recorded.totals[:2] == (1, threads - 1)
    assert recorded.spent == pytest.approx(16 / 1e6)


def test_threads_that_wait_for_an_error_get_it_too(path: Path) -> None:
    model = Watched(dead, 8)
    recorded = Recorded(model, path)
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(recorded.complete, Request("a")) for _ in range(8)]:
            with fails(["the endpoint is dead"], ModelError):
                future.result()
    model.answer = lambda _: ANSWER
    assert recorded.complete(Request("a")) == ANSWER


def test_many_threads_write_whole_lines(path: Path, hasty: None) -> None:
    rng = np.random.default_rng(0)
    asked = [Request("é" * int(size), draw=str(int(n))) for size, n in rng.integers(1, (20_000, 40), (400, 2))]
    model = Fake(lambda request: Reply(str(request.prompt) + request.draw))
    recorded = Recorded(model, path)
    for reply, request in zip(ask_all(recorded.complete, asked, at_once=16), asked, strict=True):
        assert reply.text == str(request.prompt) + request.draw
    assert len(model.asked) == len(set(asked))
    assert recorded.totals[:2] == (len(set(asked)), len(asked) - len(set(asked)))
    replay = Recorded(Fake(), path, replay=True)
    assert [replay.complete(request).text for request in asked] == [str(r.prompt) + r.draw for r in asked]


# Prices


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
    assert at_most(Continuations("abcdefg", ("a", "b"))) == Usage(3, 0, 2)


# Budgets


def test_a_budget_needs_a_price(path: Path) -> None:
    with fails(["price is unknown", r"\(give it"]):
        Recorded(Fake(), path, budget=5.0)
    for wrong in (-1.0, math.nan, math.inf):
        with fails(["budget"]):
            Recorded(Fake(), path, price=Price(1.0, 1.0), budget=wrong)
    assert not path.exists()


def test_a_call_that_may_cost_too_much_is_not_made(path: Path) -> None:
    """Each call may cost 100 and costs 16 dollars."""
    model, price = Fake(), Price(1e6, 1e6)
    recorded = Recorded(model, path, price=price, budget=140.0)
    asked = [Request("abc", max_tokens=99, draw=str(n)) for n in range(5)]
    for request in asked[:3]:
        recorded.complete(request)
    said = [r"the budget of \$140 ", r"up to \$100", r"\$48 spent so far", r"what is done is kept"]
    for request in asked[3:]:
        with fails(said, BudgetError):
            recorded.complete(request)
    assert model.asked == asked[:3]
    assert recorded.complete(asked[0]) == ANSWER
    assert len(records(path)) == 6
    again = Recorded(model, path, price=price, budget=140.0)
    assert again.spent == 48.0
    assert again.complete(asked[0]) == ANSWER
    with fails(said, BudgetError):
        again.complete(asked[3])
    assert Recorded(model, path, price=price, budget=148.0).complete(asked[3]) == ANSWER
    assert isinstance(BudgetError(""), ModelError)


def test_what_was_put_aside_for_a_call_without_an_answer_is_free_again(path: Path) -> None:
    model = Fake(dead)
    recorded = Recorded(model, path, price=Price(1e6, 1e6), budget=100.0)
    for _ in range(3):
        with fails(["the endpoint is dead"]):
            recorded.complete(Request("abc", max_tokens=99))
    assert recorded.spent == 0.0


def test_a_model_that_does_not_tell_what_it_used_used_the_most_it_could(path: Path) -> None:
    recorded = Recorded(Fake(lambda _: Reply("yes")), path, price=Price(1e6, 1e6), budget=150.0)
    recorded.complete(Request("abc", max_tokens=99))
    assert recorded.spent == recorded.totals.cost == records(path)[1]["meta"]["cost"] == 100.0
    with fails(kind=BudgetError):
        recorded.complete(Request("another", max_tokens=99))


def test_money_for_calls_under_way_is_put_aside(path: Path) -> None:
    """Of 16 that ask at once there is room for 4, and none is answered before all have asked or were refused."""
    came, here = list[bool](), Condition()

    def come(made: bool) -> bool:
        with here:
            came.append(made)
            here.notify_all()
        return made

    def answer(_: Request) -> Reply:
        come(True)
        with here:
            here.wait_for(lambda: len(came) >= 16)
        return Reply("yes", usage=Usage(1, 0, 1))

    recorded = Recorded(Fake(answer), path, price=Price(1e6, 1e6), budget=400.0)

    def ask(request: Request) -> None:
        try:
            recorded.complete(request)
        except BudgetError as error:
            assert "put aside for calls under way" in str(error)  # noqa: PT017
            come(False)

    list(ask_all(ask, [Request("abc", max_tokens=99, draw=str(n)) for n in range(16)], at_once=16))
    assert sum(came) == 4
    assert recorded.spent == 8.0
    assert recorded.complete(Request("abc", max_tokens=99, draw="later")).text == "yes"


class Till:
    """A model that uses up a part of the most it may use, or more than that, and knows what it is owed."""

    name = identity = "till"

    def __init__(self, price: Price, parts: Sequence[float]) -> None:
        self.price, self.parts = price, parts
        self.owed, self.under_way, self.highest, self.lock = 0.0, 0.0, 0.0, Lock()
        self.served: list[int] = []

    def usage(self, request: Request) -> Usage:
        most, part = at_most(request), self.parts[int(request.draw)]
        return Usage(math.ceil(most.prompt * part), 0, math.ceil(most.written * part))

    def complete(self, request: Request, /) -> Reply:
        most, usage = self.price.cost(at_most(request)), self.usage(request)
        with self.lock:
            self.served.append(int(request.draw))
            self.under_way += most
            self.highest = max(self.highest, self.owed + self.under_way)
        time.sleep(1e-4)
        with self.lock:
            self.under_way -= most
            self.owed += self.price.cost(usage)
        return Reply("yes", usage=usage)

    def score(self, request: Continuations, /) -> Scores:
        raise AssertionError


def affordable(costs: Sequence[float], most: Sequence[float], budget: float) -> list[int]:
    """Which of some calls are made, one after the other."""
    made, spent = list[int](), 0.0
    for n, cost in enumerate(costs):
        if spent + most[n] <= budget:
            made.append(n)
            spent += cost
    return made


@pytest.mark.parametrize("seed", range(100))
def test_what_is_spent_stays_within_the_budget(path: Path, seed: int, hasty: None) -> None:
    rng = np.random.default_rng(seed)
    threads = 1 if seed % 4 == 0 else int(rng.integers(2, 33))
    price = Price(*map(float, rng.uniform(0.1, 20.0, 2)))
    sizes = map(int, rng.integers(1, 99, 40))
    asked = [Request("word " * size, max_tokens=size, draw=str(n)) for n, size in enumerate(sizes)]
    highest_part = 1.0 if seed % 2 == 0 else 1.5
    model = Till(price, [float(part) for part in rng.uniform(0.1, highest_part, 40)])
    costs = [price.cost(model.usage(request)) for request in asked]
    most = [price.cost(at_most(request)) for request in asked]
    budget = float(rng.uniform(0.0, 1.0)) * math.fsum(costs)
    recorded = Recorded(model, path, price=price, budget=budget)

    def ask(request: Request) -> bool:
        try:
            return recorded.complete(request).text == "yes"
        except BudgetError:
            return False

    made = [n for n, answered in enumerate(ask_all(ask, asked, at_once=threads)) if answered]
    assert made == sorted(model.served)
    spent = pytest.approx(math.fsum(costs[n] for n in made))
    assert recorded.spent == spent
    assert recorded.totals.cost == spent
    if highest_part == 1.0:
        assert model.highest <= budget + 1e-12
    surplus = max(max(cost - bound for cost, bound in zip(costs, most, strict=True)), 0.0)
    assert recorded.spent <= budget + threads * surplus + 1e-12
    if threads == 1:
        assert made == affordable(costs, most, budget)
    assert Recorded(model, path, price=price, budget=budget).spent == spent


def test_no_money_is_lost_or_made_by_many_threads() -> None:
    spending = Spending(Price(1e6, 1e6), 1e9)

    def spend(n: int) -> None:
        reserved = spending.reserve(Request("abc", max_tokens=1))
        spending.settle(reserved, Usage(n, 0, 0))

    list(ask_all(spend, range(1, 1001), at_once=32))
    assert spending.spent == 500_500.0
    assert spending.reserve(Request("", max_tokens=1_000_000_000 - 500_500)) == 1e9 - 500_500
