"""The best response to a mixture of minds: beliefs are states, so a mixture of machines is a machine again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.observer import Observer
from otherminds.planning.best_response import Chances, Response, best_response
from otherminds.worlds.repeated_games.machines import Machine, point
from otherminds.worlds.repeated_games.players.best_responders import mirrored, response_to
from otherminds.worlds.repeated_games.rules import Game, Outcome

MOST = 20_000
FORGOTTEN = 1e-12
Key = frozenset[tuple[Any, float]]


def key(observer: Observer[Any]) -> Key:
    """The posterior as a value: minds that are possible, with their log probabilities up to rounding."""
    posterior = observer.posterior
    pairs = zip(posterior.support, posterior.log_probs, strict=True)
    return frozenset((mind, round(log_p, 8)) for mind, log_p in pairs if log_p > IMPOSSIBLE)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """All posteriors that an observer can come to in a game, as the states of a machine, and the best response to it.

    Exact for any mixture of which the posteriors are finite in number: deterministic machines, families of them.
    Raises ValueError if there are more than 20,000.
    """

    game: Game
    observer: Observer[Any]
    horizon: int

    @cached_property
    def unrolled(self) -> Chances:
        """The machine of posteriors: O[q, b] = Σ P(m) π(b | m), δ(q, a, b) = the posterior after a and b."""
        index = {key(self.observer): 0}
        beliefs = [self.observer]
        outputs: list[list[float]] = []
        moves: list[list[list[int]]] = []
        while len(outputs) < len(beliefs):
            here = beliefs[len(outputs)]
            onward = self._onward(here, index, beliefs, len(outputs))
            outputs.append([here.predict().prob(b) for b in range(self.game.payoff().shape[1])])
            moves.append(onward)
            if len(beliefs) > MOST:
                raise ValueError(f"more than {MOST:,} posteriors are possible: no exact best response")
        return Chances(np.array(outputs), np.array(moves))

    def _onward(
        self, here: Observer[Any], index: dict[Key, int], beliefs: list[Observer[Any]], stay: int
    ) -> list[list[int]]:
        """The posterior after every pair of actions, by its number; new ones are added."""
        payoff, expected = self.game.payoff(), here.predict()
        found = [[stay] * payoff.shape[1] for _ in payoff]
        for a, b in np.ndindex(payoff.shape):
            if expected.prob(b) > 0.0:
                after = here.watch(b, mirrored(self.game, Outcome(a, b, float(payoff[a, b])))).prune(FORGOTTEN)
                found[a][b] = index.setdefault(key(after), len(beliefs))
                if found[a][b] == len(beliefs):
                    beliefs.append(after)
        return found

    @cached_property
    def response(self) -> Response:
        """The Bayes-optimal plan: V_t(belief), and what to do."""
        return best_response(self.game.payoff(), self.unrolled, self.horizon)


@dataclass(frozen=True)
class MixtureBestResponse:
    """Whoever is told the prior and plays Bayes-optimally: nobody who is told no more can expect less regret.

    V_t(β) = max_a Σ_b P(b | β) · (R(a, b) + V_{t+1}(β after a, b)) over the posteriors β that can come about.
    Raises ValueError, when it first acts, if these are more than 20,000.
    """

    beliefs: Beliefs
    state: int = 0
    t: int = 0

    @classmethod
    def of(
        cls, game: Game, machines: Iterable[Machine], weights: Iterable[float] | None = None, horizon: int = 100
    ) -> Self:
        """A player with a prior (default: uniform) over machines."""
        watched: Observer[Any] = Observer.over((machine.start for machine in machines), weights)
        return cls(Beliefs(game, watched, horizon))

    def observe(self, outcome: Outcome | None) -> Self:
        """Go on to the posterior that follows. Raises ValueError if the prior had excluded what the partner did."""
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
        """The optimal action for this posterior, ties to the lowest."""
        return point(int(self.beliefs.response.actions[min(self.t, self.beliefs.horizon - 1), self.state]))


def bayes_floor(game: Game, machines: Sequence[Machine], horizon: int = 100) -> float:
    """The least expected regret per round that anybody can have who is not told which of the machines it is."""
    beliefs = MixtureBestResponse.of(game, machines, horizon=horizon).beliefs
    told = sum(float(response_to(game, machine, horizon).values[0, 0]) for machine in machines) / len(machines)
    return (told - float(beliefs.response.values[0, 0])) / horizon
