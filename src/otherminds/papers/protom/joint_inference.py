"""What a facilitator infers of all agents together, and the steps that a message would save: both rules build on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Generic, Self

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical, log_sum_exp
from otherminds.mind import NONE_OF_THESE, GoalDirected, WithErrand, own_mind
from otherminds.observer import Watchers, attend
from otherminds.papers.protom.episodes import A, Decision, F, Goals, Messages, MessageUtility, Reason, S, Status
from otherminds.world import World

NEGLIGIBLE = 0.01  # probability below which a goal is left out; chosen, not tuned
MOST_ENUMERATED = 256  # combinations of goals up to which all are enumerated; beyond, they are sampled (cost only)
SAMPLES = 64  # combinations of goals drawn if they are sampled; chosen, not tuned
TIE = 1e-9  # steps by which two utilities may differ and still count as equal: rounding error
IGNORED = 0.1  # probability of following a message below which it counts as ignored; chosen


@dataclass(frozen=True)
class JointInference(Generic[S, A, F]):
    """What a facilitator infers of all agents: their goals and beliefs, and whether they follow their messages.

    watchers: the observer of each agent, in the agents' order. distinct: whether no two agents want the same goal.
    negligible: the probability below which a combination of goals is left out. even_particles: whether all particles
    of an agent keep the same weight (eq. 9) or are weighted by Bayes' rule. under_way: the message of each helper.
    """

    world: World[S, Any, A]
    messages: Messages[S, A, F]
    watchers: Watchers[GoalDirected[A]]
    distinct: bool = True
    negligible: float = NEGLIGIBLE
    even_particles: bool = True
    under_way: Mapping[str, F] = field(default_factory=dict)

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
        observers = {agent: watchers[agent].see(world.observe(state, agent)) for agent in world.agents}
        return cls(world, messages, observers, **settings)

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """b̂ⁱ(g): the posterior over each agent's goal (eq. 9)."""
        return {agent: observer.ask(lambda mind: mind.goal) for agent, observer in self.watchers.items()}

    def surprise(self, joint: Mapping[str, A]) -> dict[str, float]:
        """`Observer.surprise` at each agent's action, in nats."""
        return {agent: observer.surprise(joint[agent]) for agent, observer in self.watchers.items()}

    def following(self, helper: str) -> float:
        """P(the helper carries out its message | its actions since)."""
        return self.watchers[helper].ask(lambda mind: isinstance(mind, WithErrand)).prob(True)

    def doubts(self, message: F) -> bool:
        """Whether the helper's actions say that it does not follow the message."""
        return self.following(self.messages.helper(message)) < IGNORED

    # Steps of both rules; algorithm 1, lines 4-12

    def after_actions(self, joint: Mapping[str, A], after: S) -> Self:
        """Condition every observer on its agent's action, then show it what the agent saw of `after` (eq. 8)."""
        watchers = attend(self.world, self.watchers, joint, after)
        if self.even_particles:
            watchers = {agent: observer.equalise(lambda mind: mind.particle) for agent, observer in watchers.items()}
        return replace(self, watchers=watchers)

    def ended(self, state: S) -> dict[str, Status]:
        """The helpers whose messages are completed or impossible in this state, and which of both they are."""
        statuses = {helper: self.messages.status(state, message) for helper, message in self.under_way.items()}
        return {helper: status for helper, status in statuses.items() if status != "running"}

    def after_message(self, message: F, state: S, p: float) -> Self:
        """Expect the helper to follow the message with probability `p`."""
        helper = self.messages.helper(message)

        def split(mind: GoalDirected[A]) -> list[tuple[GoalDirected[A], float]]:
            return [(self.with_errand(state, message, mind), p), (own_mind(mind), 1.0 - p)]

        watchers = {**self.watchers, helper: self.watchers[helper].bind(split)}
        return replace(self, watchers=watchers, under_way={**self.under_way, helper: message})

    def without_errands(self, helpers: Iterable[str]) -> Self:
        """Expect nothing of these helpers any more."""
        ended = set(helpers)
        watchers = {
            agent: observer.bind(lambda mind: [(own_mind(mind), 1.0)]) if agent in ended else observer
            for agent, observer in self.watchers.items()
        }
        under_way = {helper: message for helper, message in self.under_way.items() if helper not in ended}
        return replace(self, watchers=watchers, under_way=under_way)

    def with_errand(self, state: S, message: F, mind: GoalDirected[A]) -> WithErrand[A]:
        """The mind once it follows the message: the errand comes before its own goal."""
        return WithErrand(own_mind(mind), self.messages.errand(state, message, mind))

    # What all agents may have in mind

    def joint_goals(self, rng: np.random.Generator) -> Categorical[Goals]:
        """The distribution over combinations of goals, one for each agent: enumerated, or sampled if too many (eq. 10).

        Combinations that are `negligible` are left out, unless all are.
        """
        likely = [[(g, p) for g, p in belief if p >= NEGLIGIBLE] for belief in self.beliefs().values()]
        if math.prod(map(len, likely)) <= MOST_ENUMERATED:
            every = [(tuple(g for g, _ in c), sum(math.log(p) for _, p in c)) for c in product(*likely)]
            scored = [(goals, lp) for goals, lp in every if not self.distinct or _all_different(goals)]
        else:
            every, draws = [], (self._drawn_goals(likely, rng) for _ in range(SAMPLES))
            scored = [draw for draw in draws if draw is not None]
        joint = Categorical.from_scores(scored or every or [(tuple(b.mode for b in self.beliefs().values()), 0.0)])
        return joint.condition(lambda goals: joint.prob(goals) >= min(self.negligible, joint.prob(joint.mode)))

    def _drawn_goals(
        self, likely: list[list[tuple[Hashable, float]]], rng: np.random.Generator
    ) -> tuple[Goals, float] | None:
        """One combination of goals, drawn agent by agent, with its log importance weight; None at a dead end."""
        goals: list[Hashable] = []
        weight = 0.0
        for belief in likely:
            free = [(g, math.log(p)) for g, p in belief if not self.distinct or _all_different([*goals, g])]
            if not free:
                return None
            weight += log_sum_exp(lp for _, lp in free)
            goals.append(Categorical.from_scores(free).sample(rng))
        return tuple(goals), weight

    def joint_minds(
        self, goals: Goals, share: float, offset: float = 0.5
    ) -> list[tuple[float, tuple[GoalDirected[A], ...]]]:
        """Combinations of minds with these goals, one mind for each agent; their probabilities add up to `share`.

        Each agent's beliefs are drawn at evenly spaced quantiles, the first one by `offset` of their distance from 0.
        Their number is the `share` of that of the particles, one at least: what is improbable is not looked at closely.
        """
        possible = [self._minds_with(agent, goal) for agent, goal in zip(self.watchers, goals, strict=True)]
        n = max(map(len, possible))
        if n == 1:
            return [(share, tuple(mind for ((mind, _),) in possible))]
        n = max(1, round(n * share))
        spread = [Categorical.from_scores((k, w) for k, (_, w) in enumerate(minds)) for minds in possible]
        drawn = Counter(tuple(p.decode((k + offset) / n)[0] for p in spread) for k in range(n))
        return [
            (share * times / n, tuple(minds[k][0] for minds, k in zip(possible, ks, strict=True)))
            for ks, times in drawn.items()
        ]

    def _minds_with(self, agent: str, goal: Hashable) -> list[tuple[GoalDirected[A], float]]:
        """The minds of an agent with this goal, and their log weights.

        An agent is taken to follow its message while that is likelier than not: to ask another one at once, lest it
        does not, would mostly be asking in vain.
        """
        observer, follows = self.watchers[agent], self.following(agent) > 0.5
        minds = [(m, w) for m, w in zip(observer.minds, observer.weights, strict=True) if m.goal == goal]
        possible = [(mind, w) for mind, w in minds if w > IMPOSSIBLE] or minds
        return [(m, w) for m, w in possible if isinstance(m, WithErrand) == follows] or possible

    # Algorithm 2: ComputeUtility

    def savings(
        self, state: S, messages: Iterable[F], horizon: int, rng: np.random.Generator
    ) -> list[MessageUtility[F]]:
        """U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)] of each message, in steps, and how probable it is that it saves any.

        C is at most `horizon`. The worth is U(f); `changes` is P(the message saves any steps).
        """
        agents, combinations = tuple(self.watchers), list(self.joint_goals(rng))
        hypotheses = [
            (p, minds, self.messages.finish(state, minds, horizon))
            for k, (goals, share) in enumerate(combinations)
            for p, minds in self.joint_minds(goals, share, (k + 0.5) / len(combinations))
        ]
        utilities = []
        for message in messages:
            expected, helps, helper = 0.0, 0.0, agents.index(self.messages.helper(message))
            gains, needed = [0.0] * len(agents), [0.0] * len(agents)
            for p, minds, alone in hypotheses:
                helped, lost = self.finish_if_followed(state, message, minds, horizon)
                saved = max(alone) - max(helped) - lost
                expected += p * saved
                helps += p * (saved > 0)
                gains = [gain + p * (a - h) for gain, a, h in zip(gains, alone, helped, strict=True)]
                gains[helper] -= p * lost
                needed = [n + p * (h < a >= horizon) for n, a, h in zip(needed, alone, helped, strict=True)]
            utilities.append(MessageUtility(message, expected, helps, helps, tuple(gains), tuple(needed), expected))
        return utilities

    def finish_if_followed(
        self, state: S, message: F, minds: Sequence[GoalDirected[A]], horizon: int
    ) -> tuple[tuple[int, ...], int]:
        """Steps until each agent is done if the helper follows the message, at most `horizon`, and the steps it loses.

        The latter are 0 unless the helper's goal is none of these: the forecast of any other goal includes them.
        """
        i = tuple(self.watchers).index(self.messages.helper(message))
        lost = self.messages.effort(state, message) if own_mind(minds[i]).goal == NONE_OF_THESE else 0
        minds = (*minds[:i], self.with_errand(state, message, minds[i]), *minds[i + 1 :])
        return self.messages.finish(state, minds, horizon), lost

    def sent(
        self, utility: MessageUtility[F], reason: Reason, state: S, utilities: tuple[MessageUtility[F], ...]
    ) -> Decision[F]:
        """The decision to send a message for this reason."""
        in_words = {name: value for name, value in reason._asdict().items() if name != "probability"}
        words = self.messages.explain(state, utility.message, **in_words)
        return Decision(utility.message, words=words, utilities=utilities, reason=reason)


def _all_different(goals: Goals | list[Hashable]) -> bool:
    """Whether no two agents have the same goal; agents whose goal is unknown may be many."""
    known_goals = [goal for goal in goals if goal != NONE_OF_THESE]
    return len(set(known_goals)) == len(known_goals)
