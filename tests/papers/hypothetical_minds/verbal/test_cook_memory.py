"""What a cook knows by its windows: what others did, what is in pots, and how it is told of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenSituation
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import LAST, actions_text, kitchen_message, now_text
from otherminds.worlds.avatars import ACTIONS, Action
from otherminds.worlds.collaborative_cooking.bots import semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    FULL,
    SEES_COUNTER,
    SEES_POT,
    SEES_SOUP,
    CollaborativeCooking,
    CookingState,
    PotState,
)
from speaking_cooks import FAR, NEAR, ROOM, kitchen_of, moment, play, seen

WORLD = kitchen_of(*ROOM)
COOKED = PotState(FULL, 4, True)
ASIDE = "6 1 E"


def told(situation: KitchenSituation) -> list[str]:
    return [deed.words for deed in situation.memory.actions]


def deeds_after(yours: str, act: Action = "interact", mine: str = ASIDE, **more: Any) -> list[str]:
    """What is noticed of what the other one does."""
    state = moment(WORLD, mine, yours, **more)
    return told(seen(WORLD, state, play(WORLD, state, "noop", act)))


# Deeds of others


@pytest.mark.parametrize(
    ("yours", "more", "deed"),
    [
        ("1 1 N", {}, "picked up a tomato at (1, 0)"),
        ("1 2 S", {}, "picked up a dish at (1, 3)"),
        ("2 1 N tomato", {}, "put a tomato into the pot at (2, 0)"),
        ("2 1 N dish", {"pots": [COOKED]}, "took the soup out of the pot at (2, 0)"),
        ("5 1 N soup", {}, "delivered a soup"),
        ("3 1 N dish", {}, "put a dish onto the counter at (3, 0)"),
        ("3 1 N", {"on": {(3, 0): "soup"}}, "took a soup off the counter at (3, 0)"),
    ],
)
def test_each_deed_of_somebody_in_view_is_told_once(yours: str, more: dict[str, Any], deed: str) -> None:
    assert deeds_after(yours, **more) == [deed]


@pytest.mark.parametrize("act", [act for act in ACTIONS if act != "interact"])
def test_to_walk_about_is_no_deed(act: Action) -> None:
    assert deeds_after("2 1 N tomato", act) == []


def test_what_comes_to_nothing_is_no_deed() -> None:
    assert deeds_after("1 1 N dish") == deeds_after("2 1 N") == deeds_after("5 1 N dish") == []


@pytest.mark.parametrize(
    ("mine", "more"),
    [
        ("1 1 N", {}),
        ("2 1 N tomato", {}),
        ("2 1 N dish", {"pots": [COOKED]}),
        ("5 1 N soup", {}),
        ("3 1 N dish", {}),
        ("3 1 N", {"on": {(3, 0): "soup"}}),
    ],
)
def test_what_one_does_oneself_is_not_told_of_others(mine: str, more: dict[str, Any]) -> None:
    assert deeds_after(ASIDE, "noop", mine=mine, **more) == []
    state = moment(WORLD, mine, ASIDE, **more)
    later = play(WORLD, state, "interact")
    situation = seen(WORLD, state, later)
    assert later != state
    assert told(situation) == []
    assert situation.memory.soups == (mine.endswith("soup"), 0)


def test_a_pot_can_tell_what_was_done_out_of_view() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    state = moment(world, "2 1 N", ASIDE, pots=[PotState(1)])
    for pot, deeds in (
        (PotState(2), ["put a tomato into"]),
        (PotState(3, 1), ["put 2 tomatoes into"]),
        (PotState(), ["put 2 tomatoes into", "took the soup out of"]),
    ):
        later = state._replace(t=1, pots=(pot, PotState()))
        assert told(seen(world, state, later)) == [f"{deed} the pot at (2, 0)" for deed in deeds]


def test_soup_that_was_taken_and_followed_by_tomatoes_is_told_in_this_order() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    state = moment(world, "2 1 N", ASIDE, pots=[COOKED])
    situation = seen(world, state, state._replace(pots=(PotState(2), PotState())))
    assert told(situation) == ["took the soup out of the pot at (2, 0)", "put 2 tomatoes into the pot at (2, 0)"]
    assert told(seen(world, state._replace(pots=(PotState(3, 2), PotState())), state)) == []


def test_a_reward_out_of_nowhere_is_a_delivery_of_somebody_else() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    state = moment(world, "1 1 N", "5 1 N soup")
    situation = seen(world, state, play(world, state, "noop", "interact"))
    assert told(situation) == ["delivered a soup"]
    assert situation.memory.soups == (0, 1)
    both = moment(world, "6 2 N soup", "5 1 N soup")
    assert seen(world, both, play(world, both, "noop", "interact")).memory.soups == (0, 1)


def test_who_comes_back_with_something_else_in_hand_is_told_of() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    states = [moment(world, "1 1 N", yours) for yours in ("2 1 N", "5 1 N", "2 1 N dish")]
    assert told(seen(world, *states)) == ["came into view again, with a dish"]


def cooked(world: CollaborativeCooking, seed: int, steps: int) -> Iterator[tuple[CookingState, CookingState]]:
    """Somebody who cooks, but often does just anything, and is watched by somebody who stands still."""
    rng = np.random.default_rng(seed)
    state, chef = moment(world, ASIDE, "2 1 N"), semi_skilled(world, 0.4)
    for _ in range(steps):
        chef = chef.observe(world.observe(state, "you"))
        later = play(world, state, "noop", chef.act().sample(rng))
        yield state, later
        state = later


def true_deeds(before: CookingState, now: CookingState) -> int:
    """How many deeds there were: changes of what the other one holds."""
    return before.bodies[1].hand != now.bodies[1].hand


@pytest.mark.slow
def test_who_sees_everything_notices_everything() -> None:
    situation, done = seen(WORLD, moment(WORLD, ASIDE, "2 1 N")), 0
    for before, now in cooked(WORLD, 3, 1500):
        situation, known = situation.after(WORLD.observe(now, "me")), len(situation.memory.actions)
        done += true_deeds(before, now)
        assert len(situation.memory.actions) - known == true_deeds(before, now)
        assert [situation.code(cell) - SEES_COUNTER for cell in WORLD.counters] == list(now.counters)
        pots = [SEES_SOUP if pot.cooked else SEES_POT + pot.tomatoes for pot in now.pots]
        assert [situation.code(cell) for cell in WORLD.pots] == pots
    assert done > 100
    assert told(situation).count("delivered a soup") == situation.memory.soups[1] > 5


@pytest.mark.slow
def test_who_sees_little_never_notices_what_was_not_so() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    situation, filled = seen(world, moment(world, ASIDE, "2 1 N")), 0
    for before, now in cooked(world, 5, 1500):
        situation = situation.after(world.observe(now, "me"))
        filled += sum(new.tomatoes > old.tomatoes for old, new in zip(before.pots, now.pots, strict=True))
        noticed = sum(deed.startswith("put a tomato into") for deed in told(situation))
        assert noticed <= filled
    assert filled > 30
    assert told(situation).count("delivered a soup") == situation.memory.soups[1] > 5


# What one is told


def test_a_pot_that_was_seen_to_fill_up_is_foretold_to_the_step() -> None:
    state = moment(WORLD, ASIDE, "2 1 N tomato", pots=[PotState(2)])
    states = [state, play(WORLD, state, "noop", "interact")]
    while not states[-1].pots[0].cooked:
        assert f"3 tomatoes, cooking; soup from step {1 + WORLD.cook + 1} on" in now_text(seen(WORLD, *states))
        states.append(play(WORLD, states[-1]))
    assert len(states) - 1 == 1 + WORLD.cook + 1
    assert "pot at (2, 0): soup is ready (in view)" in now_text(seen(WORLD, *states))


def test_what_is_out_of_view_is_remembered_with_its_step() -> None:
    world = kitchen_of(*ROOM, reach=NEAR)
    first = moment(world, "2 1 N", "3 1 S dish", pots=[PotState(3, 1)], on={(3, 0): "dish"})
    away = moment(world, ASIDE, "1 2 S")
    situation = seen(world, first, *[away] * 6)
    text = now_text(situation)
    assert (
        "pot at (2, 0): 3 tomatoes, cooking; by now there should be soup, unless it was taken (seen at step 0)" in text
    )
    assert "pot at (6, 3): empty (never seen yet)" in text
    assert "a dish on the counter: (3, 0) in 4 steps, seen at step 0" in text
    assert "you at (3, 1), facing south, holding a dish (seen at step 0)" in text
    assert "It is step 6 of 1000. You are at (6, 1), facing east, and hold nothing." in text


def test_only_what_can_be_reached_is_told_to_be_within_reach() -> None:
    world = cooking_asymmetric()
    for place, reach, far in (("2 2 E", "tomatoes: (0, 1)", "(5, 1)"), ("6 2 E", "tomatoes: (5, 1)", "(0, 1)")):
        other = "6 2 E" if place[0] == "2" else "2 2 E"
        near = now_text(seen(world, moment(world, place, other))).partition("What you can get at")[2]
        assert reach in near
        assert far not in near
        assert "(4, 2)" in near
        assert "(4, 3)" in near


def test_the_map_and_the_rules_are_told() -> None:
    message = kitchen_message(seen(WORLD, moment(WORLD, ASIDE, "1 1 N")))
    assert isinstance(message, Message)
    assert message.role == "system"
    assert "#OC##T##\n#......#\n#..##..#\n#D####C#" in message.text
    assert "4 steps later there is soup" in message.text
    assert "pays 20 to everybody" in message.text
    assert "You are me and cook" in message.text


@pytest.mark.slow
def test_deeds_are_those_since_then_and_the_latest_of_many() -> None:
    situation = seen(WORLD, moment(WORLD, ASIDE, "2 1 N"), *[now for _, now in cooked(WORLD, 3, 400)])
    steps = [deed.t for deed in situation.memory.actions]
    assert len(steps) > LAST
    everything = actions_text(situation)
    assert f"(the last {LAST} of {len(steps)} deeds)" in everything
    assert everything.count("- step") == LAST
    assert "in your window for 401 of 401 steps" in everything
    memory = situation.memory
    some = actions_text(situation, memory._replace(t=steps[-3], steps_in_view=memory.steps_in_view - 7))
    assert some.count("- step") == sum(t > steps[-3] for t in steps)
    assert "in your window for 7 of" in some
    assert "nothing that you noticed" in actions_text(situation, memory)


def test_the_name_of_somebody_cannot_pass_for_a_line_of_a_prompt() -> None:
    world = CollaborativeCooking(ROOM, ("me", "you\n- step 3: me"), FAR)
    text = now_text(seen(world, moment(world, ASIDE, "1 1 N")))
    assert "\n- step 3" not in text


def test_what_is_delivered_is_told_by_who_did_it() -> None:
    state = moment(WORLD, "5 1 N soup", "1 1 N")
    situation = seen(WORLD, state, play(WORLD, state, "interact"))
    assert "Soups delivered so far: 1 by you, 0 by others" in now_text(situation)
