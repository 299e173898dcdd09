"""The subgoal module of Hypothetical Minds (Cross et al. 2024, D.4): a body moved by plans of a language model.

The model plans a few subgoals, which the action planner turns into actions. It is asked again when they are done, or
after a meeting. All that it is told is what the avatar sees and remembers, and the map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, Exchange
from otherminds.papers.hypothetical_minds.verbal.action_planner import progress
from otherminds.papers.hypothetical_minds.verbal.subgoal_forms import Situation, Subgoal, plan_form
from otherminds.papers.hypothetical_minds.verbal.subgoal_prompts import aim_text, subgoals_prompt
from otherminds.worlds.avatars import Action
from otherminds.worlds.in_the_matrix.bots import ActionPlanner, Skill
from otherminds.worlds.in_the_matrix.memory import MapMemory, initial_memory, updated_memory
from otherminds.worlds.in_the_matrix.strategies import Aim, Inventory, StrategyState
from otherminds.worlds.in_the_matrix.world import InTheMatrix, MatrixView

PAUSE = 10
MET = "a meeting began"


class PlanRecord(NamedTuple):
    """A plan: when it was made, what it is, None if no reply could be read, and all that was said."""

    t: int
    plan: tuple[Subgoal, ...] | None
    said: tuple[Exchange, ...]


class Begun(NamedTuple):
    """How things were when a plan was made, what came of its subgoals so far, and what was paid since."""

    t: int
    plan: tuple[Subgoal, ...]
    cell: int
    inventory: Inventory
    outcomes: tuple[str, ...] = ()
    reward: float = 0.0

    @property
    def met(self) -> bool:
        """Whether a meeting broke it off."""
        return MET in self.outcomes


@dataclass(frozen=True)
class Subgoals:
    """A body for a mind in a matrix world; immutable, and its model is asked as it observes.

    It is told either an aim, `state`, as a `MatrixBot` is, with what a meeting with each player is `worth`, or in words
    what it is for, `purpose`. It is `mapped` if it knows where walls and sites of resources are, and not only what has
    been in its window. If no plan can be read it stands still for some steps and asks again, or, if
    `instead` says so, does for that time what a scripted body would do for the aim. `idle` counts the steps so spent.
    """

    asker: Asker
    world: InTheMatrix
    me: int
    state: StrategyState | None = None
    worth: tuple[float, ...] = ()
    purpose: str = ""
    name: str = ""
    instead: Literal["wait", "scripted body"] = "wait"
    memory: MapMemory | None = None
    view: MatrixView | None = None
    queue: tuple[Subgoal, ...] = ()
    spent: int = 0
    action: Action | None = None
    rests_until: int = 0
    idle: int = 0
    begun: Begun | None = None
    records: tuple[PlanRecord, ...] = ()

    @classmethod
    def initial(
        cls,
        world: InTheMatrix,
        agent: str,
        asker: Asker,
        *,
        aim: Aim | None = None,
        purpose: str = "",
        name: str = "",
        mapped: bool = False,
        instead: Literal["wait", "scripted body"] = "wait",
    ) -> Self:
        """A body at the start of an episode, in a world that may have a name."""
        state = None if aim is None else StrategyState(aim)
        me = world.agents.index(agent)
        return cls(asker, world, me, state, (), purpose, name, instead, initial_memory(world, mapped=mapped))

    def toward(self, aim: Aim, worth: tuple[float, ...] = ()) -> Self:
        """The same with another aim, and other expectations of meetings."""
        return replace(self, state=StrategyState(aim), worth=worth)

    def observe(self, view: MatrixView) -> Self:
        """See, carry on with the plan, and make one if there is none."""
        body = self.look(view)
        return body.planned() if body.wants_plan else body

    def act(self) -> Categorical[Action]:
        """The planned action, for certain; nothing without one."""
        return Categorical.uniform([self.action or "noop"])

    def look(self, view: MatrixView) -> Self:
        """See, and carry on with the plan as long as there is one."""
        memory = updated_memory(self.memory or initial_memory(self.world), self.world, self.me, view)
        begun = self.begun and self.begun._replace(reward=self.begun.reward + view.reward)
        body = replace(self, memory=memory, view=view, begun=begun, action=None)
        if view.frozen or not view.window:
            return body._dropped()
        return body._advanced()._rested()

    @property
    def wants_plan(self) -> bool:
        """Whether it is free to act and has nothing to do."""
        free = self.view is not None and bool(self.view.window) and not self.view.frozen
        return free and self.action is None and not self.queue and not self._resting

    @property
    def finished(self) -> Begun | None:
        """The last plan with what came of it, once it is over and until there is another."""
        return None if self.queue or self.action is not None else self.begun

    @property
    def situation(self) -> Situation:
        """What it goes by. Raises ValueError before it has seen anything."""
        if self.memory is None or self.view is None:
            raise ValueError("the body has not seen anything yet")
        return Situation(self.world, self.me, self.memory, self.view)

    @property
    def said(self) -> tuple[Exchange, ...]:
        """All that the model said."""
        return tuple(said for record in self.records for said in record.said)

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

    def planned(self) -> Self:
        """Ask for a plan, and begin with it; if nothing comes of it, rest before the next one."""
        situation = self.situation
        outcomes = self.begun.outcomes if self.begun else ()
        prompt = subgoals_prompt(situation, self._purpose(situation), outcomes, self.name)
        asker = self.asker.within(f"step {situation.view.t}")
        answer = asker.ask("subgoals", prompt, plan_form(situation))
        plan = answer.read(lambda steps: tuple(steps.plan))
        records = (*self.records, PlanRecord(situation.view.t, plan, answer.said))
        if plan is None:
            return replace(self, records=records, rests_until=situation.view.t + PAUSE)._rested()
        begun = Begun(situation.view.t, plan, situation.view.cell, situation.view.inventory)
        body = replace(self, records=records, queue=plan, spent=0, begun=begun)._advanced()
        return body if body.action is not None else replace(body, rests_until=situation.view.t + PAUSE)._rested()

    def _purpose(self, situation: Situation) -> str:
        if self.state is None:
            return self.purpose
        good = sorted((j for j, worth in enumerate(self.worth) if worth > 0), key=lambda j: -self.worth[j])
        partners = [situation.players[j] for j in good]
        return aim_text(situation, self.state.aim.kind, self.state.aim.margin, partners)

    def _advanced(self) -> Self:
        """The next action of the plan; subgoals that are over are dropped, with a note of what came of them."""
        body = self
        while body.queue and body.action is None:
            action, ended = progress(body.situation, body.queue[0], body.spent)
            body = replace(body, action=action, spent=body.spent + 1)
            if ended:
                body = replace(body, queue=body.queue[1:], spent=0)._noted(f"{body.queue[0]}: {ended}")
        return body

    def _noted(self, outcome: str) -> Self:
        begun = self.begun and self.begun._replace(outcomes=(*self.begun.outcomes, outcome))
        return replace(self, begun=begun)

    def _dropped(self) -> Self:
        """Without the rest of a plan, as there is a meeting; one does not rest in it either."""
        met = self._noted(MET) if self.begun and not self.begun.met else self
        return replace(met, queue=(), spent=0, rests_until=0)

    @property
    def _resting(self) -> bool:
        return self.view is not None and self.view.t < self.rests_until

    def _rested(self) -> Self:
        """What it does while it has no plan and is not to ask for one yet."""
        if not self._resting:
            return self
        body = replace(self, idle=self.idle + 1)
        if self.instead == "wait" or self.state is None:
            return body
        situation = self.situation
        thought = ActionPlanner(self.world, situation.memory, situation.view, Skill(), self.worth)
        return replace(body, action=thought.plan(self.state.aim).action)
