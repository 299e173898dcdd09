"""Which room every place of a story is in, and where everybody is at its start, as far as the story says or implies."""

from __future__ import annotations

from dataclasses import dataclass, field

from otherminds.stories.model import Episode, Event

UNNAMED = ""
"""The room of a story that names none."""
Room = str | None
"""None: away, in no room that the story has."""


@dataclass
class Rooms:
    """The room of every place that has one, of every agent at the start, and of whatever is not said to be anywhere."""

    of_place: dict[str, str] = field(default_factory=dict)
    at_start: dict[str, Room] = field(default_factory=dict)
    scene: str = UNNAMED

    def of_event(self, event: Event, places: dict[str, str]) -> Room:
        """The room that an event names or implies, by where its object is or by its place."""
        if event.room is not None:
            return event.room
        old = places.get(event.obj) if event.obj is not None else None
        named = [event.place] if event.verb in ("walk", "enter", "leave") else [old, event.place]
        return next((self.of_place[place] for place in named if place in self.of_place), None)


def find_rooms(episode: Episode) -> Rooms:
    """What is not said is worked out: a thing is used where its user is, and who is not said to come was there."""
    rooms = Rooms()
    for entity in episode.entities:
        if entity.kind == "room":
            rooms.of_place[entity.id] = entity.id
        elif entity.room is not None and entity.kind == "place":
            rooms.of_place[entity.id] = entity.room
    for fact in episode.init:
        if fact.predicate == "in_room" and fact.value is not None:
            known = rooms.at_start if fact.subject in episode.agents else rooms.of_place
            known[fact.subject] = fact.value
    before = -1
    while before != len(rooms.of_place) + len(rooms.at_start):
        before = len(rooms.of_place) + len(rooms.at_start)
        _walk_through(episode, rooms)
    rooms.scene = _scene(episode, rooms)
    for agent in episode.agents:
        if agent not in rooms.at_start:
            rooms.at_start[agent] = UNNAMED if _comes_to(agent, episode) == rooms.scene else rooms.scene
    return rooms


def comes(event: Event) -> bool:
    """Whether somebody comes into a room, from whatever room he was in."""
    return event.verb == "enter" or (event.verb == "walk" and event.room is not None)


def _walk_through(episode: Episode, rooms: Rooms) -> None:
    """Follow everybody through the story, noting rooms wherever one thing gives away another."""
    agents, acted = dict(rooms.at_start), set[str]()
    things = {fact.subject: fact.value for fact in episode.init if fact.predicate == "at" and fact.value is not None}
    for event in episode.timeline:
        if not isinstance(event, Event):
            continue
        who, room = event.agent, rooms.of_event(event, things)
        if comes(event):
            if who not in agents and who not in acted:
                rooms.at_start[who] = None
            agents[who] = room
            continue
        if room is not None and who not in agents and who not in acted:
            rooms.at_start[who] = agents[who] = room
        acted.add(who)
        here = agents.get(who, room)
        for place in (things.get(event.obj or ""), event.place):
            if place is not None and here is not None and place not in episode.agents:
                rooms.of_place.setdefault(place, here)
        if event.verb == "leave":
            agents[who] = None
        if event.verb in ("put", "move") and event.obj is not None and event.place is not None:
            things[event.obj] = event.place


def _scene(episode: Episode, rooms: Rooms) -> str:
    """The first room that somebody is in, or something; one that somebody comes to only if nothing is done before."""
    first = [room for room in rooms.at_start.values() if room is not None]
    first += [rooms.of_place[fact.value] for fact in episode.init if fact.value in rooms.of_place]
    events = [event for event in episode.timeline if isinstance(event, Event)]
    if events and comes(events[0]):
        first += [room for event in events if comes(event) if (room := rooms.of_event(event, {})) is not None]
    return first[0] if first else UNNAMED


def _comes_to(agent: str, episode: Episode) -> Room:
    """The room that an agent is first said to come to."""
    comings = (e for e in episode.timeline if isinstance(e, Event) and e.agent == agent and comes(e))
    return next((event.room for event in comings), None)
