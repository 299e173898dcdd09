"""From a story and a question, in words or as data, to an answer: read, check that enough was read, infer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otherminds.stories.conventions import EVERYDAY, Conventions
from otherminds.stories.goals import answer_goal
from otherminds.stories.inference import CannotAnswer, answer_social
from otherminds.stories.model import (
    Answer,
    Belief,
    Claim,
    Entity,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Knows,
    Question,
    Reading,
    SocialGoal,
    Utterance,
)
from otherminds.stories.question_text import Unread, read_question
from otherminds.stories.reading import read_story
from otherminds.stories.scene_graph import Frames, scene_events, squeezed
from otherminds.stories.witnessing import answer_where

COVERAGE = 0.8
SEEN_BY_MODEL = 0.8


@dataclass(frozen=True)
class Asked:
    """A question as it was read (None: it could not be), what was read of the story, and the answer."""

    reading: Reading
    question: Question | None
    answer: Answer


def answer(episode: Episode, question: Question, conventions: Conventions = EVERYDAY) -> Answer:
    """The answer to a question about an episode, by the inference its claims call for.

    Who wants to help or hinder whom, and what a speaker believed: `answer_social`. What somebody looks for, and where
    they think it is: `answer_goal`. Where things are, in the minds of those who saw them moved: `answer_where`.
    Abstains, saying why, if none of them can tell.
    """
    claims = [*question.given, *(claim for option in question.options for claim in option.claims)]
    try:
        if any(_is_social(claim) for claim in claims):
            return answer_social(episode, question)
        if any(isinstance(claim, Goal) for claim in claims):
            return answer_goal(episode, question)
        seen = answer_where(episode, question, conventions)
        spoken = any(isinstance(said, Utterance) and said.act == "ask" for said in episode.timeline)
        plain = all(isinstance(claim, Belief) and isinstance(claim.content, Fact) for claim in claims)
        return answer_social(episode, question) if seen.option is None and spoken and plain else seen
    except CannotAnswer as error:
        return Answer(None, (1.0 / len(question.options),) * len(question.options), (), str(error))


def _is_social(claim: Claim) -> bool:
    return isinstance(claim, SocialGoal | Knows) or (isinstance(claim, Belief) and isinstance(claim.content, Goal))


def ask(
    story: str | Reading,
    stem: str,
    options: Sequence[str],
    conventions: Conventions = EVERYDAY,
    least: float = COVERAGE,
) -> Asked:
    """Read a story and a question about it, and answer; abstain if less than `least` of the story could be read, or if
    the question could not."""
    reading = read_story(story) if isinstance(story, str) else story
    even = (1.0 / max(len(options), 1),) * len(options)
    try:
        question = read_question(stem, options, reading)
    except Unread as error:
        return Asked(reading, None, Answer(None, even, (), f"cannot read the question: {error.sentence}"))
    if reading.coverage < least:
        unread = reading.unread[0] if reading.unread else "the story"
        why = f"could read only {reading.coverage:.0%} of the story; not: {unread}"
        return Asked(reading, question, Answer(None, (1.0 / len(question.options),) * len(question.options), (), why))
    return Asked(reading, question, answer(reading.episode, question, conventions))


def fuse(text: Reading, video: Reading | None = None, frames: Frames | None = None) -> Reading:
    """What a text tells together with what a video model saw and a scene graph shows of the same people.

    Speech is taken from the text if it has any. Of the people the text does not name nothing is taken over.
    """
    episode, timeline = text.episode, list(text.episode.timeline)
    spoken = any(isinstance(happening, Utterance) for happening in timeline)
    entities = list(episode.entities)
    if video is not None:
        people = set(episode.agents) if len(episode.agents) > 1 else {*episode.agents, *video.episode.agents}
        timeline += [h for h in video.episode.timeline if _of(h, people) and not (spoken and isinstance(h, Utterance))]
        known = {entity.id for entity in entities}
        entities += [entity for entity in video.episode.entities if entity.id not in known]
        episode = replace(episode, agents=tuple(dict.fromkeys((*episode.agents, *sorted(people)))))
    asked = next((h for h in timeline if isinstance(h, Utterance) and h.act == "ask" and h.content), None)
    if frames is not None and asked is not None and asked.content is not None:
        places = _places(entities, timeline)
        timeline += scene_events(frames, asked.speaker, asked.content.subject, places)
    timed = tuple(replace(happening, t=t) for t, happening in enumerate(timeline))
    return replace(text, episode=replace(episode, entities=tuple(entities), timeline=timed))


def _of(happening: Happening, people: set[str]) -> bool:
    return (happening.speaker if isinstance(happening, Utterance) else happening.agent) in people


def _places(entities: Sequence[Entity], timeline: Sequence[Happening]) -> dict[str, str]:
    """Scene graphs do not tell rooms apart: a name stands for the place spoken of, if it is of that kind."""
    spoken = [h.content.value for h in timeline if isinstance(h, Utterance) and h.content and h.content.value]
    handled = [h.place for h in timeline if isinstance(h, Event) and h.place]
    places: dict[str, str] = {}
    for name in (*spoken, *handled, *(e.id for e in entities if e.kind == "place"), *USUAL_PLACES):
        places.setdefault(squeezed(name), name)
        for room in ("kitchen", "living room", "bedroom", "bathroom"):
            places.setdefault(squeezed(name.removeprefix(f"{room} ")), name)
    return places
