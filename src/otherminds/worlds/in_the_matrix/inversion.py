"""What the partner held in a meeting, from what one held oneself and was paid: the payoff run backward."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, log

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import Inventory, play_of

MOST = 14
"""How much more than one of each somebody is taken to hold at most; less if there are more kinds than usual."""
MANY = 20_000
IMPURE, LARGE = 0.3, 0.9
SAME = 1e-9


def held_by_partner(
    rules: Rules, own: Inventory, reward: float, *, zapped: bool | None = None
) -> Categorical[Inventory]:
    """P(partner's inventory | own inventory, reward): those that pay so, by how likely anybody is to hold them.

    An inventory is the likelier the smaller and purer it is, P(y) ∝ LARGE^(all beyond one of each) · IMPURE^(what of
    it is not of the kind they have most of). `zapped` says whether one was the column player oneself, if that is known.
    If nothing pays so exactly, the nearest ones are taken.
    """
    kinds = len(own)
    scored = []
    for other, weight in _likely(kinds):
        payoffs = _payoffs(rules, own, other, zapped)
        scored.append((min(abs(payoff - reward) for payoff in payoffs), other, weight))
    nearest = min(error for error, _, _ in scored)
    limit = max(nearest, SAME) + SAME
    return Categorical.from_scores((other, weight) for error, other, weight in scored if error <= limit)


def played_by_partner(held: Categorical[Inventory]) -> Categorical[int | None]:
    """P(the kind the partner played): None stands for a tie."""
    return held.map(play_of)


def _payoffs(rules: Rules, own: Inventory, other: Inventory, zapped: bool | None) -> Iterator[float]:
    if zapped is not True:
        yield rules.reward(own, other)[0]
    if zapped is not False:
        yield rules.reward(other, own)[1]


@lru_cache(maxsize=8)
def _likely(kinds: int) -> tuple[tuple[Inventory, float], ...]:
    """All inventories and the logarithms of their prior weights."""
    found = []
    limit = max(m for m in range(1, MOST + 1) if m == 1 or comb(m + kinds, kinds) <= MANY)
    for extra in _parts(limit, kinds):
        total, most = sum(extra), max(extra)
        if total:
            found.append((tuple(1 + count for count in extra), total * log(LARGE) + (total - most) * log(IMPURE)))
    return tuple(found)


def _parts(most: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways to have at most so many in all."""
    if kinds == 0:
        yield ()
        return
    for count in range(most + 1):
        for rest in _parts(most - count, kinds - 1):
            yield (count, *rest)
