"""Players of Wavelength: guessers with a distorted dial, and clue givers that infer the distortion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, point_mass
from otherminds.observer import Observer
from otherminds.worlds.clue_games.wavelength import PASS, Wavelength, WavelengthView, score

Floats = NDArray[np.float64]

SLOPES = (0.6, 0.8, 1.0, 1.2, 1.4)  # distortions of partners around 1, the conventional dial; chosen, not tuned
OFFSETS = (-0.2, -0.1, 0.0, 0.1, 0.2)  # shifts of partners, as shares of the dial; chosen, not tuned
NOISE = 1.0  # standard deviation of guesses, in positions; chosen, not tuned
TIE = 1e-9  # scores that differ by less are equal: rounding


@dataclass(frozen=True)
class Dial:
    """Where a guesser puts a clue with conventional place x: d = clip(½ + slope · (x − ½) + offset, 0, 1).

    Guesses are a discretised Gaussian around it, P(g) ∝ exp(−(g − d · (positions − 1))² / 2 noise²), with the noise in
    positions. Raises ValueError unless the noise is above 0.
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
        """d in positions."""
        return min(1.0, max(0.0, 0.5 + self.slope * (x - 0.5) + self.offset)) * (self.world.positions - 1)

    @cached_property
    def laws(self) -> tuple[tuple[Categorical[int], ...], ...]:
        """P(guess | clue), for each clue of each spectrum."""

        def law(middle: float) -> Categorical[int]:
            scores = ((g, -(((g - middle) / self.noise) ** 2) / 2) for g in range(self.world.positions))
            return Categorical.softmax(scores)

        return tuple(tuple(law(self.position(x)) for x in spectrum.places) for spectrum in self.world.spectra)

    @cached_property
    def scores(self) -> tuple[Floats, ...]:
        """E[score | target, clue]: for each spectrum an array of shape (positions, clues)."""
        positions = range(self.world.positions)
        score_of = np.array([[score(guess - target) for guess in positions] for target in positions])  # [target, guess]
        return tuple(score_of @ np.array([law.probs for law in laws]).T for laws in self.laws)


class Guesser(NamedTuple):
    """A partner that sets the dial to where it places the clue, with noise."""

    dial: Dial
    view: WavelengthView | None = None

    @property
    def name(self) -> str:
        """Its slope and offset."""
        return f"slope {self.dial.slope:g} offset {self.dial.offset:g}"

    def observe(self, view: WavelengthView) -> Guesser:
        """The guesser after it has seen the spectrum and the clue."""
        return Guesser(self.dial, view)

    def act(self) -> Categorical[int]:
        """P(guess | clue); PASS until there is a clue."""
        if self.view is None or self.view.clue is None:
            return point_mass(PASS)
        return self.dial.laws[self.view.spectrum][self.view.clue]


def guessers(world: Wavelength, *, noise: float = NOISE) -> Iterator[Guesser]:
    """The 25 partners: 5 slopes × 5 offsets; offsets vary fastest."""
    for slope, offset in product(SLOPES, OFFSETS):
        yield Guesser(Dial(world, slope, offset, noise))


@dataclass(frozen=True)
class Giver:
    """Gives the clue with the best expected score under the dials it considers: argmax_clue Σ_k P(k) E_k[score].

    P(k) is updated by each guess. The giver is myopic: it never chooses a clue for what it would learn.
    """

    partners: Observer[Guesser]
    view: WavelengthView | None = None

    def observe(self, view: WavelengthView) -> Self:
        """The giver after an observation; a guess updates its beliefs, scored on what the partner saw (no target)."""
        partner_view = view._replace(target=None)
        guess = view.last.guess if view.last is not None and view.clue is None else None
        partners = self.partners.see(partner_view) if guess is None else self.partners.watch(guess, partner_view)
        return replace(self, partners=partners, view=view)

    def predict(self) -> Categorical[int]:
        """P(partner's guess | clue); PASS with certainty before the clue."""
        return self.partners.predict()

    def act(self) -> Categorical[int]:
        """Uniform over the best clues; PASS once a clue is given."""
        if self.view is None or self.view.clue is not None or self.view.target is None:
            return point_mass(PASS)
        spectrum, target = self.view.spectrum, self.view.target
        by_clue = np.sum([p * partner.dial.scores[spectrum][target] for partner, p in self.partners.posterior], axis=0)
        return Categorical.uniform(np.flatnonzero(by_clue >= by_clue.max() - TIE).tolist())


def informed(partner: Guesser) -> Giver:
    """A giver that knows the partner's dial."""
    return Giver(Observer.over([partner]))


def bayesian(world: Wavelength, *, noise: float = NOISE) -> Giver:
    """A giver with a uniform prior over all 25 partners."""
    return Giver(Observer.over(guessers(world, noise=noise)))


def egocentric(world: Wavelength, *, noise: float = NOISE) -> Giver:
    """A giver that assumes the conventional dial and never learns otherwise."""
    return Giver(Observer.over([Guesser(Dial(world, noise=noise))]))


def random(world: Wavelength) -> Giver:
    """A giver that expects the same guesses for all clues, and so gives a random one."""
    return Giver(Observer.over([Guesser(Dial(world, slope=0.0, noise=world.positions / 2))]))


def earned(assumed: Guesser, true: Guesser) -> float:
    """Exact expected score per round of the best response to `assumed`, played with `true`; the optimum if both agree.

    Spectra and targets are uniform; ties go to the first clue.
    """
    means = []  # for each spectrum, over its targets
    for assumed_scores, true_scores in zip(assumed.dial.scores, true.dial.scores, strict=True):
        clues = assumed_scores.argmax(axis=1)[:, None]
        means.append(np.take_along_axis(true_scores, clues, axis=1).mean())
    return float(np.mean(means))


def best(partner: Guesser, spectrum: int, target: int) -> float:
    """Expected score of the best clue for the partner."""
    return float(partner.dial.scores[spectrum][target].max())
