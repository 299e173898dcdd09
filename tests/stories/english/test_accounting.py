"""Every clause of a story is accounted for: what is dropped by a function that reads clauses is reported as unread."""

from __future__ import annotations

import pytest

from otherminds.stories.english.events import handlers
from otherminds.stories.english.reading import read_story

BEFORE = "Ann and Bob are in the kitchen. The milk is in the fridge. "
CLAUSES = {
    "walk": "Ann walked to the hall.",
    "approach": "Ann approached the fridge.",
    "arrive": "Ann arrived in the hall.",
    "enter": "Ann entered the hall.",
    "return": "Ann returned to the hall.",
    "leave": "Ann left the kitchen.",
    "follow": "Ann followed Bob.",
    "open": "Ann opened the fridge.",
    "close": "Ann closed the fridge.",
    "grab": "Ann grabbed the milk.",
    "put": "Ann put the milk on the table.",
    "move": "Ann moved the milk to the table.",
    "look": "Ann looked in the fridge.",
    "find": "Ann found the milk in the fridge.",
    "see": "Ann saw that the milk was in the fridge.",
    "think": "Ann knew that the milk was in the fridge.",
    "say": 'Ann said: "The milk is in the fridge."',
    "ask": 'Ann asked: "Where is the milk?"',
    "stay": "Ann stayed in the kitchen.",
    "contain": "The cabinet contained a plate.",
    "feature": "The kitchen featured a stove.",
    "noise": "Ann smiled.",
    "shrug": "Ann shrugged.",
    "be": "The plate was on the table.",
    "have": "The fridge had a plate in it.",
    "want": "Ann wanted to find the milk.",
    "silence": "Ann kept silent.",
    "direct": "Ann pointed to the fridge.",
    "suggest": "Ann suggested looking in the fridge.",
    "begin": "Ann started towards the fridge.",
}


def test_there_is_a_clause_for_every_function_that_reads_clauses() -> None:
    assert CLAUSES.keys() == handlers.HANDLERS.keys()


@pytest.mark.parametrize("sense", sorted(CLAUSES.keys() - {"want"}))  # wishing is no event, whoever reads it
def test_a_clause_that_a_function_drops_is_reported(sense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    story = BEFORE + CLAUSES[sense]
    for name in handlers.HANDLERS:  # whichever function reads it says that it was read, and adds nothing
        monkeypatch.setitem(handlers.HANDLERS, name, lambda *_: True)
    monkeypatch.setattr("otherminds.stories.english.reading.be", lambda *_: True)
    reading = read_story(story)
    dropped = next(one for one in reading.clauses if one.text in CLAUSES[sense])
    assert dropped.outcome == "unread"
    assert any(CLAUSES[sense].startswith(one) for one in reading.unread)
    assert reading.coverage < 1.0


@pytest.mark.parametrize(
    ("clause", "outcome", "reason"),
    [
        ("Ann opened the fridge.", "event", ""),
        ("Ann saw that the milk was in the fridge.", "observation", ""),
        ("The plate was on the table.", "fact", ""),
        ("Ann smiled.", "no effect", "an activity"),
        ("Ann did not open the fridge.", "no effect", "did not happen"),
        ("Ann wanted to find the milk.", "no effect", "is only wished"),
        ("Ann zorped the milk.", "unread", ""),
    ],
)
def test_every_clause_has_an_outcome_and_one_without_effect_a_reason(clause: str, outcome: str, reason: str) -> None:
    last = read_story(BEFORE + clause).clauses[-1]
    assert (last.outcome, last.reason) == (outcome, reason)


def test_an_unread_clause_says_when_it_stands_and_whom_it_may_be_about() -> None:
    found = read_story(BEFORE + "Ann opened the fridge. Bob zorped. Ann closed the fridge.")
    unread = next(one for one in found.clauses if one.outcome == "unread")
    assert (unread.t, unread.people) == (1, ("Bob",))
