"""TOML, of this library and from outside. Input that would keep Python's reader busy for hours is refused."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Any

MOST_PARTS = 16  # of a dotted key; tomllib takes quadratic time in this number; chosen
PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
DEEP_KEY = re.compile(rf"(?<![\w.-])(?:{PART}\.[ \t]*){{{MOST_PARTS}}}", re.ASCII)


def read_toml(text: str) -> dict[str, Any]:
    """The table that a TOML text holds.

    Raises tomllib.TOMLDecodeError if it is not TOML or has a key of more than 16 parts, RecursionError if it is nested
    too deeply, and another ValueError for a number with thousands of digits.
    """
    long_key = DEEP_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        column = long_key.start() - text.rfind("\n", 0, long_key.start())
        raise tomllib.TOMLDecodeError(f"A key of more than {MOST_PARTS} parts (at line {line}, column {column})")
    return tomllib.loads(text)


def packaged(package: str, name: str) -> dict[str, Any]:
    """The table in a TOML file of a package of this library."""
    return tomllib.loads((resources.files(package) / name).read_text("utf-8"))
