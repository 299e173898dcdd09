"""In the matrix: gather resources to choose how you play a matrix game, then zap somebody to play it.

Melting Pot's `*_in_the_matrix` worlds (Agapiou et al. 2022), step for step: two or more avatars see a window of
the map, and what they hold is their mixed strategy. Map files are read by `matrix_files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from otherminds.worlds import matrix_step
from otherminds.worlds.avatars import ACTIONS, FACINGS, OUTSIDE, Action
from otherminds.worlds.matrix_rules import COOLDOWN, FREE, NOWHERE, Inventory, Meeting, Outcome, Rules, State

FLOOR, WALL, RESOURCE, PLAYER = 0, 1, 2, 16
PLAIN, READY, FROZEN = 0, 1, 2
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
        return self._whole if agent in self.all_seeing else self.rules.field.window(cell, facing)

    def sites_seen(self, agent: str, cell: int, facing: int) -> tuple[tuple[int, int], ...]:
        """Where in a window sites of resources are seen, and which ones."""
        key = (agent, cell, facing)
        if key not in self._sites_seen:
            codes, site_at = enumerate(self.cells_seen(agent, cell, facing)), self.rules.site_at
            self._sites_seen[key] = tuple((place, site_at[c]) for place, c in codes if c >= 0 and site_at[c] >= 0)
        return self._sites_seen[key]

    @cached_property
    def _sites_seen(self) -> dict[tuple[str, int, int], tuple[tuple[int, int], ...]]:
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

    def _window(self, state: State, i: int) -> tuple[int, ...]:
        cell = state.cells[i]
        if cell == NOWHERE:
            return ()
        seen = self.cells_seen(self.agents[i], cell, state.facings[i])
        codes = self._codes(state, -state.facings[i])
        return tuple([codes[c] for c in seen])

    def _codes(self, state: State, turn: int) -> list[int]:
        """The code of every cell, for somebody who has turned the world so."""
        codes = list(self._ground)
        for site, cell in enumerate(self.rules.sites):
            if state.shown >> site & 1:
                codes[cell] = RESOURCE + state.kinds[site]
        for j, cell in enumerate(state.cells):
            if cell != NOWHERE:
                look = PLAIN if state.inventories[j] == self.rules.empty else READY
                look = look if state.clocks[j] == FREE else FROZEN
                codes[cell] = PLAYER + 16 * j + 4 * ((state.facings[j] + turn) % 4) + look
        return codes

    def draw(self, state: State) -> str:
        """The map as text: `#` walls, the first letter of resources, arrows for players."""
        codes, grid = self._codes(state, 0), self.rules.field.grid
        return "\n".join(
            "".join(self._letter(codes[grid.cell(x, y)]) for x in range(grid.width)) for y in range(grid.height)
        )

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
