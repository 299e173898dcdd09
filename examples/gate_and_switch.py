"""A facilitator in a world of one's own: Ben can open the gate for Ana, and is asked to if she wants to pass it."""

import numpy as np

import otherminds as om

CELLS = ("##############" "#k.A....|..g##" "#######.###.##" "#######.###.##" "#######.....##"
         "##############" "#s...B...d####" "####*#########" "##############")  # fmt: skip
WAYS = {"stay": 0, "left": -1, "right": 1, "up": -14, "down": 14}
GOALS = {"Ana": ("kitchen", "garden"), "Ben": ("desk", "sofa")}


class House:
    """A state is Ana's cell, Ben's cell, and whether the gate (|) is open: once Ben has been on the switch (*)."""

    agents = ("Ana", "Ben")

    def start(self, rng):
        return CELLS.index("A"), CELLS.index("B"), False

    def actions(self, state, agent):
        cell, walls = state[self.agents.index(agent)], "#" if state[2] else "#|"
        return tuple(way for way, offset in WAYS.items() if CELLS[cell + offset] not in walls)

    def step(self, state, joint, rng):
        ana, ben = (state[i] + WAYS[joint[agent]] for i, agent in enumerate(self.agents))
        return ana, ben, state[2] or CELLS[ben] == "*"

    def observe(self, state, agent):
        return state

    def reward(self, state, joint, after):
        return dict.fromkeys(self.agents, -1.0)

    def done(self, state):
        return all(CELLS[cell].islower() for cell in state[:2])

    def reached(self, state, agent, goal):
        return state[2] if goal == "switch" else CELLS[state[self.agents.index(agent)]] == goal[0]


house = House()
switch = om.RationalAgent(house, "Ben", "switch")
messages = om.RolledOutMessages(house, [om.Suggestion("Ben", "Ana", switch, "press the switch")])
watchers = {a: om.with_none_of_these([om.RationalAgent(house, a, g) for g in goals]) for a, goals in GOALS.items()}
for goal in GOALS["Ana"]:
    people = {a: om.RationalAgent(house, a, g, np.inf) for a, g in (("Ana", goal), ("Ben", "desk"))}
    for helper in (om.SilentFacilitator(), om.ProToM.initial(house, messages, watchers, house.start(None))):
        moments = list(om.FacilitatedEpisode(house, people, helper, messages, 40, *map(np.random.default_rng, (1, 2))))
        print(f"{goal:8} {type(helper).__name__:17} {len(moments)} steps", *{m.decision.words for m in moments} - {""})
