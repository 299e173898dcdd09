"""The one class behind `petting_zoo.parallel_env`; to import it needs PettingZoo."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from operator import index
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from otherminds.adapters.spaces import Interface, interface
from otherminds.errors import InputError
from otherminds.world import World
from otherminds.worlds.doors_keys_gems import level_files
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from otherminds.worlds.overcooked import level_files as kitchen_files
from otherminds.worlds.overcooked.rules import Overcooked

Mask = NDArray[np.int8]
Infos = dict[str, dict[str, Mask]]
Given = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]
ANSI = "ansi"


class LegalDiscrete(Discrete[np.int64]):
    """Discrete, but what is sampled without a mask is legal: `legal` is the mask of the present state."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.legal: Mask = np.ones(n, np.int8)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draw uniformly from what the mask allows, by default from what is legal now."""
        if mask is None and probability is None:
            mask = self.legal
        return super().sample(mask, probability)


class ParallelWorld(ParallelEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo has no types
    """A world as an environment of PettingZoo: made by `petting_zoo.parallel_env`, which says what it promises.

    `actions[agent][k]` is what action k of an agent means in the world, and `world_state` the present state of it.
    """

    def __init__(
        self, world: World[Any, Any, Any], *, steps: int | None = None, render_mode: str | None = None
    ) -> None:
        if steps is not None and steps < 1:
            raise InputError(f"an episode needs at least 1 step, not {steps}")
        self._draw = drawing(world)
        modes = [ANSI] if self._draw else []
        if render_mode not in (None, *modes):
            hint = f"one of {', '.join(modes)}" if modes else "it cannot be drawn as text: leave the mode out"
            raise InputError(f"this world has no render mode `{render_mode}`", hint=hint)
        self.metadata = {"name": type(world).__name__, "render_modes": modes, "is_parallelizable": True}
        self.world, self.steps, self.render_mode = world, steps, render_mode
        self.possible_agents, self.agents = list(world.agents), list[str]()
        self._sides = {agent: interface(world, agent) for agent in world.agents}
        self.actions = {agent: side.actions for agent, side in self._sides.items()}
        self._places = {agent: _places(actions) for agent, actions in self.actions.items()}
        self.action_spaces = {agent: _action_space(side) for agent, side in self._sides.items()}
        self.observation_spaces = {agent: _observation_space(side) for agent, side in self._sides.items()}
        self.world_state: Any = None
        self._t = 0
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> Space[Any]:
        """Where the observations of an agent lie: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """The numbers of the actions of an agent: always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Begin an episode; what follows depends on the seed and the actions alone.

        Without a seed the random numbers go on where they were, at first from anywhere. There are no options. If the
        world has ended before it begins, nobody acts.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._t, self.world_state = 0, self.world.start(self._rng)
        self.agents = [] if self.world.done(self.world_state) else list(self.possible_agents)
        return self._looks()

    def step(self, actions: Mapping[str, Any]) -> Given:
        """Everybody acts at once: observations, rewards, terminations, truncations and infos, by agent.

        Raises ValueError for an action that is missing, unknown or illegal, and if nobody is there to act.
        """
        joint = self._joint(actions)
        before, self.world_state = self.world_state, self.world.step(self.world_state, joint, self._rng)
        paid = self.world.reward(before, joint, self.world_state)
        self._t += 1
        over = self.world.done(self.world_state)
        cut = not over and self._t == self.steps
        if over or cut:
            self.agents = []
        seen, infos = self._looks()
        everybody = self.possible_agents
        rewards = {agent: float(paid[agent]) for agent in everybody}
        return seen, rewards, dict.fromkeys(everybody, over), dict.fromkeys(everybody, cut), infos

    def render(self) -> str | None:
        """The map as text, if the render mode is `ansi`."""
        return self._draw(self.world_state) if self._draw and self.render_mode == ANSI else None

    def _joint(self, actions: Mapping[str, Any]) -> dict[str, Hashable]:
        """What everybody does, in the world's own actions."""
        if not self.agents:
            raise ValueError("nobody is there to act: begin an episode with `reset`")
        if odd := [agent for agent in actions if agent not in self.agents]:
            raise ValueError(f"there is no agent called {odd[0]!r}: there are {', '.join(self.agents)}")
        return {agent: self._action(agent, actions) for agent in self.agents}

    def _action(self, agent: str, actions: Mapping[str, Any]) -> Hashable:
        if agent not in actions:
            raise ValueError(f"{agent} has no action")
        number, known, space = actions[agent], self.actions[agent], self.action_spaces[agent]
        try:
            chosen = index(number)
        except TypeError:
            chosen = -1
        if not 0 <= chosen < len(known):
            raise ValueError(f"{agent} has no action {number!r}: they are the numbers from 0 to {len(known) - 1}")
        if isinstance(space, LegalDiscrete) and not space.legal[chosen]:
            raise ValueError(f"{agent} cannot do action {chosen} now, {known[chosen]}: see its `action_mask`")
        return known[chosen]

    def _looks(self) -> tuple[dict[str, Any], Infos]:
        """What everybody sees, and the infos."""
        looks = {agent: self._look(agent) for agent in self.possible_agents}
        return {agent: seen for agent, (seen, _) in looks.items()}, {agent: info for agent, (_, info) in looks.items()}

    def _look(self, agent: str) -> tuple[Any, dict[str, Mask]]:
        seen = self._sides[agent].seen.write(self.world.observe(self.world_state, agent))
        space = self.action_spaces[agent]
        if not isinstance(space, LegalDiscrete):
            return seen, {}
        space.legal = self._mask(agent)
        mask = space.legal.copy()
        return {"observation": seen, "action_mask": mask}, {"action_mask": mask}

    def _mask(self, agent: str) -> Mask:
        places = self._places[agent]
        mask = np.zeros(len(places), np.int8)
        mask[[places[action] for action in self.world.actions(self.world_state, agent)]] = 1
        return mask


def drawing(world: World[Any, Any, Any]) -> Callable[[Any], str] | None:
    """How a state of the world is drawn as text, if it can be."""
    if isinstance(world, DoorsKeysGems):
        return partial(level_files.draw_text, world)
    if isinstance(world, Overcooked):
        return partial(kitchen_files.draw_text, world)
    draw: Callable[[Any], str] | None = getattr(world, "draw", None)
    return draw


def _places(actions: tuple[Hashable, ...]) -> dict[Hashable, int]:
    return {action: place for place, action in enumerate(actions)}


def _action_space(side: Interface) -> Discrete[np.int64]:
    return Discrete(len(side.actions)) if side.always else LegalDiscrete(len(side.actions))


def _observation_space(side: Interface) -> Space[Any]:
    if side.always:
        return side.seen.space
    return Dict({"observation": side.seen.space, "action_mask": Box(0, 1, (len(side.actions),), np.int8)})
