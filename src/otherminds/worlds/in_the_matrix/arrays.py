"""Many states of a matrix world as arrays, a row each, and its rules as arrays: what compiled code works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.avatars import ACTIONS, OUTSIDE, TURNS
from otherminds.worlds.in_the_matrix.rules import BEAM_LENGTH, NOWHERE, Meeting, Outcome, Rules, State
from otherminds.worlds.in_the_matrix.world import FLOOR, WALL

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
UInt64 = NDArray[np.uint64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
SHOWN = -1
NO_MORE = -1


class States(NamedTuple):
    """A `State` in each row: by player, by site of a resource, and by kind of resource.

    `since` is the step since which a site has been away, SHOWN if it is not. `met` has what oneself and the
    partner held, all 0 without a meeting. `destroyed` says for every kind whether one was.
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


class Outcomes(NamedTuple):
    """An `Outcome` in each row. `regrown` lists sites up to NO_MORE, `spots` and `facings` those who return."""

    movers: Int8
    zappers: Int8
    regrown: Int16
    spots: Int16
    facings: Int8
    ends: Bool


class Layout(NamedTuple):
    """The rules, with tables by cell and facing. `ground` is the map with a margin as wide as anybody can see.

    `places` are the cells in `ground`, `ahead` what a step north, east, south or west adds there.
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
    after: int
    every: int
    chance: float
    limit: int
    ground: Int16
    places: Int32
    ahead: Int32
    left: int
    forward: int


def layout(rules: Rules) -> Layout:
    """The rules as arrays."""
    grid, reach, ends = rules.field.grid, rules.field.reach, rules.ends
    margin = max(reach)
    ground = np.full((grid.height + 2 * margin, grid.width + 2 * margin), OUTSIDE, dtype=np.int16)
    ground[margin : margin + grid.height, margin : margin + grid.width] = WALL
    stride, places = ground.shape[1], np.zeros(grid.size, dtype=np.int32)
    for cell in grid.cells():
        x, y = grid.xy(cell)
        places[cell] = (y + margin) * stride + x + margin
        ground[y + margin, x + margin] = FLOOR
    lines = [[*line, *[NOWHERE] * (BEAM_LENGTH - len(line))] for beam in rules.beams for line in beam]
    return Layout(
        leads=np.array(rules.leads, dtype=np.int16).reshape(grid.size, 4, len(ACTIONS)),
        turns=np.array([TURNS.get(action, 0) for action in ACTIONS], dtype=np.int8),
        beams=np.array(lines, dtype=np.int16).reshape(grid.size, 4, -1, BEAM_LENGTH),
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
        after=ends.after,
        every=ends.every,
        chance=float(ends.chance),
        limit=ends.limit,
        ground=ground.ravel(),
        places=places,
        ahead=np.array([-stride, 1, stride, -1], dtype=np.int32),
        left=reach.left,
        forward=reach.forward,
    )


def blank_states(rules: Rules, n: int) -> States:
    """Room for n states."""
    players, kinds, sites = (n, rules.players), len(rules.resources), (n, len(rules.sites))
    return States(
        t=np.zeros(n, dtype=np.int32),
        cells=np.zeros(players, dtype=np.int16),
        facings=np.zeros(players, dtype=np.int8),
        inventories=np.zeros((*players, kinds), dtype=np.int32),
        cooldowns=np.zeros(players, dtype=np.int8),
        clocks=np.zeros(players, dtype=np.int32),
        due=np.zeros(players),
        kinds=np.zeros(sites, dtype=np.int8),
        since=np.full(sites, SHOWN, dtype=np.int32),
        damage=np.zeros(sites, dtype=np.int8),
        rewards=np.zeros(players),
        met=np.zeros((*players, 2, kinds), dtype=np.int32),
        destroyed=np.zeros((*players, kinds), dtype=np.bool_),
        ended=np.zeros(n, dtype=np.bool_),
    )


def blank_outcomes(rules: Rules, n: int) -> Outcomes:
    """Room for n outcomes: players in order, nothing regrows, nobody returns, no end."""
    order = np.tile(np.arange(rules.players, dtype=np.int8), (n, 1))
    spots = np.tile(np.array(rules.spawns, dtype=np.int16), (n, rules.players, 1))
    regrown = np.full((n, len(rules.sites) + 1), NO_MORE, dtype=np.int16)
    return Outcomes(order, order.copy(), regrown, spots, np.zeros_like(order), np.zeros(n, dtype=np.bool_))


def put_state(states: States, i: int, state: State) -> None:
    """Write a state into row i, blank so far."""
    states.t[i], states.ended[i] = state.t, state.ended
    states.cells[i], states.facings[i], states.inventories[i] = state.cells, state.facings, state.inventories
    states.cooldowns[i], states.clocks[i], states.due[i] = state.cooldowns, state.clocks, state.due
    states.kinds[i], states.damage[i], states.rewards[i] = state.kinds, state.damage, state.rewards
    for site, since in state.away:
        states.since[i, site] = since
    for player, meeting in enumerate(state.met):
        if meeting is not None:
            states.met[i, player] = meeting
    for player, kinds in enumerate(state.destroyed):
        states.destroyed[i, player, list(kinds)] = True


def get_state(states: States, i: int) -> State:
    """The state in row i; what went away in the same step is in the order of the sites."""
    since = states.since[i].tolist()
    return State(
        t=int(states.t[i]),
        cells=tuple(states.cells[i].tolist()),
        facings=tuple(states.facings[i].tolist()),
        inventories=tuple(map(tuple, states.inventories[i].tolist())),
        cooldowns=tuple(states.cooldowns[i].tolist()),
        clocks=tuple(states.clocks[i].tolist()),
        due=tuple(states.due[i].tolist()),
        kinds=tuple(states.kinds[i].tolist()),
        shown=sum(1 << site for site, t in enumerate(since) if t == SHOWN),
        away=tuple(sorted(((site, t) for site, t in enumerate(since) if t != SHOWN), key=lambda gone: gone[1])),
        damage=tuple(states.damage[i].tolist()),
        rewards=tuple(states.rewards[i].tolist()),
        met=tuple(_meeting(both) for both in states.met[i].tolist()),
        destroyed=tuple(tuple(np.flatnonzero(kinds).tolist()) for kinds in states.destroyed[i]),
        ended=bool(states.ended[i]),
    )


def _meeting(both: Sequence[Sequence[int]]) -> Meeting | None:
    own, partner = both
    return (tuple(own), tuple(partner)) if any(own) else None


def put_outcome(outcomes: Outcomes, i: int, outcome: Outcome) -> None:
    """Write an outcome into row i, blank so far."""
    outcomes.movers[i], outcomes.zappers[i], outcomes.ends[i] = outcome.movers, outcome.zappers, outcome.ends
    outcomes.regrown[i, : len(outcome.regrown)] = outcome.regrown
    for k, (spots, facing) in enumerate(outcome.respawns):
        outcomes.spots[i, k], outcomes.facings[i, k] = NOWHERE, facing
        outcomes.spots[i, k, : len(spots)] = spots
