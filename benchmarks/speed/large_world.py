"""Time and memory of a rational agent's plan in a large world: a square room, and one with a slippery floor.

    python -m benchmarks.speed.large_world --side 317        # 100,489 states, five actions in each

Each room is planned for in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from math import log
from typing import NamedTuple

import numpy as np

from otherminds.distribution import Categorical
from otherminds.planning.rational import RationalAgent

WAYS = {"wait": (0, 0), "up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
SLIP = 0.2
Cell = tuple[int, int]


class Room(NamedTuple):
    """A square room without walls."""

    side: int
    agents: tuple[str, ...] = ("Mia",)

    def start(self, rng: np.random.Generator, /) -> Cell:
        return 0, 0

    def actions(self, cell: Cell, agent: str) -> tuple[str, ...]:
        return tuple(WAYS)

    def step(self, cell: Cell, joint: Mapping[str, str], rng: np.random.Generator, /) -> Cell:
        return self.moved(cell, joint)

    def moved(self, cell: Cell, joint: Mapping[str, str]) -> Cell:
        """The cell after a step that does not slip."""
        dx, dy = WAYS[joint["Mia"]]
        return min(max(cell[0] + dx, 0), self.side - 1), min(max(cell[1] + dy, 0), self.side - 1)

    def observe(self, cell: Cell, agent: str) -> Cell:
        return cell

    def reward(self, cell: Cell, joint: Mapping[str, str], after: Cell) -> dict[str, float]:
        return {"Mia": 0.0}

    def done(self, cell: Cell) -> bool:
        return False

    def reached(self, cell: Cell, agent: str, goal: Cell) -> bool:
        return cell == goal


class SlipperyRoom(Room):
    """A room in which a step leads nowhere with probability SLIP."""

    def outcomes(self, cell: Cell, joint: Mapping[str, str]) -> Categorical[Cell]:
        after = self.moved(cell, joint)
        return Categorical((after, cell), (log(1 - SLIP), log(SLIP))) if after != cell else Categorical((cell,), (0.0,))


ROOMS = {"room": Room, "slippery room": SlipperyRoom}


def report(name: str, side: int) -> None:
    """Plan for two goals and print what it took."""
    world, corner = ROOMS[name](side), (side - 1, side - 1)
    seconds = []
    for goal in (corner, (0, side - 1)):
        began = time.process_time()
        agent = RationalAgent(world, "Mia", goal).observe((0, 0))
        agent.act()
        seconds.append(time.process_time() - began)
        plan = agent.plan  # keeps the graph for the next goal
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first, second = seconds
    size = f"{len(plan.graph.states):,} states × {len(WAYS)} actions"
    print(f"{name}: {size}: {first:.1f} s CPU, {second:.1f} s for another goal, {megabytes:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=317)
    parser.add_argument("--only", choices=list(ROOMS))
    options = parser.parse_args()
    if options.only:
        report(options.only, options.side)
        return
    for name in ROOMS:
        command = [sys.executable, "-m", "benchmarks.speed.large_world", "--side", str(options.side), "--only", name]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
