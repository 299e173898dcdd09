"""Many environments of a matrix world at once: the rules of `InTheMatrix`, compiled, some hundred times faster.

    batch = reset(in_the_matrix("rws_arena"), 1024, rng)
    windows = observe(batch)                        # (environments, players, rows, columns)
    step(batch, actions, rng, restart=True)         # actions: (environments, players)
    batch.states.rewards                            # (environments, players)

Needs Numba: `pip install "otherminds[fast]"`. The first call of a function compiles it, which takes some seconds. All
work is done on the calling thread without the GIL, so each thread can work on a batch of its own. What happens in an
environment follows from the generator, the environment's number and its own past, whatever else is in the batch.
`vector_env` wraps a batch in Gymnasium's vector interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS, OUTSIDE, TURNS
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.rules import BEAM_LENGTH, FREE, NOWHERE, MatrixOutcome, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import FLOOR, WALL, InTheMatrix

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
UInt64 = NDArray[np.uint64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Actions = NDArray[np.integer]
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
    """A `MatrixOutcome` in each row. `regrown` ends with NO_MORE; `spots` and `facings` are by returning player."""

    movers: Int8
    zappers: Int8
    regrown: Int16
    spots: Int16
    facings: Int8
    ends: Bool


class RuleArrays(NamedTuple):
    """The rules as arrays, by cell and facing where they depend on them.

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
    after: int
    every: int
    chance: float
    limit: int
    ground: Int16
    places: Int32
    ahead: Int32
    left: int
    forward: int


def rule_arrays(rules: Rules) -> RuleArrays:
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
    return RuleArrays(
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


def blank_states(rules: Rules, n: int) -> StateArrays:
    """Arrays for n states."""
    players, kinds, sites = (n, rules.players), len(rules.resources), (n, len(rules.sites))
    return StateArrays(
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


def blank_outcomes(rules: Rules, n: int) -> OutcomeArrays:
    """Arrays for n outcomes: players in order, no regrowth, no returns, no end."""
    order = np.tile(np.arange(rules.players, dtype=np.int8), (n, 1))
    spots = np.tile(np.array(rules.spawns, dtype=np.int16), (n, rules.players, 1))
    regrown = np.full((n, len(rules.sites) + 1), NO_MORE, dtype=np.int16)
    return OutcomeArrays(order, order.copy(), regrown, spots, np.zeros_like(order), np.zeros(n, dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Batch:
    """Environments of one world. `states` has a row for each, which `step` changes in place."""

    world: InTheMatrix
    states: StateArrays
    rule_arrays: RuleArrays

    def __len__(self) -> int:
        return len(self.states.t)


def pack(world: InTheMatrix, states: Sequence[MatrixState]) -> Batch:
    """Environments in the given states. Raises InputError for a state that does not fit the world."""
    batch = _blank(world, len(states))
    rows = batch.states
    for i, state in enumerate(states):
        if not _fits(world.rules, state):
            raise InputError(f"state {i} does not fit this world")
        rows.t[i], rows.ended[i] = state.t, state.ended
        rows.cells[i], rows.facings[i], rows.inventories[i] = state.cells, state.facings, state.inventories
        rows.cooldowns[i], rows.clocks[i], rows.due[i] = state.cooldowns, state.clocks, state.due
        rows.kinds[i], rows.damage[i], rows.rewards[i] = state.kinds, state.damage, state.rewards
        for site, since in state.away:
            rows.since[i, site] = since
        for player, meeting in enumerate(state.met):
            if meeting is not None:
                rows.met[i, player] = meeting
        for player, kinds in enumerate(state.destroyed):
            rows.destroyed[i, player, list(kinds)] = True
    return batch


def unpack(batch: Batch, i: int) -> MatrixState:
    """The state of environment i.

    Sites that were emptied in the same step are listed in `away` by number; no later event depends on their order.
    """
    states = batch.states
    since, meetings = states.since[i].tolist(), states.met[i].tolist()
    return MatrixState(
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
        met=tuple((tuple(own), tuple(partner)) if any(own) else None for own, partner in meetings),
        destroyed=tuple(tuple(np.flatnonzero(kinds).tolist()) for kinds in states.destroyed[i]),
        ended=bool(states.ended[i]),
    )


def reset(world: InTheMatrix, n: int, rng: np.random.Generator) -> Batch:
    """Draw s₀ of n environments. Raises InputError without Numba, as do `step`, `step_with` and `observe`."""
    kernels, batch = _kernels(), _blank(world, n)
    kernels.reset(batch.rule_arrays, batch.states, blank_outcomes(world.rules, 1), _dice(rng))
    return batch


def step(batch: Batch, actions: Actions, rng: np.random.Generator, *, restart: bool = False) -> None:
    """Draw s′ of every environment in place. `actions` are indices into ACTIONS, of shape (environments, players).

    An ended episode stays as it is without rewards; with `restart`, this step starts the next episode instead and
    ignores the actions. Raises InputError for anything that is not an action.
    """
    chance = blank_outcomes(batch.world.rules, 1)
    _kernels().step(batch.rule_arrays, batch.states, _codes(batch, actions), chance, _dice(rng), restart)


def step_with(batch: Batch, actions: Actions, outcomes: Sequence[MatrixOutcome]) -> None:
    """s′ of every environment, ended or not, in place, for given outcomes of chance, one each.

    Raises ValueError for an impossible outcome, InputError for anything that is not an action; then nothing changes.
    """
    if len(outcomes) != len(batch):
        raise InputError(f"{len(outcomes)} outcomes for {len(batch)} environments")
    codes, rows = _codes(batch, actions), blank_outcomes(batch.world.rules, len(batch))
    for i, outcome in enumerate(outcomes):
        matrix_rules.check(batch.world.rules, unpack(batch, i), outcome)
        rows.movers[i], rows.zappers[i], rows.ends[i] = outcome.movers, outcome.zappers, outcome.ends
        rows.regrown[i, : len(outcome.regrown)] = outcome.regrown
        for k, (spots, facing) in enumerate(outcome.respawns):
            rows.spots[i, k], rows.facings[i, k] = NOWHERE, facing
            rows.spots[i, k, : len(spots)] = spots
    arrays: tuple[NDArray[Any], ...] = batch.states
    before = [array.copy() for array in arrays]
    _kernels().step_with(batch.rule_arrays, batch.states, codes, rows)
    if ((batch.states.cells == NOWHERE) & (batch.states.clocks == FREE)).any():
        for array, old in zip(arrays, before, strict=True):
            np.copyto(array, old)
        raise ValueError("a player stands where another is to return")


def observe(batch: Batch, out: Int16 | None = None) -> Int16:
    """All windows: (environments, players, rows, columns) with the codes of `MatrixView.window`.

    Dead players see OUTSIDE everywhere. The result is written to `out` if given. Raises InputError if that does not
    fit, and for a world with players that see the whole map.
    """
    rules = batch.world.rules
    shape = (len(batch), rules.players, *rules.field.shape)
    if batch.world.all_seeing:
        raise InputError("a batch shows windows only", hint="make the world without `all_seeing`")
    out = np.empty(shape, dtype=np.int16) if out is None else out
    if out.shape != shape or out.dtype != np.int16 or not out.flags.c_contiguous:
        raise InputError(f"`out` is not a contiguous array of shape {shape} and type int16")
    _kernels().observe(batch.rule_arrays, batch.states, batch.rule_arrays.ground.copy(), out)
    return out


def _kernels() -> ModuleType:
    try:
        from otherminds.worlds.in_the_matrix import kernels
    except ImportError as error:
        message = f"many environments at once need Numba: {error}"
        raise InputError(message, hint='pip install "otherminds[fast]"') from None
    return kernels


def _blank(world: InTheMatrix, n: int) -> Batch:
    return Batch(world, blank_states(world.rules, n), rule_arrays(world.rules))


def _dice(rng: np.random.Generator) -> UInt64:
    """The key from which the compiled code derives all random numbers of one call."""
    return rng.integers(2**64, size=1, dtype=np.uint64)


def _codes(batch: Batch, actions: Actions) -> Int8:
    shape = (len(batch), batch.world.rules.players)
    if actions.shape != shape or not np.issubdtype(actions.dtype, np.integer):
        raise InputError(f"the actions are not an array of integers of shape {shape}")
    if actions.size and not 0 <= actions.min() <= actions.max() < len(ACTIONS):
        raise InputError(f"an action is not from 0 to {len(ACTIONS) - 1}")
    return np.ascontiguousarray(actions, dtype=np.int8)


def _fits(rules: Rules, state: MatrixState) -> bool:
    """Whether a state has the shapes and ranges of this world, which compiled code does not check."""
    counts = {len(state.cells), len(state.facings), len(state.inventories), len(state.clocks)}
    return (
        counts == {rules.players}
        and len(state.kinds) == len(state.damage) == len(rules.sites)
        and {len(inventory) for inventory in state.inventories} == {len(rules.resources)}
        and set(state.kinds) <= set(range(len(rules.resources)))
        and set(state.facings) <= set(range(4))
        and all(cell == NOWHERE or rules.field.grid.is_floor(cell) for cell in state.cells)
    )
