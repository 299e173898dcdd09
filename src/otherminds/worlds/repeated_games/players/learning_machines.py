"""Partners that learn, as finite machines: fictitious play, with and without forgetting, and a Q-learner."""

from __future__ import annotations

import numpy as np

from otherminds.worlds.repeated_games.machines import Law, Machine, build
from otherminds.worlds.repeated_games.rules import Floats, Game

TIE = 1e-8  # payoffs that differ by less are equal: rounding


def _uniform_over_best(worth: Floats) -> Law:
    """The distribution over actions that is uniform over those of the highest worth."""
    best = worth >= worth.max() - TIE
    return tuple((best / best.sum()).tolist())


def fictitious_player(game: Game, horizon: int) -> Machine:
    """Best response to the frequencies of the other's actions: its state is the round and how often action 0 was seen.

    For games in which the other has two actions. The prediction before the first round is uniform, as is the choice
    between best responses. (Brown 1951.) Raises ValueError if the other has another number of actions.
    """
    payoff = game.payoff(1)
    if payoff.shape[1] != 2:
        raise ValueError(f"{payoff.shape[1]} actions of the other are counted, not 2")

    def act(q: tuple[int, int]) -> Law:
        share = (q[1] + 1) / (q[0] + 2)
        return _uniform_over_best(payoff @ np.array([share, 1.0 - share]))

    def follow(q: tuple[int, int], _own: int, theirs: int) -> tuple[int, int]:
        return (q[0] + 1, q[1] + (theirs == 0)) if q[0] < horizon else q

    return build("fictitious play", game, (0, 0), act, follow)


def forgetful_player(game: Game, *, rate: float, levels: int = 21) -> Machine:
    """Best response to a recency-weighted frequency, P(0) ← P(0) + rate · ([the other played 0] − P(0)), on a grid.

    For games in which the other has two actions. It moves by at least one of the `levels`.
    Raises ValueError if the other has another number of actions.
    """
    payoff = game.payoff(1)
    if payoff.shape[1] != 2:
        raise ValueError(f"{payoff.shape[1]} actions of the other are counted, not 2")

    def act(level: int) -> Law:
        share = level / (levels - 1)
        return _uniform_over_best(payoff @ np.array([share, 1.0 - share]))

    def follow(level: int, _own: int, theirs: int) -> int:
        return level + _step(rate, (levels - 1) * (theirs == 0) - level)

    return build(f"forgetful fictitious play {rate:g}", game, (levels - 1) // 2, act, follow)


def q_learner(game: Game, *, rate: float, explore: float, levels: int = 15) -> Machine:
    """A Q-learner without context: Q(b) ← Q(b) + rate · (payoff − Q(b)), ε-greedy with ε = `explore`.

    Values start at a payoff of 0, or the nearest possible one, and are rounded to a grid of `levels` from the lowest to
    the highest payoff. They move by at least one level. (Watkins 1989.)
    """
    payoff = game.payoff(1)
    lowest = float(payoff.min())
    span = float(np.ptp(payoff)) or 1.0
    payoff_levels = (payoff - lowest) / span * (levels - 1)
    start_level = int(np.clip(round(-lowest / span * (levels - 1)), 0, levels - 1))

    def act(q: tuple[int, ...]) -> Law:
        greedy = _uniform_over_best(np.array(q, dtype=float))
        return tuple(explore / len(payoff) + (1.0 - explore) * p for p in greedy)

    def follow(q: tuple[int, ...], own: int, theirs: int) -> tuple[int, ...]:
        return (*q[:own], q[own] + _step(rate, float(payoff_levels[own, theirs]) - q[own]), *q[own + 1 :])

    return build(f"Q-learner {rate:g}", game, (start_level,) * len(payoff), act, follow)


def _step(rate: float, gap: float) -> int:
    """The move on a grid towards a value: `rate` of the gap, but one level if the nearest one is not reached yet."""
    return round(rate * gap) or (int(np.sign(gap)) if abs(gap) >= 0.5 else 0)
