"""Many copies of a matrix world behind Gymnasium's vector-environment interface, for reinforcement learning.

    env = MatrixVectorEnv(in_the_matrix("rws_repeated"), num_envs=256)
    observations, infos = env.reset(seed=0)
    for _ in range(1000):
        actions = rng.integers(env.num_actions, size=(env.num_envs, env.num_players))
        observations, rewards, terminations, truncations, infos = env.step(actions)

It does not depend on Gymnasium. All players act at once, so every array has an axis of players after that of
environments. Needs Numba (the extra `fast`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.batch import Actions, Batch, observe, reset, step
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Observations = dict[str, NDArray[Any]]
Infos = dict[str, NDArray[Any]]


class MatrixVectorEnv:
    """`num_envs` independent episodes of one world, stepped together by compiled code.

    An episode that has ended starts again at the next step, whose actions are ignored and whose rewards are 0
    (Gymnasium's autoreset mode NEXT_STEP). The same seed and actions give the same arrays.
    Raises InputError if `num_envs` is below 1.
    """

    def __init__(self, world: InTheMatrix, num_envs: int) -> None:
        """Make the environments; none has a state before the first `reset`. `num_envs` episodes run side by side."""
        if num_envs < 1:
            raise InputError(f"{num_envs} environments, where at least one is needed")
        self.world = world
        self.num_envs = num_envs
        self.num_players = world.rules.players
        self.num_actions = len(ACTIONS)
        self._batch: Batch | None = None
        self._rng = np.random.default_rng()

    def reset(self, seed: int | None = None) -> tuple[Observations, Infos]:
        """Start an episode in every environment; returns observations and an empty dictionary.

        A seed restarts the random stream; without one it goes on. Raises InputError if Numba is not installed, or if
        some player of the world sees the whole map.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._batch = reset(self.world, self.num_envs, self._rng)
        return self._observations(self._batch), {}

    def step(
        self, actions: Actions
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Take one action for each player: indices into ACTIONS, of shape (num_envs, num_players).

        Returns observations, rewards (num_envs, num_players), terminations and truncations (num_envs), and infos. An
        episode is truncated at the step limit of the rules and terminated if it ended by chance before. `infos` has
        `interactions`: whether each player was in one in this step, (num_envs, num_players). The arrays are copies.
        Raises InputError before the first `reset`, and for anything that is not an action.
        """
        if self._batch is None:
            raise InputError("the environments have not started", hint="call `reset` first")
        step(self._batch, actions, self._rng, restart=True)
        states = self._batch.states
        truncations = states.ended & (states.t >= self.world.rules.ends.limit)
        infos: Infos = {"interactions": np.asarray(states.met.any(axis=(-2, -1)))}
        return self._observations(self._batch), states.rewards.copy(), states.ended & ~truncations, truncations, infos

    def _observations(self, batch: Batch) -> Observations:
        """What each player sees, by the names of Melting Pot's observations where it has them.

        `window` (num_envs, num_players, rows, columns) has the codes of `MatrixView.window`, `inventory`
        (num_envs, num_players, kinds) counts; `ready_to_shoot` in [0, 1] and `frozen` are (num_envs, num_players).
        """
        states = batch.states
        return {
            "window": observe(batch),
            "inventory": states.inventories.copy(),
            "ready_to_shoot": 1 - states.cooldowns / COOLDOWN,
            "frozen": states.clocks != FREE,
        }
