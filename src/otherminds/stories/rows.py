"""Rows of JSON from outside, read strictly: what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

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
