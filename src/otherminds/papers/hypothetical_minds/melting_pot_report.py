"""The report on the matrix and cooking worlds: calibration of the scripted bodies, and scores in the scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, stack, table
from otherminds.reports.plots import BLUE, SOFT, styled, whisker
from otherminds.reports.results import targets
from otherminds.worlds.in_the_matrix.scenarios import scenarios

Row = Mapping[str, Any]
Found = Mapping[tuple[str, str, str], Row]

LEAD = (
    "Players gather resources, which make up the strategy they play when one of them zaps the other; or they cook "
    "together. They have never met their partners before. The worlds are Melting Pot's, step for step."
)
CALIBRATION = (
    "Pairs of strategies with known scores: the reward of the first player in 1200 steps, beside what a prototype "
    "with the original strategies in scripted bodies had. Brackets are 95 % intervals over episodes. An egocentric "
    "body sees its window and remembers; one with full information sees the whole map. The prototype played six "
    "episodes of most cases, but only two against seven players, whose intervals are as wide as that makes them."
)
SCENARIOS = (
    "The background populations on which Hypothetical Minds was evaluated (Cross et al. 2024). The focal player "
    "answers what its partner played last (rock, paper, scissors), plays tit for tat (prisoner's dilemma), or cooks. "
    "Score is the reward a 1200 steps, reward that of the whole episode; meetings are deliveries in the kitchen. "
    "Fidelity says how much of the bots is the original: their strategies are exact where it says so, but their "
    "bodies are scripted and not neural, so that scores compare within this suite and not with Melting Pot's."
)
SHOWN = (-30.0, 130.0)
WORLDS = {
    "rws_repeated": "Running with scissors, two players",
    "rws_arena": "Running with scissors, eight players",
    "pd_repeated": "Prisoner's dilemma, two players",
    "cooking_asymmetric": "Collaborative cooking, asymmetric kitchen",
}
METRICS = ("reward", "steps", "meetings", "per_meeting")
DIGITS = (1, 1, 1, 2)


def report(summary: Sequence[Row]) -> Page:
    """The report as a page, from the summary alone."""
    found = {(row["condition"], row["subject"], row["metric"]): row for row in summary}
    calibration = stack(CALIBRATION, _calibration(found), targets(summary), inline(_whiskers(found)))
    played = stack(SCENARIOS, *(_scenarios(name, found) for name in WORLDS), inline(_scores(found)))
    sections = [Section("Calibration", calibration), Section("Scenarios", played)]
    return page("Matrix and cooking worlds", LEAD, sections)


def _calibration(found: Found) -> Html:
    lines = []
    for (condition, subject, metric), row in found.items():
        if metric == "score" and condition != "scenario":
            meetings = found[condition, subject, "meetings"]
            about = (_brief(row), _brief(row, "published_"), number(meetings["value"], 1), row["n"])
            lines.append([subject, _body(condition), *about])
    return table(("First player v the others", "Body", "Score", "Prototype", "Meetings", "Episodes"), lines)


def _brief(row: Row, prefix: str = "") -> str:
    """A value with its interval."""
    return interval(row[prefix.rstrip("_") or "value"], row[f"{prefix}low"], row[f"{prefix}high"], 1)


def _body(condition: str) -> str:
    return condition.partition("/")[2].replace("_", " ")


@styled
def _whiskers(found: Found) -> Figure:
    """Scores of the calibration cases beside those of the prototype."""
    shown = [row for (c, _, metric), row in found.items() if metric == "score" and c != "scenario"]
    figure = Figure(figsize=(7.4, 0.27 * len(shown) + 0.9), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(reversed(shown)):
        _estimate(axes, y - 0.16, row, "published_", "s", SOFT)
        _estimate(axes, y + 0.16, row, "", "o", BLUE)
    axes.set_yticks(range(len(shown)), [f"{row['subject']} ({_body(row['condition'])})" for row in reversed(shown)])
    axes.set(xlim=SHOWN, xlabel="reward a 1200 steps: ours (circles), the prototype's (squares)")
    axes.tick_params(left=False)
    return figure


@styled
def _scores(found: Found) -> Figure:
    """Scores of the scenarios in matrix worlds."""
    shown = [row for (c, s, m), row in found.items() if (c, m) == ("scenario", "score") and not s.startswith("cook")]
    figure = Figure(figsize=(7.4, 0.2 * len(shown) + 0.9), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(reversed(shown)):
        _estimate(axes, y, row, "", "o", BLUE)
    axes.axvline(0, color=SOFT, linewidth=0.7)
    axes.set_yticks(range(len(shown)), [row["subject"] for row in reversed(shown)])
    axes.set(xlim=SHOWN, xlabel="reward a 1200 steps")
    axes.tick_params(left=False)
    return figure


def _estimate(axes: Axes, y: float, row: Row, prefix: str, shape: str, colour: str) -> None:
    low, high = (min(max(row[f"{prefix}{end}"], SHOWN[0]), SHOWN[1]) for end in ("low", "high"))
    axes.plot([row[prefix.rstrip("_") or "value"]], [y], shape, color=colour, markersize=4)
    whisker(axes, y, low, high, colour, 1.4)


def _scenarios(world: str, found: Found) -> Html:
    lines = []
    for one in (one for one in scenarios() if one.substrate == world):
        row = found.get(("scenario", one.id, "score"))
        others = (found.get(("scenario", one.id, metric)) for metric in METRICS)
        means = (
            None if other is None else number(other["value"], digits)
            for other, digits in zip(others, DIGITS, strict=True)
        )
        name = one.id.removeprefix(f"{world}_").replace("_", ", ")
        lines.append([name, one.meaning, one.fidelity, row and _brief(row), *means])
    episodes = max((row["n"] for (c, s, _), row in found.items() if c == "scenario" and s.startswith(world)), default=0)
    columns = ("", "Who is met", "Fidelity", "Score", "Reward", "Steps", "Meetings", "Per meeting")
    return table(columns, lines, f"{WORLDS[world]}: {episodes} episode{'s' * (episodes != 1)} of each scenario")
