"""Goal inference over time: confidence in a goal depends on the rationality that is assumed of the agent.

The same walk, watched three times; β is how much less probable a step is for each step that it wastes.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from otherminds import DoorsKeysGemsPlanner, Goal, Observer, Seeker, find_level, replay, rollout
from otherminds.reports.plots import LOOK

world = find_level("across-the-hall").world
plans = DoorsKeysGemsPlanner(world)
goals = [Goal("gem", gem) for gem in range(len(world.gems))]
wanted = dict(zip(world.agents, (goals[gem] for gem in world.goals), strict=True))
people = {name: Seeker(plans, i, wanted[name], beta=3) for i, name in enumerate(world.agents)}
walk = list(rollout(world, people, steps=14, rng=np.random.default_rng(1)))

plt.rcParams.update(LOOK)
figure, axes = plt.subplots(figsize=(5.2, 2.6))
for beta, colour in ((0.3, "#56b4e9"), (1.0, "#0072b2"), (3.0, "#d55e00")):
    watchers = {
        name: Observer.over(Seeker(plans, i, goal, beta=beta) for goal in goals) for i, name in enumerate(world.agents)
    }
    moments = list(replay(world, watchers, walk))
    sure = [moment["Ana"].ask(lambda mind: mind.goal).prob(wanted["Ana"]) for moment in moments]
    axes.plot(sure, ".-", color=colour, label=f"β = {beta:g}")
    print(f"β = {beta:g}: P(what Ana wants) after 3, 6, 9 and 14 steps:", *(f"{sure[t]:.2f}" for t in (3, 6, 9, 14)))
axes.set(xlabel="step", ylabel="P(what Ana really wants)", ylim=(0, 1.03))
axes.legend(frameon=False, loc="lower right")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "goal_inference.svg", metadata={"Date": None})
