"""The report on repeated games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otherminds.evaluation.report import Section, page
from otherminds.experiments.tables import targets

Row = Mapping[str, Any]


def report(rows: Sequence[Row], summary: Sequence[Row]) -> str:
    """The whole page, from rows and summary alone."""
    return page(
        "Literal and functional Theory of Mind", f"{len(rows)} decisions", [Section("Targets", targets(summary))]
    )
