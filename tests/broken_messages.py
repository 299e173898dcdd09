"""Goal-directed minds and messages as they should be, and those that break one promise each, with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from broken_minds import Walker
from broken_worlds import Board, Place, Plank
from otherminds import Categorical, RolledOutMessages, Suggestion
from strategies import generator

# Goal-directed minds


class Wanting(Walker):
    """Walks with the wind and wants the shore, which it never reaches."""

    goal: Any = "shore"
    reached: Any = False
    over: Any = False
    particle: Any = 0


def wanting(**parts: Any) -> Any:
    """The same with other parts."""
    return type("Broken", (Wanting,), parts)()


DICE = generator()
BROKEN_GOALS: Mapping[str, tuple[Any, str]] = {
    "a_class": (Wanting, r"Wanting: it is a class \(check an object, Wanting"),
    "no_act": (type("Broken", (), {"observe": Walker.observe})(), r"Broken: it has no method act\(\) \(define it"),
    "sees_nothing": (wanting(observe=lambda self: self), "Broken.observe: too many positional arguments .*as observe"),
    "an_action_as_policy": (wanting(act=lambda self: "stay"), "Broken.act: 'stay' is no distribution .*Categorical"),
    "no_goal": (Walker(), "Walker: it has no property `goal`"),
    "a_list_of_goals": (wanting(goal=["shore"]), "Broken.goal: unhashable type: 'list'"),
    "a_method": (wanting(reached=lambda self: False), "Broken.reached: it is a method .*@property"),
    "reached_is_a_number": (wanting(reached=0.0), "Broken.reached: 0.0 is no bool"),
    "over_is_nothing": (wanting(over=None), "Broken.over: None is no bool"),
    "reached_but_not_over": (wanting(reached=True), "Broken.over: the goal is reached and not over"),
    "particle_is_a_name": (wanting(particle="first"), "Broken.particle: 'first' is no whole number"),
    "changes_its_goal": (
        wanting(goal=property(lambda self: int(DICE.integers(10**6)))),
        "Broken.goal: it changed when the mind",
    ),
}

# Messages


class OpenPlank(Plank):
    """A plank on which everybody sees everything."""

    def observe(self, state: Any, agent: str) -> Any:
        return state


@dataclass(frozen=True)
class Goer:
    """Goes to a square of the plank and stays there."""

    agent: str
    goal: int
    state: Any = None
    particle: int = 0

    def observe(self, obs: Any, /) -> Any:
        return replace(self, state=obs)

    @property
    def distance(self) -> int:
        here: int = self.state.where[("Ana", "Ben").index(self.agent)]
        return self.goal - here

    def act(self) -> Any:
        return Categorical.uniform([("left", "stay", "right")[1 + int(np.sign(self.distance))]])

    @property
    def reached(self) -> bool:
        return self.distance == 0

    @property
    def over(self) -> bool:
        return self.reached


OPEN = OpenPlank()
GOERS = {"Ana": Goer("Ana", 2), "Ben": Goer("Ben", 0)}
COME = Suggestion("Ben", "Ana", Goer("Ben", 1), "come to the middle")


def messages(*suggestions: Suggestion[str], **parts: Any) -> Any:
    """Ben may be asked to come to the middle, or these suggestions; with other methods."""
    made: Any = type("Broken", (RolledOutMessages,), parts)
    return made(OPEN, suggestions or [COME])


def with_errand(errand: Any) -> Any:
    """Messages that can always be followed, with this errand."""
    fixed = {"errand": lambda self, *_: errand, "effort": lambda self, *_: 1, "status": lambda self, *_: "running"}
    return messages(**fixed)


def changing(self: Any, state: Any, message: Any) -> int:
    state.t += 1
    return 3


def boards() -> Any:
    """The plank with states that can be changed."""
    return type("Boards", (OpenPlank,), {"start": lambda self, rng: Board()})()


BROKEN_MESSAGES: Mapping[str, tuple[Any, str]] = {
    "a_class": (RolledOutMessages, "RolledOutMessages: it is a class"),
    "no_effort": (messages(effort=None), r"Broken: it has no method effort\(state, message\)"),
    "no_candidates": (messages(candidates=lambda self, state: None), "candidates: None is no sequence of messages"),
    "one_candidate": (messages(candidates=lambda self, state: "come"), "candidates: 'come' is no sequence"),
    "candidates_as_they_come": (
        messages(candidates=lambda self, state: (x for x in (COME,))),
        r"candidates: <generator .* is no sequence of messages \(return a list or a tuple",
    ),
    "never_anything_to_say": (messages(candidates=lambda self, state: []), "candidates: no message in 40 steps"),
    "unhashable": (messages(candidates=lambda self, state: [["come"]]), "candidates: unhashable type: 'list'"),
    "twice": (messages(candidates=lambda self, state: [COME, COME]), "candidates: a message comes twice"),
    "at_random": (
        messages(candidates=lambda self, state: [COME][int(DICE.integers(2)) :]),
        "candidates: two answers to one question",
    ),
    "done_already": (
        messages(candidates=lambda self, state: self.suggestions),
        r"candidates: the status of Suggestion.* is completed \(name messages that can be followed now",
    ),
    "helper_by_number": (messages(helper=lambda self, message: 1), "helper: 1 is no name of an agent"),
    "friend_outside": (messages(friend=lambda self, message: "Cem"), "friend: 'Cem' is no name of an agent"),
    "errand_in_words": (with_errand("go"), "errand: 'go' is no goal-directed mind"),
    "errand_that_has_seen_nothing": (
        with_errand(Goer("Ben", 1)),
        "errand: its mind cannot act in the state, AttributeError: .* has observed the state",
    ),
    "errand_without_a_goal": (with_errand(Walker((1, 1))), "Walker: it has no property `goal`"),
    "errand_over_at_once": (with_errand(Goer("Ben", 1, Place((0, 1)))), "errand: Goer.* is over at once"),
    "errand_of_nobody": (
        with_errand(type("Jumper", (Goer,), {"act": lambda self: Categorical.uniform(["jump"])})("Ben", 1, Place())),
        "errand: it does 'jump', and Ben can do .*mind of the helper",
    ),
    "status_of_ones_own": (
        messages(status=lambda self, state, message: "open", candidates=lambda self, state: [COME]),
        "status: 'open' is no status",
    ),
    "effort_in_fractions": (messages(effort=lambda self, state, message: 2.5), "effort: 2.5 is no number of steps"),
    "effort_below_zero": (messages(effort=lambda self, state, message: -1), "effort: -1 is no number of steps"),
    "finish_for_one": (messages(finish=lambda self, state, minds, horizon: (3,)), r"finish: \(3,\) is no tuple"),
    "finish_at_once": (messages(finish=lambda self, state, minds, horizon: 3), "finish: 3 is no tuple of steps"),
    "finish_never": (
        messages(finish=lambda self, state, minds, horizon: (0, 500)),
        r"finish: \(0, 500\) is no tuple of steps up to the horizon \(return a min\(steps, horizon\)",
    ),
    "finish_in_the_past": (messages(finish=lambda self, state, minds, horizon: (-1, 0)), r"finish: \(-1, 0\)"),
    "finish_after_the_goal": (
        messages(finish=lambda self, state, minds, horizon: (1, 1)),
        "finish: 1 steps for (Ana|Ben), whose goal is reached",
    ),
    "explain_without_reasons": (
        messages(explain=lambda self, state, message: "please"),
        "explain: got an unexpected keyword argument 'friends' .*define it as explain",
    ),
    "explain_nothing": (messages(explain=lambda self, state, message, **reason: None), "explain: None is no sentence"),
    "address_without_a_name": (messages(address=lambda self, message: "come"), "address: 'come' is no text that begi"),
}
