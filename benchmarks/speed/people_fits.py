"""How long it takes to fit all minds to all 217 people of rock-paper-scissors, on two processes.

For `make bench`: policies in vectors and one by one, for 31 people, 50 rounds and 16 points of parameters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.keeping import keep, option
from otherminds.evaluation.fitting import weakly
from otherminds.evaluation.likelihoods import Likelihood, one_by_one
from otherminds.papers.people.datasets import dataset
from otherminds.papers.people.experiment import minds_of
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


def fitted(name: str) -> float:
    """CPU seconds of fitting a mind to everybody."""
    choices, began = dataset("human-rps"), time.process_time()
    weakly(Likelihood.of(MINDS[name], choices))
    return time.process_time() - began


def all_fitted() -> tuple[float, float]:
    """Seconds and CPU seconds of fitting all minds to everybody, on two processes."""
    began, names = time.perf_counter(), [mind.name for mind in minds_of("human-rps")]
    with ProcessPoolExecutor(2) as pool:
        cpu = sum(pool.map(fitted, reversed(names)))
    return time.perf_counter() - began, cpu


def main() -> None:
    """Print and keep the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option(parser)
    chosen = parser.parse_args()
    wall, cpu = all_fitted()
    print(f"{len(minds_of('human-rps'))} minds fitted to 217 people: {wall:.0f} s on two processes, {cpu:.0f} s CPU")
    keep(chosen.json, "people_fits", {("all minds, 217 people", "s"): wall, ("all minds, 217 people", "CPU s"): cpu})


if __name__ == "__main__":
    main()
