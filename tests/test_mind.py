"""Minds around minds: one that runs an errand first and gives nothing away meanwhile, and one that fits nobody else."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broken_minds import Walker
from broken_worlds import Plank
from otherminds.distribution import Categorical
from otherminds.mind import NONE_OF_THESE, NoneOfThese, Parameter, WithErrand, without_finished_errand
from otherminds.observer import Observer
from otherminds.papers.protom.facilitator import with_none_of_these
from otherminds.testing import check_mind
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import Level, bundled_levels
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, State
from strategies import generator, moments, world_of, worlds


@dataclass(frozen=True)
class Errand:
    """Says its goal, and is over when it has seen enough."""

    goal: str
    enough: int
    seen: int = 0
    particle: int = 0

    def observe(self, obs: int, /) -> Errand:
        return replace(self, seen=self.seen + obs)

    def act(self) -> Categorical[str]:
        return Categorical.uniform([self.goal])

    @property
    def reached(self) -> bool:
        return self.seen > self.enough

    @property
    def over(self) -> bool:
        return self.seen >= self.enough


TOLD = WithErrand(Errand("mine", 9), Errand("yours", 2))


def test_it_runs_the_errand_first_and_is_itself_again_after_it() -> None:
    mind, said = TOLD, []
    for _ in range(4):
        said.append(mind.act().sample(generator()))
        mind = mind.observe(1)
    assert said == ["yours", "yours", "mine", "mine"]


def test_its_goal_is_its_own_and_it_is_over_when_that_is() -> None:
    assert TOLD.goal == "mine"
    assert not TOLD.observe(2).over
    assert TOLD.observe(9).over


def test_both_minds_see_what_happens() -> None:
    assert TOLD.observe(5) == WithErrand(Errand("mine", 9, 5), Errand("yours", 2, 5))
    assert hash(TOLD.observe(5)) == hash(TOLD.observe(2).observe(3))
    assert WithErrand(Errand("mine", 9), Errand("yours", 2)) == TOLD


def test_it_settles_once_the_errand_is_over() -> None:
    assert without_finished_errand(TOLD) is TOLD
    done = TOLD.observe(2)
    assert without_finished_errand(done) is done.mind
    assert without_finished_errand(done.mind) is done.mind


def test_who_has_been_told_twice_runs_the_last_errand_first() -> None:
    once: WithErrand[str] = WithErrand(Errand("mine", 9), Errand("first", 3))
    twice: WithErrand[str] = WithErrand(once, Errand("last", 1))
    said = [twice.observe(seen).act().sample(generator()) for seen in range(5)]
    assert said == ["last", "first", "first", "mine", "mine"]


def test_in_the_world_it_opens_the_door_then_goes_for_its_gem() -> None:
    world = world_of("gr a1 .. dr a2 gb", "## kr ## ## ## ##")
    plans = DoorsKeysGemsPlanner(world)
    told = WithErrand(Seeker(plans, 0, Goal("gem", 0), math.inf, 0.0), Seeker(plans, 0, Goal("door", 0), math.inf, 0.0))
    still = Seeker(plans, 1, Goal("gem", 1), math.inf, 0.0)
    steps = list(rollout(world, {"Ana": told, "Ben": still}, steps=20, rng=generator()))
    assert [world.spell(step.joint["Ana"]) for step in steps] == [
        *("down", "pickup key1", "up", "right", "unlock door1 with key1"),
        *("left", "left", "pickup gem1"),
    ]


pools = worlds(agents=(1, 2), gems=(2, 3), doors=(1, 2), keys=(1, 2))


@pytest.mark.slow
@given(moments(pools), st.lists(st.floats(-5, 0), min_size=3, max_size=3), st.integers(0, 99))
def test_watching_somebody_run_an_errand_says_nothing_about_their_goal(
    moment: tuple[DoorsKeysGems, State], weights: list[float], seed: int
) -> None:
    world, state = moment
    plans, rng = DoorsKeysGemsPlanner(world), generator(seed)
    errand = Seeker(plans, 0, Goal("door", 0))
    minds = tuple(WithErrand(Seeker(plans, 0, Goal("gem", g)), errand) for g in range(len(world.gems)))
    observer = Observer(minds, tuple(weights[: len(minds)])).see(state)
    prior = observer.posterior.probs
    for _ in range(6):
        if observer.minds[0].errand.over:
            break
        action = observer.minds[0].act().sample(rng)
        state = world.apply(state, 0, action)
        observer = observer.watch(action, state)
        assert observer.posterior.probs == pytest.approx(prior, abs=1e-12)


def test_after_the_errand_deeds_speak_again() -> None:
    plans = DoorsKeysGemsPlanner(world := world_of("gr .. a1 .. gb dr"))
    done = Seeker(plans, 0, Goal("door", 0))
    observer = Observer.over(WithErrand(Seeker(plans, 0, Goal("gem", g), beta=2.0), done) for g in (0, 1))
    opened, left = world.initial._replace(locked=0), world.vocabulary["left"]
    watched = observer.see(opened).watch(left, world.apply(opened, 0, left))
    assert watched.ask(lambda mind: mind.goal).prob(Goal("gem", 0)) > 0.95


# None of these


def watching(level: Level, plans: DoorsKeysGemsPlanner, i: int, prior: float, switch_rate: float) -> Observer[Any]:
    """An observer of agent i that knows all gems, and that none of them may be wanted."""
    minds: list[Any] = [Seeker(plans, i, Goal("gem", gem)) for gem in range(len(level.world.gems))]
    shares = [(1.0 - prior) / len(minds)] * len(minds) + [prior]
    return Observer.over([*minds, NoneOfThese(minds[0])], shares, switch_rate=switch_rate).see(level.world.initial)


@pytest.mark.slow
def test_who_does_anything_is_none_of_those_with_a_goal() -> None:
    found = []
    for n, level in enumerate(bundled_levels()):
        world, state, rng = level.world, level.world.initial, generator(n)
        observer = watching(level, DoorsKeysGemsPlanner(world), 0, 0.05, 0.003)
        for _ in range(40):
            able = {agent: world.actions(state, agent) for agent in world.agents}
            joint = {agent: each[int(rng.integers(len(each)))] for agent, each in able.items()}
            state = world.step(state, joint)
            observer = observer.watch(joint[world.agents[0]], state)
        belief = observer.ask(lambda mind: mind.goal)
        found.append(belief.prob(NONE_OF_THESE) >= 0.8)
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.slow
def test_a_goal_that_is_listed_is_known_two_steps_later_at_most() -> None:
    delays = []
    for level in bundled_levels():
        world, plans = level.world, DoorsKeysGemsPlanner(level.world)
        goals = [Goal("gem", gem) for gem in world.goals]
        minds = {a: Seeker(plans, i, goals[i], math.inf, 0.0) for i, a in enumerate(world.agents)}
        observers = [watching(level, plans, 0, *settings) for settings in ((0.0, 0.0), (0.05, 0.003))]
        known = [math.inf, math.inf]
        for t, step in enumerate(rollout(world, minds, steps=40, rng=generator(1))):
            observers = [o.watch(step.joint[world.agents[0]], step.after) for o in observers]
            sure = [o.ask(lambda mind: mind.goal).prob(goals[0]) >= 0.9 for o in observers]
            known = [min(first, t) if is_sure else first for first, is_sure in zip(known, sure, strict=True)]
        if known[0] < math.inf:
            delays.append(known[1] - known[0])
    assert len(delays) > 10
    assert max(delays) <= 2


def test_nobody_knows_what_none_of_these_wants() -> None:
    level = bundled_levels()[0]
    mind = NoneOfThese(Seeker(DoorsKeysGemsPlanner(level.world), 0, Goal("gem", 0)))
    seen = mind.observe(level.world.initial)
    assert seen.act().probs == pytest.approx([1 / len(seen.act())] * len(seen.act()))
    assert (seen.goal, seen.reached, seen.over, seen.particle) == (NONE_OF_THESE, False, True, 0)


@dataclass(frozen=True)
class Decided:
    """Goes one way, whatever it sees, and gives no other action a probability."""

    goal: str
    state: Any = None
    reached: bool = False
    over: bool = False
    particle: int = 0

    def observe(self, obs: Any, /) -> Decided:
        return replace(self, state=obs)

    def act(self) -> Categorical[str]:
        return Categorical.uniform([self.goal])


def test_none_of_these_does_what_the_world_allows_where_all_minds_are_decided() -> None:
    plank = Plank()
    decided = [Decided("left"), Decided("stay")]
    state = plank.start(generator())._replace(where=(1, 1))
    narrow: Observer[Any] = with_none_of_these(decided).see(state)
    with pytest.raises(ValueError, match="none of the 3 minds could have done 'right'"):
        narrow.watch("right", state)
    wide: Observer[Any] = with_none_of_these(decided, world=plank, agent="Ana").see(state)
    assert wide.watch("right", state).ask(lambda mind: mind.goal).prob(NONE_OF_THESE) == pytest.approx(1.0, abs=0.01)
    (stranger,) = (mind for mind in wide.minds if mind.goal == NONE_OF_THESE)
    assert stranger.act() == Categorical.uniform(("stay", "left", "right"))
    at_the_end = stranger.observe(state._replace(where=(2, 1)))
    assert at_the_end.act() == Categorical.uniform(("stay", "left"))
    assert stranger.act() == Categorical.uniform(("stay", "left", "right"))


def test_none_of_these_may_know_what_can_be_done_from_a_partial_view() -> None:
    """The plank shows only where the agent is and the wind."""
    stranger = NoneOfThese(Decided("left"), lambda view: Walker(view).ways)
    check_mind(stranger, Plank(), agent="Ben")
    assert stranger.observe((0, 5)).act() == Categorical.uniform(["stay", "right"])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 5.0), (3.0, 20.0)])
def test_parameters_between_bounds_are_numbers_on_the_real_line(low: float, high: float) -> None:
    parameter = Parameter("beta", low, high, (low, high))
    values = low + (high - low) * np.array([0.01, 0.3, 0.5, 0.99])
    free = parameter.free(values)
    assert parameter.value(free) == pytest.approx(values)
    assert free[2] == pytest.approx(0.0, abs=1e-9)
    assert parameter.value(np.array([-40.0, 40.0])) == pytest.approx([low, high])
    assert parameter.slope(free) == pytest.approx(
        (parameter.value(free + 1e-5) - parameter.value(free - 1e-5)) / 2e-5, rel=1e-6
    )
