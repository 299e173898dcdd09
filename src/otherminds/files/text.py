"""Text from outside, made safe to show."""

from __future__ import annotations

LONGEST = 200
"""Characters that `one_line` keeps."""
UNSEEN = "\N{REPLACEMENT CHARACTER}"


def one_line(text: str) -> str:
    """A text from outside as a line of limited length in which everything can be seen."""
    visible = "".join(c for c in text[: 10 * LONGEST] if c.isprintable() or c.isspace())
    line = " ".join(visible.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


def printable(text: str) -> str:
    """The text without invisible and control characters, which could hide or break what is around them."""
    return "".join(c if c.isprintable() else " " if c.isspace() else UNSEEN for c in text)
