"""Programs first, sentences where these fail: a language model is asked only about whom no program foretells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.minds.matrix_strategies import play_of
from otherminds.minds.meetings import holding
from otherminds.systems.hypothetical import Theory
from otherminds.systems.verbal.sentences import Sentences
from otherminds.worlds.matrix_rules import Inventory
from otherminds.worlds.repeated_game import Outcome


@dataclass(frozen=True)
class Hybrid:
    """A theory of programs, and sentences for when it predicts badly.

    What the programs think most probable is judged as a sentence would be: `value` becomes V + alpha (±c − V). From
    `patience` meetings on, sentences are asked whenever it is below `least`; they know of all meetings before, and
    what they have foretold by then still counts. Meetings without a call cost nothing.
    """

    programs: Theory
    sentences: Sentences
    least: float = 0.0
    patience: int = 4
    value: float = 0.0
    judged: int = 0

    def about(self, partner: str) -> Self:
        """The same about somebody else, before any meeting."""
        return replace(self, sentences=self.sentences.about(partner))

    def observe(self, outcome: Outcome | None) -> Self:
        """After a meeting of which only the plays are known."""
        if outcome is None:
            return self
        return self.met(holding(outcome.own, len(self.sentences.topic.kinds)), outcome.theirs, outcome.payoff)

    def met(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting: what one held, what the partner played (None for a tie), and what it paid."""
        later = self if theirs is None else self._judged(play_of(own), theirs, reward)
        ask = later.sentences.remember if later.trusting else later.sentences.met
        return replace(later, sentences=ask(own, theirs, reward))

    def predict(self) -> Categorical[int]:
        """What is expected by the programs or, if these are not to be trusted, by a sentence."""
        return self.programs.predict() if self._by_programs else self.sentences.predict()

    def act(self) -> Categorical[int]:
        """What to play by the programs or, if these are not to be trusted, by a sentence."""
        return self.programs.act() if self._by_programs else self.sentences.act()

    @property
    def trusting(self) -> bool:
        """Whether the programs predict well enough, or have not been tried enough."""
        return self.judged < self.patience or self.value >= self.least

    @property
    def _by_programs(self) -> bool:
        return self.trusting or self.sentences.play is None

    def _judged(self, played: int | None, theirs: int, reward: float) -> Self:
        settings = self.sentences.settings
        right = self.programs.predict().mode == theirs
        value = settings.after(self.value, settings.c if right else -settings.c)
        programs = self.programs if played is None else self.programs.observe(Outcome(played, theirs, reward))
        return replace(self, programs=programs, value=value, judged=self.judged + 1)
