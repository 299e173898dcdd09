"""The command `tournament`: tables, JSON, and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import Run, complaint, fine

MACHINES = """{"machines": {"grudge & <co>": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [1, 1]]}}}"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text(MACHINES)
    return tmp_path


def test_a_tournament_ranks_machines_of_a_file_beside_others(run: Run, here: Path) -> None:
    told = ("tournament", "ipd", "grudge-&-<co>", "tft", "always-defect", "--machines", "mine.json", "--rounds", "10")
    found = json.loads(fine(run(*told, "--json")))
    assert found["entrants"] == ["grudge & <co>", "tft", "always Defect"]
    assert [row["name"] for row in found["ranking"]][-1] == "always Defect"
    assert all(row["low"] == row["value"] == row["high"] for row in found["ranking"])
    assert sum(row["share"] for row in found["ranking"]) == pytest.approx(1.0)
    assert found["scores"][0][0] == [8.0, 8.0]
    out = fine(run(*told))
    assert "grudge & <co>" in out
    assert "1=  grudge" in out
    assert "1=  tft" in out


@pytest.mark.slow
def test_the_page_shows_everything_and_loads_nothing(run: Run, here: Path) -> None:
    told = ("ipd", "grudge-&-<co>", "tft", "rmax", "random", "--machines", "mine.json", "--rounds", "10")
    assert "Page: page.html" in fine(run("tournament", *told, "--page", "page.html"))
    page = (here / "page.html").read_text("utf-8")
    for title in ("Ranking", "Who earns what with whom", "Which strategies would spread", "Fingerprints"):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<figure>") == 3
    assert "<image" not in page, "pages load no images"
    assert "grudge &amp; &lt;co&gt;" in page
    again = fine(run("tournament", *told, "--page", "again.html"))
    assert "again.html" in again
    assert (here / "again.html").read_text("utf-8") == page


@pytest.mark.slow
def test_games_without_cooperation_have_no_fingerprints(run: Run, here: Path) -> None:
    fine(run("tournament", "rps", "tft", "random", "--rounds", "5", "--page", "page.html"))
    assert "Fingerprints" not in (here / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ipd tft", "needs two entrants"),
        ("ipd tft rmx", "did you mean rmax"),
        ("idp tft rmax", "did you mean ipd"),
        ("ipd tft rmax --machines nowhere.json", "cannot be read"),
    ],
)
def test_what_is_no_tournament(run: Run, here: Path, arguments: str, message: str) -> None:
    complaint(run("tournament", *arguments.split()), message)


@pytest.mark.slow
def test_a_page_that_cannot_be_written_takes_the_ranking_from_nobody(run: Run) -> None:
    result = run("tournament", "ipd", "tft", "grim", "--rounds", "5", "--page", ".")
    assert result.code == 2
    assert "grim" in result.out
    assert re.fullmatch(r"otherminds: [^\n]*cannot be written[^\n]*\n", result.err)
