"""The words of prompts: text files with $names to fill in. Changing one changes the key of every call made with it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template


def fill(name: str, **fields: object) -> str:
    """The template `prompts/NAME.txt` with its $names filled in. Raises KeyError if one of them is not given."""
    return _template(name).substitute({key: str(value) for key, value in fields.items()})


@cache
def _template(name: str) -> Template:
    return Template((resources.files("otherminds.language") / "prompts" / f"{name}.txt").read_text("utf-8").strip())
