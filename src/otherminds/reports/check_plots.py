"""The figure of a check: what agents know against what they lose."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from otherminds.files.text import printable
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled

FAILED = "#d55e00"
LONGEST = 24


@styled
def known_and_lost(points: Sequence[tuple[str, float, float, bool]], most: float = 0.5) -> Figure:
    """Every agent by what its wrong predictions would cost and what it loses, as shares of what random play loses."""
    figure = Figure(figsize=(WIDER, 3.4))
    axes = figure.subplots()
    values = [value for _, known, lost, _ in points for value in (known, lost)]
    top, bottom = max([1.2, most, *values]) + 0.15, min([0.0, *values]) - 0.04  # who is lucky loses less than nothing
    axes.axhline(most, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axvline(most, color=SOFT, linewidth=0.8, linestyle=":")
    axes.plot([0, top], [0, top], color=SOFT, linewidth=0.5)
    for name, known, lost, passed in points:
        axes.plot(known, lost, "o", color=BLUE if passed else FAILED, clip_on=False)
        axes.annotate(printable(name)[:LONGEST], (known, lost), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.set(xlim=(bottom, top), ylim=(bottom, top), xlabel="Wrong predictions would lose", ylabel="It loses")
    return figure
