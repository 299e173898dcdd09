"""Time ProToM takes to infer and decide, and how much slower the obvious implementation is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np

from benchmarks.speed.timing import step_times
from otherminds.mind import GoalDirected, WithErrand
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State


class StepwiseAdvice(DoorsKeysGemsAdvice):
    """The same messages with the obvious forecast: minds run forward step by step, nothing cached."""

    def finish(self, state: State, minds: Sequence[GoalDirected[Action]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent is done: all minds run forward in the world, those with an errand on it first."""
        people: dict[str, GoalDirected[Action]] = {}
        for i, (agent, mind) in enumerate(zip(self.world.agents, minds, strict=True)):
            seeker = Seeker(self.planner, i, cast("Goal", mind.goal), beta=math.inf, lapse=0.0)
            errand = cast("Goal", mind.errand.goal) if isinstance(mind, WithErrand) else None
            people[agent] = WithErrand(seeker, replace(seeker, goal=errand)) if errand else seeker
        done = [horizon] * len(minds)
        rng = np.random.default_rng(0)
        steps = rollout(self.world, people, steps=horizon, rng=rng, state=state)
        for t, now in enumerate(chain([state], (step.after for step in steps))):
            achieved = [self.planner.achieved(now, i, cast("Goal", mind.goal)) for i, mind in enumerate(minds)]
            done = [min(end, t) if there else end for end, there in zip(done, achieved, strict=True)]
            if all(achieved):
                break
        return tuple(done)


def milliseconds(levels: Sequence[Level], *, warm: bool) -> list[float]:
    """The CPU time of every step on these levels; warm: with the plans of an episode played before."""
    times: list[float] = []
    for level in levels:
        entry, advice = PlannedEpisode(level, "protom", level.kind, 42), DoorsKeysGemsAdvice(level.world)
        if warm:
            list(DOORS_KEYS_GEMS.episode(entry, advice))
        times += step_times(DOORS_KEYS_GEMS.episode(entry, advice))
    return times


def pricing(level: Level, make: Callable[[Level], DoorsKeysGemsAdvice]) -> Callable[[], object]:
    """The first decision of an episode, from scratch, by the paper's rule."""

    def price() -> object:
        advice = make(level)
        watcher = DOORS_KEYS_GEMS.facilitator("protom_paper", level, advice)
        return watcher.decide(level.world.initial, level.horizon, np.random.default_rng(0)).utilities

    return price
