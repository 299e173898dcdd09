"""What help was worth, from hand-made rows, against figures computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from otherminds.evaluation.assistance import (
    AssistanceOutcome,
    compare,
    metrics,
    outcomes,
    share_of_speedup,
    speedup,
    summarise,
)
from otherminds.evaluation.statistics import benjamini_hochberg, fisher, mann_whitney

Row = dict[str, Any]


def episode(name: str, subject: str, said: Sequence[str], *, condition: str = "useful", length: int = 0) -> list[Row]:
    """The rows of an episode with one decision of the facilitator a step; a length that differs means failure."""
    base = {"condition": condition, "subject": subject, "episode": name}
    rows: list[Row] = []
    for t, words in enumerate(said):
        rows.append({**base, "t": t, "agent": "Ana", "action": "right"})
        rows.append({**base, "t": t, "agent": "facilitator", "action": words, "ms": 100.0 if t == 0 else 2.0 * t})
    rows[-1] |= {"success": not length, "length": length or len(said)}
    return rows


def outcome(name: str, subject: str, length: int, **more: Any) -> AssistanceOutcome:
    usual = {"condition": "useful", "success": length < 80, "messages": 0, "decision_ms": (1.0,)}
    return AssistanceOutcome(subject=subject, episode=name, length=length, **{**usual, **more})


# Two levels: help makes the first twice as fast and the second possible (80 steps without, 20 with).
PLAYED = [
    outcome("one", "none", 40, condition="useful"),
    outcome("one", "protom", 20, condition="useful", messages=1, decision_ms=(1.0, 2.0, 3.0)),
    outcome("two", "none", 80, condition="necessary"),
    outcome("two", "protom", 20, condition="necessary", messages=2, decision_ms=(5.0,)),
]
WITHOUT = {o.episode: o for o in PLAYED if o.subject == "none"}
HELPED = [o for o in PLAYED if o.subject == "protom"]


def test_an_episode_in_figures() -> None:
    rows = episode("one", "protom", ["", "Ana: fetch", "", ""])
    assert outcomes(rows) == [AssistanceOutcome("useful", "protom", "one", True, 4, 1, (2.0, 4.0, 6.0))]


def test_the_first_decision_is_not_timed_because_it_prepares_everything() -> None:
    (found,) = outcomes(episode("one", "protom", ["", ""]))
    assert found.decision_ms == (2.0,)


def test_failure_counts_with_the_length_that_the_rows_say() -> None:
    (found,) = outcomes(episode("one", "none", ["", ""], length=80))
    assert (found.success, found.length, found.messages) == (False, 80, 0)


def test_every_subject_and_episode_is_an_outcome() -> None:
    rows = [row for name in "ab" for who in ("none", "protom") for row in episode(name, who, ["", "hello"])]
    found = outcomes(rows)
    assert [(o.episode, o.subject) for o in found] == [(n, s) for n in "ab" for s in ("none", "protom")]


def test_speedup_is_how_much_longer_it_would_have_taken() -> None:
    assert speedup(PLAYED[1], PLAYED[0]) == 1.0
    assert speedup(PLAYED[3], PLAYED[2]) == 3.0
    assert speedup(PLAYED[0], PLAYED[1]) == -0.5
    assert speedup(PLAYED[0], PLAYED[0]) == 0.0


def test_metrics_by_hand() -> None:
    found = metrics(HELPED, WITHOUT)
    assert {name: estimate.value for name, estimate in found.items()} == {
        "success": 1.0,
        "speedup": 2.0,  # (1 + 3) / 2
        "speedup_ratio_of_means": 2.0,  # (40 + 80) / (20 + 20) − 1
        "messages": 1.5,
        "decision_ms": 2.75,  # every decision counts once: (1 + 2 + 3 + 5) / 4
    }
    assert {estimate.n for estimate in found.values()} == {2}
    assert (found["speedup"].low, found["speedup"].high) == (1.0, 3.0)
    assert (found["speedup_ratio_of_means"].low, found["speedup_ratio_of_means"].high) == (1.0, 3.0)
    assert (found["decision_ms"].low, found["decision_ms"].high) == (2.0, 5.0)


def test_the_mean_of_ratios_is_not_the_ratio_of_means() -> None:
    without = {"long": outcome("long", "none", 60), "short": outcome("short", "none", 20)}
    found = metrics([outcome("long", "protom", 30), outcome("short", "protom", 20)], without)
    assert found["speedup"].value == 0.5  # (1 + 0) / 2
    assert found["speedup_ratio_of_means"].value == pytest.approx(0.6)  # 80 / 50 − 1


def test_the_arithmetic_of_the_paper() -> None:
    """§4.4: 0.70 ± 0.13 messages over 20 levels; only one 2, twelve 1 and seven 0 fit the standard error."""
    said = [2, *[1] * 12, *[0] * 7]
    played = [outcome(str(i), "protom", 20, messages=n) for i, n in enumerate(said)]
    found = metrics(played, {o.episode: o for o in played})["messages"]
    assert found.value == pytest.approx(0.70)
    assert found.n == 20
    sem = float(np.std(said, ddof=1)) / math.sqrt(20)
    assert round(sem, 2) == 0.13
    assert (found.low, found.high) == pytest.approx((0.7 - 1.96 * sem, 0.7 + 1.96 * sem), abs=0.03)


def test_episodes_of_a_single_step_have_no_decision_times_but_all_else() -> None:
    rows = [row for who in ("none", "protom") for row in episode("tiny", who, [""])]
    table = summarise(outcomes(rows))
    values = [row["value"] for row in table]
    assert {"success", "speedup", "messages"} <= {row["metric"] for row in table}
    assert all(math.isfinite(value) for value in values)


# Summary


def test_a_summary_has_every_condition_subject_and_metric() -> None:
    table = {(r["condition"], r["subject"], r["metric"]): r for r in summarise(PLAYED)}
    assert len(table) == 3 * 2 * 5
    assert table["all", "protom", "speedup"] == {
        "condition": "all",
        "subject": "protom",
        "metric": "speedup",
        "value": 2.0,
        "low": 1.0,
        "high": 3.0,
        "n": 2,
    }
    assert table["useful", "protom", "speedup"]["value"] == 1.0
    assert table["necessary", "protom", "speedup"]["value"] == 3.0
    assert table["necessary", "none", "success"]["value"] == 0.0
    assert table["all", "none", "success"]["value"] == 0.5
    assert {r["value"] for key, r in table.items() if key[1:] == ("none", "speedup")} == {0.0}


def test_a_prefix_goes_before_all_conditions() -> None:
    played = [outcome("one", who, 20, condition="heldout/useful") for who in ("none", "protom")]
    assert {r["condition"] for r in summarise(played, prefix="heldout/")} == {"heldout/all", "heldout/useful"}


def test_a_share_of_speedup_is_one_of_sums() -> None:
    best = [outcome("one", "oracle", 10), outcome("two", "oracle", 16)]
    assert share_of_speedup([*PLAYED, *best], "protom", "oracle").value == pytest.approx(4 / 7)  # (1 + 3) / (3 + 4)
    assert share_of_speedup([*PLAYED, *best], "oracle", "oracle")[:3] == (1.0, 1.0, 1.0)
    assert share_of_speedup([*PLAYED, *best], "none", "oracle")[:3] == (0.0, 0.0, 0.0)


def test_a_share_has_an_interval_even_if_the_best_gained_nothing_in_a_level() -> None:
    equal = [outcome("same", who, 30) for who in ("none", "protom", "oracle")]
    best = [outcome("one", "oracle", 10), outcome("two", "oracle", 16)]
    found = share_of_speedup([*PLAYED, *best, *equal], "protom", "oracle")
    assert found.value == pytest.approx(4 / 7)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0


# Tests


def test_comparisons_are_the_papers_tests_with_paired_differences() -> None:
    names, worse = ["a", "b", "c", "d"], [80, 80, 80, 40]
    played = [outcome(name, "none", n) for name, n in zip(names, worse, strict=True)]
    played += [outcome(name, "protom", 20, messages=1) for name in names]
    played += [outcome(name, "random", 40, messages=3) for name in reversed(names)]
    found = {(c.reference, c.metric): c for c in compare(played, "protom")}
    assert list(found) == [(who, m) for who in ("none", "random") for m in ("success", "speedup", "messages")]
    assert {key: c.test for key, c in found.items()} == {
        key: "Fisher exact" if key[1] == "success" else "Mann–Whitney U" for key in found
    }
    assert found["none", "success"].p == fisher([True] * 4, [False, False, False, True])
    assert found["none", "success"].difference.value == 0.75
    assert found["random", "success"].p == 1.0
    assert found["random", "speedup"].p == mann_whitney([3.0, 3.0, 3.0, 1.0], [1.0, 1.0, 1.0, 0.0])
    assert found["random", "speedup"].difference.value == pytest.approx((2 + 2 + 2 + 1) / 4)
    assert found["random", "messages"].difference[:3] == (-2.0, -2.0, -2.0)
    assert [c.p_corrected for c in found.values()] == benjamini_hochberg([c.p for c in found.values()])


def test_differences_are_paired_by_level_in_whatever_order_it_was_played() -> None:
    played = [outcome(n, "none", 80) for n in "ab"]
    played += [outcome("a", "protom", 20), outcome("b", "protom", 40)]
    played += [outcome("b", "oracle", 40), outcome("a", "oracle", 20)]
    found = {(c.reference, c.metric): c.difference for c in compare(played, "protom")}
    assert found["oracle", "speedup"][:3] == (0.0, 0.0, 0.0)
