"""Perfect cooperation in Doors-Keys-Gems: the rules of a level in the terms of `joint_makespan`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from otherminds.planning.joint import ContextAction, JointPositions, joint_makespan
from otherminds.worlds.doors_keys_gems.planner import LockedMap
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems


class Context(NamedTuple):
    """All that changes in a joint plan besides where people stand."""

    ground: int
    held: tuple[tuple[int, ...], ...]
    locked: int
    have: int


class JointPlanner:
    """The rules of a level in the terms of `joint_makespan`; nobody touches a gem that another person wants."""

    def __init__(self, world: DoorsKeysGems) -> None:
        """Keys of a colour are interchangeable, and count only while a door of their colour is locked."""
        self.world = world
        self.map = LockedMap(world)
        self.floor = cache(self.map.floor)
        self.deeds = cache(lambda context, i: tuple(self._deeds(context, i)))

    def makespan(self, limit: int) -> int | None:
        """L*: the fewest steps until everybody has their gem, None if more than `limit`."""
        world, n = self.world, len(self.world.agents)
        return joint_makespan(
            JointPositions(world.grid.stride, world.grid.height, n),
            world.cells,
            self._tidy(
                Context(
                    ground=(1 << len(world.keys)) - 1,
                    held=((0,) * len(self.map.doors_of),) * n,
                    locked=(1 << len(world.doors)) - 1,
                    have=0,
                )
            ),
            floor=lambda context: self.floor(context.locked),
            deeds=self.deeds,
            done=lambda context: context.have == (1 << n) - 1,
            limit=limit,
        )

    def _deeds(self, context: Context, i: int) -> Iterator[ContextAction[Context]]:
        gem = self.world.gems[self.world.goals[i]]
        if not context.have >> i & 1:
            yield ContextAction(1 << gem.cell, context._replace(have=context.have | 1 << i))
        for k, key in enumerate(self.world.keys):
            if context.ground >> k & 1:
                taken = context._replace(ground=context.ground & ~(1 << k))
                yield ContextAction(1 << key.cell, self._tidy(_give(taken, i, self.map.key_colour[k], 1)))
        for d, colour in enumerate(self.map.door_colour):
            if context.locked >> d & 1 and context.held[i][colour]:
                opened = context._replace(locked=context.locked & ~(1 << d))
                sides = sum(1 << side for side in self.map.sides[d])
                yield ContextAction(sides, self._tidy(_give(opened, i, colour, -1)))
        for colour, count in enumerate(context.held[i]):
            if count:
                for j in range(len(context.held)):
                    if j != i:
                        passed = _give(_give(context, i, colour, -1), j, colour, 1)
                        yield ContextAction(0, self._tidy(passed), beside=j)

    def _tidy(self, context: Context) -> Context:
        """Forget keys that no locked door needs, so that equivalent contexts are equal."""
        needed = [(context.locked & doors).bit_count() for doors in self.map.doors_of]
        ground = context.ground & sum(keys for keys, doors in zip(self.map.keys_of, needed, strict=True) if doors)
        held = tuple(tuple(map(min, counts, needed)) for counts in context.held)
        return context._replace(ground=ground, held=held)


def _give(context: Context, i: int, colour: int, change: int) -> Context:
    counts = list(context.held[i])
    counts[colour] += change
    return context._replace(held=(*context.held[:i], tuple(counts), *context.held[i + 1 :]))
