"""The player with a library: which known machine is this partner, and what is it worth to find out?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.planning.best_response import (
    NEGLIGIBLE,
    Leaf,
    Pool,
    action_values,
    best_action,
    clairvoyant,
    commitment,
)
from otherminds.worlds.repeated_games.machines import Machine, Partner, all_memory_one, point, random_machines
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.rules import Game, Outcome

FORGOTTEN = 1e-12
SLIP = 1e-6
"""How often a partner may do what its machine does not, if it is taken to be one of the library's."""


@dataclass(frozen=True, eq=False)
class HypothesisSet:
    """Machines with prior probabilities, and the plans against all of them that a `BayesianLookahead` looks up.

    Inference grants every machine a slip with probability `noise`; plans take them at their word.
    """

    game: Game
    machines: tuple[Machine, ...]
    prior: tuple[float, ...]
    noise: float
    horizon: int
    leaf: Leaf
    depth: int = 1

    @cached_property
    def pool(self) -> Pool:
        """All machines as arrays."""
        return Pool.of(self.game.payoff(), [machine.chances for machine in self.machines], self.horizon)

    @cached_property
    def place(self) -> dict[Partner, int]:
        """The number of every state of every machine in the pool."""
        partners = (partner for machine in self.slipping for partner in machine.minds)
        return {partner: i for i, partner in enumerate(partners)}

    @cached_property
    def slipping(self) -> tuple[Machine, ...]:
        """The machines as they are watched."""
        return tuple(machine.trembling(self.noise) for machine in self.machines)


def closed(game: Game, machines: Sequence[Machine], horizon: int = 100, *, depth: int = 1) -> HypothesisSet:
    """A library that the partner is known to be from, all machines being equally probable."""
    return HypothesisSet(game, tuple(machines), (1 / len(machines),) * len(machines), SLIP, horizon, commitment, depth)


def open_to_strangers(
    game: Game,
    machines: Sequence[Machine],
    horizon: int = 100,
    *,
    noise: float = 0.05,
    memory_one: float = 0.3,
    random: float = 0.3,
    rng: np.random.Generator,
) -> HypothesisSet:
    """A library that the partner may not be in: part of the prior is on all memory-one and on small random machines.

    Whatever the partner is, it may do something else with probability `noise`.
    """
    groups = [
        (1.0 - memory_one - random, list(machines)),
        (memory_one, list(all_memory_one(game))),
        (random, list(random_machines(game, 500, 8, rng))),
    ]
    held = tuple(machine for share, group in groups if share for machine in group)
    prior = tuple(share / len(group) for share, group in groups if share for _ in group)
    return HypothesisSet(game, held, prior, noise, horizon, clairvoyant)


@dataclass(frozen=True)
class BayesianLookahead:
    """Bayes over the machines of a library, with look-ahead on the beliefs that its own actions would lead to.

    Q_t(β, a) = Σ_b P(b | β) · (R(a, b) + V_{t+1}(β after a, b)), `library.depth` rounds deep, and then the library's
    bound on V, `leaf`. Bayes-optimal as far as that bound is exact.
    """

    library: HypothesisSet
    watched: Observer[Partner]
    t: int = 0

    @classmethod
    def of(cls, library: HypothesisSet) -> Self:
        """Before the first round."""
        return cls(library, Observer.over((machine.start for machine in library.slipping), library.prior))

    def observe(self, outcome: Outcome | None) -> Self:
        """Condition on what the partner did; machines that are out of the question are dropped."""
        if outcome is None:
            return self
        watched = self.watched.watch(outcome.theirs, mirrored(self.library.game, outcome)).prune(FORGOTTEN)
        return replace(self, watched=watched, t=self.t + 1)

    def predict(self) -> Categorical[int]:
        """Σ P(machine) π(b | machine)."""
        return self.watched.predict()

    def act(self) -> Categorical[int]:
        """The action of the highest value, ties to the lowest."""
        pool, t = self.library.pool, min(self.t, self.library.horizon - 1)
        weights = np.exp(self.watched.weights)
        likely = weights > NEGLIGIBLE * weights.max()
        minds = [mind for mind, kept in zip(self.watched.minds, likely, strict=True) if kept]
        states = np.array([self.library.place[mind] for mind in minds])
        if len(states) == 1:
            return point(int(pool.response.actions[t, states[0]]))
        values = action_values(pool, t, states, weights[likely], depth=self.library.depth, leaf=self.library.leaf)
        return point(best_action(values))
