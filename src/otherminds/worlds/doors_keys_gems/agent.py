"""A mind that wants something in Doors-Keys-Gems and goes for it, more or less rationally."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from otherminds.distribution import Categorical
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import Action, State


@dataclass(frozen=True)
class Seeker:
    """An agent after one goal: P(a | s, g) = (1 − lapse) · softmax(−beta · Q_g(s, ·)) + lapse / |A(s)|.

    An infinite `beta` makes it choose uniformly among the best actions. (ProToM §3.1, eq. 4 and 8.)
    """

    planner: DoorsKeysGemsPlanner = field(repr=False)
    agent: int
    goal: Goal
    beta: float = 3.0
    lapse: float = 0.05
    state: State | None = None

    def observe(self, obs: State, /) -> Seeker:
        """Everything is in view, so what is seen replaces what was believed."""
        return replace(self, state=obs)

    def act(self) -> Categorical[Action]:
        """What it may do now. Raises ValueError before it has seen anything."""
        costs = self.planner.action_costs(self._seen, self.agent, self.goal)
        return Categorical.boltzmann(costs.items(), beta=self.beta, lapse=self.lapse)

    @property
    def reached(self) -> bool:
        """Whether the goal holds."""
        return self.planner.achieved(self._seen, self.agent, self.goal)

    @property
    def over(self) -> bool:
        """Whether there is nothing left for it to do: the goal holds, or it cannot bring it about alone."""
        return self.planner.settled(self._seen, self.agent, self.goal)

    @property
    def particle(self) -> int:
        """Always the same: who sees everything can believe one thing only."""
        return 0

    @property
    def _seen(self) -> State:
        if self.state is None:
            raise ValueError("a mind must observe something before it can act")
        return self.state
