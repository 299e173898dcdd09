"""Players by name, for the first place in a game of two: learning, inferring and scripted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np

from otherminds.errors import InputError, meant
from otherminds.operating_system import user_cache
from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.partners import UnknownPartnerError, partner, partner_names
from otherminds.worlds.repeated_games.players.bayes_adaptive import AdaptivePlan, BayesAdaptive
from otherminds.worlds.repeated_games.players.best_responders import Myopic, Rational, Reader
from otherminds.worlds.repeated_games.players.k_tom import LEVELS, KToM
from otherminds.worlds.repeated_games.players.learners import Counts, FictitiousPlay, SplitPlayer, tabular
from otherminds.worlds.repeated_games.players.open_bayes import OpenBayes, default_hypotheses, library_hypotheses
from otherminds.worlds.repeated_games.players.posterior_sampling import PosteriorSampling
from otherminds.worlds.repeated_games.rules import Game

MOST_KNOWLEDGE = 300_000  # most states of knowledge to plan over exactly; bounds time and memory

Maker = Callable[[Game, int, np.random.Generator], Reader]


class UnknownPlayerError(InputError):
    """No player has this name."""


def player(name: str, game: Game, *, horizon: int, rng: np.random.Generator) -> Reader:
    """The player with this name. A partner's name gives a scripted player that predicts by counting.

    Raises UnknownPlayerError for an unknown name, and InputError for a player that does not fit the game.
    """
    if name in PLAYERS:
        return PLAYERS[name](game, horizon, rng)
    return SplitPlayer(_scripted_machine(name, game).start, Counts.of(game))


def check_player(name: str, game: Game) -> None:
    """Raise UnknownPlayerError unless a player or a partner has the name, InputError if it cannot play this game."""
    if name not in PLAYERS:
        _scripted_machine(name, game)


def _scripted_machine(name: str, game: Game) -> Machine:
    """The partner of this name as a machine for the first place. Raises InputError for an unknown name."""
    try:
        return partner(name, game.seen_by(1))
    except UnknownPartnerError:
        names = [*PLAYERS, *partner_names(game.seen_by(1))]
        hint = meant(name, names, "all partners play, too")
        raise UnknownPlayerError(f"unknown player `{name[:60]}`", hint=hint) from None


@lru_cache(maxsize=64)
def plan_for(game: Game, horizon: int) -> AdaptivePlan:
    """The Bayes-adaptive plan under the simplicity prior, shared by all players of a process.

    Raises InputError if the game is too large for an exact solution.
    """
    options, replies = game.payoff().shape
    if (1 + replies) ** (options * replies) > MOST_KNOWLEDGE:
        hint = "posterior_sampling plays games of any size"
        raise InputError(f"{game.name} is too large to be solved exactly", hint=hint)
    return AdaptivePlan(game, horizon=horizon, cache=user_cache())


def _k_tom(level: int, game: Game, _horizon: int, _rng: np.random.Generator) -> Reader:
    try:
        return KToM.of(game, level)
    except ValueError as error:
        raise InputError(f"k_tom_{level} cannot play {game.name}", hint=str(error)) from None


PLAYERS: Mapping[str, Maker] = {
    "rmax": lambda game, _horizon, _rng: tabular(game),
    "rmax_exact_ties": lambda game, _horizon, _rng: tabular(game, exact_ties=True),
    "counts_myopic": lambda game, _horizon, _rng: Myopic(Counts.of(game), game),
    "counts_model": lambda game, horizon, _rng: Rational(Counts.of(game), game, horizon),
    "fictitious_play": lambda game, _horizon, _rng: FictitiousPlay.of(game),
    **{f"k_tom_{level}": partial(_k_tom, level) for level in LEVELS},
    "bayes_simplicity": lambda game, horizon, _rng: BayesAdaptive.of(plan_for(game, horizon)),
    "bayes": lambda game, horizon, _rng: OpenBayes.of(default_hypotheses(game, horizon)),
    "bayes_library": lambda game, horizon, _rng: OpenBayes.of(library_hypotheses(game, horizon)),
    "posterior_sampling": lambda game, horizon, rng: PosteriorSampling.of(game, rng, horizon=horizon),
}
"""Each player is described in its own module. `bayes` is the default player, whose prior depends on the game's order of
payoffs; `bayes_library` always expects a bundled machine that does not change."""
