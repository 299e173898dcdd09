"""Best responses to agents whose next move depends on finitely many states, by exact backward induction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

TIE = 1e-9


class Chances(NamedTuple):
    """A partner as arrays, seen from the focal agent.

    `outputs[q, b]` is the probability of its action b in state q; `moves[q, a, b]` is the state it goes on to when
    the focal agent has done a and it has done b.
    """

    outputs: Floats
    moves: Ints


class Response(NamedTuple):
    """Values and actions of a best response: `values[t, q]` for t = 0 … T, `actions[t, q]` for t = 0 … T − 1."""

    values: Floats
    actions: Ints


def best_response(payoff: Floats, partner: Chances, horizon: int, *, least: bool = False) -> Response:
    """The optimal policy against a partner for `horizon` rounds, ties to the lowest action.

    V_T = 0,  V_t(q) = max_a Σ_b O[q, b] · (R[a, b] + V_{t+1}(δ(q, a, b))). `payoff` is R, own actions × partner's;
    values and actions of the response are rounds × states. It is optimal among all policies that see the history, since
    δ is deterministic. `least` minimises instead.
    (Riemer et al., Definition 2.2.)
    """
    sign = -1.0 if least else 1.0
    states = len(partner.outputs)
    expected = sign * partner.outputs @ payoff.T
    values = np.zeros((horizon + 1, states))
    actions = np.zeros((horizon, states), dtype=np.intp)
    for t in reversed(range(horizon)):
        worth = expected + np.einsum("qb,qab->qa", partner.outputs, values[t + 1][partner.moves])
        values[t] = worth.max(axis=1)
        actions[t] = np.argmax(worth >= values[t][:, None] - TIE, axis=1)
    return Response(sign * values, actions)


def value_of(policy: Ints, payoff: Floats, partner: Chances, start: int = 0) -> float:
    """The expected payoff of any policy `policy[t, q]` on the partner's states, over its whole horizon."""
    states = np.arange(len(partner.outputs))
    value = np.zeros(len(states))
    for chosen in policy[::-1]:
        onward = value[partner.moves[states, chosen]]
        value = (partner.outputs * (payoff[chosen] + onward)).sum(axis=1)
    return float(value[start])


def best_rate(payoff: Floats, partner: Chances, start: int = 0) -> float:
    """The highest average payoff per round in the long run, from `start`.

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
            here = np.eye(states)[q]
            rows += [np.r_[onward - here, np.zeros(states)], np.r_[-here, onward - here]]
            bounds += [0.0, -expected[q, a]]
    cost = np.r_[np.ones(states), np.zeros(states)]
    # presolve takes programs with tiny probabilities to be infeasible
    gains = linprog(cost, np.array(rows), np.array(bounds), bounds=(None, None), options={"presolve": False}).x
    if gains is None:
        raise ValueError("the average-reward program has no solution")
    return float(gains[start])
