"""`otherminds fit`, `compare`, `recover` and `score`: minds fitted to what people did."""

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

DataArgument = Annotated[str, Argument(metavar="DATA", help="human-rps, human-ipd, or a table of what people did.")]
REPLAYED, FITTED = "replayed", "fitted"


@dataclass(frozen=True)
class TableOptions:
    """The minds, what people faced, the columns of a table, and where results go."""

    mind: Annotated[
        list[str] | None,
        Option("--mind", metavar="NAME", help="As wsls, q_learning, tft, or module:Class; repeatable."),
    ] = None
    game: Annotated[
        str | None, Option(metavar="GAME", help="rps, ipd, a file, bandit, ultimatum:10, trust:10x3, dictator:10.")
    ] = None
    columns: Annotated[
        list[str] | None,
        Option("--columns", metavar="WHAT=NAME,…", help="Names that are not guessed, as person=subj,own=choice."),
    ] = None
    values: Annotated[
        list[str] | None, Option("--values", metavar="TEXT=ACTION,…", help="Codes of actions, as 0=cooperate,1=defect.")
    ] = None
    missing: Annotated[
        list[str] | None, Option("--missing", metavar="TEXT", help="A code of a move that was missed, as NA.")
    ] = None
    as_json: JsonOption = False
    page: Annotated[Path | None, Option(metavar="FILE", help="Write a page with pictures.")] = None

    def choices(self, data: str) -> Choices:
        """The choices of a data set that comes with the library, or of a table. Raises InputError."""
        from otherminds.evaluation.tables import choices_of
        from otherminds.papers.people.datasets import DATASETS, dataset

        if data in DATASETS:
            if self.game or self.columns:
                raise InputError(f"{data} has a game and columns of its own", hint="leave --game and --columns out")
            return dataset(data)
        if not Path(data).exists():
            datasets = ", ".join(DATASETS)
            raise InputError(f"there is no data set and no file `{data[:60]}`", hint=f"{datasets}, or a table")
        columns, values = _pairs("--columns", self.columns), _pairs("--values", self.values)
        read = choices_of(Path(data), self.game, columns, values=values, missing=self.missing or ())
        if read.skipped:
            reasons = ", ".join(f"{count:,} {why}" for why, count in read.skipped.items())
            typer.echo(f"Rows left out: {reasons}", err=True)
        return read.choices

    def minds(self, choices: Choices, default: Sequence[str] = ()) -> list[ParametricMind]:
        """The minds by name; without names the default ones, or all that can do the task."""
        from otherminds.evaluation.minds import mind_named, minds_for

        task, names = choices.games[0], self.mind or default
        if not names:
            return minds_for(task)
        return [mind_named(name, task) for name in dict.fromkeys(names)]

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


def _pairs(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """What `a=b,c=d` maps to what. Raises InputError for anything else."""
    pairs = {}
    for part in (part for text in texts or () for part in text.split(",")):
        name, equals, value = part.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"{option} `{part[:60]}` is no pair", hint=f"{option} one=other,third=fourth")
        pairs[name.strip()] = value.strip()
    return pairs


PartnerOption = Annotated[
    str,
    Option(
        "--partner",
        metavar="NAME",
        help="Whom simulated people meet: fitted (to the table), replayed, or a partner as tft.",
    ),
]
HoldoutOption = Annotated[
    str | None, Option(metavar="WHAT", help="Also predict what is held out: rounds (the last third), or person.")
]
BY = ("person", "group", "all")


@with_options
def fit(
    data: DataArgument,
    *,
    table: TableOptions,
    by: Annotated[str, Option(metavar="WHOM", help="person, group or all: who shares parameters.")] = "person",
    pool: Annotated[bool, Option("--pool", help="Partial pooling: people of a group are alike.")] = False,
    effect: Annotated[
        str | None, Option(metavar="COLUMN", help="What group, or a column of people, changes in the parameters.")
    ] = None,
    holdout: HoldoutOption = None,
    judgements: Annotated[
        Path | None, Option(metavar="FILE", help="DATA are ratings, and this a model's predictions of them.")
    ] = None,
    partner: PartnerOption = FITTED,
) -> None:
    """Fit minds to what people did or judged: parameters.

    Example: otherminds fit human-rps --mind wsls
    """
    from otherminds.evaluation.own_players import blamed_if_own
    from otherminds.evaluation.populations import fitted_mind
    from otherminds.evaluation.progress import shown
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    if judgements is not None:
        if table.mind or table.game or table.values or table.missing or pool or effect or holdout or by != "person":
            raise InputError("with --judgements only --columns, --json and --page can be said")
        _fit_judgements(data, judgements, table)
        return
    if by not in BY:
        raise unknown("unit", by, BY)
    if (pool or effect) and by != "person":
        raise InputError(f"--{'pool' if pool else 'effect'} goes with --by person", hint="people are pooled")
    _check_holdout(holdout)
    choices = table.choices(data)
    partners = _partners(data, choices, partner)
    minds = table.minds(choices, [_default(choices)])
    minds_in_turn = shown(minds, len(minds), "Fitting minds")
    with blamed_if_own(*(table.mind or ())):
        fits = [fitted_mind(m, choices, by, pool=pool, effect=effect, holdout=holdout) for m in minds_in_turn]
        rows = [people_page.as_json(fitted, choices) for fitted in fits]
        tables = [terminal.fitted(fitted, choices) for fitted in fits]
        table.show(rows, tables, lambda: people_page.fit_page(data, choices, fits, partners))


def _fit_judgements(data: str, predictions: Path, table: TableOptions) -> None:
    """Fit a model's settings to people's ratings."""
    from otherminds.evaluation.judgement_tables import judged
    from otherminds.evaluation.judgements import as_rows
    from otherminds.reports.judgements_page import judgements_page
    from otherminds.reports.terminal.judgements import judgements

    found = judged(Path(data), predictions, _pairs("--columns", table.columns))
    table.show(as_rows(found), [judgements(found)], lambda: judgements_page(data, found))


def _default(choices: Choices) -> str:
    """The mind that is fitted if none is named."""
    if choices.divisions is not None:
        return "inequity_aversion"
    return "wsls" if choices.rewards is None else "rescorla_wagner"


def _check_holdout(holdout: str | None) -> None:
    from otherminds.evaluation.predictions import HOLDOUTS

    if holdout is not None and holdout not in HOLDOUTS:
        raise unknown("holdout", holdout, HOLDOUTS)


@with_options
def compare(
    data: DataArgument,
    *,
    table: TableOptions,
    holdout: Annotated[str, Option(metavar="WHAT", help="rounds: the last third; person: one at a time.")] = "rounds",
    partner: PartnerOption = FITTED,
) -> None:
    """Which mind describes people best, on what was held out?

    Over people by random effects, with exceedance probabilities. Without minds all that can do the task are compared.

    Example: otherminds compare human-rps --mind wsls --mind joint_counts
    """
    from otherminds.evaluation import model_comparison
    from otherminds.evaluation.own_players import blamed_if_own
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    _check_holdout(holdout)
    choices = table.choices(data)
    partners = _partners(data, choices, partner)
    with blamed_if_own(*(table.mind or ())):
        comparison = model_comparison.compare(table.minds(choices), choices, holdout)
        table.show(
            people_page.comparison_rows(comparison),
            [terminal.comparison(comparison)],
            lambda: people_page.comparison_page(data, comparison, partners),
        )


@with_options
def recover(
    data: DataArgument,
    *,
    table: TableOptions,
    effect: Annotated[
        str | None, Option(metavar="COLUMN", help="Also: how often would an effect of this column be found?")
    ] = None,
    partner: PartnerOption = FITTED,
    seed: SeedOption = 42,
) -> None:
    """Would a fit find the right parameters, and the right mind?

    Simulated people take the place of real ones, and meet partners who react.

    Example: otherminds recover human-ipd --mind wsls --mind q_learning
    """
    import numpy as np

    from otherminds.evaluation import model_comparison
    from otherminds.evaluation.own_players import blamed_if_own
    from otherminds.evaluation.progress import shown
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    choices = table.choices(data)
    partners = _partners(data, choices, partner)
    minds, rng = table.minds(choices), np.random.default_rng(seed)
    minds_in_turn = shown(minds, len(minds), "Simulating people")
    with_effect = () if effect is None else shown(minds, len(minds), "Simulating effects")
    with blamed_if_own(*(table.mind or ())):
        recoveries = [model_comparison.recover(m, minds, choices, rng, partners) for m in minds_in_turn]
        power = [p for m in with_effect for p in model_comparison.power(m, choices, effect or "", rng, partners)]
    met = people_page.whom_they_meet(choices, partners)
    table.show(
        {"partners": met, **people_page.recovery_rows(minds, recoveries), "effects": [p._asdict() for p in power]},
        [terminal.recovery(minds, recoveries, power, met)],
        lambda: people_page.recovery_page(data, minds, recoveries, power, met),
    )


@with_options
def score(
    fitted: Annotated[Path, Argument(metavar="FITTED", help="What `otherminds fit … --json` printed, as a file.")],
    data: DataArgument,
    *,
    table: TableOptions,
) -> None:
    """How well do fitted minds predict other people, or later?

    A person who was fitted is predicted by the own parameters, others by those of their group or of all together.

    Example: otherminds score fitted.json new.csv --game rps
    """
    from otherminds.evaluation.own_players import blamed_if_own
    from otherminds.evaluation.predictions import read_fitted, score_of
    from otherminds.reports import people_page
    from otherminds.reports.terminal import people as terminal

    fits = read_fitted(fitted)
    choices = table.choices(data)
    minds = {mind.name: mind for mind in table.minds(choices, [found.mind for found in fits])}
    with blamed_if_own(*(table.mind or ())):
        scores = [score_of(minds[found.mind], choices, found) for found in fits if found.mind in minds]
    if not scores:
        raise InputError(f"{fitted} has none of these minds", hint=", ".join(found.mind for found in fits))
    table.show(
        [one._asdict() for one in scores],
        [terminal.scores(scores)],
        lambda: people_page.score_page(data, choices, scores),
    )


def _partners(data: str, choices: Choices, name: str) -> Partners | None:
    """Whom simulated people meet, by group; None if the partners' moves are replayed, or there is no partner."""
    from otherminds.evaluation.choices import fitted_partners
    from otherminds.papers.people.datasets import bots
    from otherminds.worlds.repeated_games.partners import partner
    from otherminds.worlds.repeated_games.rules import Game

    game = choices.games[0]
    if name == REPLAYED or not isinstance(game, Game):
        return None
    if name == FITTED:
        return bots() if data == "human-rps" else fitted_partners(choices)
    machine = partner(name, game.seen_by(1))
    return dict.fromkeys(choices.groups, machine)
