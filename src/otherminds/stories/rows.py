"""Rows of JSON from outside, read strictly: what is wrong is said with its line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from otherminds.errors import InputError, faults

SHOWN = 80

M = TypeVar("M", bound=BaseModel)


def line_of(text: str, place: int) -> int:
    """The line of a place in a text."""
    return text.count("\n", 0, place) + 1


def shortened(text: str) -> str:
    """The text, cut if it is too long to show."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def parse_row(text: str, path: Path | None, line: int) -> Any:
    """The data of a JSON text that begins on a line. Raises InputError if it is none, or has a key twice."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        where = line + error.lineno - 1
        raise InputError(f"is not JSON: {error.msg}", path=path, line=where, column=error.colno) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path, line=line) from None
    except ValueError as error:
        told = "a number too long to be read" if "integer string" in str(error) else shortened(str(error))
        raise InputError(f"is not JSON: {told}", path=path, line=line) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def valid_row(kind: type[M], value: object, path: Path, line: int) -> M:
    """The data as a value of the kind. Raises InputError that names the first thing wrong."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = faults(error)[0]
        key = ".".join(str(part) for part in first["loc"])[:SHOWN]
        if first["type"] == "missing":
            raise InputError(f"lacks `{key}`", path=path, line=line) from None
        raise InputError((f"`{key}`: " if key else "") + first["msg"], path=path, line=line) from None
