"""What a gatherer remembers of a matrix world: which resources are where, and who was seen last where.

Who knows the map starts with it: all resources are there, and those of fixed kinds are known. Who does not knows
only of what has been in the window.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from otherminds.worlds.in_the_matrix.world import FROZEN, PLAYER, READY, RESOURCE, InTheMatrix, View, sighting

UNKNOWN = -1
THERE = -1
EVERYWHERE = -1


class Other(NamedTuple):
    """Somebody as last seen: where, when, and whether they were ready to meet and not in a meeting."""

    cell: int
    t: int
    ready: bool
    frozen: bool


class Surroundings(NamedTuple):
    """Everything remembered. Per site: its kind or UNKNOWN; since when it is known to be away, or THERE; who took it.

    `looked` is when each site was last in view, `mine` the sites that oneself has emptied since all was there, `seen`
    the cells of which it is known what they are, as bits: EVERYWHERE for who knows the map.
    """

    kinds: tuple[int, ...]
    away: tuple[int, ...]
    looked: tuple[int, ...]
    mine: frozenset[int]
    others: tuple[Other | None, ...]
    seen: int = EVERYWHERE

    def knows(self, cell: int) -> bool:
        """Whether it is known if a cell is floor or wall, and if things can be there."""
        return bool(self.seen >> cell & 1)

    def borders(self, world: InTheMatrix, here: int) -> list[int]:
        """Floor that has been seen next to what has not, other than where one is."""
        if self.seen == EVERYWHERE:
            return []
        grid = world.rules.field.grid
        unseen = grid.everywhere & ~self.seen
        beside = unseen << 1 | unseen >> 1 | unseen << grid.stride | unseen >> grid.stride
        edge = self.seen & beside & ~(1 << here)
        return [cell for cell in grid.cells() if edge >> cell & 1]


def at_first(world: InTheMatrix, *, mapped: bool = True) -> Surroundings:
    """What the map alone tells; without it, nothing is known."""
    rules = world.rules
    kinds = tuple(UNKNOWN if kind is None or not mapped else kind for kind in rules.fixed)
    nothing = (THERE,) * len(kinds)
    nobody = (None,) * rules.players
    return Surroundings(kinds, nothing, nothing, frozenset(), nobody, EVERYWHERE if mapped else 0)


def after(memory: Surroundings, world: InTheMatrix, me: int, view: View) -> Surroundings:
    """Memory after one more view."""
    if not view.window:
        return _while_dead(memory, world)
    kinds, away, looked = list(memory.kinds), list(memory.away), list(memory.looked)
    mine = memory.mine
    for place, site in world.sites_seen(world.agents[me], view.cell, view.facing):
        code = view.window[place]
        looked[site] = view.t
        if RESOURCE <= code < PLAYER:
            kinds[site], away[site] = code - RESOURCE, THERE
        elif away[site] == THERE:
            away[site] = view.t
            if code >= PLAYER and world.rules.sites[site] == view.cell:
                mine |= {site}
    others = _others(memory, world, me, view)
    seen = memory.seen | world.bits_seen(world.agents[me], view.cell, view.facing)
    return Surroundings(tuple(kinds), tuple(away), tuple(looked), mine, others, seen)


def _while_dead(memory: Surroundings, world: InTheMatrix) -> Surroundings:
    """One knows that everybody moves on, and that all is there again where it is restocked after a meeting."""
    nobody = (None,) * len(memory.others)
    if not world.rules.restock:
        return memory._replace(others=nobody)
    return memory._replace(away=(THERE,) * len(memory.away), mine=frozenset(), others=nobody)


def _others(memory: Surroundings, world: InTheMatrix, me: int, view: View) -> tuple[Other | None, ...]:
    """Who is seen where; those who are not where they were thought to be are somewhere else."""
    cells = world.cells_seen(world.agents[me], view.cell, view.facing)
    found = list(memory.others)
    for j, other in enumerate(found):
        if other is not None and other.cell in cells:
            found[j] = None
    for place, code in enumerate(view.window):
        who = sighting(code) if code >= PLAYER else None
        if who is not None and who.player != me:
            found[who.player] = Other(cells[place], view.t, who.look == READY, who.look == FROZEN)
    return tuple(found)


def reaches(memory: Surroundings, world: InTheMatrix, cell: int, facing: int, targets: Collection[int]) -> bool:
    """Whether a beam from a cell gets to one of the targets: resources that are remembered to be there stop it."""
    for line in world.rules.beams[cell * 4 + facing]:
        for there in line:
            if there in targets:
                return True
            site = world.rules.site_at[there]
            if site >= 0 and memory.away[site] == THERE:
                break
    return False
