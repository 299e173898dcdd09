"""Choices: simulated people in the place of real ones, whom they meet, and what they are paid."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from otherminds.evaluation.choices import NEAREST, Arms, Choices, fitted_partners, simulated
from otherminds.evaluation.tables import read_choices
from otherminds.papers.people.datasets import RPS, bots
from otherminds.worlds.bandits.learners import LEARNERS
from otherminds.worlds.bandits.rules import Bandit
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.parametric import MINDS
from otherminds.worlds.repeated_games.rules import Game


def test_simulated_people_take_the_place_of_real_ones() -> None:
    lines = [f"p{n},prev_move_positive,{t},rock,paper" for n in range(3) for t in range(1, 9)]
    like = read_choices(Path("data.csv"), RPS, text="\n".join(["person,group,round,own,other", *lines]))
    values = {"memory": np.full(3, 0.9), "beta": np.full(3, 15.0)}
    mind = MINDS["own_transitions"]
    one, two = (simulated(mind, like, values, np.random.default_rng(7), bots()) for _ in range(2))
    assert (one.own == two.own).all(), "same seed, same people"
    assert one.people == like.people
    replayed = simulated(mind, like, values, np.random.default_rng(7))
    assert (replayed.theirs == like.theirs).all()
    assert (replayed.own[:, 4:] == 2).mean() > 0.8, "they expect paper, and play scissors"


def who_play_at_random(people: int, rounds: int) -> Choices:
    """Random players, of whom one misses a move, with partners who copy (group `a`) or always defect (group `b`)."""
    rng, game = np.random.default_rng(0), find_game("ipd")
    own = rng.integers(2, size=(people, rounds))
    theirs = np.concatenate([np.zeros((people, 1), dtype=np.intp), own[:, :-1]], axis=1)
    groups = tuple("ab"[n % 2] for n in range(people))
    theirs[1::2] = 1
    own[0, 3], theirs[0, 4] = MISSED, 0
    number = np.tile(np.arange(1, rounds + 1), (people, 1))
    names = tuple(map(str, range(people)))
    return Choices(names, groups, np.arange(people), (game,) * people, own, theirs, number)


def test_the_partners_of_a_group_are_known_by_what_they_did() -> None:
    machines = fitted_partners(who_play_at_random(8, 60))
    copier, defector = machines["a"], machines["b"]
    assert min(copier.outputs[0][0], defector.outputs[0][1]) > 0.8, "of four people each, the first round"
    state = 0
    for own in (0, 1, 1, 0, 1, 0, 0):
        theirs = int(np.argmax(copier.outputs[state]))
        state = copier.moves[state][theirs][own]
        assert copier.outputs[state][own] > 0.9
    for law in defector.outputs[1:]:
        assert law[1] > 0.9 or law == pytest.approx((0.5, 0.5)), "it never cooperates, so nothing follows that"


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_partners_may_have_another_number_of_actions(shape: tuple[int, int]) -> None:
    rng, size, moves = np.random.default_rng(0), *shape
    payoffs = ((0.0, 0.0),) * 6
    game = Game("unequal", ("I", "you"), tuple(tuple("xyz"[:n]) for n in shape), payoffs)
    own, theirs = rng.integers(size, size=(6, 80)), np.zeros((6, 80), dtype=np.intp)
    for t in range(1, 80):
        theirs[:, t] = (own[:, t - 1] + theirs[:, t - 1] + 1) % moves
    number = np.tile(np.arange(1, 81), (6, 1))
    like = Choices(tuple("abcdef"), ("g",) * 6, np.arange(6), (game,) * 6, own, theirs, number)
    machine = fitted_partners(like)["g"]
    for a, b in np.ndindex(size, moves):
        if ((own == a) & (theirs == b)).sum() > 20:
            assert np.argmax(machine.outputs[machine.moves[0][b][a]]) == (a + b + 1) % moves
    found = simulated(MINDS["chance"], like, {}, rng, {"g": machine})
    assert (found.own.max(), found.theirs.max()) == (size - 1, moves - 1)
    follows = found.theirs[:, 1:] == (found.own[:, :-1] + found.theirs[:, :-1] + 1) % moves
    assert follows.mean() > 0.8


def test_simulated_people_meet_the_partners_of_their_group() -> None:
    like = who_play_at_random(8, 60)
    values = {"win_stay": np.full(8, 0.5), "lose_shift": np.full(8, 0.5)}
    people = simulated(MINDS["wsls"], like, values, np.random.default_rng(1), fitted_partners(like))
    copied = people.theirs[::2, 1:] == people.own[::2, :-1]
    assert copied.mean() > 0.9
    assert people.theirs[1::2].mean() > 0.9
    assert (people.theirs != like.theirs).any()


# Bandits


def with_a_bandit(people: int, trials: int) -> Choices:
    """People of two groups who choose at random: arm 0 pays the trial, arm 1 minus that, group `b` half a point more.

    In group `b` nobody chooses the last arm.
    """
    own = np.random.default_rng(0).integers(3, size=(people, trials))
    own[1::2] %= 2
    own[0, 5] = MISSED
    number = np.tile(np.arange(1, trials + 1), (people, 1))
    time = np.tile(np.arange(float(trials)), (people, 1))
    rewards = np.choose(np.maximum(own, 0), [time, -time, 1000.0 + time])
    rewards[1::2] += 0.5
    bandit = Bandit("bandit", ("x", "y", "z"), -100.0, 2000.0)
    groups, names = tuple("ab"[n % 2] for n in range(people)), tuple(map(str, range(people)))
    nothing = np.zeros_like(own)
    return Choices(names, groups, np.arange(people), (bandit,) * people, own, nothing, number, rewards=rewards)


def test_an_arm_pays_what_it_paid_at_about_that_time() -> None:
    choices = with_a_bandit(6, 80)
    arms, rng = Arms.of(choices), np.random.default_rng(1)
    for trial in (0, 40, 79):
        for action, sign, base in ((0, 1.0, 0.0), (1, -1.0, 0.0), (2, 1.0, 1000.0)):
            paid = np.stack([arms.pay(np.full(6, action), trial, rng) for _ in range(20)])
            when = sign * (paid[:, ::2] - base)
            assert (when == when.round()).all(), "group a is paid whole points"
            assert np.abs(when - trial).max() <= 1.5 * NEAREST
            assert len(np.unique(when)) > 3
            if action < 2:
                when = sign * (paid[:, 1::2] - 0.5)
                assert np.abs(when - trial).max() <= 1.5 * NEAREST
    of_all = set(choices.rewards[1::2].ravel().tolist()) if choices.rewards is not None else set()
    assert set(arms.pay(np.full(6, 2), 40, rng)[1::2].tolist()) <= of_all, "nobody of the group chose the arm"


def test_a_missed_trial_paid_nothing_to_anyone() -> None:
    choices = with_a_bandit(2, 30)
    assert choices.rewards is not None
    choices.rewards[0, 5] = 12345.0
    every = [rewards for group in Arms.of(choices).paid.values() for _, rewards in group]
    assert 12345.0 not in np.concatenate(every)


@pytest.mark.parametrize("name", ["rescorla_wagner", "win_stay_lose_shift"])
def test_simulated_people_are_paid_by_the_arms_that_they_choose(name: str) -> None:
    like, mind = with_a_bandit(6, 40), LEARNERS[name]
    values = {p.name: np.full(6, np.mean(p.typical)) for p in mind.parameters}
    people = simulated(mind, like, values, np.random.default_rng(2), {})
    assert people.rewards is not None
    assert like.rewards is not None
    assert (people.own != MISSED).all(), "simulated people miss nothing"
    for group in range(2):
        for arm in range(2 + (group == 0)):
            recorded = like.rewards[group::2][like.own[group::2] == arm]
            assert np.isin(people.rewards[group::2][people.own[group::2] == arm], recorded).all()
    assert people.earned == pytest.approx(people.rewards)
    assert (like.rewards == with_a_bandit(6, 40).rewards).all(), "what was recorded is as it was"
