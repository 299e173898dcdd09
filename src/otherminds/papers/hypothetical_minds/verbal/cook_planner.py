"""The action planner for kitchens: the next action for a subgoal, and what came of the last one.

Ways are the shortest ones around everybody in view. Whoever is in the way is waited for, but not for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from otherminds.papers.hypothetical_minds.verbal.cook_forms import NOBODY, CookSubgoal, Interact, WaitAt, is_met
from otherminds.papers.hypothetical_minds.verbal.cook_sight import Scene, things, tomatoes
from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import MoveTo
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.bots import nearest
from otherminds.worlds.collaborative_cooking.things import (
    COUNTER,
    DELIVERY,
    DISH,
    FULL,
    NOTHING,
    POT,
    SOUP,
    SUPPLIES,
    THINGS,
    TOMATO,
)
from otherminds.worlds.grid import cheapest_route
from otherminds.worlds.in_the_matrix.bots import MOVES

BLOCKED = 10
PATIENCE = 40
LONG = 60
POT_REFUSES: Mapping[int, str] = MappingProxyType(
    {
        NOTHING: "you hold neither a tomato to put in nor a dish to take soup with",
        TOMATO: "the pot was full",
        DISH: "there was no soup in the pot yet",
        SOUP: "you hold soup already",
    }
)


class Effort(NamedTuple):
    """What was spent on a subgoal: steps, those of them in which the way was blocked, and those of waiting there.

    `tried`: what one held when one used the place in the step before, None if one did not.
    """

    steps: int = 0
    blocked: int = 0
    waited: int = 0
    tried: int | None = None


class Progress(NamedTuple):
    """The next action for a subgoal, None if it is over; what came of it, empty if it goes on; and what was spent."""

    action: Action | None
    effort: Effort
    ended: str = ""
    failed: bool = False


def progress(scene: Scene, subgoal: CookSubgoal, effort: Effort) -> Progress:
    """What to do next for a subgoal on which so much was spent."""
    cell = scene.world.grid.cell(subgoal.x, subgoal.y)
    if isinstance(subgoal, Interact) and effort.tried is not None:
        return _result(scene, cell, effort.tried)
    if effort.steps >= LONG:
        return _failed("it took too long")
    effort = effort._replace(steps=effort.steps + 1)
    if isinstance(subgoal, MoveTo):
        return _move(scene, cell, effort)
    if isinstance(subgoal, WaitAt) and is_met(scene, subgoal):
        return _done("done")
    return _at_place(scene, subgoal, cell, effort)


def _done(what: str) -> Progress:
    return Progress(None, Effort(), what)


def _failed(why: str) -> Progress:
    return Progress(None, Effort(), f"failed, {why}", failed=True)


# On the way


def _move(scene: Scene, cell: int, effort: Effort) -> Progress:
    view = scene.sight.view
    if view.cell == cell:
        return _done("done")
    walls = dict.fromkeys(scene.in_the_way, float("inf"))
    way = cheapest_route(scene.world.grid, view.cell, {cell: 0.0}, walls)
    if way is not None and way.first is not None:
        return Progress(_step(scene, way.first), effort)
    return _stuck(scene, effort, cheapest_route(scene.world.grid, view.cell, {cell: 0.0}, {}) is not None)


def _at_place(scene: Scene, subgoal: Interact | WaitAt, cell: int, effort: Effort) -> Progress:
    """Go to a place, face it, and use it, or stand there."""
    world, view = scene.world, scene.sight.view
    way = nearest(world, view, [cell], scene.in_the_way)
    if way is None:
        return _stuck(scene, effort, nearest(world, view, [cell], NOBODY) is not None)
    if way.cell != view.cell:
        return Progress(_step(scene, way.first), effort)
    if way.facing != view.facing:
        return Progress("turn_left" if (way.facing - view.facing) % 4 == 3 else "turn_right", effort)
    if isinstance(subgoal, WaitAt):
        if effort.waited >= PATIENCE:
            return _failed(f"it was not so after {PATIENCE} steps")
        return Progress("noop", effort._replace(waited=effort.waited + 1))
    return Progress("interact", effort._replace(tried=view.hand)) if view.ready else Progress("noop", effort)


def _step(scene: Scene, first: int) -> Action:
    view, field = scene.sight.view, scene.world.field
    return MOVES[(field.ahead.index(first - view.cell) - view.facing) % 4]


def _stuck(scene: Scene, effort: Effort, blocked: bool) -> Progress:
    if not blocked:
        return _failed("there is no way to it")
    if effort.blocked >= BLOCKED:
        who = " and ".join(scene.in_view)
        return _failed(f"the way was blocked by {who} for {BLOCKED} steps")
    return Progress("noop", effort._replace(blocked=effort.blocked + 1))


# At the place


def _result(scene: Scene, cell: int, before: int) -> Progress:
    """What came of using a place with this in one's hand."""
    hand, square = scene.sight.view.hand, scene.world.square(cell)
    if hand == before:
        return _failed(_why_not(scene, cell, hand))
    if square == DELIVERY:
        return _done("done, you delivered the soup")
    if square == POT and hand == SOUP:
        return _done("done, you took the soup out")
    if square == POT:
        return _done(f"done, you put the tomato in, which makes {tomatoes(scene.code(cell))} of {FULL}")
    if hand == NOTHING:
        return _done(f"done, you put the {THINGS[before]} down")
    return _done(f"done, you picked up {things(1, hand)}")


def _why_not(scene: Scene, cell: int, hand: int) -> str:
    """Why using a place has changed nothing for who holds this."""
    square = scene.world.square(cell)
    if square == DELIVERY:
        return f"only soup can be delivered, and you hold {_holding(hand)}"
    if square == POT:
        return POT_REFUSES[hand]
    if square == COUNTER:
        return "the counter was taken" if hand else "there was nothing there to pick up"
    if hand and square in SUPPLIES:
        return f"your hands were not empty: you hold {_holding(hand)}"
    return "somebody was quicker"


def _holding(hand: int) -> str:
    return things(1, hand) if hand else "nothing"
