"""Hypothetical Minds in a kitchen: is the partner a help, and what is left to do?

Hypotheses are how often somebody like that would be seen to use a pot or to deliver; the likelihood is exact. As long
as the partner seems to help, one does the half of the work that fits one's room, else all of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from otherminds.distribution import Categorical
from otherminds.observer import Observer
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.bots import CookingBot, fitting
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import View

HELP: Mapping[str, float] = {"skilled": 0.1, "semi-skilled": 0.04, "idle": 0.002}
"""How often a partner is seen to help, as a probability a step."""


class Habit(NamedTuple):
    """A kind of partner as a mind: in every step it helps with the same probability."""

    name: str
    rate: float

    def observe(self, obs: object) -> Self:
        """Nothing changes it."""
        return self

    def act(self) -> Categorical[bool]:
        """P(help is seen in the next step)."""
        return Categorical((True, False), (math.log(self.rate), math.log1p(-self.rate)))


@dataclass(frozen=True)
class HypotheticalCook:
    """A cook who works out what the partner is good for; `leak` is the share of old evidence that is lost a step."""

    chef: CookingBot
    partner: Observer[Habit]

    @classmethod
    def initial(cls, world: CollaborativeCooking, *, leak: float = 0.005, slip: float = 0.0) -> Self:
        """A cook at the start of an episode."""
        habits = [Habit(name, rate) for name, rate in HELP.items()]
        return cls(CookingBot(world, "everything", slip), Observer.over(habits, decay=1.0 - leak))

    def observe(self, view: View) -> Self:
        """Was there help? Then decide what to do oneself."""
        before = self.chef.memory
        chef = self.chef.observe(view)
        if before is None or chef.memory is None:
            return replace(self, chef=chef)
        partner = self.partner.watch(chef.memory.alone == 0, view)
        idle = partner.ask(lambda habit: habit.name).prob("idle") > 0.5
        duty = "everything" if idle else fitting(chef.world, view.cell)
        return replace(self, chef=replace(chef, duty=duty), partner=partner)

    def act(self) -> Categorical[Action]:
        """What the chef does."""
        return self.chef.act()
