"""Figures of how settings were chosen: what is drawn where, and that what is missing is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.reports.page import inline
from otherminds.reports.plots import SWEPT, sweeps

VALUES = {"epsilon": (0.0, 0.3, 0.8), "particles": (1, 5), "zest": (2, 2.5)}
CHOSEN = {"epsilon": 0.3, "cost": 2.0, "particles": 5, "zest": 3}
LABELS = {label for label, _, _ in SWEPT.values()}
SUCCESS, SHARE, MESSAGES = SWEPT


def row(case: tuple[str, str], subject: str, value: float, **more: Any) -> dict[str, Any]:
    condition, metric = case
    about = {"condition": condition, "subject": subject, "metric": metric}
    return {**about, "value": value, "low": value - 0.125, "high": value + 0.0625, "n": 4, **more}


SUMMARY = [
    row(SUCCESS, "protom_epsilon_0", 0.25),
    row(SUCCESS, "protom", 0.5),
    row(SUCCESS, "protom_epsilon_0.8", 0.75),
    row(SHARE, "protom_epsilon_0.8", 1.0),
    row(MESSAGES, "protom_epsilon_0", 0.875),
    row(MESSAGES, "protom_particles_1", 0.0, low=0.0, high=0.0),
    row(SUCCESS, "protom_zest_2.5", 0.375),
    # of no concern here
    row(SUCCESS, "protom_epsilon_0.3", 0.1),
    row(SUCCESS, "protom_cost_4", 0.2),
    row(SUCCESS, "protom_paper", 0.3),
    row(("heldout/all", "success"), "protom_epsilon_0", 0.4),
    row(("tuning/useful", "success"), "protom_epsilon_0", 0.4),
    row(("tuning/all", "messages"), "protom_epsilon_0", 0.4),
]


def drawn(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """The points of every line, by its label."""
    return {
        str(bars.get_label()): [(float(x), float(y)) for x, y in np.asarray(bars[0].get_xydata())]
        for bars in axes.containers
    }


def texts(figure: Figure) -> str:
    return " ".join(ElementTree.fromstring(inline(figure)).itertext())


def test_every_setting_has_a_panel_with_a_line_for_every_figure() -> None:
    epsilon, particles, zest = sweeps(SUMMARY, VALUES, CHOSEN).axes
    label = {case: SWEPT[case][0] for case in SWEPT}
    assert len(label) == len(LABELS) == 3
    assert drawn(epsilon) == {
        label[SUCCESS]: [(0.0, 0.25), (0.3, 0.5), (0.8, 0.75)],
        label[SHARE]: [(0.8, 1.0)],
        label[MESSAGES]: [(0.0, 0.875)],
    }
    assert drawn(particles) == {label[SUCCESS]: [(5.0, 0.5)], label[SHARE]: [], label[MESSAGES]: [(1.0, 0.0)]}
    assert drawn(zest) == {label[SUCCESS]: [(2.5, 0.375)], label[SHARE]: [], label[MESSAGES]: []}


@pytest.mark.slow
def test_panels_say_what_is_varied_and_the_legend_what_is_measured() -> None:
    figure = sweeps(SUMMARY, VALUES, CHOSEN)
    names = [axes.get_xlabel() for axes in figure.axes]
    assert "probable" in names[0]
    assert "particles" in names[1]
    assert names[2] == "zest"
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == LABELS
    shown = texts(figure)
    assert all(words in shown for words in names)


def test_the_chosen_value_is_dashed() -> None:
    for axes, setting in zip(sweeps(SUMMARY, VALUES, CHOSEN).axes, VALUES, strict=True):
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert [[float(x) for x in np.asarray(line.get_xdata())] for line in dashed] == [[CHOSEN[setting]] * 2]


def test_intervals_reach_from_the_low_end_to_the_high_one() -> None:
    axes = sweeps(SUMMARY, VALUES, CHOSEN).axes[0]
    (bars,) = [bars for bars in axes.containers if bars.get_label() == SWEPT[SUCCESS][0]]
    (segments,) = [collection.get_segments() for collection in bars[2]]
    ends = [[float(y) for y in segment[:, 1]] for segment in segments]
    assert ends == pytest.approx(np.array([[v - 0.125, v + 0.0625] for v in (0.25, 0.5, 0.75)]))


def test_panels_share_an_axis_on_which_shares_can_be_read() -> None:
    figure = sweeps(SUMMARY, VALUES, CHOSEN)
    low, high = figure.axes[0].get_ylim()
    assert low < 0 < 1 < high < 1.5
    assert {axes.get_ylim() for axes in figure.axes} == {(low, high)}


@pytest.mark.slow
@pytest.mark.parametrize("values", [VALUES, {"epsilon": (0.3,)}])
def test_a_figure_of_nothing_is_drawn(values: Mapping[str, tuple[float, ...]]) -> None:
    figure = sweeps([], values, CHOSEN)
    assert [drawn(axes) for axes in figure.axes] == [{label: [] for label in LABELS}] * len(values)
    assert "probable" in texts(figure)
