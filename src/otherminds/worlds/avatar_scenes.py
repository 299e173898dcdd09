"""What is to be seen in worlds with avatars, matrix worlds and kitchens that make soup: all of it, or by one player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from otherminds.files.text import printable
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.collaborative_cooking import things
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.rules import State as KitchenState
from otherminds.worlds.grid import Grid
from otherminds.worlds.in_the_matrix import world as matrix
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE, NOWHERE, Inventory, Rules
from otherminds.worlds.in_the_matrix.rules import State as MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix

AvatarWorld = InTheMatrix | CollaborativeCooking
AvatarState = MatrixState | KitchenState

LOOKS = ("", "ready", "frozen")
DEAD = "dead"


class Avatar(NamedTuple):
    """A player as it is seen: where it is, the direction it faces, whether it is ready or frozen, what it holds."""

    number: int
    cell: int
    facing: int
    look: int = matrix.PLAIN
    hand: int = things.NOTHING


class Note(NamedTuple):
    """What is said of a player below the map: how it is, and how many it holds of each kind, or the thing in hand."""

    number: int
    how: str
    inventory: Inventory
    hand: int = things.NOTHING


class Scene(NamedTuple):
    """What is seen of a state: which cells, what is on them, by cell, and the cells of the beams, by player."""

    seen: frozenset[int]
    avatars: Sequence[Avatar]
    notes: Sequence[Note]
    resources: Mapping[int, int] = {}
    counters: Mapping[int, int] = {}
    pots: Mapping[int, things.Pot] = {}
    beams: Mapping[int, Sequence[int]] = {}


def scene(world: AvatarWorld, state: AvatarState, seen_by: str | None = None) -> Scene:
    """All of a state, or what one player sees of it; beams are not among what players see."""
    if isinstance(world, InTheMatrix):
        assert isinstance(state, MatrixState)
        return _whole_matrix(world, state) if seen_by is None else _matrix_of(world, state, seen_by)
    assert isinstance(state, KitchenState)
    return _whole_kitchen(world, state) if seen_by is None else _kitchen_of(world, state, seen_by)


def grid_of(world: AvatarWorld) -> Grid:
    """The map of a world."""
    return world.rules.field.grid if isinstance(world, InTheMatrix) else world.grid


def _every_cell(grid: Grid) -> frozenset[int]:
    return frozenset(grid.cell(x, y) for y in range(grid.height) for x in range(grid.width))


def _whole_matrix(world: InTheMatrix, state: MatrixState) -> Scene:
    rules, players = world.rules, range(world.rules.players)
    looks = [_look(rules, inventory, clock) for inventory, clock in zip(state.inventories, state.clocks, strict=True)]
    alive = [i for i in players if state.cells[i] != NOWHERE]
    return Scene(
        seen=_every_cell(rules.field.grid),
        avatars=[Avatar(i, state.cells[i], state.facings[i], looks[i]) for i in alive],
        notes=[Note(i, LOOKS[looks[i]] if i in alive else DEAD, state.inventories[i]) for i in players],
        resources={cell: state.kinds[k] for k, cell in enumerate(rules.sites) if state.shown >> k & 1},
        beams={i: _beam(rules, state, i) for i in alive if _zapped(rules, state, i)},
    )


def _look(rules: Rules, inventory: Inventory, clock: int) -> int:
    if clock != FREE:
        return matrix.FROZEN
    return matrix.PLAIN if inventory == rules.empty else matrix.READY


def _zapped(rules: Rules, state: MatrixState, i: int) -> bool:
    """Whether a player has zapped in the last step.

    Cooldowns stand still while players are frozen or dead, so whoever holds nothing and is where players return may
    have zapped long ago.
    """
    if state.cooldowns[i] != COOLDOWN or state.clocks[i] not in (FREE, 0):
        return False
    returned = state.inventories[i] == rules.empty and state.cells[i] in rules.spawns
    return state.clocks[i] == 0 or not returned


def _beam(rules: Rules, state: MatrixState, i: int) -> list[int]:
    """The cells of a beam, each of its lines up to the first player or resource, which is hit."""
    stops = {rules.sites[k] for k in range(len(rules.sites)) if state.shown >> k & 1} | {*state.cells}
    cells = []
    for line in rules.beams[state.cells[i] * 4 + state.facings[i]]:
        for cell in line:
            cells.append(cell)
            if cell in stops:
                break
    return cells


def _matrix_of(world: InTheMatrix, state: MatrixState, agent: str) -> Scene:
    view, me = world.observe(state, agent), world.agents.index(agent)
    codes = dict(zip(world.cells_seen(agent, view.cell, view.facing), view.window, strict=True)) if view.window else {}
    codes.pop(OUTSIDE, None)
    found = {cell: who for cell, code in codes.items() if (who := matrix.sighting(code))}
    avatars = [Avatar(who.player, cell, (who.facing + view.facing) % 4, who.look) for cell, who in found.items()]
    how = next((LOOKS[avatar.look] for avatar in avatars if avatar.number == me), DEAD)
    return Scene(
        seen=frozenset(codes),
        avatars=avatars,
        notes=[Note(me, how, view.inventory)],
        resources={c: code - matrix.RESOURCE for c, code in codes.items() if matrix.RESOURCE <= code < matrix.PLAYER},
    )


def _whole_kitchen(world: CollaborativeCooking, state: KitchenState) -> Scene:
    lying = zip(world.counters, state.counters, strict=True)
    return Scene(
        seen=_every_cell(world.grid),
        avatars=[Avatar(i, body.cell, body.facing, hand=body.hand) for i, body in enumerate(state.bodies)],
        notes=[Note(i, "", (), body.hand) for i, body in enumerate(state.bodies)],
        counters={cell: thing for cell, thing in lying if thing},
        pots=dict(zip(world.pots, state.pots, strict=True)),
    )


def _kitchen_of(world: CollaborativeCooking, state: KitchenState, agent: str) -> Scene:
    view = world.observe(state, agent)
    codes = dict(zip(world.field.window(view.cell, view.facing), view.window, strict=True))
    codes.pop(OUTSIDE, None)
    found = {cell: who for cell, code in codes.items() if (who := things.player_of(code))}
    counters = {cell: code - things.SEES_COUNTER for cell, code in codes.items()}
    pots = {cell: _pot(code) for cell, code in codes.items() if things.SEES_POT <= code < things.SEES_PLAYER}
    return Scene(
        seen=frozenset(codes),
        avatars=[Avatar(who.number, cell, who.facing, hand=who.hand) for cell, who in found.items()],
        notes=[Note(world.agents.index(agent), "", (), view.hand)],
        counters={cell: thing for cell, thing in counters.items() if things.NOTHING < thing < len(things.THINGS)},
        pots=pots,
    )


def _pot(code: int) -> things.Pot:
    return things.Pot(things.FULL, 0, True) if code == things.SEES_SOUP else things.Pot(code - things.SEES_POT)


# In words


def holdings(world: AvatarWorld, note: Note) -> list[str]:
    """What a player holds, in words."""
    if isinstance(world, InTheMatrix):
        return [f"{kind} {count}" for kind, count in zip(world.rules.resources, note.inventory, strict=True)]
    return [things.THINGS[note.hand]]


def sentence(world: AvatarWorld, note: Note) -> str:
    """A note in words: `player_0, ready: rock 1 paper 6 scissors 1`."""
    name = ", ".join(filter(None, (printable(world.agents[note.number]), note.how)))
    return f"{name}: {' '.join(holdings(world, note))}"
