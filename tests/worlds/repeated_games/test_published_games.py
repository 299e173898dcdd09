"""Games as they are published: both forms of .nfg, tables of payoffs and fractions, and what is wrong with its line."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.cli import app as cli
from otherminds.errors import InputError
from otherminds.worlds.repeated_games.payoff_files import find_game, parse_game
from otherminds.worlds.repeated_games.published_games import number_of
from otherminds.worlds.repeated_games.rules import Game

OUTCOMES = r"""NFG 1 R "A \"dilemma\" of
 two shops" { "North" "South" }
{ { "Hold" "Cut" } { "Hold" "Slash \\ cut" } }
"with a { comment }"
{
{ "both" 6, 6 }
{ "" 9, 1/3 }
{ "" .5, 9 }
}
1 2
3 0
"""
PAYOFFS = 'NFG 1 D "" {"North" "South"} { 2 2 } 6 6 9 1/3 5e-1 9 0 0'
WIDE = 'North \\ South,Hold,Cut\nHold,"6, 6",".5, 9"\nCut,9 1/3,(0; 0)\n'
LONG = "North,South,for North,for South\nCut,Hold,9,1/3\nHold,Hold,6,6\nHold,Cut,.5,9\nCut,Cut,0,0\n"
CELLS = ((6, 6), (0.5, 9), (9, 1 / 3), (0, 0))


def read(text: str, ending: str = ".nfg") -> Game:
    return parse_game(text, Path(f"shops{ending}"))


def complaint(text: str, ending: str = ".nfg") -> str:
    with pytest.raises(InputError) as caught:
        read(text, ending)
    return str(caught.value)


def test_both_forms_of_gambit_are_read() -> None:
    game = read(OUTCOMES)
    assert game == Game("shops", ("North", "South"), (("Hold", "Cut"), ("Hold", "Slash \\ cut")), CELLS, game.title)
    assert game.title == 'A "dilemma" of two shops'
    assert read(PAYOFFS) == Game("shops", ("North", "South"), (("1", "2"), ("1", "2")), CELLS)


@pytest.mark.parametrize("text", [WIDE, LONG])
def test_tables_of_payoffs_are_read(text: str) -> None:
    game = read(text, ".csv")
    assert game.agents == ("North", "South")
    assert {
        (own, theirs): game.payoffs[2 * i + j]
        for i, own in enumerate(game.actions[0])
        for j, theirs in enumerate(game.actions[1])
    } == dict(zip(product(("Hold", "Cut"), repeat=2), CELLS, strict=True))
    assert read(text.replace("\n", "\r\n"), ".csv") == game


def test_a_table_may_leave_its_agents_unnamed_and_separate_by_semicolons() -> None:
    game = read(";a;b;c\nx;1, 2;3 4;5 6\ny;-1,0;0 0;1/2 2\n", ".csv")
    assert (game.agents, game.actions) == (("you", "partner"), (("x", "y"), ("a", "b", "c")))
    assert game.payoffs == ((1, 2), (3, 4), (5, 6), (-1, 0), (0, 0), (0.5, 2))


def test_fractions_are_read_in_toml() -> None:
    text = 'name = "g"\nagents = ["a", "b"]\nactions = ["x"]\npayoffs = [[["1/3", -2]]]\n'
    assert parse_game(text, Path("g.toml")).payoffs == ((1 / 3, -2.0),)
    for entry, message in [('"1/0"', "divides by zero"), ('"1/x"', "is not a number"), ('"3"', "a valid number")]:
        with pytest.raises(InputError, match=rf"g\.toml:4: `payoffs`: .*{message}"):
            parse_game(text.replace('"1/3"', entry), Path("g.toml"))


@given(numerator=st.integers(-(10**6), 10**6), denominator=st.integers(1, 10**6))
def test_a_fraction_is_its_value(numerator: int, denominator: int) -> None:
    assert number_of(f"{numerator}/{denominator}") == float(Fraction(numerator, denominator))


@pytest.mark.slow
@settings(max_examples=50)
@given(data=st.data())
def test_the_first_agents_action_varies_fastest(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    table = {joint: [data.draw(st.integers(-9, 9)) for _ in sizes] for joint in product(*map(range, sizes))}
    backwards = [joint[::-1] for joint in product(*map(range, sizes[::-1]))]
    agents = " ".join(f'"agent {i}"' for i in range(len(sizes)))
    actions = " ".join("{" + " ".join(f'"a{a}"' for a in range(size)) + "}" for size in sizes)
    numbers = " ".join(str(number) for joint in backwards for number in table[joint])
    outcomes = " ".join('{ "" ' + ", ".join(map(str, table[joint])) + " }" for joint in backwards)
    order = " ".join(str(i + 1) for i in range(len(backwards)))
    for body in (numbers, f"{{ {outcomes} }} {order}"):
        game = read(f'NFG 1 R "" {{ {agents} }} {{ {actions} }} "" {body}')
        assert game.payoffs == tuple(tuple(numbers) for numbers in table.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("NFG 1 R", "NFG 2 R", "1: does not begin with NFG 1 R"),
        ("NFG 1 R", "EFG 2 R", "1: does not begin with NFG 1 R (Gambit can save this extensive game as .nfg)"),
        ('"North" "South"', '"North" "South', "8: a quotation mark is not closed"),
        ('"North" "South"', '"North" South', "2: lacks a list of 2 to 16 agents"),
        ('"North" "South"', '"North" "north"', "2: `agents`: north is listed twice"),
        ('"North" "South"', '"North"', "3: lacks the actions of 1 agents"),
        ('{ "North" "South" }', "", "3: lacks a list of 2 to 16 agents"),
        ('"Hold" "Cut"', '"Hold" "hold"', "3: `actions`: hold is listed twice"),
        ('"Hold" "Cut"', '"Hold" 3', "3: lacks the actions of 2 agents"),
        ('"Hold" "Cut"', f'"Hold" "{"x" * 61}"', "3: `actions`: a name has 1 to 60 printable characters"),
        ('"Hold" "Cut"', '{ "Hold" }', "3: braces are nested too deeply"),
        ("6, 6", "6", "6: `both` is not an outcome (a name and 2 payoffs, as"),
        ("6, 6", "6, six", "6: `six` is not a number"),
        ("1/3", "1/0", "7: `1/0` divides by zero"),
        ("1/3", "1e10", "7: `1e10` is beyond 1,000,000,000"),
        ("1/3", "9" * 5000, "7: `999"),
        ('"" 9,', "9,", "7: `9` is not an outcome"),
        ("3 0", "3 4", "11: `4` is not one of 3 outcomes"),
        ("3 0", "3 0\n 1", "12: 5 outcomes of joint actions instead of 4"),
        ("3 0", "3", "11: 3 outcomes of joint actions instead of 4"),
        ("3 0", "3 -1", "11: `-1` is not one of 3 outcomes"),
        ("3 0", "3 0 }", "11: a brace is closed that was not opened"),
        ("9 }\n}", "9 }\n", "5: a brace is not closed"),
    ],
)
def test_a_malformed_nfg_file_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    assert complaint(OUTCOMES.replace(old, new, 1)).startswith(f"shops.nfg:{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: does not begin with NFG 1 R"),
        ("NFG 1 R", "1: lacks its title"),
        ('NFG 1 R "" {"a" "b"}\n{ 2 2 } 1 2 3', "2: 3 payoffs instead of 8"),
        ('NFG 1 R "" {"a" "b"}\n{ 2 2 }', "2: 0 payoffs instead of 8"),
        ('NFG 1 R "" {"a" "b"}\n{ 1 1 } 1 "2"', "2: `2` is not a number"),
        ('NFG 1 R "" {"a" "b"}\n{ 999999 999999 } 1', "2: the game has more than 100,000 payoffs"),
        ('NFG 1 R "" {' + '"a"' * 70 + "} {" + "1 " * 70 + "}", "1: lacks a list of 2 to 16 agents"),
    ],
)
def test_an_nfg_file_that_ends_early_or_is_too_large_is_refused(text: str, message: str) -> None:
    assert complaint(text).startswith(f"shops.nfg:{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WIDE.replace(".5, 9", ".5"), "2: `.5` has 1 payoffs instead of 2"),
        (WIDE.replace(".5, 9", "a, 9"), "2: `a, 9` is not a number"),
        (WIDE.replace("1/3", "1/0"), "3: `9 1/0` divides by zero"),
        (WIDE.replace("\nCut", "\nhold"), "3: `actions`: hold is listed twice"),
        (WIDE.replace("\nCut", "\n"), "3: `actions`: a name has 1 to 60"),
        (WIDE.replace(",Cut", ",Hold"), "1: the column `Hold` comes twice"),
        (LONG.replace("Cut,Cut", "Hold,Cut"), "5: Hold, Cut comes twice"),
        (LONG.replace("Cut,Cut,0,0\n", ""), "4: lacks the payoffs of Cut, Cut"),
        (LONG.replace(".5", "x"), "4: `x` is not a number"),
        ("a,b,c\nx,y,1\n", "1: 3 columns are not the actions and payoffs of agents"),
        ("a\nb\n", " has no payoffs"),
        ("", " it is empty"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(text: str, message: str) -> None:
    assert complaint(text, ".csv").startswith(f"shops.csv:{message}")


PIECES = ["", '"', "{", "}", "\\", ",", "\n", " ", "0", "1/", "/0", "9" * 400, "nan", "é", "\x00", '""', "{ }", "-"]


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data(), name=st.sampled_from(["outcomes.nfg", "payoffs.nfg", "wide.csv", "long.csv"]))
def test_a_damaged_game_is_read_or_refused_in_one_line(data: st.DataObject, name: str) -> None:
    text = {"outcomes.nfg": OUTCOMES, "payoffs.nfg": PAYOFFS, "wide.csv": WIDE, "long.csv": LONG}[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + data.draw(st.integers(0, 9)) :]
    message = ""
    try:
        assert np.isfinite(parse_game(text, Path(name)).payoffs).all()
    except InputError as error:
        message = str(error)
    assert not message or re.fullmatch(rf"{name}:[ 0-9][^\n]+", message)


def test_commands_take_a_file_of_any_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shops.nfg").write_text(OUTCOMES, "utf-8")
    (tmp_path / "shops.csv").write_text(LONG, "utf-8")
    assert find_game(tmp_path / "shops.nfg").actions[0] == ("Hold", "Cut")
    for name in ("shops.nfg", "shops.csv"):
        path = str(tmp_path / name)
        play = ["play", path, "tft", "--player", "rmax", "--rounds", "3", "--episodes", "1"]
        for arguments in (["games", path], play):
            assert cli._guarded(partial(cli.app, arguments)) == 0
        assert "Hold" in capsys.readouterr().out
