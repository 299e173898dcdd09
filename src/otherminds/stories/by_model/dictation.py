"""Asking a language model for data in one form: a second attempt at a reply, and bounds on calls and time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from pydantic import BaseModel

from otherminds.language.asking import Unreadable, correction, plain, read_json
from otherminds.language.model import LanguageModel, Message, Reply, Request

ATTEMPTS = 2  # at a readable reply; chosen
RETRY_TEMPERATURE = 0.7  # sampling temperature of every attempt after the first; chosen, not tuned


def _compact(schema: dict[str, Any]) -> None:
    """Require every key, as servers demand, and drop the titles, which repeat the keys."""
    schema.pop("title", None)
    schema["required"] = list(schema["properties"])
    for values in schema["properties"].values():
        values.pop("title", None)


class Form(BaseModel, extra="forbid", strict=True, json_schema_extra=_compact):
    """The schema of a reply: these keys and no others.

    Models are sent the schema with the docstrings of its classes: forms have none.
    """


def as_text(schema: dict[str, Any]) -> str:
    """The schema in few tokens, with its keys in the order in which to think."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


M = TypeVar("M", bound=Form)
T = TypeVar("T")


class NonsenseError(ValueError):
    """A reply has the right form but cannot be true of the story; for example, it names an unknown person."""


class SpentError(Exception):
    """A model has used up its calls or its time."""


@dataclass
class BoundedModel:
    """A language model that answers at most `calls` requests, all of them within `seconds` from now.

    A call that has not ended by then is left to end by itself, and its reply is dropped.
    """

    model: LanguageModel
    seconds: float
    calls: int
    began: float = field(default_factory=monotonic)

    def complete(self, request: Request) -> Reply:
        """The reply of the model. Raises SpentError beyond the bounds, ModelError if the model does not answer."""
        remaining = self.began + self.seconds - monotonic()
        if self.calls == 0 or remaining <= 0:
            raise SpentError(f"{self.model.name} has no {'calls' if self.calls == 0 else 'time'} left")
        self.calls -= 1
        outcomes = SimpleQueue[Reply | BaseException]()

        def call() -> None:
            try:
                outcomes.put(self.model.complete(request))
            except BaseException as error:
                outcomes.put(error)

        Thread(target=call, daemon=True).start()  # the threads of a pool would keep the program from ending
        try:
            outcome = outcomes.get(timeout=remaining)
        except Empty:
            raise SpentError(f"{self.model.name} gave no reply within {self.seconds:g} s") from None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def dictated(
    model: BoundedModel,
    prompt: str,
    form: type[M],
    sense: Callable[[M], T],
    *,
    draw: str,
    max_tokens: int,
    schema: str = "",
) -> T | Unreadable:
    """`sense` of the first reply that has this form and for which it does not raise NonsenseError.

    `schema` is sent in place of that of `form`: the same, with some strings limited to names. After an unreadable reply
    the model is told why and asked again, with another seed and a temperature above 0, `ATTEMPTS` times in all. If no
    reply can be read within the bounds of the model, the result says why, with each reason once.
    Raises ModelError if the model does not answer.
    """
    reasons: list[str] = []
    turn = Message("user", prompt)
    schema = schema or as_text(form.model_json_schema())
    for attempt in range(ATTEMPTS):
        temperature = RETRY_TEMPERATURE if attempt else 0.0
        request = Request((turn,), max_tokens, temperature, attempt, schema=schema, draw=f"{draw} {attempt}")
        try:
            reply = model.complete(request)
        except SpentError as spent:
            return Unreadable("; ".join(dict.fromkeys([*reasons, str(spent)])))
        data = read_json(reply.text, form)
        try:
            if not isinstance(data, Unreadable):
                return sense(data)
            why = data.why
        except NonsenseError as nonsense:
            why = str(nonsense)
        reasons.append(plain(f"was cut off, and {why}" if reply.cut else why))
        turn = replace(turn, text=f"{prompt}\n\n{correction(Unreadable(reasons[-1], reply.text))}")
    return Unreadable(f"none of {ATTEMPTS} replies could be read: {'; '.join(dict.fromkeys(reasons))}")
