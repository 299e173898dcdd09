"""Stories read by a language model: it writes the story down as data, and every name and line is checked.

The inference does not depend on the reader. `Transcript` is the form of a reply; `_TranscriptReader` checks one against
the text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, get_args

from pydantic import Field

from otherminds.errors import InputError
from otherminds.language.asking import Unreadable, prompts_of
from otherminds.language.model import LanguageModel, Message
from otherminds.stories.by_model import replies
from otherminds.stories.english.lexicon import lexicon
from otherminds.stories.english.reading import LONGEST_STORY, read_story
from otherminds.stories.english.sentences import find_names, plain, sentences, tokens
from otherminds.stories.english.story_state import Spot, StoryState
from otherminds.stories.model import (
    SYMBOLIC,
    Episode,
    Event,
    Fact,
    Observation,
    Reading,
    Relation,
    SpeechAct,
    Utterance,
)

fill = prompts_of("otherminds.stories.by_model")

TRUST = 0.95  # probability that what the model writes down happened; chosen, not tuned
TOKENS_OF_SENTENCE = 150  # tokens a model may write for each sentence of a story; chosen, not tuned
MOST, MOST_PEOPLE, MOST_PLACES = 400, 24, 48  # longest lists accepted in a reply; chosen, not tuned
ACTS: dict[str, SpeechAct] = {act: act for act in get_args(SpeechAct)}
Spans = Sequence[tuple[int, int]]
Words = frozenset[str]


def read_or_ask(text: str, model: LanguageModel, least: float = 0.8) -> tuple[Reading, str]:
    """The story as read by the rules or, if their coverage is below `least` and the model's is higher, by the model.

    Returns the reading and the reader's name: `symbolic`, or that of the model. Raises ModelError if the model does not
    answer.
    """
    reading = read_story(text)
    if reading.coverage >= least:
        return reading, SYMBOLIC
    other = read_with(model, text)
    if other.coverage > reading.coverage:
        return other, model.name
    return replace(reading, unread=(*reading.unread, *other.unread)), SYMBOLIC


def read_with(model: LanguageModel, text: str, attempts: int = 3) -> Reading:
    """The story as a language model writes it down; each happening has probability `TRUST`.

    The coverage is the share of sentences whose items and places all occur in the model's account; whether the account
    is right is unknown. Replies of another form, or with people or items that the text does not name, are refused. If
    none of `attempts` replies can be read, the coverage is 0 and `unread` says why.
    Raises InputError if the text is too long, ModelError if the model does not answer.
    """
    if len(text) > LONGEST_STORY:
        raise InputError(f"the story is longer than {LONGEST_STORY:,} characters", hint="give only the story itself")
    found = tokens(plain(text))
    names = find_names(sentences(found))
    spans = [(sentence[0].start, sentence[-1].end) for sentence in sentences(found, names)]
    if not spans:
        return Reading(Episode("", ()), coverage=0.0, unread=("there is no story",))
    marked = [(start, end + 1 if text[end : end + 1] in (".", "!", "?") else end) for start, end in spans]
    lines = [replies.one_line(text[start:end]) for start, end in marked]
    wording = replies.Wording(lines)

    def sense(story: Transcript) -> Reading:
        scene = StoryState(names, p=TRUST, numbered=True)
        return _TranscriptReader(text, spans, wording, replies.Stage(scene, wording)).read(story)

    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    prompt = fill("stories-read", lines=numbered)
    most = replies.token_limit(len(lines), TOKENS_OF_SENTENCE)
    reading = replies.dictated(model, Message("user", prompt), Transcript, sense, "story", attempts, most)
    if isinstance(reading, Unreadable):
        return Reading(Episode("", ()), coverage=0.0, unread=(reading.why,))
    return reading


class _Place(replies.Form):
    name: replies.Name
    room: replies.Name | None = None
    relation: Relation | None = None


class _Start(replies.Form):
    line: int
    what: replies.Name
    place: replies.Name | None = None
    room: replies.Name | None = None


class _Told(replies.Form):
    line: int
    who: replies.Name
    does: Literal[
        "enter", "leave", "walk", "open", "close", "grab", "put", "move", "look", "wait",
        "ask", "assert", "deny", "unsure", "silence", "saw", "did not see",
    ]  # fmt: skip
    thing: replies.Name | None = None
    place: replies.Name | None = None
    room: replies.Name | None = None
    to: list[replies.Name] = Field(default_factory=list, max_length=MOST_PEOPLE)


class Transcript(replies.Form):
    """All that is in a story: who takes part, where things can be, how it starts, and what happens."""

    people: list[replies.Name] = Field(max_length=MOST_PEOPLE)
    places: list[_Place] = Field(max_length=MOST_PLACES)
    start: list[_Start]
    happenings: list[_Told]
    nothing: list[int]


class _TranscriptReader:
    """Turns a transcript into the reading that the rules would have produced from the same sentences."""

    def __init__(self, text: str, spans: Spans, wording: replies.Wording, stage: replies.Stage) -> None:
        self.text, self.spans, self.wording = text, spans, wording
        self.stage, self.scene = stage, stage.scene
        self.named: dict[int, set[Words]] = {}

    def read(self, story: Transcript) -> Reading:
        """The reading. Raises NonsenseError if the transcript does not fit this text."""
        if len(story.happenings) > MOST or len(story.start) > MOST:
            raise replies.NonsenseError(f"lists more than {MOST}")
        if not story.happenings and not story.start:
            raise replies.NonsenseError("tells of nothing")
        named: list[_Place | _Start | _Told] = [*story.places, *story.start, *story.happenings]
        self.scene.story_rooms = frozenset(room for one in named if (room := self.stage.room(one.room)))
        for name in story.people:
            self.stage.person(name)
        for place in story.places:
            self.stage.declare(place.name, self.stage.room(place.room), place.relation)
        for one in story.start:
            self._add_start(one)
        for told in story.happenings:
            self._add_happening(told)
        idle = {self._line(number) for number in story.nothing} - self.named.keys()
        return self._reading(idle | {line for line in self.named if not self._omits(line)})

    def _reading(self, accounted: Collection[int]) -> Reading:
        """The episode, with the sentences (numbered from 0) that the transcript accounts for as its coverage."""
        left = [span for line, span in enumerate(self.spans) if line not in accounted]
        unread = [" ".join(self.text[start:end].split()) for start, end in left]
        reading = self.scene.reading(len(accounted) / len(self.spans), unread)
        episode = reading.episode
        return replace(reading, episode=replace(episode, entities=self.stage.entities(episode.entities)))

    def _line(self, number: int) -> int:
        if not 1 <= number <= len(self.spans):
            raise replies.NonsenseError(f"there is no sentence {number}")
        return number - 1

    def _note(self, number: int, *told: Spot | str | None) -> None:
        """Record the people and items that a line is said to mention.

        Raises NonsenseError if the line mentions others and none of these.
        """
        line = self._line(number)
        words = self.wording.sentences[line]
        found = {_words(one) for one in told if one is not None}
        others = any(_words(name) <= words for name in self.scene.agents if name not in told)
        if others and not words & lexicon().sets["pronouns"] and not any(one <= words for one in found):
            raise replies.NonsenseError(f"sentence {number} does not tell of that")
        self.named.setdefault(line, set()).update(found)

    def _omits(self, line: int) -> bool:
        """Whether the line names an item or place that its account leaves out."""
        words, named = self.wording.sentences[line], self.named[line]
        known = {_words(one) for one in self.scene.objects} | {_words(spot) for spot in self.scene.spots}
        return any(one <= words and not any(one <= other for other in named) for one in known)

    def _add_start(self, start: _Start) -> None:
        room = self.stage.room(start.room)
        subject, person = self._subject(start.what)
        if start.place is not None and start.place in self.scene.agents:
            self._note(start.line, start.place, subject)
            self.scene.initial.append((Fact("holds", start.place, subject), None))
            return
        spot, where = self.stage.place(start.place, room)
        self._note(start.line, subject, spot or where, room)
        if spot and not person:
            self.scene.initial.append((Fact("at", subject, None), spot))
            return
        where = (spot.room if spot else where) or room
        if where is None:
            raise replies.NonsenseError(f"does not say where {subject} was")
        self.scene.initial.append((Fact("in_room", subject, where), None))

    def _add_happening(self, told: _Told) -> None:
        who, room = self.stage.known(told.who), self.stage.room(told.room)
        towards = told.does == "walk" and told.place in self.scene.agents
        spot, where = self.stage.place(None if towards else told.place, room)
        if told.does in ("open", "close"):
            if spot is None and where is None:
                spot, where = self.stage.place(told.thing, room)
            if where is not None:
                raise replies.NonsenseError(f"{where!r} is no place that can be opened or closed")
        where = None if spot else where or room
        if told.does in replies.VERBS:
            self._add_event(told, who, spot, where)
        else:
            self._add_speech_or_sight(told, who, spot, where)

    def _add_event(self, told: _Told, who: str, spot: Spot | None, where: str | None) -> None:
        verb = replies.VERBS[told.does]
        obj = self.stage.thing(told.thing) if verb in ("grab", "put", "move", "look") else None
        if told.to:
            raise replies.NonsenseError(f"{who} says nothing to anybody by {verb}")
        self._note(told.line, who, obj, spot or where)
        span = self.spans[self._line(told.line)]
        self.scene.emit(Event(0, who, verb, obj, None, where, self.scene.p, self.scene.source, span), spot)

    def _add_speech_or_sight(self, told: _Told, who: str, spot: Spot | None, where: str | None) -> None:
        subject, person = self._subject(told.thing) if told.thing else (None, False)
        self._note(told.line, who, subject, spot or where)
        where = None if told.does in ("ask", "unsure", "silence") else where
        fact = None if subject is None else Fact("in_room" if person else "at", subject, where)
        located = fact is not None and bool(spot or where)
        p, source, span = self.scene.p, self.scene.source, self.spans[self._line(told.line)]
        if told.does in ACTS:
            act = ACTS[told.does]
            placed = act in ("assert", "deny")
            content = None if placed and not located else fact
            hearers = tuple(dict.fromkeys(map(self.stage.known, told.to)))
            self.scene.emit(Utterance(0, who, act, content, hearers, p, source, span), spot if placed else None)
            return
        if fact is None or not located:
            raise replies.NonsenseError(f"does not say what {who} {told.does}")
        self.scene.emit(Observation(0, who, fact, told.does == "saw", p, source, span), spot)

    def _subject(self, name: str) -> tuple[str, bool]:
        """The name of a person or item, and whether it is a person."""
        if name in self.scene.agents:
            return name, True
        thing = self.stage.thing(name)
        if thing is None:
            raise replies.NonsenseError(f"{name!r} does not say which thing")
        return thing, False


def _words(told: Spot | str) -> Words:
    """The words of a name; those of a place without its room."""
    return frozenset((*told.extra, *told.kind.split()) if isinstance(told, Spot) else told.lower().split())
