"""Asking a language model for JSON of a certain form: a few times, and told each time what was wrong."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from otherminds.files.text import one_line
from otherminds.language.asking import Exchange, ReplyForm
from otherminds.language.model import LanguageModel, Message, Request
from otherminds.language.replies import Unreadable
from otherminds.language.templates import prompts_of

fill = prompts_of("otherminds.papers.hypothetical_minds")

M = TypeVar("M", bound=BaseModel)
M_co = TypeVar("M_co", bound=BaseModel, covariant=True)
U = TypeVar("U")
Schema = Mapping[str, Any]

ECHOED = 1000
SHOWN = 400


class Written(BaseModel):
    """A reply: these fields and no others, of these types and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(NamedTuple, Generic[M_co]):
    """What came out of asking, None if no reply could be read, and all that was said."""

    value: M_co | None
    said: tuple[Exchange, ...]

    def read(self, part: Callable[[M_co], U]) -> U | None:
        """A part of what came out, if anything did."""
        return None if self.value is None else part(self.value)


@dataclass(frozen=True)
class Asker:
    """A language model and how it is asked.

    A reply that cannot be read is shown to the model with what is wrong with it, until there were `attempts` in all.
    `draw` names the episode: with the seed, it tells its calls from those of others.
    """

    model: LanguageModel
    draw: str = ""
    seed: int = 0
    temperature: float = 0.1
    max_tokens: int = 1000
    attempts: int = 3

    def __post_init__(self) -> None:
        """Raises ValueError if nothing would be asked."""
        if self.attempts < 1 or self.max_tokens < 1:
            raise ValueError("there has to be at least one attempt, of at least one token")

    def within(self, place: str) -> Self:
        """The same for a part of the episode."""
        return replace(self, draw=f"{self.draw} {place}".strip())

    def ask(self, purpose: str, prompt: tuple[Message, ...], form: ReplyForm[M]) -> Answer[M]:
        """A reply of this form, or None. Raises ModelError if the model cannot be asked."""
        said: list[Exchange] = []
        turns = prompt
        for attempt in range(self.attempts):
            reply = self.model.complete(self._request(f"{purpose} {attempt}", turns, form.schema))
            found = form.read(reply.text)
            if not isinstance(found, Unreadable):
                said.append(Exchange(purpose, one_line(found.model_dump_json()), reply.text, reply.usage))
                return Answer(found, tuple(said))
            why = one_line(f"was cut off: {found.why}" if reply.cut else found.why)
            said.append(Exchange(purpose, why, reply.text, reply.usage, readable=False))
            wrong = Message("assistant", reply.text[:ECHOED].strip() or "…")
            turns = (*prompt, wrong, Message("user", fill("hm-again", why=why)))
        return Answer(None, tuple(said))

    def _request(self, step: str, turns: tuple[Message, ...], schema: str) -> Request:
        draw = f"{self.draw} {step}".strip()
        seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
        return Request(turns, self.max_tokens, self.temperature, seed, schema=schema, draw=draw)


def text_fault(text: str, most: int = SHOWN) -> str | None:
    """What is wrong with a text that is to be shown again: it has no letters, or too many."""
    if not any(c.isalpha() for c in text):
        return "has no words in it"
    return f"has more than {most} characters" if len(text) > most else None


def plain(text: str) -> str:
    """A text on one line, in which everything can be seen, so that it cannot pass for another part of a prompt."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def listed(lines: Sequence[str]) -> str:
    """Each on a line of its own."""
    return "\n".join(f"- {plain(line)}" for line in lines)


def closed(**properties: Schema) -> str:
    """The JSON schema of an object with just these properties, as text."""
    return json.dumps(an_object(**properties))


def an_object(**properties: Schema) -> Schema:
    """The JSON schema of an object with just these properties."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def one_of(values: Sequence[str]) -> Schema:
    """The JSON schema of one of these texts."""
    return {"type": "string", "enum": [*values]}
