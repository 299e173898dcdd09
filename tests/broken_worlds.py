"""A world as it should be, and worlds that break one promise each, with what they are to be told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from otherminds.distribution import point_mass
from strategies import generator


class Place(NamedTuple):
    """Where both are on a short plank, which way the wind blows, and how much time has passed."""

    where: tuple[int, int] = (0, 0)
    wind: int = 0
    t: int = 0


@dataclass
class Plank:
    """Two people on a plank of three squares, for six steps: a world as it should be, to be broken in one way each."""

    agents: Any = ("Ana", "Ben")
    vocabulary: Any = None
    latest: Any = 0
    own: np.random.Generator = field(default_factory=generator)

    def start(self, rng: np.random.Generator, /) -> Any:
        return Place(wind=int(rng.integers(100)))

    def actions(self, state: Any, agent: str) -> Any:
        here = state.where[self.agents.index(agent)]
        return ("stay", *(["left"] * (here > 0)), *(["right"] * (here < 2)))

    def step(self, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
        for agent, action in joint.items():
            if action not in self.actions(state, agent):
                raise ValueError(f"{agent} cannot go {action}")
        moves = [{"left": -1, "stay": 0, "right": 1}[joint[agent]] for agent in self.agents]
        where = (state.where[0] + moves[0], state.where[1] + moves[1])
        return Place(where, int(rng.integers(100)), state.t + 1)

    def observe(self, state: Any, agent: str) -> Any:
        return state.where[self.agents.index(agent)], state.wind

    def reward(self, state: Any, joint: Any, after: Any) -> Any:
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: Any) -> Any:
        return state.t >= 6

    def spell(self, action: Any) -> str:
        return f"go {action}"


def broken(**parts: Any) -> Plank:
    """A plank with other methods."""
    made: Plank = type("Broken", (Plank,), parts)()
    return made


@dataclass(unsafe_hash=True)
class Board:
    """A state that can be changed."""

    where: tuple[int, int] = (0, 0)
    wind: int = 0
    t: int = 0


class Nobody:
    """A state that is equal to nothing but itself."""

    where, wind, t = (0, 0), 0, 0

    def __hash__(self) -> int:
        return 0


class Sly:
    """A state that changes where nobody looks."""

    where, wind, t = (0, 0), 0, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sly)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Sly"


def blown(self: Plank, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
    state.t += 1
    return state


def recalling(self: Plank, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
    self.latest = max(self.latest, state.t)
    return Place(state.where, self.latest, state.t + 1)


def watching(self: Plank, state: Any, agent: str) -> Any:
    self.latest = max(self.latest, state.t)
    return self.latest


def lagging(self: Plank, state: Any, agent: str) -> Any:
    before, now = self.latest or (0, 0)
    if state.t != now:
        self.latest = before, now = now, state.t
    return before if state.t else 0


def careless(self: Plank, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
    moves = {"Ana": {"stay": 0, "right": 1}, "Ben": {"stay": 0, "right": 1, "left": -1}}
    ana = min(2, moves["Ana"][joint["Ana"]] if state.where[0] == 0 else 2)
    return Place((ana, 0), 0, state.t + 1)


def emptied(self: Plank, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
    joint.pop("Ana")
    return Place(state.where, 0, state.t + 1)


def absurd(self: Plank, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
    try:
        return Plank.step(self, state, joint, rng)
    except ValueError:
        return [state]


BROKEN_WORLDS: Mapping[str, tuple[Any, str]] = {
    "agents_in_a_list": (Plank(agents=["Ana", "Ben"]), "Plank.agents: .* is no tuple of different names"),
    "nobody": (Plank(agents=()), "agents: .* is no tuple of different names"),
    "twins": (Plank(agents=("Ana", "Ana")), "agents: .* is no tuple of different names"),
    "start_by_own_chance": (
        broken(start=lambda self, rng: Place(wind=int(self.own.integers(100)))),
        "Broken.start: equal generators gave different states",
    ),
    "start_equal_to_nothing": (broken(start=lambda self, rng: Nobody()), "start: equal generators gave different"),
    "start_unhashable": (broken(start=lambda self, rng: [0]), r"start: unhashable type: 'list' \(make it a frozen"),
    "over_at_once": (broken(done=lambda self, state: True), "done: it is over before it begins"),
    "done_is_a_number": (broken(done=lambda self, state: state.t // 6), "done: 0 is no bool"),
    "done_at_random": (
        broken(done=lambda self, state: bool(self.own.integers(2)) and state.t > 1),
        "done: two answers",
    ),
    "actions_in_a_list": (broken(actions=lambda self, state, agent: ["stay"]), "actions: unhashable type: 'list'"),
    "actions_in_a_set": (broken(actions=lambda self, state, agent: frozenset({"stay"})), "actions: .* is no tuple"),
    "no_actions": (broken(actions=lambda self, state, agent: ()), r"actions: \(\) is no tuple of different actions"),
    "an_action_twice": (broken(actions=lambda self, state, agent: ("stay", "stay")), "actions: .* is no tuple of diff"),
    "actions_at_random": (
        broken(actions=lambda self, state, agent: (int(self.own.integers(10**6)),)),
        "actions: two answers for the same state",
    ),
    "view_unhashable": (broken(observe=lambda self, state, agent: {"wind": 1}), "observe: unhashable type: 'dict'"),
    "view_at_random": (
        broken(observe=lambda self, state, agent: int(self.own.integers(10**6))),
        "observe: two answers for the same state .*draw nothing",
    ),
    "view_of_the_past": (broken(observe=watching), "observe: two answers for the same state .*remembers"),
    "view_of_the_one_before": (broken(observe=lagging), "observe: two answers for the same state .*remembers"),
    "step_changes_its_state": (
        broken(start=lambda self, rng: Board(), step=blown),
        "step: it changed the state it was given",
    ),
    "step_changes_its_state_in_secret": (
        broken(
            start=lambda self, rng: Sly(),
            step=blown,
            observe=lambda self, state, agent: state.t,
        ),
        "step: it changed the state it was given",
    ),
    "step_changes_the_joint_action": (broken(step=emptied), "step: it changed the joint action it was given"),
    "step_by_own_chance": (
        broken(step=lambda self, state, joint, rng: Plank.step(self, state, joint, self.own)),
        "step: equal generators gave different states",
    ),
    "step_unhashable": (broken(step=lambda self, state, joint, rng: [state]), "step: unhashable type: 'list'"),
    "step_remembers": (broken(step=recalling), "step: the world remembers what was played"),
    "refusal_by_accident": (broken(step=careless), "step: KeyError for .*, which may not be done .*raise ValueError"),
    "refusal_without_sense": (broken(step=absurd), "step: unhashable type: 'list'"),
    "a_class": (Plank, r"Plank: it is a class \(check an object, Plank"),
    "no_done": (broken(done=None), r"Broken: it has no method done\(state\) \(define it"),
    "start_without_chance": (
        broken(start=lambda self: Place()),
        r"start: too many positional arguments \(define it as start\(rng\)",
    ),
    "step_without_chance": (
        broken(step=lambda self, state, joint: state),
        r"step: too many positional arguments \(define it as step\(state, joint, rng\)",
    ),
    "agents_forgotten": (Plank(agents=None), "agents: None is no tuple of different names"),
    "start_returns_nothing": (broken(start=lambda self, rng: None), "start: it returned None"),
    "step_returns_nothing": (broken(step=lambda self, state, joint, rng: None), "step: it returned None"),
    "reward_as_a_number": (broken(reward=lambda self, state, joint, after: 1.0), "reward: it is 1.0 .*return a dict"),
    "reward_for_one": (broken(reward=lambda self, state, joint, after: {"Ana": 1.0}), "reward: it is {'Ana': 1.0}"),
    "reward_for_strangers": (
        broken(reward=lambda self, state, joint, after: dict.fromkeys(("Ana", "Ben", "Cem"), 0.0)),
        "reward: it is .*'Cem'.* nobody else",
    ),
    "reward_infinite": (
        broken(reward=lambda self, state, joint, after: dict.fromkeys(self.agents, math.nan)),
        "reward: it is .*nan.* finite number",
    ),
    "reward_at_random": (
        broken(reward=lambda self, state, joint, after: dict.fromkeys(self.agents, self.own.random())),
        "reward: two answers for the same step",
    ),
    "words_for_something_else": (
        Plank(vocabulary={"go stay": "stay", "go left": "left", "go right": "left"}),
        "vocabulary: 'go right' does not stand for 'right'",
    ),
    "outcomes_miss_the_wind": (
        broken(outcomes=lambda self, state, joint: point_mass(self.step(state, joint, generator(1)))),
        "Broken.outcomes: `step` gives .*, to which it gives no probability",
    ),
    "outcomes_as_a_dict": (
        broken(outcomes=lambda self, state, joint: {}),
        "Broken.outcomes: `step` gives .*, to which it gives no probability .return a Categorical",
    ),
}
