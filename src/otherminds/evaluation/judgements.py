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
    low, high = np.quantile([v for v in values if math.isfinite(v)], [0.025, 0.975]).tolist()
    return Estimate(score(predicted, judged, range(n)), low, high, n)
