"""Kitchens and moments in them for tests of cooks that are moved by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation
from otherminds.worlds.avatars import FACINGS, Action, Reach
from otherminds.worlds.collaborative_cooking.rules import (
    NOTHING,
    THINGS,
    CollaborativeCooking,
    CookingOutcome,
    CookingState,
    PlayerState,
    PotState,
)

ROOM = (
    "#OC##T##",
    "#P   P #",
    "#  ##  #",
    "#D####C#",
)
"""One room: tomatoes at (1, 0), pots at (2, 0) and (6, 3), a delivery at (5, 0), dishes at (1, 3)."""

CORRIDOR = (
    "#####",
    "OP PT",
    "#####",
)
FAR = Reach(9, 9, 9, 9)
NEAR = Reach(1, 1, 1, 1)
IN_ORDER = CookingOutcome((0, 1), (0, 1))


def kitchen_of(*rows: str, reach: Reach = FAR, steps: int = 1000, cook: int = 3) -> CollaborativeCooking:
    """A kitchen of two."""
    return CollaborativeCooking(rows, ("me", "you"), reach, steps, cook)


def moment(
    world: CollaborativeCooking,
    *bodies: str,
    pots: Sequence[PotState] = (),
    on: Mapping[tuple[int, int], str] | None = None,
) -> CookingState:
    """Bodies like `2 1 N dish`; what is in the first pots; what lies on counters."""
    lying = {world.grid.cell(*place): THINGS.index(thing) for place, thing in (on or {}).items()}
    full = (*pots, *[PotState()] * (len(world.pots) - len(pots)))
    counters = tuple(lying.get(cell, NOTHING) for cell in world.counters)
    return CookingState(0, tuple(_body(world, body) for body in bodies), counters, full, (0.0,) * len(bodies))


def _body(world: CollaborativeCooking, told: str) -> PlayerState:
    x, y, facing, *hand = told.split()
    thing = THINGS.index(hand[0]) if hand else NOTHING
    return PlayerState(world.grid.cell(int(x), int(y)), FACINGS.index(facing), thing)


def play(world: CollaborativeCooking, state: CookingState, *acts: Action) -> CookingState:
    """The state after what everybody did, the first one first; nothing, if it is not said."""
    joint: dict[str, Any] = dict.fromkeys(world.agents, "noop") | dict(zip(world.agents, acts, strict=False))
    return world.step_with(state, joint, IN_ORDER)


def seen(world: CollaborativeCooking, *states: CookingState, me: int = 0) -> KitchenSituation:
    """What one knows after these moments."""
    views = [world.observe(state, world.agents[me]) for state in states]
    situation = KitchenSituation.at_first(world, me, views[0])
    for view in views[1:]:
        situation = situation.after(view)
    return situation
