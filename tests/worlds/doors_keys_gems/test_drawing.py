"""Pictures show what is where, survive hostile names, and are the same bytes every time."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from otherminds.worlds import sprites
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems.level_files import parse_level
from otherminds.worlds.doors_keys_gems.rules import NOTHING, Action, DoorsKeysGems, State, Thing

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text></svg><script>alert("1")</script>\' onload=alert(2) &amp; \x00\x1b[31m\u202e\ud800'
LEVEL = """\
agents: Ana, Ben
goals: red, blue

## ## ## ## ## ##
## a1 kr dr gr ##
## .. ## ## ## ##
## a2 .. ky gb ##
## ## ## ## ## ##
"""


def placements(world: DoorsKeysGems, state: State) -> dict[str, sprites.Place | None]:
    return {part.name: part.place for part in map_drawing.moving_parts(world, state)}


@pytest.fixture
def world() -> DoorsKeysGems:
    return parse_level(LEVEL, Path("level.txt")).world


def hostile(world: DoorsKeysGems) -> DoorsKeysGems:
    """The same world with markup and control characters wherever a name or a colour is."""
    return replace(
        world,
        agents=tuple(f"{HOSTILE}{i}" for i in range(len(world.agents))),
        keys=tuple(Thing(f"{HOSTILE}{k}", HOSTILE, key.cell) for k, key in enumerate(world.keys)),
        doors=tuple(Thing(f"{HOSTILE}{d}", HOSTILE + "x", door.cell) for d, door in enumerate(world.doors)),
        gems=tuple(Thing(f"{HOSTILE}{g}", f"{HOSTILE}{g}", gem.cell) for g, gem in enumerate(world.gems)),
    )


def play(world: DoorsKeysGems, *moves: str) -> State:
    state = world.initial
    for move in moves:
        joint = {"Ana": world.vocabulary[move], "Ben": Action("stay")}
        state = world.step(state, joint)
    return state


def drawn(markup: str) -> dict[str, ElementTree.Element]:
    """The parts of an SVG picture by name."""
    root = ElementTree.fromstring(markup)
    return {g.attrib["data-part"]: g for g in root.iter(f"{SVG}g") if "data-part" in g.attrib}


def test_every_part_has_its_group(world: DoorsKeysGems) -> None:
    found = drawn(map_drawing.draw(world, world.initial).svg())
    items = [f"{kind}-{k}" for kind in ("item", "held") for k in range(4)]
    assert set(found) == {"agent-0", "agent-1", "door-0", *items}
    assert "".join(found["agent-1"].itertext()) == "BenB"


def test_parts_follow_the_state(world: DoorsKeysGems) -> None:
    start = placements(world, world.initial)
    assert start["agent-0"] == (72, 72)
    assert start["item-0"] == (120, 72)
    assert start["door-0"] == (168, 72)
    assert start["held-0"] is None
    carrying = placements(world, play(world, "right", "pickup key1"))
    assert carrying["agent-0"] == (120, 72)
    assert carrying["item-0"] is None
    assert carrying["held-0"] is not None
    opened = placements(world, play(world, "right", "pickup key1", "unlock door1 with key1"))
    assert opened["door-0"] is None
    assert opened["held-0"] is None


def test_svg_shows_the_placements(world: DoorsKeysGems) -> None:
    state = play(world, "right", "pickup key1")
    found = drawn(map_drawing.draw(world, state).svg())
    for name, place in placements(world, state).items():
        assert (found[name].get("display") == "none") == (place is None)
        if place:
            assert found[name].attrib["transform"] == f"translate({place[0]:g} {place[1]:g})"


def test_people_on_one_cell_are_drawn_apart(world: DoorsKeysGems) -> None:
    state = world.initial._replace(cells=(world.cells[0],) * 2)
    where = placements(world, state)
    assert where["agent-0"] != where["agent-1"]


def test_everything_that_somebody_holds_has_its_own_place(world: DoorsKeysGems) -> None:
    state = world.initial._replace(items=(0, 0, 0, 0))
    where = placements(world, state)
    assert len({where[f"held-{k}"] for k in range(4)}) == 4


def test_names_and_colours_cannot_break_out(world: DoorsKeysGems) -> None:
    strange = hostile(world)
    tame, wild = (ElementTree.fromstring(map_drawing.draw(w, w.initial, goals=True).svg()) for w in (world, strange))
    shape = [(e.tag, sorted(e.attrib)) for e in tame.iter()]
    assert [(e.tag, sorted(e.attrib)) for e in wild.iter()] == shape
    assert "<script>" in "".join(wild.itertext())
    assert not any(c in map_drawing.draw(strange, strange.initial).svg() for c in "\x00\x1b\u202e\ud800")


def test_unknown_colours_are_grey(world: DoorsKeysGems) -> None:
    assert sprites.hue("puce") == sprites.GREY
    assert f'fill="{sprites.GREY}"' in map_drawing.draw(hostile(world), world.initial).svg()
    assert f'fill="{sprites.GREY}"' not in map_drawing.draw(world, world.initial).svg()


def test_goal_marks_are_drawn_on_request_only(world: DoorsKeysGems) -> None:
    with_marks, without = (drawn(map_drawing.draw(world, world.initial, goals=g).svg()) for g in (True, False))
    assert "".join(with_marks["item-2"].itertext()) == "gem1RA"
    assert "".join(without["item-2"].itertext()) == "gem1R"


def test_who_wants_nothing_marks_nothing(world: DoorsKeysGems) -> None:
    aimless = replace(world, goals=(NOTHING, NOTHING))
    assert map_drawing.draw(aimless, world.initial, goals=True).svg() == map_drawing.draw(aimless, world.initial).svg()


def test_labels_are_short_and_distinct() -> None:
    assert sprites.labels(["red", "green", "red"]) == {"red": "R", "green": "G"}
    assert sprites.labels(["blue", "brown"]) == {"blue": "Bl", "brown": "Br"}
    many = [f"same beginning {i}" for i in range(20)] + ["", "\x00"]
    assert len(set(sprites.labels(many).values())) == len(many)
    assert all(len(label) <= 3 for label in sprites.labels(many).values())


def test_svg_is_the_same_every_time(world: DoorsKeysGems) -> None:
    assert map_drawing.draw(world, world.initial).svg() == map_drawing.draw(world, world.initial).svg()


def pixels(world: DoorsKeysGems, state: State, cell: int = 24) -> Image.Image:
    file = io.BytesIO()
    map_drawing.draw(world, state).png(file, cell=cell)
    return Image.open(io.BytesIO(file.getvalue()))


def test_png_has_the_asked_size_and_is_the_same_every_time(world: DoorsKeysGems, tmp_path: Path) -> None:
    assert pixels(world, world.initial).size == (5 * 24, 4 * 24)
    map_drawing.draw(world, world.initial).png(tmp_path / "a.png")
    map_drawing.draw(world, world.initial).png(str(tmp_path / "b.png"))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_png_agrees_with_svg_on_what_is_where(world: DoorsKeysGems) -> None:
    state = play(world, "right", "pickup key1")
    before, after = pixels(world, world.initial), pixels(world, state)

    def seen(image: Image.Image, x: int, y: int) -> str:
        """The nearest of some colours beside the middle of a cell; half a cell of wall is cut off all around."""
        pixel = image.getpixel((x * 24 + 6, y * 24))
        assert isinstance(pixel, tuple)
        known = (*sprites.PEOPLE[:2], sprites.FLOOR, sprites.WALL)
        return min(known, key=lambda name: sum(abs(a - b) for a, b in zip(bytes.fromhex(name[1:]), pixel, strict=True)))

    assert seen(before, 1, 1) == sprites.PEOPLE[0] == seen(after, 2, 1)
    assert seen(before, 1, 3) == sprites.PEOPLE[1] == seen(after, 1, 3)
    assert seen(after, 1, 1) == sprites.FLOOR
    assert seen(before, 0, 1) == sprites.WALL


def test_png_draws_hostile_names(world: DoorsKeysGems) -> None:
    assert pixels(hostile(world), world.initial).size == (5 * 24, 4 * 24)


def test_letters_can_be_read_on_every_colour() -> None:
    assert sprites.ink_on(sprites.HUES["yellow"]) == sprites.INK
    assert sprites.ink_on(sprites.HUES["blue"]) == sprites.PAPER
