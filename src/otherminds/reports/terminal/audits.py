"""Audits of the labels of benchmarks, in the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from otherminds.files.text import printable
from otherminds.reports.terminal.stories import happening
from otherminds.reports.terminal.tables import plain_table
from otherminds.stories.audit import Audit, Verdict, family

LISTED = 40  # contradictions that an audit lists


def audit(found: Audit) -> RenderableType:
    """How many labels were confirmed, contradicted or not judged, and every contradiction."""
    counts = found.counts
    line = ", ".join(f"{n:,} {outcome if n == 1 else outcome.removesuffix('s')}" for outcome, n in counts.items())
    labels = sum(counts.values())
    total = Text(f"{labels:,} label{'s' * (labels != 1)}: {line}", style="bold")
    followed = [
        Text(f"{name}: read by the conventions {' or '.join(one.name for one in kept)}", style="dim")
        for name, kept in found.followed.items()
    ]
    table = plain_table(*(Column(name, overflow="fold") for name in ("item", "label", "by simulation", "because")))
    for verdict in found.contradicted[:LISTED]:
        because = "\n".join(happening(told) for told in verdict.because)
        line = "" if verdict.item.line is None else f", line {verdict.item.line}"
        cells = (f"{verdict.item.id}{line}", verdict.item.gold, verdict.ours, because)
        table.add_row(*(Text("\n".join(map(printable, cell.split("\n")))) for cell in cells))
    more = len(found.contradicted) - LISTED
    rest = [Text(f"… and {more:,} more (--json lists all)", style="dim")] if more > 0 else []
    return Group(total, *followed, Text(), *([table] if found.contradicted else []), *rest)


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON data."""
    return {
        "id": verdict.item.id,
        "line": verdict.item.line,
        "outcome": verdict.outcome,
        "label": verdict.item.gold,
        "ours": verdict.ours,
        "because": [happening(told) for told in verdict.because],
        "why": verdict.why,
    }


def proofs(found: Audit) -> Iterator[bytes]:
    """Every contradicted label as a line of JSON: the question, the label, ours, what decides it, and by what rules."""
    for verdict in found.contradicted:
        rules = [one.name for one in found.followed[family(verdict.item)]]
        told = {**verdict_data(verdict), "question": verdict.item.question, "conventions": rules}
        yield json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
