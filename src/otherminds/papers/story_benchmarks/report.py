"""The report on the public benchmarks of stories: a story, a table for each, a picture of all, contradicted labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.files.toml import packaged
from otherminds.papers.story_benchmarks.experiment import (
    EXPERIMENT,
    NAMES,
    READER,
    SHORTCUTS,
    benchmark_of,
    judged,
)
from otherminds.reports.page import (
    Html,
    Page,
    Section,
    at_two_widths,
    folded,
    interval,
    number,
    page,
    stack,
    table,
    with_code,
)
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled, whisker
from otherminds.reports.results import RowsByKey, by_key, figures
from otherminds.reports.story_example import story_example
from otherminds.stories.answering import ask

Row = Mapping[str, Any]

WORDS = packaged("otherminds.papers.story_benchmarks", "report.toml")
LM = "lm:"  # how the names of language models begin
WIDE = 8.2  # inches of a figure on a wide screen
LISTED = 60  # wrong answers, contradicted labels and faults in the tables; chosen
SHAPES = dict(zip(SHORTCUTS, "|sv^", strict=True))
ORANGE = "#d55e00"
COUNTED = ("failed", "skipped")  # metrics of which the page has the sum


def report(
    rows: Sequence[Row], summary: Sequence[Row], missing: Sequence[str] = (), faults: Sequence[str] = ()
) -> Page:
    """The page of the experiment, from rows and summary, after a story that is asked about when the page is made.

    `missing` are files that were not there, `faults` the rows of the files that could not be read.
    """
    stats, rows = by_key(summary), [row for row in rows if row["subject"] == READER]
    benchmarks = list(dict.fromkeys(condition.partition("/")[0] for condition, *_ in stats))
    sections = [
        Section(WORDS["example"]["title"], _example()),
        Section("All benchmarks", _overview(stats, benchmarks)),
    ]
    for benchmark in benchmarks:
        kinds = dict.fromkeys(condition for condition, *_ in stats if condition.startswith(f"{benchmark}/"))
        body = stack(_table(stats, list(kinds)), _models(stats, benchmark), _published(benchmark))
        sections.append(Section(NAMES[benchmark], body))
    sections += [
        Section("Labels that are contradicted", _labels(rows, benchmarks)),
        Section("Wrong answers", _wrong(rows)),
    ]
    if faults:
        sections.append(Section("Rows that cannot be read", _faults(stats, benchmarks, faults)))
    if missing:
        sections.append(Section("Files that are missing", stack(", ".join(missing))))
    return page("Public benchmarks of stories", WORDS["lead"], sections)


def _example() -> Html:
    """A story of our own with its answer, as the benchmarks' texts may not be shown."""
    example = WORDS["example"]
    answer = ask(example["story"], example["question"], example["options"])
    return stack(example["about"], story_example(answer, example["question"], example["options"]))


def _overview(stats: RowsByKey, benchmarks: Sequence[str]) -> Html:
    """All benchmarks together: a picture, a table with a line for each, and notes on method, time and failures."""
    totals = {name: [stats.get((f"{benchmark}/all", READER, name)) for benchmark in benchmarks] for name in COUNTED}
    failed, skipped = (sum(row["value"] for row in totals[name] if row is not None) for name in COUNTED)
    milliseconds = {benchmark: stats[f"{benchmark}/all", READER, "decision_ms"]["value"] for benchmark in benchmarks}
    times = ", ".join(f"{NAMES[benchmark]} {number(ms, 0)} ms" for benchmark, ms in milliseconds.items())
    return stack(
        at_two_widths(partial(_picture, stats, benchmarks), WIDE, WORDS["picture"]),
        _table(stats, [f"{benchmark}/all" for benchmark in benchmarks]),
        WORDS["method"],
        WORDS["times"].format(times=times),
        *([WORDS["failed"].format(n=number(failed, 0))] if failed else []),
        *([WORDS["skipped"].format(n=number(skipped, 0))] if skipped else []),
    )


def kind_name(condition: str) -> str:
    """A type of question in words."""
    benchmark, _, kind = condition.partition("/")
    return str(NAMES[benchmark] if kind == "all" else WORDS["kinds"].get(kind, kind))


def _table(stats: RowsByKey, conditions: Sequence[str]) -> Html:
    """A line for each condition: counts, accuracy of the answered and of all, shortcuts, and verdicts on labels."""
    counts, shortcuts, labels = (WORDS[part] for part in ("columns", "shortcuts", "audit"))
    head = ("Type", *counts.values(), "Answered", "All", *shortcuts.values(), *labels.values())
    lines = [
        [
            kind_name(condition),
            *(number(stats[condition, READER, metric]["value"], 0) for metric in counts),
            _percent(stats.get((condition, READER, "accuracy_answered"))),
            _percent(stats[condition, READER, "accuracy_guessing"]),
            *(number(100 * stats[condition, shortcut, "accuracy"]["value"], 0) for shortcut in shortcuts),
            *(number(stats[condition, READER, metric]["value"], 0) for metric in labels),
        ]
        for condition in conditions
    ]
    return table(head, lines, stacks=True)


def _percent(row: Row | None) -> str:
    """A share as a percentage with its interval; a dash if there is none."""
    return "–" if row is None else interval(100 * row["value"], 100 * row["low"], 100 * row["high"], 0)


def _models(stats: RowsByKey, benchmark: str) -> Html:
    """The accuracy of the language models that were asked here, of the answers that could be read."""
    asked = {subject: row for (condition, subject, _), row in stats.items() if condition == f"{benchmark}/all"}
    models = ", ".join(
        f"{subject.removeprefix(LM)} {_percent(row)} % of {row['n']} stories"
        for subject, row in asked.items()
        if subject.startswith(LM)
    )
    return stack(f"Asked here, right of the readable answers: {models}.") if models else Html("")


def published(benchmark: str) -> list[tuple[str, float]]:
    """(system, accuracy on all questions) as published, the best first."""
    accuracies = {
        p.subject: p.value
        for p in figures().published
        if p.condition == f"{benchmark}/all" and p.experiment == EXPERIMENT
    }
    return sorted(accuracies.items(), key=lambda pair: -pair[1])


def _published(benchmark: str) -> Html:
    systems = ", ".join(
        f"{WORDS['published'][subject]} {number(100 * value, 1)} %" for subject, value in published(benchmark)
    )
    return stack(f"As published, on the whole benchmark: {systems}.") if systems else Html("")


@styled
def _picture(stats: RowsByKey, benchmarks: Sequence[str], width: float) -> Figure:
    """Accuracy by benchmark with shortcuts: of the answered questions, and of all."""
    places = (1, 2) if width > WIDER else (2, 1)
    figure = Figure(figsize=(width, (0.9 + 0.36 * len(benchmarks)) * places[0]), layout="constrained")
    left, right = figure.subplots(*places, sharey=True)
    for y, benchmark in enumerate(reversed(benchmarks)):
        condition = f"{benchmark}/all"
        for axes, ours, theirs in ((left, *["accuracy_answered"] * 2), (right, "accuracy_guessing", "accuracy")):
            row = stats.get((condition, READER, ours))
            for shortcut, shape in SHAPES.items() if row else ():
                value = stats[condition, shortcut, theirs]["value"]
                axes.plot([100 * value], [y], shape, color=SOFT, markersize=5)
            if row:
                whisker(axes, y, 100 * row["low"], 100 * row["high"], BLUE, 1.8)
                axes.plot([100 * row["value"]], [y], "o", color=BLUE, markersize=6)
        for _, value in published(benchmark):
            right.plot([100 * value], [y], "D", color=ORANGE, markersize=4, fillstyle="none")
    _framed(left, "of the answered questions, %")
    _framed(right, "of all questions, %")
    shares = [stats[f"{benchmark}/all", READER, "answered"]["value"] for benchmark in benchmarks]
    counts = [number(stats[f"{benchmark}/all", READER, "questions"]["value"], 0) for benchmark in benchmarks]
    names = [
        f"{NAMES[benchmark]}, n = {count}\nanswers {100 * share:.0f} %"
        for benchmark, count, share in zip(benchmarks, counts, shares, strict=True)
    ]
    left.set_yticks(range(len(benchmarks)), names[::-1])
    return figure


def _framed(axes: Axes, title: str) -> None:
    axes.set(xlim=(-2, 102), xlabel=f"right {title}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def _labels(rows: Sequence[Row], benchmarks: Sequence[str]) -> Html:
    """The labels that the audit contradicts, each with the statements of the story that prove it wrong."""
    labels: dict[tuple[str, str], str] = {}
    for benchmark in benchmarks:
        labels |= judged([row for row in rows if benchmark_of(row) == benchmark])
    contradicted = [row for row in rows if labels[row["condition"], row["episode"]] == "contradicts"]
    lines = [
        [NAMES[benchmark_of(row)], kind_name(row["condition"]), row["episode"], row["line"],
         " ".join(row.get("because", ()))]
        for row in contradicted[:LISTED]
    ]  # fmt: skip
    listed = table(("Benchmark", "Type", "Item", "Line", "Because"), lines, stacks=True)
    about = Html(f"<p>{with_code(WORDS['labels'])}</p>")
    return stack(about, folded(_title(contradicted, "labels"), listed) if contradicted else "There are none.")


def _wrong(rows: Sequence[Row]) -> Html:
    """The answers that differ from their labels, at most LISTED."""
    wrong = [row for row in rows if row["action"] is not None and not row["correct"]]
    lines = [
        [NAMES[benchmark_of(row)], kind_name(row["condition"]), row["episode"], row["chosen"], row["label"],
         number(row["p"])]
        for row in wrong[:LISTED]
    ]  # fmt: skip
    listed = table(("Benchmark", "Type", "Item", "Answer", "Label", "P"), lines, stacks=True)
    return stack(WORDS["wrong"], folded(_title(wrong, "answers"), listed) if wrong else "There are none.")


def _faults(stats: RowsByKey, benchmarks: Sequence[str], faults: Sequence[str]) -> Html:
    """How many rows of each benchmark could not be read, and the first of them."""
    counts = [(benchmark, stats.get((f"{benchmark}/all", READER, "skipped"))) for benchmark in benchmarks]
    lines = [[NAMES[benchmark], row["n"], number(row["value"], 0)] for benchmark, row in counts if row and row["value"]]
    listed = table(("Row, and what is wrong with it",), [[fault] for fault in faults[:LISTED]])
    return stack(WORDS["faults"], table(("Benchmark", "n", "Not read"), lines), folded(_title(faults, "rows"), listed))


def _title(entries: Sequence[object], what: str) -> str:
    """How many there are, and how many of them are listed."""
    return f"The first {LISTED} of {len(entries):,} {what}" if len(entries) > LISTED else f"All {len(entries)} {what}"
