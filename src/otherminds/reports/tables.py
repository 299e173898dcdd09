"""What the tables of all reports have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.reports.page import Html, interval, number, table
from otherminds.reports.results import verdicts

Row = Mapping[str, Any]


def cell(row: Row | None) -> str:
    """A value with its interval; a dash if there is none."""
    return "–" if row is None else interval(row["value"], row["low"], row["high"])


def targets(summary: Sequence[Row]) -> Html:
    """The stated targets, what was reached, and whether it is enough; nothing if there are none."""
    lines = [[str(t), number(row["value"], 4), "met" if met else "missed"] for t, row, met in verdicts(summary)]
    return table(("Target", "Value", ""), lines) if lines else Html("")
