"""`otherminds verify melting-pot`: are the worlds in the manner of Melting Pot its own, step for step?"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from otherminds.cli.levels import MISSED

EVENTS = ("meetings", "picked up", "destroyed", "deliveries")


def verify_melting_pot(
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps of the engine in each world.")] = 5_000,
    substrates: Annotated[
        list[str] | None,
        typer.Option("--world", metavar="NAME", help="Which world; repeatable. Default: all four."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Seed of the players. Default: the clock.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where dm-meltingpot was unpacked; default: $OTHERMINDS_MELTINGPOT."),
    ] = None,
) -> None:
    """Play Melting Pot's engine and the library's rules side by side.

    Exit code 1 if they ever disagree. Needs the extra: pip install "otherminds[meltingpot]".

    Example: otherminds verify melting-pot --steps 20000 --world rws_repeated
    """
    from otherminds.adapters.melting_pot import SUBSTRATES, Engine
    from otherminds.adapters.verifying import summed, verify
    from otherminds.evaluation.progress import shown

    seed = time.time_ns() % 2**31 if seed is None else seed
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("world", "episodes", "steps", "mismatches", "in which"):
        table.add_column(column, justify="left" if column in ("world", "in which") else "right", no_wrap=True)
    mismatches: list[str] = []
    for name in substrates or SUBSTRATES:
        played = verify(Engine(name, folder=folder, seed=seed), steps, np.random.default_rng(seed))
        found = summed(shown(played, steps, name, lambda comparison: comparison.steps))
        mismatches += [f"{name}, {mismatch}" for mismatch in found.mismatches]
        cells = [found.counts["episodes"], found.steps, len(found.mismatches)]
        events = ", ".join(f"{found.counts[event]:,} {event}" for event in EVENTS if event in found.counts)
        table.add_row(name, *(f"{cell:,}" for cell in cells), events)
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    for mismatch in mismatches:
        console.print(mismatch, markup=False, highlight=False, soft_wrap=True)
    if mismatches:
        raise typer.Exit(MISSED)
