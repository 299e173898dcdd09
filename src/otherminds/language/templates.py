"""Prompt templates: text files with $names to fill in. A change alters the ledger key of every call that uses it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from string import Template


def prompts_of(package: str) -> Callable[..., str]:
    """The function that fills in templates of `package`: `fill(NAME, field=value)` reads `prompts/NAME.txt` there.

    `fill` raises KeyError if the template names a field that is not given.
    """

    @cache
    def template(name: str) -> Template:
        return Template((resources.files(package) / "prompts" / f"{name}.txt").read_text("utf-8").strip())

    def fill(name: str, /, **fields: object) -> str:
        return template(name).substitute({key: str(value) for key, value in fields.items()})

    return fill
