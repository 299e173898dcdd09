"""Shortest paths: all distances at once over sets of cells held as big integers, and maps in stages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, cached_property
from itertools import accumulate, pairwise
from operator import xor
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
CELLS_TOGETHER = 1 << 16  # costs that are worked on at once, 256 kB, so that they stay in a processor's cache; chosen


def distances(floor: int, stride: int, sources: Sequence[int]) -> NDArray[np.int32]:
    """Walking distances d(source, cell) in steps, shape (sources, cells); UNREACHABLE without a way.

    `floor` is the set of cells to walk on, to which every source adds its own cell for itself; `stride` is the
    difference between a cell and the one below it. All sources are planes of one big integer, searched breadth first.
    The layer count is kept in Gray code: going from layer t to t + 1 flips one of its bits, so a single XOR with what
    is not yet reached writes every distance.
    """
    span = max([floor.bit_length(), *(source + 1 for source in sources)]) + stride
    size = span * len(sources)
    front = sum(1 << span * n + source for n, source in enumerate(sources))
    floor = floor * sum(1 << span * n for n in range(len(sources))) | front
    unreached = floor ^ front
    counters: list[int] = []
    layer = 0
    while unreached:
        front |= front << stride + 1
        front = (front >> 1 | front >> stride) & unreached  # a step in each of the four directions, by three shifts
        layer += 1
        bit = (layer & -layer).bit_length() - 1
        if bit == len(counters):
            counters.append(0)
        counters[bit] ^= unreached
        if not front:
            break
        unreached ^= front
    reached = floor ^ unreached
    digits = [((1 << size) - 1) ^ reached, *(digit & reached for digit in accumulate(reversed(counters), xor))]
    weights = np.array([UNREACHABLE, *(1 << n for n in reversed(range(len(counters))))], dtype=np.int32)
    length = -(-size // 8)
    packed = np.frombuffer(b"".join([digit.to_bytes(length, "little") for digit in digits]), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(digits), length), axis=1, count=size, bitorder="little")
    steps: NDArray[np.int32] = np.einsum("d,dn->n", weights, bits)
    return steps.reshape(len(sources), span)


def cost_fields(
    ways: NDArray[np.int32],
    cells: Sequence[int],
    passages: NDArray[np.bool_],
    which: NDArray[np.int64],
    levels: Sequence[int],
    after: NDArray[np.int64],
    last: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Costs-to-go V(goal, stage, cell) of goals in all stages of a map, in steps, shape (goals, stages, cells).

    Stages differ in what there is at certain places p: an action of one step that leads to a later stage after(s, p),
    or a passage that is open. Past no place, the agent walks in every stage as in all others:

        V(g, s, x) = min of d(x, g) + last(g, s) and, over the places p, of d(x, p) + c(g, s, p)
        c(g, s, p) = V(g, s, p) if p is an open passage, 1 + V(g, after(s, p), p) if an action there changes the stage

    `ways` are the distances d to the places, which are these `cells`, and then to the goals, shape (places + goals,
    cells). Stage s has the open passages `passages[which[s]]`. The `levels` of the stages never rise, and `after`,
    shape (stages, places), leads to lower ones, or is −1. `last` ≥ 1 are the steps from the end of the way to the goal,
    shape (goals, stages). Values are at most 1 + UNREACHABLE.
    """
    goals, stages, places = len(last), len(after), len(cells)
    apart = np.repeat(ways[None, :, cells], len(passages), axis=0)  # from place to place and goal; Floyd and Warshall
    for p in np.flatnonzero(passages.any(axis=0)).tolist():
        onward = np.where(passages[:, p, None], apart[:, :, p], UNREACHABLE)
        np.minimum(apart, onward[:, :, None] + apart[:, p, None], out=apart)

    values = np.full((goals, stages + 1, places), 1 + UNREACHABLE, dtype=np.int32)  # at the places; the last for none
    flat, index = values.reshape(goals, (stages + 1) * places), after * places + np.arange(places)
    best = np.minimum(apart[which, places:].swapaxes(0, 1) + last[:, :, None], 1 + UNREACHABLE, out=values[:, :-1])
    apart = 1 + apart[:, :places]
    together = max(1, CELLS_TOGETHER // max(1, goals * places**2))
    begins = [s for s in range(stages) if s % together == 0 or levels[s] < levels[s - 1]]
    for begin, end in reversed([*pairwise(begins)]):  # nothing follows the stages of the lowest level
        onward = flat.take(index[begin:end], axis=1, mode="wrap")[..., None] + apart[which[begin:end]]
        some = best[:, begin:end]
        np.minimum(some, np.minimum.reduce(onward, axis=2), out=some)

    is_open = passages[which]
    used = is_open | (after >= 0)
    costs = np.where(is_open, best, 1 + flat.take(index, axis=1, mode="wrap"))[..., None]
    fields = np.empty((goals, stages, ways.shape[1]), dtype=np.int32)
    together = max(1, CELLS_TOGETHER // max(1, goals * ways.shape[1]))
    for some in [slice(begin, begin + together) for begin in range(0, stages, together)]:
        field = np.minimum(ways[places:, None] + last[:, some, None], 1 + UNREACHABLE, out=fields[:, some])
        for p in np.flatnonzero(used[some].any(axis=0)).tolist():
            np.minimum(field, ways[p] + costs[:, some, p], out=field)
    return fields


def regions(floor: int, stride: int, size: int) -> list[int]:
    """A number for every cell, equal for two floor cells if one can walk between them; −1 off the floor."""
    numbers = [-1] * size
    remaining = floor
    while remaining:
        front = region = remaining & -remaining
        while front:
            front |= front << stride + 1
            front = (front >> 1 | front >> stride) & floor & ~region
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
