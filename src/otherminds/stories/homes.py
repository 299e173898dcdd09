"""Where a story takes place: the rooms it states or implies, and the household in which its events become acts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

from otherminds.files.toml import packaged
from otherminds.stories.model import Entity, Episode, Event
from otherminds.worlds.household.rules import Act, Home, Person, Place, State

UNNAMED = ""  # the room of a story that names none
Room = str | None  # None: away, in no room of the story


@dataclass
class Rooms:
    """The room of each place and, at the start, of each agent; `scene` is the room of all whose room is not stated."""

    of_place: dict[str, str] = field(default_factory=dict)
    at_start: dict[str, Room] = field(default_factory=dict)
    scene: str = UNNAMED

    def of_event(self, event: Event, places: dict[str, str]) -> Room:
        """The room that an event names, or implies by its object's present place (`places`) or its own place."""
        if event.room is not None:
            return event.room
        old = places.get(event.obj) if event.obj is not None else None
        candidates = [event.place] if event.verb in ("walk", "enter", "leave") else [old, event.place]
        return next((self.of_place[place] for place in candidates if place in self.of_place), None)


def find_rooms(episode: Episode) -> Rooms:
    """The rooms of a story; those it does not state are inferred.

    An item is where the person is who uses it, and a person who never arrives was in the room from the start.
    """
    rooms = Rooms()
    for entity in episode.entities:
        if entity.kind == "room":
            rooms.of_place[entity.id] = entity.id
        elif entity.room is not None and entity.kind == "place":
            rooms.of_place[entity.id] = entity.room
    for fact in episode.init:
        if fact.predicate == "in_room" and fact.value is not None:
            room_by_id = rooms.at_start if fact.subject in episode.agents else rooms.of_place
            room_by_id[fact.subject] = fact.value
    before = -1
    while before != len(rooms.of_place) + len(rooms.at_start):
        before = len(rooms.of_place) + len(rooms.at_start)
        _walk_through(episode, rooms)
    rooms.scene = _scene(episode, rooms)
    first = {event.agent: event.room for event in reversed(episode.events) if comes(event)}
    for agent in episode.agents:
        if agent not in rooms.at_start:
            rooms.at_start[agent] = UNNAMED if first.get(agent) == rooms.scene else rooms.scene
    return rooms


def comes(event: Event) -> bool:
    """Whether the event takes its agent into a room."""
    return event.verb == "enter" or (event.verb == "walk" and event.room is not None)


def _walk_through(episode: Episode, rooms: Rooms) -> None:
    """Follow all agents through the story once; add to `rooms` what their positions imply about places."""
    agents, acted = dict(rooms.at_start), set[str]()
    things = {fact.subject: fact.value for fact in episode.init if fact.predicate == "at" and fact.value is not None}
    for event in episode.events:
        agent, room = event.agent, rooms.of_event(event, things)
        if comes(event):
            if agent not in agents and agent not in acted:
                rooms.at_start[agent] = None
            agents[agent] = room
            continue
        if room is not None and agent not in agents and agent not in acted:
            rooms.at_start[agent] = agents[agent] = room
        acted.add(agent)
        current_room = agents.get(agent, room)
        for place in (things.get(event.obj or ""), event.place):
            if place is not None and current_room is not None and place not in episode.agents:
                rooms.of_place.setdefault(place, current_room)
        if event.verb == "leave":
            agents[agent] = None
        if event.verb in ("put", "move") and event.obj is not None and event.place is not None:
            things[event.obj] = event.place


def _scene(episode: Episode, rooms: Rooms) -> str:
    """The first room with an agent or item in it; a room that an agent enters counts only if the story begins so."""
    first = [room for room in rooms.at_start.values() if room is not None]
    first += [rooms.of_place[fact.value] for fact in episode.init if fact.value in rooms.of_place]
    if episode.events and comes(episode.events[0]):
        first += [room for event in episode.events if comes(event) if (room := rooms.of_event(event, {})) is not None]
    return first[0] if first else UNNAMED


SOMEWHERE = "(elsewhere)"  # the room of places whose room is unknown
BETWEEN_ROOMS = 2  # steps from any room to any other; chosen, not tuned
MOST = 40  # places of a home (chosen; not tuned)
MOST_CASES = 1 << 12  # numbers of closed places that may be left to search in all rooms; bounds time (chosen)
# Furniture of every home, that of the apartments in MuMA-ToM; `+` marks containers, which have to be opened.
USUAL: dict[str, list[str]] = packaged("otherminds.stories", "homes.toml")
USUAL_PLACES = tuple(Place(f"{room} {n.lstrip('+')}", room, n.startswith("+")) for room in USUAL for n in USUAL[room])


def home_of(episode: Episode, place_names: Iterable[str] = ()) -> Home:
    """The home of an episode: the places of the story, `place_names`, and the furniture every home has (`USUAL`).

    Any two rooms are `BETWEEN_ROOMS` steps apart. Places in no known room share the room `SOMEWHERE`. Only the first
    `MOST` places are kept, those that the story names before the usual furniture, and fewer if a search would be long.
    """
    places = [entity for entity in episode.entities if entity.kind == "place"]
    rooms = episode.named("room")
    existing = {entity.id for entity in places} | {entity.room for entity in places} | {*rooms, *USUAL}
    places += [Entity(name, "place") for name in dict.fromkeys(place_names) if name not in existing]
    return _home(tuple(places), rooms, not episode.complete)


@lru_cache(maxsize=1024)
def _home(entities: tuple[Entity, ...], rooms: tuple[str, ...], furnish: bool) -> Home:
    """The home with these rooms and places; `furnish` adds the usual ones.

    Places beyond what can be planned are left out.
    """
    rooms_of_places = {entity.room for entity in entities} | (set(USUAL) if furnish else set())
    # a room with places in it is no place itself, whatever the story says is put into it
    place_entities = [entity for entity in entities if entity.id not in rooms_of_places]
    places = [Place(entity.id, entity.room or SOMEWHERE, entity.relation == "in") for entity in place_entities]
    if furnish:
        story_places = {place.name for place in places}
        places += [place for place in USUAL_PLACES if place.name not in story_places]
    places = places[:MOST]
    while _cases(places) > MOST_CASES:
        places.pop()
    room_names = dict.fromkeys([*rooms, *(place.room for place in places), *((*USUAL, SOMEWHERE) if furnish else ())])
    room_order = tuple(room for room in room_names if room not in {place.name for place in places}) or (SOMEWHERE,)
    steps = tuple(tuple(0 if a == b else BETWEEN_ROOMS for b in room_order) for a in room_order)
    return Home(room_order, tuple(dict.fromkeys(places)), steps)


def _cases(places: Sequence[Place]) -> int:
    """How many numbers of closed places there may be to search, over all rooms."""
    closed = Counter(place.room for place in places if place.closes)
    return prod(closed[room] + 2 for room in {place.room for place in places})


def opening_of(episode: Episode, home: Home) -> State:
    """The household before the first happening.

    People are where the story says, else where they first act, unless they arrive there from an unknown room.
    """
    rooms: dict[str, str | None] = {
        f.subject: f.value for f in episode.init if f.predicate == "in_room" and f.value in home.rooms
    }
    for event in episode.events:
        if event.agent not in rooms:
            rooms[event.agent] = None if event.verb in ("walk", "enter", "leave") else room_of(home, event)
    unknown = SOMEWHERE if SOMEWHERE in home.rooms else home.rooms[0]
    people = tuple((name, Person(rooms.get(name) or unknown)) for name in episode.agents)
    things = [(f.subject, f.value) for f in episode.init if f.predicate == "at" and f.value in home.place]
    return State(people, tuple((thing, place) for thing, place in things if place is not None))


def room_of(home: Home, event: Event) -> str | None:
    """The room that an event takes its agent to, or happens in; None if unknown."""
    if event.place is not None and event.place in home.place:
        return home.place[event.place].room
    return event.room if event.room in home.room_number else None


def held_by(state: State, thing: str, holder: str | None) -> State:
    """The state with the item in the hands of this agent (None: of nobody), and of no other."""
    hands = {name: {thing} if name == holder else set[str]() for name, _ in state.people}
    people = ((name, person._replace(holds=person.holds - {thing} | hands[name])) for name, person in state.people)
    return state._replace(people=tuple(people))


def acts_of_event(event: Event, home: Home) -> tuple[Act, ...]:
    """The household acts that an event stands for; `move` is `grab` and `put`. Empty if there are none."""
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
    """The acts that must precede `act` though the story leaves them out: walking there, opening the container."""
    place = home.place.get(act.place or "")
    act_room = place.room if place is not None else room
    if act.do in ("open", "close", "grab", "put") or (act.do == "walk" and place is not None):
        if act_room is not None and act_room != me.room:
            yield Act("walk", None, act_room)
        if act.do != "walk" and place is not None:
            if me.at != place.name:
                yield Act("walk", None, place.name)
            if act.do in ("grab", "put", "close") and place.closes and place.name not in opened:
                yield Act("open", None, place.name)
