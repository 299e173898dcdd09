"""LIMP, language model-based inverse multi-agent planning (Shi et al., MuMA-ToM, §4, equation 1).

A language model reads a story, says what each option of a question comes to as mental variables, and judges how likely
the main person would then be to do and say what they did. Bayes' rule makes the answer of this.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import NamedTuple

from otherminds.distribution import IMPOSSIBLE, log_sum_exp
from otherminds.errors import InputError
from otherminds.language.asking import Exchange, prompts_of
from otherminds.language.model import LanguageModel
from otherminds.papers.mumatom.fusion import Fused, Source, Step, fuse, joined, listed
from otherminds.papers.mumatom.replies import Asking, Mind, UnansweredError, choice_form, minds_form
from otherminds.stories.model import Polarity

fill = prompts_of("otherminds.papers.mumatom")

LEAST = re.compile(r"\bleast\s+(?:likely|probable|plausible)\b", re.IGNORECASE)
FIELDS = '"belief": ..., "social_goal": ..., "believed_goal": ...'


@dataclass(frozen=True)
class StoryQuestion:
    """A question in words, and its options without letters; `prior` is what they weigh beforehand, empty: the same."""

    stem: str
    options: tuple[str, ...]
    prior: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raises InputError for too few or too many options, or a prior that does not fit them."""
        if not 2 <= len(self.options) <= len(ascii_uppercase):
            raise InputError(f"a question has 2 to {len(ascii_uppercase)} options, not {len(self.options)}")
        if self.prior and (len(self.prior) != len(self.options) or not all(0 < w < math.inf for w in self.prior)):
            raise InputError("a prior is a positive number for every option")

    @property
    def letters(self) -> tuple[str, ...]:
        """What the options are called."""
        return tuple(ascii_uppercase[: len(self.options)])

    @property
    def polarity(self) -> Polarity:
        """Whether the most or the least likely option is asked for, by the wording."""
        return "least" if LEAST.search(self.stem) else "most"

    def __str__(self) -> str:
        return "\n".join([self.stem, *(f"{letter}) {option}" for letter, option in self._lettered())])

    def _lettered(self) -> Iterator[tuple[str, str]]:
        return zip(self.letters, self.options, strict=True)


@dataclass(frozen=True)
class StoryTask:
    """A story in words with questions, all about the mind of the same person.

    `text` is what is told, a dialogue as lines `NAME: words`; `video` describes what was filmed; each may be empty.
    `people` are the names that can be in it, empty if they are to be found.
    """

    id: str
    text: str
    questions: tuple[StoryQuestion, ...]
    video: str = ""
    people: tuple[str, ...] = ()


class Likelihood(NamedTuple):
    """What something that the main person did or said tells: log P(Likely | option, what is known), in nats."""

    step: Step
    log_probs: tuple[float, ...]


@dataclass(frozen=True)
class LimpAnswer:
    """The chosen option (None: abstained, and why), P(option) for each, and what each step said about them.

    `said` are the calls made for this question; those that serve all questions of a story are with the first one.
    """

    option: int | None
    posterior: tuple[float, ...] = ()
    terms: tuple[Likelihood, ...] = ()
    abstained: str | None = None
    minds: tuple[Mind, ...] = ()
    said: tuple[Exchange, ...] = ()

    @property
    def unreadable(self) -> int:
        """How many replies could not be read."""
        return sum(not said.readable for said in self.said)

    @property
    def calls(self) -> Mapping[str, int]:
        """How many calls were made, by their purpose."""
        return Counter(said.purpose for said in self.said)


@dataclass(frozen=True)
class Limp:
    """LIMP with any language model that tells log-probabilities.

    By default as the paper has it: all that the main person did and said counts, each given what came before; P(Likely)
    is normalised over both labels; Bayes' rule with the prior; the most or the least probable option. With `faithful`
    as its published code has it: of a conversation, only the first utterance counts, and else all actions, each also
    given what the others do later; P(Likely) as it is, multiplied, and the softmax of the products; and the model
    chooses, told these numbers. A reply that cannot be read is asked for `attempts` times in all; then the questions
    that need it are not answered.
    """

    model: LanguageModel
    faithful: bool = False
    attempts: int = 3
    seed: int = 0
    max_tokens: int = 1000

    def answer_all(self, task: StoryTask) -> tuple[LimpAnswer, ...]:
        """The answers to all questions; the story is read once. Raises ModelError if the model cannot be asked."""
        if not task.questions:
            return ()
        shared = self._asking(task.id)
        source = Source(task.text, task.video, task.people)
        try:
            fused = fuse(source, str(task.questions[0]), shared)
        except UnansweredError as error:
            lost = LimpAnswer(None, abstained=str(error))
            return (
                LimpAnswer(None, abstained=str(error), said=tuple(shared.said)),
                *[lost] * (len(task.questions) - 1),
            )
        found = []
        for number, question in enumerate(task.questions, 1):
            asking = self._asking(f"{task.id} question {number}")
            if number == 1:
                asking.said.extend(shared.said)
            found.append(self._answer(fused, question, asking))
        return tuple(found)

    def _asking(self, draw: str) -> Asking:
        return Asking(self.model, draw, self.seed, self.attempts, self.max_tokens)

    def _answer(self, fused: Fused, question: StoryQuestion, asking: Asking) -> LimpAnswer:
        """The answer to one question; as far as it was got, if something that it needs could not be read."""
        found = LimpAnswer(None)
        try:
            minds = _minds(fused, question, asking)
            found = replace(found, minds=minds)
            found = replace(found, terms=self._terms(fused, minds, asking))
            found = replace(found, posterior=self._posterior(question, found.terms))
            found = replace(found, option=self._option(question, found.posterior, asking))
        except UnansweredError as error:
            found = replace(found, abstained=str(error))
        return replace(found, said=tuple(asking.said))

    def _terms(self, fused: Fused, minds: Sequence[Mind], asking: Asking) -> tuple[Likelihood, ...]:
        """What each step that counts says about the options; asked in an order in which prompts begin alike."""
        counted = _first_or_all(fused) if self.faithful else _all_of_main(fused)
        prompt, log_prob = (_faithful_prompt, _as_it_is) if self.faithful else (_prompt, _normalised)
        columns = [
            [log_prob(*asking.likely(fused.steps[t].kind, prompt(fused, mind, t))) for t in counted] for mind in minds
        ]
        rows = zip(*columns, strict=True)
        return tuple(Likelihood(fused.steps[t], row) for t, row in zip(counted, rows, strict=True))

    def _posterior(self, question: StoryQuestion, terms: Sequence[Likelihood]) -> tuple[float, ...]:
        """P(option). Raises UnansweredError if none is possible."""
        totals = [math.fsum(values) for values in zip(*(term.log_probs for term in terms), strict=True)]
        totals = totals or [0.0] * len(question.options)
        if self.faithful:
            weights = [math.exp(total) for total in totals]  # products, and not their logarithms, go into the softmax
        else:
            prior = question.prior or (1.0,) * len(totals)
            weights = [math.log(before) + total for before, total in zip(prior, totals, strict=True)]
        whole = log_sum_exp(weights)
        if whole == IMPOSSIBLE:
            raise UnansweredError("the model takes what was done and said for impossible with every option")
        return tuple(math.exp(weight - whole) for weight in weights)

    def _option(self, question: StoryQuestion, posterior: Sequence[float], asking: Asking) -> int:
        """The option that is asked for. Raises UnansweredError if several are, or the model's choice is unreadable."""
        if self.faithful:
            numbers = "\n".join(f"{letter}) {p:.4f}" for letter, p in zip(question.letters, posterior, strict=True))
            prompt = fill("limp-choice", question=question, probabilities=numbers)
            return question.letters.index(asking.written("choice", prompt, choice_form(question.letters)).choice)
        best = max(posterior) if question.polarity == "most" else min(posterior)
        if posterior.count(best) > 1:
            raise UnansweredError("what was done and said fits several options equally well")
        return posterior.index(best)


# Hypotheses and likelihoods


def _minds(fused: Fused, question: StoryQuestion, asking: Asking) -> tuple[Mind, ...]:
    """What each option comes to."""
    form = ", ".join(f'"{letter}": {{{FIELDS}}}' for letter in question.letters)
    prompt = fill("limp-hypotheses", question=question, form=f"{{{form}}}", **_names(fused))
    found = asking.written("hypotheses", prompt, minds_form(question.letters)).root
    return tuple(found[letter] for letter in question.letters)


def _all_of_main(fused: Fused) -> list[int]:
    return [t for t, step in enumerate(fused.steps) if step.agent == fused.main]


def _first_or_all(fused: Fused) -> list[int]:
    """The first utterance in a conversation, where actions are dropped, and else all actions."""
    counted = _all_of_main(fused)
    return [t for t in counted if fused.steps[t].kind == "utterance"][:1] if fused.conversation else counted


def _normalised(yes: float, no: float) -> float:
    either = log_sum_exp((yes, no))
    if either == IMPOSSIBLE:
        raise UnansweredError("the model gives neither Likely nor Unlikely any probability")
    return yes - either


def _as_it_is(yes: float, _no: float) -> float:
    return yes


def _names(fused: Fused) -> dict[str, str]:
    return {"main": fused.main, "others": joined(fused.others), "initial": listed(fused.initial)}


def _prompt(fused: Fused, mind: Mind, t: int) -> str:
    """All that is known before a step, and the step."""
    known = {**_names(fused), **mind.model_dump(), "history": listed(fused.steps[:t])}
    return fill("limp-likelihood", **known, next=fused.steps[t])


def _faithful_prompt(fused: Fused, mind: Mind, t: int) -> str:
    """Of an utterance, what others said before; of an action, all that others do, and what the person did before."""
    step, before = fused.steps[t], fused.steps[:t]
    known = {**_names(fused), **mind.model_dump()}
    if step.kind == "utterance":
        said = [one for one in before if one.kind == "utterance" and one.agent != fused.main]
        return fill("limp-faithful-utterance", **known, history=listed(said), next=step)
    theirs = [one for one in fused.steps if one.agent != fused.main]
    own = [one for one in before if one.agent == fused.main]
    return fill("limp-faithful-action", **known, theirs=listed(theirs), history=listed(own), next=step)
