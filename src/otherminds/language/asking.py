"""Asking a language model for a structured reply: recorded exchanges, the form a reply must have, and retries."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from otherminds.files.text import one_line
from otherminds.language.model import NOTHING, LanguageModel, Message, Request, Usage
from otherminds.language.replies import Unreadable, read_json, unreadable

M = TypeVar("M", bound=BaseModel)
M_co = TypeVar("M_co", bound=BaseModel, covariant=True)
U = TypeVar("U")
Schema = Mapping[str, Any]

ECHOED = 1000  # characters of an unreadable reply that the model is shown again; chosen, not tuned
LONGEST_TEXT = 400  # characters of a text that goes into later prompts; chosen, not tuned


class Exchange(NamedTuple):
    """One reply: what was asked, what was made of it, and the reply itself; for scores, the probabilities."""

    purpose: str
    reading: str
    text: str
    usage: Usage = NOTHING
    readable: bool = True


@dataclass(frozen=True)
class ReplyForm(Generic[M]):
    """A kind of reply: the JSON schema that it has to follow, and a check that returns what is wrong with it."""

    schema: str
    kind: type[M]
    fault: Callable[[M], str | None]

    def read(self, text: str) -> M | Unreadable:
        """A reply as a value, or why it cannot be read."""
        found = read_json(text, self.kind)
        if isinstance(found, Unreadable):
            return found
        fault = self.fault(found)
        return unreadable(fault, text) if fault else found


class StrictReply(BaseModel):
    """A reply that may have no other fields than its own, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StructuredAnswer(NamedTuple, Generic[M_co]):
    """The value that was read, None if no reply could be read, and all exchanges."""

    value: M_co | None
    said: tuple[Exchange, ...]

    def read(self, part: Callable[[M_co], U]) -> U | None:
        """`part` of the value; None without a value."""
        return None if self.value is None else part(self.value)


@dataclass(frozen=True)
class Asker:
    """A language model with the settings of its requests.

    An unreadable reply is shown to the model with what is wrong with it, in at most `attempts` requests. `draw` names
    the episode: together with `seed` it distinguishes its requests from those of other episodes. Raises ValueError
    unless attempts and max_tokens are at least 1.
    """

    model: LanguageModel
    draw: str = ""
    seed: int = 0
    temperature: float = 0.1  # as published (Cross et al. 2024, table 4)
    max_tokens: int = 1000  # chosen, not tuned; the authors allowed 4000
    attempts: int = 3  # chosen, not tuned

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.max_tokens < 1:
            raise ValueError("there has to be at least one attempt, of at least one token")

    def within(self, place: str) -> Self:
        """An asker for a part of the episode: its requests are distinct from those of all other parts."""
        return replace(self, draw=f"{self.draw} {place}".strip())

    def ask(self, purpose: str, prompt: tuple[Message, ...], form: ReplyForm[M]) -> StructuredAnswer[M]:
        """The first readable reply of this form. Raises ModelError if the model cannot be asked."""
        said: list[Exchange] = []
        turns = prompt
        for attempt in range(self.attempts):
            draw = f"{self.draw} {purpose} {attempt}".strip()
            seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
            request = Request(turns, self.max_tokens, self.temperature, seed, schema=form.schema, draw=draw)
            reply = self.model.complete(request)
            found = form.read(reply.text)
            if not isinstance(found, Unreadable):
                said.append(Exchange(purpose, one_line(found.model_dump_json()), reply.text, reply.usage))
                return StructuredAnswer(found, tuple(said))
            why = one_line(f"was cut off: {found.why}" if reply.cut else found.why)
            said.append(Exchange(purpose, why, reply.text, reply.usage, readable=False))
            again = (
                f"That cannot be read: the reply {why}. Answer the same question again, with one JSON object in the "
                "form that was asked for, and with nothing else."
            )
            turns = (*prompt, Message("assistant", reply.text[:ECHOED].strip() or "…"), Message("user", again))
        return StructuredAnswer(None, tuple(said))


def text_fault(text: str, most: int = LONGEST_TEXT) -> str | None:
    """What is wrong with a text that goes into later prompts: it has no letters, or more than `most` characters."""
    if not any(c.isalpha() for c in text):
        return "has no words in it"
    return f"has more than {most} characters" if len(text) > most else None


def plain(text: str) -> str:
    """A text on one line without unprintable characters, so that it cannot pass for another part of a prompt."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def listed(lines: Sequence[str]) -> str:
    """Lines as a list, one item a line."""
    return "\n".join(f"- {plain(line)}" for line in lines)


def object_schema(**properties: Schema) -> Schema:
    """The JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def schema_text(**properties: Schema) -> str:
    """The JSON schema of an object with exactly these properties, as text."""
    return json.dumps(object_schema(**properties))


def enum_schema(values: Sequence[str]) -> Schema:
    """The JSON schema of one of these texts."""
    return {"type": "string", "enum": [*values]}
