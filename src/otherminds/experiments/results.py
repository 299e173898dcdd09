"""The results contract: what every experiment writes, shows and is checked against.

A run directory holds rows.jsonl (one decision a line), summary.json (metrics with intervals, beside published
figures) and report.html. Rows are written as episodes end, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Protocol, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from otherminds.errors import InputError

Row = dict[str, Any]
Key = tuple[str, str, str]
NORMAL = 1.96
ENDS = ("success", "functional_regret", "accuracy", "score")
"""What only the last row of an episode has."""
# A subject, and a value and its margin for every metric; in the file they are all in one list.
Line = Annotated[tuple[str, tuple[tuple[float, float], ...]], BeforeValidator(lambda row: (*row[:1], row[1:]))]


class Entry(Protocol):
    """One episode of a plan."""

    @property
    def key(self) -> Key:
        """What tells it apart in the rows."""
        ...


E = TypeVar("E", bound=Entry)


class _Figure(BaseModel):
    model_config = ConfigDict(extra="forbid")

    experiment: str
    condition: str
    subject: str
    metric: str

    def about(self, row: Mapping[str, Any]) -> bool:
        """Whether a summary row is about the same thing."""
        mine = (self.experiment, self.condition, self.subject, self.metric)
        return mine == tuple(row[name] for name in ("experiment", "condition", "subject", "metric"))


class Published(_Figure):
    """A figure as a paper prints it, with its standard error or the margin of its 95 % interval, if any."""

    value: float
    error: float | None = None
    margin: float | None = None
    source: str
    note: str = ""

    def columns(self) -> dict[str, Any]:
        """The figure as columns of a summary row; its interval is the value ± the margin or 1.96 standard errors."""
        found: dict[str, Any] = {"published": self.value}
        margin = self.margin if self.error is None else NORMAL * self.error
        if margin is not None:
            found |= {"published_low": self.value - margin, "published_high": self.value + margin}
        return found | {"source": self.source}


class Table(BaseModel):
    """Many published figures: every row is a subject and, for each of the metrics, a value and its margin."""

    model_config = ConfigDict(extra="forbid")

    experiment: str
    condition: str
    source: str
    note: str = ""
    metrics: tuple[str, ...]
    rows: tuple[Line, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for subject, pairs in self.rows:
            if len(pairs) != len(self.metrics):
                raise ValueError(f"{subject} has {len(pairs)} figures for {len(self.metrics)} metrics")
        return self

    def published(self) -> Iterator[Published]:
        """The figures one by one."""
        about = {"experiment": self.experiment, "condition": self.condition, "source": self.source, "note": self.note}
        for subject, pairs in self.rows:
            for metric, (value, margin) in zip(self.metrics, pairs, strict=True):
                yield Published(subject=subject, metric=metric, value=value, margin=margin, **about)


class Target(_Figure):
    """What a metric has to reach."""

    at_least: float = float("-inf")
    at_most: float = float("inf")

    def met(self, row: Mapping[str, Any]) -> bool:
        """Whether the value of a summary row is within the bounds."""
        return bool(self.at_least <= row["value"] <= self.at_most)

    def __str__(self) -> str:
        bounds = [f"≥ {self.at_least:g}"] if self.at_least > float("-inf") else []
        bounds += [f"≤ {self.at_most:g}"] if self.at_most < float("inf") else []
        return f"{self.condition} · {self.subject} · {self.metric} {', '.join(bounds)}"


class Figures(BaseModel):
    """All published figures and targets, as in figures.toml."""

    model_config = ConfigDict(extra="forbid")

    singly: tuple[Published, ...] = Field(alias="published")
    table: tuple[Table, ...] = ()
    target: tuple[Target, ...]

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """All published figures, given singly or in tables."""
        return (*self.singly, *(figure for table in self.table for figure in table.published()))


@cache
def figures() -> Figures:
    """The published figures and the targets that come with the library."""
    text = (resources.files("otherminds.experiments") / "figures.toml").read_text("utf-8")
    return Figures.model_validate(tomllib.loads(text))


def beside_published(summary: Iterable[Row]) -> list[dict[str, Any]]:
    """The summary with the published figure in every row that has one."""
    return [dict(row) | next((p.columns() for p in figures().published if p.about(row)), {}) for row in summary]


def verdicts(summary: Sequence[Mapping[str, Any]]) -> list[tuple[Target, Mapping[str, Any], bool]]:
    """Every target that the summary has a value for, with that value, and whether it is met."""
    return [(t, row, t.met(row)) for t in figures().target for row in summary if t.about(row)]


class Rows:
    """The rows of a run on disk: those of finished episodes are kept, and not played again."""

    def __init__(self, folder: Path, run: str) -> None:
        """Open or begin a run. Raises InputError if the folder holds another run, or cannot be written."""
        self.path = folder / "rows.jsonl"
        self.run = run
        try:
            folder.mkdir(parents=True, exist_ok=True)
            raw = self.path.read_bytes() if self.path.exists() else b""
            self._kept = self._finished(raw)
            text = "".join(_line(row) for row in self._kept).encode()
            if text != raw or not raw:
                fresh = self.path.with_suffix(".new")
                fresh.write_bytes(text)
                fresh.replace(self.path)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=folder) from None

    def _finished(self, raw: bytes) -> list[Row]:
        """The rows of episodes that ended; a torn last line, and the episode it belongs to, is dropped."""
        lines = raw.removesuffix(b"\n").split(b"\n") if raw else []
        found = []
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                found.append((key(row), row))
            except (ValueError, KeyError, TypeError):
                if number < len(lines) or raw.endswith(b"\n"):
                    raise InputError("is not a row of results", path=self.path, line=number) from None
        if any(row.get("run") != self.run for _, row in found):
            hint = "choose another folder with --out"
            raise InputError(f"belongs to another run than {self.run}", path=self.path, hint=hint)
        episodes = [[row for _, row in rows] for _, rows in groupby(found, key=lambda pair: pair[0])]
        return [row for rows in episodes if any(end in rows[-1] for end in ENDS) for row in rows]

    def done(self) -> set[Key]:
        """The episodes that need not be played again."""
        return {key(row) for row in self._kept}

    def todo(self, plan: Sequence[E]) -> list[E]:
        """The entries of a plan that were not played yet."""
        done = self.done()
        return [entry for entry in plan if entry.key not in done]

    def add(self, rows: Iterable[Row]) -> None:
        """Append the rows of one episode."""
        fresh = [{**row, "run": self.run} for row in rows]
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(_line(row) for row in fresh))
        self._kept += fresh

    def replace(self, rows: Iterable[Row]) -> None:
        """Keep these rows and no others."""
        self._kept = []
        self.path.write_text("", encoding="utf-8")
        self.add(rows)

    def all(self, order: Sequence[Key]) -> list[Row]:
        """All rows, by episodes in the given order, however they were played."""
        place = {name: i for i, name in enumerate(order)}
        return sorted((row for row in self._kept if key(row) in place), key=lambda row: place[key(row)])


def key(row: Row) -> Key:
    """What tells episodes apart."""
    return (row["condition"], row["subject"], row["episode"])


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def write_results(folder: Path, summary: Sequence[Row], report: str) -> None:
    """Write summary.json and report.html beside the rows. Raises InputError if they cannot be written."""
    summary_text = json.dumps(list(summary), indent=1, ensure_ascii=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.json").write_text(summary_text, encoding="utf-8")
        (folder / "report.html").write_text(report, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=folder) from None
