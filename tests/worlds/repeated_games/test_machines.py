"""Machines: every state acts by its law, moves follow what everybody did, and each builder keeps its promise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.world import rollout
from otherminds.worlds.repeated_games.machines import (
    Law,
    Machine,
    all_memory_one,
    all_reactive,
    build,
    canonical,
    constant,
    memory,
    memory_one,
    periodic,
    reactive,
    together,
)
from otherminds.worlds.repeated_games.rules import Game, Outcome, RepeatedGame
from strategies import generator

IPD = Game("ipd", ("you", "partner"), (("C", "D"),) * 2, ((8, 8), (0, 10), (10, 0), (5, 5)))
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x", "y", "z")), ((0, 0),) * 6)
THREE = Game("three", ("a", "b", "c"), (("u", "v"), ("x", "y"), ("k", "l", "m")), ((0, 0, 0),) * 12)

Rounds = Sequence[tuple[int, int]]


def laws(machine: Machine, rounds: Rounds) -> list[Law]:
    """What the machine may do before and after each round, told what it and the others did."""
    mind, found = machine.start.observe(None), []
    for own, theirs in rounds:
        found.append(tuple(mind.act().prob(a) for a in range(len(machine.outputs[0]))))
        mind = mind.observe(Outcome(own, theirs, 0.0))
    return [*found, tuple(mind.act().prob(a) for a in range(len(machine.outputs[0])))]


def deeds(machine: Machine, theirs: Sequence[int]) -> list[int]:
    """What a machine without chance does while the others do as told."""
    mind, done = machine.start, []
    for deed in theirs:
        done.append(mind.act().mode)
        mind = mind.observe(Outcome(done[-1], deed, 0.0))
    return [*done, mind.act().mode]


def rounds_of(game: Game, *, most: int = 8) -> st.SearchStrategy[list[tuple[int, int]]]:
    """What the second agent and all others did in some rounds."""
    own, theirs = game.payoff(1).shape
    return st.lists(st.tuples(st.integers(0, own - 1), st.integers(0, theirs - 1)), max_size=most)


# Machines


@pytest.mark.parametrize(
    ("outputs", "moves"),
    [
        ((), ()),
        (((0.5, 0.6),), (((0,), (0,)),)),
        (((1.5, -0.5),), (((0,), (0,)),)),
        (((float("nan"), 1.0),), (((0,), (0,)),)),
        (((1.0, 0.0), (1.0,)), (((0,), (0,)), ((0,), (0,)))),
        (((1.0, 0.0),), ()),
        (((1.0, 0.0),), (((0,),),)),
        (((1.0, 0.0),), (((0, 0), (0,)),)),
        (((1.0, 0.0),), (((0,), (1,)),)),
        (((1.0, 0.0),), (((0,), (-1,)),)),
    ],
)
def test_parts_that_do_not_make_a_machine(
    outputs: tuple[Law, ...], moves: tuple[tuple[tuple[int, ...], ...], ...]
) -> None:
    with pytest.raises(ValueError, match="odd: "):
        Machine("odd", outputs, moves)


def test_a_machine_acts_by_the_law_of_its_state() -> None:
    machine = Machine("m", ((0.25, 0.75), (0.0, 1.0)), (((0, 1), (1, 1)), ((0, 0), (1, 0))))
    assert laws(machine, [(0, 0), (1, 0), (0, 1), (0, 1)]) == [
        pytest.approx(law) for law in [(0.25, 0.75), (0.25, 0.75), (0.0, 1.0), (0.25, 0.75), (0.0, 1.0)]
    ]
    assert not machine.deterministic
    assert constant(IPD, 1).deterministic
    assert {machine.start: "a mind can be a key"}[Machine(machine.name, machine.outputs, machine.moves).start]


def test_planners_see_the_moves_with_the_focal_action_first() -> None:
    machine = memory_one("m", WIDE, 0, [[0, 1], [2, 0], [1, 2]])
    chances = machine.chances
    states = len(machine.outputs)
    assert chances.outputs.shape == (states, 3)
    assert chances.moves.shape == (states, 2, 3)
    for q, mine, theirs in np.ndindex(states, 2, 3):
        assert chances.moves[q, mine, theirs] == machine.moves[q][theirs][mine]


@pytest.mark.slow
@given(noise=st.floats(0.0, 1.0), rounds=rounds_of(WIDE))
def test_a_trembling_machine_mixes_in_every_action_and_knows_what_it_did(noise: float, rounds: Rounds) -> None:
    machine = memory_one("m", WIDE, (0.5, 0.5, 0.0), [[0, 1], [2, (0.0, 0.25, 0.75)], [1, 2]])
    trembling = machine.trembling(noise)
    for still, shaken in zip(laws(machine, rounds), laws(trembling, rounds), strict=True):
        assert shaken == pytest.approx([(1 - noise) * p + noise / 3 for p in still])


def test_names_say_how_much_a_machine_trembles() -> None:
    machine = constant(IPD, 0)
    assert machine.trembling(0.0) == machine
    names = {machine.trembling(noise).name for noise in (0.0, 0.05, 0.1, 1.0)}
    assert len(names) == 4
    assert all(name.startswith(machine.name) for name in names)
    assert any("0.05" in name for name in names)


@pytest.mark.parametrize("noise", [-0.1, 1.5, float("nan")])
def test_noise_is_a_probability(noise: float) -> None:
    with pytest.raises(ValueError, match=r"noise|distribution"):
        constant(IPD, 0).trembling(noise)


def test_a_trembling_machine_plays_by_its_law() -> None:
    machine = constant(IPD, 0).trembling(0.2)
    minds = {"you": constant(IPD, 0, agent=0).start, "partner": machine.start}
    steps = list(rollout(RepeatedGame(IPD, 2000), minds, steps=2000, rng=generator(7)))
    share = sum(step.joint["partner"] for step in steps) / len(steps)
    assert share == pytest.approx(0.1, abs=0.03)


# Builders


def test_only_states_that_can_be_reached_are_built() -> None:
    machine = build("m", IPD, 10, lambda q: q % 2, lambda q, own, theirs: (q + own + theirs) % 3)
    assert deeds(machine, [0, 0, 1, 1]) == [0, 1, 0, 0, 1]
    assert len(machine.outputs) == 4


@pytest.mark.parametrize("choice", [3, -1, (0.5, 0.5), (0.5, 0.25, 0.75)])
def test_only_actions_of_the_game_are_played(choice: int | Law) -> None:
    with pytest.raises(ValueError, match="bad"):
        build("bad", WIDE, 0, lambda _: choice, lambda q, _own, _theirs: q)


def test_constants_and_cycles() -> None:
    assert deeds(constant(WIDE, 2), [0, 1, 0]) == [2] * 4
    assert constant(IPD, 1).name == "always D"
    assert deeds(periodic("p", WIDE, [2, 0, 1, 1]), [0, 1, 0, 1, 0]) == [2, 0, 1, 1, 2, 0]


@pytest.mark.slow
@given(first=st.integers(0, 2), replies=st.lists(st.integers(0, 2), min_size=2, max_size=2), rounds=rounds_of(WIDE))
def test_a_reactive_machine_replies_to_the_last_action(first: int, replies: list[int], rounds: Rounds) -> None:
    machine = reactive("r", WIDE, first, replies)
    expected = [first, *(replies[theirs] for _, theirs in rounds)]
    assert [law.index(1.0) for law in laws(machine, rounds)] == expected


def test_every_memory_one_machine_of_a_two_by_two_game_behaves_as_its_table_says() -> None:
    machines = list(all_memory_one(IPD))
    assert len({machine.name for machine in machines}) == len(machines) == 32
    pairs = [(own, theirs) for own in range(2) for theirs in range(2)]
    for machine, (first, *table) in zip(machines, product(range(2), repeat=5), strict=True):
        assert "".join(map(str, (first, *table))) in machine.name
        replies = dict(zip(pairs, table, strict=True))
        for rounds in product(pairs, repeat=3):
            expected = [first, *(replies[pair] for pair in rounds)]
            assert [law.index(1.0) for law in laws(machine, rounds)] == expected


def test_every_reactive_machine_is_listed_once() -> None:
    machines = list(all_reactive(WIDE))
    tables = {tuple(deeds(machine, [0, 1])) for machine in machines}
    assert tables == set(product(range(3), repeat=3))
    assert len({machine.name for machine in machines}) == len(machines) == 27


@pytest.mark.slow
@given(data=st.data())
def test_a_machine_remembers_as_many_rounds_as_it_is_told(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))

    def policy(history: tuple[tuple[int, int], ...]) -> int:
        assert len(history) <= size
        return sum(3 * own + theirs for own, theirs in history) % 3

    rounds = data.draw(rounds_of(WIDE))
    machine = memory("m", WIDE, size, policy)
    expected = [policy(tuple(rounds[max(0, t - size) : t])) for t in range(len(rounds) + 1)]
    assert [law.index(1.0) for law in laws(machine, rounds)] == expected


def test_machines_can_take_any_place_in_a_game() -> None:
    mine = reactive("mine", WIDE, 0, [1, 0, 1], agent=0)
    assert deeds(mine, [0, 1, 2]) == [0, 1, 0, 1]
    last = reactive("last", THREE, 2, [0, 1, 2, 0], agent=2)
    assert deeds(last, [0, 1, 2, 3]) == [2, 0, 1, 2, 0]
    minds = {
        "a": periodic("p", THREE, [0, 1], agent=0).start,
        "b": constant(THREE, 1, agent=1).start,
        "c": last.start,
    }
    steps = list(rollout(RepeatedGame(THREE, 4), minds, steps=9, rng=generator()))
    assert [tuple(step.joint.values()) for step in steps] == [(0, 1, 2), (1, 1, 1), (0, 1, 0), (1, 1, 1)]


def test_partners_together_choose_a_joint_action_independently() -> None:
    rng = np.random.default_rng(3)
    payoffs = tuple(map(tuple, rng.integers(0, 9, size=(12, 3)).astype(float).tolist()))
    game = Game("three", ("a", "b", "c"), (("x", "y"), ("x", "y", "z"), ("u", "v")), payoffs)
    copier = reactive("copier", game, 2, [0, 1, 2, 0], agent=1)
    coin = build("coin", game, 0, lambda _: (0.25, 0.75), lambda q, _own, _theirs: q, agent=2)
    both = together(game, [copier, coin])
    assert both.outputs[0] == pytest.approx((0, 0, 0, 0, 0.25, 0.75))
    mind = both.start
    for own, joint in ((0, 5), (1, 4), (1, 1), (0, 2)):
        # the copier sees the joint action of a and c
        seen = own * 2 + joint % 2
        mind = mind.observe(Outcome(joint, own, 0.0))
        expected = np.zeros(6)
        expected[[0, 1, 2, 0][seen] * 2 : [0, 1, 2, 0][seen] * 2 + 2] = 0.25, 0.75
        assert [mind.act().prob(b) for b in range(6)] == pytest.approx(expected.tolist())
    with pytest.raises(ValueError, match="needs 2 partners"):
        together(game, [copier])


def test_machines_that_act_alike_have_one_canonical_form() -> None:
    copy = reactive("copy", IPD, 0, (0, 1))
    longer = build("copy", IPD, (0, 0), lambda q: q[1], lambda q, _own, theirs: ((q[0] + 1) % 3, theirs))
    assert len(longer.outputs) > len(canonical(longer)[0]) == 2
    assert canonical(longer) == canonical(copy) != canonical(reactive("copy", IPD, 1, (0, 1)))
    forms = [canonical(machine) for machine in all_memory_one(IPD)]
    assert {canonical(machine) for machine in all_reactive(IPD)} < set(forms)
