"""Machines as files: they play what is written there, and what is wrong is said with the line or the machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.repeated_games.machines import Machine, bundled_machines, read_machines
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.rules import Game, Outcome

IPD, IBS, RPS = map(find_game, ("ipd", "ibs", "rps"))
BUNDLED: dict[str, Any] = json.loads(
    (resources.files("otherminds.worlds.repeated_games") / "ipd_machines.json").read_text("utf-8")
)

TFT = '"Tit For Tat": {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]}'
BULLY = '"Bully": {"states": 2, "output": ["Defect", "Cooperate"], "next": [[0, 1], [0, 1]]}'
FILE = f'{{"about": "two", "machines": {{\n{TFT},\n{BULLY}\n}}}}\n'


def read(folder: Path, text: str, game: Game = IPD) -> tuple[Machine, ...]:
    path = folder / "machines.json"
    path.write_text(text, "utf-8")
    return read_machines(path, game)


def replies(machine: Machine, theirs: list[int], own: list[int] | None = None) -> list[int]:
    """What a machine would do while the other does as told, and so does the machine itself if that is told, too."""
    mind, done = machine.start.observe(None), []
    for t, deed in enumerate(theirs):
        done.append(mind.act().mode)
        mind = mind.observe(Outcome(own[t] if own else done[-1], deed, 0.0))
    return [*done, mind.act().mode]


def test_machines_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    tft, bully = read(tmp_path, FILE)
    assert (tft.name, bully.name) == ("Tit For Tat", "Bully")
    assert replies(tft, [0, 1, 1, 0]) == [0, 0, 1, 1, 0]
    assert replies(bully, [0, 1, 1, 0]) == [1, 1, 0, 0, 1]


def test_actions_go_by_first_letters_or_whole_names(tmp_path: Path) -> None:
    found = {"states": 3, "output": ["Scissors", "P", "R"], "next": [[1, 1, 2], [0, 0, 0], [2, 2, 1]]}
    (machine,) = read(tmp_path, json.dumps({"machines": {"x": found}}), RPS)
    assert replies(machine, [2, 0, 2, 1, 0]) == [2, 0, 0, 1, 2, 1]
    chicken = Game("chicken", ("you", "partner"), (("Stay", "Swerve"),) * 2, IPD.payoffs)
    for word, fine in [("Stay", True), ("Swerve", True), ("S", False), ("stay", False), ("St", False), ("", False)]:
        text = json.dumps({"machines": {"x": {"states": 1, "output": [word], "next": [[0, 0]]}}})
        if fine:
            assert read(tmp_path, text, chicken)
        else:
            with pytest.raises(InputError, match=r"`output.0`: .*is not one action \(write Stay, Swerve\)"):
                read(tmp_path, text, chicken)


@pytest.mark.slow
@settings(max_examples=12)
@given(data=st.data())
def test_bundled_machines_do_what_their_file_says(data: st.DataObject) -> None:
    machines = bundled_machines(IPD)
    assert [machine.name for machine in machines] == list(BUNDLED["machines"])
    assert all(machine.deterministic for machine in machines)
    bits = st.lists(st.integers(0, 1), min_size=100, max_size=100)
    theirs, own = data.draw(bits), data.draw(bits)
    for machine in machines:
        found = BUNDLED["machines"][machine.name]
        states = [0]
        for deed in theirs:
            states.append(found["next"][states[-1]][deed])
        expected = ["CD".index(found["output"][q]) for q in states]
        assert replies(machine, theirs) == expected
        assert replies(machine, theirs, own) == expected


def test_bundled_machines_play_every_two_by_two_game() -> None:
    assert bundled_machines(IBS) == bundled_machines(IPD)
    for game in (RPS, Game("three", ("a", "b", "c"), (("x", "y"),) * 3, ((0, 0, 0),) * 8)):
        with pytest.raises(InputError, match=f"do not fit {game.name}"):
            bundled_machines(game)


def test_bundled_machines_name_their_source_and_can_be_told_apart() -> None:
    assert BUNDLED["licence"] == "MIT"
    assert "Axelrod" in BUNDLED["about"]
    assert "https://github.com/Axelrod-Python/Axelrod" in BUNDLED["source"]
    assert len({name.casefold() for name in BUNDLED["machines"]}) == len(BUNDLED["machines"]) >= 45
    assert {found["states"] == len(found["output"]) for found in BUNDLED["machines"].values()} == {True}


def shubik(theirs: Sequence[int]) -> list[int]:
    """Cooperates until betrayed; the k-th betrayal of its cooperation is answered with k defections."""
    actions, betrayals, owed = [0], 0, 0
    for action in theirs:
        if not owed and action:
            betrayals += 1
            owed = betrayals + 1
        owed = max(owed - 1, 0)
        actions.append(int(owed > 0))
    return actions


def thue_morse(theirs: Sequence[int]) -> list[int]:
    return [1 - t.bit_count() % 2 for t in range(len(theirs) + 1)]


@pytest.mark.parametrize(("name", "rule"), [("First by Shubik", shubik), ("ThueMorse", thue_morse)])
def test_machines_of_rules_without_a_bound_are_exact_for_two_hundred_rounds(
    name: str, rule: Callable[[Sequence[int]], list[int]]
) -> None:
    machine = next(machine for machine in bundled_machines(IPD) if machine.name == name)
    rng = np.random.default_rng(7)
    for defection in (0.0, 0.1, 0.5, 0.9, 1.0):
        for _ in range(20):
            theirs = (rng.random(199) < defection).astype(int).tolist()
            assert replies(machine, theirs) == rule(theirs)


def changed(**parts: object) -> str:
    machine: Mapping[str, object] = {"states": 2, "output": ["C", "D"], "next": [[0, 1], [0, 1]]}
    return json.dumps({"machines": {"Tit": {**machine, **parts}}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE.replace('"Bully":', '"Bully"'), "3:9: "),
        ("", "1:1: "),
        ("[" * 100_000, "1: is nested"),
        (FILE.replace("[0, 1]", "[0, 1", 1), "2:"),
        ("[]", " Input should be an object"),
        ("{}", " `machines`: Field required"),
        ('{"machines": {}}', " `machines`: Dictionary should have at least 1 item"),
        ('{"machines": {}, "machine": 1}', " `"),
        ('{"machines": {"Tit": {}}}', " machine `Tit`: `states`: Field required"),
        ('{"machines": {"Tit": 3}}', " machine `Tit`: Input should be an object"),
        (changed(state=2), " machine `Tit`: `state`: Extra inputs are not permitted"),
        (changed(states=True), " machine `Tit`: `states`: Input should be a valid integer"),
        (changed(states=2.0), " machine `Tit`: `states`: Input should be a valid integer"),
        (changed(states=0), " machine `Tit`: `states`: Input should be greater than or equal to 1"),
        (changed(states=10**30), " machine `Tit`: `states`: "),
        (changed(states=3), " machine `Tit`: `output` has 2 entries (one for each of 3 states)"),
        (changed(next=[[0, 1]]), " machine `Tit`: `next` has 1 entries (one for each of 2 states)"),
        (changed(next=[[0, 1], [0]]), " machine `Tit`: `next.1` has 1 entries (one for each of Cooperate, Defect)"),
        (changed(next=[[0, 1], [0, 1, 1]]), " machine `Tit`: `next.1` has 3 entries"),
        (
            changed(next=[[0, 2], [0, 1]]),
            " machine `Tit`: `next.0` leads to a missing state (states are 0 to 1)",
        ),
        (changed(next=[[0, -1], [0, 1]]), " machine `Tit`: `next.0` leads to a missing state"),
        (changed(next=[[0, True], [0, 1]]), " machine `Tit`: `next.0.1`: Input should be a valid integer"),
        (changed(output=["C", "E"]), " machine `Tit`: `output.1`: E is not one action (write Cooperate, Defect)"),
        (changed(output=["C", 1]), " machine `Tit`: `output.1`: Input should be a valid string"),
        (changed(output="CD"), " machine `Tit`: `output`: Input should be a valid array"),
        (changed(output=["C", "x" * 10_000]), f" machine `Tit`: `output.1`: {'x' * 60} is not one action"),
        (changed().replace("Tit", ""), " machine ``: "),
        (changed().replace("Tit", "a\\u0007b"), " machine `a\\x07b`: "),
        (f'{{"machines": {{{TFT}, {TFT}}}}}', "1: `Tit For Tat` is given twice"),
        (changed().replace('"states": 2', '"states": 2, "states": 2'), "1: `states` is given twice"),
    ],
)
def test_what_is_wrong_with_machines(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'machines.json'}:{message}")


def test_machines_react_to_the_joint_action_of_all_others(tmp_path: Path) -> None:
    game = Game("three", ("a", "b", "c"), (("C", "D"), ("C", "D"), ("x", "y", "z")), ((0, 0, 0),) * 12)
    path = tmp_path / "machines.json"
    path.write_text(
        '{"machines": {"m": {"states": 2, "output": ["C", "D"], "next": [[0, 0, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0]]}}}'
    )
    (found,) = read_machines(path, game)
    assert found.moves == (((0, 0, 1, 0, 1, 1),) * 2, ((1, 1, 1, 0, 0, 0),) * 2)
    path.write_text('{"machines": {"m": {"states": 1, "output": ["C"], "next": [[0, 0]]}}}')
    with pytest.raises(InputError, match=r"has 2 entries .one for each of the 6 joint actions of a, c"):
        read_machines(path, game)


PIECES = ["", '"', "[", "]", "{", "}", ":", ",", "\n", "1", "-", "1e999", "9" * 5000, "NaN", "true", "null", "\\ud800"]
PIECES += ['"Bully": ', '"states": 2, ', '"', "\\u0000", "\x00", "\ufeff", "é"]


@pytest.mark.slow
@settings(max_examples=100)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = FILE
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + data.draw(st.integers(0, 9)) :]
    try:
        read(tmp_path_factory.getbasetemp(), text)
    except InputError as error:
        complaint = str(error)
        assert re.fullmatch(r"[^\n]*machines\.json:(\d+:){0,2} [^\n]+", complaint)


@pytest.mark.slow
@given(raw=st.binary() | st.text().map(str.encode))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(raw)
    with pytest.raises(InputError):
        read_machines(path, IPD)
