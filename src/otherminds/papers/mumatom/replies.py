"""What LIMP asks a language model to write, and how the replies are read; none of them is ever made up."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, RootModel

from otherminds.distribution import IMPOSSIBLE
from otherminds.files.text import one_line
from otherminds.language.asking import Exchange, ReplyForm, Unreadable
from otherminds.language.model import Continuations, LanguageModel, Message, Request

M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]

LONGEST = 200
LONGEST_NAME = 40
MOST_STEPS = 24
MOST_PEOPLE = 8
SECOND_THOUGHTS = 0.7
VERBS = ("walk", "grab", "open", "close", "put")
LIKELY, UNLIKELY = " A", " B"
TEXT = {"type": "string", "minLength": 1, "maxLength": LONGEST}


# What is written


def _words(text: str) -> str:
    """A text on one line, so that it cannot pass for another part of a prompt that it is put into; not only dots."""
    line = " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
    if len(line) > LONGEST or not any(c.isalnum() for c in line):
        raise ValueError(f"has no letter, or more than {LONGEST} characters")
    return line


Words = Annotated[str, AfterValidator(_words)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Names(_Reply):
    """Whose mind the options are about, and the other people."""

    main: Words
    others: list[Words]

    @property
    def people(self) -> tuple[str, ...]:
        """All of them once, the main person first."""
        return tuple(dict.fromkeys((self.main, *self.others)))


class Told(_Reply):
    """An action or an utterance, and the line that tells of it."""

    line: int
    kind: Literal["action", "utterance"]
    text: Words


class Steps(_Reply):
    """All that one person does and says in a text."""

    steps: list[Told]


class Objects(_Reply):
    """The things that a text names."""

    objects: list[Words]


class Shown(_Reply):
    """The person in a film."""

    name: Words


class Filmed(_Reply):
    """An action in a film, and the line of the text after which it happens."""

    after: int
    agent: Words
    verb: Literal["walk", "grab", "open", "close", "put"]
    rest: Words


class Actions(_Reply):
    """All that is done in a film."""

    actions: list[Filmed]


class State(_Reply):
    """Where things were at the start."""

    facts: list[Words]


class Mind(_Reply):
    """What an option comes to: the three mental variables of LIMP, in words."""

    belief: Words
    social_goal: Words
    believed_goal: Words


class Minds(RootModel[dict[str, Mind]]):
    """What every option comes to, by its letter."""


class Choice(_Reply):
    """The letter of an option."""

    choice: Words


# Reading


def names_form(known: Sequence[str], mentioned: str) -> ReplyForm[Names]:
    """Names of at least two people; of those known, or else of people that the texts mention."""

    def fault(found: Names) -> str | None:
        if not 2 <= len(found.people) <= MOST_PEOPLE:
            return f"does not name 2 to {MOST_PEOPLE} people"
        strange = [name for name in found.people if not (name in known if known else _mentions(mentioned, name))]
        return f"names {one_line(strange[0])}, who is not in the story" if strange else None

    name = _one_of(known) if known else TEXT
    return ReplyForm(_closed(main=name, others=_list_of(name, most=MOST_PEOPLE)), Names, fault)


def _mentions(text: str, name: str) -> bool:
    """Whether a text has something short as a whole word; one letter is an option, and not a name."""
    return 1 < len(name) <= LONGEST_NAME and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def steps_form(lines: Sequence[int], most: int) -> ReplyForm[Steps]:
    """What one person does and says in these lines, in so many steps at most."""

    def fault(found: Steps) -> str | None:
        return _placed([told.line for told in found.steps], lines, most)

    told = _object(line=_one_of(lines), kind=_one_of(("action", "utterance")), text=TEXT)
    return ReplyForm(_closed(steps=_list_of(told, most=most)), Steps, fault)


def objects_form() -> ReplyForm[Objects]:
    """The things that a text names."""
    return ReplyForm(_closed(objects=_list_of(TEXT)), Objects, lambda found: _too_many(found.objects))


def shown_form(people: Sequence[str]) -> ReplyForm[Shown]:
    """One of these people."""

    def fault(found: Shown) -> str | None:
        return None if found.name in people else "names somebody who is not in the story"

    return ReplyForm(_closed(name=_one_of(people)), Shown, fault)


def actions_form(people: Sequence[str], lines: int, most: int) -> ReplyForm[Actions]:
    """What these people do in a film, placed among so many lines, in so many actions at most."""
    places = range(lines + 1)

    def fault(found: Actions) -> str | None:
        strange = any(filmed.agent not in people for filmed in found.actions)
        return "tells of somebody else" if strange else _placed([one.after for one in found.actions], places, most)

    filmed = _object(after=_one_of(places), agent=_one_of(people), verb=_one_of(VERBS), rest=TEXT)
    return ReplyForm(_closed(actions=_list_of(filmed, most=most)), Actions, fault)


def state_form() -> ReplyForm[State]:
    """Where things were at the start."""
    return ReplyForm(_closed(facts=_list_of(TEXT)), State, lambda found: _too_many(found.facts))


def minds_form(letters: Sequence[str]) -> ReplyForm[Minds]:
    """What each option comes to."""

    def fault(found: Minds) -> str | None:
        return None if found.root.keys() == set(letters) else "is not about all options and nothing else"

    mind = _object(belief=TEXT, social_goal=TEXT, believed_goal=TEXT)
    return ReplyForm(_closed(**dict.fromkeys(letters, mind)), Minds, fault)


def choice_form(letters: Sequence[str]) -> ReplyForm[Choice]:
    """The letter of one of the options."""

    def fault(found: Choice) -> str | None:
        return None if found.choice in letters else "chooses something that is not on the list"

    return ReplyForm(_closed(choice=_one_of(letters)), Choice, fault)


def _placed(numbers: Sequence[int], lines: Sequence[int], most: int) -> str | None:
    wrong = not set(numbers) <= set(lines)
    return "has the number of a line that cannot be meant" if wrong else _too_many(numbers, most)


def _too_many(found: Sequence[object], most: int = MOST_STEPS) -> str | None:
    return f"lists more than {most}" if len(found) > most else None


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _closed(**properties: Schema) -> str:
    return json.dumps(_object(**properties))


def _one_of(values: Sequence[str] | Sequence[int]) -> Schema:
    return {"type": "integer" if isinstance(values[0], int) else "string", "enum": [*values]}


def _list_of(items: Schema, *, most: int = MOST_STEPS) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


# Asking


class UnansweredError(Exception):
    """Something that a question needs could not be got from the model; why is told in one line."""


@dataclass(frozen=True)
class Asking:
    """Calls to a model for one purpose after the other, with all that it said.

    A reply that cannot be read is asked for again, with another seed and above temperature 0, where it would come back.
    """

    model: LanguageModel
    draw: str
    seed: int = 0
    attempts: int = 3
    max_tokens: int = 1000
    said: list[Exchange] = field(default_factory=list)

    def written(self, purpose: str, prompt: str, form: ReplyForm[M]) -> M:
        """A reply of this kind. Raises UnansweredError if none can be read, ModelError if there is no answer."""
        for attempt in range(self.attempts):
            reply = self.model.complete(self._request(purpose, prompt, form, attempt))
            found = form.read(reply.text)
            if isinstance(found, Unreadable):
                why = f"was cut off: {found.why}" if reply.cut else found.why
                self.said.append(Exchange(purpose, one_line(why), reply.text, reply.usage, readable=False))
                continue
            self.said.append(Exchange(purpose, one_line(found.model_dump_json()), reply.text, reply.usage))
            return found
        raise UnansweredError(f"no reply could be read: {purpose}")

    def likely(self, purpose: str, prompt: str) -> tuple[float, float]:
        """log p of `Likely` and of `Unlikely`, in nats. Raises ModelError if the model does not tell."""
        scores = self.model.score(Continuations(prompt, (LIKELY, UNLIKELY)))
        yes, no = scores.log_probs
        told = f"log p: Likely {yes:.4f}, Unlikely {no:.4f}"
        self.said.append(Exchange(purpose, "", told, scores.usage, readable=max(yes, no) > IMPOSSIBLE))
        return yes, no

    def _request(self, purpose: str, prompt: str, form: ReplyForm[M], attempt: int) -> Request:
        draw = f"{self.draw} {purpose} {attempt}"
        seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
        temperature = SECOND_THOUGHTS if attempt else 0.0
        turns = (Message("user", prompt),)
        return Request(turns, self.max_tokens, temperature, seed, schema=form.schema, draw=draw)
