"""The table of a study on a screen: a line for every metric, a column for every facilitator."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from otherminds.reports.terminal import tables as terminal


def row(subject: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    bounds = {"low": value - 1, "high": value + 1, "n": 9}
    return (
        {"experiment": "study", "condition": "all", "subject": subject, "metric": metric, "value": value}
        | bounds
        | more
    )


def test_figure_6_fits_a_narrow_screen() -> None:
    summary = [
        row("none", "speedup", 0.0),
        row("lm:[bold]", "ignored", 12.0),
        row("protom", "speedup", 1.5, published=0.75, published_low=0.42, published_high=1.08),
        row("protom", "ignored", 2.0, published=5),
        row("protom", "helpful", 6.25),
        row("protom", "helpful", 1.0, condition="useful"),
    ]
    console = Console(width=80, record=True)
    console.print(terminal.results(summary))
    lines = {words[0]: words[1:] for line in console.export_text().splitlines() if (words := line.split())}
    assert lines["none"] == ["lm:[bold]", "protom", "paper"]
    assert lines["speedup"] == ["0.00", "[-1.00,", "1.00]", "1.50", "[0.50,", "2.50]", "0.75"]
    assert lines["ignored"] == ["12", "2", "5"]
    assert lines["helpful"] == ["6.25", "[5.25,", "7.25]"]
