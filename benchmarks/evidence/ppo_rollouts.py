"""Rollouts for PPO in matrix worlds: a population plays in many environments at once, and the data it learns from.

Seats are reassigned for every rollout, so that members meet each other and themselves. Needs Numba.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from otherminds.papers.hypothetical_minds.ppo import Senses, ViewArrays
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.batch import Batch, observe, reset, step
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Float = NDArray[np.float32]
Bool = NDArray[np.bool_]
S = TypeVar("S", bound=np.generic)
NORMED = 1200  # steps that figures are given for, as in Cross et al. 2024


@dataclass(frozen=True)
class Settings:
    """How a population learns. A rollout is `length` steps of `seats` players, shared out evenly among the members.

    Usual values for PPO (Schulman et al. 2017), hardly varied; docs/systems/ppo.md lists them.
    """

    members: int = 2
    seats: int = 256
    length: int = 128
    hidden: tuple[int, ...] = (96, 96)  # tanh units of each hidden layer
    rate: float = 1e-3  # of Adam; falls to 0
    discount: float = 0.99  # γ
    trace: float = 0.95  # λ of generalised advantage estimation
    clip: float = 0.2
    entropy: float = 0.01  # weight of the bonus
    value: float = 0.5  # weight of the squared error of the values
    longest: float = 0.5  # norm of a member's gradient, at most
    epochs: int = 4
    parts: int = 4  # minibatches of a rollout
    trials: int = 64  # environments for the figure `against_random`
    between: int = 20  # rollouts from one such figure to the next

    def steps(self, world: InTheMatrix) -> int:
        """How many steps of environments a rollout has."""
        return self.length * (self.seats // world.rules.players)


class Judge(Protocol):
    """A population that plays: log-probabilities of the actions and values, from the features."""

    def judge(self, features: Float, /) -> tuple[Float, Float]:
        """For (members, samples, features): (members, samples, actions), and (members, samples)."""
        ...


class Rollout(NamedTuple):
    """What happened in some steps, in arrays of (steps, members, seats): rewards are shares of the largest payoff.

    `acting` is where an action has an effect; `live` where an episode has not ended, `goes_on` where it did not then.
    `values` has one more step.
    """

    features: Float
    actions: NDArray[np.int64]
    log_probs: Float
    values: Float
    rewards: Float
    acting: Bool
    live: Bool
    goes_on: Bool
    met: Bool

    def figures(self, scale: float) -> dict[str, float]:
        """A player's mean reward and number of meetings in 1200 steps."""
        a_step = NORMED / float(self.live.sum())
        return {"reward": float(self.rewards.sum()) * scale * a_step, "meetings": float(self.met.sum()) * a_step}


class Environments:
    """Many environments in which a population plays; a new episode starts where one ends, with the same seats."""

    def __init__(self, world: InTheMatrix, settings: Settings, rng: np.random.Generator) -> None:
        self.settings, self.senses = settings, Senses.of(world)
        self.batch = reset(world, settings.seats // world.rules.players, rng)
        self.seen = seen_in(self.batch)
        self.memory = self.senses.remember(self.senses.blank(self.seen.t.shape), self.seen)

    def play(self, judge: Judge, rng: np.random.Generator) -> Rollout:
        """One rollout, with seats drawn at random."""
        seats = rng.permutation(self.settings.seats).reshape(self.settings.members, -1)
        steps = [self._step(judge, seats, rng) for _ in range(self.settings.length)]
        values = [*(one.values for one in steps), judge.judge(self._features(seats))[1]]
        columns = {name: np.stack([getattr(one, name) for one in steps]) for name in Rollout._fields}
        return Rollout(**columns | {"values": np.stack(values)})

    def _step(self, judge: Judge, seats: NDArray[np.int64], rng: np.random.Generator) -> Rollout:
        """What happens in one step: the arrays of a rollout without their first axis."""

        def seated(array: NDArray[S]) -> NDArray[S]:
            return np.broadcast_to(array, shape).reshape(-1)[seats]

        states, shape = self.batch.states, self.seen.t.shape
        features = self._features(seats)
        every, values = judge.judge(features)
        actions = chosen(every, rng)
        live, acting = seated(~states.ended[:, None]), seated(~self.seen.frozen)
        joint = np.empty(self.settings.seats, dtype=np.int64)
        joint[seats] = actions
        step(self.batch, joint.reshape(shape), rng, restart=True)
        self.seen = seen_in(self.batch)
        self.memory = self.senses.remember(self.memory, self.seen)
        return Rollout(
            features,
            actions,
            np.take_along_axis(every, actions[..., None], -1)[..., 0],
            values,
            (seated(states.rewards) / self.senses.scale).astype(np.float32),
            acting & live,
            live,
            live & seated(~states.ended[:, None]),
            seated(states.met.sum(axis=(-2, -1)) > 0),
        )

    def _features(self, seats: NDArray[np.int64]) -> Float:
        features = self.senses.features(self.seen, self.memory)
        return features.reshape(-1, features.shape[-1])[seats]


def seen_in(batch: Batch) -> ViewArrays:
    """What all players of a batch see, in arrays of (environments, players)."""
    states, windows = batch.states, observe(batch)
    return ViewArrays(
        np.broadcast_to(states.t[:, None], states.cells.shape),
        windows.reshape(*windows.shape[:2], -1),
        states.inventories.copy(),
        1 - states.cooldowns / COOLDOWN,
        states.clocks != FREE,
        states.rewards.copy(),
    )


def chosen(log_probs: Float, rng: np.random.Generator) -> NDArray[np.int64]:
    """An action drawn for every player (Gumbel-max trick)."""
    actions: NDArray[np.int64] = np.argmax(log_probs + rng.gumbel(size=log_probs.shape), axis=-1)
    return actions


def advantages(rollout: Rollout, discount: float, trace: float) -> Float:
    """Generalised advantage estimation (Schulman et al. 2016): Σₖ (γλ)ᵏ δₜ₊ₖ, up to the end of the episode."""
    found, later = np.zeros_like(rollout.rewards), np.zeros_like(rollout.rewards[0])
    for t in reversed(range(len(found))):
        rest = discount * rollout.goes_on[t]
        later = rollout.rewards[t] + rest * rollout.values[t + 1] - rollout.values[t] + rest * trace * later
        found[t] = later
    return found


def lessons_of(rollout: Rollout, settings: Settings) -> list[NDArray[Any]]:
    """The training samples of a rollout, in the order of `ppo_learner.Lessons`: arrays of (members, samples, …)."""
    gains = advantages(rollout, settings.discount, settings.trace)
    arrays: list[NDArray[Any]] = [
        rollout.features,
        rollout.actions,
        rollout.log_probs,
        gains,
        gains + rollout.values[:-1],
    ]
    arrays += [rollout.acting.astype(np.float32), rollout.live.astype(np.float32)]
    return [np.ascontiguousarray(a.swapaxes(0, 1)).reshape(settings.members, -1, *a.shape[3:]) for a in arrays]


def against_random(world: InTheMatrix, judge: Judge, settings: Settings, rng: np.random.Generator) -> float:
    """Mean reward of the first player in 1200 steps, a member of the population, while all others act at random."""
    senses, batch = Senses.of(world), reset(world, settings.trials, rng)
    memory, reward = senses.blank((settings.trials,)), 0.0
    for _ in range(NORMED):
        views: tuple[NDArray[Any], ...] = seen_in(batch)
        seen = ViewArrays(*(array[:, 0] for array in views))
        memory = senses.remember(memory, seen)
        features = senses.features(seen, memory).reshape(settings.members, -1, senses.width)
        joint = rng.integers(len(ACTIONS), size=(settings.trials, world.rules.players))
        joint[:, 0] = chosen(judge.judge(features)[0], rng).ravel()
        step(batch, joint, rng, restart=True)
        reward += float(batch.states.rewards[:, 0].sum())
    return reward / settings.trials
