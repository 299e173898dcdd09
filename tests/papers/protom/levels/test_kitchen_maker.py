"""Random kitchens: whatever the seed, one can cook in them; and there are kitchens of all kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from otherminds.papers.protom.levels.kitchens import random_kitchen
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels, write_level
from otherminds.worlds.overcooked.level_files import KitchenLevel, is_kitchen, parse_kitchen, write_kitchen
from strategies import generator

SEEDS = range(300)
LETTER = {"SimpleTomato": "t", "SimpleLettuce": "l", "SimpleOnion": "o"}

Xy = tuple[int, int]


@cache
def made(seed: int) -> KitchenLevel:
    return random_kitchen(generator(seed))


# What a kitchen file says, read naively


def squares(level: KitchenLevel) -> dict[Xy, str]:
    """The squares of the map, as the file has them."""
    rows = write_kitchen(level).split("\n\n")[0].split("\n")
    return {(x, y): tile for y, row in enumerate(rows) for x, tile in enumerate(row)}


def people(level: KitchenLevel) -> list[Xy]:
    lines = write_kitchen(level).split("\n\n")[2].split("\n")
    return [(int(x), int(y)) for x, y in map(str.split, lines)]


def around(cells: Iterable[Xy]) -> set[Xy]:
    return {(x + dx, y + dy) for x, y in cells for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}


def pieces(cells: Iterable[Xy]) -> list[set[Xy]]:
    """The cells in connected pieces."""
    left, found = set(cells), []
    while left:
        piece = {left.pop()}
        while grown := around(piece) & left:
            left -= grown
            piece |= grown
        found.append(piece)
    return found


def floor(level: KitchenLevel, tiles: str = " D") -> list[set[Xy]]:
    return pieces(at for at, tile in squares(level).items() if tile in tiles)


# Whatever the seed


@pytest.mark.parametrize("first", SEEDS[::50])
def test_in_a_random_kitchen_everybody_can_work(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        tiles = squares(level)
        width, height = (1 + max(at[k] for at in tiles) for k in (0, 1))
        assert 7 <= min(width, height) <= max(width, height) <= 9
        assert len(tiles) == width * height
        inside = {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}
        assert {at for at, tile in tiles.items() if tile in " D"} <= inside
        one, other = people(level)
        assert one != other
        assert tiles[one] == tiles[other] == " "
        for piece in floor(level):
            assert {"/", "*"} <= {tiles[at] for at in around(piece)}, seed


@pytest.mark.parametrize("first", SEEDS[::50])
def test_in_a_random_kitchen_there_is_what_everybody_needs_within_somebodys_reach(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        tiles = squares(level)
        floors = set().union(*floor(level))
        lying = {at: tile for at, tile in tiles.items() if tile in "tlop"}
        there = Counter(lying.values())
        needed = Counter(LETTER[str(recipe)] for recipe in level.world.recipes)
        assert needed.total() == len(level.world.agents) == 2
        assert needed <= there, seed
        assert 2 <= there["p"] <= 3
        assert all(around([at]) & floors for at in lying)


@pytest.mark.parametrize("first", SEEDS[::50])
def test_the_same_seed_makes_the_same_kitchen_and_its_file_says_it_all(first: int) -> None:
    for seed in range(first, first + 50):
        level = made(seed)
        assert random_kitchen(generator(seed)) == level
        text = write_kitchen(level)
        assert parse_kitchen(text, Path("any.txt")) == level
        assert is_kitchen(text)


def test_levels_of_doors_keys_and_gems_are_no_kitchens() -> None:
    assert not any(is_kitchen(write_level(level)) for level in bundled_levels())


# Over many seeds


def test_random_kitchens_differ() -> None:
    assert len({write_kitchen(made(seed)) for seed in SEEDS}) == len(SEEDS)


def divided(level: KitchenLevel) -> set[str]:
    """What kinds of divisions there are: `door`, `no opening`, and `gap`, a break in a row of counters."""
    found = set()
    if "D" in squares(level).values():
        found.add("door")
    if len(floor(level)) > 1:
        found.add("no opening")
    if len(floor(level)) == 1 and not found:
        found.add("gap")
    return found


def test_there_are_kitchens_of_all_kinds() -> None:
    kinds = Counter(kind for seed in SEEDS for kind in divided(made(seed)))
    rooms = Counter(len(floor(made(seed), " ")) for seed in SEEDS)
    assert set(kinds) == {"door", "no opening", "gap"}
    assert min(kinds.values()) >= 0.03 * len(SEEDS)
    assert min(kinds["door"], kinds["no opening"]) >= 0.3 * len(SEEDS)
    assert set(rooms) == {1, 2, 3, 4}
    assert min(rooms.values()) >= 0.02 * len(SEEDS)
    assert {recipe for seed in SEEDS for recipe in made(seed).world.recipes} == {*LETTER}


def test_people_are_mostly_in_different_rooms() -> None:
    apart = [not any({*people(made(seed))} <= room for room in floor(made(seed), " ")) for seed in SEEDS]
    assert 0.7 < sum(apart) / len(apart) < 0.98
    alone = [seed for seed in SEEDS if len(floor(made(seed), " ")) == 1]
    assert not any(apart[seed] for seed in alone)


def test_foods_are_often_where_they_are_not_needed() -> None:
    """Half of the kitchens or more have somebody whose food is not in the room that they are in."""
    away = 0
    for seed in SEEDS:
        level, tiles = made(seed), squares(made(seed))
        for at, recipe in zip(people(level), level.world.recipes, strict=True):
            (room,) = [room for room in floor(level, " ") if at in room]
            if LETTER[str(recipe)] not in {tiles.get(near) for near in around(room)}:
                away += 1
                break
    assert away >= 0.5 * len(SEEDS)
