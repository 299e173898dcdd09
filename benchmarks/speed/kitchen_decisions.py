"""Time ProToM takes to infer and decide in kitchens, and how much slower the obvious implementation is."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from benchmarks.speed.timing import step_times
from otherminds.mind import GoalDirected, WithErrand, own_mind
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import Cook
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.planner import Advice
from otherminds.worlds.overcooked.rules import State


class StepwiseKitchenAdvice(OvercookedAdvice):
    """The same messages with the obvious forecast: minds run forward step by step, nothing cached."""

    def finish(self, state: State, minds: Sequence[GoalDirected[str]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent is done: all minds run forward in the world, those with an errand on it first."""
        people: list[GoalDirected[str]] = []
        for mind in minds:
            cook = replace(cast("Cook", own_mind(mind)), beta=math.inf, lapse=0.0)
            errand = cast("Advice", mind.errand.goal) if isinstance(mind, WithErrand) else None
            people.append(WithErrand(cook, self.errand(state, errand, cook)) if errand else cook)
        done = [horizon] * len(people)
        for t in range(horizon):
            done = [min(steps, t) if mind.reached else steps for steps, mind in zip(done, people, strict=True)]
            if all(mind.reached for mind in people):
                break
            state = self.world.advance(state, [cast("Cook", mind).act().mode for mind in people])
            views = [self.world.observe(state, agent) for agent in self.world.agents]
            people = [mind.observe(view) for mind, view in zip(people, views, strict=True)]
        return tuple(done)


def milliseconds(levels: Sequence[KitchenLevel], subject: str) -> list[float]:
    """The CPU time of every step in these kitchens, each planned from scratch."""
    times: list[float] = []
    for level in levels:
        gc.collect()  # to free the plans of the kitchen before is no cost of this one
        times += step_times(OVERCOOKED.episode(PlannedEpisode(level, subject, level.kind, 42)))
    return times


def pricing(level: KitchenLevel, make: Callable[[KitchenLevel], OvercookedAdvice]) -> Callable[[], object]:
    """The first decision of an episode, from scratch, by the paper's rule."""

    def price() -> object:
        watcher = OVERCOOKED.facilitator("protom_paper", level, make(level))
        return watcher.decide(level.world.initial, level.horizon, np.random.default_rng(0)).utilities

    return price
