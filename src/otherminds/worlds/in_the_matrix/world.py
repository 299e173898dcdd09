"""In the matrix: gather resources to choose how you play a matrix game, then zap somebody to play it.

Melting Pot's `*_in_the_matrix` worlds (Agapiou et al. 2022), step for step: two or more avatars see a window of
the map, and what they hold is their mixed strategy. Map files are read by `matrix_files`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from otherminds.worlds.avatars import ACTIONS, FACINGS, NORTH, OUTSIDE, Action
from otherminds.worlds.in_the_matrix import step as matrix_step
from otherminds.worlds.in_the_matrix.rules import COOLDOWN, FREE, NOWHERE, Inventory, Meeting, Outcome, Rules, State

FLOOR, WALL, RESOURCE, PLAYER = 0, 1, 2, 16
PLAIN, READY, FROZEN = 0, 1, 2
KEPT = 256
CODES = {action: code for code, action in enumerate(ACTIONS)}


class Sighting(NamedTuple):
    """Somebody in a window: who, the way they face relative to the beholder (0: the same), and how they look.

    They look READY if they hold resources, FROZEN after a meeting, PLAIN otherwise.
    """

    player: int
    facing: int
    look: int


class View(NamedTuple):
    """What an avatar sees after `t` steps.

    `window` has a code for each cell that is seen, row by row from the farthest ahead, left to right: OUTSIDE
    the map, FLOOR, WALL, RESOURCE + its kind, or a player (see `sighting`); the dead see nothing. `cell` and
    `facing` are one's own. `met` is what oneself and the partner held if there was a meeting in the last step.
    """

    t: int
    cell: int
    facing: int
    window: tuple[int, ...]
    inventory: Inventory
    ready_to_shoot: float
    met: Meeting | None
    reward: float
    frozen: bool


def sighting(code: int) -> Sighting | None:
    """Whom a code of a window stands for, if anybody."""
    return Sighting(code - PLAYER >> 4, code >> 2 & 3, code & 3) if code >= PLAYER else None


class _Sight(NamedTuple):
    """The cells of a window, how to look them up, where in it each of them is, where which sites are, cells as bits."""

    cells: tuple[int, ...]
    pick: Callable[[list[int]], tuple[int, ...]]
    places: dict[int, int]
    sites: tuple[tuple[int, int], ...]
    bits: int

    @classmethod
    def of(cls, cells: tuple[int, ...], site_at: tuple[int, ...]) -> _Sight:
        places = {cell: place for place, cell in enumerate(cells) if cell != OUTSIDE}
        sites = tuple((k, site_at[cell]) for cell, k in places.items() if site_at[cell] >= 0)
        # one more than there are, because an itemgetter of one thing gives no tuple
        return cls(cells, itemgetter(*cells, OUTSIDE), places, sites, sum(1 << cell for cell in places))


@dataclass(frozen=True)
class InTheMatrix:
    """A matrix world and who plays in it. The `all_seeing` see the whole map, row by row, north up."""

    rules: Rules
    agents: tuple[str, ...]
    all_seeing: frozenset[str] = frozenset()

    def start(self, rng: np.random.Generator) -> State:
        """Draw s₀: different spawn points, any facings, the kinds of the sites that have none of their own."""
        return matrix_step.opening(self.rules, rng)

    def actions(self, state: State, agent: str) -> tuple[Action, ...]:
        """All eight, always."""
        return ACTIONS

    def step(self, state: State, joint: Mapping[str, Action], rng: np.random.Generator) -> State:
        """Draw s′ ~ T(· | s, a¹ … aⁿ)."""
        acts = [CODES[joint[agent]] for agent in self.agents]
        return matrix_step.advance(self.rules, state, acts, matrix_step.chance(self.rules, state, acts, rng))

    def chance(self, state: State, joint: Mapping[str, Action], rng: np.random.Generator) -> Outcome:
        """Draw what chance decides in this step: `step` is `step_with` of this."""
        return matrix_step.chance(self.rules, state, [CODES[joint[agent]] for agent in self.agents], rng)

    def step_with(self, state: State, joint: Mapping[str, Action], outcome: Outcome) -> State:
        """s′ if chance falls as given. Raises ValueError if it cannot fall so."""
        return matrix_step.step_with(self.rules, state, [CODES[joint[agent]] for agent in self.agents], outcome)

    def observe(self, state: State, agent: str) -> View:
        """What an agent sees; by default a window that turns with it, nothing while it is dead."""
        i = self.agents.index(agent)
        return View(
            state.t,
            state.cells[i],
            state.facings[i],
            self._window(state, i),
            state.inventories[i],
            1 - state.cooldowns[i] / COOLDOWN,
            state.met[i],
            state.rewards[i],
            state.clocks[i] != FREE,
        )

    def reward(self, state: State, joint: Mapping[str, Action], after: State) -> dict[str, float]:
        """What everybody was paid in this step: for a meeting, when both stop being frozen."""
        return dict(zip(self.agents, after.rewards, strict=True))

    def done(self, state: State) -> bool:
        """Whether the episode has ended."""
        return state.ended

    def cells_seen(self, agent: str, cell: int, facing: int) -> tuple[int, ...]:
        """The cells that the codes of a window stand for, OUTSIDE for those beyond the map."""
        return self._sight(agent, cell, facing).cells

    def bits_seen(self, agent: str, cell: int, facing: int) -> int:
        """The cells of a window as bits: bit c is set if cell c is seen."""
        return self._sight(agent, cell, facing).bits

    def sites_seen(self, agent: str, cell: int, facing: int) -> tuple[tuple[int, int], ...]:
        """Where in a window sites of resources are seen, and which ones."""
        return self._sight(agent, cell, facing).sites

    def _sight(self, agent: str, cell: int, facing: int) -> _Sight:
        whole = agent in self.all_seeing
        key = 0 if whole else 1 + 4 * cell + facing
        found = self._sights.get(key)
        if found is None:
            cells = self._whole if whole else self.rules.field.window(cell, facing)
            found = self._sights[key] = _Sight.of(cells, self.rules.site_at)
        return found

    @cached_property
    def _sights(self) -> dict[int, _Sight]:
        return {}

    @cached_property
    def _whole(self) -> tuple[int, ...]:
        grid = self.rules.field.grid
        return tuple(grid.cell(x, y) for y in range(grid.height) for x in range(grid.width))

    @cached_property
    def _ground(self) -> tuple[int, ...]:
        """The code of every cell without resources and players; the last one is for OUTSIDE."""
        codes = [FLOOR if self.rules.field.grid.is_floor(c) else WALL for c in range(self.rules.field.grid.size)]
        return (*codes, OUTSIDE)

    def _terrain(self, state: State) -> list[int]:
        """The code of every cell without players; kept, because resources change seldom."""
        key = (state.shown, state.kinds)
        found = self._terrains.get(key)
        if found is None:
            found = list(self._ground)
            for site, cell in enumerate(self.rules.sites):
                if state.shown >> site & 1:
                    found[cell] = RESOURCE + state.kinds[site]
            if len(self._terrains) >= KEPT:
                self._terrains.clear()
            self._terrains[key] = found
        return found

    @cached_property
    def _terrains(self) -> dict[tuple[int, tuple[int, ...]], list[int]]:
        return {}

    def _window(self, state: State, i: int) -> tuple[int, ...]:
        cell, facing, terrain = state.cells[i], state.facings[i], self._terrain(state)
        if cell == NOWHERE:
            return ()
        seen = self._sight(self.agents[i], cell, facing)
        *codes, _ = seen.pick(terrain)
        for j, other in enumerate(state.cells):
            place = seen.places.get(other)
            if place is not None:
                codes[place] = self._player(state, j, facing)
        return tuple(codes)

    def _player(self, state: State, j: int, facing: int) -> int:
        """The code of a player, for somebody who faces that way."""
        look = FROZEN if state.clocks[j] != FREE else READY if state.inventories[j] != self.rules.empty else PLAIN
        return PLAYER + 16 * j + 4 * ((state.facings[j] - facing) % 4) + look

    def draw(self, state: State) -> str:
        """The map as text: `#` walls, the first letter of resources, arrows for players."""
        codes, grid = self._terrain(state).copy(), self.rules.field.grid
        for j, cell in enumerate(state.cells):
            if cell != NOWHERE:
                codes[cell] = self._player(state, j, NORTH)
        rows = ([codes[grid.cell(x, y)] for x in range(grid.width)] for y in range(grid.height))
        return "\n".join("".join(map(self._letter, row)) for row in rows)

    def _letter(self, code: int) -> str:
        who = sighting(code)
        if who is not None:
            return "▲▶▼◀"[who.facing]
        return " #"[code] if code < RESOURCE else self.rules.resources[code - RESOURCE][0]

    def describe(self, view: View, agent: str) -> str:
        """A view in words: where everything is that is seen, as (column, row) (Cross et al. 2024, appendix D.1)."""
        places: dict[str, list[tuple[int, int]]] = {name: [] for name in self.rules.resources}
        others: dict[str, list[tuple[int, int]]] = {}
        if not view.window:
            return "You see nothing: you will return soon."
        for cell, code in zip(self.cells_seen(agent, view.cell, view.facing), view.window, strict=True):
            who = sighting(code)
            at = self.rules.field.grid.xy(cell)
            if who is not None and self.agents[who.player] != agent:
                toward = FACINGS[(who.facing + view.facing) % 4]
                looks = (", not ready", "", ", frozen")[who.look]
                others[f"{self.agents[who.player]}-{toward}{looks}"] = [at]
            elif RESOURCE <= code < PLAYER:
                places[self.rules.resources[code - RESOURCE]].append(at)
        held = ", ".join(f"{name} {count}" for name, count in zip(self.rules.resources, view.inventory, strict=True))
        me = {f"{agent}-{FACINGS[view.facing]}": [self.rules.field.grid.xy(view.cell)]}
        seen = [f"Observable {name} locations: {cells}" for name, cells in places.items()]
        lines = [f"Player position: {me}", *seen, f"Observable other players: {others}", f"Inventory: {held}"]
        return "\n".join([*lines, f"Ready to shoot: {'yes' if view.ready_to_shoot == 1 else 'no'}"])
