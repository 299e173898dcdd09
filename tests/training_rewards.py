"""Rewards of training games by brute force, from the points that the player was told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from statistics import mean
from typing import Any

from otherminds.evaluation.partner_families import drawn
from otherminds.evaluation.tasks import Task
from otherminds.worlds.repeated_games.payoff_files import find_game


def task_of(row: dict[str, Any]) -> Task:
    """The partner of a row of a curriculum."""
    return drawn(row["family"], find_game(row["game"]), row["part"], row["rounds"], row["seed"])


def reward_told(row: dict[str, Any], told: Iterable[str]) -> float:
    """(earned − U) / (V − U) with a partner that never slips, V and U being the best and the mean of all plays."""
    points = [int(won) for text in told for won in re.findall(r"You won (\d+) point", text)]
    assert len(points) == row["rounds"]
    task = task_of(row)
    payoff, outputs, moves = task.game.payoff(), task.partner.outputs, task.partner.moves
    assert all(max(chances) == 1.0 for chances in outputs)
    totals = []
    for actions in product(range(len(payoff)), repeat=row["rounds"]):
        state, total = 0, 0.0
        for action in actions:
            theirs = list(outputs[state]).index(1.0)
            total, state = total + payoff[action, theirs], moves[state][theirs][action]
        totals.append(total)
    return (sum(points) - mean(totals)) / (max(totals) - mean(totals))
