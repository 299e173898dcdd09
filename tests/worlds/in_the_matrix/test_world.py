"""What avatars see, maps as files, and that chance is a matter of the seed alone."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix_worlds import HALL, SAID, met, random_steps, scene, wait, world_of
from otherminds.errors import InputError
from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix, parse_matrix_world, read_matrix_world
from otherminds.worlds.in_the_matrix.rules import NOWHERE, MatrixState
from otherminds.worlds.in_the_matrix.world import FLOOR, PLAYER, RESOURCE, WALL, InTheMatrix, Sighting, sighting

GOOD = HALL.strip("\n") + "\n" + SAID.format(players=2, respawn=23)

# What is seen


def code_at(world: InTheMatrix, state: MatrixState, x: int, y: int, beholder: int) -> int:
    """What is at a place, looked up in the state alone."""
    grid, rules = world.rules.field.grid, world.rules
    if not (0 <= x < grid.width and 0 <= y < grid.height):
        return OUTSIDE
    cell = grid.cell(x, y)
    if cell in state.cells:
        j = state.cells.index(cell)
        look = 2 if state.clocks[j] >= 0 else int(sum(state.inventories[j]) > len(rules.resources))
        return PLAYER + 16 * j + 4 * ((state.facings[j] - state.facings[beholder]) % 4) + look
    for site, where in enumerate(rules.sites):
        if where == cell and state.shown >> site & 1:
            return RESOURCE + state.kinds[site]
    return FLOOR if grid.is_floor(cell) else WALL


@pytest.mark.slow
@pytest.mark.parametrize("substrate", SUBSTRATES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_the_window_is_the_map_turned_so_that_ahead_is_up(substrate: str, seed: int) -> None:
    """Turn the whole map with numpy, then cut the window out."""
    world = in_the_matrix(substrate)
    grid, (left, right, forward, backward) = world.rules.field.grid, world.rules.field.reach
    margin = 12
    for state, _, _ in random_steps(world, np.random.default_rng(seed), 60)[::10]:
        for i, agent in enumerate(world.agents):
            view = world.observe(state, agent)
            if state.cells[i] == NOWHERE:
                assert view.window == ()
                continue
            xs, ys = range(-margin, grid.width + margin), range(-margin, grid.height + margin)
            whole = np.array([[code_at(world, state, x, y, i) for x in xs] for y in ys])
            marked = np.zeros_like(whole)
            x, y = grid.xy(state.cells[i])
            marked[y + margin, x + margin] = 1
            whole, marked = np.rot90(whole, state.facings[i]), np.rot90(marked, state.facings[i])
            ((row, column),) = np.argwhere(marked)
            window = whole[row - forward : row + backward + 1, column - left : column + right + 1]
            assert window.shape == world.rules.field.shape
            assert view.window == tuple(window.ravel().tolist())


def test_the_windows_are_those_of_the_engine() -> None:
    assert in_the_matrix("rws_repeated").rules.field.shape == (5, 5)
    assert in_the_matrix("pd_repeated").rules.field.shape == (5, 5)
    assert in_the_matrix("rws_arena").rules.field.shape == (11, 11)


def test_a_window_may_be_the_own_cell_alone() -> None:
    world = parse_matrix_world(GOOD.replace("2 2 3 1", "0 0 0 0"), Path("map.txt"))
    assert world.observe(scene(world, "4 3 >", "6 3 v"), "player_1").window == (PLAYER + 16,)


def test_one_sees_who_is_there_which_way_they_face_and_whether_they_are_ready() -> None:
    world = world_of()
    state = scene(world, "4 3 >", "6 3 ^", held=((1, 1, 1), (2, 1, 1)))
    assert [who for who in map(sighting, world.observe(state, "player_0").window) if who] == [
        Sighting(1, 3, 1),
        Sighting(0, 0, 0),
    ]
    after = world.observe(wait(world, met(world), 1), "player_1")
    assert [who.look for who in map(sighting, after.window) if who] == [2, 2]


def test_a_view_has_what_the_engine_shows() -> None:
    world = world_of()
    view = world.observe(met(world), "player_1")
    assert view.inventory == (6, 1, 1)
    assert view.ready_to_shoot == 1
    assert view.met == ((6, 1, 1), (1, 6, 1))
    assert view.frozen
    assert world.observe(met(world), "player_0").ready_to_shoot == 0
    assert world.observe(wait(world, met(world), 17), "player_0").reward == pytest.approx(3.90625)


def test_the_all_seeing_see_the_whole_map() -> None:
    world = dataclasses.replace(world_of(), all_seeing=frozenset(["player_1"]))
    state = scene(world, "4 3 >", "6 3 v")
    grid = world.rules.field.grid
    expected = [code_at(world, state, x, y, 1) for y in range(grid.height) for x in range(grid.width)]
    assert list(world.observe(state, "player_1").window) == expected
    assert len(world.observe(state, "player_0").window) == 25
    cells = world.sight("player_1", state.cells[1], state.facings[1]).cells
    assert [grid.xy(cell) for cell in cells[:3]] == [(0, 0), (1, 0), (2, 0)]


def test_a_view_in_words() -> None:
    world = world_of()
    state = scene(world, "8 4 >", "9 3 ^", held=((1, 1, 1), (2, 1, 1)))
    assert world.describe(world.observe(state, "player_0"), "player_0") == (
        "Player position: {'player_0-E': [(8, 4)]}\n"
        "Observable rock locations: [(9, 5)]\n"
        "Observable paper locations: []\n"
        "Observable scissors locations: []\n"
        "Observable other players: {'player_1-N': [(9, 3)]}\n"
        "Inventory: rock 1, paper 1, scissors 1\n"
        "Ready to shoot: yes"
    )
    assert "nothing" in world.describe(world.observe(wait(world, met(world), 18), "player_0"), "player_0")


def test_the_map_as_text() -> None:
    world = world_of()
    assert world.draw(scene(world, "3 3 >", "5 3 <")) == (
        "###########\n#         #\n#         #\n#  ▶ ◀    #\n#         #\n#        r#\n#         #\n###########"
    )


# Maps as files


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("W        rW", "W        xW", r"map.txt:6:10: unknown character `x` \(one of W n P a r p s and space\)"),
        ("W        rW", "W        rWW", r"map.txt:6:12: this row has 12 characters, the first one has 11"),
        ("W        rW", "W        r", r"map.txt:6:11: this row has 10 characters"),
        (
            "Wn       nW",
            "W         W",
            r"map.txt:10: no starts for 2 players \(mark floor of the map with `n` or `P`\)",
        ),
        ("players: 2", "players: 5", r"map.txt:10: 4 starts for 5 players"),
        ("players: 2", "players: two", r"map.txt:10: `players` is not a whole number from 1 to 9"),
        ("players: 2\n", "", r"map.txt:8: needs either `players` or `agents`"),
        ("players: 2", "players: 2\nagents: A, B", r"map.txt:11: needs either"),
        ("r rock, p", "W rock, p", r"map.txt:11: `W` means something else on maps"),
        ("r rock, p", "rock, p", r"map.txt:11: `rock` is not a kind"),
        ("r rock, p", "p rock, p", r"map.txt:11: kinds need two to nine different letters"),
        ("0 -10 10,", "0 -10,", r"map.txt:12: `payoffs` is not 3 rows of 3"),
        ("0 -10 10,", "0 -10 x,", r"map.txt:12: `payoffs`: `x` is not a number"),
        ("window: 2 2 3 1", "window: 2 2 3", r"map.txt:13: `window` is not four numbers"),
        ("15 0.02", "15", r"map.txt:14: `regrowth` is not 2 numbers"),
        ("15 0.02", "15 2", r"map.txt:14: `regrowth` is not from 0 to 1"),
        ("respawn: 23", "respawn: 17", r"map.txt:16: `respawn` is not a whole number from 18"),
        ("restock: yes", "restock: maybe", r"map.txt:17: `restock` is neither yes nor no"),
        ("restock: yes\n", "", r"map.txt:17: `restock` is missing \(such as `restock: yes`\)"),
        ("1000 100 0.2 5000", "1000 0 0.2 5000", r"map.txt:18: `ends` is not a whole number from 1"),
        ("ends: 1000", "end: 1000", r"map.txt:18:1: unknown key `end`"),
        ("frozen: 16", "frozen 16", r"map.txt:15: `frozen 16` is not `key: value`"),
        ("frozen: 16", "frozen: 16\nfrozen: 16", r"map.txt:16:1: `frozen` is given twice"),
        (HALL.strip("\n"), "", r"map.txt:1: has no map"),
        ("W        rW", "W         W", r"map.txt:8: the map has no resources"),
        ("W        rW", "W" * 70, r"map.txt:1: the map is larger than 64"),
    ],
)
def test_a_bad_map_is_told_with_its_place(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError, match=message):
        parse_matrix_world(GOOD.replace(old, new), Path("map.txt"))


def test_a_resource_or_start_that_nobody_can_reach_is_told() -> None:
    walled = GOOD.replace("W         W\nW        rW\nWn       nW", "W        WW\nW       WrW\nWn      WWW")
    with pytest.raises(InputError, match=r"map.txt:6:10: no player can reach this"):
        parse_matrix_world(walled, Path("map.txt"))


def test_names_comments_and_a_second_payoff_matrix(tmp_path: Path) -> None:
    text = "; a comment\n" + GOOD.replace("players: 2", "agents: Ana, Ben").replace(
        "window", "column payoffs: 1 2 3, 4 5 6, 7 8 9\nwindow"
    )
    (tmp_path / "mine.txt").write_text(text, "utf-8")
    world = read_matrix_world(tmp_path / "mine.txt")
    assert world.agents == ("Ana", "Ben")
    assert world.rules.payoffs[1] == ((1, 2, 3), (4, 5, 6), (7, 8, 9))
    assert world.rules.reward((8, 1, 1), (1, 8, 1))[1] == pytest.approx(0.8 * 0.8 * 2 + 0.36 * 28.1 / 5.62, abs=1)


def test_there_is_no_other_world() -> None:
    with pytest.raises(InputError, match="no matrix world `rps`"):
        in_the_matrix("rps")


# Chance


PLAY = """
import hashlib, sys
import numpy as np
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
digest = hashlib.sha256()
for world in (in_the_matrix("rws_repeated"), in_the_matrix("rws_arena"), cooking_asymmetric()):
    rng = np.random.default_rng(7)
    state = world.start(rng)
    for _ in range(150):
        joint = {agent: ACTIONS[k] for agent, k in zip(world.agents, rng.integers(8, size=len(world.agents)))}
        state = world.step(state, joint, rng)
        digest.update(repr((state, [world.observe(state, agent) for agent in world.agents])).encode())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trajectory_in_every_process() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PLAY],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    told = [process.communicate(timeout=120)[0].strip() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len(told[0]) == 64
    assert set(told) == {told[0]}
