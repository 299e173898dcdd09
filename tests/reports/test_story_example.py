"""A story in a report: its clauses as they were read, its answers, and what decides between them."""

from __future__ import annotations

import math
import re

import pytest

from otherminds.reports.story_example import story_example
from otherminds.stories.answering import StoryAnswer, ask
from otherminds.stories.english.reading import read_story
from otherminds.stories.model import Answer, ClauseAccount, Episode, Event, Fact, Reading, Term, abstention

PUT = Event(0, "Ida", "put", "comb", "jar")
LEFT = Event(1, "Ida", "leave", room="attic")
STORY = Reading(
    Episode("", ("Ida",), init=(Fact("in_room", "Ida", "attic"), Fact("at", "comb", "shelf")), timeline=(PUT, LEFT)),
    clauses=(
        ClauseAccount("Ida is in the attic.", "fact"),
        ClauseAccount("The comb is on the shelf.", "fact"),
        ClauseAccount("Ida puts the comb into the jar and leaves.", "event"),
        ClauseAccount("It rains.", "no effect", t=2),
        ClauseAccount("Ida frobs.", "unread", t=2),
    ),
)
OPTIONS = ("the <jar>", "the shelf")


def cells(page: str) -> list[list[str]]:
    """The text of the cells of all rows."""
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [[re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<t[dh].*?>(.*?)</t[dh]>", row)] for row in rows]


def test_each_clause_stands_beside_what_was_read_of_it() -> None:
    page = story_example(StoryAnswer(STORY, None, abstention(2, "nobody knows")), "Where is it?", OPTIONS)
    assert cells(page) == [
        ["Story", "Read as"],
        ["Ida is in the attic.", "Ida is in the attic."],
        ["The comb is on the shelf.", "The comb is at the shelf."],
        ["Ida puts the comb into the jar and leaves.", "Ida puts the comb at the jar. Ida leaves the attic."],
        ["It rains.", "It changes nothing."],
        ["Ida frobs.", "Not read."],
    ]
    assert "<p>Open: nobody knows</p>" in page


@pytest.mark.parametrize(
    ("log_probs", "grounds"),
    [
        ([(0.0, -math.inf), (0.0, -math.inf)], ["Ida puts the comb at the jar.", "Ida leaves the attic."]),
        ([(0.0, math.log(0.25)), (0.0, 0.0)], ["Ida puts the comb at the jar.", "1.00", "0.25"]),
        ([(0.0, -math.inf), (0.0, math.log(0.5))], ["Ida puts the comb at the jar.", "1.00", "0.00"]),
    ],
)
def test_the_answer_stands_beside_its_probability_and_grounds(
    log_probs: list[tuple[float, float]], grounds: list[str]
) -> None:
    terms = tuple(Term(e.t, e, p) for e, p in zip((PUT, LEFT), log_probs, strict=True))
    page = story_example(StoryAnswer(STORY, None, Answer(0, (0.8, 0.2), terms)), "Where is it?", OPTIONS)
    answers = cells(page)[6:]
    assert answers[:3] == [["Where is it?", "Probability"], ["A) the &lt;jar&gt;", "0.80"], ["B) the shelf", "0.20"]]
    assert "<strong>A) the &lt;jar&gt;</strong>" in page
    together = "Together these leave no other answer possible." in page
    assert answers[3] == (["The answer rests on"] if together else ["The answer rests on", "if A", "if B"])
    assert ([row[0] for row in answers[4:]] if together else answers[4]) == grounds


def test_a_story_in_words_is_shown_with_its_answer() -> None:
    story = "Ida and Olaf are in the attic. Ida puts the comb in the jar. Ida leaves the attic. Olaf opens the sack."
    options = ("in the jar", "in the sack")
    page = story_example(ask(read_story(story), "Where will Ida look for the comb?", options), "Where?", options)
    assert [row[1] for row in cells(page)[2:5]] == [
        "Ida puts the comb at the jar.",
        "Ida leaves the attic.",
        "Olaf opens the sack.",
    ]
    assert ["A) in the jar", "1.00"] in cells(page)
