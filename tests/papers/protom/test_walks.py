"""Walks through worlds of users: positions, actions and states in tables, and the posteriors over goals from them."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.mind import NONE_OF_THESE
from otherminds.papers.protom.facilitator import NONE_PRIOR
from otherminds.papers.protom.goal_inference import listed_goals, posteriors, posteriors_of_all
from otherminds.papers.protom.walks import read_positions, read_rows, read_steps, write_walk
from otherminds.planning.rational import RationalAgent
from otherminds.world import Step, rollout
from otherminds.worlds.text_grid import Cell, TextGrid, parse_text_grid
from own_rooms import Corridor, Rooms

MAZE = """\
########
#A.....#
#..##..#
#@.##.B#
########
"""
WALK = ((1, 3), (2, 3), (2, 2), (2, 1), (3, 1))
STEPS_TO = {  # by hand
    "A": {(1, 3): 2, (2, 3): 3, (2, 2): 2, (2, 1): 1, (3, 1): 2, (1, 2): 1, (1, 1): 0, (4, 1): 3},
    "B": {(1, 3): 9, (2, 3): 8, (2, 2): 7, (2, 1): 6, (3, 1): 5, (1, 2): 8, (1, 1): 7, (4, 1): 4},
}


def maze(text: str = MAZE) -> TextGrid:
    return parse_text_grid(text, Path("maze.txt")).world


def table(folder: Path, text: str, name: str = "walk.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def positions(cells: tuple[tuple[int, int], ...] = WALK, header: str = "x,y") -> str:
    return f"{header}\n" + "".join(f"{x},{y}\n" for x, y in cells)


def cells_of(folder: Path, text: str, world: TextGrid | None = None, name: str = "walk.csv") -> list[tuple[int, int]]:
    ((_, steps),) = read_positions([table(folder, text, name)], world or maze()).values()
    return [tuple(step.state) for step in steps] + [tuple(steps[-1].after)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(positions(), "walk.csv", id="x and y"),
        pytest.param(positions(header="col,row"), "walk.csv", id="column and row"),
        pytest.param("row,column\n" + "".join(f"{y},{x}\n" for x, y in WALK), "walk.csv", id="row first"),
        pytest.param(positions(header="X,Y").replace("\n", ".0\n").replace("Y.0", "Y"), "walk.csv", id="floats"),
        pytest.param(positions(tuple((x + 1, y + 1) for x, y in WALK)), "walk.csv", id="from 1"),
        pytest.param(positions().replace(",", ";"), "walk.csv", id="semicolons"),
        pytest.param("t,x,y\n" + "".join(f"{t + 3},{x},{y}\n" for t, (x, y) in enumerate(WALK)), "w.csv", id="steps"),
        pytest.param("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in WALK), "walk.jsonl", id="JSON lines"),
        pytest.param(json.dumps([{"x": x, "y": y} for x, y in WALK]), "walk.json", id="a JSON list"),
        pytest.param("x,y,seconds\n" + "".join(f"{x},{y},0.25\n" for x, y in WALK), "walk.csv", id="another column"),
        pytest.param("action\nright\nup\nup\nright\n", "walk.csv", id="actions"),
    ],
)
def test_the_same_walk_in_several_forms(tmp_path: Path, text: str, name: str) -> None:
    assert cells_of(tmp_path, text, name=name) == list(WALK)


def test_coordinates_count_from_0_where_both_fit(tmp_path: Path) -> None:
    field = maze("A...\n....\n...B\n")
    assert cells_of(tmp_path, positions(((1, 1), (2, 1))), field) == [(1, 1), (2, 1)]
    assert cells_of(tmp_path, positions(((3, 3), (4, 3))), field) == [(2, 2), (3, 2)]


def test_a_walk_may_begin_elsewhere_than_the_map_says(tmp_path: Path) -> None:
    assert cells_of(tmp_path, positions(WALK[1:])) == list(WALK[1:])


def test_posteriors_of_positions_are_bayes_rule_from_scratch(tmp_path: Path) -> None:
    walks = read_positions([table(tmp_path, positions())], maze())
    history = posteriors_of_all(walks, beta=2.0, lapse=0.1, leak=0.0, none_prior=0.0, switch_rate=0.0)
    weights = {"A": 0.5, "B": 0.5}
    for t, (before, after) in enumerate(pairwise(WALK)):
        for goal, p in history[t]["posterior"]["walker"].items():
            assert p == pytest.approx(weights[goal] / sum(weights.values()))
        for goal, steps in STEPS_TO.items():
            options = [before, *((before[0] + dx, before[1] + dy) for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0)))]
            options = [cell for cell in options if maze().is_floor(Cell(*cell))]
            scores = {cell: math.exp(-2.0 * steps[cell]) for cell in options}
            weights[goal] *= 0.9 * scores[after] / sum(scores.values()) + 0.1 / len(options)
    assert history[-1]["posterior"]["walker"]["B"] == pytest.approx(weights["B"] / sum(weights.values()))
    assert [row["joint"].get("walker") for row in history] == ["right", "up", "up", "right", None]


def test_each_agent_of_a_table_is_inferred_alone_and_stays_when_its_walk_ends(tmp_path: Path) -> None:
    text = "participant,x,y\n" + "".join(f"p1,{x},{y}\np2,{x},{y}\n" for x, y in WALK[:3]) + "p1,2,1\n"
    walks = read_positions([table(tmp_path, text)], maze())
    settings = {"beta": 2.0, "lapse": 0.1, "leak": 0.0}
    history = posteriors_of_all(walks, **settings)
    alone = posteriors(*walks["p1"], **settings)  # type: ignore[arg-type]
    assert [row["posterior"]["p1"] for row in history] == [row["posterior"]["p1"] for row in alone]
    assert history[-1]["posterior"]["p2"] == history[-2]["posterior"]["p2"]
    assert "p2" not in history[-2]["joint"]


def test_several_tables_continue_one_another(tmp_path: Path) -> None:
    first, second = table(tmp_path, positions(WALK[:2]), "a.csv"), table(tmp_path, positions(WALK[2:]), "b.csv")
    ((_, steps),) = read_positions([first, second], maze()).values()
    assert [tuple(step.after) for step in steps] == list(WALK[1:])


def test_goals_are_letters_names_or_cells_that_count_like_the_walk(tmp_path: Path) -> None:
    text = positions(tuple((x + 1, y + 1) for x, y in WALK))
    ((world, steps),) = read_positions([table(tmp_path, text)], maze()).values()
    labels = listed_goals(world, ["B", "6,4"])
    assert [(goal, label.name) for goal, label in labels.items()] == [("B", "B"), (Cell(5, 3), "6,4")]
    belief = posteriors(world, steps, beta=3.0, lapse=0.05, leak=0.0, labels=labels)[0]["posterior"]["walker"]
    assert belief == pytest.approx({"B": (1 - NONE_PRIOR) / 2, "6,4": (1 - NONE_PRIOR) / 2, NONE_OF_THESE: NONE_PRIOR})
    assert list(listed_goals(world, [])) == ["A", "B"]
    with pytest.raises(InputError, match="there is no goal `C`"):
        listed_goals(world, ["C"])
    with pytest.raises(InputError, match=r"the goal 1,1 is no floor \(coordinates count from 1 here\)"):
        listed_goals(world, ["1,1"])


def test_goals_of_other_worlds_may_be_json() -> None:
    assert list(listed_goals(Corridor(), ["8", "[3, 4]", "the end"])) == [8, (3, 4), "the end"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            positions(((1, 3), (1, 4))),
            ":3: (1, 4) is a wall (coordinates count from 0 here, x to the right and y downwards",
        ),
        (positions(((1, 3), (9, 3))), ":3: (9, 3) is outside the map of 8 × 5"),
        (positions(((1, 3), (2, 2))), ":3: (2, 2) is more than a step from (1, 3) (a row for each step"),
        (positions(((1, 3),)), ":2: walker is at one place only"),
        ("x,y\n1,3\n2.5,3\n", ":3: x `2.5` is no whole number"),
        ("x,y\n1,3\n2,three\n", ":3: y `three` is no whole number"),
        ("x,y\n1,3\n2\n", ":3: 1 cells instead of 2"),
        ("x,y\n", ": has no row"),
        ("", ": it is empty"),
        ("a,b\n1,3\n", ":1: the columns are a, b (x and y, or row and col, or action)"),
        ("x,col,y\n1,1,3\n", ":1: two columns mean `x`"),
        ("step,x,y\n0,1,3\n2,2,3\n", ":3: step 2 comes after step 0"),
        ("step,x,y\none,1,3\n", ":2: step `one` is no whole number"),
        ("agent,x,y\n\x1b[31m,1,3\n", ":2: an agent's name is printable"),
        ("action\nup\nfly\n", ":3: walker cannot do `fly` here (allowed: stay, up, down, right)"),
    ],
)
def test_what_is_wrong_with_positions(tmp_path: Path, text: str, message: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_positions([path], maze())
    assert str(caught.value).startswith(f"{path}{message}")


# Actions and states


def walk(folder: Path, text: str, world: object) -> list[Step[object, object]]:
    return read_steps(read_rows([table(folder, text)]), world)


def test_actions_and_states_tell_of_the_same_steps(tmp_path: Path) -> None:
    actions = walk(tmp_path, "step,agent,action\n0,Ana,east\n0,Ben,wait\n1,Ben,east\n", Rooms())
    states = walk(tmp_path, 'state\n"((2, 2), (4, 2))"\n"((3, 2), (4, 2))"\n"((3, 2), (5, 2))"\n', Rooms())
    columns = walk(tmp_path, 'x,y\n"(2, 2)","(4, 2)"\n"(3, 2)","(4, 2)"\n"(3, 2)","(5, 2)"\n', Rooms())
    assert actions == states == columns
    assert actions[1].joint == {"Ana": "wait", "Ben": "east"}


def test_what_is_written_can_be_read_though_there_is_chance(tmp_path: Path) -> None:
    world: Any = Corridor()
    mind: Any = RationalAgent(world, "Ana", 8, 2.0)
    steps = list(rollout(world, {"Ana": mind}, steps=20, rng=np.random.default_rng(1)))
    assert any(step.after != step.state + (1 if step.joint["Ana"] == "right" else -1) for step in steps)
    assert walk(tmp_path, write_walk(world, steps), world) == steps


def test_without_actions_the_likeliest_is_taken_where_there_is_chance(tmp_path: Path) -> None:
    assert [step.joint["Ana"] for step in walk(tmp_path, "state\n4\n5\n4\n3.0\n", Corridor())] == [
        "right",
        "left",
        "left",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("step,agent,action\n0,Ana,fly\n", ":2: Ana cannot do `fly` here (allowed: wait, north, south, west, east)"),
        ("step,agent,action\n0,Eve,east\n", ":2: there is no agent `Eve`"),
        ("action\neast\n", ":2: nothing says who acts (a column `agent`: Ana, Ben)"),
        ("agent,step,action\nAna,0,east\nAna,0,west\n", ":3: a second action of Ana in this step"),
        ("agent,step,action\nAna,0,east\nAna,2,west\n", ":3: step 2 comes after step 0"),
        ("mood\nglad\n", ":2: nothing here is an action or a state: mood (columns are action, or of the state: state"),
        ('state\n"((1, 1), (4, 2))"\n', ":2: the world does not start with state ((1, 1), (4, 2))"),
        ('state\n"((2, 2), (4, 2))"\n"((5, 2), (4, 2))"\n', ":3: no step leads to state ((5, 2), (4, 2))"),
        ('state\n"((2, 2), (4, 2))"\n', ":2: nobody does anything"),
    ],
)
def test_what_is_wrong_with_actions_and_states(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        walk(tmp_path, text, Rooms())
    assert str(caught.value).startswith(f"{tmp_path / 'walk.csv'}{message}")


def test_chance_needs_states_and_the_end_is_the_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":2: chance decides what follows this step \(columns of the state: state\)"):
        walk(tmp_path, "action\nleft\nleft\n", Corridor())
    with pytest.raises(InputError, match=":6: the world is over before this step"):
        walk(tmp_path, "state\n4\n5\n6\n7\n8\n8\n".replace("4\n", "4\n", 1), Corridor())
