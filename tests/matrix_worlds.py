"""Small matrix worlds and scenes in them, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from otherminds.worlds.avatars import ACTIONS, Action
from otherminds.worlds.in_the_matrix.map_files import parse_matrix_world
from otherminds.worlds.in_the_matrix.rules import MatrixOutcome, MatrixState, returning
from otherminds.worlds.in_the_matrix.world import InTheMatrix

SAID = """
players: {players}
kinds: r rock, p paper, s scissors
payoffs: 0 -10 10, 10 0 -10, -10 10 0
window: 2 2 3 1
regrowth: 15 0.02
frozen: 16
respawn: {respawn}
restock: yes
ends: 1000 100 0.2 5000
"""
HALL = """
WWWWWWWWWWW
Wn       nW
W         W
W         W
W         W
W        rW
Wn       nW
WWWWWWWWWWW
"""
ARROWS = "^>v<"
PAPER, ROCK = (1, 6, 1), (6, 1, 1)


def world_of(rows: str = HALL, players: int = 2, respawn: int = 23) -> InTheMatrix:
    """A world with this map."""
    return parse_matrix_world(rows.strip("\n") + "\n" + SAID.format(players=players, respawn=respawn), Path("map.txt"))


def scene(world: InTheMatrix, *players: str, held: Sequence[tuple[int, int, int]] = ()) -> MatrixState:
    """A state in which players stand as told, `x y` and an arrow each, holding what is given (else one of each)."""
    state, grid = world.start(np.random.default_rng(0)), world.rules.field.grid
    words = [player.split() for player in players]
    return state._replace(
        cells=tuple(grid.cell(int(x), int(y)) for x, y, _ in words),
        facings=tuple(ARROWS.index(arrow) for _, _, arrow in words),
        inventories=(*held, *[world.rules.empty] * (len(players) - len(held))),
    )


def play(world: InTheMatrix, state: MatrixState, *acts: Action, outcome: MatrixOutcome | None = None) -> MatrixState:
    """One step in which players act so, the rest stand still, and nothing happens by chance but what is given."""
    idle: list[Action] = ["noop"] * (len(world.agents) - len(acts))
    joint = dict(zip(world.agents, [*acts, *idle], strict=True))
    return world.step_with(state, joint, calm(world, state) if outcome is None else outcome)


def calm(world: InTheMatrix, state: MatrixState) -> MatrixOutcome:
    """Everybody in order, nothing regrows, the dead return to the first free spawn point, the episode goes on."""
    order, rules = tuple(range(len(world.agents))), world.rules
    return MatrixOutcome(order, order, respawns=tuple((rules.spawns, 0) for _ in returning(rules, state)))


def wait(world: InTheMatrix, state: MatrixState, steps: int) -> MatrixState:
    """Everybody stands still for some steps."""
    for _ in range(steps):
        state = play(world, state)
    return state


def met(world: InTheMatrix, held: tuple[tuple[int, int, int], ...] = (PAPER, ROCK)) -> MatrixState:
    """The first player has just hit the second one."""
    return play(world, scene(world, "3 3 >", "5 3 <", held=held), "interact")


def random_steps(
    world: InTheMatrix, rng: np.random.Generator, steps: int
) -> list[tuple[MatrixState, dict[str, Action], MatrixOutcome]]:
    """Random play by eager hands: states, what everybody did there, and how chance fell; starts over at ends."""
    chances = np.array([1, 6, 1, 1, 1, 2, 2, 4]) / 18
    found, state = [], world.start(rng)
    for _ in range(steps):
        joint = {
            agent: ACTIONS[k]
            for agent, k in zip(world.agents, rng.choice(8, len(world.agents), p=chances), strict=True)
        }
        outcome = world.chance(state, joint, rng)
        found.append((state, joint, outcome))
        state = world.step_with(state, joint, outcome)
        state = world.start(rng) if state.ended else state
    return found
