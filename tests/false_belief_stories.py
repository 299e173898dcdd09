"""Stories of things moved behind somebody's back, with questions about nested beliefs and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from otherminds.stories.beliefs.nested_beliefs import believed_place
from otherminds.stories.beliefs.perspectives import EVERYDAY, Conventions
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Happening,
    Holds,
    Question,
    Utterance,
)

PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Henry")
THINGS = ("keys", "ball", "apple", "book", "phone", "hat", "letter", "scarf")
CONTAINERS = ("drawer", "box", "basket", "cupboard", "bag", "chest", "crate", "suitcase")
ROOMS = ("kitchen", "hall", "bedroom", "garden", "attic", "office")
ATTEMPTS = 400
Style = Literal["plain", "tomi"]


@dataclass(frozen=True)
class Example:
    """A story, a question, and the number of the option that is right, under the conventions it was made for."""

    episode: Episode
    question: Question
    gold: int
    story: str
    asks: str
    chain: tuple[str, ...]

    @property
    def answer(self) -> str:
        """The right option in words."""
        return self.question.labels[self.gold]

    @property
    def order(self) -> int:
        """How many minds deep the question asks; 0 asks for reality."""
        return len(self.chain)


@dataclass
class _Draft:
    """A story while it is drawn: who is in the room, and where the thing is."""

    people: tuple[str, ...]
    containers: tuple[str, ...]
    thing: str
    room: str
    elsewhere: str
    place: str
    there: list[str] = field(default_factory=list)
    timeline: list[Happening] = field(default_factory=list)

    def add(self, rng: np.random.Generator, telling: float) -> None:
        """One more happening that is possible now."""
        away = [who for who in self.people if who not in self.there]
        choice, t = rng.random(), len(self.timeline)
        if choice < telling and len(self.people) > 1:
            speaker, hearer = _draw(rng, self.people, 2)
            hearers = (hearer,) if rng.random() < 0.5 else ()
            said = Fact("at", self.thing, _draw(rng, self.containers, 1)[0])
            self.timeline.append(Utterance(t, speaker, "assert", said, hearers))
        elif away and (not self.there or choice < telling + 0.2):
            who = _draw(rng, away, 1)[0]
            self.there.append(who)
            self.timeline.append(Event(t, who, "enter", room=self.room))
        elif choice < telling + 0.55:
            who = _draw(rng, self.there, 1)[0]
            self.there.remove(who)
            self.timeline.append(Event(t, who, "leave", room=self.room))
            if rng.random() < 0.3:
                self.timeline.append(Event(t + 1, who, "enter", room=self.elsewhere))
        else:
            who = _draw(rng, self.there, 1)[0]
            self.place = _draw(rng, [place for place in self.containers if place != self.place], 1)[0]
            self.timeline.append(Event(t, who, "move", self.thing, self.place, self.room))


def generate_beliefs(
    rng: np.random.Generator,
    order: int = 1,
    *,
    people: int = 3,
    moves: int = 3,
    containers: int = 3,
    telling: float = 0.0,
    style: Style = "plain",
    conventions: Conventions = EVERYDAY,
) -> Example:
    """A story with so many moves, and a question so many minds deep.

    The right answer is any of the containers with the same probability, wherever the story mentions it; above order 0,
    half of the answers are not where the thing really is. Raises ValueError if there are too few or too many people,
    or containers, for that.
    """
    if not (max(1, min(order, 2)) <= people <= len(PEOPLE) and 2 <= containers <= len(CONTAINERS) and moves > 0):
        raise ValueError("a story has 2 to 8 people and containers, and at least one move")
    wants_false = order > 0 and rng.random() < 0.5
    for _ in range(ATTEMPTS):
        episode, mentioned, thing = _draw_story(rng, people, moves, containers, telling)
        chain = _draw_chain(rng, episode.agents, order)
        believed = believed_place(episode, chain, thing, conventions=conventions)
        false = believed != believed_place(episode, (), thing, conventions=conventions)
        if believed is not None and false == wants_false:
            return _example(rng, episode, mentioned, thing, chain, believed, style)
    raise ValueError(f"no such story was found in {ATTEMPTS} attempts")


def _draw(rng: np.random.Generator, items: Sequence[str], n: int) -> tuple[str, ...]:
    return tuple(items[i] for i in rng.choice(len(items), n, replace=False))


def _draw_story(
    rng: np.random.Generator, people: int, moves: int, containers: int, telling: float
) -> tuple[Episode, tuple[str, ...], str]:
    names, places = _draw(rng, PEOPLE, people), _draw(rng, CONTAINERS, containers)
    (thing,), (room, elsewhere) = _draw(rng, THINGS, 1), _draw(rng, ROOMS, 2)
    start = _draw(rng, places, 1)[0]
    there = [who for who in names if rng.random() < 0.8] or [names[0]]
    draft = _Draft(names, places, thing, room, elsewhere, start, list(there))
    while sum(isinstance(event, Event) and event.verb == "move" for event in draft.timeline) < moves:
        draft.add(rng, telling)
    init = [Fact("in_room", who, room if who in there else elsewhere) for who in (*there, *sorted({*names} - {*there}))]
    init += [Fact("at", thing, start)]
    entities = [
        *(Entity(who, "agent") for who in names),
        Entity(thing, "object"),
        *(Entity(place, "place", room, "in") for place in places),
        Entity(room, "room"),
        Entity(elsewhere, "room"),
    ]
    return Episode("", names, tuple(entities), tuple(init), tuple(draft.timeline)), places, thing


def _draw_chain(rng: np.random.Generator, names: Sequence[str], order: int) -> tuple[str, ...]:
    chain = list[str]()
    while len(chain) < order:
        chain += _draw(rng, [who for who in names if who != (chain or [""])[-1]], 1)
    return tuple(chain)


def _example(
    rng: np.random.Generator,
    episode: Episode,
    mentioned: tuple[str, ...],
    thing: str,
    chain: tuple[str, ...],
    believed: str,
    style: Style,
) -> Example:
    offered = _draw(rng, mentioned, len(mentioned))
    options = tuple(AnswerOption((_claim(chain, Fact("at", thing, place)),)) for place in offered)
    question = Question("", options, kind=f"order {len(chain)}", labels=offered)
    told, asks = (_tomi if style == "tomi" else _plain)(episode, mentioned, thing, chain)
    return Example(episode, question, offered.index(believed), told, asks, chain)


def _claim(chain: tuple[str, ...], fact: Fact) -> Claim:
    if not chain:
        return Holds(fact)
    inner: Fact | Belief = fact
    for who in reversed(chain[1:]):
        inner = Belief(who, inner)
    return Belief(chain[0], inner)


def _list(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _plain(episode: Episode, places: tuple[str, ...], thing: str, chain: tuple[str, ...]) -> tuple[str, str]:
    """The story and the question in plain English."""
    room = episode.entities[-2].id
    are = "are" if thing.endswith("s") else "is"
    told = list[str]()
    for where in (room, episode.entities[-1].id):
        there = [fact.subject for fact in episode.init if fact.value == where]
        told += [f"{_list(there)} {'are' if len(there) > 1 else 'is'} in the {where}."] if there else []
    told += [f"The {_list([places[0], *(f'the {place}' for place in places[1:])])} are in the {room}."]
    told += [f"The {thing} {are} in the {fact.value}." for fact in episode.init if fact.predicate == "at"]
    for event in episode.timeline:
        told.append(_said(event, thing, are) if isinstance(event, Utterance) else _done(event, "plain"))
    minds = "".join(f" {who} think{'' if i == 0 else 's'}" for i, who in enumerate(chain))
    return " ".join(told), f"Where does{minds} the {thing} {are}?" if chain else f"Where {are} the {thing} really?"


def _done(event: Happening, style: Style) -> str:
    assert isinstance(event, Event)
    past = {"enter": "entered", "leave": "exited", "move": "moved"}
    present = {"enter": "enters", "leave": "leaves", "move": "moves"}
    verb = (past if style == "tomi" else present)[event.verb]
    return f"{event.agent} {verb} the " + (f"{event.obj} to the {event.place}." if event.obj else f"{event.room}.")


def _said(utterance: Utterance, thing: str, are: str) -> str:
    assert utterance.content is not None
    to = f"tells {utterance.hearers[0]}" if utterance.hearers else "says"
    return f"{utterance.speaker} {to} that the {thing} {are} in the {utterance.content.value}."


def _tomi(episode: Episode, places: tuple[str, ...], thing: str, chain: tuple[str, ...]) -> tuple[str, str]:
    """The story in numbered lines, with everybody entering first, and the question."""
    room = episode.entities[-2].id
    told = [f"{fact.subject} entered the {fact.value}." for fact in episode.init if fact.predicate == "in_room"]
    told += [f"The {thing} is in the {fact.value}." for fact in episode.init if fact.predicate == "at"]
    told += [f"The {place} is in the {room}." for place in places]
    for event in episode.timeline:
        told.append(_said(event, thing, "is") if isinstance(event, Utterance) else _done(event, "tomi"))
    numbered = "\n".join(f"{i} {line}" for i, line in enumerate(told, 1))
    if not chain:
        return numbered, f"Where is the {thing} really?"
    if len(chain) == 1:
        return numbered, f"Where will {chain[0]} look for the {thing}?"
    minds = "".join(f" {who} think{'' if i == 0 else 's'}" for i, who in enumerate(chain[:-1]))
    that = f" that {chain[-1]} searches for the {thing}" if len(chain) == 2 else f" {chain[-1]} thinks the {thing} is"
    return numbered, f"Where does{minds}{that}?"
