"""Subgoals as a language model writes them, and which of them make sense for an avatar that knows what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from otherminds.language.asking import ReplyForm, StrictReply, enum_schema, object_schema, plain, schema_text
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import MapMemory
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

MOST = 12
LONGEST_WAIT = 50


class MoveTo(StrictReply):
    """To walk to a place."""

    do: Literal["move_to"]
    x: int
    y: int

    def __str__(self) -> str:
        return f"move_to ({self.x}, {self.y})"


class FireAt(StrictReply):
    """To meet somebody."""

    do: Literal["fire_at"]
    player: str

    def __str__(self) -> str:
        return f"fire_at {plain(self.player)}"


class Fire(StrictReply):
    """To fire straight ahead."""

    do: Literal["interact"]

    def __str__(self) -> str:
        return "interact"


class Wait(StrictReply):
    """To stand still."""

    do: Literal["wait"]
    steps: int

    def __str__(self) -> str:
        return f"wait {self.steps}"


class Patrol(StrictReply):
    """To walk to where one has not looked for long."""

    do: Literal["patrol"]

    def __str__(self) -> str:
        return "patrol"


Subgoal = MoveTo | FireAt | Fire | Wait | Patrol


class Steps(StrictReply):
    """A plan."""

    reasoning: str
    plan: list[Annotated[Subgoal, Field(discriminator="do")]]


class Situation(NamedTuple):
    """What an avatar goes by: what it sees and remembers."""

    world: InTheMatrix
    me: int
    memory: MapMemory
    view: MatrixView

    @property
    def players(self) -> tuple[str, ...]:
        """What everybody is called."""
        return tuple(map(plain, self.world.agents))

    @property
    def others(self) -> tuple[str, ...]:
        """What everybody else is called."""
        return tuple(name for j, name in enumerate(self.players) if j != self.me)

    @property
    def borders(self) -> list[int]:
        """Where else what has not been seen begins."""
        return self.memory.borders(self.world, self.view.cell)

    def toward(self, target: int, tolls: dict[int, float]) -> Route | None:
        """The way to a cell; if none is known, to where the unseen begins nearest to it; None if there is nothing."""
        grid, here, seen = self.world.rules.field.grid, self.view.cell, self.memory.seen
        x, y = grid.xy(target)
        places = ((cell, *grid.xy(cell)) for cell in self.borders)
        near = {cell: float(abs(column - x) + abs(row - y)) for cell, column, row in places}
        return cheapest_route(grid, here, {target: 0.0}, tolls, seen) or cheapest_route(grid, here, near, tolls, seen)


def plan_form(situation: Situation) -> ReplyForm[Steps]:
    """A plan that can be carried out, as far as one can tell."""
    grid, others = situation.world.rules.field.grid, situation.others
    column, row, wait = (_upto(most) for most in (grid.width - 1, grid.height - 1, LONGEST_WAIT))
    subgoals = [
        object_schema(do=enum_schema(["move_to"]), x=column, y=row),
        object_schema(do=enum_schema(["fire_at"]), player=enum_schema(others)),
        object_schema(do=enum_schema(["interact"])),
        object_schema(do=enum_schema(["wait"]), steps=wait | {"minimum": 1}),
        object_schema(do=enum_schema(["patrol"])),
    ]
    plan = {"type": "array", "items": {"anyOf": subgoals}, "minItems": 1, "maxItems": MOST}
    schema = schema_text(reasoning=REASONING, plan=plan)
    return ReplyForm(schema, Steps, lambda found: _plan_fault(found.plan, situation))


def _upto(most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": 0, "maximum": most}


def _plan_fault(plan: Sequence[Subgoal], situation: Situation) -> str | None:
    if not 1 <= len(plan) <= MOST:
        return f"plan: has {len(plan)} subgoals, not 1 to {MOST}"
    here = situation.world.rules.field.grid.xy(situation.view.cell)
    if all(isinstance(subgoal, MoveTo) and (subgoal.x, subgoal.y) == here for subgoal in plan):
        return f"plan: does nothing, as you are at {here} already"
    faults = (_fault(subgoal, situation) for subgoal in plan)
    return next((f"plan: {subgoal}: {why}" for subgoal, why in zip(plan, faults, strict=True) if why), None)


def _fault(subgoal: Subgoal, situation: Situation) -> str | None:
    if isinstance(subgoal, MoveTo):
        return _place_fault(subgoal, situation)
    if isinstance(subgoal, FireAt) and subgoal.player not in situation.others:
        return f"there is nobody else of that name, only {', '.join(situation.others)}"
    if isinstance(subgoal, Wait) and not 1 <= subgoal.steps <= LONGEST_WAIT:
        return f"is not from 1 to {LONGEST_WAIT} steps"
    return None


def _place_fault(subgoal: MoveTo, situation: Situation) -> str | None:
    grid = situation.world.rules.field.grid
    if not (0 <= subgoal.x < grid.width and 0 <= subgoal.y < grid.height):
        return f"is outside the map of {grid.width} columns and {grid.height} rows"
    cell = grid.cell(subgoal.x, subgoal.y)
    if not situation.memory.knows(cell):
        return "you have never looked there"
    if not grid.is_floor(cell):
        return "is a wall"
    return "cannot be reached" if situation.toward(cell, {}) is None else None
