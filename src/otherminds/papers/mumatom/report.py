"""The report on questions about social interactions: MuMA-ToM, its shortcuts, and invented stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from otherminds.files.toml import packaged
from otherminds.reports.page import Html, Page, Section, at_two_widths, number, page, stack, table
from otherminds.reports.plots import WIDER, styled, whisker
from otherminds.reports.results import Found, by_key, cell, figures, targets

Row = Mapping[str, Any]
Mark = tuple[str, float, float | None, float | None, str]  # label, value, interval, and key of the colour

KINDS = ("belief", "social_goal", "belief_of_goal", "all")
WORDS = packaged("otherminds.papers.mumatom", "report.toml")
WIDE = 8.2  # inches of a figure on a wide screen
TRACKS: Mapping[str, str] = WORDS["tracks"]
SHORTCUTS: Mapping[str, str] = WORDS["shortcuts"]
COLOURS = {"ours": "#0072B2", "shortcut": "#999999", "published": "#D55E00"}
LISTED = 60  # wrong answers in the table; chosen


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the experiment, from rows and summary alone."""
    scores = by_key(summary)
    benchmark = {key: row for key, row in scores.items() if not key[0].startswith("invented/")}
    sections = []
    if benchmark:
        found = stack(
            _results(benchmark), WORDS["method"], targets(summary), at_two_widths(partial(_bars, benchmark), WIDE)
        )
        sections += [Section("MuMA-ToM", found), Section("Shortcuts", stack(_shortcuts(benchmark), WORDS["short"]))]
    sections.append(Section("Invented stories", stack(_invented(scores), WORDS["invented"])))
    if benchmark:
        sections.append(Section("What went wrong", _wrong(rows)))
    return page("Questions about social interactions", WORDS["lead"], sections)


def _results(found: Found) -> Html:
    lines = []
    for track, name in TRACKS.items():
        for subject in dict.fromkeys(s for c, s, _ in found if c.startswith(f"{track}/") and s not in SHORTCUTS):
            scores = [cell(found.get((f"{track}/{kind}", subject, "accuracy"))) for kind in KINDS]
            more = (found.get((f"{track}/all", subject, metric)) for metric in ("answered", "accuracy_guessing"))
            lines.append([name, subject, *scores, *map(cell, more)])
        for subject in dict.fromkeys(p.subject for p in _published(track)):
            values = {p.condition: p.value for p in _published(track) if p.subject == subject}
            scores = [number(values.get(f"{track}/{kind}"), 3) for kind in KINDS]
            lines.append([name, f"{subject} (published)", *scores, "–", "–"])
    head = ("Told by", "Subject", "Belief", "Social goal", "Belief of goal", "All", "Answered", "All, guessing")
    return table(head, lines)


def _published(track: str) -> Sequence[Any]:
    return [p for p in figures().published if p.experiment == "mumatom" and p.condition.startswith(f"{track}/")]


def _shortcuts(found: Found) -> Html:
    first = next(iter(found))[0].split("/")[0]
    scores = {who: [cell(found.get((f"{first}/{kind}", who, "accuracy"))) for kind in KINDS] for who in SHORTCUTS}
    lines = [[name, *scores[subject]] for subject, name in SHORTCUTS.items()]
    return table(("Shown", "Belief", "Social goal", "Belief of goal", "All"), lines)


@styled
def _bars(found: Found, width: float) -> Figure:
    """Accuracy on all questions and on social goals, by track, with shortcuts and published figures."""
    places = (1, 2) if width > WIDER else (2, 1)
    figure = Figure(figsize=(width, 4.6 * places[0]), layout="constrained")
    for axes, kind in zip(figure.subplots(*places, sharey=True), ("all", "social_goal"), strict=True):
        marks = _marks(found, kind)
        for y, (_, value, low, high, sort) in enumerate(reversed(marks)):
            axes.plot([value], [y], "o", color=COLOURS[sort], markersize=5)
            whisker(axes, y, low, high, COLOURS[sort], 1.6)
        axes.axvline(1 / 3, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xlim=(0, 1.02), xlabel="accuracy", title=kind.replace("_", " "))
        axes.set_yticks(range(len(marks)), [mark[0] for mark in reversed(marks)])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
    return figure


def _marks(found: Found, kind: str) -> list[Mark]:
    first = next(iter(found))[0].split("/")[0]
    known = [(name, found.get((f"{track}/{kind}", "symbolic", "accuracy")), "ours") for track, name in TRACKS.items()]
    known += [(s.replace("_", " "), found.get((f"{first}/{kind}", s, "accuracy")), "shortcut") for s in SHORTCUTS]
    marks: list[Mark] = [(name, row["value"], row["low"], row["high"], sort) for name, row, sort in known if row]
    values = {p.subject: p.value for p in _published("text_video") if p.condition == f"text_video/{kind}"}
    published = ("human", "limp:gpt-4o", "gemini-1.5-pro")
    return marks + [(f"{subject} (published)", values[subject], None, None, "published") for subject in published]


def _invented(found: Found) -> Html:
    metrics = ("accuracy_answered", "answered", "accuracy", "coverage")
    lines = [
        [condition.removeprefix("invented/"), subject.replace("_", " "),
         *(cell(found.get((condition, subject, metric))) for metric in metrics)]
        for condition, subject in dict.fromkeys((c, s) for c, s, _ in found if c.startswith("invented/"))
    ]  # fmt: skip
    return table(("Phrasing", "Subject", "Right of the answered", "Answered", "Right of all", "Coverage"), lines)


def _wrong(rows: Sequence[Row]) -> Html:
    missed = [row for row in rows if row["subject"] == "symbolic" and not row["correct"]]
    lines = [
        [row["condition"], row["episode"], row["t"] + 1, row["kind"].replace("_", " "), _letter(row["action"]),
         _letter(row["gold"]), " ".join(number(p) for p in row["posterior"]), row.get("abstained", "")]
        for row in missed[:LISTED]
    ]  # fmt: skip
    caption = f"{len(missed)} questions, the first {min(LISTED, len(missed))} of them."
    head = ("Told by", "Episode", "Question", "Kind", "Chosen", "Label", "Posterior", "Not answered")
    return table(head, lines, caption)


def _letter(option: int | None) -> str:
    return "–" if option is None else "ABCDEFGHIJ"[option]
