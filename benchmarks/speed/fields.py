"""Cost-to-go fields of one agent at 16 × 16 with three goals and three keys, against two plain implementations."""

from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal, MapStage
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, Thing
from otherminds.worlds.grid import Grid

SIDE = 16
COLOURS = ("red", "blue", "yellow")
Field = NDArray[np.int32]


def world(seed: int = 0) -> DoorsKeysGems:
    """A 16 × 16 map with 20 % walls, and a key, a door and a gem of each of three colours."""
    rng = np.random.default_rng(seed)
    walls = {(int(c) % SIDE, int(c) // SIDE) for c in rng.choice(SIDE * SIDE, size=SIDE * SIDE // 5, replace=False)}
    grid = Grid.of(SIDE, SIDE, walls)
    cells = [int(c) for c in rng.choice(list(grid.cells()), size=10, replace=False)]
    keys, doors, gems = (
        tuple(Thing(f"{word}{i + 1}", colour, cells[3 * n + i]) for i, colour in enumerate(COLOURS))
        for n, word in enumerate(("key", "door", "gem"))
    )
    return DoorsKeysGems(grid, ("Ana",), (cells[9],), keys, doors, gems, (0,))


def stages() -> list[MapStage]:
    """Every stage there can be: each key on the ground, in hand, or gone with its door open."""
    found = []
    for pairs in product((0, 1, 2), repeat=3):
        ground = sum(1 << k for k, status in enumerate(pairs) if status == 0)
        held = [0, 0, 0]
        for k, status in enumerate(pairs):
            held[sorted(COLOURS).index(COLOURS[k])] = int(status == 1)
        locked = sum(1 << k for k, status in enumerate(pairs) if status < 2)
        found.append(MapStage(ground, tuple(held), locked))
    return found


def ours(level: DoorsKeysGems) -> Field:
    """All fields, shape (goals, stages, cells), by the library, in the order of `stages()`."""
    plans = DoorsKeysGemsPlanner(level)
    found, fields = plans.fields([Goal("gem", g) for g in range(3)], plans.map.stage(level.initial, 0))
    place = {stage: s for s, stage in enumerate(found)}
    return fields[:, [place[stage] for stage in stages()]]


def links(level: DoorsKeysGems) -> list[tuple[int, int, list[int]]]:
    """Which stage leads to which, and from which cells: picking up a key, opening a door."""
    every = stages()
    number = {stage: s for s, stage in enumerate(every)}
    colours = [sorted(COLOURS).index(colour) for colour in COLOURS]
    found = []
    for s, stage in enumerate(every):
        for k in range(3):
            held = list(stage.held_keys)
            if stage.ground >> k & 1:
                held[colours[k]] = 1
                after = MapStage(stage.ground & ~(1 << k), tuple(held), stage.locked)
                found.append((s, number[after], [level.keys[k].cell]))
            elif held[colours[k]]:
                held[colours[k]] = 0
                after = MapStage(stage.ground, tuple(held), stage.locked & ~(1 << k))
                found.append((s, number[after], list(level.grid.neighbours[level.doors[k].cell])))
    return found


def floors(level: DoorsKeysGems) -> NDArray[np.bool_]:
    """Where one can stand, shape (stages, cells)."""
    size = level.grid.size
    return np.array([[level.passable(cell, stage.locked) for cell in range(size)] for stage in stages()])


def value_iteration(level: DoorsKeysGems) -> Field:
    """The same fields by dense sweeps over NumPy arrays, all goals and stages at once."""
    stride, steps = level.grid.stride, links(level)
    floor = np.pad(floors(level), ((0, 0), (0, stride)))  # a spare row, so that nothing wraps around
    size = floor.shape[1]
    values = np.full((3, len(floor), size), UNREACHABLE, dtype=np.int32)
    for g, gem in enumerate(level.gems):
        values[g, floor[:, gem.cell], gem.cell] = 1
    while True:
        new = values.copy()
        for shift in (1, -1, stride, -stride):
            np.minimum(new, np.roll(values, shift, axis=2) + 1, out=new)
        for before, after, cells in steps:
            new[:, before, cells] = np.minimum(new[:, before, cells], values[:, after, cells] + 1)
        new[:, ~floor] = UNREACHABLE
        if np.array_equal(new, values):
            return values[:, :, : level.grid.size]
        values = new


def breadth_first(level: DoorsKeysGems) -> Field:
    """The same fields by a queue over (stage, cell), backwards from each gem."""
    floor, size, neighbours = floors(level), level.grid.size, level.grid.neighbours
    back: dict[tuple[int, int], list[int]] = {}
    for before, after, cells in links(level):
        for cell in cells:
            back.setdefault((after, cell), []).append(before)
    fields = np.full((3, len(floor), size), UNREACHABLE, dtype=np.int32)
    free = floor.tolist()
    for g, gem in enumerate(level.gems):
        values = [[UNREACHABLE] * size for _ in free]
        queue = deque((s, gem.cell) for s in range(len(free)) if free[s][gem.cell])
        for s, cell in queue:
            values[s][cell] = 1
        while queue:
            s, cell = queue.popleft()
            cost = values[s][cell] + 1
            for near in neighbours[cell]:
                if free[s][near] and values[s][near] > cost:
                    values[s][near] = cost
                    queue.append((s, near))
            for before in back.get((s, cell), ()):
                if free[before][cell] and values[before][cell] > cost:
                    values[before][cell] = cost
                    queue.append((before, cell))
        fields[g] = values
    return fields
