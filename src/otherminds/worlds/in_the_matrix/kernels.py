"""The rules of matrix worlds compiled by Numba: one step in place on a row of arrays, and loops over all rows.

Names, short because every function has them: `s` are the states, `i` is the row at work, `p` a player, `m` the map and
its rules, `o` the outcome of chance. The shapes of their arrays are in `arrays`.
The old state is not kept, because what is needed of it can be told from the new one: a player that was free has a clock
below 0, and a resource that was taken or destroyed in this step was there. Importing this module needs Numba; `batch`
is the way in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.in_the_matrix import arrays
from otherminds.worlds.in_the_matrix.arrays import Int8, Int16, Int32, OutcomeArrays, RuleArrays, StateArrays
from otherminds.worlds.in_the_matrix.rules import BEAM_LENGTH, COOLDOWN, FREE, HEALTH, INTERACT, NOWHERE
from otherminds.worlds.in_the_matrix.world import FLOOR, FROZEN, PLAIN, PLAYER, READY, RESOURCE

F = TypeVar("F", bound=Callable[..., object])
NJIT: Callable[..., object] = numba.njit  # its published types leave out `_nrt`
NOBODY = -1  # no player on a cell; convention
HIT = -2  # clock of players that interact in this step, until its end; convention


def compiled(function: F) -> F:
    """Compile a function at its first call ever; it is compiled again after this file has changed.

    If only an imported constant has changed, remove `__pycache__`. The function cannot create arrays, because
    references are not counted: counting them would take ten times as long as all the rest (measured).
    """
    try:
        return cast("F", NJIT(function, _nrt=False, nogil=True, cache=True))
    except RuntimeError:  # there is no folder to keep the machine code in
        return cast("F", NJIT(function, _nrt=False, nogil=True))


def inlined(function: F) -> F:
    """The same, inlined into its callers: passing on so many arrays would be slow."""
    return cast("F", NJIT(function, _nrt=False, inline="always"))


@inlined
def advance(m: RuleArrays, s: StateArrays, i: int, acts: Int8, o: OutcomeArrays) -> None:
    """As `rules.advance`."""
    clear(s, i)
    s.t[i] += 1
    move(m, s, i, acts, o.movers)
    zap(m, s, i, acts, o.zappers)
    wind(m, s, i, o)
    regrow(m, s, i, o.regrown)
    s.ended[i] = o.ends[0]


@inlined
def clear(s: StateArrays, i: int) -> None:
    """Clear the rewards and events of the last step."""
    s.rewards[i] = 0.0
    s.met[i] = 0
    s.destroyed[i] = False


@compiled
def standing(cells: Int16, i: int, cell: int) -> int:
    """The player on a cell, or NOBODY."""
    for p in range(cells.shape[1]):
        if cells[i, p] == cell:
            return p
    return NOBODY


@inlined
def move(m: RuleArrays, s: StateArrays, i: int, acts: Int8, movers: Int8) -> None:
    """Carry out all moves in order. `m.leads` of a turn, a zap or a pause is the player's own cell."""
    for k in range(len(movers)):
        p = movers[k]
        if s.clocks[i, p] != FREE:
            continue
        facing, action = s.facings[i, p], acts[i, p]
        target = m.leads[s.cells[i, p], facing, action]
        s.facings[i, p] = (facing + m.turns[action]) & 3
        if standing(s.cells, i, target) == NOBODY:
            s.cells[i, p] = target
            site = m.site_at[target]
            if site >= 0 and s.since[i, site] == arrays.SHOWN:
                take(s, i, p, site)


@inlined
def take(s: StateArrays, i: int, p: int, site: int) -> None:
    """A player picks up the resource at a site; a beam can still hit it in this step."""
    s.inventories[i, p, s.kinds[i, site]] += 1
    s.since[i, site] = s.t[i]


@inlined
def zap(m: RuleArrays, s: StateArrays, i: int, acts: Int8, zappers: Int8) -> None:
    """Fire all beams in order. In `flags`, bit p is set once player p has hit or been hit in this step."""
    flags = 0
    for k in range(len(zappers)):
        p = zappers[k]
        if s.clocks[i, p] >= 0:
            continue
        if s.cooldowns[i, p] > 0:
            s.cooldowns[i, p] -= 1
        elif acts[i, p] == INTERACT:
            s.cooldowns[i, p] = COOLDOWN
            for line in range(m.beams.shape[2]):
                struck = beam(m, s, i, p, line)
                if struck != NOBODY:
                    flags = hit(m, s, i, p, struck, flags)


@inlined
def beam(m: RuleArrays, s: StateArrays, i: int, p: int, line: int) -> int:
    """The player that a line of a beam strikes, or NOBODY; resources on its way are damaged."""
    origin, facing = s.cells[i, p], s.facings[i, p]
    for n in range(BEAM_LENGTH):
        cell = m.beams[origin, facing, line, n]
        if cell == NOWHERE:
            return NOBODY
        site = m.site_at[cell]
        was_shown = site >= 0 and (s.since[i, site] == arrays.SHOWN or s.since[i, site] == s.t[i])
        stops = was_shown and not destroys(s, i, p, site)
        struck = standing(s.cells, i, cell)
        if stops or struck != NOBODY:
            return struck
    return NOBODY


@inlined
def destroys(s: StateArrays, i: int, p: int, site: int) -> bool:
    """Damage a resource; returns whether this hit destroys it. Its health is restored for when it regrows."""
    harm = (s.damage[i, site] + 1) % HEALTH
    s.damage[i, site] = harm
    if harm == 0:
        s.since[i, site] = s.t[i]
        s.destroyed[i, p, s.kinds[i, site]] = True
    return bool(harm == 0)


@inlined
def hit(m: RuleArrays, s: StateArrays, i: int, row: int, column: int, flags: int) -> int:
    """Player `row` zaps player `column`. Returns `flags`, the players that have hit or been hit, with both set."""
    if flags >> column & 1:
        return flags
    flags |= 1 << column
    if flags >> row & 1:
        return flags
    if s.clocks[i, column] < 0 and holds(s, i, row) and holds(s, i, column):
        meet(m, s, i, row, column)
    return flags | 1 << row


@inlined
def holds(s: StateArrays, i: int, p: int) -> bool:
    """Whether a player has gathered resources."""
    kinds, total = s.inventories.shape[2], 0
    for kind in range(kinds):
        total += s.inventories[i, p, kind]
    return bool(total > kinds)


@inlined
def meet(m: RuleArrays, s: StateArrays, i: int, row: int, column: int) -> None:
    """Two players interact: both are frozen, and the row player is reset if its reward is at least the other's."""
    for kind in range(s.inventories.shape[2]):
        s.met[i, row, 0, kind] = s.met[i, column, 1, kind] = s.inventories[i, row, kind]
        s.met[i, row, 1, kind] = s.met[i, column, 0, kind] = s.inventories[i, column, kind]
    s.due[i, row] = payoff(m.payoffs, 0, s.inventories, i, row, column)
    s.due[i, column] = payoff(m.payoffs, 1, s.inventories, i, row, column)
    s.clocks[i, row] = s.clocks[i, column] = HIT
    if s.due[i, row] >= s.due[i, column]:
        s.inventories[i, row] = 1


@compiled
def payoff(matrices: arrays.Float, which: int, inventories: Int32, i: int, row: int, column: int) -> float:
    """As `Rules.reward`, in the same order of sums."""
    kinds = inventories.shape[2]
    rows = columns = 0
    for kind in range(kinds):
        rows += inventories[i, row, kind]
        columns += inventories[i, column, kind]
    total = 0.0
    for b in range(kinds):
        share = 0.0
        for a in range(kinds):
            share += inventories[i, row, a] / rows * matrices[which, a, b]
        total += share * (inventories[i, column, b] / columns)
    return total


@inlined
def wind(m: RuleArrays, s: StateArrays, i: int, o: OutcomeArrays) -> None:
    """Advance the clocks: dead players return, frozen ones get their reward and die; restock if all are dead."""
    players = s.cells.shape[1]
    returning = dead = 0
    for p in range(players):
        dead += s.clocks[i, p] > m.frozen
    for p in range(players):
        if s.clocks[i, p] == m.respawn - 1:
            revive(s, i, p, o, returning)
            returning += 1
    for p in range(players):
        clock = s.clocks[i, p]
        if clock == m.frozen:
            s.cells[i, p] = NOWHERE
            s.inventories[i, p] = 1
            s.rewards[i, p] = s.due[i, p]
            s.due[i, p] = 0.0
        if clock != FREE:
            s.clocks[i, p] = 0 if clock == HIT else clock + 1
    if m.restock and dead == players:
        s.since[i] = arrays.SHOWN


@inlined
def revive(s: StateArrays, i: int, p: int, o: OutcomeArrays, k: int) -> None:
    """A dead player returns to the first free spot, or stays NOWHERE if none is free."""
    s.clocks[i, p] = FREE
    s.facings[i, p] = o.facings[k]
    for n in range(o.spots.shape[1]):
        spot = o.spots[k, n]
        if spot == NOWHERE or standing(s.cells, i, spot) == NOBODY:
            s.cells[i, p] = spot
            return


@inlined
def regrow(m: RuleArrays, s: StateArrays, i: int, regrown: Int16) -> None:
    """Refill sites; a player that stepped onto one in this step picks the resource up at once."""
    for k in range(len(regrown)):
        site = regrown[k]
        if site == arrays.NO_MORE:
            return
        s.since[i, site] = arrays.SHOWN
        p = standing(s.cells, i, m.sites[site])
        if p != NOBODY:
            take(s, i, p, site)


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # increment of SplitMix64 (Steele et al. 2014): 2⁶⁴ / golden ratio


@compiled
def reset(m: RuleArrays, s: StateArrays, o: OutcomeArrays, dice: arrays.UInt64) -> None:
    """Start an episode in every row. `dice` holds the key of this call, from which each row derives its own stream."""
    key = dice[0]
    for i in range(len(s.t)):
        dice[0] = mixed(key + np.uint64(i) * GOLDEN)
        begin(m, s, i, o, dice)


@compiled
def step(m: RuleArrays, s: StateArrays, acts: Int8, o: OutcomeArrays, dice: arrays.UInt64, restart: bool) -> None:
    """One step of every row with chance drawn. Where the episode has ended, restart it or do nothing."""
    key = dice[0]
    for i in range(len(s.t)):
        dice[0] = mixed(key + np.uint64(i) * GOLDEN)
        if not s.ended[i]:
            draw(m, s, i, o, dice)
            advance(m, s, i, acts, o)
        elif restart:
            begin(m, s, i, o, dice)
        else:
            clear(s, i)


@compiled
def uniform(dice: arrays.UInt64) -> float:
    """The next uniform number in [0, 1) (SplitMix64)."""
    dice[0] += GOLDEN
    return float(mixed(dice[0]) >> np.uint64(11)) * 2.0**-53


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64, a bijection of 64-bit integers."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inlined
def begin(m: RuleArrays, s: StateArrays, i: int, o: OutcomeArrays, dice: arrays.UInt64) -> None:
    """As `rules.opening`."""
    clear(s, i)
    s.t[i] = 0
    s.inventories[i] = 1
    s.cooldowns[i] = 0
    s.clocks[i] = FREE
    s.due[i] = 0.0
    s.since[i] = arrays.SHOWN
    s.damage[i] = 0
    s.ended[i] = False
    choose(o.spots[0], m.spawns, s.cells.shape[1], dice)
    for p in range(s.cells.shape[1]):
        s.cells[i, p] = o.spots[0, p]
        s.facings[i, p] = int(uniform(dice) * 4)
    for site in range(len(m.sites)):
        s.kinds[i, site] = m.fixed[site] if m.fixed[site] >= 0 else int(uniform(dice) * s.inventories.shape[2])


@inlined
def draw(m: RuleArrays, s: StateArrays, i: int, o: OutcomeArrays, dice: arrays.UInt64) -> None:
    """As `rules.chance`, into `o`; `dice` is the state of the random stream. Shuffles only as many spots as players."""
    shuffle(o.movers, uniform(dice))
    shuffle(o.zappers, uniform(dice))
    draw_regrowth(m, s, i, o, dice)
    returning = 0
    for p in range(s.cells.shape[1]):
        if s.clocks[i, p] == m.respawn - 1:
            choose(o.spots[returning], m.spawns, s.cells.shape[1], dice)
            o.facings[returning] = int(uniform(dice) * 4)
            returning += 1
    t = s.t[i] + 1
    can_end = t >= m.ends.after and (t + 1) % m.ends.every == 0
    o.ends[0] = t >= m.ends.limit or (can_end and uniform(dice) < m.ends.chance)


@compiled
def shuffle(order: Int8, u: float) -> None:
    """Draw a permutation from one uniform number, whose remainder after each choice is uniform again."""
    order[0] = 0
    for last in range(1, len(order)):
        u *= last + 1
        k = int(u)
        u -= k
        order[last] = order[k]
        order[k] = last


@compiled
def choose(shuffled: Int16, spawns: Int16, count: int, dice: arrays.UInt64) -> None:
    """Shuffle the spawn points so that the first `count` are a uniform draw."""
    for k in range(len(shuffled)):
        shuffled[k] = spawns[k]
    for k in range(min(count, len(shuffled))):
        drawn = k + int(uniform(dice) * (len(shuffled) - k))
        shuffled[k], shuffled[drawn] = shuffled[drawn], shuffled[k]


@inlined
def draw_regrowth(m: RuleArrays, s: StateArrays, i: int, o: OutcomeArrays, dice: arrays.UInt64) -> None:
    """List the sites that regrow, each with probability `rate` if emptied before the delay and unoccupied."""
    count = 0
    latest = s.t[i] - m.delay  # step by which a site must have been emptied
    for site in range(len(m.sites)):
        ripe = s.since[i, site] != arrays.SHOWN and s.since[i, site] <= latest
        if ripe and uniform(dice) < m.rate and standing(s.cells, i, m.sites[site]) == NOBODY:
            o.regrown[count] = site
            count += 1
    o.regrown[count] = arrays.NO_MORE


@compiled
def observe(m: RuleArrays, s: StateArrays, board: Int16, out: Int16) -> None:
    """All windows into `out`, shape (rows, players, *window); `board` is a copy of `m.ground` to draw on."""
    for i in range(len(s.t)):
        for site in range(len(m.sites)):
            shown = s.since[i, site] == arrays.SHOWN
            board[m.places[m.sites[site]]] = RESOURCE + s.kinds[i, site] if shown else FLOOR
        for p in range(s.cells.shape[1]):
            if s.cells[i, p] != NOWHERE:
                appearance = FROZEN if s.clocks[i, p] != FREE else READY if holds(s, i, p) else PLAIN
                board[m.places[s.cells[i, p]]] = PLAYER + 16 * p + 4 * s.facings[i, p] + appearance
        for p in range(s.cells.shape[1]):
            watch(m, s, i, p, board, out)
        for p in range(s.cells.shape[1]):
            if s.cells[i, p] != NOWHERE:
                board[m.places[s.cells[i, p]]] = FLOOR


@inlined
def watch(m: RuleArrays, s: StateArrays, i: int, p: int, board: Int16, out: Int16) -> None:
    """One player's window onto the board, in which facings are relative to the viewer."""
    if s.cells[i, p] == NOWHERE:
        out[i, p] = OUTSIDE
        return
    facing = s.facings[i, p]
    ahead, right = m.ahead[facing], m.ahead[(facing + 1) & 3]
    corner = m.places[s.cells[i, p]] + m.reach.forward * ahead - m.reach.left * right
    for r in range(out.shape[2]):
        place = corner - r * ahead
        for c in range(out.shape[3]):
            code = board[place]
            if code >= PLAYER:
                code = (code & ~12) | ((code - 4 * facing) & 12)
            out[i, p, r, c] = code
            place += right
