"""Rational agents against value iteration in plain dictionaries, enumerated histories, and the bundled planners."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from benchmarks.evidence.rational import compare
from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError
from otherminds.observer import Observer, replay
from otherminds.planning import rational
from otherminds.planning.expansion import Expansion
from otherminds.planning.policy_iteration import Transitions, optimal_values
from otherminds.planning.rational import RationalAgent
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.testing import check_mind, check_world
from otherminds.world import rollout
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems
from strategies import generator, worlds

CLOSE = 1e-9
Values = Mapping[Any, float]

# Worlds


@dataclass(frozen=True)
class RandomWorld:
    """States 0 … size − 1 with random transitions, rewards and ends; `views` > 0 hides all but a class of states."""

    seed: int
    size: int = 7
    views: int = 0
    ends: float = 0.1
    agents: tuple[str, ...] = ("Ana", "Ben")

    @cached_property
    def tables(self) -> dict[Any, Categorical[int]]:
        rng, joints = np.random.default_rng(self.seed), list(product("abc", "xy"))
        tables = {}
        for key in product(range(self.size), joints):
            states = rng.choice(self.size, size=int(rng.integers(1, 4)), replace=False).tolist()
            chances = rng.dirichlet(np.ones(len(states))).tolist()
            tables[key] = Categorical(tuple(states), tuple(np.log(chances).tolist()))
        return tables

    @cached_property
    def facts(self) -> tuple[list[bool], list[int], list[list[float]]]:
        rng = np.random.default_rng((self.seed, 1))
        done = (rng.random(self.size) < self.ends) & (np.arange(self.size) > 0)
        looks, pay = rng.integers(max(self.views, 1), size=self.size), rng.normal(size=(self.size, self.size))
        return done.tolist(), looks.tolist(), pay.tolist()

    def start(self, rng: np.random.Generator, /) -> int:
        return 0

    def actions(self, state: int, agent: str) -> tuple[str, ...]:
        return tuple("abc"[: 2 + state % 2]) if agent == "Ana" else ("x", "y")

    def outcomes(self, state: int, joint: Mapping[str, str]) -> Categorical[int]:
        return self.tables[state, (joint["Ana"], joint["Ben"])]

    def step(self, state: int, joint: Mapping[str, str], rng: np.random.Generator, /) -> int:
        return self.outcomes(state, joint).sample(rng)

    def observe(self, state: int, agent: str) -> Any:
        return ("looks like", self.facts[1][state]) if self.views and agent == "Ana" else state

    def reward(self, state: int, joint: Mapping[str, str], after: int) -> dict[str, float]:
        worth = self.facts[2][state][after]
        return {"Ana": worth if joint["Ana"] == "a" else 2.0 * worth, "Ben": 0.0}

    def done(self, state: int) -> bool:
        return self.facts[0][state]


class Habit(NamedTuple):
    """A mind without a memory whose policy depends on the state it sees."""

    state: int = 0

    def observe(self, state: int) -> Habit:
        return Habit(state)

    def act(self) -> Categorical[str]:
        share = 0.2 + 0.1 * (self.state % 7)
        return Categorical(("x", "y"), (float(np.log(share)), float(np.log(1.0 - share))))


class Grid(NamedTuple):
    """A walk on a map whose letters are goals."""

    rows: tuple[str, ...]
    agents: tuple[str, ...] = ("Mia",)

    def start(self, rng: np.random.Generator, /) -> tuple[int, int]:
        return (0, 0)

    def actions(self, state: tuple[int, int], agent: str) -> tuple[str, ...]:
        return ("up", "down", "left", "right")

    def step(self, state: tuple[int, int], joint: Mapping[str, str], rng: np.random.Generator, /) -> tuple[int, int]:
        dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[joint["Mia"]]
        x, y = state[0] + dx, state[1] + dy
        inside = 0 <= y < len(self.rows) and 0 <= x < len(self.rows[0])
        return (x, y) if inside and self.rows[y][x] != "#" else state

    def observe(self, state: tuple[int, int], agent: str) -> tuple[int, int]:
        return state

    def reward(self, state: Any, joint: Any, after: Any) -> dict[str, float]:
        return {"Mia": -1.0}

    def done(self, state: tuple[int, int]) -> bool:
        return False

    def reached(self, state: tuple[int, int], agent: str, goal: str) -> bool:
        return self.rows[state[1]][state[0]] == goal


GRID = Grid((".#..", "..#A", "B...", "..#C", "####", "D..."))

# Slow answers


def optimum(
    world: RandomWorld,
    goal: Callable[[int], bool] | None,
    discount: float,
    company: Callable[[int], Categorical[str]] = lambda _: point_mass("x"),
) -> tuple[dict[int, float], dict[int, dict[str, float]]]:
    """V and Q by value iteration in dictionaries, from the worst value upwards."""
    worst = float(-UNREACHABLE) if discount == 1.0 else -1.0 / (1.0 - discount)
    values = {s: 0.0 if goal is None or goal(s) else worst for s in range(world.size)}
    action_values: dict[int, dict[str, float]] = {}
    for _ in range(20_000):
        before = dict(values)
        for s in range(world.size):
            if world.done(s):
                continue
            action_values[s] = dict.fromkeys(world.actions(s, "Ana"), 0.0)
            for a, (b, share) in product(action_values[s], company(s)):
                joint = {"Ana": a, "Ben": b}
                for after, p in world.outcomes(s, joint):
                    pay = -1.0 if goal else world.reward(s, joint, after)["Ana"]
                    action_values[s][a] += share * p * (pay + discount * before[after])
            if goal:
                action_values[s] = {a: max(q, worst) for a, q in action_values[s].items()}
            if not (goal and goal(s)):
                values[s] = max(action_values[s].values())
        if max(abs(values[s] - before[s]) for s in values) < 1e-14:
            break
    return values, action_values


def softmax(action_values: Mapping[str, float], beta: float) -> dict[str, float]:
    top = max(action_values.values())
    odds = {a: float(np.exp(beta * (q - top))) for a, q in action_values.items()}
    return {a: z / sum(odds.values()) for a, z in odds.items()}


def assert_same(policy: Categorical[Any], expected: Mapping[Any, float]) -> None:
    assert dict(policy) == pytest.approx(expected, abs=CLOSE)


def goal_test(goals: Iterable[int]) -> Callable[[int], bool]:
    return frozenset(goals).__contains__


# Values and posteriors


def check_goals(seed: int, discount: float, mind: Habit | None) -> None:
    """Policies in every state, and the posterior over goals on a walk, are those of plain value iteration."""
    world = RandomWorld(seed)
    company = (lambda s: mind.observe(s).act()) if mind else (lambda _: point_mass("x"))
    others = {"Ben": mind or "x"}
    agents, expected = [], []
    for goal in range(1, world.size, 2):
        wants = goal_test([goal])
        agents.append(RationalAgent(world, "Ana", goal, 1.5, reached=wants, discount=discount, others=others))
        expected.append(optimum(world, wants, discount, company))
        for s in range(world.size):
            if not world.done(s) and not wants(s):
                seen = agents[-1].observe(s)
                assert_same(seen.act(), softmax(expected[-1][1][s], 1.5))
                assert seen.value == pytest.approx(expected[-1][0][s], rel=1e-11)
                assert seen.over == (expected[-1][0][s] <= -UNREACHABLE) or discount < 1.0
    walk = []
    for step in rollout(world, {"Ana": agents[0], "Ben": mind or Habit()}, steps=6, rng=generator(seed)):
        if any(world.done(s) or s % 2 for s in (step.state, step.after)):
            break
        walk.append(step)
    for t, watched in enumerate(replay(world, {"Ana": Observer.over(agents)}, walk)):
        odds = [
            float(np.prod([softmax(q[step.state], 1.5)[step.joint["Ana"]] for step in walk[:t]])) for _, q in expected
        ]
        posterior = watched["Ana"].ask(lambda agent: agent.goal)
        assert_same(posterior, {a.goal: z / sum(odds) for a, z in zip(agents, odds, strict=True)})


@pytest.mark.parametrize("seed", range(8))
def test_policies_and_posteriors_over_goals_are_those_of_plain_value_iteration(seed: int) -> None:
    check_goals(seed, 1.0 if seed % 2 else 0.9, Habit() if seed % 3 else None)


@pytest.mark.slow
@pytest.mark.parametrize("tens", range(20))
def test_they_are_so_in_two_hundred_random_worlds(tens: int) -> None:
    for seed in range(1000 + 10 * tens, 1010 + 10 * tens):
        check_goals(seed, 1.0 if seed % 2 else 0.95, Habit() if seed % 3 else None)


@pytest.mark.parametrize("seed", range(6))
def test_policies_for_rewards_are_those_of_plain_value_iteration(seed: int) -> None:
    world = RandomWorld(seed)
    values, action_values = optimum(world, None, 0.8, lambda s: Habit(s).act())
    agent = RationalAgent(world, "Ana", "earn", 1.5, discount=0.8, others={"Ben": Habit()})
    by_name = RationalAgent(
        world, "Ana", "earn", 1.5, reward=lambda s, j, t: world.reward(s, j, t)["Ana"], discount=0.8,
        others={"Ben": Habit()},
    )  # fmt: skip
    for s in range(world.size):
        assert agent.observe(s).value == pytest.approx(values[s], abs=CLOSE)
        if not world.done(s):
            assert_same(agent.observe(s).act(), softmax(action_values[s], 1.5))
            assert agent.observe(s).act() == by_name.observe(s).act()
        assert agent.observe(s).over == world.done(s)
        assert not agent.observe(s).reached


def test_rewards_without_discount_are_those_of_a_world_that_ends() -> None:
    world = replace(RandomWorld(3), ends=0.4)

    def cost(state: int, joint: Mapping[str, str], after: int) -> float:
        return -1.0 - (state == 4)

    agent = RationalAgent(world, "Ana", "be quick", reward=cost, others={"Ben": "x"})
    values = dict.fromkeys(range(world.size), 0.0)
    for _ in range(2000):
        for s in values:
            if not world.done(s):
                joint = {"Ben": "x"}
                values[s] = cost(s, joint, s) + max(
                    world.outcomes(s, joint | {"Ana": a}).expect(values.__getitem__) for a in world.actions(s, "Ana")
                )
    assert [agent.observe(s).value for s in values] == pytest.approx(list(values.values()), abs=CLOSE)


def test_rewards_that_can_be_collected_for_ever_need_a_discount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otherminds.planning.policy_iteration.MOST_SWEEPS", 50)
    agent = RationalAgent(GRID, "Mia", "earn", reward=lambda s, joint, after: 1.0).observe((0, 0))
    with pytest.raises(
        InputError, match=r"have not converged after 50 sweeps .say what is `reached`, give a `discount`"
    ):
        agent.act()
    patient = RationalAgent(GRID, "Mia", "earn", reward=lambda s, joint, after: 1.0, discount=0.99).observe((0, 0))
    assert patient.value == pytest.approx(100.0)


@given(st.integers(0, 10_000), st.floats(0.5, 0.999))
@settings(max_examples=20)
def test_values_satisfy_the_equation_of_optimality(seed: int, discount: float) -> None:
    rng = np.random.default_rng(seed)
    states, rows = 12, 30
    first = np.array([0, *np.sort(rng.choice(np.arange(1, rows), states - 1, replace=False)), rows])
    matrix = rng.dirichlet(np.full(states, 0.2), size=rows)
    pay = rng.normal(size=rows)
    moves = Transitions(csr_array(matrix), first, False)
    action_values, values = optimal_values(moves, pay, np.zeros(states), discount=discount)
    assert action_values == pytest.approx(pay + discount * matrix @ values, abs=1e-8)
    assert values == pytest.approx([action_values[a:b].max() for a, b in pairwise(first)], abs=1e-8)


# The bundled planner


@pytest.mark.slow
@given(worlds(agents=(1, 2), sides=(2, 4), keys=(0, 2), doors=(0, 2)), st.integers(0, 99), st.sampled_from([0.5, 2.0]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_posteriors_are_those_of_seekers(world: DoorsKeysGems, seed: int, beta: float) -> None:
    assert compare(world, seed, beta).difference < CLOSE


# Partial views


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_are_those_of_all_histories(seed: int) -> None:
    """The agent's own actions are summed out, weighted by the policies of the beliefs on the way."""
    world, rng = RandomWorld(seed, views=2, ends=0.0), generator(seed)
    agent = RationalAgent(world, "Ana", 3, 0.7, reached=goal_test([3]), others={"Ben": Habit()}, lapse=0.1)
    state, agent = 0, agent.observe(world.observe(0, "Ana"))
    weights: dict[int, float] = {0: 1.0}
    for _ in range(6):
        policy = agent.act()
        action = policy.sample(rng)
        state = world.step(state, {"Ana": action, "Ben": Habit(state).act().sample(rng)}, rng)
        after: dict[int, float] = defaultdict(float)
        for (s, w), (a, p) in product(weights.items(), policy):
            for b, q in Habit(s).act():
                for t, r in world.outcomes(s, {"Ana": a, "Ben": b}):
                    after[t] += w * p * q * r * (world.observe(t, "Ana") == world.observe(state, "Ana"))
        weights = {s: w / sum(after.values()) for s, w in after.items() if w > 0.0}
        agent = agent.observe(world.observe(state, "Ana"))
        assert agent.belief is not None
        assert_same(agent.belief, weights)
        shared = [set(world.actions(s, "Ana")) for s in weights]
        assert set(agent.act().support) == set.intersection(*shared)


@dataclass(frozen=True)
class DarkStart(RandomWorld):
    """The first state is hidden, and all is seen from the first step on: QMDP is exact."""

    def start(self, rng: np.random.Generator, /) -> Any:
        return ("dark", int(rng.integers(1, 4)))

    def actions(self, state: Any, agent: str) -> tuple[str, ...]:
        return ("a", "b", "c") if agent == "Ana" else ("x", "y")

    def outcomes(self, state: Any, joint: Mapping[str, str]) -> Categorical[int]:
        return super().outcomes(state[1] if isinstance(state, tuple) else state, joint)

    def step(self, state: Any, joint: Mapping[str, str], rng: np.random.Generator, /) -> int:
        return self.outcomes(state, joint).sample(rng)

    def observe(self, state: Any, agent: str) -> Any:
        return "dark" if isinstance(state, tuple) else state

    def done(self, state: Any) -> bool:
        return not isinstance(state, tuple) and super().done(state)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(100, 300), marks=pytest.mark.slow)])
def test_values_of_beliefs_are_exact_where_all_is_seen_after_the_next_step(seeds: range) -> None:
    for seed in seeds:
        world, wants = DarkStart(seed), goal_test([5, 6])
        belief = Categorical.from_scores((("dark", s), float(s)) for s in (1, 2, 3))
        agent = RationalAgent(world, "Ana", "five or six", 1.5, reached=wants, others={"Ben": "x"}, belief=belief)
        values, _ = optimum(world, wants, 1.0)
        expected = dict.fromkeys("abc", 0.0)
        for a, (s, p) in product("abc", belief):
            onward = world.outcomes(s, {"Ana": a, "Ben": "x"}).expect(values.__getitem__)
            expected[a] += p * max(onward - 1.0, float(-UNREACHABLE))
        dark = agent.observe("dark")
        assert dark.belief is not None
        assert_same(dark.belief, dict(belief))
        assert_same(dark.act(), softmax(expected, 1.5))
        assert not dark.reached
        for state in set(dark.plan.graph.index) & {3, 5}:
            assert dark.observe(state).reached == (state == 5)


def test_without_a_belief_it_expects_the_start_of_the_world() -> None:
    dark = RationalAgent(DarkStart(1), "Ana", 5, reached=goal_test([5]), others={"Ben": "x"}).observe("dark")
    assert dark.belief is not None
    assert dict(dark.belief) == pytest.approx({("dark", s): 1 / 3 for s in (1, 2, 3)}, abs=0.05)


def test_it_starts_over_if_it_sees_what_its_belief_excludes() -> None:
    world = replace(RandomWorld(2, views=3, ends=0.0), agents=("Ana", "Ben"))
    agent = RationalAgent(world, "Ana", 1, reached=goal_test([1]), others={"Ben": "x"}, belief=point_mass(0))
    other_view = next(s for s in range(world.size) if world.observe(s, "Ana") != world.observe(0, "Ana"))
    agent = agent.observe(world.observe(other_view, "Ana"))
    alike = [s for s in agent.plan.graph.states if world.observe(s, "Ana") == world.observe(other_view, "Ana")]
    assert agent.belief is not None
    assert_same(agent.belief, {s: 1 / len(alike) for s in alike})
    with pytest.raises(InputError, match="Ana knows of no state in which it sees 'the moon'"):
        agent.observe("the moon")


# What it is


def test_it_is_a_mind_in_a_world_that_is_a_world() -> None:
    check_world(GRID)
    mia = RationalAgent(GRID, "Mia", "C", 1.0)
    check_mind(mia, GRID)
    world = RandomWorld(1, ends=0.0)
    ana = RationalAgent(world, "Ana", 3, reached=goal_test([3]), others={"Ben": Habit()})
    check_mind(ana, world, partners={"Ben": Habit()})


def test_equal_agents_are_equal_and_share_their_plan_and_others_the_graph() -> None:
    first, same, second = (RationalAgent(GRID, "Mia", goal) for goal in "CCB")
    assert first == same
    assert hash(first.observe((0, 0))) == hash(same.observe((0, 0)))
    assert first.plan is same.plan
    assert first != second
    assert first.plan is not second.plan
    assert first.plan.graph is second.plan.graph
    assert RationalAgent(GRID, "Mia", "C", beta=1.0) != first


@pytest.mark.slow
def test_plans_are_forgotten_with_the_last_agent() -> None:
    gc.collect()
    before = len(rational._SHARED)
    agent = RationalAgent(Grid(("..C",)), "Mia", "C").observe((0, 0))
    assert len(rational._SHARED) == before + 2
    agent.act()
    del agent
    gc.collect()
    assert len(rational._SHARED) == before


def test_an_infinite_beta_takes_all_best_actions_and_a_lapse_any() -> None:
    agent = RationalAgent(Grid(("...", "..C")), "Mia", "C", beta=np.inf).observe((0, 0))
    assert_same(agent.act(), {"up": 0.0, "down": 0.5, "left": 0.0, "right": 0.5})
    careless = RationalAgent(Grid(("...", "..C")), "Mia", "C", beta=np.inf, lapse=0.2).observe((0, 0))
    assert_same(careless.act(), {"up": 0.05, "down": 0.45, "left": 0.05, "right": 0.45})


def test_a_goal_out_of_reach_leaves_nothing_to_do() -> None:
    agent = RationalAgent(GRID, "Mia", "D").observe((0, 0))
    assert_same(agent.act(), dict.fromkeys(["up", "down", "left", "right"], 0.25))
    assert agent.over
    assert not agent.reached
    assert agent.value == -UNREACHABLE


def test_a_goal_that_holds_leaves_nothing_to_do_but_to_rest() -> None:
    agent = RationalAgent(GRID, "Mia", "B").observe((0, 2))
    assert agent.over
    assert agent.reached
    assert_same(agent.act(), dict.fromkeys(["up", "down", "left", "right"], 0.25))
    world = RandomWorld(5)
    passive = type("Passive", (RandomWorld,), {"passive": lambda self, state, agent: "b" if agent == "Ana" else "x"})
    rested = RationalAgent(passive(5), "Ana", 3, reached=goal_test([3])).observe(3)
    assert rested.act().mode == "b"
    assert rested.act().prob("a") == pytest.approx(rested.act().prob("b") * np.exp(-2.0))
    assert RationalAgent(world, "Ana", 3, reached=goal_test([3]), others={"Ben": "x"}).observe(3).reached


def test_a_state_that_it_did_not_know_is_added() -> None:
    agent = RationalAgent(GRID, "Mia", "C").observe((0, 0))
    assert agent.value == -6.0
    beyond = agent.observe((0, 5))
    assert beyond.over
    assert agent.value == -6.0
    assert len(agent.plan.graph.states) == 17


def test_chance_without_outcomes_is_sampled() -> None:
    class Slippery(Grid):
        def step(self, state: Any, joint: Mapping[str, str], rng: np.random.Generator, /) -> Any:
            return state if rng.random() < 0.25 else super().step(state, joint, rng)

    agent = RationalAgent(Slippery(GRID.rows), "Mia", "B", samples=400).observe((0, 0))
    assert agent.value == pytest.approx(-2 / 0.75, abs=0.3)
    assert not agent.plan.graph.transitions.is_deterministic
    assert RationalAgent(GRID, "Mia", "B").observe((0, 0)).plan.solution([(0, 0)])
    assert RationalAgent(GRID, "Mia", "B").plan.graph is not agent.plan.graph


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_look_ahead_is_exact_for_what_is_near(depth: int) -> None:
    agent = RationalAgent(GRID, "Mia", "B", depth=depth).observe((0, 0))
    exact = RationalAgent(GRID, "Mia", "B").observe((0, 0))
    assert agent.value == (-1.0 if depth == 1 else exact.value)
    assert not agent.over
    if depth > 3:
        assert_same(agent.act(), dict(exact.act()))


def test_look_ahead_for_rewards_sums_what_is_earned_in_time() -> None:
    world = RandomWorld(4, ends=0.0)
    agent = RationalAgent(world, "Ana", "earn", depth=3, discount=0.9, others={"Ben": Habit()})
    values = dict.fromkeys(range(world.size), 0.0)
    for _ in range(3):
        before, values = values, dict.fromkeys(values, -np.inf)
        for s in values:
            for a in world.actions(s, "Ana"):
                q = 0.0
                for b, share in Habit(s).act():
                    joint = {"Ana": a, "Ben": b}
                    pay = {t: world.reward(s, joint, t)["Ana"] + 0.9 * before[t] for t in values}
                    q += share * world.outcomes(s, joint).expect(pay.__getitem__)
                values[s] = max(values[s], q)
    assert {s: agent.observe(s).value for s in values} == pytest.approx(values)


# Errors


class Countless(Grid):
    """A world without a last state."""

    def step(self, state: Any, joint: Mapping[str, str], rng: np.random.Generator, /) -> Any:
        return (state[0] + 1, 0)

    def reached(self, state: Any, agent: str, goal: str) -> bool:
        return False


class Lists(Grid):
    """A world whose states are lists."""

    def step(self, state: Any, joint: Mapping[str, str], rng: np.random.Generator, /) -> Any:
        return [1, 2]


def test_too_many_states_are_refused_in_one_line_every_time() -> None:
    agent = RationalAgent(Countless(("..",)), "Mia", "C", most_states=300).observe((0, 0))
    for _ in range(2):
        with pytest.raises(InputError, match=r"needs more than 300 states \(give a higher `most_states`, or `depth`"):
            agent.act()
    assert Expansion.latest is not None
    assert Expansion.latest.most == 300
    assert RationalAgent(Countless(("..",)), "Mia", "C", depth=3).observe((0, 0)).value == -3.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RationalAgent(GRID, "Mio", "C"), r"no agent `Mio` \(did you mean Mia\?\)"),
        (lambda: RationalAgent(GRID, "Mia", "C", others={"Ben": "up"}), "no agent `Ben`"),
        (lambda: RationalAgent(object_world(), "Mia", "C"), r"Mia wants nothing \(give either `reached` or `reward`"),
        (lambda: RationalAgent(GRID, "Mia", "C", reached=bool, reward=lambda s, j, t: 0.0), "Mia wants two things"),
        (lambda: RationalAgent(GRID, "Mia", cast("Any", ["C"])), r"Mia: unhashable type: 'list' \(let worlds, goals"),
        (lambda: RationalAgent(GRID, "Mia", "C", beta=-1.0), "beta = -1.0 is negative"),
        (lambda: RationalAgent(GRID, "Mia", "C", lapse=2.0), "lapse = 2.0 is no probability"),
        (lambda: RationalAgent(GRID, "Mia", "C", discount=0.0), "discount = 0.0 is not above 0 and at most 1"),
        (lambda: RationalAgent(GRID, "Mia", "C", depth=0), "depth = 0 is no number of steps"),
        (lambda: RationalAgent(Lists(("..",)), "Mia", "C").observe((0, 0)).act(), r"state \[1, 2\] of Lists: unhash"),
        (
            lambda: RationalAgent(RandomWorld(1), "Ana", 3, reached=goal_test([3])).observe(0).act(),
            r"unknown what Ben does, which has no action to wait \(give others=\{'Ben': …\}",
        ),
        (
            lambda: RationalAgent(RandomWorld(1), "Ana", 3, reached=bool, others={"Ben": "z"}).observe(0).act(),
            r"Ben cannot do 'z' in the state 0 \(let `others` take legal actions, here \('x', 'y'\)\)",
        ),
        (lambda: RationalAgent(GRID, "Mia", "C").act(), "must observe something before it can act"),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def object_world() -> Any:
    """A world that has nothing to want."""
    return type("Bare", (), {"agents": ("Mia",)})()
