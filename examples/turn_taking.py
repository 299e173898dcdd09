"""A game of turns: how far does Ben think ahead? Take one to three matches; the player who takes the last one loses.

A player of level 0 takes any number, one of level k responds to a player of level k − 1: others are minds, too.
"""

from otherminds import Observer, RationalAgent


class Matches:
    """The state is the number of matches and the player to take some."""

    agents = ("Ana", "Ben")

    def start(self, rng):
        return 13, "Ana"

    def actions(self, state, agent):
        return tuple(range(1, min(state[0], 3) + 1)) if state[1] == agent else (0,)

    def step(self, state, joint, rng):
        return state[0] - joint[state[1]], "Ben" if state[1] == "Ana" else "Ana"

    def passive(self, state, agent):
        return self.actions(state, agent)[0]

    def observe(self, state, agent):
        return state

    def reward(self, state, joint, after):
        return {agent: (after[0] == 0) * (1.0 if agent == after[1] else -1.0) for agent in self.agents}

    def done(self, state):
        return state[0] == 0


def player(agent, partner, level):
    """A player of this level, who takes its partner to be one level below."""
    others = {partner: player(partner, agent, level - 1)} if level else {}
    return RationalAgent(game, agent, level, beta=4.0 if level else 0.0, others=others)


game = Matches()
observer = Observer.over(player("Ben", "Ana", level) for level in (1, 2, 3))
for matches, taken in ((12, 2), (8, 3), (11, 1), (7, 2), (4, 3)):
    observer = observer.see((matches, "Ben")).watch(taken, (matches - taken, "Ana"))
    levels = observer.ask(lambda mind: mind.goal)
    print(f"of {matches:2} he takes {taken}:", *(f" level {level} {p:.2f}" for level, p in levels))
