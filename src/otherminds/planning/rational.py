"""A rational agent for any world: it plans over the states that can be reached, and acts by a softmax of values."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError, unknown
from otherminds.mind import Mind
from otherminds.planning.policy_iteration import optimal_values
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.planning.state_graph import MOST_STATES, SAMPLES, StateGraph, resting_action, short
from otherminds.world import World

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
T = TypeVar("T")
Floats = NDArray[np.float64]
Reward = Callable[[S, Mapping[str, A], S], float]

TIE = 1e-9  # values that differ by less are equally good, relative to values beyond 1


@dataclass(frozen=True)
class WorldGoal(Generic[S]):
    """The goal of an agent as the world tests it: `world.reached(state, agent, goal)`."""

    world: Any
    agent: str
    goal: Hashable

    def __call__(self, state: S) -> bool:
        """Whether the goal holds."""
        return bool(self.world.reached(state, self.agent, self.goal))


@dataclass(frozen=True)
class WorldReward(Generic[S, A]):
    """What the world rewards an agent with."""

    world: World[S, Any, A]
    agent: str

    def __call__(self, state: S, joint: Mapping[str, A], after: S) -> float:
        """R(s, a, s′)."""
        return self.world.reward(state, joint, after)[self.agent]


class Solution(NamedTuple):
    """Q of every row of a graph, V of every state, and the fewest steps to the goal, ∞ if there is no way."""

    action_values: Floats
    values: Floats
    steps: Floats


class Plan(Generic[S, A]):
    """Optimal values for one agent that wants one thing: Q(s, a) = E[R + γ max_a′ Q(s′, a′)], computed at first use.

    With `reached`, R = −1 for every step until the goal holds. An agent may give up at the cost of UNREACHABLE steps
    (1 / (1 − γ) if γ < 1), the value of all states without a way to the goal (Kolobov, Mausam and Weld 2012, §5). With
    `depth`, values are those of the next `depth` steps.
    """

    def __init__(
        self,
        graph: StateGraph[S, A],
        reached: Callable[[S], bool] | None,
        reward: Reward[S, A] | None,
        discount: float = 1.0,
        depth: int | None = None,
    ) -> None:
        """Either `reached` or `reward` says what the agent wants."""
        self.graph, self.reached, self.reward, self.discount, self.depth = graph, reached, reward, discount, depth
        self.worst = -float(UNREACHABLE) if discount == 1.0 else -1.0 / (1.0 - discount)
        self._solution: Solution | None = None
        self._ahead: dict[tuple[S, int], dict[A, float]] = {}

    def has_reached(self, state: S) -> bool:
        """Whether the goal holds; False for an agent that wants rewards."""
        return self.reached is not None and self.reached(state)

    def is_over(self, state: S) -> bool:
        """Whether nothing is left to do: the goal holds or is out of reach, or the world is done.

        Whether a goal is out of reach is unknown, and taken to be false, if the plan has a depth.
        """
        if self.has_reached(state) or self.graph.world.done(state):
            return True
        if self.reached is None or self.depth is not None:
            return False
        return math.isinf(self.solution([state]).steps[self.graph.index[state]])

    def action_values(self, state: S) -> dict[A, float]:
        """Q of every action in a state.

        Where the goal holds or the world is done, resting is worth 0 and all else −1; all is worth 0 if the agent has
        no action to rest.
        """
        graph = self.graph
        if self.has_reached(state) or graph.world.done(state):
            options = tuple(graph.world.actions(state, graph.agent))
            rest = resting_action(graph.world, state, graph.agent, options)
            return {action: 0.0 if rest is None or action == rest else -1.0 for action in options}
        if self.depth is not None:
            return self._look_ahead(state, self.depth)
        row_values = self.solution([state]).action_values[graph.rows(state)]
        return dict(zip(graph.options[graph.index[state]], row_values.tolist(), strict=True))

    def values_at(self, steps: Floats) -> Floats:
        """V of states with so many steps to the goal, ∞ for no way, where there is no chance: −(1 + γ + … + γⁿ⁻¹)."""
        return np.maximum(-steps if self.discount == 1.0 else self.worst * (1.0 - self.discount**steps), self.worst)

    def value(self, state: S) -> float:
        """V of a state."""
        if self.depth is not None:
            return max(self._look_ahead(state, self.depth).values(), default=0.0)
        return float(self.solution([state]).values[self.graph.index[state]])

    def solution(self, states: Iterable[S]) -> Solution:
        """The values of the whole graph, which is explored further from these states if they are new."""
        self.graph.explore(states)
        if self._solution is None or len(self._solution.values) < len(self.graph.states):
            self._solution = self._solve_rewards() if self.reached is None else self._solve_goal(self.reached)
        return self._solution

    def _solve_goal(self, reached: Callable[[S], bool]) -> Solution:
        """The fewest steps to the goal: breadth first, and by value iteration where there is chance."""
        moves = self.graph.transitions
        is_goal = np.array([reached(state) for state in self.graph.states], dtype=bool)
        steps = np.where(is_goal, 0.0, np.inf)
        if is_goal.any():
            before = np.repeat(np.arange(len(is_goal)), np.diff(moves.matrix.indptr[moves.first]))
            links = np.ones(len(before)), (moves.matrix.indices, before)
            backwards = csr_array(links, shape=(len(is_goal), len(is_goal)))
            steps = dijkstra(backwards, indices=np.flatnonzero(is_goal), min_only=True, unweighted=True)
        pay = np.full(moves.matrix.shape[0], -1.0)
        values = self.values_at(steps)
        if moves.is_deterministic:
            return Solution(np.maximum(pay + self.discount * (moves.matrix @ values), self.worst), values, steps)
        start = np.where(is_goal, 0.0, self.worst)
        solved = optimal_values(
            moves, pay, start, discount=self.discount, least=self.worst, guess=values, fixed=is_goal
        )
        return Solution(*solved, steps)

    def _solve_rewards(self) -> Solution:
        """The highest expected sum of discounted rewards, by value iteration."""
        reward, count = cast("Reward[S, A]", self.reward), len(self.graph.states)
        pay = np.zeros(self.graph.transitions.matrix.shape[0])
        for row, chance, state, joint, after in self.graph.by_outcome():
            pay[row] += chance * reward(state, joint, after)
        solved = optimal_values(self.graph.transitions, pay, np.zeros(count), discount=self.discount)
        return Solution(*solved, np.full(count, np.inf))

    def _look_ahead(self, state: S, depth: int) -> dict[A, float]:
        """Q of every action for the next `depth` steps; empty where nothing is left to do."""
        if (state, depth) in self._ahead:
            return self._ahead[state, depth]
        action_values: dict[A, float] = {}
        for action, outcomes in () if self.has_reached(state) else self.graph.moves(state):
            action_values[action] = 0.0
            for joint, after, chance in outcomes:
                pay = -1.0 if self.reward is None else self.reward(state, joint, after)
                later = self._look_ahead(after, depth - 1).values() if depth > 1 else ()
                action_values[action] += chance * (pay + self.discount * max(later, default=0.0))
        if len(self._ahead) >= self.graph.most_states:
            self._ahead.clear()
        self._ahead[state, depth] = action_values
        return action_values


_SHARED: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _shared(make: Callable[..., T], *arguments: Any) -> T:
    """`make(*arguments)`, the same object for equal arguments of equal types as long as it is in use."""
    key = make, *map(type, arguments), *arguments
    if (thing := _SHARED.get(key)) is None:
        thing = _SHARED[key] = make(*arguments)
    return cast("T", thing)


@dataclass(frozen=True, init=False)
class RationalAgent(Generic[S, A]):
    """An agent that plans in any world: π(a | s) ∝ exp(beta · Q(s, a)) over its legal actions.

    It wants to be in a state that is `reached`, in as few steps as possible, or the highest sum of `reward(s, joint,
    s′)`, with this `discount`. If neither is given, it wants its goal as the world's method `reached(state, agent,
    goal)` tests it, or else the world's rewards; then `goal` is just a name. An infinite `beta` takes the best actions
    only; `lapse` is the probability of an action at random. An agent that has reached its goal rests if it can.

    `others` has what other agents do: an action, or a mind, which is asked what it does if the present state is all
    that it has observed (so it may have no memory). Agents that are not listed stand still: they do what the world's
    method `passive(state, agent)` says, or their only action, or one that is called `wait` or the like.

    All states that can be reached from an observed one are numbered at first use, at most `most_states`. Values are
    exact, except that `samples` draws stand for the chance in a world without a method `outcomes(state, joint)`.
    With `depth`, an agent that sees the state numbers none, and values are those of the next `depth` steps. Agents that
    want the same in the same world share a plan, and those that want something else the graph of states.

    An agent that does not see the state has a belief: `belief` (the world's start if not given), updated by Bayes' rule
    with what it observes. It is not told what it did, so it allows for all that it may have done. It acts by Q(b, a) =
    Σ b(s) Q(s, a) over the actions that are legal wherever it may be, which is optimal if everything is seen after the
    next step (QMDP: Littman, Cassandra and Kaelbling 1995). If it sees what its belief excludes, as when others do not
    act as stated, its belief becomes uniform over the known states that look so.

    Raises InputError for an unknown agent, for nothing to want or two things, and for what is unhashable.
    """

    plan: Plan[S, A] = field(repr=False)
    agent: str
    goal: Hashable
    beta: float
    lapse: float
    prior: Categorical[S] | None = field(repr=False)
    belief: Categorical[S] | None  # None before the first observation

    def __init__(
        self,
        world: World[S, Any, A],
        agent: str,
        goal: Hashable,
        beta: float = 2.0,
        *,
        reached: Callable[[S], bool] | None = None,
        reward: Reward[S, A] | None = None,
        discount: float = 1.0,
        others: Mapping[str, Mind[Any, A] | A] | None = None,
        lapse: float = 0.0,
        belief: Categorical[S] | None = None,
        depth: int | None = None,
        samples: int = SAMPLES,
        most_states: int = MOST_STATES,
    ) -> None:
        """The agent before its first observation."""
        others = others or {}
        for name in (agent, *others):
            if name not in world.agents:
                raise unknown("agent", name, world.agents)
        _check_numbers(beta, lapse, discount, depth)
        if reached is None and reward is None:
            if hasattr(world, "reached"):
                reached = WorldGoal[S](world, agent, goal)
            elif hasattr(world, "reward"):
                reward = WorldReward(world, agent)
        if (reached is None) == (reward is None):
            hint = "give either `reached` or `reward`, or the world a method reached(state, agent, goal)"
            raise InputError(f"{agent} wants {'nothing' if reached is None else 'two things'}", hint=hint)
        try:
            hash(goal)
            graph = _shared(StateGraph, world, agent, frozenset(others.items()), samples, most_states)
            plan = _shared(Plan, graph, reached, reward, discount, depth)
        except TypeError as error:
            hint = "let worlds, goals and what others do be hashable, such as frozen dataclasses of tuples"
            raise InputError(f"{agent}: {error}", hint=hint) from None
        fields = {"plan": plan, "agent": agent, "goal": goal, "beta": beta, "lapse": lapse, "prior": belief}
        for name, value in (fields | {"belief": None}).items():
            object.__setattr__(self, name, value)

    def observe(self, obs: Any, /) -> RationalAgent[S, A]:
        """The agent after it has seen `obs`: certain of a state, or with a new belief.

        Raises InputError for what it cannot see in any state that it knows of.
        """
        after = copy(self)
        sees_states = self.plan.graph.sees_states
        object.__setattr__(after, "belief", point_mass(obs) if sees_states else self._belief_after(obs))
        return after

    def _belief_after(self, obs: Any) -> Categorical[S]:
        """b′(s′) ∝ [s′ looks like `obs`] Σ_s b(s) Σ_a π(a | b) P(s′ | s, a)."""
        graph = self.plan.graph
        before = self.belief or self.prior or graph.starts
        graph.explore(before.support)
        chances = np.zeros(len(graph.states))
        if self.belief is None:
            chances[[graph.index[state] for state in before.support]] = before.probs
        else:
            policy, weights = self.act(), np.zeros(graph.transitions.matrix.shape[0])
            for state, p in before:
                options = graph.options[graph.index[state]]
                weights[graph.rows(state)] = [p * policy.prob(action) for action in options]
            chances = weights @ graph.transitions.matrix
        alike = np.array(graph.seen_as(obs), dtype=np.intp)
        if not len(alike):
            hint = "give a `belief` with a state that leads to one"
            raise InputError(f"{self.agent} knows of no state in which it sees {short(obs)}", hint=hint)
        possible = alike[chances[alike] > 0.0]
        if not len(possible):
            return Categorical.uniform(graph.states[k] for k in alike)
        return Categorical.from_scores((graph.states[k], math.log(chances[k])) for k in possible)

    def act(self) -> Categorical[A]:
        """π(a | b) over the actions that it knows to be legal. Raises ValueError before its first observation."""
        action_values = self.action_values
        best = max(action_values.values())
        tie = TIE * max(1.0, abs(best))
        costs = ((action, 0.0 if best - q < tie else best - q) for action, q in action_values.items())
        return Categorical.boltzmann(costs, beta=self.beta, lapse=self.lapse)

    @property
    def action_values(self) -> dict[A, float]:
        """Q(b, a) = Σ b(s) Q(s, a) of the actions that are legal wherever the agent may be.

        States in which the world is done are left out if it may go on. Raises ValueError before the first observation,
        InputError if no action is known to be legal.
        """
        done = self.plan.graph.world.done
        chances = [(state, p) for state, p in self._known if p > 0.0]
        chances = [(state, p) for state, p in chances if not done(state)] or chances
        total = sum(p for _, p in chances)
        by_state = [(self.plan.action_values(state), p / total) for state, p in chances]
        legal = [action for action in by_state[0][0] if all(action in values for values, _ in by_state)]
        if not legal:
            raise InputError(f"{self.agent} knows of no action that is legal wherever it may be")
        return {action: sum(p * values[action] for values, p in by_state) for action in legal}

    @property
    def value(self) -> float:
        """Σ b(s) V(s): the negative expected steps to the goal, or the expected reward, if all is seen from now on."""
        return self._known.expect(self.plan.value)

    @property
    def reached(self) -> bool:
        """Whether the goal holds wherever the agent may be."""
        return all(self.plan.has_reached(state) for state, p in self._known if p > 0.0)

    @property
    def over(self) -> bool:
        """Whether nothing is left to do, wherever the agent may be: its goal holds or is out of its reach."""
        return all(self.plan.is_over(state) for state, p in self._known if p > 0.0)

    @property
    def particle(self) -> int:
        """Always 0: its belief is a distribution, not one of several draws."""
        return 0

    @property
    def _known(self) -> Categorical[S]:
        """Its belief. Raises ValueError before its first observation."""
        if self.belief is None:
            raise ValueError("a mind must observe something before it can act")
        return self.belief


def _check_numbers(beta: float, lapse: float, discount: float, depth: int | None) -> None:
    """Raise InputError for a number that is out of its range."""
    for holds, fault in (
        (beta >= 0.0, f"beta = {beta} is negative"),
        (0.0 <= lapse <= 1.0, f"lapse = {lapse} is no probability"),
        (0.0 < discount <= 1.0, f"discount = {discount} is not above 0 and at most 1"),
        (depth is None or depth > 0, f"depth = {depth} is no number of steps"),
    ):
        if not holds:
            raise InputError(fault)
