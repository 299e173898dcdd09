"""A household: people walk through rooms, open and close cupboards, carry things, and talk about where things are.

They see what lies openly in the room they are in, what is in the cupboards there that stand open, and what others
in it hold; they hear whatever is said in the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

Do = Literal["walk", "open", "close", "grab", "put", "ask", "tell", "unsure", "wait"]


class Place(NamedTuple):
    """Where things can be: openly on it, or, if it closes, in it."""

    name: str
    room: str
    closes: bool


class Act(NamedTuple):
    """Walk to a room or place; open or close a place; grab a thing (from a place); put it somewhere; ask where a thing
    is; tell that it is at a place; say that one does not know; or wait, which after a question is silence."""

    do: Do
    thing: str | None = None
    place: str | None = None


WAIT = Act("wait")
SPEECH = ("ask", "tell", "unsure", "wait")


@dataclass(frozen=True)
class Home:
    """Rooms, the places in them, and the steps from room to room; a place in one's own room is one step away."""

    rooms: tuple[str, ...]
    places: tuple[Place, ...]
    steps: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Raises ValueError if a name comes twice, a place is in no room, or the steps do not fit the rooms."""
        names = [place.name for place in self.places] + list(self.rooms)
        if len(set(names)) < len(names):
            raise ValueError("a home needs a name of its own for every room and place")
        if any(place.room not in self.rooms for place in self.places):
            raise ValueError("every place of a home is in one of its rooms")
        if [len(row) for row in self.steps] != [len(self.rooms)] * len(self.rooms):
            raise ValueError("a home needs the steps from every room to every room")

    @cached_property
    def place(self) -> Mapping[str, Place]:
        """Every place by its name."""
        return {place.name: place for place in self.places}

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The number of every place, in the order of `places`."""
        return {place.name: i for i, place in enumerate(self.places)}

    @cached_property
    def room_number(self) -> Mapping[str, int]:
        """The number of every room, in the order of `rooms`."""
        return {room: i for i, room in enumerate(self.rooms)}

    @cached_property
    def _hash(self) -> int:
        return hash((self.rooms, self.places, self.steps))

    def __hash__(self) -> int:
        """Hashing is asked for at every planning step, so it is done once."""
        return self._hash


class Person(NamedTuple):
    """Where somebody is: in a room, at a place of it or at none, and what they carry."""

    room: str
    at: str | None = None
    holds: frozenset[str] = frozenset()


class State(NamedTuple):
    """Where everybody and everything is, which places stand open, and what was done or said in the last step."""

    people: tuple[tuple[str, Person], ...]
    things: tuple[tuple[str, str], ...]
    opened: frozenset[str] = frozenset()
    last: tuple[tuple[str, Act], ...] = ()

    def person(self, name: str) -> Person:
        """Where somebody is. Raises KeyError if there is no such person."""
        for known, person in self.people:
            if known == name:
                return person
        raise KeyError(name)

    def where(self, thing: str) -> str | None:
        """The place a thing is at; None while somebody carries it."""
        return dict(self.things).get(thing)


class HouseholdView(NamedTuple):
    """What somebody sees: themselves, the places they can look at, the things there, and what was last done."""

    me: Person
    places: frozenset[str]
    things: frozenset[tuple[str, str]]
    opened: frozenset[str]
    last: tuple[tuple[str, Act], ...]


@dataclass(frozen=True)
class Household:
    """The rules of a home for some people; they act at once, in the order of `agents`.

    What cannot be done (grabbing what is not in reach, opening what is open) leaves the state as it is.
    """

    home: Home
    agents: tuple[str, ...]
    opening: State

    def start(self, rng: np.random.Generator, /) -> State:
        """The same opening every time."""
        return self.opening

    def actions(self, state: State, agent: str) -> tuple[Act, ...]:
        """What the agent can do: all acts of the home that the rules allow it here and now."""
        return tuple(act for act in self.acts if self.can(state, agent, act))

    def step(self, state: State, joint: Mapping[str, Act], rng: np.random.Generator, /) -> State:
        """Everybody's act in turn; nothing is left to chance."""
        done: tuple[tuple[str, Act], ...] = ()
        for agent in self.agents:
            if agent in joint:
                state = self.act(state, agent, joint[agent])
                done += state.last
        return state._replace(last=done)

    def observe(self, state: State, agent: str) -> HouseholdView:
        """What lies openly in the agent's room, what is in the places there that stand open, and what was said."""
        me = state.person(agent)
        seen = _in_sight(self.home, me.room, state.opened)
        things = frozenset([pair for pair in state.things if pair[1] in seen])
        last = [done for done in state.last if done[1].do in SPEECH or state.person(done[0]).room == me.room]
        return HouseholdView(me, seen, things, state.opened & seen, tuple(last))

    def reward(self, state: State, joint: Mapping[str, Act], after: State) -> Mapping[str, float]:
        """Every act but waiting costs a step, and walking as many as it is far."""
        return {agent: -self.cost(state, agent, act) for agent, act in joint.items()}

    def done(self, state: State) -> bool:
        """Never: people stop when they have what they want."""
        return False

    def cost(self, state: State, agent: str, act: Act) -> float:
        """The steps an act takes."""
        if act.do == "wait":
            return 0.0
        if act.do == "walk" and act.place in self.home.rooms:
            here = self.home.room_number[state.person(agent).room]
            return float(self.home.steps[here][self.home.room_number[act.place]])
        return 1.0

    def can(self, state: State, agent: str, act: Act) -> bool:
        """Whether the rules allow the act."""
        me, place = state.person(agent), self.home.place.get(act.place or "")
        match act.do:
            case "walk":
                return (act.place in self.home.rooms and act.place != me.room) or (
                    place is not None and place.room == me.room and place.name != me.at
                )
            case "open" | "close":
                is_open = act.place in state.opened
                return place is not None and place.closes and me.at == place.name and is_open == (act.do == "close")
            case "grab":
                return place is not None and self._reach(state, me, place) and (act.thing, act.place) in state.things
            case "put":
                return place is not None and self._reach(state, me, place) and act.thing in me.holds
            case _:
                return True

    def act(self, state: State, agent: str, act: Act) -> State:
        """The state after one person's act."""
        if not self.can(state, agent, act):
            return state._replace(last=((agent, act),))
        me, things, opened = state.person(agent), state.things, state.opened
        if act.do == "walk" and act.place is not None:
            place = self.home.place.get(act.place)
            me = me._replace(room=act.place, at=None) if place is None else me._replace(at=place.name)
        elif act.do in ("open", "close") and act.place is not None:
            opened = opened ^ {act.place}
        elif act.do == "grab" and act.thing is not None:
            things = tuple(pair for pair in things if pair != (act.thing, act.place))
            me = me._replace(holds=me.holds | {act.thing})
        elif act.do == "put" and act.thing is not None and act.place is not None:
            things = (*things, (act.thing, act.place))
            me = me._replace(holds=me.holds - {act.thing})
        people = tuple([(name, me if name == agent else person) for name, person in state.people])
        return State(people, things, opened, ((agent, act),))

    def _reach(self, state: State, me: Person, place: Place) -> bool:
        return me.at == place.name and (not place.closes or place.name in state.opened)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """Everything that anybody could ever do here."""
        places = [place.name for place in self.home.places]
        things = sorted(
            {thing for thing, _ in self.opening.things} | {t for _, p in self.opening.people for t in p.holds}
        )
        return (
            WAIT,
            *(Act("walk", None, room) for room in self.home.rooms),
            *(Act("walk", None, place) for place in places),
            *(Act("open", None, place) for place in places),
            *(Act("close", None, place) for place in places),
            *(Act("grab", thing, place) for thing in things for place in places),
            *(Act("put", thing, place) for thing in things for place in places),
            *(Act("ask", thing) for thing in things),
            *(Act("unsure", thing) for thing in things),
            *(Act("tell", thing, place) for thing in things for place in places),
        )


@lru_cache(maxsize=1 << 14)
def _in_sight(home: Home, room: str, opened: frozenset[str]) -> frozenset[str]:
    """The places of a room that one can see into."""
    return frozenset(p.name for p in home.places if p.room == room and (not p.closes or p.name in opened))
