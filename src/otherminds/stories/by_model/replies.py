"""Structured replies of language models: asking for data in one form, with retries, and checking the names in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, StringConstraints

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable, correction, read_json
from otherminds.language.model import LanguageModel, Message, Request
from otherminds.stories.english.lexicon import lexicon, wordset
from otherminds.stories.english.phrases import Noun
from otherminds.stories.english.sentences import plain
from otherminds.stories.english.statements import noun_in
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import Entity, Relation, Verb

RETRY_TEMPERATURE = 0.7  # sampling temperature of every attempt after the first; chosen, not tuned
TOKENS, MOST_TOKENS = 400, 16_000  # a reply's token limit: the base, to which each part adds, and the maximum; chosen
LONGEST_NAME = 60  # characters of a name in a reply; chosen, not tuned
LONGEST_PHRASE = 3  # words that may form one lexicon entry ("living room"), the longest in the lexicon
VERBS: dict[str, Verb] = {verb: verb for verb in get_args(Verb)}
WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
NO_PEOPLE = ("place", "room", "pronoun", "vague", "one")

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


def _all_asked_for(schema: dict[str, Any]) -> None:
    """Mark every key as required, as servers demand; in replies, keys with a default may still be missing."""
    schema["required"] = list(schema["properties"])
    for told in schema["properties"].values():
        told.pop("default", None)


class Form(BaseModel, extra="forbid", strict=True, json_schema_extra=_all_asked_for):
    """The schema of a reply: these keys and no others.

    Models are sent the schema with the docstrings of its classes: they stay as they are.
    """


M = TypeVar("M", bound=Form)
T = TypeVar("T")


class NonsenseError(ValueError):
    """A reply has the right form but cannot be true of the story; for example, it names an unknown person."""


def dictated(
    model: LanguageModel,
    turn: Message,
    kind: type[M],
    sense: Callable[[M], T],
    draw: str,
    attempts: int,
    most: int,
    schema: str = "",
) -> T | Unreadable:
    """`sense` of the first reply that has the form `kind` and for which it does not raise NonsenseError.

    `schema` is sent in place of that of `kind`: the same, with some strings limited to names.

    Replies have at most `most` tokens, as small models may repeat themselves without end. After an unreadable reply the
    model is told why and asked again, with another seed and a temperature above 0, up to `attempts` times in all.
    If none can be read, the result says why, with each reason once.
    Raises ModelError if the model does not answer, InputError if `attempts` is below 1.
    """
    if attempts < 1:
        raise InputError("a model needs at least one attempt")
    reasons: list[str] = []
    asked = turn
    schema = schema or json.dumps(kind.model_json_schema())  # with its keys in the order in which to think
    for attempt in range(attempts):
        temperature = RETRY_TEMPERATURE if attempt else 0.0
        request = Request((asked,), most, temperature, attempt, schema=schema, draw=f"{draw} {attempt}")
        reply = model.complete(request)
        found = read_json(reply.text, kind)
        try:
            if not isinstance(found, Unreadable):
                return sense(found)
            why = found.why
        except NonsenseError as nonsense:
            why = str(nonsense)
        reasons.append(one_line(f"was cut off, and {why}" if reply.cut else why))
        asked = replace(turn, text=f"{turn.text}\n\n{correction(Unreadable(reasons[-1], reply.text))}")
    count = f"{attempts} {'reply' if attempts == 1 else 'replies'}"
    return Unreadable(f"the model was asked, and none of {count} could be read: {'; '.join(dict.fromkeys(reasons))}")


def token_limit(parts: int, each: int) -> int:
    """The token limit of a reply about so many sentences or options, with `each` tokens for one."""
    return min(TOKENS + each * parts, MOST_TOKENS)


def one_line(text: str) -> str:
    """The text on one line, without unprintable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class Wording:
    """The words of some sentences, to tell names that occur in them from names that a model invents.

    Words also count in their dictionary form: "two wine glasses" names `wineglass`.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        whole = [plain(sentence) for sentence in sentences]
        self.text, self.sentences = "\n".join(whole), [_words(sentence) for sentence in whole]

    def names(self, name: str) -> bool:
        """Whether the name of a person occurs in the text as it is written."""
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.text) is not None

    def has(self, words: Collection[str]) -> bool:
        """Whether one sentence contains all the words."""
        return any(sentence.issuperset(words) for sentence in self.sentences)


def _words(sentence: str) -> frozenset[str]:
    found = WORD.findall(sentence.lower())
    runs = [found[i : i + size] for size in range(1, LONGEST_PHRASE + 1) for i in range(len(found) - size + 1)]
    return frozenset(found).union(*(lexicon().canonical(run) for run in runs))


@dataclass
class Stage:
    """Resolves the names in a reply to people, items, places and rooms, named as the rules name them.

    Names that do not occur in `wording` are refused; if it is None, all are accepted.
    """

    scene: StoryState
    wording: Wording | None = None
    declared: list[tuple[Spot, str | None, Relation | None]] = field(default_factory=list)

    def person(self, name: str) -> str:
        """Add a person to the scene and return their name. Raises NonsenseError if the name is no person's."""
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
        """The name of a person already in the scene. Raises NonsenseError if there is none of that name."""
        noun = noun_in(name)
        for known in (one_line(name), noun.text if noun else ""):
            if known in self.scene.agents:
                return known
        raise NonsenseError(f"{one_line(name)!r} is not among the people")

    def thing(self, name: str | None) -> str | None:
        """An item; None for "some object". Raises NonsenseError if it is no item, or not in the story."""
        if name is None:
            return None
        noun = self.noun(name)
        if noun.kind == "vague":
            return None
        self._check(name, noun, "thing", "object", "place")
        noun.kind = "object"
        return self.scene.thing(noun, None)

    def room(self, name: str | None) -> str | None:
        """A room. Raises NonsenseError if it is no room, or not in the story."""
        if name is None:
            return None
        noun = self.noun(name)
        self._check(name, noun, "room", "room", "object", "place")
        return self.scene.room(noun)

    def place(self, name: str | None, room: str | None) -> tuple[Spot | None, str | None]:
        """A place (in this room, if its name does not say where), or else a room; without a name neither.

        Raises NonsenseError if the name is that of neither, or not in the story.
        """
        if name is None:
            return None, None
        noun = self.noun(name)
        if noun.kind == "room" or noun.text in self.scene.rooms:
            return None, self.room(name)
        self._check(name, noun, "place", "place", "object")
        if self.wording is not None and not self.wording.has(noun.room.split()):
            raise NonsenseError(f"{one_line(name)!r} is not in the story")
        if not noun.room and room and lexicon().kind_of(noun.words) in wordset("furniture"):
            noun.room = room
        return self.scene.spot(noun, None), None

    def declare(self, name: str, room: str | None, relation: Relation | None) -> None:
        """Record the room of a place and whether items are in or on it. Raises NonsenseError if the name is taken."""
        found, _ = self.place(name, room)
        if found is None:
            return
        if any(spot is found and other != room for spot, other, _ in self.declared):
            raise NonsenseError(f"two places are called {one_line(name)!r}")
        self.declared.append((found, room, relation))
        if room is not None:
            self.scene.rooms_of_spots[found.id] = room

    def entities(self, named: Iterable[Entity]) -> tuple[Entity, ...]:
        """The entities; places whose relation is unknown get the relation that the model declared."""
        told = {spot.id: relation for spot, _, relation in self.declared}
        return tuple(replace(e, relation=told[e.id]) if e.relation is None and e.id in told else e for e in named)

    def noun(self, name: str) -> Noun:
        """The name as a noun phrase. Raises NonsenseError if it is none."""
        noun = noun_in(name.replace("_", " "), self.scene.names)
        if noun is None or noun.kind in ("pronoun", "one"):
            raise NonsenseError(f"{one_line(name)!r} does not name anything")
        return noun

    def _check(self, name: str, noun: Noun, wanted: str, *kinds: str) -> None:
        """Raise NonsenseError unless the noun is of one of the kinds, and in the story."""
        if noun.kind not in kinds:
            raise NonsenseError(f"{one_line(name)!r} is no {wanted}")
        if self.wording is not None and not self.wording.has(noun.words):
            raise NonsenseError(f"{one_line(name)!r} is not in the story")
