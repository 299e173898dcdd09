"""Structured and learning partners as machines."""

from __future__ import annotations

import numpy as np
import pytest

from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.learning_machines import fictitious_player, forgetful_player, q_learner
from otherminds.worlds.repeated_games.players.structured_machines import KINDS, structured_machines, triggers
from otherminds.worlds.repeated_games.rules import Game, Outcome

IPD = find_game("ipd")
PENNIES = Game("pennies", ("a", "b"), (("h", "t"), ("h", "t")), ((1, -1), (-1, 1), (-1, 1), (1, -1)))


def test_structured_machines_are_the_same_for_the_same_seed() -> None:
    one, two = (list(structured_machines(IPD, 21, np.random.default_rng(5))) for _ in range(2))
    assert [(m.name, m.outputs, m.moves) for m in one] == [(m.name, m.outputs, m.moves) for m in two]
    assert len({machine.name.split()[0] for machine in one}) == len(KINDS)


def test_triggers_forgive_all_but_the_last_strike() -> None:
    minds = {mind.machine.name: mind for mind in (machine.start for machine in triggers(IPD))}
    for theirs in (1, 0, 1, 0, 0):  # two defections, not in a row
        minds = {name: mind.observe(Outcome(0, theirs, 0.0)) for name, mind in minds.items()}
    assert {name: mind.act().mode for name, mind in minds.items()} == {
        "trigger 1": 1,
        "trigger 2": 1,
        "trigger 2 in a row": 0,
        "trigger 3": 0,
        "trigger 3 in a row": 0,
    }


def test_fictitious_play_as_a_machine_follows_the_counts() -> None:
    mind = fictitious_player(PENNIES, 5).start
    assert mind.act().prob(0) == pytest.approx(0.5)
    mind = mind.observe(Outcome(0, 0, 0.0))  # the other played its first action: the second agent mismatches
    assert mind.act().mode == 1


def test_forgetful_fictitious_play_turns_sooner() -> None:
    minds = [fictitious_player(PENNIES, 50).start, forgetful_player(PENNIES, rate=0.3).start]
    for theirs in (0,) * 20 + (1,) * 6:
        minds = [mind.observe(Outcome(0, theirs, 0.0)) for mind in minds]
    assert [mind.act().mode for mind in minds] == [1, 0]


def test_a_q_learner_comes_to_the_action_that_pays() -> None:
    mind = q_learner(IPD, rate=0.3, explore=0.1, levels=21).start
    for _ in range(10):
        mind = mind.observe(Outcome(1, 0, 10.0)).observe(Outcome(0, 0, 8.0))
    assert mind.act().prob(1) == pytest.approx(0.95)
    assert max(q_learner(IPD, rate=0.3, explore=0.0).outputs[0]) == 0.5


def test_learners_that_count_two_actions_need_two() -> None:
    game = Game("wide", ("a", "b"), (("x", "y", "z"), ("h", "t")), ((0, 0),) * 6)
    with pytest.raises(ValueError, match="3 actions"):
        fictitious_player(game, 5)
    with pytest.raises(ValueError, match="3 actions"):
        forgetful_player(game, rate=0.1)
