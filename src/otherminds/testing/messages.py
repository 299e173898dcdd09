"""Conformance of messages: what a facilitator may say, whom it asks, and what that would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.mind import GoalDirected, WithErrand, own_mind, without_finished_errand
from otherminds.testing.minds import CLOSE, goal_facts
from otherminds.testing.worlds import (
    AnyWorld,
    ConformanceError,
    check_hashable,
    check_methods,
    demand,
    of,
    short,
)


class _Method(NamedTuple):
    """A method of `Messages`: its parameters, what its answer has to be, and how to return that."""

    parameters: str
    kind: str
    mend: str


AGENT = "name of an agent", "return one of the world's agents"
METHODS = {
    "candidates": _Method("state", "sequence of messages", "return a list or a tuple"),
    "helper": _Method("message", *AGENT),
    "friend": _Method("message", *AGENT),
    "errand": _Method("state, message, mind", "goal-directed mind", "return a mind that has observed the state"),
    "status": _Method("state, message", "status", "return running, completed, impossible or ignored"),
    "effort": _Method("state, message", "number of steps", "return a whole number, 0 or more"),
    "finish": _Method(
        "state, minds, horizon", "tuple of steps up to the horizon", "return a min(steps, horizon) for each mind"
    ),
    "explain": _Method("state, message, *, friends, goal, sure, needed, saves", "sentence", "return a str"),
    "address": _Method("message", "text that begins with the helper's name", "return helper: words"),
}
STATUSES = ("running", "completed", "impossible", "ignored")
SHORT_HORIZON = 2  # steps within which most agents are not done, so that forecasts have to be capped

Minds = Mapping[str, GoalDirected[Any]]


def check_messages(
    messages: Any, world: AnyWorld, minds: Minds, *, horizon: int = 80, seed: int = 0, steps: int = 40
) -> None:
    """Check in `steps` steps that `messages` are `Messages` of a world, while `minds` play and follow some of them.

    All methods are there. Candidates are a sequence of different hashable messages that can be followed now. The helper
    and the friend are agents. The errand is a goal-directed mind of the helper that can act in the state and is not
    over. A status is one of four, an effort a number of steps. `finish` gives for each mind a number of steps, at most
    the horizon, and 0 if its goal is reached. `explain` takes the fields of a `Reason` and returns a text, and so does
    `address`, which begins with the helper's name. Nothing changes the state, and all answers are the same when asked
    again. Raises ConformanceError for the first requirement that is violated, for an agent without a mind, and if there
    is never a message.
    """
    check_methods(messages, **{name: method.parameters for name, method in METHODS.items()})
    for agent in world.agents:
        demand(agent in minds, "minds", f"there is none for {agent}", "give a mind for every agent")
    rng, seen, t = np.random.default_rng(seed), dict[Any, None](), 0
    while t < steps:
        state, present = world.start(rng), minds
        t += world.done(state)
        while t < steps and not world.done(state):
            present = {a: without_finished_errand(m.observe(world.observe(state, a))) for a, m in present.items()}
            moment = _Moment(messages, world, state, present)
            seen |= dict.fromkeys(candidates := moment.candidates())
            for message in seen:
                moment.status(message)
            if candidates:
                message = candidates[int(rng.integers(len(candidates)))]
                helper = messages.helper(message)
                helped = {**present, helper: moment.with_errand(message, helper)}
                moment.check_effects(message, helped, horizon)
                present = helped if rng.random() < 0.5 else present
            state = world.step(state, {agent: mind.act().sample(rng) for agent, mind in present.items()}, rng)
            t += 1
    mend = "check them where an agent can do something for another"
    demand(bool(seen), of(messages, "candidates"), f"no message in {steps} steps", mend)


@dataclass(frozen=True)
class _Moment:
    """Messages, asked in one state, in which the agents have these minds."""

    messages: Any
    world: AnyWorld
    state: Any
    minds: Minds

    def answer(self, method: str, *arguments: Any, **named: Any) -> Any:
        """The answer of a method that must leave the state alone, and its arguments."""
        before = hash(self.state), repr(self.state)
        answer = getattr(self.messages, method)(*arguments, **named)
        same = (hash(self.state), repr(self.state)) == before
        demand(same, of(self.messages, method), "it changed the state it was given", "leave it alone")
        return answer

    def demand(self, holds: bool, method: str, answer: Any) -> None:
        """Raise ConformanceError unless an answer is what the method has to return."""
        _, kind, mend = METHODS[method]
        demand(holds, of(self.messages, method), f"{short(answer)} is no {kind}", mend)

    def demand_same(self, method: str, answer: Any, *arguments: Any, **named: Any) -> None:
        """Raise ConformanceError unless a method answers as before."""
        same = self.answer(method, *arguments, **named) == answer
        demand(same, of(self.messages, method), "two answers to one question", "let it depend on its arguments alone")

    def candidates(self) -> Sequence[Any]:
        """The messages that can be sent, each checked alone."""
        subject = of(self.messages, "candidates")
        candidates: Sequence[Any] = self.answer("candidates", self.state)
        is_list = isinstance(candidates, Sequence) and not isinstance(candidates, str)
        self.demand(is_list, "candidates", candidates)
        for message in candidates:
            check_hashable(subject, message)
        demand(len(set(candidates)) == len(candidates), subject, "a message comes twice", "name each message once")
        self.demand_same("candidates", candidates, self.state)
        for message in candidates:
            helper, friend = self.answer("helper", message), self.answer("friend", message)
            self.demand(helper in self.world.agents, "helper", helper)
            self.demand(friend in self.world.agents, "friend", friend)
            address = self.answer("address", message)
            self.demand(isinstance(address, str) and address.startswith(helper), "address", address)
            broken = f"the status of {short(message)} is {self.status(message)}"
            demand(self.status(message) == "running", subject, broken, "name messages that can be followed now")
            effort = self.answer("effort", self.state, message)
            self.demand(_is_count(effort), "effort", effort)
            self.demand_same("effort", effort, self.state, message)
        return candidates

    def status(self, message: Any) -> str:
        """The status of a message, one of four."""
        status = self.answer("status", self.state, message)
        self.demand(status in STATUSES, "status", status)
        self.demand_same("status", status, self.state, message)
        return str(status)

    def with_errand(self, message: Any, helper: str) -> WithErrand[Any]:
        """The mind of the helper once it follows the message."""
        own = own_mind(self.minds[helper])
        errand, subject = self.answer("errand", self.state, message, own), of(self.messages, "errand")
        self.demand(hasattr(errand, "observe") and hasattr(errand, "act"), "errand", errand)
        try:
            policy, facts = errand.act(), goal_facts(errand)
        except ConformanceError:
            raise
        except Exception as error:
            broken = f"its mind cannot act in the state, {type(error).__name__}: {short(error)}"
            raise ConformanceError(f"{subject}: {broken} ({METHODS['errand'].mend})") from error
        demand(not facts.over, subject, f"{short(errand)} is over at once", "name messages that can be followed now")
        legal = self.world.actions(self.state, helper)
        if isinstance(policy, Categorical):
            broken = f"it does {short(policy.mode)}, and {helper} can do {short(legal)}"
            demand(sum(map(policy.prob, legal)) > CLOSE, subject, broken, "return a mind of the helper")
        return WithErrand(own, errand)

    def check_effects(self, message: Any, helped: Minds, horizon: int) -> None:
        """Check what the message would change, and its words."""
        for minds in (self.minds, helped):
            listed = [minds[agent] for agent in self.world.agents]
            for most in (horizon, SHORT_HORIZON):
                steps = self.answer("finish", self.state, listed, most)
                is_row = isinstance(steps, Sequence) and len(steps) == len(listed)
                self.demand(is_row and all(_is_count(n) and n <= most for n in steps), "finish", steps)
                self.demand_same("finish", steps, self.state, listed, most)
                for agent, mind, n in zip(self.world.agents, listed, steps, strict=True):
                    broken = f"{n} steps for {agent}, whose goal is reached"
                    demand(not mind.reached or n == 0, of(self.messages, "finish"), broken, "return 0 for it")
        friend = self.messages.friend(message)
        for goal in (None, self.minds[friend].goal):
            reason = {"friends": (friend,), "goal": goal, "sure": goal is None, "needed": False, "saves": 1.5}
            words = self.answer("explain", self.state, message, **reason)
            self.demand(isinstance(words, str), "explain", words)


def _is_count(number: object) -> bool:
    """Whether a number of steps could be this."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and bool(number >= 0)
