"""People who play: how much of a bot's rule do they exploit, and which simple mind describes them?

Brockbank and Vul (2024) let people play 300 rounds of rock-paper-scissors against bots with a fixed rule. Loss is on
the scale of the other examples: 0 is the best response to the rule, 1 is to play at random.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds.evaluation.model_comparison import random_effects
from otherminds.evaluation.predictions import later_rounds
from otherminds.papers.people.datasets import dataset
from otherminds.papers.people.experiment import loss
from otherminds.reports.plots import LOOK
from otherminds.worlds.repeated_games.players.parametric import MINDS

BOTS = {
    "opponent_prev_move_nil": "copies your last move",
    "win_positive_lose_negative": "moves by its outcome",
    "outcome_transition_dual_dependency": "by outcome and last shift",
}
minds = [MINDS[name] for name in ("chance", "wsls", "joint_counts")]

plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.6, 3.2))
for bot, words in BOTS.items():
    people = dataset("human-rps").of_group(bot)
    blocks = [loss(people.earned[:, start : start + 50].mean()) for start in range(0, 300, 50)]
    axes.plot(range(50, 301, 50), blocks, "o-", label=words, markersize=4)
    shares = random_effects(np.stack([later_rounds(mind, people) for mind in minds], axis=1)).shares
    described = ", ".join(f"{mind.name} {share:.2f}" for mind, share in zip(minds, shares, strict=True))
    print(f"{words:25} {len(people.people)} people lose {np.mean(blocks[-2:]):.2f}; shares: {described}")
axes.axhline(1.0, color="grey", linewidth=0.7, linestyle="--")
axes.set(xlabel="rounds played", ylabel="lost (0 best, 1 random)", ylim=(0.0, 1.25))
axes.legend(frameon=False, fontsize=8, ncols=2, loc="lower left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "people.svg", metadata={"Date": None})
