"""Any world as an environment of PettingZoo (Terry et al. 2021), for agents that learn.

    env = parallel_env(in_the_matrix("rws_repeated"), steps=1200)
    observations, infos = env.reset(seed=0)
    while env.agents:
        joint = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(joint)

Actions are numbers: the places of the world's own actions in the fixed list `env.actions[agent]`. Observations are the
world's, field by field; `parallel` describes how each is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otherminds.errors import InputError, install_hint
from otherminds.world import World
from otherminds.worlds.repeated_games.rules import Game

if TYPE_CHECKING:
    from otherminds.adapters.parallel import ParallelWorld


def parallel_env(
    world: World[Any, Any, Any], *, steps: int | None = None, render_mode: str | None = None, flat: bool = False
) -> ParallelWorld:
    """The world as a ParallelEnv, truncated after `steps` steps if it has not ended by then.

    All agents act in every step; an agent that can only wait has waiting as its one legal action. In worlds where not
    all actions are always legal, an observation is a dict of `observation` and `action_mask`, the mask is also in the
    infos, and `action_space(agent).sample()` draws from the legal actions. If `flat`, each observation is one array
    instead, as `gymnasium.spaces.flatten` writes it, and masks are in the infos only.

    `env.state()` is what all agents observe together as one array. `env.render()` draws the map as text (render mode
    `ansi`) or as a picture (`rgb_array`), in worlds that have one.

    Raises InputError if PettingZoo is missing, the world has no spaces, or `steps` or the render mode makes no sense.
    """
    try:
        from otherminds.adapters.parallel import ParallelWorld
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("gymnasium", "pettingzoo"):
            raise
        raise InputError("environments of PettingZoo need an extra", hint=install_hint("pettingzoo")) from None
    if isinstance(world, Game):
        raise InputError(f"{world.name} is a game of one round", hint="RepeatedGame(game, rounds) is a world")
    world = getattr(world, "world", world)  # a level stands for its world
    return ParallelWorld(world, steps=steps, render_mode=render_mode, flat=flat)
