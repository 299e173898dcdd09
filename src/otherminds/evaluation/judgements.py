"""Fits of models to what people judged: ratings, shares or probabilities, beside a posterior's expectations.

A model predicts an array of judgements for each stimulus, with each of its settings. A person's judgement is the
prediction plus Gaussian noise whose standard deviation is fitted; where the literature reports a correlation, settings
are chosen by that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.statistics import Estimate, pearson

Floats = NDArray[np.float64]
S = TypeVar("S", bound=Hashable)
Judged = Sequence[Floats]
"""An array for each stimulus."""
Predictions = Mapping[S, Judged]
"""Predicted judgements of all stimuli for each setting of a model."""
Score = Callable[[Judged, Judged, Sequence[int]], float]
"""How well predictions agree with judgements on some of the stimuli; higher is better."""
RESAMPLES = 2000  # of stimuli, for intervals
SPLITS = 1000  # of people into halves, for a reliability; chosen, not tuned
FEWEST = 3  # stimuli, and judgements of a person who has an r: a line through two is always exact
SAME = 1e-9  # part of the largest value below which differences are those of rounding


class Response(NamedTuple):
    """Judgements as intercept + slope · prediction + N(0, sd²), where the sd is the RMSE, and r their correlation."""

    intercept: float
    slope: float
    rmse: float
    log_likelihood: float
    r: float


class FittedModel(NamedTuple, Generic[S]):
    """The predictions for every stimulus, and the setting that each was predicted with."""

    predicted: Judged
    settings: Sequence[S]


def correlation(predicted: Judged, judged: Judged, which: Sequence[int]) -> float:
    """Pearson's r over all judgements of some stimuli; −∞ if either side does not vary."""
    ours, theirs = (np.concatenate([side[i].ravel() for i in which]) for side in (predicted, judged))
    r = pearson(ours.tolist(), theirs.tolist())
    return -math.inf if math.isnan(r) else r


def rmse(predicted: Judged, judged: Judged, which: Sequence[int]) -> float:
    """The root mean squared error over all judgements of some stimuli."""
    gaps = np.concatenate([(predicted[i] - judged[i]).ravel() for i in which])
    return float(np.sqrt(np.mean(gaps**2)))


def log_likelihood(predicted: Judged, judged: Judged, which: Sequence[int]) -> float:
    """Σ log N(judgement; prediction, sd²), in nats, with the sd that makes it largest: the RMSE."""
    n = sum(judged[i].size for i in which)
    sd = rmse(predicted, judged, which)
    return math.inf if sd == 0.0 else -n * (math.log(sd) + 0.5 * math.log(2.0 * math.pi) + 0.5)


def response(predicted: Floats, judged: Floats, *, free: bool = True, least_sd: float = 0.0) -> Response:
    """The response of largest likelihood, with a free scale; if it is not free, intercept 0 and slope 1.

    The slope of a free scale is at least 0, since predictions that run against judgements are wrong, not on another
    scale. `least_sd` bounds the sd from below, as by the step in which judgements were recorded: without it a person of
    two judgements would be infinitely likely. r is NaN if either side does not vary.
    """
    x, y = predicted - predicted.mean(), judged - judged.mean()
    spread = math.sqrt(float(x @ x)) if varies(predicted) else 0.0
    r = float(x / spread @ y) / math.sqrt(float(y @ y)) if spread and varies(judged) else math.nan
    slope = max(float(x / spread @ y) / spread, 0.0) if spread else 0.0
    intercept, slope = (float(judged.mean() - slope * predicted.mean()), slope) if free else (0.0, 1.0)
    error = float(np.sqrt(np.mean((judged - intercept - slope * predicted) ** 2)))
    sd, n = max(error, least_sd), judged.size
    likely = -n * (math.log(sd) + 0.5 * math.log(2.0 * math.pi) + 0.5 * (error / sd) ** 2) if sd else math.inf
    return Response(intercept, slope, error, likely, r)


def varies(values: Floats) -> bool:
    """Whether values differ by more than rounding."""
    return float(np.ptp(values)) > max(SAME * float(np.abs(values).max()), 1e-100)


def reliability(ratings: Floats) -> float:
    """The reliability of mean ratings: r of the means of random halves of the people, for all by Spearman and Brown.

    `ratings` has a row for each person and NaN for what is missing. The r of 1,000 splits is averaged before it is
    corrected, 2 r / (1 + r). NaN if there are fewer than two people, or halves have too little in common.
    """
    people = len(ratings)
    there = np.isfinite(ratings)
    filled, present = np.where(there, ratings, 0.0), there.astype(np.float64)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(SPLITS if people > 1 else 0):
        first = (rng.permutation(people) < people // 2).astype(np.float64)
        counts = first @ present, (1.0 - first) @ present
        both = (counts[0] > 0) & (counts[1] > 0)
        if both.sum() > 2:
            means = (half @ filled[:, both] / n[both] for half, n in zip((first, 1.0 - first), counts, strict=True))
            found.append(response(*means).r)
    values = [r for r in found if not math.isnan(r)]
    r = float(np.mean(values)) if values else math.nan
    return 2.0 * r / (1.0 + r) if r > -1.0 else math.nan


def in_sample(predictions: Predictions[S], judged: Judged, score: Score = correlation) -> FittedModel[S]:
    """The one setting that agrees best with all judgements."""
    best = _best(predictions, judged, range(len(judged)), score)
    return FittedModel(predictions[best], [best] * len(judged))


def leave_one_out(predictions: Predictions[S], judged: Judged, score: Score = correlation) -> FittedModel[S]:
    """For each stimulus, the setting that agrees best with the judgements of all others."""
    every = range(len(judged))
    settings = [_best(predictions, judged, [i for i in every if i != left_out], score) for left_out in every]
    return FittedModel([predictions[setting][i] for i, setting in enumerate(settings)], settings)


def _best(predictions: Predictions[S], judged: Judged, which: Sequence[int], score: Score) -> S:
    """The setting whose predictions agree best with the judgements of the stimuli `which`."""
    return max(predictions, key=lambda setting: score(predictions[setting], judged, which))


def estimate(score: Score, predicted: Judged, judged: Judged) -> Estimate:
    """The score over all stimuli with its 95 % interval, from 2,000 bootstrap resamples of stimuli."""
    n = len(judged)
    rng = np.random.default_rng(0)
    values = [score(predicted, judged, rng.integers(n, size=n).tolist()) for _ in range(RESAMPLES)]
    finite = [v for v in values if math.isfinite(v)] or [math.nan]
    low, high = np.quantile(finite, [0.025, 0.975]).tolist()
    return Estimate(score(predicted, judged, range(n)), low, high, n)


# Fits of settings to mean ratings and to each person


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
    def counts(self) -> NDArray[np.int64]:
        """The number of ratings of each person."""
        number: NDArray[np.int64] = np.isfinite(self.ratings).sum(axis=1)
        return number

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
    number of those to whom every other setting gives a lower one.
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
        people = zip(self.people, self.data.counts, strict=True)
        return np.array([own.r for own, n in people if n >= FEWEST and not math.isnan(own.r)])


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
    is_top = likely == likely.max(axis=0)
    best_for = (is_top & (is_top.sum(axis=0) == 1)).sum(axis=1)
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
    about = {"setting": fit.best.setting, "setting_as_is": fit.best_as_is.setting, "missing": data.missing}
    cells = zip(data.cells, data.means.tolist(), x.tolist(), strict=True)
    people = zip(data.people, data.counts.tolist(), fit.people, strict=True)
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
