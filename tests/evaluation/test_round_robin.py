"""Tournaments: exact for machines, sampled for players, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.round_robin import RoundRobin, entrants_in, round_robin, symmetric
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game
from otherminds.worlds.repeated_games.tournament import tournament

IPD, IBS, RPS = map(find_game, ("ipd", "ibs", "rps"))


def played(game: Game, *names: str, rounds: int = 20, episodes: int = 3, seed: int = 1) -> RoundRobin:
    return round_robin(game, entrants_in(game, names), rounds, episodes, seed)


def test_machines_earn_what_is_expected_without_an_interval() -> None:
    names = ("tft", "grim", "always-defect", "random", "tft~0.1")
    found = played(IPD, *names)
    expected = tournament(IPD, [partner(name, IPD) for name in names], 20)
    assert np.allclose(found.scores, expected)
    for standing in found.ranking:
        i = [one.name for one in found.entrants].index(standing.name)
        others = [j for j in range(len(names)) if j != i]
        assert standing.score.value == pytest.approx(expected[i, others, 0].mean())
        assert standing.score.low == standing.score.high == standing.score.value
    assert sorted((one.score.value for one in found.ranking), reverse=True) == [s.score.value for s in found.ranking]


def test_entrants_with_the_same_payoff_share_a_rank() -> None:
    found = played(IPD, "tft", "grim", "always-cooperate", "always-defect", rounds=4)
    assert [one.name for one in found.ranking] == ["always Defect", "tft", "grim", "always Cooperate"]
    assert found.ranks == ["1", "2=", "2=", "4"]


def test_a_scripted_player_and_its_machine_earn_the_same() -> None:
    # Bayesian play is certain with certain partners: one match stands for all
    found = played(IBS, "bayes_simplicity", "tft", "always-ballet", rounds=5)
    assert (found.scores == found.scores[0]).all()
    assert found.ranking[0].score.low == found.ranking[0].score.high


def test_both_places_count_in_a_game_that_is_not_symmetric() -> None:
    assert not symmetric(IBS)
    assert symmetric(IPD)
    found = played(IBS, "always-fight", "always-ballet", "rmax", rounds=4)
    fight, ballet = 0, 1
    assert found.scores[0, fight, fight].tolist() == list(IBS.payoffs[0])
    assert found.table[fight, ballet] == 0.0
    assert found.table[fight, fight] == pytest.approx(sum(IBS.payoffs[0]) / 2)


def test_random_players_have_an_interval_and_a_seed_fixes_them() -> None:
    found, again, other = (played(RPS, "rmax", "random", "tft", seed=seed) for seed in (1, 1, 2))
    assert (found.scores == again.scores).all()
    assert not (found.scores == other.scores).all()
    (learner,) = [one.score for one in found.ranking if one.name == "rmax"]
    assert learner.low < learner.value < learner.high
    assert (found.scores[:, 0, 1] == found.scores[:, 1, 0, ::-1]).all(), "a symmetric game needs each pair once"


def test_shares_start_equal_and_defectors_do_not_spread_among_those_who_retaliate() -> None:
    found = played(IPD, "tft", "grim", "always-defect", rounds=50)
    shares = found.shares(200)
    assert shares[0] == pytest.approx(np.full(3, 1 / 3))
    assert shares[-1, 2] < 1e-6


def test_everybody_who_fits_plays_by_default(tmp_path: Path) -> None:
    names = [one.name for one in entrants_in(IPD, ())]
    assert {"tft", "always Defect", "Tit For Tat", "gtft"} <= set(names)
    assert len(names) == len(set(names)) > 50
    assert "always Rock" in [one.name for one in entrants_in(RPS, ())]
    path = tmp_path / "mine.json"
    path.write_text('{"machines": {"grudge": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [1, 1]]}}}')
    assert "grudge" in [one.name for one in entrants_in(IPD, (), path)]
    assert [one.name for one in entrants_in(IPD, ("Grudge", "tft", "TFT", "rmax"), path)] == ["grudge", "tft", "rmax"]


@pytest.mark.parametrize(
    ("game", "names", "message"),
    [
        (IPD, ("tft", "rmx"), "unknown entrant `rmx` .did you mean rmax"),
        (IPD, ("tft",), "needs two entrants"),
        (RPS, ("tft", "k_tom_1"), "k_tom_1 cannot play rps"),
        (RPS, ("tft", "grim"), "grim cannot play rps"),
        (Game("three", ("a", "b", "c"), (("u", "v"),) * 3, ((0, 0, 0),) * 8), ("random",), "three has 3 agents"),
    ],
)
def test_who_cannot_enter(game: Game, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        played(game, *names)
