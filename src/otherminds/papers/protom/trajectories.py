"""Trajectories as JSON Lines: what everybody did, a line for each step from the start on.

{"schema": 1, "t": 0, "joint": {"Ana": "right", "Ben": "pickup key1"}}

Actions are words of the world; where it started is in the level, which is needed to read a trajectory.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.pddl import follow_plan, not_allowed, read_plan
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked

SCHEMA = 1
PLANS = (".pddl", ".dat", ".plan")

Known = DoorsKeysGems | Overcooked
Steps = tuple[Step[Any, Any], ...]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    version: int = Field(alias="schema")
    t: int
    joint: dict[str, str]


def vocabulary(world: Known) -> Mapping[str, Any]:
    """Every action of the world by its words."""
    return world.vocabulary if isinstance(world, DoorsKeysGems) else {action: action for action in ACTIONS}


def spell(world: Known, action: Any) -> str:
    """The action in words: the inverse of `vocabulary`."""
    return world.spell(action) if isinstance(world, DoorsKeysGems) else str(action)


def write_trajectory(world: Known, steps: Iterable[Step[Any, Any]]) -> str:
    """The steps as text, the inverse of `read_trajectory`. Raises ValueError if they do not follow s₀."""
    state, lines = world.initial, []
    for t, step in enumerate(steps):
        if step.state != state:
            raise ValueError(f"step {t} does not begin where it should: where the one before ended, or at s₀")
        joint = {agent: spell(world, step.joint[agent]) for agent in world.agents}
        lines.append(json.dumps({"schema": SCHEMA, "t": t, "joint": joint}, ensure_ascii=False) + "\n")
        state = step.after
    return "".join(lines)


def read_steps(path: Path, world: Known, *, start: Any = None) -> Steps:
    """Read a trajectory (.jsonl) or a Doors-Keys-Gems plan (.pddl, .dat, .plan) from `start` on, default s₀.

    Raises InputError for anything else.
    """
    if path.suffix == ".jsonl":
        return read_trajectory(path, world, start=start)
    if isinstance(world, Overcooked):
        raise InputError("is not a trajectory", path=path, hint="the name must end in .jsonl")
    if path.suffix in PLANS:
        return follow_plan(world, read_plan(path, world, start=start), path, start=start)
    hint = f"the name must end in .jsonl, or for a plan in {', '.join(PLANS)}"
    raise InputError("is neither a trajectory nor a plan", path=path, hint=hint)


def read_trajectory(path: Path, world: Known, *, start: Any = None) -> Steps:
    """Read a trajectory and replay it from `start`, default s₀. Raises InputError with the first line that is wrong."""
    texts = read_text(path).split("\n")
    if not texts[-1]:
        texts.pop()
    step: Callable[[Any, Any], Any] = world.step
    state, steps = world.initial if start is None else start, []
    for t, text in enumerate(texts):
        joint = _joint(_parse(text, path, t), world, state, path, t + 1)
        after = step(state, joint)
        steps.append(Step(state, joint, after))
        state = after
    return tuple(steps)


def _parse(text: str, path: Path, t: int) -> Mapping[str, str]:
    try:
        line = _Line.model_validate_json(text)
    except ValidationError as error:
        raise _first(error, path, t + 1) from None
    if line.version != SCHEMA:
        raise InputError(f"unknown schema {line.version}", path=path, line=t + 1, hint=f"this reads {SCHEMA}")
    if line.t != t:
        raise InputError(f"`t` should be {t} here", path=path, line=t + 1, hint="one line a step, from 0 on")
    strict_json.parse(text, path, t + 1)
    return line.joint


def _first(error: ValidationError, path: Path, number: int) -> InputError:
    """The first complaint of pydantic in one line, with the column if the text is not even JSON."""
    found = faults(error)[0]
    message = found["msg"]
    place = re.search(r" at line 1 column (\d+)$", message)
    if place:
        message, column = message[: place.start()], int(place.group(1))
        return InputError(message, path=path, line=number, column=max(column, 1))
    where = ".".join(str(part) for part in found["loc"])
    return InputError(f"`{where[:60]}`: {message}" if where else message, path=path, line=number)


def _joint(words: Mapping[str, str], world: Known, state: Any, path: Path, number: int) -> dict[str, Any]:
    for agent in words:
        if agent not in world.agents:
            hint = f"there is {', '.join(world.agents)}"
            raise InputError(f"there is no agent `{agent[:60]}`", path=path, line=number, hint=hint)
    joint = {}
    for agent in world.agents:
        if agent not in words:
            hint = "one that does nothing has to `stay`"
            raise InputError(f"the action of {agent} is missing", path=path, line=number, hint=hint)
        joint[agent] = _action(words[agent], world, path, number)
    if isinstance(world, DoorsKeysGems):  # in kitchens, everything is allowed
        _check(joint, world, state, path, number)
    return joint


def _check(joint: Mapping[str, Action], world: DoorsKeysGems, state: State, path: Path, number: int) -> None:
    """Raise InputError for an action that the rules allow neither at the start of the step nor at its turn in it."""
    after = state
    for i, agent in enumerate(world.agents):
        action = joint[agent]
        if world.allows(after, i, action) and i in world.movers(state):
            after = world.apply(after, i, action)
        elif action not in world.actions(state, agent):
            raise not_allowed(world, state, i, action, path, number)


def _action(words: str, world: Known, path: Path, number: int) -> Any:
    known = vocabulary(world)
    if words not in known:
        close = difflib.get_close_matches(words[:60], known)
        examples = f"one of {', '.join(ACTIONS)}" if len(known) == len(ACTIONS) else "such as up, stay, pickup key1"
        hint = f"did you mean {' or '.join(close)}?" if close else examples
        raise InputError(f"unknown action `{words[:60]}`", path=path, line=number, hint=hint)
    return known[words]
