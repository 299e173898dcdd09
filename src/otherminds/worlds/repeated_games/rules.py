"""Repeated games: in each round all agents choose at once and then see everyone's actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import shortened
from otherminds.files.html import MOST, facts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Game:
    """A finite game in normal form: named actions, and payoffs of all agents for each joint action.

    `actions[i]` are the names of agent i's actions; minds use their indices. `payoffs` has one row per joint action,
    in lexicographic order (the last agent's action varies fastest), with one number per agent.
    Raises ValueError if the parts do not fit together.
    """

    name: str
    agents: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: tuple[tuple[float, ...], ...]
    title: str = ""

    def __repr__(self) -> str:
        options = " × ".join("/".join(names) for names in self.actions)
        return f"Game({shortened(self.name, 40)}; {shortened(options, 100)})"

    def _repr_html_(self) -> str:
        joint = zip(product(*self.actions), self.payoffs, strict=True)
        lines = [(", ".join(names), ", ".join(f"{pay:g}" for pay in pays)) for names, pays in joint]
        return facts(f"{self.name}: payoffs of {', '.join(self.agents)}", lines[:MOST])

    def __post_init__(self) -> None:
        """Check that the parts fit together. Raises ValueError if not."""
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
        """The number of actions of each agent."""
        return tuple(map(len, self.actions))

    @cached_property
    def _tables(self) -> tuple[Floats, ...]:
        """For each agent, its payoffs as in `payoff`: shape (own actions, joint actions of the others), read-only."""
        cube = np.array(self.payoffs, dtype=float).reshape(*self.shape, len(self.agents))
        tables = [
            np.ascontiguousarray(np.moveaxis(cube[..., i], i, 0).reshape(self.shape[i], -1))
            for i in range(len(self.agents))
        ]
        for table in tables:
            table.setflags(write=False)
        return tuple(tables)

    def payoff(self, agent: int = 0) -> Floats:
        """R[a, b], agent i's payoff for its own action a and the others' joint action b; read-only.

        Shape (own actions, joint actions of the others), which `others` numbers.
        """
        return self._tables[agent]

    def others(self, agent: int, joint: tuple[int, ...]) -> int:
        """The index of the others' joint action, whose digits are their actions in their order."""
        index = 0
        for i, action in enumerate(joint):
            if i != agent:
                index = index * len(self.actions[i]) + action
        return index

    def seen_by(self, agent: int) -> Game:
        """The same game with this agent first."""
        order = [agent, *(i for i in range(len(self.agents)) if i != agent)]
        cube = np.array(self.payoffs).reshape(*self.shape, len(self.agents))
        turned = np.transpose(cube, (*order, len(order)))[..., order]
        rows = tuple(map(tuple, turned.reshape(-1, len(order)).tolist()))
        return Game(
            self.name, tuple(self.agents[i] for i in order), tuple(self.actions[i] for i in order), rows, self.title
        )


class GameState(NamedTuple):
    """The state of a repeated game: rounds played so far, and the joint action of the last one."""

    rounds: int
    joint: tuple[int, ...] | None


class Outcome(NamedTuple):
    """What an agent observes of a round: its own action, the others' joint action, and its own payoff."""

    own: int
    theirs: int
    payoff: float


@dataclass(frozen=True)
class RepeatedGame:
    """A game played `horizon` times, in which agents observe all actions of the last round.

    Rⁱ(s, a, s′) depends on the joint action alone. Raises ValueError if the horizon is below 1.
    """

    game: Game
    horizon: int = 100

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise ValueError(f"a repeated game needs at least 1 round, not {self.horizon}")

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents in the order of the game."""
        return self.game.agents

    def start(self, _rng: np.random.Generator | None = None, /) -> GameState:
        """The state before the first round."""
        return GameState(0, None)

    def actions(self, _state: GameState, agent: str) -> tuple[int, ...]:
        """The indices of all of the agent's actions."""
        return tuple(range(len(self.game.actions[self.agents.index(agent)])))

    def step(self, state: GameState, joint: Mapping[str, int], _rng: np.random.Generator | None = None, /) -> GameState:
        """The state after one round. Raises ValueError for an action outside the game."""
        actions = tuple(joint[agent] for agent in self.agents)
        for agent, action, names in zip(self.agents, actions, self.game.actions, strict=True):
            if not 0 <= action < len(names):
                raise ValueError(f"{action} is not one of {len(names)} actions of {agent}")
        return GameState(state.rounds + 1, actions)

    def observe(self, state: GameState, agent: str) -> Outcome | None:
        """The last round from the agent's side, None before the first."""
        if state.joint is None:
            return None
        i = self.agents.index(agent)
        theirs = self.game.others(i, state.joint)
        return Outcome(state.joint[i], theirs, float(self.game.payoff(i)[state.joint[i], theirs]))

    def reward(self, _state: GameState, joint: Mapping[str, int], _after: GameState) -> dict[str, float]:
        """All payoffs of the joint action."""
        actions = tuple(joint[agent] for agent in self.agents)
        row = self.game.payoffs[int(np.ravel_multi_index(actions, self.game.shape))]
        return dict(zip(self.agents, row, strict=True))

    def done(self, state: GameState) -> bool:
        """Whether all rounds are played."""
        return state.rounds >= self.horizon


def ordinal_games() -> Iterator[Game]:
    """The 144 strictly ordinal 2 × 2 games: both rank the four outcomes 1 to 4 (Robinson and Goforth 2005).

    Of games that differ only in the names of actions, the lexicographically first is given.
    """
    ranks = list(permutations((1.0, 2.0, 3.0, 4.0)))
    swaps = ((0, 1, 2, 3), (2, 3, 0, 1), (1, 0, 3, 2), (3, 2, 1, 0))  # rows, columns, neither or both
    tables = (
        table
        for table in product(ranks, ranks)
        if table == min(tuple(tuple(ranking[i] for i in swap) for ranking in table) for swap in swaps)
    )
    for number, (mine, yours) in enumerate(tables, 1):
        rows = tuple(zip(mine, yours, strict=True))
        yield Game(f"ordinal-{number:03d}", ("you", "partner"), (("up", "down"), ("left", "right")), rows)
