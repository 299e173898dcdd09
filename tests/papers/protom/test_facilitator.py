"""ProToM: utilities against sums worked out from scratch, what it says when, its choice of goals, and its particles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from cooks import cook, place
from kitchens import kitchen, thing
from otherminds.distribution import Categorical, divergence
from otherminds.mind import NONE_OF_THESE, GoalDirected, WithErrand
from otherminds.observer import Observer
from otherminds.papers.protom.episodes import FacilitatedEpisode, Moment
from otherminds.papers.protom.facilitator import P_FOLLOWED, PaperProToM, ProToM, likeliest_particle
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.agent import BeliefSampler
from otherminds.worlds.overcooked.planner import OvercookedPlanner, Pass
from strategies import BOTH, generator, moments, plays, world_of, worlds

BETA, LAPSE, LEFT = 3.0, 0.05, 40
Facilitator = PaperProToM[State, Action, Advice]
Played = tuple[DoorsKeysGems, tuple[Step[State, Action], ...]]
OPEN = Advice(1, Goal("door", 0), 0)
NECESSARY = world_of("a1 .. dr gr", "## ## ## ..", "gb a2 kr ..")
USEFUL = world_of("kr .. .. .. .. a1 dr gr kr a2 gb")
NOT_NEEDED = world_of("a1 .. .. gr", "kr dr .. ..", "a2 .. .. gb")
ONE_KEY = replace(
    world_of("gr dr .. .. .. dr gb", "## ## ## .. ## ## ##", "## ## ## .. ## ## ##", "kr a2 .. a1 .. gy .."),
    goals=(1, 2),
    forbidden=frozenset({(0, 0)}),
)


def gems(world: DoorsKeysGems) -> list[Goal]:
    return [Goal("gem", g) for g in range(len(world.gems))]


def wanted(world: DoorsKeysGems) -> tuple[Goal, ...]:
    return tuple(Goal("gem", g) for g in world.goals)


def protom(
    world: DoorsKeysGems, state: State | None = None, *, rule: Any = PaperProToM, oracle: bool = False, **more: Any
) -> Any:
    favours = DoorsKeysGemsAdvice(world)
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        agent: Observer.over(
            Seeker(favours.planner, i, goal, BETA, LAPSE) for goal in ([wanted(world)[i]] if oracle else gems(world))
        )
        for i, agent in enumerate(world.agents)
    }
    return rule.initial(world, favours, watchers, state or world.initial, **more)


def episode(
    world: DoorsKeysGems, seed: int = 0, horizon: int = LEFT, *, rule: Any = PaperProToM, **more: Any
) -> FacilitatedEpisode[State, Action, Advice]:
    favours = DoorsKeysGemsAdvice(world)
    minds = {a: Seeker(favours.planner, i, wanted(world)[i], math.inf, 0.0) for i, a in enumerate(world.agents)}
    people, facilitator = generator(seed), generator(seed + 1000)
    settings = {"epsilon": 0.4} | more if rule is PaperProToM else more
    helper = protom(world, rule=rule, **settings)
    return FacilitatedEpisode(world, minds, helper, favours, horizon, people, facilitator)


def spoken(played: Sequence[Moment[State, Action, Advice]]) -> list[tuple[int, Advice]]:
    return [(t, m.decision.message) for t, m in enumerate(played) if m.decision.message is not None]


def saves(moment: Moment[State, Action, Advice]) -> str:
    """U(f) of the message that is said, in words."""
    (found,) = [price.saves for price in moment.decision.utilities if price.message == moment.decision.message]
    return "1 step" if round(found) == 1 else f"{found:.0f} steps"


# What a message is worth, from scratch


def chance(plans: DoorsKeysGemsPlanner, state: State, i: int, goal: Goal, action: Action) -> float:
    costs = plans.action_costs(state, i, goal)
    weights = {a: math.exp(-BETA * (cost - min(costs.values()))) for a, cost in costs.items()}
    return (1 - LAPSE) * weights[action] / sum(weights.values()) + LAPSE / len(costs)


def normalised(weights: Mapping[Any, float]) -> dict[Any, float]:
    return {x: w / sum(weights.values()) for x, w in weights.items()}


def belief(world: DoorsKeysGems, happened: Sequence[Step[State, Action]], i: int) -> dict[Goal, float]:
    plans, name = DoorsKeysGemsPlanner(world), world.agents[i]
    weights = dict.fromkeys(gems(world), 1.0)
    for s in happened:
        weights = {g: w * chance(plans, s.state, i, g, s.joint[name]) for g, w in weights.items()}
    return normalised(weights)


def hypotheses(beliefs: Sequence[Mapping[Goal, float]], distinct: bool) -> dict[tuple[Goal, ...], float]:
    likely = [{g: p for g, p in b.items() if p >= 0.01} for b in beliefs]
    every = {goals: math.prod(b[g] for b, g in zip(likely, goals, strict=True)) for goals in product(*likely)}
    apart = {goals: p for goals, p in every.items() if not distinct or len(set(goals)) == len(goals)}
    return normalised({goals: p for goals, p in normalised(apart or every).items() if p >= 0.01})


watched = plays(worlds(sides=(2, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(2, 3), turns=BOTH), steps=6)


@pytest.mark.slow
@settings(max_examples=25)
@given(watched, st.booleans(), st.integers(1, 60))
def test_prices_are_the_steps_saved_in_expectation_and_how_likely_any_are(
    played: Played, distinct: bool, left: int
) -> None:
    world, happened = played
    now, favours = happened[-1].after if happened else world.initial, DoorsKeysGemsAdvice(world)
    facilitator = protom(world, distinct=distinct)
    for step in happened:
        facilitator = facilitator.watch(step.joint, step.after)
    beliefs = [belief(world, happened, i) for i in range(len(world.agents))]
    for found, expected in zip(facilitator.beliefs().values(), beliefs, strict=True):
        assert dict(found) == pytest.approx(expected)
    weighed = hypotheses(beliefs, distinct)
    prices = facilitator.compute_utility(now, left, generator())
    assert [price.message for price in prices] == favours.candidates(now)
    for price in prices:
        gain = {g: favours.steps(now, g, None, left) - favours.steps(now, g, price.message, left) for g in weighed}
        assert price.saves == pytest.approx(sum(p * gain[g] for g, p in weighed.items()), abs=1e-9)
        assert price.helps == pytest.approx(sum(p for g, p in weighed.items() if gain[g] > 0), abs=1e-9)
        assert (price.changes, price.worth) == (price.helps, price.saves)


def takes_gem(world: DoorsKeysGems, action: Action) -> bool:
    return action.verb in ("pickup", "handover") and action.item >= len(world.keys)


@pytest.mark.slow
@settings(max_examples=25)
@given(moments(worlds(sides=(2, 4), agents=(2, 2), keys=(1, 2), doors=(1, 2), gems=(2, 3))), st.integers(1, 60))
def test_an_oracle_prices_messages_under_the_true_goals(moment: tuple[DoorsKeysGems, State], left: int) -> None:
    world, state = moment
    favours, goals = DoorsKeysGemsAdvice(world), wanted(world)
    for price in protom(world, state, oracle=True).compute_utility(state, left, generator()):
        gain = favours.steps(state, goals, None, left) - favours.steps(state, goals, price.message, left)
        assert (price.saves, price.changes) == (gain, float(gain > 0))


CORRIDOR = world_of("gr .. .. a2 .. .. .. .. .. .. .. .. gb .. dr a1 kr")


@pytest.mark.parametrize(
    ("deeds", "may_want", "changes"),
    [
        ("", [0], 1 / 2),
        ("stay", [0], 1 / 2),
        ("left", [0], 4 / 5),
        ("right", [0], 1 / 5),
        ("right right", [0], 1 / 17),
        ("right " * 7, [0], 1 / (1 + 4**5)),
        ("right", [0, 1], 5 / 13),
        ("right right", [0, 1], 17 / 49),
    ],
)
def test_the_other_gate_is_how_unlikely_recent_deeds_make_it_that_the_helper_is_at_it_already(
    deeds: str, may_want: list[int], changes: float
) -> None:
    """Each step in the wrong direction is half as likely as waiting, that half as likely as one in the right one."""
    state, favours = CORRIDOR.initial._replace(items=(1, -1, -1)), DoorsKeysGemsAdvice(CORRIDOR)
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        a: Observer.over(Seeker(favours.planner, i, Goal("gem", g), math.log(2), 0.0) for g in gems)
        for i, (a, gems) in enumerate({"Ana": [0], "Ben": may_want}.items())
    }
    facilitator: Facilitator = PaperProToM.initial(CORRIDOR, favours, watchers, state, gate="traj")
    for deed in deeds.split():
        joint = {"Ana": STAY, "Ben": Action(deed)}
        state = CORRIDOR.step(state, joint)
        facilitator = facilitator.watch(joint, state)
    found = {price.message: price.changes for price in facilitator.compute_utility(state, LEFT, generator())}
    assert found[OPEN] == pytest.approx(changes, abs=1e-12)


# Telling


chatty = moments(worlds(sides=(2, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(2, 3)), steps=4)


@pytest.mark.slow
@settings(max_examples=25)
@given(chatty, st.integers(0, 99))
def test_while_the_helper_runs_an_errand_its_deeds_say_nothing_of_its_goal(
    moment: tuple[DoorsKeysGems, State], seed: int
) -> None:
    world, state = moment
    assume(max(state.items[len(world.keys) :]) < 0)  # whoever has a gem has told what they wanted
    rng, favours = generator(seed), DoorsKeysGemsAdvice(world)
    for message in favours.candidates(state):
        now, facilitator = state, protom(world, state).tell(message, state)
        helper = favours.helper(message)
        before = facilitator.beliefs()[helper].probs
        for _ in range(8):
            told = {agent: isinstance(o.minds[0], WithErrand) for agent, o in facilitator.watchers.items()}
            assert told == {agent: agent == helper for agent in world.agents}
            useful = {a: [x for x in world.actions(now, a) if not takes_gem(world, x)] for a in world.agents}
            joint = {a: able[int(rng.integers(len(able)))] for a, able in useful.items()}
            now = world.step(now, joint)
            facilitator = facilitator.watch(joint, now)
            assert facilitator.beliefs()[helper].probs == pytest.approx(before, abs=1e-12)
            if favours.status(now, message) != "running":
                break
        over = favours.status(now, message) != "running"
        assert over != any(isinstance(o.minds[0], WithErrand) for o in facilitator.watchers.values())
        itself = facilitator.dismiss(message)
        assert not any(isinstance(mind, WithErrand) for o in itself.watchers.values() for mind in o.minds)
        assert itself.beliefs() == facilitator.beliefs()


class Unaware(DoorsKeysGems):
    """In which Ana does not see that a door has been opened."""

    def observe(self, state: State, agent: str) -> State:
        return state._replace(locked=1) if agent == "Ana" else state


def test_everybody_is_judged_by_what_they_see_themselves() -> None:
    world = Unaware(**vars(world_of("gr .. a1 dr gb", "## ## ## ## a2")))
    truth = world.initial._replace(locked=0)
    joint = dict.fromkeys(world.agents, STAY)
    facilitator = protom(world, truth).watch(joint, truth)
    assert facilitator.beliefs()["Ana"].prob(Goal("gem", 1)) > 0.9
    seen = {a: {getattr(mind, "state", None) for mind in o.minds} for a, o in facilitator.watchers.items()}
    assert seen == {"Ana": {truth._replace(locked=1)}, "Ben": {truth}}


# Episodes


@pytest.mark.slow
@pytest.mark.parametrize("turns", BOTH)
@pytest.mark.parametrize("third", ["", " a3 gy"], ids=["two people", "three people"])
def test_where_somebody_is_locked_out_it_speaks_once_and_everybody_succeeds(turns: Any, third: str) -> None:
    rock = " ##" * (len(third) // 3)
    world = world_of(f"a1 .. dr gr{rock}", f"## ## ## ..{rock}", f"gb a2 kr ..{third}", turns=turns)
    played = list(episode(world, horizon=80))
    ((t, message),) = spoken(played)
    assert message == OPEN
    assert played[t].decision.words == (
        "Ben, please unlock the red door for Ana. "
        f"I believe Ana wants the red gem, and this should save about {saves(played[t])}."
    )
    assert world.done(played[-1].after)
    assert not world.done(list(episode(world, horizon=80, phi=1000.0))[-1].after)


def test_where_help_saves_steps_it_says_how_many() -> None:
    played, alone = list(episode(USEFUL)), list(episode(USEFUL, phi=1000.0))
    ((t, message),) = spoken(played)
    assert message == OPEN
    assert played[t].decision.words == (
        "Ben, please unlock the red door for Ana. "
        f"I believe Ana wants the red gem, and this should save about {saves(played[t])}."
    )
    assert USEFUL.done(played[-1].after)
    assert len(played) < len(alone) == 15


def test_where_everybody_manages_alone_it_stays_silent() -> None:
    played = list(episode(NOT_NEEDED))
    assert NOT_NEEDED.done(played[-1].after)
    assert not spoken(played)


@pytest.mark.slow
@settings(max_examples=20)
@given(worlds(sides=(3, 4), agents=(2, 3), keys=(0, 2), doors=(1, 2), gems=(3, 3), turns=BOTH), st.integers(0, 9))
def test_beliefs_stay_sound_whether_or_not_people_obey(world: DoorsKeysGems, seed: int) -> None:
    playing = replace(episode(world, seed, horizon=25, epsilon=0.0), obedience=0.5)
    for moment in playing:
        assert [sum(b.probs) for b in moment.beliefs.values()] == pytest.approx([1.0] * len(world.agents))
        assert moment.decision.message is None or max(p.saves for p in moment.decision.utilities) > 0


# Looking ahead


AHEAD = (1, 2, 4, 8)


@pytest.mark.slow
def test_where_the_only_key_could_be_wasted_it_waits_until_it_knows_more() -> None:
    hasty, patient = ([list(episode(ONE_KEY, seed, rule=ProToM, waits=w)) for seed in range(8)] for w in ((), AHEAD))
    assert {spoken(played)[0][0] for played in hasty} == {1}
    assert 0 < sum(ONE_KEY.done(played[-1].after) for played in hasty) < 8
    assert all(ONE_KEY.done(played[-1].after) for played in patient)
    assert {message.goal for played in patient for _, message in spoken(played)} == {Goal("door", 1)}
    assert {played[1].decision.silence for played in patient} == {"it pays to see more before speaking"}


@pytest.mark.slow
def test_it_does_not_wait_until_the_key_is_gone_because_help_could_come_later_as_well() -> None:
    world = world_of(
        ".. .. ## .. .. ## .. .. ## ..",
        ".. .. dg .. .. dg .. .. .. ..",
        "gr .. ## .. .. ## .. .. .. ..",
        "## .. ## a1 .. ## .. .. ## ..",
        ".. .. ## ## .. ## ## ## ## ##",
        ".. .. ## .. .. ## .. .. .. ..",
        "kg gy ## .. .. dg .. .. .. ..",
        ".. ## ## .. .. ## ## ## gb ##",
        ".. .. ## kg .. ## .. .. a2 ..",
        goals=(2, 0),
    )
    played = list(episode(world, horizon=80, rule=ProToM))
    (t, message), *_ = spoken(played)
    assert (message, t <= 11) == (Advice(0, Goal("door", 0), 1), True)  # after 11 steps Ana uses the key for herself
    assert world.done(played[-1].after)


@pytest.mark.parametrize("cost", [0.5, 3.0])
def test_where_waiting_gains_nothing_it_speaks_at_once(cost: float) -> None:
    world = world_of("a1 .. dr gr", "## ## ## ..", "gb .. kr a2")
    patient, hasty = (list(episode(world, rule=ProToM, cost=cost, waits=waits)) for waits in (AHEAD, ()))
    assert spoken(patient) == spoken(hasty) == [(1, OPEN)]


@pytest.mark.parametrize("waits", [(), AHEAD])
def test_a_message_that_costs_more_than_it_saves_is_not_sent(waits: tuple[int, ...]) -> None:
    assert not spoken(list(episode(NECESSARY, rule=ProToM, waits=waits, cost=1000.0)))


@pytest.mark.slow
@settings(max_examples=20)
@given(watched, st.sampled_from([(), (1,), AHEAD]), st.floats(0, 3), st.floats(0, 0.9))
def test_looking_ahead_only_ever_puts_off_what_would_be_said(
    played: Played, waits: tuple[int, ...], cost: float, epsilon: float
) -> None:
    world, happened = played
    now = happened[-1].after if happened else world.initial
    facilitator = protom(world, rule=ProToM, cost=cost, epsilon=epsilon, waits=waits)
    for step in happened:
        facilitator = facilitator.watch(step.joint, step.after)
    decision = facilitator.decide(now, LEFT, generator())
    best = max((price.worth for price in decision.utilities), default=-math.inf)
    saves = max((price.saves for price in decision.utilities), default=0.0)
    enough = best >= -1e-9 and saves > 1e-9
    allowed = [p.message for p in decision.utilities if enough and p.worth > best - 2e-9 and p.helps >= epsilon - 1e-9]
    if waits and decision.message is None:
        assert allowed or "pays" not in decision.silence
    elif allowed:
        assert decision.message in allowed
    else:
        assert decision.message is None


@pytest.mark.slow
@settings(max_examples=25)
@given(moments(worlds(sides=(2, 4), agents=(2, 2), keys=(1, 2), doors=(1, 2), gems=(2, 3))))
def test_waiting_is_worth_what_the_later_message_saves_less_the_steps_waited(
    moment: tuple[DoorsKeysGems, State],
) -> None:
    world, state = moment
    favours, goals, waits = DoorsKeysGemsAdvice(world), wanted(world), (1, 2, 4)
    minds = {a: Seeker(favours.planner, i, goals[i], BETA, LAPSE, state) for i, a in enumerate(world.agents)}
    alone, expected, future = favours.steps(state, goals, None, LEFT), dict.fromkeys(waits, 0.0), state
    for wait in range(1, max(waits) + 1):
        if world.done(future):
            break
        joint = {agent: mind.act().mode for agent, mind in minds.items()}
        future = world.step(future, joint)
        minds = {agent: mind.observe(future) for agent, mind in minds.items()}
        helped = min((favours.steps(future, goals, f, LEFT) for f in favours.candidates(future)), default=LEFT)
        saves = favours.steps(future, goals, None, LEFT) - helped
        if wait in waits and saves > 0 and P_FOLLOWED * saves >= 0.5 and not world.done(future):
            expected[wait] = P_FOLLOWED * (alone - min(LEFT, wait + helped)) - 0.5
    facilitator = protom(world, state, rule=ProToM, oracle=True, waits=())
    worths = facilitator._worth_after_waiting(waits, goals, state, LEFT, generator())
    assert list(worths) == pytest.approx([*expected.values()], abs=1e-9)


WORLD = world_of("a1 gr")
LEFT = 40


@dataclass(frozen=True)
class Wish:
    """Wants something and does nothing about it."""

    goal: str
    reached: bool = False
    over: bool = False
    particle: int = 0

    def observe(self, obs: object, /) -> Wish:
        return self

    def act(self) -> Categorical[str]:
        return Categorical.uniform(["wait"])


@dataclass(frozen=True)
class Table:
    """Messages to Ana, and the steps that they save depending on what she wants."""

    saves: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def candidates(self, state: object) -> Sequence[str]:
        return list(self.saves)

    def helper(self, message: str) -> str:
        return "Ana"

    def friend(self, message: str) -> str:
        return "Ana"

    def errand(self, state: object, message: str, mind: GoalDirected[Any]) -> GoalDirected[Any]:
        return Wish(message)

    def status(self, state: object, message: str) -> Any:
        return "running"

    def effort(self, state: object, message: str) -> int:
        return 1

    def finish(self, state: object, minds: Sequence[GoalDirected[Any]], horizon: int) -> tuple[int, ...]:
        ana = minds[0]
        saved = self.saves[str(ana.errand.goal)][str(ana.goal)] if isinstance(ana, WithErrand) else 0
        return (100 - saved, *[0] * (len(minds) - 1))

    def explain(self, state: object, message: str, **reason: Any) -> str:
        return f"{message}: {reason['goal']}"

    def address(self, message: str) -> str:
        return f"Ana: {message}"


def thinking(
    beliefs: Mapping[str, Mapping[str, float]], saves: Any = None, rule: Any = PaperProToM, **more: Any
) -> Any:
    watchers: dict[str, Observer[GoalDirected[Any]]] = {
        agent: Observer(tuple(map(Wish, p)), tuple(map(math.log, p.values()))) for agent, p in beliefs.items()
    }
    return rule(WORLD, Table(saves or {}), watchers, **more)


def asked(saves: Mapping[str, Mapping[str, int]], x: float = 1.0, **more: Any) -> tuple[str | None, str]:
    belief_of_ana = {"x": x, "y": 1 - x} if x < 1 else {"x": 1.0}
    decision = thinking({"Ana": belief_of_ana}, saves, **more).decide(WORLD.initial, LEFT, generator())
    return decision.message, decision.silence or decision.words


# Which message is chosen


HARDLY = "the best message would hardly change what they do"


@pytest.mark.parametrize(
    ("saves", "more", "expected"),
    [
        ({}, {}, (None, "nobody could do anything for anybody")),
        ({"f": {"x": 0}}, {}, (None, "no message is expected to save any steps")),
        ({"f": {"x": -2}}, {}, (None, "no message is expected to save any steps")),
        ({"f": {"x": 3}}, {"phi": 3.0}, (None, "no message is expected to save more than 3 steps")),
        ({"f": {"x": 3}}, {"phi": 2.5}, ("f", "f: x")),
        ({"f": {"x": 3}}, {"epsilon": 1.0}, (None, HARDLY)),
        ({"f": {"x": 3}}, {"epsilon": 0.99}, ("f", "f: x")),
        ({"f": {"x": 2}, "g": {"x": 3}}, {}, ("g", "g: x")),
        ({"f": {"x": 30, "y": 0}, "g": {"x": 5, "y": 5}}, {"x": 0.3}, (None, HARDLY)),
        ({"f": {"x": 30, "y": 0}, "g": {"x": 5, "y": 5}}, {"x": 0.3, "epsilon": 0.2}, ("f", "f: y")),
        ({"f": {"x": 8, "y": 0}, "g": {"x": 4, "y": 4}}, {"x": 0.5, "epsilon": 0.6}, ("g", "g: x")),
    ],
)
def test_it_says_the_best_message_if_that_saves_and_changes_enough(
    saves: Mapping[str, Mapping[str, int]], more: dict[str, Any], expected: tuple[str | None, str]
) -> None:
    assert asked(saves, **({"epsilon": 0.4} | more)) == expected


@pytest.mark.parametrize("rule", [ProToM, PaperProToM])
def test_whoever_has_none_of_the_goals_loses_the_steps_of_the_errand(rule: Any) -> None:
    beliefs, expected = {"Ana": {"x": 0.6, NONE_OF_THESE: 0.4}}, 0.6 * 3 + 0.4 * (3 - 1)
    facilitator = thinking(beliefs, {"f": {"x": 3, NONE_OF_THESE: 3}}, rule)
    (utility,) = facilitator.compute_utility(WORLD.initial, LEFT, generator())
    assert utility.saves == pytest.approx(expected)
    assert utility.gains == pytest.approx((expected,))


@pytest.mark.slow
def test_among_equally_good_messages_it_chooses_uniformly() -> None:
    facilitator = thinking({"Ana": {"x": 1.0}}, {"a": {"x": 5}, "b": {"x": 4}, "c": {"x": 5}, "d": {"x": 5}})
    rng = generator()
    heard = [facilitator.decide(WORLD.initial, LEFT, rng).message for _ in range(3000)]
    assert set(heard) == {"a", "c", "d"}
    assert stats.chisquare([heard.count(message) for message in "acd"]).pvalue > 0.01


# What everybody may want together


def test_two_people_are_not_thought_to_want_the_same_unless_they_may() -> None:
    beliefs = {"Ana": {"x": 0.5, "y": 0.5}, "Ben": {"x": 0.8, "y": 0.2}}
    apart = dict(thinking(beliefs).joint_goals(generator()))
    assert apart == pytest.approx({("x", "y"): 0.2, ("y", "x"): 0.8})
    free = dict(thinking(beliefs, distinct=False).joint_goals(generator()))
    assert free == pytest.approx({("x", "x"): 0.4, ("x", "y"): 0.1, ("y", "x"): 0.4, ("y", "y"): 0.1})


def test_those_who_can_only_want_the_same_are_thought_to() -> None:
    assert dict(thinking({"Ana": {"x": 1.0}, "Ben": {"x": 1.0}}).joint_goals(generator())) == {("x", "x"): 1.0}


def test_what_is_hardly_likely_of_somebody_is_left_out_before_people_are_told_apart() -> None:
    beliefs = {"Ana": {"x": 0.995, "y": 0.005}, "Ben": {"x": 1.0}}
    assert dict(thinking(beliefs).joint_goals(generator())) == {("x", "x"): 1.0}


def test_what_is_hardly_likely_of_all_together_is_left_out() -> None:
    beliefs = {"Ana": {"x": 0.992, "y": 0.008}, "Ben": {"x": 0.3, "z": 0.7}, "Cem": {"v": 0.99, "w": 0.01}}
    found = dict(thinking(beliefs, distinct=False).joint_goals(generator()))
    assert found == pytest.approx({("x", "x", "v"): 0.3, ("x", "z", "v"): 0.7})


MANY = {
    agent: {"a": 0.4, "b": 0.25, "c": 0.15, "d": 0.1, "e": 0.1} if agent < "C" else dict.fromkeys("abcde", 0.2)
    for agent in ("Ana", "Ben", "Cem", "Dan", "Eve")
}


@pytest.mark.parametrize("distinct", [True, False])
def test_where_there_are_too_many_possibilities_some_are_drawn(distinct: bool) -> None:
    facilitator = thinking(MANY, distinct=distinct)
    joint = facilitator.joint_goals(generator(3))
    assert joint == facilitator.joint_goals(generator(3)) != facilitator.joint_goals(generator(4))
    assert sum(joint.probs) == pytest.approx(1.0)
    assert all(math.isfinite(lp) for lp in joint.log_probs)
    assert 2 <= len(joint) <= 64
    assert not distinct or all(len(set(goals)) == 5 for goals in joint.support)


@pytest.mark.slow
@pytest.mark.parametrize("distinct", [True, False])
def test_draws_are_from_what_is_believed(distinct: bool) -> None:
    facilitator, rng = thinking(MANY, distinct=distinct), generator()
    drawn = [facilitator.joint_goals(rng).map(lambda goals: goals[0]) for _ in range(200)]
    mean = {goal: sum(d.prob(goal) for d in drawn) / 200 for goal in "abcde"}
    exact = dict.fromkeys("abcde", 0.0)
    for goals in product("abcde", repeat=5):
        if not distinct or len(set(goals)) == 5:
            exact[goals[0]] += math.prod(MANY[agent][goal] for agent, goal in zip(MANY, goals, strict=True))
    assert mean == pytest.approx({goal: p / sum(exact.values()) for goal, p in exact.items()}, abs=0.03)


Chances = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Stage:
    """A world in which nothing changes, and everybody sees who did what last."""

    agents: tuple[str, ...] = ("Ana", "Ben")

    def start(self, rng: np.random.Generator, /) -> int:
        return 0

    def actions(self, state: int, agent: str) -> tuple[str, ...]:
        return ("x", "y")

    def step(self, state: int, joint: Mapping[str, str], rng: np.random.Generator, /) -> int:
        return state + 1

    def observe(self, state: int, agent: str) -> int:
        return state

    def reward(self, state: int, joint: Mapping[str, str], after: int) -> dict[str, float]:
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: int) -> bool:
        return False


@dataclass(frozen=True)
class Habit:
    """Wants something, believes something, and does x or y with fixed chances."""

    goal: str
    particle: int = 0
    x: float = 0.5
    reached: bool = False
    over: bool = False

    def observe(self, obs: object, /) -> Habit:
        return self

    def act(self) -> Categorical[str]:
        return Categorical(("x", "y"), tuple(math.log(p) if p else -math.inf for p in (self.x, 1 - self.x)))


@dataclass(frozen=True)
class Asking:
    """One message to Ana, after which she does x with other chances; it saves steps depending on what she believes."""

    x: float = 0.5
    saves: Mapping[int, int] = field(default_factory=lambda: {0: 1})

    def candidates(self, state: object) -> Sequence[str]:
        return ["f"]

    def helper(self, message: str) -> str:
        return "Ana"

    def friend(self, message: str) -> str:
        return "Ana"

    def errand(self, state: object, message: str, mind: GoalDirected[Any]) -> GoalDirected[Any]:
        return Habit("errand", mind.particle, self.x)

    def status(self, state: object, message: str) -> Any:
        return "running"

    def effort(self, state: object, message: str) -> int:
        return 1

    def finish(self, state: object, minds: Sequence[GoalDirected[Any]], horizon: int) -> tuple[int, ...]:
        ana = minds[0]
        return (100 - (self.saves[ana.particle] if isinstance(ana, WithErrand) else 0), *[0] * (len(minds) - 1))

    def explain(self, state: object, message: str, **reason: Any) -> str:
        return message

    def address(self, message: str) -> str:
        return message


def protom_over(
    watchers: Mapping[str, Observer[Any]], asking: Asking | None = None, **more: Any
) -> PaperProToM[int, str, str]:
    return PaperProToM(Stage(tuple(watchers)), asking or Asking(), watchers, **more)


def observer(*minds: tuple[Habit, float]) -> Observer[Any]:
    return Observer.over([mind for mind, _ in minds], [p for _, p in minds])


# What people may have in mind together

weights = st.lists(st.floats(0.01, 1), min_size=1, max_size=6)


def of(goal: str, shares: Sequence[float]) -> list[tuple[Habit, float]]:
    return [(Habit(goal, n), p) for n, p in enumerate(shares)]


@pytest.mark.slow
@given(weights, weights, weights, st.floats(0.001, 1), st.floats(0.01, 0.99))
def test_what_may_be_in_mind_is_as_likely_as_the_goals_are(
    ana: list[float], other: list[float], ben: list[float], share: float, offset: float
) -> None:
    watchers = {"Ana": observer(*of("a", ana), *of("o", other)), "Ben": observer(*of("b", ben))}
    found = protom_over(watchers).joint_minds(("a", "b"), share, offset)
    n = max(1, round(share * max(len(ana), len(ben))))
    assert sum(p for p, _ in found) == pytest.approx(share)
    assert min(p for p, _ in found) > 0
    assert len({minds for _, minds in found}) == len(found) <= n
    assert {tuple(mind.goal for mind in minds) for _, minds in found} == {("a", "b")}
    for i, shares in enumerate((ana, ben)):
        total = Counter[int]()
        for p, minds in found:
            total[minds[i].particle] += p / share  # type: ignore[assignment]
        for k, weight in enumerate(shares):
            assert abs(total[k] - weight / sum(shares)) <= 1 / n + 1e-9


@pytest.mark.parametrize(
    ("share", "offset", "expected"),
    [(0.5, 0.5, {(1, 0): 0.25, (3, 1): 0.25}), (0.2, 0.05, {(0, 0): 0.2}), (0.2, 0.95, {(3, 1): 0.2})],
)
def test_draws_are_the_share_of_the_particles_spread_evenly(
    share: float, offset: float, expected: Mapping[tuple[int, int], float]
) -> None:
    watchers = {"Ana": observer(*of("a", [0.1, 0.3, 0.1, 0.5])), "Ben": observer(*of("b", [0.5, 0.5]))}
    found = protom_over(watchers).joint_minds(("a", "b"), share, offset)
    drawn = {tuple(mind.particle for mind in minds): p for p, minds in found}
    assert drawn == pytest.approx(expected)


@pytest.mark.parametrize(
    ("minds", "expected"),
    [
        ([("a", 0, 0.2), ("b", 0, 0.1), ("a", 1, 0.3), ("b", 1, 0.4)], [1, 1]),
        ([("a", 0, 0.25), ("b", 0, 0.25), ("a", 1, 0.25), ("b", 1, 0.25)], [0, 0]),
        ([("a", 0, 0.6), ("b", 1, 0.4)], [0, 1]),
    ],
    ids=["the likeliest", "the first of equals", "all if it lacks a goal"],
)
def test_looking_ahead_follows_one_particle(minds: Sequence[tuple[str, int, float]], expected: Sequence[int]) -> None:
    found = likeliest_particle(observer(*((Habit(goal, particle), p) for goal, particle, p in minds)))
    assert [mind.particle for mind in found.minds] == expected


def test_with_a_mind_for_each_goal_there_is_one_thing_to_imagine() -> None:
    minds = [(Habit("a"), 0.3), (Habit("b"), 0.7)]
    watchers = {"Ana": observer(*minds), "Ben": observer(*minds)}
    assert protom_over(watchers).joint_minds(("a", "b"), 0.25) == [(0.25, (Habit("a"), Habit("b")))]


def test_what_is_impossible_is_not_imagined() -> None:
    watchers = {"Ana": observer((Habit("a", 0), 0.0), (Habit("a", 1), 0.2), (Habit("b", 0), 0.8))}
    assert protom_over(watchers).joint_minds(("a",), 0.5) == [(0.5, (Habit("a", 1),))]


def test_prices_are_means_over_what_may_be_in_mind() -> None:
    """Half of Ana's particles stand to save 8 steps, the others lose 2."""
    minds = [(Habit(goal, n), 0.25) for goal in "ab" for n in range(2)]
    facilitator = protom_over({"Ana": observer(*minds)}, Asking(saves={0: 8, 1: -2}))
    (price,) = facilitator.compute_utility(0, LEFT, generator())
    assert price.saves == pytest.approx(3)
    assert price.changes == pytest.approx(0.5)


# How minds count

PAIRS = [(Habit("a", 0, 0.9), 0.25), (Habit("b", 0, 0.3), 0.25), (Habit("a", 1, 0.1), 0.25), (Habit("b", 1, 0.1), 0.25)]


@pytest.mark.parametrize(
    ("even", "expected"),
    [(True, [0.375, 0.125, 0.25, 0.25]), (False, [9 / 14, 3 / 14, 1 / 14, 1 / 14])],
    ids=["particles count alike", "Bayes' rule"],
)
def test_whether_particles_that_explain_nothing_count(even: bool, expected: list[float]) -> None:
    facilitator = protom_over({"Ana": observer(*PAIRS)}, even_particles=even).watch({"Ana": "x"}, 1)
    assert facilitator.watchers["Ana"].posterior.probs == pytest.approx(expected)
    assert facilitator.beliefs()["Ana"].prob("a") == pytest.approx(expected[0] + expected[2])


def test_with_one_particle_both_ways_are_the_same() -> None:
    minds = [(Habit("a", 0, 0.9), 0.5), (Habit("b", 0, 0.3), 0.5)]
    both = [protom_over({"Ana": observer(*minds)}, even_particles=even) for even in (True, False)]
    found = [facilitator.watch({"Ana": "x"}, 1).beliefs() for facilitator in both]
    assert found[0]["Ana"].probs == pytest.approx(found[1]["Ana"].probs)
    assert found[0]["Ana"].probs == pytest.approx([0.75, 0.25])


def test_counting_alike_begins_with_what_was_watched_before() -> None:
    facilitator = protom_over({"Ana": observer(*PAIRS)})
    for t in (1, 2):
        facilitator = facilitator.watch({"Ana": "x"}, t)
    assert facilitator.watchers["Ana"].posterior.probs == pytest.approx([0.45, 0.05, 0.25, 0.25])


# The next action


def gate(minds: Sequence[tuple[Habit, float]], asking: Asking, **more: Any) -> float:
    (price,) = protom_over({"Ana": observer(*minds)}, asking, gate="next", **more).compute_utility(0, LEFT, generator())
    return price.changes


def test_the_gate_is_how_differently_the_helper_would_act_next() -> None:
    """JSD((¾, ¼), (¼, ¾)) = H(½) − H(¼) = 1 − 0.811278… bits, for the mind that would do otherwise."""
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    assert gate([(Habit("a", 0, 0.75), 1.0)], Asking(0.25)) == pytest.approx(1 - entropy)
    both = [(Habit("a", 0, 0.75), 0.6), (Habit("b", 0, 0.25), 0.4)]
    assert gate(both, Asking(0.25), distinct=False) == pytest.approx(0.6 * (1 - entropy))


@pytest.mark.parametrize(
    ("now", "then", "bits"), [(1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.5, 0.311278), (0.3, 0.3, 0)]
)
def test_from_no_difference_to_one_bit(now: float, then: float, bits: float) -> None:
    assert gate([(Habit("a", 0, now), 1.0)], Asking(then)) == pytest.approx(bits, abs=1e-6)


def test_who_is_at_it_already_is_not_asked() -> None:
    facilitator = protom_over({"Ana": observer((Habit("a", 0, 0.9), 1.0))}, Asking(0.9), gate="next", epsilon=0.01)
    assert facilitator.decide(0, LEFT, generator()).message is None
    eager = replace(facilitator, messages=Asking(0.1))
    assert eager.decide(0, LEFT, generator()).message == "f"


# In a kitchen

ROOMS = kitchen("-/----", "-1 - t", "*  -2-", "-p----", recipes=("SimpleTomato", None))
BRING = Pass(1, thing("fresh tomato"), place(ROOMS, 5, 1), 0, (place(ROOMS, 3, 1), place(ROOMS, 3, 2)))


def facilitator_in_the_kitchen() -> PaperProToM[Any, str, Any]:
    shared = OvercookedPlanner(ROOMS.layout), BeliefSampler(ROOMS.layout, ROOMS.items)
    watchers: dict[str, Observer[Any]] = {
        agent: Observer.over(
            cook(ROOMS, goal, i, shared, beta=3.0, lapse=0.05, particle=n)
            for n in range(4)
            for goal in (("SimpleTomato", "SimpleOnion") if i == 0 else (None,))
        )
        for i, agent in enumerate(ROOMS.agents)
    }
    advice = OvercookedAdvice(ROOMS, *shared)
    return PaperProToM.initial(ROOMS, advice, watchers, ROOMS.initial, gate="next", epsilon=0.1)


def test_it_asks_ben_for_the_tomato_that_ana_cannot_get() -> None:
    facilitator = facilitator_in_the_kitchen()
    decision = facilitator.decide(ROOMS.initial, LEFT, generator())
    assert decision.message == BRING
    told = facilitator.tell(BRING, ROOMS.initial).watchers["Ben"]
    assert told.ask(lambda mind: isinstance(mind, WithErrand)).prob(True) == 1.0
    assert len({mind.particle for mind in told.minds}) == len(facilitator.watchers["Ben"].minds) == 4


def test_the_gate_in_the_kitchen_is_the_mean_over_the_helpers_minds() -> None:
    facilitator = facilitator_in_the_kitchen()
    prices = {price.message: price for price in facilitator.compute_utility(ROOMS.initial, LEFT, generator())}
    mind = facilitator.watchers["Ben"].minds[0]
    errand = facilitator.messages.errand(ROOMS.initial, BRING, mind)
    now, then = mind.act(), errand.act()
    assert isinstance(now, Categorical)
    assert isinstance(then, Categorical)
    assert prices[BRING].changes == pytest.approx(divergence(now, then))


def test_the_favour_is_forgotten_when_it_is_done_and_no_mind_is_lost() -> None:
    facilitator, state = facilitator_in_the_kitchen().tell(BRING, ROOMS.initial), ROOMS.initial
    for action in ("up", "right", "left", "stay"):
        state = ROOMS.step(state, joint := {"Ana": "right", "Ben": action})
        facilitator = facilitator.watch(joint, state)
    assert not any(isinstance(mind, WithErrand) for mind in facilitator.watchers["Ben"].minds)
    assert [len(o.minds) for o in facilitator.watchers.values()] == [8, 4]
    assert min(facilitator.watchers["Ana"].posterior.probs) > 0
