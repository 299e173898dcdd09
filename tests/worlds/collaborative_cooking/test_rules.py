"""Collaborative cooking: golden timelines of its rules, what it shows, and what holds whatever people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.worlds.avatars import ACTIONS, EAST, NORTH, SOUTH, WEST, Action
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import (
    DISH,
    FULL,
    NOTHING,
    SEES_COUNTER,
    SEES_FLOOR,
    SEES_POT,
    SEES_SOUP,
    SEES_TOMATOES,
    SOUP,
    TOMATO,
    CollaborativeCooking,
    CookingOutcome,
    CookingState,
    PlayerState,
    PotState,
    SeenCook,
    player_of,
)

ROOMS = ("#########", "O #T#O# T", "# P C P #", "#   C   #", "###D#D###")
AROUND = ("#######", "#P P P#", "# O#C #", "#     #", "# D T #", "#P P P#", "#######")
ASYMMETRIC = cooking_asymmetric()
SHARED = CollaborativeCooking(AROUND, ("Ana", "Ben", "Cem"))


def body(world: CollaborativeCooking, x: int, y: int, facing: int, hand: int = NOTHING) -> PlayerState:
    return PlayerState(world.grid.cell(x, y), facing, hand)


def scene(
    world: CollaborativeCooking,
    *bodies: PlayerState,
    pots: Sequence[PotState] = (),
    lying: Sequence[tuple[int, int, int]] = (),
) -> CookingState:
    """A state with these people, pots, and things (x, y, thing) on counters."""
    things = {world.grid.cell(x, y): thing for x, y, thing in lying}
    counters = tuple(things.get(cell, NOTHING) for cell in world.counters)
    unpaid = (0.0,) * len(bodies)
    return CookingState(0, bodies, counters, tuple(pots) or (PotState(),) * len(world.pots), unpaid)


def after(
    world: CollaborativeCooking,
    state: CookingState,
    *acts: str,
    movers: Sequence[int] | None = None,
    beamers: Sequence[int] | None = None,
) -> CookingState:
    """One step with these actions, in the order of the players if no other is given."""
    everybody = tuple(range(len(world.agents)))
    joint = {agent: cast("Action", act) for agent, act in zip(world.agents, acts, strict=True)}
    return world.step_with(state, joint, CookingOutcome(tuple(movers or everybody), tuple(beamers or everybody)))


def lying(world: CollaborativeCooking, state: CookingState, x: int, y: int) -> int:
    return dict(zip(world.counters, state.counters, strict=True))[world.grid.cell(x, y)]


def hands(state: CookingState) -> list[int]:
    return [each.hand for each in state.bodies]


# The map


def test_the_bundled_kitchen_is_the_asymmetric_one() -> None:
    assert CollaborativeCooking(ROOMS, ("player_0", "player_1")) == ASYMMETRIC
    assert [ASYMMETRIC.grid.xy(cell) for cell in ASYMMETRIC.pots] == [(4, 2), (4, 3)]
    assert len(ASYMMETRIC.counters) == 23


def test_players_start_at_different_starts_and_may_face_anywhere_with_nothing_done() -> None:
    rng = np.random.default_rng(0)
    starts = [SHARED.start(rng) for _ in range(200)]
    assert all(len({each.cell for each in state.bodies} & {*SHARED.starts}) == 3 for state in starts)
    assert {(each.cell, each.facing) for state in starts for each in state.bodies} == {
        (cell, facing) for cell in SHARED.starts for facing in range(4)
    }
    rest = {(state.t, *hands(state), *state.counters, *state.pots, *state.rewards) for state in starts}
    assert rest == {(0, *[NOTHING] * 3, *[NOTHING] * len(SHARED.counters), PotState(), *[0.0] * 3)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": ("###", "#P")}, "rectangle"),
        ({"rows": ()}, "rectangle"),
        ({"rows": ("###", "#P?", "###")}, "unknown kind of square '\\?'"),
        ({"rows": ("###", "#P ", "###")}, "border"),
        ({"rows": ("#P#", "###", "###")}, "border"),
        ({"agents": ()}, "names"),
        ({"agents": ("Ana", "Ana")}, "names"),
        ({"agents": ("Ana", "Ben", "Cem")}, "place to start"),
        ({"steps": 0}, "a step"),
        ({"cook": -1}, "negative"),
    ],
)
def test_parts_that_do_not_fit_are_no_kitchen(change: dict[str, object], message: str) -> None:
    parts: dict[str, object] = {"rows": ROOMS, "agents": ("Ana", "Ben"), **change}
    with pytest.raises(ValueError, match=message):
        CollaborativeCooking(**parts)  # type: ignore[arg-type]


# Moving


@pytest.mark.parametrize("facing", [NORTH, EAST, SOUTH, WEST])
@pytest.mark.parametrize(("action", "turn"), [("forward", 0), ("step_right", 1), ("backward", 2), ("step_left", 3)])
def test_steps_are_relative_to_the_facing_and_keep_it(facing: int, action: str, turn: int) -> None:
    state = scene(SHARED, body(SHARED, 3, 4, facing), body(SHARED, 1, 1, NORTH), body(SHARED, 5, 1, NORTH))
    dx, dy = ((0, -1), (1, 0), (0, 1), (-1, 0))[(facing + turn) % 4]
    free = SHARED.rows[4 + dy][3 + dx] in " P"
    expected = body(SHARED, 3 + dx, 4 + dy, facing) if free else state.bodies[0]
    assert after(SHARED, state, action, "noop", "noop").bodies == (expected, *state.bodies[1:])


def test_turns_turn_on_the_spot() -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 2, 2, NORTH), body(ASYMMETRIC, 6, 2, NORTH))
    state = after(ASYMMETRIC, state, "turn_left", "turn_right")
    assert state.bodies == (body(ASYMMETRIC, 2, 2, WEST), body(ASYMMETRIC, 6, 2, EAST))


def test_of_two_who_want_one_cell_the_first_gets_it() -> None:
    start = scene(SHARED, body(SHARED, 1, 3, EAST), body(SHARED, 3, 3, WEST), body(SHARED, 5, 5, NORTH))
    first = after(SHARED, start, "forward", "forward", "noop", movers=(0, 1, 2))
    second = after(SHARED, start, "forward", "forward", "noop", movers=(1, 0, 2))
    assert [SHARED.grid.xy(each.cell) for each in first.bodies[:2]] == [(2, 3), (3, 3)]
    assert [SHARED.grid.xy(each.cell) for each in second.bodies[:2]] == [(1, 3), (2, 3)]


def test_a_cell_is_free_once_its_owner_has_left_it() -> None:
    start = scene(SHARED, body(SHARED, 1, 3, EAST), body(SHARED, 2, 3, EAST), body(SHARED, 5, 5, NORTH))
    leader_first = after(SHARED, start, "forward", "forward", "noop", movers=(1, 0, 2))
    leader_last = after(SHARED, start, "forward", "forward", "noop", movers=(0, 1, 2))
    assert [SHARED.grid.xy(each.cell) for each in leader_first.bodies[:2]] == [(2, 3), (3, 3)]
    assert [SHARED.grid.xy(each.cell) for each in leader_last.bodies[:2]] == [(1, 3), (3, 3)]


@pytest.mark.parametrize("movers", [(0, 1, 2), (1, 0, 2)])
def test_nobody_swaps_places(movers: tuple[int, ...]) -> None:
    start = scene(SHARED, body(SHARED, 1, 3, EAST), body(SHARED, 2, 3, WEST), body(SHARED, 5, 5, NORTH))
    assert after(SHARED, start, "forward", "forward", "noop", movers=movers).bodies == start.bodies


# Using things


@pytest.mark.parametrize("hand", [NOTHING, TOMATO, DISH, SOUP])
@pytest.mark.parametrize("there", [NOTHING, TOMATO, DISH, SOUP])
def test_a_counter_gives_to_an_empty_hand_and_takes_on_an_empty_top(hand: int, there: int) -> None:
    start = scene(
        ASYMMETRIC,
        body(ASYMMETRIC, 1, 3, SOUTH, hand),
        body(ASYMMETRIC, 6, 2, NORTH),
        lying=[(1, 4, there)],
    )
    state = after(ASYMMETRIC, start, "interact", "noop")
    one_is_empty = (hand == NOTHING) != (there == NOTHING)
    assert (hands(state)[0], lying(ASYMMETRIC, state, 1, 4)) == ((there, hand) if one_is_empty else (hand, there))


@pytest.mark.parametrize(("x", "y", "facing", "thing"), [(1, 1, WEST, TOMATO), (3, 3, SOUTH, DISH)])
@pytest.mark.parametrize("hand", [NOTHING, TOMATO, DISH, SOUP])
def test_dispensers_give_to_empty_hands_and_take_nothing_back(
    x: int, y: int, facing: int, thing: int, hand: int
) -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, x, y, facing, hand), body(ASYMMETRIC, 6, 2, NORTH))
    state = after(ASYMMETRIC, state, "interact", "noop")
    assert hands(state)[0] == (hand or thing)
    assert set(state.counters) == {NOTHING}


def test_who_has_interacted_cannot_in_the_next_step() -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 1, 3, SOUTH), body(ASYMMETRIC, 6, 2, NORTH), lying=[(1, 4, TOMATO)])
    found = []
    for _ in range(5):
        state = after(ASYMMETRIC, state, "interact", "noop")
        found.append((hands(state)[0], ASYMMETRIC.observe(state, "player_0").ready))
    rest = [(TOMATO, False), (TOMATO, True), (NOTHING, False), (NOTHING, True), (TOMATO, False)]
    assert found == rest


def test_interacting_in_vain_costs_the_next_step_too() -> None:
    bodies = body(ASYMMETRIC, 3, 2, EAST, DISH), body(ASYMMETRIC, 6, 2, NORTH)
    state = scene(ASYMMETRIC, *bodies, pots=[PotState(FULL, 19), PotState()])
    taken = []
    for _ in range(4):
        state = after(ASYMMETRIC, state, "interact", "noop")
        taken.append(hands(state)[0])
    assert taken == [DISH, DISH, SOUP, SOUP]
    # the soup is ready in the second step, in which the interaction of the first still counts


def test_who_waits_may_walk_and_turn() -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 2, 3, SOUTH), body(ASYMMETRIC, 6, 2, NORTH))
    state = after(ASYMMETRIC, after(ASYMMETRIC, state, "interact", "interact"), "backward", "turn_left")
    assert state.bodies == (body(ASYMMETRIC, 2, 2, SOUTH), body(ASYMMETRIC, 6, 2, WEST))


@pytest.mark.parametrize("late", range(18, 24))
def test_soup_can_be_taken_from_twenty_one_steps_after_the_third_tomato(late: int) -> None:
    bodies = body(ASYMMETRIC, 3, 2, EAST, DISH), body(ASYMMETRIC, 5, 2, WEST, TOMATO)
    state = scene(ASYMMETRIC, *bodies, pots=[PotState(2), PotState()])
    state = after(ASYMMETRIC, state, "noop", "interact")
    assert state.pots[0].tomatoes == FULL
    for _ in range(late - 1):
        state = after(ASYMMETRIC, state, "noop", "noop")
    state = after(ASYMMETRIC, state, "interact", "noop")
    assert hands(state) == ([SOUP, NOTHING] if late >= 21 else [DISH, NOTHING])
    assert (state.pots[0] == PotState()) == (late >= 21)


def test_soup_does_not_burn() -> None:
    state = scene(
        ASYMMETRIC, body(ASYMMETRIC, 3, 2, EAST), body(ASYMMETRIC, 6, 2, NORTH), pots=[PotState(FULL), PotState()]
    )
    for _ in range(500):
        state = after(ASYMMETRIC, state, "noop", "noop")
    assert state.pots == (PotState(FULL, 21, cooked=True), PotState())


@pytest.mark.parametrize("cook", [0, 1, 5])
def test_cooking_takes_as_long_as_the_map_says(cook: int) -> None:
    world = CollaborativeCooking(ROOMS, ("Ana", "Ben"), cook=cook)
    state = scene(world, body(world, 3, 2, EAST), body(world, 6, 2, NORTH), pots=[PotState(FULL), PotState()])
    cooked = []
    for _ in range(7):
        state = after(world, state, "noop", "noop")
        cooked.append(state.pots[0].cooked)
    assert cooked.index(True) == cook


@pytest.mark.parametrize(
    ("hand", "pot"),
    [
        (TOMATO, PotState(FULL, 5)),
        (TOMATO, PotState(FULL, 21, cooked=True)),
        (DISH, PotState(2)),
        (DISH, PotState(FULL, 5)),
        (SOUP, PotState(1)),
        (NOTHING, PotState(2)),
        (NOTHING, PotState(FULL, 21, cooked=True)),
    ],
)
def test_a_pot_takes_three_tomatoes_and_gives_only_soup_into_a_dish(hand: int, pot: PotState) -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 3, 2, EAST, hand), body(ASYMMETRIC, 6, 2, NORTH), pots=[pot, PotState()])
    state = after(ASYMMETRIC, state, "interact", "noop")
    assert hands(state)[0] == hand
    assert (state.pots[0].tomatoes, state.pots[0].cooked) == (pot.tomatoes, pot.cooked)


@pytest.mark.parametrize("hand", [NOTHING, TOMATO, DISH, SOUP])
def test_only_soup_is_delivered_and_it_pays_twenty_to_everybody(hand: int) -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 3, 2, NORTH, hand), body(ASYMMETRIC, 6, 2, NORTH))
    paid = after(ASYMMETRIC, state, "interact", "noop")
    assert hands(paid)[0] == (NOTHING if hand == SOUP else hand)
    assert paid.rewards == ((20.0, 20.0) if hand == SOUP else (0.0, 0.0))
    assert after(ASYMMETRIC, paid, "noop", "noop").rewards == (0.0, 0.0)


# Several at one place


def around(x: int, y: int, *hands: int) -> tuple[PlayerState, ...]:
    """Three people who face a square from the north, the west and the south."""
    spots = ((x, y - 1, SOUTH), (x - 1, y, EAST), (x, y + 1, NORTH))
    return tuple(body(SHARED, *spot, hand) for spot, hand in zip(spots, hands, strict=True))


def at_pot(*hands: int) -> tuple[PlayerState, ...]:
    """Three people who face the pot, from the north, the east and the south."""
    spots = ((4, 1, SOUTH), (5, 2, WEST), (4, 3, NORTH))
    return tuple(body(SHARED, *spot, hand) for spot, hand in zip(spots, hands, strict=True))


@pytest.mark.parametrize("beamers", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_a_dispenser_serves_the_first_alone(beamers: tuple[int, ...]) -> None:
    state = scene(SHARED, *around(2, 2, NOTHING, NOTHING, NOTHING))
    state = after(SHARED, state, "interact", "interact", "interact", beamers=beamers)
    assert hands(state) == [TOMATO if i == beamers[0] else NOTHING for i in range(3)]


def test_a_dispenser_serves_nobody_else_even_if_nothing_came_of_the_first() -> None:
    state = scene(SHARED, *around(2, 2, DISH, NOTHING, NOTHING))
    state = after(SHARED, state, "interact", "interact", "interact", beamers=(0, 1, 2))
    assert hands(state) == [DISH, NOTHING, NOTHING]


def test_the_next_step_a_dispenser_serves_again() -> None:
    state = scene(SHARED, *around(2, 2, NOTHING, NOTHING, NOTHING))
    state = after(SHARED, after(SHARED, state, "interact", "noop", "noop"), "noop", "interact", "noop")
    assert hands(state) == [TOMATO, TOMATO, NOTHING]


def test_a_counter_serves_the_first_alone() -> None:
    bodies = (body(SHARED, 3, 1, SOUTH, TOMATO), body(SHARED, 3, 3, NORTH), body(SHARED, 5, 5, NORTH))
    put_first = after(SHARED, scene(SHARED, *bodies), "interact", "interact", "noop", beamers=(0, 1, 2))
    assert (hands(put_first)[:2], lying(SHARED, put_first, 3, 2)) == ([NOTHING, NOTHING], TOMATO)
    put_last = after(SHARED, scene(SHARED, *bodies), "interact", "interact", "noop", beamers=(1, 0, 2))
    assert (hands(put_last)[:2], lying(SHARED, put_last, 3, 2)) == ([TOMATO, NOTHING], NOTHING)


@pytest.mark.parametrize("beamers", [(0, 1, 2), (2, 1, 0)])
def test_a_pot_serves_all_in_turn_until_it_is_full(beamers: tuple[int, ...]) -> None:
    state = scene(SHARED, *at_pot(TOMATO, TOMATO, TOMATO), pots=[PotState(1)])
    state = after(SHARED, state, "interact", "interact", "interact", beamers=beamers)
    assert state.pots == (PotState(FULL),)
    assert hands(state) == [TOMATO if i == beamers[2] else NOTHING for i in range(3)]


def test_whoever_comes_after_the_soup_is_taken_finds_an_empty_pot() -> None:
    state = scene(SHARED, *at_pot(DISH, TOMATO, DISH), pots=[PotState(FULL, 20)])
    soup_first = after(SHARED, state, "interact", "interact", "interact", beamers=(0, 1, 2))
    assert (hands(soup_first), soup_first.pots) == ([SOUP, NOTHING, DISH], (PotState(1),))
    soup_last = after(SHARED, state, "interact", "interact", "interact", beamers=(1, 2, 0))
    assert (hands(soup_last), soup_last.pots) == ([DISH, TOMATO, SOUP], (PotState(),))


def test_two_soups_delivered_at_once_pay_twice() -> None:
    bodies = (body(SHARED, 4, 3, SOUTH, SOUP), body(SHARED, 3, 4, EAST, SOUP), body(SHARED, 4, 5, NORTH))
    state = after(SHARED, scene(SHARED, *bodies), "interact", "interact", "interact")
    assert (hands(state), state.rewards) == ([NOTHING] * 3, (40.0,) * 3)


# Chance and time


def test_an_episode_has_a_thousand_steps() -> None:
    rng = np.random.default_rng(0)
    state, joint = ASYMMETRIC.start(rng), dict.fromkeys(ASYMMETRIC.agents, ACTIONS[0])
    steps = 0
    while not ASYMMETRIC.done(state):
        state, steps = ASYMMETRIC.step(state, joint, rng), steps + 1
    assert steps == 1000


@pytest.mark.parametrize(
    "outcome", [CookingOutcome((0, 0), (0, 1)), CookingOutcome((0, 1), (1,)), CookingOutcome((0, 1, 2), (0, 1))]
)
def test_what_is_no_order_of_the_players_is_refused(outcome: CookingOutcome) -> None:
    state = ASYMMETRIC.start(np.random.default_rng(0))
    with pytest.raises(ValueError, match="every player once"):
        ASYMMETRIC.step_with(state, dict.fromkeys(ASYMMETRIC.agents, ACTIONS[0]), outcome)


def test_what_is_no_action_is_refused() -> None:
    state = ASYMMETRIC.start(np.random.default_rng(0))
    with pytest.raises(ValueError, match="unknown action 'jump'"):
        after(ASYMMETRIC, state, "jump", "noop")


def test_both_orders_are_drawn_uniformly_and_apart() -> None:
    rng = np.random.default_rng(1)
    state = ASYMMETRIC.start(rng)
    joint = dict.fromkeys(ASYMMETRIC.agents, ACTIONS[0])
    drawn = [ASYMMETRIC.chance(state, joint, rng) for _ in range(4000)]
    orders = ((0, 1), (1, 0))
    shares = [drawn.count(CookingOutcome(m, b)) / 4000 for m in orders for b in orders]
    assert shares == pytest.approx([0.25] * 4, abs=0.035)  # 5 standard errors


# What holds whatever people do


def played(world: CollaborativeCooking, seed: int, steps: int = 300) -> Iterator[CookingState]:
    """A random episode of people who interact often."""
    rng = np.random.default_rng(seed)
    state = world.start(rng)
    yield state
    for picks in rng.integers(12, size=(steps, len(world.agents))).tolist():
        acts = [ACTIONS[min(pick, 7)] for pick in picks]
        state = world.step(state, dict(zip(world.agents, acts, strict=True)), rng)
        yield state


worlds = st.sampled_from((ASYMMETRIC, SHARED))
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.slow
@given(worlds, seeds)
def test_nobody_shares_a_cell_and_all_stand_on_floor(world: CollaborativeCooking, seed: int) -> None:
    for state in played(world, seed):
        cells = {each.cell for each in state.bodies}
        assert len(cells) == len(world.agents)
        assert all(map(world.grid.is_floor, cells))


def tomatoes(state: CookingState) -> int:
    """How many there are outside dispensers, a soup being made of three."""
    things = [*hands(state), *state.counters]
    return things.count(TOMATO) + FULL * things.count(SOUP) + sum(pot.tomatoes for pot in state.pots)


@pytest.mark.slow
@given(worlds, seeds)
def test_things_come_from_dispensers_and_go_by_delivery(world: CollaborativeCooking, seed: int) -> None:
    states = played(world, seed)
    for before, now in pairwise(states):
        sold = round(now.rewards[0] / 20)
        supplied = tomatoes(now) - tomatoes(before) + FULL * sold
        emptied = sum(h == NOTHING for h in hands(before))
        assert 0 <= supplied <= emptied
        assert set(now.rewards) == {20.0 * sold}


@pytest.mark.slow
@given(worlds, seeds)
def test_pots_cook_if_and_only_if_they_are_full(world: CollaborativeCooking, seed: int) -> None:
    for state in played(world, seed):
        for pot in state.pots:
            assert 0 <= pot.tomatoes <= FULL
            assert pot.cooked == (pot.timer == 21)
            assert not pot.timer or pot.tomatoes == FULL


@pytest.mark.slow
@given(worlds, seeds)
def test_the_same_seed_gives_the_same_episode(world: CollaborativeCooking, seed: int) -> None:
    assert [*played(world, seed, 100)] == [*played(world, seed, 100)]


# What is seen


def test_a_window_turns_with_the_player() -> None:
    state = scene(
        ASYMMETRIC,
        body(ASYMMETRIC, 3, 2, WEST, DISH),
        body(ASYMMETRIC, 5, 2, WEST, TOMATO),
        pots=[PotState(2), PotState(FULL, 21, cooked=True)],
        lying=[(0, 3, SOUP)],
    )
    view = ASYMMETRIC.observe(state, "player_0")
    rows = [view.window[k : k + 5] for k in range(0, 25, 5)]
    floor, counter = SEES_FLOOR, SEES_COUNTER
    # Facing west: farthest ahead is the column x = 0, left is south.
    assert rows[0] == (counter, counter + SOUP, counter, SEES_TOMATOES, counter)
    assert rows[1] == (counter, floor, floor, floor, counter)
    assert rows[4] == (counter, SEES_SOUP, SEES_POT + 2, counter, counter)
    assert player_of(rows[3][2]) == SeenCook(0, WEST, DISH)
    assert view[1:] == (ASYMMETRIC.grid.cell(3, 2), WEST, DISH, True, 0.0)


def test_others_are_seen_with_their_number_their_facing_and_what_they_hold() -> None:
    state = scene(ASYMMETRIC, body(ASYMMETRIC, 3, 2, EAST), body(ASYMMETRIC, 5, 2, SOUTH, TOMATO))
    window = ASYMMETRIC.observe(state, "player_0").window
    assert player_of(window[7]) == SeenCook(1, SOUTH, TOMATO)  # two ahead: the second row, in the middle
    assert [player_of(code) for code in window].count(None) == 23


@pytest.mark.slow
@given(worlds, seeds)
def test_what_is_seen_is_what_is_there(world: CollaborativeCooking, seed: int) -> None:
    state = [*played(world, seed, 60)][-1]
    on = dict(zip(world.counters, state.counters, strict=True))
    for agent, me in zip(world.agents, state.bodies, strict=True):
        view = world.observe(state, agent)
        for cell, code in zip(world.field.window(me.cell, me.facing), view.window, strict=True):
            assert (code == -1) == (cell == -1)
            assert (cell in on) == (SEES_COUNTER <= code < SEES_POT)
            assert cell not in on or code == SEES_COUNTER + on[cell]
            assert (player_of(code) is not None) == any(cell == each.cell for each in state.bodies)


def test_a_state_can_be_drawn() -> None:
    state = scene(
        ASYMMETRIC,
        body(ASYMMETRIC, 3, 2, EAST, DISH),
        body(ASYMMETRIC, 5, 2, WEST),
        pots=[PotState(2), PotState(FULL, 21, cooked=True)],
        lying=[(0, 3, TOMATO)],
    )
    rows = ["# # # # # # # # #", "O . # T # O # . T", "# . . >dC2< . . #", "#t. . . Cs. . . #", "# # # D # D # # #"]
    assert ASYMMETRIC.draw(state).split("\n") == rows
