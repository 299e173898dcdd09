"""Any player with any partner in any game, from Python and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PLAYERS, "tft", "alternate"])
def test_every_player_plays_every_two_by_two_game_legally(name: str) -> None:
    for game in (find_game("ibs"), next(ordinal_games())):
        mind = player(name, game, horizon=5, rng=np.random.default_rng(1)).observe(None)
        assert set(mind.act().support) <= {0, 1}  # type: ignore[attr-defined]
        assert sum(mind.predict().probs) == pytest.approx(1.0)


def test_the_command_line_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("play", "ibs", "copy", "--player", "rmax", "--episodes", "2", "--rounds", "10", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    metrics = {"functional_regret", "reward", "tom_percent", "consistency", "best_left"}
    assert {row["metric"] for row in found} == metrics
    assert all(row["n"] == 2 and row["rounds"] == 10 for row in found)
    assert {row["metric"]: row["after_rounds"] for row in found if "after_rounds" in row} == {"best_left": 1}


def test_payoffs_come_first_and_it_is_said_what_a_partner_never_forgives(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("play", "ipd", "tft", "grim", "--player", "rmax", "--episodes", "1") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith(r"you \ partner Cooperate Defect")
    assert "Cooperate 8, 8 0, 10 Defect 10, 0 5, 5" in told
    assert "rmax with grim: the best response earns 8.02 a round, but only 5.00 after what rmax did" in told
    assert "rmax with tft" not in told


def test_players_of_the_users_own_code_are_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("play", "ipd", "tft", "--player", "own_agents:explorer", "--episodes", "1", "--rounds", "5") == 0
    assert "own_agents:explorer" in capsys.readouterr().out
    assert run("tournament", "ipd", "tft", "own_agents:explorer", "--episodes", "1", "--rounds", "5", "--json") == 0
    assert json.loads(capsys.readouterr().out)["entrants"] == ["tft", "own_agents:explorer"]
    for what, said in (("own_agents:answer", "is no player"), ("own_agents:nothing", "has no `nothing`")):
        assert run("play", "ipd", "tft", "--player", what) == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
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


GOODS = """name = "goods"
agents = ["you", "ann", "bob"]
actions = ["give", "keep"]
payoffs = [
  [[[8, 8, 8], [4, 4, 9]], [[4, 9, 4], [0, 5, 5]]],
  [[[9, 4, 4], [5, 0, 5]], [[5, 5, 0], [1, 1, 1]]],
]"""
CONDITIONAL = """{"machines": {
  "conditional": {"states": 2, "output": ["give", "keep"], "next": [[0, 1, 1, 1], [0, 1, 1, 1]]}}}"""
STRIKES = """{"machines": {
  "Three Strikes": {"states": 4, "output": ["C", "C", "C", "D"], "next": [[0, 1], [1, 2], [2, 3], [3, 3]]},
  "tft": {"states": 1, "output": ["D"], "next": [[0, 0]]}}}"""
WIDE = """name = "wide"
agents = ["you", "partner"]
actions = [["a", "b", "c"], ["w", "x", "y", "z"]]
payoffs = [
  [[1, 2], [0, 5], [3, 3], [2, 0]],
  [[4, 0], [1, 1], [0, 2], [5, 1]],
  [[2, 2], [6, 0], [1, 4], [0, 3]],
]"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], str]:
    """Write a file, and give its path."""

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def played(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of `play` by partner and metric."""
    assert run("play", *arguments, "--json") == 0
    return {(row["partner"], row["metric"]): row for row in json.loads(capsys.readouterr().out)}


@pytest.mark.slow
def test_two_others_play_together_against_a_player_that_knows_their_best_response(
    file: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    goods, machines = file("goods.toml", GOODS), file("trio.json", CONDITIONAL)
    found = played(capsys, goods, "conditional", "conditional", "--machines", machines, "--rounds", "10")
    # all give for nine rounds and get 8 each; then it pays to keep once, for 9
    assert found["conditional + conditional", "functional_regret"]["optimum"] == pytest.approx(8.1)
    assert found["conditional + conditional", "functional_regret"]["player"] == "bayes"
    found = played(capsys, goods, "always-give", "always-keep~0", "--rounds", "10", "--player", "rmax")
    assert found["always give + always keep", "reward"]["optimum"] == pytest.approx(5.0)


@pytest.mark.parametrize(
    "name", ["rmax", "counts_myopic", "counts_model", "fictitious_play", "posterior_sampling", "bayes"]
)
def test_players_of_joint_actions_play_games_of_three(
    name: str, file: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    goods = file("goods.toml", GOODS)
    found = played(capsys, goods, "always-keep", "wsls", "--rounds", "5", "--episodes", "2", "--player", name)
    assert found["always keep + wsls", "tom_percent"]["n"] == 2


def test_machines_of_a_file_are_partners_by_name_and_all_of_them_if_none_is_named(
    file: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    machines = ("--machines", file("mine.json", STRIKES), "--rounds", "10", "--episodes", "1", "--player", "rmax")
    assert {partner for partner, _ in played(capsys, "ipd", *machines)} == {"Three Strikes", "tft"}
    found = played(capsys, "ipd", "three-strikes~0.1", "tft", "wsls", *machines)
    assert {partner for partner, _ in found} == {"Three Strikes~0.1", "tft", "wsls"}
    assert found["tft", "reward"]["optimum"] == pytest.approx(5.0), "the file comes before the bundled partners"


def test_a_game_of_three_by_four_is_played_by_default(
    file: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = played(capsys, file("wide.toml", WIDE), "best-response", "--rounds", "10", "--episodes", "1")
    assert found["best-response", "reward"]["player"] == "bayes"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["goods.toml", "wsls"], "goods needs 2 partners, not 1 (name one for each of ann, bob, in this order)"),
        (["goods.toml", "tft", "wsls"], "tft cannot play goods (it plays games of two)"),
        (["goods.toml", "cycle-" + 200 * "01", "cycle-" + 200 * "01"], "more than 10,000 states together"),
        (["goods.toml", "wsls", "wsls", "--player", "k_tom_1"], "k_tom_1 cannot play goods"),
        (["ipd"], "there is no partner (name partners, as tft, or give a file with --machines)"),
        (["ipd", "tree-strikes", "--machines", "mine.json"], "did you mean three-strikes"),
        (["ipd", "tft", "--machines", "twice.json"], "twice.json: `A b` is listed twice"),
        (["ipd", "tft", "--machines", "nowhere.json"], "cannot be read"),
    ],
)
def test_bad_partners_are_told_in_one_line(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    one = '{"states": 1, "output": ["C"], "next": [[0, 0]]}'
    for name, text in (
        ("goods.toml", GOODS),
        ("mine.json", STRIKES),
        ("twice.json", f'{{"machines": {{"a b": {one}, "A  b": {one}}}}}'),
    ):
        Path(name).write_text(text)
    assert run("play", *arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
