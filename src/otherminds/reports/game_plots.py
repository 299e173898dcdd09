"""Figures of repeated games: prediction against regret, and regret by round, by noise and by machine.

Players have a colour (Okabe and Ito) and a mark each. Figures are narrow, to be legible on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from otherminds.evaluation.statistics import Estimate, stratified
from otherminds.files.text import printable
from otherminds.reports.plots import BLUE, SMALL, SOFT, WIDER, PlotMark, Row, styled, whisker, with_axes

Published = Mapping[str, Sequence[tuple[float, float]]]

GAMES = {"rps": "Rock, Paper, Scissors", "ibs": "Battle of the Sexes", "ipd": "Prisoner’s Dilemma"}
PARTNERS = {"single": "single action", "tft": "tit for tat"}
CELLS = tuple(f"{game}/{partner}" for game in GAMES for partner in PARTNERS)
NOISES = {"": 0, "_noise05": 5, "_noise10": 10}  # per cent of a partner's moves that are random, by suffix
INK = "black"  # the reader's own ink, light or dark
PURPLE = "#cc79a7"
PLAYERS = {
    "bayes_simplicity": PlotMark("Bayes, simplicity prior", BLUE, "s"),
    "posterior_sampling": PlotMark("Posterior sampling", "#d55e00", "D"),
    "rmax": PlotMark("RMax", "#e69f00", "^"),
    "fictitious_play": PlotMark("Fictitious play", "#009e73", "v"),
    "k_tom_0": PlotMark("0-ToM", PURPLE, "P"),
    "k_tom_1": PlotMark("1-ToM", PURPLE, "X"),
    "k_tom_2": PlotMark("2-ToM", PURPLE, "p"),
    "bayes_closed": PlotMark("Bayes, library", "#56b4e9", "o"),
    "bayes_library": PlotMark("without this machine", "#56b4e9", "h"),
}
FLOOR = "floor"
BOUND = PlotMark("Bayes floor", INK, "")
MODELS = PlotMark("Language models, as published", SOFT, "o")
NAMES = {
    "neutral": PlotMark("Neutral names", BLUE, ""),
    "canonical": PlotMark("Canonical", "#d55e00", ""),
    "repeated": PlotMark("Repeated letters", "#009e73", ""),
    "nonsense": PlotMark("Nonsense", PURPLE, ""),
}
LEARNERS = ("bayes_simplicity", "posterior_sampling", "rmax")
LEFT_OUT = "ipd/machines_leave_one_out"
LEAST = 0.01  # points a round below which the scale of regret is linear; chosen
LONGEST = 26  # characters of the name of a machine; chosen


def _grid(draw: Callable[[Axes, str], None], height: float, x: str, y: str) -> Figure:
    """A panel for each of the six cells, games below each other, with the names of the axes on the outer ones.

    `draw(axes, condition)` fills a panel; `condition` is one of CELLS, such as `rps/tft`. `height` is in inches.
    """
    figure = Figure(figsize=(WIDER, height))
    panels = figure.subplots(len(GAMES), len(PARTNERS), squeeze=False)
    for axes, condition in zip(panels.flat, CELLS, strict=True):
        game, partner = condition.split("/")
        axes.set_title(f"{GAMES[game]}\n{PARTNERS[partner]}", loc="left", fontsize=9)
        draw(axes, condition)
        axes.set_xlabel(x if condition in CELLS[-len(PARTNERS) :] else "")
        axes.set_ylabel(y if condition in CELLS[:: len(PARTNERS)] else "")
    return figure


def _key(figure: Figure, handles: Iterable[Line2D]) -> None:
    figure.legend(handles=[*handles], loc="outside upper left", ncols=2, frameon=False, borderaxespad=0)


def _handle(mark: PlotMark, line: Literal["-", ":", ""] = "-", **properties: Any) -> Line2D:
    """The sample of a mark in the key; `look` overrides properties of matplotlib's line."""
    default_properties: dict[str, Any] = {"marker": mark.shape, "fillstyle": "none"}
    return Line2D([], [], color=mark.colour, linestyle=line, label=mark.name, **(default_properties | properties))


# Predicting against acting


@styled
def literal_against_functional(summary: Sequence[Row], published: Published) -> Figure:
    """ToM % against regret a round, a panel for each cell; grey dots are published language models."""
    scores = {(r["condition"], r["subject"], r["metric"]): r["value"] for r in summary}
    present = {subject for condition, subject, _ in scores if condition in CELLS}
    worst = min(
        [value for (condition, _, metric), value in scores.items() if condition in CELLS and metric == "tom_percent"]
        + [percent for points in published.values() for percent, _ in points],
        default=0.0,
    )

    def draw(axes: Axes, condition: str) -> None:
        """The published models as dots, each player by its mark, and the Bayes floor as a dotted line."""
        for point in published.get(condition, ()):
            axes.plot(*point, MODELS.shape, color=MODELS.colour, markersize=3, alpha=0.7, markeredgewidth=0)
        for subject, mark in PLAYERS.items():
            percent, regret = (scores.get((condition, subject, m)) for m in ("tom_percent", "functional_regret_exact"))
            if percent is not None and regret is not None:
                axes.plot(percent, regret, mark.shape, color=mark.colour, fillstyle="none", clip_on=False)
        if (floor := scores.get((condition, FLOOR, "functional_regret_exact"))) is not None:
            axes.axhline(floor, color=INK, linewidth=0.8, linestyle=":", zorder=0)
        # 0.01, 0.1 and 1 are equally far apart, and 0 has a place
        axes.set_yscale("symlog", linthresh=LEAST, linscale=0.5)
        axes.set_yticks([0, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set(xlim=(worst - 5, 101), ylim=(-LEAST / 4, 11))

    figure = _grid(draw, 6.9, "ToM %", "Regret a round")
    dots = [_handle(MODELS, "", markersize=3, fillstyle="full")] if any(published.values()) else []
    player_handles = [_handle(mark, "") for subject, mark in PLAYERS.items() if subject in present]
    _key(figure, [*dots, _handle(BOUND, ":"), *player_handles])
    return figure


# Regret over rounds


@styled
def regret_over_rounds(rows: Sequence[Row]) -> Figure:
    """Cumulative regret Σ (best − reward) with the 95 % interval over episodes; dotted, the Bayes floor."""
    marks = {**{subject: PLAYERS[subject] for subject in LEARNERS}, FLOOR: BOUND}
    return _over_rounds(_curves(rows, _regret), marks, "Points lost so far")


def _over_rounds(
    curves: Mapping[tuple[str, str], Sequence[Estimate]], marks: Mapping[str, PlotMark], y_label: str
) -> Figure:
    """A curve for each subject in each cell that it has played; cells without a curve stay empty."""

    def draw(axes: Axes, condition: str) -> None:
        """The curves of one cell, with bands for their intervals."""
        for subject, mark in marks.items():
            if estimates := curves.get((condition, subject)):
                value, low, high, _ = np.array(estimates).T
                rounds, bound = np.arange(1, len(value) + 1), mark is BOUND
                if not bound:
                    axes.fill_between(rounds, low, high, color=mark.colour, alpha=0.25, linewidth=0)
                axes.plot(rounds, value, ":" if bound else "-", color=mark.colour, linewidth=1.2 if bound else 1.4)
        axes.set(xlim=(0, None), ylim=(min(0.0, axes.get_ylim()[0]), None))
        axes.set_visible(bool(axes.lines))

    figure = _grid(draw, 6.4, "Round", y_label)
    _key(figure, [_handle(mark, ":" if mark is BOUND else "-", marker="") for mark in marks.values()])
    return figure


def _regret(row: Row) -> float:
    return float(row["best"] - row["reward"])


def _curves(rows: Iterable[Row], lost: Callable[[Row], float]) -> dict[tuple[str, str], list[Estimate]]:
    """The cumulative loss of each player up to each round, by (cell, player), with intervals over episodes.

    `lost(row)` is the loss of a round. Intervals are stratified by partner.
    """
    episodes: dict[tuple[str, str], dict[tuple[str, ...], list[float]]] = {}
    plotted = {(condition, subject) for condition in CELLS for subject in (*LEARNERS, FLOOR, *NAMES)}
    for row in rows:
        if (key := (row["condition"], row["subject"])) in plotted and row["policy"] == "own":
            episode_key = (row["partner"], row["episode"], row.get("strategy", ""))
            episodes.setdefault(key, {}).setdefault(episode_key, []).append(lost(row))
    curves = {}
    for key, losses in episodes.items():
        cumulative = np.cumsum([*losses.values()], axis=1)
        partners = [partner for partner, *_ in losses]
        curves[key] = [stratified(column, partners) for column in cumulative.T.tolist()]
    return curves


def by_names(rows: Sequence[Row]) -> list[Figure]:
    """Losses and wrong predictions of language models by the names of the actions; empty for fewer than two sets."""
    spoken = [{**row, "subject": row["names"]} for row in rows if "names" in row]
    if len({row["names"] for row in spoken}) < 2:
        return []
    lost = _curves(spoken, _regret)
    wrong = _curves(spoken, lambda row: float(row["predicted"] != row["observed"]))
    marks = {names: mark for names, mark in NAMES.items() if any(subject == names for _, subject in lost)}
    with_marks = ((lost, "Points lost so far"), (wrong, "Wrong predictions so far"))
    return [styled(_over_rounds)(curves, marks, y_label) for curves, y_label in with_marks]


# Noise


@styled
def regret_by_noise(summary: Sequence[Row]) -> Figure:
    """Regret per round with partners that move at random in 0, 5 and 10 % of the rounds, with 95 % intervals."""
    rows = {(r["condition"], r["subject"]): r for r in summary if r["metric"] == "functional_regret_exact"}

    def draw(axes: Axes, condition: str) -> None:
        """The regret of each learner at each share of noise, with intervals."""
        for i, subject in enumerate(LEARNERS):
            mark = PLAYERS[subject]
            by_noise = {n: row for noise, n in NOISES.items() if (row := rows.get((condition + noise, subject)))}
            places = [n + 0.4 * (i - 1) for n in by_noise]  # apart, so that intervals do not hide each other
            values = [row["value"] for row in by_noise.values()]
            axes.plot(places, values, mark.shape + "-", color=mark.colour, markersize=4, linewidth=1.2)
            for place, row in zip(places, by_noise.values(), strict=True):
                axes.plot([place, place], [row["low"], row["high"]], color=mark.colour, linewidth=0.8)
        axes.axhline(0, color=SOFT, linewidth=0.5, zorder=0)
        axes.set_xticks([*NOISES.values()])

    figure = _grid(draw, 6.0, "Noise, %", "Regret a round")
    _key(figure, [_handle(PLAYERS[subject], fillstyle="full", markersize=4) for subject in LEARNERS])
    return figure


# Machine by machine


@styled
def regret_by_machine(rows: Iterable[Row]) -> Figure:
    """Regret per round with every machine, by that of RMax; open marks are for a library without that machine."""
    plotted = {("ipd/machines", "rmax"), ("ipd/machines", "bayes_closed"), (LEFT_OUT, "bayes_library")}
    regrets: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if (row["condition"], row["subject"]) in plotted and "functional_regret" in row:
            player = row["subject"] + (LEFT_OUT if row["condition"] == LEFT_OUT else "")
            regrets.setdefault(row["partner"], {}).setdefault(player, []).append(row["functional_regret"])
    lost = {name: {agent: float(np.mean(values)) for agent, values in about.items()} for name, about in regrets.items()}
    hardest = sorted(lost, key=lambda name: (lost[name].get("rmax", 0.0), name))
    figure, axes = with_axes(WIDER, 1.0 + 0.155 * len(hardest))
    for y, name in enumerate(hardest):
        whisker(axes, y, min(lost[name].values()), max(lost[name].values()), SOFT, 0.5)
        for subject, regret in lost[name].items():
            mark = PLAYERS[subject.removesuffix(LEFT_OUT)]
            fill = "none" if subject.endswith(LEFT_OUT) else "full"
            axes.plot(regret, y, mark.shape, color=mark.colour, markersize=4.5, fillstyle=fill, clip_on=False)
    axes.set_yticks(range(len(hardest)), [printable(name)[:LONGEST] for name in hardest], fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(-0.7, len(hardest) - 0.3), xlabel="Regret a round")
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    known = [_handle(PLAYERS[subject], "", fillstyle="full") for subject in ("rmax", "bayes_closed")]
    _key(figure, [*known, _handle(PLAYERS["bayes_library"], "")])
    return figure
