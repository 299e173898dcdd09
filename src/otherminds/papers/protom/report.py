"""The report on facilitated episodes: the effect of help, the messages and their reasons, and the published figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from otherminds.evaluation.assistance import FACILITATOR, compare, outcomes
from otherminds.files.toml import packaged
from otherminds.papers.protom import overcooked
from otherminds.papers.protom.exact import PREFIX
from otherminds.papers.protom.people import ALL_KINDS
from otherminds.reports import plots
from otherminds.reports.level_replay import replays
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.reports.results import by_key, cell, figures, targets

Row = Mapping[str, Any]
WORDS = packaged("otherminds.papers.protom", "report.toml")
ABOUT: Mapping[str, str] = WORDS["about"]
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages")
CLASSES = ("all", "not_needed", "useful", "necessary")
FEW = "few/"  # how the conditions of a few selected levels begin
INFERENCE = {
    "p_true": "P(true goal)",
    "top1": "Ranked first",
    "brier": "Brier score",
    "calibration_error": "Calibration error",
}
REASONS = {
    "stated_goal_true": "Stated goals true",
    "stated_p": "Believed with",
    "stated_calibration_error": "Calibration error",
    "stated_share": "Messages that state one",
    "friend_right": "Friend right",
    "stated_minus_realised": "Stated − realised saving",
    "needless": "Needless",
}
OTHERS = {
    ("necessary", "success"): "Success, necessary",
    ("useful", "success"): "Success, useful",
    ("not_needed", "needless"): "Needless",
    ("all", "slowed"): "Other slowed",
    ("all", "messages"): "Messages",
    ("all", "friend_right"): "Friend right",
}
EXACT = {
    "regret": "Distance to the optimum",
    "saved": "Steps saved",
    "messages": "Messages",
    "net": "Net of messages",
}
EXACT_SUBJECTS = {"optimum": "exact optimum", "optimum_told": "exact optimum, goals known"}
REPLIES = {
    "replies": "Replies",
    "unreadable_share": "Unreadable",
    "tokens": "Tokens",
    "evaluated": "Tokens evaluated",
    "top1": "Right goal named",
}


class ReportWords(NamedTuple):
    """What a report says about its world, as in report.toml."""

    experiment: str
    title: str
    lead: str
    levels: str
    horizon: int
    how_many: str
    by_class: str
    choice: str
    held_out: str
    tuning: str
    sweeps: bool = False


def report(experiment: str, rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Any]) -> Page:
    """The page of one world, from rows, summary and levels alone."""
    words = ReportWords(experiment, **WORDS[experiment])
    bars = [inline(plots.class_bars(summary, metric)) for metric in ("success", "speedup", "messages")]
    explained = [ABOUT[text].format(**words._asdict()) for text in ("published", "speedup")]
    goals = _by_class(summary, ["protom"], INFERENCE, ("Levels",))
    reasons = stack(ABOUT["reasons"], _by_class(summary, ["protom", "oracle"], REASONS, ("Levels", "Facilitator")))
    inferred = side_by_side(inline(plots.posterior_over_time(rows)), inline(plots.calibration(rows)))
    held_out = replies = tuning = Html("")
    if models := [r["subject"] for r in summary if (r["condition"], r["metric"]) == ("all", "replies")]:
        replies = stack(ABOUT["models"], _by_class(summary, models, REPLIES, ("Levels", "Facilitator")))
    if any(row["condition"].startswith("heldout/") for row in summary):
        conditions = {f"heldout/{kind}": name for kind, name in plots.CLASSES.items()}
        drawn = [inline(plots.class_bars(summary, metric, conditions)) for metric in ("speedup", "messages")]
        held_out = stack(words.held_out, _results(words, summary, "heldout/"), side_by_side(*drawn))
        tuning = _tuning(words, summary)
    sections = {
        "Results": stack(_results(words, summary, ""), *explained, targets(summary)),
        "Watch the episodes": replays({level.name: level for level in levels}, rows),
        "By class of level": side_by_side(*bars),
        "Held-out levels": held_out,
        "How well goals were inferred": stack(goals, inferred),
        "Whether reasons hold": reasons,
        "Other people": _other_people(summary),
        "The exact optimum in small levels": exact_table(summary),
        "Language models": replies,
        "Tests": _tests(rows),
        "What each message saved": _messages(rows),
        "About the levels": words.choice,
        "How thresholds were chosen": tuning,
    }
    return page(words.title, words.lead, [Section(title, body) for title, body in sections.items() if body])


def report_on_few(experiment: str, rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Any]) -> Page:
    """The page of a run in a few levels, which is compared with nothing published."""
    words = ReportWords(experiment, **WORDS[experiment])
    names = ", ".join(level.name for level in levels)
    sections = [
        Section("Results", stack(ABOUT["few"].format(levels=words.levels, names=names), _few_results(summary))),
        Section("Watch the episodes", replays({level.name: level for level in levels}, rows)),
    ]
    return page(words.title, words.lead, sections)


def _few_results(summary: Sequence[Row]) -> Html:
    """The figures of a few levels by facilitator; a dash for replies of those that do not write any."""
    estimates = by_key(summary)
    columns = {
        ("all", "speedup"): "Speed-up",
        ("all", "saved"): "Steps saved",
        ("not_needed", "needless"): "Needless",
        ("all", "messages"): "Messages",
        ("all", "top1"): "Right goal named",
        ("all", "lost_share"): "Decisions lost",
    }
    subjects = dict.fromkeys(row["subject"] for row in summary)
    lines = [
        [subject, *(cell(estimates.get((FEW + level_class, subject, metric))) for level_class, metric in columns)]
        for subject in subjects
    ]
    return table(("Facilitator", *columns.values()), lines, stacks=True)


def _results(words: ReportWords, summary: Sequence[Row], prefix: str) -> Html:
    """The main figures by class of level and facilitator, each class followed by the published ones.

    `prefix` selects the levels: `heldout/`, or empty for the bundled ones.
    """
    estimates = by_key(summary)
    lines: list[list[str]] = []
    for name in CLASSES:
        condition, label = prefix + name, name.replace("_", " ")
        for subject in dict.fromkeys(r["subject"] for r in summary if r["condition"] == condition):
            lines.append([label, subject, *(cell(estimates.get((condition, subject, m))) for m in METRICS)])
            label = ""
        lines += [["", *line] for line in published_lines(words.experiment, condition, METRICS)]
    return table(("Levels", "Facilitator", "Success", "Speed-up", "Ratio of means", "Messages"), lines)


def published_lines(experiment: str, condition: str, metrics: Sequence[str]) -> Iterator[list[str]]:
    """A line for each published facilitator: its name, and its figures for these metrics."""
    published = [p for p in figures().published if (p.experiment, p.condition) == (experiment, condition)]
    for subject in dict.fromkeys(p.subject for p in published):
        columns = {p.metric: p.columns() for p in published if p.subject == subject}
        cells = []
        for metric in metrics:
            value, low, high = map(columns.get(metric, {}).get, ("published", "published_low", "published_high"))
            cells.append(interval(value, low, high, 0 if metric == "ignored" else 2))
        yield [f"{subject.removeprefix('lm:')}, published", *cells]


def _tuning(words: ReportWords, summary: Sequence[Row]) -> Html:
    """The results on tuning levels of the facilitators that infer goals."""
    estimates = by_key(summary)
    tuned = [s for name, s, metric in estimates if (name, metric) == ("tuning/useful", "speedup") and "protom" in s]
    metrics = (
        ("tuning/not_needed", "messages"),
        ("tuning/useful", "speedup"),
        ("tuning/necessary", "speedup"),
        ("tuning/all", "success"),
    )
    lines = [
        [subject, *(cell(estimates.get((name, subject, metric))) for name, metric in metrics)] for subject in tuned
    ]
    columns = ("Facilitator", "Needless messages", "Speed-up where useful", "Speed-up where necessary", "Success")
    curves = [inline(plots.sweeps(summary, overcooked.SWEEPS, overcooked.CHOSEN))] if words.sweeps else []
    return stack(words.tuning, *curves, table(columns, lines))


def _other_people(summary: Sequence[Row]) -> Html:
    """How facilitators fare with people who are not as they expect; empty if there were none."""
    estimates = by_key(summary)
    kinds = {kind: name for kind, name in ALL_KINDS.items() if (f"robust/{kind}/all", "none", "success") in estimates}
    if not kinds:
        return Html("")
    lines = []
    for kind, name in kinds.items():
        where = f"robust/{kind}/"
        for subject in dict.fromkeys(s for c, s, _ in estimates if c == where + "all"):
            cells = [cell(estimates.get((where + level_class, subject, metric))) for level_class, metric in OTHERS]
            lines.append([name, subject, *cells])
            name = ""
    drawn = [
        inline(plots.class_bars(summary, metric, {f"robust/{kind}/{level_class}": kinds[kind] for kind in kinds}))
        for level_class, metric in (("necessary", "success"), ("not_needed", "needless"))
    ]
    return stack(ABOUT["others"], side_by_side(*drawn), table(("People", "Facilitator", *OTHERS.values()), lines))


def exact_table(summary: Sequence[Row]) -> Html:
    """Facilitators beside the optimum where that was computed; else empty."""
    estimates = by_key(summary)
    lines = []
    for kind in ("all", "useful", "necessary", "not_needed"):
        where, label = f"{PREFIX}{kind}", kind.replace("_", " ")
        for subject in dict.fromkeys(s for c, s, _ in estimates if c == where):
            cells = [cell(estimates.get((where, subject, metric))) for metric in EXACT]
            goals = number(estimates[where, subject, "goals"]["value"], 0)
            lines.append([label, goals if label else "", EXACT_SUBJECTS.get(subject, subject), *cells])
            label = ""
    if not lines:
        return Html("")
    return stack(ABOUT["exact"], table(("Goals", "n", "Facilitator", *EXACT.values()), lines))


def _by_class(
    summary: Sequence[Row], subjects: Sequence[str], names: Mapping[str, str], leading: Sequence[str]
) -> Html:
    """The metrics that are keys of `names`, a line for each class and facilitator."""
    estimates = by_key(summary)
    lines = [
        [*(name.replace("_", " "), subject)[: len(leading)], *(cell(estimates.get((name, subject, m))) for m in names)]
        for name in CLASSES
        for subject in subjects
    ]
    return table((*leading, *names.values()), lines)


def _tests(rows: Sequence[Row]) -> Html:
    """The tests of ProToM against each other facilitator, with corrected p-values and paired differences."""
    lines = [
        [c.reference, c.metric, c.test, p_value(c.p), p_value(c.p_corrected), interval(*c.difference[:3])]
        for c in compare(outcomes(rows), "protom")
    ]
    return stack(ABOUT["tests"], table(("Against", "Metric", "Test", "p", "p corrected", "Paired difference"), lines))


def p_value(value: float) -> str:
    """A p-value with four decimals."""
    return "< 0.0001" if value < 0.0001 else number(value, 4)


def _messages(rows: Sequence[Row]) -> Html:
    """Every message of ProToM, the steps that it was expected to save, and by how many the episode was shorter."""
    lengths = {(r["subject"], r["episode"]): r["length"] for r in rows if "length" in r}
    lines = []
    for r in rows:
        if r["subject"] == "protom" and r["agent"] == FACILITATOR and r["action"]:
            expected = number(max(p["saves"] for p in r["prices"]), 1)
            shorter = lengths["none", r["episode"]] - lengths["protom", r["episode"]]
            lines.append([r["episode"], r["condition"].replace("_", " "), r["t"], r["words"], expected, shorter])
    columns = ("Level", "Class", "Step", "What ProToM said", "Expected to save", "Episode shorter by")
    return table(columns, lines)
