"""The look of all figures, and the figures of facilitation: success, beliefs about goals, calibration, ratings.

Facilitators have a colour (Okabe and Ito) and a mark each. Figures are narrow, to be legible on a phone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from textwrap import fill
from typing import Any, NamedTuple, ParamSpec

import matplotlib
import numpy as np
import scipy
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.errors import shortened
from otherminds.files.text import printable
from otherminds.reports.page import STYLE, WORDS

Row = Mapping[str, Any]
Case = tuple[str, float, float]  # an episode, the stated probability of a goal, and whether it was true
P = ParamSpec("P")

LONGEST = 18  # characters of a name beside a figure; chosen
WIDTH = 3.5  # inches; legible on a phone of 390 px
SMALL = 8.25  # points of text: 11 px on a page
LETTER = 0.067  # inches of a letter of that size, on average
MOST_LINES = 3  # of a name in a figure; chosen
WIDER = 4.2  # inches, for figures with panels side by side
LARGEST_CIRCLE = 150  # area in square points of a circle that stands for all answers
SOFT = "#7d838b"
BLUE = "#0072b2"
LOOK: dict[Any, Any] = {
    **STYLE,
    "font.size": 9.0,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "figure.constrained_layout.use": True,
}
CLASSES = {**WORDS["classes"], "all": "All"}
METRICS: Mapping[str, str] = WORDS["metrics"]


class PlotMark(NamedTuple):
    """The name of a subject in figures, its colour, and the shape of its mark."""

    name: str
    colour: str
    shape: str


SUBJECTS = {
    "none": PlotMark("No facilitator", SOFT, "o"),
    "random": PlotMark("Random", "#e69f00", "^"),
    "oracle": PlotMark("Oracle", BLUE, "s"),
    "protom": PlotMark("ProToM", "#d55e00", "D"),
}
SPARE = (("#009e73", "v"), ("#cc79a7", "P"), ("#56b4e9", "X"))
NAMES_OF_SETTINGS: Mapping[str, str] = WORDS["settings"]
CLASS_LINES = {"not_needed": ("#009e73", ":"), "useful": (BLUE, "--"), "necessary": ("#d55e00", "-")}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """The same function, drawing in the look of this module and not in that of the user's settings."""

    @wraps(draw)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.rc_context(LOOK):
            return draw(*args, **kwargs)

    return wrapped


def with_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure of this size in inches, and its axes."""
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots()


def wrapped(name: str, inches: float) -> str:
    """A name in small letters in lines of this length, at most MOST_LINES of them, broken at blanks and low lines."""
    parts = printable(name).replace("_", "_ ")
    return fill(parts, max(1, int(inches / LETTER)), max_lines=MOST_LINES, placeholder="…").replace("_ ", "_")


# Success


@styled
def class_bars(summary: Sequence[Row], metric: str, conditions: Mapping[str, str] = CLASSES) -> Figure:
    """One metric by condition and facilitator, with 95 % intervals; open marks are the published values.

    conditions: their names; by default the classes of level.
    """
    rows = {(r["condition"], r["subject"]): r for r in summary if r["metric"] == metric}
    drawn = marks(subject for condition, subject in rows if condition in conditions)
    kinds = {kind: name for kind, name in conditions.items() if any((kind, subject) in rows for subject in drawn)}

    def draw(axes: Axes, y: float, kind: str, subject: str, mark: PlotMark) -> None:
        """The value of a facilitator at height `y` with its interval, and below it, open, the published one."""
        row = rows.get((kind, subject))
        if row is None:
            return
        whisker(axes, y, row.get("low"), row.get("high"), mark.colour, 1.6)
        axes.plot(row["value"], y, mark.shape, color=mark.colour, markersize=5.5, clip_on=False)
        if row.get("published") is not None:  # below it, open, what the paper prints
            whisker(axes, y + 0.4, row.get("published_low"), row.get("published_high"), SOFT, 0.8)
            axes.plot(
                row["published"], y + 0.4, mark.shape, color=SOFT, markersize=4.5, fillstyle="none", clip_on=False
            )

    figure, axes = with_axes(WIDTH, 0.8 + 0.19 * (len(drawn) + 1.5) * len(kinds))
    _grouped_rows(axes, kinds, drawn, 1.5, draw)
    figure.suptitle(METRICS.get(metric, printable(metric)), x=0.02, ha="left", size=10)
    if metric in ("success", "needless"):
        axes.set_xlim(0, 1)
    elif metric.startswith("speedup"):
        axes.axvline(0, color=SOFT, linewidth=0.7, zorder=0)
    else:
        axes.set_xlim(left=0)
    if any(row.get("published") is not None for row in rows.values()):
        axes.set_xlabel("open marks: as published")
    return figure


@styled
def ratings(
    answers: Mapping[tuple[str, str], Sequence[int]], summary: Sequence[Row], aspects: Mapping[str, str]
) -> Figure:
    """For every aspect and facilitator the mean with its 95 % interval; the area of pale circles counts the answers.

    answers: from 1 to 7, by facilitator and aspect. aspects: their names.
    """
    rows = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == "all"}
    drawn = marks(subject for (subject, _), scores in answers.items() if scores)

    def draw(axes: Axes, y: float, aspect: str, subject: str, mark: PlotMark) -> None:
        """A circle for each answer at height `y`, with its area for how often it was given, then the mean."""
        for answer, times in Counter(answers.get((subject, aspect), ())).items():
            size = LARGEST_CIRCLE * times / len(answers[subject, aspect])
            axes.scatter([answer], [y], s=size, color=mark.colour, alpha=0.25, linewidths=0, clip_on=False)
        if row := rows.get((subject, aspect)):
            whisker(axes, y, row["low"], row["high"], mark.colour, 1.6)
            axes.plot(row["value"], y, mark.shape, color=mark.colour, markersize=5, clip_on=False)

    figure, axes = with_axes(WIDER, 0.8 + 0.3 * (len(drawn) + 1.4) * len(aspects))
    _grouped_rows(axes, aspects, drawn, 1.4, draw)
    axes.set(xlim=(1, 7), xticks=range(1, 8), xlabel="strongly disagree (1) to strongly agree (7)")
    return figure


def _grouped_rows(
    axes: Axes,
    groups: Mapping[str, str],
    drawn: Mapping[str, PlotMark],
    space: float,
    draw: Callable[[Axes, float, str, str, PlotMark], None],
) -> None:
    """The name of each group in bold, and below it a line for each facilitator, which `draw` fills.

    `draw(axes, y, group, subject, mark)`; `space` is the height that a group takes besides its lines.
    """
    labels_by_height = dict[float, str]()
    group_height = len(drawn) + space
    for k, (group, name) in enumerate(groups.items()):
        labels_by_height[k * group_height] = name
        for i, (subject, mark) in enumerate(drawn.items(), 1):
            labels_by_height[k * group_height + i] = mark.name
            draw(axes, k * group_height + i, group, subject, mark)
    axes.set_yticks(list(labels_by_height), list(labels_by_height.values()))
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in groups.values() else "normal")
    axes.tick_params(axis="y", length=0, pad=9)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(max(labels_by_height, default=0.0) + 0.9, -0.6)


def marks(subjects: Iterable[str]) -> dict[str, PlotMark]:
    """The marks of facilitators: the known ones in their usual order, then others by name."""
    distinct = set(subjects)
    extra = sorted(distinct - set(SUBJECTS))
    names = [shortened(printable(subject.removeprefix("lm:")), LONGEST) for subject in extra]
    spare = {s: PlotMark(name, *SPARE[i % len(SPARE)]) for i, (s, name) in enumerate(zip(extra, names, strict=True))}
    return {s: mark for s, mark in SUBJECTS.items() if s in distinct} | spare


def whisker(axes: Axes, y: float, low: float | None, high: float | None, colour: str, width: float) -> None:
    """A horizontal line from low to high, if there are bounds."""
    if low is not None and high is not None:
        axes.plot([low, high], [y, y], color=colour, linewidth=width, solid_capstyle="butt", clip_on=False)


# Beliefs about goals


@styled
def posterior_over_time(rows: Sequence[Row], subject: str = "protom", points: int = 41) -> Figure:
    """Mean P(true goal) over the course of an episode, with the 95 % interval over episodes, and by class."""
    figure, axes = with_axes(WIDER, 2.9)
    moments = np.linspace(0, 1, points)
    curves = _curves(rows, subject, moments)
    everything = np.array([curve for members in curves.values() for curve in members])
    if len(everything):
        mean = everything.mean(axis=0)
        half = _half_interval(everything)
        low, high = np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)
        axes.fill_between(moments, low, high, color=SOFT, alpha=0.25, linewidth=0)
        axes.plot(moments, mean, color="black", linewidth=2, label="all, with 95 % interval")
    for level_class, (colour, dashes) in CLASS_LINES.items():
        if members := curves.get(level_class):
            label = CLASSES[level_class].lower()
            axes.plot(moments, np.mean(members, axis=0), dashes, color=colour, linewidth=1.3, label=label)
    if len(everything):
        axes.legend(loc="lower right", frameon=False)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="Share of the episode", ylabel="P(true goal)")
    return figure


def _curves(rows: Sequence[Row], subject: str, moments: np.ndarray) -> dict[str, list[np.ndarray]]:
    """For every class, one curve per episode: P(true goal) at the `moments`, averaged over its agents (and seeds).

    Moments are shares of an episode, from 0 to 1, between whose steps the curve is interpolated.
    """
    p_by_episode: dict[tuple[str, str], dict[tuple[int, str], dict[int, float]]] = {}
    for row in _inferred(rows, subject):
        p_by_agent = p_by_episode.setdefault((row["condition"], row["episode"]), {})
        p_by_agent.setdefault((row["seed"], row["agent"]), {})[row["t"]] = row["p_true"]
    curves: dict[str, list[np.ndarray]] = {}
    for (condition, _), p_by_agent in p_by_episode.items():
        curves_by_agent = [
            np.interp(moments * max(p_by_step), sorted(p_by_step), [p_by_step[t] for t in sorted(p_by_step)])
            for p_by_step in p_by_agent.values()
        ]
        curves.setdefault(condition, []).append(np.mean(curves_by_agent, axis=0))
    return curves


def _inferred(rows: Sequence[Row], subject: str) -> list[Row]:
    """The decisions for which this facilitator had a posterior, in episodes that are not held out."""
    subject_rows = (row for row in rows if row["subject"] == subject and not row["condition"].startswith("heldout/"))
    return [row for row in subject_rows if row.get("posterior") is not None]


def _half_interval(samples: np.ndarray) -> np.ndarray:
    """Half the width of the 95 % interval (Student's t) of the mean over the first axis; 0 for one sample."""
    n = len(samples)
    if n < 2:
        return np.zeros(samples.shape[1:])
    half: np.ndarray = scipy.stats.t.ppf(0.975, n - 1) * samples.std(axis=0, ddof=1) / np.sqrt(n)
    return half


# Settings


SWEPT = {
    ("tuning/all", "success"): ("Success", "#009e73", "o"),
    ("tuning/useful", "share_of_oracle_speedup"): ("Share of the oracle's speedup (useful)", BLUE, "s"),
    ("tuning/not_needed", "messages"): ("Messages an episode (not needed)", "#d55e00", "D"),
}


@styled
def sweeps(summary: Sequence[Row], values: Mapping[str, Sequence[float]], selected: Mapping[str, float]) -> Figure:
    """The metrics by the value of each setting, the others as chosen, with 95 % intervals; dashed: the chosen value."""
    rows = {(r["condition"], r["metric"], r["subject"]): r for r in summary}
    figure = Figure(figsize=(WIDTH, 1.9 * len(values) + 0.6))
    panels = figure.subplots(len(values), sharey=True, squeeze=False)[:, 0]
    for axes, (setting, setting_values) in zip(panels, values.items(), strict=True):
        axes.axvline(selected[setting], color=SOFT, linewidth=0.8, linestyle="--", zorder=0)
        for (condition, metric), (label, colour, shape) in SWEPT.items():
            names = {x: "protom" if x == selected[setting] else f"protom_{setting}_{x:g}" for x in setting_values}
            row_at = {x: row for x, name in names.items() if (row := rows.get((condition, metric, name)))}
            ys = [row["value"] for row in row_at.values()]
            bars = [[abs(row["value"] - row[end]) for row in row_at.values()] for end in ("low", "high")]
            axes.errorbar(
                [*row_at], ys, bars, color=colour, marker=shape, markersize=4, linewidth=1, elinewidth=0.6, label=label
            )
        axes.set(xlabel=NAMES_OF_SETTINGS.get(setting, setting), ylim=(-0.05, 1.15))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", frameon=False)
    return figure


# Calibration


@styled
def calibration(rows: Sequence[Row], subject: str = "protom", bins: int = 10) -> Figure:
    """The share of goals stated with probability p that were true; larger marks stand for more cases."""
    figure, axes = with_axes(WIDER, 3.6)
    axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.7, linestyle="--", zorder=0)
    cases = [
        (row["episode"], p, float(goal == row["goal"]))
        for row in _inferred(rows, subject)
        for goal, p in row["posterior"].items()
    ]
    binned: list[list[Case]] = [[] for _ in range(bins)]
    for case in cases:
        binned[min(int(case[1] * bins), bins - 1)].append(case)
    for members in filter(None, binned):
        share, half = _clustered_mean(members)
        stated = float(np.mean([p for _, p, _ in members]))
        bounds = [max(share - half, 0.0), min(share + half, 1.0)]
        axes.plot([stated, stated], bounds, color=BLUE, linewidth=1.2, clip_on=False)
        axes.scatter([stated], [share], s=14 + 150 * len(members) / len(cases), color=BLUE, clip_on=False)
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    axes.set(xlabel="Stated probability of a goal", ylabel="Share of these that were true")
    if cases:
        error = float(np.mean([(p - true) ** 2 for _, p, true in cases]))
        axes.text(1.0, 0.0, f"mean squared error {error:.3f}", ha="right")
    return figure


def _clustered_mean(cases: Sequence[Case]) -> tuple[float, float]:
    """The share of true ones and half its 95 % interval, clustered by episode (ratio estimator)."""
    size = Counter(episode for episode, _, _ in cases)
    true = Counter(episode for episode, _, outcome in cases if outcome)
    successes = np.array([true[episode] for episode in size])
    sizes = np.array(list(size.values()))
    share = float(successes.sum() / sizes.sum())
    return share, float(_half_interval((successes - share * sizes) / sizes.mean()))
