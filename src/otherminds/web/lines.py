"""Connections to the pages of participants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from otherminds.web import actions as deeds
from otherminds.web.games import RefusedError
from otherminds.web.guard import Bucket
from otherminds.web.lobby import Lobby
from otherminds.web.studies import Participant

WAITING = 1024
RATE, BURST = 40.0, 120.0
ELSEWHERE, FLOOD, BEHIND = 4409, 4429, 1013


class Line:
    """One connection: what is to be sent is queued, and whoever does not keep up is let go, to come again."""

    def __init__(self, socket: WebSocket, tab: str) -> None:
        self.socket, self.tab = socket, tab
        self.looks: dict[str, int] = {}
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._bucket = Bucket(RATE, BURST)
        self.code = 0

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, soon."""
        if self._queue.qsize() >= WAITING:
            self.end(BEHIND)
        else:
            self._queue.put_nowait(json.dumps(message, separators=(",", ":"), ensure_ascii=False))

    def end(self, code: int) -> None:
        """Close the connection, for this reason."""
        self.code = self.code or code
        self._queue.put_nowait(None)

    async def pump(self) -> None:
        """Send what is queued until the end."""
        while (text := await self._queue.get()) is not None:
            await self.socket.send_text(text)
        await self.socket.close(self.code)

    async def listen(self, hall: Lobby, one: Participant) -> None:
        """Take what comes until the connection is closed, or there is too much of it."""
        while not self.code:
            text = await self.socket.receive_text()
            if not self._bucket.take():
                self.end(FLOOD)
                return
            self._take(hall, one, text)

    def _take(self, hall: Lobby, one: Participant, text: str) -> None:
        message = read(text)
        n = message.get("n")
        try:
            written = deeds.take(hall, one, message)
        except RefusedError as refusal:
            self.send({"type": "refused", "n": n if isinstance(n, int) else 0, "why": str(refusal)})
            return
        if written is None:
            self.send({"type": "ack", "n": n})
            return
        loop = asyncio.get_running_loop()
        written.add_done_callback(lambda done: loop.call_soon_threadsafe(self._acknowledge, n, done.exception()))

    def _acknowledge(self, n: object, problem: BaseException | None) -> None:
        if problem is None:
            self.send({"type": "ack", "n": n})


def read(text: str) -> dict[str, Any]:
    """A message; an empty one for what is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


async def serve(socket: WebSocket, hall: Lobby, one: Participant, tab: str, take: bool) -> None:
    """Serve a participant's page as long as it is open. A second page is let in only if it takes over."""
    await socket.accept()
    other = hall.lines.get(one.id)
    if isinstance(other, Line):
        if other.tab != tab and not take:
            await socket.close(ELSEWHERE)
            return
        other.end(ELSEWHERE)
    line = Line(socket, tab)
    hall.arrive(one, line)
    pump = asyncio.create_task(line.pump())
    listen = asyncio.create_task(line.listen(hall, one))
    try:
        await asyncio.wait([pump, listen], return_when=asyncio.FIRST_COMPLETED)
        if line.code:
            await asyncio.wait([pump], timeout=5.0)
    finally:
        hall.depart(one, line)
        for task in (pump, listen):
            task.cancel()
        for found in await asyncio.gather(pump, listen, return_exceptions=True):
            if isinstance(found, Exception) and not isinstance(found, WebSocketDisconnect | RuntimeError):
                raise found
