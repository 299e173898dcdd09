"""What all players of a matrix world see, as arrays in one pass: the fields of `InTheMatrix.observe`, but faster.

    views = views_of(in_the_matrix("rws_arena"))
    views(state).window[3]                      # what the fourth player sees, (rows, columns)

It is for learning in worlds of many players; the compiled `batch` is for many environments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.in_the_matrix.arrays import Int16, Int32, rule_arrays
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE, NOWHERE, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import FROZEN, PLAIN, PLAYER, READY, RESOURCE, InTheMatrix

UNSEEN = -1  # coordinates of a dead player, and inventories of players that did not interact; convention

INTEGERS = tuple(map(np.int64, range(4)))

Float32 = NDArray[np.float32]


class ViewArrays(NamedTuple):
    """The fields of `MatrixView`, each with an entry for every player.

    `cell` has its column and row; a dead player's are UNSEEN, and its window is all OUTSIDE. `met` has its own and the
    partner's inventory, UNSEEN without an interaction. Shapes for each player: (1) for `t`, `ready_to_shoot` and
    `reward`, (2) for `cell`, (rows, columns) for `window`, (kinds) for `inventory`, (2, kinds) for `met`.
    """

    t: Int32
    cell: Int32
    facing: Sequence[np.int64]
    window: Sequence[Int16]
    inventory: Int32
    ready_to_shoot: Float32
    met: Int32
    reward: Float32
    frozen: Sequence[np.int64]


def views_of(world: InTheMatrix) -> Callable[[MatrixState], ViewArrays]:
    """The function that writes what all players see of a state; no two states share memory."""
    rules, shape = world.rules, (world.rules.players, 1)
    windows, coordinates = _windows_of(world), _coordinates(rules)
    no_meeting = np.full((rules.players, 2, len(rules.resources)), UNSEEN, np.int32)
    readiness = np.array([[1 - cooldown / COOLDOWN] for cooldown in range(COOLDOWN + 1)], np.float32)

    def views(state: MatrixState) -> ViewArrays:
        met = no_meeting.copy()
        for i, meeting in enumerate(state.met):
            if meeting is not None:
                met[i] = meeting
        return ViewArrays(
            t=np.full(shape, state.t, np.int32),
            cell=coordinates.take(state.cells, axis=0),
            facing=[INTEGERS[facing] for facing in state.facings],
            window=windows(state),
            inventory=np.array(state.inventories, np.int32),
            ready_to_shoot=readiness.take(state.cooldowns, axis=0),
            met=met,
            reward=np.array(state.rewards, np.float32).reshape(shape),
            frozen=[INTEGERS[clock != FREE] for clock in state.clocks],
        )

    return views


def _windows_of(world: InTheMatrix) -> Callable[[MatrixState], list[Int16]]:
    """The function that cuts all windows out of a map with margins, on which a player has a code for each viewer.

    Column f of the map is for viewers with facing f. `cut[pose]` has the places of a window in the flat map, for a pose
    cell · 4 + facing.
    """
    rules, arrays = world.rules, rule_arrays(world.rules)
    grid, reach, ahead = rules.field.grid, arrays.reach, arrays.ahead
    forward = np.arange(reach.forward, -reach.backward - 1, -1)[:, None]
    right = np.arange(-reach.left, reach.right + 1)
    relative = np.stack([f + 4 * (forward * ahead[f] + right * ahead[(f + 1) % 4]) for f in range(4)])
    cut = (4 * arrays.places[:, None, None, None] + relative).reshape(-1, *rules.field.shape)
    sites, places, margin = arrays.places[arrays.sites], arrays.places.tolist(), max(reach)
    whole_map = slice(margin, margin + grid.height), slice(margin, margin + grid.width)
    all_seeing = [i for i, agent in enumerate(world.agents) if agent in world.all_seeing]
    player, look, facing, viewer = np.indices((rules.players, 3, 4, 4), np.int16)
    codes = [
        [[*by_facing] for by_facing in by_look] for by_look in PLAYER + 16 * player + 4 * ((facing - viewer) % 4) + look
    ]

    ground = np.repeat(arrays.ground[:, None], 4, axis=1)

    @lru_cache(maxsize=1)
    def terrain(kinds: tuple[int, ...], shown: int) -> Int16:
        board = ground.copy()
        bits = np.frombuffer(shown.to_bytes(len(sites) // 8 + 1, "little"), np.uint8)
        is_shown = np.unpackbits(bits, count=len(sites), bitorder="little")
        board[sites] = (is_shown * (RESOURCE + np.array(kinds, np.int16)))[:, None]
        return board

    def windows(state: MatrixState) -> list[Int16]:
        board = terrain(state.kinds, state.shown).copy()
        poses = list[int]()
        for i, (cell, facing) in enumerate(zip(state.cells, state.facings, strict=True)):
            poses.append(4 * cell + facing)
            if cell != NOWHERE:
                is_ready = state.inventories[i] != rules.empty
                look = FROZEN if state.clocks[i] != FREE else READY if is_ready else PLAIN
                board[places[cell]] = codes[i][look][facing]
        views = list(board.take(cut.take(poses, axis=0)))
        for i in all_seeing:
            views[i] = board[:, state.facings[i]].reshape(-1, grid.width + 2 * margin)[whole_map].copy()
        if NOWHERE in state.cells:
            for i, cell in enumerate(state.cells):
                if cell == NOWHERE:
                    views[i][:] = OUTSIDE
        return views

    return windows


def _coordinates(rules: Rules) -> Int32:
    """Column and row of every cell, and UNSEEN for NOWHERE as the last entry."""
    grid = rules.field.grid
    coordinates = np.full((grid.size + 1, 2), UNSEEN, np.int32)
    for cell in grid.cells():
        coordinates[cell] = grid.xy(cell)
    return coordinates
