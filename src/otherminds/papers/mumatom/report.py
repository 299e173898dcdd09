"""The report on questions about social interactions: a story, MuMA-ToM, its shortcuts, and invented stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from otherminds.files.toml import packaged
from otherminds.reports.page import Html, Page, Section, at_two_widths, folded, number, page, stack, table
from otherminds.reports.plots import WIDER, styled, whisker
from otherminds.reports.results import RowsByKey, by_key, cell, figures, targets
from otherminds.reports.story_example import story_example
from otherminds.stories.answering import ask
from otherminds.stories.english.reading import read_story

Row = Mapping[str, Any]
Mark = tuple[str, float, float | None, float | None, str]  # label, value, interval, and key of the colour

KINDS = ("belief", "social_goal", "belief_of_goal", "all")
WORDS = packaged("otherminds.papers.mumatom", "report.toml")
WIDE = 8.2  # inches of a figure on a wide screen
TRACKS: Mapping[str, str] = WORDS["tracks"]
SHORTCUTS: Mapping[str, str] = WORDS["shortcuts"]
COLOURS = {"ours": "#0072B2", "shortcut": "#999999", "published": "#D55E00"}
LISTED = 60  # wrong answers and faults in the tables; chosen
EPISODES = 225  # of the whole benchmark, on which published figures are; Shi et al. 2025


def report(rows: Sequence[Row], summary: Sequence[Row], faults: Sequence[str] = ()) -> Page:
    """The page of the experiment, from rows and summary, after a story that is asked about when the page is made.

    `faults` are the episodes that could not be read.
    """
    scores = by_key(summary)
    benchmark = {key: row for key, row in scores.items() if not key[0].startswith("invented/")}
    sections = [Section(WORDS["example"]["title"], _example())]
    if benchmark:
        body = stack(
            WORDS["split"],
            _results(benchmark),
            _published_results(),
            WORDS["method"],
            targets(summary),
            at_two_widths(partial(_bars, benchmark), WIDE, WORDS["bars"]),
        )
        sections += [Section("MuMA-ToM", body), Section("Shortcuts", stack(_shortcuts(benchmark), WORDS["short"]))]
    sections.append(Section("Invented stories", stack(_invented(scores), WORDS["invented"])))
    if any("replies" in row for row in rows):
        sections.append(Section("How a language model answered", stack(WORDS["letters"], _letters(rows))))
    if benchmark:
        sections.append(Section("What went wrong", _wrong(rows)))
    if faults:
        listed = table((f"Episode, the first {LISTED} of {len(faults):,}",), [[fault] for fault in faults[:LISTED]])
        sections.append(Section("Episodes that cannot be read", stack(WORDS["faults"], listed)))
    return page("Questions about social interactions", WORDS["lead"], sections)


def _example() -> Html:
    """A story of our own with its answer, which is shown whether or not there are files of the benchmark."""
    example = WORDS["example"]
    story_answer = ask(read_story(example["story"]), example["question"], example["options"])
    return stack(example["about"], story_example(story_answer, example["question"], example["options"]))


def _results(estimates: RowsByKey) -> Html:
    """What was measured in this run, by track and subject."""
    lines = []
    for track, name in TRACKS.items():
        for subject in dict.fromkeys(s for c, s, _ in estimates if c.startswith(f"{track}/") and s not in SHORTCUTS):
            scores = [cell(estimates.get((f"{track}/{kind}", subject, "accuracy"))) for kind in KINDS]
            more = (estimates.get((f"{track}/all", subject, metric)) for metric in ("answered", "accuracy_guessing"))
            n = estimates[f"{track}/all", subject, "accuracy"]["n"]
            lines.append([name, WORDS["subjects"].get(subject, subject), n, *scores, *map(cell, more)])
    head = ("Told by", "Subject", "n", "Belief", "Social goal", "Belief of goal", "All", "Answered", "All, guessing")
    return table(head, lines, stacks=True)


def _published_results() -> Html:
    """Accuracy by track and system as published, on the whole benchmark."""
    lines = []
    for track, name in TRACKS.items():
        for subject in dict.fromkeys(p.subject for p in _published(track)):
            values = {p.condition: p.value for p in _published(track) if p.subject == subject}
            scores = [number(values.get(f"{track}/{kind}"), 3) for kind in KINDS]
            lines.append([name, _name(subject), EPISODES, *scores])
    head = ("Told by", "As published", "n", "Belief", "Social goal", "Belief of goal", "All")
    return table(head, lines, stacks=True)


def _name(subject: str) -> str:
    """A published system in words."""
    return str(WORDS["published"].get(subject, subject))


def _published(track: str) -> Sequence[Any]:
    return [p for p in figures().published if p.experiment == "mumatom" and p.condition.startswith(f"{track}/")]


def _shortcuts(estimates: RowsByKey) -> Html:
    first = next(iter(estimates))[0].split("/")[0]
    rows = {name: [estimates.get((f"{first}/{kind}", name, "accuracy")) for kind in KINDS] for name in SHORTCUTS}
    lines = [[words, (rows[name][-1] or {}).get("n"), *map(cell, rows[name])] for name, words in SHORTCUTS.items()]
    return table(("Shown", "n", "Belief", "Social goal", "Belief of goal", "All"), lines, stacks=True)


@styled
def _bars(estimates: RowsByKey, width: float) -> Figure:
    """Accuracy on all questions and on social goals, by track, with shortcuts and published figures."""
    places = (1, 2) if width > WIDER else (2, 1)
    figure = Figure(figsize=(width, 4.6 * places[0]), layout="constrained")
    for axes, kind in zip(figure.subplots(*places, sharey=True), ("all", "social_goal"), strict=True):
        marks = _marks(estimates, kind)
        for y, (_, value, low, high, sort) in enumerate(reversed(marks)):
            axes.plot([value], [y], "o", color=COLOURS[sort], markersize=5)
            whisker(axes, y, low, high, COLOURS[sort], 1.6)
        axes.axvline(1 / 3, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xlim=(0, 1.02), xlabel="accuracy", title=kind.replace("_", " "))
        axes.set_yticks(range(len(marks)), [mark[0] for mark in reversed(marks)])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
    return figure


def _marks(estimates: RowsByKey, kind: str) -> list[Mark]:
    """The points of one panel: the solver on each track, the shortcuts, and published systems."""
    first = next(iter(estimates))[0].split("/")[0]
    entries = [(name, estimates.get((f"{t}/{kind}", "symbolic", "accuracy")), "ours") for t, name in TRACKS.items()]
    entries += [(s.replace("_", " "), estimates.get((f"{first}/{kind}", s, "accuracy")), "shortcut") for s in SHORTCUTS]
    marks: list[Mark] = [(name, row["value"], row["low"], row["high"], sort) for name, row, sort in entries if row]
    values = {p.subject: p.value for p in _published("text_video") if p.condition == f"text_video/{kind}"}
    published = ("human", "limp:gpt-4o", "gemini-1.5-pro")
    return marks + [(_name(subject), values[subject], None, None, "published") for subject in published]


def _invented(estimates: RowsByKey) -> Html:
    """Accuracy and coverage on invented stories, by phrasing and subject."""
    metrics = ("accuracy_answered", "answered", "accuracy", "coverage")
    lines = [
        [condition.removeprefix("invented/"), WORDS["subjects"].get(subject, subject),
         estimates[condition, subject, "accuracy"]["n"],
         *(cell(estimates.get((condition, subject, metric))) for metric in metrics)]
        for condition, subject in dict.fromkeys((c, s) for c, s, _ in estimates if c.startswith("invented/"))
    ]  # fmt: skip
    head = ("Phrasing", "Subject", "n", "Accuracy on answered", "Answered", "Accuracy on all", "Coverage")
    return table(head, lines, stacks=True)


def _letters(rows: Sequence[Row]) -> Html:
    """How often a language model by itself chose each option, and how often that was right, by kind of question."""
    answers = [row for row in rows if "replies" in row]
    options = range(1 + max(row["gold"] for row in answers))
    lines = []
    for kind in KINDS:
        chosen = [row["action"] for row in answers if kind in ("all", row["kind"])]
        right = [row["gold"] for row in answers if kind in ("all", row["kind"])]
        counts = (f"{chosen.count(option)} ({right.count(option)})" for option in options)
        lines.append([kind.replace("_", " "), len(right), *counts, chosen.count(None)])
    return table(("Kind", "Questions", *map(_letter, options), "No answer"), lines)


def _wrong(rows: Sequence[Row]) -> Html:
    """The solver's wrong answers with their posteriors, at most LISTED."""
    solved = [row for row in rows if row["subject"] == "symbolic" and row["condition"] in TRACKS]
    missed = [row for row in solved if not row["correct"]]
    lines = [
        [TRACKS.get(row["condition"], row["condition"]), row["episode"], row["t"] + 1, row["kind"].replace("_", " "),
         _letter(row["action"]), _letter(row["gold"]), " ".join(number(p) for p in row["posterior"]),
         row.get("abstained", "")]
        for row in missed[:LISTED]
    ]  # fmt: skip
    title = f"The first {LISTED} of {len(missed):,} answers" if len(missed) > LISTED else f"All {len(missed)} answers"
    head = ("Told by", "Episode", "Question", "Kind", "Chosen", "Label", "Posterior", "Not answered")
    return stack(WORDS["wrong"], folded(title, table(head, lines, stacks=True)) if missed else "There are none.")


def _letter(option: int | None) -> str:
    return "–" if option is None else "ABCDEFGHIJ"[option]
