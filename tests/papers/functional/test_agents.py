"""Any player with any partner in any game, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from otherminds.cli import app as cli
from otherminds.errors import InputError
from otherminds.papers.functional.agents import pair_scores
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.by_name import PLAYERS, player
from otherminds.worlds.repeated_games.rules import ordinal_games


def run(*arguments: str) -> int:
    return cli._guarded(lambda **options: cli.app(list(arguments), **options))


@pytest.mark.slow
def test_scores_of_a_known_pair() -> None:
    found = {row["metric"]: row for row in pair_scores(find_game("ipd"), ["tft"], ["bayes_simplicity"], 100, 2, 1)}
    assert found["functional_regret"]["value"] == pytest.approx(0.09)
    assert found["functional_regret"]["optimum"] == pytest.approx(8.02)
    assert found["reward"]["value"] == pytest.approx(7.93)
    assert found["tom_percent"]["value"] == pytest.approx(98.0)


@pytest.mark.parametrize("name", [*PLAYERS, "tft", "alternate"])
def test_every_player_plays_every_two_by_two_game_legally(name: str) -> None:
    for game in (find_game("ibs"), next(ordinal_games())):
        mind = player(name, game, horizon=5, rng=np.random.default_rng(1)).observe(None)
        assert set(mind.act().support) <= {0, 1}  # type: ignore[attr-defined]
        assert sum(mind.predict().probs) == pytest.approx(1.0)


def test_the_command_line_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("play", "ibs", "copy", "--player", "rmax", "--episodes", "2", "--rounds", "10", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["metric"] for row in found} == {"functional_regret", "reward", "tom_percent", "consistency"}
    assert all(row["n"] == 2 for row in found)


def test_a_payoff_file_can_be_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chicken.toml"
    path.write_text(
        'name = "chicken"\nagents = ["me", "you"]\nactions = ["swerve", "straight"]\n'
        "payoffs = [[[3, 3], [1, 4]], [[4, 1], [0, 0]]]\n"
    )
    assert run("play", str(path), "wsls", "always-swerve", "--episodes", "1", "--rounds", "20") == 0
    assert "always swerve" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ipd", "nobody"], "unknown partner `nobody`"),
        (["ipd", "tft", "--player", "nobody"], "unknown player `nobody`"),
        (["nowhere", "tft"], "no bundled game `nowhere`"),
        (["ipd", "tft", "--rounds", "0"], "--rounds"),
        (["ipd", "cycle-017"], "cannot play ipd"),
        (["ipd", "tft~7"], "is not a noise"),
        (["rps", "tft", "--player", "k_tom_1"], "cannot play rps"),
        (["rps", "tft", "--player", "bayes_library"], "cannot play rps"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("play", *arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_games_that_are_too_large_to_be_solved_say_so(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    cells = ", ".join("[" + ", ".join("[0, 0]" for _ in range(5)) + "]" for _ in range(5))
    path.write_text(f'name = "large"\nagents = ["a", "b"]\nactions = ["1", "2", "3", "4", "5"]\npayoffs = [{cells}]\n')
    with pytest.raises(InputError, match="too large to be solved exactly"):
        pair_scores(find_game(str(path)), ["copy"], ["bayes_simplicity"], 5, 1, 1)
