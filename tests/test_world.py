"""Rollouts: reproducible, bounded, and every mind lives on its own observations alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.world import Step, rollout
from strategies import generator


class Tally(NamedTuple):
    """A secret digit for each of two people, and how often the digits have been drawn."""

    secrets: tuple[int, int]
    drawn: int = 0


@dataclass(frozen=True)
class Secrets:
    """Both get a new secret digit at every step, until `rounds` steps have gone."""

    rounds: int = 5
    agents: tuple[str, ...] = ("Ana", "Ben")

    def start(self, rng: np.random.Generator, /) -> Tally:
        return Tally((int(rng.integers(10)), int(rng.integers(10))))

    def actions(self, state: Tally, agent: str) -> tuple[int, ...]:
        return tuple(range(10))

    def step(self, state: Tally, joint: Mapping[str, int], rng: np.random.Generator, /) -> Tally:
        return Tally((int(rng.integers(10)), int(rng.integers(10))), state.drawn + 1)

    def observe(self, state: Tally, agent: str) -> int:
        return state.secrets[self.agents.index(agent)]

    def reward(self, state: Tally, joint: Mapping[str, int], after: Tally) -> dict[str, float]:
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: Tally) -> bool:
        return state.drawn >= self.rounds


@dataclass(frozen=True)
class Sum:
    """Says the sum of all it has seen so far."""

    seen: int = 0

    def observe(self, obs: int, /) -> Sum:
        return replace(self, seen=self.seen + obs)

    def act(self) -> Categorical[int]:
        return Categorical.uniform([self.seen])


@dataclass(frozen=True)
class Dice:
    """Says anything."""

    def observe(self, obs: int, /) -> Dice:
        return self

    def act(self) -> Categorical[int]:
        return Categorical.uniform(range(10))


def play(world: Secrets, seed: int, steps: int = 100, state: Tally | None = None) -> list[Step[Tally, int]]:
    minds = {agent: Dice() for agent in world.agents}
    return list(rollout(world, minds, steps=steps, rng=generator(seed), state=state))


def test_a_seed_decides_everything() -> None:
    assert play(Secrets(), 1) == play(Secrets(), 1)
    assert play(Secrets(), 1) != play(Secrets(), 2)


def test_it_stops_when_the_world_is_done() -> None:
    happened = play(Secrets(rounds=5), 0)
    assert [step.after.drawn for step in happened] == [1, 2, 3, 4, 5]


def test_it_stops_after_so_many_steps() -> None:
    assert len(play(Secrets(rounds=5), 0, steps=3)) == 3
    assert play(Secrets(), 0, steps=0) == []


def test_nothing_happens_in_a_world_that_is_done() -> None:
    assert play(Secrets(), 0, state=Tally((1, 2), drawn=5)) == []


def test_it_goes_on_from_the_state_it_is_given() -> None:
    first = Tally((1, 2), drawn=3)
    happened = play(Secrets(), 0, state=first)
    assert (happened[0].state, len(happened)) == (first, 2)


def test_every_step_begins_where_the_one_before_ended() -> None:
    happened = play(Secrets(), 0)
    assert [step.state for step in happened[1:]] == [step.after for step in happened[:-1]]


def test_every_mind_acts_on_all_of_its_own_observations_and_no_others() -> None:
    world = Secrets()
    happened = list(rollout(world, {"Ana": Sum(), "Ben": Sum()}, steps=9, rng=generator(3)))
    for i, agent in enumerate(world.agents):
        for t, step in enumerate(happened):
            assert step.joint[agent] == sum(earlier.state.secrets[i] for earlier in happened[: t + 1])


def test_nothing_runs_before_it_is_asked_for() -> None:
    rng = generator(0)
    untouched = rng.bit_generator.state
    rollout(Secrets(), {"Ana": Dice(), "Ben": Dice()}, steps=5, rng=rng)
    assert rng.bit_generator.state == untouched
