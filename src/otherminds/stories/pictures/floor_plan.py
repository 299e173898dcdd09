"""The plan of a home in a story, seen from above: where its rooms, the places in them and its people are drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.stories.homes import SOMEWHERE
from otherminds.stories.model import Episode, Event, Fact, Observation, Utterance
from otherminds.stories.pictures.replay import Replay, rooms_named
from otherminds.worlds.household.rules import Home, Place, State

GAP = 5.0
STRIP = 30.0
MOST_ROOMS = 12
TALL = 140.0
COMFORTABLE, NARROWEST = 45.0, 28.0
WIDEST = 92.0
TITLE = 11.0
APART = 40.0


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
class Plan:
    """Where rooms and places are drawn, and how large text and people are in each room, 1 being the usual size."""

    rooms: Mapping[str, Area]
    places: Mapping[str, Area]
    scales: Mapping[str, float]

    def standing(self, home: Home, state: State) -> dict[str, tuple[float, float]]:
        """The middle of everybody's disc: beside the place they are at, else in the open room, apart from others."""
        spots: dict[str, tuple[float, float]] = {}
        for room in self.rooms:
            here = [name for name, person in state.people if person.room == room]
            at = {name: state.person(name).at for name in here}
            for name in sorted(here, key=lambda name: at[name] not in self.places):
                place = at[name]
                taken = [spots[other] for other in here if other in spots]
                if place in self.places and place is not None:
                    spots[name] = self._beside(room, place, taken)
                else:
                    number = [name for name, _ in state.people].index(name)
                    spots[name] = self._free(room, (number + 1) / (len(state.people) + 1), taken)
        return spots

    def facing(self, place: str, room: str) -> int:
        """Which way a place faces: down (1) from the upper wall of its room, up (−1) from the lower one."""
        return 1 if self.places[place].y < self.rooms[room].y + self.rooms[room].height / 2 else -1

    def _beside(self, room: str, place: str, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Next to the place, on the side of the open floor, and further into the room if others are there."""
        box, area, scale = self.places[place], self.rooms[room], self.scales[room]
        y = box.y + box.height + 13.5 * scale if self.facing(place, room) > 0 else box.y - 25 * scale
        inwards = -1 if box.middle > area.middle else 1
        along = [(box.middle + inwards * step * APART * scale / 2, y) for step in range(8)]
        free = (at for at in along if area.spans(at[0]) and all(math.dist(at, other) > 24 * scale for other in taken))
        return next(free, along[0])

    def _free(self, room: str, share: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Where there is room to stand, as near as can be to the share of the width that is the person's own."""
        area, scale = self.rooms[room], self.scales[room]
        below = [box for name, box in self.places.items() if _inside(box, area) and box.y > area.y + area.height / 2]
        floor = min((box.y for box in below), default=area.y + area.height)
        own = area.x + share * area.width
        margin = min(20 * scale, area.width / 2)
        steps = [area.x + margin + (area.width - 2 * margin) * i / 12 for i in range(13)]
        nearest = sorted([own, *steps], key=lambda x: abs(x - own))
        room_to_stand = (x for x in nearest if all(abs(x - other) >= APART * scale for other, _ in taken))
        spacious = max(nearest, key=lambda x: min((abs(x - other) for other, _ in taken), default=0.0))
        return next(room_to_stand, spacious), floor - 25 * scale


def _inside(box: Area, area: Area) -> bool:
    return area.x <= box.x < area.x + area.width and area.y <= box.y < area.y + area.height


def plan_of(episode: Episode, course: Replay, area: Area) -> Plan:
    """The plan of all rooms and places that the story names or shows, within an area.

    Raises InputError if there are more rooms than can be drawn.
    """
    places = _places_shown(episode, course)
    rooms = _rooms_shown(episode, course, places)
    if len(rooms) > MOST_ROOMS:
        raise InputError(f"episode {episode.id!r} has {len(rooms)} rooms", hint=f"{MOST_ROOMS} can be drawn at most")
    placed = {room: [place for place in places if place.room == room] for room in rooms}
    areas = dict(_rooms(placed, area))
    scales = {room: _scale(box) for room, box in areas.items()}
    boxes = {name: box for room in rooms for name, box in _furniture(placed[room], areas[room], scales[room])}
    return Plan(areas, boxes, scales)


def _places_shown(episode: Episode, course: Replay) -> list[Place]:
    named = {entity.id for entity in episode.entities if entity.kind == "place"}
    named |= {fact.value for fact in episode.init if fact.value is not None}
    for happening in episode.timeline:
        if isinstance(happening, Event):
            named |= {happening.place or ""}
        elif isinstance(happening, Observation | Utterance) and isinstance(fact := _fact(happening), Fact):
            named |= {fact.value or ""}
    return [place for place in course.home.places if place.name in named]


def _fact(happening: Observation | Utterance) -> Fact | None:
    return happening.fact if isinstance(happening, Observation) else happening.content


def _rooms_shown(episode: Episode, course: Replay, places: Sequence[Place]) -> list[str]:
    been = {person.room for state in course.states for _, person in state.people}
    shown = {*rooms_named(episode), *(place.room for place in places), *been}
    return [room for room in course.home.rooms if room in shown]


def _rooms(placed: Mapping[str, Sequence[Place]], area: Area) -> Iterator[tuple[str, Area]]:
    """Rooms in rows, the wider the more there is in them; whoever is elsewhere gets a strip below."""
    rooms = [room for room in placed if room != SOMEWHERE or placed[room]]
    height = area.height
    if len(rooms) < len(placed):
        height -= STRIP + (GAP if rooms else 0)
        yield SOMEWHERE, Area(area.x, area.y + area.height - STRIP, area.width, STRIP)
    rows = _split([(room, max(2, len(placed[room])) + 1) for room in rooms])
    tall = (height - GAP * (len(rows) - 1)) / len(rows)
    for i, row in enumerate(rows):
        x, wide = area.x, area.width - GAP * (len(row) - 1)
        for room, weight in row:
            width = wide * weight / sum(weight for _, weight in row)
            yield room, Area(x, area.y + i * (tall + GAP), width, tall)
            x += width + GAP


def _split(rooms: Sequence[tuple[str, int]]) -> list[Sequence[tuple[str, int]]]:
    """The rooms in rows, in their order, such that the fullest row is as empty as can be."""
    n = 1 if len(rooms) < 3 else 2 if len(rooms) < 7 else 3
    ways = [
        [rooms[i:j] for i, j in itertools.pairwise((0, *cuts, len(rooms)))]
        for cuts in itertools.combinations(range(1, len(rooms)), n - 1)
    ]
    return min(ways, key=lambda rows: max(sum(weight for _, weight in row) for row in rows))


def _scale(room: Area) -> float:
    return min(1.3, max(0.6, room.height / 92, 0.9 if room.height <= STRIP else 0.0))


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
