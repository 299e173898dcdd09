"""The value of help: success, speed-up, messages and goal inference, from the rows of facilitated episodes."""

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
class AssistanceOutcome:
    """One episode in figures. `length` is in steps: the horizon if not every agent succeeded."""

    condition: str
    subject: str
    episode: str
    success: bool
    length: int
    messages: int
    decision_ms: tuple[float, ...]


def outcomes(rows: Iterable[Row]) -> list[AssistanceOutcome]:
    """One outcome for every episode of every subject; the rows of an episode must be adjacent."""
    found = []
    for about, group in groupby(rows, key=lambda row: (row["condition"], row["subject"], row["episode"])):
        episode = list(group)
        advice = [row for row in episode if row["agent"] == FACILITATOR]
        messages = sum(bool(row["action"]) for row in advice)
        times = tuple(row["ms"] for row in advice if row["t"] > 0 and "ms" in row)
        found.append(AssistanceOutcome(*about, episode[-1]["success"], episode[-1]["length"], messages, times))
    return found


def speedup(outcome: AssistanceOutcome, without: AssistanceOutcome) -> float:
    """L₀ / L_f − 1: the relative gain in speed over the same episode without help (ProToM §4.3)."""
    return without.length / outcome.length - 1.0


def metrics(found: Sequence[AssistanceOutcome], without: Mapping[str, AssistanceOutcome]) -> dict[str, Estimate]:
    """Success, speed-up (mean of ratios, and ratio of means), messages and decision time (ms) of some episodes."""
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


def summarise(found: Sequence[AssistanceOutcome], baseline: str = "none", prefix: str = "") -> list[dict[str, Any]]:
    """Summary rows: the metrics of every subject, by condition and overall; `prefix` precedes every condition."""
    without = {o.episode: o for o in found if o.subject == baseline}
    table = []
    for condition in (prefix + OVERALL, *dict.fromkeys(o.condition for o in found)):
        for subject in dict.fromkeys(o.subject for o in found):
            chosen = [o for o in found if o.subject == subject and condition in (prefix + OVERALL, o.condition)]
            for metric, estimate in metrics(chosen, without).items():
                row = {"condition": condition, "subject": subject, "metric": metric}
                table.append({**row, **estimate._asdict()})
    return table


def share_of_speedup(found: Sequence[AssistanceOutcome], subject: str, best: str, baseline: str = "none") -> Estimate:
    """Σ speed-up of `subject` / Σ speed-up of `best`, over the same episodes."""
    by = {(o.subject, o.episode): o for o in found}
    names = [o.episode for o in found if o.subject == subject]
    ours, theirs = ([speedup(by[who, name], by[baseline, name]) for name in names] for who in (subject, best))
    return st.ratio(ours, theirs, names)


def compare(found: Sequence[AssistanceOutcome], subject: str, baseline: str = "none") -> list[Comparison]:
    """The paper's tests of one subject against all others, corrected as one family (§4.4), and paired differences."""
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


def _value(outcome: AssistanceOutcome, metric: str, without: Mapping[str, AssistanceOutcome]) -> float:
    if metric == "speedup":
        return speedup(outcome, without[outcome.episode])
    return float(outcome.success if metric == "success" else outcome.messages)


def brier(posterior: Mapping[str, float], truth: str) -> float:
    """Brier score Σ_g (p(g) − [g is true])²: 0 if certain and right, 2 if certain and wrong."""
    return sum((p - (goal == truth)) ** 2 for goal, p in posterior.items())


def quality(rows: Iterable[Row]) -> dict[str, Estimate]:
    """Probability of the true goal, share of steps at which it ranks first, Brier score and calibration error."""
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
    """Expected calibration error of the posterior over goals, clustered by episode."""
    told = [(p, goal == row["goal"], row["episode"]) for row in rows for goal, p in row["posterior"].items()]
    return st.miscalibration([p for p, *_ in told], [came for _, came, _ in told], [name for *_, name in told])
