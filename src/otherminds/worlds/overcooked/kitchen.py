"""The layout of kitchens (squares, rooms, lines of sight) and their items (foods, plates, and merged items).

An item is a multiset of parts: foods, fresh or chopped, and at most one plate. It is an integer with four bits for the
number of each part, so that merging two items adds them up, and equal items are equal numbers.
(Wu et al. 2021, Too many cooks; rooms and doors as in ProToM §4.1.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import or_
from typing import Literal

from otherminds.planning.shortest_paths import regions
from otherminds.worlds.grid import Grid

# Items

FOODS = ("tomato", "lettuce", "onion")
NOTHING = 0  # no item
MANY = 15  # most parts of a kind: four bits
PLATE = 1 << 12  # above the four bits of each chopped food
CHOPPED = {food: 1 << 4 * i for i, food in enumerate(FOODS)}
FRESH = {food: part << 16 for food, part in CHOPPED.items()}
PARTS = {
    **{f"fresh {food}": part for food, part in FRESH.items()},
    **{f"chopped {food}": part for food, part in CHOPPED.items()},
    "plate": PLATE,
}
SINGLE = frozenset(PARTS.values())  # items of one part
RECIPES = {
    "SimpleTomato": PLATE + CHOPPED["tomato"],
    "SimpleLettuce": PLATE + CHOPPED["lettuce"],
    "SimpleOnion": PLATE + CHOPPED["onion"],
    "Salad": PLATE + CHOPPED["tomato"] + CHOPPED["lettuce"],
    "OnionSalad": PLATE + CHOPPED["tomato"] + CHOPPED["lettuce"] + CHOPPED["onion"],
}
DISHES = {
    "SimpleTomato": "tomato dish",
    "SimpleLettuce": "lettuce dish",
    "SimpleOnion": "onion dish",
    "Salad": "salad",
    "OnionSalad": "onion salad",
}
"""The everyday name of each recipe's dish."""
_FRESH_BITS = MANY * sum(FRESH.values())  # the bits of fresh foods
_PLATE_BITS = MANY * PLATE  # the bits of plates


@cache
def parts(thing: int) -> tuple[str, ...]:
    """The parts of an item, such as `chopped tomato` and `plate`, repeated as often as they occur."""
    return tuple(name for name, part in PARTS.items() for _ in range(thing // part & MANY))


def is_thing(number: int) -> bool:
    """Whether the number is an item: one fresh food, or chopped foods and at most one plate."""
    return number in SINGLE or (0 < number < min(FRESH.values()) and number & _PLATE_BITS <= PLATE)


def mergeable(first: int, second: int) -> bool:
    """Whether two items can be merged: no fresh food in either, no second plate."""
    merged = first | second
    return not merged & _FRESH_BITS and not first & second & PLATE


def deliverable(thing: int) -> bool:
    """Whether a delivery square takes the item: two parts or more, no fresh food. A plate is not required."""
    return thing != NOTHING and thing not in SINGLE and not thing & _FRESH_BITS


def interact(hand: int, lying: int, board: bool) -> tuple[int, int]:
    """What an agent holds, and what lies there, after it has used a counter or cutting board.

    Free hands pick up. A held item is merged with the item that lies there and stays in hand; a fresh food is chopped
    on an empty board and stays in hand; any other item is put down where nothing lies.
    """
    if not hand:
        return lying, NOTHING
    if lying:
        return (hand + lying, NOTHING) if mergeable(hand, lying) else (hand, lying)
    if board and hand & _FRESH_BITS:
        return hand >> 16, NOTHING
    return NOTHING, hand


# Squares

Tile = Literal[" ", "-", "/", "*", "#", "D"]
FLOOR: Tile = " "
COUNTER: Tile = "-"
BOARD: Tile = "/"
DELIVERY: Tile = "*"
WALL: Tile = "#"
DOOR: Tile = "D"
TILES = (FLOOR, COUNTER, BOARD, DELIVERY, WALL, DOOR)
STAY = "stay"
NOWHERE = -1  # no place is used


@dataclass(frozen=True)
class KitchenLayout:
    """The squares of a kitchen, row by row: floor, counters, cutting boards, deliveries, walls `#`, doors `D`.

    Rooms are the connected pieces of floor without the doors; doors are always open. Every square of a room is seen
    from every other one; counters, boards and deliveries are in all rooms that have floor next to them. An agent on a
    door is in all rooms next to it. Places are the counters and boards, then the deliveries, each in reading order.
    Raises ValueError for anything but a rectangle of such squares.
    """

    rows: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0] or len({len(row) for row in self.rows}) > 1:
            raise ValueError("a kitchen is a rectangle of squares")
        if odd := set("".join(self.rows)) - set(TILES):
            raise ValueError(f"there is no kind of square called {min(odd)!r}")

    @cached_property
    def grid(self) -> Grid:
        """The squares to walk on: floor and doors."""
        return Grid.of_map(self.rows, (FLOOR, DOOR))

    def cells(self, *tiles: Tile) -> tuple[int, ...]:
        """All squares of these kinds, in reading order."""
        return self.grid.marked(self.rows, tiles)

    # Places

    @cached_property
    def counters(self) -> tuple[int, ...]:
        """The squares on which one item can lie: counters and cutting boards."""
        return self.cells(COUNTER, BOARD)

    @cached_property
    def boards(self) -> frozenset[int]:
        """The indices in `counters` of the cutting boards."""
        boards = set(self.cells(BOARD))
        return frozenset(k for k, cell in enumerate(self.counters) if cell in boards)

    @cached_property
    def deliveries(self) -> tuple[int, ...]:
        """The squares where dishes are delivered."""
        return self.cells(DELIVERY)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The squares that agents use: the counters, then the deliveries."""
        return self.counters + self.deliveries

    @cached_property
    def beside(self) -> tuple[tuple[int, ...], ...]:
        """For each place, the squares from which it can be used."""
        return tuple(self.grid.neighbours[cell] for cell in self.places)

    @cached_property
    def ahead(self) -> tuple[dict[str, tuple[int, int]], ...]:
        """For each square and action, the square where it leads and the place that it uses, or NOWHERE.

        A move against a wall or off the map stays and uses nothing.
        """
        place_at = {cell: place for place, cell in enumerate(self.places)}
        ahead: tuple[dict[str, tuple[int, int]], ...] = tuple({} for _ in range(self.grid.size))
        for cell in self.grid.cells():
            ahead[cell][STAY] = cell, NOWHERE
            for direction, offset in self.grid.offsets.items():
                free = self.grid.is_floor(cell + offset)
                ahead[cell][direction] = (cell + offset if free else cell), place_at.get(cell + offset, NOWHERE)
        return ahead

    # Rooms

    @cached_property
    def rooms(self) -> tuple[frozenset[int], ...]:
        """The floor of each room, the rooms in reading order."""
        return self._connected(self.cells(FLOOR))

    @cached_property
    def doors(self) -> tuple[frozenset[int], ...]:
        """The squares of each door."""
        return self._connected(self.cells(DOOR))

    @cached_property
    def floors(self) -> tuple[frozenset[int], ...]:
        """The connected pieces of all squares to walk on, doors included."""
        return self._connected(self.grid.cells())

    def _connected(self, cells: Iterable[int]) -> tuple[frozenset[int], ...]:
        """The connected pieces of some squares to walk on, in reading order."""
        squares = list(cells)
        numbers = regions(sum(1 << cell for cell in squares), self.grid.stride, self.grid.size)
        pieces: dict[int, list[int]] = {}
        for cell in squares:
            pieces.setdefault(numbers[cell], []).append(cell)
        return tuple(map(frozenset, pieces.values()))

    def reachable(self, cell: int) -> frozenset[int]:
        """The squares that can be reached on foot from a square."""
        return next(floor for floor in self.floors if cell in floor)

    @cached_property
    def sight(self) -> tuple[int, ...]:
        """For each square, the rooms that it is in, as bits; squares with a room in common see each other.

        After the rooms, each door counts as a room of its own, which holds the places that are used from it.
        """
        inside = [0] * self.grid.size
        for room, cells in enumerate(self.rooms + self.doors):
            for cell in cells:
                inside[cell] = 1 << room
        sight = list(inside)
        for cell, near in zip(self.places, self.beside, strict=True):
            sight[cell] = reduce(or_, (inside[square] for square in near), 0)
        for door in self.doors:
            rooms = reduce(or_, (inside[near] for cell in door for near in (cell, *self.grid.neighbours[cell])), 0)
            for cell in door:
                sight[cell] = rooms
        return tuple(sight)

    def visible(self, cell: int) -> tuple[bool, ...]:
        """For each place, whether it is seen from a square to walk on."""
        return self._visible_places[self.sight[cell]]

    @cached_property
    def _visible_places(self) -> dict[int, tuple[bool, ...]]:
        """For each set of rooms (bits) that an agent can be in, whether each place is seen from there."""
        masks = {self.sight[cell] for cell in self.grid.cells()}
        return {mask: tuple(bool(mask & self.sight[cell]) for cell in self.places) for mask in masks}

    # Handing over

    @cached_property
    def shared(self) -> tuple[int, ...]:
        """The counters where items can change rooms: not on the border, with floor of two rooms next to them."""
        rooms = (1 << len(self.rooms)) - 1
        return tuple(k for k in self._inner if (self.sight[self.counters[k]] & rooms).bit_count() >= 2)

    def between(self, first: int, second: int) -> tuple[int, ...]:
        """The inner counters that can be reached from both of two squares."""
        mine, theirs = self.reachable(first), self.reachable(second)
        return tuple(k for k in self._inner if mine & {*self.beside[k]} and theirs & {*self.beside[k]})

    @cached_property
    def _inner(self) -> tuple[int, ...]:
        """The counters that are neither cutting boards nor on the border of the kitchen."""
        right, bottom = self.grid.width - 1, self.grid.height - 1
        within = [0 < x < right and 0 < y < bottom for x, y in map(self.grid.xy, self.counters)]
        return tuple(k for k in range(len(self.counters)) if within[k] and k not in self.boards)
