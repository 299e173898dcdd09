"""Cognitive hierarchy (a mixture of shallower minds)

A level-k player takes the others for a Poisson mixture of levels 0 to k - 1. Camerer, Ho and Chong 2004, Quarterly
Journal of Economics 119: people have a mean level of about 1.5. In the 11-20 game (Arad and Rubinstein 2012) a player
asks for 11 to 20 coins, and gets 20 more if that is one less than the other asks for. Published: levels 3 and 4 both
ask for 17, where plain level-k goes on to 16 (memo's demo-11-20.ipynb quotes the paper; its code, run here, gives the
six).

Try: a mean level of 1.5 in the 11-20 game: from which level on does nobody go further down?
"""

import sys
from functools import cache
from math import lgamma, log
from pathlib import Path

import otherminds as om

TAU = 2.36  # mean level in the 11-20 game, fitted by Arad and Rubinstein 2012
PUBLISHED = (20, 19, 18, 17, 17, 16)


def levels(tau: float, below: int) -> om.Categorical[int]:
    """P(level) ∝ tau^k / k!, cut off: what a player of level `below` thinks of the others."""
    return om.Categorical.from_scores((k, k * log(tau) - lgamma(k + 1)) for k in range(below))


@cache
def request(level: int, hierarchy: bool = True) -> int:
    """The best answer to the mixture of all lower levels, or to the level below."""
    if level == 0:
        return 20
    others = levels(TAU, level) if hierarchy else om.Categorical.uniform([level - 1])
    asked = others.map(lambda k: request(k, hierarchy))
    return max(range(20, 10, -1), key=lambda n: n + 20 * asked.prob(n + 1))


people = levels(1.5, 60)  # nobody has level 60
print("levels 0 to 4 of people:", *(f"{people.prob(k):.2f}" for k in range(5)), f"mean {people.expect(float):.1f}")
print("hierarchy:", *(request(k) for k in range(6)), " published:", *PUBLISHED)
print("level-k:  ", *(request(k, hierarchy=False) for k in range(6)))
axes = om.plot_posterior({f"level {k}": levels(TAU, k) for k in range(2, 5)})
axes.set(xlabel="level that it expects of the other")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "cognitive_hierarchy.svg")
