"""Shortest paths: all distances at once over sets of cells held as big integers, and maps in stages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, cached_property
from types import MethodType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.expansion import Expansion

G = TypeVar("G", bound=Hashable)
C = TypeVar("C", bound=Hashable)
D = TypeVar("D")
F = TypeVar("F", bound=Callable[..., Any])
G_contra = TypeVar("G_contra", bound=Hashable, contravariant=True)

UNREACHABLE = 1 << 20  # more steps than any path takes


def distances(floor: int, stride: int, sources: Sequence[int]) -> NDArray[np.int32]:
    """Walking distances d(source, cell) in steps, shape (sources, cells); UNREACHABLE without a way.

    `floor` is the set of cells to walk on, among them the sources; `stride` is the difference between a cell and the
    one below it.
    """
    return cost_fields([floor], stride, (), [[(0, source)] for source in sources])[:, 0] - 1


def cost_fields(
    floors: Sequence[int],
    stride: int,
    links: Iterable[tuple[int, int, int]],
    targets: Sequence[Iterable[tuple[int, int]]],
) -> NDArray[np.int32]:
    """Costs-to-go of several goals in all stages of a map at once, in steps, shape (goals, stages, cells).

    `floors[s]` is the set of cells to walk on in stage s. A link (s, s′, cell) is an action of one step in that cell
    that leads from stage s to s′. A target (s, cell) of a goal is where its last step is taken. All goals and stages
    are planes of one big integer, searched breadth first, backwards from the targets; links with the same s′ − s move
    together.
    """
    span, stages = max(floor.bit_length() for floor in floors) + stride, len(floors)
    goals = sum(1 << span * stages * g for g in range(len(targets)))
    floor = sum(f << span * s for s, f in enumerate(floors)) * goals
    front = (
        sum(1 << span * (stages * g + s) + cell for g, where in enumerate(targets) for s, cell in set(where)) & floor
    )
    together: dict[int, int] = {}
    for before, after, cell in links:
        shift = span * (after - before)
        together[shift] = together.get(shift, 0) | 1 << span * before + cell
    actions = [(shift, cells * goals) for shift, cells in together.items()]

    def back(front: int) -> int:
        predecessors = front << 1 | front >> 1 | front << stride | front >> stride
        for shift, cells in actions:
            predecessors |= (front >> shift if shift > 0 else front << -shift) & cells
        return predecessors

    return 1 + _flood(front, floor, back, len(targets) * stages * span).reshape(len(targets), stages, span)


def _flood(front: int, floor: int, grow: Callable[[int], int], size: int) -> NDArray[np.int32]:
    """For each bit of the floor, how many times `front` has to grow to contain it; UNREACHABLE if it never does.

    The layer count is kept in Gray code: going from layer t to t + 1 flips one of its bits, so a single XOR with
    what is not yet reached writes every distance.
    """
    unreached = floor & ~front
    counters: list[int] = []
    layer = 0
    while unreached:
        front = grow(front) & unreached
        layer += 1
        bit = (layer & -layer).bit_length() - 1
        if bit == len(counters):
            counters.append(0)
        counters[bit] ^= unreached
        if not front:
            break
        unreached ^= front
    codes = np.zeros(size, dtype=np.int32)
    binary = np.zeros(size, dtype=np.uint8)
    for bit in reversed(range(len(counters))):
        binary ^= _unpack(counters[bit], size)
        codes |= binary.astype(np.int32) << bit
    never = unreached | ((1 << size) - 1 ^ floor)
    codes[_unpack(never, size).astype(bool)] = UNREACHABLE
    return codes


def _unpack(bits: int, size: int) -> NDArray[np.uint8]:
    """The lowest `size` bits of a number as an array of 0 and 1, the lowest first."""
    raw = np.frombuffer(bits.to_bytes(-(-size // 8), "little"), dtype=np.uint8)
    return np.unpackbits(raw, count=size, bitorder="little")


def regions(floor: int, stride: int, size: int) -> list[int]:
    """A number for every cell, equal for two floor cells if one can walk between them; −1 off the floor."""
    numbers = [-1] * size
    remaining = floor
    while remaining:
        front = region = remaining & -remaining
        while front:
            front = (front << 1 | front >> 1 | front << stride | front >> stride) & floor & ~region
            region |= front
        remaining &= ~region
        number = region.bit_length()
        while region:
            cell = region.bit_length() - 1
            numbers[cell] = number
            region ^= 1 << cell
    return numbers


def cached_method(method: F) -> F:
    """A method that keeps its results in its object, by its arguments, which must be hashable."""
    return cast("F", cached_property(lambda instance: cache(MethodType(method, instance))))


class Exit(NamedTuple, Generic[D]):
    """An action that changes the stage: its cell, its cost in steps, and whether it reaches the goal."""

    place: int
    cost: int
    action: D
    final: bool = False


class ExitPath(NamedTuple, Generic[D]):
    """The way through an exit: walking distances from every cell, and the cost-to-go from there with the action."""

    distance: Sequence[int]
    rest: int
    exit: Exit[D]


class StagedMap(Protocol[G_contra, C, D]):
    """A map in stages: walking never changes the stage, certain actions do, and no stage ever returns."""

    def exits(self, goal: G_contra, stage: C) -> Iterable[Exit[D]]:
        """All actions of a stage that change it or reach the goal."""

    def follow(self, stage: C, action: D) -> C:
        """The stage after an action."""

    def distances(self, stage: C, place: int) -> Sequence[int]:
        """Walking distance from every cell to a place, in steps."""

    def regions(self, stage: C) -> Sequence[int]:
        """A number for every cell, equal for cells between which one can walk."""

    def bounds(self, goal: G_contra) -> Sequence[int]:
        """A lower bound of the steps to the goal from every cell, valid in every stage."""

    def bound(self, goal: G_contra, stage: C, place: int) -> int:
        """A lower bound of the steps to the goal from a place in this stage."""


class StagedCosts(Generic[G, C, D]):
    """Costs-to-go V(goal, stage, cell), computed at first use and kept.

    Within a stage the agent walks at unit cost through its region; at an exit it changes the stage for good (it picks
    up a key, opens a door). The value of a stage follows from those of later stages, without iteration:

        V(g, c, x) = min over exits e of c in the region of x  [ d_c(x, place_e) + cost_e + V(g, after_e, place_e) ]
    """

    def __init__(self, stages: StagedMap[G, C, D], expansion: Expansion) -> None:
        self._stages, self._expansion = stages, expansion

    def paths(self, goal: G, stage: C, cell: int) -> list[ExitPath[D]]:
        """The ways to the goal that begin in the region of the cell; exits that are never the best are left out."""
        return self._region_paths(goal, stage, self._stages.regions(stage)[cell])

    @cached_method
    def _region_paths(self, goal: G, stage: C, region: int) -> list[ExitPath[D]]:
        """`paths` from all cells of one region, by the number that `regions` gives it; cached."""
        self._expansion.count()
        regions, bounds = self._stages.regions(stage), self._stages.bounds(goal)
        exits = [e for e in self._stages.exits(goal, stage) if regions[e.place] == region]
        exits.sort(key=lambda e: 0 if e.final else e.cost + bounds[e.place])
        candidates = [(self._bound(goal, stage, way_out), rank, way_out) for rank, way_out in enumerate(exits)]
        best: list[tuple[int, ExitPath[D]]] = []
        for lower_bound, rank, way_out in sorted(candidates, key=lambda candidate: candidate[:2]):
            place, rest = way_out.place, way_out.cost
            if lower_bound >= UNREACHABLE:
                break
            # from its place, going on to a known exit is no worse; among equals, the one of the lowest rank is taken
            if any(path.distance[place] + path.rest < lower_bound + (known < rank) for known, path in best):
                continue
            if not way_out.final:
                rest += self.value(goal, self._stages.follow(stage, way_out.action), place)
            if rest < UNREACHABLE:
                best.append((rank, ExitPath(self._stages.distances(stage, place), rest, way_out)))
        return [path for _, path in sorted(best, key=lambda ranked: ranked[0])]

    def _bound(self, goal: G, stage: C, way_out: Exit[D]) -> int:
        """A lower bound of the steps to the goal from the place of an exit, through it."""
        if way_out.final:
            return way_out.cost
        return way_out.cost + self._stages.bound(goal, self._stages.follow(stage, way_out.action), way_out.place)

    def value(self, goal: G, stage: C, cell: int) -> int:
        """Steps from the cell to the goal; UNREACHABLE or more without a way."""
        return min([distance[cell] + rest for distance, rest, _ in self.paths(goal, stage, cell)], default=UNREACHABLE)
