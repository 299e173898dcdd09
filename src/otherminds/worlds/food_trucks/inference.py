"""Joint inference of what an agent likes and what it expected, from where it walked: in vectors, for all hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from otherminds.observer import Observer
from otherminds.worlds.food_trucks.agent import BETA, Diner
from otherminds.worlds.food_trucks.planner import INTERVALS, FoodTruckPlanner, simplex_grid
from otherminds.worlds.food_trucks.rules import ACTIONS, STAY, FoodTruckState

Floats = NDArray[np.float64]

LEVELS = (-20.0, 0.0, 20.0, 40.0, 60.0, 80.0, 100.0)  # rewards a truck may have; Baker et al. 2017
UNCERTAINTY = 0.075  # the part of each hypothetical belief that is uniform; Baker et al. 2017


@dataclass(frozen=True)
class Hypotheses:
    """Every desire, a reward out of `levels` for each truck, with every initial belief; all are equally probable.

    Beliefs are the points of a simplex grid, mixed with the uniform belief in the proportion `uncertainty`, so that
    their values are interpolated; with `faithful=False` they are planned for exactly.
    """

    plain: FoodTruckPlanner
    levels: tuple[float, ...] = LEVELS
    intervals: int = INTERVALS
    uncertainty: float = UNCERTAINTY
    faithful: bool = True

    @cached_property
    def planner(self) -> FoodTruckPlanner:
        """What the agents plan with."""
        if self.faithful:
            return self.plain
        return replace(self.plain, intervals=1, exact=tuple(map(tuple, self.beliefs.tolist())))

    @cached_property
    def desires(self) -> Floats:
        """Rewards of the trucks, shape (desires, trucks)."""
        return np.array(list(product(self.levels, repeat=len(self.planner.world.trucks))))

    @cached_property
    def desire_levels(self) -> Floats:
        """The levels of the rewards, counted from 1, shape (desires, trucks)."""
        return np.searchsorted(self.levels, self.desires).astype(np.float64) + 1.0

    @cached_property
    def beliefs(self) -> Floats:
        """Probabilities of the contents of the hidden spot, shape (beliefs, contents)."""
        contents = len(self.plain.world.contents)
        return (1.0 - self.uncertainty) * simplex_grid(contents, self.intervals) + self.uncertainty / contents

    @cached_property
    def values(self) -> Floats:
        """Q for each hypothesis, then for each certainty: shape (cells, actions, desires, beliefs + contents)."""
        planner = self.planner
        mixing = np.array([planner.weights(belief) for belief in self.beliefs])
        mixing = np.vstack([mixing, np.eye(len(planner.beliefs))[planner.certain]])
        return np.asarray(planner.action_values(self.desires) @ mixing.T)

    def observer(self, beta: float = BETA) -> Observer[Diner]:
        """The same hypotheses as minds, one for each desire and belief."""
        pairs = product(self.desires.tolist(), self.beliefs.tolist())
        return Observer.over(Diner(self.planner, tuple(desire), tuple(belief), beta) for desire, belief in pairs)


@dataclass(frozen=True)
class JointInference:
    """P(desire, initial belief | path) over `hypotheses`, for agents with rationality `beta`."""

    hypotheses: Hypotheses
    beta: float = BETA
    _cache: dict[tuple[int, str, str], tuple[Floats, Floats]] = field(default_factory=dict, repr=False, compare=False)

    def policy(self, cell: int) -> Floats:
        """P(action) at a cell in the order of ACTIONS: shape (actions, desires, beliefs + contents)."""
        values = self.hypotheses.values[self.hypotheses.planner.index[cell]]
        odds = np.exp(self.beta * (values - values.max(axis=0)))
        return np.asarray(odds / odds.sum(axis=0))

    def likelihood(self, cell: int, parked: str, action: str) -> tuple[Floats, Floats]:
        """P(action) of an agent that has not seen what is parked, shape (desires, beliefs), and of one that has.

        The latter has the shape (desires, 1). An action without effect is seen as staying.
        """
        key = cell, parked, action
        if key not in self._cache:
            world = self.hypotheses.planner.world
            n = len(self.hypotheses.beliefs)
            effective = world.actions(FoodTruckState(cell, parked, False), "")
            matches = [(a if a in effective else STAY) == action for a in ACTIONS]
            probability = self.policy(cell)[matches].sum(axis=0)
            certain = n + world.contents.index(parked)
            self._cache[key] = probability[:, :n], probability[:, certain : certain + 1]
        return self._cache[key]

    def posteriors(
        self, parked: str, cells: Sequence[int], actions: Iterable[str], *, informed: bool = False
    ) -> Floats:
        """The posterior before the first action and after each one: shape (1 + actions, desires, beliefs).

        The observer knows what is parked, and not whether the agent saw it. So it keeps for each hypothesis the
        probability of the path together with having seen it, and with not having seen it: a forward algorithm.
        Agents that are `informed` know from the start what is parked, so that nothing is learned about beliefs.
        """
        shape = len(self.hypotheses.desires), len(self.hypotheses.beliefs)
        prior = np.full(shape, 1.0 / (shape[0] * shape[1]))
        p_seen, p_unseen = (prior, 0.0 * prior) if informed else (0.0 * prior, prior)
        posteriors = [prior]
        for cell, action in zip(cells, actions, strict=False):
            p_glance = self.hypotheses.planner.world.visibility[cell]
            blind, sighted = self.likelihood(cell, parked, action)
            p_seen = (p_seen + p_glance * p_unseen) * sighted
            p_unseen = (1.0 - p_glance) * p_unseen * blind
            total = p_seen.sum() + p_unseen.sum()
            p_seen, p_unseen = p_seen / total, p_unseen / total
            posteriors.append(p_seen + p_unseen)
        return np.array(posteriors)

    def desire_level(self, posterior: Floats) -> Floats:
        """The expected level of each truck's reward, counted from 1: shape (trucks,)."""
        return np.asarray(posterior.sum(axis=1) @ self.hypotheses.desire_levels)

    def belief(self, posterior: Floats) -> Floats:
        """The expected initial belief: shape (contents,)."""
        return np.asarray(posterior.sum(axis=0) @ self.hypotheses.beliefs)
