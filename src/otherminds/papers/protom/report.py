"""The report on facilitated episodes: the effect of help, the messages and their reasons, and the published figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from otherminds.evaluation.assistance import compare, outcomes
from otherminds.papers.protom import doors_keys_gems, overcooked
from otherminds.reports import plots
from otherminds.reports.level_replay import replays
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.reports.results import cell, figures, targets

Row = Mapping[str, Any]
METRICS = ("success", "speedup", "speedup_ratio_of_means", "messages")
CLASSES = ("all", "not_needed", "useful", "necessary")
INFERENCE = {
    "p_true": "P(true goal)",
    "top1": "Ranked first",
    "brier": "Brier score",
    "calibration_error": "Calibration error",
}
REPLIES = {
    "replies": "Replies",
    "unreadable_share": "Unreadable",
    "tokens": "Tokens",
    "evaluated": "Tokens evaluated",
    "top1": "Right goal named",
}
LANGUAGE_MODELS = (
    "Language models choose among the same messages as ProToM, and are told the rules of the world, its state, and the "
    "last ten joint actions. They are asked what everybody wants and which message to say, if any. A reply that cannot "
    "be read is asked for twice more; after that nothing is said. Replies and tokens are those of an episode."
)


PUBLISHED = (
    "Published values are those of the paper's own {how_many} {levels}, which are not public: ours are of the same "
    "kinds in the same numbers ({by_class}), so the figures are comparable, not the same. Brackets are 95 % intervals; "
    "the paper's are taken as ± 1.96 printed standard errors."
)
SPEEDUP = (
    "Speed-up is L₀ / L − 1 for each episode, where L₀ is its length without help and a failure counts as the horizon "
    "of {horizon} steps. The mean is dominated by {levels} in which help is necessary (where L₀ is always {horizon}). "
    "Beside it is the ratio of mean lengths, minus one."
)


class ReportWords(NamedTuple):
    """What a report says about its world: texts, and words that fill the texts about figures.

    `by_class`: the numbers of levels of each class. `sweeps`: whether the report plots the metrics over tuned settings.
    """

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


DOORS_KEYS_GEMS = ReportWords(
    experiment=doors_keys_gems.EXPERIMENT,
    title="ProToM in Doors-Keys-Gems",
    lead=(
        "Two people walk through doors, each to a gem of their own. A facilitator watches, infers from their moves "
        "what each of them wants, works out how many steps every message would save, and speaks or stays silent."
    ),
    levels="levels",
    horizon=80,
    how_many="twenty",
    by_class="6 / 8 / 6",
    choice=(
        "The twenty were picked for readability from levels with certificates: at least three gems, few cells, keys "
        "and doors, and, where help is not needed, levels in which no message would help whatever gems the two were "
        "after. That last rule was added after ProToM had spoken in two of the first six picks while goals were still "
        "open, so silence there is by design of the levels; the held-out levels, which were not picked at all, show "
        "the rate."
    ),
    held_out="300 levels made from a seed, 100 of each class; no setting was chosen on them.",
    tuning=(
        "On tuning levels alone (60 of each class, other seeds than all levels above): the ε at which fewer than one "
        "needless message is sent in twenty episodes and most of the oracle's speed-up is left."
    ),
)
OVERCOOKED = ReportWords(
    experiment=overcooked.EXPERIMENT,
    title="ProToM in Overcooked with rooms",
    lead=(
        "Two people cook, each a dish of their own, each seeing only the room they are in. A facilitator sees the "
        "whole kitchen, but not the recipes. It infers from their actions what each of them wants and believes, works "
        "out how many steps every message would save, and speaks or stays silent."
    ),
    levels="kitchens",
    horizon=100,
    how_many="twenty-one",
    by_class="7 / 7 / 7",
    choice=(
        "The twenty-one were picked for readability from kitchens with certificates: few squares, few things, and "
        "rooms of different kinds. Certificates say how long simulated cooks take over ten seeds, without help (L0) "
        "and with the one message that is named (Lf); where help is not needed, no message at any time is foreseen to "
        "save more than a step, if the recipes were known."
    ),
    held_out="210 kitchens made from a seed, 70 of each class; no setting was chosen on them.",
    tuning=(
        "On tuning kitchens alone (other seeds than all kitchens above): one setting at a time is varied, the others "
        "are as the paper has them (φ = 2 steps, ε = 0.3 bits, N = 5 particles an agent), and were kept. The "
        "look-ahead of two steps (protom; protom_paper has none) was chosen before, on kitchens that are in no set."
    ),
    sweeps=True,
)


def report(words: ReportWords, rows: Sequence[Row], summary: Sequence[Row], levels: Sequence[Any]) -> Page:
    """The page of one world, from rows, summary and levels alone."""
    bars = [inline(plots.class_bars(summary, metric)) for metric in ("success", "speedup", "messages")]
    explained = [text.format(**words._asdict()) for text in (PUBLISHED, SPEEDUP)]
    goals = _by_class(summary, ["protom"], INFERENCE, ("Levels",))
    inferred = side_by_side(inline(plots.posterior_over_time(rows)), inline(plots.calibration(rows)))
    sections = [
        Section("Results", stack(_results(words, summary, ""), *explained, targets(summary))),
        Section("Watch the episodes", replays({level.name: level for level in levels}, rows)),
        Section("By class of level", side_by_side(*bars)),
        Section("How well goals were inferred", stack(goals, inferred)),
        Section("Tests", _tests(rows)),
        Section("What each message saved", _messages(rows)),
        Section("About the levels", words.choice),
    ]
    if models := [r["subject"] for r in summary if (r["condition"], r["metric"]) == ("all", "replies")]:
        replies = _by_class(summary, models, REPLIES, ("Levels", "Facilitator"))
        sections.insert(4, Section("Language models", stack(LANGUAGE_MODELS, replies)))
    if any(row["condition"].startswith("heldout/") for row in summary):
        held_out = [inline(plots.class_bars(summary, metric, held_out=True)) for metric in ("speedup", "messages")]
        results = stack(words.held_out, _results(words, summary, "heldout/"), side_by_side(*held_out))
        sections.insert(3, Section("Held-out levels", results))
        sections.append(Section("How thresholds were chosen", _tuning(words, summary)))
    return page(words.title, words.lead, sections)


def _results(words: ReportWords, summary: Sequence[Row], prefix: str) -> Html:
    found = by_key(summary)
    printed = {
        (p.condition, p.subject, p.metric): p.columns() for p in figures().published if p.experiment == words.experiment
    }
    lines: list[list[str]] = []
    for name in CLASSES:
        condition, label = prefix + name, name.replace("_", " ")
        for subject in dict.fromkeys(r["subject"] for r in summary if r["condition"] == condition):
            lines.append([label, subject, *(cell(found.get((condition, subject, m))) for m in METRICS)])
            label = ""
        for subject in dict.fromkeys(subject for c, subject, _ in printed if c == condition):
            columns = [printed.get((condition, subject, m)) for m in METRICS]
            cells = [interval(c["published"], c["published_low"], c["published_high"]) if c else "–" for c in columns]
            lines.append(["", f"{subject.removeprefix('lm:')}, published", *cells])
    return table(("Levels", "Facilitator", "Success", "Speed-up", "Ratio of means", "Messages"), lines)


def _tuning(words: ReportWords, summary: Sequence[Row]) -> Html:
    """The results on tuning levels of the facilitators that infer goals."""
    found = by_key(summary)
    tuned = [subject for condition, subject, m in found if m == "share_of_oracle_speedup" and "tuning" in condition]
    shown = (
        ("tuning/not_needed", "messages"),
        ("tuning/useful", "share_of_oracle_speedup"),
        ("tuning/necessary", "speedup"),
        ("tuning/all", "success"),
    )
    lines = [[subject, *(cell(found.get((name, subject, metric))) for name, metric in shown)] for subject in tuned]
    columns = ("Facilitator", "Needless messages", "Share of oracle's speed-up", "Speed-up where necessary", "Success")
    curves = [inline(plots.sweeps(summary, overcooked.SWEEPS, overcooked.SETTINGS))] if words.sweeps else []
    return stack(words.tuning, *curves, table(columns, lines))


def _by_class(summary: Sequence[Row], subjects: Sequence[str], names: Mapping[str, str], first: Sequence[str]) -> Html:
    """The metrics that are keys of `names`, a line for each class and facilitator; `first`: the leading columns."""
    found = by_key(summary)
    lines = [
        [*(name.replace("_", " "), subject)[: len(first)], *(cell(found.get((name, subject, m))) for m in names)]
        for name in CLASSES
        for subject in subjects
    ]
    return table((*first, *names.values()), lines)


def by_key(summary: Sequence[Row]) -> dict[tuple[str, str, str], Row]:
    """The rows of a summary by condition, subject and metric."""
    return {(r["condition"], r["subject"], r["metric"]): r for r in summary}


def _tests(rows: Sequence[Row]) -> Html:
    words = (
        "The paper's tests of ProToM against each other facilitator, corrected by Benjamini–Hochberg over all of them; "
        "they ignore that both played the same levels, so the paired difference stands beside them."
    )
    lines = [
        [c.other, c.metric, c.test, p_value(c.p), p_value(c.p_corrected), interval(*c.difference[:3])]
        for c in compare(outcomes(rows), "protom")
    ]
    return stack(words, table(("Against", "Metric", "Test", "p", "p corrected", "Paired difference"), lines))


def p_value(value: float) -> str:
    """A p-value with four decimals."""
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
