"""Exact costs-to-go for an agent that walks a map which changes only at a few places."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from otherminds.planning.shortest_paths import UNREACHABLE

G = TypeVar("G", bound=Hashable)
C = TypeVar("C", bound=Hashable)
D = TypeVar("D")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
G_contra = TypeVar("G_contra", bound=Hashable, contravariant=True)


class Table(dict[K, V]):
    """A table that is filled in as it is asked for: `table[key]` is worked out once."""

    def __init__(self, find: Callable[[K], V]) -> None:
        """`find(key)` is the entry of a key that has not been asked for before."""
        super().__init__()
        self._find = find

    def __missing__(self, key: K) -> V:
        found = self[key] = self._find(key)
        return found


class Exit(NamedTuple, Generic[D]):
    """Something to do at a place: its cost in steps, the deed itself, and whether it reaches the goal."""

    place: int
    cost: int
    deed: D
    final: bool = False


class Way(NamedTuple, Generic[D]):
    """An exit with its distance from every cell and its cost-to-go, the deed included."""

    distance: Sequence[int]
    rest: int
    exit: Exit[D]


class StagedMap(Protocol[G_contra, C, D]):
    """A map in stages: walking never changes the stage, deeds do, and no stage ever comes back."""

    def exits(self, goal: G_contra, stage: C) -> Iterable[Exit[D]]:
        """What can be done in a stage, wherever that is."""
        ...

    def follow(self, stage: C, deed: D) -> C:
        """The stage after a deed."""
        ...

    def distances(self, stage: C, place: int) -> Sequence[int]:
        """Steps on foot from every cell to a place."""
        ...

    def regions(self, stage: C) -> Sequence[int]:
        """A number for every cell, the same for cells between which one can walk."""
        ...

    def bounds(self, goal: G_contra) -> Sequence[int]:
        """For every cell a number of steps that the goal takes at least, in any stage; consistent along walks."""
        ...


class StagedCosts(Generic[G, C, D]):
    """Costs-to-go V(goal, stage, cell), filled in as they are asked for and kept.

    Within a stage the agent walks at unit cost through the region it is in; at an exit it changes the stage for
    good (it picks up a key, opens a door). The value of a stage follows from those after it, without iteration:

        V(g, c, x) = min over exits e of c in the region of x  [ d_c(x, place_e) + cost_e + V(g, after_e, place_e) ]
    """

    def __init__(self, stages: StagedMap[G, C, D]) -> None:
        """Nothing is computed before it is asked for."""
        self._stages = stages
        self._ways: Table[tuple[G, C, int], list[Way[D]]] = Table(self._find_ways)

    def ways(self, goal: G, stage: C, cell: int) -> list[Way[D]]:
        """The exits that can be walked to from the cell and lead to the goal; those that never pay are left out."""
        return self._ways[goal, stage, self._stages.regions(stage)[cell]]

    def _find_ways(self, key: tuple[G, C, int]) -> list[Way[D]]:
        goal, stage, region = key
        regions, bounds = self._stages.regions(stage), self._stages.bounds(goal)
        near = [e for e in self._stages.exits(goal, stage) if regions[e.place] == region]
        near.sort(key=lambda e: 0 if e.final else e.cost + bounds[e.place])
        found: list[Way[D]] = []
        for leave in near:
            self._consider(found, leave, goal, stage, bounds)
        return found

    def _consider(self, found: list[Way[D]], leave: Exit[D], goal: G, stage: C, bounds: Sequence[int]) -> None:
        """Add an exit unless it cannot be better from anywhere: going on from its place to a known one is no worse."""
        place = leave.place
        at_least = leave.cost + (0 if leave.final else bounds[place])
        if any(way.distance[place] + way.rest <= at_least for way in found):
            return
        rest = leave.cost
        if not leave.final:
            rest += self.value(goal, self._stages.follow(stage, leave.deed), place)
        if rest < UNREACHABLE:
            found.append(Way(self._stages.distances(stage, place), rest, leave))

    def value(self, goal: G, stage: C, cell: int) -> int:
        """Steps from the cell to the goal; UNREACHABLE or more if there is no way."""
        return min([distance[cell] + rest for distance, rest, _ in self.ways(goal, stage, cell)], default=UNREACHABLE)
