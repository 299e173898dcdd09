"""A mind that runs an errand: it does that first, then is itself again, and gives nothing away meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.mind import WithErrand, without_finished_errand
from otherminds.observer import Observer
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.agent import Seeker
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
