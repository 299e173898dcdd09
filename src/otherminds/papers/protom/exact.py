"""Exact values of facilitators in small levels of Doors-Keys-Gems, beside the optimum.

Everything is an expectation over goals, of which every choice of different gems is equally probable, over ties between
people's best actions, and over whether they follow messages; nothing is sampled. A facilitator breaks its own ties by
the same random numbers at every decision.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation import statistics as st
from otherminds.evaluation.assistance import FACILITATOR
from otherminds.evaluation.statistics import summary_row
from otherminds.evaluation.store import Key, Row, first_columns
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.episodes import FacilitatedEpisode
from otherminds.papers.protom.facilitator import PaperProToM, ProToM
from otherminds.papers.protom.levels.level_sets import CLASSES
from otherminds.papers.protom.levels.maps import DESIGN
from otherminds.papers.protom.optimum import DIGITS, TIE, Belief, BestMessages, HiddenGoals, Optimum, People, Weights
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import State

EXPERIMENT = DOORS_KEYS_GEMS.experiment
COST = ProToM.cost  # of a message, in steps: what it costs ProToM
PREFIX = "robust/exact/"  # of conditions
OPTIMA = ("optimum", "optimum_told")  # the second one is told the goals
SUBJECTS = ("none", "protom_paper", "protom_traj", "protom_at_once", "protom", "oracle", *OPTIMA)
MOST_HISTORIES = 20_000  # histories that differ, of one facilitator in one level; chosen: about twenty seconds
# Of the thirty levels of the robust set with the least cells × 4^(keys + doors), those in which the search keeps to its
# limit and no facilitator met more than 4,000 histories: 50 seconds in all.
LEVELS = (
    *("not_needed-63", "not_needed-138", "useful-136", "not_needed-120", "not_needed-110", "not_needed-1"),
    *("necessary-78", "necessary-56", "not_needed-92", "useful-682", "useful-934", "useful-156", "not_needed-155"),
    *("useful-67", "necessary-167", "necessary-423", "not_needed-118", "not_needed-84", "not_needed-126"),
)
Goals = tuple[Goal, ...]
Case = tuple[str, ...]
"""A level, and what each agent wants."""


class Value(NamedTuple):
    """What people with certain goals can expect: steps, at most the horizon, messages, and P(all succeed)."""

    steps: float
    messages: float
    success: float


class Histories(NamedTuple):
    """Histories that are alike from here on, with the weights of what people may have in mind."""

    episode: FacilitatedEpisode[Any, Any, Any]
    state: State
    weights: Weights


def exact_values(process: HiddenGoals, facilitator: Any, prior: Belief, seed: int = 0) -> dict[Goals, Value]:
    """The value of a facilitator for all goals of the prior.

    All histories are followed step by step; those that leave the state, the facilitator and its messages under way
    alike are one. `FacilitatedEpisode` plays all but the people. Raises InputError beyond MOST_HISTORIES.
    """
    world, rng = process.world, np.random.default_rng(seed)
    begun = FacilitatedEpisode(world, {}, facilitator, process.advice, process.horizon, rng, rng)
    histories_now: dict[Hashable, Histories] = {None: Histories(begun, world.initial, Weights(float, prior))}
    p_of_goals, steps, messages, failed = (defaultdict[Goals, float](float) for _ in range(4))
    _add_by_goals(p_of_goals, dict(prior))
    histories = 0
    for t in range(1, process.horizon + 1):
        histories_after: dict[Hashable, Histories] = {}
        for before, state, weights in histories_now.values():
            _add_by_goals(steps, weights)
            for joint, (after, unfinished_weights) in process.act(state, weights.items()).items():
                episode = copy.copy(before)
                episode.under_way, episode.facilitator_rng = dict(before.under_way), np.random.default_rng(seed)
                episode.watch(dict(zip(world.agents, joint, strict=True)), after, t)
                message = episode.decide(after, t).message
                if message is not None:
                    episode.tell(message, after, t)
                    _add_by_goals(messages, unfinished_weights)
                    unfinished_weights = process.tell(unfinished_weights.items(), message)
                merge_key = (after, _memory(episode.facilitator), frozenset(episode.under_way.items()))
                total = histories_after.setdefault(merge_key, Histories(episode, after, Weights(float))).weights
                for people, w in unfinished_weights.items():
                    total[people] += w
        histories_now, histories = histories_after, histories + len(histories_after)
        if histories > MOST_HISTORIES:
            raise InputError(f"there are more than {MOST_HISTORIES:,} histories", hint="use a smaller map")
    for unfinished in histories_now.values():
        _add_by_goals(failed, unfinished.weights)
    return {g: Value(steps[g] / p, messages[g] / p, 1.0 - failed[g] / p) for g, p in p_of_goals.items()}


def _add_by_goals(total: defaultdict[Goals, float], weights: Mapping[People, float]) -> None:
    """Add weights to a total for each choice of goals."""
    for people, w in weights.items():
        total[tuple(person.goal for person in people)] += w


def _memory(facilitator: Any) -> Hashable:
    """All that decides what a facilitator will do at a step, up to rounding errors."""
    if not isinstance(facilitator, ProToM | PaperProToM):
        return cast("Hashable", facilitator)
    watched = [(o.minds, tuple(round(w, DIGITS) for w in o.weights)) for o in facilitator.watchers.values()]
    if isinstance(facilitator, ProToM):
        return tuple(watched), frozenset(facilitator.refusals.items()), facilitator.carried_out
    return tuple(watched), repr(facilitator.recent) if facilitator.gate == "traj" else ""


@dataclass(frozen=True)
class PlannedValue:
    """One facilitator in one level."""

    level: Level
    subject: str
    seed: int

    @property
    def key(self) -> Key:
        """Condition, subject and level."""
        return (f"{PREFIX}all", self.subject, self.level.name)


def plan(seed: int) -> list[PlannedValue]:
    """All small levels with all facilitators."""
    levels = [level for level in DESIGN.level_set("robust").levels() if level.name in LEVELS]
    return [PlannedValue(level, subject, seed) for level in levels for subject in SUBJECTS]


def values(entry: PlannedValue) -> dict[Goals, Value]:
    """The value of the entry's facilitator for all goals that people may have in its level."""
    level, advice = entry.level, DoorsKeysGemsAdvice(entry.level.world)
    process = HiddenGoals(advice, level.horizon)
    prior, search = process.prior(), BestMessages(process, COST)
    if entry.subject == "optimum":
        return exact_values(process, Optimum.initial(search, prior), prior, entry.seed)
    if entry.subject not in ("oracle", "optimum_told"):
        helper: Any = DOORS_KEYS_GEMS.facilitator(entry.subject, level, advice)
        return exact_values(process, helper, prior, entry.seed)
    by_goals: dict[Goals, Value] = {}
    for people, _ in prior:
        belief: Belief = ((people, 1.0),)
        helper = Optimum.initial(search, belief)
        if entry.subject == "oracle":
            world = replace(level.world, goals=tuple(person.goal.thing for person in people))
            helper = DOORS_KEYS_GEMS.facilitator("oracle", replace(level, world=world), advice)
        by_goals |= exact_values(process, helper, belief, entry.seed)
    return by_goals


def rows(entry: PlannedValue) -> list[Row]:
    """A row for each choice of goals, with what people can expect."""
    gems = entry.level.world.gems
    about = first_columns(EXPERIMENT, entry.key, entry.seed) | {"agent": FACILITATOR}
    return [
        {**about, "goals": [gems[goal.thing].colour for goal in goals], **value._asdict()}
        for goals, value in values(entry).items()
    ]


def summarise(rows: Sequence[Row]) -> list[Row]:
    """The metrics of every facilitator, for all goals and for those of each class; all choices of goals count alike.

    Goals are `not_needed` if no message is worth its cost even if the goals are known; others are `necessary` if it is
    not certain that all succeed without help, else `useful`. saved: steps. net: steps saved minus the cost of messages.
    regret: what the net lacks to that of the optimum, which is not negative over all goals of a level. Intervals are
    over levels.
    """
    results: dict[str, dict[Case, Value]] = {}
    for row in rows:
        value = Value(row["steps"], row["messages"], row["success"])
        results.setdefault(row["subject"], {})[row["episode"], *row["goals"]] = value
    alone, table = results["none"], list[Row]()
    nets = {subject: {case: _net(value, alone[case]) for case, value in by.items()} for subject, by in results.items()}
    kinds = {case: _kind(value, nets["optimum_told"][case]) for case, value in alone.items()}
    for kind in ("all", *CLASSES):
        cases = [case for case in alone if kind in ("all", kinds[case])]
        levels = [level for level, *_ in cases]
        for subject, by in results.items() if cases else ():
            net, best = ([nets[s][case] for case in cases] for s in (subject, "optimum"))
            metrics = {
                "saved": st.mean([alone[case].steps - by[case].steps for case in cases], levels),
                "messages": st.mean([by[case].messages for case in cases], levels),
                "net": st.mean(net, levels),
                "regret": st.mean([b - n for b, n in zip(best, net, strict=True)], levels),
                "goals": st.exact(len(cases), len(cases)),
            }
            table += [summary_row(EXPERIMENT, PREFIX + kind, subject, m, value) for m, value in metrics.items()]
    return table


def _net(value: Value, alone: Value) -> float:
    """Steps saved minus the cost of messages."""
    return alone.steps - value.steps - COST * value.messages


def _kind(alone: Value, saved_if_known: float) -> str:
    """The class of a choice of goals, from what happens without help and what is saved if the goals are known."""
    if saved_if_known <= TIE:
        return "not_needed"
    return "useful" if alone.success > 1.0 - TIE else "necessary"
