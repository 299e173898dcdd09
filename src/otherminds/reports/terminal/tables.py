"""Tables of results and runs for the terminal, narrow enough for a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from otherminds.evaluation.how_begun import described
from otherminds.evaluation.round_robin import Standing
from otherminds.evaluation.runs import Run
from otherminds.files.text import printable
from otherminds.language.model import EMBEDDED
from otherminds.reports.results import RowsByKey, by_key
from otherminds.worlds.repeated_games.rules import Game

Row = Mapping[str, Any]
METRICS = ("success", "speedup", "messages", "decision_ms", "r", "rmse")
STUDY_METRICS = ("success", "speedup", "messages", "ignored", "helpful", "appropriate", "clear", "understood")
WHOLE = ("ignored",)  # metrics that are counts
SHORTCUTS = ("question_only", "no_video", "place_prior")
KINDS = {"belief": "belief", "social_goal": "social", "belief_of_goal": "of goal", "all": "all"}
REGRET = "functional_regret"
EXACTLY = "functional_regret_exact"
MODELS = "lm:"
UNREADABLE = "unreadable_share"
NOISES = {"noise05": "5 %", "noise10": "10 %"}
LEARNERS = ("rmax", "bayes_simplicity", "posterior_sampling")
IN_CELLS = (*LEARNERS, "floor")
PLAYERS = {
    "programs": "guess",
    "stranger": "out",
    "informed": "told",
    "bound": "bound",
    "last_play": "last",
    "uniform": "any",
    "random": "walk",
    "ppo": "ppo",
}
WHO = {
    "programs": "guesses what its partner is up to",
    "stranger": "the same without the partner's own strategy among its hypotheses",
    "informed": "is told the strategy",
    "bound": "best response, told the strategy and the map",
    "last_play": "answers the last play",
    "uniform": "plays anything",
    "random": "walks about",
}
"""The columns of the players in words."""
FOR_GOOD = 0.5  # share of its regret from which it is said that a player lost it for good by its first rounds; chosen
VERDICTS = {"passes": "green", "fails": "red", "open": "yellow", "not measured": "yellow"}  # of a check
MARGIN = 0.001  # an interval narrower than this is not shown; half a unit of the last digit on either side


def results(summary: Sequence[Row]) -> RenderableType:
    """The main figures of an experiment with 95 % intervals, beside the published ones; the report has the tuning."""
    summary = [row for row in summary if not row["condition"].startswith(("tuning/", "robust/"))]
    experiment = next((row.get("experiment", "") for row in summary), "")
    return BY_EXPERIMENT.get(experiment, _by_condition)(summary)


def verdicts(findings: Sequence[Any], sentences: Sequence[str]) -> RenderableType:
    """What agents lose and know, with the verdicts on those that were checked, in sentences."""
    speak = any(finding.unreadable is not None for finding in findings)
    unread = ["un-\nreadable"] if speak else []
    table = _table("\nagent", "\nverdict", "\nloses", "of it\npredicted", "mis-\npredicts", *unread, words=2)
    table.padding = (0, 2, 0, 0)
    for i, column in enumerate(table.columns):
        column.no_wrap, column.overflow = i > 0 or not speak, "fold"
    for finding in findings:
        result = Text(finding.verdict.result, style=VERDICTS[finding.verdict.result])
        unreadable = "" if finding.unreadable is None else f"{100 * sum(finding.unreadable.values()):.0f} %"
        loss = finding.functional
        interval = f" [{loss.low:.2f}, {loss.high:.2f}]" if loss.low < loss.high else ""
        figures = (f"{loss.value:.2f}{interval}", f"{finding.unused.value:.2f}", f"{finding.literal.value:.2f}")
        known = figures if loss.n else ("–",) * len(figures)
        table.add_row(escape(finding.name), result, *known, *([unreadable] if speak else []))
    scale = "Losses are shares of what uniformly random play loses: 0 is the best possible play, 1 is random."
    return Group(Text(), table, Text(), *map(Text, sentences), Text(scale, style="dim"))


def measures(lines: Sequence[Sequence[str]]) -> Table:
    """The figures of a benchmark: what was measured, the model's value, known players, people and published models."""
    table = plain_table("measure", "this model", "known players", "people, published")
    for line in lines:
        table.add_row(*map(escape, line))
    return table


def scores(rows: Sequence[Row]) -> Table:
    """Literal and functional scores of players with partners: means with 95 % intervals over episodes."""
    columns = ("partner", "player", "predicts, %", "regret a round", "reward", "optimum", "consistent")
    table = _table(*columns, words=2, edge=True)
    table.columns[1].no_wrap = True
    by_pair: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        by_pair.setdefault((row["partner"], row["player"]), {})[row["metric"]] = row
    for (partner, player), metrics in by_pair.items():
        literal, functional = _spread(metrics["tom_percent"], 1), _spread(metrics[REGRET], 3)
        reward, consistent = metrics["reward"], metrics["consistency"]["value"]
        figures = (literal, functional, f"{reward['value']:.3f}", f"{reward['optimum']:.3f}", f"{consistent:.2f}")
        table.add_row(escape(partner), escape(player), *figures)
    return table


def payoffs(game: Game) -> Table:
    """The payoffs of a game, yours first: a row for each of your actions, a column for what all others do."""
    joint_labels = [" + ".join(joint) for joint in product(*game.actions[1:])]
    table = plain_table("you \\ partner" if len(game.agents) == 2 else "you \\ others", *map(escape, joint_labels))
    cells = (", ".join(f"{payoff:g}" for payoff in joint) for joint in game.payoffs)
    for name in game.actions[0]:
        table.add_row(escape(name), *islice(cells, len(joint_labels)))
    return table


def unforgiven(rows: Sequence[Row]) -> list[str]:
    """A sentence for each player that lost most of its regret for good by its first rounds."""
    sentences = []
    pairs = dict.fromkeys((row["partner"], row["player"]) for row in rows)
    by_metric = {(row["partner"], row["player"], row["metric"]): row for row in rows}
    for partner, player in pairs:
        possible = by_metric[partner, player, "best_left"]
        lost = by_metric[partner, player, REGRET]["value"]
        lost_for_good = possible["optimum"] - possible["value"]
        if lost > MARGIN and lost_for_good >= FOR_GOOD * lost:
            sentences.append(
                f"{player} with {partner}: the best response earns {possible['optimum']:.2f} a round, but only "
                f"{possible['value']:.2f} after what {player} did in the first {possible['after_rounds']} rounds: "
                "this partner does not forgive that."
            )
    return sentences


def standings(ranks: Sequence[str], ranking: Sequence[Standing], shares: Mapping[str, float]) -> Table:
    """The ranking of a tournament: payoffs per round with 95 % intervals, and shares after replicator dynamics."""
    table = _table("rank", "entrant", "payoff a round", "share in the end, %", words=2, edge=True)
    table.columns[0].justify = "right"
    for rank, standing in zip(ranks, ranking, strict=True):
        score = (
            _spread(standing.score._asdict(), 3)
            if standing.score.low < standing.score.high
            else f"{standing.score.value:.3f}"
        )
        table.add_row(rank, escape(printable(standing.name)), score, f"{100 * shares[standing.name]:.1f}")
    return table


# Cells


def plain_table(*columns: Column | str, edge: bool = False, gap: int = 2) -> Table:
    """A table without a frame, and with no rows yet; `edge`: with space around it."""
    return Table(*columns, box=box.SIMPLE_HEAD, show_edge=edge, pad_edge=False, padding=(0, gap, 0, 0))


def _table(*columns: str, words: int = 0, edge: bool = False) -> Table:
    """A table whose first columns, `words` in number, are text and the others numbers; `edge`: with space around it."""
    justified = (
        Column(name, justify="left" if i < words else "right", no_wrap=i >= words) for i, name in enumerate(columns)
    )
    return plain_table(*justified, edge=edge, gap=1)


def _number(row: Row | None, digits: int) -> str:
    """The value of a row; empty if there is none."""
    return "" if row is None else f"{round(row['value'], digits) + 0.0:.{digits}f}"  # + 0.0 turns −0 into 0


def _bounded(row: Row | None, digits: int, prefix: str = "", *, always: bool = False) -> str:
    """A value and its interval, if that has a width or is to be shown `always`."""
    if row is None:
        return ""
    columns = (prefix.rstrip("_") or "value", f"{prefix}low", f"{prefix}high")
    value, low, high = (f"{round(row[column], digits) + 0.0:.{digits}f}" for column in columns)
    return value if low == high and not always else f"{value} [{low}, {high}]"


def _spread(row: Row, digits: int) -> str:
    """A value and half the width of its interval: `0.248 ± 0.006`."""
    margin = (row["high"] - row["low"]) / 2
    return f"{row['value']:.{digits}f} ± {margin:.{digits}f}"


def _cell(row: Row | None) -> str:
    """A value with its interval, in digits that suit its metric."""
    if row is None:
        return ""
    if row["metric"] in WHOLE:
        return f"{row['value']:.0f}"
    if row["metric"] == "decision_ms":
        return f"{row['value']:.1f}" if row["value"] < 10 else f"{row['value']:.0f}"
    return _bounded(row, 2 if row["high"] < 10 else 1, always=True)


def _published(row: Row | None) -> str:
    """A published value with its interval, if it has one."""
    if row is None or "published" not in row:
        return ""
    bounds = f" [{row['published_low']:.2f}, {row['published_high']:.2f}]" if "published_low" in row else ""
    return f"{row['published']:.2f}{bounds}"


# Facilitation and its study


def _by_condition(summary: Sequence[Row]) -> RenderableType:
    """A block of facilitators for each condition, a column for each metric."""
    present = dict.fromkeys(row["metric"] for row in summary)
    metrics = [metric for metric in METRICS if metric in present] or list(present)
    columns = (Column(metric.removeprefix("decision_"), no_wrap=True) for metric in metrics)
    table = plain_table(Column("", min_width=11, overflow="fold"), *columns, edge=True, gap=1)
    rows_by_key = by_key(summary)
    for condition in dict.fromkeys(row["condition"] for row in summary):
        table.add_row(Text(condition.replace("heldout/", "held out ").replace("_", " "), style="bold"))
        for subject in dict.fromkeys(row["subject"] for row in summary if row["condition"] == condition):
            cells = [rows_by_key.get((condition, subject, metric)) for metric in metrics]
            table.add_row(f"  {escape(subject)}", *map(_cell, cells))
            if any(row and "published" in row for row in cells):
                table.add_row("  published", *map(_published, cells), style="dim")
    spoken = [subject for condition, subject, metric in rows_by_key if (condition, metric) == ("all", "replies")]
    replies = []
    for subject in spoken:
        unreadable, count, tokens = (rows_by_key["all", subject, m]["value"] for m in (UNREADABLE, "replies", "tokens"))
        use = f"{count:.1f} replies and {tokens:,.0f} tokens an episode"
        replies.append(f"{subject}: {use}, {unreadable:.0%} unreadable")
    return Group(table, Text("\n".join(replies), style="dim")) if replies else table


def _study(summary: Sequence[Row]) -> RenderableType:
    """Figure 6 of the ProToM paper: every metric over all levels, a column for each facilitator, beside the paper's."""
    rows_by_key = {(r["subject"], r["metric"]): r for r in summary if r["condition"] == "all"}
    subjects = list(dict.fromkeys(subject for subject, _ in rows_by_key))
    published = {subject for (subject, _), row in rows_by_key.items() if "published" in row}
    table = _table(edge=True)
    table.add_column("", no_wrap=True, min_width=max(map(len, STUDY_METRICS)))
    for subject in subjects:
        table.add_column(Text(printable(subject)), no_wrap=True)
        if subject in published:
            table.add_column("paper", style="dim", no_wrap=True)
    for metric in STUDY_METRICS:
        cells = []
        for subject in subjects:
            row = rows_by_key.get((subject, metric))
            cells.append(_cell(row))
            if subject in published:
                digits = 0 if metric in WHOLE else 2
                cells.append(f"{row['published']:.{digits}f}" if row and "published" in row else "")
        table.add_row(metric, *cells)
    return table


# Questions about stories


def _questions(summary: Sequence[Row]) -> RenderableType:
    """Accuracy in per cent by kind of question, for every way the stories are told; shortcuts only once.

    In the last column a question that was not answered is guessed.
    """
    accuracy, guessing = (
        {(r["condition"], r["subject"]): r for r in summary if r["metric"] == metric}
        for metric in ("accuracy", "accuracy_guessing")
    )
    kinds = list(KINDS) if any("/belief" in condition for condition, _ in accuracy) else ["all"]
    columns = (Column(KINDS[kind], no_wrap=True, justify="right") for kind in kinds)
    last = [Column("guessing", no_wrap=True, justify="right")] * bool(guessing)
    table = plain_table(Column("right answers, %", overflow="fold"), *columns, *last, edge=True, gap=1)
    track_subjects = dict.fromkeys((c.rpartition("/")[0], s) for c, s in accuracy if not c.startswith("invented/"))
    first = next((track for track, _ in track_subjects), "")
    for track, subject in track_subjects:
        if track == first or subject not in SHORTCUTS:
            name = subject if subject in SHORTCUTS else f"{track}  {subject}"
            cells = [_percent(accuracy.get((f"{track}/{kind}", subject)), kind == "all") for kind in kinds]
            forced = [_percent(guessing.get((f"{track}/all", subject)), False)] * bool(guessing)
            table.add_row(Text(name.replace("_", " ")), *cells, *forced)
    for condition, subject in (pair for pair in accuracy if pair[0].startswith("invented/")):
        name = f"{condition.replace('/', ', ')}  {subject}".replace("_", " ")
        table.add_row(Text(name), *[""] * (len(kinds) - 1), _percent(accuracy[condition, subject], True))
    return table


def _percent(row: Row | None, bounds: bool) -> str:
    if row is None:
        return ""
    value, low, high = (100.0 * row[name] for name in ("value", "low", "high"))
    return f"{value:.3g} [{low:.0f}, {high:.0f}]" if bounds else f"{value:.3g}"


# Repeated games


def _games(summary: Sequence[Row]) -> RenderableType:
    """Regret in the six cells, with machines, and under noise; the report has the rest."""
    rows_by_key = by_key(summary)
    conditions = list(dict.fromkeys(row["condition"] for row in summary))
    cells = [c for c in conditions if c.endswith(("/single", "/tft"))]
    parts = [
        _cells(rows_by_key, cells),
        _models(rows_by_key, cells),
        _machines(rows_by_key, [c for c in conditions if c.startswith("ipd/machines")]),
        _noise(rows_by_key, [c for c in conditions if c.endswith(tuple(NOISES))]),
    ]
    tables = [renderable for table in parts if table.row_count for renderable in (table, Text())]
    optima = "Regret is per round against the exact optimum; rmax's in the first table against the paper's."
    return Group(Text(), *tables, Text(optima, style="dim"))


def _clue_games(summary: Sequence[Row]) -> Table:
    """Players of clue games: what they lose a round, and how well they predict."""
    rows_by_key = by_key(summary)
    table = _table("game", "player", "regret", "ToM %", "episodes", words=2)
    for (game, player, metric), row in rows_by_key.items():
        if metric == REGRET:
            literal = rows_by_key[game, player, "tom_percent"]
            table.add_row(game, escape(player), _spread(row, 2), _spread(literal, 0), str(row["n"]))
    return table


def _cells(rows_by_key: RowsByKey, cells: Sequence[str]) -> Table:
    """Players of programs in the six cells: regret beside the published one, predictions, and consistency."""
    table = _table("cell", "player", "regret", "published", "ToM %", "consistent", words=2)
    for cell in cells:
        title = escape(cell)
        for subject in IN_CELLS:
            if row := rows_by_key.get((cell, subject, REGRET)):
                paper = {end: row.get(f"published_{end}") for end in ("low", "high")} | {"value": row.get("published")}
                table.add_row(title, subject, _estimate(row), _estimate(paper), *_literal(rows_by_key, cell, subject))
                title = ""
    return table


def _models(rows_by_key: RowsByKey, cells: Sequence[str]) -> Table:
    """Language models: what they predict and what they lose, and how many of their replies could not be read."""
    table = _table("cell", "language model", "regret", "ToM regret", "ToM %", "unreadable", words=2)
    for cell in cells:
        title = escape(cell)
        for model in dict.fromkeys(s for c, s, _ in rows_by_key if c == cell and s.startswith(MODELS)):
            regret, tom, unread = (rows_by_key.get((cell, model, m)) for m in (EXACTLY, "tom_regret_paper", UNREADABLE))
            if regret and tom and unread:
                literal, _ = _literal(rows_by_key, cell, model)
                name = escape(model.removeprefix(MODELS).replace(":", " "))
                table.add_row(title, name, _bounded(regret, 3), _number(tom, 3), literal, f"{unread['value']:.0%}")
                title = ""
    return table


def _machines(rows_by_key: RowsByKey, conditions: Sequence[str]) -> Table:
    """Players with the machines of each set, those with the least regret first."""
    table = _table("machines", "player", "regret", "ToM %", "consistent", words=2)
    for condition in conditions:
        title = escape(condition.removeprefix("ipd/machines").removeprefix("_") or "all")
        present = dict.fromkeys(player for c, player, metric in rows_by_key if (c, metric) == (condition, REGRET))
        regret = {s: rows_by_key.get((condition, s, EXACTLY)) or rows_by_key[condition, s, REGRET] for s in present}
        for player in sorted(regret, key=lambda player: float(regret[player]["value"])):
            table.add_row(title, escape(player), _bounded(regret[player], 3), *_literal(rows_by_key, condition, player))
            title = ""
    return table


def _noise(rows_by_key: RowsByKey, conditions: Sequence[str]) -> Table:
    """Regret with partners that tremble, without intervals, to be short."""
    table = _table(f"noise {' and '.join(NOISES.values())}", *LEARNERS, words=1)
    for cell in dict.fromkeys(condition.rpartition("_")[0] for condition in conditions):
        rows = ([rows_by_key.get((f"{cell}_{noise}", s, EXACTLY)) for noise in NOISES] for s in LEARNERS)
        table.add_row(escape(cell), *("  ".join(_number(row, 3) or "-" for row in pair) for pair in rows))
    return table


def _literal(rows_by_key: RowsByKey, condition: str, subject: str) -> tuple[str, str]:
    """ToM % and consistency; empty if unknown."""
    literal, consistent = (rows_by_key.get((condition, subject, metric)) for metric in ("tom_percent", "consistency"))
    return f"{literal['value']:.1f}" if literal else "", f"{consistent['value']:.2f}" if consistent else ""


def _estimate(row: Row) -> str:
    """A value, with its margin if it varies; empty if there is none."""
    if row["value"] is None:
        return ""
    sure = row["low"] is None or row["high"] - row["low"] < MARGIN
    return _number(row, 3) if sure else _spread(row, 3)


# Scenarios of Melting Pot


def _bodies(summary: Sequence[Row]) -> RenderableType:
    """Scores of scripted bodies in 1200 steps: beside the prototype's, then those of the scenarios."""
    rows_by_key = by_key(summary)
    calibration = _table("calibration", "egocentric", "prototype", "all-seeing", "prototype", words=1)
    scenarios = _table("scenario", "score", "reward", "steps", "meetings", "a meeting", words=1)
    for case in dict.fromkeys(s for c, s, m in rows_by_key if m == "score" and c.startswith("calibration")):
        rows = [rows_by_key.get((f"calibration/{body}", case, "score")) for body in ("egocentric", "full_information")]
        cells = (text for row in rows for text in (_bounded(row, 0), _bounded(row, 0, "published_")))
        calibration.add_row(escape(case), *cells)
    for name in (s for c, s, m in rows_by_key if (c, m) == ("scenario", "score")):
        means = [rows_by_key["scenario", name, m]["value"] for m in ("reward", "steps", "meetings")]
        each = rows_by_key.get(("scenario", name, "per_meeting"))
        score = _bounded(rows_by_key["scenario", name, "score"], 0)
        per_meeting = "" if each is None else f"{each['value']:.2f}"
        scenarios.add_row(escape(name), score, *(f"{mean:,.1f}" for mean in means), per_meeting)
    note = "Bodies are scripted: scores compare with each other, not with those of Melting Pot's own bots."
    return Group(Text(), calibration, Text(), scenarios, Text(), Text(note, style="dim"))


def _guesses(summary: Sequence[Row]) -> RenderableType:
    """Scores in the scenarios beside the paper's, how well partners were predicted, and what language models did."""
    rows_by_key = by_key(summary)
    players = [player for player in PLAYERS if any(s == player for _, s, _ in rows_by_key)]
    scenarios = dict.fromkeys(c for c, s, m in rows_by_key if m == "score" and s in players)
    table = _table("scenario", *(PLAYERS[player] for player in players), "paper", "right", "lost", words=1)
    table.columns[0].no_wrap = True
    for name in scenarios:
        rows = [rows_by_key.get((name, player, "score")) for player in players]
        first = rows_by_key.get((name, "programs", "score"))
        paper = f"{first['published']:.0f}" if first and "published" in first else ""
        right = _number(rows_by_key.get((name, "programs", "literal_validated")), 2)
        lost = _number(rows_by_key.get((name, "programs", "regret")), 1)
        table.add_row(escape(name), *(_number(row, 0) for row in rows), paper, right, lost)
    count = rows_by_key.get(("all", "programs", "at_least_published"))
    comparison = f"At least the paper's score in {count['value']:.0f} of {count['n']} scenarios. " if count else ""
    legend = " ".join(f"{PLAYERS[player].capitalize()}: {words}." for player, words in WHO.items() if player in players)
    note = f"{comparison}{legend} Right: predictions once validated. Lost: a meeting, against the best policy."
    shown: list[RenderableType] = [Text(), table, Text(), Text(note, style="dim")] if scenarios else []
    if (speakers := _speakers(rows_by_key)).row_count:
        shown += [Text(), speakers]
    return Group(*shown)


def _speakers(rows_by_key: RowsByKey) -> Table:
    """Agents with language models: scores, calls and tokens an episode, and how much could not be read."""
    heads = ("score", "right", "lost", "calls", "tokens", "unreadable")
    table = _table("scenario", "agent with a language model", *heads, words=2)
    for name, subject in (pair[:2] for pair in rows_by_key if pair[2] == "score" and pair[1].startswith(MODELS)):
        mine = {metric: row for (c, s, metric), row in rows_by_key.items() if (c, s) == (name, subject)}
        tokens = sum(mine[metric]["value"] for metric in ("prompt_tokens", "written_tokens"))
        figures = [_number(mine.get(m), digits) for m, digits in (("score", 0), ("literal", 2), ("regret", 2))]
        calls, unreadable = mine["calls"]["value"], mine[UNREADABLE]["value"]
        speaker = " ".join(reversed(subject.removeprefix(MODELS).partition(":")[::2]))
        table.add_row(escape(name), escape(speaker), *figures, f"{calls:.0f}", f"{tokens:,.0f}", f"{unreadable:.0%}")
    return table


def _people(summary: Sequence[Row]) -> RenderableType:
    """People's loss beside players, and the mind that is most frequent among them, by bot and treatment."""
    rows_by_key = by_key(summary)
    table = plain_table("against", "people", "posterior\nsampling", "RMax", "most frequent\nmind", "exceedance", gap=1)
    for condition in dict.fromkeys(
        row["condition"] for row in summary if row["condition"].startswith(("rps/", "ipd/"))
    ):
        players = (rows_by_key.get((condition, player, "loss")) for player in ("people", "posterior_sampling", "rmax"))
        chances = {row["subject"]: row for (c, _, m), row in rows_by_key.items() if (c, m) == (condition, "exceedance")}
        best = max(chances, key=lambda mind: chances[mind]["value"], default="")
        cells = ("" if row is None else _spread(row, 2) for row in players)
        where = condition.partition("/")[2].replace("_", " ")
        table.add_row(where, *cells, best.replace("_", " "), _number(chances.get(best), 2))
    return table


def _benchmarks(summary: Sequence[Row]) -> RenderableType:
    """Public benchmarks by type of question: answers, contradicted labels, accuracy in per cent, and shortcuts."""
    rows_by_key = by_key(summary)
    counts = {"questions": "n", "right": "right", "wrong": "wrong", "abstained": "none", "contradicted": "label"}
    shortcuts = {"chance": "any", "majority": "usual", "longest": "long", "last_place": "last"}
    table = _table("", *counts.values(), "answered, %", "shortcut", words=1, edge=True)
    for condition in dict.fromkeys(row["condition"] for row in summary):
        benchmark, _, kind = condition.partition("/")
        name = Text(benchmark, style="bold") if kind == "all" else Text(f"  {printable(kind)}")
        cells = [_number(rows_by_key[condition, "symbolic", metric], 0) for metric in counts]
        answered = rows_by_key.get((condition, "symbolic", "accuracy_answered"))
        worth = {shortcut: rows_by_key[condition, shortcut, "accuracy"]["value"] for shortcut in shortcuts}
        best = max(worth, key=lambda shortcut: worth[shortcut])
        table.add_row(name, *cells, _percent(answered, True), f"{shortcuts[best]} {100 * worth[best]:.0f}")
    note = (
        "none: not answered; label: contradicted by simulation; answered: right of the answered, with a 95 % interval. "
        "The best shortcut on all questions, in %: any option, the usual one in other stories, the longest, the last "
        "mentioned; the report has all of them."
    )
    failed = sum(row["value"] for key, row in rows_by_key.items() if key[0].endswith("/all") and key[2] == "failed")
    faults = f" The reader failed on {failed:.0f} questions, which count as not answered." if failed else ""
    return Group(table, Text(note + faults, style="dim"))


BY_EXPERIMENT = {
    "people": _people,
    "mumatom": _questions,
    "stories": _benchmarks,
    "melting-pot": _bodies,
    "hypothetical": _guesses,
    "study": _study,
    "functional": _games,
    "clue-games": _clue_games,
}


# Runs on disk


def runs_table(runs: Sequence[Run], folder: Path) -> RenderableType:
    """Every run in a folder, with what it is of below its name; calls and costs only if a model was asked."""
    if not runs:
        return Text(f"There are no runs in {printable(str(folder))}.")
    any_calls = any(run.answered.calls or run.uncertain for run in runs)
    place = Column(f"in {printable(str(folder))}", overflow="fold")
    numbers = ("episodes", *(("calls", "uncertain", "spent") if any_calls else ()))
    columns = (Column(name, justify="right", no_wrap=True) for name in numbers)
    table = plain_table(place, Column("state", no_wrap=True), *columns, edge=True, gap=1)
    for run in runs:
        what = printable(described(run.about, run.name))
        where = Text(printable(str(run.folder.relative_to(folder)))).append(f"\n{what}", style="dim")
        table.add_row(where, run.state, *_counts(run)[: 4 if any_calls else 1])
    return table


def run_details(run: Run, digest: str) -> RenderableType:
    """The state of one run: its episodes, failures, calls without an answer, and digest."""
    episodes, calls, _, spent = _counts(run)
    failures = [f"{' '.join(key)}: {why}" for key, why in run.failures.items()]
    paid = [call for call in run.uncertain if not call.model.startswith(EMBEDDED)]
    uncertain = [f"{call.place} (up to ${call.most:,.4f}, sent {call.sent} to {call.model})" for call in paid]
    lines = [
        f"{printable(run.name)}: {run.state}, begun {printable(run.begun)} by otherminds {printable(run.version)}",
        f"{episodes} episodes, {calls} calls to models answered, {spent} spent",
        *_listed("episodes failed the last time", failures),
        *_listed("calls have no answer on record, and may have to be paid for", uncertain),
        f"nothing is damaged; digest {digest}",
    ]
    return Group(*(Text(line, overflow="fold") for line in lines))


def _counts(run: Run) -> tuple[str, str, str, str]:
    """Episodes, answered calls, uncertain calls and dollars."""
    dollars = f"${run.dollars:,.4f}" if run.dollars else "–"
    return f"{run.finished:,}/{run.planned:,}", f"{run.answered.calls:,}", f"{len(run.uncertain):,}", dollars


def _listed(what: str, lines: Sequence[str]) -> list[str]:
    return [f"{len(lines):,} {what}:", *(f"  {printable(line)}" for line in lines)] if lines else []
