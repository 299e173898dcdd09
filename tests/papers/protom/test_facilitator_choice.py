"""ProToM: which message it chooses by what rule, on messages and beliefs made up for the purpose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest
from scipy import stats

from otherminds.distribution import Categorical
from otherminds.mind import GoalDirected
from otherminds.observer import Observer
from otherminds.papers.protom.facilitator import ProToM
from otherminds.worlds.doors_keys_gems.rules import State
from strategies import generator, world_of

WORLD = world_of("a1 gr")
LEFT = 40


@dataclass(frozen=True)
class Wish:
    """Wants something and does nothing about it."""

    goal: str
    reached: bool = False
    over: bool = False
    particle: int = 0

    def observe(self, obs: object, /) -> Wish:
        return self

    def act(self) -> Categorical[str]:
        return Categorical.uniform(["wait"])


@dataclass(frozen=True)
class Table:
    """Messages to Ana, and the steps that they save depending on what she wants."""

    saves: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def candidates(self, state: object) -> Sequence[str]:
        return list(self.saves)

    def helper(self, message: str) -> str:
        return "Ana"

    def errand(self, message: str, mind: GoalDirected[Any]) -> GoalDirected[Any]:
        return mind

    def status(self, state: object, message: str) -> Any:
        return "running"

    def effort(self, state: object, message: str) -> int:
        return 1

    def length(self, state: object, minds: Sequence[GoalDirected[Any]], message: str | None, horizon: int) -> int:
        return 100 - (self.saves[message][str(minds[0].goal)] if message else 0)

    def explain(self, state: object, message: str, goals: tuple[Any, ...]) -> str:
        return f"{message}: {goals[0]}"

    def address(self, message: str) -> str:
        return f"Ana: {message}"


def thinking(beliefs: Mapping[str, Mapping[str, float]], saves: Any = None, **more: Any) -> ProToM[State, Any, str]:
    watchers: dict[str, Observer[GoalDirected[Any]]] = {
        agent: Observer(tuple(map(Wish, p)), tuple(map(math.log, p.values()))) for agent, p in beliefs.items()
    }
    return ProToM(WORLD, Table(saves or {}), watchers, **more)


def asked(saves: Mapping[str, Mapping[str, int]], x: float = 1.0, **more: Any) -> tuple[str | None, str]:
    belief_of_ana = {"x": x, "y": 1 - x} if x < 1 else {"x": 1.0}
    decision = thinking({"Ana": belief_of_ana}, saves, **more).decide(WORLD.initial, LEFT, generator())
    return decision.message, decision.silence or decision.words


# Which message is chosen


HARDLY = "the best message would hardly change what they do"


@pytest.mark.parametrize(
    ("saves", "more", "expected"),
    [
        ({}, {}, (None, "nobody could do anything for anybody")),
        ({"f": {"x": 0}}, {}, (None, "no message is expected to save any steps")),
        ({"f": {"x": -2}}, {}, (None, "no message is expected to save any steps")),
        ({"f": {"x": 3}}, {"phi": 3.0}, (None, "no message is expected to save more than 3 steps")),
        ({"f": {"x": 3}}, {"phi": 2.5}, ("f", "f: x")),
        ({"f": {"x": 3}}, {"epsilon": 1.0}, (None, HARDLY)),
        ({"f": {"x": 3}}, {"epsilon": 0.99}, ("f", "f: x")),
        ({"f": {"x": 2}, "g": {"x": 3}}, {}, ("g", "g: x")),
        ({"f": {"x": 30, "y": 0}, "g": {"x": 5, "y": 5}}, {"x": 0.3}, (None, HARDLY)),
        ({"f": {"x": 30, "y": 0}, "g": {"x": 5, "y": 5}}, {"x": 0.3, "epsilon": 0.2}, ("f", "f: y")),
        ({"f": {"x": 8, "y": 0}, "g": {"x": 4, "y": 4}}, {"x": 0.5, "epsilon": 0.6}, ("g", "g: x")),
    ],
)
def test_it_says_the_best_message_if_that_saves_and_changes_enough(
    saves: Mapping[str, Mapping[str, int]], more: dict[str, Any], expected: tuple[str | None, str]
) -> None:
    assert asked(saves, **({"epsilon": 0.4} | more)) == expected


def test_among_equally_good_messages_it_chooses_uniformly() -> None:
    facilitator = thinking({"Ana": {"x": 1.0}}, {"a": {"x": 5}, "b": {"x": 4}, "c": {"x": 5}, "d": {"x": 5}})
    rng = generator()
    heard = [facilitator.decide(WORLD.initial, LEFT, rng).message for _ in range(3000)]
    assert set(heard) == {"a", "c", "d"}
    assert stats.chisquare([heard.count(message) for message in "acd"]).pvalue > 0.01


# What everybody may want together


def test_two_people_are_not_thought_to_want_the_same_unless_they_may() -> None:
    beliefs = {"Ana": {"x": 0.5, "y": 0.5}, "Ben": {"x": 0.8, "y": 0.2}}
    apart = dict(thinking(beliefs).joint_goals(generator()))
    assert apart == pytest.approx({("x", "y"): 0.2, ("y", "x"): 0.8})
    free = dict(thinking(beliefs, distinct=False).joint_goals(generator()))
    assert free == pytest.approx({("x", "x"): 0.4, ("x", "y"): 0.1, ("y", "x"): 0.4, ("y", "y"): 0.1})


def test_those_who_can_only_want_the_same_are_thought_to() -> None:
    assert dict(thinking({"Ana": {"x": 1.0}, "Ben": {"x": 1.0}}).joint_goals(generator())) == {("x", "x"): 1.0}


def test_what_is_hardly_likely_of_somebody_is_left_out_before_people_are_told_apart() -> None:
    beliefs = {"Ana": {"x": 0.995, "y": 0.005}, "Ben": {"x": 1.0}}
    assert dict(thinking(beliefs).joint_goals(generator())) == {("x", "x"): 1.0}


def test_what_is_hardly_likely_of_all_together_is_left_out() -> None:
    beliefs = {"Ana": {"x": 0.992, "y": 0.008}, "Ben": {"x": 0.3, "z": 0.7}, "Cem": {"v": 0.99, "w": 0.01}}
    found = dict(thinking(beliefs, distinct=False).joint_goals(generator()))
    assert found == pytest.approx({("x", "x", "v"): 0.3, ("x", "z", "v"): 0.7})


MANY = {
    agent: {"a": 0.4, "b": 0.25, "c": 0.15, "d": 0.1, "e": 0.1} if agent < "C" else dict.fromkeys("abcde", 0.2)
    for agent in ("Ana", "Ben", "Cem", "Dan", "Eve")
}


@pytest.mark.parametrize("distinct", [True, False])
def test_where_there_are_too_many_possibilities_some_are_drawn(distinct: bool) -> None:
    facilitator = thinking(MANY, distinct=distinct)
    joint = facilitator.joint_goals(generator(3))
    assert joint == facilitator.joint_goals(generator(3)) != facilitator.joint_goals(generator(4))
    assert sum(joint.probs) == pytest.approx(1.0)
    assert all(math.isfinite(lp) for lp in joint.log_probs)
    assert 2 <= len(joint) <= 64
    assert not distinct or all(len(set(goals)) == 5 for goals in joint.support)


@pytest.mark.parametrize("distinct", [True, False])
def test_draws_are_from_what_is_believed(distinct: bool) -> None:
    facilitator, rng = thinking(MANY, distinct=distinct), generator()
    drawn = [facilitator.joint_goals(rng).map(lambda goals: goals[0]) for _ in range(200)]
    mean = {goal: sum(d.prob(goal) for d in drawn) / 200 for goal in "abcde"}
    exact = dict.fromkeys("abcde", 0.0)
    for goals in product("abcde", repeat=5):
        if not distinct or len(set(goals)) == 5:
            exact[goals[0]] += math.prod(MANY[agent][goal] for agent, goal in zip(MANY, goals, strict=True))
    assert mean == pytest.approx({goal: p / sum(exact.values()) for goal, p in exact.items()}, abs=0.03)
