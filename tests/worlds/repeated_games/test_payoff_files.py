"""Games as files: what is written there is what is played, and what is wrong is said with its line."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.repeated_games.payoff_files import bundled_games, find_game, parse_game, read_game
from otherminds.worlds.repeated_games.rules import Game, ordinal_games

IPD = """\
# a comment with [ and "
name = "ipd"
title = "The Dilemma"
agents = ["you", "partner"]
actions = ["Cooperate", "Defect"]
payoffs = [  # ] and '
  [[ 8, 8], [0,10]],

  [[10, 0],
   [ 5, 5]],
]
"""

THREE = """\
payoffs = [
  [[[1, 2, 3], [4, 5, 6]]],
  [[[-1, 0.5, 1e3],
    [0, 0, 0]]],
]
"name" = 'th"ree'
agents = ["Ana", "Béla", 'C']
actions = [["a", "b"], ["only"], ["x", '''y''']]
"""


def read(text: str) -> Game:
    return parse_game(text, Path("game.toml"))


def complaint(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(text)
    return str(caught.value)


def test_a_game_is_read(tmp_path: Path) -> None:
    (tmp_path / "ipd.toml").write_text(IPD, "utf-8")
    actions = ("Cooperate", "Defect")
    payoffs = ((8, 8), (0, 10), (10, 0), (5, 5))
    assert read_game(tmp_path / "ipd.toml") == Game("ipd", ("you", "partner"), (actions,) * 2, payoffs, "The Dilemma")


def test_agents_may_have_actions_of_their_own() -> None:
    game = read(THREE)
    assert game.name == 'th"ree'
    assert game.title == ""
    assert game.agents == ("Ana", "Béla", "C")
    assert game.actions == (("a", "b"), ("only",), ("x", "y"))
    assert game.payoffs == ((1, 2, 3), (4, 5, 6), (-1, 0.5, 1000), (0, 0, 0))
    assert all(type(number) is float for line in game.payoffs for number in line)


def test_lines_are_counted_through_texts_of_many_lines() -> None:
    text = IPD.replace('"The Dilemma"', '"""The \\\n\n  [Dilemma\\"""" # " and [')
    assert read(text).title == 'The [Dilemma"'
    assert complaint(text.replace("5]", "nan]")).startswith("game.toml:12: ")


def test_windows_line_ends_are_read() -> None:
    assert read(IPD.replace("\n", "\r\n")) == read(IPD)
    assert complaint(IPD.replace("8, 8", "8, true").replace("\n", "\r\n")).startswith("game.toml:7: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[ 5, 5]", "[5, true]", "10: `payoffs`: Input should be a valid number"),
        ("[ 5, 5]", '[5, "5"]', "10: `payoffs`: Input should be a valid number"),
        ("[ 5, 5]", "[5, nan]", "10: `payoffs`: Input should be a finite number"),
        ("[ 5, 5]", "[-inf, 5]", "10: `payoffs`: Input should be a finite number"),
        ("[ 5, 5]", "[5, 1e10]", "10: `payoffs`: Input should be less than"),
        ("[ 5, 5]", "[5, 1" + "0" * 400 + "]", "10: `payoffs`: Input should be"),
        ("[ 5, 5]", "[5, 1" + "0" * 5000 + "]", " a number has thousands of digits"),
        ("[ 5, 5]", "[5]", "10: `payoffs`: List should have at least 2 items, not 1 (one number for each of you, par"),
        ("[ 5, 5]", "[5, 5, 5]", "10: `payoffs`: List should have at most 2 items, not 3 (one number for each of you"),
        ("[ 5, 5]", "5", "10: `payoffs`: Input should be a valid list (one number for each of you, partner)"),
        ("[ 5, 5]", "{a = 5}", "10: `payoffs`: Input should be a valid list"),
        (",\n   [ 5, 5]", "", "9: `payoffs`: List should have at least 2 items, not 1 (one list for each action of pa"),
        ("[[ 8, 8], [0,10]],", "", "6: `payoffs`: List should have at least 2 items, not 1 (one list for each action"),
        ("[[ 8, 8], [0,10]],", "8,", "7: `payoffs`: Input should be a valid list (one list for each action of partner"),
        ("[[ 8, 8], [0,10]],", '["""\n]\n""", [0]],', "7: `payoffs`: Input should be a valid list (one number for"),
        ("[[ 8, 8], [0,10]],", '[["""\n,\n""",\n0], [0]],', "7: `payoffs`: Input should be a valid number"),
        ('"Defect"]', '"Defect", "Wait"]', "7: `payoffs`: List should have at least 3 items, not 2 (one list for eac"),
        ('"Defect"]', '\n\n"cooperate"]', "7: `actions`: cooperate is listed twice"),
        ('"Defect"]', '["Defect"]]', "5: `actions`: Input should be a valid list (one list of names for each of you"),
        ('"Defect"]', "3]", "5: `actions`: Input should be a valid string"),
        ('["Cooperate", "Defect"]', "[]", "5: `actions`: List should have at least 1 item"),
        ('["Cooperate", "Defect"]', '[["a", "b"],\n[]]', "6: `actions`: List should have at least 1 item"),
        ('["Cooperate", "Defect"]', '[["a"], ["b"], ["c"]]', "5: `actions`: List should have at most 2 items, not 3"),
        ('["Cooperate", "Defect"]', '[["a"],\n["b",\n"B"]]', "7: `actions`: B is listed twice (names must differ in"),
        ('["Cooperate", "Defect"]', '"Cooperate"', "5: `actions`: Input should be a valid list"),
        ('"you"', '"partner"', "4: `agents`: partner is listed twice"),
        ('"you", ', "", "4: `agents`: List should have at least 2 items, not 1"),
        ('"you"', '""', "4: `agents`: a name has 1 to 60 printable characters"),
        ('"ipd"', '"  "', "2: `name`: a name has 1 to 60 printable characters"),
        ('"ipd"', '"a\\u0007"', "2: `name`: a name has 1 to 60 printable characters"),
        ('"ipd"', '"""a\nb"""', "2: `name`: a name has 1 to 60 printable characters"),
        ('"ipd"', f'"{"x" * 61}"', "2: `name`: a name has 1 to 60 printable characters"),
        ('"ipd"', "1979-05-27", "2: `name`: Input should be a valid string"),
        ("The Dilemma", "The \\u0000", "3: `title`: a name has 1 to 60 printable characters"),
        ("title", "titel", "3: unknown key `titel` (did you mean title?)"),
        ("title", '"ti\\ttle"', "3: unknown key `ti\\x09tle` (did you mean title?)"),
        ("title", "title.long", "3: `title`: Input should be a valid string"),
        ("title", "x" * 100_000, f"3: unknown key `{'x' * 60}` (a game has name, title, agents, actions, payoffs)"),
        ("payoffs", "payofs", "6: unknown key `payofs` (did you mean payoffs?)"),
        ("# a comment", "[[game]]\n# a comment", "1: unknown key `game` (did you mean name?)"),
        ('name = "ipd"', "", "1: the file lacks `name` (a game has name, title, agents, actions, payoffs)"),
        ('name = "ipd"', 'name = "ipd"\nname = "ipd"', "3:13: Cannot overwrite a value"),
        ('"ipd"', '"ipd', "2:12: Illegal character"),
        ("],\n]\n", "],\n", "11:1: Invalid value"),
        ("payoffs = [", "payoffs = " + "[" * 100_000, "1: is nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_game(old: str, new: str, message: str) -> None:
    assert complaint(IPD.replace(old, new, 1)).startswith(f"game.toml:{message}")


def test_a_game_cannot_be_huge() -> None:
    names = ", ".join(f'"a{n}"' for n in range(300))
    text = f'name = "x"\nagents = ["a", "b"]\nactions = [{names}]\npayoffs = []\n'
    assert complaint(text).startswith("game.toml:3: the game has more than 100,000 payoffs")
    agents = ", ".join(f'"a{n}"' for n in range(17))
    assert complaint(f'name = "x"\nagents = [{agents}]\nactions = ["a"]\npayoffs = []\n').startswith(
        "game.toml:2: `agents`: List should have at most 16 items"
    )


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b'name = "x"\n\xff')
    (tmp_path / "large.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(InputError, match=r"bytes.toml:2: is not UTF-8"):
        read_game(tmp_path / "bytes.toml")
    with pytest.raises(InputError, match="larger than 500,000 bytes"):
        read_game(tmp_path / "large.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_game(tmp_path)


LOCATED = re.compile(r"game\.toml:(?:(\d+):)?[^\n]+")


def read_or_refused(text: str) -> None:
    try:
        read(text)
    except InputError as error:
        found = LOCATED.fullmatch(str(error))
        assert found
        assert found[1] is None or 1 <= int(found[1]) <= text.count("\n") + 1


@pytest.mark.slow
@settings(max_examples=100)
@given(text=st.text() | st.text(alphabet="[]{}=,.\"'#\n\\ab19 _-"))
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text)
    read_or_refused(IPD + text)
    read_or_refused(text + IPD)


PIECES = ["", '"', "'", '"""', "[", "]", "{", "}", "=", ",", "\n", ".", "#", "1", "-", "nan", "true", "9" * 400, '"a"']
PIECES += ["payoffs", "name", "[name]", "[[x]]", "x.y=1\n", "'''", "\\", "\x00", "\ufeff", "\u200b", "\r", "é", "07:32"]


@pytest.mark.slow
@settings(max_examples=100)
@given(data=st.data(), text=st.sampled_from([IPD, THREE]))
def test_a_damaged_game_is_read_or_refused(data: st.DataObject, text: str) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(st.sampled_from(PIECES))
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 9)) :]
    read_or_refused(text)


@pytest.mark.slow
@given(raw=st.binary())
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(raw)
    with pytest.raises(InputError):
        read_game(path)


NUMBERS = st.integers(-9, 9) | st.floats(-1e9, 1e9)


@pytest.mark.slow
@given(data=st.data())
def test_payoffs_are_in_the_order_of_joint_actions(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    table = {joint: [data.draw(NUMBERS) for _ in sizes] for joint in product(*map(range, sizes))}

    def nested(joint: tuple[int, ...]) -> object:
        return table[joint] if len(joint) == len(sizes) else [nested((*joint, a)) for a in range(sizes[len(joint)])]

    agents = [f"agent {i}" for i in range(len(sizes))]
    actions = [[f"a{a}" for a in range(size)] for size in sizes]
    game = read(f"name = 'x'\nagents = {agents}\nactions = {actions}\npayoffs = {nested(())}\n")
    assert game.shape == tuple(sizes)
    assert game.payoffs == tuple(map(tuple, table.values()))


# Games by name


def test_the_games_of_the_paper_are_bundled() -> None:
    games = {game.name: game for game in bundled_games()}
    assert list(games) == ["ibs", "ipd", "rps"]
    assert games["ipd"].payoff().tolist() == [[8, 0], [10, 5]]
    assert games["ibs"].payoff().tolist() == [[10, 0], [0, 7]]
    assert games["ibs"].payoff(1).tolist() == [[7, 0], [0, 10]]
    assert games["rps"].payoff().tolist() == [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    assert (games["rps"].payoff(1) == games["rps"].payoff()).all()
    assert games["rps"].title == "Rock, Paper, Scissors"


def test_games_are_found_by_name_number_and_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(IPD, "utf-8")
    (tmp_path / "mine").write_text(IPD, "utf-8")
    assert find_game("rps") in bundled_games()
    assert find_game("ordinal-017") == list(ordinal_games())[16]
    assert find_game(tmp_path / "mine.toml") == find_game(str(tmp_path / "mine")) == read(IPD)


def test_a_folder_does_not_hide_a_bundled_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ipd").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_game("ipd").name == "ipd"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("idp", "there is no file and no bundled game `idp` (did you mean ipd?)"),
        ("ordinal-145", "`ordinal-145` (there is ibs, ipd, rps; ordinal-001 to ordinal-144)"),
        ("", "there is no file and no bundled game ``"),
        ("a\0b", "`a\\x00b` (there is ibs, ipd, rps"),
        ("x" * 100_000, f"`{'x' * 60}` (there is ibs, ipd, rps"),
        ("missing.toml", "missing.toml: cannot be read"),
    ],
)
def test_games_that_are_not_there(name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        find_game(name)
