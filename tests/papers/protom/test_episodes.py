"""Episodes: who says what when, what becomes of it, and that people are left alone otherwise."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from scipy import stats

from otherminds.mind import WithErrand
from otherminds.papers.protom.episodes import (
    PATIENCE,
    Decision,
    FacilitatedEpisode,
    Facilitator,
    Moment,
    RandomFacilitator,
    SilentFacilitator,
)
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State
from strategies import BOTH, generator, world_of, worlds

HORIZON = 40
OPEN = Advice(1, Goal("door", 0), 0)
GIVE = Advice(1, Goal("give", 0, 0), 0)
LOCKED_OUT = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..")
Play = FacilitatedEpisode[State, Action, Advice]


@dataclass(frozen=True)
class Script(SilentFacilitator):
    """Says the line after those steps, if it may, and writes down everything that it is asked."""

    line: Advice = OPEN
    at: Collection[int] = range(999)
    log: list[tuple[str, Any]] = field(default_factory=list, compare=False)

    def watch(self, joint: Mapping[str, Action], after: State) -> Script:
        self.log.append(("watch", after))
        return self

    def decide(self, state: State, left: int, rng: Generator) -> Decision[Advice]:
        t = HORIZON - left
        self.log.append(("decide", t))
        return Decision(self.line, "please") if t in self.at else Decision(silence="not now")

    def tell(self, message: Advice, state: State) -> Script:
        self.log.append(("tell", message))
        return self

    def dismiss(self, message: Advice) -> Script:
        self.log.append(("dismiss", message))
        return self

    def asked(self, what: str) -> list[Any]:
        return [answer for kind, answer in self.log if kind == what]


def play(
    world: DoorsKeysGems,
    facilitator: Facilitator[State, Action, Advice],
    *,
    seed: int = 0,
    obedience: float = 1.0,
    horizon: int = HORIZON,
) -> Play:
    advice = DoorsKeysGemsAdvice(world)
    minds = {
        a: Seeker(advice.planner, i, Goal("gem", world.goals[i]), math.inf, 0.0) for i, a in enumerate(world.agents)
    }
    return FacilitatedEpisode(
        world, minds, facilitator, advice, horizon, generator(seed), generator(seed + 1), obedience
    )


def said(moments: list[Moment[State, Action, Advice]]) -> list[Advice | None]:
    return [moment.decision.message for moment in moments]


def statuses(moments: list[Moment[State, Action, Advice]]) -> list[str | None]:
    return [moment.status for moment in moments]


# When it may speak


def test_it_first_decides_after_everybody_has_acted_once() -> None:
    script = Script()
    moments = list(play(LOCKED_OUT, script))
    assert [kind for kind, _ in script.log[:3]] == ["watch", "decide", "tell"]
    assert said(moments)[:2] == [None, OPEN]
    assert moments[0].decision.silence == "nobody has done anything yet"
    assert script.log[0] == ("watch", moments[0].after)


def test_it_watches_every_step_but_decides_only_while_no_message_is_under_way() -> None:
    script = Script(at=range(2, 99))
    moments = list(play(LOCKED_OUT, script))
    assert script.asked("watch") == [moment.after for moment in moments]
    running = [t for t, moment in enumerate(moments) if moment.status == "running"]
    assert running
    assert all(moments[t].decision.silence == "a message is under way" for t in running)
    assert script.asked("decide") == [t for t in range(1, len(moments)) if t not in running]


def test_it_is_told_how_many_steps_are_left() -> None:
    script = Script(at=())
    list(play(LOCKED_OUT, script))
    assert script.asked("decide") == list(range(1, HORIZON))


# What becomes of a message


def test_a_message_that_is_followed_is_completed() -> None:
    moments = list(play(LOCKED_OUT, Script(at=[1])))
    effort = DoorsKeysGemsAdvice(LOCKED_OUT).effort(moments[1].state, OPEN)
    assert said(moments) == [None, OPEN] + [None] * (len(moments) - 2)
    assert statuses(moments)[: 2 + effort] == [None, None] + ["running"] * (effort - 1) + ["completed"]
    assert set(statuses(moments)[2 + effort :]) == {None}
    assert [moment.state.locked for moment in moments[effort : effort + 2]] == [1, 0]
    assert LOCKED_OUT.done(moments[-1].after)


def test_after_one_message_another_may_follow_at_once() -> None:
    moments = list(play(LOCKED_OUT, Script()))
    done = statuses(moments).index("completed")
    assert said(moments)[done] == OPEN
    assert statuses(moments)[done + 1] == "completed"


def test_a_message_is_impossible_once_somebody_else_has_used_the_key() -> None:
    world = world_of("gr dr kr a1 .. .. .. .. a2", "## ## ## ## ## ## ## db ##", "## ## ## ## ## ## ## gb ##")
    moments = list(play(world, Script()))
    assert said(moments)[:2] == [None, OPEN]
    assert statuses(moments)[2] == "impossible"
    assert moments[1].joint["Ana"] == world.vocabulary["pickup key1"]


def test_a_message_that_is_not_followed_is_ignored_ten_steps_after_it_could_have_been() -> None:
    script = Script()
    moments = list(play(LOCKED_OUT, script, obedience=0.0))
    effort = DoorsKeysGemsAdvice(LOCKED_OUT).effort(moments[1].state, OPEN)
    deadline = 1 + effort + PATIENCE
    assert statuses(moments)[: deadline + 1] == [None, None] + ["running"] * (effort + PATIENCE - 1) + ["ignored"]
    assert [(kind, what) for kind, what in script.log if kind in ("tell", "dismiss")][:3] == [
        ("tell", OPEN),
        ("dismiss", OPEN),
        ("tell", OPEN),
    ]
    assert said(moments)[deadline] == OPEN


def test_who_does_not_obey_carries_on_as_if_nothing_had_been_said() -> None:
    plain, told = play(LOCKED_OUT, SilentFacilitator()), play(LOCKED_OUT, Script(), obedience=0.0)
    assert [moment.joint for moment in told] == [moment.joint for moment in plain]
    assert not any(isinstance(mind, WithErrand) for mind in told.minds.values())


@pytest.mark.parametrize("obedience", [0.0, 0.5])
def test_who_is_not_told_anything_does_by_chance_what_they_would_have_done_anyway(obedience: float) -> None:
    """So what a message changes is not mixed up with luck: wanderers walk the same way whatever others are told."""

    def wander(facilitator: Facilitator[State, Action, Advice]) -> list[Action]:
        played = play(LOCKED_OUT, facilitator, obedience=obedience)
        planner = DoorsKeysGemsAdvice(LOCKED_OUT).planner
        played.minds = {a: Seeker(planner, i, Goal("gem", i), lapse=1.0) for i, a in enumerate(LOCKED_OUT.agents)}
        return [moment.joint["Ana"] for moment in played]

    assert wander(Script()) == wander(SilentFacilitator())


@pytest.mark.slow
def test_people_obey_as_often_as_they_are_said_to() -> None:
    obeyed = 0
    for seed in range(400):
        episode = play(LOCKED_OUT, Script(), seed=seed, obedience=0.5, horizon=2)
        list(episode)
        obeyed += isinstance(episode.minds["Ben"], WithErrand)
    assert stats.binomtest(obeyed, 400, 0.5).pvalue > 0.01


def test_the_helper_runs_the_errand_as_long_as_it_lasts_and_is_itself_again_after_it() -> None:
    episode = play(LOCKED_OUT, Script(at=[2]))
    own, errands = dict(episode.minds), []
    for moment in episode:
        assert {agent: mind.goal for agent, mind in episode.minds.items()} == {a: m.goal for a, m in own.items()}
        errands.append([agent for agent, mind in episode.minds.items() if isinstance(mind, WithErrand)])
        if moment.status == "completed":
            break
    assert errands == [[], []] + [["Ben"]] * (len(errands) - 3) + [[]]
    assert len(errands) > 5


@pytest.mark.parametrize(("at", "left"), [([], None), ([1], None), ([30], OPEN), ([39], OPEN)])
def test_the_message_is_that_which_is_under_way_at_the_end(at: list[int], left: Advice | None) -> None:
    episode = play(LOCKED_OUT, Script(at=at), obedience=0.0)
    assert len(list(episode)) == HORIZON
    assert [message for message, _ in episode.under_way.values()] == ([left] if left else [])


# How long it goes on


@pytest.mark.parametrize("horizon", [0, 1, 7])
def test_it_ends_at_the_horizon(horizon: int) -> None:
    assert len(list(play(LOCKED_OUT, SilentFacilitator(), horizon=horizon))) == horizon


def test_it_ends_when_everybody_is_done_and_nothing_is_said_then() -> None:
    world = world_of("a1 gr", "a2 gb", "kr dr")
    script = Script(at=range(2, 99))
    moments = list(play(world, script))
    assert [world.done(moment.after) for moment in moments] == [False, True]
    assert said(moments) == [None, None]
    assert script.asked("decide") == [1]


def test_who_cannot_catch_up_with_a_friend_may_be_asked_again_and_again() -> None:
    world = world_of("kr a2 .. a1" + " .." * 40 + " gr dr gb")
    moments = list(play(world, Script(GIVE, at=range(1, 40)), horizon=40))
    assert statuses(moments).count("ignored") == 2


def test_who_has_to_wait_for_their_turn_is_not_taken_to_ignore_a_message() -> None:
    shaft = ["## ## ## .."] * 7
    world = world_of("a1 .. dr gr", *shaft, "gb a2 kr ..", turns="alternating")
    moments = list(play(world, Script(at=[1])))
    assert DoorsKeysGemsAdvice(world).effort(moments[1].state, OPEN) == 24
    assert [status for status in statuses(moments) if status not in (None, "running")] == ["completed"]


def test_nothing_is_said_that_nobody_has_time_to_hear() -> None:
    episode = play(LOCKED_OUT, script := Script(at=[HORIZON]))
    assert not any(said(list(episode)))
    assert script.asked("tell") == []
    assert not episode.under_way


# The facilitators that need no mindreading


some = worlds(sides=(3, 4), agents=(2, 3), keys=(0, 3), doors=(1, 2), gems=(3, 3), turns=BOTH)


@pytest.mark.slow
@settings(max_examples=25)
@given(some, st.integers(0, 99))
def test_with_a_silent_facilitator_people_do_what_they_would_have_done_anyway(world: DoorsKeysGems, seed: int) -> None:
    episode = play(world, SilentFacilitator(), seed=seed)
    minds, rng = dict(episode.minds), generator(seed)
    plain = [(s.state, s.joint, s.after) for s in rollout(world, minds, steps=HORIZON, rng=rng)]
    moments = list(episode)
    assert [(m.state, m.joint, m.after) for m in moments] == plain
    assert not any(said(moments))
    assert not any(statuses(moments))
    assert all(not m.beliefs and not m.decision.utilities for m in moments)


@pytest.mark.slow
@settings(max_examples=25)
@given(some, st.integers(0, 99), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_rules_of_conversation_hold_whatever_happens(world: DoorsKeysGems, seed: int, obedience: float) -> None:
    chatter = RandomFacilitator(DoorsKeysGemsAdvice(world), talkativeness=0.9)
    moments = list(play(world, chatter, seed=seed, obedience=obedience))
    advice, last = DoorsKeysGemsAdvice(world), None
    for before, now in pairwise(moments):
        spoke = before.decision.message is not None
        assert (now.status is not None) == (spoke or before.status == "running")
        assert not (now.status == "running" and now.decision.message)
        last = before.decision.message or last
        if last and now.status in ("completed", "impossible", "running"):
            assert now.status == advice.status(now.state, last)
        if now.decision.message:
            assert now.decision.message in advice.candidates(now.state)


@pytest.mark.slow
@settings(max_examples=20)
@given(some, st.integers(0, 99))
def test_the_same_seed_gives_the_same_episode(world: DoorsKeysGems, seed: int) -> None:
    first, again = (
        list(play(world, RandomFacilitator(DoorsKeysGemsAdvice(world)), seed=seed, obedience=0.7)) for _ in range(2)
    )
    assert [replace(m, ms=0.0) for m in first] == [replace(m, ms=0.0) for m in again]
    assert all(m.ms >= 0.0 for m in first)


@pytest.mark.slow
def test_chatter_says_any_message_as_often_as_any_other_half_of_the_time() -> None:
    world = world_of("a1 dr gr", ".. ## ##", ".. a2 kr", ".. gb ..")
    chatter, rng, n = RandomFacilitator(DoorsKeysGemsAdvice(world)), generator(), 4000
    candidates = DoorsKeysGemsAdvice(world).candidates(world.initial)
    assert len(candidates) == 4
    heard = [chatter.decide(world.initial, HORIZON, rng).message for _ in range(n)]
    counts = [heard.count(message) for message in candidates]
    assert stats.chisquare([*counts, heard.count(None)], [n / 8] * 4 + [n / 2]).pvalue > 0.01


@pytest.mark.parametrize(("talkativeness", "speaks"), [(0.0, False), (1.0, True)])
def test_chatter_talks_as_much_as_it_is_set_to(talkativeness: float, speaks: bool) -> None:
    chatter, rng = RandomFacilitator(DoorsKeysGemsAdvice(LOCKED_OUT), talkativeness), generator()
    heard = {chatter.decide(LOCKED_OUT.initial, HORIZON, rng).message is not None for _ in range(50)}
    assert heard == {speaks}


def test_chatter_has_nothing_to_say_where_nobody_can_do_anything() -> None:
    world = world_of("a1 dr gr", "a2 gb ..")
    decision = RandomFacilitator(DoorsKeysGemsAdvice(world), 1.0).decide(world.initial, HORIZON, generator())
    assert decision == Decision(silence="nobody could do anything for anybody")
