"""A room: one game of people and simulated people in one world, as it follows from what has happened in it.

`Game` is the fold over the events of a room and knows no clock; `Room` keeps the clock, asks those who think, and lets
everybody know. Whatever it lets happen is written first into the journal.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from otherminds.systems.facilitation import FIRST
from otherminds.web.board import Board, board, options
from otherminds.web.journal import Body, Event, Journal, Written, on_disk
from otherminds.web.thinking import Beat, Setup, Thinkers, Thought

STAY = "stay"
NAMES = {"completed": "Completed", "ignored": "Ignored", "impossible": "Not executable", "running": "Open"}
GIVEN_UP = 5.0
"""Seconds that a step waits for simulated people before they are taken to stay."""

Ended = Literal["finished", "time", "left", "lost", "failed"]


class RefusedError(ValueError):
    """Something that somebody cannot do now, in one line that they are told."""


@dataclass(frozen=True)
class Clock:
    """When a step happens: waits: once everybody has chosen, or after `seconds` (0: never without them); else every
    `seconds`, whoever has not chosen stays."""

    waits: bool = True
    seconds: float = 2.0


@dataclass
class Said:
    """A message, to whom, after which step, and what became of it."""

    t: int
    to: str
    text: str
    why: str
    saves: float | None
    at: Sequence[int] | None
    status: str = "running"
    reply: str = ""


@dataclass
class Game:
    """Where a game stands. `people` are the seats that people have, by the id of who sits there; the rest is simulated.

    beats: what has happened, step by step. pending: what people have chosen for the next step. thoughts: what the
    facilitator made of it after each step that it has thought about.
    """

    setup: Setup
    people: dict[str, str]
    clock: Clock
    practice: bool = False
    beats: list[Beat] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    chosen: list[Sequence[str]] = field(default_factory=list)
    pending: dict[str, str] = field(default_factory=dict)
    thoughts: dict[int, Thought] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    away: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)
    ended: str = ""

    def __post_init__(self) -> None:
        self.board: Board = board(self.setup.level)
        self.world: Any = self.setup.level.world
        self.states: list[Any] = [self.world.initial]

    # Where it stands

    @property
    def t(self) -> int:
        """How many steps have been made."""
        return len(self.beats)

    @property
    def state(self) -> Any:
        """The state after the last step."""
        return self.states[-1]

    @property
    def simulated(self) -> tuple[str, ...]:
        """The agents that nobody plays."""
        return tuple(agent for agent in self.world.agents if agent not in self.people)

    @property
    def facilitated(self) -> bool:
        """Whether somebody looks on who may say something."""
        return self.setup.facilitator != "none"

    def over(self) -> Ended | None:
        """Whether the game has come to its end by itself."""
        if self.world.done(self.state):
            return "finished"
        return "time" if self.t >= self.setup.horizon else None

    def check(self, agent: str, action: object, t: object) -> str:
        """The action that somebody wants. Raises RefusedError if there is no such action now."""
        if self.ended:
            raise RefusedError("the game is over")
        if self.clock.waits and t != self.t:
            raise RefusedError("that step is over")
        allowed = [one["action"] for one in options(self.world, self.state, agent)]
        if action not in allowed:
            raise RefusedError(f"one cannot do that now; one can: {', '.join(allowed)}")
        return str(action)

    # What happens

    def apply(self, event: Event) -> None:
        """The game after an event."""
        happen: Callable[[Body], None] | None = getattr(self, f"_{event.kind}", None)
        if happen:
            happen(event.body)
        if event.kind == "step":
            self.times.append(event.at)

    def _act(self, body: Body) -> None:
        if body["t"] == self.t:
            self.pending[body["agent"]] = body["action"]

    def _step(self, body: Body) -> None:
        vocabulary = self.board.scene.vocabulary
        joint = {agent: vocabulary[word] for agent, word in body["joint"].items()}
        self.states.append(self.world.step(self.state, joint))
        self.beats.append(Beat(body["joint"]))
        self.chosen.append(body["chosen"])
        self.pending = {}

    def _thought(self, body: Body) -> None:
        thought = Thought(**body["thought"])
        self.thoughts[thought.t] = thought
        status, message = thought.row.get("status"), thought.row["action"]
        if self.said and status and self.said[-1].status == "running":
            self.said[-1].status = status
        if message:
            self.beats[thought.t - 1] = self.beats[thought.t - 1]._replace(said=message)
            text = message.removeprefix(f"{thought.helper}: ")
            said = Said(thought.t, thought.helper, text, thought.row["words"], thought.saves, thought.place)
            self.said.append(said)

    def _heard(self, body: Body) -> None:
        self.said[body["advice"]].reply = body["reply"]

    def _away(self, body: Body) -> None:
        self.away.add(body["agent"])

    def _back(self, body: Body) -> None:
        self.away.discard(body["agent"])

    def _replaced(self, body: Body) -> None:
        agent = body["agent"]
        self.replaced[agent] = self.people.pop(agent, "")
        self.away.discard(agent)
        self.pending.pop(agent, None)

    def _ended(self, body: Body) -> None:
        self.ended = body["reason"]

    # What can be told of it

    def frame(self, agent: str | None) -> tuple[list[str], list[Any]]:
        """The squares and the parts that an agent sees; everything for None."""
        return self.board.rows(self.state, agent), [p for p in self.board.drawn(self.state, agent) if p.place]

    def last_thought(self) -> Thought:
        """The facilitator's newest thought."""
        newest = max(self.thoughts, default=0)
        return self.thoughts.get(newest, Thought(0, {"action": "", "why": FIRST, "ms": 0.0}, {}))


Tell = Callable[[str, "Room"], None]


class Room:
    """A game that is being played: its clock, and those who think in it.

    tell: called with `step`, `thought`, `chosen`, `pause`, `go`, `replaced` or `ended` once that is on disk.
    dropout: whether who does not come back in `grace` seconds is replaced by a simulated person, or the game ends.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        journal: Journal,
        thinkers: Thinkers,
        tell: Tell,
        *,
        grace: float = 60.0,
        dropout: str = "simulated",
    ) -> None:
        self.name, self.game = name, game
        self.grace, self.dropout = grace, dropout
        self._journal, self._thinkers, self._tell = journal, thinkers, tell
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thinking = False
        self._due = 0.0
        self.deadline = time.monotonic() + grace

    def log(self, kind: str, body: Mapping[str, Any], who: str | None = None, n: int | None = None) -> Written:
        """Let something happen."""
        event, written = self._journal.append(self.name, kind, body, who, n)
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
        task.add_done_callback(self._tasks.discard)

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

    def _until(self, clock: Clock) -> float:
        """When the next step happens at the latest; without waiting, steps keep to a rhythm."""
        now = time.monotonic()
        if clock.waits:
            return now + clock.seconds if clock.seconds else float("inf")
        self._due = max(self._due + clock.seconds, now)
        return self._due

    async def _others(self) -> dict[str, str]:
        """What the simulated people do."""
        game = self.game
        return await self._thinkers.act(game.setup, game.beats, game.simulated) if game.simulated else {}

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

    async def _advice(self) -> Thought:
        """What the facilitator thinks; if it fails, that is its thought, and people play on."""
        t = self.game.t
        try:
            return await self._thinkers.advise(self.game.setup, self.game.beats)
        except Exception as error:
            why = f"the facilitator failed: {type(error).__name__}"
            return Thought(t, {"action": "", "why": why, "ms": 0.0}, {})
