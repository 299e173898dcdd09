"""The report on repeated games says what is in rows and summary, what was published, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import count
from typing import Any

import numpy as np
import pytest

from otherminds.papers.functional import report as functional_report
from otherminds.papers.functional.report import BEST, LIBRARY, RAISED, WORDS, notes, published, published_means, report
from otherminds.reports.game_plots import CELLS, GAMES, LEFT_OUT
from otherminds.reports.page import number, safe
from otherminds.reports.results import beside_published

Row = dict[str, Any]
HOSTILE = "</td><script>alert(1)</script>\"'& \x1b\u202e"
PLAYERS = ("floor", "bayes_simplicity", "posterior_sampling", "rmax", "fictitious_play")
SCORES = ("functional_regret", "functional_regret_exact", "functional_regret_rate", "tom_percent", "consistency")
TOM_REGRETS = ("tom_regret_paper", "tom_regret_myopic", "tom_regret_model")
TITLES = {
    "Results in the paper’s six cells",
    "What predictions alone would cost",
    "Machines",
    "Noise",
    "All partners that remember one round",
    "Cards and words",
    "How interesting each task is",
    "Language models, as published",
    "What was tuned, and what cannot be compared",
    "Targets",
}


class Tables(HTMLParser):
    """The cells of all tables, by the title of their section or of what they are folded in."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[list[str]]]] = {}
        self.title, self.place = "", ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.place = tag if tag in ("h2", "h3", "td", "th") else self.place
        if tag in ("h2", "h3"):
            self.title = ""
        elif tag == "table":
            self.found.setdefault(self.title, []).append([])
        elif tag == "tr":
            self.found[self.title][-1].append([])
        elif tag in ("td", "th"):
            self.found[self.title][-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.place = "" if tag == self.place else self.place

    def handle_data(self, data: str) -> None:
        if self.place in ("h2", "h3"):
            self.title += data
        elif self.place in ("td", "th"):
            self.found[self.title][-1][-1][-1] += data


def line(condition: str, subject: str, metric: str, value: float, margin: float = 0.0) -> Row:
    about = {"experiment": "functional", "condition": condition, "subject": subject, "metric": metric}
    return {**about, "value": value, "low": value - margin, "high": value + margin, "n": 45}


def everything() -> Iterator[Row]:
    """A summary of all experiments; no two values are the same."""
    values = (7.0 + 0.0137 * i for i in count())
    noisy = [f"{cell}_{noise}" for cell in CELLS for noise in ("noise05", "noise10")]
    remembering = [f"{game}/memory_one" for game in GAMES]
    for condition in (*CELLS, *noisy, *remembering, LIBRARY):
        for subject in PLAYERS:
            for metric in SCORES + (TOM_REGRETS if condition in CELLS else ()):
                yield line(condition, subject, metric, next(values), 0.003)
        yield line(condition, "task", "interestingness", next(values))
    for metric in SCORES:
        yield line(LEFT_OUT, "bayes_library", metric, next(values), 0.003)
    for condition in ("hanabi/signals", "wavelength/dials"):
        for metric in ("functional_regret", "tom_percent", "literal_error"):
            yield line(condition, "bayesian", metric, next(values), 0.003)


def played(partner: str = "tft", condition: str = "ipd/tft", subject: str = "rmax") -> list[Row]:
    base = {"condition": condition, "subject": subject, "partner": partner, "episode": f"{partner}/0", "policy": "own"}
    rows: list[Row] = [{**base, "t": t, "best": 8.0, "reward": 5.0} for t in range(3)]
    rows[-1]["functional_regret"] = 3.0
    return rows


SUMMARY = beside_published(everything())
ROWS = [*played(), *played("Grudger", LIBRARY)]
with pytest.MonkeyPatch.context() as patch:  # figures are made, but not drawn, which would take most of the time
    patch.setattr(functional_report, "inline", lambda figure, caption="": safe(caption))
    PAGE = report(ROWS, SUMMARY)
TABLES = Tables(PAGE).found


def value(condition: str, subject: str, metric: str) -> float:
    (row,) = [r for r in SUMMARY if (r["condition"], r["subject"], r["metric"]) == (condition, subject, metric)]
    return float(row["value"])


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, but not drawn, which would take most of the time."""
    monkeypatch.setattr(functional_report, "inline", lambda figure, caption="": safe(caption))


def row_of(table: list[list[str]], first: str) -> list[str]:
    (found,) = [cells for cells in table if cells[0] == first]
    return found


# Every section says what the summary says


def test_all_sections_are_there() -> None:
    assert set(TABLES) | {"What was tuned, and what cannot be compared"} == TITLES


def test_no_number_is_from_elsewhere_than_summary_and_paper() -> None:
    known = {number(row[end], digits) for row in SUMMARY for end in ("value", "low", "high") for digits in (1, 2, 3, 4)}
    for figure in published():
        margin = figure.margin or 0.0
        known |= {number(figure.value + shift, d) for shift in (-margin, 0.0, margin) for d in (1, 3)}
    means = {"Results in the paper’s six cells": 0, "What predictions alone would cost": 0}
    for title in TITLES - {"Language models, as published", "What was tuned, and what cannot be compared"}:
        tables = TABLES[title][1:] if title in means else TABLES[title]  # the first are means, tested below
        shown = {n for table in tables for cells in table for cell in cells for n in re.findall(r"−?\d+\.\d+", cell)}
        assert title == "Targets" or shown <= known, title
        assert shown or title == "What predictions alone would cost", title


def test_means_are_over_the_six_cells() -> None:
    league = TABLES["Results in the paper’s six cells"][0]
    for name, subject in (("RMax", "rmax"), ("Bayes, simplicity prior", "bayes_simplicity")):
        exact, rate = (
            np.mean([value(cell, subject, f"functional_regret_{optimum}") for cell in CELLS])
            for optimum in ("exact", "rate")
        )
        margin = 0.003 / np.sqrt(6)
        printed = [f"{m:.3f} [{m - margin:.3f}, {m + margin:.3f}]" for m in (exact, rate)]
        assert row_of(league, name)[1:] == printed
    regrets = TABLES["What predictions alone would cost"][0]
    myopic = np.mean([value(cell, "rmax", "tom_regret_myopic") for cell in CELLS])
    overall, one = (cells for cells in regrets if cells[1] == "RMax")
    assert overall[4] == f"{myopic:.3f}"
    assert one[5] == f"{value('ipd/tft', 'rmax', 'tom_regret_model'):.3f}"


def test_the_league_is_in_order_with_the_best_of_the_published() -> None:
    league = TABLES["Results in the paper’s six cells"][0][1:]
    means = [float(cells[2].split(" ")[0]) for cells in league]
    assert means == sorted(means)
    told = [cells for cells in league if "as published" in cells[0]]
    assert all(cells[1] == "–" for cells in told)  # the paper knows one optimum only
    whole = {s: float(row["value"]) for s, row in published_means().items() if s.startswith("lm:")}
    assert [cells[2].split(" ")[0] for cells in told[1:]] == [f"{v:.3f}" for v in sorted(whole.values())[:BEST]]
    assert told[0][0].startswith("RMax, as published")
    assert told[0][2].startswith("0.220")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_the_tabular_player_stands_beside_what_was_published() -> None:
    summary = [
        line("rps/single", "rmax", "functional_regret", 0.081, 0.004),
        line("rps/single", "rmax", "functional_regret_enumerated", 0.08423),
        line("rps/tft", "rmax", "tom_percent", 93.0 + 1e-12),
        line("rps/tft", "rmax", "functional_regret", 0.3, 0.004),
    ]
    anchor = Tables(report([], beside_published(summary))).found["Results in the paper’s six cells"][2]
    first, second, third = anchor[1:]
    assert first == [
        "Rock, Paper, Scissors, single action",
        "regret",
        "0.083 [0.079, 0.087]",
        "0.081 [0.077, 0.085]",
        "inside",
        "0.0842",
    ]
    assert second[:2] == ["Rock, Paper, Scissors, tit for tat", "regret"]
    assert second[2].startswith("0.224 [0.217, 0.231] ")  # and the number of the note
    assert second[3:] == ["0.300 [0.296, 0.304]", "outside", "–"]
    assert third == ["", "ToM %", "93.0", "93.0", "inside", "–"]
    assert "2 of 3 figures are inside" in report([], beside_published(summary))


def test_games_show_the_exact_optimum_for_everybody() -> None:
    table = TABLES["Results in the paper’s six cells"][-1]
    assert table[0][0] == GAMES["ipd"]
    rmax = row_of(table, "RMax")
    for shown, partner in ((rmax[1:4], "single"), (rmax[4:], "tft")):
        regret, literal, consistent = (
            value(f"ipd/{partner}", "rmax", m) for m in ("functional_regret_exact", "tom_percent", "consistency")
        )
        assert shown == [
            f"{regret:.3f} [{regret - 0.003:.3f}, {regret + 0.003:.3f}]",
            f"{literal:.1f}",
            f"{consistent:.2f}",
        ]


def test_the_finding_is_told_with_its_numbers() -> None:
    for subject in ("fictitious_play", "bayes_simplicity"):
        percent, regret = (value("ipd/tft", subject, metric) for metric in ("tom_percent", "functional_regret_exact"))
        assert f"predicts {percent:.1f} % of the actions and loses {regret:.2f} points a round" in PAGE
    assert "2-ToM predicts" not in PAGE


def test_machines_are_sorted_by_regret_with_the_floor() -> None:
    (table,) = TABLES["Machines"]
    regrets = [float(cells[2].split(" ")[0]) for cells in table[1:]]
    assert regrets == sorted(regrets)
    assert row_of(table, "Bayes floor")[2].startswith(f"{value(LIBRARY, 'floor', 'functional_regret_exact'):.3f}")
    assert any(cells[0].endswith("without the partner") for cells in table)


# Published figures


def test_language_models_are_marked_as_published_wherever_they_are() -> None:
    for title, tables in TABLES.items():
        if title != "Language models, as published":
            names = [cells[0] for table in tables for cells in table if "prompting" in cells[0]]
            assert all("as published" in name for name in names), title
    assert "As published, not run here" in PAGE
    assert PAGE.count("as published</caption>") + PAGE.count("as published (single action)</caption>") == 2


def test_all_published_models_are_there_with_their_notes() -> None:
    regrets, literal, told = TABLES["Language models, as published"]
    assert len(regrets) - 1 == len({p.subject for p in published() if p.subject.startswith("lm:")})
    (impossible,) = [p for p in published() if p.value == 4.789]
    cell = row_of(regrets, "deepseek-r1-32b")[-1]
    assert cell == f"4.789 ± 0.061 {str(notes()[impossible.note]).translate(RAISED)}"
    assert told[1:] == [[str(i), note] for note, i in notes().items()]
    assert row_of(literal, "mistral-large-2")[1:4] == ["qa", "0.133 ± 0.010", "91.1 ± 0.7"]
    assert [cells[1] for cells in literal if "tit for tat" in cells[1]] == ["unstated (tit for tat)"]


def test_what_was_tuned_is_told() -> None:
    for note in WORDS["notes"]:
        assert note in PAGE


# What may be missing


def test_a_page_of_nothing_has_only_what_was_published() -> None:
    assert set(Tables(report([], [])).found) == {"Language models, as published"}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("left_out", PLAYERS)
def test_any_player_may_be_missing(left_out: str) -> None:
    rest = report(ROWS, [row for row in SUMMARY if row["subject"] != left_out])
    assert set(Tables(rest).found) | {"Targets", "What was tuned, and what cannot be compared"} == TITLES
    assert "nan" not in re.sub("<svg.*?</svg>", "", rest, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["/single", "/tft", "_noise05", "/memory_one", LIBRARY, "hanabi", "wavelength"])
@pytest.mark.usefixtures("undrawn")
def test_any_condition_may_be_missing(part: str) -> None:
    rest = [row for row in SUMMARY if part not in row["condition"]]
    assert report([row for row in ROWS if part not in row["condition"]], rest)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_quick_runs_have_no_section_on_what_was_not_played() -> None:
    quick = report(ROWS, [row for row in SUMMARY if "memory_one" not in row["condition"]])
    assert "All partners that remember one round" not in quick


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_player_without_all_six_cells_has_no_mean() -> None:
    rest = [row for row in SUMMARY if (row["condition"], row["subject"]) != ("rps/tft", "fictitious_play")]
    names = [cells[0] for cells in Tables(report(ROWS, rest)).found["Results in the paper’s six cells"][0]]
    assert "Fictitious play" not in names
    assert "RMax" in names


# Safety


@pytest.mark.slow
def test_hostile_names_are_text() -> None:
    summary = [
        *SUMMARY,
        line("ipd/tft", HOSTILE, "functional_regret_exact", 1.0),
        line("ipd/" + HOSTILE, "task", "interestingness", 1.0),
    ]
    page = report([*ROWS, *played(HOSTILE), *played(HOSTILE, LIBRARY)], summary)
    assert "<script>" not in page.replace("<script></script>", "")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", page)


@pytest.mark.slow
def test_pages_are_the_same_every_time() -> None:
    assert report(ROWS, SUMMARY) == report(ROWS, SUMMARY)
