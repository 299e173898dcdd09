"""Audits of the labels of benchmarks, in the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from otherminds.files.text import printable
from otherminds.reports.terminal.stories import happening
from otherminds.reports.terminal.tables import plain_table
from otherminds.stories.audit import Audit, Verdict, family

LISTED = 40  # contradictions that an audit lists
NAMED = 3  # rows that could not be read that a message names; chosen


def audit(audited: Audit) -> RenderableType:
    """How many labels were confirmed, contradicted or not judged, the rows not read, and every contradiction."""
    counts = audited.counts
    line = ", ".join(f"{n:,} {outcome if n == 1 else outcome.removesuffix('s')}" for outcome, n in counts.items())
    labels = sum(counts.values())
    total = Text(f"{labels:,} label{'s' * (labels != 1)}: {line}", style="bold")
    followed = [
        Text(
            f"{name}: read by the conventions {' or '.join(convention.name for convention in conventions)}", style="dim"
        )
        for name, conventions in audited.followed.items()
    ]
    table = plain_table(*(Column(name, overflow="fold") for name in ("item", "label", "by simulation", "because")))
    for verdict in audited.contradicted[:LISTED]:
        because = "\n".join(happening(reason) for reason in verdict.because)
        line = "" if verdict.item.line is None else f", line {verdict.item.line}"
        cells = (f"{verdict.item.id}{line}", verdict.item.gold, verdict.ours, because)
        table.add_row(*(Text("\n".join(map(printable, cell.split("\n")))) for cell in cells))
    more = len(audited.contradicted) - LISTED
    rest = [Text(f"… and {more:,} more (--json lists all)", style="dim")] if more > 0 else []
    skipped = [Text(printable(skipped_rows(audited.faults)), style="yellow")] if audited.faults else []
    return Group(total, *skipped, *followed, Text(), *([table] if audited.contradicted else []), *rest)


def skipped_rows(faults: Sequence[str]) -> str:
    """How many rows of benchmark files were skipped, and for the first of them the file, the line and the fault."""
    first = list(dict.fromkeys(faults))[:NAMED]
    more = [f"and {len(faults) - len(first):,} more"] if len(faults) > len(first) else []
    count = "1 row that cannot be read is" if len(faults) == 1 else f"{len(faults):,} rows that cannot be read are"
    return f"{count} left out: {'; '.join([*first, *more])}"


def audit_data(audited: Audit) -> list[dict[str, Any]]:
    """Every verdict as JSON data, then a row of the file that could not be read as one with the outcome `malformed`."""
    empty = dict[str, Any](id=None, line=None, outcome="malformed", label=None, ours="", because=[])
    return [*map(verdict_data, audited.verdicts), *(empty | {"why": fault} for fault in audited.faults)]


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON data."""
    return {
        "id": verdict.item.id,
        "line": verdict.item.line,
        "outcome": verdict.outcome,
        "label": verdict.item.gold,
        "ours": verdict.ours,
        "because": [happening(reason) for reason in verdict.because],
        "why": verdict.why,
    }


def proofs(audited: Audit) -> Iterator[bytes]:
    """Every contradicted label as a line of JSON: the question, the label, ours, what decides it, and by what rules."""
    for verdict in audited.contradicted:
        rules = [convention.name for convention in audited.followed[family(verdict.item)]]
        proof = {**verdict_data(verdict), "question": verdict.item.question, "conventions": rules}
        yield json.dumps(proof, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
