"""The report on questions about social interactions: MuMA-ToM, its shortcuts, and invented stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.reports.page import Html, Page, Section, inline, number, page, stack, table
from otherminds.reports.plots import styled, whisker
from otherminds.reports.results import cell, figures, targets

Row = Mapping[str, Any]

KINDS = ("belief", "social_goal", "belief_of_goal", "all")
TRACKS = {
    "full_text": "full text",
    "text_video": "text + video text",
    "text_scene": "text + scene graph",
    "text_video_scene": "text + video text + scene graph",
}
SHORTCUTS = {
    "question_only": "the question alone",
    "no_video": "no video",
    "place_prior": "no video, and what the kind of place gives away",
}
COLOURS = {"ours": "#0072B2", "shortcut": "#999999", "published": "#D55E00"}
LISTED = 60  # wrong answers in the table; chosen
LEAD = (
    "Two people meet in a household. One asks where something is and the other answers, or one moves an item that the "
    "other has put somewhere. Did they mean to help or to hinder, what did they believe, and what did they think that "
    "the other wanted?"
)
METHOD = (
    "Each option of a question is a mind: a belief, a stance towards the other, and where it takes the other to want "
    "things. Minds plan: they search where it costs least, ask when that pays, choose answers by their effect on the "
    "other's search, and fetch and carry items by their own goals. The posterior over the options is exact. Brackets "
    "are 95 % intervals, resampling episodes. The full text includes what the video shows; published figures on it are "
    "of text harnesses. Scene graphs come from the simulator, not from pixels. A question that cannot be decided is "
    "not answered and counts as wrong."
)
SHORT = (
    "Shortcuts are shown less than they need to know, and guess if they cannot tell. Their scores need no "
    "understanding of other minds, so a score counts only as far as it is above theirs: the options nearly give away "
    "beliefs and beliefs of goals, and the kind of place that is spoken of nearly gives away the social goal."
)
INVENTED = (
    "Our own stories, made by running minds forward in a household: each option of a question is the right answer in "
    "one of three stories, so that the question alone gives nothing away. The solver does not know the phrasings. It "
    "does not answer a story that it cannot read."
)


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the experiment, from rows and summary alone."""
    benchmark = [row for row in summary if not row["condition"].startswith("invented/")]
    sections = []
    if benchmark:
        sections += [
            Section("MuMA-ToM", stack(_results(benchmark), METHOD, targets(summary), inline(_bars(benchmark)))),
            Section("Shortcuts", stack(_shortcuts(benchmark), SHORT)),
        ]
    sections.append(Section("Invented stories", stack(_invented(summary), INVENTED)))
    if benchmark:
        sections.append(Section("What went wrong", _wrong(rows)))
    return page("Questions about social interactions", LEAD, sections)


def _results(summary: Sequence[Row]) -> Html:
    found = {(row["condition"], row["subject"], row["metric"]): row for row in summary}
    lines = []
    for track, name in TRACKS.items():
        for subject in dict.fromkeys(s for c, s, _ in found if c.startswith(f"{track}/") and s not in SHORTCUTS):
            scores = [cell(found.get((f"{track}/{kind}", subject, "accuracy"))) for kind in KINDS]
            answered = found[f"{track}/all", subject, "answered"]["value"]
            lines.append([name, subject, *scores, number(answered)])
        for subject in dict.fromkeys(p.subject for p in _published(track)):
            values = {p.condition: p.value for p in _published(track) if p.subject == subject}
            scores = [number(values.get(f"{track}/{kind}"), 3) for kind in KINDS]
            lines.append([name, f"{subject} (published)", *scores, "–"])
    return table(("Told by", "Subject", "Belief", "Social goal", "Belief of goal", "All", "Answered"), lines)


def _published(track: str) -> Sequence[Any]:
    return [p for p in figures().published if p.experiment == "mumatom" and p.condition.startswith(f"{track}/")]


def _shortcuts(summary: Sequence[Row]) -> Html:
    first = summary[0]["condition"].split("/")[0]
    found = {(r["condition"], r["subject"]): r for r in summary if r["metric"] == "accuracy"}
    lines = [
        [name, *(cell(found.get((f"{first}/{kind}", subject))) for kind in KINDS)]
        for subject, name in SHORTCUTS.items()
    ]
    return table(("Shown", "Belief", "Social goal", "Belief of goal", "All"), lines)


@styled
def _bars(summary: Sequence[Row]) -> Figure:
    """Accuracy on all questions and on social goals, by track, with shortcuts and published figures."""
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2, sharey=True), ("all", "social_goal"), strict=True):
        marks = _marks(summary, kind)
        for y, (_, value, low, high, sort) in enumerate(reversed(marks)):
            axes.plot([value], [y], "o", color=COLOURS[sort], markersize=5)
            whisker(axes, y, low, high, COLOURS[sort], 1.6)
        axes.axvline(1 / 3, color="0.7", linewidth=0.8, linestyle=":")
        axes.set(xlim=(0, 1.02), xlabel="accuracy", title=kind.replace("_", " "))
        axes.set_yticks(range(len(marks)), [mark[0] for mark in reversed(marks)])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
    return figure


def _marks(summary: Sequence[Row], kind: str) -> list[tuple[str, float, float | None, float | None, str]]:
    found = {(r["condition"], r["subject"]): r for r in summary if r["metric"] == "accuracy"}
    first = summary[0]["condition"].split("/")[0]
    known = [(name, found.get((f"{track}/{kind}", "symbolic")), "ours") for track, name in TRACKS.items()]
    known += [(s.replace("_", " "), found.get((f"{first}/{kind}", s)), "shortcut") for s in SHORTCUTS]
    marks: list[tuple[str, float, float | None, float | None, str]] = [
        (name, row["value"], row["low"], row["high"], sort) for name, row, sort in known if row is not None
    ]
    values = {p.subject: p.value for p in _published("text_video") if p.condition == f"text_video/{kind}"}
    published = ("human", "limp:gpt-4o", "gemini-1.5-pro")
    return marks + [(f"{subject} (published)", values[subject], None, None, "published") for subject in published]


def _invented(summary: Sequence[Row]) -> Html:
    mine = [row for row in summary if row["condition"].startswith("invented/")]
    found = {(row["condition"], row["subject"], row["metric"]): row for row in mine}
    metrics = ("accuracy_answered", "answered", "accuracy", "coverage")
    lines = [
        [condition.removeprefix("invented/"), subject.replace("_", " "),
         *(cell(found.get((condition, subject, metric))) for metric in metrics)]
        for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in mine)
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
    return table(
        ("Told by", "Episode", "Question", "Kind", "Chosen", "Label", "Posterior", "Not answered"), lines, caption
    )


def _letter(option: int | None) -> str:
    return "–" if option is None else "ABCDEFGHIJ"[option]
