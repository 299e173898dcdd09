"""The rules of food trucks, and its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.testing import check_world
from otherminds.worlds.food_trucks.drawing import draw, moving_parts
from otherminds.worlds.food_trucks.level_files import bundled_food_trucks, draw_text, parse_food_trucks
from otherminds.worlds.food_trucks.rules import EAT, STAY, FoodTrucks, FoodTruckState, walk

LEVELS = {level.name: level for level in bundled_food_trucks()}
TEXT = "A..\n.#.\nS.B\n\nparked: Mexican\nwalk: right right eat\n"


@pytest.mark.parametrize("level", LEVELS.values(), ids=list(LEVELS))
def test_the_world_is_lawful(level: object) -> None:
    check_world(level.world, steps=60)  # type: ignore[attr-defined]


def test_what_an_agent_can_do_and_earns() -> None:
    level = parse_food_trucks(TEXT.replace("walk:", "rewards: 5, 7, 50\nwalk:"), Path("x.txt"))
    world, rng = level.world, np.random.default_rng(0)
    state = FoodTruckState(world.hidden_spot, "Mexican", True)
    assert world.actions(state, "diner") == (STAY, "up", "left", EAT)
    assert world.actions(state._replace(parked="nothing"), "diner") == (STAY, "up", "left")
    fed = world.step(state, {"diner": EAT}, rng)
    assert world.done(fed)
    assert world.reward(state, {"diner": EAT}, fed) == {"diner": 49.0}
    assert world.reward(state, {"diner": STAY}, state) == {"diner": 0.0}
    with pytest.raises(ValueError, match="cannot down"):
        world.step(state, {"diner": "down"}, rng)


def test_the_hidden_spot_is_seen_as_often_as_its_visible_share() -> None:
    world = LEVELS["two hedges"].world
    cell = next(cell for cell, share in world.visibility.items() if 0.2 < share < 0.8)
    rng = np.random.default_rng(1)
    seen = [world.observe(world.arrival(cell, "Lebanese", rng), "diner").parked for _ in range(2000)]
    assert {*seen} == {None, "Lebanese"}
    assert seen.count("Lebanese") / 2000 == pytest.approx(world.visibility[cell], abs=0.04)


def test_a_walk_is_made_of_actions_that_have_an_effect() -> None:
    level = LEVELS["courtyard, and back"]
    assert len(level.cells) == len(level.actions) + 1
    assert level.cells[-1] == level.world.known_spot
    with pytest.raises(ValueError, match="action 2: nobody can left here"):
        walk(level.world, level.parked, ("down", "left"))
    with pytest.raises(ValueError, match="action 4: nobody can stay here"):
        walk(level.world, level.parked, ("up", "up", "eat", "stay"))


def test_a_world_needs_a_reward_for_each_truck() -> None:
    world = LEVELS["two hedges"].world
    with pytest.raises(ValueError, match="two trucks"):
        FoodTrucks(world.grid, world.known_spot, world.hidden_spot, world.beginning, rewards=(1.0,))


@pytest.mark.parametrize("level", LEVELS.values(), ids=list(LEVELS))
def test_a_level_is_drawn_and_read_back(level: object) -> None:
    read = parse_food_trucks(draw_text(level), Path("x.txt"))  # type: ignore[arg-type]
    same = ("name", "parked", "actions", "cells")
    assert [getattr(read, name) for name in same] == [getattr(level, name) for name in same]
    assert (read.world.grid, read.world.hidden_spot) == (level.world.grid, level.world.hidden_spot)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("S", "."), "x.txt:1: the map has 0 places for the start (mark one with `S`)"),
        (("B", "A"), "x.txt:1: the map has 2 places for the first truck (mark one with `A`)"),
        (("#", "?"), "x.txt:2:2: unknown character `?`"),
        (("Mexican", "Thai"), "x.txt:5: `Thai` cannot be parked there (one of Lebanese, Mexican, nothing)"),
        (("right eat", "up"), "x.txt:6: action 2: nobody can up here"),
        (("walk:", "trucks: A\nwalk:"), "x.txt:6: `trucks` has 2 to 4 names"),
        (("walk:", "rewards: 1, 2\nwalk:"), "x.txt:6: `rewards` has 2 numbers for 3 trucks"),
        (("walk:", "rewards: 1, x, 2\nwalk:"), "x.txt:6: `rewards`: `x` is not a number"),
        (("parked: Mexican\n", ""), "x.txt:5: `parked` is missing (such as `parked: Lebanese`)"),
    ],
)
def test_what_is_wrong_with_a_level_is_said_in_one_line(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_food_trucks(TEXT.replace(*change), Path("x.txt"))
    assert str(caught.value).startswith(message)


def test_the_picture_has_both_trucks_and_the_agent() -> None:
    level = LEVELS["courtyard, and on"]
    state = FoodTruckState(level.world.beginning, level.parked, False)
    assert [part.title for part in moving_parts(level.world, state)] == ["Korean", "Lebanese", "diner"]
    assert draw(level.world, state).svg().count("data-part") == 3
