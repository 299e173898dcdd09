"""`otherminds fit`, `compare` and `recover`: minds fitted to what people did."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer import Argument, Option

from otherminds.cli.options import JsonOption, SeedOption
from otherminds.errors import InputError, unknown

if TYPE_CHECKING:
    from otherminds.evaluation.choices import Choices
    from otherminds.evaluation.model_comparison import Partners
    from otherminds.worlds.repeated_games.players.parametric import ParametricMind

DataArgument = Annotated[
    str, Argument(metavar="DATA", help="human-rps, human-ipd, or a table: person, round, own, other.")
]
MindOption = Annotated[
    list[str] | None,
    Option("--mind", metavar="NAME", help="As wsls, q_learning, tft, or module:Class; repeatable."),
]
GameOption = Annotated[str | None, Option(metavar="GAME", help="Of your own table: rps, ipd, or a file.")]
ColumnOption = Annotated[
    list[str] | None, Option("--column", metavar="WHAT=NAME", help="As own=choice; person, group, match, round, other.")
]
PageOption = Annotated[Path | None, Option(metavar="FILE", help="Write a page with pictures.")]
HoldoutOption = Annotated[str, Option(metavar="WHAT", help="rounds: the last third; person: one at a time.")]
BY = ("person", "group", "all")


def fit(
    data: DataArgument,
    mind: MindOption = None,
    by: Annotated[str, Option(metavar="WHOM", help="person, group or all: who shares parameters.")] = "person",
    pool: Annotated[bool, Option("--pool", help="Partial pooling: people of a group are alike.")] = False,
    game: GameOption = None,
    column: ColumnOption = None,
    as_json: JsonOption = False,
    page: PageOption = None,
) -> None:
    """Fit minds to what people did: parameters with errors.

    Example: otherminds fit human-rps --mind wsls
    """
    from otherminds.evaluation import fitting
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    if by not in BY:
        raise unknown("unit", by, BY)
    if pool and by != "person":
        raise InputError("--pool goes with --by person", hint="people are pooled within their groups")
    choices = _read(data, game, column)
    minds = _minds(mind or ["wsls"], choices)
    fits = []
    for model in minds:
        likelihood = fitting.Likelihood.of(model, choices)
        fitted = fitting.hierarchical(likelihood) if pool else fitting.fit(likelihood, by)
        fits.append(people_page.Fitted(fitted, None if by == "person" else fitting.profile(likelihood, fitted, by)))
    if as_json:
        typer.echo(json.dumps([people_page.as_json(model) for model in fits], ensure_ascii=False))
    else:
        for result in fits:
            _console().print(terminal.fitted(result))
    _write(page, lambda: people_page.fit_page(data, choices, fits, _partners(data)), as_json)


def compare(
    data: DataArgument,
    mind: MindOption = None,
    holdout: HoldoutOption = "rounds",
    game: GameOption = None,
    column: ColumnOption = None,
    as_json: JsonOption = False,
    page: PageOption = None,
) -> None:
    """Which mind describes people best, on what was held out?

    Over people by random effects, with exceedance probabilities. Without minds all that can play the game are compared.

    Example: otherminds compare human-rps --mind wsls --mind joint_counts
    """
    from otherminds.evaluation import model_comparison
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    if holdout not in model_comparison.HOLDOUTS:
        raise unknown("holdout", holdout, model_comparison.HOLDOUTS)
    choices = _read(data, game, column)
    comparison = model_comparison.compare(_minds(mind, choices), choices, holdout)
    if as_json:
        typer.echo(json.dumps(people_page.comparison_rows(comparison), ensure_ascii=False))
    else:
        _console().print(terminal.comparison(comparison))
    _write(page, lambda: people_page.comparison_page(data, comparison, _partners(data)), as_json)


def recover(
    data: DataArgument,
    mind: MindOption = None,
    game: GameOption = None,
    column: ColumnOption = None,
    seed: SeedOption = 42,
    as_json: JsonOption = False,
    page: PageOption = None,
) -> None:
    """Would a fit find the right parameters, and the right mind?

    Simulated people take the place of real ones.

    Example: otherminds recover human-ipd --mind wsls --mind q_learning
    """
    import numpy as np

    from otherminds.evaluation import model_comparison
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    choices, partners = _read(data, game, column), _partners(data)
    minds, rng = _minds(mind, choices), np.random.default_rng(seed)
    recoveries = [model_comparison.recover(m, minds, choices, rng, partners) for m in minds]
    if as_json:
        typer.echo(json.dumps(people_page.recovery_rows(minds, recoveries), ensure_ascii=False))
    else:
        _console().print(terminal.recovery(minds, recoveries))
    _write(page, lambda: people_page.recovery_page(data, minds, recoveries), as_json)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 120)


def _read(data: str, game: str | None, columns: Sequence[str] | None) -> Choices:
    from otherminds.evaluation.choices import COLUMNS, read_choices
    from otherminds.papers.people.datasets import DATASETS, dataset
    from otherminds.worlds.repeated_games.payoff_files import find_game

    if data in DATASETS:
        if game or columns:
            raise InputError(f"{data} has a game and columns of its own", hint="leave --game and --column out")
        return dataset(data)
    if not Path(data).exists():
        raise InputError(
            f"there is no data set and no file `{data[:60]}`", hint=f"{', '.join(DATASETS)}, or a CSV file"
        )
    if game is None:
        raise InputError("a table needs its game", hint="--game rps, --game ipd, or a payoff file")
    pairs = dict(text.partition("=")[::2] for text in columns or ())
    for name in pairs:
        if name not in COLUMNS:
            raise unknown("column", name, COLUMNS)
    loaded_game = find_game(game)
    return read_choices(Path(data), lambda _group: loaded_game, pairs)


def _partners(data: str) -> Partners | None:
    from otherminds.papers.people.datasets import bots

    return bots() if data == "human-rps" else None


def _minds(names: Sequence[str] | None, choices: Choices) -> list[ParametricMind]:
    from otherminds.worlds.repeated_games.players.parametric import MINDS, imported, parametric

    game = choices.games[0]
    if names:
        return [imported(name) if ":" in name else parametric(name, game) for name in dict.fromkeys(names)]
    return [mind for mind in MINDS.values() if mind.fits(game)]


def _write(path: Path | None, page: Any, as_json: bool) -> None:
    from otherminds.files.text import write_whole

    if path:
        write_whole(path, [page().encode("utf-8", "backslashreplace")])
        typer.echo(f"Page: {path}", err=as_json)
