"""Bayes-adaptive play: exactly optimal against a partner who remembers one round, under a prior over kinds of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.repeated_games.bayes_adaptive_values import (
    FIRST,
    TIE,
    Floats,
    Knowledge,
    Policy,
    Prior,
    Progress,
    Situation,
    Solution,
    context_of,
    learned,
    reachable,
    solve,
    weights,
)
from otherminds.worlds.repeated_games.machines import point
from otherminds.worlds.repeated_games.plan_cache import digest, remembered
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.reactive_partners import SIMPLICITY, Kind, over_kinds
from otherminds.worlds.repeated_games.rules import Game, Outcome

SMALL = 4
DETOURS = 16


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
        self._priors: dict[int, Floats] = {}
        self._solved: dict[int, Solution] = {}
        self._detours: deque[tuple[tuple[int, bool], Policy]] = deque(maxlen=DETOURS)

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
        action = self._after(start).choices.get(turned)
        if action is None:
            policy = self._detour(start, turned.known)
            action = policy.action(self.horizon - turned.round, turned.context, turned.known)
        return (action + turn) % len(self._payoff)

    def _after(self, first: int) -> Solution:
        """The rounds after the first one, in which the partner did `first`."""
        if first not in self._solved:
            starts = [context_of(a, first, self.replies) for a in range(len(self._payoff))]
            name = digest(self._payoff.tobytes(), self._payoff.shape, self.prior, self.horizon, first)
            folder = self._cache if self._payoff.size > SMALL else None
            self._solved[first] = remembered(
                folder, name, lambda: reachable(self._solve(first), self._weights(first), starts, self.replies)
            )
        return self._solved[first]

    def _solve(self, first: int) -> Policy:
        nothing = (0,) * self._payoff.size
        return solve(self._payoff, self._weights(first), nothing, self.horizon - 1, self.progress)

    def _detour(self, first: int, known: Knowledge) -> Policy:
        """A policy for a partner that has broken its own table, so that nothing was planned for this.

        If what is known contradicts the prior, all tables are taken to be equally likely.
        """
        weight = self._weights(first)
        possible = bool(weight[known])
        for (start, kind), policy in self._detours:
            if (start, kind) == (first, possible) and policy.covers(known):
                return policy
        if not possible:
            weight = weights((("memory_one", 1.0),), first, *self._payoff.shape)
        policy = solve(self._payoff, weight, known, max(1, self.horizon - 1))
        self._detours.append(((first, possible), policy))
        return policy

    def _weights(self, first: int) -> Floats:
        if first not in self._priors:
            self._priors[first] = weights(self.prior, first, *self._payoff.shape)
        return self._priors[first]

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
class BayesAdaptive:
    """The player who is Bayes-optimal under the prior of its plan: it explores exactly as far as that pays.

    V_t(k) = max_a Σ_b P(b | k) · (R(a, b) + V_{t+1}(k after a, b)), k being what is known of the partner's table: exact
    backward induction over rounds and knowledge. Its expectations are those of an observer over kinds of partners.
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
