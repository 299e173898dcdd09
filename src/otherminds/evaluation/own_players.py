"""Players from the user's own code, named `module:object`, beside those that come with the library."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from otherminds.errors import InputError
from otherminds.language.find import blamed, load
from otherminds.worlds.repeated_games.players.best_responders import Reader
from otherminds.worlds.repeated_games.players.by_name import player
from otherminds.worlds.repeated_games.rules import Game

Maker = Callable[[Game, int, np.random.Generator], Reader]


def is_own(name: str) -> bool:
    """Whether the name is `module:object`."""
    return ":" in name


def player_named(name: str, game: Game, *, horizon: int, rng: np.random.Generator) -> Reader:
    """The player with this name, or that `module:object` names. Raises InputError if there is none for this game."""
    if not is_own(name):
        return player(name, game, horizon=horizon, rng=rng)
    make = maker_of(load(name))
    if make is None:
        hint = "name a mindreader, or a function of game, rounds and generator that returns one"
        raise InputError(f"{name} is no player", hint=hint)
    with blamed(name):
        return make(game, horizon, rng)


def maker_of(candidate: Any) -> Maker | None:
    """A function of game, rounds and generator that returns a mindreader, or one for a mindreader; None for others."""
    if all(hasattr(candidate, part) for part in ("observe", "act", "predict")) and not inspect.isclass(candidate):
        return lambda _game, _horizon, _rng: candidate
    if callable(candidate) and not hasattr(candidate, "complete") and _arguments(candidate) == 3:
        maker: Maker = candidate
        return maker
    return None


def _arguments(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.default is parameter.empty and parameter.kind in positional for parameter in parameters)


def blamed_if_own(*names: str) -> AbstractContextManager[None]:
    """A context in which any exception is an InputError about the user's code, if one of the names is of such."""
    own = [name for name in names if is_own(name)]
    return blamed(own[0]) if own else nullcontext()
