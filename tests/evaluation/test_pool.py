"""The frozen pool: the same in every process, and results in which an action was changed are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.partner_families import part_of
from otherminds.evaluation.pool import (
    PoolResult,
    ceiling,
    play_pool,
    pool,
    pool_content,
    pool_tasks,
    read_result,
    replayed,
    scores,
    standings,
)
from otherminds.evaluation.tasks import Task
from otherminds.worlds.repeated_games.machines import constant
from otherminds.worlds.repeated_games.payoff_files import find_game

CONTENT = "4037f7cff2170104465f12fb7f0d730f12c938e65254ffcb9e0ddf3deb558d2b"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result() -> PoolResult:
    return play_pool("random", 7)


@pytest.fixture
def file(result: PoolResult, tmp_path: Path) -> Path:
    path = tmp_path / "random.json"
    path.write_text(result.model_dump_json(), "utf-8")
    return path


def test_the_pool_is_what_it_was_and_is_the_same_in_a_fresh_process() -> None:
    assert pool_content() == CONTENT
    code = "from otherminds.evaluation.pool import pool_content; print(pool_content())"
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert fresh.stdout.strip() == CONTENT


def test_all_partners_are_held_out_and_random_play_loses_something_with_each() -> None:
    assert {part_of(task.partner) for task in pool_tasks()} == {"held-out"}
    assert all(task.optimum - task.uniform > 1e-6 for task in pool_tasks())
    assert {family for _, family in pool()} >= {
        "memory-one",
        "structured",
        "axelrod",
        "slipping",
        "changing",
        "learning",
    }


def test_a_result_is_replayed_round_by_round(result: PoolResult, file: Path) -> None:
    assert read_result(file) == result
    for episode, rows in zip(result.episodes, replayed(result), strict=True):
        assert [row["action"] for row in rows] == episode.actions
        assert [row["predicted"] for row in rows] == episode.predictions
    assert play_pool("random", 7) == result
    assert play_pool("random", 8).episodes != result.episodes


def test_random_play_earns_about_0_and_the_list_of_standings_is_sorted(result: PoolResult) -> None:
    cooperates = play_pool("rmax", 7)
    (best, last) = standings([result, cooperates])
    assert (best.player, last.player) == ("rmax", "random")
    assert abs(last.reward.value) < 0.1
    assert last.reward.value == pytest.approx(np.mean([score.reward for score in scores(result).values()]))
    assert standings([result, play_pool("random", 8)])[0].reward.n == 2
    with pytest.raises(InputError, match="random with seed 7 is listed twice"):
        standings([result, result])


def swap_action(data: dict[str, Any]) -> None:
    actions = data["episodes"][50]["actions"]
    actions[20] = 1 - min(actions[20], 1)


def with_new_checksum(data: dict[str, Any]) -> None:
    """An action that matters, and a checksum that fits again."""
    for number, task in enumerate(pool_tasks()):
        if (task.losses(0, 0) > 1e-6).any():
            actions = data["episodes"][number]["actions"]
            losses = task.losses(0, 0)
            actions[0] = int(losses.argmin() if losses[actions[0]] > 1e-6 else losses.argmax())
            break
    data["checksum"] = PoolResult.model_validate(data).sum_of_content


def with_a_better_reward(data: dict[str, Any]) -> None:
    data["episodes"][3]["reward"] = 1.0
    data["checksum"] = PoolResult.model_validate(data).sum_of_content


def with_an_action_outside_the_game(data: dict[str, Any]) -> None:
    data["episodes"][0]["actions"][0] = 9
    data["checksum"] = PoolResult.model_validate(data).sum_of_content


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (swap_action, "the checksum does not fit"),
        (lambda data: data.update(player="me"), "the checksum does not fit"),
        (with_new_checksum, "earn "),
        (with_a_better_reward, "the actions of episode 4 earn"),
        (with_an_action_outside_the_game, "episode 1 has an action outside ipd"),
        (lambda data: data.update(pool="2025.1"), "`pool`"),
        (lambda data: data.update(content="0" * 64), "not those of pool 2026.1"),
        (lambda data: data["episodes"].pop(), "not those of pool 2026.1"),
        (lambda data: data["episodes"][0]["actions"].pop(), "episodes.0.actions"),
        (lambda data: data.update(seed=-1), "`seed`"),
    ],
)
def test_a_changed_result_is_refused_in_one_line(
    file: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    data = json.loads(file.read_text("utf-8"))
    change(data)
    file.write_text(json.dumps(data), "utf-8")
    with pytest.raises(InputError, match=r"^[^\n]+$") as error:
        read_result(file)
    assert words in str(error.value)
    assert str(file) in str(error.value)


def test_no_player_beats_the_ceiling_of_two_constant_partners() -> None:
    rps = find_game("rps")
    members = [Task(rps, constant(rps, action), 50) for action in (0, 1)]
    # the first move cannot be right for both: one point of 50 is lost on average, of a span of 50 each
    assert ceiling(members) == pytest.approx(1.0 - 0.5 / 50)


def test_there_is_no_ceiling_for_partners_that_slip() -> None:
    assert ceiling(pool()["ipd", "slipping"]) is None
    assert ceiling(pool()["ipd", "memory-one"]) is not None
