"""Programs as hypotheses about a partner: strategies in matrix worlds, and habits in kitchens.

Strategies are judged by Bayes' rule or by the value rule of Hypothetical Minds (Cross et al. 2024, §3.2). In a kitchen
a hypothesis is how often the partner would be seen to help; the likelihood is exact. While the partner seems to help,
the agent does the half of the work that fits its room, else all of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from otherminds.distribution import Categorical, point_mass
from otherminds.observer import Observer, rescore
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.bots import CookingBot, fitting
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingView
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.strategies import play_of
from otherminds.worlds.repeated_games.machines import Partner
from otherminds.worlds.repeated_games.players.bayesian_lookahead import BayesianLookahead, HypothesisSet
from otherminds.worlds.repeated_games.players.best_responders import mirrored
from otherminds.worlds.repeated_games.rules import Outcome

ALPHA = 0.3  # learning rate of a value (Cross et al. 2024, table 2)
AHEAD = (
    15  # least meetings expected ahead, as episodes end by chance: about 9 in running with scissors, 20 in the dilemma
)
SHOWN = 4  # hypotheses that are reported
LEAK = 0.005  # share of old evidence about a cook that is lost per step; chosen, not tuned
HELP: Mapping[str, float] = {"skilled": 0.1, "semi-skilled": 0.04, "idle": 0.002}
"""Probability per step that a partner of each kind is seen to help; chosen, not tuned."""


class ProgramTheory(ABC):
    """A theory that judges the strategies of a library by what was played."""

    def for_partner(self, partner: str) -> Self:
        """The same theory: the library is all that is known of any partner."""
        return self

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """The theory after a meeting; unchanged if the play of either player is unknown."""
        play = play_of(own)
        return self if play is None or theirs is None else self._with_outcome(Outcome(play, theirs, reward))

    @abstractmethod
    def _with_outcome(self, outcome: Outcome) -> Self: ...


@dataclass(frozen=True)
class Programs(ProgramTheory):
    """A posterior over strategies, with exact likelihoods, and look-ahead over the beliefs that own plays lead to."""

    lookahead: BayesianLookahead

    @classmethod
    def of(cls, library: HypothesisSet) -> Self:
        """The theory before any meeting."""
        return cls(BayesianLookahead.of(library))

    def _with_outcome(self, outcome: Outcome) -> Self:
        return replace(self, lookahead=self.lookahead.observe(outcome))

    def predict(self) -> Categorical[int]:
        """Σ P(strategy) π(kind | strategy)."""
        return self.lookahead.predict()

    def act(self) -> Categorical[int]:
        """The kind of the highest expected value, with as many meetings ahead as an episode has, and always some."""
        horizon = self.lookahead.library.horizon
        return replace(self.lookahead, t=min(self.lookahead.t, horizon - AHEAD)).act()

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The most probable strategies with their probabilities; each strategy includes its noisy version."""
        posterior = self.lookahead.observer.ask(lambda partner: partner.machine.name.partition("~")[0])
        return sorted(posterior, key=lambda pair: -pair[1])[:SHOWN]


@dataclass(frozen=True)
class RescorlaWagner(ProgramTheory):
    """Strategies with values, V ← V + α (±1 − V) for each prediction; the best one predicts and is responded to.

    The rule of Hypothetical Minds (Cross et al. 2024, §3.2) for programs instead of sentences. Of strategies with equal
    values the one with the higher prior comes first.
    """

    library: HypothesisSet
    partners: tuple[Partner, ...]
    values: tuple[float, ...]
    alpha: float = ALPHA

    @classmethod
    def of(cls, library: HypothesisSet, alpha: float = ALPHA) -> Self:
        """The theory before any meeting."""
        partners = tuple(machine.start for machine in library.slipping)
        return cls(library, partners, (0.0,) * len(partners), alpha)

    def _with_outcome(self, outcome: Outcome) -> Self:
        their_outcome = mirrored(self.library.game, outcome)
        rewards = (1.0 if partner.act().mode == outcome.theirs else -1.0 for partner in self.partners)
        values = rescore(self.values, rewards, decay=1.0 - self.alpha, gain=self.alpha)
        return replace(self, partners=tuple(partner.observe(their_outcome) for partner in self.partners), values=values)

    def predict(self) -> Categorical[int]:
        """What the best strategy plays next."""
        return self.partners[self._ranking[0]].act()

    def act(self) -> Categorical[int]:
        """The best response to the best strategy."""
        pool = self.library.pool
        place = self.library.place[self.partners[self._ranking[0]]]
        return point_mass(int(pool.response.actions[0, place]))

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The best strategies with their values."""
        return [(self.library.machines[i].name, self.values[i]) for i in self._ranking[:SHOWN]]

    @property
    def _ranking(self) -> list[int]:
        """The indices of all strategies, by value and then by prior, the best first."""
        return sorted(range(len(self.values)), key=lambda i: (-self.values[i], -self.library.prior[i], i))


class Habit(NamedTuple):
    """A kind of partner as a mind: in each step it is seen to help with the same probability."""

    name: str
    rate: float

    def observe(self, obs: object) -> Self:
        """The same habit: it does not change."""
        return self

    def act(self) -> Categorical[bool]:
        """P(help is seen in the next step)."""
        return Categorical((True, False), (math.log(self.rate), math.log1p(-self.rate)))


@dataclass(frozen=True)
class HypotheticalCook:
    """A cook that infers how much its partner helps."""

    bot: CookingBot
    partner: Observer[Habit]

    @classmethod
    def initial(cls, world: CollaborativeCooking, *, leak: float = LEAK, slip: float = 0.0) -> Self:
        """The cook at the start of an episode."""
        habits = [Habit(name, rate) for name, rate in HELP.items()]
        return cls(CookingBot(world, "everything", slip), Observer.over(habits, decay=1.0 - leak))

    def observe(self, view: CookingView) -> Self:
        """Update the posterior over habits by whether help was seen, and choose the duty."""
        before = self.bot.memory
        bot = self.bot.observe(view)
        if before is None or bot.memory is None:
            return replace(self, bot=bot)
        partner = self.partner.watch(bot.memory.alone == 0, view)
        idle = partner.ask(lambda habit: habit.name).prob("idle") > 0.5
        duty = "everything" if idle else fitting(bot.world, view.cell)
        return replace(self, bot=replace(bot, duty=duty), partner=partner)

    def act(self) -> Categorical[Action]:
        """The action of the bot."""
        return self.bot.act()
