"""Literal against functional: who foresees a partner, and who makes something of it?

Eight players meet six partners in the iterated prisoner's dilemma. To lose 0 is the best that can be had, 1 is to play
at random.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import Task, find_game, functional_regret, partner, play, player, tom_percent
from otherminds.evaluation.literal_functional import normalised
from otherminds.reports.plots import BLUE, LOOK

PLAYERS = ("rmax", "counts_myopic", "k_tom_1", "bayes_simplicity", "bayes_library", "posterior_sampling", "tft",
           "always-cooperate")  # fmt: skip
PARTNERS = ("always-cooperate", "always-defect", "tft", "wsls", "cycle-011", "tit-for-two-tats")
game = find_game("ipd")
tasks = [Task(game, partner(name, game)) for name in PARTNERS]

plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.6, 3.4))
for name in PLAYERS:
    told, lost = [], []
    for task in tasks:
        rng = np.random.default_rng(5)
        rows = list(play(task, player(name, game, horizon=task.horizon, rng=rng), rng=rng))
        told.append(tom_percent(rows))
        lost.append(normalised(task, functional_regret(task, rows)))
    axes.plot(np.mean(told), np.mean(lost), "o", color=BLUE)
    axes.annotate(name, (np.mean(told), np.mean(lost)), (6, -3), textcoords="offset points")
    print(f"{name:18} foresees {np.mean(told):3.0f} %, loses {np.mean(lost):.2f}")
axes.set(xlabel="partner's moves foreseen, %", ylabel="lost (0 best, 1 random)")
axes.margins(x=0.3, y=0.1)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "literal_functional.svg", metadata={"Date": None})
