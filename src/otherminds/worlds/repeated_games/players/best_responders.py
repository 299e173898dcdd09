"""Players that act rationally on what they expect: on the next action alone, on a model, or on the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.mind import Mindreader
from otherminds.planning.best_response import Chances, Response, best_response
from otherminds.worlds.repeated_games.machines import Machine, Partner, point
from otherminds.worlds.repeated_games.rules import Game, Outcome

Reader = Mindreader[Outcome | None, int]


class Predictor(Protocol):
    """A mind's expectations of its partner, without its actions."""

    def observe(self, outcome: Outcome | None, /) -> Self:
        """The predictor after it has seen a round."""
        ...

    def predict(self) -> Categorical[int]:
        """P(the partner's next action | everything observed so far)."""
        ...


def mirrored(game: Game, outcome: Outcome) -> Outcome:
    """The round as the other agent saw it; with several others, their payoff is left out."""
    payoff = float(game.payoff(1)[outcome.theirs, outcome.own]) if len(game.agents) == 2 else 0.0
    return Outcome(outcome.theirs, outcome.own, payoff)


@dataclass(frozen=True)
class Informed:
    """Who knows the partner's machine and plays the exact best response: regret 0 in expectation."""

    game: Game
    partner: Partner
    horizon: int
    t: int = 0

    def observe(self, outcome: Outcome | None) -> Self:
        """Follow the partner's state."""
        if outcome is None:
            return self
        return replace(self, partner=self.partner.observe(mirrored(self.game, outcome)), t=self.t + 1)

    def act(self) -> Categorical[int]:
        """argmax_a Q_t(q, a), ties to the lowest."""
        plan = response_to(self.game, self.partner.machine, self.horizon)
        return point(int(plan.actions[min(self.t, self.horizon - 1), self.partner.state]))

    def predict(self) -> Categorical[int]:
        """The partner's own distribution."""
        return self.partner.act()


@lru_cache(maxsize=4096)
def response_to(game: Game, machine: Machine, horizon: int) -> Response:
    """The best response of the first agent to a machine."""
    return best_response(game.payoff(), machine.chances, horizon)


@dataclass(frozen=True)
class Myopic:
    """Acts on a mindreader's prediction of the next action alone: a = argmax R(a, b̂), b̂ being its mode."""

    reader: Predictor
    game: Game

    def observe(self, outcome: Outcome | None) -> Self:
        """Let the mindreader see it."""
        return replace(self, reader=self.reader.observe(outcome))

    def predict(self) -> Categorical[int]:
        """The mindreader's prediction."""
        return self.reader.predict()

    def act(self) -> Categorical[int]:
        """The best action if the partner does what is expected, ties to the lowest."""
        return point(int(self.game.payoff()[:, self.predict().mode].argmax()))


@dataclass(frozen=True)
class Rational:
    """Acts on a mindreader's whole model: the best response to what it would predict in every context.

    The model is what the reader expects now, and what it would expect after each possible outcome of this round,
    taken as the partner's reply to that outcome from then on. (Riemer et al., §2.1: the rational maximization of the
    action-value function of a literal theory of mind.)
    """

    reader: Predictor
    game: Game
    horizon: int
    t: int = 0

    def observe(self, outcome: Outcome | None) -> Self:
        """Let the mindreader see it."""
        return replace(self, reader=self.reader.observe(outcome), t=self.t + (outcome is not None))

    def predict(self) -> Categorical[int]:
        """The mindreader's prediction."""
        return self.reader.predict()

    def act(self) -> Categorical[int]:
        """The first action of the best response to the imagined partner, for the rounds that are left."""
        plan = _planned(self.game, imagined(self.reader, self.game), self.horizon)
        return point(int(plan.actions[min(self.t, self.horizon - 1), 0]))


Imagined = tuple[tuple[float, ...], ...]


def imagined(reader: Predictor, game: Game) -> Imagined:
    """What a mindreader expects now, then what it would expect after every outcome (own action varying slowest)."""
    payoff = game.payoff()
    outcomes = (Outcome(a, b, float(payoff[a, b])) for a, b in np.ndindex(payoff.shape))
    expected = [reader.predict(), *(_after(reader, outcome) for outcome in outcomes)]
    return tuple(tuple(round(p.prob(b), 12) for b in range(payoff.shape[1])) for p in expected)


def _after(reader: Predictor, outcome: Outcome) -> Categorical[int]:
    """What would be expected after an outcome; what is expected now, if the reader holds it to be impossible."""
    try:
        return reader.observe(outcome).predict()
    except ValueError:
        return reader.predict()


@lru_cache(maxsize=100_000)
def _planned(game: Game, model: Imagined, horizon: int) -> Response:
    options, others = game.payoff().shape
    onward = 1 + np.arange(options * others).reshape(options, others)
    moves = np.broadcast_to(onward, (len(model), options, others))
    return best_response(game.payoff(), Chances(np.array(model), moves), horizon)
