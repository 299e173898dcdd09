"""A language model in a game of 100 rounds: the time it takes, and the time saved by evaluating no token twice."""

from __future__ import annotations

import time
from typing import NamedTuple

from otherminds.evaluation.tasks import Task
from otherminds.language.embedded import Embedded
from otherminds.language.weights import find_weights
from otherminds.papers.functional.model_episodes import ModelGameEntry, rows
from otherminds.worlds.repeated_games.partners import single_action
from otherminds.worlds.repeated_games.payoff_files import find_game

MODEL = "smollm2"
NAIVE_ROUNDS = 8


class Episode(NamedTuple):
    """Seconds, tokens of all prompts, and those that had to be evaluated."""

    seconds: float
    tokens: int
    evaluated: int


def episode(rounds: int, *, reuse: bool = True) -> Episode:
    """Rock, Paper, Scissors with a partner that always plays Rock, by LM prompting; the model is loaded beforehand."""
    game = find_game("rps")
    model = Embedded(find_weights(MODEL), reuse=reuse)
    entry = ModelGameEntry(Task(game, single_action(game)[0], rounds), "rps/single", MODEL, "lm", 0, 42)
    rows(ModelGameEntry(Task(game, single_action(game)[0], 1), "rps/single", MODEL, "lm", 0, 1), model)
    began = time.perf_counter()
    played = rows(entry, model)
    seconds = time.perf_counter() - began
    return Episode(seconds, sum(row["tokens"] for row in played), sum(row["evaluated"] for row in played))
