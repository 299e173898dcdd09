"""Joint optima against breadth-first search with the world's own rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.papers.protom.levels.maps import JointPlanner
from otherminds.planning.joint import JointPositions
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems import planner
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State
from otherminds.worlds.grid import Grid
from strategies import PICTURES, Picture, generator, moments, world_of, worlds

LONG = 60


def smaller_than(cells: int, some: st.SearchStrategy[DoorsKeysGems]) -> st.SearchStrategy[DoorsKeysGems]:
    return some.filter(lambda world: world.grid.width * world.grid.height <= cells)


pairs = smaller_than(12, worlds(sides=(1, 4), agents=(2, 2), keys=(0, 2), doors=(0, 2), gems=(2, 2)))
tight = smaller_than(9, worlds(sides=(1, 2), agents=(2, 2), keys=(1, 2), doors=(1, 2), gems=(2, 2), colours=1))
alone = smaller_than(12, worlds(sides=(1, 4), agents=(1, 1), keys=(0, 3), doors=(0, 3), gems=(1, 2)))
trios = smaller_than(7, worlds(sides=(1, 3), agents=(3, 3), keys=(1, 1), doors=(1, 1), gems=(3, 3), colours=1))
roomy = worlds(sides=(3, 5), agents=(2, 3), keys=(0, 3), doors=(1, 3), gems=(3, 3))


# The slow answer: everything that everybody could do, but for touching a gem that is not their own


def proper(world: DoorsKeysGems, i: int, action: Action) -> bool:
    gem = action.item - len(world.keys)
    return action.verb == "unlock" or gem < 0 or gem == world.goals[i]


def after_one_step(world: DoorsKeysGems, states: Iterable[State]) -> set[State]:
    """All states that some joint action of everybody leads to: effects apply in the order of the agents."""
    found = set(states)
    for i in range(len(world.agents)):
        found = {world.apply(s, i, a) for s in found for a in world.options(s, i) if proper(world, i, a)}
    return found


def slow_makespan(world: DoorsKeysGems) -> int | None:
    front = reached = {world.initial}
    for t in range(10_000):
        if any(world.done(state) for state in front):
            return t
        front = after_one_step(world, front) - reached
        reached = reached | front
        if not front:
            return None
    raise AssertionError("a tiny world cannot keep anybody busy for so long")


@settings(max_examples=15)
@given(moments(pairs, steps=5))
def test_the_slow_answer_tries_every_joint_action_of_the_world(moment: tuple[DoorsKeysGems, State]) -> None:
    world, state = moment
    words = [[a for a in world.vocabulary.values() if proper(world, i, a)] for i in range(2)]
    every = {world.step(state, dict(zip(world.agents, joint, strict=True))) for joint in product(*words)}
    assert after_one_step(world, [state]) == every


def check(world: DoorsKeysGems, limit: int) -> None:
    expected = slow_makespan(world)
    assert JointPlanner(world).makespan(10_000 if expected is None else expected) == expected
    assert JointPlanner(world).makespan(limit) == (None if expected is None or expected > limit else expected)


@pytest.mark.slow
@given(pairs | tight, st.integers(0, 15))
def test_two_people_cannot_be_faster_nor_need_they_be_slower(world: DoorsKeysGems, limit: int) -> None:
    check(world, limit)


@pytest.mark.slow
@settings(max_examples=20)
@given(alone, st.integers(0, 15))
def test_one_person_alone(world: DoorsKeysGems, limit: int) -> None:
    check(world, limit)


@pytest.mark.slow
@settings(max_examples=10)
@given(trios, st.integers(0, 10))
def test_three_people(world: DoorsKeysGems, limit: int) -> None:
    check(world, limit)


# Bounds in larger worlds


@pytest.mark.slow
@settings(max_examples=20)
@given(roomy, st.integers(0, 9))
def test_nothing_that_people_do_or_could_be_told_beats_perfect_cooperation(world: DoorsKeysGems, seed: int) -> None:
    advice, goals = DoorsKeysGemsAdvice(world), tuple(Goal("gem", gem) for gem in world.goals)
    minds = {a: Seeker(advice.planner, i, goals[i], math.inf, 0.0) for i, a in enumerate(world.agents)}
    played = [step.after for step in rollout(world, minds, steps=LONG, rng=generator(seed))]
    said = (None, *advice.candidates(world.initial))
    lengths = [advice.steps(world.initial, goals, favour, LONG) for favour in said]
    lengths += [len(played)] if played and world.done(played[-1]) else []
    if (shortest := min(lengths)) < LONG:
        together = JointPlanner(world).makespan(shortest)
        assert together is not None
        assert 0 <= together <= shortest


@pytest.mark.slow
@settings(max_examples=20)
@given(roomy, st.sampled_from(PICTURES))
def test_it_is_the_same_in_a_mirror(world: DoorsKeysGems, picture: Callable[[DoorsKeysGems], Picture]) -> None:
    assert JointPlanner(picture(world).world).makespan(40) == JointPlanner(world).makespan(40)


# By hand


OPENER_FIRST = world_of("a2 dr .. .. gb", "## kr ## ## ##", "gr a1 .. .. ..", goals=(1, 0))
OPENER_LAST = world_of("a1 dr .. .. gb", "## kr ## ## ##", "gr a2 .. .. ..", goals=(0, 1))


@pytest.mark.parametrize(("world", "steps"), [(OPENER_FIRST, 7), (OPENER_LAST, 8)], ids=["first", "last"])
def test_a_door_is_open_in_the_same_step_to_those_who_act_after_the_one_who_opens_it(
    world: DoorsKeysGems, steps: int
) -> None:
    assert JointPlanner(world).makespan(20) == slow_makespan(world) == steps


def test_who_has_everything_at_hand_needs_no_step_more_than_to_take_it() -> None:
    world = world_of("a1 gr", "a2 gb")
    assert JointPlanner(world).makespan(2) == 2
    assert JointPlanner(world).makespan(1) is None


def test_a_key_is_handed_on_half_way() -> None:
    """They meet after three steps, the key changes hands in the fourth, the door opens in the eighth."""
    world = world_of("gr dr a1 .. .. .. a2 kr gb")
    assert DoorsKeysGemsAdvice(world).planner.cost(world.initial, 0, Goal("gem", 0)) == 15
    assert JointPlanner(world).makespan(20) == slow_makespan(world) == 11


def test_what_nobody_can_open_stays_shut() -> None:
    assert JointPlanner(world_of("gr dr a1 kb a2 gb")).makespan(500) is None


@pytest.mark.slow
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_moves_never_leave_the_grid_nor_wrap_around(width: int, height: int, data: st.DataObject) -> None:
    grid = Grid.of(width, height, [])
    space = JointPositions(grid.stride, height, 3)
    cells = data.draw(st.lists(st.sampled_from(list(grid.cells())), min_size=3, max_size=3))
    i = data.draw(st.integers(0, 2))
    expected = {(*cells[:i], cell, *cells[i + 1 :]) for cell in (cells[i], *grid.neighbours[cells[i]])}
    assert space.moved(space.of(cells), i, grid.floor) == sum(space.of(where) for where in expected)


@pytest.mark.slow
@given(st.integers(1, 4), st.integers(1, 4), st.permutations(range(3)), st.data())
def test_beside_means_one_step_apart(width: int, height: int, who: list[int], data: st.DataObject) -> None:
    grid = Grid.of(width, height, [])
    space = JointPositions(grid.stride, height, 3)
    cells = data.draw(st.lists(st.sampled_from(list(grid.cells())), min_size=3, max_size=3))
    i, j, _ = who
    together = bool(space.of(cells) & space.beside(i, j, grid.floor))
    assert together == (cells[j] in grid.neighbours[cells[i]])
    assert bool(space.of(cells) & space.within(i, 1 << cells[j])) == (cells[i] == cells[j])


def test_who_stands_in_a_corner_is_beside_two_cells_only() -> None:
    space, floor = JointPositions(3, 2, 2), Grid.of(2, 2, []).floor
    corner = space.beside(0, 1, floor) & space.within(0, 1)
    assert corner == space.of((0, 1)) | space.of((0, 3))


def test_a_plan_that_would_take_too_many_states_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = world_of("a1 kr kb ky gr", "dr db dy a2 gb")
    enough = JointPlanner(keys)
    assert enough.makespan(20) is not None
    monkeypatch.setattr(planner, "MOST_STATES", enough.map.expansion.states - 1)
    with pytest.raises(InputError, match=r"planning here needs more than [0-9,]+ states"):
        JointPlanner(keys).makespan(20)


def test_positions_of_many_people_are_refused_before_they_take_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MOST_STATES", 200)
    assert JointPlanner(world_of("gr gb gy a1 a2 a3")).makespan(20) is not None
    with pytest.raises(InputError, match=r"more than 200 states \(use"):
        JointPlanner(world_of("gr gb gy a1 a2 a3", *[" .." * 6] * 19)).makespan(20)


def test_forecasts_count_as_states() -> None:
    world = world_of("a1 kr .. gr", ".. dr a2 gb")
    advice, goals = DoorsKeysGemsAdvice(world), tuple(Goal("gem", gem) for gem in world.goals)
    advice.steps(world.initial, goals, None, LONG)
    counted = advice.planner.map.expansion.states
    advice.steps(world.initial, goals, None, LONG)
    assert advice.planner.map.expansion.states == counted
    DoorsKeysGemsAdvice(world, advice.planner).steps(world.initial, goals, None, LONG)
    assert advice.planner.map.expansion.states > counted
