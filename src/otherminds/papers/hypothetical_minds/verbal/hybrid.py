"""Programs first, sentences where these fail: a language model is asked only about whom no program foretells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.papers.hypothetical_minds.agent import Theory
from otherminds.papers.hypothetical_minds.verbal.sentences import Sentences
from otherminds.papers.hypothetical_minds.verbal.settings import Calls
from otherminds.worlds.in_the_matrix.rules import Inventory


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

    def for_partner(self, partner: str) -> Self:
        """The same about somebody else, before any meeting."""
        return replace(self, programs=self.programs.for_partner(partner), sentences=self.sentences.for_partner(partner))

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting: what one held, what the partner played (None for a tie), and what it paid."""
        later = self if theirs is None else self._judged(own, theirs, reward)
        ask = later.sentences.remember if later.trusting else later.sentences.update
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

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The hypotheses that it goes by."""
        return self.programs.ranked if self._by_programs else self.sentences.ranked

    @property
    def said(self) -> Calls:
        """All that the model said."""
        return self.sentences.said

    def _judged(self, own: Inventory, theirs: int, reward: float) -> Self:
        settings = self.sentences.settings
        right = self.programs.predict().mode == theirs
        value = settings.after(self.value, settings.c if right else -settings.c)
        return replace(self, programs=self.programs.update(own, theirs, reward), value=value, judged=self.judged + 1)
