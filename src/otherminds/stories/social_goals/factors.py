"""What the happenings of a story say of a companion's mind, one factor each, over few variables at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from otherminds.stories.model import Happening
from otherminds.worlds.household.rules import Home
from otherminds.worlds.household.searcher import Errand

ILLEGAL = 1e-9

Floats = NDArray[np.float64]
Errands = Mapping[Errand | None, float]


@dataclass(frozen=True)
class Factor:
    """What one happening says, as log p: given the start place T, shape (n,); or, of what the companion saw, given T
    and its belief (0: no idea, 1 + i: place i), shape (n, n + 1); or, of its words, given its belief and stance, shape
    (n + 1, 3); or, of its deeds, given its errand, where None stands for every errand that is not listed."""

    happening: Happening
    places: Floats | None = None
    beliefs: Floats | None = None
    replies: Floats | None = None
    errands: Errands | None = None


def together(one: Factor, other: Factor) -> Factor:
    """What two happenings say together, of which the later is told of."""
    errands = one.errands or other.errands
    if one.errands is not None and other.errands is not None:
        every = {*one.errands, *other.errands}
        errands = {errand: log_p_of(one.errands, errand) + log_p_of(other.errands, errand) for errand in every}
    return Factor(
        other.happening,
        _sum(one.places, other.places),
        _sum(one.beliefs, other.beliefs),
        _sum(one.replies, other.replies),
        errands,
    )


def log_p_of(errands: Errands, errand: Errand | None) -> float:
    """What deeds say for an errand."""
    return errands.get(errand, errands.get(None, 0.0))


def _sum(one: Floats | None, other: Floats | None) -> Floats | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True)
class Evidence:
    """The factors of all happenings, the prior of the companion's belief given T, and where the thing was, given T.

    `believed[T, b]` is the probability of its belief b when it spoke (or at the end), had it seen nothing; `truth[T]`
    is the number of the place where the thing was then, −1 while it was carried. `start` is where the story says the
    thing was at the start, `lies` where it lay before the companion took it.
    """

    home: Home
    factors: tuple[Factor, ...]
    believed: Floats
    truth: NDArray[np.int_]
    start: str | None
    lies: str | None

    @cached_property
    def prior(self) -> Floats:
        """log P(T, b) before anything has happened, up to a constant, shape (n, n + 1)."""
        starts = [self.start in (None, place.name) for place in self.home.places]
        return cast("Floats", np.where(starts, 0.0, math.log(ILLEGAL))[:, None] + np.log(self.believed))
