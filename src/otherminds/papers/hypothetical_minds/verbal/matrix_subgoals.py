"""Subgoals in matrix worlds as a language model writes them, and which of them an avatar can carry out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from otherminds.language.asking import ReplyForm, Schema, StrictReply, enum_schema, object_schema, plain
from otherminds.papers.hypothetical_minds.verbal.forms import ReasonedReply, subgoals_form
from otherminds.worlds.grid import Grid, Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import MapMemory
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

MOST = 12  # subgoals of a plan; chosen, not tuned
LONGEST_WAIT = 50  # steps; chosen, not tuned


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


class FireAt(WrittenSubgoal):
    """Meet a player."""

    do: Literal["fire_at"]
    player: str

    def __str__(self) -> str:
        return f"{self.do} {plain(self.player)}"


class Fire(WrittenSubgoal):
    """Fire straight ahead."""

    do: Literal["interact"]


class Wait(WrittenSubgoal):
    """Stand still for some steps."""

    do: Literal["wait"]
    steps: int

    def __str__(self) -> str:
        return f"{self.do} {self.steps}"


class Patrol(WrittenSubgoal):
    """Walk to the place not looked at for longest."""

    do: Literal["patrol"]


Subgoal = MoveTo | FireAt | Fire | Wait | Patrol


class PlanReply(ReasonedReply):
    """A plan of subgoals."""

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
        grid, start, mask = self.world.rules.field.grid, self.view.cell, self.memory.seen
        x, y = grid.xy(target)
        places = ((cell, *grid.xy(cell)) for cell in self.borders)
        near = {cell: float(abs(column - x) + abs(row - y)) for cell, column, row in places}
        return cheapest_route(grid, start, {target: 0.0}, tolls, mask) or cheapest_route(grid, start, near, tolls, mask)


def place_schema(grid: Grid) -> dict[str, Schema]:
    """The schemas of a column and a row, `x` and `y`."""
    sizes = {"x": grid.width, "y": grid.height}
    return {name: {"type": "integer", "minimum": 0, "maximum": size - 1} for name, size in sizes.items()}


def place_fault(grid: Grid, x: int, y: int) -> str | None:
    """What is wrong with a place that is not on the map."""
    if 0 <= x < grid.width and 0 <= y < grid.height:
        return None
    return f"is outside the map of {grid.width} columns and {grid.height} rows"


def plan_form(situation: MatrixSituation) -> ReplyForm[PlanReply]:
    """A plan that can be carried out, as far as the avatar knows."""
    grid, other_players, own_place = situation.world.rules.field.grid, situation.others, situation.here
    subgoals = [
        object_schema(do=enum_schema(["move_to"]), **place_schema(grid)),
        object_schema(do=enum_schema(["fire_at"]), player=enum_schema(other_players)),
        object_schema(do=enum_schema(["interact"])),
        object_schema(do=enum_schema(["wait"]), steps={"type": "integer", "minimum": 1, "maximum": LONGEST_WAIT}),
        object_schema(do=enum_schema(["patrol"])),
    ]

    def fault(subgoal: Subgoal) -> str | None:
        if isinstance(subgoal, FireAt) and subgoal.player not in other_players:
            return f"there is nobody else of that name, only {', '.join(other_players)}"
        if isinstance(subgoal, Wait) and not 1 <= subgoal.steps <= LONGEST_WAIT:
            return f"is not from 1 to {LONGEST_WAIT} steps"
        if not isinstance(subgoal, MoveTo):
            return None
        if outside := place_fault(grid, subgoal.x, subgoal.y):
            return outside
        cell = grid.cell(subgoal.x, subgoal.y)
        if not situation.memory.knows(cell):
            return "you have never looked there"
        if not grid.is_floor(cell):
            return "is a wall"
        return "cannot be reached" if situation.toward(cell, {}) is None else None

    def idle(plan: Sequence[Subgoal]) -> str | None:
        stays = all(isinstance(subgoal, MoveTo) and (subgoal.x, subgoal.y) == own_place for subgoal in plan)
        return f"does nothing, as you are at {own_place} already" if stays else None

    return subgoals_form(PlanReply, subgoals, MOST, fault, idle)
