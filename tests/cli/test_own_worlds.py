"""Grids and worlds of users on the command line: inferred, watched, drawn, saved and read back."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import Run, complaint, fine
from paths import TESTS

MAZE = "########\n#A.....#\n#..##..#\n#@.##.B#\n########\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "maze.txt").write_text(MAZE)
    (tmp_path / "walk.csv").write_text("x,y\n1,3\n2,3\n2,2\n2,1\n3,1\n")
    shutil.copy(TESTS / "own_rooms.py", tmp_path / "my_rooms.py")
    (tmp_path / "states.csv").write_text('state\n"((2, 2), (4, 2))"\n"((3, 2), (4, 2))"\n"((4, 2), (4, 1))"\n')
    return tmp_path


def test_goals_of_a_walk_on_a_grid(run: Run, here: Path) -> None:
    lines = fine(run("infer", "maze.txt", "walk.csv")).splitlines()
    history = json.loads(fine(run("infer", "maze.txt", "walk.csv", "--json")))
    assert lines[1].split() == ["t", "who", "did", "surprise", "A?", "B?", "these?"]
    assert [row["joint"].get("walker") for row in history] == ["right", "up", "up", "right", None]
    assert history[-1]["posterior"]["walker"]["B"] > 0.95
    assert lines[-1].split()[2:] == [f"{p:.2f}" for p in history[-1]["posterior"]["walker"].values()]
    chosen = json.loads(fine(run("infer", "maze.txt", "walk.csv", "--goal", "A", "--goal", "4,1", "--json")))
    assert list(chosen[0]["posterior"]["walker"]) == ["A", "4,1", "none of these"]


@pytest.mark.slow
def test_a_picture_of_the_posteriors_on_a_grid(run: Run, here: Path) -> None:
    assert fine(run("infer", "maze.txt", "walk.csv", "--out", "p.svg")) == "Picture: p.svg\n"
    assert ElementTree.parse("p.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.parametrize("words", ["maze.txt two.csv", "my_rooms:DrawnRooms states.csv", "garden-gate steps.csv"])
def test_a_page_steps_through_each_walk_with_its_posteriors(run: Run, here: Path, words: str) -> None:
    (here / "two.csv").write_text("agent,x,y\n<b>,1,3\n<b>,2,3\nCy,1,3\nCy,1,2\nCy,1,3\nCy,1,2\n")
    (here / "steps.csv").write_text("step,agent,action\n0,Ana,up\n0,Ben,up\n1,Ana,up\n")
    assert fine(run("infer", *words.split(), "--out", "p.html")) == "Page: p.html\n"
    page = Path("p.html").read_text()
    history = json.loads(fine(run("infer", *words.split(), "--json")))
    assert page.count("data-replay>") == (2 if "two" in words else 1)
    assert "<b>" not in page
    episodes = [json.loads(text)["episodes"][0][0] for text in re.findall(r'data-at="data">(.*?)</script>', page)]
    agent = next(iter(history[0]["posterior"]))
    expected = [round(1000 * p) for p in history[0]["posterior"][agent].values()]
    assert episodes[0]["beliefs"][0][0] == expected
    assert ("is surprising" in page) == ("two" in words)


def test_a_grid_is_drawn(run: Run, here: Path) -> None:
    assert fine(run("draw", "maze.txt")).splitlines()[3] == "██ W ·████ · B██"
    (here / "field.txt").write_text("A..\n...\n")
    assert fine(run("draw", "field.txt")).splitlines() == [" A · ·", " · · ·"]


@pytest.mark.slow
def test_what_is_watched_on_a_grid_can_be_inferred(run: Run, here: Path) -> None:
    out = fine(run("watch", "maze.txt", "--seed", "3", "--save", "seen.jsonl"))
    assert "Everybody succeeded after 9 steps." in out
    assert "★ B" in out
    history = json.loads(fine(run("infer", "maze.txt", "seen.jsonl", "--json")))
    assert history[-1]["posterior"]["walker"]["B"] > 0.99


@pytest.mark.parametrize("world", ["my_rooms:Rooms", "./my_rooms.py:DrawnRooms", "more/other_rooms.py:Rooms"])
def test_goals_of_a_walk_in_a_world_of_ones_own(run: Run, here: Path, world: str) -> None:
    (here / "more").mkdir()
    shutil.copy("my_rooms.py", "more/other_rooms.py")
    history = json.loads(fine(run("infer", world, "states.csv", "--json")))
    assert [row["joint"] for row in history] == [
        {"Ana": "east", "Ben": "wait"},
        {"Ana": "east", "Ben": "north"},
        {},
    ]
    assert history[-1]["posterior"]["Ana"]["window"] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("world", ["Rooms", "DrawnRooms", "Corridor"])
def test_a_world_of_ones_own_is_watched_and_saved(run: Run, here: Path, world: str) -> None:
    outs = [fine(run("watch", f"my_rooms:{world}", "--seed", "1", "--save", f"e{end}")) for end in (".svg", ".html")]
    steps = int(re.findall(r"Everybody succeeded after (\d+) steps\.", outs[0])[0])
    assert outs[0] == outs[1]
    assert re.findall(rf"{world}, (.*?) ─", outs[0])[:steps] == [f"step {t}" for t in range(steps)]
    picture, page = Path("e.svg").read_text(), Path("e.html").read_text()
    ElementTree.fromstring(picture)
    assert "Ana wants" in picture
    assert page.count("data-replay>") == 1
    assert ('class="mine"' in picture) == ('class="mine"' in page) == (world == "DrawnRooms")
    fine(run("watch", f"my_rooms:{world}", "--seed", "1", "--save", "e.jsonl"))
    history = json.loads(fine(run("infer", f"my_rooms:{world}", "e.jsonl", "--json")))
    assert len(history) == steps + 1


COMPLAINTS = {
    "a broken world": ("watch my_rooms:Broken", r"my_rooms\.py:\d+: my_rooms:Broken broke: IndexError"),
    "no world": ("watch my_rooms:NoWorld", "my_rooms:NoWorld is no world: it has no `start`"),
    "a wrong name": ("infer my_rooms:Roms walk.csv", r"`my_rooms` has no `Roms` \(did you mean Rooms\?\)"),
    "a missing module": ("infer nothing.py:Rooms walk.csv", "`nothing` cannot be imported"),
    "another facilitator": ("watch my_rooms:Rooms --facilitator oracle", "there is no facilitator `oracle` for worlds"),
    "a wall": ("infer maze.txt bad.csv", r"bad\.csv:3: \(1, 4\) is a wall"),
    "an unknown goal": ("infer maze.txt walk.csv --goal C", r"there is no goal `C` \(there is A, B; or a cell"),
    "an unknown colour": ("infer locked-in walk.csv --goal pink", "has other columns"),
    "an unknown tile": ("infer odd.txt walk.csv", r"odd\.txt:2:2: unknown tile `x`"),
    "no start": ("watch field.txt", r"the map has no start \(mark a cell with `@`\)"),
}


@pytest.mark.parametrize(("words", "said"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_what_is_wrong_is_said_in_one_line(run: Run, here: Path, words: str, said: str) -> None:
    (here / "bad.csv").write_text("x,y\n1,3\n1,4\n")
    (here / "odd.txt").write_text(MAZE.replace("A", "x"))
    (here / "field.txt").write_text("A..\n...\n")
    complaint(run(*words.split()), said)


def test_names_from_files_are_no_markup(run: Run, here: Path) -> None:
    (here / "maze.txt").write_text(MAZE + "\nA: [red]x\n")
    (here / "walk.csv").write_text("agent,x,y\n[b]p,1,3\n[b]p,2,3\n")
    out = fine(run("infer", "maze.txt", "walk.csv"))
    assert "[red]x?" in out
    assert "[b]p" in out
