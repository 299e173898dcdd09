"""Games in normal form as files: TOML with agents, their actions, and payoffs, or a form of `published_games`.

    name = "ibs"
    title = "Iterated Battle of the Sexes"
    agents = ["you", "partner"]
    actions = ["Fight", "Ballet"]
    payoffs = [
      [[10, 7], [0, 0]],
      [[ 0, 0], [7,10]],
    ]

`actions` are one list for all agents, or a list for each. `payoffs` have one level of lists for each agent, with a list
for each of its actions, and a number or a fraction, "1/3", for each agent at the innermost level. `title` is optional.
A file whose name ends in .nfg or .csv is in that form, and its game has the file's name.
"""

from __future__ import annotations

import difflib
import os.path
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from otherminds.errors import InputError, faults, unknown
from otherminds.files.text import read_text
from otherminds.files.toml import read_toml
from otherminds.worlds.map_file import level_texts
from otherminds.worlds.repeated_games.published_games import (
    LARGEST,
    LONGEST,
    MAX_AGENTS,
    MAX_CELLS,
    Place,
    Written,
    nfg,
    number_of,
    payoff_table,
)
from otherminds.worlds.repeated_games.rules import Game, ordinal_games

LARGEST_FILE = 500_000  # characters; bounds time
STRICT = ConfigDict(extra="forbid", strict=True)
SYMBOL = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<mark>[\[\]{},=\n])
    |(?P<string>"{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*')
    |(?P<word>[^\s\[\]{},=\#"']+)""",
    re.DOTALL | re.VERBOSE,
)


def _check_name(text: str) -> str:
    if not text.isprintable() or text != text.strip() or not 0 < len(text) <= LONGEST:
        raise PydanticCustomError("name", "a name has 1 to 60 printable characters and no space around them")
    return text


def _without_fraction(entry: object) -> object:
    """The number that a text such as "1/3" is; anything else unchanged."""
    return number_of(entry) if isinstance(entry, str) and "/" in entry else entry


Name = Annotated[str, AfterValidator(_check_name)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-LARGEST, le=LARGEST), BeforeValidator(_without_fraction)]
PUBLISHED = {".nfg": nfg, ".csv": payoff_table}


class _Keys(BaseModel, extra="forbid", strict=True):
    """The keys of a file; nested lists are checked later, when their shapes are known."""

    name: Name
    title: Name | None = None
    agents: Annotated[list[Name], Field(min_length=2, max_length=MAX_AGENTS)]
    actions: Annotated[list[Any], Field(min_length=1)]
    payoffs: list[Any]


@dataclass(frozen=True)
class _Source:
    """The text of a file, its path for errors, and its keys and their lines if it is not TOML."""

    text: str
    path: Path
    written: Written | None = None

    @cached_property
    def lines(self) -> Mapping[Place, int]:
        return self.written.lines if self.written else dict(_places(self.text))

    def wrong(self, message: str, place: Place = (), hint: str | None = None) -> InputError:
        """An error with the line on which the value at `place` begins, or the innermost list around it."""
        around = (place[:end] for end in range(len(place), 0, -1))
        line = next((self.lines[outer] for outer in around if outer in self.lines), 1)
        return InputError(message, path=self.path, line=line, hint=hint)

    def nested(self, kind: Any, value: object, key: str, levels: Sequence[str] = ()) -> Any:
        """A validated nested list; `levels` has a hint for each level of nesting."""
        try:
            return TypeAdapter[Any](kind, config=STRICT).validate_python(value)
        except ValidationError as error:
            fault = _first_fault(error)
            inner = fault["loc"]
            hint = levels[len(inner)] if len(inner) < len(levels) else None
            raise self.wrong(f"`{key}`: {_message_of(fault)}", (key, *inner), hint) from None


def read_game(path: Path) -> Game:
    """Read a game in normal form from a file. Raises InputError with the line of the first error."""
    return parse_game(read_text(path, limit=LARGEST_FILE), path)


def parse_game(text: str, path: Path) -> Game:
    """Read a game from text; errors name `path`. Raises InputError for an invalid game."""
    form = PUBLISHED.get(path.suffix.lower())
    source = _Source(text, path, form(text, path) if form else None)
    keys = _read_keys(source)
    _refuse_repeats(keys.agents, ("agents",), source)
    actions = _actions(keys, source)
    payoffs = _payoffs(keys, actions, source)
    return Game(keys.name, tuple(keys.agents), actions, payoffs, keys.title or "")


def _read_keys(source: _Source) -> _Keys:
    """The validated keys of a file. Raises InputError with the line of the first error."""
    try:
        written = source.written
        name = " ".join(source.path.stem.split())[:LONGEST]
        return _Keys.model_validate({"name": name, **written.keys} if written else read_toml(source.text))
    except ValidationError as error:
        fault = _first_fault(error)
        key = str(fault["loc"][0])[:LONGEST]
        valid_keys = list(_Keys.model_fields)
        if fault["type"] == "missing":
            raise source.wrong(f"the file lacks `{key}`", hint=f"a game has {', '.join(valid_keys)}") from None
        if fault["type"] == "extra_forbidden":
            close = difflib.get_close_matches(key, valid_keys, n=1)
            hint = f"did you mean {close[0]}?" if close else f"a game has {', '.join(valid_keys)}"
            raise source.wrong(f"unknown key `{key}`", fault["loc"], hint) from None
        raise source.wrong(f"`{key}`: {_message_of(fault)}", fault["loc"]) from None
    except RecursionError:
        raise source.wrong("is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).partition(" (at ")
        line, column = map(int, re.findall(r"\d+", place) or (source.text.count("\n") + 1, 1))
        raise InputError(message, path=source.path, line=line, column=column) from None
    except ValueError:
        raise InputError("a number has thousands of digits", path=source.path) from None


def _first_fault(error: ValidationError) -> ErrorDetails:
    """The first error; unknown keys come before all others, because one may be a misspelt known key."""
    return min(faults(error), key=lambda fault: fault["type"] != "extra_forbidden")


def _message_of(fault: ErrorDetails) -> str:
    return fault["msg"].replace(" after validation", "")


def _actions(keys: _Keys, source: _Source) -> tuple[tuple[str, ...], ...]:
    """The names of each agent's actions, from one list for all agents or a list for each.

    Raises InputError for another form, or for a name that an agent has twice.
    """
    names = Annotated[list[Name], Field(min_length=1)]
    if not any(isinstance(entry, list) for entry in keys.actions):
        own: list[str] = source.nested(names, keys.actions, "actions")
        _refuse_repeats(own, ("actions",), source)
        return (tuple(own),) * len(keys.agents)
    hint = f"one list of names for each of {', '.join(keys.agents)}, or one for all"
    lists: list[list[str]] = source.nested(_list_of(len(keys.agents), names), keys.actions, "actions", (hint, hint))
    for i, own in enumerate(lists):
        _refuse_repeats(own, ("actions", i), source)
    return tuple(map(tuple, lists))


def _payoffs(keys: _Keys, actions: Sequence[Sequence[str]], source: _Source) -> tuple[tuple[float, ...], ...]:
    """One row of payoffs for each joint action, a number for each agent, from the nested lists of the file.

    Raises InputError if the lists do not have the shape that agents and actions require.
    """
    shape = [len(own) for own in actions]
    if prod(shape) * len(shape) > MAX_CELLS:
        raise source.wrong(f"the game has more than {MAX_CELLS:,} payoffs", ("actions",))
    kind = _list_of(len(shape), Number)
    for size in reversed(shape):
        kind = _list_of(size, kind)
    levels = [f"one list for each action of {agent}" for agent in keys.agents]
    levels += [f"one number for each of {', '.join(keys.agents)}"]
    rows = source.nested(kind, keys.payoffs, "payoffs", levels)
    for _ in shape[1:]:
        rows = [row for inner in rows for row in inner]
    return tuple(map(tuple, rows))


def _list_of(size: int, kind: Any) -> Any:
    """The type of a list of exactly `size` values of a kind."""
    return Annotated[list[kind], Field(min_length=size, max_length=size)]


def _refuse_repeats(names: Sequence[str], place: Place, source: _Source) -> None:
    """Raise InputError if two names of the list at `place` are equal, ignoring case and spaces."""
    # names typed on command lines are compared ignoring case
    earlier_names: set[str] = set()
    for i, name in enumerate(" ".join(name.casefold().split()) for name in names):
        if name in earlier_names:
            message = f"`{place[0]}`: {names[i]} is listed twice"
            raise source.wrong(message, (*place, i), "names must differ in more than case")
        earlier_names.add(name)


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """The line on which each key and each value in its lists begins; the text must be valid TOML."""
    line, place = 1, list[str | int]()
    for symbol in SYMBOL.finditer(text):
        sign = symbol.group()
        if symbol["word"] or symbol["string"]:
            if not place:  # the first part of a key such as `payoffs`, `"payoffs"` or `payoffs.mine`
                quoted = sign[0] in "\"'"
                place = [next(iter(tomllib.loads(f"{sign} = 0"))) if quoted else sign.split(".")[0]]
            yield tuple(place), line
        elif place and sign in "[{":
            yield tuple(place), line
            place.append(0)
        elif len(place) > 1 and sign in "]}":
            place.pop()
        elif len(place) > 1 and sign == ",":
            place[-1] = int(place[-1]) + 1
        elif len(place) == 1 and sign == "\n":
            place = []
        line += sign.count("\n")


@cache
def bundled_games() -> tuple[Game, ...]:
    """All bundled games, in the order of their file names."""
    root = resources.files("otherminds.worlds.repeated_games") / "games"
    return tuple(parse_game(text, path) for text, path in level_texts(root, ".toml"))


def find_game(name: str | Path) -> Game:
    """A bundled game by name, an ordinal 2 × 2 game such as ordinal-017, or the game in a file.

    Raises InputError for another name.
    """
    bundled = bundled_games()
    ordinal: Iterable[Game] = ordinal_games() if str(name).startswith("ordinal-") else ()
    for game in (*bundled, *ordinal):
        if game.name == str(name):
            return game
    if Path(name).suffix.lower() in (".toml", *PUBLISHED) or os.path.isfile(name):
        return read_game(Path(name))
    names = [game.name for game in bundled]
    raise unknown("file and no bundled game", name, names, "ordinal-001 to ordinal-144")
