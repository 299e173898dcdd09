"""Tasks and episodes of repeated games: a partner, the payoffs possible with it, and the rows of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, Distribution
from otherminds.planning.best_response import best_rate, best_response
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.players.best_responders import Reader, mirrored, response_to
from otherminds.worlds.repeated_games.rules import Game, Outcome

Row = dict[str, Any]
ROUNDING = 1e-6
"""Difference of payoffs that counts as none: rounding in long sums."""


@lru_cache(maxsize=4096)
def _rate(game: Game, partner: Machine) -> float:
    return best_rate(game.payoff(), partner.chances)


@dataclass(frozen=True)
class Task:
    """A game, a partner and a number of rounds, with the payoffs that are possible, in units of payoff.

    The subject is agent 0 of the game, the partner agent 1. (Riemer et al., §2.1.)
    Raises ValueError if there is no round to play, or if the partner does not fit the game.
    """

    game: Game
    partner: Machine
    horizon: int = 100

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise ValueError(f"a task needs at least 1 round, not {self.horizon}")
        if self.partner.chances.moves.shape[1:] != self.game.payoff().shape:
            raise ValueError(f"{self.partner.name} does not play {self.game.name}")

    @cached_property
    def optimum(self) -> float:
        """The highest expected payoff of any policy, over all rounds."""
        return float(response_to(self.game, self.partner, self.horizon).values[0, 0])

    @cached_property
    def rate(self) -> float:
        """The paper's optimum: the best long-run average payoff per round, times the number of rounds."""
        return self.horizon * _rate(self.game, self.partner)

    @cached_property
    def least(self) -> float:
        """The lowest expected payoff of any policy: expected regret is at most optimum − least."""
        worst = best_response(self.game.payoff(), self.partner.chances, self.horizon, least=True)
        return float(worst.values[0, 0])

    @cached_property
    def uniform(self) -> float:
        """The expected payoff of uniformly random play, over all rounds, by backward induction."""
        payoff, (outputs, moves) = self.game.payoff(), self.partner.chances
        values = np.zeros(len(outputs))
        for _ in range(self.horizon):
            values = (outputs[:, None] * (payoff + values[moves])).sum(axis=2).mean(axis=1)
        return float(values[0])

    def losses(self, t: int, state: int) -> NDArray[np.float64]:
        """V_t(q) − Q_t(q, a) of each own action in round t (from 0) if the partner is in state q, in units of payoff.

        What the action takes from all that can still be earned, whatever the partner then happens to do.
        """
        outputs, moves = self.partner.chances
        values = response_to(self.game, self.partner, self.horizon).values[t + 1]
        worth = (outputs[state] * (self.game.payoff() + values[moves[state]])).sum(axis=1)
        losses: NDArray[np.float64] = worth.max() - worth
        return losses

    @cached_property
    def best_by_round(self) -> NDArray[np.float64]:
        """The expected payoff of the optimal policy in each round, shape (horizon,); the sum is the optimum."""
        plan = response_to(self.game, self.partner, self.horizon)
        outputs, moves = self.partner.chances
        payoff = self.game.payoff()
        state_probabilities = np.eye(len(outputs))[0]  # the partner starts in its state 0
        payoffs = []
        for actions in plan.actions:
            payoffs.append(float(state_probabilities @ (outputs * payoff[actions]).sum(axis=1)))
            next_probabilities = np.zeros(len(outputs))
            next_states = moves[np.arange(len(outputs)), actions]
            np.add.at(next_probabilities, next_states, state_probabilities[:, None] * outputs)
            state_probabilities = next_probabilities
        by_round = np.array(payoffs)
        by_round.setflags(write=False)
        return by_round


Choice = Callable[[Distribution[int]], int]


@runtime_checkable
class LanguagePlayer(Protocol):
    """A language-model player. It can be given hints. `act` yields None when its reply contains no legal move."""

    def observe(self, outcome: Outcome | None, /) -> Self:
        """The player after a round."""

    def act(self) -> Categorical[int | None]:
        """π(a): its next action, None if unreadable."""

    def predict(self) -> Categorical[int | None]:
        """P(b): its prediction of the partner's action, None if unreadable."""

    def told(self, truth: int, /) -> Self:
        """The player after it is told the partner's action of this round, if its strategy includes that."""

    def lose(self) -> Self:
        """The player after a round that it lost because no move could be read."""


def evenly(episode: int, episodes: int, rng: np.random.Generator) -> Choice:
    """A way to sample the subject's actions that spreads them evenly over the episodes of a run (systematic sampling).

    Episode i of n decodes its actions from one number in [i/n, (i + 1)/n), digit by digit. So every first action, and
    every second action after it, is taken in its share of the episodes.
    """
    number = (episode + rng.random()) / episodes

    def choose(policy: Distribution[int]) -> int:
        """The next action: the one whose share of [0, 1) holds the number, which is then rescaled to that share."""
        nonlocal number
        action: int
        if isinstance(policy, Categorical):
            action, number = policy.decode(number)
        else:
            action = policy.sample(rng)
        return action

    return choose


def play(
    task: Task,
    subject: Reader,
    *,
    rng: np.random.Generator,
    partner_rng: np.random.Generator | None = None,
    choose: Choice | None = None,
) -> Iterator[Row]:
    """One episode, a row per round. With `partner_rng` the partner's slips are the same for every subject.

    The subject's actions are sampled, or chosen by `choose`. A row has `t` from 0; `predicted`, `observed` and `action`
    as indices; `p_true`, the predicted probability of the observed action; `brier`; `reward`, and `best`, the payoff
    the optimum expects of that round, in units of payoff; and whether the action was `consistent` with the prediction.
    """
    game, partner = task.game, task.partner.start
    payoff = game.payoff()
    subject = subject.observe(None)
    for t in range(task.horizon):
        prediction = subject.predict()
        action = choose(subject.act()) if choose else subject.act().sample(rng)
        partner_action = partner.act().sample(partner_rng or rng)
        outcome = Outcome(action, partner_action, float(payoff[action, partner_action]))
        yield _row(task, t, prediction, action, partner_action, outcome.payoff)
        subject = subject.observe(outcome)
        partner = partner.observe(mirrored(game, outcome))


def converse(
    task: Task, subject: LanguagePlayer, *, rng: np.random.Generator, note: Callable[[Any], Row] = lambda _: {}
) -> Iterator[Row]:
    """One episode of a language-model player, a row per round; `note(player)` adds columns.

    A round without a legal move is lost: it earns the lowest payoff of the game, and neither side observes the other.
    Its prediction counts like any other. `rng` is the partner's.
    """
    payoff = task.game.payoff()
    partner = task.partner.start
    subject = subject.observe(None)
    for t in range(task.horizon):
        partner_action = partner.act().sample(rng)
        subject = subject.told(partner_action)
        action = subject.act().mode
        prediction = subject.predict()
        earned = float(payoff.min() if action is None else payoff[action, partner_action])
        yield {**_row(task, t, prediction, action, partner_action, earned), **note(subject)}
        if action is None:
            subject = subject.lose()
        else:
            outcome = Outcome(action, partner_action, earned)
            subject = subject.observe(outcome)
            partner = partner.observe(mirrored(task.game, outcome))


def _row(
    task: Task, t: int, prediction: Categorical[Any], action: int | None, partner_action: int, earned: float
) -> Row:
    """The row of a round: the subject's prediction of the partner's action, its own action, and what it earned."""
    return {
        "t": t,
        "predicted": prediction.mode,
        "p_predicted": prediction.prob(prediction.mode),
        "p_true": prediction.prob(partner_action),
        "brier": brier(prediction, partner_action),
        "observed": partner_action,
        "action": action,
        "reward": earned,
        "best": float(task.best_by_round[t]),
        "consistent": consistent(task.game.payoff(), prediction, action),
    }


def consistent(payoff: NDArray[np.float64], expected: Categorical[Any], action: int | None) -> bool:
    """Whether the action maximises the round's expected payoff under the agent's own prediction."""
    if action is None or expected.mode is None:
        return False
    worth = payoff @ np.array([expected.prob(b) for b in range(payoff.shape[1])])
    return bool(worth[action] >= worth.max() - ROUNDING)


def brier(expected: Categorical[Any], done: int) -> float:
    """Brier score Σ_b (P(b) − 1[b = done])², in [0, 2]."""
    return float(sum((p - (b == done)) ** 2 for b, p in expected) + (done not in expected.support))
