"""Tables of ratings, shares or probabilities, and the tables of what a model predicts of them.

A row of RATINGS is one person's judgement of one stimulus, or of one question about it; a row of PREDICTIONS is what a
model, with one of its settings, expects there. Columns are guessed from their names unless the caller says them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from otherminds.errors import meant, unknown
from otherminds.evaluation.judgements import FEWEST, Cell, Floats, JudgementFit, Judgements, fitted, varies
from otherminds.evaluation.tables import COLUMNS, MISSED_WORDS, NOT_RECORDED
from otherminds.files.tables import Table, read_table

# Limits against hostile files, chosen: numbers of an array, likelihoods in a choice of settings, and size of a number
MOST_CELLS = 20_000_000
MOST_LIKELIHOODS = 100_000_000
LARGEST, SMALLEST = 1e100, 1e-90  # anything closer to 0 is 0
ONLY = "model"  # the setting of predictions that have no column of settings

_ID = "(id|name|no|nr|num|number|index)?"
_SHARED = {
    "stimulus": (
        f"(stimulus|stim){_ID}",
        f"(item|scenario|story|vignette|video|clip|scene|episode){_ID}",
        f"(trial|problem){_ID}",
    ),
    "question": ("question", f"(question|dimension|measure|aspect|probe){_ID}"),
}
RATINGS: Mapping[str, tuple[str, ...]] = {
    "person": COLUMNS["person"],
    **_SHARED,
    "rating": ("ratings?|judge?ments?", "(response|answer)(value)?", "(slider|probability|prob|share|score)(value)?"),
}
PREDICTIONS: Mapping[str, tuple[str, ...]] = {
    "setting": ("settings?", f"(model|parameters?|beta|variant){_ID}"),
    **_SHARED,
    "prediction": ("predictions?|predicted", "(model)?pred(iction|icted)?", "probability|prob|p|share|mean|value"),
}
"""Names of columns by what they hold, as `otherminds.evaluation.tables.COLUMNS`."""
OPTIONAL = ("question", "setting")
SHAPE = "a row is one judgement: a person, a stimulus and a rating"


class _Entry(NamedTuple):
    """A rating by a person, or a prediction by a setting."""

    source: str
    cell: Cell
    value: float
    line: int


def judged(ratings: Path, predictions: Path, columns: Mapping[str, str] | None = None) -> JudgementFit:
    """The fit of predictions to ratings, from tables as `read_judgements` reads them. Raises InputError."""
    return fitted(read_judgements(ratings, predictions, columns))


def read_judgements(ratings: Path, predictions: Path, columns: Mapping[str, str] | None = None) -> Judgements:
    """The judgements in two tables. `columns` maps what RATINGS and PREDICTIONS list to names of columns.

    Stimuli are matched by name. A name in `columns` for what both tables have counts where there is such a column.
    Ratings that are empty, or one of NOT_RECORDED, are counted and left out. Raises InputError with file and line.
    """
    rated, predicted = read_table(ratings, None), read_table(predictions, None)
    given = dict(columns or {})
    for what, name in given.items():
        if what not in (*RATINGS, *PREDICTIONS):
            raise unknown("column", what, dict.fromkeys((*RATINGS, *PREDICTIONS)))
        holders = [table for table, known in ((rated, RATINGS), (predicted, PREDICTIONS)) if what in known]
        if not any(name in table.header for table in holders):
            raise holders[0].wrong(f"there is no column `{name[:60]}`", holders[0].top, meant(name, holders[0].header))
    at, predicted_at = _columns(rated, given, RATINGS), _columns(predicted, given, PREDICTIONS)
    _match_questions(rated, at, predicted_at)
    judgements, missing = _entries(rated, at, "person", "rating")
    expected, _ = _entries(predicted, predicted_at, "setting", "prediction")
    lines: dict[Cell, int] = {}
    for entry in judgements:
        lines.setdefault(entry.cell, entry.line)
    settings = tuple(dict.fromkeys(entry.source for entry in expected))
    people = tuple(dict.fromkeys(entry.source for entry in judgements))
    if len(settings) * len({stimulus for stimulus, _ in lines}) * len(lines) > MOST_LIKELIHOODS:
        raise predicted.wrong(f"{len(settings):,} settings are too many for {len(lines):,} judgements")
    array = _array(predicted, settings, lines, [entry for entry in expected if entry.cell in lines])
    unpredicted = np.argwhere(np.isnan(array))
    if len(unpredicted):
        setting, (cell, line) = settings[unpredicted[0, 0]], list(lines.items())[unpredicted[0, 1]]
        names = dict.fromkeys(entry.cell[0] for entry in expected if entry.source == setting)
        by = f" by {setting[:60]}" if "setting" in predicted_at else ""
        hint = str(predictions) if cell[0] in names else f"{predictions}: {meant(cell[0], names)}"
        raise rated.wrong(f"{_named(cell)} has no prediction{by}", line, hint)
    unjudged = len({entry.cell for entry in expected} - lines.keys())
    ratings_of = _array(rated, people, lines, judgements)
    found = Judgements(people, tuple(lines), ratings_of, dict(zip(settings, array, strict=True)), missing, unjudged)
    _check(found, rated, predicted)
    return found


def _check(found: Judgements, rated: Table, predicted: Table) -> None:
    """Raises InputError if there is nothing to correlate."""
    if len(found.stimuli) < FEWEST:
        raise rated.wrong(f"there are ratings of {len(found.stimuli)} stimuli: {FEWEST} are needed", hint=SHAPE)
    if not varies(found.means):
        raise rated.wrong("the mean ratings of all stimuli are the same")
    if not any(map(varies, found.predictions.values())):
        raise predicted.wrong("the predictions for all stimuli that people judged are the same")


def _columns(table: Table, given: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The columns by what they hold. Raises InputError if one is missing, or two could be meant."""
    at: dict[str, int] = {}
    for what, patterns in known.items():
        if given.get(what) in table.header:
            at[what] = table.header.index(given[what])
            continue
        free = [i for i, name in enumerate(table.header) if name not in given.values() and i not in at.values()]
        bare = {i: re.sub(r"[\W_]", "", table.header[i].casefold().removeprefix("response.")) for i in free}
        fitting = ([i for i in free if re.fullmatch(pattern, bare[i])] for pattern in patterns)
        found = next(filter(None, fitting), [])
        if len(found) > 1:
            both = " and ".join(f"`{table.header[i][:60]}`" for i in found[:2])
            hint = " or ".join(f"--columns {what}={table.header[i][:60]}" for i in found[:2])
            raise table.wrong(f"{both} could both be {what}", table.top, hint)
        if found:
            at[what] = found[0]
        elif what not in OPTIONAL:
            row = f"{SHAPE}; " if what in RATINGS else ""
            hint = f"{row}it has {', '.join(table.header)}; --columns {what}=NAME says which holds it"
            raise table.wrong(f"there is no column `{what}`", table.top, hint)
    return at


def _match_questions(rated: Table, at: dict[str, int], predicted_at: dict[str, int]) -> None:
    """Leave columns of questions out unless both tables have one. Raises InputError if they matter."""
    if "question" in at and "question" in predicted_at:
        return
    predicted_at.pop("question", None)
    if (i := at.pop("question", None)) is None:
        return
    asked: dict[str | None, str | None] = {}
    for line, row in rated.rows:
        stimulus = row[at["stimulus"]]
        if asked.setdefault(stimulus, row[i]) != row[i]:
            message = f"stimulus `{(stimulus or '')[:60]}` has several questions, and predictions have no such column"
            raise rated.wrong(message, line, "predictions need a column `question` beside the stimulus")


def _entries(table: Table, at: Mapping[str, int], source: str, what: str) -> tuple[list[_Entry], int]:
    """What people rated, or settings predict, and how many ratings are missing."""
    found: dict[tuple[str, Cell], _Entry] = {}
    missing = 0
    for line, row in table.rows:
        value = row[at[what]] or ""
        if source == "person" and value.casefold() in (*MISSED_WORDS, *NOT_RECORDED):
            missing += 1
            continue
        text = {name: row[i] or "" for name, i in at.items()}
        text |= {name: re.sub(r"^(-?\d+)\.0+$", r"\1", text[name]) for name in text if name != "setting"}
        for name in (source, "stimulus", "question"):
            if name in at and not text[name]:
                raise table.wrong(f"there is no {name}", line)
        number = table.number(value, what, line)
        if abs(number) > LARGEST:
            raise table.wrong(f"{what} `{value[:60]}` is not between -{LARGEST:g} and {LARGEST:g}", line)
        number = number if abs(number) >= SMALLEST else 0.0
        entry = _Entry(text.get(source, ONLY), (text["stimulus"], text.get("question", "")), number, line)
        first = found.setdefault((entry.source, entry.cell), entry)
        if first is not entry:
            who = f"{source} {entry.source[:60]} has" if source in at else "there are"
            message = f"{who} two {what}s of {_named(entry.cell)}, the first in line {first.line}"
            optional = "question" if source == "person" else "setting"
            hint = "" if optional in at else f"--columns {optional}=NAME says which column tells them apart"
            raise table.wrong(message, line, hint)
    if not found:
        raise table.wrong(f"there are no {what}s in it", hint=f"{missing:,} are missing" if missing else None)
    return list(found.values()), missing


def _array(table: Table, sources: Sequence[str], cells: Mapping[Cell, int], entries: Sequence[_Entry]) -> Floats:
    """Values of shape (sources, cells), NaN where there is none."""
    if len(sources) * len(cells) > MOST_CELLS:
        raise table.wrong(f"makes an array of more than {MOST_CELLS:,} numbers")
    array = np.full((len(sources), len(cells)), np.nan)
    row, column = ({name: i for i, name in enumerate(names)} for names in (sources, cells))
    for entry in entries:
        array[row[entry.source], column[entry.cell]] = entry.value
    return array


def _named(cell: Cell) -> str:
    stimulus, question = cell
    return f"stimulus `{stimulus[:60]}`" + (f", question `{question[:60]}`" if question else "")
