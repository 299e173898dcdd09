"""A body moved by plans of a language model (Cross et al. 2024, D.4), in matrix worlds and in kitchens.

The model plans a few subgoals; an action planner turns these into actions. The model is asked again when the plan is
over. What differs between the worlds is what the body perceives, the subgoals and the planner: a `SubgoalPlanning` in
`matrix_body` and in `cook_body` holds these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar

from pydantic import BaseModel

from otherminds.distribution import Categorical
from otherminds.language.asking import Asker, ReplyForm, StructuredAnswer, listed
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.papers.hypothetical_minds.verbal.hypotheses import Calls
from otherminds.worlds.avatars import Action

PAUSE = 10  # steps that a body stands still after a plan that cannot be read or followed; chosen, not tuned

G = TypeVar("G")  # a subgoal
M = TypeVar("M", bound=BaseModel)


class Situation(Protocol):
    """What a body perceives and remembers."""

    @property
    def t(self) -> int:
        """The step."""


S = TypeVar("S", bound=Situation)


class Effort(NamedTuple):
    """Steps spent on a subgoal, those in which the way was blocked, and those of waiting at a place.

    hand_before: what the agent held when it used a place in the step before, None if it did not.
    """

    steps: int = 0
    blocked: int = 0
    waited: int = 0
    hand_before: int | None = None


FRESH = Effort()


class SubgoalStep(NamedTuple):
    """The next action for a subgoal, None if there is none; the effort; and the outcome, empty if it goes on.

    The body counts the steps of the effort.
    """

    action: Action | None = None
    effort: Effort = FRESH
    outcome: str = ""
    failed: bool = False


class BegunPlan(NamedTuple, Generic[S, G]):
    """A plan with the situation it was made in, the outcomes of its subgoals so far, and the reward since.

    `broken`: it was broken off from outside; a plan that fails is not broken off.
    """

    situation: S
    plan: tuple[G, ...]
    outcomes: tuple[str, ...] = ()
    reward: float = 0.0
    broken: bool = False

    @property
    def t(self) -> int:
        """The step in which it was made."""
        return self.situation.t


@dataclass(frozen=True)
class SubgoalPlanning(Generic[S, G]):
    """How plans are asked for and followed in one kind of world.

    In a situation: `free` says whether the body may do anything, `system` is the system message, `prompt` asks for a
    plan with a purpose, after the outcomes of the last one, `form` is that of the reply, whose `plan` are subgoals, and
    `step` is the next action for a subgoal on which so much effort was spent.
    """

    free: Callable[[S], bool]
    system: Callable[[S], Message]
    prompt: Callable[[S, str, str], str]
    form: Callable[[S], ReplyForm[Any]]
    step: Callable[[S, G, Effort], SubgoalStep]


@dataclass(frozen=True)
class PlanFollower(Generic[S, G]):
    """A body that follows plans. Immutable; its model is asked when it plans.

    perceived: its situation, None before it has seen anything. purpose: tells the model what the plans are for. queue:
    the subgoals that are left. exchanges: all requests for plans. If no plan can be read, or one ends at once, the body
    rests for PAUSE steps and asks again.
    """

    planning: ClassVar[SubgoalPlanning[Any, Any]]
    asker: Asker
    world: Any
    me: int
    purpose: str = ""
    queue: tuple[G, ...] = ()
    effort: Effort = FRESH
    action: Action | None = None
    rests_until: int = 0
    last_plan: BegunPlan[S, G] | None = None
    exchanges: Calls = ()
    perceived: S | None = None

    @classmethod
    def initial(cls, world: Any, agent: str, asker: Asker, **fields: Any) -> Self:
        """The body at the start of an episode."""
        return cls(asker=asker, world=world, me=world.agents.index(agent), **fields)

    def act(self) -> Categorical[Action]:
        """The planned action, with probability 1; `noop` without one."""
        return Categorical.uniform([self.action or "noop"])

    def planned(self) -> Self:
        """Ask for a plan, and begin with it; if it ends at once, rest before the next one."""
        situation = self.situation
        outcomes = self.last_plan.outcomes if self.last_plan else ()
        outcomes_text = f"\n{fill('hm-outcomes', outcomes=listed(outcomes))}\n" if outcomes else ""
        prompt = self.planning.prompt(situation, self.purpose, outcomes_text)
        answer = self.ask("subgoals", prompt, self.planning.form(situation))
        plan = answer.read(lambda reply: tuple(reply.plan))
        body = replace(self, exchanges=(*self.exchanges, *answer.exchanges))
        if plan is not None:
            body = replace(body, queue=plan, effort=FRESH, last_plan=BegunPlan(situation, plan)).advanced()
        return body if body.action is not None else replace(body, rests_until=situation.t + PAUSE)

    def ask(self, purpose: str, prompt: str, form: ReplyForm[M]) -> StructuredAnswer[M]:
        """The model's answer in the present situation."""
        turns = (self.planning.system(self.situation), Message("user", prompt))
        return self.asker.within(f"step {self.situation.t}").ask(purpose, turns, form)

    def broken_off(self, why: str) -> Self:
        """Without the rest of its plan, and without a rest."""
        body = replace(self, rests_until=0)
        if not self.queue and self.action is None:
            return body
        body = replace(body, queue=(), action=None).noted(f"broken off: {why}")
        return replace(body, last_plan=body.last_plan and body.last_plan._replace(broken=True))

    @property
    def wants_plan(self) -> bool:
        """Whether the body is free to act and has nothing to do."""
        free = self.perceived is not None and self.planning.free(self.perceived)
        return free and self.action is None and not self.queue and self.situation.t >= self.rests_until

    @property
    def finished_plan(self) -> BegunPlan[S, G] | None:
        """The last plan with its outcomes, once it is over and until there is another."""
        return None if self.queue or self.action is not None else self.last_plan

    @property
    def situation(self) -> S:
        """What the body perceives and remembers. Raises ValueError before it has seen anything."""
        if self.perceived is None:
            raise ValueError("the body has not seen anything yet")
        return self.perceived

    def seeing(self, situation: S, reward: float) -> Self:
        """At the start of a step: the reward counts for the plan, and an action is due."""
        plan = self.last_plan and self.last_plan._replace(reward=self.last_plan.reward + reward)
        return replace(self, perceived=situation, action=None, last_plan=plan)

    def advanced(self) -> Self:
        """With the next action; subgoals that are over are dropped with a note, and all if one has failed."""
        body = self
        while body.queue and body.action is None:
            subgoal = body.queue[0]
            action, effort, outcome, failed = body.planning.step(body.situation, subgoal, body.effort)
            body = replace(body, action=action, effort=effort._replace(steps=body.effort.steps + 1))
            if outcome:
                queue = () if failed else body.queue[1:]
                body = replace(body, queue=queue, effort=FRESH).noted(f"{subgoal}: {outcome}")
        return body

    def noted(self, outcome: str) -> Self:
        """With one more outcome of the plan."""
        plan = self.last_plan and self.last_plan._replace(outcomes=(*self.last_plan.outcomes, outcome))
        return replace(self, last_plan=plan)
