"""Strict JSON, for all JSON that comes from outside: unique names, finite numbers, limited nesting."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from otherminds.errors import InputError

DEEPEST = 200  # lists and objects in one another; Python 3.11 reads fewer than 1000, others more; chosen
BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
LONGEST_NAME = 60  # characters shown of a repeated name; chosen


class RepeatedNameError(ValueError):
    """An object gives the same name twice. Other readers keep the last value and lose the first unseen."""


def dumps(value: Any) -> str:
    """A value as JSON text. Raises ValueError or TypeError for values that JSON does not have, such as NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def loads(text: str) -> Any:
    """The value of a JSON text in which names are unique in their object and all numbers are finite.

    Raises ValueError (json.JSONDecodeError, with the place, for a text that is not JSON; RepeatedNameError) and
    RecursionError. `parse` raises InputError instead.
    """
    _check_depth(text)
    return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)


def parse(text: str, path: Path | None = None, line: int = 1) -> Any:
    """The value of a JSON text that begins on the given line of a file. Raises InputError with the line of the fault.

    The column is given, too, if the text is not JSON at all.
    """
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        fault_line = line + error.lineno - 1
        raise InputError(f"is not JSON: {error.msg}", path=path, line=fault_line, column=error.colno) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path, line=line) from None
    except RepeatedNameError as error:
        # the parser does not say where it was: in a text of several lines the name itself has to do
        raise InputError(str(error), path=path, line=None if "\n" in text.strip() else line) from None
    except ValueError as error:
        reason = "a number too long to be read" if "integer string" in str(error) else error
        raise InputError(f"is not JSON: {reason}", path=path, line=line) from None


def depth(value: Any) -> int:
    """How deeply lists and objects are nested in a value: 0 for a number or a text."""
    if isinstance(value, Mapping):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def _check_depth(text: str) -> None:
    """Raise RecursionError for a text nested too deeply, whatever the parser of this version of Python can read."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    steps = {"[": 1, "{": 1, "]": -1, "}": -1}
    if max(accumulate(steps.get(part, 0) for part in BRACKETS.findall(text))) > DEEPEST:
        raise RecursionError


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these names and values. Raises RepeatedNameError."""
    members = dict[str, Any]()
    for name, value in pairs:
        if name in members:
            raise RepeatedNameError(f"`{name[:LONGEST_NAME]}` is given twice")
        members[name] = value
    return members
