"""The reference is complete: every public name and every command is on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.main

import otherminds
from otherminds.cli.app import app
from otherminds.errors import InputError
from paths import ROOT

PAGES = ROOT / "docs" / "reference"
SECTION = re.compile(r"^::: (otherminds[\w.]*)\n((?: +.*\n)*)", re.MULTILINE)
COMMAND = re.compile(r"^\| `otherminds ([a-z -]+?)` \|.*\| `otherminds ([^`]*)` \|$", re.MULTILINE)


def commands(group: Any, *path: str) -> Iterator[str]:
    """Every command that can be run, as it is typed."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
        else:
            yield " ".join((*path, name))


def members(options: str) -> list[str]:
    """The names that the options of a section list, one a line or in brackets."""
    return re.findall(r"\w+", options.partition("members:")[2].replace("false", ""))


@pytest.mark.slow
def test_every_public_name_is_on_a_page() -> None:
    sections = [options for page in PAGES.glob("*.md") for _, options in SECTION.findall(page.read_text("utf-8"))]
    listed = {name for options in sections for name in members(options)}
    assert set(otherminds.__all__) - listed == set()


def test_every_command_is_listed_with_an_example() -> None:
    told = COMMAND.findall((PAGES / "command-line.md").read_text("utf-8"))
    assert {name for name, _ in told} == set(commands(typer.main.get_command(app)))
    assert [name for name, example in told if not example.startswith(name.removesuffix(" list"))] == []


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_names_listed_on_a_page_exist(page: Path) -> None:
    for path, options in SECTION.findall(page.read_text("utf-8")):
        try:
            module = import_module(path)
        except InputError:  # it needs an extra that is not installed
            continue
        assert [name for name in members(options) if not hasattr(module, name)] == [], path
