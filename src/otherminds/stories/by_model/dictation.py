"""Asking a language model for data in one form, again if it writes something else; and what the names it writes are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable, read_json
from otherminds.language.model import LanguageModel, Message, Request
from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.english.phrases import Noun
from otherminds.stories.english.sentences import plain
from otherminds.stories.english.statements import noun_in
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Entity, Relation

SECOND_THOUGHTS = 0.7
LONGEST_NAME = 60
LONGEST_PHRASE = 3
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
NO_PEOPLE = ("place", "room", "pronoun", "vague", "one")

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


def _all_asked_for(schema: dict[str, Any]) -> None:
    """Servers want every key to be required; in a reply, those without a value may be left out all the same."""
    schema["required"] = list(schema["properties"])
    for told in schema["properties"].values():
        told.pop("default", None)


class Form(BaseModel):
    """What a reply has to look like: these keys and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=_all_asked_for)


M = TypeVar("M", bound=Form)
T = TypeVar("T")


class NonsenseError(ValueError):
    """A reply has the right form and says what cannot be: it tells of somebody who is not in the story, for one."""


@dataclass(frozen=True)
class Failed:
    """No reply could be read; what was wrong with each."""

    reasons: tuple[str, ...]

    @property
    def told(self) -> str:
        """All of it in one line, each reason once."""
        count = f"{len(self.reasons)} {'reply' if len(self.reasons) == 1 else 'replies'}"
        return f"the model was asked, and none of {count} could be read: {'; '.join(dict.fromkeys(self.reasons))}"


def dictated(
    model: LanguageModel, turn: Message, kind: type[M], sense: Callable[[M], T], draw: str, attempts: int, most: int
) -> T | Failed:
    """What `sense` makes of the first reply that has the form, and of which it does not raise NonsenseError.

    A reply has `most` tokens: models too small for the task go round in circles, and do not stop by themselves.
    A reply that cannot be read is asked for again, with another seed and above temperature 0, where it would come back.
    Raises ModelError if there is no answer, and InputError if no attempt is to be made.
    """
    if attempts < 1:
        raise InputError("a model needs at least one attempt")
    reasons: list[str] = []
    schema = json.dumps(kind.model_json_schema())  # with its keys in the order in which to think
    for attempt in range(attempts):
        temperature = SECOND_THOUGHTS if attempt else 0.0
        request = Request((turn,), most, temperature, attempt, schema=schema, draw=f"{draw} {attempt}")
        reply = model.complete(request)
        found = read_json(reply.text, kind)
        try:
            if not isinstance(found, Unreadable):
                return sense(found)
            why = found.why
        except NonsenseError as nonsense:
            why = str(nonsense)
        reasons.append(one_line(f"was cut off, and {why}" if reply.cut else why))
    return Failed(tuple(reasons))


def one_line(text: str) -> str:
    """The text without line breaks and unprintable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@dataclass(frozen=True)
class Wording:
    """The words of some sentences, by which to tell what is named there from what a model makes up.

    Words count in their usual form as well: of "two wine glasses", `wineglass` is named.
    """

    text: str
    sentences: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, sentences: Iterable[str]) -> Wording:
        """The words of the sentences."""
        whole = tuple(plain(sentence) for sentence in sentences)
        return cls("\n".join(whole), tuple(map(_words, whole)))

    def names(self, name: str) -> bool:
        """Whether the name of a person is there as it is written."""
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.text) is not None

    def has(self, words: Collection[str]) -> bool:
        """Whether all the words are in one sentence."""
        return any(sentence.issuperset(words) for sentence in self.sentences)


def _words(sentence: str) -> frozenset[str]:
    found = WORD.findall(sentence.lower())
    runs = [found[i : i + size] for size in range(1, LONGEST_PHRASE + 1) for i in range(len(found) - size + 1)]
    return frozenset(found).union(*(lexicon().canonical(run) for run in runs))


@dataclass
class Stage:
    """The people, things, places and rooms that a model tells of, named as a reader of text names them.

    With `wording`, what is not named there is refused; without, anything goes.
    """

    scene: StoryState
    wording: Wording | None = None
    declared: list[tuple[Spot, str | None, Relation | None]] = field(default_factory=list)

    def person(self, name: str) -> str:
        """A person who takes part from now on. Raises NonsenseError if nobody is called that."""
        name = one_line(name)
        noun = noun_in(name)
        if name not in self.scene.names:
            if noun is None or noun.kind in NO_PEOPLE or (noun.kind == "object" and noun.known):
                raise NonsenseError(f"{name!r} is no person")
            name = noun.text if noun.kind == "agent" else name
            if self.wording is not None and not self.wording.names(name):
                raise NonsenseError(f"{name!r} is nobody in the story")
        self.scene.of(name)
        return name

    def known(self, name: str) -> str:
        """One of the people who take part. Raises NonsenseError if there is none of that name."""
        noun = noun_in(name)
        for known in (one_line(name), noun.text if noun else ""):
            if known in self.scene.agents:
                return known
        raise NonsenseError(f"{one_line(name)!r} is not among the people")

    def thing(self, name: str | None) -> str | None:
        """A thing; None for "some object". Raises NonsenseError if it is no thing, or not one of the story."""
        if name is None:
            return None
        noun = self.noun(name)
        if noun.kind == "vague":
            return None
        if noun.kind not in ("object", "place"):
            raise NonsenseError(f"{one_line(name)!r} is no thing")
        self._check(name, noun.words)
        noun.kind = "object"
        return self.scene.thing(noun, None)

    def room(self, name: str | None) -> str | None:
        """A room. Raises NonsenseError if it is none, or not one of the story."""
        if name is None:
            return None
        noun = self.noun(name)
        if noun.kind not in ("room", "object", "place"):
            raise NonsenseError(f"{one_line(name)!r} is no room")
        self._check(name, noun.words)
        return self.scene.room(noun)

    def place(self, name: str | None, room: str | None = None) -> Spot | str | None:
        """A place, or a room. Raises NonsenseError if it is none, or not one of the story."""
        if name is None:
            return None
        noun = self.noun(name)
        if noun.kind == "room" or noun.text in self.scene.rooms:
            return self.room(name)
        if noun.kind not in ("place", "object"):
            raise NonsenseError(f"{one_line(name)!r} is no place")
        self._check(name, noun.words)
        self._check(name, noun.room.split())
        if not noun.room and room and lexicon().kind_of(noun.words) in lexicon().furniture:
            noun.room = room
        return self.scene.spot(noun, None)

    def declare(self, name: str, room: str | None, relation: Relation | None) -> None:
        """A place with its room, and whether things are in or on it. Raises NonsenseError if another has its name."""
        found = self.place(name, room)
        if isinstance(found, str) or found is None:
            return
        if any(spot is found and other != room for spot, other, _ in self.declared):
            raise NonsenseError(f"two places are called {one_line(name)!r}")
        self.declared.append((found, room, relation))
        if room is not None:
            self.scene.rooms_of_spots[found.id] = room

    def entities(self, named: Iterable[Entity]) -> tuple[Entity, ...]:
        """The entities, with what the model says of places of a kind that is not known otherwise."""
        told = {spot.id: relation for spot, _, relation in self.declared}
        return tuple(replace(e, relation=told[e.id]) if e.relation is None and e.id in told else e for e in named)

    def noun(self, name: str) -> Noun:
        """The noun phrase that a name consists of. Raises NonsenseError if it is none."""
        noun = noun_in(name.replace("_", " "), self.scene.names)
        if noun is None or noun.kind in ("pronoun", "one"):
            raise NonsenseError(f"{one_line(name)!r} does not name anything")
        return noun

    def _check(self, name: str, words: Collection[str]) -> None:
        if self.wording is not None and not self.wording.has(words):
            raise NonsenseError(f"{one_line(name)!r} is not in the story")
