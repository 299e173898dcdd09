"""How well goals were inferred: literal theory of mind, from rows that carry a posterior and the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation import statistics as st
from otherminds.evaluation.statistics import Estimate

Row = Mapping[str, Any]
BINS = 10


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
    """The gap between stated probability and frequency, weighted by how often it was stated; by episodes."""
    episodes = {name: i for i, name in enumerate(dict.fromkeys(row["episode"] for row in rows))}
    sums = np.zeros((len(episodes), BINS, 2))
    for row in rows:
        for goal, p in row["posterior"].items():
            sums[episodes[row["episode"]], min(int(p * BINS), BINS - 1)] += p - (goal == row["goal"]), 1
    rng = np.random.default_rng(0)
    draws = [sums[rng.integers(len(sums), size=len(sums))].sum(axis=0) for _ in range(1000)]
    low, high = np.quantile([_gap(draw) for draw in draws], [0.025, 0.975])
    return Estimate(_gap(sums.sum(axis=0)), float(low), float(high), len(episodes))


def _gap(sums: NDArray[np.float64]) -> float:
    return float(np.abs(sums[:, 0]).sum() / sums[:, 1].sum())
