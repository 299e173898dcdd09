"""The command `leaderboard`: results are written, checked and ranked on a page; an altered one is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import Run, complaint, fine
from otherminds.evaluation.pool import pool_content


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


PLAYER = """
from otherminds.worlds.repeated_games.players.by_name import player


def always_second(game, rounds, rng):
    return player(f"always-{game.actions[0][1]}", game, horizon=rounds, rng=rng)
"""


@pytest.mark.slow
def test_players_are_ranked_on_a_page_and_an_altered_result_is_refused(run: Run, here: Path) -> None:
    (here / "own_player.py").write_text(PLAYER)
    out = fine(run("leaderboard", "--play", "random", "--play", "own_player:always_second", "--seed", "1"))
    assert "Result: own_player-always_second-1.json" in out
    files = ("random-1.json", "own_player-always_second-1.json")
    answer = run("leaderboard", *files, "--json", "--page", "again.html")
    ranking = json.loads(answer.out)
    assert answer.err == "Page: again.html\n"
    assert sorted(row["player"] for row in ranking) == ["own_player:always_second", "random"]
    page = (here / "again.html").read_text("utf-8")
    assert page == (here / "leaderboard.html").read_text("utf-8")
    assert pool_content() in page
    for title in ("Ranking", "By family", "By game"):
        assert f"<h2>{title}</h2>" in page
    assert "src=" not in page
    assert page.count("own_player:always_second") >= 3

    text = (here / files[0]).read_text("utf-8")
    altered = re.sub(r'"actions":\[([01])', lambda action: f'"actions":[{1 - int(action[1])}', text, count=1)
    assert altered != text
    (here / files[0]).write_text(altered, "utf-8")
    complaint(run("leaderboard", *files), "random-1.json: the checksum does not fit")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no results are named"),
        (("missing.json",), "missing.json"),
        (("--play", "nobody-knows"), "unknown player `nobody-knows`"),
    ],
)
def test_what_is_missing_is_said_in_one_line(run: Run, here: Path, arguments: tuple[str, ...], words: str) -> None:
    complaint(run("leaderboard", *arguments), words)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pool": "2026.1"}', "\x00", '{"a": 1, "a": 2}'])
def test_a_file_that_is_no_result_is_refused_in_one_line(run: Run, here: Path, text: str) -> None:
    (here / "result.json").write_text(text)
    complaint(run("leaderboard", "result.json"), "result.json")
