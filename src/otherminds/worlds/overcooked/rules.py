"""The rules of Overcooked with rooms: agents carry, chop, plate and deliver, each for its own recipe, seeing its room.

The rules are those of gym-cooking (Wu et al. 2021, Too many cooks), with doors and rooms as in ProToM (§4.1,
appendix A), for any number of agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from otherminds.errors import shortened
from otherminds.files.html import pictured
from otherminds.files.text import brief
from otherminds.worlds.grid import DIRECTIONS
from otherminds.worlds.overcooked import kitchen

T = TypeVar("T")

ACTIONS = (*DIRECTIONS, kitchen.STAY)
UNSEEN = -1  # in a view: in another room


class State(NamedTuple):
    """The state of a kitchen.

    cells: the square of each agent. hands: the item each one holds. on: the item on each counter or board. delivered:
    the dishes delivered at each delivery square, sorted. served: the agents whose recipe has been delivered, as bits.
    """

    cells: tuple[int, ...]
    hands: tuple[int, ...]
    on: tuple[int, ...]
    delivered: tuple[tuple[int, ...], ...]
    served: int = 0

    def __repr__(self) -> str:
        return brief(self)


class KitchenView(NamedTuple):
    """An agent's observation of a state: UNSEEN, or None for deliveries, stands for what is in other rooms."""

    cells: tuple[int, ...]
    hands: tuple[int, ...]
    on: tuple[int, ...]
    delivered: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Overcooked:
    """The world of one kitchen: where agents start, the recipe of each, and the items on each counter at the start.

    A move onto floor walks; a move against anything else uses it. No item is ever supplied. A delivery counts if it is
    exactly a recipe that is still open: that of the agent that brings it, else of the first agent with that recipe. An
    agent that is served, or has no recipe (None), can go on helping.

    Raises ValueError if the parts do not fit together.
    """

    layout: kitchen.KitchenLayout
    agents: tuple[str, ...]
    cells: tuple[int, ...]
    recipes: tuple[str | None, ...]
    on: tuple[int, ...]

    def __repr__(self) -> str:
        grid, wants = self.layout.grid, zip(self.agents, self.recipes, strict=True)
        cooks = ", ".join(f"{agent} cooks {recipe or 'nothing'}" for agent, recipe in wants)
        return shortened(f"Overcooked({grid.width} × {grid.height}; {cooks})", 160)

    def _repr_html_(self) -> str:
        from otherminds.worlds.overcooked.drawing import draw  # it knows this module

        return pictured(draw(self, self.initial).svg())

    def __post_init__(self) -> None:
        """Check that the parts fit together. Raises ValueError if not."""
        n = len(self.agents)
        if not n or len(set(self.agents)) < n or len(self.cells) != n or len(self.recipes) != n:
            raise ValueError("agents need different names, and a square and a recipe (or None) each")
        if len(set(self.cells)) < n or not all(map(self.layout.grid.is_floor, self.cells)):
            raise ValueError("agents start on floor or on doors, each on a square of their own")
        if not any(self.recipes) or not set(self.recipes) <= {*kitchen.RECIPES, None}:
            raise ValueError(f"there must be a recipe, and recipes are {', '.join(kitchen.RECIPES)}")
        if len(self.on) != len(self.layout.counters) or not all(map(kitchen.is_thing, self.items)):
            raise ValueError("`on` needs a thing, or NOTHING, for every counter and board")
        if max(self.stock.values(), default=0) > kitchen.MANY:
            raise ValueError(f"there can be {kitchen.MANY} of a kind at the most")

    # Common knowledge

    @cached_property
    def items(self) -> tuple[int, ...]:
        """The items at the start, sorted."""
        return tuple(sorted(thing for thing in self.on if thing))

    @cached_property
    def stock(self) -> dict[str, int]:
        """The number of each food, fresh or chopped, and of plates."""
        return Counter(part.split()[-1] for thing in self.items for part in kitchen.parts(thing))

    @cached_property
    def dishes(self) -> tuple[int, ...]:
        """The dish that each agent is to deliver, or NOTHING."""
        return tuple(kitchen.RECIPES[recipe] if recipe else kitchen.NOTHING for recipe in self.recipes)

    # The rules

    @cached_property
    def initial(self) -> State:
        """The state at the start of an episode."""
        hands = (kitchen.NOTHING,) * len(self.agents)
        return State(self.cells, hands, self.on, ((),) * len(self.layout.deliveries))

    def start(self, _rng: np.random.Generator | None = None, /) -> State:
        """The initial state; it is not random."""
        return self.initial

    def actions(self, state: State, agent: str) -> tuple[str, ...]:
        """The five ACTIONS; an action without effect counts as staying."""
        return ACTIONS

    @cached_property
    def vocabulary(self) -> dict[str, str]:
        """Every action of this world by its words: the inverse of `spell`."""
        return {action: action for action in ACTIONS}

    def spell(self, action: str) -> str:
        """The action in words."""
        return action

    def illegal_agent(self, state: State, joint: Mapping[str, str]) -> str | None:
        """The first agent with an action that the rules forbid: always None, as a useless action has no effect."""
        return None

    def is_served(self, state: State, i: int) -> bool:
        """Whether the recipe of agent i has been delivered, or it has none."""
        return not self.dishes[i] or bool(state.served >> i & 1)

    def done(self, state: State) -> bool:
        """Whether every recipe has been delivered."""
        return all(self.is_served(state, i) for i in range(len(self.agents)))

    def reward(self, state: State, joint: Mapping[str, str], after: State) -> dict[str, float]:
        """−1 for every step that an agent begins before it is served."""
        return {a: -float(not self.is_served(state, i)) for i, a in enumerate(self.agents)}

    def step(self, state: State, joint: Mapping[str, str], _rng: np.random.Generator | None = None, /) -> State:
        """T(s, a): agents in each other's way are held up; effects apply in the order of the agents.

        Raises ValueError for an unknown action.
        """
        return self.advance(state, [joint[agent] for agent in self.agents])

    def advance(self, state: State, actions: Sequence[str]) -> State:
        """`step` with the actions in the order of the agents."""
        cells, ahead = state.cells, self.layout.ahead
        try:
            heads = [ahead[cell][action] for cell, action in zip(cells, actions, strict=True)]
        except KeyError as error:
            raise ValueError(f"{error} is not an action: {', '.join(ACTIONS)}") from None
        for i in self._held_up(cells, heads, actions):
            heads[i] = cells[i], kitchen.NOWHERE
        return self.use(State(tuple([to for to, _ in heads]), *state[1:]), [place for _, place in heads])

    def use(self, state: State, places: Sequence[int]) -> State:
        """The state after each agent, in their order, has used its place, if that is not NOWHERE."""
        for i, place in enumerate(places):
            if place != kitchen.NOWHERE:
                state = self._use(state, i, place)
        return state

    def _held_up(self, cells: Sequence[int], heads: Sequence[tuple[int, int]], actions: Sequence[str]) -> set[int]:
        """The agents that cannot move as intended, pair by pair; to follow onto a square that is being left is allowed.

        Only intentions count, as in gym-cooking: of three in a row, the last one walks onto the square of the second
        even if the second is held up by the first.
        """
        stopped: set[int] = set()
        for i, j in combinations(range(len(self.agents)), 2):
            mine, theirs = heads[i][0], heads[j][0]
            if mine == theirs:
                if mine == cells[i] and actions[i] != kitchen.STAY:
                    stopped.add(j)
                elif theirs == cells[j] and actions[j] != kitchen.STAY:
                    stopped.add(i)
                else:
                    stopped |= {i, j}
            elif mine == cells[j] and theirs == cells[i]:
                stopped |= {i, j}
        return stopped

    def _use(self, state: State, i: int, place: int) -> State:
        """The state after agent i has used a place."""
        cells, hands, on, delivered, served = state
        if place < len(on):
            hand, lying = kitchen.interact(hands[i], on[place], place in self.layout.boards)
            return State(cells, _replaced(hands, i, hand), _replaced(on, place, lying), delivered, served)
        dish, d = hands[i], place - len(on)
        if not kitchen.deliverable(dish):
            return state
        dishes = tuple(sorted((*delivered[d], dish)))
        order = sorted(range(len(self.agents)), key=lambda j: j != i)
        credited = next((j for j in order if self.dishes[j] == dish and not served >> j & 1), None)
        if credited is not None:
            served |= 1 << credited
        return State(cells, _replaced(hands, i, kitchen.NOTHING), on, _replaced(delivered, d, dishes), served)

    def observe(self, state: State, agent: str) -> KitchenView:
        """The agent itself, and everything in the rooms where it is."""
        cells, hands, on, delivered, _ = state
        sight = self.layout.sight
        own_cell = cells[self.agents.index(agent)]
        visible = self.layout.visible(own_cell)
        near = [sight[cell] & sight[own_cell] for cell in cells]  # not 0 for agents with a room in common
        return KitchenView(
            tuple([cell if sees else UNSEEN for cell, sees in zip(cells, near, strict=True)]),
            tuple([hand if sees else UNSEEN for hand, sees in zip(hands, near, strict=True)]),
            tuple([thing if sees else UNSEEN for thing, sees in zip(on, visible, strict=False)]),
            tuple([d if sees else None for d, sees in zip(delivered, visible[len(on) :], strict=True)]),
        )


def _replaced(values: tuple[T, ...], i: int, value: T) -> tuple[T, ...]:
    return (*values[:i], value, *values[i + 1 :])
