"""Figures of fits of minds to people: intervals, checks by simulated people, shares of minds, recovery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from otherminds.evaluation.fitting import Fit
from otherminds.evaluation.model_comparison import Predictive, Recovery
from otherminds.reports.page import number
from otherminds.reports.plots import BLUE, LETTER, SMALL, SOFT, WIDTH, PlotMark, styled, whisker, with_axes, wrapped

Floats = NDArray[np.float64]
COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", SOFT)
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
ORANGE = COLOURS[1]
# 32 shades: matplotlib would draw a scale of 50 or more as an image, which pages do not load
SHADES = matplotlib.colormaps["cividis"].resampled(32)
BESIDE = 0.45  # share of the width of a figure that names beside its axes may take
CROWDED = 20  # lines of a figure of intervals above which they are closer together
PAINTED = 60  # people of a group above which their dots are smaller
CURVES = (("switches", "switch rate"), ("earned", "points"))
"""The quantities of a `Predictive`, and their names."""


class Line(NamedTuple):
    """A line of a figure of intervals; bounds that are NaN are not drawn, and the mark is open."""

    name: str
    value: float
    low: float
    high: float
    mark: PlotMark


PLAIN = PlotMark("", BLUE, "o")


def marks_of(groups: Iterable[str]) -> dict[str, PlotMark]:
    """A colour and a shape for each group: 49 pairs that differ, then the same again."""
    return {
        group: PlotMark(group, COLOURS[i % len(COLOURS)], SHAPES[(i + i // len(COLOURS)) % len(SHAPES)])
        for i, group in enumerate(dict.fromkeys(groups))
    }


@styled
def intervals(
    lines: Sequence[Line], label: str, reference: tuple[float, str] | None = None, width: float = WIDTH
) -> Figure:
    """Values with their intervals, one below the other; `reference` is a value with its name, drawn as a line.

    A legend has the marks if there are several.
    """
    marks = dict.fromkeys(line.mark for line in lines)
    is_crowded = len(lines) > CROWDED
    legend, across, legend_height = _legend([mark.name for mark in marks], width)
    names, tallest = _beside((line.name for line in lines), width)
    height = (0.15 if is_crowded else 0.23) + 0.13 * (tallest - 1)
    figure, axes = with_axes(width, 0.75 + height * len(lines) + legend_height)
    for y, line in enumerate(lines):
        has_bounds = bool(np.isfinite(line.low) and np.isfinite(line.high))
        if has_bounds:
            whisker(axes, y, line.low, line.high, line.mark.colour, 1.2)
        axes.plot(
            *(line.value, y, line.mark.shape),
            color=line.mark.colour,
            markersize=3.5 if is_crowded else 5,
            fillstyle="full" if has_bounds else "none",
            clip_on=False,
        )
    if reference is not None:
        axes.axvline(reference[0], color=SOFT, linewidth=0.8, linestyle="--", zorder=0)
        axes.annotate(
            *(reference[1], (reference[0], 1.0)),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
            color=SOFT,
        )
    axes.set_yticks(range(len(lines)), names, fontsize=SMALL)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(label)
    if len(marks) > 1:
        for mark, name in zip(marks, legend, strict=True):
            axes.plot([], [], mark.shape, color=mark.colour, markersize=4, label=name)
        figure.legend(loc="outside upper left", ncols=across, frameon=False, fontsize=SMALL)
    return figure


@styled
def parameters_by_group(fit: Fit, groups: Sequence[str], width: float = WIDTH) -> Figure:
    """Each person's value of each parameter, by group; `groups` has the group of each person."""
    names = list(dict.fromkeys(groups))
    parameters = len(fit.mind.parameters)
    shown, tallest = _beside(names, width)
    figure = Figure(figsize=(width, (0.55 + (0.09 + 0.13 * tallest) * len(names)) * parameters))
    rng = np.random.default_rng(0)
    panels = figure.subplots(parameters, 1, squeeze=False)[:, 0]
    for axes, (parameter, values) in zip(panels, fit.values.items(), strict=True):
        for y, name in enumerate(names):
            points = np.array([v for v, group in zip(values, groups, strict=True) if group == name])
            size = 3 if len(points) > PAINTED else 6
            axes.plot(points, y + rng.uniform(-0.25, 0.25, len(points)), ".", color=BLUE, markersize=size, alpha=0.5)
            axes.plot([np.median(points)] * 2, [y - 0.35, y + 0.35], color=ORANGE, linewidth=1.5)
        axes.set_yticks(range(len(names)), shown, fontsize=SMALL)
        axes.invert_yaxis()
        axes.set_xlabel(parameter)
    return figure


@styled
def curves(pairs: Mapping[str, tuple[Predictive, Predictive]], width: float, rounds: str = "rounds") -> Figure:
    """Switch rates and earnings by block, of people (solid) and of simulated people (dashed), a row for each group.

    A quantity that nobody has, as switch rates of a single round, is left out.
    """
    drawn = [
        (quantity, label)
        for quantity, label in CURVES
        if quantity == "earned" or any(getattr(one, quantity).any() for pair in pairs.values() for one in pair)
    ]
    figure = Figure(figsize=(width, 0.75 + 1.15 * len(pairs)))
    panels = figure.subplots(len(pairs), len(drawn), sharex=True, sharey="col", squeeze=False)
    for row, (group, (people, simulated)) in zip(panels, pairs.items(), strict=True):
        for axes, (quantity, label) in zip(row, drawn, strict=True):
            blocks = range(1, len(people.earned) + 1)
            axes.plot(blocks, getattr(people, quantity), "o-", color=BLUE, markersize=3.5, linewidth=1.2)
            axes.plot(blocks, getattr(simulated, quantity), "s--", color=ORANGE, markersize=3, linewidth=1.2)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            axes.tick_params(labelsize=SMALL)
            axes.set_ylabel(label, fontsize=SMALL)
        if len(pairs) > 1:
            row[0].set_title(wrapped(group, 0.8 * width), fontsize=SMALL, loc="left")
    for axes in panels[-1]:
        axes.set_xlabel(f"block of {rounds}", fontsize=SMALL)
    handles, names = panels[0, 0].get_lines(), ("people", "simulated people")
    figure.legend(handles, names, loc="outside upper left", ncols=2, frameon=False, fontsize=SMALL)
    return figure


@styled
def delta_bic(rows: Sequence[Mapping[str, Any]], width: float = WIDTH) -> Figure:
    """Bars of BIC differences from the best mind, smallest first."""
    ranked = sorted(rows, key=lambda row: float(row["delta_bic"]))
    names, tallest = _beside((r["mind"] for r in ranked), width)
    figure, axes = with_axes(width, 0.6 + (0.09 + 0.13 * tallest) * len(ranked))
    axes.barh(range(len(ranked)), [r["delta_bic"] for r in ranked], color=BLUE, height=0.65)
    axes.set_yticks(range(len(ranked)), names)
    axes.invert_yaxis()
    axes.set_xlabel("ΔBIC")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(axis="y", length=0, labelsize=SMALL)
    return figure


@styled
def responsibilities(probabilities: Floats, names: Sequence[str], width: float = WIDTH) -> Figure:
    """P(mind | person), people sorted by their most probable mind."""
    order = np.lexsort((-probabilities.max(axis=1), probabilities.argmax(axis=1)))
    shown, tallest = _beside(names, width)
    figure, axes = with_axes(width, 1.1 + (0.09 + 0.13 * tallest) * len(names))
    edges = np.arange(probabilities.shape[0] + 1), np.arange(len(names) + 1)
    mesh = axes.pcolormesh(
        *edges, probabilities[order].T, cmap=SHADES, vmin=0.0, vmax=1.0, edgecolors="face", linewidth=0.2
    )
    axes.set_yticks(np.arange(len(names)) + 0.5, shown, fontsize=SMALL)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("people", fontsize=SMALL)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.tick_params(axis="x", labelsize=SMALL)
    _colour_bar(figure, mesh, axes, "probability")
    return figure


@styled
def shares(by_group: Mapping[str, Mapping[str, float]], width: float = WIDTH) -> Figure:
    """Expected shares of minds in each group, as stacked bars; the smallest are together if there are many."""
    minds = list(dict.fromkeys(mind for share_of in by_group.values() for mind in share_of))
    ranked = sorted(minds, key=lambda mind: -sum(share_of[mind] for share_of in by_group.values()))
    largest = ranked if len(ranked) <= len(COLOURS) else ranked[: len(COLOURS) - 1]
    named = [*largest, *(["others"] if len(minds) > len(largest) else [])]
    legend, across, legend_height = _legend(named, width)
    groups, tallest = _beside(by_group, width)
    figure, axes = with_axes(width, 0.75 + (0.13 + 0.13 * tallest) * len(by_group) + legend_height)
    ends = np.zeros(len(by_group))
    for i, mind in enumerate(named):
        if mind not in largest:
            widths = np.array([1.0 - sum(share_of[m] for m in largest) for share_of in by_group.values()])
        else:
            widths = np.array([share_of[mind] for share_of in by_group.values()])
        axes.barh(range(len(groups)), widths, left=ends, color=COLOURS[i], height=0.7, label=legend[i])
        ends += widths
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of people")
    axes.tick_params(axis="y", length=0, labelsize=SMALL)
    figure.legend(loc="outside upper left", ncols=across, frameon=False, fontsize=SMALL)
    return figure


@styled
def confusion_matrix(matrix: Floats, names: Sequence[str]) -> Figure:
    """Shares of simulated people by true (row) and best (column) mind."""
    size = len(names)
    figure, axes = with_axes(max(WIDTH, 1.8 + 0.3 * size), 2.2 + 0.3 * size)
    mesh = axes.pcolormesh(matrix, cmap=SHADES, vmin=0.0, vmax=1.0, edgecolors="face", linewidth=0.3)
    for i, j in np.ndindex(matrix.shape):
        if matrix[i, j] >= 0.005:
            ink = "white" if matrix[i, j] < 0.6 else "black"
            axes.text(
                j + 0.5, i + 0.5, f"{matrix[i, j]:.2f}".lstrip("0"), ha="center", va="center", fontsize=SMALL, color=ink
            )
    axes.set_yticks(np.arange(size) + 0.5, [_short(name) for name in names], fontsize=SMALL)
    axes.set_xticks(np.arange(size) + 0.5, [_short(name) for name in names], fontsize=SMALL, rotation=60, ha="right")
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    axes.set_ylabel("simulated by", fontsize=SMALL)
    axes.set_xlabel("best", fontsize=SMALL)
    _colour_bar(figure, mesh, axes, "share of people")
    return figure


@styled
def scatter(recovered: Sequence[Recovery], width: float = WIDTH) -> Figure:
    """Fitted over true values, a panel for each parameter, two beside each other for each WIDTH."""
    across = 2 * max(1, round(width / WIDTH))
    down = -(-len(recovered) // across)
    figure = Figure(figsize=(width, 1.9 * down))
    panels = figure.subplots(down, across, squeeze=False)
    for axes in panels.flat[len(recovered) :]:
        axes.set_visible(False)
    for axes, recovery in zip(panels.flat, recovered, strict=False):
        ends = float(recovery.true.min()), float(recovery.true.max())
        axes.plot(ends, ends, color=SOFT, linewidth=0.7)
        axes.plot(recovery.true, recovery.fitted, ".", color=BLUE, markersize=3, alpha=0.6)
        title = f"{_short(recovery.mind)}\n{recovery.parameter}, r = {number(recovery.r)}"
        axes.set_title(title, fontsize=SMALL, loc="left")
        axes.tick_params(labelsize=SMALL)
        axes.xaxis.set_major_locator(MaxNLocator(3))
    return figure


def _colour_bar(figure: Figure, mesh: Any, axes: Axes, label: str) -> None:
    """Add the scale of the colours of `mesh` below the axes."""
    bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.6, aspect=30)
    bar.set_label(label, fontsize=SMALL)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL)


def _beside(names: Iterable[str], width: float) -> tuple[list[str], int]:
    """Names beside the axes of a figure, in lines that leave room for it, and the most lines that one has."""
    lines = [wrapped(name, BESIDE * width) for name in names]
    return lines, max((line.count("\n") + 1 for line in lines), default=1)


def _legend(names: Sequence[str], width: float) -> tuple[list[str], int, float]:
    """The names of a legend, how many stand next to each other, and its height in inches, none for a single name."""
    shown = [wrapped(name, 0.85 * width) for name in names]
    longest = max((len(line) for name in shown for line in name.split("\n")), default=0)
    across = min(max(1, len(names)), max(1, int(width / (LETTER * (longest + 5)))))
    tallest = max((name.count("\n") + 1 for name in shown), default=1)
    rows = -(-len(names) // across)
    return shown, across, (0.04 + 0.13 * tallest) * rows if len(names) > 1 else 0.0


def _short(name: str) -> str:
    return wrapped(name, BESIDE * WIDTH)
