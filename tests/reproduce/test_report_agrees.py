"""The combined report can be read on every screen; its headlines, its tables and README quote the same rows."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otherminds.papers.hypothetical_minds import experiment as hypothetical
from otherminds.reports.page import Section, combined_page, inline, number, page
from otherminds.reports.plots import class_bars
from otherminds.reports.results import Results, beside_published, by_key
from otherminds.reproduce import combined_report
from otherminds.reproduce.combined_report import FRONTS, write_combined_report
from otherminds.reproduce.scoreboard_episodes import FAMILIES
from paths import ROOT
from web_browser import MISSING, browsing, chromium, illegible

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Row = dict[str, Any]
STORED = ("protom-dkg", "functional", "hypothetical", "mumatom")
SIZES = ((1280, 800), (390, 844))
AGENTS = ("floor", "rmax", "bayes_simplicity", "k_tom_1", "posterior_sampling", "fictitious_play", "lm:a-long-name-7b")


def stored(name: str) -> list[Row]:
    rows: list[Row] = json.loads((ROOT / "docs" / "stored" / f"{name}.json").read_text("utf-8"))
    return rows


def results(name: str) -> Results:
    summary = beside_published(stored(name))
    if name == hypothetical.EXPERIMENT:
        scores = ((row, hypothetical.published().get(row["condition"])) for row in summary)
        summary = [
            {**row, "published": paper["hm"][0], "source": "paper"}
            if paper and (row["subject"], row["metric"]) == ("programs", "score")
            else row
            for row, paper in scores
        ]
    return Results([], summary, page(name, "What it is.", [Section("Part", "text")]))


@pytest.fixture
def unpictured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cards without pictures, which are drawn from the rows of a run."""
    monkeypatch.setattr(combined_report, "replays", lambda *_: "")
    monkeypatch.setattr(combined_report, "thoughts", lambda *_: "")


def words(name: str) -> str:
    return FRONTS[name](results(name))[0]


# The same rows


@pytest.mark.slow
@pytest.mark.usefixtures("unpictured")
def test_headlines_say_what_the_tables_say(tmp_path: Path) -> None:
    text = write_combined_report(tmp_path, {name: results(name) for name in STORED}).read_text("utf-8")
    found = by_key(results("protom-dkg").summary)
    for metric in ("success", "speedup", "messages"):
        row = found["all", "protom", metric]
        assert f"{number(row['value'])} (published: {number(row['published'])})" in words("protom-dkg")
        assert f">{combined_report._own(row)}</td>" in text
        assert f">{combined_report._theirs(row)}</td>" in text
    (best,) = [
        row for row in stored("hypothetical") if (row["condition"], row["metric"]) == ("all", "at_least_published")
    ]
    assert f"In {best['value']} of {best['n']} scenarios" in words("hypothetical")
    shares = {
        row["condition"]: row["value"]
        for row in stored("mumatom")
        if (row["subject"], row["metric"]) == ("symbolic", "accuracy")
    }
    assert f"{number(100 * shares['text_video/all'], 0)} %" in words("mumatom")


@pytest.mark.usefixtures("unpictured")
def test_a_headline_follows_its_row() -> None:
    found = results("protom-dkg")
    for row in found.summary:
        if (row["condition"], row["subject"], row["metric"]) == ("all", "protom", "speedup"):
            row["value"], row["published"] = 0.123, 0.456
    assert "the speed-up is 0.12 (published: 0.46)" in FRONTS["protom-dkg"](found)[0]


def test_the_five_results_of_readme_are_the_stored_ones() -> None:
    readme = (ROOT / "README.md").read_text("utf-8").partition("<!-- figures: readme -->")[2].partition("<!-- end")[0]
    lines = [[cell.strip() for cell in line.strip("| ").split("|")] for line in readme.strip().splitlines()[2:]]
    book = tomllib.loads((ROOT / "docs" / "figures.toml").read_text("utf-8"))["tables"]["readme"]["rows"]
    assert len(lines) == len(book) == 5
    for line, (system, _, key, _) in zip(lines, book, strict=True):
        assert line[0] == system
        name, *where, picture = key.split(":")
        condition, subject, metric = where[0], ":".join(where[1:-1]), where[-1]
        (row,) = [
            one
            for one in stored(name)
            if (one["condition"], one["subject"], one["metric"]) == (condition, subject, metric)
        ]
        factor, digits = 100 if picture.startswith("%") else 1, len(picture.partition("[")[0].strip().partition(".")[2])
        assert line[2].partition(" ")[0] == number(factor * row["value"], digits)
        if "[" in line[2]:
            ends = re.findall(r"[−\d.]+", line[2].partition("[")[2])
            inner = len(picture.partition("[")[2].partition(",")[0].partition(".")[2])
            assert ends == [number(factor * row[end], inner) for end in ("low", "high")]


# On every screen


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.mark.slow
@pytest.mark.skipif(not (chromium() and find_spec("playwright")), reason=MISSING)
def test_the_report_is_legible_on_a_screen_and_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    board = [
        {"condition": world, "subject": agent, "metric": metric, "value": value, "low": value, "high": value, "n": 9}
        for world in FAMILIES["Repeated games"][:2]
        for i, agent in enumerate(AGENTS)
        for metric, value in (("literal", 0.97 + 0.004 * i), ("functional", 1 - 0.01 * i))
    ]
    found = {name: results(name) for name in STORED}
    summary = [row for one in found.values() for row in one.summary]
    front = [
        Section("What was found", combined_report.fronts({"mumatom": found["mumatom"]})),
        Section("What falls short", combined_report._shortfalls(summary)),
        Section("One scoreboard", combined_report._scoreboard_section(board)),
        Section("Beside the papers", combined_report._compared_table(found["hypothetical"])),
        Section("Speed", inline(class_bars(found["protom-dkg"].summary, "speedup"))),
    ]
    file = tmp_path / "report.html"
    file.write_text(combined_page("otherminds", "What was built.", front, []), "utf-8")
    tab = browser.new_page()
    tab.goto(file.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width, height in SIZES:
        tab.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            assert illegible(tab) == [], (width, scheme)
    tab.set_content("<p style='color:#999;background:#fff;width:3000px'>pale</p>")
    assert len(illegible(tab)) == 2
