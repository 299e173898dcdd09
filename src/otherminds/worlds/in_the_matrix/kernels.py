"""What is done to every row of a batch, compiled: begin, step, observe; and what chance decides.

The names are those of `matrix_kernel_step`. Importing this needs Numba; `matrix_batch` is the way in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from otherminds.worlds.avatars import OUTSIDE
from otherminds.worlds.in_the_matrix.arrays import NO_MORE, SHOWN
from otherminds.worlds.in_the_matrix.kernel_step import NOBODY, advance, clear, compiled, holds, inlined, standing
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE
from otherminds.worlds.in_the_matrix.world import FLOOR, FROZEN, PLAIN, PLAYER, READY, RESOURCE

if TYPE_CHECKING:
    from otherminds.worlds.in_the_matrix.arrays import Int8, Int16, Layout, Outcomes, States, UInt64

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def reset(m: Layout, s: States, o: Outcomes, dice: UInt64) -> None:
    """Begin an episode in every row. `dice` holds the key of this call, by which each row has its own stream."""
    key = dice[0]
    for i in range(len(s.t)):
        dice[0] = mixed(key + np.uint64(i) * GOLDEN)
        begin(m, s, i, o, dice)


@compiled
def step(m: Layout, s: States, acts: Int8, o: Outcomes, dice: UInt64, restart: bool) -> None:
    """One step of every row, chance drawn; where the episode has ended it begins anew, or nothing happens."""
    key = dice[0]
    for i in range(len(s.t)):
        dice[0] = mixed(key + np.uint64(i) * GOLDEN)
        if not s.ended[i]:
            draw(m, s, i, o, dice)
            advance(m, s, i, acts, o, 0)
        elif restart:
            begin(m, s, i, o, dice)
        else:
            clear(s, i)


@compiled
def step_with(m: Layout, s: States, acts: Int8, o: Outcomes) -> None:
    """One step of every row, ended or not, with the outcome of the same row."""
    for i in range(len(s.t)):
        advance(m, s, i, acts, o, i)


@compiled
def uniform(dice: UInt64) -> float:
    """The next of a stream of numbers from 0 up to 1 (SplitMix64)."""
    dice[0] += GOLDEN
    return float(mixed(dice[0]) >> np.uint64(11)) * 2.0**-53


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """Bits that look random, different for every argument."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inlined
def begin(m: Layout, s: States, i: int, o: Outcomes, dice: UInt64) -> None:
    """As `matrix_step.opening`."""
    clear(s, i)
    s.t[i] = 0
    s.inventories[i] = 1
    s.cooldowns[i] = 0
    s.clocks[i] = FREE
    s.due[i] = 0.0
    s.since[i] = SHOWN
    s.damage[i] = 0
    s.ended[i] = False
    choose(o.spots[0, 0], m.spawns, s.cells.shape[1], dice)
    for p in range(s.cells.shape[1]):
        s.cells[i, p] = o.spots[0, 0, p]
        s.facings[i, p] = int(uniform(dice) * 4)
    for site in range(len(m.sites)):
        s.kinds[i, site] = m.fixed[site] if m.fixed[site] >= 0 else int(uniform(dice) * s.inventories.shape[2])


@inlined
def draw(m: Layout, s: States, i: int, o: Outcomes, dice: UInt64) -> None:
    """As `matrix_step.chance`, into row 0 of the outcomes; of spots, as many as there are players are enough."""
    shuffle(o.movers, uniform(dice))
    shuffle(o.zappers, uniform(dice))
    draw_regrowth(m, s, i, o, dice)
    returning = 0
    for p in range(s.cells.shape[1]):
        if s.clocks[i, p] == m.respawn - 1:
            choose(o.spots[0, returning], m.spawns, s.cells.shape[1], dice)
            o.facings[0, returning] = int(uniform(dice) * 4)
            returning += 1
    t = s.t[i] + 1
    may = t >= m.after and (t + 1) % m.every == 0
    o.ends[0] = t >= m.limit or (may and uniform(dice) < m.chance)


@compiled
def shuffle(order: Int8, u: float) -> None:
    """Draw row 0; what is left of u after a choice among n, stretched to the unit interval, is uniform again."""
    order[0, 0] = 0
    for last in range(1, order.shape[1]):
        u *= last + 1
        k = int(u)
        u -= k
        order[0, last] = order[0, k]
        order[0, k] = last


@compiled
def choose(chosen: Int16, spawns: Int16, count: int, dice: UInt64) -> None:
    """Shuffle the spawn points so that the first `count` are a uniformly random choice."""
    for k in range(len(chosen)):
        chosen[k] = spawns[k]
    for k in range(min(count, len(chosen))):
        other = k + int(uniform(dice) * (len(chosen) - k))
        chosen[k], chosen[other] = chosen[other], chosen[k]


@inlined
def draw_regrowth(m: Layout, s: States, i: int, o: Outcomes, dice: UInt64) -> None:
    """List the sites that regrow: each with probability `rate` if away for longer than the delay and free."""
    found, last = 0, s.t[i] - m.delay
    for site in range(len(m.sites)):
        ripe = s.since[i, site] != SHOWN and s.since[i, site] <= last
        if ripe and uniform(dice) < m.rate and standing(s.cells, i, m.sites[site]) == NOBODY:
            o.regrown[0, found] = site
            found += 1
    o.regrown[0, found] = NO_MORE


@compiled
def observe(m: Layout, s: States, board: Int16, out: Int16) -> None:
    """The windows of everybody in every row; `board` is a copy of the ground to draw on."""
    for i in range(len(s.t)):
        for site in range(len(m.sites)):
            shown = s.since[i, site] == SHOWN
            board[m.places[m.sites[site]]] = RESOURCE + s.kinds[i, site] if shown else FLOOR
        for p in range(s.cells.shape[1]):
            if s.cells[i, p] != NOWHERE:
                board[m.places[s.cells[i, p]]] = PLAYER + 16 * p + 4 * s.facings[i, p] + look(s, i, p)
        for p in range(s.cells.shape[1]):
            watch(m, s, i, p, board, out)
        for p in range(s.cells.shape[1]):
            if s.cells[i, p] != NOWHERE:
                board[m.places[s.cells[i, p]]] = FLOOR


@inlined
def look(s: States, i: int, p: int) -> int:
    """How a player looks to others."""
    if s.clocks[i, p] != FREE:
        return FROZEN
    return READY if holds(s, i, p) else PLAIN


@inlined
def watch(m: Layout, s: States, i: int, p: int, board: Int16, out: Int16) -> None:
    """What one player sees of the board; the ways that players face turn with the beholder."""
    if s.cells[i, p] == NOWHERE:
        out[i, p] = OUTSIDE
        return
    facing = s.facings[i, p]
    ahead, right = m.ahead[facing], m.ahead[(facing + 1) & 3]
    corner = m.places[s.cells[i, p]] + m.forward * ahead - m.left * right
    for r in range(out.shape[2]):
        place = corner - r * ahead
        for c in range(out.shape[3]):
            code = board[place]
            if code >= PLAYER:
                code = (code & ~12) | ((code - 4 * facing) & 12)
            out[i, p, r, c] = code
            place += right
