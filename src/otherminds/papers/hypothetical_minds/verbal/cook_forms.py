"""What a language model is to write in a kitchen: subgoals, and what it makes of its partner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from otherminds.language.asking import ReplyForm, StrictReply, enum_schema, object_schema, schema_text, text_fault
from otherminds.papers.hypothetical_minds.verbal.cook_sight import Scene
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING, SENTENCE
from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import MoveTo
from otherminds.worlds.collaborative_cooking.bots import nearest
from otherminds.worlds.collaborative_cooking.things import COUNTER, FULL, POT, SEES_COUNTER, SEES_POT, SEES_SOUP, VOID
from otherminds.worlds.grid import cheapest_route

MOST = 8
NOBODY: frozenset[int] = frozenset()


class Interact(StrictReply):
    """To use something."""

    do: Literal["interact"]
    x: int
    y: int

    def __str__(self) -> str:
        return f"interact ({self.x}, {self.y})"


class WaitAt(StrictReply):
    """To wait at a pot, or at a counter, until there is something to take, or room for something."""

    do: Literal["wait"]
    x: int
    y: int
    until: Literal["ready", "free"]

    def __str__(self) -> str:
        return f"wait ({self.x}, {self.y}) until {self.until}"


CookSubgoal = Interact | WaitAt | MoveTo


class CookSteps(StrictReply):
    """A plan."""

    reasoning: str
    plan: list[Annotated[CookSubgoal, Field(discriminator="do")]]


class Expectation(StrictReply):
    """What somebody will do."""

    reasoning: str
    expects: str


class Fit(StrictReply):
    """Whether that is what they did."""

    reasoning: str
    fits: bool


class Everything(StrictReply):
    """All of it at once."""

    reasoning: str
    hypothesis: str
    expects: str
    strategy: str


def expectation_form() -> ReplyForm[Expectation]:
    """A sentence."""
    schema = schema_text(reasoning=REASONING, expects=SENTENCE)
    return ReplyForm(schema, Expectation, lambda found: text_fault(found.expects))


def fit_form() -> ReplyForm[Fit]:
    """Yes or no."""
    return ReplyForm(schema_text(reasoning=REASONING, fits={"type": "boolean"}), Fit, lambda _: None)


def everything_form() -> ReplyForm[Everything]:
    """Three sentences."""
    schema = schema_text(reasoning=REASONING, hypothesis=SENTENCE, expects=SENTENCE, strategy=SENTENCE)

    def fault(found: Everything) -> str | None:
        return text_fault(found.hypothesis) or text_fault(found.expects) or text_fault(found.strategy)

    return ReplyForm(schema, Everything, fault)


def cook_plan_form(scene: Scene) -> ReplyForm[CookSteps]:
    """A plan that can be carried out, as far as the map tells."""
    column, row = ({"type": "integer", "minimum": 0, "maximum": most - 1} for most in _size(scene))
    subgoals = [
        object_schema(do=enum_schema(["interact"]), x=column, y=row),
        object_schema(do=enum_schema(["wait"]), x=column, y=row, until=enum_schema(["ready", "free"])),
        object_schema(do=enum_schema(["move_to"]), x=column, y=row),
    ]
    plan = {"type": "array", "items": {"anyOf": subgoals}, "minItems": 1, "maxItems": MOST}
    return ReplyForm(
        schema_text(reasoning=REASONING, plan=plan), CookSteps, lambda found: _plan_fault(found.plan, scene)
    )


def is_met(scene: Scene, subgoal: WaitAt) -> bool:
    """Whether what one waits for can be seen to be so."""
    cell = scene.world.grid.cell(subgoal.x, subgoal.y)
    if scene.looked(cell) < scene.sight.t:
        return False
    code = scene.code(cell)
    if subgoal.until == "free":
        return code == SEES_COUNTER or SEES_POT <= code < SEES_POT + FULL
    return code == SEES_SOUP or SEES_COUNTER < code < SEES_POT


def _size(scene: Scene) -> tuple[int, int]:
    return scene.world.grid.width, scene.world.grid.height


def _plan_fault(plan: Sequence[CookSubgoal], scene: Scene) -> str | None:
    if not 1 <= len(plan) <= MOST:
        return f"plan: has {len(plan)} subgoals, not 1 to {MOST}"
    faults = (_fault(subgoal, scene) for subgoal in plan)
    fault = next((f"plan: {subgoal}: {why}" for subgoal, why in zip(plan, faults, strict=True) if why), None)
    return fault or ("plan: does nothing, as all of it is so already" if _is_idle(plan, scene) else None)


def _is_idle(plan: Sequence[CookSubgoal], scene: Scene) -> bool:
    here = scene.at(scene.sight.view.cell)
    return all(
        is_met(scene, one) if isinstance(one, WaitAt) else isinstance(one, MoveTo) and (one.x, one.y) == here
        for one in plan
    )


def _fault(subgoal: CookSubgoal, scene: Scene) -> str | None:
    world, (width, height) = scene.world, _size(scene)
    if not (0 <= subgoal.x < width and 0 <= subgoal.y < height):
        return f"is outside the map of {width} columns and {height} rows"
    cell = world.grid.cell(subgoal.x, subgoal.y)
    if isinstance(subgoal, MoveTo):
        if not world.grid.is_floor(cell):
            return "is not floor"
        way = cheapest_route(world.grid, scene.sight.view.cell, {cell: 0.0}, {})
        return "cannot be reached" if way is None else None
    if world.grid.is_floor(cell) or world.square(cell) == VOID:
        return "there is nothing to use"
    if isinstance(subgoal, WaitAt) and world.square(cell) not in (POT, COUNTER):
        return "is neither a pot nor a counter"
    return None if nearest(world, scene.sight.view, [cell], NOBODY) else "is out of your reach"
