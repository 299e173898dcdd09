"""Agents that let a language model plan: Hypothetical Minds in kitchens, and ReAct, Reflexion and PlanReAct everywhere.

They share the plan follower and its prompts with Hypothetical Minds in matrix worlds (Cross et al. 2024, E.1–E.3).
ReAct reasons before each plan; Reflexion also judges what came of it, and keeps notes; PlanReAct first plans in words,
until the next meeting or delivery. Hypothetical Minds in kitchens has a theory of its partner, and reflects on plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, listed, plain
from otherminds.papers.hypothetical_minds.agent import BEGINNING, Encounter, Watch
from otherminds.papers.hypothetical_minds.verbal import forms
from otherminds.papers.hypothetical_minds.verbal.cook_body import CookBody
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import actions_text, now_text, whereabouts
from otherminds.papers.hypothetical_minds.verbal.cook_theory import CookTheory
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.papers.hypothetical_minds.verbal.hypotheses import PUBLISHED, Calls, HypothesisSettings
from otherminds.papers.hypothetical_minds.verbal.matrix_body import MatrixBody
from otherminds.papers.hypothetical_minds.verbal.matrix_prompts import inventory_text, kinds_of, meetings_text, present
from otherminds.papers.hypothetical_minds.verbal.matrix_subgoals import MatrixSituation
from otherminds.papers.hypothetical_minds.verbal.plan_follower import PlanFollower
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking, CookingView
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

B = TypeVar("B", bound=PlanFollower[Any, Any])

KEPT = 10  # notes that an agent remembers; chosen, not tuned
IMPATIENCE = 50  # steps without a soup after which a cook thinks again; not in the paper; chosen, not tuned


@dataclass(frozen=True)
class PlanningStyle:
    """What an agent does beside planning subgoals: plan in words, and reflect after every plan."""

    plans: bool = False
    reflects: bool = False


REACT = PlanningStyle()
STYLES: Mapping[str, PlanningStyle] = {
    "react": REACT,
    "reflexion": PlanningStyle(reflects=True),
    "planreact": PlanningStyle(plans=True),
}


@dataclass(frozen=True)
class PlanningAgent(Generic[B]):
    """A mind with a body that follows plans, which may reflect on plans and keep notes.

    `reflected`: the step in which the plan was made that it reflected on last; `own_exchanges`: all but those of the
    body. Immutable; its model is asked as it observes.
    """

    body: B
    notes: tuple[str, ...] = ()
    reflected: int = -1
    own_exchanges: Calls = ()

    def act(self) -> Categorical[Action]:
        """The action of the body."""
        return self.body.act()

    @property
    def exchanges(self) -> Calls:
        """All that the model was asked and replied."""
        return (*self.own_exchanges, *self.body.exchanges)

    def _reflected(
        self,
        template: str,
        whereabouts: Callable[[Any], str],
        outcomes: Callable[[Sequence[str]], str],
        reward: str,
        **fields: object,
    ) -> Self:
        """With a note on the plan that is just over, if the reply can be read; there is none on one broken off.

        whereabouts and outcomes: a situation, and outcomes of subgoals, in words. reward: the format of a reward.
        """
        finished = self.body.finished_plan
        if finished is None or finished.broken or finished.t == self.reflected:
            return self
        fields |= {"from": finished.t, "t": self.body.situation.t, "plan": listed(list(map(str, finished.plan)))}
        prompt = fill(
            template,
            notes=f"\n{self._notes}\n" if self.notes else "",
            before=whereabouts(finished.situation),
            after=whereabouts(self.body.situation),
            outcomes=outcomes(finished.outcomes or ("nothing",)),
            reward=format(finished.reward, reward) if finished.reward else "nothing",
            **fields,
        )
        answer = self.body.ask("reflect", prompt, forms.LESSON)
        lesson = answer.read(lambda reply: plain(reply.lesson))
        notes = self.notes if lesson is None else (*self.notes, lesson)[-KEPT:]
        return replace(self, notes=notes, reflected=finished.t, own_exchanges=(*self.own_exchanges, *answer.exchanges))

    def _plan_in_words(self, prompt: str) -> tuple[Self, str | None]:
        """A plan in words; None if it cannot be read."""
        answer = self.body.ask("plan", prompt, forms.STRATEGY)
        plan = answer.read(lambda reply: plain(reply.strategy))
        return replace(self, own_exchanges=(*self.own_exchanges, *answer.exchanges)), plan

    def _planned(self, *purposes: str) -> Self:
        """With subgoals for these purposes."""
        purpose = "\n\n".join(part for part in purposes if part)
        return replace(self, body=replace(self.body, purpose=purpose).planned())

    @property
    def _notes(self) -> str:
        return fill("hm-notes", notes=listed(self.notes)) if self.notes else ""


@dataclass(frozen=True)
class Reacting(PlanningAgent[MatrixBody]):
    """A mind in a matrix world without a theory of its partners.

    It is told what it held in its meetings and what they paid. `plan` is its plan in words, for meeting number
    `plans_for`; an unreadable plan leaves the last one unchanged.
    """

    style: PlanningStyle = REACT
    watch: Watch = BEGINNING
    meetings: tuple[Encounter, ...] = ()
    plan: str = ""
    plans_for: int = 0

    @classmethod
    def initial(
        cls, world: InTheMatrix, agent: str, asker: Asker, style: PlanningStyle = REACT, *, mapped: bool = False
    ) -> Self:
        """The mind at the start of an episode."""
        return cls(MatrixBody.initial(world, agent, asker, mapped=mapped), style=style)

    def observe(self, view: MatrixView) -> Self:
        """Notice meetings; without a plan, reflect and plan in words if that is its style, then plan subgoals."""
        watch, meeting = self.watch.after(self.body.world, view)
        meetings = self.meetings if meeting is None else (*self.meetings, meeting)
        mind = replace(self, watch=watch, meetings=meetings, body=self.body.look(view))
        if not mind.body.wants_plan:
            return mind
        if mind.style.reflects:
            mind = mind._reflected("hm-reflect", _whereabouts, "; ".join, "+.3g", history=mind._history)
        if mind.style.plans and mind.plans_for <= len(mind.meetings):
            prompt = fill("hm-plan", history=mind._history, **present(mind.body.situation))
            mind, plan = mind._plan_in_words(prompt)
            mind = replace(mind, plans_for=len(mind.meetings) + 1, plan=mind.plan if plan is None else plan)
        situation = mind.body.situation
        kinds, (x, y) = kinds_of(situation.world), situation.place
        fields = {"first": kinds[0], "last": kinds[-1], "others": " or ".join(situation.other_names), "x": x, "y": y}
        task = fill("hm-react", history=mind._history, example=situation.other_names[0], **fields)
        return mind._planned(task, mind._notes, fill("hm-its-plan", plan=mind.plan) if mind.plan else "")

    @property
    def _history(self) -> str:
        return meetings_text(self.meetings, kinds_of(self.body.world), "")


def _whereabouts(situation: MatrixSituation) -> str:
    if not situation.world.rules.field.grid.is_floor(situation.view.cell):
        return "nowhere"
    return f"{situation.place}, holding {inventory_text(situation.view.inventory, kinds_of(situation.world))}"


@dataclass(frozen=True)
class PlanningCook(PlanningAgent[CookBody]):
    """A cook that thinks at the start, after a soup, and after `patience` steps without one (0: never)."""

    patience: int = IMPATIENCE

    def _noted(self) -> Self:
        return self._reflected("hm-cook-reflect", whereabouts, listed, "g")

    def _why(self, since: int | None) -> str:
        """Why the cook is to think again; empty if it is not. `since`: the step of the last time, None if never."""
        memory = self.body.situation.memory
        if since is None:
            return "The episode begins."
        if memory.view.reward > 0:
            return f"Soup was delivered at step {memory.t}."
        waited = memory.t - since
        return f"No soup was delivered for {waited} steps." if 0 < self.patience <= waited else ""


@dataclass(frozen=True, kw_only=True)
class SpeakingCook(PlanningCook):
    """Hypothetical Minds with a language model as a cook; when it thinks of its partner, its plan is broken off."""

    theory: CookTheory

    @classmethod
    def initial(
        cls, world: CollaborativeCooking, agent: str, asker: Asker, settings: HypothesisSettings = PUBLISHED
    ) -> Self:
        """The cook at the start of an episode."""
        return cls(body=CookBody.initial(world, agent, asker), theory=CookTheory(asker, settings))

    def observe(self, view: CookingView) -> Self:
        """Reflect on a plan that is over, think of the partner on an occasion, and plan subgoals if there are none."""
        mind = replace(self, body=self.body.look(view))
        if mind.body.over:
            return mind
        mind = mind._noted()
        last = mind.theory.last
        why = mind._why(None if last is None else last.situation.t)
        if why:
            body = mind.body.broken_off(why)
            mind = replace(mind, body=body, theory=mind.theory.thought(why, body.situation))
        return mind._planned(mind.theory.purpose, mind._notes) if mind.body.wants_plan else mind

    @property
    def exchanges(self) -> Calls:
        """All that the model was asked and replied."""
        return (*self.theory.exchanges, *super().exchanges)


@dataclass(frozen=True)
class ReactingCook(PlanningCook):
    """A cook without a theory of its partner.

    `plan` is its plan in words, made on the occasions on which Hypothetical Minds thinks, last in step `planned_at`; an
    unreadable plan leaves the last one unchanged.
    """

    style: PlanningStyle = REACT
    plan: str = ""
    planned_at: int | None = None

    @classmethod
    def initial(cls, world: CollaborativeCooking, agent: str, asker: Asker, style: PlanningStyle = REACT) -> Self:
        """The cook at the start of an episode."""
        return cls(CookBody.initial(world, agent, asker), style=style)

    def observe(self, view: CookingView) -> Self:
        """Reflect and plan in words if that is its style, and plan subgoals if there are none."""
        mind = replace(self, body=self.body.look(view))
        if mind.body.over:
            return mind
        if mind.style.reflects:
            mind = mind._noted()
        if mind.style.plans and mind._why(mind.planned_at):
            situation = mind.body.situation
            prompt = fill("hm-cook-plan", now=now_text(situation), deeds=actions_text(situation))
            mind, plan = mind._plan_in_words(prompt)
            body = mind.body.broken_off("there is a new plan")
            mind = replace(mind, body=body, plan=mind.plan if plan is None else plan, planned_at=situation.t)
        if not mind.body.wants_plan:
            return mind
        aim = fill("hm-cook-aim", strategy=mind.plan) if mind.plan else ""
        return mind._planned(actions_text(mind.body.situation), fill("hm-cook-react"), mind._notes, aim)
