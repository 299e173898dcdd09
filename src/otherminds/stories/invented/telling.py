"""Invented stories in English: the same happenings and questions in any of several phrasings (phrasings.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from otherminds.errors import unknown
from otherminds.files.toml import packaged
from otherminds.stories import model as stories
from otherminds.stories.invented.playing import NAMES

Phrasing = Mapping[str, str | list[str]]
P_PRONOUN = 0.7  # probability that a sentence about the same person as the one before has a pronoun; chosen, not tuned


@dataclass(frozen=True)
class ToldStory:
    """A story, its question and its options in English."""

    story: str
    question: str
    options: tuple[str, ...]


@cache
def phrasings() -> Mapping[str, Phrasing]:
    """All phrasings, by name."""
    return packaged("otherminds.stories.invented", "phrasings.toml")


def tell(
    episode: stories.Episode, question: stories.Question, phrasing: str | Phrasing, rng: np.random.Generator
) -> ToldStory:
    """The episode and its question in a phrasing, or in one of those by name. Raises InputError for an unknown name."""
    if isinstance(phrasing, str) and phrasing not in phrasings():
        raise unknown("phrasing", phrasing, phrasings())
    words = phrasings()[phrasing] if isinstance(phrasing, str) else phrasing
    sentences, before = [], ""
    for happening in episode.timeline:
        key, fields = _parts(episode, happening)
        agent = happening.speaker if isinstance(happening, stories.Utterance) else happening.agent
        sentence = str(rng.choice(words[key]))
        uses_pronoun = agent == before and not isinstance(happening, stories.Utterance) and rng.random() < P_PRONOUN
        name = pronoun(agent) if uses_pronoun else agent
        sentences.append(_fill(sentence, A=name, their=_their(agent), they=pronoun(agent), **fields))
        before = agent
    options = tuple(_option(episode, option, words) for option in question.options)
    return ToldStory(" ".join(sentences), _stem(episode, question, words), options)


def _fill(sentence: str, **fields: str) -> str:
    filled = sentence.format(**fields)
    return filled[0].upper() + filled[1:]


def pronoun(name: str) -> str:
    """The pronoun "she" or "he"; every other name in `NAMES` is a woman's."""
    return "she" if name in NAMES[::2] else "he"


def _their(name: str) -> str:
    return "her" if pronoun(name) == "she" else "his"


def _parts(episode: stories.Episode, happening: stories.Happening) -> tuple[str, dict[str, str]]:
    """The key of the sentences for a happening, and the values of their fields."""
    match happening:
        case stories.Event(verb="walk", place=None, room=room):
            return "walk_room", {"R": room or ""}
        case stories.Event(verb=verb, obj=thing, place=place):
            key = "walk_place" if verb == "walk" else verb
            return key, {"O": thing or "", **_where(episode, place)}
        case stories.Observation(fact=stories.Fact(subject=thing, value=place), sees=sees):
            return "sees" if sees else "sees_not", {"O": thing, **_where(episode, place)}
        case stories.Utterance(act=act, content=content):
            thing, place = (content.subject, content.value) if content is not None else ("", None)
            return "tell" if act == "assert" else act, {"O": thing, **_where(episode, place)}


def _where(episode: stories.Episode, place: str | None) -> dict[str, str]:
    """The fields of a place: as a noun (P), with its preposition (at), and as an origin (from)."""
    entity = next((entity for entity in episode.entities if entity.id == place), None)
    if entity is None or place is None:
        return {}
    kind = place.removeprefix(f"{entity.room} ")
    noun = f"the {kind} in the {entity.room}"
    return {"P": noun, "at": f"{entity.relation} {noun}", "from": f"from {noun}"}


def _stem(episode: stories.Episode, question: stories.Question, words: Phrasing) -> str:
    """The words of the question, by what it supposes: that the companion knew a place, or helped, or hindered."""
    most = question.polarity.upper()
    for claim in question.conditions:
        if isinstance(claim, stories.Knows):
            return _fill(str(words["knows"]), I=claim.agent, most=most, **_where(episode, claim.place))
        if isinstance(claim, stories.SocialGoal):
            key = "helping" if claim.kind == "help" else "hindering"
            return _fill(str(words[key]), I=claim.agent, J=claim.toward, most=most)
    return _fill(str(words["open_question"]), most=most)


def _option(episode: stories.Episode, option: stories.AnswerOption, words: Phrasing) -> str:
    """An option of the question in words. Raises ValueError for claims that no phrasing has words for."""
    match option.claims:
        case (stories.Belief(agent, stories.Fact(subject=thing, value=place)),):
            return _fill(str(words["believed"]), I=agent, O=thing, **_where(episode, place))
        case (stories.SocialGoal(agent, toward, kind),):
            sought = next(utterance.content.subject for utterance in episode.utterances if utterance.content)
            return _fill(str(words[kind]), I=agent, J=toward, O=sought)
        case (stories.Belief(agent, stories.Goal(other, content)), stories.SocialGoal(kind=kind)):
            key = "wants_unknown" if content is None else f"wants_{kind}"
            place_words = _where(episode, content.value if content is not None else None)
            moved = next(event.obj for event in episode.events if event.obj)
            return _fill(str(words[key]), I=agent, J=other, O=moved, their=_their(agent), **place_words)
    raise ValueError(f"no phrasing has words for {option}")
