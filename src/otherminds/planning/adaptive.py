"""Bayes-adaptive planning against a partner whose reply to the last round is a fixed but unknown table.

What is known of the table is one digit for each context (the last joint action): 0 for unknown, 1 + b for the reply b.
All states of knowledge together are an array with one axis per context, so backward induction is made of slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class Situation(NamedTuple):
    """Where a decision is made: the round, the last joint action, and what is known by then."""

    round: int
    context: int
    known: Knowledge


class Solution(NamedTuple):
    """The worth W · V of each start, and what to do wherever optimal play can lead from there."""

    worth: tuple[float, ...]
    choices: dict[Situation, int]


def solve(
    payoff: Floats,
    weight: Floats,
    starts: Sequence[Situation],
    horizon: int,
    progress: Progress = lambda items, _total, _what: items,
) -> Solution:
    """The optimum from some situations of the same round and knowledge, exactly, to the last round.

    Only what optimal play can lead to is kept.
    """
    begun, _, known = starts[0]
    free = weight[tuple(slice(digit, digit + 1) if digit else slice(None) for digit in known)]
    rounds = horizon - begun
    policies, worth = list[NDArray[np.int8]](), np.zeros((payoff.size, *free.shape))
    for stage in progress(backward(payoff, free, known, rounds), rounds, "Planning ahead"):
        policies.append(stage.actions)
        worth = stage.worth
    at = tuple(0 if digit else slice(None) for digit in known)
    onward = [actions[(slice(None), *at)] for actions in reversed(policies)]
    choices = dict(_reached(starts, onward, weight, payoff.shape))
    return Solution(tuple(float(worth[(s.context, *(0,) * payoff.size)]) for s in starts), choices)


def _reached(
    starts: Sequence[Situation], policies: Sequence[NDArray[np.int8]], weight: Floats, shape: tuple[int, ...]
) -> Iterator[tuple[Situation, int]]:
    """What to do in every situation that the best actions lead to, round by round."""
    given, replies = starts[0].known, shape[1]
    frontier = set(starts)
    for t, policy in enumerate(policies, starts[0].round):
        onward = set()
        for situation in frontier:
            _, context, known = situation
            news = tuple(digit for digit, before in zip(known, given, strict=True) if not before)
            action = int(policy[(context, *news)])
            yield situation, action
            for b in range(replies):
                told = learned(known, context, b)
                if known[context] in (0, 1 + b) and weight[told] > 0.0:
                    onward.add(Situation(t + 1, context_of(action, b, replies), told))
        frontier = onward


def context_of(own: int, theirs: int, replies: int) -> int:
    """The number of a joint action."""
    return own * replies + theirs


def learned(known: Knowledge, context: int, reply: int) -> Knowledge:
    """What is known once the partner has replied to a context; what was known of it before is overwritten."""
    return (*known[:context], 1 + reply, *known[context + 1 :])
