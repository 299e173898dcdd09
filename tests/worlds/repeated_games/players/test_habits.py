"""Minds that people are compared with: probabilities worked out by hand, and missed moves."""

from __future__ import annotations

import math

import pytest

from otherminds.testing import check_mindreader
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import (
    MISSED,
    CountLearner,
    QLearner,
    RuleLookahead,
    Trembling,
    WinStayLoseShift,
    shift_rules,
)
from otherminds.worlds.repeated_games.rules import Outcome

RPS, IPD = find_game("rps"), find_game("ipd")
WON, LOST, NONE = Outcome(1, 0, 1.0), Outcome(1, 2, -1.0), Outcome(MISSED, 0, 0.0)


def test_a_trembling_hand_is_sometimes_random() -> None:
    mind = Trembling(partner("tft", IPD).start, IPD, 0.2)
    assert mind.act().probs == pytest.approx((0.9, 0.1))
    after = mind.observe(Outcome(0, 1, 0.0))
    assert after.act().probs == pytest.approx((0.1, 0.9))
    assert after.observe(NONE).act() == mind.act(), "what the partner does when a move is missed is seen"


def test_win_stay_lose_shift() -> None:
    mind = WinStayLoseShift(RPS, win_stay=0.8, lose_shift=0.6)
    assert mind.act().probs == pytest.approx((1 / 3,) * 3)
    assert mind.observe(WON).act().probs == pytest.approx((0.1, 0.8, 0.1))
    assert mind.observe(LOST).act().probs == pytest.approx((0.3, 0.4, 0.3))
    assert mind.observe(WON).observe(NONE).act().probs == pytest.approx((1 / 3,) * 3)


def test_a_q_learner_learns_forgets_and_perseverates() -> None:
    mind = QLearner(RPS, rate=0.5, beta=2.0, decay=0.1, perseveration=0.3).observe(WON)  # u is 1/2 for a win
    e = math.exp(2.0 * 0.25 + 0.3)
    assert mind.act().probs == pytest.approx((1 / (2 + e), e / (2 + e), 1 / (2 + e)))
    later = mind.observe(NONE)
    e = math.exp(2.0 * 0.25 * 0.9)
    assert later.act().probs == pytest.approx((1 / (2 + e), e / (2 + e), 1 / (2 + e)))


def test_counts_fade() -> None:
    mind = CountLearner(RPS, "weighted_counts", memory=0.5, beta=1.0).observe(WON).observe(LOST)
    assert mind.predict().probs == pytest.approx((1.5 / 4.5, 1 / 4.5, 2 / 4.5))
    check_mindreader(mind, RPS)


@pytest.mark.parametrize(
    ("pattern", "rounds", "expected"),
    [
        ("own_transitions", [(0, 0), (0, 1)], (1 / 4, 1 / 4, 2 / 4)),  # the other went up by one, and stands at 1
        ("reply_transitions", [(2, 0), (1, 0)], (1 / 4, 1 / 4, 2 / 4)),  # it answered 2 by 0, one up
        ("joint_counts", [(0, 0), (0, 1), (0, 0)], (1 / 4, 2 / 4, 1 / 4)),  # after (0, 0) came 1
        ("outcome_transitions", [(1, 1), (0, 2), (0, 0)], (1 / 4, 2 / 4, 1 / 4)),  # after a tie it went up
        ("dual_transitions", [(0, 0), (1, 1), (0, 2), (2, 1), (2, 2)], (2 / 4, 1 / 4, 1 / 4)),  # tie after +: one up
    ],
)
def test_transitions_are_counted_from_their_reference(
    pattern: str, rounds: list[tuple[int, int]], expected: tuple[float, ...]
) -> None:
    mind = CountLearner(RPS, pattern, memory=1.0, beta=1.0)
    for own, theirs in rounds:
        mind = mind.observe(Outcome(own, theirs, 0.0))
    assert mind.predict().probs == pytest.approx(expected)


def test_nothing_is_expected_where_a_move_is_missing() -> None:
    for pattern in ("reply_transitions", "outcome_transitions", "dual_transitions"):
        mind = CountLearner(RPS, pattern, memory=1.0, beta=1.0)
        for outcome in (WON, WON, WON, NONE):
            mind = mind.observe(outcome)
        assert mind.predict().probs == pytest.approx((1 / 3,) * 3)


@pytest.mark.slow
def test_rules_are_recognised_and_exploited() -> None:
    tables, prior = shift_rules(3)
    assert len(tables) == len(prior) == 33
    assert sum(prior) == pytest.approx(1.0)
    mind = RuleLookahead(RPS, switch=0.01, beta=20.0)
    own = 0
    for t in range(8):  # the other copies the last move
        mind = mind.observe(Outcome(own, (own + 2) % 3 if t else 0, 0.0))
        own = (own + 1) % 3
    assert mind.predict().prob((own + 2) % 3) > 0.8
    assert mind.act().mode == own
    check_mindreader(mind, RPS)


@pytest.mark.slow
def test_looking_ahead_cooperates_with_a_copy() -> None:
    mind = RuleLookahead(IPD, switch=0.01, beta=20.0)
    last = 0
    for own in (0, 1, 0, 1, 1, 0, 0, 1, 0, 0):
        mind, last = mind.observe(Outcome(own, last, 0.0)), own
    assert mind.act().mode == 0
