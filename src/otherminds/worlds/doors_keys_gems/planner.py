"""Exact costs-to-go in Doors-Keys-Gems: the steps that every action leaves an agent to its goal.

To one agent a map with keys and locked doors is a map in stages: walking stays within a stage, picking up a key or
opening a door leads to the next one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.planning import shortest_paths
from otherminds.planning.expansion import Expansion
from otherminds.planning.shortest_paths import UNREACHABLE, Exit, StagedCosts, cached_method
from otherminds.worlds.doors_keys_gems.rules import GROUND, STAY, USED, Action, DoorsKeysGems, State

# Steps counted for a door that another agent has to open; chosen (ProToM does not say what a stuck agent does).
WAITING_COST = 100
# States that one planner may expand, in stages and rows of distances; chosen: about 3 kB each, and 20 s in all.
MOST_STATES = 150_000
ROW = 600  # cells of distances that take as much memory as a stage; measured
NEVER = -(1 << 40)  # in place of how many stages later one follows: less than minus all stages

NextStep = int | Action
"""The next cell on the way (the same cell to wait), or an action other than a move."""


class Goal(NamedTuple):
    """A goal g of an agent: to hold a `gem` or `key`, to have a `door` open, or to `give` a key to the `recipient`."""

    kind: str
    thing: int
    recipient: int = -1

    def __str__(self) -> str:
        return f"{self.kind} {self.thing}" + (f" for {self.recipient}" if self.recipient >= 0 else "")


class MapStage(NamedTuple):
    """All that decides an agent's way except its cell.

    ground: useful keys on the ground, as bits. held_keys: number of useful keys it holds, by colour. locked: locked
    doors, as bits. expects_help: whether it counts on other agents to open doors for it.
    """

    ground: int
    held_keys: tuple[int, ...]
    locked: int
    expects_help: bool = False

    @property
    def left(self) -> int:
        """How many keys can be picked up and doors be opened; every change leaves fewer."""
        return self.ground.bit_count() + self.locked.bit_count()


class LockedMap:
    """The stages of one world, for `StagedCosts`; everything is computed at first use and kept."""

    def __init__(self, world: DoorsKeysGems) -> None:
        """Keys of a colour are interchangeable once held, and matter only while a door of that colour is locked."""

        def bits(colours: Sequence[int], colour: int) -> int:
            return sum(1 << i for i, c in enumerate(colours) if c == colour)

        self.world = world
        colours = sorted({door.colour for door in world.doors})
        self.key_colour = [colours.index(k.colour) if k.colour in colours else -1 for k in world.keys]
        self.door_colour = [colours.index(door.colour) for door in world.doors]
        self.doors_of = [bits(self.door_colour, colour) for colour in range(len(colours))]
        self.keys_of = [bits(self.key_colour, colour) for colour in range(len(colours))]
        self.sides = [world.grid.neighbours[door.cell] for door in world.doors]
        self.all_doors = (1 << len(world.doors)) - 1
        things = len(world.doors) + sum(colour >= 0 for colour in self.key_colour)
        self.expansion = Expansion(MOST_STATES, 2**things * world.grid.floor.bit_count())

    # Walking

    def floor(self, locked: int) -> int:
        """The cells where one can stand with these doors locked, as bits."""
        doors = enumerate(self.world.doors)
        return self.world.grid.floor & ~sum(1 << door.cell for d, door in doors if locked >> d & 1)

    @cached_method
    def distances_to(self, place: int, locked: int) -> Sequence[int]:
        """Walking distance from every cell to `place` with these doors locked, in steps; UNREACHABLE without a way.

        A way goes through no open door, or through a last one: min(d(x, place), min_u d(x, u) + d(u, place)) for the
        open doors u, where distances between doors are those of all ways between them.
        """
        self.expansion.count(self.world.grid.size // ROW)
        steps = np.full(self.world.grid.size, UNREACHABLE, dtype=np.int32)
        if self.floor(locked) >> place & 1:
            steps = self._closed_distances(place)
            open_doors = [d for d in range(len(self.world.doors)) if not locked >> d & 1]
            if open_doors:
                onward = [1 + int(min(steps[self._beside[d]], default=UNREACHABLE)) for d in open_doors]
                onward = [
                    0 if self.world.doors[d].cell == place else n for d, n in zip(open_doors, onward, strict=True)
                ]
                through = (self._between_doors(locked) + onward).min(axis=1)
                by_door = self._door_distances[open_doors] + through[:, None].astype(np.int32)
                steps = np.minimum(steps, by_door.min(axis=0)).clip(max=UNREACHABLE)
        return array("i", steps.tobytes())

    @cached_property
    def _beside(self) -> list[list[int]]:
        """For each door, the cells beside it that are no doors."""
        return [[cell for cell in sides if cell not in self.world.door_at] for sides in self.sides]

    @cached_property
    def _closed_rows(self) -> Mapping[int, NDArray[np.int32]]:
        """Distances from every cell to each cell that matters and is no door, with all doors locked."""
        places = [item.cell for item in self.world.items] + [cell for sides in self._beside for cell in sides]
        places = [place for place in dict.fromkeys(places) if place not in self.world.door_at]
        return dict(zip(places, self._flooded(places), strict=True))

    def _flooded(self, places: Sequence[int]) -> NDArray[np.int32]:
        """Distances from every cell to these places with all doors locked, shape (places, cells)."""
        floor, grid = self.floor(self.all_doors), self.world.grid
        rows = np.full((len(places), grid.size), UNREACHABLE, dtype=np.int32)
        near = shortest_paths.distances(floor, grid.stride, places)[:, : grid.size]
        rows[:, : near.shape[1]] = near
        return rows

    def _closed_distances(self, place: int) -> NDArray[np.int32]:
        """Distances from every cell to a place with all doors locked, but one that stands there."""
        if place in self.world.door_at:
            return np.asarray(self._door_distances[self.world.door_at[place]])
        if place not in self._closed_rows:
            return np.asarray(self._flooded([place])[0])
        return self._closed_rows[place]

    @cached_property
    def _door_distances(self) -> NDArray[np.int32]:
        """Distances from every cell to each door with all other doors locked, shape (doors, cells)."""
        rows = np.full((len(self.world.doors), self.world.grid.size), UNREACHABLE, dtype=np.int32)
        for d, door in enumerate(self.world.doors):
            for cell in self._beside[d]:
                np.minimum(rows[d], self._closed_rows[cell] + 1, out=rows[d])
            rows[d, door.cell] = 0
        return rows.clip(max=UNREACHABLE)

    @cached_method
    def _between_doors(self, locked: int) -> NDArray[np.int64]:
        """Walking distances between the doors that are open, shape (open, open); by Floyd and Warshall."""
        open_doors = [d for d in range(len(self.world.doors)) if not locked >> d & 1]
        steps = np.full((len(open_doors),) * 2, UNREACHABLE)
        for i, d in enumerate(open_doors):
            for j, e in enumerate(open_doors):
                apart = 1 + min(self._door_distances[d][self._beside[e]], default=UNREACHABLE)
                steps[i, j] = 0 if d == e else 1 if self.world.doors[e].cell in self.sides[d] else apart
        for door in range(len(open_doors)):
            np.minimum(steps, steps[:, door, None] + steps[None, door], out=steps)
        return steps

    def distances(self, stage: MapStage, place: int) -> Sequence[int]:
        """Walking distance from every cell to `place` in this stage, in steps."""
        return self.distances_to(place, stage.locked)

    def regions(self, stage: MapStage) -> Sequence[int]:
        """A number for every cell, equal for cells between which one can walk in this stage."""
        return self._regions(stage.locked)

    @cached_method
    def _regions(self, locked: int) -> Sequence[int]:
        """`regions` with these doors locked: an open door joins the regions beside it."""
        numbers = self._closed_regions.copy()
        for d, door in enumerate(self.world.doors):
            if not locked >> d & 1:
                joined = {int(numbers[cell]) for cell in self.sides[d]} - {-1}
                number = self.world.grid.size + d
                numbers[np.isin(numbers, [*joined])] = number
                numbers[door.cell] = number
        return [int(number) for number in numbers]

    @cached_property
    def _closed_regions(self) -> NDArray[np.int64]:
        """`regions` with all doors locked."""
        grid = self.world.grid
        return np.array(shortest_paths.regions(self.floor(self.all_doors), grid.stride, grid.size))

    @cached_method
    def bounds(self, goal: Goal) -> Sequence[int]:
        """A lower bound of the cost-to-go from every cell: the steps to the goal if all doors were open."""
        rows = [self.distances_to(place, 0) for place in self.ends(goal)]
        unreachable = [UNREACHABLE] * self.world.grid.size
        return [1 + min(steps) for steps in zip(unreachable, *rows, strict=False)]

    @cached_method
    def bound(self, goal: Goal, stage: MapStage, place: int) -> int:
        """A lower bound of the cost-to-go from a place in this stage.

        A plan opens no doors but those that keys in hand fit, or it first fetches a key of another colour and opens a
        door with it. If the goal is a door, a key of its colour has to be fetched in any case.
        """
        needed = self.door_colour[goal.thing] if goal.kind == "door" else None
        if needed is not None and stage.held_keys[needed]:
            needed = None
        fitting = sum(doors for doors, held in zip(self.doors_of, stage.held_keys, strict=True) if held)
        locked, least = stage.locked & ~fitting, self.bounds(goal)[place]
        missing = [(k, c) for k, c in enumerate(self.key_colour) if stage.ground >> k & 1 and not stage.held_keys[c]]
        if needed is None:
            steps = 1 + min([self.distances_to(end, locked)[place] for end in self.ends(goal)], default=UNREACHABLE)
        else:
            keys = [k for k, c in missing if c == needed]
            steps = min([self._fetching(goal, k, place, locked) for k in keys], default=UNREACHABLE)
            least = min([self._fetching(goal, k, place, 0) for k in keys], default=UNREACHABLE)
        for k, c in missing:
            if c != needed and least < steps:
                start = self.world.keys[k].cell
                way = self.distances_to(start, 0)[place] + 1
                steps = min(steps, max(least, way + self._opening(goal, start, stage.locked & self.doors_of[c])))
        return min(steps, WAITING_COST + self.bounds(goal)[place]) if stage.expects_help else steps

    def _fetching(self, goal: Goal, k: int, place: int, locked: int) -> int:
        """Least steps to fetch key k and open the door that is the goal, if only doors of its colour can be opened."""
        start, opened = self.world.keys[k].cell, locked & ~self.doors_of[self.key_colour[k]]
        onward = min([self.distances_to(side, opened)[start] for side in self.ends(goal)], default=UNREACHABLE)
        return self.distances_to(start, locked)[place] + 1 + onward + 1

    @cached_method
    def _opening(self, goal: Goal, start: int, doors: int) -> int:
        """Least steps from a cell to the goal if one of these doors is opened on the way."""
        ways = [
            self.distances_to(side, 0)[start] + (1 if goal == ("door", d, -1) else 1 + self.bounds(goal)[side])
            for d, sides in enumerate(self.sides)
            if doors >> d & 1
            for side in sides
        ]
        return min(ways, default=UNREACHABLE)

    def ends(self, goal: Goal) -> Sequence[int]:
        """The cells in which the last step to the goal is taken."""
        item = self.item(goal)
        return self.sides[goal.thing] if item is None else (self.world.items[item].cell,)

    def item(self, goal: Goal) -> int | None:
        """The item that a goal is about; None for a door."""
        if goal.kind == "door":
            return None
        return goal.thing + (len(self.world.keys) if goal.kind == "gem" else 0)

    # Changing the stage

    def stage(self, state: State, i: int) -> MapStage:
        """The stage that agent i is in; keys that no locked door needs are left out."""
        return self._stage(state.items, state.locked, i)

    @cached_method
    def _stage(self, items: Sequence[int], locked: int, i: int) -> MapStage:
        """`stage` for the parts of a state that it depends on; cached."""
        door_counts = [(locked & same_colour).bit_count() for same_colour in self.doors_of]
        ground = 0
        key_counts = [0] * len(door_counts)
        for k, colour in enumerate(self.key_colour):
            if colour >= 0 and door_counts[colour]:
                if items[k] == GROUND and (i, k) not in self.world.forbidden:
                    ground |= 1 << k
                elif items[k] == i:
                    key_counts[colour] = min(key_counts[colour] + 1, door_counts[colour])
        return MapStage(ground, tuple(key_counts), locked)

    def exits(self, goal: Goal, stage: MapStage) -> list[Exit[Action]]:
        """The actions that reach the goal or change the stage: pick up keys, open doors, wait for doors to open."""
        item = self.item(goal)
        if item is not None:
            return [Exit(self.world.items[item].cell, 1, Action("pickup", item), final=True), *self.changes(stage)]
        opening = Action("unlock", target=goal.thing)
        return [e._replace(final=e.action == opening) for e in self.changes(stage)]

    @cached_method
    def changes(self, stage: MapStage) -> list[Exit[Action]]:
        """The actions that change the stage, for any goal."""
        exits = [
            Exit(key.cell, 1, Action("pickup", k)) for k, key in enumerate(self.world.keys) if stage.ground >> k & 1
        ]
        for d, sides in enumerate(self.sides):
            if stage.locked >> d & 1 and stage.held_keys[self.door_colour[d]]:
                unlock = Action("unlock", target=d)
                exits += [Exit(side, 1, unlock) for side in sides]
            if stage.locked >> d & 1 and stage.expects_help:
                exits += [Exit(side, WAITING_COST, Action("stay", target=d)) for side in sides]
        return exits

    @cached_method
    def follow(self, stage: MapStage, action: Action) -> MapStage:
        """The stage after an action; keys that have become useless are forgotten, so that equal stages are equal."""
        ground, held, locked = stage.ground, stage.held_keys, stage.locked
        if action.verb == "pickup":
            ground &= ~(1 << action.item)
            colour = self.key_colour[action.item]
        else:
            locked &= ~(1 << action.target)
            colour = self.door_colour[action.target]
        count = held[colour] + (action.verb == "pickup") - (action.verb == "unlock")
        ground, count, locked = self._useful(colour, ground, count, locked)
        return MapStage(ground, (*held[:colour], count, *held[colour + 1 :]), locked, stage.expects_help)

    def _useful(self, colour: int, ground: int, held: int, locked: int) -> tuple[int, int, int]:
        """Keys on the ground, the number held of a colour, and locked doors, without useless keys of that colour."""
        needed = (locked & self.doors_of[colour]).bit_count()
        return ground if needed else ground & ~self.keys_of[colour], min(held, needed), locked

    # All stages at once

    @cached_property
    def places(self) -> Mapping[Action, int]:
        """The cells of the keys that fit a door, then of the doors, by the actions that change the stage there."""
        keys = {Action("pickup", k): key.cell for k, key in enumerate(self.world.keys) if self.key_colour[k] >= 0}
        return keys | {Action("unlock", target=d): door.cell for d, door in enumerate(self.world.doors)}

    def ways(self, goals: Sequence[Goal]) -> NDArray[np.int32]:
        """Distances from every cell to the `places`, then to the goals, past no other door; UNREACHABLE without a way.

        The shape is (places + goals, cells). Distances from a door's cell are those with this door open. A way to a
        door ends on it; if the door is the goal, beside it.
        """
        ends = [self.world.doors[g.thing] if (i := self.item(g)) is None else self.world.items[i] for g in goals]
        cells, grid = [*self.places.values(), *(end.cell for end in ends)], self.world.grid
        ways = np.full((len(cells), grid.size), UNREACHABLE, dtype=np.int32)
        near = shortest_paths.distances(self.floor(self.all_doors), grid.stride, cells)[:, : grid.size]
        ways[:, : near.shape[1]] = near
        steps = [1 + np.minimum.reduce(ways[:, sides], axis=1, initial=UNREACHABLE) for sides in self.sides]
        for door, from_door in zip(self.world.doors, steps, strict=True):
            np.minimum(ways[:, door.cell], from_door, out=ways[:, door.cell])
        is_door = [action.verb == "unlock" for action in self.places] + [self.item(goal) is None for goal in goals]
        for n, cell in enumerate(cells):
            if cell in self.world.door_at and not is_door[n]:  # an item that lies in a door
                ways[n], ways[n, cell] = UNREACHABLE, 0
            elif is_door[n] and n >= len(self.places):
                ways[n] -= ways[n] < UNREACHABLE
        return ways

    def following(self, start: MapStage) -> tuple[list[MapStage], NDArray[np.int64]]:
        """All stages that can follow, those in which the most is left first, and which follow which.

        The latter is the number of the stage after each action of `places`, −1 for none, shape (stages, places). Keys
        and doors of one colour change without regard to those of others: the stages are all combinations.
        """
        colours = [self.key_colour[a.item] if a.verb == "pickup" else self.door_colour[a.target] for a in self.places]
        found: list[list[tuple[int, int, int]]] = []
        tables: list[list[list[int]]] = []
        for colour, doors in enumerate(self.doors_of):
            own = [(column, action) for column, action in enumerate(self.places) if colours[column] == colour]
            parts = [(start.ground & self.keys_of[colour], start.held_keys[colour], start.locked & doors)]
            numbers, nothing = {parts[0]: 0}, [NEVER if c == colour else 0 for c in colours]
            table: list[list[int]] = []  # how many parts later the one after each action is
            for n, (ground, held, locked) in enumerate(parts):
                table.append(nothing.copy())
                for column, (verb, item, door) in own:
                    if verb == "pickup" and ground >> item & 1:
                        after = self._useful(colour, ground ^ 1 << item, held + 1, locked)
                    elif verb == "unlock" and held and locked >> door & 1 and self.sides[door]:
                        after = self._useful(colour, ground, held - 1, locked ^ 1 << door)
                    else:
                        continue
                    table[n][column] = numbers.setdefault(after, len(parts)) - n
                    if len(numbers) > len(parts):
                        parts.append(after)
                if len(parts) > self.expansion.most:
                    self.expansion.count(len(parts))  # which refuses
            found.append(parts)
            tables.append(table)
        self.expansion.count(math.prod(map(len, found)))
        stages, later = [MapStage(0, (), 0)], np.zeros((1, len(colours)), dtype=np.int64)
        for parts, table in zip(found, tables, strict=True):
            stages = [
                MapStage(s.ground | ground, (*s.held_keys, held), s.locked | locked)
                for s in stages
                for ground, held, locked in parts
            ]
            later = (len(parts) * later[:, None] + np.array(table)).reshape(-1, len(colours))
        order = sorted(range(len(stages)), key=lambda s: -stages[s].left)
        rank = np.full(len(stages) + 1, -1)
        rank[order] = np.arange(len(stages))
        following = np.maximum(np.arange(len(stages))[:, None] + later, -1)
        return [stages[s] for s in order], rank[following[order]]


class DoorsKeysGemsPlanner:
    """Exact costs-to-go in one world, for one agent while the others stand still; shared by all minds that plan in it.

    Q_g(s, a) = 1 + V_g(s′), in steps; V_g = 0 where the goal holds. (ProToM §3.1, eq. 4.)
    """

    def __init__(self, world: DoorsKeysGems) -> None:
        """Everything is computed at first use."""
        self.world = world
        self.map = LockedMap(world)
        self._costs: StagedCosts[Goal, MapStage, Action] = StagedCosts(self.map, self.map.expansion)

    def __repr__(self) -> str:
        return f"DoorsKeysGemsPlanner({self.world!r})"

    def words(self, goal: Goal) -> str:
        """The goal by the colour of its thing, as `blue gem` or `red key for Ana`."""
        world = self.world
        things = {"gem": world.gems, "door": world.doors}.get(goal.kind, world.keys)
        kind = "key" if goal.kind == "give" else goal.kind
        named = f"{things[goal.thing].colour} {kind}"
        return f"{named} for {world.agents[goal.recipient]}" if goal.kind == "give" else named

    # Values

    def achieved(self, state: State, i: int, goal: Goal) -> bool:
        """Whether the goal holds."""
        item = self.map.item(goal)
        if item is None:
            return not state.locked >> goal.thing & 1
        return state.items[item] in ((goal.recipient, USED) if goal.kind == "give" else (i,))

    def available(self, state: State, i: int, goal: Goal) -> bool:
        """Whether the item of the goal can still be had: it is on the ground or, to give it, in the agent's hands."""
        item = self.map.item(goal)
        if item is None:
            return True
        if state.items[item] == GROUND:
            return (i, item) not in self.world.forbidden
        return goal.kind == "give" and state.items[item] == i

    def cost(self, state: State, i: int, goal: Goal) -> int:
        """V: steps agent i needs alone until the goal holds; UNREACHABLE or more if it cannot reach the goal alone.

        To `give` a key that is still on the ground counts the way to the key only, and a key in hand is carried through
        open doors only: where the other agent will be then is unknown.
        """
        if self.achieved(state, i, goal):
            return 0
        if not self.available(state, i, goal):
            return UNREACHABLE
        if goal.kind == "give":
            if state.items[goal.thing] == i:
                return steps_to_give(self.map.distances_to(state.cells[goal.recipient], state.locked)[state.cells[i]])
            goal = Goal("key", goal.thing)
        return self._costs.value(goal, self.map.stage(state, i), state.cells[i])

    def settled(self, state: State, i: int, goal: Goal) -> bool:
        """Whether agent i has nothing left to do: the goal holds, or it cannot reach the goal alone."""
        return not 0 < self.cost(state, i, goal) < UNREACHABLE

    def stage_for(self, state: State, i: int, goal: Goal) -> MapStage:
        """The stage to plan in; the agent expects help if it cannot reach its gem alone (not specified in ProToM)."""
        stage = self.map.stage(state, i)
        if goal.kind == "gem" and self._costs.value(goal, stage, state.cells[i]) >= UNREACHABLE:
            return stage._replace(expects_help=True)
        return stage

    @cached_method
    def action_costs(self, state: State, i: int, goal: Goal) -> Mapping[Action, int]:
        """Q(s, a) = 1 + V(s′), in steps, for every action of agent i, the others standing still.

        Waiting costs nothing where the goal is reached, and where the agent waits for a door to be opened.
        """
        options = self.world.actions(state, self.world.agents[i])
        if self.achieved(state, i, goal) or not self.available(state, i, goal):
            return {action: int(action != STAY) for action in options}
        if goal.kind == "give":
            if state.items[goal.thing] == i:
                distance = self.map.distances_to(state.cells[goal.recipient], state.locked)
                giving = Action("handover", goal.thing, goal.recipient)
                heads = {a: state.cells[i] + self.world.grid.offsets.get(a.verb, 0) for a in options}
                return {a: 1 if a == giving else 1 + steps_to_give(distance[head]) for a, head in heads.items()}
            goal = Goal("key", goal.thing)
        stage = self.stage_for(state, i, goal)
        return {action: self._cost_of(action, state, i, goal, stage) for action in options}

    @cached_method
    def policy(self, state: State, i: int, goal: Goal, beta: float, lapse: float) -> Categorical[Action]:
        """What agent i does if it wants the goal: the Boltzmann policy of its `action_costs`."""
        return Categorical.boltzmann(self.action_costs(state, i, goal).items(), beta=beta, lapse=lapse)

    def _cost_of(self, action: Action, state: State, i: int, goal: Goal, stage: MapStage) -> int:
        """Q(s, a) of one action, in steps, if the goal is yet to be reached and the agent plans in this stage."""
        cell = state.cells[i]
        value = self._costs.value
        if action.verb in self.world.grid.offsets:
            return 1 + value(goal, stage, cell + self.world.grid.offsets[action.verb])
        if action.verb == "pickup":
            if action.item == self.map.item(goal):
                return 1
            if action.item < len(self.world.keys) and stage.ground >> action.item & 1:
                return 1 + value(goal, self.map.follow(stage, action), cell)
        elif action.verb == "unlock":
            if goal == ("door", action.target, -1):
                return 1
            return 1 + value(goal, self.map.follow(stage, action), cell)
        elif action.verb == "handover":
            after = self.map.stage(self.world.apply(state, i, action), i)._replace(expects_help=stage.expects_help)
            return 1 + value(goal, after, cell)
        elif stage.expects_help and self._best_to_wait(goal, stage, cell):
            return value(goal, stage, cell)
        return 1 + value(goal, stage, cell)

    def _best_to_wait(self, goal: Goal, stage: MapStage, cell: int) -> bool:
        """Whether the best plan from here is to wait until a door beside the agent is opened."""
        best = self._costs.value(goal, stage, cell)
        return any(
            WAITING_COST + self._costs.value(goal, self.map.follow(stage, Action("stay", target=d)), cell) == best
            for d, sides in enumerate(self.map.sides)
            if cell in sides and stage.locked >> d & 1
        )

    # One definite way

    @cached_method
    def next_steps(self, goal: Goal, stage: MapStage) -> Callable[[int], NextStep]:
        """The best next step as a function of the cell, ties broken in a fixed order.

        An action that opens a door leaves open which fitting key is used.
        """
        return cache(partial(self._next_step, goal, stage))

    def _next_step(self, goal: Goal, stage: MapStage, cell: int) -> NextStep:
        """The best next step from a cell: a cell beside it, the same cell if there is nothing to do, or an action."""
        paths = self._costs.paths(goal, stage, cell)
        if not paths:
            return cell
        best = min(paths, key=lambda path: path.distance[cell] + path.rest)
        if best.distance[cell]:
            return self.toward(best.distance, cell)
        return cell if best.exit.action.verb == "stay" else best.exit.action

    def toward(self, distance: Sequence[int], start: int) -> int:
        """The first neighbouring cell that is one step nearer."""
        return next(cell for cell in self.world.grid.neighbours[start] if distance[cell] < distance[start])

    # All values at once

    def fields(self, goals: Sequence[Goal], start: MapStage) -> tuple[list[MapStage], NDArray[np.int32]]:
        """The stages that can follow `start`, which is the first, and V in steps, shape (goals, stages, cells).

        The same numbers as `cost`, computed together; UNREACHABLE or more off the floor and without a way. They are
        those of plans that open a door only to step into it at once, and none is shorter. Raises ValueError for a stage
        in which the agent expects help: here every action takes one step.
        """
        if start.expects_help:
            raise ValueError("fields are for agents that expect no help")
        stages, after = self.map.following(start)
        columns, cells, doors = [*self.map.places], [*self.map.places.values()], range(len(self.world.doors))
        sets: dict[int, int] = {}
        which = np.array([sets.setdefault(stage.locked, len(sets)) for stage in stages])
        is_open = np.zeros((len(sets), len(cells)), dtype=bool)
        is_open[:, len(cells) - len(doors) :] = [[not locked >> d & 1 for d in doors] for locked in sets]
        last = np.ones((len(goals), len(stages)), dtype=np.int32)
        for g, goal in enumerate(goals):
            if self.map.item(goal) is None:
                last[g, after[:, columns.index(Action("unlock", target=goal.thing))] < 0] = 2 * UNREACHABLE
        left, ways = [stage.left for stage in stages], self.map.ways(goals)
        costs = shortest_paths.cost_fields(ways, cells, is_open, which, left, after, last)
        for d in doors:
            costs[:, ~is_open[which, d - len(doors)], self.world.doors[d].cell] = 1 + UNREACHABLE
        return stages, costs


def steps_to_give(distance: int) -> int:
    """Steps until an item is handed over; agents that share a cell first take a step apart."""
    return 2 if distance == 0 else distance
