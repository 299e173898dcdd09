"""Costs and rewards (what infants expect)

An agent jumps a low wall to a first friend but not a medium one, and a medium wall to a second friend but not a high
one. To whom will it go if there is no wall? U = R - C, P(action) ∝ exp(beta U). Liu, Ullman, Tenenbaum and Spelke
2017, Science 358: 1038. Priors, costs, beta ~ Gamma(2, 1) and 4 trials of each kind are the authors'
(tomeru/inferReward). Published: infants look longer at the less expected (as quoted in memo's demo-liu.ipynb).

Try: TRIALS = 1, or a high wall that is hardly higher than the medium one.
"""

import sys
from functools import cache
from itertools import product
from math import log
from pathlib import Path

import otherminds as om

TRIALS, CELL = 4, 0.05
LOOKING = {"first": 28.41, "second": 21.79}
BETA = om.Categorical.softmax((b / 4, log(b / 4) - b / 4) for b in range(1, 61))


def between(low: float, high: float) -> list[float]:
    """The midpoints of the cells of an interval."""
    return [low + CELL * (k + 0.5) for k in range(round((high - low) / CELL))]


@cache
def p_act(gain: float) -> float:
    """P(does it rather than nothing), for U = R - C."""
    return BETA.expect(lambda beta: om.Categorical.softmax([(True, beta * gain), (False, 0.0)]).prob(True))


def log_likelihood(first: float, second: float, low: float, medium: float, high: float) -> float:
    """log P(four times: jumps low, not medium, for the first; medium, not high, for the second)."""
    does, leaves = (first - low, second - medium), (first - medium, second - high)
    seen = [p_act(round(gain, 3)) for gain in does] + [1.0 - p_act(round(gain, 3)) for gain in leaves]
    return TRIALS * sum(map(log, seen))


rewards, walls = between(0.0, 1.0), [between(low, low + 0.2) for low in (0.0, 0.4, 0.8)]
rooms = product(rewards, rewards, *walls)
worth = om.Categorical.from_scores((room, log_likelihood(*room)) for room in rooms).map(lambda room: room[:2])
print(f"worth of the first friend {worth.expect(lambda r: r[0]):.2f}, of the second {worth.expect(lambda r: r[1]):.2f}")
net = worth.bind(lambda r: om.Categorical.uniform(between(0.0, 0.1)).map(lambda way: (r[0] - way, r[1] - way)))
options = net.map(lambda r: (("first", r[0]), ("second", r[1]), ("stays", 0.0)))
choice = options.bind(lambda u: BETA.bind(lambda b: om.Categorical.softmax((name, b * value) for name, value in u)))
for name, seconds in LOOKING.items():
    print(f"goes to the {name}: P = {choice.prob(name):.3f}, infants look for {seconds} s (published)")
axes = om.plot_posterior({"first": worth.map(lambda r: round(r[0], 1)), "second": worth.map(lambda r: round(r[1], 1))})
axes.set(xlabel="worth", ylim=(0, 0.2))
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "cost_and_reward.svg")
