"""Stories and questions read by a language model: it writes them down as data, and the inference remains what it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from otherminds.errors import InputError
from otherminds.language.model import LanguageModel, Message
from otherminds.language.templates import fill
from otherminds.stories.dictation import Failed, Form, Name, NonsenseError, Stage, Wording, dictated
from otherminds.stories.model import (
    Episode,
    Event,
    Fact,
    Observation,
    Reading,
    Relation,
    Source,
    SpeechAct,
    Utterance,
    Verb,
)
from otherminds.stories.people import find_names
from otherminds.stories.reading import LONGEST, Reader, read_story
from otherminds.stories.scene import Scene, Spot
from otherminds.stories.sentences import Token, plain, sentences, tokens

MOST = 400
DEEDS: dict[str, Verb] = {
    "enter": "enter", "leave": "leave", "walk": "walk", "open": "open", "close": "close", "grab": "grab", "put": "put",
    "move": "move", "look": "look", "wait": "wait",
}  # fmt: skip
ACTS: dict[str, SpeechAct] = {
    "ask": "ask", "assert": "assert", "deny": "deny", "unsure": "unsure", "silence": "silence",
}  # fmt: skip
Spans = Sequence[tuple[int, int]]


class _Place(Form):
    name: Name
    room: Name | None = None
    relation: Relation | None = None


class _Start(Form):
    line: int
    what: Name
    place: Name | None = None
    room: Name | None = None


class _Told(Form):
    line: int
    who: Name
    does: Literal[
        "enter", "leave", "walk", "open", "close", "grab", "put", "move", "look", "wait",
        "ask", "assert", "deny", "unsure", "silence", "saw", "did not see",
    ]  # fmt: skip
    thing: Name | None = None
    place: Name | None = None
    room: Name | None = None
    to: list[Name] = Field(default_factory=list)


class _Story(Form):
    people: list[Name]
    places: list[_Place]
    start: list[_Start]
    happenings: list[_Told]
    nothing: list[int]


def read_or_ask(
    text: str,
    model: LanguageModel | None = None,
    least: float = 0.8,
    *,
    cast: Sequence[str] = (),
    attempts: int = 3,
    source: Source = "text",
    p: float = 0.95,
) -> tuple[Reading, str]:
    """The story as the rules read it; if they read less than `least` of it, as the model does, if it reads more.

    With it, who read it: `symbolic`, or the name of the model. Raises ModelError if the model does not answer.
    """
    reading = read_story(text, source=source, cast=cast)
    if model is None or reading.coverage >= least:
        return reading, "symbolic"
    other = read_with(model, text, cast=cast, attempts=attempts, source=source, p=p)
    if other.coverage > reading.coverage:
        return other, model.name
    return replace(reading, unread=(*reading.unread, *other.unread)), "symbolic"


def read_with(
    model: LanguageModel,
    text: str,
    *,
    cast: Sequence[str] = (),
    attempts: int = 3,
    source: Source = "text",
    p: float = 0.95,
) -> Reading:
    """The story as a language model writes it down; each happening is as told with probability `p`.

    The coverage is the share of the sentences that the model gives an account of. People and things that the text does
    not name are refused, as is whatever has another form; if no reply of so many attempts can be read, the coverage is
    0, and why is in `unread`. Raises InputError if the text is too long, ModelError if there is no answer.
    """
    if len(text) > LONGEST:
        raise InputError(f"the story is longer than {LONGEST:,} characters", hint="give only the story itself")
    found = tokens(plain(text))
    names = tuple(dict.fromkeys((*find_names(sentences(found), cast), *cast)))
    spans = [_span(sentence, text) for sentence in sentences(found, names)]
    lines = [" ".join(text[start:end].split()) for start, end in spans]
    if not lines:
        return Reading(Episode("", ()), coverage=0.0, unread=("there is no story",))

    def sense(story: _Story) -> Reading:
        return _Telling(text, spans, Stage(Scene(names, source, p, numbered=True), Wording.of(lines))).of(story)

    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    known = f"; they are among {', '.join(cast)}" if cast else ""
    prompt = fill("stories-read", lines=numbered, cast=known)
    reading = dictated(model, Message("user", prompt), _Story, sense, "story", attempts)
    if isinstance(reading, Failed):
        return Reading(Episode("", ()), coverage=0.0, unread=(reading.told,))
    return reading


def _span(sentence: Sequence[Token], text: str) -> tuple[int, int]:
    """Where a sentence is, with the mark at its end."""
    end = sentence[-1].end
    return sentence[0].start, end + (text[end : end + 1] in tuple(".!?;"))


class _Telling:
    """Turns what a model wrote down into what a reader of text would have made of the story."""

    def __init__(self, text: str, spans: Spans, stage: Stage) -> None:
        self.text, self.spans = text, spans
        self.stage, self.scene = stage, stage.scene

    def of(self, story: _Story) -> Reading:
        """The reading. Raises NonsenseError if the story cannot be this one."""
        if len(story.happenings) > MOST or len(story.start) > MOST or len(story.places) > MOST:
            raise NonsenseError(f"lists more than {MOST}")
        if not story.happenings and not story.start:
            raise NonsenseError("tells of nothing")
        named: list[_Place | _Start | _Told] = [*story.places, *story.start, *story.happenings]
        self.scene.story_rooms = frozenset(room for one in named if (room := self.stage.room(one.room)))
        for name in story.people:
            self.stage.person(name)
        for place in story.places:
            self.stage.declare(place.name, self.stage.room(place.room), place.relation)
        for one in story.start:
            self._begins(one)
        for told in story.happenings:
            self._happens(told)
        told_of = [*(one.line for one in story.start), *(one.line for one in story.happenings), *story.nothing]
        return self._reading({self._line(number) for number in told_of})

    def _reading(self, accounted: Collection[int]) -> Reading:
        reader = Reader(self.scene)
        reader.clauses, reader.understood = len(self.spans), len(accounted)
        left = [span for number, span in enumerate(self.spans) if number not in accounted]
        reader.unread = [" ".join(self.text[start:end].split()) for start, end in left]
        reading = reader.reading(self.text)
        episode = reading.episode
        return replace(reading, episode=replace(episode, entities=self.stage.entities(episode.entities)))

    def _line(self, number: int) -> int:
        if not 1 <= number <= len(self.spans):
            raise NonsenseError(f"there is no sentence {number}")
        return number - 1

    def _begins(self, start: _Start) -> None:
        room = self.stage.room(start.room)
        subject, person = self._subject(start.what)
        if start.place is not None and start.place in self.scene.agents:
            self.scene.begins.append((Fact("holds", start.place, subject), None))
            return
        place = self.stage.place(start.place, room)
        if isinstance(place, Spot) and not person:
            self.scene.begins.append((Fact("at", subject, None), place))
            return
        where = place.room or room if isinstance(place, Spot) else place or room
        if where is None:
            raise NonsenseError(f"does not say where {subject} was")
        self.scene.begins.append((Fact("in_room", subject, where), None))

    def _happens(self, told: _Told) -> None:
        who, room = self.stage.known(told.who), self.stage.room(told.room)
        towards = told.does == "walk" and told.place in self.scene.agents
        place = None if towards else self.stage.place(told.place, room)
        if told.does in DEEDS:
            self._event(told, who, place, room)
        else:
            self._speech_or_sight(told, who, place or room)

    def _event(self, told: _Told, who: str, place: Spot | str | None, room: str | None) -> None:
        verb, thing = DEEDS[told.does], told.thing
        if verb in ("open", "close") and place is None:
            place, thing = self.stage.place(thing, room), None
        spot = place if isinstance(place, Spot) else None
        where = None if isinstance(place, Spot) else place or room
        if isinstance(place, str) and verb in ("open", "close"):
            raise NonsenseError(f"{place!r} is no place that can be opened or closed")
        obj = self.stage.thing(thing) if verb in ("grab", "put", "move", "look") else None
        event = Event(0, who, verb, obj, None, where, self.scene.p, self.scene.source, self._at(told))
        self.scene.emit(event, spot)

    def _speech_or_sight(self, told: _Told, who: str, place: Spot | str | None) -> None:
        subject, person = self._subject(told.thing) if told.thing else (None, False)
        spot = place if isinstance(place, Spot) else None
        where = None if told.does in ("ask", "unsure", "silence") or isinstance(place, Spot) else place
        fact = None if subject is None else Fact("in_room" if person else "at", subject, where)
        located = fact is not None and bool(spot or where)
        p, source, span = self.scene.p, self.scene.source, self._at(told)
        if told.does in ACTS:
            act = ACTS[told.does]
            placed = act in ("assert", "deny")
            content = None if placed and not located else fact
            hearers = tuple(dict.fromkeys(map(self.stage.known, told.to)))
            self.scene.emit(Utterance(0, who, act, content, hearers, p, source, span), spot if placed else None)
            return
        if fact is None or not located:
            raise NonsenseError(f"does not say what {who} {told.does}")
        self.scene.emit(Observation(0, who, fact, told.does == "saw", p, source, span), spot)

    def _subject(self, name: str) -> tuple[str, bool]:
        """Who or what is somewhere, and whether it is a person."""
        if name in self.scene.agents:
            return name, True
        thing = self.stage.thing(name)
        if thing is None:
            raise NonsenseError(f"{name!r} does not say which thing")
        return thing, False

    def _at(self, told: _Told) -> tuple[int, int]:
        return self.spans[self._line(told.line)]
