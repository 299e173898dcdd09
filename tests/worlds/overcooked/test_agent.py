"""Cooks: how they choose, what is in their way, when they are done, and whether they get their dishes cooked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooks import cook, place, small_kitchen, steps_until_done
from kitchens import holding, kitchen, thing
from otherminds.mind import WithErrand, without_finished_errand
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.planner import CookGoal, OvercookedPlanner, Pass, Pickup
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State
from strategies import generator

TOMATO = thing("fresh tomato")
DISH = "chopped tomato, plate"
STRAIGHT = kitchen("-----", "t1  /", "p   -", "--*--")


def seen(world: Overcooked, goal: CookGoal | None, state: State | None = None, i: int = 0, **more: Any) -> Cook:
    return cook(world, goal, i, **more).observe(world.observe(state or world.initial, world.agents[i]))


def chances(mind: Cook) -> dict[str, float]:
    return dict(mind.act())


def only(*actions: str) -> dict[str, float]:
    return {action: (action in actions) / len(actions) for action in ACTIONS}


# Choosing


@pytest.mark.parametrize(("beta", "lapse"), [(1.0, 0.0), (3.0, 0.05), (0.3, 0.5), (0.0, 0.0)])
def test_boltzmann_by_hand(beta: float, lapse: float) -> None:
    costs = {"up": 11, "down": 12, "left": 10, "right": 12, "stay": 11}
    weights = {action: math.exp(-beta * cost) for action, cost in costs.items()}
    expected = {a: (1 - lapse) * w / sum(weights.values()) + lapse / 5 for a, w in weights.items()}
    assert chances(seen(STRAIGHT, "SimpleTomato", beta=beta, lapse=lapse)) == pytest.approx(expected)


def test_with_perfect_rationality_only_the_best_is_chosen() -> None:
    assert chances(seen(STRAIGHT, "SimpleTomato")) == only("left")
    around = holding(STRAIGHT, "fresh tomato")._replace(cells=(STRAIGHT.layout.grid.cell(2, 2),))
    assert chances(seen(STRAIGHT, "SimpleTomato", around)) == pytest.approx(only("up", "right"))
    half = chances(seen(STRAIGHT, "SimpleTomato", around, lapse=0.5))
    assert half == pytest.approx({"up": 0.35, "right": 0.35, "down": 0.1, "left": 0.1, "stay": 0.1})


def test_minds_that_share_their_plans_keep_their_own_manners() -> None:
    shared = OvercookedPlanner(STRAIGHT.layout), BeliefSampler(STRAIGHT.layout, STRAIGHT.items)
    for _ in range(2):
        for goal in ("SimpleTomato", "SimpleOnion", "Salad"):
            for beta in (0.5, 2.0, math.inf):
                for lapse in (0.0, 0.2):
                    alone = seen(STRAIGHT, goal, beta=beta, lapse=lapse)
                    assert seen(STRAIGHT, goal, shared=shared, beta=beta, lapse=lapse).act() == alone.act()


def test_minds_that_share_their_plans_see_for_themselves_who_is_in_the_way() -> None:
    shared = OvercookedPlanner(HALL.layout), BeliefSampler(HALL.layout, HALL.items)
    state = holding(HALL, "fresh tomato", "")._replace(cells=(HALL.layout.grid.cell(2, 1), HALL.cells[1]))
    away = state._replace(cells=(state.cells[0], HALL.layout.grid.cell(1, 2)))
    found = [chances(seen(HALL, "SimpleTomato", there, shared=shared)) for there in (state, away, state)]
    assert found == [pytest.approx(only(*ways)) for ways in (("down",), ("down", "right"), ("down",))]


def test_a_mind_that_has_seen_nothing_knows_nothing() -> None:
    mind = cook(STRAIGHT, "SimpleTomato")
    with pytest.raises(ValueError, match="must observe something"):
        mind.act()
    with pytest.raises(ValueError, match="must observe something"):
        _ = mind.over


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_who_wants_nothing_stays(lapse: float) -> None:
    mind = seen(STRAIGHT, None, lapse=lapse)
    assert mind.over
    assert not mind.reached
    assert chances(mind)["stay"] == pytest.approx(1 - 0.8 * lapse)


def test_who_cannot_get_what_it_wants_stays() -> None:
    world = kitchen("-----", "t1  p", "-----", recipes=("SimpleTomato",))
    mind = seen(world, "SimpleTomato")
    assert mind.over
    assert chances(mind) == only("stay")


def test_observing_makes_another_mind() -> None:
    mind = cook(STRAIGHT, "SimpleTomato")
    once = mind.observe(STRAIGHT.observe(STRAIGHT.initial, "Ana"))
    assert (mind.kitchen, once.kitchen) == (None, STRAIGHT.initial)
    assert once == mind.observe(STRAIGHT.observe(STRAIGHT.initial, "Ana")) != mind
    assert hash(once) == hash(mind.observe(STRAIGHT.observe(STRAIGHT.initial, "Ana")))


# Others in the way


def waiting(world: Overcooked, cells: Sequence[tuple[int, int]], times: int, i: int = 0, **more: Any) -> Cook:
    """The mind of one agent, after a tomato dish, with nothing changing for so many steps."""
    state = world.initial._replace(cells=tuple(world.layout.grid.cell(*at) for at in cells))
    mind = replace(cook(world, "SimpleTomato", **more), agent=i)
    for _ in range(1 + times):
        mind = mind.observe(world.observe(state, world.agents[i]))
    return mind


HALL = kitchen("--*--", "t1 2-", "-   /", "-p---", recipes=("SimpleTomato", None))


def test_somebody_in_the_way_is_waited_for_or_gone_around() -> None:
    state = holding(HALL, "fresh tomato", "")._replace(cells=(HALL.layout.grid.cell(2, 1), HALL.cells[1]))
    assert chances(seen(HALL, "SimpleTomato", state)) == pytest.approx(only("down"))
    narrow = kitchen("######", "t1 2 /", "##p#*#", recipes=("SimpleTomato", None))
    full = holding(narrow, "fresh tomato", "")._replace(cells=(narrow.layout.grid.cell(2, 1), narrow.cells[1]))
    assert chances(seen(narrow, "SimpleTomato", full)) == pytest.approx(only("up", "down", "right", "stay"))


@pytest.mark.parametrize(
    ("i", "times", "patience", "aside"),
    [
        (1, 0, 2, False),
        (1, 1, 2, False),
        (1, 2, 2, True),
        (1, 3, 2, True),
        (1, 0, 0, True),
        (1, 2, 5, False),
        (0, 5, 2, False),
        (0, 6, 2, True),
    ],
)
def test_who_comes_later_loses_patience_first(i: int, times: int, patience: int, aside: bool) -> None:
    mind = waiting(HALL, [(3, 1), (2, 1)][:: 1 if i else -1], times, i, patience=patience)
    assert mind.waited == times
    assert (chances(mind) == pytest.approx(only("left", "down"))) == aside


def test_who_may_be_after_the_same_square_is_in_the_way_too() -> None:
    """Ben, with a tomato, and Ana, two squares away: both may be about to step between them."""
    state = holding(HALL, "", "fresh tomato")._replace(cells=HALL.cells[::-1])
    minds = [seen(HALL, "SimpleTomato", state, 1)]
    for _ in range(2):
        minds.append(minds[-1].observe(HALL.observe(state, "Ben")))
    assert [chances(mind) for mind in minds] == [pytest.approx(only("down", "right"))] * 3
    assert not minds[1]._gives_way()
    assert minds[2]._gives_way()


def test_who_has_given_way_waits_there_as_long_as_it_was_patient() -> None:
    mind = waiting(HALL, [(3, 1), (2, 1)], 2, 1)
    aside = HALL.initial._replace(cells=tuple(HALL.layout.grid.cell(*at) for at in ((3, 1), (2, 2))))
    found = []
    for _ in range(4):
        mind = mind.observe(HALL.observe(aside, "Ben"))
        found.append(mind.waited)
    assert found == [-2, -1, 0, 1]
    assert chances(waiting(HALL, [(3, 1), (2, 1)], 2, 1).observe(HALL.observe(aside, "Ben"))) == only("stay")


def test_who_has_nothing_to_do_makes_room_only_for_who_is_next_to_it() -> None:
    mind = cook(HALL, None)
    for _ in range(4):
        mind = mind.observe(HALL.observe(HALL.initial, "Ana"))
    assert chances(mind) == only("stay")
    beside = HALL.initial._replace(cells=(HALL.layout.grid.cell(2, 1), HALL.cells[1]))
    for _ in range(4):
        mind = mind.observe(HALL.observe(beside, "Ana"))
    assert chances(mind) == pytest.approx(only("left", "down"))


def test_patience_begins_anew_when_something_changes() -> None:
    mind = waiting(HALL, [(2, 1), (3, 1)], 3)
    moved = HALL.initial._replace(cells=tuple(HALL.layout.grid.cell(*at) for at in ((2, 1), (1, 2))))
    assert mind.observe(HALL.observe(moved, "Ana")).waited == 0


def test_who_steps_aside_goes_where_there_is_room_or_stays() -> None:
    mind = waiting(HALL, [(3, 1), (2, 1)], 2, 1, lapse=0.5)
    expected = {a: 0.5 * p + 0.1 for a, p in only("left", "down").items()}
    assert chances(mind) == pytest.approx(expected)
    cornered = kitchen("####", "t12#", "####", recipes=("SimpleOnion", None))
    assert chances(waiting(cornered, [(2, 1), (1, 1)], 2, 1)) == only("stay")


def test_waiting_for_nobody_is_not_impatience() -> None:
    mind = waiting(HALL, [(1, 1), (3, 2)], 9)
    assert chances(mind) == only("left")


# Done

SERVING = kitchen("--*--", "-1 2-", "--*--", recipes=("SimpleTomato", "SimpleTomato"))


def after(world: Overcooked, state: State, *actions: str) -> tuple[Cook, Cook]:
    """Both minds after one step."""
    minds = [seen(world, world.recipes[i], state, i) for i in range(2)]
    then = world.advance(state, actions)
    one, other = (mind.observe(world.observe(then, a)) for mind, a in zip(minds, world.agents, strict=True))
    return one, other


def test_the_goal_is_reached_by_who_delivers_the_dish_alone() -> None:
    state = holding(SERVING, DISH, "")._replace(cells=tuple(SERVING.layout.grid.cell(*at) for at in ((2, 1), (3, 1))))
    ana, ben = after(SERVING, state, "up", "stay")
    assert (ana.reached, ana.over, ben.reached) == (True, True, False)
    assert chances(ana) == only("stay")
    assert replace(ana, waited=0).observe(SERVING.observe(SERVING.initial, "Ana")).reached


@pytest.mark.parametrize(
    ("hand", "action"), [(DISH, "down"), ("chopped onion, plate", "up"), (DISH, "stay"), ("", "up")]
)
def test_nothing_else_is_reaching_it(hand: str, action: str) -> None:
    world = kitchen("--*--", "-1 2-", "-----", recipes=("SimpleTomato", "SimpleTomato"))
    state = holding(world, hand, "")._replace(cells=tuple(world.layout.grid.cell(*at) for at in ((2, 1), (3, 1))))
    ana, ben = after(world, state, action, "stay")
    assert not ana.reached
    assert not ben.reached


def test_who_sees_the_same_dish_delivered_still_has_its_own_to_deliver() -> None:
    state = holding(SERVING, DISH, DISH)._replace(cells=tuple(SERVING.layout.grid.cell(*at) for at in ((1, 1), (2, 1))))
    ana, ben = after(SERVING, state, "stay", "up")
    assert (ana.reached, ben.reached) == (False, True)


def test_a_request_is_over_but_never_reached_when_it_is_met() -> None:
    world = kitchen("######", "t1-2--", "######")
    aim = Pass(0, TOMATO, place(world, 0, 1), 1, (place(world, 2, 1),))
    mind, state = cook(world, aim), world.initial
    told: WithErrand[str] = WithErrand(cook(world, None), mind)
    deeds = []
    for _ in range(4):
        told = told.observe(world.observe(state, "Ana"))
        deeds.append(told.act().sample(generator()))
        state = world.advance(state, (deeds[-1], "stay"))
    assert deeds == ["left", "right", "stay", "stay"]
    assert without_finished_errand(told) == told.mind
    assert not told.reached


def test_a_request_is_over_when_the_thing_is_gone() -> None:
    aim = Pickup(0, TOMATO, place(STRAIGHT, 0, 1), 0)
    assert not seen(STRAIGHT, aim).over
    gone = STRAIGHT.initial._replace(on=tuple(0 if t == TOMATO else t for t in STRAIGHT.on))
    assert seen(STRAIGHT, aim, gone).over


def test_who_is_told_does_that_first_and_then_cooks() -> None:
    world = kitchen("-----", "t1  /", "p   -", "--*-l", recipes=("SimpleTomato",))
    plate = Pickup(0, thing("plate"), place(world, 0, 2), 0)
    told: WithErrand[str] = WithErrand(cook(world, "SimpleTomato"), cook(world, plate))
    state, deeds = world.initial, []
    for _ in range(3):
        told = told.observe(world.observe(state, "Ana"))
        deeds.append(told.act().sample(generator()))
        state = world.advance(state, (deeds[-1],))
    assert deeds[:2] == ["down", "left"]
    assert state != world.initial
    assert without_finished_errand(told.observe(world.observe(state, "Ana"))) != told


# Cooking


@given(st.integers(0, 10**6))
def test_alone_it_delivers_in_the_steps_that_its_costs_promise(seed: int) -> None:
    world = small_kitchen(seed, spare="o-")
    mind = seen(world, "SimpleTomato")
    cost = mind.planner.values("SimpleTomato", 0, world.on)[world.cells[0]]
    if cost < 100:
        took = steps_until_done(world, [cook(world, "SimpleTomato")], generator(seed), cost)
        assert took is not None
        assert took <= cost


def test_two_cooks_nearly_always_finish_where_there_is_enough_for_both() -> None:
    taken = [two_cooks(seed) for seed in range(120)]
    able = [took for able, took in taken if able]
    assert len(able) > 60
    assert sum(took is not None for took in able) / len(able) >= 0.97


def two_cooks(seed: int) -> tuple[bool, int | None]:
    """Whether everything can be had and nobody can be cornered, and how long it takes both to finish."""
    recipes = ("SimpleTomato", "SimpleOnion") if seed % 2 else ("SimpleTomato", "Salad")
    world = small_kitchen(seed, recipes, walls="-")
    shared = OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items)
    inside = [cell for cell in world.layout.grid.cells() if len(world.layout.grid.neighbours[cell]) < 2]
    able = not inside and all(beside for beside, there in zip(world.layout.beside, world.on, strict=False) if there)
    able &= all(shared[0].values(r, 0, world.on)[c] < 100 for r, c in zip(recipes, world.cells, strict=True))
    minds = [cook(world, recipe, i, shared, beta=3.0, lapse=0.05) for i, recipe in enumerate(recipes)]
    return able, steps_until_done(world, minds, generator(seed), 100) if able else None
