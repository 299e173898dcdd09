"""Which room every place of a story is in, and where everybody is at its start, as far as the story says or implies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from otherminds.stories.model import Entity, Episode, Event
from otherminds.worlds.household.rules import Act, Home, Person, Place, State

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


SOMEWHERE = "(elsewhere)"
BETWEEN_ROOMS = 2
MOST = 14
USUAL = {
    "kitchen": ("+fridge", "+microwave", "+stove", "+dishwasher", "+cabinet", "table", "counter"),
    "living room": ("+cabinet", "sofa", "coffee table", "desk"),
    "bedroom": ("coffee table", "desk"),
    "bathroom": ("+cabinet",),
}


def home_of(episode: Episode, named: Iterable[str] = ()) -> Home:
    """The home of an episode: the places of the story and of `named`, and the furniture any home has, room by room.

    Any two rooms are two steps apart. What is in no room known is in a room of its own. If there are more places than
    a search can be planned for, furniture the story does not name goes first, then what it names last.
    """
    places = [entity for entity in episode.entities if entity.kind == "place"]
    rooms = tuple(entity.id for entity in episode.entities if entity.kind == "room")
    known = {entity.id for entity in places} | {entity.room for entity in places} | {*rooms, *USUAL}
    places += [Entity(name, "place") for name in dict.fromkeys(named) if name not in known]
    return _home(tuple(places), rooms, not episode.complete)


@lru_cache(maxsize=1024)
def _home(entities: tuple[Entity, ...], rooms: tuple[str, ...], furnish: bool) -> Home:
    places = [Place(entity.id, entity.room or SOMEWHERE, entity.relation == "in") for entity in entities]
    if furnish:
        taken = {place.name for place in places}
        places += [place for place in _usual() if place.name not in taken]
    places = places[:MOST]
    named = dict.fromkeys([*rooms, *(place.room for place in places), *((*USUAL, SOMEWHERE) if furnish else ())])
    order = tuple(room for room in named if room not in {place.name for place in places}) or (SOMEWHERE,)
    steps = tuple(tuple(0 if a == b else BETWEEN_ROOMS for b in order) for a in order)
    return Home(order, tuple(dict.fromkeys(places)), steps)


def _usual() -> Iterator[Place]:
    for room, furniture in USUAL.items():
        for name in furniture:
            yield Place(f"{room} {name.lstrip('+')}", room, name.startswith("+"))


def usual_places() -> tuple[str, ...]:
    """The furniture of any home, room by room."""
    return tuple(place.name for place in _usual())


def opening_of(episode: Episode, home: Home) -> State:
    """Where everybody is before the first happening: where the story says so, else where it first shows them, unless
    they come there from somewhere else."""
    rooms: dict[str, str | None] = {
        f.subject: f.value for f in episode.init if f.predicate == "in_room" and f.value in home.rooms
    }
    for event in episode.timeline:
        if isinstance(event, Event) and event.agent not in rooms:
            rooms[event.agent] = None if event.verb in ("walk", "enter", "leave") else room_of(home, event)
    unknown = SOMEWHERE if SOMEWHERE in home.rooms else home.rooms[0]
    people = tuple((name, Person(rooms.get(name) or unknown)) for name in episode.agents)
    things = [(f.subject, f.value) for f in episode.init if f.predicate == "at" and f.value in home.place]
    return State(people, tuple((thing, place) for thing, place in things if place is not None))


def room_of(home: Home, event: Event) -> str | None:
    """The room an event takes the agent to, or happens in, if that can be told."""
    if event.place is not None and event.place in home.place:
        return home.place[event.place].room
    return event.room if event.room in home.room_number else None


def acts_of_event(event: Event, home: Home) -> tuple[Act, ...]:
    """The acts of the household an event stands for: moving a thing is to grab it and to put it down."""
    place = event.place if event.place in home.place else None
    match event.verb:
        case "enter" | "walk" | "leave":
            target = place or (event.room if event.room in home.room_number and event.verb != "leave" else None)
            return (Act("walk", None, target),) if target else ()
        case "open" | "close":
            return (Act(event.verb, None, place),) if place else ()
        case "grab" | "put":
            return (Act(event.verb, event.obj, place),)
        case "move":
            return (Act("grab", event.obj, None), Act("put", event.obj, place))
        case _:
            return ()


def steps_before(home: Home, me: Person, opened: frozenset[str], act: Act, room: str | None) -> Iterator[Act]:
    """What must have happened, though the story does not tell it, before the act: walking there, opening the place."""
    place = home.place.get(act.place or "")
    there = place.room if place is not None else room
    if act.do in ("open", "close", "grab", "put") or (act.do == "walk" and place is not None):
        if there is not None and there != me.room:
            yield Act("walk", None, there)
        if act.do != "walk" and place is not None:
            if me.at != place.name:
                yield Act("walk", None, place.name)
            if act.do in ("grab", "put", "close") and place.closes and place.name not in opened:
                yield Act("open", None, place.name)
