"""Worlds of users: their goals, words and drawings, whatever they say of themselves."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.reports.terminal.screens import drawing_of, picture
from otherminds.worlds import own_world
from otherminds.worlds.own_world import goal_colours, possible_goals, spell
from own_rooms import Corridor, DrawnRooms, Rooms

START = Rooms().start(np.random.default_rng(0))


def test_goals_are_those_of_everybody_or_of_each_agent() -> None:
    assert possible_goals(Rooms()) == {"Ana": ("window", "door"), "Ben": ("window", "door")}
    assert possible_goals(Corridor()) == {"Ana": (0, 8)}
    assert possible_goals(object.__new__(type("Aimless", (), {"agents": ("Ana",)}))) == {"Ana": ()}
    assert len(set(goal_colours(Corridor()).values())) == 2


def test_actions_are_spelled_by_the_world_if_it_can() -> None:
    assert spell(Rooms(), ("go", 1)) == "('go', 1)"
    assert spell(type("Spelling", (), {"spell": staticmethod(lambda action: f"to {action}")})(), "go") == "to go"


def test_a_map_of_characters_is_drawn_with_walls_and_letters() -> None:
    world = Rooms()
    assert drawing_of(world) is own_world
    rows = picture(world, START).plain.split("\n")
    assert rows[2] == "██ · a · b ·██"
    drawing = own_world.draw(world, START)
    root = ElementTree.fromstring(drawing.svg())
    assert root.attrib["viewBox"] == "0 0 336 240"
    letters = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert letters == ["a", "b"]
    drawing.png(io.BytesIO(), cell=8)


def test_svg_of_the_world_is_scaled_and_otherwise_shown_as_it_is() -> None:
    drawing = own_world.draw(DrawnRooms(), START)
    root = ElementTree.fromstring(drawing.svg())
    inner = root.find(".//{http://www.w3.org/2000/svg}svg")
    assert inner is not None
    assert inner.attrib == {"width": "384", "height": "274.286", "viewBox": "0 0 140 100", "class": "mine"}
    assert len(inner) == 2
    with pytest.raises(InputError, match="no pictures of pixels"):
        drawing.png(io.BytesIO())


@pytest.mark.parametrize(
    ("svg", "message"),
    [
        ("hello", "Odd.draw gives no SVG"),
        ("<svg>", "Odd.draw gives no SVG"),
        ("<svg/>", "Odd.draw gives SVG of no size"),
        ("<svg viewBox='0 0 0 5'/>", "Odd.draw gives SVG of no size"),
        ("<svg width='20%'/>", "Odd.draw gives SVG of no size"),
    ],
)
def test_what_is_no_svg_is_refused(svg: str, message: str) -> None:
    world = type("Odd", (), {"draw": lambda self, state: svg})()
    with pytest.raises(InputError, match=message):
        own_world.draw(world, 0)


@pytest.mark.parametrize("text", ["", "." * 65, ".\n" * 65])
def test_a_map_of_no_size_or_too_large_is_refused(text: str) -> None:
    world = type("Odd", (), {"text": lambda self, state: text})()
    with pytest.raises(InputError, match=r"Odd.text gives a map of \d+ × \d+ characters"):
        own_world.draw(world, 0)


def test_other_states_are_shown_by_their_str_and_escaped() -> None:
    world = type("Plain", (), {})()
    assert picture(world, "<b>\x1b").plain == "<b>\N{REPLACEMENT CHARACTER}"
    assert "&lt;b&gt;" in own_world.draw(world, "<b>\x1b").svg()
    assert "…" in own_world.draw(world, "x" * 99).svg()
