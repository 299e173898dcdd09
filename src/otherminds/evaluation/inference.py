"""How well goals were inferred: literal theory of mind, from rows that carry a posterior and the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otherminds.evaluation import statistics as st
from otherminds.evaluation.statistics import Estimate

Row = Mapping[str, Any]


def brier(posterior: Mapping[str, float], truth: str) -> float:
    """Σ_g (p(g) − [g is true])²: 0 for certainty of the truth, 2 for certainty of an error."""
    return sum((p - (goal == truth)) ** 2 for goal, p in posterior.items())


def quality(rows: Iterable[Row]) -> dict[str, Estimate]:
    """Mean probability of the true goal, share of steps at which it ranks first, and Brier score, per episode."""
    judged = [row for row in rows if "posterior" in row]
    if not judged:
        return {}
    names = [row["episode"] for row in judged]
    return {
        "p_true": st.mean([row["p_true"] for row in judged], names),
        "top1": st.mean([float(row["predicted"] == row["goal"]) for row in judged], names),
        "brier": st.mean([brier(row["posterior"], row["goal"]) for row in judged], names),
        "calibration_error": calibration_error(judged),
    }


def calibration_error(rows: Sequence[Row]) -> Estimate:
    """The gap between stated probability and frequency, over all goals, weighted by how often it was stated."""
    told = [(p, goal == row["goal"], row["episode"]) for row in rows for goal, p in row["posterior"].items()]
    return st.miscalibration([p for p, *_ in told], [came for _, came, _ in told], [name for *_, name in told])
