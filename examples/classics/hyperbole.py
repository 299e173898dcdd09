"""The kettle for ten thousand dollars (hyperbole)

Hardly any kettle costs that; the listener infers that the speaker is upset, and that it probably cost less. What is
said serves one of five goals q: to convey the price, exactly or to the nearest ten, the feeling, or both: S(u | s, q) ∝
exp(log L0(q(s) | u) − cost). Kao, Wu, Bergen and Goodman 2014, with the priors that they elicited.
Published: the figures that the memo model in chapter 3 of SocialInteractionLab/problang-v2 gives if run (all goals are
alike, and numbers that are not round cost 1).

Try: drop the goals that use s[1] or s as a whole, and ten thousand means ten thousand.
"""

import sys
from collections.abc import Callable, Hashable
from pathlib import Path

import otherminds as om

P_PRICE = (0.4205, 0.3865, 0.0533, 0.0538, 0.0223, 0.0211, 0.0112, 0.0111, 0.0083, 0.0120)
PRICES = dict(zip((50, 51, 500, 501, 1000, 1001, 5000, 5001, 10000, 10001), P_PRICE, strict=True))
P_UPSET = {50: 0.3173, 500: 0.7920, 1000: 0.8933, 5000: 0.9524, 10000: 0.9864}  # by price, to the nearest ten
GOALS = (lambda s: s[0], lambda s: s[1], lambda s: s, lambda s: round(s[0], -1), lambda s: (round(s[0], -1), s[1]))
PUBLISHED = {50: (0.287, 0.990), 10000: (0.953, 0.404)}  # P(upset) and P(price below 100), by what is said
State = tuple[int, bool]  # price, and whether the speaker is upset about it


def literal_listener(said: int) -> om.Categorical[State]:
    """L0: P(price, upset | the price is what was said)."""
    p = P_UPSET[round(said, -1)]
    return om.Categorical.of({(said, True): p, (said, False): 1 - p})


def speaker(state: State, goal: Callable[[State], Hashable]) -> om.Categorical[int]:
    """S: P(number said | price, upset, what it is to convey)."""
    conveyed = {u: literal_listener(u).map(goal).log_prob(goal(state)) for u in PRICES}
    return om.Categorical.softmax((u, conveyed[u] - (u % 10 > 0)) for u in PRICES)  # costs 1 nat if not round


def listener(said: int) -> om.Categorical[State]:
    """L: P(price, upset | the number said), whatever it was to convey."""
    prior = om.Categorical.of(PRICES).bind(literal_listener)
    return prior.update(lambda s: om.Categorical.uniform(GOALS).bind(lambda goal: speaker(s, goal)).log_prob(said))


for said, published in PUBLISHED.items():
    belief = listener(said)
    upset, cheap = belief.map(lambda s: s[1]).prob(True), belief.map(lambda s: s[0] < 100).prob(True)
    print(f"{said}: upset {upset:.3f} (published {published[0]:.3f})", end=", ")
    print(f"cost less than 100 {cheap:.3f} (published {published[1]:.3f})")
axes = om.plot_posterior({f"“{said} dollars”": listener(said).map(lambda s: round(s[0], -1)) for said in PUBLISHED})
axes.set(xlabel="price, to the nearest ten")
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "hyperbole.svg")
