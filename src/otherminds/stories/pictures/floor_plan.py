"""The states of a story, and the plan of its home: where rooms, places and people are drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.stories.homes import SOMEWHERE, acts_of_event, held_by, home_of, opening_of, room_of, steps_before
from otherminds.stories.model import Episode, Event, Happening, Observation
from otherminds.worlds.household.rules import Act, Home, Household, Place, State

# States

SOMETHING = "something"
"""The item in the hands of an agent if the story does not name it."""


class StoryStates(NamedTuple):
    """The home of a story, and its states: the opening, then one after each happening."""

    home: Home
    states: tuple[State, ...]


def story_states(episode: Episode) -> StoryStates:
    """The states of a story from its opening to its end.

    An agent that leaves without a destination, or was never placed, is `elsewhere`. Items are where the story has
    shown them: at the start, or when an agent took, brought or saw them; utterances about them do not count.
    Raises InputError if the rooms and places do not make a home.
    """
    try:
        story_home = home_of(episode)
        names = dict.fromkeys((*story_home.rooms, *rooms_named(episode), SOMEWHERE))  # SOMEWHERE: for agents in no room
        rooms = tuple(room for room in names if room not in story_home.place)
        home = Home(rooms, story_home.places, ((0,) * len(rooms),) * len(rooms))
    except ValueError as error:
        raise InputError(f"episode {episode.id!r} cannot be drawn: {error}") from None
    state = opening_of(episode, home)
    for fact in episode.init:
        if fact.predicate == "holds" and fact.value is not None and fact.subject in episode.agents:
            state = _moved(state, fact.value, fact.subject, None)
    world = Household(home, episode.agents, state)
    states = itertools.accumulate(episode.timeline, partial(_after, world), initial=state)
    return StoryStates(home, tuple(states))


def rooms_named(episode: Episode) -> Iterable[str]:
    """The rooms a story names, in their order."""
    yield from episode.named("room")
    yield from (fact.value for fact in episode.init if fact.predicate == "in_room" and fact.value is not None)
    yield from (event.room for event in episode.events if event.room is not None)


def _after(world: Household, state: State, happening: Happening) -> State:
    """The state of the household after a happening, with the steps that the story leaves out."""
    if isinstance(happening, Observation):
        fact = happening.fact
        if not happening.sees or fact.predicate != "at" or fact.value not in world.home.place:
            return state
        return _moved(state, fact.subject, None, fact.value)
    if not isinstance(happening, Event) or happening.agent not in world.agents:
        return state
    agent, acts = happening.agent, acts_of_event(happening, world.home)
    if happening.verb == "leave" and not acts:
        acts = (Act("walk", None, SOMEWHERE),)
    for act in acts:
        room = None if happening.verb == "move" and act.do == "grab" else room_of(world.home, happening)
        for step in steps_before(world.home, state.person(agent), state.opened, act, room):
            state = world.act(state, agent, step)
        state = _handled(state, agent, act) if act.do in ("grab", "put") else world.act(state, agent, act)
    return state


def _handled(state: State, agent: str, act: Act) -> State:
    """The state after an agent took an item or put it down, wherever the item was before."""
    if act.do == "grab":
        return _moved(state, act.thing or SOMETHING, agent, None)
    items_held = state.person(agent).holds
    only = next(iter(items_held)) if len(items_held) == 1 else SOMETHING
    return _moved(state, act.thing or only, None, act.place)


def _moved(state: State, thing: str, holder: str | None, place: str | None) -> State:
    """The state with the item in the hands of an agent, at a place, or at no known place."""
    things = tuple(pair for pair in state.things if pair[0] != thing)
    return held_by(state, thing, holder)._replace(things=(*things, (thing, place)) if place is not None else things)


# The plan

# Lengths are in units of which a frame has 320 by 240; all are chosen for legibility.
GAP = 5.0  # between rooms
STRIP = 30.0  # height of the strip for agents that are elsewhere
MOST_ROOMS = 12
TALL = 140.0  # height from which a room has space for wide places
COMFORTABLE, NARROWEST = 45.0, 28.0  # width of a place in a tall room and in a low one
WIDEST = 92.0  # width of a place at most
TITLE = 11.0  # height of the name of a room
APART = 40.0  # between the middles of people


class Area(NamedTuple):
    """A rectangle with its upper left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The x of its middle."""
        return self.x + self.width / 2

    def spans(self, x: float) -> bool:
        """Whether x is between its left and its right side."""
        return self.x <= x <= self.x + self.width


@dataclass(frozen=True)
class FloorPlan:
    """The areas of rooms and places, and the scale of text and people in each room, 1 being the usual size."""

    rooms: Mapping[str, Area]
    places: Mapping[str, Area]
    scales: Mapping[str, float]

    def standing(self, home: Home, state: State) -> dict[str, tuple[float, float]]:
        """The middle of each agent's disc: beside the place it is at, else in the open room, apart from others."""
        spots: dict[str, tuple[float, float]] = {}
        for room in self.rooms:
            present = [name for name, person in state.people if person.room == room]
            places = {name: state.person(name).at for name in present}
            for name in sorted(present, key=lambda name: places[name] not in self.places):
                place = places[name]
                occupied = [spots[neighbour] for neighbour in present if neighbour in spots]
                if place in self.places and place is not None:
                    spots[name] = self._beside(room, place, occupied)
                else:
                    number = [name for name, _ in state.people].index(name)
                    spots[name] = self._free(room, (number + 1) / (len(state.people) + 1), occupied)
        return spots

    def facing(self, place: str, room: str) -> int:
        """The direction a place faces: down (1) from the upper wall of its room, up (−1) from the lower one."""
        return 1 if self.places[place].y < self.rooms[room].y + self.rooms[room].height / 2 else -1

    def _beside(self, room: str, place: str, occupied: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Next to the place, on the side of the open floor, and further into the room if others are there."""
        box, area, scale = self.places[place], self.rooms[room], self.scales[room]
        y = box.y + box.height + 13.5 * scale if self.facing(place, room) > 0 else box.y - 25 * scale
        inwards = -1 if box.middle > area.middle else 1
        along = [(box.middle + inwards * step * APART * scale / 2, y) for step in range(8)]
        free = (at for at in along if area.spans(at[0]) and all(math.dist(at, spot) > 24 * scale for spot in occupied))
        return next(free, along[0])

    def _free(self, room: str, share: float, occupied: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """A free spot, as near as possible to the person's own share of the width."""
        area, scale = self.rooms[room], self.scales[room]
        below = [
            box
            for box in self.places.values()
            if area.x <= box.x < area.x + area.width and area.y + area.height / 2 < box.y < area.y + area.height
        ]
        floor = min((box.y for box in below), default=area.y + area.height)
        own_x = area.x + share * area.width
        margin = min(20 * scale, area.width / 2)
        steps = [area.x + margin + (area.width - 2 * margin) * i / 12 for i in range(13)]
        nearest = sorted([own_x, *steps], key=lambda x: abs(x - own_x))
        room_to_stand = (x for x in nearest if all(abs(x - taken_x) >= APART * scale for taken_x, _ in occupied))
        spacious = max(nearest, key=lambda x: min((abs(x - taken_x) for taken_x, _ in occupied), default=0.0))
        return next(room_to_stand, spacious), floor - 25 * scale


def floor_plan(episode: Episode, course: StoryStates, area: Area) -> FloorPlan:
    """The plan of all rooms and places that the story names or shows, within an area.

    Raises InputError if there are more rooms than can be drawn.
    """
    places = _places_shown(episode, course)
    rooms_visited = {person.room for state in course.states for _, person in state.people}
    rooms_shown = {*rooms_named(episode), *(place.room for place in places), *rooms_visited}
    rooms = [room for room in course.home.rooms if room in rooms_shown]
    if len(rooms) > MOST_ROOMS:
        raise InputError(f"episode {episode.id!r} has {len(rooms)} rooms", hint=f"{MOST_ROOMS} can be drawn at most")
    placed = {room: [place for place in places if place.room == room] for room in rooms}
    areas = dict(_rooms(placed, area))
    scales = {
        room: min(1.3, max(0.6, box.height / 92, 0.9 if box.height <= STRIP else 0.0)) for room, box in areas.items()
    }
    boxes = {name: box for room in rooms for name, box in _furniture(placed[room], areas[room], scales[room])}
    return FloorPlan(areas, boxes, scales)


def _places_shown(episode: Episode, course: StoryStates) -> list[Place]:
    """The places of the home that the story names, at the start or in a happening."""
    place_names = {*episode.named("place")} | {fact.value for fact in episode.init if fact.value is not None}
    for happening in episode.timeline:
        if isinstance(happening, Event):
            place_names |= {happening.place or ""}
        else:
            fact = happening.fact if isinstance(happening, Observation) else happening.content
            place_names |= {fact.value or ""} if fact is not None else set()
    return [place for place in course.home.places if place.name in place_names]


def _rooms(placed: Mapping[str, Sequence[Place]], area: Area) -> Iterator[tuple[str, Area]]:
    """Rooms in rows, wider with more places; a strip below for agents that are elsewhere."""
    rooms = [room for room in placed if room != SOMEWHERE or placed[room]]
    height = area.height
    if len(rooms) < len(placed):
        height -= STRIP + (GAP if rooms else 0)
        yield SOMEWHERE, Area(area.x, area.y + area.height - STRIP, area.width, STRIP)
    weights = [(room, max(2, len(placed[room])) + 1) for room in rooms]
    most = 1 if len(rooms) < 3 else 2 if len(rooms) < 7 else 3
    ways = [  # of splitting the rooms into rows, in their order: that whose fullest row is emptiest
        [weights[i:j] for i, j in itertools.pairwise((0, *cuts, len(rooms)))]
        for cuts in itertools.combinations(range(1, len(rooms)), most - 1)
    ]
    rows = min(ways, key=lambda rows: max(sum(weight for _, weight in row) for row in rows))
    tall = (height - GAP * (len(rows) - 1)) / len(rows)
    for i, row in enumerate(rows):
        x, wide = area.x, area.width - GAP * (len(row) - 1)
        for room, weight in row:
            width = wide * weight / sum(weight for _, weight in row)
            yield room, Area(x, area.y + i * (tall + GAP), width, tall)
            x += width + GAP


def _furniture(places: Sequence[Place], room: Area, scale: float) -> Iterator[tuple[str, Area]]:
    """Places along the upper wall, and, where they are too many for it, along the lower wall as well."""
    tall = room.height >= TALL
    fits = max(1, int(room.width / ((COMFORTABLE if tall else NARROWEST) * scale)))
    along = len(places) if len(places) <= fits else math.ceil(len(places) / 2)
    height = (35 if tall or len(places) <= fits else 23) * scale
    for row, some in enumerate((places[:along], places[along:])):
        y = room.y + TITLE * scale + 2.5 if row == 0 else room.y + room.height - height - 4
        for i, place in enumerate(some):
            slot = (room.width - 4) / len(some)
            width = min(slot - 3, WIDEST * scale)
            yield place.name, Area(room.x + 2 + (i + 0.5) * slot - width / 2, y, width, height)
