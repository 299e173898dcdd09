"""One step of a matrix world: moves, beams, returns from the dead, regrowth, deaths, in this order.

Everybody decides on the old state; what chance decides comes from outside (an `Outcome`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TypeVar

import numpy as np

from otherminds.worlds.avatars import ACTIONS, TURNS, order_of, placed
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE, HEALTH, NOWHERE, Outcome, Rules, State

T = TypeVar("T")
INTERACT = ACTIONS.index("interact")
STILL = (ACTIONS.index("noop"), INTERACT)
TURNING = {ACTIONS.index(action): turn for action, turn in TURNS.items()}


def opening(rules: Rules, rng: np.random.Generator) -> State:
    """Draw s₀: different spawn points, any facings, and the kinds of the sites that have none of their own."""
    n, sites = rules.players, len(rules.sites)
    kinds = rng.integers(len(rules.resources), size=sites).tolist()
    bodies = placed(rules.spawns, n, rng)
    return State(
        t=0,
        cells=tuple(cell for cell, _ in bodies),
        facings=tuple(facing for _, facing in bodies),
        inventories=(rules.empty,) * n,
        cooldowns=(0,) * n,
        clocks=(FREE,) * n,
        due=(0.0,) * n,
        kinds=tuple(kind if fixed is None else fixed for kind, fixed in zip(kinds, rules.fixed, strict=True)),
        shown=(1 << sites) - 1,
        away=(),
        damage=(0,) * sites,
        rewards=(0.0,) * n,
        met=(None,) * n,
        destroyed=((),) * n,
        ended=False,
    )


def chance(rules: Rules, state: State, acts: Sequence[int], rng: np.random.Generator) -> Outcome:
    """Draw what chance decides in this step; the order of zappers only where two zap."""
    n = rules.players
    movers = order_of(n, rng)
    zappers = order_of(n, rng) if acts.count(INTERACT) > 1 else movers
    regrown = _regrowth(rules, state, rng.random()) if state.away else ()
    respawns = _places(rules, state, rng) if max(state.clocks) == rules.respawn - 1 else ()
    t = state.t + 1
    ends = t >= rules.ends.limit or (rules.ends.may(t) and rng.random() < rules.ends.chance)
    return Outcome(movers, zappers, regrown, respawns, ends)


def ripe(rules: Rules, state: State) -> tuple[int, ...]:
    """The sites that may regrow in this step: away for longer than the delay, and nobody stands there."""
    last = state.t - rules.delay
    waiting = (site for site, _ in takewhile(lambda gone: gone[1] <= last, state.away))
    return tuple(site for site in waiting if rules.sites[site] not in state.cells)


def returning(rules: Rules, state: State) -> list[int]:
    """The players who come back from the dead in this step."""
    return [i for i, clock in enumerate(state.clocks) if clock == rules.respawn - 1]


def _regrowth(rules: Rules, state: State, u: float) -> tuple[int, ...]:
    """Which ripe sites regrow, each with probability `rate`, all decided by one uniform draw.

    What is left of u after a decision, stretched to the unit interval, is uniform again.
    """
    if state.away[0][1] > state.t - rules.delay:
        return ()
    sites, stay = ripe(rules, state), 1 - rules.rate
    if u < stay ** len(sites):
        return ()
    regrown = []
    for site in sites:
        if u < stay:
            u /= stay
        else:
            regrown.append(site)
            u = (u - stay) / rules.rate
    return tuple(regrown)


def _places(rules: Rules, state: State, rng: np.random.Generator) -> tuple[tuple[tuple[int, ...], int], ...]:
    return tuple((tuple(rng.permutation(rules.spawns).tolist()), int(rng.integers(4))) for _ in returning(rules, state))


def step_with(rules: Rules, state: State, acts: Sequence[int], outcome: Outcome) -> State:
    """The state after everybody acted and chance fell so. Raises ValueError if it cannot fall so."""
    check(rules, state, outcome)
    return advance(rules, state, acts, outcome)


def check(rules: Rules, state: State, outcome: Outcome) -> None:
    """Raises ValueError if chance cannot fall so; whether somebody stands where another returns shows later."""
    everybody, n = list(range(rules.players)), len(returning(rules, state))
    certain = state.t + 1 >= rules.ends.limit
    if sorted(outcome.movers) != everybody or sorted(outcome.zappers) != everybody:
        raise ValueError(f"an order has each of the {rules.players} players once")
    if not _distinct(outcome.regrown, ripe(rules, state)):
        raise ValueError("only what has been away for longer than the delay can regrow, once, where nobody stands")
    if len(outcome.respawns) != n:
        raise ValueError(f"{n} players return in this step")
    if not all(_distinct(spots, rules.spawns) and facing in range(4) for spots, facing in outcome.respawns):
        raise ValueError("players return to one of several spawn points, and face a direction from 0 to 3")
    if outcome.ends != certain and (certain or not rules.ends.may(state.t + 1)):
        raise ValueError("chance does not decide about the end in this step")


def _distinct(chosen: Sequence[int], among: Sequence[int]) -> bool:
    return set(chosen) <= set(among) and len(set(chosen)) == len(chosen)


def advance(rules: Rules, state: State, acts: Sequence[int], outcome: Outcome) -> State:
    """`step_with` for an outcome that is known to be possible."""
    turn = _Turn(rules, state)
    turn.move(acts, outcome.movers)
    if INTERACT in acts or max(state.cooldowns):
        turn.zap(acts, outcome.zappers)
    if max(state.clocks) != FREE:
        turn.wind(outcome.respawns)
    if outcome.regrown:
        turn.regrow(outcome.regrown)
    return turn.result(outcome.ends)


class _Turn:
    """A step in the making: the old state, and copies of what changes in it."""

    def __init__(self, rules: Rules, state: State) -> None:
        self.rules, self.old, self.t = rules, state, state.t + 1
        self.cells, self.facings, self.inventories = list(state.cells), state.facings, state.inventories
        self.cooldowns, self.clocks, self.due, self.damage = state.cooldowns, state.clocks, state.due, state.damage
        self.rewards, self.met, self.destroyed = rules.nothing
        self.shown, self.away = state.shown, state.away
        self.gone: list[int] = []

    def move(self, acts: Sequence[int], movers: Sequence[int]) -> None:
        """All moves, one after the other; a move into a wall or somebody fails, turns never do."""
        state, rules, cells = self.old, self.rules, self.cells
        leads, site_at, facings = rules.leads, rules.site_at, state.facings
        for i in movers:
            action = acts[i]
            if action in STILL or state.clocks[i] != FREE:
                continue
            if action in TURNING:
                self.facings = _put(self.facings, i, (facings[i] + TURNING[action]) % 4)
                continue
            target = leads[(cells[i] * 4 + facings[i]) * 8 + action]
            if target not in cells:
                cells[i] = target
                site = site_at[target]
                if site >= 0 and state.shown >> site & 1:
                    self.take(i, site)

    def take(self, i: int, site: int) -> None:
        """A player picks up what is at a site; it can still be hit in this step."""
        kind, own = self.old.kinds[site], self.inventories[i]
        self.inventories = _put(self.inventories, i, _put(own, kind, own[kind] + 1))
        self.gone.append(site)

    def zap(self, acts: Sequence[int], zappers: Sequence[int]) -> None:
        """All beams, one after the other; a beam needs a free player whose last one was COOLDOWN steps ago."""
        state, flagged = self.old, set[int]()
        for i in zappers:
            if state.clocks[i] != FREE:
                continue
            if state.cooldowns[i]:
                self.cooldowns = _put(self.cooldowns, i, state.cooldowns[i] - 1)
            elif acts[i] == INTERACT:
                self.cooldowns = _put(self.cooldowns, i, COOLDOWN)
                for line in self.rules.beams[self.cells[i] * 4 + self.facings[i]]:
                    self.beam(i, line, flagged)

    def beam(self, zapper: int, line: Sequence[int], flagged: set[int]) -> None:
        """One line of a beam, up to the first cell with a player or with a resource that survives the hit.

        A resource that a player has only just walked on to is hit with the player.
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
        """Whether this hit is the last that a resource can take; then it is whole again, but away."""
        harm = (self.damage[site] + 1) % HEALTH
        self.damage = _put(self.damage, site, harm)
        if harm == 0:
            self.gone.append(site)
            kinds = {*self.destroyed[zapper], self.old.kinds[site]}
            self.destroyed = _put(self.destroyed, zapper, tuple(sorted(kinds)))
        return harm == 0

    def hit(self, row: int, column: int, flagged: set[int]) -> None:
        """A player zaps another: they meet if both are ready and neither has hit or been hit in this step.

        The row player's inventory is reset at once if they do at least as well as the other.
        """
        if column in flagged:
            return
        flagged.add(column)
        if row in flagged:
            return
        flagged.add(row)
        one, other, empty = self.inventories[row], self.inventories[column], self.rules.empty
        if self.old.clocks[column] != FREE or empty in (one, other):
            return
        mine, theirs = self.rules.reward(one, other)
        self.met = _put(_put(self.met, row, (one, other)), column, (other, one))
        self.due = _put(_put(self.due, row, mine), column, theirs)
        self.clocks = _put(_put(self.clocks, row, 0), column, 0)
        if mine >= theirs:
            self.inventories = _put(self.inventories, row, empty)

    def wind(self, respawns: Sequence[tuple[tuple[int, ...], int]]) -> None:
        """Move the clocks of those who had been hit: the dead return, and the frozen get what is due and die."""
        rules, places = self.rules, iter(respawns)
        for i in returning(rules, self.old):
            spots, facing = next(places)
            self.revive(i, spots, facing)
        for i, clock in enumerate(self.old.clocks):
            if clock not in (FREE, rules.respawn - 1):
                self.clocks = _put(self.clocks, i, clock + 1)
            if clock == rules.frozen:
                self.cells[i] = NOWHERE
                self.inventories = _put(self.inventories, i, rules.empty)
                self.rewards = _put(self.rewards, i, self.old.due[i])
                self.due = _put(self.due, i, 0.0)
        if rules.restock and min(self.old.clocks) > rules.frozen:
            self.shown, self.away = (1 << len(rules.sites)) - 1, ()

    def revive(self, i: int, spots: Sequence[int], facing: int) -> None:
        """A dead player returns to the first of the spots that is free. Raises ValueError if none is."""
        free = (cell for cell in spots if cell not in self.cells)
        self.cells[i] = next(free, NOWHERE)
        if self.cells[i] == NOWHERE:
            raise ValueError("somebody stands where a player is to return")
        self.facings = _put(self.facings, i, facing)
        self.clocks = _put(self.clocks, i, FREE)

    def regrow(self, regrown: Sequence[int]) -> None:
        """Sites show their resources again; whoever has just stepped there picks them up at once."""
        self.away = tuple(entry for entry in self.away if entry[0] not in regrown)
        for site in regrown:
            self.shown |= 1 << site
            cell = self.rules.sites[site]
            if cell in self.cells:
                self.take(self.cells.index(cell), site)

    def result(self, ends: bool) -> State:
        """The new state."""
        for site in dict.fromkeys(self.gone):
            self.shown &= ~(1 << site)
            self.away += ((site, self.t),)
        return State(
            self.t,
            tuple(self.cells),
            self.facings,
            self.inventories,
            self.cooldowns,
            self.clocks,
            self.due,
            self.old.kinds,
            self.shown,
            self.away,
            self.damage,
            self.rewards,
            self.met,
            self.destroyed,
            ends,
        )


def _put(entries: tuple[T, ...], i: int, entry: T) -> tuple[T, ...]:
    """The entries with another one at place i."""
    return (*entries[:i], entry, *entries[i + 1 :])
