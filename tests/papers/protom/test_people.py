"""People who are not as facilitators expect: what they do, step by step, and what facilitators are told about them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.doors_keys_gems import CHANGE_AFTER, DOORS_KEYS_GEMS
from otherminds.papers.protom.experiment import EpisodeSetup, PlannedEpisode, rows
from otherminds.papers.protom.facilitator import NONE_PRIOR
from otherminds.papers.protom.levels.maps import DESIGN, design_for
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.papers.protom.people import KINDS, NOISE, PAUSES, Change, OddCook, OddSeeker
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import STAY
from otherminds.worlds.overcooked.level_files import read_kitchen
from paths import KITCHENS_BY_CLASS

LEVEL = next(level for level in bundled_levels() if level.name == "gem-shelf")
ADVICE = DoorsKeysGemsAdvice(LEVEL.world)
KITCHEN = read_kitchen(KITCHENS_BY_CLASS / "not_needed.txt")


def setup(kind: str, subject: str = "none") -> EpisodeSetup:
    return DOORS_KEYS_GEMS.setup(PlannedEpisode(LEVEL, subject, "c", 1, kind), ADVICE)


def minds(found: EpisodeSetup) -> dict[str, Any]:
    state = found.world.start(np.random.default_rng(0))
    return {agent: mind.observe(found.world.observe(state, agent)) for agent, mind in found.people.items()}


def odd_one(usual: dict[str, Any], found: dict[str, Any]) -> str:
    (who,) = [agent for agent in usual if usual[agent] != found[agent]]
    return who


def test_others_are_as_they_were() -> None:
    for kind in ("", "ignore_half", "three"):
        assert setup(kind).people == setup("").people
    assert [setup(kind).obedience for kind in ("", "ignore_half", "ignore_all")] == [1.0, 0.5, 0.0]


def test_random_actions_and_pauses_are_as_frequent_as_stated() -> None:
    usual, noisy, pausing = (minds(setup(kind)) for kind in ("", "noise", "pauses"))
    for agent, mind in usual.items():
        n = len(mind.act())
        for action, p in mind.act():
            assert noisy[agent].act().prob(action) == pytest.approx((1 - NOISE) * p + NOISE / n)
            expected = (1 - PAUSES) * p + PAUSES * (action == STAY)
            assert pausing[agent].act().prob(action) == pytest.approx(expected)


def test_who_is_idle_stays_and_who_wanders_does_anything() -> None:
    usual, idle, wandering = (minds(setup(kind)) for kind in ("", "idle", "wandering"))
    who = odd_one(usual, idle)
    assert setup("idle").aimless == who == odd_one(usual, wandering)
    assert idle[who].act().prob(STAY) == 1.0
    assert {*np.round(wandering[who].act().probs, 9)} == {round(1 / len(usual[who].act()), 9)}
    errand = setup("idle").messages
    state = LEVEL.world.initial
    message = next(m for m in errand.candidates(state) if errand.helper(m) == who)
    assert errand.errand(state, message, idle[who]).act().prob(STAY) == 1.0  # type: ignore[attr-defined]


def test_who_changes_does_so_on_time_and_not_on_an_errand() -> None:
    usual, found = setup("").people, setup("goal_change").people
    who = odd_one(dict(usual), dict(found))
    mind, state = found[who], LEVEL.world.initial
    first, errand = mind.goal, replace(mind, goal=Goal("door", 0))  # type: ignore[type-var]
    assert first not in {m.goal for m in usual.values()}
    for _ in range(CHANGE_AFTER):
        mind, errand = mind.observe(state), errand.observe(state)
        assert mind.goal == first
    assert (mind.observe(state).goal, errand.observe(state).goal) == (usual[who].goal, Goal("door", 0))


def test_a_cook_that_changes_has_not_got_what_it_wants() -> None:
    setup = OVERCOOKED.setup(PlannedEpisode(KITCHEN, "none", "c", 1))
    agent, cook = next(iter(setup.people.items()))
    view = KITCHEN.world.observe(KITCHEN.world.initial, agent)
    done = OddCook(**{**vars(cook), "reached": True, "change": Change(1, cook.goal, "SimpleOnion")})
    later = done.observe(view)
    assert later.reached
    assert (later.observe(view).goal, later.observe(view).reached) == ("SimpleOnion", False)
    assert OddCook(**vars(cook), pauses=1.0).observe(view).act().prob("stay") == 1.0


def test_a_goal_that_is_not_listed_is_not_considered_except_by_the_oracle() -> None:
    believed = {subject: setup("not_listed", subject).facilitator.beliefs() for subject in ("protom", "oracle")}
    goals = {agent: mind.goal for agent, mind in setup("").people.items()}
    absent = [agent for agent, goal in goals.items() if not believed["protom"][agent].prob(goal)]
    assert len(absent) == 1
    assert believed["protom"][absent[0]].prob(NONE_OF_THESE) == pytest.approx(NONE_PRIOR)
    assert all(believed["oracle"][agent].prob(goal) == 1.0 for agent, goal in goals.items())


@pytest.mark.slow
def test_messages_to_who_ignores_them_are_not_followed() -> None:
    asked = {}
    for kind in ("", "ignore_all"):
        found = rows("e", PlannedEpisode(LEVEL, "random", "c", 1), setup(kind, "random"))
        asked[kind] = [row["status"] for row in found if "status" in row]
    assert "completed" in asked[""]
    assert "completed" not in asked["ignore_all"]


@pytest.mark.slow
def test_nobody_gains_who_wants_nothing() -> None:
    found = rows("e", PlannedEpisode(LEVEL, "random", "c", 1), setup("idle", "random"))
    (last,) = [row for row in found if "success" in row]
    assert (last["aimless"], last["finished"][last["aimless"]]) == (setup("idle").aimless, None)
    gains = [row["gains"] for row in found if row.get("gains")]
    assert gains
    assert {g[last["aimless"]] for g in gains} == {0}


def test_every_kind_is_known_to_both_worlds() -> None:
    for kind in KINDS:
        assert len(setup(kind).people) == 2
    assert isinstance(next(iter(setup("pauses").people.values())), OddSeeker)
    seeker = next(iter(setup("").people.values()))
    assert isinstance(seeker, Seeker)
    assert seeker.beta == math.inf


@pytest.mark.slow
@pytest.mark.parametrize(("name", "people"), [("robust", 2), ("three", 3), ("four", 4)])
def test_levels_for_other_people_are_made_anew_as_they_were(name: str, people: int) -> None:
    design = DESIGN if people == 2 else design_for(people)
    levels = design.level_set(name).levels()
    assert {len(level.world.agents) for level in levels} == {people}
    assert all(DOORS_KEYS_GEMS.spare_goals(level.world) for level in levels)
