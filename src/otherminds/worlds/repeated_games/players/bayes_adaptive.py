"""Bayes-adaptive play: exactly optimal against a partner that remembers one round, under a prior over families.

The partner's replies to the last joint action are a fixed but unknown table. Knowledge of it is one digit for each
context (the last joint action): 0 for unknown, 1 + b for the reply b. Values over all states of knowledge are an array
with one axis per context, so that backward induction works on slices. Solutions that take long are kept in a folder; a
missing, torn or foreign file is solved again.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, point_mass
from otherminds.files.text import brief, opened
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.players import partner_hypotheses as hypotheses
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
Knowledge = tuple[int, ...]
Prior = tuple[tuple[str, float], ...]

TIE = 1e-12  # values that differ by less are equal: rounding


@lru_cache(maxsize=16)
def weights(prior: Prior, first: int, options: int, replies: int) -> Floats:
    """P(first action of the partner, knowledge) for every state of knowledge; cached and read-only.

    W = Σ prior · Π_parts (1/n) Σ_b Π_{c in part} [c is unknown or replies b]: contexts in the same part share one
    uniformly drawn reply; the part that contains FIRST replies `first`. Shape (1 + replies,) · contexts.
    """
    contexts = options * replies
    agrees = np.hstack([np.ones((replies, 1)), np.eye(replies)])
    total: Floats = np.zeros((1 + replies,) * contexts)
    for kind, share in prior:
        family_weights: Floats = np.full((1,) * contexts, share)
        for part in hypotheses.context_groups(options, replies)[kind]:
            axes = [c for c in part if c != hypotheses.FIRST]
            answers = [first] if hypotheses.FIRST in part else range(replies)
            family_weights = family_weights * sum(_outer(agrees[b], axes, contexts) for b in answers) / replies
        total += family_weights
    total.setflags(write=False)
    return total


def _outer(vector: Floats, axes: Sequence[int], contexts: int) -> Floats:
    """The product of a vector along each of the given axes: shape (len(vector) on those axes, 1 on the others)."""
    along = (vector.reshape([-1 if c == axis else 1 for c in range(contexts)]) for axis in axes)
    return reduce(np.multiply, along, np.ones((1,) * contexts))


class InductionStage(NamedTuple):
    """Weighted values U = W · V and best actions with some rounds to go, both of shape (contexts, *knowledge)."""

    worth: Floats
    actions: NDArray[np.int8]


Progress = Callable[[Iterable[InductionStage], int, str], Iterable[InductionStage]]


def backward(payoff: Floats, weight: Floats, knowledge: Knowledge, rounds: int) -> Iterator[InductionStage]:
    """Backward induction: the stages with 1, 2, … `rounds` rounds to go.

    U(k, c) = max_a W(k) R[a, b] + U′(k, (a, b)) where the reply b to context c is known, and
    max_a Σ_b W(k + [c → b]) R[a, b] + U′(k + [c → b], (a, b)) where it is not. Ties go to the lowest action.
    `weight` has axes of length 1 for the contexts whose reply is in `knowledge` already.
    """
    options, replies = payoff.shape
    worth = np.zeros((options * replies, *weight.shape))
    for _ in range(rounds):
        stage = InductionStage(np.empty_like(worth), np.empty(worth.shape, dtype=np.int8))
        for context, known_reply in enumerate(knowledge):  # 0 if the reply to this context is unknown, else 1 + b
            possible = [b for b in range(replies) if known_reply in (0, 1 + b)]
            after = [(b, _slice_with(context, 0 if known_reply else 1 + b)) for b in possible]
            # slices of knowledge to fill, each with the replies that are possible there and the knowledge after them
            cases = [(learnt, [(b, learnt)]) for b, learnt in after]
            cases += [] if known_reply else [(_slice_with(context, 0), after)]
            for index, outcomes in cases:
                gains_by_action = [
                    sum(weight[learnt] * payoff[a, b] + worth[(a * replies + b, *learnt)] for b, learnt in outcomes)
                    for a in range(options)
                ]
                gains = np.array(gains_by_action)
                top = stage.worth[(context, *index)] = gains.max(axis=0)
                stage.actions[(context, *index)] = np.argmax(gains >= top - TIE, axis=0)
        worth = stage.worth
        yield stage


def _slice_with(axis: int, digit: int) -> tuple[slice | int, ...]:
    """The slice of knowledge with this digit for one context."""
    return (*(slice(None),) * axis, digit)


@dataclass(frozen=True, eq=False)
class Policy:
    """An optimal policy from some knowledge on: `actions[n − 1][context, *additional knowledge]` with n rounds to go.

    `worth` is W · V with the most rounds to go, in the same shape.
    """

    knowledge: Knowledge
    actions: tuple[NDArray[np.int8], ...]
    worth: Floats

    def covers(self, knowledge: Knowledge) -> bool:
        """Whether this knowledge extends the policy's."""
        return all(before in (0, digit) for before, digit in zip(self.knowledge, knowledge, strict=True))

    def action(self, rounds: int, context: int, knowledge: Knowledge) -> int:
        """The best action with `rounds` rounds to go."""
        additional = (0 if before else digit for before, digit in zip(self.knowledge, knowledge, strict=True))
        return int(self.actions[rounds - 1][(context, *additional)])


def solve(
    payoff: Floats,
    weight: Floats,
    knowledge: Knowledge,
    rounds: int,
    progress: Progress = lambda items, _total, _what: items,
) -> Policy:
    """The exact optimum from some knowledge on, for every number of rounds to go up to `rounds`."""
    free_weight = weight[tuple(slice(digit, digit + 1) if digit else slice(None) for digit in knowledge)]
    actions, worth = list[NDArray[np.int8]](), np.zeros((payoff.size, *free_weight.shape))
    for stage in progress(backward(payoff, free_weight, knowledge, rounds), rounds, "Planning ahead"):
        actions.append(stage.actions)
        worth = stage.worth
    return Policy(knowledge, tuple(actions), worth)


class DecisionPoint(NamedTuple):
    """Where a decision is made: the round, the last joint action, and the knowledge so far."""

    round: int
    context: int
    knowledge: Knowledge


class Solution(NamedTuple):
    """The worth W · V of each opening, and the best action wherever optimal play can lead from there."""

    worth: tuple[float, ...]
    choices: dict[DecisionPoint, int]


def reachable(policy: Policy, weight: Floats, starts: Sequence[int], replies: int) -> Solution:
    """The part of a policy that its own actions can reach from some contexts in round 1."""
    rounds = len(policy.actions)
    frontier = {DecisionPoint(1, context, policy.knowledge) for context in starts}
    choices: dict[DecisionPoint, int] = {}
    for t in range(1, rounds + 1):
        decisions = {s: policy.action(rounds + 1 - t, s.context, s.knowledge) for s in frontier}
        frontier = {
            DecisionPoint(t + 1, hypotheses.context_of(action, b, replies), updated)
            for (_, context, knowledge), action in decisions.items()
            for b in range(replies)
            if knowledge[context] in (0, 1 + b) and weight[updated := learned(knowledge, context, b)] > 0.0
        }
        choices |= decisions
    nothing = (0,) * len(policy.knowledge)
    return Solution(tuple(float(policy.worth[(context, *nothing)]) for context in starts), choices)


def learned(knowledge: Knowledge, context: int, reply: int) -> Knowledge:
    """Knowledge after the partner's reply in a context, which replaces an older one."""
    return (*knowledge[:context], 1 + reply, *knowledge[context + 1 :])


FORMAT = 1  # version of the stored files


def _read_solution(path: Path) -> Solution | None:
    """The solution in a file of `_write_solution`; None if it is missing or damaged."""
    try:
        with opened(path) as file, np.load(file, allow_pickle=False) as arrays:
            points = map(
                DecisionPoint,
                arrays["rounds"].tolist(),
                arrays["contexts"].tolist(),
                map(tuple, arrays["known"].tolist()),
            )
            return Solution(tuple(arrays["worth"].tolist()), dict(zip(points, arrays["actions"].tolist(), strict=True)))
    except Exception:  # damaged zip files raise many kinds of errors
        return None


def _write_solution(path: Path, solution: Solution) -> None:
    """Write a file atomically; if the folder cannot be written, do nothing."""
    draft = path.with_name(f"{path.stem}-{os.getpid()}.tmp.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            draft,
            worth=np.array(solution.worth),
            rounds=np.array([point.round for point in solution.choices], dtype=np.int32),
            contexts=np.array([point.context for point in solution.choices], dtype=np.int16),
            known=np.array([point.knowledge for point in solution.choices], dtype=np.int8),
            actions=np.array(list(solution.choices.values()), dtype=np.int8),
        )
        draft.replace(path)  # it need not be on disk: a damaged file is not read, and a lost one solved again
    except OSError:
        with suppress(OSError):
            draft.unlink()


SMALL = 4  # contexts up to which solving is quicker than reading a file
DETOURS = 16  # policies for unplanned knowledge that are kept; bounds memory


class AdaptivePlan:
    """The Bayes-optimal action at every decision point, solved when first needed and kept. Sharing it only saves time.

    Games that are unchanged by rotating all actions (Rock, Paper, Scissors) are solved for one first action of the
    partner. Large solutions are also kept in the folder `cache`, if given.
    """

    def __init__(
        self,
        game: Game,
        prior: Mapping[str, float] = hypotheses.SIMPLICITY_PRIOR,
        horizon: int = 100,
        *,
        cache: Path | None = None,
        progress: Progress = lambda items, _total, _what: items,
    ) -> None:
        """A plan for `horizon` rounds under a prior over families by name; nothing is solved yet.

        `progress` wraps the rounds of a solution, to show how far it is.
        """
        self.game, self.horizon = game, horizon
        self.prior: Prior = tuple(prior.items())
        self._cache = cache
        self.progress = progress
        self._payoff = game.payoff()
        options, self.replies = self._payoff.shape
        rotated = np.roll(self._payoff, (1, 1), axis=(0, 1))
        self._unchanged_by_rotation = options == self.replies and np.array_equal(rotated, self._payoff)
        self._solved: dict[int, Solution] = {}
        self._detours: deque[tuple[tuple[int, bool], Policy]] = deque(maxlen=DETOURS)

    @cached_property
    def opening(self) -> int:
        """The best first action: argmax_a Σ_f W(f) · (R[a, f] + V(a, f)), ties to the lowest."""
        gains = np.zeros(len(self._payoff))
        for first in range(self.replies):
            rotation = first if self._unchanged_by_rotation else 0
            weight = self._weights(first - rotation)
            worth = np.roll(self._solution_after(first - rotation).worth, rotation)
            gains += weight[(0,) * self._payoff.size] * self._payoff[:, first] + worth
        return int(np.argmax(gains >= gains.max() - TIE))

    def action(self, first: int, situation: DecisionPoint) -> int:
        """The best action at a decision point, given the partner's first action."""
        rotation = first if self._unchanged_by_rotation else 0
        rotated = self._rotated(situation, rotation)
        start = first - rotation
        action = self._solution_after(start).choices.get(rotated)
        if action is None:
            policy = self._detour(start, rotated.knowledge)
            action = policy.action(self.horizon - rotated.round, rotated.context, rotated.knowledge)
        return (action + rotation) % len(self._payoff)

    def _solution_after(self, first: int) -> Solution:
        """The solution after a first round in which the partner played `first`."""
        if first not in self._solved:
            problem = (FORMAT, self._payoff.tobytes(), self._payoff.shape, self.prior, self.horizon, first)
            file = f"plan-{hashlib.sha256(repr(problem).encode()).hexdigest()[:24]}.npz"
            path = self._cache / file if self._cache and self._payoff.size > SMALL else None
            solution = _read_solution(path) if path else None
            if solution is None:
                weight = self._weights(first)
                policy = solve(self._payoff, weight, (0,) * self._payoff.size, self.horizon - 1, self.progress)
                starts = [hypotheses.context_of(a, first, self.replies) for a in range(len(self._payoff))]
                solution = reachable(policy, weight, starts, self.replies)
                if path:
                    _write_solution(path, solution)
            self._solved[first] = solution
        return self._solved[first]

    def _detour(self, first: int, knowledge: Knowledge) -> Policy:
        """A policy for knowledge that was not planned for, because the partner has deviated from its own table.

        If the knowledge has prior probability 0, all tables are assumed to be equally probable.
        """
        weight = self._weights(first)
        possible = bool(weight[knowledge])
        for (start, kind), policy in self._detours:
            if (start, kind) == (first, possible) and policy.covers(knowledge):
                return policy
        if not possible:
            weight = weights((("memory_one", 1.0),), first, *self._payoff.shape)
        policy = solve(self._payoff, weight, knowledge, max(1, self.horizon - 1))
        self._detours.append(((first, possible), policy))
        return policy

    def _weights(self, first: int) -> Floats:
        return weights(self.prior, first, *self._payoff.shape)

    def _rotated(self, point: DecisionPoint, shift: int) -> DecisionPoint:
        """The decision point with all actions rotated: action a becomes a − shift, modulo their number."""
        if not shift:
            return point
        n = self.replies
        digits = np.array(point.knowledge).reshape(n, n)
        renamed = np.where(digits, (digits - 1 - shift) % n + 1, 0)
        knowledge = tuple(np.roll(renamed, (-shift, -shift), axis=(0, 1)).ravel().tolist())
        own, theirs = divmod(point.context, n)
        return DecisionPoint(point.round, hypotheses.context_of((own - shift) % n, (theirs - shift) % n, n), knowledge)


@dataclass(frozen=True)
class BayesAdaptive:
    """A player that is Bayes-optimal under the prior of its plan, so that it explores exactly as far as it pays.

    V_t(k) = max_a Σ_b P(b | k) · (R(a, b) + V_{t+1}(k after a, b)), where k is the knowledge of the partner's table:
    exact backward induction over rounds and knowledge. It predicts as an observer over families of partners.
    """

    __repr__ = brief

    plan: AdaptivePlan
    observer: Observer[hypotheses.ReactivePartner]
    t: int = 0
    first: int = 0
    context: int = hypotheses.FIRST
    knowledge: Knowledge = ()

    @classmethod
    def of(cls, plan: AdaptivePlan) -> Self:
        """The player before the first round."""
        return cls(
            plan, hypotheses.reactive_observer(plan.game, dict(plan.prior)), knowledge=(0,) * plan.game.payoff().size
        )

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round: the partner's reply to the round before is known."""
        if outcome is None:
            return self
        return replace(
            self,
            observer=self.observer.watch(outcome.theirs, mirrored(self.plan.game, outcome)),
            t=self.t + 1,
            first=self.first if self.t else outcome.theirs,
            knowledge=learned(self.knowledge, self.context, outcome.theirs) if self.t else self.knowledge,
            context=hypotheses.context_of(outcome.own, outcome.theirs, self.plan.replies),
        )

    def predict(self) -> Categorical[int]:
        """Σ P(family) π(b | family)."""
        return self.observer.predict()

    def act(self) -> Categorical[int]:
        """The optimal action; after the horizon of the plan, as in its last round."""
        if not self.t:
            return point_mass(self.plan.opening)
        point = DecisionPoint(min(self.t, self.plan.horizon - 1), self.context, self.knowledge)
        return point_mass(self.plan.action(self.first, point))
