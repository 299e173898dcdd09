"""Language models as facilitators: told what ProToM is told, they choose among the same messages (ProToM §4.2, B.4).

After every step at which something can be said, a model is asked once: what everybody wants, and which message to say,
if any. A reply that cannot be read is asked for again, a few times; after that nothing is said, and that is counted.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.files.text import one_line
from otherminds.language.asking import Exchange, Unreadable, prompts_of, read_json, unreadable
from otherminds.language.model import LanguageModel, Message, Request
from otherminds.papers.protom.descriptions import Briefing
from otherminds.papers.protom.episodes import Decision, Messages, Status

fill = prompts_of("otherminds.papers.protom")

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
F = TypeVar("F", bound=Hashable)

MEMORY = 10
LONGEST = 200
NOTHING_SAID = "No Feedback"
FATES: Mapping[Status, str] = {
    "running": "under way",
    "completed": "done",
    "impossible": "could no longer be done",
    "ignored": "ignored",
}


# Replies


class Answer(BaseModel):
    """What a model is to write: the goal of every agent, a reason, and the number of a message, 0 for none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    goals: dict[str, str]
    reason: str
    choice: int


def answer_schema(agents: Sequence[str], goals: Collection[str], candidates: int) -> str:
    """The JSON schema of answers that can be read: in the order in which to think, and with nothing else to choose."""
    wants = {agent: {"type": "string", "enum": [*goals]} for agent in agents}
    choice = {"type": "integer", "enum": [*range(candidates + 1)]}
    return json.dumps(_closed({"goals": _closed(wants), "reason": {"type": "string"}, "choice": choice}))


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    required = [*properties]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def read(text: str, agents: Sequence[str], goals: Collection[str], candidates: int) -> Answer | Unreadable:
    """A reply as an answer, if it names a goal for each agent and nobody else, and a number that is on the list."""
    found = read_json(text, Answer)
    if isinstance(found, Unreadable):
        return found
    if found.goals.keys() != set(agents):
        return unreadable("does not name the goals of all agents and of nobody else", text)
    if not set(found.goals.values()) <= set(goals):
        return unreadable("names a goal that nobody can have", text)
    if not 0 <= found.choice <= candidates:
        return unreadable("chooses a number that is not on the list", text)
    return found


# The facilitator


@dataclass(frozen=True)
class Advice(Decision[F]):
    """A decision with the goals that the model named, by agent, and all of its replies."""

    goals: Mapping[str, str] = field(default_factory=dict)
    said: tuple[Exchange, ...] = ()


class Past(NamedTuple, Generic[F]):
    """Something that was said: after which step, what, and what has become of it."""

    t: int
    message: F
    status: Status = "running"


@dataclass(frozen=True)
class Speaking(Generic[S, A, F]):
    """The facilitator at one moment; it asks its model at most once for the same thing.

    `draw` names the episode: with the seed, it tells its calls from those of others. With `pictures`, the model also
    sees the state. `named` are the goals that it last named, `recent` the joint actions that it is told of.
    """

    model: LanguageModel
    briefing: Briefing[S, A]
    messages: Messages[S, A, F]
    draw: str = ""
    seed: int = 0
    pictures: bool = False
    temperature: float = 0.0
    max_tokens: int = 300
    attempts: int = 3
    t: int = 0
    recent: tuple[Mapping[str, A], ...] = ()
    past: tuple[Past[F], ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    _decided: dict[tuple[S, int], Advice[F]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """Remember what everybody did, and look whether what was said has been done."""
        recent, past = (*self.recent, joint)[-MEMORY:], self.past
        if past and past[-1].status == "running":
            past = self._followed_up(self.messages.status(after, past[-1].message))
        return replace(self, t=self.t + 1, recent=recent, past=past, named=self._goals())

    def tell(self, message: F | None) -> Self:
        """Remember what was said; None: that the last thing was ignored."""
        if message is not None:
            past = (*self.past, Past(self.t, message))
        else:
            past = self._followed_up("ignored") if self.past else ()
        return replace(self, past=past, named=self._goals())

    def decide(self, state: S, left: int, rng: np.random.Generator) -> Advice[F]:
        """What the model chooses to say; nothing if that cannot be read, or if there is nothing to choose."""
        if (state, left) not in self._decided:
            self._decided[state, left] = self._ask(state, left)
        return self._decided[state, left]

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """The goals that the model last named, each taken for certain; empty before it has named any."""
        return {
            agent: Categorical.from_scores(
                (goal, 0.0 if name == named else IMPOSSIBLE) for name, goal in self.briefing.goals.items()
            )
            for agent, named in self._goals().items()
        }

    def _followed_up(self, status: Status) -> tuple[Past[F], ...]:
        return (*self.past[:-1], self.past[-1]._replace(status=status))

    def _goals(self) -> Mapping[str, str]:
        named = [advice.goals for advice in self._decided.values() if advice.goals]
        return named[-1] if named else self.named

    # Asking

    def _ask(self, state: S, left: int) -> Advice[F]:
        candidates = self.messages.candidates(state)
        if not candidates:
            return Advice(silence="nobody could do anything for anybody")
        prompt, agents, goals = self._prompt(state, left, candidates), self.briefing.agents, self.briefing.goals
        schema = answer_schema(agents, goals, len(candidates))
        said: list[Exchange] = []
        for attempt in range(self.attempts):
            reply = self.model.complete(self._request(prompt, schema, attempt))
            found = read(reply.text, agents, goals, len(candidates))
            if isinstance(found, Unreadable):
                why = f"was cut off: {found.why}" if reply.cut else found.why
                said.append(Exchange("advise", one_line(why), reply.text, reply.usage, readable=False))
                continue
            said.append(Exchange("advise", str(found.choice), reply.text, reply.usage))
            return self._advice(found, candidates, tuple(said))
        return Advice(silence="no reply of the model could be read", said=tuple(said))

    def _request(self, prompt: tuple[Message, ...], schema: str, attempt: int) -> Request:
        draw = f"{self.draw} step {self.t} {attempt}"
        seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
        return Request(prompt, self.max_tokens, self.temperature, seed, schema=schema, draw=draw)

    def _advice(self, answer: Answer, candidates: Sequence[F], said: tuple[Exchange, ...]) -> Advice[F]:
        reason = one_line(answer.reason)
        if not answer.choice:
            told = f": {reason.rstrip('.')}" if reason else ""
            return Advice(silence=f"it chose to say nothing{told}", goals=answer.goals, said=said)
        words = reason or "No reason given."
        return Advice(candidates[answer.choice - 1], words, goals=answer.goals, said=said)

    # Prompts

    def _prompt(self, state: S, left: int, candidates: Sequence[F]) -> tuple[Message, ...]:
        """What the model is told: the world and its task, and then how things are, and what can be said."""
        briefing = self.briefing
        form = ", ".join(f"{json.dumps(agent, ensure_ascii=False)}: ..." for agent in briefing.agents)
        task = fill("facilitator-task", rules=briefing.rules, goals=", ".join(briefing.goals), form=form)
        options = [NOTHING_SAID, *map(self.messages.address, candidates)]
        now = fill(
            "facilitator-now",
            t=self.t,
            left=left,
            state=briefing.describe(state),
            history="\n".join(self._history()) or "nothing yet",
            past="\n".join(self._past()) or "nothing",
            options="\n".join(f"{i}: {option}" for i, option in enumerate(options)),
        )
        if not self.pictures:
            return Message("system", task), Message("user", now)
        told = f"{now}\n\n{fill('facilitator-picture')}"
        return Message("system", task), Message("user", told, (briefing.draw(state),))

    def _history(self) -> Iterator[str]:
        for t, joint in enumerate(self.recent, self.t - len(self.recent) + 1):
            deeds = (f"{agent} {self.briefing.spell(joint[agent])}" for agent in self.briefing.agents)
            yield f"Step {t}: {'; '.join(deeds)}"

    def _past(self) -> Iterator[str]:
        for t, message, status in self.past:
            yield f"After step {t}: {self.messages.address(message)} ({FATES[status]})"
