"""What people in a kitchen can be asked to do for each other, and what it would save them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from otherminds.mind import GoalDirected, own_mind
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.beliefs import Imagination
from otherminds.worlds.overcooked.forecast import Forecast
from otherminds.worlds.overcooked.kitchen import DISHES, NOTHING, RECIPES, parts
from otherminds.worlds.overcooked.planner import IN_HAND, Cooking, Pass, Pickup, Request, is_near, is_under_way, useful
from otherminds.worlds.overcooked.rules import Overcooked, State


class OvercookedAdvice:
    """The messages a facilitator could say in one kitchen, what following them would lead to, and how to put them."""

    def __init__(
        self,
        world: Overcooked,
        cooking: Cooking | None = None,
        imagination: Imagination | None = None,
        *,
        beliefs: bool = True,
    ) -> None:
        """Plans and what is imagined may be shared with the minds that act and observe in the same kitchen.

        beliefs: whether forecasts are about people who know only what they see; without, they are faster.
        """
        self.world, self.beliefs = world, beliefs
        self.cooking = cooking or Cooking(world.layout)
        self.imagination = imagination or Imagination(world.layout, world.items)
        self.forecast = Forecast(world, self.cooking, self.imagination)

    # What could be said

    def candidates(self, state: State) -> list[Request]:
        """Every request that its helper could carry out alone from here (ProToM §3.2, feedback construction)."""
        agents = range(len(self.world.agents))
        pairs = [(i, j) for i in agents for j in agents if i != j]
        every: list[Request] = []
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

    def helper(self, request: Request) -> str:
        """The name of the agent that is asked."""
        return self.world.agents[request.helper]

    def errand(self, request: Request, mind: GoalDirected[str]) -> Cook:
        """The mind of somebody as rational as `mind` who does as asked, knowing from the words where the thing lies."""
        cook = cast("Cook", own_mind(mind))
        return replace(
            cook, goal=request, reached=False, kitchen=cook.kitchen and self._informed(cook.kitchen, request)
        )

    def _informed(self, kitchen: State, request: Request) -> State:
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

    def status(self, state: State, request: Request) -> Literal["running", "completed", "impossible"]:
        """Whether the request is yet to be met, has been met, or can no longer be met by its helper."""
        hand = state.hands[request.helper]
        if is_under_way(request, hand, state.on):
            return "running" if self.effort(state, request) < UNREACHABLE else "impossible"
        if isinstance(request, Pickup):
            taken = hand == request.thing and state.on[request.place] != request.thing
            return "completed" if taken else "impossible"
        got = is_near(request, state.on) or _holds(state.hands[request.friend], request.thing)
        return "completed" if got else "impossible"

    def effort(self, state: State, request: Request) -> int:
        """How many steps the request takes the helper."""
        i = request.helper
        return self.cooking.values(request, state.hands[i], state.on)[state.cells[i]]

    # What would come of it

    def length(self, state: State, minds: Sequence[GoalDirected[str]], request: Request | None, horizon: int) -> int:
        """C(f, g): steps until everybody has delivered if the request is met first; `horizon` if that takes longer."""
        cooks = [cast("Cook", own_mind(mind)) for mind in minds]
        wants = [None if cook.reached else cast("str | None", cook.goal) for cook in cooks]
        kitchens = [cook.kitchen or state if self.beliefs else state for cook in cooks]
        return min(self.forecast.steps(self.forecast.outlook(state, wants, kitchens, request)), horizon)

    # How to put it

    def explain(self, state: State, request: Request, goals: Sequence[Any]) -> str:
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

    def words(self, request: Request) -> str:
        """The request in words, such as `pass the plate at (3, 1) to Ben`."""
        where = "" if request.place == IN_HAND else " at ({}, {})".format(*self._xy(request.place))
        thing = "+".join(parts(request.thing))
        if isinstance(request, Pickup):
            return f"take the {thing}{where}"
        friend = self.world.agents[request.friend]
        return f"pass the {thing}{where or ' in your hands'} to {friend}"

    def address(self, request: Request) -> str:
        """The request with the name of who is asked, such as `Ana: pass the plate at (3, 1) to Ben`."""
        return f"{self.helper(request)}: {self.words(request)}"

    def _xy(self, place: int) -> tuple[int, int]:
        return self.world.layout.grid.xy(self.world.layout.counters[place])

    def _reason(self, state: State, request: Request) -> str:
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
