"""Strategies of matrix games: each does after every history what a plain account of it says, with the same chances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.strategies import (
    Aim,
    Corrigible,
    CounterPrevious,
    Grim,
    Strategy,
    StrategyState,
    TitForTat,
    flip,
    play_of,
    specialist,
)

Play = int | None
"""The kind that somebody played, or None for a tie."""
Law = dict[Aim, float]
Account = Callable[[Sequence[Play]], Law]

LONGEST = 6
C, D = Aim(0, 5), Aim(1, 7)
ROCK, PAPER, SCISSORS = (Aim(kind, 5) for kind in range(3))
HELD: dict[int, dict[Play, tuple[tuple[int, ...], ...]]] = {
    2: {0: ((2, 1), (7, 6)), 1: ((1, 2), (3, 9)), None: ((1, 1), (4, 4))},
    3: {
        0: ((2, 1, 1), (9, 8, 8)),
        1: ((1, 2, 1), (3, 9, 3)),
        2: ((1, 1, 2), (1, 5, 6)),
        None: ((1, 1, 1), (4, 4, 1), (4, 1, 4), (2, 6, 6)),
    },
}


def reached(strategy: Strategy, rows: Sequence[tuple[int, ...]]) -> Categorical[StrategyState]:
    """P(state) after interactions in which everybody held these."""
    states = strategy.start()
    for row in rows:
        states = states.bind(lambda state, row=row: strategy.update(state, row, row))  # type: ignore[misc]
    return states


def law_after(strategy: Strategy, plays: Sequence[Play], kinds: int) -> Law:
    """P(aim) after somebody played this in all the interactions so far."""
    rows = [HELD[kinds][play] for play in plays]
    states = reached(strategy, [held[i % len(held)] for i, held in enumerate(rows)])
    return dict(states.map(lambda state: state.aim))


def decided(plays: Sequence[Play]) -> list[int]:
    return [play for play in plays if play is not None]


def slipping(meant: Aim, tremble: float) -> Law:
    other = D if meant == C else C
    return {aim: p for aim, p in ((meant, 1 - tremble), (other, tremble)) if p}


def copying(plays: Sequence[Play], tremble: float) -> Law:
    return slipping((C, D)[[0, *decided(plays)][-1]], tremble)


def reforming(plays: Sequence[Play], strikes: int, tremble: float) -> Law:
    """Defect before the strike that suffices; cooperate upon it; then copy."""
    if plays.count(1) < strikes:
        return {D: 1.0}
    last_strike = [i for i, play in enumerate(plays) if play == 1][strikes - 1]
    return copying(plays[last_strike + 1 :], tremble)


def countering(plays: Sequence[Play]) -> Law:
    beats = {0: PAPER, 1: SCISSORS, 2: ROCK}
    return {beats[decided(plays)[-1]]: 1.0} if decided(plays) else dict.fromkeys(beats.values(), 1 / 3)


CASES: dict[str, tuple[int, Strategy, Account]] = {
    "specialist": (3, specialist(PAPER), lambda plays: {PAPER: 1.0}),
    "flip after 1": (3, flip(ROCK, SCISSORS, 1), lambda plays: {SCISSORS if plays else ROCK: 1.0}),
    "flip after 2": (3, flip(PAPER, ROCK, 2), lambda plays: {ROCK if len(plays) > 1 else PAPER: 1.0}),
    "flip of the margin alone": (
        2,
        flip(Aim(0, 1), Aim(0, 5), 3),
        lambda plays: {Aim(0, 5 if len(plays) >= 3 else 1): 1.0},
    ),
    "grim, one strike": (2, Grim(C, D, 1), lambda plays: {D if 1 in plays else C: 1.0}),
    "grim, two strikes": (2, Grim(C, D, 2), lambda plays: {D if plays.count(1) >= 2 else C: 1.0}),
    "tit for tat": (2, TitForTat(C, D), lambda plays: copying(plays, 0.0)),
    "trembling tit for tat": (2, TitForTat(C, D, 0.15), lambda plays: copying(plays, 0.15)),
    "always slipping": (2, TitForTat(C, D, 1.0), lambda plays: copying(plays, 1.0)),
    "corrigible": (2, Corrigible(3, TitForTat(C, D)), lambda plays: reforming(plays, 3, 0.0)),
    "trembling corrigible": (2, Corrigible(3, TitForTat(C, D, 0.15)), lambda plays: reforming(plays, 3, 0.15)),
    "corrigible at once": (2, Corrigible(1, TitForTat(C, D, 0.3)), lambda plays: reforming(plays, 1, 0.3)),
    "counter previous": (3, CounterPrevious((PAPER, SCISSORS, ROCK)), countering),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_after_every_short_history_the_aims_are_those_of_a_plain_account(name: str) -> None:
    kinds, strategy, account = CASES[name]
    for length in range(LONGEST if kinds == 3 else LONGEST + 1):
        for plays in product(HELD[kinds], repeat=length):
            assert law_after(strategy, plays, kinds) == pytest.approx(account(plays), abs=1e-12), plays


@pytest.mark.parametrize("name", CASES)
def test_every_strategy_has_finitely_many_states(name: str) -> None:
    kinds, strategy, _ = CASES[name]
    seen = set(strategy.start().support)
    while True:
        rows = [row for rows in HELD[kinds].values() for row in rows]
        more = {after for state in seen for row in rows for after in strategy.update(state, row, row).support} - seen
        if not more:
            break
        seen |= more
        assert len(seen) < 10


def test_a_flip_counts_interactions_that_really_happened_and_ties_among_them() -> None:
    twice, tie = flip(Aim(2, 1), Aim(1, 5), 2), (1, 1, 1)
    start = twice.start().mode
    once = twice.update(start, (1, 1, 2), tie).mode
    assert (start.aim, once.aim, twice.update(once, (1, 1, 2), tie).mode.aim) == (Aim(2, 1), Aim(2, 1), Aim(1, 5))


@pytest.mark.parametrize(
    "strategy", [TitForTat(C, D, 0.15), Corrigible(3, TitForTat(C, D, 0.15)), CounterPrevious((PAPER, SCISSORS, ROCK))]
)
def test_a_tie_leaves_a_choice_as_it_is_even_one_that_was_a_slip(strategy: Strategy) -> None:
    for row in ((9, 1), (1, 9)):
        for state in reached(strategy, [row] * 3).support:
            assert strategy.update(state, (6, 1), (4, 4)) == Categorical((state,), (0.0,))


def test_the_strike_that_suffices_starts_tit_for_tat_and_later_ones_are_copied() -> None:
    corrigible, defects = Corrigible(3, TitForTat(C, D, 0.15)), (1, 9)
    chances = [dict(reached(corrigible, [defects] * n).map(lambda state: state.aim)).get(C, 0.0) for n in range(6)]
    assert chances == pytest.approx([0, 0, 0, 0.85, 0.15, 0.15])


def test_cooperation_before_the_last_strike_corrects_nobody() -> None:
    corrigible = Corrigible(3, TitForTat(C, D))
    assert reached(corrigible, [(1, 9), (1, 9), (9, 1)]).mode.aim == D


def test_what_oneself_held_changes_nothing() -> None:
    for kinds, strategy, _ in CASES.values():
        for state in strategy.start().support:
            rows = [row for rows in HELD[kinds].values() for row in rows]
            last = [strategy.update(state, own, rows[0]) for own in rows]
            assert all(after == last[-1] for after in last)


def test_a_third_kind_is_neither_cooperation_nor_defection() -> None:
    other = (1, 1, 9)
    assert Grim(C, D, 1).update(StrategyState(C), other, other).mode == StrategyState(C, 0)
    assert TitForTat(C, D).update(StrategyState(D), other, other).mode == StrategyState(D)


@pytest.mark.slow
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_somebody_plays_the_kind_of_which_they_have_most_unless_several_tie(inventory: list[int]) -> None:
    ranked = sorted(((held, kind) for kind, held in enumerate(inventory)), reverse=True)
    assert play_of(tuple(inventory)) == (None if ranked[0][0] == ranked[1][0] else ranked[0][1])


@pytest.mark.slow
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.data())
def test_an_aim_is_played_once_its_kind_leads_the_runner_up_by_the_margin(
    inventory: list[int], data: st.DataObject
) -> None:
    kind, margin = data.draw(st.integers(0, len(inventory) - 1)), data.draw(st.integers(1, 8))
    first, second = sorted(inventory)[-1], sorted(inventory)[-2]
    leads = play_of(tuple(inventory)) == kind and first - second >= margin
    assert Aim(kind, margin).is_met(tuple(inventory)) == leads


def test_five_gathered_from_scratch_make_a_margin_of_five_and_a_wrong_one_costs_one_more() -> None:
    aim = Aim(0, 5)
    assert [aim.is_met((n, 1, 1)) for n in (5, 6)] == [False, True]
    assert [aim.is_met((n, 1, 2)) for n in (6, 7)] == [False, True]


@pytest.mark.parametrize(
    "nonsense",
    [
        lambda: Aim(-1, 1),
        lambda: Aim(0, 0),
        lambda: flip(C, D, 0),
        lambda: Grim(C, D, 0),
        lambda: TitForTat(C, D, 1.1),
        lambda: TitForTat(C, D, -0.1),
        lambda: Corrigible(0, TitForTat(C, D)),
    ],
)
def test_nonsense_is_refused(nonsense: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"an aim needs|at least|not a probability"):
        nonsense()
