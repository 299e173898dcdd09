"""In the matrix: players gather resources to choose their strategy in a matrix game, then zap a partner to play it.

Melting Pot's `*_in_the_matrix` substrates (Agapiou et al. 2022), step for step: two or more avatars see a window of
the map, and their inventory is their mixed strategy. `map_files` reads maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from otherminds.errors import shortened
from otherminds.files.html import pictured
from otherminds.files.text import brief
from otherminds.worlds.avatars import ACTIONS, FACINGS, NORTH, OUTSIDE, Action
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, Inventory, MatrixOutcome, MatrixState, Rules

FLOOR, WALL, RESOURCE, PLAYER = 0, 1, 2, 16  # codes of cells; RESOURCE + kind, PLAYER + see `_player_code`
PLAIN, READY, FROZEN = 0, 1, 2  # how a player looks
KEPT = 256  # maps of resources that are kept before the cache is emptied; bounds memory, changes no result
CODES = {action: code for code, action in enumerate(ACTIONS)}


class Sighting(NamedTuple):
    """A player in a window: its index, its facing relative to the viewer (0: the same), and how it looks.

    A player looks READY if it has gathered resources, FROZEN after an interaction, PLAIN otherwise. In a code, above
    PLAYER, the lowest two bits are its look, the next two its facing, and the rest its index.
    """

    player: int
    facing: int
    look: int


class MatrixView(NamedTuple):
    """What an avatar observes after `t` steps.

    `window` has a code for each visible cell, row by row from the farthest ahead, left to right: OUTSIDE the map,
    FLOOR, WALL, RESOURCE + its kind, or a player (see `sighting`); it is empty for a dead player. `cell` and `facing`
    are the avatar's own. `met` has its own and the partner's inventory if it interacted in the last step, else None.
    """

    t: int
    cell: int
    facing: int
    window: tuple[int, ...]
    inventory: Inventory
    ready_to_shoot: float
    met: matrix_rules.Meeting | None
    reward: float
    frozen: bool

    def __repr__(self) -> str:
        return brief(self)


def sighting(code: int) -> Sighting | None:
    """The player that a code of a window stands for, None for other codes."""
    return Sighting(code - PLAYER >> 4, code >> 2 & 3, code & 3) if code >= PLAYER else None


class Sight(NamedTuple):
    """A window by the place of its codes.

    `cells` has OUTSIDE for those beyond the map, `pick` takes them from a list, `places` are the places by cell,
    `sites` pairs of a place and the index of the site there. In `bits`, bit c is set if cell c is visible.
    """

    cells: tuple[int, ...]
    pick: Callable[[list[int]], tuple[int, ...]]
    places: dict[int, int]
    sites: tuple[tuple[int, int], ...]
    bits: int

    @classmethod
    def of(cls, cells: tuple[int, ...], site_at: tuple[int, ...]) -> Sight:
        """The window with these cells."""
        places = {cell: place for place, cell in enumerate(cells) if cell != OUTSIDE}
        sites = tuple((k, site_at[cell]) for cell, k in places.items() if site_at[cell] >= 0)
        # an itemgetter of one item returns no tuple, so one more is picked
        return cls(cells, itemgetter(*cells, OUTSIDE), places, sites, sum(1 << cell for cell in places))


@dataclass(frozen=True)
class InTheMatrix:
    """A matrix world and its players. Those in `all_seeing` see the whole map, row by row, north up."""

    rules: Rules
    agents: tuple[str, ...]
    all_seeing: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        grid, kinds = self.rules.field.grid, ", ".join(self.rules.resources)
        return f"InTheMatrix({grid.width} × {grid.height}; {len(self.agents)} players; {shortened(kinds, 80)})"

    def _repr_html_(self) -> str:
        from otherminds.worlds.in_the_matrix.drawing import draw  # it knows this module

        return pictured(draw(self, self.start(np.random.default_rng(0))).svg())

    def start(self, rng: np.random.Generator) -> MatrixState:
        """Draw s₀: distinct spawn points, facings, and the kinds of sites whose kind is not fixed."""
        return matrix_rules.opening(self.rules, rng)

    def actions(self, state: MatrixState, agent: str) -> tuple[Action, ...]:
        """All eight actions, in every state."""
        return ACTIONS

    def step(self, state: MatrixState, joint: Mapping[str, Action], rng: np.random.Generator) -> MatrixState:
        """Draw s′ ~ T(· | s, a¹ … aⁿ)."""
        acts = self._action_codes(joint)
        return matrix_rules.advance(self.rules, state, acts, matrix_rules.chance(self.rules, state, acts, rng))

    def chance(self, state: MatrixState, joint: Mapping[str, Action], rng: np.random.Generator) -> MatrixOutcome:
        """Draw what chance decides in this step; `step_with` of it is what `step` returns."""
        return matrix_rules.chance(self.rules, state, self._action_codes(joint), rng)

    def step_with(self, state: MatrixState, joint: Mapping[str, Action], outcome: MatrixOutcome) -> MatrixState:
        """s′ for a given outcome of chance. Raises ValueError for an impossible outcome."""
        return matrix_rules.step_with(self.rules, state, self._action_codes(joint), outcome)

    def _action_codes(self, joint: Mapping[str, Action]) -> list[int]:
        """The index in ACTIONS of each agent's action, in the order of the agents."""
        return [CODES[joint[agent]] for agent in self.agents]

    def observe(self, state: MatrixState, agent: str) -> MatrixView:
        """What an agent observes: a window that turns with it (or the whole map), nothing while it is dead."""
        i = self.agents.index(agent)
        body = state.cells[i], state.facings[i], self._window(state, i), state.inventories[i]
        ready_to_shoot = 1 - state.cooldowns[i] / matrix_rules.COOLDOWN
        is_frozen = state.clocks[i] != FREE
        return MatrixView(state.t, *body, ready_to_shoot, state.met[i], state.rewards[i], is_frozen)

    def reward(self, state: MatrixState, joint: Mapping[str, Action], after: MatrixState) -> dict[str, float]:
        """Rewards of this step. An interaction is paid when its players stop being frozen."""
        return dict(zip(self.agents, after.rewards, strict=True))

    def done(self, state: MatrixState) -> bool:
        """Whether the episode has ended."""
        return state.ended

    def sight(self, agent: str, cell: int, facing: int) -> Sight:
        """The window of an agent at a cell, with a facing; cached."""
        sees_all = agent in self.all_seeing
        key = 0 if sees_all else 1 + 4 * cell + facing
        sight = self._sight_cache.get(key)
        if sight is None:
            field = self.rules.field
            cells = tuple(chain(*field.grid.rows)) if sees_all else field.window(cell, facing)
            sight = self._sight_cache[key] = Sight.of(cells, self.rules.site_at)
        return sight

    @cached_property
    def _sight_cache(self) -> dict[int, Sight]:
        return {}

    @cached_property
    def _bare_map(self) -> tuple[int, ...]:
        """The code of every cell without resources and players, and OUTSIDE at the end."""
        codes = [FLOOR if self.rules.field.grid.is_floor(c) else WALL for c in range(self.rules.field.grid.size)]
        return (*codes, OUTSIDE)

    def _terrain(self, state: MatrixState) -> list[int]:
        """The code of every cell without players, cached because resources change seldom."""
        key = (state.shown, state.kinds)
        terrain = self._terrain_cache.get(key)
        if terrain is None:
            terrain = list(self._bare_map)
            for site, cell in enumerate(self.rules.sites):
                if state.shown >> site & 1:
                    terrain[cell] = RESOURCE + state.kinds[site]
            if len(self._terrain_cache) >= KEPT:
                self._terrain_cache.clear()
            self._terrain_cache[key] = terrain
        return terrain

    @cached_property
    def _terrain_cache(self) -> dict[tuple[int, tuple[int, ...]], list[int]]:
        return {}

    def _window(self, state: MatrixState, i: int) -> tuple[int, ...]:
        """What player i sees: a code for each visible cell, in the order of `Sight.cells`; () for a dead player."""
        cell, facing = state.cells[i], state.facings[i]
        if cell == NOWHERE:
            return ()
        sight = self.sight(self.agents[i], cell, facing)
        *codes, _ = sight.pick(self._terrain(state))
        for j, player_cell in enumerate(state.cells):
            place = sight.places.get(player_cell)
            if place is not None:
                codes[place] = self._player_code(state, j, facing)
        return tuple(codes)

    def _player_code(self, state: MatrixState, j: int, facing: int) -> int:
        """The code of player j for a viewer with that facing; `sighting` decodes it."""
        appearance = FROZEN if state.clocks[j] != FREE else READY if state.inventories[j] != self.rules.empty else PLAIN
        return PLAYER + 16 * j + 4 * ((state.facings[j] - facing) % 4) + appearance

    def draw(self, state: MatrixState) -> str:
        """The map as text: `#` for walls, first letters for resources, arrows for players."""
        codes = self._terrain(state).copy()
        for j, cell in enumerate(state.cells):
            if cell != NOWHERE:
                codes[cell] = self._player_code(state, j, NORTH)
        signs = [" ", "#", *(name[0] for name in self.rules.resources)]
        letters = [signs[code] if code < PLAYER else "▲▶▼◀"[code >> 2 & 3] for code in codes]
        return "\n".join("".join(letters[cell] for cell in row) for row in self.rules.field.grid.rows)

    def describe(self, view: MatrixView, agent: str) -> str:
        """A view in words, with (column, row) of all that is visible (Cross et al. 2024, appendix D.1)."""
        places: dict[str, list[tuple[int, int]]] = {name: [] for name in self.rules.resources}
        players: dict[str, list[tuple[int, int]]] = {}
        if not view.window:
            return "You see nothing: you will return soon."
        for cell, code in zip(self.sight(agent, view.cell, view.facing).cells, view.window, strict=True):
            seen_player = sighting(code)
            position = self.rules.field.grid.xy(cell)
            if seen_player is not None and self.agents[seen_player.player] != agent:
                toward = FACINGS[(seen_player.facing + view.facing) % 4]
                looks = (", not ready", "", ", frozen")[seen_player.look]
                players[f"{self.agents[seen_player.player]}-{toward}{looks}"] = [position]
            elif RESOURCE <= code < PLAYER:
                places[self.rules.resources[code - RESOURCE]].append(position)
        counts = ", ".join(f"{name} {count}" for name, count in zip(self.rules.resources, view.inventory, strict=True))
        me = {f"{agent}-{FACINGS[view.facing]}": [self.rules.field.grid.xy(view.cell)]}
        resources = [f"Observable {name} locations: {cells}" for name, cells in places.items()]
        lines = [f"Player position: {me}", *resources, f"Observable other players: {players}", f"Inventory: {counts}"]
        return "\n".join([*lines, f"Ready to shoot: {'yes' if view.ready_to_shoot == 1 else 'no'}"])
