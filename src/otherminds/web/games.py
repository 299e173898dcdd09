"""A game of people and simulated people in one world: the fold over the events of a room. It knows no clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from otherminds.papers.protom.episodes import BEFORE_FIRST_STEP
from otherminds.web.board import WorldBoard, board, options
from otherminds.web.event_log import Body, LogEvent
from otherminds.web.thinking import FacilitatorThought, GameSetup, PlayedStep

NAMES = {"completed": "Completed", "ignored": "Ignored", "impossible": "Not executable", "running": "Open"}
Ending = Literal["finished", "time", "left", "lost", "failed"]


class RefusedError(ValueError):
    """Something that somebody cannot do now, in one line that they are told."""


@dataclass(frozen=True)
class GameClock:
    """When a step happens: waits: once everybody has chosen, or after `seconds` (0: never without them); else every
    `seconds`, whoever has not chosen stays."""

    waits: bool = True
    seconds: float = 2.0


@dataclass
class GameMessage:
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
class LiveGame:
    """Where a game stands. `people` are the seats that people have, by the id of who sits there; the rest is simulated.

    beats: what has happened, step by step. pending: what people have chosen for the next step. thoughts: what the
    facilitator made of it after each step that it has thought about.
    """

    setup: GameSetup
    people: dict[str, str]
    clock: GameClock
    practice: bool = False
    steps: list[PlayedStep] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    chosen: list[Sequence[str]] = field(default_factory=list)
    pending: dict[str, str] = field(default_factory=dict)
    thoughts: dict[int, FacilitatorThought] = field(default_factory=dict)
    said: list[GameMessage] = field(default_factory=list)
    away: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)
    ended: str = ""

    def __post_init__(self) -> None:
        self.board: WorldBoard = board(self.setup.level)
        self.world: Any = self.setup.level.world
        self.states: list[Any] = [self.world.initial]

    # Where it stands

    @property
    def t(self) -> int:
        """How many steps have been made."""
        return len(self.steps)

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

    def awaits(self, agent: str) -> bool:
        """Whether a step that no clock will make happen waits for this person alone."""
        waits = self.clock.waits and not self.clock.seconds
        return waits and {*self.people} - {*self.pending} == {agent} and len(self.people) > 1

    def over(self) -> Ending | None:
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

    def apply(self, event: LogEvent) -> None:
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
        self.steps.append(PlayedStep(body["joint"]))
        self.chosen.append(body["chosen"])
        self.pending = {}

    def _thought(self, body: Body) -> None:
        thought = FacilitatorThought(**body["thought"])
        self.thoughts[thought.t] = thought
        status, message = thought.row.get("status"), thought.row["action"]
        if self.said and status and self.said[-1].status == "running":
            self.said[-1].status = status
        if message:
            self.steps[thought.t - 1] = self.steps[thought.t - 1]._replace(said=message)
            text = message.removeprefix(f"{thought.helper}: ")
            said = GameMessage(thought.t, thought.helper, text, thought.row["words"], thought.saves, thought.place)
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

    def last_thought(self) -> FacilitatorThought:
        """The facilitator's newest thought."""
        newest = max(self.thoughts, default=0)
        return self.thoughts.get(newest, FacilitatorThought(0, {"action": "", "why": BEFORE_FIRST_STEP, "ms": 0.0}, {}))
