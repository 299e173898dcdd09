"""Players of Taboo: guessers with associations of their own, and clue givers that infer these associations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical, point_mass
from otherminds.observer import Observer
from otherminds.worlds.clue_games.associations import Associator, Floats, strengths
from otherminds.worlds.clue_games.taboo import CLUES, COST, PASS, PRIZE, Taboo, TabooExchange, TabooView

PRECISION = 6.0  # of a guess, per unit of association; chosen, not tuned
TIE = 1e-9  # values that differ by less are equal: rounding


class TabooGuesser(NamedTuple):
    """Guesses a word by its associations with all clues: P(g | clues) ∝ exp(precision · Σ_clue s[g, clue]).

    It does not repeat a guess. With precision 0 it guesses at random.
    """

    world: Taboo
    person: Associator
    precision: float = PRECISION
    view: TabooView | None = None

    @property
    def name(self) -> str:
        """The fields that the person knows."""
        return self.person.name

    def observe(self, view: TabooView) -> TabooGuesser:
        """The guesser after it has seen the clue."""
        return self._replace(view=view)

    def act(self) -> Categorical[int]:
        """P(guess | clues, wrong guesses); PASS until there is a clue."""
        if self.view is None or len(self.view.clues) == len(self.view.guesses):
            return point_mass(PASS)
        return _guess_law(self.world, self.person, self.precision, self.view.clues, self.view.guesses)

    def weights(self, clues: tuple[int, ...]) -> Floats:
        """exp(precision · Σ s), by word."""
        table = strengths(self.world.associations, self.person)
        weights: Floats = np.exp(self.precision * table[:, list(clues)].sum(axis=1))
        return weights


@lru_cache(maxsize=100_000)
def _guess_law(
    world: Taboo, person: Associator, precision: float, clues: tuple[int, ...], wrong: tuple[int, ...]
) -> Categorical[int]:
    weights = TabooGuesser(world, person, precision).weights(clues)
    scored = ((word, IMPOSSIBLE if word in wrong else score) for word, score in enumerate(np.log(weights).tolist()))
    return Categorical.from_scores(scored)


def guessers(world: Taboo) -> Iterator[TabooGuesser]:
    """The 21 partners: one for each of the people."""
    return (TabooGuesser(world, person) for person in world.associations.people)


# Exact values. Arrays have the axes (guesser, first wrong guess, second wrong guess, …).

Guessers = tuple[TabooGuesser, ...]


def _outcome(guessers: Guessers, target: int, clues: tuple[int, ...], later: Floats | None) -> Floats:
    """E[points from the last of these clues on], by guesser and earlier wrong guesses; `later` is worth after them."""
    weights = np.array([guesser.weights(clues) for guesser in guessers])
    wrong = len(clues) - 1
    size = weights.shape[1]
    axes = [(1,) * i + (size,) + (1,) * (wrong - i) for i in range(wrong + 1)]  # of each wrong guess, and of this one
    chance = weights.reshape(-1, *axes[wrong])
    left = weights.sum(axis=1).reshape(-1, *(1,) * wrong)
    for i in range(wrong):
        left = left - weights.reshape(-1, *axes[i][:wrong])
    value: Floats = PRIZE * weights[:, target].reshape(-1, *(1,) * wrong) / left - COST
    if later is not None:
        is_new = np.arange(size).reshape(axes[wrong]) != target
        for i in range(wrong):
            is_new = is_new & (np.arange(size).reshape(axes[wrong]) != np.arange(size).reshape(axes[i]))
        value = value + (chance * is_new * later).sum(axis=-1) / left
    return value


def clue_values(guessers: Guessers, target: int, given: tuple[int, ...] = ()) -> Floats:
    """Q[allowed clue, guesser, wrong guesses …] of the best responses to known guessers; −∞ for clues already given.

    Exact: backward induction over the clues given, in any order, and the wrong guesses. Read-only. Guesses that cannot
    be (the word itself, or the same twice) have values without a meaning. `given` is sorted.
    """
    # the values of the last clue are large and quickly found again
    return (_early_values if len(given) < CLUES - 1 else _clue_values)(guessers, target, given)


def _clue_values(guessers: Guessers, target: int, given: tuple[int, ...]) -> Floats:
    size = len(guessers[0].world.associations.words)
    allowed = guessers[0].world.allowed[target]
    values = np.full((len(allowed), len(guessers), *(size,) * len(given)), IMPOSSIBLE)
    for i, clue in enumerate(allowed):
        if clue not in given:
            clues = tuple(sorted((*given, clue)))
            later = clue_values(guessers, target, clues).max(axis=0) if len(clues) < CLUES else None
            values[i] = _outcome(guessers, target, clues, later)
    values.setflags(write=False)
    return values


_early_values = lru_cache(maxsize=20_000)(_clue_values)


def _after(values: Floats, wrong: tuple[int, ...]) -> Floats:
    """Q[allowed clue, guesser] after these wrong guesses."""
    for guess in wrong:
        values = values[:, :, guess]
    return values


def _best_clues(values: Floats) -> NDArray[np.bool_]:
    """Which clues are best, with the axes of `values`."""
    best: NDArray[np.bool_] = values >= values.max(axis=0) - TIE
    return best


def best(guesser: TabooGuesser, last: TabooExchange) -> float:
    """Expected points of the best response before the exchange, less those expected after it in the round."""

    def value(clues: tuple[int, ...], wrong: tuple[int, ...]) -> float:
        return float(_after(clue_values((guesser,), last.target, tuple(sorted(clues))), wrong).max())

    after = 0.0 if last.over else value(last.clues, last.guesses)
    return value(last.clues[:-1], last.guesses[:-1]) - after


def earned(assumed: TabooGuesser, true: TabooGuesser) -> float:
    """Exact expected points per round of the best response to `assumed`, played with `true`; ties to the first clue."""
    everybody = tuple(guessers(assumed.world))
    pool = everybody if true in everybody else (true,)
    return float(_earned(assumed, pool)[pool.index(true)])


@lru_cache(maxsize=256)
def _earned(assumed: TabooGuesser, pool: Guessers) -> Floats:
    """`earned`, by guesser of the pool."""
    world = assumed.world

    def followed(target: int, given: tuple[int, ...]) -> Floats:
        plan = _best_clues(clue_values((assumed,), target, given)).argmax(axis=0)  # (1, wrong guesses …)
        total = np.zeros((len(pool), *plan.shape[1:]))
        for i in np.unique(plan).tolist():
            if (clue := world.allowed[target][i]) not in given:
                clues = tuple(sorted((*given, clue)))
                later = followed(target, clues) if len(clues) < CLUES else None
                total = np.where(plan == i, _outcome(pool, target, clues, later), total)
        return total

    words = range(len(world.associations.words))
    mean: Floats = np.mean([followed(target, ()) for target in words], axis=0)
    return mean


# The open seat


@dataclass(frozen=True)
class TabooGiver:
    """Gives the clue with the best expected value under the guessers it considers: argmax_clue Σ_k P(k) Q_k.

    Q_k plans the whole round with guesser k, and P(k) is updated by each guess. With one guesser this is the best
    response; with several the giver never chooses a clue for what it would learn about the guesser.
    """

    partners: Observer[TabooGuesser]
    view: TabooView | None = None

    def observe(self, view: TabooView) -> Self:
        """The giver after an observation; a guess updates its beliefs, scored on what the partner saw (no word)."""
        partner_view = TabooView(None, view.clues, view.guesses, None)
        guess = view.last.guesses[-1] if view.last and len(view.clues) == len(view.guesses) else None
        partners = self.partners.see(partner_view) if guess is None else self.partners.watch(guess, partner_view)
        return replace(self, partners=partners, view=view)

    def predict(self) -> Categorical[int]:
        """P(partner's guess | clues); PASS with certainty before a clue."""
        return self.partners.predict()

    def act(self) -> Categorical[int]:
        """Uniform over the best clues; PASS once a clue is given."""
        view = self.view
        if view is None or view.target is None or len(view.clues) > len(view.guesses):
            return point_mass(PASS)
        pool = tuple(partner._replace(view=None) for partner in self.partners.minds)
        values = _after(clue_values(pool, view.target, tuple(sorted(view.clues))), view.guesses)
        is_best = _best_clues(values @ np.array(self.partners.posterior.probs))
        allowed = pool[0].world.allowed[view.target]
        return Categorical.uniform(allowed[i] for i in np.flatnonzero(is_best).tolist())


def informed(partner: TabooGuesser) -> TabooGiver:
    """A giver that knows the partner's associations."""
    return TabooGiver(Observer.over([partner]))


def bayesian(world: Taboo) -> TabooGiver:
    """A giver with a uniform prior over all partners."""
    return TabooGiver(Observer.over(guessers(world)))


def egocentric(world: Taboo) -> TabooGiver:
    """A giver that assumes the conventional associations and never learns otherwise."""
    return TabooGiver(Observer.over([TabooGuesser(world, world.associations.conventional)]))


def random(world: Taboo) -> TabooGiver:
    """A giver that expects random guesses, and so gives a random clue."""
    return TabooGiver(Observer.over([TabooGuesser(world, world.associations.conventional, precision=0.0)]))
