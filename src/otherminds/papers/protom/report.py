"""The report on facilitated episodes: what help was worth, what was said and why, beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from otherminds.evaluation.assistance import compare, outcomes
from otherminds.reports import plots
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.reports.replay import replays
from otherminds.reports.results import figures
from otherminds.reports.tables import cell, targets

Row = Mapping[str, Any]
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages")
CLASSES = ("all", "not_needed", "useful", "necessary")
SPOKEN = (
    "Language models choose among the same messages as ProToM, and are told the rules of the world, its state, and the "
    "last ten joint actions. They are asked what everybody wants and which message to say, if any. A reply that cannot "
    "be read is asked for twice more; after that nothing is said. Replies and tokens are those of an episode."
)


class Words(NamedTuple):
    """What a report says that is about its world, and how it tells what was tuned."""

    experiment: str
    title: str
    lead: str
    speedup: str
    published: str
    choice: str
    held_out: str
    tuning: Callable[[Sequence[Row]], Html]


def report(words: Words, rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Any]) -> Page:
    """The whole page, from rows and summary alone."""
    sections = [
        Section("Results", stack(_results(words, summary, ""), words.published, words.speedup, targets(summary))),
        Section("Watch the episodes", replays({level.name: level for level in levels}, rows)),
        Section("By class of level", _bars(summary)),
        Section("How well goals were inferred", _inference(rows, summary)),
        Section("Tests", _tests(rows)),
        Section("What each message saved", _messages(rows)),
        Section("About the levels", words.choice),
    ]
    if spoken := [r["subject"] for r in summary if (r["condition"], r["metric"]) == ("all", "replies")]:
        sections.insert(4, Section("Language models", stack(SPOKEN, _spoken(summary, spoken))))
    if any(row["condition"].startswith("heldout/") for row in summary):
        sections.insert(3, Section("Held-out levels", _held_out(words, summary)))
        sections.append(Section("How thresholds were chosen", words.tuning(summary)))
    return page(words.title, words.lead, sections)


def _results(words: Words, summary: Sequence[Row], prefix: str) -> Html:
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    lines: list[list[str]] = []
    for name in CLASSES:
        label = name.replace("_", " ")
        for subject in dict.fromkeys(r["subject"] for r in summary if r["condition"] == prefix + name):
            lines.append([label, subject, *(cell(found.get((prefix + name, subject, m))) for m in METRICS)])
            label = ""
        lines += _published(words.experiment, prefix + name)
    columns = ("Levels", "Facilitator", "Success", "Speed-up", "Ratio of means", "Messages")
    return table(columns, lines)


def _published(experiment: str, condition: str) -> Iterator[list[str]]:
    """What the paper prints, as rows of the same table."""
    told = [p for p in figures().published if (p.experiment, p.condition) == (experiment, condition)]
    for subject in dict.fromkeys(p.subject for p in told):
        about = {p.metric: p.columns() for p in told if p.subject == subject}
        cells = [
            interval(c["published"], c["published_low"], c["published_high"]) if (c := about.get(m)) else "–"
            for m in METRICS
        ]
        yield ["", f"{subject.removeprefix('lm:')}, published", *cells]


def _bars(summary: Sequence[Row]) -> Html:
    return side_by_side(*(inline(plots.class_bars(summary, metric)) for metric in ("success", "speedup", "messages")))


def _held_out(words: Words, summary: Sequence[Row]) -> Html:
    bars = (inline(plots.class_bars(summary, metric, held_out=True)) for metric in ("speedup", "messages"))
    return stack(words.held_out, _results(words, summary, "heldout/"), side_by_side(*bars))


def chosen(summary: Sequence[Row], subjects: Sequence[str]) -> Html:
    """What some facilitators achieved on the tuning levels."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    shown = (
        ("tuning/not_needed", "messages"),
        ("tuning/useful", "share_of_oracle_speedup"),
        ("tuning/necessary", "speedup"),
        ("tuning/all", "success"),
    )
    lines = [[subject, *(cell(found.get((name, subject, metric))) for name, metric in shown)] for subject in subjects]
    columns = ("Facilitator", "Needless messages", "Share of oracle's speed-up", "Speed-up where necessary", "Success")
    return table(columns, lines)


def tuned(summary: Sequence[Row]) -> list[str]:
    """The facilitators that inferred goals on tuning levels."""
    return [r["subject"] for r in summary if r["metric"] == "share_of_oracle_speedup" and "tuning" in r["condition"]]


def _inference(rows: Sequence[Row], summary: Sequence[Row]) -> Html:
    names = {
        "p_true": "P(true goal)",
        "top1": "Ranked first",
        "brier": "Brier score",
        "calibration_error": "Calibration error",
    }
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    lines = [
        [name.replace("_", " "), *(cell(found.get((name, "protom", metric))) for metric in names)] for name in CLASSES
    ]
    return stack(
        table(("Levels", *names.values()), lines),
        side_by_side(inline(plots.posterior_over_time(rows)), inline(plots.calibration(rows))),
    )


def _spoken(summary: Sequence[Row], subjects: Sequence[str]) -> Html:
    """How much language models have written, how much of it could not be read, and how well they name goals."""
    names = {
        "replies": "Replies",
        "unreadable_share": "Unreadable",
        "tokens": "Tokens",
        "evaluated": "Tokens evaluated",
        "top1": "Right goal named",
    }
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    lines = [
        [name.replace("_", " "), subject, *(cell(found.get((name, subject, metric))) for metric in names)]
        for name in CLASSES
        for subject in subjects
    ]
    return table(("Levels", "Facilitator", *names.values()), lines)


def _tests(rows: Sequence[Row]) -> Html:
    words = (
        "The paper's tests of ProToM against each other facilitator, corrected by Benjamini–Hochberg over all of "
        "them; they ignore that both played the same levels, so the paired difference stands beside them."
    )
    lines = [
        [c.other, c.metric, c.test, _p(c.p), _p(c.p_corrected), interval(*c.difference[:3])]
        for c in compare(outcomes(rows), "protom")
    ]
    return stack(words, table(("Against", "Metric", "Test", "p", "p corrected", "Paired difference"), lines))


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else number(value, 4)


def _messages(rows: Sequence[Row]) -> Html:
    lengths = {(r["subject"], r["episode"]): r["length"] for r in rows if "length" in r}
    lines = [
        [
            r["episode"],
            r["condition"].replace("_", " "),
            r["t"],
            r["words"],
            number(max(p["saves"] for p in r["prices"]), 1),
            lengths["none", r["episode"]] - lengths["protom", r["episode"]],
        ]
        for r in rows
        if r["subject"] == "protom" and r["agent"] == "facilitator" and r["action"]
    ]
    columns = ("Level", "Class", "Step", "What ProToM said", "Expected to save", "Episode shorter by")
    return table(columns, lines)
