"""Subgoals in matrix worlds as a language model writes them, and which of them an avatar can carry out."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from otherminds.language.asking import ReplyForm, Schema, enum_schema, plain
from otherminds.papers.hypothetical_minds.verbal.forms import ReasonedReply
from otherminds.papers.hypothetical_minds.verbal.subgoals import MoveTo, WrittenSubgoal, place_schema, plan_form
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.memory import MapMemory
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

MOST = 12  # subgoals of a plan; chosen, not tuned
LONGEST_WAIT = 50  # steps; chosen, not tuned


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


MatrixSubgoal = MoveTo | FireAt | Fire | Wait | Patrol


class MatrixPlanReply(ReasonedReply):
    """A plan of subgoals."""

    plan: list[Annotated[MatrixSubgoal, Field(discriminator="do")]]


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
    def place(self) -> tuple[int, int]:
        """The avatar's column and row."""
        return self.at(self.view.cell)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all players, each on one line."""
        return tuple(map(plain, self.world.agents))

    @property
    def other_names(self) -> tuple[str, ...]:
        """The names of all other players."""
        return tuple(name for j, name in enumerate(self.names) if j != self.me)

    @property
    def borders(self) -> list[int]:
        """Known cells, other than the avatar's, at the edge of what it has not seen."""
        return self.memory.borders(self.world, self.view.cell)

    def at(self, cell: int) -> tuple[int, int]:
        """The column and row of a cell."""
        return self.world.rules.field.grid.xy(cell)

    def toward(self, target: int, tolls: dict[int, float]) -> Route | None:
        """The way to a cell; if none is known, to the border nearest to it; None if there is none either."""
        grid, start, mask = self.world.rules.field.grid, self.view.cell, self.memory.explored
        x, y = grid.xy(target)
        places = ((cell, *grid.xy(cell)) for cell in self.borders)
        near = {cell: float(abs(column - x) + abs(row - y)) for cell, column, row in places}
        return cheapest_route(grid, start, {target: 0.0}, tolls, mask) or cheapest_route(grid, start, near, tolls, mask)


def matrix_plan_form(situation: MatrixSituation) -> ReplyForm[MatrixPlanReply]:
    """A plan that can be carried out, as far as the avatar knows."""
    grid = situation.world.rules.field.grid
    names, own_place = situation.other_names, situation.place
    subgoals: dict[str, dict[str, Schema]] = {
        "move_to": place_schema(grid),
        "fire_at": {"player": enum_schema(names)},
        "interact": {},
        "wait": {"steps": {"type": "integer", "minimum": 1, "maximum": LONGEST_WAIT}},
        "patrol": {},
    }

    def fault(subgoal: MatrixSubgoal) -> str | None:
        """What is wrong with a subgoal, as far as the avatar knows; None if nothing is."""
        if isinstance(subgoal, FireAt) and subgoal.player not in names:
            return f"there is nobody else of that name, only {', '.join(names)}"
        if isinstance(subgoal, Wait) and not 1 <= subgoal.steps <= LONGEST_WAIT:
            return f"is not from 1 to {LONGEST_WAIT} steps"
        if not isinstance(subgoal, MoveTo):
            return None
        cell = grid.cell(subgoal.x, subgoal.y)
        if not situation.memory.knows(cell):
            return "you have never looked there"
        if not grid.is_floor(cell):
            return "is a wall"
        return "cannot be reached" if situation.toward(cell, {}) is None else None

    def is_done(subgoal: MatrixSubgoal) -> bool:
        return isinstance(subgoal, MoveTo) and (subgoal.x, subgoal.y) == own_place

    return plan_form(MatrixPlanReply, subgoals, MOST, grid, fault, is_done, f"you are at {own_place}")
