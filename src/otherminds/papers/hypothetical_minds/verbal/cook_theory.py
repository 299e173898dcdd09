"""Theory of mind by sentences in kitchens: a language model guesses how the partner helps, and is tested on it.

Hypothetical Minds (Cross et al. 2024, §3.2, D.3) in collaborative cooking. After each delivery: which expectations did
the partner's actions fit; a new hypothesis if none is good enough, and what to expect by it; then a strategy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from otherminds.language.asking import plain
from otherminds.papers.hypothetical_minds.verbal import forms
from otherminds.papers.hypothetical_minds.verbal.cook_memory import KitchenMemory, KitchenSituation
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import actions_text, kitchen_message, now_text
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.papers.hypothetical_minds.verbal.hypotheses import HypothesisPool


class Occasion(NamedTuple):
    """Why the cook thinks, its situation, and what it knew at the occasion before; None if this is the first one."""

    why: str
    situation: KitchenSituation
    before: KitchenMemory | None = None


@dataclass(frozen=True)
class CookTheory(HypothesisPool[Occasion, str]):
    """What a language model thinks of a partner in a kitchen. The model is asked on an occasion.

    An occasion with n hypotheses takes 1 + min(k, n − 1) calls for judging these, one for a new hypothesis, one for
    the expectation by each of 1 + min(k, n), and one for the strategy: 4 + 2k if there are many. Once one is validated,
    it takes 1 + k for judging and one for the strategy: what was expected before is expected still. The first occasion
    takes one call, for a strategy. Unreadable replies come on top; without a readable one a value, an expectation or a
    strategy stays unchanged.

    Without `mind_prompting`, hypotheses are strategies for the agent, and the one in use earns ±c by whether soup was
    delivered since the occasion before; one call. Without `evaluate` nothing is judged, without `refine` no earlier
    hypotheses are shown, and without `modular` there is one call for all. `exact_inventory` has no effect.
    """

    strategy: str = ""
    last: Occasion | None = None

    def thought(self, why: str, situation: KitchenSituation) -> Self:
        """The theory after one more occasion; on the first one nothing is known of the partner yet."""
        theory = replace(self, scope=(f"step {situation.t}", kitchen_message(situation)))
        if self.last is None:
            theory = replace(theory, last=Occasion(why, situation))
            theory = (
                theory._with_strategy()
                if self.settings.mind_prompting
                else theory._with_hypothesis_in_use()._with_strategy()
            )
        else:
            theory = replace(theory, last=Occasion(why, situation, self.last.situation.memory))
            if self.settings.modular:
                theory = theory._with_updated_values() if self.settings.evaluate else theory
                theory = theory._with_hypothesis_in_use()._with_strategy()
            else:
                theory = theory._with_single_call()
        return theory.recorded(theory._occasion)

    @property
    def purpose(self) -> str:
        """What the plans of the cook are for, in words."""
        return fill("hm-cook-aim", strategy=self.strategy) if self.strategy else fill("hm-cook-no-aim")

    @property
    def _occasion(self) -> Occasion:
        if self.last is None:
            raise ValueError("there was no occasion to think yet")
        return self.last

    def _prompt(self, name: str, **fields: object) -> str:
        why, situation, _ = self._occasion
        common_fields = {"why": why, "now": now_text(situation), "partner": situation.partner}
        return fill(f"hm-cook-{name}", **{"deeds": actions_text(situation), **common_fields, **fields})

    def _with_updated_values(self) -> Self:
        """With values by what the partner has done, or by whether soup was delivered, since the occasion before."""
        _, situation, before = self._occasion
        c = self.settings.c
        if not self.settings.mind_prompting:
            paid = before is not None and sum(situation.memory.soups) > sum(before.soups)
            return self if self.used is None else self.rewarded({self.used: c if paid else -c})
        indices = [index for index in self.candidates if self.hypotheses[index].expects]

        def prompt(index: int) -> str:
            deeds = actions_text(situation, before)
            return self._prompt("judge", expects=self.hypotheses[index].expects, deeds=deeds)

        theory, replies = self.ask_each(indices, "judge", prompt, forms.FIT)
        return theory.rewarded({index: c if fit.fits else -c for index, fit in replies.items()})

    def _with_hypothesis_in_use(self) -> Self:
        """With the best hypothesis in use if it is validated; else with a new one, and expectations by the top k."""
        if self.validated:
            return replace(self, used=self.best)
        theory = self.proposed(self._prompt, "hm-cook", "own")
        indices = theory.candidates
        if not self.settings.mind_prompting or not indices:
            return theory.predicting(indices, {}) if indices else theory

        def prompt(index: int) -> str:
            return theory._prompt("predict", hypothesis=theory.hypotheses[index].text)

        updated, replies = theory.ask_each(indices, "predict", prompt, forms.EXPECTATION)
        expected = {i: updated.hypotheses[i]._replace(expects=plain(reply.expects)) for i, reply in replies.items()}
        return updated.predicting(indices, expected)

    def _with_strategy(self) -> Self:
        """With a strategy by the hypothesis in use; without `mind_prompting` that hypothesis is the strategy."""
        used = None if self.used is None else self.hypotheses[self.used]
        if not self.settings.mind_prompting:
            return self if used is None else replace(self, strategy=used.text)
        guess_text = ""
        if used is not None:
            expects = f"So you expect of them: {used.expects}" if used.expects else ""
            partner = self._occasion.situation.partner
            guess_text = f"\n{fill('hm-cook-known', partner=partner, hypothesis=used.text, expects=expects)}\n"
        theory, reply = self.ask("strategy", self._prompt("strategy", known=guess_text), forms.STRATEGY)
        return theory if reply is None else replace(theory, strategy=plain(reply.strategy))

    def _with_single_call(self) -> Self:
        """All steps in one call."""
        theory, reply = self.ask("everything", self._prompt("whole"), forms.WHOLE_KITCHEN)
        if reply is None:
            return theory
        theory = theory.admitted(reply.hypothesis, expects=plain(reply.expects))
        return replace(theory, used=len(theory.hypotheses) - 1, strategy=plain(reply.strategy))
