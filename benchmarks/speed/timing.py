"""Comparing two functions in one process: interleaved runs, the ratio of the minima."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """How many times longer the other function takes, and the least CPU time of each in milliseconds."""

    ratio: float
    ours_ms: float
    theirs_ms: float


def ratio(ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int = 15) -> Ratio:
    """Run both in random order, round by round; minima of CPU time, because noise only ever adds."""
    rng = np.random.default_rng(0)
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for which in rng.permutation(2):
            began = time.process_time()
            (ours, theirs)[which]()
            best[which] = min(best[which], time.process_time() - began)
    return Ratio(best[1] / best[0], 1e3 * best[0], 1e3 * best[1])


def step_times(episode: Iterable[object]) -> list[float]:
    """The CPU time of each step of an episode after the first, in milliseconds: people act, a facilitator decides."""
    return [1e3 * (after - before) for before, after in pairwise(_instants(episode))]


def _instants(episode: Iterable[object]) -> Iterator[float]:
    for _ in episode:
        yield time.process_time()
