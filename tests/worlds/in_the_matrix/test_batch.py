"""Many environments of a matrix world at once are the world itself, step for step, if chance falls the same."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from odd_matrix_worlds import ODD, any_state, joint, odd, start_of, tidy, worlds
from otherminds.errors import InputError
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.in_the_matrix import arrays
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.batch import Batch, observe, pack, reset, step, unpack
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix, parse_matrix_world
from otherminds.worlds.in_the_matrix.rules import NOWHERE, MatrixOutcome, MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix

pytest.importorskip("numba", reason="needs Numba: the extra `fast`")


def step_with(batch: Batch, actions: NDArray[np.integer], outcomes: list[MatrixOutcome]) -> None:
    """One step of every environment, ended or not, by the compiled rules, for given outcomes of chance."""
    from otherminds.worlds.in_the_matrix import kernels

    for i, outcome in enumerate(outcomes):
        o = arrays.blank_outcome(batch.world.rules)
        o.movers[:], o.zappers[:], o.ends[:] = outcome.movers, outcome.zappers, outcome.ends
        o.regrown[: len(outcome.regrown)] = outcome.regrown
        for k, (spots, facing) in enumerate(outcome.respawns):
            o.spots[k], o.facings[k] = NOWHERE, facing
            o.spots[k, : len(spots)] = spots
        kernels.advance(batch.rule_arrays, batch.states, i, actions.astype(np.int8), o)


def compare(world: InTheMatrix, n: int, steps: int, rng: np.random.Generator) -> Counter[str]:
    """Play both side by side from many states with the same chance; how often what happened."""
    states, seen = [any_state(world, rng) for _ in range(n)], Counter[str]()
    batch = pack(world, states)
    assert [unpack(batch, i) for i in range(n)] == states
    for _ in range(steps):
        actions = joint(n, world.rules.players, rng)
        pairs = list(zip(states, actions.tolist(), strict=True))
        outcomes = [matrix_rules.chance(world.rules, state, acts, rng) for state, acts in pairs]
        step_with(batch, actions, outcomes)
        states = [
            tidy(matrix_rules.step_with(world.rules, state, acts, outcome))
            for (state, acts), outcome in zip(pairs, outcomes, strict=True)
        ]
        assert [unpack(batch, i) for i in range(n)] == states
        check_windows(batch, states)
        for state, outcome in zip(states, outcomes, strict=True):
            seen.update(meetings=any(state.met), destroyed=any(state.destroyed), paid=any(state.rewards))
            seen.update(regrown=bool(outcome.regrown), returned=bool(outcome.respawns), ended=outcome.ends)
    return seen


def check_windows(batch: Batch, states: list[MatrixState]) -> None:
    windows = observe(batch)
    for i, state in enumerate(states):
        for p, agent in enumerate(batch.world.agents):
            window = batch.world.observe(state, agent).window
            assert windows[i, p].ravel().tolist() == (list(window) or [OUTSIDE] * windows[i, p].size)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBSTRATES)
def test_every_step_of_the_substrates_is_that_of_the_world(name: str) -> None:
    seen = compare(in_the_matrix(name), 60, 8, np.random.default_rng(1))
    assert min(seen[what] for what in ("meetings", "destroyed", "paid", "regrown", "returned", "ended")) > 0


@pytest.mark.slow
@given(world=worlds(), seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_every_step_of_odd_worlds_is_that_of_the_world(world: InTheMatrix, seed: int) -> None:
    compare(world, 5, 6, np.random.default_rng(seed))


@pytest.mark.slow
def test_nine_players_meet_in_a_crowd() -> None:
    """Many beams in one step, so that all of who hits whom in which order counts."""
    rows = ["WnnnnnW", "W  a  W", "WnnnnxW"]
    said = ODD.split("\n\n")[1].replace("players: 3", "players: 9")
    world = parse_matrix_world("\n".join([*rows, "", said]), Path("crowd.txt"))
    assert compare(world, 60, 8, np.random.default_rng(2))["meetings"] > 60


# Episodes, seeds and threads


@pytest.mark.slow
def test_an_ended_episode_stays_or_another_begins() -> None:
    world, rng = odd(), np.random.default_rng(0)
    over = [any_state(world, rng)._replace(ended=True) for _ in range(20)]
    going = start_of(world)
    batch, actions = pack(world, [*over, going]), np.full((21, 3), 1)
    step(batch, actions, rng)
    for i, state in enumerate(over):
        assert unpack(batch, i) == state._replace(rewards=(0.0,) * 3, met=(None,) * 3, destroyed=((),) * 3)
    assert unpack(batch, 20).t == 1
    step(batch, actions, rng, restart=True)
    for i in range(20):
        again = unpack(batch, i)
        assert again == going._replace(cells=again.cells, facings=again.facings, kinds=again.kinds)
    assert unpack(batch, 20).t == 2


def played(n: int, seed: int, *, still: int = 0) -> list[MatrixState]:
    """Where n environments are after some steps of the same actions in each row, but for rows that stand still."""
    world, rng = odd(), np.random.default_rng(seed)
    batch, choices = reset(world, n, rng), np.random.default_rng(5)
    for _ in range(100):
        actions = joint(50, 3, choices)[:n]
        actions[:still] = 0
        step(batch, actions, rng, restart=True)
    return [unpack(batch, i) for i in range(n)]


@pytest.mark.slow
def test_the_same_seed_has_the_same_future_whatever_else_is_in_the_batch() -> None:
    assert played(50, 3)[:7] == played(7, 3)
    assert played(50, 3)[43:] == played(50, 3, still=43)[43:]
    assert played(7, 3) != played(7, 4)


@pytest.mark.slow
def test_threads_do_not_change_the_future() -> None:
    seeds = list(range(6))
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda seed: played(50, seed), seeds)) == [played(50, seed) for seed in seeds]


def test_compiled_code_keeps_nothing_alive() -> None:
    world, rng = odd(), np.random.default_rng(0)
    batch, actions = reset(world, 2, rng), np.zeros((2, 3), dtype=np.int8)
    out = observe(batch)
    kept = [*batch.states, batch.rule_arrays.leads, actions, rng, out]

    def counts() -> list[int]:
        return [sys.getrefcount(thing) for thing in kept]

    before = counts()
    for _ in range(100):
        step(batch, actions, rng)
        observe(batch, out)
    assert counts() == before


# What cannot be


def test_what_does_not_fit_is_told() -> None:
    world, rng = odd(), np.random.default_rng(0)
    batch, state = reset(world, 2, rng), start_of(world)
    no_actions: tuple[NDArray[Any], ...] = np.zeros((2, 2), dtype=int), np.zeros((2, 3)), np.full((2, 3), 8)
    for actions in (*no_actions, np.full((2, 3), -1)):
        with pytest.raises(InputError, match="action"):
            step(batch, actions, rng)
    for out in (np.zeros((2, 3, 4, 4)), np.zeros((2, 3, 4, 5), dtype=np.int16), np.zeros(1, dtype=np.int16)):
        with pytest.raises(InputError, match=r"int16"):
            observe(batch, out)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="windows"):
        observe(pack(InTheMatrix(world.rules, world.agents, frozenset({"player_1"})), [state]))
    for wrong in (
        state._replace(cells=(0, 1, 2)),
        state._replace(kinds=(5,) * 6),
        start_of(in_the_matrix("rws_arena")),
    ):
        with pytest.raises(InputError, match="state 0"):
            pack(world, [wrong])


def test_without_numba_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import otherminds.worlds.in_the_matrix as package

    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, f"{package.__name__}.kernels", raising=False)
    monkeypatch.delattr(package, "kernels", raising=False)
    with pytest.raises(InputError, match=r"pip install -e '\.\[fast\]'"):
        reset(odd(), 1, np.random.default_rng(0))
