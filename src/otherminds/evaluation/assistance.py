"""The value of help: success, speed-up, messages and goal inference, from the rows of facilitated episodes."""

from __future__ import annotations

import math
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
    all_outcomes = []
    for key, group in groupby(rows, key=lambda row: (row["condition"], row["subject"], row["episode"])):
        episode = list(group)
        advice = [row for row in episode if row["agent"] == FACILITATOR]
        messages = sum(bool(row["action"]) for row in advice)
        times = tuple(row["ms"] for row in advice if row["t"] > 0 and "ms" in row)
        all_outcomes.append(AssistanceOutcome(*key, episode[-1]["success"], episode[-1]["length"], messages, times))
    return all_outcomes


def speedup(outcome: AssistanceOutcome, without: AssistanceOutcome) -> float:
    """L₀ / L_f − 1: the relative gain in speed over the same episode without help (ProToM §4.3)."""
    return without.length / outcome.length - 1.0


def metrics(episodes: Sequence[AssistanceOutcome], without: Mapping[str, AssistanceOutcome]) -> dict[str, Estimate]:
    """Success, speed-up (mean of ratios, and ratio of means), messages and decision time (ms) of some episodes.

    Where help is not needed, `needless` is the share of episodes with a message.
    """
    names = [o.episode for o in episodes]
    times = [(ms, o.episode) for o in episodes for ms in o.decision_ms]
    ratio = st.ratio([float(without[o.episode].length) for o in episodes], [float(o.length) for o in episodes], names)
    estimates = {
        "success": st.proportion([o.success for o in episodes]),
        "speedup": st.mean([speedup(o, without[o.episode]) for o in episodes], names),
        "speedup_ratio_of_means": Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1, ratio.n),
        "messages": st.mean([float(o.messages) for o in episodes], names),
    }
    if {o.condition.rpartition("/")[2] for o in episodes} == {"not_needed"}:
        estimates["needless"] = st.proportion([o.messages > 0 for o in episodes])
    if times:
        estimates["decision_ms"] = st.mean([ms for ms, _ in times], [name for _, name in times])
    return estimates


def summarise(episodes: Sequence[AssistanceOutcome], baseline: str = "none", prefix: str = "") -> list[dict[str, Any]]:
    """Summary rows: the metrics of every subject, by condition and overall; `prefix` precedes every condition."""
    without = {o.episode: o for o in episodes if o.subject == baseline}
    table = []
    for condition in (prefix + OVERALL, *dict.fromkeys(o.condition for o in episodes)):
        for subject in dict.fromkeys(o.subject for o in episodes):
            selected = [o for o in episodes if o.subject == subject and condition in (prefix + OVERALL, o.condition)]
            for metric, estimate in metrics(selected, without).items():
                table.append({"condition": condition, "subject": subject, "metric": metric, **estimate._asdict()})
    return table


def share_of_speedup(
    episodes: Sequence[AssistanceOutcome], subject: str, best: str, baseline: str = "none"
) -> Estimate:
    """Σ speed-up of `subject` / Σ speed-up of `best`, over the same episodes."""
    outcome_of = {(o.subject, o.episode): o for o in episodes}
    names = [o.episode for o in episodes if o.subject == subject]
    ours, theirs = (
        [speedup(outcome_of[helper, name], outcome_of[baseline, name]) for name in names] for helper in (subject, best)
    )
    return st.ratio(ours, theirs, names)


def compare(episodes: Sequence[AssistanceOutcome], subject: str, baseline: str = "none") -> list[Comparison]:
    """The paper's tests of one subject against all others, corrected as one family (§4.4), and paired differences."""
    without = {o.episode: o for o in episodes if o.subject == baseline}
    ours = {o.episode: o for o in episodes if o.subject == subject}
    results = []
    for rival in dict.fromkeys(o.subject for o in episodes if o.subject != subject):
        theirs = {o.episode: o for o in episodes if o.subject == rival}
        for metric in ("success", "speedup", "messages"):
            a, b = ([_value(group[name], metric, without) for name in ours] for group in (ours, theirs))
            p = st.fisher([x > 0 for x in a], [x > 0 for x in b]) if metric == "success" else st.mann_whitney(a, b)
            gap = st.mean([x - y for x, y in zip(a, b, strict=True)], list(ours))
            test = "Fisher exact" if metric == "success" else "Mann–Whitney U"
            results.append(Comparison(metric, rival, test, p, p, gap))
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
    rows_with_posterior = [row for row in rows if "posterior" in row]
    if not rows_with_posterior:
        return {}
    names = [row["episode"] for row in rows_with_posterior]
    return {
        "p_true": st.mean([row["p_true"] for row in rows_with_posterior], names),
        "top1": st.mean([float(row["predicted"] == row["goal"]) for row in rows_with_posterior], names),
        "brier": st.mean([brier(row["posterior"], row["goal"]) for row in rows_with_posterior], names),
        "calibration_error": calibration_error(rows_with_posterior),
    }


def calibration_error(rows: Sequence[Row]) -> Estimate:
    """Expected calibration error of the posterior over goals, clustered by episode."""
    forecasts = [(p, goal == row["goal"], row["episode"]) for row in rows for goal, p in row["posterior"].items()]
    return st.miscalibration(
        [p for p, *_ in forecasts], [is_true for _, is_true, _ in forecasts], [name for *_, name in forecasts]
    )


LAST_STEPS = 2
"""Steps before a friend has what it wants in which its goal is plain to see, so that stating it says little; chosen."""


def reasons(rows: Sequence[Row], without: Mapping[str, Row]) -> dict[str, Estimate]:
    """Whether the reasons of messages hold; {} if none was given. `without`: the last row of each episode without help.

    stated_goal_true: the share of stated goals that are true. stated_p: their mean probability as believed, and
    stated_calibration_error its distance from the share that is true, over ten bins. stated_share: of the messages
    sent more than LAST_STEPS steps before the first friend has what it wants, the share that states a goal.
    friend_right: the share of messages whose first friend really gains, and no other agent but the helper more, as
    forecast from the true minds; a message that is said to help the helper alone has it as first friend.
    stated_minus_realised: of episodes with one message, the mean of the expected saving minus what was saved: the
    episode's length without help minus its length, a failure counting as the horizon. slowed: if somebody is aimless,
    the share of episodes in which another one takes longer than without help.
    """
    cases_by_metric: dict[str, list[tuple[float, str]]] = {}
    confidence = list[tuple[float, bool, str]]()
    for name, group in groupby(rows, key=lambda row: row["episode"]):
        episode = list(group)
        goals = {(row["agent"], row["t"]): row["goal"] for row in episode if "goal" in row}
        last_row = episode[-1]
        row_alone = without[name]
        message_rows = [row for row in episode if row["agent"] == FACILITATOR and row.get("friends")]
        for row in message_rows:
            friend = row["friends"][0]
            stated = row.get("stated")
            if stated is not None:
                confidence.append((row["stated_p"], stated == goals[friend, row["t"]], name))
            if _steps(last_row, friend) - row["t"] > LAST_STEPS:
                cases_by_metric.setdefault("stated_share", []).append((float(stated is not None), name))
            cases_by_metric.setdefault("friend_right", []).append((float(_gains_most(friend, row)), name))
        if len(message_rows) == 1:
            realised = row_alone["length"] - last_row["length"]
            cases_by_metric.setdefault("stated_minus_realised", []).append((message_rows[0]["saves"] - realised, name))
        if "aimless" in last_row:
            purposeful = [agent for agent in last_row["finished"] if agent != last_row["aimless"]]
            later = [_steps(last_row, agent) > _steps(row_alone, agent) for agent in purposeful]
            cases_by_metric.setdefault("slowed", []).append((float(any(later)), name))
    metrics = {metric: st.mean(*zip(*cases, strict=True)) for metric, cases in cases_by_metric.items()}
    if confidence:
        p, true, names = zip(*confidence, strict=True)
        metrics["stated_goal_true"] = st.mean(true, names)
        metrics["stated_p"] = st.mean(p, names)
        metrics["stated_calibration_error"] = st.miscalibration(p, true, names)
    return metrics


def _steps(last: Row, agent: str) -> float:
    """The steps after which an agent has what it wants, ∞ if it does not get it."""
    steps = last["finished"][agent]
    return math.inf if steps is None else float(steps)


def _gains_most(friend: str, message: Row) -> bool:
    """Whether a message lets this agent gain, and no other but the helper more.

    `gains` of the message are the steps that each agent saves; its `action` begins with the helper: `bob: …`.
    """
    gains = message["gains"]
    helper = message["action"].partition(":")[0]
    return bool(gains[friend] > 0 and gains[friend] >= max(g for agent, g in gains.items() if agent != helper))
