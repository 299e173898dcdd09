"""What pictures of worlds with avatars show, and a busy kitchen: shared by tests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from otherminds.reports.terminal.screens import drawing_of
from otherminds.worlds import sprites
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    DISH,
    NOTHING,
    SOUP,
    TOMATO,
    CollaborativeCooking,
    PlayerState,
    PotState,
)
from otherminds.worlds.collaborative_cooking.rules import CookingState as KitchenState
from otherminds.worlds.in_the_matrix.rules import MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix

AvatarWorld = InTheMatrix | CollaborativeCooking
AvatarState = MatrixState | KitchenState
SVG = "{http://www.w3.org/2000/svg}"
ROOM = """
WWWWWWWWW
Wn r p nW
W  s a  W
WWWWWWWWW
"""


def shown(world: AvatarWorld, state: AvatarState, seen_by: str | None = None) -> dict[str, str]:
    """The titles of the parts of an SVG picture, by name."""
    root = ElementTree.fromstring(drawing_of(world).draw(world, state, seen_by=seen_by).svg())
    parts = [g for g in root.iter(f"{SVG}g") if "data-part" in g.attrib]
    assert all("display" not in g.attrib for g in parts)
    return {g.attrib["data-part"]: g.findtext(f"{SVG}title") or "" for g in parts}


def parts(world: AvatarWorld, state: AvatarState, seen_by: str | None = None) -> dict[str, sprites.MovingPart]:
    drawn = drawing_of(world).draw(world, state, seen_by=seen_by)
    return {part.name: part for part in drawn.parts}


def kitchen(
    bodies: Sequence[PlayerState] = (), pots: Sequence[PotState] = ()
) -> tuple[CollaborativeCooking, KitchenState]:
    """The kitchen that comes with the library, a tomato and a dish on counters, and as much else as is given."""
    world = cooking_asymmetric()
    state = world.start(np.random.default_rng(0))
    lying = {0: TOMATO, len(world.counters) - 1: DISH}
    counters = tuple(lying.get(k, NOTHING) for k in range(len(world.counters)))
    return world, state._replace(
        bodies=tuple(bodies) or state.bodies, counters=counters, pots=tuple(pots) or state.pots
    )


def busy() -> tuple[CollaborativeCooking, KitchenState]:
    grid = cooking_asymmetric().grid
    bodies = PlayerState(grid.cell(1, 1), 1, SOUP), PlayerState(grid.cell(6, 3), 2)
    return kitchen(bodies, (PotState(3, 9), PotState(3, 21, True)))
