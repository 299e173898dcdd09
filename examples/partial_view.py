"""Partial view in a kitchen: what Ben does not see he has to imagine, and he acts on what he imagines.

A mind is shown what its agent sees, never what the watcher sees. Each particle is a whole hypothetical kitchen.
"""

import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

from otherminds import Categorical, read_kitchen
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.agent import BeliefSampler, Cook
from otherminds.worlds.overcooked.kitchen import FRESH
from otherminds.worlds.overcooked.planner import OvercookedPlanner

world = read_kitchen(files("otherminds") / "worlds/overcooked/levels/twenty-one/13-store-room.txt").world
planner, sampler = OvercookedPlanner(world.layout), BeliefSampler(world.layout, world.items)
minds = [Cook(planner, sampler, 1, "SimpleOnion", particle=k) for k in range(200)]


def tell(when, minds):
    """Where Ben thinks that the onion is, and what he will do, over all particles."""
    places = Counter(mind.kitchen.on.index(FRESH["onion"]) for mind in minds)
    does = Categorical.uniform(minds).bind(lambda mind: mind.act())
    print(f"{when}: places where the onion may be: {len(places)}, the likeliest with {max(places.values()) / 200:.0%};",
          f"he goes {does.mode} ({does.prob(does.mode):.2f})")  # fmt: skip


state = world.initial
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
(folder / "partial_view.svg").write_text(kitchen_drawing.draw(world, state, seen_by="Ben").svg(), "utf-8")
minds = [mind.observe(world.observe(state, "Ben")) for mind in minds]
tell("at the start", minds)
for _ in range(2):
    state = world.step(state, {"Ana": "stay", "Ben": "left"})
    minds = [mind.observe(world.observe(state, "Ben")) for mind in minds]
tell("on the doorstep", minds)
