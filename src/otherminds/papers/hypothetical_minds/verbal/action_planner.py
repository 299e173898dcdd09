"""The action planner of Hypothetical Minds (Cross et al. 2024, D.5): the next action for a subgoal, by what is known.

Ways avoid walls always, people if that is not far, and resources in two degrees: best is to pick up nothing on the
way, next best only what is picked up at its end too.
"""

from __future__ import annotations

from typing import NamedTuple

from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import (
    Fire,
    FireAt,
    MoveTo,
    Patrol,
    Situation,
    Subgoal,
    Wait,
)
from otherminds.worlds.avatars import Action
from otherminds.worlds.grid import Route, cheapest_route
from otherminds.worlds.in_the_matrix.bots import MOVES, TURNS, UNSEEN
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, SeenPlayer, reaches

SAME_KIND, OTHER_KIND = 1e3, 1e6
CROWD = 12.0
NEAR = 3
LONG = 60
LOOK_AROUND = 8
RECENT = 25
DONE = "done"


class Progress(NamedTuple):
    """The next action for a subgoal, None if there is none, and what has become of it, empty if it goes on after."""

    action: Action | None
    ended: str = ""


def progress(situation: Situation, subgoal: Subgoal, spent: int) -> Progress:
    """What to do next for a subgoal on which so many steps were spent."""
    if spent >= LONG:
        return Progress(None, "took too long")
    match subgoal:
        case MoveTo():
            return _move(situation, situation.world.rules.field.grid.cell(subgoal.x, subgoal.y))
        case FireAt():
            return _fire_at(situation, situation.players.index(subgoal.player), spent)
        case Fire():
            return Progress("interact", DONE) if situation.view.ready_to_shoot == 1 else Progress("noop")
        case Wait():
            return Progress("noop", DONE if spent + 1 >= subgoal.steps else "")
        case Patrol():
            return _patrol(situation, spent)


def _move(situation: Situation, target: int) -> Progress:
    if situation.view.cell == target:
        return Progress(None, DONE)
    way = situation.toward(target, _tolls(situation, target))
    return Progress(None, "cannot be reached") if way is None else Progress(_follow(situation, way))


def _fire_at(situation: Situation, player: int, spent: int) -> Progress:
    """Fire if the beam reaches them, turn or walk so that it does; look around for who is out of sight."""
    view, other = situation.view, situation.memory.others[player]
    if view.inventory == situation.world.rules.empty:
        return Progress(None, "you hold nothing yet to play with")
    if other is None or view.t - other.t > RECENT:
        return Progress("turn_right") if spent < LOOK_AROUND else Progress(None, "is not to be seen")
    if other.t == view.t and not other.frozen:
        if _reaches(situation, view.facing, other.cell):
            return Progress("interact" if view.ready_to_shoot == 1 and other.ready else "noop")
        turn = next((act for by, act in TURNS if _reaches(situation, (view.facing + by) % 4, other.cell)), None)
        if turn is not None:
            return Progress(turn)
    return _approach(situation, other)


def _approach(situation: Situation, other: SeenPlayer) -> Progress:
    tolls = _tolls(situation, other.cell)
    tolls.pop(other.cell, None)
    way = _way(situation, {other.cell: 0.0}, tolls)
    return Progress("turn_right") if way is None or way.first is None else Progress(_follow(situation, way))


def _patrol(situation: Situation, spent: int) -> Progress:
    """Go where one has not looked for longest, walks considered, until there is somebody free to meet."""
    t, others = situation.view.t, situation.memory.others
    if spent and any(other is not None and other.t == t and not other.frozen for other in others):
        return Progress(None, DONE)
    tolls = _tolls(situation, -1)
    places = {cell: late - tolls.get(cell, 0.0) for cell, late in _unlooked(situation).items()}
    way = _way(situation, places, tolls)
    return Progress(None, "there is nowhere to go") if way is None else Progress(_follow(situation, way))


def _unlooked(situation: Situation) -> dict[int, float]:
    """Places to look at, and how many steps further away one would rather go to one that was looked at long ago."""
    here, t, rules = situation.view.cell, situation.view.t, situation.world.rules
    memory = situation.memory
    borders = dict.fromkeys(situation.borders, UNSEEN)
    looked = zip(rules.sites, memory.looked, strict=True)
    late = {cell: max(0.0, LONG - (t - seen)) for cell, seen in looked if memory.knows(cell)}
    late.pop(here, None)
    return late | borders


def _way(situation: Situation, targets: dict[int, float], tolls: dict[int, float]) -> Route | None:
    return cheapest_route(situation.world.rules.field.grid, situation.view.cell, targets, tolls, situation.memory.seen)


def _tolls(situation: Situation, target: int) -> dict[int, float]:
    """What keeps one from a cell on the way to a target: somebody or something is there."""
    memory, rules = situation.memory, situation.world.rules
    site = rules.site_at[target] if target >= 0 else -1
    wanted = memory.kinds[site] if site >= 0 else UNKNOWN
    tolls = {
        cell: SAME_KIND if kind == wanted != UNKNOWN else OTHER_KIND
        for cell, kind, away in zip(rules.sites, memory.kinds, memory.away, strict=True)
        if away == THERE and cell != target
    }
    people = (other for other in memory.others if other is not None and other.t == situation.view.t)
    return tolls | {other.cell: CROWD for other in people if other.cell != target}


def _follow(situation: Situation, way: Route) -> Action:
    """Take the first step; face the way first if the target is out of sight and some steps away."""
    if way.first is None:
        return "noop"
    view, field = situation.view, situation.world.rules.field
    turn = (field.ahead.index(way.first - view.cell) - view.facing) % 4
    if turn and way.cost > NEAR and way.target not in field.window(view.cell, view.facing):
        return "turn_left" if turn == 3 else "turn_right"
    return MOVES[turn]


def _reaches(situation: Situation, facing: int, target: int) -> bool:
    return reaches(situation.memory, situation.world, situation.view.cell, facing, (target,))
