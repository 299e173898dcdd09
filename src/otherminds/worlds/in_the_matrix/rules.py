"""Rules of a matrix world: its geometry, payoffs and clocks, its states, and one step from state to state.

From Melting Pot (Leibo et al. 2021; Agapiou et al. 2022): avatars gather resources, whose shares are a mixed strategy,
and play it by zapping another player that holds resources too. A step has five phases in this order: moves, beams,
returns of dead players, regrowth, deaths. All players decide on the old state; chance comes from outside as a
`MatrixOutcome`. What a player sees is in `world.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile
from typing import NamedTuple, TypeVar

import numpy as np

from otherminds.files.text import brief
from otherminds.worlds.avatars import ACTIONS, TURNS, Field, order_of, placed

FREE = -1  # clock of a player that is in no interaction; convention
NOWHERE = -1  # cell of a dead player; convention
HEALTH = 3  # hits by a beam that destroy a resource (Melting Pot: `initialHealth` of resources)
COOLDOWN = 2  # steps between two beams of a player (Melting Pot: `cooldownTime`)
BEAM_LENGTH = 3  # cells that a beam reaches ahead (Melting Pot: `beamLength`)

Inventory = tuple[int, ...]
Meeting = tuple[Inventory, Inventory]


class MatrixState(NamedTuple):
    """The full state after `t` steps, with one entry per player, or per site of a resource.

    A clock counts steps since the player's last interaction: FREE, then frozen for `Rules.frozen` steps, then dead
    until the respawn; dead players are NOWHERE. `due` is the reward to be paid when the player stops being frozen.
    `met` has the inventories in an interaction of the last step, the player's own first, None without one.
    `shown` has a bit for each site with a resource; `away` lists the other sites with the step at which they were
    emptied, oldest first. `damage` counts hits of each resource, `destroyed` the kinds a player destroyed in this step.
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

    def __repr__(self) -> str:
        return brief(self)


class MatrixOutcome(NamedTuple):
    """What chance decides in one step: the orders of moving and zapping, regrown sites, respawns, the end.

    `respawns` has an entry for each player that returns in this step, in the order of players: spawn points, the first
    free one of which the player gets, and a facing.
    """

    movers: tuple[int, ...]
    zappers: tuple[int, ...]
    regrown: tuple[int, ...] = ()
    respawns: tuple[tuple[tuple[int, ...], int], ...] = ()
    ends: bool = False


class Ends(NamedTuple):
    """When episodes end: with probability `chance` every `every` steps from step `after` on, and surely at `limit`."""

    after: int
    every: int
    chance: float
    limit: int

    def may(self, t: int) -> bool:
        """Whether the episode may end by chance at step t."""
        return t >= self.after and (t + 1) % self.every == 0


@dataclass(frozen=True)
class Rules:
    """The map of a matrix world, its payoffs and its clocks. Times are in steps.

    `sites` are the cells of resources, `fixed` the kind of each, None if it is drawn for each episode. `payoffs` are
    the matrices A of the row player and B of the column player: x against y pays xᵀAy and xᵀBy. An emptied site
    regrows with probability `rate` a step after `delay` steps. Players are frozen for `frozen` steps after an
    interaction and return `respawn` steps after it; `restock` says whether all sites refill while all players are dead.
    """

    __repr__ = brief

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
        """The initial inventory: one resource of each kind."""
        return (1,) * len(self.resources)

    @cached_property
    def nothing(self) -> tuple[tuple[float, ...], tuple[Meeting | None, ...], tuple[tuple[int, ...], ...]]:
        """Rewards, interactions and destroyed kinds of a step in which nothing of the sort happens."""
        return (0.0,) * self.players, (None,) * self.players, ((),) * self.players

    @cached_property
    def site_at(self) -> tuple[int, ...]:
        """The index of the site at each cell, −1 where there is none."""
        sites = {cell: site for site, cell in enumerate(self.sites)}
        return tuple(sites.get(cell, -1) for cell in range(self.field.grid.size))

    @cached_property
    def leads(self) -> tuple[int, ...]:
        """The cell an unobstructed action leads to, by (cell · 4 + facing) · 8 + action."""
        return tuple(pose >> 2 for poses in zip(*self.field.poses.values(), strict=True) for pose in poses)

    @cached_property
    def beams(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The cells of the left, right and centre line of a beam up to the first wall, by cell · 4 + facing."""

        def line(start: int, ahead: int) -> tuple[int, ...]:
            return tuple(
                takewhile(self.field.grid.is_floor, range(start + ahead, start + (BEAM_LENGTH + 1) * ahead, ahead))
            )

        beams = []
        for cell, facing in product(range(self.field.grid.size), range(4)):
            ahead, right = self.field.ahead[facing], self.field.ahead[(facing + 1) % 4]
            beams.append(tuple(line(start, ahead) for start in (cell - right - ahead, cell + right - ahead, cell)))
        return tuple(beams)

    def reward(self, row: Inventory, column: Inventory) -> tuple[float, float]:
        """Rewards of the row and the column player, xᵀAy and xᵀBy, where x and y are the inventories as shares."""
        x, y = _shares(row), _shares(column)
        row_payoffs, column_payoffs = self.payoffs
        return _bilinear(x, row_payoffs, y), _bilinear(x, column_payoffs, y)


def _shares(inventory: Inventory) -> list[float]:
    """The inventory as a mixed strategy: counts divided by their sum."""
    total = sum(inventory)
    return [count / total for count in inventory]


def _bilinear(x: list[float], matrix: tuple[tuple[float, ...], ...], y: list[float]) -> float:
    """xᵀMy, summed in a fixed order: rounding decides which of two equal rewards is larger, and so who is reset."""
    kinds = range(len(x))
    total = 0.0
    for j in kinds:
        weight = 0.0
        for i in kinds:
            weight += x[i] * matrix[i][j]
        total += weight * y[j]
    return total


T = TypeVar("T")
INTERACT = ACTIONS.index("interact")
STILL = (ACTIONS.index("noop"), INTERACT)
TURNING = {ACTIONS.index(action): turn for action, turn in TURNS.items()}


def opening(rules: Rules, rng: np.random.Generator) -> MatrixState:
    """Draw s₀: distinct spawn points, facings, and the kinds of sites whose kind is not fixed."""
    n, count = rules.players, len(rules.sites)
    drawn = rng.integers(len(rules.resources), size=count).tolist()
    cells, facings = zip(*placed(rules.spawns, n, rng), strict=True)
    kinds = tuple(kind if fixed is None else fixed for kind, fixed in zip(drawn, rules.fixed, strict=True))
    players = cells, facings, (rules.empty,) * n, (0,) * n, (FREE,) * n, (0.0,) * n
    sites = kinds, (1 << count) - 1, (), (0,) * count
    return MatrixState(0, *players, *sites, *rules.nothing, False)


def chance(rules: Rules, state: MatrixState, acts: Sequence[int], rng: np.random.Generator) -> MatrixOutcome:
    """Draw what chance decides in this step. The order of zapping is drawn only if more than one player zaps."""
    n = rules.players
    movers = order_of(n, rng)
    zappers = order_of(n, rng) if acts.count(INTERACT) > 1 else movers
    regrown = _regrowth(rules, state, rng.random()) if state.away else ()
    respawns = tuple(
        (tuple(rng.permutation(rules.spawns).tolist()), int(rng.integers(4))) for _ in returning(rules, state)
    )
    t = state.t + 1
    ends = t >= rules.ends.limit or (rules.ends.may(t) and rng.random() < rules.ends.chance)
    return MatrixOutcome(movers, zappers, regrown, respawns, ends)


def ripe(rules: Rules, state: MatrixState) -> tuple[int, ...]:
    """The sites that may regrow in this step: empty for longer than the delay, with no player on them."""
    latest = state.t - rules.delay
    waiting = (site for site, _ in takewhile(lambda gone: gone[1] <= latest, state.away))
    return tuple(site for site in waiting if rules.sites[site] not in state.cells)


def returning(rules: Rules, state: MatrixState) -> list[int]:
    """The players that return in this step."""
    return [i for i, clock in enumerate(state.clocks) if clock == rules.respawn - 1]


def _regrowth(rules: Rules, state: MatrixState, u: float) -> tuple[int, ...]:
    """The ripe sites that regrow, each with probability `rate`, all decided by the uniform number u.

    After each decision the remainder of u, rescaled to the unit interval, is uniform again.
    """
    if state.away[0][1] > state.t - rules.delay:
        return ()
    sites = ripe(rules, state)
    p_stay = 1 - rules.rate
    if u < p_stay ** len(sites):
        return ()
    regrown = []
    for site in sites:
        if u < p_stay:
            u /= p_stay
        else:
            regrown.append(site)
            u = (u - p_stay) / rules.rate
    return tuple(regrown)


def step_with(rules: Rules, state: MatrixState, acts: Sequence[int], outcome: MatrixOutcome) -> MatrixState:
    """The next state, given all actions and the outcome of chance. Raises ValueError for an impossible outcome."""
    everybody = list(range(rules.players))
    n = len(returning(rules, state))
    certain = state.t + 1 >= rules.ends.limit
    if sorted(outcome.movers) != everybody or sorted(outcome.zappers) != everybody:
        raise ValueError(f"an order has each of the {rules.players} players once")
    if not _distinct(outcome.regrown, ripe(rules, state)):
        raise ValueError("only sites emptied before the delay can regrow, once each, with no player on them")
    if len(outcome.respawns) != n:
        raise ValueError(f"{n} players return in this step")
    if not all(_distinct(spots, rules.spawns) and facing in range(4) for spots, facing in outcome.respawns):
        raise ValueError("players return to one of several spawn points, facing 0 to 3")
    if outcome.ends != certain and (certain or not rules.ends.may(state.t + 1)):
        raise ValueError("chance does not decide about the end in this step")
    return advance(rules, state, acts, outcome)


def _distinct(drawn: Sequence[int], among: Sequence[int]) -> bool:
    """Whether all drawn numbers are among those allowed, each at most once."""
    return set(drawn) <= set(among) and len(set(drawn)) == len(drawn)


def advance(rules: Rules, state: MatrixState, acts: Sequence[int], outcome: MatrixOutcome) -> MatrixState:
    """The next state, for an outcome that is possible. Raises ValueError only for a respawn on an occupied cell."""
    turn = _StepInProgress(rules, state)
    turn.move(acts, outcome.movers)
    if INTERACT in acts or max(state.cooldowns):
        turn.zap(acts, outcome.zappers)
    if max(state.clocks) != FREE:
        turn.wind(outcome.respawns)
    if outcome.regrown:
        turn.regrow(outcome.regrown)
    return turn.result(outcome.ends)


class _StepInProgress:
    """One step: the old state, and copies of the parts that change."""

    def __init__(self, rules: Rules, state: MatrixState) -> None:
        """Begin a step from `state`. Phases replace fields by changed copies; `gone` lists the sites emptied so far."""
        self.rules, self.old, self.t = rules, state, state.t + 1
        self.cells, self.facings, self.inventories = list(state.cells), state.facings, state.inventories
        self.cooldowns, self.clocks, self.due, self.damage = state.cooldowns, state.clocks, state.due, state.damage
        self.rewards, self.met, self.destroyed = rules.nothing
        self.shown, self.away = state.shown, state.away
        self.gone: list[int] = []

    def move(self, acts: Sequence[int], movers: Sequence[int]) -> None:
        """Carry out all moves in order. A move into a wall or another player fails; a turn never does."""
        state, rules, cells = self.old, self.rules, self.cells
        leads, site_at, facings = rules.leads, rules.site_at, state.facings
        for i in movers:
            action = acts[i]
            if action in STILL or state.clocks[i] != FREE:
                continue
            if action in TURNING:
                self.facings = _replaced(self.facings, i, (facings[i] + TURNING[action]) % 4)
                continue
            target = leads[(cells[i] * 4 + facings[i]) * 8 + action]
            if target not in cells:
                cells[i] = target
                site = site_at[target]
                if site >= 0 and state.shown >> site & 1:
                    self.take(i, site)

    def take(self, i: int, site: int) -> None:
        """A player picks up the resource at a site; a beam can still hit it in this step."""
        kind, own = self.old.kinds[site], self.inventories[i]
        self.inventories = _replaced(self.inventories, i, _replaced(own, kind, own[kind] + 1))
        self.gone.append(site)

    def zap(self, acts: Sequence[int], zappers: Sequence[int]) -> None:
        """Fire all beams in order. A player can fire if it is free and fired last at least COOLDOWN steps ago."""
        state, flagged = self.old, set[int]()
        for i in zappers:
            if state.clocks[i] != FREE:
                continue
            if state.cooldowns[i]:
                self.cooldowns = _replaced(self.cooldowns, i, state.cooldowns[i] - 1)
            elif acts[i] == INTERACT:
                self.cooldowns = _replaced(self.cooldowns, i, COOLDOWN)
                for line in self.rules.beams[self.cells[i] * 4 + self.facings[i]]:
                    self.beam(i, line, flagged)

    def beam(self, zapper: int, line: Sequence[int], flagged: set[int]) -> None:
        """Follow one line of a beam to the first cell with a player, or with a resource that survives the hit.

        A resource that a player stepped onto in this step is hit together with the player.
        """
        for cell in line:
            site = self.rules.site_at[cell]
            stops = site >= 0 and self.old.shown >> site & 1 and not self.destroys(zapper, site)
            if cell in self.cells:
                self.hit(zapper, self.cells.index(cell), flagged)
                return
            if stops:
                return

    def destroys(self, zapper: int, site: int) -> bool:
        """Damage a resource; returns whether this hit destroys it. Its health is restored for when it regrows."""
        hits = (self.damage[site] + 1) % HEALTH
        self.damage = _replaced(self.damage, site, hits)
        if hits == 0:
            self.gone.append(site)
            kinds = {*self.destroyed[zapper], self.old.kinds[site]}
            self.destroyed = _replaced(self.destroyed, zapper, tuple(sorted(kinds)))
        return hits == 0

    def hit(self, row: int, column: int, flagged: set[int]) -> None:
        """A player zaps another: they interact if both are ready and neither has hit or been hit in this step.

        The row player's inventory is reset at once if its reward is at least the column player's.
        """
        if column in flagged:
            return
        flagged.add(column)
        if row in flagged:
            return
        flagged.add(row)
        row_inventory, column_inventory, empty = self.inventories[row], self.inventories[column], self.rules.empty
        if self.old.clocks[column] != FREE or empty in (row_inventory, column_inventory):
            return
        row_reward, column_reward = self.rules.reward(row_inventory, column_inventory)
        self.met = _replaced(self.met, row, (row_inventory, column_inventory))
        self.met = _replaced(self.met, column, (column_inventory, row_inventory))
        self.due = _replaced(_replaced(self.due, row, row_reward), column, column_reward)
        self.clocks = _replaced(_replaced(self.clocks, row, 0), column, 0)
        if row_reward >= column_reward:
            self.inventories = _replaced(self.inventories, row, empty)

    def wind(self, respawns: Sequence[tuple[tuple[int, ...], int]]) -> None:
        """Advance the clocks: dead players return to the first free spot; those no longer frozen are paid and die.

        Raises ValueError if no spot is free.
        """
        rules = self.rules
        for i, (spots, facing) in zip(returning(rules, self.old), respawns, strict=True):
            self.cells[i] = next((cell for cell in spots if cell not in self.cells), NOWHERE)
            if self.cells[i] == NOWHERE:
                raise ValueError("a player stands where another is to return")
            self.facings, self.clocks = _replaced(self.facings, i, facing), _replaced(self.clocks, i, FREE)
        for i, clock in enumerate(self.old.clocks):
            if clock not in (FREE, rules.respawn - 1):
                self.clocks = _replaced(self.clocks, i, clock + 1)
            if clock == rules.frozen:
                self.cells[i] = NOWHERE
                self.inventories = _replaced(self.inventories, i, rules.empty)
                self.rewards = _replaced(self.rewards, i, self.old.due[i])
                self.due = _replaced(self.due, i, 0.0)
        if rules.restock and min(self.old.clocks) > rules.frozen:
            self.shown, self.away = (1 << len(rules.sites)) - 1, ()

    def regrow(self, regrown: Sequence[int]) -> None:
        """Refill sites; a player that stepped onto one in this step picks the resource up at once."""
        self.away = tuple(entry for entry in self.away if entry[0] not in regrown)
        for site in regrown:
            self.shown |= 1 << site
            cell = self.rules.sites[site]
            if cell in self.cells:
                self.take(self.cells.index(cell), site)

    def result(self, ends: bool) -> MatrixState:
        """The state after the step."""
        for site in dict.fromkeys(self.gone):
            self.shown &= ~(1 << site)
            self.away += ((site, self.t),)
        players = tuple(self.cells), self.facings, self.inventories, self.cooldowns, self.clocks, self.due
        sites = self.old.kinds, self.shown, self.away, self.damage
        return MatrixState(self.t, *players, *sites, self.rewards, self.met, self.destroyed, ends)


def _replaced(entries: tuple[T, ...], i: int, entry: T) -> tuple[T, ...]:
    """A copy of `entries` with entry i replaced."""
    return (*entries[:i], entry, *entries[i + 1 :])
