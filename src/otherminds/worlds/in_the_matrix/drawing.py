"""Drawing matrix worlds, all of a state or the view of one player: pictures, and maps for a terminal.

Kinds of resources differ in shape, colour and letter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, groupby
from typing import NamedTuple

from otherminds.worlds import sprites
from otherminds.worlds.avatar_drawing import DEAD, FROZEN, READY, Avatar, Note, avatar_parts, with_notes
from otherminds.worlds.avatar_drawing import text_map as avatar_map
from otherminds.worlds.canvas import DIM, Drawing, Tile, centre, ground
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE, NOWHERE, Inventory, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.sprites import CELL, INK, PAPER, Box, Disc, Letters, MovingPart, Polygon, Shapes, mix

BEAM = mix(sprites.HUES["yellow"], sprites.FLOOR, 0.5)
STARS = ((3, 0.5), (4, 0.71), (5, 0.6), (6, 0.87), (4, 0.5), (6, 0.6), (5, 0.81), (8, 0.75), (12, 0.85))
"""Corners and inner radius (a share of the outer one) of the sprites of kinds without one of their own."""
KNOWN_KINDS = {  # the colours of kinds with a sprite of their own
    "rock": sprites.HUES["brown"],
    "paper": sprites.HUES["cyan"],
    "scissors": sprites.HUES["magenta"],
    "cooperate": sprites.HUES["green"],
    "defect": sprites.HUES["red"],
}
LEGEND = """
▲ ▶ ▼ ◀ a player, the way it faces  * ready  # frozen  + zapped"""


# What is visible


class MatrixScene(NamedTuple):
    """What is visible of a state: cells, players, inventories, the resources by cell, the cells of beams by player."""

    visible: frozenset[int]
    avatars: Sequence[Avatar]
    notes: Sequence[Note]
    resources: Mapping[int, int]
    beams: Mapping[int, Sequence[int]]


def matrix_scene(world: InTheMatrix, state: MatrixState, seen_by: str | None = None) -> MatrixScene:
    """All of a state, or what one player sees of it; players do not see beams."""
    rules, players = world.rules, list(range(world.rules.players))
    armed = ["" if inventory == rules.empty else READY for inventory in state.inventories]
    status = [ready if clock == FREE else FROZEN for ready, clock in zip(armed, state.clocks, strict=True)]
    alive = [i for i in players if state.cells[i] != NOWHERE]
    visible, noted_players, zapping = frozenset(chain(*rules.field.grid.rows)), players, alive
    if seen_by is not None:
        noted_players, zapping = [me := world.agents.index(seen_by)], []
        visible = frozenset(world.sight(seen_by, state.cells[me], state.facings[me]).places if me in alive else ())
    return MatrixScene(
        visible=visible,
        avatars=[Avatar(i, state.cells[i], state.facings[i], status[i]) for i in alive if state.cells[i] in visible],
        notes=[_note(rules, i, status[i] if i in alive else DEAD, state.inventories[i]) for i in noted_players],
        resources={c: state.kinds[k] for k, c in enumerate(rules.sites) if state.shown >> k & 1 and c in visible},
        beams={i: _beam(rules, state, i) for i in zapping if _zapped(rules, state, i)},
    )


def _note(rules: Rules, number: int, status: str, inventory: Inventory) -> Note:
    """The note below the map: a player's number, its status, and each kind's count with its sprite."""
    words = (f"{kind} {count}" for kind, count in zip(rules.resources, inventory, strict=True))
    return Note(number, status, tuple(zip(words, kind_shapes(rules.resources), strict=True)))


def _zapped(rules: Rules, state: MatrixState, i: int) -> bool:
    """Whether a player zapped in the last step.

    Cooldowns stand still while players are frozen or dead, so a player that holds nothing at a spawn point may have
    zapped long ago.
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


# Pictures


def draw(world: InTheMatrix, state: MatrixState, *, seen_by: str | None = None) -> Drawing:
    """The picture of a state, all of it or what one player sees, with the inventories below the map."""
    grid, scene = world.rules.field.grid, matrix_scene(world, state, seen_by)
    background = [*ground(grid)]
    for cells in grid.rows:  # fog over the cells that are not seen, each run of floor or wall in one piece
        for (hidden, floor), run in groupby(cells, lambda cell: (cell not in scene.visible, grid.is_floor(cell))):
            first, *rest = run
            if hidden:
                colour, (x, y) = mix(sprites.FLOOR if floor else sprites.WALL, sprites.FOG, 0.7), grid.xy(first)
                background.append(Box(CELL * x, CELL * y, CELL * (1 + len(rest)), CELL, colour))
    parts = moving_parts(world, scene)
    return with_notes("A matrix world", seen_by, grid, world.agents, tuple(background), parts, scene.notes, crisp=True)


def moving_parts(world: InTheMatrix, scene: MatrixScene) -> Iterator[MovingPart]:
    """The parts `beam-i`, drawn around the player that zaps, `resource-k` and `agent-i`, in the order of drawing."""
    rules, grid, looks = world.rules, world.rules.field.grid, kind_shapes(world.rules.resources)
    cells = {avatar.number: avatar.cell for avatar in scene.avatars}
    for i, beam in scene.beams.items():
        x, y = grid.xy(cells[i])
        corners = (((u - x - 0.5) * CELL + 1, (v - y - 0.5) * CELL + 1) for u, v in map(grid.xy, sorted({*beam})))
        lit = tuple(Box(*corner, CELL - 2, CELL - 2, BEAM) for corner in corners)
        yield MovingPart(f"beam-{i}", f"{world.agents[i]} zaps", lit, centre(grid, cells[i]))
    for cell, kind in sorted(scene.resources.items()):
        yield MovingPart(f"resource-{rules.site_at[cell]}", rules.resources[kind], looks[kind], centre(grid, cell))
    yield from avatar_parts(grid, world.agents, scene.avatars, {})


def text_map(world: InTheMatrix, state: MatrixState, seen_by: str | None = None) -> Iterable[Iterable[Tile]]:
    """The rows of the map for a terminal, floor that is not seen left blank, and the inventories below it."""
    grid, scene, kinds = world.rules.field.grid, matrix_scene(world, state, seen_by), world.rules.resources
    letters, hues = sprites.labels(kinds), kind_hues(kinds)
    tiles: dict[int, Tile] = {}
    for cell in chain(*grid.rows):
        floor = " · " if cell in scene.visible else "   "
        tiles[cell] = floor if grid.is_floor(cell) else "███", DIM
    tiles |= {cell: (" + ", "bold yellow") for beam in scene.beams.values() for cell in beam}
    tiles |= {cell: (f"{letters[kinds[k]]:^3}", f"bold {hues[k]}") for cell, k in scene.resources.items()}
    return avatar_map(grid, world.agents, tiles, scene.avatars, scene.notes)


# Resources


@cache
def kind_shapes(kinds: tuple[str, ...]) -> tuple[Shapes, ...]:
    """A sprite for each kind of resource: the known kinds look like their names, others are stars."""
    letters, stars, shapes = sprites.labels(kinds), iter(STARS), []
    for kind, hue in zip(kinds, kind_hues(kinds), strict=True):
        edge, label = mix(hue, INK, 0.5), letters[kind]
        sprite = _known_shapes(kind, hue, edge) if kind in KNOWN_KINDS else _star(*next(stars), hue, edge)
        shapes.append((*sprite, Letters(0, 1, 17 if len(label) == 1 else 12, label, sprites.ink_on(hue))))
    return tuple(shapes)


def kind_hues(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """A colour for each kind of resource, no two alike."""
    taken = {KNOWN_KINDS[kind] for kind in kinds if kind in KNOWN_KINDS}
    free = (hue for hue in sprites.HUES.values() if hue not in taken)
    return tuple(KNOWN_KINDS[kind] if kind in KNOWN_KINDS else next(free) for kind in kinds)


def _star(corners: int, inner: float, colour: str, edge: str) -> Shapes:
    """A star with `corners` points; `inner` is the radius between them as a share of the outer one."""
    radii = ((18, 18 * inner)[n % 2] for n in range(2 * corners))
    angles = (math.pi * n / corners for n in range(2 * corners))
    points = tuple((round(r * math.sin(a), 1), round(-r * math.cos(a), 1)) for r, a in zip(radii, angles, strict=True))
    return (Polygon(points, colour, edge),)


def _known_shapes(kind: str, colour: str, edge: str) -> Shapes:
    """The sprite of a kind in `KNOWN_KINDS`."""
    match kind:
        case "rock":
            points = ((-17, 6), (-14, -8), (-4, -16), (8, -14), (17, -3), (15, 11), (5, 16), (-11, 15))
            light = ((-14, -8), (-4, -16), (8, -14), (2, -9), (-9, -5), (-15, 4))
            return Polygon(points, colour, edge), Polygon(light, mix(colour, PAPER, 0.3))
        case "paper":
            sheet, fold = ((-13, -18), (5, -18), (13, -10), (13, 18), (-13, 18)), ((5, -18), (13, -10), (5, -10))
            return Polygon(sheet, colour, edge), Polygon(fold, mix(colour, PAPER, 0.6), edge)
        case "scissors":
            blade, steel = ((-4, 4), (4, 4), (14, -20), (9, -20)), mix(sprites.GREY, PAPER, 0.45)
            return (
                Polygon(blade, steel, edge),
                Polygon(tuple((-x, y) for x, y in blade), steel, edge),
                *(Disc(x, 13, 7.5, colour, edge) for x in (-9.5, 9.5)),
                *(Disc(x, 14, 3, PAPER, edge) for x in (-10.5, 10.5)),
                Disc(0, 1, 10, colour, edge),
            )
        case "cooperate":  # a heart
            outline = []
            for a in (math.tau * n / 36 for n in range(36)):
                y = 13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a)
                outline.append((round(1.12 * 16 * math.sin(a) ** 3, 1), round(-1.12 * y - 1, 1)))
            return (Polygon(tuple(outline), colour, edge),)
        case _:
            return _star(9, 0.72, colour, edge)
