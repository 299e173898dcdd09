"""A slippery grid: does she go round the pond since she wants to, or since she thinks that it is icy?

Each mind plans in the world as it believes it to be: a hypothesis is a goal together with a chance of slipping.
"""

from typing import NamedTuple

from otherminds import Categorical, Observer, RationalAgent

MAP = ["..........", "..........", "..........", "S~~~~~~~~H", "..........", ".........W"]  # ~ water, H home, W work
WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Shore(NamedTuple):
    """A meadow with a pond, where `slips` of ten steps lead up, and as many down."""

    slips: int
    agents: tuple[str, ...] = ("Mia",)

    def start(self, rng):
        return 0, 3

    def actions(self, cell, agent):
        return tuple(WAYS)

    def outcomes(self, cell, joint):
        ways = [joint["Mia"]] * (10 - 2 * self.slips) + ["up", "down"] * self.slips
        moved = [(min(max(cell[0] + WAYS[w][0], 0), 9), min(max(cell[1] + WAYS[w][1], 0), 5)) for w in ways]
        return Categorical.uniform((0, 3) if MAP[y][x] == "~" else (x, y) for x, y in moved)  # swims back

    def step(self, cell, joint, rng):
        return self.outcomes(cell, joint).sample(rng)

    def observe(self, cell, agent):
        return cell

    def done(self, cell):
        return False

    def reached(self, cell, agent, goal):
        return MAP[cell[1]][cell[0]] == goal


minds = [RationalAgent(Shore(slips), "Mia", goal, beta=1.0) for goal in "HW" for slips in (0, 1)]
observer = Observer.over(minds).see((0, 3))
for action, *cell in [("up", 0, 2), ("up", 0, 1), ("right", 1, 1), ("right", 2, 1), ("right", 3, 1), ("right", 4, 1)]:
    observer = observer.watch(action, tuple(cell))
    home = observer.ask(lambda mind: mind.goal).prob("H")
    icy = observer.ask(lambda mind: mind.plan.graph.world.slips).prob(1)
    print(f"{action:5} P(goes home) = {home:.2f}  P(thinks that it is icy) = {icy:.2f}")
