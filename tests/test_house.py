"""The house stays small: functions, files, repetition, and what is public."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

import pytest

import otherminds
from paths import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.py"))
TREES = {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}
REPEATED = 6
"""So many lines in a row that are somewhere else, too, are written twice."""


def functions() -> list[tuple[int, str]]:
    """The lines of every function without its docstring, and where it is."""
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                doc = ast.get_docstring(node) is not None
                told = (first.end_lineno or 0) - first.lineno + 1 if doc else 0
                found.append(
                    ((node.end_lineno or 0) - node.lineno + 1 - told, f"{path.name}:{node.lineno} {node.name}")
                )
    return found


def test_functions_are_short() -> None:
    lengths = [length for length, _ in functions()]
    assert len(lengths) > 4000
    assert median(lengths) <= 11
    assert quantiles(lengths, n=20)[-1] <= 30


def test_files_are_short_and_the_largest_is_no_surprise() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert median(lengths.values()) <= 210
    assert not [f"{path}: {length}" for path, length in lengths.items() if length > 400]


def repeated(texts: dict[Path, list[str]]) -> float:
    """The share of lines that stand in a run of six that is there twice; imports and lone brackets do not count."""
    runs: Counter[tuple[str, ...]] = Counter()
    for lines in texts.values():
        runs.update(tuple(lines[i : i + REPEATED]) for i in range(len(lines) - REPEATED + 1))
    twice = 0
    for lines in texts.values():
        marked = set()
        for i in range(len(lines) - REPEATED + 1):
            if runs[tuple(lines[i : i + REPEATED])] > 1:
                marked |= set(range(i, i + REPEATED))
        twice += len(marked)
    return twice / sum(map(len, texts.values()))


def plain(path: Path) -> list[str]:
    """The lines of a file that say something of their own."""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if len(line) > 1 and not re.match(r"(from|import|@|\)|#)|[\w, ]+,$", line)]


def test_little_is_written_twice() -> None:
    assert repeated({path: plain(path) for path in SOURCES}) < 0.03


def test_what_is_written_twice_is_found() -> None:
    block = [f"line {i}" for i in range(8)]
    assert repeated({Path("a"): [*block, "x"], Path("b"): [*block, "y"]}) == pytest.approx(16 / 18)


def test_everything_public_is_there_in_order_and_told() -> None:
    names = otherminds.__all__
    assert names == sorted(names)
    assert len(names) == len(set(names))
    for name in names:
        assert getattr(otherminds, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = otherminds.nothing_of_this_name


def test_every_module_that_lists_what_is_public_has_it() -> None:
    for path, tree in TREES.items():
        listed = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
        ]
        known = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name)}
        known |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        known |= {a.asname or a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names}
        for names in listed:
            assert set(names) <= known, path
