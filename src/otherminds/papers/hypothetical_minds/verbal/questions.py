"""The questions about a partner that a language model is asked; each is one call, and more if it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from otherminds.language.asking import Asker, plain, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.encounters import Encounter
from otherminds.papers.hypothetical_minds.verbal import forms
from otherminds.papers.hypothetical_minds.verbal.prompts import Rated, Topic, quoted, rated
from otherminds.papers.hypothetical_minds.verbal.settings import Calls, Settings
from otherminds.worlds.in_the_matrix.strategies import play_of

fill = prompts_of("otherminds.papers.hypothetical_minds")

REWARDS: Mapping[forms.Sign, int] = MappingProxyType({"positive": 1, "neutral": 0, "negative": -1})
Meetings = Sequence[Encounter]


class Kind(NamedTuple):
    """A kind that was named, None if the reply could not be read or several were named alike."""

    kind: int | None
    said: Calls


class Sentence(NamedTuple):
    """A sentence, None if the reply could not be read."""

    text: str | None
    said: Calls


class Foresight(NamedTuple):
    """What the partner is expected to play, and what to play then; both None if the reply could not be read."""

    expects: int | None
    play: int | None
    said: Calls


class Everything(NamedTuple):
    """What the partner held most of, a sentence, and what follows from it; all None if it could not be read."""

    theirs: int | None
    text: str | None
    expects: int | None
    play: int | None
    said: Calls


@dataclass(frozen=True)
class Questions:
    """The questions after so many meetings, all of them about one partner."""

    asker: Asker
    topic: Topic
    settings: Settings
    meetings: tuple[Encounter, ...]

    def inventory(self) -> Kind:
        """What did the partner play in the last meeting?"""
        fields = {"number": len(self.meetings), "form": self._inventory_form()}
        found = self._asker.ask("inventory", self._prompt("inventory", **fields), forms.estimate_form(self._kinds))
        return Kind(found.read(lambda reply: self._most(reply.inventory)), found.said)

    def hypothesis(self, good: Sequence[Rated]) -> Sentence:
        """What is the partner up to, or else, what is one to do oneself? Good sentences are there to be improved."""
        if not self.settings.mind_prompting:
            prompt = self._prompt("strategy", before=self._shown("strategies-before", good))
            plan = self._asker.ask("strategy", prompt, forms.resolution_form())
            return Sentence(plan.read(lambda reply: plain(reply.strategy)), plan.said)
        prompt = self._prompt("hypothesis", before=self._shown("hypotheses-before", good))
        guess = self._asker.ask("hypothesis", prompt, forms.guess_form())
        return Sentence(guess.read(lambda reply: plain(reply.hypothesis)), guess.said)

    def foresight(self, place: int, text: str) -> Foresight:
        """What follows from a sentence for the next meeting?"""
        fields = {"hypothesis": text, "number": len(self.meetings) + 1}
        if not self.settings.mind_prompting:
            prompt, choices = self._prompt("follow", **fields), forms.choice_form(self._kinds)
            choice = self._asker.ask(f"follow {place}", prompt, choices)
            return Foresight(None, choice.read(lambda reply: self._kinds.index(reply.i_play)), choice.said)
        form = forms.forecast_form(self._kinds)
        found = self._asker.ask(f"predict {place}", self._prompt("predict", **fields), form)
        if found.value is None:
            return Foresight(None, None, found.said)
        theirs, own = self._kinds.index(found.value.partner_plays), self._kinds.index(found.value.i_play)
        return Foresight(theirs, own, found.said)

    def counterfactual(self, place: int, play: int) -> tuple[float | None, Calls]:
        """What would the last meeting have paid, ±c or 0, had one played something else?"""
        prompt = self._prompt("counterfactual", number=len(self.meetings), instead=self._kinds[play])
        found = self._asker.ask(f"counterfactual {place}", prompt, forms.verdict_form())
        return (None if found.value is None else self.settings.c * REWARDS[found.value.reward]), found.said

    def everything(self) -> Everything:
        """All of it in one question."""
        estimate, told = "", ""
        if not self.settings.exact_inventory:
            estimate, told = f'"inventory": {{{self._inventory_form()}}}, ', f"{fill('hm-whole-estimate')}\n"
        prompt = self._prompt("whole", number=len(self.meetings) + 1, estimate=estimate, told=told)
        form = forms.whole_form(self._kinds, estimate=not self.settings.exact_inventory)
        found = self._asker.ask("everything", prompt, form)
        if found.value is None:
            return Everything(None, None, None, None, found.said)
        theirs = None if found.value.inventory is None else self._most(found.value.inventory)
        expects, play = self._kinds.index(found.value.partner_plays), self._kinds.index(found.value.i_play)
        return Everything(theirs, plain(found.value.hypothesis), expects, play, found.said)

    @property
    def _asker(self) -> Asker:
        return self.asker.within(f"meeting {len(self.meetings)}")

    @property
    def _kinds(self) -> tuple[str, ...]:
        return self.topic.kinds

    def _prompt(self, name: str, **fields: object) -> tuple[Message, ...]:
        return self.topic.prompt(name, self.meetings, **fields)

    def _inventory_form(self) -> str:
        return ", ".join(f"{kind}: ..." for kind in quoted(self._kinds))

    def _most(self, inventory: Mapping[str, int]) -> int | None:
        return play_of(tuple(inventory[kind] for kind in self._kinds))

    def _shown(self, name: str, good: Sequence[Rated]) -> str:
        most = f"{self.settings.c:g}"
        return f"\n{fill(f'hm-{name}', most=most, hypotheses=rated(good))}\n" if good else ""
