"""Worlds in words: what language models are told of their rules, of what people may want there, and of a state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Generic, TypeVar

from otherminds.language.asking import prompts_of
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems import level_files
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, USED, Action, DoorsKeysGems, Thing
from otherminds.worlds.doors_keys_gems.rules import State as Map
from otherminds.worlds.grid import Grid
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked import level_files as kitchen_files
from otherminds.worlds.overcooked.kitchen import DOOR, RECIPES, KitchenLayout, parts
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.overcooked.rules import State as Kitchen

fill = prompts_of("otherminds.papers.protom")

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)


@dataclass(frozen=True)
class Briefing(Generic[S, A]):
    """A world as somebody is told about it who sees everything but what people want.

    rules: how the world works. goals: all that anybody could want, by name. describe: a state in words, with nothing
    left out but what follows from people's goals. draw: a state as a PNG file. spell: an action in words.
    """

    agents: tuple[str, ...]
    rules: str
    goals: Mapping[str, Hashable]
    describe: Callable[[S], str]
    draw: Callable[[S], bytes]
    spell: Callable[[A], str]


# Doors-Keys-Gems


def of_map(world: DoorsKeysGems) -> Briefing[Map, Action]:
    """What there is to say of a map."""

    def draw(state: Map) -> bytes:
        file = BytesIO()
        map_drawing.draw(world, state).png(file)
        return file.getvalue()

    bans = (f"\n{world.agents[i]} can neither take nor be given {world.items[k].name}." for i, k in world.forbidden)
    turns = "In every step each agent does one thing, all at the same time."
    if world.turns == "alternating":
        turns = f"In every step one agent does one thing, in the order {', '.join(world.agents)}; the others stay."
    return Briefing(
        agents=world.agents,
        rules=fill("facilitator-map", agents=", ".join(world.agents), turns=turns, bans="".join(sorted(bans))),
        goals={_name(world, gem): Goal("gem", k) for k, gem in enumerate(world.gems)},
        describe=lambda state: _map_in_words(world, state),
        draw=draw,
        spell=world.spell,
    )


def _name(world: DoorsKeysGems, gem: Thing) -> str:
    """A gem by its colour, and by its name as well if there are others of that colour."""
    alone = sum(other.colour == gem.colour for other in world.gems) == 1
    return f"{gem.colour} gem" + ("" if alone else f" ({gem.name})")


def _map_in_words(world: DoorsKeysGems, state: Map) -> str:
    tiles = [row.split(" ") for row in level_files.draw_text(world, state).split("\n")]
    return fill("facilitator-state", map=_numbered(tiles), lines="\n".join(_map_lines(world, state)))


def _map_lines(world: DoorsKeysGems, state: Map) -> Iterator[str]:
    """Everything that may change, a line each."""
    for i, (agent, cell) in enumerate(zip(world.agents, state.cells, strict=True)):
        held = [item.name for item, holder in zip(world.items, state.items, strict=True) if holder == i]
        yield f"{agent} (a{i + 1}) is at {_at(world.grid, cell)} and holds {', '.join(held) or 'nothing'}."
    for item, holder in zip(world.items, state.items, strict=True):
        yield f"{item.name} ({item.colour}) {_whereabouts(world, item, holder)}."
    for d, door in enumerate(world.doors):
        locked = "locked" if state.locked >> d & 1 else "open"
        yield f"{door.name} ({door.colour}) is at {_at(world.grid, door.cell)} and {locked}."
    if world.turns == "alternating":
        yield f"It is the turn of {world.agents[state.turn]}."


def _whereabouts(world: DoorsKeysGems, item: Thing, holder: int) -> str:
    if holder == GROUND:
        return f"lies at {_at(world.grid, item.cell)}"
    return "is used up" if holder == USED else f"is held by {world.agents[holder]}"


# Kitchens


def of_kitchen(world: Overcooked) -> Briefing[Kitchen, str]:
    """What there is to say of a kitchen. All dishes could be wanted: which ones are ordered is for people to know."""

    def draw(state: Kitchen) -> bytes:
        file = BytesIO()
        kitchen_drawing.draw(world, state).png(file)
        return file.getvalue()

    dishes = "\n".join(f"- {recipe}: {_thing(dish)}" for recipe, dish in RECIPES.items())
    names, numbers = ", ".join(world.agents), ", ".join(f"{i} is {agent}" for i, agent in enumerate(world.agents, 1))
    rooms = _numbered(_rooms(world.layout))
    return Briefing(
        agents=world.agents,
        rules=fill("facilitator-kitchen", agents=names, dishes=dishes, rooms=rooms, numbers=numbers),
        goals={recipe: recipe for recipe in RECIPES},
        describe=lambda state: _kitchen_in_words(world, state),
        draw=draw,
        spell=str,
    )


def _rooms(layout: KitchenLayout) -> list[list[str]]:
    """The kitchen without anything in it, every square of floor by the number of its room."""
    room_of = {cell: str(n) for n, room in enumerate(layout.rooms, 1) for cell in room}
    return [
        [room_of.get(layout.grid.cell(x, y), tile) for x, tile in enumerate(row)] for y, row in enumerate(layout.rows)
    ]


def _kitchen_in_words(world: Overcooked, state: Kitchen) -> str:
    tiles = [row.split() for row in kitchen_files.draw_text(world, state).split("\n")]
    return fill("facilitator-state", map=_numbered(tiles), lines="\n".join(_kitchen_lines(world, state)))


def _kitchen_lines(world: Overcooked, state: Kitchen) -> Iterator[str]:
    """Everything that may change, a line each."""
    layout = world.layout
    for i, (agent, cell, hand) in enumerate(zip(world.agents, state.cells, state.hands, strict=True), 1):
        yield f"{agent} ({i}) is at {_at(layout.grid, cell)}, {_place(layout, cell)}, and holds {_thing(hand)}."
    for k, (cell, thing) in enumerate(zip(layout.counters, state.on, strict=True)):
        if thing:
            where = "cutting board" if k in layout.boards else "counter"
            yield f"On the {where} at {_at(layout.grid, cell)}: {_thing(thing)}."
    for cell, delivered in zip(layout.deliveries, state.delivered, strict=True):
        yield f"Delivered at {_at(layout.grid, cell)}: {'; '.join(map(_thing, delivered)) or 'nothing yet'}."


def _place(layout: KitchenLayout, cell: int) -> str:
    """In which rooms a square is."""
    near = [f"room {n + 1}" for n in range(len(layout.rooms)) if layout.sight[cell] >> n & 1]
    on_door = cell in layout.cells(DOOR)
    return ("on a door, in " if on_door else "in ") + (" and ".join(near) or "no room")


def _thing(thing: int) -> str:
    """A thing by its parts, as messages call it."""
    return "+".join(parts(thing)) or "nothing"


# Both


def _at(grid: Grid, cell: int) -> str:
    return "({}, {})".format(*grid.xy(cell))


def _numbered(tiles: Sequence[Sequence[str]]) -> str:
    """A map with the numbers of its columns and rows."""
    lines = [["", *map(str, range(len(tiles[0])))], *([str(y), *row] for y, row in enumerate(tiles))]
    width = max(len(tile) for line in lines for tile in line)
    return "\n".join(" ".join([line[0].rjust(2), *(tile.ljust(width) for tile in line[1:])]).rstrip() for line in lines)
