"""What chance does to many environments of a matrix world at once: it falls as often as in the world itself."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from odd_matrix_worlds import odd, start_of
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix.arrays import SHOWN
from otherminds.worlds.in_the_matrix.batch import Batch, pack, reset, step, unpack
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix

pytest.importorskip("numba", reason="needs Numba: the extra `fast`")

INTERACT, FORWARD, NOOP = (ACTIONS.index(action) for action in ("interact", "forward", "noop"))
MANY = 6000


def close(count: float, p: float, n: int = MANY) -> bool:
    """Whether a count fits a binomial distribution, five standard deviations allowed."""
    return bool(abs(count - n * p) <= 5 * (n * p * (1 - p)) ** 0.5)


def stepped(state: MatrixState, world: InTheMatrix, *acts: int, seed: int = 0) -> Batch:
    """Many environments one step after the same state and actions."""
    batch = pack(world, [state] * MANY)
    step(batch, np.tile(np.array(acts), (MANY, 1)), np.random.default_rng(seed))
    return batch


@pytest.mark.slow
def test_an_order_is_drawn_uniformly() -> None:
    from otherminds.worlds.in_the_matrix.kernels import shuffle

    for n, orders in ((1, 1), (2, 2), (4, 24), (6, 720)):
        found = np.zeros(n, dtype=np.int8)
        drawn = set()
        for k in range(orders):
            shuffle(found, (k + 0.5) / orders)
            drawn.add(tuple(found.tolist()))
        assert drawn == set(permutations(range(n)))


@pytest.mark.slow
def test_who_moves_first_is_drawn() -> None:
    world = odd()
    grid = world.rules.field.grid
    cells = (grid.cell(2, 3), grid.cell(4, 3), grid.cell(4, 2))
    state = start_of(world)._replace(cells=cells, facings=(1, 3, 2))  # the third one only gets where another left
    found = stepped(state, world, FORWARD, FORWARD, FORWARD).states.cells
    taken = Counter(map(tuple, found.tolist()))
    west, middle, east = grid.cell(2, 3), grid.cell(3, 3), grid.cell(4, 3)
    assert close(taken[middle, east, cells[2]], 1 / 2)
    assert close(taken[west, middle, cells[2]], 1 / 6)  # the third before the second one: of those, a third are this
    assert close(taken[west, middle, east], 1 / 3)


@pytest.mark.slow
def test_who_zaps_first_is_drawn() -> None:
    world = in_the_matrix("pd_repeated")
    grid = world.rules.field.grid
    state = start_of(world)._replace(
        cells=(grid.cell(3, 6), grid.cell(4, 6)), facings=(1, 3), inventories=((2, 1),) * 2
    )
    found = stepped(state, world, INTERACT, INTERACT).states
    assert (found.clocks == 0).all()
    reset_ = (found.inventories == 1).all(axis=2)
    assert (reset_.sum(axis=1) == 1).all()
    assert close(reset_[:, 0].sum(), 1 / 2)


@pytest.mark.slow
def test_what_regrows_is_drawn() -> None:
    world = odd(regrowth="regrowth: 4 0.3")
    rules, state = world.rules, start_of(world)
    away = ((0, 5), (1, 6), (2, 6), (3, 7))
    state = state._replace(t=10, shown=state.shown & ~15, away=away, cells=(rules.sites[2], *state.cells[1:]))
    found = stepped(state, world, NOOP, NOOP, NOOP).states
    shown = found.since[:, :4] == SHOWN
    assert not shown[:, 2].any(), "somebody stands there"
    assert (found.inventories == 1).all(), "and does not pick it up"
    assert not shown[:, 3].any(), "not away for longer than the delay"
    assert close(shown[:, 0].sum(), 0.3)
    assert close(shown[:, 1].sum(), 0.3)
    assert close((shown[:, 0] & shown[:, 1]).sum(), 0.09)


@pytest.mark.slow
def test_where_the_dead_return_is_drawn() -> None:
    world = odd()
    rules, state = world.rules, start_of(world)
    clocks, cells = (FREE, rules.respawn - 1, rules.respawn - 1), (rules.spawns[1], NOWHERE, NOWHERE)
    found = stepped(state._replace(clocks=clocks, cells=cells), world, NOOP, NOOP, NOOP).states
    free = [cell for cell in rules.spawns if cell != rules.spawns[1]]
    pairs = Counter(map(tuple, found.cells[:, 1:].tolist()))
    assert set(pairs) == set(permutations(free, 2))
    assert all(close(count, 1 / len(pairs)) for count in pairs.values())
    facings = Counter(map(tuple, found.facings[:, 1:].tolist()))
    assert len(facings) == 16
    assert all(close(count, 1 / 16) for count in facings.values())


@pytest.mark.slow
@pytest.mark.parametrize(("t", "chance"), [(1097, 0), (1098, 0.2), (1099, 0), (1198, 0.2), (998, 0), (4999, 1)])
def test_when_an_episode_ends_is_drawn(t: int, chance: float) -> None:
    world = in_the_matrix("rws_repeated")
    assert close(stepped(start_of(world)._replace(t=t), world, NOOP, NOOP).states.ended.sum(), chance)


def test_beginnings_are_drawn() -> None:
    world = odd()
    rules, batch = world.rules, reset(odd(), MANY, np.random.default_rng(0))
    cells = Counter(map(tuple, batch.states.cells.tolist()))
    assert set(cells) == set(permutations(rules.spawns, 3))
    assert all(close(count, 1 / len(cells)) for count in cells.values())
    assert all(close((batch.states.facings == facing).sum(), 1 / 4, 3 * MANY) for facing in range(4))
    for site, fixed in enumerate(rules.fixed):
        kinds = batch.states.kinds[:, site]
        assert (kinds == fixed).all() if fixed is not None else close(kinds.sum(), 1 / 2)
    first = unpack(batch, 0)
    assert first == start_of(world)._replace(cells=first.cells, facings=first.facings, kinds=first.kinds)
