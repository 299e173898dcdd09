"""`otherminds leaderboard`: results with the frozen pool of partners, checked and ranked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import JsonOption, OpenOption, SeedOption


def leaderboard(
    files: Annotated[
        list[Path] | None, Argument(metavar="FILES...", help="Results with the pool, as --play writes them.")
    ] = None,
    play: Annotated[
        list[str] | None,
        Option(
            metavar="NAME", help="Play the pool with this player, as rmax or module:object, and keep NAME-SEED.json."
        ),
    ] = None,
    page: Annotated[Path, Option(metavar="FILE", help="The page.")] = Path("leaderboard.html"),
    seed: SeedOption = 42,
    as_json: JsonOption = False,
    open_page: OpenOption = False,
) -> None:
    """Rank players by what they earn with partners that are held out.

    Every result is checked by playing its actions again; a result in which an action was changed is refused.

    Example: otherminds leaderboard --play rmax --play counts_model
    """
    from otherminds.errors import InputError
    from otherminds.evaluation.own_players import blamed_if_own
    from otherminds.evaluation.pool import play_pool, read_result, standings
    from otherminds.files.text import write_whole
    from otherminds.reports.leaderboard_page import leaderboard_page

    if not files and not play:
        raise InputError("no results are named", hint="name files, or a player to --play")
    results = [read_result(file) for file in files or ()]
    for name in play or ():
        with blamed_if_own(name):
            result = play_pool(name, seed)
        path = Path(f"{name.replace(':', '-')}-{seed}.json")
        write_whole(path, [result.model_dump_json().encode()])
        typer.echo(f"Result: {path}", err=as_json)
        results.append(result)
    ranking = standings(results)
    if as_json:
        rows = [{"player": row.player, **row.reward._asdict(), "accuracy": row.accuracy} for row in ranking]
        typer.echo(json.dumps(rows, ensure_ascii=False))
    for standing in () if as_json else ranking:
        typer.echo(f"{standing.reward.value:6.3f}  {standing.player}")
    write_whole(page, [leaderboard_page(ranking).encode("utf-8", "backslashreplace")])
    typer.echo(f"Page: {page}", err=as_json)
    if open_page:
        open_in_browser(page)
