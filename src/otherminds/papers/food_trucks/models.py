"""What each model says people will judge: joint inference, two lesioned models, and a heuristic of motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.papers.food_trucks.clone import Judgement, Scenario
from otherminds.worlds.food_trucks.agent import BETA
from otherminds.worlds.food_trucks.inference import Hypotheses, JointInference
from otherminds.worlds.food_trucks.level_files import FoodTruckLevel
from otherminds.worlds.food_trucks.planner import FoodTruckPlanner
from otherminds.worlds.food_trucks.rules import EAT, STAY, FoodTrucks

Floats = NDArray[np.float64]

JOINT, EXACT, TRUE_BELIEF, NO_COST = "joint", "exact", "true_belief", "no_cost"
MOTION, AUTHORS = "motion", "authors"
BETAS = tuple(0.5 * n for n in range(1, 21))  # the published sweep


class Setting(NamedTuple):
    """A model with the rationality of its agents; a model without agents has 0."""

    model: str
    beta: float = BETA


class Task(NamedTuple):
    """The scenarios of one layout, and one of JOINT (which serves TRUE_BELIEF, too), EXACT and NO_COST."""

    scenarios: tuple[Scenario, ...]
    model: str


Predictions = Mapping[Setting, Sequence[Judgement]]
"""Predictions of every model for the same scenarios in the same order."""


class Collected(NamedTuple):
    """Predictions at the end of each walk, and those of joint inference with β = 2.5 along each walk."""

    final: Predictions
    along: Sequence[Sequence[Judgement]]


def tasks(scenarios: Sequence[Scenario]) -> list[Task]:
    """What is planned and inferred at once: the scenarios of each layout, for each way of planning."""
    layouts: dict[FoodTrucks, list[Scenario]] = {}
    for scenario in scenarios:
        layouts.setdefault(scenario.level.layout, []).append(scenario)
    return [Task(tuple(those), model) for those in layouts.values() for model in (JOINT, EXACT, NO_COST)]


def inferred(task: Task) -> list[tuple[int, Setting, list[Judgement]]]:
    """The number of each scenario, the setting, and the predictions along the walk, or at its end only.

    Agents whose moves are free do not discount either. (NoCost in Baker et al. 2017.)
    """
    layout = task.scenarios[0].level.layout
    free = task.model == NO_COST
    planner = FoodTruckPlanner(replace(layout, cost=0.0), discount=1.0) if free else FoodTruckPlanner(layout)
    hypotheses = Hypotheses(planner, faithful=task.model != EXACT)
    predictions = []
    for beta in (BETA,) if task.model == EXACT else BETAS:
        inference = JointInference(hypotheses, beta)
        for scenario in task.scenarios:
            number, level = scenario.number, scenario.level
            along = judged(inference, level)
            predictions.append((number, Setting(task.model, beta), along if beta == BETA else along[-1:]))
            if task.model == JOINT:
                truth = np.array([float(content == level.parked) for content in level.world.contents])
                desire = judged(inference, level, informed=True)[-1].desire
                predictions.append((number, Setting(TRUE_BELIEF, beta), [Judgement(desire, truth)]))
    return predictions


def judged(inference: JointInference, level: FoodTruckLevel, *, informed: bool = False) -> list[Judgement]:
    """What is inferred of a walk before its first action and after each one."""
    posteriors = inference.posteriors(level.parked, level.cells, level.actions, informed=informed)
    return [Judgement(inference.desire_level(p), inference.belief(p)) for p in posteriors]


def collected(
    parts: Iterable[list[tuple[int, Setting, list[Judgement]]]],
    scenarios: Sequence[Scenario],
    authors: Sequence[Judgement] | None,
) -> Collected:
    """The predictions of all models, those of the authors' own among them if there are any."""
    by_setting: dict[Setting, dict[int, list[Judgement]]] = {}
    for part in parts:
        for number, setting, along in part:
            by_setting.setdefault(setting, {})[number] = along
    numbers = [scenario.number for scenario in scenarios]
    order = (JOINT, EXACT, TRUE_BELIEF, NO_COST)
    settings = sorted(by_setting, key=lambda setting: (order.index(setting.model), setting.beta))
    table = {setting: [by_setting[setting][n][-1] for n in numbers] for setting in settings}
    table[Setting(MOTION, 0.0)] = motion_heuristic(scenarios)
    if authors is not None:
        table[Setting(AUTHORS)] = list(authors)
    return Collected(table, [by_setting[Setting(JOINT)][n] for n in numbers])


# A heuristic without minds


def cues(level: FoodTruckLevel) -> Floats:
    """Cues of the motion alone, and a constant.

    Whether the agent eats at the first spot, and at the other one; the largest part of the way to each spot that it has
    come, from 0 to 1; the share of actions that are not moves; whether a truck is parked at the other spot.
    """
    world, cells = level.world, level.cells

    def approach(spot: int) -> float:
        x, y = world.grid.xy(spot)
        distances = [abs(x - a) + abs(y - b) for a, b in map(world.grid.xy, cells)]
        return 1.0 - min(distances) / distances[0] if distances[0] else 1.0

    ate = bool(level.actions) and level.actions[-1] == EAT
    eats = [float(ate and cells[-1] == spot) for spot in (world.known_spot, world.hidden_spot)]
    idle = sum(action == STAY for action in level.actions) / max(1, len(level.actions))
    has_truck = float(world.truck(world.hidden_spot, level.parked) is not None)
    return np.array([1.0, *eats, approach(world.known_spot), approach(world.hidden_spot), idle, has_truck])


def motion_heuristic(scenarios: Sequence[Scenario]) -> list[Judgement]:
    """Linear regression of judgements on cues of motion; each scenario is predicted from those with another walk."""
    inputs = np.array([cues(scenario.level) for scenario in scenarios])
    judgements = np.array([[*scenario.people.desire, *scenario.people.belief] for scenario in scenarios])
    predictions = []
    for scenario, cues_of_walk in zip(scenarios, inputs, strict=True):
        training = [candidate.level.cells != scenario.level.cells for candidate in scenarios]
        weights, *_ = np.linalg.lstsq(inputs[training], judgements[training], rcond=None)
        predicted = cues_of_walk @ weights
        predictions.append(Judgement(predicted[:3], predicted[3:]))
    return predictions
