"""Recording what an engine shows while restless players make much happen in it.

The players see everything and are no models of anybody: hunters pick up a favourite resource, chase the nearest
other player and fire, cooks make soup, and all act at random now and then, so that they get into each other's way.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from otherminds.adapters.melting_pot import SOURCE
from otherminds.adapters.traces import Body, Joint, Seen, SeenKitchen, Trace
from otherminds.worlds.avatars import ACTIONS, AHEAD, EAST, NORTH, SOUTH, WEST

Moment = Seen | SeenKitchen
Cell = tuple[int, int]
Player = Callable[[Moment], int]
Policy = Callable[[int, np.random.Generator], Sequence[Player]]
NOISE = (0.02, 0.1, 0.3, 0.5, 1.0)
NOOP, FORWARD, BACKWARD, STEP_LEFT, STEP_RIGHT, TURN_LEFT, TURN_RIGHT, INTERACT = range(len(ACTIONS))
STEPS = (FORWARD, STEP_RIGHT, BACKWARD, STEP_LEFT)
BEAM = {(0, 1), (1, 1), (2, 1), (1, 0), (2, 0), (3, 0)}
"""The cells a beam reaches, if nothing stops it: how far ahead, how far to either side."""
SIDE = 64


class Shows(Protocol):
    """An engine: see `melting_pot.Engine`."""

    substrate: str
    players: int

    def reset(self) -> Moment:
        """Begin an episode."""
        ...

    def step(self, joint: Sequence[int]) -> Moment:
        """Go one step on."""
        ...


def record(engine: Shows, steps: int, rng: np.random.Generator, policy: Policy | None = None) -> Iterator[Trace[Any]]:
    """Episodes of so many steps in all, the last one cut off; the default policy is hunters or cooks."""
    while steps > 0:
        shown, joints = [engine.reset()], list[Joint]()
        draw = policy or (cooks if isinstance(shown[0], SeenKitchen) else hunters)
        players = draw(engine.players, rng)
        while steps > 0 and not shown[-1].ended:
            joints.append(tuple(act(shown[-1]) for act in players))
            shown.append(engine.step(joints[-1]))
            steps -= 1
        yield Trace(engine.substrate, SOURCE, tuple(shown), tuple(joints))


def hunters(players: int, rng: np.random.Generator) -> list[Player]:
    """Hunters who act at random with one probability, drawn for all of them."""
    noise = float(rng.choice(NOISE))
    return [Hunter(player, noise, rng).act for player in range(players)]


def cooks(players: int, rng: np.random.Generator) -> list[Player]:
    """Cooks of the asymmetric kitchen who act at random with one probability, drawn for all of them."""
    noise = float(rng.choice(NOISE[:-1]))
    return [Cook(player, noise, rng).act for player in range(players)]


@dataclass
class Hunter:
    """Collects some of a favourite kind, then chases the nearest player; finds out by bumping where walls are."""

    player: int
    noise: float
    rng: np.random.Generator
    bumps: Counter[Cell] = field(default_factory=Counter)
    tried: tuple[Cell, Cell] | None = None
    frozen: bool = False

    def __post_init__(self) -> None:
        self.wanted = int(self.rng.integers(2, 8))
        self.favourite = int(self.rng.integers(6))

    def act(self, seen: Moment) -> int:
        """What to do next."""
        assert isinstance(seen, Seen)
        body, held = seen.bodies[self.player], seen.inventory[self.player]
        self._learn(seen, body)
        if body is None or self.rng.random() < self.noise:
            return int(self.rng.integers(len(ACTIONS)))
        others = [other[:2] for k, other in enumerate(seen.bodies) if other is not None and k != self.player]
        favourite = self.favourite % len(held)
        if held[favourite] >= self.wanted and others:
            return self._attack(body, others)
        wanted = [(x, y) for x, y, kind in seen.resources or () if kind == favourite]
        if self.rng.random() < 0.1 and any(_offset(body, thing[:2]) in BEAM for thing in seen.resources or ()):
            return INTERACT
        return self._towards(body, wanted, others)

    def _learn(self, seen: Seen, body: Body | None) -> None:
        """A step that led nowhere, though nobody stood there and nothing held the player, was probably into a wall."""
        self.frozen = body is not None and (self.frozen or max(seen.met[self.player][0]) > 0)
        if self.tried and body and not self.frozen and body[:2] == self.tried[0]:
            self.bumps[self.tried[1]] += self.tried[1] not in [other[:2] for other in seen.bodies if other]
        self.tried = None

    def _attack(self, body: Body, others: Sequence[Cell]) -> int:
        for turn, action in ((0, INTERACT), (1, TURN_RIGHT), (3, TURN_LEFT)):
            turned = (*body[:2], (body[2] + turn) % 4)
            if any(_offset(turned, other) in BEAM for other in others):
                return action
        return self._towards(body, others, ())

    def _towards(self, body: Body, goals: Collection[Cell], others: Collection[Cell]) -> int:
        walls = {cell for cell, bumps in self.bumps.items() if bumps > 1}
        heading = way(body[:2], goals, lambda cell: cell not in walls and cell not in others)
        if heading is None:
            return int(self.rng.integers(len(ACTIONS)))
        self.tried = body[:2], _beside(body[:2], heading)
        return STEPS[(heading - body[2]) % 4]


@dataclass(frozen=True)
class Room:
    """One half of the asymmetric kitchen: the floor, and from where and facing where things are used."""

    floor: frozenset[Cell]
    tomatoes: Body
    dishes: Body
    delivery: Body
    counter: Body
    pots: tuple[Body, Body]


LEFT = Room(
    floor=frozenset([*((x, y) for x in (1, 2, 3) for y in (2, 3)), (1, 1)]),
    tomatoes=(1, 1, WEST),
    dishes=(3, 3, SOUTH),
    delivery=(3, 2, NORTH),
    counter=(2, 3, SOUTH),
    pots=((3, 2, EAST), (3, 3, EAST)),
)
RIGHT = Room(
    floor=frozenset([*((x, y) for x in (5, 6, 7) for y in (2, 3)), (7, 1)]),
    tomatoes=(5, 2, NORTH),
    dishes=(5, 3, SOUTH),
    delivery=(7, 1, EAST),
    counter=(6, 3, SOUTH),
    pots=((5, 2, WEST), (5, 3, WEST)),
)


@dataclass
class Cook:
    """Does what its hands are free for; parks on a counter what is not needed."""

    player: int
    noise: float
    rng: np.random.Generator

    def act(self, seen: Moment) -> int:
        """What to do next."""
        assert isinstance(seen, SeenKitchen)
        if self.rng.random() < self.noise:
            return int(self.rng.integers(len(ACTIONS)))
        body = seen.bodies[self.player]
        room = LEFT if body[0] < 4 else RIGHT
        x, y, facing = self._spot(seen, room)
        heading = way(body[:2], [(x, y)], room.floor.__contains__)
        if heading is not None:
            return STEPS[(heading - body[2]) % 4]
        return (INTERACT, TURN_RIGHT, TURN_RIGHT, TURN_LEFT)[(facing - body[2]) % 4]

    def _spot(self, seen: SeenKitchen, room: Room) -> Body:
        hand = seen.hands[self.player]
        parked = {(x, y): item for x, y, item in seen.counters}.get(_beside(room.counter[:2], room.counter[2]), 0)
        open_pots = [spot for spot, pot in zip(room.pots, seen.pots, strict=True) if pot[2] < 3]
        done = [spot for spot, pot in zip(room.pots, seen.pots, strict=True) if pot[3]]
        if hand == 3:
            return room.delivery
        if hand == 2:
            return done[0] if done else room.counter if open_pots and not parked else room.pots[0]
        if hand == 1:
            return open_pots[-1] if open_pots else room.counter
        useful = 2 if done or not open_pots else 1
        if parked == useful:
            return room.counter
        return room.dishes if useful == 2 else room.tomatoes


def way(start: Cell, goals: Collection[Cell], free: Callable[[Cell], bool]) -> int | None:
    """Which way (0 north, 1 east, 2 south, 3 west) a shortest path to the nearest goal begins; None without one."""
    wanted, first = set(goals), dict.fromkeys([start], -1)
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell in wanted:
            return first[cell] if first[cell] >= 0 else None
        for heading in range(4):
            after = _beside(cell, heading)
            if after not in first and max(after) < SIDE and min(after) >= 0 and (after in wanted or free(after)):
                first[after] = heading if cell == start else first[cell]
                queue.append(after)
    return None


def _beside(cell: Cell, heading: int) -> Cell:
    return cell[0] + AHEAD[heading][0], cell[1] + AHEAD[heading][1]


def _offset(body: Body, cell: Cell) -> Cell:
    """Where a cell is for somebody: how far ahead and how far to either side."""
    ax, ay = AHEAD[body[2]]
    dx, dy = cell[0] - body[0], cell[1] - body[1]
    return dx * ax + dy * ay, abs(dy * ax - dx * ay)
