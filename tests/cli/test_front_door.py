"""What a newcomer types first: a demonstration, lists, a level that is not named, a story without a file, a game."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from commands import Run, complaint, fine
from otherminds.papers.protom.levels.generation import DESIGNS
from otherminds.reproduce.run import EXPERIMENTS
from otherminds.worlds.repeated_games.players.by_name import PLAYERS

STORY = "Sally puts the ball in the basket. Sally leaves. Anne moves the ball to the box."
QUESTION = "Where will Sally look for the ball?"


@pytest.mark.slow
def test_the_demonstration_says_what_is_shown_and_what_the_message_saved(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", opened.append)
    text = fine(run("demo", "--open"))
    steps = [line for line in text.splitlines() if "garden-gate, step" in line]
    assert f"Everybody succeeded after {len(steps)} steps." in text
    assert "Ana, please unlock the green door for Ben." in text
    alone = fine(run("watch", "garden-gate", "--facilitator", "none", "--delay", "0"))
    without = sum("garden-gate, step" in line for line in alone.splitlines())
    assert f"need {without} steps instead of {len(steps)}" in text
    page = tmp_path / "otherminds-demo.html"
    assert opened == [page.as_uri()]
    assert "data-replay" in page.read_text()


@pytest.mark.parametrize("name", ["list", "levels", "games", "players", "experiments", "models"])
def test_lists_are_tables_or_json_with_the_same_names(run: Run, name: str) -> None:
    rows = json.loads(fine(run(name, "--json")))
    text = fine(run(name))
    column = name.removesuffix("s")
    assert all(row[column] in text for row in rows)
    names = {row[column] for row in rows}
    known = {
        "levels": {level.name for design in DESIGNS.values() for level in design.bundled()},
        "games": {"rps", "ibs", "ipd"},
        "players": {*PLAYERS, "me", "tft"},
        "experiments": {*EXPERIMENTS},
        "models": {"smollm2"},
        "list": {"levels", "games", "players", "experiments", "models"},
    }
    assert known[name] <= names
    assert all(row["what it does"] for row in rows if name == "players")
    assert all(row["what"] for row in rows if name == "experiments")


def test_a_list_may_be_asked_for_by_its_name(run: Run) -> None:
    assert fine(run("list", "games")) == fine(run("games"))
    assert "did you mean games" in run("list", "gmaes").err


@pytest.mark.parametrize("command", ["watch", "draw"])
def test_without_a_level_all_are_offered(run: Run, command: str) -> None:
    text = fine(run(command))
    assert f"otherminds {command} garden-gate" in text.replace("\n", " ")
    assert {"locked-in", "split-kitchen"} <= set(text.split())


def test_short_options(run: Run) -> None:
    assert fine(run("-h")) == fine(run("--help"))
    assert fine(run("-V")) == fine(run("--version"))


def test_a_story_can_be_typed_piped_or_in_a_file(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    file.write_text(STORY)
    shown = fine(run("ask", str(file), "--question", QUESTION))
    assert "basket" in shown.splitlines()[0]
    assert fine(run("ask", STORY, "--question", QUESTION)) == shown
    assert fine(run("ask", f"{STORY} {QUESTION}")) == shown
    monkeypatch.setattr("sys.stdin", StringIO(f"{STORY} {QUESTION}"))
    assert fine(run("ask")) == shown
    complaint(run("ask", STORY), "the story has no question")
    complaint(run("ask", "my story.txt"), "my story.txt: cannot be read")


def test_a_walk_by_hand(run: Run, tmp_path: Path) -> None:
    walk = tmp_path / "walk.csv"
    walk.write_text("step,agent,action\n1,Ana,down\n1,Ben,right\n2,Ana,down\n")
    found = json.loads(fine(run("infer", "own-key", str(walk), "--json")))
    assert [row["joint"] for row in found] == [
        {"Ana": "down", "Ben": "right"},
        {"Ana": "down", "Ben": "stay"},
        {},
    ]
    walk.write_text("step,agent,action\n1,Ana,down\n")
    told = "Ben only stays; if nobody watched Ben, this says nothing about Ben."
    assert fine(run("infer", "own-key", str(walk))).splitlines()[-1] == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agent,action\n", ":1: has other columns"),
        ("step,agent,action\n3,Ana,down\n", ":2: step 3 is out of order"),
        ("step,agent,action\n0,Ana,down\n2,Ana,down\n", ":3: step 2 is out of order"),
        ("step,agent,action\n0,Ana,down\n0,Ana,up\n", ":3: step 0 has a second action of Ana"),
        ("step,agent,action\n0,Ana,down\n0,Ben,rihgt\n", ":3: unknown action `rihgt`"),
        ("step,agent,action\nx,Ana,down\n", ":2: is no number of a step"),
        ("step,agent,action\n0,Eve,down\n", ":2: there is no agent `Eve`"),
    ],
)
def test_a_wrong_walk_is_refused_with_its_line(run: Run, tmp_path: Path, text: str, told: str) -> None:
    walk = tmp_path / "walk.csv"
    walk.write_text(text)
    complaint(run("infer", "own-key", str(walk)), f"walk.csv{told}")


def test_a_person_plays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("2\nx\ndef\nDefect\n"))
    text = fine(run("play", "ipd", "always-cooperate", "--player", "me", "--rounds", "3"))
    assert "Please type one of Cooperate, Defect" in text
    lines = [line for line in text.splitlines() if "you Defect, partner Cooperate" in line]
    assert len(lines) == 3
    assert "your regret is 0.00 a round" in " ".join(text.split())
    monkeypatch.setattr("sys.stdin", StringIO("1\n"))
    ended = run("play", "ipd", "tft", "--player", "me")
    assert ended.code == 2
    assert "the input ended before the last round" in ended.err
    complaint(run("play", "ipd", "tft", "grim", "--player", "me"), "you play alone")
