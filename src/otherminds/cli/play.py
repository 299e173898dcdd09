"""`otherminds play`: any player, any partner, any game."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

SeedOption = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all randomness.")]


class Scores(StrEnum):
    """How to show scores."""

    table = "table"
    json = "json"


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="rps, ibs, ipd, ordinal-001 to -144, or a file.")],
    partners: Annotated[
        list[str], typer.Argument(metavar="PARTNER...", help="As tft, tft~0.05 (noise), cycle-011, random.")
    ],
    players: Annotated[
        list[str] | None,
        typer.Option("--player", metavar="NAME", help="Who plays; repeatable. Default: bayes_simplicity."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Rounds of an episode.")] = 100,
    episodes: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Episodes with each partner.")] = 20,
    seed: SeedOption = 42,
    form: Annotated[Scores, typer.Option("--format", metavar="FORMAT", help="table or json.")] = Scores.table,
) -> None:
    """Does a player predict its partner, and act on that?

    Scores against the exact optimum.

    Example: otherminds play ipd tft always-defect --player rmax
    """
    from otherminds.papers.functional.encounters import scores
    from otherminds.reports.terminal import tables as terminal
    from otherminds.worlds.repeated_games.payoff_files import find_game

    found = scores(find_game(game), partners, players or ["bayes_simplicity"], rounds, episodes, seed)
    if form is Scores.json:
        typer.echo(json.dumps(found, ensure_ascii=False))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(terminal.scores(found))
