"""A mind that cooks, more or less rationally, in the kitchen that it believes to be in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked.beliefs import Imagination
from otherminds.worlds.overcooked.kitchen import RECIPES, STAY
from otherminds.worlds.overcooked.planner import HOPE, Aim, Cooking, is_under_way
from otherminds.worlds.overcooked.rules import ACTIONS, State, View

VAIN = 4
"""After so many steps of waiting, and every so many steps more, who can only hope thinks again."""


@dataclass(frozen=True)
class Cook:
    """An agent after one goal, a recipe or a request, that has one full hypothetical kitchen in mind, its particle.

    P(a | b, g) = (1 − lapse) · softmax(−beta · Q_g(b, ·)) + lapse / |A|, Q being the steps until the goal is reached
    in the kitchen b that it believes in. An infinite `beta` makes it choose uniformly among the best actions.
    Somebody in the way is waited for; after `patience` steps in which nothing has changed, whoever comes later among
    the agents goes anywhere else, and waits there for as long. Who waits in vain for something imagines anew what may
    be in rooms that it has never seen.
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
    rooms: int = 0
    reached: bool = False

    def observe(self, view: View, /) -> Cook:
        """What is seen is believed, the rest remembered or imagined; its own dish delivered is its goal reached."""
        kitchen = self.imagination.look(self.kitchen, view, self.agent, self.particle)
        reached, waited = self.reached or self._has_served(kitchen), self._has_waited(kitchen)
        rooms = self.rooms | self.cooking.layout.sight[kitchen.cells[self.agent]]
        now = replace(self, kitchen=kitchen, waited=waited, reached=reached, rooms=rooms)
        if waited > 0 and waited % VAIN == 0 and now._hopes():
            seed = self.particle + waited
            return replace(now, kitchen=self.imagination.think_again(kitchen, rooms, seed))
        return now

    def _hopes(self) -> bool:
        """Whether it takes what it needs to be out of its reach."""
        if self.goal is None or self.over:
            return False
        kitchen, i = self._seen, self.agent
        return self.cooking.values(self.goal, kitchen.hands[i], kitchen.on)[kitchen.cells[i]] >= HOPE

    def _has_waited(self, kitchen: State) -> int:
        """For how many steps nothing has changed; below 0, for how many it is going to stay where it gave way."""
        if self.kitchen is None or self.waited < 0:
            return min(self.waited + 1, 0)
        if kitchen == self.kitchen:
            return self.waited + 1
        moved = kitchen.cells[self.agent] != self.kitchen.cells[self.agent]
        return -self.patience if moved and self._gives_way() else 0

    def _gives_way(self) -> bool:
        """Whether it is its turn to make room, having waited: before whoever comes first among the agents, or is idle.

        If that does not help either, everybody does.
        """
        if self.waited < self.patience:
            return False
        kitchen, here = self._seen, self._seen.cells[self.agent]
        neighbours = self.cooking.layout.grid.neighbours
        close = [i for i, cell in enumerate(kitchen.cells) if cell in neighbours[here]]
        idle = self._aim().mode == STAY
        if not idle:  # they may be heading for the same square
            around = {*neighbours[here]}
            close += [i for i, cell in enumerate(kitchen.cells) if i != self.agent and around & {*neighbours[cell]}]
        return bool(close) and (idle or min(close) < self.agent or self.waited >= 3 * self.patience)

    def _has_served(self, kitchen: State) -> bool:
        """Whether what it just had in its hands was its dish, and has now been delivered."""
        if self.kitchen is None or not isinstance(self.goal, str):
            return False
        dish, i = RECIPES[self.goal], self.agent
        handed_in = self.kitchen.hands[i] == dish and not kitchen.hands[i]
        return handed_in and _served(kitchen, dish) > _served(self.kitchen, dish)

    def act(self) -> Categorical[str]:
        """What it may do now. Raises ValueError before it has seen anything."""
        kitchen = self._seen
        if self.waited < 0:
            return self._only([STAY])
        if not self._gives_way():
            return self._aim()
        ahead = self.cooking.layout.ahead[kitchen.cells[self.agent]]
        return self._only([action for action, (to, _) in ahead.items() if to not in kitchen.cells] or [STAY])

    def _only(self, actions: Sequence[str]) -> Categorical[str]:
        """Any of these actions, as if nothing else mattered."""
        return Categorical.softmax([(a, 0.0 if a in actions else IMPOSSIBLE) for a in ACTIONS], lapse=self.lapse)

    def _aim(self) -> Categorical[str]:
        """What it would do if it did not mind waiting; remembered for all who are in the same position."""
        if self.over:
            return self._only([STAY])
        kitchen, i = self._seen, self.agent
        ahead = self.cooking.layout.ahead[kitchen.cells[i]]
        busy = tuple([a for a, (to, _) in ahead.items() if to in kitchen.cells and to != kitchen.cells[i]])
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
        return Categorical.boltzmann(costs.items(), beta=self.beta, lapse=self.lapse)

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
