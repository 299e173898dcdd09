"""Traces of an engine: its observations, step by step, recorded so that rules can be checked without the engine.

The players that make the traces see everything and model nobody: hunters collect a favourite resource, chase the
nearest other player and fire, cooks make soup, and all act at random now and then and so get in each other's way.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from pydantic import Field

from otherminds.worlds.avatars import ACTIONS, AHEAD, EAST, NORTH, SOUTH, WEST

SOURCE = "dm-meltingpot 2.4.1 on dmlab2d 1.0.2, Apache-2.0"  # the engine that traces are recorded from
Place = Annotated[int, Field(ge=0, le=255)]
Count = Annotated[int, Field(ge=0)]
Facing = Annotated[int, Field(ge=0, le=3)]
Item = Annotated[int, Field(ge=0, le=3)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Body = tuple[Place, Place, Facing]
Joint = tuple[Annotated[int, Field(ge=0, le=7)], ...]


class SeenMatrix(NamedTuple):
    """The observation of a matrix world after a reset or a step; facings are 0 north, 1 east, 2 south, 3 west."""

    bodies: tuple[Body | None, ...]
    """(x, y, facing) of every player; None while dead."""
    resources: tuple[tuple[Place, Place, Count], ...] | None
    """(x, y, kind) of every resource that can be picked up, sorted; None while no player is alive."""
    inventory: tuple[tuple[Count, ...], ...]
    ready: tuple[Number, ...]
    """READY_TO_SHOOT."""
    rewards: tuple[Number, ...]
    met: tuple[tuple[tuple[Number, ...], tuple[Number, ...]], ...]
    """INTERACTION_INVENTORIES of every player, (own, partner): zeros at a reset, -1 when there is no interaction."""
    interacted: tuple[bool, ...]
    collected: tuple[tuple[Count, ...], ...]
    """For every player and kind, how many resources it picked up in this step."""
    destroyed: tuple[tuple[Count, ...], ...]
    ended: bool


class SeenKitchen(NamedTuple):
    """The observation of a kitchen after a reset or a step; items are 0 nothing, 1 tomato, 2 dish, 3 soup."""

    bodies: tuple[Body, ...]
    hands: tuple[Item, ...]
    counters: tuple[tuple[Place, Place, Item], ...]
    """(x, y, item) of every counter that is not empty, sorted."""
    pots: tuple[tuple[Place, Place, Annotated[int, Field(ge=0, le=3)], bool], ...]
    """(x, y, tomatoes inside, whether they are cooked) of every pot, sorted."""
    rewards: tuple[Number, ...]
    ended: bool


S_co = TypeVar("S_co", bound=SeenMatrix | SeenKitchen, covariant=True)


@dataclass(frozen=True)
class Trace(Generic[S_co]):
    """One episode: the observations at its start and after each joint action (indices into the eight actions)."""

    substrate: str
    source: str
    shown: tuple[S_co, ...]
    joints: tuple[Joint, ...]


# Recording


Moment = SeenMatrix | SeenKitchen
Cell = tuple[int, int]
Player = Callable[[Moment], int]
Policy = Callable[[int, np.random.Generator], Sequence[Player]]
NOISE = (0.02, 0.1, 0.3, 0.5, 1.0)  # probabilities of a random action, one of which is drawn for each episode; chosen
NOOP, FORWARD, BACKWARD, STEP_LEFT, STEP_RIGHT, TURN_LEFT, TURN_RIGHT, INTERACT = range(len(ACTIONS))
STEPS = (FORWARD, STEP_RIGHT, BACKWARD, STEP_LEFT)
BEAM = {(0, 1), (1, 1), (2, 1), (1, 0), (2, 0), (3, 0)}  # the cells of an unobstructed beam: (ahead, to either side)
SIDE = 64  # cells beyond which no path is searched; larger than every map


class RecordableEngine(Protocol):
    """An engine, such as `melting_pot_engine.MeltingPotEngine`."""

    substrate: str
    players: int

    def reset(self) -> Moment:
        """Begin an episode; its first observation."""

    def step(self, joint: Sequence[int]) -> Moment:
        """The observation after a joint action."""


def record(
    engine: RecordableEngine, steps: int, rng: np.random.Generator, policy: Policy | None = None
) -> Iterator[Trace[Any]]:
    """Traces of episodes with `steps` steps in all, the last one cut off; the default policy is hunters or cooks."""
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
    """Hunters with one probability of random actions, drawn for all of them."""
    noise = float(rng.choice(NOISE))
    return [RestlessHunter(player, noise, rng).act for player in range(players)]


def cooks(players: int, rng: np.random.Generator) -> list[Player]:
    """Cooks of the asymmetric kitchen with one probability of random actions, drawn for all of them."""
    noise = float(rng.choice(NOISE[:-1]))
    return [RestlessCook(player, noise, rng).act for player in range(players)]


@dataclass
class RestlessHunter:
    """Collects some of its favourite resource, then chases the nearest player; finds walls by bumping into them."""

    player: int
    noise: float
    rng: np.random.Generator
    bumps: Counter[Cell] = field(default_factory=Counter)
    attempt: tuple[Cell, Cell] | None = None
    """The cell from which the last step was taken, and the cell it led to."""
    frozen: bool = False

    def __post_init__(self) -> None:
        self.quota = int(self.rng.integers(2, 8))
        self.favourite = int(self.rng.integers(6))

    def act(self, observation: Moment) -> int:
        """The next action."""
        assert isinstance(observation, SeenMatrix)
        body, inventory = observation.bodies[self.player], observation.inventory[self.player]
        # a bump: a step led nowhere although no player stood there and the hunter was not frozen
        self.frozen = body is not None and (self.frozen or max(observation.met[self.player][0]) > 0)
        occupied = [player[:2] for player in observation.bodies if player is not None]
        if self.attempt and body and not self.frozen and body[:2] == self.attempt[0]:
            self.bumps[self.attempt[1]] += self.attempt[1] not in occupied
        self.attempt = None
        if body is None or self.rng.random() < self.noise:
            return int(self.rng.integers(len(ACTIONS)))
        rivals = [player[:2] for k, player in enumerate(observation.bodies) if player is not None and k != self.player]
        favourite = self.favourite % len(inventory)
        if inventory[favourite] >= self.quota and rivals:
            for turn, action in ((0, INTERACT), (1, TURN_RIGHT), (3, TURN_LEFT)):
                turned = (*body[:2], (body[2] + turn) % 4)
                if any(_offset(turned, player) in BEAM for player in rivals):
                    return action
            return self._towards(body, rivals, ())
        resource_cells = [(x, y) for x, y, kind in observation.resources or () if kind == favourite]
        if self.rng.random() < 0.1 and any(_offset(body, thing[:2]) in BEAM for thing in observation.resources or ()):
            return INTERACT
        return self._towards(body, resource_cells, rivals)

    def _towards(self, body: Body, goals: Collection[Cell], occupied: Collection[Cell]) -> int:
        walls = {cell for cell, bumps in self.bumps.items() if bumps > 1}
        heading = first_heading(body[:2], goals, lambda cell: cell not in walls and cell not in occupied)
        if heading is None:
            return int(self.rng.integers(len(ACTIONS)))
        self.attempt = body[:2], _beside(body[:2], heading)
        return STEPS[(heading - body[2]) % 4]


@dataclass(frozen=True)
class KitchenHalf:
    """One half of the asymmetric kitchen: its floor, and the cell and facing from which each thing is used."""

    floor: frozenset[Cell]
    tomatoes: Body
    dishes: Body
    delivery: Body
    counter: Body
    pots: tuple[Body, Body]


LEFT = KitchenHalf(
    floor=frozenset([*((x, y) for x in (1, 2, 3) for y in (2, 3)), (1, 1)]),
    tomatoes=(1, 1, WEST),
    dishes=(3, 3, SOUTH),
    delivery=(3, 2, NORTH),
    counter=(2, 3, SOUTH),
    pots=((3, 2, EAST), (3, 3, EAST)),
)
RIGHT = KitchenHalf(
    floor=frozenset([*((x, y) for x in (5, 6, 7) for y in (2, 3)), (7, 1)]),
    tomatoes=(5, 2, NORTH),
    dishes=(5, 3, SOUTH),
    delivery=(7, 1, EAST),
    counter=(6, 3, SOUTH),
    pots=((5, 2, WEST), (5, 3, WEST)),
)


@dataclass
class RestlessCook:
    """Makes soup with what it holds; puts items that are not needed on a counter."""

    player: int
    noise: float
    rng: np.random.Generator

    def act(self, observation: Moment) -> int:
        """The next action."""
        assert isinstance(observation, SeenKitchen)
        if self.rng.random() < self.noise:
            return int(self.rng.integers(len(ACTIONS)))
        body = observation.bodies[self.player]
        room = LEFT if body[0] < 4 else RIGHT
        x, y, facing = self._spot(observation, room)
        heading = first_heading(body[:2], [(x, y)], room.floor.__contains__)
        if heading is not None:
            return STEPS[(heading - body[2]) % 4]
        return (INTERACT, TURN_RIGHT, TURN_RIGHT, TURN_LEFT)[(facing - body[2]) % 4]

    def _spot(self, view: SeenKitchen, room: KitchenHalf) -> Body:
        hand = view.hands[self.player]
        parked = {(x, y): item for x, y, item in view.counters}.get(_beside(room.counter[:2], room.counter[2]), 0)
        open_pots = [spot for spot, pot in zip(room.pots, view.pots, strict=True) if pot[2] < 3]
        done = [spot for spot, pot in zip(room.pots, view.pots, strict=True) if pot[3]]
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


def first_heading(start: Cell, goals: Collection[Cell], free: Callable[[Cell], bool]) -> int | None:
    """The first heading of a shortest path to the nearest goal (0 north, 1 east, 2 south, 3 west); None without one."""
    targets, first = set(goals), dict.fromkeys([start], -1)
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell in targets:
            return first[cell] if first[cell] >= 0 else None
        for heading in range(4):
            after = _beside(cell, heading)
            if after not in first and max(after) < SIDE and min(after) >= 0 and (after in targets or free(after)):
                first[after] = heading if cell == start else first[cell]
                queue.append(after)
    return None


def _beside(cell: Cell, heading: int) -> Cell:
    return cell[0] + AHEAD[heading][0], cell[1] + AHEAD[heading][1]


def _offset(body: Body, cell: Cell) -> Cell:
    """The position of a cell relative to a body: (ahead, to either side)."""
    ax, ay = AHEAD[body[2]]
    dx, dy = cell[0] - body[0], cell[1] - body[1]
    return dx * ax + dy * ay, abs(dy * ax - dx * ay)
