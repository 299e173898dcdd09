"""A provider that fails in all the ways there are, keeps accounts, and knows how every call to it has to end.

    flaky = Flaky(seed=1)
    with serve(ECHO, fault=flaky) as server:
        asked = ask_many(server.url, 400)
    check(flaky, asked)

What a request meets depends on the seed, the number of the call and how often that was heard, and on nothing else.
"""

from __future__ import annotations

import gzip
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np

from endpoint_server import Body, Fault, Heard, error
from otherminds.language.endpoint import LONGEST_WAIT, Endpoint
from otherminds.language.model import LanguageModel, Message, ModelError, Reply, Request, UncertainError, Usage
from otherminds.language.scripted import Scripted, text_of

ECHO = Scripted("echo", lambda request: f"{text_of(request)} and on")
SECRET = "sk-proj-0123456789-abcdefghij"
ATTEMPTS = 4
SILENT = 40
TIMEOUT = 0.2
LARGE = 10_000_001

End = Literal["answered", "uncertain", "failed", "again"]


class Trouble(NamedTuple):
    """What a request meets, what becomes of its call, and for how long it has to wait if the server says so."""

    name: str
    end: End
    fault: Fault | None = None
    wait: float | None = None

    @property
    def billed(self) -> bool:
        """Whether a provider asks to be paid for it: for all that it received and did not refuse."""
        return self.end in ("answered", "uncertain")


def _answer(**more: object) -> Fault:
    return Fault(body=json.dumps({"choices": [{"text": "x", "message": {"content": "x"}}], **more}).encode())


def _later(text: str, **more: str) -> Fault:
    return error(429, "slow down", Retry_After=text, **more)


def _said(name: str, body: bytes, *headers: tuple[str, str]) -> Trouble:
    """An answer with the status of success that is none."""
    return Trouble(name, "uncertain", Fault(body=body, headers=headers))


NOON, SOON = "Wed, 21 Oct 2015 12:00:00 GMT", "Wed, 21 Oct 2015 12:00:09 GMT"
GOOD = Trouble("answer", "answered")
TROUBLES = (
    Trouble("answer without usage", "answered", _answer()),
    Trouble("answer of NaN tokens", "answered", _answer(usage={"prompt_tokens": math.nan, "completion_tokens": 1})),
    Trouble("answer of absurd tokens", "answered", _answer(usage={"prompt_tokens": 10**400, "completion_tokens": 1})),
    Trouble("429", "again", error(429, "slow down")),
    Trouble("429 seconds", "again", _later("3"), 3.0),
    Trouble("429 date", "again", _later(SOON, Date=NOON), 9.0),
    Trouble("429 past", "again", _later("-5"), 0.0),
    Trouble("429 nan", "again", _later("nan")),
    Trouble("429 words", "again", _later("soon")),
    Trouble("429 an hour", "again", _later("3600"), 3600.0),
    Trouble("429 for ever", "again", _later("1e999"), math.inf),
    Trouble("429 some day", "again", _later("Wed, 21 Oct 2215 12:00:00 GMT", Date=NOON), 6.3e9),
    Trouble("500", "again", error(500, "broken")),
    Trouble("502 page", "again", Fault(502, b"<html>bad gateway")),
    Trouble("503", "again", error(503, "later", Retry_After="0.5"), 0.5),
    Trouble("503 large", "again", Fault(503, b" " * LARGE)),
    Trouble("redirect", "failed", error(307, "", Location="http://else/v1")),
    Trouble("400", "failed", error(400, "no such thing")),
    Trouble("401", "failed", error(401, f"who is {SECRET}?")),
    Trouble("drop", "uncertain", Fault(kind="drop")),
    Trouble("reset", "uncertain", Fault(kind="reset")),
    Trouble("half", "uncertain", Fault(body=_answer().body, kind="half")),
    Trouble("flood", "uncertain", Fault(kind="flood")),
    _said("large", b" " * LARGE),
    _said("empty", b""),
    _said("half JSON", b'{"choices": ['),
    _said("deep JSON", b"[" * 100_000),
    _said("page", b"<!doctype html><p>welcome"),
    _said("other shape", b'{"choices": {"text": "x"}}'),
    _said("no text", b'{"choices": [{"text": null}]}'),
    _said("NaN", b'{"choices": [{"text": NaN}]}'),
    _said("a bare NaN", b"NaN"),
    _said("error", b'{"error": {"message": "insufficient_quota", "code": 429}}'),
    _said("error beside", b'{"error": "overloaded", "choices": [{"text": "x", "message": {"content": "x"}}]}'),
    _said(
        "error within", b'{"choices": [{"text": "x", "message": {"content": "x"}, "error": {"message": "bad key"}}]}'
    ),
    _said("error at the end", b'{"choices": [{"text": "x", "finish_reason": "error"}]}'),
    _said("gzip", gzip.compress(_answer().body), ("Content-Encoding", "gzip")),
)
SILENCES = (
    Trouble("hang", "uncertain", Fault(kind="hang")),
    Trouble("stall", "uncertain", Fault(body=_answer().body, kind="stall")),
    Trouble("drip", "uncertain", Fault(kind="drip")),
    Trouble("drip of a status", "uncertain", Fault(kind="status")),
    Trouble("drip of headers", "uncertain", Fault(kind="header")),
    Trouble("drip of interim answers", "uncertain", Fault(kind="interim")),
    Trouble("drip of chunks", "uncertain", Fault(kind="chunks")),
)


@dataclass
class Flaky:
    """The accounts of a provider: what every call met, in its order. Now and then a call meets silence, at once."""

    seed: int
    good: float = 0.5
    met: dict[int, list[Trouble]] = field(default_factory=lambda: defaultdict(list))
    lock: Lock = field(default_factory=Lock)

    def __call__(self, heard: Heard) -> Fault | None:
        """What a request meets."""
        call = _number(heard.body)
        with self.lock:
            trouble = self._trouble(call, len(self.met[call]))
            self.met[call].append(trouble)
        return trouble.fault

    def _trouble(self, call: int, attempt: int) -> Trouble:
        rng = np.random.default_rng([self.seed, call, attempt])
        if is_silent(call):
            return SILENCES[rng.integers(len(SILENCES))]
        return GOOD if rng.random() < self.good else TROUBLES[rng.integers(len(TROUBLES))]

    @property
    def billed(self) -> int:
        """How many requests are to be paid for."""
        return sum(trouble.billed for met in self.met.values() for trouble in met)


def is_silent(call: int) -> bool:
    """Whether a call meets silence; all others can be waited for without being afraid of a slow machine."""
    return call % SILENT == SILENT - 1


def _number(body: Body) -> int:
    return int(body["prompt"] if "prompt" in body else body["messages"][0]["content"])


class Asked(NamedTuple):
    """How calls ended, all waits between their attempts, and the seconds of the longest call that met silence."""

    ends: tuple[Reply | Exception, ...]
    waits: tuple[float, ...]
    longest: float


def as_it_is(model: Endpoint) -> LanguageModel:
    """Nothing between who asks and the model."""
    return model


def ask_many(
    url: str, calls: int, *, at_once: int = 8, through: Callable[[Endpoint], LanguageModel] = as_it_is
) -> Asked:
    """Make so many calls, of both kinds, and wait for nothing but silent servers."""
    waits, silences = list[float](), [0.0]
    patient, hasty = (
        through(Endpoint("tiny", url, key=SECRET, attempts=ATTEMPTS, wait=waits.append, timeout=timeout))
        for timeout in (60.0, TIMEOUT)
    )

    def ask(call: int) -> Reply | Exception:
        prompt = str(call) if call % 2 else (Message("user", str(call)),)
        began = time.monotonic()
        try:
            return (hasty if is_silent(call) else patient).complete(Request(prompt))
        except Exception as problem:  # whatever it is, it has to be told with the call that it came of
            problem.__context__ = None  # which holds what was read of the answer
            return problem.with_traceback(None)
        finally:
            if is_silent(call):
                silences.append(time.monotonic() - began)

    with ThreadPoolExecutor(at_once) as pool:
        return Asked(tuple(pool.map(ask, range(calls))), tuple(waits), max(silences))


def check(flaky: Flaky, asked: Asked) -> None:
    """Every call has ended as what it met demands, and all sums add up."""
    waited = 0.0
    for call, end in enumerate(asked.ends):
        met = flaky.met[call]
        told = f"call {call} met {[trouble.name for trouble in met]} and ended in {end!r}"
        assert 1 <= len(met) <= ATTEMPTS, told
        assert all(trouble.end == "again" and _wait(trouble, 0) <= LONGEST_WAIT for trouble in met[:-1]), told
        assert type(end) is _type(met[-1]), told
        assert met[-1].end != "again" or len(met) == ATTEMPTS or _wait(met[-1], 0) > LONGEST_WAIT, told
        waited += math.fsum(_wait(trouble, attempt) for attempt, trouble in enumerate(met[:-1]))
    answered = [end for end in asked.ends if isinstance(end, Reply)]
    problems = [end for end in asked.ends if isinstance(end, ModelError)]
    uncertain = [end for end in problems if isinstance(end, UncertainError)]
    assert len(answered) + len(problems) == len(asked.ends) == len(flaky.met)
    assert flaky.billed == len(answered) + len(uncertain)
    assert math.isclose(math.fsum(asked.waits), waited)
    assert asked.longest < TIMEOUT + 1.0
    told_of = sum(met[-1] is GOOD for met in flaky.met.values())
    assert sum((end.usage for end in answered), Usage()).written == 3 * told_of
    assert all(_is_one_line(str(problem)) for problem in problems)


def _type(last: Trouble) -> type:
    return {"answered": Reply, "uncertain": UncertainError}.get(last.end, ModelError)


def _wait(trouble: Trouble, attempt: int) -> float:
    return 2.0**attempt if trouble.wait is None else trouble.wait


def _is_one_line(line: str) -> bool:
    return line.isprintable() and line.startswith("tiny: ") and SECRET not in line and len(line) < 500
