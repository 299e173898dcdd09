"""Means with intervals, and the tests that the papers use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

RESAMPLES = 4000
"""Bootstrap resamples of an interval; chosen, not tuned."""
BINS = 10
"""Bins of equal width over [0, 1] for calibration, as is usual for the expected calibration error."""
OF_BINS = 1000
"""Bootstrap resamples of a calibration error; fewer, as each is a table of bins."""


class Estimate(NamedTuple):
    """A value, its 95 % interval, and the number of independent units it rests on."""

    value: float
    low: float
    high: float
    n: int


def exact(value: float, n: int) -> Estimate:
    """An estimate without width, for a value that was computed and not sampled."""
    return Estimate(value, value, value, n)


def summary_row(experiment: str, condition: str, subject: str, metric: str, estimate: Estimate) -> dict[str, Any]:
    """A row of the summary of an experiment."""
    about = {"experiment": experiment, "condition": condition, "subject": subject, "metric": metric}
    return about | estimate._asdict()


def proportion(successes: Sequence[bool]) -> Estimate:
    """A proportion with its Wilson score interval."""
    n, k = len(successes), sum(successes)
    interval = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
    return Estimate(k / n, float(interval.low), float(interval.high), n)


def mean(values: Sequence[float], clusters: Sequence[str] | None = None) -> Estimate:
    """A mean with its percentile bootstrap interval, resampling whole clusters (default: single values)."""
    return ratio(values, [1.0] * len(values), clusters)


def ratio(above: Sequence[float], below: Sequence[float], clusters: Sequence[str] | None = None) -> Estimate:
    """Σ above / Σ below with its percentile bootstrap interval, resampling whole clusters.

    Resamples with a denominator of 0 are left out. Raises ValueError if the denominator is 0.
    """
    names = list(clusters) if clusters is not None else [str(i) for i in range(len(above))]
    index = {name: i for i, name in enumerate(dict.fromkeys(names))}
    sums = np.zeros((2, len(index)))
    for name, a, b in zip(names, above, below, strict=True):
        sums[:, index[name]] += a, b
    if not sums[1].sum():
        raise ValueError("a ratio needs a denominator that is not 0")
    value = float(sums[0].sum() / sums[1].sum())
    if len(index) < 2:
        return Estimate(value, value, value, len(index))
    rng = np.random.default_rng(0)
    draws = rng.integers(len(index), size=(RESAMPLES, len(index)))
    over, under = sums[0][draws].sum(axis=1), sums[1][draws].sum(axis=1)
    low, high = np.quantile(over[under != 0] / under[under != 0], [0.025, 0.975])
    return Estimate(value, float(low), float(high), len(index))


def student(values: Sequence[float]) -> Estimate:
    """A mean with Student's t interval, for a few independent values; of a single one it has no width.

    Raises ValueError if there is none.
    """
    if not values:
        raise ValueError("there is nothing to average")
    n, value, margin = len(values), float(np.mean(values)), 0.0
    if n > 1:
        margin = float(scipy.stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return Estimate(value, value - margin, value + margin, n)


def paired(ours: Mapping[str, float], theirs: Mapping[str, float]) -> Estimate:
    """The mean difference, ours − theirs, over the episodes that both have, as `student`.

    Raises ValueError if they have none in common.
    """
    return student([value - theirs[name] for name, value in ours.items() if name in theirs])


def miscalibration(stated: Sequence[float], occurred: Sequence[bool], clusters: Sequence[str]) -> Estimate:
    """Expected calibration error Σ_bins |Σ (p − [came about])| / n over ten bins of the stated probability p.

    The interval is a percentile bootstrap that resamples whole clusters. Raises ValueError without data.
    """
    index = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(index), BINS, 2))
    for p, hit, name in zip(stated, occurred, clusters, strict=True):
        sums[index[name], min(int(p * BINS), BINS - 1)] += p - hit, 1
    if not len(sums):
        raise ValueError("there are no stated probabilities")
    rng = np.random.default_rng(0)
    draws = [sums[rng.integers(len(sums), size=len(sums))].sum(axis=0) for _ in range(OF_BINS)]
    low, high = np.quantile([_gap(draw) for draw in draws], [0.025, 0.975])
    return Estimate(_gap(sums.sum(axis=0)), float(low), float(high), len(sums))


def _gap(sums: NDArray[np.float64]) -> float:
    return float(np.abs(sums[:, 0]).sum() / sums[:, 1].sum())


class Comparison(NamedTuple):
    """Two groups on one metric: the p value of the paper's test, raw and corrected, and the mean difference.

    The difference is paired by level, with a bootstrap interval; the paper's tests ignore the pairing.
    """

    metric: str
    reference: str
    test: str
    p: float
    p_corrected: float
    difference: Estimate


def fisher(ours: Sequence[bool], theirs: Sequence[bool]) -> float:
    """The p value of Fisher's exact test on two groups of successes and failures."""
    table = np.array([[sum(group), len(group) - sum(group)] for group in (ours, theirs)])
    return float(scipy.stats.fisher_exact(table).pvalue)


def mann_whitney(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The p value of the two-sided Mann–Whitney U test; 1 if all values are the same."""
    if len({*ours, *theirs}) == 1:
        return 1.0
    return float(scipy.stats.mannwhitneyu(ours, theirs, alternative="two-sided").pvalue)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p values corrected for the false discovery rate over one family of comparisons."""
    corrected: NDArray[np.float64] = scipy.stats.false_discovery_control(p_values) if p_values else np.array([])
    return [float(p) for p in corrected]


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    """The correlation r; NaN if either side does not vary."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def stratified(values: Sequence[float], strata: Sequence[str]) -> Estimate:
    """The unweighted mean of the strata's means, with a normal 95 % interval.

    V = Σ_s σ²_s / (n_s S²) over S strata: the partners are fixed, episodes with each of them vary. A stratum with a
    single value contributes no variance.
    """
    groups: dict[str, list[float]] = {}
    for value, stratum in zip(values, strata, strict=True):
        groups.setdefault(stratum, []).append(value)
    value = float(np.mean([np.mean(group) for group in groups.values()]))
    variance = sum(np.var(group, ddof=1) / len(group) for group in groups.values() if len(group) > 1)
    margin = float(scipy.stats.norm.ppf(0.975) * np.sqrt(variance) / len(groups))
    return Estimate(value, value - margin, value + margin, len(values))


def welch(values_by_stratum: Sequence[Sequence[float]], level: float = 0.95) -> Estimate:
    """The unweighted mean of the strata's means, with the Welch–Satterthwaite interval, for few values in each stratum.

    V = Σ_s v_s with v_s = σ²_s / (n_s S²) over S strata, and V² / Σ_s v²_s / (n_s − 1) degrees of freedom. Strata that
    do not vary contribute nothing; if none varies, or each has a single value, the interval has no width.
    (Satterthwaite 1946.)
    """
    strata = [np.asarray(values, dtype=float) for values in values_by_stratum]
    value = float(np.mean([stratum.mean() for stratum in strata]))
    variances = np.array([np.var(s, ddof=1) / len(s) if len(s) > 1 else 0.0 for s in strata]) / len(strata) ** 2
    count, variance = sum(map(len, strata)), float(variances.sum())
    if variance <= 0.0:
        return Estimate(value, value, value, count)
    free = np.array([max(len(stratum) - 1, 1) for stratum in strata])
    degrees = variance**2 / float((variances**2 / free).sum())
    margin = float(scipy.stats.t.ppf(0.5 + level / 2.0, degrees)) * math.sqrt(variance)
    return Estimate(value, value - margin, value + margin, count)
