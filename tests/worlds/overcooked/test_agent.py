"""Cooks: their choices, blocked ways, when they are done, their success, and their beliefs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cooks import cook, place, random_play, small_kitchen, steps_until_done
from kitchens import holding, kitchen, kitchens, thing
from otherminds.mind import WithErrand, without_finished_errand
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.kitchen import NOTHING, PLATE, parts
from otherminds.worlds.overcooked.planner import CookGoal, OvercookedPlanner, Pass, Pickup
from otherminds.worlds.overcooked.rules import ACTIONS, UNSEEN, KitchenView, Overcooked, State
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


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_alone_it_delivers_in_the_steps_that_its_costs_promise(seed: int) -> None:
    world = small_kitchen(seed, spare="o-")
    mind = seen(world, "SimpleTomato")
    cost = mind.planner.values("SimpleTomato", 0, world.on)[world.cells[0]]
    if cost < 100:
        took = steps_until_done(world, [cook(world, "SimpleTomato")], generator(seed), cost)
        assert took is not None
        assert took <= cost


@pytest.mark.slow
def test_two_cooks_nearly_always_finish_where_there_is_enough_for_both() -> None:
    taken = [two_cooks(seed) for seed in range(40)]
    able = [took for able, took in taken if able]
    assert len(able) > 20
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


# What is imagined of kitchens that are partly seen: seen is believed, parts are conserved, the rest is chance.


some = kitchens(sides=(3, 6), agents=(1, 3))
seeds = st.integers(0, 10**6)
TOMATO, LETTUCE = thing("fresh tomato"), thing("fresh lettuce")
Look = tuple[State | None, KitchenView, State]


def sampler(world: Overcooked) -> BeliefSampler:
    return BeliefSampler(world.layout, world.items)


def looks(world: Overcooked, seed: int, i: int = 0, steps: int = 15) -> Iterator[Look]:
    """What agent i believes before, sees, and believes then, all through a random play."""
    before, imagine = None, sampler(world)
    for state in random_play(world, seed, steps):
        view = world.observe(state, world.agents[i])
        after = imagine.update(before, view, i, seed)
        yield before, view, after
        before = after


def kinds(things: Sequence[int]) -> Counter[str]:
    return Counter(part.split()[-1] for one in things if one > 0 for part in parts(one))


def believed(state: State) -> Counter[str]:
    return kinds((*state.on, *state.hands, *(dish for dishes in state.delivered for dish in dishes)))


def spots(state: State | KitchenView) -> tuple[int, ...]:
    return state.on + state.hands


def usable(world: Overcooked) -> list[int]:
    return [k for k in range(len(world.on)) if world.layout.beside[k]]


# Through random play


@pytest.mark.slow
@given(some, seeds)
def test_what_is_seen_is_believed(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        assert all(sees in (UNSEEN, takes) for sees, takes in zip(spots(view), spots(after), strict=True))
        assert all(sees in (UNSEEN, takes) for sees, takes in zip(view.cells, after.cells, strict=True))
        assert all(sees in (None, takes) for sees, takes in zip(view.delivered, after.delivered, strict=True))
        assert after.served == 0
        if before is None:
            assert not any(d for d, sees in zip(after.delivered, view.delivered, strict=True) if sees is None)


@pytest.mark.slow
@given(some, seeds)
def test_parts_are_conserved_as_long_as_there_is_room(world: Overcooked, seed: int) -> None:
    room = True
    for _, view, after in looks(world, seed):
        found = believed(after)
        assert all(found[kind] <= world.stock[kind] for kind in found)
        room &= any(view.on[k] == UNSEEN and not after.on[k] for k in usable(world) if k not in world.layout.boards)
        if room:
            assert found == world.stock


@pytest.mark.slow
@given(some, seeds)
def test_who_is_not_seen_is_somewhere_out_of_sight(world: Overcooked, seed: int) -> None:
    sight = world.layout.sight
    for before, view, after in looks(world, seed):
        for i, cell in enumerate(view.cells):
            if cell == UNSEEN:
                assert not sight[after.cells[i]] & sight[view.cells[0]]
                assert world.layout.grid.is_floor(after.cells[i])
                if before is not None and not sight[before.cells[i]] & sight[view.cells[0]]:
                    assert after.cells[i] == before.cells[i]


@pytest.mark.slow
@given(some, seeds)
def test_nothing_is_imagined_where_nobody_can_put_it(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        hidden = [k for k in range(len(world.on)) if view.on[k] == UNSEEN and after.on[k]]
        assert set(hidden) <= set(usable(world))
        if before is None:
            assert not world.layout.boards & set(hidden)
            assert all(hand in (UNSEEN, takes) for hand, takes in zip(view.hands, after.hands, strict=True))
            assert not any(after.hands[i] for i, cell in enumerate(view.cells) if cell == UNSEEN)


@pytest.mark.slow
@given(some, seeds)
def test_what_is_out_of_sight_is_remembered_if_what_is_seen_accounts_for_itself(world: Overcooked, seed: int) -> None:
    for before, view, after in looks(world, seed):
        if before is not None and accounts_for_itself(before, view):
            hidden = [k for k, sees in enumerate(spots(view)) if sees == UNSEEN]
            assert [spots(after)[k] for k in hidden] == [spots(before)[k] for k in hidden]
        if before is not None:
            unseen = [d for d, sees in enumerate(view.delivered) if sees is None]
            assert [after.delivered[d] for d in unseen] == [before.delivered[d] for d in unseen]


def accounts_for_itself(before: State, view: KitchenView) -> bool:
    """Whether as many of each kind are seen as were believed to be in the same places."""
    seen = [k for k, sees in enumerate(spots(view)) if sees != UNSEEN]
    dishes = [d for d, sees in enumerate(view.delivered) if sees is not None]
    were = [*(spots(before)[k] for k in seen), *(dish for d in dishes for dish in before.delivered[d])]
    are = [*(spots(view)[k] for k in seen), *(dish for d in dishes for dish in view.delivered[d] or ())]
    return kinds(were) == kinds(are)


@pytest.mark.slow
@settings(max_examples=25)
@given(some, seeds)
def test_no_more_changes_out_of_sight_than_is_needed(world: Overcooked, seed: int) -> None:
    """Every part that is lost or found changes one hidden thing at the most."""
    for before, view, after in looks(world, seed):
        if before is not None:
            pairs = list(zip(spots(before), spots(after), spots(view), strict=True))
            changed = sum(old != new for old, new, sees in pairs if sees == UNSEEN)
            news = [abs(n) for n in difference(believed_there(before, view), believed_there(after, view)).values()]
            assert changed <= sum(news)


def believed_there(state: State, view: KitchenView) -> Counter[str]:
    """The kinds that are taken to be where this view looks."""
    seen = [takes for takes, sees in zip(spots(state), spots(view), strict=True) if sees != UNSEEN]
    shown = [d for d, sees in zip(state.delivered, view.delivered, strict=True) if sees is not None]
    return kinds([*seen, *(dish for dishes in shown for dish in dishes)])


def difference(one: Counter[str], other: Counter[str]) -> dict[str, int]:
    return {kind: one[kind] - other[kind] for kind in one | other}


@pytest.mark.slow
@given(some, seeds)
def test_the_same_sight_and_seed_give_the_same_kitchen(world: Overcooked, seed: int) -> None:
    assert list(looks(world, seed)) == list(looks(world, seed))


def test_looking_again_in_another_order_changes_nothing() -> None:
    view = TWO_ROOMS.observe(TWO_ROOMS.initial, "Ana")
    one, other = sampler(TWO_ROOMS), sampler(TWO_ROOMS)
    forwards = [one.update(None, view, 0, seed) for seed in range(30)]
    backwards = [other.update(None, view, 0, seed) for seed in reversed(range(30))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 5


# What is likely

TWO_ROOMS = kitchen("#-----#", "-1 D  -", "- l# 2/", "#--#-t#")
HIDDEN = [place(TWO_ROOMS, *at) for at in ((3, 0), (4, 0), (5, 0), (6, 1), (4, 3), (5, 3))]


@pytest.mark.slow
def test_at_first_everything_is_as_likely_to_lie_on_any_counter_out_of_sight() -> None:
    view, imagine = TWO_ROOMS.observe(TWO_ROOMS.initial, "Ana"), sampler(TWO_ROOMS)
    found = [imagine.update(None, view, 0, seed) for seed in range(4000)]
    there = [state.on.index(TOMATO) for state in found]
    assert set(there) == set(HIDDEN)
    assert stats.chisquare([there.count(k) for k in HIDDEN]).pvalue > 0.01
    people = [state.cells[1] for state in found]
    cells = [TWO_ROOMS.layout.grid.cell(x, y) for x in (4, 5) for y in (1, 2)]
    assert set(people) == set(cells)
    assert stats.chisquare([people.count(cell) for cell in cells]).pvalue > 0.01


@pytest.mark.slow
def test_two_things_are_as_likely_to_lie_in_any_two_places() -> None:
    world = kitchen("#-----#", "-1 D  -", "- l# 2/", "#--#pt#")
    view, imagine = world.observe(world.initial, "Ana"), sampler(world)
    found = [imagine.update(None, view, 0, seed).on for seed in range(6000)]
    there = Counter((on.index(TOMATO), on.index(PLATE)) for on in found)
    assert set(there) == {(a, b) for a in HIDDEN for b in HIDDEN if a != b}
    assert stats.chisquare(list(there.values())).pvalue > 0.01


@pytest.mark.slow
def test_what_is_not_where_it_was_is_as_likely_to_be_anywhere_out_of_sight() -> None:
    """Boards and hands count then, too."""
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    on = tuple(
        TOMATO if k == place(world, 1, 0) else LETTUCE if there == LETTUCE else 0 for k, there in enumerate(world.on)
    )
    before = world.initial._replace(on=on)
    gone = world.observe(before._replace(on=tuple(0 if there == TOMATO else there for there in on)), "Ana")
    found = [imagine.update(before, gone, 0, seed) for seed in range(4000)]
    there = Counter(spots(state).index(TOMATO) for state in found)
    board, hand = place(world, 6, 2), len(world.on) + 1
    assert set(there) == {*HIDDEN, board, hand}
    assert stats.chisquare(list(there.values())).pvalue > 0.01


@pytest.mark.slow
def test_of_two_alike_out_of_sight_either_may_be_the_one_that_has_turned_up() -> None:
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    on = tuple(TOMATO if k in HIDDEN[:2] else LETTUCE if there == LETTUCE else 0 for k, there in enumerate(world.on))
    before = world.initial._replace(on=on)
    state = before._replace(hands=(TOMATO, 0))
    found = [imagine.update(before, world.observe(state, "Ana"), 0, seed) for seed in range(2000)]
    left = Counter(state.on.index(TOMATO) for state in found)
    assert set(left) == set(HIDDEN[:2])
    assert all(state.on.count(TOMATO) == 1 for state in found)
    assert stats.chisquare(list(left.values())).pvalue > 0.01


# By hand


def test_who_remembers_a_room_knows_what_is_there() -> None:
    world, imagine = TWO_ROOMS, sampler(TWO_ROOMS)
    door = world.initial._replace(cells=(world.layout.grid.cell(3, 1), world.cells[1]))
    seen = imagine.update(None, world.observe(door, "Ana"), 0, 0)
    assert seen.on == world.on
    assert imagine.update(seen, world.observe(world.initial, "Ana"), 0, 0) == world.initial


def test_a_food_that_has_been_chopped_in_sight_is_not_looked_for_elsewhere() -> None:
    world = kitchen("-t---#", "/1 - 2", "---###")
    imagine = sampler(world)
    first = imagine.update(None, world.observe(world.initial, "Ana"), 0, 0)
    chopped = world.initial._replace(on=(0,) * len(world.on), hands=(thing("chopped tomato"), 0))
    after = imagine.update(first, world.observe(chopped, "Ana"), 0, 0)
    assert believed(after) == {"tomato": 1}
    assert after.hands == (thing("chopped tomato"), 0)


def test_a_dish_seen_delivered_is_not_looked_for_and_one_that_has_gone_is() -> None:
    world = kitchen("-p-*-#", "-1   D", "--T--#")
    dish = thing("chopped tomato, plate")
    state = world.initial._replace(on=(0,) * len(world.on), delivered=((dish,),))
    imagine = sampler(world)
    first = imagine.update(None, world.observe(world.initial, "Ana"), 0, 0)
    after = imagine.update(first, world.observe(state, "Ana"), 0, 0)
    assert after == state


@pytest.mark.parametrize("seed", range(5))
def test_where_there_is_no_room_for_it_nothing_is_imagined(seed: int) -> None:
    world = kitchen("####", "#1-t", "####")
    first = sampler(world).update(None, world.observe(world.initial, "Ana"), 0, seed)
    assert first.on.count(NOTHING) == len(world.on)
