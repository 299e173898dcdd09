"""Theory of mind by sentences in matrix worlds: a language model guesses what a partner is up to, and is tested on it.

Hypothetical Minds (Cross et al. 2024, §3.2, D.3). After each meeting: what the partner played; which hypotheses had
predicted it; a new hypothesis if none is good enough; what the partner will play next, and the reply to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, plain
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.agent import Encounter, HypotheticalMinds, Selection, Theory
from otherminds.papers.hypothetical_minds.verbal import forms
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.papers.hypothetical_minds.verbal.hypotheses import PUBLISHED, Calls, HypothesisPool, HypothesisSettings
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import (
    kinds_of,
    lessons_text,
    meetings_text,
    quoted,
    world_text,
)
from otherminds.worlds.in_the_matrix.hypotheses import typical_inventory
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.strategies import play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix


@dataclass(frozen=True, kw_only=True)
class Sentences(HypothesisPool[Encounter, int]):
    """A theory of one partner in sentences of a language model. The model is asked when a meeting is over.

    After a meeting there is one call for a new hypothesis and one for the prediction of each of 1 + min(top_k, n − 1)
    of n hypotheses, or just one prediction once a hypothesis is validated: 2 + k or 1, and one more if the model
    estimates what the partner held: 3 + k or 2, as published. In the arena `SentenceSelector` takes one more. (The
    authors' code takes one more in the prisoner's dilemma, too, for choosing what to play.) Unreadable replies come on
    top. A hypothesis whose prediction cannot be read makes none; if it is the one in use, the play stays unchanged.

    A prediction is judged once, by the very next meeting. A tie, or a meeting in which the partner's play is unknown,
    changes no value. Without `mind_prompting` hypotheses are strategies for the agent: the one in use earns what it was
    paid, the others ±c by what they would have been paid.
    """

    world: InTheMatrix
    agent: str
    partner: str = "the other player"
    meetings: tuple[Encounter, ...] = ()
    play: int | None = None

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        asker: Asker,
        settings: HypothesisSettings = PUBLISHED,
        *,
        partner: str = "the other player",
    ) -> Self:
        """The theory before any meeting."""
        return cls(asker=asker, settings=settings, world=world, agent=agent, partner=plain(partner))

    def for_partner(self, partner: str) -> Self:
        """The theory of another partner before any meeting, with calls of its own."""
        asker = self.asker.within(f"about {plain(partner)}")
        return self.initial(self.world, self.agent, asker, self.settings, partner=partner)

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting: the agent's inventory, what the partner played (None for a tie), and the reward.

        `theirs` is ignored if the model is to estimate it.
        """
        with_meeting = self._with_meeting(Encounter(own, theirs, reward))
        theory = with_meeting._with_hypothesis_in_use() if self.settings.modular else with_meeting._with_single_call()
        play = None if theory.used is None else theory.hypotheses[theory.used].play
        theory = theory if play is None else replace(theory, play=play)  # without a prediction the play stays
        return theory.recorded(theory.meetings[-1])

    def remember(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting about which the model is not asked anything."""
        free = replace(self, settings=replace(self.settings, exact_inventory=True))
        return replace(free._with_meeting(Encounter(own, theirs, reward)), settings=self.settings)

    def predict(self) -> Categorical[int]:
        """The kind that the hypothesis in use expects, with probability 1; uniform if it expects none."""
        return self._certain(None if self.used is None else self.hypotheses[self.used].expects)

    def act(self) -> Categorical[int]:
        """The kind chosen last, with probability 1; uniform before the first choice."""
        return self._certain(self.play)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds of resources."""
        return kinds_of(self.world)

    def _certain(self, kind: int | None) -> Categorical[int]:
        """The distribution that is certain of a kind; uniform if that is None."""
        return Categorical.uniform(range(len(self.kinds)) if kind is None else [kind])

    def _prompt(self, name: str, **fields: object) -> str:
        """A prompt of this theory by its name, with the meetings so far and the fields of its own."""
        meetings, kinds = meetings_text(self.meetings, self.kinds, self.partner), ", ".join(quoted(self.kinds))
        return fill(f"hm-{name}", history=meetings, partner=self.partner, kinds=kinds, **fields)

    # Evidence

    def _with_meeting(self, meeting: Encounter) -> Self:
        """With one more meeting, by which all hypotheses are judged; their predictions are spent then."""
        meetings = (*self.meetings, meeting)
        system = Message("system", world_text(self.world, self.agent))
        theory = replace(self, meetings=meetings, scope=(f"meeting {len(meetings)}", system))
        if not self.settings.exact_inventory:
            theory = theory._with_partner_play(None)
            if self.settings.modular:
                prompt = theory._prompt("inventory", number=len(theory.meetings), form=theory._inventory_form())
                theory, reply = theory.ask("inventory", prompt, forms.inventory_form(self.kinds))
                theory = theory._with_partner_play(None if reply is None else theory._most_frequent(reply.inventory))
        theory = theory._with_updated_values() if self.settings.evaluate else theory
        return replace(
            theory, hypotheses=tuple(hypothesis._replace(expects=None, play=None) for hypothesis in theory.hypotheses)
        )

    def _with_updated_values(self) -> Self:
        """With values by what the partner played, or by what plays for it were or would have been paid."""
        meeting = self.meetings[-1]
        c = self.settings.c
        if self.settings.mind_prompting:
            predicted = {i: h.expects for i, h in enumerate(self.hypotheses) if h.expects is not None}
            testable = {} if meeting.theirs is None else predicted
            return self.rewarded({i: c if expects == meeting.theirs else -c for i, expects in testable.items()})
        plays = {i: h.play for i, h in enumerate(self.hypotheses) if h.play is not None}
        rewards = {i: meeting.reward for i in plays if i == self.used}
        unused = {i: play for i, play in plays.items() if i != self.used}
        if self.settings.exact_inventory:
            if meeting.theirs is not None:
                their_inventory, kinds = typical_inventory(meeting.theirs, len(self.kinds)), len(self.kinds)
                pays = {
                    i: self.world.rules.reward(typical_inventory(play, kinds), their_inventory)[0]
                    for i, play in unused.items()
                }
                rewards |= {i: c * ((payoff > 0) - (payoff < 0)) for i, payoff in pays.items()}
            return self.rewarded(rewards)

        def counterfactual(index: int) -> str:
            return self._prompt("counterfactual", number=len(self.meetings), instead=self.kinds[unused[index]])

        theory, replies = self.ask_each([*unused], "counterfactual", counterfactual, forms.SIGN)
        return theory.rewarded(rewards | {i: c * forms.SIGNS[reply.reward] for i, reply in replies.items()})

    def _with_partner_play(self, theirs: int | None) -> Self:
        """With what the partner played in the last meeting."""
        *before, last = self.meetings
        return replace(self, meetings=(*before, last._replace(theirs=theirs)))

    def _inventory_form(self) -> str:
        return ", ".join(f"{kind}: ..." for kind in quoted(self.kinds))

    def _most_frequent(self, inventory: Mapping[str, int]) -> int | None:
        return play_of(tuple(inventory[kind] for kind in self.kinds))

    # Hypotheses and predictions

    def _with_hypothesis_in_use(self) -> Self:
        """With the best hypothesis in use if it is validated, else with a new one; with predictions by the top k."""
        theory = self if self.validated else self.proposed(self._prompt, "hm", "strategy")
        indices = [theory.best] if self.validated and theory.best is not None else theory.candidates
        if not indices:
            return theory
        plays: dict[int, tuple[int | None, int]]
        kind = self.kinds.index
        purpose = "predict" if self.settings.mind_prompting else "follow"

        def prompt(index: int) -> str:
            return theory._prompt(purpose, hypothesis=theory.hypotheses[index].text, number=len(theory.meetings) + 1)

        if self.settings.mind_prompting:
            updated, replies = theory.ask_each(indices, purpose, prompt, forms.play_form(self.kinds))
            plays = {i: (kind(reply.partner_plays), kind(reply.i_play)) for i, reply in replies.items()}
        else:
            updated, own = theory.ask_each(indices, purpose, prompt, forms.own_play_form(self.kinds))
            plays = {i: (None, kind(reply.i_play)) for i, reply in own.items()}
        predicted = {i: updated.hypotheses[i]._replace(expects=e, play=p) for i, (e, p) in plays.items()}
        return updated.predicting(indices, predicted)

    def _with_single_call(self) -> Self:
        """All steps in one call."""
        estimate, estimate_text = "", ""
        if not self.settings.exact_inventory:
            estimate, estimate_text = f'"inventory": {{{self._inventory_form()}}}, ', f"{fill('hm-whole-estimate')}\n"
        prompt = self._prompt("whole", number=len(self.meetings) + 1, estimate=estimate, told=estimate_text)
        form = forms.whole_form(self.kinds, estimate=not self.settings.exact_inventory)
        theory, reply = self.ask("everything", prompt, form)
        if reply is None:
            return replace(theory, used=None)
        if reply.inventory is not None:
            theory = theory._with_partner_play(self._most_frequent(reply.inventory))
        expects, play = self.kinds.index(reply.partner_plays), self.kinds.index(reply.i_play)
        theory = theory.admitted(reply.hypothesis, expects=expects, play=play)
        return replace(theory, used=len(theory.hypotheses) - 1)


@dataclass(frozen=True)
class Hybrid:
    """A theory of programs, and sentences for partners that it predicts badly.

    The most probable play by the programs is judged like a prediction by a sentence: `value` becomes
    V + alpha (±c − V). From `patience` meetings on, sentences are asked whenever it is below `min_value`; they know all
    meetings before, and what they have predicted by then still counts. Meetings without a call cost nothing.
    """

    programs: Theory
    sentences: Sentences
    min_value: float = 0.0  # right as often as wrong; chosen, not tuned
    patience: int = 4  # meetings; chosen, not tuned
    value: float = 0.0
    times_judged: int = 0

    def for_partner(self, partner: str) -> Self:
        """The theory of another partner before any meeting."""
        return replace(self, programs=self.programs.for_partner(partner), sentences=self.sentences.for_partner(partner))

    def update(self, own: Inventory, theirs: int | None, reward: float) -> Self:
        """After a meeting: the agent's inventory, what the partner played (None for a tie), and the reward."""
        theory = self
        if theirs is not None:
            settings = self.sentences.settings
            right = self.programs.predict().mode == theirs
            (value,) = settings.rescored([self.value], [settings.c if right else -settings.c])
            programs = self.programs.update(own, theirs, reward)
            theory = replace(self, programs=programs, value=value, times_judged=self.times_judged + 1)
        learn = theory.sentences.remember if theory.trusting else theory.sentences.update
        return replace(theory, sentences=learn(own, theirs, reward))

    def predict(self) -> Categorical[int]:
        """P(the kind that the partner plays next), by the programs or by a sentence."""
        return self._in_use.predict()

    def act(self) -> Categorical[int]:
        """The kind to play next, by the programs or by a sentence."""
        return self._in_use.act()

    @property
    def trusting(self) -> bool:
        """Whether the programs predict well enough, or have not been tried enough."""
        return self.times_judged < self.patience or self.value >= self.min_value

    @property
    def ranked(self) -> Sequence[tuple[str, float]]:
        """The hypotheses in use, the best first."""
        return self._in_use.ranked

    @property
    def exchanges(self) -> Calls:
        """All that the model was asked and replied."""
        return self.sentences.exchanges

    @property
    def _in_use(self) -> Theory:
        return self.programs if self.trusting or self.sentences.play is None else self.sentences


@dataclass(frozen=True)
class SentenceSelector:
    """What selects whom to meet in the arena: one call of the model after each meeting (Cross et al. 2024, D.3).

    It is told all meetings and its guesses about all players that it has met.
    """

    asker: Asker
    world: InTheMatrix
    agent: str
    exchanges: Calls = ()

    def select(self, mind: HypotheticalMinds) -> tuple[Self, Selection | None]:
        """The selector after the call, and the choice; None if the reply cannot be read."""
        kinds, names = kinds_of(self.world), [plain(name) for name in self.world.agents]
        players = [names[j] for j in mind.other_players]
        prompt = fill(
            "hm-seek",
            history=lessons_text(mind.lessons, names, kinds),
            guesses="\n".join(self._guess(mind, j, names[j]) for j in sorted(mind.modelled)) or "- none",
            players=", ".join(quoted(players)),
            kinds=", ".join(quoted(kinds)),
        )
        messages = (Message("system", world_text(self.world, self.agent)), Message("user", prompt))
        asker = self.asker.within(f"meeting {len(mind.lessons)}")
        answer = asker.ask("seek", messages, forms.selection_form(players, kinds))
        selector = replace(self, exchanges=(*self.exchanges, *answer.exchanges))
        if answer.value is None:
            return selector, None
        sought = tuple(dict.fromkeys(map(names.index, answer.value.players)))
        return selector, Selection(sought, kinds.index(answer.value.partner_plays), kinds.index(answer.value.i_play))

    def _guess(self, mind: HypotheticalMinds, player: int, name: str) -> str:
        """The hypothesis about a player that is in use, its value, and the kind that it expects."""
        theory = mind.theories[player]
        law = theory.predict()
        expects = f"expected to play {kinds_of(self.world)[law.mode]}" if law.prob(law.mode) > 0.5 else "unpredicted"
        return "\n".join([f"- {name}, {expects}", *(f"  {value:+.2f}: {text}" for text, value in theory.ranked[:1])])
