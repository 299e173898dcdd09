"""Rules of collaborative cooking: things, squares and pots, one step, and what players see.

Melting Pot's `collaborative_cooking` (Agapiou et al. 2022), step for step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from otherminds.errors import shortened
from otherminds.files.html import pictured
from otherminds.files.text import brief
from otherminds.worlds.avatars import ACTIONS, OUTSIDE, Action, Field, Reach, order_of, placed
from otherminds.worlds.grid import Grid

THINGS = ("nothing", "tomato", "dish", "soup")
NOTHING, TOMATO, DISH, SOUP = range(4)  # indices in THINGS
FULL = 3  # tomatoes in a soup (Melting Pot)

FLOOR, START, VOID = " ", "P", "x"
COUNTER, TOMATOES, DISHES, DELIVERY, POT = "#", "O", "D", "T", "C"
SQUARES = (FLOOR, START, VOID, COUNTER, TOMATOES, DISHES, DELIVERY, POT)
SUPPLIES = {TOMATOES: TOMATO, DISHES: DISH}
# Codes of cells in a window; they do not overlap.
SEES_FLOOR, SEES_TOMATOES, SEES_DISHES, SEES_DELIVERY = range(4)
SEES_COUNTER = 4  # + the thing on it
SEES_POT = 8  # + the number of tomatoes
SEES_SOUP = 12
SEES_PLAYER = 13  # + see `player_code`
SEEN_AS = {
    FLOOR: SEES_FLOOR,
    START: SEES_FLOOR,
    TOMATOES: SEES_TOMATOES,
    DISHES: SEES_DISHES,
    DELIVERY: SEES_DELIVERY,
    COUNTER: SEES_COUNTER,
    POT: SEES_POT,
}


class PotState(NamedTuple):
    """A pot: its tomatoes, the steps for which a full pot has cooked, and whether it is a soup."""

    tomatoes: int = 0
    timer: int = 0
    cooked: bool = False


def at_counter(hand: int, lying: int) -> tuple[int, int]:
    """Hand and counter after an interaction: they swap if exactly one of them is empty."""
    return (lying, hand) if (hand == NOTHING) != (lying == NOTHING) else (hand, lying)


def heated(pot: PotState, cook: int) -> PotState:
    """A full pot one step later; it becomes a soup after `cook` + 1 steps and stays one."""
    return pot if pot.cooked else PotState(pot.tomatoes, pot.timer + 1, pot.timer == cook)


def at_pot(hand: int, pot: PotState) -> tuple[int, PotState]:
    """Hand and pot after an interaction."""
    if hand == TOMATO and pot.tomatoes < FULL:
        return NOTHING, PotState(pot.tomatoes + 1)
    if hand == DISH and pot.cooked:
        return SOUP, PotState()
    return hand, pot


class CookingView(NamedTuple):
    """What a player observes.

    `window` has a code for each cell, row by row from the farthest ahead, left to right: OUTSIDE, SEES_FLOOR,
    SEES_TOMATOES, SEES_DISHES, SEES_DELIVERY, SEES_COUNTER + the thing on it, SEES_POT + its tomatoes, SEES_SOUP for a
    finished soup, or the `player_code` of a player, itself included. `cell`, `facing` and `hand` are the player's own;
    `ready` says whether it can interact in the next step, `reward` is that of the last step.
    """

    window: tuple[int, ...]
    cell: int
    facing: int
    hand: int
    ready: bool
    reward: float


class SeenCook(NamedTuple):
    """A player in a window: its number, its facing, and the thing in its hand."""

    number: int
    facing: int
    hand: int


def player_code(number: int, facing: int, hand: int) -> int:
    """The code of a player in a window."""
    return SEES_PLAYER + (number * 4 + facing) * 4 + hand


def player_of(code: int) -> SeenCook | None:
    """The player that a code of a window stands for, None for other codes."""
    if code < SEES_PLAYER:
        return None
    number_and_facing, hand = divmod(code - SEES_PLAYER, 4)
    return SeenCook(*divmod(number_and_facing, 4), hand)


SIGNS = (" ", "t", "d", "s")
ARROWS = "^>v<"
REACH = Reach(left=2, right=2, forward=3, backward=1)  # the 5 × 5 window of Melting Pot


class PlayerState(NamedTuple):
    """A player's cell, facing and thing in hand, and whether it cannot interact in the next step."""

    cell: int
    facing: int
    hand: int = NOTHING
    waits: bool = False


class CookingState(NamedTuple):
    """The full state: `counters` and `pots` are in reading order, `rewards` are those of the last step."""

    t: int
    bodies: tuple[PlayerState, ...]
    counters: tuple[int, ...]
    pots: tuple[PotState, ...]
    rewards: tuple[float, ...]

    def __repr__(self) -> str:
        return brief(self)


class CookingOutcome(NamedTuple):
    """What chance decides in one step: the orders in which players move and interact."""

    movers: tuple[int, ...]
    beamers: tuple[int, ...]


@dataclass(frozen=True)
class CollaborativeCooking:
    """The world of one kitchen: its map, its players, and the length of an episode.

    The squares are floor ` `, floor with a start `P`, counters `#`, dispensers of tomatoes `O` and of dishes `D`,
    pots `C`, deliveries `T`, and impassable void `x`. In a step all players move in a random order, each to a cell that
    is then free; then those that interact do so in another random order, with the square ahead of them:

    - A counter swaps its thing with the hand if exactly one of them is empty; a dispenser fills an empty hand. Each of
      them serves one player a step: the first, even without effect.
    - A pot takes a tomato until it has three, is a soup `cook` + 1 steps later, and gives it to a hand with a dish.
    - A delivery takes a soup, which pays `pay` to every player.

    After an interaction a player cannot interact in the next step. Raises ValueError if the parts do not fit together.
    """

    rows: tuple[str, ...]
    agents: tuple[str, ...]
    reach: Reach = REACH
    steps: int = 1000
    cook: int = 20
    pay: float = 20.0

    def __repr__(self) -> str:
        return shortened(f"CollaborativeCooking({len(self.rows[0])} × {len(self.rows)}; {', '.join(self.agents)})", 160)

    def _repr_html_(self) -> str:
        from otherminds.worlds.collaborative_cooking.drawing import draw  # it knows this module

        return pictured(draw(self, self.start(np.random.default_rng(0))).svg())

    def __post_init__(self) -> None:
        """Check that the parts fit together. Raises ValueError if not."""
        if not self.rows or not self.rows[0] or len({len(row) for row in self.rows}) > 1:
            raise ValueError("a kitchen is a rectangle of squares")
        if odd := set("".join(self.rows)) - set(SQUARES):
            raise ValueError(f"unknown kind of square {min(odd)!r}")
        left_border, right_border = zip(*((row[0], row[-1]) for row in self.rows), strict=True)
        if {FLOOR, START} & {*self.rows[0], *self.rows[-1], *left_border, *right_border}:
            raise ValueError("the border of a kitchen has no floor")
        if not self.agents or len(set(self.agents)) < len(self.agents) or len(self.agents) > len(self.starts):
            raise ValueError("players need different names, and a place to start each")
        if self.steps < 1 or self.cook < 0 or min(self.reach) < 0:
            raise ValueError("a kitchen needs a step or more, and neither time nor sight can be negative")

    # The map

    @cached_property
    def grid(self) -> Grid:
        """The cells on which players can walk."""
        return Grid.of_map(self.rows, (FLOOR, START))

    @cached_property
    def field(self) -> Field:
        """The grid with the players' windows."""
        return Field(self.grid, self.reach)

    def cells(self, *squares: str) -> tuple[int, ...]:
        """All cells with these kinds of square, in reading order."""
        return self.grid.marked(self.rows, squares)

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

    @cached_property
    def _sites(self) -> list[tuple[str, int]]:
        """For each pose (cell · 4 + facing), the kind of the square ahead and its index among counters or pots."""
        numbers = {cell: k for cells in (self.counters, self.pots) for k, cell in enumerate(cells)}
        ahead = [cell + step for cell in range(self.grid.size) for step in self.field.ahead]
        site_by_cell = {cell: (self.square(cell), numbers.get(cell, cell)) for cell in self.cells(*SQUARES)}
        return [site_by_cell.get(cell, ("", cell)) for cell in ahead]

    # The rules

    def start(self, rng: np.random.Generator, /) -> CookingState:
        """Draw s₀: players at random starts with random facings; hands, counters and pots are empty."""
        bodies = tuple(PlayerState(cell, facing) for cell, facing in placed(self.starts, len(self.agents), rng))
        return CookingState(
            0, bodies, (NOTHING,) * len(self.counters), (PotState(),) * len(self.pots), (0.0,) * len(bodies)
        )

    def actions(self, state: CookingState, agent: str) -> tuple[Action, ...]:
        """All eight actions, in every state; those without effect are like a noop."""
        return ACTIONS

    def done(self, state: CookingState) -> bool:
        """Whether the episode has ended."""
        return state.t >= self.steps

    def reward(self, state: CookingState, joint: Mapping[str, Action], after: CookingState) -> dict[str, float]:
        """The rewards of the step."""
        return dict(zip(self.agents, after.rewards, strict=True))

    def chance(self, state: CookingState, joint: Mapping[str, Action], rng: np.random.Generator, /) -> CookingOutcome:
        """Draw the orders in which players move and interact, each uniformly."""
        return CookingOutcome(order_of(len(self.agents), rng), order_of(len(self.agents), rng))

    def step(self, state: CookingState, joint: Mapping[str, Action], rng: np.random.Generator, /) -> CookingState:
        """Draw s′ ~ T(· | s, a). Raises ValueError for an unknown action."""
        return self._next_state(state, joint, self.chance(state, joint, rng))

    def step_with(self, state: CookingState, joint: Mapping[str, Action], outcome: CookingOutcome) -> CookingState:
        """s′ for a given outcome of chance. Raises ValueError for an unknown action or an impossible outcome."""
        everybody = list(range(len(self.agents)))
        if any(sorted(order) != everybody for order in outcome):
            raise ValueError(f"{outcome} does not have every player once in each order")
        return self._next_state(state, joint, outcome)

    def _next_state(self, state: CookingState, joint: Mapping[str, Action], outcome: CookingOutcome) -> CookingState:
        """The next state, for an outcome of chance that is possible. Raises ValueError for an unknown action."""
        acts = [joint[agent] for agent in self.agents]
        try:
            bodies = self._moved(state.bodies, acts, outcome.movers)
        except KeyError as error:
            raise ValueError(f"unknown action {error}") from None
        pots = [heated(pot, self.cook) if pot.tomatoes == FULL else pot for pot in state.pots]
        counters, reward = state.counters, 0.0
        if "interact" in acts:
            users = [i for i in outcome.beamers if acts[i] == "interact" and not state.bodies[i].waits]
            counters, reward = self._after_interactions(bodies, users, counters, pots)
        return CookingState(state.t + 1, tuple(bodies), counters, tuple(pots), (reward,) * len(bodies))

    def _moved(self, bodies: Sequence[PlayerState], acts: Sequence[Action], movers: Sequence[int]) -> list[PlayerState]:
        """The players after moves and turns, ready to interact again."""
        cells = [body.cell for body in bodies]
        players, poses = list(bodies), self.field.poses
        for i in movers:
            cell, facing, hand, waits = bodies[i]
            pose_before = cell * 4 + facing
            pose = poses[acts[i]][pose_before]
            if pose == pose_before or (pose >> 2 != cell and pose >> 2 in cells):
                if waits:
                    players[i] = PlayerState(cell, facing, hand)
            else:
                cells[i] = pose >> 2
                players[i] = PlayerState(pose >> 2, pose & 3, hand)
        return players

    def _after_interactions(
        self, bodies: list[PlayerState], users: Sequence[int], lying: tuple[int, ...], pots: list[PotState]
    ) -> tuple[tuple[int, ...], float]:
        """Counters and every player's reward after all interactions; `bodies` and `pots` are changed in place."""
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
            bodies[i] = PlayerState(cell, facing, hand, True)
        return tuple(counters), self.pay * soups if soups else 0.0

    # What is seen

    @cached_property
    def _bare_codes(self) -> list[int]:
        """The codes of all cells without players and things; the last cell is never on the map and is OUTSIDE."""
        codes = [OUTSIDE] * self.grid.size
        for cell in self.cells(*SEEN_AS):
            codes[cell] = SEEN_AS[self.square(cell)]
        return codes

    def observe(self, state: CookingState, agent: str) -> CookingView:
        """The player's window and its own state.

        Melting Pot shows the same window as a picture and nothing else: neither the player's place nor whether it can
        interact. The picture also shows the progress of pots, at times a step late; this view does not.
        """
        i = self.agents.index(agent)
        me, codes = state.bodies[i], self._bare_codes.copy()
        for cell, thing in zip(self.counters, state.counters, strict=True):
            if thing:
                codes[cell] = SEES_COUNTER + thing
        for cell, pot in zip(self.pots, state.pots, strict=True):
            codes[cell] = SEES_SOUP if pot.cooked else SEES_POT + pot.tomatoes
        for j, (cell, facing, hand, _) in enumerate(state.bodies):
            codes[cell] = player_code(j, facing, hand)
        window = tuple([codes[cell] for cell in self.field.window(me.cell, me.facing)])
        return CookingView(window, me.cell, me.facing, me.hand, not me.waits, state.rewards[i])

    def draw(self, state: CookingState) -> str:
        """The map as text, two characters a cell: a player `^ > v <` or a square, and the thing there."""
        tiles = {cell: "." if self.grid.is_floor(cell) else self.square(cell) for cell in self.cells(*SQUARES)}
        for cell, thing in zip(self.counters, state.counters, strict=True):
            tiles[cell] += SIGNS[thing]
        for cell, pot in zip(self.pots, state.pots, strict=True):
            tiles[cell] += SIGNS[SOUP] if pot.cooked else str(pot.tomatoes)
        for body in state.bodies:
            tiles[body.cell] = ARROWS[body.facing] + SIGNS[body.hand]
        return "\n".join("".join(tiles[cell].ljust(2) for cell in row).rstrip() for row in self.grid.rows)
