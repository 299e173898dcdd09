"""From a story and a question, in words or as data, to an answer: read, check that enough was read, infer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otherminds.minds.companion import RESERVED, Manners
from otherminds.stories.conventions import EVERYDAY, Conventions
from otherminds.stories.goals import answer_goal
from otherminds.stories.homes import USUAL, usual_places
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
UNNAMED = 0.75


@dataclass(frozen=True)
class Asked:
    """A question as it was read (None: it could not be), what was read of the story, and the answer."""

    reading: Reading
    question: Question | None
    answer: Answer


def answer(
    episode: Episode, question: Question, conventions: Conventions = EVERYDAY, manners: Manners = RESERVED
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
    except CannotAnswer as error:
        return Answer(None, (1.0 / len(question.options),) * len(question.options), (), str(error))


def _is_social(claim: Claim) -> bool:
    return isinstance(claim, SocialGoal | Knows) or (isinstance(claim, Belief) and isinstance(claim.content, Goal))


def ask(
    story: str | Reading,
    stem: str,
    options: Sequence[str],
    *,
    conventions: Conventions = EVERYDAY,
    manners: Manners = RESERVED,
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
    return Asked(reading, question, answer(reading.episode, question, conventions, manners))


def fuse(text: Reading, video: Reading | None = None, frames: Frames | None = None) -> Reading:
    """What a text tells together with what a video model saw and a scene graph shows of the same people.

    What the text tells to be said is taken from there, and happens when the video has something being said. Of people
    whom the text does not name, if it names two, nothing is taken over.
    """
    told, entities = list(text.episode.timeline), list(text.episode.entities)
    asked = next((h for h in told if isinstance(h, Utterance) and h.act == "ask" and h.content), None)
    timeline: list[Happening] = list(told)
    people = set(text.episode.agents)
    if video is not None:
        people |= set() if len(people) > 1 else set(video.episode.agents)
        same = _same_places(entities, video.episode.entities)
        shown = [_renamed(h, same) for h in video.episode.timeline if _agent(h) in people]
        known = {entity.id for entity in entities}
        entities += [e for e in video.episode.entities if e.id not in known and e.id not in same]
        timeline = _aligned(told, shown, {e.id for e in text.episode.entities}) if asked else [*told, *shown]
    if frames is not None and asked is not None and asked.content is not None:
        timeline[:0] = scene_events(frames, asked.content.subject, _places(entities, timeline))
    timed = tuple(replace(happening, t=t) for t, happening in enumerate(timeline))
    agents = tuple(dict.fromkeys((*text.episode.agents, *sorted(people))))
    return replace(text, episode=replace(text.episode, agents=agents, entities=tuple(entities), timeline=timed))


def _agent(happening: Happening) -> str:
    return happening.speaker if isinstance(happening, Utterance) else happening.agent


def _renamed(happening: Happening, places: Mapping[str, str]) -> Happening:
    if isinstance(happening, Event) and happening.place in places:
        return replace(happening, place=places[happening.place])
    return happening


def _aligned(told: Sequence[Happening], shown: Sequence[Happening], named: set[str]) -> list[Happening]:
    """What was said goes where the video has the last of the talk; without talk in the video, first."""
    talk = [i for i, happening in enumerate(shown) if isinstance(happening, Utterance)]
    after = talk[-1] if talk else 0
    seen = [_doubted(h, named) if isinstance(h, Event) else h for h in shown]
    kept = [[h for h in part if not isinstance(h, Utterance)] for part in (seen[:after], seen[after:])]
    return [*kept[0], *told, *kept[1]]


def _same_places(text: Sequence[Entity], video: Sequence[Entity]) -> dict[str, str]:
    """Places of which the video does not tell the room: those of the text, or of any home, that are of the same kind."""
    known = [*(entity.id for entity in text if entity.kind == "place"), *usual_places()]
    roomless = [entity.id for entity in video if entity.kind == "place" and entity.room is None]
    fits = {name: [place for place in known if place.endswith(f" {name}")] for name in roomless if name not in known}
    return {name: places[0] for name, places in fits.items() if places}


def _doubted(event: Event, named: set[str]) -> Event:
    """A thing that a video model names and the text does not is some thing or other; of that it is less sure."""
    if event.obj in named or (event.obj is None and event.verb != "grab"):
        return event
    return replace(event, obj=None, p=event.p * UNNAMED)


def _places(entities: Sequence[Entity], timeline: Sequence[Happening]) -> dict[str, str]:
    """Scene graphs do not tell rooms apart: a name stands for the place spoken of, if it is of that kind."""
    spoken = [h.content.value for h in timeline if isinstance(h, Utterance) and h.content and h.content.value]
    handled = [h.place for h in timeline if isinstance(h, Event) and h.place]
    places: dict[str, str] = {}
    for name in (*spoken, *handled, *(e.id for e in entities if e.kind == "place"), *usual_places()):
        places.setdefault(squeezed(name), name)
        if name not in ("kitchen cabinet", "bathroom cabinet"):
            for room in USUAL:
                places.setdefault(squeezed(name.removeprefix(f"{room} ")), name)
    return places
