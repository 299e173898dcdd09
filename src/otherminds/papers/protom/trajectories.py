"""Trajectories as JSON Lines, the joint action of each step in a line, or as a table with an action in each line.

{"schema": 1, "t": 0, "joint": {"Ana": "right", "Ben": "pickup key1"}}

step,agent,action
0,Ana,right
0,Ben,pickup key1

Actions are words of the world. The start is in the level, which is needed to read a trajectory.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otherminds.errors import InputError, fault_place, faults
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.pddl import follow_plan, read_plan
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.overcooked.rules import Overcooked

SCHEMA = 1
PLANS = (".pddl", ".dat", ".plan")
TABLES = (".jsonl", ".csv")
COLUMNS = ["step", "agent", "action"]
STAY = "stay"  # what whoever has no line in a step does

Steps = tuple[Step[Any, Any], ...]
SpelledWorld = DoorsKeysGems | Overcooked  # deterministic worlds whose actions have words


class _TrajectoryLine(BaseModel):
    """A line of JSON: step t, and the words of each agent's action."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: int = Field(alias="schema")
    t: int
    joint: dict[str, str]


def write_trajectory(world: SpelledWorld, steps: Iterable[Step[Any, Any]]) -> str:
    """The steps as text, the inverse of `read_trajectory`. Raises ValueError if they do not continue from s₀."""
    state, lines = world.initial, []
    for t, step in enumerate(steps):
        if step.state != state:
            raise ValueError(f"step {t} does not begin where it should: where the one before ended, or at s₀")
        joint = {agent: world.spell(step.joint[agent]) for agent in world.agents}
        lines.append(json.dumps({"schema": SCHEMA, "t": t, "joint": joint}, ensure_ascii=False) + "\n")
        state = step.after
    return "".join(lines)


def read_steps(path: Path, world: SpelledWorld, *, start: Any = None) -> Steps:
    """Read a trajectory (.jsonl, .csv), or for Doors-Keys-Gems a plan (.pddl, .dat, .plan), from `start` on, or s₀.

    Raises InputError for files of other kinds, and for the first line that is wrong.
    """
    if path.suffix in TABLES:
        return read_trajectory(path, world, start=start)
    if not isinstance(world, DoorsKeysGems):
        raise InputError("is not a trajectory", path=path, hint=f"the name must end in {' or '.join(TABLES)}")
    if path.suffix in PLANS:
        return follow_plan(world, read_plan(path, world, start=start), path, start=start)
    hint = f"the name must end in {' or '.join(TABLES)}, or for a plan in {', '.join(PLANS)}"
    raise InputError("is neither a trajectory nor a plan", path=path, hint=hint)


def read_trajectory(path: Path, world: SpelledWorld, *, start: Any = None) -> Steps:
    """Read a trajectory and replay it from `start`, default s₀. Raises InputError with the first line that is wrong."""
    rules: Any = world  # its states and actions are its own
    state, steps = world.initial if start is None else start, []
    for line, words in _steps_of_table(path, world) if path.suffix == ".csv" else _steps_of_json_lines(path):
        joint = _joint_action(words, world, path, line)
        if agent := rules.illegal_agent(state, joint):
            hint = f"allowed: {', '.join(map(rules.spell, rules.actions(state, agent)))}"
            raise InputError(f"{agent} cannot do `{rules.spell(joint[agent])}` here", path=path, line=line, hint=hint)
        after = rules.step(state, joint)
        steps.append(Step(state, joint, after))
        state = after
    return tuple(steps)


def _steps_of_json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The line and the words of each agent's action, for each step in JSON Lines."""
    texts = read_text(path).split("\n")
    if not texts[-1]:
        texts.pop()
    for t, text in enumerate(texts):
        yield t + 1, _words_of_line(text, path, t)


def _steps_of_table(path: Path, world: SpelledWorld) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The same of a table with the COLUMNS; whoever has no line in a step stays, and steps count from 0 or 1."""
    rows = list(csv.reader(StringIO(read_text(path)), skipinitialspace=True))
    if not rows or [name.strip().lower() for name in rows[0]] != COLUMNS:
        raise InputError("has other columns", path=path, line=1, hint=f"the first line is {','.join(COLUMNS)}")
    idle, steps = dict.fromkeys(world.agents, STAY), dict[int, tuple[int, dict[str, str]]]()
    for line, row in enumerate(rows[1:], 2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != len(COLUMNS) or not cells[0].isdecimal():
            raise InputError("is no number of a step, agent, action", path=path, line=line, hint="such as 0,Ana,right")
        t, agent, action = int(cells[0]), cells[1], cells[2]
        latest = max(steps, default=None)
        if t not in ((0, 1) if latest is None else (latest, latest + 1)):
            rule = "the first step is 0 or 1" if latest is None else f"after step {latest} comes step {latest + 1}"
            raise InputError(f"step {t} is out of order", path=path, line=line, hint=rule)
        _joint_action({**idle, agent: action}, world, path, line)
        _, words = steps.setdefault(t, (line, {}))
        if agent in words:
            raise InputError(f"step {t} has a second action of {agent[:60]}", path=path, line=line)
        words[agent] = action
    yield from ((line, {**idle, **words}) for line, words in steps.values())


def _words_of_line(text: str, path: Path, t: int) -> Mapping[str, str]:
    """The words of each agent's action in step t."""
    try:
        line = _TrajectoryLine.model_validate_json(text)
    except ValidationError as error:
        fault = faults(error)[0]
        message, where = fault["msg"], fault_place(fault)
        if place := re.search(r" at line 1 column (?P<column>\d+)$", message):  # not JSON
            column = max(int(place["column"]), 1)
            raise InputError(message[: place.start()], path=path, line=t + 1, column=column) from None
        raise InputError(f"`{where}`: {message}" if where else message, path=path, line=t + 1) from None
    if line.version != SCHEMA:
        raise InputError(f"unknown schema {line.version}", path=path, line=t + 1, hint=f"this reads {SCHEMA}")
    if line.t != t:
        raise InputError(f"`t` should be {t} here", path=path, line=t + 1, hint="one line a step, from 0 on")
    strict_json.parse(text, path, t + 1)  # of a name that is given twice, pydantic keeps the last value unnoticed
    return line.joint


def _joint_action(words: Mapping[str, str], world: SpelledWorld, path: Path, number: int) -> dict[str, Any]:
    """The joint action. Raises InputError for unknown or missing agents and unknown words."""
    vocabulary = world.vocabulary
    for agent in words:
        if agent not in world.agents:
            hint = f"there is {', '.join(world.agents)}"
            raise InputError(f"there is no agent `{agent[:60]}`", path=path, line=number, hint=hint)
    for agent in world.agents:
        if agent not in words:
            hint = "one that does nothing has to `stay`"
            raise InputError(f"the action of {agent} is missing", path=path, line=number, hint=hint)
        if words[agent] not in vocabulary:
            close = difflib.get_close_matches(words[agent][:60], vocabulary)
            verbs: dict[str, str] = {}
            for spelled in vocabulary:
                verbs.setdefault(spelled.split()[0], spelled)
            examples = f"{'one of' if len(verbs) == len(vocabulary) else 'such as'} {', '.join(verbs.values())}"
            hint = f"did you mean {' or '.join(close)}?" if close else examples
            raise InputError(f"unknown action `{words[agent][:60]}`", path=path, line=number, hint=hint)
    return {agent: vocabulary[words[agent]] for agent in world.agents}
