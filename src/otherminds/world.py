"""Worlds are pure rules over hashable states; a trajectory is what happened in one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from otherminds.files.text import brief
from otherminds.mind import Mind

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
O_co = TypeVar("O_co", covariant=True)


class World(Protocol[S, O_co, A]):
    """A partially observable stochastic game ⟨S, A, T, Ω, O, R⟩ as pure functions of the state."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Who acts here, in the order in which their effects are applied."""

    def start(self, rng: np.random.Generator, /) -> S:
        """Draw s₀."""

    def actions(self, state: S, agent: str) -> tuple[A, ...]:
        """What the agent may do in this state."""

    def step(self, state: S, joint: Mapping[str, A], rng: np.random.Generator, /) -> S:
        """Draw s′ ~ T(· | s, a¹ … aⁿ)."""

    def observe(self, state: S, agent: str) -> O_co:
        """What the agent sees of the state: O(o | s)."""

    def reward(self, state: S, joint: Mapping[str, A], after: S) -> Mapping[str, float]:
        """R(s, a, s′) for every agent."""

    def done(self, state: S) -> bool:
        """Whether the episode has ended."""


@dataclass(frozen=True)
class Step(Generic[S, A]):
    """One decision of everybody: (s, a, s′), the state it was made in, the joint action, and what came of it."""

    __repr__ = brief

    state: S
    joint: Mapping[str, A]
    after: S


Trajectory = tuple[Step[S, A], ...]


def rollout(
    world: World[S, Any, A],
    minds: Mapping[str, Mind[Any, A]],
    *,
    steps: int,
    rng: np.random.Generator,
    state: S | None = None,
) -> Iterator[Step[S, A]]:
    """Run minds forward from `state` (default: s₀) until the world is done, at most `steps` steps.

    Every mind acts on its own observations alone: aⁱ ~ πⁱ(· | oⁱ₀ … oⁱₜ), s′ ~ T(· | s, a).
    """
    return (step for step, _ in rollout_with_minds(world, minds, steps=steps, rng=rng, state=state))


def rollout_with_minds(
    world: World[S, Any, A],
    minds: Mapping[str, Mind[Any, A]],
    *,
    steps: int | None = None,
    rng: np.random.Generator,
    acts: Mapping[str, np.random.Generator] | None = None,
    state: S | None = None,
) -> Iterator[tuple[Step[S, A], Mapping[str, Mind[Any, A]]]]:
    """A rollout that yields each step with the minds after they have observed its outcome. `steps` None: no limit.

    `acts` has the generators that draw the actions of some agents; all other chance is drawn by `rng`.
    """
    drawn_by = acts or {}
    state = world.start(rng) if state is None else state
    minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
    for _ in count() if steps is None else range(steps):
        if world.done(state):
            return
        joint = {agent: mind.act().sample(drawn_by.get(agent, rng)) for agent, mind in minds.items()}
        after = world.step(state, joint, rng)
        minds = {agent: mind.observe(world.observe(after, agent)) for agent, mind in minds.items()}
        yield Step(state, joint, after), minds
        state = after
