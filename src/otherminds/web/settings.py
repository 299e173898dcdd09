"""The server's settings, and the dependencies through which requests find the lobby and the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request

from otherminds.web.board import Playable
from otherminds.web.guard import Keys, Limits
from otherminds.web.lobby import Lobby


@dataclass
class ServerSettings:
    """How to serve.

    store: the event log's file. origins: where pages may come from. models: specifications of language models that can
    be facilitators, by the facilitator's name. look: whether to show only what another server keeps in the store.
    secret: the researchers' key; random if empty. rate, burst: requests a second from one address, in the long run and
    at once. joins: participants that may join a study from one address at once. stop: ends the server. problem: why the
    server had to stop, if it had to.
    """

    store: Path
    origins: frozenset[str]
    levels: Mapping[str, Playable]
    models: Mapping[str, str] = field(default_factory=dict)
    look: bool = False
    secret: str = ""
    rate: float = 200.0
    burst: float = 2000.0
    joins: int = 20
    stop: Callable[[], None] = field(default=lambda: None, init=False)
    keys: Keys = field(init=False)
    problem: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.secret)

    def give_up(self, why: str) -> None:
        """Stop the server: events can no longer be stored."""
        self.problem = why
        self.stop()


def of_app(name: str) -> Any:
    """The dependency of a request on what the app keeps under this name."""

    def find(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(find)


InLobby = Annotated[Lobby, of_app("lobby")]
InLimits = Annotated[Limits, of_app("limits")]
