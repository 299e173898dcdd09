"""PPO in matrix worlds, as a baseline: a population learns from many environments at once, from reward alone.

    for progress in train(in_the_matrix("rws_repeated"), 1_000_000, rng):
        print(progress.figures)
    progress.networks[0].save(Path("weights.npz"))

Who sits where is drawn anew for every rollout, so that members meet each other and themselves. Needs PyTorch and Numba:
`pip install "otherminds[train,fast]"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.papers.hypothetical_minds.ppo import Network, Seen, Senses
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.batch import Batch, observe, reset, step
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Float = NDArray[np.float32]
Bool = NDArray[np.bool_]
S = TypeVar("S", bound=np.generic)
NORMED = 1200


@dataclass(frozen=True)
class Settings:
    """How a population learns. A rollout is `length` steps of `seats` players, shared out evenly among the members."""

    members: int = 2
    seats: int = 256
    length: int = 128
    hidden: tuple[int, ...] = (96, 96)
    rate: float = 1e-3
    discount: float = 0.99
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    longest: float = 0.5
    epochs: int = 4
    parts: int = 4
    trials: int = 64
    between: int = 20

    def steps(self, world: InTheMatrix) -> int:
        """How many steps of environments a rollout has."""
        return self.length * (self.seats // world.rules.players)


class Progress(NamedTuple):
    """After a rollout: steps of environments so far, the figures of a learning curve, and the networks."""

    steps: int
    figures: dict[str, float]
    networks: list[Network]


def train(
    world: InTheMatrix, steps: int, rng: np.random.Generator, settings: Settings | None = None
) -> Iterator[Progress]:
    """Learn for so many steps of environments; the learning rate falls to 0. The same generator, the same networks.

    Raises InputError if PyTorch or Numba is not installed, or the players do not fit the seats.
    """
    settings, learner = settings or Settings(), _learner()
    if settings.seats % world.rules.players or settings.seats % settings.members or settings.trials % settings.members:
        message = f"{settings.seats} seats are not the same number for all of {world.rules.players} players and"
        raise InputError(f"{message} {settings.members} members", hint="nor may trials be left over")
    return _learning(world, steps, rng, settings, learner)


def _learning(
    world: InTheMatrix, steps: int, rng: np.random.Generator, settings: Settings, learner: ModuleType
) -> Iterator[Progress]:
    table = Table(world, settings, rng)
    population = learner.Population(table.senses.width, settings, rng)
    each = settings.steps(world)
    for done in range(0, steps, each):
        rollout = table.play(population, rng)
        lessons = learner.Lessons(*map(learner.torch.from_numpy, lessons_of(rollout, settings)))
        entropy = population.improve(lessons, 1 - done / steps, rng)
        figures = rollout.figures(table.senses.scale) | {"entropy": entropy}
        if done // each % settings.between == 0 or done + each >= steps:
            figures["against_random"] = against_random(world, population, settings, rng)
        yield Progress(done + each, figures, population.networks())


def _learner() -> ModuleType:
    try:
        from otherminds.papers.hypothetical_minds import ppo_learner
    except ImportError as error:
        message = f"training needs PyTorch: {error}"
        raise InputError(message, hint='pip install "otherminds[train,fast]"') from None
    return ppo_learner


class Judge(Protocol):
    """What plays in a rollout: the log-probabilities of the actions and the values, from the features."""

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
        """What a player got, and how often it met somebody, in 1200 steps."""
        a_step = NORMED / float(self.live.sum())
        return {"reward": float(self.rewards.sum()) * scale * a_step, "meetings": float(self.met.sum()) * a_step}


class Table:
    """Many environments in which a population plays; an episode follows another there, whoever sits where."""

    def __init__(self, world: InTheMatrix, settings: Settings, rng: np.random.Generator) -> None:
        self.settings, self.senses = settings, Senses.of(world)
        self.batch = reset(world, settings.seats // world.rules.players, rng)
        self.seen = seen_in(self.batch)
        self.memory = self.senses.remember(self.senses.blank(self.seen.t.shape), self.seen)

    def play(self, judge: Judge, rng: np.random.Generator) -> Rollout:
        """One rollout, in seats that are drawn now."""
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


def seen_in(batch: Batch) -> Seen:
    """What everybody in a batch sees, in arrays of (environments, players)."""
    states, windows = batch.states, observe(batch)
    return Seen(
        np.broadcast_to(states.t[:, None], states.cells.shape),
        windows.reshape(*windows.shape[:2], -1),
        states.inventories.copy(),
        1 - states.cooldowns / COOLDOWN,
        states.clocks != FREE,
        states.rewards.copy(),
    )


def chosen(log_probs: Float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an action for everybody: who is first in a race of Gumbel times."""
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
    """What a rollout teaches, in the order of `ppo_learner.Lessons`: arrays of (members, samples, …)."""
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
    """What the first player gets in 1200 steps, a member of the population, where all others act at random."""
    senses, batch = Senses.of(world), reset(world, settings.trials, rng)
    memory, reward = senses.blank((settings.trials,)), 0.0
    for _ in range(NORMED):
        everybody: tuple[NDArray[Any], ...] = seen_in(batch)
        seen = Seen(*(array[:, 0] for array in everybody))
        memory = senses.remember(memory, seen)
        features = senses.features(seen, memory).reshape(settings.members, -1, senses.width)
        joint = rng.integers(len(ACTIONS), size=(settings.trials, world.rules.players))
        joint[:, 0] = chosen(judge.judge(features)[0], rng).ravel()
        step(batch, joint, rng, restart=True)
        reward += float(batch.states.rewards[:, 0].sum())
    return reward / settings.trials
