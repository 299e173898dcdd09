"""Families of partners: no partner of the held-out part acts like one to train with, in any family."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from otherminds.evaluation.partner_families import (
    FAMILIES,
    PARTS,
    RULE_ROUNDS,
    TWO_BY_TWO,
    Part,
    changing,
    drawn,
    family,
    part_of,
    stakes,
    tasks,
)
from otherminds.evaluation.tasks import Task
from otherminds.worlds.repeated_games.machines import Machine, all_memory_one, constant
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.structured_machines import structured_machines
from random_machines import random_machines

IPD, RPS = find_game("ipd"), find_game("rps")


def act_alike(first: Machine, second: Machine, rounds: int) -> bool:
    """Whether two machines have the same distributions after every history of fewer rounds."""
    pairs = {(0, 0)}
    for _ in range(rounds):
        if any(not np.allclose(first.outputs[p], second.outputs[q], rtol=0, atol=1e-9) for p, q in pairs):
            return False
        possible = [(p, q, own) for p, q in pairs for own, chance in enumerate(first.outputs[p]) if chance > 1e-9]
        pairs = {pair for p, q, own in possible for pair in zip(first.moves[p][own], second.moves[q][own], strict=True)}
    return True


def reactions(machine: Machine) -> tuple[tuple[float, ...], ...]:
    """What a machine does, taking its most probable actions, in five rounds against every sequence of actions."""
    laws = [tuple(np.round(law, 6).tolist()) for law in machine.outputs]
    onward = [machine.moves[q][law.index(max(law))] for q, law in enumerate(laws)]
    course = []
    for sequence in product(range(len(onward[0])), repeat=5):
        q = 0
        for theirs in sequence:
            course.append(laws[q])
            q = onward[q][theirs]
    return tuple(course)


def members(game_name: str, part: Part) -> list[Machine]:
    game = find_game(game_name)
    names = [name for name in FAMILIES if game.shape == (2, 2) or name not in TWO_BY_TWO]
    return [machine for name in names for machine in family(name, game, part)]


@pytest.mark.slow
@pytest.mark.parametrize("game", ["ipd", "rps", "ordinal-017"])
def test_no_held_out_partner_acts_like_one_to_train_with(game: str) -> None:
    train, held_out = members(game, "train"), members(game, "held-out")
    assert len(train) > len(held_out) > 50
    by_reactions: dict[tuple[tuple[float, ...], ...], list[Machine]] = {}
    for machine in train:
        by_reactions.setdefault(reactions(machine), []).append(machine)
    pairs = [(a, b) for b in held_out for a in by_reactions.get(reactions(b), ())]
    assert [(a.name, b.name) for a, b in pairs if act_alike(a, b, RULE_ROUNDS)] == []


def test_machines_that_act_alike_are_found_to() -> None:
    cooperates = [m for m in all_memory_one(IPD) if act_alike(m, constant(IPD, 0), RULE_ROUNDS)]
    assert len(cooperates) == 4  # whatever they would do after a defection of their own
    assert {part_of(machine) for machine in cooperates} == {part_of(constant(IPD, 0))}


def test_the_part_depends_neither_on_slips_nor_on_names_nor_on_the_numbers_of_states() -> None:
    rng = np.random.default_rng(1)
    machines = [*structured_machines(IPD, 40, rng), *random_machines(RPS, 40, 6, rng)]
    assert {part_of(machine) for machine in machines} == set(PARTS)
    for machine in machines:
        order = [0, *(1 + rng.permutation(len(machine.outputs) - 1)).tolist()]  # the new number of each state
        states = np.argsort(order)
        outputs = tuple(machine.outputs[q] for q in states)
        moves = tuple(tuple(tuple(order[to] for to in row) for row in machine.moves[q]) for q in states)
        assert part_of(Machine("renamed", outputs, moves)) == part_of(machine)
        assert part_of(machine.trembling(0.07)) == part_of(machine)


def test_every_rule_of_a_partner_that_slips_or_changes_is_in_its_part() -> None:
    rules = {machine.name: part_of(machine) for machine in all_memory_one(IPD)}
    for part in PARTS:
        for machine in family("slipping", IPD, part):
            assert rules[machine.name.partition("~")[0]] == part
        for machine in family("changing", IPD, part):
            before, after = machine.name.split(", then ")
            assert rules[before] == rules[after.partition(" from round ")[0]] == part


def test_a_changing_partner_follows_one_rule_and_then_the_other() -> None:
    tft, grim, rng = partner("tft", IPD), partner("grim", IPD), np.random.default_rng(2)
    machine = changing(IPD, tft, grim, 5)
    for _ in range(20):
        q, before, after = 0, 0, 0
        for t, own in enumerate(rng.integers(2, size=12).tolist()):
            rule = tft.outputs[before] if t < 5 else grim.outputs[after]
            assert machine.outputs[q] == rule
            theirs = rule.index(1.0)
            q = machine.moves[q][theirs][own]
            before, after = tft.moves[before][theirs][own], grim.moves[after][theirs][own]


def test_a_partner_with_which_all_play_earns_the_same_is_never_drawn() -> None:
    for name in FAMILIES:
        assert all(task.optimum - task.uniform > 1e-6 for task in tasks(name, IPD, "train", 10))


def test_seeds_draw_every_partner_about_equally_often() -> None:
    names = [drawn("memory-one", IPD, "held-out", 10, seed).partner.name for seed in range(300)]
    counts = {name: names.count(name) for name in names}
    assert set(counts) == {task.partner.name for task in tasks("memory-one", IPD, "held-out", 10)}
    assert min(counts.values()) > 0.6 * 300 / len(counts)


def test_stakes_are_what_one_fixed_action_for_all_forgoes() -> None:
    always = [Task(RPS, constant(RPS, action), 10) for action in (0, 0, 1)]
    assert stakes(always).tolist() == pytest.approx([0.0, 0.0, 1.0])  # paper beats rock twice, and ties with paper
    prisoners = [Task(IPD, constant(IPD, 0), 10), Task(IPD, constant(IPD, 1), 10)]
    assert stakes(prisoners).tolist() == pytest.approx([0.0, 0.0])  # defection is best with either
