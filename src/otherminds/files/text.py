"""Text from outside: reading it from files, making it safe to show, and files that are written whole."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import BinaryIO

from otherminds.errors import InputError, shortened
from otherminds.operating_system import replace, sync

LONGEST_LINE = 200  # characters that `one_line` keeps: about two lines of a terminal; chosen
LARGEST_FILE = 1_000_000  # bytes that `read_text` reads unless told otherwise; the largest bundled file has half
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading. Raises OSError if it cannot be opened, or is a pipe or a device.

    Reading a pipe or a device could block for ever.
    """
    nonblocking = getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | nonblocking))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("is no file")
    return file


@contextmanager
def naming(path: Path, failure: str = "cannot be read") -> Iterator[None]:
    """Turn what the system says about a file into an InputError that names it; a NUL in a name is a ValueError."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{failure}: {getattr(error, 'strerror', None) or error}", path=path) from None


def read_text(path: Path, *, limit: int = LARGEST_FILE) -> str:
    """The text of a file.

    Raises InputError if it cannot be read, has more than `limit` bytes, is not UTF-8, or holds a NUL byte.
    """
    with naming(path), opened(path) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise InputError(f"is larger than {limit:,} bytes", path=path)
    return decoded(raw, path, 1)


def decoded(raw: bytes, path: Path, line: int) -> str:
    """The text of bytes that begin in this line of a file. Raises InputError if they are not UTF-8, or hold a NUL."""
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        place = line + raw.count(b"\n", 0, error.start)
        raise InputError("is not UTF-8 text", path=path, line=place, hint=_encoding_hint(raw)) from None
    if "\0" in text:
        place = line + raw.count(b"\n", 0, raw.index(0))
        raise InputError("holds a NUL byte: it is no text", path=path, line=place)
    return text


def _encoding_hint(raw: bytes) -> str | None:
    """What bytes that are not UTF-8 look like, and what to do; None if they do not look like text."""
    if re.search(rb"[\0-\x08\x0e-\x1f]", raw):
        return None
    if re.search(rb"[\x80-\xff]{3}", raw):  # no language of western Europe has so many accents in a row
        return "save it as UTF-8"
    name = "Windows-1252" if re.search(rb"[\x80-\x9f]", raw) else "Latin-1"
    return f"it looks like {name}: save it as UTF-8"


def one_line(text: str) -> str:
    """The text as one line of at most 200 visible characters; a longer one ends with an ellipsis."""
    visible = "".join(c for c in text[: 10 * LONGEST_LINE] if c.isprintable() or c.isspace())
    line = " ".join(visible.split())
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1].rstrip() + "…"


def brief(thing: object) -> str:
    """The type of a dataclass or a named tuple, and the start of each field, in LONGEST_LINE characters."""
    names = getattr(thing, "_fields", ())
    if is_dataclass(thing):
        names = tuple(field.name for field in fields(thing) if field.repr)
    each = max(8, LONGEST_LINE // max(1, len(names)) - 16)
    parts = (f"{name}={shortened(repr(getattr(thing, name)), each)}" for name in names)
    return shortened(f"{type(thing).__name__}({', '.join(parts)})", LONGEST_LINE)


def printable(text: str) -> str:
    """The text with white space as blanks, and control and invisible characters as U+FFFD.

    Control characters could hide or break the text around them.
    """
    if text.isprintable():  # nearly all text is, and this is much faster
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else REPLACEMENT for c in text)


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file so that it exists whole or not at all. Raises InputError if it cannot be written."""
    with naming(path, "cannot be written"):
        fresh = path.with_name(f"{path.name}.new")
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)  # it may lead elsewhere
        try:
            with fresh.open("xb") as file:
                file.writelines(parts)
                sync(file)
            replace(fresh, path)
        finally:
            with suppress(OSError):
                fresh.unlink()
