"""The figure of a questionnaire: what people ticked on a scale of seven points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.reports.plots import WIDER, marks, styled, whisker

Row = Mapping[str, Any]
LARGEST = 150


@styled
def ratings(
    given: Mapping[tuple[str, str], Sequence[int]], summary: Sequence[Row], aspects: Mapping[str, str]
) -> Figure:
    """For every aspect and facilitator the mean with its 95 % interval; pale circles are as large as points were many.

    given: the points by facilitator and aspect. aspects: what they are called.
    """
    found = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == "all"}
    drawn = marks(subject for (subject, _), points in given.items() if points)
    block = len(drawn) + 1.4
    figure = Figure(figsize=(WIDER, 0.8 + 0.3 * block * len(aspects)))
    axes = figure.subplots()
    names: dict[float, str] = {}
    for k, (aspect, name) in enumerate(aspects.items()):
        names[k * block] = name
        for i, (subject, mark) in enumerate(drawn.items(), 1):
            y = k * block + i
            names[y] = mark.name
            for point, times in Counter(given.get((subject, aspect), ())).items():
                size = LARGEST * times / len(given[subject, aspect])
                axes.scatter([point], [y], s=size, color=mark.colour, alpha=0.25, linewidths=0, clip_on=False)
            if row := found.get((subject, aspect)):
                whisker(axes, y, row["low"], row["high"], mark.colour, 1.6)
                axes.plot(row["value"], y, mark.shape, color=mark.colour, markersize=5, clip_on=False)
    axes.set_yticks(list(names), list(names.values()))
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in aspects.values() else "normal")
    axes.tick_params(axis="y", length=0, pad=9)
    axes.spines["left"].set_visible(False)
    axes.set(xlim=(1, 7), xticks=range(1, 8), xlabel="strongly disagree (1) to strongly agree (7)")
    axes.set_ylim(max(names, default=0.0) + 0.9, -0.6)
    return figure
