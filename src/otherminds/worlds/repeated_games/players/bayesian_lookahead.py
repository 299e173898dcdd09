"""Bayesian look-ahead against an unknown machine: depth-limited search over beliefs with bounded leaf values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.files.text import brief
from otherminds.observer import Observer
from otherminds.planning import best_response as planning
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.rules import Game, Outcome

FORGOTTEN = 1e-12  # posterior below which a machine is dropped; bounds time
SLIP = 1e-6
"""Noise attributed to the machines of a closed set, so that none is excluded by one play; chosen small."""


@dataclass(frozen=True, eq=False)
class HypothesisSet:
    """Machines that a partner may be, with prior probabilities, and the best responses to all of them.

    Inference assumes that every machine slips with probability `noise`; plans do not. `leaf` bounds the value of a
    belief where the look-ahead of `depth` rounds ends.
    """

    __repr__ = brief

    game: Game
    machines: tuple[Machine, ...]
    prior: tuple[float, ...]
    noise: float
    horizon: int
    leaf: planning.Leaf
    depth: int = 1

    @cached_property
    def pool(self) -> planning.Pool:
        """All machines as arrays."""
        return planning.Pool.of(self.game.payoff(), [machine.chances for machine in self.machines], self.horizon)

    @cached_property
    def place(self) -> dict[Partner, int]:
        """The index in the pool of each state of each machine."""
        partners = (partner for machine in self.slipping for partner in machine.minds)
        return {partner: i for i, partner in enumerate(partners)}

    @cached_property
    def slipping(self) -> tuple[Machine, ...]:
        """The machines with noise, as the observer scores them."""
        return tuple(machine.trembling(self.noise) for machine in self.machines)


def closed_hypotheses(game: Game, machines: Sequence[Machine], horizon: int = 100, *, depth: int = 1) -> HypothesisSet:
    """A set that is known to contain the partner, with a uniform prior."""
    return HypothesisSet(
        game, tuple(machines), (1 / len(machines),) * len(machines), SLIP, horizon, planning.commitment, depth
    )


@dataclass(frozen=True)
class BayesianLookahead:
    """Bayesian inference over a set of machines, and look-ahead over the beliefs that its actions would lead to.

    Q_t(β, a) = Σ_b P(b | β) · (R(a, b) + V_{t+1}(β after a, b)), `library.depth` rounds deep, then the bound
    `library.leaf` on V. Bayes-optimal where that bound is exact.
    """

    __repr__ = brief

    library: HypothesisSet
    observer: Observer[Partner]
    t: int = 0

    @classmethod
    def of(cls, library: HypothesisSet) -> Self:
        """The player before the first round."""
        minds = (machine.start for machine in library.slipping)
        return cls(library, Observer.over(minds, library.prior))

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: beliefs are updated, and machines with negligible probability dropped."""
        if outcome is None:
            return self
        observer = self.observer.watch(outcome.theirs, mirrored(self.library.game, outcome)).prune(FORGOTTEN)
        return replace(self, observer=observer, t=self.t + 1)

    def predict(self) -> Categorical[int]:
        """Σ P(machine) π(b | machine)."""
        return self.observer.predict()

    def act(self) -> Categorical[int]:
        """The action with the highest value, ties to the lowest."""
        pool = self.library.pool
        t = min(self.t, self.library.horizon - 1)
        weights = np.exp(self.observer.weights)
        likely = weights > planning.NEGLIGIBLE * weights.max()
        minds = [mind for mind, is_likely in zip(self.observer.minds, likely, strict=True) if is_likely]
        states = np.array([self.library.place[mind] for mind in minds])
        if len(states) == 1:
            return point_mass(int(pool.response.actions[t, states[0]]))
        values = planning.action_values(
            pool, t, states, weights[likely], depth=self.library.depth, leaf=self.library.leaf
        )
        return point_mass(planning.best_action(values))
