"""The documentation is true: its code runs and prints what it says, its links lead somewhere, its commands exist."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
import typer.main

import documents
from commands import Run
from documents import PAGES, alike, blocks, broken, command_lines, links, misused, started, title
from otherminds.cli.app import app
from paths import ROOT

EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
GALLERY, CLASSICS, PICTURES = (ROOT / "docs" / name for name in ("gallery.md", "classics.md", "pictures"))
GROUP = typer.main.get_command(app)
WITH_CODE = [page for page in PAGES if any(block.language == "python" for block in blocks(page.read_text("utf-8")))]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Whatever is written is written to a folder that is gone afterwards, and so are modules written there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    plt.close("all")


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """That of a module of its own, as dataclasses expect it."""
    module = ModuleType("a_page")
    monkeypatch.setitem(sys.modules, "a_page", module)
    return vars(module)


# Code


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")
@pytest.mark.parametrize("page", WITH_CODE, ids=title)
def test_code_runs_and_prints_and_draws_what_is_said(
    page: Path, namespace: dict[str, Any], elsewhere: Path, run: Run
) -> None:
    # one page is typed as in a shell; starting a process for each command of all pages takes longer than to run them
    done = list(documents.run(page, namespace, started if page.stem == "2-help-two-people" else run))
    for block, printed in done:
        said = block.printed is None or alike(block.printed, printed)
        assert said, f"{title(page)}:{block.line} prints\n{printed}\nand not\n{block.printed}"
    for picture in elsewhere.glob("*.svg"):
        assert not (PICTURES / picture.name).exists() or written(picture) == written(PICTURES / picture.name)
    if not done:
        pytest.skip("nothing of this page can be run here")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=title)
def test_example_is_short_and_the_gallery_shows_what_it_prints_and_draws(
    example: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_classic = example.parent.name == "classics"  # their own tests count lines
    text, gallery = example.read_text("utf-8"), (CLASSICS if is_classic else GALLERY).read_text("utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert is_classic or len(text.splitlines()) <= 50
    monkeypatch.setattr(sys, "argv", [str(example), str(elsewhere)])
    with matplotlib.rc_context():
        runpy.run_path(str(example), run_name="__main__")
    shown = [block for block in blocks(gallery) if block.code == f'--8<-- "{title(example)}"\n']
    assert [alike(block.printed or "", capsys.readouterr().out) for block in shown] == [True]
    drawn = list(elsewhere.iterdir())
    assert [path.name for path in drawn] in ([], [f"{example.stem}.svg"])
    for path in drawn:
        assert f"(pictures/{path.name})" in gallery
        assert written(path) == written(PICTURES / path.name)


def written(picture: Path) -> list[str]:
    """All that is written in a picture; lines may be a hair's breadth elsewhere on other machines."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=title)
def test_notebook_runs_and_prints_what_is_stored(notebook: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    stored = nbformat.read(notebook, as_version=4)
    nbformat.validate(stored)
    fresh = nbclient.NotebookClient(nbformat.from_dict(stored), timeout=60, kernel_name="python3").execute()
    for told, found in zip(stored.cells, fresh.cells, strict=True):
        assert printed(found) == printed(told)
        words = told.source if told.cell_type == "markdown" else ""
        assert [fault for link in links(words) if (fault := broken(notebook, link))] == []


def printed(cell: Any) -> tuple[str, list[str]]:
    """All that a cell prints, and what it shows, in words; pictures may differ by a hair."""
    outputs = cell.get("outputs", ())
    shown = [output["data"]["text/plain"] for output in outputs if "data" in output]
    return "".join(output["text"] for output in outputs if output["output_type"] == "stream"), shown


# Links and command lines


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_lead_somewhere(page: Path) -> None:
    assert [fault for link in links(page.read_text("utf-8")) if (fault := broken(page, link))] == []


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_command_lines_can_be_typed(page: Path) -> None:
    assert [fault for line in command_lines(page.read_text("utf-8")) if (fault := misused(GROUP, line))] == []


# The site


@pytest.mark.slow
def test_site_is_built_without_a_warning(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(elsewhere / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (elsewhere / "site" / "gallery" / "index.html").exists()
