"""What models cost, from a file in TOML: by name, dollars for a million tokens of prompts and of replies.

    [models]
    "my-model-2.5" = "2.50/10"
    "my-model-*" = "0.25/2"

No prices come with the library: they change, and an old one would mislead.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from otherminds.errors import InputError, faults
from otherminds.files.text import read_text
from otherminds.files.toml import read_toml
from otherminds.language.endpoint import LONGEST_NAME
from otherminds.language.prices import SHOWN, Price

LARGEST = 100_000
ANY = "*"
WRITTEN = '[models], and lines such as "my-model" = "2.50/10"'
QUOTED = "put names with dots in quotes"
PLACE = re.compile(r" ?\(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)\Z")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    models: dict[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)], StrictStr]


def read_prices(path: Path) -> Mapping[str, Price]:
    """The prices in a file by the name of the model, or by how names begin, and a `*`.

    Raises InputError for a file that cannot be read or says anything else.
    """
    text = read_text(path, limit=LARGEST)
    try:
        found = _File.model_validate(read_toml(text))
    except ValidationError as error:
        first = faults(error)[0]
        place = ".".join(map(str, first["loc"]))[:SHOWN]
        hint = QUOTED if first["type"] == "string_type" else WRITTEN
        raise InputError(f"`{place}`: {first['msg']}", path=path, hint=hint) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path, hint=WRITTEN) from None
    except tomllib.TOMLDecodeError as error:
        raise _misspelt(str(error), path) from None
    except ValueError:
        raise InputError("a number in it has thousands of digits", path=path, hint=WRITTEN) from None
    return {name: _price(name, text, path) for name, text in found.models.items()}


def _misspelt(message: str, path: Path) -> InputError:
    """What TOML does not allow, at its line and column if the message says where that is."""
    place = PLACE.search(message)
    line, column = (int(part) if part else None for part in place.groups()) if place else (None, None)
    return InputError(f"is not TOML: {PLACE.sub('', message)[:SHOWN]}", path=path, line=line, column=column)


def _price(name: str, text: str, path: Path) -> Price:
    if ANY in name[:-1]:
        raise InputError(f"`{name[:SHOWN]}`: a * stands for the end of a name, and nowhere else", path=path)
    try:
        return Price.parse(text)
    except InputError as error:
        raise InputError(f"`{name[:SHOWN]}`: {error}", path=path) from None


def price_of(model_name: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model: that of its name, or else of the longest beginning of it; None if it is not there."""
    if model_name in prices:
        return prices[model_name]
    begins = [name for name in prices if name.endswith(ANY) and model_name.startswith(name.removesuffix(ANY))]
    return prices[max(begins, key=len)] if begins else None
