"""Markup that is escaped already, and the bars and tables by which objects show themselves in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from otherminds.errors import shortened
from otherminds.files.text import printable

MOST = 12  # rows of a view; chosen
LONGEST = 60  # characters of a name in it; chosen
BAR = "#0072b2"
WIDEST = "30em"  # of a picture; chosen


class Html(str):
    """HTML that is already escaped. A notebook shows it as what it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Html({len(self):,} characters)"

    def _repr_html_(self) -> str:
        return self


def safe(value: object) -> Html:
    """Html unchanged, anything else as escaped text."""
    return value if isinstance(value, Html) else Html(html.escape(printable(str(value))))


def bars(title: str, shares: Sequence[tuple[object, float]]) -> Html:
    """Probabilities as bars with their names; of many the largest, in their order, and the sum of the others."""
    by_share = sorted(range(len(shares)), key=lambda i: -shares[i][1])
    kept = sorted(by_share[:MOST])
    lines = [_bar(name, share) for name, share in (shares[i] for i in kept)]
    if rest := by_share[MOST:]:
        lines.append(_bar(f"{len(rest)} more", sum(shares[i][1] for i in rest)))
    return Html(_headed(title) + f'<table style="border-collapse:collapse">{"".join(lines)}</table>')


def facts(title: str, lines: Iterable[tuple[str, object]]) -> Html:
    """Names with what they stand for, a line each."""
    cells = (
        f'<tr><td style="text-align:left;color:gray">{safe(name)}</td>'
        f'<td style="text-align:left">{_cut(value)}</td></tr>'
        for name, value in lines
    )
    return Html(_headed(title) + f'<table style="border-collapse:collapse">{"".join(cells)}</table>')


def pictured(svg: str) -> Html:
    """A drawing, not wider than WIDEST."""
    return Html(f'<div style="max-width:{WIDEST}">{svg}</div>')


def _cut(value: object) -> Html:
    return value if isinstance(value, Html) else safe(shortened(str(value), LONGEST))


def _headed(title: str) -> str:
    return f"<div><b>{safe(title)}</b></div>" if title else ""


def _bar(name: object, share: float) -> str:
    bar = f'<div style="background:{BAR};height:.7em;width:{100 * share:.1f}%"></div>'
    return (
        f'<tr><td style="text-align:left">{_cut(name)}</td><td style="width:12em">{bar}</td>'
        f'<td style="text-align:right">{share:.2f}</td></tr>'
    )
