"""WebSocket connections to participants' pages, and the messages that pages may send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from otherminds.web import stages
from otherminds.web.event_log import Written
from otherminds.web.games import RefusedError
from otherminds.web.guard import TokenBucket
from otherminds.web.lobby import Lobby
from otherminds.web.progression import advance, arrive, depart, leave, note
from otherminds.web.studies import ASPECTS, Participant

WAITING = 1024  # messages in the send queue of a connection; chosen
RATE, BURST = 40.0, 120.0  # messages a second that a page may send, in the long run and at once; chosen
ELSEWHERE, FLOOD, BEHIND = 4409, 4429, 1013  # close codes: page open elsewhere, too many messages, too slow a client
AHEAD = 10_000  # numbers that a message may skip: of those that were refused; chosen
COMMENT = 2000  # characters of a comment; chosen

# What participants can do (`do` of a message), and the stages at which they can.
STAGES: Mapping[str, tuple[str, ...]] = {
    "consent": ("consent",),
    "decline": ("consent",),
    "instructed": ("instructions",),
    "tutorial": ("tutorial",),
    "ready": ("ready",),
    "act": ("game",),
    "heard": ("game",),
    "next": ("reveal",),
    "rate": ("questions",),
    "answer": ("form",),
    "give up": ("game",),
    "leave": ("instructions", "tutorial", "lobby", "ready", "game", "reveal", "questions", "form"),
}


class WebSocketConnection:
    """One WebSocket connection with a bounded send queue.

    A client that falls behind is disconnected and may reconnect. `looks` numbers the drawings it has been sent.
    """

    def __init__(self, socket: WebSocket, tab: str) -> None:
        self.socket, self.tab = socket, tab
        self.looks: dict[str, int] = {}
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._bucket = TokenBucket(RATE, BURST)
        self.code = 0

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message; close the connection if the queue is full."""
        if self._queue.qsize() >= WAITING:
            self.end(BEHIND)
        else:
            self._queue.put_nowait(json.dumps(message, separators=(",", ":"), ensure_ascii=False))

    def end(self, code: int) -> None:
        """Close the connection with this code once the queue is sent; the first code counts."""
        self.code = self.code or code
        self._queue.put_nowait(None)

    async def pump(self) -> None:
        """Send queued messages until the connection is closed."""
        while (text := await self._queue.get()) is not None:
            await self.socket.send_text(text)
        await self.socket.close(self.code)

    async def listen(self, lobby: Lobby, participant: Participant) -> None:
        """Carry out incoming messages until the connection is closed, or exceeds its rate.

        Each is acknowledged once it is on disk, or refused.
        """
        while not self.code:
            text = await self._received()
            if text is None:
                return
            if self.code:  # closed meanwhile: its link may have become invalid
                return
            if not self._bucket.take():
                self.end(FLOOD)
                return
            message = read(text)
            n = message.get("n")
            try:
                pending_write = take_message(lobby, participant, message)
            except RefusedError as refusal:
                self.send({"type": "refused", "n": n if isinstance(n, int) else 0, "why": str(refusal)})
                continue
            if pending_write is None:
                self.send({"type": "ack", "n": n})
            else:
                pending_write.add_done_callback(partial(self._acknowledge, asyncio.get_running_loop(), n))

    async def _received(self) -> str | None:
        """The text of the next message, empty if it has none, as a binary one; None once the connection is closed."""
        message = await self.socket.receive()
        return None if message["type"] == "websocket.disconnect" else message.get("text") or ""

    def _acknowledge(self, loop: asyncio.AbstractEventLoop, n: object, pending_write: Written) -> None:
        """Acknowledge a message that is on disk; called in the thread that writes."""
        if pending_write.exception() is None:
            loop.call_soon_threadsafe(self.send, {"type": "ack", "n": n})


def read(text: str) -> dict[str, Any]:
    """The JSON object of a message; empty if the text is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


async def serve_page(socket: WebSocket, lobby: Lobby, participant: Participant, tab: str, take: bool) -> None:
    """Serve a participant's page while it is open. A second tab is refused unless it takes over (`take`)."""
    await socket.accept()
    previous = lobby.connections.get(participant.id)
    if isinstance(previous, WebSocketConnection):
        if previous.tab != tab and not take and not previous.code:
            await socket.close(ELSEWHERE)
            return
        previous.end(ELSEWHERE)
    connection = WebSocketConnection(socket, tab)
    arrive(lobby, participant, connection)
    pump = asyncio.create_task(connection.pump())
    listen = asyncio.create_task(connection.listen(lobby, participant))
    try:
        await asyncio.wait([pump, listen], return_when=asyncio.FIRST_COMPLETED)
        if connection.code:
            await asyncio.wait([pump], timeout=5.0)
    finally:
        depart(lobby, participant, connection)
        for task in (pump, listen):
            task.cancel()
        for outcome in await asyncio.gather(pump, listen, return_exceptions=True):
            if isinstance(outcome, Exception) and not isinstance(outcome, WebSocketDisconnect | RuntimeError):
                raise outcome


def take_message(lobby: Lobby, participant: Participant, message: Mapping[str, Any]) -> Written | None:
    """Carry out a participant's message; returns the pending write, or None for a repeated message.

    Raises RefusedError if the message is malformed, or not allowed at the participant's stage.
    """
    n, do = message.get("n"), message.get("do")
    if not isinstance(n, int) or isinstance(n, bool) or not 0 < n < 2**53:
        raise RefusedError("a message needs a number, n")
    last = lobby.last.get(participant.id, 0)
    if n <= last:
        return None
    if n > last + AHEAD:
        raise RefusedError("the numbers of messages go on from the last one")
    if not isinstance(do, str) or do not in STAGES:
        raise RefusedError("there is no such action")
    if lobby.stage(participant) not in STAGES[do]:
        raise RefusedError("that is not possible at this stage")
    pending_write = _carry_out(lobby, participant, do, message, n)
    lobby.last[participant.id] = n
    if do not in ("act", "heard", "give up"):
        advance(lobby, participant)
        lobby.show(participant)
    return pending_write


def _carry_out(lobby: Lobby, participant: Participant, do: str, message: Mapping[str, Any], n: int) -> Written:
    """Do what a message asks for. Raises RefusedError if the message is malformed."""
    study = participant.study
    match do:
        case "act" | "heard" | "give up":
            room = lobby.rooms[lobby.place(participant)]
            agent = stages.seat(room.game, participant)
            if do == "act":
                return room.act(agent, message.get("action"), message.get("t"), n)
            if do == "give up":
                return room.give_up(agent, n)
            return room.heard(agent, message.get("advice"), message.get("reply"), message.get("ms"), n)
        case "tutorial":
            world = stages.world_of(study.levels[study.plan.levels[0]])
            wrong = stages.wrong_answers(world, message.get("answers"))
            if wrong is None:
                raise RefusedError("every question needs an answer")
            return note(lobby, participant, "taught", n, answers=message["answers"], wrong=wrong)
        case "rate":
            return note(lobby, participant, "rated", n, trial=participant.trial, **_ratings(message))
        case "answer":
            return note(lobby, participant, "answered", n, **_answers(lobby, participant, message))
        case "leave":
            return leave(lobby, participant, n)
        case "next":
            return note(lobby, participant, "seen" if participant.practised else "practised", n)
        case _:
            return note(lobby, participant, {"consent": "consented", "decline": "declined"}.get(do, do), n)


def _answers(lobby: Lobby, participant: Participant, message: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of a message to the questionnaire that is asked. Raises RefusedError if they are malformed."""
    form, trial = stages.asked_form(participant, lobby.game(lobby.place(participant)))
    if form is None or message.get("form") != form.name:
        raise RefusedError("that is not asked now")
    try:
        return {"form": form.name, "trial": trial, "answers": form.checked(message.get("answers"))}
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _ratings(message: Mapping[str, Any]) -> dict[str, Any]:
    """The ratings and the comment of a message. Raises RefusedError if they are malformed."""
    ratings, comment = message.get("ratings"), message.get("comment", "")
    if not isinstance(ratings, dict) or set(ratings) != set(ASPECTS):
        raise RefusedError("every question needs an answer")
    if not all(type(x) is int and 1 <= x <= 7 for x in ratings.values()):
        raise RefusedError("answers go from 1 to 7")
    if not isinstance(comment, str) or len(comment) > COMMENT:
        raise RefusedError(f"a comment has at most {COMMENT} characters")
    if any("\ud800" <= c <= "\udfff" for c in comment):
        raise RefusedError("a comment must be valid Unicode")
    return {"ratings": ratings, "comment": comment}
