"""Advice in a kitchen: what an agent could be asked to do for another, the steps it would save, and its wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, compress, permutations
from operator import eq, ne
from typing import Literal, NamedTuple, cast

from otherminds.mind import GoalDirected, WithErrand, own_mind
from otherminds.planning.joint import NEVER, finishing_steps
from otherminds.planning.shortest_paths import UNREACHABLE, cached_method
from otherminds.worlds.overcooked import planner as plans
from otherminds.worlds.overcooked.agent import BeliefSampler, Contents, Cook
from otherminds.worlds.overcooked.kitchen import DISHES, NOTHING, NOWHERE, RECIPES, STAY, parts
from otherminds.worlds.overcooked.planner import (
    IN_HAND,
    Advice,
    CookGoal,
    NextStep,
    On,
    OvercookedPlanner,
    Pass,
    Pickup,
    useful,
)
from otherminds.worlds.overcooked.rules import Overcooked, State

# Of a forecast, in steps; chosen, not tuned.
PATIENCE = 2  # blocked steps before an agent gives way, and how long it then stays aside
MAX_BLOCKED = 16  # blocked steps after which a forecast gives up
MAX_STEPS = 500  # longest forecast
NOBODY = -1

Cells = tuple[int, ...]
"""The square of each agent."""
Situation = tuple[CookGoal, int, On]
"""A cook's goal, what it holds, and what it takes to lie on each counter."""


class ForecastState(NamedTuple):
    """All that decides how a forecast goes on.

    wants: each agent's recipe, None if it has nothing left to do. beliefs: where each agent takes the items that matter
    to it to be, None if that is correct. errands: what each agent does first, None if nothing.
    """

    state: State
    wants: tuple[str | None, ...]
    beliefs: tuple[Contents | None, ...]
    errands: tuple[Advice | None, ...]


class OvercookedForecast:
    """Joint plans of cooks run forward, ties in a fixed order; lengths are remembered for every state on the way."""

    def __init__(self, world: Overcooked, planner: OvercookedPlanner, sampler: BeliefSampler) -> None:
        """Only the rules of the world are used, not its recipes."""
        self.world, self.planner, self.sampler = world, planner, sampler
        self._steps_cache: dict[ForecastState, tuple[int, ...]] = {}

    def finish(
        self,
        state: State,
        wants: Sequence[str | None],
        kitchens: Sequence[State],
        errands: Sequence[Advice | None],
    ) -> tuple[int, ...]:
        """Steps until each of the recipes in `wants` is delivered; NEVER if it will not be.

        Every agent does what is best in the kitchen it believes in (`kitchens`), its errand first if it has one.
        An item that is not found where it was believed to be is imagined elsewhere out of sight. (ProToM eq. 14.)
        """
        state = State(*state[:4])
        beliefs = tuple(_wrong_belief(state, want, kitchen) for want, kitchen in zip(wants, kitchens, strict=True))
        start = ForecastState(state, tuple(wants), beliefs, tuple(errands))
        return finishing_steps(start, self._steps_cache, _are_served, self._advance, MAX_STEPS)

    def _advance(self, now: ForecastState) -> tuple[int, ForecastState]:
        """Steps until an agent uses a place or sees the unexpected, and the state then; NEVER if neither happens."""
        self.planner.count()
        state = now.state
        situations = [self._situation(now, i) for i in range(len(state.cells))]
        next_steps = [self.planner.next_steps(*situation) if situation else _stay for situation in situations]
        sight = self.world.layout.sight
        mistaken = [i for i, belief in enumerate(now.beliefs) if belief is not None]
        cells, waited, resting = state.cells, 0, (NOBODY, 0)
        for t in range(1, MAX_STEPS):
            heads = [next_step(cell) for next_step, cell in zip(next_steps, cells, strict=True)]
            if resting[1] >= t:
                heads[resting[0]] = (STAY, cells[resting[0]], NOWHERE)
            _, after, places = zip(*heads, strict=True)
            # nobody is in the way if as many new squares are entered as agents move
            apart = len({*cells, *after}) == len(cells) + sum(map(ne, cells, after))
            if not apart or max(places) != NOWHERE:
                giving = self._giving_way(cells, heads, waited)
                if apart and giving == NOBODY:
                    after_step = self.world.use(State(after, *state[1:]), places)
                else:
                    actions = self._make_way(situations, cells, heads, giving, waited)
                    after_step = self.world.advance(State(cells, *state[1:]), actions)
                if after_step.hands != state.hands:
                    return t, self._update(now, after_step, places)
                waited += after_step.cells == cells or giving != NOBODY
                resting = (giving, t + PATIENCE) if giving != NOBODY else resting
                if waited > MAX_BLOCKED:
                    break
                after = after_step.cells
            elif after == cells and resting[1] < t:
                return NEVER, now
            for i in mistaken:
                if sight[cells[i]] != sight[after[i]]:
                    return t, self._update(now, State(after, *state[1:]), ())
            cells = after
        return NEVER, now

    # What the agents do next

    def _situation(self, now: ForecastState, i: int) -> Situation | None:
        """What agent i plans by; None if it has nothing to do."""
        hand, errand, want = now.state.hands[i], now.errands[i], now.wants[i]
        if errand is not None:
            return errand, hand, now.state.on
        return None if want is None else (want, hand, (now.beliefs[i] or now.state).on)

    def _giving_way(self, cells: Cells, heads: list[NextStep], waited: int) -> int:
        """The agent that makes room, at every second blocked step: in turns, idle agents first; NOBODY otherwise."""
        if waited == 0 or waited % PATIENCE:
            return NOBODY
        order = sorted(range(len(cells)), key=lambda i: (heads[i][0] != STAY, -i))
        able = [i for i in order if self._free_moves(cells, i)]
        return able[(waited // PATIENCE - 1) % len(able)] if able else NOBODY

    def _free_moves(self, cells: Cells, i: int) -> list[str]:
        """The moves of agent i onto squares where no agent is."""
        return [action for action, (to, _) in self.world.layout.ahead[cells[i]].items() if to not in cells]

    def _make_way(
        self, situations: Sequence[Situation | None], cells: Cells, heads: list[NextStep], giving: int, waited: int
    ) -> list[str]:
        """All agents' actions if some are blocked: an equally short way round, or a free move to give way."""
        actions = [action for action, _, _ in heads]
        for i, (_, to, _) in enumerate(heads):
            situation, cell = situations[i], cells[i]
            if to != cell and to in cells and situation is not None:
                values = self.planner.values(*situation)
                ahead = self.world.layout.ahead[cell].items()
                detours = (a for a, (head, _) in ahead if head not in cells and values[head] == values[cell] - 1)
                actions[i] = next(detours, actions[i])
        if giving != NOBODY:
            free = self._free_moves(cells, giving)
            actions[giving] = free[waited // PATIENCE // len(cells) % len(free)]
        return actions

    # What the agents know then

    def _update(self, now: ForecastState, after: State, places: Sequence[int]) -> ForecastState:
        """The forecast after a step in which these places were used or an agent came to see another room."""
        wants = _still_wanted(now.state, after, now.wants)
        changed = [k for k in places if 0 <= k < len(after.on) and now.state.on[k] != after.on[k]]
        beliefs = tuple(
            [want if want is None else self._belief(now, after, i, want, changed) for i, want in enumerate(wants)]
        )
        errands = tuple([errand if errand and self._going_on(after, errand) else None for errand in now.errands])
        return ForecastState(State(*after[:4]), wants, beliefs, errands)

    def _going_on(self, state: State, errand: Advice) -> bool:
        """Whether the errand is not over yet and can still be run."""
        i, hand = errand.helper, state.hands[errand.helper]
        going_on = plans.is_under_way(errand, hand, state.on)
        return going_on and self.planner.values(errand, hand, state.on)[state.cells[i]] < UNREACHABLE

    def _belief(self, now: ForecastState, after: State, i: int, want: str, changed: Sequence[int]) -> Contents | None:
        """What agent i believes after a step that changed these places, where it matters to it and is wrong."""
        before, belief = now.state, now.beliefs[i]
        if belief is None and all(map(self.world.layout.visible(after.cells[i]).__getitem__, changed)):
            return None
        return self._corrected(belief or Contents(before.on, before.hands, before.delivered), after, i, want)

    @cached_method
    def _corrected(self, believed: Contents, after: State, i: int, want: str) -> Contents | None:
        """What agent i believes once it sees this state, where it matters to it and is wrong."""
        layout = self.world.layout
        visible = layout.visible(after.cells[i])
        near = [layout.sight[cell] & layout.sight[after.cells[i]] for cell in after.cells]
        expected = (
            believed.delivered == after.delivered
            and all(map(eq, compress(believed.on, visible), compress(after.on, visible)))
            and all(map(eq, compress(believed.hands, near), compress(after.hands, near)))
        )
        if not expected:
            believed = self.sampler.complete(believed, self.world.observe(after, self.world.agents[i]), 0)
        return _wrong_belief(after, want, believed)


def _stay(cell: int) -> NextStep:
    """The next step of an agent that has nothing to do."""
    return STAY, cell, NOWHERE


def _are_served(now: ForecastState) -> tuple[bool, ...]:
    """Whether each agent's recipe has been delivered, or it has none left to do."""
    return tuple([want is None for want in now.wants])


def _wrong_belief(state: State, want: str | None, believed: State | Contents) -> Contents | None:
    """The state as an agent believes it, restricted to the items its recipe needs. None if the belief is correct."""
    if want is None:
        return None
    dish, on, hands = RECIPES[want], state.on, state.hands
    if believed.on != on:
        on = _with_believed_items(dish, on, believed.on)
    if believed.hands != hands:
        hands = _with_believed_items(dish, hands, believed.hands)
    return None if (on, hands) == (state.on, state.hands) else Contents(on, hands, state.delivered)


@lru_cache(1 << 16)
def _with_believed_items(dish: int, true: On, taken: On) -> On:
    """The true contents with the useful items as they are taken to be."""
    pairs = zip(true, taken, strict=True)
    return tuple([t if t and useful(t, dish) else s and (NOTHING if useful(s, dish) else s) for s, t in pairs])


def _still_wanted(before: State, after: State, wants: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The recipes still to be delivered: a dish counts for the agent that brings it, else for the first wanting it."""
    if before.delivered == after.delivered:
        return wants
    new_dishes = Counter(chain(*after.delivered)) - Counter(chain(*before.delivered))
    remaining = list(wants)
    for i, dish in enumerate(before.hands):
        if new_dishes[dish] and not after.hands[i]:
            new_dishes[dish] -= 1
            order = sorted(range(len(remaining)), key=lambda j: j != i)
            served = next((j for j in order if remaining[j] and RECIPES[str(remaining[j])] == dish), None)
            if served is not None:
                remaining[served] = None
    return tuple(remaining)


class OvercookedAdvice:
    """The advice that a facilitator could give in one kitchen, its effects, and its wording (`Messages` of ProToM)."""

    def __init__(
        self,
        world: Overcooked,
        planner: OvercookedPlanner | None = None,
        sampler: BeliefSampler | None = None,
        *,
        beliefs: bool = True,
    ) -> None:
        """The planner and the sampler may be shared with the minds that act and observe in the same kitchen.

        beliefs: whether forecasts account for what each agent has not seen; without, they are faster.
        """
        self.world, self.beliefs = world, beliefs
        self.planner = planner or OvercookedPlanner(world.layout)
        self.sampler = sampler or BeliefSampler(world.layout, world.items)
        self.forecast = OvercookedForecast(world, self.planner, self.sampler)

    # What could be said

    def candidates(self, state: State) -> list[Advice]:
        """All advice that its helper could follow alone from here (ProToM §3.2, feedback construction)."""
        pairs = permutations(range(len(self.world.agents)), 2)
        every = [advice for i, j in pairs for advice in self._options(state, i, j)]
        return [advice for advice in every if self.effort(state, advice) < UNREACHABLE]

    def _options(self, state: State, i: int, j: int) -> Iterator[Advice]:
        """Bring j an item that is not near it, or take one item rather than another of the same kind.

        Items are passed on counters between rooms and in sight of j, as far as there are any.
        """
        layout, hand = self.world.layout, state.hands[i]
        reachable = layout.between(state.cells[i], state.cells[j])
        visible = layout.visible(state.cells[j])
        shared = [k for k in reachable if k in layout.shared] or reachable
        counters = tuple([k for k in shared if visible[k]] or shared)
        lying = [(place, thing) for place, thing in enumerate(state.on) if thing and thing != hand]
        if any(state.on[k] == NOTHING for k in counters):
            near = {state.on[k] for k in counters} | {state.hands[j]}
            if hand and hand not in near:
                yield Pass(i, hand, IN_HAND, j, counters)
            for place, thing in lying:
                if thing not in near:
                    yield Pass(i, thing, place, j, counters)
        for place, thing in lying:
            if state.on.count(thing) > 1:
                yield Pickup(i, thing, place, j)

    def helper(self, advice: Advice) -> str:
        """The name of the agent that is asked."""
        return self.world.agents[advice.helper]

    def friend(self, advice: Advice) -> str:
        """The name of the agent that is to gain."""
        return self.world.agents[advice.friend]

    def errand(self, state: State, advice: Advice, mind: GoalDirected[str]) -> Cook:
        """A cook whose only goal is the advice, which also tells it where the item lies.

        It is as rational as `mind` and believes what that does if that is a cook, else it is as cooks are and knows
        what the agent sees.
        """
        cook = own_mind(mind)
        if not isinstance(cook, Cook):
            view = self.world.observe(state, self.helper(advice))
            cook = Cook(self.planner, self.sampler, advice.helper, advice).observe(view)
        kitchen = cook.kitchen
        if kitchen is not None:
            visible = self.world.layout.visible(kitchen.cells[advice.helper])
            place, on = advice.place, list(kitchen.on)
            wrong = [k for k, thing in enumerate(on) if thing == advice.thing and not visible[k] and k != place]
            if place != IN_HAND and not visible[place] and on[place] != advice.thing:
                for k in wrong[:1]:
                    on[k] = NOTHING
                on[place] = advice.thing
            for k in wrong:
                if isinstance(advice, Pass) and k in advice.counters:  # a pass is asked for only if none lies near
                    on[k] = NOTHING
            kitchen = kitchen._replace(on=tuple(on))
        return replace(cook, goal=advice, reached=False, kitchen=kitchen)

    def status(self, state: State, advice: Advice) -> Literal["running", "completed", "impossible"]:
        """Whether the advice is yet to be followed, has been followed, or can no longer be followed by its helper."""
        hand = state.hands[advice.helper]
        if plans.is_under_way(advice, hand, state.on):
            return "running" if self.effort(state, advice) < UNREACHABLE else "impossible"
        if isinstance(advice, Pickup):
            done = hand == advice.thing and state.on[advice.place] != advice.thing
        else:
            friend_hand = state.hands[advice.friend]
            part_of = bool(friend_hand) and set(parts(advice.thing)) <= set(parts(friend_hand))
            done = plans.is_near(advice, state.on) or friend_hand == advice.thing or part_of
        return "completed" if done else "impossible"

    def effort(self, state: State, advice: Advice) -> int:
        """Steps that following the advice takes the helper; UNREACHABLE if it cannot."""
        i = advice.helper
        return self.planner.values(advice, state.hands[i], state.on)[state.cells[i]]

    # Its effects

    def finish(self, state: State, minds: Sequence[GoalDirected[str]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent's recipe is delivered, its errand first if it has one; at most `horizon`.

        An agent whose goal is not a recipe stands still and counts as done.
        """
        wants = [None if mind.reached or mind.goal not in RECIPES else mind.goal for mind in minds]
        errands = [cast("Advice", mind.errand.goal) if isinstance(mind, WithErrand) else None for mind in minds]
        kitchens = [getattr(own_mind(mind), "kitchen", None) or state if self.beliefs else state for mind in minds]
        steps_to_finish = self.forecast.finish(state, wants, kitchens, errands)
        return tuple([min(steps, horizon) for steps in steps_to_finish])

    # Its wording

    def explain(
        self,
        state: State,
        advice: Advice,
        *,
        friends: Sequence[str],
        goal: Hashable | None,
        sure: bool,
        needed: bool,
        saves: float,
    ) -> str:
        """The advice and its reason, as far as it is believed; on the paper's templates (appendix B.2) if a goal is.

        friends: the agents that gain from it, or the helper alone. goal: the recipe of the first of them, None if that
        is uncertain. sure: whether it helps whatever they cook. needed: whether they cannot cook it alone. saves:
        E[steps saved].
        """
        layout, friend = self.world.layout, friends[0]
        if friend == self.helper(advice):
            return f"{friend}, please {self.words(advice)}. This should save you about {saves:.0f} steps."
        thing = "+".join(parts(advice.thing))
        if isinstance(advice, Pickup):
            reason = f"the other {thing} is easier to get for them."
        elif advice.place != IN_HAND and {*layout.beside[advice.place]} & layout.reachable(state.cells[advice.friend]):
            reason = f"without your help they would need much more time to get the {thing}."
        else:
            reason = f"without your help they cannot get the {thing}."
        if isinstance(goal, str) and useful(advice.thing, RECIPES[goal]):
            dish = f"{'an' if DISHES[goal][0] in 'aeiou' else 'a'} {DISHES[goal]}"
            why = f"I believe {friend} is preparing {dish}, and {reason}"
        elif sure:
            why = f"Whatever {friend} is preparing, {reason}"
        else:
            why = f"I am not sure what {friend} is preparing; if it needs the {thing}, {reason}"
        return f"{self.helper(advice)}, please {self.words(advice)}. {why}"

    def words(self, advice: Advice) -> str:
        """The advice as a request, such as `pass the plate at (3, 1) to Ben`."""
        where, layout = "", self.world.layout
        if advice.place != IN_HAND:
            where = " at ({}, {})".format(*layout.grid.xy(layout.counters[advice.place]))
        thing = "+".join(parts(advice.thing))
        if isinstance(advice, Pickup):
            return f"take the {thing}{where}"
        return f"pass the {thing}{where or ' in your hands'} to {self.world.agents[advice.friend]}"

    def address(self, advice: Advice) -> str:
        """The advice with the name of its helper, such as `Ana: pass the plate at (3, 1) to Ben`."""
        return f"{self.helper(advice)}: {self.words(advice)}"
