"""Observers against Bayes' rule by hand, and against people whose minds are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.observer import Observer, replay
from otherminds.world import Step
from strategies import generator

CLOSE = 1e-12
ACTIONS = "xyz"
Deeds = list[tuple[str, int]]


@dataclass(frozen=True)
class Table:
    """Draws its next action from the row of its table for what it saw last."""

    rows: tuple[tuple[float, ...], ...]
    last: int = 0

    def observe(self, obs: int, /) -> Table:
        return replace(self, last=obs)

    def act(self) -> Categorical[str]:
        return Categorical.from_scores(
            (a, math.log(p) if p else -math.inf) for a, p in zip(ACTIONS, self.rows[self.last], strict=True)
        )


def certain(*actions: str) -> Table:
    """A mind that does actions[o] after it has seen o."""
    return Table(tuple(tuple(float(a == action) for a in ACTIONS) for action in actions))


@st.composite
def tables(draw: st.DrawFn, least: float = 0.01) -> Table:
    row = st.lists(st.floats(least, 1), min_size=3, max_size=3)
    rows = [draw(row) for _ in range(2)]
    return Table(tuple(tuple(p / sum(row) for p in row) for row in rows))


pools = st.lists(tables(), min_size=1, max_size=4, unique=True)
deeds = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1)), max_size=8)


def watch_all(observer: Observer[Table], happened: Deeds) -> Observer[Table]:
    for action, obs in happened:
        observer = observer.watch(action, obs)
    return observer


def likelihoods(mind: Table, happened: Deeds) -> list[float]:
    """p(a_t | o_{t-1}) for every deed, by looking it up."""
    views = [0, *(obs for _, obs in happened)]
    return [mind.rows[views[t]][ACTIONS.index(action)] for t, (action, _) in enumerate(happened)]


# Bayes


@pytest.mark.slow
@given(pools, deeds)
def test_the_posterior_is_bayes_rule(minds: list[Table], happened: Deeds) -> None:
    joint = [math.prod(likelihoods(mind, happened)) for mind in minds]
    posterior = watch_all(Observer.over(minds), happened).posterior
    assert posterior.probs == pytest.approx([p / sum(joint) for p in joint], abs=CLOSE)


@pytest.mark.slow
@given(pools, deeds, st.floats(0.05, 1), st.floats(0, 2))
def test_decay_and_gain_weigh_old_and_new_evidence(
    minds: list[Table], happened: Deeds, decay: float, gain: float
) -> None:
    observer = watch_all(Observer.over(minds, decay=decay, gain=gain), happened)
    age = range(len(happened) - 1, -1, -1)
    weights = [
        sum(gain * decay**t * math.log(p) for t, p in zip(age, likelihoods(mind, happened), strict=True))
        for mind in minds
    ]
    expected = Categorical.from_scores(enumerate(weights)).probs
    assert observer.posterior.probs == pytest.approx(expected, abs=1e-10)


@pytest.mark.slow
@given(pools, deeds, st.floats(0.05, 0.95))
def test_a_leak_that_feeds_the_gain_is_rescorla_wagner(minds: list[Table], happened: Deeds, alpha: float) -> None:
    values = [0.0] * len(minds)
    for t in range(len(happened)):
        evidence = [math.log(likelihoods(mind, happened)[t]) for mind in minds]
        values = [v + alpha * (e - v) for v, e in zip(values, evidence, strict=True)]
    observer = watch_all(Observer.over(minds, decay=1 - alpha, gain=alpha), happened)
    expected = Categorical.from_scores(enumerate(values)).probs
    assert observer.posterior.probs == pytest.approx(expected, abs=1e-10)


@pytest.mark.slow
@given(pools, deeds)
def test_what_is_expected_next_is_the_mixture_of_the_minds(minds: list[Table], happened: Deeds) -> None:
    observer = watch_all(Observer.over(minds), happened)
    last = happened[-1][1] if happened else 0
    expected = [
        sum(p * mind.rows[last][a] for mind, p in zip(minds, observer.posterior.probs, strict=True)) for a in range(3)
    ]
    assert [observer.predict().prob(a) for a in ACTIONS] == pytest.approx(expected, abs=CLOSE)


@pytest.mark.slow
@given(pools, deeds)
def test_the_order_of_the_minds_does_not_matter(minds: list[Table], happened: Deeds) -> None:
    forwards = watch_all(Observer.over(minds), happened).posterior
    backwards = watch_all(Observer.over(minds[::-1]), happened).posterior
    assert forwards.probs == pytest.approx(backwards.probs[::-1], abs=CLOSE)


def test_a_thousand_deeds_neither_underflow_nor_overflow() -> None:
    fair, biased = Table(((0.4, 0.3, 0.3),)), Table(((0.41, 0.3, 0.29),))
    observer = watch_all(Observer.over([fair, biased]), [("x", 0), ("z", 0)] * 1000)
    ratio = 1000 * (math.log(0.4 * 0.3) - math.log(0.41 * 0.29))
    assert observer.posterior.log_prob(observer.minds[0]) == pytest.approx(-math.log1p(math.exp(-ratio)), rel=1e-6)


# Order, and the impossible


def test_a_deed_is_judged_by_what_was_seen_before_it() -> None:
    observer = Observer.over([certain("x", "y"), certain("y", "x")])
    assert observer.watch("x", 1).posterior.probs == (1.0, 0.0)
    assert observer.see(1).watch("x", 0).posterior.probs == (0.0, 1.0)


def test_seeing_changes_the_minds_but_not_what_is_believed_of_them() -> None:
    observer = Observer.over([certain("x", "y"), certain("z", "z")]).watch("z", 0)
    seen = observer.see(1)
    assert seen.weights == observer.weights
    assert [mind.last for mind in seen.minds] == [1, 1]


@pytest.mark.parametrize("decay", [1.0, 0.5, 0.0])
def test_a_mind_that_could_not_have_done_it_is_out_for_good(decay: float) -> None:
    observer = Observer.over([certain("x"), Table(((0.5, 0.5, 0.0),))], decay=decay)
    observer = watch_all(observer, [("y", 0), ("x", 0), ("x", 0)])
    assert observer.posterior.probs == (0.0, 1.0)


def test_a_deed_that_no_mind_could_have_done_is_refused() -> None:
    with pytest.raises(ValueError, match="none of the 2 minds could have done 'z'"):
        Observer.over([certain("x"), certain("y")]).watch("z", 0)


def test_an_observer_without_minds_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one mind"):
        Observer.over([])


def test_watching_leaves_the_observer_as_it_was() -> None:
    observer = Observer.over([certain("x", "y"), certain("y", "x")])
    before = hash(observer)
    observer.watch("x", 1)
    assert observer == Observer.over([certain("x", "y"), certain("y", "x")])
    assert hash(observer) == before


# Questions


def test_asking_pools_the_minds_that_answer_alike() -> None:
    minds = [Table(((0.5, 0.5, 0.0),)), Table(((0.5, 0.0, 0.5),)), Table(((0.8, 0.1, 0.1),))]
    observer = Observer.over(minds).watch("x", 0)
    assert dict(observer.ask(lambda mind: mind.rows[0][0])) == pytest.approx({0.5: 1 / 1.8, 0.8: 0.8 / 1.8})


def test_revising_changes_every_mind_and_keeps_its_weight() -> None:
    observer = Observer.over([Table(((0.6, 0.4, 0.0),)), Table(((0.3, 0.7, 0.0),))]).watch("x", 0)
    revised = observer.map(lambda mind: certain("z"))
    assert revised.minds == (certain("z"), certain("z"))
    assert revised.weights == observer.weights
    assert revised.predict().prob("z") == 1


# Groups that count alike


@pytest.mark.slow
@given(pools, deeds, st.lists(st.sampled_from("abc"), min_size=4, max_size=4))
def test_even_groups_are_equally_likely_and_keep_the_odds_within(
    minds: list[Table], happened: Deeds, names: list[str]
) -> None:
    observer = watch_all(Observer.over(minds), happened)
    groups = dict(zip(observer.minds, names, strict=False))
    before, after = observer.posterior, observer.equalise(groups.__getitem__).posterior
    shares = after.map(groups.__getitem__)
    assert shares.probs == pytest.approx([1 / len(shares)] * len(shares), abs=1e-9)
    for name in shares.support:
        within = [p.condition(lambda mind, name=name: groups[mind] == name).probs for p in (before, after)]  # type: ignore[misc]
        assert within[1] == pytest.approx(within[0], abs=1e-9)


def test_even_groups_keep_the_impossible_impossible() -> None:
    minds = [certain("x"), certain("y"), Table(((0.5, 0.5, 0.0),)), certain("z")]
    group = dict(zip(minds, "aabc", strict=True)).__getitem__
    observer = Observer.over(minds).watch("x", 0).equalise(group)
    assert observer.posterior.probs == pytest.approx([0.5, 0, 0.5, 0])
    assert observer.equalise(group).posterior.probs == pytest.approx([0.5, 0, 0.5, 0])
    assert observer.minds == Observer.over(minds).watch("x", 0).minds


def test_one_group_changes_nothing_and_a_group_each_makes_all_alike() -> None:
    observer = Observer.over([certain("x"), Table(((0.2, 0.8, 0.0),))]).watch("x", 0)
    assert observer.equalise(lambda mind: 0).posterior.probs == pytest.approx(observer.posterior.probs)
    assert observer.equalise(lambda mind: mind).posterior.probs == pytest.approx([0.5, 0.5])


# Perspective

Rooms = tuple[int, int]


@dataclass(frozen=True)
class TwoRooms:
    """A light in either of two rooms, each seen only from inside; Ana sits in the left one, Ben in the right one."""

    agents: tuple[str, ...] = ("Ana", "Ben")

    def start(self, rng: np.random.Generator, /) -> Rooms:
        return (0, 1)

    def actions(self, state: Rooms, agent: str) -> tuple[str, ...]:
        return ("x", "y")

    def step(self, state: Rooms, joint: Mapping[str, str], rng: np.random.Generator, /) -> Rooms:
        return (int(rng.integers(2)), int(rng.integers(2)))

    def observe(self, state: Rooms, agent: str) -> int:
        return state[self.agents.index(agent)]

    def reward(self, state: Rooms, joint: Mapping[str, str], after: Rooms) -> dict[str, float]:
        return {"Ana": 0.0, "Ben": 0.0}

    def done(self, state: Rooms) -> bool:
        return False


RELIABLE = Table(((0.9, 0.1, 0.0), (0.1, 0.9, 0.0)))
CONTRARY = Table(((0.1, 0.9, 0.0), (0.9, 0.1, 0.0)))


def told_by_light(states: Sequence[Rooms]) -> list[Step[Rooms, str]]:
    """Everybody says truly what they see: x for a dark room, y for a lit one."""
    return [Step(state, {"Ana": "xy"[state[0]], "Ben": "xy"[state[1]]}, after) for state, after in pairwise(states)]


def test_replay_hands_every_observer_the_view_of_its_own_agent() -> None:
    happened = told_by_light([(0, 1), (0, 1), (1, 0), (1, 1)])
    watchers = {agent: Observer.over([RELIABLE, CONTRARY]) for agent in ("Ana", "Ben")}
    *_, last = replay(TwoRooms(), watchers, happened)
    for observer in last.values():
        assert observer.posterior.probs == pytest.approx([0.9**3 / (0.9**3 + 0.1**3), 0.1**3 / (0.9**3 + 0.1**3)])


def test_the_view_of_somebody_else_would_give_the_opposite_answer() -> None:
    happened = told_by_light([(0, 1), (1, 0), (0, 1)])
    by_own = by_other = Observer.over([RELIABLE, CONTRARY])
    by_own, by_other = by_own.see(happened[0].state[0]), by_other.see(happened[0].state[1])
    for step in happened:
        by_own = by_own.watch(step.joint["Ana"], step.after[0])
        by_other = by_other.watch(step.joint["Ana"], step.after[1])
    *_, last = replay(TwoRooms(), {"Ana": Observer.over([RELIABLE, CONTRARY])}, happened)
    assert last["Ana"] == by_own
    assert by_own.posterior.probs == pytest.approx(by_other.posterior.probs[::-1])


def test_replay_tells_what_was_believed_before_the_first_step_and_after_each_one() -> None:
    happened = told_by_light([(0, 1), (1, 0), (0, 1)])
    beliefs = [moment["Ana"] for moment in replay(TwoRooms(), {"Ana": Observer.over([RELIABLE, CONTRARY])}, happened)]
    assert [b.posterior.probs[0] for b in beliefs] == pytest.approx([0.5, 0.9, 0.81 / 0.82])
    assert [b.minds[0].last for b in beliefs] == [0, 1, 0]


def test_nothing_happened_nothing_to_replay() -> None:
    assert list(replay(TwoRooms(), {"Ana": Observer.over([RELIABLE])}, [])) == []


# Recovery


@pytest.mark.slow
def test_posteriors_are_calibrated_and_the_true_mind_is_mostly_found() -> None:
    rng = generator(11)
    minds = [Table(tuple(tuple(row) for row in rng.dirichlet([1, 1, 1], 2).tolist())) for _ in range(4)]
    bets, hits, found = [], [], 0
    for episode in range(300):
        truth, obs = minds[episode % 4], 0
        observer = Observer.over(minds)
        for _ in range(12):
            action = truth.observe(obs).act().sample(rng)
            obs = int(rng.integers(2))
            observer = observer.watch(action, obs)
        ranked = observer.posterior
        bets += list(ranked.probs)
        hits += [mind.rows == truth.rows for mind in observer.minds]
        found += ranked.mode.rows == truth.rows
    p, hit = np.array(bets), np.array(hits)
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        inside = (p >= low) & (p <= high)
        spread = math.sqrt(np.sum(p[inside] * (1 - p[inside])))
        assert abs(np.sum(hit[inside] - p[inside])) < 3 * spread
    assert found > 0.7 * 300


def test_conditioning_rules_minds_out_and_keeps_the_odds_of_the_others() -> None:
    observer = Observer((certain("x"), certain("y"), certain("z")), (0.0, -1.0, -2.0))
    assert observer.condition(lambda mind: mind != certain("x")).posterior.probs == pytest.approx(
        (0.0, 1 / (1 + math.exp(-1)), 1 / (1 + math.e))
    )
    with pytest.raises(ValueError, match="false for every mind"):
        observer.condition(lambda mind: False)


# Dropping minds

positive = st.floats(0.001, 1)


def of_weights(weights: list[float]) -> Observer[Table]:
    """Minds of these weights, all different."""
    minds = tuple(Table(((0.5, 0.5 - 0.01 * i, 0.01 * i),)) for i in range(len(weights)))
    return Observer(minds, tuple(math.log(w) if w else -math.inf for w in weights), decay=0.9, gain=0.5)


@pytest.mark.slow
@given(st.lists(positive, min_size=1, max_size=5), positive)
def test_keeping_drops_those_that_are_too_improbable_and_no_others(weights: list[float], least: float) -> None:
    observer = of_weights(weights)
    top = max(weights)
    for mind, weight in zip(observer.minds, weights, strict=True):
        if abs(weight / top - least) > CLOSE:  # at the limit itself it is for rounding to decide
            assert (mind in observer.prune(least).minds) == (weight > least * top)


@pytest.mark.slow
@given(st.lists(positive, min_size=1, max_size=5), positive)
def test_those_that_are_kept_keep_their_order_and_their_odds(weights: list[float], least: float) -> None:
    observer = of_weights(weights)
    kept = observer.prune(least)
    before = dict(zip(observer.minds, observer.weights, strict=True))
    assert list(kept.minds) == [mind for mind in observer.minds if mind in kept.minds]
    assert kept.weights == tuple(before[mind] for mind in kept.minds)
    assert observer.posterior.mode in kept.minds
    assert (kept.decay, kept.gain) == (observer.decay, observer.gain)
    assert kept.prune(least) == kept


def test_the_most_probable_minds_are_always_kept() -> None:
    observer = of_weights([0.25, 0.5, 0.5])
    assert observer.prune(1.0).minds == observer.minds[1:]
    assert observer.prune(1e-300).minds == observer.minds


def test_impossible_minds_are_dropped_however_little_is_asked_for() -> None:
    observer = of_weights([0.5, 0.0, 1e-200])
    assert observer.prune(1e-250).minds == (observer.minds[0], observer.minds[2])
    assert observer.prune(1e-100).minds == observer.minds[:1]


# Priors


@pytest.mark.slow
@given(pools, st.lists(st.one_of(st.just(0.0), positive), min_size=4, max_size=4).filter(lambda p: p[0]), deeds)
def test_the_prior_is_weighed_with_what_happened(minds: list[Table], shares: list[float], happened: Deeds) -> None:
    prior = shares[: len(minds)]
    observer = watch_all(Observer.over(minds, iter(prior)), happened)
    joint = [p * math.prod(likelihoods(mind, happened)) for mind, p in zip(minds, prior, strict=True)]
    assert observer.posterior.probs == pytest.approx([p / sum(joint) for p in joint], abs=CLOSE)


@pytest.mark.parametrize("prior", [[], [1.0], [0.5, 0.25, 0.25], [0.0, 0.0]])
def test_a_prior_has_a_share_for_every_mind_and_one_above_nothing(prior: list[float]) -> None:
    with pytest.raises(ValueError, match="each of its minds"):
        Observer.over([certain("x"), certain("y")], prior)


# Agents that change their minds


@pytest.mark.slow
@given(pools, st.lists(positive, min_size=4, max_size=4), deeds.filter(lambda d: len(d) <= 4), st.floats(0, 1))
def test_switching_is_exact_over_all_ways_to_change_ones_mind(
    minds: list[Table], shares: list[float], happened: Deeds, rate: float
) -> None:
    prior = [p / sum(shares[: len(minds)]) for p in shares[: len(minds)]]
    observer = watch_all(Observer.over(minds, prior, switch_rate=rate), happened)
    scores = [likelihoods(mind, happened) for mind in minds]
    joint = [0.0] * len(minds)
    for path in product(range(len(minds)), repeat=len(happened) + 1):  # the mind at each action, and the one after
        kept = ((1 - rate) * (a == b) + rate * prior[b] for a, b in pairwise(path))
        done = (scores[m][t] for t, m in enumerate(path[:-1]))
        joint[path[-1]] += prior[path[0]] * math.prod(kept) * math.prod(done)
    assert observer.posterior.probs == pytest.approx([p / sum(joint) for p in joint], abs=1e-9)


def test_who_never_switches_is_watched_as_before_bit_for_bit() -> None:
    minds, happened = [certain("x", "x"), Table(((0.2, 0.3, 0.5),) * 2)], [("x", 0), ("x", 1), ("x", 0)]
    expected = [0.0, 0.0]
    for t in range(len(happened)):
        expected = [w + math.log(likelihoods(m, happened)[t]) for w, m in zip(expected, minds, strict=True)]
        expected = [w - max(expected) for w in expected]
    assert watch_all(Observer.over(minds, switch_rate=0.0), happened).weights == tuple(expected)


def test_a_mind_that_was_out_comes_back_if_agents_may_switch() -> None:
    observer = Observer.over([certain("x"), certain("y")], [0.9, 0.1], switch_rate=0.25)
    observer = watch_all(observer, [("x", 0)])
    assert observer.posterior.probs == pytest.approx([0.75 + 0.25 * 0.9, 0.25 * 0.1], abs=CLOSE)
    assert observer.watch("y", 0).posterior.mode == observer.minds[1]
    assert observer.prune(0.02).minds == observer.minds


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_a_switch_rate_is_a_probability(rate: float) -> None:
    with pytest.raises(ValueError, match="no probability of changing"):
        Observer.over([certain("x")], switch_rate=rate)


@given(st.lists(positive, min_size=1, max_size=4), st.floats(0.01, 0.99))
def test_an_admitted_mind_has_its_probability_and_leaves_the_odds(weights: list[float], probability: float) -> None:
    before, mind = of_weights(weights), certain("x")
    after = before.admit(mind, probability)
    assert after.posterior.prob(mind) == pytest.approx(probability)
    assert after.posterior.condition(lambda m: m != mind).probs == pytest.approx(before.posterior.probs)


def test_an_admitted_mind_may_be_switched_to() -> None:
    observer = replace(Observer.over([certain("x")]), switch_rate=0.5).admit(certain("y"), 0.2)
    assert observer.watch("x", 0).posterior.probs == pytest.approx([0.5 + 0.5 * 0.8, 0.5 * 0.2], abs=CLOSE)


@pytest.mark.parametrize("probability", [0.0, 1.0, math.nan])
def test_nothing_is_admitted_for_sure(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Observer.over([certain("x")]).admit(certain("y"), probability)


def test_surprise_is_nothing_on_average_for_an_agent_that_is_listed_and_more_for_others() -> None:
    observer = Observer.over([Table(((0.7, 0.2, 0.1),))])
    chances = dict(zip(ACTIONS, (0.7, 0.2, 0.1), strict=True))
    assert sum(p * observer.surprise(a) for a, p in chances.items()) == pytest.approx(0.0, abs=CLOSE)
    assert observer.surprise("x") < 0.0 < observer.surprise("y") < observer.surprise("z")
    assert sum(observer.surprise(a) for a in ACTIONS) / 3 > 0.3
    assert Observer.over([certain("x")]).surprise("y") == math.inf
