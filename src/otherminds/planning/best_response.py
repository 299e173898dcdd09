"""Best responses to a partner that is a known machine, and look-ahead against one of many machines.

A machine is an agent whose next action depends on finitely many states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

TIE = 1e-9  # values that differ by less are equal: rounding


class Chances(NamedTuple):
    """A partner's machine as arrays, seen from the focal agent.

    `outputs[q, b]` is the probability of its action b in state q; `moves[q, a, b]` is its next state after action a of
    the focal agent and its own action b.
    """

    outputs: Floats
    moves: Ints


class Response(NamedTuple):
    """A best response: `values[t, q]` in payoff for t = 0 … T, `actions[t, q]` for t = 0 … T − 1."""

    values: Floats
    actions: Ints


def best_response(payoff: Floats, partner: Chances, horizon: int, *, least: bool = False) -> Response:
    """The optimal policy against a partner for `horizon` rounds by backward induction, ties to the lowest action.

    V_T = 0,  V_t(q) = max_a Σ_b O[q, b] · (R[a, b] + V_{t+1}(δ(q, a, b))). `payoff` is R, shape (own actions, partner's
    actions). The policy is optimal among all policies that see the history, since δ is deterministic. With `least` it
    minimises instead. `best_response(ipd.payoff(), partner("tft", ipd).chances, 100).values[0, 0]` is the most that 100
    rounds with tit for tat pay. (Riemer et al., Definition 2.2.)
    """
    sign = -1.0 if least else 1.0
    states = len(partner.outputs)
    expected = sign * partner.outputs @ payoff.T
    values = np.zeros((horizon + 1, states))
    actions = np.zeros((horizon, states), dtype=np.intp)
    for t in reversed(range(horizon)):
        action_values = expected + np.einsum("qb,qab->qa", partner.outputs, values[t + 1][partner.moves])
        values[t] = action_values.max(axis=1)
        actions[t] = np.argmax(action_values >= values[t][:, None] - TIE, axis=1)
    return Response(sign * values, actions)


def value_of(policy: Ints, payoff: Floats, partner: Chances, start: int = 0) -> float:
    """The expected total payoff of a policy `policy[t, q]` over its horizon, from the partner's state `start`."""
    states = np.arange(len(partner.outputs))
    value = np.zeros(len(states))
    for actions in policy[::-1]:
        onward = value[partner.moves[states, actions]]
        value = (partner.outputs * (payoff[actions] + onward)).sum(axis=1)
    return float(value[start])


def best_rate(payoff: Floats, partner: Chances, start: int = 0) -> float:
    """The highest long-run average payoff per round, from the partner's state `start`.

    The gain g(start) of the average-reward linear program: minimise Σ g subject to g ≥ P_a g, g + h ≥ r_a + P_a h.
    Raises ValueError if the solver fails.
    """
    from scipy.optimize import linprog

    states, options = len(partner.outputs), len(payoff)
    expected = partner.outputs @ payoff.T
    rows: list[Floats] = []
    bounds: list[float] = []
    for q in range(states):
        for a in range(options):
            onward = np.zeros(states)
            np.add.at(onward, partner.moves[q, a], partner.outputs[q])
            current = np.eye(states)[q]
            rows += [np.r_[onward - current, np.zeros(states)], np.r_[-current, onward - current]]
            bounds += [0.0, -expected[q, a]]
    cost = np.r_[np.ones(states), np.zeros(states)]
    # presolve takes programs with tiny probabilities to be infeasible
    gains = linprog(cost, np.array(rows), np.array(bounds), bounds=(None, None), options={"presolve": False}).x
    if gains is None:
        raise ValueError("the average-reward program has no solution")
    return float(gains[start])


NEGLIGIBLE = 1e-3  # share of the weight below which look-ahead drops a branch or a machine; a trade-off with speed


@dataclass(frozen=True, eq=False)
class Pool:
    """Several machines as one: a belief is a weight for some of its states. `starts` are the machines' first states."""

    payoff: Floats
    chances: Chances
    starts: Ints
    horizon: int

    @classmethod
    def of(cls, payoff: Floats, machines: Sequence[Chances], horizon: int) -> Pool:
        """The pool of these machines, their states numbered consecutively."""
        starts = np.array([0, *accumulate(len(machine.outputs) for machine in machines)])
        outputs = np.concatenate([machine.outputs for machine in machines])
        moves = np.concatenate([machine.moves + start for machine, start in zip(machines, starts, strict=False)])
        return cls(payoff, Chances(outputs, moves), starts[:-1], horizon)

    @cached_property
    def response(self) -> Response:
        """The best response in every state, if the machine were known."""
        return best_response(self.payoff, self.chances, self.horizon)

    @cached_property
    def expected(self) -> Floats:
        """E[R | q, a], shape (states, own actions)."""
        return self.chances.outputs @ self.payoff.T

    @cached_property
    def likely(self) -> Ints:
        """The most probable action in every state."""
        actions: Ints = self.chances.outputs.argmax(axis=1)
        return actions


Leaf = Callable[[Pool, int, Ints, Floats], float]


def action_values(pool: Pool, t: int, states: Ints, weights: Floats, *, depth: int, leaf: Leaf) -> Floats:
    """Q(a) = Σ w E[R | q, a] + Σ_b V(belief after a and b) by search over beliefs: `depth` rounds, then `leaf`.

    Weights need not sum to 1. The search drops branches with less than a thousandth of the weight, and machines a
    thousand times less probable than the most probable one.
    """
    outputs, moves = pool.chances
    values = weights @ pool.expected[states]
    for b in range(outputs.shape[1]):
        joint = weights * outputs[states, b]
        if joint.sum() <= NEGLIGIBLE * weights.sum():
            continue
        mask = joint > NEGLIGIBLE * joint.max()
        for a in range(len(values)):
            values[a] += _belief_value(pool, t + 1, moves[states[mask], a, b], joint[mask], depth - 1, leaf)
    return values


def _belief_value(pool: Pool, t: int, states: Ints, weights: Floats, depth: int, leaf: Leaf) -> float:
    """V of the belief at round t: exact if one machine remains, else by search and, after `depth` rounds, the leaf."""
    if t >= pool.horizon:
        return 0.0
    if len(states) == 1:
        return float(weights[0] * pool.response.values[t, states[0]])
    if depth <= 0:
        return leaf(pool, t, states, weights)
    return float(action_values(pool, t, states, weights, depth=depth, leaf=leaf).max())


def clairvoyant(pool: Pool, t: int, states: Ints, weights: Floats) -> float:
    """max_a Σ w Q(q, a): the value if the machine were known after this action, an upper bound of the true value."""
    outputs, moves = pool.chances
    onward = (outputs[states][:, None, :] * pool.response.values[t + 1][moves[states]]).sum(axis=2)
    return float((weights @ (pool.expected[states] + onward)).max())


def commitment(pool: Pool, t: int, states: Ints, weights: Floats, *, most: int = 12) -> float:
    """max_h Σ w · (payoff of the best response to h until the partner deviates from h, and the optimum after that).

    h is each of the `most` likeliest machines, and every partner takes its most probable action. The value accounts for
    the gain of testing a hypothesis and for the cost of a test that fails.
    """
    _, moves = pool.chances
    plan, likely = pool.response, pool.likely
    assumed = states[np.argsort(-weights, kind="stable")[:most]]
    true = np.broadcast_to(states, (len(assumed), len(states)))
    alive: NDArray[np.bool_] = np.ones(true.shape, dtype=bool)
    total = np.zeros(true.shape)
    for u in range(t, pool.horizon):
        action, reply = plan.actions[u, assumed][:, None], likely[true]
        total += np.where(alive, pool.payoff[action, reply], 0.0)
        deviates = alive & (reply != likely[assumed][:, None])
        true = moves[true, action, reply]
        assumed = moves[assumed, action[:, 0], likely[assumed]]
        total += np.where(deviates, plan.values[u + 1][true], 0.0)
        alive &= ~deviates
        if alive.sum() <= len(assumed):
            total += np.where(alive, plan.values[u + 1][true], 0.0)
            break
    return float((total @ weights).max())


def best_action(values: Floats) -> int:
    """The lowest action whose value is the highest, up to rounding."""
    return int(np.argmax(values >= values.max() - TIE * max(1.0, abs(float(values.max())))))
