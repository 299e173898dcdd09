"""Subgoals in matrix worlds as a language model writes them, and which of them an avatar can carry out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from otherminds.language.asking import ReplyForm, StrictReply, enum_schema, object_schema, plain, schema_text
from otherminds.papers.hypothetical_minds.verbal.forms import REASONING
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import MapMemory
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

MOST = 12  # subgoals of a plan; chosen, not tuned
LONGEST_WAIT = 50  # steps; chosen, not tuned


class MoveTo(StrictReply):
    """Walk to a place."""

    do: Literal["move_to"]
    x: int
    y: int

    def __str__(self) -> str:
        return f"move_to ({self.x}, {self.y})"


class FireAt(StrictReply):
    """Meet a player."""

    do: Literal["fire_at"]
    player: str

    def __str__(self) -> str:
        return f"fire_at {plain(self.player)}"


class Fire(StrictReply):
    """Fire straight ahead."""

    do: Literal["interact"]

    def __str__(self) -> str:
        return "interact"


class Wait(StrictReply):
    """Stand still for some steps."""

    do: Literal["wait"]
    steps: int

    def __str__(self) -> str:
        return f"wait {self.steps}"


class Patrol(StrictReply):
    """Walk to the place not looked at for longest."""

    do: Literal["patrol"]

    def __str__(self) -> str:
        return "patrol"


Subgoal = MoveTo | FireAt | Fire | Wait | Patrol


class PlanReply(StrictReply):
    """A plan of subgoals."""

    reasoning: str
    plan: list[Annotated[Subgoal, Field(discriminator="do")]]


class MatrixSituation(NamedTuple):
    """What an avatar perceives and remembers."""

    world: InTheMatrix
    me: int
    memory: MapMemory
    view: MatrixView

    @property
    def t(self) -> int:
        """The step."""
        return self.view.t

    @property
    def here(self) -> tuple[int, int]:
        """The avatar's column and row."""
        return self.at(self.view.cell)

    @property
    def players(self) -> tuple[str, ...]:
        """The names of all players, each on one line."""
        return tuple(map(plain, self.world.agents))

    @property
    def others(self) -> tuple[str, ...]:
        """The names of all other players."""
        return tuple(name for j, name in enumerate(self.players) if j != self.me)

    @property
    def borders(self) -> list[int]:
        """Known cells, other than the avatar's, at the edge of what it has not seen."""
        return self.memory.borders(self.world, self.view.cell)

    def at(self, cell: int) -> tuple[int, int]:
        """The column and row of a cell."""
        return self.world.rules.field.grid.xy(cell)

    def toward(self, target: int, tolls: dict[int, float]) -> Route | None:
        """The way to a cell; if none is known, to the border nearest to it; None if there is none either."""
        grid, here, seen = self.world.rules.field.grid, self.view.cell, self.memory.seen
        x, y = grid.xy(target)
        places = ((cell, *grid.xy(cell)) for cell in self.borders)
        near = {cell: float(abs(column - x) + abs(row - y)) for cell, column, row in places}
        return cheapest_route(grid, here, {target: 0.0}, tolls, seen) or cheapest_route(grid, here, near, tolls, seen)


def plan_form(situation: MatrixSituation) -> ReplyForm[PlanReply]:
    """A plan that can be carried out, as far as the avatar knows."""
    grid, others = situation.world.rules.field.grid, situation.others
    column, row, wait = (
        {"type": "integer", "minimum": 0, "maximum": most} for most in (grid.width - 1, grid.height - 1, LONGEST_WAIT)
    )
    subgoals = [
        object_schema(do=enum_schema(["move_to"]), x=column, y=row),
        object_schema(do=enum_schema(["fire_at"]), player=enum_schema(others)),
        object_schema(do=enum_schema(["interact"])),
        object_schema(do=enum_schema(["wait"]), steps=wait | {"minimum": 1}),
        object_schema(do=enum_schema(["patrol"])),
    ]
    plan = {"type": "array", "items": {"anyOf": subgoals}, "minItems": 1, "maxItems": MOST}
    schema = schema_text(reasoning=REASONING, plan=plan)
    return ReplyForm(schema, PlanReply, lambda found: _plan_fault(found.plan, situation))


def _plan_fault(plan: Sequence[Subgoal], situation: MatrixSituation) -> str | None:
    if not 1 <= len(plan) <= MOST:
        return f"plan: has {len(plan)} subgoals, not 1 to {MOST}"
    here = situation.here
    if all(isinstance(subgoal, MoveTo) and (subgoal.x, subgoal.y) == here for subgoal in plan):
        return f"plan: does nothing, as you are at {here} already"
    faults = (_fault(subgoal, situation) for subgoal in plan)
    return next((f"plan: {subgoal}: {why}" for subgoal, why in zip(plan, faults, strict=True) if why), None)


def _fault(subgoal: Subgoal, situation: MatrixSituation) -> str | None:
    if isinstance(subgoal, FireAt) and subgoal.player not in situation.others:
        return f"there is nobody else of that name, only {', '.join(situation.others)}"
    if isinstance(subgoal, Wait) and not 1 <= subgoal.steps <= LONGEST_WAIT:
        return f"is not from 1 to {LONGEST_WAIT} steps"
    if not isinstance(subgoal, MoveTo):
        return None
    grid = situation.world.rules.field.grid
    if not (0 <= subgoal.x < grid.width and 0 <= subgoal.y < grid.height):
        return f"is outside the map of {grid.width} columns and {grid.height} rows"
    cell = grid.cell(subgoal.x, subgoal.y)
    if not situation.memory.knows(cell):
        return "you have never looked there"
    if not grid.is_floor(cell):
        return "is a wall"
    return "cannot be reached" if situation.toward(cell, {}) is None else None
