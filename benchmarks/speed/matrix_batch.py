"""Matrix worlds, step by step and many environments at once: environment-steps per CPU second, random actions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.batch import observe, reset, step
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.world import InTheMatrix

ENVIRONMENTS = 1024
STEPS = 64
ROUNDS = 12


class Rates(NamedTuple):
    """Environment-steps per CPU second; `seen`: with what all players see after each of them."""

    world: float
    world_seen: float
    batch: float
    batch_seen: float


def rates(world: InTheMatrix) -> Rates:
    """The best of several interleaved rounds, because noise only ever adds; episodes go on where they were."""
    runs = (one(world, seen=False), one(world, seen=True), many(world, seen=False), many(world, seen=True))
    best = [0.0] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            began = time.process_time()
            steps = run()
            best[k] = max(best[k], steps / (time.process_time() - began))
    return Rates(*best)


def one(world: InTheMatrix, *, seen: bool) -> Callable[[], int]:
    """A function that takes steps in one environment by the world itself, and says how many."""
    rng = np.random.default_rng(0)
    state = world.start(rng)

    def run() -> int:
        nonlocal state
        for codes in rng.integers(len(ACTIONS), size=(10 * STEPS, len(world.agents))).tolist():
            joint = {agent: ACTIONS[code] for agent, code in zip(world.agents, codes, strict=True)}
            state = world.start(rng) if state.ended else world.step(state, joint, rng)
            if seen:
                for agent in world.agents:
                    world.observe(state, agent)
        return 10 * STEPS

    return run


def many(world: InTheMatrix, *, seen: bool) -> Callable[[], int]:
    """A function that takes steps in many environments at once, and says how many in all; it is compiled before."""
    rng = np.random.default_rng(0)
    batch = reset(world, ENVIRONMENTS, rng)
    actions = rng.integers(len(ACTIONS), size=(STEPS, ENVIRONMENTS, len(world.agents)), dtype=np.int8)
    windows = observe(batch)
    step(batch, actions[0], rng, restart=True)

    def run() -> int:
        for joint in actions:
            step(batch, joint, rng, restart=True)
            if seen:
                observe(batch, windows)
        return STEPS * ENVIRONMENTS

    return run


def compiling() -> float:
    """The CPU seconds of the first calls, in which everything is compiled; only the first use in a process counts."""
    began = time.process_time()
    many(in_the_matrix(SUBSTRATES[0]), seen=True)
    return time.process_time() - began


if __name__ == "__main__":
    print(f"Compiled in {compiling():.1f} s. Thousands of environment-steps per CPU second, in brackets with windows:")
    for name in SUBSTRATES:
        found = Rates(*(rate / 1e3 for rate in rates(in_the_matrix(name))))
        world = f"world {found.world:,.1f} ({found.world_seen:,.1f})"
        print(f"{name:<13} {world:<22} batch {found.batch:,.0f} ({found.batch_seen:,.0f})")
