"""Subgoals in a kitchen: which are refused, how they are carried out, and what is said of what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hypothetical_minds import Told
from otherminds.language.asking import Asker
from otherminds.papers.hypothetical_minds.verbal.cook_body import BLOCKED, CookBody
from otherminds.papers.hypothetical_minds.verbal.cook_subgoals import PATIENCE
from otherminds.papers.hypothetical_minds.verbal.plan_follower import PAUSE
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import SOUP, CollaborativeCooking, CookingState, PotState
from speaking_cooks import CORRIDOR, ROOM, kitchen_of, moment, play

WORLD = kitchen_of(*ROOM)
ASIDE = "6 1 E"
READY = PotState(3, 4, True)
Subgoal = Mapping[str, Any]


def use(x: int, y: int) -> Subgoal:
    return {"do": "interact", "x": x, "y": y}


def go(x: int, y: int) -> Subgoal:
    return {"do": "move_to", "x": x, "y": y}


def wait(x: int, y: int, until: str = "ready") -> Subgoal:
    return {"do": "wait", "x": x, "y": y, "until": until}


def initial(told: Told, world: CollaborativeCooking = WORLD) -> CookBody:
    return CookBody(asker=Asker(told.model, "episode 0"), world=world, me=0, purpose="Cook.")


def plans(*found: Sequence[Subgoal]) -> Told:
    return Told({"subgoals": [{"plan": plan} for plan in found]})


def run(body: CookBody, state: CookingState, steps: int) -> tuple[CookBody, CookingState]:
    """Goes on until there is nothing to do, or so many steps are over; plans once, at first."""
    body = body.look(body.world.observe(state, "me"))
    body = body.planned()
    for _ in range(steps):
        if body.action is None:
            break
        state = play(body.world, state, body.act().mode)
        body = body.look(body.world.observe(state, "me"))
    return body, state


def outcomes(body: CookBody) -> list[str]:
    return [] if body.last_plan is None else [*body.last_plan.outcomes]


# What comes of subgoals


@pytest.mark.parametrize(
    ("me", "more", "plan", "outcome"),
    [
        ("2 1 S", {}, use(1, 0), "done, you picked up a tomato"),
        ("2 1 S", {}, use(1, 3), "done, you picked up a dish"),
        ("1 1 S tomato", {}, use(2, 0), "done, you put the tomato in, which makes 1 of 3"),
        ("1 1 S dish", {"pots": [READY]}, use(2, 0), "done, you took the soup out"),
        ("1 1 S soup", {}, use(5, 0), "done, you delivered the soup"),
        ("1 1 S dish", {}, use(3, 0), "done, you put the dish down"),
        ("1 1 S", {"on": {(3, 0): "dish"}}, use(3, 0), "done, you picked up a dish"),
        ("1 1 S", {}, go(6, 2), "done"),
        ("1 1 S", {"pots": [PotState(3)]}, wait(2, 0), "done"),
        ("1 1 S dish", {}, use(1, 0), "failed, your hands were not empty: you hold a dish"),
        ("1 1 S", {}, use(2, 0), "failed, you hold neither a tomato to put in nor a dish to take soup with"),
        ("1 1 S tomato", {"pots": [PotState(3)]}, use(2, 0), "failed, the pot was full"),
        ("1 1 S dish", {"pots": [PotState(2)]}, use(2, 0), "failed, there was no soup in the pot yet"),
        ("1 1 S soup", {"pots": [READY]}, use(2, 0), "failed, you hold soup already"),
        ("1 1 S dish", {}, use(5, 0), "failed, only soup can be delivered, and you hold a dish"),
        ("1 1 S", {}, use(5, 0), "failed, only soup can be delivered, and you hold nothing"),
        ("1 1 S", {}, use(3, 0), "failed, there was nothing there to pick up"),
        ("1 1 S dish", {"on": {(3, 0): "dish"}}, use(3, 0), "failed, the counter was taken"),
        ("1 1 S", {}, wait(3, 0), f"failed, it was not so after {PATIENCE} steps"),
    ],
)
def test_what_came_of_it_is_noted(me: str, more: dict[str, Any], plan: Subgoal, outcome: str) -> None:
    body, _ = run(initial(plans([plan])), moment(WORLD, me, ASIDE, **more), 80)
    assert [line.partition(": ")[2] for line in outcomes(body)] == [outcome]


def test_one_waits_where_one_waits_for_so_many_steps_and_not_more() -> None:
    _, state = run(initial(plans([wait(3, 0)])), moment(WORLD, "3 1 N", ASIDE), 80)
    assert state.t == PATIENCE
    assert state.bodies[0].cell == WORLD.grid.cell(3, 1)


def test_a_soup_is_cooked_and_delivered_by_one_plan_alone() -> None:
    plan = [*[use(1, 0), use(2, 0)] * 2, use(1, 3), wait(2, 0), use(2, 0), use(5, 0)]
    state = moment(WORLD, "4 1 S", ASIDE, pots=[PotState(1)])
    body, _ = run(initial(plans(plan)), state, 100)
    assert body.last_plan is not None
    assert body.last_plan.reward == 20
    assert len(outcomes(body)) == len(plan)
    assert all("done" in line for line in outcomes(body))


def test_ways_are_as_short_as_can_be() -> None:
    """From (1, 2) to below (5, 0) are five steps; the body turns once, uses it, and then sees that it has."""
    _, state = run(initial(plans([use(5, 0)])), moment(WORLD, "1 2 E soup", ASIDE), 80)
    assert state.t == 5 + 1 + 1
    _, state = run(initial(plans([go(6, 2)])), moment(WORLD, "1 2 E", "6 1 N"), 80)
    assert state.t == 7


def test_what_fails_ends_the_plan() -> None:
    told = plans([use(2, 0), use(1, 0)], [use(1, 0)])
    body, _ = run(initial(told), moment(WORLD, "2 1 N", ASIDE), 80)
    assert len(outcomes(body)) == 1
    assert body.queue == ()
    assert body.wants_plan
    later = body.planned()
    assert "interact (2, 0): failed, you hold neither" in told.texts("subgoals")[1]
    assert later.act().mode != "noop"


def test_hands_that_rest_are_waited_for() -> None:
    state = moment(WORLD, "2 1 N dish", ASIDE, pots=[READY])
    me = state.bodies[0]._replace(waits=True)
    body, after = run(initial(plans([use(2, 0)])), state._replace(bodies=(me, state.bodies[1])), 80)
    assert outcomes(body) == ["interact (2, 0): done, you took the soup out"]
    assert after.bodies[0].hand == SOUP
    assert after.t == 2


def test_somebody_in_the_way_is_walked_around_or_waited_for_but_not_for_ever() -> None:
    world = kitchen_of(*CORRIDOR)
    body, state = run(initial(plans([use(4, 1)]), world), moment(world, "1 1 E soup", "3 1 W"), 80)
    assert outcomes(body) == [f"interact (4, 1): failed, the way was blocked by you for {BLOCKED} steps"]
    assert (state.bodies[0].cell, state.t) == (world.grid.cell(1, 1), BLOCKED)
    body, state = run(initial(plans([go(3, 1)]), world), moment(world, "1 1 E soup", "2 1 W"), 80)
    assert outcomes(body) == [f"move_to (3, 1): failed, the way was blocked by you for {BLOCKED} steps"]


# What is refused


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ([use(9, 1)], "is outside the map of 9 columns and 5 rows"),
        ([use(-1, 1)], "is outside the map"),
        ([use(2, 2)], "there is nothing to use"),
        ([use(5, 1)], "is out of your reach"),
        ([go(2, 1)], "is not floor"),
        ([go(6, 2)], "cannot be reached"),
        ([wait(0, 1)], "is neither a pot nor a counter"),
        ([go(2, 2)], "does nothing, as all of it is so already"),
        ([go(2, 2), wait(4, 2, "free")], "does nothing, as all of it is so already"),
        ([], "has 0 subgoals"),
        ([use(0, 1)] * 9, "has 9 subgoals"),
        ([{"do": "interact"}], "Field required"),
        ([{"do": "dance", "x": 1, "y": 1}], "plan.0"),
        ([{**use(0, 1), "why": "so"}], "Extra inputs"),
        ([{"do": "interact", "x": "0", "y": 1}], "valid integer"),
    ],
)
def test_what_makes_no_sense_is_asked_again_with_the_reason(plan: Sequence[Subgoal], why: str) -> None:
    world = cooking_asymmetric()
    told = plans(plan, [use(0, 1)])
    body = CookBody(asker=Asker(told.model), world=world, me=0).look(
        world.observe(moment(world, "2 2 E", "6 2 E"), world.agents[0])
    )
    body = body.planned()
    assert why in told.texts("subgoals")[1]
    assert [said.readable for said in body.exchanges] == [False, True]
    assert [str(subgoal) for subgoal in body.queue] == ["interact (0, 1)"]


def test_without_a_plan_it_stands_still_for_a_while() -> None:
    told = Told({"subgoals": "I would go for tomatoes."})
    body = initial(told).look(WORLD.observe(moment(WORLD, "2 1 N", ASIDE), "me")).planned()
    state = moment(WORLD, "2 1 N", ASIDE)
    for _ in range(PAUSE - 1):
        assert (body.act().support, body.wants_plan) == (("noop",), False)
        state = play(WORLD, state)
        body = body.look(WORLD.observe(state, "me"))
    later = body.look(WORLD.observe(play(WORLD, state), "me"))
    assert later.wants_plan
    assert len(told.asked) == 3


def test_a_plan_can_be_broken_off_and_it_is_said_why() -> None:
    body = initial(plans([use(5, 0)])).look(WORLD.observe(moment(WORLD, "1 1 E", ASIDE), "me")).planned()
    off = body.broken_off("soup was delivered")
    assert outcomes(off) == ["broken off: soup was delivered"]
    assert off.wants_plan
    assert off.last_plan is not None
    assert off.last_plan.broken
    assert off.broken_off("again") == off


def test_the_end_of_the_episode_is_nothing_to_plan_for() -> None:
    world = kitchen_of(*ROOM, steps=2)
    state = moment(world, "2 1 N", ASIDE)
    body = CookBody(asker=Asker(Told({}).model), world=world, me=0)
    for _ in range(3):
        body = body.look(world.observe(state, "me"))
    assert body.over
    assert not body.wants_plan


def test_nothing_is_known_before_the_first_look() -> None:
    with pytest.raises(ValueError, match="not seen anything"):
        _ = initial(plans([])).situation
