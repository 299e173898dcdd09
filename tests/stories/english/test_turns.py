"""Who asks and who answers, where no verb of saying with its subject and its words tells it."""

from __future__ import annotations

import pytest

from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Utterance

BEGINS = "Ann and Ben are in the hall. "
ASKS = BEGINS + "Ann asked Ben where the cup was. "


def said(story: str) -> list[tuple[str, str, str | None]]:
    """The speaker, the act and the place of what is said."""
    told = read_story(story).episode.utterances
    return [(one.speaker, one.act, one.content.value if one.content else None) for one in told]


@pytest.mark.parametrize(
    "answer",
    [
        "From the door came Ben's answer: he had found it on the desk.",
        "He had seen the cup, he called over his shoulder, on the desk.",
        '"On the desk," came from the door, "that is where I found it."',
    ],
)
def test_what_is_found_in_one_place_answers_the_question(answer: str) -> None:
    assert said(ASKS + answer) == [("Ann", "ask", None), ("Ben", "assert", "desk")]


@pytest.mark.parametrize(
    "more",
    [
        "While she gave him her answer she was crossing to the desk.",
        "He had not found the cup on the desk, he told her.",
    ],
)
def test_what_denies_or_names_no_one_place_is_no_answer(more: str) -> None:
    assert [one for one in said(ASKS + more) if one[1] == "assert"] == []


@pytest.mark.parametrize(
    "question",
    [
        "Ben heard Ann wonder aloud whether anybody knew where the cup was.",
        "It occurred to Ann to ask whether Ben knew where the cup was.",
        "Did Ben know where the cup was?",
        '"Do you know where the cup is?" Ann took off her coat as she put the question.',
    ],
)
def test_who_asks_where_a_thing_is(question: str) -> None:
    assert ("Ann", "ask", None) in said(BEGINS + "Ann put the cup on the desk. " + question)


def test_what_the_teller_asks_is_asked_by_nobody_in_the_story() -> None:
    assert said(BEGINS + "Ann put the cup on the desk. Did Ben know where the cup was, children?") == []


def test_a_quote_that_stands_alone_is_of_whoever_speaks_next() -> None:
    reading = read_story('"The cup is on the desk." That was what Ben told Ann. Ann went to the desk.')
    told = [one for one in reading.episode.timeline if isinstance(one, Utterance)]
    assert [one.speaker for one in told] == ["Ben"]
    assert not any('"' in one for one in reading.unread)


def test_who_does_not_look_up_misses_what_was_moved_last() -> None:
    story = BEGINS + "Ann put the cup on the desk. Ann put the cup in the box. Ben did not look up from the page."
    seen = [one for one in read_story(story).episode.timeline if one.type == "observation"]
    assert [(one.agent, one.sees) for one in seen] == [("Ben", False)]


def test_a_caption_tells_what_is_seen_to_be_done() -> None:
    caption = "Ann walks into the hall and bends over to pick up the cup from the desk. Ann walks into the kitchen."
    taken = [one.verb for one in read_story(caption, source="video").episode.events]
    assert "grab" in taken
    assert "grab" not in [one.verb for one in read_story(caption).episode.events]
