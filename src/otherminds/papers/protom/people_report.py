"""The report on goal inference against people's judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.reports.page import Html, Page, Section, inline, number, page, stack, table
from otherminds.reports.results import figures
from otherminds.reports.tables import cell, targets

Row = Mapping[str, Any]
MODEL = "boltzmann_lapse_leak"
LEAD = (
    "People watched one agent walk through doors and keys towards one of three gems, and said now and then how "
    "likely each gem was to be its goal. Here exact Bayesian inverse planning says the same."
)
MODELS = (
    "P(a | s, g) = (1 − lapse) · softmax(−β · Q_g(s, ·)) + lapse / |A(s)|, with exact cost-to-go; where a goal cannot "
    "be reached the agent is taken to hope for an open door. Before every step the log weights shrink by the "
    "leak. The settings are picked from a grid of 150 by correlation: on all stimuli (in sample), or for each "
    "stimulus on all the others (leave one out). Brackets are 95 % bootstrap intervals over stimuli. The published "
    "figures are in-sample fits on all sixteen stimuli, so they compare with ours in sample on all sixteen only."
)


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The whole page, from rows and summary alone."""
    sections = [
        Section("Results", stack(_results(summary), MODELS, targets(summary))),
        Section("Model and people", inline(_scatter(rows))),
        Section("Settings", _settings(rows)),
    ]
    return page("Goal inference and human judgements", LEAD, sections)


def _results(summary: Sequence[Row]) -> Html:
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    lines = [
        [
            condition.replace("_", " "),
            subject.replace("_", " "),
            *(cell(found[condition, subject, m]) for m in ("r", "rmse")),
        ]
        for condition, subject in dict.fromkeys((r["condition"], r["subject"]) for r in summary)
    ]
    lines += [["in sample", f"{p.subject} (published)", number(p.value), "–"] for p in _published()]
    return table(("Fit", "Model", "r", "RMSE"), lines)


def _published() -> Sequence[Any]:
    return [p for p in figures().published if p.experiment == "dkg-human"]


def _scatter(rows: Sequence[Row]) -> Figure:
    chosen = [r for r in rows if r["condition"] == "leave_one_out" and r["subject"] == MODEL]
    figure = Figure(figsize=(4.6, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ours = [p for row in chosen for p in row["posterior"].values()]
    theirs = [row["people"][gem] for row in chosen for gem in row["posterior"]]
    axes.scatter(ours, theirs, s=14, alpha=0.6, linewidths=0, color="#0072B2")
    axes.set(xlabel="P(goal), model (leave one out)", ylabel="P(goal), people", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _settings(rows: Sequence[Row]) -> Html:
    chosen = {
        (r["episode"], r["beta"], r["lapse"], r["leak"])
        for r in rows
        if r["condition"] == "leave_one_out" and r["subject"] == MODEL
    }
    return table(
        ("Stimulus", "β", "Lapse", "Leak"),
        [[str(v) for v in line] for line in sorted(chosen)],
        "Chosen without the stimulus itself.",
    )
