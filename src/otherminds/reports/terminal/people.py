"""Tables of fits, comparisons, recoveries and predictions for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from otherminds.evaluation.choices import Choices
from otherminds.evaluation.model_comparison import Comparison, Power
from otherminds.evaluation.populations import Fitted
from otherminds.evaluation.predictions import Score
from otherminds.mind import ParametricMind
from otherminds.reports.page import interval, number
from otherminds.reports.people_page import (
    EFFECT_COLUMNS,
    POWER_COLUMNS,
    RECOGNITION_COLUMNS,
    RECOVERY_COLUMNS,
    SCORE_COLUMNS,
    SUMMARY_COLUMNS,
    UNIT_COLUMNS,
    Recovered,
    comparison_rows,
    effect_lines,
    person_lines,
    power_lines,
    recognition_lines,
    recovery_lines,
    score_lines,
    summary_lines,
    unit_lines,
)
from otherminds.reports.people_words import (
    PRIOR,
    RANDOM_EFFECTS,
    chance_of,
    held_out_in_words,
    how_bounded,
    how_fitted,
    most_frequent,
    power_in_words,
    score_in_words,
    search_in_words,
    winner,
)
from otherminds.reports.terminal.tables import plain_table

MOST_PEOPLE = 20  # people in a table; pages have more, the JSON has all


def fitted(found: Fitted, choices: Choices | None = None) -> RenderableType:
    """The parameters of a fit, and what it explains; with the choices also by group, and beside chance."""
    fit = found.fit
    per_choice = fit.log_likelihood.sum() / fit.choices.sum()
    words = (
        f"{fit.mind.name}: log likelihood {number(float(fit.log_likelihood.sum()), 1)} ({number(per_choice, 3)} a "
        f"choice), AIC {number(float(fit.aic.sum()), 1)}, BIC {number(float(fit.bic.sum()), 1)}; {len(fit.units)} fits "
        f"{how_fitted(fit)}, {int(fit.choices.sum()):,} choices"
    )
    parts: list[RenderableType] = [Text(words)]
    if found.held_out is not None:
        parts.append(Text(held_out_in_words(found.held_out, None if choices is None else chance_of(choices))))
    if warning := search_in_words(found):
        parts.append(Text(warning, style="yellow"))
    if fit.mind.parameters and found.by == "person":
        parts.append(_table(SUMMARY_COLUMNS, summary_lines(fit, () if choices is None else choices.groups)))
        parts.append(_table(("Person", "Choices", "Log likelihood", *fit.mind.names), person_lines(found, MOST_PEOPLE)))
        if len(fit.units) > MOST_PEOPLE:
            parts.append(Text(f"The first {MOST_PEOPLE} of {len(fit.units)} people; --json has all.", style="dim"))
    elif fit.mind.parameters:
        parts.append(_table(UNIT_COLUMNS, unit_lines(found)))
    if fit.mind.parameters:
        parts.append(Text(how_bounded(found), style="dim"))
    if found.effects:
        parts.append(_table(EFFECT_COLUMNS, effect_lines(found.effects)))
    return Group(*parts)


def comparison(compared: Comparison) -> RenderableType:
    """The minds of a comparison, best first; the best of each group; and how sure the first place is."""
    rows = comparison_rows(compared)
    columns = ("Mind", "Held out, nats a choice", "ΔBIC", "Share", "Exceedance", "Protected")
    lines = [
        (
            row["mind"],
            interval(row["per_choice"], row["low"], row["high"], 3),
            number(row["delta_bic"], 0),
            *(number(row[name]) for name in ("share", "exceedance", "protected")),
        )
        for row in rows
        if row["group"] == "all"
    ]
    groups = [group for group in dict.fromkeys(row["group"] for row in rows) if group != "all"]
    best = [next(row for row in rows if row["group"] == group) for group in groups]
    best_lines = [
        (
            *(row["group"], str(row["people"]), row["mind"], number(row["per_choice"], 3)),
            *(number(row[name]) for name in ("exceedance", "protected")),
        )
        for row in best
    ]
    best_columns = ("Group", "People", "Best mind", "Nats a choice", "Exceedance", "Protected")
    return Group(
        Text(f"{winner(compared)} Chance is {number(chance_of(compared.choices), 3)} nats a choice."),
        Text(most_frequent(compared)),
        _table(columns, lines),
        *([_table(best_columns, best_lines)] if groups else []),
        Text(RANDOM_EFFECTS, style="dim"),
        Text(PRIOR, style="dim"),
    )


def recovery(
    minds: Sequence[ParametricMind], recoveries: Sequence[Recovered], power: Sequence[Power], met: str
) -> RenderableType:
    """Whether parameters, effects and minds are found again in simulated people; `met` says whom these met."""
    recovered = [r for part, _ in recoveries for r in part]
    recognitions = [recognition for _, recognition in recoveries]
    parts: list[RenderableType] = [Text(f"Simulated people meet {met}.")]
    if recovered:
        parts.append(_table(RECOVERY_COLUMNS, recovery_lines(recovered)))
    if power:
        parts += [_table(POWER_COLUMNS, power_lines(power)), Text(power_in_words(power), style="dim")]
    if len(minds) > 1:
        parts.append(_table(RECOGNITION_COLUMNS, recognition_lines([mind.name for mind in minds], recognitions)))
    return Group(*parts)


def scores(found: Sequence[Score]) -> RenderableType:
    """How well minds that were fitted before predict people."""
    ranked = sorted(found, key=lambda score: -score.per_choice)
    return Group(_table(SCORE_COLUMNS, score_lines(found)), *(Text(score_in_words(score)) for score in ranked))


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    table = plain_table(*map(escape, columns))
    for line in lines:
        table.add_row(*map(escape, line))
    return table
