"""The HTTP server: uvicorn, with deadlines for requests and limits of open connections, which uvicorn lacks."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from otherminds.operating_system import most_open_files
from otherminds.web.guard import network

REQUEST = 5.0  # seconds within which a request has to arrive, headers and body; chosen
IDLE = 5  # seconds for which a connection stays open between requests; uvicorn's default
ANSWER = 300.0  # seconds within which an answer has to be ready and taken; chosen
CONNECTIONS = 1024  # open connections in all, half of them from one address; chosen
FILES = 96  # of the files that the process may have open, those kept for all but connections; chosen
ACCEPTED = 16  # connections accepted before those too many are closed: they need files until then; chosen
BACKLOG = 2048  # connections that the system holds until they are accepted; uvicorn's default
MESSAGE = 64 * 1024  # bytes of a WebSocket message: more than the answers to any questionnaire; chosen


def most_connections() -> int:
    """The number of connections that may be open, at least two: fewer if the process may open few files."""
    files = most_open_files()
    return CONNECTIONS if files is None else max(2, min(CONNECTIONS, files - FILES))


class HttpProtocol(H11Protocol):
    """An HTTP connection that is closed if a request or the taking of its answer lasts too long.

    waiting: whether no whole request has arrived yet. since: when it began to wait, by the clock of the event loop.
    """

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A new connection. If there are too many, the one that has waited longest is closed, or this one."""
        super().connection_made(transport)
        self._wait(REQUEST)
        own_network = network(self.client[0]) if self.client else ""
        everybody: list[Any] = [c for c in self.connections if not c.transport.is_closing()]
        same_network = [c for c in everybody if c.client and network(c.client[0]) == own_network]
        most = most_connections()
        crowd = same_network if len(same_network) > most // 2 else everybody if len(everybody) > most else []
        if crowd:
            waiting = [c for c in crowd if isinstance(c, HttpProtocol) and c.waiting]
            min(waiting, key=lambda c: c.since).transport.abort()

    def _wait(self, seconds: float) -> None:
        """Wait for a request: the connection is closed after so many seconds."""
        self.waiting, self.since = True, self.loop.time()
        self._limit(seconds)

    def _limit(self, seconds: float) -> None:
        """Close the connection after so many seconds, whatever the limit was before."""
        self._lift()
        self._end = self.loop.call_later(seconds, self.transport.abort)

    def _lift(self) -> None:
        if self._end:
            self._end.cancel()

    def handle_events(self) -> None:
        """Take in what has arrived; a whole request has to be answered in time."""
        super().handle_events()
        if self.waiting and self.cycle and not self.cycle.more_body and not self.cycle.response_complete:
            self.waiting = False
            self._limit(ANSWER)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait(IDLE + REQUEST)
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Pass the connection on to the protocol of WebSockets, which has limits of its own."""
        self._lift()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._lift()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """The server of an app, with the limits of this module."""

    def __init__(self, app: Any) -> None:
        """A server of the ASGI app; it accepts few connections at once, see ACCEPTED."""
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http=HttpProtocol,
                backlog=ACCEPTED,
                timeout_keep_alive=IDLE,
                log_level="warning",
                access_log=False,
                server_header=False,
                ws_max_size=MESSAGE,
                ws_ping_interval=10.0,
                ws_ping_timeout=10.0,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=3,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. asyncio accepts as many connections at once as may wait, so more may wait only from now on."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)

    def stop(self) -> None:
        """End it, as soon as what it is doing is done."""
        self.should_exit = True
