"""People who are not as expected: with no aim, with none of the goals, or with a mind of another make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from otherminds.distribution import Categorical
from otherminds.mind import NONE_OF_THESE, GoalDirected, NoneOfThese
from otherminds.observer import Observer
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.episodes import FacilitatedEpisode
from otherminds.papers.protom.facilitator import NONE_PRIOR, ProToM, with_none_of_these
from otherminds.papers.protom.goal_inference import posteriors
from otherminds.world import Step, rollout
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from strategies import generator, world_of

LEVELS = {level.name: level for level in bundled_levels()}
SETTINGS: Mapping[str, Any] = {"beta": 3.0, "lapse": 0.05, "leak": 0.0}
Steps = list[Step[State, Action]]


def wandering(world: DoorsKeysGems, seed: int, steps: int = 40) -> Steps:
    """Everybody does anything that they can, each thing as often as any other."""
    rng, state, walked = generator(seed), world.initial, Steps()
    for _ in range(steps):
        able = {agent: world.actions(state, agent) for agent in world.agents}
        joint = {agent: each[int(rng.integers(len(each)))] for agent, each in able.items()}
        after = world.step(state, joint)
        walked.append(Step(state, joint, after))
        state = after
    return walked


def idling(world: DoorsKeysGems, steps: int = 40) -> Steps:
    joint = dict.fromkeys(world.agents, STAY)
    return [Step(world.initial, joint, world.initial)] * steps


# No aim


@pytest.mark.slow
def test_who_does_anything_has_none_of_the_goals() -> None:
    found = [
        posterior
        for n, level in enumerate(LEVELS.values())
        for posterior in posteriors(level.world, wandering(level.world, n), **SETTINGS)[-1]["posterior"].values()
    ]
    held = [p[NONE_OF_THESE] >= 0.8 and max(q for g, q in p.items() if g != NONE_OF_THESE) <= 0.2 for p in found]
    assert len(held) == 40
    assert sum(held) >= 36


def test_who_does_nothing_though_they_could_has_none_of_the_goals() -> None:
    for name in ("own-key", "purple-gate", "gem-shelf"):
        world = LEVELS[name].world
        for posterior in posteriors(world, idling(world, 10), **SETTINGS)[-1]["posterior"].values():
            assert posterior[NONE_OF_THESE] > 0.95


def test_who_can_do_nothing_alone_may_still_want_anything() -> None:
    world = world_of("a1 dr gr", "## ## gb", "gy a2 kr")
    last = posteriors(world, idling(world, 20), **SETTINGS)[-1]["posterior"]
    assert last["Ana"][NONE_OF_THESE] == pytest.approx(NONE_PRIOR)
    assert last["Ben"][NONE_OF_THESE] > 0.95


@pytest.mark.slow
def test_surprise_tells_who_is_not_as_expected() -> None:
    world = LEVELS["own-key"].world
    for walk, least, most in ((idling(world, 20), 0.5, math.inf), (walking(LEVELS["own-key"]), -1.0, 0.2)):
        ruled_out = posteriors(world, walk, **SETTINGS, none_prior=0.0, switch_rate=0.0)
        mean = sum(row["surprise"]["Ana"] for row in ruled_out[:-1]) / len(walk)
        assert least < mean < most


@pytest.mark.slow
@pytest.mark.parametrize("walk", [idling, lambda world: wandering(world, 1)], ids=["idle", "random"])
@pytest.mark.parametrize("subject", ["protom_at_once", "protom"])
def test_nobody_is_asked_to_help_somebody_without_a_goal(walk: Any, subject: str) -> None:
    level = LEVELS["purple-gate"]
    advice = DoorsKeysGemsAdvice(level.world)
    helper = DOORS_KEYS_GEMS.facilitator(subject, level, advice)
    for step in walk(level.world):
        helper = helper.watch(step.joint, step.after)
    beliefs = helper.beliefs()
    assert min(belief.prob(NONE_OF_THESE) for belief in beliefs.values()) > 0.7
    decision = helper.decide(step.after, 40, generator())
    assert decision.message is None


# A goal, pursued


def walking(level: Level, seed: int = 0) -> Steps:
    world, plans = level.world, DoorsKeysGemsPlanner(level.world)
    minds = {
        a: Seeker(plans, i, Goal("gem", g), math.inf, 0.0)
        for i, (a, g) in enumerate(zip(world.agents, world.goals, strict=True))
    }
    return list(rollout(world, minds, steps=40, rng=generator(seed)))


def known_after(history: Sequence[dict[str, Any]], agent: str, goal: str) -> float:
    """The step from which the goal has a probability of at least 0.9 for good."""
    doubtful = [row["t"] for row in history if row["posterior"][agent][goal] < 0.9]
    return max(doubtful, default=-1) + 1 if doubtful[-1:] != [history[-1]["t"]] else math.inf


@pytest.mark.slow
def test_whoever_walks_to_their_goal_is_understood_hardly_later_than_without_doubts() -> None:
    compared = 0
    for level in LEVELS.values():
        world, steps = level.world, walking(level)
        doubting = posteriors(world, steps, **SETTINGS)
        sure = posteriors(world, steps, **SETTINGS, none_prior=0.0, switch_rate=0.0)
        for i, agent in enumerate(world.agents):
            goal = world.gems[world.goals[i]].colour
            soon = known_after(sure, agent, goal)
            compared += soon < math.inf
            assert soon == math.inf or known_after(doubting, agent, goal) <= soon + 2
    assert compared > 20


def test_who_changes_their_mind_is_believed() -> None:
    world = world_of("gr .. .. .. .. a1 .. .. .. .. gb", "a2 .. .. .. .. .. .. .. .. .. gy")
    left, right = ({"Ana": Action(way), "Ben": STAY} for way in ("left", "right"))
    state, steps = world.initial, Steps()
    for joint in [left] * 3 + [right] * 7:
        after = world.step(state, joint)
        steps.append(Step(state, joint, after))
        state = after
    assert posteriors(world, steps, **SETTINGS)[3]["posterior"]["Ana"]["red"] > 0.9
    assert posteriors(world, steps, **SETTINGS)[-1]["posterior"]["Ana"]["blue"] > 0.9


def test_nobody_is_asked_to_help_who_surely_has_none_of_the_goals() -> None:
    world = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..")
    advice = DoorsKeysGemsAdvice(world)
    seeker = Seeker(advice.planner, 1, Goal("gem", 1))
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        "Ana": Observer.over([NoneOfThese(Seeker(advice.planner, 0, Goal("gem", 0)))]),
        "Ben": Observer.over([seeker]),
    }
    helper = ProToM.initial(world, advice, watchers, world.initial)
    assert all(price.saves <= 0.0 for price in helper.compute_utility(world.initial, 40, generator()))
    assert helper.decide(world.initial, 40, generator()).message is None


# A mind of another make


@dataclass(frozen=True)
class Tired:
    """Somebody after a gem who rests a third of the time and takes the shortest way otherwise."""

    plans: DoorsKeysGemsPlanner
    agent: int
    goal: Goal
    state: State | None = None
    particle: int = 0

    def observe(self, obs: State, /) -> Tired:
        return replace(self, state=obs)

    def act(self) -> Categorical[Action]:
        costs = self.plans.action_costs(self.state, self.agent, self.goal)  # type: ignore[arg-type]
        best = min(costs.values())
        chances = {a: 0.999 * (2 / 3) * (cost == best) + 0.001 / len(costs) for a, cost in costs.items()}
        chances[STAY] += 0.999 / 3
        return Categorical.from_scores((a, math.log(p)) for a, p in chances.items() if p)

    @property
    def reached(self) -> bool:
        return self.plans.achieved(self.state, self.agent, self.goal)  # type: ignore[arg-type]

    @property
    def over(self) -> bool:
        return self.plans.settled(self.state, self.agent, self.goal)  # type: ignore[arg-type]


LOCKED_OUT = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..")
OPEN = Advice(1, Goal("door", 0), 0)


def tired_episode(world: DoorsKeysGems, obedience: float, seed: int) -> FacilitatedEpisode[State, Action, Advice]:
    advice = DoorsKeysGemsAdvice(world)
    people = {a: Tired(advice.planner, i, Goal("gem", world.goals[i])) for i, a in enumerate(world.agents)}
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        a: with_none_of_these([Tired(advice.planner, i, Goal("gem", g)) for g in range(len(world.gems))])
        for i, a in enumerate(world.agents)
    }
    helper = ProToM.initial(world, advice, watchers, world.initial)
    return FacilitatedEpisode(world, people, helper, advice, 80, generator(seed), generator(seed + 1), obedience)


@pytest.mark.slow
def test_anybody_with_a_goal_can_be_told_and_served() -> None:
    """On their errands such people lapse as seekers do, so that one may take a gem that is not theirs."""
    served = 0
    for seed in range(4):
        moments = list(tired_episode(LOCKED_OUT, 1.0, seed))
        assert OPEN in [moment.decision.message for moment in moments]
        assert "completed" in [moment.status for moment in moments]
        served += LOCKED_OUT.done(moments[-1].after) and moments[-1].beliefs["Ana"].mode == Goal("gem", 0)
    assert served >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_anybody_with_a_goal_may_ignore_what_they_are_told(seed: int) -> None:
    playing = tired_episode(LOCKED_OUT, 0.0, seed)
    moments = list(playing)
    assert OPEN in [moment.decision.message for moment in moments]
    assert "ignored" in [moment.status for moment in moments]
    assert "completed" not in [moment.status for moment in moments]
    assert not LOCKED_OUT.done(moments[-1].after)
    assert moments[-1].beliefs["Ben"].mode == Goal("gem", 1)
