"""One step of a matrix world compiled: what `matrix_step.advance` makes of a state, done in place to a row of arrays.

`s` are the states, `i` the row at work, `m` the map and its rules, `o` the outcomes of chance, `j` the row of these.
What is still asked of the old state can be told from the new one: who was free has a clock below 0, and a resource
that went in this very step was there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

import numba

from otherminds.worlds.in_the_matrix.arrays import NO_MORE, SHOWN
from otherminds.worlds.in_the_matrix.rules import BEAM_LENGTH, COOLDOWN, FREE, HEALTH, NOWHERE
from otherminds.worlds.in_the_matrix.step import INTERACT

if TYPE_CHECKING:
    from otherminds.worlds.in_the_matrix.arrays import Float, Int8, Int16, Int32, Layout, Outcomes, States

F = TypeVar("F", bound=Callable[..., object])
NJIT: Callable[..., object] = numba.njit  # its published types leave out `_nrt`
NOBODY = -1
HIT = -2  # the clock of those who meet, until the end of the step


def compiled(function: F) -> F:
    """The function, compiled when it is first called. It can make no arrays: references are not counted.

    Counting them takes ten times longer than all the rest.
    """
    return cast("F", NJIT(function, _nrt=False, nogil=True))


def inlined(function: F) -> F:
    """The same for a part of others that takes all the arrays: these are too many to hand on."""
    return cast("F", NJIT(function, _nrt=False, inline="always"))


@inlined
def advance(m: Layout, s: States, i: int, acts: Int8, o: Outcomes, j: int) -> None:
    """As `matrix_step.advance`."""
    clear(s, i)
    s.t[i] += 1
    move(m, s, i, acts, o.movers, j)
    zap(m, s, i, acts, o.zappers, j)
    wind(m, s, i, o, j)
    regrow(m, s, i, o.regrown, j)
    s.ended[i] = o.ends[j]


@inlined
def clear(s: States, i: int) -> None:
    """Forget what came of the last step."""
    s.rewards[i] = 0.0
    s.met[i] = 0
    s.destroyed[i] = False


@compiled
def standing(cells: Int16, i: int, cell: int) -> int:
    """Who stands on a cell, or NOBODY."""
    for p in range(cells.shape[1]):
        if cells[i, p] == cell:
            return p
    return NOBODY


@inlined
def move(m: Layout, s: States, i: int, acts: Int8, movers: Int8, j: int) -> None:
    """All moves, one after the other; who turns, waits or zaps is led to where they stand already."""
    for k in range(movers.shape[1]):
        p = movers[j, k]
        if s.clocks[i, p] != FREE:
            continue
        facing, action = s.facings[i, p], acts[i, p]
        target = m.leads[s.cells[i, p], facing, action]
        s.facings[i, p] = (facing + m.turns[action]) & 3
        if standing(s.cells, i, target) == NOBODY:
            s.cells[i, p] = target
            site = m.site_at[target]
            if site >= 0 and s.since[i, site] == SHOWN:
                take(s, i, p, site)


@inlined
def take(s: States, i: int, p: int, site: int) -> None:
    """A player picks up what is at a site; it can still be hit in this step."""
    s.inventories[i, p, s.kinds[i, site]] += 1
    s.since[i, site] = s.t[i]


@inlined
def zap(m: Layout, s: States, i: int, acts: Int8, zappers: Int8, j: int) -> None:
    """All beams, one after the other."""
    flagged = 0
    for k in range(zappers.shape[1]):
        p = zappers[j, k]
        if s.clocks[i, p] >= 0:
            continue
        if s.cooldowns[i, p] > 0:
            s.cooldowns[i, p] -= 1
        elif acts[i, p] == INTERACT:
            s.cooldowns[i, p] = COOLDOWN
            for line in range(m.beams.shape[2]):
                struck = beam(m, s, i, p, line)
                if struck != NOBODY:
                    flagged = hit(m, s, i, p, struck, flagged)


@inlined
def beam(m: Layout, s: States, i: int, p: int, line: int) -> int:
    """Whom a line of a beam strikes, or NOBODY; it wears resources on its way."""
    at, facing = s.cells[i, p], s.facings[i, p]
    for n in range(BEAM_LENGTH):
        cell = m.beams[at, facing, line, n]
        if cell == NOWHERE:
            return NOBODY
        site = m.site_at[cell]
        was_shown = site >= 0 and (s.since[i, site] == SHOWN or s.since[i, site] == s.t[i])
        stops = was_shown and not destroys(s, i, p, site)
        struck = standing(s.cells, i, cell)
        if stops or struck != NOBODY:
            return struck
    return NOBODY


@inlined
def destroys(s: States, i: int, p: int, site: int) -> bool:
    """Whether this hit is the last that a resource can take; then it is whole again, but away."""
    harm = (s.damage[i, site] + 1) % HEALTH
    s.damage[i, site] = harm
    if harm == 0:
        s.since[i, site] = s.t[i]
        s.destroyed[i, p, s.kinds[i, site]] = True
    return bool(harm == 0)


@inlined
def hit(m: Layout, s: States, i: int, row: int, column: int, flagged: int) -> int:
    """A player zaps another; the bits of those who have hit or been hit in this step, with theirs."""
    if flagged >> column & 1:
        return flagged
    flagged |= 1 << column
    if flagged >> row & 1:
        return flagged
    if s.clocks[i, column] < 0 and holds(s, i, row) and holds(s, i, column):
        meet(m, s, i, row, column)
    return flagged | 1 << row


@inlined
def holds(s: States, i: int, p: int) -> bool:
    """Whether a player has picked up anything."""
    kinds, held = s.inventories.shape[2], 0
    for kind in range(kinds):
        held += s.inventories[i, p, kind]
    return bool(held > kinds)


@inlined
def meet(m: Layout, s: States, i: int, row: int, column: int) -> None:
    """Two play the game: both are frozen from now on, and the row player is reset if they do at least as well."""
    for kind in range(s.inventories.shape[2]):
        s.met[i, row, 0, kind] = s.met[i, column, 1, kind] = s.inventories[i, row, kind]
        s.met[i, row, 1, kind] = s.met[i, column, 0, kind] = s.inventories[i, column, kind]
    s.due[i, row] = payoff(m.payoffs, 0, s.inventories, i, row, column)
    s.due[i, column] = payoff(m.payoffs, 1, s.inventories, i, row, column)
    s.clocks[i, row] = s.clocks[i, column] = HIT
    if s.due[i, row] >= s.due[i, column]:
        s.inventories[i, row] = 1


@compiled
def payoff(matrices: Float, which: int, inventories: Int32, i: int, row: int, column: int) -> float:
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
def wind(m: Layout, s: States, i: int, o: Outcomes, j: int) -> None:
    """Move the clocks: the dead return, the frozen get what is due and die; all dead, everything is back."""
    players, returning, dead = s.cells.shape[1], 0, 0
    for p in range(players):
        dead += s.clocks[i, p] > m.frozen
    for p in range(players):
        if s.clocks[i, p] == m.respawn - 1:
            revive(s, i, p, o, j, returning)
            returning += 1
    for p in range(players):
        clock = s.clocks[i, p]
        if clock == m.frozen:
            die(s, i, p)
        if clock != FREE:
            s.clocks[i, p] = 0 if clock == HIT else clock + 1
    if m.restock and dead == players:
        s.since[i] = SHOWN


@inlined
def revive(s: States, i: int, p: int, o: Outcomes, j: int, k: int) -> None:
    """A dead player returns to the first of the spots that is free, NOWHERE if none is."""
    s.clocks[i, p] = FREE
    s.facings[i, p] = o.facings[j, k]
    for n in range(o.spots.shape[2]):
        spot = o.spots[j, k, n]
        if spot == NOWHERE or standing(s.cells, i, spot) == NOBODY:
            s.cells[i, p] = spot
            return


@inlined
def die(s: States, i: int, p: int) -> None:
    """A frozen player gets what is due, and leaves."""
    s.cells[i, p] = NOWHERE
    s.inventories[i, p] = 1
    s.rewards[i, p] = s.due[i, p]
    s.due[i, p] = 0.0


@inlined
def regrow(m: Layout, s: States, i: int, regrown: Int16, j: int) -> None:
    """Sites show their resources again; whoever has just stepped there picks them up at once."""
    for k in range(regrown.shape[1]):
        site = regrown[j, k]
        if site == NO_MORE:
            return
        s.since[i, site] = SHOWN
        p = standing(s.cells, i, m.sites[site])
        if p != NOBODY:
            take(s, i, p, site)
