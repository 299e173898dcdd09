"""What is kept of a training: the networks, and the learning curve as rows and as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.errors import InputError
from otherminds.papers.hypothetical_minds.ppo import Network
from otherminds.papers.hypothetical_minds.ppo_training import Progress
from otherminds.reports.page import STYLE
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled

Row = dict[str, float]
ORANGE = "#d55e00"


def keep(played: Iterable[Progress], name: str, folder: Path) -> list[Path]:
    """Write curve.jsonl while there is progress, then curve.svg and the network of each member; the files of these.

    Raises InputError if something cannot be written.
    """
    with _written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        rows, networks = list[Row](), list[Network]()
        with (folder / "curve.jsonl").open("w", encoding="utf-8") as file:
            for progress in played:
                rows.append({"steps": progress.steps, **progress.figures})
                networks = progress.networks
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
        draw_curve(rows, name, folder / "curve.svg")
    files = [folder / f"ppo-{name}-{member}.npz" for member in range(1, len(networks) + 1)]
    for network, path in zip(networks, files, strict=True):
        network.save(path)
    return files


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=error.filename or folder) from None


def draw_curve(rows: Sequence[Row], name: str, path: Path) -> None:
    """Draw what players get and how often they meet, by the steps they have learnt from. Raises OSError."""
    with matplotlib.rc_context(STYLE):
        _figure(rows, name).savefig(path, format="svg", metadata={"Date": None, "Creator": None})


@styled
def _figure(rows: Sequence[Row], name: str) -> Figure:
    figure = Figure(figsize=(WIDER, 3.6))
    paid, met = figure.subplots(2, 1, sharex=True)
    _line(paid, rows, "reward", SOFT, "with the population")
    _line(paid, rows, "against_random", ORANGE, "first player, others at random")
    paid.set(title=f"{name}, per 1200 steps", ylabel="reward")
    _line(met, rows, "meetings", BLUE, "")
    met.set(ylabel="meetings", xlabel="million steps of environments", ylim=(0, None))
    figure.legend(handles=paid.lines, loc="outside lower center", frameon=False)
    return figure


def _line(axes: Axes, rows: Sequence[Row], figure: str, colour: str, label: str) -> None:
    found = [(row["steps"] / 1e6, row[figure]) for row in rows if figure in row]
    axes.plot(*zip(*found, strict=True), color=colour, label=label, linewidth=1)
