"""Level files: writing and reading are inverse, and every error names its place in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.doors_keys_gems.level_files import (
    COLOURS,
    LEVELS,
    Level,
    bundled_levels,
    draw_text,
    parse_level,
    read_level,
    write_level,
)
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, State
from otherminds.worlds.map_file import level_texts
from strategies import BOTH, moments, world_of, worlds

GOOD = """\
; two people and a door
name: the red door
agents: Ana, Ben
goals: red, blue
horizon: 40
turns: alternating
class: useful
seed: 7

; the map
a1 .. ## gr
kr dr .. ##
gb .. a2 ..
"""
WHERE = Path("level.txt")
distinct = worlds(sides=(1, 6), gems=(3, 3), colours=3, turns=BOTH, apart=True)
labels = st.text("abc xyz:;#äÖ-_.", min_size=1).map(str.strip).filter(bool)


# Round trips


def test_a_level_says_what_it_says() -> None:
    level = parse_level(GOOD, WHERE)
    assert (level.name, level.horizon, level.kind) == ("the red door", 40, "useful")
    assert level.certificate == {"class": "useful", "seed": "7"}
    world = level.world
    assert (world.agents, world.goals, world.turns) == (("Ana", "Ben"), (0, 1), "alternating")
    assert [world.grid.xy(cell) for cell in world.cells] == [(0, 0), (2, 2)]
    things = [(thing.name, thing.colour, world.grid.xy(thing.cell)) for thing in (*world.items, *world.doors)]
    assert things == [
        ("key1", "red", (0, 1)),
        ("gem1", "red", (3, 0)),
        ("gem2", "blue", (0, 2)),
        ("door1", "red", (1, 1)),
    ]
    floor = {world.grid.xy(cell) for cell in world.grid.cells()}
    assert {(x, y) for x in range(4) for y in range(3)} - floor == {(2, 0), (3, 1)}


@pytest.mark.slow
@given(distinct, labels, st.integers(1, 99_999), st.dictionaries(st.sampled_from(["class", "seed"]), labels))
def test_what_is_written_is_read_back(
    world: DoorsKeysGems, name: str, horizon: int, certificate: dict[str, str]
) -> None:
    level = Level(name, world, horizon, certificate)
    assert parse_level(write_level(level), WHERE) == level


def test_what_is_not_said_has_its_usual_value() -> None:
    level = parse_level("goals: red\nagents: Ana\n\na1 gr\n", Path("folder/corridor.txt"))
    assert (level.name, level.horizon, level.world.turns, level.kind) == ("corridor", 80, "simultaneous", "")


def test_spaces_comments_and_blank_lines_do_not_matter() -> None:
    loose = GOOD.replace(": ", "  :   ").replace("\n", "  \n").replace(" kr", "  kr").replace("gb", "\n; below\n  gb")
    assert parse_level(loose, WHERE) == parse_level(GOOD, WHERE)
    assert parse_level(GOOD.replace("\n", "\r\n"), WHERE) == parse_level(GOOD, WHERE)


def test_every_colour_has_a_letter_of_its_own() -> None:
    row = " ".join(f"g{letter}" for letter in COLOURS)
    world = parse_level(f"agents: Ana\ngoals: red\n\na1 {row}\n", WHERE).world
    assert [gem.colour for gem in world.gems] == list(COLOURS.values())


# Pictures


def test_a_picture_shows_what_is_still_there() -> None:
    world = world_of("kr a1 dr gr", "## kb gb a2")
    state = world.initial._replace(items=(0, -1, -1, 1), locked=0)
    assert draw_text(world, state) == ".. a1 .. gr\n## kb .. a2"


@pytest.mark.slow
@given(moments(distinct))
def test_a_picture_has_a_tile_for_every_cell(moment: tuple[DoorsKeysGems, State]) -> None:
    world, state = moment
    rows = [row.split(" ") for row in draw_text(world, state).split("\n")]
    assert [len(row) for row in rows] == [world.grid.width] * world.grid.height
    for i, cell in enumerate(state.cells):
        x, y = world.grid.xy(cell)
        others = {f"a{j + 1}" for j, there in enumerate(state.cells) if there == cell}
        assert rows[y][x] in others
        assert rows[y][x] >= f"a{i + 1}"


# What is wrong, and where


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


COLOUR_HINT = " ".join(f"{letter}={name}" for letter, name in COLOURS.items())
TILE_HINT = "## .. k d g followed by a colour letter, or a and a digit"
HEADER_HINT = "one of name, agents, goals, horizon, turns, class, alone, told, together, message, seed"
WRONG = {
    "nothing": ("", "level.txt: has no map (write a blank line after the header, then the map)"),
    "comments alone": ("; hm\n", "level.txt: has no map (write a blank line after the header, then the map)"),
    "no blank line": (
        "agents: Ana\ngoals: red\na1 gr\n",
        "level.txt: has no map (write a blank line after the header, then the map)",
    ),
    "no map": ("agents: Ana\ngoals: red\n\n\n", "level.txt:4: has no map (the map follows the blank line)"),
    "no header": ("\na1 gr\n", "level.txt:1: `agents` is missing (such as `agents: Ana, Ben`)"),
    "no goals": (changed("goals: red, blue\n", ""), "level.txt:1: `goals` is missing (such as `goals: red, blue`)"),
    "no colon": (changed("seed: 7", "seed 7"), "level.txt:8: `seed 7` is not `key: value`"),
    "no value": (changed("seed: 7", "seed:"), "level.txt:8: `seed:` is not `key: value`"),
    "unknown header": (changed("seed: 7", "sead: 7"), f"level.txt:8:1: unknown key `sead` ({HEADER_HINT})"),
    "header twice": (changed("seed: 7", "name: x"), "level.txt:8:1: `name` is given twice"),
    "horizon zero": (changed("40", "0"), "level.txt:5: `horizon` is not a number of steps from 1 to 99999"),
    "horizon huge": (changed("40", "100000"), "level.txt:5: `horizon` is not a number of steps from 1 to 99999"),
    "horizon in words": (changed("40", "forty"), "level.txt:5: `horizon` is not a number of steps from 1 to 99999"),
    "turns": (changed("alternating", "random"), "level.txt:6: `turns` is neither simultaneous nor alternating"),
    "agent's name": (
        changed("Ana, Ben", "Ana, B en"),
        "level.txt:3: `B en` cannot be an agent's name (a letter, then up to 23 letters or digits)",
    ),
    "agent without a name": (
        changed("Ana, Ben", "Ana,"),
        "level.txt:3: `` cannot be an agent's name (a letter, then up to 23 letters or digits)",
    ),
    "same name": (changed("Ana, Ben", "Ana, Ana"), "level.txt:3: agents need different names, nine at most"),
    "ten agents": (
        changed("Ana, Ben", "A, B, C, D, E, F, G, H, I, J"),
        "level.txt:3: agents need different names, nine at most",
    ),
    "goals missing": (
        changed("red, blue", "red"),
        "level.txt:4: 1 goals for 2 agents (one gem colour each, comma-separated)",
    ),
    "goal without gem": (changed("red, blue", "red, cyan"), "level.txt:4: there is no cyan gem (there is red, blue)"),
    "no gems": ("agents: Ana\ngoals: red\n\na1 ..\n", "level.txt:2: there is no red gem (the map has no gem)"),
    "same goal": (changed("red, blue", "red, red"), "level.txt:4: two agents want the same gem"),
    "unknown tile": (changed("kr dr", "kr d1"), f"level.txt:12:4: unknown tile `d1` ({TILE_HINT})"),
    "tile too long": (changed("kr dr", "krr dr"), f"level.txt:12:1: unknown tile `krr` ({TILE_HINT})"),
    "agent zero": (changed("a1 ..", "a0 .."), f"level.txt:11:1: unknown tile `a0` ({TILE_HINT})"),
    "unknown colour": (changed("kr dr", "kz dr"), f"level.txt:12:1: unknown colour `z` ({COLOUR_HINT})"),
    "short row": (changed(" a2 ..", " a2"), "level.txt:13:9: this row has 3 tiles, the first one has 4"),
    "long row": (changed(" a2 ..", " a2 .. .."), "level.txt:13:15: this row has 5 tiles, the first one has 4"),
    "same gem": (changed("gb ..", "gb gb"), "level.txt:13:4: a second blue gem"),
    "agent twice": (changed("gb ..", "gb a2"), "level.txt:13:7: a second `a2`"),
    "agent unnamed": (changed("gb ..", "gb a3"), "level.txt:13:4: `a3` has no name (the header names 2)"),
    "agent missing": (changed("a2", ".."), "level.txt:13: the map lacks a2"),
    "too wide": (
        f"agents: Ana\ngoals: red\n\na1 gr {'.. ' * 63}\n",
        "level.txt:4: the map is larger than 64 × 64",
    ),
    "too high": ("agents: Ana\ngoals: red\n\na1 gr\n" + ".. ..\n" * 64, "level.txt:4: the map is larger than 64 × 64"),
    "too many keys": (
        f"agents: Ana\ngoals: red\n\na1 gr {'kr ' * 27}\n",
        "level.txt:4:85: more than 26 keys",
    ),
    "an escape": (changed("kr dr", "\x1b[ dr"), f"level.txt:12:1: unknown tile `\\x1b[` ({TILE_HINT})"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_level(text, WHERE)
    assert str(error.value) == message


# From disk


def test_a_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text(GOOD, "utf-8")
    assert read_level(file) == parse_level(GOOD, file)
    file.write_text(GOOD + "oops\n", "utf-8")
    with pytest.raises(InputError) as error:
        read_level(file)
    assert str(error.value) == f"{file}:14:5: this row has 1 tiles, the first one has 4"


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read: No such file"):
        read_level(tmp_path / "none.txt")


def test_a_folder_is_not_a_level(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_level(tmp_path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large.txt"
    file.write_bytes(b"; " + b"x" * 999_999)
    with pytest.raises(InputError, match=r"large\.txt: is larger than 1,000,000 bytes"):
        read_level(file)


def test_a_file_that_is_not_text_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "odd.txt"
    file.write_bytes(b"agents: Ana\ngoals: r\xe9d\n")
    with pytest.raises(InputError, match=r"odd\.txt:2: is not UTF-8 text"):
        read_level(file)


def test_the_bundled_levels_have_a_class_and_come_in_the_order_of_their_files() -> None:
    levels = bundled_levels()
    assert len(levels) == 20
    assert {level.kind for level in levels} == {"not_needed", "useful", "necessary"}
    folder = Path(str(LEVELS / "twenty"))
    assert levels == [read_level(file) for file in sorted(folder.glob("*.txt"))]


def test_a_bundled_folder_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        level_texts(LEVELS / "no such folder")


# Anything else


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A good level after a few random edits."""
    text = GOOD
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 6)))
        scrap = st.one_of(st.sampled_from(GOOD.split()), st.sampled_from("\n \x00\x85\u2028:,;#"), st.text(max_size=3))
        text = text[:start] + draw(scrap) + text[end:]
    return text


@pytest.mark.slow
@settings(max_examples=100)
@given(st.one_of(mutations(), st.text()))
def test_a_level_is_read_or_refused_and_nothing_else_happens(text: str) -> None:
    try:
        level = parse_level(text, WHERE)
    except InputError as error:
        message = str(error)
        assert message.startswith("level.txt:")
        assert message.isprintable()
    else:
        assert parse_level(write_level(level), WHERE) == level
