"""Subgoals as a language model writes them, and which of them make sense for an avatar that knows what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from otherminds.minds.routes import cheapest
from otherminds.minds.surroundings import Surroundings
from otherminds.systems.limp_replies import Form
from otherminds.systems.verbal.askers import Written, an_object, closed, one_of, plain
from otherminds.worlds.in_the_matrix import InTheMatrix, View

MOST = 12
LONGEST_WAIT = 50
NOWHERE_KNOWN = float("inf")


class MoveTo(Written):
    """To walk to a place."""

    do: Literal["move_to"]
    x: int
    y: int

    def __str__(self) -> str:
        return f"move_to ({self.x}, {self.y})"


class FireAt(Written):
    """To meet somebody."""

    do: Literal["fire_at"]
    player: str

    def __str__(self) -> str:
        return f"fire_at {plain(self.player)}"


class Fire(Written):
    """To fire straight ahead."""

    do: Literal["interact"]

    def __str__(self) -> str:
        return "interact"


class Wait(Written):
    """To stand still."""

    do: Literal["wait"]
    steps: int

    def __str__(self) -> str:
        return f"wait {self.steps}"


class Patrol(Written):
    """To walk to where one has not looked for long."""

    do: Literal["patrol"]

    def __str__(self) -> str:
        return "patrol"


Subgoal = MoveTo | FireAt | Fire | Wait | Patrol


class Steps(Written):
    """A plan."""

    reasoning: str
    plan: list[Annotated[Subgoal, Field(discriminator="do")]]


class Situation(NamedTuple):
    """What an avatar goes by: what it sees and remembers, and which cells it has ever seen, as bits.

    `seen` is None for one that knows the map, which is where walls and sites of resources are.
    """

    world: InTheMatrix
    me: int
    memory: Surroundings
    view: View
    seen: int | None = None

    @property
    def players(self) -> tuple[str, ...]:
        """What everybody is called."""
        return tuple(map(plain, self.world.agents))

    @property
    def others(self) -> tuple[str, ...]:
        """What everybody else is called."""
        return tuple(name for j, name in enumerate(self.players) if j != self.me)

    def known(self, cell: int) -> bool:
        """Whether it can be known what is at a cell."""
        return self.seen is None or bool(self.seen >> cell & 1)

    def unknown(self) -> dict[int, float]:
        """Tolls that keep one from walking where one has never looked."""
        if self.seen is None:
            return {}
        return {cell: NOWHERE_KNOWN for cell in self.world.rules.field.grid.cells() if not self.known(cell)}


def plan_form(situation: Situation) -> Form[Steps]:
    """A plan that can be carried out, as far as one can tell."""
    grid, others = situation.world.rules.field.grid, situation.others
    column, row, wait = (_upto(most) for most in (grid.width - 1, grid.height - 1, LONGEST_WAIT))
    subgoals = [
        an_object(do=one_of(["move_to"]), x=column, y=row),
        an_object(do=one_of(["fire_at"]), player=one_of(others)),
        an_object(do=one_of(["interact"])),
        an_object(do=one_of(["wait"]), steps=wait | {"minimum": 1}),
        an_object(do=one_of(["patrol"])),
    ]
    plan = {"type": "array", "items": {"anyOf": subgoals}, "minItems": 1, "maxItems": MOST}
    schema = closed(reasoning={"type": "string"}, plan=plan)
    return Form(schema, Steps, lambda found: _plan_fault(found.plan, situation))


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
    if not situation.known(cell):
        return "you have never looked there"
    if not grid.is_floor(cell):
        return "is a wall"
    way = cheapest(grid, situation.view.cell, {cell: 0.0}, situation.unknown())
    return "cannot be reached" if way is None else None
