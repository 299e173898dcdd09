"""The vector environment shows what the world shows, and keeps Gymnasium's contract about episodes that end."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.worlds.in_the_matrix.batch import unpack
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Ends
from otherminds.worlds.in_the_matrix.vector_env import MatrixVectorEnv
from otherminds.worlds.in_the_matrix.world import InTheMatrix

pytest.importorskip("numba", reason="needs Numba: the extra `fast`")


def ending(ends: Ends) -> InTheMatrix:
    """A repeated game with other ends of episodes."""
    world = in_the_matrix("rws_repeated")
    return dataclasses.replace(world, rules=dataclasses.replace(world.rules, ends=ends))


def random_actions(env: MatrixVectorEnv, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(env.num_actions, size=(env.num_envs, env.num_players))


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBSTRATES)
def test_every_player_sees_what_the_world_shows_it(name: str) -> None:
    world, rng = in_the_matrix(name), np.random.default_rng(1)
    env = MatrixVectorEnv(world, 3)
    found, _ = env.reset(seed=5)
    for _ in range(50):
        for i in range(env.num_envs):
            assert env._batch is not None
            state = unpack(env._batch, i)
            for j, agent in enumerate(world.agents):
                view = world.observe(state, agent)
                if view.window:
                    assert tuple(found["window"][i, j].ravel().tolist()) == view.window
                assert tuple(found["inventory"][i, j].tolist()) == view.inventory
                assert (found["ready_to_shoot"][i, j], found["frozen"][i, j]) == (view.ready_to_shoot, view.frozen)
        found, rewards, terminations, truncations, infos = env.step(random_actions(env, rng))
        assert rewards.shape == infos["interactions"].shape == (env.num_envs, env.num_players)
        assert terminations.shape == truncations.shape == (env.num_envs,)


def test_the_limit_truncates_and_the_next_step_starts_again() -> None:
    env = MatrixVectorEnv(ending(Ends(1000, 100, 0.0, 4)), 2)
    env.reset(seed=0)
    noop = np.zeros((2, env.num_players), dtype=np.int64)
    ends = []
    for _ in range(10):
        found, rewards, terminations, truncations, _ = env.step(noop)
        ends.append(truncations.tolist())
        assert not terminations.any()
    assert ends == [[n in (3, 8)] * 2 for n in range(10)]
    assert (found["inventory"] == 1).all()
    assert not rewards.any()


def test_an_end_by_chance_terminates() -> None:
    env = MatrixVectorEnv(ending(Ends(2, 1, 1.0, 100)), 2)
    env.reset(seed=0)
    noop = np.zeros((2, env.num_players), dtype=np.int64)
    for end in (False, True):
        _, _, terminations, truncations, _ = env.step(noop)
        assert terminations.tolist() == [end] * 2
        assert not truncations.any()


def test_a_seed_gives_the_same_episodes_and_none_goes_on() -> None:
    world = in_the_matrix("pd_repeated")
    env, other = MatrixVectorEnv(world, 4), MatrixVectorEnv(world, 4)
    first, again = env.reset(seed=3)[0], other.reset(seed=3)[0]
    assert all(np.array_equal(first[name], again[name]) for name in first)
    actions = random_actions(env, np.random.default_rng(0))
    mine, theirs = env.step(actions), other.step(actions)
    assert all(np.array_equal(mine[0][name], theirs[0][name]) for name in first)
    assert not np.array_equal(env.reset()[0]["window"], first["window"])
    assert np.array_equal(env.reset(seed=3)[0]["window"], first["window"])


def test_what_a_step_returns_does_not_change_later() -> None:
    env = MatrixVectorEnv(in_the_matrix("pd_repeated"), 2)
    found, _ = env.reset(seed=1)
    before = {name: array.copy() for name, array in found.items()}
    rng = np.random.default_rng(1)
    for _ in range(20):
        env.step(random_actions(env, rng))
    assert all(np.array_equal(before[name], found[name]) for name in before)


def test_misuse_is_refused() -> None:
    world = in_the_matrix("pd_repeated")
    with pytest.raises(InputError):
        MatrixVectorEnv(world, 0)
    env = MatrixVectorEnv(world, 2)
    with pytest.raises(InputError, match="reset"):
        env.step(np.zeros((2, 2), dtype=np.int64))
    env.reset(seed=0)
    wrong: list[Any] = [np.full((2, 2), 8), np.zeros((2, 3), dtype=np.int64), np.zeros((2, 2))]
    for actions in wrong:
        with pytest.raises(InputError):
            env.step(actions)
