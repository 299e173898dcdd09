"""Maps for collaborative cooking as text files: a map, an empty line, and lines of `key: value`.

    #########    one character a square: a space is floor, `P` floor where somebody may start, `#` counter,
    O #T#O# T    `O` dispenser of tomatoes, `D` dispenser of dishes, `C` pot, `T` delivery, `x` void
    # P C P #
    #   C   #
    ###D#D###

    players: 2           or `agents: Ana, Ben`
    window: 2 2 3 1      how many cells one sees to the left, to the right, forward, backward
    steps: 1000          how long an episode is
    cook: 20             a soup can be taken `cook` + 1 steps after the third tomato
    reward: 20           what everybody is paid for a soup

All rows are equally long, and there is no floor on the border. `source` may say where the map comes from. Lines that
begin with `;` are comments.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from otherminds.errors import InputError
from otherminds.files.text import read_text
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import (
    COUNTER,
    DELIVERY,
    DISHES,
    FLOOR,
    POT,
    SQUARES,
    START,
    TOMATOES,
)
from otherminds.worlds.map_file import MapFile, check_characters, number, players_of, reach_of, reached, read_map, whole

EXAMPLES = {
    "players": "players: 2",
    "agents": "agents: Ana, Ben",
    "window": "window: 2 2 3 1",
    "steps": "steps: 1000",
    "cook": "cook: 20",
    "reward": "reward: 20",
    "source": "source: drawn by Ana",
}
REQUIRED = ("window", "steps", "cook", "reward")
NEEDED = {POT: "pot", TOMATOES: "dispenser of tomatoes", DISHES: "dispenser of dishes", DELIVERY: "delivery"}


def read_cooking(path: Path) -> CollaborativeCooking:
    """Read a map file. Raises InputError with the line and column of the first thing that is wrong."""
    return parse_cooking(read_text(path), path)


def cooking_asymmetric() -> CollaborativeCooking:
    """The kitchen of Melting Pot's `collaborative_cooking__asymmetric`: two rooms, each far from something."""
    file = resources.files("otherminds.worlds.collaborative_cooking").joinpath("substrates", "cooking_asymmetric.txt")
    return parse_cooking(file.read_text("utf-8"), Path(file.name))


def parse_cooking(text: str, path: Path) -> CollaborativeCooking:
    """Read a kitchen from text; `path` is what errors call it. Raises InputError for what is no kitchen."""
    map_file = read_map(text, path, EXAMPLES, REQUIRED)
    check_characters(map_file.rows, SQUARES, map_file.path)
    _check_border(map_file)
    said = map_file.said
    world = CollaborativeCooking(
        rows=tuple(row.text for row in map_file.rows),
        agents=players_of(map_file, START),
        reach=reach_of(said["window"], path),
        steps=whole(said["steps"], "steps", path, least=1),
        cook=whole(said["cook"], "cook", path),
        pay=number(said["reward"].text, "reward", said["reward"], path),
    )
    _check_use(world, map_file)
    return world


def _check_border(map_file: MapFile) -> None:
    """Raise InputError for floor on the border of the map."""
    rows = map_file.rows
    for y, (line, row) in enumerate(rows):
        edge = range(1, len(row) + 1) if y in (0, len(rows) - 1) else (1, len(row))
        for column in edge:
            if row[column - 1] in (FLOOR, START):
                hint = f"close it, for example with a counter `{COUNTER}`"
                message = "floor on the border of the map"
                raise InputError(message, path=map_file.path, line=line, column=column, hint=hint)


def _check_use(world: CollaborativeCooking, map_file: MapFile) -> None:
    """Raise InputError for a pot that nobody can reach, or if nobody can reach any of something that a soup needs."""
    rows, path, there = map_file.rows, map_file.path, reached(world.grid, world.starts)
    for square, name in NEEDED.items():
        cells = world.cells(square)
        lost = [cell for cell in cells if not there & {*world.grid.neighbours[cell]}]
        if not cells:
            message = f"the map has no {name}, `{square}`"
            raise InputError(message, path=path, line=rows[-1].number, hint="there is no soup without it")
        if lost and (square == POT or lost == [*cells]):
            x, y = world.grid.xy(lost[0])
            message, hint = f"nobody can reach this {name}", f"floor must lead to it from a start `{START}`"
            raise InputError(message, path=path, line=rows[y].number, column=x + 1, hint=hint)
