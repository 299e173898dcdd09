"""Partners by name: what each does, what it is worth at best, and who can play what."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.planning.best_response import best_rate, best_response
from otherminds.worlds.repeated_games import partners
from otherminds.worlds.repeated_games.machines import Machine, constant, memory_one
from otherminds.worlds.repeated_games.partners import partner, partner_names, zero_determinant
from otherminds.worlds.repeated_games.payoff_files import bundled_games, find_game
from otherminds.worlds.repeated_games.rules import Game, Outcome, ordinal_games
from otherminds.worlds.repeated_games.tournament import expected_score

IPD, IBS, RPS = map(find_game, ("ipd", "ibs", "rps"))
WIDE = Game("wide", ("you", "partner"), (("a", "b"), ("x y", "Z", "w")), tuple((n, (n * 5) % 6) for n in range(6)))
THREE = Game("three", ("a", "b", "c"), (("C", "D"),) * 3, ((0, 0, 0),) * 8)


def deeds(machine: Machine, theirs: Sequence[int]) -> list[int]:
    """What a machine without chance does while the other does as told, and after it."""
    mind, done = machine.start, []
    for deed in theirs:
        done.append(mind.act().mode)
        mind = mind.observe(Outcome(done[-1], deed, 0.0))
    return [*done, mind.act().mode]


def worth(game: Game, machine: Machine, rounds: int = 100) -> float:
    """What the best response gets in expectation."""
    return float(best_response(game.payoff(), machine.chances, rounds).values[0, 0])


# Figures


@pytest.mark.parametrize(
    ("game", "name", "total"),
    [
        (IPD, "tft", 802),
        (IPD, "always-cooperate", 1000),
        (IPD, "always-defect", 500),
        (IPD, "wsls", 802),
        (IPD, "gtft", 802),
        (IPD, "random", 750),
        (IPD, "grim", 802),
        (IPD, "tit-for-two-tats", 902),
        (IPD, "tit for tat", 802),
        (IPD, "reciprocal-stubborn", 500),
        (IBS, "always-fight", 1000),
        (IBS, "always-ballet", 700),
        (IBS, "tft", 1000),
        (IBS, "copy", 1000),
        (IBS, "reactive-101", 990),
        (IBS, "alternate", 850),
        (IBS, "reciprocal-stubborn", 850),
        (RPS, "tft", 100),
        (RPS, "always-paper", 100),
        (RPS, "random", 0),
    ],
)
def test_what_a_best_response_gets_in_a_hundred_rounds(game: Game, name: str, total: float) -> None:
    assert worth(game, partner(name, game)) == pytest.approx(total, abs=1e-9)


def test_published_rates_of_stochastic_partners() -> None:
    per_round = {name: worth(IPD, partner(name, IPD)) / 100 for name in ("joss", "random", "gtft")}
    assert per_round == pytest.approx({"joss": 7.231, "random": 7.5, "gtft": 8.02}, abs=5e-4)
    wary = memory_one("joss that is already wary", IPD, (0.9, 0.1), [[(0.9, 0.1), 1]] * 2)
    assert worth(IPD, wary) / 100 == pytest.approx(7.223, abs=5e-4)


def test_the_long_run_leaves_out_the_last_defection() -> None:
    rates = {name: best_rate(IPD.payoff(), partner(name, IPD).chances) for name in ("tft", "joss")}
    assert rates == pytest.approx({"tft": 8.0, "joss": 7.2}, abs=1e-6)
    # cooperating always is best, and the extortioner then cooperates in five rounds of six
    assert best_rate(IPD.payoff(), partner("zd-extort-2", IPD).chances) == pytest.approx(8 * 5 / 6, abs=1e-6)


@pytest.mark.parametrize("name", ["tft", "wsls", "gtft", "grim"])
def test_hardly_any_noise_costs_hardly_anything(name: str) -> None:
    assert best_rate(IBS.payoff(), partner(f"{name}~1e-8", IBS).chances) == pytest.approx(10.0, abs=1e-5)


@pytest.mark.parametrize(("noise", "chance"), [("0", 0.0), ("0.05", 0.025), (".5", 0.25), ("1", 0.5)])
def test_a_noisy_partner_trembles(noise: str, chance: float) -> None:
    tft = partner(f"tft~{noise}", IPD)
    assert tft == partner("TFT", IPD).trembling(float(noise))
    assert tft.start.act().prob(1) == pytest.approx(chance)


# What they do


@pytest.mark.parametrize(
    ("game", "name", "theirs", "done"),
    [
        (IPD, "tft", [0, 1, 1, 0], [0, 0, 1, 1, 0]),
        (IBS, "tft", [0, 1, 1, 0], [0, 0, 1, 1, 0]),
        (RPS, "tft", [0, 1, 2, 0], [1, 1, 2, 0, 1]),
        (RPS, "copy", [0, 1, 2, 0], [0, 0, 1, 2, 0]),
        (RPS, "anti-copy", [0, 1, 2, 0], [0, 1, 2, 0, 1]),
        (IPD, "anti-copy", [0, 1, 1], [0, 1, 0, 0]),
        (IPD, "best-response", [0, 1, 0], [1, 1, 1, 1]),
        (IBS, "best-response", [0, 1, 0], [0, 0, 1, 0]),
        (RPS, "best-response", [0, 1, 2], [1, 1, 2, 0]),
        (WIDE, "best-response", [0, 1, 0], [1, 1, 0, 1]),
        (IPD, "wsls", [0, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0]),
        (IPD, "win-shift", [0, 0, 1, 1], [0, 1, 0, 0, 0]),
        (IBS, "wsls", [0, 1, 1, 0], [0, 0, 1, 1, 0]),
        (RPS, "wsls", [0, 1, 1, 0], [0, 0, 1, 1, 1]),
        (RPS, "win-shift", [2, 0, 2], [0, 1, 2, 0]),
        (IBS, "alternate", [0, 0, 0], [0, 1, 0, 1]),
        (RPS, "alternate", [0, 0, 0], [0, 1, 2, 0]),
        (RPS, "cycle-0221", [0, 0, 0, 0, 0], [0, 2, 2, 1, 0, 2]),
        (IPD, "grim", [0, 1, 0, 0], [0, 0, 1, 1, 1]),
        (IPD, "tit-for-two-tats", [1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 0]),
        (IPD, "tit-for-two-tats", [1, 1], [0, 0, 1]),
        (IBS, "reciprocal-stubborn", [0, 0, 1, 0, 1, 1, 1], [1, 1, 1, 0, 1, 0, 1, 0]),
        (IPD, "reciprocal-stubborn", [1, 0, 1, 0, 0], [1, 1, 0, 1, 0, 1]),
        (IPD, "switcher", [1] * 40, ([0] * 10 + [1] * 10) * 2 + [0]),
        (IPD, "memory-one-01011", [0, 0, 1, 1], [0, 1, 1, 1, 1]),
        (RPS, "reactive-2120", [0, 1, 2], [2, 1, 2, 0]),
        (IPD, "bully", [0, 1], [1, 1, 0]),
        (IBS, "alternator", [1, 1, 1], [0, 1, 0, 1]),
        (WIDE, "always-x-y", [0, 1], [0, 0, 0]),
        (WIDE, "Always Z", [0, 1], [1, 1, 1]),
    ],
)
def test_what_partners_do(game: Game, name: str, theirs: list[int], done: list[int]) -> None:
    assert deeds(partner(name, game), theirs) == done


@pytest.mark.parametrize(
    ("name", "chances"),
    [
        ("gtft", [1, 1 / 3, 1, 1 / 3]),
        ("joss", [0.9, 0, 0.9, 0]),
        ("random", [1 / 2] * 4),
        ("tft~0.1", [0.95, 0.05, 0.95, 0.05]),
    ],
)
def test_how_likely_partners_cooperate(name: str, chances: list[float]) -> None:
    machine = partner(name, IPD)
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    after = [machine.start.observe(Outcome(own, theirs, 0.0)).act().prob(0) for own, theirs in pairs]
    assert after == pytest.approx(chances)
    assert machine.start.act().prob(0) == pytest.approx({"random": 0.5, "tft~0.1": 0.95}.get(name, 1.0))


def dilemma(reward: float, sucker: float, temptation: float, punishment: float) -> Game:
    payoffs = ((reward, reward), (sucker, temptation), (temptation, sucker), (punishment, punishment))
    return Game("dilemma", ("you", "partner"), (("Cooperate", "Defect"),) * 2, payoffs)


UNLIKE = Game("unlike", ("you", "partner"), (("a", "b"), ("x", "y")), ((9, 2), (-1, 5), (12, 0), (1, 1)))
ENFORCEABLE = [dilemma(3, 0, 5, 1), dilemma(8, 0, 10, 5), dilemma(4, -1, 6, 0), dilemma(10, 1, 11, 4), UNLIKE]


@pytest.mark.slow
@pytest.mark.parametrize("game", ENFORCEABLE)
@pytest.mark.parametrize(("name", "mutual"), [("zd-extort-2", 1), ("zd-gtft-2", 0), ("zd-extort-3.5", 1)])
def test_a_zero_determinant_partner_holds_its_surplus_whatever_the_other_does(
    game: Game, name: str, mutual: int
) -> None:
    machine, slope, rounds = partner(name, game), float(name.split("-")[2]), 20_000
    rng = np.random.default_rng(1)
    laws = [[(p, 1.0 - p) for p in pair] for pair in rng.uniform(0.05, 0.95, size=(2, 2))]
    others = [memory_one("any", game, 0, laws, agent=0), constant(game, 0, agent=0), constant(game, 1, agent=0)]
    for other in others:
        theirs, own = (total / rounds for total in expected_score(game, other, machine, rounds))
        surplus = own - game.payoff(1)[mutual, mutual]
        assert surplus == pytest.approx(slope * (theirs - game.payoff()[mutual, mutual]), abs=0.02)


def test_zero_determinant_partners_are_the_published_ones_in_the_usual_dilemma() -> None:
    usual = dilemma(3, 0, 5, 1)
    assert zero_determinant(usual, "extort", 2.0) == pytest.approx((8 / 9, 1 / 2, 1 / 3, 0))
    assert zero_determinant(usual, "gtft", 2.0) == pytest.approx((1, 1 / 8, 1, 1 / 4))


def test_a_game_has_a_zero_determinant_partner_if_any_four_probabilities_enforce_the_ratio() -> None:
    for game in ordinal_games():
        own, theirs = game.payoff(1), game.payoff().T
        gaps = (own - own[1, 1] - 2 * (theirs - theirs[1, 1])).ravel()
        tries = (np.array([1, 1, 0, 0]) + rate * gaps for rate in (1e-3, -1e-3))
        assert (zero_determinant(game, "extort", 2.0) is not None) == any(
            ((p > -1e-9) & (p < 1 + 1e-9)).all() for p in tries
        )


def test_tit_for_tat_is_known_by_the_payoffs_not_by_names() -> None:
    renamed = Game("food", RPS.agents, (("Pasta", "Rice", "Bread"),) * 2, RPS.payoffs)
    assert deeds(partner("tft", renamed), [0, 1]) == [1, 1, 2]
    other = Game("rps", RPS.agents, RPS.actions, RPS.payoffs[::-1])
    assert deeds(partner("tft", other), [0, 1]) == [0, 0, 1]


def test_equal_payoffs_are_a_success_for_those_who_stay() -> None:
    even = Game("even", WIDE.agents, WIDE.actions, ((2.3, 2.3),) * 6)  # whose mean is rounded upwards
    assert deeds(partner("wsls", even), [0, 1, 0]) == [0] * 4


# Who can play what

GAMES = (*bundled_games(), *list(ordinal_games())[::13], WIDE)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_name_that_is_listed_can_play_and_finds_itself_again(game: Game) -> None:
    names = partner_names(game)
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for name in names:
        machine = partner(name, game)
        assert partner(name.upper(), game) == partner(machine.name, game) == machine
        assert machine.chances.moves.shape[1:] == game.shape
        rounds = 7
        assert best_response(game.payoff(), machine.chances, rounds).values.shape == (rounds + 1, len(machine.outputs))


def test_which_partners_fit_which_game() -> None:
    anywhere = {"best-response", "wsls", "win-shift", "alternate", "random", "reciprocal-stubborn"}
    square = {"tft", "copy", "anti-copy", "switcher"}
    dilemma = {"grim", "tit-for-two-tats", "gtft", "joss"}
    extortion = {"zd-extort-2", "zd-gtft-2"}
    assert set(partner_names(WIDE)) == anywhere | {"always-x-y", "always-z", "always-w"}
    assert set(partner_names(RPS)) == anywhere | square | {"always-rock", "always-paper", "always-scissors"}
    assert set(partner_names(IBS)) > anywhere | square | dilemma | {"always-fight", "tit-for-tat", "detective"}
    assert set(partner_names(IPD)) > anywhere | square | dilemma | extortion
    assert not extortion & set(partner_names(IBS))
    alone = {"best-response", "wsls", "win-shift", "alternate", "random"}
    assert set(partner_names(THREE)) == alone | {"always-c", "always-d"}


def test_games_with_many_actions() -> None:
    for size, fine in [(30, True), (31, False)]:
        game = Game("many", ("a", "b"), (tuple(f"act {a}" for a in range(size)),) * 2, ((0, 0),) * size**2)
        assert bool(partner_names(game)) == fine
        if fine:
            assert deeds(partner("copy", game), [29, 11]) == [0, 29, 11]
        else:
            with pytest.raises(InputError, match="copy cannot play many"):
                partner("copy", game)


@pytest.mark.parametrize(
    ("game", "name", "message"),
    [
        (IPD, "tfd", "unknown partner `tfd` (did you mean tft?)"),
        (IPD, "always-defeat", "unknown partner `always-defeat` (did you mean always-defect?)"),
        (IPD, "tit for tad", "unknown partner `tit-for-tad` (did you mean tit-for-tat?"),
        (IPD, "x" * 10_000, f"unknown partner `{'x' * 60}` (there is always-cooperate, always-defect, tft"),
        (IPD, "", "unknown partner `` (there is"),
        (IPD, "cycle-", "unknown partner `cycle-`"),
        (IPD, "cycle-٣", "unknown partner `cycle-٣`"),
        (RPS, "grim", "grim cannot play rps (it plays 2 × 2 games)"),
        (RPS, "Tit For Tat", "tit-for-tat cannot play rps (it plays 2 × 2 games)"),
        (WIDE, "copy", "copy cannot play wide (it needs as many actions as the other has)"),
        (WIDE, "tft", "tft cannot play wide (it needs as many actions as the other has)"),
        (THREE, "tft", "tft cannot play three (it plays games of two)"),
        (
            IBS,
            "zd-extort-2",
            "zd-extort-2 cannot play ibs (its surplus over mutual Ballet would have to be at most 2 times",
        ),
        (
            IPD,
            "zd-extort-0.1",
            "zd-extort-0.1 cannot play ipd (its surplus over mutual Defect would have to be at most 0.1",
        ),
        (RPS, "zd-gtft-3", "zd-gtft-3 cannot play rps (it plays 2 × 2 games)"),
        (IPD, "zd-extort-", "unknown partner `zd-extort-` (did you mean zd-extort-2?)"),
        (IPD, "cycle-012", "cycle-012 cannot play ipd (its actions are 0 to 1)"),
        (IPD, "cycle-" + "0" * 5000, f"cycle-{'0' * 54} cannot play ipd (1000 digits are the most)"),
        (IPD, "reactive-01", "reactive-01 cannot play ipd (it needs a first action and 2 replies)"),
        (IPD, "memory-one-0101", "memory-one-0101 cannot play ipd (it needs a first action and 4 replies)"),
        (RPS, "memory-one-01010", "memory-one-01010 cannot play rps (it needs a first action and 9 replies)"),
        (IPD, "tft~2", "`2` is not a noise (the probability of a uniformly random action, from 0 to 1: tft~0.1"),
        (IPD, "tft~nan", "`nan` is not a noise"),
        (IPD, "tft~-0.1", "`-0.1` is not a noise"),
        (IPD, "tft~", "`` is not a noise"),
        (IPD, "tft~0.1~0.1", "`0.1~0.1` is not a noise"),
    ],
)
def test_names_that_are_no_partner(game: Game, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        partner(name, game)
    assert str(caught.value).startswith(message)


@pytest.mark.slow
@given(
    name=st.text() | st.from_regex(r"(cycle|reactive|memory-one|always|tft|zd-extort)[-~ ][0-9a-z.e-]*", fullmatch=True)
)
def test_any_name_is_a_partner_or_refused(name: str) -> None:
    for game in (IPD, RPS, WIDE, THREE):
        with suppress(InputError):
            assert len(partner(name, game).outputs[0]) == len(game.actions[1])


# Suites


def test_single_actions_and_tit_for_tat() -> None:
    assert partners.single_action(RPS) == tuple(constant(RPS, action) for action in range(3))
    assert partners.tit_for_tat(RPS) == (partner("tft", RPS),)
    with pytest.raises(InputError, match="tft cannot play wide"):
        partners.tit_for_tat(WIDE)


def test_all_memory_one_partners() -> None:
    machines = partners.memory_one(IBS)
    assert len({machine.name for machine in machines}) == 32
    assert all(partner(machine.name, IBS) == machine for machine in machines)
    assert len(partners.memory_one(RPS)) == 81
    assert all(partner(machine.name, RPS) == machine for machine in partners.memory_one(RPS))
    assert len(partners.memory_one(WIDE)) == 27


def test_more_reactive_partners_than_anybody_wants() -> None:
    size = 5
    game = Game("large", ("a", "b"), (tuple("abcde"),) * 2, ((0, 0),) * size**2)
    with pytest.raises(InputError, match="large has more than 10,000 reactive partners"):
        partners.memory_one(game)


def test_the_bundled_machines_are_a_suite() -> None:
    assert [machine.name for machine in partners.machines(IPD)][:2] == ["AON2", "Alternator"]
    with pytest.raises(InputError, match="do not fit rps"):
        partners.machines(RPS)


@pytest.mark.parametrize("suite", [partners.single_action, partners.tit_for_tat, partners.memory_one])
def test_suites_can_be_made_noisy(suite: Callable[[Game], tuple[Machine, ...]]) -> None:
    noisy = [machine.trembling(0.1) for machine in suite(RPS)]
    assert all(np.isclose(np.min(machine.outputs), 0.1 / 3) for machine in noisy)
    assert len({machine.name for machine in noisy}) == len(noisy)
