"""Policies of minds fitted to people, in vectors and one by one: 31 people, 50 rounds, 16 points of parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.fitting import Likelihood, one_by_one
from otherminds.papers.people.datasets import dataset
from otherminds.worlds.repeated_games.players.parametric import MINDS

NAMES = ("wsls", "q_perseveration", "joint_counts", "outcome_transitions", "rule_lookahead")
POINTS, ROUNDS = 16, 50
Floats = NDArray[np.float64]


def _likelihood(name: str) -> tuple[Likelihood, dict[str, Floats]]:
    every = dataset("human-rps").of_group("prev_move_positive").subset(range(31))
    parts = {part: getattr(every, part)[:, :ROUNDS] for part in ("own", "theirs", "number")}
    mind, rng = MINDS[name], np.random.default_rng(0)
    values = {p.name: rng.uniform(*p.typical, size=(len(every.people), POINTS)) for p in mind.parameters}
    return Likelihood.of(mind, replace(every, **parts)), values


def ours(name: str) -> Callable[[], Floats]:
    """A function that returns π, shape (people, points, rounds, actions), in vectors."""
    likelihood, values = _likelihood(name)
    return lambda: likelihood.probabilities(values)


def plain(name: str) -> Callable[[], Floats]:
    """The same by a loop over minds' `act()`."""
    likelihood, values = _likelihood(name)
    return lambda: one_by_one(likelihood.mind, likelihood.choices, values)
