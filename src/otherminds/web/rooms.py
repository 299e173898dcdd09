"""A room: where a game is played. It keeps the clock, asks those who think, and lets everybody know.

Whatever it lets happen is written first into the journal, and the game follows from that.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from otherminds.web.event_log import EventLog, Written, on_disk
from otherminds.web.games import GameClock, LiveGame, RefusedError
from otherminds.web.thinking import FacilitatorThought, ThinkingProcesses

LOG = logging.getLogger(__name__)
STAY = "stay"
GIVEN_UP = 5.0
"""Seconds that a step waits for simulated people before they are taken to stay."""

Tell = Callable[[str, "GameRoom"], None]


class GameRoom:
    """A game that is being played: its clock, and those who think in it.

    tell: called with `step`, `thought`, `chosen`, `pause`, `go`, `replaced` or `ended` once that is on disk.
    dropout: whether who does not come back in `grace` seconds is replaced by a simulated person, or the game ends.
    """

    def __init__(
        self,
        name: str,
        game: LiveGame,
        event_log: EventLog,
        processes: ThinkingProcesses,
        tell: Tell,
        *,
        grace: float = 60.0,
        dropout: str = "simulated",
    ) -> None:
        self.name, self.game = name, game
        self.grace, self.dropout = grace, dropout
        self._event_log, self._processes, self._tell = event_log, processes, tell
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thinking = False
        self._due = 0.0
        self.deadline = time.monotonic() + grace

    def log(self, kind: str, body: Mapping[str, Any], who: str | None = None, n: int | None = None) -> Written:
        """Let something happen."""
        event, written = self._event_log.append(self.name, kind, body, who, n)
        self.game.apply(event)
        return written

    def start(self) -> None:
        """Begin, or go on where the game was left."""
        self._spawn(self._run())

    async def stop(self) -> None:
        """Stop the clock; nothing more happens."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            LOG.error("%s has failed", self.name, exc_info=problem)

    # What people do

    def act(self, agent: str, action: object, t: object, n: int) -> Written:
        """Somebody has chosen what to do next. Raises RefusedError."""
        word = self.game.check(agent, action, t)
        written = self.log("act", {"agent": agent, "action": word, "t": self.game.t}, self.game.people[agent], n)
        self._changed.set()
        self._tell("chosen", self)
        return written

    def heard(self, agent: str, advice: object, reply: object, ms: object, n: int) -> Written:
        """Somebody has answered a message. Raises RefusedError."""
        if not isinstance(advice, int) or not 0 <= advice < len(self.game.said) or self.game.said[advice].to != agent:
            raise RefusedError("nobody has told you that")
        if reply not in ("got it", "ignore"):
            raise RefusedError("the answer is `got it` or `ignore`")
        took = float(ms) if isinstance(ms, int | float) and 0 <= ms < 1e7 else None
        return self.log("heard", {"advice": advice, "reply": reply, "ms": took}, self.game.people[agent], n)

    def presence(self, agent: str, here: bool) -> None:
        """Somebody has come or gone."""
        if self.game.ended or agent not in self.game.people or here == (agent not in self.game.away):
            return
        self.log("back" if here else "away", {"agent": agent})
        if not here and len(self.game.away) == 1:
            self.deadline = time.monotonic() + self.grace
        self._changed.set()
        self._tell("go" if not self.game.away else "pause", self)

    def leave(self, agent: str) -> None:
        """Somebody has left for good."""
        if agent in self.game.people and not self.game.ended:
            self._drop(agent)
            self._changed.set()

    def _drop(self, agent: str) -> None:
        """What the study says is to be done: a simulated person takes the seat, or the game ends."""
        if self.dropout == "end":
            self._end("left")
            return
        self.log("replaced", {"agent": agent})
        self._tell("replaced", self)
        if not self.game.people:
            self._end("left")

    # The clock

    async def _run(self) -> None:
        try:
            while not self.game.ended:
                if reason := self.game.over():
                    self._end(reason)
                    break
                if await self._all_here():
                    await self._step(await self._choices())
            await self._think()
        except Exception:
            if not self.game.ended:
                self._end("failed")
            raise

    async def _all_here(self) -> bool:
        """Whether everybody is here, or has been replaced; waits for them."""
        while self.game.away and not self.game.ended:
            left = self.deadline - time.monotonic()
            if left <= 0:
                for agent in sorted(self.game.away):
                    if not self.game.ended:
                        self._drop(agent)
                self._tell("go", self)
            else:
                await self._change(left)
        return not self.game.ended

    async def _choices(self) -> dict[str, str] | None:
        """What everybody does; None if somebody has gone meanwhile."""
        game, clock = self.game, self.game.clock
        others = asyncio.create_task(self._others())
        try:
            until = self._until(clock)
            while not game.away and not game.ended and (left := until - time.monotonic()) > 0:
                if clock.waits and not set(game.people) - set(game.pending):
                    break
                await self._change(left)
            if game.away or game.ended:
                return None
            patience = GIVEN_UP if clock.waits else 0.0
            await asyncio.wait([others], timeout=patience)
            found = others.result() if others.done() else {}
        finally:
            others.cancel()
        chosen = {**found, **game.pending}
        return {agent: chosen.get(agent, STAY) for agent in game.world.agents}

    def _until(self, clock: GameClock) -> float:
        """When the next step happens at the latest; without waiting, steps keep to a rhythm."""
        now = time.monotonic()
        if clock.waits:
            return now + clock.seconds if clock.seconds else float("inf")
        self._due = max(self._due + clock.seconds, now)
        return self._due

    async def _others(self) -> dict[str, str]:
        """What the simulated people do."""
        game = self.game
        return await self._processes.act(game.setup, game.steps, game.simulated) if game.simulated else {}

    async def _change(self, seconds: float) -> None:
        """Wait until something has changed, or for so many seconds."""
        self._changed.clear()
        try:
            async with asyncio.timeout(None if seconds == float("inf") else seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _step(self, joint: dict[str, str] | None) -> None:
        if joint is None:
            return
        chosen = sorted(self.game.pending)
        await on_disk(self.log("step", {"joint": joint, "chosen": chosen}))
        self._tell("step", self)
        if self.game.facilitated and not self._thinking:
            self._spawn(self._think())

    def _end(self, reason: str) -> None:
        self.log("ended", {"reason": reason})
        self._tell("ended", self)

    # The facilitator

    async def _think(self) -> None:
        """Let the facilitator think until it has thought about the last step. The clock goes on meanwhile."""
        game = self.game
        if self._thinking or not game.facilitated or not game.t:
            return
        self._thinking = True
        try:
            while game.t not in game.thoughts:
                thought = await self._advice()
                self.log("thought", {"thought": thought._asdict()})
                self._tell("thought", self)
        finally:
            self._thinking = False

    async def _advice(self) -> FacilitatorThought:
        """What the facilitator thinks; if it fails, that is its thought, and people play on."""
        t, since = self.game.t, max(self.game.thoughts, default=0)
        try:
            return await self._processes.advise(self.game.setup, self.game.steps, since)
        except Exception as error:
            why = f"the facilitator failed: {type(error).__name__}"
            return FacilitatorThought(t, {"action": "", "why": why, "ms": 0.0}, {})
