"""Help or hinder (the same push is either)

The small one walks to the flower at one end of a corridor or to the tree at the other; the big one may push it a
cell. Ullman et al. 2009, NIPS 22: the big one is rewarded by RHO times the small one's value, minus a cost; it helps
if RHO > 0, hinders if RHO < 0, and does not care if RHO = 0. P(action) ∝ exp(BETA Q). Published: the equation only.
By symmetry a push alone is as probable for help as for hindrance, until the small one's goal shows.

Try: let the small one walk twice first, and be pushed afterwards: does the order matter?
"""

import sys
from itertools import product
from pathlib import Path

import otherminds as om

BETA, COST = 1.0, 0.5  # chosen
ENDS = {"flower": -4, "tree": 4}
RHO = {"helps": 2.0, "hinders": -2.0, "does not care": 0.0}
MOVES = {"left": -1, "right": 1, "stay": 0}
Minds = tuple[str, str]  # what the small one wants, and what the big one wants of it


def act(minds: Minds, agent: str, cell: int) -> om.Categorical[str]:
    """P(move of the small one | agent and cell): its own step, or a push that costs the big one something."""
    weight, cost = (1.0, 0.0) if agent == "small" else (RHO[minds[1]], COST)
    value = {name: -weight * abs(ENDS[minds[0]] - cell - dx) - cost * abs(dx) for name, dx in MOVES.items()}
    return om.Categorical.softmax((name, BETA * q) for name, q in value.items())


def after(belief: om.Categorical[Minds], agent: str, cell: int, move: str) -> om.Categorical[Minds]:
    """P(minds | the move that was seen)."""
    seen = belief.joint(lambda minds: act(minds, agent, cell))
    return seen.condition(lambda pair: pair[1] == move).map(lambda pair: pair[0])


beliefs, cell = [om.Categorical.uniform(product(ENDS, RHO))], 0
for agent, move in (("big", "left"), ("small", "right"), ("big", "left"), ("small", "right"), ("big", "left")):
    beliefs.append(after(beliefs[-1], agent, cell, move))
    cell += MOVES[move]
    wants, of_it = (beliefs[-1].map(lambda minds, k=k: minds[k]) for k in (0, 1))
    print(
        f"{agent:5} {move:5} wants the flower {wants.prob('flower'):.2f};", *(f"{name} {p:.2f} " for name, p in of_it)
    )
axes = om.plot_posterior([belief.map(lambda minds: minds[1]) for belief in beliefs])
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "help_or_hinder_2009.svg")
