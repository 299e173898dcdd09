"""Costs of cooking: against exhaustive search, by hand, within bounds, and with waiting for help."""

from __future__ import annotations

from itertools import islice, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooks import FOODS_OF, SIMPLE, Alone, anywhere, cook, follow, place, shuffled, small_kitchen
from kitchens import holding, kitchen, thing
from otherminds.errors import InputError
from otherminds.planning.shortest_paths import UNREACHABLE
from otherminds.worlds.overcooked import planner as overcooked_planner
from otherminds.worlds.overcooked.kitchen import RECIPES
from otherminds.worlds.overcooked.planner import IN_HAND, WAITING_COST, CookGoal, OvercookedPlanner, Pass, Pickup
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked, State

seeds = st.integers(0, 10**6)
spares = st.sampled_from(("", "-", "--", "o-", "l--", "t-", "/-", "p--", "oo-", "tt--", "ool--", "-----"))
FEW = {"SimpleTomato": 200, "SimpleLettuce": 200, "SimpleOnion": 200, "Salad": 2000, "OnionSalad": 10000}
TOMATO, PLATE = thing("fresh tomato"), thing("plate")


def value(world: Overcooked, planner: OvercookedPlanner, aim: CookGoal, state: State, i: int = 0) -> int:
    return planner.values(aim, state.hands[i], state.on)[state.cells[i]]


def costs(world: Overcooked, aim: CookGoal, state: State, planner: OvercookedPlanner | None = None) -> dict[str, int]:
    found = (planner or OvercookedPlanner(world.layout)).action_costs(aim, state.cells[0], state.hands[0], state.on)
    return dict(zip(ACTIONS, found, strict=True))


# Against trying everything


@pytest.mark.parametrize("seed", range(40))
def test_costs_are_never_below_those_of_the_best_way(seed: int) -> None:
    world = small_kitchen(seed, spare=("", "-", "o", "l-", "t")[seed % 5])
    planner, start = OvercookedPlanner(world.layout), shuffled(world, seed)
    alone = Alone(world, start)
    for state in islice((start, *alone.steps), 0, None, 23):
        if not state.served and (cost := value(world, planner, "SimpleTomato", state)) < WAITING_COST:
            assert cost >= alone.steps[state]


@pytest.mark.slow
@given(seeds, st.sampled_from(tuple(RECIPES)), spares)
def test_every_step_of_who_follows_the_costs_brings_the_dish_nearer(seed: int, recipe: str, spare: str) -> None:
    world = small_kitchen(seed, (recipe,), spare, walls="#-")
    check_that_the_dish_comes_nearer(world, recipe, anywhere(seed, shuffled(world, seed), world))


def check_that_the_dish_comes_nearer(world: Overcooked, recipe: str, start: State) -> None:
    planner = OvercookedPlanner(world.layout)
    cost = value(world, planner, recipe, start)
    if cost < WAITING_COST:
        for state in islice(follow(world, planner, recipe, start), 1, None):
            if state.served:
                break
            after = value(world, planner, recipe, state)
            assert 1 <= after < cost
            cost = after
        assert cost == 1


@pytest.mark.parametrize(
    ("rows", "recipe", "hand"),
    [
        (("#o##*#", "t1   -", "#/##p#"), "SimpleTomato", "fresh onion"),
        (("-/o--", "-1  *", "-p---"), "SimpleTomato", "fresh tomato"),
        (("-/l--", "l1  -", "-p  t", "--o*-"), "OnionSalad", "fresh lettuce"),
        (("#o##*#", "t1   -", "#/##p#"), "SimpleTomato", "chopped lettuce"),
    ],
    ids=["useless and fresh", "of use", "one of two", "useless and chopped"],
)
def test_nobody_gets_stuck_where_the_nearest_counter_is_taken(rows: tuple[str, ...], recipe: str, hand: str) -> None:
    world = kitchen(*rows, recipes=(recipe,))
    start = holding(world, hand)
    assert value(world, OvercookedPlanner(world.layout), recipe, start) < WAITING_COST
    check_that_the_dish_comes_nearer(world, recipe, start)


def test_nobody_gets_stuck_who_has_to_make_room_twice() -> None:
    """The onion and then the plate on the board have to be put somewhere, and the nearest place is the same."""
    world = kitchen("--*t", "/ 1-", "-  -", "-t--")
    start = put(holding(world, "chopped onion"), {place(world, 0, 1): PLATE})
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", start) < WAITING_COST
    check_that_the_dish_comes_nearer(world, "SimpleTomato", start)


@pytest.mark.slow
def test_what_lies_on_counters_near_a_board_is_in_the_way_of_what_is_put_down_there() -> None:
    world = kitchen("-----", "-   -", "/   -", "L  1*", "--t--")
    state = world.initial._replace(on=tuple(PLATE if k in world.layout.boards else t for k, t in enumerate(world.on)))
    best = Alone(world, state).steps[state]
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", state) >= best


@pytest.mark.slow
def test_from_the_start_costs_are_nearly_always_the_best_possible() -> None:
    exact = [best_from_the_start(seed) for seed in range(25)]
    found = [cost == best for cost, best in exact if best < UNREACHABLE]
    assert len(found) > 12
    assert sum(found) / len(found) >= 0.95


def best_from_the_start(seed: int) -> tuple[int, int]:
    world = small_kitchen(seed, spare=("-", "--", "o-", "l--")[seed % 4])
    best = Alone(world, world.initial).steps.get(world.initial, UNREACHABLE)
    cost = value(world, OvercookedPlanner(world.layout), "SimpleTomato", world.initial)
    assert cost >= min(best, WAITING_COST)
    return cost, best


@pytest.mark.slow
@settings(max_examples=20)
@given(seeds, st.sampled_from(tuple(RECIPES)), spares)
def test_no_action_is_worse_than_its_cost_says_and_the_best_is_no_worse_than_the_value(
    seed: int, recipe: str, spare: str
) -> None:
    world = small_kitchen(seed, (recipe,), spare, walls="#-")
    planner, start = OvercookedPlanner(world.layout), shuffled(world, seed)
    for cell in world.layout.grid.cells():
        state = start._replace(cells=(cell,))
        cost = value(world, planner, recipe, state)
        found = costs(world, recipe, state, planner)
        assert found["stay"] == 1 + cost
        if cost < WAITING_COST:
            assert min(found.values()) <= cost
        for action, q in found.items():
            after = world.advance(state, (action,))
            if after.served or not any(after.delivered):
                assert q == 1 + (0 if after.served else value(world, planner, recipe, after))


def test_by_hand() -> None:
    world = kitchen("-----", "t1  /", "p   -", "--*--")
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", world.initial) == 10
    assert costs(world, "SimpleTomato", world.initial) == {"left": 10, "up": 11, "stay": 11, "right": 12, "down": 12}
    chopped = holding(world, "chopped tomato")._replace(cells=(world.layout.grid.cell(3, 1),))
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", chopped) == 6
    dish = holding(world, "chopped tomato, plate")
    assert costs(world, "SimpleTomato", dish) == {"up": 14, "down": 3, "left": 14, "right": 3, "stay": 4} | {
        "left": 4,
        "up": costs(world, "SimpleTomato", dish)["up"],
    }


def test_to_deliver_something_else_is_no_way_to_cook() -> None:
    world = kitchen("-/---", "*1  -", "--lp-", recipes=("Salad",))
    found = costs(world, "Salad", holding(world, "chopped tomato, plate"))
    assert found["stay"] < WAITING_COST <= found["left"]


# It ends


def kitchens_of(planner: OvercookedPlanner) -> int:
    """The number of kitchens for which the planner has computed costs."""
    size: int = vars(planner)["_reduced_values"].cache_info().currsize
    return size


@pytest.mark.slow
@given(seeds, st.sampled_from(tuple(RECIPES)), st.sampled_from(("", "/", "p", "tlo", "-o", "p/", "t-p", "ll", "oo//")))
def test_few_kitchens_have_to_be_considered(seed: int, recipe: str, spare: str) -> None:
    world = small_kitchen(seed, (recipe,), spare, walls="#-")
    planner, state = OvercookedPlanner(world.layout), shuffled(world, seed)
    planner.values(recipe, state.hands[0], state.on)
    assert kitchens_of(planner) < FEW[recipe]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_few_kitchens_have_to_be_considered_when_all_boards_are_taken(recipe: str) -> None:
    world = kitchen("-------", "-1    *", "-     -", "-     -", "-/-/-/-", recipes=(recipe,))
    foods = [{"t": "fresh tomato", "l": "fresh lettuce", "o": "fresh onion"}[f] for f in FOODS_OF[recipe]]
    for on_boards in islice(permutations([*foods, "plate"], min(3, 1 + len(foods))), 0, None, 5):
        lying = dict(zip(sorted(world.layout.boards), map(thing, on_boards), strict=False))
        rest = [thing(t) for t in (*foods, "plate") if t not in on_boards]
        on = [lying.get(k, 0) for k in range(len(world.on))]
        on[1 : 1 + len(rest)] = rest
        planner = OvercookedPlanner(world.layout)
        assert planner.values(recipe, 0, tuple(on))[world.cells[0]] < WAITING_COST
        assert kitchens_of(planner) < FEW[recipe]


@pytest.mark.parametrize("hand", ["fresh tomato", "fresh onion", "chopped lettuce", "plate"])
@pytest.mark.parametrize("boards", ["---/---", "-/---/-"], ids=["one board", "two boards"])
def test_few_kitchens_have_to_be_considered_with_full_hands_and_full_boards(boards: str, hand: str) -> None:
    """One thing of each kind: first on the boards, then on counters."""
    world = kitchen("-------", "-1    *", "-     -", "-     -", boards, recipes=("OnionSalad",))
    rest = [t for t in ("plate", "fresh lettuce", "fresh tomato", "fresh onion") if t.split()[-1] != hand.split()[-1]]
    spots = [*sorted(world.layout.boards), 2, 3, 4]
    planner, state = (
        OvercookedPlanner(world.layout),
        put(holding(world, hand), dict(zip(spots, map(thing, rest), strict=False))),
    )
    assert planner.values("OnionSalad", state.hands[0], state.on)[state.cells[0]] < WAITING_COST
    assert kitchens_of(planner) < FEW["OnionSalad"]


def put(state: State, there: dict[int, int]) -> State:
    return state._replace(on=tuple(there.get(k, on) for k, on in enumerate(state.on)))


# What does not matter


@pytest.mark.slow
@settings(max_examples=15)
@given(seeds, st.sampled_from(SIMPLE))
def test_costs_do_not_depend_on_what_was_asked_before(seed: int, recipe: str) -> None:
    world = small_kitchen(seed, (recipe,), "o-", walls="#-")
    states = [shuffled(world, seed + n) for n in range(4)]
    shared = OvercookedPlanner(world.layout)
    for state in (*states, *reversed(states)):
        fresh = OvercookedPlanner(world.layout)
        for other in RECIPES:
            assert shared.values(other, state.hands[0], state.on) == fresh.values(other, state.hands[0], state.on)


# Hope

DIVIDED = ("-/----", "-1 - t", "*  -2-", "-p----")


def test_who_lacks_something_walks_to_a_counter_between_rooms_and_hopes() -> None:
    world = kitchen(*DIVIDED)
    planner, cell = OvercookedPlanner(world.layout), world.layout.grid.cell
    found = planner.values("SimpleTomato", 0, world.on)
    assert {at: found[cell(*at)] - WAITING_COST for at in ((1, 1), (2, 1), (1, 2), (2, 2))} == {
        (1, 1): 7,
        (2, 1): 6,
        (1, 2): 8,
        (2, 2): 7,
    }
    there = world.initial._replace(cells=(cell(2, 1), world.cells[1]))
    waiting = {"up": 7, "down": 8, "left": 8, "right": 7, "stay": 7}
    assert costs(world, "SimpleTomato", there, planner) == {a: WAITING_COST + c for a, c in waiting.items()}


def test_who_hopes_stays_there() -> None:
    world = kitchen(*DIVIDED)
    mind, state = cook(world, "SimpleTomato"), world.initial
    for _ in range(6):
        mind = mind.observe(world.observe(state, "Ana"))
        deeds = [action for action, p in mind.act() if p > 0]
        after = {world.advance(state, (deed, "stay")) for deed in deeds}
        assert len(after) == 1
        state = after.pop()
    assert world.layout.grid.xy(state.cells[0]) == (2, 1)
    assert not mind.over


def test_what_is_missing_is_hoped_for_once_for_each_thing() -> None:
    world = kitchen("-/----", "-1 - -", "*  -2t", "-p---l", recipes=("Salad",))
    planner = OvercookedPlanner(world.layout)
    assert 2 * WAITING_COST < value(world, planner, "Salad", world.initial) < 3 * WAITING_COST
    helped = world.initial._replace(on=tuple(TOMATO if k == place(world, 3, 1) else t for k, t in enumerate(world.on)))
    assert WAITING_COST < value(world, planner, "Salad", helped) < 2 * WAITING_COST


def test_a_missing_plate_is_hoped_for_with_the_food_in_hand() -> None:
    world = kitchen("-/----", "t1 - -", "*  -2p", "------")
    chopped = holding(world, "chopped tomato", "")
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", chopped) == WAITING_COST + 5
    assert (
        WAITING_COST < value(world, OvercookedPlanner(world.layout), "SimpleTomato", world.initial) < 2 * WAITING_COST
    )


def test_nothing_is_hoped_for_that_can_be_had() -> None:
    world = kitchen("-/----", "-1 - t", "*  -2-", "-pt---")
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", world.initial) < WAITING_COST


@pytest.mark.parametrize(
    "rows", [("#####", "#1 t#", "#/-p#"), ("-----", "-1 t*", "---p-")], ids=["nowhere to deliver", "no board"]
)
def test_what_cannot_be_cooked_costs_more_than_hope(rows: tuple[str, ...]) -> None:
    world = kitchen(*rows)
    assert value(world, OvercookedPlanner(world.layout), "SimpleTomato", world.initial) >= UNREACHABLE


# Advice

ROOMS = kitchen("------", "t1 - -", "p  -2-", "------")
SHARED = (place(ROOMS, 3, 1), place(ROOMS, 3, 2))
PASS = Pass(0, TOMATO, place(ROOMS, 0, 1), 1, SHARED)
PASS_ON = Pass(0, PLATE, IN_HAND, 1, SHARED)
PICKUP = Pickup(0, TOMATO, place(ROOMS, 0, 1), 1)


@pytest.mark.parametrize(
    ("aim", "hand", "expected"),
    [
        (PASS, "", {(1, 1): 3, (2, 1): 4, (1, 2): 4, (2, 2): 5}),
        (PASS, "fresh tomato", {(1, 1): 2, (2, 1): 1, (1, 2): 2, (2, 2): 1}),
        (PASS, "plate", {(1, 1): 4, (2, 1): 5, (1, 2): 5, (2, 2): 6}),
        (PASS_ON, "plate", {(1, 1): 2, (2, 1): 1, (1, 2): 2, (2, 2): 1}),
        (PASS_ON, "", {(1, 1): UNREACHABLE}),
        (PASS_ON, "fresh onion", {(1, 1): UNREACHABLE}),
        (PICKUP, "", {(1, 1): 1, (2, 1): 2, (1, 2): 2, (2, 2): 3}),
        (PICKUP, "plate", {(1, 1): 2, (2, 1): 3, (1, 2): 3, (2, 2): 4}),
        (PICKUP, "fresh tomato", {(1, 1): UNREACHABLE}),
    ],
)
def test_what_a_favour_costs(aim: CookGoal, hand: str, expected: dict[tuple[int, int], int]) -> None:
    found = OvercookedPlanner(ROOMS.layout).values(aim, thing(hand), ROOMS.on)
    assert {at: found[ROOMS.layout.grid.cell(*at)] for at in expected} == expected


@pytest.mark.parametrize(("rows", "cost"), [(("####", "t1 -", "####"), UNREACHABLE), (("##-#", "t1 -", "####"), 6)])
def test_with_full_hands_another_free_counter_is_needed_first(rows: tuple[str, ...], cost: int) -> None:
    world = kitchen(*rows)
    aim = Pass(0, TOMATO, place(world, 0, 1), 0, (place(world, 3, 1),))
    assert value(world, OvercookedPlanner(world.layout), aim, world.initial) == 3
    assert value(world, OvercookedPlanner(world.layout), aim, holding(world, "plate")) == cost


def test_there_is_nothing_to_be_done_where_all_counters_are_full() -> None:
    on = tuple(PLATE if k in SHARED else there for k, there in enumerate(ROOMS.on))
    assert OvercookedPlanner(ROOMS.layout).values(PASS, TOMATO, on)[ROOMS.cells[0]] >= UNREACHABLE
    assert OvercookedPlanner(ROOMS.layout).values(PASS, 0, on)[ROOMS.cells[0]] >= UNREACHABLE


@pytest.mark.parametrize(
    ("aim", "hand", "at", "expected"),
    [
        (PASS, "", (1, 1), {"left": 3, "right": 5, "stay": 4, "down": 5, "up": 4}),
        (PASS, "fresh tomato", (2, 1), {"right": 1, "left": 3, "stay": 2, "down": 2, "up": UNREACHABLE}),
        (PASS_ON, "plate", (2, 2), {"right": 1, "left": 3, "stay": 2, "up": 2, "down": UNREACHABLE}),
        (PICKUP, "", (1, 1), {"left": 1, "right": 3, "stay": 2, "down": 3, "up": 2}),
    ],
    ids=["fetch", "put down", "hand over", "take"],
)
def test_what_each_action_costs_who_does_a_favour(
    aim: CookGoal, hand: str, at: tuple[int, int], expected: dict[str, int]
) -> None:
    on = tuple(0 if there == thing(hand) else there for there in ROOMS.on)
    state = holding(ROOMS, hand, "")._replace(cells=(ROOMS.layout.grid.cell(*at), ROOMS.cells[1]), on=on)
    found = costs(ROOMS, aim, state)
    assert {action: min(cost, UNREACHABLE) for action, cost in found.items()} == expected


def test_what_is_in_the_way_is_not_put_where_the_favour_is_to_be_put() -> None:
    world = kitchen("#t###", "#1-2#", "# ###", "#-###")
    aim = Pass(0, TOMATO, place(world, 1, 0), 1, (place(world, 2, 1),))
    start = holding(world, "plate", "")
    assert value(world, OvercookedPlanner(world.layout), aim, start) == 5
    check_favour(world, OvercookedPlanner(world.layout), aim, start)


@pytest.mark.slow
@given(seeds, st.sampled_from(("", "o", "--", "t-")))
def test_a_favour_takes_at_most_as_many_steps_as_it_costs(seed: int, spare: str) -> None:
    world = small_kitchen(seed, spare=spare, walls="##-")
    planner, state = OvercookedPlanner(world.layout), shuffled(world, seed)
    counters = tuple(k for k in range(len(world.on)) if k not in world.layout.boards)[seed % 3 :: 3]
    for k, there in enumerate(state.on):
        if there and k not in counters:
            check_favour(world, planner, Pass(0, there, k, 0, counters), state)
            check_favour(world, planner, Pickup(0, there, k, 0), state)


def check_favour(world: Overcooked, planner: OvercookedPlanner, aim: Pass | Pickup, start: State) -> None:
    cost = value(world, planner, aim, start)
    if cost < UNREACHABLE:
        met = [is_met(state, aim) for state in islice(follow(world, planner, aim, start), 1 + cost)]
        assert True in met
        assert not met[0]


def is_met(state: State, aim: Pass | Pickup) -> bool:
    if isinstance(aim, Pickup):
        return state.hands[0] == aim.thing and state.on[aim.place] != aim.thing
    return state.hands[0] != aim.thing and any(state.on[k] == aim.thing for k in aim.counters)


def test_what_would_take_too_many_states_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = kitchen("-t-p-", "- 1 -", "/   *", "-----", recipes=("SimpleTomato",))
    needed = OvercookedPlanner(world.layout)
    known = costs(world, "SimpleTomato", world.initial, needed)
    monkeypatch.setattr(overcooked_planner, "MOST_STATES", needed.expansion.states)
    assert costs(world, "SimpleTomato", world.initial) == known
    monkeypatch.setattr(overcooked_planner, "MOST_STATES", needed.expansion.states - 1)
    with pytest.raises(InputError, match=r"more than \d+ states \(use a smaller map"):
        costs(world, "SimpleTomato", world.initial)
