"""`otherminds list`, `levels`, `games`, `players` and `experiments`: what can be named in other commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text
from typer import Argument

from otherminds.cli.models import list_models
from otherminds.cli.options import JsonOption
from otherminds.errors import unknown

if TYPE_CHECKING:
    from otherminds.worlds.doors_keys_gems.level_files import Level
    from otherminds.worlds.overcooked.level_files import KitchenLevel

Row = Mapping[str, object]
GameArgument = Annotated[str, Argument(metavar="[GAME]", help="rps, ibs, ipd, ordinal-001 to -144, or a file.")]

ABOUT_PLAYERS = {
    "rmax": "learns a table of replies, tries what is unknown first (the paper's tabular player)",
    "rmax_exact_ties": "the same, with ties broken exactly",
    "counts_myopic": "counts replies to its actions, plays for the next round",
    "counts_model": "counts replies to its actions, plans to the last round",
    "fictitious_play": "counts the partner's actions, plays for the next round",
    "k_tom_0": "tracks how the partner's choices drift",
    "k_tom_1": "takes the partner to be k_tom_0",
    "k_tom_2": "takes the partner to be k_tom_0 or k_tom_1",
    "bayes_simplicity": "Bayes-adaptive: plans with what it will learn, prefers simple rules",
    "bayes_library": "Bayesian over a library of machines, plans ahead",
    "bayes": "the usual one: expects partners that slip, change, learn or are in no list",
    "posterior_sampling": "draws a rule from its posterior, plays the best response",
    "me": "you, in the terminal",
}
ABOUT_EXPERIMENTS = {
    "protom-dkg": ("ProToM: facilitators in Doors-Keys-Gems", ""),
    "protom-overcooked": ("ProToM: facilitators in kitchens with rooms", ""),
    "dkg-human": ("ProToM: goal inference beside people", "--data CLONE"),
    "food-trucks": ("joint inference of beliefs and desires", "--data BTOM"),
    "study": ("ProToM: the study, with simulated people", ""),
    "functional": ("players and models in repeated games", ""),
    "clue-games": ("players and models in games of clues", ""),
    "people": ("people in repeated games, beside minds and models", ""),
    "mumatom": ("questions about social interactions", "invented ones, or --data DIR"),
    "stories": ("public benchmarks of stories, with shortcuts", "--data DIR"),
    "melting-pot": ("Melting Pot's rules against ours", ""),
    "hypothetical": ("Hypothetical Minds in Melting Pot's worlds", ""),
}


def levels(as_json: JsonOption = False) -> None:
    """List the bundled levels, and what help is worth there.

    Example: otherminds levels
    """
    print_rows(level_rows(), as_json, "otherminds watch garden-gate")


def bundled() -> dict[str, list[Level | KitchenLevel]]:
    """The bundled levels of each world."""
    from otherminds.papers.protom.levels.generation import DESIGNS

    return {world: design.bundled() for world, design in DESIGNS.items()}


def level_rows() -> list[Row]:
    """A row for each bundled level: its name, whether help is needed there, and its world."""
    rows: list[Row] = []
    for world, world_levels in bundled().items():
        kitchens = world == "overcooked"
        for number, level in enumerate(world_levels, 1):
            help_is = level.kind.replace("_", " ")
            rows.append({"": "" if kitchens else number, "level": level.name, "help is": help_is, "world": world})
    return rows


def games(
    name: Annotated[
        str | None, Argument(metavar="[GAME]", help="A game, or its file, whose payoffs are shown; none: lists them.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the bundled games, or show the payoffs of one.

    Besides, the 144 ordinal games of two are named ordinal-001 to ordinal-144, and a game can come from a file.

    Example: otherminds games
    """
    from otherminds.worlds.repeated_games.payoff_files import bundled_games, find_game

    if name:
        from otherminds.reports.terminal.tables import payoffs

        game = find_game(name)
        if as_json:
            description = {"game": game.name, "title": game.title, "agents": game.agents, "actions": game.actions}
            typer.echo(json.dumps(description | {"payoffs": game.payoffs}, ensure_ascii=False))
            return
        console = Console()
        console.print(Text(f"{game.name}: {game.title or 'a game'}\n"))
        console.print(payoffs(game))
        return
    rows = [
        {
            "game": bundled_game.name,
            "title": bundled_game.title,
            "actions": ", ".join(bundled_game.actions[0]),
            "agents": len(bundled_game.agents),
        }
        for bundled_game in bundled_games()
    ]
    print_rows(rows, as_json, "otherminds play ipd tft")


def players(game: GameArgument = "ipd", as_json: JsonOption = False) -> None:
    """List the players of repeated games, and the partners.

    Every partner plays, too. Besides, there are partners with digits, such as cycle-011, and with noise: tft~0.1 plays
    at random in 10 % of rounds.

    Example: otherminds players rps
    """
    from otherminds.cli.person import ME
    from otherminds.worlds.repeated_games.partners import partner_names
    from otherminds.worlds.repeated_games.payoff_files import find_game
    from otherminds.worlds.repeated_games.players.by_name import PLAYERS

    rows: list[Row] = [{"player": name, "what it does": ABOUT_PLAYERS.get(name, "")} for name in (*PLAYERS, ME)]
    rows += [{"player": name, "what it does": "partner"} for name in partner_names(find_game(game))]
    print_rows(rows, as_json, f"otherminds play {game} tft --player rmax")


def experiments(as_json: JsonOption = False) -> None:
    """List the experiments that can be reproduced.

    Example: otherminds experiments
    """
    from otherminds.reproduce.run import EXPERIMENTS

    rows = []
    for name in EXPERIMENTS:
        what, data = ABOUT_EXPERIMENTS.get(name, ("", ""))
        rows.append({"experiment": name, "what": what, "data": data})
    print_rows(rows, as_json, "otherminds reproduce protom-dkg --quick")


LISTS: Mapping[str, Callable[..., None]] = {
    "levels": levels,
    "games": games,
    "players": players,
    "experiments": experiments,
    "models": list_models,
}


def list_names(
    what: Annotated[str, Argument(metavar="[WHAT]", help=f"{', '.join(LISTS)}; none: what lists there are.")] = "",
    as_json: JsonOption = False,
) -> None:
    """List what other commands can name.

    Example: otherminds list games
    """
    if what and what not in LISTS:
        raise unknown("list", what, [*LISTS], f"there are {', '.join(LISTS)}")
    if what:
        LISTS[what](as_json=as_json)
    else:
        rows = [
            {"list": name, "what": (command.__doc__ or "").partition(".")[0].removeprefix("List ")}
            for name, command in LISTS.items()
        ]
        print_rows(rows, as_json, "otherminds list games")


def print_rows(rows: Sequence[Row], as_json: bool, example: str) -> None:
    """Print rows as a table, followed by a command that uses one of them; or as JSON."""
    if as_json:
        typer.echo(
            json.dumps([{key or "number": value for key, value in row.items()} for row in rows], ensure_ascii=False)
        )
        return
    from otherminds.reports.terminal.tables import plain_table

    names = list(rows[0]) if rows else []
    table = plain_table(*(Column(name, justify="left" if name else "right") for name in names))
    for row in rows:
        table.add_row(*(Text(str(value)) for value in row.values()))
    console = Console()
    console.print(table)
    console.print(Text(f"\nFor example: {example}"))


def offer_levels(command: str, *extra_names: str) -> None:
    """Print the names of all levels, for a command that was given none."""
    from rich.columns import Columns

    names = [*(str(row["level"]) for row in level_rows()), *extra_names]
    console = Console()
    console.print(f"Which level? A file, or one of these; for example: otherminds {command} garden-gate\n")
    console.print(Columns(map(Text, names), padding=(0, 3), column_first=True))


def open_in_browser(page: Path) -> None:
    """Show a page in the browser, where there is one."""
    typer.launch(page.resolve().as_uri())
