"""Bayes-adaptive planning against a partner whose reply to the last round is a fixed but unknown table.

What is known of the table is one digit for each context (the last joint action): 0 for unknown, 1 + b for the reply b.
All states of knowledge together are an array with one axis per context, so backward induction is made of slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Knowledge = tuple[int, ...]
Prior = tuple[tuple[str, float], ...]

FIRST = -1
TIE = 1e-12


def kinds(options: int, replies: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Which contexts share a reply, FIRST being the time before the first round, if the partner is of a kind.

    A constant one has one reply for all; a reactive one replies to the other's last action; memory-one to both's.
    """
    contexts = range(options * replies)
    rows = [tuple(contexts[a * replies : (a + 1) * replies]) for a in range(options)]
    return {
        "constant": ((FIRST, *contexts),),
        "reactive": ((FIRST,), *rows),
        "memory_one": ((FIRST,), *((c,) for c in contexts)),
    }


def weights(prior: Prior, first: int, options: int, replies: int) -> Floats:
    """The probability of the first action and of what is known, for every state of knowledge.

    W = Σ prior · Π_parts (1/n) Σ_b Π_{c in part} [c is unknown or replies b]: contexts in the same part share one
    uniformly drawn reply; the part with FIRST in it replies `first`. Shape (1 + replies,) · contexts.
    """
    contexts = options * replies
    agrees = np.hstack([np.ones((replies, 1)), np.eye(replies)])
    total: Floats = np.zeros((1 + replies,) * contexts)
    for kind, share in prior:
        found: Floats = np.full((1,) * contexts, share)
        for part in kinds(options, replies)[kind]:
            axes = [c for c in part if c != FIRST]
            answers = [first] if FIRST in part else range(replies)
            found = found * sum(_outer(agrees[b], axes, contexts) for b in answers) / replies
        total += found
    return total


def _outer(vector: Floats, axes: Sequence[int], contexts: int) -> Floats:
    """The product of a vector along each of some axes."""
    along = (vector.reshape([-1 if c == axis else 1 for c in range(contexts)]) for axis in axes)
    return reduce(np.multiply, along, np.ones((1,) * contexts))


class Stage(NamedTuple):
    """Worth U = W · V and best actions with some rounds to go, both of shape (contexts, *knowledge)."""

    worth: Floats
    actions: NDArray[np.int8]


Progress = Callable[[Iterable[Stage], int, str], Iterable[Stage]]


def backward(payoff: Floats, weight: Floats, known: Knowledge, rounds: int) -> Iterator[Stage]:
    """Backward induction: the stages with 1, 2, … `rounds` rounds to go.

    U(k, c) = max_a W(k) R[a, b] + U′(k, (a, b)) where the reply b to context c is known, and
    max_a Σ_b W(k + [c → b]) R[a, b] + U′(k + [c → b], (a, b)) where it is not. Ties go to the lowest action.
    `weight` has axes of length 1 for the contexts that are `known` already.
    """
    options, replies = payoff.shape
    worth = np.zeros((options * replies, *weight.shape))
    for _ in range(rounds):
        stage = Stage(np.empty_like(worth), np.empty(worth.shape, dtype=np.int8))
        for c, digit in enumerate(known):
            told = [(b, _at(c, 0 if digit else 1 + b)) for b in range(replies) if digit in (0, 1 + b)]
            for where, possible in [*((k, [(b, k)]) for b, k in told), *([] if digit else [(_at(c, 0), told)])]:
                gains = np.array(
                    [
                        sum(weight[k] * payoff[a, b] + worth[(a * replies + b, *k)] for b, k in possible)
                        for a in range(options)
                    ]
                )
                top = stage.worth[(c, *where)] = gains.max(axis=0)
                stage.actions[(c, *where)] = np.argmax(gains >= top - TIE, axis=0)
        worth = stage.worth
        yield stage


def _at(axis: int, digit: int) -> tuple[slice | int, ...]:
    """The states of knowledge with this digit for one context."""
    return (*(slice(None),) * axis, digit)


@dataclass(frozen=True, eq=False)
class Policy:
    """The optimum from some knowledge on: `actions[n − 1][context, *what else is known]` with n rounds to go.

    `worth` is W · V with the most rounds to go, in the same shape.
    """

    known: Knowledge
    actions: tuple[NDArray[np.int8], ...]
    worth: Floats

    def covers(self, known: Knowledge) -> bool:
        """Whether this is knowledge that the policy may lead to."""
        return all(before in (0, digit) for before, digit in zip(self.known, known, strict=True))

    def action(self, rounds: int, context: int, known: Knowledge) -> int:
        """The best action with so many rounds to go."""
        return int(self.actions[rounds - 1][(context, *self._news(known))])

    def _news(self, known: Knowledge) -> Knowledge:
        return tuple(0 if before else digit for before, digit in zip(self.known, known, strict=True))


def solve(
    payoff: Floats,
    weight: Floats,
    known: Knowledge,
    rounds: int,
    progress: Progress = lambda items, _total, _what: items,
) -> Policy:
    """The optimum from this knowledge on, exactly, for every number of rounds to go up to `rounds`."""
    free = weight[tuple(slice(digit, digit + 1) if digit else slice(None) for digit in known)]
    actions, worth = list[NDArray[np.int8]](), np.zeros((payoff.size, *free.shape))
    for stage in progress(backward(payoff, free, known, rounds), rounds, "Planning ahead"):
        actions.append(stage.actions)
        worth = stage.worth
    return Policy(known, tuple(actions), worth)


class Situation(NamedTuple):
    """Where a decision is made: the round, the last joint action, and what is known by then."""

    round: int
    context: int
    known: Knowledge


class Solution(NamedTuple):
    """The worth W · V of every opening, and what to do wherever optimal play can lead from there."""

    worth: tuple[float, ...]
    choices: dict[Situation, int]


def reachable(policy: Policy, weight: Floats, starts: Sequence[int], replies: int) -> Solution:
    """The part of a policy that its own actions lead to from some contexts in round 1, while nothing is impossible."""
    rounds = len(policy.actions)
    frontier = {Situation(1, context, policy.known) for context in starts}
    choices: dict[Situation, int] = {}
    for t in range(1, rounds + 1):
        here = {s: policy.action(rounds + 1 - t, s.context, s.known) for s in frontier}
        frontier = {
            Situation(t + 1, context_of(action, b, replies), told)
            for (_, context, known), action in here.items()
            for b in range(replies)
            if known[context] in (0, 1 + b) and weight[told := learned(known, context, b)] > 0.0
        }
        choices |= here
    nothing = (0,) * len(policy.known)
    return Solution(tuple(float(policy.worth[(context, *nothing)]) for context in starts), choices)


def context_of(own: int, theirs: int, replies: int) -> int:
    """The number of a joint action."""
    return own * replies + theirs


def learned(known: Knowledge, context: int, reply: int) -> Knowledge:
    """What is known once the partner has replied to a context; what was known of it before is overwritten."""
    return (*known[:context], 1 + reply, *known[context + 1 :])
