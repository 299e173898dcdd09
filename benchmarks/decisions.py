"""Time ProToM takes to infer and decide, and how much slower the obvious implementation is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from otherminds.mind import GoalDirected, WithErrand
from otherminds.papers.protom.doors_keys_gems import episode, facilitator
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State


class StepwiseAdvice(DoorsKeysGemsAdvice):
    """The same messages with the obvious forecast: minds run forward step by step, nothing cached."""

    def steps(self, state: State, goals: tuple[Goal, ...], advice: Advice | None, horizon: int) -> int:
        """Steps until all goals are reached: all minds run forward in the world, the helper's wrapped in its errand."""
        minds: dict[str, GoalDirected[Action]] = {
            agent: Seeker(self.planner, i, goal, beta=math.inf, lapse=0.0)
            for i, (agent, goal) in enumerate(zip(self.world.agents, goals, strict=True))
        }
        if advice is not None:
            helper = self.helper(advice)
            minds[helper] = WithErrand(minds[helper], self.errand(advice, minds[helper]))
        rng = np.random.default_rng(0)
        for t, step in enumerate(rollout(self.world, minds, steps=horizon, rng=rng, state=state)):
            if all(self.planner.achieved(step.state, i, goal) for i, goal in enumerate(goals)):
                return t
        return horizon


def milliseconds(levels: Sequence[Level], *, warm: bool) -> list[float]:
    """The time of every decision on these levels; warm: with the plans of an episode played before."""
    times: list[float] = []
    for level in levels:
        entry, advice = PlannedEpisode(level, "protom", level.kind, 42), DoorsKeysGemsAdvice(level.world)
        if warm:
            list(episode(entry, advice))
        times += [moment.ms for moment in episode(entry, advice)][1:]
    return times


def pricing(level: Level, make: Callable[[Level], DoorsKeysGemsAdvice]) -> Callable[[], object]:
    """The first decision of an episode, from scratch."""

    def price() -> object:
        advice = make(level)
        watcher = facilitator("protom", level, advice)
        return watcher.decide(level.world.initial, level.horizon, np.random.default_rng(0)).utilities

    return price
