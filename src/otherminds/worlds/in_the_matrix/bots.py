"""A body for the strategies of matrix worlds: it gathers what a strategy aims at, then looks for somebody to play.

It acts on its own window and memory alone, and on the map if it is `mapped`; one that sees everything is had by an
all-seeing agent of the world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from otherminds.distribution import Categorical
from otherminds.worlds.avatars import ACTIONS, STEPS, Action
from otherminds.worlds.in_the_matrix.gathering import MOVES, Plan, Skill, Thought
from otherminds.worlds.in_the_matrix.memory import THERE, UNKNOWN, Surroundings, after, at_first
from otherminds.worlds.in_the_matrix.strategies import Aim, CounterPrevious, State, Strategy, play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix, View

ORDINARY = Skill(slips=0.04, pauses=0.1)
DEFT = Skill(slips=0.03)
SCOUT = Skill(slips=0.04, pauses=0.1, watchful=True)
WALKER = Skill(slips=1.0)
UNDECIDED = Plan("noop", -1)
SIDESTEP = 0.4


@dataclass(frozen=True)
class MatrixBot:
    """A mind in a matrix world that plays by a strategy: intent(aim, inventory) every step, moved by a body.

    `choices` is a uniform number that decides whatever the strategy leaves to chance, so that a mind is immutable.
    `worth` is what a meeting with each player is expected to pay; without it, meetings with all are worth the same.
    The bots of Melting Pot's matrix worlds (Agapiou et al. 2022), as programs.
    """

    world: InTheMatrix
    me: int
    strategy: Strategy
    state: State
    choices: float
    skill: Skill = ORDINARY
    memory: Surroundings | None = None
    plan: Plan = UNDECIDED
    stuck: bool = False
    worth: tuple[float, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        strategy: Strategy,
        rng: np.random.Generator,
        skill: Skill = ORDINARY,
        *,
        mapped: bool = True,
    ) -> Self:
        """A mind at the start of an episode, which knows the map or has to find out."""
        state, choices = strategy.start().decode(rng.random())
        return cls(world, world.agents.index(agent), strategy, state, choices, skill, at_first(world, mapped=mapped))

    def toward(self, aim: Aim, worth: tuple[float, ...] = ()) -> Self:
        """The same with another aim, until the strategy changes it, and other expectations of meetings."""
        return replace(self, state=State(aim), worth=worth)

    def observe(self, view: View) -> Self:
        """Remember what is seen, learn from a meeting, and decide what to do next."""
        memory = after(self.memory or at_first(self.world), self.world, self.me, view)
        state, choices = self.state, self.choices
        if view.met is not None:
            state, choices = self.strategy.update(state, *view.met).decode(choices)
        plan = Plan("noop", view.cell)
        if not view.frozen:
            plan = Thought(self.world, memory, view, self.skill, self.worth).plan(self._aim(memory, state))
        stuck = self.plan.action in STEPS and self.plan.cell != view.cell and not view.frozen
        return replace(self, memory=memory, state=state, choices=choices, plan=plan, stuck=stuck)

    def act(self) -> Categorical[Action]:
        """The planned action; sometimes a step aside if somebody was in the way; a slip now and then."""
        meant = {self.plan.action: 1.0}
        if self.stuck:
            meant = {action: SIDESTEP / len(MOVES) for action in MOVES}
            meant[self.plan.action] = meant.get(self.plan.action, 0.0) + 1.0 - SIDESTEP
        return _in_practice(meant, self.skill)

    def _aim(self, memory: Surroundings, state: State) -> Aim:
        """The aim of the strategy, unless one answers what others have taken most of."""
        if not self.skill.watchful or not isinstance(self.strategy, CounterPrevious):
            return state.aim
        taken = [0] * len(self.strategy.replies)
        for site, (kind, away) in enumerate(zip(memory.kinds, memory.away, strict=True)):
            if away != THERE and kind != UNKNOWN and site not in memory.mine:
                taken[kind] += 1
        most = play_of(tuple(taken))
        return state.aim if most is None else self.strategy.replies[most]


def _in_practice(meant: dict[Action, float], skill: Skill) -> Categorical[Action]:
    """The actions with the probabilities that are meant, but for slips and pauses."""
    slips, pauses = skill.slips, skill.pauses
    if not slips and not pauses:
        return Categorical.from_scores((action, math.log(p)) for action, p in meant.items())
    shares = {a: (1 - slips - pauses) * meant.get(a, 0.0) + slips / len(ACTIONS) for a in ACTIONS}
    shares["noop"] += pauses
    return Categorical.from_scores((action, math.log(share)) for action, share in shares.items() if share > 0)
