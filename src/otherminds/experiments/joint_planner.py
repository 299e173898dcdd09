"""Perfect cooperation in Doors-Keys-Gems: the rules of a level in the terms of `joint_makespan`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from otherminds.planning.joint import Deed, JointPositions, joint_makespan
from otherminds.worlds.doors_keys_gems import DoorsKeysGems


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
        colours = sorted({door.colour for door in world.doors})
        self._doors = [sum(1 << d for d, door in enumerate(world.doors) if door.colour == colour) for colour in colours]
        self._key_colour = [colours.index(k.colour) if k.colour in colours else -1 for k in world.keys]
        self._door_colour = [colours.index(door.colour) for door in world.doors]
        self._sides = [sum(1 << cell for cell in world.grid.neighbours[door.cell]) for door in world.doors]
        self.floor = cache(self._floor)
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
                    held=((0,) * len(self._doors),) * n,
                    locked=(1 << len(world.doors)) - 1,
                    have=0,
                )
            ),
            floor=lambda context: self.floor(context.locked),
            deeds=self.deeds,
            done=lambda context: context.have == (1 << n) - 1,
            limit=limit,
        )

    def _floor(self, locked: int) -> int:
        doors = enumerate(self.world.doors)
        return self.world.grid.floor & ~sum(1 << door.cell for d, door in doors if locked >> d & 1)

    def _deeds(self, context: Context, i: int) -> Iterator[Deed[Context]]:
        gem = self.world.gems[self.world.goals[i]]
        if not context.have >> i & 1:
            yield Deed(1 << gem.cell, context._replace(have=context.have | 1 << i))
        for k, key in enumerate(self.world.keys):
            if context.ground >> k & 1:
                taken = context._replace(ground=context.ground & ~(1 << k))
                yield Deed(1 << key.cell, self._tidy(_give(taken, i, self._key_colour[k], 1)))
        for d, colour in enumerate(self._door_colour):
            if context.locked >> d & 1 and context.held[i][colour]:
                opened = context._replace(locked=context.locked & ~(1 << d))
                yield Deed(self._sides[d], self._tidy(_give(opened, i, colour, -1)))
        for colour, count in enumerate(context.held[i]):
            if count:
                for j in range(len(context.held)):
                    if j != i:
                        passed = _give(_give(context, i, colour, -1), j, colour, 1)
                        yield Deed(0, self._tidy(passed), beside=j)

    def _tidy(self, context: Context) -> Context:
        """Forget keys that no locked door needs, so that equivalent contexts are equal."""
        needed = [(context.locked & doors).bit_count() for doors in self._doors]
        ground = context.ground
        for k, colour in enumerate(self._key_colour):
            if colour < 0 or not needed[colour]:
                ground &= ~(1 << k)
        held = tuple(tuple(map(min, counts, needed)) for counts in context.held)
        return context._replace(ground=ground, held=held)


def _give(context: Context, i: int, colour: int, change: int) -> Context:
    counts = list(context.held[i])
    counts[colour] += change
    return context._replace(held=(*context.held[:i], tuple(counts), *context.held[i + 1 :]))
