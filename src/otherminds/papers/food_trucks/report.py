"""The report on food trucks, from rows and summary alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from otherminds.files.toml import packaged
from otherminds.papers.food_trucks.clone import Judgement
from otherminds.papers.food_trucks.experiment import BEST, ERRORS, GROUPS, HALF, HALVES, METRICS, SWEEP, WALKS
from otherminds.papers.food_trucks.models import JOINT, MOTION
from otherminds.papers.food_trucks.replay import walks_replay
from otherminds.reports.page import Html, Page, Section, at_two_widths, number, page, stack, table
from otherminds.reports.plots import BLUE, SMALL, SOFT, SPARE, WIDER, styled
from otherminds.reports.results import by_key, cell, targets
from otherminds.worlds.food_trucks.agent import BETA
from otherminds.worlds.food_trucks.drawing import truck_colours
from otherminds.worlds.food_trucks.level_files import parse_food_trucks
from otherminds.worlds.food_trucks.rules import TRUCKS

Row = Mapping[str, Any]
WORDS = packaged("otherminds.papers.food_trucks", "report.toml")
WIDE = 6.4  # inches of a figure on a wide screen
CONDITIONS: Mapping[str, str] = WORDS["conditions"]
MODELS: Mapping[str, str] = WORDS["models"]
COLOURS = truck_colours(TRUCKS)
MARKS = "osD^v"  # of trucks and contents, in their order
AXES = {"desire": ("desires, 1 to 7", (0.8, 7.2)), "belief": ("beliefs, P", (-0.03, 1.03))}


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The whole page, from rows and summary alone."""
    estimates = by_key(summary)
    skipped = estimates["data", "people", "skipped"]
    counted = {"scored": number(skipped["n"] - skipped["value"], 0), "skipped": number(skipped["value"], 0)}
    sections = [
        Section("Results", stack(_results(summary), WORDS["model"], WORDS["controls"], targets(summary))),
        Section("Model and people", beside_people(rows)),
        Section("Groups of scenarios", at_two_widths(partial(_scatter, _grouped(_final(rows))), WIDE, WORDS["groups"])),
        Section("Where minds are needed", stack(_errors(summary), WORDS["walks"])),
        Section("Rationality", at_two_widths(partial(_sweep, summary), WIDE, WORDS["sweep"])),
        Section("Walks", _walks(rows)),
        Section("Data", WORDS["data"].format(**counted)),
    ]
    return page(WORDS["title"], WORDS["lead"], sections)


def _results(summary: Sequence[Row]) -> Html:
    """r of each model with people's desires and beliefs, by condition, with the rationality β where it was fitted."""
    estimates = by_key(summary)
    pairs = dict.fromkeys((row["condition"], row["subject"]) for row in summary if row["condition"] in CONDITIONS)
    lines = []
    for condition, model in sorted(pairs, key=lambda pair: list(CONDITIONS).index(pair[0])):
        rows = [estimates.get((condition, model, metric)) for metric in METRICS]
        n = max(row["n"] for row in rows if row)
        beta = ""
        if condition == BEST:
            beta = number(estimates[condition, model, "beta"]["value"], 1)
        elif condition == HALVES:
            beta = " and ".join(number(estimates[f"{HALF}{half}", model, "beta"]["value"], 1) for half in (1, 2))
        lines.append([CONDITIONS[condition], MODELS[model], beta, *map(cell, rows), n])
    return table(("Condition", "Model", "β", "Desires, r", "Beliefs, r", "n"), lines, "β is 2.5 unless stated.")


def _errors(summary: Sequence[Row]) -> Html:
    """The error of joint inference and of the motion heuristic for each kind of walk, largest difference first."""
    estimates = by_key(summary)
    kinds = dict.fromkeys(row["condition"] for row in summary if row["condition"].startswith(WALKS))

    def error(kind: str, model: str, metric: str) -> float:
        return float(estimates[kind, model, metric]["value"])

    lines = [
        (
            kind.removeprefix(WALKS),
            estimates[kind, JOINT, ERRORS[0]]["n"],
            *(number(error(kind, model, metric)) for metric in ERRORS for model in (JOINT, MOTION)),
        )
        for kind in sorted(kinds, key=lambda kind: error(kind, JOINT, ERRORS[0]) - error(kind, MOTION, ERRORS[0]))
    ]
    columns = ("Walk", "n", "Desires: minds", "heuristic", "Beliefs: minds", "heuristic")
    return table(columns, lines, "Root mean squared error against people; desires from 1 to 7, beliefs from 0 to 1.")


def beside_people(rows: Sequence[Row]) -> Html:
    """People's judgements of each scenario over those of joint inference."""
    return at_two_widths(partial(_scatter, _final(rows)), WIDE, WORDS["scatter"])


def _final(rows: Sequence[Row]) -> list[Row]:
    """The rows of joint inference at the ends of walks, which have people's judgements."""
    return [row for row in rows if row["subject"] == JOINT and "people_desire" in row]


@styled
def _sweep(summary: Sequence[Row], width: float) -> Figure:
    """r with people's judgements over the rationality β, for each model; a panel for desires and one for beliefs."""
    places = (1, 2) if width > WIDER else (2, 1)
    figure = Figure(figsize=(width, 2.6 * places[0]), layout="constrained")
    panels = figure.subplots(*places, sharey=True)
    colours = (BLUE, *(colour for colour, _ in SPARE))
    swept = [row for row in summary if row["condition"].startswith(SWEEP)]
    for axes, metric in zip(panels, METRICS, strict=True):
        for model, colour in zip(dict.fromkeys(row["subject"] for row in swept), colours, strict=False):
            points = [row for row in swept if (row["subject"], row["metric"]) == (model, metric)]
            betas = [float(row["condition"].removeprefix(SWEEP)) for row in points]
            axes.plot(betas, [row["value"] for row in points], color=colour, label=MODELS[model])
            axes.fill_between(
                betas, *([row[end] for row in points] for end in ("low", "high")), color=colour, alpha=0.12
            )
        axes.axvline(BETA, color=SOFT, linestyle=":", linewidth=0.8)
        axes.set(xlabel="β", title={"desire_r": "desires", "belief_r": "beliefs"}[metric], ylim=(-0.45, 1.02))
    panels[0].set_ylabel("r")
    panels[0].legend(frameon=False, fontsize=SMALL, loc="lower left")
    return figure


@styled
def _scatter(rows: Sequence[Row], width: float) -> Figure:
    """People's judgements over the model's, a panel for desires and one for beliefs."""
    places = (1, 2) if width > WIDER else (2, 1)
    figure = Figure(figsize=(width, 3.2 * places[0]), layout="constrained")
    for axes, (what, (name, limits)) in zip(figure.subplots(*places), AXES.items(), strict=True):
        axes.plot(limits, limits, color=SOFT, linewidth=0.7)
        for mark, key in zip(MARKS, rows[0][what], strict=False):
            colour = COLOURS.get(key, SOFT)
            for irrational in (False, True):
                group_rows = [row for row in rows if (row["condition"] == "irrational") == irrational]
                points = [row[what][key] for row in group_rows], [row[f"people_{what}"][key] for row in group_rows]
                style = {"facecolors": "none" if irrational else colour, "edgecolors": colour, "linewidths": 0.8}
                axes.scatter(*points, s=18, marker=mark, alpha=0.8, label="" if irrational else key, **style)
        axes.set(xlabel=f"model: {name}", ylabel=f"people: {name}", xlim=limits, ylim=limits, aspect="equal")
        axes.legend(frameon=False, fontsize=SMALL, loc="upper left", handletextpad=0.1)
    return figure


def _grouped(rows: Sequence[Row]) -> list[Row]:
    """A row for each group of rational scenarios, with means."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["condition"] != "irrational":
            groups.setdefault(row["group"], []).append(row)
    fields = ("desire", "belief", "people_desire", "people_belief")
    return [
        {"condition": GROUPS}
        | {
            field: {key: float(np.mean([row[field][key] for row in scenarios])) for key in scenarios[0][field]}
            for field in fields
        }
        for scenarios in groups.values()
    ]


def _walks(rows: Sequence[Row]) -> Html:
    """The viewer of all walks."""
    episodes: dict[str, list[Row]] = {}
    for row in rows:
        if row["subject"] == JOINT:
            episodes.setdefault(row["episode"], []).append(row)
    levels, inferred, people = [], [], {}
    for name, steps in episodes.items():
        levels.append(parse_food_trucks(steps[0]["level"], Path(name)))
        inferred.append([_judgement(step) for step in steps])
        people[name] = _judgement(steps[-1], "people_")
    return walks_replay(levels, inferred, people)


def _judgement(row: Row, prefix: str = "") -> Judgement:
    return Judgement(*(np.array(list(row[f"{prefix}{what}"].values())) for what in AXES))
