"""The rules of a household: agents walk through rooms, open and close cupboards, carry items, and talk about items.

An agent sees the open places of its room, the cupboards there that stand open, and the acts of others in its room; it
hears everything that is said in the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

Do = Literal["walk", "open", "close", "grab", "put", "ask", "tell", "unsure", "wait"]


class Place(NamedTuple):
    """A place for items: on it in plain sight, or in it if it `closes`."""

    name: str
    room: str
    closes: bool


class Act(NamedTuple):
    """An act: walk to a room or place, open or close a place, grab an item from a place, put it at a place, ask where
    an item is, tell that it is at a place, say that one does not know, or wait (after a question: silence).
    """

    do: Do
    thing: str | None = None
    place: str | None = None


WAIT = Act("wait")
SPEECH = ("ask", "tell", "unsure", "wait")  # acts that agents in other rooms observe, too


@dataclass(frozen=True)
class Home:
    """Rooms, places in them, and the steps between rooms; a place in the agent's own room is one step away.

    Raises ValueError if a name comes twice, a place is in no room, or the steps do not fit the rooms.
    """

    rooms: tuple[str, ...]
    places: tuple[Place, ...]
    steps: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Check that the parts fit together. Raises ValueError if not."""
        names = [place.name for place in self.places] + list(self.rooms)
        if len(set(names)) < len(names):
            raise ValueError("a home needs a name of its own for every room and place")
        if any(place.room not in self.rooms for place in self.places):
            raise ValueError("every place of a home is in one of its rooms")
        if [len(row) for row in self.steps] != [len(self.rooms)] * len(self.rooms):
            raise ValueError("a home needs the steps from every room to every room")

    @cached_property
    def place(self) -> Mapping[str, Place]:
        """The places by name."""
        return {place.name: place for place in self.places}

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The index in `places` of every place, by name."""
        return {place.name: i for i, place in enumerate(self.places)}

    @cached_property
    def room_number(self) -> Mapping[str, int]:
        """The index in `rooms` of every room, by name."""
        return {room: i for i, room in enumerate(self.rooms)}

    @cached_property
    def _hash(self) -> int:
        return hash((self.rooms, self.places, self.steps))

    def __hash__(self) -> int:
        """The hash, computed once: planning caches look it up at every step."""
        return self._hash


class Person(NamedTuple):
    """Where an agent is (a room, and the place there at which it stands, if any), and the items it holds."""

    room: str
    at: str | None = None
    holds: frozenset[str] = frozenset()


class State(NamedTuple):
    """The state: agents, the place of every item that is not held, the open places, and the acts of the last step."""

    people: tuple[tuple[str, Person], ...]
    things: tuple[tuple[str, str], ...]
    opened: frozenset[str] = frozenset()
    last: tuple[tuple[str, Act], ...] = ()

    def person(self, name: str) -> Person:
        """The position of an agent. Raises KeyError for an unknown name."""
        return dict(self.people)[name]

    def where(self, thing: str) -> str | None:
        """The place of an item; None while an agent holds it."""
        return dict(self.things).get(thing)


class HouseholdView(NamedTuple):
    """What an agent observes: itself, the places in sight, the items there, the open places, and the last acts."""

    me: Person
    places: frozenset[str]
    things: frozenset[tuple[str, str]]
    opened: frozenset[str]
    last: tuple[tuple[str, Act], ...]


@dataclass(frozen=True)
class Household:
    """The world of one home. All agents act in a step, and their acts take effect in the order of `agents`.

    An impossible act (grabbing an item out of reach, opening an open place) leaves the state unchanged.
    """

    home: Home
    agents: tuple[str, ...]
    opening: State

    def start(self, rng: np.random.Generator, /) -> State:
        """The opening; nothing about it is random."""
        return self.opening

    def actions(self, state: State, agent: str) -> tuple[Act, ...]:
        """All acts that the rules allow the agent in this state."""
        return tuple(act for act in self.acts if self.can(state, agent, act))

    def step(self, state: State, joint: Mapping[str, Act], rng: np.random.Generator, /) -> State:
        """The state after the acts of all agents; the rules are deterministic."""
        done: tuple[tuple[str, Act], ...] = ()
        for agent in self.agents:
            if agent in joint:
                state = self.act(state, agent, joint[agent])
                done += state.last
        return state._replace(last=done)

    def observe(self, state: State, agent: str) -> HouseholdView:
        """What the agent sees in its room, and what it hears from the whole house."""
        me = state.person(agent)
        visible = _in_sight(self.home, me.room, state.opened)
        things = frozenset([pair for pair in state.things if pair[1] in visible])
        last = [done for done in state.last if done[1].do in SPEECH or state.person(done[0]).room == me.room]
        return HouseholdView(me, visible, things, state.opened & visible, tuple(last))

    def reward(self, state: State, joint: Mapping[str, Act], after: State) -> Mapping[str, float]:
        """Minus the cost of every agent's act, in steps."""
        return {agent: -self.cost(state, agent, act) for agent, act in joint.items()}

    def done(self, state: State) -> bool:
        """Always False: the agents decide when they have finished."""
        return False

    def cost(self, state: State, agent: str, act: Act) -> float:
        """Steps that an act takes: 0 to wait, the distance to walk to another room, otherwise 1."""
        if act.do == "wait":
            return 0.0
        if act.do == "walk" and act.place in self.home.rooms:
            room = self.home.room_number[state.person(agent).room]
            return float(self.home.steps[room][self.home.room_number[act.place]])
        return 1.0

    def can(self, state: State, agent: str, act: Act) -> bool:
        """Whether the rules allow the agent this act."""
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
        """The state after one agent's act; unchanged but for `last` if the rules forbid it."""
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
        """Every act that is possible in some state of this household."""
        places = [place.name for place in self.home.places]
        things = sorted(
            {thing for thing, _ in self.opening.things} | {t for _, p in self.opening.people for t in p.holds}
        )
        return (
            WAIT,
            *(Act("walk", None, to) for to in (*self.home.rooms, *places)),
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
    """The places of a room that an agent in it can see into."""
    return frozenset(p.name for p in home.places if p.room == room and (not p.closes or p.name in opened))
