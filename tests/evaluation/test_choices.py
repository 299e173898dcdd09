"""Choices: simulated people in the place of real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from otherminds.evaluation.choices import simulated
from otherminds.evaluation.tables import read_choices
from otherminds.papers.people.datasets import RPS, bots
from otherminds.worlds.repeated_games.players.parametric import MINDS


def test_simulated_people_take_the_place_of_real_ones() -> None:
    lines = [f"p{n},prev_move_positive,{t},rock,paper" for n in range(3) for t in range(1, 9)]
    like = read_choices(Path("data.csv"), RPS, text="\n".join(["person,group,round,own,other", *lines]))
    values = {"memory": np.full(3, 0.9), "beta": np.full(3, 15.0)}
    mind = MINDS["own_transitions"]
    one, two = (simulated(mind, like, values, np.random.default_rng(7), bots()) for _ in range(2))
    assert (one.own == two.own).all(), "same seed, same people"
    assert one.people == like.people
    replayed = simulated(mind, like, values, np.random.default_rng(7))
    assert (replayed.theirs == like.theirs).all()
    assert (replayed.own[:, 4:] == 2).mean() > 0.8, "they expect paper, and play scissors"
