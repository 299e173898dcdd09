"""Exact planner in Doors-Keys-Gems: what everything that an agent may do will cost it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.shortest_paths import (
    UNREACHABLE,
    CachedTable,
    Exit,
    StagedCosts,
    cost_fields,
    distances,
    regions,
)
from otherminds.worlds.doors_keys_gems.rules import GROUND, STAY, USED, Action, DoorsKeysGems, State

WAITING_COST = 100


class Goal(NamedTuple):
    """What somebody may be after, g: to have a `gem` or a `key`, a `door` open, or to `give` a key to someone."""

    kind: str
    thing: int
    whom: int = -1


class MapStage(NamedTuple):
    """All that matters to one agent's way besides where it stands.

    ground: useful keys on the ground, as bits. held: how many useful keys it holds, by colour. locked: doors,
    as bits. expects_help: whether it counts on somebody opening doors for it.
    """

    ground: int
    held: tuple[int, ...]
    locked: int
    expects_help: bool = False


class LockedMap:
    """One world in stages, as `StagedCosts` wants it; everything is worked out when it is asked for, and kept."""

    def __init__(self, world: DoorsKeysGems) -> None:
        """Keys of a colour are interchangeable in the hand, and matter only while a door of it is locked."""
        self.world = world
        colours = sorted({door.colour for door in world.doors})
        self.key_colour = [colours.index(k.colour) if k.colour in colours else -1 for k in world.keys]
        self.door_colour = [colours.index(door.colour) for door in world.doors]
        self.doors_of = [_where(self.door_colour, colour) for colour in range(len(colours))]
        self.keys_of = [_where(self.key_colour, colour) for colour in range(len(colours))]
        self.sides = [world.grid.neighbours[door.cell] for door in world.doors]
        self._rows: dict[tuple[int, int], Sequence[int]] = {}
        self._regions = CachedTable(self._find_regions)
        self._bounds = CachedTable(self._find_bounds)
        self._stages = CachedTable(self._find_stage)
        self._changes = CachedTable(self._find_changes)

    # Where one can walk

    def floor(self, locked: int) -> int:
        """The cells where one can stand with these doors locked, as bits."""
        doors = enumerate(self.world.doors)
        return self.world.grid.floor & ~sum(1 << door.cell for d, door in doors if locked >> d & 1)

    def distances_to(self, place: int, locked: int) -> Sequence[int]:
        """Steps on foot to `place` from every cell, with these doors locked."""
        if (locked, place) not in self._rows:
            grid, floor = self.world.grid, self.floor(locked)
            wanted = [p for p in (self._places if place in self._places else (place,)) if floor >> p & 1]
            rows = distances(floor, grid.stride, wanted).tolist()
            self._rows |= {(locked, p): row for p, row in zip(wanted, rows, strict=True)}
            self._rows.setdefault((locked, place), [UNREACHABLE] * grid.size)
        return self._rows[locked, place]

    @cached_property
    def _places(self) -> tuple[int, ...]:
        """The cells that matter: where things lie, and beside doors."""
        things = [item.cell for item in self.world.items]
        return tuple(dict.fromkeys([*things, *(cell for sides in self.sides for cell in sides)]))

    def distances(self, stage: MapStage, place: int) -> Sequence[int]:
        """Steps on foot to `place` from every cell, in this stage."""
        return self.distances_to(place, stage.locked)

    def regions(self, stage: MapStage) -> Sequence[int]:
        """A number for every cell, the same for cells between which one can walk in this stage."""
        return self._regions[stage.locked]

    def _find_regions(self, locked: int) -> Sequence[int]:
        return regions(self.floor(locked), self.world.grid.stride, self.world.grid.size)

    def bounds(self, goal: Goal) -> Sequence[int]:
        """Steps to the goal if all doors were open: a lower bound of every cost-to-go."""
        return self._bounds[goal]

    def _find_bounds(self, goal: Goal) -> Sequence[int]:
        item = self.item(goal)
        places = self.sides[goal.thing] if item is None else (self.world.items[item].cell,)
        rows = [self.distances_to(place, 0) for place in places]
        nobody = [UNREACHABLE] * self.world.grid.size
        return [1 + min(steps) for steps in zip(nobody, *rows, strict=False)]

    def item(self, goal: Goal) -> int | None:
        """The item that a goal is about; None for a door."""
        if goal.kind == "door":
            return None
        return goal.thing + (len(self.world.keys) if goal.kind == "gem" else 0)

    # What changes the stage

    def stage(self, state: State, i: int) -> MapStage:
        """What matters of the state to agent i. Keys that no locked door needs do not."""
        return self._stages[state.items, state.locked, i]

    def _find_stage(self, key: tuple[Sequence[int], int, int]) -> MapStage:
        items, locked, i = key
        doors = [(locked & those).bit_count() for those in self.doors_of]
        ground, held = 0, [0] * len(doors)
        for k, colour in enumerate(self.key_colour):
            if colour >= 0 and doors[colour]:
                if items[k] == GROUND and (i, k) not in self.world.forbidden:
                    ground |= 1 << k
                elif items[k] == i:
                    held[colour] = min(held[colour] + 1, doors[colour])
        return MapStage(ground, tuple(held), locked)

    def exits(self, goal: Goal, stage: MapStage) -> list[Exit[Action]]:
        """What reaches the goal, or changes the stage: picking up keys, opening doors, waiting for them to open."""
        item = self.item(goal)
        if item is not None:
            return [Exit(self.world.items[item].cell, 1, Action("pickup", item), final=True), *self.changes(stage)]
        opening = Action("unlock", target=goal.thing)
        return [e._replace(final=e.action == opening) for e in self.changes(stage)]

    def changes(self, stage: MapStage) -> list[Exit[Action]]:
        """What changes the stage, whatever the goal."""
        return self._changes[stage]

    def _find_changes(self, stage: MapStage) -> list[Exit[Action]]:
        return [*self._pickups(stage), *self._openings(stage)]

    def _pickups(self, stage: MapStage) -> Iterator[Exit[Action]]:
        for k, key in enumerate(self.world.keys):
            if stage.ground >> k & 1:
                yield Exit(key.cell, 1, Action("pickup", k))

    def _openings(self, stage: MapStage) -> Iterator[Exit[Action]]:
        for d, sides in enumerate(self.sides):
            if stage.locked >> d & 1 and stage.held[self.door_colour[d]]:
                yield from (Exit(side, 1, Action("unlock", target=d)) for side in sides)
            if stage.locked >> d & 1 and stage.expects_help:
                yield from (Exit(side, WAITING_COST, Action("stay", target=d)) for side in sides)

    def follow(self, stage: MapStage, action: Action) -> MapStage:
        """The stage after a action; keys that have become useless are forgotten, so that equal stages are equal."""
        ground, held, locked = stage.ground, list(stage.held), stage.locked
        if action.verb == "pickup":
            ground &= ~(1 << action.item)
            held[self.key_colour[action.item]] += 1
        else:
            locked &= ~(1 << action.target)
            held[self.door_colour[action.target]] -= action.verb == "unlock"
        for colour, doors in enumerate(self.doors_of):
            needed = (locked & doors).bit_count()
            held[colour] = min(held[colour], needed)
            if not needed:
                ground &= ~self.keys_of[colour]
        return MapStage(ground, tuple(held), locked, stage.expects_help)


def _where(colours: Sequence[int], colour: int) -> int:
    """The indices at which a colour stands, as bits."""
    return sum(1 << i for i, other in enumerate(colours) if other == colour)


NextStep = int | Action


class DoorsKeysGemsPlanner:
    """Exact costs-to-go in one world, for one agent while the others stand still; shared by all who plan in it.

    Q_g(s, a) = 1 + V_g(s′), in steps; V_g = 0 where the goal holds. (ProToM §3.1, eq. 4.)
    """

    def __init__(self, world: DoorsKeysGems) -> None:
        """Nothing is computed before it is asked for."""
        self.world = world
        self.map = LockedMap(world)
        self._costs: StagedCosts[Goal, MapStage, Action] = StagedCosts(self.map)
        self._action_costs = CachedTable(self._costs_of_actions)
        self._heads: dict[tuple[Goal, MapStage], CachedTable[int, NextStep]] = {}

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

    def stage_for(self, state: State, i: int, goal: Goal) -> MapStage:
        """The stage to plan in: a hopeful one if the agent's gem is out of its own reach (the paper is silent)."""
        stage = self.map.stage(state, i)
        if goal.kind == "gem" and self._costs.value(goal, stage, state.cells[i]) >= UNREACHABLE:
            return stage._replace(expects_help=True)
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

    def _cost_of(self, action: Action, state: State, i: int, goal: Goal, stage: MapStage) -> int:
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
            after = self.map.stage(self.world.apply(state, i, action), i)._replace(expects_help=stage.expects_help)
            return 1 + value(goal, after, here)
        elif stage.expects_help and self._waits(goal, stage, here):
            return value(goal, stage, here)
        return 1 + value(goal, stage, here)

    def _waits(self, goal: Goal, stage: MapStage, here: int) -> bool:
        """Whether it is best, here, to wait for some door next to the agent to be opened."""
        best = self._costs.value(goal, stage, here)
        return any(
            here in self.map.sides[d]
            and WAITING_COST + self._costs.value(goal, self.map.follow(stage, Action("stay", target=d)), here) == best
            for d in range(len(self.map.sides))
            if stage.locked >> d & 1
        )

    def _giving_costs(self, state: State, i: int, goal: Goal, options: tuple[Action, ...]) -> dict[Action, int]:
        row, here = self.map.distances_to(state.cells[goal.whom], state.locked), state.cells[i]
        offsets = self.world.grid.offsets
        costs = {a: 1 + until_given(row[here + offsets.get(a.verb, 0)]) for a in options}
        return {a: 1 if a == ("handover", goal.thing, goal.whom) else cost for a, cost in costs.items()}

    # One definite way

    def heads(self, goal: Goal, stage: MapStage) -> Mapping[int, NextStep]:
        """Where to head from each cell, ties broken in a fixed order: the next cell, the same one to wait, or a action.

        An unlocking action leaves open which fitting key is used.
        """
        found = self._heads.get((goal, stage))
        if found is None:
            found = self._heads[goal, stage] = CachedTable(lambda here: self._head(goal, stage, here))
        return found

    def _head(self, goal: Goal, stage: MapStage, here: int) -> NextStep:
        ways = self._costs.ways(goal, stage, here)
        if not ways:
            return here
        best = min(ways, key=lambda way: way.distance[here] + way.rest)
        if best.distance[here]:
            return self.toward(best.distance, here)
        return here if best.exit.action.verb == "stay" else best.exit.action

    def toward(self, distance: Sequence[int], here: int) -> int:
        """The first neighbouring cell that is a step nearer."""
        return next(cell for cell in self.world.grid.neighbours[here] if distance[cell] < distance[here])

    # Everything at once

    def fields(self, goals: Sequence[Goal], start: MapStage) -> tuple[list[MapStage], NDArray[np.int32]]:
        """V of every goal in every stage that can follow, for every cell: the stages, and shape (goals, stages, cells).

        The same numbers as `cost`, all at once; UNREACHABLE or more off the floor and where there is no way.
        Raises ValueError for a hopeful stage: here every action takes one step.
        """
        if start.expects_help:
            raise ValueError("fields are for agents that count on nobody")
        number = {start: 0}
        links = []
        for stage in (stages := [start]):
            after: dict[Action, int] = {}
            for place, _, action, _ in self.map.changes(stage):
                if action not in after:
                    next_stage = self.map.follow(stage, action)
                    after[action] = number.setdefault(next_stage, len(number))
                    stages += [next_stage] * (after[action] == len(stages))
                links.append((number[stage], after[action], place))
        floors = [self.map.floor(stage.locked) for stage in stages]
        finals = [
            [(s, e.place) for s, stage in enumerate(stages) for e in self.map.exits(g, stage) if e.final] for g in goals
        ]
        found = cost_fields(floors, self.world.grid.stride, links, finals)
        return stages, found[:, :, : self.world.grid.size]


def until_given(distance: int) -> int:
    """Steps until a thing is handed over: it takes a step between two people, so sharing a cell costs one more."""
    return 2 if distance == 0 else distance
