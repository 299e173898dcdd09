"""Episodes in worlds of the user's: rational agents with goals drawn at random, and a facilitator that infers them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from otherminds.errors import InputError
from otherminds.papers.protom.episodes import FacilitatedEpisode, Facilitator, RandomFacilitator, SilentFacilitator
from otherminds.papers.protom.facilitator import ProToM, with_none_of_these
from otherminds.papers.protom.messages import RolledOutMessages
from otherminds.planning.rational import RationalAgent
from otherminds.worlds.map_file import WorldLevel
from otherminds.worlds.own_world import possible_goals

BETA, LAPSE = 3.0, 0.05  # of the minds that are inferred, as `otherminds infer` has them; chosen
FACILITATORS = ("none", "random", "protom")


def own_episode(level: WorldLevel[Any], facilitator: str, seed: int) -> FacilitatedEpisode[Any, Any, Any]:
    """An episode in any world: each agent wants one of its goals, drawn at random, and plans without error.

    An agent without goals wants the world's reward, with the discount `world.discount`, or 1. ProToM infers goals, and
    sends the world's `suggestions` if there are any. Raises InputError for an unknown facilitator.
    """
    world = level.world
    if facilitator not in FACILITATORS:
        hint = f"one of {', '.join(FACILITATORS)}"
        raise InputError(f"there is no facilitator `{facilitator}` for worlds of your own", hint=hint)
    goals, rng = possible_goals(world), np.random.default_rng([seed, 1])
    wants = {agent: goals[agent][rng.integers(len(goals[agent]))] if goals[agent] else None for agent in world.agents}
    discount = getattr(world, "discount", 1.0)
    messages = RolledOutMessages(world, getattr(world, "suggestions", ()))
    return FacilitatedEpisode(
        world=world,
        minds={agent: RationalAgent(world, agent, goal, math.inf, discount=discount) for agent, goal in wants.items()},
        facilitator=_facilitator(world, goals, messages, facilitator, seed),
        messages=messages,
        horizon=level.horizon,
        people_rng=np.random.default_rng(seed),
        facilitator_rng=np.random.default_rng([seed, 2]),
    )


def _facilitator(
    world: Any, goals: Mapping[str, tuple[Hashable, ...]], messages: Any, name: str, seed: int
) -> Facilitator[Any, Any, Any]:
    """The facilitator at the start; a silent one if some agent has no goals to infer."""
    if name == "random":
        return RandomFacilitator(messages)
    if name == "none" or not all(goals.values()):
        return SilentFacilitator()
    minds = {a: [RationalAgent(world, a, goal, BETA, lapse=LAPSE) for goal in goals[a]] for a in world.agents}
    watchers = {agent: with_none_of_these(agent_minds) for agent, agent_minds in minds.items()}
    return ProToM.initial(world, messages, watchers, world.start(np.random.default_rng(seed)))
