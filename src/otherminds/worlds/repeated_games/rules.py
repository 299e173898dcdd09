"""Repeated games: finitely many agents choose at once, round after round, and see what everybody did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Game:
    """A finite game in normal form: named actions, and what every agent gets for every joint action.

    `actions[i]` are the names of agent i's actions; minds deal in their indices. `payoffs` has one row per joint
    action, in lexicographic order (the last agent's action varies fastest), with one number per agent.
    """

    name: str
    agents: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: tuple[tuple[float, ...], ...]
    title: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError if the parts do not fit together."""
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError("a game needs at least two agents with different names")
        if len(self.actions) != len(self.agents):
            raise ValueError(f"{len(self.agents)} agents, but actions for {len(self.actions)}")
        for agent, names in zip(self.agents, self.actions, strict=True):
            if not names or len(set(names)) < len(names):
                raise ValueError(f"{agent} needs at least one action, all with different names")
        if len(self.payoffs) != prod(self.shape) or {len(row) for row in self.payoffs} != {len(self.agents)}:
            raise ValueError(f"payoffs need {prod(self.shape)} joint actions with {len(self.agents)} numbers each")
        if not np.isfinite(self.payoffs).all():
            raise ValueError("payoffs must be finite numbers")

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many actions each agent has."""
        return tuple(map(len, self.actions))

    @cached_property
    def _tables(self) -> tuple[Floats, ...]:
        cube = np.array(self.payoffs, dtype=float).reshape(*self.shape, len(self.agents))
        tables = [
            np.ascontiguousarray(np.moveaxis(cube[..., i], i, 0).reshape(self.shape[i], -1))
            for i in range(len(self.agents))
        ]
        for table in tables:
            table.setflags(write=False)
        return tuple(tables)

    def payoff(self, agent: int = 0) -> Floats:
        """R[a, b]: what agent i gets for its own action a and the joint action b of all others.

        Shape (own actions, joint actions of the others); `others` says how joint actions are numbered.
        """
        return self._tables[agent]

    def others(self, agent: int, joint: tuple[int, ...]) -> int:
        """The joint action of everybody else as one number: their actions are its digits, in their order."""
        index = 0
        for i, action in enumerate(joint):
            if i != agent:
                index = index * len(self.actions[i]) + action
        return index

    def seen_by(self, agent: int) -> Game:
        """The same game with this agent in the first place."""
        order = [agent, *(i for i in range(len(self.agents)) if i != agent)]
        cube = np.array(self.payoffs).reshape(*self.shape, len(self.agents))
        turned = np.transpose(cube, (*order, len(order)))[..., order]
        rows = tuple(map(tuple, turned.reshape(-1, len(order)).tolist()))
        return Game(
            self.name,
            tuple(self.agents[i] for i in order),
            tuple(self.actions[i] for i in order),
            rows,
            self.title,
        )


class Played(NamedTuple):
    """The state of a repeated game: how many rounds are over, and what everybody did in the last one."""

    rounds: int
    joint: tuple[int, ...] | None


class Outcome(NamedTuple):
    """What an agent sees of a round: its own action, the joint action of all others, and its own payoff."""

    own: int
    theirs: int
    payoff: float


@dataclass(frozen=True)
class RepeatedGame:
    """A game played `horizon` times; agents see all actions of the round before (nothing, before the first).

    Rⁱ(s, a, s′) is the payoff of the joint action alone; the state is how many rounds there were, and the last of them.
    """

    game: Game
    horizon: int = 100

    def __post_init__(self) -> None:
        """Raise ValueError if there is no round to play."""
        if self.horizon < 1:
            raise ValueError(f"a repeated game needs at least 1 round, not {self.horizon}")

    @property
    def agents(self) -> tuple[str, ...]:
        """Who plays, in the order of the game."""
        return self.game.agents

    def start(self, _rng: np.random.Generator | None = None, /) -> Played:
        """Before the first round."""
        return Played(0, None)

    def actions(self, _state: Played, agent: str) -> tuple[int, ...]:
        """The indices of all the agent's actions."""
        return tuple(range(len(self.game.actions[self.agents.index(agent)])))

    def step(self, state: Played, joint: Mapping[str, int], _rng: np.random.Generator | None = None, /) -> Played:
        """One round. Raises ValueError for an action outside the game."""
        actions = tuple(joint[agent] for agent in self.agents)
        for agent, action, names in zip(self.agents, actions, self.game.actions, strict=True):
            if not 0 <= action < len(names):
                raise ValueError(f"{action} is not an action of {agent}, who has {len(names)}")
        return Played(state.rounds + 1, actions)

    def observe(self, state: Played, agent: str) -> Outcome | None:
        """The last round as the agent saw it; None before the first."""
        if state.joint is None:
            return None
        i = self.agents.index(agent)
        theirs = self.game.others(i, state.joint)
        return Outcome(state.joint[i], theirs, float(self.game.payoff(i)[state.joint[i], theirs]))

    def reward(self, _state: Played, joint: Mapping[str, int], _after: Played) -> dict[str, float]:
        """What everybody gets for the joint action."""
        actions = tuple(joint[agent] for agent in self.agents)
        row = self.game.payoffs[int(np.ravel_multi_index(actions, self.game.shape))]
        return dict(zip(self.agents, row, strict=True))

    def done(self, state: Played) -> bool:
        """Whether all rounds are over."""
        return state.rounds >= self.horizon


def ordinal_games() -> Iterator[Game]:
    """The 144 strictly ordinal 2 × 2 games: both rank the four outcomes 1 to 4 (Robinson and Goforth 2005).

    Games that differ in the names of actions alone are the same; of each, the lexicographically first is given.
    """
    ranks = list(permutations((1.0, 2.0, 3.0, 4.0)))
    found = (table for table in product(ranks, ranks) if table == min(_renamed(table)))
    for number, (mine, yours) in enumerate(found, 1):
        rows = tuple(zip(mine, yours, strict=True))
        yield Game(f"ordinal-{number:03d}", ("you", "partner"), (("up", "down"), ("left", "right")), rows)


def _renamed(table: tuple[tuple[float, ...], tuple[float, ...]]) -> Iterator[tuple[tuple[float, ...], ...]]:
    """The same two payoff tables with rows, columns, neither or both swapped."""
    for order in ((0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2), (3, 2, 1, 0)):
        yield tuple(tuple(side[i] for i in order) for side in table)
