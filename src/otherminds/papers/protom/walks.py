"""Walks through worlds of the user's: tables of positions on a map, or of actions and states in any world.

    x,y          step,agent,action      step,state
    1,3          0,Ana,left             0,"(3, 7)"
    1,2          0,Ben,wait             1,"(2, 7)"

A table is CSV with any separator, a JSON list or JSON Lines, with a row for each step, or for each step and agent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError, meant
from otherminds.files.tables import Table, read_table
from otherminds.planning.state_graph import resting_action
from otherminds.world import Step
from otherminds.worlds.own_world import spell
from otherminds.worlds.text_grid import LONGEST_NAME, MOVES, Cell, TextGrid

# Names of columns that mean the same; upper and lower case are alike
COLUMNS: Mapping[str, Sequence[str]] = {
    "x": ("x", "col", "column"),
    "y": ("y", "row"),
    "agent": ("agent", "person", "participant", "subject", "who"),
    "step": ("step", "t"),
    "action": ("action", "move"),
}
NAMES = {alias: name for name, aliases in COLUMNS.items() for alias in aliases}
JOINT = "joint."  # before the name of an agent in a column of trajectories that `watch --save` wrote
DRAWS = 100  # states drawn from chance to find the one in the table; chosen
AXES = "x to the right and y downwards from the top row"

Steps = Sequence[Step[Any, Any]]


class WalkRow(NamedTuple):
    """A row of a table: its file and line, its step (None without such a column), and its cells by column."""

    path: Path
    line: int
    step: int | None
    cells: Mapping[str, str]

    def wrong(self, message: str, hint: str | None = None) -> InputError:
        """The error that this row is wrong."""
        return InputError(message, path=self.path, line=self.line, hint=hint)


def read_rows(paths: Sequence[Path]) -> list[WalkRow]:
    """The rows of tables that continue one another. Raises InputError for an empty table or an odd number of a step."""
    rows = []
    for path in paths:
        table = read_table(path, None)
        header = [column if column.startswith(JOINT) else _column(column) for column in table.header]
        if repeated := [name for name in COLUMNS if header.count(name) > 1]:
            raise table.wrong(f"two columns mean `{repeated[0]}`", table.top, "leave one of them out")
        if not table.rows:
            raise table.wrong("has no row", hint="a row for each step, such as `x,y` and then `1,3`")
        for line, row in table.rows:
            cells = {name: cell for name, cell in zip(header, row, strict=True) if name and cell is not None}
            step = cells.pop("step", None)
            rows.append(WalkRow(path, line, None if step is None else _integer(table, step, "step", line), cells))
    return rows


def _column(name: str) -> str:
    """The name by which a column is known, whatever its case."""
    return NAMES.get(name.lower(), name.lower())


def _integer(table: Table, text: str, what: str, line: int) -> int:
    return int(table.number(text, what, line, "whole number"))


# Positions on a map


def read_positions(paths: Sequence[Path], world: TextGrid) -> dict[str, tuple[TextGrid, Steps]]:
    """The walk of each agent, by name, in a world that begins where it begins; agents do not hinder one another.

    Coordinates count from 1 if that puts more cells on floor, or more walks at the start of the map; else from 0. A map
    with a start may also have walks of actions. Raises InputError for the first row that is not on floor, or farther
    than a step from the last.
    """
    rows_by_agent: dict[str, list[WalkRow]] = {}
    for row in read_rows(paths):
        rows_by_agent.setdefault(row.cells.get("agent") or world.agents[0], []).append(row)
    first = next(iter(rows_by_agent.values()))[0]
    worlds = {agent: replace(world, agents=(agent,)) for agent in rows_by_agent}
    if "x" not in first.cells or "y" not in first.cells:
        if "action" in first.cells or "joint" in first.cells:
            return {agent: (worlds[agent], read_steps(rows, worlds[agent])) for agent, rows in rows_by_agent.items()}
        header = ", ".join(first.cells)
        raise InputError(
            f"the columns are {header}", path=first.path, line=1, hint="x and y, or row and col, or action"
        )
    for agent, rows in rows_by_agent.items():
        if not agent.isprintable() or len(agent) > LONGEST_NAME:
            raise rows[0].wrong("an agent's name is printable and not long", f"at most {LONGEST_NAME} characters")
        _check_steps(rows)
        if len(rows) == 1:
            raise rows[0].wrong(f"{agent[:60]} is at one place only", "a row for each step, from the start on")
    places = {agent: [_cell(row) for row in rows] for agent, rows in rows_by_agent.items()}
    origin = max((0, 1), key=lambda origin: _fit(world, places.values(), origin))
    return {
        agent: _walk(replace(worlds[agent], origin=origin), rows, places[agent])
        for agent, rows in rows_by_agent.items()
    }


def _fit(world: TextGrid, walks: Collection[Sequence[Cell]], origin: int) -> tuple[int, int]:
    """How many cells are floor, and how many walks begin at the start, if coordinates count from `origin`."""
    on_floor = sum(world.is_floor(Cell(x - origin, y - origin)) for cells in walks for x, y in cells)
    return on_floor, sum(world.initial == Cell(cells[0].x - origin, cells[0].y - origin) for cells in walks)


def _walk(world: TextGrid, rows: Sequence[WalkRow], places: Sequence[Cell]) -> tuple[TextGrid, Steps]:
    """A walk, and the world with its start. Raises InputError for a wall, and for a jump."""
    origin, grid = world.origin, world.grid
    cells = [Cell(x - origin, y - origin) for x, y in places]
    for row, (x, y), cell in zip(rows, places, cells, strict=True):
        if not world.is_floor(cell):
            inside = 0 <= cell.x < grid.width and 0 <= cell.y < grid.height
            what = "a wall" if inside else f"outside the map of {grid.width} × {grid.height}"
            raise row.wrong(f"({x}, {y}) is {what}", f"coordinates count from {origin} here, {AXES}")
    steps = []
    for row, place, (before, after) in zip(rows[1:], pairwise(places), pairwise(cells), strict=True):
        way = after.x - before.x, after.y - before.y
        action = next((action for action, move in MOVES.items() if move == way), None)
        if action is None:
            jump = f"{tuple(place[1])} is more than a step from {tuple(place[0])}"
            raise row.wrong(jump, "a row for each step: up, down, left, right or stay")
        steps.append(Step(before, {world.agents[0]: action}, after))
    return replace(world, initial=cells[0]), steps


def _cell(row: WalkRow) -> Cell:
    """The coordinates of a row, which may be written as 3.0. Raises InputError for anything but whole numbers."""
    numbers = []
    for axis in ("x", "y"):
        text = row.cells.get(axis, "")
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not number.is_integer():
            raise row.wrong(f"{axis} `{text[:60]}` is no whole number", "x and y are the column and the row of a cell")
        numbers.append(int(number))
    return Cell(*numbers)


def _check_steps(rows: Sequence[WalkRow]) -> None:
    """Raises InputError for a step that does not follow the one before it."""
    for before, row in pairwise(rows):
        if before.step is not None and row.step != before.step + 1:
            whose = f" of {row.cells['agent']}" if "agent" in row.cells else ""
            raise row.wrong(f"step {row.step}{whose} comes after step {before.step}", "a row for each step, in order")


# Actions and states in any world


class _Moment(NamedTuple):
    """What a table says of a step: the row, the action of each agent in words, and columns of the state before it."""

    row: WalkRow
    words: Mapping[str, str]
    state: Mapping[str, str]


def read_steps(rows: Sequence[WalkRow], world: Any) -> list[Step[Any, Any]]:
    """The steps of a walk in any world, from columns `action` (and `agent`), or columns of the state, or both.

    A state is known by `str(state)` in a column `state`, or by columns named like its fields; x and y are those of a
    pair. Without actions, agents did what most often leads to the next state, and rested if that does as often. Raises
    InputError for the first row that is impossible, and if only actions are known where chance decides what follows.
    """
    moments = list(_moments(rows, world))
    state, steps = _start(moments[0], world), list[Step[Any, Any]]()
    for n, moment in enumerate(moments):
        following = moments[n + 1] if n + 1 < len(moments) else None
        if not moment.words and following is None:
            break  # the last state
        step = _step(moment, following, state, world)
        steps.append(step)
        state = step.after
    if not steps:
        raise moments[0].row.wrong("nobody does anything", "give a second state, or an action")
    return steps


def write_walk(world: Any, steps: Steps) -> str:
    """The steps as JSON Lines that `read_steps` reads: joint actions in words, and states by their `str`."""
    rows: list[dict[str, Any]] = [
        {"schema": 1, "t": t, "joint": {a: spell(world, step.joint[a]) for a in world.agents}, "state": str(step.state)}
        for t, step in enumerate(steps)
    ]
    rows += [{"schema": 1, "t": len(rows), "state": str(step.after)} for step in steps[-1:]]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _moments(rows: Sequence[WalkRow], world: Any) -> Iterator[_Moment]:
    """The steps of a table, the rows of one step put together. Raises InputError for unknown agents and columns."""
    agents, known = world.agents, _columns(world.start(np.random.default_rng(0)))
    for row in rows:
        about = row.cells.keys() - {"schema"}
        if not about & {"action", "joint", *known} and not any(name.startswith(JOINT) for name in about):
            hint = f"columns are action, or of the state: {', '.join(known)}"
            raise row.wrong(f"nothing here is an action or a state: {', '.join(row.cells)}", hint)
    groups: list[list[WalkRow]] = []
    for row in rows:
        same_step = row.step is not None and bool(groups) and groups[-1][0].step == row.step
        if same_step and "agent" in row.cells:
            groups[-1].append(row)
        else:
            groups.append([row])
    _check_steps([group[0]._replace(cells={}) for group in groups])
    for group in groups:
        words: dict[str, str] = {}
        for row in group:
            for agent, action in _words(row, agents).items():
                if agent in words:
                    raise row.wrong(f"a second action of {agent[:60]} in this step")
                words[agent] = action
        yield _Moment(group[0], words, {name: text for name, text in group[0].cells.items() if name in known})


def _words(row: WalkRow, agents: Sequence[str]) -> dict[str, str]:
    """The actions in a row by agent. Raises InputError for an unknown agent."""
    words = {name.removeprefix(JOINT): text for name, text in row.cells.items() if name.startswith(JOINT)}
    if text := row.cells.get("action") or row.cells.get("joint"):
        if "agent" not in row.cells and len(agents) > 1:
            raise row.wrong("nothing says who acts", f"a column `agent`: {', '.join(agents)}")
        words[row.cells.get("agent", agents[0])] = text
    for agent in words:
        if agent not in agents:
            raise row.wrong(f"there is no agent `{agent[:60]}`", meant(agent, agents))
    return {agent: text for agent, text in words.items() if text}


def _columns(state: Any) -> dict[str, str]:
    """A state as cells of a table: its `str`, and its fields, x and y for a pair."""
    if hasattr(state, "_asdict"):
        named = state._asdict()
    elif is_dataclass(state):
        named = {field.name: getattr(state, field.name) for field in fields(state)}
    else:
        named = dict(zip("xy", state, strict=True)) if isinstance(state, tuple) and len(state) == 2 else {}
    return {"state": str(state)} | {_column(name): str(value) for name, value in named.items()}


def _looks_like(state: Any, cells: Mapping[str, str]) -> bool:
    """Whether a state has these cells; numbers are equal by value."""
    columns = _columns(state)
    return all(columns.get(name) == text or _same_number(columns.get(name, ""), text) for name, text in cells.items())


def _same_number(a: str, b: str) -> bool:
    try:
        return float(a) == float(b)
    except ValueError:
        return False


def _draws(draw: Callable[[np.random.Generator], Any]) -> Counter[Any]:
    """The states that chance gives in DRAWS draws, and how often; equal draws for all that are compared."""
    return Counter(draw(np.random.default_rng(seed)) for seed in range(DRAWS))


def _start(moment: _Moment, world: Any) -> Any:
    """The state at the start that the table tells of, or the only one. Raises InputError if none is."""
    starts = [state for state in _draws(world.start) if _looks_like(state, moment.state)]
    if not starts:
        raise moment.row.wrong(f"the world does not start with {_listed(moment.state)}", "begin with its start")
    if len(starts) > 1:
        hint = f"columns that tell them apart: {', '.join(_columns(starts[0]))}"
        raise moment.row.wrong("the world may start in several ways", hint)
    return starts[0]


def _step(moment: _Moment, following: _Moment | None, state: Any, world: Any) -> Step[Any, Any]:
    """The step that a table tells of: the joint action that it allows and that most often leads on as it says."""
    if world.done(state):
        raise moment.row.wrong("the world is over before this step")
    options = {agent: _options(agent, moment, state, world) for agent in world.agents}
    cells = following.state if following else {}
    best, most = None, 0
    for actions in product(*options.values()):
        joint = dict(zip(options, actions, strict=True))
        outcomes = _draws(partial(world.step, state, joint))
        fitting = [after for after in outcomes if _looks_like(after, cells)]
        if len(fitting) > 1:
            hint = f"columns of the state: {', '.join(_columns(state))}"
            raise moment.row.wrong("chance decides what follows this step", hint)
        if fitting and outcomes[fitting[0]] > most:
            best, most = Step(state, joint, fitting[0]), outcomes[fitting[0]]
    if best is None:
        row = following.row if following else moment.row
        raise row.wrong(f"no step leads to {_listed(cells)}", f"the state before it is {str(state)[:200]}")
    return best


def _options(agent: str, moment: _Moment, state: Any, world: Any) -> Iterable[Any]:
    """What an agent may have done: what the table says, or anything, to rest at first. Raises InputError."""
    actions = tuple(world.actions(state, agent))
    by_words = {spell(world, action): action for action in actions}
    words = moment.words.get(agent)
    if words is not None:
        if words not in by_words:
            raise moment.row.wrong(f"{agent} cannot do `{words[:60]}` here", f"allowed: {', '.join(by_words)}")
        return (by_words[words],)
    rest = resting_action(world, state, agent, actions)
    if moment.words:
        if rest is None:
            raise moment.row.wrong(f"the action of {agent} is missing", f"one of {', '.join(by_words)}")
        return (rest,)
    return actions if rest is None else (rest, *(action for action in actions if action != rest))


def _listed(cells: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {text[:60]}" for name, text in cells.items())
