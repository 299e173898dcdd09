"""How to serve, and where requests find what goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from otherminds.web.board import Playable
from otherminds.web.guard import Keys
from otherminds.web.lobby import Lobby


@dataclass
class ServerSettings:
    """How to serve: where everything is kept, where pages may come from, the levels, language models
    that can be facilitators, by the name of the facilitator, and the researcher's secret."""

    store: Path
    origins: frozenset[str]
    levels: Mapping[str, Playable]
    models: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    rate: float = 200.0
    burst: float = 2000.0
    keys: Keys = field(init=False)
    problem: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.secret)


def lobby_of(request: Request) -> Lobby:
    """The hall of the app."""
    found: Lobby = request.app.state.lobby
    return found


InLobby = Annotated[Lobby, Depends(lobby_of)]
