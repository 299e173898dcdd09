"""What it costs one person to cook a dish, or to do somebody a favour, in a kitchen as they take it to be.

Costs are exact for somebody alone who brings food to boards and to plates, stage by stage: a dish to a delivery,
chopped food to a plate, fresh food to a board, empty hands to what comes next. Others are taken to stand aside.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.planning.shortest_paths import UNREACHABLE, distances
from otherminds.worlds.overcooked.kitchen import (
    CHOPPED,
    FRESH,
    NOTHING,
    NOWHERE,
    PLATE,
    RECIPES,
    KitchenLayout,
    deliverable,
    interact,
)
from otherminds.worlds.overcooked.rules import ACTIONS

HOPE = 100
"""What it counts, in steps, that somebody else has to bring something that is out of reach."""
IN_HAND = -1
JUNK = 1 << 40
"""Stands for anything that is of no use."""
_RAW = min(FRESH.values())
_NIBBLES = (0, 4, 8, 12)
_SIMPLE = {PLATE + part for part in CHOPPED.values()}

On = tuple[int, ...]
Values = list[int]


class Pass(NamedTuple):
    """The favour of bringing a thing, which lies at a place or is IN_HAND, to one of the counters near a friend."""

    helper: int
    thing: int
    place: int
    friend: int
    counters: tuple[int, ...]


class Pickup(NamedTuple):
    """The favour of taking the thing that lies at this place, rather than another one."""

    helper: int
    thing: int
    place: int
    friend: int


Advice = Pass | Pickup
CookGoal = str | Advice
"""What somebody is up to: a recipe, or a favour."""


@cache
def fits(thing: int, dish: int) -> bool:
    """Whether all parts of a thing belong into a dish, none of them fresh."""
    return thing < _RAW and all(thing >> s & 15 <= dish >> s & 15 for s in _NIBBLES)


@cache
def useful(thing: int, dish: int) -> bool:
    """Whether a thing, or the food that is chopped from it, belongs into a dish."""
    return bool(thing) and fits(chopped(thing), dish)


@cache
def joins(one: int, other: int, dish: int) -> bool:
    """Whether two things go together on the way to a dish: foods first, the plate last."""
    return fits(one + other, dish) and (PLATE not in (one, other) or one + other == dish)


def chopped(thing: int) -> int:
    """What becomes of a thing on a board."""
    return thing >> 16 if is_fresh(thing) else thing


def is_fresh(thing: int) -> bool:
    """Whether the thing is a food that has to be chopped."""
    return thing >= _RAW


def is_under_way(aim: Advice, hand: int, on: Sequence[int]) -> bool:
    """Whether what is asked for is yet to be done, and can be: the thing lies where it was, or is being carried."""
    if isinstance(aim, Pickup):
        return hand != aim.thing and on[aim.place] == aim.thing
    there = hand == aim.thing or (aim.place != IN_HAND and on[aim.place] == aim.thing)
    return there and not is_near(aim, on)


def is_near(aim: Pass, on: Sequence[int]) -> bool:
    """Whether such a thing lies near the friend; it is asked for only if none does."""
    return any(on[place] == aim.thing for place in aim.counters)


class OvercookedPlanner:
    """Costs-to-go in the kitchens of one layout, remembered; shared by all who cook, watch and forecast there."""

    def __init__(self, layout: KitchenLayout) -> None:
        """Distances between all squares are found at once; everything else when it is asked for."""
        self.layout = layout
        grid, floor = layout.grid, list(layout.grid.cells())
        self._walks = np.full((grid.size, grid.size), UNREACHABLE, dtype=np.int32)
        rows = distances(grid.floor, grid.stride, floor)[:, : grid.size]
        self._walks[floor, : rows.shape[1]] = rows
        self._surfaces = tuple(k for k in range(len(layout.counters)) if k not in layout.boards)
        self._hopeful = layout.shared or self._surfaces
        self.policies: dict[Hashable, Categorical[str]] = {}
        self._fields: dict[tuple[CookGoal, int, On], Values] = {}
        self._known: dict[tuple[CookGoal, int, On], Values] = {}

    # Costs

    def values(self, aim: CookGoal, hand: int, on: On) -> Values:
        """V: for every square, the steps until the aim is reached from there; UNREACHABLE if it never is.

        `hand` is what is held, `on` what is taken to lie on each counter or board.
        """
        key = (aim, hand, on)
        if key not in self._fields:
            self._fields[key] = self._request(aim, hand, on) if isinstance(aim, tuple) else self._dish(aim, hand, on)
        return self._fields[key]

    def action_costs(self, aim: CookGoal, cell: int, hand: int, on: On) -> tuple[int, ...]:
        """Q: the steps until the aim is reached if each of the ACTIONS is taken first and nobody is in the way."""
        ahead, values = self.layout.ahead[cell], self.values(aim, hand, on)
        heads = [ahead[action] for action in ACTIONS]
        return tuple([1 + values[to] if at == NOWHERE else self._use_cost(to, at, aim, hand, on) for to, at in heads])

    def _use_cost(self, cell: int, place: int, aim: CookGoal, hand: int, on: On) -> int:
        """The steps until the aim is reached if a place is used first."""
        if place >= len(on):
            if hand and hand == RECIPES.get(str(aim)):
                return 1
            return 1 + self.values(aim, NOTHING if deliverable(hand) else hand, on)[cell]
        held, lies = interact(hand, on[place], place in self.layout.boards)
        if (held, lies) != (hand, on[place]):
            hand, on = held, (*on[:place], lies, *on[place + 1 :])
            if isinstance(aim, tuple) and not is_under_way(aim, hand, on):
                return 1 if self._does(aim, place, hand, lies) else UNREACHABLE
        return 1 + self.values(aim, hand, on)[cell]

    def _does(self, aim: Advice, place: int, held: int, lies: int) -> bool:
        """Whether using a place, with this result, is what was asked for."""
        if isinstance(aim, Pickup):
            return held == aim.thing and place == aim.place
        return place in aim.counters and lies == aim.thing

    def _field(self, sources: Sequence[tuple[int, int]]) -> Values:
        """V from the squares from which it goes on, and what it costs from there."""
        if not sources:
            return [UNREACHABLE] * len(self._walks)
        cells, costs = zip(*sources, strict=True)
        found = (self._walks[list(cells)] + np.array(costs, dtype=np.int32)[:, None]).min(axis=0)
        values: Values = np.minimum(found, UNREACHABLE).tolist()
        return values

    def _after(self, place: int, values: Values) -> list[tuple[int, int]]:
        """The squares from which a place is used, with the costs of using it and going on from there."""
        return [(cell, 1 + values[cell]) for cell in self.layout.beside[place]]

    def _at(self, places: Sequence[int]) -> list[tuple[int, int]]:
        """The squares from which using one of the places is all that is left to do."""
        return [(cell, 1) for place in places for cell in self.layout.beside[place]]

    def _aside(self, aim: CookGoal, hand: int, on: On) -> list[tuple[int, int]]:
        """Where what is held can be put down, to go on with free hands."""
        dish = RECIPES[aim] if isinstance(aim, str) else NOTHING
        lies = hand if useful(hand, dish) else JUNK
        full = all(on[board] for board in self.layout.boards)
        near = dish and (lies != JUNK or dish not in _SIMPLE or full)
        sources = []
        for place in self._near_boards(on) if near else self._surfaces:
            if not on[place]:
                matters = near or (isinstance(aim, Pass) and place in aim.counters)
                sources += self._after(place, self.values(aim, NOTHING, _with(on, place, lies) if matters else on))
        return sources

    # OvercookedAdvice

    def _request(self, aim: Advice, hand: int, on: On) -> Values:
        if not is_under_way(aim, hand, on):
            return self._field(())
        if isinstance(aim, Pass) and hand == aim.thing:
            return self._field(self._at([place for place in aim.counters if not on[place]]))
        if hand:
            return self._field(self._aside(aim, hand, on))
        if isinstance(aim, Pickup):
            return self._field(self._at([aim.place]))
        return self._field(self._after(aim.place, self.values(aim, aim.thing, _without(on, aim.place))))

    # Dishes

    def _dish(self, recipe: str, hand: int, on: On) -> Values:
        """V for a recipe, found once for all kitchens that differ only in what does not matter to it."""
        dish = RECIPES[recipe]
        if hand == dish:
            key: tuple[CookGoal, int, On] = (recipe, hand, ())
        else:
            on, key = self._gist(recipe, dish, hand, on)
        if key not in self._known:
            self._known[key] = self._field(list(self._sources(recipe, dish, hand, on)))
        return self._known[key]

    def _gist(self, recipe: str, dish: int, hand: int, on: On) -> tuple[On, tuple[CookGoal, int, On]]:
        """What matters of a kitchen: things of use and, unless something has to be put down, nothing else."""
        if hand and self._has_to_put_down(dish, hand, on):
            return on, (recipe, hand, on)
        rest = dish - chopped(hand) if useful(hand, dish) else dish
        boards = self.layout.boards
        space = boards if dish in _SIMPLE and not all(on[board] for board in boards) else range(len(on))
        on = tuple([t and (t if useful(t, rest) else JUNK if k in space else NOTHING) for k, t in enumerate(on)])
        return on, (recipe, hand, on)

    def _has_to_put_down(self, dish: int, hand: int, on: On) -> bool:
        """Whether what is held is of no use, or cannot be chopped or put together with anything yet."""
        if not useful(hand, dish):
            return True
        return all(on[board] for board in self.layout.boards) if is_fresh(hand) else not self._partners(dish, hand, on)

    def _sources(self, recipe: str, dish: int, hand: int, on: On) -> Iterator[tuple[int, int]]:
        """The squares from which to go on, each with the costs from there."""
        if hand == dish:
            yield from self._at(range(len(on), len(self.layout.places)))
        elif not hand:
            yield from self._fetch(recipe, dish, on)
        elif not useful(hand, dish):
            yield from self._aside(recipe, hand, on)
        elif is_fresh(hand):
            yield from self._chop(recipe, hand, on)
        else:
            yield from self._merge(recipe, dish, hand, on)

    def _chop(self, recipe: str, hand: int, on: On) -> Iterator[tuple[int, int]]:
        boards = [board for board in self.layout.boards if not on[board]]
        then = self.values(recipe, chopped(hand), on)
        for board in boards:
            yield from self._after(board, then)
        if not boards:
            yield from self._aside(recipe, hand, on)

    def _merge(self, recipe: str, dish: int, hand: int, on: On) -> Iterator[tuple[int, int]]:
        """Take it to what it goes with; if there is nothing, put it down near a board, or hope for what is missing."""
        partners = self._partners(dish, hand, on)
        for place in partners:
            yield from self._after(place, self.values(recipe, hand + on[place], _without(on, place)))
        if not partners:
            for place in self._near_boards(on):
                yield from self._after(place, self.values(recipe, NOTHING, _with(on, place, hand)))
        if hand + PLATE == dish:
            yield from self._hope(self.values(recipe, dish, on))

    def _fetch(self, recipe: str, dish: int, on: On) -> Iterator[tuple[int, int]]:
        """With free hands: take what is done, what goes with something else, or what is to be chopped."""
        boards = [board for board in self.layout.boards if not on[board]]
        lying = [(place, thing) for place, thing in enumerate(on) if thing]
        for place, thing in lying:
            if not useful(thing, dish):
                take = False
            elif is_fresh(thing):
                take = bool(boards)
            else:
                take = thing == dish or any(p != place and joins(thing, other, dish) for p, other in lying)
            if take or (not boards and place in self.layout.boards):
                yield from self._after(place, self.values(recipe, thing, _without(on, place)))
        for part in self._wanting(dish, on):
            if boards or not is_fresh(part):
                yield from self._hope(self.values(recipe, part, on))

    def _wanting(self, dish: int, on: On) -> list[int]:
        """The foods that nobody has chopped yet, fresh; a plate, if it is all that is missing."""
        ready = [thing for thing in on if thing and fits(thing, dish)]
        foods = [f for f, part in CHOPPED.items() if fits(part, dish) and not any(fits(part, t) for t in ready)]
        return [FRESH[f] for f in foods] or [PLATE][: len(self._partners(dish, PLATE, on))]

    def _hope(self, values: Values) -> Iterator[tuple[int, int]]:
        """Wait at the counters between rooms until somebody brings it."""
        for place in self._hopeful:
            for cell in self.layout.beside[place]:
                yield cell, HOPE + 1 + values[cell]

    def _partners(self, dish: int, hand: int, on: On) -> list[int]:
        """Where something lies that goes with what is held, for this dish."""
        return [place for place, thing in enumerate(on) if thing and joins(hand, thing, dish)]

    def _near_boards(self, on: On) -> list[int]:
        """The two nearest free counters to each cutting board: where one works."""
        free = [place for place in self._surfaces if not on[place]]
        near = {p for board in self.layout.boards for p in sorted(free, key=lambda p: self._apart(board, p))[:2]}
        return sorted(near)

    def _apart(self, one: int, other: int) -> int:
        beside = self.layout.beside
        return min((int(self._walks[a, b]) for a in beside[one] for b in beside[other]), default=UNREACHABLE)


def _without(on: On, place: int) -> On:
    return _with(on, place, NOTHING)


def _with(on: On, place: int, thing: int) -> On:
    return (*on[:place], thing, *on[place + 1 :])
