"""The report on facilitated Doors-Keys-Gems episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otherminds.evaluation import plots
from otherminds.evaluation.assistance import compare, outcomes
from otherminds.evaluation.replay import replays
from otherminds.evaluation.report import Html, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.experiments.results import figures
from otherminds.experiments.tables import cell, targets
from otherminds.worlds.level_files import Level

Row = Mapping[str, Any]
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages", "decision_ms")
CLASSES = ("all", "not_needed", "useful", "necessary")
LEAD = (
    "Two people walk through doors, each to a gem of their own. A facilitator watches, infers what each of them "
    "wants from how they move, prices every message it could say by the steps it would save, and speaks or stays "
    "silent."
)
SPEEDUP = (
    "Speed-up is L₀ / L − 1 for each episode, L₀ being its length without help and the horizon of 80 steps standing "
    "for failure; so its mean is dominated by levels in which help is necessary (where L₀ is always 80). The "
    "ratio of mean lengths, minus one, stands beside it."
)
PUBLISHED = (
    "Published values are those of the paper's own twenty levels, which are not public: ours are of the same kinds "
    "in the same numbers (6 / 8 / 6), so the figures are comparable, not the same. Brackets are 95 % intervals; the "
    "paper's are taken as ± 1.96 printed standard errors."
)
CHOICE = (
    "The twenty were picked for readability from levels with certificates: at least three gems, few cells, keys and "
    "doors, and, where help is not needed, levels in which no message would help whatever gems the two were after. "
    "That last rule was added after ProToM had spoken in two of the first six picks while goals were still open, so "
    "silence there is by design of the levels; the held-out levels, which were not picked at all, show the rate."
)


def report(rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Level]) -> str:
    """The whole page, from rows and summary alone."""
    sections = [
        Section("Results", stack(_results(summary, ""), PUBLISHED, SPEEDUP, targets(summary))),
        Section("Watch the episodes", replays({level.name: level for level in levels}, rows)),
        Section("By class of level", _bars(summary)),
        Section("How well goals were inferred", _inference(rows, summary)),
        Section("Tests", _tests(rows)),
        Section("What each message saved", _messages(rows)),
        Section("About the levels", CHOICE),
    ]
    if any(row["condition"].startswith("heldout/") for row in summary):
        sections.insert(3, Section("Held-out levels", _held_out(summary)))
        sections.append(Section("How ε was chosen", _tuning(summary)))
    return page("ProToM in Doors-Keys-Gems", LEAD, sections)


def _results(summary: Sequence[Row], prefix: str) -> Html:
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    lines: list[list[str]] = []
    for name in CLASSES:
        label = name.replace("_", " ")
        for subject in dict.fromkeys(r["subject"] for r in summary if r["condition"] == prefix + name):
            lines.append([label, subject, *(cell(found.get((prefix + name, subject, m))) for m in METRICS)])
            label = ""
        if name == "all" and not prefix:
            lines += _published()
    columns = ("Levels", "Facilitator", "Success", "Speed-up", "Ratio of means", "Messages", "Decision, ms")
    return table(columns, lines)


def _published() -> Iterator[list[str]]:
    """What the paper prints, as rows of the same table."""
    told = [p for p in figures().published if p.experiment == "protom-dkg"]
    for subject in dict.fromkeys(p.subject for p in told):
        about = {p.metric: p.columns() for p in told if p.subject == subject}
        cells = [
            interval(c["published"], c["published_low"], c["published_high"]) if (c := about.get(m)) else "–"
            for m in METRICS
        ]
        yield ["", f"{subject.removeprefix('lm:')}, published", *cells]


def _bars(summary: Sequence[Row]) -> Html:
    return side_by_side(*(inline(plots.class_bars(summary, metric)) for metric in ("success", "speedup", "messages")))


def _held_out(summary: Sequence[Row]) -> Html:
    words = "300 levels made from a seed, 100 of each class; no setting was chosen on them."
    bars = (inline(plots.class_bars(summary, metric, held_out=True)) for metric in ("speedup", "messages"))
    return stack(words, _results(summary, "heldout/"), side_by_side(*bars))


def _tuning(summary: Sequence[Row]) -> Html:
    words = (
        "On tuning levels alone (60 of each class, other seeds than all levels above): the ε of which fewer than one "
        "needless message in twenty episodes is sent, and at which most of the oracle's speed-up is left."
    )
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    subjects = [
        r["subject"] for r in summary if r["metric"] == "share_of_oracle_speedup" and "tuning" in r["condition"]
    ]
    shown = (
        ("tuning/not_needed", "messages"),
        ("tuning/useful", "share_of_oracle_speedup"),
        ("tuning/necessary", "speedup"),
        ("tuning/all", "success"),
    )
    lines = [[subject, *(cell(found.get((name, subject, metric))) for name, metric in shown)] for subject in subjects]
    columns = ("Facilitator", "Needless messages", "Share of oracle's speed-up", "Speed-up where necessary", "Success")
    return stack(words, table(columns, lines))


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
