"""Fingerprints of strategies for 2 × 2 games: what they earn from a probe that is more and more disturbed.

(Ashlock and Kim, Fingerprinting: visualization and automatic analysis of prisoner's dilemma strategies, IEEE
Transactions on Evolutionary Computation 12(5), 2008; as in the Axelrod library.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from otherminds.worlds.repeated_games.machines import Machine
from otherminds.worlds.repeated_games.rules import Game
from otherminds.worlds.repeated_games.tournament import ROUNDING, expected_score

Floats = NDArray[np.float64]


def joss_ann(machine: Machine, x: float, y: float) -> Machine:
    """The Joss-Ann transform JA(m; x, y) of a machine with two actions.

    It cooperates (action 0) with probability x, defects with probability y, and else plays as the machine, whose state
    follows the actual action. Raises ValueError if the probabilities are negative, or their sum is above 1.
    """
    if x < 0 or y < 0 or x + y > 1 + ROUNDING:
        raise ValueError(f"{x} and {y} are no probabilities of two events that exclude each other")
    p_follow = max(0.0, 1.0 - x - y)
    laws = tuple((x + p_follow * cooperate, y + p_follow * defect) for cooperate, defect in machine.outputs)
    return Machine(f"JA({machine.name}; {x:g}, {y:g})", laws, machine.moves)


def dual(machine: Machine) -> Machine:
    """The machine that does the opposite of this one after every history of the other's actions."""
    laws = tuple((defect, cooperate) for cooperate, defect in machine.outputs)
    return Machine(f"dual of {machine.name}", laws, tuple(row[::-1] for row in machine.moves))


def fingerprint(game: Game, strategy: Machine, probe: Machine, rounds: int, step: float = 0.1) -> Floats:
    """The exact payoff per round of a strategy with the probe's Joss-Ann transforms over a grid: F[i, j] at x_i, y_j.

    F(x, y) = E[Σ_t R(strategy, JA(probe; x, y))] / T for x + y < 1, else with JA(dual of the probe; 1 − y, 1 − x). The
    grid is 0, step, …, 1 on both sides, the strategy in the first place:
    `fingerprint(ipd, partner("wsls", ipd), partner("tft", ipd), 50)`.
    Raises ValueError for a game that is not 2 × 2, a step outside (0, 1], or fewer than 1 round.
    """
    if game.shape != (2, 2):
        raise ValueError(f"fingerprints are of 2 × 2 games, and {game.name} is not")
    if not 0.0 < step <= 1.0:
        raise ValueError(f"a step of {step} does not divide the unit square")
    grid = np.linspace(0.0, 1.0, round(1.0 / step) + 1)
    opposite = dual(probe)
    totals = np.zeros((len(grid), len(grid)))
    for i, x in enumerate(grid):
        for j, y in enumerate(grid):
            beyond = x + y > 1.0 - ROUNDING
            probing = joss_ann(opposite, 1.0 - y, 1.0 - x) if beyond else joss_ann(probe, x, y)
            totals[i, j] = expected_score(game, strategy, probing, rounds)[0]
    return totals / rounds
