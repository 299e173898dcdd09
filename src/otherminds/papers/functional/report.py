"""The report on literal and functional Theory of Mind in repeated games."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from otherminds.papers.functional import tables
from otherminds.papers.functional.tables import (
    LITERAL,
    MODELS,
    REGRET,
    WORDS,
    Found,
    Row,
    explained,
    name,
    once,
    score,
    subjects,
    value,
)
from otherminds.reports import game_plots
from otherminds.reports.game_plots import CELLS, GAMES, LEFT_OUT, NOISES, PARTNERS
from otherminds.reports.page import Html, Page, Section, inline, interval, number, page, side_by_side, stack, table
from otherminds.reports.results import targets

BEST = 3  # published models in the table of means
CLUE_GAMES = ("hanabi/signals", "wavelength/dials")


def report(rows: Sequence[Row], summary: Sequence[Row]) -> Page:
    """The page of the experiment, from rows and summary alone."""
    found = {(r["condition"], r["subject"], r["metric"]): r for r in summary}
    memory = [
        [title, name(subject), *tables.scores(found, f"{game}/memory_one", subject)]
        for game, title in GAMES.items()
        for subject in subjects(found, f"{game}/memory_one")
    ]
    digits = {tables.AS_PRINTED: 2, LITERAL: 1, "literal_error": 3}
    clues = [
        [tables.label(game), who.capitalize(), *(score(found.get((game, who, m)), n) for m, n in digits.items())]
        for game in CLUE_GAMES
        for who in subjects(found, game)
    ]
    interest = [
        [tables.label(condition), number(row["value"])]
        for (condition, _, metric), row in found.items()
        if metric == "interestingness" and "_noise" not in condition and condition != LEFT_OUT
    ]
    scored = ("Game", "Player", "Regret", "ToM %")
    bodies = {
        "Results in the paper’s six cells": _results(found),
        "Predicting and acting": _picture(found, rows, summary),
        "Language models, run here": _models_run(found, rows),
        "Machines": _machines(found, rows),
        "Noise": _noise(found, summary),
        "All partners that remember one round": explained(WORDS["memory"], (*scored, "Consistency"), memory),
        "Cards and words": explained(WORDS["clues"], (*scored, "Literal error"), clues),
        "How interesting each task is": explained(WORDS["interest"], ("Task", "Interestingness"), interest),
        "Language models, as published": tables.models(),
        "What was tuned, and what cannot be compared": stack(*WORDS["notes"]),
        "Targets": targets(summary),
    }
    sections = [Section(title, body) for title, body in bodies.items() if body]
    return page("Literal and functional Theory of Mind", stack(WORDS["lead"], *_finding(found)), sections)


def _finding(found: Found) -> list[str]:
    """A sentence on players that predict equally well and act differently, for those that were played."""
    chosen = {
        "fictitious play": "fictitious_play",
        "2-ToM": "k_tom_2",
        "a Bayesian player, which tries out what cooperation brings,": "bayes_simplicity",
    }
    told = [
        f"{who} predicts {value(literal, 1)} % of the actions and loses {value(regret, 2)} points a round"
        for who, subject in chosen.items()
        if (literal := found.get(("ipd/tft", subject, LITERAL))) and (regret := found.get(("ipd/tft", subject, REGRET)))
    ]
    return [f"With tit for tat in the Prisoner’s Dilemma, {'; '.join(told)}."] if told else []


# The six cells


def _results(found: Found) -> Html:
    present = subjects(found, *CELLS)
    if not present:
        return Html("")
    players = table(("Player", "How it plays"), [[name(s), way] for s, way in WORDS["ways"].items() if s in present])
    columns = [f"{partner}: {what}" for partner in PARTNERS.values() for what in ("regret", "ToM %", "consistency")]
    games = []  # all scores of all players, a table for each game
    for game, title in GAMES.items():
        cells = [f"{game}/{partner}" for partner in PARTNERS]
        if chosen := subjects(found, *cells):
            lines = [[name(s), *(t for cell in cells for t in tables.scores(found, cell, s))] for s in chosen]
            games.append(table((title, *columns), lines))
    return stack(
        WORDS["measures"], _league(found), WORDS["optima"], players, _anchor(found), WORDS["consistency"], *games
    )


def _league(found: Found) -> Html:
    """A table of mean regrets of all players of all six cells, and of the best published models, by regret."""
    entries: list[tuple[str, Row | None, Row | None]] = [
        (name(s), tables.mean_of(found, CELLS, s, REGRET), tables.mean_of(found, CELLS, s, tables.RATE))
        for s in subjects(found, *CELLS)
    ]
    whole = tables.published_means()
    best = sorted((s for s in whole if s.startswith(MODELS)), key=lambda subject: float(whole[subject]["value"]))
    entries += [(f"{name(s)}, as published{whole[s]['notes']}", None, whole[s]) for s in ("rmax", *best[:BEST])]
    ranked = sorted((rate["value"], who, score(exact), score(rate)) for who, exact, rate in entries if rate)
    caption = f"Mean regret over the six cells; of {len(best)} language models published there the best {BEST}."
    columns = ("Player", "Against the exact optimum", "Against the paper’s optimum")
    return table(columns, [line[1:] for line in ranked], caption)


def _anchor(found: Found) -> Html:
    """RMax beside its published figures."""
    lines, inside = [], 0
    for figure in tables.published():
        condition, metric, digits = figure.condition, figure.metric, tables.digits_of(figure.metric)
        row = found.get((condition, "rmax", metric))
        if figure.subject != "rmax" or row is None or row.get("published_low") is None:
            continue
        low, ours, high = (round(row[key], digits) for key in ("published_low", "value", "published_high"))
        inside += low <= ours <= high
        printed = interval(row["published"], low, high, digits) + tables.raised([figure])
        exact = score(found.get((condition, "rmax", f"{metric}_enumerated")), 4)
        verdict = "inside" if low <= ours <= high else "outside"
        lines.append([tables.label(condition), tables.PRINTED[metric], printed, score(row, digits), verdict, exact])
    columns = ("Cell", "RMax’s", "As published", "Here", "Published interval", "Exact")
    words = f"{WORDS['anchor']} {inside} of {len(lines)} figures are inside the published intervals."
    return explained(words, columns, lines)


def _picture(found: Found, rows: Sequence[Row], summary: Sequence[Row]) -> Html:
    if not subjects(found, *CELLS):
        return Html("")
    literal = {(p.condition, p.subject): p.value for p in tables.published() if p.metric == LITERAL}
    points: dict[str, list[tuple[float, float]]] = {}
    for p in tables.published():
        if p.metric == tables.AS_PRINTED and p.subject.startswith(MODELS) and (p.condition, p.subject) in literal:
            points.setdefault(p.condition, []).append((literal[p.condition, p.subject], p.value))
    scatter = inline(game_plots.literal_against_functional(summary, points), WORDS["picture"])
    return stack(side_by_side(scatter, inline(game_plots.regret_over_rounds(rows), WORDS["curves"])), _regrets(found))


def _regrets(found: Found) -> Html:
    """Functional regret beside the three regrets of predictions alone."""
    metrics = (REGRET, "tom_regret_paper", "tom_regret_myopic", "tom_regret_model")
    readers = [s for s in subjects(found, *CELLS) if any((cell, s, metrics[-1]) in found for cell in CELLS)]
    lines = [
        [title, name(s), *(value(tables.mean_of(found, cells, s, metric)) for metric in metrics)]
        for title, cells in (("Mean of the six cells", CELLS), (tables.label("ipd/tft"), ("ipd/tft",)))
        for s in readers
    ]
    columns = ("", "Player", "Its own", "Paper", "Myopic", "Model")
    return explained(WORDS["regrets"], columns, lines)


# Other partners


def _machines(found: Found, rows: Sequence[Row]) -> Html:
    scored = [(tables.LIBRARY, s, name(s)) for s in subjects(found, tables.LIBRARY) if s != "floor"]
    scored += [(LEFT_OUT, s, f"{name(s)} without the partner") for s in subjects(found, LEFT_OUT)]
    scored += [(tables.LIBRARY, "floor", "Bayes floor")]
    lines = []
    for condition, subject, title in scored:
        if regret := found.get((condition, subject, REGRET)) or found.get((condition, subject, tables.AS_PRINTED)):
            literal = score(found.get((condition, subject, LITERAL)), 1)
            lines.append((regret["value"], title, regret["n"], score(regret), literal))
    if not lines:
        return Html("")
    shown = table(("Player", "Machines", "Regret", "ToM %"), [line[1:] for line in sorted(lines)])
    return stack(WORDS["machines"], side_by_side(shown, inline(game_plots.regret_by_machine(rows))))


def _noise(found: Found, summary: Sequence[Row]) -> Html:
    players = subjects(found, *(cell + noise for cell in CELLS for noise in NOISES if noise))
    if not players:
        return Html("")
    lines = [
        [tables.label(cell), share, *(score(found.get((cell + noise, s, REGRET)), 2) for s in players)]
        for cell in CELLS
        for noise, share in NOISES.items()
    ]
    figure = inline(game_plots.regret_by_noise(summary))
    return stack(WORDS["noise"], side_by_side(figure, table(("Cell", "Noise, %", *map(name, players)), once(lines))))


# Language models that were run here


SCORED = {"tom_regret_paper": 3, LITERAL: 1, "consistency": 2}  # digits of the scores beside regret


def _models_run(found: Found, rows: Sequence[Row]) -> Html:
    """Scores and replies of all language models that were run; empty if there are none."""
    spoken = [s for s in subjects(found, *CELLS) if s.startswith(MODELS)]
    if not spoken:
        return Html("")
    curves = [inline(figure, words) for figure, words in zip(game_plots.by_names(rows), WORDS["names"], strict=False)]
    lines = [
        [tables.label(cell), in_words(subject), score(regret), *tables.values(found, cell, subject, SCORED)]
        for cell, subject in product(CELLS, spoken)
        if (regret := found.get((cell, subject, REGRET)))
    ]
    scored = table(("Cell", "Model", "Regret", "ToM regret", "ToM %", "Consistency"), once(lines))
    curved = [side_by_side(*curves)] if curves else []
    return stack(WORDS["spoken"], scored, WORDS["tokens"], _replies(found, spoken, rows), *curved)


def in_words(subject: str) -> str:
    """A model, its strategy and its set of names, in words."""
    model, strategy, *names = subject.removeprefix(MODELS).split(":")
    return ", ".join([f"{model}: {strategy.replace('_', ' ')}", *(f"{name} names" for name in names)])


def _replies(found: Found, spoken: Sequence[str], rows: Sequence[Row]) -> Html:
    lines = []
    for subject in spoken:
        known = [cell for cell in CELLS if (cell, subject, "unreadable_share") in found]
        unreadable, lost, tokens, evaluated = (
            sum(found[cell, subject, metric]["value"] for cell in known) / len(known)
            for metric in ("unreadable_share", "lost_share", "tokens", "evaluated")
        )
        masses = [row["mass"] for row in rows if row["subject"] == subject and row.get("mass") is not None]
        mass = number(sum(masses) / len(masses), 2) if masses else "–"
        shares = (f"{100 * unreadable:.1f} %", f"{100 * lost:.1f} %")
        lines.append([in_words(subject), *shares, f"{tokens:,.0f}", f"{evaluated:,.0f}", mass])
    return table(("Model", "Unreadable", "Rounds lost", "Tokens", "Evaluated", "Mass"), lines)
