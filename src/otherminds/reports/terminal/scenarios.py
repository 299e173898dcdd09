"""What the command line says of results in the scenarios of Melting Pot's worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]
Found = Mapping[tuple[str, str, str], Row]
PLAYERS = {
    "programs": "guess",
    "stranger": "out",
    "informed": "told",
    "last_play": "last",
    "uniform": "any",
    "random": "walk",
    "ppo": "ppo",
}
MODELS = "lm:"


def bodies(summary: Sequence[Row]) -> RenderableType:
    """Scores of scripted bodies a 1200 steps: beside the prototype's, then those of the scenarios."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    calibration = plain("calibration", "egocentric", "prototype", "all-seeing", "prototype", words=1)
    scenarios = plain("scenario", "score", "reward", "steps", "meetings", "a meeting", words=1)
    for case in dict.fromkeys(s for c, s, m in found if m == "score" and c.startswith("calibration")):
        rows = [found.get((f"calibration/{body}", case, "score")) for body in ("egocentric", "full_information")]
        calibration.add_row(escape(case), *(text for row in rows for text in (_about(row), _about(row, "published_"))))
    for name in (s for c, s, m in found if (c, m) == ("scenario", "score")):
        means = [found["scenario", name, m]["value"] for m in ("reward", "steps", "meetings")]
        each = found.get(("scenario", name, "per_meeting"))
        row = (_about(found["scenario", name, "score"]), *(f"{mean:,.1f}" for mean in means))
        scenarios.add_row(escape(name), *row, "" if each is None else f"{each['value']:.2f}")
    note = "Bodies are scripted: scores compare with each other, not with those of Melting Pot's own bots."
    return Group(Text(), calibration, Text(), scenarios, Text(), Text(note, style="dim"))


def guesses(summary: Sequence[Row]) -> RenderableType:
    """Scores in the scenarios beside the paper's, how well partners were predicted, and what language models did."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    players = [player for player in PLAYERS if any(s == player for _, s, _ in found)]
    scenarios = dict.fromkeys(c for c, s, m in found if m == "score" and s in players)
    table = plain("scenario", *(PLAYERS[player] for player in players), "paper", "right", "lost", words=1)
    table.columns[0].no_wrap = True
    for name in scenarios:
        rows = [found.get((name, player, "score")) for player in players]
        first = found.get((name, "programs", "score"))
        rest = [found.get((name, "programs", metric)) for metric in ("literal_validated", "regret")]
        paper = f"{first['published']:.0f}" if first and "published" in first else ""
        right, lost = (_short(row, digits) for row, digits in zip(rest, (2, 1), strict=True))
        table.add_row(escape(name), *(_short(row, 0) for row in rows), paper, right, lost)
    count = found.get(("all", "programs", "at_least_published"))
    told = f"At least the paper's score in {count['value']:.0f} of {count['n']} scenarios. " if count else ""
    out = "Out: without its hypothesis. " * ("stranger" in players)
    note = f"{told}{out}Right: predictions once validated. Lost: a meeting, against the best policy."
    shown: list[RenderableType] = [Text(), table, Text(), Text(note, style="dim")] if scenarios else []
    return Group(*shown, *_speakers(found))


def _speakers(found: Found) -> list[RenderableType]:
    """Agents with language models: scores, calls and tokens an episode, and how much could not be read."""
    heads = ("score", "right", "lost", "calls", "tokens", "unreadable")
    table = plain("scenario", "agent with a language model", *heads, words=2)
    for name, subject in (pair[:2] for pair in found if pair[2] == "score" and pair[1].startswith(MODELS)):
        mine = {metric: row for (c, s, metric), row in found.items() if (c, s) == (name, subject)}
        tokens = sum(mine[metric]["value"] for metric in ("prompt_tokens", "written_tokens"))
        figures = [_short(mine.get(metric), digits) for metric, digits in (("score", 0), ("literal", 2), ("regret", 2))]
        calls, unreadable = mine["calls"]["value"], mine["unreadable_share"]["value"]
        who = " ".join(reversed(subject.removeprefix(MODELS).partition(":")[::2]))
        table.add_row(escape(name), escape(who), *figures, f"{calls:.0f}", f"{tokens:,.0f}", f"{unreadable:.0%}")
    return [Text(), table] if table.row_count else []


def _short(row: Row | None, digits: int) -> str:
    return "" if row is None else f"{round(row['value'], digits) + 0.0:.{digits}f}"  # + 0.0 turns −0 into 0


def _about(row: Row | None, prefix: str = "") -> str:
    """A value and its interval, if it has one, in whole numbers."""
    if row is None:
        return ""
    columns = (prefix.rstrip("_") or "value", f"{prefix}low", f"{prefix}high")
    value, low, high = (round(row[column]) + 0.0 for column in columns)  # + 0.0 turns −0 into 0
    return f"{value:.0f}" if low == high else f"{value:.0f} [{low:.0f}, {high:.0f}]"


def plain(*columns: str, words: int) -> Table:
    """A table of which so many columns are words, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < words else "right", no_wrap=i >= words)
    return table
