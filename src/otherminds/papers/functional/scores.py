"""The summary of repeated games: literal and functional scores of every subject, from rows; bounds, from the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from otherminds.evaluation.literal_functional import (
    expected_regret,
    interestingness,
    normalised,
    process_consistency,
    skill,
)
from otherminds.evaluation.statistics import Estimate, mean, stratified
from otherminds.evaluation.tasks import Task
from otherminds.papers.functional import models as functional_models
from otherminds.papers.functional.experiment import CELLS, EXPERIMENT, TABULAR, tasks
from otherminds.papers.functional.tables import MODELS
from otherminds.worlds.repeated_games.players.learners import RMax

Row = dict[str, Any]
Scores = Mapping[str, Estimate]
SAMPLED = ("machines", "machines_leave_one_out")


def assess(rows: Sequence[Row], machines: str = "") -> list[Row]:
    """One row for each condition, subject and metric, with a 95 % interval.

    `functional_regret` is against the paper's optimum (the reward rate) for the tabular subjects, as the figures they
    stand beside are, and against the exact optimum for all others; both are there under their own names, too.
    """
    found: dict[tuple[str, str], Scores] = {}
    for (condition, subject), chosen in _grouped(rows).items():
        found[condition, subject] = dict(_scores(tasks(condition, machines), condition, subject, chosen))
    for condition in dict.fromkeys(condition for condition, _ in found):
        every = tasks(condition, machines)
        found[condition, "task"] = {"interestingness": _exactly(interestingness(every), len(every))}
    for condition in CELLS:
        if (condition, "rmax") in found:
            for subject in TABULAR:
                found[condition, subject] = {**found.get((condition, subject), {}), **_enumerated(condition, subject)}
    return [
        {"experiment": EXPERIMENT, "condition": condition, "subject": subject, "metric": metric, **estimate._asdict()}
        for (condition, subject), scores in found.items()
        for metric, estimate in (*scores.items(), *_skills(condition, subject, found))
    ]


def _grouped(rows: Sequence[Row]) -> dict[tuple[str, str], list[list[Row]]]:
    """The episodes of every condition and subject."""
    episodes: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        episodes.setdefault((row["condition"], row["subject"], row["episode"]), []).append(row)
    found: dict[tuple[str, str], list[list[Row]]] = {}
    for (condition, subject, _), episode in episodes.items():
        found.setdefault((condition, subject), []).append(episode)
    return found


def _scores(
    chosen_tasks: Sequence[Task], condition: str, subject: str, episodes: Sequence[Sequence[Row]]
) -> Iterator[tuple[str, Estimate]]:
    own = [episode for episode in episodes if episode[-1]["policy"] == "own"]
    lasts = [episode[-1] for episode in own]
    names = [last["partner"] for last in lasts]
    mean_of = partial(_mean, subject.startswith(MODELS) or condition.split("/")[1] in SAMPLED)
    primary = "functional_regret_rate" if subject in TABULAR else "functional_regret"
    yield "functional_regret", mean_of([last[primary] for last in lasts], names)
    yield "functional_regret_exact", mean_of([last["functional_regret"] for last in lasts], names)
    for metric in ("functional_regret_rate", "tom_regret_paper", "tom_percent", "brier"):
        yield metric, mean_of([last[metric] for last in lasts], names)
    yield "consistency", mean_of([process_consistency(episode) for episode in own], names)
    if subject.startswith(MODELS):
        for metric, values in functional_models.of_replies(own):
            yield metric, mean_of(values, names)
    by_name = {task.partner.name: task for task in chosen_tasks}
    scaled = [normalised(by_name[name], last["functional_regret"]) for name, last in zip(names, lasts, strict=True)]
    yield "normalised_regret", mean_of(scaled, names)
    for policy in ("myopic", "model"):
        chosen = [episode[-1] for episode in episodes if episode[-1]["policy"] == policy]
        if chosen:
            values = [last["functional_regret"] for last in chosen]
            yield f"tom_regret_{policy}", mean_of(values, [last["partner"] for last in chosen])


def _mean(sampled: bool, values: Sequence[float], partners: Sequence[str]) -> Estimate:
    """Over partners who stand for others of their sort, a bootstrap of partners; elsewhere partners are given.

    What a language model does depends on the pairing more than on chance: its partners count as such.
    """
    return mean(values, partners) if sampled and len(set(partners)) > 1 else stratified(values, partners)


def _exactly(value: float, n: int) -> Estimate:
    """A value that was computed, not sampled."""
    return Estimate(value, value, value, n)


def _enumerated(condition: str, subject: str) -> Scores:
    """The tabular player's regret by following every branch of chance; not for RPS tit-for-tat, which has too many."""
    if condition == "rps/tft":
        return {}
    chosen = tasks(condition)[:1] if condition == "rps/single" else tasks(condition)  # all three of RPS are alike
    player = RMax.of(chosen[0].game, exact_ties=subject == "rmax_exact_ties")
    values = [expected_regret(task, player, optimum="rate") for task in chosen]
    return {"functional_regret_enumerated": _exactly(sum(values) / len(values), len(tasks(condition)))}


def _skills(condition: str, subject: str, found: Mapping[tuple[str, str], Scores]) -> Iterator[tuple[str, Estimate]]:
    """The share of the way from RMax to the Bayes bound, where there are both."""
    bound, reference = found.get((condition, "floor")), found.get((condition, "rmax"))
    own = found[condition, subject].get("functional_regret_exact")
    if bound is None or reference is None or own is None:
        return
    ends = {"bayes": bound["functional_regret"].value, "reference": reference["functional_regret_exact"].value}
    value, low, high = (skill(regret, **ends) for regret in (own.value, own.high, own.low))
    yield "skill", Estimate(value, low, high, own.n)
