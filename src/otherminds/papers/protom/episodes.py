"""Facilitated episodes: agents with goals of their own, and a facilitator that may tell one to help another."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from otherminds.distribution import Categorical
from otherminds.mind import GoalDirected, WithErrand, own_mind, without_finished_errand
from otherminds.world import World

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
F = TypeVar("F", bound=Hashable)
S_contra = TypeVar("S_contra", bound=Hashable, contravariant=True)
A_contra = TypeVar("A_contra", bound=Hashable, contravariant=True)

Goals = tuple[Any, ...]
Status = Literal["running", "completed", "impossible", "ignored"]
PATIENCE = 10  # steps after a message could have been carried out at which it counts as ignored; chosen, not tuned
BEFORE_FIRST_STEP = "nobody has done anything yet"


class Messages(Protocol[S_contra, A, F]):
    """The messages of one world and their effects: all that a facilitator needs to know about that world."""

    def candidates(self, state: S_contra) -> Sequence[F]:
        """The messages that an agent could follow in this state."""

    def helper(self, message: F) -> str:
        """The agent that the message asks to do something."""

    def errand(self, message: F, mind: GoalDirected[A]) -> GoalDirected[A]:
        """A mind as rational as `mind` whose only goal is what the message asks for."""

    def status(self, state: S_contra, message: F) -> Status:
        """Whether what the message asks for is running, completed or impossible in this state."""

    def effort(self, state: S_contra, message: F) -> int:
        """The number of steps that carrying out the message takes."""

    def length(self, state: S_contra, minds: Sequence[GoalDirected[A]], message: F | None, horizon: int) -> int:
        """C(f, g): steps until agents with these minds are done if the message is followed first; at most `horizon`."""

    def explain(self, state: S_contra, message: F, goals: Goals) -> str:
        """The message as a sentence with its reason, given the likeliest goal of each agent."""

    def address(self, message: F) -> str:
        """The message in short form for logs and tables, beginning with the helper's name."""


class MessageUtility(NamedTuple, Generic[F]):
    """A message, U(f), the steps that it is expected to save, and div(f), how much it would change."""

    message: F
    saves: float
    changes: float


@dataclass(frozen=True)
class Decision(Generic[F]):
    """A facilitator's decision: the message (None: silence), its words or the reason for silence, and all utilities."""

    message: F | None = None
    words: str = ""
    silence: str = ""
    utilities: tuple[MessageUtility[F], ...] = ()


class Facilitator(Protocol[S_contra, A_contra, F]):
    """Watches all agents and decides after every step whether to send a message. Immutable. (ProToM §3.)"""

    def watch(self, joint: Mapping[str, A_contra], after: S_contra) -> Self:
        """The facilitator after the agents have taken a joint action that led to `after`."""

    def decide(self, state: S_contra, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message to send in this state, with `left` steps to go, or the reason to send none."""

    def tell(self, message: F | None) -> Self:
        """The facilitator after its message was delivered; None: its last message was ignored."""

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """P(goal) for each agent; empty if the facilitator infers no goals."""


@dataclass(frozen=True)
class SilentFacilitator:
    """The facilitator that never sends a message."""

    def watch(self, joint: Mapping[str, Any], after: Any) -> Self:
        """Unchanged: it learns nothing."""
        return self

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """Silence."""
        return Decision(silence="there is no facilitator")

    def tell(self, message: Any) -> Self:
        """Unchanged: it remembers nothing."""
        return self

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """Empty."""
        return {}


@dataclass(frozen=True)
class RandomFacilitator(SilentFacilitator):
    """Sends a random feasible message with probability `talkativeness` (ProToM §4.2, random facilitator)."""

    messages: Messages[Any, Any, Any]
    talkativeness: float = 0.5

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """A uniform choice among the candidate messages with probability `talkativeness`, else silence."""
        candidates = self.messages.candidates(state)
        if not candidates:
            return Decision(silence="nobody could do anything for anybody")
        if rng.random() >= self.talkativeness:
            return Decision(silence="it chose to say nothing")
        return Decision(candidates[int(rng.integers(len(candidates)))], words="No reason given.")


@dataclass(frozen=True)
class Moment(Generic[S, A, F]):
    """One step of an episode: the state, the facilitator's beliefs and decision in it, and what the agents then did.

    `status` is the new status of an earlier message, if one was under way; `ms` the milliseconds that inferring and
    deciding took.
    """

    state: S
    beliefs: Mapping[str, Categorical[Hashable]]
    decision: Decision[F]
    status: Status | None
    ms: float
    joint: Mapping[str, A]
    after: S


@dataclass
class FacilitatedEpisode(Generic[S, A, F]):
    """Runs minds forward in a world beside a facilitator; iterating plays the episode and yields one Moment a step.

    The helper follows a message with probability `obedience`, else ignores it. While a message is under way the
    facilitator sends no other (ProToM §3.2). A message counts as ignored if it has not been carried out PATIENCE steps
    after it could have been. The facilitator first decides after the first step. `message` is the one under way,
    `status` its latest status.

    A caller that gets the actions of some agents from elsewhere, such as the web app, leaves these agents out of
    `minds` and calls `look`, `choose`, `watch`, `decide` and `tell` itself.
    """

    world: World[S, Any, A]
    minds: Mapping[str, GoalDirected[A]]
    facilitator: Facilitator[S, A, F]
    messages: Messages[S, A, F]
    horizon: int
    people_rng: np.random.Generator
    facilitator_rng: np.random.Generator
    obedience: float = 1.0
    message: F | None = field(default=None, init=False)
    status: Status | None = field(default=None, init=False)
    _deadline: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Moment[S, A, F]]:
        state = self.world.start(self.people_rng)
        self.look(state)
        decision, ms = Decision[F](silence=BEFORE_FIRST_STEP), 0.0
        for t in range(1, self.horizon + 1):
            if self.world.done(state):
                return
            joint = self.choose()
            after = self.world.step(state, joint, self.people_rng)
            yield Moment(state, self.facilitator.beliefs(), decision, self.status, ms, joint, after)
            state = after
            self.look(state)
            began = time.perf_counter()
            self.watch(joint, state, t)
            decision = self.decide(state, t)
            ms = 1e3 * (time.perf_counter() - began)
            if decision.message is not None:
                self.tell(decision.message, state, t)

    def look(self, state: S) -> None:
        """Show each agent its observation of the state, and end errands that are over."""
        seen = {a: mind.observe(self.world.observe(state, a)) for a, mind in self.minds.items()}
        self.minds = {a: without_finished_errand(mind) for a, mind in seen.items()}

    def choose(self) -> dict[str, A]:
        """The joint action, drawn from the minds in the order of the agents."""
        return {agent: mind.act().sample(self.people_rng) for agent, mind in self.minds.items()}

    def watch(self, joint: Mapping[str, A], state: S, t: int) -> None:
        """Show the facilitator the joint action of step t, and update the status of the message under way."""
        self.facilitator = self.facilitator.watch(joint, state)
        self.status = None
        if self.message is None:
            return
        self.status = self.messages.status(state, self.message)
        if self.status == "running" and t >= self._deadline:
            self.status = "ignored"
            self.facilitator = self.facilitator.tell(None)
        if self.status != "running":
            self.message = None

    def decide(self, state: S, t: int) -> Decision[F]:
        """The facilitator's decision after step t; silence while a message is under way and at the end."""
        if self.world.done(state) or t == self.horizon:
            return Decision(silence="the episode is over")
        if self.message is not None:
            return Decision(silence="a message is under way")
        return self.facilitator.decide(state, self.horizon - t, self.facilitator_rng)

    def tell(self, message: F, state: S, t: int) -> None:
        """Deliver the message after step t: the facilitator expects the helper to follow it; the helper may do so."""
        helper = self.messages.helper(message)
        self.message, self._deadline = message, t + self.messages.effort(state, message) + PATIENCE
        self.facilitator = self.facilitator.tell(message)
        if helper in self.minds and self.people_rng.random() < self.obedience:
            mind = own_mind(self.minds[helper])
            self.minds = {**self.minds, helper: WithErrand(mind, self.messages.errand(message, mind))}
