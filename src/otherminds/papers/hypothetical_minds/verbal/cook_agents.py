"""Cooks that let a language model think: Hypothetical Minds in a kitchen, and ReAct, Reflexion and PlanReAct there.

They share the subgoal module and its prompts. Hypothetical Minds (Cross et al. 2024) thinks of its partner when a soup
was delivered, and reflects on every plan; of the baselines, Reflexion reflects on plans, and PlanReAct plans in words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, plain, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.cook_body import CookBody
from otherminds.papers.hypothetical_minds.verbal.cook_notes import BLANK, Notebook
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import deeds_text, kitchen_message, notes_text, now_text
from otherminds.papers.hypothetical_minds.verbal.cook_theory import CookHypothesis, CookRecord, CookTheory
from otherminds.papers.hypothetical_minds.verbal.forms import resolution_form
from otherminds.papers.hypothetical_minds.verbal.manners import MANNERS, Manner, Thinking
from otherminds.papers.hypothetical_minds.verbal.settings import PUBLISHED, Calls, Settings
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import View

fill = prompts_of("otherminds.papers.hypothetical_minds")

IMPATIENCE = 50
AT_FIRST = "The episode begins."


def occasion(body: CookBody, since: int | None, patience: int) -> str:
    """Why one is to think again, in words; empty if one is not. `since`: when one did last, None if never."""
    sight = body.scene.sight
    if since is None:
        return AT_FIRST
    if sight.view.reward > 0:
        return f"Soup was delivered at step {sight.t}."
    return f"No soup was delivered for {sight.t - since} steps." if 0 < patience <= sight.t - since else ""


@dataclass(frozen=True)
class SpeakingCook:
    """Hypothetical Minds with a language model as a cook; immutable, and its model is asked as it observes.

    It thinks of its partner at the start, whenever anybody has delivered soup, and (which is not in the paper) after
    `patience` steps without that, unless `patience` is 0. A plan that is under way is broken off then.
    """

    body: CookBody
    theory: CookTheory
    notebook: Notebook = BLANK
    patience: int = IMPATIENCE

    @classmethod
    def initial(
        cls,
        world: CollaborativeCooking,
        agent: str,
        asker: Asker,
        settings: Settings = PUBLISHED,
        *,
        patience: int = IMPATIENCE,
    ) -> Self:
        """A cook at the start of an episode."""
        body = CookBody(asker, world, world.agents.index(agent))
        return cls(body, CookTheory(asker, settings), patience=patience)

    def observe(self, view: View) -> Self:
        """See; reflect on a plan that is over, think on an occasion, and make another plan if there is none."""
        mind = replace(self, body=self.body.look(view))
        if mind.body.over:
            return mind
        mind = replace(mind, notebook=mind.notebook.after(mind.body))
        last = mind.theory.last
        why = occasion(mind.body, None if last is None else last.scene.sight.t, mind.patience)
        if why:
            body = mind.body.broken_off(why)
            mind = replace(mind, body=body, theory=mind.theory.thought(why, body.scene))
        return mind._planned() if mind.body.wants_plan else mind

    def act(self) -> Categorical[Action]:
        """What the body does."""
        return self.body.act()

    @property
    def hypotheses(self) -> tuple[CookHypothesis, ...]:
        """All guesses about the partner so far."""
        return self.theory.hypotheses

    @property
    def records(self) -> tuple[CookRecord, ...]:
        """What came of thinking about the partner, occasion by occasion."""
        return self.theory.records

    @property
    def said(self) -> Calls:
        """All that the model said."""
        return (*self.theory.said, *self.notebook.said, *self.body.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

    def _planned(self) -> Self:
        parts = (self.theory.purpose, notes_text(self.notebook.notes))
        purpose = "\n\n".join(part for part in parts if part)
        return replace(self, body=replace(self.body, purpose=purpose).planned())


@dataclass(frozen=True)
class ReactingCook:
    """A cook that lets a language model plan without a theory of anybody; immutable, and asked as it observes.

    `plan` is its plan in words, made anew on the same occasions on which Hypothetical Minds thinks; if one cannot be
    read, that of before stays.
    """

    body: CookBody
    manner: Manner = MANNERS["react"]
    patience: int = IMPATIENCE
    notebook: Notebook = BLANK
    plan: str = ""
    planned_at: int | None = None
    thoughts: tuple[Thinking, ...] = ()

    @classmethod
    def initial(
        cls,
        world: CollaborativeCooking,
        agent: str,
        asker: Asker,
        manner: Manner = MANNERS["react"],
        *,
        patience: int = IMPATIENCE,
    ) -> Self:
        """A cook at the start of an episode."""
        return cls(CookBody(asker, world, world.agents.index(agent)), manner, patience)

    def observe(self, view: View) -> Self:
        """See; when there is no plan any more, reflect, think, and make another one, as it is its way."""
        mind = replace(self, body=self.body.look(view))
        if mind.body.over:
            return mind
        if mind.manner.reflects:
            mind = replace(mind, notebook=mind.notebook.after(mind.body))
        if mind.manner.plans and occasion(mind.body, mind.planned_at, mind.patience):
            mind = mind._with_plan()
        return mind._with_subgoals() if mind.body.wants_plan else mind

    def act(self) -> Categorical[Action]:
        """What the body does."""
        return self.body.act()

    @property
    def said(self) -> Calls:
        """All that the model said."""
        plans = (said for thought in self.thoughts for said in thought.said)
        return (*plans, *self.notebook.said, *self.body.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

    def _with_plan(self) -> Self:
        """With a plan in words until the next soup, if one can be read; subgoals under way are broken off."""
        scene = self.body.scene
        t = scene.sight.t
        prompt = fill("hm-cook-plan", now=now_text(scene), deeds=deeds_text(scene, -1, 0))
        turns = (kitchen_message(scene), Message("user", prompt))
        answer = self.body.asker.within(f"step {t}").ask("plan", turns, resolution_form())
        plan = answer.read(lambda reply: plain(reply.strategy))
        body = self.body.broken_off("there is a new plan")
        thoughts = (*self.thoughts, Thinking(t, "plan", plan or "", answer.said))
        return replace(self, body=body, plan=self.plan if plan is None else plan, planned_at=t, thoughts=thoughts)

    def _with_subgoals(self) -> Self:
        """What the subgoals are for: to cook well, by what others did, by one's notes and by one's plan."""
        aim = fill("hm-cook-aim", strategy=self.plan) if self.plan else ""
        deeds = deeds_text(self.body.scene, -1, 0)
        parts = (deeds, fill("hm-cook-react"), notes_text(self.notebook.notes), aim)
        purpose = "\n\n".join(part for part in parts if part)
        return replace(self, body=replace(self.body, purpose=purpose).planned())
