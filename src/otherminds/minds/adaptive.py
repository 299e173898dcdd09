"""Bayes-adaptive play: exactly optimal against a partner who remembers one round, under a prior over kinds of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.minds.kinds import SIMPLICITY, Kind, over_kinds
from otherminds.minds.responder import mirrored
from otherminds.minds.strategies import point
from otherminds.observer import Observer
from otherminds.planning.adaptive import (
    FIRST,
    TIE,
    Floats,
    Knowledge,
    Prior,
    Progress,
    Situation,
    Solution,
    context_of,
    learned,
    solve,
    weights,
)
from otherminds.planning.plan_cache import digest, remembered
from otherminds.worlds.repeated_game import Game, Outcome

SMALL = 4


class Plan:
    """What to do in every situation: solved backward when first needed, and kept. Sharing it only saves time.

    Games in which renaming all actions in turn changes nothing (Rock, Paper, Scissors) are solved for one first
    action of the partner. Large solutions are kept in the folder `cache`, too, if there is one.
    """

    def __init__(
        self,
        game: Game,
        prior: Mapping[str, float] = SIMPLICITY,
        horizon: int = 100,
        *,
        cache: Path | None = None,
        progress: Progress = lambda items, _total, _what: items,
    ) -> None:
        self.game, self.horizon = game, horizon
        self.prior: Prior = tuple(prior.items())
        self._cache, self.progress = cache, progress
        self._payoff = game.payoff()
        options, self.replies = self._payoff.shape
        turned = np.roll(self._payoff, (1, 1), axis=(0, 1))
        self._cyclic = options == self.replies and np.array_equal(turned, self._payoff)
        self._solved: dict[int, Solution] = {}

    @cached_property
    def opening(self) -> int:
        """The best action of the first round: argmax_a Σ_f W(f) · (R[a, f] + V(a, f)), ties to the lowest."""
        gains = np.zeros(len(self._payoff))
        for first in range(self.replies):
            turn = first if self._cyclic else 0
            weight = self._weights(first - turn)
            worth = np.roll(self._after(first - turn).worth, turn)
            gains += weight[(0,) * self._payoff.size] * self._payoff[:, first] + worth
        return int(np.argmax(gains >= gains.max() - TIE))

    def action(self, first: int, situation: Situation) -> int:
        """The best action in a situation, after this first action of the partner."""
        turn = first if self._cyclic else 0
        turned, start = self._turned(situation, turn), first - turn
        choices = self._after(start).choices
        if turned not in choices:
            choices.update(solve(self._payoff, self._weights(start, turned.known), [turned], self.horizon).choices)
        return (choices[turned] + turn) % len(self._payoff)

    def _after(self, first: int) -> Solution:
        if first not in self._solved:
            options = range(len(self._payoff))
            starts = [Situation(1, context_of(a, first, self.replies), (0,) * self._payoff.size) for a in options]
            weight = self._weights(first)
            name = digest(self._payoff.tobytes(), self.prior, self.horizon, first)
            self._solved[first] = remembered(
                self._cache if self._payoff.size > SMALL else None,
                name,
                lambda: solve(self._payoff, weight, starts, self.horizon, self.progress),
            )
        return self._solved[first]

    def _weights(self, first: int, known: Knowledge = ()) -> Floats:
        """The prior, or a uniform one over tables if what is known contradicts the prior."""
        weight = weights(self.prior, first, *self._payoff.shape)
        return weight if not known or weight[known] else weights((("memory_one", 1.0),), first, *self._payoff.shape)

    def _turned(self, situation: Situation, turn: int) -> Situation:
        """The same situation with all actions renamed, action a being called a − turn."""
        if not turn:
            return situation
        n = self.replies
        digits = np.array(situation.known).reshape(n, n)
        renamed = np.where(digits, (digits - 1 - turn) % n + 1, 0)
        known = tuple(np.roll(renamed, (-turn, -turn), axis=(0, 1)).ravel().tolist())
        own, theirs = divmod(situation.context, n)
        return Situation(situation.round, context_of((own - turn) % n, (theirs - turn) % n, n), known)


@dataclass(frozen=True)
class Adaptive:
    """The player who is Bayes-optimal under the prior of its plan: it explores exactly as far as that pays.

    Its expectations are those of an observer over kinds of partners.
    """

    plan: Plan
    watched: Observer[Kind]
    t: int = 0
    first: int = 0
    context: int = FIRST
    known: Knowledge = ()

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Before the first round."""
        return cls(plan, over_kinds(plan.game, dict(plan.prior)), known=(0,) * plan.game.payoff().size)

    def observe(self, outcome: Outcome | None) -> Self:
        """Learn the partner's reply to the round before."""
        if outcome is None:
            return self
        return replace(
            self,
            watched=self.watched.watch(outcome.theirs, mirrored(self.plan.game, outcome)),
            t=self.t + 1,
            first=self.first if self.t else outcome.theirs,
            known=learned(self.known, self.context, outcome.theirs) if self.t else self.known,
            context=context_of(outcome.own, outcome.theirs, self.plan.replies),
        )

    def predict(self) -> Categorical[int]:
        """Σ P(kind) π(b | kind)."""
        return self.watched.predict()

    def act(self) -> Categorical[int]:
        """The optimal action; after the last round of the plan, as in the last one."""
        if not self.t:
            return point(self.plan.opening)
        return point(
            self.plan.action(self.first, Situation(min(self.t, self.plan.horizon - 1), self.context, self.known))
        )
