"""From a story and a question, in words or as data, to an answer: read, check that enough was read, infer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otherminds.language.model import LanguageModel
from otherminds.stories.beliefs.conventions import SALLY_ANNE, Conventions
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.by_model.verbal import SYMBOLIC, question_with, read_or_ask, read_with
from otherminds.stories.english.questions import Unread, read_question
from otherminds.stories.model import (
    Answer,
    Belief,
    Claim,
    Episode,
    Fact,
    Goal,
    Knows,
    Question,
    Reading,
    SocialGoal,
    Utterance,
)
from otherminds.stories.social_goals.goals import answer_goal
from otherminds.stories.social_goals.inference import CannotAnswerError, answer_social, facts
from otherminds.worlds.household.agent import RESERVED, SpeakingCosts

COVERAGE = 0.8
QUOTES = set('"“”«»')


@dataclass(frozen=True)
class Asked:
    """A question as it was read (None: it could not be), what was read of the story, and the answer.

    `engine` is who read: `symbolic`, or the name of a model, if it read the story or the question.
    """

    reading: Reading
    question: Question | None
    answer: Answer
    engine: str = SYMBOLIC


def answer(
    episode: Episode, question: Question, conventions: Conventions = SALLY_ANNE, manners: SpeakingCosts = RESERVED
) -> Answer:
    """The answer to a question about an episode, by the inference its claims call for.

    Who wants to help or hinder whom, and what a speaker believed: `answer_social`. What somebody looks for, and where
    they think it is: `answer_goal`. Where things are, in the minds of those who saw them moved: `answer_where`.
    Abstains, saying why, if none of them can tell.
    """
    claims = [*question.given, *(claim for option in question.options for claim in option.claims)]
    try:
        if any(_is_social(claim) for claim in claims):
            return answer_social(episode, question, manners=manners)
        if any(isinstance(claim, Goal) for claim in claims):
            return answer_goal(episode, question)
        seen = answer_where(episode, question, conventions)
        spoken = any(isinstance(said, Utterance) and said.act == "ask" for said in episode.timeline)
        plain = all(isinstance(claim, Belief) and isinstance(claim.content, Fact) for claim in claims)
        return answer_social(episode, question, manners=manners) if seen.option is None and spoken and plain else seen
    except CannotAnswerError as error:
        return Answer(None, (1.0 / len(question.options),) * len(question.options), (), str(error))


def _is_social(claim: Claim) -> bool:
    return isinstance(claim, SocialGoal | Knows) or (isinstance(claim, Belief) and isinstance(claim.content, Goal))


def ask(
    story: str | Reading,
    stem: str,
    options: Sequence[str],
    *,
    conventions: Conventions = SALLY_ANNE,
    manners: SpeakingCosts = RESERVED,
    least: float = COVERAGE,
    model: LanguageModel | None = None,
) -> Asked:
    """Read a story and a question about it, and answer.

    Abstains, saying why, if the question could not be read, less than `least` of the story could, or a sentence could
    not that speaks of the thing in question or quotes somebody: better no answer than one by chance. A model, if there
    is one, reads what could not be read before that; it never answers. Raises ModelError if it cannot be asked.
    """
    reading, engine = read_or_ask(story, model, least) if isinstance(story, str) else (story, SYMBOLIC)
    even = (1.0 / max(len(options), 1),) * len(options)
    try:
        question, reader = _read_question(stem, options, reading, model if reading.coverage >= least else None)
    except Unread as error:
        return Asked(reading, None, Answer(None, even, (), f"cannot read the question: {error.sentence}"), engine)
    lacking = missing(reading, question, least)
    if lacking and model is not None and isinstance(story, str) and engine == SYMBOLIC and reading.coverage >= least:
        other = read_with(model, story)
        if other.coverage >= least:
            found = ask(other, stem, options, conventions=conventions, manners=manners, least=least, model=model)
            return replace(found, engine=model.name)
    engine = engine if reader == SYMBOLIC else reader
    if lacking:
        even = (1.0 / len(question.options),) * len(question.options)
        return Asked(reading, question, Answer(None, even, (), lacking), engine)
    return Asked(reading, question, answer(reading.episode, question, conventions, manners), engine)


def _read_question(
    stem: str, options: Sequence[str], reading: Reading, model: LanguageModel | None
) -> tuple[Question, str]:
    """The question, and who read it. Raises Unread if nobody could."""
    try:
        return read_question(stem, options, reading), SYMBOLIC
    except Unread:
        if model is None:
            raise
    return question_with(model, stem, options, reading), model.name


def missing(reading: Reading, question: Question, least: float = COVERAGE) -> str | None:
    """What keeps the story from being an answer, if anything does."""
    if reading.coverage < least:
        unread = reading.unread[0] if reading.unread else "the story"
        return f"could read only {reading.coverage:.0%} of the story; not: {unread}"
    claims = (*question.given, *(claim for option in question.options for claim in option.claims))
    things = {fact.subject for claim in claims for fact in facts(claim)}
    said = [h.content.subject for h in reading.episode.timeline if isinstance(h, Utterance) and h.content is not None]
    words = {word for thing in (*things, *said) for word in thing.split()}
    for sentence in reading.unread:
        if QUOTES & set(sentence) or words & set(re.findall(r"[a-z]+", sentence.lower())):
            return f"could not read: {sentence}"
    return None
