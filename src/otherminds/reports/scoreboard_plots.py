"""Figures of the scoreboard: what agents know against what they make of it, in all worlds at once and in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.files.text import printable
from otherminds.reports.plots import SOFT, WIDER, styled

Row = Mapping[str, Any]
Point = tuple[str, float | None, float]
"""An agent, the share of its expectations that came about (None if it had none), and what it gained of all there is."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
LONGEST = 24
SILENT = -0.14
"""Where those are drawn who expect nothing."""
LEAST = -0.35
LINE = 0.17
"""Inches for a label."""


def points(scores: Sequence[Row]) -> dict[str, list[Point]]:
    """The agents of every world in which somebody's gain is known."""
    found: dict[str, list[Point]] = {}
    values = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in scores}
    for (world, agent, metric), value in values.items():
        if metric == "functional":
            found.setdefault(world, []).append((agent, values.get((world, agent, "literal")), value))
    return found


@styled
def overview(found: Mapping[str, Sequence[Point]], families: Mapping[str, Sequence[str]]) -> Figure:
    """Every agent in every world, coloured by the family of the world."""
    figure = Figure(figsize=(6.4, 4.0))
    axes = figure.subplots()
    _ground(axes)
    for (family, worlds), colour in zip(families.items(), COLOURS, strict=False):
        shown = [point for world in worlds for point in found.get(world, ())]
        known, gained = [_x(point) for point in shown], [max(point[2], LEAST) for point in shown]
        axes.plot(known, gained, "o", color=colour, alpha=0.75, markersize=5, markeredgewidth=0, label=family)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    _finish(axes)
    return figure


@styled
def panel(shown: Sequence[Point]) -> Figure:
    """The agents of one world, each with its name beside the picture, in the order of what they gain."""
    ranked = sorted(shown, key=lambda point: -point[2])
    figure = Figure(figsize=(WIDER + 0.6, max(2.3, LINE * len(ranked) + 0.7)))
    axes = figure.subplots()
    _ground(axes)
    for point, y in zip(ranked, _spread([max(point[2], LEAST) for point in ranked], figure), strict=True):
        x, gained = _x(point), max(point[2], LEAST)
        axes.plot(x, gained, "o", color=COLOURS[0], markersize=5, markeredgewidth=0, zorder=3)
        name = printable(point[0])[:LONGEST].replace("_", " ")
        axes.plot([x, 1.04, 1.09], [gained, y, y], color=SOFT, linewidth=0.4, clip_on=False)
        axes.text(1.11, y, name, fontsize=8, va="center", clip_on=False)
    _finish(axes)
    return figure


def _x(point: Point) -> float:
    return SILENT if point[1] is None else point[1]


def _spread(heights: Sequence[float], figure: Figure) -> list[float]:
    """Heights for labels: in the same order, from the top down, none so close to the next that they would overlap."""
    step = (1.15 - LEAST) * LINE / (figure.get_figheight() - 0.6)
    found: list[float] = []
    for height in heights:
        found.append(min(height, found[-1] - step) if found else height)
    below = (LEAST - 0.02) - found[-1]
    for i in range(len(found) - 1, -1, -1):
        floor = LEAST - 0.02 if i == len(found) - 1 else found[i + 1] + step
        found[i] = max(found[i], floor) if below > 0 else found[i]
    return found


def _ground(axes: Axes) -> None:
    axes.axhline(0, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axhline(1, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axvline(0, color=SOFT, linewidth=0.5)


def _finish(axes: Axes) -> None:
    axes.set(xlim=(SILENT - 0.05, 1.04), ylim=(LEAST - 0.05, 1.15))
    axes.set_xticks([SILENT, 0, 0.25, 0.5, 0.75, 1], ["none", "0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set(xlabel="Literal: expectations that came about", ylabel="Functional: gain")
