"""Rooms, in which games are played: the clock, the simulated agents and the facilitator, and news for the players.

Every change is first an event in the event log; the game follows from it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from otherminds.web.event_log import EventLog, Written
from otherminds.web.games import LiveGame, RefusedError
from otherminds.web.studies import StudyPlan
from otherminds.web.thinking import GOT_IT, IGNORE, FacilitatorThought, ThinkingProcesses

LOG = logging.getLogger(__name__)
STAY = "stay"  # the action of agents that have not chosen
SHORTEST = 0.05  # seconds between two looks at a time limit; chosen
GIVEN_UP = 5.0  # seconds that a step waits for simulated people before they stay; chosen

Tell = Callable[[str, "GameRoom"], None]


class GameRoom:
    """A running game with its clock.

    tell: called with `step` (once it is on disk), `thought`, `chosen`, `pause`, `go`, `replaced` or `ended`.
    plan: says what happens to a player that stays away for `plan.grace` seconds (`plan.dropout`): they are replaced
    (`simulated`), or the game ends (`end`).
    """

    def __init__(
        self, name: str, game: LiveGame, plan: StudyPlan, event_log: EventLog, processes: ThinkingProcesses, tell: Tell
    ) -> None:
        """A room whose game does not run yet, see `start`.

        `deadline` is the time until which it waits for people that are away, `_due` that of the next step of a game
        that does not wait, both by the monotonic clock.
        """
        self.name, self.game, self.plan = name, game, plan
        self._event_log, self._processes, self._tell = event_log, processes, tell
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thinking = False
        self._due = 0.0
        self.deadline = time.monotonic() + plan.grace

    def log(self, kind: str, body: Mapping[str, Any], actor: str | None = None, n: int | None = None) -> Written:
        """Log an event and apply it to the game."""
        event, pending_write = self._event_log.append(self.name, kind, body, actor, n)
        self.game.apply(event)
        return pending_write

    def start(self) -> None:
        """Start the game, or resume it."""
        self._spawn(self._run())
        if self.game.minutes:
            self._spawn(self._limit())

    async def stop(self) -> None:
        """Stop the clock and all thinking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Any) -> None:
        """Start a task of the room, which `stop` cancels."""
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """Forget a task that has ended, and log the error if it failed."""
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            LOG.error("%s has failed", self.name, exc_info=problem)

    # Actions of people

    def act(self, agent: str, action: object, t: object, n: int) -> Written:
        """Record a person's next action. Raises RefusedError if it is not possible now."""
        word = self.game.check(agent, action, t)
        pending_write = self.log("act", {"agent": agent, "action": word, "t": self.game.t}, self.game.people[agent], n)
        self._changed.set()
        self._tell("chosen", self)
        return pending_write

    def heard(self, agent: str, advice: object, reply: object, ms: object, n: int) -> Written:
        """Record a person's reply to a message, and the milliseconds it took. Raises RefusedError for other replies."""
        messages = self.game.messages
        if not isinstance(advice, int) or not 0 <= advice < len(messages) or messages[advice].to != agent:
            raise RefusedError("there is no such advice for you")
        if reply not in (GOT_IT, IGNORE):
            raise RefusedError(f"the answer is `{GOT_IT}` or `{IGNORE}`")
        took = float(ms) if isinstance(ms, int | float) and 0 <= ms < 1e7 else None
        return self.log("heard", {"advice": advice, "reply": reply, "ms": took}, self.game.people[agent], n)

    def give_up(self, agent: str, n: int) -> Written:
        """Record that an agent's person cannot do it; once all people have said so, the game ends.

        Raises RefusedError if the study's plan does not let them, or they have said so already.
        """
        if not self.plan.give_up or self.game.practice or agent in self.game.gave_up:
            raise RefusedError("that is not possible now")
        pending_write = self.log("gave_up", {"agent": agent}, self.game.people[agent], n)
        self._tell("gave up", self)
        if self.game.over() == "given up":
            self._end("given up")
            self._changed.set()
        return pending_write

    def presence(self, agent: str, is_connected: bool) -> None:
        """Record that an agent's person has connected or disconnected."""
        if self.game.ended or agent not in self.game.people or is_connected == (agent not in self.game.away):
            return
        self.log("back" if is_connected else "away", {"agent": agent})
        if not is_connected and len(self.game.away) == 1:
            self.deadline = time.monotonic() + self.plan.grace
        self._changed.set()
        self._tell("go" if not self.game.away else "pause", self)

    def leave(self, agent: str) -> None:
        """An agent's person has left for good."""
        if agent in self.game.people and not self.game.ended:
            self._drop(agent)
            self._changed.set()

    def _drop(self, agent: str) -> None:
        """Replace the agent's person by a simulated one, or end the game, as the study's plan says."""
        if self.plan.dropout == "end":
            self._end("left")
            return
        self.log("replaced", {"agent": agent})
        self._tell("replaced", self)
        if not self.game.people:
            self._end("left")
        elif self.game.over() == "given up":  # all others had said so before
            self._end("given up")

    # The clock

    async def _run(self) -> None:
        """Play the game: step after step until it is over, with the facilitator thinking beside it."""
        try:
            while not self.game.ended:
                if reason := self.game.over():
                    self._end(reason)
                    break
                if await self._all_here() and (joint := await self._choices()):
                    await asyncio.wrap_future(self.log("step", {"joint": joint, "chosen": sorted(self.game.pending)}))
                    self._tell("step", self)
                    if self.plan.patient and not self.game.over():
                        await self._think()
                    else:
                        self._spawn(self._think())
            await self._think()
        except Exception:
            if not self.game.ended:
                self._end("failed")
            raise

    async def _limit(self) -> None:
        """End the game when its time is up, which stands still in pauses."""
        while not self.game.ended and (seconds_left := self.game.seconds_left(time.time())) > 0:
            await asyncio.sleep(max(seconds_left, SHORTEST))
        if not self.game.ended:
            self._end("time limit")
            self._changed.set()

    async def _all_here(self) -> bool:
        """Wait until all people are connected or replaced; False if the game has ended."""
        while self.game.away and not self.game.ended:
            seconds_left = self.deadline - time.monotonic()
            if seconds_left <= 0:
                for agent in sorted(self.game.away):
                    if not self.game.ended:
                        self._drop(agent)
                self._tell("go", self)
            else:
                await self._change(seconds_left)
        return not self.game.ended

    async def _choices(self) -> dict[str, str] | None:
        """The actions of all agents; None if a person has disconnected meanwhile."""
        game, simulation = self.game, None
        if game.simulated:
            simulation = asyncio.create_task(self._processes.act(game.setup, game.steps, game.simulated))
        until = time.monotonic() + (game.seconds or float("inf"))
        if not game.waits:  # steps are evenly spaced
            until = self._due = max(self._due + game.seconds, time.monotonic())
        try:
            while not game.away and not game.ended and (seconds_left := until - time.monotonic()) > 0:
                if game.waits and not set(game.people) - set(game.pending):
                    break
                await self._change(seconds_left)
            if game.away or game.ended:
                return None
            if simulation:
                await asyncio.wait([simulation], timeout=GIVEN_UP if game.waits else 0.0)
            simulated_actions = simulation.result() if simulation and simulation.done() else {}
        finally:
            if simulation:
                simulation.cancel()
        if game.ended:  # while the simulated people were thinking
            return None
        actions = {**simulated_actions, **game.pending}
        return {agent: actions.get(agent, STAY) for agent in game.world.agents}

    async def _change(self, seconds: float) -> None:
        """Wait for the next change, for at most so many seconds."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds == float("inf") else seconds):
                await self._changed.wait()

    def _end(self, reason: str) -> None:
        self.log("ended", {"reason": reason})
        self._tell("ended", self)

    # The facilitator

    async def _think(self) -> None:
        """Let the facilitator think until it has caught up with the last step.

        The clock runs on meanwhile, unless the study's is patient. A thought that comes after the next step is late.
        """
        game = self.game
        if self._thinking or not game.facilitated or not game.t:
            return
        self._thinking = True
        try:
            while game.t not in game.thoughts:
                async with self._processes.turn(game.setup):
                    t, since = game.t, max(game.thoughts, default=0)
                    try:
                        thought = await self._processes.advise(game.setup, game.steps, since)
                    except Exception as error:  # people play on without a message
                        why = f"the facilitator failed: {type(error).__name__}"
                        thought = FacilitatorThought(t, {"action": "", "why": why, "ms": 0.0}, {})
                self.log("thought", {"thought": thought._asdict(), "late": game.t - t})
                self._tell("thought", self)
        finally:
            self._thinking = False
