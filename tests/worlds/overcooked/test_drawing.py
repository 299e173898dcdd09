"""Pictures of kitchens show what is where, to everybody or to one agent, and are the same bytes every time."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from PIL import Image

from kitchens import VARIED, holding, kitchen, kitchen_plays, thing
from otherminds.errors import InputError
from otherminds.worlds import sprites
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.kitchen import CHOPPED, FRESH, PLATE, RECIPES, parts
from otherminds.worlds.overcooked.rules import Overcooked, State

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text></svg><script>alert("1")</script>\' onload=alert(2) &amp; \x00\x1b[31m\u202e\ud800'
DISH = "chopped tomato, plate"


@pytest.fixture
def world() -> Overcooked:
    return kitchen("-t-#-p-", "/1 D 2*", "-  -  l", "-------", recipes=("SimpleTomato", "Salad"))


def drawn(markup: str) -> dict[str, ElementTree.Element]:
    """The parts of an SVG picture by name."""
    return {g.attrib["data-part"]: g for g in ElementTree.fromstring(markup).iter(f"{SVG}g") if "data-part" in g.attrib}


def shown(markup: str) -> dict[str, str]:
    """The titles of the parts that are to be seen."""
    found = {name: g for name, g in drawn(markup).items() if g.get("display") != "none"}
    return {name: g.findtext(f"{SVG}title") or "" for name, g in found.items()}


def counter(world: Overcooked, x: int, y: int) -> str:
    return f"counter-{world.layout.counters.index(world.layout.grid.cell(x, y))}"


def test_every_part_has_its_group(world: Overcooked) -> None:
    names = {f"counter-{k}" for k in range(len(world.on))} | {"delivery-0", "agent-0", "agent-1", "held-0", "held-1"}
    assert set(drawn(kitchen_drawing.draw(world, world.initial).svg())) == names


def test_what_is_there_is_shown_and_nothing_else(world: Overcooked) -> None:
    state = holding(world, DISH, "")
    assert shown(kitchen_drawing.draw(world, state).svg()) == {
        counter(world, 1, 0): "fresh tomato",
        counter(world, 5, 0): "plate",
        counter(world, 6, 2): "fresh lettuce",
        "agent-0": "Ana",
        "agent-1": "Ben",
        "held-0": "chopped tomato, plate",
    }


def test_what_has_been_delivered_is_shown(world: Overcooked) -> None:
    dishes = (RECIPES["SimpleTomato"], RECIPES["Salad"])
    state = world.initial._replace(delivered=(dishes,))
    title = "chopped tomato, plate; chopped tomato, chopped lettuce, plate"
    assert shown(kitchen_drawing.draw(world, state).svg())["delivery-0"] == title


def test_parts_are_in_their_places(world: Overcooked) -> None:
    places = {part.name: part.place for part in kitchen_drawing.moving_parts(world, holding(world, "", "plate"))}
    assert places[counter(world, 1, 0)] == (72, 24)
    assert places["agent-0"] == (72, 72)
    assert places["held-0"] is None
    assert places["held-1"] == (264 + 15, 72 + 12)


def test_people_on_one_square_are_drawn_apart(world: Overcooked) -> None:
    state = world.initial._replace(cells=(world.cells[0],) * 2)
    places = {part.name: part.place for part in kitchen_drawing.moving_parts(world, state)}
    assert places["agent-0"] != places["agent-1"]


def test_what_one_agent_sees_is_all_that_its_picture_shows(world: Overcooked) -> None:
    state = holding(world, DISH, "fresh onion")
    mine, theirs = (shown(kitchen_drawing.draw(world, state, seen_by=agent).svg()) for agent in world.agents)
    assert mine == {counter(world, 1, 0): "fresh tomato", "agent-0": "Ana", "held-0": DISH}
    assert set(theirs) == {counter(world, 5, 0), counter(world, 6, 2), "agent-1", "held-1"}


@pytest.mark.slow
@settings(max_examples=12)
@given(kitchen_plays(agents=(2, 3)))
def test_a_picture_for_one_agent_depends_on_what_it_sees_alone(
    play: tuple[Overcooked, list[State], list[tuple[str, ...]]],
) -> None:
    world, states, _ = play
    seen: dict[object, str] = {}
    for state in states:
        markup = kitchen_drawing.draw(world, state, seen_by="Ana").svg()
        assert seen.setdefault(world.observe(state, "Ana"), markup) == markup


def test_what_is_out_of_sight_is_dim(world: Overcooked) -> None:
    grid = world.layout.grid
    bright = kitchen_drawing.background(world)
    dim = kitchen_drawing.background(world, seen_from=grid.cell(1, 1))
    assert len(bright) == len(dim)

    def floor(x: int, y: int) -> set[str]:
        at = (48 * x + 1, 48 * y + 1)
        return {s.fill for s in dim if isinstance(s, sprites.Box) and (s.x, s.y) == at}

    assert floor(1, 1) == {sprites.FLOOR} == floor(3, 1)
    assert sprites.FLOOR not in floor(4, 1)


def test_a_picture_from_a_door_is_bright_on_both_sides(world: Overcooked) -> None:
    door = world.layout.grid.cell(3, 1)
    reached = {world.layout.grid.cell(x, y) for x, y in [(0, 0), (3, 3), (6, 0), (6, 3), (0, 3)]}
    hidden = [cell for cell in world.layout.counters if not world.layout.sight[cell] & world.layout.sight[door]]
    assert set(hidden) == reached


def test_different_things_look_different() -> None:
    things = (*VARIED, *RECIPES.values(), CHOPPED["tomato"] + CHOPPED["lettuce"], RECIPES["Salad"] + CHOPPED["onion"])
    looks = {number: kitchen_drawing.thing_shapes(number) for number in things}
    assert len(set(looks.values())) == len(looks)
    for number, shapes in looks.items():
        letters = sorted(shape.text for shape in shapes if isinstance(shape, sprites.Letters))
        assert letters == sorted(part.split()[1][0].upper() for part in parts(number) if part != "plate")


@pytest.mark.parametrize("number", [*FRESH.values(), *CHOPPED.values(), PLATE, *RECIPES.values(), thing(DISH) + 14])
def test_things_fit_into_their_square(number: int) -> None:
    for shape in kitchen_drawing.thing_shapes(number):
        if isinstance(shape, sprites.Disc):
            assert max(abs(shape.x), abs(shape.y)) + shape.radius <= 24


def test_names_cannot_break_out(world: Overcooked) -> None:
    strange = replace(world, agents=(HOSTILE, HOSTILE + "2"))
    tame, wild = (ElementTree.fromstring(kitchen_drawing.draw(w, w.initial).svg()) for w in (world, strange))
    assert [(e.tag, sorted(e.attrib)) for e in wild.iter()] == [(e.tag, sorted(e.attrib)) for e in tame.iter()]
    assert not any(c in kitchen_drawing.draw(strange, strange.initial).svg() for c in "\x00\x1b\u202e\ud800")


def pixels(world: Overcooked, state: State, *, seen_by: str | None = None) -> Image.Image:
    file = io.BytesIO()
    kitchen_drawing.draw(world, state, seen_by=seen_by).png(file, cell=24)
    return Image.open(io.BytesIO(file.getvalue()))


def test_png_has_the_asked_size_and_is_the_same_every_time(world: Overcooked, tmp_path: Path) -> None:
    assert pixels(world, world.initial).size == (7 * 24, 4 * 24)
    for name in "ab":
        kitchen_drawing.draw(world, world.initial).png(tmp_path / f"{name}.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert kitchen_drawing.draw(world, world.initial).svg() == kitchen_drawing.draw(world, world.initial).svg()


def test_png_agrees_with_svg_on_what_is_where(world: Overcooked) -> None:
    known = (*sprites.PEOPLE[:2], sprites.FLOOR, sprites.WOOD, sprites.WALL, sprites.FOOD_HUES["tomato"])

    def look(image: Image.Image, x: int, y: int) -> str:
        """The nearest of some colours left of the middle of a square."""
        pixel = image.getpixel((x * 24 + 7, y * 24 + 12))
        assert isinstance(pixel, tuple)
        return min(known, key=lambda name: sum(abs(a - b) for a, b in zip(bytes.fromhex(name[1:]), pixel, strict=True)))

    image = pixels(world, world.initial)
    assert [look(image, x, 1) for x in (1, 2, 5)] == [sprites.PEOPLE[0], sprites.FLOOR, sprites.PEOPLE[1]]
    assert [look(image, x, 0) for x in (1, 2, 3)] == [
        sprites.FOOD_HUES["tomato"],
        sprites.WOOD,
        sprites.WALL,
    ]
    assert look(pixels(world, world.initial, seen_by="Ben"), 1, 1) != sprites.PEOPLE[0]


def test_a_picture_that_cannot_be_written_is_an_error(world: Overcooked, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        kitchen_drawing.draw(world, world.initial).png(tmp_path / "no" / "a.png")
