"""What the command line says of runs on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otherminds.evaluation.runs import Run
from otherminds.files.text import printable


def listed(runs: Sequence[Run], folder: Path) -> RenderableType:
    """A line for every run in a folder; what was asked and spent only if there was something."""
    if not runs:
        return Text(f"There are no runs in {printable(str(folder))}.")
    asked = any(run.answered.calls or run.uncertain for run in runs)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(f"in {printable(str(folder))}", overflow="fold")
    table.add_column("what", overflow="fold")
    for name in ("state", "episodes", *(("calls", "uncertain", "spent") if asked else ())):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    for run in runs:
        place = run.folder.relative_to(folder)
        table.add_row(
            Text(printable(str(place))), Text(printable(run.name)), run.state, *_numbers(run)[: 4 if asked else 1]
        )
    return table


def told(run: Run, damage: Sequence[str]) -> RenderableType:
    """All there is to say of one run."""
    episodes, calls, _, spent = _numbers(run)
    lines = [
        f"{printable(run.name)}: {run.state}, begun {printable(run.begun)} by otherminds {printable(run.version)}",
        f"{episodes} episodes, {calls} calls to models answered, {spent} spent",
        *_some("episodes failed the last time", [f"{' '.join(key)}: {why}" for key, why in run.failures.items()]),
        *_some(
            "calls have no answer on record, and may have to be paid for",
            [f"{one.place} (up to ${one.most:,.4f}, sent {one.sent} to {one.model})" for one in run.uncertain],
        ),
        *([f"damaged: {printable(fault)}" for fault in damage] or ["nothing is damaged"]),
    ]
    return Group(*(Text(line, overflow="fold") for line in lines))


def _numbers(run: Run) -> tuple[str, str, str, str]:
    dollars = f"${run.dollars:,.4f}" if run.dollars else "–"
    return f"{run.finished:,}/{run.planned:,}", f"{run.answered.calls:,}", f"{len(run.uncertain):,}", dollars


def _some(what: str, found: Sequence[str]) -> list[str]:
    return [f"{len(found):,} {what}:", *(f"  {printable(one)}" for one in found)] if found else []
