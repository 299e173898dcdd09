"""Answering questions about stories: read the story and the question, and infer the answer.

`ask` answers what people type: stories in the controlled form by rules, all others by a language model if one is given.
`answer_benchmark` answers the questions of public benchmarks, whose stories have forms of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from otherminds.errors import InputError, shortened
from otherminds.files.html import bars, safe
from otherminds.files.text import LONGEST_LINE
from otherminds.language.model import LanguageModel
from otherminds.stories import model as stories
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.beliefs.perspectives import SALLY_ANNE, Conventions
from otherminds.stories.english.controlled_story import NotInFormError, read_controlled
from otherminds.stories.english.questions import LONGEST_QUESTION, Unread, read_question, split_options
from otherminds.stories.english.reading import LONGEST_STORY, read_story
from otherminds.stories.english.sentences import with_joined_names
from otherminds.stories.model import SYMBOLIC
from otherminds.stories.perceived import option_by_perception
from otherminds.stories.relevance import UNREAD, answer_over
from otherminds.stories.social_goals.goals import answer_goal
from otherminds.stories.social_goals.inference import CannotAnswerError, answer_social, facts
from otherminds.worlds.household.agent import RESERVED, SpeakingCosts

COVERAGE = 0.5  # least share of a story's clauses that must be understood before it is answered from; chosen, not tuned
PERCEIVED = 0.86  # probability of an option that rests on what somebody perceived; chosen on development stories
QUOTES = set('"“”«»')  # a sentence with one of these quotes somebody: if it was not read, no answer is given
LIKELIEST = re.compile(r"\b(?:which|what)\b.*\b(?:likely|plausible|true|correct|best)\b", re.IGNORECASE | re.DOTALL)
MODEL = "let a language model read it: --model NAME, such as openai:gpt-4o"
FORM = "docs/systems/stories.md shows the controlled form"


@dataclass(frozen=True)
class StoryAnswer:
    """A question with its answer: what was read of the story, and the question as data (None if it was not read).

    `engine` is the reader: `symbolic`, or the name of the language model that read the story and the question. Without
    an answer, `advice` says what to do next.
    """

    reading: stories.Reading
    question: stories.Question | None
    answer: stories.Answer
    engine: str = SYMBOLIC
    advice: str = ""

    def __repr__(self) -> str:
        said = self.answer.abstained or ", ".join(f"{name}: {p:.2f}" for name, p in self.posterior)
        return shortened(f"StoryAnswer({said})", LONGEST_LINE)

    def _repr_html_(self) -> str:
        return safe(self.answer.abstained) if self.answer.abstained else bars("", self.posterior)

    @property
    def posterior(self) -> list[tuple[str, float]]:
        """The options in words, each with its probability; empty if the question was not read."""
        labels = self.question.labels if self.question else ()
        return list(zip(labels, self.answer.posterior, strict=False))


def answer(
    episode: stories.Episode,
    question: stories.Question,
    conventions: Conventions = SALLY_ANNE,
    costs: SpeakingCosts = RESERVED,
) -> stories.Answer:
    """The answer to a question about an episode, by the inference that its claims call for.

    `answer_social` for social goals and a speaker's beliefs, `answer_goal` for one person's goal, `answer_where` for
    places of items and (nested) beliefs about them. Abstains, with a reason, if none of them applies.
    """
    claims = question.claims
    try:
        about_goals = any(isinstance(c, stories.Belief) and isinstance(c.content, stories.Goal) for c in claims)
        if about_goals or any(isinstance(claim, stories.SocialGoal | stories.Knows) for claim in claims):
            return answer_social(episode, question, costs=costs)
        if any(isinstance(claim, stories.Goal) for claim in claims):
            return answer_goal(episode, question)
        witnessed = answer_where(episode, question, conventions)
        asks = any(utterance.act == "ask" for utterance in episode.utterances)
        plain = all(isinstance(claim, stories.Belief) and isinstance(claim.content, stories.Fact) for claim in claims)
        if witnessed.option is None and asks and plain:
            return answer_social(episode, question, costs=costs)
        return witnessed
    except CannotAnswerError as error:
        return stories.abstention(len(question.options), str(error))


def ask(
    story: str | stories.Reading,
    stem: str,
    options: Sequence[str] = (),
    *,
    conventions: Conventions | None = None,
    costs: SpeakingCosts = RESERVED,
    model: LanguageModel | None = None,
) -> StoryAnswer:
    """The answer to a question in words about a story that somebody types, or about one that has been read.

    A text is answered by rules only if every sentence of it, and the question, is in the controlled form. Everything
    else is read by `model` in one call; the inference from what it writes down is exact, and it never answers itself.
    Without an answer, `answer.abstained` says why, and `advice` what to do. `conventions` say who sees what that the
    story leaves unsaid (by default `SALLY_ANNE`).
    Raises ModelError if the model cannot be reached, InputError if the story or the question is too long.
    """
    conventions = conventions or SALLY_ANNE
    if len(stem) + sum(map(len, options)) > LONGEST_QUESTION:
        hint = "give only the question and its options"
        raise InputError(f"the question is longer than {LONGEST_QUESTION:,} characters", hint=hint)
    if isinstance(story, stories.Reading):
        return _answer_reading(story, stem, options, conventions, costs)
    if len(story) > LONGEST_STORY:
        raise InputError(f"the story is longer than {LONGEST_STORY:,} characters", hint="give only the story itself")
    by_rules = _answer_controlled(*with_joined_names([story, stem, *options]), conventions=conventions, costs=costs)
    if model is None or by_rules.answer.option is not None:
        return by_rules
    from otherminds.stories.by_model import answer_with

    by_model = StoryAnswer(*answer_with(model, story, stem, options), engine=model.name)
    if by_model.answer.option is not None:
        return by_model
    return replace(by_model, advice=f"ask a stronger model, or tell it more plainly: {FORM}")


def _answer_controlled(
    story: str, stem: str, *options: str, conventions: Conventions, costs: SpeakingCosts
) -> StoryAnswer:
    """The answer if story and question are in the controlled form; else none, with the sentence that is not."""
    if not options:
        stem, options = split_options(stem)
    controlled = read_controlled(story)
    reading, no_answer = controlled.reading, partial(stories.abstention, len(options))
    for account in reading.clauses:
        if account.outcome == "unread":
            why = f"{UNREAD} “{account.text}”: {account.reason}"
            return StoryAnswer(reading, None, no_answer(why), advice=f"Reword that sentence ({FORM}), or {MODEL}")
    try:
        question = controlled.question(stem, options)
    except NotInFormError as error:
        return StoryAnswer(
            reading, None, no_answer(str(error)), advice=f"Ask about what the story tells ({FORM}), or {MODEL}"
        )
    if question is not None:
        story_answer = StoryAnswer(reading, question, answer(reading.episode, question, conventions, costs))
    elif options and LIKELIEST.search(stem):
        story_answer = _answer_reading(reading, stem, options, conventions, costs)
        if story_answer.question and len({type(c) for o in story_answer.question.options for c in o.claims}) > 1:
            why = "the options do not all say what somebody wants, nor all what somebody thinks"
            story_answer = replace(story_answer, answer=no_answer(why))
    else:
        why = f"{UNREAD} the question “{stem.strip()}”"
        return StoryAnswer(reading, None, no_answer(why), advice=f"Ask in another way ({FORM}), or {MODEL}")
    advice = "" if story_answer.answer.option is not None else f"Add a sentence that tells it, or {MODEL}"
    return replace(story_answer, advice=advice)


def _answer_reading(
    reading: stories.Reading, stem: str, options: Sequence[str], conventions: Conventions, costs: SpeakingCosts
) -> StoryAnswer:
    """The answer to a question in words about a story that has been read, over the readings of its unread clauses."""
    if not options:
        stem, options = split_options(stem)
    try:
        question = read_question(stem, options, reading)
    except Unread as error:
        why = stories.abstention(len(options), f"cannot read the question: {error.sentence}")
        return StoryAnswer(reading, None, why, advice=f"Ask where somebody will look, or thinks something is ({FORM})")
    lacking = missing(reading, question)
    if lacking:
        return StoryAnswer(reading, question, stories.abstention(len(question.options), lacking))
    combined = answer_over(reading, question, lambda episode: answer(episode, question, conventions, costs))
    if combined.leaning is not None and not options:  # where anything may be, such a clause decides more often than not
        combined = stories.abstention(len(question.options), combined.abstained or "")
    return StoryAnswer(reading, question, combined)


def answer_benchmark(
    story: str | stories.Reading,
    stem: str,
    options: Sequence[str],
    *,
    conventions: Conventions | None = None,
    costs: SpeakingCosts = RESERVED,
) -> StoryAnswer:
    """The answer to a question of a public benchmark, whose stories the rules of `english` or `perceived` know.

    Abstains, with a reason, if the question cannot be read, if less than `COVERAGE` of the story's clauses are
    understood, or if some reading of an unread clause would change the answer.
    """
    if isinstance(story, stories.Reading):
        return _answer_reading(story, stem, options, conventions or SALLY_ANNE, costs)
    story, stem, *options = with_joined_names([story, stem, *options])
    grounds = None if conventions else option_by_perception(story, stem, options)
    if grounds is None:
        story_answer = _answer_reading(read_story(story), stem, options, conventions or SALLY_ANNE, costs)
        if conventions is None or story_answer.reading.coverage == 1.0:
            return story_answer
        grounds = option_by_perception(story, stem, options)
        if grounds is None:
            return story_answer
    posterior = [(1.0 - PERCEIVED) / (len(options) - 1)] * len(options)
    best = options.index(grounds.option)
    posterior[best] = PERCEIVED
    claims = tuple(stories.AnswerOption(()) for _ in options)
    question = stories.Question("", claims, kind="state", labels=tuple(options))
    return StoryAnswer(
        stories.Reading(stories.Episode("", ())),
        question,
        stories.Answer(best, tuple(posterior), passages=grounds.passages),
    )


def missing(reading: stories.Reading, question: stories.Question, least: float = COVERAGE) -> str | None:
    """Why the story does not support an answer to the question, in words; None if it does."""
    if reading.coverage < least:
        unread = reading.unread[0] if reading.unread else "the story"
        return f"could read only {reading.coverage:.0%} of the story; not: {unread}"
    if reading.clauses:
        return None
    things = {fact.subject for claim in question.claims for fact in facts(claim)}
    topics = [utterance.content.subject for utterance in reading.episode.utterances if utterance.content is not None]
    words = {word for thing in (*things, *topics) for word in thing.split()}
    for sentence in reading.unread:
        if QUOTES & set(sentence) or words & set(re.findall(r"[a-z]+", sentence.lower())):
            return f"{UNREAD}: {sentence}"
    return None
