"""A story followed step by step: where everybody and everything is after each happening, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.stories.homes import SOMEWHERE, acts_of_event, home_of, opening_of, room_of, steps_before
from otherminds.stories.model import Episode, Event, Fact, Happening, Observation
from otherminds.worlds.household.rules import Act, Home, Household, State

SOMETHING = "something"
"""What somebody holds if the story does not say what."""


class Replay(NamedTuple):
    """The home of a story, and its states: the opening, then one after each happening."""

    home: Home
    states: tuple[State, ...]


def replay(episode: Episode) -> Replay:
    """Follow a story to its end; whoever leaves without a destination, or was never placed, is `elsewhere`.

    Things are where the story has shown them: at the start, when somebody took, brought or saw them. What is only
    said of them does not count. Raises InputError if its rooms and places do not make a home.
    """
    try:
        home = _home(episode)
    except ValueError as error:
        raise InputError(f"episode {episode.id!r} cannot be drawn: {error}") from None
    state = opening_of(episode, home)
    for fact in episode.init:
        if fact.predicate == "holds" and fact.value is not None and fact.subject in episode.agents:
            state = _moved(state, fact.value, fact.subject, None)
    world = Household(home, episode.agents, state)
    states = [state]
    for happening in episode.timeline:
        states.append(_after(world, states[-1], happening))
    return Replay(home, tuple(states))


def _home(episode: Episode) -> Home:
    """The home of the story, with all rooms it names, and one for whoever is in none of them."""
    home = home_of(episode)
    named = dict.fromkeys((*home.rooms, *rooms_named(episode), SOMEWHERE))
    rooms = tuple(room for room in named if room not in home.place)
    return Home(rooms, home.places, ((0,) * len(rooms),) * len(rooms))


def rooms_named(episode: Episode) -> Iterable[str]:
    """The rooms a story names, in the order in which it does."""
    yield from (entity.id for entity in episode.entities if entity.kind == "room")
    yield from (fact.value for fact in episode.init if fact.predicate == "in_room" and fact.value is not None)
    yield from (event.room for event in episode.timeline if isinstance(event, Event) and event.room is not None)


def _after(world: Household, state: State, happening: Happening) -> State:
    if isinstance(happening, Observation):
        return _noticed(world.home, state, happening.fact) if happening.sees else state
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
    """After somebody took a thing or put it down, wherever it was thought to be before."""
    if act.do == "grab":
        return _moved(state, act.thing or SOMETHING, agent, None)
    held = state.person(agent).holds
    only = next(iter(held)) if len(held) == 1 else SOMETHING
    return _moved(state, act.thing or only, None, act.place)


def _noticed(home: Home, state: State, fact: Fact) -> State:
    if fact.predicate != "at" or fact.value not in home.place:
        return state
    return _moved(state, fact.subject, None, fact.value)


def _moved(state: State, thing: str, holder: str | None, place: str | None) -> State:
    """The state with the thing in somebody's hands, at a place, or nobody knows where."""
    people = tuple(
        (name, person._replace(holds=person.holds - {thing} | ({thing} if name == holder else set())))
        for name, person in state.people
    )
    things = tuple(pair for pair in state.things if pair[0] != thing)
    return state._replace(people=people, things=(*things, (thing, place)) if place is not None else things)
