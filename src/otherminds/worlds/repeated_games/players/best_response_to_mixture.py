"""The exact best response to a mixture of minds, by planning over its posteriors as states of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.files.text import brief
from otherminds.observer import Observer
from otherminds.planning.best_response import Chances, Response, best_response
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.rules import Game, Outcome

MOST = 20_000  # most posteriors to enumerate; bounds time and memory
FORGOTTEN = 1e-12  # posterior below which a mind is dropped: rounding
Key = frozenset[tuple[Any, float]]


def posterior_key(observer: Observer[Any]) -> Key:
    """The posterior as a hashable value: possible minds with log probabilities, rounded to 8 digits."""
    posterior = observer.posterior
    pairs = zip(posterior.support, posterior.log_probs, strict=True)
    return frozenset((mind, round(log_p, 8)) for mind, log_p in pairs if log_p > IMPOSSIBLE)


@dataclass(frozen=True, eq=False)
class BeliefStates:
    """All posteriors that an observer can reach in a game, as states of a machine, and the best response to it.

    Exact for any mixture with finitely many posteriors, such as one of deterministic machines.
    Raises ValueError if more than 20,000 are reachable.
    """

    game: Game
    observer: Observer[Any]
    horizon: int

    @cached_property
    def unrolled(self) -> Chances:
        """The machine of posteriors: O[q, b] = Σ P(m) π(b | m), δ(q, a, b) = the posterior after a and b."""
        payoff = self.game.payoff()
        index, beliefs = {posterior_key(self.observer): 0}, [self.observer]
        outputs: list[list[float]] = []
        moves: list[list[list[int]]] = []
        for belief in beliefs:  # new posteriors are appended on the way
            expected = belief.predict()
            onward = [[len(outputs)] * payoff.shape[1] for _ in payoff]
            for a, b in np.ndindex(payoff.shape):
                if expected.prob(b) > 0.0:
                    after = belief.watch(b, mirrored(self.game, Outcome(a, b, float(payoff[a, b])))).prune(FORGOTTEN)
                    onward[a][b] = index.setdefault(posterior_key(after), len(beliefs))
                    if onward[a][b] == len(beliefs):
                        beliefs.append(after)
            outputs.append([expected.prob(b) for b in range(payoff.shape[1])])
            moves.append(onward)
            if len(beliefs) > MOST:
                raise ValueError(f"more than {MOST:,} posteriors are possible: no exact best response")
        return Chances(np.array(outputs), np.array(moves))

    @cached_property
    def response(self) -> Response:
        """The Bayes-optimal plan: values V_t(belief) and actions."""
        return best_response(self.game.payoff(), self.unrolled, self.horizon)


@dataclass(frozen=True)
class MixtureBestResponse:
    """A Bayes-optimal player that knows the prior: no player with the same knowledge has less expected regret.

    V_t(β) = max_a Σ_b P(b | β) · (R(a, b) + V_{t+1}(β after a, b)) over the reachable posteriors β.
    Raises ValueError at its first action if more than 20,000 are reachable.
    """

    __repr__ = brief

    beliefs: BeliefStates
    state: int = 0
    t: int = 0

    @classmethod
    def of(
        cls, game: Game, machines: Iterable[Machine], weights: Iterable[float] | None = None, horizon: int = 100
    ) -> Self:
        """A player with a prior over machines (uniform by default)."""
        observer: Observer[Any] = Observer.over((machine.start for machine in machines), weights)
        return cls(BeliefStates(game, observer, horizon))

    def observe(self, outcome: Outcome | None) -> Self:
        """The player with the next posterior. Raises ValueError for a play of prior probability 0."""
        if outcome is None:
            return self
        outputs, moves = self.beliefs.unrolled
        if not outputs[self.state, outcome.theirs]:
            raise ValueError(f"none of the machines could have done {outcome.theirs}")
        return replace(self, state=int(moves[self.state, outcome.own, outcome.theirs]), t=self.t + 1)

    def predict(self) -> Categorical[int]:
        """Σ P(m) π(b | m)."""
        outputs = self.beliefs.unrolled.outputs[self.state]
        return Categorical.from_scores((b, float(np.log(p))) for b, p in enumerate(outputs) if p)

    def act(self) -> Categorical[int]:
        """The optimal action for the current posterior, ties to the lowest."""
        return point_mass(int(self.beliefs.response.actions[min(self.t, self.beliefs.horizon - 1), self.state]))


def bayes_floor(
    game: Game, machines: Sequence[Machine], horizon: int = 100, weights: Sequence[float] | None = None
) -> float:
    """Lower bound on expected regret per round for any player that does not know which machine it faces.

    `weights` are the machines' prior probabilities, by default equal. Whatever they are, no player's mean regret over
    the machines, so weighted, is below it, and so neither is the largest of its regrets.
    """
    player = MixtureBestResponse.of(game, machines, weights, horizon)
    share = [1.0 / len(machines)] * len(machines) if weights is None else weights
    informed_value = sum(
        p * float(response_to(game, machine, horizon).values[0, 0]) for p, machine in zip(share, machines, strict=True)
    )
    return (informed_value - float(player.beliefs.response.values[0, 0])) / horizon
