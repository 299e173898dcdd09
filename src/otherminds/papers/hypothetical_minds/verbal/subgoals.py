"""Plans of subgoals as a language model writes them: what matrix worlds and kitchens have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from otherminds.language.asking import ReplyForm, Schema, StrictReply, enum_schema, object_schema, schema_text
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING
from otherminds.worlds.grid import Grid

M = TypeVar("M", bound=BaseModel)


class WrittenSubgoal(StrictReply):
    """A subgoal by the name of what to do."""

    do: str

    def __str__(self) -> str:
        return self.do


class AtPlace(WrittenSubgoal):
    """A subgoal at a column and a row."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.do} ({self.x}, {self.y})"


class MoveTo(AtPlace):
    """Walk to a place."""

    do: Literal["move_to"]


def place_schema(grid: Grid) -> dict[str, Schema]:
    """The schemas of a column and a row, `x` and `y`."""
    sizes = {"x": grid.width, "y": grid.height}
    return {name: {"type": "integer", "minimum": 0, "maximum": size - 1} for name, size in sizes.items()}


def plan_form(
    kind: type[M],
    subgoals: Mapping[str, Mapping[str, Schema]],
    most: int,
    grid: Grid,
    fault: Callable[[Any], str | None],
    is_done: Callable[[Any], bool],
    idle: str,
) -> ReplyForm[M]:
    """A plan of 1 to `most` subgoals, with the schemas of their fields by what to do.

    `fault` says what is wrong with a subgoal on the map, `idle` what makes a plan useless that `is_done` already.
    """

    def subgoal_fault(subgoal: WrittenSubgoal) -> str | None:
        if isinstance(subgoal, AtPlace) and not (0 <= subgoal.x < grid.width and 0 <= subgoal.y < grid.height):
            return f"is outside the map of {grid.width} columns and {grid.height} rows"
        return fault(subgoal)

    def plan_fault(reply: Any) -> str | None:
        """What is wrong with a plan, in words that follow `it`; None if nothing is."""
        if not 1 <= len(reply.plan) <= most:
            return f"plan: has {len(reply.plan)} subgoals, not 1 to {most}"
        faults = (f"{subgoal}: {why}" for subgoal in reply.plan if (why := subgoal_fault(subgoal)))
        if fault_text := next(faults, None):
            return f"plan: {fault_text}"
        return f"plan: does nothing, as {idle} already" if all(map(is_done, reply.plan)) else None

    items = [object_schema(do=enum_schema([do]), **fields) for do, fields in subgoals.items()]
    plan = {"type": "array", "items": {"anyOf": items}, "minItems": 1, "maxItems": most}
    return ReplyForm(schema_text(reasoning=REASONING, plan=plan), kind, plan_fault)
