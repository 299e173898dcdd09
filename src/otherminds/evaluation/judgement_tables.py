"""Tables of ratings, shares or probabilities beside a table of a model's predictions, and fits of the one to the other.

A row of RATINGS is one person's judgement of one stimulus, or of one question about it; a row of PREDICTIONS what a
model, with one of its settings, expects of that stimulus. Columns are guessed from their names unless the caller says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import meant, unknown
from otherminds.evaluation.judgements import (
    Floats,
    Judged,
    Response,
    correlation,
    estimate,
    leave_one_out,
    reliability,
    response,
    varies,
)
from otherminds.evaluation.statistics import Estimate
from otherminds.evaluation.tables import COLUMNS, MISSED_WORDS, NOT_RECORDED
from otherminds.files.tables import Row, Table, read_table

# Limits against hostile files, chosen: numbers of an array, fits in a choice of settings, and the size of a number
MOST_CELLS = 20_000_000
MOST_FITS = 100_000_000
LARGEST = 1e100
FEWEST = 3  # stimuli, and judgements of a person who has an r: a line through two is always exact
ONLY = "model"  # the setting of predictions that have one

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
"""Names of columns by what they hold, as in `otherminds.evaluation.tables.COLUMNS`."""
OPTIONAL = ("question", "setting")

Cell = tuple[str, str]
"""What is judged: a stimulus, and the question about it, which is empty if there is one."""


@dataclass(frozen=True)
class Judgements:
    """Ratings of shape (people, cells), NaN where there is none, and the predictions of every setting for the cells.

    `missing` counts ratings that are not there, `unjudged` the cells that are predicted and that nobody judged.
    """

    people: tuple[str, ...]
    cells: tuple[Cell, ...]
    ratings: Floats
    predictions: Mapping[str, Floats]
    missing: int
    unjudged: int

    @property
    def means(self) -> Floats:
        """The mean rating of each cell."""
        mean: Floats = np.nanmean(self.ratings, axis=0)
        return mean

    @property
    def stimuli(self) -> tuple[str, ...]:
        """The stimuli in the order of the table."""
        return tuple(dict.fromkeys(stimulus for stimulus, _ in self.cells))

    def by_stimulus(self, values: Floats, question: str | None = None) -> Judged:
        """An array for each stimulus of the values of its cells, of all questions or of one."""
        places: dict[str, list[int]] = {}
        for i, (stimulus, asked) in enumerate(self.cells):
            if question in (None, asked):
                places.setdefault(stimulus, []).append(i)
        return [values[at] for at in places.values()]


class SettingFit(NamedTuple):
    """A setting: its responses to the mean ratings with a free scale and as it is, and how well it describes people.

    `by_person` is the sum of the log likelihoods of people, each with a free scale of her own, and `best_for` the
    number of those for whom no setting before has the same, and none a higher one.
    """

    setting: str
    free: Response
    as_is: Response
    by_person: float
    best_for: int


@dataclass(frozen=True)
class JudgementFit:
    """What a model with settings explains of judgements.

    The setting is the one for all people whose predictions make the mean ratings most likely, on a free scale. `people`
    has the response of each person to it, `r` is that of the mean ratings, and in `left_out` each stimulus is predicted
    by the setting that was chosen without it (None if there is one setting). Intervals are over stimuli.
    """

    data: Judgements
    settings: Sequence[SettingFit]
    best: SettingFit
    best_as_is: SettingFit
    r: Estimate
    left_out: Estimate | None
    by_question: Mapping[str, Estimate]
    people: Sequence[Response]
    reliability: float

    @property
    def scale_evidence(self) -> float:
        """The BIC of predictions as they are, less that on a free scale, which has two more parameters."""
        gain = self.best.free.log_likelihood - self.best_as_is.as_is.log_likelihood
        return 2.0 * (gain - math.log(len(self.data.cells)))

    @property
    def person_r(self) -> Floats:
        """r of each person with at least three judgements that vary, as the predictions for them do."""
        counts = np.isfinite(self.data.ratings).sum(axis=1)
        return np.array([p.r for p, n in zip(self.people, counts, strict=True) if n >= FEWEST and not math.isnan(p.r)])


def judged(ratings: Path, predictions: Path, columns: Mapping[str, str] | None = None) -> JudgementFit:
    """The fit of predictions to ratings, both tables. Raises InputError with file and line."""
    return fitted(read_judgements(ratings, predictions, columns))


def fitted(data: Judgements) -> JudgementFit:
    """The best setting, and how well it describes mean ratings and each person."""
    means, present = data.means, np.isfinite(data.ratings)
    # ratings are rounded to a step, and the rounding of a mean of n ratings has an sd of step / √(12 n)
    rounding = float(np.diff(np.unique(data.ratings[present])).min()) / math.sqrt(12.0)
    of_mean = rounding / math.sqrt(len(data.people))
    by_person = {
        setting: [response(x[at], y[at], least_sd=rounding) for y, at in zip(data.ratings, present, strict=True)]
        for setting, x in data.predictions.items()
    }
    likely = np.array([[person.log_likelihood for person in people] for people in by_person.values()])
    best_for = np.bincount(likely.argmax(axis=0), minlength=len(likely))
    settings = [
        SettingFit(
            setting,
            response(x, means, least_sd=of_mean),
            response(x, means, free=False, least_sd=of_mean),
            float(likely[i].sum()),
            int(best_for[i]),
        )
        for i, (setting, x) in enumerate(data.predictions.items())
    ]
    best = max(settings, key=lambda fit: fit.free.log_likelihood)
    x, split = data.predictions[best.setting], data.by_stimulus
    judgements, predicted = split(means), {setting: split(x) for setting, x in data.predictions.items()}
    without = leave_one_out(predicted, judgements, partial(_likelihood, of_mean)) if len(settings) > 1 else None
    questions = dict.fromkeys(question for _, question in data.cells)
    return JudgementFit(
        data,
        settings,
        best,
        max(settings, key=lambda fit: fit.as_is.log_likelihood),
        estimate(correlation, predicted[best.setting], judgements),
        without and estimate(correlation, without.predicted, judgements),
        {q: estimate(correlation, split(x, q), split(means, q)) for q in questions if len(questions) > 1},
        by_person[best.setting],
        reliability(data.ratings),
    )


def _likelihood(least_sd: float, predicted: Judged, judgements: Judged, which: Sequence[int]) -> float:
    """The log likelihood of the judgements of some stimuli on a free scale."""
    x, y = (np.concatenate([side[i] for i in which]) for side in (predicted, judgements))
    return response(x, y, least_sd=least_sd).log_likelihood


def as_rows(fit: JudgementFit) -> dict[str, Any]:
    """The fit as JSON: how well the best setting does, and rows of settings, people and stimuli."""
    data, x = fit.data, fit.data.predictions[fit.best.setting]
    counts = np.isfinite(data.ratings).sum(axis=1)
    about = {"setting": fit.best.setting, "setting_as_is": fit.best_as_is.setting, "missing": data.missing}
    cells = zip(data.cells, data.means.tolist(), x.tolist(), strict=True)
    people = zip(data.people, counts.tolist(), fit.people, strict=True)
    row = about | {
        "bic_as_is_less_free": fit.scale_evidence,
        "r": fit.r._asdict(),
        "left_out_r": fit.left_out and fit.left_out._asdict(),
        "r_by_question": {question: r._asdict() for question, r in fit.by_question.items()},
        "person_r": np.quantile(fit.person_r, (0.25, 0.5, 0.75)).tolist() if len(fit.person_r) else None,
        "reliability": fit.reliability,
        "settings": [s._asdict() | {"free": s.free._asdict(), "as_is": s.as_is._asdict()} for s in fit.settings],
        "people": [{"person": name, "ratings": n} | found._asdict() for name, n, found in people],
        "stimuli": [{"stimulus": s, "question": q, "mean": y, "prediction": p} for (s, q), y, p in cells],
    }
    return {name: _finite(value) for name, value in row.items()}


def _finite(value: Any) -> Any:
    """The value with None for numbers that are not finite, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Reading


def read_judgements(ratings: Path, predictions: Path, columns: Mapping[str, str] | None = None) -> Judgements:
    """The judgements in two tables. `columns` maps what RATINGS and PREDICTIONS list to names of columns.

    Stimuli are matched by name; a name of `columns` for both tables counts in those that have it. Empty ratings and
    those of NOT_RECORDED are counted, and left out. Raises InputError with file and line.
    """
    given, tables = dict(columns or {}), (read_table(ratings, None), read_table(predictions, None))
    for what, name in given.items():
        if what not in (*RATINGS, *PREDICTIONS):
            raise unknown("column", what, dict.fromkeys((*RATINGS, *PREDICTIONS)))
        holders = [table for table, known in zip(tables, (RATINGS, PREDICTIONS), strict=True) if what in known]
        if not any(name in table.header for table in holders):
            raise holders[0].wrong(f"there is no column `{name[:60]}`", holders[0].top, meant(name, holders[0].header))
    rated, at = tables[0], _columns(tables[0], given, RATINGS)
    predicted, predicted_at = tables[1], _columns(tables[1], given, PREDICTIONS)
    asked = "question" in at and "question" in predicted_at
    if "question" in at and not asked:
        _check_one_question(rated, at)
    if not asked:
        at.pop("question", None)
        predicted_at.pop("question", None)
    by_person, missing = _values(rated, at, "person", "rating")
    by_setting, _ = _values(predicted, predicted_at, "setting", "prediction")
    lines = {cell: line for values in reversed(by_person.values()) for cell, (_, line) in reversed(values.items())}
    cells = tuple(sorted(lines, key=lines.__getitem__))
    found = Judgements(
        tuple(by_person),
        cells,
        _array(rated, by_person, cells),
        {setting: _predicted(predicted, rated, setting, values, lines, cells) for setting, values in by_setting.items()},
        missing,
        len({cell for values in by_setting.values() for cell in values} - lines.keys()),
    )
    _check(found, rated, predicted)
    return found
