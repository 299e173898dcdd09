"""One page for everything that was reproduced: four systems, their figures beside the papers', and what falls short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from otherminds.evaluation.scoreboard import scores
from otherminds.reports import scoreboard_plots
from otherminds.reports.page import (
    NOTHING,
    Html,
    Section,
    book,
    inline,
    interval,
    number,
    side_by_side,
    stack,
    table,
    with_code,
)
from otherminds.reports.results import Results, verdicts, write_results
from otherminds.reports.tables import cell
from otherminds.reproduce.combined_fronts import fronts
from otherminds.reproduce.combined_words import APART, LEAD, ORDER, READING, VERDICTS
from otherminds.reproduce.scoreboard_episodes import FAMILIES, episodes
from otherminds.reproduce.verdicts import WORSE, verdict

Row = Mapping[str, Any]
Found = Mapping[str, Results]
NOTHING_SHORT = "Nothing that was compared is worse than published, and no target was missed."
NO_SCORE = (
    "Who expects nothing, or was told, has no literal score; who does not act, no functional one. Regret is what is "
    "lost against who knows the other, in points, or in steps against the oracle's help."
)


def write_book(folder: Path, found: Found) -> Path:
    """Bind the results of several experiments, by name, into one report in a folder; its path is returned.

    Raises InputError if it cannot be written.
    """
    found = {name: found[name] for name in ORDER if name in found}
    board = scores(one for name, results in found.items() for one in episodes(name, results.rows))
    summary = [row for results in found.values() for row in results.summary]
    write_results(folder, [*summary, *board], whole(found, summary, board))
    return folder / "report.html"


def whole(found: Found, summary: Sequence[Row], board: Sequence[Row]) -> str:
    """The page."""
    front = [
        Section("Four systems", fronts(found)),
        Section("Beside the papers", _beside(found)),
        Section("One scoreboard", _board(board)),
        Section("What falls short", _short(summary)),
        Section("What could not be compared, and why", _apart(found, summary)),
    ]
    return book("otherminds", with_code(LEAD), front, [results.report for results in found.values()])


# Beside the papers


def _beside(found: Found) -> Html:
    parts = [_compared(results) for results in found.values() if any(map(_published, results.summary))]
    return stack(VERDICTS, *parts)


def _published(row: Row) -> bool:
    return "published" in row


def _compared(results: Results) -> Html:
    rows = [row for row in results.summary if _published(row)]
    counted = Counter(verdict(row) for row in rows)
    told = ", ".join(f"{words}: {n}" for words, n in counted.most_common())
    lines = [[*_about(row), _own(row), row["n"], _theirs(row), verdict(row)] for row in rows]
    columns = ("Where", "Who", "Measure", "Ours", "n", "Published", "Verdict")
    source = rows[0]["source"].partition(":")[0]
    caption = f"{results.report.heading}. {told.capitalize()}, of {len(rows)}. Published: {source}."
    return table(columns, lines, caption)


def _about(row: Row) -> list[str]:
    return [row[name].replace("_", " ") for name in ("condition", "subject", "metric")]


def _own(row: Row) -> str:
    return _interval(row, row["value"], row["low"], row["high"])


def _theirs(row: Row) -> str:
    return _interval(row, row["published"], row.get("published_low"), row.get("published_high"))


def _interval(row: Row, value: float, low: float | None, high: float | None) -> str:
    """With as many digits as help to compare; what has no width is no interval."""
    size = max(abs(row["value"]), abs(row["published"]))
    digits = 3 if size < 1 else 2 if size < 10 else 1 if size < 200 else 0
    return number(value, digits) if low == high else interval(value, low, high, digits)


# The scoreboard


def _board(board: Sequence[Row]) -> Html:
    points = scoreboard_plots.points(board)
    known = {family: worlds for family, worlds in FAMILIES.items() if any(world in points for world in worlds)}
    panels = [inline(scoreboard_plots.panel(shown), world) for world, shown in points.items()]
    overview = inline(scoreboard_plots.overview(points, known), "Every agent in every world") if points else ""
    return stack(READING, overview, side_by_side(*panels), _lines(board))


def _lines(board: Sequence[Row]) -> Html:
    values = {(row["condition"], row["subject"], row["metric"]): row for row in board}
    lines, before = [], ""
    worlds = list(dict.fromkeys(row["condition"] for row in board))
    everybody = dict.fromkeys((row["condition"], row["subject"]) for row in board)
    for world, agent in sorted(everybody, key=lambda pair: worlds.index(pair[0])):
        mine = [values.get((world, agent, metric)) for metric in ("literal", "calibration_error", "functional")]
        n, lost = max(row["n"] for row in mine if row), values.get((world, agent, "regret"))
        name = "" if world == before else world
        lines.append([name, agent.replace("_", " "), *map(_share, mine), cell(lost), n])
        before = world
    return table(
        ("World", "Who", "Literal, %", "Miscalibrated by, %", "Functional, %", "Regret an episode", "n"),
        lines,
        NO_SCORE,
    )


def _share(row: Row | None) -> str:
    return NOTHING if row is None else interval(100 * row["value"], 100 * row["low"], 100 * row["high"], 0)


# What falls short


def _short(summary: Sequence[Row]) -> Html:
    lines = [[" · ".join(_about(row)), _own(row), _theirs(row), verdict(row)] for row in summary if _falls_short(row)]
    for target, row, met in verdicts(summary):
        if not met:
            lines.append([str(target).replace("_", " "), number(row["value"]), "", "target missed"])
    told = f"Of {sum(map(_published, summary))} figures that stand beside a published one, these are worse, or missed."
    return stack(told, table(("What", "Ours", "Published", ""), lines)) if lines else stack(NOTHING_SHORT)


def _falls_short(row: Row) -> bool:
    return _published(row) and verdict(row).startswith(WORSE)


def _apart(found: Found, summary: Sequence[Row]) -> Html:
    """What is not here: some of it is never, some only if it was not run."""
    there = {*found, *(f"{row['experiment']}/{row['condition']}" for row in summary)}
    return table(("What", "Why"), [[what, with_code(why)] for name, what, why in APART if name not in there])
