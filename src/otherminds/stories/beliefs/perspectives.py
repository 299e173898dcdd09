"""Who witnesses what in a story, under stated conventions: happenings as events that minds observe."""

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
    """What a story leaves unsaid about who sees and believes what; a benchmark's readers are expected to share it.

    Common to all: an agent in a room sees what is done there, and knows that the others there see it too; an absent
    agent sees nothing, and nobody's model of it changes; an agent that never arrives was there from the start.

    entering: what an agent sees that enters a room. `everything` in it, with containers open and all present looking;
        the same, but only the `first_time` (an agent that returns keeps its belief until it looks); what is on
        `surfaces` or in hands; or `nothing`.
    telling: hearers believe what they are `told`; or only speakers that left the item's room after them (`later_exit`;
        all know who left when); or nobody (`ignored`).
    public: the hearers of a statement without addressees: those in the speaker's `room`, or `everybody`.
    telling_reaches: the order of belief up to which statements change beliefs about beliefs; None: without limit.
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


REALITY = "\0"  # name of an observer that sees everything unnoticed: its belief is reality; no agent has this name
LIKELY = 0.5  # least probability of a happening that minds observe; chosen, not tuned
HANDS_ON = ("enter", "open", "close", "grab", "put", "move")  # an absent agent that does one of these is back
Watchers = Mapping[int, frozenset[str]]


def sights(
    episode: Episode, conventions: Conventions, at: int | None = None
) -> Iterator[tuple[WitnessedEvent, Happening | None]]:
    """All events that minds may observe in a story up to time `at`, in order; improbable happenings are left out.

    Each comes with the happening it belongs to, None for the start of the story. A happening may be several events:
    who enters a room sees what is there, and is seen.
    """
    stage = _Stage(episode, conventions)
    for fact in episode.init:
        yield from ((stage.noted(event), None) for event in stage.start(fact))
    for number, happening in enumerate(episode.timeline):
        if happening.p >= LIKELY and (at is None or happening.t <= at):
            yield from ((stage.noted(event), happening) for event in stage.play(number, happening))


class _Stage:
    """The positions of all agents and items at a point of the story, and the rooms agents have been in."""

    def __init__(self, episode: Episode, conventions: Conventions) -> None:
        """The stage before the story begins.

        `agents` maps agents to their rooms, `places` items to their places or holders, `in_rooms` agents to the rooms
        where they have been, `left` an agent and a room to when it last left that; `unaware` are agents that notice
        nothing in their room before they look around, `enclosed` the places that hide what is in them. `inattentive`
        and `unseen` are what the story itself says, by the number of the happening.
        """
        self.episode, self.conventions = episode, conventions
        self.number = 0
        self.rooms = find_rooms(episode)
        self.agents: dict[str, Room] = {agent: self.rooms.at_start[agent] for agent in episode.agents}
        self.places: dict[str, str] = {}
        self.in_rooms = {agent: [room] if room is not None else [] for agent, room in self.agents.items()}
        self.left: dict[tuple[str, Room], float] = {}
        self.unaware: set[str] = set()
        self.enclosed = {entity.id for entity in episode.entities if entity.relation == "in"}
        self.minds = {agent: NestedBelief(agent) for agent in episode.agents}
        self.inattentive = _stated(episode, sees=False)
        self.unseen = _stated(episode, sees=True)

    def noted(self, event: WitnessedEvent) -> WitnessedEvent:
        """Let every agent's mind observe the event; agents say what they believe."""
        self.minds = {agent: mind.observe(event) for agent, mind in self.minds.items()}
        return event

    def start(self, fact: Fact) -> Iterator[WitnessedEvent]:
        """The event of a fact at the start, seen by the agents present; repeated facts are ignored."""
        obj, place = item_and_place(fact)
        if obj is not None and place is not None and obj not in self.places:
            self.places[obj] = place
            yield MoveEvent(obj, place, self.present(self.room_of(place)), frozenset({REALITY}))

    def play(self, number: int, happening: Happening) -> Iterator[WitnessedEvent]:
        """The events of happening `number`."""
        self.number = number
        if isinstance(happening, Utterance):
            return self.said(happening)
        return self.noticed(happening) if isinstance(happening, Observation) else self.done(happening)

    def present(self, room: Room) -> frozenset[str]:
        """The agents in a room; none in a room that is not told."""
        return frozenset(agent for agent, agent_room in self.agents.items() if room is not None and agent_room == room)

    def room_of(self, place: str) -> Room:
        """The room of a place, or of the agent that holds the item (`place` is then its name)."""
        return self.agents[place] if place in self.agents else self.rooms.of_place.get(place, self.rooms.scene)

    def done(self, event: Event) -> Iterator[WitnessedEvent]:
        """The events of an action; an agent that is elsewhere first enters the action's room."""
        agent, room = event.agent, self.rooms.of_event(event, self.places)
        if agent not in self.agents:
            return
        if room is None and event.verb in HANDS_ON and self.agents[agent] is None:
            room = (self.in_rooms[agent] or [self.rooms.scene])[-1]
        if event.verb == "leave":
            self.leaves(agent)
        elif room is not None:
            yield from self.goes(agent, room)
        if event.verb in ("grab", "put", "move") and event.obj is not None:
            yield from self.moves(event, event.obj)
        elif event.verb in ("look", "open") and self.agents[agent] is not None:
            yield from self.looks(event)

    def leaves(self, agent: str) -> None:
        self.left[agent, self.agents[agent]] = self.number
        self.unaware.discard(agent)
        self.agents[agent] = None

    def goes(self, agent: str, room: str) -> Iterator[WitnessedEvent]:
        """An agent enters a room: those there see what it carries, and by convention it sees what is there."""
        if self.agents[agent] == room:
            return
        first, entering = room not in self.in_rooms[agent], self.conventions.entering
        self.leaves(agent)
        self.agents[agent] = room
        self.in_rooms[agent].append(room)
        if agent in self.places.values():
            yield self.shown(frozenset({agent}), room, self.present(room))
        if entering == "nothing" or (entering == "first_time" and not first):
            self.unaware.add(agent)
            return
        places = self.places_in(room)
        visible = places - self.enclosed if entering == "surfaces" else places
        yield self.shown(visible, room, self.present(room) - self.unaware)

    def places_in(self, room: Room) -> frozenset[str]:
        all_places = {*self.rooms.of_place, *self.places.values(), *self.agents}
        return frozenset(place for place in all_places if self.room_of(place) == room)

    def shown(self, places: frozenset[str], room: Room, onlookers: frozenset[str]) -> SightEvent:
        """What `onlookers` see in some places of a room: all items in them, and so that nothing else is there."""
        items_in_sight = tuple(sorted((obj, place) for obj, place in self.places.items() if place in places))
        return SightEvent(places, items_in_sight, self.present(room), onlookers)

    def looks(self, event: Event) -> Iterator[WitnessedEvent]:
        """An agent looks at a place, at an item's place, or around; by convention the others there look as well."""
        room, place = self.agents[event.agent], event.place or self.places.get(event.obj or "")
        if place is None:
            self.unaware.discard(event.agent)
        if event.obj is not None and (place is None or self.room_of(place) != room):
            return
        places = self.places_in(room) if place is None or place in self.rooms.of_place.values() else frozenset({place})
        company = self.present(room) - self.unaware if self.conventions.entering == "everything" else frozenset[str]()
        yield self.shown(places, room, company | {event.agent})

    def moves(self, event: Event, obj: str) -> Iterator[WitnessedEvent]:
        """An item is taken or put somewhere; the agent may first carry it to another room."""
        agent, room = event.agent, self.agents[event.agent]
        place = agent if event.verb == "grab" else event.place or room or ""
        if self.room_of(place) != room:
            yield self.moved(obj, agent, agent)
            yield from self.goes(agent, self.room_of(place) or self.rooms.scene)
        yield self.moved(obj, place, agent)

    def moved(self, obj: str, place: str, agent: str) -> MoveEvent:
        """An item is now in another place.

        The agents in the room that pay attention see it, and those that the story names.
        """
        self.places[obj] = place
        absent_minded = self.inattentive.get(self.number, frozenset()) - {agent}
        self.unaware |= absent_minded & self.present(self.agents[agent])
        witnesses = self.present(self.agents[agent]) - absent_minded
        return MoveEvent(obj, place, witnesses, self.unseen.get(self.number, frozenset()) - witnesses | {REALITY})

    def noticed(self, observation: Observation) -> Iterator[WitnessedEvent]:
        """A stated observation of a fact, seen by one agent; observations of happenings are handled with those."""
        agent, (obj, place) = observation.agent, item_and_place(observation.fact)
        place = place or self.places.get(obj or "")
        if not observation.sees or _noticed(self.episode, self.number, observation) is not None:
            return
        if agent in self.agents and obj is not None and place is not None:
            yield MoveEvent(obj, place, frozenset({agent}))

    def said(self, utterance: Utterance) -> Iterator[WitnessedEvent]:
        """A statement about an item's place, to its addressees or else to all who can hear it."""
        speaker = utterance.speaker
        if speaker not in self.agents or utterance.content is None or utterance.act not in ("assert", "deny"):
            return
        obj, place = item_and_place(utterance.content)
        place = place or self.minds[speaker].place_of(obj or "")
        if obj is None or place is None:
            return
        public = self.agents.keys() if self.conventions.public == "everybody" else self.present(self.agents[speaker])
        hearers = frozenset((utterance.hearers or public) & self.agents.keys()) - {speaker}
        trusting = self.trusting(speaker, hearers, self.room_of(self.places.get(obj, place)))
        reach = self.conventions.telling_reaches
        yield StatementEvent(speaker, obj, place, hearers, trusting, utterance.act == "assert", reach)

    def trusting(self, speaker: str, hearers: frozenset[str], room: Room) -> frozenset[str]:
        """The hearers that believe the speaker about an item in this room."""
        if self.conventions.telling != "later_exit":
            return hearers if self.conventions.telling == "told" else frozenset()
        return frozenset(agent for agent in hearers if self.when_left(agent, room) < self.when_left(speaker, room))

    def when_left(self, agent: str, room: Room) -> float:
        """The number of the happening by which the agent left: inf if it is there, −inf if it never was."""
        return math.inf if self.agents[agent] == room else self.left.get((agent, room), -math.inf)


def item_and_place(fact: Fact) -> tuple[str | None, str | None]:
    """The item and place of a fact; an agent that holds the item counts as its place."""
    if fact.predicate == "holds":
        return fact.value, fact.subject
    return (fact.subject, fact.value) if fact.predicate == "at" else (None, None)


def _stated(episode: Episode, sees: bool) -> Watchers:
    """For each happening (by number), the agents that the story says see it, or do not, wherever they are."""
    watchers = defaultdict[int, frozenset[str]](frozenset)
    for number, happening in enumerate(episode.timeline):
        if isinstance(happening, Observation) and happening.sees == sees:
            about = _noticed(episode, number, happening)
            if about is not None:
                watchers[about] |= {happening.agent}
    return dict(watchers)


def _noticed(episode: Episode, number: int, observation: Observation) -> int | None:
    """The number of the happening that was observed: the last fitting one before the observation, else the next."""
    obj, place = item_and_place(observation.fact)
    fits = []
    for i, event in enumerate(episode.timeline):
        if isinstance(event, Event) and event.verb in ("grab", "put", "move") and obj is not None and event.obj == obj:
            new_place = event.agent if event.verb == "grab" else event.place
            fits += [i] if place in (None, new_place) else []
    earlier = [i for i in fits if i < number]
    return earlier[-1] if earlier else next(iter(fits), None)
