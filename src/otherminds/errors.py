"""What is wrong with something from outside, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path


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
        text = (f"{place}: " if place else "") + message + (f" ({hint})" if hint else "")
        super().__init__("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text))


def read_text(path: Path, *, limit: int = 1_000_000) -> str:
    """The text of a file from outside. Raises InputError if it cannot be read, is too large, or is not UTF-8."""
    try:
        with path.open("rb") as file:
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
