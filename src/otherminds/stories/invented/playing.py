"""Households for invented stories, and minds that act in them in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from otherminds.files.toml import packaged
from otherminds.stories.homes import BETWEEN_ROOMS
from otherminds.stories.model import Entity, Episode, Event, Fact, Happening, Observation, Utterance
from otherminds.worlds.household.agent import uniform_odds
from otherminds.worlds.household.rules import Act, Home, Household, Person, Place, State
from otherminds.worlds.household.searcher import Errand, Searcher

LONGEST = 40  # acts of one mind before the story is redrawn; chosen, not tuned
DATA = packaged("otherminds.stories.invented", "casts.toml")
NAMES: tuple[str, ...] = tuple(DATA["names"])
THINGS: tuple[str, ...] = tuple(DATA["things"])
FURNITURE: Mapping[str, list[str]] = DATA["furniture"]
CLOSED = "+"  # marks containers, which have to be opened


class RedrawError(Exception):
    """The drawn household, people or acts make no usable story: draw again."""


@dataclass(frozen=True)
class StoryCast:
    """The home, two people, the item at issue, and another item of a group of stories."""

    home: Home
    seeker: str
    companion: str
    thing: str
    second_thing: str


def _home(rng: np.random.Generator) -> Home:
    """A random home of three or four rooms, with two or three places each."""
    rooms = [str(room) for room in rng.permutation(list(FURNITURE))[: rng.integers(3, 5)]]
    places = [
        Place(f"{room} {name.lstrip(CLOSED)}", room, name.startswith(CLOSED))
        for room in rooms
        for name in map(str, rng.permutation(FURNITURE[room])[: rng.integers(2, 4)])
    ]
    steps = tuple(tuple(0 if a == b else BETWEEN_ROOMS for b in rooms) for a in rooms)
    return Home(tuple(rooms), tuple(places), steps)


HOMES = tuple(_home(rng) for rng in np.random.default_rng(20261122).spawn(24))


def pick(options: Sequence[str], n: int, rng: np.random.Generator) -> list[str]:
    """`n` different options, uniformly drawn. Raises RedrawError if there are fewer."""
    if len(options) < n:
        raise RedrawError
    remaining = list(options)
    return [remaining.pop(int(rng.integers(len(remaining)))) for _ in range(n)]


def draw_cast(rng: np.random.Generator) -> StoryCast:
    """A random home, two people and two items."""
    seeker, companion = pick(NAMES, 2, rng)
    thing, second_thing = pick(THINGS, 2, rng)
    return StoryCast(HOMES[int(rng.integers(len(HOMES)))], seeker, companion, thing, second_thing)


def episode_of_cast(name: str, cast: StoryCast, timeline: Sequence[Happening]) -> Episode:
    """The timeline as an episode, with all entities of the home."""
    people = (cast.seeker, cast.companion)
    entities = [
        *(Entity(person, "agent") for person in people),
        *(Entity(room, "room") for room in cast.home.rooms),
        *(Entity(place.name, "place", place.room, "in" if place.closes else "on") for place in cast.home.places),
        *(Entity(thing, "object") for thing in (cast.thing, cast.second_thing)),
    ]
    rooms = tuple(Fact("in_room", person, cast.home.rooms[k]) for k, person in enumerate(people))
    return Episode(name, people, tuple(entities), rooms, tuple(timeline), complete=True)


def happening(home: Home, agent: str, act: Act, t: int = 0) -> Happening | None:
    """A household act as a happening of a story; None for waiting."""
    match act.do:
        case "walk":
            place = home.place.get(act.place or "")
            return Event(t, agent, "walk", place=act.place if place else None, room=place.room if place else act.place)
        case "open" | "close" | "grab" | "put":
            return Event(t, agent, act.do, obj=act.thing, place=act.place)
        case "ask":
            return Utterance(t, agent, "ask", Fact("at", act.thing or ""))
        case "tell":
            return Utterance(t, agent, "assert", Fact("at", act.thing or "", act.place))
        case "unsure":
            return Utterance(t, agent, "unsure", Fact("at", act.thing or ""))
        case _:
            return None


class HouseholdScene:
    """A household in which people act in turn; `timeline` records what they do.

    At the start the two people are in different rooms. `things` are pairs (item, place).
    """

    def __init__(self, cast: StoryCast, things: Sequence[tuple[str, str]] = ()) -> None:
        """A scene with the seeker in the first room and the companion in the second; `things` are (item, place)."""
        home = cast.home
        people = ((cast.seeker, Person(home.rooms[0])), (cast.companion, Person(home.rooms[1])))
        self.cast = cast
        self.state = State(people, tuple(things))
        self.world = Household(home, (cast.seeker, cast.companion), self.state)
        self.timeline: list[Happening] = []

    def with_thing(self, thing: str, place: str) -> HouseholdScene:
        """A copy of the scene with an item added at a place that nobody has seen yet."""
        scene = copy(self)
        scene.timeline = list(self.timeline)
        scene.state = self.state._replace(things=(*self.state.things, (thing, place)))
        return scene

    def do(self, agent: str, act: Act) -> None:
        """Apply and record an act."""
        self.state = self.world.act(self.state, agent, act)
        new_happening = happening(self.cast.home, agent, act, len(self.timeline))
        if new_happening is not None:
            self.timeline.append(new_happening)

    def run(self, mind: Searcher, rng: np.random.Generator, until: str, *, done: bool = True) -> Searcher:
        """Run a mind forward until it has done an act of kind `until`, or (without `done`) is about to do it.

        Raises RedrawError after `LONGEST` acts.
        """
        for _ in range(LONGEST):
            mind = self.show(mind)
            act = mind.act().sample(rng)
            if act.do == until and not done:
                return mind
            self.do(mind.name, act)
            if act.do == until:
                return self.show(mind)
        raise RedrawError

    def show(self, mind: Searcher) -> Searcher:
        """The mind after it has observed the household, and heard the last utterance."""
        return mind.observe(self.world.observe(self.state, mind.name))

    def look_into(self, place: str, sees: bool) -> None:
        """Let the companion look into a place and see whether the item at issue is there.

        Raises RedrawError if the seeker is in the same room.
        """
        companion, target = self.cast.companion, self.cast.home.place[place]
        if self.state.person(self.cast.seeker).room == target.room:
            raise RedrawError
        if self.state.person(companion).room != target.room:
            self.do(companion, Act("walk", None, target.room))
        if target.closes:
            self.do(companion, Act("walk", None, place))
            self.do(companion, Act("open", None, place))
        self.timeline.append(Observation(len(self.timeline), companion, Fact("at", self.cast.thing, place), sees))
        if target.closes:
            self.do(companion, Act("close", None, place))


def searcher(
    cast: StoryCast, name: str, errand: Errand, item_place: str | None = None, company: bool = False
) -> Searcher:
    """A mind for one of the two people with an errand; `item_place` is where it knows the item to be, if it does."""
    odds = uniform_odds(cast.home)
    return Searcher(cast.home, name, errand, odds, company=company, item_place=item_place, overlooks=0.0)
