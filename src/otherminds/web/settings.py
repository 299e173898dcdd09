"""The server's settings, and the dependencies through which requests find the lobby and the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from otherminds.web.board import Playable
from otherminds.web.guard import Keys, Limits
from otherminds.web.lobby import Lobby


@dataclass
class ServerSettings:
    """How to serve.

    store: the event log's file. origins: where pages may come from. models: specifications of language models that can
    be facilitators, by the facilitator's name. secret: the researchers' key; random if empty. rate, burst: requests a
    second from one address, in the long run and at once. stop: ends the server. problem: why the server had to stop, if
    it had to.
    """

    store: Path
    origins: frozenset[str]
    levels: Mapping[str, Playable]
    models: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    rate: float = 200.0
    burst: float = 2000.0
    stop: Callable[[], None] = field(default=lambda: None, init=False)
    keys: Keys = field(init=False)
    problem: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.secret)


def lobby_of(request: Request) -> Lobby:
    """The lobby of the app."""
    found: Lobby = request.app.state.lobby
    return found


InLobby = Annotated[Lobby, Depends(lobby_of)]


def limits_of(request: Request) -> Limits:
    """The limits of the app."""
    found: Limits = request.app.state.limits
    return found


InLimits = Annotated[Limits, Depends(limits_of)]
