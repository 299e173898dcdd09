"""The bound of a scenario: the best response to a partner whose strategy is known, and what each choice loses to it.

At the level of meetings everything is exact: a strategy's state after any plays is a belief, and the value of the best
play with n meetings to go is found by backward induction. How much to gather before a meeting decides how many
meetings there are; that is found by search on development seeds (`bound.toml`, `benchmarks/evidence/bound_margins.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, point_mass
from otherminds.evaluation.tasks import ROUNDING
from otherminds.files.toml import packaged
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.worlds.in_the_matrix.bots import ABLE, MatrixBot, Skill
from otherminds.worlds.in_the_matrix.hypotheses import HORIZON, library, machine_of, meeting_game, typical_inventory
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    FollowUp,
    Inventory,
    Script,
    Strategy,
    StrategyState,
    play_of,
)
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.repeated_games.players.bayesian_lookahead import closed_hypotheses

Belief = tuple[tuple[StrategyState, float], ...]
Floats = NDArray[np.float64]

STILL = Skill(pauses=1.0)  # one that does not move, and cannot be met as it gathers nothing


class Values(NamedTuple):
    """With h = 0 … H meetings to go: `best[h, q]` in payoff, and for h ≥ 1 `of[h − 1, q, a]` if a is played first."""

    best: Floats
    of: Floats


@dataclass(frozen=True, eq=False)
class KnownPartner:
    """A partner whose strategy is known, as an exact model of meetings with it.

    The states are the beliefs about its strategy's state that the plays of both allow, ties included. `outputs[q, b]`
    is the probability of its play b in state q, `moves[q, a, b]` the next state, `expected[q, a]` the payoff of play a
    when both gather one kind: the agent with a lead of `margin`, the partner with that of its aim.
    """

    strategy: Strategy
    states: Mapping[Belief, int]
    outputs: Floats
    moves: NDArray[np.intp]
    expected: Floats

    @cached_property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief of each state."""
        return tuple(self.states)

    def after(self, q: int, own: Inventory, theirs: Inventory) -> int:
        """The state after a meeting with these inventories."""
        return self.states[_belief_after(self.strategy, self.beliefs[q], own, theirs)]


@lru_cache(maxsize=256)
def known_partner(rules: Rules, strategy: Strategy, margin: int) -> KnownPartner:
    """The model of a strategy for an agent that gathers with this margin."""
    kinds = range(len(rules.resources))
    inventories = [typical_inventory(kind, len(kinds), margin) for kind in kinds]
    plays = [*inventories, rules.empty]  # the last is a tie
    states: dict[Belief, int] = {}
    pending = [_canonical_belief(strategy.start())]
    onward = list[list[list[Belief]]]()  # by state and plays of both, in the order in which states were found
    while pending:
        current = pending.pop()
        if current not in states:
            states[current] = len(states)
            onward.append([[_belief_after(strategy, current, own, theirs) for theirs in plays] for own in plays])
            pending += chain(*onward[-1])
    outputs, expected = np.zeros((len(states), len(kinds))), np.zeros((len(states), len(kinds)))
    for belief, q in states.items():
        for state, p in belief:
            theirs = typical_inventory(state.aim.kind, len(kinds), state.aim.margin)
            outputs[q, state.aim.kind] += p
            expected[q] += [p * rules.reward(own, theirs)[0] for own in inventories]
    moves = np.array([[[states[after] for after in row[:-1]] for row in table[:-1]] for table in onward], dtype=np.intp)
    return KnownPartner(strategy, states, outputs, moves, expected)


@lru_cache(maxsize=1024)
def values(partner: KnownPartner, horizon: int) -> Values:
    """The values of the best policy against a known partner, by backward induction.

    V₀ = 0,  Q_h(q, a) = E[R | q, a] + Σ_b P(b | q) V_{h−1}(q′),  V_h = max_a Q_h.
    """
    best, of = [np.zeros(len(partner.outputs))], list[Floats]()
    for _ in range(horizon):
        of.append(partner.expected + np.einsum("qb,qab->qa", partner.outputs, best[-1][partner.moves]))
        best.append(of[-1].max(axis=1))
    return Values(np.array(best), np.array(of))


def _canonical_belief(states: Categorical[StrategyState]) -> Belief:
    """A canonical form, so that equal beliefs are the same state."""
    support = sorted(((state, round(p, 9)) for state, p in states if p > 1e-9), key=lambda pair: repr(pair[0]))
    total = sum(p for _, p in support)
    return tuple((state, p / total) for state, p in support)


def _belief_after(strategy: Strategy, belief: Belief, own: Inventory, theirs: Inventory) -> Belief:
    """What is believed of the partner after a meeting: conditioned on its play, unless that was not its aim."""
    play = play_of(theirs)
    meant = [pair for pair in belief if pair[0].aim.kind == play] or belief
    states = Categorical.from_scores((state, math.log(p)) for state, p in meant)
    return _canonical_belief(states.bind(lambda state: strategy.update(state, theirs, own)))


# What choices lose


class Choice(NamedTuple):
    """A choice before a meeting, judged against the known partner, in payoff.

    `best` is the value of the best policy from here, less its value after the meeting; `loss` what the kind that the
    agent wanted loses of it, 0 if it wanted none; `likeliest` the plays of the partner that are most probable.
    """

    best: float
    loss: float
    likeliest: tuple[int, ...]


def judged(
    rules: Rules,
    strategy: Strategy,
    margin: int,
    met: Sequence[tuple[Inventory, Inventory]],
    own_kinds: Sequence[int | None],
) -> list[Choice]:
    """The choices in all meetings with a partner that meets nobody else: inventories (own, theirs), kinds wanted.

    With n meetings, and h to go before one in state q: best = V_h(q) − V_{h−1}(q′), loss = V_h(q) − Q_h(q, a). The
    sum of `best` is Vₙ(q₀). Raises ValueError for a negative loss: the policy would not be the best.
    """
    model = known_partner(rules, strategy, margin)
    choices = list[Choice]()
    q = 0
    policy_values = values(model, len(met))
    for i, ((own, theirs), kind) in enumerate(zip(met, own_kinds, strict=True)):
        meetings_left = len(met) - i
        q_after = model.after(q, own, theirs)
        loss = (
            0.0
            if kind is None
            else float(policy_values.best[meetings_left, q] - policy_values.of[meetings_left - 1, q, kind])
        )
        best = float(policy_values.best[meetings_left, q] - policy_values.best[meetings_left - 1, q_after])
        choices.append(_checked_choice(best, loss, model.outputs[q]))
        q = q_after
    return choices


def judged_at_once(rules: Rules, aim: Aim, margin: int, own_kind: int | None) -> Choice:
    """The choice in a meeting with one of many players, which do not react to this agent: best = max_a R(a, aim)."""
    kinds = len(rules.resources)
    theirs = typical_inventory(aim.kind, kinds, aim.margin)
    pays = [rules.reward(typical_inventory(kind, kinds, margin), theirs)[0] for kind in range(kinds)]
    return _checked_choice(max(pays), 0.0 if own_kind is None else max(pays) - pays[own_kind], np.eye(kinds)[aim.kind])


def _checked_choice(best: float, loss: float, law: Floats) -> Choice:
    if loss < -ROUNDING:
        raise ValueError(f"a choice that loses {loss} is better than the best")
    return Choice(best, loss, tuple(np.flatnonzero(law >= law.max() - ROUNDING).tolist()))


# The player


@dataclass(frozen=True)
class BestResponse:
    """The best response to a known partner as a strategy; what it remembers is the partner's state."""

    partner: KnownPartner
    margin: int

    def start(self) -> Categorical[StrategyState]:
        """The best first play, with certainty."""
        return point_mass(self._state(0))

    def update(self, state: StrategyState, own: Inventory, partner: Inventory) -> Categorical[StrategyState]:
        """The best play after a meeting, with as many meetings ahead as an episode has."""
        return point_mass(self._state(self.partner.after(state.counted, own, partner)))

    def _state(self, q: int) -> StrategyState:
        worth = values(self.partner, HORIZON).of[-1, q]
        return StrategyState(Aim(int(np.argmax(worth >= worth.max() - ROUNDING)), self.margin), q)


def _outguessing(kinds: int, margin: int) -> FollowUp:
    """Plays what beats the kind that would beat its last play, as its partner answers that, or what it sees taken."""
    return FollowUp(Aim(0, margin), tuple(Aim((kind + 2) % kinds, margin) for kind in range(kinds)))


def margin_of(names: Sequence[str]) -> int:
    """The lead to gather against these bots: the median of those found for each by search."""
    return int(median(packaged("otherminds.papers.hypothetical_minds", "bound.toml")["margins"][n] for n in names))


def bound(
    world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator, margin: int | None = None
) -> HypotheticalMinds | MatrixBot:
    """The player that knows the partners, has the map, and gathers as much as was found to be best.

    Of many partners, each of which soon has changed whatever it changes, it knows what they play in the end. Partners
    that watch what is gathered have no strategy to respond to: against them it follows the best of the plans that were
    tried, which is to beat the reply to its own last play or, with a lead of 0, to gather nothing and meet nobody.
    """
    margin = margin_of(names) if margin is None else margin
    strategies = [bot(name).strategy for name in names]
    if None in strategies:
        plan = _outguessing(len(world.rules.resources), margin or 1)
        return MatrixBot.initial(world, me, plan, rng, ABLE if margin else STILL)
    if len(strategies) == 1 and strategies[0] is not None:
        best = BestResponse(known_partner(world.rules, strategies[0], margin), margin)
        return MatrixBot.initial(world, me, best, rng, ABLE)
    game, prior = meeting_game(world.rules), Programs.of(library(world.rules))
    ends = [Script(policy.aims[-1:]) if isinstance(policy, Script) else policy for policy in strategies]
    machines = [machine_of(n, policy, game) for n, policy in zip(names, ends, strict=True) if policy is not None]
    theories = [Programs.of(closed_hypotheses(game, [policy])) for policy in machines]
    body = MatrixBot.initial(world, me, Script((Aim(0, margin),)), rng, ABLE)
    return HypotheticalMinds.initial(world, me, prior, rng, margin=margin, body=body, theories=(prior, *theories))
