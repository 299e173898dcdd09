"""The report on literal and functional Theory of Mind in repeated games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import hypot
from typing import Any

from otherminds.files.toml import packaged
from otherminds.papers.functional.experiment import MODELS
from otherminds.reports import game_plots
from otherminds.reports.game_plots import CELLS, GAMES, LEFT_OUT, NOISES, PARTNERS, PLAYERS
from otherminds.reports.page import (
    Html,
    Page,
    Section,
    folded_all,
    inline,
    interval,
    number,
    page,
    side_by_side,
    stack,
    table,
)
from otherminds.reports.results import Published, RowsByKey, by_key, figures, targets

Row = Mapping[str, Any]
"""Rows of a summary by condition, subject and metric."""

LITERAL = "tom_percent"
REGRET = "functional_regret_exact"
RATE = "functional_regret_rate"
AS_PRINTED = "functional_regret"
PRINTED = {AS_PRINTED: "regret", "tom_regret_paper": "ToM regret", LITERAL: "ToM %"}
LIBRARY = "ipd/machines"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

WORDS = packaged("otherminds.papers.functional", "report.toml")
NAMES = {
    "floor": "Bayes floor, kind of partner told",
    "floor_suite": "Bayes floor, not told",
    **{subject: mark.name for subject, mark in PLAYERS.items()},
    "rmax_exact_ties": "RMax, exact ties",
    "tft": "Tit for tat itself",
    "always-defect": "Always defect",
}
SUITES = PARTNERS | WORDS["suites"]
BEST = 3  # published models in the table of means
CLUE_GAMES: Mapping[str, str] = WORDS["clue_games"]


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the experiment, from rows and summary alone."""
    estimates = by_key(summary)
    memory = [
        [title, name(subject), *scores(estimates, f"{game}/memory_one", subject)]
        for game, title in GAMES.items()
        for subject in subjects(estimates, f"{game}/memory_one")
    ]
    interest = [
        [label(condition), number(row["value"])]
        for (condition, _, metric), row in estimates.items()
        if metric == "interestingness" and "_noise" not in condition and condition != LEFT_OUT
    ]
    scored = ("Game", "Player", "Regret", "ToM %")
    bodies = {
        "Results in the paper’s six cells": _results(estimates),
        "What predictions alone would cost": _regrets(estimates),
        "Language models, run here": _models_run(estimates, rows),
        "Machines": _machines(estimates, rows),
        "Noise": _noise(estimates, summary),
        "All partners that remember one round": explained(WORDS["memory"], (*scored, "Consistency"), memory),
        "Cards and words": _clues(estimates, list(CLUE_GAMES)),
        "How interesting each task is": explained(WORDS["interest"], ("Task", "Interestingness"), interest),
        "Language models, as published": published_models(),
        "What was tuned, and what cannot be compared": stack(*WORDS["notes"]),
        "Targets": targets(summary),
    }
    picture = _picture(estimates, rows, summary)
    sections = [Section("Predicting and acting", picture)] if picture else []
    sections.append(Section("More", folded_all(bodies)))
    return page("Literal and functional Theory of Mind", stack(WORDS["lead"], *_finding(estimates)), sections)


def clue_report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the clue games, with the first episode of a language model in each if one took part."""
    games = list(dict.fromkeys(row["condition"] for row in rows))
    bodies = {"Predicting and acting": _clues(by_key(summary), games)}
    for game in games:
        spoken = [row for row in rows if row["condition"] == game and row["subject"].startswith(MODELS)]
        turns = [
            (row["t"] + 1, row["words"], number(row["reward"]), number(row["best"]))
            for row in spoken
            if (row["subject"], row["episode"]) == (spoken[0]["subject"], spoken[0]["episode"])
        ]
        if turns:
            title = f"{label(game)}: the first episode of {in_words(spoken[0]['subject'])}"
            bodies[title] = table(("Turn", "What happened", "Reward", "Best"), turns)
    sections = [Section(title, body) for title, body in bodies.items()]
    return page("Clue games", WORDS["clue_lead"], sections)


def _clues(estimates: RowsByKey, games: Sequence[str]) -> Html:
    """Players of clue games: what they lose, and how well they predict."""
    digits = {AS_PRINTED: 2, LITERAL: 1, "literal_error": 3}
    lines = [
        [
            label(game),
            name(player).capitalize(),
            *(score(estimates.get((game, player, m)), n) for m, n in digits.items()),
        ]
        for game in games
        for player in subjects(estimates, game)
    ]
    return explained(WORDS["clues"], ("Game", "Player", "Regret", "ToM %", "Literal error"), lines)


def _finding(estimates: RowsByKey) -> list[str]:
    """A sentence on players that predict equally well and act differently, for those that were played."""
    players = {
        "fictitious play": "fictitious_play",
        "2-ToM": "k_tom_2",
        "a Bayesian player, which tries out what cooperation brings,": "bayes_simplicity",
    }
    clauses = [
        f"{title} predicts {value(literal, 1)} % of the actions and loses {value(regret, 2)} points a round"
        for title, subject in players.items()
        if (literal := estimates.get(("ipd/tft", subject, LITERAL)))
        and (regret := estimates.get(("ipd/tft", subject, REGRET)))
    ]
    return [f"With tit for tat in the Prisoner’s Dilemma, {'; '.join(clauses)}."] if clauses else []


# The six cells


def _results(estimates: RowsByKey) -> Html:
    present = subjects(estimates, *CELLS)
    if not present:
        return Html("")
    players = table(("Player", "How it plays"), [[name(s), way] for s, way in WORDS["ways"].items() if s in present])
    columns = [f"{partner}: {what}" for partner in PARTNERS.values() for what in ("regret", "ToM %", "consistency")]
    games = []  # all scores of all players, a table for each game
    for game, title in GAMES.items():
        cells = [f"{game}/{partner}" for partner in PARTNERS]
        if game_subjects := subjects(estimates, *cells):
            lines = [[name(s), *(t for cell in cells for t in scores(estimates, cell, s))] for s in game_subjects]
            games.append(table((title, *columns), lines))
    return stack(
        WORDS["measures"],
        _league(estimates),
        WORDS["optima"],
        players,
        _anchor(estimates),
        WORDS["consistency"],
        *games,
    )


def _league(estimates: RowsByKey) -> Html:
    """A table of mean regrets of all players of all six cells, and of the best published models, by regret."""
    entries: list[tuple[str, Row | None, Row | None]] = [
        (name(s), mean_of(estimates, CELLS, s, REGRET), mean_of(estimates, CELLS, s, RATE))
        for s in subjects(estimates, *CELLS)
    ]
    whole = published_means()
    best = sorted((s for s in whole if s.startswith(MODELS)), key=lambda subject: float(whole[subject]["value"]))
    entries += [(f"{name(s)}, as published{whole[s]['notes']}", None, whole[s]) for s in ("rmax", *best[:BEST])]
    ranked = sorted((rate["value"], title, score(exact), score(rate)) for title, exact, rate in entries if rate)
    caption = f"Mean regret over the six cells; of {len(best)} language models published there the best {BEST}."
    columns = ("Player", "Against the exact optimum", "Against the paper’s optimum")
    return table(columns, [line[1:] for line in ranked], caption)


def _anchor(estimates: RowsByKey) -> Html:
    """RMax beside its published figures."""
    lines, inside = [], 0
    for figure in published():
        condition, metric, digits = figure.condition, figure.metric, digits_of(figure.metric)
        row = estimates.get((condition, "rmax", metric))
        if figure.subject != "rmax" or row is None or row.get("published_low") is None:
            continue
        low, ours, high = (round(row[key], digits) for key in ("published_low", "value", "published_high"))
        inside += low <= ours <= high
        printed = interval(row["published"], low, high, digits) + raised([figure])
        exact = score(estimates.get((condition, "rmax", f"{metric}_enumerated")), 4)
        verdict = "inside" if low <= ours <= high else "outside"
        lines.append([label(condition), PRINTED[metric], printed, score(row, digits), verdict, exact])
    columns = ("Cell", "RMax’s", "As published", "Here", "Published interval", "Exact")
    words = f"{WORDS['anchor']} {inside} of {len(lines)} figures are inside the published intervals."
    return explained(words, columns, lines)


def _picture(estimates: RowsByKey, rows: Sequence[Row], summary: Sequence[Row]) -> Html:
    if not subjects(estimates, *CELLS):
        return Html("")
    literal = {(p.condition, p.subject): p.value for p in published() if p.metric == LITERAL}
    points: dict[str, list[tuple[float, float]]] = {}
    for p in published():
        if p.metric == AS_PRINTED and p.subject.startswith(MODELS) and (p.condition, p.subject) in literal:
            points.setdefault(p.condition, []).append((literal[p.condition, p.subject], p.value))
    plot = inline(game_plots.literal_against_functional(summary, points), WORDS["picture"])
    return side_by_side(plot, inline(game_plots.regret_over_rounds(rows), WORDS["curves"]))


def _regrets(estimates: RowsByKey) -> Html:
    """Functional regret beside the three regrets of predictions alone."""
    metrics = (REGRET, "tom_regret_paper", "tom_regret_myopic", "tom_regret_model")
    readers = [s for s in subjects(estimates, *CELLS) if any((cell, s, metrics[-1]) in estimates for cell in CELLS)]
    lines = [
        [title, name(s), *(value(mean_of(estimates, cells, s, metric)) for metric in metrics)]
        for title, cells in (("Mean of the six cells", CELLS), (label("ipd/tft"), ("ipd/tft",)))
        for s in readers
    ]
    columns = ("", "Player", "Its own", "Paper", "Myopic", "Model")
    return explained(WORDS["regrets"], columns, lines)


# Other partners


def _machines(estimates: RowsByKey, rows: Sequence[Row]) -> Html:
    scored = [(LIBRARY, s, name(s)) for s in subjects(estimates, LIBRARY) if s != "floor"]
    scored += [(LEFT_OUT, s, f"{name(s)} without the partner") for s in subjects(estimates, LEFT_OUT)]
    scored += [(LIBRARY, "floor", "Bayes floor")]
    lines = []
    for condition, subject, title in scored:
        if regret := estimates.get((condition, subject, REGRET)) or estimates.get((condition, subject, AS_PRINTED)):
            literal = score(estimates.get((condition, subject, LITERAL)), 1)
            less = score(estimates.get((condition, subject, "minus_rmax")))
            lines.append((regret["value"], title, regret["n"], score(regret), less, literal))
    if not lines:
        return Html("")
    shown = table(
        ("Player", "Machines", "Regret", "Less the tabular player's", "ToM %"), [line[1:] for line in sorted(lines)]
    )
    return stack(WORDS["machines"], side_by_side(shown, inline(game_plots.regret_by_machine(rows))))


def _noise(estimates: RowsByKey, summary: Sequence[Row]) -> Html:
    players = subjects(estimates, *(cell + noise for cell in CELLS for noise in NOISES if noise))
    if not players:
        return Html("")
    lines = [
        [label(cell), share, *(score(estimates.get((cell + noise, s, REGRET)), 2) for s in players)]
        for cell in CELLS
        for noise, share in NOISES.items()
    ]
    figure = inline(game_plots.regret_by_noise(summary))
    return stack(WORDS["noise"], side_by_side(figure, table(("Cell", "Noise, %", *map(name, players)), once(lines))))


# Language models that were run here


SCORED = {"tom_regret_paper": 3, LITERAL: 1, "consistency": 2}  # digits of the scores beside regret


def _models_run(estimates: RowsByKey, rows: Sequence[Row]) -> Html:
    """Scores and replies of all language models that were run; empty if there are none."""
    spoken = [s for s in subjects(estimates, *CELLS) if s.startswith(MODELS)]
    if not spoken:
        return Html("")
    curves = [inline(figure, words) for figure, words in zip(game_plots.by_names(rows), WORDS["names"], strict=False)]
    lines = [
        [label(cell), in_words(subject), score(regret), *values(estimates, cell, subject, SCORED)]
        for cell, subject in product(CELLS, spoken)
        if (regret := estimates.get((cell, subject, REGRET)))
    ]
    scored = table(("Cell", "Model", "Regret", "ToM regret", "ToM %", "Consistency"), once(lines))
    curved = [side_by_side(*curves)] if curves else []
    return stack(WORDS["spoken"], scored, WORDS["tokens"], _replies(estimates, spoken, rows), *curved)


def in_words(subject: str) -> str:
    """A model, its strategy and its set of names, in words."""
    model, strategy, *names = subject.removeprefix(MODELS).split(":")
    return ", ".join([f"{model}: {strategy.replace('_', ' ')}", *(f"{name} names" for name in names)])


def _replies(estimates: RowsByKey, spoken: Sequence[str], rows: Sequence[Row]) -> Html:
    lines = []
    for subject in spoken:
        cells = [cell for cell in CELLS if (cell, subject, "unreadable_share") in estimates]
        unreadable, lost, tokens, evaluated = (
            sum(estimates[cell, subject, metric]["value"] for cell in cells) / len(cells)
            for metric in ("unreadable_share", "lost_share", "tokens", "evaluated")
        )
        masses = [row["mass"] for row in rows if row["subject"] == subject and row.get("mass") is not None]
        mass = number(sum(masses) / len(masses), 2) if masses else "–"
        shares = (f"{100 * unreadable:.1f} %", f"{100 * lost:.1f} %")
        lines.append([in_words(subject), *shares, f"{tokens:,.0f}", f"{evaluated:,.0f}", mass])
    return table(("Model", "Unreadable", "Rounds lost", "Tokens", "Evaluated", "Mass"), lines)


# Words


def name(subject: str) -> str:
    """The name of a player in words."""
    model, prompting = _parts(subject)
    return f"{model}, {prompting} prompting" if subject.startswith(MODELS) else NAMES.get(subject, subject)


def _parts(subject: str) -> tuple[str, str]:
    model, _, prompting = subject.removeprefix(MODELS).partition(":")
    return model, prompting.replace("_", " ")


def label(condition: str) -> str:
    """A condition in words; an unknown part stays as it is."""
    game, _, suite = condition.partition("/")
    return CLUE_GAMES.get(condition) or f"{GAMES.get(game, game)}, {SUITES.get(suite, suite)}"


# Scores


def subjects(estimates: RowsByKey, *conditions: str) -> list[str]:
    """The players of these conditions: known ones in their usual order, then others."""
    present = dict.fromkeys(subject for condition, subject, _ in estimates if condition in conditions)
    order = {subject: i for i, subject in enumerate(NAMES)}
    return sorted((s for s in present if s != "task"), key=lambda subject: order.get(subject, len(order)))


def score(row: Row | None, digits: int = 3) -> str:
    """A value with its interval if that has a width; a dash for a missing row."""
    if row is None:
        return number(None)
    sure = row["high"] - row["low"] < 0.5 * 10**-digits
    return number(row["value"], digits) if sure else interval(row["value"], row["low"], row["high"], digits)


def scores(estimates: RowsByKey, condition: str, subject: str) -> list[str]:
    """Regret with its interval, ToM % and consistency."""
    regret = estimates.get((condition, subject, REGRET))
    return [score(regret), *values(estimates, condition, subject, {LITERAL: 1, "consistency": 2})]


def values(estimates: RowsByKey, condition: str, subject: str, digits: Mapping[str, int]) -> list[str]:
    """Values of metrics without intervals, in so many digits each."""
    return [value(estimates.get((condition, subject, metric)), n) for metric, n in digits.items()]


def value(row: Row | None, digits: int = 3) -> str:
    """A value without its interval; a dash if there is none."""
    return number(row["value"] if row else None, digits)


def mean_of(estimates: RowsByKey, conditions: Sequence[str], subject: str, metric: str) -> Row | None:
    """The mean of a metric over conditions; None if one is missing."""
    return mean([estimates.get((condition, subject, metric)) for condition in conditions])


def mean(rows: Sequence[Row | None]) -> Row | None:
    """The mean over independent cells; None if a cell is missing."""
    present = [row for row in rows if row is not None]
    if len(present) < len(rows):
        return None
    value = sum(row["value"] for row in present) / len(present)
    margin = hypot(*((row["high"] - row["low"]) / 2 for row in present)) / len(present)
    return {"value": value, "low": value - margin, "high": value + margin}


def once(lines: Iterable[Sequence[object]]) -> list[Sequence[object]]:
    """The lines of a table, with the first cell empty where it would repeat the one above."""
    above: object = None
    display_lines: list[Sequence[object]] = []
    for line in lines:
        display_lines.append(["" if line[0] == above else line[0], *line[1:]])
        above = line[0]
    return display_lines


def explained(words: str, columns: Sequence[str], lines: Sequence[Sequence[object]]) -> Html:
    """A table below its explanation, with first cells that repeat left empty; nothing without lines."""
    return stack(words, table(columns, once(lines))) if lines else Html("")


# As published


def published() -> list[Published]:
    """All published figures on repeated games."""
    return [p for p in figures().published if p.experiment == "functional"]


def digits_of(metric: str) -> int:
    """The number of decimals that the paper prints."""
    return 1 if metric == LITERAL else 3


def notes() -> dict[str, int]:
    """All notes on published figures, with their numbers."""
    return {note: i for i, note in enumerate(dict.fromkeys(p.note for p in published() if p.note), 1)}


def raised(published_figures: Iterable[Published]) -> str:
    """The raised numbers of the notes on these published figures."""
    numbers = sorted({notes()[p.note] for p in published_figures if p.note})
    return "".join(f" {str(n).translate(RAISED)}" for n in numbers)


def published_means() -> dict[str, Row]:
    """The mean published regret of each player for which the paper prints all six cells."""
    regrets = {(p.condition, p.subject): p for p in published() if p.metric == AS_PRINTED}
    means: dict[str, Row] = {}
    for subject in dict.fromkeys(subject for _, subject in regrets):
        cells = [regrets[condition, subject] for condition in CELLS if (condition, subject) in regrets]
        margins = [(p.value, p.margin or 0) for p in cells]
        bounds = [{"value": value, "low": value - margin, "high": value + margin} for value, margin in margins]
        if len(cells) == len(CELLS) and (row := mean(bounds)):
            means[subject] = {**row, "notes": raised(cells)}
    return means


def published_models() -> Html:
    """Tables of the published language models: regrets, predictions, and notes."""
    printed = {(p.subject, p.condition, p.metric): p for p in published() if p.subject.startswith(MODELS)}
    models = sorted({subject for subject, _, _ in printed})
    regrets = [[*_parts(s), *(_printed(printed.get((s, cell, AS_PRINTED))) for cell in CELLS)] for s in models]
    metrics = [metric for metric in PRINTED if metric != AS_PRINTED]
    literal = [
        [
            model,
            prompting + note,
            *(_printed(printed.get((s, f"{game}/{partner}", m))) for game in GAMES for m in metrics),
        ]
        for s in models
        for partner, note in (("single", ""), ("tft", f" ({PARTNERS['tft']})"))
        for model, prompting in [_parts(s)]
        if any((s, f"{game}/{partner}", LITERAL) in printed for game in GAMES)
    ]
    columns = [f"{title}: {PRINTED[metric]}" for title in GAMES.values() for metric in metrics]
    predict = f"How well they predict, as published ({PARTNERS['single']})"
    return stack(
        WORDS["language"],
        table(("Model", "Prompting", *map(label, CELLS)), once(regrets), "What they lose, as published"),
        table(("Model", "Prompting", *columns), once(literal), predict),
        table(("", "Notes on published figures"), [[str(i), note] for note, i in notes().items()]),
    )


def _printed(figure: Published | None) -> str:
    if figure is None:
        return number(None)
    digits = digits_of(figure.metric)
    margin = "" if figure.margin is None else f" ± {number(figure.margin, digits)}"
    return number(figure.value, digits) + margin + raised([figure])
