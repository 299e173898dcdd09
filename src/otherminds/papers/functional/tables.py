"""Tables about repeated games: names of players and conditions, formatted scores, and published figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot
from typing import Any

from otherminds.files.toml import packaged
from otherminds.papers.functional.experiment import MODELS as MODELS
from otherminds.reports.game_plots import CELLS, GAMES, PARTNERS, PLAYERS
from otherminds.reports.page import NOTHING, Html, interval, number, stack, table
from otherminds.reports.results import Published, figures

Row = Mapping[str, Any]
Found = Mapping[tuple[str, str, str], Row]
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
SUITES = PARTNERS | {
    "memory_one": "one round remembered",
    "machines": "machines",
    "signals": "conventions",
    "dials": "dials",
}
WORLDS = GAMES | {"hanabi": "Tiny Hanabi", "wavelength": "Wavelength"}


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
    world, _, suite = condition.partition("/")
    return f"{WORLDS.get(world, world)}, {SUITES.get(suite, suite)}"


# Scores


def subjects(found: Found, *conditions: str) -> list[str]:
    """The players of these conditions: known ones in their usual order, then others."""
    present = dict.fromkeys(subject for condition, subject, _ in found if condition in conditions)
    order = {subject: i for i, subject in enumerate(NAMES)}
    return sorted((s for s in present if s != "task"), key=lambda subject: order.get(subject, len(order)))


def score(row: Row | None, digits: int = 3) -> str:
    """A value with its interval if that has a width; a dash for a missing row."""
    if row is None:
        return NOTHING
    sure = row["high"] - row["low"] < 0.5 * 10**-digits
    return number(row["value"], digits) if sure else interval(row["value"], row["low"], row["high"], digits)


def scores(found: Found, condition: str, subject: str) -> list[str]:
    """Regret with its interval, ToM % and consistency."""
    regret = found.get((condition, subject, REGRET))
    return [score(regret), *values(found, condition, subject, {LITERAL: 1, "consistency": 2})]


def values(found: Found, condition: str, subject: str, digits: Mapping[str, int]) -> list[str]:
    """Values of metrics without intervals, in so many digits each."""
    return [value(found.get((condition, subject, metric)), n) for metric, n in digits.items()]


def value(row: Row | None, digits: int = 3) -> str:
    """A value without its interval; a dash if there is none."""
    return number(row["value"] if row else None, digits)


def mean_of(found: Found, conditions: Sequence[str], subject: str, metric: str) -> Row | None:
    """The mean of a metric over conditions; None if one is missing."""
    return mean([found.get((condition, subject, metric)) for condition in conditions])


def mean(rows: Sequence[Row | None]) -> Row | None:
    """The mean over independent cells; None if a cell is missing."""
    known = [row for row in rows if row is not None]
    if len(known) < len(rows):
        return None
    value = sum(row["value"] for row in known) / len(known)
    margin = hypot(*((row["high"] - row["low"]) / 2 for row in known)) / len(known)
    return {"value": value, "low": value - margin, "high": value + margin}


def once(lines: Iterable[Sequence[object]]) -> list[Sequence[object]]:
    """The lines of a table, with the first cell empty where it would repeat the one above."""
    above: object = None
    kept: list[Sequence[object]] = []
    for line in lines:
        kept.append(["" if line[0] == above else line[0], *line[1:]])
        above = line[0]
    return kept


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


def raised(chosen: Iterable[Published]) -> str:
    """The raised numbers of the notes on these published figures."""
    numbers = sorted({notes()[p.note] for p in chosen if p.note})
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


def models() -> Html:
    """Tables of the published language models: regrets, predictions, and notes."""
    told = {(p.subject, p.condition, p.metric): p for p in published() if p.subject.startswith(MODELS)}
    known = sorted({subject for subject, _, _ in told})
    regrets = [[*_parts(s), *(_printed(told.get((s, cell, AS_PRINTED))) for cell in CELLS)] for s in known]
    metrics = [metric for metric in PRINTED if metric != AS_PRINTED]
    literal = [
        [model, prompting + note, *(_printed(told.get((s, f"{game}/{partner}", m))) for game in GAMES for m in metrics)]
        for s in known
        for partner, note in (("single", ""), ("tft", f" ({PARTNERS['tft']})"))
        for model, prompting in [_parts(s)]
        if any((s, f"{game}/{partner}", LITERAL) in told for game in GAMES)
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
        return NOTHING
    digits = digits_of(figure.metric)
    margin = "" if figure.margin is None else f" ± {number(figure.margin, digits)}"
    return number(figure.value, digits) + margin + raised([figure])
