"""Errors say in one line how to install what is missing, and name extras that there are."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from otherminds.errors import InputError, install_hint
from paths import ROOT

SOURCES = [path for folder in ("src", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_the_hint_installs_extras_from_the_checkout() -> None:
    assert install_hint("web") == "in the checkout: pip install -e '.[web]'"
    assert str(InputError("it needs two extras", hint=install_hint("train", "fast"))) == (
        "it needs two extras (in the checkout: pip install -e '.[train,fast]')"
    )


@pytest.mark.slow
def test_hints_name_extras_of_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    calls = [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "install_hint"
    ]
    names = {arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)}
    assert {"web", "parquet", "embedded"} <= names <= extras.keys()


@pytest.mark.slow
def test_no_message_names_a_package_that_no_registry_has() -> None:
    texts = {path: path.read_text("utf-8") for path in [*SOURCES, *(ROOT / "src").rglob("*.toml")]}
    assert [path for path, text in texts.items() if re.search(r"pip install \S*otherminds", text)] == []
