"""Learning from a teacher (pedagogical sampling)

A teacher shows a side of a die, A or B, to tell which it is: T(side | die) ∝ L(die | side), L(die | side) ∝
T(side | die); at depth 0 the learner takes the side for rolled. B rolls green more often than A does, but to teach B
one shows red. Shafto, Goodman and Griffiths 2014; the dice are those of Probabilistic Models of Cognition
(probmods.org), chapter Social cognition. Published: there, B about 60 % of the time at depth 0, about 40 % if deeper.

Try: a depth of 20; the learner becomes surer of A, but never very sure.
"""

import sys
from functools import cache
from pathlib import Path

import otherminds as om

SIDES = {"A": {"green": 0.2, "blue": 0.8}, "B": {"red": 0.1, "green": 0.3, "blue": 0.6}}
PUBLISHED = {0: 0.6, 1: 0.4}  # P(B | green), by depth
ROLL = {die: om.Categorical.of(sides) for die, sides in SIDES.items()}


@cache
def teacher(die: str, depth: int) -> om.Categorical[str]:
    """T: P(side that is shown | die), for a teacher who wants a learner of this depth to find out the die."""
    return om.Categorical.uniform(SIDES["B"]).update(lambda side: learner(side, depth).log_prob(die))


@cache
def learner(side: str, depth: int) -> om.Categorical[str]:
    """L: P(die | the side was rolled), or shown by a teacher who thinks of a learner of one depth less."""
    shown = {die: teacher(die, depth - 1) if depth else ROLL[die] for die in ROLL}
    return om.Categorical.uniform(ROLL).update(lambda die: shown[die].log_prob(side))


for depth, published in PUBLISHED.items():
    print(f"depth {depth}: P(B | green) = {learner('green', depth).prob('B'):.2f} (published {published})")
axes = om.plot_posterior([learner("green", depth) for depth in range(6)])
axes.set(xlabel="depth", ylabel="P(die | green)")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "pedagogical_sampling.svg")
