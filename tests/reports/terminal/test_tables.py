"""Results in the terminal: short, beside what was published, and without what is not there."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from otherminds.papers.functional.experiment import CELLS
from otherminds.reports.results import beside_published
from otherminds.reports.terminal.tables import results

Row = dict[str, Any]
SUBJECTS = ("rmax", "rmax_exact_ties", "bayes_simplicity", "posterior_sampling", "fictitious_play", "floor", "k_tom_2")
SCORES = {"functional_regret": 0.25, "functional_regret_exact": 0.27, "tom_percent": 98.04, "consistency": 0.057}


def line(
    condition: str, subject: str, metric: str, value: float, margin: float = 0.0, about: str = "functional"
) -> Row:
    row = {"experiment": about, "condition": condition, "subject": subject, "metric": metric, "value": value}
    return {**row, "low": value - margin, "high": value + 2 * margin, "n": 3}


def scored(condition: str, *subjects: str, margin: float = 0.0) -> list[Row]:
    return [line(condition, s, metric, value, margin) for s in subjects for metric, value in SCORES.items()]


def shown(summary: list[Row], width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(results(summary))
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue().splitlines()


def cells(lines: list[str], *names: str) -> list[str]:
    """The words of the one line that has all these names."""
    (found,) = [text.split() for text in lines if set(names) <= set(text.split())]
    return found


def whole() -> list[Row]:
    """A summary as large as a whole run's."""
    suites = [*CELLS, *(f"{cell}_{noise}" for cell in CELLS for noise in ("noise05", "noise10"))]
    suites += ["ipd/memory_one", "ipd/machines", "ipd/machines_leave_one_out", "hanabi/signals", "wavelength/dials"]
    rows = [row for suite in suites for row in scored(suite, *SUBJECTS, margin=0.1)]
    return beside_published([*rows, *(line(suite, "task", "interestingness", 1.0) for suite in suites)])


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_whole_run_fits_a_screen_or_two(width: int) -> None:
    lines = shown(whole(), width)
    assert len(lines) <= 60
    assert max(map(len, lines)) <= width
    assert not [text for text in lines if "…" in text]


def test_cells_are_shown_beside_what_was_published() -> None:
    lines = shown(beside_published(scored("ipd/tft", "rmax", "floor")))
    assert cells(lines, "rmax") == ["ipd/tft", "rmax", "0.250", "0.248", "±", "0.005", "98.0", "0.06"]
    assert cells(lines, "floor") == ["floor", "0.250", "98.0", "0.06"]


def test_what_varies_has_a_margin() -> None:
    rows = [{**row, "low": row["value"] - 0.04, "high": row["value"] + 0.04} for row in scored("rps/tft", "rmax")]
    assert cells(shown(rows), "rmax")[2:5] == ["0.250", "±", "0.040"]


def test_only_the_main_players_are_in_the_cells() -> None:
    text = "\n".join(shown(scored("ibs/single", *SUBJECTS)))
    assert "bayes_simplicity" in text
    assert "k_tom_2" not in text
    assert "rmax_exact_ties" not in text


def test_machines_are_sorted_by_exact_regret_with_lopsided_intervals() -> None:
    summary = [
        *scored("ipd/machines", "rmax", margin=0.1),
        line("ipd/machines", "bayes_closed", "functional_regret", 0.1),
        line("ipd/machines", "floor", "functional_regret", 0.05),
        line("ipd/machines_leave_one_out", "bayes_library", "functional_regret", 0.4),
    ]
    lines = shown(summary)
    assert cells(lines, "rmax")[:4] == ["rmax", "0.270", "[0.170,", "0.470]"]
    order = [text.split()[-1] for text in lines if " 0." in text]
    assert order == ["0.050", "0.100", "0.06", "0.400"]
    assert cells(lines, "leave_one_out") == ["leave_one_out", "bayes_library", "0.400"]


def test_noise_is_a_line_a_cell() -> None:
    summary = [
        line("rps/tft_noise05", "rmax", "functional_regret_exact", 0.1),
        line("rps/tft_noise10", "rmax", "functional_regret_exact", 0.2),
        line("rps/tft_noise10", "posterior_sampling", "functional_regret_exact", -0.0001),
    ]
    assert cells(shown(summary), "rps/tft") == ["rps/tft", "0.100", "0.200", "-", "-", "-", "0.000"]


def test_hostile_names_are_text() -> None:
    text = "\n".join(shown(scored("ipd/machines", "[bold red]<script>[/]")))
    assert "[bold red]<script>[/]" in text


def test_tables_of_nothing_are_left_out() -> None:
    lines = shown(scored("rps/single", "rmax"))
    assert not [text for text in lines if text.startswith(("machines", "noise"))]


def test_other_experiments_are_shown_by_condition() -> None:
    summary = beside_published(
        [line("all", "protom", metric, 0.5, 0.1, "protom-dkg") for metric in ("success", "speedup", "messages")]
    )
    lines = shown(summary)
    assert cells(lines, "all") == ["all"]
    assert cells(lines, "protom") == ["protom", "0.50", "[0.40,", "0.70]"] + ["0.50", "[0.40,", "0.70]"] * 2
    assert cells(lines, "published")[:3] == ["published", "1.00", "[1.00,"]


def test_the_summary_of_a_check_has_a_column_for_every_metric() -> None:
    summary = [line("all", "lm:x", metric, 0.5, 0.1, "check") for metric in ("gap", "consistency", "unreadable_share")]
    lines = shown(summary)
    assert lines[1].split() == ["gap", "consistency", "unreadable_share"]
    assert cells(lines, "lm:x") == ["lm:x", *["0.50", "[0.40,", "0.70]"] * 3]


# Studies


def study_row(subject: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    bounds = {"low": value - 1, "high": value + 1, "n": 9}
    return (
        {"experiment": "study", "condition": "all", "subject": subject, "metric": metric, "value": value}
        | bounds
        | more
    )


def test_figure_6_fits_a_narrow_screen() -> None:
    summary = [
        study_row("none", "speedup", 0.0),
        study_row("lm:[bold]", "ignored", 12.0),
        study_row("protom", "speedup", 1.5, published=0.75, published_low=0.42, published_high=1.08),
        study_row("protom", "ignored", 2.0, published=5),
        study_row("protom", "helpful", 6.25),
        study_row("protom", "helpful", 1.0, condition="useful"),
    ]
    console = Console(width=80, record=True)
    console.print(results(summary))
    lines = {words[0]: words[1:] for line in console.export_text().splitlines() if (words := line.split())}
    assert lines["none"] == ["lm:[bold]", "protom", "paper"]
    assert lines["speedup"] == ["0.00", "[-1.00,", "1.00]", "1.50", "[0.50,", "2.50]", "0.75"]
    assert lines["ignored"] == ["12", "2", "5"]
    assert lines["helpful"] == ["6.25", "[5.25,", "7.25]"]
