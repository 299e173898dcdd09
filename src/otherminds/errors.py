"""What is wrong with something from outside, where, and what to do about it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

LONGEST = 600
"""The most characters of what is wrong, which may quote what is there, and of what to do about it."""
LONGEST_HINT = 4_000
MOST_FAULTS = 2_000
LONGEST_NAME = 60
MOST_NAMES = 10
"""The most names that are told to somebody who has got one wrong."""
AS_NEAR = 0.05


class InputError(ValueError):
    """Bad input, told in one line: `file:line:column: what is wrong (what to do)`. Lines and columns start at 1."""

    def __init__(
        self,
        message: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (path, line, column) if part is not None)
        told = _cut(message, LONGEST) + (f" ({_cut(hint, LONGEST_HINT)})" if hint else "")
        text = (f"{place}: " if place else "") + told
        super().__init__("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text))


def unknown(kind: str, name: object, known: Iterable[str], hint: str = "", *, path: Path | None = None) -> InputError:
    """There is no such name: what was perhaps meant, or else the names there are; if these are too many, the first.

    The hint says what else there is, or how to see all of them.
    """
    given = str(name)[:LONGEST_NAME]
    return InputError(f"there is no {kind} `{given}`", path=path, hint=meant(given, known, hint))


def meant(name: str, known: Iterable[str], hint: str = "") -> str:
    """What to say to somebody who has got a name wrong."""
    names = list(known)
    if close := near(name[:LONGEST_NAME], names):
        return f"did you mean {' or '.join(close)}?"
    more = [f"and {len(names) - MOST_NAMES:,} more"] if len(names) > MOST_NAMES else []
    told = f"there is {', '.join([*names[:MOST_NAMES], *more])}" if names else ""
    return "; ".join(part for part in (told, hint) if part)


def near(name: str, known: Iterable[str]) -> list[str]:
    """The known name that is most like this one, whatever the case, and another that is as like; [] if none is."""
    import difflib

    plain = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), plain, n=2)
    ratios = [difflib.SequenceMatcher(None, one, name.lower()).ratio() for one in close]
    return [plain[one] for one, ratio in zip(close, ratios, strict=True) if ratio >= ratios[0] - AS_NEAR]


def faults(error: ValidationError) -> list[ErrorDetails]:
    """All that is wrong with data; if that is too much to be listed in no time, how much it is."""
    count = error.error_count()
    if count > MOST_FAULTS:
        return [{"type": "too_many", "loc": (), "msg": f"{count:,} things in it are wrong", "input": None}]
    return error.errors(include_url=False, include_input=False, include_context=False)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def opened(path: Path) -> BinaryIO:
    """A file from outside, open for reading. Raises OSError if it cannot be, or is a pipe or a device, which could be
    waited for without end."""
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("is no file")
    return file


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_text(path: Path, *, limit: int = 1_000_000) -> str:
    """The text of a file from outside. Raises InputError if it cannot be read, is too large, or is not UTF-8."""
    try:
        with opened(path) as file:
            raw = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None
    if len(raw) > limit:
        raise InputError(f"is larger than {limit:,} bytes", path=path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", path=path, line=line) from None
