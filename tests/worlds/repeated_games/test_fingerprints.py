"""Fingerprints, replicator dynamics and exploitability: closed forms, and the Axelrod library where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from otherminds.worlds.repeated_games.fingerprints import dual, fingerprint, joss_ann
from otherminds.worlds.repeated_games.machines import Machine, bundled_machines, constant, equivalent
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game
from otherminds.worlds.repeated_games.tournament import (
    exploitability,
    match_score,
    replicator_dynamics,
    security_level,
    tournament,
)

Floats = NDArray[np.float64]

IPD, RPS = find_game("ipd"), find_game("rps")
CLASSIC = Game(
    "classic", ("you", "partner"), (("C", "D"), ("C", "D")), ((3.0, 3.0), (0.0, 5.0), (5.0, 0.0), (1.0, 1.0))
)
TFT = partner("tft", CLASSIC)
# totals of ten rounds, by hand: 3 a round together, 5 and 0 if one is betrayed, 1 each if both defect
KNOWN = {
    ("tft", "always-d"): (9.0, 14.0),  # betrayed once, then nine rounds of 1
    ("tft", "tft"): (30.0, 30.0),
    ("grim", "alternate"): (27.0, 12.0),  # 3, 0, then 5 and 1 by turns
    ("wsls", "always-d"): (5.0, 30.0),  # 0 and 1 by turns
    ("always-c", "alternate"): (15.0, 40.0),
    ("tit-for-two-tats", "always-d"): (8.0, 18.0),
}


@pytest.mark.parametrize("pair", KNOWN, ids=" ".join)
def test_scores_computed_by_hand(pair: tuple[str, str]) -> None:
    first, second = (partner(name, CLASSIC) for name in pair)
    assert match_score(CLASSIC, first, second, 10) == KNOWN[pair]


def test_a_disturbed_probe_mixes_three_ways_to_play() -> None:
    probe = joss_ann(TFT, 0.2, 0.3)
    assert probe.outputs[0] == pytest.approx((0.2 + 0.5, 0.3))
    assert joss_ann(TFT, 0.0, 0.0).outputs == TFT.outputs
    assert equivalent(dual(dual(TFT)), TFT)
    assert equivalent(dual(constant(CLASSIC, 0)), constant(CLASSIC, 1))
    for x, y in ((-0.1, 0.5), (0.6, 0.6)):
        with pytest.raises(ValueError, match="exclude each other"):
            joss_ann(TFT, x, y)


def test_the_fingerprint_of_a_cooperator_has_a_closed_form() -> None:
    # with it, tit for tat cooperates and its opposite defects: P(cooperate) = 1 − y on both sides of the diagonal
    found = fingerprint(CLASSIC, constant(CLASSIC, 0), TFT, 30, 0.25)
    grid = np.linspace(0, 1, 5)
    assert found == pytest.approx(np.tile(3 * (1 - grid), (5, 1)))


def test_corners_of_a_fingerprint_are_matches_with_the_probe_cooperators_defectors_and_the_opposite() -> None:
    wsls = partner("wsls", CLASSIC)
    found = fingerprint(CLASSIC, wsls, TFT, 20, 1.0) * 20
    against = [
        match_score(CLASSIC, wsls, one, 20)[0] for one in (TFT, constant(CLASSIC, 1), constant(CLASSIC, 0), dual(TFT))
    ]
    assert found.ravel().tolist() == pytest.approx(against)


@pytest.mark.parametrize(("game", "step", "message"), [(RPS, 0.5, "2 × 2 games"), (IPD, 0.0, "unit square")])
def test_what_has_no_fingerprint(game: Game, step: float, message: str) -> None:
    machine = constant(game, 0)
    with pytest.raises(ValueError, match=message):
        fingerprint(game, machine, machine, 5, step)


def test_replicator_dynamics_of_hawks_and_doves_end_at_the_mixed_equilibrium() -> None:
    hawk_dove = np.array([[-1.0, 2.0], [0.0, 1.0]])  # a fight costs 4, and what they fight for is worth 2
    shares = replicator_dynamics(hawk_dove, 300, np.array([0.9, 0.1]))
    assert shares.sum(axis=1) == pytest.approx(np.ones(301))
    assert shares[-1] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert replicator_dynamics(np.zeros((2, 2)), 3)[-1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("payoffs", "shares"), [(np.zeros((2, 3)), None), (np.zeros((2, 2)), np.array([0.7, 0.7]))])
def test_what_is_no_population(payoffs: Floats, shares: Floats | None) -> None:
    with pytest.raises(ValueError):
        replicator_dynamics(payoffs, 5, shares)


def test_only_optimal_mixing_cannot_be_exploited() -> None:
    uniform = partner("random", RPS)
    assert exploitability(RPS, uniform, 50) == pytest.approx((0.0, 0.0), abs=1e-9)
    rock = exploitability(RPS, partner("always-rock", RPS), 50)
    win = float(RPS.payoff().max())
    assert rock == pytest.approx((win, 2 * win))
    biased = Machine("biased", ((0.5, 0.25, 0.25),), (((0, 0, 0),) * 3,))
    assert exploitability(RPS, biased, 7).over_value == pytest.approx(0.25 * win)
    # in a prisoner's dilemma the other holds one to the payoff of mutual defection; tit for tat gives 3, and 5 at last
    assert security_level(CLASSIC) == pytest.approx(1.0)
    assert exploitability(CLASSIC, TFT, 10) == pytest.approx(((9 * 3 + 5) / 10 - 1, 5 / 10))


NAMES = ("Alternator", "Tit For Tat", "Grudger", "Win-Stay Lose-Shift", "Bully", "Cycler CCD", "Tit For 2 Tats")


@pytest.mark.slow
def test_deterministic_pairs_score_as_in_the_axelrod_library() -> None:
    axelrod = _axelrod()
    machines = [{one.name: one for one in bundled_machines(CLASSIC)}[name] for name in NAMES]
    players = [{one.name: one for one in axelrod.strategies}[name]() for name in NAMES]
    found = tournament(CLASSIC, machines, 50)
    for i, first in enumerate(players):
        for j, second in enumerate(players):
            match = axelrod.Match((first.clone(), second.clone()), turns=50)
            match.play()
            assert found[i, j] == pytest.approx(match.final_score_per_turn())


@pytest.mark.slow
def test_fingerprints_are_those_of_the_axelrod_library_up_to_sampling() -> None:
    axelrod = _axelrod()
    prints = axelrod.AshlockFingerprint(axelrod.WinStayLoseShift, axelrod.TitForTat)
    theirs = prints.fingerprint(turns=50, repetitions=40, step=0.5, progress_bar=False, seed=1)
    ours = fingerprint(CLASSIC, partner("wsls", CLASSIC), TFT, 50, 0.5)
    for (x, y), payoff in theirs.items():
        assert payoff == pytest.approx(ours[round(2 * x), round(2 * y)], abs=0.12)


def _axelrod() -> Any:
    pytest.importorskip("axelrod", reason="needs the Axelrod library: the extra `peers`")
    return import_module("axelrod")
