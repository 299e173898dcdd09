"""Tables of fits, comparisons and recoveries for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from otherminds.evaluation.fitting import Fitted
from otherminds.evaluation.model_comparison import Comparison
from otherminds.mind import ParametricMind
from otherminds.reports.people_page import (
    PRIOR,
    RECOGNITION_COLUMNS,
    RECOVERY_COLUMNS,
    Recovered,
    comparison_rows,
    how_fitted,
    parameter_summary,
    recognition_lines,
    recovery_lines,
    winner,
)
from otherminds.reports.terminal.tables import plain_table


def fitted(fit_and_profile: Fitted) -> RenderableType:
    """The parameters of a fit, and what it explains."""
    fit = fit_and_profile.fit
    by_person = fit_and_profile.profile is None
    table = plain_table("of", "parameter", "mean [95 %]" if by_person else "value [95 %]", "sd" if by_person else "se")
    for line in parameter_summary(fit_and_profile):
        table.add_row(*map(escape, line))
    per_choice = fit.log_likelihood.sum() / fit.choices.sum()
    words = (
        f"{fit.mind.name}: log likelihood {fit.log_likelihood.sum():,.1f} ({per_choice:.3f} a choice), "
        f"AIC {fit.aic.sum():,.1f}, BIC {fit.bic.sum():,.1f}; {len(fit.units)} fits "
        f"{how_fitted(fit)}, {int(fit.choices.sum()):,} choices"
    )
    return Group(Text(words), table) if fit.mind.parameters else Text(words)


def comparison(compared: Comparison) -> RenderableType:
    """The minds of a comparison, best first; the best of each group; and how sure the first place is."""
    rows = comparison_rows(compared)
    table = plain_table("mind", "held out, nats a choice", "ΔBIC", "share", "exceedance", "protected")
    for row in (row for row in rows if row["group"] == "all"):
        score = f"{row['per_choice']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        chances = (f"{row[name]:.2f}" for name in ("share", "exceedance", "protected"))
        table.add_row(escape(row["mind"]), score, f"{row['delta_bic']:,.0f}", *chances)
    groups = [group for group in dict.fromkeys(row["group"] for row in rows) if group != "all"]
    best = plain_table("group", "people", "best mind", "nats a choice", "exceedance", "protected")
    for group in groups:
        row = next(row for row in rows if row["group"] == group)
        chances = (f"{row[name]:.2f}" for name in ("exceedance", "protected"))
        best.add_row(escape(group), str(row["people"]), row["mind"], f"{row['per_choice']:.3f}", *chances)
    return Group(table, *([best] if groups else []), Text(winner(compared)), Text(PRIOR, style="dim"))


def recovery(minds: Sequence[ParametricMind], recoveries: Sequence[Recovered]) -> RenderableType:
    """Correlations of true and fitted parameters, and for each mind what its people are taken for."""
    parameters = plain_table(*RECOVERY_COLUMNS)
    for line in recovery_lines([r for recovered, _ in recoveries for r in recovered]):
        parameters.add_row(*map(escape, line))
    recognition_table = plain_table(*RECOGNITION_COLUMNS)
    for line in recognition_lines([mind.name for mind in minds], [recognition for _, recognition in recoveries]):
        recognition_table.add_row(*map(escape, line))
    return Group(parameters, recognition_table)
