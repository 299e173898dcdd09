"""Stories put into words: everything is told, in order, and the question gives nothing away."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from otherminds.errors import InputError
from otherminds.stories.invented.invention import Story, invent
from otherminds.stories.invented.playing import NAMES
from otherminds.stories.invented.telling import ToldStory, phrasings, pronoun, tell
from otherminds.stories.model import (
    AnswerOption,
    Belief,
    Episode,
    Event,
    Fact,
    Goal,
    Happening,
    Observation,
    Question,
    SocialGoal,
    Stance,
    Utterance,
)

KEYS = {
    "walk_room", "walk_place", "open", "close", "grab", "put", "sees", "sees_not", "ask", "tell", "unsure", "silence",
    "knows", "helping", "hindering", "open_question", "believed", "help", "hinder", "independent", "wants_help",
    "wants_hinder", "wants_unknown",
}  # fmt: skip

STRAIGHT = ("plain", "flowing", "present")
"""Phrasings that name who, what and where in this order."""


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    return list(invent(360, np.random.default_rng(12)))


def told(story: Story, phrasing: str, seed: int = 0) -> ToldStory:
    return tell(story.episode, story.question, phrasing, np.random.default_rng(seed))


def test_every_phrasing_has_words_for_everything() -> None:
    assert len(phrasings()) >= 3
    for words in phrasings().values():
        assert set(words) == KEYS
        for key in ("walk_room", "walk_place", "open", "close", "grab", "put", "sees", "sees_not", "ask", "tell"):
            assert isinstance(words[key], list)
            assert words[key]


@pytest.mark.slow
def test_an_unknown_phrasing_is_refused(stories: list[Story]) -> None:
    with pytest.raises(InputError, match=r"sung.*plain"):
        told(stories[0], "sung")


@pytest.mark.slow
@pytest.mark.parametrize("phrasing", list(STRAIGHT))
def test_within_a_group_the_questions_and_options_are_word_for_word_the_same(
    stories: list[Story], phrasing: str
) -> None:
    for _, group in groupby(stories, lambda story: story.group):
        three = list(group)
        texts = {(text.question, text.options) for text in (told(story, phrasing, i) for i, story in enumerate(three))}
        assert len(texts) == 1
        assert len(set(next(iter(texts))[1])) == 3
        assert sorted(story.gold for story in three) == [0, 1, 2]
        assert len({told(story, phrasing).story for story in three}) == 3


@pytest.mark.slow
def test_who_guesses_from_the_words_of_the_question_is_at_chance() -> None:
    """The options whose words were right most often in one half of the groups are right a third of the time in the
    other."""
    stories = list(invent(600, np.random.default_rng(13)))
    names = list(phrasings())
    texts = [told(story, names[i // 3 % len(names)]) for i, story in enumerate(stories)]
    half = len(stories) // 2
    right, seen = Counter[str](), Counter[str]()
    for story, text in zip(stories[:half], texts[:half], strict=True):
        for i, option in enumerate(text.options):
            for word in words_of(text, i, option):
                seen[word] += 1
                right[word] += i == story.gold
    hits = 0
    for story, text in zip(stories[half:], texts[half:], strict=True):
        scores = [
            sum(np.log((right[w] + 1) / (seen[w] + 3)) for w in words_of(text, i, option))
            for i, option in enumerate(text.options)
        ]
        hits += int(np.argmax(scores)) == story.gold
    assert hits / half == pytest.approx(1 / 3, abs=0.05)


def words_of(text: ToldStory, i: int, option: str) -> list[str]:
    asked = "LEAST" if "LEAST" in text.question else "MOST"
    return [f"{asked} {word}" for word in {*re.findall(r"\w+", option), f"option {i}"}]


def test_the_same_seed_finds_the_same_words(stories: list[Story]) -> None:
    for story in stories[::20]:
        for phrasing in phrasings():
            assert told(story, phrasing, 3) == told(story, phrasing, 3)
    several = {told(stories[0], "flowing", seed).story for seed in range(20)}
    assert len(several) > 1


@pytest.mark.parametrize("phrasing", list(STRAIGHT))
def test_every_happening_has_a_sentence_that_names_what_it_is_about_in_their_order(
    stories: list[Story], phrasing: str
) -> None:
    for story in stories[::4]:
        text, at = told(story, phrasing).story, 0
        for happening in story.episode.timeline:
            for needed in mentions(story.episode, happening):
                found = text.find(needed, at)
                assert found >= 0, (needed, text)
            at = max(text.find(needed, at) for needed in mentions(story.episode, happening) or [""])
        assert len(re.findall(r"[.?]\"?(?: |$)", text)) >= len(story.episode.timeline)
        assert "None" not in text
        assert not re.search(r"[{}]", text)


def mentions(episode: Episode, happening: Happening) -> list[str]:
    """The nouns a sentence cannot do without."""
    match happening:
        case Event(verb="walk", place=None, room=room):
            return [f"the {room}"]
        case Event(obj=thing, place=place):
            return [*([f"the {thing}"] if thing else []), noun(episode, place)]
        case Observation(fact=fact):
            return [fact.subject, noun(episode, fact.value)]
        case Utterance(act="assert", content=Fact(value=place)):
            return [noun(episode, place)]
        case Utterance(act="ask", content=Fact(subject=thing)):
            return [thing]
    return []


def noun(episode: Episode, place: str | None) -> str:
    room = next(entity.room for entity in episode.entities if entity.id == place)
    return f"the {str(place).removeprefix(f'{room} ')} in the {room}"


@pytest.mark.parametrize("phrasing", list(STRAIGHT))
def test_people_are_named_whenever_somebody_else_has_acted_before(stories: list[Story], phrasing: str) -> None:
    for story in stories[::4]:
        text = told(story, phrasing).story
        for name in {told_of.agent for told_of in story.episode.timeline if isinstance(told_of, Event)}:
            assert name in text
        sentences = re.split(r"(?<=[.?])\"? ", text)
        first = story.episode.timeline[0]
        who = first.speaker if isinstance(first, Utterance) else first.agent
        assert who in sentences[0] or (len(sentences) > 1 and who in sentences[1])


def test_she_and_he_are_the_same_people_in_the_whole_story() -> None:
    assert {pronoun(name) for name in NAMES} == {"she", "he"}
    assert pronoun("Ada") == "she"
    assert pronoun("Ben") == "he"
    assert Counter(pronoun(name) for name in NAMES)["she"] == len(NAMES) // 2


@pytest.mark.parametrize("phrasing", list(STRAIGHT))
def test_questions_say_what_is_given_which_polarity_and_whom_they_are_about(
    stories: list[Story], phrasing: str
) -> None:
    for story in stories[::3]:
        text, companion = told(story, phrasing), story.episode.agents[1]
        assert story.question.polarity.upper() in text.question
        assert {"most": "LEAST", "least": "MOST"}[story.question.polarity] not in text.question
        assert (companion in text.question) == bool(story.question.conditions)
        assert all(option.startswith(companion) for option in text.options)
        for option, words in zip(story.question.options, text.options, strict=True):
            for claim in option.claims:
                if isinstance(claim, Belief) and isinstance(claim.content, Fact):
                    assert noun(story.episode, claim.content.value) in words
                elif isinstance(claim, Belief) and isinstance(claim.content, Goal) and claim.content.content:
                    assert noun(story.episode, claim.content.content.value) in words


def test_of_claims_no_phrasing_has_words_for_nothing_is_told(stories: list[Story]) -> None:
    story = stories[0]
    odd = Question("?", (AnswerOption((Goal("Ada"), SocialGoal("Ada", "Ben", "help"))),))
    with pytest.raises(ValueError, match="no phrasing has words"):
        tell(story.episode, odd, "plain", np.random.default_rng(0))


@pytest.mark.parametrize("phrasing", list(STRAIGHT))
def test_seeing_and_not_seeing_and_helping_and_hindering_are_told_apart(stories: list[Story], phrasing: str) -> None:
    story = next(story for story in stories if story.cell.startswith("belief/") and story.question.conditions)
    seeker, companion = story.episode.agents
    stances: dict[Stance, str] = {"help": "help", "hinder": "hinder|prevent"}
    for stance, words in stances.items():
        question = replace(story.question, conditions=(SocialGoal(companion, seeker, stance),))
        assert re.search(words, tell(story.episode, question, phrasing, np.random.default_rng(0)).question)
    place = next(e.id for e in story.episode.entities if e.kind == "place")
    seen = [
        tell(replace(story.episode, timeline=(*story.episode.timeline, look)), story.question, phrasing, rng).story
        for look in (Observation(99, companion, Fact("at", "cup", place), sees) for sees in (True, False))
        for rng in [np.random.default_rng(0)]
    ]
    last = [re.split(r"(?<=[.?\"]) ", text)[-1] for text in seen]
    assert not re.search(r"\bnot?\b", last[0])
    assert re.search(r"\bnot?\b", last[1])
