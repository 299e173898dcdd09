"""Shortest paths: all distances from many cells at once over sets of cells held as big integers, and A*."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count
from typing import TypeVar

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

    `floors[s]` is where one can walk in stage s; a link (s, s′, cell) is a deed there, of one step, that leads from
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
