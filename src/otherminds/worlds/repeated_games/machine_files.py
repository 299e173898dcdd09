"""Deterministic partners as JSON files: for every state what the machine does, and where the other's action leads.

    {"machines": {"Tit For Tat": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]}}}

Machines start in state 0. `output` has a name of an action, or its first letter, for every state; `next` has a state
for every action of the other. `about`, `licence` and `source` may say where the machines come from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files import strict_json
from otherminds.files.text import read_text
from otherminds.worlds.repeated_games.machines import Machine, build
from otherminds.worlds.repeated_games.rules import Game

BUNDLED = "ipd_machines.json"
LETTERS = ("C", "D")
MAX_STATES = 1000
STRICT = ConfigDict(extra="forbid", strict=True)


class _Machine(BaseModel):
    model_config = STRICT

    states: Annotated[int, Field(ge=1, le=MAX_STATES)]
    output: list[str]
    next: list[list[int]]


class _Machines(BaseModel):
    model_config = STRICT

    about: str = ""
    licence: str = ""
    source: str = ""
    machines: Annotated[dict[str, _Machine], Field(min_length=1)]


def read_machines(path: Path, game: Game) -> tuple[Machine, ...]:
    """Read the partners in a file, to play a two-player game in the second place, in the order of the file.

    Raises InputError with the line of what is no JSON, or the name of the machine that is wrong.
    """
    return _machines(read_text(path), path, game, game.actions[1])


def bundled_machines(game: Game) -> tuple[Machine, ...]:
    """The strategies of the Axelrod library that come with this one, for any game of two with two actions each.

    What they call C and D are the first and the second action. Raises InputError for any other game.
    """
    if game.shape != (2, 2):
        raise InputError(f"the bundled machines do not fit {game.name}", hint="it must be 2 × 2")
    text = (resources.files("otherminds.worlds.repeated_games") / BUNDLED).read_text("utf-8")
    return _machines(text, Path(BUNDLED), game, LETTERS)


def _machines(text: str, path: Path, game: Game, actions: Sequence[str]) -> tuple[Machine, ...]:
    if len(game.agents) != 2:
        raise InputError(f"machines play games of two, and {game.name} has {len(game.agents)} agents", path=path)
    try:
        found = _Machines.model_validate_json(text).machines
    except ValidationError as error:
        raise _first(error, path) from None
    strict_json.parse(text, path)
    return tuple(_machine(name, machine, path, game, actions) for name, machine in found.items())


def _first(error: ValidationError, path: Path) -> InputError:
    """The first complaint of pydantic in one line, with line and column if the text is not even JSON."""
    found = faults(error)[0]
    message = found["msg"].replace(" after validation", "")
    place = re.search(r" at line (\d+) column (\d+)$", message)
    if place:
        return InputError(message[: place.start()], path=path, line=int(place[1]), column=max(int(place[2]), 1))
    key, *rest = (str(part)[:60] for part in found["loc"]) if found["loc"] else ("",)
    if key != "machines" or not rest:
        return InputError(f"`{key}`: {message}" if key else message, path=path)
    inner = ".".join(rest[1:])
    return InputError(f"machine `{rest[0]}`: " + (f"`{inner}`: {message}" if inner else message), path=path)


def _machine(name: str, found: _Machine, path: Path, game: Game, actions: Sequence[str]) -> Machine:
    def wrong(message: str, hint: str) -> InputError:
        return InputError(f"machine `{name[:60]}`: {message}", path=path, hint=hint)

    if not name.strip() or not name.isprintable():
        raise wrong("this is no name", "names have printable characters")
    for key, entries in (("output", found.output), ("next", found.next)):
        if len(entries) != found.states:
            raise wrong(f"`{key}` has {len(entries)} entries", f"one for each of {found.states} states")
    for q, onward in enumerate(found.next):
        if len(onward) != len(game.actions[0]):
            raise wrong(f"`next.{q}` has {len(onward)} entries", f"one for each of {', '.join(game.actions[0])}")
        if not all(0 <= to < found.states for to in onward):
            raise wrong(f"`next.{q}` leads to a state that is not there", f"there are 0 to {found.states - 1}")
    outputs = []
    for q, word in enumerate(found.output):
        meant = [a for a, action in enumerate(actions) if action == word] or _begin(actions, word)
        if len(meant) != 1:
            raise wrong(f"`output.{q}`: {word[:60]} is not one action", f"write {', '.join(actions)}")
        outputs += meant
    return build(name, game, 0, outputs.__getitem__, lambda q, _own, theirs: found.next[q][theirs])


def _begin(actions: Sequence[str], letter: str) -> list[int]:
    return [a for a, action in enumerate(actions) if action[:1] == letter]
