"""Cost-to-go fields of one agent with three goals and three keys, against plain implementations and a queue in C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal, MapStage
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, Thing
from otherminds.worlds.grid import Grid

COLOURS = ("red", "blue", "yellow")
Field = NDArray[np.int32]

QUEUE = """
#include <stdint.h>

/* Breadth-first search, backwards from each gem. floor: (stages, size); link: (links, 3), as before, after, cell;
   head: (size); next: (links); queue: (stages * size). Writes field, (goals, stages, size), of which all is 0. */
void search(int size, int stride, int stages, int goals, int links, int32_t far, const uint8_t *floor,
            const int32_t *link, const int32_t *gem, int32_t *head, int32_t *next, int32_t *queue, int32_t *field)
{
    const int32_t step[4] = {1, -1, stride, -stride};
    for (int cell = 0; cell < size; cell++) head[cell] = -1;
    for (int l = 0; l < links; l++) { next[l] = head[link[3 * l + 2]]; head[link[3 * l + 2]] = l; }
    for (int g = 0; g < goals; g++, field += stages * size) {
        int first = 0, last = 0;
        for (int s = 0; s < stages; s++) {
            int here = s * size + gem[g];
            if (floor[here]) { field[here] = 1; queue[last++] = here; }
        }
        while (first < last) {
            int here = queue[first++], s = here / size, cell = here % size, cost = field[here] + 1;
            for (int d = 0; d < 4; d++) {
                int near = cell + step[d], there = here + step[d];
                if (near >= 0 && near < size && floor[there] && !field[there]) {
                    field[there] = cost;
                    queue[last++] = there;
                }
            }
            for (int l = head[cell]; l >= 0; l = next[l]) {
                int there = link[3 * l] * size + cell;
                if (link[3 * l + 1] == s && floor[there] && !field[there]) {
                    field[there] = cost;
                    queue[last++] = there;
                }
            }
        }
        for (int i = 0; i < stages * size; i++) if (!field[i]) field[i] = far;
    }
}
"""


def world(side: int = 16, *, maze: bool = False, seed: int = 0) -> DoorsKeysGems:
    """A square map with 20 % walls, or a maze of corridors, and a key, a door and a gem of each of three colours."""
    rng = np.random.default_rng(seed)
    if maze:
        walls = _maze_walls(side, rng)
    else:
        walls = {(int(c) % side, int(c) // side) for c in rng.choice(side * side, size=side * side // 5, replace=False)}
    grid = Grid.of(side, side, walls)
    cells = [int(c) for c in rng.choice(list(grid.cells()), size=10, replace=False)]
    keys, doors, gems = (
        tuple(Thing(f"{word}{i + 1}", colour, cells[3 * n + i]) for i, colour in enumerate(COLOURS))
        for n, word in enumerate(("key", "door", "gem"))
    )
    return DoorsKeysGems(grid, ("Ana",), (cells[9],), keys, doors, gems, (0,))


def _maze_walls(side: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    """All cells but those of a spanning tree of corridors, dug depth first between cells of even x and y."""
    dug, way = {(0, 0)}, [(0, 0)]
    while way:
        x, y = way[-1]
        around = [(dx, dy) for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0)) if (x + 2 * dx, y + 2 * dy) not in dug]
        free = [(dx, dy) for dx, dy in around if 0 <= x + 2 * dx < side and 0 <= y + 2 * dy < side]
        if free:
            dx, dy = free[rng.integers(len(free))]
            dug |= {(x + dx, y + dy), (x + 2 * dx, y + 2 * dy)}
            way.append((x + 2 * dx, y + 2 * dy))
        else:
            way.pop()
    return {(x, y) for x in range(side) for y in range(side)} - dug


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


def ours(level: DoorsKeysGems) -> tuple[list[MapStage], Field]:
    """All fields by the library, and the stages they are for."""
    plans = DoorsKeysGemsPlanner(level)
    return plans.fields([Goal("gem", g) for g in range(3)], plans.map.stage(level.initial, 0))


def ordered(found: tuple[list[MapStage], Field]) -> Field:
    """The fields in the order of `stages()`, as those of the others are; UNREACHABLE at most."""
    place = {stage: s for s, stage in enumerate(found[0])}
    return np.minimum(found[1][:, [place[stage] for stage in stages()]], UNREACHABLE)


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


def queue_in_c(level: DoorsKeysGems) -> Callable[[], Field] | None:
    """The same search by a queue in C (-O2), its stages, links and floors given; None if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "queue.c", Path(folder) / "queue.so"
        source.write_text(QUEUE)
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        search = ctypes.CDLL(str(library)).search
    floor, size = np.ascontiguousarray(floors(level), dtype=np.uint8), level.grid.size
    link = np.array([(s, t, cell) for s, t, cells in links(level) for cell in cells], dtype=np.int32)
    gem = np.array([gem.cell for gem in level.gems], dtype=np.int32)
    arrays: list[NDArray[np.uint8] | NDArray[np.int32]] = [
        floor,
        link,
        gem,
        *(np.empty(n, dtype=np.int32) for n in (size, len(link), floor.size)),
    ]
    given = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    numbers = [ctypes.c_int(n) for n in (size, level.grid.stride, len(floor), len(gem), len(link), UNREACHABLE)]

    def run() -> Field:
        field = np.zeros((len(gem), *floor.shape), dtype=np.int32)
        search(*numbers, *given, field.ctypes.data_as(ctypes.c_void_p))
        return field

    return run
