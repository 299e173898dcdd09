"""Results of experiments: published figures, targets, and the files of a run.

A run directory holds run.db with every decision and every call to a model. When all episodes are played, rows.jsonl
(one decision a line), summary.json (metrics with intervals, beside published figures) and report.html are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field

from otherminds.evaluation.store import Row
from otherminds.files.text import write_whole
from otherminds.files.toml import packaged
from otherminds.reports.page import Html, Page, interval, number, table

NORMAL = 1.96  # half the width of a 95 % interval in standard errors, of the normal distribution
# A subject, then (value, margin) for each metric; one flat list in the file.
Line = Annotated[tuple[str, tuple[tuple[float, float], ...]], BeforeValidator(lambda row: (*row[:1], row[1:]))]


_key = itemgetter("experiment", "condition", "subject", "metric")
RowsByKey = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Rows of the summary of one experiment by condition, subject and metric."""


def by_key(summary: Iterable[Mapping[str, Any]]) -> RowsByKey:
    """The rows of a summary by condition, subject and metric."""
    return {(row["condition"], row["subject"], row["metric"]): row for row in summary}


class _FigureKey(BaseModel, extra="forbid"):
    """What a figure is of: the same four names as in the rows of a summary."""

    experiment: str
    condition: str
    subject: str
    metric: str


class Published(_FigureKey):
    """A figure as a paper prints it, with its standard error or the margin of its 95 % interval, if any."""

    value: float
    error: float | None = None
    margin: float | None = None
    source: str
    note: str = ""

    def columns(self) -> dict[str, Any]:
        """The figure as columns of a summary row; its interval is the value ± the margin or 1.96 standard errors."""
        columns: dict[str, Any] = {"published": self.value}
        margin = self.margin if self.error is None else NORMAL * self.error
        if margin is not None:
            columns |= {"published_low": self.value - margin, "published_high": self.value + margin}
        return columns | {"source": self.source}


class PublishedTable(BaseModel, extra="forbid"):
    """A published table: each row is a subject and, for each metric, a value and its margin."""

    experiment: str
    condition: str
    source: str
    note: str = ""
    metrics: tuple[str, ...]
    rows: tuple[Line, ...]

    def published(self) -> Iterator[Published]:
        """The figures one by one. Raises ValueError if a row does not have one for each metric."""
        about = {"experiment": self.experiment, "condition": self.condition, "source": self.source, "note": self.note}
        for subject, pairs in self.rows:
            for metric, (value, margin) in zip(self.metrics, pairs, strict=True):
                yield Published(subject=subject, metric=metric, value=value, margin=margin, **about)


class Target(_FigureKey):
    """The bounds that a metric has to meet."""

    at_least: float = float("-inf")
    at_most: float = float("inf")

    def met(self, row: Mapping[str, Any]) -> bool:
        """Whether the value of a summary row is within the bounds."""
        return bool(self.at_least <= row["value"] <= self.at_most)

    def __str__(self) -> str:
        bounds = [f"≥ {self.at_least:g}"] if self.at_least > float("-inf") else []
        bounds += [f"≤ {self.at_most:g}"] if self.at_most < float("inf") else []
        return f"{self.condition} · {self.subject} · {self.metric} {', '.join(bounds)}"


class Figures(BaseModel, extra="forbid"):
    """All published figures and targets, as in figures.toml."""

    singly: tuple[Published, ...] = Field(alias="published")
    table: tuple[PublishedTable, ...] = ()
    target: tuple[Target, ...]

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """All published figures, given singly or in tables."""
        return (*self.singly, *(figure for table in self.table for figure in table.published()))


@cache
def figures() -> Figures:
    """The published figures and the targets that come with the library."""
    return Figures.model_validate(packaged("otherminds.reports", "figures.toml"))


def beside_published(summary: Iterable[Row]) -> list[dict[str, Any]]:
    """The summary, with the columns of the published figure in each row that has one."""
    published = {_key(vars(figure)): figure for figure in reversed(figures().published)}
    return [dict(row) | (published[_key(row)].columns() if _key(row) in published else {}) for row in summary]


def verdicts(summary: Sequence[Mapping[str, Any]]) -> list[tuple[Target, Mapping[str, Any], bool]]:
    """(target, summary row, whether the row meets it) for every target that the summary has a value for."""
    return [(t, row, t.met(row)) for t in figures().target for row in summary if _key(vars(t)) == _key(row)]


def cell(row: Mapping[str, Any] | None, digits: int = 2) -> str:
    """A value with its interval; a dash if there is none."""
    return "–" if row is None else interval(row["value"], row["low"], row["high"], digits)


def targets(summary: Sequence[Mapping[str, Any]]) -> Html:
    """A table of the stated targets, the values reached, and whether they are met; empty if there are no targets."""
    lines = [
        [str(t), row.get("n"), number(row["value"], 4), "met" if met else "missed"] for t, row, met in verdicts(summary)
    ]
    return table(("Target", "n", "Value", ""), lines) if lines else Html("")


class Results(NamedTuple):
    """The results of a run: its rows, its metrics, and its report."""

    rows: Sequence[Row]
    summary: list[Row]
    report: Page


def write_results(folder: Path, summary: Sequence[Row], report: str) -> None:
    """Write summary.json and report.html beside the rows. Raises InputError if they cannot be written."""
    summary_text = json.dumps(list(summary), indent=1, ensure_ascii=False) + "\n"
    write_whole(folder / "summary.json", [summary_text.encode("utf-8", "backslashreplace")])
    write_whole(folder / "report.html", [report.encode("utf-8", "backslashreplace")])
