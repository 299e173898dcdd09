"""Many minds side by side: an observer of thousands of goals × settings, whose policies are rows of an array."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.errors import InputError
from otherminds.mind import Mind
from otherminds.planning.rational import TIE, Plan, RationalAgent, WorldGoal
from otherminds.planning.state_graph import MOST_STATES, SAMPLES, StateGraph, resting_action
from otherminds.world import World

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
Floats = NDArray[np.float64]

ROWS_KEPT = 64  # states from which the steps to all goals are kept, those of a walk's last dozen steps; chosen


class ActionArray(NamedTuple, Generic[A]):
    """A number for each action of each mind: `values[..., k]` belongs to `actions[k]`."""

    actions: tuple[A, ...]
    values: Floats

    @classmethod
    def of(cls, rows: Iterable[Mapping[A, float]]) -> ActionArray[A]:
        """An array with a row for each mapping. Raises ValueError if they are not about the same actions."""
        first, *others = rows
        actions = tuple(first)
        if any(row.keys() != first.keys() for row in others):
            raise ValueError("the rows of an array are about the same actions")
        return cls(actions, np.array([[row[action] for action in actions] for row in (first, *others)], dtype=float))


@dataclass(frozen=True, eq=False, repr=False)
class ArrayObserver(Generic[S, A]):
    """An `Observer` of `SoftmaxMinds`: the same posterior, computed for all minds in one array operation.

    w ← decay · w + gain · log p(a | m),  P(m) ∝ exp w(m),  P(m) ← (1 − h) P(m) + h P₀(m) with `switch_rate` h, as
    `Observer` explains. `weights` and `prior` are read-only arrays of log weights in nats, with the axes of the minds.
    """

    minds: SoftmaxMinds[S, A]
    weights: Floats
    decay: float = 1.0
    gain: float = 1.0
    switch_rate: float = 0.0
    prior: Floats | None = None

    def __post_init__(self) -> None:
        weights = _read_only(self.weights)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "prior", weights if self.prior is None else _read_only(self.prior))

    @classmethod
    def over(
        cls,
        minds: SoftmaxMinds[S, A],
        prior: ArrayLike | None = None,
        *,
        decay: float = 1.0,
        gain: float = 1.0,
        switch_rate: float = 0.0,
    ) -> Self:
        """An observer with prior probabilities, up to a factor, or a uniform prior over the minds.

        `prior` is broadcast along the axes of the minds: shape (goals, 1, 1) is a prior over goals × betas × lapses.
        Raises ValueError if there are no minds, or two are the same, or none of them is possible, or `switch_rate` is
        no probability.
        """
        shape = tuple(len(values) for values in minds.axes.values())
        if not math.prod(shape):
            raise ValueError("an observer needs at least one mind to attribute")
        for name, values in minds.axes.items():
            if len(set(values)) < len(values):
                raise ValueError(f"two values of the axis {name} are the same")
        if not 0.0 <= switch_rate <= 1.0:
            raise ValueError(f"{switch_rate} is no probability of changing one's mind")
        shares = np.asarray(1.0 if prior is None else prior, dtype=float)
        possible = shares > 0.0
        weights = np.log(shares, out=np.full(shares.shape, IMPOSSIBLE), where=possible)
        try:
            weights = np.broadcast_to(weights, shape)
        except ValueError:
            possible = np.zeros(1, dtype=bool)
        if not possible.any():
            raise ValueError("an observer needs a probability for each of its minds, not all of them 0")
        return cls(minds, weights, decay, gain, switch_rate)

    def __repr__(self) -> str:
        first = self.ask(next(iter(self.minds.axes)))
        return f"ArrayObserver(minds={self.weights.size}, {first!r})".replace("Categorical(", "posterior=(", 1)

    def _repr_html_(self) -> str:
        return self.ask(next(iter(self.minds.axes)))._repr_html_()

    @property
    def shares(self) -> Floats:
        """P(m | everything watched), with the axes of the minds."""
        return np.exp(self._log_shares)

    @property
    def posterior(self) -> Categorical[Any]:
        """P(m | everything watched) over the minds' values on all axes: tuples, if there are several axes."""
        return self.ask(*self.minds.axes)

    def ask(self, *names: str) -> Categorical[Any]:
        """The posterior of the values on one axis, or of tuples of values on several.

        Raises KeyError for a name that is no axis, ValueError for none or the same one twice.
        """
        axes = self.minds.axes
        values = [axes[name] for name in names]
        if len(names) != len(set(names)) or not names:
            raise ValueError(f"ask for different axes of {', '.join(axes)}")
        order = list(axes)
        asked = [order.index(name) for name in names]
        others = tuple(k for k in range(len(order)) if k not in asked)
        log_shares = _log_sum_exp(self._log_shares, others).transpose(np.argsort(np.argsort(asked)))
        outcomes: Iterable[Any] = values[0] if len(values) == 1 else product(*values)
        return Categorical(tuple(outcomes), tuple(log_shares.ravel().tolist()))

    def watch(self, action: Hashable, obs: S) -> Self:
        """Condition on what the agent did, then let all minds see what the agent saw.

        Raises ValueError if no mind could have done it (a mind with a lapse rate always could).
        """
        weights = self.weights
        if self.decay != 1.0:
            weights = np.multiply(weights, self.decay, out=weights.copy(), where=weights > IMPOSSIBLE)
        if self.gain:
            actions, log_policies = self.minds.act()
            evidence = log_policies[..., actions.index(action)] if action in actions else IMPOSSIBLE
            weights = weights + self.gain * evidence
        top = weights.max()
        if top == IMPOSSIBLE:
            raise ValueError(f"none of the {weights.size} minds could have done {action!r}")
        weights = weights - top
        if self.switch_rate:
            prior = cast("Floats", self.prior)
            stay = math.log1p(-self.switch_rate) if self.switch_rate < 1.0 else IMPOSSIBLE
            kept = weights - _log_sum_exp(weights) + stay
            weights = np.logaddexp(kept, prior - _log_sum_exp(prior) + math.log(self.switch_rate))
        return replace(self, weights=weights).see(obs)

    def see(self, obs: S) -> Self:
        """Let all minds observe `obs` without an action to explain."""
        return replace(self, minds=self.minds.observe(obs))

    def condition(self, name: str, event: Callable[[Any], bool]) -> Self:
        """P(m | event): rule out all minds whose value on an axis makes `event` false, a goal for example.

        Raises ValueError if none is left, KeyError for a name that is no axis.
        """
        axes = self.minds.axes
        is_possible = np.array([bool(event(value)) for value in axes[name]])
        along = [len(values) if axis == name else 1 for axis, values in axes.items()]
        weights = np.where(is_possible.reshape(along), self.weights, IMPOSSIBLE)
        if weights.max() == IMPOSSIBLE:
            raise ValueError("the event is false for every mind that is still possible")
        return replace(self, weights=weights)

    def predict(self) -> Categorical[Any]:
        """P(a) = Σₘ P(m) π(a | m): what the agent is expected to do next."""
        actions, log_policies = self.minds.act()
        scores = _log_sum_exp(self._log_shares[..., None] + log_policies, tuple(range(self.weights.ndim)))
        return Categorical.from_scores(zip(actions, scores.tolist(), strict=True))

    def surprise(self, action: Hashable) -> float:
        """−log P(a) − H(P): how improbable the action is, in nats, beyond what is expected of it on average."""
        expected = self.predict()
        return -expected.log_prob(action) - expected.entropy

    @property
    def _log_shares(self) -> Floats:
        return self.weights - _log_sum_exp(self.weights)


def _read_only(values: Floats) -> Floats:
    """The array itself if nobody can change it, else a copy."""
    if values.flags.writeable or values.base is not None:
        values = values.copy()
        values.flags.writeable = False
    return values


def _log_sum_exp(values: Floats, axes: tuple[int, ...] | None = None) -> Floats:
    """log Σ exp v over all axes or some of them, without overflow; −∞ for a sum of impossible terms."""
    top = values.max(axis=axes, keepdims=True)
    top[top == IMPOSSIBLE] = 0.0
    total = np.exp(values - top).sum(axis=axes, keepdims=True)
    logs = np.log(total, out=np.full(total.shape, IMPOSSIBLE), where=total > 0.0) + top
    return cast("Floats", logs.squeeze(axis=axes))


# Softmax policies


@dataclass(frozen=True, eq=False)
class SoftmaxMinds(Generic[S, A]):
    """Minds with all combinations of goals g, betas and lapses, in an agent that sees the state s.

    π(a | s) = (1 − lapse) · exp(−beta · Q_g(s, a)) / Σ … + lapse / |A(s)|, as in `Categorical.boltzmann`.

    costs: the legal actions in a state and Q_g(s, a) of each, shape (goals, |A(s)|). The axes of the array are `goal`,
    `beta` and `lapse`. Raises InputError for a negative beta, or a lapse that is no probability.
    """

    costs: Callable[[S], ActionArray[A]]
    goals: tuple[Hashable, ...]
    betas: tuple[float, ...] = (2.0,)
    lapses: tuple[float, ...] = (0.0,)
    state: S | None = None

    def __post_init__(self) -> None:
        for beta in self.betas:
            if not beta >= 0.0:
                raise InputError(f"beta = {beta} is negative")
        for lapse in self.lapses:
            if not 0.0 <= lapse <= 1.0:
                raise InputError(f"lapse = {lapse} is no probability")

    def __repr__(self) -> str:
        return f"SoftmaxMinds({len(self.goals)} goals × {len(self.betas)} betas × {len(self.lapses)} lapses)"

    @property
    def axes(self) -> Mapping[str, Sequence[Hashable]]:
        """The goals, betas and lapses."""
        return {"goal": self.goals, "beta": self.betas, "lapse": self.lapses}

    def observe(self, obs: S, /) -> SoftmaxMinds[S, A]:
        """Replace what they believe by the state: everything is in view."""
        return replace(self, state=obs)

    def act(self) -> ActionArray[A]:
        """log π in nats, shape (goals, betas, lapses, |A|). Raises ValueError before the first observation."""
        if self.state is None:
            raise ValueError("a mind must observe something before it can act")
        actions, costs = self.costs(self.state)
        least = costs.min(axis=1, keepdims=True)
        excess = np.subtract(costs, least, out=np.zeros(costs.shape), where=costs != least)[:, None, :]
        betas = np.array(self.betas)[:, None]
        scores = np.zeros((len(costs), len(self.betas), len(actions)))
        with np.errstate(invalid="ignore"):  # 0 · ∞
            np.multiply(-betas, excess, out=scores, where=excess > 0.0)
        policies = np.exp(scores)
        total = policies.sum(axis=2, keepdims=True)
        if np.isnan(total).any():
            raise ValueError("a score of a distribution is not a number")
        logs = np.empty((len(costs), len(self.betas), len(self.lapses), len(actions)))
        for k, lapse in enumerate(self.lapses):
            if lapse:
                np.log(policies * ((1.0 - lapse) / total) + lapse / len(actions), out=logs[:, :, k])
            else:
                np.subtract(scores, np.log(total), out=logs[:, :, k])
        return ActionArray(actions, logs)


def rational_minds(
    world: World[S, Any, A],
    agent: str,
    goals: Iterable[Hashable] | Mapping[Hashable, Collection[S]],
    betas: Iterable[float] = (2.0,),
    lapses: Iterable[float] = (0.0,),
    *,
    discount: float = 1.0,
    others: Mapping[str, Mind[Any, A] | A] | None = None,
    samples: int = SAMPLES,
    most_states: int = MOST_STATES,
) -> SoftmaxMinds[S, A]:
    """The minds `RationalAgent(world, agent, goal, beta, lapse=lapse, …)` for all goals, betas and lapses.

    The world says where a goal is reached, or the states are given: a mapping {goal: states in which it is reached} is
    much faster for many goals, as no state has to be tested. Without either, all minds want the world's rewards.

    In a world without chance no goal is planned for: Q_g(s, a) follows from the distances to all states from the
    successors of s, a search for each successor. Else there is a plan for each goal, of at least 8 bytes an action and
    state.

    Raises InputError as `RationalAgent` does, and if the agent does not see the state.
    """
    wanted = tuple(goals)
    if not wanted:
        raise InputError("there is no goal", hint="give at least one")
    targets = {goal: frozenset(goals[goal]) for goal in wanted} if isinstance(goals, Mapping) else None
    first = RationalAgent(
        world,
        agent,
        wanted[0],
        reached=None if targets is None else targets[wanted[0]].__contains__,
        discount=discount,
        others=others,
        samples=samples,
        most_states=most_states,
    )
    if not first.plan.graph.sees_states:
        hint = "let an Observer watch one RationalAgent for each goal, which has a belief"
        raise InputError(f"{agent} does not see the state", hint=hint)
    plan = first.plan
    if targets is not None:
        plans = [Plan(plan.graph, states.__contains__, None, discount) for states in targets.values()]
    elif plan.reached is not None:
        plans = [Plan(plan.graph, WorldGoal[S](world, agent, goal), None, discount) for goal in wanted]
    else:
        plans = [plan] * len(wanted)
    costs = _GoalCosts(plans, None if targets is None else tuple(targets.values()))
    return SoftmaxMinds(costs, wanted, tuple(map(float, betas)), tuple(map(float, lapses)))


class _GoalCosts(Generic[S, A]):
    """Q of every goal in a state, as costs: max Q − Q, where values that differ by less than TIE count as equal."""

    def __init__(self, plans: Sequence[Plan[S, A]], targets: Sequence[frozenset[S]] | None) -> None:
        """`targets` are the states in which each goal is reached, if they are known without a test."""
        self.plans, self.targets = plans, targets
        self.graph: StateGraph[S, A] = plans[0].graph
        self._known = 0  # how many states of the graph the following is about
        self._goal, self._state = np.zeros((2, 0), dtype=np.intp)  # where goals are reached, by goal
        self._forwards: Any = None  # which states lead to which in one step

    def __call__(self, state: S) -> ActionArray[A]:
        graph = self.graph
        graph.explore([state])
        if self._known < len(graph.states):
            self._prepare()
        number, is_done = graph.index[state], bool(graph.world.done(state))
        actions = graph.options[number] or tuple(graph.world.actions(state, graph.agent))
        if not actions:
            raise InputError(f"{graph.agent} knows of no action that is legal wherever it may be")
        has_reached = np.full(len(self.plans), is_done)
        has_reached[self._goal[self._state == number]] = True
        costs = np.zeros((len(self.plans), len(actions)))
        if not is_done:
            values = self._action_values(state)
            best = values.max(axis=1, keepdims=True)
            np.subtract(best, values, out=costs, where=best - values >= TIE * np.maximum(1.0, np.abs(best)))
        if has_reached.any():
            rest = resting_action(graph.world, state, graph.agent, actions)
            costs[has_reached] = [0.0 if rest is None or action == rest else 1.0 for action in actions]
        return ActionArray(actions, costs)

    @property
    def _is_by_distance(self) -> bool:
        return self.plans[0].reached is not None and self.graph.transitions.is_deterministic

    def _prepare(self) -> None:
        """Find out in which states goals are reached, and which states lead to which."""
        count, moves = len(self.graph.states), self.graph.transitions
        self._goal, self._state = np.array(list(self._reached_states()), dtype=np.intp).reshape(-1, 2).T
        if self._is_by_distance:
            links = np.ones(len(moves.matrix.indices)), moves.matrix.indices, moves.matrix.indptr[moves.first]
            self._forwards = csr_array(links, shape=(count, count))
        self._steps = lru_cache(ROWS_KEPT)(self._steps_from)
        self._known = count

    def _reached_states(self) -> Iterator[tuple[int, int]]:
        """The numbers of goals and of the states in which they are reached, by goal."""
        for k, plan in enumerate(self.plans):
            if self.targets is not None:
                yield from ((k, self.graph.index[state]) for state in self.targets[k] if state in self.graph.index)
            elif plan.reached is not None:
                yield from ((k, number) for number, state in enumerate(self.graph.states) if plan.reached(state))

    def _action_values(self, state: S) -> Floats:
        """Q_g(s, a), shape (goals, |A|). Without chance it is −1 + γ V_g(s′), by the steps from s′ to the goal."""
        rows = self.graph.rows(state)
        if not self._is_by_distance:
            return np.array([plan.solution([state]).action_values[rows] for plan in self.plans])
        plan, successors = self.plans[0], self.graph.transitions.matrix.indices[rows]  # one outcome a row
        values = [plan.values_at(self._steps(number)) for number in successors.tolist()]
        return np.maximum(-1.0 + plan.discount * np.stack(values, axis=1), plan.worst)

    def _steps_from(self, number: int) -> Floats:
        """The fewest steps from a state to each goal, ∞ if there is no way."""
        steps = np.full(len(self.plans), np.inf)
        if len(self._goal):
            starts = np.flatnonzero(np.diff(self._goal, prepend=-1))
            distances = dijkstra(self._forwards, indices=[number], unweighted=True)[0]
            steps[self._goal[starts]] = np.minimum.reduceat(distances[self._state], starts)
        return steps
