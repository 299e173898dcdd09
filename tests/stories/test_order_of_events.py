"""When a thing is moved, and who is there: the same move told in many ways, with a second reader's oracle by hand."""

from __future__ import annotations

import pytest

from otherminds.stories.answering import answer_benchmark
from otherminds.stories.english.reading import read_story

BEFORE = "Ann put the cup in the fridge in the kitchen and left the kitchen. "

UNSEEN = [
    "While Ann was away, Bob moved the cup to the cabinet.",
    "Bob moved the cup to the cabinet while Ann was still out.",
    "Before Ann came back into the kitchen, Bob moved the cup to the cabinet.",
    "Bob moved the cup to the cabinet just before Ann returned to the kitchen.",
    "By the time Ann came back into the kitchen, Bob had moved the cup to the cabinet.",
    "When Ann came back into the kitchen, Bob had already moved the cup to the cabinet.",
    "Bob had moved the cup to the cabinet when Ann came back into the kitchen.",
    "Ann came back into the kitchen. Earlier, Bob had moved the cup to the cabinet.",
    "Ann came back into the kitchen. In the meantime, Bob had moved the cup to the cabinet.",
    "Ann came back into the kitchen, but Bob had moved the cup to the cabinet before that.",
    "Bob moved the cup to the cabinet. Only then did Ann come back into the kitchen.",
    "No sooner had Ann left than Bob moved the cup to the cabinet.",
    "Ann had hardly left when Bob moved the cup to the cabinet.",
    "The moment Ann left, Bob moved the cup to the cabinet.",
    "With Ann gone, Bob moved the cup to the cabinet.",
    "During Ann's absence, Bob moved the cup to the cabinet.",
]
SEEN = [
    "When Ann came back into the kitchen, Bob moved the cup to the cabinet.",
    "Once Ann was back in the kitchen, Bob moved the cup to the cabinet.",
    "Before Bob moved the cup to the cabinet, Ann came back into the kitchen.",
    "Ann came back into the kitchen before Bob moved the cup to the cabinet.",
    "Ann came back into the kitchen. After that, Bob moved the cup to the cabinet.",
    "Bob moved the cup to the cabinet right after Ann returned to the kitchen.",
    "Shortly after Ann came back into the kitchen, Bob moved the cup to the cabinet.",
    "Only after Ann had come back into the kitchen did Bob move the cup to the cabinet.",
    "Not until Ann had come back into the kitchen did Bob move the cup to the cabinet.",
    "Bob did not move the cup to the cabinet until Ann came back into the kitchen.",
    "Bob waited until Ann had come back into the kitchen. Then he moved the cup to the cabinet.",
    "The moment Ann came back into the kitchen, Bob moved the cup to the cabinet.",
    "Ann was back in the kitchen when Bob moved the cup to the cabinet.",
    "When Bob moved the cup to the cabinet, Ann was in the kitchen.",
]
OPEN = "Bob moved the cup to the cabinet as Ann came back into the kitchen."


@pytest.mark.parametrize("told", [*UNSEEN, *SEEN])
def test_who_was_there_knows_of_a_move(told: str) -> None:
    found = answer_benchmark(BEFORE + told, "Where will Ann look for the cup?", [])
    assert found.question is not None
    assert found.answer.option is not None, found.answer.abstained
    where = found.question.labels[found.answer.option]
    assert ("fridge" if told in UNSEEN else "cabinet") in where


def test_what_may_have_been_before_or_after_is_open() -> None:
    assert answer_benchmark(BEFORE + OPEN, "Where will Ann look for the cup?", []).answer.option is None
    (doubtful,) = [clause for clause in read_story(BEFORE + OPEN).clauses if clause.outcome == "unread"]
    assert doubtful.reason == "may be before or after"
