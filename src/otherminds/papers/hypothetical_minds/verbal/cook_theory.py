"""Theory of mind in a kitchen: a language model guesses what the partner is good for, and its guesses are tested.

Hypothetical Minds (Cross et al. 2024, §3.2, D.3) as it is for collaborative cooking. After each delivery: whose
expectation did the partner's deeds fit; if no guess is good enough yet, think of a new one, and say what it has one
expect; then choose a strategy for oneself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeVar

from pydantic import BaseModel

from otherminds.language.asking import Asker, ReplyForm, StructuredAnswer, plain, prompts_of
from otherminds.language.model import Message, ask_all
from otherminds.papers.hypothetical_minds.verbal.cook_forms import everything_form, expectation_form, fit_form
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import deeds_text, kitchen_message, now_text
from otherminds.papers.hypothetical_minds.verbal.cook_sight import Scene
from otherminds.papers.hypothetical_minds.verbal.forms import guess_form, resolution_form
from otherminds.papers.hypothetical_minds.verbal.prompts import rated
from otherminds.papers.hypothetical_minds.verbal.settings import PUBLISHED, Calls, Settings

fill = prompts_of("otherminds.papers.hypothetical_minds")

M = TypeVar("M", bound=BaseModel)


class CookHypothesis(NamedTuple):
    """A sentence, its value, how often it was judged, and what it has one expect, empty if nothing."""

    text: str
    value: float = 0.0
    judged: int = 0
    expects: str = ""


class CookRecord(NamedTuple):
    """What came of thinking: when and why, all hypotheses, which is in use, the strategy, and all that was said."""

    t: int
    why: str
    hypotheses: tuple[CookHypothesis, ...]
    used: int | None
    validated: bool
    strategy: str
    said: Calls

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """The hypotheses with their values, the one in use first, then the best; one that came up again only once."""
        ranked = sorted(range(len(self.hypotheses)), key=lambda i: (i != self.used, -self.hypotheses[i].value, -i))
        found: dict[str, float] = {}
        for i in ranked:
            found.setdefault(self.hypotheses[i].text, self.hypotheses[i].value)
        return [*found.items()]

    @property
    def calls(self) -> int:
        """How many calls it took."""
        return len(self.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)


class Occasion(NamedTuple):
    """Why one thinks, what one knows, and the step, the views of others and the soups at the occasion before."""

    why: str
    scene: Scene
    since: int = -1
    shown: int = 0
    soups: int = 0

    @property
    def paid(self) -> bool:
        """Whether soup was delivered since the occasion before."""
        return sum(self.scene.sight.soups) > self.soups

    def told(self) -> dict[str, object]:
        """What all questions have in common."""
        everything = deeds_text(self.scene, -1, 0)
        return {"why": self.why, "now": now_text(self.scene), "deeds": everything, "partner": self.scene.partner}


@dataclass(frozen=True)
class CookTheory:
    """What a language model thinks of a partner in a kitchen. Immutable; it is asked on an occasion, and only then.

    An occasion with n hypotheses takes 1 + min(k, n − 1) calls for judging these, one for a new hypothesis, one for
    what each of 1 + min(k, n) has one expect, and one for the strategy: 4 + 2k if there are many. Once one is
    validated, it takes 1 + k for judging and one for the strategy: what had been expected before is taken to be
    expected still. The first occasion takes one call, for a strategy. Replies that cannot be read come on top; without
    a readable one a value, an expectation or a strategy stays as it was.

    Without `mind_prompting`, sentences are strategies for oneself, and the one in use earns ±c by whether soup was
    delivered since the occasion before; one call. Without `evaluate` nothing is judged, without `refine` no earlier
    sentences are shown, and without `modular` there is one call for all. `exact_inventory` means nothing here.
    """

    asker: Asker
    settings: Settings = PUBLISHED
    hypotheses: tuple[CookHypothesis, ...] = ()
    used: int | None = None
    strategy: str = ""
    last: Occasion | None = None
    said: Calls = ()
    records: tuple[CookRecord, ...] = ()

    def thought(self, why: str, scene: Scene) -> Self:
        """After one more occasion. On the first one nothing is known of the partner yet."""
        if self.last is None:
            mind = replace(self, last=Occasion(why, scene))
            later = mind._resolved() if self.settings.mind_prompting else mind._thought()
        else:
            sight = self.last.scene.sight
            mind = replace(self, last=Occasion(why, scene, sight.t, sight.shown, sum(sight.soups)))
            later = mind._judged()._thought() if self.settings.modular else mind._thought_at_once()
        said = later.said[len(self.said) :]
        t, validated = scene.sight.t, later.validated
        record = CookRecord(t, why, later.hypotheses, later.used, validated, later.strategy, said)
        return replace(later, records=(*later.records, record))

    @property
    def validated(self) -> bool:
        """Whether the best hypothesis is good enough to be acted on without looking for others."""
        best = max((hypothesis.value for hypothesis in self.hypotheses), default=-math.inf)
        return self.settings.evaluate and best >= self.settings.threshold

    @property
    def purpose(self) -> str:
        """What one's plans are for, in words."""
        return fill("hm-cook-aim", strategy=self.strategy) if self.strategy else fill("hm-cook-no-aim")

    def _ranked(self, places: Iterable[int]) -> list[int]:
        """The best first, and the later one of equals."""
        return sorted(places, key=lambda i: (self.hypotheses[i].value, i), reverse=True)

    @property
    def _tried(self) -> list[int]:
        """The latest hypothesis, and the best of the others."""
        last = len(self.hypotheses) - 1
        others = self._ranked(range(last))[: self.settings.top_k] if self.settings.evaluate else []
        return [last, *others] if self.hypotheses else []

    # Which guesses were right?

    def _judged(self) -> Self:
        """With values as they are after what the partner did."""
        if not self.settings.evaluate:
            return self
        if not self.settings.mind_prompting:
            reward = self.settings.c if self._occasion.paid else -self.settings.c
            return self if self.used is None else self._valued({self.used: reward})
        places = [place for place in self._tried if self.hypotheses[place].expects]
        mind, found = self._asked(places, "judge", self._judge, fit_form())
        rewards = {place: self.settings.c if fit.fits else -self.settings.c for place, fit in found.items()}
        return mind._valued(rewards)

    def _valued(self, rewards: Mapping[int, float]) -> Self:
        found = list(self.hypotheses)
        for place, reward in rewards.items():
            one = found[place]
            found[place] = one._replace(value=self.settings.after(one.value, reward), judged=one.judged + 1)
        return replace(self, hypotheses=tuple(found))

    def _judge(self, place: int) -> str:
        scene, since, shown = self._occasion.scene, self._occasion.since, self._occasion.shown
        told = {**self._occasion.told(), "deeds": deeds_text(scene, since, shown)}
        return fill("hm-cook-judge", expects=self.hypotheses[place].expects, **told)

    # What are they up to, and what is one to do?

    def _thought(self) -> Self:
        """Keep to a validated hypothesis, or else think of one more; then choose a strategy."""
        if self.validated:
            mind = replace(self, used=self._ranked(range(len(self.hypotheses)))[0])
        elif self.settings.mind_prompting:
            mind = self._guessed()._foreseen()
        else:
            return self._own_strategy()
        return mind._resolved() if self.settings.mind_prompting else mind._followed()

    def _guessed(self) -> Self:
        prompt = fill("hm-cook-hypothesis", before=self._before("hypotheses"), **self._occasion.told())
        mind, guess = self._ask("hypothesis", prompt, guess_form())
        return mind if guess is None else mind._with(CookHypothesis(plain(guess.hypothesis)))

    def _foreseen(self) -> Self:
        """With what the latest and the best others have one expect; the latest is in use, unless the best is to be."""
        mind, found = self._asked(self._tried, "predict", self._prediction, expectation_form())
        hypotheses = list(mind.hypotheses)
        for place, reply in found.items():
            hypotheses[place] = hypotheses[place]._replace(expects=plain(reply.expects))
        places = self._tried if self.settings.latest else self._ranked(self._tried)
        return replace(mind, hypotheses=tuple(hypotheses), used=next(iter(places), None))

    def _prediction(self, place: int) -> str:
        return fill("hm-cook-predict", hypothesis=self.hypotheses[place].text, **self._occasion.told())

    def _resolved(self) -> Self:
        """With a strategy that goes by the hypothesis in use."""
        known = ""
        if self.used is not None:
            one = self.hypotheses[self.used]
            expects = f"So you expect of them: {one.expects}" if one.expects else ""
            partner = self._occasion.scene.partner
            known = f"\n{fill('hm-cook-known', partner=partner, hypothesis=one.text, expects=expects)}\n"
        prompt = fill("hm-cook-strategy", known=known, **self._occasion.told())
        mind, reply = self._ask("strategy", prompt, resolution_form())
        return mind if reply is None else replace(mind, strategy=plain(reply.strategy))

    def _own_strategy(self) -> Self:
        """With one more strategy that does not ask what the partner is up to."""
        prompt = fill("hm-cook-own", before=self._before("strategies"), **self._occasion.told())
        mind, reply = self._ask("strategy", prompt, resolution_form())
        if reply is not None:
            mind = mind._with(CookHypothesis(plain(reply.strategy)))
        places = mind._tried if mind.settings.latest else mind._ranked(mind._tried)
        return replace(mind, used=next(iter(places), None))._followed()

    def _followed(self) -> Self:
        return self if self.used is None else replace(self, strategy=self.hypotheses[self.used].text)

    def _thought_at_once(self) -> Self:
        mind, reply = self._ask("everything", fill("hm-cook-whole", **self._occasion.told()), everything_form())
        if reply is None:
            return mind
        mind = mind._with(CookHypothesis(plain(reply.hypothesis), expects=plain(reply.expects)))
        return replace(mind, used=len(mind.hypotheses) - 1, strategy=plain(reply.strategy))

    # Asking

    @property
    def _occasion(self) -> Occasion:
        if self.last is None:
            raise ValueError("there was no occasion to think yet")
        return self.last

    def _with(self, hypothesis: CookHypothesis) -> Self:
        return replace(self, hypotheses=(*self.hypotheses, hypothesis))

    def _before(self, name: str) -> str:
        """The best sentences that were ever right, to be improved."""
        if not self.settings.refine:
            return ""
        best = self._ranked(range(len(self.hypotheses)))[: self.settings.top_k]
        good = [(h.text, h.value) for h in (self.hypotheses[i] for i in best) if h.value > 0.0]
        most = f"{self.settings.c:g}"
        return f"\n{fill(f'hm-cook-{name}-before', most=most, hypotheses=rated(good))}\n" if good else ""

    def _ask(self, purpose: str, prompt: str, form: ReplyForm[M]) -> tuple[Self, M | None]:
        answer = self._answer(purpose, prompt, form)
        return replace(self, said=(*self.said, *answer.said)), answer.value

    def _asked(
        self, places: Sequence[int], purpose: str, prompt: Callable[[int], str], form: ReplyForm[M]
    ) -> tuple[Self, dict[int, M]]:
        """The same question about several hypotheses, and what could be read of the replies."""

        def ask(place: int) -> StructuredAnswer[M]:
            return self._answer(f"{purpose} {place}", prompt(place), form)

        answers = dict(zip(places, ask_all(ask, places, at_once=self.settings.at_once), strict=True))
        said = tuple(said for answer in answers.values() for said in answer.said)
        found = {place: answer.value for place, answer in answers.items() if answer.value is not None}
        return replace(self, said=(*self.said, *said)), found

    def _answer(self, purpose: str, prompt: str, form: ReplyForm[M]) -> StructuredAnswer[M]:
        scene = self._occasion.scene
        turns = (kitchen_message(scene), Message("user", prompt))
        return self.asker.within(f"step {scene.sight.t}").ask(purpose, turns, form)
