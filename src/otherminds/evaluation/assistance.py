"""What help was worth: success, speed-up and messages, from the rows of facilitated episodes alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from otherminds.evaluation import statistics as st
from otherminds.evaluation.statistics import Comparison, Estimate

Row = Mapping[str, Any]
FACILITATOR = "facilitator"
OVERALL = "all"


@dataclass(frozen=True)
class Outcome:
    """One episode in figures. Length counts steps, the horizon if not everybody succeeded."""

    condition: str
    subject: str
    episode: str
    success: bool
    length: int
    messages: int
    decision_ms: tuple[float, ...]


def outcomes(rows: Iterable[Row]) -> list[Outcome]:
    """One outcome for every episode of every subject; the rows of an episode stand together."""
    return [
        _outcome(list(group))
        for _, group in groupby(rows, key=lambda row: (row["condition"], row["subject"], row["episode"]))
    ]


def _outcome(rows: Sequence[Row]) -> Outcome:
    last, advice = rows[-1], [row for row in rows if row["agent"] == FACILITATOR]
    return Outcome(
        condition=last["condition"],
        subject=last["subject"],
        episode=last["episode"],
        success=last["success"],
        length=last["length"],
        messages=sum(bool(row["action"]) for row in advice),
        decision_ms=tuple(row["ms"] for row in advice if row["t"] > 0 and "ms" in row),
    )


def speedup(outcome: Outcome, without: Outcome) -> float:
    """L₀ / L_f − 1: how much faster the episode was than the same one without help (ProToM §4.3)."""
    return without.length / outcome.length - 1.0


def metrics(found: Sequence[Outcome], without: Mapping[str, Outcome]) -> dict[str, Estimate]:
    """Success, speed-up (mean of ratios, and ratio of means), messages and decision times of some episodes."""
    names = [o.episode for o in found]
    times = [(ms, o.episode) for o in found for ms in o.decision_ms]
    ratio = st.ratio([float(without[o.episode].length) for o in found], [float(o.length) for o in found], names)
    found_metrics = {
        "success": st.proportion([o.success for o in found]),
        "speedup": st.mean([speedup(o, without[o.episode]) for o in found], names),
        "speedup_ratio_of_means": Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1, ratio.n),
        "messages": st.mean([float(o.messages) for o in found], names),
    }
    if times:
        found_metrics["decision_ms"] = st.mean([ms for ms, _ in times], [name for _, name in times])
    return found_metrics


def summarise(found: Sequence[Outcome], baseline: str = "none", prefix: str = "") -> list[dict[str, Any]]:
    """The metrics of every subject, for each condition and for all together; `prefix` goes before all conditions."""
    without = {o.episode: o for o in found if o.subject == baseline}
    table = []
    for condition in (prefix + OVERALL, *dict.fromkeys(o.condition for o in found)):
        for subject in dict.fromkeys(o.subject for o in found):
            chosen = [o for o in found if o.subject == subject and condition in (prefix + OVERALL, o.condition)]
            for metric, estimate in metrics(chosen, without).items():
                row = {"condition": condition, "subject": subject, "metric": metric}
                table.append({**row, **estimate._asdict()})
    return table


def share_of_speedup(found: Sequence[Outcome], subject: str, best: str, baseline: str = "none") -> Estimate:
    """The speed-up of one subject as a share of another's: Σ speed-ups / Σ speed-ups, over the same episodes."""
    by = {(o.subject, o.episode): o for o in found}
    names = [o.episode for o in found if o.subject == subject]
    ours, theirs = ([speedup(by[who, name], by[baseline, name]) for name in names] for who in (subject, best))
    return st.ratio(ours, theirs, names)


def compare(found: Sequence[Outcome], subject: str, baseline: str = "none") -> list[Comparison]:
    """The paper's tests of one subject against all others, over one family (§4.4), and paired differences."""
    without = {o.episode: o for o in found if o.subject == baseline}
    ours = {o.episode: o for o in found if o.subject == subject}
    results = []
    for other in dict.fromkeys(o.subject for o in found if o.subject != subject):
        theirs = {o.episode: o for o in found if o.subject == other}
        for metric in ("success", "speedup", "messages"):
            a = [_value(ours[name], metric, without) for name in ours]
            b = [_value(theirs[name], metric, without) for name in ours]
            p = st.fisher([x > 0 for x in a], [x > 0 for x in b]) if metric == "success" else st.mann_whitney(a, b)
            gap = st.mean([x - y for x, y in zip(a, b, strict=True)], list(ours))
            test = "Fisher exact" if metric == "success" else "Mann–Whitney U"
            results.append(Comparison(metric, other, test, p, p, gap))
    corrected = st.benjamini_hochberg([result.p for result in results])
    return [result._replace(p_corrected=p) for result, p in zip(results, corrected, strict=True)]


def _value(outcome: Outcome, metric: str, without: Mapping[str, Outcome]) -> float:
    if metric == "speedup":
        return speedup(outcome, without[outcome.episode])
    return float(outcome.success if metric == "success" else outcome.messages)


def brier(posterior: Mapping[str, float], truth: str) -> float:
    """Σ_g (p(g) − [g is true])²: 0 for certainty of the truth, 2 for certainty of an error."""
    return sum((p - (goal == truth)) ** 2 for goal, p in posterior.items())


def quality(rows: Iterable[Row]) -> dict[str, Estimate]:
    """Mean probability of the true goal, share of steps at which it ranks first, and Brier score, per episode."""
    judged = [row for row in rows if "posterior" in row]
    if not judged:
        return {}
    names = [row["episode"] for row in judged]
    return {
        "p_true": st.mean([row["p_true"] for row in judged], names),
        "top1": st.mean([float(row["predicted"] == row["goal"]) for row in judged], names),
        "brier": st.mean([brier(row["posterior"], row["goal"]) for row in judged], names),
        "calibration_error": calibration_error(judged),
    }


def calibration_error(rows: Sequence[Row]) -> Estimate:
    """The gap between stated probability and frequency, over all goals, weighted by how often it was stated."""
    told = [(p, goal == row["goal"], row["episode"]) for row in rows for goal, p in row["posterior"].items()]
    return st.miscalibration([p for p, *_ in told], [came for _, came, _ in told], [name for *_, name in told])
