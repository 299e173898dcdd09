"""TOML from outside: what Python's reader would take for ever to read is refused."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 16
PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
DEEP_KEY = re.compile(rf"(?<![\w.-])(?:{PART}\.[ \t]*){{{MOST_PARTS}}}", re.ASCII)


def read_toml(text: str) -> dict[str, Any]:
    """The table that a text is. Raises TOMLDecodeError if it is none, or has a key of more than 16 parts.

    Raises RecursionError if it is nested too deeply, and another ValueError for a number of thousands of digits.
    """
    deep = DEEP_KEY.search(text)
    if deep is not None:
        line, column = text.count("\n", 0, deep.start()) + 1, deep.start() - text.rfind("\n", 0, deep.start())
        raise tomllib.TOMLDecodeError(f"A key of more than {MOST_PARTS} parts (at line {line}, column {column})")
    return tomllib.loads(text)
