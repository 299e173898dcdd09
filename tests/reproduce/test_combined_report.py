"""The book of everything: its parts stand together, and what is worse than published is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from otherminds.errors import InputError
from otherminds.reports.page import Section, page
from otherminds.reports.results import Results, beside_published
from otherminds.reproduce.combined_report import fronts, verdict, write_combined_report
from paths import ROOT

Row = dict[str, Any]


def row(value: float, low: float, high: float, **more: Any) -> Row:
    about = {"experiment": "study", "condition": "all", "subject": "protom", "metric": "success", "n": 9}
    return {**about, "value": value, "low": low, "high": high, "source": "nowhere: §1", **more}


def results(*summary: Row, title: str = "A chapter") -> Results:
    return Results([], list(summary), page(title, "What it is.", [Section("Part", "text"), Section("Other", "text")]))


@pytest.mark.parametrize(
    ("metric", "value", "n", "expected"),
    [
        ("success", 0.55, 9, "agrees"),
        ("success", 0.9, 9, "better"),
        ("success", 0.1, 9, "worse"),
        ("functional_regret", 0.1, 9, "better"),
        ("functional_regret", 0.9, 9, "worse"),
        ("messages", 0.9, 9, "higher"),
        ("messages", 0.1, 1, "lower so far, too few to say"),
        ("success", 0.55, 4, "too few to say"),
    ],
)
def test_a_verdict_says_who_is_ahead_if_intervals_are_apart(metric: str, value: float, n: int, expected: str) -> None:
    mine = row(value, value - 0.05, value + 0.05, n=n, metric=metric)
    mine |= {"published": 0.5, "published_low": 0.42, "published_high": 0.58}
    assert verdict(mine) == expected


def test_a_figure_without_an_interval_is_a_point() -> None:
    assert verdict(row(0.5, 0.4, 0.6, published=0.6)) == "agrees"
    assert verdict(row(0.5, 0.4, 0.6, published=0.61)) == "worse"


def test_what_is_worse_is_told_and_what_agrees_is_not(tmp_path: Path) -> None:
    bad = row(0.1, 0.05, 0.15, published=0.9, subject="left behind")
    good = row(0.9, 0.8, 1.0, published=0.9, subject="level with it")
    text = write_combined_report(tmp_path, {"study": results(bad, good)}).read_text()
    short = text.partition("What falls short</h2>")[2].partition("<section")[0]
    assert "left behind" in short
    assert "level with it" not in short
    assert "Of 2 figures" in short
    empty = write_combined_report(tmp_path, {"study": results(good)}).read_text()
    assert "Nothing that was compared is worse" in empty


def test_every_link_leads_to_a_place_in_the_book_and_no_name_is_there_twice(tmp_path: Path) -> None:
    found = {"dkg-human": results(row(1, 1, 1), title="Another"), "study": results(row(1, 1, 1))}
    text = write_combined_report(tmp_path, found).read_text()
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(names)
    assert text.index(">A chapter</h2>") < text.index(">Another</h2>")
    assert not re.search(r'(?:src|href)="(?!#)', text)


def test_what_was_not_run_is_told_with_how_to_run_it(tmp_path: Path) -> None:
    without = write_combined_report(tmp_path, {"study": results(row(1, 1, 1))}).read_text()
    assert "reproduce dkg-human --data" in without
    there = write_combined_report(tmp_path, {"dkg-human": results(row(1, 1, 1))}).read_text()
    assert "reproduce dkg-human --data" not in there


@pytest.mark.slow
def test_the_summary_has_everything_and_the_scoreboard(tmp_path: Path) -> None:
    rows = [
        {"schema": 1, "experiment": "mumatom", "condition": "invented/plain", "subject": who, "episode": "all"}
        | {"group": str(i), "correct": i < right, "t": i}
        for who, right in (("symbolic", 8), ("question_only", 2))
        for i in range(8)
    ]
    summary = [
        row(right / 8, 0.0, 1.0, condition="invented/plain", experiment="mumatom", subject=who, metric="accuracy")
        for who, right in (("symbolic", 8), ("question_only", 2))
    ]
    write_combined_report(tmp_path, {"mumatom": results(*summary)._replace(rows=rows)})
    found = json.loads((tmp_path / "summary.json").read_text())
    board = {(one["condition"], one["subject"]): one["value"] for one in found if one["experiment"] == "scoreboard"}
    assert board == {("Invented stories", "symbolic"): 1.0, ("Invented stories", "question_only"): 0.25}


def test_a_book_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        write_combined_report(tmp_path / "file" / "below", {"study": results(row(1, 1, 1))})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("people", ("217 people lose", "0.23 [0.13, 0.35]", "(copies your last move)")),
        ("food-trucks", ("37 scenarios",)),
    ],
)
def test_cards_say_how_people_do_and_how_models_agree_with_them(name: str, words: tuple[str, ...]) -> None:
    """From the stored summaries of full runs."""
    stored = json.loads((ROOT / "docs" / "stored" / f"{name}.json").read_text("utf-8"))
    judged = {"desire": {"Korean": 3.0}, "belief": {"L": 0.5}, "people_desire": {"Korean": 4.0}}
    rows = [{"condition": "scenarios", "subject": "joint", **judged, "people_belief": {"L": 0.4}}]
    made = Results(rows, beside_published(stored), page("A chapter", "What it is.", [Section("Part", "text")]))
    card = fronts({name: made})
    assert "<svg" in card
    for part in words:
        assert part in card
