"""Food trucks (what she wants and what she expected)

She looks behind the wall, where a Lebanese truck is parked, and walks back to the Korean one: she must like a third
one best, the Mexican, and have hoped for it. Baker, Jara-Ettinger, Saxe and Tenenbaum 2017, Nature Human Behaviour 1:
0064, with the paper's costs, beta and mixed beliefs on a coarser grid. Published: for a similar yard the favourite is
the Mexican truck in memo's demo-trucks.ipynb, too (1.79 of 2; its code, run here).

Try: the walk "courtyard, and on" in the same yard: she eats what is behind the wall.
"""

import sys
from pathlib import Path

import otherminds as om
from otherminds.worlds.food_trucks.agent import Diner, watch_walk
from otherminds.worlds.food_trucks.inference import Hypotheses
from otherminds.worlds.food_trucks.level_files import bundled_food_trucks
from otherminds.worlds.food_trucks.planner import FoodTruckPlanner

PUBLISHED = "Mexican"
walks = {level.name: level for level in bundled_food_trucks()}
level = walks["courtyard, and back"]
# each truck is worth -20, 40 or 100; each belief is sure of one content, or equally unsure about two, but for 7.5 %
minds = Hypotheses(FoodTruckPlanner(level.world), levels=(-20.0, 40.0, 100.0), intervals=2).observer()


def favourite(mind: Diner) -> str:
    """The truck that is worth most, or "two of them"."""
    best = [name for name, reward in zip(level.world.trucks, mind.desire, strict=True) if reward == max(mind.desire)]
    return best[0] if len(best) == 1 else "several"


def hoped(mind: Diner) -> str:
    """What she thought most probable behind the wall, before she looked."""
    return max(zip(mind.expected, level.world.contents, strict=True))[1]


observers = list(watch_walk(minds, level.parked, level.cells, level.actions))
likes = [observer.ask(favourite) for observer in observers]
print("likes best:", *(f"{name} {p:.2f}" for name, p in likes[-1]), f" (published {PUBLISHED})")
for k, name in enumerate(level.world.trucks):
    print(f"{name:8} is worth {observers[-1].posterior.expect(lambda mind, k=k: mind.desire[k]):.0f}")
print("expected:", *(f"{content} {p:.2f}" for content, p in observers[-1].ask(hoped)))
axes = om.plot_posterior(likes)
om.save_picture(axes, Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "food_trucks.svg")
