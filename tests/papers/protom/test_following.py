"""Whether messages are followed: what a facilitator makes of it, and how much the next message is then worth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.mind import NONE_OF_THESE, GoalDirected, WithErrand
from otherminds.observer import Observer
from otherminds.papers.protom.episodes import FacilitatedEpisode, MessageUtility, Moment, Reason
from otherminds.papers.protom.facilitator import (
    NONE_PRIOR,
    P_FOLLOWED,
    PAUSE,
    SURE,
    PaperProToM,
    ProToM,
    Refusals,
    with_none_of_these,
)
from otherminds.papers.protom.joint_inference import IGNORED
from otherminds.papers.protom.levels.maps import design_for, random_level
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from strategies import generator, moments, world_of, worlds

Facilitator = ProToM[State, Action, Advice]
OPEN = Advice(1, Goal("door", 0), 0)
LEFT = 40
LOCKED_OUT = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..")
RIGHT = Action("right")


def gems(world: DoorsKeysGems) -> list[Goal]:
    return [Goal("gem", g) for g in range(len(world.gems))]


def protom(world: DoorsKeysGems, state: State | None = None, rule: Any = ProToM, **more: Any) -> Any:
    advice = DoorsKeysGemsAdvice(world)
    watchers = {
        agent: with_none_of_these([Seeker(advice.planner, i, goal) for goal in gems(world)])
        for i, agent in enumerate(world.agents)
    }
    return rule.initial(world, advice, watchers, state or world.initial, **more)


def price(facilitator: Facilitator, message: Advice, state: State) -> MessageUtility[Advice]:
    (found,) = [p for p in facilitator.compute_utility(state, LEFT, generator()) if p.message == message]
    return found


def after_message(facilitator: Facilitator, *deeds: Action, state: State = LOCKED_OUT.initial) -> Facilitator:
    """The facilitator after Ben was asked to open the door and did these things, while Ana stayed."""
    facilitator = facilitator.tell(OPEN, state)
    for deed in deeds:
        joint = {"Ana": STAY, "Ben": deed}
        state = LOCKED_OUT.step(state, joint)
        facilitator = facilitator.watch(joint, state)
    return facilitator


# U(f), gains and needs by hand


crowds = moments(worlds(sides=(2, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(2, 3)), steps=4)


@pytest.mark.slow
@settings(max_examples=20)
@given(crowds, st.integers(5, 40))
def test_gains_and_needs_are_means_over_who_is_done_when(moment: tuple[DoorsKeysGems, State], left: int) -> None:
    world, state = moment
    facilitator = protom(world, state)
    finish = DoorsKeysGemsAdvice(world).finish
    weighed = list(facilitator.joint_goals(generator()))
    for found in facilitator.compute_utility(state, left, generator()):
        n = len(world.agents)
        gains, needed, saves = [0.0] * n, [0.0] * n, 0.0
        for goals, p in weighed:
            alone, helped = (finish(state, each, left) for each in with_and_without(facilitator, state, goals, found))
            i = found.message.helper
            lost = facilitator.messages.effort(state, found.message) if goals[i] == NONE_OF_THESE else 0
            saves += p * (max(alone) - max(helped) - lost)
            gains = [g + p * (a - h) for g, a, h in zip(gains, alone, helped, strict=True)]
            gains[i] -= p * lost
            needed = [q + p * (h < a == left) for q, a, h in zip(needed, alone, helped, strict=True)]
        assert found.saves == pytest.approx(saves, abs=1e-9)
        assert found.gains == pytest.approx(tuple(gains), abs=1e-9)
        assert found.needed == pytest.approx(tuple(needed), abs=1e-9)
        assert found.worth == pytest.approx(P_FOLLOWED * saves - facilitator.cost, abs=1e-9)


def with_and_without(
    facilitator: Facilitator, state: State, goals: Sequence[Hashable], found: MessageUtility[Advice]
) -> tuple[list[Any], list[Any]]:
    """Minds with these goals, and the same after the message."""
    minds: list[Any] = [
        next(mind for mind in watcher.minds if mind.goal == goal)
        for watcher, goal in zip(facilitator.watchers.values(), goals, strict=True)
    ]
    asked, i = [*minds], found.message.helper
    asked[i] = WithErrand(minds[i], facilitator.messages.errand(state, found.message, minds[i]))
    return minds, asked


def test_only_the_friend_who_is_locked_out_needs_the_message() -> None:
    found = price(protom(LOCKED_OUT), OPEN, LOCKED_OUT.initial)
    ana, ben = found.gains
    assert ana > 10 > abs(ben)
    assert found.needed[0] > 0.4
    assert found.needed[1] == 0.0


# Whether it is followed


@pytest.mark.parametrize("deeds", [(), (STAY,), (RIGHT,), (STAY, STAY), (RIGHT, STAY), (STAY, RIGHT)])
def test_following_is_inferred_by_bayes_rule(deeds: tuple[Action, ...]) -> None:
    plans, start = DoorsKeysGemsPlanner(LOCKED_OUT), LOCKED_OUT.initial
    state, following = start, 0.8
    own = dict.fromkeys(gems(LOCKED_OUT), 0.2 * (1.0 - NONE_PRIOR) / 2)
    stranger = 0.2 * NONE_PRIOR
    for deed in deeds:
        following *= chance(plans, state, Goal("door", 0), deed)
        own = {goal: p * chance(plans, state, goal, deed) for goal, p in own.items()}
        stranger /= len(plans.action_costs(state, 1, Goal("door", 0)))
        state = LOCKED_OUT.step(state, {"Ana": STAY, "Ben": deed})
    expected = following / (following + sum(own.values()) + stranger)
    facilitator = protom(LOCKED_OUT)
    still = replace(facilitator, watchers={a: replace(o, switch_rate=0.0) for a, o in facilitator.watchers.items()})
    assert after_message(still, *deeds).following("Ben") == pytest.approx(expected)
    assert after_message(facilitator, *deeds).following("Ben") == pytest.approx(expected, abs=0.02)


def chance(plans: DoorsKeysGemsPlanner, state: State, goal: Goal, action: Action) -> float:
    """What Ben does with β = 3 and a lapse of 0.05."""
    costs = plans.action_costs(state, 1, goal)
    weights = {a: math.exp(-3.0 * (cost - min(costs.values()))) for a, cost in costs.items()}
    return 0.95 * weights[action] / sum(weights.values()) + 0.05 / len(costs)


def test_who_does_nothing_of_it_is_doubted_and_who_does_it_is_not() -> None:
    assert not after_message(protom(LOCKED_OUT)).doubts(OPEN)
    assert not after_message(protom(LOCKED_OUT), RIGHT).doubts(OPEN)
    refusing = after_message(protom(LOCKED_OUT), STAY, STAY, STAY, STAY, STAY)
    assert refusing.following("Ben") < IGNORED
    assert refusing.doubts(OPEN)


def test_by_the_papers_rule_everybody_is_taken_to_follow() -> None:
    refusing = after_message(protom(LOCKED_OUT, rule=PaperProToM), STAY, STAY, STAY, STAY)
    assert refusing.following("Ben") == 1.0
    assert not refusing.doubts(OPEN)
    assert refusing.dismiss(OPEN).following("Ben") == 0.0


# What it is then worth


@settings(max_examples=30)
@given(st.lists(st.booleans(), max_size=8))
def test_each_refusal_in_a_row_costs_a_message_and_a_pause(followed: list[bool]) -> None:
    facilitator, after = protom(LOCKED_OUT, waits=()), LOCKED_OUT.initial._replace(locked=0)
    for is_followed in followed:
        told = facilitator.tell(OPEN, LOCKED_OUT.initial)
        facilitator = told.watch({"Ana": STAY, "Ben": RIGHT}, after) if is_followed else told.dismiss(OPEN)
    in_a_row = next((k for k, each in enumerate(reversed(followed)) if each), len(followed))
    if in_a_row:
        assert facilitator.refusals == {"Ben": Refusals(in_a_row, facilitator.t + PAUSE * in_a_row)}
        again = replace(facilitator, carried_out=frozenset())
        later = replace(again, t=facilitator.t + PAUSE * in_a_row)
        assert OPEN not in [u.message for u in again.compute_utility(LOCKED_OUT.initial, LEFT, generator())]
        utility = price(later, OPEN, LOCKED_OUT.initial)
        cost = facilitator.cost * (1 + in_a_row)
        assert utility.worth == pytest.approx(P_FOLLOWED * utility.saves - cost)
    else:
        assert not facilitator.refusals


def test_the_refusal_of_one_says_nothing_about_another() -> None:
    world = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..", "gy a3 kr ..")
    facilitator, state = protom(world), world.initial
    other = Advice(2, Goal("door", 0), 0)
    again, later = (replace(f, t=PAUSE) for f in (facilitator.tell(OPEN, state).dismiss(OPEN), facilitator))
    assert price(again, other, state).worth == pytest.approx(price(later, other, state).worth)
    assert price(again, OPEN, state).worth < price(later, OPEN, state).worth


# Whole episodes


def episode(
    world: DoorsKeysGems, *, obedience: float = 1.0, seed: int = 0, horizon: int = 60, **more: Any
) -> FacilitatedEpisode[State, Action, Advice]:
    advice = DoorsKeysGemsAdvice(world)
    minds = {
        a: Seeker(advice.planner, i, Goal("gem", world.goals[i]), math.inf, 0.0) for i, a in enumerate(world.agents)
    }
    helper = protom(world, **more)
    return FacilitatedEpisode(world, minds, helper, advice, horizon, generator(seed), generator(seed + 1), obedience)


def spoken(played: list[Moment[State, Action, Advice]]) -> list[tuple[int, Advice]]:
    return [(t, m.decision.message) for t, m in enumerate(played) if m.decision.message is not None]


def test_a_message_that_is_followed_is_counted_as_such() -> None:
    playing = episode(LOCKED_OUT)
    played = list(playing)
    assert LOCKED_OUT.done(played[-1].after)
    assert [message for _, message in spoken(played)] == [OPEN]
    assert isinstance(playing.facilitator, ProToM)
    assert playing.facilitator.carried_out == {OPEN}
    assert not playing.facilitator.under_way
    assert not playing.facilitator.refusals


def test_who_keeps_refusing_is_asked_less_and_less() -> None:
    playing = episode(LOCKED_OUT, obedience=0.0)
    played = list(playing)
    times = [t for t, _ in spoken(played)]
    assert 1 <= len(times) <= 20
    assert all(later - earlier > PAUSE for earlier, later in pairwise(times))
    assert {moment.status for moment in played} >= {"ignored"}
    assert isinstance(playing.facilitator, ProToM)
    assert playing.facilitator.refusals["Ben"].in_a_row >= len(times) - 1


@pytest.mark.slow
def test_somebody_is_helped_while_another_carries_out_a_message() -> None:
    """Ana is locked out; once that is being mended, everybody would wait for Cem, who has a long way round."""
    long_way = ["## ## ## ## ## .. ## .."] * 6
    world = world_of(
        "a1 .. dr gr ## a3 db gb",
        "## ## ## .. ## .. ## ..",
        "gy a2 kr .. ## .. ## kb",
        "## ## ## ## ## .. ## a4",
        "## ## ## ## ## .. ## gg",
        *long_way,
        "## ## ## ## ## .. .. ..",
        goals=(0, 2, 1, 3),
    )
    world = replace(world, agents=("Ana", "Ben", "Cem", "Dan"))
    played = list(episode(world))
    said = spoken(played)
    helpers = [message.helper for _, message in said]
    assert {*helpers} == {1, 3}
    (first, one), (second, other) = next((a, b) for a, b in pairwise(said) if a[1].helper != b[1].helper)
    advice = DoorsKeysGemsAdvice(world)
    assert all(advice.status(played[t].state, one) == "running" for t in range(first, second + 1))
    assert other.helper != one.helper
    assert world.done(played[-1].after)
    assert len(played) < len(list(episode(world, rule=PaperProToM, epsilon=0.0)))


@pytest.mark.slow
@settings(max_examples=25)
@given(worlds(sides=(3, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(3, 3)), st.integers(0, 9))
def test_nobody_gets_a_second_message_before_the_first_is_over(world: DoorsKeysGems, seed: int) -> None:
    advice, playing = DoorsKeysGemsAdvice(world), episode(world, obedience=0.5, seed=seed, horizon=25)
    before = dict(playing.under_way)
    for moment in playing:
        assert [sum(b.probs) for b in moment.beliefs.values()] == pytest.approx([1.0] * len(world.agents))
        for helper, (message, deadline) in playing.under_way.items():
            assert before.get(helper) in (None, (message, deadline)) or before[helper][0] in playing.statuses
        before = dict(playing.under_way)
        assert isinstance(playing.facilitator, ProToM)
        names = {advice.helper(m) for m in playing.facilitator.under_way.values()}
        assert names == {*playing.facilitator.under_way} == {*playing.under_way}


# What is said


@pytest.mark.slow
@settings(max_examples=20)
@given(crowds)
def test_a_goal_is_stated_only_if_it_is_believed(moment: tuple[DoorsKeysGems, State]) -> None:
    world, state = moment
    facilitator = protom(world, state)
    joint = facilitator.joint_goals(generator())
    for found in facilitator.compute_utility(state, LEFT, generator()):
        reason = facilitator.reason(found, generator())
        first = world.agents.index(reason.friends[0])
        wanted = joint.map(lambda goals: goals[first])  # noqa: B023
        if reason.goal is None:
            assert wanted.mode == NONE_OF_THESE or wanted.prob(wanted.mode) < SURE
        else:
            assert wanted.prob(reason.goal) >= SURE
        assert reason.sure == (found.helps >= SURE)
        assert reason.needed == (found.needed[first] >= SURE)
        assert reason.saves == found.saves


def stated(reason: Reason) -> dict[str, Any]:
    return {name: value for name, value in reason._asdict().items() if name != "probability"}


@pytest.mark.slow
def test_those_who_gain_most_are_named() -> None:
    rng, named = np.random.default_rng(5), 0
    for _ in range(6):
        level = random_level(rng, people=3)
        world = level.world
        facilitator = protom(world)
        for found in facilitator.compute_utility(world.initial, LEFT, generator()):
            reason = facilitator.reason(found, generator())
            gains = dict(zip(world.agents, found.gains, strict=True))
            gains.pop(world.agents[found.message.helper])
            if max(gains.values()) > 1e-9:
                named += 1
                assert {*reason.friends} == {a for a, gain in gains.items() if gain > max(gains.values()) - 1e-9}
            elif found.gains[found.message.helper] <= 1e-9:
                assert reason.friends == (world.agents[found.message.friend],)
    assert named > 5


@pytest.mark.slow
def test_if_only_the_helper_gains_that_is_what_it_is_told() -> None:
    level = design_for(3).candidate(2503, 364, "useful")
    world, advice = level.world, DoorsKeysGemsAdvice(level.world)
    goals = [Goal("gem", gem) for gem in world.goals]
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        agent: Observer.over([Seeker(advice.planner, i, goals[i])]) for i, agent in enumerate(world.agents)
    }
    facilitator: Facilitator = ProToM.initial(world, advice, watchers, world.initial)
    decision = facilitator.decide(world.initial, level.horizon, generator())
    assert decision.reason is not None
    assert decision.reason.friends == ("Ana",)
    assert decision.reason.goal is None
    assert decision.words == "Ana, please unlock the yellow door (door3). This should save you about 4 steps."
