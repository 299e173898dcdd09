"""The lines of a record of calls: what is written down of a call, its key, and how that is read again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from numbers import Integral
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from otherminds.errors import InputError
from otherminds.language.model import Continuations, ModelError, Reply, Request, Scores

VERSION = 1
DIGITS = 32
SHOWN = 40

Key = Annotated[str, Field(pattern=f"^[0-9a-f]{{{DIGITS}}}$")]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Answer = Reply | Scores


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Sent(_Strict):
    v: int
    sent: Key
    t: str


class _Meta(_Strict):
    name: str
    seconds: Amount
    t: str
    cost: Amount = 0.0


class _Done(_Strict):
    v: int
    key: Key
    request: dict[str, object]
    response: dict[str, object]
    meta: _Meta


class Entry(NamedTuple):
    """What a line says of a call: its key, what came of it, and its model, or when it was sent if it has no answer."""

    key: str
    answer: Answer | None = None
    cost: float = 0.0
    about: str = ""


KINDS: Mapping[str, TypeAdapter[Answer]] = {"complete": TypeAdapter(Reply), "score": TypeAdapter(Scores)}


def read_line(line: bytes) -> Entry:
    """What a line says: a call that was sent, or one with its answer. Raises ValueError if it is none of these."""
    try:
        found = json.loads(line.decode())
        if not isinstance(found, dict) or "v" not in found:
            raise ValueError("is no record of a call")
        if found["v"] != VERSION:
            raise ValueError(f"is of version {str(found['v'])[:SHOWN]}, and this reads version {VERSION}")
        return _sent(_Sent.model_validate(found)) if "sent" in found else _answered(_Done.model_validate(found))
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"`{'.'.join(map(str, first['loc']))[:SHOWN]}`: {first['msg']}") from None


def _sent(sent: _Sent) -> Entry:
    return Entry(sent.sent, about=sent.t)


def _answered(done: _Done) -> Entry:
    if done.key != key_of(done.request):
        raise ValueError("the key is not that of the request")
    kind = KINDS.get(str(done.request.get("kind")))
    if kind is None:
        raise ValueError("the kind of the request is unknown")
    answer = kind.validate_python(done.response)
    if _response(answer) != done.response:
        raise ValueError("the response says more than an answer")
    return Entry(done.key, answer, done.meta.cost, str(done.request.get("model", "")))


def answered_line(question: Mapping[str, object], answer: Answer, meta: Mapping[str, object]) -> tuple[bytes, Answer]:
    """The line of a call that was answered, and its answer as it will be read. Raises ModelError if it could not be."""
    done = {"v": VERSION, "key": key_of(question), "request": question, "meta": meta}
    try:
        line = line_of({**done, "response": _response(answer)})
        recorded = read_line(line).answer
    except (TypeError, ValueError) as error:
        raise ModelError(f"{meta['name']} gave an answer that cannot be recorded: {error}") from None
    assert recorded is not None
    return line, recorded


def _response(answer: Answer) -> dict[str, object]:
    """An answer in JSON; there, no number stands for the log of 0."""
    found = {**asdict(answer), "usage": answer.usage._asdict()}
    if isinstance(answer, Scores):
        found["log_probs"] = ["-inf" if value == -math.inf else value for value in answer.log_probs]
        found["tokens"] = list(answer.tokens)
    return found


def question_of(identity: str, request: Request | Continuations) -> Mapping[str, object]:
    """All that decides what is answered, as it is read from a record. Raises InputError for an unsound temperature."""
    asked = asdict(request)
    if isinstance(request, Request):
        if not math.isfinite(request.temperature):
            raise InputError(f"a temperature of {request.temperature} is none")
        asked["temperature"] = float(request.temperature) + 0.0  # 0 and -0.0 are equal to 0.0
    kind = "complete" if isinstance(request, Request) else "score"
    found: dict[str, object] = json.loads(_json({**asked, "kind": kind, "model": identity}))
    return found


def key_of(question: Mapping[str, object]) -> str:
    """What a call is known by: a hash of all that decides what is answered."""
    return hashlib.sha256(_json(question)).hexdigest()[:DIGITS]


def line_of(record: Mapping[str, object]) -> bytes:
    """A record as a line of a file."""
    return _json(record) + b"\n"


def _json(value: object) -> bytes:
    """The one way to write a value down; half a character, for which there is no UTF-8, is escaped."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, default=_stand_in)
    return text.encode("utf-8", "backslashreplace")


def _stand_in(value: object) -> str | int:
    """What stands for an image, and for an integer of numpy."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Integral):
        return int(value)
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")
