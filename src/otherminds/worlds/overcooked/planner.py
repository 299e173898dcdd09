"""Costs-to-go of a cook: the steps until it has delivered a dish or followed advice, in the kitchen it believes in.

Exact for a cook that works alone and brings food to boards and to plates, stage by stage: a dish to a delivery, chopped
food to a plate, fresh food to a board, empty hands to what comes next. Other agents are taken to stand aside.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.planning.expansion import Expansion
from otherminds.planning.shortest_paths import UNREACHABLE, cached_method, distances
from otherminds.worlds.overcooked import kitchen
from otherminds.worlds.overcooked.kitchen import NOTHING, NOWHERE, PLATE, RECIPES, STAY, KitchenLayout
from otherminds.worlds.overcooked.rules import ACTIONS

# Steps counted for an item that another agent has to bring; chosen (docs/systems/protom.md), as in Doors-Keys-Gems.
WAITING_COST = 100
TOGETHER = 256  # squares from which distances are computed at once; more would take much memory and be no quicker
# States that one planner may expand, and how many squares and counters count as one; chosen for less than 1 GB.
MOST_STATES = 2_500_000
STATE = 50
MANY = 250  # squares to go on from beyond which spreading costs from them is quicker than looking up ways; measured
IN_HAND = -1  # the place of an item that the helper holds
JUNK = 1 << 40  # stands for every useless item
_MIN_FRESH = min(kitchen.FRESH.values())  # the smallest item that is a fresh food
_ONE_FOOD_DISHES = {PLATE + part for part in kitchen.CHOPPED.values()}  # dishes of one food and a plate

On = tuple[int, ...]
"""The item on each counter or board, or NOTHING."""
Values = Sequence[int]
NextStep = tuple[str, int, int]
"""An action, the square where it leads, and the place that it uses or NOWHERE."""


class Pass(NamedTuple):
    """Advice to bring an item, which lies at `place` or is IN_HAND, to one of the counters near a friend."""

    helper: int
    thing: int
    place: int
    friend: int
    counters: tuple[int, ...]


class Pickup(NamedTuple):
    """Advice to take the item that lies at `place`, rather than another one of the same kind."""

    helper: int
    thing: int
    place: int
    friend: int


Advice = Pass | Pickup
CookGoal = str | Advice
"""The goal of a cook: a recipe to deliver, or advice to follow."""


@cache
def fits(thing: int, dish: int) -> bool:
    """Whether all parts of an item belong in a dish, none of them fresh."""
    shifts = (0, 4, 8, 12)  # of the chopped foods and plates in an item
    return thing < _MIN_FRESH and all(thing >> n & kitchen.MANY <= dish >> n & kitchen.MANY for n in shifts)


@cache
def useful(thing: int, dish: int) -> bool:
    """Whether an item, or the food that is chopped from it, belongs in a dish."""
    return bool(thing) and fits(chopped(thing), dish)


@cache
def joins(first: int, second: int, dish: int) -> bool:
    """Whether two items are merged on the way to a dish: foods first, the plate last."""
    return fits(first + second, dish) and (PLATE not in (first, second) or first + second == dish)


def chopped(thing: int) -> int:
    """The item after chopping."""
    return thing >> 16 if is_fresh(thing) else thing


def is_fresh(thing: int) -> bool:
    """Whether the item is a food that is not chopped yet."""
    return thing >= _MIN_FRESH


def is_under_way(advice: Advice, hand: int, on: Sequence[int]) -> bool:
    """Whether the advice is still to be followed and can be: the item is at its place or in the helper's hands."""
    if isinstance(advice, Pickup):
        return hand != advice.thing and on[advice.place] == advice.thing
    in_reach = hand == advice.thing or (advice.place != IN_HAND and on[advice.place] == advice.thing)
    return in_reach and not is_near(advice, on)


def is_near(advice: Pass, on: Sequence[int]) -> bool:
    """Whether such an item lies on one of the counters near the friend."""
    return any(on[place] == advice.thing for place in advice.counters)


class OvercookedPlanner:
    """Exact costs-to-go in the kitchens of one layout, cached; shared by the minds that act, observe and forecast."""

    def __init__(self, layout: KitchenLayout) -> None:
        """Computes the distances between all squares; everything else is computed at first use."""
        self.layout = layout
        grid, floor = layout.grid, list(layout.grid.cells())
        self._steps = np.full((grid.size, grid.size), UNREACHABLE, dtype=np.int32)
        for k in range(0, len(floor), TOGETHER):
            rows = distances(grid.floor, grid.stride, floor[k : k + TOGETHER])[:, : grid.size]
            self._steps[floor[k : k + TOGETHER], : rows.shape[1]] = rows
        self._floor = np.isin(np.arange(grid.size), floor)
        self.expansion = Expansion(MOST_STATES)
        self._size = 1 + (grid.size + 2 * len(layout.counters)) // STATE
        self._surfaces = tuple(k for k in range(len(layout.counters)) if k not in layout.boards)
        self._waiting_places = layout.shared or self._surfaces
        self.policies: dict[Hashable, Categorical[str]] = {}

    def count(self) -> None:
        """Count a state of a cook or of a forecast. Raises InputError beyond the limit."""
        self.expansion.count(self._size)

    # Costs

    @cached_method
    def values(self, goal: CookGoal, hand: int, on: On) -> Values:
        """V: steps to the goal from every square; UNREACHABLE if it cannot be reached.

        `hand` is what the cook holds, `on` what it believes to lie on each counter or board.
        """
        self.expansion.count(len(on) // STATE)  # the question is kept as well
        if isinstance(goal, str):
            return self._dish_values(goal, hand, on)
        self.count()
        return self._field(tuple(self._advice_sources(goal, hand, on)))

    def action_costs(self, goal: CookGoal, cell: int, hand: int, on: On) -> tuple[int, ...]:
        """Q: steps to the goal after each of the ACTIONS, with no agent in the way."""
        ahead, values = self.layout.ahead[cell], self.values(goal, hand, on)
        heads = [ahead[action] for action in ACTIONS]
        return tuple([1 + values[to] if k == NOWHERE else self._use_cost(to, k, goal, hand, on) for to, k in heads])

    @cached_method
    def next_steps(self, goal: CookGoal, hand: int, on: On) -> Callable[[int], NextStep]:
        """The best next step as a function of the square, the first of equals; to stay if only help would do."""
        return cache(partial(self._next_step, goal, hand, on, self._useless_places(goal, hand, on)))

    def _next_step(self, goal: CookGoal, hand: int, on: On, useless: Container[int], cell: int) -> NextStep:
        """The best next step from a square."""
        values = self.values(goal, hand, on)
        best, least = (STAY, cell, NOWHERE), values[cell] + 1
        for action, (to, place) in self.layout.ahead[cell].items():
            if place == NOWHERE:
                cost = 1 + values[to]
            elif place in useless:
                continue
            else:
                cost = self._use_cost(to, place, goal, hand, on)
            if cost < least:
                best, least = (action, to, place), cost
        return best

    def _useless_places(self, goal: CookGoal, hand: int, on: On) -> Container[int]:
        """Counters whose use leaves no less to do, by the definition of V.

        They are those where a cook would put down a dish or, with a board free, pick up what a dish of one food does
        not need, or put down this food though no other one is further on its way to a dish.
        """
        dish, boards = RECIPES[goal] if isinstance(goal, str) else NOTHING, self.layout.boards
        if hand and hand == dish:
            return range(len(on))
        if dish in _ONE_FOOD_DISHES and NOTHING in [on[board] for board in boards]:
            food = dish - PLATE
            if not hand:
                return {place for place in self._surfaces if on[place] and not useful(on[place], dish)}
            if hand == food and PLATE in on and dish not in on:
                return {place for place in self._surfaces if not on[place]}
            if chopped(hand) == food != hand and not {food, dish} & {*on} and hand not in [on[k] for k in boards]:
                return self._surfaces
        return ()

    def _use_cost(self, cell: int, place: int, goal: CookGoal, hand: int, on: On) -> int:
        """Steps to the goal if the cook uses a place first."""
        if place >= len(on):
            if hand and hand == RECIPES.get(str(goal)):
                return 1
            return 1 + self.values(goal, NOTHING if kitchen.deliverable(hand) else hand, on)[cell]
        hand_after, lies = kitchen.interact(hand, on[place], place in self.layout.boards)
        if (hand_after, lies) != (hand, on[place]):
            hand, on = hand_after, _with(on, place, lies)
            if isinstance(goal, tuple) and not is_under_way(goal, hand, on):
                if isinstance(goal, Pickup):
                    followed = hand_after == goal.thing and place == goal.place
                else:
                    followed = lies == goal.thing and place in goal.counters
                return 1 if followed else UNREACHABLE
        return 1 + self.values(goal, hand, on)[cell]

    @cached_method
    def _field(self, sources: tuple[tuple[int, int], ...]) -> Values:
        """V from the squares where the cook goes on, each with the cost from there."""
        cells, costs = np.array(sources, dtype=np.int32).reshape(-1, 2).T
        if len(cells) > MANY:
            self.count()  # it takes as long as two
            values = self._spread(cells, costs)
        else:
            values = (self._steps[cells] + costs[:, None]).min(axis=0, initial=UNREACHABLE)
        return array("i", np.minimum(values, UNREACHABLE).astype(np.int32).tobytes())

    def _spread(self, cells: NDArray[np.int32], costs: NDArray[np.int32]) -> NDArray[np.int32]:
        """The same from many squares: costs spread to neighbouring squares, a step each, until nothing gets less."""
        size, stride, steps = self.layout.grid.size, self.layout.grid.stride, self.layout.grid.offsets.values()
        padded = np.full(size + 2 * stride, UNREACHABLE, dtype=np.int32)
        values = padded[stride:-stride]
        np.minimum.at(values, cells, costs)
        while True:
            near = 1 + np.minimum.reduce([padded[stride + step :][:size] for step in steps])
            less = self._floor & (near < values)
            if not less.any():
                return values
            np.copyto(values, near, where=less)

    def _after(self, place: int, values: Values) -> list[tuple[int, int]]:
        """The squares from which a place is used, with the cost of using it and going on from there."""
        return [(cell, 1 + values[cell]) for cell in self.layout.beside[place]]

    def _finish_at(self, places: Sequence[int]) -> list[tuple[int, int]]:
        """The squares from which using one of the places reaches the goal."""
        return [(cell, 1) for place in places for cell in self.layout.beside[place]]

    def _put_down(self, goal: CookGoal, hand: int, on: On) -> list[tuple[int, int]]:
        """Where the cook can put down what it holds, to go on with free hands."""
        dish = RECIPES[goal] if isinstance(goal, str) else NOTHING
        lies = hand if useful(hand, dish) else JUNK
        full = all(on[board] for board in self.layout.boards)
        near = dish and (lies != JUNK or dish not in _ONE_FOOD_DISHES or full)
        sources = []
        for place in self._near_boards(on) if near else self._surfaces:
            if not on[place]:
                matters = near or (isinstance(goal, Pass) and place in goal.counters)
                sources += self._after(place, self.values(goal, NOTHING, _with(on, place, lies) if matters else on))
        return sources

    def _near_boards(self, on: On) -> list[int]:
        """The two nearest free counters to each cutting board."""
        return sorted({k for near in self._around_boards for k in islice((k for k in near if not on[k]), 2)})

    @cached_property
    def _around_boards(self) -> list[list[int]]:
        """The counters by distance from each cutting board."""
        beside = self.layout.beside

        def apart(origin: int, counter: int) -> int:
            return min((int(self._steps[a, b]) for a in beside[origin] for b in beside[counter]), default=UNREACHABLE)

        return [sorted(self._surfaces, key=partial(apart, board)) for board in self.layout.boards]

    # Advice

    def _advice_sources(self, advice: Advice, hand: int, on: On) -> Sequence[tuple[int, int]]:
        """The squares where a cook that follows advice goes on, each with the cost from there; none if it is over."""
        if not is_under_way(advice, hand, on):
            return ()
        if isinstance(advice, Pass) and hand == advice.thing:
            return self._finish_at([place for place in advice.counters if not on[place]])
        if hand:
            return self._put_down(advice, hand, on)
        if isinstance(advice, Pickup):
            return self._finish_at([advice.place])
        return self._after(advice.place, self.values(advice, advice.thing, _with(on, advice.place, NOTHING)))

    # Dishes

    def _dish_values(self, recipe: str, hand: int, on: On) -> Values:
        """V for a recipe, computed once for all kitchens that differ only in items that do not matter to it."""
        dish, boards = RECIPES[recipe], self.layout.boards
        full = NOTHING not in [on[board] for board in boards]
        if hand == dish:
            on = ()
        elif not hand or (useful(hand, dish) and (not full if is_fresh(hand) else self._partners(dish, hand, on))):
            # nothing has to be put down, so only useful items matter, and others where they take space
            needed = dish - chopped(hand) if useful(hand, dish) else dish
            space = boards if dish in _ONE_FOOD_DISHES and not full else range(len(on))
            on = tuple([t and (t if useful(t, needed) else JUNK if k in space else NOTHING) for k, t in enumerate(on)])
            if space is boards:
                return self._simple_values(recipe, hand, on)
        return self._reduced_values(recipe, hand, on)

    @cached_method
    def _simple_values(self, recipe: str, hand: int, on: On) -> Values:
        """V for a recipe with one food while a board is free: only one item of each kind is used, so V is the least."""
        for thing in {*on} - {NOTHING, JUNK}:
            if on.count(thing) > 1:
                places = [place for place, lies in enumerate(on) if lies == thing]
                others = list(on)
                for place in places:
                    others[place] = JUNK if place in self.layout.boards else NOTHING
                values = [self._simple_values(recipe, hand, _with(others, place, thing)) for place in places]
                return array("i", np.minimum.reduce(values, dtype=np.int32).tobytes())
        return self._reduced_values(recipe, hand, on)

    @cached_method
    def _reduced_values(self, recipe: str, hand: int, on: On) -> Values:
        """V for a recipe in a kitchen without the items that do not matter to it."""
        self.count()
        return self._field(tuple(self._dish_sources(recipe, RECIPES[recipe], hand, on)))

    def _dish_sources(self, recipe: str, dish: int, hand: int, on: On) -> Iterator[tuple[int, int]]:
        """The squares where the cook goes on, each with the cost from there."""
        layout = self.layout
        free = [board for board in layout.boards if on and not on[board]]
        if hand == dish:
            yield from self._finish_at(range(len(layout.counters), len(layout.places)))
        elif not hand:
            yield from self._fetch(recipe, dish, on, free)
        elif not useful(hand, dish) or (is_fresh(hand) and not free):
            yield from self._put_down(recipe, hand, on)
        elif is_fresh(hand):
            values_after = self.values(recipe, chopped(hand), on)
            for board in free:
                yield from self._after(board, values_after)
        else:
            yield from self._merge(recipe, dish, hand, on)

    def _merge(self, recipe: str, dish: int, hand: int, on: On) -> Iterator[tuple[int, int]]:
        """Take it to an item it is merged with; if there is none, put it down near a board, or wait for a plate."""
        partners = self._partners(dish, hand, on)
        for place in partners:
            yield from self._after(place, self.values(recipe, hand + on[place], _with(on, place, NOTHING)))
        if not partners:
            for place in self._near_boards(on):
                yield from self._after(place, self.values(recipe, NOTHING, _with(on, place, hand)))
        if hand + PLATE == dish:
            yield from self._wait(self.values(recipe, dish, on))

    def _fetch(self, recipe: str, dish: int, on: On, free: Sequence[int]) -> Iterator[tuple[int, int]]:
        """With free hands: take a finished dish, an item to merge, or a food to chop; or wait for a missing one."""
        lying = [(place, thing) for place, thing in enumerate(on) if thing]
        for place, thing in lying:
            if not useful(thing, dish):
                take = False
            elif is_fresh(thing):
                take = bool(free)
            else:
                take = thing == dish or any(p != place and joins(thing, partner, dish) for p, partner in lying)
            if take or (not free and place in self.layout.boards):
                yield from self._after(place, self.values(recipe, thing, _with(on, place, NOTHING)))
        ready = [thing for _, thing in lying if fits(thing, dish)]
        missing = [
            kitchen.FRESH[food]
            for food, part in kitchen.CHOPPED.items()
            if fits(part, dish) and not any(fits(part, thing) for thing in ready)
        ]
        for part in missing or [PLATE][: len(self._partners(dish, PLATE, on))]:
            if free or not is_fresh(part):
                yield from self._wait(self.values(recipe, part, on))

    def _wait(self, values: Values) -> Iterator[tuple[int, int]]:
        """Wait at the counters between rooms until another agent brings the item."""
        for place in self._waiting_places:
            for cell in self.layout.beside[place]:
                yield cell, WAITING_COST + 1 + values[cell]

    def _partners(self, dish: int, hand: int, on: On) -> list[int]:
        """The places of items that can be merged with what the cook holds, for this dish."""
        return [place for place, thing in enumerate(on) if thing and joins(hand, thing, dish)]


def _with(on: Sequence[int], place: int, thing: int) -> On:
    return (*on[:place], thing, *on[place + 1 :])
