"""Single episodes of Hypothetical Minds in the report: what was thought of the partner, and what happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from otherminds.papers.hypothetical_minds.plan import FILMED
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import Html, inline, number, stack, table
from otherminds.reports.plots import styled
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import scenario

Row = dict[str, Any]

MODELS = "lm:"
SPOKEN, LINES, CUT = 3, 6, 50


def examples(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Scenarios and agents to show an episode of: some with programs, and one of each agent with a language model."""
    played = dict.fromkeys((row["condition"], row["subject"]) for row in rows)
    spoken = {subject: (name, subject) for name, subject in reversed(played) if subject.startswith(MODELS)}
    return [(name, "programs") for name in FILMED if (name, "programs") in played] + [*spoken.values()][-SPOKEN:]


def episode(name: str, subject: str, rows: Sequence[Row]) -> Html | None:
    """The first episode: what was thought of the partner before each meeting, and what happened."""
    mine, meetings = _first(name, subject, rows)
    if not meetings:
        return None
    title = _title(mine)
    drawn = inline(_beliefs(meetings), f"{title}: what was thought")
    film = next((row["film"] for row in mine if "film" in row), None)
    if "why" in meetings[0]:
        return stack(_cooked(meetings, title), drawn)
    if film is None:
        return drawn
    world = in_the_matrix(scenario(name).substrate)
    met = [row for row in mine if row["episode"] == mine[0]["episode"] and "partner" in row]
    return stack(matrix_replay(world, film["kinds"], film["frames"], met, title), drawn)


def thoughts(name: str, subject: str, rows: Sequence[Row]) -> Html:
    """What was thought of the partner before each meeting of the first episode."""
    mine, meetings = _first(name, subject, rows)
    return inline(_beliefs(meetings), f"{_title(mine)}: what was thought")


def _first(name: str, subject: str, rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """All rows of an agent in a scenario, and the meetings of its first episode of which something was thought."""
    mine = [row for row in rows if (row["condition"], row["subject"]) == (name, subject)]
    return mine, [row for row in mine if row["episode"] == mine[0]["episode"] and row.get("hypotheses")]


def _title(mine: Sequence[Row]) -> str:
    first = mine[0]
    return f"{first['condition']}, {first['subject']} with {', '.join(next(r['bots'] for r in mine if 'bots' in r))}"


def _cooked(thoughts: Sequence[Row], title: str) -> Html:
    lines = [[row["t"], row["why"], text, number(value)] for row in thoughts for text, value in row["hypotheses"][:1]]
    return table(("Step", "Why it thinks", "Best hypothesis", ""), lines, title)


@styled
def _beliefs(meetings: Sequence[Row]) -> Figure:
    """The probabilities or values of the hypotheses that were ever best, before each meeting."""
    names = list(dict.fromkeys(row["hypotheses"][0][0] for row in meetings))[:LINES]
    figure = Figure(figsize=(7.0, 2.6), layout="constrained")
    axes = figure.subplots()
    for name in names:
        values = [dict(row["hypotheses"]).get(name, math.nan) for row in meetings]
        axes.plot(range(1, len(meetings) + 1), values, ".-", markersize=3, label=_cut(name))
    axes.set(xlabel="meeting" if "own" in meetings[0] else "occasion", ylabel="probability or value")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7)
    return figure


def _cut(text: str) -> str:
    text = text.replace("$", "\\$")  # not as a formula
    return text if len(text) <= CUT else f"{text[: CUT - 1]}…"
