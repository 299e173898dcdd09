"""Reflection on plans in a kitchen (Cross et al. 2024, D.6, E.2): what came of a plan, and what to remember."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from otherminds.language.asking import listed, plain, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.cook_body import CookBody
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import kitchen_message, notes_text, whereabouts
from otherminds.papers.hypothetical_minds.verbal.manners import KEPT, Thinking, judgement_form
from otherminds.papers.hypothetical_minds.verbal.settings import Calls

fill = prompts_of("otherminds.papers.hypothetical_minds")


@dataclass(frozen=True)
class Notebook:
    """The latest notes of a cook on its plans, when that plan was made which it noted something on last, and how."""

    notes: tuple[str, ...] = ()
    reflected: int = -1
    thoughts: tuple[Thinking, ...] = ()

    def after(self, body: CookBody) -> Self:
        """With a note on the plan that is just over; on one that was broken off, or of before, there is none."""
        begun = body.finished
        if begun is None or begun.broken or begun.t == self.reflected:
            return self
        scene = body.scene
        prompt = fill(
            "hm-cook-reflect",
            plan=listed(list(map(str, begun.plan))),
            t=scene.sight.t,
            outcomes=listed(begun.outcomes or ("nothing",)),
            before=whereabouts(begun.scene),
            after=whereabouts(scene),
            reward=f"{begun.reward:g}" if begun.reward else "nothing",
            notes=f"\n{notes_text(self.notes)}\n" if self.notes else "",
            **{"from": begun.t},
        )
        turns = (kitchen_message(scene), Message("user", prompt))
        answer = body.asker.within(f"step {scene.sight.t}").ask("reflect", turns, judgement_form())
        lesson = answer.read(lambda reply: plain(reply.lesson))
        notes = self.notes if lesson is None else (*self.notes, lesson)[-KEPT:]
        thought = Thinking(scene.sight.t, "reflect", lesson or "", answer.said)
        return replace(self, notes=notes, reflected=begun.t, thoughts=(*self.thoughts, thought))

    @property
    def said(self) -> Calls:
        """All that the model said in reflection."""
        return tuple(said for thought in self.thoughts for said in thought.said)


BLANK = Notebook()
