"""LIMP, language model-based inverse multi-agent planning (Shi et al., MuMA-ToM, §4, equation 1).

A language model reads the text of a story and the description of a video and fuses them into one list of steps. It
states what each option of a question means as mental variables, and judges how likely the main person's steps are
under each of them. Bayes' rule turns these likelihoods into the answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Literal, NamedTuple

from otherminds.distribution import IMPOSSIBLE, log_sum_exp
from otherminds.errors import InputError
from otherminds.language.asking import Asker, Exchange, prompts_of
from otherminds.language.model import LanguageModel
from otherminds.papers.mumatom import replies
from otherminds.stories.model import Polarity

fill = prompts_of("otherminds.papers.mumatom")

MOST_OPTIONS = len(ascii_uppercase)
RETRY_TEMPERATURE = 0.7  # of a second attempt, since at 0 the same reply would come again; chosen
LEAST = re.compile(r"\bleast\s+(?:likely|probable|plausible)\b", re.IGNORECASE)
LINES = re.compile(r"\n+")
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"”’'])\s+")
SPOKEN = re.compile(r"\w[\w.'’-]*( \w[\w.'’-]*){0,2}: ")
# Limits on the steps accepted from a reply, so that a model that does not stop is not followed; chosen: a sentence of
# prose can tell 8 steps, a turn of a dialogue 2, and an action in the description of a video takes at least 2 words.
STEPS_OF_A_SENTENCE, STEPS_OF_A_TURN, WORDS_OF_AN_ACTION = 8, 2, 2
FIELDS = '"belief": ..., "social_goal": ..., "believed_goal": ...'


@dataclass(frozen=True)
class StoryQuestion:
    """A question in words, and its options without letters. `prior` has their prior weights; empty if equal.

    Raises InputError unless it has 2 to 26 options, with a positive prior weight for each if any.
    """

    stem: str
    options: tuple[str, ...]
    prior: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 2 <= len(self.options) <= MOST_OPTIONS:
            raise InputError(f"a question has 2 to {MOST_OPTIONS} options, not {len(self.options)}")
        if self.prior and (len(self.prior) != len(self.options) or not all(0 < w < math.inf for w in self.prior)):
            raise InputError("a prior is a positive number for every option")

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the options."""
        return tuple(ascii_uppercase[: len(self.options)])

    @property
    def polarity(self) -> Polarity:
        """Whether the most or the least likely option is asked for, by the wording."""
        return "least" if LEAST.search(self.stem) else "most"

    def __str__(self) -> str:
        lettered = zip(self.letters, self.options, strict=True)
        return "\n".join([self.stem, *(f"{letter}) {option}" for letter, option in lettered)])


@dataclass(frozen=True)
class StoryTask:
    """A story in words with questions, all about the mind of the same person.

    `text` is the story, or a dialogue with lines `NAME: words`; `video` describes a video; each may be empty. `people`
    are the names that can occur; if empty, the model finds them.
    """

    id: str
    text: str
    questions: tuple[StoryQuestion, ...]
    video: str = ""
    people: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of a dialogue, or else the sentences."""
        sentences = list[str]()
        for line in map(str.strip, LINES.split(self.text)):
            sentences += [line] if speaker(line) else SENTENCES.split(line)
        return tuple(filter(None, sentences))

    @property
    def most_told(self) -> int:
        """The number of steps of one person that the text can tell."""
        steps = sum(STEPS_OF_A_TURN if speaker(line) else STEPS_OF_A_SENTENCE for line in self.lines)
        return min(replies.MOST_ITEMS, steps)

    @property
    def most_filmed(self) -> int:
        """The number of actions that the description of the video can tell."""
        return min(replies.MOST_ITEMS, max(1, len(self.video.split()) // WORDS_OF_AN_ACTION))


class Likelihood(NamedTuple):
    """A step of the main person, and log P(Likely | option, what is known) in nats for each option."""

    step: StoryStep
    log_probs: tuple[float, ...]


@dataclass(frozen=True)
class LimpAnswer:
    """The answer to a question: the chosen option, or None and the reason in `abstained`; P(option); likelihoods.

    `exchanges` are those for this question. Those that serve all questions of a story are with the first one.
    """

    option: int | None
    posterior: tuple[float, ...] = ()
    terms: tuple[Likelihood, ...] = ()
    abstained: str | None = None
    minds: tuple[replies.OptionMind, ...] = ()
    exchanges: tuple[Exchange, ...] = ()

    @property
    def unreadable(self) -> int:
        """The number of unreadable replies."""
        return sum(not exchange.readable for exchange in self.exchanges)

    @property
    def calls(self) -> Mapping[str, int]:
        """The number of calls by purpose."""
        return Counter(exchange.purpose for exchange in self.exchanges)


@dataclass(frozen=True)
class Limp:
    """LIMP with any language model that tells log-probabilities.

    By default it follows the paper's equations: all steps of the main person count, each given the steps before it;
    P(Likely) is normalised over both labels; the posterior is Bayes' rule with the prior; the answer is the most or the
    least probable option. With `faithful` it follows the published code: of a conversation only the first utterance
    counts, otherwise all actions, each also given the others' later steps; P(Likely) is not normalised; the posterior
    is the softmax of the products; and the model chooses an option after it is told these numbers.

    An unreadable reply is asked for up to `attempts` times. After that, questions that need it are not answered.
    """

    model: LanguageModel
    faithful: bool = False
    attempts: int = 3  # chosen, not tuned
    seed: int = 0
    max_tokens: int = 1000  # of a reply; chosen

    def answer_all(self, task: StoryTask) -> tuple[LimpAnswer, ...]:
        """The answers to all questions. The story is read once. Raises ModelError if the model cannot be asked."""
        if not task.questions:
            return ()
        shared = self._calls(task.id)
        try:
            fused = fuse(task, shared)
        except replies.UnansweredError as error:
            lost = LimpAnswer(None, abstained=str(error))
            return (replace(lost, exchanges=tuple(shared.exchanges)), *[lost] * (len(task.questions) - 1))
        answers = []
        for number, question in enumerate(task.questions, 1):
            calls = self._calls(f"{task.id} question {number}")
            if number == 1:
                calls.exchanges.extend(shared.exchanges)
            answers.append(self._answer(fused, question, calls))
        return tuple(answers)

    def _calls(self, draw: str) -> replies.LimpCalls:
        settings = (0.0, self.max_tokens, self.attempts, RETRY_TEMPERATURE)
        return replies.LimpCalls(Asker(self.model, draw, self.seed, *settings))

    def _answer(self, fused: FusedStory, question: StoryQuestion, calls: replies.LimpCalls) -> LimpAnswer:
        """The answer to one question, as complete as the readable replies allow."""
        answer = LimpAnswer(None)
        try:
            forms = ", ".join(f'"{letter}": {{{FIELDS}}}' for letter in question.letters)
            prompt = fill("limp-hypotheses", question=question, form=f"{{{forms}}}", **_people_fields(fused))
            meant = calls.written("hypotheses", prompt, replies.minds_form(question.letters)).root
            minds = tuple(meant[letter] for letter in question.letters)  # the meaning of each option
            answer = replace(answer, minds=minds)
            answer = replace(answer, terms=self._terms(fused, minds, calls))
            answer = replace(answer, posterior=self._posterior(question, answer.terms))
            answer = replace(answer, option=self._option(question, answer.posterior, calls))
        except replies.UnansweredError as error:
            answer = replace(answer, abstained=str(error))
        return replace(answer, exchanges=tuple(calls.exchanges))

    def _terms(
        self, fused: FusedStory, minds: Sequence[replies.OptionMind], calls: replies.LimpCalls
    ) -> tuple[Likelihood, ...]:
        """The likelihoods of the steps that count. They are asked option by option, so that prompts begin alike."""
        counted = [t for t, step in enumerate(fused.steps) if step.agent == fused.main]
        if self.faithful and fused.conversation:  # actions are dropped
            counted = [t for t in counted if fused.steps[t].kind == "utterance"][:1]
        columns = []
        for mind in minds:
            column = []
            for t in counted:
                yes, no = calls.likely(fused.steps[t].kind, _prompt(fused, mind, t, self.faithful))
                either = 0.0 if self.faithful else log_sum_exp((yes, no))
                if either == IMPOSSIBLE:
                    raise replies.UnansweredError("the model gives neither Likely nor Unlikely any probability")
                column.append(yes - either)
            columns.append(column)
        rows = zip(*columns, strict=True)
        return tuple(Likelihood(fused.steps[t], row) for t, row in zip(counted, rows, strict=True))

    def _posterior(self, question: StoryQuestion, terms: Sequence[Likelihood]) -> tuple[float, ...]:
        """P(option). Raises UnansweredError if no option is possible."""
        totals = [math.fsum(values) for values in zip(*(term.log_probs for term in terms), strict=True)]
        totals = totals or [0.0] * len(question.options)
        if self.faithful:
            weights = [math.exp(total) for total in totals]  # the softmax is of products, not of their logarithms
        else:
            prior = question.prior or (1.0,) * len(totals)
            weights = [math.log(before) + total for before, total in zip(prior, totals, strict=True)]
        whole = log_sum_exp(weights)
        if whole == IMPOSSIBLE:
            raise replies.UnansweredError("the model takes what was done and said for impossible with every option")
        return tuple(math.exp(weight - whole) for weight in weights)

    def _option(self, question: StoryQuestion, posterior: Sequence[float], calls: replies.LimpCalls) -> int:
        """The chosen option. Raises UnansweredError if several are equally probable, or the choice is unreadable."""
        if self.faithful:
            numbers = "\n".join(f"{letter}) {p:.4f}" for letter, p in zip(question.letters, posterior, strict=True))
            prompt = fill("limp-choice", question=question, probabilities=numbers)
            return question.letters.index(calls.written("choice", prompt, replies.choice_form(question.letters)).choice)
        best = max(posterior) if question.polarity == "most" else min(posterior)
        if posterior.count(best) > 1:
            raise replies.UnansweredError("what was done and said fits several options equally well")
        return posterior.index(best)


# Hypotheses and likelihoods


def _people_fields(fused: FusedStory) -> dict[str, str]:
    """The fields of prompts about the story: the main person, the others, and the initial state."""
    return {"main": fused.main, "others": joined(fused.other_people), "initial": listed(fused.initial)}


def _prompt(fused: FusedStory, mind: replies.OptionMind, t: int, faithful: bool) -> str:
    """The prompt for a step, given all steps before it, or as in the published code.

    There an utterance is given what the others said before; an action, all steps of the others and the person's own
    before.
    """
    step, before = fused.steps[t], fused.steps[:t]
    fields = {**_people_fields(fused), **mind.model_dump()}
    if not faithful:
        return fill("limp-likelihood", **fields, history=listed(before), next=step)
    if step.kind == "utterance":
        utterances = [s for s in before if s.kind == "utterance" and s.agent != fused.main]
        return fill("limp-faithful-utterance", **fields, history=listed(utterances), next=step)
    theirs = [s for s in fused.steps if s.agent != fused.main]
    own = [s for s in before if s.agent == fused.main]
    return fill("limp-faithful-action", **fields, theirs=listed(theirs), history=listed(own), next=step)


# Fusion


@dataclass(frozen=True)
class StoryStep:
    """An action or an utterance of a person, in words."""

    agent: str
    kind: Literal["action", "utterance"]
    text: str
    source: Literal["text", "video"] = "text"

    def __str__(self) -> str:
        return f'{self.agent} says: "{self.text}"' if self.kind == "utterance" else f"{self.agent}: {self.text}"


@dataclass(frozen=True)
class FusedStory:
    """The fused story: the person whose mind is asked about, the others, all steps in order, and the initial state.

    It is a conversation if a person speaks in the text.
    """

    main: str
    other_people: tuple[str, ...]
    steps: tuple[StoryStep, ...] = ()
    initial: tuple[str, ...] = ()
    conversation: bool = False

    @property
    def people(self) -> tuple[str, ...]:
        """All people, the main person first."""
        return (self.main, *self.other_people)


def fuse(source: StoryTask, calls: replies.LimpCalls) -> FusedStory:
    """The fused story (MuMA-ToM, §4), for questions about the same person as the first one.

    It takes one call for the names, one for each person's part of the text, one for the video (three if no person
    speaks in the text), and one for the initial state. Raises UnansweredError if a reply cannot be read.
    """
    question = str(source.questions[0])
    form = replies.names_form(source.people, f"{source.text}\n{source.video}\n{question}")
    main, *other_people = calls.written("names", fill("limp-names", question=question), form).people
    story = FusedStory(main, tuple(other_people))
    told_steps = _steps_told(source, story.people, calls)
    speaks = not set(map(speaker, source.lines)).isdisjoint(story.people)
    story = replace(story, conversation=speaks or any(step.kind == "utterance" for _, step in told_steps))
    steps = [*told_steps, *_steps_filmed(source, story, calls)]
    ordered = tuple(step for _, step in sorted(steps, key=lambda placed: placed[0]))
    initial = calls.written("initial state", fill("limp-state", steps=listed(ordered)), replies.state_form()).facts
    return replace(story, steps=ordered, initial=tuple(initial))


def speaker(line: str) -> str:
    """The speaker of a line of a dialogue; empty for any other line."""
    return line.partition(":")[0] if SPOKEN.match(line) else ""


def listed(items: Sequence[object]) -> str:
    """Items as a list, a line each; `nothing` if there are none."""
    return "\n".join(f"- {item}" for item in items) or "nothing"


def joined(names: Sequence[str]) -> str:
    """Names as in a sentence."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _numbered_lines(lines: Sequence[str]) -> str:
    """The lines with their numbers from 1, as they stand in prompts."""
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1)) or "(nothing is told)"


def _steps_told(source: StoryTask, people: Sequence[str], calls: replies.LimpCalls) -> list[tuple[float, StoryStep]]:
    """All steps in the text with the number of their line. A person is not asked about lines that others speak."""
    lines = source.lines
    placed_steps = list[tuple[float, StoryStep]]()
    for name in people:
        theirs = [n for n, line in enumerate(lines, 1) if speaker(line) not in {*people} - {name}]
        if not theirs:
            continue
        prompt = fill("limp-text", lines=_numbered_lines(lines), person=name)
        steps = calls.written(f"text of {name}", prompt, replies.steps_form(theirs, source.most_told)).steps
        placed_steps += [(step.line, StoryStep(name, step.kind, step.text)) for step in steps]
    return sorted(placed_steps, key=lambda placed: placed[0])


def _steps_filmed(source: StoryTask, story: FusedStory, calls: replies.LimpCalls) -> list[tuple[float, StoryStep]]:
    """All actions in the video, each placed after a line of the text."""
    if not source.video.strip():
        return []
    lines, video = source.lines, source.video.strip()
    people = joined(story.people)
    filmed_people, hints = story.people, ""
    fields = {"people": people, "lines": _numbered_lines(lines), "video": video}
    if not story.conversation:
        prompt = fill("limp-objects", lines=_numbered_lines(lines))
        objects = calls.written("video: objects", prompt, replies.objects_form()).objects
        name = calls.written("video: name", fill("limp-shown", **fields), replies.shown_form(story.people)).name
        hint = fill("limp-video-hints", person=name, objects=", ".join(objects) or "none")
        filmed_people, hints = (name,), f"\n{hint}\n"
    prompt = fill("limp-video", **fields, agents=joined(filmed_people), hints=hints)
    form = replies.actions_form(filmed_people, len(lines), source.most_filmed)
    actions = calls.written("video: actions", prompt, form).actions
    return [
        (action.after + 0.5, StoryStep(action.agent, "action", f"{action.verb} {action.rest}", "video"))
        for action in actions
    ]
