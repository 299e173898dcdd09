"""Kitchen files: writing and reading are inverse, and every error names its place in one line."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kitchens import holding, kitchen, kitchen_plays, kitchens, lying, thing
from otherminds.errors import InputError
from otherminds.worlds.overcooked.kitchen import FRESH, NOTHING, PLATE, RECIPES
from otherminds.worlds.overcooked.level_files import (
    CERTIFICATE,
    KitchenLevel,
    draw_text,
    parse_kitchen,
    read_kitchen,
    write_kitchen,
)
from otherminds.worlds.overcooked.rules import Overcooked, State
from paths import KITCHENS, SHARED

LEVELS = KITCHENS
TRACES = SHARED / "overcooked-traces" / "traces.jsonl.gz"
WHERE = Path("kitchen.txt")
GOOD = (LEVELS / "two-rooms.txt").read_text("utf-8")
labels = st.text("abc xyz:;#äÖ-_.", min_size=1).map(str.strip).filter(bool)
fresh = st.sampled_from((NOTHING, PLATE, *FRESH.values()))


@st.composite
def writable(draw: st.DrawFn) -> Overcooked:
    """A kitchen as files can describe it: fresh foods and plates on counters, and helpers come last."""
    world = draw(kitchens(sides=(1, 5), agents=(1, 1)))
    cells = draw(st.lists(st.sampled_from([*world.layout.grid.cells()]), min_size=1, max_size=4, unique=True))
    recipes = draw(st.lists(st.sampled_from([*RECIPES]), min_size=1, max_size=len(cells)))
    free = [k not in world.layout.boards for k in range(len(world.on))]
    return replace(
        world,
        agents=("Ana", "Ben", "Cem", "Dia")[: len(cells)],
        cells=tuple(cells),
        recipes=(*recipes, *(None,) * (len(cells) - len(recipes))),
        on=tuple(draw(fresh) if k < 12 and free[k] else NOTHING for k in range(len(world.on))),
    )


# Round trips


def test_a_level_says_what_it_says() -> None:
    level = parse_kitchen(GOOD, WHERE)
    assert (level.name, level.horizon, level.kind) == ("two rooms", 60, "useful")
    assert level.certificate == {"class": "useful", "seed": "7", "L0": "31", "L*": "20"}
    world = level.world
    assert (world.agents, world.recipes) == (("Ana", "Ben"), ("SimpleTomato", "SimpleLettuce"))
    assert [world.layout.grid.xy(cell) for cell in world.cells] == [(2, 1), (6, 2)]
    assert world.layout.rows[2] == "*   D   -"
    assert lying(world, world.initial) == {
        (2, 0): ("fresh tomato",),
        (6, 0): ("plate",),
        (8, 1): ("fresh lettuce",),
        (1, 4): ("plate",),
    }


@pytest.mark.slow
@settings(max_examples=25)
@given(writable(), labels, st.integers(1, 99_999), st.dictionaries(st.sampled_from(CERTIFICATE), labels))
def test_what_is_written_is_read_back(world: Overcooked, name: str, horizon: int, certificate: dict[str, str]) -> None:
    level = KitchenLevel(name, world, horizon, certificate)
    assert parse_kitchen(write_kitchen(level), WHERE) == level


@pytest.mark.parametrize("file", sorted(LEVELS.glob("*.txt")), ids=lambda file: file.stem)
def test_levels_are_read_and_written_and_their_text_settles(file: Path) -> None:
    level = read_kitchen(file)
    text = write_kitchen(level)
    assert parse_kitchen(text, file) == level
    assert write_kitchen(parse_kitchen(text, WHERE)) == text
    assert text.startswith(file.read_text("utf-8").rstrip("\n"))


def test_three_blocks_are_enough_and_the_rest_has_its_usual_value() -> None:
    level = read_kitchen(LEVELS / "hatch.txt")
    assert (level.name, level.horizon, level.kind, level.certificate) == ("hatch", 100, "", {})
    assert level.world.agents == ("agent1", "agent2", "agent3")
    assert level.world.recipes == ("SimpleOnion", "Salad", None)


def test_line_ends_and_spaces_outside_the_map_do_not_matter() -> None:
    head, tail = GOOD.split("\n\n", 1)
    loose = f"{head}\n\n\n{tail}".replace(": ", " :  ").replace("2 1", " 2   1 ").replace("Salad", "Salad  ")
    assert parse_kitchen(loose + "\n \n", WHERE) == parse_kitchen(GOOD, WHERE)
    assert parse_kitchen(GOOD.replace("\n", "\r\n"), WHERE) == parse_kitchen(GOOD, WHERE)
    assert parse_kitchen(GOOD.rstrip("\n"), WHERE) == parse_kitchen(GOOD, WHERE)


def test_a_row_of_floor_is_no_empty_line() -> None:
    world = parse_kitchen("   \n   \n\nSalad\n\n2 1\n", WHERE).world
    assert world.layout.rows == ("   ", "   ")


@pytest.mark.skipif(not TRACES.exists(), reason="the levels of gym-cooking are not here")
def test_the_levels_of_the_original_are_read_as_they_are() -> None:
    records = [json.loads(line) for line in gzip.decompress(TRACES.read_bytes()).splitlines()]
    levels = {record["level"]: parse_kitchen(record["map"], Path(record["level"])) for record in records}
    assert len(levels) == 11
    salad = levels["full-divider_salad"].world
    assert (len(salad.agents), salad.recipes) == (4, ("Salad", None, None, None))
    assert len(salad.layout.rooms) == 2
    assert len(levels["open-divider_tl"].world.layout.rooms) == 1


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (kitchen("T1"), "fresh foods and plates"),
        (replace(kitchen("/1"), on=(PLATE,)), "fresh foods and plates"),
        (kitchen("1 2", recipes=(None, "Salad")), "agents without a recipe come last"),
    ],
)
def test_what_a_file_cannot_say_is_not_written(world: Overcooked, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_kitchen(KitchenLevel("odd", world))


# Pictures in characters


def test_a_drawing_shows_what_is_where() -> None:
    world = parse_kitchen(GOOD, WHERE).world
    state = holding(world, "chopped tomato, plate", "fresh onion")
    state = state._replace(delivered=((thing("chopped tomato, chopped lettuce, plate"),), ()))
    drawn = [
        "-    -    -t   -    -    -    -p   -    -",
        "/    .    1Tp  .    -    .    .    .    -l",
        "*TLp .    .    .    D    .    2o   .    -",
        "-    .    .    .    -    .    .    .    /",
        "-    -p   -    -    -    -    *    -    -",
    ]
    assert draw_text(world, state).split("\n") == drawn


def test_a_drawing_of_a_view_shows_what_is_not_seen() -> None:
    world = parse_kitchen(GOOD, WHERE).world
    drawn = [
        "-? -  -t -  -? -? -? -? -?",
        "/  .  1  .  -  .  .  .  -?",
        "*  .  .  .  D  .  .  .  -?",
        "-  .  .  .  -  .  .  .  /?",
        "-? -p -  -  -? -? *? -? -?",
    ]
    assert draw_text(world, world.observe(world.initial, "Ana")).split("\n") == drawn


@pytest.mark.slow
@given(kitchen_plays())
def test_a_drawing_has_a_sign_for_every_square(play: tuple[Overcooked, list[State], list[tuple[str, ...]]]) -> None:
    world, states, _ = play
    for state in (states[-1], world.observe(states[-1], world.agents[0])):
        rows = [row.split() for row in draw_text(world, state).split("\n")]
        assert [len(row) for row in rows] == [world.layout.grid.width] * world.layout.grid.height
        for i, cell in enumerate(state.cells):
            if state.cells.count(cell) == 1 and cell >= 0:
                x, y = world.layout.grid.xy(cell)
                assert rows[y][x][0] == str(i + 1)


# What is wrong


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


BLOCKS = "a map, recipes and positions, with an empty line between them"
NAMED = "one of SimpleTomato, SimpleLettuce, SimpleOnion, Salad, OnionSalad"
INSIDE = "the map has columns 0 to 8 and rows 0 to 4"
KEYS = "one of name, agents, horizon, class, seed, L0, Lf, L*, message"
WRONG = {
    "nothing": ("", f"kitchen.txt:1: has no map ({BLOCKS})"),
    "an empty line first": ("\n" + GOOD, f"kitchen.txt:1: has no map ({BLOCKS})"),
    "only a map": ("- -\n", f"kitchen.txt:1: has no recipes ({BLOCKS})"),
    "no positions": ("- -\n\nSalad\n", f"kitchen.txt:3: has no positions of agents ({BLOCKS})"),
    "a fifth block": (
        GOOD + "\nmore: things\n",
        "kitchen.txt:21: a fifth block (a map, recipes, positions, and lines of `key: value`)",
    ),
    "a short row": (
        changed("-   -   /", "-   -   "),
        "kitchen.txt:4:9: this row has 8 characters, the first one has 9 "
        "(fill rows up with spaces, or end them all with a wall)",
    ),
    "a long row": (
        changed("-   -   /", "-   -   /-"),
        "kitchen.txt:4:10: this row has 10 characters, the first one has 9 "
        "(fill rows up with spaces, or end them all with a wall)",
    ),
    "a strange square": (
        changed("/   -   l", "/   - x l"),
        "kitchen.txt:2:7: unknown character `x` (one of - / * # D t l o p and space)",
    ),
    "a tab": (
        changed("/   -   l", "/\t  -   l"),
        "kitchen.txt:2:2: unknown character `\\x09` (one of - / * # D t l o p and space)",
    ),
    "a map that is too wide": ("-" * 65 + "\n\nSalad\n\n0 0\n", "kitchen.txt:1: the map is larger than 64 × 64"),
    "a map that is too high": ("-\n" * 65 + "\nSalad\n\n0 0\n", "kitchen.txt:1: the map is larger than 64 × 64"),
    "too many of a kind": ("t" * 16 + " \n\nSalad\n\n16 0\n", "kitchen.txt:1:16: more than 15 `t`"),
    "an unknown recipe": (
        changed("SimpleTomato", "simpletomato"),
        f"kitchen.txt:7:1: unknown recipe `simpletomato` ({NAMED})",
    ),
    "too many recipes": (
        changed("SimpleLettuce", "Salad\nSalad"),
        "kitchen.txt:9: a recipe too many for 2 agents (one each; positions say how many agents)",
    ),
    "no position": (
        changed("2 1\n", "2,1\n"),
        "kitchen.txt:10:1: `2,1` is not a position (column and row, from 0, such as 2 1)",
    ),
    "digits of another script": (
        changed("2 1\n", "٢ 1\n"),
        "kitchen.txt:10:1: `٢ 1` is not a position (column and row, from 0, such as 2 1)",
    ),
    "off the map": (changed("6 2\n", "9 2\n"), f"kitchen.txt:11:1: `9 2` is not on the map ({INSIDE})"),
    "on a counter": (changed("6 2\n", "4 1\n"), f"kitchen.txt:11:1: `4 1` is not floor ({INSIDE})"),
    "two on one square": (changed("6 2\n", "2  1\n"), "kitchen.txt:11:1: a second agent at `2  1`"),
    "too many agents": (
        "          \n\nSalad\n\n" + "".join(f"{x} 0\n" for x in range(10)),
        "kitchen.txt:14: more than 9 agents",
    ),
    "no key": (changed("class: useful", "class"), "kitchen.txt:16: `class` is not `key: value`"),
    "no value": (changed("class: useful", "class:"), "kitchen.txt:16: `class:` is not `key: value`"),
    "an unknown key": (changed("class: useful", "kind: useful"), f"kitchen.txt:16:1: unknown key `kind` ({KEYS})"),
    "a key twice": (changed("seed: 7", "class: useful"), "kitchen.txt:17:1: `class` is given twice"),
    "a horizon that is no number": (
        changed("horizon: 60", "horizon: long"),
        "kitchen.txt:15: `horizon` is not a number of steps from 1 to 99999",
    ),
    "a name missing": (changed("Ana, Ben", "Ana"), "kitchen.txt:14: 1 names for 2 agents (one for each position)"),
    "a name twice": (changed("Ana, Ben", "Ana, Ana"), "kitchen.txt:14: agents need different names, nine at most"),
    "an odd name": (
        changed("Ana, Ben", "Ana, <b>"),
        "kitchen.txt:14: `<b>` cannot be an agent's name (a letter, then up to 23 letters or digits)",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_kitchen(text, WHERE)
    assert str(error.value) == message


def test_a_file_is_named_in_errors(tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text(changed("D", "?"), "utf-8")
    with pytest.raises(InputError, match=r"one\.txt:3:5: unknown character"):
        read_kitchen(file)
    with pytest.raises(InputError, match=r"none\.txt: cannot be read: No such file"):
        read_kitchen(tmp_path / "none.txt")


# Anything else


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A good level after a few random edits."""
    text = GOOD
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 6)))
        scrap = st.one_of(st.sampled_from([*GOOD.split(), *"\n\r \t\x00\x85\u2028:,#"]), st.text(max_size=3))
        text = text[:start] + draw(scrap) + text[end:]
    return text


@pytest.mark.slow
@settings(max_examples=100)
@given(st.one_of(mutations(), st.text()))
def test_a_level_is_read_or_refused_and_nothing_else_happens(text: str) -> None:
    try:
        level = parse_kitchen(text, WHERE)
    except InputError as error:
        message = str(error)
        assert message.startswith("kitchen.txt:")
        assert message.isprintable()
    else:
        assert parse_kitchen(write_kitchen(level), WHERE) == level
