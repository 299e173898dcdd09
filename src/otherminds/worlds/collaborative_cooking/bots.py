"""Chefs of collaborative cooking: they load pots with tomatoes, or serve soup, or both, on what they see and remember.

A chef knows the map, sees its window, and remembers what it last saw at each counter and pot. On its own it does
everything: it serves what is cooked, loads a pot that has room, and otherwise waits at a pot with a dish. What it holds
to no avail it puts down. Where the players are in separate rooms it leaves one half of the work to the others, as long
as they are seen to help: each room does what, all in all, makes soup soonest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from otherminds.distribution import Categorical
from otherminds.worlds.avatars import ACTIONS, OUTSIDE, Action
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import (
    DELIVERY,
    DISH,
    DISHES,
    FULL,
    NOTHING,
    POT,
    SEES_COUNTER,
    SEES_POT,
    SEES_SOUP,
    SOUP,
    TOMATO,
    TOMATOES,
    View,
    player_of,
)
from otherminds.worlds.grid import Grid

Duty = Literal["everything", "tomatoes", "dishes"]
PATIENCE = 60
SLIP = 0.3
CLUMSY = 0.2
CLOSE = 2
COOKED = (SEES_POT + FULL, SEES_SOUP)
OWN: dict[Duty, int] = {"tomatoes": TOMATO, "dishes": DISH}
SOURCES = {TOMATO: TOMATOES, DISH: DISHES}
TURNING = (0, 1, 2, 1)
MOVES: tuple[Action, ...] = ("forward", "step_right", "backward", "step_left")


class Memory(NamedTuple):
    """The last view, what was last seen at each counter and pot, and for how many steps nobody else has helped."""

    view: View
    seen: tuple[int, ...]
    alone: int = 0


class Errand(NamedTuple):
    """Places of which the nearest will do, and whether to use it or just to wait there."""

    places: Sequence[int]
    use: bool = True


@dataclass(frozen=True)
class CookingBot:
    """A cook. `duty` is what it does; None, what fits its room, and everything if nobody helps.

    With probability `slip`, or more where it is clumsy, it does any of the eight actions instead of what it means to
    do: π(a) = (1 − slip) · [a is meant] + slip / 8. The partners of Melting Pot's collaborative cooking (Agapiou et al.
    2022), as programs.
    """

    world: CollaborativeCooking
    duty: Duty | None = None
    slip: float = 0.0
    memory: Memory | None = None

    def observe(self, obs: View) -> CookingBot:
        """The chef after it has seen its window."""
        before = self.memory or Memory(obs, _untouched(self.world))
        window = self.world.field.window(obs.cell, obs.facing)
        codes = {cell: code for cell, code in zip(window, obs.window, strict=True) if cell != OUTSIDE}
        places = self.world.counters + self.world.pots
        seen = tuple([codes.get(cell, code) for cell, code in zip(places, before.seen, strict=True)])
        alone = 0 if _helped(self.world, before, obs, seen) else min(before.alone + 1, PATIENCE)
        return replace(self, memory=Memory(obs, seen, alone))

    def act(self) -> Categorical[Action]:
        """What it does next."""
        if self.memory is None:
            return _habit("noop", self.slip)
        view = self.memory.view
        others = frozenset(self._others(view))
        return _habit(self._action(self.memory, others), max(self.slip, self._clumsiness(view, others)))

    def _action(self, memory: Memory, others: frozenset[int]) -> Action:
        for errand in _errands(self.world, memory, self._duty(memory)):
            way = nearest(self.world, memory.view, errand.places, others)
            if way is not None:
                return _towards(self.world, memory.view, way, errand.use)
        return "noop"

    def _others(self, view: View) -> Iterator[int]:
        for cell, code in zip(self.world.field.window(view.cell, view.facing), view.window, strict=True):
            if cell != view.cell and player_of(code):
                yield cell

    def _clumsiness(self, view: View, others: frozenset[int]) -> float:
        """The share of random actions of whoever may be in somebody's way: else two of a mind could stand for ever."""
        legs = _ways(self.world.grid, view.cell, frozenset())
        return CLUMSY if any(cell in legs and legs[cell].steps <= CLOSE for cell in others) else 0.0

    def _duty(self, memory: Memory) -> Duty:
        if self.duty:
            return self.duty
        return "everything" if memory.alone == PATIENCE else fitting(self.world, memory.view.cell)


def skilled(world: CollaborativeCooking) -> CookingBot:
    """A chef that makes no mistakes."""
    return CookingBot(world)


def semi_skilled(world: CollaborativeCooking, slip: float = SLIP) -> CookingBot:
    """A chef that does just anything in some of its steps, by default in three of ten."""
    return CookingBot(world, slip=slip)


@dataclass(frozen=True)
class Idler:
    """Somebody who does nothing."""

    def observe(self, obs: View) -> Idler:
        """Nothing changes its mind."""
        return self

    def act(self) -> Categorical[Action]:
        """Nothing, for sure."""
        return _habit("noop", 0.0)


@lru_cache(maxsize=256)
def _habit(meant: Action, slip: float) -> Categorical[Action]:
    shares = {act: slip / len(ACTIONS) + (act == meant) * (1.0 - slip) for act in ACTIONS}
    return Categorical.from_scores((act, math.log(share)) for act, share in shares.items() if share)


# What is remembered


def _untouched(world: CollaborativeCooking) -> tuple[int, ...]:
    return (SEES_COUNTER,) * len(world.counters) + (SEES_POT,) * len(world.pots)


def _helped(world: CollaborativeCooking, before: Memory, now: View, seen: Sequence[int]) -> bool:
    """Whether somebody else has used a pot or delivered a soup, as far as can be told."""
    if before.view.hand != now.hand:
        return False
    first = len(world.counters)
    changes = zip(before.seen[first:], seen[first:], strict=True)
    return now.reward > 0 or any(then != code and (then, code) != COOKED for then, code in changes)


# What to do


def _errands(world: CollaborativeCooking, memory: Memory, duty: Duty) -> Iterator[Errand]:
    """What a chef would do next, then what it would do if that is out of reach, and so on."""
    hand, first = memory.view.hand, len(world.counters)
    counters, pots = memory.seen[:first], memory.seen[first:]
    cooked, full = _where(world.pots, pots, SEES_SOUP), _where(world.pots, pots, SEES_POT + FULL)
    room = [cell for cell, code in zip(world.pots, pots, strict=True) if code < SEES_POT + FULL]
    if hand == SOUP:
        yield Errand(world.cells(DELIVERY))
    elif hand == TOMATO:
        yield Errand(room)
    elif hand == DISH:
        yield Errand(cooked)
        yield Errand(full, use=False)
    else:
        yield Errand(_where(world.counters, counters, SEES_COUNTER + SOUP))
        thing = _wanted(duty, bool(cooked), bool(room))
        yield Errand((*world.cells(SOURCES[thing]), *_where(world.counters, counters, SEES_COUNTER + thing)))
    if hand != NOTHING and hand != OWN.get(duty):
        yield Errand(_where(world.counters, counters, SEES_COUNTER))
    yield Errand(world.pots, use=False)


def _where(cells: Sequence[int], codes: Sequence[int], wanted: int) -> list[int]:
    return [cell for cell, code in zip(cells, codes, strict=True) if code == wanted]


def _wanted(duty: Duty, cooked: bool, room: bool) -> int:
    """What somebody with empty hands fetches."""
    if duty == "everything":
        return TOMATO if room and not cooked else DISH
    return TOMATO if duty == "tomatoes" else DISH


@lru_cache(maxsize=1 << 10)
def fitting(world: CollaborativeCooking, cell: int) -> Duty:
    """What somebody in this room had better do if others do the rest in the other room that suits it best.

    Of the two ways to share the work, that with the shorter of the longer halves; everything, if there is one room.
    """
    rooms = {frozenset(_ways(world.grid, start, frozenset())) for start in world.starts}
    mine = next((room for room in rooms if cell in room), frozenset({cell}))
    others = [_labour(world, room) for room in rooms if room != mine]
    if not others:
        return "everything"
    load, serve = _labour(world, mine)
    loading = min(max(load, their_serve) for _, their_serve in others)
    serving = min(max(serve, their_load) for their_load, _ in others)
    return "tomatoes" if loading < serving else "dishes"


def _labour(world: CollaborativeCooking, room: frozenset[int]) -> tuple[float, float]:
    """The steps that it takes in a room to load a pot, and to serve a soup, walking there and back."""
    load = 2 * FULL * _apart(world, room, TOMATOES, POT)
    return load, 2 * (_apart(world, room, DISHES, POT) + _apart(world, room, POT, DELIVERY))


def _apart(world: CollaborativeCooking, room: frozenset[int], one: str, other: str) -> float:
    """The steps from having used one kind of place to having used another, in a room."""
    stands = [[stand for place in world.cells(kind) for stand in _stands(world, place)] for kind in (one, other)]
    costs = (
        _ways(world.grid, here, frozenset())[there].steps + TURNING[(facing - looking) % 4] + 1
        for here, looking in stands[0]
        for there, facing in stands[1]
        if here in room and there in room
    )
    return min(costs, default=math.inf)


# How to get there


class Leg(NamedTuple):
    """How far a cell is, and the first cell on the way, or the cell itself."""

    steps: int
    first: int


class Way(NamedTuple):
    """How many steps it takes to a place, the first cell on the way, where to stand there, and facing where."""

    steps: int
    first: int
    cell: int
    facing: int


def nearest(world: CollaborativeCooking, view: View, places: Sequence[int], others: frozenset[int]) -> Way | None:
    """The shortest way to a place, around the cells where others stand; None if there is none."""
    legs = _ways(world.grid, view.cell, others)
    ways = (
        Way(legs[cell].steps + TURNING[(facing - view.facing) % 4], legs[cell].first, cell, facing)
        for place in places
        for cell, facing in _stands(world, place)
        if cell in legs
    )
    return min(ways, key=lambda way: way.steps, default=None)


def _towards(world: CollaborativeCooking, view: View, way: Way, use: bool) -> Action:
    """The next action on the way: steps first, turns last."""
    if view.cell != way.cell:
        heading = world.field.ahead.index(way.first - view.cell)
        return MOVES[(heading - view.facing) % 4]
    if view.facing != way.facing:
        return "turn_left" if (way.facing - view.facing) % 4 == 3 else "turn_right"
    return "interact" if use else "noop"


@lru_cache(maxsize=1 << 12)
def _stands(world: CollaborativeCooking, place: int) -> tuple[tuple[int, int], ...]:
    """From where, and facing where, a place can be used."""
    sides = ((place - step, facing) for facing, step in enumerate(world.field.ahead))
    return tuple((cell, facing) for cell, facing in sides if world.grid.is_floor(cell))


@lru_cache(maxsize=1 << 12)
def _ways(grid: Grid, start: int, others: frozenset[int]) -> dict[int, Leg]:
    """Every cell that can be reached from one, and how."""
    found, edge = {start: Leg(0, start)}, [start]
    while edge:
        ahead = []
        for cell in edge:
            for near in grid.neighbours[cell]:
                if near not in found and near not in others:
                    found[near] = Leg(found[cell].steps + 1, near if cell == start else found[cell].first)
                    ahead.append(near)
        edge = ahead
    return found
