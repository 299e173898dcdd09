"""Minds with few parameters that people are compared with: habits, reinforcement, counts and rules.

Each is an ordinary mind. Payoffs are scaled to u = (R − mean R) / (max R − min R), so that inverse temperatures β mean
the same in all games. A move that was missed is the outcome with own action MISSED and payoff 0. `in_vectors` has the
same minds for many people and parameters at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.mind import Mind
from otherminds.worlds.repeated_games.rules import Game, Outcome

Floats = NDArray[np.float64]
MISSED = -1  # own action of a round in which no move was made in time
RULE_NOISE = 0.15
"""Probability of a uniformly random move that `RuleLookahead` attributes to its partner: that of the bots of Brockbank
and Vul (2024), which make their rule's move with probability .9. Chosen, not tuned."""
PATIENCE = 0.75
"""Discount per round of `RuleLookahead`: the higher continuation probability of Dal Bó and Fréchette (2011). Chosen;
it does not matter in games in which every state can be exploited equally well."""


def scaled(payoff: Floats) -> Floats:
    """u = (R − mean R) / (max R − min R), over the last two axes; 0 if all payoffs are equal."""
    axes = (-2, -1)
    spread = np.ptp(payoff, axis=axes, keepdims=True)
    centred = payoff - payoff.mean(axis=axes, keepdims=True)
    return cast("Floats", centred / np.where(spread > 0.0, spread, 1.0))


@lru_cache(maxsize=256)
def _utility(game: Game) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, scaled(game.payoff()).tolist()))


@dataclass(frozen=True)
class Chance:
    """Acts uniformly at random."""

    game: Game

    def observe(self, _outcome: Outcome | None) -> Self:
        """The same mind."""
        return self

    def act(self) -> Categorical[int]:
        """π(a) = 1 / |A|."""
        return Categorical.uniform(range(len(self.game.payoff())))


@dataclass(frozen=True)
class Trembling:
    """A mind whose hand trembles: π(a) = (1 − tremble) π_mind(a) + tremble / |A|.

    It takes a missed move for what it most probably wanted to do, and sees what the partner did.
    """

    mind: Any
    game: Game
    tremble: float

    def observe(self, outcome: Outcome | None) -> Self:
        """The mind observes what was done, also if it was a slip."""
        return replace(self, mind=self.mind.observe(intended(outcome, self.mind, self.game)))

    def act(self) -> Categorical[int]:
        """(1 − tremble) π(a) + tremble / |A|."""
        policy = cast("Categorical[int]", self.mind.act())
        options = len(self.game.payoff())
        probs = [(1.0 - self.tremble) * policy.prob(a) + self.tremble / options for a in range(options)]
        return _categorical(probs)


def intended(outcome: Outcome | None, mind: Any, game: Game) -> Outcome | None:
    """The outcome; of a round whose move was missed, that with the mind's most probable action, first in a tie."""
    if outcome is None or outcome.own != MISSED:
        return outcome
    payoff = game.payoff()
    own = max(range(len(payoff)), key=mind.act().log_prob)
    return Outcome(own, outcome.theirs, float(payoff[own, outcome.theirs]))


@dataclass(frozen=True)
class WinStayLoseShift:
    """Stays after a payoff of at least its mean with probability `win_stay`, shifts after others with `lose_shift`.

    A shift goes to each other action alike. The first move, and one after a missed move, is uniform. (Nowak and
    Sigmund 1993, with probabilities as in Wang, Xu and Zhou 2014.)
    """

    game: Game
    win_stay: float
    lose_shift: float
    last: int = MISSED
    won: bool = False

    def observe(self, outcome: Outcome | None) -> Self:
        """The mind after a round."""
        if outcome is None:
            return self
        if outcome.own == MISSED:
            return replace(self, last=MISSED)
        return replace(self, last=outcome.own, won=_utility(self.game)[outcome.own][outcome.theirs] >= -TIE)

    def act(self) -> Categorical[int]:
        """π(a | last action, whether it succeeded)."""
        options = len(self.game.payoff())
        if self.last == MISSED:
            return Categorical.uniform(range(options))
        stay = self.win_stay if self.won else 1.0 - self.lose_shift
        shift = (1.0 - stay) / (options - 1)
        return _categorical([stay if a == self.last else shift for a in range(options)])


TIE = 1e-9  # scaled payoffs that differ by less are equal: rounding


@dataclass(frozen=True)
class QLearner:
    """Learns the values of its actions from payoffs: Q(a) += rate · (u − Q(a)); other actions' Q ×= 1 − decay.

    π(a) ∝ exp(beta · Q(a) + perseveration · [a was the last action]); Q starts at 0, the mean payoff. (Sutton and
    Barto 2018, §2.5; forgetting as in Ito and Doya 2009, perseveration as in Lau and Glimcher 2005.)
    """

    game: Game
    rate: float
    beta: float
    decay: float = 0.0
    perseveration: float = 0.0
    values: tuple[float, ...] = ()
    last: int = MISSED

    def observe(self, outcome: Outcome | None) -> Self:
        """The mind after a round; after a missed move all values decay."""
        if outcome is None:
            return self
        own = outcome.own
        values = tuple(
            q + self.rate * (_utility(self.game)[own][outcome.theirs] - q) if a == own else (1.0 - self.decay) * q
            for a, q in enumerate(self.values or (0.0,) * len(self.game.payoff()))
        )
        return replace(self, values=values, last=own)

    def act(self) -> Categorical[int]:
        """π(a) ∝ exp(beta · Q(a) + perseveration · [a was the last action])."""
        values = self.values or (0.0,) * len(self.game.payoff())
        return Categorical.softmax(
            (a, self.beta * q + self.perseveration * (a == self.last)) for a, q in enumerate(values)
        )


class Pattern(NamedTuple):
    """What a learner counts: the other's move relative to a reference move, by context.

    `context` and `reference` are functions of the own last action, the other's, and the other's before; the last is
    MISSED in round 2, and all are before round 1. A context of −1 says that nothing is expected. `contexts` is their
    number for a game of n moves.
    """

    contexts: Callable[[int], int]
    context: Callable[[Any, Any, Any, int], Any]
    reference: Callable[[Any, Any], Any]


def _if_known(value: Any, *moves: Any) -> Any:
    """The value where all moves are known, else −1; elementwise."""
    return np.where(np.logical_and.reduce([np.asarray(move) >= 0 for move in moves]), value, -1)


def _no_reference(own: Any, _theirs: Any) -> Any:
    return own * 0


PATTERNS: Mapping[str, Pattern] = {
    "weighted_counts": Pattern(lambda _n: 1, lambda own, *_: own * 0, _no_reference),
    "joint_counts": Pattern(
        lambda n: 1 + n * n, lambda own, theirs, _, n: _if_known(own * n + theirs, own, theirs) + 1, _no_reference
    ),
    "own_transitions": Pattern(
        lambda _n: 1, lambda _own, theirs, *_: _if_known(theirs * 0, theirs), lambda _own, theirs: theirs
    ),
    "reply_transitions": Pattern(lambda _n: 1, lambda own, *_: _if_known(own * 0, own), lambda own, _: own),
    "outcome_transitions": Pattern(
        lambda n: n,
        lambda own, theirs, _, n: _if_known((own - theirs) % n, own, theirs),
        lambda _own, theirs: theirs,
    ),
    "dual_transitions": Pattern(
        lambda n: n * n,
        lambda own, theirs, before, n: _if_known((own - theirs) % n * n + (theirs - before) % n, own, theirs, before),
        lambda _own, theirs: theirs,
    ),
}
"""`weighted_counts` counts moves, `joint_counts` moves after each joint action. The transition learners count shifts of
the other's move (modulo the number of moves): from its own last move, from the person's last move, from its own by the
last outcome, and by the last outcome and its own last shift (the events of Brockbank and Vul 2024)."""


@dataclass(frozen=True)
class CountLearner:
    """Counts what the other does in a pattern, forgets by `memory` a round, and responds softly to its prediction.

    P(b) = (n(c, s) + 1) / Σ for the shift s that leads from the reference move to b, and
    π(a) ∝ exp(beta · Σ_b P(b) u(a, b)). `memory` = 1 counts all rounds alike: fictitious play (Brown 1951) if the
    pattern is weighted_counts; 0 remembers the last round only (Cheung and Friedman 1997).
    """

    game: Game
    pattern: str
    memory: float
    beta: float
    counts: tuple[tuple[float, ...], ...] = ()
    last: tuple[int, int, int] = (MISSED, MISSED, MISSED)

    def _context_and_reference(self) -> tuple[int, int]:
        """The context in which the next move is counted, and the move that it is relative to; see `Pattern`."""
        own, theirs, before = self.last
        kind, moves = PATTERNS[self.pattern], self.game.payoff().shape[1]
        return int(kind.context(own, theirs, before, moves)), int(kind.reference(own, theirs))

    def _counts(self) -> tuple[tuple[float, ...], ...]:
        """n(c, s) by context and shift: `counts`, or zeros before the first round."""
        moves = self.game.payoff().shape[1]
        return self.counts or ((0.0,) * moves,) * PATTERNS[self.pattern].contexts(moves)

    def observe(self, outcome: Outcome | None) -> Self:
        """The mind after a round: all counts fade, and the shift that was seen is counted in its context."""
        if outcome is None:
            return self
        context, reference = self._context_and_reference()
        moves = self.game.payoff().shape[1]
        shift = (outcome.theirs - reference) % moves
        counts = tuple(
            tuple(self.memory * n + (c == context and s == shift) for s, n in enumerate(row))
            for c, row in enumerate(self._counts())
        )
        return replace(self, counts=counts, last=(outcome.own, outcome.theirs, self.last[1]))

    def predict(self) -> Categorical[int]:
        """P(b)."""
        context, reference = self._context_and_reference()
        moves = self.game.payoff().shape[1]
        row = self._counts()[context] if context >= 0 else (0.0,) * moves
        total = sum(row) + moves
        return _categorical([(row[(b - reference) % moves] + 1.0) / total for b in range(moves)])

    def act(self) -> Categorical[int]:
        """π(a) ∝ exp(beta · Σ_b P(b) u(a, b))."""
        probs = self.predict().probs
        worth = (sum(p * u for p, u in zip(probs, row, strict=True)) for row in _utility(self.game))
        return Categorical.softmax((a, self.beta * w) for a, w in enumerate(worth))


def shift_rules(moves: int) -> tuple[tuple[tuple[int, ...], ...], tuple[float, ...]]:
    """Rules for the other's next move, as tables over last joint actions (own varying slowest), and their prior.

    The move is its own last one shifted by a constant, the person's last one shifted by a constant, or its own shifted
    by an amount that depends on the outcome, (own − theirs) modulo the number of moves. The three families have equal
    probability, and so have the rules of a family.
    """
    joint = list(product(range(moves), repeat=2))
    tables = [tuple((theirs + k) % moves for _, theirs in joint) for k in range(moves)]
    tables += [tuple((own + k) % moves for own, _ in joint) for k in range(moves)]
    by_outcome = list(product(range(moves), repeat=moves))
    tables += [tuple((theirs + k[(own - theirs) % moves]) % moves for own, theirs in joint) for k in by_outcome]
    prior = [1.0 / 3.0 / moves] * (2 * moves) + [1.0 / 3.0 / len(by_outcome)] * len(by_outcome)
    return tuple(tables), tuple(prior)


def rule_forecasts(moves: int) -> Floats:
    """P(b | rule, context), shape (rules, 1 + contexts, moves); in context 0, no joint action, it is uniform."""
    tables = np.array(shift_rules(moves)[0])
    certain = np.concatenate([np.full((len(tables), 1, moves), 1.0 / moves), np.eye(moves)[tables]], axis=1)
    certain[:, 1:] = (1.0 - RULE_NOISE) * certain[:, 1:] + RULE_NOISE / moves
    return certain


def rule_values(utility: Floats) -> Floats:
    """Q(rule, context, a) of the best response to each known rule with discount PATIENCE, by value iteration."""
    expected = rule_forecasts(utility.shape[1])
    options, moves = utility.shape
    reward = expected @ utility.T
    values = np.zeros(expected.shape[:2])
    for _ in range(200):  # .75²⁰⁰ is below rounding
        onward = values[:, 1:].reshape(len(values), options, moves)
        table = reward + PATIENCE * np.einsum("rcb,rab->rca", expected, onward)
        values = table.max(axis=2)
    return cast("Floats", table - table.max(axis=2, keepdims=True))


@lru_cache(maxsize=64)
def _rule_tables(game: Game) -> tuple[Floats, Floats]:
    return rule_forecasts(game.payoff().shape[1]), rule_values(scaled(game.payoff()))


@dataclass(frozen=True)
class RuleLookahead:
    """Bayesian inference over rules that the other may follow, and look-ahead as if its rule were known from now on.

    P(rule) is updated by Bayes' rule and mixed with the prior by `switch` each round, as in `Observer`;
    π(a) ∝ exp(beta · Σ_rule P(rule) Q_rule(last joint action, a)) (QMDP; Littman, Cassandra and Kaelbling 1995).
    For games in which both have the same number of actions.
    """

    game: Game
    switch: float
    beta: float
    weights: tuple[float, ...] = ()
    context: int = 0

    def _weights(self) -> tuple[float, ...]:
        return self.weights or shift_rules(self.game.payoff().shape[1])[1]

    def observe(self, outcome: Outcome | None) -> Self:
        """The mind after a round; a missed move leaves no joint action to respond to."""
        if outcome is None:
            return self
        moves = self.game.payoff().shape[1]
        expected, _ = _rule_tables(self.game)
        likely = expected[:, self.context, outcome.theirs].tolist()
        joint = [w * p for w, p in zip(self._weights(), likely, strict=True)]
        total = sum(joint)
        prior = shift_rules(moves)[1]
        weights = tuple((1.0 - self.switch) * w / total + self.switch * p0 for w, p0 in zip(joint, prior, strict=True))
        moved = outcome.own != MISSED
        context = 1 + outcome.own * moves + outcome.theirs if moved else 0
        return replace(self, weights=weights, context=context)

    def predict(self) -> Categorical[int]:
        """Σ_rule P(rule) P(b | rule)."""
        expected, _ = _rule_tables(self.game)
        return _categorical((np.array(self._weights()) @ expected[:, self.context]).tolist())

    def act(self) -> Categorical[int]:
        """π(a) ∝ exp(beta · Σ_rule P(rule) Q_rule(a))."""
        _, values = _rule_tables(self.game)
        worth = np.array(self._weights()) @ values[:, self.context]
        return Categorical.softmax((a, self.beta * float(w)) for a, w in enumerate(worth))


def _categorical(probs: list[float]) -> Categorical[int]:
    return Categorical(tuple(range(len(probs))), tuple(float(np.log(p)) if p > 0.0 else -np.inf for p in probs))


PlayerMind = Mind[Outcome | None, int]
