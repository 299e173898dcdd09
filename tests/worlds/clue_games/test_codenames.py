"""Codenames: rules, givers and guessers, against brute force on small boards."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from otherminds.testing import check_mind, check_world
from otherminds.worlds.clue_games.associations import Associations, bundled_associations, strengths
from otherminds.worlds.clue_games.codenames import (
    ASSASSIN,
    NEUTRAL,
    OTHER,
    OWN,
    PASS,
    PAY,
    STOP,
    Codenames,
    CodenamesState,
    CodenamesView,
    Turn,
)
from otherminds.worlds.clue_games.codenames_players import (
    FAINT,
    MANNERS,
    CodenamesGiver,
    bayesian,
    best,
    blind,
    earned,
    egocentric,
    givers,
    informed,
    own_set,
    own_sets,
)

WORDS = bundled_associations().words
BOARD = tuple(WORDS.index(word) for word in ("whale", "ship", "salmon", "bee", "radio"))
SMALL = Codenames(8, boards=(BOARD, BOARD[::-1]), cards=(OWN, OWN, NEUTRAL, OTHER, ASSASSIN))
PARTNERS = tuple(givers(SMALL))
ROLES = tuple(sorted(set(permutations(SMALL.cards))))


@cache
def chosen(giver: CodenamesGiver, board: tuple[int, ...], roles: tuple[int, ...]) -> int:
    """The best hint, from its definition."""
    table, best_hint, most = strengths(SMALL.associations, giver.person), 0, -np.inf
    for hint in SMALL.hints[board]:
        clue, number = hint // SMALL.numbers, hint % SMALL.numbers + 1
        pull = [table[word, clue] for word in board]
        aim, risk, caution = MANNERS[giver.manner]
        targets = sorted((aim[role] * p for p, role in zip(pull, roles, strict=True)), reverse=True)
        danger = max(risk[role] * p for p, role in zip(pull, roles, strict=True))
        worth = sum(t - caution * (FAINT + danger) for t in targets[:number])
        if worth > most + 1e-9:
            best_hint, most = hint, worth
    return best_hint


def chance(giver: CodenamesGiver, board: tuple[int, ...], roles: tuple[int, ...], hint: int) -> float:
    lapse = giver.lapse / len(SMALL.hints[board])
    return lapse + (1 - giver.lapse) * (chosen(giver, board, roles) == hint)


def points(touches: tuple[int, ...], roles: tuple[int, ...], hint: int) -> float:
    """What a fixed order of touches earns."""
    total = 0.0
    for place in touches[: SMALL.most_touches(hint)]:
        total += PAY[roles[place]]
        if roles[place] != OWN:
            break
    return total


# As any touch but that of an own word ends the turn, a policy is an order of touches
ORDERS = tuple(order for size in range(SMALL.numbers + 1) for order in permutations(range(len(BOARD)), size))


def brute_force(giver: CodenamesGiver, board: tuple[int, ...], hint: int) -> dict[tuple[int, ...], float]:
    """The expected points of every order of touches, by enumerating the roles."""
    weights = np.array([chance(giver, board, roles, hint) for roles in ROLES])
    weights /= weights.sum()
    worth = {order: np.array([points(order, roles, hint) for roles in ROLES]) for order in ORDERS}
    return {order: float(weights @ values) for order, values in worth.items()}


# Rules


def test_the_world_keeps_its_promises() -> None:
    check_world(SMALL)


def test_touches_go_on_while_words_are_own() -> None:
    rng = np.random.default_rng(0)
    roles = (OWN, OWN, NEUTRAL, OTHER, ASSASSIN)
    hint = SMALL.hints[BOARD][0]  # a number of 1 allows two touches
    start = CodenamesState(0, BOARD, roles, hint, (), None)
    after = SMALL.step(start, {"giver": PASS, "guesser": 1}, rng)
    assert after == start._replace(touched=(1,))
    assert SMALL.actions(after, "guesser") == (0, 2, 3, 4, STOP)
    for place, worth in ((STOP, 0.0), (0, 1.0), (2, 0.0), (3, -1.0), (4, -3.0)):
        joint = {"giver": PASS, "guesser": place}
        end = SMALL.step(after, joint, rng)
        touched = (1,) if place == STOP else (1, place)
        assert (end.rounds, end.last) == (1, Turn(BOARD, roles, hint // 2, 1, touched))
        assert SMALL.reward(after, joint, end) == {"giver": worth, "guesser": worth}
    assert SMALL.observe(start, "guesser").roles is None
    assert SMALL.observe(start, "giver").roles == roles
    with pytest.raises(ValueError, match="guesser cannot do 1 now"):
        SMALL.step(after, {"giver": PASS, "guesser": 1}, rng)


def test_boards_are_checked() -> None:
    with pytest.raises(ValueError, match="needs 7 different words"):
        Codenames(boards=((1, 2, 3),))
    with pytest.raises(ValueError, match="1 own word"):
        Codenames(boards=((1, 2),), cards=(OTHER, ASSASSIN))


def test_the_bundled_boards_have_words_that_share_clues() -> None:
    world = Codenames()
    linked = strengths(world.associations, world.associations.conventional) > 0
    assert len(set(world.boards)) == 12
    assert min((linked[list(board)].sum(axis=0) > 1).sum() for board in world.boards) >= 8


# Givers


@pytest.mark.slow
def test_hints_by_brute_force() -> None:
    for giver, board in product(PARTNERS[::5], SMALL.boards):
        assert giver.choices(board).tolist() == [chosen(giver, board, roles) for roles in ROLES]
        law = giver.observe(CodenamesView(board, ROLES[7], None, (), None)).act()
        assert law.prob(chosen(giver, board, ROLES[7])) > 0.98
        assert sum(law.probs) == pytest.approx(1.0)
        assert law.support == SMALL.hints[board]


@pytest.mark.slow
def test_cautious_givers_name_smaller_numbers() -> None:
    world = Codenames()
    bold, cautious = (
        np.mean([giver.choices(board) % world.numbers for giver in pool for board in world.boards])
        for pool in (list(givers(world))[:6:3], list(givers(world))[1:6:3])
    )
    assert bold > cautious + 0.05


# Exact values


@pytest.mark.slow
def test_the_best_response_by_brute_force() -> None:
    for giver, board in product(PARTNERS[::7], SMALL.boards):
        for hint in {*giver.choices(board).tolist()[::11], SMALL.hints[board][3]}:
            last = Turn(board, ROLES[0], hint // SMALL.numbers, hint % SMALL.numbers + 1, ())
            assert best(giver, last) == pytest.approx(max(brute_force(giver, board, hint).values()), abs=1e-9)


@pytest.mark.slow
def test_what_is_earned_with_another_giver_by_brute_force() -> None:
    assumed, true = PARTNERS[0], PARTNERS[13]
    total = 0.0
    for board in SMALL.boards:
        for hint in SMALL.hints[board]:
            worth = brute_force(assumed, board, hint)
            touched = play(informed(assumed), board, hint)
            assert worth[touched] == pytest.approx(max(worth.values()), abs=1e-9)
            total += sum(chance(true, board, roles, hint) * points(touched, roles, hint) for roles in ROLES)
    assert earned(assumed, true) == pytest.approx(total / len(ROLES) / len(SMALL.boards), abs=1e-9)


def play(guesser: object, board: tuple[int, ...], hint: int) -> tuple[int, ...]:
    """The places that a guesser touches in turn as long as they are own words."""
    touched: tuple[int, ...] = ()
    while len(touched) < SMALL.most_touches(hint):
        view = CodenamesView(board, None, hint, touched, None)
        place = guesser.observe(view).act().mode  # type: ignore[attr-defined]
        if place == STOP:
            break
        touched = (*touched, place)
    return touched


@pytest.mark.slow
def test_nobody_beats_a_guesser_that_knows_the_giver() -> None:
    pool = PARTNERS[::4]
    lost = [earned(true, true) - earned(assumed, true) for assumed in pool for true in pool]
    assert min(lost) >= -1e-9
    assert max(lost) > 0.3


# Guessers


@pytest.mark.slow
def test_the_posterior_is_bayes_rule() -> None:
    guesser = bayesian(SMALL).observe(CodenamesView(BOARD, None, None, (), None))
    assert guesser.predict().probs == pytest.approx([0.1] * 10)
    hint = chosen(PARTNERS[9], BOARD, ROLES[17])
    guesser = guesser.observe(CodenamesView(BOARD, None, hint, (), None))
    joint = np.array([[chance(giver, BOARD, roles, hint) for roles in ROLES] for giver in PARTNERS])
    sets = np.bincount([own_set(SMALL, roles) for roles in ROLES], weights=joint.sum(axis=0))
    assert guesser.predict().probs == pytest.approx(list(sets / joint.sum()))
    last = Turn(BOARD, ROLES[17], hint // SMALL.numbers, hint % SMALL.numbers + 1, (0,))
    guesser = guesser.observe(CodenamesView(BOARD, None, None, (), last))
    assert guesser.partners.posterior.probs == pytest.approx(list(joint[:, 17] / joint[:, 17].sum()))


def test_touched_own_words_are_known() -> None:
    hint = chosen(PARTNERS[0], BOARD, ROLES[0])
    guesser = egocentric(SMALL).observe(CodenamesView(BOARD, None, hint, (2,), None))
    sets = own_sets(SMALL)
    assert all(2 in sets[i] for i, p in guesser.predict() if p > 0)
    assert sum(guesser.belief) == pytest.approx(1.0)


def test_a_guesser_that_hears_noise_stops_at_once() -> None:
    for hint in SMALL.hints[BOARD][::9]:
        assert blind(SMALL).observe(CodenamesView(BOARD, None, hint, (), None)).act().mode == STOP
    assert blind(SMALL).act().mode == PASS


@pytest.mark.slow
@pytest.mark.parametrize("make", [bayesian, egocentric, blind])
def test_players_keep_their_promises(make: object) -> None:
    check_mind(make(SMALL), SMALL, agent="guesser", partners={"giver": PARTNERS[3]})  # type: ignore[operator]
    check_mind(PARTNERS[3], SMALL, agent="giver")


def test_small_tables_have_their_own_givers() -> None:
    table = Associations({word: bundled_associations().table[word] for word in ("whale", "ship", "bee", "cow")})
    world = Codenames(3, table, ((0, 1, 2, 3),), (OWN, OWN, OTHER, ASSASSIN))
    assert len(list(givers(world))) == 63
    assert len(world.assignments) == 12
