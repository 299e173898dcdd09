"""`otherminds tournament`: a round robin of players and machines."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import JsonOption, MachinesOption, OpenOption, SeedOption


def tournament(
    game: Annotated[str, Argument(metavar="GAME", help="rps, ibs, ipd, ordinal-001 to -144, or a file.")],
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="NAME...",
            help="Players, as rmax or module:object; partners, as tft, or tft~0.1: random in 10 % of rounds. "
            "Default: all without noise.",
        ),
    ] = None,
    machines: MachinesOption = None,
    rounds: Annotated[int, Option(min=1, max=10_000, metavar="N", help="Rounds of a match.")] = 100,
    episodes: Annotated[int, Option(min=1, max=1000, metavar="N", help="Matches of a pair with a player.")] = 3,
    seed: SeedOption = 42,
    as_json: JsonOption = False,
    open_page: OpenOption = False,
    page: Annotated[
        Path | None, Option(metavar="FILE", help="Write a page: matrix, replicator dynamics, fingerprints.")
    ] = None,
) -> None:
    """Let everybody play everybody, and see who would spread.

    A ranking, payoffs, and replicator dynamics. Machines meet in exact expectation, matches with players are sampled.

    Example: otherminds tournament ipd tft grim wsls rmax --page tournament.html
    """
    from otherminds.evaluation.round_robin import entrants_in, round_robin
    from otherminds.files.text import write_whole
    from otherminds.reports.terminal import tables as terminal
    from otherminds.reports.tournament_page import GENERATIONS, tournament_page
    from otherminds.worlds.repeated_games.payoff_files import find_game

    loaded_game = find_game(game)
    standings = round_robin(loaded_game, entrants_in(loaded_game, names or (), machines), rounds, episodes, seed)
    shares = standings.shares(GENERATIONS)[-1].tolist()
    ends = dict(zip((entrant.name for entrant in standings.entrants), shares, strict=True))
    if as_json:
        ranking = [
            {"rank": rank, "name": entrant.name, **entrant.score._asdict(), "share": ends[entrant.name]}
            for rank, entrant in zip(standings.ranks, standings.ranking, strict=True)
        ]
        summary = {
            "game": loaded_game.name,
            "rounds": rounds,
            "episodes": episodes,
            "seed": seed,
            "ranking": ranking,
            "entrants": [entrant.name for entrant in standings.entrants],
            "scores": standings.scores.mean(axis=0).tolist(),
        }
        typer.echo(json.dumps(summary, ensure_ascii=False))
    else:
        console = Console(width=None if sys.stdout.isatty() else 120)
        console.print(terminal.standings(standings.ranks, standings.ranking, ends))
    page = page or (Path("tournament.html") if open_page else None)
    if page:
        write_whole(page, [tournament_page(standings).encode("utf-8", "backslashreplace")])
        typer.echo(f"Page: {page}", err=as_json)
        if open_page:
            open_in_browser(page)
