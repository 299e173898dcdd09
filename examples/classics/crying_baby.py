"""The crying baby (acting on a belief)

A hungry baby cries more often. Hunger costs 10 a step and feeding 5; singing costs 0.5 and tells better whether it is
hungry. Kochenderfer 2015, Decision Making Under Uncertainty, section 6.2, and Kochenderfer, Wheeler and Wray 2022,
appendix F. Published: P(hungry) after five steps in the book's notebook 13-StateUncertainty.ipynb
(sisl/aa228-notebook); and the least of 50 beliefs at which memo's demo-pomdp.ipynb feeds (its code, run here).

Try: feeding that costs 2 instead of 5: from which belief on does one feed it then?
"""

import sys
from functools import cache
from pathlib import Path

import otherminds as om

REWARD = {"feed": -5.0, "sing": -0.5, "ignore": 0.0}
P_CRY = {"feed": (0.1, 0.8), "sing": (0.0, 0.9), "ignore": (0.1, 0.8)}  # of a sated and of a hungry baby
PUBLISHED = (0.9072, 0.0, 0.0241, 0.0299, 0.5376)


def coin(p: float) -> om.Categorical[bool]:
    """P(True) = p."""
    return om.Categorical.of({True: p, False: 1.0 - p})


@cache
def outcomes(p_hungry: float, action: str) -> om.Categorical[tuple[bool, bool]]:
    """P(hungry, crying) after an action: an unfed baby stays hungry, and gets hungry with probability 0.1."""
    hungry = coin(p_hungry).bind(lambda was: coin(0.0 if action == "feed" else 1.0 if was else 0.1))
    return hungry.joint(lambda is_hungry: coin(P_CRY[action][is_hungry]))


def updated(p_hungry: float, action: str, cries: bool) -> float:
    """P(hungry | action, crying)."""
    return outcomes(p_hungry, action).condition(lambda outcome: outcome[1] == cries).expect(lambda outcome: outcome[0])


@cache
def plan(p_hungry: float, steps: int) -> tuple[float, str]:
    """V(b) and the best action, for so many further steps: Q(b, a) = -10 b + R(a) + 0.9 E V(b')."""

    def onward(action: str) -> float:
        cries = outcomes(p_hungry, action).map(lambda outcome: outcome[1])
        return cries.expect(lambda seen: plan(round(updated(p_hungry, action, seen), 3), steps - 1)[0])

    return max((reward - 10.0 * p_hungry + 0.9 * (onward(a) if steps else 0.0), a) for a, reward in REWARD.items())


beliefs = [0.5]
for action, cries in (("ignore", True), ("feed", False), ("ignore", False), ("ignore", False), ("ignore", True)):
    beliefs.append(updated(beliefs[-1], action, cries))
print("P(hungry)", *(f"{p:.4f}" for p in beliefs[1:]), " published", *PUBLISHED)
feeds = [k for k in range(50) if plan(k / 49, 4)[1] == "feed"]
print(f"feeds from P(hungry) = {feeds[0]}/49 on (published 14/49)")
axes = om.plot_posterior([coin(p).map(lambda hungry: "hungry" if hungry else "sated") for p in beliefs])
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "crying_baby.svg")
