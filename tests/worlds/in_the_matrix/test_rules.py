"""The golden timeline of the matrix worlds, one rule a test."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from matrix_worlds import HALL, PAPER, ROCK, calm, met, play, random_steps, scene, wait, world_of
from odd_matrix_worlds import odd, start_of
from otherminds.worlds.avatars import ACTIONS, Action
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixOutcome, MatrixState, ripe, step_with
from otherminds.worlds.in_the_matrix.world import InTheMatrix


def sites_shown(world: InTheMatrix, state: MatrixState) -> set[tuple[int, int]]:
    cells = enumerate(world.rules.sites)
    return {world.rules.field.grid.xy(cell) for site, cell in cells if state.shown >> site & 1}


# The timeline of a meeting


def test_both_see_both_inventories_in_the_step_of_the_hit_only() -> None:
    world = world_of()
    state = met(world)
    assert state.met == ((PAPER, ROCK), (ROCK, PAPER))
    assert state.rewards == (0, 0)
    assert play(world, state).met == (None, None)


def test_both_are_frozen_for_sixteen_steps() -> None:
    world = world_of()
    state = met(world)
    for _ in range(16):
        state = play(world, state, "forward", "forward")
        assert state.cells == met(world).cells
        assert state.rewards == (0, 0)


def test_rewards_come_seventeen_steps_after_the_hit_and_both_die() -> None:
    world = world_of()
    state = wait(world, met(world), 17)
    assert state.rewards == pytest.approx((3.90625, -3.90625))
    assert state.cells == (NOWHERE, NOWHERE)
    assert state.inventories == ((1, 1, 1), (1, 1, 1))
    assert wait(world, state, 1).rewards == (0, 0)


@pytest.mark.parametrize(("respawn", "substrate"), [(23, "rws_repeated"), (23, "pd_repeated"), (68, "rws_arena")])
def test_both_return_after_their_time(respawn: int, substrate: str) -> None:
    assert in_the_matrix(substrate).rules.respawn == respawn
    world = world_of(respawn=respawn)
    assert wait(world, met(world), respawn - 1).cells == (NOWHERE, NOWHERE)
    state = wait(world, met(world), respawn)
    assert set(state.cells) < set(world.rules.spawns)
    assert state.clocks == (FREE, FREE)


def test_the_cooldown_rests_with_the_meeting_so_the_zapper_may_shoot_again_after_26_steps() -> None:
    world = world_of()
    state = wait(world, met(world), 23)
    shots = []
    for t in range(24, 28):
        after = play(world, state, "interact")
        shots += [t] * (after.cooldowns[0] > state.cooldowns[0])
        state = after
    assert shots == [26]


def test_a_shot_every_three_steps() -> None:
    world = world_of()
    state, ready = scene(world, "3 3 >", "1 1 <"), []
    for _ in range(7):
        state = play(world, state, "interact")
        ready.append(world.observe(state, "player_0").ready_to_shoot)
    assert ready == [0, 0.5, 1, 0, 0.5, 1, 0]


def test_a_row_player_who_wins_or_ties_is_reset_at_once() -> None:
    world = world_of()
    assert met(world).inventories == ((1, 1, 1), ROCK)
    assert met(world, (ROCK, ROCK)).inventories == ((1, 1, 1), ROCK)
    assert met(world, (ROCK, PAPER)).inventories == (ROCK, PAPER)


def test_ties_are_decided_by_sums_in_the_order_of_the_engine() -> None:
    """0.1 + 0.2 is not 0.3: equal in exact numbers, the two rewards differ in the last bit."""
    world = in_the_matrix("rws_repeated")
    for row in [(2, 3, 7), (5, 1, 3)]:
        mine, theirs = world.rules.reward(row, row)
        x = [count / sum(row) for count in row]
        by_hand = 0.0
        for j in range(3):
            share = 0.0
            for i in range(3):
                share += x[i] * world.rules.payoffs[0][i][j]
            by_hand += share * x[j]
        assert mine == by_hand
        assert mine == -theirs
    assert world.rules.reward((2, 3, 7), (2, 3, 7))[0] != 0


def test_the_prisoners_payoffs() -> None:
    reward = in_the_matrix("pd_repeated").rules.reward
    assert reward((6, 1), (6, 1)) == pytest.approx((2.837, 2.837), abs=5e-4)
    assert reward((1, 6), (6, 1)) == pytest.approx((4.163, 0.592), abs=5e-4)
    assert reward((1, 6), (1, 6)) == pytest.approx((1.408, 1.408), abs=5e-4)


def test_everything_regrows_while_all_are_dead() -> None:
    world = world_of()
    state = met(world)._replace(shown=0, away=((0, 1),))
    assert wait(world, state, 17).shown == 0
    assert wait(world, state, 18).shown == 1
    assert wait(world, state, 18).away == ()


def test_in_the_arena_nothing_regrows_because_somebody_died() -> None:
    world = dataclasses.replace(world_of(), rules=dataclasses.replace(world_of().rules, restock=False))
    assert wait(world, met(world)._replace(shown=0, away=((0, 1),)), 20).shown == 0


@pytest.mark.parametrize(("held", "why"), [((PAPER,), "the other holds nothing"), (((1, 1, 1), ROCK), "nor do I")])
def test_who_holds_nothing_meets_nobody(held: tuple[tuple[int, int, int], ...], why: str) -> None:
    state = met(world_of(), held)
    assert state.met == (None, None), why
    assert state.cooldowns == (2, 0)


def test_nobody_meets_twice_in_a_step_or_while_frozen() -> None:
    world = world_of(players=3)
    scene_of_three = scene(world, "3 3 >", "5 3 <", "5 5 ^", held=(PAPER, ROCK, PAPER))
    state = play(world, scene_of_three, "interact", "noop", "interact")
    assert [meeting is not None for meeting in state.met] == [True, True, False]
    third_first = MatrixOutcome((0, 1, 2), (2, 0, 1))
    other = play(world, scene_of_three, "interact", "noop", "interact", outcome=third_first)
    assert [meeting is not None for meeting in other.met] == [False, True, True]
    later = play(world, play(world, state), "noop", "noop", "interact")
    assert later.met == (None, None, None)


def test_a_hit_without_a_meeting_shields_both_for_the_step() -> None:
    """The second player holds nothing: hitting them is no use, and protects the first from the third."""
    world = world_of(players=3)
    start = scene(world, "3 3 >", "5 3 <", "3 5 ^", held=(PAPER, (1, 1, 1), ROCK))
    assert play(world, start, "interact", "noop", "interact").met == (None, None, None)
    third_first = MatrixOutcome((0, 1, 2), (2, 0, 1))
    assert play(world, start, "interact", "noop", "interact", outcome=third_first).met[2] == (ROCK, PAPER)


# Beams

SQUARES = [(x, y) for x in range(1, 8) for y in range(1, 8)]
FOOTPRINT = {(3, 4), (3, 3), (3, 2), (5, 4), (5, 3), (5, 2), (4, 3), (4, 2), (4, 1)}
YARD = "\n".join(["WWWWWWWWW", *["WnnnnnnnW"] * 6, "WnnnnnnrW", "WWWWWWWWW"])


def reached(world: InTheMatrix) -> set[tuple[int, int]]:
    """Where a shot north from (4, 4) hits the second player."""
    squares = [square for square in SQUARES if square != (4, 4)]
    cell = world.rules.field.grid.cell
    free = [(x, y) for x, y in squares if world.rules.field.grid.is_floor(cell(x, y))]
    states = {(x, y): scene(world, "4 4 ^", f"{x} {y} >", held=(PAPER, ROCK)) for x, y in free}
    return {square for square, state in states.items() if play(world, state, "interact").met[0]}


def test_a_beam_covers_nine_cells_in_three_lines() -> None:
    assert reached(world_of(YARD)) == FOOTPRINT


@pytest.mark.parametrize(
    ("wall", "behind"),
    [((3, 4), {(3, 3), (3, 2)}), ((5, 3), {(5, 2)}), ((4, 3), {(4, 2), (4, 1)}), ((4, 1), set()), ((4, 5), set())],
)
def test_a_wall_stops_its_line_of_the_beam_only(wall: tuple[int, int], behind: set[tuple[int, int]]) -> None:
    rows = [list(row) for row in YARD.split("\n")]
    rows[wall[1]][wall[0]] = "W"
    assert reached(world_of("\n".join("".join(row) for row in rows))) == FOOTPRINT - {wall} - behind


def test_a_player_stops_a_beam() -> None:
    world = world_of(YARD, players=3)
    state = scene(world, "4 4 ^", "4 1 >", "4 2 >", held=(PAPER, ROCK, ROCK))
    assert play(world, state, "interact").met[1] is None
    assert play(world, state, "interact").met[2] == (ROCK, PAPER)


def test_a_resource_stops_two_beams_and_lets_the_third_pass() -> None:
    rows = [list(row) for row in YARD.split("\n")]
    rows[3][4] = "r"
    world = world_of("\n".join("".join(row) for row in rows))
    state, meetings, gone = scene(world, "4 4 ^", "4 2 >", held=(PAPER, ROCK)), [], []
    for _ in range(3):
        state = play(world, state, "interact")
        meetings.append(state.met[0] is not None)
        gone.append(state.destroyed)
        state = wait(world, state, 2)
    assert meetings == [False, False, True]
    assert gone == [((), ()), ((), ()), ((0,), ())]
    assert sites_shown(world, state) == {(7, 7)}
    assert state.damage == (0, 0)


def test_damage_outlasts_a_pick_up() -> None:
    world = world_of(HALL)
    hit = play(world, scene(world, "9 4 v", "1 1 >"), "interact")
    assert hit.damage == (1,)
    taken = play(world, wait(world, hit, 2), "forward")
    assert taken.damage == (1,)
    assert taken.shown == 0


def test_what_somebody_walked_on_to_in_this_step_is_hit_with_them() -> None:
    world = world_of(HALL)
    state = play(world, scene(world, "9 4 v", "8 6 ^"), "forward", "interact")
    assert state.cells[0] == world.rules.sites[0]
    assert state.damage == (1,)
    assert play(world, wait(world, state, 2), "noop", "interact").damage == (1,)


# Moves


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_who_moves_first_gets_the_cell(order: tuple[int, int]) -> None:
    world = world_of()
    start = scene(world, "3 3 >", "5 3 <")
    state = play(world, start, "forward", "forward", outcome=MatrixOutcome(order, (0, 1)))
    moved = [after != before for after, before in zip(state.cells, start.cells, strict=True)]
    assert moved == [order[0] == 0, order[0] == 1]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_nobody_swaps_places(order: tuple[int, int]) -> None:
    world = world_of()
    start = scene(world, "3 3 >", "4 3 <")
    assert play(world, start, "forward", "forward", outcome=MatrixOutcome(order, (0, 1))).cells == start.cells


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_one_may_follow_into_a_cell_that_has_been_left(order: tuple[int, int]) -> None:
    world = world_of()
    start = scene(world, "3 3 >", "4 3 >")
    state = play(world, start, "forward", "forward", outcome=MatrixOutcome(order, (0, 1)))
    assert (state.cells[0] == start.cells[1]) == (order == (1, 0))
    assert state.cells[1] == start.cells[1] + 1


def test_moves_are_relative_to_the_facing_and_do_not_change_it() -> None:
    world = world_of()
    xy = world.rules.field.grid.xy
    ways: dict[Action, str] = {"forward": "5 3", "backward": "3 3", "step_left": "4 2", "step_right": "4 4"}
    for action, place in ways.items():
        state = play(world, scene(world, "4 3 >", "1 1 >"), action)
        assert "{} {}".format(*xy(state.cells[0])) == place
        assert state.facings[0] == 1
    assert play(world, scene(world, "4 3 >", "1 1 >"), "turn_left").facings[0] == 0
    assert play(world, scene(world, "4 3 >", "1 1 >"), "turn_right").facings[0] == 2


def test_beams_see_where_people_have_moved_to() -> None:
    world = world_of()
    state = scene(world, "3 3 >", "7 3 <", held=(PAPER, ROCK))
    assert play(world, state, "interact", "forward").met[0] is not None
    assert play(world, state, "interact", "noop").met[0] is None


# Resources


def test_a_pick_up_takes_effect_at_once_and_readies() -> None:
    world = world_of()
    state = play(world, scene(world, "9 4 v", "1 1 >"), "forward")
    assert state.inventories == ((2, 1, 1), (1, 1, 1))
    assert state.shown == 0
    assert state.away == ((0, 1),)


def test_the_first_chance_to_regrow_is_one_step_after_the_delay() -> None:
    world = world_of()
    state = play(world, play(world, scene(world, "9 4 v", "1 1 >"), "forward"), "step_right")
    taken, chances = state.away[0][1], []
    for _ in range(20):
        chances += [state.t + 1 - taken] * bool(ripe(world.rules, state))
        state = play(world, state)
    assert chances[0] == world.rules.delay + 1


def test_nothing_regrows_under_somebody() -> None:
    world = world_of()
    state = wait(world, play(world, scene(world, "9 4 v", "1 1 >"), "forward"), 30)
    assert ripe(world.rules, state) == ()
    assert ripe(world.rules, play(world, state, "backward")) == (0,)


def test_who_steps_where_something_regrows_takes_it_at_once() -> None:
    world = world_of()
    state = scene(world, "9 4 v", "1 1 >")._replace(t=50, shown=0, away=((0, 1),))
    after = play(world, state, "forward", outcome=MatrixOutcome((0, 1), (0, 1), regrown=(0,)))
    assert after.inventories[0] == (2, 1, 1)
    assert after.shown == 0
    assert after.away == ((0, 51),)


# The end


@pytest.mark.parametrize("substrate", SUBSTRATES)
def test_an_episode_can_first_end_at_step_1099_and_then_every_hundred(substrate: str) -> None:
    ends = in_the_matrix(substrate).rules.ends
    assert [t for t in range(1, 1500) if ends.may(t)] == [1099, 1199, 1299, 1399, 1499]
    assert ends.chance == (0.1 if substrate == "pd_repeated" else 0.2)


def test_an_episode_ends_after_5000_steps_at_the_latest() -> None:
    world = world_of()
    late = scene(world, "3 3 >", "5 3 <")._replace(t=4999)
    assert world.step(late, dict.fromkeys(world.agents, "noop"), np.random.default_rng(0)).ended
    with pytest.raises(ValueError, match="end"):
        play(world, late)


# Chance


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (MatrixOutcome((0, 0), (0, 1)), "order"),
        (MatrixOutcome((0, 1), (0,)), "order"),
        (MatrixOutcome((0, 1), (0, 1), regrown=(0,)), "regrow"),
        (MatrixOutcome((0, 1), (0, 1), respawns=(((20,), 0),)), "return"),
        (MatrixOutcome((0, 1), (0, 1), ends=True), "end"),
    ],
)
def test_chance_cannot_fall_in_just_any_way(outcome: MatrixOutcome, message: str) -> None:
    world = world_of()
    with pytest.raises(ValueError, match=message):
        play(world, scene(world, "3 3 >", "5 3 <"), outcome=outcome)


def test_nobody_returns_where_somebody_stands_or_where_nobody_starts() -> None:
    world = world_of()
    state = wait(world, met(world), 22)
    spot = world.rules.spawns[0]
    with pytest.raises(ValueError, match="spawn"):
        play(world, state, outcome=MatrixOutcome((0, 1), (0, 1), respawns=(((spot,), 0), ((spot + 1,), 0))))
    with pytest.raises(ValueError, match="stands"):
        play(world, state, outcome=MatrixOutcome((0, 1), (0, 1), respawns=(((spot,), 0), ((spot,), 0))))


@pytest.mark.parametrize("substrate", SUBSTRATES)
def test_a_step_is_chance_and_then_the_rules(substrate: str) -> None:
    world = in_the_matrix(substrate)
    for state, joint, _ in random_steps(world, np.random.default_rng(5), 300):
        outcome = world.chance(state, joint, np.random.default_rng(state.t))
        assert world.step(state, joint, np.random.default_rng(state.t)) == world.step_with(state, joint, outcome)


@pytest.mark.slow
def test_regrowth_has_its_rate_for_each_site_alone() -> None:
    """All subsets of three ripe sites have the probability of independent draws."""
    world = in_the_matrix("rws_arena")
    state = world.start(np.random.default_rng(0))._replace(t=50, shown=0, away=((0, 1), (1, 2), (2, 3), (3, 45)))
    rng, noop, found = np.random.default_rng(1), dict.fromkeys(world.agents, ACTIONS[0]), Counter[tuple[int, ...]]()
    for _ in range(60_000):
        found[world.chance(state, noop, rng).regrown] += 1
    expected = {(): 0.96**3, (0,): 0.04 * 0.96**2, (1,): 0.04 * 0.96**2, (2,): 0.04 * 0.96**2}
    for regrown, p in expected.items():
        assert binomtest(found[regrown], 60_000, p).pvalue > 1e-3
    rest = 60_000 - sum(found[regrown] for regrown in expected)
    assert binomtest(rest, 60_000, 3 * 0.04**2 * 0.96 + 0.04**3).pvalue > 1e-3
    assert all(3 not in regrown for regrown in found)


@pytest.mark.slow
def test_orders_respawns_and_ends_have_their_chances() -> None:
    world = in_the_matrix("rws_repeated")
    start = world.start(np.random.default_rng(0))._replace(t=1098, cells=(NOWHERE, NOWHERE), clocks=(22, 22))
    rng, noop = np.random.default_rng(2), dict.fromkeys(world.agents, ACTIONS[0])
    outcomes = [world.chance(start, noop, rng) for _ in range(8_000)]
    states = [world.step_with(start, noop, outcome) for outcome in outcomes]
    assert binomtest(sum(outcome.movers == (0, 1) for outcome in outcomes), 8_000, 0.5).pvalue > 1e-3
    assert binomtest(sum(state.ended for state in states), 8_000, 0.2).pvalue > 1e-3
    for i in (0, 1):
        assert chisquare([sum(s.cells[i] == spot for s in states) for spot in world.rules.spawns]).pvalue > 1e-3
        assert chisquare([sum(s.facings[i] == way for s in states) for way in range(4)]).pvalue > 1e-3
    assert all(state.cells[0] != state.cells[1] for state in states)


@pytest.mark.slow
@pytest.mark.parametrize("substrate", SUBSTRATES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_what_always_holds(substrate: str, seed: int) -> None:
    world = in_the_matrix(substrate)
    rules = world.rules
    everything = (1 << len(rules.sites)) - 1
    for state, joint, outcome in random_steps(world, np.random.default_rng(seed), 200):
        after = world.step_with(state, joint, outcome)
        alive = [cell for cell in after.cells if cell != NOWHERE]
        assert len(set(alive)) == len(alive)
        assert all(rules.field.grid.is_floor(cell) for cell in alive)
        assert min(min(held) for held in after.inventories) >= 1
        gone = [site for site, _ in after.away]
        assert len(set(gone)) == len(gone)
        assert after.shown | sum(1 << site for site in gone) == everything
        assert not any(after.shown >> site & 1 for site in gone)
        if substrate != "pd_repeated":
            assert sum(after.rewards) == pytest.approx(0, abs=1e-12)
        assert state.kinds == after.kinds


def test_hidden_helpers_are_calm() -> None:
    """The outcome that the tests call calm is possible at any time before the end."""
    world = world_of()
    for state, joint, _ in random_steps(world, np.random.default_rng(3), 500):
        world.step_with(state, joint, calm(world, state))


def test_what_chance_cannot_do_is_told() -> None:
    world, order = odd(), (0, 1, 2)
    start, spawns = start_of(world), world.rules.spawns
    dead = start._replace(clocks=(FREE, FREE, world.rules.respawn - 1), cells=(*spawns[:2], NOWHERE), t=3)
    back = ((spawns, 0),)
    for message, outcome in (
        ("order", MatrixOutcome((0, 1), order, respawns=back)),
        ("order", MatrixOutcome(order, (0, 1, 1), respawns=back)),
        ("regrow", MatrixOutcome(order, order, regrown=(0,), respawns=back)),
        ("1 players return", MatrixOutcome(order, order)),
        ("spawn points", MatrixOutcome(order, order, respawns=(((1000,), 0),))),
        ("spawn points", MatrixOutcome(order, order, respawns=((spawns, 4),))),
        ("end", MatrixOutcome(order, order, respawns=back, ends=True)),
        ("stands where", MatrixOutcome(order, order, respawns=((spawns[:2], 0),))),
    ):
        with pytest.raises(ValueError, match=message):
            step_with(world.rules, dead, (0, 0, 0), outcome)
