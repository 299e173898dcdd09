"""Minds with free parameters by name, to be fitted to what people did: one by one, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from otherminds.errors import InputError, meant
from otherminds.mind import Parameter, ParametricMind
from otherminds.worlds.repeated_games.partners import UnknownPartnerError, partner, partner_names
from otherminds.worlds.repeated_games.players.bayes_adaptive import BayesAdaptive
from otherminds.worlds.repeated_games.players.by_name import plan_for
from otherminds.worlds.repeated_games.players.habits import (
    Chance,
    CountLearner,
    PlayerMind,
    QLearner,
    RuleLookahead,
    Trembling,
    WinStayLoseShift,
    scaled,
)
from otherminds.worlds.repeated_games.players.in_vectors import (
    Crowd,
    Floats,
    ManyChance,
    ManyCountLearners,
    ManyKToMs,
    ManyQLearners,
    ManyRuleLookaheads,
    ManyWinStay,
    Values,
)
from otherminds.worlds.repeated_games.players.k_tom import LEVELS, KToM
from otherminds.worlds.repeated_games.players.learners import RMax
from otherminds.worlds.repeated_games.rules import Game

TREMBLE = Parameter("tremble", 0.0, 1.0, (0.05, 0.5))
RATE = Parameter("rate", 0.0, 1.0, (0.1, 0.7))
MEMORY = Parameter("memory", 0.0, 1.0, (0.6, 0.98))
BETA = Parameter("beta", 0.0, 20.0, (3.0, 12.0))
HORIZON = 10  # rounds for which the Bayes-adaptive player plans; the number of rounds is not known to people

Payoffs = tuple[Floats, Floats]
"""Payoffs of the own and the other agent in each of S matches, each with the agent's own actions on axis 1."""


def payoffs_of(games: Sequence[Game]) -> Payoffs:
    """The payoffs of the first agent and of the second in each match."""
    own, theirs = (np.array([game.payoff(agent) for game in games]) for agent in range(2))
    return own, theirs


def _of_two(game: Any) -> bool:
    return isinstance(game, Game) and len(game.agents) == 2


def trembling(
    name: str, about: str, inner: Callable[[Game], Any], fits: Callable[[Any], bool] = _of_two
) -> ParametricMind:
    """A mind without parameters, whose hand trembles."""

    def mind(game: Game, tremble: float) -> PlayerMind:
        return Trembling(inner(game), game, tremble)

    return ParametricMind(name, about, (TREMBLE,), mind, inner=inner, fits=fits)


def _square(game: Any) -> bool:
    return _of_two(game) and len(set(game.shape)) == 1


def _two_by_two(game: Any) -> bool:
    return isinstance(game, Game) and game.shape == (2, 2)


def _count_learner(pattern: str, about: str) -> ParametricMind:
    """A `CountLearner` of this pattern, with its memory and inverse temperature as free parameters."""
    return ParametricMind(
        pattern,
        about,
        (MEMORY, BETA),
        lambda game, **values: CountLearner(game, pattern, **values),
        lambda payoffs, values: ManyCountLearners(scaled(payoffs[0]), values, pattern),
        fits=_square,
    )


def _k_tom(level: int) -> ParametricMind:
    """A k-ToM of this level, whose log volatility, log temperature and bias are free parameters."""
    parameters = (
        Parameter("volatility", -6.0, 2.0, (-4.0, 0.0)),
        Parameter("temperature", -3.0, 5.0, (-1.0, 2.0)),
        Parameter("bias", -5.0, 5.0, (-1.0, 1.0)),
    )
    return ParametricMind(
        f"k_tom_{level}",
        f"recursive player of level {level} (Devaine et al. 2014)",
        parameters,
        lambda game, **values: KToM.of(game, level, **values),
        partial(ManyKToMs.of, level=level),
        fits=_two_by_two,
    )


def _many_fictitious_players(payoffs: Payoffs, values: Values) -> Crowd:
    """A crowd of fictitious players: `weighted_counts` with a memory of 1."""
    return ManyCountLearners(scaled(payoffs[0]), {**values, "memory": np.ones((1, 1))}, "weighted_counts")


MINDS: dict[str, ParametricMind] = {
    mind.name: mind
    for mind in (
        ParametricMind(
            "chance",
            "uniform play",
            (),
            Chance,
            lambda payoffs, values: ManyChance(scaled(payoffs[0]), values),
            fits=_of_two,
        ),
        ParametricMind(
            "wsls",
            "win-stay-lose-shift with a probability for each",
            (Parameter("win_stay", 0.0, 1.0, (0.1, 0.9)), Parameter("lose_shift", 0.0, 1.0, (0.1, 0.9))),
            WinStayLoseShift,
            lambda payoffs, values: ManyWinStay(scaled(payoffs[0]), values),
            fits=_of_two,
        ),
        ParametricMind(
            "q_learning",
            "values of actions from payoffs",
            (RATE, BETA),
            QLearner,
            lambda payoffs, values: ManyQLearners(scaled(payoffs[0]), values),
            fits=_of_two,
        ),
        ParametricMind(
            "q_perseveration",
            "values of actions that decay, and perseveration",
            (
                RATE,
                Parameter("decay", 0.0, 1.0, (0.1, 0.7)),
                BETA,
                Parameter("perseveration", -5.0, 5.0, (-2.0, 2.0)),
            ),
            QLearner,
            lambda payoffs, values: ManyQLearners(scaled(payoffs[0]), values),
            fits=_of_two,
        ),
        ParametricMind(
            "fictitious_play",
            "soft response to the frequencies of the other's moves",
            (BETA,),
            lambda game, beta: CountLearner(game, "weighted_counts", 1.0, beta),
            _many_fictitious_players,
            fits=_square,
        ),
        *(
            _count_learner(pattern, about)
            for pattern, about in {
                "weighted_counts": "soft response to recent frequencies of the other's moves",
                "joint_counts": "the same after each joint action",
                "own_transitions": "counts how the other shifts from its own last move",
                "reply_transitions": "counts how the other shifts from the person's last move",
                "outcome_transitions": "counts how the other shifts from its own last move, by outcome",
                "dual_transitions": "the same by outcome and the other's last shift",
            }.items()
        ),
        ParametricMind(
            "rule_lookahead",
            "Bayesian inference over rules of the other, and look-ahead",
            (Parameter("switch", 0.0, 0.5, (0.01, 0.3)), BETA),
            RuleLookahead,
            lambda payoffs, values: ManyRuleLookaheads.of(scaled(payoffs[0]), values),
            fits=_square,
        ),
        *map(_k_tom, LEVELS),
        trembling("rmax", "tabular RMax with a tremble", RMax.of),
        trembling(
            "bayes_simplicity",
            "the Bayes-adaptive player with a tremble",
            lambda game: BayesAdaptive.of(plan_for(game, HORIZON)),
            _two_by_two,
        ),
    )
}


def parametric(name: str, game: Game) -> ParametricMind:
    """The mind with this name; the name of a partner, as `tft`, is that machine with a tremble.

    Raises InputError for an unknown name, or if the mind does not fit the game.
    """
    if name in MINDS:
        if not MINDS[name].fits(game):
            raise InputError(f"{name} cannot play {game.name}")
        return MINDS[name]
    try:
        partner(name, game.seen_by(1))
    except UnknownPartnerError:
        names = [*MINDS, *partner_names(game.seen_by(1))]
        raise InputError(f"unknown mind `{name[:60]}`", hint=meant(name, names, "or module:Class")) from None
    return trembling(name, "machine with a tremble", lambda g: partner(name, g.seen_by(1)).start, _square)
