"""Exact plans in Doors-Keys-Gems: what everything that an agent may do will cost it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.shortest_paths import UNREACHABLE, cost_fields
from otherminds.planning.values import StagedCosts, Table
from otherminds.worlds.doors_keys_gems.locked_map import HOPE, Goal, LockedMap, Stage
from otherminds.worlds.doors_keys_gems.rules import GROUND, STAY, USED, Action, DoorsKeysGems, State

Head = int | Action


class Plans:
    """Exact costs-to-go in one world, for one agent while the others stand still; shared by all who plan in it.

    Q_g(s, a) = 1 + V_g(s′), in steps; V_g = 0 where the goal holds. (ProToM §3.1, eq. 4.)
    """

    def __init__(self, world: DoorsKeysGems) -> None:
        """Nothing is computed before it is asked for."""
        self.world = world
        self.map = LockedMap(world)
        self._costs: StagedCosts[Goal, Stage, Action] = StagedCosts(self.map)
        self._action_costs = Table(self._costs_of_actions)
        self._heads: dict[tuple[Goal, Stage], Table[int, Head]] = {}

    # Values

    def achieved(self, state: State, i: int, goal: Goal) -> bool:
        """Whether the goal holds already."""
        item = self.map.item(goal)
        if item is None:
            return not state.locked >> goal.thing & 1
        return state.items[item] in ((goal.whom, USED) if goal.kind == "give" else (i,))

    def available(self, state: State, i: int, goal: Goal) -> bool:
        """Whether the thing wanted is still to be had: on the ground or, to give it away, in the agent's hands."""
        item = self.map.item(goal)
        if item is None:
            return True
        if state.items[item] == GROUND:
            return (i, item) not in self.world.forbidden
        return goal.kind == "give" and state.items[item] == i

    def cost(self, state: State, i: int, goal: Goal) -> int:
        """V: steps agent i needs alone until the goal holds; UNREACHABLE or more if it cannot be done alone.

        To `give` a key that is still on the ground counts the way to the key only, and one in hand is carried on
        foot through open doors: where the other person will be then is not known.
        """
        if self.achieved(state, i, goal):
            return 0
        if not self.available(state, i, goal):
            return UNREACHABLE
        if goal.kind == "give":
            if state.items[goal.thing] == i:
                return until_given(self.map.distances_to(state.cells[goal.whom], state.locked)[state.cells[i]])
            goal = Goal("key", goal.thing)
        return self._costs.value(goal, self.map.stage(state, i), state.cells[i])

    def settled(self, state: State, i: int, goal: Goal) -> bool:
        """Whether there is nothing left to do for agent i: the goal holds, or it cannot bring it about alone."""
        return not 0 < self.cost(state, i, goal) < UNREACHABLE

    def stage_for(self, state: State, i: int, goal: Goal) -> Stage:
        """The stage to plan in: a hopeful one if the agent's gem is out of its own reach (the paper is silent)."""
        stage = self.map.stage(state, i)
        if goal.kind == "gem" and self._costs.value(goal, stage, state.cells[i]) >= UNREACHABLE:
            return stage._replace(hope=True)
        return stage

    def action_costs(self, state: State, i: int, goal: Goal) -> Mapping[Action, int]:
        """Q(s, a) = 1 + V(s′) for everything agent i may do, the others standing still.

        Waiting costs nothing where the goal is reached, or where the agent hopes for a door to be opened.
        """
        return self._action_costs[state, i, goal]

    def _costs_of_actions(self, key: tuple[State, int, Goal]) -> dict[Action, int]:
        state, i, goal = key
        options = self.world.actions(state, self.world.agents[i])
        if self.achieved(state, i, goal) or not self.available(state, i, goal):
            return {action: int(action != STAY) for action in options}
        if goal.kind == "give":
            if state.items[goal.thing] == i:
                return self._giving_costs(state, i, goal, options)
            goal = Goal("key", goal.thing)
        stage = self.stage_for(state, i, goal)
        return {action: self._cost_of(action, state, i, goal, stage) for action in options}

    def _cost_of(self, action: Action, state: State, i: int, goal: Goal, stage: Stage) -> int:
        here, value = state.cells[i], self._costs.value
        if action.verb in self.world.grid.offsets:
            return 1 + value(goal, stage, here + self.world.grid.offsets[action.verb])
        if action.verb == "pickup":
            if action.item == self.map.item(goal):
                return 1
            if action.item < len(self.world.keys) and stage.ground >> action.item & 1:
                return 1 + value(goal, self.map.follow(stage, action), here)
        elif action.verb == "unlock":
            if goal == ("door", action.target, -1):
                return 1
            return 1 + value(goal, self.map.follow(stage, action), here)
        elif action.verb == "handover":
            after = self.map.stage(self.world.apply(state, i, action), i)._replace(hope=stage.hope)
            return 1 + value(goal, after, here)
        elif stage.hope and self._waits(goal, stage, here):
            return value(goal, stage, here)
        return 1 + value(goal, stage, here)

    def _waits(self, goal: Goal, stage: Stage, here: int) -> bool:
        """Whether it is best, here, to wait for some door next to the agent to be opened."""
        best = self._costs.value(goal, stage, here)
        return any(
            here in self.map.sides[d]
            and HOPE + self._costs.value(goal, self.map.follow(stage, Action("stay", target=d)), here) == best
            for d in range(len(self.map.sides))
            if stage.locked >> d & 1
        )

    def _giving_costs(self, state: State, i: int, goal: Goal, options: tuple[Action, ...]) -> dict[Action, int]:
        row, here = self.map.distances_to(state.cells[goal.whom], state.locked), state.cells[i]
        offsets = self.world.grid.offsets
        costs = {a: 1 + until_given(row[here + offsets.get(a.verb, 0)]) for a in options}
        return {a: 1 if a == ("handover", goal.thing, goal.whom) else cost for a, cost in costs.items()}

    # One definite way

    def heads(self, goal: Goal, stage: Stage) -> Mapping[int, Head]:
        """Where to head from each cell, ties broken in a fixed order: the next cell, the same one to wait, or a deed.

        An unlocking deed leaves open which fitting key is used.
        """
        found = self._heads.get((goal, stage))
        if found is None:
            found = self._heads[goal, stage] = Table(lambda here: self._head(goal, stage, here))
        return found

    def _head(self, goal: Goal, stage: Stage, here: int) -> Head:
        ways = self._costs.ways(goal, stage, here)
        if not ways:
            return here
        best = min(ways, key=lambda way: way.distance[here] + way.rest)
        if best.distance[here]:
            return self.toward(best.distance, here)
        return here if best.exit.deed.verb == "stay" else best.exit.deed

    def toward(self, distance: Sequence[int], here: int) -> int:
        """The first neighbouring cell that is a step nearer."""
        return next(cell for cell in self.world.grid.neighbours[here] if distance[cell] < distance[here])

    # Everything at once

    def fields(self, goals: Sequence[Goal], start: Stage) -> tuple[list[Stage], NDArray[np.int32]]:
        """V of every goal in every stage that can follow, for every cell: the stages, and shape (goals, stages, cells).

        The same numbers as `cost`, all at once; UNREACHABLE or more off the floor and where there is no way.
        Raises ValueError for a hopeful stage: here every deed takes one step.
        """
        if start.hope:
            raise ValueError("fields are for agents that count on nobody")
        number = {start: 0}
        links = []
        for stage in (stages := [start]):
            after: dict[Action, int] = {}
            for place, _, deed, _ in self.map.changes(stage):
                if deed not in after:
                    next_stage = self.map.follow(stage, deed)
                    after[deed] = number.setdefault(next_stage, len(number))
                    stages += [next_stage] * (after[deed] == len(stages))
                links.append((number[stage], after[deed], place))
        floors = [self.map.floor(stage.locked) for stage in stages]
        finals = [
            [(s, e.place) for s, stage in enumerate(stages) for e in self.map.exits(g, stage) if e.final] for g in goals
        ]
        found = cost_fields(floors, self.world.grid.stride, links, finals)
        return stages, found[:, :, : self.world.grid.size]


def until_given(distance: int) -> int:
    """Steps until a thing is handed over: it takes a step between two people, so sharing a cell costs one more."""
    return 2 if distance == 0 else distance
