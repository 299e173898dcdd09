"""The report on Hypothetical Minds: scores beside the paper's, literal and functional, and single episodes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from statistics import mean
from typing import Any

from matplotlib.figure import Figure

from otherminds.errors import shortened
from otherminds.files.toml import packaged
from otherminds.papers.hypothetical_minds.experiment import BOUND, COMPARED, FILMED, LOSSES, published, validated
from otherminds.reports.matrix_replay import matrix_replay
from otherminds.reports.page import (
    Html,
    Page,
    Section,
    agent_name,
    at_two_widths,
    folded,
    folded_all,
    inline,
    number,
    page,
    stack,
    table,
)
from otherminds.reports.plots import BLUE, SMALL, SOFT, WIDER, styled, whisker
from otherminds.reports.results import RowsByKey, by_key, cell, targets
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import Scenario, scenario, scenarios

Row = dict[str, Any]

BOTH = packaged("otherminds.papers.hypothetical_minds", "report.toml")
WORDS, WORLDS = BOTH["hypothetical"], BOTH["melting_pot"]["worlds"]
NAMES: Mapping[str, str] = WORDS["names"]
VARIANTS: Mapping[str, str] = WORDS["variants"]
AROUND = 8  # meetings before and after validation in the figure
MODELS = "lm:"  # what subjects with a language model start with
SPOKEN, LINES, CUT = 3, 6, 50  # episodes with a model; hypotheses of a figure; characters of a hypothesis in it
ABBREVIATED = {"rws_repeated": "RWS", "rws_arena": "Arena", "pd_repeated": "Dilemma"}
MATRIX = tuple(ABBREVIATED)
WIDE = 7.4  # inches of a figure on a wide screen
LONGEST, LONGEST_NARROW = 60, 30  # characters of a label, on a wide screen and on a phone; chosen
LITERAL_METRICS = ("literal", "literal_validated", "validated", "regret", "of_best_meetings")
OF_CALLS = ("Calls", "Tokens read", "… written", "Dollars", "Unreadable")
METRICS = ("literal", "regret", "calls", "prompt_tokens", "written_tokens", "dollars", "unreadable_share")


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The report as a page, from rows and summary alone: the score, an episode, and all tables, folded."""
    stats = by_key(summary)
    lined_up = _lined_up(rows)
    first, *others = [html for html in (episode(*about, rows) for about in examples(rows)) if html] or [Html("")]
    speakers = _model_subjects(stats)
    costs = at_two_widths(partial(_costs, stats), WIDE, WORDS["costs"]) if len(speakers) > 1 else Html("")
    spoken = [_agent_ranking(stats), costs, folded("Every scenario", _model_scores(stats))] if speakers else []
    subject = "programs" if _has_any(stats, ["programs"]) else next(iter(speakers), "")
    pictured = at_two_widths(partial(_beside_others, stats, subject), WIDE) if _in_matrix(stats, subject) else ""
    tables = {
        "Scores": stack(WORDS["scores"], _scores(stats, NAMES)) if _has_any(stats, NAMES) else "",
        "Variants": stack(WORDS["others"], _scores(stats, VARIANTS)) if _has_any(stats, [*VARIANTS][1:]) else "",
        "Beside others": stack(WORDS["compared"], _compared(stats)) if _has_any(stats, COMPARED) else "",
        "Losses to the bound": stack(WORDS["losses"], _losses(stats)) if _has_any(stats, [BOUND]) else "",
        "Literal and functional": stack(WORDS["literal"], _literal(stats)) if _has_any(stats, ["programs"]) else "",
        "Validation": inline(_around_validation(lined_up), WORDS["around_validation"]) if lined_up else "",
        "More episodes": stack(*others) if others else "",
        "The paper's scores": stack(WORDS["paper"], _paper(stats)),
    }
    bodies = {
        "Does it earn what is possible?": stack(WORDS["asked"], pictured, _by_world(stats, subject), targets(summary)),
        "Language models": stack(WORDS["speakers"], WORDS["order"], *spoken) if spoken else "",
        "One episode": first,
        "In detail": folded_all(tables),
    }
    return page("Hypothetical Minds", WORDS["lead"], [Section(title, body) for title, body in bodies.items() if body])


def _in_matrix(stats: RowsByKey, subject: str) -> list[Scenario]:
    """The scenarios of matrix worlds that a subject has played."""
    return [spec for spec in scenarios() if spec.substrate in MATRIX and (spec.id, subject, "score") in stats]


@styled
def _beside_others(stats: RowsByKey, subject: str, width: float) -> Figure:
    """Scores in the matrix worlds: the subject's with intervals, the bound's, and those that the paper reports."""
    played = _in_matrix(stats, subject)
    looks = {
        BOUND: ("the bound", "|", "black"),
        "paper": ("GPT-4 (paper)", "s", SOFT),
        subject: (agent_name(subject), "o", BLUE),
    }
    figure = Figure(figsize=(width, 0.2 * len(played) + 0.9), layout="constrained")
    axes = figure.subplots()
    marks = {}
    for y, spec in enumerate(reversed(played)):
        rows = {name: stats.get((spec.id, name, "score")) for name in (subject, BOUND)}
        scores = {name: row["value"] for name, row in rows.items() if row}
        if paper := published().get(spec.id):
            scores["paper"] = paper["hm"][0]
        for name, (label, shape, colour) in looks.items():
            if name in scores:
                marks[label], *_ = axes.plot([scores[name]], [y], shape, color=colour, markersize=5)
        if ours := rows[subject]:
            whisker(axes, y, ours["low"], ours["high"], BLUE, 1.4)
    longest = LONGEST if width > WIDER else LONGEST_NARROW
    names = [f"{ABBREVIATED[spec.substrate]} {spec.id.rpartition('_')[2]}: {spec.meaning}" for spec in reversed(played)]
    axes.set_yticks(range(len(played)), [shortened(name, longest) for name in names])
    axes.axvline(0, color=SOFT, linewidth=0.7)
    axes.set(xlabel="reward in 1200 steps")
    axes.tick_params(left=False)
    figure.legend(marks.values(), marks, loc="outside upper left", ncols=3 if width > WIDER else 1, frameon=False)
    return figure


def _by_world(stats: RowsByKey, subject: str) -> Html:
    """Means over the scenarios of each world that the subject and the paper's agent have played."""
    lines = []
    for world, name in WORLDS.items():
        played = [spec.id for spec in scenarios() if spec.substrate == world and spec.id in published()]
        ours = {spec: stats[spec, subject, "score"]["value"] for spec in played if (spec, subject, "score") in stats}
        if ours:
            theirs = [published()[spec]["hm"][0] for spec in ours]
            reached = sum(score >= paper for score, paper in zip(ours.values(), theirs, strict=True))
            means = (number(mean(values), 1) for values in ([*ours.values()], theirs))
            lines.append([name, len(ours), *means, f"{reached} of {len(ours)}"])
    columns = ("World", "Scenarios", "Score", "GPT-4 (paper)", "At least GPT-4's")
    return table(columns, lines, stacks=True) if lines else Html("")


def _scores(stats: RowsByKey, names: Mapping[str, str]) -> Html:
    """The scores of some subjects in each scenario that any of them played, beside the paper's."""
    subjects = [subject for subject in names if _has_any(stats, [subject])]
    lines = []
    for spec in scenarios():
        scores = [stats.get((spec.id, subject, "score")) for subject in subjects]
        if any(scores):
            paper = published().get(spec.id)
            lines.append(
                [
                    _scenario_words(spec),
                    *(cell(score, 0) for score in scores),
                    number(paper["hm"][0], 1) if paper else "–",
                ]
            )
    return table(("Scenario", *(names[subject] for subject in subjects), "HM (paper)"), lines)


def _compared(stats: RowsByKey) -> Html:
    metrics = [f"minus_{baseline}" for baseline in COMPARED]
    lines = _scenario_lines(stats, metrics)
    return table(("Scenario", *(f"Less {NAMES[baseline]}" for baseline in COMPARED)), lines)


def _losses(stats: RowsByKey) -> Html:
    lines = _scenario_lines(stats, (*LOSSES, "of_bound"))
    return table(("Scenario", "Prediction", "Planning", "Inventory", "Meetings", "Share of the bound's score"), lines)


def _scenario_lines(stats: RowsByKey, metrics: Sequence[str]) -> list[list[str]]:
    """For each scenario that has any of these metrics of programs, all of them."""
    all_of = (
        (_scenario_words(spec), [stats.get((spec.id, "programs", metric)) for metric in metrics])
        for spec in scenarios()
    )
    return [
        [name, *(cell(row, 2 if row and abs(row["value"]) < 2 else 1) for row in rows)]
        for name, rows in all_of
        if any(rows)
    ]


def _has_any(stats: RowsByKey, subjects: Iterable[str]) -> bool:
    """Whether any of these subjects has a summary row."""
    return any(subject in subjects for _, subject, _ in stats)


def _model_subjects(stats: RowsByKey) -> list[str]:
    """The subjects with language models."""
    return list(dict.fromkeys(subject for _, subject, _ in stats if subject.startswith(MODELS)))


def _model_scores(stats: RowsByKey) -> Html:
    """For each scenario and agent with a language model: its score, literal accuracy, regret, and what it cost."""
    lines = []
    for spec, subject in product(scenarios(), _model_subjects(stats)):
        if score := stats.get((spec.id, subject, "score")):
            rows = (stats.get((spec.id, subject, metric)) for metric in METRICS)
            lines.append(
                [
                    _scenario_words(spec),
                    *_agent_and_model(subject),
                    cell(score, 0),
                    *(row and _short_number(row["value"]) for row in rows),
                ]
            )
    return table(("Scenario", "Agent", "Model", "Score", "Predicted", "Regret", *OF_CALLS), lines)


def _short_number(value: float | None) -> str | None:
    """A number in few digits, none of them behind the point from 100 on; None if there is none."""
    return None if value is None else number(value, 0 if value >= 100 else 2)


def _agent_and_model(subject: str) -> tuple[str, str]:
    """The agent and its model."""
    model, _, agent = subject.removeprefix(MODELS).partition(":")
    return agent, model


def _agent_ranking(stats: RowsByKey) -> Html:
    """Agents by their mean score in the matrix worlds, with means over the scenarios that each played."""
    means = {agent: _mean(stats, agent, "score", MATRIX) or 0.0 for agent in _model_subjects(stats)}
    lines = []
    for agent in sorted(means, key=lambda agent: (-means[agent], agent)):
        scores = (_mean(stats, agent, "score", (world,)) for world in (*MATRIX, "cooking_asymmetric"))
        other_means = (_mean(stats, agent, metric, ()) for metric in METRICS if metric != "regret")
        score_cells = (None if value is None else number(value, 1 if abs(value) < 100 else 0) for value in scores)
        lines.append([*_agent_and_model(agent), *score_cells, *map(_short_number, other_means)])
    return table(("Agent", "Model", "RWS", "Arena", "Dilemma", "Cooking", "Predicted", *OF_CALLS), lines)


def _mean(stats: RowsByKey, agent: str, metric: str, worlds: Sequence[str]) -> float | None:
    """The mean over the scenarios of some worlds, or of all; None if the agent played none."""
    values = [
        row["value"]
        for (name, subject, row_metric), row in stats.items()
        if (subject, row_metric) == (agent, metric) and (not worlds or name.rpartition("_")[0] in worlds)
    ]
    return mean(values) if values else None


@styled
def _costs(stats: RowsByKey, width: float) -> Figure:
    """The mean score of each agent with a language model in the matrix worlds, over its tokens in an episode."""
    figure = Figure(figsize=(width, 2.8), layout="constrained")
    axes = figure.subplots()
    for agent in _model_subjects(stats):
        score = _mean(stats, agent, "score", MATRIX)
        tokens = [_mean(stats, agent, metric, MATRIX) for metric in ("prompt_tokens", "written_tokens")]
        if score is not None and None not in tokens:
            name = shortened(": ".join(_agent_and_model(agent)), LONGEST_NARROW)
            axes.plot(sum(n for n in tokens if n is not None), score, "o", markersize=6, label=name)
    axes.set(xlabel="tokens read and written in an episode", ylabel="mean score", xlim=(0, None))
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), None)
    figure.legend(loc="outside lower left", frameon=False, fontsize=SMALL)
    return figure


def _paper(stats: RowsByKey) -> Html:
    """The paper's table 1 for the scenarios that were played."""
    lines = []
    for spec in scenarios():
        if spec.id in published() and any(name == spec.id for name, _, _ in stats):
            scores = (f"{number(value, 1)} ± {number(error, 1)}" for value, error in published()[spec.id].values())
            lines.append([_scenario_words(spec), *scores])
    return table(("Scenario", "HM", "Reflexion", "ReAct", "PlanReAct", "PPO", "OPRE"), lines)


def _literal(stats: RowsByKey) -> Html:
    """How well partners were predicted in each scenario, and the functional regret with and without that."""
    lines = []
    for spec in scenarios():
        if (spec.id, "programs", "literal") in stats:
            rows = [stats.get((spec.id, "programs", metric)) for metric in LITERAL_METRICS]
            rows += [stats.get((spec.id, subject, "regret")) for subject in ("stranger", "uniform")]
            lines.append([_scenario_words(spec), *(row and number(row["value"]) for row in rows)])
    columns = ("Predicted", "… once validated", "Validated", "Regret", "Share of the best")
    return table(("Scenario", *columns, "Regret without its hypothesis", "Regret of playing anything"), lines)


def _lined_up(rows: Sequence[Row]) -> dict[int, list[float]]:
    """Rewards of meetings by their distance, in meetings, from the first validated one."""
    rewards = defaultdict[int, list[float]](list)
    program_rows = [row for row in rows if row["subject"] == "programs" and row["condition"].startswith("rws_repeated")]
    for key in dict.fromkeys((row["condition"], row["episode"]) for row in program_rows):
        meetings = list(validated([row for row in program_rows if (row["condition"], row["episode"]) == key]))
        first_valid = next((i for i, (_, valid) in enumerate(meetings) if valid), None)
        for i, (row, _) in enumerate(meetings):
            if first_valid is not None and abs(i - first_valid) <= AROUND:
                rewards[i - first_valid].append(row["reward"])
    return rewards


@styled
def _around_validation(lined_up: Mapping[int, Sequence[float]]) -> Figure:
    """The mean reward of meetings over their distance from the first validated one."""
    figure = Figure(figsize=(WIDER, 2.6), layout="constrained")
    axes = figure.subplots()
    means = {i: sum(rewards) / len(rewards) for i, rewards in sorted(lined_up.items())}
    axes.plot(list(means), list(means.values()), "o-", color=BLUE, markersize=4, linewidth=1.2)
    axes.axvline(0, color=SOFT, linewidth=0.8, linestyle=":")
    axes.axhline(0, color=SOFT, linewidth=0.6)
    axes.set(xlabel="meetings before and after validation", ylabel="reward a meeting")
    return figure


# Single episodes


def examples(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The episodes to show, as (scenario, subject): some of programs, and one of each of the last model agents."""
    pairs = dict.fromkeys((row["condition"], row["subject"]) for row in rows)
    spoken = {subject: (name, subject) for name, subject in reversed(pairs) if subject.startswith(MODELS)}
    return [(name, "programs") for name in FILMED if (name, "programs") in pairs] + [*spoken.values()][-SPOKEN:]


def episode(name: str, subject: str, rows: Sequence[Row]) -> Html | None:
    """The first episode: the hypotheses before each meeting, and the film; None if the subject has no hypotheses."""
    subject_rows, meetings = _first_episode(name, subject, rows)
    if not meetings:
        return None
    title = _title(subject_rows)
    drawn = at_two_widths(partial(_beliefs, meetings), 7.0, f"{title}: what was thought")
    film = next((row["film"] for row in subject_rows if "film" in row), None)
    if "why" in meetings[0]:
        best = [(row["t"], row["why"], text, value) for row in meetings for text, value in row["hypotheses"][:1]]
        lines = [[t, why, text, number(value)] for t, why, text, value in best]
        return stack(table(("Step", "Why it thinks", "Best hypothesis", ""), lines, title), drawn)
    if film is None:
        return drawn
    world = in_the_matrix(scenario(name).substrate)
    meetings_filmed = [row for row in subject_rows if row["episode"] == subject_rows[0]["episode"] and "partner" in row]
    return stack(matrix_replay(world, film["kinds"], film["frames"], meetings_filmed, title), drawn)


def thoughts(name: str, subject: str, rows: Sequence[Row]) -> Html:
    """The hypotheses before each meeting of the first episode."""
    subject_rows, meetings = _first_episode(name, subject, rows)
    return at_two_widths(partial(_beliefs, meetings), 7.0, f"{_title(subject_rows)}: what was thought")


def _first_episode(name: str, subject: str, rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """All rows of a subject in a scenario, and those of its first episode that have hypotheses."""
    subject_rows = [row for row in rows if (row["condition"], row["subject"]) == (name, subject)]
    return subject_rows, [
        row for row in subject_rows if row["episode"] == subject_rows[0]["episode"] and row.get("hypotheses")
    ]


def _title(subject_rows: Sequence[Row]) -> str:
    """The scenario, what its partners do, and the subject."""
    return f"{_scenario_words(scenario(subject_rows[0]['condition']))}; {agent_name(subject_rows[0]['subject'])}"


def _scenario_words(spec: Scenario) -> str:
    """A scenario by its world and by what is met there."""
    return f"{WORLDS[spec.substrate]}, partner {spec.id.rpartition('_')[2]}: {spec.meaning}"


@styled
def _beliefs(meetings: Sequence[Row], width: float) -> Figure:
    """The probabilities or values of the hypotheses that were ever best, before each meeting."""
    names = list(dict.fromkeys(row["hypotheses"][0][0] for row in meetings))[:LINES]
    beside = width > WIDER
    figure = Figure(figsize=(width, 2.6 if beside else 2.4 + 0.18 * len(names)), layout="constrained")
    axes = figure.subplots()
    for name in names:
        values = [dict(row["hypotheses"]).get(name, math.nan) for row in meetings]
        label = shortened(name.replace("$", "\\$"), CUT)  # not as a formula
        axes.plot(range(1, len(meetings) + 1), values, ".-", markersize=3, label=label)
    axes.set(xlabel="meeting" if "own" in meetings[0] else "occasion", ylabel="probability or value")
    figure.legend(loc="outside right center" if beside else "outside lower left", frameon=False, fontsize=SMALL)
    return figure
