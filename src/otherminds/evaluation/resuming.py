"""Going on with a run from what it says of itself: which command began it, and with what options.

A folder may come from anybody. What a run says is read as data, and a run in which code is loaded by name, or a server
at an address is asked, which may be sent a key, is only resumed by who names these again. So it is with clusters.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from otherminds.errors import InputError

K = TypeVar("K")
Command = Literal["reproduce", "check"]


class Begun(BaseModel):
    """How a run was begun: the command, the name of the experiment if it reproduces one, and the options."""

    model_config = ConfigDict(extra="forbid")

    command: Command
    name: str = ""
    options: dict[str, Any]

    def read(self, kind: type[K], folder: Path) -> K:
        """The options, of this kind, for the run where it is now. Raises InputError if they are others."""
        try:
            return TypeAdapter(kind).validate_python(self.options | {"out": folder})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"cannot be resumed: `{place}`: {first['msg']}", path=folder) from None


def how_begun(command: Command, options: Any, name: str = "") -> str:
    """What a run says of itself."""
    told = TypeAdapter(type(options)).dump_python(options, mode="json", exclude={"out", "frozen", "engine"})
    for path in (told, told.get("asking") or {}):
        path |= {key: str(Path(path[key]).absolute()) for key in ("data", "replay") if path.get(key) is not None}
    return json.dumps({"command": command, "name": name, "options": told})


def begun(about: str, folder: Path) -> Begun:
    """What a run says of itself, read. Raises InputError if it does not say enough."""
    try:
        return Begun.model_validate_json(about)
    except ValidationError:
        hint = "repeat the command that began it, with --out"
        raise InputError("does not say how it was begun", path=folder, hint=hint) from None


def trusted(specs: Sequence[str], named: Sequence[str], folder: Path) -> None:
    """Raise InputError for a model or agent from elsewhere, unless it was named again."""
    for spec in specs:
        kind, _, rest = spec.partition(":")
        if rest and kind != "embedded" and not (kind == "openai" and "@" not in rest) and spec not in named:
            hint = f"if you trust that, add --model '{spec}'"
            raise InputError(f"this run asks {spec[:200]}", path=folder, hint=hint)
