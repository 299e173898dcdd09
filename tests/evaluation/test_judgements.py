"""Fits to judgements: the best setting, leaving one stimulus out, and a Gaussian response."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from otherminds.evaluation.judgements import (
    correlation,
    estimate,
    in_sample,
    leave_one_out,
    log_likelihood,
    rmse,
)

RNG = np.random.default_rng(0)
JUDGED = [RNG.random((4, 2)) for _ in range(5)]
GOOD = [one + 0.05 * RNG.standard_normal(one.shape) for one in JUDGED]
BAD = [RNG.random(one.shape) for one in JUDGED]
TABLE = {"good": GOOD, "bad": BAD}


def test_the_better_setting_is_chosen() -> None:
    for score in (correlation, log_likelihood):
        assert set(in_sample(TABLE, JUDGED, score).settings) == {"good"}


def test_a_stimulus_has_no_say_in_its_own_setting() -> None:
    only_first = {"good": GOOD, "tuned": [JUDGED[0], *BAD[1:]]}
    found = leave_one_out(only_first, JUDGED)
    assert list(found.settings) == ["good"] * 5
    assert found.predicted[0] is GOOD[0]


def test_the_response_is_gaussian_with_the_best_sd() -> None:
    every = range(5)
    gaps = np.concatenate([(a - b).ravel() for a, b in zip(GOOD, JUDGED, strict=True)])
    sd = rmse(GOOD, JUDGED, every)
    assert log_likelihood(GOOD, JUDGED, every) == pytest.approx(norm.logpdf(gaps, 0.0, sd).sum())


@pytest.mark.slow
def test_a_score_has_an_interval() -> None:
    found = estimate(correlation, GOOD, JUDGED)
    assert found.low < found.value < found.high
    assert found.n == 5
