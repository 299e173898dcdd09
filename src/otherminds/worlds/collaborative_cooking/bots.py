"""Scripted bots of collaborative cooking: they load pots with tomatoes, or serve soup, or both.

A bot knows the map, sees its window, and remembers what it last saw at each counter and pot. On its own it does
everything: it serves finished soup, loads a pot that has room, and otherwise waits at a pot with a dish; it puts down a
thing that it cannot use. If players are in separate rooms it leaves one half of the work to the other room as long as
it sees help, with the division of labour that makes soup soonest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from otherminds.distribution import Categorical
from otherminds.worlds.avatars import ACTIONS, OUTSIDE, Action
from otherminds.worlds.collaborative_cooking import rules
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingView
from otherminds.worlds.grid import Grid

Duty = Literal["everything", "tomatoes", "dishes"]
Errand = tuple[Sequence[int], bool]
"""Places of which to go to the nearest, and whether to use it or only wait there."""
PATIENCE = 60  # steps without help after which a bot does all the work; chosen; not tuned
SLIP = 0.3  # share of random actions of a semi-skilled bot; chosen on development seeds
CLUMSY = 0.2  # share of random actions near other players, so that two bots cannot block each other for good; not tuned
CLOSE = 2  # steps within which another player is near
COOKED = (rules.SEES_POT + rules.FULL, rules.SEES_SOUP)  # the change of a pot that happens without a player
OWN: dict[Duty, int] = {"tomatoes": rules.TOMATO, "dishes": rules.DISH}
SOURCES = {rules.TOMATO: rules.TOMATOES, rules.DISH: rules.DISHES}
TURNING = (0, 1, 2, 1)  # steps to turn by so many quarters clockwise
MOVES: tuple[Action, ...] = ("forward", "step_right", "backward", "step_left")


class CookingMemory(NamedTuple):
    """The last view, the code last seen at each counter and pot, and the steps since another player last helped."""

    view: CookingView
    codes: tuple[int, ...]
    alone: int = 0


@dataclass(frozen=True)
class CookingBot:
    """A program for the partners in Melting Pot's collaborative cooking (Agapiou et al. 2022).

    `duty` is the work that it does; None, the work that fits its room, or everything if no player helps. Its actions
    are π(a) = (1 − slip) · [a is intended] + slip / 8, with a larger slip near other players.
    """

    world: CollaborativeCooking
    duty: Duty | None = None
    slip: float = 0.0
    memory: CookingMemory | None = None

    def observe(self, obs: CookingView) -> CookingBot:
        """The bot after an observation."""
        untouched = (rules.SEES_COUNTER,) * len(self.world.counters) + (rules.SEES_POT,) * len(self.world.pots)
        before = self.memory or CookingMemory(obs, untouched)
        window = self.world.field.window(obs.cell, obs.facing)
        codes = {cell: code for cell, code in zip(window, obs.window, strict=True) if cell != OUTSIDE}
        places = self.world.counters + self.world.pots
        place_codes = tuple([codes.get(cell, code) for cell, code in zip(places, before.codes, strict=True)])
        pots = slice(len(self.world.counters), None)
        changes = zip(before.codes[pots], place_codes[pots], strict=True)
        used = obs.reward > 0 or any(then != code and (then, code) != COOKED for then, code in changes)
        helped = used and before.view.hand == obs.hand  # another player has visibly used a pot or delivered a soup
        alone = 0 if helped else min(before.alone + 1, PATIENCE)
        return replace(self, memory=CookingMemory(obs, place_codes, alone))

    def act(self) -> Categorical[Action]:
        """The next action of the first feasible errand, with slips."""
        if self.memory is None:
            return _with_slips("noop", self.slip)
        view = self.memory.view
        window = zip(self.world.field.window(view.cell, view.facing), view.window, strict=True)
        occupied = frozenset(cell for cell, code in window if cell != view.cell and rules.player_of(code))
        routes = _steps_from(self.world.grid, view.cell, frozenset())
        crowded = any(cell in routes and routes[cell].steps <= CLOSE for cell in occupied)
        alone = self.memory.alone == PATIENCE
        duty = self.duty or ("everything" if alone else fitting(self.world, view.cell))
        errands = _errands(self.world, self.memory, duty)
        ways = ((nearest(self.world, view, places, occupied), use) for places, use in errands)
        action = next((_towards(self.world, view, way, use) for way, use in ways if way is not None), "noop")
        return _with_slips(action, max(self.slip, CLUMSY if crowded else 0.0))


def semi_skilled(world: CollaborativeCooking, slip: float = SLIP) -> CookingBot:
    """A bot with random actions in a share of its steps."""
    return CookingBot(world, slip=slip)


@dataclass(frozen=True)
class IdleBot:
    """A bot that does nothing."""

    def observe(self, obs: CookingView) -> IdleBot:
        """The same bot."""
        return self

    def act(self) -> Categorical[Action]:
        """A noop with certainty."""
        return _with_slips("noop", 0.0)


@lru_cache(maxsize=256)
def _with_slips(meant: Action, slip: float) -> Categorical[Action]:
    """The action that is meant, or with probability `slip` a random one."""
    shares = {act: slip / len(ACTIONS) + (act == meant) * (1.0 - slip) for act in ACTIONS}
    return Categorical.from_scores((act, math.log(share)) for act, share in shares.items() if share)


# What to do


def _errands(world: CollaborativeCooking, memory: CookingMemory, duty: Duty) -> Iterator[Errand]:
    """What the bot would do next, in order of preference; later errands count if earlier ones are out of reach."""
    hand, count = memory.view.hand, len(world.counters)
    counters, pots = memory.codes[:count], memory.codes[count:]
    cooked = _having(world.pots, pots, rules.SEES_SOUP)
    full = _having(world.pots, pots, rules.SEES_POT + rules.FULL)
    pots_with_room = [cell for cell, code in zip(world.pots, pots, strict=True) if code < rules.SEES_POT + rules.FULL]
    if hand == rules.SOUP:
        yield world.cells(rules.DELIVERY), True
    elif hand == rules.TOMATO:
        yield pots_with_room, True
    elif hand == rules.DISH:
        yield cooked, True
        yield full, False
    else:
        yield _having(world.counters, counters, rules.SEES_COUNTER + rules.SOUP), True
        load = duty == "tomatoes" or (duty == "everything" and pots_with_room and not cooked)
        thing = rules.TOMATO if load else rules.DISH
        yield (*world.cells(SOURCES[thing]), *_having(world.counters, counters, rules.SEES_COUNTER + thing)), True
    if hand != rules.NOTHING and hand != OWN.get(duty):
        yield _having(world.counters, counters, rules.SEES_COUNTER), True
    yield world.pots, False


def _having(cells: Sequence[int], codes: Sequence[int], target_code: int) -> list[int]:
    """The cells whose code, in the same order, is the target code."""
    return [cell for cell, code in zip(cells, codes, strict=True) if code == target_code]


@lru_cache(maxsize=1 << 10)
def fitting(world: CollaborativeCooking, cell: int) -> Duty:
    """The duty of a player at a cell if players in the best other room do the rest.

    Of the two divisions of labour, the one whose longer half is shorter; everything if there is only one room.
    """
    rooms = {frozenset(_steps_from(world.grid, start, frozenset())) for start in world.starts}
    mine = next((room for room in rooms if cell in room), frozenset({cell}))
    other_labours = [_labour(world, room) for room in rooms if room != mine]
    if not other_labours:
        return "everything"
    load, serve = _labour(world, mine)
    loading = min(max(load, their_serve) for _, their_serve in other_labours)
    serving = min(max(serve, their_load) for their_load, _ in other_labours)
    return "tomatoes" if loading < serving else "dishes"


def _labour(world: CollaborativeCooking, room: frozenset[int]) -> tuple[float, float]:
    """Steps in a room to load a pot, and to serve a soup, there and back; infinite if impossible."""
    load = _distance(world, room, rules.TOMATOES, rules.POT)
    serve = _distance(world, room, rules.DISHES, rules.POT) + _distance(world, room, rules.POT, rules.DELIVERY)
    return 2 * rules.FULL * load, 2 * serve


def _distance(world: CollaborativeCooking, room: frozenset[int], start_kind: str, end_kind: str) -> float:
    """Steps in a room from using one kind of place to using another."""
    stands = [[s for place in world.cells(kind) for s in _stands(world, place)] for kind in (start_kind, end_kind)]
    costs = (
        _steps_from(world.grid, start, frozenset())[end].steps + TURNING[(facing - looking) % 4] + 1
        for start, looking in stands[0]
        for end, facing in stands[1]
        if start in room and end in room
    )
    return min(costs, default=math.inf)


# How to get there


class Leg(NamedTuple):
    """The distance of a cell in steps, and the first cell on the way, or the cell itself."""

    steps: int
    first: int


class PlaceRoute(NamedTuple):
    """Steps to a place, the first cell on the way, and the cell and facing from which it is used."""

    steps: int
    first: int
    cell: int
    facing: int


def nearest(
    world: CollaborativeCooking, view: CookingView, places: Sequence[int], occupied: frozenset[int]
) -> PlaceRoute | None:
    """The shortest way to one of the places around other players, None if there is none."""
    legs = _steps_from(world.grid, view.cell, occupied)
    ways = (
        PlaceRoute(legs[cell].steps + TURNING[(facing - view.facing) % 4], legs[cell].first, cell, facing)
        for place in places
        for cell, facing in _stands(world, place)
        if cell in legs
    )
    return min(ways, key=lambda way: way.steps, default=None)


def _towards(world: CollaborativeCooking, view: CookingView, way: PlaceRoute, use: bool) -> Action:
    """The next action on a way: steps first, then turns."""
    if view.cell != way.cell:
        heading = world.field.ahead.index(way.first - view.cell)
        return MOVES[(heading - view.facing) % 4]
    if view.facing != way.facing:
        return "turn_left" if (way.facing - view.facing) % 4 == 3 else "turn_right"
    return "interact" if use else "noop"


@lru_cache(maxsize=1 << 12)
def _stands(world: CollaborativeCooking, place: int) -> tuple[tuple[int, int], ...]:
    """The cells and facings from which a place can be used."""
    sides = ((place - step, facing) for facing, step in enumerate(world.field.ahead))
    return tuple((cell, facing) for cell, facing in sides if world.grid.is_floor(cell))


@lru_cache(maxsize=1 << 12)
def _steps_from(grid: Grid, start: int, occupied: frozenset[int]) -> dict[int, Leg]:
    """Distance and first step to every reachable cell."""
    legs, edge = {start: Leg(0, start)}, [start]
    while edge:
        ahead = []
        for cell in edge:
            for near in grid.neighbours[cell]:
                if near not in legs and near not in occupied:
                    legs[near] = Leg(legs[cell].steps + 1, near if cell == start else legs[cell].first)
                    ahead.append(near)
        edge = ahead
    return legs
