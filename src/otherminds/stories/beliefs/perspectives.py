"""What a story leaves unsaid about who sees what: the conventions that its readers are expected to share.

Common to all: who is in a room sees what is done there, and knows that the others there see it too; who is elsewhere
sees nothing of it, and nobody's idea of him changes; who is not said to come from elsewhere was there from the start.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from otherminds.stories.homes import Room, find_rooms
from otherminds.stories.model import Episode, Event, Fact, Happening, Observation, Utterance
from otherminds.worlds.household.nested_belief import (
    MoveEvent,
    NestedBelief,
    SightEvent,
    StatementEvent,
    WitnessedEvent,
)


@dataclass(frozen=True)
class Conventions:
    """The switches.

    `entering`, what coming into a room shows: `everything` in it, containers being open, so that all who are there see
    it together; all of it, but only the `first_time`: who comes back believes what he did until he looks; only what is
    on `surfaces`, in hands or lying about; or `nothing`.
    `telling`: hearers believe what they are `told`; or only speakers who left the room of the thing after them, all
    knowing who left when (`later_exit`); or nobody (`ignored`).
    `public`, who hears what is said to nobody in particular: those in the speaker's `room`, or `everybody`.
    `telling_reaches`: how many minds deep what is said changes what is believed of beliefs; None: without end.
    """

    name: str
    entering: Literal["everything", "first_time", "surfaces", "nothing"] = "everything"
    telling: Literal["told", "later_exit", "ignored"] = "told"
    public: Literal["room", "everybody"] = "room"
    telling_reaches: int | None = None


EVERYDAY = Conventions("everyday")
TOMI = Conventions("ToMi")
HI_TOM = Conventions("Hi-ToM", telling="later_exit", public="everybody", telling_reaches=2)
SALLY_ANNE = Conventions("Sally-Anne", entering="first_time")
PRESETS = (EVERYDAY, TOMI, HI_TOM, SALLY_ANNE)


REALITY = "\0"
"""Reality is what somebody believes who watches everything unnoticed; no agent is called so."""
LIKELY = 0.5
HANDS_ON = ("enter", "open", "close", "grab", "put", "move")
"""What nobody does who is away: he is back, though nobody says so."""
Watchers = Mapping[int, frozenset[str]]


@dataclass(frozen=True)
class Sight:
    """What there is to observe of a happening, or, without one, of how things stood at the start."""

    event: WitnessedEvent
    happening: Happening | None


def sights(episode: Episode, conventions: Conventions, at: int | None = None) -> Iterator[Sight]:
    """All that minds could observe in a story up to a time, in its order; what probably did not happen is left out."""
    stage = _Stage(episode, conventions)
    for fact in episode.init:
        yield from (stage.noted(Sight(event, None)) for event in stage.start(fact))
    for number, happening in enumerate(episode.timeline):
        if happening.p >= LIKELY and (at is None or happening.t <= at):
            yield from (stage.noted(Sight(event, happening)) for event in stage.play(number, happening))


class _Stage:
    """Where everybody and everything is at a point of the story, and who has been where."""

    def __init__(self, episode: Episode, conventions: Conventions) -> None:
        self.episode, self.conventions = episode, conventions
        self.number = 0
        self.rooms = find_rooms(episode)
        self.agents: dict[str, Room] = {who: self.rooms.at_start[who] for who in episode.agents}
        self.places: dict[str, str] = {}
        self.in_rooms = {who: [room] if room is not None else [] for who, room in self.agents.items()}
        self.left: dict[tuple[str, Room], float] = {}
        self.unaware: set[str] = set()
        self.enclosed = {entity.id for entity in episode.entities if entity.relation == "in"}
        self.minds = {who: NestedBelief(who) for who in episode.agents}
        self.inattentive, self.unseen = _stated(episode, sees=False), _stated(episode, sees=True)

    def noted(self, sight: Sight) -> Sight:
        """Let everybody's mind observe it: what they say is what they believe then."""
        self.minds = {who: mind.observe(sight.event) for who, mind in self.minds.items()}
        return sight

    def start(self, fact: Fact) -> Iterator[WitnessedEvent]:
        """How things stand at the start is seen by those who are there; what is said again later is no news."""
        obj, place = _whereabouts(fact)
        if obj is not None and place is not None and obj not in self.places:
            self.places[obj] = place
            yield MoveEvent(obj, place, self.present(self.room_of(place)), frozenset({REALITY}))

    def play(self, number: int, happening: Happening) -> Iterator[WitnessedEvent]:
        """What there is to observe of the happening of that number."""
        self.number = number
        if isinstance(happening, Utterance):
            return self.said(happening)
        if isinstance(happening, Observation):
            return self.noticed(happening)
        return self.done(happening)

    def present(self, room: Room) -> frozenset[str]:
        return frozenset(who for who, where in self.agents.items() if room is not None and where == room)

    def room_of(self, place: str) -> Room:
        """The room of a place, or of whoever has his hands on it."""
        return self.agents[place] if place in self.agents else self.rooms.of_place.get(place, self.rooms.scene)

    def done(self, event: Event) -> Iterator[WitnessedEvent]:
        """Somebody goes to where he acts, if he is not there, and then acts."""
        who, room = event.agent, self.rooms.of_event(event, self.places)
        if who not in self.agents:
            return
        if room is None and event.verb in HANDS_ON and self.agents[who] is None:
            room = (self.in_rooms[who] or [self.rooms.scene])[-1]
        if event.verb == "leave":
            self.leaves(who)
        elif room is not None:
            yield from self.goes(who, room)
        if event.verb in ("grab", "put", "move") and event.obj is not None:
            yield from self.moves(event, event.obj)
        elif event.verb in ("look", "open") and self.agents[who] is not None:
            yield from self.looks(event)

    def leaves(self, who: str) -> None:
        self.left[who, self.agents[who]] = self.number
        self.unaware.discard(who)
        self.agents[who] = None

    def goes(self, who: str, room: str) -> Iterator[WitnessedEvent]:
        """Somebody comes into a room: those there see what he brings, and he may see what there is."""
        if self.agents[who] == room:
            return
        first, entering = room not in self.in_rooms[who], self.conventions.entering
        self.leaves(who)
        self.agents[who] = room
        self.in_rooms[who].append(room)
        if who in self.places.values():
            yield self.shown(frozenset({who}), room, self.present(room))
        if entering == "nothing" or (entering == "first_time" and not first):
            self.unaware.add(who)
            return
        at = self.places_in(room)
        yield self.shown(at - self.enclosed if entering == "surfaces" else at, room, self.present(room) - self.unaware)

    def places_in(self, room: Room) -> frozenset[str]:
        known = {*self.rooms.of_place, *self.places.values(), *self.agents}
        return frozenset(place for place in known if self.room_of(place) == room)

    def shown(self, at: frozenset[str], room: Room, lookers: frozenset[str]) -> SightEvent:
        there = tuple(sorted((obj, place) for obj, place in self.places.items() if place in at))
        return SightEvent(at, there, self.present(room), lookers)

    def looks(self, event: Event) -> Iterator[WitnessedEvent]:
        """Somebody looks at a place, at where a thing is, or all around; open containers show the others as much."""
        room, place = self.agents[event.agent], event.place or self.places.get(event.obj or "")
        if place is None:
            self.unaware.discard(event.agent)
        if event.obj is not None and (place is None or self.room_of(place) != room):
            return
        at = self.places_in(room) if place is None or place in self.rooms.of_place.values() else frozenset({place})
        others = self.present(room) - self.unaware if self.conventions.entering == "everything" else frozenset[str]()
        yield self.shown(at, room, others | {event.agent})

    def moves(self, event: Event, obj: str) -> Iterator[WitnessedEvent]:
        """A thing is taken or put somewhere, perhaps carried to another room for it."""
        who, room = event.agent, self.agents[event.agent]
        place = who if event.verb == "grab" else event.place or room or ""
        if self.room_of(place) != room:
            yield self.moved(obj, who, who)
            yield from self.goes(who, self.room_of(place) or self.rooms.scene)
        yield self.moved(obj, place, who)

    def moved(self, obj: str, place: str, who: str) -> MoveEvent:
        self.places[obj] = place
        absent_minded = self.inattentive.get(self.number, frozenset()) - {who}
        self.unaware |= absent_minded & self.present(self.agents[who])
        by = self.present(self.agents[who]) - absent_minded
        return MoveEvent(obj, place, by, self.unseen.get(self.number, frozenset()) - by | {REALITY})

    def noticed(self, observation: Observation) -> Iterator[WitnessedEvent]:
        """What is noticed of how things stand, and not of a happening, is seen by one alone."""
        who, (obj, place) = observation.agent, _whereabouts(observation.fact)
        place = place or self.places.get(obj or "")
        if not observation.sees or _noticed(self.episode, self.number, observation) is not None:
            return
        if who in self.agents and obj is not None and place is not None:
            yield MoveEvent(obj, place, frozenset({who}))

    def said(self, utterance: Utterance) -> Iterator[WitnessedEvent]:
        """Something is said of where a thing is, to those named, or else to whoever may hear it."""
        who = utterance.speaker
        if who not in self.agents or utterance.content is None or utterance.act not in ("assert", "deny"):
            return
        obj, place = _whereabouts(utterance.content)
        place = place or self.minds[who].place_of(obj or "")
        if obj is None or place is None:
            return
        public = self.agents.keys() if self.conventions.public == "everybody" else self.present(self.agents[who])
        hearers = frozenset((utterance.hearers or public) & self.agents.keys()) - {who}
        trusting = self.trusting(who, hearers, self.room_of(self.places.get(obj, place)))
        reach = self.conventions.telling_reaches
        yield StatementEvent(who, obj, place, hearers, trusting, utterance.act == "assert", reach)

    def trusting(self, speaker: str, hearers: frozenset[str], room: Room) -> frozenset[str]:
        if self.conventions.telling != "later_exit":
            return hearers if self.conventions.telling == "told" else frozenset()
        return frozenset(who for who in hearers if self.when_left(who, room) < self.when_left(speaker, room))

    def when_left(self, who: str, room: Room) -> float:
        """Who is still there leaves last, and who was never there left before all others."""
        return math.inf if self.agents[who] == room else self.left.get((who, room), -math.inf)


def _whereabouts(fact: Fact) -> tuple[str | None, str | None]:
    """The thing a fact speaks of, and where it is; in somebody's hands is a place, too."""
    if fact.predicate == "holds":
        return fact.value, fact.subject
    return (fact.subject, fact.value) if fact.predicate == "at" else (None, None)


def _stated(episode: Episode, sees: bool) -> Watchers:
    """By the number of a happening, who is said to see it, or not to, in spite of where he is."""
    found = defaultdict[int, frozenset[str]](frozenset)
    for number, happening in enumerate(episode.timeline):
        if isinstance(happening, Observation) and happening.sees == sees:
            about = _noticed(episode, number, happening)
            if about is not None:
                found[about] |= {happening.agent}
    return dict(found)


def _noticed(episode: Episode, number: int, observation: Observation) -> int | None:
    """The number of the happening that an observation is of: the last that fits before it, or else the next one."""
    obj, place = _whereabouts(observation.fact)
    fits = [i for i, event in enumerate(episode.timeline) if isinstance(event, Event) and _makes(event, obj, place)]
    before = [i for i in fits if i < number]
    return before[-1] if before else next(iter(fits), None)


def _makes(event: Event, obj: str | None, place: str | None) -> bool:
    now = {"grab": event.agent, "put": event.place, "move": event.place}
    return event.verb in now and event.obj == obj and obj is not None and place in (None, now[event.verb])
