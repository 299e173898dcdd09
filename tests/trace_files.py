"""Files of recorded traces, which are among the tests.

A trace file is gzipped JSON, one line for the header and one for each moment. The line of a moment has the joint action
that led to it and the observation, without fields that are as in the line before.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from benchmarks.evidence.melting_pot_traces import Joint, SeenKitchen, SeenMatrix, Trace
from otherminds.errors import InputError, faults
from otherminds.files.text import opened

M = TypeVar("M", bound=BaseModel)
PLACES = ("resources", "counters", "pots")  # fields with sorted lists of cells
MAX_BYTES = 20_000_000  # unpacked size of a trace file, against archives that unpack to huge files; chosen


class _Header(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    substrate: str
    source: str
    players: Annotated[int, Field(ge=1, le=99)]


def write_trace(trace: Trace[Any], path: Path) -> None:
    """Write a trace file; equal traces give equal bytes. Raises ValueError unless there is one joint action a step."""
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
    kind = SeenKitchen if '"pots"' in lines[1] else SeenMatrix
    shown: list[SeenMatrix | SeenKitchen] = []
    joints: list[Joint] = []
    for number, text in enumerate(lines[1:], 2):
        line = _parsed(_line_of(kind, number > 2), text, path, number)
        given = {name: getattr(line, name) for name in line.model_fields_set}
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


@cache
def _line_of(kind: type[SeenMatrix] | type[SeenKitchen], later: bool) -> type[BaseModel]:
    """The model of a line: all fields in the first one; the joint action and changed fields in later ones."""
    fields: dict[str, Any] = {
        name: (hint, None if later else ...) for name, hint in get_type_hints(kind, include_extras=True).items()
    }
    joint: dict[str, Any] = {"joint": (Joint, ...)} if later else {}
    return create_model("Line", __config__=ConfigDict(strict=True, extra="forbid"), **joint, **fields)


def _check(moment: SeenMatrix | SeenKitchen, players: int, path: Path, line: int) -> None:
    """Raise InputError unless fields cover all players and kinds, and cells are unique and sorted."""
    for name, value in moment._asdict().items():
        if name in PLACES:
            cells = [thing[:2] for thing in value or ()]
            if cells != sorted(set(cells)):
                raise InputError(f"`{name}` are not sorted, or two are in one place", path=path, line=line)
        elif name != "ended" and len(value) != players:
            raise InputError(f"`{name}` is about {len(value)} of {players} players", path=path, line=line)
    if isinstance(moment, SeenMatrix):
        rows = [*moment.inventory, *moment.collected, *moment.destroyed, *(row for pair in moment.met for row in pair)]
        kinds = {len(row) for row in rows}
        if len(kinds) > 1 or any(kind >= max(kinds) for _, _, kind in moment.resources or ()):
            raise InputError("counts different numbers of kinds", path=path, line=line)
