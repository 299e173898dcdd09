"""The subgoal module of Hypothetical Minds for kitchens: a cook moved by plans of a language model.

The model plans a few subgoals, which the action planner turns into actions. It is asked again when they are done, or
one has failed. All that it is told is what the cook sees and remembers, and the map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker
from otherminds.papers.hypothetical_minds.verbal.cook_forms import CookSubgoal, cook_plan_form
from otherminds.papers.hypothetical_minds.verbal.cook_planner import Effort, progress
from otherminds.papers.hypothetical_minds.verbal.cook_prompts import cook_subgoals_prompt
from otherminds.papers.hypothetical_minds.verbal.cook_sight import Scene, after, at_first
from otherminds.papers.hypothetical_minds.verbal.settings import Calls
from otherminds.worlds.avatars import Action
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.collaborative_cooking.things import View

PAUSE = 10
FRESH = Effort()


class CookPlanRecord(NamedTuple):
    """A plan: when it was made, what it is, None if no reply could be read, and all that was said."""

    t: int
    plan: tuple[CookSubgoal, ...] | None
    said: Calls


class CookBegun(NamedTuple):
    """How things were when a plan was made, what came of it so far, what was paid since, and whether it is broken off.

    That is done to it from outside; a plan that fails is not broken off.
    """

    scene: Scene
    plan: tuple[CookSubgoal, ...]
    outcomes: tuple[str, ...] = ()
    reward: float = 0.0
    broken: bool = False

    @property
    def t(self) -> int:
        """When it was made."""
        return self.scene.sight.t


@dataclass(frozen=True)
class CookBody:
    """A body for a mind in a kitchen; immutable, and its model is asked when it plans.

    `purpose` tells its model in words what its plans are for. If no plan can be read, or one comes to nothing at once,
    it stands still for some steps and asks again; `idle` counts the steps so spent.
    """

    asker: Asker
    world: CollaborativeCooking
    me: int
    purpose: str = ""
    known: Scene | None = None
    queue: tuple[CookSubgoal, ...] = ()
    effort: Effort = FRESH
    action: Action | None = None
    rests_until: int = 0
    idle: int = 0
    begun: CookBegun | None = None
    records: tuple[CookPlanRecord, ...] = ()

    def look(self, view: View) -> Self:
        """See, and carry on with the plan as long as there is one."""
        known = at_first(self.world, self.me, view) if self.known is None else after(self.known, view)
        begun = self.begun and self.begun._replace(reward=self.begun.reward + view.reward)
        return replace(self, known=known, begun=begun, action=None)._advanced()._rested()

    def act(self) -> Categorical[Action]:
        """The planned action, for certain; nothing without one."""
        return Categorical.uniform([self.action or "noop"])

    @property
    def scene(self) -> Scene:
        """What it goes by. Raises ValueError before it has seen anything."""
        if self.known is None:
            raise ValueError("the body has not seen anything yet")
        return self.known

    @property
    def over(self) -> bool:
        """Whether there is nothing left to be done in this episode."""
        return self.scene.sight.t >= self.world.steps

    @property
    def wants_plan(self) -> bool:
        """Whether it has nothing to do."""
        return self.action is None and not self.queue and not self._resting and not self.over

    @property
    def finished(self) -> CookBegun | None:
        """The last plan with what came of it, once it is over and until there is another."""
        return None if self.queue or self.action is not None else self.begun

    @property
    def said(self) -> Calls:
        """All that the model said of plans."""
        return tuple(said for record in self.records for said in record.said)

    def broken_off(self, why: str) -> Self:
        """Without the rest of its plan, or of its rest."""
        body = replace(self, rests_until=0)
        if not self.queue and self.action is None:
            return body
        body = replace(body, queue=(), action=None, effort=FRESH)._noted(f"broken off: {why}")
        return replace(body, begun=body.begun and body.begun._replace(broken=True))

    def planned(self) -> Self:
        """Ask for a plan, and begin with it; if nothing comes of it, rest before the next one."""
        scene = self.scene
        t, outcomes = scene.sight.t, self.begun.outcomes if self.begun else ()
        prompt = cook_subgoals_prompt(scene, self.purpose, outcomes)
        answer = self.asker.within(f"step {t}").ask("subgoals", prompt, cook_plan_form(scene))
        plan = answer.read(lambda steps: tuple(steps.plan))
        body = replace(self, records=(*self.records, CookPlanRecord(t, plan, answer.said)))
        if plan is not None:
            body = replace(body, queue=plan, effort=Effort(), begun=CookBegun(scene, plan))._advanced()
        return body if body.action is not None else replace(body, rests_until=t + PAUSE)._rested()

    def _advanced(self) -> Self:
        """The next action of the plan; subgoals that are over are dropped, and all if one has failed."""
        body = self
        while body.queue and body.action is None:
            action, effort, ended, failed = progress(body.scene, body.queue[0], body.effort)
            body = replace(body, action=action, effort=effort)
            if ended:
                queue = () if failed else body.queue[1:]
                body = replace(body, queue=queue)._noted(f"{body.queue[0]}: {ended}")
        return body

    def _noted(self, outcome: str) -> Self:
        begun = self.begun and self.begun._replace(outcomes=(*self.begun.outcomes, outcome))
        return replace(self, begun=begun)

    @property
    def _resting(self) -> bool:
        return self.known is not None and self.known.sight.t < self.rests_until

    def _rested(self) -> Self:
        return replace(self, idle=self.idle + 1) if self._resting else self
