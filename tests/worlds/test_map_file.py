"""Pictures of worlds with avatars as files, on the command line and as text: always the same, and none breaks out."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from avatar_pictures import ROOM, AvatarState, AvatarWorld, busy
from commands import Run, complaint, fine
from matrix_worlds import PAPER, met, play, scene, world_of
from otherminds import worlds
from otherminds.errors import InputError
from otherminds.reports.terminal.screens import drawing_of, picture
from otherminds.worlds import avatar_drawing
from otherminds.worlds.canvas import film
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix import drawing as matrix_drawing
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix

HOSTILE = '</text></svg><script>alert("1")</script>\' onload=alert(2) &amp; \x00\x1b[31m\u202e\ud800'
BUNDLED = ("rws_repeated", "rws_arena", "pd_repeated", "cooking_asymmetric")
WORLDS = Path(worlds.__file__).parent


def substrate(name: str) -> Path:
    """The map file of a bundled world."""
    folder = "collaborative_cooking" if name == "cooking_asymmetric" else "in_the_matrix"
    return WORLDS / folder / "substrates" / f"{name}.txt"


@pytest.mark.parametrize("world", [world_of(), cooking_asymmetric()])
def test_names_cannot_break_out(world: AvatarWorld) -> None:
    strange = replace(world, agents=(HOSTILE, HOSTILE + "2"))
    start = np.random.default_rng(0)
    state = world.start(start)
    tame, wild = (ElementTree.fromstring(drawing_of(w).draw(w, state).svg()) for w in (world, strange))
    assert [(e.tag, sorted(e.attrib)) for e in wild.iter()] == [(e.tag, sorted(e.attrib)) for e in tame.iter()]
    assert not any(c in drawing_of(strange).draw(strange, state).svg() for c in "\x00\x1b\u202e\ud800")
    assert not any(c in picture(strange, state).plain for c in "\x00\x1b\u202e\ud800")
    drawing_of(strange).draw(strange, state).png(io.BytesIO(), cell=8)


def test_players_carry_the_numbers_of_their_names_or_else_initials() -> None:
    assert avatar_drawing.avatar_labels(["player_0", "player_1"]) == {"player_0": "0", "player_1": "1"}
    assert avatar_drawing.avatar_labels(["Ana", "Ben"]) == {"Ana": "A", "Ben": "B"}
    assert avatar_drawing.avatar_labels(["a1", "b1"]) == {"a1": "A", "b1": "B"}


@pytest.mark.slow
@pytest.mark.parametrize("case", [(world_of(), met(world_of())), busy()])
def test_pictures_are_the_same_bytes_every_time(case: tuple[AvatarWorld, AvatarState], tmp_path: Path) -> None:
    world, state = case
    assert drawing_of(world).draw(world, state).svg() == drawing_of(world).draw(world, state).svg()
    for name in "ab":
        drawing_of(world).draw(world, state).png(tmp_path / f"{name}.png", cell=16)
        film([drawing_of(world).draw(world, state) for state in [state] * 2], tmp_path / f"{name}.gif", cell=8)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_a_png_has_the_asked_size_and_shows_the_same_as_the_svg() -> None:
    world = world_of(ROOM)
    state = scene(world, "1 1 ^", "6 2 <")
    file = io.BytesIO()
    drawing_of(world).draw(world, state).png(file, cell=24)
    image = Image.open(file)
    _, _, width, height = map(
        float, ElementTree.fromstring(drawing_of(world).draw(world, state).svg()).attrib["viewBox"].split()
    )
    assert image.size == (width / 2, height / 2)
    paints = {"0": avatar_drawing.BODIES[0], "rock": matrix_drawing.kind_hues(world.rules.resources)[0]}
    for at, name in (((1.5, 1.75), "0"), ((3.5, 1.75), "rock")):
        pixel = image.getpixel((int(at[0] * 24), int(at[1] * 24)))
        assert isinstance(pixel, tuple)
        assert sum(abs(a - b) for a, b in zip(pixel, bytes.fromhex(paints[name][1:]), strict=True)) < 40


def test_a_film_shows_one_state_after_the_other(tmp_path: Path) -> None:
    world = world_of()
    states = [scene(world, "3 3 >", "5 3 <", held=(PAPER, PAPER))]
    for _ in range(3):
        states.append(play(world, states[-1], "turn_left", "step_left"))
    film([drawing_of(world).draw(world, state) for state in states], tmp_path / "a.gif", cell=8)
    with Image.open(tmp_path / "a.gif") as found:
        assert getattr(found, "n_frames", 1) == 4


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    world, state = busy()
    with pytest.raises(InputError, match="cannot be written: No such file"):
        drawing_of(world).draw(world, state).png(tmp_path / "no" / "a.png", cell=8)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        film([drawing_of(world).draw(world, state) for state in [state]], tmp_path / "no" / "a.gif", cell=8)
    with pytest.raises(InputError, match="a state at least"):
        film([], tmp_path / "a.gif")


# On the command line


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLED)
def test_worlds_are_drawn_by_name_and_by_file(run: Run, tmp_path: Path, name: str) -> None:
    world = cooking_asymmetric() if name == "cooking_asymmetric" else in_the_matrix(name)
    state = world.start(np.random.default_rng(0))
    for level in (name, str(substrate(name))):
        for seen_by in (None, "player_1"):
            view = () if seen_by is None else ("--seen-by", seen_by)
            assert fine(run("draw", level, *view, "--out", str(tmp_path / "a.svg"))) == ""
            assert (tmp_path / "a.svg").read_text() == drawing_of(world).draw(world, state, seen_by=seen_by).svg()
            text = fine(run("draw", level, *view))
            assert text.startswith(picture(world, state, seen_by).plain)
            assert max(map(len, text.splitlines())) <= 80
    assert fine(run("draw", name, "--out", str(tmp_path / "a.png"))) == ""
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_text_shows_what_is_there() -> None:
    world = world_of(ROOM)
    state = scene(world, "1 1 ^", "6 2 <", held=[PAPER])._replace(kinds=(0, 1, 2, 0))
    assert picture(world, state).plain.split("\n") == [
        "█" * 27,
        "███▲0* ·  R  ·  P  ·  · ███",
        "███ ·  ·  S  ·  R ◀1  · ███",
        "█" * 27,
        "0 player_0, ready: rock 1 paper 6 scissors 1",
        "1 player_1: rock 1 paper 1 scissors 1",
    ]
    assert picture(*busy()).plain.split("\n") == [
        "░t░" + "░░░" * 8,
        "[t]▶0s░░░***░░░[t]░░░ · ***",
        "░░░ ·  ·  · (3) ·  ·  · ░░░",
        "░░░ ·  ·  · (s) · ▼1  · ░░░",
        "░░░░░░░░░[d]░░░[d]░░░░░░░d░",
        "0 player_0: soup",
        "1 player_1: nothing",
    ]


def test_text_shows_what_one_player_sees() -> None:
    assert picture(*busy(), "player_1").plain.split("\n") == [
        "░" * 27,
        "[t]   ░░░***░░░[t]░░░   ***",
        "░░░         (3) ·  ·  · ░░░",
        "░░░         (s) · ▼1  · ░░░",
        "░░░░░░░░░[d]░░░[d]░░░░░░░d░",
        "1 player_1: nothing",
    ]


def test_text_shows_beams_and_the_frozen() -> None:
    world = world_of()
    rows = picture(world, met(world)).plain.split("\n")
    assert rows[3] == "███ ·  · ▶0# + ◀1# ·  ·  ·  · ███"
    assert rows[2] == "███ ·  ·  +  +  +  ·  ·  ·  · ███"


def test_a_map_without_walls_above_is_known_by_what_it_says(run: Run, tmp_path: Path) -> None:
    text = (substrate("pd_repeated")).read_text()
    _, rest = text.split("\n\n")
    (tmp_path / "x.txt").write_text(f"; drawn by Ana\nn c\nd P\n\n{rest}")
    assert len(fine(run("draw", str(tmp_path / "x.txt"))).splitlines()) == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\nwindow: 2\n\na1 gr\n", "unknown key `window`"),
        ("; nothing but a comment", "has no map"),
        ("WWWW\nW nW\nWWWW\n", "`kinds` is missing"),
        ("-----\n-   -\n-----\n", "has no recipes"),
    ],
)
def test_files_are_taken_for_what_they_begin_like(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    complaint(run("draw", str(tmp_path / "x.txt")), said)


@pytest.mark.slow
def test_a_stranger_and_a_broken_map_are_errors(run: Run, tmp_path: Path) -> None:
    complaint(run("draw", "rws_repeated", "--seen-by", "Eve"), r"no agent `Eve` \(there is player_0, player_1\)")
    for name, wrong, said in (
        ("pd_repeated", ("kinds: c cooperate, d defect", ""), r"x\.txt:\d+: `kinds` is missing"),
        ("rws_repeated", ("rra", "rqa"), r"x\.txt:4:9: unknown character `q`"),
        ("cooking_asymmetric", ("cook: 20", "cook: soon"), r"x\.txt:\d+.* `cook`"),
        ("cooking_asymmetric", ("#O#", "#Q#"), r"x\.txt:3:6: unknown"),
    ):
        (tmp_path / "x.txt").write_text((substrate(name)).read_text().replace(*wrong))
        complaint(run("draw", str(tmp_path / "x.txt")), said)
