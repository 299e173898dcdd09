"""The naive utility calculus (costs explain choices, too)

An agent takes the near fruit or the far one. If it walks, it must like the far one; if not, it may just be tired.
Jara-Ettinger, Gweon, Schulz and Tenenbaum 2016, Trends in Cognitive Sciences 20: agents take the action of the
highest utility U = R - C, here with R from 0 to 9 and C = steps times effort. Published: the equation only. All
answers are fractions that can be counted.

Try: put the far fruit 3 steps away instead of 4: what does taking the near one say then?
"""

import sys
from itertools import product
from pathlib import Path

import otherminds as om

STEPS = {"near": 1, "far": 4}
EFFORT = {"fresh": 0, "walks": 1, "tired": 2}  # cost of a step
Agent = tuple[int, int, str]  # the worth of the near and of the far fruit, and its effort
agents = om.Categorical.uniform(product(range(10), range(10), EFFORT))


def choice(agent: Agent) -> om.Categorical[str]:
    """P(near or far): the higher U = R - C, either if both are equal."""
    worth = dict(zip(STEPS, agent[:2], strict=True))
    return om.Categorical.boltzmann(((x, STEPS[x] * EFFORT[agent[2]] - worth[x]) for x in STEPS), beta=float("inf"))


def after(taken: str, crowd: om.Categorical[Agent] = agents) -> om.Categorical[Agent]:
    """P(agent | what it took)."""
    acts = crowd.joint(choice)
    return acts.condition(lambda act: act[1] == taken).map(lambda act: act[0])


def likes(taken: str) -> om.Categorical[str]:
    """P(which fruit is worth more to it | what it took)."""
    return after(taken).map(lambda agent: "near" if agent[0] > agent[1] else "far" if agent[1] > agent[0] else "both")


for taken in STEPS:
    print(f"takes the {taken} one: P(likes it more) = {likes(taken).prob(taken):.3f}")
fond = agents.condition(lambda agent: agent[1] > agent[0] + 2)
for name, crowd in {"anybody": agents, "likes the far one much more": fond}.items():
    tired = after("near", crowd).map(lambda agent: agent[2])
    print(f"takes the near one, {name}: P(tired) = {tired.prob('tired'):.3f}")
axes = om.plot_posterior({f"takes the {taken} one": likes(taken) for taken in STEPS})
axes.set_ylim(0, 1.3)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "naive_utility.svg")
