"""Episodes in which somebody looks on and may say something: people with goals of their own, and a facilitator."""

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
PATIENCE = 10
FIRST = "nobody has done anything yet"


class Messages(Protocol[S_contra, A, F]):
    """All that a facilitator needs to know of a particular world: what can be said there, and to what effect."""

    def candidates(self, state: S_contra) -> Sequence[F]:
        """Every message that could be followed in this state."""
        ...

    def helper(self, message: F) -> str:
        """The agent to whom the message is addressed."""
        ...

    def errand(self, message: F, mind: GoalDirected[A]) -> GoalDirected[A]:
        """The mind of somebody as rational as `mind` who does as the message says and wants nothing else."""
        ...

    def status(self, state: S_contra, message: F) -> Status:
        """Whether what the message asks for is yet to be done, is done, or can no longer be done."""
        ...

    def effort(self, state: S_contra, message: F) -> int:
        """How many steps it takes to do as the message says."""
        ...

    def length(self, state: S_contra, minds: Sequence[GoalDirected[A]], message: F | None, horizon: int) -> int:
        """C(f, g): how long people with these minds take if the message is followed first; at most `horizon`."""
        ...

    def explain(self, state: S_contra, message: F, goals: Goals) -> str:
        """The message in words, with the reason for it, given the goals that people are believed to have."""
        ...

    def address(self, message: F) -> str:
        """The message in short, beginning with who is asked: what logs and tables show."""
        ...


class Price(NamedTuple, Generic[F]):
    """What a message is worth: U(f), the steps it saves in expectation, and div(f), how much it would change."""

    message: F
    saves: float
    changes: float


@dataclass(frozen=True)
class Decision(Generic[F]):
    """What a facilitator says (None: nothing), in what words, or why it stays silent, and what it compared."""

    message: F | None = None
    words: str = ""
    silence: str = ""
    prices: tuple[Price[F], ...] = ()


class Facilitator(Protocol[S_contra, A_contra, F]):
    """Watches everybody and decides, after every step, whether to say something. Immutable. (ProToM §3.)"""

    def watch(self, joint: Mapping[str, A_contra], after: S_contra) -> Self:
        """The facilitator after everybody has acted."""
        ...

    def decide(self, state: S_contra, left: int, rng: np.random.Generator) -> Decision[F]:
        """What to say in this state, with `left` steps to go."""
        ...

    def tell(self, message: F | None) -> Self:
        """The facilitator after the message has been passed on; None: the last one has been ignored."""
        ...

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """P(goal) for every agent; empty for a facilitator that does not infer any."""
        ...


@dataclass(frozen=True)
class SilentFacilitator:
    """Never says anything."""

    def watch(self, joint: Mapping[str, Any], after: Any) -> Self:
        """Nothing is learnt."""
        return self

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """Nothing."""
        return Decision(silence="there is no facilitator")

    def tell(self, message: Any) -> Self:
        """Nothing is remembered."""
        return self

    def beliefs(self) -> Mapping[str, Categorical[Hashable]]:
        """None."""
        return {}


@dataclass(frozen=True)
class RandomFacilitator(SilentFacilitator):
    """Says something feasible at random, half of the time (ProToM §4.2, random facilitator)."""

    messages: Messages[Any, Any, Any]
    talkativeness: float = 0.5

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """A uniform choice among all candidate messages, with probability `talkativeness`."""
        candidates = self.messages.candidates(state)
        if not candidates:
            return Decision(silence="nobody could do anything for anybody")
        if rng.random() >= self.talkativeness:
            return Decision(silence="it chose to say nothing")
        return Decision(candidates[int(rng.integers(len(candidates)))], words="No reason given.")


@dataclass(frozen=True)
class Moment(Generic[S, A, F]):
    """One step of an episode: where things stood, what the facilitator believed and said, what everybody did then.

    `status` tells what has just become of a message said earlier; `ms` is how long inferring and deciding took.
    """

    state: S
    beliefs: Mapping[str, Categorical[Hashable]]
    decision: Decision[F]
    status: Status | None
    ms: float
    joint: Mapping[str, A]
    after: S


@dataclass
class Episode(Generic[S, A, F]):
    """People run forward in a world, with a facilitator at their side; iterate to play, one Moment a step.

    Whoever is told something does it first with probability `obedience`, and else carries on. While a message is
    under way the facilitator says nothing else (ProToM §3.2); one that has not been carried out ten steps after it
    could have been counts as ignored. The facilitator first decides after everybody has acted once. `message` is
    the one under way, `status` what has just become of it. The steps of which the iteration consists can also be
    taken one by one, by whoever gets the actions from elsewhere: `minds` may then leave some people out.
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
        decision: Decision[F] = Decision(silence=FIRST)
        ms = 0.0
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
        """Everybody sees what there is for them to see."""
        seen = {a: mind.observe(self.world.observe(state, a)) for a, mind in self.minds.items()}
        self.minds = {a: without_finished_errand(mind) for a, mind in seen.items()}

    def choose(self) -> dict[str, A]:
        """What everybody does next."""
        return {agent: mind.act().sample(self.people_rng) for agent, mind in self.minds.items()}

    def watch(self, joint: Mapping[str, A], state: S, t: int) -> None:
        """The facilitator sees what everybody did in step t, and what has become of its message."""
        self.facilitator = self.facilitator.watch(joint, state)
        self.status = self._follow_up(state, t)

    def _follow_up(self, state: S, t: int) -> Status | None:
        """What has become of the message under way; it is forgotten unless it is still running."""
        if self.message is None:
            return None
        status = self.messages.status(state, self.message)
        if status == "running" and t < self._deadline:
            return status
        if status == "running":
            status = "ignored"
            self.facilitator = self.facilitator.tell(None)
        self.message = None
        return status

    def decide(self, state: S, t: int) -> Decision[F]:
        """What the facilitator says after step t, if anything."""
        if self.world.done(state) or t == self.horizon:
            return Decision(silence="the episode is over")
        if self.message is not None:
            return Decision(silence="a message is under way")
        return self.facilitator.decide(state, self.horizon - t, self.facilitator_rng)

    def tell(self, message: F, state: S, t: int) -> None:
        """The message is passed on after step t: the facilitator expects it to be followed, and perhaps it is."""
        helper = self.messages.helper(message)
        self.message, self._deadline = message, t + self.messages.effort(state, message) + PATIENCE
        self.facilitator = self.facilitator.tell(message)
        if helper in self.minds and self.people_rng.random() < self.obedience:
            mind = own_mind(self.minds[helper])
            self.minds = {**self.minds, helper: WithErrand(mind, self.messages.errand(message, mind))}
