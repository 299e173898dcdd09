"""What worlds with avatars look like, to everybody or to one player: one description, shown as SVG, PNG or a film.

These worlds are matrix worlds and kitchens that make soup. Below the map it says what each player holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO

from PIL import Image

from otherminds.errors import InputError
from otherminds.worlds.avatar_scenes import (
    LOOKS,
    AvatarState,
    AvatarWorld,
    Note,
    Scene,
    grid_of,
    holdings,
    scene,
    sentence,
)
from otherminds.worlds.avatar_sprites import HELD_THINGS, SITES, at_hand, avatar_shapes, kind_shapes, pot_shapes
from otherminds.worlds.canvas import ground, painted, save_png, svg_part, svg_shape, svg_text
from otherminds.worlds.collaborative_cooking import things
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.grid import Grid
from otherminds.worlds.in_the_matrix import world as matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.sprites import (
    CELL,
    FLOOR,
    FOG,
    GREY,
    HELD,
    HUES,
    INK,
    PAPER,
    WALL,
    Box,
    Letters,
    Part,
    Place,
    Shape,
    Shapes,
    badge,
    dimmed,
    labels,
    mix,
    moved,
)

BEAM = mix(HUES["yellow"], FLOOR, 0.5)
DIRECTIONS = ("north", "east", "south", "west")
NOTE, NAME, HOLDING = 52, 156, 132
LONGEST = 12
FRAME = 100


def short(agents: Sequence[str]) -> dict[str, str]:
    """What stands on each avatar: the number at the end of its name, if all have different ones, or its initials."""
    numbers = [re.search(r"\d{1,2}$", name, re.ASCII) for name in agents]
    found = {name: number.group() for name, number in zip(agents, numbers, strict=True) if number}
    return found if len(set(found.values())) == len(agents) else labels(agents)


def _pot_title(pot: things.Pot, cook: int) -> str:
    if pot.cooked:
        return "pot: soup"
    many = f"pot: {pot.tomatoes or 'no'} tomato{'es' * (pot.tomatoes != 1)}"
    return f"{many}, a soup in {cook + 1 - pot.timer} steps" if pot.timer else many


# As shapes


def _centre(grid: Grid, cell: int) -> Place:
    x, y = grid.xy(cell)
    return x * CELL + CELL / 2, y * CELL + CELL / 2


def background(world: AvatarWorld, seen: frozenset[int]) -> Shapes:
    """What never changes, in the fog where it is not seen."""
    if isinstance(world, InTheMatrix):
        return (*ground(grid_of(world)), *_fog(grid_of(world), seen))
    drawn: list[Shape] = []
    for square, shapes in SITES.items():
        for cell in world.cells(square):
            looks = shapes if cell in seen else tuple(map(dimmed, shapes))
            drawn += moved(looks, *_centre(world.grid, cell))
    return tuple(drawn)


def _fog(grid: Grid, seen: frozenset[int]) -> Iterator[Box]:
    """The cells that are not seen, each run of floor or wall in one piece."""
    for y in range(grid.height):
        cells = (grid.cell(x, y) for x in range(grid.width))
        for (hidden, floor), run in groupby(cells, lambda cell: (cell not in seen, grid.is_floor(cell))):
            first, *others = run
            if hidden:
                width = CELL * (1 + len(others))
                yield Box(CELL * grid.xy(first)[0], CELL * y, width, CELL, mix(FLOOR if floor else WALL, FOG, 0.7))


def drawing(world: AvatarWorld, seen: Scene) -> Iterator[Part]:
    """Everything that is there and may change, in the order in which it is drawn.

    Parts: `beam-i`, `resource-k`, `counter-k`, `pot-k`, `agent-i`, `held-i` what it holds, `note-i`.
    """
    yield from _matrix_parts(world, seen) if isinstance(world, InTheMatrix) else _kitchen_parts(world, seen)
    grid, signs = grid_of(world), short(world.agents)
    for number, cell, facing, look, hand in sorted(seen.avatars):
        name, place = world.agents[number], _centre(grid, cell)
        title = ", ".join(filter(None, (name, f"facing {DIRECTIONS[facing]}", LOOKS[look])))
        yield Part(f"agent-{number}", title, avatar_shapes(number, signs[name], facing, look), place)
        if hand:
            dx, dy = at_hand(facing)
            shapes = badge(HELD_THINGS[hand])
            yield Part(f"held-{number}", things.THINGS[hand], shapes, (place[0] + dx, place[1] + dy), HELD)
    columns = _columns(world)
    for n, note in enumerate(seen.notes):
        at = _note_width(world) * (n % columns), grid.height * CELL + NOTE * (n // columns)
        yield Part(f"note-{note.number}", sentence(world, note), tuple(_note_shapes(world, note)), at)


def _matrix_parts(world: InTheMatrix, seen: Scene) -> Iterator[Part]:
    rules, sprites = world.rules, kind_shapes(world.rules.resources)
    for i, cells in seen.beams.items():
        corners = ((x * CELL + 1, y * CELL + 1) for x, y in map(rules.field.grid.xy, sorted({*cells})))
        lit = tuple(Box(*at, CELL - 2, CELL - 2, BEAM) for at in corners)
        yield Part(f"beam-{i}", f"{world.agents[i]} zaps", lit, (0, 0))
    for cell, kind in sorted(seen.resources.items()):
        place = _centre(rules.field.grid, cell)
        yield Part(f"resource-{rules.site_at[cell]}", rules.resources[kind], sprites[kind], place)


def _kitchen_parts(world: CollaborativeCooking, seen: Scene) -> Iterator[Part]:
    for k, cell in enumerate(world.counters):
        if thing := seen.counters.get(cell):
            yield Part(f"counter-{k}", things.THINGS[thing], HELD_THINGS[thing], _centre(world.grid, cell), 0.85)
    for k, cell in enumerate(world.pots):
        if pot := seen.pots.get(cell):
            title = _pot_title(pot, world.cook)
            yield Part(f"pot-{k}", title, pot_shapes(pot, world.cook), _centre(world.grid, cell))


# Below the map


def _note_width(world: AvatarWorld) -> int:
    return NAME + HOLDING * (len(world.rules.resources) if isinstance(world, InTheMatrix) else 1)


def _columns(world: AvatarWorld) -> int:
    return max(1, grid_of(world).width * CELL // _note_width(world))


def _note_shapes(world: AvatarWorld, note: Note) -> Iterator[Shape]:
    """Who it is and how, and what it holds, each kind as a sprite and in words."""
    name, middle = world.agents[note.number], NOTE / 2
    look = LOOKS.index(note.how) if note.how in LOOKS else matrix.PLAIN
    yield from moved(avatar_shapes(note.number, short(world.agents)[name], 0, look), 28, middle)
    shown = _cut(name)
    yield Letters(102, middle - 7 * bool(note.how), min(15, 130 / len(shown)), shown, INK)
    yield Letters(102, middle + 11, 13, note.how, GREY)
    in_hand = (HELD_THINGS.get(note.hand, ()),)
    sprites = kind_shapes(world.rules.resources) if isinstance(world, InTheMatrix) else in_hand
    for n, (words, sprite) in enumerate(zip(holdings(world, note), sprites, strict=True)):
        yield from moved(sprite, NAME + HOLDING * n + 18, middle)
        yield Letters(NAME + HOLDING * n + 82, middle, 13, _cut(words), INK)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# As files


def _drawn(world: AvatarWorld, state: AvatarState, seen_by: str | None) -> tuple[Shapes, list[Part], Box]:
    """What never changes, what does, and the paper that both are on."""
    seen, grid = scene(world, state, seen_by), grid_of(world)
    columns = _columns(world)
    lines = -(-len(world.agents if seen_by is None else (seen_by,)) // columns)
    width = max(grid.width * CELL, columns * _note_width(world))
    paper = Box(0, 0, width, grid.height * CELL + NOTE * lines, PAPER)
    return (paper, *background(world, seen.seen)), list(drawing(world, seen)), paper


def svg(world: AvatarWorld, state: AvatarState, *, seen_by: str | None = None) -> str:
    """The state as an SVG element, all of it or what one player sees; every part is a `<g data-part="agent-0">`."""
    fixed, changing, paper = _drawn(world, state, seen_by)
    kind, crisp = ("matrix world", "crispEdges") if isinstance(world, InTheMatrix) else ("kitchen", "auto")
    title = svg_text(f"A {kind} with " + ", ".join(world.agents) + (f", as {seen_by} sees it" if seen_by else ""))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{title}" '
        f'viewBox="0 0 {paper.width:g} {paper.height:g}" preserveAspectRatio="xMinYMid" '
        f'font-family="system-ui, sans-serif" font-weight="700" text-anchor="middle">'
        f'<g shape-rendering="{crisp}">{"".join(map(svg_shape, fixed))}</g>{"".join(map(svg_part, changing))}</svg>'
    )


def _image(world: AvatarWorld, state: AvatarState, cell: int, seen_by: str | None) -> Image.Image:
    fixed, changing, paper = _drawn(world, state, seen_by)
    return painted(fixed, changing, (0, 0, paper.width, paper.height), cell)


def png(
    world: AvatarWorld,
    state: AvatarState,
    file: Path | str | IO[bytes],
    *,
    cell: int = CELL,
    seen_by: str | None = None,
) -> None:
    """Write the state, all of it or what one player sees, as a PNG image of `cell` pixels a cell.

    Raises InputError if it cannot be written.
    """
    save_png(_image(world, state, cell, seen_by), file)


def film(
    world: AvatarWorld,
    states: Iterable[AvatarState],
    path: Path | str,
    *,
    cell: int = 24,
    seen_by: str | None = None,
) -> None:
    """Write states one after the other as an animated GIF. Raises InputError if there are none, or for its file."""
    images = (_image(world, state, cell, seen_by) for state in states)
    first = next(images, None)
    if first is None:
        raise InputError("a film needs a state at least", path=str(path))
    try:
        first.save(path, format="GIF", save_all=True, append_images=images, duration=FRAME, loop=0)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=str(path)) from None
