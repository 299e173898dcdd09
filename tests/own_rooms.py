"""Worlds as users write them: two people in two rooms, with and without a drawing, and a slippery corridor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

ROWS = ("#######", "#..#..#", "#.....#", "#..#..#", "#######")
WAYS = {"wait": (0, 0), "north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
SPOTS = {"window": (5, 1), "door": (1, 3)}
State = tuple[tuple[int, int], ...]


class Rooms:
    agents = ("Ana", "Ben")
    goals: Any = ("window", "door")

    def start(self, rng: np.random.Generator) -> State:
        return ((2, 2), (4, 2))

    def actions(self, state: State, agent: str) -> tuple[str, ...]:
        x, y = state[self.agents.index(agent)]
        return tuple(action for action, (dx, dy) in WAYS.items() if ROWS[y + dy][x + dx] != "#")

    def step(self, state: State, joint: Mapping[str, str], rng: np.random.Generator) -> State:
        ways = [WAYS[joint[agent]] for agent in self.agents]
        return tuple((x + dx, y + dy) for (x, y), (dx, dy) in zip(state, ways, strict=True))

    def observe(self, state: State, agent: str) -> State:
        return state

    def done(self, state: State) -> bool:
        return False

    def reached(self, state: State, agent: str, goal: str) -> bool:
        return state[self.agents.index(agent)] == SPOTS[goal]

    def text(self, state: State) -> str:
        rows = [list(row) for row in ROWS]
        for agent, (x, y) in zip(self.agents, state, strict=True):
            rows[y][x] = agent[0].lower()
        return "\n".join(map("".join, rows))


class DrawnRooms(Rooms):
    def draw(self, state: State) -> str:
        people = "".join(f'<circle cx="{20 * x + 10}" cy="{20 * y + 10}" r="8"/>' for x, y in state)
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 140 100" class="mine">{people}</svg>'


class Corridor:
    """Nine cells with a slippery floor; nothing is drawn."""

    agents = ("Ana",)
    goals: Mapping[str, tuple[int, ...]] = {"Ana": (0, 8)}

    def start(self, rng: np.random.Generator) -> int:
        return 4

    def actions(self, cell: int, agent: str) -> tuple[str, ...]:
        return ("left", "right")

    def step(self, cell: int, joint: Mapping[str, str], rng: np.random.Generator) -> int:
        way = 1 if joint["Ana"] == "right" else -1
        return min(max(cell + (way if rng.random() < 0.8 else -way), 0), 8)

    def observe(self, cell: int, agent: str) -> int:
        return cell

    def done(self, cell: int) -> bool:
        return cell in (0, 8)

    def reached(self, cell: int, agent: str, goal: int) -> bool:
        return cell == goal


class Broken(Rooms):
    def step(self, state: State, joint: Mapping[str, str], rng: np.random.Generator) -> Any:
        return state[7]


class NoWorld:
    agents = ("Ana",)
