"""ProToM: a facilitator that watches people, infers what each wants, and speaks only when it helps.

After every step it (1) updates a posterior over each agent's mind from what the agent did and saw, (2) prices
every message it could say by the steps it is expected to save everybody, and (3) says the best one if it saves
more than φ and is likely enough to change how things go. (Bortoletto et al., algorithms 1 and 2.)

An oracle is the same facilitator with observers that consider one mind only: the true one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Generic, Literal, Self, TypeVar, cast

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical, divergence, log_sum_exp
from otherminds.mind import GoalDirected, WithErrand, own_mind, without_finished_errand
from otherminds.observer import Observer, Watchers, attend
from otherminds.papers.protom.episodes import Decision, Goals, Messages, Price
from otherminds.world import World

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
F = TypeVar("F", bound=Hashable)

M = TypeVar("M", bound=GoalDirected[Any])
Minds = Observer[GoalDirected[Any]]
NEGLIGIBLE = 0.01
ENUMERATED = 256
SAMPLES = 64
SAME = 1e-9
MEMORY = 5


@dataclass(frozen=True)
class ProToM(Generic[S, A, F]):
    """The facilitator at one moment: `watchers` are the observers of each agent, in the order of the agents.

    It says the f of the largest U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)], in steps, if U(f) > φ and div(f) > ε (eq. 12).
    phi: steps that a message must save to be considered (φ). epsilon: how much it must change (ε; the paper's 0.1
    for Doors-Keys-Gems goes with a measure of its own, ours was chosen on tuning levels). gate: how that is judged,
    by plans, by recent deeds, or by what the helper would do next. faithful: whether all particles of an agent
    count alike, whatever they explain (eq. 9), or as Bayes' rule has it. distinct: whether two agents never want
    the same thing. waits: numbers of steps to look ahead before speaking, at a price of `effort` steps a message
    (ours, not the paper's; off by default).
    """

    world: World[S, Any, A]
    messages: Messages[S, A, F]
    watchers: Watchers[GoalDirected[A]]
    phi: float = 0.0
    epsilon: float = 0.5
    gate: Literal["plan", "traj", "next"] = "plan"
    faithful: bool = True
    distinct: bool = True
    waits: tuple[int, ...] = ()
    effort: float = 1.0
    recent: tuple[tuple[Watchers[GoalDirected[A]], Mapping[str, A]], ...] = ()

    @classmethod
    def beginning(
        cls,
        world: World[S, Any, A],
        messages: Messages[S, A, F],
        watchers: Watchers[GoalDirected[A]],
        state: S,
        **settings: Any,
    ) -> Self:
        """The facilitator at the start of an episode, every observer having seen what its agent sees."""
        seen = {agent: watchers[agent].see(world.observe(state, agent)) for agent in world.agents}
        return cls(world, messages, seen, **settings)

    # 1. Infer (algorithm 1, lines 4-12)

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """Condition every observer on what its agent did, then let it see what the agent saw (eq. 8)."""
        watchers = attend(self.world, self.watchers, joint, after)
        if self.faithful:
            watchers = {agent: observer.equalise(_particle) for agent, observer in watchers.items()}
        return replace(
            self,
            watchers={agent: conclude(observer.map(without_finished_errand)) for agent, observer in watchers.items()},
            recent=(*self.recent, (self.watchers, joint))[-MEMORY:],
        )

    def tell(self, message: F | None) -> Self:
        """Expect the helper to do as it has been told; None: expect nobody to run any errand."""
        if message is None:
            return replace(self, watchers={a: o.map(own_mind) for a, o in self.watchers.items()})
        helper = self.messages.helper(message)
        told = self.watchers[helper].map(lambda mind: self._told(message, mind))
        return replace(self, watchers={**self.watchers, helper: told})

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """b̂ⁱ(g): the posterior over each agent's goal (eq. 9)."""
        return {agent: observer.ask(lambda mind: mind.goal) for agent, observer in self.watchers.items()}

    # 2. Price (algorithm 2)

    def prices(self, state: S, left: int, rng: np.random.Generator) -> list[Price[F]]:
        """U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)] and div(f) for every candidate message."""
        length = self.messages.length
        hypotheses = [(p, minds) for goals, p in self.joint_goals(rng) for p, minds in self.imagine(goals, p)]
        without = [length(state, minds, None, left) for _, minds in hypotheses]
        found = []
        for message in self.messages.candidates(state):
            saved = [
                (p, alone - length(state, minds, message, left))
                for (p, minds), alone in zip(hypotheses, without, strict=True)
            ]
            found.append(Price(message, sum(p * saves for p, saves in saved), self._changes(message, saved)))
        return found

    def _changes(self, message: F, saved: list[tuple[float, int]]) -> float:
        """div(f): how much the message would change."""
        helps = sum(p for p, saves in saved if saves > 0)
        if self.gate == "traj":
            return self._news(message)
        return self._turn(message) if self.gate == "next" and helps else helps

    def imagine(self, goals: Goals, share: float) -> list[tuple[float, tuple[GoalDirected[A], ...]]]:
        """What people with these goals may have in mind, with probabilities that add up to `share`.

        As many draws as there are particles, evenly spaced over what each of them is believed to have in mind.
        """
        thought = [
            [(mind, w) for mind, w in zip(o.minds, o.weights, strict=True) if mind.goal == goal and w > IMPOSSIBLE]
            for o, goal in zip(self.watchers.values(), goals, strict=True)
        ]
        n = max(map(len, thought))
        if n == 1:
            return [(share, tuple(mind for ((mind, _),) in thought))]
        spread = [Categorical.from_scores((k, w) for k, (_, w) in enumerate(minds)) for minds in thought]
        drawn = Counter(tuple(p.decode((k + 0.5) / n)[0] for p in spread) for k in range(n))
        return [
            (share * times / n, tuple(minds[k][0] for minds, k in zip(thought, ks, strict=True)))
            for ks, times in drawn.items()
        ]

    def joint_goals(self, rng: np.random.Generator) -> Categorical[Goals]:
        """What everybody wants, jointly: enumerated where that is feasible, else sampled (eq. 10)."""
        likely = [[(g, p) for g, p in belief if p >= NEGLIGIBLE] for belief in self.beliefs().values()]
        if math.prod(map(len, likely)) <= ENUMERATED:
            every = [(tuple(g for g, _ in c), sum(math.log(p) for _, p in c)) for c in product(*likely)]
            scored = [(goals, lp) for goals, lp in every if not self.distinct or len(set(goals)) == len(goals)]
        else:
            every, draws = [], (self._draw(likely, rng) for _ in range(SAMPLES))
            scored = [draw for draw in draws if draw is not None]
        joint = Categorical.from_scores(scored or every or [(tuple(b.mode for b in self.beliefs().values()), 0.0)])
        return joint.condition(lambda goals: joint.prob(goals) >= min(NEGLIGIBLE, joint.prob(joint.mode)))

    def _draw(self, likely: list[list[tuple[Hashable, float]]], rng: np.random.Generator) -> tuple[Goals, float] | None:
        """One joint hypothesis, drawn agent by agent among what is left to want, with its log importance weight."""
        goals: list[Hashable] = []
        weight = 0.0
        for belief in likely:
            left = [(g, math.log(p)) for g, p in belief if not self.distinct or g not in goals]
            if not left:
                return None
            weight += log_sum_exp(lp for _, lp in left)
            goals.append(Categorical.from_scores(left).sample(rng))
        return tuple(goals), weight

    def _news(self, message: F) -> float:
        """1 − P(the helper is at it already | its last deeds), even prior (after Ullman et al. 2009)."""
        helper = self.messages.helper(message)
        odds = 0.0
        for watchers, joint in self.recent:
            observer, action = watchers[helper], joint[helper]
            errand = self.messages.errand(message, observer.minds[0])
            odds += observer.predict().log_prob(action) - errand.act().log_prob(action)
        return 1.0 / (1.0 + math.exp(min(-odds, 700.0)))

    def _turn(self, message: F) -> float:
        """Σₘ P(m) JSD(π_m, π_m after the message): how differently the helper would act next, in bits."""
        changed = [
            (w, divergence(cast("Categorical[A]", mind.act()), cast("Categorical[A]", self._told(message, mind).act())))
            for mind, w in self.watchers[self.messages.helper(message)].posterior
            if w > 0.0
        ]
        return sum(w * bits for w, bits in changed)

    def _told(self, message: F, mind: GoalDirected[A]) -> WithErrand[A]:
        return WithErrand(mind, self.messages.errand(message, mind))

    # 3. Select (algorithm 1, lines 15-20)

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message of highest utility, if it saves more than φ steps and changes things; ties at random."""
        prices = tuple(self.prices(state, left, rng))
        best = max((price.saves for price in prices), default=-math.inf)
        if best <= self.phi:
            return Decision(silence=self._too_little(best), prices=prices)
        chosen = [p for p in prices if p.saves >= best - SAME and p.changes > self.epsilon]
        if not chosen:
            return Decision(silence="the best message would hardly change what they do", prices=prices)
        if self._better_to_wait(best, state, left, rng):
            return Decision(silence="it pays to see more before speaking", prices=prices)
        message = chosen[int(rng.integers(len(chosen)))].message
        likeliest = tuple(belief.mode for belief in self.beliefs().values())
        return Decision(message, words=self.messages.explain(state, message, likeliest), prices=prices)

    def _too_little(self, best: float) -> str:
        if best == -math.inf:
            return "nobody could do anything for anybody"
        return "no message is expected to save " + (f"more than {self.phi:g} steps" if self.phi else "any steps")

    # Look ahead (ours, not the paper's)

    def _better_to_wait(self, now: float, state: S, left: int, rng: np.random.Generator) -> bool:
        """Whether some wait promises more than speaking now: its value is what the paper's rule would save then."""
        if not self.waits:
            return False
        gains = dict.fromkeys(self.waits, 0.0)
        (rng,) = rng.spawn(1)  # looking ahead must not change how later ties are broken
        for goals, p in self.joint_goals(rng):
            for wait, gain in self._gains_after(goals, state, left, rng):
                gains[wait] += p * gain
        return max(gains.values()) > now - self.effort + SAME

    def _gains_after(self, goals: Goals, state: S, left: int, rng: np.random.Generator) -> list[tuple[int, float]]:
        """If these were the goals: the steps saved by the paper's rule after each wait."""
        then = replace(self, waits=())
        gains: list[tuple[int, float]] = []
        for wait in range(1, min(max(self.waits), left - 1) + 1):
            if self.world.done(state):
                break
            minds = [_with_goal(o, g) for o, g in zip(then.watchers.values(), goals, strict=True)]
            deeds = [cast("Categorical[A]", mind.act()).mode for mind in minds]
            joint = dict(zip(then.watchers, deeds, strict=True))
            state = self.world.step(state, joint, rng)
            then = then.watch(joint, state)
            if wait in self.waits:
                said = then.decide(state, left - wait, rng).message
                minds = [_with_goal(o, g) for o, g in zip(then.watchers.values(), goals, strict=True)]
                without = self.messages.length(state, minds, None, left - wait)
                saved = without - self.messages.length(state, minds, said, left - wait)
                gains.append((wait, saved - self.effort * (said is not None)))
        return gains


def conclude(observer: Observer[M]) -> Observer[M]:
    """Somebody who has got what one of the minds wants is taken to have wanted it."""
    possible = (mind for mind, w in zip(observer.minds, observer.weights, strict=True) if w > IMPOSSIBLE)
    if not any(mind.reached for mind in possible):
        return observer
    return observer.condition(lambda mind: mind.reached)


def _particle(mind: GoalDirected[Any]) -> int:
    return mind.particle


def _with_goal(observer: Minds, goal: Hashable) -> GoalDirected[Any]:
    return next(mind for mind in observer.minds if mind.goal == goal)
