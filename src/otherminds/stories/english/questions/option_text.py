"""Taking the options out of a question."""

from __future__ import annotations

import re

MARKS = (
    r"(?:^|(?<=\s))\(([a-zA-Z])\)\s*",
    r"(?:^|(?<=\s))([A-Z])\)\s*",
    r"(?:^|(?<=\s))([A-Z])\.\s+",
    r"^[^\S\n]*([A-Z]):\s+",
    r"(?:^|(?<=\s))([a-z])\)\s*",
    r"(?:^|(?<=\s))(\d{1,3})\)\s*",
    r"^[^\S\n]*(\d{1,3})\.\s+",
    r"(?:^|(?<=\s))\((\d{1,3})\)\s*",
)
STYLES = tuple(re.compile(mark, re.MULTILINE) for mark in MARKS)
FAREWELL = re.compile(
    r"(?:^|(?<=\S))\s*(?:please (?:respond|answer|reply|choose|select|give|output)|answer with|respond with"
    r"|choose one|select one|your answer|answer:).*$",
    re.IGNORECASE | re.DOTALL,
)
HEADING = re.compile(r"(?:^|(?<=\S))\s*(?:options|choices)\s*:?$", re.IGNORECASE)
LONGEST = 20_000


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """The question and the options in a text such as "Which one? A) ... B) ..."; no options if there are none."""
    if len(text) > LONGEST:  # nobody reads it
        return text, ()
    for style in STYLES:
        marks = _consecutive(list(style.finditer(text)))
        if len(marks) > 1:
            ends = [mark.start() for mark in marks[1:]] + [len(text)]
            options = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
            options[-1] = FAREWELL.sub("", options[-1])
            stem = HEADING.sub("", text[: marks[0].start()].rstrip())
            return stem.strip(), tuple(option.strip().rstrip(",;").strip() for option in options)
    return text.strip(), ()


def _consecutive(marks: list[re.Match[str]]) -> list[re.Match[str]]:
    """The marks that count from the first letter or number on."""
    found: list[re.Match[str]] = []
    for mark in marks:
        wanted = _number(found[-1][1]) + 1 if found else 1
        if _number(mark[1]) == wanted:
            found.append(mark)
    return found


def _number(mark: str) -> int:
    """The place of a letter or number in its order, from 1."""
    return int(mark) if mark.isdecimal() else ord(mark.lower()) - ord("a") + 1
