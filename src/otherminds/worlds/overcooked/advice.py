"""What people in a kitchen can be asked to do for each other, and what it would save them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

from otherminds.mind import GoalDirected, own_mind
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.agent import BeliefSampler, Contents, Cook
from otherminds.worlds.overcooked.kitchen import DISHES, NOTHING, NOWHERE, RECIPES, STAY, parts
from otherminds.worlds.overcooked.planner import (
    IN_HAND,
    Advice,
    CookGoal,
    On,
    OvercookedPlanner,
    Pass,
    Pickup,
    is_near,
    is_under_way,
    useful,
)
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State

PATIENCE = 2
NEVER = 1 << 20
LONG = 500
STUCK = 16
NOBODY = -1

NextStep = tuple[str, int, int]
Route = tuple[CookGoal, int, On]


class ForecastState(NamedTuple):
    """All that decides how things go on.

    wants: everybody's recipe, None for who has nothing left to do. beliefs: where each takes things to be, as far as it
    matters to them, None if they are right. request: what somebody has been asked to do first.
    """

    state: State
    wants: tuple[str | None, ...]
    beliefs: tuple[Contents | None, ...]
    request: Advice | None


class OvercookedForecast:
    """The steps that everybody takes in an outlook, remembered from every moment at which something happens."""

    def __init__(self, world: Overcooked, planner: OvercookedPlanner, sampler: BeliefSampler) -> None:
        """Of the world only the rules are used, not who is to deliver what."""
        self.world, self.planner, self.sampler = world, planner, sampler
        self._known: dict[ForecastState, int] = {}
        self._heads: dict[Route | None, dict[int, NextStep]] = {}

    def outlook(
        self, state: State, wants: Sequence[str | None], kitchens: Sequence[State], request: Advice | None
    ) -> ForecastState:
        """Where things stand if these are the recipes that people have still to deliver, and their beliefs."""
        state = state._replace(served=0)
        beliefs = tuple(_gist(state, want, kitchen) for want, kitchen in zip(wants, kitchens, strict=True))
        return ForecastState(state, tuple(wants), beliefs, request)

    def steps(self, outlook: ForecastState) -> int:
        """Steps until everybody is done, NEVER if that will not be: everybody does what is best as far as they know.

        What is out of sight, and not where it was believed to be, is imagined elsewhere. (ProToM eq. 14.)
        """
        trail: list[tuple[ForecastState, int]] = []
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

    def _until_something_happens(self, outlook: ForecastState) -> tuple[int, ForecastState]:
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

    def _route(self, outlook: ForecastState, i: int) -> Route | None:
        """What agent i is up to, holds, and takes to lie where; None if there is nothing for it to do."""
        hand, request = outlook.state.hands[i], outlook.request
        if request and request.helper == i:
            return request, hand, outlook.state.on
        want = outlook.wants[i]
        return None if want is None else (want, hand, (outlook.beliefs[i] or outlook.state).on)

    def _find_head(self, heads: dict[int, NextStep], route: Route | None, cell: int) -> NextStep:
        """The best action, the first of equals, and where it leads."""
        heads[cell] = (STAY, cell, NOWHERE) if route is None else self._best(route, cell)
        return heads[cell]

    def _best(self, route: Route, cell: int) -> NextStep:
        aim, hand, on = route
        costs = self.planner.action_costs(aim, cell, hand, on)
        least = min(costs)
        if least > self.planner.values(aim, hand, on)[cell]:  # nothing helps but hope
            return STAY, cell, NOWHERE
        action = ACTIONS[costs.index(least)]
        return action, *self.world.layout.ahead[cell][action]

    def _giving_way(self, cells: tuple[int, ...], heads: list[NextStep], waited: int) -> int:
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
        self, routes: Sequence[Route | None], cells: tuple[int, ...], heads: list[NextStep], giving: int, waited: int
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
        values = self.planner.values(*route)
        ahead = self.world.layout.ahead[cell].items()
        other = (a for a, (to, _) in ahead if to not in cells and values[to] == values[cell] - 1)
        return next(other, action)

    # What people know then

    def _news(self, outlook: ForecastState, after: State) -> ForecastState:
        """The outlook after a step in which something was used or somebody came to see another room."""
        before, request = outlook.state, outlook.request
        wants = _still_wanted(before, after, outlook.wants)
        if request and not self._goes_on(request, after):
            request = None
        beliefs = tuple(self._belief(outlook, after, i, want) for i, want in enumerate(wants))
        return ForecastState(after._replace(served=0), wants, beliefs, request)

    def _goes_on(self, request: Advice, state: State) -> bool:
        i = request.helper
        if not is_under_way(request, state.hands[i], state.on):
            return False
        return self.planner.values(request, state.hands[i], state.on)[state.cells[i]] < UNREACHABLE

    def _belief(self, outlook: ForecastState, after: State, i: int, want: str | None) -> Contents | None:
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
        return _gist(after, want, self.sampler.complete(believed, view, 0))


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


class OvercookedAdvice:
    """The messages a facilitator could say in one kitchen, what following them would lead to, and how to put them."""

    def __init__(
        self,
        world: Overcooked,
        planner: OvercookedPlanner | None = None,
        sampler: BeliefSampler | None = None,
        *,
        beliefs: bool = True,
    ) -> None:
        """Plans and what is imagined may be shared with the minds that act and observe in the same kitchen.

        beliefs: whether forecasts are about people who know only what they see; without, they are faster.
        """
        self.world, self.beliefs = world, beliefs
        self.planner = planner or OvercookedPlanner(world.layout)
        self.sampler = sampler or BeliefSampler(world.layout, world.items)
        self.forecast = OvercookedForecast(world, self.planner, self.sampler)

    # What could be said

    def candidates(self, state: State) -> list[Advice]:
        """Every request that its helper could carry out alone from here (ProToM §3.2, feedback construction)."""
        agents = range(len(self.world.agents))
        pairs = [(i, j) for i in agents for j in agents if i != j]
        every: list[Advice] = []
        for i, j in pairs:
            every += self._passes(state, i, j)
            every += self._pickups(state, i, j)
        return [request for request in every if self.effort(state, request) < UNREACHABLE]

    def _passes(self, state: State, i: int, j: int) -> Iterator[Pass]:
        """Bring j a thing that is not near it already."""
        counters = self._near(state, i, j)
        near = {state.on[k] for k in counters} | {state.hands[j]}
        if not any(state.on[k] == NOTHING for k in counters):
            return
        if state.hands[i] and state.hands[i] not in near:
            yield Pass(i, state.hands[i], IN_HAND, j, counters)
        for place, thing in enumerate(state.on):
            if thing and thing != state.hands[i] and thing not in near:
                yield Pass(i, thing, place, j, counters)

    def _near(self, state: State, i: int, j: int) -> tuple[int, ...]:
        """The counters where i can put something for j: between rooms and in sight of j, as far as there are such."""
        layout = self.world.layout
        both = layout.between(state.cells[i], state.cells[j])
        seen = layout.visible(state.cells[j])
        shared = [k for k in both if k in layout.shared] or both
        return tuple([k for k in shared if seen[k]] or shared)

    def _pickups(self, state: State, i: int, j: int) -> Iterator[Pickup]:
        """Take this one rather than another one of the same kind."""
        for place, thing in enumerate(state.on):
            if thing and thing != state.hands[i] and state.on.count(thing) > 1:
                yield Pickup(i, thing, place, j)

    def helper(self, request: Advice) -> str:
        """The name of the agent that is asked."""
        return self.world.agents[request.helper]

    def errand(self, request: Advice, mind: GoalDirected[str]) -> Cook:
        """The mind of somebody as rational as `mind` who does as asked, knowing from the words where the thing lies."""
        cook = cast("Cook", own_mind(mind))
        return replace(
            cook, goal=request, reached=False, kitchen=cook.kitchen and self._informed(cook.kitchen, request)
        )

    def _informed(self, kitchen: State, request: Advice) -> State:
        """The kitchen as the helper takes it to be who has been told where the thing lies, and where none lies."""
        seen = self.world.layout.visible(kitchen.cells[request.helper])
        place, on = request.place, list(kitchen.on)
        wrong = [k for k, thing in enumerate(on) if thing == request.thing and not seen[k] and k != place]
        near = request.counters if isinstance(request, Pass) else ()
        unseen = place != IN_HAND and not seen[place]
        if unseen and on[place] != request.thing:
            for k in wrong[:1]:
                on[k] = NOTHING
            on[place] = request.thing
        for k in wrong:
            if k in near:
                on[k] = NOTHING
        return kitchen._replace(on=tuple(on))

    def status(self, state: State, request: Advice) -> Literal["running", "completed", "impossible"]:
        """Whether the request is yet to be met, has been met, or can no longer be met by its helper."""
        hand = state.hands[request.helper]
        if is_under_way(request, hand, state.on):
            return "running" if self.effort(state, request) < UNREACHABLE else "impossible"
        if isinstance(request, Pickup):
            taken = hand == request.thing and state.on[request.place] != request.thing
            return "completed" if taken else "impossible"
        got = is_near(request, state.on) or _holds(state.hands[request.friend], request.thing)
        return "completed" if got else "impossible"

    def effort(self, state: State, request: Advice) -> int:
        """How many steps the request takes the helper."""
        i = request.helper
        return self.planner.values(request, state.hands[i], state.on)[state.cells[i]]

    # What would come of it

    def length(self, state: State, minds: Sequence[GoalDirected[str]], request: Advice | None, horizon: int) -> int:
        """C(f, g): steps until everybody has delivered if the request is met first; `horizon` if that takes longer."""
        cooks = [cast("Cook", own_mind(mind)) for mind in minds]
        wants = [None if cook.reached else cast("str | None", cook.goal) for cook in cooks]
        kitchens = [cook.kitchen or state if self.beliefs else state for cook in cooks]
        return min(self.forecast.steps(self.forecast.outlook(state, wants, kitchens, request)), horizon)

    # How to put it

    def explain(self, state: State, request: Advice, goals: Sequence[Any]) -> str:
        """The message and its reason (on the structure of the paper's templates, appendix B.2).

        If the thing is of no use for what the friend is most likely to be preparing, it must be for something else.
        """
        friend, recipe = self.world.agents[request.friend], goals[request.friend]
        doing = f"is preparing {_dish(recipe)}"
        if recipe is None or not useful(request.thing, RECIPES[recipe]):
            other = next((r for r, dish in RECIPES.items() if useful(request.thing, dish)), None)
            doing = f"may be preparing {_dish(other)}"
        words = f"{self.helper(request)}, please {self.words(request)}. I believe {friend} {doing}"
        return words + self._reason(state, request)

    def words(self, request: Advice) -> str:
        """The request in words, such as `pass the plate at (3, 1) to Ben`."""
        where = "" if request.place == IN_HAND else " at ({}, {})".format(*self._xy(request.place))
        thing = "+".join(parts(request.thing))
        if isinstance(request, Pickup):
            return f"take the {thing}{where}"
        friend = self.world.agents[request.friend]
        return f"pass the {thing}{where or ' in your hands'} to {friend}"

    def address(self, request: Advice) -> str:
        """The request with the name of who is asked, such as `Ana: pass the plate at (3, 1) to Ben`."""
        return f"{self.helper(request)}: {self.words(request)}"

    def _xy(self, place: int) -> tuple[int, int]:
        return self.world.layout.grid.xy(self.world.layout.counters[place])

    def _reason(self, state: State, request: Advice) -> str:
        thing = "+".join(parts(request.thing))
        if isinstance(request, Pickup):
            return f", and the other {thing} is easier to get for them."
        beside = set(self.world.layout.beside[request.place]) if request.place != IN_HAND else set()
        if not beside & self.world.layout.reachable(state.cells[request.friend]):
            return f", and without your help they cannot get the {thing}."
        return f", and without your help they would need much more time to get the {thing}."


def _dish(recipe: str | None) -> str:
    """What somebody prepares, as people speak of it."""
    if recipe is None:
        return "something"
    return f"{'an' if DISHES[recipe][0] in 'aeiou' else 'a'} {DISHES[recipe]}"


def _holds(hand: int, thing: int) -> bool:
    """Whether a thing is held, or part of what is held."""
    return hand == thing or bool(hand and set(parts(thing)) <= set(parts(hand)))
