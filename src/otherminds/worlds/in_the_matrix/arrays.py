"""States, outcomes of chance and rules of a matrix world as arrays, on which the compiled rules work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.avatars import ACTIONS, OUTSIDE, TURNS, Reach
from otherminds.worlds.in_the_matrix.rules import BEAM_LENGTH, NOWHERE, Ends, Rules
from otherminds.worlds.in_the_matrix.world import FLOOR, WALL

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
UInt64 = NDArray[np.uint64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
SHOWN = -1  # in `since`: the resource is there; convention
NO_MORE = -1  # ends the list of regrown sites; convention


class StateArrays(NamedTuple):
    """A `MatrixState` in each row; further axes are players, sites of resources and kinds of resources.

    `since` is the step at which a site was emptied, SHOWN if its resource is there. `met` has the player's own and the
    partner's inventory, all 0 without an interaction. `destroyed` says whether a player destroyed one of each kind.
    """

    t: Int32
    cells: Int16
    facings: Int8
    inventories: Int32
    cooldowns: Int8
    clocks: Int32
    due: Float
    kinds: Int8
    since: Int32
    damage: Int8
    rewards: Float
    met: Int32
    destroyed: Bool
    ended: Bool


class OutcomeArrays(NamedTuple):
    """A `MatrixOutcome`. `regrown` ends with NO_MORE; `spots` and `facings` are by returning player; `ends` has one."""

    movers: Int8
    zappers: Int8
    regrown: Int16
    spots: Int16
    facings: Int8
    ends: Bool


class RuleArrays(NamedTuple):
    """The rules as arrays, by cell and facing where they depend on them.

    Shapes: `leads` cells × 4 facings × actions; `beams` cells × 4 facings × 3 lines × BEAM_LENGTH, filled up with
    NOWHERE; `turns` by action; `site_at` by cell; `sites` and `fixed` by site; `payoffs` 2 players × kinds × kinds.
    `ground` is the map with a margin as wide as players can see, `places` are the indices of cells in it, and `ahead`
    is what a step north, east, south or west adds to such an index.
    """

    leads: Int16
    turns: Int8
    beams: Int16
    site_at: Int16
    sites: Int16
    fixed: Int8
    spawns: Int16
    payoffs: Float
    delay: int
    rate: float
    frozen: int
    respawn: int
    restock: bool
    ends: Ends
    ground: Int16
    places: Int32
    ahead: Int32
    reach: Reach


def rule_arrays(rules: Rules) -> RuleArrays:
    """The rules as arrays."""
    grid, reach = rules.field.grid, rules.field.reach
    margin = max(reach)
    ground = np.full((grid.height + 2 * margin, grid.width + 2 * margin), OUTSIDE, dtype=np.int16)
    ground[margin : margin + grid.height, margin : margin + grid.width] = WALL
    stride = ground.shape[1]
    places = np.zeros(grid.size, dtype=np.int32)
    for cell in grid.cells():
        x, y = grid.xy(cell)
        places[cell] = (y + margin) * stride + x + margin
        ground[y + margin, x + margin] = FLOOR
    beam_lines = [[*line, *[NOWHERE] * (BEAM_LENGTH - len(line))] for beam in rules.beams for line in beam]
    return RuleArrays(
        leads=np.array(rules.leads, dtype=np.int16).reshape(grid.size, 4, len(ACTIONS)),
        turns=np.array([TURNS.get(action, 0) for action in ACTIONS], dtype=np.int8),
        beams=np.array(beam_lines, dtype=np.int16).reshape(grid.size, 4, -1, BEAM_LENGTH),
        site_at=np.array(rules.site_at, dtype=np.int16),
        sites=np.array(rules.sites, dtype=np.int16),
        fixed=np.array([-1 if kind is None else kind for kind in rules.fixed], dtype=np.int8),
        spawns=np.array(rules.spawns, dtype=np.int16),
        payoffs=np.array(rules.payoffs, dtype=np.float64),
        delay=rules.delay,
        rate=float(rules.rate),
        frozen=rules.frozen,
        respawn=rules.respawn,
        restock=rules.restock,
        ends=rules.ends._replace(chance=float(rules.ends.chance)),
        ground=ground.ravel(),
        places=places,
        ahead=np.array([-stride, 1, stride, -1], dtype=np.int32),
        reach=reach,
    )


def blank_states(rules: Rules, n: int) -> StateArrays:
    """Arrays for n states."""
    by_player, kinds, by_site = (n, rules.players), len(rules.resources), (n, len(rules.sites))
    return StateArrays(
        t=np.zeros(n, dtype=np.int32),
        cells=np.zeros(by_player, dtype=np.int16),
        facings=np.zeros(by_player, dtype=np.int8),
        inventories=np.zeros((*by_player, kinds), dtype=np.int32),
        cooldowns=np.zeros(by_player, dtype=np.int8),
        clocks=np.zeros(by_player, dtype=np.int32),
        due=np.zeros(by_player),
        kinds=np.zeros(by_site, dtype=np.int8),
        since=np.full(by_site, SHOWN, dtype=np.int32),
        damage=np.zeros(by_site, dtype=np.int8),
        rewards=np.zeros(by_player),
        met=np.zeros((*by_player, 2, kinds), dtype=np.int32),
        destroyed=np.zeros((*by_player, kinds), dtype=np.bool_),
        ended=np.zeros(n, dtype=np.bool_),
    )


def blank_outcome(rules: Rules) -> OutcomeArrays:
    """Arrays for an outcome: players in order, no regrowth, no returns, no end."""
    order = np.arange(rules.players, dtype=np.int8)
    spots = np.tile(np.array(rules.spawns, dtype=np.int16), (rules.players, 1))
    regrown = np.full(len(rules.sites) + 1, NO_MORE, dtype=np.int16)
    return OutcomeArrays(order, order.copy(), regrown, spots, np.zeros_like(order), np.zeros(1, dtype=np.bool_))
