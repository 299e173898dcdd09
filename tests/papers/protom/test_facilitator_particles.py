"""ProToM with several minds for each goal: what people may have in mind together, how minds count, the next action."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooks import cook, place
from kitchens import kitchen, thing
from otherminds.distribution import Categorical, divergence
from otherminds.mind import GoalDirected, WithErrand
from otherminds.observer import Observer
from otherminds.papers.protom.facilitator import ProToM
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import BeliefSampler
from otherminds.worlds.overcooked.planner import OvercookedPlanner, Pass
from strategies import generator

Chances = tuple[tuple[str, float], ...]
LEFT = 40


@dataclass(frozen=True)
class Stage:
    """A world in which nothing changes, and everybody sees who did what last."""

    agents: tuple[str, ...] = ("Ana", "Ben")

    def start(self, rng: np.random.Generator, /) -> int:
        return 0

    def actions(self, state: int, agent: str) -> tuple[str, ...]:
        return ("x", "y")

    def step(self, state: int, joint: Mapping[str, str], rng: np.random.Generator, /) -> int:
        return state + 1

    def observe(self, state: int, agent: str) -> int:
        return state

    def reward(self, state: int, joint: Mapping[str, str], after: int) -> dict[str, float]:
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: int) -> bool:
        return False


@dataclass(frozen=True)
class Habit:
    """Wants something, believes something, and does x or y with fixed chances."""

    goal: str
    particle: int = 0
    x: float = 0.5
    reached: bool = False
    over: bool = False

    def observe(self, obs: object, /) -> Habit:
        return self

    def act(self) -> Categorical[str]:
        return Categorical(("x", "y"), tuple(math.log(p) if p else -math.inf for p in (self.x, 1 - self.x)))


@dataclass(frozen=True)
class Asking:
    """One message to Ana, after which she does x with other chances; it saves steps depending on what she believes."""

    x: float = 0.5
    saves: Mapping[int, int] = field(default_factory=lambda: {0: 1})

    def candidates(self, state: object) -> Sequence[str]:
        return ["f"]

    def helper(self, message: str) -> str:
        return "Ana"

    def errand(self, message: str, mind: GoalDirected[Any]) -> GoalDirected[Any]:
        return Habit("errand", mind.particle, self.x)

    def status(self, state: object, message: str) -> Any:
        return "running"

    def effort(self, state: object, message: str) -> int:
        return 1

    def length(self, state: object, minds: Sequence[GoalDirected[Any]], message: str | None, horizon: int) -> int:
        return 100 - (self.saves[minds[0].particle] if message else 0)

    def explain(self, state: object, message: str, goals: tuple[Any, ...]) -> str:
        return message

    def address(self, message: str) -> str:
        return message


def protom(watchers: Mapping[str, Observer[Any]], asking: Asking | None = None, **more: Any) -> ProToM[int, str, str]:
    return ProToM(Stage(tuple(watchers)), asking or Asking(), watchers, **more)


def observer(*minds: tuple[Habit, float]) -> Observer[Any]:
    return Observer.over([mind for mind, _ in minds], [p for _, p in minds])


# What people may have in mind together

weights = st.lists(st.floats(0.01, 1), min_size=1, max_size=6)


def of(goal: str, shares: Sequence[float]) -> list[tuple[Habit, float]]:
    return [(Habit(goal, n), p) for n, p in enumerate(shares)]


@given(weights, weights, weights, st.floats(0.001, 1))
def test_what_may_be_in_mind_is_as_likely_as_the_goals_are(
    ana: list[float], other: list[float], ben: list[float], share: float
) -> None:
    watchers = {"Ana": observer(*of("a", ana), *of("o", other)), "Ben": observer(*of("b", ben))}
    found = protom(watchers).joint_minds(("a", "b"), share)
    n = max(len(ana), len(ben))
    assert sum(p for p, _ in found) == pytest.approx(share)
    assert min(p for p, _ in found) > 0
    assert len({minds for _, minds in found}) == len(found) <= n
    assert {tuple(mind.goal for mind in minds) for _, minds in found} == {("a", "b")}
    for i, shares in enumerate((ana, ben)):
        total = Counter[int]()
        for p, minds in found:
            total[minds[i].particle] += p / share  # type: ignore[assignment]
        for k, weight in enumerate(shares):
            assert abs(total[k] - weight / sum(shares)) <= 1 / n + 1e-9


def test_as_many_draws_as_particles_spread_evenly() -> None:
    watchers = {"Ana": observer(*of("a", [0.1, 0.3, 0.1, 0.5])), "Ben": observer(*of("b", [0.5, 0.5]))}
    found = protom(watchers).joint_minds(("a", "b"), 0.8)
    drawn = {tuple(mind.particle for mind in minds): p for p, minds in found}
    assert drawn == pytest.approx({(1, 0): 0.4, (3, 1): 0.4})


def test_with_a_mind_for_each_goal_there_is_one_thing_to_imagine() -> None:
    minds = [(Habit("a"), 0.3), (Habit("b"), 0.7)]
    watchers = {"Ana": observer(*minds), "Ben": observer(*minds)}
    assert protom(watchers).joint_minds(("a", "b"), 0.25) == [(0.25, (Habit("a"), Habit("b")))]


def test_what_is_impossible_is_not_imagined() -> None:
    watchers = {"Ana": observer((Habit("a", 0), 0.0), (Habit("a", 1), 0.2), (Habit("b", 0), 0.8))}
    assert protom(watchers).joint_minds(("a",), 0.5) == [(0.5, (Habit("a", 1),))]


def test_prices_are_means_over_what_may_be_in_mind() -> None:
    """Half of Ana's particles stand to save 8 steps, the others lose 2."""
    minds = [(Habit(goal, n), 0.25) for goal in "ab" for n in range(2)]
    facilitator = protom({"Ana": observer(*minds)}, Asking(saves={0: 8, 1: -2}))
    (price,) = facilitator.compute_utility(0, LEFT, generator())
    assert price.saves == pytest.approx(3)
    assert price.changes == pytest.approx(0.5)


# How minds count

PAIRS = [(Habit("a", 0, 0.9), 0.25), (Habit("b", 0, 0.3), 0.25), (Habit("a", 1, 0.1), 0.25), (Habit("b", 1, 0.1), 0.25)]


@pytest.mark.parametrize(
    ("faithful", "expected"),
    [(True, [0.375, 0.125, 0.25, 0.25]), (False, [9 / 14, 3 / 14, 1 / 14, 1 / 14])],
    ids=["particles count alike", "Bayes' rule"],
)
def test_whether_particles_that_explain_nothing_count(faithful: bool, expected: list[float]) -> None:
    facilitator = protom({"Ana": observer(*PAIRS)}, faithful=faithful).watch({"Ana": "x"}, 1)
    assert facilitator.watchers["Ana"].posterior.probs == pytest.approx(expected)
    assert facilitator.beliefs()["Ana"].prob("a") == pytest.approx(expected[0] + expected[2])


def test_with_one_particle_both_ways_are_the_same() -> None:
    minds = [(Habit("a", 0, 0.9), 0.5), (Habit("b", 0, 0.3), 0.5)]
    found = [protom({"Ana": observer(*minds)}, faithful=f).watch({"Ana": "x"}, 1).beliefs() for f in (True, False)]
    assert found[0]["Ana"].probs == pytest.approx(found[1]["Ana"].probs)
    assert found[0]["Ana"].probs == pytest.approx([0.75, 0.25])


def test_counting_alike_begins_with_what_was_watched_before() -> None:
    facilitator = protom({"Ana": observer(*PAIRS)}, faithful=True)
    for t in (1, 2):
        facilitator = facilitator.watch({"Ana": "x"}, t)
    assert facilitator.watchers["Ana"].posterior.probs == pytest.approx([0.45, 0.05, 0.25, 0.25])


# The next action


def gate(minds: Sequence[tuple[Habit, float]], asking: Asking, **more: Any) -> float:
    (price,) = protom({"Ana": observer(*minds)}, asking, gate="next", **more).compute_utility(0, LEFT, generator())
    return price.changes


def test_the_gate_is_how_differently_the_helper_would_act_next() -> None:
    """JSD((¾, ¼), (¼, ¾)) = H(½) − H(¼) = 1 − 0.811278… bits, for the mind that would do otherwise."""
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert gate([(Habit("a", 0, 0.75), 1.0)], Asking(0.25)) == pytest.approx(1 - entropy)
    both = [(Habit("a", 0, 0.75), 0.6), (Habit("b", 0, 0.25), 0.4)]
    assert gate(both, Asking(0.25), distinct=False) == pytest.approx(0.6 * (1 - entropy))


@pytest.mark.parametrize(
    ("now", "then", "bits"), [(1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.5, 0.311278), (0.3, 0.3, 0)]
)
def test_from_no_difference_to_one_bit(now: float, then: float, bits: float) -> None:
    assert gate([(Habit("a", 0, now), 1.0)], Asking(then)) == pytest.approx(bits, abs=1e-6)


def test_who_is_at_it_already_is_not_asked() -> None:
    facilitator = protom({"Ana": observer((Habit("a", 0, 0.9), 1.0))}, Asking(0.9), gate="next", epsilon=0.01)
    assert facilitator.decide(0, LEFT, generator()).message is None
    eager = replace(facilitator, messages=Asking(0.1))
    assert eager.decide(0, LEFT, generator()).message == "f"


# In a kitchen

ROOMS = kitchen("-/----", "-1 - t", "*  -2-", "-p----", recipes=("SimpleTomato", None))
BRING = Pass(1, thing("fresh tomato"), place(ROOMS, 5, 1), 0, (place(ROOMS, 3, 1), place(ROOMS, 3, 2)))


def facilitator_in_the_kitchen(**more: Any) -> ProToM[Any, str, Any]:
    shared = OvercookedPlanner(ROOMS.layout), BeliefSampler(ROOMS.layout, ROOMS.items)
    watchers: dict[str, Observer[Any]] = {
        agent: Observer.over(
            cook(ROOMS, goal, i, shared, beta=3.0, lapse=0.05, particle=n)
            for n in range(4)
            for goal in (("SimpleTomato", "SimpleOnion") if i == 0 else (None,))
        )
        for i, agent in enumerate(ROOMS.agents)
    }
    settings = {"gate": "next", "epsilon": 0.1} | more
    return ProToM.initial(ROOMS, OvercookedAdvice(ROOMS, *shared), watchers, ROOMS.initial, **settings)


def test_it_asks_ben_for_the_tomato_that_ana_cannot_get() -> None:
    facilitator = facilitator_in_the_kitchen()
    decision = facilitator.decide(ROOMS.initial, LEFT, generator())
    assert decision.message == BRING
    told = facilitator.tell(BRING).watchers["Ben"]
    assert all(isinstance(mind, WithErrand) for mind in told.minds)
    assert len(told.minds) == len(facilitator.watchers["Ben"].minds) == 4


def test_the_gate_in_the_kitchen_is_the_mean_over_the_helpers_minds() -> None:
    facilitator = facilitator_in_the_kitchen()
    prices = {price.message: price for price in facilitator.compute_utility(ROOMS.initial, LEFT, generator())}
    mind = facilitator.watchers["Ben"].minds[0]
    errand = facilitator.messages.errand(BRING, mind)
    now, then = mind.act(), errand.act()
    assert isinstance(now, Categorical)
    assert isinstance(then, Categorical)
    assert prices[BRING].changes == pytest.approx(divergence(now, then))


def test_the_favour_is_forgotten_when_it_is_done_and_no_mind_is_lost() -> None:
    facilitator, state = facilitator_in_the_kitchen().tell(BRING), ROOMS.initial
    for action in ("up", "right", "left", "stay"):
        state = ROOMS.step(state, joint := {"Ana": "right", "Ben": action})
        facilitator = facilitator.watch(joint, state)
    assert not any(isinstance(mind, WithErrand) for mind in facilitator.watchers["Ben"].minds)
    assert [len(o.minds) for o in facilitator.watchers.values()] == [8, 4]
    assert min(facilitator.watchers["Ana"].posterior.probs) > 0
