"""What the command line says of studies: figure 6 of the ProToM paper, a line for every metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from otherminds.files.text import printable

Row = Mapping[str, Any]
METRICS = ("success", "speedup", "messages", "ignored", "helpful", "appropriate", "clear", "understood")
COUNTED = ("ignored",)


def study(summary: Sequence[Row]) -> RenderableType:
    """Every metric over all levels, a column for each facilitator, with 95 % intervals, beside published figures."""
    found = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == "all"}
    subjects = list(dict.fromkeys(subject for subject, _ in found))
    published = {subject for (subject, _), row in found.items() if "published" in row}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True, min_width=max(map(len, METRICS)))
    for subject in subjects:
        table.add_column(Text(printable(subject)), no_wrap=True)
        if subject in published:
            table.add_column("paper", style="dim", no_wrap=True)
    for metric in METRICS:
        cells = [
            text
            for subject in subjects
            for row in [found.get((subject, metric))]
            for text in (_cell(row), _published(row))[: 1 + (subject in published)]
        ]
        table.add_row(metric, *cells)
    return table


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["metric"] in COUNTED:
        return f"{row['value']:.0f}"
    digits = 2 if row["high"] < 10 else 1
    value, low, high = (round(row[name], digits) + 0.0 for name in ("value", "low", "high"))  # + 0.0 turns −0 into 0
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _published(row: Row | None) -> str:
    if row is None or "published" not in row:
        return ""
    if row["metric"] in COUNTED:
        return f"{row['published']:.0f}"
    return f"{row['published']:.2f}"
