"""Specifications of agents to check, refused before anything is imported that plays or asks."""

from __future__ import annotations

from collections.abc import Sequence

from otherminds.errors import LONGEST_NAME, InputError, near
from otherminds.language.endpoint import Endpoint
from otherminds.language.weights import pinned_model, pinned_models
from otherminds.worlds.repeated_games.players.by_name import check_player
from otherminds.worlds.repeated_games.rules import Game

ALIASES = {"tabular": "rmax", "bayes": "bayes_simplicity"}
OTHERS = ("perfect", "embedded")


def check_specification(spec: str, games: Sequence[Game]) -> None:
    """Raise InputError for an unknown player or pinned model, or a wrong address. Code is not imported."""
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        Endpoint.parse(rest)
    elif kind == "embedded" and rest and not rest.endswith(".gguf"):
        pinned_model(rest)
    elif ":" not in spec and spec not in OTHERS:
        try:
            for game in games:
                check_player(ALIASES.get(spec, spec), game)
        except InputError:
            if close := near(spec[:LONGEST_NAME], [model.name for model in pinned_models()]):
                message = f"unknown player `{spec[:LONGEST_NAME]}`"
                raise InputError(message, hint=f"did you mean embedded:{close[0]}?") from None
            raise
