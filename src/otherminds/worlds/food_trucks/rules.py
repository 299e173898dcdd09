"""Food trucks: a walk to lunch past a wall that hides which truck is parked behind it.

Of two parking spots one always has the first truck; the other has one of the other trucks, or none, and can be seen
only where no wall is in the way. (Baker, Jara-Ettinger, Saxe & Tenenbaum 2017, Nature Human Behaviour 1:0064.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from otherminds.worlds.food_trucks.visibility import visible_share
from otherminds.worlds.grid import DIRECTIONS, Grid

STAY, EAT = "stay", "eat"
ACTIONS = (STAY, *DIRECTIONS, EAT)
TRUCKS = ("Korean", "Lebanese", "Mexican")
NOTHING = "nothing"


class FoodTruckState(NamedTuple):
    """The cell of the agent, what is parked at the hidden spot, whether the agent has that in view, what it ate."""

    cell: int
    parked: str
    in_view: bool
    eaten: str | None = None


class FoodTruckView(NamedTuple):
    """What the agent observes: its cell, and what is parked at the hidden spot if it sees that, else None."""

    cell: int
    parked: str | None = None


@dataclass(frozen=True)
class FoodTrucks:
    """The world of an agent that walks to a food truck. Every action but `stay` costs `cost`.

    `trucks[0]` is parked at the cell `known_spot`, another truck or nothing at the cell `hidden_spot`. At every step
    the agent sees what is parked at `hidden_spot` with a probability that is the share of that square which is visible
    from its cell.
    `rewards` has what each truck is worth to the agent.
    Raises ValueError unless there are two trucks at least, and a reward for each.
    """

    grid: Grid
    known_spot: int
    hidden_spot: int
    beginning: int
    trucks: tuple[str, ...] = TRUCKS
    rewards: tuple[float, ...] = (0.0, 0.0, 0.0)
    cost: float = 1.0
    agents: tuple[str, ...] = ("diner",)

    def __post_init__(self) -> None:
        if len(self.trucks) < 2 or len(self.rewards) != len(self.trucks):
            raise ValueError("this world needs two trucks at least, and a reward for each of them")

    @property
    def contents(self) -> tuple[str, ...]:
        """What may be parked at the hidden spot: the other trucks in their order, then nothing."""
        return (*self.trucks[1:], NOTHING)

    @cached_property
    def visibility(self) -> Mapping[int, float]:
        """The probability of seeing what is parked at the hidden spot, from the middle of each floor cell."""
        from_row = enumerate(self.grid.rows)
        walls = [(x, y, x + 1, y + 1) for y, row in from_row for x, c in enumerate(row) if not self.grid.is_floor(c)]
        x, y = self.grid.xy(self.hidden_spot)
        eyes = {cell: self.grid.xy(cell) for cell in self.grid.cells()}
        return {c: visible_share((a + 0.5, b + 0.5), (x, y, x + 1, y + 1), walls) for c, (a, b) in eyes.items()}

    def truck(self, cell: int, parked: str) -> str | None:
        """The truck at a cell, if there is one."""
        if cell == self.known_spot:
            return self.trucks[0]
        return parked if cell == self.hidden_spot and parked != NOTHING else None

    def destination(self, cell: int, action: str) -> int:
        """The cell after an action: the same one if it is no move, or a wall or the edge is in the way."""
        target = cell + self.grid.offsets.get(action, 0)
        return target if self.grid.is_floor(target) else cell

    def start(self, rng: np.random.Generator, /) -> FoodTruckState:
        """The agent at its start, with uniformly drawn contents of the hidden spot."""
        return self.arrival(self.beginning, self.contents[rng.integers(len(self.contents))], rng)

    def arrival(self, cell: int, parked: str, rng: np.random.Generator, /) -> FoodTruckState:
        """The agent at a cell, where it sees the hidden spot or does not."""
        return FoodTruckState(cell, parked, bool(rng.random() < self.visibility[cell]))

    def actions(self, state: FoodTruckState, agent: str) -> tuple[str, ...]:
        """The actions that have an effect, and staying."""
        moves = [move for move in DIRECTIONS if self.destination(state.cell, move) != state.cell]
        return (STAY, *moves, *([EAT] if self.truck(state.cell, state.parked) else []))

    def all_actions(self, agent: str) -> tuple[str, ...]:
        """Every action of an agent in any state."""
        return ACTIONS

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """The possible values of each field of what an agent observes, for adapters."""
        return {"cell": tuple(self.grid.cells()), "parked": (None, *self.contents)}

    def step(self, state: FoodTruckState, joint: Mapping[str, str], rng: np.random.Generator, /) -> FoodTruckState:
        """The state after a move, a glance or a meal. Raises ValueError for an action without effect."""
        (agent,) = self.agents
        action = joint[agent]
        if action not in self.actions(state, agent):
            raise ValueError(f"{agent} cannot {action} here")
        if action == EAT:
            return state._replace(eaten=self.truck(state.cell, state.parked))
        return self.arrival(self.destination(state.cell, action), state.parked, rng)

    def observe(self, state: FoodTruckState, agent: str) -> FoodTruckView:
        """The agent's cell, and the contents of the hidden spot if they are in view."""
        return FoodTruckView(state.cell, state.parked if state.in_view else None)

    def reward(self, state: FoodTruckState, joint: Mapping[str, str], after: FoodTruckState) -> dict[str, float]:
        """What the agent ate is worth to it, less the cost of the action."""
        (agent,) = self.agents
        worth = self.rewards[self.trucks.index(after.eaten)] if after.eaten else 0.0
        return {agent: worth - (0.0 if joint[agent] == STAY else self.cost)}

    def done(self, state: FoodTruckState) -> bool:
        """Whether the agent has eaten."""
        return state.eaten is not None


def walk(world: FoodTrucks, parked: str, actions: Sequence[str], cell: int | None = None) -> list[int]:
    """The cells of a walk, from the start of the world or from `cell`, one more than there are actions.

    Raises ValueError for an action that has no effect.
    """
    state = FoodTruckState(world.beginning if cell is None else cell, parked, False)
    cells = [state.cell]
    for n, action in enumerate(actions, 1):
        if world.done(state) or action not in world.actions(state, world.agents[0]):
            raise ValueError(f"action {n}: nobody can {action} here")
        eaten = world.truck(state.cell, parked) if action == EAT else None
        state = state._replace(cell=world.destination(state.cell, action), eaten=eaten)
        cells.append(state.cell)
    return cells
