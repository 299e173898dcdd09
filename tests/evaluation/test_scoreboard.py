"""The scoreboard against hand-made episodes whose scores are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from otherminds.evaluation.scoreboard import Episode, Expectation, scores
from otherminds.evaluation.statistics import miscalibration
from otherminds.reports import literal_functional_plots
from otherminds.reports.page import inline


def found(*episodes: Episode) -> dict[tuple[str, str, str], float]:
    return {(row["condition"], row["subject"], row["metric"]): row["value"] for row in scores(episodes)}


def told(*rights: bool, p: float | None = None) -> tuple[Expectation, ...]:
    return tuple(Expectation(right, p) for right in rights)


def test_literal_is_the_share_of_all_expectations_and_not_of_episodes() -> None:
    one = Episode("w", "a", "1", told(True), 0, 1, 0)
    other = Episode("w", "a", "2", told(False, False, False), 0, 1, 0)
    assert found(one, other)["w", "a", "literal"] == 0.25


def test_functional_is_what_was_gained_of_what_there_was() -> None:
    board = found(
        Episode("w", "floor", "1", (), 2.0, 10.0, 2.0),
        Episode("w", "best", "1", (), 10.0, 10.0, 2.0),
        Episode("w", "half", "1", (), 6.0, 10.0, 2.0),
        Episode("w", "under", "1", (), 0.0, 10.0, 2.0),
        Episode("w", "half", "2", (), 1.0, 1.0, 1.0),
    )
    gains = {agent: value for (_, agent, metric), value in board.items() if metric == "functional"}
    assert gains == {"floor": 0.0, "best": 1.0, "half": 0.5, "under": -0.25}
    assert board["w", "half", "regret"] == 2.0


def test_who_expects_nothing_has_no_literal_score_and_who_does_not_act_no_functional() -> None:
    assert set(found(Episode("w", "silent", "1", (), 1.0, 2.0, 0.0))) == {
        ("w", "silent", "functional"),
        ("w", "silent", "regret"),
    }
    assert set(found(Episode("w", "reader", "1", told(True)))) == {("w", "reader", "literal")}


def test_where_nothing_can_be_gained_nothing_is_said_of_gains() -> None:
    assert not found(Episode("w", "a", "1", (), 3.0, 3.0, 3.0))


def test_calibration_compares_what_was_said_with_what_came() -> None:
    sure = found(Episode("w", "sure", "1", told(True, False, p=1.0)))
    fair = found(Episode("w", "fair", "1", told(True, False, p=0.5)))
    assert sure["w", "sure", "calibration_error"] == 0.5
    assert fair["w", "fair", "calibration_error"] == 0.0


@pytest.mark.slow
@settings(max_examples=30)
@given(some.lists(some.tuples(some.floats(0, 1), some.booleans()), min_size=1, max_size=60))
def test_miscalibration_is_that_of_a_loop_over_bins(cases: list[tuple[float, bool]]) -> None:
    gaps = [0.0] * 10
    for p, came in cases:
        gaps[min(int(p * 10), 9)] += p - came
    said, hits = zip(*cases, strict=True)
    estimate = miscalibration(said, hits, ["one"] * len(cases))
    assert estimate.value == pytest.approx(sum(map(abs, gaps)) / len(cases))
    assert estimate.low == estimate.high == pytest.approx(estimate.value)


def test_one_who_says_what_is_true_is_calibrated() -> None:
    rng = np.random.default_rng(5)
    said = rng.random(4000)
    estimate = miscalibration(list(said), list(rng.random(4000) < said), [str(i % 200) for i in range(4000)])
    assert estimate.value < 0.03
    overconfident = miscalibration(list(said**0.5), list(rng.random(4000) < said), [str(i % 200) for i in range(4000)])
    assert overconfident.low > 0.1


@pytest.mark.slow
def test_every_agent_of_a_world_is_named_in_its_picture_and_every_world_is_in_the_overview() -> None:
    episodes = [
        Episode(world, f"agent_{i}", "1", told(i > 2), float(i), 8.0, 0.0)
        for world in ("here", "there")
        for i in range(9)
    ]
    points = literal_functional_plots.points(scores(episodes))
    text = inline(literal_functional_plots.panel(points["here"], 4.8))
    assert all(f"agent {i}<" in text for i in range(9))
    (axes,) = literal_functional_plots.panel(points["here"], 4.8).axes
    gains = sorted((gained for _, _, gained in points["here"]), reverse=True)
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_color() == literal_functional_plots.COLOURS[1]]  # type: ignore[index]
    assert dots == pytest.approx(gains)
    rings = {line.get_xdata()[0] for line in axes.lines if line.get_markerfacecolor() == "white"}  # type: ignore[index]
    assert rings == {literal for _, literal, _ in points["here"] if literal is not None}
    both = inline(literal_functional_plots.overview(points, {"First": ("here",), "Second": ("there",)}, 6.4))
    assert "First" in both
    assert "Second" in both
