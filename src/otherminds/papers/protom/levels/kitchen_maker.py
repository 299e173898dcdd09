"""Random kitchens: rooms divided by counters, with doors, gaps or neither, and just enough to cook with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from otherminds.worlds.overcooked.kitchen import (
    BOARD,
    COUNTER,
    DELIVERY,
    DOOR,
    FLOOR,
    FRESH,
    NOTHING,
    PLATE,
    KitchenLayout,
    Tile,
)
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.rules import Overcooked

AGENTS = ("Ana", "Ben")
DISHES = {"SimpleTomato": "tomato", "SimpleLettuce": "lettuce", "SimpleOnion": "onion"}
SIDES = (7, 9)
OPENINGS = ("none", "door", "gap")
ODDS = (0.45, 0.45, 0.1)
Cell = tuple[int, int]


@dataclass
class _Plan:
    """A kitchen in the making: its squares, and those that nothing has been put on yet."""

    rng: np.random.Generator
    width: int
    height: int
    tiles: dict[Cell, Tile] = field(init=False)

    def __post_init__(self) -> None:
        cells = [(x, y) for y in range(self.height) for x in range(self.width)]
        self.tiles = {
            (x, y): FLOOR if 0 < x < self.width - 1 and 0 < y < self.height - 1 else COUNTER for x, y in cells
        }

    def divide(self, across: bool) -> None:
        """Put a row of counters through the kitchen, with a door or a gap in it, or neither."""
        length, breadth = (self.width, self.height) if across else (self.height, self.width)
        at = int(self.rng.integers(2, length - 2))
        line = [(at, i) if across else (i, at) for i in range(1, breadth - 1)]
        line = [cell for cell in line if self.tiles[cell] == FLOOR]
        self.tiles |= dict.fromkeys(line, COUNTER)
        opening = self.rng.choice(OPENINGS, p=ODDS)
        if opening != "none" and line:
            self.tiles[line[int(self.rng.integers(len(line)))]] = DOOR if opening == "door" else FLOOR

    def usable(self, floor: Set[Cell]) -> list[Cell]:
        """The counters that can be used from these squares."""
        return [cell for cell, tile in self.tiles.items() if tile == COUNTER and not floor.isdisjoint(_around(cell))]

    def pieces(self, *without: Tile) -> list[set[Cell]]:
        """The floor, in pieces between which nobody can walk; those between doors are the rooms."""
        left = {cell for cell, tile in self.tiles.items() if tile in (FLOOR, DOOR) and tile not in without}
        found = []
        while left:
            piece = edge = {min(left)}
            while edge:
                edge = {near for cell in edge for near in _around(cell) if near in left} - piece
                piece = piece | edge
            left -= piece
            found.append(piece)
        return found

    def draw(self, cells: Sequence[Cell], count: int) -> list[Cell]:
        """Some of the cells, all different."""
        chosen = self.rng.choice(len(cells), size=min(count, len(cells)), replace=False)
        return [cells[int(i)] for i in chosen]


def _around(cell: Cell) -> Iterator[Cell]:
    x, y = cell
    yield from ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))


def random_kitchen(rng: np.random.Generator) -> KitchenLevel:
    """A kitchen for two, of 7 × 7 to 9 × 9 squares in one to four rooms, each person with a simple recipe."""
    plan = _Plan(rng, *(int(n) for n in rng.integers(SIDES[0], SIDES[1] + 1, size=2)))
    across = bool(rng.random() < 0.7)
    plan.divide(across)
    if rng.random() < 0.25:
        plan.divide(bool(rng.random() < 0.5))
    for floor in plan.pieces():
        for tile in (BOARD, DELIVERY):
            plan.tiles |= dict.fromkeys(plan.draw(plan.usable(floor), 1 + int(rng.random() < 0.2)), tile)
    recipes = [str(recipe) for recipe in rng.choice(list(DISHES), size=2, replace=bool(rng.random() < 0.3))]
    return KitchenLevel("random", _furnished(plan, recipes))


def _furnished(plan: _Plan, recipes: Sequence[str]) -> Overcooked:
    """Put people, foods and plates into the kitchen: mostly into different rooms, mostly not where they are needed."""
    rng = plan.rng
    rooms = plan.pieces(DOOR)
    homes = [
        rooms[int(k)] for k in rng.choice(len(rooms), size=len(AGENTS), replace=len(rooms) == 1 or rng.random() < 0.2)
    ]
    everywhere = set[Cell]().union(*rooms)
    people: list[Cell] = []
    for home in homes:
        people += plan.draw(sorted(home - {*people} or everywhere - {*people}), 1)
    lying: dict[Cell, int] = {}

    def put(thing: int, floor: Set[Cell]) -> None:
        free = [cell for cell in plan.usable(floor) if cell not in lying] or plan.usable(everywhere)
        lying[plan.draw(free, 1)[0]] = thing

    for recipe, other in zip(recipes, reversed(homes), strict=True):
        put(FRESH[DISHES[recipe]], other if rng.random() < 0.5 else everywhere)
    where = homes[int(rng.integers(len(homes)))] if rng.random() < 0.5 else everywhere
    for _ in range(int(rng.integers(2, 4))):
        put(PLATE, where)
    for food in rng.choice(list(FRESH), size=int(rng.integers(0, 3))):
        put(FRESH[str(food)], everywhere)
    layout = KitchenLayout(tuple("".join(plan.tiles[x, y] for x in range(plan.width)) for y in range(plan.height)))
    counters = [layout.grid.xy(cell) for cell in layout.counters]
    return Overcooked(
        layout=layout,
        agents=AGENTS,
        cells=tuple(layout.grid.cell(*cell) for cell in people),
        recipes=tuple(recipes),
        on=tuple(lying.get(cell, NOTHING) for cell in counters),
    )
