"""The hypothesis loop of Hypothetical Minds (Cross et al. 2024, §3.2–3.3): propose, test, refine, admit, keep the best.

A hypothesis is a sentence of a language model about a partner. The evidence, the prompts and the form of a prediction
differ between matrix worlds and kitchens: `sentences` and `cook_theory` hold these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel

from otherminds.language.asking import Asker, Exchange, ReplyForm, StructuredAnswer, plain
from otherminds.language.model import Message, ask_all
from otherminds.observer import rescore
from otherminds.papers.hypothetical_minds.verbal import forms

Calls = tuple[Exchange, ...]
E = TypeVar("E")  # a prediction: a kind of resource, or words
O = TypeVar("O")  # what made the agent think: a meeting, or an occasion in a kitchen  # noqa: E741
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class HypothesisSettings:
    """How hypotheses are found and judged; by default as published (Cross et al. 2024, table 2).

    A value V starts at 0 and becomes V + alpha (±c − V) with every prediction that comes out right or wrong. From
    `threshold` on a hypothesis is validated. `top_k` of the others are judged beside the latest one.
    `refine`: earlier hypotheses are shown when a new one is asked for; `evaluate`: they are judged; `modular`: every
    step is a call of its own; `mind_prompting`: hypotheses are about the partner, not strategies for the agent;
    `exact_inventory`: what the partner held is worked out from the payoff, not estimated by the model; `latest`:
    while none is validated, the agent plays on the latest hypothesis, not on the best one; `at_once`: how many
    predictions are asked for at the same time. Raises ValueError for numbers out of range, and for steps that need
    calls of their own if there are none.
    """

    alpha: float = 0.3
    c: float = 1.0
    threshold: float = 0.7
    top_k: int = 5
    refine: bool = True
    evaluate: bool = True
    modular: bool = True
    mind_prompting: bool = True
    exact_inventory: bool = True
    latest: bool = True
    at_once: int = 1

    def __post_init__(self) -> None:
        """Check the numbers, and that steps with calls of their own are possible. Raises ValueError."""
        if not 0.0 < self.alpha <= 1.0 or not 0.0 < self.c < math.inf or self.top_k < 0 or self.at_once < 1:
            raise ValueError("needs 0 < alpha ≤ 1, c > 0, top_k ≥ 0, and at least one call at once")
        if not math.isfinite(self.threshold):
            raise ValueError("the threshold has to be a number")
        if not self.modular and (self.evaluate or self.refine or not self.mind_prompting):
            raise ValueError("one call for everything leaves nothing to evaluate or refine")

    def rescored(self, values: Iterable[float], rewards: Iterable[float]) -> tuple[float, ...]:
        """Values after one more reward each: V + alpha (reward − V)."""
        return rescore(values, rewards, decay=1.0 - self.alpha, gain=self.alpha)


PUBLISHED = HypothesisSettings()
ABLATIONS: Mapping[str, HypothesisSettings] = {
    "VMP": HypothesisSettings(modular=False, evaluate=False, refine=False),
    "MMP": HypothesisSettings(evaluate=False, refine=False),
    "MMP+HE": HypothesisSettings(refine=False),
    "HE+HR": HypothesisSettings(mind_prompting=False, c=3.0, threshold=3.0),
    "HM": PUBLISHED,
}
"""The variants that were compared (§4.5, appendix F); HE+HR has numbers of its own (table 3)."""


class Hypothesis(NamedTuple, Generic[E]):
    """A sentence, its value, and how many times it was judged; what it expects of the partner, and the reply to that.

    `expects` and `play` are None without a prediction; in kitchens `play` is always None.
    """

    text: str
    value: float = 0.0
    times_judged: int = 0
    expects: E | None = None
    play: int | None = None


class Record(NamedTuple, Generic[O, E]):
    """One pass of the loop: its occasion, all hypotheses after it, the one in use, and all exchanges."""

    occasion: O
    hypotheses: tuple[Hypothesis[E], ...]
    used: int | None
    validated: bool
    exchanges: Calls

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """The hypotheses with their values, the one in use first, then the best; equal sentences only once."""
        return ranked(self.hypotheses, self.used)


@dataclass(frozen=True)
class HypothesisPool(Generic[O, E]):
    """Hypotheses about one partner. Immutable: every step returns a pool with the exchanges of that step.

    `scope`: the part of the episode in which calls are made now, and the system message. `records`: all passes of the
    loop so far.
    """

    asker: Asker
    settings: HypothesisSettings = PUBLISHED
    hypotheses: tuple[Hypothesis[E], ...] = ()
    used: int | None = None
    exchanges: Calls = ()
    scope: tuple[str, Message] = ("", Message("system", ""))
    records: tuple[Record[O, E], ...] = ()

    @property
    def best(self) -> int | None:
        """The hypothesis of the highest value, the later one of equals; None if there is none."""
        return next(iter(self.by_value(range(len(self.hypotheses)))), None)

    @property
    def validated(self) -> bool:
        """Whether the best hypothesis is good enough to be used without a search for others."""
        best = self.best
        return self.settings.evaluate and best is not None and self.hypotheses[best].value >= self.settings.threshold

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """The hypotheses with their values, the one in use first, then the best; equal sentences only once."""
        return ranked(self.hypotheses, self.used)

    @property
    def candidates(self) -> list[int]:
        """The latest hypothesis, and the top k of the others if they are judged."""
        last = len(self.hypotheses) - 1
        best_earlier = self.by_value(range(last))[: self.settings.top_k] if self.settings.evaluate else []
        return [last, *best_earlier] if self.hypotheses else []

    def by_value(self, indices: Iterable[int]) -> list[int]:
        """Indices of hypotheses, the best first, the later one of equals."""
        return sorted(indices, key=lambda i: (self.hypotheses[i].value, i), reverse=True)

    def rewarded(self, rewards: Mapping[int, float]) -> Self:
        """With new values, V + alpha (reward − V): rewards are ±c, or payoffs, by index."""
        hypotheses = list(self.hypotheses)
        values = self.settings.rescored([hypotheses[index].value for index in rewards], rewards.values())
        for index, value in zip(rewards, values, strict=True):
            hypotheses[index] = hypotheses[index]._replace(value=value, times_judged=hypotheses[index].times_judged + 1)
        return replace(self, hypotheses=tuple(hypotheses))

    def proposed(self, prompt: Callable[..., str], prefix: str, own: str) -> Self:
        """With one more hypothesis, if the reply can be read.

        `prompt` fills in a template by its name, and `prefix` begins the names of templates; the one named `own` asks
        for a strategy for the agent, without `mind_prompting`.
        """
        if self.settings.mind_prompting:
            question = prompt("hypothesis", before=self.to_refine(f"{prefix}-hypotheses-before"))
            theory, guess = self.ask("hypothesis", question, forms.HYPOTHESIS)
            return theory if guess is None else theory.admitted(guess.hypothesis)
        question = prompt(own, before=self.to_refine(f"{prefix}-strategies-before"))
        theory, reply = self.ask("strategy", question, forms.STRATEGY)
        return theory if reply is None else theory.admitted(reply.strategy)

    def predicting(self, indices: Sequence[int], predicted: Mapping[int, Hypothesis[E]]) -> Self:
        """With predictions of the hypotheses with these indices; the first of them is in use, or the best."""
        hypotheses = tuple(predicted.get(i, hypothesis) for i, hypothesis in enumerate(self.hypotheses))
        used = indices[0] if self.settings.latest else self.by_value(indices)[0]
        return replace(self, hypotheses=hypotheses, used=used)

    def admitted(self, text: str, expects: E | None = None, play: int | None = None) -> Self:
        """With one more hypothesis, on one line, and its prediction if it has one."""
        return replace(self, hypotheses=(*self.hypotheses, Hypothesis(plain(text), expects=expects, play=play)))

    def recorded(self, occasion: O) -> Self:
        """With a record of the pass of the loop that is over now."""
        before = sum(len(record.exchanges) for record in self.records)
        record = Record(occasion, self.hypotheses, self.used, self.validated, self.exchanges[before:])
        return replace(self, records=(*self.records, record))

    def to_refine(self, template: str) -> str:
        """The part of a prompt that shows the best hypotheses that were ever right; empty if there are none."""
        best = self.by_value(range(len(self.hypotheses)))[: self.settings.top_k] if self.settings.refine else []
        good = [self.hypotheses[i] for i in best if self.hypotheses[i].value > 0.0]
        lines = "\n".join(f"- {hypothesis.value:+.2f}: {hypothesis.text}" for hypothesis in good)
        return f"\n{forms.fill(template, most=f'{self.settings.c:g}', hypotheses=lines)}\n" if good else ""

    def ask(self, purpose: str, prompt: str, form: ReplyForm[M]) -> tuple[Self, M | None]:
        """The reply to a prompt, None if it cannot be read."""
        answer = self._answer(purpose, prompt, form)
        return replace(self, exchanges=(*self.exchanges, *answer.exchanges)), answer.value

    def ask_each(
        self, indices: Sequence[int], purpose: str, prompt: Callable[[int], str], form: ReplyForm[M]
    ) -> tuple[Self, dict[int, M]]:
        """The replies to one question about several hypotheses, by index; without those that cannot be read."""

        def ask(index: int) -> StructuredAnswer[M]:
            return self._answer(f"{purpose} {index}", prompt(index), form)

        answers = dict(zip(indices, ask_all(ask, indices, at_once=self.settings.at_once), strict=True))
        exchanges = tuple(exchange for answer in answers.values() for exchange in answer.exchanges)
        replies = {index: answer.value for index, answer in answers.items() if answer.value is not None}
        return replace(self, exchanges=(*self.exchanges, *exchanges)), replies

    def _answer(self, purpose: str, prompt: str, form: ReplyForm[M]) -> StructuredAnswer[M]:
        part, system = self.scope
        return self.asker.within(part).ask(purpose, (system, Message("user", prompt)), form)


def ranked(hypotheses: Sequence[Hypothesis[E]], used: int | None) -> list[tuple[str, float]]:
    """Sentences with their values, the one in use first, then the best, the later one of equals; each only once."""
    order = sorted(range(len(hypotheses)), key=lambda i: (i != used, -hypotheses[i].value, -i))
    values: dict[str, float] = {}
    for i in order:
        values.setdefault(hypotheses[i].text, hypotheses[i].value)
    return [*values.items()]
