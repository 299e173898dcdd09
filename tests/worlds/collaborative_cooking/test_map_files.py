"""Map files for collaborative cooking: what they say is what is played, and mistakes are told with where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.avatars import Reach
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric, parse_cooking, read_cooking
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking

MAP = "#####\nO P C\nD P T\n#####\n"
SAID = "players: 2\nwindow: 2 2 3 1\nsteps: 1000\ncook: 20\nreward: 20\n"
FILE = Path("kitchen.txt")


def parsed(text: str) -> CollaborativeCooking:
    return parse_cooking(text, FILE)


def test_a_file_says_what_is_played(tmp_path: Path) -> None:
    said = "agents: Ana, Ben\nwindow: 1 2 3 4\nsteps: 50\ncook: 7\nreward: 2.5\nsource: somewhere: here\n"
    path = tmp_path / "kitchen.txt"
    path.write_text(f"; a comment\n{MAP}\n; another\n{said}", "utf-8")
    rows = ("#####", "O P C", "D P T", "#####")
    world = CollaborativeCooking(rows, ("Ana", "Ben"), Reach(1, 2, 3, 4), steps=50, cook=7, pay=2.5)
    assert read_cooking(path) == world


def test_players_are_numbered_if_they_have_no_names() -> None:
    assert parsed(f"{MAP}\n{SAID}").agents == ("player_0", "player_1")


def test_line_ends_of_other_systems_are_read() -> None:
    text = f"{MAP}\n{SAID}"
    assert parsed(text.replace("\n", "\r\n")) == parsed(text)


def test_void_is_neither_floor_nor_of_use() -> None:
    world = parsed(f"x####\nO P C\nD P T\n####x\n\n{SAID}")
    assert len(world.counters) == 8
    assert not any(map(world.grid.is_floor, world.cells("x")))


def test_the_bundled_kitchen_has_the_rules_of_the_original() -> None:
    world = cooking_asymmetric()
    assert (world.steps, world.cook, world.pay) == (1000, 20, 20.0)
    assert world.reach == Reach(left=2, right=2, forward=3, backward=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "kitchen.txt:1: has no map (the map comes first"),
        (f"\n{MAP}\n{SAID}", "kitchen.txt:1: has no map"),
        (f"#####\nO ? C\nD P T\n#####\n\n{SAID}", "kitchen.txt:2:3: unknown character `?` (one of P x # O D T C"),
        (f"#####\nO P \nD P T\n#####\n\n{SAID}", "kitchen.txt:2:5: this row has 4 characters, the first one has 5"),
        (f"#####\nO P C#\nD P T\n#####\n\n{SAID}", "kitchen.txt:2:6: this row has 6 characters, the first one has 5"),
        (f"#####\nO P C\nD P  \n#####\n\n{SAID}", "kitchen.txt:3:5: floor on the border"),
        (f"#####\nO P C\nP P T\n#####\n\n{SAID}", "kitchen.txt:3:1: floor on the border"),
        (f"#####\nO P C\nD P T\n## ##\n\n{SAID}", "kitchen.txt:4:3: floor on the border"),
        (f"{'#' * 65}\n\n{SAID}", "kitchen.txt:1: the map is larger than 64 × 64"),
        ("#\n" * 65 + f"\n{SAID}", "kitchen.txt:1: the map is larger than 64 × 64"),
        (f"#####\nO   C\nD   T\n#####\n\n{SAID}", "kitchen.txt:6: no starts for 2 players"),
        (f"#####\nO P C\nD   T\n#####\n\n{SAID}", "kitchen.txt:6: 1 start for 2 players"),
        (f"#####\nO P #\nD P T\n#####\n\n{SAID}", "kitchen.txt:4: the map has no pot, `C`"),
        (f"#####\n# P C\nD P T\n#####\n\n{SAID}", "kitchen.txt:4: the map has no dispenser of tomatoes, `O`"),
        (f"#####\nO P C\n# P T\n#####\n\n{SAID}", "kitchen.txt:4: the map has no dispenser of dishes, `D`"),
        (f"#####\nO P C\nD P #\n#####\n\n{SAID}", "kitchen.txt:4: the map has no delivery, `T`"),
        (f"####C\nO P C\nD P T\n#####\n\n{SAID}", "kitchen.txt:1:5: no player can reach this pot (floor must lead"),
        (f"##T##\n# # #\n##P##\nOPPPC\n##D##\n\n{SAID}", "kitchen.txt:1:3: no player can reach this delivery"),
        (f"O####\n# P C\nD P T\n#####\n\n{SAID}", "kitchen.txt:1:1: no player can reach this dispenser of tomatoes"),
    ],
)
def test_mistakes_in_a_map_are_told_with_their_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(text)
    assert str(error.value).startswith(message)


def test_a_second_dispenser_or_delivery_may_be_out_of_reach() -> None:
    assert parsed(f"O#T#D\nO P C\nD P T\n#####\n\n{SAID}").rows[0] == "O#T#D"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("players: 2\n", "", "kitchen.txt:4: needs either `players` or `agents`"),
        ("players: 2\n", "players: 2\nagents: Ana\n", "kitchen.txt:7: needs either `players` or `agents`"),
        ("players: 2", "players: 0", "kitchen.txt:6: `players` is not a whole number from 1 to 9"),
        ("players: 2", "players: two", "kitchen.txt:6: `players` is not a whole number from 1 to 9"),
        ("players: 2", "agents: Ana, Ana", "kitchen.txt:6: agents need different names"),
        ("players: 2", "agents: Ana, Ben, Cem", "kitchen.txt:6: 2 starts for 3 players"),
        ("window: 2 2 3 1\n", "", "kitchen.txt:9: `window` is missing (such as `window: 2 2 3 1`)"),
        ("window: 2 2 3 1", "window: 2 2 3", "kitchen.txt:7: `window` is not four numbers"),
        ("window: 2 2 3 1", "window: 2 2 3 -1", "kitchen.txt:7: `window` is not four numbers"),
        ("steps: 1000", "steps: 0", "kitchen.txt:8: `steps` is not a whole number from 1 to 99999"),
        ("steps: 1000\n", "", "kitchen.txt:9: `steps` is missing"),
        ("cook: 20", "cook: 2.5", "kitchen.txt:9: `cook` is not a whole number from 0 to 99999"),
        ("cook: 20", "cook: ٢", "kitchen.txt:9: `cook` is not a whole number"),
        ("cook: 20", "steps: 20", "kitchen.txt:9:1: `steps` is given twice"),
        ("cook: 20", "stove: 20", "kitchen.txt:9:1: unknown key `stove` (one of players, agents, window"),
        ("cook: 20", "cook 20", "kitchen.txt:9: `cook 20` is not `key: value`"),
        ("cook: 20", "cook:", "kitchen.txt:9: `cook:` is not `key: value`"),
        ("reward: 20", "reward: nan", "kitchen.txt:10: `reward`: `nan` is not a number"),
        ("reward: 20", "reward: 1e9", "kitchen.txt:10: `reward`: `1e9` is not a number"),
    ],
)
def test_mistakes_after_the_map_are_told_with_their_line(old: str, new: str, message: str) -> None:
    assert old in SAID
    with pytest.raises(InputError) as error:
        parsed(f"{MAP}\n{SAID.replace(old, new)}")
    assert str(error.value).startswith(message)


def test_a_map_alone_lacks_the_rest() -> None:
    with pytest.raises(InputError, match=r"kitchen\.txt:4: `window` is missing"):
        parsed(MAP)


@pytest.mark.slow
@given(st.integers(0, 100), st.integers(0, 3), st.text(alphabet="#PODTCx \r\n:;2-window", max_size=3))
def test_whatever_is_changed_it_is_a_kitchen_or_an_input_error(at: int, gone: int, new: str) -> None:
    text = f"{MAP}\n{SAID}"
    try:
        world = parsed(text[:at] + new + text[at + gone :])
    except InputError as error:
        told = str(error)
    else:
        told = f"kitchen.txt: {len(world.agents)} of {len(world.starts)}"
    assert told.startswith("kitchen.txt:")
    assert "\n" not in told
