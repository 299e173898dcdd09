"""How a figure stands beside a published one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AGREES, BETTER, WORSE, HIGHER, LOWER = "agrees", "better", "worse", "higher", "lower"
ROUNDING = 1e-9
MORE_IS_BETTER = ("success", "speedup", "speedup_ratio_of_means", "score", "accuracy", "tom_percent", "r")
LESS_IS_BETTER = ("functional_regret", "tom_regret_paper")


def verdict(row: Mapping[str, Any]) -> str:
    """`agrees` if the interval of our value and that of the published one overlap, else who is ahead.

    A figure that was printed without an interval is a point. Where neither more nor less is better: higher or lower.
    `once` is added if ours is a single episode.
    """
    low, high = row.get("published_low", row["published"]), row.get("published_high", row["published"])
    if row["low"] <= high + ROUNDING and low <= row["high"] + ROUNDING:
        return AGREES
    above = row["value"] > row["published"]
    if row["metric"] in (*MORE_IS_BETTER, *LESS_IS_BETTER):
        ahead = BETTER if above == (row["metric"] in MORE_IS_BETTER) else WORSE
    else:
        ahead = HIGHER if above else LOWER
    return ahead if row["n"] > 1 else f"{ahead}, once"
