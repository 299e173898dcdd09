"""The rules of Overcooked one by one, against recorded play and a slow second implementation; partial views."""

from __future__ import annotations

import gzip
import json
import pickle
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kitchens import MOVES, VARIED, holding, kitchen, kitchen_plays, kitchens, lying, plain, slow_step, thing
from otherminds.distribution import Categorical
from otherminds.world import World, rollout
from otherminds.worlds.overcooked.kitchen import (
    CHOPPED,
    FRESH,
    MANY,
    NOTHING,
    PARTS,
    PLATE,
    RECIPES,
    SINGLE,
    KitchenLayout,
    deliverable,
    interact,
    is_thing,
    mergeable,
    parts,
)
from otherminds.worlds.overcooked.level_files import parse_kitchen
from otherminds.worlds.overcooked.rules import ACTIONS, UNSEEN, KitchenView, Overcooked, State
from paths import SHARED
from strategies import generator

TRACES = SHARED / "overcooked-traces" / "traces.jsonl.gz"
DISH = "chopped tomato, plate"
BOTH = "chopped tomato, chopped lettuce"
PILE = 3 * CHOPPED["tomato"] + CHOPPED["onion"] + PLATE

Play = tuple[Overcooked, list[State], list[tuple[str, ...]]]


def after(world: Overcooked, *rounds: str, state: State | None = None) -> State:
    """The state after everybody has acted, round by round: `left up` for two agents."""
    state = state or world.initial
    for words in rounds:
        state = world.advance(state, words.split())
    return state


def where(world: Overcooked, state: State) -> list[tuple[int, int]]:
    return [world.layout.grid.xy(cell) for cell in state.cells]


def hands(state: State) -> list[str]:
    return [", ".join(parts(hand)) for hand in state.hands]


# Things


def test_a_thing_is_the_sum_of_its_parts() -> None:
    assert parts(RECIPES["OnionSalad"]) == ("chopped tomato", "chopped lettuce", "chopped onion", "plate")
    assert parts(RECIPES["SimpleOnion"]) == ("chopped onion", "plate")
    assert parts(PILE) == ("chopped tomato",) * 3 + ("chopped onion", "plate")
    assert parts(FRESH["lettuce"]) == ("fresh lettuce",)
    assert parts(NOTHING) == ()


def test_every_number_of_parts_can_be_told_apart() -> None:
    piles = {
        a * CHOPPED["tomato"] + b * CHOPPED["lettuce"] + c * PLATE for a in range(16) for b in range(16) for c in (0, 1)
    }
    assert len(piles) == 16 * 16 * 2
    assert max(PARTS.values()) * MANY < 1 << 28


@pytest.mark.parametrize("number", [*SINGLE, *RECIPES.values(), PILE, 15 * CHOPPED["onion"]])
def test_what_can_be_is_a_thing(number: int) -> None:
    assert is_thing(number)


@pytest.mark.parametrize("number", [-1, 0, 2 * PLATE, FRESH["tomato"] + PLATE, 2 * FRESH["onion"], 1 << 28])
def test_what_cannot_be_is_no_thing(number: int) -> None:
    assert not is_thing(number)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("chopped tomato", "plate"),
        ("chopped tomato", "chopped onion"),
        ("chopped tomato", "chopped tomato"),
        (DISH, "chopped lettuce"),
        (DISH, BOTH),
        (BOTH, BOTH),
    ],
)
def test_these_merge(one: str, other: str) -> None:
    assert mergeable(thing(one), thing(other))
    assert mergeable(thing(other), thing(one))
    assert is_thing(thing(one) + thing(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("plate", "plate"),
        (DISH, "plate"),
        (DISH, DISH),
        ("fresh tomato", "plate"),
        ("fresh tomato", "fresh tomato"),
        ("fresh tomato", "fresh onion"),
        ("fresh tomato", "chopped tomato"),
        ("fresh tomato", DISH),
    ],
)
def test_these_do_not_merge(one: str, other: str) -> None:
    assert not mergeable(thing(one), thing(other))
    assert not mergeable(thing(other), thing(one))


@given(st.sampled_from(VARIED), st.sampled_from(VARIED))
def test_what_merges_is_a_thing_and_nothing_else_is(one: int, other: int) -> None:
    assert mergeable(one, other) == is_thing(one + other)


def test_what_can_be_delivered() -> None:
    assert all(deliverable(dish) for dish in (*RECIPES.values(), PILE, thing(BOTH)))
    assert not any(deliverable(single) for single in (*SINGLE, NOTHING))


@pytest.mark.slow
@given(st.sampled_from((NOTHING, *VARIED)), st.sampled_from((NOTHING, *VARIED)), st.booleans())
def test_using_a_counter_loses_nothing(held: int, there: int, board: bool) -> None:
    assert stuff(interact(held, there, board)) == stuff((held, there))


def stuff(things: Any) -> Counter[str]:
    """How many there are of each food, fresh or chopped, and of plates."""
    return Counter(part.split()[-1] for number in things for part in parts(number))


# Walking


@pytest.mark.parametrize(("move", "to"), [("up", (1, 0)), ("down", (1, 2)), ("left", (0, 1)), ("right", (2, 1))])
def test_a_step_leads_one_square_further(move: str, to: tuple[int, int]) -> None:
    world = kitchen("   ", " 1 ", "   ")
    assert where(world, after(world, move)) == [to]


@pytest.mark.parametrize("move", ["up", "down", "left", "right"])
def test_doors_are_walked_through_with_full_hands(move: str) -> None:
    world = kitchen(" D ", "D1D", " D ")
    state = holding(world, DISH)
    assert where(world, after(world, move, state=state)) == [(1 + MOVES[move][0], 1 + MOVES[move][1])]


@pytest.mark.parametrize("move", ["up", "down", "left", "right", "stay"])
@pytest.mark.parametrize(
    "rows", [("1",), ("###", "#1#", "###"), ("---", "-1-", "---"), ("///", "/1/", "///"), ("***", "*1*", "***")]
)
def test_with_free_hands_nothing_happens_at_the_border_a_wall_or_an_empty_place(
    rows: tuple[str, ...], move: str
) -> None:
    world = kitchen(*rows)
    assert after(world, move) == world.initial


# One pair of hands at one place


def at(place: str, *, there: str = "", held: str = "") -> tuple[str, str]:
    """What is in hand and what lies there after using a counter or a board once."""
    world = kitchen(f"{place}1")
    state = holding(world, held)._replace(on=(thing(there),))
    done = after(world, "left", state=state)
    assert done.cells == state.cells
    return hands(done)[0], ", ".join(parts(done.on[0]))


EVERY = ["fresh tomato", "chopped tomato", "plate", BOTH, DISH]


@pytest.mark.parametrize("place", ["-", "/"])
@pytest.mark.parametrize("there", EVERY)
def test_free_hands_pick_up(place: str, there: str) -> None:
    assert at(place, there=there) == (there, "")


@pytest.mark.parametrize("held", EVERY)
def test_anything_is_put_down_on_an_empty_counter(held: str) -> None:
    assert at("-", held=held) == ("", held)


@pytest.mark.parametrize("food", ["tomato", "lettuce", "onion"])
def test_fresh_food_is_chopped_on_an_empty_board_at_once_and_stays_in_hand(food: str) -> None:
    assert at("/", held=f"fresh {food}") == (f"chopped {food}", "")


@pytest.mark.parametrize("held", ["chopped onion", "plate", BOTH, DISH])
def test_anything_else_is_put_down_on_an_empty_board(held: str) -> None:
    assert at("/", held=held) == ("", held)


@pytest.mark.parametrize("place", ["-", "/"])
@pytest.mark.parametrize(
    ("held", "there", "merged"),
    [
        ("chopped tomato", "plate", DISH),
        ("plate", "chopped tomato", DISH),
        ("chopped tomato", "chopped lettuce", BOTH),
        ("chopped tomato", "chopped tomato", "chopped tomato, chopped tomato"),
        (DISH, "chopped lettuce", f"{BOTH}, plate"),
        ("chopped onion", f"{BOTH}, plate", f"{BOTH}, chopped onion, plate"),
    ],
)
def test_what_goes_together_ends_in_the_hand(place: str, held: str, there: str, merged: str) -> None:
    assert at(place, held=held, there=there) == (merged, "")


@pytest.mark.parametrize("place", ["-", "/"])
@pytest.mark.parametrize(
    ("held", "there"),
    [
        ("fresh tomato", "plate"),
        ("plate", "fresh tomato"),
        ("plate", "plate"),
        ("plate", DISH),
        (DISH, DISH),
        ("fresh tomato", "fresh lettuce"),
        ("fresh tomato", "chopped tomato"),
        ("chopped tomato", "fresh tomato"),
    ],
)
def test_what_does_not_go_together_stays_apart_and_blocks_a_board(place: str, held: str, there: str) -> None:
    assert at(place, held=held, there=there) == (held, there)


@pytest.mark.parametrize("dish", [DISH, f"{BOTH}, plate", BOTH, "chopped onion, plate"])
def test_what_is_finished_is_delivered_and_stays_for_ever(dish: str) -> None:
    world = kitchen("*1")
    done = after(world, "left", state=holding(world, dish))
    assert (done.hands, done.delivered) == ((NOTHING,), ((thing(dish),),))
    assert after(world, "left", state=done) == done
    again = after(world, "left", state=done._replace(hands=(RECIPES["SimpleOnion"],)))
    assert again.delivered == (tuple(sorted([thing(dish), RECIPES["SimpleOnion"]])),)


@pytest.mark.parametrize("held", ["", *PARTS])
def test_nothing_unfinished_is_delivered(held: str) -> None:
    world = kitchen("*1")
    state = holding(world, held)
    assert after(world, "left", state=state) == state


def test_a_dish_is_made_from_beginning_to_end() -> None:
    world = kitchen("-t-p-", "/ 1 *", "-----")
    state = after(world, "left", "up", "left", "right", "right", "up", "right")
    assert hands(state) == [""]
    assert world.done(state)
    assert not lying(world, state)


# In each other's way


@pytest.mark.parametrize(
    ("rows", "deeds", "ends"),
    [
        pytest.param(["1 2"], "right left", [(0, 0), (2, 0)], id="both into one square"),
        pytest.param(["12"], "right left", [(0, 0), (1, 0)], id="changing places"),
        pytest.param(["12 "], "right right", [(1, 0), (2, 0)], id="following"),
        pytest.param([" 21"], "left left", [(1, 0), (0, 0)], id="following, the other way"),
        pytest.param(["12 "], "right stay", [(0, 0), (1, 0)], id="into somebody who stays"),
        pytest.param(["21 "], "stay right", [(1, 0), (0, 0)], id="somebody into one who stays"),
        pytest.param(["12#"], "right right", [(0, 0), (1, 0)], id="into somebody at a wall"),
        pytest.param(["1D2"], "right left", [(0, 0), (2, 0)], id="both into one door"),
        pytest.param(["12", "43"], "right down left up", [(1, 0), (1, 1), (0, 1), (0, 0)], id="in a ring"),
        pytest.param(["123 "], "right right right", [(1, 0), (2, 0), (3, 0)], id="in a row"),
        pytest.param(["1 2", "#3#"], "right left up", [(0, 0), (2, 0), (1, 1)], id="three into one square"),
        pytest.param(["123"], "right right stay", [(1, 0), (1, 0), (2, 0)], id="after one who is held up"),
    ],
)
def test_who_gets_where(rows: list[str], deeds: str, ends: list[tuple[int, int]]) -> None:
    world = kitchen(*rows)
    assert where(world, after(world, deeds)) == ends


def test_one_who_walks_into_somebody_at_a_counter_is_held_up_alone() -> None:
    world = kitchen("12t")
    done = after(world, "right right")
    assert (where(world, done), hands(done)) == ([(0, 0), (1, 0)], ["", "fresh tomato"])
    mirrored = kitchen("t12")
    done = after(mirrored, "left left")
    assert (where(mirrored, done), hands(done)) == ([(1, 0), (2, 0)], ["fresh tomato", ""])


def test_of_two_on_one_square_only_the_first_uses_something() -> None:
    world = kitchen("t12t", "##3#")
    both = world.initial._replace(cells=(world.cells[0], world.cells[0], world.cells[2]))
    assert hands(after(world, "left left stay", state=both)) == ["fresh tomato", "", ""]
    assert hands(after(world, "stay left stay", state=both)) == ["", "fresh tomato", ""]


def test_who_is_held_up_does_nothing_and_the_order_of_agents_does_not_matter_for_walking() -> None:
    for deeds in ("right left", "right stay", "stay left"):
        world, turned = kitchen("1 2"), kitchen("2 1")
        swapped = " ".join(reversed(deeds.split()))
        assert where(world, after(world, deeds)) == where(turned, after(turned, swapped))[::-1]


# The order of effects


def race(there: str, first: str, second: str, place: str = "-") -> tuple[list[str], str]:
    """Hands and what lies there after two agents have used one place at once."""
    world = kitchen(f"1{place}2")
    state = holding(world, first, second)._replace(on=(thing(there),))
    done = after(world, "right left", state=state)
    return hands(done), ", ".join(parts(done.on[0]))


@pytest.mark.parametrize(
    ("there", "first", "second", "result"),
    [
        pytest.param("plate", "", "", (["plate", ""], ""), id="the first picks up"),
        pytest.param("", "plate", "", (["", "plate"], ""), id="put down and picked up"),
        pytest.param("", "", "plate", (["", ""], "plate"), id="nothing there yet to pick up"),
        pytest.param("plate", "", "fresh onion", (["plate", ""], "fresh onion"), id="made room for"),
        pytest.param("", "plate", "chopped tomato", (["", DISH], ""), id="merged with what was just put down"),
        pytest.param("", "plate", "fresh tomato", (["", "fresh tomato"], "plate"), id="occupied a moment before"),
        pytest.param("chopped tomato", "plate", "plate", ([DISH, ""], "plate"), id="merged, then put down"),
    ],
)
def test_effects_come_in_the_order_of_the_agents(
    there: str, first: str, second: str, result: tuple[list[str], str]
) -> None:
    assert race(there, first, second) == result


def test_two_chop_on_one_board_at_once_unless_something_is_put_there_first() -> None:
    assert race("", "fresh tomato", "fresh onion", "/") == (["chopped tomato", "chopped onion"], "")
    assert race("", "plate", "fresh onion", "/") == (["", "fresh onion"], "plate")
    assert race("", "fresh onion", "plate", "/") == (["chopped onion", ""], "plate")


# Who is served


def served(world: Overcooked, *dishes: str) -> list[bool]:
    """Who is served after everybody has delivered what they hold, all at once."""
    done = after(world, " ".join(["left"] * len(dishes)), state=holding(world, *dishes))
    return [world.is_served(done, i) for i in range(len(world.agents))]


ONION = "chopped onion, plate"


@pytest.mark.parametrize(
    ("recipes", "dishes", "expected"),
    [
        (("SimpleTomato", "SimpleOnion"), (DISH, ""), [True, False]),
        (("SimpleTomato", "SimpleOnion"), (ONION, ""), [False, True]),
        (("SimpleTomato", "SimpleOnion"), (ONION, DISH), [True, True]),
        (("SimpleTomato", "SimpleOnion"), (f"{BOTH}, plate", BOTH), [False, False]),
        (("SimpleTomato", "Salad"), (f"{BOTH}, plate", ""), [False, True]),
        (("SimpleTomato", "OnionSalad"), (f"{BOTH}, chopped onion, plate", ""), [False, True]),
        (("SimpleTomato", "SimpleTomato"), ("", DISH), [False, True]),
        (("SimpleTomato", "SimpleTomato"), (DISH, ""), [True, False]),
        (("SimpleTomato", "SimpleTomato"), (DISH, DISH), [True, True]),
        ((None, "SimpleTomato"), (DISH, ""), [True, True]),
        (("SimpleTomato", None), ("", ""), [False, True]),
    ],
)
def test_a_delivery_counts_for_who_brings_it_or_else_for_whom_it_is_open(
    recipes: tuple[str | None, ...], dishes: tuple[str, ...], expected: list[bool]
) -> None:
    assert served(kitchen("*1", "*2", recipes=recipes), *dishes) == expected


def test_the_same_recipe_twice_needs_two_deliveries_whoever_makes_them() -> None:
    world = kitchen("*1", "##", "*2", recipes=("SimpleTomato", "SimpleTomato"))
    once = after(world, "left stay", state=holding(world, DISH, ""))
    assert (once.served, world.done(once)) == (0b01, False)
    twice = after(world, "left stay", state=holding(world, DISH, "", state=once))
    assert (twice.served, world.done(twice)) == (0b11, True)


def test_any_delivery_square_counts_and_whoever_is_served_goes_on() -> None:
    world = kitchen("*1*", recipes=("SimpleTomato",))
    for side in ("left", "right"):
        assert world.done(after(world, side, state=holding(world, DISH)))
    done = after(world, "right", state=holding(world, DISH))
    more = after(world, "left", state=holding(world, ONION, state=done))
    assert more.delivered == ((thing(ONION),), (thing(DISH),))
    assert world.done(more)


def test_every_step_costs_one_until_served() -> None:
    world = kitchen("*1", "-2", "-3", recipes=("SimpleTomato", "SimpleOnion"))
    before = holding(world, DISH, "", "")
    then = after(world, "left stay stay", state=before)
    joint = dict.fromkeys(world.agents, "stay")
    assert world.reward(before, joint, then) == {"Ana": -1.0, "Ben": -1.0, "Cem": 0.0}
    assert world.reward(then, joint, then) == {"Ana": 0.0, "Ben": -1.0, "Cem": 0.0}


# Against others


@pytest.mark.skipif(not TRACES.exists(), reason="the recorded transitions of gym-cooking are not here")
def test_recorded_transitions_of_the_original_are_the_same() -> None:
    compared = 0
    for line in gzip.decompress(TRACES.read_bytes()).splitlines():
        record = json.loads(line)
        world = trimmed(parse_kitchen(record["map"], Path(record["level"])).world, len(record["start"]["agents"]))
        moves = {step: name for name, step in MOVES.items()}
        state = world.initial
        assert recorded(world, state) == record["start"]
        for step in record["steps"]:
            state = world.advance(state, [moves[tuple(action)] for action in step["actions"]])
            assert recorded(world, state) == step["after"]
            compared += 1
    assert compared == 3960


def trimmed(world: Overcooked, n: int) -> Overcooked:
    """The same kitchen with the first n agents only."""
    return replace(world, agents=world.agents[:n], cells=world.cells[:n], recipes=world.recipes[:n])


def recorded(world: Overcooked, state: State) -> dict[str, Any]:
    """A state as it is recorded."""

    def names(number: int) -> list[str]:
        return sorted("".join(word.capitalize() for word in part.split()) for part in parts(number))

    places = zip(map(world.layout.grid.xy, world.layout.counters), state.on, strict=True)
    return {
        "agents": [list(cell) for cell in where(world, state)],
        "hands": [names(hand) if hand else None for hand in state.hands],
        "items": sorted([list(place), names(there)] for place, there in places if there),
        "delivered": [names(dish) for dishes in state.delivered for dish in dishes],
    }


@pytest.mark.slow
@given(kitchen_plays())
def test_the_rules_are_those_spelled_out_slowly(play: Play) -> None:
    world, states, deeds = play
    for before, actions, then in zip(states, deeds, states[1:], strict=False):
        assert plain(world, then) == slow_step(world, plain(world, before), actions)


# What no play can break


@pytest.mark.slow
@given(kitchen_plays())
def test_nothing_is_lost_and_nothing_appears(play: Play) -> None:
    world, states, _ = play
    assert stuff(world.initial.on) == stuff(world.items) == Counter(world.stock)
    amounts = [stuff((*s.hands, *s.on, *(dish for dishes in s.delivered for dish in dishes))) for s in states]
    assert all(amount == amounts[0] for amount in amounts)
    assert all(is_thing(number) for s in states for number in (*s.hands, *s.on) if number)


@pytest.mark.slow
@given(kitchen_plays())
def test_chopped_stays_chopped_delivered_stays_delivered_and_served_stays_served(play: Play) -> None:
    _, states, _ = play
    for before, then in pairwise(states):
        assert not before.served & ~then.served
        for old, new in zip(before.delivered, then.delivered, strict=True):
            assert not Counter(old) - Counter(new)
        fresh = [sum(n in FRESH.values() for n in (*s.hands, *s.on)) for s in (before, then)]
        assert fresh[0] >= fresh[1]


@pytest.mark.slow
@given(kitchen_plays(agents=(1, 2)))
def test_two_people_never_share_a_square(play: Play) -> None:
    for state in play[1]:
        assert len(set(state.cells)) == len(state.cells)


@pytest.mark.slow
@given(kitchen_plays())
def test_everybody_may_always_do_everything_and_staying_changes_nothing(play: Play) -> None:
    world, states, _ = play
    for agent in world.agents:
        assert world.actions(states[-1], agent) == ACTIONS
    assert world.advance(states[-1], ["stay"] * len(world.agents)) == states[-1]


@pytest.mark.slow
@given(kitchen_plays())
def test_states_are_values(play: Play) -> None:
    world, states, deeds = play
    copied = pickle.loads(pickle.dumps(world))
    again = [states[0]]
    for actions in deeds:
        again.append(copied.step(again[-1], dict(zip(world.agents, actions, strict=True))))
    assert copied == world
    assert hash(copied) == hash(world)
    assert again == states
    assert [*map(hash, again)] == [*map(hash, states)]


def test_the_way_things_came_about_does_not_matter() -> None:
    world = kitchen("T1L", "-2*", recipes=("Salad",))
    one = after(world, "left stay", "right stay")
    other = after(world, "right stay", "left stay")
    assert one == other
    assert hash(one) == hash(other)
    dishes = holding(world, "", DISH), holding(world, "", ONION)
    first, second = (after(world, "stay right", state=state) for state in dishes)
    both = [
        after(world, "stay right", state=holding(world, "", d, state=s)) for d, s in ((ONION, first), (DISH, second))
    ]
    assert both[0] == both[1]


# What is seen


def seen(world: Overcooked, state: State, agent: str = "Ana") -> set[tuple[int, int]]:
    """The counters whose contents the agent sees."""
    view = world.observe(state, agent)
    places = zip(map(world.layout.grid.xy, world.layout.counters), view.on, strict=True)
    return {place for place, there in places if there != UNSEEN}


ROOMS = (
    "-t---p-",
    "/1 - 2*",
    "-  D  -",
    "*  -  -",
    "-------",
)


def test_people_see_the_room_they_are_in_and_shared_counters_from_both_sides() -> None:
    world = kitchen(*ROOMS)
    left = {(1, 0), (2, 0), (0, 1), (0, 2), (1, 4), (2, 4)}
    right = {(4, 0), (5, 0), (6, 2), (6, 3), (4, 4), (5, 4)}
    shared = {(3, 1), (3, 3)}
    assert seen(world, world.initial, "Ana") == left | shared
    assert seen(world, world.initial, "Ben") == right | shared
    at_door = after(world, "down stay", "right stay", "right stay")
    assert where(world, at_door)[0] == (3, 2)
    assert seen(world, at_door, "Ana") == left | right | shared
    assert seen(world, at_door, "Ben") == right | shared


def test_people_see_who_is_in_a_room_of_theirs_and_what_they_hold() -> None:
    world = kitchen(*ROOMS)
    apart = holding(world, "plate", DISH)
    mine, theirs = world.observe(apart, "Ana"), world.observe(apart, "Ben")
    assert (mine.cells, mine.hands) == ((world.cells[0], UNSEEN), (PLATE, UNSEEN))
    assert (theirs.cells, theirs.hands) == ((UNSEEN, world.cells[1]), (UNSEEN, thing(DISH)))
    at_door = after(world, "down stay", "right stay", "right stay", state=apart)
    for agent in world.agents:
        view = world.observe(at_door, agent)
        assert (view.cells, view.hands) == (at_door.cells, at_door.hands)


def test_deliveries_are_seen_in_their_room() -> None:
    world = kitchen(*ROOMS)
    state = after(world, "stay right", state=holding(world, "", DISH))
    assert state.delivered == ((thing(DISH),), ())
    assert world.observe(state, "Ana").delivered == (None, ())
    assert world.observe(state, "Ben").delivered == ((thing(DISH),), None)


def test_corners_are_seen_by_nobody() -> None:
    world = kitchen("t-", "-1")
    assert seen(world, world.initial) == {(1, 0), (0, 1)}


def test_what_can_only_be_used_from_a_door_is_seen_only_from_there() -> None:
    world = kitchen("##t##", "1 D 2", "##-##")
    assert seen(world, world.initial) == set()
    assert seen(world, after(world, "right stay", "right stay")) == {(2, 0), (2, 2)}


def test_people_at_two_doors_of_one_room_see_each_other() -> None:
    world = kitchen("1D D2")
    state = after(world, "right left")
    assert world.observe(state, "Ana").cells == state.cells
    apart = kitchen("1D D 2")
    state = after(apart, "stay stay")
    assert apart.observe(state, "Ana").cells == (apart.cells[0], UNSEEN)


def test_a_wide_door_is_one_door() -> None:
    world = kitchen("t1", "-D", "-D", "p2")
    assert [len(door) for door in world.layout.doors] == [2]
    assert seen(world, after(world, "down stay")) == {(0, 0), (0, 1), (0, 2), (0, 3)}


@pytest.mark.slow
@given(kitchen_plays(), st.data())
def test_a_view_says_nothing_but_what_is_seen(play: Play, data: st.DataObject) -> None:
    """Whatever is changed out of sight, by the definition of rooms, the view stays the same."""
    world, states, _ = play
    state, agent = states[-1], data.draw(st.sampled_from(world.agents))
    i, near = world.agents.index(agent), rooms_of(world, state.cells[world.agents.index(agent)])
    counters = [bool(touching(world, cell) & near) for cell in world.layout.counters]
    deliveries = [bool(touching(world, cell) & near) for cell in world.layout.deliveries]
    people = [bool(rooms_of(world, cell) & near) for cell in state.cells]
    assert people[i]
    far = [cell for cell in world.layout.grid.cells() if not rooms_of(world, cell) & near]
    some = st.sampled_from((NOTHING, *VARIED))
    changed = State(
        tuple(c if sees else data.draw(st.sampled_from(far)) for c, sees in zip(state.cells, people, strict=True)),
        tuple(h if sees else data.draw(some) for h, sees in zip(state.hands, people, strict=True)),
        tuple(n if sees else data.draw(some) for n, sees in zip(state.on, counters, strict=True)),
        tuple(d if sees else (data.draw(some),) for d, sees in zip(state.delivered, deliveries, strict=True)),
        data.draw(st.integers(0, 2 ** len(world.agents) - 1)),
    )
    view = world.observe(state, agent)
    assert world.observe(changed, agent) == view
    other = replace(world, recipes=(*["OnionSalad"] * len(world.agents),))
    assert other.observe(state, agent) == view
    assert view == KitchenView(
        tuple(c if sees else UNSEEN for c, sees in zip(state.cells, people, strict=True)),
        tuple(h if sees else UNSEEN for h, sees in zip(state.hands, people, strict=True)),
        tuple(n if sees else UNSEEN for n, sees in zip(state.on, counters, strict=True)),
        tuple(d if sees else None for d, sees in zip(state.delivered, deliveries, strict=True)),
    )


def rooms_of(world: Overcooked, cell: int) -> set[frozenset[int]]:
    """The rooms, and the door, in which somebody is who stands here."""
    layout = world.layout
    door = [door for door in layout.doors if cell in door]
    around = {near for at in door for square in at for near in layout.grid.neighbours[square]}
    return {room for room in (*layout.rooms, *door) if cell in room or room & around}


def touching(world: Overcooked, cell: int) -> set[frozenset[int]]:
    """The rooms and doors with a square next to this one."""
    layout = world.layout
    return {room for room in (*layout.rooms, *layout.doors) if room & {*layout.grid.neighbours[cell]}}


# Kitchens


def test_places_rooms_and_ways_of_a_kitchen() -> None:
    layout = kitchen(*ROOMS).layout
    xy = layout.grid.xy
    assert [xy(cell) for cell in layout.deliveries] == [(6, 1), (0, 3)]
    assert [xy(layout.counters[k]) for k in layout.boards] == [(0, 1)]
    assert layout.places == (*layout.counters, *layout.deliveries)
    assert [sorted(map(xy, room)) for room in layout.rooms] == [
        [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)],
        [(4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 3)],
    ]
    assert [[*map(xy, door)] for door in layout.doors] == [[(3, 2)]]
    assert [len(floor) for floor in layout.floors] == [13]
    assert layout.reachable(layout.grid.cell(1, 1)) == frozenset(layout.grid.cells())
    assert {xy(cell) for cell in layout.beside[layout.counters.index(layout.grid.cell(3, 1))]} == {
        (2, 1),
        (4, 1),
        (3, 2),
    }
    assert [xy(layout.counters[k]) for k in layout.shared] == [(3, 1), (3, 3)]


def test_what_is_shared_is_a_counter_inside_the_kitchen_between_two_rooms() -> None:
    layout = kitchen("1-2", " / ", " - ", "-D-", "---").layout
    assert [layout.grid.xy(layout.counters[k]) for k in layout.shared] == [(1, 2)]


def test_things_are_handed_over_where_both_can_walk() -> None:
    layout = kitchen("-------", "-1/  -2", "- - ---", "-   ---", "-------").layout
    left, right = layout.grid.cell(1, 1), layout.grid.cell(6, 1)

    def between(one: int, other: int) -> list[tuple[int, int]]:
        return [layout.grid.xy(layout.counters[k]) for k in layout.between(one, other)]

    assert between(left, left) == [(5, 1), (2, 2), (4, 2), (4, 3)]
    assert between(left, right) == between(right, left) == [(5, 1)]
    assert [layout.grid.xy(layout.counters[k]) for k in layout.shared] == [(5, 1)]


@pytest.mark.slow
@given(kitchens())
def test_rooms_and_doors_are_all_of_the_floor(world: Overcooked) -> None:
    layout = world.layout
    pieces = [*layout.rooms, *layout.doors]
    assert sorted(cell for piece in pieces for cell in piece) == list(layout.grid.cells())
    assert sorted(cell for floor in layout.floors for cell in floor) == list(layout.grid.cells())
    for place, cell in enumerate(layout.places):
        assert all(layout.grid.adjacent(cell, near) for near in layout.beside[place])


@pytest.mark.slow
@given(kitchens())
def test_ahead_is_the_next_square_or_the_place_there(world: Overcooked) -> None:
    layout = world.layout
    for cell in layout.grid.cells():
        x, y = layout.grid.xy(cell)
        for action, (to, place) in layout.ahead[cell].items():
            target = x + MOVES[action][0], y + MOVES[action][1]
            assert layout.grid.xy(to) in (target, (x, y))
            assert place == -1 or (to == cell and layout.grid.xy(layout.places[place]) == target)


@pytest.mark.parametrize("rows", [(), ("",), ("--", "-"), ("a",), ("t ",)])
def test_a_kitchen_is_a_rectangle_of_known_squares(rows: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"rectangle of squares|no kind of square"):
        KitchenLayout(rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("Ana", "Ana")}, "agents need different names"),
        ({"agents": ("Ana",)}, "agents need different names"),
        ({"agents": (), "cells": (), "recipes": ()}, "agents need different names"),
        ({"recipes": ("SimpleTomato",)}, "agents need different names"),
        ({"cells": (0, 0)}, "agents start on floor"),
        ({"cells": (0, 2)}, "agents start on floor"),
        ({"cells": (-1, 1)}, "agents start on floor"),
        ({"recipes": (None, None)}, "there must be a recipe"),
        ({"recipes": ("Soup", None)}, "recipes are SimpleTomato"),
        ({"on": ()}, "a thing, or NOTHING, for every counter"),
        ({"on": (2 * PLATE,)}, "a thing, or NOTHING, for every counter"),
    ],
)
def test_a_world_that_does_not_fit_together_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(kitchen("12-"), **change)


def test_there_is_a_limit_to_how_many_there_are_of_a_kind() -> None:
    world = kitchen("1" + "tT" * 7 + "t-")
    assert world.stock == {"tomato": MANY}
    with pytest.raises(ValueError, match="15 of a kind"):
        kitchen("1" + "tT" * 8)


# As a world


class Stubborn:
    """A mind that always does the same."""

    def __init__(self, action: str) -> None:
        self.action = action

    def observe(self, obs: KitchenView, /) -> Stubborn:
        return self

    def act(self) -> Categorical[str]:
        return Categorical.uniform([self.action])


def test_an_episode_ends_when_every_recipe_is_delivered() -> None:
    rules = kitchen("*1")
    world: World[State, KitchenView, str] = rules
    begin = holding(rules, DISH)
    steps = [*rollout(world, {"Ana": Stubborn("left")}, steps=10, rng=generator(), state=begin)]
    assert len(steps) == 1
    assert world.done(steps[0].after)
    assert world.start(generator()) == rules.initial


def test_what_is_not_an_action_is_refused() -> None:
    world = kitchen("1 2")
    with pytest.raises(ValueError, match="'jump' is not an action: up, down, left, right, stay"):
        world.step(world.initial, {"Ana": "jump", "Ben": "stay"})
    with pytest.raises(ValueError, match="shorter"):
        world.advance(world.initial, ["stay"])
    with pytest.raises(KeyError, match="Ben"):
        world.step(world.initial, {"Ana": "stay"})
