"""Errors about input from outside: what is wrong, where, and what to do about it, in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

# Limits on what an error shows, since it may quote input of any size: characters of the message, of the hint and of a
# name, and the number of known names listed. Chosen so that an error fits on a screen.
LONGEST = 600
LONGEST_HINT = 4_000
LONGEST_NAME = 60
MOST_NAMES = 10
MOST_FAULTS = 2_000  # faults of one file that pydantic is asked to describe; more would take seconds
SIMILAR = 0.05  # difference in difflib's ratio within which two names are equally close; chosen


class InputError(ValueError):
    """Bad input, in one line: `file:line:column: what is wrong (what to do)`. Lines and columns start at 1."""

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
        body = shortened(message, LONGEST) + (f" ({shortened(hint, LONGEST_HINT)})" if hint else "")
        text = (f"{place}: " if place else "") + body
        super().__init__("".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text))


def install_hint(*extras: str) -> str:
    """The hint for missing optional dependencies: the command that installs these extras of the project."""
    return f"in the checkout: pip install -e '.[{','.join(extras)}]'"


def unknown(kind: str, name: object, known_names: Iterable[str], hint: str = "") -> InputError:
    """The error for an unknown name, with the hint that `meant` gives."""
    shown = str(name)[:LONGEST_NAME]
    return InputError(f"there is no {kind} `{shown}`", hint=meant(shown, known_names, hint))


def meant(name: str, known_names: Iterable[str], hint: str = "") -> str:
    """The hint for an unknown name: the closest known names, or else the first ten of all names and `hint`.

    `hint` says which other names are possible, or how to list all of them.
    """
    names = list(known_names)
    if close := near(name[:LONGEST_NAME], names):
        return f"did you mean {' or '.join(close)}?"
    more = [f"and {len(names) - MOST_NAMES:,} more"] if len(names) > MOST_NAMES else []
    listing = f"there is {', '.join([*names[:MOST_NAMES], *more])}" if names else ""
    return "; ".join(part for part in (listing, hint) if part)


def near(name: str, known_names: Iterable[str]) -> list[str]:
    """Names closest to `name`, ignoring case (at most two); empty if none is close."""
    import difflib

    plain = {candidate.lower(): candidate for candidate in known_names}
    close = difflib.get_close_matches(name.lower(), plain, n=2)
    ratios = [difflib.SequenceMatcher(None, candidate, name.lower()).ratio() for candidate in close]
    return [plain[candidate] for candidate, ratio in zip(close, ratios, strict=True) if ratio >= ratios[0] - SIMILAR]


def faults(error: ValidationError) -> list[ErrorDetails]:
    """The faults that pydantic found; a single one with their number if there are more than `MOST_FAULTS`."""
    count = error.error_count()
    if count > MOST_FAULTS:
        return [{"type": "too_many", "loc": (), "msg": f"{count:,} things in it are wrong", "input": None}]
    return error.errors(include_url=False, include_input=False, include_context=False)


def fault_place(fault: ErrorDetails, most: int = LONGEST_NAME) -> str:
    """The place of a fault in the data, such as `models.0.name`, cut to `most` characters; empty for the whole."""
    return ".".join(map(str, fault["loc"]))[:most]


def shortened(text: str, most: int) -> str:
    """The text, cut to `most` characters, the last of which is then an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
