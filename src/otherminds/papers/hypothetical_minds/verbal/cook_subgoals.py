"""Subgoals in kitchens as a language model writes them, and which of them a cook can carry out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from otherminds.language.asking import ReplyForm, StrictReply, enum_schema, object_schema, schema_text
from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING
from otherminds.papers.hypothetical_minds.verbal.matrix_subgoals import MoveTo
from otherminds.worlds.collaborative_cooking.bots import nearest
from otherminds.worlds.collaborative_cooking.rules import COUNTER, FULL, POT, SEES_COUNTER, SEES_POT, SEES_SOUP, VOID
from otherminds.worlds.grid import cheapest_route

MOST = 8  # subgoals of a plan; chosen, not tuned
PATIENCE = 40  # steps that a cook waits at a place at most; chosen, not tuned
NOBODY: frozenset[int] = frozenset()


class UseAt(StrictReply):
    """Use a pot, a counter, a dispenser or a delivery."""

    do: Literal["interact"]
    x: int
    y: int

    def __str__(self) -> str:
        return f"interact ({self.x}, {self.y})"


class WaitAt(StrictReply):
    """Wait at a pot or a counter until there is something to take, or room for something."""

    do: Literal["wait"]
    x: int
    y: int
    until: Literal["ready", "free"]

    def __str__(self) -> str:
        return f"wait ({self.x}, {self.y}) until {self.until}"


CookSubgoal = UseAt | WaitAt | MoveTo


class CookPlanReply(StrictReply):
    """A plan of subgoals."""

    reasoning: str
    plan: list[Annotated[CookSubgoal, Field(discriminator="do")]]


def cook_plan_form(situation: KitchenSituation) -> ReplyForm[CookPlanReply]:
    """A plan that can be carried out, as far as the map shows."""
    grid = situation.world.grid
    column, row = ({"type": "integer", "minimum": 0, "maximum": most - 1} for most in (grid.width, grid.height))
    subgoals = [
        object_schema(do=enum_schema(["interact"]), x=column, y=row),
        object_schema(do=enum_schema(["wait"]), x=column, y=row, until=enum_schema(["ready", "free"])),
        object_schema(do=enum_schema(["move_to"]), x=column, y=row),
    ]
    plan = {"type": "array", "items": {"anyOf": subgoals}, "minItems": 1, "maxItems": MOST}
    return ReplyForm(
        schema_text(reasoning=REASONING, plan=plan), CookPlanReply, lambda found: _plan_fault(found.plan, situation)
    )


def is_met(situation: KitchenSituation, subgoal: WaitAt) -> bool:
    """Whether the cook can see that it need not wait any longer."""
    cell = situation.world.grid.cell(subgoal.x, subgoal.y)
    if situation.looked(cell) < situation.memory.t:
        return False
    code = situation.code(cell)
    if subgoal.until == "free":
        return code == SEES_COUNTER or SEES_POT <= code < SEES_POT + FULL
    return code == SEES_SOUP or SEES_COUNTER < code < SEES_POT


def _plan_fault(plan: Sequence[CookSubgoal], situation: KitchenSituation) -> str | None:
    if not 1 <= len(plan) <= MOST:
        return f"plan: has {len(plan)} subgoals, not 1 to {MOST}"
    faults = (_fault(subgoal, situation) for subgoal in plan)
    fault = next((f"plan: {subgoal}: {why}" for subgoal, why in zip(plan, faults, strict=True) if why), None)
    if fault:
        return fault
    here = situation.at(situation.memory.view.cell)
    idle = all(
        is_met(situation, one) if isinstance(one, WaitAt) else isinstance(one, MoveTo) and (one.x, one.y) == here
        for one in plan
    )
    return "plan: does nothing, as all of it is so already" if idle else None


def _fault(subgoal: CookSubgoal, situation: KitchenSituation) -> str | None:
    world, grid = situation.world, situation.world.grid
    if not (0 <= subgoal.x < grid.width and 0 <= subgoal.y < grid.height):
        return f"is outside the map of {grid.width} columns and {grid.height} rows"
    cell = grid.cell(subgoal.x, subgoal.y)
    if isinstance(subgoal, MoveTo):
        if not grid.is_floor(cell):
            return "is not floor"
        way = cheapest_route(grid, situation.memory.view.cell, {cell: 0.0}, {})
        return "cannot be reached" if way is None else None
    if grid.is_floor(cell) or world.square(cell) == VOID:
        return "there is nothing to use"
    if isinstance(subgoal, WaitAt) and world.square(cell) not in (POT, COUNTER):
        return "is neither a pot nor a counter"
    return None if nearest(world, situation.memory.view, [cell], NOBODY) else "is out of your reach"
