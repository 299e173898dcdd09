"""Chefs: what pairs of them earn in the asymmetric kitchen, that nobody gets stuck, and that memory makes up for sight.

The bounds on earnings are 15 % around those of the scripts by which the kitchen was explored before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from otherminds.mind import Mind
from otherminds.world import rollout
from otherminds.worlds.avatars import ACTIONS, EAST, NORTH, SOUTH, WEST
from otherminds.worlds.collaborative_cooking.bots import PATIENCE, CookingBot, IdleBot, fitting, semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    DISH,
    FULL,
    NOTHING,
    SOUP,
    TOMATO,
    CollaborativeCooking,
    CookingState,
    PlayerState,
    PotState,
)

WORLD = cooking_asymmetric()
LEFT, RIGHT = WORLD.grid.cell(2, 2), WORLD.grid.cell(6, 2)
ONE_ROOM = {
    "cramped": ("##C##", "OP PO", "#   #", "#D#T#", "#####"),
    "ring": ("###C#", "#   C", "DP# #", "O P #", "#OT##"),
    "circuit": ("###CC###", "#P     #", "D #### T", "#     P#", "###OO###"),
}
Cook = Mind[Any, Any]


def opened(**more: Any) -> CookingState:
    """The first player on the left, the second on the right, and nothing done."""
    bodies = PlayerState(LEFT, NORTH), PlayerState(RIGHT, NORTH)
    counters, pots = (NOTHING,) * len(WORLD.counters), (PotState(), PotState())
    return CookingState(0, bodies, counters, pots, (0.0, 0.0))._replace(**more)


def earned(left: Cook, right: Cook, seed: int = 0) -> float:
    """What each earns in an episode."""
    minds: Mapping[str, Cook] = dict(zip(WORLD.agents, (left, right), strict=True))
    steps = rollout(WORLD, minds, steps=WORLD.steps, rng=np.random.default_rng(seed), state=opened())
    return sum(step.after.rewards[0] for step in steps)


CHEF = CookingBot(WORLD)
LOADER, SERVER, BOTH = replace(CHEF, duty="tomatoes"), replace(CHEF, duty="dishes"), replace(CHEF, duty="everything")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (SERVER, LOADER, 1080),
        (BOTH, BOTH, 868),
        (BOTH, IdleBot(), 420),
        (IdleBot(), BOTH, 680),
        (LOADER, SERVER, 500),
        (CHEF, CHEF, 1080),
        (CHEF, IdleBot(), 420),
        (IdleBot(), CHEF, 680),
    ],
)
def test_pairs_earn_what_is_known_of_them(left: Cook, right: Cook, expected: float) -> None:
    assert earned(left, right) == pytest.approx(expected, rel=0.15)


@pytest.mark.slow
def test_semi_skilled_chefs_earn_less_than_skilled_ones() -> None:
    semi = semi_skilled(WORLD)
    assert np.mean([earned(SERVER, replace(semi, duty="tomatoes"), seed) for seed in range(3)]) == pytest.approx(
        764, rel=0.15
    )
    assert np.mean([earned(CHEF, semi, seed) for seed in range(3)]) < 900


@pytest.mark.slow
def test_two_who_do_the_same_half_of_the_work_earn_nothing() -> None:
    assert earned(LOADER, LOADER) == 0
    assert earned(SERVER, SERVER) == 0


def test_each_room_does_what_it_is_nearer_to() -> None:
    assert fitting(WORLD, LEFT) == "dishes"
    assert fitting(WORLD, RIGHT) == "tomatoes"


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_ROOM)
def test_in_one_room_chefs_do_everything_and_do_not_block_each_other_for_ever(name: str) -> None:
    world = CollaborativeCooking(ONE_ROOM[name], ("Ana", "Ben"))
    assert fitting(world, world.starts[0]) == "everything"
    for seed in range(2):
        minds = dict.fromkeys(world.agents, CookingBot(world))
        steps = [*rollout(world, minds, steps=1000, rng=np.random.default_rng(seed))]
        assert sum(step.after.rewards[0] > 0 for step in steps) >= 8


def test_who_has_a_tomato_that_no_pot_takes_puts_it_down_for_a_dish() -> None:
    full = (PotState(FULL, 21, cooked=True), PotState(FULL, 21, cooked=True))
    state = opened(bodies=(PlayerState(LEFT, EAST, TOMATO), PlayerState(RIGHT, WEST, TOMATO)), pots=full)
    minds = dict.fromkeys(WORLD.agents, BOTH)
    steps = [*rollout(WORLD, minds, steps=40, rng=np.random.default_rng(0), state=state)]
    assert any(TOMATO in step.after.counters for step in steps)
    assert sum(step.after.rewards[0] for step in steps) >= 40


def test_who_has_a_dish_that_no_pot_fills_puts_it_down_for_tomatoes() -> None:
    state = opened(bodies=(PlayerState(LEFT, EAST, DISH), PlayerState(RIGHT, WEST)))
    minds: Mapping[str, Cook] = {"player_0": BOTH, "player_1": IdleBot()}
    steps = [*rollout(WORLD, minds, steps=60, rng=np.random.default_rng(0), state=state)]
    assert DISH in steps[20].after.counters
    assert steps[-1].after.pots[0].tomatoes + steps[-1].after.pots[1].tomatoes > 0


def test_soup_on_a_counter_is_delivered() -> None:
    on = tuple(SOUP if cell == WORLD.grid.cell(2, 4) else NOTHING for cell in WORLD.counters)
    minds: Mapping[str, Cook] = {"player_0": CHEF, "player_1": IdleBot()}
    state = opened(bodies=(PlayerState(LEFT, SOUTH), PlayerState(RIGHT, WEST)), counters=on)
    steps = [*rollout(WORLD, minds, steps=10, rng=np.random.default_rng(0), state=state)]
    assert sum(step.after.rewards[0] for step in steps) == 20


def after_waiting(chef: CookingBot, state: CookingState, steps: int) -> CookingBot:
    for _ in range(steps):
        chef = chef.observe(WORLD.observe(state, "player_0"))
    return chef


def test_a_chef_remembers_the_pots_it_does_not_see() -> None:
    cooked = (PotState(FULL, 21, cooked=True), PotState())
    toward, away = PlayerState(LEFT, EAST), PlayerState(LEFT, WEST)
    seen = opened(bodies=(toward, PlayerState(RIGHT, WEST)), pots=cooked)
    hidden = opened(bodies=(away, PlayerState(RIGHT, WEST)), pots=cooked)
    remembering = after_waiting(after_waiting(BOTH, seen, 1), hidden, 1)
    ignorant = after_waiting(BOTH, hidden, 1)
    assert remembering.memory is not None
    assert ignorant.memory is not None
    assert remembering.memory.view == ignorant.memory.view
    assert remembering.act() != ignorant.act()  # one goes for a dish, the other for a tomato


def test_a_chef_without_help_begins_to_do_everything_and_stops_when_helped() -> None:
    state = opened(bodies=(PlayerState(LEFT, EAST), PlayerState(RIGHT, WEST)))
    hopeful, alone = after_waiting(CHEF, state, PATIENCE - 1), after_waiting(CHEF, state, PATIENCE)
    assert hopeful.act() == after_waiting(SERVER, state, 1).act()
    assert alone.act() == after_waiting(BOTH, state, 1).act()
    assert hopeful.act() != alone.act()
    for help_seen in (state._replace(pots=(PotState(1), PotState())), state._replace(rewards=(20.0, 20.0))):
        assert after_waiting(alone, help_seen, 1).act() == hopeful.act()


def test_who_is_close_to_somebody_in_its_own_room_does_just_anything_at_times() -> None:
    world = CollaborativeCooking(("######", "OPP  C", "#D##T#"), ("Ana", "Ben"))
    alone, close = world.grid.cell(4, 1), world.grid.cell(2, 1)
    for cell, slips in ((alone, 0.0), (close, 0.2)):
        bodies = PlayerState(cell, WEST), PlayerState(world.starts[0], NORTH)
        state = world.start(np.random.default_rng(0))._replace(bodies=bodies)
        habit = CookingBot(world).observe(world.observe(state, "Ana")).act()
        assert np.exp(min(habit.log_prob(action) for action in ACTIONS)) == pytest.approx(slips / 8)


def test_a_chef_is_a_value() -> None:
    view = WORLD.observe(opened(), "player_0")
    assert CHEF.observe(view) == CookingBot(cooking_asymmetric()).observe(view)
    assert len({CHEF.observe(view), CHEF.observe(view), CHEF}) == 2
    assert CHEF.memory is None


def test_before_it_has_seen_anything_a_chef_does_nothing() -> None:
    assert CHEF.act().support == ("noop",)


def test_slips_are_any_of_the_eight_actions() -> None:
    state = opened()
    meant = CHEF.observe(WORLD.observe(state, "player_0")).act().support[0]
    habit = semi_skilled(WORLD).observe(WORLD.observe(state, "player_0")).act()
    odds = {action: np.exp(habit.log_prob(action)) for action in ACTIONS}
    assert odds == pytest.approx({a: 0.3 / 8 + 0.7 * (a == meant) for a in ACTIONS})


def test_an_idler_does_nothing() -> None:
    idler = IdleBot().observe(WORLD.observe(opened(), "player_0"))
    assert (idler, idler.act().support) == (IdleBot(), ("noop",))
