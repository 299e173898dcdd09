"""Goal posteriors over time: of everybody, in either world, as a facilitator would have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.goal_inference import goals, posteriors
from otherminds.papers.protom.overcooked import CHOSEN, OVERCOOKED, VARIANTS
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.level_files import parse_level
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from otherminds.worlds.overcooked.level_files import parse_kitchen, read_kitchen
from paths import KITCHENS

KITCHEN = """\
-/p-----
-    - -
-    * -
-    D /
-    - -
-    l -
-p--l---

SimpleLettuce
SimpleLettuce

6 1
1 2
"""
GEMS = "agents: Ana, Ben\ngoals: red, blue\n\na1 gr\na2 gb\n"


@pytest.mark.slow
def test_recipe_posteriors_are_those_of_the_facilitator() -> None:
    level = parse_kitchen(KITCHEN, Path("kitchen.txt"))
    world, advice = level.world, OvercookedAdvice(level.world)
    moments = list(OVERCOOKED.episode(PlannedEpisode(level, "none", "useful", 2), advice))
    steps = [Step(moment.state, moment.joint, moment.after) for moment in moments]
    variants = {name: replace(VARIANTS[name], particles=4) for name in ("protom", "protom_weighted")}
    kitchens = replace(OVERCOOKED, variants=variants)
    helpers = [kitchens.facilitator(name, level, advice) for name in variants]
    expected = [[helper.beliefs() for helper in helpers]]
    for step in steps:
        helpers = [helper.watch(step.joint, step.after) for helper in helpers]
        expected.append([helper.beliefs() for helper in helpers])
    history = posteriors(world, steps, beta=3.0, lapse=0.05, leak=0.0, particles=4)
    assert len(history) == len(expected) > 10
    gap = 0.0
    for row, (beliefs, weighted) in zip(history, expected, strict=True):
        for agent in world.agents:
            for recipe, p in row["posterior"][agent].items():
                assert p == pytest.approx(beliefs[agent].prob(recipe), abs=1e-9)
                gap = max(gap, abs(p - weighted[agent].prob(recipe)))
    assert gap > 0.02  # it matters here that all beliefs count alike


def test_whoever_is_served_wanted_that() -> None:
    level = read_kitchen(KITCHENS / "two-rooms.txt")
    moments = list(OVERCOOKED.episode(PlannedEpisode(level, "none", "useful", 5)))
    steps = [Step(moment.state, moment.joint, moment.after) for moment in moments]
    history = posteriors(level.world, steps, beta=3.0, lapse=0.05, leak=0.0, particles=2)
    blind = posteriors(level.world, steps, beta=0.0, lapse=0.05, leak=0.0, particles=2)
    for agent, recipe in zip(level.world.agents, level.world.recipes, strict=True):
        assert history[-1]["posterior"][agent][recipe] > 0.98
        assert history[0]["posterior"][agent][recipe] == pytest.approx((1.0 - CHOSEN["prior"]) / 2)
        assert history[0]["posterior"][agent][NONE_OF_THESE] == pytest.approx(CHOSEN["prior"])
        assert blind[1]["posterior"][agent][recipe] == pytest.approx((1.0 - CHOSEN["prior"]) / 2)


def test_surprise_is_zero_where_nothing_distinguishes_actions_and_none_of_these_may_be_left_out() -> None:
    level = read_kitchen(KITCHENS / "two-rooms.txt")
    steps = [Step(level.world.initial, dict.fromkeys(level.world.agents, "stay"), level.world.initial)]
    blind = posteriors(level.world, steps, beta=0.0, lapse=0.05, leak=0.0, particles=1)
    assert [row["surprise"] for row in blind] == [pytest.approx({"Ana": 0.0, "Ben": 0.0}), {}]
    seeing = posteriors(level.world, steps, beta=3.0, lapse=0.05, leak=0.0, particles=1)
    assert min(seeing[0]["surprise"].values()) > 0.0
    ruled_out = posteriors(level.world, steps, beta=3.0, lapse=0.05, leak=0.0, none_prior=0.0)
    assert all(NONE_OF_THESE not in p for row in ruled_out for p in row["posterior"].values())


def test_recipes_are_the_simple_ones_that_can_be_cooked_and_those_of_somebody_there() -> None:
    assert list(goals(read_kitchen(KITCHENS / "two-rooms.txt").world)) == ["SimpleTomato", "SimpleLettuce"]
    assert list(goals(read_kitchen(KITCHENS / "hatch.txt").world)) == ["SimpleTomato", "SimpleOnion", "Salad"]


def test_gems_are_called_by_their_colours_if_these_tell_them_apart() -> None:
    world = parse_level(GEMS, Path("level.txt")).world
    assert {goal: label.name for goal, label in goals(world).items()} == {Goal("gem", 0): "red", Goal("gem", 1): "blue"}
