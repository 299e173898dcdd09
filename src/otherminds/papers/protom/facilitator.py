"""ProToM: a facilitator that infers what each agent wants and speaks only when a message is expected to help.

Algorithm 1 of the paper (Bortoletto et al.) is `watch` (infer) and `decide` (select and explain), algorithm 2,
ComputeUtility, is `compute_utility`. `PaperProToM` has the paper's rule, `ProToM` ours; `JointInference` is what both
infer. An oracle is a facilitator with observers that consider one mind only: the true one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical, divergence
from otherminds.errors import unknown
from otherminds.files.text import brief
from otherminds.mind import NONE_OF_THESE, GoalDirected, NoneOfThese, WithErrand, own_mind
from otherminds.observer import Observer, Watchers
from otherminds.papers.protom.episodes import A, Decision, F, Goals, MessageUtility, Reason, S
from otherminds.papers.protom.joint_inference import TIE, JointInference
from otherminds.world import World

MOST_FORECASTS = 25_000  # forecasts that looking ahead may take; with two people it takes fewer (cost only)
RECENT = 5  # joint actions that gate="traj" looks back on; chosen, not tuned
SURE = 0.85  # probability from which something is stated as believed; chosen on 240 further levels of each class
P_FOLLOWED = 0.8  # P(an agent follows a message); chosen
SAID_SO = 0.95  # P(an agent follows a message | it says so); chosen
PAUSE = 2  # steps without a message to an agent for each refusal in a row; chosen on the tuning levels
NONE_PRIOR = 0.03  # P(none of the goals that are considered); chosen on 540 further levels of each class
SWITCH_RATE = 0.003  # P(an agent changes its mind) at every step; chosen likewise
NOBODY = "nobody could do anything for anybody"
NOT_NOW = "whoever could help is busy, has just refused, or has done it before"
HARDLY = "the best message would hardly change what they do"


class Refusals(NamedTuple):
    """How many messages an agent has refused since it followed one, and the step before which it gets no other."""

    in_a_row: int = 0
    quiet_until: int = 0


@dataclass(frozen=True)
class PaperProToM(JointInference[S, A, F]):
    """The facilitator with the paper's rule: U(f) > φ and div(f) > ε (eq. 15).

    Agents are taken to follow, one message is under way at a time, C is at most the steps that remain, and reasons name
    the likeliest goal. phi: φ, in steps. epsilon: ε. gate: how div(f) is measured, see `_divergence`.
    """

    several: ClassVar = False
    phi: float = 0.0
    epsilon: float = 0.5
    gate: Literal["plan", "traj", "next"] = "plan"
    recent: tuple[tuple[Watchers[GoalDirected[A]], Mapping[str, A]], ...] = ()

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """The facilitator after a joint action that led to `after`; errands that are over are forgotten."""
        new = self.after_actions(joint, after)
        new = new.without_errands(new.ended(after))
        return replace(new, recent=(*self.recent, (self.watchers, joint))[-RECENT:])

    def tell(self, message: F, state: S) -> Self:
        """Expect the helper to follow the message."""
        return self.after_message(message, state, 1.0)

    def dismiss(self, message: F) -> Self:
        """Expect the helper not to follow the message any more."""
        return self.without_errands([self.messages.helper(message)])

    def accept(self, message: F) -> Self:
        """Unchanged: it expects everybody to follow."""
        return self

    def compute_utility(self, state: S, left: int, rng: np.random.Generator) -> list[MessageUtility[F]]:
        """U(f), in steps, and div(f) of each candidate message; `left` steps remain."""
        utilities = self.savings(state, self.messages.candidates(state), left, rng)
        return [u._replace(changes=self._divergence(state, u)) for u in utilities]

    def _divergence(self, state: S, utility: MessageUtility[F]) -> float:
        """div(f): how much the message would change.

        gate="plan": the probability that it saves any steps. gate="next": Σₘ P(m) JSD(π_m, π_m after the message), how
        differently the helper would act next, in bits; 0 if it cannot save steps. gate="traj": 1 − P(the helper is on
        this errand already | its recent actions), with even prior odds (after Ullman et al. 2009).
        """
        message, helper = utility.message, self.messages.helper(utility.message)
        if self.gate == "traj":
            log_odds = 0.0
            for watchers, joint in self.recent:
                observer, action = watchers[helper], joint[helper]
                errand = self.messages.errand(state, message, observer.minds[0])
                log_odds += observer.predict().log_prob(action) - errand.act().log_prob(action)
            return 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))  # exp(710) overflows
        if self.gate == "plan" or not utility.helps:
            return utility.helps
        total = 0.0
        for mind, w in self.watchers[helper].posterior:
            if w > 0.0:
                now, then = (cast("Categorical[A]", m.act()) for m in (mind, self.with_errand(state, message, mind)))
                total += w * divergence(now, then)
        return total

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Decision[F]:
        """A message of the highest utility, if that exceeds φ and it changes enough; ties are broken at random."""
        utilities = tuple(self.compute_utility(state, left, rng))
        if not utilities:
            return Decision(silence=NOBODY)
        best = max(utility.saves for utility in utilities)
        if best <= max(self.phi, TIE):
            return Decision(silence=f"no message is expected to save {_more_than(self.phi)}", utilities=utilities)
        eligible = [u for u in utilities if u.saves >= best - TIE and u.changes > self.epsilon]
        if not eligible:
            return Decision(silence=HARDLY, utilities=utilities)
        utility = eligible[int(rng.integers(len(eligible)))]
        friend = self.messages.friend(utility.message)
        belief = self.beliefs()[friend]
        reason = Reason((friend,), belief.mode, True, False, utility.saves, belief.prob(belief.mode))
        return self.sent(utility, reason, state, utilities)


def _more_than(steps: float) -> str:
    return f"more than {steps:g} step{'s' * (steps != 1)}" if steps else "any steps"


@dataclass(frozen=True)
class ProToM(JointInference[S, A, F]):
    """The facilitator that minimises E[steps until all are done] + cost · messages, as far as it looks ahead.

    The message with the largest worth P(followed) · U(f) − cost is sent if that is at least 0, if the message helps
    with probability ε at least, and if nothing better is expected from deciding later. Each refusal in a row adds the
    cost of a message once more, and steps without a message to that agent. While one agent carries out a message,
    others may be helped. A message that was carried out is not sent again. C is at most the length of the whole
    episode, t + the steps that remain, so that urgency does not fall while need persists.

    cost: of a message, in steps. epsilon: ε. waits: numbers of steps to look ahead before speaking.
    """

    several: ClassVar = True
    __repr__ = brief
    cost: float = 0.5
    epsilon: float = 0.0
    waits: tuple[int, ...] = (1, 2, 4, 8)
    refusals: Mapping[str, Refusals] = field(default_factory=dict)
    carried_out: frozenset[F] = frozenset()
    t: int = 0

    # Algorithm 1, lines 4-12: infer what each agent believes and wants

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """The facilitator after a joint action that led to `after`; errands that are over are forgotten."""
        new = self.after_actions(joint, after)
        ended = new.ended(after)
        completed = {helper for helper, status in ended.items() if status == "completed"}
        followed = {helper for helper in completed if new.following(helper) > 0.5}
        return replace(
            new.without_errands(ended),
            refusals={agent: refusals for agent, refusals in self.refusals.items() if agent not in followed},
            carried_out=self.carried_out | {self.under_way[helper] for helper in completed},
            t=self.t + 1,
        )

    def tell(self, message: F, state: S) -> Self:
        """Expect the helper to follow the message with the probability P_FOLLOWED."""
        return self.after_message(message, state, P_FOLLOWED)

    def dismiss(self, message: F) -> Self:
        """Expect the helper not to follow the message any more, and leave it alone for a while."""
        helper = self.messages.helper(message)
        in_a_row = self._refusals(helper).in_a_row + 1
        refusals = {**self.refusals, helper: Refusals(in_a_row, self.t + PAUSE * in_a_row)}
        return replace(self.without_errands([helper]), refusals=refusals)

    def accept(self, message: F) -> Self:
        """Expect the helper to follow the message with the probability SAID_SO, whatever it has done so far."""
        helper = self.messages.helper(message)
        if not self.following(helper):
            return self

        def split(mind: GoalDirected[A]) -> list[tuple[GoalDirected[A], float]]:
            return [(mind, SAID_SO), (own_mind(mind), 1.0 - SAID_SO)]

        observer = self.watchers[helper].condition(lambda mind: isinstance(mind, WithErrand)).bind(split)
        return replace(self, watchers={**self.watchers, helper: observer})

    def _refusals(self, helper: str) -> Refusals:
        return self.refusals.get(helper, Refusals())

    def compute_utility(self, state: S, left: int, rng: np.random.Generator) -> list[MessageUtility[F]]:
        """U(f) and worth of each candidate message, in steps; `left` steps remain."""

        def is_open(message: F) -> bool:
            helper = self.messages.helper(message)
            is_free = helper not in self.under_way and self._refusals(helper).quiet_until <= self.t
            return is_free and message not in self.carried_out

        messages = filter(is_open, self.messages.candidates(state))
        utilities = self.savings(state, messages, self.t + left, rng)
        return [u._replace(worth=self._worth(u.message, u.saves)) for u in utilities]

    def _worth(self, message: F, saves: float) -> float:
        """P(followed) · (steps that the message saves) − its cost, in steps."""
        return P_FOLLOWED * saves - self.cost * (1 + self._refusals(self.messages.helper(message)).in_a_row)

    # Algorithm 1, lines 13-20: select a message and explain it

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message of the highest worth, if that is enough, it helps often enough and waiting is not better.

        Among equals, one that helps its friend most, ties broken at random.
        """
        utilities = tuple(self.compute_utility(state, left, rng))
        if not utilities:
            return Decision(silence=NOT_NOW if self.messages.candidates(state) else NOBODY)
        best, most_saved = (max(getattr(u, name) for u in utilities) for name in ("worth", "saves"))
        if best < -TIE or most_saved <= TIE:
            silence = "the best message may not be followed, and is not worth saying"
            if most_saved <= self.cost + TIE:
                silence = f"no message is expected to save {_more_than(self.cost)}"
            return Decision(silence=silence, utilities=utilities)
        eligible = [u for u in utilities if u.worth >= best - TIE and u.helps >= self.epsilon - TIE]
        if not eligible:
            return Decision(silence=HARDLY, utilities=utilities)
        if self.waits and self._better_to_wait(best, len(utilities), state, left, rng):
            return Decision(silence="it pays to see more before speaking", utilities=utilities)
        most = max(map(self._friend_gain, eligible))
        eligible = [u for u in eligible if self._friend_gain(u) >= most - TIE]
        utility = eligible[int(rng.integers(len(eligible)))]
        return self.sent(utility, self.reason(utility, rng), state, utilities)

    def _friend_gain(self, utility: MessageUtility[F]) -> float:
        """The expected steps that the message saves the friend it is said for."""
        return utility.gains[tuple(self.watchers).index(self.messages.friend(utility.message))]

    def reason(self, utility: MessageUtility[F], rng: np.random.Generator) -> Reason:
        """What there is to say for a message: a goal is stated if its probability is at least SURE.

        It is sure that the message helps if it does so for all that the friend may want with at least this probability.
        """
        friend, helper = self.messages.friend(utility.message), self.messages.helper(utility.message)
        agents = tuple(self.watchers)
        gains = {agent: gain for agent, gain in zip(agents, utility.gains, strict=True) if agent != helper}
        most = max(gains.values())
        friends = tuple(agent for agent, gain in gains.items() if gain >= most - TIE) if most > TIE else (friend,)
        if most <= TIE < utility.gains[agents.index(helper)]:
            friends = (helper,)
        first_friend = agents.index(friends[0])
        (rng,) = rng.spawn(1)  # explaining must not change how later ties are broken
        belief = self.joint_goals(rng).map(lambda goals: goals[first_friend])
        p = belief.prob(belief.mode)
        stated = belief.mode if p >= SURE and belief.mode != NONE_OF_THESE and friends != (helper,) else None
        sure, needed = utility.helps >= SURE, utility.needed[first_friend] >= SURE
        return Reason(friends, stated, sure, needed, utility.saves, 0.0 if stated is None else p)

    # Looking ahead before speaking (our extension of the paper)

    def _better_to_wait(self, worth: float, messages: int, state: S, left: int, rng: np.random.Generator) -> bool:
        """Whether deciding after one of the `waits` is expected to be worth more than speaking now.

        False if finding out takes more than about MOST_FORECASTS forecasts, as it does in crowds with many goals.
        """
        (rng,) = rng.spawn(1)  # looking ahead must not change how later ties are broken
        combinations = self.joint_goals(rng)
        if len(combinations.support) ** 2 * messages * len(self.waits) > MOST_FORECASTS:
            return False
        watchers = {agent: likeliest_particle(observer) for agent, observer in self.watchers.items()}
        silent = replace(self, waits=(), watchers=watchers)
        later = sum(p * silent._worth_after_waiting(self.waits, goals, state, left, rng) for goals, p in combinations)
        return bool(np.max(later) > worth + TIE)

    def _worth_after_waiting(
        self, waits: tuple[int, ...], goals: Goals, state: S, left: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """For each wait, what the message chosen after it is worth in steps if these are the goals; 0 if none is.

        The steps waited count for everybody: the message saves C(∅, g) now − (wait + C(f, g) then).
        """
        facilitator, future, worths = self, state, dict.fromkeys(waits, 0.0)
        horizon = self.t + left
        alone = max(self.messages.finish(state, self._first_minds(goals), horizon))
        for wait in range(1, min(max(waits), left - 1) + 1):
            if self.world.done(future):
                break
            joint = facilitator._likely_actions(goals, rng)
            future = self.world.step(future, joint, rng)
            facilitator = facilitator.watch(joint, future)
            if wait in worths and (message := facilitator.decide(future, left - wait, rng).message) is not None:
                minds = facilitator._first_minds(goals)
                helped, lost = facilitator.finish_if_followed(future, message, minds, horizon)
                worths[wait] = facilitator._worth(message, alone - min(horizon, wait + max(helped)) - lost)
        return np.array(list(worths.values()))

    def _likely_actions(self, goals: Goals, rng: np.random.Generator) -> dict[str, A]:
        """The likeliest action of each agent if these are the goals; a random one if it wants none of these."""
        joint = {}
        for agent, mind in zip(self.watchers, self._first_minds(goals), strict=True):
            actions = cast("Categorical[A]", mind.act())
            joint[agent] = actions.sample(rng) if mind.goal == NONE_OF_THESE else actions.mode
        return joint

    def _first_minds(self, goals: Goals) -> tuple[GoalDirected[A], ...]:
        """For each agent, the first of its minds with the agent's goal."""
        return tuple(self._minds_with(agent, goal)[0][0] for agent, goal in zip(self.watchers, goals, strict=True))


def likeliest_particle(observer: Observer[GoalDirected[A]]) -> Observer[GoalDirected[A]]:
    """The observer with the likeliest particle only, the first of equals; all particles if that lacks some goal."""
    particle = observer.ask(lambda mind: mind.particle).mode
    narrowed = observer.bind(lambda mind: [(mind, 1.0)] if mind.particle == particle else [])
    return narrowed if {mind.goal for mind in narrowed.minds} == {mind.goal for mind in observer.minds} else observer


def with_none_of_these(
    minds: Sequence[GoalDirected[A]],
    prior: float = NONE_PRIOR,
    switch_rate: float = SWITCH_RATE,
    *,
    world: World[Any, Any, A] | None = None,
    agent: str = "",
) -> Observer[GoalDirected[A]]:
    """An observer to whom all these minds are alike, that none of them may fit, and that people may change their minds.

    Each particle has its own share of none of these, which does anything that the `agent`, if it sees the state, may do
    in the `world`. Without a world it does anything in the support of its mind's policy. Raises InputError if the agent
    is not in the world.
    """
    if not prior:
        return Observer.over(minds, switch_rate=switch_rate)
    if world is not None and agent not in world.agents:
        raise unknown("agent", agent, world.agents)
    actions = None if world is None else lambda state: world.actions(state, agent)
    none_by_particle = {mind.particle: NoneOfThese(mind, actions) for mind in minds}
    shares = [(1.0 - prior) / len(minds)] * len(minds) + [prior / len(none_by_particle)] * len(none_by_particle)
    return Observer.over([*minds, *none_by_particle.values()], shares, switch_rate=switch_rate)
