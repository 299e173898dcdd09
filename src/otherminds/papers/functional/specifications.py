"""Names of agents to check, read and refused before anything is imported that plays or asks."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.errors import LONGEST_NAME, InputError, near
from otherminds.evaluation.own_players import maker_of
from otherminds.language.availability import check_model
from otherminds.language.find import as_model, load
from otherminds.language.model_names import (
    WAYS,
    OwnObject,
    UnknownModelError,
    is_model,
    model_named,
    well_known,
)
from otherminds.worlds.repeated_games.partners import partner_names
from otherminds.worlds.repeated_games.players.by_name import PLAYERS, UnknownPlayerError, check_player
from otherminds.worlds.repeated_games.rules import Game

ALIASES = {"tabular": "rmax"}
PERFECT = "perfect"
SCRIPTED = "scripted:"


def check_specification(spec: str, games: Sequence[Game], *, asks: bool = True) -> str:
    """The name of an agent in full: a player's as it is, a model's as `check_model` returns it.

    A name that is a player's and a model's is the player's. Raises InputError for a name that is neither, or a player
    that does not fit a game, and for a model with all that is missing to ask it, unless it is only replayed (`asks`).
    """
    if spec == PERFECT or spec.startswith(SCRIPTED) or _plays(spec, games):
        return spec
    try:
        name = model_named(spec)
    except UnknownModelError:
        raise _unknown(spec, games[0]) from None
    if not isinstance(name, OwnObject):
        return check_model(spec, asks=asks)
    candidate = load(spec)
    if not maker_of(candidate):
        as_model(candidate, spec.replace(":", "."))
    return spec


def _plays(spec: str, games: Sequence[Game]) -> bool:
    """Whether a name is a player's. Raises InputError if that player does not fit a game."""
    try:
        for game in games:
            check_player(ALIASES.get(spec, spec), game)
    except UnknownPlayerError:
        return False
    except InputError:
        if is_model(spec):  # in a game for which no partner has a name
            return False
        raise
    return True


def _unknown(spec: str, game: Game) -> InputError:
    """The error for a name that is neither a player's nor a model's, with the names that are closest."""
    players = {name: name for name in (*PLAYERS, *ALIASES, PERFECT, *partner_names(game.seen_by(1)))}
    names = well_known() | players
    close = [names[name] for name in near(spec[:LONGEST_NAME], names)]
    listed = f"`otherminds players` lists players; a model is {WAYS}"
    hint = f"did you mean {' or '.join(close)}?" if close else listed
    return InputError(f"unknown player `{spec[:LONGEST_NAME]}`, and no language model", hint=hint)
