"""Collaborative cooking: three tomatoes make a soup, and all are paid for every soup that anybody delivers.

The rules are those of the Collaborative Cooking substrates of Melting Pot (Agapiou et al. 2022; dm-meltingpot 2.4.1),
after Carroll et al. (2019) and Strouse et al. (2021), for any map and any number of players.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from otherminds.worlds.avatars import ACTIONS, OUTSIDE, STEPS, TURNS, Action, Field, Reach, order_of, placed
from otherminds.worlds.collaborative_cooking.things import (
    COUNTER,
    DELIVERY,
    FLOOR,
    FULL,
    NOTHING,
    POT,
    SEEN_AS,
    SEES_COUNTER,
    SEES_POT,
    SEES_SOUP,
    SOUP,
    SQUARES,
    START,
    SUPPLIES,
    Pot,
    View,
    at_counter,
    at_pot,
    heated,
    player_code,
)
from otherminds.worlds.grid import Grid

SIGNS = (" ", "t", "d", "s")
ARROWS = "^>v<"
REACH = Reach(left=2, right=2, forward=3, backward=1)


class Body(NamedTuple):
    """Where somebody is, the direction it faces, what it holds, and whether it must wait before it can interact."""

    cell: int
    facing: int
    hand: int = NOTHING
    waits: bool = False


class State(NamedTuple):
    """Everything that changes: `counters` and `pots` are in reading order, `rewards` are those of the last step."""

    t: int
    bodies: tuple[Body, ...]
    counters: tuple[int, ...]
    pots: tuple[Pot, ...]
    rewards: tuple[float, ...]


class Outcome(NamedTuple):
    """What is left to chance in a step: in which order the players move, and then interact."""

    movers: tuple[int, ...]
    beamers: tuple[int, ...]


@dataclass(frozen=True)
class CollaborativeCooking:
    """The world of one kitchen: its map, who cooks in it, and for how long.

    The squares are floor ` `, floor where somebody may start `P`, counters `#`, dispensers of tomatoes `O` and of
    dishes `D`, pots `C`, deliveries `T`, and void `x`, where nobody can go. In a step all move in a random order, each
    to a cell that is free by then; then all who interact do so in another random order, with what is ahead of them:

    - a counter takes what is held or gives what lies on it, if one of the two is nothing; a dispenser gives to an empty
      hand. Each of them serves one player a step: the first, even if nothing comes of it.
    - a pot takes a tomato until it has three, is a soup `cook` + 1 steps later, and gives it to who holds a dish.
    - a delivery takes a soup, which pays `pay` to everybody.

    Who has interacted, with whatever, cannot in the next step. Raises ValueError if the parts do not fit together.
    """

    rows: tuple[str, ...]
    agents: tuple[str, ...]
    reach: Reach = REACH
    steps: int = 1000
    cook: int = 20
    pay: float = 20.0

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0] or len({len(row) for row in self.rows}) > 1:
            raise ValueError("a kitchen is a rectangle of squares")
        if odd := set("".join(self.rows)) - set(SQUARES):
            raise ValueError(f"there is no kind of square called {min(odd)!r}")
        left, right = zip(*((row[0], row[-1]) for row in self.rows), strict=True)
        if {FLOOR, START} & {*self.rows[0], *self.rows[-1], *left, *right}:
            raise ValueError("the border of a kitchen has no floor")
        if not self.agents or len(set(self.agents)) < len(self.agents) or len(self.agents) > len(self.starts):
            raise ValueError("players need different names, and a place to start each")
        if self.steps < 1 or self.cook < 0 or min(self.reach) < 0:
            raise ValueError("a kitchen needs a step or more, and neither time nor sight can be negative")

    # The map

    @cached_property
    def grid(self) -> Grid:
        """Where people can walk."""
        squares = ((x, y, square) for y, row in enumerate(self.rows) for x, square in enumerate(row))
        solid = ((x, y) for x, y, square in squares if square not in (FLOOR, START))
        return Grid.of(len(self.rows[0]), len(self.rows), solid)

    @cached_property
    def field(self) -> Field:
        """The grid as the players see it."""
        return Field(self.grid, self.reach)

    def cells(self, *squares: str) -> tuple[int, ...]:
        """All cells with these kinds of square, in reading order."""
        found = ((x, y) for y, row in enumerate(self.rows) for x, square in enumerate(row) if square in squares)
        return tuple(self.grid.cell(x, y) for x, y in found)

    def square(self, cell: int) -> str:
        """The kind of square at a cell."""
        x, y = self.grid.xy(cell)
        return self.rows[y][x]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The cells where players may start."""
        return self.cells(START)

    @cached_property
    def counters(self) -> tuple[int, ...]:
        """The cells of the counters."""
        return self.cells(COUNTER)

    @cached_property
    def pots(self) -> tuple[int, ...]:
        """The cells of the pots."""
        return self.cells(POT)

    # A pose is a cell and a facing in one number, cell · 4 + facing.

    @cached_property
    def _poses(self) -> dict[str, list[int]]:
        """For each action, the pose after it for every pose, if nobody is in the way."""
        return {action: [self._pose(action, pose) for pose in range(self.grid.size * 4)] for action in ACTIONS}

    def _pose(self, action: str, pose: int) -> int:
        cell, facing = divmod(pose, 4)
        if action in STEPS:
            target = cell + self.field.ahead[(facing + STEPS[action]) % 4]
            return target * 4 + facing if self.grid.is_floor(target) else pose
        return cell * 4 + (facing + TURNS.get(action, 0)) % 4

    @cached_property
    def _sites(self) -> list[tuple[str, int]]:
        """For every pose, the square ahead, and which one of its kind it is."""
        numbers = {cell: k for cells in (self.counters, self.pots) for k, cell in enumerate(cells)}
        ahead = [cell + step for cell in range(self.grid.size) for step in self.field.ahead]
        known = {cell: (self.square(cell), numbers.get(cell, cell)) for cell in self.cells(*SQUARES)}
        return [known.get(cell, ("", cell)) for cell in ahead]

    # The rules

    def start(self, rng: np.random.Generator, /) -> State:
        """The players at random starts, facing anywhere, with nothing in their hands, on counters and in pots."""
        bodies = tuple(Body(cell, facing) for cell, facing in placed(self.starts, len(self.agents), rng))
        return State(0, bodies, (NOTHING,) * len(self.counters), (Pot(),) * len(self.pots), self._unpaid)

    @cached_property
    def _unpaid(self) -> tuple[float, ...]:
        return (0.0,) * len(self.agents)

    def actions(self, state: State, agent: str) -> tuple[Action, ...]:
        """Always the same eight: what has no effect is as good as doing nothing."""
        return ACTIONS

    def done(self, state: State) -> bool:
        """Whether the time is over."""
        return state.t >= self.steps

    def reward(self, state: State, joint: Mapping[str, Action], after: State) -> dict[str, float]:
        """What each was paid in the step."""
        return dict(zip(self.agents, after.rewards, strict=True))

    def chance(self, state: State, joint: Mapping[str, Action], rng: np.random.Generator, /) -> Outcome:
        """Draw the orders in which players move and interact, each uniformly."""
        return Outcome(order_of(len(self.agents), rng), order_of(len(self.agents), rng))

    def step(self, state: State, joint: Mapping[str, Action], rng: np.random.Generator, /) -> State:
        """Draw s′ ~ T(· | s, a). Raises ValueError for what is not an action."""
        return self._after(state, joint, self.chance(state, joint, rng))

    def step_with(self, state: State, joint: Mapping[str, Action], outcome: Outcome) -> State:
        """The state that follows if chance falls like this. Raises ValueError for what is no action, or no order."""
        everybody = list(range(len(self.agents)))
        if any(sorted(order) != everybody for order in outcome):
            raise ValueError(f"{outcome} does not have every player once in each order")
        return self._after(state, joint, outcome)

    def _after(self, state: State, joint: Mapping[str, Action], outcome: Outcome) -> State:
        acts = [joint[agent] for agent in self.agents]
        try:
            bodies = self._moved(state.bodies, acts, outcome.movers)
        except KeyError as error:
            raise ValueError(f"there is no action called {error}") from None
        pots = [heated(pot, self.cook) if pot.tomatoes == FULL else pot for pot in state.pots]
        counters, paid = state.counters, self._unpaid
        if "interact" in acts:
            users = [i for i in outcome.beamers if acts[i] == "interact" and not state.bodies[i].waits]
            counters, paid = self._served(bodies, users, counters, pots)
        return State(state.t + 1, tuple(bodies), counters, tuple(pots), paid)

    def _moved(self, bodies: Sequence[Body], acts: Sequence[Action], movers: Sequence[int]) -> list[Body]:
        """Everybody after the moves and turns, with rested hands."""
        cells = [body.cell for body in bodies]
        found, poses = list(bodies), self._poses
        for i in movers:
            cell, facing, hand, waits = bodies[i]
            here = cell * 4 + facing
            pose = poses[acts[i]][here]
            if pose == here or (pose >> 2 != cell and pose >> 2 in cells):
                if waits:
                    found[i] = Body(cell, facing, hand)
            else:
                cells[i] = pose >> 2
                found[i] = Body(pose >> 2, pose & 3, hand)
        return found

    def _served(
        self, bodies: list[Body], users: Sequence[int], lying: tuple[int, ...], pots: list[Pot]
    ) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """What lies on the counters, and what is paid, after people have interacted; changes bodies and pots."""
        counters, soups, used = list(lying), 0, []
        for i in users:
            cell, facing, hand, _ = bodies[i]
            square, k = site = self._sites[cell * 4 + facing]
            if square == POT:
                hand, pots[k] = at_pot(hand, pots[k])
            elif square == DELIVERY and hand == SOUP:
                hand, soups = NOTHING, soups + 1
            elif site not in used:
                used.append(site)
                if square == COUNTER:
                    hand, counters[k] = at_counter(hand, counters[k])
                elif hand == NOTHING:
                    hand = SUPPLIES.get(square, NOTHING)
            bodies[i] = Body(cell, facing, hand, True)
        return tuple(counters), (self.pay * soups,) * len(bodies) if soups else self._unpaid

    # What is seen

    @cached_property
    def _plain(self) -> list[int]:
        """The codes of all cells, with nobody and nothing there; the last is never on the map, and so is OUTSIDE."""
        codes = [OUTSIDE] * self.grid.size
        for cell in self.cells(*SEEN_AS):
            codes[cell] = SEEN_AS[self.square(cell)]
        return codes

    def observe(self, state: State, agent: str) -> View:
        """What is in the player's window, and what it knows of itself.

        The engine of Melting Pot shows players the same window as a picture, and nothing else: neither where they are
        nor whether they can interact. How far a pot has come shows there, at times a step late, and not here.
        """
        i = self.agents.index(agent)
        me, codes = state.bodies[i], self._plain.copy()
        for cell, thing in zip(self.counters, state.counters, strict=True):
            if thing:
                codes[cell] = SEES_COUNTER + thing
        for cell, pot in zip(self.pots, state.pots, strict=True):
            codes[cell] = SEES_SOUP if pot.cooked else SEES_POT + pot.tomatoes
        for j, (cell, facing, hand, _) in enumerate(state.bodies):
            codes[cell] = player_code(j, facing, hand)
        window = tuple([codes[cell] for cell in self.field.window(me.cell, me.facing)])
        return View(window, me.cell, me.facing, me.hand, not me.waits, state.rewards[i])

    def draw(self, state: State) -> str:
        """The map as text, two characters a cell: a player `^ > v <` or a square, and what is there."""
        tiles = {cell: "." if self.grid.is_floor(cell) else self.square(cell) for cell in self.cells(*SQUARES)}
        for cell, thing in zip(self.counters, state.counters, strict=True):
            tiles[cell] += SIGNS[thing]
        for cell, pot in zip(self.pots, state.pots, strict=True):
            tiles[cell] += SIGNS[SOUP] if pot.cooked else str(pot.tomatoes)
        for body in state.bodies:
            tiles[body.cell] = ARROWS[body.facing] + SIGNS[body.hand]
        rows = (range(start, start + self.grid.width) for start in range(0, self.grid.size, self.grid.stride))
        return "\n".join("".join(tiles[cell].ljust(2) for cell in row).rstrip() for row in rows)
