"""Agents that plan subgoals without a theory of anybody: ReAct, Reflexion and PlanReAct (Cross et al. 2024, E.1–E.3).

They share the subgoal module and its prompts with Hypothetical Minds. ReAct reasons before each plan; Reflexion also
judges what came of it, and keeps notes; PlanReAct first plans in words until the next meeting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

from pydantic import BaseModel

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, ReplyForm, StructuredAnswer, listed, plain, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.encounters import BEGINNING, Encounter, Watch
from otherminds.papers.hypothetical_minds.verbal.forms import resolution_form
from otherminds.papers.hypothetical_minds.verbal.manners import KEPT, MANNERS, Manner, Thinking, judgement_form
from otherminds.papers.hypothetical_minds.verbal.prompts import held, history, kinds_of
from otherminds.papers.hypothetical_minds.verbal.settings import Calls
from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import Situation
from otherminds.papers.hypothetical_minds.verbal.subgoal_prompts import remembered_text, seen_text, world_and_map
from otherminds.papers.hypothetical_minds.verbal.subgoals import Begun, Subgoals
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.rules import Inventory
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

fill = prompts_of("otherminds.papers.hypothetical_minds")

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Reacting:
    """A mind in a matrix world that lets a language model plan; immutable, and its model is asked as it observes.

    It is told what it held in its meetings and what they paid. `notes` are what it has learned by reflection, `plan` is
    its plan in words; if one cannot be read, that of before stays.
    """

    body: Subgoals
    manner: Manner = MANNERS["react"]
    watch: Watch = BEGINNING
    meetings: tuple[Encounter, ...] = ()
    plan: str = ""
    plans_for: int = 0
    notes: tuple[str, ...] = ()
    reflected: int = -1
    thoughts: tuple[Thinking, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        asker: Asker,
        manner: Manner = MANNERS["react"],
        *,
        name: str = "",
        mapped: bool = False,
    ) -> Self:
        """A mind at the start of an episode, in a world that may have a name."""
        return cls(Subgoals.initial(world, agent, asker, name=name, mapped=mapped), manner)

    def observe(self, view: MatrixView) -> Self:
        """Notice meetings; when there is no plan any more, reflect, think, and make another one, as it is its way."""
        watch, meeting = self.watch.after(self.body.world, view)
        meetings = self.meetings if meeting is None else (*self.meetings, meeting)
        mind = replace(self, watch=watch, meetings=meetings, body=self.body.look(view))
        return mind._planned() if mind.body.wants_plan else mind

    def act(self) -> Categorical[Action]:
        """What the body does."""
        return self.body.act()

    @property
    def said(self) -> Calls:
        """All that the model said."""
        asides = (said for thought in self.thoughts for said in thought.said)
        return (*asides, *self.body.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

    def _planned(self) -> Self:
        mind = self
        finished = mind.body.finished
        if finished is not None and mind._is_to_reflect(finished):
            mind = mind._reflected(finished)
        if mind.manner.plans and mind.plans_for <= len(mind.meetings):
            mind = mind._with_plan()
        return replace(mind, body=replace(mind.body, purpose=mind._purpose()).planned())

    def _is_to_reflect(self, finished: Begun) -> bool:
        if not self.manner.reflects or self.reflected == finished.t:
            return False
        return self.manner.reflects == "plan" or finished.met

    # Calls

    def _reflected(self, finished: Begun) -> Self:
        """With a note on a plan, if one can be read."""
        situation = self.body.situation
        now = situation.view
        notes = f"\n{fill('hm-notes', notes=listed(self.notes))}\n" if self.notes else ""
        told = {
            "from": finished.t,
            "plan": listed(list(map(str, finished.plan))),
            "t": now.t,
            "outcomes": "; ".join(finished.outcomes) or "nothing",
            "before": _whereabouts(situation, finished.cell, finished.inventory),
            "after": _whereabouts(situation, now.cell, now.inventory),
            "reward": f"{finished.reward:+.3g}" if finished.reward else "nothing",
        }
        prompt = fill("hm-reflect", history=self._history(), notes=notes, **told)
        answer = self._ask("reflect", prompt, judgement_form())
        lesson = answer.read(lambda reply: plain(reply.lesson))
        kept = self.notes if lesson is None else (*self.notes, lesson)[-KEPT:]
        thought = Thinking(now.t, "reflect", lesson or "", answer.said)
        return replace(self, notes=kept, reflected=finished.t, thoughts=(*self.thoughts, thought))

    def _with_plan(self) -> Self:
        """With a plan in words until the next meeting, if one can be read."""
        situation = self.body.situation
        told = {"t": situation.view.t, "seen": seen_text(situation), "remembered": remembered_text(situation)}
        answer = self._ask("plan", fill("hm-plan", history=self._history(), **told), resolution_form())
        plan = answer.read(lambda reply: plain(reply.strategy))
        thought = Thinking(situation.view.t, "plan", plan or "", answer.said)
        later = replace(self, plans_for=len(self.meetings) + 1, thoughts=(*self.thoughts, thought))
        return later if plan is None else replace(later, plan=plan)

    def _ask(self, purpose: str, prompt: str, form: ReplyForm[M]) -> StructuredAnswer[M]:
        situation = self.body.situation
        turns = (world_and_map(situation, self.body.name), Message("user", prompt))
        return self.body.asker.within(f"step {situation.view.t}").ask(purpose, turns, form)

    # Prompts

    def _history(self) -> str:
        return history(self.meetings, kinds_of(self.body.world), "")

    def _purpose(self) -> str:
        """What the subgoals are for: to play well, by what happened so far, by one's notes and by one's plan."""
        situation = self.body.situation
        kinds, column_row = kinds_of(self.body.world), situation.world.rules.field.grid.xy(situation.view.cell)
        told = fill(
            "hm-react",
            history=self._history(),
            first=kinds[0],
            last=kinds[-1],
            others=" or ".join(situation.others),
            example=situation.others[0],
            x=column_row[0],
            y=column_row[1],
        )
        notes = fill("hm-notes", notes=listed(self.notes)) if self.notes else ""
        plan = fill("hm-its-plan", plan=self.plan) if self.plan else ""
        return "\n\n".join(part for part in (told, notes, plan) if part)


def _whereabouts(situation: Situation, cell: int, inventory: Inventory) -> str:
    if not situation.world.rules.field.grid.is_floor(cell):
        return "nowhere"
    place = situation.world.rules.field.grid.xy(cell)
    return f"{place}, holding {held(inventory, kinds_of(situation.world))}"
