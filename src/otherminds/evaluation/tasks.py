"""Tasks and episodes of repeated games: a partner to play with, what can be earned there, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Task:
    """A partner to play a game with for a number of rounds, and what can be earned there, in units of payoff.

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
        """The paper's optimum: the best average payoff per round in the long run, times the number of rounds."""
        return self.horizon * best_rate(self.game.payoff(), self.partner.chances)

    @cached_property
    def least(self) -> float:
        """The lowest expected payoff of any policy: nobody's expected regret exceeds optimum − least."""
        worst = best_response(self.game.payoff(), self.partner.chances, self.horizon, least=True)
        return float(worst.values[0, 0])

    @cached_property
    def uniform(self) -> float:
        """The expected payoff of choosing uniformly at random in every round."""
        options = len(self.game.payoff())
        plain = self.game.payoff().mean(axis=0, keepdims=True)
        outputs, moves = self.partner.chances
        spread = np.zeros((len(outputs), len(outputs)))
        for q, a, b in np.ndindex(moves.shape):
            spread[q, moves[q, a, b]] += outputs[q, b] / options
        weight = np.eye(len(outputs))[0]
        total = 0.0
        for _ in range(self.horizon):
            total += float(weight @ outputs @ plain[0])
            weight = weight @ spread
        return total

    @cached_property
    def best_by_round(self) -> NDArray[np.float64]:
        """What the optimal policy expects to get in each round; the sum is the optimum."""
        plan, outputs, moves = response_to(self.game, self.partner, self.horizon), *self.partner.chances
        payoff = self.game.payoff()
        weight, found = np.eye(len(outputs))[0], []
        for chosen in plan.actions:
            found.append(float(weight @ (outputs * payoff[chosen]).sum(axis=1)))
            onward = np.zeros(len(outputs))
            reached = moves[np.arange(len(outputs)), chosen]
            np.add.at(onward, reached, weight[:, None] * outputs)
            weight = onward
        by_round = np.array(found)
        by_round.setflags(write=False)
        return by_round


Choice = Callable[[Distribution[int]], int]


@runtime_checkable
class Speaker(Protocol):
    """A player in words, who can be told something, and of whom no move may be read (None is an outcome of `act`)."""

    def observe(self, outcome: Outcome | None, /) -> Self:
        """The player after a round."""
        ...

    def act(self) -> Categorical[int | None]:
        """What it does."""
        ...

    def predict(self) -> Categorical[int | None]:
        """What it expects of the partner."""
        ...

    def told(self, truth: int, /) -> Self:
        """The player who hears, if it may, what the partner does in this round."""
        ...

    def lose(self) -> Self:
        """The player after a round that was lost, as no move could be read."""
        ...


def evenly(episode: int, episodes: int, rng: np.random.Generator) -> Choice:
    """Choices that are spread evenly over the episodes of a run: systematic sampling of the subject's own chance.

    Episode i of n makes its choices from one number in [i/n, (i + 1)/n), digit by digit; so of all first choices, of
    all second ones after each of these, and so on, every one is made in its share of the episodes.
    """
    number = (episode + rng.random()) / episodes

    def choose(policy: Distribution[int]) -> int:
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
    """One episode, a row per round. With a stream of its own the partner trembles alike for every subject.

    The subject's actions are sampled, or left to `choose`. A row has `t` from 0; `predicted`, `observed` and `action`
    as indices; `p_true` = P(what was observed); `brier`; `reward`, and `best`, what the optimum expects of that round,
    in units of payoff; and whether the action was `consistent` with the prediction.
    """
    game, partner = task.game, task.partner.start
    payoff = game.payoff()
    subject = subject.observe(None)
    for t in range(task.horizon):
        expected = subject.predict()
        action = choose(subject.act()) if choose else subject.act().sample(rng)
        done = partner.act().sample(partner_rng or rng)
        outcome = Outcome(action, done, float(payoff[action, done]))
        yield _row(task, t, expected, action, done, outcome.payoff)
        subject, partner = subject.observe(outcome), partner.observe(mirrored(game, outcome))


def converse(
    task: Task, subject: Speaker, *, rng: np.random.Generator, note: Callable[[Any], Row] = lambda _: {}
) -> Iterator[Row]:
    """One episode of a player in words, a row per round; `note` adds to each what there is to say of the player.

    A round without a move is lost: it earns the least that there is in the game, and neither sees what the other would
    have done. Its prediction counts like any other. The generator is the partner's.
    """
    payoff, partner = task.game.payoff(), task.partner.start
    subject = subject.observe(None)
    for t in range(task.horizon):
        done = partner.act().sample(rng)
        subject = subject.told(done)
        action, expected = subject.act().mode, subject.predict()
        earned = float(payoff.min() if action is None else payoff[action, done])
        yield {**_row(task, t, expected, action, done, earned), **note(subject)}
        if action is None:
            subject = subject.lose()
        else:
            outcome = Outcome(action, done, earned)
            subject, partner = subject.observe(outcome), partner.observe(mirrored(task.game, outcome))


def _row(task: Task, t: int, expected: Categorical[Any], action: int | None, done: int, earned: float) -> Row:
    return {
        "t": t,
        "predicted": expected.mode,
        "p_predicted": expected.prob(expected.mode),
        "p_true": expected.prob(done),
        "brier": brier(expected, done),
        "observed": done,
        "action": action,
        "reward": earned,
        "best": float(task.best_by_round[t]),
        "consistent": consistent(task.game.payoff(), expected, action),
    }


def consistent(payoff: NDArray[np.float64], expected: Categorical[Any], action: int | None) -> bool:
    """Whether an action maximises the expected payoff of this round under the agent’s own prediction of it."""
    if action is None or expected.mode is None:
        return False
    worth = payoff @ np.array([expected.prob(b) for b in range(payoff.shape[1])])
    return bool(worth[action] >= worth.max() - ROUNDING)


def brier(expected: Categorical[Any], done: int) -> float:
    """Σ_b (P(b) − 1[b = done])², between 0 and 2."""
    return float(sum((p - (b == done)) ** 2 for b, p in expected) + (done not in expected.support))
