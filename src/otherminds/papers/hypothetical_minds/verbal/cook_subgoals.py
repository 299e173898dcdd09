"""Subgoals in kitchens as a language model writes them, and which of them a cook can carry out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from otherminds.language.asking import ReplyForm, enum_schema
from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation
from otherminds.papers.hypothetical_minds.verbal.forms import ReasonedReply
from otherminds.papers.hypothetical_minds.verbal.subgoals import AtPlace, MoveTo, place_schema, plan_form
from otherminds.worlds.collaborative_cooking.rules import COUNTER, FULL, POT, SEES_COUNTER, SEES_POT, SEES_SOUP, VOID
from otherminds.worlds.grid import cheapest_route

MOST = 8  # subgoals of a plan; chosen, not tuned
PATIENCE = 40  # steps that a cook waits at a place at most; chosen, not tuned


class UseAt(AtPlace):
    """Use a pot, a counter, a dispenser or a delivery."""

    do: Literal["interact"]


class WaitAt(AtPlace):
    """Wait at a pot or a counter until there is something to take, or room for something."""

    do: Literal["wait"]
    until: Literal["ready", "free"]

    def __str__(self) -> str:
        return f"{super().__str__()} until {self.until}"

    def is_met(self, situation: KitchenSituation) -> bool:
        """Whether the cook can see that it need not wait any longer."""
        cell = situation.world.grid.cell(self.x, self.y)
        if situation.last_look(cell) < situation.memory.t:
            return False
        code = situation.code(cell)
        if self.until == "free":
            return code == SEES_COUNTER or SEES_POT <= code < SEES_POT + FULL
        return code == SEES_SOUP or SEES_COUNTER < code < SEES_POT


CookSubgoal = UseAt | WaitAt | MoveTo


class CookPlanReply(ReasonedReply):
    """A plan of subgoals."""

    plan: list[Annotated[CookSubgoal, Field(discriminator="do")]]


def cook_plan_form(situation: KitchenSituation) -> ReplyForm[CookPlanReply]:
    """A plan that can be carried out, as far as the map shows."""
    world, grid, own_cell = situation.world, situation.world.grid, situation.memory.view.cell
    place = place_schema(grid)
    subgoals = {"interact": place, "wait": {**place, "until": enum_schema(["ready", "free"])}, "move_to": place}

    def fault(subgoal: CookSubgoal) -> str | None:
        """What is wrong with a subgoal, as far as the map shows; None if nothing is."""
        cell = grid.cell(subgoal.x, subgoal.y)
        if isinstance(subgoal, MoveTo):
            if not grid.is_floor(cell):
                return "is not floor"
            return "cannot be reached" if cheapest_route(grid, own_cell, {cell: 0.0}, {}) is None else None
        if grid.is_floor(cell) or world.square(cell) == VOID:
            return "there is nothing to use"
        if isinstance(subgoal, WaitAt) and world.square(cell) not in (POT, COUNTER):
            return "is neither a pot nor a counter"
        return None if situation.way_to(cell) else "is out of your reach"

    def is_done(subgoal: CookSubgoal) -> bool:
        if isinstance(subgoal, WaitAt):
            return subgoal.is_met(situation)
        return isinstance(subgoal, MoveTo) and grid.cell(subgoal.x, subgoal.y) == own_cell

    return plan_form(CookPlanReply, subgoals, MOST, grid, fault, is_done, "all of it is so")
