"""Figures of repeated games show what rows and summary say, leave out what is not there, and survive hostile names."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.reports.game_plots import (
    CELLS,
    GAMES,
    LEARNERS,
    LEFT_OUT,
    PLAYERS,
    literal_against_functional,
    regret_by_machine,
    regret_by_noise,
    regret_over_rounds,
)
from otherminds.reports.page import inline

Row = dict[str, Any]
HOSTILE = "<script>alert(1)</script> $x^{ \x1b\u202e"


def line(condition: str, subject: str, metric: str, value: float, margin: float = 0.0) -> Row:
    about = {"experiment": "functional", "condition": condition, "subject": subject, "metric": metric}
    return {**about, "value": value, "low": value - margin, "high": value + margin, "n": 3}


def scored(condition: str, subject: str, percent: float, regret: float) -> list[Row]:
    metrics = {"tom_percent": percent, "functional_regret_exact": regret}
    return [line(condition, subject, metric, value) for metric, value in metrics.items()]


def episode(condition: str, subject: str, partner: str, lost: list[float], number: int = 0, **more: Any) -> list[Row]:
    base = {"condition": condition, "subject": subject, "partner": partner, "episode": f"{partner}/{number}"}
    rows = [{**base, "policy": "own", "t": t, "best": 5.0, "reward": 5.0 - loss} for t, loss in enumerate(lost)]
    rows[-1] |= {"functional_regret": sum(lost) / len(lost), **more}
    return rows


def panel(figure: Figure, condition: str) -> Axes:
    return figure.axes[CELLS.index(condition)]


def points(axes: Axes, colour: str) -> list[tuple[float, float]]:
    """The last point of every line of a colour."""
    return [path[-1] for path in paths(axes, colour)]


def paths(axes: Axes, colour: str) -> list[list[tuple[float, float]]]:
    """The lines of a colour, point by point."""
    lines = [np.asarray(drawn.get_xydata(), float) for drawn in axes.lines if drawn.get_color() == colour]
    return [[(float(x), float(y)) for x, y in points] for points in lines]


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_players_can_be_told_apart() -> None:
    assert len({(mark.colour, mark.shape) for mark in PLAYERS.values()}) == len(PLAYERS)
    assert len({mark.name for mark in PLAYERS.values()}) == len(PLAYERS)


# Predicting against acting


def test_predictions_stand_against_regrets_cell_by_cell() -> None:
    summary = [*scored("ipd/tft", "fictitious_play", 98.0, 2.97), *scored("ipd/tft", "floor", 100.0, 0.05)]
    figure = literal_against_functional(summary, {"rps/single": [(63.7, 0.074)]})
    assert [axes.get_title(loc="left") for axes in figure.axes][-1] == f"{GAMES['ipd']}\ntit for tat"
    assert points(panel(figure, "ipd/tft"), PLAYERS["fictitious_play"].colour) == [(98.0, 2.97)]
    assert (1.0, 0.05) in points(panel(figure, "ipd/tft"), "black")
    assert points(panel(figure, "rps/single"), "#7d838b") == [(63.7, 0.074)]
    assert not panel(figure, "ibs/single").lines


@pytest.mark.slow
def test_only_those_who_played_are_in_the_legend() -> None:
    summary = scored("rps/single", "rmax", 97.0, 0.1)
    assert labels(literal_against_functional(summary, {})) == ["Bayes floor", "RMax"]
    assert labels(literal_against_functional(summary, {"rps/single": [(50.0, 1.0)]}))[0].endswith("as published")


@pytest.mark.slow
def test_nothing_is_drawn_beyond_the_edge() -> None:
    worst = [*scored("ibs/tft", "rmax", 3.0, 10.0), *scored("ibs/tft", "bayes_simplicity", 100.0, 0.0)]
    axes = panel(literal_against_functional(worst, {"ibs/tft": [(2.0, 10.0)]}), "ibs/tft")
    assert axes.get_xlim()[0] < 2.0 < 100.0 < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < 0.0 < 10.0 < axes.get_ylim()[1]


# Regret over rounds


@pytest.mark.slow
def test_curves_end_at_the_mean_of_what_was_lost() -> None:
    rows = [
        *episode("ibs/single", "rmax", "always Fight", [1.0, 0.0, 2.0]),
        *episode("ibs/single", "rmax", "always Fight", [1.0, 0.0, 4.0], 1),
        *episode("ibs/single", "rmax", "always Ballet", [0.0, 0.0, 0.0]),
        *episode("ibs/single", "floor", "always Ballet", [0.0, 0.5, 0.0]),
    ]
    rows += [{**row, "policy": "myopic", "best": 99.0} for row in rows]
    figure = regret_over_rounds(rows)
    assert points(panel(figure, "ibs/single"), PLAYERS["rmax"].colour) == [(3.0, 2.0)]  # all partners weigh the same
    assert points(panel(figure, "ibs/single"), "black") == [(3.0, 0.5)]
    (band,) = panel(figure, "ibs/single").collections
    low, high = band.get_paths()[0].get_extents().intervaly
    assert (low, high) == (0.5, pytest.approx(2.98, abs=0.001))  # 1.96 standard errors, over episodes with each partner


@pytest.mark.slow
def test_curves_may_go_below_zero() -> None:
    axes = panel(regret_over_rounds(episode("ipd/tft", "rmax", "tft", [-2.0, 5.0])), "ipd/tft")
    assert axes.get_ylim()[0] < -2.0
    assert axes.get_xlim()[0] == 0.0


# Noise


def test_noise_has_a_point_with_an_interval_for_every_level() -> None:
    conditions = ("ipd/tft", "ipd/tft_noise05", "ipd/tft_noise10")
    summary = [line(c, "rmax", "functional_regret_exact", 0.25 * (1 + i), 0.1) for i, c in enumerate(conditions)]
    axes = panel(regret_by_noise(summary), "ipd/tft")
    mean, *intervals = paths(axes, PLAYERS["rmax"].colour)
    assert [(round(x), y) for x, y in mean] == [(0, 0.25), (5, 0.5), (10, 0.75)]
    assert [[round(y, 2) for _, y in whisker] for whisker in intervals] == [[0.15, 0.35], [0.4, 0.6], [0.65, 0.85]]


# Machine by machine


def test_machines_are_in_the_order_of_the_tabular_players_regret() -> None:
    rows = [
        *episode("ipd/machines", "rmax", "Grudger", [3.0]),
        *episode("ipd/machines", "rmax", "Grudger", [5.0], 1),
        *episode("ipd/machines", "rmax", "Alternator", [1.0]),
        *episode("ipd/machines", "bayes_closed", "Alternator", [0.5]),
        *episode(LEFT_OUT, "bayes_library", "Alternator", [0.75]),
        *episode("ipd/machines", "tft", "Alternator", [9.0]),
    ]
    figure = regret_by_machine(rows)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Alternator", "Grudger"]
    assert points(axes, PLAYERS["rmax"].colour) == [(1.0, 0.0), (4.0, 1.0)]
    assert points(axes, PLAYERS["bayes_library"].colour) == [(0.5, 0.0), (0.75, 0.0)]
    assert labels(figure)[-1] == "without this machine"


@pytest.mark.slow
def test_hostile_names_are_text_in_figures() -> None:
    drawing = inline(regret_by_machine(episode("ipd/machines", "rmax", HOSTILE, [1.0])))
    assert "<script" not in drawing
    assert "&lt;script&gt;" in drawing
    assert "\x1b" not in drawing
    assert "\u202e" not in drawing


# All figures

FIGURES = {
    "scatter": lambda: literal_against_functional(scored("ipd/tft", "rmax", 98.0, 0.25), {}),
    "rounds": lambda: regret_over_rounds(episode("ipd/tft", "rmax", "tft", [1.0, 2.0])),
    "noise": lambda: regret_by_noise(scored("ipd/tft_noise05", "rmax", 98.0, 0.25)),
    "machines": lambda: regret_by_machine(episode("ipd/machines", "rmax", "Grudger", [1.0])),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_the_same_whatever_the_users_settings(name: str) -> None:
    before = inline(FIGURES[name]())
    with matplotlib.rc_context({"axes.spines.top": True, "axes.linewidth": 9.0, "axes.titlesize": 30.0}):
        assert inline(FIGURES[name]()) == before


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_wide_as_others(name: str) -> None:
    assert FIGURES[name]().get_figwidth() == pytest.approx(4.2)


@pytest.mark.slow
def test_figures_of_nothing_are_empty() -> None:
    for figure in (literal_against_functional([], {}), regret_over_rounds([]), regret_by_noise([])):
        assert len(figure.axes) == len(CELLS)
        assert inline(figure)
    assert inline(regret_by_machine([]))
    assert set(LEARNERS) <= set(PLAYERS)
