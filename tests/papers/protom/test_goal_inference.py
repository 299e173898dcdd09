"""Goal posteriors over time: of everybody, in either world, as a facilitator would have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from otherminds.papers.protom import overcooked as protom_overcooked
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.goal_inference import goals, posteriors
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
    moments = list(protom_overcooked.episode(PlannedEpisode(level, "none", "useful", 2), advice))
    steps = [Step(moment.state, moment.joint, moment.after) for moment in moments]
    helpers = [protom_overcooked.facilitator(s, level, advice, particles=4) for s in ("protom", "protom_weighted")]
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
    assert gap > 0.1  # it matters here that all beliefs count alike


def test_whoever_is_served_wanted_that() -> None:
    level = read_kitchen(KITCHENS / "two-rooms.txt")
    moments = list(protom_overcooked.episode(PlannedEpisode(level, "none", "useful", 5)))
    steps = [Step(moment.state, moment.joint, moment.after) for moment in moments]
    history = posteriors(level.world, steps, beta=0.0, lapse=0.05, leak=0.0, particles=2)
    for agent, recipe in zip(level.world.agents, level.world.recipes, strict=True):
        assert history[-1]["posterior"][agent][recipe] == pytest.approx(1.0)
        assert history[1]["posterior"][agent][recipe] == pytest.approx(1 / 3)


def test_recipes_are_the_simple_ones_and_those_of_somebody_there() -> None:
    simple = ["SimpleTomato", "SimpleLettuce", "SimpleOnion"]
    assert list(goals(read_kitchen(KITCHENS / "two-rooms.txt").world)) == simple
    assert list(goals(read_kitchen(KITCHENS / "hatch.txt").world)) == [*simple, "Salad"]


def test_gems_are_called_by_their_colours_if_these_tell_them_apart() -> None:
    world = parse_level(GEMS, Path("level.txt")).world
    assert {goal: label.name for goal, label in goals(world).items()} == {Goal("gem", 0): "red", Goal("gem", 1): "blue"}
