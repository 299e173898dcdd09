"""Stories that lack words, or are out of order: nothing crashes, and what was lost is not made up."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.evidence.fuzzed_stories import counts
from otherminds.stories.answering import answer_benchmark
from otherminds.stories.english.reading import read_story
from otherminds.stories.homes import home_of
from otherminds.stories.model import Entity, Episode, Observation

HALL = "Ann walks into the kitchen. "


@pytest.mark.slow
def test_whole_sentences_without_sense_mislead_nobody_and_nothing_crashes() -> None:
    found = sum((counts(k, seed=5) for k in range(8)), Counter[tuple[str, str]]())
    assert not any(outcome == "crash" for _, outcome in found)
    assert found["nonsense put in", "contradicted, sure"] == found["nonsense put in", "contradicted"] == 0
    assert found["nonsense put in", "right, sure"] > 0
    wrong, right = (
        sum(n for (_, what), n in found.items() if what == f"{one}, sure") for one in ("contradicted", "right")
    )
    assert wrong <= 0.05 * right, found


@pytest.mark.parametrize(
    "garbled",
    [
        "Ann sees no cup in the in the kitchen.",
        "Ann puts the cup on the.",
        "Ann puts the on the table.",
        'Bob said, "The cup is in the in the hall."',
        'Ann went, the cup is on the table."',
        "Ann does not the cup on the table.",
        "Ann found no cup.",
    ],
)
def test_a_sentence_that_lacks_words_is_unread(garbled: str) -> None:
    reading = read_story(HALL + garbled)
    assert [clause.outcome for clause in reading.clauses] == ["event", "unread"], reading.clauses


def test_what_lacks_the_thing_may_be_about_it() -> None:
    story = "Ann put the lantern on the raft. Ann left. Bob puts the on the table. Bob sighed."
    for question, options in (
        ("Where is the lantern?", ()),
        ("Where is the lantern?", ("on the raft", "on the table")),
    ):
        assert answer_benchmark(story, question, options).answer.option is None


def test_a_clause_that_is_told_in_another_order_is_quoted_as_written() -> None:
    found = read_story("Ann opened the box. There was not any cup in the box, as she could see.").clauses[1]
    assert (found.outcome, found.text) == ("observation", "There was not any cup in the box, as she could see")


def test_an_absence_that_is_not_understood_is_unread() -> None:
    found = read_story(HALL + "Ann put out a hand, Ann noted the absence of any cup in the box.").clauses
    assert [clause.outcome for clause in found] == ["event", "unread", "unread"]


def test_a_room_into_which_something_is_put_remains_a_room() -> None:
    shelf, room = (Entity("hall shelf", "place", "hall"), Entity("hall", "place"))
    assert [place.name for place in home_of(Episode("", (), (shelf, room), complete=True)).places] == ["hall shelf"]
    furnished = home_of(Episode("", (), (Entity("bathroom", "place"),)))
    assert "bathroom" in furnished.rooms


def test_a_missing_stop_ends_a_sentence() -> None:
    reading = read_story("Ann goes to the kitchen She takes the cup The cup is blue.")
    assert [(event.verb, event.obj) for event in reading.episode.events] == [("walk", None), ("grab", "cup")]


def test_no_cup_is_no_cup() -> None:
    seen = read_story(HALL + "There was no cup on the table in the kitchen.").episode.timeline[-1]
    assert isinstance(seen, Observation)
    assert not seen.sees
    unseen = read_story("There was no cup on the table in the kitchen.")
    assert [clause.outcome for clause in unseen.clauses] == ["unread"]
