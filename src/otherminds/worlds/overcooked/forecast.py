"""How long cooks take who know only what they see: joint plans run forward, step by step, ties in a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.beliefs import Contents, Imagination
from otherminds.worlds.overcooked.kitchen import NOTHING, NOWHERE, RECIPES, STAY
from otherminds.worlds.overcooked.planner import Aim, Cooking, On, Request, is_under_way, useful
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State

PATIENCE = 2
NEVER = 1 << 20
LONG = 500
STUCK = 16
NOBODY = -1

Head = tuple[str, int, int]
Route = tuple[Aim, int, On]


class Outlook(NamedTuple):
    """All that decides how things go on.

    wants: everybody's recipe, None for who has nothing left to do. beliefs: where each takes things to be, as far as it
    matters to them, None if they are right. request: what somebody has been asked to do first.
    """

    state: State
    wants: tuple[str | None, ...]
    beliefs: tuple[Contents | None, ...]
    request: Request | None


class Forecast:
    """The steps that everybody takes in an outlook, remembered from every moment at which something happens."""

    def __init__(self, world: Overcooked, cooking: Cooking, imagination: Imagination) -> None:
        """Of the world only the rules are used, not who is to deliver what."""
        self.world, self.cooking, self.imagination = world, cooking, imagination
        self._known: dict[Outlook, int] = {}
        self._heads: dict[Route | None, dict[int, Head]] = {}

    def outlook(
        self, state: State, wants: Sequence[str | None], kitchens: Sequence[State], request: Request | None
    ) -> Outlook:
        """Where things stand if these are the recipes that people have still to deliver, and their beliefs."""
        state = state._replace(served=0)
        beliefs = tuple(_gist(state, want, kitchen) for want, kitchen in zip(wants, kitchens, strict=True))
        return Outlook(state, tuple(wants), beliefs, request)

    def steps(self, outlook: Outlook) -> int:
        """Steps until everybody is done, NEVER if that will not be: everybody does what is best as far as they know.

        What is out of sight, and not where it was believed to be, is imagined elsewhere. (ProToM eq. 14.)
        """
        trail: list[tuple[Outlook, int]] = []
        t = 0
        while True:
            rest = 0 if not any(outlook.wants) else self._known.get(outlook)
            if rest is None and t > LONG:
                rest = NEVER
            if rest is not None:
                break
            trail.append((outlook, t))
            took, outlook = self._until_something_happens(outlook)
            t += took
            if took == NEVER:
                rest = NEVER
                break
        for known, since in trail:
            self._known[known] = min(t - since + rest, NEVER)
        return min(t + rest, NEVER)

    def _until_something_happens(self, outlook: Outlook) -> tuple[int, Outlook]:
        """Go on until somebody uses something, or sees what they did not expect; NEVER if nobody will."""
        state = outlook.state
        routes = [self._route(outlook, i) for i in range(len(state.cells))]
        tables = [self._heads.setdefault(route, {}) for route in routes]
        sight = self.world.layout.sight
        astray = [i for i, belief in enumerate(outlook.beliefs) if belief is not None]
        cells, waited, resting = state.cells, 0, (NOBODY, 0)
        for t in range(1, LONG):
            heads = [
                table.get(cell) or self._find_head(table, route, cell)
                for table, route, cell in zip(tables, routes, cells, strict=True)
            ]
            if resting[1] >= t:
                heads[resting[0]] = (STAY, cells[resting[0]], NOWHERE)
            after = tuple([to for _, to, _ in heads])
            if any(place != NOWHERE for _, _, place in heads) or _in_the_way(cells, after):
                before, giving = state._replace(cells=cells), self._giving_way(cells, heads, waited)
                then = self.world.advance(before, self._make_way(routes, cells, heads, giving, waited))
                if then.hands != before.hands:
                    return t, self._news(outlook._replace(state=before), then)
                waited += then.cells == cells or giving != NOBODY
                resting = (giving, t + PATIENCE) if giving != NOBODY else resting
                if waited > STUCK:
                    break
                after = then.cells
            elif after == cells and resting[1] < t:
                return NEVER, outlook
            if any(sight[cells[i]] != sight[after[i]] for i in astray):
                return t, self._news(outlook, state._replace(cells=after))
            cells = after
        return NEVER, outlook

    # What people do next

    def _route(self, outlook: Outlook, i: int) -> Route | None:
        """What agent i is up to, holds, and takes to lie where; None if there is nothing for it to do."""
        hand, request = outlook.state.hands[i], outlook.request
        if request and request.helper == i:
            return request, hand, outlook.state.on
        want = outlook.wants[i]
        return None if want is None else (want, hand, (outlook.beliefs[i] or outlook.state).on)

    def _find_head(self, heads: dict[int, Head], route: Route | None, cell: int) -> Head:
        """The best action, the first of equals, and where it leads."""
        heads[cell] = (STAY, cell, NOWHERE) if route is None else self._best(route, cell)
        return heads[cell]

    def _best(self, route: Route, cell: int) -> Head:
        aim, hand, on = route
        costs = self.cooking.action_costs(aim, cell, hand, on)
        least = min(costs)
        if least > self.cooking.values(aim, hand, on)[cell]:  # nothing helps but hope
            return STAY, cell, NOWHERE
        action = ACTIONS[costs.index(least)]
        return action, *self.world.layout.ahead[cell][action]

    def _giving_way(self, cells: tuple[int, ...], heads: list[Head], waited: int) -> int:
        """Who makes room, every other time that nobody could move: in turns, those who have nothing to do first."""
        if waited == 0 or waited % PATIENCE:
            return NOBODY
        order = sorted(range(len(cells)), key=lambda i: (heads[i][0] != STAY, -i))
        able = [i for i in order if self._free(cells, i)]
        return able[(waited // PATIENCE - 1) % len(able)] if able else NOBODY

    def _free(self, cells: tuple[int, ...], i: int) -> list[str]:
        """The moves to where nobody is."""
        return [action for action, (to, _) in self.world.layout.ahead[cells[i]].items() if to not in cells]

    def _make_way(
        self, routes: Sequence[Route | None], cells: tuple[int, ...], heads: list[Head], giving: int, waited: int
    ) -> list[str]:
        """What everybody does when some are in each other's way: go round, or, if it is their turn, anywhere else."""
        actions = [action for action, _, _ in heads]
        for i, (_, to, _) in enumerate(heads):
            if to != cells[i] and to in cells:
                actions[i] = self._detour(routes[i], cells, cells[i], actions[i])
        if giving != NOBODY:
            free = self._free(cells, giving)
            actions[giving] = free[waited // PATIENCE // len(cells) % len(free)]
        return actions

    def _detour(self, route: Route | None, cells: tuple[int, ...], cell: int, action: str) -> str:
        """Another move that leads as near, if there is one."""
        if route is None:
            return action
        values = self.cooking.values(*route)
        ahead = self.world.layout.ahead[cell].items()
        other = (a for a, (to, _) in ahead if to not in cells and values[to] == values[cell] - 1)
        return next(other, action)

    # What people know then

    def _news(self, outlook: Outlook, after: State) -> Outlook:
        """The outlook after a step in which something was used or somebody came to see another room."""
        before, request = outlook.state, outlook.request
        wants = _still_wanted(before, after, outlook.wants)
        if request and not self._goes_on(request, after):
            request = None
        beliefs = tuple(self._belief(outlook, after, i, want) for i, want in enumerate(wants))
        return Outlook(after._replace(served=0), wants, beliefs, request)

    def _goes_on(self, request: Request, state: State) -> bool:
        i = request.helper
        if not is_under_way(request, state.hands[i], state.on):
            return False
        return self.cooking.values(request, state.hands[i], state.on)[state.cells[i]] < UNREACHABLE

    def _belief(self, outlook: Outlook, after: State, i: int, want: str | None) -> Contents | None:
        """What agent i believes after a step, as far as it matters to it."""
        before, belief = outlook.state, outlook.beliefs[i]
        if want is None:
            return None
        if belief is None:
            seen = self.world.layout.visible(after.cells[i])
            pairs = zip(before.on, after.on, seen, strict=False)
            if all(sees for old, new, sees in pairs if old != new):
                return None
        view = self.world.observe(after, self.world.agents[i])
        believed = belief or Contents(before.on, before.hands, before.delivered)
        return _gist(after, want, self.imagination.complete(believed, view, 0))


def _gist(state: State, want: str | None, kitchen: State | Contents) -> Contents | None:
    """What somebody believes of the things that they need, everything else as it is; None if they are right."""
    if want is None:
        return None
    dish = RECIPES[want]
    on, hands = _believed(dish, state.on, kitchen.on), _believed(dish, state.hands, kitchen.hands)
    return None if (on, hands) == (state.on, state.hands) else Contents(on, hands, state.delivered)


@lru_cache(1 << 16)
def _believed(dish: int, true: On, taken: On) -> On:
    pairs = zip(true, taken, strict=True)
    return tuple([t if t and useful(t, dish) else s and (NOTHING if useful(s, dish) else s) for s, t in pairs])


def _still_wanted(before: State, after: State, wants: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The recipes that are still to be delivered: a dish counts for who brings it, else for the first who wants it."""
    if before.delivered == after.delivered:
        return wants
    fresh = Counter(chain(*after.delivered)) - Counter(chain(*before.delivered))
    left = list(wants)
    for i, dish in enumerate(before.hands):
        if fresh[dish] and not after.hands[i]:
            fresh[dish] -= 1
            order = sorted(range(len(left)), key=lambda j: j != i)
            served = next((j for j in order if left[j] and RECIPES[str(left[j])] == dish), None)
            if served is not None:
                left[served] = None
    return tuple(left)


def _in_the_way(cells: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether somebody is heading for a square that another one is on or heading for."""
    return len({*after}) < len(after) or any(to in cells and to != cell for cell, to in zip(cells, after, strict=True))
