"""What the command line says of runs on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from otherminds.evaluation.runs import Run
from otherminds.worlds.sprites import printable


def listed(runs: Sequence[Run], folder: Path) -> RenderableType:
    """A line for every run."""
    if not runs:
        return Text(f"There are no runs in {folder}.")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "what", "state"):
        table.add_column(name, overflow="fold")
    for name in ("episodes", "calls", "uncertain", "spent"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in runs:
        table.add_row(*map(Text, (printable(str(run.folder)), printable(run.name), run.state)), *_numbers(run))
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
