"""What the command line says of results: tables that fit a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from otherminds.reports.terminal.scenarios import bodies, guesses, plain
from otherminds.reports.terminal.study import study

Row = Mapping[str, Any]
Found = Mapping[tuple[str, str, str], Row]
SHOWN = ("success", "speedup", "messages", "decision_ms", "r", "rmse")
GAMES = "functional"
QUESTIONS = "mumatom"
BODIES = "melting-pot"
GUESSES = "hypothetical"
STUDY = "study"
SHORTCUTS = ("question_only", "no_video", "place_prior")
SHORT = {"belief": "belief", "social_goal": "social", "belief_of_goal": "of goal", "all": "all"}
KINDS = ("belief", "social_goal", "belief_of_goal", "all")
REGRET = "functional_regret"
EXACTLY = "functional_regret_exact"
MODELS = "lm:"
UNREADABLE = "unreadable_share"
NOISES = {"noise05": "5 %", "noise10": "10 %"}
LEARNERS = ("rmax", "bayes_simplicity", "posterior_sampling")
IN_CELLS = (*LEARNERS, "floor")
MARGIN = 0.001


def results(summary: Sequence[Row]) -> RenderableType:
    """The main figures of an experiment with 95 % intervals, beside the published ones; the report has the tuning."""
    summary = [row for row in summary if not row["condition"].startswith("tuning/")]
    games = [row for row in summary if row.get("experiment") == GAMES]
    if any(row.get("experiment") == QUESTIONS for row in summary):
        return _questions(summary)
    if any(row.get("experiment") == BODIES for row in summary):
        return bodies(summary)
    if any(row.get("experiment") == GUESSES for row in summary):
        return guesses(summary)
    if any(row.get("experiment") == STUDY for row in summary):
        return study(summary)
    return _games(games) if games else _by_condition(summary)


def _questions(summary: Sequence[Row]) -> RenderableType:
    """Accuracy in per cent by kind of question, for every way the stories are told; shortcuts only once."""
    found = {(r["condition"], r["subject"]): r for r in summary if r["metric"] == "accuracy"}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("right answers, %", overflow="fold")
    kinds = KINDS if any("/belief" in condition for condition, _ in found) else KINDS[-1:]
    for kind in kinds:
        table.add_column(SHORT[kind], no_wrap=True, justify="right")
    told = dict.fromkeys((c.rpartition("/")[0], s) for c, s in found if not c.startswith("invented/"))
    first = next((track for track, _ in told), "")
    for track, subject in told:
        if track == first or subject not in SHORTCUTS:
            name = subject if subject in SHORTCUTS else f"{track}  {subject}"
            cells = [_percent(found.get((f"{track}/{kind}", subject)), kind == "all") for kind in kinds]
            table.add_row(Text(name.replace("_", " ")), *cells)
    for condition, subject in (pair for pair in found if pair[0].startswith("invented/")):
        name = f"{condition.replace('/', ', ')}  {subject}".replace("_", " ")
        table.add_row(Text(name), *[""] * (len(kinds) - 1), _percent(found[condition, subject], True))
    return table


def _percent(row: Row | None, bounds: bool) -> str:
    if row is None:
        return ""
    value, low, high = (100.0 * row[name] for name in ("value", "low", "high"))
    return f"{value:.3g} [{low:.0f}, {high:.0f}]" if bounds else f"{value:.3g}"


def _by_condition(summary: Sequence[Row]) -> RenderableType:
    present = dict.fromkeys(row["metric"] for row in summary)
    metrics = [metric for metric in SHOWN if metric in present]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", min_width=11, overflow="fold")
    for metric in metrics:
        table.add_column(metric.removeprefix("decision_"), no_wrap=True)
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    for condition in dict.fromkeys(row["condition"] for row in summary):
        table.add_row(Text(condition.replace("heldout/", "held out ").replace("_", " "), style="bold"))
        for subject in dict.fromkeys(row["subject"] for row in summary if row["condition"] == condition):
            cells = [found.get((condition, subject, metric)) for metric in metrics]
            table.add_row(f"  {escape(subject)}", *map(_cell, cells))
            if any(row and "published" in row for row in cells):
                table.add_row("  published", *map(_published, cells), style="dim")
    replies = [_replies(found, subject) for at, subject, metric in found if (at, metric) == ("all", UNREADABLE)]
    return Group(table, Text("\n".join(replies), style="dim")) if replies else table


def _replies(found: Found, subject: str) -> str:
    """What a language model has written over all levels."""
    unreadable, replies, tokens = (found["all", subject, m]["value"] for m in (UNREADABLE, "replies", "tokens"))
    return f"{subject}: {replies:.1f} replies and {tokens:,.0f} tokens an episode, {unreadable:.0%} unreadable"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["metric"] == "decision_ms":
        return f"{row['value']:.1f}" if row["value"] < 10 else f"{row['value']:.0f}"
    digits = 2 if row["high"] < 10 else 1
    value, low, high = (round(row[name], digits) + 0.0 for name in ("value", "low", "high"))  # + 0.0 turns −0 into 0
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _published(row: Row | None) -> str:
    if row is None or "published" not in row:
        return ""
    bounds = f" [{row['published_low']:.2f}, {row['published_high']:.2f}]" if "published_low" in row else ""
    return f"{row['published']:.2f}{bounds}"


def _games(summary: Sequence[Row]) -> RenderableType:
    """Regret in the six cells, with machines, and under noise; the report has the rest."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    conditions = list(dict.fromkeys(row["condition"] for row in summary))
    noisy = [c for c in conditions if c.endswith(tuple(NOISES))]
    machines = [c for c in conditions if c.startswith("ipd/machines")]
    cells = [c for c in conditions if c.endswith(("/single", "/tft"))]
    optima = "Regret is per round against the exact optimum; rmax's in the first table against the paper's."
    parts = [_cells(found, cells), _models(found, cells), _machines(found, machines), _noise(found, noisy)]
    shown = [renderable for table in parts if table.row_count for renderable in (table, Text())]
    return Group(Text(), *shown, Text(optima, style="dim"))


def _cells(found: Found, cells: Sequence[str]) -> Table:
    table = plain("cell", "player", "regret", "published", "ToM %", "consistent", words=2)
    for cell in cells:
        title = escape(cell)
        for subject in IN_CELLS:
            if row := found.get((cell, subject, REGRET)):
                paper = {end: row.get(f"published_{end}") for end in ("low", "high")} | {"value": row.get("published")}
                table.add_row(title, subject, _estimate(row), _estimate(paper), *_literal(found, cell, subject))
                title = ""
    return table


def _models(found: Found, cells: Sequence[str]) -> Table:
    """Language models: what they predict and what they lose, and how many of their replies could not be read."""
    table = plain("cell", "language model", "regret", "ToM regret", "ToM %", "unreadable", words=2)
    for cell in cells:
        title = escape(cell)
        for subject in dict.fromkeys(s for c, s, _ in found if c == cell and s.startswith(MODELS)):
            about = {metric: found.get((cell, subject, metric)) for metric in (EXACTLY, "tom_regret_paper", UNREADABLE)}
            regret, tom, unreadable = about.values()
            if regret and tom and unreadable:
                literal, _ = _literal(found, cell, subject)
                name = escape(subject.removeprefix(MODELS).replace(":", " "))
                table.add_row(title, name, _between(regret), _plainly(tom), literal, f"{unreadable['value']:.0%}")
                title = ""
    return table


def _machines(found: Found, conditions: Sequence[str]) -> Table:
    table = plain("machines", "player", "regret", "ToM %", "consistent", words=2)
    for condition in conditions:
        title = escape(condition.removeprefix("ipd/machines").removeprefix("_") or "all")
        present = dict.fromkeys(subject for c, subject, metric in found if (c, metric) == (condition, REGRET))
        regret = {s: found.get((condition, s, EXACTLY)) or found[condition, s, REGRET] for s in present}
        for subject in sorted(regret, key=lambda subject: float(regret[subject]["value"])):
            table.add_row(title, escape(subject), _between(regret[subject]), *_literal(found, condition, subject))
            title = ""
    return table


def _noise(found: Found, conditions: Sequence[str]) -> Table:
    """Without intervals, to be short."""
    table = plain(f"noise {' and '.join(NOISES.values())}", *LEARNERS, words=1)
    for cell in dict.fromkeys(condition.rpartition("_")[0] for condition in conditions):
        rows = ([found.get((f"{cell}_{noise}", s, EXACTLY)) for noise in NOISES] for s in LEARNERS)
        table.add_row(escape(cell), *("  ".join(_plainly(row) if row else "-" for row in pair) for pair in rows))
    return table


def _literal(found: Found, condition: str, subject: str) -> tuple[str, str]:
    literal, consistent = (found.get((condition, subject, metric)) for metric in ("tom_percent", "consistency"))
    return f"{literal['value']:.1f}" if literal else "", f"{consistent['value']:.2f}" if consistent else ""


def _plainly(row: Row) -> str:
    return f"{round(row['value'], 3) + 0.0:.3f}"  # + 0.0 turns −0 into 0


def _estimate(row: Row) -> str:
    """A value, with its margin if it varies; nothing if there is none."""
    if row["value"] is None:
        return ""
    sure = row["low"] is None or row["high"] - row["low"] < MARGIN
    return _plainly(row) if sure else _spread(row, 3)


def _between(row: Row) -> str:
    """A value, and its interval if it has one: intervals over machines are lopsided."""
    value, low, high = (f"{row[name]:.3f}" for name in ("value", "low", "high"))
    return value if low == high else f"{value} [{low}, {high}]"


def verdicts(findings: Sequence[Any], subjects: Sequence[str]) -> RenderableType:
    """What agents lose and know, with verdicts on those that were to be checked in words."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for i, column in enumerate(("agent", "breaks at", "loses", "mispredicts", "gap", "unreadable")):
        table.add_column(column, justify="left" if i < 2 else "right", no_wrap=i > 0, overflow="fold")
    for found in findings:
        passed, breaks, _ = found.verdict
        result = Text("nothing", style="green") if passed else Text(breaks, style="red")
        unreadable = "" if found.unreadable is None else f"{found.unreadable.value:.0%}"
        lost = found.functional
        interval = f" [{lost.low:.2f}, {lost.high:.2f}]" if lost.low < lost.high else ""
        figures = (f"{lost.value:.2f}{interval}", f"{found.literal.value:.2f}", f"{found.gap.value:.2f}")
        table.add_row(escape(found.name), result, *figures, unreadable)
    judged = [f"{found.name}: {found.verdict.words}." for found in findings if found.name in subjects]
    scale = "Losses are shares of what uniformly random play loses: 0 is the best possible play, 1 is random."
    return Group(Text(), table, Text(), *map(Text, judged), Text(scale, style="dim"))


def scores(found: Sequence[Row]) -> Table:
    """Literal and functional scores of players with partners: means with 95 % intervals over episodes."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("partner")
    table.add_column("player", no_wrap=True)
    for column in ("predicts, %", "regret a round", "reward", "optimum", "consistent"):
        table.add_column(column, justify="right", no_wrap=True)
    by_pair: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found:
        by_pair.setdefault((row["partner"], row["player"]), {})[row["metric"]] = row
    for (partner, player), metrics in by_pair.items():
        literal, functional, reward, consistent = (
            metrics[name] for name in ("tom_percent", "functional_regret", "reward", "consistency")
        )
        figures = (_spread(literal, 1), _spread(functional, 3), f"{reward['value']:.3f}", f"{reward['optimum']:.3f}")
        table.add_row(escape(partner), escape(player), *figures, f"{consistent['value']:.2f}")
    return table


def _spread(row: Row, digits: int) -> str:
    """A value and half the width of its interval: `0.248 ± 0.006`."""
    margin = (row["high"] - row["low"]) / 2
    return f"{row['value']:.{digits}f} ± {margin:.{digits}f}"
