"""Plans for Doors-Keys-Gems problems: one `(action agent things)` a line, as published with CLIPS and Plinf."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.files.text import read_text
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.pddl_syntax import Fact, Names, Signatures, read_fact, read_nodes, wrong
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from otherminds.worlds.grid import DIRECTIONS

PLAN: Signatures = {
    **dict.fromkeys((*DIRECTIONS, "wait"), ("agent", "")),
    "pickup": ("agent item", "item"),
    "unlock": ("agent key door", "key direction"),
    "handover": ("agent agent item",),
}
WORDS = {
    "wait": "stay",
    "pickup": "pickup {0}",
    "unlock": "unlock {1} with {0}",
    "handover": "handover {1} to {0}",
}


class Move(NamedTuple):
    """One line of a plan: the index of the agent, what it does, and the number of the line."""

    agent: int
    action: Action
    line: int


def read_plan(path: Path, world: DoorsKeysGems, *, start: State | None = None) -> list[Move]:
    """Read a plan; doors named by direction are those seen from `start`, default s₀. Raises InputError."""
    alone = len(world.agents) == 1
    signatures = PLAN if alone else {name: choices[:1] for name, choices in PLAN.items()}
    names = _names(world)
    cells = list((world.initial if start is None else start).cells)
    moves = []
    for node in read_nodes(read_text(path), path):
        fact = read_fact(node, signatures, names, path)
        named = len(fact.words) == len(PLAN[fact.name][0].split())
        who, *words = fact.words if named else (*world.agents, *fact.words)
        i = world.agents.index(who)
        if fact.name == "unlock" and not named:
            words[1] = _door(fact, cells[i], world, path)
        action = world.vocabulary[WORDS.get(fact.name, fact.name).format(*words)]
        cells[i] += world.grid.offsets.get(action.verb, 0)
        moves.append(Move(i, action, fact.line))
    return moves


def _names(world: DoorsKeysGems) -> Names:
    keys, gems, doors = ([thing.name for thing in kind] for kind in (world.keys, world.gems, world.doors))
    return {"agent": world.agents, "key": keys, "item": keys + gems, "door": doors, "direction": DIRECTIONS}


def _door(fact: Fact, here: int, world: DoorsKeysGems, path: Path) -> str:
    direction = fact.words[-1]
    door = world.door_at.get(here + world.grid.offsets[direction])
    if door is None:
        raise wrong(f"there is no door {direction} of the agent at this point", fact, path)
    return world.doors[door].name


def follow_plan(
    world: DoorsKeysGems, plan: Sequence[Move], path: Path, *, start: State | None = None
) -> tuple[Step[State, Action], ...]:
    """Replay a plan from `start`, default s₀, a step a move. Raises InputError at the first invalid one."""
    state = world.initial if start is None else start
    steps = []
    for i, action, line in plan:
        name = world.agents[i]
        if i not in world.movers(state):
            message = f"it is not the turn of {name} but of {world.agents[state.turn]}"
            raise InputError(message, path=path, line=line)
        if not world.allows(state, i, action):
            raise not_allowed(world, state, i, action, path, line)
        joint = dict.fromkeys(world.agents, STAY) | {name: action}
        after = world.step(state, joint)
        steps.append(Step(state, joint, after))
        state = after
    return tuple(steps)


def not_allowed(world: DoorsKeysGems, state: State, i: int, action: Action, path: Path, line: int) -> InputError:
    """The error for an action, read from line `line`, that the rules do not allow agent i in this state."""
    hint = f"allowed: {', '.join(world.spell(option) for option in world.actions(state, world.agents[i]))}"
    return InputError(f"{world.agents[i]} cannot {world.spell(action)} here", path=path, line=line, hint=hint)
