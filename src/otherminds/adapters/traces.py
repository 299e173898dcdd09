"""What an engine showed, step by step: recorded once, so that rules can be checked against it without the engine.

A trace file is gzipped JSON, one line for the header and one for every moment. The line of a moment names the
joint action that led to it and what is seen; what it leaves out is as in the line before.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from otherminds.errors import InputError, faults
from otherminds.files.text import opened

M = TypeVar("M", bound=BaseModel)
PLACES = ("resources", "counters", "pots")
MAX_BYTES = 20_000_000
Place = Annotated[int, Field(ge=0, le=255)]
Count = Annotated[int, Field(ge=0)]
Facing = Annotated[int, Field(ge=0, le=3)]
Item = Annotated[int, Field(ge=0, le=3)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Body = tuple[Place, Place, Facing]
Joint = tuple[Annotated[int, Field(ge=0, le=7)], ...]


class Seen(NamedTuple):
    """What an in-the-matrix engine shows after a reset or a step; facings are 0 north, 1 east, 2 south, 3 west."""

    bodies: tuple[Body | None, ...]
    """(x, y, facing) of every player; None while dead."""
    resources: tuple[tuple[Place, Place, Count], ...] | None
    """(x, y, kind) of every resource that can be picked up, sorted; None while nobody is alive to see."""
    inventory: tuple[tuple[Count, ...], ...]
    ready: tuple[Number, ...]
    """READY_TO_SHOOT."""
    rewards: tuple[Number, ...]
    met: tuple[tuple[tuple[Number, ...], tuple[Number, ...]], ...]
    """INTERACTION_INVENTORIES of every player, (own, partner): zeros at a reset, -1 when there is no interaction."""
    interacted: tuple[bool, ...]
    collected: tuple[tuple[Count, ...], ...]
    """For every player and kind, how many resources it picked up in this step."""
    destroyed: tuple[tuple[Count, ...], ...]
    ended: bool


class SeenKitchen(NamedTuple):
    """What the cooking engine shows after a reset or a step; items are 0 nothing, 1 tomato, 2 dish, 3 soup."""

    bodies: tuple[Body, ...]
    hands: tuple[Item, ...]
    counters: tuple[tuple[Place, Place, Item], ...]
    """(x, y, item) of every counter that is not empty, sorted."""
    pots: tuple[tuple[Place, Place, Annotated[int, Field(ge=0, le=3)], bool], ...]
    """(x, y, tomatoes inside, whether they are cooked) of every pot, sorted."""
    rewards: tuple[Number, ...]
    ended: bool


S_co = TypeVar("S_co", bound=Seen | SeenKitchen, covariant=True)


@dataclass(frozen=True)
class Trace(Generic[S_co]):
    """One episode: what was shown at its start and after each joint action (indices into the eight actions)."""

    substrate: str
    source: str
    shown: tuple[S_co, ...]
    joints: tuple[Joint, ...]


class _Header(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    substrate: str
    source: str
    players: Annotated[int, Field(ge=1, le=99)]


def write_trace(trace: Trace[Any], path: Path) -> None:
    """Write a trace file: the same bytes for the same trace. Raises ValueError if there is not one joint a step."""
    if len(trace.shown) != len(trace.joints) + 1:
        raise ValueError(f"{len(trace.shown)} moments and {len(trace.joints)} joint actions")
    first = trace.shown[0]
    header = {"substrate": trace.substrate, "source": trace.source, "players": len(first.bodies)}
    lines: list[Mapping[str, Any]] = [header, first._asdict()]
    for before, joint, after in zip(trace.shown, trace.joints, trace.shown[1:], strict=False):
        new = {name: value for name, value in after._asdict().items() if value != getattr(before, name)}
        lines.append({"joint": joint, **new})
    text = "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_trace(path: Path) -> Trace[Any]:
    """Read a trace file. Raises InputError with the line of the first thing that is wrong."""
    lines = _lines(path)
    header = _parsed(_Header, lines[0], path, 1)
    if len(lines) < 2:
        raise InputError("shows nothing", path=path, line=2, hint="the start of the episode follows the header")
    kind = SeenKitchen if '"pots"' in lines[1] else Seen
    shown: list[Seen | SeenKitchen] = []
    joints: list[Joint] = []
    for number, text in enumerate(lines[1:], 2):
        given = _given(_parsed(_line_of(kind, number > 2), text, path, number))
        if number > 2:
            joints.append(given.pop("joint"))
            if len(joints[-1]) != header.players:
                raise InputError(f"{len(joints[-1])} actions for {header.players} players", path=path, line=number)
        moment = shown[-1]._replace(**given) if shown else kind(**given)
        _check(moment, header.players, path, number)
        if shown and shown[-1].ended:
            raise InputError("goes on after the end of the episode", path=path, line=number)
        shown.append(moment)
    return Trace(header.substrate, header.source, tuple(shown), tuple(joints))


def _lines(path: Path) -> list[str]:
    try:
        with opened(path) as packed, gzip.open(packed) as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, path=path, hint="a trace is a gzipped file, .jsonl.gz") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES:,} bytes", path=path)
    try:
        return raw.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", path=path, line=line) from None


def _parsed(form: type[M], text: str, path: Path, line: int) -> M:
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        first = faults(error)[0]
        where = ".".join(map(str, first["loc"]))
        problem = f"`{where}`: {first['msg']}" if where else first["msg"]
        raise InputError(problem, path=path, line=line, hint="record the trace again") from None


def _given(line: BaseModel) -> dict[str, Any]:
    return {name: getattr(line, name) for name in line.model_fields_set}


@cache
def _line_of(kind: type[Seen] | type[SeenKitchen], later: bool) -> type[BaseModel]:
    """The form of a line: the first one says everything, the later ones a joint action and what is new."""
    fields: dict[str, Any] = {
        name: (hint, None if later else ...) for name, hint in get_type_hints(kind, include_extras=True).items()
    }
    joint: dict[str, Any] = {"joint": (Joint, ...)} if later else {}
    return create_model("Line", __config__=ConfigDict(strict=True, extra="forbid"), **joint, **fields)


def _check(moment: Seen | SeenKitchen, players: int, path: Path, line: int) -> None:
    """Whether everything is told of every player and kind, and places come once and in order."""
    for name, value in moment._asdict().items():
        if name in PLACES:
            cells = [thing[:2] for thing in value or ()]
            if cells != sorted(set(cells)):
                raise InputError(f"`{name}` are not sorted, or two are in one place", path=path, line=line)
        elif name != "ended" and len(value) != players:
            raise InputError(f"`{name}` is about {len(value)} of {players} players", path=path, line=line)
    if isinstance(moment, Seen):
        rows = [*moment.inventory, *moment.collected, *moment.destroyed, *(row for pair in moment.met for row in pair)]
        kinds = {len(row) for row in rows}
        if len(kinds) > 1 or any(kind >= max(kinds) for _, _, kind in moment.resources or ()):
            raise InputError("counts different numbers of kinds", path=path, line=line)
