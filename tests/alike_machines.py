"""Whether two machines play alike, whatever their states are called."""

from __future__ import annotations

from itertools import product

import pytest

from otherminds.minds.strategies import Machine


def alike(one: Machine, other: Machine) -> bool:
    """Whether two machines play alike after every history that is possible for both."""
    edge, seen = [(0, 0)], {(0, 0)}
    while edge:
        p, q = edge.pop()
        if one.outputs[p] != pytest.approx(other.outputs[q], abs=1e-6):
            return False
        for own, theirs in product(range(len(one.outputs[p])), repeat=2):
            pair = (one.moves[p][own][theirs], other.moves[q][own][theirs])
            if one.outputs[p][own] > 0 and pair not in seen:
                seen.add(pair)
                edge.append(pair)
    return True
