"""Likelihoods of what people did under a mind, at any points of its parameters.

The likelihood of a person's choices is Π p(a_t | what that person had seen by then, θ), over all rounds in which a
move was made. A point of θ for every person costs one pass through the rounds, for all people at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from otherminds.evaluation.choices import Choices, crowd_of, outcome
from otherminds.mind import ParametricMind
from otherminds.worlds.repeated_games.players.habits import intended
from otherminds.worlds.repeated_games.players.in_vectors import Ints
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
FARTHEST = 14.0  # largest |x| of a parameter on the real line: within a millionth of the range from a bound
GRID = (101, 44)  # points along each parameter that are looked at first, of minds with one and with two parameters
SPAN = 8.0  # largest |x| of those points, but for two on either side that reach to the bounds
LOOKED_AT = 2048  # points that are looked at first of minds with more parameters: a Sobol sequence
AROUND = 6.0  # largest |x| of those
AT_ONCE = 64  # points of each person whose likelihoods are computed together; bounds memory
TINY = 1e-300  # smallest probability of a choice, so that its logarithm is finite


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of some people's choices under a mind, at any points of its parameters.

    `scored`, shape (S, T), are the rounds that count; all are observed. Shapes: N people, S matches, T rounds, d
    parameters, K points of them for each person, n units (people or groups).
    """

    mind: ParametricMind
    choices: Choices
    scored: NDArray[np.bool_]

    @classmethod
    def of(cls, mind: ParametricMind, choices: Choices, scored: NDArray[np.bool_] | None = None) -> Likelihood:
        """The likelihood of all choices, or those that are `scored`."""
        counted = choices.scored if scored is None else scored & choices.scored
        return cls(mind, choices, counted)

    def values(self, free: Floats) -> dict[str, Floats]:
        """Parameters by name, from points of the real line of shape (…, d)."""
        clipped = np.clip(free, -FARTHEST, FARTHEST)
        return {p.name: p.value(clipped[..., i]) for i, p in enumerate(self.mind.parameters)}

    def free(self, values: Mapping[str, Floats]) -> Floats:
        """Points of the real line, shape (…, d), from parameters by name."""
        return cast("Floats", np.stack([p.free(values[p.name]) for p in self.mind.parameters], axis=-1))

    @cached_property
    def _inner(self) -> Floats:
        """Policies of a mind without its tremble, which then has no parameters, shape (S, T, |A|).

        Histories form a tree for each game, so that people with the same history share the work. The mind takes a
        missed move for what it most probably wanted to do.
        """
        roots: dict[Any, Any] = {}  # by game, a node: (mind, next nodes by both actions)
        choices = self.choices
        policies = np.zeros((*choices.own.shape, choices.games[0].shape[0]))
        for s, game in enumerate(cast("tuple[Game, ...]", choices.games)):
            assert self.mind.inner is not None
            if game not in roots:
                roots[game] = (self.mind.inner(game).observe(cast("Any", None)), {})
            node = roots[game]
            for t in np.flatnonzero(choices.played[s]):
                mind, onward = node
                policies[s, t] = [float(np.exp(mind.act().log_prob(a))) for a in range(policies.shape[2])]
                done = int(choices.done[s, t]), int(choices.theirs[s, t])
                if done not in onward:
                    seen = intended(cast("Outcome", outcome(game, *done)), mind, game)
                    onward[done] = (mind.observe(seen), {})
                node = onward[done]
        return policies

    def probabilities(self, values: Mapping[str, Floats]) -> Floats:
        """π, shape (S, K, T, |A|), for parameters of shape (N, K), by person."""
        if self.mind.inner is not None:
            tremble = values["tremble"][self.choices.person][:, :, None, None]
            mixed: Floats = (1.0 - tremble) * self._inner[:, None] + tremble / self._inner.shape[2]
            return mixed
        crowd = crowd_of(self.mind, self.choices, {n: v[self.choices.person] for n, v in values.items()})
        rounds = []
        for done, seen in zip(self.choices.done.T, self.choices.seen.T, strict=True):
            rounds.append(crowd.act())
            crowd = crowd.observe(done, seen)
        shape = np.broadcast_shapes(*(policy.shape for policy in rounds))
        return np.stack([np.broadcast_to(policy, shape) for policy in rounds], axis=2)

    def __call__(self, free: Floats, people: Ints | None = None) -> Floats:
        """Log likelihoods, shape (n, K), of `people` (default: all) at points of shape (n, K, d)."""
        if people is not None and not np.array_equal(people, np.arange(len(self.choices.people))):
            return self.of_people(people)(free)
        return self.of_values(self.values(free), free.shape[1])

    def of_values(self, values: Mapping[str, Floats], points: int) -> Floats:
        """Log likelihoods, shape (N, K), of all people at K points, whose parameters by name have that shape."""
        if self.mind.inner is not None:
            return self._of_tremble(values["tremble"])
        total = np.zeros((len(self.choices.own), points))
        for matches, match_choices, scored in self._of_similar_length:
            crowd = crowd_of(self.mind, match_choices, {n: v[match_choices.person] for n, v in values.items()})
            match_indices = np.arange(len(matches))
            own, done, seen = match_choices.own.T, match_choices.done.T, match_choices.seen.T
            for t, counts in enumerate(scored.T):
                probability = crowd.act()[match_indices, :, np.maximum(own[t], 0)]
                total[matches] += np.where(counts[:, None], np.log(np.maximum(probability, TINY)), 0.0)
                crowd = crowd.observe(done[t], seen[t])
        return self.choices.total(total)

    @cached_property
    def at_first_points(self) -> Floats:
        """Log likelihoods of all people, shape (N, K), at the points that a search looks at first."""
        points, people = first_points(len(self.mind.parameters)), len(self.choices.people)
        chunks = np.array_split(points, -(-len(points) // AT_ONCE))
        return np.concatenate([self(np.broadcast_to(c, (people, *c.shape))) for c in chunks], axis=1)

    @cached_property
    def _of_similar_length(self) -> list[tuple[Ints, Choices, NDArray[np.bool_]]]:
        """Matches of up to 2, 8, 32, … rounds, with their choices and what is scored of them.

        So short ones are not played on; nor is any after the last round that is scored.
        """
        lengths = np.where(self.scored, np.arange(1, self.scored.shape[1] + 1), 0).max(axis=1)
        which = np.where(lengths > 0, np.ceil(np.log2(np.maximum(lengths, 2)) / 2.0 - 0.5), -1).astype(int)
        groups = [np.flatnonzero(which == k) for k in np.unique(which[which >= 0])]
        return [(g, self.choices.of_matches(g), self.scored[g, : lengths[g].max()]) for g in groups]

    def of_people(self, people: Ints) -> Likelihood:
        """The likelihood of the choices of some people, by index, in this order."""
        choices = self.choices.subset(people)
        matches = np.concatenate([np.flatnonzero(self.choices.person == n) for n in people])
        likelihood = Likelihood(self.mind, choices, self.scored[matches, : choices.own.shape[1]])
        if self.mind.inner is not None:
            vars(likelihood)["_inner"] = self._inner[matches, : choices.own.shape[1]]
        return likelihood

    @cached_property
    def certainties(self) -> tuple[Floats, Floats]:
        """The V different probabilities of choices before the tremble, shape (V,), and each person's counts, (N, V)."""
        every, rounds = np.ogrid[: self._inner.shape[0], : self._inner.shape[1]]
        probability = self._inner[every, rounds, np.maximum(self.choices.own, 0)]
        different, which = np.unique(probability.round(12), return_inverse=True)
        counted = self.scored[..., None] & (which.reshape(probability.shape)[..., None] == np.arange(len(different)))
        return different, self.choices.total(counted.sum(axis=1).astype(float))

    def _of_tremble(self, tremble: Floats) -> Floats:
        """Log likelihoods for trembles of shape (n, K), in that shape: `certainties` mixed with uniform play."""
        different, counts = self.certainties
        mixed = (1.0 - tremble[..., None]) * different + tremble[..., None] / self._inner.shape[2]
        return cast("Floats", (counts[:, None] * np.log(np.maximum(mixed, TINY))).sum(axis=-1))


def one_by_one(mind: ParametricMind, choices: Choices, values: Mapping[str, Floats]) -> Floats:
    """π by asking every mind's `act()`, as `Likelihood.probabilities` and much slower; to test and time that."""
    plain = replace(mind, many=None, inner=None)
    crowd = crowd_of(plain, choices, {n: v[choices.person] for n, v in values.items()})
    rounds = []
    for done, seen in zip(choices.done.T, choices.seen.T, strict=True):
        rounds.append(crowd.act())
        crowd = crowd.observe(done, seen)
    return np.stack(rounds, axis=2)


def first_points(size: int) -> Floats:
    """The points at which an objective of so many parameters is looked at first, shape (K, d).

    A grid for one or two parameters, with their bounds, else a Sobol sequence.
    """
    if size in (1, 2):
        outer = np.array([(SPAN + FARTHEST) / 2.0, FARTHEST])
        line = np.concatenate([-outer[::-1], np.linspace(-SPAN, SPAN, GRID[size - 1] - 4), outer])
        return np.stack(np.meshgrid(*[line] * size, indexing="ij"), axis=-1).reshape(-1, size)
    share = qmc.Sobol(size, scramble=True, rng=np.random.default_rng(0)).random(LOOKED_AT)
    return (2.0 * share - 1.0) * AROUND
