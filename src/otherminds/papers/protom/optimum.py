"""The best that any facilitator could do in small levels of Doors-Keys-Gems, by exact search over beliefs.

People act as `DOORS_KEYS_GEMS.people` do. A facilitator that sees every action, but not the goals, therefore faces a
decision process whose states are the state of the world, the step, and the posterior over everybody's goals and
errands. It branches finitely: over ties between best actions, and over whether a message is followed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations, permutations, product
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from otherminds.papers.protom.episodes import Decision, SilentFacilitator
from otherminds.planning.expansion import Expansion
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, USED, Action, State

MOST_STATES = 30_000  # states that the search in one level may expand; chosen: about three seconds
DIGITS = 12  # decimals of probabilities: the same posterior by another order of events is the same state
TIE = 1e-9  # steps by which two values may differ and still count as equal: rounding error


class Person(NamedTuple):
    """What decides how an agent acts: its goal, and the errand that it runs first, None if it has none."""

    goal: Goal
    errand: Goal | None = None


People = tuple[Person, ...]
Joint = tuple[Action, ...]
Belief = tuple[tuple[People, float], ...]
"""A distribution over what all agents have in mind; equal distributions are equal tuples."""
Weights = defaultdict[People, float]
Case = tuple[float, float, Callable[[float], float] | None]
"""A probability, a lower bound of a value, and the value as a function of a limit, if it is to be searched."""


class Outcome(NamedTuple):
    """A joint action that people may take, its probability, the state after it, and what they then have in mind."""

    joint: Joint
    p: float
    after: State
    people: People


class HiddenGoals:
    """How the people of one level act and follow messages, as far as a facilitator has to know.

    Weights are probabilities, up to a common factor, of what all agents have in mind.
    """

    def __init__(self, advice: DoorsKeysGemsAdvice, horizon: int, obedience: float = 1.0) -> None:
        """obedience: the probability that an agent follows a message."""
        self.world = advice.world
        self.advice = advice
        self.planner = advice.planner
        self.horizon = horizon
        self.obedience = obedience
        self.outcomes = cache(self._outcomes)
        self._acts = cache(self._acts_of)

    def prior(self) -> Belief:
        """Every choice of different gems, equally probable."""
        gems = [Person(Goal("gem", gem)) for gem in range(len(self.world.gems))]
        return normalised(dict.fromkeys(permutations(gems, len(self.world.agents)), 1.0))

    def done(self, state: State, people: People) -> bool:
        """Whether all have reached their goals."""
        return all(self.planner.achieved(state, i, person.goal) for i, person in enumerate(people))

    def _acts_of(self, state: State, i: int, goal: Goal) -> list[tuple[Action, float]]:
        """The actions that an agent with this goal may take, with their probabilities."""
        acts = Seeker(self.planner, i, goal, beta=math.inf, lapse=0.0, state=state).act()
        return [(action, p) for action, p in acts if p > 0.0]

    def _outcomes(self, state: State, people: People) -> list[Outcome]:
        """All that people with this in mind may do."""
        outcomes = []
        for acts in product(*(self._acts(state, i, person.errand or person.goal) for i, person in enumerate(people))):
            joint, shares = zip(*acts, strict=True)
            after = self.world.step(state, dict(zip(self.world.agents, joint, strict=True)))
            minds_after = tuple(
                person
                if person.errand is None or not self.planner.settled(after, i, person.errand)
                else Person(person.goal)
                for i, person in enumerate(people)
            )
            outcomes.append(Outcome(joint, math.prod(shares), after, minds_after))
        return outcomes

    def act(self, state: State, weights: Iterable[tuple[People, float]]) -> dict[Joint, tuple[State, Weights]]:
        """For each joint action that may leave the episode unfinished: the state and the weights after it."""
        successors: dict[Joint, tuple[State, Weights]] = {}
        for people, w in weights:
            for joint, p, after, minds_after in self.outcomes(state, people):
                if not self.done(after, minds_after):
                    successors.setdefault(joint, (after, Weights(float)))[1][minds_after] += w * p
        return successors

    def tell(self, weights: Iterable[tuple[People, float]], message: Advice) -> Weights:
        """The weights after a message: its helper has a new errand, or keeps what it has in mind."""
        weights_after = Weights(float)
        i = message.helper
        for people, w in weights:
            weights_after[(*people[:i], Person(people[i].goal, message.goal), *people[i + 1 :])] += w * self.obedience
            if self.obedience < 1.0:
                weights_after[people] += w * (1.0 - self.obedience)
        return weights_after


def normalised(weights: Mapping[People, float]) -> Belief:
    """The distribution with these weights; what is as good as impossible is left out."""
    total = sum(weights.values())
    shares = [(people, p) for people, w in weights.items() if (p := round(w / total, DIGITS))]
    return tuple(sorted(shares, key=lambda share: [(person.goal, person.errand or ()) for person in share[0]]))


class BestMessages:
    """The messages that minimise E[steps until all are done + cost · messages], by search with bounds.

    After every step any one candidate message may be said, to an agent on an errand as well; so no facilitator of a
    `FacilitatedEpisode` can do better. Steps are at most the horizon. Two bounds keep the search small: a value counts
    only as far as it may be below a limit, and nothing is worth more than if goals and errands were known.
    """

    def __init__(self, process: HiddenGoals, cost: float, most: int = MOST_STATES) -> None:
        """cost: of a message, in steps. Searching raises InputError beyond `most` states."""
        self.process, self.cost = process, cost
        self.expansion = Expansion(most)
        self._alone = cache(self._steps_alone)
        self._openings = cache(self._earliest_openings)
        self._soonest = cache(self._fewest_steps)
        self._decisions: dict[tuple[int, State, Belief], Advice | None] = {}
        self._values: dict[tuple[int, State, Belief, bool], float] = {}
        self._lower_bounds: dict[tuple[int, State, Belief, bool], float] = {}

    def message(self, t: int, state: State, belief: Belief) -> Advice | None:
        """The message to say after step t; None to say nothing, also if that is as good."""
        self.value(t, state, belief)
        return self._decisions[t, state, belief]

    def alone(self, t: int, state: State, belief: Belief) -> float:
        """Expected steps after step t if nothing is said any more."""
        return sum(w * self._alone(t, state, people) for people, w in belief)

    def value(self, t: int, state: State, belief: Belief, limit: float = math.inf, *, silent: bool = False) -> float:
        """Least expected steps and costs after step t, if something may be said at once, or not (`silent`).

        If that is not below the limit, a lower bound is returned that is not below it either.
        """
        key = (t, state, belief, silent)
        if key in self._values:
            return self._values[key]
        if self._lower_bounds.get(key, 0.0) >= limit:
            return self._lower_bounds[key]
        value = (self._value_of_silence if silent else self._value_of_choice)(t, state, belief, limit)
        (self._values if value < limit else self._lower_bounds)[key] = value
        return value

    def _value_of_silence(self, t: int, state: State, belief: Belief, limit: float) -> float:
        """The value if nothing is said before people have acted."""
        cases: list[Case] = []
        for after, weights in self.process.act(state, belief).values():
            later = normalised(weights)
            solve = partial(self.value, t + 1, after, later)
            cases.append((sum(weights.values()), self._bound(t + 1, after, later), solve))
        return 1.0 + expected(cases, limit - 1.0)

    def _value_of_choice(self, t: int, state: State, belief: Belief, limit: float) -> float:
        """The value if something may be said at once."""
        if t >= self.process.horizon:
            return 0.0
        alone = self.alone(t, state, belief)
        most = min(alone, limit)
        least = self._bound(t, state, belief)
        if len(belief) > 1 and least < most - TIE:
            least = expected(self._if_known(t, state, belief, silent=False), most)
        if least < most - TIE:
            return self._best(t, state, belief, alone, limit)
        if alone > least + TIE:
            return max(least, limit)
        self._decisions[t, state, belief] = None
        return alone

    def _best(self, t: int, state: State, belief: Belief, alone: float, limit: float) -> float:
        """The value of the best message, or of silence."""
        self.expansion.count()
        options: list[tuple[float, Advice | None, Belief]] = []
        for candidate in self.process.advice.candidates(state):
            next_belief = normalised(self.process.tell(belief, candidate))
            options.append((self._floor(t, state, next_belief), candidate, next_belief))
        options.sort(key=lambda option: option[0])
        if not self._stuck(state, belief):
            options.append((self._floor(t, state, belief), None, belief))
        best, least = alone, alone
        best_message: Advice | None = None
        for floor, message, after in options:
            cost, tie = (self.cost, -TIE) if message else (0.0, TIE)  # silence is better than what is as good
            most = min(best, limit) + tie
            value = cost + max(floor, self._search_value(t, state, after, most - cost) if floor + cost < most else 0.0)
            if value < most:
                best, best_message = value, message
            least = min(least, value)
        if best >= limit:
            return max(least, limit)
        self._decisions[t, state, belief] = best_message
        return best

    def _search_value(self, t: int, state: State, belief: Belief, limit: float) -> float:
        """The value of silence, or a lower bound that is not below the limit."""
        if len(belief) > 1:
            least = expected(self._if_known(t, state, belief, silent=True), limit)
            if least >= limit:
                return least
        return self.value(t, state, belief, limit, silent=True)

    def _if_known(self, t: int, state: State, belief: Belief, *, silent: bool) -> list[Case]:
        """The values if goals and errands were known."""
        cases: list[Case] = []
        for people, w in belief:
            certain: Belief = ((people, 1.0),)
            if silent and self._stuck(state, certain):
                cases.append((w, self._bound(t, state, certain), None))  # it is best to speak, which leads back here
            else:
                least = self._floor(t, state, certain) if silent else self._bound(t, state, certain)
                cases.append((w, least, partial(self.value, t, state, certain, silent=silent)))
        return cases

    def _stuck(self, state: State, belief: Belief) -> bool:
        """Whether nothing will change, nor be learned, until something is said: best at once, then, or never."""
        outcomes = self.process.outcomes
        return all([(o.after, o.people) for o in outcomes(state, people)] == [(state, people)] for people, _ in belief)

    # Lower bounds, and what happens without messages

    def _steps_alone(self, t: int, state: State, people: People) -> float:
        """Expected steps after step t if nothing is said and people have this in mind."""
        if t >= self.process.horizon or self._stuck(state, ((people, 1.0),)):
            return float(self.process.horizon - t)
        self.expansion.count()
        outcomes, done = self.process.outcomes(state, people), self.process.done
        return 1.0 + sum(o.p * self._alone(t + 1, o.after, o.people) for o in outcomes if not done(o.after, o.people))

    def _floor(self, t: int, state: State, belief: Belief) -> float:
        """A lower bound of the value of silence."""
        return 1.0 + sum(
            w * o.p * self._bound_if_known(t + 1, o.after, o.people)
            for people, w in belief
            for o in self.process.outcomes(state, people)
            if not self.process.done(o.after, o.people)
        )

    def _bound(self, t: int, state: State, belief: Belief) -> float:
        """A lower bound of the value."""
        return sum(w * self._bound_if_known(t, state, people) for people, w in belief)

    def _bound_if_known(self, t: int, state: State, people: People) -> float:
        """A lower bound of the value for known goals: saying nothing any more, or one message that does wonders."""
        achieved = self.process.planner.achieved
        steps = [self._soonest(state, i, p.goal) for i, p in enumerate(people) if not achieved(state, i, p.goal)]
        helped = self.cost + min(max(steps, default=0), self.process.horizon - t)
        return min(self._alone(t, state, people), helped)

    def _fewest_steps(self, state: State, i: int, goal: Goal) -> int:
        """Steps that agent i needs for its gem at least, if others do nothing but open doors for it.

        A way through some of the locked doors is as long as if these were open, and passes each of them when it can be
        open at the earliest.
        """
        locked_map, doors = self.process.planner.map, self.process.world.doors
        gem, opened, least = (self.process.world.gems[goal.thing].cell, self._openings(state), UNREACHABLE)
        for doors_open in (doors_used for n in range(len(opened) + 1) for doors_used in combinations(opened, n)):
            row = locked_map.distances_to(gem, state.locked & ~sum(1 << door for door in doors_open))
            passed = (opened[door] + row[doors[door].cell] for door in doors_open)
            least = min(least, 1 + max(row[state.cells[i]], *passed, 0))
        return least

    def _earliest_openings(self, state: State) -> Mapping[int, int]:
        """Steps until each locked door can be open at the earliest, with the nearest key and all other doors open.

        A step is left out, since the second of two agents may move in the same step in which it is given the key.
        """
        locked_map, world = self.process.planner.map, self.process.world
        earliest = {}
        for door, sides in enumerate(locked_map.sides):
            if not state.locked >> door & 1:
                continue
            rows, least = [locked_map.distances_to(side, 1 << door) for side in sides], UNREACHABLE
            for key, holder in enumerate(state.items[: len(world.keys)]):
                if locked_map.key_colour[key] != locked_map.door_colour[door] or holder == USED:
                    continue
                cell, fetched = (world.keys[key].cell, 1) if holder == GROUND else (state.cells[holder], 0)
                if holder == GROUND:
                    fetched += min(locked_map.distances_to(cell, 0)[position] for position in state.cells)
                least = min(least, max(1, fetched + min((row[cell] for row in rows), default=UNREACHABLE)))
            earliest[door] = least
        return earliest


def expected(cases: Iterable[Case], limit: float) -> float:
    """Σ p · value; if that is not below the limit, a lower bound of it that is not below the limit either."""
    all_cases = list(cases)
    total = sum(p * low for p, low, _ in all_cases)
    for p, low, solve in all_cases:
        if total >= limit:
            return total
        if solve:
            total += p * (solve(low + (limit - total) / p) - low)
    return total


@dataclass(frozen=True)
class Optimum(SilentFacilitator):
    """The facilitator that says what `BestMessages` finds to be best. It knows how people act, and Bayes' rule."""

    several: ClassVar = True
    search: BestMessages = field(repr=False)
    state: State
    belief: Belief

    @classmethod
    def initial(cls, search: BestMessages, belief: Belief) -> Self:
        """The facilitator at the start of an episode; `belief`: what people may have in mind."""
        return cls(search, search.process.world.initial, belief)

    def watch(self, joint: Mapping[str, Any], after: Any) -> Self:
        """The same with the posterior; the belief stays as it is when the episode is over."""
        _, weights = self.search.process.act(self.state, self.belief).get(tuple(joint.values()), (after, None))
        return replace(self, state=after, belief=normalised(weights) if weights else self.belief)

    def decide(self, state: Any, left: int, rng: np.random.Generator) -> Decision[Any]:
        """The best message, or silence."""
        message = self.search.message(self.search.process.horizon - left, state, self.belief)
        return Decision(message, silence="" if message else "no message is worth its cost")

    def tell(self, message: Any, state: Any) -> Self:
        """The same, with an errand that the helper may now have in mind."""
        return replace(self, belief=normalised(self.search.process.tell(self.belief, message)))
