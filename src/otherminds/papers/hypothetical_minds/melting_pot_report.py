"""The report on the matrix and cooking worlds: calibration of the scripted bodies, and scores in the scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from otherminds.errors import shortened
from otherminds.files.toml import packaged
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import Html, Page, Section, at_two_widths, folded_all, interval, number, page, stack, table
from otherminds.reports.plots import BLUE, SOFT, WIDER, styled, whisker
from otherminds.reports.results import RowsByKey, by_key, cell, targets
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import Scenario, scenario, scenarios

Row = Mapping[str, Any]

WORDS = packaged("otherminds.papers.hypothetical_minds", "report.toml")["melting_pot"]
WORLDS: Mapping[str, str] = WORDS["worlds"]
WIDE = 7.4  # inches of a figure on a wide screen
SHOWN = (-30.0, 130.0)
LONGEST, LONGEST_NARROW = 56, 30  # characters of a label, on a wide screen and on a phone; chosen
METRICS = {"reward": 1, "steps": 1, "meetings": 1, "per_meeting": 2}  # with the digits that are shown


def report(summary: Sequence[Row], rows: Sequence[Row] = ()) -> Page:
    """The report as a page, from the summary, with the replay of an episode whose film is in the rows."""
    stats = by_key(summary)
    scores = {(c, s): row for (c, s, metric), row in stats.items() if metric == "score"}
    cases = {f"{s} ({_body_name(c)})": row for (c, s), row in scores.items() if c != "scenario"}
    labels = {spec.id: f"{_scenario_number(spec)}: {spec.meaning}" for spec in scenarios()}
    matrix = {labels.get(s, s): row for (c, s), row in scores.items() if c == "scenario" and not s.startswith("cook")}
    compared = at_two_widths(partial(_whiskers, cases, "\nours (circles), the prototype's (squares)", True), WIDE)
    worlds, film = _world_table(stats), next((row for row in rows if "film" in row), None)
    all_scenarios = [_scenario_table(name, stats) for name in WORLDS if _played(name, stats)]
    pictured = at_two_widths(partial(_whiskers, matrix, "", False), WIDE)
    bodies = {
        "Are the bodies as good as the originals?": stack(WORDS["asked"], compared, targets(summary)) if cases else "",
        "One episode": _replay(film) if film else "",
        "The scenarios": stack(WORDS["played"], worlds) if worlds else "",
        "In detail": folded_all(
            {
                "Calibration": stack(WORDS["calibration"], _calibration(stats)) if cases else "",
                "Every scenario": stack(WORDS["scenarios"], *all_scenarios, pictured) if worlds else "",
            }
        ),
    }
    sections = [Section(title, body) for title, body in bodies.items() if body]
    return page("Matrix and cooking worlds", WORDS["lead"], sections)


def _replay(row: Row) -> Html:
    """The film of an episode, to step through."""
    spec, film = scenario(row["subject"]), row["film"]
    title = f"{WORLDS[spec.substrate]}: {spec.meaning}"
    return matrix_replay(in_the_matrix(spec.substrate), film["kinds"], film["frames"], film["met"], title)


def _played(world: str, stats: RowsByKey) -> list[str]:
    """The scenarios of a world that were played."""
    return [spec.id for spec in scenarios() if spec.substrate == world and ("scenario", spec.id, "score") in stats]


def _world_table(stats: RowsByKey) -> Html:
    """Each world with its number of scenarios and episodes, and means over its scenarios; empty without any."""
    lines = []
    for world, name in WORLDS.items():
        if played := _played(world, stats):
            episodes = sum(stats["scenario", spec, "score"]["n"] for spec in played)
            means = (
                np.mean([stats["scenario", spec, metric]["value"] for spec in played])
                for metric in ("score", "meetings")
            )
            lines.append([name, len(played), episodes, *(number(float(value), 1) for value in means)])
    return table(("World", "Scenarios", "Episodes", "Score", "Meetings"), lines) if lines else Html("")


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


def _scenario_number(spec: Scenario) -> str:
    """The number of a scenario in its world, such as `3` or `3, documented`."""
    return spec.id.removeprefix(f"{spec.substrate}_").replace("_", ", ")


def _scenario_table(world: str, stats: RowsByKey) -> Html:
    """The means of all scenarios of one world."""
    lines = []
    for name in _played(world, stats):
        spec, own = scenario(name), {metric: stats.get(("scenario", name, metric)) for metric in ("score", *METRICS)}
        means = (row and number(row["value"], METRICS[metric]) for metric, row in own.items() if metric in METRICS)
        lines.append([_scenario_number(spec), spec.meaning, spec.fidelity, cell(own["score"], 1), *means])
    episodes = max(stats["scenario", name, "score"]["n"] for name in _played(world, stats))
    columns = ("", "Who is met", "Fidelity", "Score", "Reward", "Steps", "Meetings", "Per meeting")
    return table(columns, lines, f"{WORLDS[world]}: {episodes} episode{'s' * (episodes != 1)} of each scenario")
