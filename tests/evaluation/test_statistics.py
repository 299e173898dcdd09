"""Means with intervals, and the papers' tests, against closed forms and textbook values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from otherminds.evaluation.statistics import (
    Estimate,
    benjamini_hochberg,
    fisher,
    mann_whitney,
    mean,
    paired,
    pearson,
    proportion,
    ratio,
    stratified,
    student,
    welch,
)

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
numbers = st.floats(-100, 100)


# Wilson


@pytest.mark.slow
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_proportion_has_the_wilson_interval(counts: tuple[int, int]) -> None:
    k, n = counts
    p = k / n
    centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    found = proportion([True] * k + [False] * (n - k))
    assert (found.value, found.n) == (p, n)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))


def test_the_wilson_interval_of_a_perfect_record_ends_at_one() -> None:
    assert proportion([True] * 20)[:] == pytest.approx((1.0, 0.83888, 1.0, 20), abs=1e-5)


# Student


def test_a_few_values_have_the_interval_of_students_t() -> None:
    found = student([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found[:] == pytest.approx((3.0, 3.0 - 1.963243, 3.0 + 1.963243, 5), abs=1e-5)  # 2.776445 · √(2.5 / 5)
    assert student([7.0]) == Estimate(7.0, 7.0, 7.0, 1)
    with pytest.raises(ValueError, match="nothing"):
        student([])


def test_differences_are_paired_by_episode() -> None:
    ours = {"a": 10.0, "b": 20.0, "c": 99.0}
    theirs = {"b": 21.0, "a": 9.0, "d": 5.0}
    assert paired(ours, theirs) == student([1.0, -1.0])
    assert paired(ours, {"a": 4.0, "b": 14.0, "c": 93.0}) == Estimate(6.0, 6.0, 6.0, 3)  # whatever the episodes are
    with pytest.raises(ValueError, match="nothing"):
        paired(ours, {"x": 1.0})


# Bootstrap


@pytest.mark.slow
@given(st.lists(numbers, min_size=1, max_size=12))
def test_a_mean_is_exact_and_within_its_interval(values: list[float]) -> None:
    found = mean(values)
    assert found.value == pytest.approx(sum(values) / len(values), abs=1e-9)
    assert min(values) - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= max(values) + 1e-9
    assert found.n == len(values)


def test_a_ratio_is_one_of_sums_and_not_a_mean_of_ratios() -> None:
    assert ratio([1.0, 3.0], [1.0, 1.0]).value == 2.0
    assert ratio([80.0, 20.0], [20.0, 20.0]).value == 2.5
    assert ratio([80.0, 20.0], [20.0, 60.0]).value == 1.25


def test_the_same_values_have_the_same_interval_every_time() -> None:
    values = [0.5, 2.0, 3.25, 8.0]
    assert mean(values) == mean(values)
    assert ratio(values, [1.0, 2.0, 3.0, 4.0]) == ratio(values, [1.0, 2.0, 3.0, 4.0])


@pytest.mark.slow
def test_the_interval_is_near_the_normal_one_for_many_values() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, 400)
    found = mean(values.tolist())
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert found.low == pytest.approx(found.value - Z * error, abs=0.1 * error)
    assert found.high == pytest.approx(found.value + Z * error, abs=0.1 * error)


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    samples = [mean(rng.exponential(1.0, 40).tolist()) for _ in range(200)]
    assert 0.88 <= sum(found.low <= 1.0 <= found.high for found in samples) / 200 <= 0.98


@pytest.mark.slow
@given(st.lists(numbers, min_size=2, max_size=6), st.integers(2, 5))
def test_rows_repeated_inside_clusters_add_no_certainty(values: list[float], times: int) -> None:
    names = [f"episode {i}" for i in range(len(values))]
    once, often = mean(values, names), mean(values * times, names * times)
    assert often.n == len(values)
    assert often[:3] == pytest.approx(once[:3], abs=1e-9)


def test_the_same_rows_without_clusters_would_look_more_certain() -> None:
    values = [0.0, 1.0, 2.0, 5.0] * 25
    clustered, single = mean(values, ["a", "b", "c", "d"] * 25), mean(values)
    assert clustered.value == single.value == 2.0
    assert clustered.high - clustered.low > 3 * (single.high - single.low)


def test_clusters_count_by_their_rows() -> None:
    found = mean([0.0, 0.0, 0.0, 4.0], ["long", "long", "long", "short"])
    assert found == Estimate(1.0, 0.0, 4.0, 2)


def test_rows_of_a_cluster_need_not_stand_together() -> None:
    apart = mean([1.0, 5.0, 2.0, 7.0], ["a", "b", "a", "b"])
    assert apart == mean([1.0, 2.0, 5.0, 7.0], ["a", "a", "b", "b"])


@pytest.mark.parametrize("values", [[3.0], [1.0, 5.0]])
def test_a_single_cluster_has_no_width(values: list[float]) -> None:
    assert mean(values, ["only"] * len(values)) == Estimate(3.0, 3.0, 3.0, 1)


def test_a_ratio_whose_denominator_may_vanish_still_has_an_interval() -> None:
    found = ratio([0.5, 0.0], [1.0, 0.0])
    assert found.value == 0.5
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)


# Tests


def test_the_lady_tasting_tea() -> None:
    assert fisher([True] * 3 + [False], [True] + [False] * 3) == pytest.approx(34 / 70)
    assert fisher([True] * 4, [False] * 4) == pytest.approx(2 / 70)
    assert fisher([True] * 4, [True] * 4) == 1.0


@pytest.mark.parametrize(
    ("ours", "theirs", "p"),
    [
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 2 / 20),  # U = 0, one of C(6, 3) orders, two-sided
        ([1.0, 3.0, 5.0], [2.0, 4.0, 6.0], 14 / 20),  # U = 3: seven orders have U ≤ 3
        ([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0], 0.133614),  # ties: U = 3, μ = 8, σ = 3, z = (5 − ½) / 3
    ],
)
def test_mann_whitney_by_hand(ours: Sequence[float], theirs: Sequence[float], p: float) -> None:
    assert mann_whitney(ours, theirs) == pytest.approx(p, abs=1e-6)
    assert mann_whitney(theirs, ours) == pytest.approx(p, abs=1e-6)


def test_groups_that_are_all_the_same_do_not_differ() -> None:
    assert mann_whitney([2.0] * 5, [2.0] * 7) == 1.0


def test_benjamini_hochberg_by_hand() -> None:
    # in order: .01 · 4/1, .03 · 4/2, .04 · 4/3, .5 · 4/4, each no larger than the next
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert benjamini_hochberg([0.2]) == [0.2]
    assert benjamini_hochberg([]) == []


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_correction_never_makes_a_p_value_smaller_and_keeps_their_order(p_values: list[float]) -> None:
    corrected = benjamini_hochberg(p_values)
    assert all(p <= q + 1e-12 and q <= 1.0 for p, q in zip(p_values, corrected, strict=True))
    ranked = [q for _, q in sorted(zip(p_values, corrected, strict=True))]
    assert ranked == sorted(ranked)


# Correlation


def test_pearson_by_hand() -> None:
    assert pearson([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]) == pytest.approx(0.5)
    assert pearson([1.0, 2.0, 3.0], [-2.0, -4.0, -6.0]) == pytest.approx(-1.0)


@pytest.mark.parametrize(("x", "y"), [([1.0, 1.0], [1.0, 2.0]), ([1.0, 2.0], [3.0, 3.0]), ([], []), ([1.0], [1.0])])
def test_nothing_correlates_with_what_does_not_vary(x: list[float], y: list[float]) -> None:
    assert math.isnan(pearson(x, y))


def test_strata_weigh_the_same_however_many_values_they_have() -> None:
    found = stratified([1.0, 2.0, 3.0, 10.0], ["a", "a", "a", "b"])
    assert found.value == pytest.approx(6.0)
    assert found.n == 4
    # V = (1 / 3 + 0) / 2², since a single value leaves nothing to chance
    assert found.high - found.low == pytest.approx(2 * 1.959964 * (1 / 3) ** 0.5 / 2, rel=1e-6)


def test_what_lies_between_strata_is_not_chance() -> None:
    found = stratified([0.0, 0.0, 5.0, 5.0], ["a", "a", "b", "b"])
    assert (found.low, found.value, found.high) == (2.5, 2.5, 2.5)


def test_stratified_intervals_cover() -> None:
    rng = np.random.default_rng(5)
    draws = [rng.normal([0.0] * 10 + [4.0] * 10) for _ in range(400)]
    strata = ["a"] * 10 + ["b"] * 10
    covered = [(e := stratified(list(draw), strata)).low <= 2.0 <= e.high for draw in draws]
    assert 0.9 <= sum(covered) / 400 <= 0.99


# Welch


groups = st.lists(numbers, min_size=2, max_size=5).filter(lambda values: np.ptp(values) > 1e-3)


@pytest.mark.slow
@given(groups, groups, st.sampled_from([0.9, 0.95, 0.975]))
def test_two_strata_have_half_the_interval_of_welchs_test(a: list[float], b: list[float], level: float) -> None:
    # a sum of independent means has the variance and the degrees of freedom of their difference
    interval = scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval(level)
    half = (interval.high - interval.low) / 4.0
    middle = (np.mean(a) + np.mean(b)) / 2.0
    assert welch([a, b], level) == pytest.approx((middle, middle - half, middle + half, len(a) + len(b)))


def test_strata_that_do_not_vary_add_nothing_to_the_interval() -> None:
    single = student([1.0, 2.0, 4.0])
    estimate = welch([[1.0, 2.0, 4.0], [7.0, 7.0, 7.0], [5.0]])
    assert estimate.value == pytest.approx((single.value + 12.0) / 3.0)
    assert estimate.high - estimate.low == pytest.approx((single.high - single.low) / 3.0)
    assert welch([[1.0, 1.0], [3.0]]) == Estimate(2.0, 2.0, 2.0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("level", [0.95, 0.975])
def test_welch_intervals_cover(size: int, level: float) -> None:
    rng = np.random.default_rng(size)
    means, spreads, draws = np.arange(10.0), np.array([0.0] * 4 + [0.1, 0.2, 0.5, 1.0, 1.0, 2.0]), 1000
    samples = rng.normal(means[:, None], spreads[:, None], size=(draws, 10, size))
    estimates = [welch(sample.tolist(), level) for sample in samples]
    covered = np.mean([estimate.low <= means.mean() <= estimate.high for estimate in estimates])
    assert covered == pytest.approx(level, abs=0.025)  # three standard errors are 0.02
