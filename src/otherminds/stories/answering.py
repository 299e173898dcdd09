"""Answering questions about stories: read the story and the question, check the coverage, infer the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otherminds.language.model import EMBEDDED, LanguageModel
from otherminds.stories import model as stories
from otherminds.stories.beliefs.nested_beliefs import answer_where
from otherminds.stories.beliefs.perspectives import SALLY_ANNE, Conventions
from otherminds.stories.english.lexicon import wordset
from otherminds.stories.english.questions import Unread, read_question
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.sentences import with_joined_names
from otherminds.stories.model import SYMBOLIC
from otherminds.stories.relevance import OPEN, UNREAD, answer_over
from otherminds.stories.social_goals.goals import answer_goal
from otherminds.stories.social_goals.inference import CannotAnswerError, answer_social, facts
from otherminds.worlds.household.agent import RESERVED, SpeakingCosts

MARGIN = 0.25  # by which one reader must cover more of a story than another for its reasons to count; chosen, not tuned
COVERAGE = 0.5  # least share of a story's clauses that must be understood before it is answered from; chosen, not tuned
QUOTES = set('"“”«»')  # a sentence with one of these quotes somebody: if it was not read, no answer is given


@dataclass(frozen=True)
class StoryAnswer:
    """A question with its answer: what was read of the story, and the question as data (None if it was not read).

    `engine` is the reader: `symbolic`, or the name of the language model that read the story or the question.
    """

    reading: stories.Reading
    question: stories.Question | None
    answer: stories.Answer
    engine: str = SYMBOLIC


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
        asked = any(said.act == "ask" for said in episode.utterances)
        plain = all(isinstance(claim, stories.Belief) and isinstance(claim.content, stories.Fact) for claim in claims)
        if witnessed.option is None and asked and plain:
            return answer_social(episode, question, costs=costs)
        return witnessed
    except CannotAnswerError as error:
        return stories.abstention(len(question.options), str(error))


def ask(
    story: str | stories.Reading,
    stem: str,
    options: Sequence[str],
    *,
    conventions: Conventions | None = None,
    costs: SpeakingCosts = RESERVED,
    least: float = COVERAGE,
    model: LanguageModel | None = None,
) -> StoryAnswer:
    """Read a story and a question about it in English, and answer.

    Read by the reader of households and, if the question is where something is or is believed to be, or if something is
    left unread, by the reader of stories about anything (`everyday`), too. If the first has read all of a story, both
    must agree about places, unless `conventions` say who sees what (by default `SALLY_ANNE`). Abstains, with a reason,
    if they do not, if the question cannot be read, if less than `least` of the story's clauses are understood, or if
    some reading of an unread clause would change the answer. A language model, if given, reads what the rules cannot;
    it never answers.
    Raises ModelError if the model cannot be reached.
    """
    named, conventions = conventions is not None, conventions or SALLY_ANNE
    if not isinstance(story, str):
        return _ask_of_household(story, stem, options, conventions, costs, least, model)
    as_given = story, stem, tuple(options)
    story, stem, *options = with_joined_names([story, stem, *options])
    found = _ask_of_household(story, stem, options, conventions, costs, least, None)
    complete = found.question is not None and found.reading.coverage == 1.0
    of_places = _only_of_places(found.question)
    if complete and (named or not of_places or found.answer.option is None):
        return found
    general = _ask_of_anything(story, stem, options)
    if complete and not general.answer.passages:
        convention = general.answer.abstained == OPEN  # what is open there, a convention decides
        agreed = general.question is None or convention or _agree(found, general)
        return found if agreed else _open(general)
    chosen = _chosen(found, general, least, of_places=of_places)
    read = chosen is found or (chosen.reading.coverage == 1.0 and chosen.answer.terms)
    if model is None or (chosen.answer.option is not None and read):
        return chosen
    if found.reading.coverage == 1.0 or (found.question is not None and not of_places):
        return _ask_of_household(story, stem, options, conventions, costs, least, model)
    if model.identity.startswith(EMBEDDED):  # docs/stories.md says how often these are wrong
        return _not_asked(chosen, model)
    from otherminds.stories.by_model.variable import answer_with

    helped = StoryAnswer(*answer_with(model, *as_given), engine=model.name)
    if helped.question is None:
        return chosen if chosen.answer.option is not None else replace(chosen, question=None, answer=helped.answer)
    return chosen if helped.answer.option is None and chosen.answer.option is not None else helped


def _open(found: StoryAnswer) -> StoryAnswer:
    """The reading without its answer, as another reader of all of the story answers otherwise."""
    if found.answer.option is None:
        return found
    return replace(found, answer=stories.abstention(len(found.answer.posterior), OPEN))


def _not_asked(found: StoryAnswer, model: LanguageModel) -> StoryAnswer:
    """The answer without the model, with a word on it if there is none."""
    why = found.answer.abstained
    if why is None:
        return found
    return replace(found, answer=replace(found.answer, abstained=f"{why} ({model.name} is too small to be asked)"))


def _ask_of_anything(story: str, stem: str, options: Sequence[str]) -> StoryAnswer:
    """The answer of the reader of stories about anything."""
    from otherminds.stories.everyday.answering import answer, answer_by_presence

    return StoryAnswer(*(answer_by_presence(story, stem, options) or answer(story, stem, options)))


def _chosen(found: StoryAnswer, general: StoryAnswer, least: float, *, of_places: bool) -> StoryAnswer:
    """The answer of the reader of households or that of the reader of anything, if neither has read all of a story."""
    if general.answer.passages or (general.answer.option is not None and general.reading.coverage >= least):
        return found if not general.answer.passages and _agree(found, general) else general
    if found.answer.option is not None and (general.question is None or not of_places):
        return found
    told_more = general.reading.coverage - found.reading.coverage > MARGIN
    more = general.question is not None and (told_more or found.answer.option is not None)
    return general if more else found


def _only_of_places(question: stories.Question | None) -> bool:
    """Whether a question asks for nothing but where something is, or is believed to be."""
    content = [claim.content for claim in (question.claims if question else ()) if isinstance(claim, stories.Belief)]
    held = [claim for claim in (question.claims if question else ()) if isinstance(claim, stories.Holds)]
    known = all(isinstance(one, stories.Fact | stories.Belief) for one in content)
    return known and len(content) + len(held) == len(question.claims if question else ())


def _agree(one: StoryAnswer, other: StoryAnswer) -> bool:
    """Whether two answers name the same option or, in free words, one place."""
    chosen = [
        set(re.findall(r"[a-z]+", found.question.labels[found.answer.option].lower()))
        - (wordset("prepositions") | wordset("determiners"))
        for found in (one, other)
        if found.question is not None and found.answer.option is not None
    ]
    return len(chosen) == 2 and bool(chosen[0] <= chosen[1] or chosen[1] <= chosen[0])


def _ask_of_household(
    story: str | stories.Reading,
    stem: str,
    options: Sequence[str],
    conventions: Conventions,
    costs: SpeakingCosts,
    least: float,
    model: LanguageModel | None,
) -> StoryAnswer:
    if model is not None and isinstance(story, str):
        from otherminds.stories.by_model.story import read_or_ask, read_with

        reading, engine = read_or_ask(story, model, least)
    else:
        reading, engine = (read_story(story) if isinstance(story, str) else story), SYMBOLIC
    try:
        question, reader = _read_question(stem, options, reading, model if reading.coverage >= least else None)
    except Unread as error:
        abstained = stories.abstention(len(options), f"cannot read the question: {error.sentence}")
        return StoryAnswer(reading, None, abstained, engine)
    engine = engine if reader == SYMBOLIC else reader

    def answered(episode: stories.Episode) -> stories.Answer:
        return answer(episode, question, conventions, costs)

    lacking = missing(reading, question, least)
    found = stories.abstention(len(question.options), lacking) if lacking else answer_over(reading, question, answered)
    unread = found.unless is not None or (found.abstained or "").startswith(UNREAD)
    if unread and model is not None and isinstance(story, str) and engine == SYMBOLIC and reading.coverage >= least:
        other = read_with(model, story)
        if other.coverage >= least:
            found_by_model = _ask_of_household(other, stem, options, conventions, costs, least, model)
            if found.option is None or found_by_model.answer.option is not None:
                return replace(found_by_model, engine=model.name)
    if found.leaning is not None and not options:  # where anything may be, such a clause decides more often than not
        found = stories.abstention(len(question.options), found.abstained or "")
    return StoryAnswer(reading, question, found, engine)


def _read_question(
    stem: str, options: Sequence[str], reading: stories.Reading, model: LanguageModel | None
) -> tuple[stories.Question, str]:
    """The question and its reader's name. Raises Unread if neither the rules nor the model can read it."""
    try:
        return read_question(stem, options, reading), SYMBOLIC
    except Unread:
        if model is None:
            raise
    from otherminds.stories.by_model.question import question_with

    return question_with(model, stem, options, reading), model.name


def missing(reading: stories.Reading, question: stories.Question, least: float = COVERAGE) -> str | None:
    """Why the story does not support an answer to the question, in words; None if it does."""
    if reading.coverage < least:
        unread = reading.unread[0] if reading.unread else "the story"
        return f"could read only {reading.coverage:.0%} of the story; not: {unread}"
    if reading.clauses:
        return None
    things = {fact.subject for claim in question.claims for fact in facts(claim)}
    said = [utterance.content.subject for utterance in reading.episode.utterances if utterance.content is not None]
    words = {word for thing in (*things, *said) for word in thing.split()}
    for sentence in reading.unread:
        if QUOTES & set(sentence) or words & set(re.findall(r"[a-z]+", sentence.lower())):
            return f"{UNREAD}: {sentence}"
    return None
