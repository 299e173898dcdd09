"""Figures of literal against functional Theory of Mind: the scoreboard over worlds, and the check of an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.evaluation.statistics import Estimate
from otherminds.files.text import printable
from otherminds.reports.page import agent_name
from otherminds.reports.plots import BLUE, SMALL, SOFT, WIDER, styled, whisker, with_axes

Row = Mapping[str, Any]
Point = tuple[str, float | None, float]
"""An agent, the share of its expectations that came about (None if it had none), and what it gained of all there is."""

COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
COLOUR_OF_VERDICT = {"passes": BLUE, "fails": "#d55e00", "open": "#e69f00"}
LONGEST = 24  # characters of the name of an agent; chosen
SILENT = -0.14  # where agents without expectations are drawn
LEAST = -0.35  # gains below this are drawn at it
ROW_OF_PANEL = 0.24  # inches for an agent in a panel
ROW = 0.42  # inches for an agent and its loss
MOST = 1.15  # the scale of losses goes at least so far: random play loses 1
WORST_SHOWN = 2.0  # losses above this are drawn at it


def points(scores: Sequence[Row]) -> dict[str, list[Point]]:
    """The agents of every world in which their gain is known, as points of a panel, by world."""
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
        positions = [_place(point) for world in worlds for point in by_world.get(world, ())]
        literal, gained = [x for x, _ in positions], [y for _, y in positions]
        axes.plot(literal, gained, "o", color=colour, alpha=0.75, markersize=5, markeredgewidth=0, label=family)
    beside = width > WIDER
    figure.legend(
        loc="outside right upper" if beside else "outside upper left", frameon=False, ncols=1 if beside else 2
    )
    _finish(axes)
    return figure


@styled
def panel(shown: Sequence[Point], width: float) -> Figure:
    """The agents of one world, the best first: the share that each foresaw (a ring), and that it gained (a dot)."""
    ranked = sorted(shown, key=lambda point: -point[2])
    figure, axes = with_axes(width, ROW_OF_PANEL * len(ranked) + 0.9)
    for y, point in enumerate(ranked):
        foresaw, gained = _place(point)
        if point[1] is not None:
            axes.plot([gained, foresaw], [y, y], color=SOFT, linewidth=1.0, zorder=1)
            axes.plot(foresaw, y, "o", color=BLUE, markerfacecolor="white", label="" if y else "foresaw")
        axes.plot(gained, y, "o", color=COLOURS[1], markersize=6, label="" if y else "gained")
    names = [printable(agent_name(agent))[:LONGEST] for agent, _, _ in ranked]
    axes.set_yticks(range(len(ranked)), names)
    axes.set(xlim=(min([-0.05, *(_place(point)[1] - 0.05 for point in ranked)]), 1.05), ylim=(len(ranked) - 0.4, -0.6))
    axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    axes.tick_params(left=False)
    axes.axvline(0, color=SOFT, linewidth=0.6)
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    return figure


def _place(point: Point) -> tuple[float, float]:
    """The position of an agent in a panel: its literal score, or SILENT, and its gain, at least LEAST."""
    _, literal, gained = point
    return SILENT if literal is None else literal, max(gained, LEAST)


def _finish(axes: Axes) -> None:
    """Draw the lines of gain 0 and 1, and set the ranges, ticks and names of the axes."""
    for gain in (0, 1):
        axes.axhline(gain, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axvline(0, color=SOFT, linewidth=0.5)
    axes.set(xlim=(SILENT - 0.05, 1.04), ylim=(LEAST - 0.05, 1.15))
    axes.set_xticks([SILENT, 0.5, 1], ["none", "50 %", "100 %"])
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set(xlabel="Literal: expectations that came about", ylabel="Functional: gain")


Place = tuple[float, float, float]
"""A value and its interval on a scale from 0, what needs no understanding of others, to 1, the best."""


@styled
def places(by_task: Mapping[str, tuple[Place | None, Place | None]], width: float) -> Figure:
    """How well an agent predicts or understands (a ring) and acts (a dot) in each task, with intervals."""
    figure, axes = with_axes(width, 0.9 + ROW * len(by_task))
    for y, (task, marks) in enumerate(by_task.items()):
        _label(axes, y, task)
        axes.plot([0, 1], [y + 0.15, y + 0.15], color=SOFT, linewidth=0.8, alpha=0.5, zorder=1)
        shifts = (0.15, 0.15) if None in marks else (0.08, 0.22)
        for place, colour, fill, shift in zip(marks, COLOURS, ("white", COLOURS[1]), shifts, strict=False):
            if place is not None:
                value, low, high = (min(max(x, LEAST), MOST) for x in place)
                whisker(axes, y + shift, low, high, colour, 1.0)
                axes.plot(value, y + shift, "o", color=colour, markerfacecolor=fill, markersize=6, zorder=3)
    for colour, fill, words in zip(COLOURS, ("white", COLOURS[1]), ("predicts, understands", "acts"), strict=False):
        axes.plot([], [], "o", color=colour, markerfacecolor=fill, markersize=6, label=words)
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    axes.axvline(0, color=SOFT, linewidth=0.6)
    axes.set(xlim=(LEAST - 0.05, MOST), ylim=(len(by_task) - 0.5, -0.6), yticks=[])
    axes.set_xticks([0, 1], ["no understanding", "best"])
    return figure


class LossBar(NamedTuple):
    """What an agent loses, the part of it in rounds in which it had predicted its partner rightly, and its verdict.

    An agent that is only there for comparison has no verdict (""), one that was not measured has no loss (n = 0).
    """

    agent: str
    loss: Estimate
    predicted: float
    verdict: str = ""


@styled
def losses(bars: Sequence[LossBar], limit: float, width: float, people: tuple[float, float] | None = None) -> Figure:
    """A bar for every agent's loss, from the best possible play to random play; its dark part had been predicted.

    A line over its end is the interval. `people`: their lowest and highest mean loss with other partners.
    """
    rows = len(bars) + (people is not None)
    figure, axes = with_axes(width, 0.75 + ROW * rows)
    most = max([MOST, limit, *(min(bar.loss.high, WORST_SHOWN) for bar in bars if bar.loss.n)])
    axes.text(limit, -0.85, f"limit {limit:g}", ha="center", color=SOFT, fontsize=SMALL)
    for y in range(rows):  # a dash beside each bar, which crosses no name
        axes.plot([limit, limit], [y - 0.05, y + 0.35], color="black", linewidth=0.9, zorder=3)
    for y, bar in enumerate(bars):
        _loss_bar(axes, y, bar)
    if people is not None:
        axes.barh(rows - 0.85, people[1] - people[0], left=people[0], height=0.3, color=SOFT, alpha=0.35, linewidth=0)
        _label(axes, rows - 1, f"people, with other partners: {people[0]:.2f}–{people[1]:.2f}")
    axes.set(xlim=(0, 1.08 * most), ylim=(rows - 0.5, -0.75), yticks=[])
    axes.set_xticks([0, 1], ["best possible", "random play"])
    axes.get_xticklabels()[0].set_horizontalalignment("left")
    return figure


def _loss_bar(axes: Axes, y: float, bar: LossBar) -> None:
    """The bar of an agent below its name, and the line of its interval; only the name if it was not measured."""
    name = printable(bar.agent)
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    if bar.loss.n:
        colour = COLOUR_OF_VERDICT.get(bar.verdict, SOFT)
        for end, alpha in ((bar.loss.value, 0.35), (bar.predicted, 1.0)):
            axes.barh(y + 0.15, min(end, WORST_SHOWN), height=0.3, color=colour, alpha=alpha, linewidth=0)
        whisker(axes, y + 0.15, bar.loss.low, min(bar.loss.high, WORST_SHOWN), "black", 1.2)
    result = [bar.verdict, f"{bar.loss.value:.2f}" if bar.loss.n else ""]
    _label(axes, y, f"{name}: {', '.join(filter(None, result))}", bold=bool(bar.verdict))


def _label(axes: Axes, y: float, words: str, *, bold: bool = False) -> None:
    axes.text(0.01, y - 0.08, words, fontsize=9, weight="bold" if bold else "normal", va="bottom")
