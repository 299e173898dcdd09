"""Tables of choices: what is read, and which line of a bad file is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.evaluation.choices import Choices, simulated
from otherminds.evaluation.tables import read_choices
from otherminds.papers.people.datasets import RPS, bots
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.habits import MISSED
from otherminds.worlds.repeated_games.players.parametric import MINDS

HEAD = "person,group,round,own,other"
LINES = ["ana,x,1,rock,paper", "ana,x,2,none,r", "ana,x,3,<NA>,rock", "ana,x,4,P,Scissors", "ben,y,1,rock,rock"]


def read(path: Path, lines: list[str], head: str = HEAD) -> Choices:
    path.write_text("\n".join([head, *lines]) + "\n")
    return read_choices(path, lambda _: RPS)


def test_missed_moves_are_kept_and_unrecorded_rows_are_not(tmp_path: Path) -> None:
    found = read(tmp_path / "data.csv", LINES)
    assert found.people == ("ana", "ben")
    assert found.groups == ("x", "y")
    assert found.own.tolist() == [[0, MISSED, 1], [0, MISSED, MISSED]]
    assert found.theirs.tolist()[0] == [1, 0, 2]
    assert found.number.tolist() == [[1, 2, 4], [1, -1, -1]]
    assert found.scored.sum() == 3
    assert found.earned.tolist() == [[-1.0, 0.0, -1.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ana,x,5,rok,paper", r"data.csv:7: there is no action `rok` \(did you mean rock\?\)"),
        ("ana,x,4,rock,paper", "data.csv:7: round 4 of person ana comes after round 4"),
        ("ana,x,two,rock,paper", "data.csv:7: round `two` is no whole number"),
        ("ana,y,5,rock,paper", "data.csv:7: person ana is in group `y`, and in `x` in line 2"),
        (",x,5,rock,paper", "data.csv:7: there is no person"),
        ("ana,x,5,rock", "data.csv:7: 4 cells instead of 5"),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "data.csv", [*LINES, line])


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data.csv:1: there is no column `own`"):
        read(tmp_path / "data.csv", LINES, "person,group,round,mine,other")


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"person": ["1", "1"], "round": [1, 2], "own": ["c", "d"], "other": ["d", "d"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "data.parquet")
    found = read_choices(tmp_path / "data.parquet", lambda _: find_game("ipd"))
    assert found.own.tolist() == [[0, 1]]


def test_simulated_people_take_the_place_of_real_ones(tmp_path: Path) -> None:
    like = read(
        tmp_path / "data.csv", [f"p{n},prev_move_positive,{t},rock,paper" for n in range(3) for t in range(1, 9)]
    )
    values = {"memory": np.full(3, 0.9), "beta": np.full(3, 15.0)}
    mind = MINDS["own_transitions"]
    one, two = (simulated(mind, like, values, np.random.default_rng(7), bots()) for _ in range(2))
    assert (one.own == two.own).all(), "same seed, same people"
    assert one.people == like.people
    replayed = simulated(mind, like, values, np.random.default_rng(7))
    assert (replayed.theirs == like.theirs).all()
    assert (replayed.own[:, 4:] == 2).mean() > 0.8, "they expect paper, and play scissors"
