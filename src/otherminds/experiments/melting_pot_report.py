"""The report on the matrix and cooking worlds: are the scripted bodies able, and how do the scenarios go?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.evaluation.plots import BLUE, SOFT, styled, whisker
from otherminds.evaluation.report import Html, Section, inline, number, page, stack, table
from otherminds.experiments.tables import cell, targets
from otherminds.minds.scenarios import scenarios

Row = Mapping[str, Any]

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
SHOWN = (-20.0, 130.0)
WORLDS = {
    "rws_repeated": "Running with scissors, two players",
    "rws_arena": "Running with scissors, eight players",
    "pd_repeated": "Prisoner's dilemma, two players",
    "cooking_asymmetric": "Collaborative cooking, asymmetric kitchen",
}
METRICS = ("score", "reward", "steps", "meetings", "per_meeting")


def report(rows: Sequence[Row], summary: Sequence[Row]) -> str:
    """The whole page, from rows and summary alone."""
    found = {(row["condition"], row["subject"], row["metric"]): row for row in summary}
    sections = [
        Section("Calibration", stack(_calibration(found), CALIBRATION, targets(summary), inline(_whiskers(found)))),
        Section("Scenarios", stack(SCENARIOS, *(_scenarios(name, found, rows) for name in WORLDS))),
    ]
    return page("Matrix and cooking worlds", LEAD, sections)


def _calibration(found: Mapping[tuple[str, str, str], Row]) -> Html:
    lines = []
    for (condition, subject, metric), row in found.items():
        if metric == "score" and condition != "scenario":
            meetings = found[condition, subject, "meetings"]
            prototype = (
                f"{number(row['published'], 1)} [{number(row['published_low'], 1)}, {number(row['published_high'], 1)}]"
            )
            lines.append([subject, _body(condition), _short(row), prototype, number(meetings["value"], 1), row["n"]])
    return table(("First player v the others", "Body", "Score", "Prototype", "Meetings", "Episodes"), lines)


def _short(row: Row) -> str:
    return f"{number(row['value'], 1)} [{number(row['low'], 1)}, {number(row['high'], 1)}]"


def _body(condition: str) -> str:
    return condition.partition("/")[2].replace("_", " ")


@styled
def _whiskers(found: Mapping[tuple[str, str, str], Row]) -> Figure:
    """Scores of the calibration cases beside those of the prototype."""
    shown = [row for (c, _, metric), row in found.items() if metric == "score" and c != "scenario"]
    figure = Figure(figsize=(7.4, 0.27 * len(shown) + 0.9), layout="constrained")
    axes = figure.subplots()
    for y, row in enumerate(reversed(shown)):
        axes.plot([row["published"]], [y - 0.16], "s", color=SOFT, markersize=3.5)
        whisker(axes, y - 0.16, row["published_low"], row["published_high"], SOFT, 1.2)
        axes.plot([row["value"]], [y + 0.16], "o", color=BLUE, markersize=4.5)
        whisker(axes, y + 0.16, row["low"], row["high"], BLUE, 1.6)
    names = [f"{row['subject']} ({_body(row['condition'])})" for row in reversed(shown)]
    axes.set_yticks(range(len(shown)), names)
    axes.set(xlim=SHOWN, xlabel="reward a 1200 steps: ours (circles), the prototype's (squares)")
    axes.tick_params(left=False)
    return figure


def _scenarios(world: str, found: Mapping[tuple[str, str, str], Row], rows: Sequence[Row]) -> Html:
    lines = [
        [
            one.id.removeprefix(f"{world}_").replace("_", ", "),
            one.meaning,
            one.fidelity,
            *(
                cell(found.get(("scenario", one.id, metric)))
                if metric == "score"
                else _mean(found.get(("scenario", one.id, metric)), metric)
                for metric in METRICS
            ),
        ]
        for one in scenarios()
        if one.substrate == world
    ]
    episodes = max((row["n"] for (c, s, _), row in found.items() if c == "scenario" and s.startswith(world)), default=0)
    columns = ("", "Who is met", "Fidelity", "Score", "Reward", "Steps", "Meetings", "A meeting")
    return table(columns, lines, f"{WORLDS[world]}: {episodes} episodes of each scenario")


def _mean(row: Row | None, metric: str) -> str:
    return "–" if row is None else number(row["value"], 2 if metric == "per_meeting" else 1)
