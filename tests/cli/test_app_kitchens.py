"""The command line in kitchens: they are drawn, watched, read and listed like the levels of the other world."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from commands import Run, complaint, fine
from otherminds.papers.protom.levels import generation, kitchens, maps
from paths import KITCHENS

TWO_ROOMS = (KITCHENS / "two-rooms.txt").read_text()
NECESSARY = """\
-----*-
- /   -
- -   /
- -   -
p -   p
- *   -
- -   -
-/-tt--

SimpleTomato
SimpleTomato

1 4
4 6

name: hand-over
agents: Ana, Ben
class: necessary
"""
LEVEL = "name: nook\nagents: Ana, Ben\ngoals: red, blue\n\na1 .. gr\na2 .. gb\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder with kitchens and a level of the other world."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rooms.txt").write_text(TWO_ROOMS)
    (tmp_path / "hand-over.txt").write_text(NECESSARY)
    (tmp_path / "nook.txt").write_text(LEVEL)
    (tmp_path / "walk.jsonl").write_text(line(0, "up"))
    return tmp_path


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kitchens that stand for those that come with the library."""
    (tmp_path / "picked").mkdir()
    (tmp_path / "picked" / "a.txt").write_text(TWO_ROOMS.replace("two rooms", "pantry"))
    (tmp_path / "picked" / "b.txt").write_text(NECESSARY)
    design = replace(kitchens.DESIGN, folder=tmp_path, picked="picked")
    designs = {"doors-keys-gems": maps.DESIGN, "overcooked": design}
    monkeypatch.setattr(generation, "DESIGNS", designs)


def line(t: int, ana: str, ben: str = "stay") -> str:
    return json.dumps({"schema": 1, "t": t, "joint": {"Ana": ana, "Ben": ben}}) + "\n"


def posterior(run: Run, *arguments: str) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = json.loads(fine(run("infer", *arguments, "--json")))
    return history


# draw


def test_a_kitchen_as_text(run: Run, here: Path) -> None:
    drawn = fine(run("draw", "rooms.txt")).splitlines()
    assert [row.rstrip() for row in drawn[:6]] == [
        "   0   1   2   3   4   5   6   7   8",
        "0 ░░░░░░░░░t░░░░░░░░░░░░░░░()░░░░░░░░░",
        "1 //// ·   A   ·  ░░░░ ·   ·   ·  ░l░░",
        "2 **** ·   ·   ·   ∩   ·   B   ·  ░░░░",
        "3 ░░░░ ·   ·   ·  ░░░░ ·   ·   ·  ////",
        "4 ░░░░░()░░░░░░░░░░░░░░░░░****░░░░░░░░",
    ]
    assert "T L O chopped" in drawn[-1]
    assert max(map(len, drawn)) <= 80


def test_a_kitchen_as_one_of_the_cooks_sees_it(run: Run, here: Path) -> None:
    drawn = fine(run("draw", "rooms.txt", "--seen-by", "Ben")).splitlines()
    assert [row.rstrip() for row in drawn[1:6]] == [
        "0 ░?░░░?░░░?░░░?░░░?░░░░░░░()░░░░░░?░░",
        "1 /?//            ░░░░ ·   ·   ·  ░l░░",
        "2 *?**             ∩   ·   B   ·  ░░░░",
        "3 ░?░░            ░░░░ ·   ·   ·  ////",
        "4 ░?░░░?░░░?░░░?░░░?░░░░░░****░░░░░?░░",
    ]


@pytest.mark.slow
def test_a_kitchen_as_a_picture(run: Run, here: Path) -> None:
    for name in ("all", "ana"):
        view = ["--seen-by", "Ana"] if name == "ana" else []
        for suffix in ("svg", "png"):
            assert fine(run("draw", "rooms.txt", "--out", f"{name}.{suffix}", *view)) == ""
        assert ElementTree.parse(f"{name}.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert Path(f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert Path("all.svg").read_text() != Path("ana.svg").read_text()
    assert Path("all.png").read_bytes() != Path("ana.png").read_bytes()


# watch, infer


@pytest.mark.slow
@pytest.mark.parametrize("helper", ["none", "random", "oracle", "protom"])
def test_help_in_a_kitchen_is_shown_in_words(run: Run, here: Path, helper: str) -> None:
    out = fine(run("watch", "hand-over.txt", "--facilitator", helper, "--seed", "3", "--delay", "0"))
    assert ("Not everybody succeeded after 100 steps." in out) == (helper == "none")
    assert ("» " in out) == (helper != "none")
    assert ("[completed]" in out) == (helper != "none")
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_an_episode_in_a_kitchen_can_be_read_back(run: Run, here: Path) -> None:
    out = fine(run("watch", "rooms.txt", "--seed", "3", "--delay", "0", "--save", "seen.jsonl"))
    assert out == fine(run("watch", "rooms.txt", "--seed", "3"))
    steps = int(re.findall(r"Everybody succeeded after (\d+) steps\.", out)[0])
    assert re.findall(r"two rooms, (.*?) ─", out) == [*(f"step {t}" for t in range(steps)), "the end"]
    history = posterior(run, "rooms.txt", "seen.jsonl")
    assert [row["t"] for row in history] == list(range(steps + 1))
    even = dict.fromkeys(("SimpleTomato", "SimpleLettuce"), 0.8 / 2)
    assert history[0]["posterior"]["Ana"] == pytest.approx({**even, "none of these": 0.2})
    assert history[-1]["posterior"]["Ana"]["SimpleTomato"] > 0.99
    assert history[-1]["posterior"]["Ben"]["SimpleLettuce"] > 0.99


def test_recipe_posteriors_as_a_table(run: Run, here: Path) -> None:
    lines = fine(run("infer", "rooms.txt", "walk.jsonl")).splitlines()
    assert lines[1].split() == ["t", "who", "did", "surprise", "Tomato?", "Lettuce?", "these?"]
    cells = lines[3].split()
    assert cells[:3] + cells[4:] == ["0", "Ana", "up", *["0.40"] * 2, "0.20"]
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_recipe_posteriors_as_a_picture(run: Run, here: Path) -> None:
    fine(run("infer", "rooms.txt", "walk.jsonl", "--format", "picture", "--out", "p.svg"))
    ids = [element.get("id", "") for element in ElementTree.parse("p.svg").iter()]
    assert len([name for name in ids if re.fullmatch(r"axes_\d+", name)]) == 2


@pytest.mark.slow
def test_evidence_leaks_and_beliefs_are_as_many_as_wanted(run: Run, here: Path) -> None:
    (here / "walk.jsonl").write_text(line(0, "up") + line(1, "stay") + line(2, "left"))
    usual = posterior(run, "rooms.txt", "walk.jsonl")
    assert usual == posterior(run, "rooms.txt", "walk.jsonl", "--particles", "20", "--leak", "0")
    for option in (("--leak", "1"), ("--particles", "1"), ("--beta", "0.5"), ("--lapse", "0.5")):
        other = posterior(run, "rooms.txt", "walk.jsonl", *option)
        for agent, prior in usual[0]["posterior"].items():
            assert other[0]["posterior"][agent] == pytest.approx(prior), option
        assert other[-1]["posterior"] != usual[-1]["posterior"], option


# levels, generate, verify


@pytest.mark.slow
@pytest.mark.usefixtures("here", "bundled")
def test_bundled_kitchens_have_names(run: Run) -> None:
    assert fine(run("draw", "hand-over")) == fine(run("draw", "hand-over.txt"))
    assert ["pantry", "useful", "overcooked"] in [row.split()[-3:] for row in fine(run("levels")).splitlines()]
    complaint(run("draw", "handover"), r"`handover` \(did you mean hand-over\?\)")
    complaint(run("draw", "pantr"), r"`pantr` \(did you mean pantry\?\)")


@pytest.mark.slow
def test_numbers_are_those_of_the_other_world(run: Run, bundled: None) -> None:
    assert fine(run("draw", "1")) == fine(run("draw", "own-key"))
    complaint(run("draw", "21"), "`21`")


@pytest.mark.parametrize(
    ("options", "world"), [([], "doors-keys-gems"), (["--world", "overcooked"], "overcooked")], ids=["default", "other"]
)
def test_levels_are_made_of_either_world(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: list[str], world: str
) -> None:
    wanted: list[tuple[object, ...]] = []

    def make(*order: object) -> int:
        wanted.append(order)
        return 6

    monkeypatch.setattr(generation, "make", make)
    out = fine(run("generate", "levels", "--per-class", "2", "--out", "made", "--jobs", "2", *options))
    assert (wanted, out) == ([(Path("made"), 1, 2, 2, world)], "6 levels in made\n")


def test_every_set_of_either_world_is_verified_by_default(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "check", lambda names, jobs: [(name, name != "heldout") for name in names])
    result = run("verify", "levels")
    sets = {"twenty", "tuning", "heldout", "robust", "twenty-one"}
    sets |= {"overcooked-tuning", "overcooked-heldout", "overcooked-robust"}
    assert (set(result.out.split()), result.code) == (sets, 1)
    assert fine(run("verify", "levels", "twenty-one")) == "twenty-one\n"


@pytest.mark.slow
def test_kitchens_without_a_certificate_are_not_proved(run: Run, here: Path) -> None:
    (here / "rooms.txt").write_text(TWO_ROOMS.replace("class: useful\n", ""))
    assert run("verify", "levels", "rooms.txt")[:2] == (1, "two rooms: has no certificate\n")


# Whatever is wrong

BROKEN = {
    "ragged rows": (TWO_ROOMS.replace("-   l\n", "-  l\n", 1), r"x\.txt:2:9: this row has 8 characters"),
    "an unknown character": (TWO_ROOMS.replace("-   l\n", "-   z\n", 1), r"x\.txt:2:9: unknown character `z`"),
    "no recipes": (TWO_ROOMS.partition("\n\n")[0], r"x\.txt:5: has no recipes"),
    "an unknown recipe": (TWO_ROOMS.replace("SimpleTomato", "Soup"), r"x\.txt:7:1: unknown recipe `Soup`"),
    "somebody on a counter": (TWO_ROOMS.replace("2 1", "0 0"), r"x\.txt:10:1: `0 0` is not floor"),
    "an unknown key": (TWO_ROOMS.replace("horizon", "horizno"), r"x\.txt:\d+:1: unknown key `horizno`"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_broken_kitchens(run: Run, here: Path, text: str, said: str) -> None:
    (here / "x.txt").write_text(text)
    for command in ("draw x.txt", "watch x.txt", "infer x.txt walk.jsonl", "verify levels x.txt"):
        complaint(run(*command.split()), said)


TRAJECTORIES = {
    "of the other world": (
        line(0, "right") + line(1, "pickup key1"),
        r"x\.jsonl:2: unknown action `pickup key1` \(one",
    ),
    "a slip": (line(0, "rigth"), r"x\.jsonl:1: unknown action `rigth` \(did you mean right\?\)"),
    "somebody else": (line(0, "up").replace("Ben", "Eve"), r"x\.jsonl:1: there is no agent `Eve`"),
    "a torn line": (line(0, "up") + line(1, "up")[:20], r"x\.jsonl:2:\d+: Invalid JSON"),
    "a step too late": (line(1, "up"), r"x\.jsonl:1: `t` should be 0"),
}


@pytest.mark.parametrize(("text", "said"), TRAJECTORIES.values(), ids=TRAJECTORIES)
def test_broken_trajectories(run: Run, here: Path, text: str, said: str) -> None:
    (here / "x.jsonl").write_text(text)
    complaint(run("infer", "rooms.txt", "x.jsonl"), said)


LINES = {
    "the view of nobody": ("draw rooms.txt --seen-by Eve", r"there is no agent `Eve` \(there is Ana, Ben\)"),
    "a view of the other world": ("draw nook.txt --seen-by Ana", "everybody sees everything"),
    "a trajectory of a kitchen elsewhere": ("infer nook.txt walk.jsonl", r"walk\.jsonl:1: Ana cannot do `up` here"),
    "a plan for a kitchen": (
        "infer rooms.txt x.plan",
        r"x\.plan: is not a trajectory \(the name must end in \.jsonl or \.csv\)",
    ),
    "a picture with a wrong suffix": ("draw rooms.txt --out x.gif", r"x\.gif: pictures are \.svg or \.png"),
    "no folder to save into": ("watch rooms.txt --save no/x.jsonl", r"no/x\.jsonl: cannot be written"),
}


@pytest.mark.parametrize(("arguments", "said"), LINES.values(), ids=LINES)
def test_wrong_command_lines(run: Run, here: Path, arguments: str, said: str) -> None:
    before = sorted(here.rglob("*"))
    complaint(run(*arguments.split()), said)
    assert sorted(here.rglob("*")) == before


@pytest.mark.slow
def test_names_cannot_take_over_the_terminal(run: Run, here: Path) -> None:
    (here / "rooms.txt").write_text(TWO_ROOMS.replace("two rooms", "\x1b[31mEvil\x07\x9b1m\u202e[red]x[/red]"))
    out = fine(run("watch", "rooms.txt"))
    assert not {c for c in out if not c.isprintable()} - {"\n"}
    assert "[red]x[/red]" in out
