"""Worlds as pages show them: squares, items and people, as one agent sees them or in full; actions and their keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otherminds.reports.level_replay import LevelScene, level_scene
from otherminds.worlds import canvas
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems.advice import Advice
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.rules import GROUND, Action, DoorsKeysGems
from otherminds.worlds.grid import DIRECTIONS, Grid
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.kitchen import BOARD, COUNTER, DELIVERY, DOOR, FLOOR, RECIPES, WALL, parts
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.planner import IN_HAND, Pass, Pickup
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.sprites import CELL, MovingPart, Shapes, labels, moved, person_shapes

UNSEEN = "?"  # a square that the agent does not see now
UPRIGHT = "d"  # a door in a vertical wall
SKY = "."  # a floor square of Doors, Keys and Gems
KEYS = {"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "stay": " "}
SQUARES = {
    COUNTER: "a counter: things lie here",
    BOARD: "a cutting board: chop here",
    DELIVERY: "the delivery: finished dishes go here",
    DOOR: "a door, always open",
}

Playable = Level | KitchenLevel


def person(scene: LevelScene, i: int) -> dict[str, str]:
    """The legend's entry for agent `i`."""
    agents = scene.world.agents
    return {"svg": _drawing(person_shapes(i, labels(agents)[agents[i]])), "text": agents[i]}


def words(visible: Iterable[MovingPart]) -> str:
    """The visible parts in words, with their squares."""
    titled = [(part.title, (int(part.place[0] // CELL), int(part.place[1] // CELL))) for part in visible if part.place]
    return ". ".join(f"{title} at ({x}, {y})" for title, (x, y) in titled)


def goal(scene: LevelScene, name: str | None) -> dict[str, str] | None:
    """A goal as pages show it; None without a name."""
    if not name:
        return None
    replay_goal = scene.goal(name)
    needs = ", ".join(parts(RECIPES[name])) if name in RECIPES else ""
    return {**replay_goal._asdict(), "needs": needs}


def options(world: Any, state: Any, agent: str) -> list[dict[str, str]]:
    """The actions possible for an agent now, with labels and keys: arrows to move, digits to use items."""
    if isinstance(world, Overcooked):
        return [{"action": a, "label": _label(a), "key": KEYS[a]} for a in (*DIRECTIONS, "stay")]
    spelt_actions = [(world.spell(action), action) for action in world.actions(state, agent)]
    moves = [{"action": a, "label": _label(a), "key": KEYS[a]} for a, _ in spelt_actions if a in KEYS]
    uses = [(spelt, action) for spelt, action in spelt_actions if spelt not in KEYS]
    return moves + [{"action": a, "label": _use(world, use), "key": str(k)} for k, (a, use) in enumerate(uses, 1)]


def _label(action: str) -> str:
    return "Wait" if action == "stay" else action.capitalize()


def _use(world: DoorsKeysGems, action: Action) -> str:
    """The label of an action on an item, by the item's colour instead of its number."""
    thing = world.items[action.item]
    category = "key" if action.item < len(world.keys) else "gem"
    if action.verb == "unlock":
        return f"Unlock the {world.doors[action.target].colour} door"
    if action.verb == "handover":
        return f"Hand the {thing.colour} {category} to {world.agents[action.target]}"
    return f"Pick up the {thing.colour} {category}"


def _drawing(shapes: Shapes) -> str:
    return "".join(canvas.svg_shape(shape) for shape in shapes)


class KitchenBoard:
    """A kitchen as pages show it; `size` is its width and height in squares, `squares` the SVG of each kind."""

    def __init__(self, world: Overcooked) -> None:
        """The board of a kitchen. Doors in vertical walls become UPRIGHT in its map; maps are kept by sight."""
        self.world, self.scene = world, level_scene(KitchenLevel("", world, 1))
        self.size = len(world.layout.rows[0]), len(world.layout.rows)
        doors = {DOOR: kitchen_drawing.door(True), UPRIGHT: kitchen_drawing.door(False)}
        self.squares = {tile: _drawing(shapes) for tile, shapes in {**kitchen_drawing.SQUARES, **doors}.items()}
        self._whole = [list(row) for row in world.layout.rows]
        for cell in world.layout.cells(DOOR):
            x, y = world.layout.grid.xy(cell)
            if not kitchen_drawing.leads_across(world, cell):
                self._whole[y][x] = UPRIGHT
        self._rows_by_sight: dict[int, list[str]] = {}

    def rows(self, state: Any, agent: str | None) -> list[str]:
        """The rows of the map, one character a square, UNSEEN where the agent does not see; None sees everything."""
        if agent is None:
            return ["".join(row) for row in self._whole]
        layout = self.world.layout
        sight = layout.sight[state.cells[self.world.agents.index(agent)]]
        if sight not in self._rows_by_sight:
            cells = layout.cells(FLOOR, COUNTER, BOARD, DELIVERY, DOOR)
            visible = {layout.grid.xy(cell) for cell in cells if layout.sight[cell] & sight}
            bordering = {(x + dx, y + dy) for x, y in visible for dx in (-1, 0, 1) for dy in (-1, 0, 1)}  # for walls
            self._rows_by_sight[sight] = [
                "".join(c if (x, y) in (bordering if c == WALL else visible) else UNSEEN for x, c in enumerate(row))
                for y, row in enumerate(self._whole)
            ]
        return self._rows_by_sight[sight]

    def drawn(self, state: Any, agent: str | None) -> Iterable[MovingPart]:
        """All parts that may change and that the agent sees, in drawing order."""
        return kitchen_drawing.moving_parts(self.world, self.world.observe(state, agent) if agent else state)

    def place(self, state: Any, message: Pass | Pickup) -> list[int] | None:
        """The square [x, y] that a message is about; None if there is none."""
        if message.place == IN_HAND:
            return None
        return list(self.world.layout.grid.xy(self.world.layout.counters[message.place]))

    def legend(self) -> list[dict[str, str]]:
        """The drawings of squares and items, with their descriptions."""
        tiles = {tile for row in self.world.layout.rows for tile in row}
        return [{"svg": self.squares[tile], "text": text} for tile, text in SQUARES.items() if tile in tiles]


class MapBoard:
    """A map of Doors, Keys and Gems as pages show it, with the attributes and methods of `KitchenBoard`."""

    def __init__(self, world: DoorsKeysGems) -> None:
        """The board of a map, in which every square is floor (SKY) or wall, whatever stands on it."""
        self.world, self.scene = world, level_scene(Level("", world))
        grid = world.grid
        self.size = grid.width, grid.height
        blank = canvas.ground(Grid.of(1, 1, ())), canvas.ground(Grid.of(1, 1, ((0, 0),)))
        floor, wall = (_drawing(tuple(moved(shapes, -CELL / 2, -CELL / 2))) for shapes in blank)
        self.squares = {SKY: floor, WALL: wall}
        self._rows = [
            "".join(SKY if grid.is_floor(grid.cell(x, y)) else WALL for x in range(grid.width))
            for y in range(grid.height)
        ]

    def rows(self, state: Any, agent: str | None) -> list[str]:
        """The rows of the map, one character a square; every agent sees everything."""
        return self._rows

    def drawn(self, state: Any, agent: str | None) -> Iterable[MovingPart]:
        """All parts that may change, in drawing order."""
        return map_drawing.moving_parts(self.world, state)

    def place(self, state: Any, message: Advice) -> list[int] | None:
        """The square [x, y] that a message is about; None if there is none."""
        thing = message.goal.thing
        if message.goal.kind == "door":
            return list(self.world.grid.xy(self.world.doors[thing].cell))
        return list(self.world.grid.xy(self.world.keys[thing].cell)) if state.items[thing] == GROUND else None

    def legend(self) -> list[dict[str, str]]:
        """The drawings of squares and items, with their descriptions."""
        texts = (("item", "a key: opens one door of its colour"), ("door", "a locked door"), ("gem", "a gem"))
        examples = {}
        for part in reversed(map_drawing.moving_parts(self.world, self.world.initial)):
            kind, _, number = part.name.partition("-")
            examples["gem" if kind == "item" and int(number) >= len(self.world.keys) else kind] = part
        return [{"svg": canvas.svg_look(examples[kind]), "text": text} for kind, text in texts if kind in examples]


WorldBoard = KitchenBoard | MapBoard


def board(level: Playable) -> WorldBoard:
    """The world of a level as pages show it."""
    return KitchenBoard(level.world) if isinstance(level, KitchenLevel) else MapBoard(level.world)
