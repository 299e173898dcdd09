"""The command line: what each command shows, and one line with exit code 2 for whatever is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from commands import Run, complaint, fine
from otherminds import operating_system
from otherminds.cli import levels as cli_draw
from otherminds.errors import InputError
from otherminds.evaluation import progress
from otherminds.evaluation.asking import Asking
from otherminds.evaluation.experiment import Begin, Experiment
from otherminds.evaluation.how_begun import how_begun
from otherminds.evaluation.runs import look
from otherminds.evaluation.store import Store
from otherminds.papers.functional.check import CheckOptions
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.trajectories import write_trajectory
from otherminds.reports.page import page
from otherminds.reproduce import run as reproduce
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems import planner
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels, read_level
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems

LEVEL = """\
name: nook
agents: Ana, Ben
goals: red, blue

a1 kr dr gr
## a2 .. gb
"""
ANA = ("right", "pickup key1", "unlock door1 with key1", "right", "right", "pickup gem1")
BEN = ("right", "right", "pickup gem2", "stay", "stay", "stay")
SOLO = """\
(define (problem solo)
  (:domain doors-keys-gems)
  (:objects gem1 gem2 - gem)
  (:init (= (width) 3) (= (height) 1) (= (xpos) 2) (= (ypos) 1) (at gem1 1 1) (at gem2 3 1))
  (:goal (has gem2)))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder with a level, a trajectory in it, a problem in PDDL and a plan for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nook.txt").write_text(LEVEL)
    (tmp_path / "walk.jsonl").write_text(trajectory(ANA, BEN))
    (tmp_path / "solo.pddl").write_text(SOLO)
    (tmp_path / "solo.plan").write_text("(right)\n(pickup gem2)\n")
    return tmp_path


def trajectory(ana: tuple[str, ...], ben: tuple[str, ...]) -> str:
    joints = [{"Ana": a, "Ben": b} for a, b in zip(ana, ben, strict=True)]
    return "".join(json.dumps({"schema": 1, "t": t, "joint": joint}) + "\n" for t, joint in enumerate(joints))


# Help

COMMANDS = ("reproduce", "play", "watch", "infer", "draw", "levels", "generate levels", "verify levels")


def test_the_version(run: Run) -> None:
    assert re.fullmatch(r"otherminds \d+\.\d+\.\d+\n", fine(run("--version")))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_terminal_and_shows_an_example(run: Run, command: str) -> None:
    text = fine(run(*command.split(), "--help"))
    assert f"Example: otherminds {command}" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("group", ["", "generate", "verify"])
def test_groups_list_their_commands(run: Run, group: str) -> None:
    for result in (run(*group.split(), "--help"), run(*group.split())):
        assert "Commands" in result.out
        assert result.code in (0, 2)
        assert len(result.err.splitlines()) <= 1


# infer


def test_posteriors_as_json(run: Run, here: Path) -> None:
    history = json.loads(fine(run("infer", "nook.txt", "walk.jsonl", "--json")))
    assert [row["t"] for row in history] == list(range(7))
    assert history[0]["posterior"]["Ana"] == pytest.approx({"red": 0.485, "blue": 0.485, "none of these": 0.03})
    assert history[0]["surprise"].keys() == {"Ana", "Ben"}
    assert history[2]["joint"] == {"Ana": "unlock door1 with key1", "Ben": "pickup gem2"}
    assert history[-1]["joint"] == {}
    assert history[-1]["posterior"]["Ana"]["red"] > 0.99
    assert history[-1]["posterior"]["Ben"]["blue"] > 0.99


def test_posteriors_as_a_table(run: Run, here: Path) -> None:
    lines = fine(run("infer", "nook.txt", "walk.jsonl")).splitlines()
    history = json.loads(fine(run("infer", "nook.txt", "walk.jsonl", "--json")))
    assert lines[1].split() == ["t", "who", "did", "surprise", "red?", "blue?", "these?"]
    cells = [re.split("  +", line.strip()) for line in lines[3:]]
    assert cells[0] == ["0", "Ana", "right", f"{history[0]['surprise']['Ana']:.1f}", "0.49", "0.49", "0.03"]
    assert [row[2] for row in cells[:-2:2]] == list(ANA)
    assert [row[1] for row in cells[1:-2:2]] == list(BEN)
    assert cells[-2:] == [["6", "Ana", "1.00", "0.00", "0.00"], ["Ben", "0.00", "1.00", "0.00"]]


def test_a_surprise_is_marked_in_tables_and_named_in_pictures(run: Run, here: Path) -> None:
    (here / "x.jsonl").write_text(line(0, "right") + line(1, "left") + line(2, "right"))
    told = ("infer", "nook.txt", "x.jsonl", "--beta", "9", "--lapse", "0.01")
    history = json.loads(fine(run(*told, "--json")))
    nats = history[1]["surprise"]["Ana"]
    assert nats > 3 > max(history[t]["surprise"]["Ana"] for t in (0, 2))
    table = fine(run(*told))
    assert f" {nats:.1f} !" in table
    assert "surprising: 3 nats or more" in table
    fine(run(*told, "--format", "picture", "--out", "p.svg"))
    assert f"surprising: {nats:.1f} nats" in Path("p.svg").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), [("p.svg", b"<?xml"), ("p.png", b"\x89PNG"), ("p.pdf", b"%PDF")])
def test_posteriors_as_a_picture(run: Run, here: Path, name: str, start: bytes) -> None:
    out = fine(run("infer", "nook.txt", "walk.jsonl", "--format", "picture", "--out", name))
    assert out == f"Picture: {name}\n"
    assert Path(name).read_bytes().startswith(start)


@pytest.mark.slow
def test_pictures_of_agents_with_names_from_anywhere_make_no_noise(run: Run, here: Path) -> None:
    (here / "nook.txt").write_text(LEVEL.replace("Ana", "安娜"))
    (here / "walk.jsonl").write_text(trajectory(ANA, BEN).replace("Ana", "安娜"))
    fine(run("infer", "nook.txt", "walk.jsonl", "--format", "picture"))


@pytest.mark.slow
def test_several_trajectories_continue_one_another(run: Run, here: Path) -> None:
    (here / "one.jsonl").write_text(trajectory(ANA[:2], BEN[:2]))
    (here / "two.jsonl").write_text(trajectory(ANA[2:], BEN[2:]))
    parts = run("infer", "nook.txt", "one.jsonl", "two.jsonl", "--json")
    assert fine(parts) == fine(run("infer", "nook.txt", "walk.jsonl", "--json"))


@pytest.mark.slow
def test_plans_are_read_and_continue_trajectories(run: Run, here: Path) -> None:
    (here / "step.jsonl").write_text('{"schema": 1, "t": 0, "joint": {"agent": "right"}}\n')
    (here / "rest.plan").write_text("(pickup gem2)\n")
    whole = run("infer", "solo.pddl", "solo.plan", "--json")
    assert fine(run("infer", "solo.pddl", "step.jsonl", "rest.plan", "--json")) == fine(whole)


def test_what_is_written_by_the_library_is_read(run: Run, here: Path) -> None:
    world = read_level(here / "nook.txt").world
    joint = {"Ana": world.vocabulary["right"], "Ben": world.vocabulary["stay"]}
    (here / "own.jsonl").write_text(
        write_trajectory(world, [Step(world.initial, joint, world.step(world.initial, joint))])
    )
    assert len(json.loads(fine(run("infer", "nook.txt", "own.jsonl", "--json")))) == 2


# watch


@pytest.mark.slow
def test_an_episode_is_shown_frame_by_frame_and_can_be_read_back(run: Run, here: Path) -> None:
    out = fine(run("watch", "nook.txt", "--seed", "3", "--save", "seen.jsonl"))
    steps = int(re.findall(r"Everybody succeeded after (\d+) steps\.", out)[0])
    assert re.findall(r"nook, (.*?) ─", out) == [*(f"step {t}" for t in range(steps)), "the end"]
    history = json.loads(fine(run("infer", "nook.txt", "seen.jsonl", "--json")))
    assert len(history) == steps + 1
    assert history[-1]["posterior"]["Ana"]["red"] > 0.9


@pytest.mark.slow
def test_the_same_seed_shows_the_same_episode(run: Run, here: Path) -> None:
    (here / "hall.txt").write_text(LEVEL + ".. .. .. ..\n" * 4)
    shown = [fine(run("watch", "hall.txt", "--seed", seed, "--facilitator", "random")) for seed in "1123456"]
    assert shown[0] == shown[1]
    assert len(set(shown)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("helper", ["none", "random", "oracle", "protom", "protom_at_once", "protom_paper"])
def test_help_is_shown_in_words(run: Run, here: Path, helper: str) -> None:
    out = fine(run("watch", "locked-in", "--facilitator", helper))
    success = {"none": "Not everybody succeeded after 80 steps."}.get(helper, "Everybody succeeded after")
    assert success in out
    assert ("» " in out) == (helper != "none")
    assert ("[completed]" in out) == (helper != "none")


def test_an_unknown_place_to_save_is_refused_before_anything_is_shown(run: Run, here: Path) -> None:
    complaint(run("watch", "nook.txt", "--save", "nowhere/seen.jsonl"), r"nowhere/seen\.jsonl: cannot be written")


# draw


def test_a_level_as_text(run: Run, here: Path) -> None:
    assert [line.rstrip() for line in fine(run("draw", "nook.txt")).rstrip().split("\n")] == [
        " A ⚷r ▒r▒◆r",
        "███ B  · ◆b",
    ]


def test_a_wide_level_is_not_broken_into_pieces(run: Run, here: Path) -> None:
    (here / "wide.txt").write_text(f"agents: Ana\ngoals: red\n\na1 gr {'.. ' * 50}\n{'.. ' * 52}\n")
    lines = fine(run("draw", "wide.txt")).rstrip("\n").split("\n")
    assert [len(line) for line in lines] == [52 * 3] * 2


def test_a_level_as_a_picture(run: Run, here: Path) -> None:
    assert fine(run("draw", "nook.txt", "--out", "nook.svg")) == ""
    assert fine(run("draw", "nook.txt", "--out", "nook.png")) == ""
    assert ElementTree.parse("nook.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert Path("nook.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_bundled_levels_have_numbers_and_names(run: Run) -> None:
    assert fine(run("draw", "15")) == fine(run("draw", "locked-in")) != fine(run("draw", "14"))


# levels, generate, verify


def test_bundled_levels_are_listed_with_numbers_and_classes(run: Run) -> None:
    lines = fine(run("levels")).splitlines()
    assert ["15", "locked-in", "necessary", "doors-keys-gems"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_levels_are_made_and_proved_and_what_is_tampered_with_is_found_out(run: Run, here: Path) -> None:
    made = run("generate", "levels", "--per-class", "1", "--seed", "12", "--out", "made/here")
    assert made[:2] == (0, "3 levels in made/here\n")
    files = sorted((here / "made/here").iterdir())
    assert [file.name.split("-")[0] for file in files] == ["necessary", "not_needed", "useful"]
    proved = run("verify", "levels", "made/here")
    assert proved.code == 0
    assert proved.out.splitlines() == [f"{f.stem}: {f.name.split('-')[0]}, proved" for f in files]
    text = files[2].read_text()
    for old, new, said in (
        (r"together: \d+", "together: 9", "together cannot be proved"),
        (r"(alone: \d+) \d+", r"\1 7", "alone cannot be proved"),
        (r"class: useful", "class: necessary", "class cannot be proved"),
        (r"(class|alone|told|together|message|seed): .*\n", "", "has no certificate"),
    ):
        files[2].write_text(re.sub(old, new, text))
        tampered = run("verify", "levels", str(files[2]))
        assert (tampered.code, tampered.out) == (1, f"{files[2].stem}: {said}\n")
    assert run("verify", "levels", "made/here").code == 1


# reproduce


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Experiments that take no time, and measure what this says."""
    measured = {"protom-dkg": 1.0, "dkg-human": 0.9}

    def experiment(name: str, about: tuple[str, str, str]) -> Begin:
        row = dict(zip(("condition", "subject", "metric"), about, strict=True))
        bounds = {"low": 0.0, "high": 1.0, "n": 3}
        return lambda _: Experiment(
            run=name,
            summarise=lambda rows: [{"experiment": name, **row, "value": measured[name], **bounds}],
            page=lambda rows, summary: page(name, "", []),
        )

    about = {"protom-dkg": ("all", "protom", "success"), "dkg-human": ("leave_one_out", "boltzmann_lapse_leak", "r")}
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {name: experiment(name, a) for name, a in about.items()})
    return measured


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("value", "check", "code"), [(1.0, True, 0), (0.5, True, 1), (0.5, False, 0)])
def test_targets_that_are_missed_are_told_and_counted_if_wanted(
    run: Run, pretended: dict[str, float], value: float, check: bool, code: int
) -> None:
    pretended["protom-dkg"] = value
    result = run("reproduce", "protom-dkg", *(["--check"] if check else []), "--out", "there")
    assert result.code == code
    assert ("MISSED" in result.out) == (value < 1)
    assert ("met " in result.out) == (check and value == 1)
    assert "Report: there/report.html" in result.out


@pytest.mark.slow
@pytest.mark.usefixtures("here", "pretended")
def test_all_runs_what_it_can_each_in_its_folder_and_binds_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Report: there/report.html" in fine(run("reproduce", "--out", "there"))
    monkeypatch.setenv("OTHERMINDS_MODELS", "nowhere")
    both = fine(run("reproduce", "all", "--data", "d", "--out", "all"))
    assert re.findall("Report: (.*)", both) == ["all/protom-dkg/report.html", "all/dkg-human/report.html"]
    assert "Everything in one report: all/report.html" in both
    bound = Path("all/report.html").read_text()
    assert "dkg-human</h2>" in bound
    Path("all/report.html").unlink()
    assert "Everything in one report: all/report.html" in fine(run("report", "all"))
    assert Path("all/report.html").read_text() == bound
    assert re.search(r"Report: runs/protom-dkg-\d{8}-\d{6}/report\.html", fine(run("reproduce", "protom-dkg")))


# Whatever is wrong


def line(t: int, ana: str, ben: str = "stay") -> str:
    return json.dumps({"schema": 1, "t": t, "joint": {"Ana": ana, "Ben": ben}}) + "\n"


LEVELS: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", r"x\.txt: has no map"),
    "not UTF-8": (LEVEL.encode() + b"; \xff\n", r"x\.txt:7: is not UTF-8"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0", r"x\.txt:1: "),
    "NULs": (b"\0" * 64, r"x\.txt:1: holds a NUL byte"),
    "an unknown tile": (LEVEL.replace("kr", "zz"), r"x\.txt:5:4: unknown tile `zz`"),
    "an escape for a tile": (LEVEL.replace("kr", "\x1b["), r"x\.txt:5:4: unknown tile `\\x1b\["),
    "ragged rows": (LEVEL.replace("a2 ..", "a2"), r"x\.txt:6:9: this row has 3 tiles"),
    "no header": (LEVEL[LEVEL.index("a1") - 1 :], r"x\.txt:1: `agents` is missing"),
    "no goals": (LEVEL.replace("goals: red, blue\n", ""), r"x\.txt:1: `goals` is missing"),
    "an unknown header": (LEVEL.replace("name:", "nmae:"), r"x\.txt:1:1: unknown key `nmae`"),
    "an unknown colour": (LEVEL.replace("kr", "kz"), r"x\.txt:5:4: unknown colour `z`"),
    "a goal that is not there": (LEVEL.replace("blue", "green"), r"x\.txt:3: there is no green gem"),
    "an agent that is not there": (LEVEL.replace("a2", ".."), r"x\.txt:6: the map lacks a2"),
    "an agent called \x1b": (LEVEL.replace("Ana", "\x1b[2J"), r"x\.txt:2: `\\x1b\[2J` cannot be an agent's name"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), LEVELS.values(), ids=LEVELS)
def test_broken_levels(run: Run, here: Path, text: str | bytes, said: str) -> None:
    (here / "x.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    for command in ("draw x.txt", "watch x.txt", "infer x.txt walk.jsonl", "verify levels x.txt"):
        complaint(run(*command.split()), said)


TRAJECTORIES: dict[str, tuple[str | bytes, str]] = {
    "not UTF-8": (line(0, "right").encode() + b"\xff\n", r"x\.jsonl:2: is not UTF-8"),
    "not JSON": (line(0, "right") + "{\n", r"x\.jsonl:2:\d+: Invalid JSON"),
    "a torn line": (line(0, "right") + line(1, "left")[:20], r"x\.jsonl:2:\d+: Invalid JSON"),
    "an unknown agent": (line(0, "right").replace("Ben", "Eve"), r"x\.jsonl:1: there is no agent `Eve`"),
    "a missing agent": (line(0, "right").replace(', "Ben": "stay"', ""), r"x\.jsonl:1: the action of Ben is missing"),
    "an unknown action": (line(0, "rigth"), r"x\.jsonl:1: unknown action `rigth` \(did you mean right\?\)"),
    "an action that cannot be": (line(0, "right") + line(1, "down") + line(2, "left"), r":3: Ana cannot do `left`"),
    "a key that is not there": (line(0, "pickup key1"), r"x\.jsonl:1: Ana cannot do `pickup key1` here"),
    "steps out of order": (line(1, "right"), r"x\.jsonl:1: `t` should be 0"),
    "hostile words": (line(0, "\x1b[31m\n\u202e"), r"x\.jsonl:1: unknown action"),
}


@pytest.mark.parametrize(("text", "said"), TRAJECTORIES.values(), ids=TRAJECTORIES)
def test_broken_trajectories(run: Run, here: Path, text: str | bytes, said: str) -> None:
    (here / "x.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
    complaint(run("infer", "nook.txt", "x.jsonl"), said)


PROBLEMS: dict[str, tuple[str, str, str]] = {
    "a bracket too few": (SOLO[:-3], "", r"x\.pddl:\d+:\d+: `\(` is never closed"),
    "a bracket too many": (SOLO + ")", "", r"x\.pddl:6:1: `\)` closes nothing"),
    "not a problem": ("hello", "", r"x\.pddl:1"),
    "nothing": ("", "", r"x\.pddl:1: does not begin"),
    "an agent in the void": (SOLO.replace("(xpos) 2", "(xpos) 9"), "", r"x\.pddl:4:\d+: .*outside the grid"),
    "an unknown action": (SOLO, "(right)\n(fly)\n", r"x\.plan:2:1: unknown `fly`"),
    "a step that cannot be": (SOLO, "(right)\n(right)\n", r"x\.plan:2: agent cannot do `right` here"),
    "a gem that is not there": (SOLO, "(pickup gem7)\n", r"x\.plan:1:\d+: there is no item `gem7`"),
    "a torn plan": (SOLO, "(right)\n(pickup", r"x\.plan:2:1: `\(` is never closed"),
}


@pytest.mark.parametrize(("problem", "plan", "said"), PROBLEMS.values(), ids=PROBLEMS)
def test_broken_problems_and_plans(run: Run, here: Path, problem: str, plan: str, said: str) -> None:
    (here / "x.pddl").write_text(problem)
    (here / "x.plan").write_text(plan)
    complaint(run("infer", "x.pddl", "x.plan"), said)


def test_a_problem_without_gems_has_no_goals_to_infer(run: Run, here: Path) -> None:
    (here / "x.pddl").write_text(
        "(define (problem x) (:domain d) (:objects al bo - agent) (:init (= walls (new-bit-matrix false 1 2))\n"
        " (= (xloc al) 1) (= (yloc al) 1) (= (xloc bo) 2) (= (yloc bo) 1) (active al)\n"
        " (next-turn al bo) (next-turn bo al)) (:goal (and)))"
    )
    (here / "x.plan").write_text("(right al)\n")
    complaint(run("infer", "x.pddl", "x.plan"), "gem")


def test_deeds_of_no_listed_mind_are_those_of_none_of_these(run: Run, here: Path) -> None:
    (here / "x.jsonl").write_text(line(0, "stay"))
    told = fine(run("infer", "nook.txt", "x.jsonl", "--beta", "inf", "--lapse", "0", "--json"))
    assert json.loads(told)[-1]["posterior"]["Ana"]["none of these"] > 0.99


LINES: dict[str, tuple[str, str]] = {
    "a command that is none": ("nonsense", "nonsense"),
    "an unknown option": ("draw nook.txt --colour", "--colour"),
    "an argument too few": ("infer", "LEVEL|level"),
    "an argument too many": ("draw nook.txt more", "more"),
    "no trajectory": ("infer nook.txt", "TRAJECTORY"),
    "a missing level": ("draw missing.txt", r"missing\.txt: cannot be read: No such file"),
    "a missing problem": ("draw missing.pddl", r"missing\.pddl: cannot be read: No such file"),
    "a missing trajectory": ("infer nook.txt missing.jsonl", r"missing\.jsonl: cannot be read"),
    "a folder for a level": ("draw .", r"\.: cannot be read: Is a directory"),
    "a folder for a trajectory": ("infer nook.txt runs.jsonl", r"runs\.jsonl: cannot be read: Is a directory"),
    "a trajectory by another name": ("infer nook.txt nook.txt", r"nook\.txt: is neither a trajectory nor a plan"),
    "a bundled level with a slip": ("draw lockedin", r"no bundled level `lockedin` \(did you mean locked-in\?\)"),
    "a bundled level like none": (
        "draw xyzzy",
        r"no bundled level `xyzzy` \(there is .*; `otherminds levels` lists them\)",
    ),
    "a number too high": ("draw 21", "`21`"),
    "a view where all is in view": ("draw nook.txt --seen-by Ana", "everybody sees everything"),
    "an unknown world": ("generate levels --world chess", "--world"),
    "no beliefs": ("infer nook.txt walk.jsonl --particles 0", "--particles"),
    "a number that is hardly one": ("draw ²", "`²`"),
    "a name that is too long": (f"draw {'a' * 300}", "aaa"),
    "no name at all": ("draw ''", "."),
    "a negative seed": ("watch nook.txt --seed -1", "--seed"),
    "a seed in words": ("watch nook.txt --seed one", "--seed"),
    "an unknown facilitator": ("watch nook.txt --facilitator bob", "--facilitator"),
    "a delay that never ends": ("watch nook.txt --delay inf", "--delay"),
    "an unknown format": ("infer nook.txt walk.jsonl --format xml", "--format"),
    "a negative rationality": ("infer nook.txt walk.jsonl --beta -1", "--beta"),
    "a rationality that is no number": ("infer nook.txt walk.jsonl --beta nan", "--beta"),
    "too much chance": ("infer nook.txt walk.jsonl --lapse 1.5", "--lapse"),
    "a picture with a wrong suffix": ("draw nook.txt --out x.gif", r"x\.gif: pictures are \.svg or \.png"),
    "a graph with a wrong suffix": ("infer nook.txt walk.jsonl --format picture --out x.gif", r"x\.gif: pictures"),
    "no folder for an svg": ("draw nook.txt --out no/x.svg", r"no/x\.svg: cannot be written"),
    "no folder for a png": ("draw nook.txt --out no/x.png", r"no/x\.png: cannot be written"),
    "a file for a folder of pngs": ("draw nook.txt --out nook.txt/x.png", r"nook\.txt/x\.png: cannot be written"),
    "no folder for a graph": ("infer nook.txt walk.jsonl --format picture --out no/x.svg", r"no/x\.svg: cannot be w"),
    "a file where a folder is needed": ("generate levels --out nook.txt", r"nook\.txt: cannot be written"),
    "a file further up": ("reproduce protom-dkg --out nook.txt/x", r"nook\.txt/x: cannot be written"),
    "no levels to make": ("generate levels --per-class 0", "--per-class"),
    "no processes": ("verify levels twenty --jobs 0", "--jobs"),
    "no levels to verify": ("verify levels nowhere", "nowhere: cannot be read"),
    "an empty folder to verify": ("verify levels runs.jsonl", r"runs\.jsonl: holds no level"),
    "an unknown experiment": ("reproduce nonsense", "no experiment `nonsense`.*protom-dkg"),
    "an export that is not there": ("reproduce study --data no.csv", "no.csv: cannot be read"),
    "an export that is none": ("reproduce study --data nook.txt", r"nook.txt: is not a file of rows .*\.jsonl"),
    "people without data": ("reproduce dkg-human", "--data"),
    "data that is not there": ("reproduce dkg-human --data nowhere", "nowhere: has no average_human_results_arrays"),
    "trucks without data": ("reproduce food-trucks", "--data"),
    "data without trucks": ("reproduce food-trucks --data nowhere", "nowhere: has no BeliefDesireInference/data/stim"),
    "both scales": ("reproduce --quick --full", "--quick and --full"),
    "a run of something else": ("reproduce protom-dkg --out old", r"old/run\.db: belongs to another run"),
    "a run that is no run": ("reproduce protom-dkg --out odd", r"odd/run\.db: cannot be used: "),
}


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "said"), LINES.values(), ids=LINES)
def test_wrong_command_lines(run: Run, here: Path, arguments: str, said: str) -> None:
    with Store(here / "old", "protom-dkg seed 1"):
        pass
    (here / "odd").mkdir()
    (here / "odd" / "run.db").write_text("once\n")
    (here / "odd" / "run.lock").touch()
    (here / "runs.jsonl").mkdir()
    before = sorted(here.rglob("*"))
    complaint(run(*["" if word == "''" else word for word in arguments.split()]), said)
    assert sorted(here.rglob("*")) == before


# Interruptions, and names that are up to something


def test_an_interruption_is_told_in_one_line(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str, also: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_draw, "load_level", interrupted)
    result = run("draw", "nook.txt")
    assert (result.code, result.out) == (3, "")
    assert re.fullmatch(r"otherminds: interrupted[^\n]*\n", result.err)


def test_an_interrupted_run_is_named_with_its_folder(here: Path) -> None:
    spec = "openai:x@http://localhost:1/v1"
    options = CheckOptions(here, Asking(model=""), agents=("scripted:perfect", "embedded", spec))

    def begin() -> None:
        with Store(here / "my runs", "protom-dkg seed 1", how_begun("check", options)) as kept:
            kept.plan([PlannedEpisode(bundled_levels()[0], "none", "useful", 1)])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        begin()
    assert caught.value.__notes__ == [f"`otherminds resume '{here}/my runs' --model {spec}` goes on"]


@pytest.mark.parametrize("played", [0, 3])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, InputError("too large")])
def test_what_was_played_until_something_happened_is_saved(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, played: int, failure: Any
) -> None:
    whole = here / "whole.jsonl"
    fine(run("watch", "nook.txt", "--delay", "0", "--save", str(whole)))
    known = whole.read_text().splitlines()
    advance, left = DoorsKeysGems.step, iter(range(played))

    def step(*how: Any) -> Any:
        if next(left, None) is None:
            raise failure
        return advance(*how)

    monkeypatch.setattr(DoorsKeysGems, "step", step)
    (here / "saved.jsonl").write_text("as it was")
    assert run("watch", "nook.txt", "--facilitator", "none", "--delay", "0", "--save", "saved.jsonl").code in (2, 3)
    saved = (here / "saved.jsonl").read_text()
    assert saved.count("\n") == played if played else saved == "as it was"
    assert not played or saved.splitlines()[0][:9] == known[0][:9]


def test_a_trajectory_without_steps_is_refused(run: Run, here: Path) -> None:
    (here / "empty.jsonl").touch()
    complaint(run("infer", "nook.txt", "empty.jsonl"), r"empty\.jsonl: is empty")


def locked_cells(n: int) -> str:
    """A level with n keys in one room, and n cells behind doors of four colours in turn; the last holds a gem."""
    inside = [[".."] * 9 for _ in range(n)]
    inside[0][-1], inside[-1][-1] = "gb", "gr"
    rows = []
    for k, cell in enumerate(inside):
        room = [f"a{k + 1}" if k < 2 else "..", *[".."] * (k % 3), f"k{'rbyg'[k % 4]}", *[".."] * (7 - k % 3)]
        rows += [["##", *room, f"d{'rbyg'[k % 4]}", *cell, "##"], ["##", *[".."] * 9, *["##"] * 11]]
    wall = ["##"] * len(rows[0])
    return "agents: Ana, Ben\ngoals: red, blue\n\n" + "\n".join(" ".join(row) for row in [wall, *rows, wall]) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["watch", "infer"])
def test_too_many_states_are_refused_in_one_line(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(planner, "MOST_STATES", 10)
    (here / "cells.txt").write_text(locked_cells(9))
    (here / "walk.jsonl").write_text('{"schema": 1, "t": 0, "joint": {"Ana": "stay", "Ben": "stay"}}\n')
    arguments = ["cells.txt"] + ["walk.jsonl"] * (command == "infer")
    complaint(run(command, *arguments), r"more than 10 states, of [0-9,]+ that there may be \(use a smaller map")


@pytest.mark.slow
@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_it_is_said_what_takes_long(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    (here / "cells.txt").write_text(locked_cells(8))
    monkeypatch.setattr(progress, "PATIENCE", patience)
    said = run("watch", "cells.txt", "--facilitator", "none", "--delay", "0").err
    assert bool(re.search(r"planning, [1-9][0-9,]* states of at most 150,000, ", said)) == (patience < 1)


@pytest.mark.slow
@pytest.mark.skipif(operating_system.WINDOWS, reason="there are no pseudo-terminals")
def test_a_terminal_is_told_which_command_is_running(here: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    late = "import otherminds.evaluation.progress as p; p.PATIENCE = 0.001; from otherminds.cli.app import main; main()"
    subprocess.run([sys.executable, "-c", late, "draw", "locked-in"], stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    assert re.match(rb"otherminds draw, 0\.\d s", os.read(ours, 1000))
    os.close(ours)


def test_notes_from_outside_wait_for_those_inside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.noted("outside"):
        with progress.noted("inside"), progress.telling():
            time.sleep(0.1)
        assert capsys.readouterr().err == ""
        while "outside" not in capsys.readouterr().err:
            time.sleep(0.01)


def test_consecutive_notes_share_one_patience(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.5)
    progress.said()
    began = time.monotonic()
    text = ""
    while not text:  # each part is too short to be told of by itself
        with progress.noted("a part"):
            time.sleep(0.2)
        text = capsys.readouterr().err
    assert time.monotonic() - began >= 0.5
    assert text.count("a part") == 1


@pytest.mark.parametrize("text", ["name: a\0b\nagents: Ana\n\na1\n", "recipes: lettuce\0\nagents: Ana\n\n##\n"])
def test_text_with_a_nul_byte_is_refused(run: Run, here: Path, text: str) -> None:
    (here / "level.txt").write_text(text)
    complaint(run("draw", "level.txt"), r"level\.txt:1: holds a NUL byte")


def finished(folder: Path) -> int:
    """How many episodes are, if there are any yet."""
    try:
        return look(folder).finished
    except InputError:
        return 0


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "early"), [("1", False), ("2", False), ("2", True)])
def test_a_run_interrupted_from_the_keyboard_can_go_on(here: Path, jobs: str, early: bool) -> None:
    command = [sys.executable, "-c", "from otherminds.cli.app import main; main()"]
    process = subprocess.Popen(
        [*command, "reproduce", "protom-dkg", "--out", "out", "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    base = here / "out" / "run.db"
    while process.poll() is None and not (base.exists() and (early or finished(here / "out"))):
        time.sleep(0.01)
    if early:
        time.sleep(0.3)  # about when the other processes start
    os.killpg(process.pid, signal.SIGINT)  # to all processes of the group, as a terminal does
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (3, "")
    assert re.fullmatch(r"otherminds: interrupted[^\n]*\n", err)
    assert early or 0 < finished(here / "out") < 80


HOSTILE = "\x1b[31mEvil\x1b]0;owned\x07\x08\x9b1m\u202e[red]x[/red]\\"


@pytest.mark.parametrize("command", ["draw x.txt", "watch x.txt", "verify levels x.txt", "infer x.txt walk.jsonl"])
def test_names_cannot_take_over_the_terminal(run: Run, here: Path, command: str) -> None:
    (here / "x.txt").write_text(LEVEL.replace("nook", HOSTILE).replace("goals", f"class: {HOSTILE}\ngoals"))
    result = run(*command.split())
    assert result.code in (0, 1)
    assert not {c for c in result.out + result.err if not c.isprintable()} - {"\n"}
    if command.startswith(("watch", "verify")):
        assert "[red]x[/red]\\" in result.out
