"""Figures of literal against functional Theory of Mind: the scoreboard over worlds, and the check of an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.files.text import printable
from otherminds.reports.page import agent_name
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled, with_axes

Row = Mapping[str, Any]
Point = tuple[str, float | None, float]
"""An agent, the share of its expectations that came about (None if it had none), and what it gained of all there is."""

COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FAILED = "#d55e00"
LONGEST = 24  # characters of the name of an agent; chosen
SILENT = -0.14  # where agents without expectations are drawn
LEAST = -0.35  # gains below this are drawn at it
LINE = 0.17  # inches for a label


def points(scores: Sequence[Row]) -> dict[str, list[Point]]:
    """The agents of every world in which the gain of an agent is known."""
    by_world: dict[str, list[Point]] = {}
    values = {(row["condition"], row["subject"], row["metric"]): row["value"] for row in scores}
    for (world, agent, metric), value in values.items():
        if metric == "functional":
            by_world.setdefault(world, []).append((agent, values.get((world, agent, "literal")), value))
    return by_world


@styled
def overview(by_world: Mapping[str, Sequence[Point]], families: Mapping[str, Sequence[str]], width: float) -> Figure:
    """Every agent in every world, coloured by the family of the world."""
    figure, axes = with_axes(width, 4.0)
    for (family, worlds), colour in zip(families.items(), COLOURS, strict=False):
        places = [_place(point) for world in worlds for point in by_world.get(world, ())]
        literal, gained = [x for x, _ in places], [y for _, y in places]
        axes.plot(literal, gained, "o", color=colour, alpha=0.75, markersize=5, markeredgewidth=0, label=family)
    beside = width > WIDER
    figure.legend(
        loc="outside right upper" if beside else "outside upper left", frameon=False, ncols=1 if beside else 2
    )
    _finish(axes)
    return figure


@styled
def panel(shown: Sequence[Point], width: float) -> Figure:
    """The agents of one world, each with its name beside the figure, in the order of their gains."""
    ranked = sorted(shown, key=lambda point: -point[2])
    figure, axes = with_axes(width, max(2.3, LINE * len(ranked) + 0.7))
    places = [_place(point) for point in ranked]
    for point, (x, gained), y in zip(ranked, places, _spread([y for _, y in places], figure), strict=True):
        axes.plot(x, gained, "o", color=COLOURS[0], markersize=5, markeredgewidth=0, zorder=3)
        name = printable(agent_name(point[0]))[:LONGEST]
        axes.plot([x, 1.04, 1.09], [gained, y, y], color=SOFT, linewidth=0.4, clip_on=False)
        axes.text(1.11, y, name, fontsize=8, va="center", clip_on=False)
    _finish(axes)
    return figure


def _place(point: Point) -> tuple[float, float]:
    """Where an agent is drawn."""
    _, literal, gained = point
    return SILENT if literal is None else literal, max(gained, LEAST)


def _spread(heights: Sequence[float], figure: Figure) -> list[float]:
    """Heights for labels: in the same order, from the top down, none so close to the next that they would overlap."""
    step = (1.15 - LEAST) * LINE / (figure.get_figheight() - 0.6)
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - step) if placed else height)
    floor = LEAST - 0.02
    for i in reversed(range(len(placed) if placed[-1] < floor else 0)):
        placed[i] = max(placed[i], floor)
        floor = placed[i] + step
    return placed


def _finish(axes: Axes) -> None:
    for gain in (0, 1):
        axes.axhline(gain, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axvline(0, color=SOFT, linewidth=0.5)
    axes.set(xlim=(SILENT - 0.05, 1.04), ylim=(LEAST - 0.05, 1.15))
    axes.set_xticks([SILENT, 0.5, 1], ["none", "50 %", "100 %"])
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set(xlabel="Literal: expectations that came about", ylabel="Functional: gain")


@styled
def known_and_lost(points: Sequence[tuple[str, float, float, bool]], most: float = 0.5) -> Figure:
    """Every agent by what its wrong predictions would cost and what it loses, as shares of what random play loses."""
    figure, axes = with_axes(WIDER, 3.4)
    values = [value for _, cost, lost, _ in points for value in (cost, lost)]
    top, bottom = max([1.2, most, *values]) + 0.15, min([0.0, *values]) - 0.04  # a lucky agent loses less than nothing
    axes.axhline(most, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axvline(most, color=SOFT, linewidth=0.8, linestyle=":")
    axes.plot([0, top], [0, top], color=SOFT, linewidth=0.5)
    for name, cost, lost, passed in points:
        axes.plot(cost, lost, "o", color=BLUE if passed else FAILED, clip_on=False)
        axes.annotate(printable(name)[:LONGEST], (cost, lost), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.set(xlim=(bottom, top), ylim=(bottom, top), xlabel="Wrong predictions would lose", ylabel="It loses")
    return figure
