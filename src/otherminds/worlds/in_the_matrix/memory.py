"""What a bot remembers of a matrix world: where resources are, and where other players were last seen.

A bot that knows the map starts with all resources in place and the fixed kinds known. Without the map it knows only
what has been in its window.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from otherminds.worlds.in_the_matrix.world import FROZEN, PLAYER, READY, RESOURCE, InTheMatrix, MatrixView, sighting

UNKNOWN = -1  # kind of a resource that was not seen; convention
THERE = -1  # in `away`: the resource was there when last seen; convention
EVERYWHERE = -1  # `seen` with all bits set: the map is known; convention


class SeenPlayer(NamedTuple):
    """Another player as last seen: its cell, the step, and whether it looked ready to interact, or frozen."""

    cell: int
    t: int
    ready: bool
    frozen: bool


class MapMemory(NamedTuple):
    """A bot's memory, with one entry per site of a resource, or per player.

    `kinds` are the kinds of sites or UNKNOWN, `away` the steps at which they were first seen empty or THERE, `looked`
    the steps at which they were last in view. `mine` has the sites the bot emptied itself since the last restock,
    `players` each player as last seen, and `explored` a bit for each cell it has seen: EVERYWHERE if it knows the map.
    """

    kinds: tuple[int, ...]
    away: tuple[int, ...]
    looked: tuple[int, ...]
    mine: frozenset[int]
    players: tuple[SeenPlayer | None, ...]
    explored: int = EVERYWHERE

    def knows(self, cell: int) -> bool:
        """Whether the bot knows what a cell is."""
        return bool(self.explored >> cell & 1)

    def borders(self, world: InTheMatrix, excluded: int) -> list[int]:
        """Known cells beside unknown ones, except the cell `excluded`."""
        if self.explored == EVERYWHERE:
            return []
        grid = world.rules.field.grid
        unseen = grid.everywhere & ~self.explored
        beside = unseen << 1 | unseen >> 1 | unseen << grid.stride | unseen >> grid.stride
        edge = self.explored & beside & ~(1 << excluded)
        return list(grid.cells(edge))

    def reaches(self, world: InTheMatrix, cell: int, facing: int, targets: Collection[int]) -> bool:
        """Whether a beam from a cell reaches one of the target cells; remembered resources stop it."""
        for line in world.rules.beams[cell * 4 + facing]:
            for target in line:  # from the nearest cell on
                if target in targets:
                    return True
                site = world.rules.site_at[target]
                if site >= 0 and self.away[site] == THERE:
                    break
        return False


def initial_memory(world: InTheMatrix, *, mapped: bool = True) -> MapMemory:
    """The memory at the start of an episode: what the map tells, or nothing if it is unknown."""
    rules = world.rules
    kinds = tuple(UNKNOWN if kind is None or not mapped else kind for kind in rules.fixed)
    nothing = (THERE,) * len(kinds)
    nobody = (None,) * rules.players
    return MapMemory(kinds, nothing, nothing, frozenset(), nobody, EVERYWHERE if mapped else 0)


def updated_memory(memory: MapMemory, world: InTheMatrix, me: int, view: MatrixView) -> MapMemory:
    """The memory after one more observation."""
    if not view.window:  # dead: everybody moves on, and where the rules say so all resources are back
        nobody = (None,) * len(memory.players)
        if not world.rules.restock:
            return memory._replace(players=nobody)
        return memory._replace(away=(THERE,) * len(memory.away), mine=frozenset(), players=nobody)
    kinds, away, looked = list(memory.kinds), list(memory.away), list(memory.looked)
    mine = memory.mine
    sight = world.sight(world.agents[me], view.cell, view.facing)
    for place, site in sight.sites:
        code = view.window[place]
        looked[site] = view.t
        if RESOURCE <= code < PLAYER:
            kinds[site], away[site] = code - RESOURCE, THERE
        elif away[site] == THERE:
            away[site] = view.t
            if code >= PLAYER and world.rules.sites[site] == view.cell:
                mine |= {site}
    # a player missing from its remembered cell is forgotten
    players = [player if player and player.cell not in sight.cells else None for player in memory.players]
    for cell, code in zip(sight.cells, view.window, strict=True):
        if code >= PLAYER and (avatar := sighting(code)) is not None and avatar.player != me:
            players[avatar.player] = SeenPlayer(cell, view.t, avatar.look == READY, avatar.look == FROZEN)
    return MapMemory(tuple(kinds), tuple(away), tuple(looked), mine, tuple(players), memory.explored | sight.bits)
