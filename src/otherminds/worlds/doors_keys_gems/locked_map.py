"""What a map with keys and locked doors is to one agent: walking within stages, deeds between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from otherminds.planning.shortest_paths import UNREACHABLE, distances, regions
from otherminds.planning.values import Exit, Table
from otherminds.worlds.doors_keys_gems.rules import GROUND, Action, DoorsKeysGems, State

HOPE = 100


class Goal(NamedTuple):
    """What somebody may be after, g: to have a `gem` or a `key`, a `door` open, or to `give` a key to someone."""

    kind: str
    thing: int
    whom: int = -1


class Stage(NamedTuple):
    """All that matters to one agent's way besides where it stands.

    ground: useful keys on the ground, as bits. held: how many useful keys it holds, by colour. locked: doors,
    as bits. hope: whether it counts on somebody opening doors for it.
    """

    ground: int
    held: tuple[int, ...]
    locked: int
    hope: bool = False


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
        self._regions = Table(self._find_regions)
        self._bounds = Table(self._find_bounds)
        self._stages = Table(self._find_stage)
        self._changes = Table(self._find_changes)

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

    def distances(self, stage: Stage, place: int) -> Sequence[int]:
        """Steps on foot to `place` from every cell, in this stage."""
        return self.distances_to(place, stage.locked)

    def regions(self, stage: Stage) -> Sequence[int]:
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

    def stage(self, state: State, i: int) -> Stage:
        """What matters of the state to agent i. Keys that no locked door needs do not."""
        return self._stages[state.items, state.locked, i]

    def _find_stage(self, key: tuple[Sequence[int], int, int]) -> Stage:
        items, locked, i = key
        doors = [(locked & those).bit_count() for those in self.doors_of]
        ground, held = 0, [0] * len(doors)
        for k, colour in enumerate(self.key_colour):
            if colour >= 0 and doors[colour]:
                if items[k] == GROUND and (i, k) not in self.world.forbidden:
                    ground |= 1 << k
                elif items[k] == i:
                    held[colour] = min(held[colour] + 1, doors[colour])
        return Stage(ground, tuple(held), locked)

    def exits(self, goal: Goal, stage: Stage) -> list[Exit[Action]]:
        """What reaches the goal, or changes the stage: picking up keys, opening doors, waiting for them to open."""
        item = self.item(goal)
        if item is not None:
            return [Exit(self.world.items[item].cell, 1, Action("pickup", item), final=True), *self.changes(stage)]
        opening = Action("unlock", target=goal.thing)
        return [e._replace(final=e.deed == opening) for e in self.changes(stage)]

    def changes(self, stage: Stage) -> list[Exit[Action]]:
        """What changes the stage, whatever the goal."""
        return self._changes[stage]

    def _find_changes(self, stage: Stage) -> list[Exit[Action]]:
        return [*self._pickups(stage), *self._openings(stage)]

    def _pickups(self, stage: Stage) -> Iterator[Exit[Action]]:
        for k, key in enumerate(self.world.keys):
            if stage.ground >> k & 1:
                yield Exit(key.cell, 1, Action("pickup", k))

    def _openings(self, stage: Stage) -> Iterator[Exit[Action]]:
        for d, sides in enumerate(self.sides):
            if stage.locked >> d & 1 and stage.held[self.door_colour[d]]:
                yield from (Exit(side, 1, Action("unlock", target=d)) for side in sides)
            if stage.locked >> d & 1 and stage.hope:
                yield from (Exit(side, HOPE, Action("stay", target=d)) for side in sides)

    def follow(self, stage: Stage, deed: Action) -> Stage:
        """The stage after a deed; keys that have become useless are forgotten, so that equal stages are equal."""
        ground, held, locked = stage.ground, list(stage.held), stage.locked
        if deed.verb == "pickup":
            ground &= ~(1 << deed.item)
            held[self.key_colour[deed.item]] += 1
        else:
            locked &= ~(1 << deed.target)
            held[self.door_colour[deed.target]] -= deed.verb == "unlock"
        for colour, doors in enumerate(self.doors_of):
            needed = (locked & doors).bit_count()
            held[colour] = min(held[colour], needed)
            if not needed:
                ground &= ~self.keys_of[colour]
        return Stage(ground, tuple(held), locked, stage.hope)


def _where(colours: Sequence[int], colour: int) -> int:
    """The indices at which a colour stands, as bits."""
    return sum(1 << i for i, other in enumerate(colours) if other == colour)
