"""Best responders: to a prediction of the next action, to a predictor's whole model, or to the true partner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, Self

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.files.text import brief
from otherminds.mind import Mindreader
from otherminds.planning.best_response import Chances, Response, best_response
from otherminds.worlds.repeated_games.machines import Machine, Partner
from otherminds.worlds.repeated_games.rules import Game, Outcome

Reader = Mindreader[Outcome | None, int]


class Predictor(Protocol):
    """The predicting half of a mindreader."""

    def observe(self, outcome: Outcome | None, /) -> Self:
        """The predictor after a round."""

    def predict(self) -> Categorical[int]:
        """P(partner's next action | everything observed so far)."""


def mirrored(game: Game, outcome: Outcome) -> Outcome:
    """A round from the partner's side. With several partners, whose payoffs differ, the payoff is 0."""
    payoff = float(game.payoff(1)[outcome.theirs, outcome.own]) if len(game.agents) == 2 else 0.0
    return Outcome(outcome.theirs, outcome.own, payoff)


@dataclass(frozen=True)
class Informed:
    """A player that knows the partner's machine and plays the exact best response, with expected regret 0."""

    game: Game
    partner: Partner
    horizon: int
    t: int = 0

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the partner's state is followed."""
        if outcome is None:
            return self
        return replace(self, partner=self.partner.observe(mirrored(self.game, outcome)), t=self.t + 1)

    def act(self) -> Categorical[int]:
        """argmax_a Q_t(q, a), ties to the lowest."""
        plan = response_to(self.game, self.partner.machine, self.horizon)
        return point_mass(int(plan.actions[min(self.t, self.horizon - 1), self.partner.state]))

    def predict(self) -> Categorical[int]:
        """The partner's true distribution."""
        return self.partner.act()


@lru_cache(maxsize=4096)
def response_to(game: Game, machine: Machine, horizon: int) -> Response:
    """The first agent's best response to a machine; cached."""
    return best_response(game.payoff(), machine.chances, horizon)


@dataclass(frozen=True)
class Responder:
    """A player that responds to the predictions of a mindreader."""

    reader: Predictor
    game: Game

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the mindreader observes it."""
        return replace(self, reader=self.reader.observe(outcome))

    def predict(self) -> Categorical[int]:
        """The prediction of the mindreader."""
        return self.reader.predict()


@dataclass(frozen=True)
class Myopic(Responder):
    """Best response to the most probable next action b̂ of a mindreader's prediction: a = argmax R(a, b̂)."""

    def act(self) -> Categorical[int]:
        """argmax_a R(a, b̂), ties to the lowest."""
        return point_mass(int(self.game.payoff()[:, self.predict().mode].argmax()))


@dataclass(frozen=True)
class Rational(Responder):
    """Best response to a mindreader's whole model: the policy made of its predictions in every context.

    The model is the reader's prediction now, and its prediction after each possible outcome of this round, taken as
    the partner's reply to that outcome from then on. (Riemer et al., §2.1: the rational maximization of the
    action-value function of a literal theory of mind.)
    """

    __repr__ = brief

    horizon: int
    t: int = 0

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the mindreader observes it."""
        return replace(super().observe(outcome), t=self.t + (outcome is not None))

    def act(self) -> Categorical[int]:
        """The first action of the best response to the modelled partner for the remaining rounds."""
        plan = _best_response_to_model(self.game, imagined_replies(self.reader, self.game), self.horizon)
        return point_mass(int(plan.actions[min(self.t, self.horizon - 1), 0]))


ReplyModel = tuple[tuple[float, ...], ...]


def imagined_replies(reader: Predictor, game: Game) -> ReplyModel:
    """A mindreader's prediction now, then after each outcome (own action varying slowest), rounded to 12 digits.

    After an outcome that the reader holds to be impossible, its current prediction stands in.
    """
    payoff = game.payoff()
    outcomes = (Outcome(a, b, float(payoff[a, b])) for a, b in np.ndindex(payoff.shape))
    expected = [reader.predict()]
    for outcome in outcomes:
        try:
            expected.append(reader.observe(outcome).predict())
        except ValueError:
            expected.append(reader.predict())
    return tuple(tuple(round(p.prob(b), 12) for b in range(payoff.shape[1])) for p in expected)


@lru_cache(maxsize=100_000)
def _best_response_to_model(game: Game, model: ReplyModel, horizon: int) -> Response:
    """The best response to the machine whose state is the last joint action, with the first row before round 1."""
    options, their_options = game.payoff().shape
    onward = 1 + np.arange(options * their_options).reshape(options, their_options)
    moves = np.broadcast_to(onward, (len(model), options, their_options))
    return best_response(game.payoff(), Chances(np.array(model), moves), horizon)
