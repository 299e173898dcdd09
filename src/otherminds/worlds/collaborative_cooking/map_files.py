"""Maps for collaborative cooking as text files: a map, an empty line, and lines of `key: value`.

    #########    one character a square: a space is floor, `P` floor with a start, `#` counter,
    O #T#O# T    `O` dispenser of tomatoes, `D` dispenser of dishes, `C` pot, `T` delivery, `x` void
    # P C P #
    #   C   #
    ###D#D###

    players: 2           or `agents: Ana, Ben`
    window: 2 2 3 1      cells that a player sees to the left, to the right, forward, backward
    steps: 1000          length of an episode
    cook: 20             a soup is done `cook` + 1 steps after the third tomato
    reward: 20           reward of every player for a delivered soup

All rows are equally long, without floor on the border. `source` may say where the map comes from. Lines that begin
with `;` are comments.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from otherminds.files.text import read_text
from otherminds.worlds import map_file
from otherminds.worlds.collaborative_cooking import rules
from otherminds.worlds.collaborative_cooking.rules import DELIVERY, DISHES, POT, TOMATOES, CollaborativeCooking
from otherminds.worlds.map_file import MapFile

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
    """Read a map file. Raises InputError with the line and column of the first error."""
    return parse_cooking(read_text(path), path)


@cache
def cooking_asymmetric() -> CollaborativeCooking:
    """The kitchen of Melting Pot's `collaborative_cooking__asymmetric`: two rooms, each far from one of the squares."""
    return parse_cooking(*map_file.bundled_text("collaborative_cooking", "substrates", "cooking_asymmetric.txt"))


def parse_cooking(text: str, path: Path) -> CollaborativeCooking:
    """Read a kitchen from text; errors name `path`. Raises InputError for an invalid kitchen."""
    plan = map_file.read_map(text, path, EXAMPLES, REQUIRED)
    map_file.check_characters(plan.rows, rules.SQUARES)
    _check_border(plan)
    settings = plan.settings
    world = CollaborativeCooking(
        rows=tuple(row.text for row in plan.rows),
        agents=map_file.players_of(plan, rules.START),
        reach=map_file.reach_of(settings["window"]),
        steps=map_file.whole(settings["steps"], "steps", least=1),
        cook=map_file.whole(settings["cook"], "cook"),
        pay=map_file.number(settings["reward"].text, "reward", settings["reward"]),
    )
    _check_use(world, plan)
    return world


def _check_border(plan: MapFile) -> None:
    """Raise InputError for floor on the border of the map."""
    rows = plan.rows
    for y, line in enumerate(rows):
        width = len(line.text)
        for column in range(1, width + 1) if y in (0, len(rows) - 1) else (1, width):
            if line.text[column - 1] in (rules.FLOOR, rules.START):
                hint = f"close it, for example with a counter `{rules.COUNTER}`"
                raise line.wrong("floor on the border of the map", hint, column)


def _check_use(world: CollaborativeCooking, plan: MapFile) -> None:
    """Raise InputError for an unreachable pot, or if a kind of square that a soup needs is missing or unreachable."""
    rows = plan.rows
    reachable = map_file.reached(world.grid, world.starts)
    for square, name in NEEDED.items():
        cells = world.cells(square)
        unreachable = [cell for cell in cells if not reachable & {*world.grid.neighbours[cell]}]
        if not cells:
            raise rows[-1].wrong(f"the map has no {name}, `{square}`", "no soup can be made without it")
        if unreachable and (square == POT or unreachable == [*cells]):
            x, y = world.grid.xy(unreachable[0])
            hint = f"floor must lead to it from a start `{rules.START}`"
            raise rows[y].wrong(f"no player can reach this {name}", hint, x + 1)
