"""The state of a game of people and simulated agents: a pure fold over the events of its room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from otherminds.papers.protom.episodes import BEFORE_FIRST_STEP
from otherminds.web.board import WorldBoard, board, options
from otherminds.web.event_log import LogEvent
from otherminds.web.thinking import IGNORE, FacilitatorThought, GameSetup, PlayedStep

NAMES = {"completed": "Completed", "ignored": "Ignored", "impossible": "Not executable", "running": "Open"}


class RefusedError(ValueError):
    """A participant's request is not allowed now. The message is one line, shown to the participant."""


@dataclass
class GameMessage:
    """A facilitator's message `to` an agent after step `t`, with its reason, its status, and the person's reply.

    `saves` is the expected number of steps saved, `at` the square that the message is about.
    """

    t: int
    to: str
    text: str
    why: str
    saves: float | None
    at: Sequence[int] | None
    status: str = "running"
    reply: str = ""

    @property
    def address(self) -> str:
        """The message in short form, beginning with the recipient's name."""
        return f"{self.to}: {self.text}"


@dataclass
class LiveGame:
    """The state of a game. `people` maps agents to the ids of the people that play them; the others are simulated.

    waits: a step happens once all people have chosen, or after `seconds` (0: no limit). Otherwise one happens every
    `seconds`. People that have not chosen by then stay.
    steps: the steps so far; times: when they happened; choosers: the agents whose people chose an action, by step.
    pending: actions chosen for the next step, by agent. thoughts: the facilitator's thoughts, by step. messages: its
    messages. heard: answers to them since the last step. away: agents whose people are disconnected. replaced: agents
    that a simulated one took over, with the id of their former player. ended: how the game ended, empty while it runs.
    late: the steps about which the facilitator thought so long that the next one had happened. minutes: the time limit
    from `begun_at`, a Unix time, without the `paused` seconds; 0 for none. latest: the Unix time of the last event.
    gave_up: agents whose people have said that they cannot do it.
    """

    setup: GameSetup
    people: dict[str, str]
    waits: bool
    seconds: float
    practice: bool = False
    steps: list[PlayedStep] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    choosers: list[Sequence[str]] = field(default_factory=list)
    pending: dict[str, str] = field(default_factory=dict)
    thoughts: dict[int, FacilitatorThought] = field(default_factory=dict)
    messages: list[GameMessage] = field(default_factory=list)
    heard: list[tuple[str, str]] = field(default_factory=list)
    away: set[str] = field(default_factory=set)
    replaced: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    late: set[int] = field(default_factory=set)
    minutes: float = 0.0
    begun_at: float = 0.0
    paused: float = 0.0
    latest: float = 0.0
    gave_up: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.board: WorldBoard = board(self.setup.level)
        self.world: Any = self.setup.level.world
        self.states: list[Any] = [self.world.initial]

    # State

    @property
    def t(self) -> int:
        """The number of steps so far."""
        return len(self.steps)

    @property
    def state(self) -> Any:
        """The state after the last step."""
        return self.states[-1]

    @property
    def simulated(self) -> tuple[str, ...]:
        """The agents that no person plays."""
        return tuple(agent for agent in self.world.agents if agent not in self.people)

    @property
    def facilitated(self) -> bool:
        """Whether the game has a facilitator."""
        return self.setup.facilitator != "none"

    @property
    def decided(self) -> tuple[int, int]:
        """Of the steps that another one followed, in how many the facilitator decided in time, and their number."""
        followed = range(1, self.t)
        in_time = sum(t in self.thoughts and t not in self.late for t in followed)
        return (in_time, len(followed)) if self.facilitated else (0, 0)

    def awaits(self, agent: str) -> bool:
        """Whether the next step waits, without a time limit, for this agent's person alone."""
        patient = self.waits and not self.seconds
        return patient and {*self.people} - {*self.pending} == {agent} and len(self.people) > 1

    def over(self) -> Literal["finished", "time", "given up"] | None:
        """How the game has ended by its rules: all goals reached, no steps left, or given up; None if it goes on."""
        if self.world.done(self.state):
            return "finished"
        if self.t >= self.setup.level.horizon:
            return "time"
        return "given up" if self.people and self.gave_up >= set(self.people) else None

    def seconds_left(self, now: float) -> float:
        """The seconds of the time limit that are left at a Unix time; infinite without a limit.

        They stand still while somebody is away, and while the server is down.
        """
        played = (self.latest if self.away else now) - self.begun_at - self.paused
        return max(0.0, 60.0 * self.minutes - played) if self.minutes else math.inf

    def check(self, agent: str, action: object, t: object) -> str:
        """The requested action. Raises RefusedError if the game or step is over, or the action is not possible."""
        if self.ended:
            raise RefusedError("the game is over")
        if self.waits and t != self.t:
            raise RefusedError("that step is over")
        allowed = [option["action"] for option in options(self.world, self.state, agent)]
        if action not in allowed:
            raise RefusedError(f"that is not possible now; possible: {', '.join(allowed)}")
        return str(action)

    # Events

    def apply(self, event: LogEvent) -> None:
        """Update the game by an event; unknown kinds are ignored."""
        body = event.body
        self._keep_time(event)
        match event.kind:
            case "act" if body["t"] == self.t:
                self.pending[body["agent"]] = body["action"]
            case "step":
                vocabulary = self.board.scene.vocabulary
                joint = {agent: vocabulary[word] for agent, word in body["joint"].items()}
                self.states.append(self.world.step(self.state, joint))
                self.steps.append(PlayedStep(body["joint"], heard=tuple(self.heard)))
                self.heard = []
                self.choosers.append(body["chosen"])
                self.pending = {}
                self.times.append(event.at)
            case "thought":
                self._think(FacilitatorThought(**body["thought"]))
                if body.get("late"):
                    self.late.add(body["thought"]["t"])
            case "heard":
                self._hear(self.messages[body["advice"]], body["reply"])
            case "away" | "gave_up":
                (self.away if event.kind == "away" else self.gave_up).add(body["agent"])
            case "back":
                self.away.discard(body["agent"])
            case "replaced":
                agent = body["agent"]
                self.replaced[agent] = self.people.pop(agent, "")
                self.away.discard(agent)
                self.pending.pop(agent, None)
            case "ended":
                self.ended = body["reason"]

    def _keep_time(self, event: LogEvent) -> None:
        """Count the time since the last event as paused if somebody was away, or the server down."""
        if self.away or event.kind == "resumed":
            self.paused += event.at - self.latest
        self.latest = event.at

    def _hear(self, message: GameMessage, reply: str) -> None:
        """Record an answer, which the facilitator learns of with the next step; an ignored message is over at once."""
        message.reply = reply
        if message.status == "running":
            self.heard.append((message.address, reply))
            message.status = "ignored" if reply == IGNORE else message.status

    def _think(self, thought: FacilitatorThought) -> None:
        """Record a thought of the facilitator, and the message that it sends."""
        self.thoughts[thought.t] = thought
        statuses, message = thought.row.get("statuses", {}), thought.row["action"]
        for advice in self.messages:
            if advice.status == "running":
                advice.status = statuses.get(advice.address, advice.status)
        if message:
            self.steps[thought.t - 1] = self.steps[thought.t - 1]._replace(message=message)
            text = message.removeprefix(f"{thought.helper}: ")
            advice = GameMessage(thought.t, thought.helper, text, thought.row["words"], thought.saves, thought.place)
            self.messages.append(advice)

    def last_thought(self) -> FacilitatorThought:
        """The facilitator's latest thought; an empty one before the first."""
        newest = max(self.thoughts, default=0)
        return self.thoughts.get(newest, FacilitatorThought(0, {"action": "", "why": BEFORE_FIRST_STEP, "ms": 0.0}, {}))
