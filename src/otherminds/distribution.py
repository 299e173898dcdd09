"""Finite distributions in log space: the currency every mind and observer trades in."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from otherminds.errors import shortened
from otherminds.files.html import bars

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)
A = TypeVar("A", bound=Hashable)

IMPOSSIBLE = -math.inf


class Distribution(Protocol[A]):
    """Anything that scores and samples: a table, a language model's text, a point prediction."""

    def log_prob(self, x: A, /) -> float:
        """log p(x), in nats; −∞ where x is impossible."""

    def sample(self, rng: np.random.Generator, /) -> A:
        """Draw x ~ p."""


def log_sum_exp(values: Iterable[float]) -> float:
    """log Σᵢ exp vᵢ without overflow; −∞ for an empty or all-impossible sum."""
    terms = list(values)
    top = max(terms, default=IMPOSSIBLE)
    return top if math.isinf(top) else top + math.log(sum([math.exp(v - top) for v in terms]))


SHOWN, LONGEST = 6, 30  # outcomes of a distribution that its `repr` shows, and their characters; chosen
MEANT = {
    **dict.fromkeys(("items", "to_dict", "as_dict"), "dict(c) has the probabilities by outcome"),
    **dict.fromkeys(("keys", "outcomes", "values"), "c.support has the outcomes, c.probs the probabilities"),
    **dict.fromkeys(("p", "pmf", "probabilities", "get"), "c.prob(x), c[x] and c.probs are probabilities"),
    **dict.fromkeys(("argmax", "max", "best", "map_estimate"), "c.mode is the likeliest outcome"),
    **dict.fromkeys(("mean", "average", "expectation"), "c.expect(f) is the mean of f(x)"),
    **dict.fromkeys(("plot", "show", "bar"), "otherminds.plot_posterior(c) draws it"),
    **dict.fromkeys(("draw", "rvs", "choice"), "c.sample(rng) draws an outcome"),
    **dict.fromkeys(("filter", "given", "where"), "c.condition(event) keeps the outcomes where event(x) holds"),
}
"""What is meant by what a distribution does not have."""


@dataclass(frozen=True, repr=False)
class Categorical(Generic[T]):
    """A probability distribution over finitely many outcomes, normalised, in log space (nats).

    `log_probs[i]` is log p(`support[i]`); outcomes are hashable, and none comes twice. Iterating gives pairs (x, p(x)),
    and `dict` of it the probabilities by outcome.
    """

    support: tuple[T, ...]
    log_probs: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.support) != len(self.log_probs):
            raise TypeError(
                "a Categorical is made by Categorical.of({outcome: share, …}), uniform, softmax or from_scores"
            )

    @classmethod
    def from_scores(cls, scored: Iterable[tuple[T, float]]) -> Categorical[T]:
        """Normalise log weights: p(x) ∝ Σ exp(score of x), pooling repeated outcomes.

        Raises ValueError if no outcome has a finite score.
        """
        pooled: dict[T, float] = {}
        for x, score in scored:
            before = pooled.get(x, IMPOSSIBLE)
            if before == IMPOSSIBLE:
                pooled[x] = score
            elif score > IMPOSSIBLE:  # the log of a sum of two, without the lists of `log_sum_exp`
                high, low = (before, score) if before > score else (score, before)
                pooled[x] = high if math.isinf(high) else high + math.log(1.0 + math.exp(low - high))
        total = log_sum_exp(pooled.values())
        if not math.isfinite(total):
            raise ValueError("a distribution needs at least one outcome with a finite log weight")
        return cls(tuple(pooled), tuple(score - total for score in pooled.values()))

    @classmethod
    def of(cls, shares: Mapping[T, float]) -> Categorical[T]:
        """p(x) ∝ the share of x. Raises ValueError for a negative share, or if all are 0."""
        if not isinstance(shares, Mapping):
            raise TypeError("Categorical.of takes {outcome: share, …}; Categorical.uniform takes outcomes")
        if any(share < 0.0 for share in shares.values()):
            raise ValueError("shares are 0 or more")
        return cls.from_scores((x, math.log(share) if share else IMPOSSIBLE) for x, share in shares.items())

    @classmethod
    def uniform(cls, outcomes: Iterable[T]) -> Categorical[T]:
        """p(x) = 1/n over n outcomes (repeated ones count as often as they occur)."""
        return cls.from_scores((x, 0.0) for x in outcomes)

    @classmethod
    def softmax(cls, scored: Iterable[tuple[T, float]], *, lapse: float = 0.0) -> Categorical[T]:
        """p(x) = (1 − lapse) · exp(score) / Σ exp(score) + lapse / n over n different outcomes.

        Raises ValueError if no outcome has a score above −∞, or a score is not a number.
        """
        outcomes, scores = zip(*scored, strict=True)
        top = max(scores)
        if top == IMPOSSIBLE:
            raise ValueError("a distribution needs at least one outcome with a finite score")
        excess = [0.0 if s == top else s - top for s in scores]
        weights = [math.exp(e) for e in excess]
        if math.isnan(sum(weights)):
            raise ValueError("a score of a distribution is not a number")
        if not lapse:
            total = math.log(sum(weights))
            return cls(tuple(outcomes), tuple(e - total for e in excess))
        scale, floor = (1.0 - lapse) / sum(weights), lapse / len(weights)
        return cls(tuple(outcomes), tuple(math.log(w * scale + floor) for w in weights))

    @classmethod
    def boltzmann(cls, costs: Iterable[tuple[T, float]], *, beta: float, lapse: float = 0.0) -> Categorical[T]:
        """p(x) = (1 − lapse) · exp(−beta · cost) / Σ … + lapse / n; an infinite beta takes the cheapest only."""
        pairs = list(costs)
        least = min(cost for _, cost in pairs)
        scored = ((x, 0.0 if cost == least else -beta * (cost - least)) for x, cost in pairs)
        return cls.softmax(scored, lapse=lapse)

    @cached_property
    def _index(self) -> dict[T, int]:
        return {x: i for i, x in enumerate(self.support)}

    def __iter__(self) -> Iterator[tuple[T, float]]:
        return zip(self.support, self.probs, strict=True)

    def __len__(self) -> int:
        return len(self.support)

    def __getitem__(self, x: T) -> float:
        """p(x). Raises KeyError outside the support, where `prob` is 0."""
        if x not in self._index:
            raise KeyError(f"{x!r} is none of its outcomes, {self!r}")
        return self.prob(x)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raises AttributeError, which says what may have been meant."""
            meant = f": {MEANT[name]}" if name in MEANT else ""
            raise AttributeError(f"a Categorical has no `{name}`{meant}")

    def __repr__(self) -> str:
        """The likeliest outcomes with their probabilities, in the order of the support."""
        likeliest = sorted(range(len(self)), key=lambda i: -self.log_probs[i])[:SHOWN]
        lines = (
            f"{shortened(str(self.support[i]), LONGEST)}: {math.exp(self.log_probs[i]):.2f}" for i in sorted(likeliest)
        )
        more = f", {len(self) - SHOWN} more" if len(self) > SHOWN else ""
        return f"Categorical({', '.join(lines)}{more})"

    def _repr_html_(self) -> str:
        return bars("", list(self))

    @property
    def probs(self) -> tuple[float, ...]:
        """The probabilities, in the order of `support`."""
        return tuple(math.exp(lp) for lp in self.log_probs)

    def log_prob(self, x: T, /) -> float:
        """log p(x), in nats; −∞ outside the support."""
        i = self._index.get(x)
        return IMPOSSIBLE if i is None else self.log_probs[i]

    def prob(self, x: T) -> float:
        """p(x); 0 outside the support."""
        return math.exp(self.log_prob(x))

    def sample(self, rng: np.random.Generator, /) -> T:
        """Draw x ~ p by inverting the cumulative distribution with one uniform number."""
        return self.decode(rng.random())[0]

    def decode(self, u: float) -> tuple[T, float]:
        """The outcome in whose part of [0, 1) u lies, and where in that part: uniform again, if u was.

        So one number can make all choices of an episode, and evenly spaced numbers spread episodes over all choices.
        """
        total = 0.0
        for x, p in self:
            if u < total + p:
                return x, (u - total) / p
            total += p
        return self.mode, 0.5

    @property
    def mode(self) -> T:
        """The most probable outcome; the earliest in `support` among equals."""
        return self.support[max(range(len(self.support)), key=self.log_probs.__getitem__)]

    def map(self, f: Callable[[T], U]) -> Categorical[U]:
        """The pushforward of p under f: every question about a mind is posed this way."""
        return Categorical.from_scores((f(x), lp) for x, lp in zip(self.support, self.log_probs, strict=True))

    def bind(self, f: Callable[[T], Categorical[U]]) -> Categorical[U]:
        """The mixture Σₓ p(x) f(x): what is expected of an agent whose mind is uncertain."""
        return Categorical.from_scores(
            (y, lp + lq)
            for x, lp in zip(self.support, self.log_probs, strict=True)
            if lp > IMPOSSIBLE
            for q in (f(x),)
            for y, lq in zip(q.support, q.log_probs, strict=True)
        )

    def joint(self, f: Callable[[T], Categorical[U]]) -> Categorical[tuple[T, U]]:
        """p(x, y) = p(x) f(x)(y), over pairs."""
        return self.bind(lambda x: f(x).map(lambda y: (x, y)))

    def update(self, log_likelihood: Callable[[T], float]) -> Categorical[T]:
        """Bayes' rule: p(x | e) ∝ p(x) p(e | x), from log p(e | x). Raises ValueError if nothing explains e."""
        scored = zip(self.support, self.log_probs, strict=True)
        return Categorical.from_scores((x, lp + log_likelihood(x)) for x, lp in scored if lp > IMPOSSIBLE)

    def condition(self, event: Callable[[T], bool]) -> Categorical[T]:
        """p(x | event), over the outcomes where the event holds. Raises ValueError if it has probability 0."""
        return Categorical.from_scores((x, lp) for x, lp in zip(self.support, self.log_probs, strict=True) if event(x))

    def expect(self, f: Callable[[T], float]) -> float:
        """E[f(x)] = Σₓ p(x) f(x); outcomes of probability 0 are skipped."""
        return sum(p * f(x) for x, p in self if p > 0.0)

    @property
    def entropy(self) -> float:
        """H = −Σ p log p, in nats."""
        return -sum(p * lp for p, lp in zip(self.probs, self.log_probs, strict=True) if p > 0.0)


def point_mass(x: T) -> Categorical[T]:
    """The distribution with probability 1 on an outcome."""
    return Categorical((x,), (0.0,))


def divergence(p: Categorical[T], q: Categorical[T]) -> float:
    """The Jensen–Shannon divergence of two distributions, in bits: from 0, if they are equal, to 1.

    JSD(p, q) = ½ Σ p log₂(p / m) + ½ Σ q log₂(q / m) with m = ½ (p + q); its square root is a distance.
    """
    total = 0.0
    for x in {**p._index, **q._index}:
        a, b = p.prob(x), q.prob(x)
        total += sum(0.5 * z * math.log2(2 * z / (a + b)) for z in (a, b) if z > 0.0)
    return max(total, 0.0)
