"""Random Doors-Keys-Gems maps: rooms divided by walls, with gaps, locked doors, keys, gems and two people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from otherminds.worlds.doors_keys_gems.level_files import COLOURS, Level
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, Thing
from otherminds.worlds.grid import Grid

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo")
MOST = 4
Cell = tuple[int, int]


class _Floor:
    """A floor plan in the making: walls that divide rooms, and the openings in them."""

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.walls: set[Cell] = set()
        self.gaps: set[Cell] = set()
        self.doors: list[Cell] = []
        self._divide(0, 0, width, height)

    def _divide(self, x: int, y: int, width: int, height: int) -> None:
        """Put a wall through the room, where no opening leads into it, and divide both halves further."""
        across = self.rng.random() < (0.8 if width > height else 0.2)
        length, breadth = (width, height) if across else (height, width)
        places = [p for p in range(1, length - 1) if self._free(x, y, p, breadth, across)]
        if not places or width * height < 9 or (width * height < 18 and self.rng.random() < 0.4):
            return
        at = places[int(self.rng.integers(len(places)))]
        line = [(x + at, y + i) if across else (x + i, y + at) for i in range(breadth)]
        self._open(line)
        if across:
            self._divide(x, y, at, height)
            self._divide(x + at + 1, y, width - at - 1, height)
        else:
            self._divide(x, y, width, at)
            self._divide(x, y + at + 1, width, height - at - 1)

    def _free(self, x: int, y: int, at: int, breadth: int, across: bool) -> bool:
        """Whether a wall here would end beside no opening of the walls around the room."""
        ends = ((x + at, y - 1), (x + at, y + breadth)) if across else ((x - 1, y + at), (x + breadth, y + at))
        return not any(end in self.gaps or end in self.doors for end in ends)

    def _open(self, line: Sequence[Cell]) -> None:
        count = 1 + int(len(line) > 2 and self.rng.random() < 0.4)
        openings = {line[int(i)] for i in self.rng.choice(len(line), size=count, replace=False)}
        self.walls.update(set(line) - openings)
        for cell in sorted(openings):
            if self.rng.random() < 0.55:
                self.doors.append(cell)
            else:
                self.gaps.add(cell)


def random_level(rng: np.random.Generator, people: int = 2) -> Level:
    """A random level of 6 to 10 columns and 6 to 9 rows; most are dull, and some cannot be solved."""
    width, height = int(rng.integers(6, 11)), int(rng.integers(6, 10))
    plan = _Floor(width, height, rng)
    grid = Grid.of(width, height, plan.walls)
    colours = [str(c) for c in rng.permutation(list(COLOURS.values())[:5])]
    palette = colours[: int(rng.integers(1, 4))]
    door_colours = [palette[int(rng.integers(len(palette)))] for _ in plan.doors]
    key_colours = [c for c in door_colours if rng.random() < 0.85]
    key_colours += [palette[int(rng.integers(len(palette)))] for _ in range(int(rng.integers(0, 2)))]
    free = [(x, y) for y in range(height) for x in range(width) if (x, y) not in plan.walls | set(plan.doors)]
    gems = min(int(rng.integers(people, people + 3)), len(COLOURS))
    wanted = len(key_colours) + gems + people
    if wanted > len(free) or not 1 <= len(plan.doors) <= MOST or not 1 <= len(key_colours) <= MOST:
        return random_level(rng, people)
    spots = [grid.cell(*free[int(i)]) for i in rng.choice(len(free), size=wanted, replace=False)]
    gem_colours = [str(c) for c in rng.permutation(list(COLOURS.values())[:gems])]
    gem_spots = spots[len(key_colours) : len(key_colours) + gems]
    world = DoorsKeysGems(
        grid=grid,
        agents=NAMES[:people],
        cells=tuple(spots[len(key_colours) + gems :]),
        keys=_things("key", key_colours, spots),
        doors=_things("door", door_colours, [grid.cell(*cell) for cell in plan.doors]),
        gems=_things("gem", gem_colours, gem_spots),
        goals=(),
    )
    goals = rng.choice(gems, size=people, replace=False)
    return Level("random", _wanting(world, [gem_spots[int(g)] for g in goals]))


def _things(word: str, colours: Sequence[str], cells: Sequence[int]) -> tuple[Thing, ...]:
    """Things numbered in reading order, as a level file numbers them."""
    ordered = sorted(zip(cells, colours, strict=False))
    return tuple(Thing(f"{word}{n}", colour, cell) for n, (cell, colour) in enumerate(ordered, 1))


def _wanting(world: DoorsKeysGems, spots: Sequence[int]) -> DoorsKeysGems:
    cells = [gem.cell for gem in world.gems]
    return replace(world, goals=tuple(cells.index(spot) for spot in spots))
