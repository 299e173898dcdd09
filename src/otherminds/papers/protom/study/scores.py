"""The figures and tests of a study (ProToM §4.5, figure 6), from the rows of any export."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otherminds.evaluation import statistics as st
from otherminds.evaluation.assistance import OVERALL, outcomes
from otherminds.evaluation.statistics import Comparison, Estimate, summary_row
from otherminds.papers.protom.experiment import SUBJECTS
from otherminds.papers.protom.study.export import ASPECTS, EXPERIMENT, Row, finished_trials, statuses, trials
from otherminds.papers.protom.study.plan import NOBODY

PROTOM = "protom"
FIGURES = ("success", "speedup", "messages", "ignored")
METRICS = (*FIGURES, *ASPECTS)
MEASURED = (*FIGURES, "decision_ms", *ASPECTS)
COMPARED = ("success", "speedup", "messages", *ASPECTS)


@dataclass(frozen=True)
class TrialResult:
    """A trial that came to its end, and its values for each metric.

    There is at most one value, but one per rating, and one per decision for `decision_ms`; no `speedup` if no pair
    played its level without a facilitator.
    """

    condition: str
    subject: str
    episode: str
    pair: str
    values: Mapping[str, Sequence[float]]


def results(rows: Sequence[Row]) -> list[TrialResult]:
    """The result of every trial that came to its end.

    The speed-up of a trial is L₀ / L − 1, where L₀ is the mean length of all trials of its level without a facilitator:
    people play a level only once, so no trial has a counterpart.
    """
    ended = finished_trials(rows)
    finished = list(zip(outcomes(ended), trials(ended), strict=True))
    alone: dict[str, list[float]] = {}
    for outcome, trial in finished:
        if outcome.subject == NOBODY:
            alone.setdefault(trial[-1]["level"], []).append(outcome.length)
    results = []
    for outcome, trial in finished:
        last = trial[-1]
        ratings = (last.get("ratings") or {}).values()
        lengths = alone.get(last["level"])
        fates = [status for by_message in statuses(trial) for status in by_message.values()]
        values: dict[str, Sequence[float]] = {
            "success": [float(outcome.success)],
            "speedup": [float(np.mean(lengths)) / outcome.length - 1] if lengths else [],
            "messages": [float(outcome.messages)],
            "ignored": [float(fates.count("ignored"))],
            "decision_ms": () if outcome.subject == NOBODY else outcome.decision_ms,
            **{aspect: [rating[aspect] for rating in ratings if aspect in rating] for aspect in ASPECTS},
        }
        results.append(TrialResult(outcome.condition, outcome.subject, outcome.episode, str(last["pair"]), values))
    return results


def in_order(subjects: Iterable[str]) -> list[str]:
    """Each facilitator once: the usual ones in their order, then others by name."""
    distinct = set(subjects)
    return [s for s in SUBJECTS if s in distinct] + sorted(distinct - set(SUBJECTS))


def summarise(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The metrics of each facilitator over all levels and by class, with 95 % intervals clustered by pair.

    `ignored` is a total over the number of trials in the metric `trials`.
    """
    trial_results = results(rows)
    table = []
    for condition in (OVERALL, *dict.fromkeys(r.condition for r in trial_results)):
        for subject in in_order(r.subject for r in trial_results):
            selected = [r for r in trial_results if r.subject == subject and condition in (OVERALL, r.condition)]
            table += [summary_row(EXPERIMENT, condition, subject, metric, e) for metric, e in metrics(selected).items()]
    return table


def metrics(trial_results: Sequence[TrialResult]) -> dict[str, Estimate]:
    """The metrics with at least one value in these trials; n counts pairs."""
    estimates = {}
    for metric in MEASURED:
        values = _all_values(trial_results, metric)
        pairs = [r.pair for r in trial_results for _ in r.values[metric]]
        if metric == "success" and len(set(values)) == 1:
            # resampling equal values gives no interval; Wilson's formula does, and pairs are independent
            estimates[metric] = st.proportion([bool(values[0])] * len(set(pairs)))
        elif values:
            estimates[metric] = st.mean(values, pairs)
        if metric == "ignored" and values:
            value, low, high = (len(values) * x for x in estimates[metric][:3])
            estimates[metric] = Estimate(value, low, high, estimates[metric].n)
    messages = _all_values(trial_results, "messages")
    if any(messages):
        estimates["ignored_share"] = st.ratio(
            _all_values(trial_results, "ignored"), messages, [r.pair for r in trial_results]
        )
    if trial_results:
        n = float(len(trial_results))
        estimates["trials"] = Estimate(n, n, n, len({r.pair for r in trial_results}))
    return estimates


def _all_values(trial_results: Sequence[TrialResult], metric: str) -> list[float]:
    return [x for r in trial_results for x in r.values[metric]]


# Tests


def compare(rows: Sequence[Row], subject: str = PROTOM) -> list[Comparison]:
    """The paper's tests of one facilitator against each other, corrected as one family, and differences within pairs.

    Against trials without a facilitator, only success and speed-up are compared. Empty if `subject` has no trials.
    """
    trial_results = results(rows)
    ours = [r for r in trial_results if r.subject == subject]
    compared = []
    for rival in in_order(r.subject for r in trial_results if ours and r.subject != subject):
        theirs = [r for r in trial_results if r.subject == rival]
        for metric in COMPARED if rival != NOBODY else COMPARED[:2]:
            a, b = _all_values(ours, metric), _all_values(theirs, metric)
            if a and b:
                p = st.fisher([x > 0 for x in a], [x > 0 for x in b]) if metric == "success" else st.mann_whitney(a, b)
                test = "Fisher exact" if metric == "success" else "Mann–Whitney U"
                compared.append(Comparison(metric, rival, test, p, p, _within_pairs(ours, theirs, metric)))
    corrected = st.benjamini_hochberg([comparison.p for comparison in compared])
    return [c._replace(p_corrected=p) for c, p in zip(compared, corrected, strict=True)]


def _within_pairs(ours: Sequence[TrialResult], theirs: Sequence[TrialResult], metric: str) -> Estimate:
    """The mean over pairs of the difference between a pair's means; NaN if no pair has both."""
    gaps = []
    for pair in dict.fromkeys(r.pair for r in ours):
        a, b = (_all_values([r for r in group if r.pair == pair], metric) for group in (ours, theirs))
        if a and b:
            gaps.append(float(np.mean(a) - np.mean(b)))
    return st.mean(gaps) if gaps else Estimate(math.nan, math.nan, math.nan, 0)
