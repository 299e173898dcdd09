"""Language models as players of repeated games, by sixteen prompting strategies (Riemer et al., §4.1, appendix C).

A player is a mindreader: the model is asked for an action and for a prediction of the partner's. An unreadable reply is
asked for again a few times; after that the move is None, which is never replaced by a made-up one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.errors import unknown
from otherminds.files import strict_json
from otherminds.language.asking import (
    Exchange,
    Unreadable,
    UnreadableKind,
    correction,
    enum_schema,
    prompts_of,
    schema_text,
    unreadable,
)
from otherminds.language.model import EMBEDDED, Continuations, LanguageModel, Message, ModelError, Reply, Request
from otherminds.papers.functional import game_prompts as prompts

fill = prompts_of("otherminds.papers.functional")
ANSWER_TOKENS = 32  # of an answer that can be nothing but an option; chosen


@dataclass(frozen=True)
class PromptingStrategy:
    """How a model is asked to play: what it is told, the form of its answer, and what it keeps for later rounds.

    `score`: the action is drawn from the probabilities of the actions' names; else the model writes an answer.
    `reason`: it first thinks step by step. `shots`: it sees worked examples. `plans`: it writes plans and insights,
    and sees them again in the next round. `reflections`: the number of notes on earlier rounds that it keeps.
    `social`: it first predicts the partner ("qa" by an answer, "lm" by probabilities), and is told its prediction.
    `rewrite`: it first writes out what matters, and is told that instead (System 2 Attention). `oracle`: it is told
    the partner's action; `maximise`: and to choose the best response to it. `history` and `payoffs`: it is told them.
    """

    score: bool = False
    reason: bool = False
    shots: bool = False
    plans: bool = False
    reflections: int = 0
    social: Literal["", "qa", "lm"] = ""
    rewrite: bool = False
    oracle: bool = False
    maximise: bool = False
    history: bool = True
    payoffs: bool = True


STRATEGIES: Mapping[str, PromptingStrategy] = {
    "lm": PromptingStrategy(score=True),
    "qa": PromptingStrategy(),
    "cot": PromptingStrategy(reason=True),
    "cot3": PromptingStrategy(reason=True, shots=True),
    "plans_insights": PromptingStrategy(plans=True),
    "reflexion1": PromptingStrategy(reflections=1),
    "reflexion2": PromptingStrategy(reflections=2),
    "reflexion3": PromptingStrategy(reflections=3),
    "social_qa": PromptingStrategy(social="qa"),
    "social_lm": PromptingStrategy(social="lm"),
    "s2a": PromptingStrategy(rewrite=True),
    "s2a_cot": PromptingStrategy(rewrite=True, reason=True),
    "oracle": PromptingStrategy(oracle=True),
    "oracle_max": PromptingStrategy(oracle=True, maximise=True),
    "oracle_max_no_history": PromptingStrategy(oracle=True, maximise=True, history=False),
    "oracle_max_no_payoffs": PromptingStrategy(oracle=True, maximise=True, payoffs=False),
}


TOLD = {"": {}, "+oracle": {"oracle": True}, "+oracle_max": {"oracle": True, "maximise": True}}


def strategy(name: str) -> PromptingStrategy:
    """The strategy of that name (Riemer et al., §4.1, appendix C).

    With `+oracle` the model is also told the partner's action, with `+oracle_max` that and to choose the best response.
    Raises InputError for an unknown name.
    """
    plain, plus, rest = name.partition("+")
    suffix = plus + rest
    if plain not in STRATEGIES or suffix not in TOLD:
        raise unknown("prompting strategy", name, STRATEGIES, "see docs/use/models.md")
    base = STRATEGIES[plain]
    return replace(base, social="", **TOLD[suffix]) if suffix else base


class ModelMove(NamedTuple):
    """The result of asking for a move: an action, None if no reply could be read, and all exchanges.

    If probabilities were asked for, `weights` are those of the actions' names, normalised, and `mass` is their sum
    before that. `notes` are the plans and insights that the model wrote.
    """

    action: int | None
    exchanges: tuple[Exchange, ...] = ()
    weights: tuple[float, ...] = ()
    mass: float | None = None
    notes: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Sampling:
    """How a model is asked: temperature, limits on the length of replies in tokens, and attempts at a readable reply.

    After a reply that was cut off, often within thoughts that are not shown, the limit is `max_thinking`. `compare`:
    the most probable of the actions' names is taken, instead of a draw; `per_token`: names of several tokens are
    compared by their mean log-probability per token.
    """

    temperature: float = 1.0  # as published; the model's own distribution
    max_tokens: int = 256  # an answer has about ten, with a reason about a hundred; chosen
    max_reasoning: int = 512  # of a reply that reasons or keeps notes; chosen
    max_thinking: int = 8192  # of a model that thinks before it writes; chosen
    attempts: int = 3  # chosen, not tuned
    compare: bool = False
    per_token: bool = False

    @classmethod
    def within(cls, max_tokens: int | None) -> Sampling:
        """The usual sampling, with this limit on all replies if there is one."""
        limit = max_tokens
        return cls() if limit is None else cls(max_tokens=limit, max_reasoning=limit, max_thinking=limit)


@dataclass(frozen=True)
class Prompted:
    """A language model as a mindreader (Riemer et al., §4.1). Immutable; asks its model at most once for each thing.

    `rounds` are past rounds as its setting words them: outcomes of a repeated game, for example; None if lost.
    `draw` names the episode. With `seed` it determines all random choices, and distinguishes the model calls from
    those of other episodes.
    """

    model: LanguageModel
    strategy: PromptingStrategy
    setting: prompts.Wording
    draw: str = ""
    seed: int = 0
    sampling: Sampling = Sampling()
    rounds: tuple[Any, ...] = ()
    notes: tuple[str, str] = ("", "")
    reflections: tuple[str, ...] = ()
    reflected: tuple[Exchange, ...] = ()
    truth: int | None = None

    def told(self, truth: int) -> Prompted:
        """The player after it has been told the partner's action in this round. Unchanged unless it is an oracle."""
        return replace(self, truth=truth) if self.strategy.oracle else self

    def observe(self, outcome: Any) -> Prompted:
        """The player after a round, or unchanged after None, the observation before the first round."""
        return self if outcome is None else self._after(outcome)

    def lose(self) -> Prompted:
        """The player after a round that was lost because no move could be read."""
        return self._after(None)

    def turn(self, setting: prompts.Wording, draw: str) -> Prompted:
        """The player with its notes at another decision of the same round."""
        return replace(self, setting=setting, draw=draw, notes=self._latest_notes(), reflected=(), truth=None)

    def act(self) -> Categorical[int | None]:
        """The chosen action with probability 1; None if no reply could be read. Raises ModelError."""
        return Categorical.uniform([self.moved.action])

    def predict(self) -> Categorical[int | None]:
        """The predicted distribution of the partner's action; None if no reply could be read. Raises ModelError."""
        if self.strategy.oracle:
            return Categorical.uniform([self.truth])
        expected = self.expected
        if expected.weights:
            with np.errstate(divide="ignore"):
                return Categorical.from_scores(enumerate(np.log(expected.weights).tolist()))
        return Categorical.uniform([expected.action])

    @property
    def moved(self) -> ModelMove:
        """Its move in this round."""
        return self._once("moved", self._move)

    @property
    def expected(self) -> ModelMove:
        """Its prediction of the partner's move in this round."""
        return self._once("expected", self._prediction)

    def _once(self, name: str, ask: Callable[[], ModelMove]) -> ModelMove:
        """The cached result of `ask`. A cached_property of Python 3.11 would let only one thread ask at a time."""
        cache = self.__dict__
        if name not in cache:
            cache[name] = ask()
        move: ModelMove = cache[name]
        return move

    def _move(self) -> ModelMove:
        if self.strategy.social and self.expected.action is None:
            return ModelMove(None)
        if self.strategy.score:
            return self._drawn("act", self.setting.unfinished(self.rounds, "act", asides=self._insight()))
        return self._answered("act")

    def _prediction(self) -> ModelMove:
        if self.strategy.social == "lm":
            return self._drawn("predict", self.setting.unfinished(self.rounds, "partner-first"))
        if self.strategy.score:
            own = self.moved.action if self.setting.labels("act") else None
            return self._drawn("predict", self.setting.unfinished(self.rounds, "agent-first", own))
        return self._answered("predict")

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All exchanges of this round so far, including reflections on the one before."""
        moves = [getattr(self, name) for name in ("expected", "moved") if name in self.__dict__]
        return (*self.reflected, *(exchange for move in moves for exchange in move.exchanges))

    def _after(self, outcome: Any) -> Prompted:
        later = replace(self, rounds=(*self.rounds, outcome), notes=self._latest_notes(), reflected=(), truth=None)
        if not self.strategy.reflections or len(later.rounds) >= self.setting.horizon:
            return later
        prompt = [later._known(), *later._reflections(), fill(f"{self.setting.kind}-reflect", t=len(later.rounds))]
        reply = later._write("reflect", "\n\n".join(prompt), self.sampling.max_reasoning)
        reflections = (*self.reflections, reply.text[: prompts.LONGEST_NOTE])[-self.strategy.reflections :]
        return replace(later, reflections=reflections, reflected=(Exchange("reflect", "", reply.text, reply.usage),))

    def _latest_notes(self) -> tuple[str, str]:
        """The notes that came with its move; those before if it made none."""
        moves = self.strategy.plans and self.setting.labels("act") and self.moved.action is not None
        return self.moved.notes if moves else self.notes

    # Sampling

    def _drawn(self, question: prompts.Question, prompt: str) -> ModelMove:
        """A move drawn from the probabilities of the actions' names as the next words."""
        labels = self.setting.labels(question)
        scores = self.model.score(Continuations(prompt, tuple(f" {label}" for label in labels)))
        logs = np.array(scores.log_probs)
        if not logs.max() > IMPOSSIBLE:
            raise ModelError(f"{self.model.name} gives none of the options any probability")
        mass = float(np.exp(logs).sum())
        if self.sampling.per_token:
            logs = logs / np.array(scores.tokens)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        compare = self.sampling.compare or question == "predict"
        if compare:
            action = int(weights.argmax())
        else:
            names = f"{self.draw} round {len(self.rounds) + 1} {question}"
            rng = np.random.default_rng([self.seed, zlib.crc32(names.encode())])
            action = int(rng.choice(len(labels), p=weights))
        listing = ", ".join(f"{label} {weight:.3f}" for label, weight in zip(labels, weights, strict=True))
        exchange = Exchange(question, labels[action], listing, scores.usage)
        return ModelMove(action, (exchange,), tuple(map(float, weights)), min(mass, 1.0))

    def _answered(self, question: prompts.Question) -> ModelMove:
        """A written answer. An unreadable one is asked for again, with what was wrong with it."""
        prompt, exchanges = self._prompt(question)
        if self.model.identity.startswith(EMBEDDED) and not self.strategy.plans:
            return self._named(question, prompt, exchanges)
        long = self.strategy.reason or self.strategy.plans
        length = self.sampling.max_reasoning if long else self.sampling.max_tokens
        schema = "" if long else schema_text(answer=enum_schema(self.setting.labels(question)))
        turn = Message("user", prompt)
        for attempt in range(self.sampling.attempts):
            reply = self._request(
                question, (turn,), length, attempt, temperature=self.sampling.temperature, schema=schema
            )
            answer, about = self._understood(reply, question), (reply.text, reply.usage)
            if not isinstance(answer, Unreadable):
                label = self.setting.labels(question)[answer.action]
                exchanges.append(Exchange(question, label, *about, constrained=reply.constrained))
                return ModelMove(answer.action, tuple(exchanges), notes=(answer.plans, answer.insights))
            exchanges.append(Exchange(question, answer.why, *about, readable=False, kind=answer.kind))
            turn = Message("user", f"{prompt}\n\n{correction(answer)}")
            if answer.kind == "cut":
                length = max(length, self.sampling.max_thinking)
        return ModelMove(None, tuple(exchanges))

    def _understood(self, reply: Reply, question: prompts.Question) -> prompts.AnswerWithNotes | Unreadable:
        """The answer in a reply, or why there is none: nothing is read that was withheld or cut off."""
        if reply.withheld == "filtered":
            return unreadable("was held back by a filter", reply.text, "filtered")
        if reply.withheld == "refused":
            return unreadable("is a refusal", reply.text, "refused")
        if reply.withheld:
            return unreadable(f"is a {reply.withheld}", reply.text)
        if reply.cut or (reply.thought and not reply.text.strip()):
            return unreadable("was cut off", reply.text, "cut")
        return self._read(reply.text, question)

    def _named(self, question: prompts.Question, prompt: str, exchanges: list[Exchange]) -> ModelMove:
        """An answer that can be nothing else than one of the options, after a chain of thought if it is to reason.

        The chain of thought is not read: the model says what follows from it, with its likeliest answer (Kojima et al.
        2022).
        """
        temperature = 0.0 if self.strategy.reason else self.sampling.temperature
        turns: tuple[Message, ...] = (Message("user", prompt),)
        labels = self.setting.labels(question)
        if self.strategy.reason:
            thought = self._write(f"think {question}", prompt, self.sampling.max_reasoning)
            exchanges.append(Exchange(f"think {question}", "", thought.text, thought.usage))
            turns = (*turns, Message("assistant", thought.text), Message("user", self._asked(question)))
        options = [f"Answer: option {label}" for label in labels]
        schema = json.dumps(enum_schema(options))
        reply = self._request(question, turns, ANSWER_TOKENS, schema=schema, temperature=temperature)
        try:
            action = options.index(strict_json.loads(reply.text))
        except ValueError:
            kind: UnreadableKind = "cut" if reply.cut else "unreadable"
            fault = "was cut off" if reply.cut else "is none of the options"
            exchange = Exchange(question, fault, reply.text, reply.usage, readable=False, kind=kind)
            return ModelMove(None, (*exchanges, exchange))
        exchange = Exchange(question, labels[action], reply.text, reply.usage, constrained=True)
        return ModelMove(action, (*exchanges, exchange))

    def _read(self, text: str, question: prompts.Question) -> prompts.AnswerWithNotes | Unreadable:
        labels = self.setting.labels(question)
        if self.strategy.plans:
            return prompts.read_plans(text, labels, question)
        action = prompts.read_action(text, labels, question, len(self.rounds) + 1)
        return action if isinstance(action, Unreadable) else prompts.AnswerWithNotes(action, "", "")

    def _write(self, purpose: str, prompt: str, length: int, attempt: int = 0) -> Reply:
        return self._request(
            purpose, (Message("user", prompt),), length, attempt, temperature=self.sampling.temperature
        )

    def _request(
        self,
        purpose: str,
        turns: tuple[Message, ...],
        length: int,
        attempt: int = 0,
        *,
        temperature: float,
        schema: str = "",
    ) -> Reply:
        draw = f"{self.draw} round {len(self.rounds) + 1} {purpose} {attempt}"
        seed = zlib.crc32(f"{self.seed} {draw}".encode()) >> 1
        return self.model.complete(Request(turns, length, temperature, seed, schema=schema, draw=draw))

    # Prompts

    def _prompt(self, question: prompts.Question) -> tuple[str, list[Exchange]]:
        """The prompt for a question, with the exchange that rewrote it, if any."""
        rewritten: list[Exchange] = []
        blocks = [self._known()]
        if self.strategy.rewrite:
            rewrite_prompt = fill(f"{self.setting.kind}-rewrite-{question}", known=blocks[0])
            reply = self._write(f"rewrite {question}", rewrite_prompt, self.sampling.max_reasoning)
            rewritten.append(Exchange(f"rewrite {question}", "", reply.text, reply.usage))
            blocks = [self.setting.known((), with_payoffs=False), reply.text]
        strategy, setting, t = self.strategy, self.setting, len(self.rounds) + 1
        if strategy.shots:
            blocks.append(setting.examples(question))
        if strategy.plans and any(self.notes):
            blocks.append(fill("game-plans-before", plans=self.notes[0], insights=self.notes[1]))
        blocks += [*self._reflections(), fill(f"{setting.kind}-now", t=t, rounds=setting.horizon)]
        if question == "act":
            blocks += self._insight()
        form = "game-reason" if strategy.reason else "game-plans" if strategy.plans else "game-answer"
        return "\n\n".join([*blocks, self._asked(question, form)]), rewritten

    def _asked(self, question: prompts.Question, form: str = "game-answer") -> str:
        """The question, and the form of the answer."""
        labels, t = self.setting.labels(question), len(self.rounds) + 1
        answer_form = fill(form, options=prompts.listed(labels), blank=prompts.blank(labels))
        return f"{fill(f'{self.setting.kind}-ask-{question}', t=t)}\n\n{answer_form}"

    def _known(self) -> str:
        prompting = self.strategy
        return self.setting.known(self.rounds, with_payoffs=prompting.payoffs, with_history=prompting.history)

    def _reflections(self) -> list[str]:
        """The model's earlier reflections, if any."""
        bullets = "\n".join(f"- {text}" for text in self.reflections)
        return [fill("game-reflections", reflections=bullets)] if bullets else []

    def _insight(self) -> list[str]:
        """The lines about the partner's move: the model's own prediction, or the truth."""
        theirs, lines = self.setting.labels("predict"), []
        if self.strategy.social and self.expected.action is not None:
            lines.append(fill(f"{self.setting.kind}-expected", expected=theirs[self.expected.action]))
        if self.strategy.oracle and self.truth is not None:
            lines.append(fill("game-oracle", truth=theirs[self.truth]))
            if self.strategy.maximise:
                lines.append(fill("game-maximise", truth=theirs[self.truth]))
        return lines
