"""Axelrod's tournament (it pays to be nice)

Rules for the prisoner's dilemma meet each other and themselves for 200 rounds; six of Axelrod's fifteen are small
machines. Axelrod 1980, Journal of Conflict Resolution 24: every nice rule, never the first to defect, scored more
than JOSS, RANDOM and all that are not. Published: 600 points if both cooperate; TIT FOR TAT 5 behind JOSS (225 and
230, five games, footnote 2); the scores among all fifteen (appendix), which TIT FOR TAT won, unlike here.

Try: a seventh rule, om.partner("tit-for-two-tats", GAME), which would have won Axelrod's (footnote 5).
"""

import sys
from pathlib import Path

import numpy as np

import otherminds as om
from otherminds.worlds.repeated_games.machines import build

GAME = om.Game("dilemma", ("row", "column"), (("cooperate", "defect"),) * 2, ((3, 3), (0, 5), (5, 0), (1, 1)))
ROUNDS = 200
PUBLISHED = {"tft": 504.5, "grofman": 481.9, "friedman": 473.4, "davis": 471.8, "joss": 304.4, "random": 276.3}
SORRY = (2 / 7, 5 / 7)  # Grofman's rule after a round in which the two did not do the same
RULES = {
    "tft": om.partner("tft", GAME),
    "grofman": build(
        "grofman", GAME, False, lambda differ: SORRY if differ else 0, lambda _, own, theirs: own != theirs
    ),
    "friedman": om.partner("grim", GAME),
    "davis": build("davis", GAME, (0, 0), lambda q: q[1] * (q[0] == 10), lambda q, _, d: (min(q[0] + 1, 10), q[1] | d)),
    "joss": om.partner("joss", GAME),
    "random": om.partner("random", GAME),
}
scores = ROUNDS * om.tournament(GAME, list(RULES.values()), ROUNDS)
means = dict(zip(RULES, scores[:, :, 0].mean(axis=1), strict=True))
for name, mean in means.items():
    print(f"{name:8} {mean:.1f} among these six (published among fifteen: {PUBLISHED.get(name)})")
print(f"both cooperate: {scores[0, 0, 0]:.0f} (published 600)")
print(f"tft is behind joss by {scores[4, 0, 0] - scores[0, 4, 0]:.1f} (published {230 - 225})")
shares = om.replicator_dynamics(scores[:, :, 0], 15)  # who scores more has more offspring
axes = om.plot_posterior([om.Categorical.from_scores(zip(RULES, row, strict=True)) for row in np.log(shares)])
axes.set(xlabel="generation", ylabel="share")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "iterated_dilemma.svg")
