"""The page of a tournament: ranking, who earns what with whom, replicator dynamics, and fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from numpy.typing import NDArray

from otherminds.errors import shortened
from otherminds.evaluation.round_robin import RoundRobin, Standing
from otherminds.evaluation.statistics import Estimate
from otherminds.files.text import printable
from otherminds.reports.page import Html, Page, Section, at_two_widths, inline, interval, number, page, stack, table
from otherminds.reports.plots import LETTER, SMALL, SOFT, styled, with_axes, wrapped
from otherminds.worlds.repeated_games.fingerprints import fingerprint
from otherminds.worlds.repeated_games.partners import partner

Floats = NDArray[np.float64]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
STYLES = ("-", "--")
# 32 shades: matplotlib would draw a scale of 50 or more as an image, which pages do not load. Edges close thin gaps.
SHADING: Mapping[str, Any] = {
    "cmap": matplotlib.colormaps["cividis"].resampled(32),
    "edgecolors": "face",
    "linewidth": 0.3,
}
NAMED = 8  # strategies with a line of their own in replicator dynamics; chosen
LINE = 0.145  # inches for a row of the matrix
WIDE = 6.5  # inches, of figures that are drawn again for a phone
BESIDE = 2.1  # inches for names beside the matrix
GENERATIONS = 500  # of replicator dynamics; chosen
PANELS = 9  # machines whose fingerprint is shown
PER_ROW = 3
PROBE = "tft"
PROBED = 50  # rounds of a fingerprint, as in the Axelrod library
STEP = 0.1  # of its grid; chosen


def tournament_page(tournament: RoundRobin) -> Page:
    """The page of a tournament. Fingerprints are of the best machines, in 2 × 2 games."""
    numbers = {entrant.name: i for i, entrant in enumerate(tournament.entrants)}
    order = [numbers[standing.name] for standing in tournament.ranking]
    shares = tournament.shares(GENERATIONS)
    names = [tournament.entrants[i].name for i in order]
    words = (
        f"{tournament.game.title or tournament.game.name}: {len(names)} entrants, {tournament.rounds} rounds a match. "
        f"Matches with a player are sampled ({len(tournament.scores)} of each pair), all others are exact expectations."
    )
    grid = matrix(tournament.table[np.ix_(order, order)], names)
    caption = "Payoff per round of the row’s entrant with the column’s. Both are numbered by rank."
    spread = f"Shares of a population over {GENERATIONS} generations, from equal shares: replicator dynamics."
    sections = [
        Section("Ranking", _ranking(tournament.ranks, tournament.ranking, shares[-1, order])),
        Section("Who earns what with whom", Html(f'<div class="table">{inline(grid, caption)}</div>')),
        Section(
            "Which strategies would spread", at_two_widths(partial(dynamics, shares[:, order], names), WIDE, spread)
        ),
    ]
    if panels := dict(_fingerprints(tournament, order)):
        sections.append(Section("Fingerprints", _fingerprint_section(panels)))
    return page("Tournament", words, sections)


def _ranking(ranks: Sequence[str], ranking: Sequence[Standing], shares: Floats) -> Html:
    """The table of the ranking, with the share of each entrant at the end of the replicator dynamics."""
    lines = [
        (rank, name, _interval(score), number(100 * float(share), 1))
        for rank, (name, score), share in zip(ranks, ranking, shares, strict=True)
    ]
    columns = ("Rank", "Entrant", "Payoff a round", "Share, %")
    words = (
        "The mean payoff with all others, with its 95 % interval if matches were sampled, and the share in the end of "
        "the replicator dynamics below. Entrants with the same payoff share a rank, marked =."
    )
    return stack(words, table(columns, lines))


def _interval(score: Estimate) -> str:
    return interval(*score[:3]) if score.low < score.high else number(score.value)


def _fingerprints(tournament: RoundRobin, order: Sequence[int]) -> Iterator[tuple[str, Floats]]:
    """The names and fingerprints of the best PANELS machines, in their order; none unless the game is 2 × 2."""
    if tournament.game.shape != (2, 2):
        return
    probe = partner(PROBE, tournament.game)
    best = (tournament.entrants[i] for i in order)
    for name, machines in islice(((entrant.name, entrant.machines) for entrant in best if entrant.machines), PANELS):
        yield name, fingerprint(tournament.game, machines[0], probe, PROBED, STEP)


def _fingerprint_section(panels: Mapping[str, Floats]) -> Html:
    """Fingerprints with an explanation of what they show."""
    words = (
        "What a machine earns per round from a probe that is more and more disturbed. The probe cooperates with "
        "probability x, defects with probability y, and else plays tit for tat. Above the diagonal, where x + y ≥ 1, "
        "it cooperates with probability 1 − y, defects with 1 − x, and else does the opposite of tit for tat. Equal "
        "strategies have equal fingerprints (Ashlock and Kim 2008)."
    )
    caption = f"The best {len(panels)} machines, {PROBED} rounds in exact expectation; x to the right, y upwards."
    return stack(words, at_two_widths(partial(prints, panels), WIDE, caption))


@styled
def matrix(payoffs: Floats, names: Sequence[str]) -> Figure:
    """The payoff of the row's entrant with the column's, as shades."""
    size = len(names)
    edge = max(1.6, LINE * size)
    figure, axes = with_axes(edge + 0.2 + BESIDE, edge + 0.6)
    mesh = axes.pcolormesh(payoffs, **SHADING)
    axes.set_yticks(np.arange(size) + 0.5, [f"{_line(name)}  {i}" for i, name in enumerate(names, 1)], fontsize=SMALL)
    every = range(0, size, 1 if size <= PANELS else 5)
    axes.set_xticks([i + 0.5 for i in every], [str(i + 1) for i in every], fontsize=SMALL)
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _colour_bar(figure, mesh, axes)
    return figure


@styled
def dynamics(shares: Floats, names: Sequence[str], width: float) -> Figure:
    """Shares over generations, shape (generations + 1, names); the largest in the end have a name, others are grey."""
    figure, axes = with_axes(width, 3.4)
    largest = [int(i) for i in np.argsort(-shares[-1], kind="stable")[:NAMED]]
    for i in range(len(names)):
        if i not in largest:
            axes.plot(shares[:, i], color=SOFT, linewidth=0.6, alpha=0.6)
    for rank, i in enumerate(largest):
        colour = COLOURS[rank % len(COLOURS)]
        style = STYLES[rank // len(COLOURS)]
        axes.plot(shares[:, i], color=colour, linestyle=style, linewidth=1.5, label=wrapped(names[i], 0.36 * width))
    axes.set_xlim(0, len(shares) - 1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("generation")
    axes.set_ylabel("share")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, borderaxespad=0, fontsize=SMALL)
    return figure


@styled
def prints(panels: Mapping[str, Floats], width: float) -> Figure:
    """A panel for each fingerprint, all with the same scale."""
    rows = -(-len(panels) // PER_ROW)
    figure = Figure(figsize=(width, 0.5 + (0.35 * width + 0.1) * rows), layout="constrained")
    panel_axes = figure.subplots(rows, PER_ROW, squeeze=False)
    low = min(map(np.min, panels.values()))
    high = max(map(np.max, panels.values()))
    edges = np.linspace(0.0, 1.0, next(iter(panels.values())).shape[0])
    for axes in panel_axes.flat[len(panels) :]:
        axes.set_visible(False)
    mesh = None
    for axes, (name, cells) in zip(panel_axes.flat, panels.items(), strict=False):
        # y upwards, x to the right
        mesh = axes.pcolormesh(edges, edges, cells.T, vmin=low, vmax=high, shading="nearest", **SHADING)
        axes.set_title(wrapped(name, 0.27 * width), loc="left", fontsize=SMALL)
        axes.set_aspect("equal")
        axes.set_xticks([0, 1])
        axes.set_yticks([0, 1])
        axes.tick_params(length=0, labelsize=SMALL)
    if mesh is not None:
        _colour_bar(figure, mesh, list(panel_axes.flat))
    return figure


def _colour_bar(figure: Figure, mesh: QuadMesh, axes: Axes | Iterable[Axes]) -> None:
    """Add the scale of the colours of `mesh` below the axes."""
    bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.6, aspect=30)
    bar.set_label("payoff a round", fontsize=SMALL)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL)


def _line(name: str) -> str:
    """A name in one line, as rows of the matrix have no room for more."""
    return shortened(printable(name), int(BESIDE / LETTER))
