"""`otherminds fit`, `compare` and `recover`: minds fitted to what people did."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, RenderableType
from typer import Argument, Option

from otherminds.cli.options import JsonOption, SeedOption, with_options
from otherminds.errors import InputError, unknown

if TYPE_CHECKING:
    from otherminds.evaluation.choices import Choices
    from otherminds.evaluation.model_comparison import Partners
    from otherminds.mind import ParametricMind

DataArgument = Annotated[
    str, Argument(metavar="DATA", help="human-rps, human-ipd, or a table: person, round, own, other.")
]


@dataclass(frozen=True)
class TableOptions:
    """The minds, the game, the columns of a table, and where results go."""

    mind: Annotated[
        list[str] | None,
        Option("--mind", metavar="NAME", help="As wsls, q_learning, tft, or module:Class; repeatable."),
    ] = None
    game: Annotated[str | None, Option(metavar="GAME", help="Of your own table: rps, ipd, or a file.")] = None
    column: Annotated[
        list[str] | None,
        Option("--column", metavar="WHAT=NAME", help="As own=choice; person, group, match, round, other."),
    ] = None
    as_json: JsonOption = False
    page: Annotated[Path | None, Option(metavar="FILE", help="Write a page with pictures.")] = None

    def choices(self, data: str) -> Choices:
        """The choices of a data set that comes with the library, or of a table. Raises InputError."""
        from otherminds.evaluation.tables import COLUMNS, read_choices
        from otherminds.papers.people.datasets import DATASETS, dataset
        from otherminds.worlds.repeated_games.payoff_files import find_game

        if data in DATASETS:
            if self.game or self.column:
                raise InputError(f"{data} has a game and columns of its own", hint="leave --game and --column out")
            return dataset(data)
        if not Path(data).exists():
            datasets = ", ".join(DATASETS)
            raise InputError(f"there is no data set and no file `{data[:60]}`", hint=f"{datasets}, or a CSV file")
        if self.game is None:
            raise InputError("a table needs its game", hint="--game rps, --game ipd, or a payoff file")
        columns = dict(text.partition("=")[::2] for text in self.column or ())
        for name in columns:
            if name not in COLUMNS:
                raise unknown("column", name, COLUMNS)
        game = find_game(self.game)
        return read_choices(Path(data), lambda _group: game, columns)

    def minds(self, choices: Choices, default: Sequence[str] = ()) -> list[ParametricMind]:
        """The minds by name; without names the default ones, or all that can play the game."""
        from otherminds.worlds.repeated_games.players.parametric import MINDS, imported, parametric

        game: Any = choices.games[0]
        names = self.mind or default
        if names:
            return [imported(name) if ":" in name else parametric(name, game) for name in dict.fromkeys(names)]
        return [mind for mind in MINDS.values() if mind.fits(game)]

    def show(self, rows: Any, tables: Iterable[RenderableType], html: Callable[[], str]) -> None:
        """Print rows as JSON, or else tables; write the page if there is to be one."""
        from otherminds.files.text import write_whole

        if self.as_json:
            typer.echo(json.dumps(rows, ensure_ascii=False))
        else:
            console = Console(width=None if sys.stdout.isatty() else 120)
            for table in tables:
                console.print(table)
        if self.page:
            write_whole(self.page, [html().encode("utf-8", "backslashreplace")])
            typer.echo(f"Page: {self.page}", err=self.as_json)


BY = ("person", "group", "all")


@with_options
def fit(
    data: DataArgument,
    *,
    table: TableOptions,
    by: Annotated[str, Option(metavar="WHOM", help="person, group or all: who shares parameters.")] = "person",
    pool: Annotated[bool, Option("--pool", help="Partial pooling: people of a group are alike.")] = False,
) -> None:
    """Fit minds to what people did: parameters with errors.

    Example: otherminds fit human-rps --mind wsls
    """
    from otherminds.evaluation.fitting import fitted_minds
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    if by not in BY:
        raise unknown("unit", by, BY)
    if pool and by != "person":
        raise InputError("--pool goes with --by person", hint="people are pooled within their groups")
    choices = table.choices(data)
    fits = fitted_minds(table.minds(choices, ["wsls"]), choices, by, pool=pool)
    rows = [people_page.as_json(fitted) for fitted in fits]
    table.show(rows, map(terminal.fitted, fits), lambda: people_page.fit_page(data, choices, fits, _partners(data)))


@with_options
def compare(
    data: DataArgument,
    *,
    table: TableOptions,
    holdout: Annotated[str, Option(metavar="WHAT", help="rounds: the last third; person: one at a time.")] = "rounds",
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
    choices = table.choices(data)
    comparison = model_comparison.compare(table.minds(choices), choices, holdout)
    rows = people_page.comparison_rows(comparison)
    table.show(
        rows,
        [terminal.comparison(comparison)],
        lambda: people_page.comparison_page(data, comparison, _partners(data)),
    )


@with_options
def recover(data: DataArgument, *, table: TableOptions, seed: SeedOption = 42) -> None:
    """Would a fit find the right parameters, and the right mind?

    Simulated people take the place of real ones.

    Example: otherminds recover human-ipd --mind wsls --mind q_learning
    """
    import numpy as np

    from otherminds.evaluation import model_comparison
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    choices, partners = table.choices(data), _partners(data)
    minds, rng = table.minds(choices), np.random.default_rng(seed)
    recoveries = [model_comparison.recover(m, minds, choices, rng, partners) for m in minds]
    table.show(
        people_page.recovery_rows(minds, recoveries),
        [terminal.recovery(minds, recoveries)],
        lambda: people_page.recovery_page(data, minds, recoveries),
    )


def _partners(data: str) -> Partners | None:
    from otherminds.papers.people.datasets import bots

    return bots() if data == "human-rps" else None
