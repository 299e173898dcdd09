"""Tiny Hanabi and Wavelength as an experiment: rows, pairing, and what the subjects come to."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from otherminds.papers.functional.card_and_word_games import GameEpisode, plan, rows, summarise
from otherminds.worlds.clue_games.clue_game import ClueGame
from otherminds.worlds.clue_games.games import clue_games
from otherminds.worlds.clue_games.tiny_hanabi import TinyHanabi
from otherminds.worlds.clue_games.wavelength import score

Row = dict[str, Any]
HANABI, WAVELENGTH = "hanabi/signals", "wavelength/dials"
KEYS = {"schema", "experiment", "condition", "subject", "seed", "episode", "t"}
KEYS |= {"predicted", "p_true", "observed", "action", "reward", "best"}


@cache
def games() -> dict[str, ClueGame]:
    return clue_games()


@cache
def played() -> tuple[Row, ...]:
    return tuple(row for entry in plan(42, 1) for row in rows(entry))


@cache
def summary() -> dict[tuple[str, str, str], Row]:
    return {(row["condition"], row["subject"], row["metric"]): row for row in summarise(played())}


def of(condition: str, subject: str) -> list[Row]:
    return [row for row in played() if (row["condition"], row["subject"]) == (condition, subject)]


def value(condition: str, subject: str, metric: str = "functional_regret") -> float:
    return float(summary()[condition, subject, metric]["value"])


def test_every_subject_plays_with_every_partner() -> None:
    entries = plan(7, 2)
    assert len(entries) == len({entry.key for entry in entries}) == 2 * 4 * (9 + 25)
    assert {entry.seed for entry in entries} == {7}


@pytest.mark.parametrize(("condition", "rounds"), [(HANABI, 100), (WAVELENGTH, 20)])
def test_rows_have_the_common_columns(condition: str, rounds: int) -> None:
    found = rows(GameEpisode(condition, next(iter(games()[condition].partners)), "bayesian", 3))
    assert [row["t"] for row in found] == list(range(rounds))
    assert all(row.keys() >= KEYS and (row["schema"], row["experiment"]) == (1, "functional") for row in found)
    assert ["functional_regret" in row for row in found] == [False] * (rounds - 1) + [True]
    assert isinstance(found[0]["episode"], str)
    assert json.loads(json.dumps(found)) == found


def test_the_scores_of_an_episode_follow_from_its_rows() -> None:
    found = rows(GameEpisode(WAVELENGTH, "slope 0.6 offset -0.2", "egocentric", 3))
    assert found[-1]["functional_regret"] == pytest.approx(np.mean([row["best"] - row["reward"] for row in found]))
    right = np.mean([row["predicted"] == row["observed"] for row in found])
    assert found[-1]["tom_percent"] == pytest.approx(100 * right)
    assert all(row["reward"] == score(row["observed"] - row["target"]) for row in found)


@pytest.mark.slow
def test_rewards_in_hanabi_are_the_payoffs() -> None:
    table = TinyHanabi().table
    for row in of(HANABI, "egocentric"):
        assert row["reward"] == table[row["observed"], row["card"], row["signal"], row["action"]]


@pytest.mark.slow
def test_episodes_are_pure_functions_of_their_entries() -> None:
    entry = GameEpisode(WAVELENGTH, "slope 1.2 offset 0", "bayesian", 3)
    assert rows(entry) == rows(entry)
    assert rows(entry) != rows(replace(entry, seed=4))
    assert rows(entry) != rows(replace(entry, number=1))


@pytest.mark.slow
def test_deals_and_partners_are_alike_for_every_subject() -> None:
    def shared(row: Row) -> tuple[Any, ...]:
        dealt = ("observed", "card", "signal") if row["condition"] == HANABI else ("spectrum", "target")
        return tuple(row[name] for name in ("episode", "t", "best", *dealt))

    for condition, game in games().items():
        informed = [shared(row) for row in of(condition, "informed")]
        assert all([shared(row) for row in of(condition, other)] == informed for other in game.uninformed)
    # the same clue in the same round meets the same chance
    pairs = list(zip(of(WAVELENGTH, "informed"), of(WAVELENGTH, "bayesian"), strict=True))
    same = [(a, b) for a, b in pairs if a["action"] == b["action"]]
    assert 0 < len(same) < len(pairs)
    assert all(a["observed"] == b["observed"] for a, b in same)


@pytest.mark.slow
def test_predictions_are_made_before_anything_is_revealed() -> None:
    for row in of(HANABI, "informed"):
        convention = row["episode"].split("/")[0].split("-")
        matching = [card for card in (0, 1) if convention[card] == str(row["signal"])]
        assert row["p_true"] == pytest.approx(1 / len(matching))
        assert row["predicted"] == matching[0]
    first = [row["p_true"] for row in of(HANABI, "bayesian") if row["t"] == 0]
    assert first == pytest.approx([0.5] * 9)


@pytest.mark.parametrize("condition", [HANABI, WAVELENGTH])
def test_regret_is_zero_on_average_for_whoever_knows_the_partner(condition: str) -> None:
    regrets = [row["best"] - row["reward"] for row in of(condition, "informed")]
    assert abs(np.mean(regrets)) < 3 * np.std(regrets) / len(regrets) ** 0.5


@pytest.mark.slow
def test_mindreading_pays() -> None:
    for condition, other in product((HANABI, WAVELENGTH), ("egocentric", "blind", "random")):
        if other in games()[condition].uninformed:
            assert value(condition, "bayesian") < value(condition, other) - 0.9
            assert value(condition, "bayesian", "tom_percent") > value(condition, other, "tom_percent") + 15
    assert value(WAVELENGTH, "informed") < value(WAVELENGTH, "bayesian") < 0.3
    errors = [value(WAVELENGTH, name, "literal_error") for name in ("informed", "bayesian", "egocentric", "random")]
    assert errors == sorted(errors)


def test_the_summary_has_every_metric_of_every_subject() -> None:
    for condition, game in games().items():
        metrics = ["functional_regret", "tom_percent"] + ["literal_error"] * (condition == WAVELENGTH)
        for subject, metric in product(("informed", *game.uninformed), metrics):
            row = summary()[condition, subject, metric]
            assert row["low"] <= row["value"] <= row["high"]
            assert row["n"] == len(game.partners)
    assert {row["experiment"] for row in summary().values()} == {"functional"}
    assert len(summary()) == 4 * 2 + 4 * 3 + 2


def test_interestingness_of_both_games() -> None:
    assert value(HANABI, "task", "interestingness") == pytest.approx(2.259, abs=5e-4)
    assert value(WAVELENGTH, "task", "interestingness") == pytest.approx(1.417, abs=5e-4)
    assert summarise([]) == []


def test_unknown_subjects_are_an_error() -> None:
    streams = {name: np.random.default_rng(0) for name in ("deals", "partner", "subject")}
    with pytest.raises(KeyError):
        list(games()[HANABI].play("0-0", "clairvoyant", streams))


def test_other_worlds_of_clues_and_answers_take_the_same_loop() -> None:
    game = replace(games()[HANABI], world=TinyHanabi(rounds=2))
    streams = {name: np.random.default_rng(0) for name in ("deals", "partner", "subject")}
    found = list(game.play("2-0", "informed", streams))
    assert [(row["t"], row["reward"], row["best"]) for row in found] == [(0, 10.0, 10.0), (1, 10.0, 10.0)]
