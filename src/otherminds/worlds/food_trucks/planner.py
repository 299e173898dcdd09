"""Planning in the world of food trucks: values of actions for every desire and belief of a grid.

What is parked does not change, and seeing it settles it; so a belief stays what it was until the agent sees the hidden
spot, and is certain from then on. Both are points of the grid, where value iteration is therefore exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.food_trucks.rules import ACTIONS, EAT, STAY, FoodTrucks

Floats = NDArray[np.float64]

DISCOUNT = 0.99  # of what comes a step later; Baker et al. 2017
INTERVALS = 6  # of the belief grid along each edge of the simplex: 28 beliefs about three contents; Baker et al. 2017
TOLERANCE = 1e-9  # largest change of a value in the last sweep
MOST_SWEEPS = 10_000


def simplex_grid(outcomes: int, intervals: int) -> Floats:
    """All distributions over the outcomes whose probabilities are multiples of 1 / intervals: (points, outcomes)."""

    def counts(left: int, places: int) -> Iterator[tuple[int, ...]]:
        """All ways to share `left` intervals among `places` outcomes, those with few in the first place first."""
        if places == 1:
            yield (left,)
            return
        for first in range(left + 1):
            yield from ((first, *others) for others in counts(left - first, places - 1))

    return np.array(list(counts(intervals, outcomes))) / intervals


@dataclass(frozen=True)
class FoodTruckPlanner:
    """Optimal action values Q(b, x, a) of agents that differ in their desires.

    Q(b, x, a) = R(b, x, a) − cost(a) + γ Σ_o P(o | b, x′) max_a′ Q(b_o, x′, a′), where x′ is the next cell and b_o the
    belief after seeing o there; a meal pays what the truck is worth and ends the episode. Beliefs are points of the
    simplex over `world.contents` with `intervals` intervals, and those of `exact`. Values of others are interpolated,
    as published; that is an upper bound, as V is convex, and makes waiting look better than it is.
    """

    world: FoodTrucks
    discount: float = DISCOUNT
    intervals: int = INTERVALS
    exact: tuple[tuple[float, ...], ...] = ()
    _solved: dict[tuple[float, ...], Floats] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The floor cells, in the order of the arrays."""
        return tuple(self.world.grid.cells())

    @cached_property
    def index(self) -> dict[int, int]:
        """The position of each floor cell in the arrays."""
        return {cell: i for i, cell in enumerate(self.cells)}

    @cached_property
    def beliefs(self) -> Floats:
        """The belief grid, then the other beliefs with exact values: shape (beliefs, contents)."""
        grid = simplex_grid(len(self.world.contents), self.intervals)
        return np.vstack([grid, *self.exact])

    @cached_property
    def certain(self) -> NDArray[np.intp]:
        """The position in the grid of certainty of each of the contents."""
        return np.asarray(np.argmax(self.beliefs, axis=0))

    @cached_property
    def next_cells(self) -> NDArray[np.intp]:
        """The position of the cell after each action at each cell, shape (cells, actions)."""
        rows = [[self.index[self.world.destination(cell, action)] for action in ACTIONS] for cell in self.cells]
        return np.array(rows, dtype=np.intp)

    @cached_property
    def visibility(self) -> Floats:
        """The probability of seeing the hidden spot from each cell."""
        return np.array([self.world.visibility[cell] for cell in self.cells])

    def action_values(self, desires: Floats) -> Floats:
        """Q for each desire, a row of rewards of the trucks: shape (cells, actions, desires, beliefs).

        Raises ValueError if the values do not converge, as they may not without costs and discount.
        """
        values = np.zeros((len(self.cells), len(desires), len(self.beliefs)))
        for _ in range(MOST_SWEEPS):
            best = self._best(values, desires)
            if np.abs(best - values).max() < TOLERANCE:
                return np.stack(list(self._by_action(best, desires)), axis=1)
            values = best
        raise ValueError(f"values have not converged after {MOST_SWEEPS} sweeps")

    def _best(self, values: Floats, desires: Floats) -> Floats:
        """max_a Q(b, x, a), given the values of the next states, where staying means to stay until something is seen.

        That is Σ_k γᵏ⁺¹ (1 − v)ᵏ v V_seen, a closed form that saves as many sweeps as it would take to see it.
        """
        share = self.visibility[:, None, None]
        again = 1.0 - self.discount * (1.0 - share)  # 0 for agents that would wait for ever and do not discount
        best = self.discount * share / np.where(again > 0.0, again, 1.0) * self._value_when_certain(values)
        for action in self._by_action(values, desires):
            np.maximum(best, action, out=best)
        return best

    def _by_action(self, values: Floats, desires: Floats) -> Iterator[Floats]:
        """Q of each of ACTIONS, given the values of the next states: shapes (cells, desires, beliefs)."""
        later = self.discount * self._value_on_arrival(values)
        known_index, hidden_index = self.index[self.world.known_spot], self.index[self.world.hidden_spot]
        for action, after in zip(ACTIONS, self.next_cells.T, strict=True):
            action_values = later[after]
            if action == EAT:
                action_values[known_index] = desires[:, :1]
                nothing = later[hidden_index][:, self.certain[-1:]]
                action_values[hidden_index] = desires[:, 1:] @ self.beliefs[:, :-1].T + self.beliefs[:, -1] * nothing
            yield action_values if action == STAY else action_values - self.world.cost

    def _value_on_arrival(self, values: Floats) -> Floats:
        """Σ_o P(o | b, x) V(b_o, x): the value of arriving at each cell, before seeing what can be seen there."""
        share = self.visibility[:, None, None]
        return (1.0 - share) * values + share * self._value_when_certain(values)

    def _value_when_certain(self, values: Floats) -> Floats:
        """Σ_w b(w) V(certain of w, x): the value at each cell after seeing what is parked."""
        return np.asarray(values[:, :, self.certain] @ self.beliefs.T)

    def weights(self, belief: Sequence[float]) -> Floats:
        """Barycentric weights of a belief: how it is mixed from the grid points around it, shape (beliefs,).

        The grid is triangulated as Freudenthal did, in cumulative coordinates. A belief of `exact` is not mixed.
        """
        if tuple(belief) in self.exact:
            position = len(self.beliefs) - len(self.exact) + self.exact.index(tuple(belief))
            return np.asarray(np.eye(len(self.beliefs))[position])
        tail = self.intervals * np.cumsum(np.asarray(belief)[::-1])[::-1]
        tail[0] = self.intervals
        base = np.floor(tail + TOLERANCE)
        fraction = np.clip(tail - base, 0.0, 1.0)
        order = np.argsort(-fraction, kind="stable")
        corners = base + np.vstack([np.zeros(len(tail)), np.cumsum(np.eye(len(tail))[order], axis=0)])
        shares = -np.diff(np.concatenate([[1.0], fraction[order], [0.0]]))
        weights = np.zeros(len(self.beliefs))
        for corner, share in zip(corners, shares, strict=True):
            if share > 0.0:
                point = (corner - np.append(corner[1:], 0.0)) / self.intervals
                weights[np.abs(self.beliefs - point).sum(axis=1).argmin()] += share
        return weights

    def q_values(self, desire: tuple[float, ...], belief: tuple[float, ...], cell: int) -> Floats:
        """Q of each of ACTIONS for one desire and belief at a cell."""
        if desire not in self._solved:
            self._solved[desire] = self.action_values(np.array([desire]))[:, :, 0]
        values: Floats = self._solved[desire][self.index[cell]] @ self.weights(belief)
        return values
