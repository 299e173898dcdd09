"""`otherminds check`: does an agent act on what it knows about its partner?"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from otherminds.cli.asking import (
    AtOnceOption,
    BudgetOption,
    NamesOption,
    PriceOption,
    PricesOption,
    ReplayOption,
    ShuffleOption,
    StrategyOption,
    asking,
    one_price,
)
from otherminds.cli.levels import MISSED
from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.papers.functional.checking import Checked

GAMES = ("rps", "ibs", "ipd")


def check(
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="SPEC",
            help="openai:MODEL@URL, embedded, module:object, scripted:NAME or a player such as rmax; repeatable.",
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="GAME", help="rps, ibs, ipd, ordinal-001 or a file; repeatable."),
    ] = None,
    partners: Annotated[
        list[str] | None,
        typer.Option("--partner", metavar="NAME", help="As tft; default: each single action, and tft."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Rounds of an episode.")] = 30,
    episodes: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Episodes with each partner.")] = 1,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all randomness.")] = 42,
    max_regret: Annotated[
        float, typer.Option(min=0.0, metavar="X", help="What may be lost; random play loses 1.")
    ] = 0.5,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Default: runs/check-TIME.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdicts for JUnit, too.")] = None,
    strategy: StrategyOption = None,
    names: NamesOption = None,
    shuffle: ShuffleOption = "none",
    price: PriceOption = None,
    prices: PricesOption = None,
    budget: BudgetOption = None,
    replay: ReplayOption = None,
    at_once: AtOnceOption = 4,
) -> None:
    """Does an agent act on what it knows about its partner?

    Exit code 1 if it does not. Without an agent: known players and the smallest language model, for a first look.

    Example: otherminds check --agent openai:my-model@http://localhost:8000/v1
    """
    from otherminds.papers.functional.checking import Checked as Nothing
    from otherminds.papers.functional.checking import CheckOptions, check_as_asked, write_junit

    if not math.isfinite(max_regret):
        raise InputError(f"--max-regret is a share, and not {max_regret}")
    folder = out or Path("runs") / f"check-{time.strftime('%Y%m%d-%H%M%S')}"
    asked = asking("", strategy, names, shuffle, 1, price, budget, replay, at_once)
    asked = replace(asked, price=one_price(agents or (), price, prices, budget, replay))
    about = (tuple(agents or ()), tuple(games or GAMES), tuple(partners or ()), rounds, episodes, seed, max_regret)
    options = CheckOptions(folder, asked, *about)
    if junit:  # what cannot be written is told now, and not after a long run
        options.plan()
        write_junit(Nothing((), (), ()), junit)
    checked = check_as_asked(options)
    if junit:
        write_junit(checked, junit)
    judged(checked, folder)


def judged(checked: Checked, folder: Path) -> None:
    """Tell the verdicts; exit code 1 if somebody failed."""
    from otherminds.reports.terminal import tables as terminal

    console = Console()
    console.print(terminal.verdicts(checked.findings, checked.subjects))
    for line in checked.calls:
        console.print(line, markup=False, highlight=False)
    console.print(f"Report: {folder / 'report.html'}", markup=False, soft_wrap=True)
    if checked.failed:
        raise typer.Exit(MISSED)
