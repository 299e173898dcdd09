"""The figures and tests of a study (ProToM §4.5, figure 6), from the rows of any export."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from otherminds.evaluation import statistics as st
from otherminds.evaluation.assistance import FACILITATOR, OVERALL, AssistanceOutcome, outcomes
from otherminds.evaluation.statistics import Comparison, Estimate
from otherminds.papers.protom.experiment import SUBJECTS
from otherminds.papers.protom.study.export import ASPECTS, EXPERIMENT, Row, finished_trials, trials
from otherminds.papers.protom.study.plan import NOBODY

PROTOM = "protom"
FIGURES = ("success", "speedup", "messages", "ignored")
METRICS = (*FIGURES, *ASPECTS)
COMPARED = ("success", "speedup", "messages", *ASPECTS)


@dataclass(frozen=True)
class TrialResult:
    """A trial that came to its end; `speedup` is None if no pair played its level without a facilitator."""

    outcome: AssistanceOutcome
    pair: str
    level: str
    ignored: int
    speedup: float | None = None
    ratings: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """The facilitator."""
        return self.outcome.subject


def results(rows: Sequence[Row]) -> list[TrialResult]:
    """The result of every trial that came to its end.

    The speed-up of a trial is L₀ / L − 1, where L₀ is the mean length of all trials of its level without a facilitator:
    people play a level only once, so no trial has a counterpart.
    """
    ended = finished_trials(rows)
    found = list(zip(outcomes(ended), trials(ended), strict=True))
    alone: dict[str, list[float]] = {}
    for outcome, trial in found:
        if outcome.subject == NOBODY:
            alone.setdefault(trial[-1]["level"], []).append(outcome.length)
    results = []
    for outcome, trial in found:
        last = trial[-1]
        given, lengths = (last.get("ratings") or {}).values(), alone.get(last["level"])
        statuses = [row.get("status") for row in trial if row["agent"] == FACILITATOR] + [last.get("outcome")]
        results.append(
            TrialResult(
                outcome=outcome,
                pair=str(last["pair"]),
                level=last["level"],
                ignored=statuses.count("ignored"),
                speedup=float(np.mean(lengths)) / outcome.length - 1 if lengths else None,
                ratings={aspect: [rating[aspect] for rating in given if aspect in rating] for aspect in ASPECTS},
            )
        )
    return results


def in_order(subjects: Iterable[str]) -> list[str]:
    """Each facilitator once: the usual ones in their order, then others by name."""
    distinct = set(subjects)
    return [s for s in SUBJECTS if s in distinct] + sorted(distinct - set(SUBJECTS))


VALUES: Mapping[str, Callable[[TrialResult], Sequence[float]]] = {
    "success": lambda r: [float(r.outcome.success)],
    "speedup": lambda r: [] if r.speedup is None else [r.speedup],
    "messages": lambda r: [float(r.outcome.messages)],
    "ignored": lambda r: [float(r.ignored)],
    "decision_ms": lambda r: r.outcome.decision_ms if r.subject != NOBODY else (),
    "helpful": lambda r: r.ratings.get("helpful", ()),
    "appropriate": lambda r: r.ratings.get("appropriate", ()),
    "clear": lambda r: r.ratings.get("clear", ()),
    "understood": lambda r: r.ratings.get("understood", ()),
}
"""The values of each metric in one trial: at most one, but one per rating, and one per decision for `decision_ms`."""


def summarise(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The metrics of each facilitator over all levels and by class, with 95 % intervals clustered by pair.

    `ignored` is a total over the number of trials in the metric `trials`.
    """
    found = results(rows)
    table = []
    for condition in (OVERALL, *dict.fromkeys(r.outcome.condition for r in found)):
        for subject in in_order(r.subject for r in found):
            chosen = [r for r in found if r.subject == subject and condition in (OVERALL, r.outcome.condition)]
            about = {"experiment": EXPERIMENT, "condition": condition, "subject": subject}
            table += [{**about, "metric": metric, **e._asdict()} for metric, e in metrics(chosen).items()]
    return table


def metrics(found: Sequence[TrialResult]) -> dict[str, Estimate]:
    """The metrics with at least one value in these trials; n counts pairs."""
    estimates = {}
    for metric, values in VALUES.items():
        pairs = [r.pair for r in found for _ in values(r)]
        if pairs:
            estimates[metric] = _estimate(metric, [x for r in found for x in values(r)], pairs)
    said = [float(r.outcome.messages) for r in found]
    if any(said):
        estimates["ignored_share"] = st.ratio([float(r.ignored) for r in found], said, [r.pair for r in found])
    if found:
        n = float(len(found))
        estimates["trials"] = Estimate(n, n, n, len({r.pair for r in found}))
    return estimates


def _estimate(metric: str, values: Sequence[float], pairs: Sequence[str]) -> Estimate:
    if metric == "success" and len(set(values)) == 1:
        # resampling equal values gives no interval; Wilson's formula does, and pairs are independent
        return st.proportion([bool(values[0])] * len(set(pairs)))
    estimate = st.mean(values, pairs)
    if metric == "ignored":
        value, low, high = (len(values) * x for x in estimate[:3])
        return Estimate(value, low, high, estimate.n)
    return estimate


# Tests


def compare(rows: Sequence[Row], subject: str = PROTOM) -> list[Comparison]:
    """The paper's tests of one facilitator against each other, corrected as one family, and differences within pairs.

    Against trials without a facilitator, only success and speed-up are compared. Empty if `subject` has no trials.
    """
    found = results(rows)
    ours = [r for r in found if r.subject == subject]
    compared = []
    for other in in_order(r.subject for r in found if ours and r.subject != subject):
        theirs = [r for r in found if r.subject == other]
        for metric in COMPARED if other != NOBODY else COMPARED[:2]:
            a, b = ([x for r in group for x in VALUES[metric](r)] for group in (ours, theirs))
            if a and b:
                p = st.fisher([x > 0 for x in a], [x > 0 for x in b]) if metric == "success" else st.mann_whitney(a, b)
                test = "Fisher exact" if metric == "success" else "Mann–Whitney U"
                compared.append(Comparison(metric, other, test, p, p, _within_pairs(ours, theirs, metric)))
    corrected = st.benjamini_hochberg([comparison.p for comparison in compared])
    return [c._replace(p_corrected=p) for c, p in zip(compared, corrected, strict=True)]


def _within_pairs(ours: Sequence[TrialResult], theirs: Sequence[TrialResult], metric: str) -> Estimate:
    """The mean over pairs of the difference between a pair's means; NaN if no pair has both."""
    by_pair: list[dict[str, list[float]]] = [{}, {}]
    for values, group in zip(by_pair, (ours, theirs), strict=True):
        for r in group:
            if own := VALUES[metric](r):
                values.setdefault(r.pair, []).extend(own)
    a, b = by_pair
    both = [pair for pair in a if pair in b]
    if not both:
        return Estimate(math.nan, math.nan, math.nan, 0)
    return st.mean([float(np.mean(a[pair]) - np.mean(b[pair])) for pair in both])
