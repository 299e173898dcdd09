"""How a broken promise is told."""

from __future__ import annotations

LONGEST = 80
FROZEN = "make it a frozen dataclass or a NamedTuple, of tuples instead of lists"


class ConformanceError(AssertionError):
    """A promise that is broken, in one line: `whose: what is wrong (how to mend it)`."""


def demand(kept: bool, whose: str, broken: str, mend: str) -> None:
    """Raise ConformanceError unless a promise is kept."""
    if not kept:
        raise ConformanceError(f"{whose}: {broken} ({mend})")


def of(thing: object, part: str = "") -> str:
    """Whose promise it is."""
    return f"{type(thing).__name__}.{part}" if part else type(thing).__name__


def short(thing: object) -> str:
    """What something looks like, in a part of a line."""
    text = " ".join(repr(thing).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def check_hashable(whose: str, thing: object) -> None:
    """Raise ConformanceError for what cannot be hashed."""
    try:
        hash(thing)
    except TypeError as error:
        raise ConformanceError(f"{whose}: {error} ({FROZEN})") from None
