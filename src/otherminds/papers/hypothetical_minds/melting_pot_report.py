"""The report on the matrix and cooking worlds: calibration of the scripted bodies, and scores in the scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from otherminds.errors import shortened
from otherminds.files.toml import packaged
from otherminds.reports.page import Html, Page, Section, at_two_widths, interval, number, page, stack, table
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled, whisker
from otherminds.reports.results import RowsByKey, by_key, cell, targets
from otherminds.worlds.in_the_matrix.scenarios import Scenario, scenarios

Row = Mapping[str, Any]

WORDS = packaged("otherminds.papers.hypothetical_minds", "report.toml")["melting_pot"]
WORLDS: Mapping[str, str] = WORDS["worlds"]
WIDE = 7.4  # inches of a figure on a wide screen
SHOWN = (-30.0, 130.0)
LONGEST, LONGEST_NARROW = 56, 30  # characters of a label, on a wide screen and on a phone; chosen
METRICS = {"reward": 1, "steps": 1, "meetings": 1, "per_meeting": 2}  # with the digits that are shown


def report(summary: Sequence[Row]) -> Page:
    """The report as a page, from the summary alone."""
    stats = by_key(summary)
    scores = {(c, s): row for (c, s, metric), row in stats.items() if metric == "score"}
    cases = {f"{s} ({_body_name(c)})": row for (c, s), row in scores.items() if c != "scenario"}
    labels = {scenario.id: f"{_scenario_number(scenario)}: {scenario.meaning}" for scenario in scenarios()}
    matrix = {labels.get(s, s): row for (c, s), row in scores.items() if c == "scenario" and not s.startswith("cook")}
    compared = at_two_widths(partial(_whiskers, cases, "\nours (circles), the prototype's (squares)", True), WIDE)
    calibration = stack(WORDS["calibration"], _calibration(stats), targets(summary), compared)
    tables = [_scenario_table(name, stats) for name in WORLDS]
    scenario_body = stack(WORDS["scenarios"], *tables, at_two_widths(partial(_whiskers, matrix, "", False), WIDE))
    sections = [Section("Calibration", calibration), Section("Scenarios", scenario_body)]
    return page("Matrix and cooking worlds", WORDS["lead"], sections)


def _calibration(stats: RowsByKey) -> Html:
    """The scores of the calibration cases beside the prototype's."""
    lines = []
    for (condition, subject, metric), row in stats.items():
        if metric == "score" and condition != "scenario":
            meetings = stats[condition, subject, "meetings"]
            printed = interval(row["published"], row["published_low"], row["published_high"], 1)
            about = (cell(row, 1), printed, number(meetings["value"], 1), row["n"])
            lines.append([subject, _body_name(condition), *about])
    return table(("First player v the others", "Body", "Score", "Prototype", "Meetings", "Episodes"), lines)


def _body_name(condition: str) -> str:
    return condition.partition("/")[2].replace("_", " ")


@styled
def _whiskers(rows: dict[str, Row], label: str, beside: bool, width: float) -> Figure:
    """Scores by name: `beside` those of the prototype, or with a line at 0."""
    figure = Figure(figsize=(width, (0.27 if beside else 0.2) * len(rows) + 0.9), layout="constrained")
    axes = figure.subplots()
    ours, theirs = ("", "o", BLUE), ("published_", "s", SOFT)
    for y, row in enumerate(reversed(rows.values())):
        for (prefix, shape, colour), shift in {theirs: -0.16, ours: 0.16}.items() if beside else [(ours, 0.0)]:
            low, high = np.clip([row[f"{prefix}low"], row[f"{prefix}high"]], *SHOWN)
            axes.plot([row[prefix.rstrip("_") or "value"]], [y + shift], shape, color=colour, markersize=4)
            whisker(axes, y + shift, low, high, colour, 1.4)
    if not beside:
        axes.axvline(0, color=SOFT, linewidth=0.7)
    longest = LONGEST if width > WIDER else LONGEST_NARROW
    axes.set_yticks(range(len(rows)), [shortened(name, longest) for name in reversed(rows)])
    axes.set(xlim=SHOWN, xlabel=f"reward a 1200 steps{label}")
    axes.tick_params(left=False)
    return figure


def _scenario_number(scenario: Scenario) -> str:
    """The number of a scenario in its world, such as `3` or `3, documented`."""
    return scenario.id.removeprefix(f"{scenario.substrate}_").replace("_", ", ")


def _scenario_table(world: str, stats: RowsByKey) -> Html:
    """The means of all scenarios of one world."""
    lines = []
    for scenario in scenarios():
        if scenario.substrate == world:
            row = stats.get(("scenario", scenario.id, "score"))
            metric_rows = ((stats.get(("scenario", scenario.id, metric)), digits) for metric, digits in METRICS.items())
            means = (metric_row and number(metric_row["value"], digits) for metric_row, digits in metric_rows)
            lines.append(
                [_scenario_number(scenario), scenario.meaning, scenario.fidelity, row and cell(row, 1), *means]
            )
    episodes = max((row["n"] for (c, s, _), row in stats.items() if c == "scenario" and s.startswith(world)), default=0)
    columns = ("", "Who is met", "Fidelity", "Score", "Reward", "Steps", "Meetings", "Per meeting")
    return table(columns, lines, f"{WORLDS[world]}: {episodes} episode{'s' * (episodes != 1)} of each scenario")
