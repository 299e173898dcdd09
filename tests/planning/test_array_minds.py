"""Array minds against an Observer of the same minds one by one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.errors import InputError
from otherminds.observer import Observer, replay
from otherminds.planning.array_minds import ActionArray, ArrayObserver, SoftmaxMinds, rational_minds
from otherminds.planning.rational import Plan, RationalAgent
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.grid import Grid
from otherminds.worlds.text_grid import MOVES, Cell, TextGrid
from strategies import plays, worlds

SAME = 1e-12
RULES: list[dict[str, Any]] = [
    {},
    {"switch_rate": 0.05},
    {"switch_rate": 1.0},
    {"decay": 0.7},
    {"decay": 0.0, "gain": 2.0},
    {"decay": 0.9, "gain": 0.1, "switch_rate": 0.3},
    {"gain": 0.0},
]

# Worlds


@dataclass(frozen=True)
class Maze:
    """States 0 … size − 1, two or three actions in each, a done state or none, and a chance to slip back to state 0."""

    seed: int
    size: int = 9
    slip: float = 0.0
    agents: tuple[str, ...] = ("Ana",)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        return np.random.default_rng(self.seed).integers(self.size, size=(self.size, 3))

    def start(self, rng: np.random.Generator, /) -> int:
        return 0

    def actions(self, state: int, agent: str) -> tuple[str, ...]:
        return ("a", "b", "stay")[: 2 + (state + self.seed) % 2]

    def outcomes(self, state: int, joint: Mapping[str, str]) -> Categorical[int]:
        after = int(self.table[state, ("a", "b", "stay").index(joint["Ana"])])
        return Categorical.of({after: 1.0}) if not self.slip or not after else Categorical.of({after: 0.7, 0: 0.3})

    def step(self, state: int, joint: Mapping[str, str], rng: np.random.Generator, /) -> int:
        return self.outcomes(state, joint).sample(rng)

    def observe(self, state: int, agent: str) -> int:
        return state

    def reward(self, state: int, joint: Mapping[str, str], after: int) -> dict[str, float]:
        return {"Ana": float(after == 3)}

    def done(self, state: int) -> bool:
        return self.seed % 3 == 0 and state == self.size - 1


class Reaching(Maze):
    """The same, where goal k is to be in a state k or k + 1."""

    def reached(self, state: int, agent: str, goal: int) -> bool:
        return state in (goal, goal + 1)


# The same posterior


class Same(NamedTuple):
    """An observer of single minds, and one of an array of the same minds, in the same order."""

    slow: Observer[Any]
    fast: ArrayObserver[Any, Any]

    def both(self, change: Callable[[Any], Any]) -> Same | None:
        """After the same change; None if both refuse it in the same words."""
        refusals = list[str]()
        after = list[Any]()
        for observer in self:
            try:
                after.append(change(observer))
            except ValueError as error:
                refusals.append(str(error))
        assert not refusals or (refusals[0] == refusals[-1] and len(refusals) == 2)
        return None if refusals else Same(*after)

    def check(self) -> None:
        """The posteriors, the forecasts and the surprise are the same."""
        total = np.exp(np.array(self.slow.weights) - max(self.slow.weights))
        np.testing.assert_allclose(self.fast.shares.ravel(), total / total.sum(), rtol=SAME, atol=SAME)
        expected = self.slow.predict()
        assert self.fast.predict().support == expected.support
        np.testing.assert_allclose(self.fast.predict().probs, expected.probs, rtol=SAME, atol=SAME)
        for action in (*expected.support, "no such action"):
            surprise = self.slow.surprise(action)
            assert self.fast.surprise(action) == pytest.approx(surprise, rel=1e-10, abs=1e-10)


def check_walk(pair: Same, first: Any, walk: Sequence[tuple[Hashable, Any]]) -> int:
    """Watch a walk with both observers; the number of actions that some mind could have done."""
    pair = cast("Same", pair.both(lambda observer: observer.see(first)))
    pair.check()
    for k, (action, obs) in enumerate(walk):
        after = pair.both(lambda observer: observer.watch(action, obs))  # noqa: B023
        if after is None:
            return k
        after.check()
        pair = after
    return len(walk)


BETAS, LAPSES = (0.0, 0.7, 3.0, np.inf), (0.0, 0.1, 1.0)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    slip=st.sampled_from([0.0, 0.0, 0.3]),
    discount=st.sampled_from([1.0, 0.9]),
    wants=st.sampled_from(["reached", "states", "reward"]),
    lapses=st.sampled_from([LAPSES, (0.0,), (0.2,)]),
    rule=st.sampled_from(RULES),
    steps=st.integers(1, 6),
)
@settings(max_examples=80, deadline=None)
def test_rational_agents_have_the_same_posterior_one_by_one(
    seed: int, slip: float, discount: float, wants: str, lapses: tuple[float, ...], rule: dict[str, Any], steps: int
) -> None:
    world = Maze(seed, slip=slip) if wants != "reached" else Reaching(seed, slip=slip)
    rng = np.random.default_rng(seed)
    goals: Any = (0, 3, 5, 99)
    discount = 0.9 if wants == "reward" else discount
    sets = {goal: {goal, (goal * 7) % 9} if goal < 99 else set() for goal in goals}
    agents = [
        RationalAgent(
            world, "Ana", goal, beta, lapse=lapse, discount=discount,
            reached=frozenset(sets[goal]).__contains__ if wants == "states" else None,
        )
        for goal, beta, lapse in product(goals, BETAS, lapses)
    ]  # fmt: skip
    minds = rational_minds(world, "Ana", sets if wants == "states" else goals, BETAS, lapses, discount=discount)
    prior = rng.random(len(goals)) + 0.1
    prior[rng.integers(len(goals))] = 0.0
    each = np.repeat(prior, len(BETAS) * len(lapses)).tolist()
    pair = Same(Observer.over(agents, each, **rule), ArrayObserver.over(minds, prior[:, None, None], **rule))
    state, walk = 0, list[tuple[Hashable, int]]()
    for _ in range(steps):
        action = str(rng.choice(world.actions(state, "Ana")))
        state = world.step(state, {"Ana": action}, rng)
        walk.append((action, state))
    check_walk(pair, 0, walk)


@pytest.mark.slow
@given(play=plays(worlds(agents=(1, 2), gems=(2, 3)), steps=6), rule=st.sampled_from(RULES), lapse=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_seekers_have_the_same_posterior_one_by_one(play: Any, rule: dict[str, Any], lapse: bool) -> None:
    world, steps = play
    planner, betas, lapses = DoorsKeysGemsPlanner(world), (0.5, 3.0, np.inf), (0.05, 0.3) if lapse else (0.0,)
    goals = tuple(
        Goal(kind, k) for kind, things in (("gem", world.gems), ("door", world.doors)) for k in range(len(things))
    )
    seekers = [Seeker(planner, 0, *values) for values in product(goals, betas, lapses)]
    costs = lambda state: ActionArray.of(planner.action_costs(state, 0, goal) for goal in goals)  # noqa: E731
    minds = SoftmaxMinds(costs, goals, betas, lapses)
    pair = Same(Observer.over(seekers, **rule), ArrayObserver.over(minds, **rule))
    check_walk(pair, world.initial, [(step.joint[world.agents[0]], step.after) for step in steps])


def test_a_goal_in_every_cell_of_a_grid_has_the_posterior_of_its_agents() -> None:
    grid, letter = Grid.of(5, 4, [(1, 1), (3, 0), (3, 1), (4, 1)]), frozenset({Cell(0, 0), Cell(4, 3)})
    world = TextGrid(grid, (("A", letter),), Cell(0, 1))
    cells = [Cell(x, y) for x, y in product(range(5), range(4))]  # walls too: goals that nobody can reach
    agents = [RationalAgent(world, "walker", cell, 1.5, lapse=0.01) for cell in cells]
    minds = rational_minds(world, "walker", {cell: [cell] for cell in cells}, [1.5], [0.01])
    named = rational_minds(world, "walker", ["A"], [1.5], [0.01])
    route = ["down", "right", "stay", "right", "up"]
    walk, cell = list[tuple[Hashable, Cell]](), Cell(0, 1)
    for action in route:
        cell = Cell(cell.x + MOVES[action][0], cell.y + MOVES[action][1])
        walk.append((action, cell))
    assert check_walk(Same(Observer.over(agents), ArrayObserver.over(minds)), Cell(0, 1), walk) == len(route)
    alone = Observer.over([RationalAgent(world, "walker", "A", 1.5, lapse=0.01)])
    assert check_walk(Same(alone, ArrayObserver.over(named)), Cell(0, 1), walk) == len(route)


class Coins(Maze):
    """Both actions earn three tenths, but for the last bit, and end it."""

    def outcomes(self, state: int, joint: Mapping[str, str]) -> Categorical[int]:
        return Categorical.of({8: 1.0})

    def reward(self, state: int, joint: Mapping[str, str], after: int) -> dict[str, float]:
        return {"Ana": 0.1 + 0.2 if joint["Ana"] == "a" else 0.3}


def test_actions_are_equally_good_whatever_the_last_bit_says() -> None:
    minds = rational_minds(Coins(0), "Ana", ["coins"], [np.inf, 1e12])
    agents = [RationalAgent(Coins(0), "Ana", "coins", beta) for beta in (np.inf, 1e12)]
    pair = Same(Observer.over(agents).see(0), ArrayObserver.over(minds).see(0))
    pair.check()
    assert dict(pair.fast.predict()) == pytest.approx({"a": 0.5, "b": 0.5})


def test_without_chance_no_goal_is_planned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "solution", lambda *_: pytest.fail("a plan"))
    minds = rational_minds(Reaching(1), "Ana", range(5)).observe(0)
    assert minds.act().values.shape == (5, 1, 1, len(Reaching(1).actions(0, "Ana")))


def test_a_new_state_is_explored_and_its_goals_are_found() -> None:
    world = TextGrid(Grid.of(5, 1, [(2, 0)]), (), Cell(0, 0))
    cells = [Cell(x, 0) for x in range(5)]
    minds = rational_minds(world, "walker", {cell: [cell] for cell in cells}, [1.0])
    for start in (Cell(0, 0), Cell(4, 0)):
        agents = [RationalAgent(world, "walker", cell, 1.0) for cell in cells]
        Same(Observer.over(agents).see(start), ArrayObserver.over(minds).see(start)).check()


def test_a_rate_of_change_brings_back_what_was_ruled_out() -> None:
    world = TextGrid(Grid.of(3, 1, []), (), Cell(1, 0))
    minds = rational_minds(world, "walker", {x: [Cell(x, 0)] for x in (0, 2)}, [np.inf])
    for rate, odds in ((0.0, 0.0), (0.1, 0.05)):
        observer = ArrayObserver.over(minds, switch_rate=rate).see(Cell(1, 0)).watch("left", Cell(0, 0))
        assert observer.ask("goal").prob(2) == pytest.approx(odds)


# Questions


def test_questions_are_about_axes() -> None:
    weights = np.log(np.arange(1.0, 13.0).reshape(2, 3, 2))
    minds = SoftmaxMinds(no_costs, ("x", "y"), (1.0, 2.0, 3.0), (0.1, 0.2))
    observer = ArrayObserver(minds, weights)
    shares = np.arange(1.0, 13.0).reshape(2, 3, 2) / 78
    np.testing.assert_allclose(observer.shares, shares)
    assert dict(observer.ask("goal")) == pytest.approx({"x": 21 / 78, "y": 57 / 78})
    assert dict(observer.ask("lapse", "goal"))[0.2, "x"] == pytest.approx(shares[0, :, 1].sum())
    assert observer.ask("lapse", "goal", "beta")[0.2, "x", 3.0] == pytest.approx(shares[0, 2, 1])
    assert observer.posterior["y", 3.0, 0.1] == pytest.approx(shares[1, 2, 0])
    assert observer.posterior.support == tuple(product("xy", (1.0, 2.0, 3.0), (0.1, 0.2)))
    assert repr(observer) == "ArrayObserver(minds=12, posterior=(x: 0.27, y: 0.73))"
    assert "0.73" in observer._repr_html_()
    left = observer.condition("beta", lambda beta: beta > 1.0)
    assert dict(left.ask("beta")) == pytest.approx({1.0: 0.0, 2.0: 26 / 60, 3.0: 34 / 60})
    with pytest.raises(ValueError, match="the event is false for every mind that is still possible"):
        left.condition("beta", lambda beta: beta == 1.0)
    for names in ((), ("goal", "goal")):
        with pytest.raises(ValueError, match="ask for different axes of goal, beta, lapse"):
            observer.ask(*names)
    with pytest.raises(KeyError, match="gaol"):
        observer.ask("gaol")


def no_costs(state: int) -> ActionArray[str]:
    """Two actions that are alike."""
    return ActionArray(("a", "b"), np.zeros((2, 2)))


def test_nobody_can_change_an_observer() -> None:
    weights = np.zeros((2, 3, 2))
    observer = ArrayObserver(SoftmaxMinds(no_costs, ("x", "y"), (1.0, 2.0, 3.0), (0.1, 0.2)), weights)
    weights[0] = -5.0
    assert observer.ask("goal")["x"] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="read-only"):
        observer.weights[0] = 1.0
    before = observer.see(0)
    assert before.watch("a", 1).minds.state == 1
    assert before.minds.state == 0


def test_it_replays_a_walk() -> None:
    world = TextGrid(Grid.of(3, 1, []), (), Cell(1, 0))
    minds = rational_minds(world, "walker", {x: [Cell(x, 0)] for x in (0, 2)}, [1.0])
    walk = [Step(Cell(1, 0), {"walker": "left"}, Cell(0, 0))]
    watchers = cast("Any", {"walker": ArrayObserver.over(minds)})
    posteriors = [moment["walker"].ask("goal") for moment in cast("Any", replay(world, watchers, walk))]
    assert posteriors[0].prob(0) == pytest.approx(0.5)
    assert posteriors[1].prob(0) == pytest.approx(1 / (1 + np.exp(-2.0)))


# Errors


class Hidden(Reaching):
    """A world of which the agent sees nothing."""

    def observe(self, state: int, agent: str) -> Any:
        return "dark"


MINDS = SoftmaxMinds(no_costs, ("x", "y"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ArrayObserver.over(SoftmaxMinds(no_costs, ())), "an observer needs at least one mind to attribute"),
        (lambda: ArrayObserver.over(SoftmaxMinds(no_costs, ("x", "x"))), "two values of the axis goal are the same"),
        (lambda: ArrayObserver.over(MINDS, switch_rate=2.0), "2.0 is no probability of changing one's mind"),
        (lambda: ArrayObserver.over(MINDS, 0.0), "a probability for each of its minds, not all of them 0"),
        (lambda: ArrayObserver.over(MINDS, [1.0, 2.0, 3.0]), "a probability for each of its minds, not all of them 0"),
        (lambda: ArrayObserver.over(MINDS).predict(), "a mind must observe something before it can act"),
        (lambda: ArrayObserver.over(MINDS).see(0).watch("c", 0), "none of the 2 minds could have done 'c'"),
        (lambda: SoftmaxMinds(no_costs, ("x",), (-1.0,)), "beta = -1.0 is negative"),
        (lambda: SoftmaxMinds(no_costs, ("x",), lapses=(2.0,)), "lapse = 2.0 is no probability"),
        (lambda: ActionArray.of([{"a": 1.0}, {"b": 1.0}]), "the rows of an array are about the same actions"),
        (lambda: rational_minds(Hidden(1), "Ana", [3]), r"Ana does not see the state \(let an Observer watch one"),
        (lambda: rational_minds(Reaching(1), "Ana", []), r"there is no goal \(give at least one\)"),
        (lambda: rational_minds(Reaching(1), "Eva", [3]), "no agent `Eva`"),
        (lambda: rational_minds(Reaching(1), "Ana", [3], [-1.0]), "beta = -1.0 is negative"),
        (lambda: rational_minds(Reaching(1), "Ana", [3], most_states=2).observe(0).act(), "more than 2 states"),
        (
            lambda: SoftmaxMinds(lambda _: ActionArray((0, 1), np.array([[0.0, np.inf]])), ("x",), (0.0,), (), 1).act(),
            "a score of a distribution is not a number",
        ),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, InputError), match=message):
        make()
