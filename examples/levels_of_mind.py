"""Levels of mind reading (k-ToM): in matching pennies, which level predicts which?

A 0-ToM counts what the other does, a 1-ToM takes the other for a 0-ToM, a 2-ToM for a 0-ToM or a 1-ToM. Differences
below 0.05 may be chance.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import Game, player, rollout
from otherminds.reports.plots import LOOK
from otherminds.worlds.repeated_games.rules import RepeatedGame

PENNIES = Game("pennies", ("even", "odd"), (("heads", "tails"),) * 2, ((1, -1), (-1, 1), (-1, 1), (1, -1)))
ROUNDS, PAIRS = 60, 30
world = RepeatedGame(PENNIES, ROUNDS)


def won(mine: int, yours: int) -> float:
    """What the first wins a round, on the average."""
    total = 0.0
    for seed in range(PAIRS):
        rng = np.random.default_rng(seed)
        minds = {
            "even": player(f"k_tom_{mine}", PENNIES, horizon=ROUNDS, rng=rng),
            "odd": player(f"k_tom_{yours}", PENNIES.seen_by(1), horizon=ROUNDS, rng=rng),
        }
        steps = rollout(world, minds, steps=ROUNDS, rng=rng)
        total += sum(world.reward(step.state, step.joint, step.after)["even"] for step in steps)
    return total / (ROUNDS * PAIRS)


table = np.array([[won(mine, yours) for yours in range(3)] for mine in range(3)])
for k, row in enumerate(table):
    print(f"{k}-ToM wins", *(f"{x:+.2f} from a {other}-ToM" for other, x in enumerate(row)), sep="  ")
plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(3.4, 2.8))
axes.imshow(table, cmap="RdBu", vmin=-1, vmax=1)
for (mine, yours), value in np.ndenumerate(table):
    axes.text(yours, mine, f"{value:+.2f}", ha="center", va="center", color="white" if abs(value) > 0.6 else "black")
axes.set(xticks=range(3), yticks=range(3), xlabel="level of the other", ylabel="own level", title="won a round")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "levels_of_mind.svg", metadata={"Date": None})
