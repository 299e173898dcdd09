"""ProToM: a facilitator that infers what each agent wants and speaks only when a message is expected to help.

Algorithm 1 of the paper (Bortoletto et al.) is `ProToM.watch` (infer) and `ProToM.decide` (select and explain),
algorithm 2, ComputeUtility, is `ProToM.compute_utility`. An oracle is the same facilitator with observers that consider
one mind only: the true one. `faithful` keeps to the paper; what we do otherwise is listed in docs/systems/protom.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Generic, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import IMPOSSIBLE, Categorical, divergence, log_sum_exp
from otherminds.mind import NONE_OF_THESE, GoalDirected, NoneOfThese, WithErrand, own_mind
from otherminds.observer import Observer, Watchers, attend
from otherminds.papers.protom.episodes import A, Decision, F, Goals, Messages, MessageUtility, Reason, S
from otherminds.world import World

NEGLIGIBLE = 0.01  # probability below which a goal is left out; chosen, not tuned
MOST_ENUMERATED = 256  # combinations of goals up to which all are enumerated; beyond, they are sampled (cost only)
SAMPLES = 64  # combinations of goals drawn if they are sampled; chosen, not tuned
MOST_FORECASTS = 25_000  # forecasts that looking ahead may take; with two people it takes fewer (cost only)
TIE = 1e-9  # steps by which two utilities may differ and still count as equal: rounding error
RECENT = 5  # joint actions that gate="traj" looks back on; chosen, not tuned
SURE = 0.85  # probability from which something is stated as believed; chosen on 240 further levels of each class
PAUSE = 2  # steps without a message to an agent for each refusal in a row; chosen on the tuning levels
IGNORED = 0.1  # probability of following a message below which it counts as ignored; chosen
NONE_PRIOR = 0.03  # P(none of the goals that are considered); chosen on 540 further levels of each class
SWITCH_RATE = 0.003  # P(an agent changes its mind) at every step; chosen likewise
SAID_SO = 0.95  # P(an agent follows a message | it says so); chosen
FOLLOWED, REFUSED = 4.0, 1.0  # messages followed and refused by an agent that nothing is known of; chosen


@dataclass(frozen=True)
class Heed:
    """How an agent has treated its messages: how many it followed and refused, and how many refusals came last.

    After a refusal it gets no message before step `again`.
    """

    followed: int = 0
    refused: int = 0
    in_a_row: int = 0
    again: int = 0

    @property
    def chance(self) -> float:
        """P(it follows the next message): the mean of a beta distribution."""
        return (FOLLOWED + self.followed) / (FOLLOWED + REFUSED + self.followed + self.refused)

    def after(self, t: int, *, followed: bool) -> Heed:
        """The same with one more message, followed or refused at step t."""
        if followed:
            return Heed(self.followed + 1, self.refused)
        return Heed(self.followed, self.refused + 1, self.in_a_row + 1, t + PAUSE * (self.in_a_row + 1))


@dataclass(frozen=True)
class ProToM(Generic[S, A, F]):
    """The facilitator at one moment of an episode; `watchers` holds the observer of each agent, in the agents' order.

    U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)] is what a message is expected to save, in steps (eq. 12). The message with the
    largest worth P(followed) · U(f) − cost is sent if that is at least 0 and the message helps with probability
    div(f) ≥ ε. Every refusal of an agent makes it less probable that it follows the next one, and each in a row adds
    the cost of a message once more. While one agent carries out a message, others may be helped. A message that was
    carried out is not sent again.

    With `faithful`, agents are taken to follow, one message is under way at a time, the rule is U(f) > φ and div(f) > ε
    (eq. 15), C is at most the steps that remain, and reasons name the likeliest goal.

    cost: φ with `faithful`, the steps that a message must save; else its cost, in steps. epsilon: ε. gate: how div(f)
    is measured, see `_divergence`. longest: the most that C can be; None: the steps that remain. even_particles:
    whether all particles of an agent keep the same weight (eq. 9) or are weighted by Bayes' rule. distinct: whether no
    two agents want the same goal. waits: numbers of steps to look ahead before speaking. negligible: the probability
    below which a combination of goals is left out.
    """

    world: World[S, Any, A]
    messages: Messages[S, A, F]
    watchers: Watchers[GoalDirected[A]]
    cost: float = 0.5
    epsilon: float = 0.0
    gate: Literal["plan", "traj", "next"] = "plan"
    faithful: bool = False
    even_particles: bool = True
    longest: int | None = None
    distinct: bool = True
    waits: tuple[int, ...] = ()
    negligible: float = NEGLIGIBLE
    recent: tuple[tuple[Watchers[GoalDirected[A]], Mapping[str, A]], ...] = ()
    under_way: Mapping[str, F] = field(default_factory=dict)
    heed: Mapping[str, Heed] = field(default_factory=dict)
    carried_out: frozenset[F] = frozenset()
    t: int = 0

    @property
    def several(self) -> bool:
        """Whether it may send a message while another agent carries one out."""
        return not self.faithful

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

    # Algorithm 1, lines 4-12: infer what each agent believes and wants

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """Condition every observer on its agent's action, then show it what the agent saw of `after` (eq. 8)."""
        watchers = attend(self.world, self.watchers, joint, after)
        if self.even_particles:
            watchers = {agent: observer.equalise(lambda mind: mind.particle) for agent, observer in watchers.items()}
        recent = (*self.recent, (self.watchers, joint))[-RECENT:]
        new = replace(self, watchers=watchers, recent=recent, t=self.t + 1)
        for helper, message in self.under_way.items():
            status = self.messages.status(after, message)
            if status != "running":
                likely = new.following(helper) > 0.5
                heed = new._heed(helper).after(new.t, followed=True) if status == "completed" and likely else None
                new = new._without_errand(helper, heed)
                if status == "completed":
                    new = replace(new, carried_out=new.carried_out | {message})
        return new

    def following(self, helper: str) -> float:
        """P(the helper carries out its message | its actions since)."""
        return self.watchers[helper].ask(lambda mind: isinstance(mind, WithErrand)).prob(True)

    def tell(self, message: F, state: S) -> Self:
        """Expect the helper to follow the message with a probability that its earlier messages suggest."""
        helper = self.messages.helper(message)
        chance = 1.0 if self.faithful else self._heed(helper).chance

        def split(mind: GoalDirected[A]) -> list[tuple[GoalDirected[A], float]]:
            return [(self._with_errand(state, message, mind), chance), (own_mind(mind), 1.0 - chance)]

        watchers = {**self.watchers, helper: self.watchers[helper].bind(split)}
        return replace(self, watchers=watchers, under_way={**self.under_way, helper: message})

    def doubts(self, message: F) -> bool:
        """Whether the helper's actions say that it does not follow the message."""
        return self.following(self.messages.helper(message)) < IGNORED

    def dismiss(self, message: F) -> Self:
        """Expect the helper not to follow the message any more, and the next one less."""
        helper = self.messages.helper(message)
        return self._without_errand(helper, self._heed(helper).after(self.t, followed=False))

    def accept(self, message: F) -> Self:
        """Expect the helper to follow the message with the probability SAID_SO, whatever it has done so far."""
        helper = self.messages.helper(message)
        if self.faithful or not self.following(helper):
            return self

        def split(mind: GoalDirected[A]) -> list[tuple[GoalDirected[A], float]]:
            return [(mind, SAID_SO), (own_mind(mind), 1.0 - SAID_SO)]

        observer = self.watchers[helper].condition(lambda mind: isinstance(mind, WithErrand)).bind(split)
        return replace(self, watchers={**self.watchers, helper: observer})

    def _heed(self, helper: str) -> Heed:
        return self.heed.get(helper, Heed())

    def _without_errand(self, helper: str, heed: Heed | None) -> Self:
        """Nothing is expected of the helper any more; `heed`: how it treats messages, if that is to change."""
        watchers = {**self.watchers, helper: self.watchers[helper].bind(lambda mind: [(own_mind(mind), 1.0)])}
        under_way = {agent: message for agent, message in self.under_way.items() if agent != helper}
        return replace(
            self,
            watchers=watchers,
            under_way=under_way,
            heed=self.heed if heed is None else {**self.heed, helper: heed},
        )

    def _with_errand(self, state: S, message: F, mind: GoalDirected[A]) -> WithErrand[A]:
        """The mind once it follows the message: the errand comes before its own goal."""
        return WithErrand(own_mind(mind), self.messages.errand(state, message, mind))

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """b̂ⁱ(g): the posterior over each agent's goal (eq. 9)."""
        return {agent: observer.ask(lambda mind: mind.goal) for agent, observer in self.watchers.items()}

    def surprise(self, joint: Mapping[str, A]) -> dict[str, float]:
        """`Observer.surprise` at each agent's action, in nats."""
        return {agent: observer.surprise(joint[agent]) for agent, observer in self.watchers.items()}

    # Algorithm 2: ComputeUtility

    def compute_utility(self, state: S, left: int, rng: np.random.Generator) -> list[MessageUtility[F]]:
        """U(f) = Σ_g b̂(g) [C(∅, g) − C(f, g)], in steps, and div(f) for each candidate message; `left` steps remain."""
        horizon = self._horizon(left)
        agents = tuple(self.watchers)
        combinations = list(self.joint_goals(rng))
        minds_of = [
            (p, minds)
            for k, (goals, share) in enumerate(combinations)
            for p, minds in self.joint_minds(goals, share, (k + 0.5) / len(combinations))
        ]
        hypotheses = [(p, minds, self.messages.finish(state, minds, horizon)) for p, minds in minds_of]
        utilities = []
        for message in self.messages.candidates(state):
            helper = self.messages.helper(message)
            is_repeated = message in self.carried_out and not self.faithful
            if is_repeated or helper in self.under_way or self._heed(helper).again > self.t:
                continue
            i = agents.index(helper)
            saved = []
            gains, needed = [0.0] * len(agents), [0.0] * len(agents)
            for p, minds, alone in hypotheses:
                helped, lost = self._forecast_if_followed(state, message, minds, horizon)
                saved.append((p, max(alone) - max(helped) - lost))
                gains = [gain + p * (a - h) for gain, a, h in zip(gains, alone, helped, strict=True)]
                gains[i] -= p * lost
                needed = [n + p * (h < a >= horizon) for n, a, h in zip(needed, alone, helped, strict=True)]
            expected = sum(p * steps for p, steps in saved)
            changes = self._divergence(state, message, saved)
            worth = self._worth(message, expected)
            helps = sum(p for p, steps in saved if steps > 0)
            utilities.append(MessageUtility(message, expected, changes, helps, tuple(gains), tuple(needed), worth))
        return utilities

    def _horizon(self, left: int) -> int:
        """The most that C can be with so many steps left."""
        return left if self.longest is None else self.longest

    def _forecast_if_followed(
        self, state: S, message: F, minds: Sequence[GoalDirected[A]], horizon: int
    ) -> tuple[tuple[int, ...], int]:
        """Steps until each agent is done if the helper follows the message, and the steps that it loses by that.

        The latter are 0 unless the helper's goal is none of these: the forecast of any other goal includes them.
        """
        i = tuple(self.watchers).index(self.messages.helper(message))
        helped_minds = (*minds[:i], self._with_errand(state, message, minds[i]), *minds[i + 1 :])
        in_vain = own_mind(minds[i]).goal == NONE_OF_THESE and not self.faithful
        lost = self.messages.effort(state, message) if in_vain else 0
        return self.messages.finish(state, helped_minds, horizon), lost

    def _worth(self, message: F, saves: float) -> float:
        """P(followed) · (steps that the message saves) − its cost, in steps; with `faithful` the steps saved."""
        if self.faithful:
            return saves
        heed = self._heed(self.messages.helper(message))
        return heed.chance * saves - self.cost * (1 + heed.in_a_row)

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

    def _divergence(self, state: S, message: F, saved: list[tuple[float, int]]) -> float:
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
                errand = self.messages.errand(state, message, observer.minds[0])
                log_odds += observer.predict().log_prob(action) - errand.act().log_prob(action)
            return 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))  # exp(710) overflows
        helps = sum(p for p, steps in saved if steps > 0)
        if self.gate == "plan" or not helps:
            return helps
        total = 0.0
        for mind, w in self.watchers[helper].posterior:
            if w > 0.0:
                now, told = (cast("Categorical[A]", m.act()) for m in (mind, self._with_errand(state, message, mind)))
                total += w * divergence(now, told)
        return total

    # Algorithm 1, lines 13-20: select a message and explain it

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Decision[F]:
        """The message of the highest worth, if that is enough and it changes enough (eq. 15).

        Among equals, one that helps its friend most, ties broken at random.
        """
        utilities = tuple(self.compute_utility(state, left, rng))
        if not utilities:
            silence = "nobody could do anything for anybody"
            if self.messages.candidates(state):
                silence = "whoever could help is busy, has just refused, or has done it before"
            return Decision(silence=silence)
        best = max(utility.worth for utility in utilities)
        enough = best > self.cost if self.faithful else best >= -TIE
        if not enough or max(utility.saves for utility in utilities) <= TIE:
            least = f"more than {self.cost:g} step{'s' * (self.cost != 1)}" if self.cost else "any steps"
            silence = f"no message is expected to save {least}"
            if not self.faithful and max(utility.saves for utility in utilities) > self.cost + TIE:
                silence = "the best message may not be followed, and is not worth saying"
            return Decision(silence=silence, utilities=utilities)
        eligible = [u for u in utilities if u.worth >= best - TIE and self._is_enough_change(u.changes)]
        if not eligible:
            return Decision(silence="the best message would hardly change what they do", utilities=utilities)
        if self.waits and self._better_to_wait(eligible[0], len(utilities), state, left, rng):
            return Decision(silence="it pays to see more before speaking", utilities=utilities)
        if not self.faithful:
            most = max(map(self._friend_gain, eligible))
            eligible = [u for u in eligible if self._friend_gain(u) >= most - TIE]
        utility = eligible[int(rng.integers(len(eligible)))]
        reason = self.reason(utility, rng)
        reasons = {name: value for name, value in reason._asdict().items() if name != "probability"}
        words = self.messages.explain(state, utility.message, **reasons)
        return Decision(utility.message, words=words, utilities=utilities, reason=reason)

    def _is_enough_change(self, changes: float) -> bool:
        """Whether div(f) reaches the threshold ε; it has to exceed it if `faithful`."""
        return changes > self.epsilon if self.faithful else changes >= self.epsilon - TIE

    def _friend_gain(self, utility: MessageUtility[F]) -> float:
        """The expected steps that the message saves the friend it is said for."""
        return utility.gains[tuple(self.watchers).index(self.messages.friend(utility.message))]

    def reason(self, utility: MessageUtility[F], rng: np.random.Generator) -> Reason:
        """What there is to say for a message: a goal is stated if its probability is at least SURE.

        It is sure that the message helps if it does so for all that the friend may want with at least this probability.
        """
        friend, helper = self.messages.friend(utility.message), self.messages.helper(utility.message)
        if self.faithful:
            goal_belief = self.beliefs()[friend]
            return Reason((friend,), goal_belief.mode, True, False, utility.saves, goal_belief.prob(goal_belief.mode))
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

    def _better_to_wait(
        self, best: MessageUtility[F], messages: int, state: S, left: int, rng: np.random.Generator
    ) -> bool:
        """Whether deciding after one of the `waits` is expected to save more than sending the best message now.

        Where the best message would change nothing, what could be said after it counts for sending it. False if finding
        out takes more than about MOST_FORECASTS forecasts, as it does in crowds with many goals.
        """
        (rng,) = rng.spawn(1)  # looking ahead must not change how later ties are broken
        combinations = self.joint_goals(rng)
        if len(combinations.support) ** 2 * messages * len(self.waits) > MOST_FORECASTS:
            return False
        watchers = {agent: likeliest_particle(observer) for agent, observer in self.watchers.items()}
        silent = replace(self, waits=(), watchers=watchers)
        wait_worth = sum(
            p * silent._worth_after_waiting(self.waits, goals, state, left, rng) for goals, p in combinations
        )
        if np.max(wait_worth) <= best.worth + TIE:
            return False
        after_message, speak_worth = silent.tell(best.message, state), np.full(len(self.waits), best.worth)
        for goals, p in combinations:
            if silent._steps_saved(goals, best.message, state, left) == 0:
                speak_worth += p * after_message._worth_after_waiting(self.waits, goals, state, left, rng)
        return bool(np.max(wait_worth - speak_worth) > TIE)

    def _worth_after_waiting(
        self, waits: tuple[int, ...], goals: Goals, state: S, left: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """For each wait, what the message chosen after it is worth in steps if these are the goals; 0 if none is.

        Whoever cannot get there alone loses nothing by waiting: a message that still gets them there later saves as
        much as now.
        """
        facilitator, future, worths = self, state, dict.fromkeys(waits, 0.0)
        horizon, possible_now = self._horizon(left), self.messages.candidates(state)
        stuck = max(self.messages.finish(state, self._first_minds(goals), horizon)) >= horizon
        for wait in range(1, min(max(waits), left - 1) + 1):
            if self.world.done(future):
                break
            joint = facilitator._likely_actions(goals, rng)
            future = self.world.step(future, joint, rng)
            facilitator = facilitator.watch(joint, future)
            if wait in worths and (message := facilitator.decide(future, left - wait, rng).message) is not None:
                saved = facilitator._steps_saved(goals, message, future, left - wait)
                if stuck and saved > 0 and message in possible_now:
                    saved = max(saved, self._steps_saved(goals, message, state, left))
                worths[wait] = facilitator._worth(message, saved)
        return np.array(list(worths.values()))

    def _likely_actions(self, goals: Goals, rng: np.random.Generator) -> dict[str, A]:
        """The likeliest action of each agent if these are the goals; a random one if it wants none of these."""
        joint = {}
        for agent, mind in zip(self.watchers, self._first_minds(goals), strict=True):
            actions = cast("Categorical[A]", mind.act())
            joint[agent] = actions.sample(rng) if mind.goal == NONE_OF_THESE else actions.mode
        return joint

    def _steps_saved(self, goals: Goals, message: F, state: S, left: int) -> int:
        """The steps that a message saves if these are the goals."""
        minds, horizon = self._first_minds(goals), self._horizon(left)
        helped, lost = self._forecast_if_followed(state, message, minds, horizon)
        return max(self.messages.finish(state, minds, horizon)) - max(helped) - lost

    def _first_minds(self, goals: Goals) -> list[GoalDirected[A]]:
        """For each agent, the first of its minds with the agent's goal."""
        return [self._minds_with(agent, goal)[0][0] for agent, goal in zip(self.watchers, goals, strict=True)]


def likeliest_particle(observer: Observer[GoalDirected[A]]) -> Observer[GoalDirected[A]]:
    """The observer with the likeliest particle only, the first of equals; all particles if that lacks some goal."""
    particle = observer.ask(lambda mind: mind.particle).mode
    narrowed = observer.bind(lambda mind: [(mind, 1.0)] if mind.particle == particle else [])
    return narrowed if {mind.goal for mind in narrowed.minds} == {mind.goal for mind in observer.minds} else observer


def _all_different(goals: Goals | list[Hashable]) -> bool:
    """Whether no two agents have the same goal; agents whose goal is unknown may be many."""
    known_goals = [goal for goal in goals if goal != NONE_OF_THESE]
    return len(set(known_goals)) == len(known_goals)


def with_none_of_these(
    minds: Sequence[GoalDirected[A]], prior: float = NONE_PRIOR, switch_rate: float = SWITCH_RATE
) -> Observer[GoalDirected[A]]:
    """An observer to whom all these minds are alike, that none of them may fit, and that people may change their minds.

    Each particle has its own share of none of these.
    """
    if not prior:
        return Observer.over(minds, switch_rate=switch_rate)
    none_by_particle = {mind.particle: NoneOfThese(mind) for mind in minds}
    shares = [(1.0 - prior) / len(minds)] * len(minds) + [prior / len(none_by_particle)] * len(none_by_particle)
    return Observer.over([*minds, *none_by_particle.values()], shares, switch_rate=switch_rate)
