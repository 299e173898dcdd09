"""Every name of code that a page quotes exists: classes, their members, and the constants and settings beside them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from paths import ROOT

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "results")
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`([A-Z][A-Za-z]*[a-z]\w*(?:\.\w+)?)(?:\(([^`]*)\))?`")
SETTING = re.compile(r"(?:^|, )(\w+)=(True|False|None|-?\d[\d.]*|\"[^\"]*\")(?=,|$)")
RECIPES = ("SimpleTomato", "SimpleLettuce", "SimpleOnion", "Salad", "OnionSalad")
# quoted, and no names of this library: of Python, PettingZoo, HTTP, and of level and table files
FOREIGN = frozenset(("False", "True", "ParallelEnv", "Origin", "Class", "Lf", *RECIPES))


@cache
def classes() -> dict[str, tuple[set[str], list[str]]]:
    """Of each class of the library: its members, and the names of its bases."""
    found: dict[str, tuple[set[str], list[str]]] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                members, bases = found.setdefault(node.name, (set(), []))
                members |= set(_members(node))
                bases += [base.id for base in map(_unsubscripted, node.bases) if isinstance(base, ast.Name)]
    return found


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _members(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield part.name
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id
        elif isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.id if isinstance(part, ast.Name) else part.attr


@cache
def other_names() -> frozenset[str]:
    """The names of modules' constants, types and functions."""
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")]
    targets = [target for tree in trees for node in tree.body for target in _targets(node)]
    return frozenset(name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def _targets(node: ast.stmt) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def has_member(name: str, member: str) -> bool:
    members, bases = classes().get(name, (set(), []))
    return member in members or any(has_member(base, member) for base in bases)


def unknown_names(text: str) -> Iterator[str]:
    """The quoted names that the library does not have."""
    for quoted, arguments in QUOTED.findall(FENCE.sub("", text)):
        name, _, member = quoted.partition(".")
        if name in FOREIGN:
            continue
        if name not in classes() and name not in other_names():
            yield name
        elif member and name in classes() and not has_member(name, member):
            yield quoted
        elif name in classes():
            settings = (setting for setting, _ in SETTING.findall(arguments))
            yield from (f"{name}({setting}=…)" for setting in settings if not has_member(name, setting))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_on_a_page_exists(page: Path) -> None:
    assert list(unknown_names(page.read_text("utf-8"))) == []


@pytest.mark.parametrize("wrong", ["`Obserwer`", "`Observer.wach`", "`ProToM.phi`", "`ProToM(costs=1)`"])
def test_a_wrong_letter_is_found(wrong: str) -> None:
    assert list(unknown_names(f"As {wrong} says."))


def test_right_names_pass() -> None:
    assert not list(unknown_names("`Observer`, `Observer.watch`, `ProToM(cost=1)`, `NoneOfThese`"))
