"""An agent that pursues one goal in Doors-Keys-Gems, with bounded rationality."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from otherminds.distribution import Categorical
from otherminds.errors import unknown
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems, State

_planner = lru_cache(maxsize=16)(DoorsKeysGemsPlanner)  # minds of the same world share its plans


@dataclass(frozen=True)
class Seeker:
    """An agent after one goal: P(a | s, g) = (1 − lapse) · softmax(−beta · Q_g(s, ·)) + lapse / |A(s)|.

    An infinite `beta` makes it choose uniformly among the best actions. (ProToM §3.1, eq. 4 and 8.)
    """

    planner: DoorsKeysGemsPlanner = field(repr=False)
    agent: int
    goal: Goal
    beta: float = 3.0  # per step; chosen, see docs/systems/protom.md
    lapse: float = 0.05  # probability of an action at random; chosen
    state: State | None = None

    @classmethod
    def of(cls, world: DoorsKeysGems, agent: str, goal: str, beta: float = 3.0, lapse: float = 0.05) -> Seeker:
        """An agent by its name after a goal in words, as `blue gem`. Raises InputError for another agent or goal."""
        world = getattr(world, "world", world)  # a level stands for its world
        if agent not in world.agents:
            raise unknown("agent", agent, world.agents)
        planner, things = _planner(world), {"gem": world.gems, "key": world.keys, "door": world.doors}
        goals = [Goal(kind, thing) for kind, listed in things.items() for thing in range(len(listed))]
        by_words = {planner.words(one): one for one in reversed(goals)}
        if goal not in by_words:
            raise unknown("goal", goal, by_words)
        return cls(planner, world.agents.index(agent), by_words[goal], beta, lapse)

    def __repr__(self) -> str:
        return f"Seeker({self.planner.world.agents[self.agent]}: {self.name}, beta={self.beta:g}, lapse={self.lapse:g})"

    @property
    def name(self) -> str:
        """Its goal in words."""
        return self.planner.words(self.goal)

    def observe(self, obs: State, /) -> Seeker:
        """Replace its belief by the state: everything is in view."""
        return replace(self, state=obs)

    def act(self) -> Categorical[Action]:
        """π(a) over the legal actions. Raises ValueError before its first observation."""
        return self.planner.policy(self._known_state, self.agent, self.goal, self.beta, self.lapse)

    @property
    def reached(self) -> bool:
        """Whether its goal holds."""
        return self.planner.achieved(self._known_state, self.agent, self.goal)

    @property
    def over(self) -> bool:
        """Whether its goal holds or cannot be reached alone."""
        return self.planner.settled(self._known_state, self.agent, self.goal)

    @property
    def particle(self) -> int:
        """Always 0: an agent that sees everything has a single belief."""
        return 0

    @property
    def _known_state(self) -> State:
        """The state it has observed last. Raises ValueError before its first observation."""
        if self.state is None:
            raise ValueError("a mind must observe something before it can act")
        return self.state
