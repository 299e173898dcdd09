"""A story as a language model writes it down, and what a reader of text would have made of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from otherminds.stories.by_model.dictation import Form, Name, NonsenseError, Stage, Wording
from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.english.reading import StoryReader
from otherminds.stories.english.story_state import Spot
from otherminds.stories.model import Event, Fact, Observation, Reading, Relation, SpeechAct, Utterance, Verb

MOST, MOST_PEOPLE, MOST_PLACES = 400, 24, 48
DEEDS: dict[str, Verb] = {
    "enter": "enter", "leave": "leave", "walk": "walk", "open": "open", "close": "close", "grab": "grab", "put": "put",
    "move": "move", "look": "look", "wait": "wait",
}  # fmt: skip
ACTS: dict[str, SpeechAct] = {
    "ask": "ask", "assert": "assert", "deny": "deny", "unsure": "unsure", "silence": "silence",
}  # fmt: skip
Spans = Sequence[tuple[int, int]]
Words = frozenset[str]


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
    to: list[Name] = Field(default_factory=list, max_length=MOST_PEOPLE)


class Transcript(Form):
    """All that is in a story: who takes part, where things can be, how it starts, and what happens."""

    people: list[Name] = Field(max_length=MOST_PEOPLE)
    places: list[_Place] = Field(max_length=MOST_PLACES)
    start: list[_Start]
    happenings: list[_Told]
    nothing: list[int]


class Telling:
    """Turns a transcript into what a reader of text would have made of the same sentences."""

    def __init__(self, text: str, spans: Spans, wording: Wording, stage: Stage) -> None:
        """Know the text, where its sentences are, and what they name."""
        self.text, self.spans, self.wording = text, spans, wording
        self.stage, self.scene = stage, stage.scene
        self.named: dict[int, set[Words]] = {}

    def of(self, story: Transcript) -> Reading:
        """The reading. Raises NonsenseError if the transcript cannot be of this text."""
        if len(story.happenings) > MOST or len(story.start) > MOST:
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
        idle = {self._line(number) for number in story.nothing} - self.named.keys()
        return self._reading(idle | {line for line in self.named if not self._omits(line)})

    def _reading(self, accounted: Collection[int]) -> Reading:
        reader = StoryReader(self.scene)
        reader.clauses, reader.understood = len(self.spans), len(accounted)
        left = [span for line, span in enumerate(self.spans) if line not in accounted]
        reader.unread = [" ".join(self.text[start:end].split()) for start, end in left]
        reading = reader.reading(self.text)
        episode = reading.episode
        return replace(reading, episode=replace(episode, entities=self.stage.entities(episode.entities)))

    def _line(self, number: int) -> int:
        if not 1 <= number <= len(self.spans):
            raise NonsenseError(f"there is no sentence {number}")
        return number - 1

    def _note(self, number: int, *told: Spot | str | None) -> None:
        """Whom and what a line is said to tell of. Raises NonsenseError if it speaks of others, and of none of them."""
        line = self._line(number)
        words = self.wording.sentences[line]
        found = {_words(one) for one in told if one is not None}
        others = any(_words(name) <= words for name in self.scene.agents if name not in told)
        if others and not words & lexicon().sets["pronouns"] and not any(one <= words for one in found):
            raise NonsenseError(f"sentence {number} does not tell of that")
        self.named.setdefault(line, set()).update(found)

    def _omits(self, line: int) -> bool:
        """Whether a line names a thing or a place that nothing told of it has to do with."""
        words, named = self.wording.sentences[line], self.named[line]
        known = {_words(one) for one in self.scene.objects} | {_words(spot) for spot in self.scene.spots}
        return any(one <= words and not any(one <= other for other in named) for one in known)

    def _begins(self, start: _Start) -> None:
        room = self.stage.room(start.room)
        subject, person = self._subject(start.what)
        if start.place is not None and start.place in self.scene.agents:
            self._note(start.line, start.place, subject)
            self.scene.begins.append((Fact("holds", start.place, subject), None))
            return
        place = self.stage.place(start.place, room)
        self._note(start.line, subject, place, room)
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
        if told.to:
            raise NonsenseError(f"{who} says nothing to anybody by {verb}")
        self._note(told.line, who, obj, spot or where)
        event = Event(0, who, verb, obj, None, where, self.scene.p, self.scene.source, self._at(told))
        self.scene.emit(event, spot)

    def _speech_or_sight(self, told: _Told, who: str, place: Spot | str | None) -> None:
        subject, person = self._subject(told.thing) if told.thing else (None, False)
        spot = place if isinstance(place, Spot) else None
        where = None if told.does in ("ask", "unsure", "silence") or isinstance(place, Spot) else place
        fact = None if subject is None else Fact("in_room" if person else "at", subject, where)
        located = fact is not None and bool(spot or where)
        self._note(told.line, who, subject, place)
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


def _words(told: Spot | str) -> Words:
    """The words of a name; of a place, without its room."""
    return frozenset((*told.extra, *told.kind.split()) if isinstance(told, Spot) else told.lower().split())
