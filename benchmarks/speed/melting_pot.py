"""The matrix and cooking worlds beside Melting Pot's own API: steps per CPU second, random actions, in one run."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evidence.melting_pot_engine import SUBSTRATES, upstream
from otherminds.adapters.petting_zoo import parallel_env
from otherminds.errors import InputError
from otherminds.world import World
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix

ROUNDS = 4
STEPS = 3000


class Rates(NamedTuple):
    """Steps per CPU second: of the world's own step, with all observations, and of the API (None without it)."""

    step: float
    seen: float
    api: float | None


class EnvironmentRates(NamedTuple):
    """Steps per CPU second of `parallel_env`: as it is, and if it writes one observation after the other.

    It does that for two players anyway.
    """

    all_at_once: float
    one_by_one: float


def world_of(substrate: str) -> World[Any, Any, Any]:
    """The world that a substrate is here."""
    return cooking_asymmetric() if substrate == "cooking_asymmetric" else in_the_matrix(substrate)


def rates(substrate: str) -> Rates:
    """The best of interleaved rounds, because noise only ever adds."""
    world = world_of(substrate)
    found = [
        (STEPS / seconds(world, seen=False), STEPS / seconds(world, seen=True), _api(substrate)) for _ in range(ROUNDS)
    ]
    step, seen, api = zip(*found, strict=True)
    return Rates(max(step), max(seen), max((rate for rate in api if rate is not None), default=None))


def environment_rates(substrate: str) -> EnvironmentRates:
    """The best of interleaved rounds with the same actions. Raises InputError without PettingZoo."""
    world = world_of(substrate)
    environment, plain = parallel_env(world), parallel_env(world)
    from otherminds.adapters.parallel import interface, one_by_one  # needs PettingZoo, which is there now

    plain.write = one_by_one(world, {agent: interface(world, agent).observation_code for agent in world.agents})
    rounds = [[STEPS / environment_seconds(env) for env in (environment, plain)] for _ in range(ROUNDS)]
    return EnvironmentRates(*map(max, zip(*rounds, strict=True)))


def environment_seconds(environment: Any) -> float:
    """The CPU seconds of STEPS random steps of an environment; a new episode begins where one ends."""
    rng = np.random.default_rng(0)
    codes = rng.integers(len(ACTIONS), size=(STEPS, len(environment.possible_agents))).tolist()
    joints = [dict(zip(environment.possible_agents, row, strict=True)) for row in codes]
    environment.reset(seed=0)
    began = time.process_time()
    for joint in joints:
        if environment.agents:
            environment.step(joint)
        else:
            environment.reset()
    return time.process_time() - began


def seconds(world: World[Any, Any, Any], *, seen: bool) -> float:
    """The CPU seconds of STEPS random steps; a new episode begins where one ends."""
    rng = np.random.default_rng(0)
    codes = rng.integers(len(ACTIONS), size=(STEPS, len(world.agents))).tolist()
    joints = [dict(zip(world.agents, (ACTIONS[code] for code in row), strict=True)) for row in codes]
    state = world.start(rng)
    began = time.process_time()
    for joint in joints:
        state = world.start(rng) if world.done(state) else world.step(state, joint, rng)
        if seen:
            for agent in world.agents:
                world.observe(state, agent)
    return time.process_time() - began


def api_steps(substrate: str, steps: int, rng: np.random.Generator) -> float:
    """The processor time, in seconds, of `steps` uniformly random steps of a substrate after a first reset.

    The substrate is as dm-meltingpot offers it to users: an environment of dm_env.
    """
    name = SUBSTRATES[substrate]
    roles = upstream(f"configs.substrates.{name}").get_config().default_player_roles
    environment = upstream("substrate").build(name, roles=roles)
    joints = rng.integers(8, size=(steps, len(environment.action_spec()))).tolist()
    environment.reset()
    began = time.process_time()
    for joint in joints:
        environment.step(joint)
    return time.process_time() - began


def _api(substrate: str) -> float | None:
    try:
        return STEPS / api_steps(substrate, STEPS, np.random.default_rng(0))
    except InputError:
        return None


def main() -> None:
    for name in SUBSTRATES:
        print(name, rates(name), environment_rates(name))


if __name__ == "__main__":
    main()
