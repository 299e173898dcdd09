"""Advice in Doors-Keys-Gems: it can be followed, and its forecast savings equal those of playing it out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.mind import GoalDirected, NoneOfThese, WithErrand
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, MOVES, NOTHING, STAY, USED, Action, DoorsKeysGems, State
from strategies import BOTH, Alone, deed, generator, moments, world_of, worlds

Moment = tuple[DoorsKeysGems, State]

some = worlds(sides=(2, 6), agents=(2, 3), apart=True, forbid=True)
small = worlds(sides=(2, 4), agents=(2, 2), keys=(0, 2), doors=(1, 2), gems=(1, 2), apart=True, forbid=True)
lively = worlds(sides=(2, 5), turns=BOTH, forbid=True)
DOOR = Advice(1, Goal("door", 0), 0)
GIVE = Advice(1, Goal("give", 0, 0), 0)


def gems_of(world: DoorsKeysGems) -> tuple[Goal, ...]:
    return tuple(Goal("gem", gem) for gem in world.goals)


# One step at a time: everybody looks at the state afresh and does the first thing on a best way


def next_deed(plans: DoorsKeysGemsPlanner, state: State, i: int, goal: Goal) -> Action:
    if plans.achieved(state, i, goal) or not plans.available(state, i, goal):
        return STAY
    if goal.kind == "give":
        if state.items[goal.thing] == i:
            return towards_friend(plans, state, i, goal)
        goal = Goal("key", goal.thing)
    return deed(plans.world, state, i, plans.next_steps(goal, plans.stage_for(state, i, goal))(state.cells[i]))


def towards_friend(plans: DoorsKeysGemsPlanner, state: State, i: int, goal: Goal) -> Action:
    """Hand it over if the friend is one step away, else walk nearer, or one step off if in the same cell."""
    away, here = plans.map.distances_to(state.cells[goal.recipient], state.locked), state.cells[i]
    if away[here] == 1:
        return Action("handover", goal.thing, goal.recipient)
    wanted = away[here] - 1 if away[here] else 1
    for move, offset in zip(MOVES, plans.world.grid.offsets.values(), strict=True):
        if plans.world.passable(here + offset, state.locked) and away[here + offset] == wanted:
            return move
    return STAY


def step_by_step(
    world: DoorsKeysGems, state: State, goals: tuple[Goal, ...], favour: Advice | None, horizon: int
) -> tuple[int, ...]:
    """When each of them has what they want."""
    plans, found = DoorsKeysGemsPlanner(world), [horizon] * len(goals)
    for t in range(horizon):
        found = [min(f, t) if plans.achieved(state, i, goals[i]) else f for i, f in enumerate(found)]
        if max(found) <= t:
            break
        if favour and plans.settled(state, favour.helper, favour.goal):
            favour = None
        wants = [favour.goal if favour and favour.helper == i else goal for i, goal in enumerate(goals)]
        state = world.step(state, {a: next_deed(plans, state, i, wants[i]) for i, a in enumerate(world.agents)})
    return tuple(found)


def minds_of(advice: DoorsKeysGemsAdvice, state: State, favour: Advice | None) -> list[GoalDirected[Action]]:
    """Everybody's mind, of which the helper's follows the favour."""
    gems = gems_of(advice.world)
    minds: list[GoalDirected[Action]] = [Seeker(advice.planner, i, gem, state=state) for i, gem in enumerate(gems)]
    if favour:
        minds[favour.helper] = WithErrand(minds[favour.helper], advice.errand(state, favour, minds[favour.helper]))
    return minds


@pytest.mark.slow
@given(moments(lively, steps=6), st.integers(0, 50))
def test_steps_are_those_of_playing_it_out(moment: Moment, horizon: int) -> None:
    world, state = moment
    advice, goals = DoorsKeysGemsAdvice(world), gems_of(world)
    for favour in (None, *advice.candidates(state)):
        expected = step_by_step(world, state, goals, favour, horizon)
        assert advice.finish(state, minds_of(advice, state, favour), horizon) == expected
        assert advice.steps(state, goals, favour, horizon) == max(expected)


@pytest.mark.slow
@settings(max_examples=25)
@given(moments(lively, steps=6), moments(lively, steps=6))
def test_what_was_asked_before_does_not_change_the_answer(moment: Moment, other: Moment) -> None:
    world, state = moment
    used, goals = DoorsKeysGemsAdvice(world), gems_of(world)
    said = [None, *used.candidates(state)]
    first = [used.steps(state, goals, favour, 60) for favour in said]
    again = [used.steps(state, goals, favour, 60) for favour in said]
    fresh = [DoorsKeysGemsAdvice(world).steps(state, goals, favour, 60) for favour in said]
    shorter = [used.steps(state, goals, favour, 3) for favour in said]
    assert first == again == fresh
    assert shorter == [min(steps, 3) for steps in first]


def test_who_needs_nobody_is_done_when_they_are_done() -> None:
    """Ana takes three steps; Ben never gets past the door if nobody opens it."""
    world = world_of("a1 .. gr", ".. ## ##", "kr dr gb", ".. ## ##", "a2 ## ##", goals=(0, 1))
    state = world.initial._replace(items=(0, GROUND, GROUND))
    advice = DoorsKeysGemsAdvice(world)
    assert advice.finish(state, minds_of(advice, state, None), 80) == (3, 80)
    helped = advice.finish(state, minds_of(advice, state, Advice(0, Goal("door", 0), 1)), 80)
    assert helped[1] < 80
    assert helped[0] > 3


def test_who_wants_nothing_known_stands_still_and_is_done() -> None:
    world = world_of("a1 .. gr .. a2", goals=(0, 0))
    advice = DoorsKeysGemsAdvice(world)
    ana, ben = minds_of(advice, world.initial, None)
    assert advice.finish(world.initial, [ana, NoneOfThese(ben)], 80) == (3, 0)


def test_a_deadlock_takes_for_ever() -> None:
    world = world_of("a1 dr gr", "## ## ##", "a2 gb ..")
    advice = DoorsKeysGemsAdvice(world)
    assert advice.candidates(world.initial) == []
    assert advice.steps(world.initial, gems_of(world), None, 80) == 80
    assert advice.steps(world.initial, gems_of(world), None, 12345) == 12345


def test_nothing_is_left_to_do_where_everybody_has_their_gem() -> None:
    world = world_of("gr a1 dr a2 gb kr")
    state = world.initial._replace(items=(GROUND, 0, 1))
    assert DoorsKeysGemsAdvice(world).steps(state, gems_of(world), DOOR, 80) == 0


def test_a_long_walk_takes_as_many_steps_as_it_takes() -> None:
    rows = [" ".join([".."] * 64) if y % 2 == 0 else " ".join(["##"] * 63 + [".."]) for y in range(32)]
    rows = [row if y % 4 != 3 else " ".join(reversed(row.split())) for y, row in enumerate(rows)]
    rows[0], rows[-1] = rows[0].replace("..", "a1", 1), rows[-1].replace("..", "gr", 1)
    world = world_of(*rows)
    cost = DoorsKeysGemsPlanner(world).cost(world.initial, 0, Goal("gem", 0))
    assert cost == 16 * 63 + 31 + 1
    assert DoorsKeysGemsAdvice(world).steps(world.initial, gems_of(world), None, 5000) == cost


# Candidates


@pytest.mark.slow
@given(moments(some, steps=6))
def test_whoever_follows_an_offered_favour_completes_it(moment: Moment) -> None:
    world, state = moment
    advice = DoorsKeysGemsAdvice(world)
    for favour in advice.candidates(state):
        later, steps = state, 0
        while advice.status(later, favour) == "running" and steps < 200:
            action = next_deed(advice.planner, later, favour.helper, favour.goal)
            later, steps = world.apply(later, favour.helper, action), steps + 1
        assert advice.status(later, favour) == "completed"
        assert steps == advice.effort(state, favour)
        if favour.goal.kind == "give":
            assert later.items[favour.goal.thing] == favour.friend


@pytest.mark.slow
@given(moments(some, steps=6), st.integers(0, 9))
def test_a_mind_told_to_open_a_door_opens_it_whatever_ties_it_breaks(moment: Moment, seed: int) -> None:
    world, state = moment
    advice, rng = DoorsKeysGemsAdvice(world), generator(seed)
    for favour in (f for f in advice.candidates(state) if f.goal.kind == "door"):
        own = Seeker(advice.planner, favour.helper, Goal("gem", 0), math.inf, 0.0)
        errand, later = advice.errand(state, favour, own), state
        for _ in range(advice.effort(state, favour)):
            assert advice.status(later, favour) == "running"
            later = world.apply(later, favour.helper, errand.observe(later).act().sample(rng))
        assert advice.status(later, favour) == "completed"


@pytest.mark.slow
@given(moments(small, steps=5))
def test_nobody_is_asked_to_open_a_door_they_cannot_open_and_everybody_who_can_is(moment: Moment) -> None:
    world, state = moment
    asked = {(f.helper, f.goal.thing) for f in DoorsKeysGemsAdvice(world).candidates(state) if f.goal.kind == "door"}
    able = {
        (i, d)
        for i in range(len(world.agents))
        for d in range(len(world.doors))
        if Alone(world, i, state).costs(Goal("door", d)).get(state, 0) > 0
    }
    assert asked == able


@pytest.mark.slow
@given(moments(small, steps=5))
def test_nobody_is_asked_to_give_what_they_could_never_give(moment: Moment) -> None:
    world, state = moment
    for favour in DoorsKeysGemsAdvice(world).candidates(state):
        if favour.goal.kind == "give":
            reached = Alone(world, favour.helper, state).before
            assert any(later.items[favour.goal.thing] == favour.friend for later in reached)
            assert not {(favour.helper, favour.goal.thing), (favour.friend, favour.goal.thing)} & world.forbidden


def test_every_favour_of_a_small_world_by_name() -> None:
    world = world_of("kr a1 .. a2 .. kb dr gr", goals=(0, 0))
    advice = DoorsKeysGemsAdvice(world)
    said = {advice.address(f) for f in advice.candidates(world.initial)}
    assert said == {
        "Ana: unlock the red door for Ben",
        "Ben: unlock the red door for Ana",
        "Ana: hand the red key to Ben",
        "Ben: hand the red key to Ana",
        "Ana: hand the blue key to Ben",
        "Ben: hand the blue key to Ana",
    }


@pytest.mark.parametrize("holder", [0, USED], ids=["the friend has it", "it has been used"])
def test_what_is_done_is_not_asked_for(holder: int) -> None:
    world = world_of("a1 .. a2 kr dr gr", goals=(0, 0))
    candidates = DoorsKeysGemsAdvice(world).candidates(world.initial._replace(items=(holder, GROUND), locked=0))
    assert GIVE not in candidates
    assert all(favour.goal.kind != "door" for favour in candidates)


def test_a_friend_behind_a_locked_door_cannot_be_given_anything() -> None:
    world = world_of("a1 dr a2 kr gr", goals=(0, 0))
    assert DoorsKeysGemsAdvice(world).candidates(world.initial) == [DOOR]


def test_a_friend_whom_fetching_the_key_brings_into_reach_can_be_given_it() -> None:
    beyond = world_of("a1 kr db a2 kb", goals=(NOTHING, NOTHING))
    assert Advice(1, Goal("give", 0, 0), 0) in DoorsKeysGemsAdvice(beyond).candidates(beyond.initial)
    at_hand = world_of("a1 .. db a2 kb kr", goals=(NOTHING, NOTHING))
    assert Advice(1, Goal("give", 1, 0), 0) not in DoorsKeysGemsAdvice(at_hand).candidates(at_hand.initial)


# What a favour takes and where it stands


def test_the_status_of_a_favour() -> None:
    world = world_of("a1 .. a2 kr dr gr", goals=(0, 0))
    advice, start = DoorsKeysGemsAdvice(world), world.initial
    assert advice.status(start, DOOR) == advice.status(start, GIVE) == "running"
    given = start._replace(items=(0, GROUND))
    assert (advice.status(given, GIVE), advice.status(given, DOOR)) == ("completed", "impossible")
    opened = start._replace(items=(USED, GROUND), locked=0)
    assert advice.status(opened, DOOR) == "completed"


def test_the_effort_of_a_favour() -> None:
    world = world_of("a1 .. a2 kr dr gr", goals=(0, 0))
    advice = DoorsKeysGemsAdvice(world)
    assert advice.effort(world.initial, DOOR) == 3
    assert advice.effort(world.initial, GIVE) == 2 + 3
    assert advice.effort(world.initial._replace(items=(1, GROUND)), GIVE) == 2


def test_giving_something_in_the_same_cell_takes_two_steps() -> None:
    world = world_of("a1 .. a2 kr dr gr", goals=(0, 0))
    state = world.initial._replace(cells=(1, 1), items=(1, GROUND))
    assert DoorsKeysGemsAdvice(world).effort(state, GIVE) == 2


def test_an_errand_is_run_by_somebody_as_rational() -> None:
    world = world_of("a1 .. a2 kr dr gr", goals=(0, 0))
    advice = DoorsKeysGemsAdvice(world)
    mind = Seeker(advice.planner, 1, Goal("gem", 0), beta=1.5, lapse=0.2, state=world.initial)
    errand = Seeker(advice.planner, 1, Goal("door", 0), beta=1.5, lapse=0.2, state=world.initial)
    assert advice.errand(world.initial, DOOR, mind) == errand
    assert advice.errand(world.initial, DOOR, WithErrand(mind, advice.errand(world.initial, GIVE, mind))) == errand


# How it is put


def test_who_cannot_get_there_alone() -> None:
    world = world_of("a1 dr gr", ".. ## ##", ".. a2 kr", ".. gb ..")
    assert explained(world, DOOR, needed=True, saves=60.0) == (
        "Ben, please unlock the red door for Ana. "
        "I believe Ana wants the red gem, and Ana cannot get there without your help."
    )


def explained(world: DoorsKeysGems, favour: Advice, **reason: Any) -> str:
    known: dict[str, Any] = {
        "friends": ("Ana",),
        "goal": Goal("gem", 0),
        "sure": True,
        "needed": False,
        "saves": 6.4,
    } | reason
    return DoorsKeysGemsAdvice(world).explain(world.initial, favour, **known)


WORDY = world_of("a1 dr gr", ".. ## ..", ".. ## ..", "kr .. ..", "a2 gb ..")


def test_who_would_need_longer() -> None:
    assert explained(WORDY, DOOR) == (
        "Ben, please unlock the red door for Ana. I believe Ana wants the red gem, and this should save about 6 steps."
    )
    assert "hand the red key to Ana. " in explained(WORDY, GIVE)


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ({"goal": None}, "Whichever gem Ana wants, this should save about 6 steps."),
        ({"goal": None, "sure": False}, "I am not sure which gem Ana wants, but this should save about 6 steps."),
        ({"goal": None, "needed": True}, "Whichever gem Ana wants, Ana cannot get there without your help."),
        (
            {"goal": None, "friends": ("Ana", "Cem")},
            "Whichever gem Ana and Cem want, this should save about 6 steps.",
        ),
        (
            {"friends": ("Ana", "Cem"), "saves": 1.2},
            "I believe Ana wants the red gem, and this should save about 1 step.",
        ),
        ({"saves": 0.4}, "I believe Ana wants the red gem, and this spares you a detour."),
    ],
)
def test_only_what_is_believed_is_said(reason: dict[str, Any], why: str) -> None:
    assert explained(WORDY, DOOR, **reason) == f"Ben, please unlock the red door for Ana. {why}"


def test_things_of_the_same_colour_are_told_apart_by_name() -> None:
    world = world_of("a1 dr dr gr", "a2 kr kr db", goals=(0, 0))
    advice = DoorsKeysGemsAdvice(world)
    assert advice.words(Advice(1, Goal("door", 1), 0)) == "unlock the red door (door2) for Ana"
    assert advice.words(Advice(1, Goal("door", 2), 0)) == "unlock the blue door for Ana"
    assert advice.words(Advice(1, Goal("give", 0, 0), 0)) == "hand the red key (key1) to Ana"
