"""ProToM: prices against sums worked out from scratch, what it says when, and episodes in which it helps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otherminds.mind import GoalDirected, WithErrand
from otherminds.observer import Observer
from otherminds.papers.protom.episodes import FacilitatedEpisode, Moment
from otherminds.papers.protom.facilitator import ProToM
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.advice import Advice, DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from strategies import BOTH, generator, moments, plays, world_of, worlds

BETA, LAPSE, LEFT = 3.0, 0.05, 40
Facilitator = ProToM[State, Action, Advice]
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


def protom(world: DoorsKeysGems, state: State | None = None, *, oracle: bool = False, **more: Any) -> Facilitator:
    favours = DoorsKeysGemsAdvice(world)
    watchers: dict[str, Observer[GoalDirected[Action]]] = {
        agent: Observer.over(
            Seeker(favours.planner, i, goal, BETA, LAPSE) for goal in ([wanted(world)[i]] if oracle else gems(world))
        )
        for i, agent in enumerate(world.agents)
    }
    return ProToM.initial(world, favours, watchers, state or world.initial, **more)


def episode(
    world: DoorsKeysGems, seed: int = 0, horizon: int = LEFT, **more: Any
) -> FacilitatedEpisode[State, Action, Advice]:
    favours = DoorsKeysGemsAdvice(world)
    minds = {a: Seeker(favours.planner, i, wanted(world)[i], math.inf, 0.0) for i, a in enumerate(world.agents)}
    people, facilitator = generator(seed), generator(seed + 1000)
    return FacilitatedEpisode(
        world, minds, protom(world, **{"epsilon": 0.4} | more), favours, horizon, people, facilitator
    )


def spoken(played: Sequence[Moment[State, Action, Advice]]) -> list[tuple[int, Advice]]:
    return [(t, m.decision.message) for t, m in enumerate(played) if m.decision.message is not None]


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
        got = [g for g, w in weights.items() if w and plans.achieved(s.after, i, g)]
        weights = {g: w if g in got or not got else 0.0 for g, w in weights.items()}
    return normalised(weights)


def hypotheses(beliefs: Sequence[Mapping[Goal, float]], distinct: bool) -> dict[tuple[Goal, ...], float]:
    likely = [{g: p for g, p in b.items() if p >= 0.01} for b in beliefs]
    every = {goals: math.prod(b[g] for b, g in zip(likely, goals, strict=True)) for goals in product(*likely)}
    apart = {goals: p for goals, p in every.items() if not distinct or len(set(goals)) == len(goals)}
    return normalised({goals: p for goals, p in normalised(apart or every).items() if p >= 0.01})


watched = plays(worlds(sides=(2, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(2, 3), turns=BOTH), steps=6)


@settings(max_examples=60)
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
    for message, saves, changes in prices:
        gain = {g: favours.steps(now, g, None, left) - favours.steps(now, g, message, left) for g in weighed}
        assert saves == pytest.approx(sum(p * gain[g] for g, p in weighed.items()), abs=1e-9)
        assert changes == pytest.approx(sum(p for g, p in weighed.items() if gain[g] > 0), abs=1e-9)


def takes_gem(world: DoorsKeysGems, action: Action) -> bool:
    return action.verb in ("pickup", "handover") and action.item >= len(world.keys)


@settings(max_examples=60)
@given(moments(worlds(sides=(2, 4), agents=(2, 2), keys=(1, 2), doors=(1, 2), gems=(2, 3))), st.integers(1, 60))
def test_an_oracle_prices_messages_under_the_true_goals(moment: tuple[DoorsKeysGems, State], left: int) -> None:
    world, state = moment
    favours, goals = DoorsKeysGemsAdvice(world), wanted(world)
    for message, saves, changes in protom(world, state, oracle=True).compute_utility(state, left, generator()):
        gain = favours.steps(state, goals, None, left) - favours.steps(state, goals, message, left)
        assert (saves, changes) == (gain, float(gain > 0))


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
    facilitator: Facilitator = ProToM.initial(CORRIDOR, favours, watchers, state, gate="traj")
    for deed in deeds.split():
        joint = {"Ana": STAY, "Ben": Action(deed)}
        state = CORRIDOR.step(state, joint)
        facilitator = facilitator.watch(joint, state)
    found = {price.message: price.changes for price in facilitator.compute_utility(state, LEFT, generator())}
    assert found[OPEN] == pytest.approx(changes, abs=1e-12)


# Telling


chatty = moments(worlds(sides=(2, 4), agents=(2, 3), keys=(1, 2), doors=(1, 2), gems=(2, 3)), steps=4)


@settings(max_examples=60)
@given(chatty, st.integers(0, 99))
def test_while_the_helper_runs_an_errand_its_deeds_say_nothing_of_its_goal(
    moment: tuple[DoorsKeysGems, State], seed: int
) -> None:
    world, state = moment
    assume(max(state.items[len(world.keys) :]) < 0)  # whoever has a gem has told what they wanted
    rng, favours = generator(seed), DoorsKeysGemsAdvice(world)
    for message in favours.candidates(state):
        now, facilitator = state, protom(world, state).tell(message)
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
        itself = facilitator.tell(None)
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
        "I believe Ana wants the red gem, and Ana cannot get there without your help."
    )
    assert world.done(played[-1].after)
    assert not world.done(list(episode(world, horizon=80, phi=1000.0))[-1].after)


def test_where_help_saves_steps_it_says_how_many() -> None:
    played, alone = list(episode(USEFUL)), list(episode(USEFUL, phi=1000.0))
    ((t, message),) = spoken(played)
    now, plans = played[t].state, DoorsKeysGemsPlanner(USEFUL)
    saved = plans.cost(now, 0, Goal("gem", 0)) - plans.cost(now._replace(locked=0), 0, Goal("gem", 0))
    assert message == OPEN
    assert played[t].decision.words == (
        "Ben, please unlock the red door for Ana. "
        f"I believe Ana wants the red gem, and without your help Ana would need about {saved} more steps."
    )
    assert USEFUL.done(played[-1].after)
    assert len(played) < len(alone) == 15


def test_where_everybody_manages_alone_it_stays_silent() -> None:
    played = list(episode(NOT_NEEDED))
    assert NOT_NEEDED.done(played[-1].after)
    assert not spoken(played)


@settings(max_examples=40)
@given(worlds(sides=(3, 4), agents=(2, 3), keys=(0, 2), doors=(1, 2), gems=(3, 3), turns=BOTH), st.integers(0, 9))
def test_beliefs_stay_sound_whether_or_not_people_obey(world: DoorsKeysGems, seed: int) -> None:
    playing = replace(episode(world, seed, horizon=25, epsilon=0.0), obedience=0.5)
    for moment in playing:
        assert [sum(b.probs) for b in moment.beliefs.values()] == pytest.approx([1.0] * len(world.agents))
        assert moment.decision.message is None or max(p.saves for p in moment.decision.utilities) > 0


# Looking ahead


AHEAD = (1, 2, 4, 8)


def test_where_the_only_key_could_be_wasted_it_waits_until_it_knows_more() -> None:
    hasty, patient = ([list(episode(ONE_KEY, seed, waits=w)) for seed in range(8)] for w in ((), AHEAD))
    assert {spoken(played)[0][0] for played in hasty} == {1}
    assert 0 < sum(ONE_KEY.done(played[-1].after) for played in hasty) < 8
    assert all(ONE_KEY.done(played[-1].after) for played in patient)
    assert {message.goal for played in patient for _, message in spoken(played)} == {Goal("door", 1)}
    assert {played[1].decision.silence for played in patient} == {"it pays to see more before speaking"}


@pytest.mark.parametrize("effort", [1.0, 3.0])
def test_where_waiting_gains_nothing_it_speaks_at_once(effort: float) -> None:
    world = world_of("a1 .. dr gr", "## ## ## ..", "gb .. kr a2")
    assert spoken(list(episode(world, waits=AHEAD, effort=effort))) == spoken(list(episode(world))) == [(1, OPEN)]


def test_a_message_that_costs_more_than_it_saves_is_put_off() -> None:
    played = list(episode(NECESSARY, waits=AHEAD, effort=1000.0))
    assert played[1].decision.silence == "it pays to see more before speaking"


@settings(max_examples=40)
@given(watched, st.sampled_from([(), (1,), AHEAD]), st.floats(0, 3), st.floats(0, 0.9))
def test_looking_ahead_only_ever_puts_off_what_would_be_said(
    played: Played, waits: tuple[int, ...], phi: float, epsilon: float
) -> None:
    world, happened = played
    now = happened[-1].after if happened else world.initial
    facilitator = protom(world, phi=phi, epsilon=epsilon, waits=waits)
    for step in happened:
        facilitator = facilitator.watch(step.joint, step.after)
    decision = facilitator.decide(now, LEFT, generator())
    best = max((price.saves for price in decision.utilities), default=0.0)
    allowed = [p.message for p in decision.utilities if p.saves > best - 1e-9 and p.changes > epsilon and best > phi]
    if waits and decision.message is None:
        assert allowed or "pays" not in decision.silence
    elif allowed:
        assert decision.message in allowed
    else:
        assert decision.message is None
