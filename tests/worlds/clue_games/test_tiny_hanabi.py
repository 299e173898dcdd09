"""Tiny Hanabi: the rules, and the best that any two policies can do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.worlds.clue_games.tiny_hanabi import PASS, PAYOFFS, Deal, HanabiState, HanabiView, TinyHanabi

WORLD = TinyHanabi(rounds=3)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_best_pair_of_policies_gets_ten_points() -> None:
    found: dict[tuple[int, ...], float] = {}
    for convention in product(range(3), repeat=2):
        for answers in product(range(3), repeat=4):
            # an answer for every pair of own card and signal that can be heard, by the card it was given for
            answer = {(d, convention[c]): answers[2 * c + d] for c in (0, 1) for d in (0, 1)}
            deals = [PAYOFFS[c][d][convention[c]][answer[d, convention[c]]] for c in (0, 1) for d in (0, 1)]
            found[convention] = max(found.get(convention, 0.0), sum(deals) / 4)
    assert max(found.values()) == found[2, 0] == 10.0
    assert sorted(found.values()) == [5, 5, 6.5, 7.5, 8, 9, 9, 9, 10]


@pytest.mark.slow
@given(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2), st.integers(0, 2))
def test_a_deal_is_a_signal_and_an_answer(first: int, second: int, signal: int, action: int) -> None:
    state = HanabiState(0, (first, second), None, None)
    joint = {"signaller": signal, "listener": PASS}
    heard = WORLD.step(state, joint, rng())
    assert heard == HanabiState(0, (first, second), signal, None)
    assert set(WORLD.reward(state, joint, heard).values()) == {0.0}
    joint = {"signaller": PASS, "listener": action}
    after = WORLD.step(heard, joint, rng())
    assert (after.rounds, after.signal, after.last) == (1, None, Deal((first, second), signal, action))
    assert set(WORLD.reward(heard, joint, after).values()) == {PAYOFFS[first][second][signal][action]}


def test_nobody_sees_the_card_of_the_other_until_the_deal_is_over() -> None:
    last = Deal((1, 1), 2, 0)
    state = HanabiState(1, (0, 1), 2, last)
    assert WORLD.observe(state, "signaller") == HanabiView(0, 2, last)
    assert WORLD.observe(state, "listener") == HanabiView(1, 2, last)


def test_whoever_is_not_to_act_passes() -> None:
    state = HanabiState(0, (0, 1), None, None)
    assert (WORLD.actions(state, "signaller"), WORLD.actions(state, "listener")) == ((0, 1, 2), (PASS,))
    state = state._replace(signal=1)
    assert (WORLD.actions(state, "signaller"), WORLD.actions(state, "listener")) == ((PASS,), (0, 1, 2))


@pytest.mark.parametrize("joint", [{"signaller": 3, "listener": PASS}, {"signaller": 0, "listener": 0}])
def test_other_actions_are_refused(joint: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"cannot do [30] now"):
        WORLD.step(HanabiState(0, (0, 1), None, None), joint, rng())


def test_deals_do_not_depend_on_what_anybody_does() -> None:
    def dealt(signal: int, action: int) -> list[tuple[int, int]]:
        source = rng(7)
        state = WORLD.start(source)
        cards = [state.cards]
        while not WORLD.done(state):
            state = WORLD.step(state, {"signaller": signal, "listener": PASS}, source)
            state = WORLD.step(state, {"signaller": PASS, "listener": action}, source)
            cards.append(state.cards)
        return cards

    assert dealt(0, 0) == dealt(2, 1)
    assert len(dealt(0, 0)) == 4


def test_all_pairs_of_cards_are_equally_probable() -> None:
    source = rng(1)
    dealt = [WORLD.start(source).cards for _ in range(4000)]
    for pair in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert dealt.count(pair) == pytest.approx(1000, abs=110)


def test_other_tables_of_four_levels_are_fine_and_others_are_not() -> None:
    world = TinyHanabi(payoffs=((((1.0, 2.0),),),) * 3)
    assert world.actions(HanabiState(0, (2, 0), 0, None), "listener") == (0, 1)
    with pytest.raises(ValueError, match="four lists deep"):
        TinyHanabi(payoffs=((1.0, 2.0),))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1 deal"):
        TinyHanabi(rounds=0)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        WORLD.table[0, 0, 0, 0] = 1.0
    assert hash(TinyHanabi()) == hash(TinyHanabi())
