"""Fits of models to what people judged: ratings, shares or probabilities, beside a posterior's expectations.

A model predicts an array of judgements for each stimulus, with each of its settings. A person's judgement is the
prediction plus Gaussian noise whose standard deviation is fitted; where the literature reports a correlation, settings
are chosen by that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

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
    """The response of largest likelihood, with a free scale; else predictions are taken as they are: 0 + 1 · prediction.

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
