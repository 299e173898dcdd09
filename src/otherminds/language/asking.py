"""Asking a language model for a structured reply: prompt templates, the form of a reply, strict reading, and retries.

A reply that cannot be read is a value (`Unreadable`) that says why. Its content is never guessed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ValidationError

from otherminds.errors import fault_place, faults
from otherminds.files import strict_json
from otherminds.files.text import one_line
from otherminds.language.model import NOTHING, LanguageModel, Message, Request, Usage

M = TypeVar("M", bound=BaseModel)
M_co = TypeVar("M_co", bound=BaseModel, covariant=True)
U = TypeVar("U")
Schema = Mapping[str, Any]
UnreadableKind = Literal["unreadable", "cut", "refused", "filtered"]

LONGEST_REPLY = 100_000  # characters of a reply that is read at all; far above any limit on tokens; chosen
SHOWN = 200  # characters of a reply or a fault that are shown; chosen
FENCES = ("```", "```json")
ECHOED = 1000  # characters of an unreadable reply that the model is shown again; chosen, not tuned
QUOTED = 80  # characters of an unreadable reply that are quoted in the next prompt; chosen, not tuned
LONGEST_TEXT = 400  # characters of a text that goes into later prompts; chosen, not tuned


def prompts_of(package: str) -> Callable[..., str]:
    """The function that fills in templates of `package`: `fill(NAME, field=value)` reads `prompts/NAME.txt` there.

    `fill` raises KeyError if the template names a field that is not given. A change of a template alters the ledger key
    of every call that uses it.
    """

    @cache
    def template(name: str) -> str:
        """As what `%` fills in, ten times as fast as a Template."""
        text = Template((resources.files(package) / "prompts" / f"{name}.txt").read_text("utf-8").strip())
        fields = {field: f"%({field})s" for field in text.get_identifiers()}
        return Template(text.template.replace("%", "%%")).substitute(fields)

    def fill(name: str, /, **fields: object) -> str:
        return template(name) % fields

    return fill


@dataclass(frozen=True)
class Unreadable:
    """A reply that is not what was asked for: why, its beginning, and the kind of failure, to be counted apart."""

    why: str
    text: str = ""
    kind: UnreadableKind = "unreadable"


def unreadable(why: str, text: str, kind: UnreadableKind = "unreadable") -> Unreadable:
    """An unreadable reply, with the first 200 characters of its text."""
    return Unreadable(why, text[:SHOWN], kind)


def read_json(text: str, kind: type[M]) -> M | Unreadable:
    """A reply as a value of this kind. The whole text has to be its JSON, or one fenced block with its JSON.

    Prose is not searched for JSON: an object quoted there may be one that the model rejects.
    """
    if len(text) > LONGEST_REPLY:
        return unreadable(f"is longer than {LONGEST_REPLY:,} characters", text)
    try:
        decoded = strict_json.loads(_unfenced(text))
        json.dumps(decoded, ensure_ascii=False).encode()  # an escaped lone surrogate is JSON, but cannot be written
        return kind.model_validate(decoded)
    except RecursionError:
        return unreadable("is nested too deeply", text)
    except ValidationError as error:
        first = faults(error)[0]
        return unreadable(f"{fault_place(first, SHOWN) or 'the reply'}: {first['msg'][:SHOWN]}", text)
    except strict_json.RepeatedNameError:
        return unreadable("is not JSON: a key is there twice", text)  # the model may be shown this: it is prompt text
    except ValueError as error:
        return unreadable(f"is not JSON: {str(error)[:SHOWN]}", text)


def _unfenced(text: str) -> str:
    """The content of a fenced block if the text is one, else the text. A regular expression could be slow here."""
    opening, newline, rest = text.strip().partition("\n")
    return rest.removesuffix("```") if newline and opening.rstrip() in FENCES and rest.endswith("```") else text


def correction(reply: Unreadable) -> str:
    """One sentence for the next attempt: the beginning of the last reply, quoted, and what is wrong with it."""
    text = plain(reply.text)
    quoted = json.dumps(text if len(text) <= QUOTED else f"{text[:QUOTED]}…", ensure_ascii=False)
    quotation = f", {quoted}," if text else ""
    return f"Your last reply{quotation} could not be read: it {one_line(reply.why)}."


class Exchange(NamedTuple):
    """One question to a model and its reply, as recorded in a row.

    `reading` is how the reply was understood, or why it is unreadable, then with the `kind` of failure; `text` is the
    reply itself, or the probabilities if scores were asked for. `constrained`: it could be nothing but an option.
    """

    purpose: str
    reading: str
    text: str
    usage: Usage = NOTHING
    readable: bool = True
    kind: UnreadableKind = "unreadable"
    constrained: bool = False


@dataclass(frozen=True)
class ReplyForm(Generic[M]):
    """A kind of reply: the JSON schema that it has to follow, and a check that returns what is wrong with it.

    `in_words` reads a reply that has no braces and so is no JSON object, if words can say as much.
    """

    schema: str
    kind: type[M]
    fault: Callable[[M], str | None]
    in_words: Callable[[str], M | Unreadable] | None = None

    def read(self, text: str) -> M | Unreadable:
        """A reply as a value, or why it cannot be read."""
        if self.in_words and not {"{", "}"} & set(text):
            return self.in_words(text)
        reply = read_json(text, self.kind)
        if isinstance(reply, Unreadable):
            return reply
        fault = self.fault(reply)
        return unreadable(fault, text) if fault else reply


class StrictReply(BaseModel, extra="forbid", strict=True, frozen=True):
    """A reply that may have no other fields than its own, each of exactly its type."""


class StructuredAnswer(NamedTuple, Generic[M_co]):
    """The value that was read, None if no reply could be read, and all exchanges."""

    value: M_co | None
    exchanges: tuple[Exchange, ...]

    def read(self, part: Callable[[M_co], U]) -> U | None:
        """`part` of the value; None without a value."""
        return None if self.value is None else part(self.value)


@dataclass(frozen=True)
class Asker:
    """A language model with the settings of its requests.

    An unreadable reply is asked for again, in at most `attempts` requests: the model is shown the reply and what is
    wrong with it. `retry_temperature` holds for all requests after the first;
    None keeps the temperature. `draw` names the episode: together with `seed` it distinguishes its requests from those
    of other episodes. Raises ValueError unless attempts and max_tokens are at least 1.
    """

    model: LanguageModel
    draw: str = ""
    seed: int = 0
    temperature: float = 0.1  # as published (Cross et al. 2024, table 4)
    max_tokens: int = 1000  # chosen, not tuned; the authors allowed 4000
    attempts: int = 3  # chosen, not tuned
    retry_temperature: float | None = None

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.max_tokens < 1:
            raise ValueError("there has to be at least one attempt, of at least one token")

    def within(self, place: str) -> Self:
        """An asker for a part of the episode: its requests are distinct from those of all other parts."""
        return replace(self, draw=f"{self.draw} {place}".strip())

    def ask(self, purpose: str, prompt: tuple[Message, ...], form: ReplyForm[M]) -> StructuredAnswer[M]:
        """The first readable reply of this form. Raises ModelError if the model cannot be asked."""
        exchanges: list[Exchange] = []
        turns = prompt
        for attempt in range(self.attempts):
            draw = f"{self.draw} {purpose} {attempt}".strip()
            seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
            temperature = self.temperature
            if attempt and self.retry_temperature is not None:
                temperature = self.retry_temperature
            request = Request(turns, self.max_tokens, temperature, seed, schema=form.schema, draw=draw)
            reply = self.model.complete(request)
            reading = form.read(reply.text)
            if not isinstance(reading, Unreadable):
                in_json = one_line(reading.model_dump_json(by_alias=True))
                exchanges.append(Exchange(purpose, in_json, reply.text, reply.usage))
                return StructuredAnswer(reading, tuple(exchanges))
            why = one_line(f"was cut off: {reading.why}" if reply.cut else reading.why)
            exchanges.append(Exchange(purpose, why, reply.text, reply.usage, readable=False))
            again = (
                f"That cannot be read: the reply {why}. Answer the same question again, with one JSON object in the "
                "form that was asked for, and with nothing else."
            )
            turns = (*prompt, Message("assistant", reply.text[:ECHOED].strip() or "…"), Message("user", again))
        return StructuredAnswer(None, tuple(exchanges))


def text_fault(text: str) -> str | None:
    """What is wrong with a text that goes into later prompts: it has no letters, or more than 400 characters."""
    if not any(c.isalpha() for c in text):
        return "has no words in it"
    return f"has more than {LONGEST_TEXT} characters" if len(text) > LONGEST_TEXT else None


def plain(text: str) -> str:
    """A text on one line without unprintable characters, so that it cannot pass for another part of a prompt."""
    words = (word if word.isprintable() else "".join(filter(str.isprintable, word)) for word in text.split())
    return " ".join(filter(None, words))


def listed(lines: Sequence[str]) -> str:
    """Lines as a list, one item a line."""
    return "\n".join(f"- {plain(line)}" for line in lines)


def object_schema(**properties: Schema) -> Schema:
    """The JSON schema of an object with exactly these properties."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def schema_text(**properties: Schema) -> str:
    """The JSON schema of an object with exactly these properties, as text."""
    return json.dumps(object_schema(**properties))


def enum_schema(values: Sequence[str] | Sequence[int]) -> Schema:
    """The JSON schema of one of these texts, or of one of these integers."""
    return {"type": "integer" if isinstance(values[0], int) else "string", "enum": [*values]}


def list_schema(items: Schema, most: int) -> Schema:
    """The JSON schema of a list of at most `most` items."""
    return {"type": "array", "items": items, "maxItems": most}
