"""Study files: the plan of a study as a researcher writes it down, in TOML or JSON."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from otherminds.errors import LONGEST_NAME, InputError, faults, meant
from otherminds.files.strict_json import dumps, parse
from otherminds.files.toml import read_toml
from otherminds.web.questionnaires import KINDS, Questionnaire
from otherminds.web.studies import StudyPlan

LARGEST = 64 * 1024  # bytes of a study file; chosen
NAME = "study.toml"


def read_study(raw: bytes | str, name: str = NAME) -> StudyPlan:
    """The plan that a study file holds: TOML, or JSON if it begins with a brace. `name` is for what is said about it.

    Types are not converted: "9" is not a number, and 1 is not true. Raises InputError, in one line, with the first
    fault.
    """
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    name = name[:LONGEST_NAME] or NAME
    if len(data) > LARGEST:
        raise InputError(f"is larger than {LARGEST:,} bytes", path=name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=name) from None
    table = _table(text, name)
    try:
        return StudyPlan.model_validate_json(dumps(table), strict=True)  # strictness of JSON: a list can be a tuple
    except ValidationError as error:
        first = min(faults(error), key=lambda fault: fault["type"] != "extra_forbidden")  # often why a key is missing
        raise _fault(first, name) from None
    except TypeError:  # TOML has dates and times
        raise InputError("a date or a time must be text, in quotes", path=name) from None
    except ValueError:  # or numbers that JSON does not have
        raise InputError("numbers must be finite", path=name) from None


def _table(text: str, name: str) -> dict[str, Any]:
    """The keys and values of a file. Raises InputError if it is neither TOML nor a JSON object."""
    if text.lstrip().startswith("{"):
        table: dict[str, Any] = parse(text, Path(name))
        return table
    try:
        return read_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}", path=name) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=name) from None
    except ValueError:
        raise InputError("has a number too long to be read", path=name) from None


def _fault(fault: ErrorDetails, name: str) -> InputError:
    """A fault that pydantic found, in words for whoever wrote the file."""
    location = fault["loc"]
    place = ".".join(str(part) if isinstance(part, str) else str(part + 1) for part in _named(location))
    key = str(location[-1])[:LONGEST_NAME] if location else ""
    inside = place.rpartition(".")[0]
    where = f" in {inside[:LONGEST_NAME]}" if inside else ""
    match fault["type"]:
        case "extra_forbidden":
            return InputError(f"unknown key `{key}`{where}", path=name, hint=meant(key, _known(location)))
        case "missing":
            return InputError(f"the key `{key}` is missing{where}", path=name)
        case "union_tag_not_found":
            return InputError(f"the key `kind` is missing in {place}", path=name)
        case "union_tag_invalid":
            return InputError(f"a question is of the kind {', '.join(KINDS)} (in {place})", path=name)
    message = fault["msg"].removeprefix("Value error, ")
    message = message if place == "" else f"{place[:LONGEST_NAME]}: {message[:1].lower()}{message[1:]}"
    return InputError(message, path=name)


def _named(location: tuple[int | str, ...]) -> list[int | str]:
    """A place in the file: without the kind of a question, which pydantic puts after its number."""
    return [part for i, part in enumerate(location) if not (i == 4 and location[2] == "questions" and part in KINDS)]


def _known(location: tuple[int | str, ...]) -> list[str]:
    """The keys that are possible where this one is."""
    if len(location) == 1:
        return list(StudyPlan.model_fields)
    kind = KINDS.get(str(location[-2]))
    return list((kind or Questionnaire).model_fields)
