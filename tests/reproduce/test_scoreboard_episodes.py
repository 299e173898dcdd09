"""Rows of every experiment, read for the scoreboard: against what they say by hand, and against real episodes."""

from __future__ import annotations

from typing import Any

import pytest

from otherminds.evaluation.scoreboard import Episode, scores
from otherminds.papers.functional import experiment as functional
from otherminds.papers.protom import experiment as facilitated
from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.reproduce.scoreboard_episodes import FAMILIES, READERS, episodes
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels

Row = dict[str, Any]


def board(experiment: str, rows: list[Row]) -> dict[tuple[str, str, str], float]:
    table = scores(episodes(experiment, rows))
    return {(row["condition"], row["subject"], row["metric"]): row["value"] for row in table}


def one(experiment: str, rows: list[Row]) -> Episode:
    (found,) = episodes(experiment, rows)
    return found


GAME: list[Row] = [
    {"experiment": "functional", "condition": "ipd/single", "subject": "me", "episode": "x/0", "policy": "own"}
    | {"predicted": predicted, "observed": 1, "p_predicted": 0.75, "reward": 1.0, "best": 4.0}
    for predicted in (0, 1)
]
GAME[-1]["uniform"] = 0.0


def test_a_game_is_read_with_its_optimum_and_random_play() -> None:
    found = one("functional", GAME)
    assert (found.world, found.agent, found.earned, found.best, found.floor) == (
        "Prisoner's dilemma",
        "me",
        2.0,
        8.0,
        0,
    )
    assert [tuple(expectation) for expectation in found.expectations] == [(False, 0.75), (True, 0.75)]


@pytest.mark.parametrize(
    ("condition", "world"),
    [
        ("ipd/tft_noise05", "Prisoner's dilemma, slips"),
        ("rps/machines", "Rock, Paper, Scissors, machines"),
        ("chicken/always swerve", "chicken"),
    ],
)
def test_partners_of_other_kinds_are_another_world(condition: str, world: str) -> None:
    assert one("functional", [row | {"condition": condition} for row in GAME]).world == world


def test_checks_are_apart_from_the_table_and_who_is_told_is_left_out() -> None:
    checked = [row | {"experiment": "check"} for row in GAME]
    assert one("check", checked).world == "Prisoner's dilemma, checked"
    assert not list(episodes("check", [row | {"policy": "oracle"} for row in checked]))


def test_an_unreadable_prediction_is_wrong_and_says_nothing_of_how_sure() -> None:
    found = one("functional", [row | {"predicted": None, "p_predicted": 0.0} for row in GAME])
    assert not any(expectation.right for expectation in found.expectations)


def test_scenarios_stand_between_who_plays_anything_and_who_is_told() -> None:
    def ended(agent: str, score: float, name: str = "0") -> list[Row]:
        base = {"condition": "rws_arena_3", "subject": agent, "episode": name}
        return [base | {"expected": [0.2, 0.5, 0.3], "correct": True}, base | {"score": score}]

    rows = [*ended("bound", 30.0), *ended("uniform", 10.0), *ended("programs", 25.0)]
    found = board("hypothetical", rows)
    world = "Running with scissors, eight"
    assert found[world, "programs", "functional"] == 0.75
    assert found[world, "programs", "literal"] == 1.0
    assert found[world, "programs", "calibration_error"] == 0.5
    assert (world, "bound", "literal") not in found
    assert not [key for key in board("hypothetical", ended("programs", 25.0)) if key[2] == "functional"]
    another = board("hypothetical", [*rows, *ended("bound", 99.0, "1"), *ended("uniform", 9.0, "1")])
    assert another[world, "programs", "functional"] == 0.75  # it did not play the other episode


def test_stories_have_a_literal_score_only_by_groups() -> None:
    rows = [
        {"condition": "invented/plain", "subject": "symbolic", "episode": "all", "group": str(i // 2), "correct": i > 0}
        for i in range(4)
    ]
    assert len(list(episodes("mumatom", rows))) == 2
    assert board("mumatom", rows) == {("Invented stories", "symbolic", "literal"): 0.75}
    assert one("mumatom", [rows[0] | {"condition": "text_video"}]).world == "MuMA-ToM, text video"


@pytest.mark.slow
def test_real_games_of_a_bayesian_gain_nearly_everything() -> None:
    entries = [functional.GameEntry("ibs/single", who, p, 0, 5) for who in ("bayes_simplicity", "rmax") for p in (0, 1)]
    found = board("functional", [row for entry in entries for row in functional.rows(entry)])
    world = "Battle of the Sexes"
    assert found[world, "rmax", "functional"] < found[world, "bayes_simplicity", "functional"] <= 1.0
    assert found[world, "bayes_simplicity", "literal"] > 0.95


def test_help_is_between_none_and_the_oracle_and_goals_are_what_is_expected() -> None:
    (level,) = (level for level in bundled_levels() if level.name == "garden-gate")
    entries = facilitated.plan([level], ("none", "oracle", "protom"), seed=1)
    found = board("protom-dkg", [row for entry in entries for row in DOORS_KEYS_GEMS.rows(entry)])
    world = "Doors, keys and gems"
    assert [found[world, who, "functional"] for who in ("none", "oracle")] == [0.0, 1.0]
    assert 0.0 < found[world, "protom", "literal"] <= 1.0
    assert (world, "oracle", "literal") not in found


def test_held_out_levels_are_another_world_and_those_for_tuning_are_none() -> None:
    (level,) = (level for level in bundled_levels() if level.name == "garden-gate")
    worlds = {
        prefix: {key[0] for key in board("protom-dkg", [row for e in entries for row in DOORS_KEYS_GEMS.rows(e)])}
        for prefix in ("heldout/", "tuning/")
        if (entries := facilitated.plan([level], ("none", "oracle"), seed=1, prefix=prefix))
    }
    assert worlds == {"heldout/": {"Doors, keys and gems, held out"}, "tuning/": set()}


def test_every_world_belongs_to_a_family_but_those_in_which_nobody_acts() -> None:
    named = {world for worlds in FAMILIES.values() for world in worlds}
    assert {"Prisoner's dilemma", "Wavelength", "Running with scissors", "Overcooked with rooms, held out"} <= named
    assert not list(episodes("study", [{"condition": "all", "subject": "none", "episode": "1"}]))
    assert "mumatom" in READERS
