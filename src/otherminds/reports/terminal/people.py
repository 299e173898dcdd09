"""Tables of fits, comparisons and recoveries for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from otherminds.evaluation.model_comparison import Comparison, Recovery
from otherminds.reports.people_page import Fitted, comparison_rows, parameter_summary
from otherminds.reports.terminal.tables import plain_table


def fitted(found: Fitted) -> RenderableType:
    """The parameters of a fit, and what it explains."""
    fit = found.fit
    by_person = found.profile is None
    table = plain_table("of", "parameter", "mean [95 %]" if by_person else "value [95 %]", "sd" if by_person else "se")
    for line in parameter_summary(found):
        table.add_row(*map(escape, line))
    per_choice = fit.log_likelihood.sum() / fit.choices.sum()
    words = (
        f"{fit.mind.name}: log likelihood {fit.log_likelihood.sum():,.1f} ({per_choice:.3f} a choice), "
        f"AIC {fit.aic.sum():,.1f}, BIC {fit.bic.sum():,.1f}; {len(fit.units)} fits, {int(fit.choices.sum()):,} choices"
    )
    return Group(Text(words), table) if fit.mind.parameters else Text(words)


def comparison(found: Comparison) -> RenderableType:
    """The minds of a comparison, best first, for all people; then the best of each group."""
    rows = comparison_rows(found)
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
    return Group(table, best) if groups else table


def recovery(recovered: Sequence[Recovery], names: Sequence[str], matrix: NDArray[np.float64]) -> RenderableType:
    """Correlations of true and fitted parameters, and for each mind the share of its people that it wins."""
    table = plain_table("mind", "parameter", "r")
    for one in recovered:
        table.add_row(escape(one.mind), one.parameter, f"{one.r:.2f}")
    minds = plain_table("simulated by", "recognised", "else most often")
    for i, name in enumerate(names):
        others = np.where(np.arange(len(names)) == i, -1.0, matrix[i])
        other = f"{names[int(others.argmax())]} {others.max():.2f}" if others.max() > 0 else ""
        minds.add_row(escape(name), f"{matrix[i, i]:.2f}", escape(other))
    return Group(table, minds)
