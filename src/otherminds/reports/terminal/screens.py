"""Worlds in the terminal: maps in colour, what everybody is believed to want as bars, and what has been said."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from otherminds.distribution import Categorical
from otherminds.files.text import printable
from otherminds.worlds.avatar_scenes import AvatarWorld, Scene, grid_of, scene, sentence
from otherminds.worlds.avatar_sprites import kind_hues
from otherminds.worlds.collaborative_cooking import things
from otherminds.worlds.doors_keys_gems.level_files import draw_text
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, State
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.overcooked.drawing import HUES, out_of_sight, recipe_mark
from otherminds.worlds.overcooked.kitchen import BOARD, COUNTER, DELIVERY, DOOR, FLOOR, FRESH, PLATE, WALL, parts
from otherminds.worlds.overcooked.rules import UNSEEN, KitchenView, Overcooked
from otherminds.worlds.overcooked.rules import State as Kitchen
from otherminds.worlds.sprites import labels

STYLES = {
    "red": "#d55e00",
    "blue": "#0072b2",
    "yellow": "#e6c700",
    "green": "#009e73",
    "purple": "#cc79a7",
    "orange": "#e69f00",
    "cyan": "#56b4e9",
    "magenta": "#d020a0",
    "brown": "#a0662a",
    "white": "#dddddd",
}
PERSON = "bold reverse"
DIM = "grey35"
WIDTH = 4
FILLS: Mapping[str, str] = {FLOOR: " ", WALL: "█", COUNTER: "░", BOARD: "/", DELIVERY: "*", DOOR: " "}
BARE: Mapping[str, str] = {FLOOR: " ·  ", DOOR: " ∩  "}
SQUARES: Mapping[str, str] = {
    FLOOR: DIM,
    WALL: DIM,
    COUNTER: "#a0805a",
    BOARD: "#e69f00",
    DELIVERY: "#56b4e9",
    DOOR: "#009e73",
}
LEGEND = """
░ counter  / board  * delivery  ∩ door  █ wall  ? not seen
t l o fresh tomato, lettuce, onion  T L O chopped  ( ) plate"""

Piece = tuple[str, str]
"""Some characters and their style."""

ARROWS, MARKS = "▲▶▼◀", " *#"
SITES: Mapping[str, Piece] = {
    things.FLOOR: (" · ", DIM),
    things.START: (" · ", DIM),
    things.VOID: ("███", DIM),
    things.COUNTER: ("░░░", SQUARES[COUNTER]),
    things.TOMATOES: ("[t]", f"bold {HUES['tomato']}"),
    things.DISHES: ("[d]", "bold"),
    things.DELIVERY: ("***", SQUARES[DELIVERY]),
    things.POT: ("(0)", "bold"),
}
MATRIX_LEGEND = """
▲ ▶ ▼ ◀ a player, the way it faces  * ready  # frozen  + zapped"""
SOUP_LEGEND = """
▲ ▶ ▼ ◀ a player, the way it faces, and what it holds
t tomato  d dish  s soup  [ ] dispenser  ( ) pot  *** delivery  ░ counter"""

Known = DoorsKeysGems | Overcooked


def picture(world: Known | AvatarWorld, state: Any, seen_by: str | None = None) -> Text:
    """The map in colours; all of it or what one agent sees, which is everything in Doors-Keys-Gems."""
    if isinstance(world, Overcooked):
        return _kitchen(world, state, seen_by)
    return _map(world, state) if isinstance(world, DoorsKeysGems) else _avatars(world, scene(world, state, seen_by))


def legend(world: Known | AvatarWorld) -> str:
    """What the signs of a map mean, where they do not speak for themselves."""
    if isinstance(world, DoorsKeysGems):
        return ""
    if isinstance(world, Overcooked):
        return LEGEND
    return MATRIX_LEGEND if isinstance(world, InTheMatrix) else SOUP_LEGEND


def _lines(rows: Iterable[Iterable[Piece]]) -> Text:
    return Text("\n").join(Text.assemble(*row) for row in rows)


# Doors-Keys-Gems


def _map(world: DoorsKeysGems, state: State) -> Text:
    """Walls as blocks and things in their colours; a1, a2 … are the people."""
    things = {(*world.grid.xy(thing.cell),): thing.colour for thing in (*world.keys, *world.doors, *world.gems)}
    rows = (row.split(" ") for row in draw_text(world, state).split("\n"))
    return _lines([_tile(tile, things.get((x, y), "")) for x, tile in enumerate(row)] for y, row in enumerate(rows))


def _tile(tile: str, colour: str) -> Piece:
    if tile == "##":
        return "███", DIM
    if tile == "..":
        return " · ", DIM
    if tile[0] == "a":
        return f" {tile}"[-3:], PERSON
    sign = {"k": "⚷", "d": "▒", "g": "◆"}[tile[0]]
    return f"{sign}{tile[1]} " if tile[0] != "d" else f"▒{tile[1]}▒", f"bold {STYLES.get(colour, 'white')}"


# Kitchens


def _kitchen(world: Overcooked, state: Kitchen, seen_by: str | None) -> Text:
    """Squares with what is on them, beside the numbers of columns and rows; floor that is not seen is blank."""
    view: Kitchen | KitchenView = state if seen_by is None else world.observe(state, seen_by)
    fog = set() if seen_by is None else out_of_sight(world, state.cells[world.agents.index(seen_by)])
    content, grid = _content(world, view), world.layout.grid
    margin = len(str(grid.height - 1))
    rows: list[list[Piece]] = [[(" " * margin, DIM), *((f"  {x}".ljust(WIDTH), DIM) for x in range(grid.width))]]
    for y, tiles in enumerate(world.layout.rows):
        rows.append([(f"{y:>{margin}} ", DIM)])
        for x, tile in enumerate(tiles):
            cell = grid.cell(x, y)
            rows[-1] += _square(tile, content.get(cell, []), cell in fog)
    return _lines(rows)


def _content(world: Overcooked, view: Kitchen | KitchenView) -> dict[int, list[Piece]]:
    """What is on each square, where there is anything: things, dishes, people with what they carry."""
    layout = world.layout
    found = {cell: _thing(thing) for cell, thing in zip(layout.counters, view.on, strict=True)}
    found |= {cell: _dishes(dishes) for cell, dishes in zip(layout.deliveries, view.delivered, strict=True)}
    for i, (cell, thing) in enumerate(zip(view.cells, view.hands, strict=True), 1):
        found[cell] = [(str(i), PERSON), *_thing(thing)]
    return found


def _thing(thing: int) -> list[Piece]:
    """The letters of foods, capitals if they are chopped, between brackets if they are on a plate."""
    if thing == UNSEEN:
        return [("?", DIM)]
    foods = [name.split()[1] for name in parts(thing) if name != "plate"]
    letters = [(f[0] if thing in FRESH.values() else f[0].upper(), f"bold {HUES[f]}") for f in foods]
    return [("(", "bold"), *letters, (")", "bold")] if thing & PLATE else letters


def _dishes(dishes: tuple[int, ...] | None) -> list[Piece]:
    """What has been delivered: nothing, one dish, or how many."""
    if dishes is None:
        return _thing(UNSEEN)
    return [(f"×{len(dishes)}", "bold")] if len(dishes) > 1 else _thing(sum(dishes))


def _square(tile: str, content: Sequence[Piece], hidden: bool) -> list[Piece]:
    """One square, always as wide; a dish too large for it is cut off."""
    style, fill = DIM if hidden else SQUARES[tile], FILLS[tile]
    if not content:
        return [(fill * WIDTH if hidden else BARE.get(tile, fill * WIDTH), style)]
    long = sum(len(text) for text, _ in content)
    if long > WIDTH:
        return [*content[: WIDTH - 1], ("…", style)]
    left = int(long < WIDTH)
    return [(fill * left, style), *content, (fill * (WIDTH - left - long), style)]


# Worlds with avatars


def _avatars(world: AvatarWorld, seen: Scene) -> Text:
    """The map, floor that is not seen left blank, and below it what players hold."""
    grid, pieces = grid_of(world), _squares(world)
    for cell in pieces.keys() - seen.seen:
        pieces[cell] = (pieces[cell][0].replace("·", " "), DIM)
    pieces |= {cell: (" + ", "bold yellow") for cells in seen.beams.values() for cell in cells}
    pieces |= _lying(world, seen)
    for number, cell, facing, look, hand in seen.avatars:
        sign = things.THINGS[hand][0] if hand else MARKS[look]
        pieces[cell] = (f"{ARROWS[facing]}{number}{sign}", PERSON)
    rows = ([pieces[grid.cell(x, y)] for x in range(grid.width)] for y in range(grid.height))
    notes = ([(f"{note.number} {sentence(world, note)}", "")] for note in seen.notes)
    return _lines([*rows, *notes])


def _squares(world: AvatarWorld) -> dict[int, Piece]:
    """What never changes, by cell."""
    if isinstance(world, InTheMatrix):
        grid = grid_of(world)
        cells = (grid.cell(x, y) for y in range(grid.height) for x in range(grid.width))
        return {cell: (" · " if grid.is_floor(cell) else "███", DIM) for cell in cells}
    return {cell: piece for square, piece in SITES.items() for cell in world.cells(square)}


def _lying(world: AvatarWorld, seen: Scene) -> dict[int, Piece]:
    """What lies about and can be taken, by cell."""
    if isinstance(world, InTheMatrix):
        kinds = world.rules.resources
        letters, hues = labels(kinds), kind_hues(kinds)
        return {cell: (f"{letters[kinds[k]]:^3}", f"bold {hues[k]}") for cell, k in seen.resources.items()}
    found = {cell: (f"░{things.THINGS[thing][0]}░", "bold") for cell, thing in seen.counters.items()}
    pots = {cell: (f"({'s' if pot.cooked else pot.tomatoes})", "bold") for cell, pot in seen.pots.items()}
    return found | pots


# What everybody wants


class _Goals(NamedTuple):
    """How goals are shown: their names and styles, the length of a full bar, and what everybody really wants."""

    name: Callable[[Any], str]
    style: Callable[[Any], str]
    length: int
    truth: Sequence[Hashable]


def _goals(world: Known) -> _Goals:
    if isinstance(world, Overcooked):
        return _Goals(lambda g: g or "nothing", lambda g: recipe_mark(g)[1] if g else DIM, 12, world.recipes)
    colours = [gem.colour for gem in world.gems]
    return _Goals(
        name=lambda goal: colours[goal.thing],
        style=lambda goal: STYLES.get(colours[goal.thing], "white"),
        length=24,
        truth=[Goal("gem", gem) for gem in world.goals],
    )


def bars(world: Known, i: int, belief: Categorical[Any], title: str) -> RenderableType:
    """P(goal) of one agent as bars; a star marks what it really wants."""
    goals, grid = _goals(world), Table.grid(padding=(0, 1))
    truth = goals.truth[i]
    for goal, p in belief:
        filled = "█" * round(p * goals.length)
        bar = Text(filled.ljust(goals.length, "░"), style=goals.style(goal))
        grid.add_row(f"{'★' if goal == truth else ' '} {escape(goals.name(goal))}", bar, f"{p:.2f}")
    if truth not in belief.support:
        grid.add_row(f"★ {escape(goals.name(truth))}", Text("unforeseen", style=DIM), "")
    return Panel(grid, title=Text(title), title_align="left", expand=False)


def frame(world: Known, state: Any, beliefs: Mapping[str, Any], said: Iterable[str], caption: str) -> RenderableType:
    """One step of an episode: the map, what everybody is believed to want, and what has been said."""
    panels = [bars(world, i, beliefs[a], _title(world, state, i)) for i, a in enumerate(world.agents) if a in beliefs]
    map_panel = Panel(picture(world, state), title=Text(printable(caption)), title_align="left", expand=False)
    return Group(Columns([map_panel, Group(*panels)]), *(Text(f"» {words}", style="bold") for words in said))


def _title(world: Known, state: Any, i: int) -> str:
    """Who somebody is and, in kitchens, what they carry."""
    if not isinstance(world, Overcooked):
        return world.agents[i]
    carried = ", ".join(parts(state.hands[i]))
    return f"{i + 1} {world.agents[i]}" + (f": {carried}" if carried else "")


def posteriors(history: Sequence[Mapping[str, Any]]) -> Table:
    """What everybody did at each step, and what they were believed to want: a column for each of their goals."""
    people: Mapping[str, Mapping[str, float]] = history[0]["posterior"]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("t", justify="right")
    for agent in people:
        table.add_column(f"{agent}\ndid")
    for agent, belief in people.items():
        for goal in belief:
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "\n", goal)  # OnionSalad
            table.add_column(f"{agent}:\n{words}?", justify="right")
    for row in history:
        deeds = [row["joint"].get(agent, "") for agent in people]
        table.add_row(str(row["t"]), *deeds, *(f"{p:.2f}" for a in people for p in row["posterior"][a].values()))
    return table
