"""Shortest paths: all distances from many cells at once over sets of cells held as big integers, and A*."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=Hashable)
A = TypeVar("A")

UNREACHABLE = 1 << 20


def distances(floor: int, stride: int, sources: Sequence[int]) -> NDArray[np.int32]:
    """Walking distances d(source, cell) in steps, shape (sources, cells); UNREACHABLE where there is no way.

    Every source has its own plane of bits in one big integer, and one breadth-first layer of all of them is a
    handful of shifts.
    """
    span = floor.bit_length() + stride
    everywhere = sum(1 << span * p for p in range(len(sources)))
    front = sum(1 << span * p + cell for p, cell in enumerate(sources))

    def walk(front: int) -> int:
        return front << 1 | front >> 1 | front << stride | front >> stride

    return _flood(front, floor * everywhere, walk, len(sources) * span).reshape(len(sources), span)


def cost_fields(
    floors: Sequence[int],
    stride: int,
    links: Iterable[tuple[int, int, int]],
    targets: Sequence[Iterable[tuple[int, int]]],
) -> NDArray[np.int32]:
    """Costs-to-go of several goals in all stages of a map at once, in steps, shape (goals, stages, cells).

    `floors[s]` is where one can walk in stage s; a link (s, s′, cell) is a action there, of one step, that leads from
    stage s to s′; a target (s, cell) of a goal is where a last step reaches it. All goals and stages are planes
    of one big integer, searched breadth first, backwards from the targets; links with the same s′ − s move together.
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
    deeds = [(shift, cells * goals) for shift, cells in together.items()]

    def back(front: int) -> int:
        found = front << 1 | front >> 1 | front << stride | front >> stride
        for shift, cells in deeds:
            found |= (front >> shift if shift > 0 else front << -shift) & cells
        return found

    return 1 + _flood(front, floor, back, len(targets) * stages * span).reshape(len(targets), stages, span)


def _flood(front: int, floor: int, grow: Callable[[int], int], size: int) -> NDArray[np.int32]:
    """How many times a set has to grow until it contains each bit of the floor; UNREACHABLE if it never does.

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
    return _decode(counters, unreached | ((1 << size) - 1 ^ floor), size)


def _decode(counters: list[int], never: int, size: int) -> NDArray[np.int32]:
    """Numbers from the bits of their Gray code, UNREACHABLE where `never` is set."""
    codes = np.zeros(size, dtype=np.int32)
    binary = np.zeros(size, dtype=np.uint8)
    for bit in reversed(range(len(counters))):
        binary ^= _unpack(counters[bit], size)
        codes |= binary.astype(np.int32) << bit
    codes[_unpack(never, size).astype(bool)] = UNREACHABLE
    return codes


def regions(floor: int, stride: int, size: int) -> list[int]:
    """A number for every cell, equal for two floor cells if one can walk from one to the other; −1 off the floor."""
    numbers = [-1] * size
    left = floor
    while left:
        front = region = left & -left
        while front:
            front = (front << 1 | front >> 1 | front << stride | front >> stride) & floor & ~region
            region |= front
        left &= ~region
        number = region.bit_length()
        while region:
            cell = region.bit_length() - 1
            numbers[cell] = number
            region ^= 1 << cell
    return numbers


def _unpack(bits: int, size: int) -> NDArray[np.uint8]:
    raw = np.frombuffer(bits.to_bytes(-(-size // 8), "little"), dtype=np.uint8)
    return np.unpackbits(raw, count=size, bitorder="little")


def shortest_plan(
    start: S,
    successors: Callable[[S], Iterable[tuple[A, S]]],
    is_goal: Callable[[S], bool],
    heuristic: Callable[[S], float] = lambda state: 0.0,
) -> list[A] | None:
    """A* over unit-cost actions: a shortest action sequence from `start` to a goal state, None if there is none.

    The heuristic must never overestimate the number of steps that remain.
    """
    tie = count()
    queue: list[tuple[float, int, int, S]] = [(heuristic(start), 0, 0, start)]
    best: dict[S, int] = {start: 0}
    came: dict[S, tuple[S, A]] = {}
    while queue:
        _, _, cost, state = heapq.heappop(queue)
        if cost > best[state]:
            continue
        if is_goal(state):
            return _unwind(came, state)
        for action, after in successors(state):
            if cost + 1 < best.get(after, UNREACHABLE):
                best[after], came[after] = cost + 1, (state, action)
                heapq.heappush(queue, (cost + 1 + heuristic(after), next(tie), cost + 1, after))
    return None


def _unwind(came: dict[S, tuple[S, A]], state: S) -> list[A]:
    plan: list[A] = []
    while state in came:
        state, action = came[state]
        plan.append(action)
    return plan[::-1]


G = TypeVar("G", bound=Hashable)
C = TypeVar("C", bound=Hashable)
D = TypeVar("D")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
G_contra = TypeVar("G_contra", bound=Hashable, contravariant=True)


class CachedTable(dict[K, V]):
    """A table that is filled in as it is asked for: `table[key]` is worked out once."""

    def __init__(self, find: Callable[[K], V]) -> None:
        """`find(key)` is the entry of a key that has not been asked for before."""
        super().__init__()
        self._find = find

    def __missing__(self, key: K) -> V:
        found = self[key] = self._find(key)
        return found


class Exit(NamedTuple, Generic[D]):
    """Something to do at a place: its cost in steps, the action itself, and whether it reaches the goal."""

    place: int
    cost: int
    action: D
    final: bool = False


class ExitPath(NamedTuple, Generic[D]):
    """An exit with its distance from every cell and its cost-to-go, the action included."""

    distance: Sequence[int]
    rest: int
    exit: Exit[D]


class StagedMap(Protocol[G_contra, C, D]):
    """A map in stages: walking never changes the stage, deeds do, and no stage ever comes back."""

    def exits(self, goal: G_contra, stage: C) -> Iterable[Exit[D]]:
        """What can be done in a stage, wherever that is."""
        ...

    def follow(self, stage: C, action: D) -> C:
        """The stage after a action."""
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
        self._ways: CachedTable[tuple[G, C, int], list[ExitPath[D]]] = CachedTable(self._find_ways)

    def ways(self, goal: G, stage: C, cell: int) -> list[ExitPath[D]]:
        """The exits that can be walked to from the cell and lead to the goal; those that never pay are left out."""
        return self._ways[goal, stage, self._stages.regions(stage)[cell]]

    def _find_ways(self, key: tuple[G, C, int]) -> list[ExitPath[D]]:
        goal, stage, region = key
        regions, bounds = self._stages.regions(stage), self._stages.bounds(goal)
        near = [e for e in self._stages.exits(goal, stage) if regions[e.place] == region]
        near.sort(key=lambda e: 0 if e.final else e.cost + bounds[e.place])
        found: list[ExitPath[D]] = []
        for leave in near:
            self._consider(found, leave, goal, stage, bounds)
        return found

    def _consider(self, found: list[ExitPath[D]], leave: Exit[D], goal: G, stage: C, bounds: Sequence[int]) -> None:
        """Add an exit unless it cannot be better from anywhere: going on from its place to a known one is no worse."""
        place = leave.place
        at_least = leave.cost + (0 if leave.final else bounds[place])
        if any(way.distance[place] + way.rest <= at_least for way in found):
            return
        rest = leave.cost
        if not leave.final:
            rest += self.value(goal, self._stages.follow(stage, leave.action), place)
        if rest < UNREACHABLE:
            found.append(ExitPath(self._stages.distances(stage, place), rest, leave))

    def value(self, goal: G, stage: C, cell: int) -> int:
        """Steps from the cell to the goal; UNREACHABLE or more if there is no way."""
        return min([distance[cell] + rest for distance, rest, _ in self.ways(goal, stage, cell)], default=UNREACHABLE)
