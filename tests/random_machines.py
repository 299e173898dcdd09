"""Random machines to meet in repeated games, shared by tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.rules import Game


def random_machines(game: Game, number: int, states: int, rng: np.random.Generator) -> Iterator[Machine]:
    """Random deterministic machines with 2 to `states` states; outputs are uniform, and moves ignore own slips."""
    options, others = game.payoff(1).shape
    for i in range(number):
        size = int(rng.integers(2, states + 1))
        outputs = rng.integers(options, size=size)
        moves = rng.integers(size, size=(size, others))
        laws = tuple(tuple(float(action == output) for action in range(options)) for output in outputs)
        yield Machine(f"random {i}", laws, tuple((tuple(row),) * options for row in moves.tolist()))
