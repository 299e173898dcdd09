"""Theory of mind by sentences: a language model guesses what a partner is up to, and its guesses are put to the test.

Hypothetical Minds (Cross et al. 2024, §3.2, D.3). After each meeting: what did the partner play; which sentences had
foretold it; if none is good enough yet, think of a new one; what will they play next, and what beats that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, Exchange, plain
from otherminds.language.model import ask_all
from otherminds.papers.hypothetical_minds.encounters import Encounter
from otherminds.papers.hypothetical_minds.verbal.prompts import Topic
from otherminds.papers.hypothetical_minds.verbal.questions import Foresight, Questions
from otherminds.papers.hypothetical_minds.verbal.settings import PUBLISHED, Calls, Hypothesis, Record, Settings
from otherminds.worlds.in_the_matrix.hypotheses import typical_inventory
from otherminds.worlds.in_the_matrix.rules import Inventory, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix


@dataclass(frozen=True)
class Sentences:
    """What a language model thinks of one partner. Immutable; it is asked when a meeting is observed, and only then.

    After a meeting there is one call for a new hypothesis and one for the prediction of each of 1 + min(top_k, n − 1)
    of n hypotheses, or just one prediction once a hypothesis is validated: 2 + k or 1, and one more if the model
    estimates what the partner held: 3 + k or 2, as published. (The authors' code takes one more in the prisoner's
    dilemma, and in the arena, for choosing what to play.) Replies that cannot be read come on top. If none can be read,
    a hypothesis makes no prediction, and if it is the one in use, the play stays as it was.

    A prediction is judged once, by the very next meeting; one that a hypothesis made earlier does not count any more.
    A tie, or a meeting in which the partner's play is not known, changes no value.
    """

    asker: Asker
    topic: Topic
    rules: Rules
    settings: Settings = PUBLISHED
    meetings: tuple[Encounter, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    used: int | None = None
    play: int | None = None
    records: tuple[Record, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        asker: Asker,
        settings: Settings = PUBLISHED,
        *,
        partner: str = "the other player",
        name: str = "",
    ) -> Self:
        """Before any meeting with a partner in a world, which may have a name."""
        return cls(asker, Topic.of(world, agent, partner, name), world.rules, settings)

    def for_partner(self, partner: str) -> Self:
        """The same about somebody else, in calls of their own, before any meeting."""
        topic = replace(self.topic, partner=plain(partner))
        return type(self)(self.asker.within(f"about {plain(partner)}"), topic, self.rules, self.settings)

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting: what one held, what the partner played (None for a tie), and what it paid.

        What the partner played is not heeded if the model is to estimate it.
        """
        known, said = self._known(Encounter(own, theirs, reward))
        judged, more = self._judged(known)
        later, last = judged._thought() if self.settings.modular else judged._thought_at_once()
        said = (*said, *more, *last)
        record = Record(later.meetings[-1], later.hypotheses, later.used, later.validated, later.play, said)
        return replace(later, records=(*later.records, record))

    def remember(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting about which the model is not to be asked anything."""
        free = replace(self, settings=replace(self.settings, exact_inventory=True))
        judged, _ = free._judged(Encounter(own, theirs, reward))
        return replace(judged, settings=self.settings)

    def predict(self) -> Categorical[int]:
        """What the hypothesis in use expects, for certain; anything, if it expects nothing."""
        return self._surely(None if self.used is None else self.hypotheses[self.used].expects)

    def act(self) -> Categorical[int]:
        """The kind that was chosen last, for certain; any, before one has been chosen."""
        return self._surely(self.play)

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The sentences with their values, the one in use first, then the best; one that came up again only once."""
        ranked = self._ranked(range(len(self.hypotheses)))
        found: dict[str, float] = {}
        for i in ranked if self.used is None else [self.used, *ranked]:
            found.setdefault(self.hypotheses[i].text, self.hypotheses[i].value)
        return [*found.items()]

    @property
    def said(self) -> Calls:
        """All that the model said."""
        return tuple(said for record in self.records for said in record.said)

    @property
    def best(self) -> int | None:
        """The hypothesis of the highest value, the later one of equals; None if there is none."""
        return next(iter(self._ranked(range(len(self.hypotheses)))), None)

    @property
    def validated(self) -> bool:
        """Whether the best hypothesis is good enough to be played on without looking for others."""
        best = self.best
        return self.settings.evaluate and best is not None and self.hypotheses[best].value >= self.settings.threshold

    def _surely(self, kind: int | None) -> Categorical[int]:
        return Categorical.uniform(range(len(self.topic.kinds)) if kind is None else [kind])

    def _ranked(self, places: Sequence[int]) -> list[int]:
        return sorted(places, key=lambda i: (self.hypotheses[i].value, i), reverse=True)

    def _questions(self, *more: Encounter) -> Questions:
        return Questions(self.asker, self.topic, self.settings, (*self.meetings, *more))

    def _known(self, meeting: Encounter) -> tuple[Encounter, Calls]:
        """The meeting with what the partner played as the model sees it, if that is the one to say."""
        if self.settings.exact_inventory:
            return meeting, ()
        unknown = meeting._replace(theirs=None)
        if not self.settings.modular:
            return unknown, ()
        theirs, said = self._questions(unknown).inventory()
        return meeting._replace(theirs=theirs), said

    # Which hypotheses were right?

    def _judged(self, meeting: Encounter) -> tuple[Self, Calls]:
        """With values as they are after a meeting; all predictions are spent."""
        found, said = [], list[Exchange]()
        for place, hypothesis in enumerate(self.hypotheses):
            reward, calls = self._reward(place, meeting) if self.settings.evaluate else (None, ())
            said += calls
            if reward is not None:
                value = self.settings.after(hypothesis.value, reward)
                hypothesis = hypothesis._replace(value=value, judged=hypothesis.judged + 1)
            found.append(hypothesis._replace(expects=None, play=None))
        later = replace(self, meetings=(*self.meetings, meeting), hypotheses=tuple(found))
        return later, tuple(said)

    def _reward(self, place: int, meeting: Encounter) -> tuple[float | None, Calls]:
        """±c for a prediction; for a strategy of one's own, what it was paid, or ±c by what it would have been paid."""
        hypothesis, c = self.hypotheses[place], self.settings.c
        if self.settings.mind_prompting:
            if hypothesis.expects is None or meeting.theirs is None:
                return None, ()
            return (c if hypothesis.expects == meeting.theirs else -c), ()
        if hypothesis.play is None:
            return None, ()
        if place == self.used:
            return meeting.reward, ()
        if not self.settings.exact_inventory:
            return self._questions(meeting).counterfactual(place, hypothesis.play)
        return self._would_have_paid(hypothesis.play, meeting.theirs), ()

    def _would_have_paid(self, play: int, theirs: int | None) -> float | None:
        if theirs is None:
            return None
        kinds = len(self.topic.kinds)
        payoff, _ = self.rules.reward(typical_inventory(play, kinds), typical_inventory(theirs, kinds))
        return self.settings.c * ((payoff > 0) - (payoff < 0))

    # What are they up to, and what comes next?

    def _thought(self) -> tuple[Self, Calls]:
        """Play on a validated hypothesis, or else think of one more, and predict by it and by the best others."""
        if self.best is not None and self.validated:
            return self._foreseen([self.best])
        text, said = self._questions().hypothesis(self._good())
        later = self if text is None else replace(self, hypotheses=(*self.hypotheses, Hypothesis(text)))
        last = len(later.hypotheses) - 1
        if last < 0:
            return later, said
        others = later._ranked(range(last))[: self.settings.top_k] if self.settings.evaluate else []
        foreseen, more = later._foreseen([last, *others])
        return foreseen, (*said, *more)

    def _good(self) -> list[tuple[str, float]]:
        """The best hypotheses that were ever right, to be improved."""
        best = self._ranked(range(len(self.hypotheses)))[: self.settings.top_k] if self.settings.refine else []
        return [(h.text, h.value) for h in (self.hypotheses[i] for i in best) if h.value > 0.0]

    def _foreseen(self, places: Sequence[int]) -> tuple[Self, Calls]:
        """With the predictions of these hypotheses; the first of them is in use, unless the best is to be."""
        questions = self._questions()

        def ask(place: int) -> Foresight:
            return questions.foresight(place, self.hypotheses[place].text)

        found, said = list(self.hypotheses), list[Exchange]()
        for place, (expects, play, calls) in zip(
            places, ask_all(ask, places, at_once=self.settings.at_once), strict=True
        ):
            found[place] = found[place]._replace(expects=expects, play=play)
            said += calls
        used = places[0] if self.settings.latest else self._ranked(places)[0]
        play = self.play if found[used].play is None else found[used].play
        return replace(self, hypotheses=tuple(found), used=used, play=play), tuple(said)

    def _thought_at_once(self) -> tuple[Self, Calls]:
        """All steps in one call."""
        theirs, text, expects, play, said = self._questions().everything()
        if text is None:
            return replace(self, used=None), said
        *before, last = self.meetings
        meetings = self.meetings if self.settings.exact_inventory else (*before, last._replace(theirs=theirs))
        hypotheses = (*self.hypotheses, Hypothesis(text, expects=expects, play=play))
        used = len(hypotheses) - 1
        return replace(self, meetings=meetings, hypotheses=hypotheses, used=used, play=play), said
