"""Play the engine of Melting Pot and the library's own rules side by side, and count where they disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from otherminds.adapters.comparison import Comparison
from otherminds.adapters.cooking_check import check_kitchen
from otherminds.adapters.matrix_check import check_matrix
from otherminds.adapters.recording import Shows, record
from otherminds.adapters.traces import SeenKitchen, Trace


def check(trace: Trace[Any]) -> Comparison:
    """Hold the rules of its world against a recorded episode."""
    return check_kitchen(trace) if isinstance(trace.shown[0], SeenKitchen) else check_matrix(trace)


def verify(engine: Shows, steps: int, rng: np.random.Generator) -> Iterator[Comparison]:
    """Hold the rules against so many fresh steps of an engine, episode by episode."""
    return map(check, record(engine, steps, rng))


def summed(comparisons: Iterable[Comparison]) -> Comparison:
    """All comparisons as one; mismatches are told with the number of the episode."""
    steps, mismatches, counts = 0, list[str](), Counter[str]()
    for episode, comparison in enumerate(comparisons, 1):
        steps += comparison.steps
        mismatches += [f"episode {episode}, {mismatch}" for mismatch in comparison.mismatches]
        counts.update(comparison.counts, episodes=1)
    return Comparison(steps, tuple(mismatches), dict(counts))
