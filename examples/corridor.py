"""Two people in a dark corridor: is Ana looking for Ben, hiding from him, or on her way to the door?

She does not see where she is, only hears on which side Ben is, and has a belief about both cells. The observer knows
where she goes and what she hears, and holds a mind with such a belief for each goal.
"""

import numpy as np

from otherminds import Observer, RationalAgent, rollout

WAYS = {"wait": 0, "left": -1, "right": 1}


class Corridor:
    """Nine cells in the dark; the state is the cells of both."""

    agents = ("Ana", "Ben")

    def start(self, rng):
        return int(rng.integers(9)), int(rng.integers(9))

    def actions(self, cells, agent):
        return tuple(WAYS)

    def step(self, cells, joint, rng):
        return tuple(min(max(cell + WAYS[joint[a]], 0), 8) for cell, a in zip(cells, self.agents, strict=True))

    def observe(self, cells, agent):
        mine, his = cells if agent == "Ana" else cells[::-1]
        return (his > mine) - (his < mine), mine in (0, 8)  # the side where the other is, and whether a wall is felt

    def done(self, cells):
        return False

    def reached(self, cells, agent, goal):
        ana, ben = cells
        return {"meet": ana == ben, "hide": abs(ana - ben) > 4, "leave": ana == 0}[goal]


world, goals = Corridor(), ("meet", "hide", "leave")
minds = {goal: RationalAgent(world, "Ana", goal, others={"Ben": "wait"}) for goal in goals}
ben = RationalAgent(world, "Ben", "rest", beta=np.inf, reached=lambda cells: True)
for goal, mind in minds.items():
    observer, cells = Observer.over(minds.values()), (5, 3)
    observer = observer.see(world.observe(cells, "Ana"))
    for step in rollout(world, {"Ana": mind, "Ben": ben}, steps=5, rng=np.random.default_rng(1), state=cells):
        observer = observer.watch(step.joint["Ana"], world.observe(step.after, "Ana"))
    print(f"{goal:6}", *(f"{g} {p:.2f} " for g, p in observer.ask(lambda mind: mind.goal)), step.after)
