"""Facilitated episodes: agents with goals of their own, and a facilitator that may tell one to help another."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from otherminds.distribution import Categorical
from otherminds.files.text import brief
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
    """The messages of one world and their effects: all that a facilitator needs to know about that world.

    `RolledOutMessages` has them for any world from a list of suggestions; `check_messages` checks your own.
    """

    def candidates(self, state: S_contra) -> Sequence[F]:
        """The messages that an agent could follow in this state."""

    def helper(self, message: F) -> str:
        """The agent that the message asks to do something."""

    def friend(self, message: F) -> str:
        """The agent that is to gain from it."""

    def errand(self, state: S_contra, message: F, mind: GoalDirected[A]) -> GoalDirected[A]:
        """A mind whose only goal is what the message asks for, as rational as `mind` if it can be.

        It has observed the state.
        """

    def status(self, state: S_contra, message: F) -> Status:
        """Whether what the message asks for is running, completed or impossible in this state."""

    def effort(self, state: S_contra, message: F) -> int:
        """The number of steps that carrying out the message takes."""

    def finish(self, state: S_contra, minds: Sequence[GoalDirected[A]], horizon: int) -> tuple[int, ...]:
        """Steps until each agent is done if they have these minds; at most `horizon`. The largest is C(f, g).

        The minds, one for each agent of the world in its order, have observed the state. An agent with a goal of
        NONE_OF_THESE counts as done.
        """

    def explain(
        self,
        state: S_contra,
        message: F,
        *,
        friends: Sequence[str],
        goal: Hashable | None,
        sure: bool,
        needed: bool,
        saves: float,
    ) -> str:
        """The message as a sentence with its reason, these fields of `Reason`."""

    def address(self, message: F) -> str:
        """The message in short form for logs and tables, beginning with the helper's name."""


class Reason(NamedTuple):
    """The reason of a message, as far as the facilitator believes it.

    friends: the agents that are expected to gain most, the helper only if nobody else gains. goal: what the first of
    them wants, if that is to be stated. sure: whether the message helps whatever they want. needed: whether they would
    not get there without it. saves: E[steps saved]. probability: that of the stated goal, 0 if none is stated.
    """

    friends: tuple[str, ...]
    goal: Hashable | None
    sure: bool
    needed: bool
    saves: float
    probability: float = 0.0


class MessageUtility(NamedTuple, Generic[F]):
    """A message, U(f), the steps that it is expected to save, and div(f), how much it would change.

    helps: the probability that it saves any steps. gains: the steps that each agent is expected to save, in the agents'
    order. needed: the probability that each agent gets what it wants with the message only. worth: U(f) times the
    probability that it is followed, minus its cost, in steps.
    """

    message: F
    saves: float
    changes: float
    helps: float
    gains: tuple[float, ...]
    needed: tuple[float, ...]
    worth: float


@dataclass(frozen=True)
class Decision(Generic[F]):
    """A facilitator's decision: the message (None: silence), its words or the reason for silence, and all utilities."""

    message: F | None = None
    words: str = ""
    silence: str = ""
    utilities: tuple[MessageUtility[F], ...] = ()
    reason: Reason | None = None


def latest_status(statuses: Iterable[Status]) -> Status | None:
    """The last status that is final, else whether a message is under way; None if there is none."""
    history = tuple(statuses)
    return next((status for status in reversed(history) if status != "running"), "running" if history else None)


class Facilitator(Protocol[S_contra, A_contra, F]):
    """Watches all agents and decides after every step whether to send a message. Immutable. (ProToM §3.)

    several: whether it may send a message to one agent while another carries one out.
    """

    @property
    def several(self) -> bool:
        """Whether more than one message may be under way."""

    def watch(self, joint: Mapping[str, A_contra], after: S_contra) -> Self:
        """The facilitator after the agents have taken a joint action that led to `after`."""

    def decide(self, state: S_contra, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message to send in this state, with `left` steps to go, or the reason to send none."""

    def tell(self, message: F, state: S_contra) -> Self:
        """The facilitator after its message was delivered in this state."""

    def doubts(self, message: F) -> bool:
        """Whether it is sure that this message, which is under way, is not being followed."""

    def dismiss(self, message: F) -> Self:
        """The facilitator after this message was ignored."""

    def accept(self, message: F) -> Self:
        """The facilitator after the helper has said that it follows this message."""

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """P(goal) for each agent; empty if the facilitator infers no goals."""

    def surprise(self, joint: Mapping[str, A_contra]) -> Mapping[str, float]:
        """How surprising each agent's action is to it, in nats, before it watches; empty if it infers no goals."""


@dataclass(frozen=True)
class SilentFacilitator:
    """The facilitator that never sends a message."""

    several: ClassVar = False

    def watch(self, joint: Mapping[str, Any], after: Any) -> Self:
        """Unchanged: it learns nothing."""
        return self

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """Silence."""
        return Decision(silence="there is no facilitator")

    def tell(self, message: Any, state: Any) -> Self:
        """Unchanged: it remembers nothing."""
        return self

    def doubts(self, message: Any) -> bool:
        """False: it does not know."""
        return False

    def dismiss(self, message: Any) -> Self:
        """Unchanged: it remembers nothing."""
        return self

    def accept(self, message: Any) -> Self:
        """Unchanged: it remembers nothing."""
        return self

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """Empty."""
        return {}

    def surprise(self, joint: Mapping[str, Any]) -> Mapping[str, float]:
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

    `statuses` are the new statuses of messages that were under way; `ms` the milliseconds that inferring and deciding
    took; `surprise` says how surprising the actions are to the facilitator, in nats.
    """

    __repr__ = brief

    state: S
    beliefs: Mapping[str, Categorical[Hashable]]
    decision: Decision[F]
    statuses: Mapping[F, Status]
    ms: float
    joint: Mapping[str, A]
    after: S
    surprise: Mapping[str, float]

    @property
    def status(self) -> Status | None:
        """The status of the message under way; of several, the last that has ended."""
        return latest_status(self.statuses.values())


@dataclass
class FacilitatedEpisode(Generic[S, A, F]):
    """Runs minds forward in a world beside a facilitator; iterating plays the episode and yields one Moment a step.

    The helper follows a message with probability `obedience`, else ignores it. What is said changes no draw of
    `people_rng` from which actions come, so that episodes differ by their messages alone. An agent that carries out a
    message gets no other, and nobody does unless the facilitator may send `several` (ProToM §3.2). A message is ignored
    if the facilitator is sure that it is, or if it has not been carried out PATIENCE steps after it could have been.
    The facilitator first decides after the first step. `under_way` has each helper's message and the step at which it
    counts as ignored, `statuses` what came of messages in the latest step.

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
    under_way: dict[str, tuple[F, int]] = field(default_factory=dict, init=False)
    statuses: dict[F, Status] = field(default_factory=dict, init=False)

    @property
    def status(self) -> Status | None:
        """The status of the message under way; of several, the last that has ended."""
        return latest_status(self.statuses.values())

    def __iter__(self) -> Iterator[Moment[S, A, F]]:
        """Play the episode: its moments, one for each step, until the world is done or the horizon is reached."""
        state = self.world.start(self.people_rng)
        self.look(state)
        decision = Decision[F](silence=BEFORE_FIRST_STEP)
        ms = 0.0
        for t in range(1, self.horizon + 1):
            if self.world.done(state):
                return
            joint = self.choose()
            after = self.world.step(state, joint, self.people_rng)
            beliefs, surprise = self.facilitator.beliefs(), self.facilitator.surprise(joint)
            yield Moment(state, beliefs, decision, self.statuses, ms, joint, after, surprise)
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
        minds = {a: mind.observe(self.world.observe(state, a)) for a, mind in self.minds.items()}
        self.minds = {a: without_finished_errand(mind) for a, mind in minds.items()}

    def choose(self) -> dict[str, A]:
        """The joint action, drawn from the minds in the order of the agents."""
        return {agent: mind.act().sample(self.people_rng) for agent, mind in self.minds.items()}

    def watch(self, joint: Mapping[str, A], state: S, t: int) -> None:
        """Show the facilitator the joint action of step t, and update the statuses of messages under way."""
        self.facilitator = self.facilitator.watch(joint, state)
        self.statuses = {}
        for message, deadline in list(self.under_way.values()):
            status: Status = self.messages.status(state, message)
            if status == "running" and (t >= deadline or self.facilitator.doubts(message)):
                self.ignore(message)
            else:
                self.statuses[message] = status
                if status != "running":
                    del self.under_way[self.messages.helper(message)]

    def ignore(self, message: F) -> None:
        """End a message under way: its helper does not follow it."""
        self.facilitator = self.facilitator.dismiss(message)
        self.statuses[message] = "ignored"
        del self.under_way[self.messages.helper(message)]

    def accept(self, message: F) -> None:
        """Let the facilitator know that the helper says it follows a message under way."""
        self.facilitator = self.facilitator.accept(message)

    def decide(self, state: S, t: int) -> Decision[F]:
        """The facilitator's decision after step t; silence at the end, and where only one message may be under way."""
        if self.world.done(state) or t == self.horizon:
            return Decision(silence="the episode is over")
        if self.under_way and not self.facilitator.several:
            return Decision(silence="a message is under way")
        return self.facilitator.decide(state, self.horizon - t, self.facilitator_rng)

    def tell(self, message: F, state: S, t: int) -> None:
        """Deliver the message after step t: the facilitator expects the helper to follow it; the helper may do so."""
        helper = self.messages.helper(message)
        self.under_way[helper] = (message, t + self.messages.effort(state, message) + PATIENCE)
        self.facilitator = self.facilitator.tell(message, state)
        (rng,) = self.people_rng.spawn(1)  # takes no draw from the actions
        if helper in self.minds and rng.random() < self.obedience:
            mind = own_mind(self.minds[helper])
            self.minds = {**self.minds, helper: WithErrand(mind, self.messages.errand(state, message, mind))}
