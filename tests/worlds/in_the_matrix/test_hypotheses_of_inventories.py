"""The payoff run backward: what the partner may have held, exactly, and how likely."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cache
from itertools import product

import pytest

from otherminds.distribution import Categorical
from otherminds.worlds.in_the_matrix.hypotheses import IMPURE, LARGE, MOST, partner_inventory, partner_play
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import Rules
from otherminds.worlds.in_the_matrix.strategies import Inventory, play_of

RWS, PD = in_the_matrix("rws_repeated").rules, in_the_matrix("pd_repeated").rules
ONE_SIDED = dataclasses.replace(PD, payoffs=(((1.0, 7.0), (2.0, -3.0)), ((5.0, 0.5), (11.0, -2.0))))
WORLDS = {"rws_repeated": RWS, "pd_repeated": PD, "one-sided": ONE_SIDED}
CLOSE = 1e-8


def inventories(kinds: int, extra: int) -> list[Inventory]:
    """What somebody may hold who has gathered so much at most, and something."""
    counts = product(range(1, extra + 2), repeat=kinds)
    return [held for held in counts if 0 < sum(held) - kinds <= extra]


@cache
def everything(kinds: int) -> tuple[Inventory, ...]:
    return tuple(inventories(kinds, MOST))


def paid(rules: Rules, own: Inventory, other: Inventory, *, zapped: bool) -> float:
    """What one gets who was zapped, which makes one the column player, or has zapped."""
    return rules.reward(other, own)[1] if zapped else rules.reward(own, other)[0]


def prior(held: Inventory) -> float:
    """How likely anybody is to hold this, up to a factor."""
    extra = [count - 1 for count in held]
    return math.prod([LARGE] * sum(extra)) * math.prod([IMPURE] * (sum(extra) - max(extra)))


def scores(found: Categorical[Inventory], among: Sequence[Inventory]) -> list[float]:
    return [found.prob(held) for held in among]


# All small inventories


@pytest.mark.slow
@pytest.mark.parametrize("zapped", [True, False])
@pytest.mark.parametrize("name", WORLDS)
def test_what_was_held_is_found_among_all_that_pays_the_same(name: str, zapped: bool) -> None:
    rules = WORLDS[name]
    kinds = len(rules.resources)
    for own, other in product(inventories(kinds, 2), inventories(kinds, 3)):
        reward = paid(rules, own, other, zapped=zapped)
        for known in (zapped, None):
            found = partner_inventory(rules, own, reward, zapped=known)
            assert found.prob(other) > 0
            assert math.fsum(found.probs) == pytest.approx(1.0)
            sides = (True, False) if known is None else (known,)
            for held in found.support:
                assert min(abs(paid(rules, own, held, zapped=side) - reward) for side in sides) < CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("zapped", [True, False, None])
@pytest.mark.parametrize("name", WORLDS)
def test_everything_that_pays_the_same_is_found_in_proportion_to_the_prior(name: str, zapped: bool | None) -> None:
    rules = WORLDS[name]
    kinds, sides = len(rules.resources), (True, False) if zapped is None else (zapped,)
    for own in inventories(kinds, 1) + [tuple(6 if k == kind else 1 for k in range(kinds)) for kind in range(kinds)]:
        for other in inventories(kinds, 2):
            reward = paid(rules, own, other, zapped=sides[0])
            found = partner_inventory(rules, own, reward, zapped=zapped)
            among = [
                held
                for held in everything(kinds)
                if min(abs(paid(rules, own, held, zapped=side) - reward) for side in sides) < CLOSE
            ]
            assert set(found.support) == set(among)
            weights = [prior(held) for held in among]
            assert scores(found, among) == pytest.approx([weight / sum(weights) for weight in weights])


def test_nobody_is_thought_to_meet_with_nothing_or_with_more_than_one_may_hold() -> None:
    own = (1, 6, 1)
    support = partner_inventory(RWS, own, 0.0).support
    assert (1, 1, 1) not in support
    assert max(map(sum, support)) == 3 + MOST
    assert all(min(held) >= 1 for held in support)


def test_who_zapped_makes_a_difference_where_the_two_are_paid_differently() -> None:
    own, other = (3, 1), (1, 4)
    row, column = (paid(ONE_SIDED, own, other, zapped=zapped) for zapped in (False, True))
    assert row != pytest.approx(column)
    assert other in partner_inventory(ONE_SIDED, own, row, zapped=False).support
    assert other not in partner_inventory(ONE_SIDED, own, row, zapped=True).support
    assert other in partner_inventory(ONE_SIDED, own, column, zapped=True).support
    assert other not in partner_inventory(ONE_SIDED, own, column, zapped=False).support
    for reward in (row, column):
        assert other in partner_inventory(ONE_SIDED, own, reward).support


# The prior


@pytest.mark.parametrize("kinds", [2, 3])
def test_smaller_and_purer_inventories_are_likelier(kinds: int) -> None:
    """In a world where nothing matters, everything pays the same, and the prior is all there is."""
    nothing = ((0.0,) * kinds,) * kinds
    rules = dataclasses.replace(PD if kinds == 2 else RWS, payoffs=(nothing, nothing))
    found = partner_inventory(rules, (2,) + (1,) * (kinds - 1), 0.0)
    assert set(found.support) == set(everything(kinds))
    for held in everything(kinds):
        most = held.index(max(held))
        for kind in range(kinds):
            more = tuple(count + (k == kind) for k, count in enumerate(held))
            if more in found.support:
                assert found.prob(more) < found.prob(held)
                assert found.prob(more) / found.prob(held) == pytest.approx(
                    LARGE if kind == most else LARGE * IMPURE
                ) or (held.count(max(held)) > 1)


def test_of_two_ways_to_be_paid_the_purer_is_taken() -> None:
    """Against (1, 6, 1), (3, 1, 1) pays as much as (6, 2, 2): in both, two fifths more are rock than anything else."""
    own = (1, 6, 1)
    assert RWS.reward(own, (3, 1, 1))[0] == pytest.approx(RWS.reward(own, (6, 2, 2))[0])
    found = partner_inventory(RWS, own, RWS.reward(own, (3, 1, 1))[0])
    assert found.prob((3, 1, 1)) / found.prob((6, 2, 2)) == pytest.approx(LARGE**-5 * IMPURE**-2)
    assert found.mode == (3, 1, 1)


# Nothing pays so


@pytest.mark.parametrize(("reward", "nearest"), [(3.91, 3.90625), (-3.9, -3.90625)])
def test_the_nearest_is_taken_if_nothing_pays_so(reward: float, nearest: float) -> None:
    own = (1, 6, 1)
    errors = {held: abs(RWS.reward(own, held)[0] - reward) for held in everything(3)}
    least = min(errors.values())
    assert 0 < least < abs(nearest - reward) + 1e-9
    found = partner_inventory(RWS, own, reward)
    assert set(found.support) == {held for held, error in errors.items() if error < least + CLOSE}
    assert math.fsum(found.probs) == pytest.approx(1.0)


@pytest.mark.parametrize(("rules", "own", "reward", "kind"), [(RWS, (1, 6, 1), 99.0, 0), (PD, (1, 6), -99.0, 1)])
def test_what_pays_more_than_anything_can_is_taken_for_the_most_that_can(
    rules: Rules, own: Inventory, reward: float, kind: int
) -> None:
    (held,) = partner_inventory(rules, own, reward).support
    assert held == tuple(1 + MOST * (k == kind) for k in range(len(own)))


# Plays


def test_what_is_held_most_of_is_played_and_a_tie_is_no_play() -> None:
    held: Categorical[Inventory] = Categorical(
        ((6, 1, 1), (1, 2, 2), (4, 1, 3), (2, 2, 1)), tuple(map(math.log, (0.4, 0.3, 0.2, 0.1)))
    )
    played = partner_play(held)
    assert [played.prob(kind) for kind in (0, 1, 2, None)] == pytest.approx([0.6, 0.0, 0.0, 0.4])
    assert partner_play(Categorical(((3, 3),), (0.0,))).support == (None,)


def test_a_partner_who_held_as_much_of_all_is_seen_to_tie_in_the_dilemma() -> None:
    """Two of each pay what three of each do, and nothing else does, for rewards are monotone in shares."""
    own = (1, 6)
    found = partner_inventory(PD, own, PD.reward(own, (3, 3))[0])
    assert set(found.support) == {(n, n) for n in range(2, 2 + MOST // 2)}
    assert partner_play(found).support == (None,)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [RWS, PD])
def test_pure_players_are_told_apart_by_whoever_is_pure(rules: Rules) -> None:
    kinds = range(len(rules.resources))
    for mine, theirs, margin in product(kinds, kinds, (3, 5, 7)):
        own, other = (tuple(1 + margin * (k == kind) for k in kinds) for kind in (mine, theirs))
        for zapped in (True, False):
            found = partner_inventory(rules, own, paid(rules, own, other, zapped=zapped))
            assert partner_play(found).mode == theirs
            assert play_of(found.mode) == theirs
            assert found.mode == other or (rules is RWS and mine == theirs)  # all of one kind pay the same there: 0
