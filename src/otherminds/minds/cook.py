"""A mind that cooks, more or less rationally, in the kitchen that it believes to be in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.minds.cooking import Aim, Cooking, is_under_way
from otherminds.minds.kitchen_beliefs import Imagination
from otherminds.planning.search import UNREACHABLE
from otherminds.worlds.kitchen import RECIPES, STAY
from otherminds.worlds.overcooked import ACTIONS, State, View


@dataclass(frozen=True)
class Cook:
    """An agent after one goal, a recipe or a request, that has one full hypothetical kitchen in mind, its particle.

    P(a | b, g) = (1 − lapse) · softmax(−beta · Q_g(b, ·)) + lapse / |A|, Q being the steps until the goal is reached
    in the kitchen b that it believes in. An infinite `beta` makes it choose uniformly among the best actions.
    Somebody in the way is waited for; after `patience` steps in which nothing has changed, it steps aside at random.
    """

    cooking: Cooking = field(repr=False)
    imagination: Imagination = field(repr=False)
    agent: int
    goal: Aim | None
    beta: float = 3.0
    lapse: float = 0.05
    patience: int = 2
    particle: int = 0
    kitchen: State | None = None
    waited: int = 0
    reached: bool = False

    def observe(self, view: View, /) -> Cook:
        """What is seen is believed, the rest remembered or imagined; its own dish delivered is its goal reached."""
        kitchen = self.imagination.look(self.kitchen, view, self.agent, self.particle)
        waited = self.waited + 1 if kitchen == self.kitchen else 0
        return replace(self, kitchen=kitchen, waited=waited, reached=self.reached or self._has_served(kitchen))

    def _has_served(self, kitchen: State) -> bool:
        """Whether what it just had in its hands was its dish, and has now been delivered."""
        if self.kitchen is None or not isinstance(self.goal, str):
            return False
        dish, i = RECIPES[self.goal], self.agent
        handed_in = self.kitchen.hands[i] == dish and not kitchen.hands[i]
        return handed_in and _served(kitchen, dish) > _served(self.kitchen, dish)

    def act(self) -> Categorical[str]:
        """What it may do now. Raises ValueError before it has seen anything."""
        kitchen, me = self._seen, self.agent
        here, ahead = kitchen.cells[me], self.cooking.layout.ahead[kitchen.cells[me]]
        others = [cell for i, cell in enumerate(kitchen.cells) if i != me]
        busy = tuple([action for action in ACTIONS if ahead[action][0] in others])
        policy = self._aim(kitchen, busy)
        if self.waited < self.patience or not (busy or (policy.mode != STAY and self._contested(here, others))):
            return policy
        free = [a for a in ACTIONS if a == STAY or (a not in busy and ahead[a][0] != here)]
        return self._only(free)

    def _contested(self, here: int, others: Sequence[int]) -> bool:
        """Whether somebody may be heading for the same square: in each other's way, though not side by side."""
        neighbours = self.cooking.layout.grid.neighbours
        return any(near in neighbours[here] for other in others for near in neighbours[other])

    def _only(self, actions: Sequence[str]) -> Categorical[str]:
        """Any of these actions, as if nothing else mattered."""
        return Categorical.softmax([(a, 0.0 if a in actions else IMPOSSIBLE) for a in ACTIONS], lapse=self.lapse)

    def _aim(self, kitchen: State, busy: tuple[str, ...]) -> Categorical[str]:
        """What it would do if it did not mind waiting; remembered for all who are in the same position."""
        if self.over:
            return self._only([STAY])
        i = self.agent
        key = (self.goal, kitchen.cells[i], kitchen.hands[i], kitchen.on, busy, self.beta, self.lapse)
        policies = self.cooking.policies
        if key not in policies:
            policies[key] = self._policy(kitchen, busy)
        return policies[key]

    def _policy(self, kitchen: State, busy: tuple[str, ...]) -> Categorical[str]:
        """The softmax over what everything costs; turning to where somebody is, is no better than staying."""
        assert self.goal is not None
        i = self.agent
        found = self.cooking.action_costs(self.goal, kitchen.cells[i], kitchen.hands[i], kitchen.on)
        costs = dict(zip(ACTIONS, found, strict=True))
        costs |= {action: max(costs[action], costs[STAY]) for action in busy}
        least = min(costs.values())
        scored = [(action, _score(self.beta, cost - least)) for action, cost in costs.items()]
        return Categorical.softmax(scored, lapse=self.lapse)

    @property
    def over(self) -> bool:
        """Whether there is nothing left for it to do: the goal is reached, or it cannot bring it about."""
        if self.goal is None or self.reached:
            return True
        kitchen, i = self._seen, self.agent
        if isinstance(self.goal, tuple) and not is_under_way(self.goal, kitchen.hands[i], kitchen.on):
            return True
        return self.cooking.values(self.goal, kitchen.hands[i], kitchen.on)[kitchen.cells[i]] >= UNREACHABLE

    @property
    def _seen(self) -> State:
        if self.kitchen is None:
            raise ValueError("a mind must observe something before it can act")
        return self.kitchen


def _served(kitchen: State, dish: int) -> int:
    return sum(dishes.count(dish) for dishes in kitchen.delivered)


def _score(beta: float, excess: int) -> float:
    return 0.0 if excess == 0 else -beta * excess if math.isfinite(beta) else -math.inf
