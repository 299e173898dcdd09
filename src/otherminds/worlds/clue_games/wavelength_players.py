"""Minds for Wavelength: guessers with a dial of their own, and clue givers who work out how it is turned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.clue_games.wavelength import PASS, View, Wavelength, score

Floats = NDArray[np.float64]

SLOPES = (0.6, 0.8, 1.0, 1.2, 1.4)
OFFSETS = (-0.2, -0.1, 0.0, 0.1, 0.2)
NOISE = 1.0
TIE = 1e-9


@dataclass(frozen=True)
class Dial:
    """Where somebody puts a clue that most people have at x: d = clip(½ + slope · (x − ½) + offset, 0, 1).

    The guess is a discretised Gaussian around it, P(g) ∝ exp(−(g − d · (positions − 1))² / 2 noise²), the noise being
    counted in positions. Raises ValueError unless the noise is above 0.
    """

    world: Wavelength
    slope: float = 1.0
    offset: float = 0.0
    noise: float = NOISE

    def __post_init__(self) -> None:
        if not self.noise > 0.0:
            raise ValueError(f"the noise must be above 0, not {self.noise:g}")

    def __hash__(self) -> int:
        return hash((self.slope, self.offset, self.noise))

    def position(self, x: float) -> float:
        """d, counted in positions."""
        return min(1.0, max(0.0, 0.5 + self.slope * (x - 0.5) + self.offset)) * (self.world.positions - 1)

    @cached_property
    def laws(self) -> tuple[tuple[Categorical[int], ...], ...]:
        """P(guess | clue), for every clue of every spectrum."""
        return tuple(tuple(self._law(self.position(x)) for x in spectrum.places) for spectrum in self.world.spectra)

    def _law(self, middle: float) -> Categorical[int]:
        return Categorical.softmax((g, -(((g - middle) / self.noise) ** 2) / 2) for g in range(self.world.positions))

    @cached_property
    def scores(self) -> tuple[Floats, ...]:
        """E[score | target, clue], for every spectrum an array of shape (positions, clues)."""
        span = range(self.world.positions)
        by_guess = np.array([[score(guess - target) for guess in span] for target in span])
        return tuple(by_guess @ np.array([law.probs for law in laws]).T for laws in self.laws)


class Guesser(NamedTuple):
    """A partner who turns the dial to where it thinks that the clue belongs."""

    dial: Dial
    view: View | None = None

    @property
    def name(self) -> str:
        """What tells it from other partners."""
        return f"slope {self.dial.slope:g} offset {self.dial.offset:g}"

    def observe(self, view: View) -> Guesser:
        """See the spectrum and the clue."""
        return Guesser(self.dial, view)

    def act(self) -> Categorical[int]:
        """P(guess | clue); passing until there is one."""
        if self.view is None or self.view.clue is None:
            return Categorical((PASS,), (0.0,))
        return self.dial.laws[self.view.spectrum][self.view.clue]


def guessers(world: Wavelength, *, noise: float = NOISE) -> Iterator[Guesser]:
    """The 25 partners: 5 slopes × 5 offsets, offsets varying fastest."""
    for slope, offset in product(SLOPES, OFFSETS):
        yield Guesser(Dial(world, slope, offset, noise))


@dataclass(frozen=True)
class Giver:
    """Gives the clue that scores best in expectation, given the dials it considers: argmax_clue Σ_k P(k) E_k[score].

    P(k) follows from every guess. It looks one round ahead, and gives no clue for the sake of what it will learn.
    """

    partners: Observer[Guesser]
    view: View | None = None

    def observe(self, view: View) -> Self:
        """See the next state; the partner is watched with what it saw, which is not the target."""
        seen = view._replace(target=None)
        guess = view.last.guess if view.last is not None and view.clue is None else None
        partners = self.partners.see(seen) if guess is None else self.partners.watch(guess, seen)
        return replace(self, partners=partners, view=view)

    def predict(self) -> Categorical[int]:
        """P(the partner's guess | the clue); that it passes, before there is a clue."""
        return self.partners.predict()

    def act(self) -> Categorical[int]:
        """Uniform over the best clues; passing once one is given."""
        if self.view is None or self.view.clue is not None or self.view.target is None:
            return Categorical((PASS,), (0.0,))
        table = [p * k.dial.scores[self.view.spectrum][self.view.target] for k, p in self.partners.posterior]
        worth = np.sum(table, axis=0)
        return Categorical.uniform(np.flatnonzero(worth >= worth.max() - TIE).tolist())


def informed(partner: Guesser) -> Giver:
    """Who knows the partner's dial."""
    return Giver(Observer.over([partner]))


def bayesian(world: Wavelength, *, noise: float = NOISE) -> Giver:
    """Who holds all 25 partners for equally probable at first."""
    return Giver(Observer.over(guessers(world, noise=noise)))


def egocentric(world: Wavelength, *, noise: float = NOISE) -> Giver:
    """Who takes it that the partner has everything where most people have it, and never learns otherwise."""
    return Giver(Observer.over([Guesser(Dial(world, noise=noise))]))


def random(world: Wavelength) -> Giver:
    """Who expects guesses anywhere around the middle whatever the clue, so that one is as good as any other."""
    return Giver(Observer.over([Guesser(Dial(world, slope=0.0, noise=world.positions / 2))]))


def earned(held: Guesser, true: Guesser) -> float:
    """The exact expected score of a round with one partner for the best response to another; the same for the optimum.

    Over spectra and targets drawn uniformly; ties go to the first clue.
    """
    pairs = zip(held.dial.scores, true.dial.scores, strict=True)
    return float(np.mean([np.take_along_axis(t, h.argmax(axis=1)[:, None], axis=1).mean() for h, t in pairs]))


def best(partner: Guesser, spectrum: int, target: int) -> float:
    """What the best clue for the partner expects to score."""
    return float(partner.dial.scores[spectrum][target].max())
