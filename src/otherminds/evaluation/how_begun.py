"""How a run was begun, which models must be named again to resume it, and the command that does so."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from otherminds.errors import InputError
from otherminds.files.text import printable
from otherminds.language.model_names import is_model, served

K = TypeVar("K")
Command = Literal["reproduce", "check"]


class Begun(BaseModel, extra="forbid"):
    """How a run was begun: the command, the name of the experiment if it reproduces one, and the options."""

    command: Command
    name: str = ""
    options: dict[str, Any]

    @property
    def models(self) -> list[str]:
        """The specifications of the agents and models that the run asks, scripted ones left out."""
        if self.command == "check":
            specs = self.options.get("agents")
        else:
            specs = [(self.options.get("asking") or {}).get("model")]
        return [spec for spec in specs or () if spec and not spec.startswith("scripted:")]

    def read(self, kind: type[K], folder: Path) -> K:
        """The options as `kind`, with `folder` as their place. Raises InputError if they do not fit."""
        try:
            return TypeAdapter(kind).validate_python(self.options | {"out": folder})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"cannot be resumed: `{place}`: {first['msg']}", path=folder) from None


def how_begun(command: Command, options: Any, name: str = "") -> str:
    """How a run was begun, as JSON to store with it: what `begun` reads."""
    settings = TypeAdapter(type(options)).dump_python(options, mode="json", exclude={"out", "frozen", "engine"})
    for path in (settings, settings.get("asking") or {}):
        path |= {
            key: str(Path(path[key]).absolute()) for key in ("data", "replay", "machines") if path.get(key) is not None
        }
    return json.dumps({"command": command, "name": name, "options": settings})


def begun(about: str, folder: Path) -> Begun:
    """How a run was begun, from the JSON stored with it. Raises InputError if it is not readable."""
    try:
        return Begun.model_validate_json(about)
    except ValidationError:
        hint = "repeat the command that began it, with --out"
        raise InputError("does not say how it was begun", path=folder, hint=hint) from None


def described(about: str, name: str) -> str:
    """What a run of this name, begun as `about` says, is of: a check in words, any other run by its name."""
    try:
        run = Begun.model_validate_json(about)
        if run.command != "check":
            return name
        options = run.options
        agents = ", ".join(spec.partition("@")[0] for spec in options["agents"]) or "known players"
        return f"check of {agents} in {', '.join(options['games'])}: {options['rounds']} rounds, seed {options['seed']}"
    except (ValidationError, LookupError, AttributeError, TypeError):
        return name


def trusted(specs: Sequence[str], confirmed: Sequence[str], folder: Path, *, asks: bool) -> None:
    """Raise InputError for code or a server that the run names, unless the user names it again.

    A folder may come from anybody: it must not choose what code runs nor, if a model is asked anew (`asks`), where a
    key is sent and what is paid for. A server that nobody asks needs no trust.
    """
    for spec in specs:
        if not _harmless(spec, asks=asks) and spec not in confirmed:
            hint = f"if you trust that, add --model {shlex.quote(spec)}"
            raise InputError(f"this run asks {spec[:200]}", path=folder, hint=hint)


def _harmless(spec: str, *, asks: bool) -> bool:
    """Whether finding what a specification names runs no code and reaches no server."""
    if name := served(spec):
        return bool(name.model) and not asks  # a server is asked at once for a model that is not named
    return is_model(spec) or not spec.partition(":")[2]


def resume_command(folder: Path, about: str, *options: str) -> str:
    """The command that resumes a run begun as `about` says, with every model that must be named again."""
    try:
        models = [spec for spec in begun(about, folder).models if not _harmless(spec, asks=True)]
    except (InputError, AttributeError, TypeError):  # not begun by a command, or damaged
        models = []
    words = ("otherminds", "resume", str(folder), *(word for spec in models for word in ("--model", spec)), *options)
    return printable(shlex.join(words))
