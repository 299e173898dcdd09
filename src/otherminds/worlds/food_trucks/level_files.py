"""Files of the world of food trucks: a map, an empty line, and `key: value` lines that may include a walk.

    A.......
    ........
    S.####..
    ..####..
    .......B

    parked: Lebanese
    walk: down down stay up up up up eat

The map has walls `#`, floor `.`, the start `S`, the spot `A` of the first truck, and the spot `B`, behind the walls.
`parked` says which truck is at `B`, or nothing. `walk` has actions: stay, up, down, left, right and, at a truck, eat.
`name`, `trucks` (Korean, Lebanese, Mexican), and `rewards`, one for each of them, may be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path

from otherminds.errors import InputError
from otherminds.files.text import read_text
from otherminds.worlds import map_file
from otherminds.worlds.food_trucks.rules import NOTHING, TRUCKS, FoodTrucks, walk
from otherminds.worlds.grid import Grid
from otherminds.worlds.map_file import FileLine, MapFile

EXAMPLES = {
    "parked": "parked: Lebanese",
    "walk": "walk: right right eat",
    "name": "name: two corners",
    "trucks": "trucks: Korean, Lebanese, Mexican",
    "rewards": "rewards: 60, 100, 0",
}
WALL, FLOOR, START, KNOWN, HIDDEN = "#", ".", "S", "A", "B"
LEVELS = resources.files("otherminds.worlds.food_trucks") / "levels"
MOST_TRUCKS = 4  # hypotheses grow with the power of the number of trucks; chosen


@dataclass(frozen=True)
class FoodTruckLevel:
    """A world, what is parked at the hidden spot, and the actions of a walk through it."""

    name: str
    world: FoodTrucks
    parked: str
    actions: tuple[str, ...] = ()

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The cells of the walk, one more than there are actions."""
        return tuple(walk(self.world, self.parked, self.actions))

    @property
    def layout(self) -> FoodTrucks:
        """The world with its start at the first truck: levels with the same layout share plans."""
        return replace(self.world, beginning=self.world.known_spot)


def read_food_trucks(path: Path) -> FoodTruckLevel:
    """Read a level file. Raises InputError with the line of the first error."""
    return parse_food_trucks(read_text(path), path)


def bundled_food_trucks() -> list[FoodTruckLevel]:
    """The bundled levels, each with an example of a walk."""
    return [parse_food_trucks(text, path) for text, path in map_file.level_texts(LEVELS)]


def parse_food_trucks(text: str, path: Path) -> FoodTruckLevel:
    """Read a level from text; errors name `path`. Raises InputError like `read_food_trucks`."""
    plan = map_file.read_map(text, path, EXAMPLES, ("parked",))
    map_file.check_characters(plan.rows, (WALL, FLOOR, START, KNOWN, HIDDEN))
    world = _world(plan)
    parked = plan.settings["parked"]
    if parked.text not in world.contents:
        raise parked.wrong(f"`{parked.text}` cannot be parked there", f"one of {', '.join(world.contents)}")
    actions = tuple(plan.settings["walk"].text.split()) if "walk" in plan.settings else ()
    name = plan.settings["name"].text if "name" in plan.settings else path.stem
    level = FoodTruckLevel(name, world, parked.text, actions)
    try:
        _ = level.cells
    except ValueError as error:
        raise plan.settings["walk"].wrong(str(error), "stay, up, down, left, right, or eat at a truck") from None
    return level


def _world(plan: MapFile) -> FoodTrucks:
    """The world of a file: its map, with one start and one place for each spot, the trucks, and their rewards."""
    rows = [line.text for line in plan.rows]
    grid = Grid.of_map(rows, (FLOOR, START, KNOWN, HIDDEN))
    places = {}
    for letter, what in ((KNOWN, "first truck"), (HIDDEN, "other spot"), (START, "start")):
        cells = grid.marked(rows, letter)
        if len(cells) != 1:
            raise plan.rows[0].wrong(f"the map has {len(cells)} places for the {what}", f"mark one with `{letter}`")
        places[letter] = cells[0]
    trucks = _trucks(plan.settings["trucks"]) if "trucks" in plan.settings else TRUCKS
    rewards = (0.0,) * len(trucks)
    if "rewards" in plan.settings:
        line = plan.settings["rewards"]
        rewards = tuple(map_file.number(part.strip(), "rewards", line) for part in line.text.split(","))
        if len(rewards) != len(trucks):
            raise line.wrong(f"`rewards` has {len(rewards)} numbers for {len(trucks)} trucks")
    return FoodTrucks(grid, places[KNOWN], places[HIDDEN], places[START], trucks, rewards)


def _trucks(line: FileLine) -> tuple[str, ...]:
    """The names of the trucks. Raises InputError for fewer than 2, too many, or one called `nothing`."""
    trucks = map_file.agent_names(line)
    if not 2 <= len(trucks) <= MOST_TRUCKS or NOTHING in trucks:
        raise line.wrong(f"`trucks` has 2 to {MOST_TRUCKS} names, none of them `{NOTHING}`")
    return trucks


def draw_text(level: FoodTruckLevel) -> str:
    """The text of a level file, which `parse_food_trucks` reads back, without rewards."""
    world = level.world
    letters = {world.known_spot: KNOWN, world.hidden_spot: HIDDEN, world.beginning: START}
    if len(letters) < 3:
        raise InputError(f"level `{level.name}` begins at a truck, which a map cannot show")
    rows = ("".join(letters.get(c, FLOOR if world.grid.is_floor(c) else WALL) for c in row) for row in world.grid.rows)
    lines = _setting_lines(level)
    return "\n".join([*rows, "", *lines, ""])


def _setting_lines(level: FoodTruckLevel) -> Sequence[str]:
    """The `key: value` lines of a level, `walk` only if there is one."""
    lines = [f"name: {level.name}", f"trucks: {', '.join(level.world.trucks)}", f"parked: {level.parked}"]
    return [*lines, f"walk: {' '.join(level.actions)}"] if level.actions else lines
