"""ProToM in kitchens from end to end, on three small ones: what is written, and that interruptions leave no trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.evaluation.store import key
from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.papers.protom.experiment import SUBJECTS
from otherminds.papers.protom.facilitated_world import FacilitatedWorld
from otherminds.papers.protom.levels.level_sets import Design
from otherminds.reports.results import figures
from otherminds.reproduce.run import Options, reproduce
from otherminds.worlds.overcooked.level_files import read_kitchen
from paths import KITCHENS_BY_CLASS
from run_files import copied, episodes_in, interrupted, results, rows_in, same_results, summary_in

pytestmark = pytest.mark.slow

Row = dict[str, Any]
NAME = "protom-overcooked"
FOLDER = KITCHENS_BY_CLASS
NOT_NEEDED, USEFUL, NECESSARY = SMALL = [
    read_kitchen(FOLDER / f"{kind}.txt") for kind in ("not_needed", "useful", "necessary")
]
REASONS = (
    "stated_share",
    "friend_right",
    "stated_minus_realised",
    "stated_goal_true",
    "stated_p",
    "stated_calibration_error",
)
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages", "decision_ms")
HELDOUT = ("none", "oracle")
TUNING = ("none", "oracle", "protom_particles_1")


class Headings(HTMLParser):
    """The headings of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "h2"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found.append(data)
            self._inside = False


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Three kitchens instead of twenty-one, and hardly any to choose settings on."""
    sets = {"heldout": [NOT_NEEDED, NECESSARY], "tuning": SMALL}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Design, "bundled", lambda _: list(SMALL))
        patch.setattr(Design, "level_set", lambda _, name: SimpleNamespace(levels=lambda: sets[name]))
        patch.setitem(protom_overcooked.SETS, "heldout", HELDOUT)
        patch.setitem(protom_overcooked.SETS, "tuning", TUNING)
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One whole run."""
    folder = tmp_path_factory.mktemp("runs") / "new" / NAME
    assert reproduce(NAME, Options(folder)).summary == summary_in(folder)
    return folder


@pytest.fixture(scope="module")
def full(done: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the other sets, which goes on from the one without them."""
    folder = copied(done, tmp_path_factory.mktemp("full"))
    assert reproduce(NAME, Options(folder, scale="full")).summary == summary_in(folder)
    return folder


# The kitchens that were picked


def test_every_episode_has_its_rows(done: Path) -> None:
    rows = rows_in(done)
    expected = [(level.kind, subject, level.name) for level in SMALL for subject in SUBJECTS]
    assert list(dict.fromkeys(map(key, rows))) == expected
    assert [key(row) for row in rows if "success" in row] == expected
    fields = {"schema", "run", "experiment", "condition", "subject", "seed", "episode", "t", "agent", "action"}
    for row in rows:
        assert fields <= {*row}
        assert (row["schema"], row["experiment"], row["seed"], row["run"]) == (1, NAME, 42, f"{NAME} seed 42")


def test_the_summary_is_spelt_as_the_contract_says(done: Path) -> None:
    summary = summary_in(done)
    found = {(r["condition"], r["subject"], r["metric"]) for r in summary}
    assert len(found) == len(summary)
    kinds = ("all", "not_needed", "useful", "necessary")
    assert {(c, s, m) for c in kinds for s in SUBJECTS for m in METRICS} <= found
    assert {c for c, _, _ in found} == {*kinds}
    assert ("useful", "protom", "share_of_oracle_speedup") in found
    for row in summary:
        assert {"experiment", "condition", "subject", "metric", "value", "low", "high", "n"} <= {*row}
        assert row["low"] <= row["high"]
        if row["metric"] not in REASONS:
            assert row["n"] == (3 if row["condition"] == "all" else 1)


def test_published_figures_stand_beside_ours(done: Path) -> None:
    beside = {(r["condition"], r["subject"], r["metric"]): r for r in summary_in(done) if "published" in r}
    told = [p for p in figures().published if p.experiment == NAME and p.subject in SUBJECTS]
    assert set(beside) == {(p.condition, p.subject, p.metric) for p in told}
    for metric, value, error in (("success", 1.0, 0.0), ("speedup", 1.17, 0.38), ("messages", 0.81, 0.11)):
        row = beside["all", "protom", metric]
        assert (row["published"], row["source"]) == (value, "ProToM, §4.4")
        assert row["published_low"] == pytest.approx(value - 1.96 * error)
        assert row["published_high"] == pytest.approx(value + 1.96 * error)


def test_without_a_facilitator_nothing_is_said_or_gained(done: Path) -> None:
    alone = [r for r in summary_in(done) if r["subject"] == "none"]
    assert {r["value"] for r in alone if r["metric"] in ("speedup", "speedup_ratio_of_means", "messages")} == {0.0}
    success = {r["condition"]: r["value"] for r in alone if r["metric"] == "success"}
    assert success == pytest.approx({"all": 2 / 3, "not_needed": 1.0, "useful": 1.0, "necessary": 0.0})


def test_the_report_needs_nothing_from_elsewhere(full: Path) -> None:
    page = (full / "report.html").read_text("utf-8")
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"""https?://[^\s"'<>)]*""", page)) <= names
    assert not re.findall(r"""(?:src|href)=["']?(?!#|data:)[^"'\s>]+""", page)
    assert not re.findall(r"@import|url\((?!#|data:)", page)
    assert not re.findall(r"\bNaN\b|\bnan\b|\bInfinity\b", page)


def test_the_report_is_about_kitchens(done: Path) -> None:
    page = (done / "report.html").read_text("utf-8")
    for words in (*(level.name for level in SMALL), "ProToM in Overcooked", "horizon of 100 steps", "o4-mini, "):
        assert words in page
    assert "Doors-Keys-Gems" not in page
    headings = Headings(page).found
    assert headings[:2] == ["Results", "Watch the episodes"]
    assert not {"Held-out levels", "How thresholds were chosen"} & {*headings}


# Interruptions


def test_an_interrupted_run_goes_on_to_the_same_results_on_two_processes(done: Path, tmp_path: Path) -> None:
    """More episodes are missing than one process is given at once."""
    left_out = episodes_in(done)[1:]
    assert len(left_out) > 10
    reproduce(NAME, Options(interrupted(done, tmp_path, left_out), jobs=2))
    assert same_results(tmp_path, done)


def test_a_finished_run_is_not_played_again(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FacilitatedWorld, "setup", None)
    reproduce(NAME, Options(copied(done, tmp_path)))
    assert results(tmp_path) == results(done)


def test_another_seed_does_not_go_on_in_the_same_folder(done: Path) -> None:
    before = (done / "run.db").read_bytes()
    with pytest.raises(InputError, match=rf"run\.db: belongs to another run than {NAME} seed 7"):
        reproduce(NAME, Options(done, seed=7))
    assert (done / "run.db").read_bytes() == before


# The other sets


def test_the_other_sets_are_played_by_their_own_facilitators(done: Path, full: Path) -> None:
    played = list(dict.fromkeys(map(key, rows_in(full))))
    own = list(dict.fromkeys(map(key, rows_in(done))))
    heldout = [(f"heldout/{lv.kind}", subject, lv.name) for lv in (NOT_NEEDED, NECESSARY) for subject in HELDOUT]
    tuning = [(f"tuning/{lv.kind}", subject, lv.name) for lv in SMALL for subject in TUNING]
    assert played == own + heldout + tuning
    assert rows_in(full)[: len(rows_in(done))] == rows_in(done)


def test_sets_are_summed_up_apart(done: Path, full: Path) -> None:
    summary = summary_in(full)
    assert [row for row in summary if "/" not in row["condition"]] == summary_in(done)
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    assert len(found) == len(summary)
    assert {c.partition("/")[0] for c, _, _ in found if "/" in c} == {"heldout", "tuning"}
    for metric in METRICS:
        assert {s for c, s, m in found if (c, m) == ("heldout/all", metric)} == {*HELDOUT}
        assert {s for c, s, m in found if (c, m) == ("tuning/all", metric)} == {*TUNING}
    assert found["heldout/all", "oracle", "success"]["n"] == 2
    assert found["tuning/all", "protom_particles_1", "success"]["n"] == 3
    shares = {(c, s) for c, s, metric in found if metric == "share_of_oracle_speedup"}
    assert shares == {("useful", "protom"), ("tuning/useful", "protom_particles_1")}
    own = {(s, m): found[c, s, m]["value"] for c, s, m in found if c == "necessary" and m in METRICS[:4]}
    heldout = {(s, m): found[c, s, m]["value"] for c, s, m in found if c == "heldout/necessary" and m in METRICS[:4]}
    assert heldout == {case: own[case] for case in heldout}
    assert not any("published" in row for row in summary if "/" in row["condition"])


def test_the_report_shows_held_out_kitchens_and_how_settings_were_chosen(done: Path, full: Path) -> None:
    small, page = ((folder / "report.html").read_text("utf-8") for folder in (done, full))
    headings = Headings(page).found
    others = [heading for heading in headings if heading not in ("Held-out levels", "How thresholds were chosen")]
    assert others == Headings(small).found
    assert headings[3] == "Held-out levels"
    assert headings[-1] == "How thresholds were chosen"
    assert page.count("<svg") == small.count("<svg") + 3
    chosen = page.partition("How thresholds were chosen</h2>")[2]
    assert "<svg" in chosen
    assert "what a message costs, in steps" in chosen
    assert "Messages an episode (not needed)" in chosen
    assert ">protom_particles_1</td>" in chosen
