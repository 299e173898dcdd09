"""Avatars: players that face a direction, step relative to it, and see a window of the map that turns with them.

Shared by the worlds in the manner of Melting Pot (Agapiou et al. 2022), whose eight actions these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from otherminds.worlds.grid import Grid

Action = Literal["noop", "forward", "backward", "step_left", "step_right", "turn_left", "turn_right", "interact"]
ACTIONS: tuple[Action, ...] = get_args(Action)
FACINGS = "NESW"
NORTH, EAST, SOUTH, WEST = range(4)
STEPS: dict[str, int] = {"forward": 0, "step_right": 1, "backward": 2, "step_left": 3}
TURNS: dict[str, int] = {"turn_right": 1, "turn_left": 3}
AHEAD = ((0, -1), (1, 0), (0, 1), (-1, 0))
OUTSIDE = -1


class Reach(NamedTuple):
    """The number of cells a player sees to the left, to the right, forward and backward."""

    left: int
    right: int
    forward: int
    backward: int


@dataclass(frozen=True)
class Field:
    """A grid seen by avatars: where a step leads, and which cells a window shows."""

    grid: Grid
    reach: Reach

    @cached_property
    def ahead(self) -> tuple[int, int, int, int]:
        """The number that a step north, east, south or west adds to a cell."""
        return tuple(dx + dy * self.grid.stride for dx, dy in AHEAD)  # type: ignore[return-value]

    @cached_property
    def poses(self) -> dict[Action, list[int]]:
        """For each action, the unobstructed pose after it, by the pose before; a pose is cell · 4 + facing."""

        def after(action: Action, pose: int) -> int:
            """The pose after an action; unchanged if a wall is in the way."""
            cell, facing = divmod(pose, 4)
            if action in STEPS:
                target = cell + self.ahead[(facing + STEPS[action]) % 4]
                return target * 4 + facing if self.grid.is_floor(target) else pose
            return cell * 4 + (facing + TURNS.get(action, 0)) % 4

        return {action: [after(action, pose) for pose in range(self.grid.size * 4)] for action in ACTIONS}

    def window(self, cell: int, facing: int) -> tuple[int, ...]:
        """The cells a player sees, row by row from the farthest ahead, left to right; OUTSIDE beyond the map."""
        window = self._window_cache.get((cell, facing))
        if window is None:
            (x, y), (ahead_x, ahead_y) = self.grid.xy(cell), AHEAD[facing]
            places = (
                (x + forward * ahead_x - right * ahead_y, y + forward * ahead_y + right * ahead_x)
                for forward in range(self.reach.forward, -self.reach.backward - 1, -1)
                for right in range(-self.reach.left, self.reach.right + 1)
            )
            width, height = self.grid.width, self.grid.height
            window = tuple(self.grid.cell(u, v) if 0 <= u < width and 0 <= v < height else OUTSIDE for u, v in places)
            self._window_cache[cell, facing] = window
        return window

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of a window."""
        return self.reach.forward + 1 + self.reach.backward, self.reach.left + 1 + self.reach.right

    @cached_property
    def _window_cache(self) -> dict[tuple[int, int], tuple[int, ...]]:
        return {}


def order_of(players: int, rng: np.random.Generator) -> tuple[int, ...]:
    """A uniformly random order of players."""
    if players == 2:
        return (0, 1) if rng.random() < 0.5 else (1, 0)
    uniforms = rng.random(players).tolist()
    return tuple(sorted(range(players), key=uniforms.__getitem__))


def placed(spots: Sequence[int], players: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """(cell, facing) for each player: distinct random spots and uniformly random directions."""
    indices = rng.permutation(len(spots))[:players].tolist()
    facings = rng.integers(4, size=players).tolist()
    return [(spots[k], facing) for k, facing in zip(indices, facings, strict=True)]
