"""Optimal values of Markov decision processes with sparse transitions, by modified policy iteration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, tril, triu
from scipy.sparse.linalg import splu

from otherminds.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

TOLERANCE = 1e-12  # change of a value in a sweep, relative to values beyond 1, that may be rounding
MOST_SWEEPS = 10_000  # over all actions
PERIOD, EVALUATIONS = 20, 50  # each so many sweeps, so many sweeps of the best policy so far; a trade-off with speed


class Transitions(NamedTuple):
    """Where actions lead. A row is an action in a state; the actions of a state are consecutive rows.

    `matrix` is P(s′ | row), shape (rows, states). `first` has the first row of each state, then the number of rows.
    """

    matrix: Any
    first: Ints
    is_deterministic: bool


def optimal_values(
    transitions: Transitions,
    pay: Floats,
    values: Floats,
    *,
    discount: float = 1.0,
    least: float = -np.inf,
    guess: Floats | None = None,
    fixed: NDArray[np.bool_] | None = None,
) -> tuple[Floats, Floats]:
    """Q of every row and V of every state: Q = max(pay + γ P V, least) and V(s) = max Q(rows of s).

    V keeps its first value in states without rows and in those that are `fixed`. Modified policy iteration (Puterman
    and Shin 1978) begins with the policy that may lead to the best guess and evaluates policies by Gauss–Seidel sweeps,
    the states with the best guess first. For γ = 1 with `least`, where pay is negative, V must be at most optimal at
    first and the guess be higher for each state than for all that it comes from: then no policy goes round in circles.
    For γ = 1 without `least`, it is plain value iteration, as a policy may have no finite value.

    Raises InputError if V does not converge.
    """
    matrix, first, _ = transitions
    sizes = np.diff(first)
    acts = sizes > 0 if fixed is None else (sizes > 0) & ~fixed
    if not acts.any():
        return np.maximum(pay + discount * (matrix @ values), least), values
    rows_of_acting = np.flatnonzero(np.repeat(acts, sizes))
    owner = np.repeat(np.arange(acts.sum()), sizes[acts])
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    order = np.arange(len(values))[::-1] if guess is None else np.argsort(-guess, kind="stable")
    if guess is None:
        action_values = pay + discount * (matrix @ values)
    else:
        action_values = np.maximum.reduceat(guess[matrix.indices], matrix.indptr[:-1])
    change = np.inf
    for sweep in range(MOST_SWEEPS):
        of_acting = action_values[rows_of_acting]
        if sweep % PERIOD == 0 and (discount < 1.0 or least > -np.inf):
            is_best = np.flatnonzero(of_acting == np.maximum.reduceat(of_acting, starts)[owner])
            policy = rows_of_acting[is_best[np.diff(owner[is_best], prepend=-1) > 0]]
            gives_up = action_values[policy] <= least
            values = _evaluated(matrix, pay, values, acts, policy, gives_up, discount, least, order)
        action_values = np.maximum(pay + discount * (matrix @ values), least)
        improved = values.copy()
        improved[acts] = np.maximum.reduceat(action_values[rows_of_acting], starts)
        earlier, change = change, _largest_change(values, improved)
        if change == 0.0 or earlier <= change <= TOLERANCE:
            return action_values, improved
        values = improved
    hint = "say what is `reached`, give a `discount` below 1, or rewards that cannot be collected for ever"
    raise InputError(f"the values have not converged after {MOST_SWEEPS:,} sweeps", hint=hint)


def _evaluated(
    matrix: Any,
    pay: Floats,
    values: Floats,
    acts: NDArray[np.bool_],
    policy: Ints,
    gives_up: NDArray[np.bool_],
    discount: float,
    least: float,
    order: Ints,
) -> Floats:
    """The values after sweeps of a policy, a row for each state that acts; where it gives up the value is `least`."""
    target = values.copy()
    target[acts] = np.where(gives_up, least, pay[policy])
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.arange(len(values))
    chosen = csr_array(matrix[policy[~gives_up]]).tocoo()
    states = np.flatnonzero(acts)[~gives_up]
    entries = -discount * chosen.data, (place[states[chosen.row]], place[chosen.col])
    system = eye_array(len(values), format="csr") + csr_array(entries, shape=(len(values), len(values)))
    lower = splu(tril(system, format="csc"), permc_spec="NATURAL", diag_pivot_thresh=0.0)
    upper = triu(system, 1, format="csr")
    current, target = values[order], target[order]
    for _ in range(EVALUATIONS):
        before, current = current, lower.solve(target - upper @ current)
        if _largest_change(before, current) <= np.finfo(float).eps:
            break
    return current[place]


def _largest_change(before: Floats, after: Floats) -> float:
    """The largest difference of two arrays, relative to values beyond 1."""
    return float((np.abs(after - before) / np.maximum(np.abs(after), 1.0)).max())
