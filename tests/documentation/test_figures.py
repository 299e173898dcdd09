"""Figures in README and docs are those of the stored results, and a changed one is found and named."""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from paths import ROOT

SPEEDUP = "protom-dkg:heldout/all:protom:speedup"


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


figures = load(ROOT / "docs" / "figures.py")
benchmark = load(ROOT / "benchmarks" / "keeping.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """README and docs, to be spoilt."""
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*")):
        if path.suffix in {".md", ".json", ".toml"}:
            there = tmp_path / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, there)
    return tmp_path


def spoil(file: Path, old: str, new: str) -> int:
    """Replace the first occurrence, and tell its line."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    return text[: text.index(old)].count("\n") + 1


def shown(key: str, picture: str) -> tuple[str, str]:
    """A figure as it is quoted, and with another digit."""
    right: str = figures.filled(figures.read_book(ROOT), key, picture)
    return right, re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), right, count=1)


def found_and_repaired(copy: Path, where: str, *told: str) -> None:
    found = [line for line in figures.differences(copy) if line.startswith(f"{where}: ")]
    assert len(found) == 1, figures.differences(copy)
    assert all(text in found[0] for text in told), found[0]
    figures.write(copy)
    assert figures.differences(copy) == []


@pytest.mark.slow
def test_everything_quoted_is_what_is_stored() -> None:
    assert figures.differences() == []


@pytest.mark.slow
def test_a_digit_in_a_table_is_found(copy: Path) -> None:
    right, wrong = shown("study:all:protom:speedup", "0.00 [0.00, 0.00]")
    line = spoil(copy / "docs" / "results" / "study.md", f"| {right} |", f"| {wrong} |")
    found_and_repaired(copy, f"docs/results/study.md:{line}", right, wrong, "table study")


@pytest.mark.slow
def test_a_digit_in_a_sentence_is_found_wherever_lines_are_broken(copy: Path) -> None:
    right, wrong = shown(SPEEDUP, "0.00 [0.00, 0.00]")
    line = spoil(copy / "docs" / "results" / "protom-dkg.md", right, wrong.replace(", ", ",\n"))
    found_and_repaired(copy, f"docs/results/protom-dkg.md:{line}", repr(right), repr(wrong), SPEEDUP)


@pytest.mark.slow
def test_a_digit_in_a_stored_file_is_found_wherever_it_is_quoted(copy: Path) -> None:
    right, _ = shown(SPEEDUP, "0.00 [0.00, 0.00]")
    quoted = [f"{name}:{line}: " for name, line in _lines(copy, right)]
    file = copy / "docs" / "stored" / "protom-dkg.json"
    rows = json.loads(file.read_text("utf-8"))
    row = next(r for r in rows if SPEEDUP.endswith(f":{r['condition']}:{r['subject']}:{r['metric']}"))
    row["value"] += 0.1
    file.write_text(json.dumps(rows), "utf-8")
    found = figures.differences(copy)
    assert {line[: line.index(" ") + 1] for line in found if line.startswith("docs/")} == set(quoted)
    assert {name.partition(":")[0] for name in quoted} >= {"docs/results/index.md", "docs/results/protom-dkg.md"}


def _lines(copy: Path, text: str) -> list[tuple[str, int]]:
    """Where the text is in the pages, README apart."""
    pages = {name: page for name, page in figures.pages(copy).items() if name.startswith("docs/")}
    return [(name, n) for name, page in pages.items() for n, line in enumerate(page.split("\n"), 1) if text in line]


@pytest.mark.slow
def test_a_figure_from_nowhere_is_found(copy: Path) -> None:
    page = copy / "docs" / "systems" / "protom.md"
    text = page.read_text("utf-8")
    page.write_text(f"{text}\nIt takes 12.5 ms, says `0.7`, and saves 40 % of\n1,234 steps.\n", "utf-8")
    line = text.count("\n") + 2
    found = [
        found.partition(" is ")[0] for found in figures.differences(copy) if found.startswith("docs/systems/protom.md")
    ]
    assert found == [
        f"docs/systems/protom.md:{line}: 12.5",
        f"docs/systems/protom.md:{line}: 40",
        f"docs/systems/protom.md:{line + 1}: 1,234",
    ]


@pytest.mark.slow
def test_whatever_is_gone_is_found(copy: Path) -> None:
    spoil(copy / "docs" / "systems" / "protom.md", "β = 3, lapse = 0.05", "β and lapse are as usual")
    spoil(copy / "docs" / "use" / "study.md", "The speed-up of ProToM is", "ProToM's speed-up is")
    found = "\n".join(figures.differences(copy))
    assert "docs/systems/protom.md:1: nothing says 'β = 3, lapse = 0.05', which is given" in found
    assert "docs/use/study.md:1: nothing is like 'The speed-up of ProToM is" in found
    (copy / "docs" / "use" / "study.md").unlink()
    assert "docs/figures.toml:1: there is no docs/use/study.md" in figures.differences(copy)
    (copy / "docs" / "stored" / "study.json").unlink()
    assert any("there is no figure" in line for line in figures.differences(copy))


@pytest.mark.slow
def test_lines_may_be_broken_within_a_figure(copy: Path) -> None:
    right, _ = shown(SPEEDUP, "0.00 [0.00, 0.00]")
    spoil(copy / "docs" / "results" / "protom-dkg.md", right, right.replace(", ", ",\n"))
    assert [line for line in figures.differences(copy) if not line.startswith("README.md")] == []


def test_every_stored_result_has_a_command() -> None:
    book = figures.read_book(ROOT)
    keys = [key.split(":") for key in book["figures"]]
    measured = {key[1] if key[0] == "benchmarks" else key[0] for key in keys} - {"published"}
    assert measured == set(book["commands"])


@pytest.mark.slow
def test_a_run_is_stored_without_what_never_comes_again(copy: Path) -> None:
    row = {"experiment": "study", "condition": "all", "subject": "protom", "metric": "speedup", "value": 0.12345678901}
    rows = [{**row, "low": None, "published": 0.75}, {**row, "metric": "decision_ms"}]
    (copy / "summary.json").write_text(json.dumps(rows), "utf-8")
    figures.store(copy, "study", copy)
    assert json.loads((copy / "docs" / "stored" / "study.json").read_text("utf-8")) == [
        {**row, "value": 0.12345679, "low": None}
    ]
    with pytest.raises(KeyError, match="nobody"):
        figures.store(copy, "nobody", copy)


@pytest.mark.parametrize(
    ("picture", "shown"),
    [
        ("0.00 [0.00, 0.00]", "0.63 [−0.52, 0.72]"),
        ("0 % [0, 0]", "63 % [−52, 72]"),
        ("%0.0", "62.5"),
        (".000", ".625"),
        (".00 [.00, .00]", ".63 [−.52, .72]"),
        ("0.00 ± 0.00", "0.63 ± 0.62"),
        ("n", "1,200"),
    ],
)
def test_a_figure_looks_like_its_picture(picture: str, shown: str) -> None:
    figure = figures.Figure(0.62549, -0.523, 0.724, 1200)
    assert figures.drawn(figure, picture) == shown
    assert figures.pattern(f"is {{a:b:{picture}}} long").fullmatch(f"is  {shown}\nlong")


def test_a_benchmark_keeps_its_figures_beside_those_of_others(tmp_path: Path) -> None:
    file = tmp_path / "benchmarks.json"
    benchmark.keep(file, "kills", {("2 kills", "calls"): 7, ("2 kills", "lost"): 0})
    benchmark.keep(file, "bench", {("fields", "times"): 11.23456789})
    benchmark.keep(file, "kills", {("2 kills", "calls"): 8})
    rows = [tuple(row.values())[1:] for row in json.loads(file.read_text("utf-8"))]
    assert rows == [
        ("bench", "fields", "times", 11.2346),
        ("kills", "2 kills", "calls", 8.0),
        ("kills", "2 kills", "lost", 0.0),
    ]
