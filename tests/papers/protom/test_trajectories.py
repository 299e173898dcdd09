"""Trajectories as files: what is written can be read, and what is wrong is said with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kitchens import kitchen, kitchens
from otherminds.errors import InputError
from otherminds.papers.protom.trajectories import read_steps, read_trajectory, write_trajectory
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems.level_files import parse_level
from otherminds.worlds.doors_keys_gems.pddl import follow_plan, read_plan, read_problem
from otherminds.worlds.doors_keys_gems.rules import STAY, Action, DoorsKeysGems, State
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked
from paths import SHARED

DATA = SHARED

LEVEL = """\
agents: Ana, Béla
goals: red, blue
turns: simultaneous

a1 kr a2 ..
.. .. ## dr
gr kb db gb
"""


def world_of(turns: str = "simultaneous") -> DoorsKeysGems:
    return parse_level(LEVEL.replace("simultaneous", turns), Path("level.txt")).world


def line(t: int, ana: str, béla: str) -> str:
    return json.dumps({"schema": 1, "t": t, "joint": {"Ana": ana, "Béla": béla}}) + "\n"


def read(folder: Path, text: str, world: DoorsKeysGems) -> tuple[Step[State, Action], ...]:
    path = folder / "play.jsonl"
    path.write_text(text, "utf-8", newline="")
    return read_trajectory(path, world)


def play(world: DoorsKeysGems, seed: int, length: int) -> list[Step[State, Action]]:
    rng, state, steps = np.random.default_rng(seed), world.initial, []
    for _ in range(length):
        options = {agent: world.actions(state, agent) for agent in world.agents}
        joint = {agent: allowed[rng.integers(len(allowed))] for agent, allowed in options.items()}
        steps.append(Step(state, joint, world.step(state, joint)))
        state = steps[-1].after
    return steps


def test_a_trajectory_is_written_one_line_a_step() -> None:
    world = world_of()
    joint = {"Ana": Action("right"), "Béla": STAY}
    first = Step(world.initial, joint, world.step(world.initial, joint))
    joint = {"Ana": Action("pickup", 0), "Béla": Action("left")}
    second = Step(first.after, joint, world.step(first.after, joint))
    assert write_trajectory(world, [first, second]) == (
        '{"schema": 1, "t": 0, "joint": {"Ana": "right", "Béla": "stay"}}\n'
        '{"schema": 1, "t": 1, "joint": {"Ana": "pickup key1", "Béla": "left"}}\n'
    )


@pytest.mark.slow
@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(0, 60),
    turns=st.sampled_from(["simultaneous", "alternating"]),
)
def test_what_is_written_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, seed: int, length: int, turns: str
) -> None:
    world = world_of(turns)
    steps = play(world, seed, length)
    assert read(tmp_path_factory.getbasetemp(), write_trajectory(world, steps), world) == tuple(steps)


@pytest.mark.slow
@given(world=kitchens(), seed=st.integers(0, 2**32 - 1), length=st.integers(0, 30))
def test_what_is_written_in_a_kitchen_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, world: Overcooked, seed: int, length: int
) -> None:
    rng, state, steps = np.random.default_rng(seed), world.initial, []
    for _ in range(length):
        joint = {agent: ACTIONS[rng.integers(len(ACTIONS))] for agent in world.agents}
        steps.append(Step(state, joint, world.step(state, joint)))
        state = steps[-1].after
    path = tmp_path_factory.getbasetemp() / "play.jsonl"
    path.write_text(write_trajectory(world, steps), "utf-8")
    assert read_steps(path, world) == tuple(steps)


@pytest.mark.parametrize(
    ("name", "joint", "message"),
    [
        ("play.jsonl", {"Ana": "fry"}, ":1: unknown action `fry` (one of up, down, left, right, stay)"),
        ("play.jsonl", {"Ana": "upp"}, ":1: unknown action `upp` (did you mean up?)"),
        ("play.jsonl", {"Ana": "pickup key1"}, ":1: unknown action `pickup key1` (one of"),
        ("play.jsonl", {"Ana": "up", "Ben": "up"}, ":1: there is no agent `Ben` (there is Ana)"),
        ("play.jsonl", {}, ":1: the action of Ana is missing"),
        ("play.plan", {"Ana": "up"}, ": is not a trajectory (the name must end in .jsonl or .csv)"),
    ],
)
def test_what_is_wrong_with_a_trajectory_in_a_kitchen(
    tmp_path: Path, name: str, joint: dict[str, str], message: str
) -> None:
    (tmp_path / name).write_text(json.dumps({"schema": 1, "t": 0, "joint": joint}) + "\n")
    with pytest.raises(InputError) as caught:
        read_steps(tmp_path / name, kitchen("t1-"))
    assert str(caught.value).startswith(f"{tmp_path / name}{message}")


def test_only_what_follows_the_start_is_written() -> None:
    world = world_of()
    joint = {"Ana": Action("down"), "Béla": STAY}
    step = Step(world.initial, joint, world.step(world.initial, joint))
    with pytest.raises(ValueError, match="step 1 does not begin where it should"):
        write_trajectory(world, [step, step])


def test_line_ends_of_windows_are_read(tmp_path: Path) -> None:
    text = (line(0, "right", "stay") + line(1, "stay", "stay")).replace("\n", "\r\n")
    assert len(read(tmp_path, text, world_of())) == 2


def test_two_may_reach_for_the_same_key_and_the_second_gets_nothing(tmp_path: Path) -> None:
    text = line(0, "right", "left") + line(1, "pickup key1", "pickup key1")
    steps = read(tmp_path, text, world_of())
    assert steps[1].joint["Béla"] == Action("pickup", 0)
    assert steps[1].after.items[0] == 0


def test_later_agents_may_use_what_earlier_ones_made_possible_in_the_same_step(tmp_path: Path) -> None:
    start = line(0, "right", "stay") + line(1, "pickup key1", "stay")
    assert read(tmp_path, start + line(2, "handover key1 to Béla", "stay"), world_of())
    assert read(tmp_path, start + line(2, "stay", "right") + line(3, "right", "stay"), world_of())
    locked = start + line(2, "right", "right") + line(3, "right", "stay")
    at_once = read(tmp_path, locked + line(4, "unlock door1 with key1", "down"), world_of())[-1]
    assert at_once.after.cells[1] == at_once.state.cells[1] + world_of().grid.stride
    with pytest.raises(InputError, match=r"play.jsonl:5: Béla cannot do `down` here"):
        read(tmp_path, locked + line(4, "stay", "down"), world_of())
    opened = locked + line(4, "unlock door1 with key1", "stay")
    assert read(tmp_path, opened + line(5, "stay", "down"), world_of())[-1].after.locked == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line(1, "stay", "stay"), "1: `t` should be 0 here"),
        (line(0, "stay", "stay") * 2, "2: `t` should be 1 here"),
        (line(0, "up", "stay"), "1: Ana cannot do `up` here (allowed: down, right, stay)"),
        (line(0, "stay", "pickup key1"), "1: Béla cannot do `pickup key1` here"),
        (line(0, "handover key1 to Ana", "stay"), "1: Ana cannot do `handover key1 to Ana` here"),
        (line(0, "rigth", "stay"), "1: unknown action `rigth` (did you mean right?)"),
        (line(0, "stay", "pickup key7"), "1: unknown action `pickup key7` (did you mean pickup key"),
        (line(0, "x" * 10_000, "stay"), f"1: unknown action `{'x' * 60}` (such as"),
        ('{"schema": 1, "t": 0, "joint": {"Ana": "stay"}}', "1: the action of Béla is missing"),
        (
            '{"schema": 1, "t": 0, "joint": {"Ann": "stay"}}',
            "1: there is no agent `Ann` (there is Ana, Béla)",
        ),
        ('{"schema": 1, "t": 0, "joint": {"Ana": 3}}', "1: `joint.Ana`: "),
        ('{"schema": 1, "t": 0, "joint": {}, "note": 1}', "1: `note`: Extra inputs"),
        ('{"schema": 1, "t": 0}', "1: `joint`: Field required"),
        ('{"version": 1, "t": 0, "joint": {}}', "1: `schema`: Field required"),
        ('{"schema": 2, "t": 0, "joint": {}}', "1: unknown schema 2"),
        ('{"schema": true, "t": 0, "joint": {}}', "1: `schema`: "),
        ('{"schema": 1, "t": "0", "joint": {}}', "1: `t`: "),
        ('{"schema": 1, "t": 0, "t": 0, "joint": {}}', "1: `t` is given twice"),
        ('{"schema": 1, "t": 0, "joint": {"Ana": "up", "Ana": "stay"}}', "1: `Ana` is given twice"),
        ('{"schema": 1, "t"; 0}', "1:18: Invalid JSON"),
        ("[" * 100_000, "1:202: Invalid JSON: recursion limit exceeded"),
        (line(0, "stay", "stay") + "\n" + line(1, "stay", "stay"), "2:1: Invalid JSON"),
        ("[]", "1: Input should be an object"),
    ],
)
def test_what_is_wrong_with_a_trajectory(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, world_of())
    assert str(caught.value).startswith(f"{tmp_path / 'play.jsonl'}:{message}")


def test_out_of_turn(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"play.jsonl:1: Béla cannot do `left` here \(allowed: stay\)"):
        read(tmp_path, line(0, "stay", "left"), world_of("alternating"))


@pytest.mark.slow
@settings(deadline=None)
@given(data=st.data())
def test_a_damaged_trajectory_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = write_trajectory(world_of(), play(world_of(), 1, 4))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from(["", '"', "{", "}", "\n", "1", ",", "Ana", '"Ana": "up", ', "\\", "NaN", "\x00"])
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 9)) :]
    try:
        read(tmp_path_factory.getbasetemp(), text, world_of())
    except InputError as error:
        complaint = str(error)
        assert re.search(r"play\.jsonl:\d+(:\d+)?: .*$", complaint)


def test_the_kind_of_file_is_told_by_its_name(tmp_path: Path) -> None:
    world = world_of()
    (tmp_path / "play.jsonl").write_text(line(0, "right", "stay"), "utf-8")
    for name in ("play.plan", "play.dat", "play.pddl"):
        (tmp_path / name).write_text("(right Ana)\n", "utf-8")
        assert read_steps(tmp_path / name, world) == read_steps(tmp_path / "play.jsonl", world)
    with pytest.raises(InputError, match=r"play.txt: is neither a trajectory nor a plan \(the name must end in"):
        read_steps(tmp_path / "play.txt", world)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_steps(tmp_path / "play.jsonl", world_of())


def test_published_plans_survive_as_trajectories(tmp_path: Path) -> None:
    clips = DATA / "clips-dev"
    if not clips.is_dir():
        pytest.skip("needs the unlicensed development data in clips-dev, which are not part of the project")
    for path in sorted((clips / "plans" / "observed").glob("*.pddl")):
        world = read_problem(clips / "problems" / f"{path.name.split('.')[0]}.pddl").world
        steps = follow_plan(world, read_plan(path, world), path)
        assert read(tmp_path, write_trajectory(world, steps), world) == steps
