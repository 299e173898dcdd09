"""ProToM: a facilitator that infers what each agent wants and speaks only when a message is expected to help.

Algorithm 1 of the paper (Bortoletto et al.) is `ProToM.watch` (infer) and `ProToM.decide` (select and explain),
algorithm 2, ComputeUtility, is `ProToM.compute_utility`. An oracle is the same facilitator with observers that consider
one mind only: the true one.
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
from otherminds.papers.protom.episodes import A, Decision, F, Goals, Messages, MessageUtility, S
from otherminds.world import World

M = TypeVar("M", bound=GoalDirected[Any])

NEGLIGIBLE = 0.01  # probability below which a goal, or a combination of goals, is left out; chosen, not tuned
MOST_ENUMERATED = 256  # combinations of goals up to which all are enumerated; beyond, they are sampled (cost only)
SAMPLES = 64  # combinations of goals drawn if they are sampled; chosen, not tuned
TIE = 1e-9  # steps by which two utilities may differ and still count as equal: rounding error
RECENT = 5  # joint actions that gate="traj" looks back on; chosen, not tuned


@dataclass(frozen=True)
class ProToM(Generic[S, A, F]):
    """The facilitator at one moment of an episode; `watchers` holds the observer of each agent, in the agents' order.

    It says the f that maximises U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)], in steps, if U(f) > φ and div(f) > ε (eq. 12, 15).

    phi: φ, the steps that a message must save. epsilon: ε, how much it must change (the paper's 0.1 for Doors-Keys-Gems
    belongs to the paper's own div; ours was chosen on tuning levels). gate: how div(f) is measured, see `_divergence`.
    faithful: whether all particles of an agent keep the same weight (eq. 9) or are weighted by Bayes' rule. distinct:
    whether no two agents want the same goal. waits: numbers of steps to look ahead before speaking, at `effort` steps
    a message (our extension, off by default).
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
    def initial(
        cls,
        world: World[S, Any, A],
        messages: Messages[S, A, F],
        watchers: Watchers[GoalDirected[A]],
        state: S,
        **settings: Any,
    ) -> Self:
        """The facilitator at the start of an episode, after every observer has seen what its agent sees of `state`."""
        seen = {agent: watchers[agent].see(world.observe(state, agent)) for agent in world.agents}
        return cls(world, messages, seen, **settings)

    # Algorithm 1, lines 4-12: infer what each agent believes and wants

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """Condition every observer on its agent's action, then show it what the agent saw of `after` (eq. 8)."""
        watchers = attend(self.world, self.watchers, joint, after)
        if self.faithful:
            watchers = {agent: observer.equalise(lambda mind: mind.particle) for agent, observer in watchers.items()}
        return replace(
            self,
            watchers={a: condition_on_reached(o.map(without_finished_errand)) for a, o in watchers.items()},
            recent=(*self.recent, (self.watchers, joint))[-RECENT:],
        )

    def tell(self, message: F | None) -> Self:
        """Expect the helper to follow the message; None: expect no agent to be on an errand any more."""
        if message is None:
            return replace(self, watchers={a: o.map(own_mind) for a, o in self.watchers.items()})
        helper = self.messages.helper(message)
        following = self.watchers[helper].map(lambda mind: self._with_errand(message, mind))
        return replace(self, watchers={**self.watchers, helper: following})

    def _with_errand(self, message: F, mind: GoalDirected[A]) -> WithErrand[A]:
        return WithErrand(mind, self.messages.errand(message, mind))

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """b̂ⁱ(g): the posterior over each agent's goal (eq. 9)."""
        return {agent: observer.ask(lambda mind: mind.goal) for agent, observer in self.watchers.items()}

    # Algorithm 2: ComputeUtility

    def compute_utility(self, state: S, left: int, rng: np.random.Generator) -> list[MessageUtility[F]]:
        """U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)], in steps, and div(f) for each candidate message; `left` steps remain."""
        length = self.messages.length
        minds_of = [(p, minds) for goals, p in self.joint_goals(rng) for p, minds in self.joint_minds(goals, p)]
        hypotheses = [(p, minds, length(state, minds, None, left)) for p, minds in minds_of]
        found = []
        for message in self.messages.candidates(state):
            saved = [(p, alone - length(state, minds, message, left)) for p, minds, alone in hypotheses]
            expected = sum(p * steps for p, steps in saved)
            found.append(MessageUtility(message, expected, self._divergence(message, saved)))
        return found

    def joint_goals(self, rng: np.random.Generator) -> Categorical[Goals]:
        """The distribution over combinations of goals, one for each agent: enumerated, or sampled if too many (eq. 10).

        Combinations below NEGLIGIBLE are left out, unless none is above it.
        """
        likely = [[(g, p) for g, p in belief if p >= NEGLIGIBLE] for belief in self.beliefs().values()]
        if math.prod(map(len, likely)) <= MOST_ENUMERATED:
            every = [(tuple(g for g, _ in c), sum(math.log(p) for _, p in c)) for c in product(*likely)]
            scored = [(goals, lp) for goals, lp in every if not self.distinct or len(set(goals)) == len(goals)]
        else:
            every, draws = [], (self._draw_goals(likely, rng) for _ in range(SAMPLES))
            scored = [draw for draw in draws if draw is not None]
        joint = Categorical.from_scores(scored or every or [(tuple(b.mode for b in self.beliefs().values()), 0.0)])
        return joint.condition(lambda goals: joint.prob(goals) >= min(NEGLIGIBLE, joint.prob(joint.mode)))

    def _draw_goals(
        self, likely: list[list[tuple[Hashable, float]]], rng: np.random.Generator
    ) -> tuple[Goals, float] | None:
        """One combination of goals, drawn agent by agent, with its log importance weight; None at a dead end."""
        goals: list[Hashable] = []
        weight = 0.0
        for belief in likely:
            free = [(g, math.log(p)) for g, p in belief if not self.distinct or g not in goals]
            if not free:
                return None
            weight += log_sum_exp(lp for _, lp in free)
            goals.append(Categorical.from_scores(free).sample(rng))
        return tuple(goals), weight

    def joint_minds(self, goals: Goals, share: float) -> list[tuple[float, tuple[GoalDirected[A], ...]]]:
        """Combinations of minds with these goals, one mind for each agent; their probabilities add up to `share`.

        Each agent's beliefs are drawn at as many evenly spaced quantiles as there are particles.
        """
        possible = [
            [(mind, w) for mind, w in zip(o.minds, o.weights, strict=True) if mind.goal == goal and w > IMPOSSIBLE]
            for o, goal in zip(self.watchers.values(), goals, strict=True)
        ]
        n = max(map(len, possible))
        if n == 1:
            return [(share, tuple(mind for ((mind, _),) in possible))]
        spread = [Categorical.from_scores((k, w) for k, (_, w) in enumerate(minds)) for minds in possible]
        drawn = Counter(tuple(p.decode((k + 0.5) / n)[0] for p in spread) for k in range(n))
        return [
            (share * times / n, tuple(minds[k][0] for minds, k in zip(possible, ks, strict=True)))
            for ks, times in drawn.items()
        ]

    def _divergence(self, message: F, saved: list[tuple[float, int]]) -> float:
        """div(f): how much the message would change, given the (probability, steps saved) of each hypothesis.

        gate="plan": the probability that it saves any steps. gate="next": Σₘ P(m) JSD(π_m, π_m after the message), how
        differently the helper would act next, in bits; 0 if it cannot save steps. gate="traj": 1 − P(the helper is on
        this errand already | its recent actions), with even prior odds (after Ullman et al. 2009).
        """
        helper = self.messages.helper(message)
        if self.gate == "traj":
            log_odds = 0.0
            for watchers, joint in self.recent:
                observer, action = watchers[helper], joint[helper]
                errand = self.messages.errand(message, observer.minds[0])
                log_odds += observer.predict().log_prob(action) - errand.act().log_prob(action)
            return 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))  # exp(710) overflows
        helps = sum(p for p, steps in saved if steps > 0)
        if self.gate == "plan" or not helps:
            return helps
        total = 0.0
        for mind, w in self.watchers[helper].posterior:
            if w > 0.0:
                now, then = (cast("Categorical[A]", m.act()) for m in (mind, self._with_errand(message, mind)))
                total += w * divergence(now, then)
        return total

    # Algorithm 1, lines 13-20: select a message and explain it

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message of highest utility, if U(f) > φ and div(f) > ε; ties are broken at random (eq. 15)."""
        utilities = tuple(self.compute_utility(state, left, rng))
        best = max((utility.saves for utility in utilities), default=-math.inf)
        if not utilities:
            return Decision(silence="nobody could do anything for anybody")
        if best <= self.phi:
            least = f"more than {self.phi:g} steps" if self.phi else "any steps"
            return Decision(silence=f"no message is expected to save {least}", utilities=utilities)
        chosen = [u for u in utilities if u.saves >= best - TIE and u.changes > self.epsilon]
        if not chosen:
            return Decision(silence="the best message would hardly change what they do", utilities=utilities)
        if self.waits and self._better_to_wait(best, state, left, rng):
            return Decision(silence="it pays to see more before speaking", utilities=utilities)
        message = chosen[int(rng.integers(len(chosen)))].message
        likeliest = tuple(belief.mode for belief in self.beliefs().values())
        return Decision(message, words=self.messages.explain(state, message, likeliest), utilities=utilities)

    # Looking ahead before speaking (our extension of the paper)

    def _better_to_wait(self, now: float, state: S, left: int, rng: np.random.Generator) -> bool:
        """Whether deciding by the paper's rule after one of the `waits` is expected to save more than speaking now."""
        gains = dict.fromkeys(self.waits, 0.0)
        (rng,) = rng.spawn(1)  # looking ahead must not change how later ties are broken
        for goals, p in self.joint_goals(rng):
            later, ahead = replace(self, waits=()), state
            for wait in range(1, min(max(self.waits), left - 1) + 1):
                if self.world.done(ahead):
                    break
                actions = [cast("Categorical[A]", mind.act()).mode for mind in later._first_minds(goals)]
                joint = dict(zip(later.watchers, actions, strict=True))
                ahead = self.world.step(ahead, joint, rng)
                later = later.watch(joint, ahead)
                if wait in self.waits:
                    message = later.decide(ahead, left - wait, rng).message
                    minds = later._first_minds(goals)
                    without = self.messages.length(ahead, minds, None, left - wait)
                    saved = without - self.messages.length(ahead, minds, message, left - wait)
                    gains[wait] += p * (saved - self.effort * (message is not None))
        return max(gains.values()) > now - self.effort + TIE

    def _first_minds(self, goals: Goals) -> list[GoalDirected[A]]:
        """For each agent, the first of its observer's minds with the agent's goal."""
        pairs = zip(self.watchers.values(), goals, strict=True)
        return [next(mind for mind in observer.minds if mind.goal == goal) for observer, goal in pairs]


def condition_on_reached(observer: Observer[M]) -> Observer[M]:
    """The observer, sure that the agent wanted the goal that it has reached; unchanged if it has reached none."""
    possible = (mind for mind, w in zip(observer.minds, observer.weights, strict=True) if w > IMPOSSIBLE)
    if not any(mind.reached for mind in possible):
        return observer
    return observer.condition(lambda mind: mind.reached)
