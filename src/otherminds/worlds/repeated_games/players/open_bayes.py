"""A Bayesian player for partners that may slip, switch or be in no list, with plans that test hypotheses."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np

from otherminds.distribution import Categorical, point_mass
from otherminds.errors import InputError
from otherminds.files.text import brief
from otherminds.planning.best_response import Chances, Floats, Ints, Pool, best_action
from otherminds.planning.policy_rollout import Machines, Plan, plan_values
from otherminds.worlds.repeated_games.machines import (
    Machine,
    all_memory_one,
    all_reactive,
    build,
    bundled_machines,
    canonical,
    constant,
    reactive,
)
from otherminds.worlds.repeated_games.players.learning_machines import fictitious_player, forgetful_player, q_learner
from otherminds.worlds.repeated_games.players.structured_machines import structured_machines, triggers
from otherminds.worlds.repeated_games.rules import Game, Outcome

SWITCH_RATES = ((0.001, 0.65), (0.04, 0.35))  # probability that the partner changes after a round, and its prior
SLIPS = ((0.003, 0.5), (0.05, 0.35), (0.2, 0.15))  # probability of a uniformly random action, and its prior
Rates = tuple[tuple[float, float], ...]
# Prior weight of each family of hypotheses, if nothing is known about the partner
SHARES: Mapping[str, float] = {
    "constant": 0.1,
    "reactive": 0.6,
    "memory_one": 0.1,
    "stochastic": 0.05,
    "library": 0.03,
    "structured": 0.04,
    "learner": 0.08,
    "none": 0.04,
}
# If the partner is probably one of a library, or like its machines
LIBRARY_SHARES: Mapping[str, float] = {
    "constant": 0.03,
    "reactive": 0.05,
    "memory_one": 0.08,
    "stochastic": 0.04,
    "library": 0.7,
    "structured": 0.12,
    "trigger": 0.1,
    "none": 0.05,
}


class Prior(NamedTuple):
    """The weight of each family of hypotheses, and the switch rates of the partner with their probabilities."""

    shares: Mapping[str, float]
    switch_rates: Rates


PRIORS: Mapping[str, Prior] = {
    "open": Prior(SHARES, SWITCH_RATES),
    "dilemma": Prior(LIBRARY_SHARES, SWITCH_RATES),
    "library": Prior(LIBRARY_SHARES, ((0.001, 1.0),)),
}
"""Priors by name. With `open` the player tests early whether a partner needs its cooperation; with the others it does
not, as most machines of the library would retaliate. `dilemma` was chosen among nine variants by the suites of
docs/results/partners.md."""

CHANCES = (0.0, 0.1, 1 / 3, 2 / 3, 0.9, 1.0)  # of the first action in replies of stochastic reactive partners
RECALL = 0.5  # share of its mean past posterior, rather than the prior, in what it believes after a change
FORGETTING = (0.98, 0.2)  # weight that earlier replies keep when their context recurs
LEARNERS = 3 * len(FORGETTING)
LEVELS = 41  # values that a Q-learner tells apart: with few it would forget a payoff in one round; chosen
PSEUDOCOUNT = 0.25  # of each reply in the frequencies of none of these
STRUCTURED = 350  # structured machines that are drawn as hypotheses
MOST_TABLES = 4096  # most reactive partners that are enumerated; bounds time
MOST_PAIRED = 4  # actions up to which all pairs are probes; bounds time
MARGIN = 0.1  # loss against the maximin value that the player risks, per round, as a share of the range of payoffs
DISCOUNTS = (1.0, 0.99, 0.975, 0.95)  # of plans: the chance that the partner does not change, the nearest of these
AHEAD = 100  # rounds that plans look ahead if there are more; bounds time
REPLAN = 4  # rounds after which it plans anew even if the partner does as foreseen; bounds time
LIVE, COMMITMENTS = 80, 8  # hypotheses and commitments that are planned with; bound time
NEGLIGIBLE = 1e-3  # share of the highest probability below which plans ignore a hypothesis


def _against_all_others(game: Game) -> Game:
    """The game of the first agent against all others as one, whose payoffs are not used."""
    payoff = game.payoff()
    joint = tuple(str(b) for b in range(payoff.shape[1]))
    return Game(game.name, ("you", "others"), (game.actions[0], joint), tuple((float(r), 0.0) for r in payoff.ravel()))


@lru_cache(maxsize=8)
def _families(game: Game, ahead: int) -> tuple[tuple[str, tuple[Machine, ...]], ...]:
    """The families of hypotheses without a library; shared within a process."""
    return tuple((name, tuple(family)) for name, family in _built_families(game, ahead))


def _built_families(game: Game, ahead: int) -> Iterator[tuple[str, list[Machine]]]:
    """The families of hypotheses. Several partners are one that plays their joint action."""
    options, their_options = game.payoff().shape
    pair = game if len(game.agents) == 2 else _against_all_others(game)
    uniform = build("random", pair, 0, lambda _: (1.0 / their_options,) * their_options, lambda q, _own, _theirs: q)
    yield "constant", [*(constant(pair, b) for b in range(their_options)), uniform]
    if their_options ** (1 + options) <= MOST_TABLES:
        yield "reactive", list(all_reactive(pair))
    if (options, their_options) == (2, 2):
        yield "memory_one", list(all_memory_one(pair))
        yield (
            "stochastic",
            [
                reactive(f"reactive {p:.2f} {q:.2f}", pair, (p, 1.0 - p), [(p, 1.0 - p), (q, 1.0 - q)])
                for p, q in product(CHANCES, repeat=2)
            ],
        )
        yield "structured", list(structured_machines(pair, STRUCTURED, np.random.default_rng(0)))
        yield "trigger", list(triggers(pair))
    if options == 2 and len(game.agents) == 2:
        forgetful = [forgetful_player(game, rate=rate) for rate in (0.1, 0.3)]
        learners = (
            [q_learner(game, rate=rate, explore=0.1, levels=LEVELS) for rate in (0.05, 0.2, 0.5)]
            if their_options == 2
            else []
        )
        yield "learner", [fictitious_player(game, ahead), *forgetful, *learners]


@dataclass(frozen=True, eq=False)
class OpenHypotheses:
    """Machines that a partner may be with prior probabilities, and learners of replies for none of these.

    Learners predict from frequencies of the partner's replies to the first agent's last action, or to the last joint
    action, or to nothing, each at several rates of forgetting. Their prior follows that of the machines.
    """

    __repr__ = brief

    game: Game
    machines: tuple[Machine, ...]
    prior: Floats
    horizon: int
    slips: Rates = SLIPS
    switch_rates: Rates = SWITCH_RATES
    recall: float = RECALL

    @classmethod
    def of(
        cls,
        game: Game,
        horizon: int = 100,
        *,
        library: Sequence[Machine] | None = None,
        shares: Mapping[str, float] = SHARES,
        slips: Rates = SLIPS,
        switch_rates: Rates = SWITCH_RATES,
        recall: float = RECALL,
    ) -> Self:
        """Hypotheses for a game. `library` replaces the bundled machines, which are for 2 × 2 games."""
        if library is None:
            library = bundled_machines(game) if game.shape == (2, 2) else ()
        families = [*_families(game, min(horizon, AHEAD)), ("library", tuple(library))]
        by_form = dict[Hashable, tuple[Machine, float]]()
        for name, family in families:
            if not shares.get(name):
                continue
            for machine in family:
                form = canonical(machine)
                representative, share = by_form.get(form, (machine, 0.0))
                by_form[form] = representative, share + shares[name] / len(family)
        prior = np.array([*(share for _, share in by_form.values()), *(shares.get("none", 0.0) / LEARNERS,) * LEARNERS])
        machines = tuple(machine for machine, _ in by_form.values())
        return cls(game, machines, prior / prior.sum(), horizon, slips, switch_rates, recall)

    @cached_property
    def rates(self) -> Floats:
        """Slip rate, switch rate and prior probability of each pair of these rates, shape (3, pairs)."""
        pairs = product(self.slips, self.switch_rates)
        return np.array([(slip, switch, p * q) for (slip, p), (switch, q) in pairs]).T

    @cached_property
    def pool(self) -> Pool:
        """The machines, their states numbered consecutively."""
        return Pool.of(self.game.payoff(), [machine.chances for machine in self.machines], self.ahead)

    @property
    def ahead(self) -> int:
        """Rounds that plans look ahead."""
        return min(self.horizon, AHEAD)

    @cached_property
    def contexts(self) -> Ints:
        """The row of frequencies that a learner uses after joint action c − 1 (first round: c = 0), (learners, c)."""
        options, their_options = self.game.payoff().shape
        joint = np.arange(1 + options * their_options)
        own = np.append(0, 1 + np.arange(options).repeat(their_options))
        return np.array([rows for rows in (np.zeros_like(own), own, joint) for _ in FORGETTING])

    @cached_property
    def maximin(self) -> tuple[float, Floats]:
        """The payoff that the first agent can secure in a round, and the mixed action that secures it."""
        from scipy.optimize import linprog

        payoff = self.game.payoff()
        options, their_options = payoff.shape
        rows = np.hstack([-payoff.T, np.ones((their_options, 1))])
        sums = np.array([[*[1.0] * options, 0.0]])
        bounds = [*[(0.0, 1.0)] * options, (None, None)]
        x: Any = linprog([*[0.0] * options, -1.0], rows, np.zeros(their_options), sums, [1.0], bounds).x
        mixed: Floats = np.clip(x[:-1], 0.0, None)
        return float(x[-1]), mixed / mixed.sum()

    @cached_property
    def probes(self) -> tuple[Plan, ...]:
        """Short sequences of actions; the empty one is first: the base policies at once."""
        options = range(len(self.game.payoff()))
        runs = [(a,) * rounds for rounds in (1, 2, 4) for a in options]
        pairs = product(options, repeat=2) if len(options) <= MOST_PAIRED else ()
        return Plan(), *map(Plan, dict.fromkeys([*runs, *pairs]))


class _Choice(NamedTuple):
    """An action, and the hypothesis that it is committed to, or −1."""

    action: int
    hypothesis: int = -1


@dataclass(frozen=True, eq=False)
class OpenBayes:
    """Bayesian player for partners that slip, switch and may be in no list.

    Inference: P(m | ε, h) ← (1 − h) P(m | reply, ε, h) + h P₁(m) after each round, for machines m that slip with
    probability ε, and for none of these, whose replies are learnt with forgetting. P₁ is the prior mixed with the mean
    of all posteriors so far, since partners return to what they did (Bousquet and Warmuth 2002). The rates ε and h of
    the partner are learnt on a grid, and plans discount by 1 − E[h].
    Planning: it begins the plan with the highest expected payoff: a short sequence of actions, or the best response to
    a hypothesis until the partner deviates from it; `plan_values` says what follows. It plans anew when the partner
    does, and every few rounds.
    Guard: once its payoff is more than a margin below the maximin value, it plays the maximin action to the end.
    So E[payoff] ≥ T · maximin − margin · T · range − range, against any partner.
    """

    __repr__ = brief

    hypotheses: OpenHypotheses
    weights: Floats
    states: Ints
    replies: Floats
    past: Floats
    context: int = 0
    t: int = 0
    lost: float = 0.0
    hypothesis: int = -1
    age: int = 0

    @classmethod
    def of(cls, hypotheses: OpenHypotheses) -> Self:
        """The player before the first round."""
        options, their_options = hypotheses.game.payoff().shape
        replies = np.zeros((LEARNERS, 1 + options * their_options, their_options))
        weights = hypotheses.prior[:, None] * hypotheses.rates[2]
        return cls(hypotheses, weights, hypotheses.pool.starts, replies, np.zeros_like(hypotheses.prior))

    @property
    def _reply_chances(self) -> Floats:
        """P(reply | context) of each learner, shape (learners, contexts, replies)."""
        contexts = self.hypotheses.contexts
        counts = self.replies[np.arange(len(contexts))[:, None], contexts] + PSEUDOCOUNT
        learnt: Floats = counts / counts.sum(axis=2, keepdims=True)
        return learnt

    @property
    def _policies(self) -> Floats:
        """P(b | m) without slips, shape (hypotheses, replies)."""
        return np.vstack([self.hypotheses.pool.chances.outputs[self.states], self._reply_chances[:, self.context]])

    def observe(self, outcome: Outcome | None) -> Self:
        """The player after a round."""
        if outcome is None:
            return self
        hypotheses, own, theirs = self.hypotheses, outcome.own, outcome.theirs
        payoff = hypotheses.game.payoff()
        slips, switches, _ = hypotheses.rates
        weights = self.weights * ((1.0 - slips) * self._policies[:, theirs, None] + slips / payoff.shape[1])
        weights /= weights.sum()
        past = self.past + weights.sum(axis=1)
        fresh = (1.0 - hypotheses.recall) * hypotheses.prior + hypotheses.recall * past / past.sum()
        weights = (1.0 - switches) * weights + switches * weights.sum(axis=0) * fresh[:, None]
        replies, learners = self.replies.copy(), np.arange(len(self.replies))
        row = hypotheses.contexts[:, self.context]
        commitment = self._choice.hypothesis
        continues = 0 <= commitment < len(self.states) and self.age + 1 < REPLAN
        continues = continues and theirs == hypotheses.pool.likely[self.states[commitment]]
        replies[learners, row] *= np.array(FORGETTING * 3)[:, None]
        replies[learners, row, theirs] += 1.0
        return replace(
            self,
            weights=weights,
            states=hypotheses.pool.chances.moves[self.states, own, theirs],
            replies=replies,
            past=past,
            context=1 + own * payoff.shape[1] + theirs,
            t=self.t + 1,
            lost=self.lost if self.guarding else self.lost + hypotheses.maximin[0] - float(payoff[own, theirs]),
            hypothesis=commitment if continues else -1,
            age=self.age + 1 if continues else 0,
        )

    @property
    def guarding(self) -> bool:
        """Whether it plays safe to the end, since it has lost more than the margin."""
        hypotheses = self.hypotheses
        return self.lost > MARGIN * hypotheses.horizon * float(np.ptp(hypotheses.game.payoff()))

    @property
    def posterior(self) -> Floats:
        """P(m) for each machine, and for each learner of none of these at the end."""
        total: Floats = self.weights.sum(axis=1) / self.weights.sum()
        return total

    def predict(self) -> Categorical[int]:
        """Σ P(m, ε) π(b | m, ε)."""
        slips, share = self.hypotheses.rates[0], self.weights / self.weights.sum()
        chance = (share @ (1.0 - slips)) @ self._policies + (share @ slips).sum() / self.replies.shape[2]
        return Categorical.from_scores((b, float(np.log(p))) for b, p in enumerate(chance) if p > 0.0)

    def act(self) -> Categorical[int]:
        """The first action of the best plan, or the maximin action if too much has been lost."""
        if self.guarding:
            mixed = self.hypotheses.maximin[1]
            return Categorical.from_scores((a, float(np.log(p))) for a, p in enumerate(mixed) if p > 0.0)
        return point_mass(self._choice.action)

    @property
    def _machine_plans(self) -> Machines:
        """The machines, with action values for the expected switch rate."""
        stays = 1.0 - float(self.weights.sum(axis=0) @ self.hypotheses.rates[1] / self.weights.sum())
        return _machines_with_values(self.hypotheses, DISCOUNTS[int(np.abs(np.array(DISCOUNTS) - stays).argmin())])

    def _learner_plans(self, t: int, discount: float) -> Machines:
        """None of these as machines, whose states are contexts."""
        learnt, payoff = self._reply_chances, self.hypotheses.game.payoff()
        learners, contexts, their_options = learnt.shape
        after = 1 + np.arange(payoff.size).reshape(payoff.shape)
        firsts = contexts * np.arange(learners).repeat(contexts)
        chances = Chances(learnt.reshape(-1, their_options), firsts[:, None, None] + after)
        return Machines.of(payoff, chances, self.hypotheses.ahead, t, discount)

    @cached_property
    def _choice(self) -> _Choice:
        """The first action of the best plan, ties to the first plan; a commitment is kept for some rounds."""
        hypotheses = self.hypotheses
        t = hypotheses.ahead - min(hypotheses.ahead, max(hypotheses.horizon - self.t, 1))
        listed = self._machine_plans
        if self.hypothesis >= 0:
            return _Choice(int(listed.values(t, self.states[[self.hypothesis]]).argmax()), self.hypothesis)
        machines = listed.joined(self._learner_plans(t, listed.discount))
        contexts = self.replies.shape[1]
        unlisted = len(listed.likely) + self.context + contexts * np.arange(len(self.replies))
        states, weights = np.concatenate([self.states, unlisted]), self.posterior
        live = np.argsort(-weights, kind="stable")[:LIVE]
        live = live[weights[live] > NEGLIGIBLE * weights[live[0]]]
        states, weights = states[live], weights[live] / weights[live].sum()
        values = machines.values(t, states)
        if len(live) == 1 or t + 1 >= hypotheses.ahead:
            return _Choice(best_action(weights @ values))
        payoff = hypotheses.game.payoff()
        machines, states, weights, origin = machines.branched(payoff, t, states, weights, len(listed.likely))
        values = machines.values(t, states)
        plans = [*_commitments(machines, t, states, weights, hypotheses.maximin[0]), *hypotheses.probes]
        best = plans[best_action(plan_values(machines, t, states, weights, plans, hypotheses.maximin[0]))]
        if best.hypothesis >= 0:
            return _Choice(int(values[best.hypothesis].argmax()), int(live[origin[best.hypothesis]]))
        return _Choice(best.fixed[0] if best.fixed else best_action(weights @ values))


def _commitments(machines: Machines, t: int, states: Ints, weights: Floats, secure: float) -> list[Plan]:
    """Plans to commit to likely or gainful hypotheses; of those that play alike with their best response, to one."""
    reached, plays = states, list[Ints]()
    for u in range(t, machines.horizon):
        action, reply = machines.values(u, reached).argmax(axis=1), machines.likely[reached]
        plays += [action, reply]
        reached = machines.chances.moves[reached, action, reply]
    _, representatives, group = np.unique(np.array(plays).T, axis=0, return_index=True, return_inverse=True)
    group_weights = np.bincount(group.ravel(), weights)
    gains = machines.values(t, states).max(axis=1) - secure * (machines.horizon - t)
    weighted_gains = np.bincount(group.ravel(), weights * np.maximum(gains, 0.0))
    likeliest = np.argsort(-group_weights, kind="stable")[: COMMITMENTS // 2]
    order = [*likeliest, *np.argsort(-weighted_gains, kind="stable")]
    return [Plan(hypothesis=int(representatives[g])) for g in list(dict.fromkeys(order))[:COMMITMENTS]]


@lru_cache(maxsize=32)
def _machines_with_values(hypotheses: OpenHypotheses, discount: float) -> Machines:
    """The listed machines with the values of the best response to each, for this discount; cached."""
    payoff, chances = hypotheses.game.payoff(), hypotheses.pool.chances
    return Machines.of(payoff, chances, hypotheses.ahead, discount=discount)


def default_prior(game: Game) -> str:
    """The name of the default prior: dilemma if T > R > P > S for both of two agents, else open.

    T, R, P and S are the payoffs of an agent at DC, CC, DD and CD, its own action first, with C the first action.
    """
    orders = [game.payoff(agent)[[1, 0, 1, 0], [0, 0, 1, 1]] for agent in (0, 1)] if game.shape == (2, 2) else []
    return "dilemma" if orders and all((np.diff(order) < 0.0).all() for order in orders) else "open"


@lru_cache(maxsize=8)
def default_hypotheses(game: Game, horizon: int, library: tuple[Machine, ...] | None = None) -> OpenHypotheses:
    """The hypotheses of the default player, under the prior that `default_prior` names; shared within a process."""
    prior = PRIORS[default_prior(game)]
    return OpenHypotheses.of(game, horizon, library=library, shares=prior.shares, switch_rates=prior.switch_rates)


@lru_cache(maxsize=8)
def library_hypotheses(game: Game, horizon: int, library: tuple[Machine, ...] | None = None) -> OpenHypotheses:
    """The hypotheses of a player that expects one of a library, by default the bundled machines, or one like these.

    Raises InputError if the game is not 2 × 2.
    """
    if game.shape != (2, 2):
        raise InputError(f"bayes_library cannot play {game.name}", hint="its machines play 2 × 2 games")
    prior = PRIORS["library"]
    return OpenHypotheses.of(game, horizon, library=library, shares=prior.shares, switch_rates=prior.switch_rates)
