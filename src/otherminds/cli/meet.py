"""`otherminds meet`: an agent meets a scenario of Melting Pot, or a partner of a repeated game or a clue game."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text
from typer import Argument, Option

from otherminds.cli.lists import open_in_browser
from otherminds.cli.options import JsonOption, ModelOptions, OpenOption, SeedOption, with_options
from otherminds.errors import InputError

if TYPE_CHECKING:
    from otherminds.reproduce.meet import Encounter

PROGRAMS = "programs"  # the agent in scenarios if none is named: Hypothetical Minds with hypotheses as programs
BAYESIAN = "bayesian"  # the agent in clue games if none is named
ROUNDS = 100  # of an episode of a repeated game, as in the paper of functional Theory of Mind


@with_options
def meet(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A scenario or bot, as rws-rock; with --game a partner, as tft.")
    ] = None,
    *,
    agent: Annotated[
        str | None,
        Option(metavar="NAME", help="module:make, a player, or a model. Default: programs; bayes; bayesian."),
    ] = None,
    game: Annotated[
        str | None,
        Option(metavar="GAME", help="rps, ibs, ipd, ordinal-001 to -144, or a file; a clue game, as taboo."),
    ] = None,
    rounds: Annotated[
        int | None, Option(min=1, max=10_000, metavar="N", help="Rounds of an episode of a game. [usual: by game]")
    ] = None,
    episodes: Annotated[int, Option(min=1, max=1000, metavar="N", help="Episodes.")] = 4,
    seed: SeedOption = 42,
    as_json: JsonOption = False,
    out: Annotated[Path | None, Option(metavar="FILE", help="A page with a replay of the first episode.")] = None,
    open_page: OpenOption = False,
    models: ModelOptions,
) -> None:
    """Meet a scenario or a partner with an agent of your own.

    Its score, the best that is known, and the regret, each with a 95 % interval over episodes. Without a name it lists
    all scenarios, or with --game the partners of the game.

    Example: otherminds meet rws-rock --agent my_agent.py:make
    """
    if name is None:
        _list(game, as_json)
        return
    from otherminds.papers.functional.agents import USUAL
    from otherminds.reproduce.meet import (
        clue_game_names,
        encounter_page,
        is_spoken,
        meet_clue_partner,
        meet_partner,
        meet_scenario,
    )

    in_clue_game = game in clue_game_names()
    asks = game is not None and agent is not None and is_spoken(agent)
    taken = [] if not asks else ["strategy", "shuffle"] if in_clue_game else ["strategy", "shuffle", "names"]
    if unused := [o for o in ("strategy", "names", "shuffle") if getattr(models, o) and o not in taken]:
        raise InputError(f"--{unused[0]} has no meaning here", hint="`check` and `bench` ask models in several ways")
    page = out or (Path("meet.html") if open_page else None)
    asking = models.asking([agent], model=agent) if agent else None
    if game is not None and in_clue_game:
        encounter = meet_clue_partner(
            name, game, agent or BAYESIAN, rounds=rounds, episodes=episodes, seed=seed, asking=asking
        )
    elif game is not None:
        encounter = meet_partner(
            name, game, agent or USUAL, rounds=rounds or ROUNDS, episodes=episodes, seed=seed, asking=asking
        )
    else:
        _refuse_partner(name)
        played_by = agent or PROGRAMS
        encounter = meet_scenario(name, played_by, episodes=episodes, seed=seed, asking=asking, filmed=page is not None)
    if as_json:
        typer.echo(json.dumps(_summary(encounter), ensure_ascii=False))
    else:
        _print(encounter)
    if page:
        from otherminds.cli.levels import write

        write(page, encounter_page(encounter))
        typer.echo(f"Page: {page}", err=as_json)
        if open_page:
            open_in_browser(page)


def _list(game: str | None, as_json: bool) -> None:
    """Print what can be met: all scenarios, or the partners of a game."""
    from otherminds.cli.lists import print_rows
    from otherminds.reproduce.meet import clue_game, clue_game_names, repeated_game
    from otherminds.worlds.in_the_matrix.scenarios import scenarios
    from otherminds.worlds.repeated_games.partners import partner_names

    if game is not None and game in clue_game_names():
        partners = list(clue_game(game).partners)
        example = f'otherminds meet "{partners[0]}" --game {game} --agent my_agent.py:make'
        print_rows([{"partner": partner} for partner in partners], as_json, example)
        return
    if game is not None:
        rows = [{"partner": partner} for partner in partner_names(repeated_game(game))]
        print_rows(rows, as_json, f"otherminds meet tft --game {game} --agent my_player.py:make")
        return
    listed = [{"scenario": spec.name, "id": spec.id, "what is met": spec.meaning} for spec in scenarios()]
    print_rows(listed, as_json, "otherminds meet rws-rock --agent my_agent.py:make")


def _refuse_partner(name: str) -> None:
    """Raise InputError for a partner of repeated games that is no scenario, as it needs a game."""
    from otherminds.worlds.repeated_games.partners import partner_names
    from otherminds.worlds.repeated_games.payoff_files import find_game

    if name.partition("~")[0] in partner_names(find_game("ipd")):
        raise InputError(f"{name} is a partner of repeated games", hint=f"add the game: meet {name} --game ipd")


def _summary(encounter: Encounter) -> dict[str, object]:
    """An encounter as JSON."""
    about = {"name": encounter.name, "partner": encounter.partner, "agent": encounter.agent, "seed": encounter.seed}
    return about | {m.name: m.estimate._asdict() | {"meaning": m.meaning} for m in encounter.measures}


def _print(encounter: Encounter) -> None:
    """Print the figures of an encounter as a table."""
    from otherminds.reports.page import interval
    from otherminds.reports.terminal.tables import plain_table

    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(Text(f"{encounter.agent} meets {encounter.name}: {encounter.partner}\n"))
    table = plain_table("figure", "mean [95 % interval]", "what it is")
    for measure in encounter.measures:
        table.add_row(measure.name, interval(*measure.estimate[:3]), measure.meaning)
    console.print(table)
    n = encounter.measures[0].estimate.n
    console.print(Text(f"{n} episode{'s' * (n != 1)}, seed {encounter.seed}"))
