"""Correlations of the models' predictions with people's judgements, for scenarios and for groups of scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.statistics import Estimate, exact, summary_row
from otherminds.papers.food_trucks.clone import Judgement, Scenario
from otherminds.papers.food_trucks.models import JOINT, MOTION, NO_COST, TRUE_BELIEF, Collected, Predictions, Setting
from otherminds.worlds.food_trucks.agent import BETA
from otherminds.worlds.food_trucks.level_files import FoodTruckLevel, draw_text
from otherminds.worlds.food_trucks.rules import EAT

Floats = NDArray[np.float64]

EXPERIMENT = "food-trucks"
SCENARIOS, ALL, GROUPS, HALVES, BEST = "scenarios", "with_irrational", "groups", "half_split", "tuning/best_beta"
SWEEP, HALF, WALKS = "tuning/beta_", "tuning/half_", "walks/"
RESAMPLES = 2000  # of the bootstrap; chosen, not tuned
METRICS = ("desire_r", "belief_r")
ERRORS = ("desire_rmse", "belief_rmse")


class Pairs(NamedTuple):
    """Desires and beliefs as arrays of shape (units, 3): those of people, and those of a model."""

    people: Judgement
    model: Judgement

    @classmethod
    def of(cls, people: Sequence[Judgement], model: Sequence[Judgement]) -> Pairs:
        """The judgements of the same units in the same order."""
        return cls(
            *(Judgement(*(np.array(column) for column in zip(*those, strict=True))) for those in (people, model))
        )

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """r of desires and of beliefs over all three numbers of all units, with bootstrap intervals over units."""
        for metric, people, model in zip(METRICS, self.people, self.model, strict=True):
            yield metric, correlation(model, people)

    @property
    def total(self) -> float:
        """The criterion by which β is chosen: the sum of both correlations."""
        return sum(float(_pearson(_sums(*two).sum(axis=0))) for two in zip(self.model, self.people, strict=True))


def correlation(ours: Floats, theirs: Floats) -> Estimate:
    """Pearson's r over all numbers of two arrays (units, numbers) and its percentile bootstrap interval over units."""
    sums = _sums(ours, theirs)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(len(ours), np.full(len(ours), 1.0 / len(ours)), size=RESAMPLES)
    draws = _pearson(counts @ sums)
    draws = draws[np.isfinite(draws)]
    low, high = np.quantile(draws, [0.025, 0.975]).tolist() if len(draws) else (np.nan, np.nan)
    return Estimate(float(_pearson(sums.sum(axis=0))), float(low), float(high), len(ours))


def _sums(ours: Floats, theirs: Floats) -> Floats:
    """What r needs of each unit, shape (units, 6): the number of pairs, and sums of values, squares and products."""
    columns = (np.ones_like(ours), ours, theirs, ours * ours, theirs * theirs, ours * theirs)
    return np.array([column.sum(axis=1) for column in columns]).T


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))


# Groups


class Group(NamedTuple):
    """Whether the agent looked at the hidden spot from where all of it is visible, where it ate, and what is parked."""

    looked: bool
    ate: str
    parked: str

    @property
    def words(self) -> str:
        """As in `looked, ate Korean, nothing parked`."""
        ate = f"ate {self.ate}" if self.ate else "on its way"
        return f"{'looked' if self.looked else 'did not look'}, {ate}, {self.parked} parked"


def group(level: FoodTruckLevel) -> Group:
    """The group of a scenario: rational ones fall into seven."""
    world = level.world
    looked = any(world.visibility[cell] == 1.0 for cell in level.cells)
    ate = (world.truck(level.cells[-1], level.parked) or "") if level.actions[-1] == EAT else ""
    return Group(looked, ate, level.parked)


def grouped(scenarios: Sequence[Scenario], judgements: Sequence[Judgement]) -> list[Judgement]:
    """The mean judgements of each group of scenarios, in the order of their first scenarios."""
    groups: dict[Group, list[Judgement]] = {}
    for scenario, judgement in zip(scenarios, judgements, strict=True):
        groups.setdefault(group(scenario.level), []).append(judgement)
    return [Judgement(*np.mean(np.array(those), axis=0)) for those in groups.values()]


# The summary


def summarise(scenarios: Sequence[Scenario], skipped: int, predictions: Predictions) -> list[dict[str, Any]]:
    """Correlations by condition and model.

    `scenarios` leaves out those that the authors call irrational, as the paper does, `with_irrational` does not;
    `groups` are means over groups of the former, `tuning/beta_…` the whole sweep on them. `tuning/best_beta` has the β
    with the largest sum of both correlations, `half_split` predictions of each half of the scenarios with the β that
    is best for the other half. A correlation with predictions that do not vary is left out.
    """
    rational = [k for k, scenario in enumerate(scenarios) if not scenario.irrational]
    people = [scenario.people for scenario in scenarios]
    rational_scenarios = [scenarios[k] for k in rational]

    def pairs(setting: Setting, which: Sequence[int]) -> Pairs:
        return Pairs.of([people[k] for k in which], [predictions[setting][k] for k in which])

    def best(model: str, which: Sequence[int]) -> Setting:
        return max((s for s in predictions if s.model == model), key=lambda s: pairs(s, which).total)

    table = [summary_row(EXPERIMENT, "data", "people", "skipped", exact(float(skipped), skipped + len(scenarios)))]

    def add(condition: str, model: str, paired: Pairs) -> None:
        estimates = [(metric, s) for metric, s in paired.estimates() if np.isfinite(s).all()]
        table.extend(summary_row(EXPERIMENT, condition, model, metric, s) for metric, s in estimates)

    defaults = [setting for setting in predictions if setting.beta in (0.0, BETA)]
    for condition, which in ((SCENARIOS, rational), (ALL, range(len(scenarios)))):
        for setting in defaults:
            add(condition, setting.model, pairs(setting, which))
    for setting in defaults:
        ours = [predictions[setting][k] for k in rational]
        means = (
            grouped(rational_scenarios, [scenario.people for scenario in rational_scenarios]),
            grouped(rational_scenarios, ours),
        )
        add(GROUPS, setting.model, Pairs.of(*means))
    walks = product(_walks(scenarios, rational).items(), (s for s in defaults if s.model in (JOINT, MOTION)))
    table += [row for (walk, which), s in walks for row in _errors(walk, s.model, pairs(s, which))]
    for model in (JOINT, TRUE_BELIEF, NO_COST):
        best_setting = best(model, rational)
        table.append(summary_row(EXPERIMENT, BEST, model, "beta", exact(best_setting.beta, len(rational))))
        add(BEST, model, pairs(best_setting, rational))
        for setting in (setting for setting in predictions if setting.model == model):
            add(f"{SWEEP}{setting.beta:g}", model, pairs(setting, rational))
    halves = rational[::2], rational[1::2]
    crossed = {k: best(JOINT, other_half) for half, other_half in (halves, halves[::-1]) for k in half}
    add(HALVES, JOINT, Pairs.of([people[k] for k in crossed], [predictions[crossed[k]][k] for k in crossed]))
    for number, half in enumerate(halves, 1):
        beta = exact(crossed[half[0]].beta, len(half))
        table.append(summary_row(EXPERIMENT, f"{HALF}{number}", JOINT, "beta", beta))
    return table


def _walks(scenarios: Sequence[Scenario], which: Sequence[int]) -> dict[str, list[int]]:
    """The scenarios of each kind of walk: whether the agent looked, where it ate, and what is parked."""
    kinds: dict[str, list[int]] = {}
    for k in which:
        kinds.setdefault(group(scenarios[k].level).words, []).append(k)
    return kinds


def _errors(walk: str, model: str, paired: Pairs) -> Iterator[dict[str, Any]]:
    """The root mean squared error of a model's desires and beliefs over the scenarios of a kind of walk."""
    for metric, people, ours in zip(ERRORS, paired.people, paired.model, strict=True):
        rmse = float(np.sqrt(np.mean((ours - people) ** 2)))
        yield summary_row(EXPERIMENT, f"{WALKS}{walk}", model, metric, exact(rmse, len(people)))


# Rows


def rows(scenarios: Sequence[Scenario], collected: Collected) -> Iterator[dict[str, Any]]:
    """Joint inference before the first action of every walk and after each one; the other models at its end only.

    The last row of a walk has what people judged, the first one of joint inference the level.
    """
    for setting, predictions in collected.final.items():
        if setting.beta not in (0.0, BETA):
            continue
        for k, scenario in enumerate(scenarios):
            along = collected.along[k] if setting.model == JOINT else [predictions[k]]
            steps = len(scenario.level.actions)
            for t, judgement in enumerate(along, steps + 1 - len(along)):
                yield {
                    "schema": 1,
                    "experiment": EXPERIMENT,
                    "condition": "irrational" if scenario.irrational else "rational",
                    "subject": setting.model,
                    "episode": scenario.name,
                    "t": t,
                    "beta": setting.beta,
                    "group": group(scenario.level).words,
                    **({"level": draw_text(scenario.level)} if t == 0 else {}),
                    **_named(scenario.level, judgement),
                    **(_named(scenario.level, scenario.people, "people_") if t == steps else {}),
                }


def _named(level: FoodTruckLevel, judgement: Judgement, prefix: str = "") -> dict[str, dict[str, float]]:
    names = level.world.trucks, level.world.contents
    parts = zip(("desire", "belief"), names, judgement, strict=True)
    return {f"{prefix}{what}": dict(zip(those, values.tolist(), strict=True)) for what, those, values in parts}
