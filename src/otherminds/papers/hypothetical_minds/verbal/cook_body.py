"""A body in kitchens that follows plans of a language model, and its action planner (Cross et al. 2024, D.4–D.5).

The model is told what the cook sees and remembers, and the map. Paths are shortest paths around all cooks in view. The
body waits for a cook in its way, but only for some steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation, in_hand, things, tomatoes
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import cook_subgoals_text, kitchen_message
from otherminds.papers.hypothetical_minds.verbal.cook_subgoals import PATIENCE, CookSubgoal, WaitAt, cook_plan_form
from otherminds.papers.hypothetical_minds.verbal.plan_follower import Effort, PlanFollower, SubgoalPlanning, SubgoalStep
from otherminds.papers.hypothetical_minds.verbal.subgoals import AtPlace, MoveTo
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking import rules
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingView
from otherminds.worlds.grid import cheapest_route
from otherminds.worlds.in_the_matrix.bots import MOVES

BLOCKED = 10  # steps that the body waits for a cook in its way; chosen, not tuned
LONG = 60  # steps after which a subgoal has failed; chosen, not tuned
POT_REFUSES: Mapping[int, str] = {
    rules.NOTHING: "you hold neither a tomato to put in nor a dish to take soup with",
    rules.TOMATO: "the pot was full",
    rules.DISH: "there was no soup in the pot yet",
    rules.SOUP: "you hold soup already",
}
"""Why a pot cannot be used by a cook that holds this."""


# The action planner


def progress(situation: KitchenSituation, subgoal: CookSubgoal, effort: Effort) -> SubgoalStep:
    """The next action for a subgoal on which so much effort was spent."""
    cell = situation.world.grid.cell(subgoal.x, subgoal.y)
    if effort.hand_before is not None:
        return _result(situation, cell, effort.hand_before)
    if effort.steps >= LONG:
        return _failed("it took too long")
    if isinstance(subgoal, MoveTo):
        return _walk_to(situation, cell, effort)
    if isinstance(subgoal, WaitAt) and subgoal.is_met(situation):
        return SubgoalStep(outcome="done")
    return _at_place(situation, subgoal, cell, effort)


def _failed(why: str) -> SubgoalStep:
    return SubgoalStep(outcome=f"failed, {why}", failed=True)


# On the way


def _walk_to(situation: KitchenSituation, cell: int, effort: Effort) -> SubgoalStep:
    """Walk to a cell around all cooks in view; wait for some steps if these block every way."""
    view = situation.memory.view
    if view.cell == cell:
        return SubgoalStep(outcome="done")
    walls = dict.fromkeys(situation.in_the_way, float("inf"))
    route = cheapest_route(situation.world.grid, view.cell, {cell: 0.0}, walls)
    if route is not None and route.first is not None:
        return SubgoalStep(_step_toward(situation, route.first), effort)
    return _wait_or_fail(
        situation, effort, cheapest_route(situation.world.grid, view.cell, {cell: 0.0}, {}) is not None
    )


def _at_place(situation: KitchenSituation, subgoal: AtPlace, cell: int, effort: Effort) -> SubgoalStep:
    """Go to a place, face it, and use it, or stand there."""
    view, route = situation.memory.view, situation.way_to(cell, situation.in_the_way)
    if route is None:
        return _wait_or_fail(situation, effort, situation.way_to(cell) is not None)
    if route.cell != view.cell:
        return SubgoalStep(_step_toward(situation, route.first), effort)
    if route.facing != view.facing:
        return SubgoalStep("turn_left" if (route.facing - view.facing) % 4 == 3 else "turn_right", effort)
    if isinstance(subgoal, WaitAt):
        if effort.waited >= PATIENCE:
            return _failed(f"it was not so after {PATIENCE} steps")
        return SubgoalStep("noop", effort._replace(waited=effort.waited + 1))
    return (
        SubgoalStep("interact", effort._replace(hand_before=view.hand)) if view.ready else SubgoalStep("noop", effort)
    )


def _step_toward(situation: KitchenSituation, next_cell: int) -> Action:
    """The move by which the cook enters this cell beside it."""
    view, field = situation.memory.view, situation.world.field
    return MOVES[(field.ahead.index(next_cell - view.cell) - view.facing) % 4]


def _wait_or_fail(situation: KitchenSituation, effort: Effort, blocked: bool) -> SubgoalStep:
    """Wait for cooks that block the way, up to BLOCKED steps; fail at once if there is no way at all."""
    if not blocked:
        return _failed("there is no way to it")
    if effort.blocked >= BLOCKED:
        blockers = " and ".join(situation.in_view)
        return _failed(f"the way was blocked by {blockers} for {BLOCKED} steps")
    return SubgoalStep("noop", effort._replace(blocked=effort.blocked + 1))


# At the place


def _result(situation: KitchenSituation, cell: int, before: int) -> SubgoalStep:
    """The outcome of using a place with this in hand."""
    hand, square = situation.memory.view.hand, situation.world.square(cell)
    if hand == before:
        return _failed(_why_not(situation, cell, hand))
    if square == rules.DELIVERY:
        return SubgoalStep(outcome="done, you delivered the soup")
    if square == rules.POT and hand == rules.SOUP:
        return SubgoalStep(outcome="done, you took the soup out")
    if square == rules.POT:
        return SubgoalStep(
            outcome=f"done, you put the tomato in, which makes {tomatoes(situation.code(cell))} of {rules.FULL}"
        )
    if hand == rules.NOTHING:
        return SubgoalStep(outcome=f"done, you put the {rules.THINGS[before]} down")
    return SubgoalStep(outcome=f"done, you picked up {things(1, hand)}")


def _why_not(situation: KitchenSituation, cell: int, hand: int) -> str:
    """Why using a place with this in hand changed nothing."""
    square = situation.world.square(cell)
    if square == rules.DELIVERY:
        return f"only soup can be delivered, and you hold {in_hand(hand)}"
    if square == rules.POT:
        return POT_REFUSES[hand]
    if square == rules.COUNTER:
        return "the counter was taken" if hand else "there was nothing there to pick up"
    if hand and square in rules.SUPPLIES:
        return f"your hands were not empty: you hold {in_hand(hand)}"
    return "somebody was quicker"


# The body


def _has_time_left(situation: KitchenSituation) -> bool:
    return situation.t < situation.world.steps


@dataclass(frozen=True, kw_only=True)
class CookBody(PlanFollower[KitchenSituation, CookSubgoal]):
    """A body for a mind in a kitchen; the mind tells it when to plan."""

    planning = SubgoalPlanning(_has_time_left, kitchen_message, cook_subgoals_text, cook_plan_form, progress)
    world: CollaborativeCooking

    def look(self, view: CookingView) -> Self:
        """Perceive, and follow the plan as long as there is one."""
        before = self.perceived
        situation = before.after(view) if before else KitchenSituation.at_first(self.world, self.me, view)
        return self.seeing(situation, view.reward).advanced()

    @property
    def over(self) -> bool:
        """Whether the episode is over."""
        return not _has_time_left(self.situation)
