"""What is fixed in a matrix world, and what changes: its rules with their geometry worked out, and its states.

Rules from Melting Pot (Agapiou et al. 2022; Leibo et al. 2021): avatars gather resources, which make up a mixed
strategy, and play it by zapping somebody who holds resources too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from otherminds.worlds.avatars import ACTIONS, STEPS, Field

FREE = -1
NOWHERE = -1
HEALTH = 3
COOLDOWN = 2
BEAM_LENGTH = 3

Inventory = tuple[int, ...]
Meeting = tuple[Inventory, Inventory]


class State(NamedTuple):
    """Everything there is to know after `t` steps; one entry per player, or per site of a resource.

    A clock counts the steps since the last hit: FREE, then frozen for `Rules.frozen` steps, then dead until
    the respawn; the dead are NOWHERE. `met` is what both held at a hit of the last step: own, the partner's.
    `away` lists the sites that wait to regrow, with the step since which they do, oldest first.
    """

    t: int
    cells: tuple[int, ...]
    facings: tuple[int, ...]
    inventories: tuple[Inventory, ...]
    cooldowns: tuple[int, ...]
    clocks: tuple[int, ...]
    due: tuple[float, ...]
    kinds: tuple[int, ...]
    shown: int
    away: tuple[tuple[int, int], ...]
    damage: tuple[int, ...]
    rewards: tuple[float, ...]
    met: tuple[Meeting | None, ...]
    destroyed: tuple[tuple[int, ...], ...]
    ended: bool


class Outcome(NamedTuple):
    """How chance falls in one step: who moves and who zaps first, what regrows, where the dead return, the end.

    `respawns` has an entry for each player who returns in this step, in the order of players: spawn points, of
    which they get the first that is free, and a facing.
    """

    movers: tuple[int, ...]
    zappers: tuple[int, ...]
    regrown: tuple[int, ...] = ()
    respawns: tuple[tuple[tuple[int, ...], int], ...] = ()
    ends: bool = False


class Ends(NamedTuple):
    """An episode may end every `every` steps once `after` have passed, with some chance, and does after `limit`."""

    after: int
    every: int
    chance: float
    limit: int

    def may(self, t: int) -> bool:
        """Whether chance decides after step t that this was the last one."""
        return t >= self.after and (t + 1) % self.every == 0


@dataclass(frozen=True)
class Rules:
    """The map of a matrix world, its payoffs and its clocks. Times are in steps.

    `sites` are the cells of resources, `fixed` the kind of each or None where it is drawn for each episode.
    `payoffs` are the row player's A and the column player's B: who plays x against y gets xᵀAy, the other xᵀBy.
    """

    field: Field
    players: int
    resources: tuple[str, ...]
    payoffs: tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]
    spawns: tuple[int, ...]
    sites: tuple[int, ...]
    fixed: tuple[int | None, ...]
    delay: int
    rate: float
    frozen: int
    respawn: int
    restock: bool
    ends: Ends

    @cached_property
    def empty(self) -> Inventory:
        """What everybody starts with: one of each kind."""
        return (1,) * len(self.resources)

    @cached_property
    def nothing(self) -> tuple[tuple[float, ...], tuple[Meeting | None, ...], tuple[tuple[int, ...], ...]]:
        """The rewards, meetings and destructions of a step in which there are none."""
        return (0.0,) * self.players, (None,) * self.players, ((),) * self.players

    @cached_property
    def site_at(self) -> tuple[int, ...]:
        """Which site of a resource is at a cell, or −1, for every cell."""
        sites = {cell: site for site, cell in enumerate(self.sites)}
        return tuple(sites.get(cell, -1) for cell in range(self.field.grid.size))

    @cached_property
    def leads(self) -> tuple[int, ...]:
        """Where an action leads that nobody stands in the way of, by (cell · 4 + facing) · 8 + action."""
        cells, actions = range(self.field.grid.size), range(len(ACTIONS))
        return tuple(self._lead(cell, facing, a) for cell in cells for facing in range(4) for a in actions)

    @cached_property
    def beams(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The left, right and centre line of a beam up to the first wall, by cell · 4 + facing."""
        return tuple(self._beam(cell, facing) for cell in range(self.field.grid.size) for facing in range(4))

    def _lead(self, cell: int, facing: int, action: int) -> int:
        turn = STEPS.get(ACTIONS[action])
        target = cell if turn is None else cell + self.field.ahead[(facing + turn) % 4]
        return target if self.field.grid.is_floor(target) else cell

    def _beam(self, cell: int, facing: int) -> tuple[tuple[int, ...], ...]:
        ahead, right = self.field.ahead[facing], self.field.ahead[(facing + 1) % 4]
        starts = (cell - right - ahead, cell + right - ahead, cell)
        return tuple(self._line(start, ahead) for start in starts)

    def _line(self, start: int, ahead: int) -> tuple[int, ...]:
        line: list[int] = []
        for n in range(1, BEAM_LENGTH + 1):
            if not self.field.grid.is_floor(start + n * ahead):
                break
            line.append(start + n * ahead)
        return tuple(line)

    def reward(self, row: Inventory, column: Inventory) -> tuple[float, float]:
        """What a meeting pays the row and the column player: xᵀAy and xᵀBy, x and y the shares of the inventories."""
        x, y = _shares(row), _shares(column)
        mine, theirs = self.payoffs
        return _bilinear(x, mine, y), _bilinear(x, theirs, y)


def _shares(inventory: Inventory) -> list[float]:
    total = sum(inventory)
    return [count / total for count in inventory]


def _bilinear(x: list[float], matrix: tuple[tuple[float, ...], ...], y: list[float]) -> float:
    """Sum in this order and no other: which of two equal rewards is larger decides who is reset."""
    kinds = range(len(x))
    total = 0.0
    for j in kinds:
        share = 0.0
        for i in kinds:
            share += x[i] * matrix[i][j]
        total += share * y[j]
    return total
