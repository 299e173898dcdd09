"""The picture of a check: a bar for every loss, its predicted part, its interval, and the limit."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.colors import to_hex

from otherminds.evaluation.statistics import Estimate, exact
from otherminds.reports.literal_functional_plots import (
    COLOUR_OF_VERDICT,
    LONGEST,
    WORST_SHOWN,
    LossBar,
    losses,
)
from otherminds.reports.plots import SOFT

BARS = (
    LossBar("good", Estimate(0.1, 0.05, 0.15, 9), 0.02, "passes"),
    LossBar("bad", Estimate(1.2, 1.1, 1.3, 9), 1.0, "fails"),
    LossBar("unclear", Estimate(0.5, 0.3, 0.7, 9), 0.5, "open"),
    LossBar("silent", exact(float("nan"), 0), float("nan"), "not measured"),
    LossBar("known", Estimate(0.3, 0.3, 0.3, 9), 0.1),
)


def drawn(bars: Any, **about: Any) -> Any:
    (axes,) = losses(bars, 0.5, 4.0, **about).axes
    return axes


def test_every_bar_is_a_loss_and_its_dark_part_had_been_predicted() -> None:
    axes = drawn(BARS)
    measured = [bar for bar in BARS if bar.loss.n]
    ends = [(bar.loss.value, bar.predicted) for bar in measured]
    pairs = zip(axes.patches[::2], axes.patches[1::2], strict=True)
    assert [(whole.get_width(), part.get_width()) for whole, part in pairs] == ends
    assert all(patch.get_x() == 0.0 for patch in axes.patches)
    assert [patch.get_alpha() for patch in axes.patches[:2]] == [0.35, 1.0]
    colours = [COLOUR_OF_VERDICT.get(bar.verdict, SOFT) for bar in measured]
    assert [to_hex(patch.get_facecolor()) for patch in axes.patches[::2]] == colours
    whiskers = [tuple(line.get_xdata()) for line in axes.lines if line.get_ydata()[0] == line.get_ydata()[1]]
    assert whiskers == [(bar.loss.low, bar.loss.high) for bar in measured]


def test_agents_are_named_with_their_verdict_and_what_could_not_be_measured_has_no_bar() -> None:
    texts = [text.get_text() for text in drawn(BARS).texts]
    assert texts == [
        *("limit 0.5", "good: passes, 0.10", "bad: fails, 1.20", "unclear: open, 0.50"),
        *("silent: not measured", "known: 0.30"),
    ]
    long = drawn([LossBar("n" * 99, exact(0.1, 9), 0.0)]).texts[1].get_text()
    assert long == "n" * (LONGEST - 1) + "…: 0.10"


def test_every_row_has_the_limit_beside_its_bar_and_no_name_is_crossed() -> None:
    axes = drawn(BARS, people=(0.2, 0.9))
    limits = [line for line in axes.lines if set(line.get_xdata()) == {0.5}]
    assert len(limits) == len(BARS) + 1
    for row, line in enumerate(limits):
        top, bottom = line.get_ydata()
        name = axes.texts[row + 1]
        assert row - 0.5 < name.get_position()[1] < top < bottom < row + 0.5


def test_people_are_a_range() -> None:
    axes = drawn(BARS, people=(0.2, 0.9))
    assert axes.texts[-1].get_text() == "people, with other partners: 0.20–0.90"
    assert (axes.patches[-1].get_x(), axes.patches[-1].get_width()) == pytest.approx((0.2, 0.7))


@pytest.mark.parametrize(("loss", "limit"), [(9.0, 0.5), (0.1, 7.0)])
def test_everything_fits_the_scale(loss: float, limit: float) -> None:
    axes: Any = losses([LossBar("x", exact(loss, 9), 0.0, "fails")], limit, 4.0).axes[0]
    assert axes.get_xlim()[1] > max(limit, min(loss, WORST_SHOWN))
    assert max(patch.get_width() for patch in axes.patches) <= WORST_SHOWN
