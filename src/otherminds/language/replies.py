"""Reading what language models write. What cannot be read is a value that says so, never a guess."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from otherminds.errors import faults

LONGEST = 100_000
SHOWN = 200
FENCES = ("```", "```json")

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Unreadable:
    """A reply that is not what was asked for, why, and how it begins."""

    why: str
    text: str = ""


def unreadable(why: str, text: str) -> Unreadable:
    """Why a text cannot be read, with its beginning."""
    return Unreadable(why, text[:SHOWN])


def schema_of(kind: type[BaseModel]) -> str:
    """The JSON schema that replies of a kind have to follow, as text."""
    return json.dumps(kind.model_json_schema(), sort_keys=True)


def read_json(text: str, kind: type[M]) -> M | Unreadable:
    """A reply as a value of this kind: the whole text is the JSON of one, or all of it is one fenced block of that.

    Nothing is searched for in prose: an object quoted there may be one that the model rejects.
    """
    if len(text) > LONGEST:
        return unreadable(f"is longer than {LONGEST:,} characters", text)
    try:
        plain = _unfenced(text)
        found = json.loads(plain, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
        json.dumps(found, ensure_ascii=False).encode()  # half a character can be escaped, and not be written
        return kind.model_validate(found)
    except RecursionError:
        return unreadable("is nested too deeply", text)
    except ValidationError as error:
        first = faults(error)[0]
        place = ".".join(str(part) for part in first["loc"])[:SHOWN]
        return unreadable(f"{place or 'the reply'}: {first['msg'][:SHOWN]}", text)
    except ValueError as error:
        return unreadable(f"is not JSON: {str(error)[:SHOWN]}", text)


def _unfenced(text: str) -> str:
    """What is in a fenced block, if the text is one; without a pattern, which would search long texts for ages."""
    opening, newline, rest = text.strip().partition("\n")
    return rest.removesuffix("```") if newline and opening.rstrip() in FENCES and rest.endswith("```") else text


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found
